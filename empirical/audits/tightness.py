"""How close audits come to the truth: a plan judged by every estimator that may judge it, and the table of it all.

A plan's models are trained once and judged by gdp, where the release is Gaussian by theory, and by the best estimator
that assumes nothing. Beside each lower bound stand the proved epsilon, the exact one of the pair, and what the best
test, known in advance, would certify with as many models (the binomial limit, `limits`). So the table tells
three gaps apart: of the proof and the adversary (exact / proved), of the statistics, and of the estimator.

Plans are independent, so they are spread over processes, one thread each; a plan's result does not depend on where it
was carried out. With a store they can be interrupted, and read again; the estimators share its models there, too.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from empirical.audits.audit import Audit, gaussian_release, lost, run
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.targets import Array, AuditTarget, make_target
from empirical.pairs.pair import make_pair
from oracle.core.plain import picked
from oracle.core.tape import Tape
from oracle.running.pool import Died, spread

FREE, GAUSSIAN = "curve", "gdp"
GOAL = 0.95


@dataclass(frozen=True)
class TightnessRow:
    """An audit of the campaign, with its name and the seconds that its plan took, for all its estimators together."""

    name: str
    audit: Audit
    seconds: float | None

    @property
    def good(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.audit.verdict == "CONSISTENT"

    @property
    def of_exact(self) -> float | None:
        """The lower bound over the exact epsilon."""
        exact = self.audit.exact
        return _quotient(self.audit.epsilon_lower, None if exact is None else float(exact[0]))

    @property
    def of_limit(self) -> float | None:
        """The lower bound over the binomial limit, which only bounds estimators that assume nothing."""
        return _quotient(self.audit.epsilon_lower, None if self.audit.plan.estimator == GAUSSIAN else self.audit.limit)

    @property
    def adversary(self) -> float | None:
        """The exact epsilon of the pair over what is proved (or claimed) of all pairs."""
        exact = self.audit.exact
        return _quotient(None if exact is None else float(exact[0]), self.audit.claimed)

    def to_json(self) -> dict[str, Any]:
        """The row's object in the JSON file of `dp-oracle audit --all`, and in the report, which has no seconds."""
        time_taken = {} if self.seconds is None else {"seconds": round(self.seconds, 1)}
        return {  # by hand: the audit's own object, extended
            "name": self.name, **self.audit.to_json(), **picked(self, "of_exact", "of_limit"),
            "exact_of_claimed": self.adversary, **time_taken,
        }


def _quotient(value: float | None, whole: float | None) -> float | None:
    return None if value is None or not whole else value / whole


COLUMNS = (
    "audit", "verdict", "estimator", "proved", "exact", "limit", "epsilon >=", ">=/exact", ">=/limit", "exact/proved",
    "models a side", "seconds",
)


def table(rows: list[TightnessRow]) -> list[tuple[str, ...]]:
    """The tightness table; the seconds of a plan stand in the first of its rows."""
    seen: set[str] = set()
    lines: list[tuple[str, ...]] = []
    for row in rows:
        audit = row.audit
        first = row.name not in seen
        seen.add(row.name)
        lines.append((
            row.name if first else "", audit.verdict, audit.plan.estimator,
            f"{audit.claimed:.4f}",
            "-" if audit.exact is None else f"{float(audit.exact[0]):.4f}",
            "-" if row.of_limit is None else f"{audit.limit:.4f}", _decimals(audit.epsilon_lower, 4),
            _decimals(row.of_exact, 3), _decimals(row.of_limit, 3), _decimals(row.adversary, 3),
            "-" if audit.models is None else str(audit.models), _decimals(row.seconds, 1) if first else "",
        ))
    return lines


def _decimals(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


class _Once:
    """A target that trains no models twice: a tape names the side and the block, so it names the training."""

    def __init__(self, target: AuditTarget) -> None:
        self._target = target
        self._released: dict[tuple[Tape, bytes], Array] = {}
        self.name = target.name

    def spec(self) -> dict[str, Any]:
        """The target's own."""
        return self._target.spec()

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the models release, from memory where they are known."""
        key = (tape, features.tobytes() + labels.tobytes())
        if key not in self._released:
            self._released[key] = self._target.releases(features, labels, tape)
        return self._released[key]


def estimators(plan: AuditPlan) -> tuple[str, ...]:
    """The estimators that may judge a plan, tightest first: gdp only where the released law is Gaussian by theory."""
    pair = make_pair(plan.pair, make_target(plan.target))
    return (GAUSSIAN, FREE) if gaussian_release(plan, pair) else (FREE,)


def audit_every_way(name: str, plan: AuditPlan, store: Path | None = None) -> list[TightnessRow]:
    """The rows of one plan; without a store its models are trained once, since the estimators only read them."""
    started = time.perf_counter()
    judged = [replace(plan, estimator=estimator) for estimator in estimators(plan)]
    if store is None:
        target = _Once(make_target(plan.target))
        audits = [run(item, target=target) for item in judged]
    else:
        audits = [run(item, store=store) for item in judged]
    seconds = time.perf_counter() - started
    return [TightnessRow(name, audit, seconds) for audit in audits]


def carry_out(
    plans: Mapping[str, AuditPlan], *, workers: int = 1, store: Path | None = None
) -> Iterator[list[TightnessRow]]:
    """The rows of each plan, in the plans' order, spread over that many processes; INVALID where these died."""
    found = spread(functools.partial(audit_every_way, store=store), plans.items(), workers=workers)
    for (name, plan), rows in zip(plans.items(), found, strict=True):
        if isinstance(rows, Died):
            judged = [replace(plan, estimator=estimator) for estimator in estimators(plan)]
            yield [TightnessRow(name, lost(item, str(rows)), None) for item in judged]
        else:
            yield rows


def summary(rows: list[TightnessRow]) -> list[str]:
    """How the rows stand to the goals: 0.95 of the exact epsilon by gdp, and 0.95 of the binomial limit otherwise.

    The limit is the median of what the best test certifies, so that half of all audits lie below it by luck alone: the
    second goal is one of the median over the rows, and the worst row is told beside it.
    """
    lines = []
    gaussian = {row.name: row.of_exact for row in rows if row.audit.plan.estimator == GAUSSIAN and row.of_exact}
    free = {row.name: row.of_limit for row in rows if row.of_limit}
    if gaussian:
        worst = min(gaussian, key=lambda name: gaussian[name] or 0.0)
        lines.append(_goal(f"{GAUSSIAN}, of the exact epsilon: worst", gaussian[worst] or 0.0, worst))
    if free:
        worst = min(free, key=lambda name: free[name] or 0.0)
        middle = statistics.median(value for value in free.values() if value is not None)
        lines.append(_goal(f"{FREE}, of the binomial limit: median", middle, f"worst {free[worst]:.3f}: {worst}"))
    return lines


def _goal(what: str, value: float, remark: str) -> str:
    return f"{what} {value:.3f} ({remark}); goal {GOAL:g}: {'met' if value >= GOAL else 'missed'}"
