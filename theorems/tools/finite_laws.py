r"""Laws on finitely many outcomes in exact rationals: divergences, moments and domination.

What holds for every pair of finite laws is what most checkers try first; nothing here rounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

Law = tuple[Fraction, ...]
LawPair = tuple[Law, Law]
Integrand = Callable[[Any, Any, Any], Any]


def laws(outcomes: int, denominator: int = 4) -> Iterator[Law]:
    """All laws on that many outcomes whose probabilities are multiples of 1/denominator."""
    for cut in itertools.product(range(denominator + 1), repeat=outcomes):
        if sum(cut) == denominator:
            yield tuple(Fraction(c, denominator) for c in cut)


def hockey_stick(first: Law, second: Law, alpha: Fraction) -> Fraction:
    """H_alpha(P || Q) of finite laws: the sum of max(0, p - alpha q)."""
    return divergence(hinge, first, second, alpha)


def largest_excess(first: Law, second: Law, alpha: Fraction) -> Fraction:
    """The largest P(E) - alpha Q(E) over all events, by enumeration."""
    return max(
        sum((p - alpha * q for p, q, inside in zip(first, second, event, strict=True) if inside), Fraction(0))
        for event in itertools.product((False, True), repeat=len(first))
    )


def hinge(p: Any, q: Any, alpha: Any) -> Any:
    """What the hockey-stick divergence integrates: [p - alpha q]_+."""
    return max(0, p - alpha * q)


def divergence(integrand: Integrand, first: Law, second: Law, alpha: Fraction) -> Fraction:
    """The sum over the outcomes of an integrand."""
    return sum((Fraction(integrand(p, q, alpha)) for p, q in zip(first, second, strict=True)), Fraction(0))


def moment(first: Law, second: Law, order: int) -> Fraction | None:
    """sum p^alpha q^{1-alpha} = e^{(alpha-1) R_alpha} for an integer order; None where it is infinite."""
    if any(p > 0 and q == 0 for p, q in zip(first, second, strict=True)):
        return None
    return sum((p**order / q ** (order - 1) for p, q in zip(first, second, strict=True) if p), Fraction(0))


def dominates(pair: LawPair, laws_: LawPair) -> bool:
    """Whether H_alpha of the laws is at most that of the pair for every alpha > 0, exactly.

    Both sides are convex and piecewise linear in alpha, the right one linear between the ratios p/q of the pair, so
    these ratios (and the ends 0 and infinity, where both sides are 1 and 0 or the mass without q) decide it.
    """
    ratios = {p / q for p, q in zip(*pair, strict=True) if q > 0} | {Fraction(0), Fraction(10**6)}
    return all(hockey_stick(*laws_, alpha) <= hockey_stick(*pair, alpha) for alpha in ratios)


def shown(law: Any) -> str:
    """A law, or a list of numbers, as a witness prints it."""
    return "(" + ", ".join(map(str, law)) + ")"
