"""All machine-made variants of a claim, and which of them its checker still calls true with the same evidence.

A number moves by one per cent, by one, and to the other sign; a printed number by one unit of its last digit; a truth
value turns; a formula changes as `formulas` says; and each hypothesis is dropped once. What comes out HOLDS with the
evidence of the claim itself survives. A survivor is a defect of the check, unless the variant is true, too: then the
claim says why (`survivors`). A check that tells the watched statement from the statement tests its identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from theorems.claim import Claim, judge
from theorems.given import Domain
from theorems.mutation.formulas import Watched, answers, beyond, rewritten
from theorems.mutation.leaves import Place, is_number, leaves, put, transformed
from theorems.tools import effort
from theorems.verdict import Evidence, Finding, Verdict

LIMIT = 60.0
"""Seconds of a processor that the check of one variant may take; one that takes longer did not come out HOLDS."""


@dataclass(frozen=True)
class Variant:
    """A changed statement, or the statement on a changed domain."""

    name: str
    says: Any
    domain: Domain | None = None


@dataclass(frozen=True)
class Mutated:
    """How the variants of a claim came out: how many there are, and the survivors, each with a reason if it has one."""

    claim: str
    evidence: Evidence
    variants: int
    survivors: tuple[tuple[str, str], ...]

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The survivors for which the claim gives no reason."""
        return tuple(name for name, reason in self.survivors if not reason)


IDENTITY = "the same formula in a wrapper"
"""A variant that must come out as the claim does: it differs from the statement in nothing but its identity."""


def mutated(item: Claim) -> Mutated:
    """Judge every variant of a claim that holds."""
    watched: dict[Place, Watched] = {}

    def watching(at: Place, part: Any) -> Any:
        if not callable(part) or isinstance(part, type):
            return part
        watched[at] = Watched(part)
        return watched[at]

    finding = judge(item, item.says)
    seen = _judged(item, Variant(IDENTITY, transformed(item.says, watching)))
    survivors = [] if _same(finding, seen) else [IDENTITY]
    every = [] if finding.verdict is not Verdict.HOLDS else list(variants(item, finding, watched))
    survivors += [variant.name for variant in every if _same(finding, _judged(item, variant))]
    reasons = tuple((name, _reason(item, name)) for name in survivors)
    return Mutated(item.id, finding.evidence, len(every) + 1, reasons)


def variants(item: Claim, finding: Finding, watched: dict[Place, Watched]) -> Iterator[Variant]:
    """The variants of a claim; a statement about finitely many numbers has none beyond them."""
    everywhere = finding.scope is not None and finding.scope.kind != "instance"
    for at, part in leaves(item.says):
        place = "".join(f"[{key}] " for key in at)
        if at in watched:
            formulas = {**answers(part), **rewritten(part), **(beyond(watched[at]) if everywhere else {})}
            yield from (Variant(place + name, put(item.says, at, other)) for name, other in formulas.items())
        else:
            yield from (Variant(place + name, put(item.says, at, other)) for name, other in _values(part).items())
    for parameter in item.hypotheses:
        if everywhere and (parameter.low is not None or parameter.high is not None):
            yield Variant(f"any {parameter.name}", item.says, Domain(item.hypotheses).without(parameter.name))


def _values(part: Any) -> dict[str, Any]:
    """Variants of a part that is no formula."""
    if isinstance(part, bool):
        return {f"{part} -> {not part}": not part}
    if is_number(part):
        exact = Fraction(part)
        changed = {"1 % more": exact * 101 / 100, "1 % less": exact * 99 / 100, "sign": -exact, "one more": exact + 1}
        return {
            name: type(part)(value) for name, value in changed.items()
            if value != exact and (not isinstance(part, int) or value.denominator == 1)
        }
    if isinstance(part, str):
        try:
            digits = Decimal(part)
            unit = Decimal((0, (1,), int(digits.as_tuple().exponent)))
        except (InvalidOperation, ValueError):
            return {}
        return {"a digit more": str(digits + unit), "a digit less": str(digits - unit)}
    return {}


def _judged(item: Claim, variant: Variant) -> Finding | None:
    """What the checker finds about a variant; nothing if it raises, which is no HOLDS either."""
    try:
        with effort.at_most(LIMIT):
            return judge(item, variant.says, variant.domain)
    except Exception:
        return None


def _same(finding: Finding, other: Finding | None) -> bool:
    return other is not None and (other.verdict, other.evidence) == (finding.verdict, finding.evidence)


def _reason(item: Claim, name: str) -> str:
    return next((reason for pattern, reason in item.survivors.items() if fnmatchcase(name, pattern)), "")
