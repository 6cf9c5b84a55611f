"""The false privacy claims of the documents, each audited for real.

A `FalseClaim` is an audit's plan with what a document promises, on a pair of data sets and under parameters that its
own hypotheses allow. It stands at the top of a module of `empirical.falsehoods`; that is its registration. An audit
that certifies more than is promised refutes the promise with its confidence; one that does not says how many models
were tried. The expected verdict is data: a change in either direction is a regression.

Beside the audit stands what is known without any sampling: the exact epsilon of the pair where its law is known, or
else a certified number that the true epsilon is not below (`at_least`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from empirical.audits.audit import Audit, lost, run
from empirical.audits.audit_plan import AuditPlan
from oracle.core.domain import Number
from oracle.core.enclosure import Enclosure
from oracle.core.plain import picked, plain
from oracle.core.registry import discover, index, named
from oracle.running.pool import Died, spread

CONFIDENCE = 0.999
"""Of every audit here: a false claim is not to be named on a one-in-twenty chance."""

COLUMNS = (
    "false claim", "verdict", "claimed", "delta", "audited >=", "true", "confidence", "estimator", "models a side",
)

@dataclass(frozen=True)
class FalseClaim:
    """A promise of a document that is false, and the audit that shows it.

    `claim` is its id in the register of claims, `promise` what the document says, `fault` where it goes wrong.
    `tested` is a budget at which a test finds the violation in seconds.
    """

    id: str
    claim: str
    document: str
    promise: str
    fault: str
    plan: AuditPlan
    expected: str = "VIOLATION"
    at_least: Callable[[Number], Enclosure] | None = None
    tested: int = 10_000

    def at_most(self, budget: int | None, *, seed: int) -> AuditPlan:
        """Its plan with no more models than the budget, if one is given, but never too few to find the violation."""
        most = self.plan.budget if budget is None else min(self.plan.budget, max(budget, self.tested))
        return replace(self.plan, budget=most, seed=seed)

    def planned(self, budget: int | None) -> AuditPlan:
        """Its plan, with a budget in place of its own if one is given."""
        return self.plan if budget is None else replace(self.plan, budget=budget)


@dataclass(frozen=True)
class AuditedPromise:
    """A false claim with its audit."""

    false_claim: FalseClaim
    audit: Audit

    @property
    def good(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.audit.verdict == self.false_claim.expected

    @functools.cached_property
    def true(self) -> tuple[str, str] | None:
        """The ends of the exact epsilon of the pair, or of the certified number below it."""
        if self.audit.exact is not None or self.false_claim.at_least is None:
            return self.audit.exact
        return self.false_claim.at_least(self.audit.plan.delta).to_decimals()

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle false-claims`."""
        true_is = None if self.true is None else "exact" if self.audit.exact is not None else "at least"
        return {  # by hand: the words of the claim beside what its audit found, which has the plan
            **picked(self.false_claim, "id", "claim", "document", "promise", "fault", "expected"),
            **picked(self, "good", "true"), "true_is": true_is, "audit": plain(self.audit),
        }

    def row(self) -> tuple[str, ...]:
        """The row of the table."""
        audit, plan = self.audit, self.audit.plan
        sign = "" if audit.exact is not None else ">= "
        return (
            self.false_claim.id, audit.verdict, f"{audit.claimed:.4g}", plan.delta,
            "-" if audit.epsilon_lower is None else f"{audit.epsilon_lower:.4f}",
            "-" if self.true is None else f"{sign}{float(self.true[0]):.4f}", f"{plan.confidence:g}", plan.estimator,
            "-" if audit.models is None else str(audit.models),
        )


def carry_out(
    plans: Iterable[tuple[FalseClaim, AuditPlan]], *, workers: int = 1, store: Path | None = None
) -> Iterator[AuditedPromise]:
    """Each false claim audited by a plan of its own, in their order, spread over that many processes."""
    pairs = list(plans)
    audits = spread(functools.partial(run, store=store), [(plan,) for _, plan in pairs], workers=workers)
    for (item, plan), audit in zip(pairs, audits, strict=True):
        yield AuditedPromise(item, lost(plan, str(audit)) if isinstance(audit, Died) else audit)


@functools.cache
def false_claims() -> dict[str, FalseClaim]:
    """All false privacy claims by id."""
    return index(discover(FalseClaim, "theorems"), lambda item: item.id)


def chosen(ids: Iterable[str]) -> list[FalseClaim]:
    """The false claims of these ids, or all of them where none is given."""
    wanted = list(ids)
    return [named(false_claims(), "false claim", name) for name in wanted] if wanted else list(false_claims().values())
