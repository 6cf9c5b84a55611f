"""All machine-made variants of a claim, and which of them its checker still calls true with the same evidence.

A number moves by one per cent, by one, and to the other sign; a printed number by one unit of its last digit; a truth
value turns; a formula changes as `formulas` says; and each hypothesis is dropped once. What comes out HOLDS with the
evidence of the claim itself is either true as well, and the claim says why (`true_variants`), or it survives: the check
looks at less than it tells, and the claim may say why it cannot do better (`survivors`), but not if it is PROVED. A
check that tells the watched statement from the statement tests its identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from theorems.claim import Claim, capped, judge
from theorems.given import Domain
from theorems.leaves import Place, is_number, leaves, put, transformed
from theorems.mutation.formulas import Formula, Watched, answers, between, beyond, hidden, only_at, rewritten
from theorems.tools import effort
from theorems.verdict import ALL, INSTANCE, Evidence, Finding, Verdict

LIMIT = 60.0
"""Seconds of a processor that the check of one variant may take; one that takes longer did not come out HOLDS."""


@dataclass(frozen=True)
class Variant:
    """A changed statement, or the statement on a changed domain; it survives if the `other` ones do, too."""

    name: str
    says: Any
    domain: Domain | None = None
    other: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Mutated:
    """How the variants of a claim came out: how many there are, the true ones, and survivors, each with a reason."""

    claim: str
    evidence: Evidence
    variants: int
    true: tuple[tuple[str, str], ...]
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
    survivors += [variant.name for variant in every if _survives(item, variant, finding)]
    true = tuple((name, _reason(item.true_variants, name)) for name in survivors if _reason(item.true_variants, name))
    rest = [name for name in survivors if name not in dict(true)]
    told = tuple((name, _reason(item.survivors, name)) for name in rest)
    return Mutated(item.id, capped(item, finding).finding.evidence, len(every) + 1, true, told)


def variants(item: Claim, finding: Finding, watched: dict[Place, Watched]) -> Iterator[Variant]:
    """The variants of a claim; a statement about finitely many numbers has none beyond them."""
    everywhere = finding.scope != INSTANCE
    for at, part in leaves(item.says):
        place = "".join(f"[{key}] " for key in at)
        if at in watched:
            formulas = {**answers(watched[at]), **rewritten(part), **(_asked_less(watched[at]) if everywhere else {})}
            if finding.scope == ALL:
                formulas["hidden at a number"] = hidden(part)
            yield from (Variant(place + name, put(item.says, at, other)) for name, other in formulas.items())
            for name, (more, less) in only_at(watched[at]).items() if everywhere else ():
                yield Variant(place + name, put(item.says, at, more), other=(put(item.says, at, less),))
        else:
            yield from (Variant(place + name, put(item.says, at, other)) for name, other in _values(part).items())
    for parameter in item.hypotheses:
        if everywhere and (parameter.low is not None or parameter.high is not None):
            yield Variant(f"any {parameter.name}", item.says, Domain(item.hypotheses).without(parameter.name))


def _asked_less(watched: Watched) -> dict[str, Formula]:
    """The variants that differ where the check did not ask; one a place is enough."""
    far, amid = beyond(watched), between(watched)
    return far | {name: other for name, other in amid.items() if not any(_place(name) == _place(one) for one in far)}


def _place(name: str) -> str:
    return name.partition("argument ")[2].partition(" = ")[0]


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


def _survives(item: Claim, variant: Variant, finding: Finding) -> bool:
    every = (variant, *(replace(variant, says=says) for says in variant.other))
    return all(_same(finding, _judged(item, one)) for one in every)


def _judged(item: Claim, variant: Variant) -> Finding | None:
    """What the checker finds about a variant; nothing if it raises, which is no HOLDS either."""
    try:
        with effort.at_most(LIMIT):
            return judge(item, variant.says, variant.domain)
    except Exception:
        return None


def _same(finding: Finding, other: Finding | None) -> bool:
    return other is not None and (other.verdict, other.evidence) == (finding.verdict, finding.evidence)


def _reason(reasons: Mapping[str, str], name: str) -> str:
    return next((reason for pattern, reason in reasons.items() if fnmatchcase(name, pattern)), "")
