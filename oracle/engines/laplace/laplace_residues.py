r"""Laplace releases of any scales, exactly, in balls: the residues of their curve's Laplace transform.

In the notation of `laplace_composed`, release i has E e^{-sY} = ((s+1) + s e^{-m_i - 2 m_i s}) / (2s+1), and with
k releases in all, K = sum of all m_i and g = K - epsilon, delta(epsilon) = E max(0, 1 - e^{-(g - W)}) has the Laplace
transform prod_i (E e^{-sY_i}) / (s (s+1)) in g. Expanded, a choice of J releases whose m_i add up to H is a delay by
2H with the weight e^{-H}, and the residues (a pole of order k at s = -1/2, and for J = 0 one at s = 0; J = k never
counts for epsilon >= 0, since 2K > g) give, with u = s + 1/2 and x = g - 2H > 0,

    e^{-H} h_J(x),    h_J(x) = [J = 0] + 2^{-k} e^{-x/2} [u^{k-1}] (u + 1/2)^{k-J-1} (u - 1/2)^{J-1} e^{xu}.

As e^{-H} e^{-x/2} = e^{-g/2}, with n_{J,H} the number of such choices and p_J the polynomial in x/2 of [u^{k-1}] ...,

    delta = 1 + e^{-g/2} sum over J and H < g/2 of n_{J,H} p_J(g/2 - H).

On the edge of a delay its term vanishes: p_J(0) = 0 for 0 < J < k. The sum alternates and loses about k bits, which
the working precision wins back.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Sequence
from fractions import Fraction

from flint import arb, arb_poly, ctx, fmpz, fmpz_poly

from oracle.core.enclosure import ball

Parts = tuple[tuple[Fraction, int], ...]
"""Ratios of sensitivity to scale, all different, and how often each is released."""

MOST_STEPS = 400  # the polynomials of all delays hold about steps^3 / 10 bytes
_MOST_WORK = 30_000  # terms by releases: about a hundredth of a second an evaluation


def serves(parts: Sequence[tuple[Fraction, int]]) -> bool:
    """Whether the sum is short enough."""
    steps = sum(count for _, count in parts)
    return steps <= MOST_STEPS and math.prod(count + 1 for _, count in parts) * steps <= _MOST_WORK


def largest_loss(parts: Sequence[tuple[Fraction, int]]) -> Fraction:
    """K, the largest loss of all together."""
    return sum((ratio * count for ratio, count in parts), Fraction(0))


@functools.lru_cache(maxsize=2)
def _factors(steps: int) -> tuple[fmpz, ...]:
    """(k-1)! / (k-1-i)! for i < k."""
    return tuple(itertools.accumulate(range(steps - 1, 0, -1), operator.mul, initial=fmpz(1)))


@functools.lru_cache(maxsize=2 * MOST_STEPS)
def _polynomial(steps: int, j: int) -> fmpz_poly:
    """For J < k the part [u^{k-1}] (...) e^{xu} of h_J as a polynomial in x / 2, made integer.

    With v = 2u, (u + 1/2)^{k-J-1} (u - 1/2)^{J-1} = 2^{2-k} (v+1)^{k-J-1} (v-1)^{J-1}, a series in v whose coefficient
    n_i meets (x/2)^{k-1-i} / (k-1-i)! in e^{xu}; u^{k-1} is v^{k-1} 2^{1-k}: altogether 2^{-k} 2^{2-k} 2^{k-1} n_i =
    2^{1-k} n_i. What is returned is free of 2^{1-k} and multiplied by (k-1)!; `curve` divides.
    """
    if j == 0:
        # (v+1)^{k-1} / (v-1) = -(v+1)^{k-1} (1 + v + v^2 + ...): partial sums of binomial coefficients
        series = [-total for total in itertools.accumulate((fmpz_poly([1, 1]) ** (steps - 1)).coeffs())]
    else:
        series = (fmpz_poly([1, 1]) ** (steps - j - 1) * fmpz_poly([-1, 1]) ** (j - 1)).coeffs()
    rising = [n * factor for n, factor in zip(series, _factors(steps), strict=False)]
    return fmpz_poly([fmpz(0)] * (steps - len(rising)) + rising[::-1])


@functools.lru_cache(maxsize=8)
def _choices(parts: Parts) -> tuple[int, tuple[tuple[int, int, int], ...]]:
    """What H is counted in, and every J with every H < K/2 that goes with it, in how many ways; the shortest first."""
    unit = math.lcm(*(ratio.denominator for ratio, _ in parts))
    twice = unit * largest_loss(parts)  # H < K/2 is 2 H < K, in units
    ways: dict[tuple[int, int], int] = {(0, 0): 1}
    for ratio, count in parts:
        longer: dict[tuple[int, int], int] = {}
        apart = int(ratio * unit)
        for (chosen, delay), number in ways.items():
            for j in range(count + 1):
                if 2 * (delay + j * apart) >= twice:
                    break
                key = (chosen + j, delay + j * apart)
                longer[key] = longer.get(key, 0) + number * math.comb(count, j)
        ways = longer
    ordered = sorted(ways.items(), key=lambda way: way[0][1])
    return unit, tuple((chosen, delay, number) for (chosen, delay), number in ordered)


def curve(parts: Parts, gap: arb) -> arb:
    """delta at epsilon = K - gap >= 0 for a ball gap > 0, at the working precision and the bits that cancel."""
    steps = sum(count for _, count in parts)
    with ctx.extraprec(steps):
        half, total = gap / 2, arb(0)
        unit, choices = _choices(parts)
        for chosen, delay, number in choices:
            x = half - arb(delay) / unit
            if x <= 0:
                break
            term = number * arb_poly(_polynomial(steps, chosen))(x)
            total += term if x > 0 else term.union(arb(0))
        return 1 + ball(Fraction(2) / (2**steps * math.factorial(steps - 1))) * (-half).exp() * total
