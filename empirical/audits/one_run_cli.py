"""The command `one-run`: audit a training with many canaries in one model, or in a few."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from empirical.audits.audit_plan import DELTA, EPSILON
from empirical.audits.one_run import OneRun, axis_canaries, one_run_audit
from empirical.audits.plan_files import DescribedAudit, TargetWords, describe
from empirical.audits.targets import AlgorithmTarget
from oracle.core.domain import positive_integer
from oracle.core.errors import DomainError, TargetError
from oracle.core.planning import epsilon_of_exact_arithmetic, plan_of_training
from oracle.running.console import BAD_USAGE, GOOD, WRONG, Sign, print_table, progress, say
from oracle.running.isolated import MEMORY, TIMEOUT
from oracle.running.outputs import Outputs

COLUMNS = ("audit", "verdict", "epsilon >=", "claimed", "canaries", "guesses", "right", "models")


def audit_in_one_run(
    target: Annotated[
        str | None, typer.Argument(help="An algorithm (`dp-oracle algorithms`), pkg.mod:fn or path/to/file.py:fn.")
    ] = None,
    cmd: Annotated[str | None, typer.Option(help="A program that speaks JSON lines, in place of TARGET.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML: the algorithm's parameters.")] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Claimed epsilon; by default what is proved of the algorithm.")
    ] = None,
    delta: Annotated[str, typer.Option(help="Claimed delta.")] = "1e-5",
    canaries: Annotated[int, typer.Option(help="Canaries in each model, one on each axis.")] = 100,
    models: Annotated[int, typer.Option(help="Models, each with fair coins of its own.")] = 1,
    guesses: Annotated[int | None, typer.Option(help="Guesses of all models (a third of the canaries).")] = None,
    records: Annotated[int | None, typer.Option(help="Records, canaries included; the others are 0.")] = None,
    dimension: Annotated[int | None, typer.Option(help="Features, at least as many as canaries.")] = None,
    feature_norm: Annotated[float, typer.Option(help="Norm of a canary's feature vector.")] = 1.0,
    neighbours: Annotated[str, typer.Option(help="replace (by the opposite canary) or add_remove.")] = "replace",
    confidence: Annotated[float, typer.Option(help="Confidence of the lower bound.")] = 0.95,
    gaussian: Annotated[bool, typer.Option("--gaussian", help="f-DP version, for Gaussian releases only.")] = False,
    batched: Annotated[bool, typer.Option("--batched", help="The function is fn(dataset, seeds).")] = False,
    seed: Annotated[int, typer.Option(help="Seed; the same seed gives the same result bit for bit.")] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for a call (function) or an answer (program).")] = TIMEOUT,
    memory: Annotated[int, typer.Option(help="MB that a function or program may use.")] = MEMORY,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the result to this JSON file.")] = None,
    sign: Sign = None,
) -> None:
    """Audit with many canaries in one model: each is in or out by a fair coin, and the release is asked which.

    Exit code 0: consistent with the claim; 1: a violation; 2: the target cannot be audited, or bad usage.
    """
    positive_integer("canaries").parse(canaries)
    out = Outputs(
        {"json": json_file}, inputs={"config": config}, targets=[target], commands=[cmd], sign=sign,
    )
    described = describe(TargetWords(target, cmd, config, batched, timeout, memory))
    total = canaries if records is None else records
    if total < canaries:
        raise DomainError(f"records = {total} is outside its domain: an integer >= canaries = {canaries}")
    features = canaries if dimension is None else dimension
    if gaussian and not _gaussian(described):
        raise DomainError("gaussian is outside its domain: an algorithm whose release is Gaussian by theory")
    level = float(DELTA.rational(delta))
    claimed = _claimed(described, epsilon, total, delta)
    found: OneRun | None = None
    try:
        with progress() as bar:
            task = bar.add_task("models", total=models)
            found = one_run_audit(
                described.target, np.zeros((total - canaries, features)), np.ones(total - canaries),
                axis_canaries(canaries, features, norm=feature_norm, neighbours=neighbours),
                delta=level, confidence=confidence, guesses=guesses, runs=models, seed=seed, gaussian=gaussian,
                progress=lambda done: bar.advance(task, done),
            )
    except TargetError as error:
        verdict, reason = "INVALID", str(error)
    else:
        verdict = "VIOLATION" if found.epsilon > claimed else "CONSISTENT"
        reason = f"epsilon >= {found.epsilon:.4f} with confidence {confidence:g}, claimed {claimed:.4f}"
    out.json("json", lambda: {
        "target": described.target.spec(), "verdict": verdict, "reason": reason, "claimed": claimed, "one_run": found,
    })
    numbers = ("-",) * 5 if found is None else (
        f"{found.epsilon:.4f}", f"{claimed:.4f}", str(found.canaries), str(found.guesses), str(found.correct)
    )
    print_table(COLUMNS, [(described.target.name, verdict, *numbers, str(models))])
    if verdict != "CONSISTENT":
        say(f"{verdict}: {reason}")
    raise typer.Exit({"CONSISTENT": GOOD, "VIOLATION": WRONG, "INVALID": BAD_USAGE}[verdict])


def _gaussian(described: DescribedAudit) -> bool:
    target = described.target
    return isinstance(target, AlgorithmTarget) and target.algorithm.gaussian_release(target.config)


def _claimed(described: DescribedAudit, epsilon: str | None, records: int, delta: str) -> float:
    """The claimed epsilon, or else the proved one of a registered algorithm, rounded up."""
    target = described.target
    if epsilon is not None:
        return float(EPSILON.rational(epsilon))
    if not isinstance(target, AlgorithmTarget) or not target.algorithm.guarantees:
        raise DomainError(f"epsilon is needed: {target.name} has no guarantee of its own to be held to")
    known = plan_of_training(target.algorithm, target.config, records=records, delta=delta)
    return epsilon_of_exact_arithmetic(known).to_floats()[1]
