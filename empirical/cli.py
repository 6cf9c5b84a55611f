"""The commands of the audits: audit, mutants."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from empirical.audit import DEFAULT_AUDITS, Audit, Plan, run
from empirical.mutant import judge, mutants
from oracle.console import UNDECIDED, WRONG, print_table, write_json
from oracle.errors import DomainError
from oracle.registry import algorithm

JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the result to this JSON file.")]


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("audit")(audit_target)
    app.command("mutants")(judge_mutants)


def read_plan(target: str, config: Path | None) -> Plan:
    """The plan of a TOML file (the algorithm's parameters, records and dimension), or the target's default audit."""
    if config is None:
        for plan in DEFAULT_AUDITS.values():
            if plan.target == target:
                return plan
        raise DomainError(f"config is needed: {target} has no default audit")
    try:
        given = tomllib.loads(config.read_text(encoding="utf-8"), parse_float=str)  # decimals stay exact
    except OSError as error:
        raise DomainError(f"config = {config} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DomainError(f"config = {config} is no TOML file: {error}") from None
    sizes: dict[str, Any] = {}
    for name in ("records", "dimension"):
        value = given.pop(name, None)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise DomainError(f"{name} = {value} in {config} is outside its domain: an integer >= 1")
        sizes[name] = value
    return Plan(target=target, config=given, **sizes)


def run_with_progress(plan: Plan) -> Audit:
    """Run a plan with a progress bar on a terminal's standard error."""
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("training models", total=2 * plan.budget)
        return run(plan, progress=lambda models: bar.advance(task, models))


def audit_rows(named_audits: dict[str, Audit]) -> list[tuple[str, ...]]:
    """The table rows of audits."""
    return [
        (
            name, result.verdict, result.plan.estimator,
            "-" if result.epsilon_lower is None else f"{result.epsilon_lower:.4f}", f"{result.claimed:.4f}",
            "-" if result.exact is None else f"{float(result.exact[0]):.4f}",
            "-" if result.tightness is None else f"{result.tightness:.3f}", str(result.plan.budget),
        )
        for name, result in named_audits.items()
    ]


AUDIT_COLUMNS = ("audit", "verdict", "estimator", "epsilon >=", "claimed", "exact", "tightness", "models a side")


def audit_target(
    target: Annotated[str, typer.Argument(help="A name from `dp-oracle algorithms`.")],
    config: Annotated[Path | None, typer.Option(help="TOML: the algorithm's parameters, records, dimension.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Claimed epsilon; the proved one if not given.")] = None,
    delta: Annotated[str, typer.Option(help="Claimed delta.")] = "1e-5",
    budget: Annotated[int, typer.Option(help="Models trained on each data set.")] = 100_000,
    confidence: Annotated[float, typer.Option(help="Confidence of the lower bound.")] = 0.95,
    estimator: Annotated[str, typer.Option(help="gdp (Gaussian releases only) or clopper-pearson.")] = "gdp",
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same result bit for bit.")] = 0,
    json_file: JsonFile = None,
) -> None:
    """Audit released models: a lower confidence bound on epsilon against the claimed one."""
    algorithm(target)  # an unknown target is told apart from a bad configuration
    plan = replace(
        read_plan(target, config), claimed=epsilon, delta=delta, budget=budget, confidence=confidence,
        estimator=estimator, seed=seed,
    )
    result = run_with_progress(plan)
    if json_file is not None:
        write_json(json_file, result.to_json())
    print_table(AUDIT_COLUMNS, audit_rows({target: result}))
    if result.verdict != "CONSISTENT":
        raise typer.Exit(WRONG if result.verdict == "VIOLATION" else UNDECIDED)


def judge_mutants(json_file: JsonFile = None) -> None:
    """Plant every known bug and tell whether our checks flag it."""
    judged = [judge(item) for item in mutants().values()]
    if json_file is not None:
        write_json(json_file, [item.to_json() for item in judged])
    print_table(
        ("mutant", "severity", "outcome", "what is wrong", "what was seen"),
        [(j.mutant.id, j.mutant.severity, j.outcome, j.mutant.title, j.detection.detail) for j in judged],
    )
    print(f"{sum(item.good for item in judged)} of {len(judged)} judged rightly")
    if not all(item.good for item in judged):
        raise typer.Exit(WRONG)
