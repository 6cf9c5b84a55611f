"""What the checks of DP-GLMtron's utility share: signs of scores, small symmetric laws, the Gaussian chain, dimensions.

A score is <w, x>. Every inequality for relu that document 003 needs is about two scores a and b, averaged over x and
-x: `scores` has the four patterns of signs, each with symbols >= 0, so that all values are covered, zeros included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.enclosure import ball

Law = tuple[tuple[Fraction, tuple[Fraction, ...]], ...]
"""Probabilities and vectors."""


def rational(value: Fraction | int) -> sympy.Rational:
    """A number for computer algebra."""
    exact = Fraction(value)
    return sympy.Rational(exact.numerator, exact.denominator)


def relu(value: Any) -> Any:
    """max(value, 0) of a number or of an expression whose sign is known."""
    return sympy.Max(value, 0) if isinstance(value, sympy.Basic) else max(value, Fraction(0))


def scores() -> list[tuple[Any, Any]]:
    """Two scores in all four patterns of signs."""
    p, q = sympy.symbols("p q", nonnegative=True)
    return [(p, q), (p, -q), (-p, q), (-p, -q)]


def averaged(of: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """The average of of(a, b) over x and -x."""
    return (of(a, b) + of(-a, -b)) / 2


def _symmetric(*vectors: tuple[Fraction | int, ...], weights: Sequence[Fraction] = ()) -> Law:
    shares = list(weights) or [Fraction(1, len(vectors))] * len(vectors)
    return tuple(
        (share / 2, tuple(sign * Fraction(entry) for entry in vector))
        for share, vector in zip(shares, vectors, strict=True) for sign in (1, -1)
    )


RADEMACHER = _symmetric((1, Fraction(1, 2)), (1, Fraction(-1, 2)))
ONE_HOT = _symmetric((1, 0), (0, 1), weights=(Fraction(2, 3), Fraction(1, 3)))
SKEW = _symmetric((2, 1), (1, -1), (0, 3), weights=(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
LAWS = (RADEMACHER, ONE_HOT, SKEW)
"""Laws of x in the plane that are those of -x: two with atoms on lines through 0."""
LINES = tuple((Fraction(a), Fraction(b)) for a, b in ((1, 0), (0, 0), (0, 1), (1, 1), (1, -1), (-2, 1), (1, 3)))
"""Vectors of the plane; 0 is the algorithm's own start."""


def dot(u: Sequence[Any], v: Sequence[Any]) -> Any:
    """The inner product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), start=0 * u[0] * v[0])


def mean(law: Law, of: Callable[[tuple[Fraction, ...]], Any]) -> Any:
    """The expectation of a number."""
    return sum((share * of(x) for share, x in law), start=Fraction(0))


def moments(law: Law, weight: Callable[[tuple[Fraction, ...]], Any]) -> tuple[Any, Any, Any]:
    """E[weight(x) xx^T] in the plane: its entries 11, 12 and 22."""
    def entry(i: int, j: int) -> Any:
        return mean(law, lambda x: weight(x) * x[i] * x[j])

    return entry(0, 0), entry(0, 1), entry(1, 1)


def is_psd(entries: Sequence[Any]) -> bool:
    """Whether a symmetric matrix of the plane, entries 11, 12, 22, is positive semi-definite."""
    one, cross, two = entries
    return bool(one >= 0 and two >= 0 and one * two >= cross * cross)


def dimension(spectrum: Sequence[Fraction], reach: Fraction, power: int) -> Fraction:
    """D_eff (power 0) or D_pri (power 1) as printed: a head above 1/(eta N), reach = eta N, and a tail."""
    head = [size for size in spectrum if size >= 1 / reach]
    tail = [size for size in spectrum if size < 1 / reach]
    return sum((1 / size**power for size in head), Fraction(0)) + reach**2 * sum(
        (size ** (2 - power) for size in tail), Fraction(0))


def chain(
    spectrum: Sequence[Fraction], gaps: Sequence[Fraction], steps: int, rate: Fraction, share: Fraction,
    label: Fraction, noise: Fraction,
) -> tuple[arb, list[arb]]:
    """N^2 E|mean - w*|_H^2 of the chain of second moments with c = share, and the last second moments, in balls.

    Gaussian features; label and noise are variances; the mean is that of the first `steps` iterates.
    """
    sizes = [ball(size) for size in spectrum]
    kept = [ball(1 - rate * size + 2 * share * (rate * size) ** 2) for size in spectrum]
    memory = [ball(1 - rate * size / 2) for size in spectrum]
    fed, fresh = ([ball(share * rate**2 * size) for size in spectrum],
                  [ball(rate**2 * (size * label + noise)) for size in spectrum])
    now, past, total = [ball(gap) for gap in gaps], [arb(0) for _ in gaps], arb(0)
    for _ in range(steps):
        energy = sum((size * a for size, a in zip(sizes, now, strict=True)), arb(0))
        total += energy + 2 * sum((size * b for size, b in zip(sizes, past, strict=True)), arb(0))
        past = [q * (a + b) for q, a, b in zip(memory, now, past, strict=True)]
        now = [k * a + f * energy + c for k, f, c, a in zip(kept, fed, fresh, now, strict=True)]
    return total, now
