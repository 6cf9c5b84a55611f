"""The commands of the audits: audit, one-run, mutants."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from empirical.audits.audit import Audit, run
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import ALL
from empirical.audits.one_run_cli import audit_in_one_run
from empirical.audits.plan_files import PairWords, TargetWords, make_plan
from empirical.audits.progress import progress_bar
from empirical.audits.tightness import COLUMNS, TightnessRow, carry_out, summary, table
from empirical.estimators.estimators import ESTIMATORS
from empirical.mutants.mutant import judge, mutants
from empirical.pairs.pair import builders
from oracle.core.domain import positive_integer
from oracle.core.errors import DomainError
from oracle.core.extras import require
from oracle.running import opening
from oracle.running.console import BAD_USAGE, GOOD, WRONG, Sign, print_table, progress, say, telling_what_is_kept
from oracle.running.isolated import MEMORY, TIMEOUT
from oracle.running.outputs import Outputs
from oracle.running.places import PATIENCE

JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the result to this JSON file.")]

AUDIT_COLUMNS = (
    "audit", "verdict", "estimator", "attack", "epsilon >=", "claimed", "exact", "tightness", "models a side",
)
DELTA, CONFIDENCE = "1e-5", 0.95
EXIT_CODES = {"CONSISTENT": GOOD, "VIOLATION": WRONG, "INVALID": BAD_USAGE}


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("audit")(audit_target)
    app.command("one-run")(audit_in_one_run)
    app.command("mutants")(judge_mutants)


def audit_rows(named_audits: dict[str, Audit]) -> list[tuple[str, ...]]:
    """The table rows of audits."""
    return [
        (
            name, result.verdict, result.plan.estimator, result.attack or "-",
            "-" if result.epsilon_lower is None else f"{result.epsilon_lower:.4f}", f"{result.claimed:.4f}",
            "-" if result.exact is None else f"{float(result.exact[0]):.4f}",
            "-" if result.tightness is None else f"{result.tightness:.3f}",
            "-" if result.models is None else str(result.models),
        )
        for name, result in named_audits.items()
    ]


_CLAIM, _DATA, _ESTIMATE, _RUN, _LIMITS = (
    {"rich_help_panel": name}
    for name in ("The claim", "The two data sets", "The estimate", "Where and how it runs", "Foreign targets")
)


def audit_target(
    target: Annotated[
        str | None, typer.Argument(help="An algorithm (`dp-oracle algorithms`), pkg.mod:fn or path/to/file.py:fn.")
    ] = None,
    cmd: Annotated[
        str | None, typer.Option(help="In place of TARGET: a program that speaks JSON lines.", **_LIMITS)
    ] = None,
    batched: Annotated[bool, typer.Option("--batched", help="The function is fn(dataset, seeds).", **_LIMITS)] = False,
    timeout: Annotated[float, typer.Option(help="Seconds for a call or an answer.", **_LIMITS)] = TIMEOUT,
    memory: Annotated[int, typer.Option(help="MB that it may use.", **_LIMITS)] = MEMORY,
    config: Annotated[
        Path | None, typer.Option(help="TOML of an algorithm's parameters and of the pair; by default its own audit.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Claimed epsilon; by default what is proved of the algorithm.", **_CLAIM)
    ] = None,
    delta: Annotated[str, typer.Option(help="Claimed delta; 0 for pure privacy.", **_CLAIM)] = DELTA,
    pair: Annotated[Path | None, typer.Option(help="npz file of X0, y0, X1, y1; by default a pair is built.", **_DATA)]
    = None,
    neighbours: Annotated[str | None, typer.Option(help="replace or add_remove.", **_DATA)] = None,
    canary: Annotated[str | None, typer.Option(help="Pair to build; by default the worst one.", **_DATA)] = None,
    records: Annotated[int | None, typer.Option(help="Records (of a foreign target: 20).", **_DATA)] = None,
    dimension: Annotated[int | None, typer.Option(help="Features (of a foreign target: 4).", **_DATA)] = None,
    feature_norm: Annotated[
        str | None, typer.Option(help="Largest norm of a feature vector (of a foreign target: 1).", **_DATA)
    ] = None,
    labels: Annotated[
        tuple[str, str] | None, typer.Option(help="Least and largest label (of a foreign target: 0 1).", **_DATA)
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Models a data set (100000; of --all at most so many).", **_ESTIMATE)
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the lower bound.", **_ESTIMATE)] = CONFIDENCE,
    estimator: Annotated[
        str | None, typer.Option(help=f"{', '.join(ESTIMATORS)}; by default the one that suits.", **_ESTIMATE)
    ] = None,
    attack: Annotated[list[str] | None, typer.Option(help="Only this attack; may be repeated.", **_ESTIMATE)] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result bit for bit.", **_ESTIMATE)] = 0,
    shard: Annotated[
        int | None, typer.Option(help="Models of a unit of work (20000; of a foreign target 1000).", **_RUN)
    ] = None,
    store: Annotated[Path | None, typer.Option(help="SQLite file of finished work, to go on after a stop.", **_RUN)]
    = None,
    workers: Annotated[int, typer.Option(help="Processes that train.", **_RUN)] = 1,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:port.", **_RUN)] = None,
    patience: Annotated[float, typer.Option(help="Seconds to wait for a cluster that has no worker.", **_RUN)]
    = PATIENCE,
    everything: Annotated[bool, typer.Option("--all", help="The default campaign: the tightness table.")] = False,
    json_file: JsonFile = None,
    sign: Sign = None,
) -> None:
    """Audit released models: a lower confidence bound on epsilon against the claimed one.

    Exit code 0: consistent with the claim; 1: a violation; 2: the target cannot be audited, or bad usage.
    """
    positive_integer("workers").parse(workers)  # told before a pair is searched for
    out = Outputs(
        {"json": json_file}, stores={"store": store}, inputs={"config": config, "pair": pair}, targets=[target],
        commands=[cmd], sign=sign,
    )
    if everything:
        given = {
            "TARGET": target, "cmd": cmd, "config": config, "epsilon": epsilon, "pair": pair, "estimator": estimator,
            "attack": attack, "cluster": cluster, "neighbours": neighbours, "canary": canary, "records": records,
            "dimension": dimension, "feature-norm": feature_norm, "labels": labels, "shard": shard,
            "delta": delta if delta != DELTA else None, "confidence": confidence if confidence != CONFIDENCE else None,
        }
        for name, value in given.items():
            if value:
                raise DomainError(f"{name} = {value} is not for --all, whose audits are fixed")
        audit_everything(budget=budget, seed=seed, workers=workers, store=store, out=out)
        return
    options: dict[str, Any] = {
        "claimed": epsilon, "delta": delta, "budget": budget, "confidence": confidence, "seed": seed,
        "estimator": estimator, "shard": shard, "attacks": tuple(dict.fromkeys(attack)) if attack else None,
    }
    carry_out = functools.partial(run_with_progress, store=store, workers=workers, cluster=cluster, patience=patience)
    plan = make_plan(
        TargetWords(target, cmd, config, batched, timeout, memory),
        PairWords(pair, canary, neighbours, records, dimension, feature_norm, labels),
        {name: value for name, value in options.items() if value is not None},
        carry_out=carry_out,
    )
    result = carry_out(plan)
    out.json("json", result)
    print_table(AUDIT_COLUMNS, audit_rows({str(target or cmd): result}))
    if plan.target["kind"] != "algorithm" and plan.pair["kind"] == "built":
        say(f"data sets: {plan.pair['name']} ({builders()[plan.pair['name']].summary})")
    if result.verdict != "CONSISTENT":
        say(f"{result.verdict}: {result.reason}")
    raise typer.Exit(EXIT_CODES[result.verdict])


def audit_everything(
    *, budget: int | None, seed: int, workers: int, store: Path | None, out: Outputs
) -> None:
    """Carry out the default campaign, print its table and how it stands to the goals."""
    plans = {
        name: replace(plan, seed=seed, budget=min(plan.budget, budget or plan.budget)) for name, plan in ALL.items()
    }
    require("training", what="audit --all")
    rows: list[TightnessRow] = []
    opening.tell()
    with (
        telling_what_is_kept(store),
        progress() as bar,
    ):
        task = bar.add_task("audits", total=len(plans))
        for found in carry_out(plans, workers=workers, store=store):
            rows.extend(found)
            bar.advance(task)
    out.json("json", rows)
    print_table(COLUMNS, table(rows))
    for line in summary(rows):
        say(line)
    wrong = [f"{row.name} ({row.audit.plan.estimator}): {row.audit.reason}" for row in rows if not row.good]
    say(f"{len(rows) - len(wrong)} of {len(rows)} audits as expected")
    if wrong:
        say("\n".join(wrong))
        violated = any(row.audit.verdict == "VIOLATION" for row in rows)
        raise typer.Exit(WRONG if violated else BAD_USAGE)


def run_with_progress(
    plan: AuditPlan, *, store: Path | None = None, workers: int = 1, cluster: str | None = None,
    patience: float = PATIENCE,
) -> Audit:
    """Run a plan with a progress bar on a terminal's standard error."""
    with progress_bar(plan, store) as tell:
        return run(plan, store=store, workers=workers, cluster=cluster, patience=patience, progress=tell)


def judge_mutants(json_file: JsonFile = None, sign: Sign = None) -> None:
    """Plant every known bug and tell whether our checks flag it."""
    out = Outputs({"json": json_file}, sign=sign)
    require("training", what="mutants")
    judged = []
    opening.tell()
    with progress() as bar:
        task = bar.add_task("mutants", total=len(mutants()))
        for item in mutants().values():
            bar.update(task, description=item.id)
            judged.append(judge(item))
            bar.advance(task)
    out.json("json", judged)
    print_table(
        ("mutant", "severity", "outcome", "what is wrong", "what was seen"),
        [(j.mutant.id, j.mutant.severity, j.outcome, j.mutant.title, j.detail) for j in judged],
    )
    say(f"{sum(item.good for item in judged)} of {len(judged)} judged rightly")
    if not all(item.good for item in judged):
        raise typer.Exit(WRONG)
