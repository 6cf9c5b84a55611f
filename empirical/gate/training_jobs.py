"""What `dp-oracle gate` is asked to do: trainings as well as bounds, from the command line or from a TOML file.

    xfail = "dp-oracle-xfail.toml"      # the expected failures, optional

    [[gate]]                            # a function, or `command = "./prog"`, which may have `bound = ["...", "..."]`
    target = "mylib:epsilon"
    bound = "poisson-gaussian.epsilon"
    slack = 1.05                        # optional, as are slack_absolute, rounding, fail_on, below_formula, search,
    offers = {sigma = [0.3, 50]}        # search_seconds, seed, timeout, memory; `offers` is what is offered at all

    [[gate]]                            # a training: a function, or `command` without a bound
    training = "mylib:train"
    epsilon = 1
    delta = "1e-5"                      # optional, as are budget, confidence, seed, batched, timeout, memory, and what
    budget = 5000                       # is known of the data: pair, canary, neighbours, records, dimension, ...

Paths in the file are relative to it. Decimals are exact, with or without quotes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from empirical.gate.jobs import BoundJob
from empirical.gate.result import TrainingResult
from empirical.gate.xfail import Xfails
from oracle.core.domain import shown
from oracle.core.errors import DomainError, OracleError
from oracle.core.reading import read_toml
from oracle.running.isolated import MEMORY, TIMEOUT

BUDGET, CONFIDENCE, DELTA = 2000, 0.999, "1e-5"


@dataclass(frozen=True)
class TrainingJob:
    """A training with the (epsilon, delta) that it claims, to be audited with a fixed budget and a fixed seed."""

    training: str | None = None
    command: str | None = None
    epsilon: str | None = None
    delta: str = DELTA
    budget: int = BUDGET
    confidence: float = CONFIDENCE
    seed: int = 0
    batched: bool = False
    timeout: float = TIMEOUT
    memory: int = MEMORY
    pair: str | None = None
    canary: str | None = None
    neighbours: str | None = None
    records: int | None = None
    dimension: int | None = None
    feature_norm: str | None = None
    labels: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if (self.training is None) == (self.command is None):
            raise DomainError("a gate needs a training or a command, and not both")
        if self.epsilon is None:
            raise DomainError(f"epsilon is needed: what does {self.name} claim?")
        from empirical.audits.audit_plan import EPSILON  # as in `carry_out`

        EPSILON.rational(self.epsilon)

    @property
    def name(self) -> str:
        """What tables call it."""
        return str(self.training or self.command)

    def carry_out(self, xfail: Xfails) -> TrainingResult:
        """The audit's verdict; whatever keeps it from being audited is INVALID, with the reason."""
        # What audits need takes a second to load, and few gates have a training.
        from empirical.audits.audit import run
        from empirical.audits.plan_files import PairWords, TargetWords, make_plan
        from empirical.audits.progress import progress_bar

        started, claim = time.monotonic(), f"({self.epsilon}, {self.delta})-DP"
        target = TargetWords(self.training, self.command, None, self.batched, self.timeout, self.memory)
        pair = PairWords(
            None if self.pair is None else Path(self.pair), self.canary, self.neighbours, self.records, self.dimension,
            self.feature_norm, self.labels,
        )
        options = {
            "claimed": self.epsilon, "delta": self.delta, "budget": self.budget, "confidence": self.confidence,
            "seed": self.seed,
        }
        try:
            plan = make_plan(target, pair, options)
            with progress_bar(plan) as progress:
                audit = run(plan, progress=progress)
            verdict, reason, found = audit.verdict, audit.reason, audit.to_json()
        except OracleError as error:
            verdict, reason, found = "INVALID", str(error), {}
        return TrainingResult(
            self.name, verdict, reason, claim, found, xfail.of_training(self.name), time.monotonic() - started
        )


Job = BoundJob | TrainingJob
_BOUND_KEYS = {field.name for field in fields(BoundJob)} - {"bounds", "only"} | {"bound"}
_TRAINING_KEYS = {field.name for field in fields(TrainingJob)}


def read(path: Path, defaults: Mapping[str, Any]) -> tuple[list[Job], Path | None]:
    """The jobs of a file, and its file of expected failures; `defaults` hold where a table does not say otherwise."""
    given = read_toml(path, name="config")
    tables, xfail = given.pop("gate", []), given.pop("xfail", None)
    if given or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        what = f"the key {shown(next(iter(given)))}" if given else "a gate that is no [[gate]]"
        raise DomainError(f"config = {path} has {what}; expected xfail and tables [[gate]]")
    if not tables:
        raise DomainError(f"config = {path} has no [[gate]]: nothing is to be judged")
    if xfail is not None and not isinstance(xfail, str):
        raise DomainError(f"config = {path}: xfail = {shown(xfail)} is outside its domain: a path")
    jobs: list[Job] = []
    for number, table in enumerate(tables, start=1):
        try:
            jobs.append(_job(table, defaults))
        except (DomainError, TypeError) as error:
            raise DomainError(f"config = {path}, [[gate]] {number}: {error}") from None
    return jobs, None if xfail is None else Path(xfail)


def _job(table: dict[str, Any], defaults: Mapping[str, Any]) -> Job:
    training = "training" in table or ("bound" not in table and "epsilon" in table)
    keys = _TRAINING_KEYS if training else _BOUND_KEYS
    for key in table:
        if key not in keys:
            what = "training" if training else "bound"
            raise DomainError(f"{shown(key)} is no key of a gate for a {what}; known: {', '.join(sorted(keys))}")
    given = {**{key: value for key, value in defaults.items() if key in keys}, **table}
    if not training:
        names = given.pop("bound", ())
        return BoundJob(**given, bounds=(names,) if isinstance(names, str) else tuple(names))
    for key in ("epsilon", "delta", "feature_norm"):  # decimals that a plan keeps as text
        if key in given:
            given[key] = str(given[key])
    for key in ("confidence", "timeout"):
        if key in given:
            given[key] = float(given[key])
    if "labels" in given:
        low, high = given["labels"]
        given["labels"] = (str(low), str(high))
    return TrainingJob(**given)
