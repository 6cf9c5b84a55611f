"""The commands of the oracle: bounds, bound, algorithms, plan."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from oracle.core.algorithm import Algorithm, Values
from oracle.core.arithmetic import DEFAULT_WIDTH, reaches
from oracle.core.attainment import TIGHTNESS
from oracle.core.domain import Parameter
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.hypotheses import IN_WORDS_NONE, UNKNOWN, Hypothesis
from oracle.core.plain import picked
from oracle.core.planning import JudgedGuarantee, Plan, plan, read, trained_plan
from oracle.core.registry import VALIDITIES, Bound, algorithm, algorithms, bound, bounds
from oracle.running.console import GOOD, UNDECIDED, WRONG, key_values, print_json, print_table, print_wrapped, say
from oracle.running.outputs import SIGNATURE

_LONGEST = 70  # characters of a printed number

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("bounds")(list_bounds)
    app.command("bound")(evaluate_bound)
    app.command("algorithms")(list_algorithms)
    app.command("plan")(plan_training)
    app.command("verify")(verify_file)


def _parameters(items: Iterable[Parameter]) -> list[dict[str, Any]]:
    return [picked(item, "name", "kind", "domain", "meaning", "unit") for item in items]


def _hypothesis_json(item: Hypothesis) -> dict[str, Any]:
    return picked(item, "name", "kind", "words")


def _bound_json(item: Bound) -> dict[str, Any]:
    return {
        "bound": item.name, **picked(item, "unit", "summary", "formula"), "parameters": _parameters(item.parameters),
        "hypotheses": [_hypothesis_json(hypothesis) for hypothesis in item.hypotheses],
        **picked(item, "neighbours", "threat_model", "released", "safe", "source", "validity", "tightness"),
    }


def list_bounds(as_json: Json = False) -> None:
    """List the bounds: parameters and domains, how each is known to be a theorem (validity), and how tight it is.

    tightness: "truth" (no smaller value is right), "bracketed" (an upper bound beside what is certainly attained)
    or "one-sided" (what one method proves). With --json also what each assumes: an empty list of hypotheses means none
    beyond its parameters.
    """
    if as_json:
        print_json([_bound_json(item) for item in bounds().values()])
        return
    rows = [
        (item.name, ", ".join(parameter.name for parameter in item.parameters), item.neighbours, item.threat_model,
         item.validity, item.tightness.kind, item.summary)
        for item in bounds().values()
    ]
    print_table(("bound", "parameters", "neighbours", "threat model", "validity", "tightness", "what it is"), rows)


def evaluate_bound(
    name: Annotated[str, typer.Argument(help="A name from `dp-oracle bounds`.")],
    parameters: Annotated[list[str] | None, typer.Argument(help="key=value; decimals are exact.")] = None,
    width: Annotated[str | None, typer.Option(help="Largest upper - lower (relative below 1).")] = None,
    as_json: Json = False,
) -> None:
    """Print the certified lower and upper end of a bound, as decimals rounded outward."""
    item = bound(name)
    given = key_values(parameters or [])
    enclosure = item.at(given, width=width)
    lower, upper = enclosure.to_decimals()
    reached = width is not None or reaches(enclosure, DEFAULT_WIDTH)
    at = Values(**item.parse(given))
    attained = _attained(item, given)
    if as_json:
        print_json({
            "bound": item.name, "params": given, "lower": lower, "upper": upper, "unit": item.unit,
            "neighbours": given.get("neighbours", item.neighbours), "width_reached": reached,
            **picked(item, "threat_model", "source", "validity", "tightness"), "attained": attained,
            "hypotheses": [
                {**_hypothesis_json(hypothesis), "status": hypothesis.status(at)} for hypothesis in item.hypotheses
            ],
        })
        return
    say(f"{item.name}({', '.join(f'{key}={value}' for key, value in given.items())})")
    if max(len(lower), len(upper)) > _LONGEST:  # so far from 1 that its digits fill a page: fewer, rounded outward
        lower, upper = enclosure.lower.to_decimal(digits=40, up=False), enclosure.upper.to_decimal(digits=40, up=True)
    say(f"  lower  {lower}")
    say(f"  upper  {upper}")
    print_wrapped("  ", item.summary)
    if not reached:
        print_wrapped(
            "  width     ", "more than 1e-12, to answer soon; --width asks for a narrower answer, which may take long"
        )
    say("  value     certified: the formula lies between these ends")
    print_wrapped("  validity  ", f"{VALIDITIES[item.validity]} ({', '.join(item.source)})")
    print_wrapped("  tightness ", f"{TIGHTNESS[item.tightness.kind]} ({item.tightness.why})")
    if attained is not None:
        print_wrapped("  attained  ", f"{attained}, so that the truth lies between this and the upper end")
    if not item.hypotheses:
        say(f"  assumes   {IN_WORDS_NONE}")
    for index, hypothesis in enumerate(item.hypotheses):
        found = hypothesis.status(at)
        told = hypothesis.words if found == UNKNOWN else f"{hypothesis.words} ({found})"
        print_wrapped("            " if index else "  assumes   ", told)


def _attained(item: Bound, given: dict[str, str]) -> str | None:
    """The proved lower end of the truth beside an upper bound, as a decimal; None where there is none."""
    if item.tightness.kind != "bracketed":
        return None
    try:
        found = item.attained(given)
    except PrecisionError:
        return None
    return None if found is None else found.to_decimals()[0]


def _place(item: Algorithm) -> str | None:
    """Where the literal reference stands; None where an algorithm is only planned."""
    return None if item.reference is None else f"{item.reference.__module__}:{item.reference.__name__}"


def list_algorithms(as_json: Json = False) -> None:
    """List the training algorithms, with what they release and the bounds that may be proved of them."""
    if as_json:
        print_json([
            {
                "algorithm": item.name, **picked(item, "document", "summary", "released"),
                "guarantees": [guarantee.bound for guarantee in item.guarantees],
                "risks": [guarantee.bound for guarantee in item.risks],
                **picked(item, "neighbours", "deterministic"), "reference": _place(item), "batched": item.batched,
                "parameters": _parameters((*item.parameters, *item.training)), "source": item.source,
            }
            for item in algorithms().values()
        ])
        return
    rows = [
        (item.name, item.document, item.released, ", ".join(guarantee.bound for guarantee in item.guarantees) or "-",
         _place(item) or "only planned", item.summary)
        for item in algorithms().values()
    ]
    print_table(("algorithm", "document", "released", "guarantees", "reference", "what it is"), rows)


def plan_training(
    what: Annotated[
        str | None, typer.Argument(
            metavar="FILE|NAME", help="A TOML file: algorithm = ..., and its keys; or an algorithm.",
        )
    ] = None,
    configuration: Annotated[list[str] | None, typer.Argument(help="key=value of a named algorithm.")] = None,
    trained: Annotated[
        bool, typer.Option(
            "--trained", help="As this project's own training runs it: what that makes true is not asked.",
        )
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which bounds apply to a training configuration, under which hypotheses, and what is really proved.

    Without a file or a name, list the algorithms and their keys. Exit code 0: something is proved (and the claimed
    epsilon, if there is one); 3: nothing is, or not that.
    """
    if what is None:
        _list_keys(as_json)
        return
    given: Mapping[str, Any] = key_values(configuration or [])
    if what.endswith(".toml") or os.path.isfile(what):
        if given:
            raise DomainError(f"{next(iter(given))} is given beside {what}: all keys of a file stand in it")
        item, given = read(Path(what))
    else:
        item = algorithm(what)
    found = trained_plan(item, given) if trained else plan(item, given)
    if as_json:
        print_json(_plan_json(found))
    else:
        _print_plan(found)
    raise typer.Exit(UNDECIDED if found.best is None or found.claim_is_proved is False else GOOD)


def verify_file(
    file: Annotated[Path, typer.Argument(help="What was signed with --sign: a report, a store.")],
    key: Annotated[Path, typer.Option(help="The public key of whoever signed it (PEM, Ed25519).")],
    signature: Annotated[Path | None, typer.Option(help=f"The signature [FILE{SIGNATURE}].")] = None,
) -> None:
    """Say whether a file is what the owner of a key signed, byte for byte.

    Keys are made by openssl: `openssl genpkey -algorithm ed25519 -out key.pem`, and `openssl pkey -in key.pem -pubout
    -out key.pub` for the public one. Exit code 0: it is; 1: it was changed, or another key signed it; 2: there is no
    signature, or no key.
    """
    from oracle.running.signing import verify

    good = verify(file, key, signature)
    print_wrapped("", f"{file} is {'' if good else 'not '}what the owner of {key} signed")
    raise typer.Exit(GOOD if good else WRONG)


def _list_keys(as_json: bool) -> None:
    groups = ("parameters", "setting", "training", "stated")
    if as_json:
        print_json([
            {
                "algorithm": item.name, **picked(item, "summary", "source"),
                **{group: _parameters(getattr(item, group)) for group in groups},
                "bounds": [guarantee.bound for guarantee in item.guarantees],
                "risks": [guarantee.bound for guarantee in item.risks],
            }
            for item in algorithms().values()
        ])
        return
    rows = [
        (
            item.name, ", ".join(p.name for p in (*item.parameters, *item.setting)),
            ", ".join(p.name for p in (*item.training, *item.stated)),
        )
        for item in algorithms().values()
    ]
    print_table(("algorithm", "keys", "optional keys"), rows)


def _judged_json(item: JudgedGuarantee) -> dict[str, Any]:
    return {
        **picked(item.guarantee, "bound", "words"),
        **picked(item, "status", "epsilon", "delta", "parameters", "reason"),
        "hypotheses": [
            {
                **_hypothesis_json(one.hypothesis), "status": one.status,
                "conditions": [{"words": words, "status": status} for words, status in one.conditions],
            }
            for one in item.hypotheses
        ],
    }


def _risk_json(item: JudgedGuarantee) -> dict[str, Any]:
    told = {name: value for name, value in _judged_json(item).items() if name not in ("epsilon", "delta")}
    return {**told, **picked(item, "risk")}


def _plan_json(plan: Plan) -> dict[str, Any]:
    config = {name: None if value is None else str(value) for name, value in vars(plan.config).items()}
    return {
        "algorithm": plan.algorithm.name, "config": config,
        "guarantees": [_judged_json(item) for item in plan.judged],
        "risks": [_risk_json(item) for item in plan.risks],
        "best": None if plan.best is None else _judged_json(plan.best), "claim_is_proved": plan.claim_is_proved,
    }


def _at_most(item: JudgedGuarantee) -> str:
    """The guarantee in short: its upper end, rounded up."""
    if item.risk is not None:
        return f"risk <= {item.risk.upper.to_decimal(digits=7, up=True)}"
    if item.epsilon is None:
        return item.reason
    delta = "" if item.delta == 0 else f" at delta = {float(item.delta):.6g}"
    return f"epsilon <= {item.epsilon.upper.to_decimal(digits=7, up=True)}{delta}"


def _print_plan(plan: Plan) -> None:
    print_wrapped("", f"{plan.algorithm.name}: {plan.algorithm.summary}")
    for item in (*plan.judged, *(risk for risk in plan.risks if risk.guarantee.parameters(plan.config) is not None)):
        say()
        print_wrapped("", f"{item.status}  {item.guarantee.bound}: {item.guarantee.words}")
        print_wrapped("  ", _at_most(item))
        for one in item.hypotheses:
            print_wrapped(f"  {one.status:8} ", one.hypothesis.words)
            for words, status in one.conditions:
                if words != one.hypothesis.words:
                    print_wrapped(f"           {status:8} ", words)
    say()
    if plan.best is None:
        say("nothing is proved of this configuration")
    else:
        say(f"proved: {_at_most(plan.best)} ({plan.best.guarantee.bound})")
    if plan.claim_is_proved is not None:
        claimed = float(plan.config.claimed_epsilon)
        say(f"claimed epsilon {claimed:.12g}: {'proved' if plan.claim_is_proved else 'not proved'}")
