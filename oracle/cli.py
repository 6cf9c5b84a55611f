"""The commands of the oracle: bounds, bound, algorithms."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from oracle.arithmetic import DEFAULT_WIDTH
from oracle.console import key_values, print_json, print_table
from oracle.domain import Parameter
from oracle.registry import Bound, algorithms, bound, bounds

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("bounds")(list_bounds)
    app.command("bound")(evaluate_bound)
    app.command("algorithms")(list_algorithms)


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name, "kind": parameter.kind, "domain": parameter.domain, "meaning": parameter.meaning,
    }


def _bound_json(item: Bound) -> dict[str, Any]:
    return {
        "bound": item.name, "unit": item.unit, "summary": item.summary, "formula": item.formula,
        "parameters": [_parameter_json(parameter) for parameter in item.parameters],
        "neighbours": item.neighbours, "threat_model": item.threat_model, "released": item.released, "safe": item.safe,
        "source": list(item.source),
    }


def list_bounds(as_json: Json = False) -> None:
    """List the bounds, with their parameters and domains."""
    if as_json:
        print_json([_bound_json(item) for item in bounds().values()])
        return
    rows = [
        (item.name, ", ".join(parameter.name for parameter in item.parameters), item.neighbours, item.threat_model,
         item.summary)
        for item in bounds().values()
    ]
    print_table(("bound", "parameters", "neighbours", "threat model", "what it is"), rows)


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
            "source": list(item.source),
        })
        return
    print(f"{item.name}({', '.join(f'{key}={value}' for key, value in given.items())})")
    print(f"  lower  {lower}")
    print(f"  upper  {upper}")
    print(f"  {item.summary}")


def list_algorithms(as_json: Json = False) -> None:
    """List the training algorithms, with released object and accounting bound."""
    if as_json:
        print_json([
            {
                "algorithm": item.name, "summary": item.summary, "released": item.released,
                "accounted_by": item.accounted_by, "neighbours": item.neighbours,
                "parameters": [_parameter_json(parameter) for parameter in item.parameters],
                "source": list(item.source),
            }
            for item in algorithms().values()
        ])
        return
    rows = [(item.name, item.released, item.accounted_by, item.summary) for item in algorithms().values()]
    print_table(("algorithm", "released", "accounted by", "what it is"), rows)
