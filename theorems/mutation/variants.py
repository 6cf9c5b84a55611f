"""All machine-made variants of a claim, and which of them its checker still calls true with the same evidence.

A number moves by one per cent, by one, and to the other sign; a printed number by one unit of its last digit; a truth
value turns; a formula changes as `formulas` says; and each hypothesis is dropped once. What comes out HOLDS with the
evidence of the claim itself is either true as well, and the claim says why (`true_variants`), or it survives: the check
looks at less than it tells, and the claim may say why it cannot do better (`survivors`), but not if it is PROVED. A
check that tells the watched statement from the statement tests its identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

import sympy
from flint import arb
from sympy import MatrixBase

from theorems.claim import Claim, capped, judge
from theorems.given import Domain
from theorems.leaves import Place, is_number, leaves, put, transformed
from theorems.mutation.formulas import Formula, Watched, answers, between, beyond, hidden, only_at, rewritten
from theorems.tools import effort
from theorems.verdict import Evidence, Finding, Verdict

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
    """How the variants of a claim came out: how many there are, the true ones, and survivors, each with a reason.

    `contradicted` counts the variants and flips to which the checker itself gave another verdict or evidence; where
    there is none, nobody knows whether it looks at anything, and the claim is blind. The rest were refused by the rules
    of a finding, or raised an error.
    """

    claim: str
    evidence: Evidence
    variants: int
    contradicted: int
    true: tuple[tuple[str, str], ...]
    survivors: tuple[tuple[str, str], ...]

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The survivors for which the claim gives no reason."""
        return tuple(name for name, reason in self.survivors if not reason)

    @property
    def blind(self) -> bool:
        """Whether the checker never said otherwise."""
        return self.contradicted == 0


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
    came_out = [(variant, _came_out(item, variant, finding)) for variant in every]
    survivors += [variant.name for variant, found in came_out if found is SAME]
    contradicted = sum(found is OTHERWISE for _, found in came_out)
    contradicted += sum(flip.verdict is not finding.verdict for flip in item.flips)
    true = tuple((name, _reason(item.true_variants, name)) for name in survivors if _reason(item.true_variants, name))
    rest = [name for name in survivors if name not in dict(true)]
    told = tuple((name, _reason(item.survivors, name)) for name in rest)
    return Mutated(item.id, capped(item, finding).finding.evidence, len(every) + 1, contradicted, true, told)


def variants(item: Claim, finding: Finding, watched: dict[Place, Watched]) -> Iterator[Variant]:
    """The variants of a claim; a statement about finitely many numbers has none beyond them."""
    kind = "" if finding.scope is None else finding.scope.kind
    everywhere = kind != "instance"
    for at, part in leaves(item.says):
        place = "".join(f"[{key}] " for key in at)
        if at in watched:
            formulas = {**answers(watched[at]), **rewritten(part), **(_asked_less(watched[at]) if everywhere else {})}
            if kind == "all":
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
    if isinstance(part, (arb, sympy.Expr, MatrixBase)):
        return {"1 % more": part * 101 / 100, "1 % less": part * 99 / 100, "sign": -part, "squared": part * part}
    if isinstance(part, str):
        try:
            digits = Decimal(part)
            unit = Decimal((0, (1,), int(digits.as_tuple().exponent)))
        except (InvalidOperation, ValueError):
            return {"another word": f"another {part[::-1]}"}
        return {"a digit more": str(digits + unit), "a digit less": str(digits - unit)}
    return {}


SAME, OTHERWISE, REFUSED = "the same", "otherwise", "refused"


def _came_out(item: Claim, variant: Variant, finding: Finding) -> str:
    """Whether a variant and its others come out as the claim does, or how the first comes out that does not."""
    for one in (variant, *(replace(variant, says=says) for says in variant.other)):
        found = _judged(item, one)
        if not _same(finding, found):
            return REFUSED if found is None else OTHERWISE
    return SAME


def _judged(item: Claim, variant: Variant) -> Finding | None:
    """What the checker finds about a variant; nothing if it raises, or the rules refuse it: that is no HOLDS either.

    A case distinction at the limit is not refused at sight, since whether the checker sees it is the question.
    """
    try:
        with effort.at_most(LIMIT):
            return judge(item, variant.says, variant.domain, jumps="beyond argument" in variant.name)
    except Exception:
        return None


def _same(finding: Finding, other: Finding | None) -> bool:
    return other is not None and (other.verdict, other.evidence) == (finding.verdict, finding.evidence)


def _reason(reasons: Mapping[str, str], name: str) -> str:
    told = (pattern for pattern in reasons if names_a_kind(pattern) and fnmatchcase(name, pattern))
    return reasons.get(next(told, ""), "")


def names_a_kind(pattern: str) -> bool:
    """Whether a pattern says which change it is about, and is not for whatever change is made to some part."""
    plainly = re.sub(r"\[(.)[^\]]*\]", r"\1", pattern)  # a choice of characters, by its first
    return plainly == IDENTITY or any(kind in plainly for kind in _KINDS)


_KINDS = ("any ", "%", "more", "less", "sign", "squared", "->", "beyond", "between", "only at", "hidden", "max for sum",
          "digit", "word", "True", "False", "constant", "operator")
