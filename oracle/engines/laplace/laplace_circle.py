r"""Many Laplace releases of several scales, in balls: the transform of `laplace_residues` on a circle.

In that notation, with s = u - 1/2, the delays that count (those with 2 H < g) have the transform

    G(u) = (2u)^{-k} sum over J and H < g/2 of n_{J,H} (u + 1/2)^{k-J-1} (u - 1/2)^{J-1} e^{(g-2H)u},

whose poles 0 and 1/2 lie inside a circle |u| = r > 1/2, so that delta = e^{-g/2} (1/2 pi i) int G du over it, and N
points give the mean of u G(u). Its error: with G = sum a_n u^n outside 1/2, the mean is the sum of all
a_{lN-1} r^{lN}, l = 0 the truth; |a_n| <= C(R) R^{-n} for any R > 1/2, C a bound of |G| on |u| = R, so that the rest is
at most C(R1) R1 x/(1-x) + C(R2) R2 y/(1-y) with x = (r/R1)^N, y = (R2/r)^N for R2 < r < R1. Term by term

    C(R) = (2R)^{-k} (R + 1/2)^{k-1} / (R - 1/2) e^{gR} prod_i (1 + e^{-2 m_i R})^{k_i}.

The releases are split into two groups; a choice of both is one of each, so that with the second group's terms summed up
to every delay, sorted, a point costs as much as the two groups have choices, and not their product. A delay so near g/2
that the ball of g does not decide is counted: its term vanishes there, and with x = g - 2H its integral is at most
|x| times that of |u| times its bound, which 2 |x| r C(r) r covers.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb, ctx

from oracle.core.enclosure import Dyadic, ball
from oracle.core.errors import PrecisionError
from oracle.engines.laplace.laplace_residues import Parts, largest_loss

_MOST_CHOICES = 5000
_SMALL, _LARGE = Fraction(1, 10**12), 10**4  # between which the float64 plan finds its radius
_FARTHER = (1.3, 1.7, 2.5, 4.0, 8.0)
_MOST_POINTS = 4096
_SHARE = 0.8  # of the digits that the points shall give: a root needs fewer than it computes with


def _split(parts: Parts) -> tuple[Parts, Parts]:
    """Two groups of about as many choices."""
    groups: tuple[list[tuple[Fraction, int]], list[tuple[Fraction, int]]] = ([], [])
    sizes = [1, 1]
    for part in sorted(parts, key=lambda part: -part[1]):
        at = 0 if sizes[0] <= sizes[1] else 1
        groups[at].append(part)
        sizes[at] *= part[1] + 1
    return tuple(groups[0]), tuple(groups[1])


def serves(parts: Sequence[tuple[Fraction, int]]) -> bool:
    """Whether there are few enough choices in each group."""
    sized = all(ratio > _SMALL for ratio, _ in parts) and largest_loss(parts) < _LARGE
    return sized and all(math.prod(count + 1 for _, count in group) <= _MOST_CHOICES for group in _split(tuple(parts)))


@functools.lru_cache(maxsize=16)
def _delays(group: Parts) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
    """H of every choice of a group, the shortest first, and where `_terms` has it."""
    delays = [Fraction(0)]
    for ratio, count in group:
        delays = [delay + j * ratio for delay in delays for j in range(count + 1)]
    order = sorted(range(len(delays)), key=delays.__getitem__)
    return tuple(delays[at] for at in order), tuple(order)


@functools.lru_cache(maxsize=16)
def _binomials(count: int, precision: int) -> tuple[arb, ...]:
    """C(count, j) for every j, rounded once."""
    with ctx.workprec(precision + 8):
        return tuple(arb(math.comb(count, j)) * 1 for j in range(count + 1))


def _terms(group: Parts, u: acb, ratio: acb) -> list[acb]:
    """The number of choices times ratio^J e^{-2Hu}, for every choice of how many of each scale."""
    terms = [acb(1)]
    for m, count in group:
        powers = [acb(1), ratio * (-2 * ball(m) * u).exp()]
        for j in range(2, count + 1):  # by halves: every product of complex balls widens them
            powers.append(powers[j >> 1] * powers[j - (j >> 1)])
        weighted = [number * power for number, power in zip(_binomials(count, ctx.prec), powers, strict=False)]
        terms = weighted if len(terms) == 1 else [term * entry for term in terms for entry in weighted]
    return terms


def _log_ceiling(parts: Parts, gap: float, radius: float) -> float:
    """log C(R) R, in floats."""
    steps = sum(count for _, count in parts)
    spread = sum(count * math.log1p(math.exp(-2 * float(ratio) * radius)) for ratio, count in parts)
    return (
        steps * (math.log1p(0.5 / radius) - math.log(2)) - math.log(radius - 0.5) + gap * radius + spread
        - math.log1p(0.5 / radius)
    )


def _ceiling(parts: Parts, gap: arb, radius: arb) -> arb:
    """C(R) R."""
    steps = sum(count for _, count in parts)
    result = (gap * radius).exp() * (radius + 0.5) ** (steps - 1) / (radius - 0.5) / (2 * radius) ** steps * radius
    for ratio, count in parts:
        result *= (1 + (-2 * ball(ratio) * radius).exp()) ** count
    return result


def _plan(parts: Parts, gap: float, digits: float) -> tuple[float, float, float, int]:
    """The radius at which C(R) is least, a larger and a smaller one, and the points that leave e^-digits of it."""
    logs = [-3.0 + 0.05 * i for i in range(400)]
    radius = min((0.5 + math.exp(x) for x in logs), key=lambda r: _log_ceiling(parts, gap, r))
    least = _log_ceiling(parts, gap, radius)

    def points(other: float) -> float:
        return (digits + _log_ceiling(parts, gap, other) - least) / abs(math.log(other / radius))

    outer = min((radius * factor for factor in _FARTHER), key=points)
    inner = min((0.5 + (radius - 0.5) / factor for factor in _FARTHER), key=points)
    return radius, outer, inner, math.ceil(max(points(outer), points(inner), 8.0))


@functools.lru_cache(maxsize=2)
def _transform(
    parts: Parts, radius: float, points: int, precision: int, fits: tuple[int, ...]
) -> tuple[tuple[acb, acb], ...]:
    """u and u G(u) e^{-gu} at the points of the upper half circle.

    Besides the circle they hang on which delays count only: a root's last steps share them.
    """
    one, other = _split(parts)
    (_, order), (_, sorted_inside) = _delays(one), _delays(other)
    steps, result = sum(count for _, count in parts), []
    with ctx.workprec(precision):
        r = arb(radius)
        for n in range(points // 2 + 1):
            angle = arb(2 * n) / points
            u = acb(r * angle.cos_pi(), r * angle.sin_pi())
            ratio = (u - 0.5) / (u + 0.5)
            first, second = _terms(one, u, ratio), _terms(other, u, ratio)
            sums = list(itertools.accumulate((second[at] for at in sorted_inside), initial=acb(0)))
            whole = sum((first[at] * sums[count] for at, count in zip(order, fits, strict=True) if count), acb(0))
            result.append((u, whole * (u + 0.5) ** (steps - 1) / (u - 0.5) / (2 * u) ** steps * u))
    return tuple(result)


def curve(parts: Parts, gap: arb) -> arb:
    """delta at epsilon = K - gap >= 0 for a ball gap > 0, at the working precision."""
    one, other = _split(parts)
    near = _rounded(float(gap.mid()))  # so that gaps next to one another share a circle
    radius, outer, inner, points = _plan(parts, near, _SHARE * ctx.prec * math.log(2))
    if points > _MOST_POINTS:
        raise PrecisionError(f"the circle of {len(parts)} Laplace scales needs {points} points")
    r, delays, inside = arb(radius), _delays(one)[0], _delays(other)[0]
    low, high = (Dyadic.of(end).to_fraction() for end in ((gap / 2).lower(), (gap / 2).upper()))
    fits = tuple(bisect.bisect_left(inside, high - delay) for delay in delays)
    doubtful = any(bisect.bisect_left(inside, low - delay) < count for delay, count in zip(delays, fits, strict=True))
    total = arb(0)
    for n, (u, value) in enumerate(_transform(parts, radius, points, ctx.prec, fits)):
        total += (value * (gap * u).exp()).real * (1 if 2 * n in (0, points) else 2)
    error = arb(0)
    for end, share in ((arb(outer), r / arb(outer)), (arb(inner), arb(inner) / r)):
        rest = share**points
        error += _ceiling(parts, gap, end) * rest / (1 - rest)
    if doubtful:
        error += 8 * gap.rad() * r * _ceiling(parts, gap, r)
    return (-gap / 2).exp() * (total / points + error.upper() * arb(0, 1))


def _rounded(gap: float) -> float:
    """A gap to six bits."""
    mantissa, exponent = math.frexp(gap)
    return math.ldexp(round(64 * mantissa), exponent - 6)
