"""The commands of the oracle: bounds, bound, algorithms, plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from oracle.core.accounting import proved_epsilon
from oracle.core.arithmetic import DEFAULT_WIDTH
from oracle.core.console import GOOD, UNDECIDED, key_values, print_json, print_table
from oracle.core.domain import Parameter, positive_integer, probability
from oracle.core.errors import DomainError
from oracle.core.planning import Judged, Plan, judge, read, recipes
from oracle.core.registry import VALIDITIES, Bound, algorithm, algorithms, bound, bounds

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("bounds")(list_bounds)
    app.command("bound")(evaluate_bound)
    app.command("algorithms")(list_algorithms)
    app.command("account")(account_for)
    app.command("plan")(plan_training)


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name, "kind": parameter.kind, "domain": parameter.domain, "meaning": parameter.meaning,
    }


def _bound_json(item: Bound) -> dict[str, Any]:
    return {
        "bound": item.name, "unit": item.unit, "summary": item.summary, "formula": item.formula,
        "parameters": [_parameter_json(parameter) for parameter in item.parameters],
        "neighbours": item.neighbours, "threat_model": item.threat_model, "released": item.released, "safe": item.safe,
        "source": list(item.source), "validity": item.validity,
    }


def list_bounds(as_json: Json = False) -> None:
    """List the bounds, with their parameters and domains, and how it is known that each is a theorem (validity)."""
    if as_json:
        print_json([_bound_json(item) for item in bounds().values()])
        return
    rows = [
        (item.name, ", ".join(parameter.name for parameter in item.parameters), item.neighbours, item.threat_model,
         item.validity, item.summary)
        for item in bounds().values()
    ]
    print_table(("bound", "parameters", "neighbours", "threat model", "validity", "what it is"), rows)


def evaluate_bound(
    name: Annotated[str, typer.Argument(help="A name from `dp-oracle bounds`.")],
    parameters: Annotated[list[str] | None, typer.Argument(help="key=value; decimals are exact.")] = None,
    width: Annotated[str | None, typer.Option(help="Largest upper - lower (relative below 1).")] = None,
    as_json: Json = False,
) -> None:
    """Print the certified lower and upper end of a bound, as decimals rounded outward."""
    item = bound(name)
    given = key_values(parameters or [])
    enclosure = item.at(given, width=DEFAULT_WIDTH if width is None else width)
    lower, upper = enclosure.to_decimals()
    if as_json:
        print_json({
            "bound": item.name, "params": given, "lower": lower, "upper": upper, "unit": item.unit,
            "neighbours": given.get("neighbours", item.neighbours), "threat_model": item.threat_model,
            "source": list(item.source), "validity": item.validity,
        })
        return
    print(f"{item.name}({', '.join(f'{key}={value}' for key, value in given.items())})")
    print(f"  lower  {lower}")
    print(f"  upper  {upper}")
    print(f"  {item.summary}")
    print("  value     certified: the formula lies between these ends")
    print(f"  validity  {VALIDITIES[item.validity]} ({', '.join(item.source)})")


def list_algorithms(as_json: Json = False) -> None:
    """List the training algorithms, with released object and accounting bound."""
    if as_json:
        print_json([
            {
                "algorithm": item.name, "document": item.document, "summary": item.summary, "released": item.released,
                "accounted_by": item.accounted_by, "neighbours": item.neighbours,
                "deterministic": item.deterministic,
                "reference": f"{item.reference.__module__}:{item.reference.__name__}", "batched": item.batched,
                "parameters": [_parameter_json(parameter) for parameter in item.parameters],
                "source": list(item.source),
            }
            for item in algorithms().values()
        ])
        return
    rows = [
        (item.name, item.document, item.released, item.accounted_by or "-", item.reference.__module__,
         item.batched.split(":")[0], item.summary)
        for item in algorithms().values()
    ]
    print_table(("algorithm", "document", "released", "accounted by", "reference", "twin", "what it is"), rows)


def account_for(
    name: Annotated[str, typer.Argument(help="A name from `dp-oracle algorithms`.")],
    records: Annotated[str, typer.Option(help="How many records are trained on.")],
    delta: Annotated[str, typer.Option(help="The delta at which epsilon is asked.")],
    configuration: Annotated[list[str] | None, typer.Argument(help="key=value; decimals are exact.")] = None,
    as_json: Json = False,
) -> None:
    """Print the certified epsilon of an algorithm's configuration, or why there is no guarantee (exit code 3)."""
    item = algorithm(name)
    given = key_values(configuration or [])
    config = item.parse(given)
    count = int(positive_integer("records").rational(records))
    target = probability("delta").rational(delta)
    lower, upper, reason = None, None, ""
    try:
        lower, upper = proved_epsilon(item, config, records=count, delta=target).to_decimals()
    except DomainError as error:  # the input is sound: what is refused is the guarantee
        reason = str(error)
    if as_json:
        print_json({
            "algorithm": item.name, "config": given, "records": count, "delta": delta, "lower": lower, "upper": upper,
            "reason": reason, "bound": item.accounted_by, "neighbours": given.get("neighbours", item.neighbours),
            "released": item.released,
        })
    elif reason:
        print(f"no guarantee: {reason}")
    else:
        print(f"{item.name} on {count} records, {item.released} released, accounted by {item.accounted_by}")
        print(f"  epsilon at delta = {delta}")
        print(f"  lower  {lower}")
        print(f"  upper  {upper}")
    raise typer.Exit(UNDECIDED if reason else GOOD)


def plan_training(
    file: Annotated[Path | None, typer.Argument(help="A TOML file: algorithm = ..., and its keys.")] = None,
    as_json: Json = False,
) -> None:
    """Say which bounds apply to a training configuration, under which hypotheses, and what is really proved.

    Without a file, list the algorithms and their keys. Exit code 0: something is proved (and the claimed epsilon, if
    the file has one); 3: nothing is, or not that.
    """
    if file is None:
        _list_recipes(as_json)
        return
    plan = judge(*read(file))
    if as_json:
        print_json(_plan_json(plan))
    else:
        _print_plan(plan)
    raise typer.Exit(UNDECIDED if plan.best is None or plan.claim_is_proved is False else GOOD)


def _list_recipes(as_json: bool) -> None:
    if as_json:
        print_json([
            {
                "algorithm": item.algorithm, "summary": item.summary, "source": list(item.source),
                "parameters": [_parameter_json(parameter) for parameter in item.parameters],
                "optional": [_parameter_json(parameter) for parameter in item.optional],
                "bounds": [guarantee.bound for guarantee in item.guarantees],
            }
            for item in recipes().values()
        ])
        return
    rows = [
        (item.algorithm, ", ".join(p.name for p in item.parameters), ", ".join(p.name for p in item.optional))
        for item in recipes().values()
    ]
    print_table(("algorithm", "keys", "optional keys"), rows)


def _judged_json(item: Judged) -> dict[str, Any]:
    ends = None if item.epsilon is None else dict(zip(("lower", "upper"), item.epsilon.to_decimals(), strict=True))
    return {
        "bound": item.guarantee.bound, "words": item.guarantee.words, "status": item.status, "epsilon": ends,
        "delta": str(item.delta), "parameters": dict(item.parameters), "reason": item.reason,
        "hypotheses": [{"words": words, "status": status} for words, status in item.hypotheses],
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    config = {name: None if value is None else str(value) for name, value in vars(plan.config).items()}
    return {
        "algorithm": plan.recipe.algorithm, "config": config,
        "guarantees": [_judged_json(item) for item in plan.judged],
        "best": None if plan.best is None else _judged_json(plan.best), "claim_is_proved": plan.claim_is_proved,
    }


def _at_most(item: Judged) -> str:
    """The guarantee in short: its upper end, rounded up."""
    if item.epsilon is None:
        return item.reason
    delta = "" if item.delta == 0 else f" at delta = {float(item.delta):.6g}"
    return f"epsilon <= {item.epsilon.upper.to_decimal(digits=7, up=True)}{delta}"


def _print_plan(plan: Plan) -> None:
    print(f"{plan.recipe.algorithm}: {plan.recipe.summary}")
    for item in plan.judged:
        print(f"\n{item.status}  {item.guarantee.bound}: {item.guarantee.words}")
        print(f"  {_at_most(item)}")
        for words, status in item.hypotheses:
            print(f"  {status:8} {words}")
    print()
    if plan.best is None:
        print("nothing is proved of this configuration")
    else:
        print(f"proved: {_at_most(plan.best)} ({plan.best.guarantee.bound})")
    if plan.claim_is_proved is not None:
        claimed = float(plan.config.claimed_epsilon)
        print(f"claimed epsilon {claimed:.12g}: {'proved' if plan.claim_is_proved else 'not proved'}")
