r"""Laplace releases in sequence: the exact curve of their k-fold composition, and its inverse.

With m = sensitivity / scale, the loss of one release under the law of the shifted noise is m with probability 1/2, -m
with probability e^{-m}/2, and has the density e^{(l-m)/2}/4 between. Its complement Y = m - L is therefore 0 with
probability 1/2 and else an exponential variable of rate 1/2, cut off at 2m:

    E e^{-sY} = ((s+1) + s e^{-m-2ms}) / (2s+1).

A smaller shift has a smaller curve, so the pair of shift m dominates each release, and domination composes, adaptively
too (Zhu, Dong and Wang 2022); k equal shifts reach it. The loss of k releases is km - W with W a sum of k copies of Y,
so with g = km - epsilon

    delta(epsilon) = E max(0, 1 - e^{-(g - W)}),     whose Laplace transform in g is  (E e^{-sY})^k / (s (s+1)).

Expanded binomially, e^{-2mjs} is a delay by 2mj, and the residues (a pole of order k at s = -1/2, and for j = 0 one
at s = 0; j = k never counts for epsilon >= 0) give, with u = s + 1/2,

    delta = sum over j >= 0 with x_j = g - 2mj > 0 of C(k,j) e^{-jm} h_j(x_j),
    h_j(x) = [j = 0] + 2^{-k} e^{-x/2} [u^{k-1}] (u + 1/2)^{k-j-1} (u - 1/2)^{j-1} e^{xu}.

The sum alternates and loses about k bits, which the working precision wins back. In float64 that is hopeless but for
one release; the fast path leaves more to the reference.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from flint import arb, arb_poly, ctx, fmpz_poly

from oracle.arithmetic import decreasing_root
from oracle.arrays import TINY, UNIT, inflate, positive_part, quotient
from oracle.domain import Parameter, non_negative, positive, unit_interval
from oracle.enclosure import Enclosure, ball
from oracle.privacy.gaussian import certainly_negative
from oracle.registry import Bound, Values, closed_form

_MOST_STEPS = 400  # the polynomials of all delays hold about steps^3 / 20 bytes


@functools.lru_cache(maxsize=2)
def _polynomials(steps: int) -> tuple[fmpz_poly, ...]:
    """For each delay j < k/2 the part [u^{k-1}] (...) e^{xu} of h_j as a polynomial in x / 2, made integer.

    With v = 2u, (u + 1/2)^{k-j-1} (u - 1/2)^{j-1} = 2^{2-k} (v+1)^{k-j-1} (v-1)^{j-1}, a series in v whose coefficient
    n_i meets (x/2)^{k-1-i} / (k-1-i)! in e^{xu}; u^{k-1} is v^{k-1} 2^{1-k}: altogether 2^{-k} 2^{2-k} 2^{k-1} n_i =
    2^{1-k} n_i. What is returned is free of 2^{1-k} and multiplied by (k-1)!; `curve` divides.
    """
    result = []
    for j in range((steps + 1) // 2):
        if j == 0:
            # (v+1)^{k-1} / (v-1) = -(v+1)^{k-1} (1 + v + v^2 + ...): partial sums of binomial coefficients
            total, series = 0, []
            for i in range(steps):
                total += math.comb(steps - 1, i)
                series.append(-total)
        else:
            product = fmpz_poly([1, 1]) ** (steps - j - 1) * fmpz_poly([-1, 1]) ** (j - 1)
            series = [int(c) for c in product.coeffs()]
        coefficients, factor = [0] * steps, 1
        for i in range(steps):  # (k-1)! / (k-1-i)!
            if i < len(series):
                coefficients[steps - 1 - i] = series[i] * factor
            factor *= steps - 1 - i
        result.append(fmpz_poly(coefficients))
    return tuple(result)


def curve(ratio: Fraction, steps: int, gap: arb) -> arb:
    """delta at epsilon = k m - gap >= 0 for a ball gap > 0, at the working precision."""
    scale = ball(Fraction(2) / (2**steps * math.factorial(steps - 1)))
    decay, result = (-ball(ratio)).exp(), arb(1)
    weight = arb(1)
    for j, polynomial in enumerate(_polynomials(steps)):
        x = gap - ball(2 * j * ratio)
        if x <= 0:
            break
        term = weight * scale * (-x / 2).exp() * arb_poly(polynomial)(x / 2)
        result += term if x > 0 else term.union(arb(0))  # on the edge of a delay the term vanishes
        weight = weight * decay * (steps - j) / (j + 1)
    return result


def _delta(values: Values) -> arb:
    ratio: Fraction = values.sensitivity / values.scale
    gap = values.steps * ratio - values.epsilon
    return curve(ratio, values.steps, ball(gap)) if gap > 0 else arb(0)


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    ratio: Fraction = values.sensitivity / values.scale
    steps, delta = values.steps, values.delta
    if steps == 0 or delta == 1:
        return Enclosure.exactly(0)
    largest = steps * ratio
    if delta == 0:
        return closed_form(lambda _: ball(largest))(values, width)

    def excess(epsilon: arb) -> arb:
        gap = ball(largest) - epsilon
        return arb(-1) if gap <= 0 else curve(ratio, steps, gap).log() - ball(delta).log()

    zero = arb(0)
    if certainly_negative(lambda: excess(zero)):
        return Enclosure.exactly(0)
    with ctx.workprec(128):
        upper = ball(largest).upper()
    return decreasing_root(excess, zero, upper, width=width)


def _delta_fast(xp: Any, values: Values) -> Any:
    total = values.steps * (values.sensitivity / values.scale + TINY)
    gap = (total - values.epsilon) + 8 * UNIT * (total + values.epsilon) + TINY  # an upper bound of k m - epsilon
    one = inflate(-xp.expm1(-0.5 * gap), 16.0) + TINY
    result = xp.where(values.steps == 1.0, xp.where(one < 1.0, one, 1.0), math.nan)
    return xp.where((gap > 0.0) & (values.steps > 0.0), result, 0.0)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    free = (values.steps == 0.0) | (values.delta == 1.0)
    ratio = quotient(xp, values.sensitivity, values.scale)
    saved = -2.0 * xp.log1p(-xp.where(free, 0.5, values.delta))  # one release: m + 2 log(1 - delta)
    one = positive_part(xp, ratio - saved, ratio + saved)
    return xp.where(free, 0.0, xp.where(values.steps == 1.0, one, math.nan))


_PARAMETERS = (
    positive("scale", "scale b of the Laplace noise of each release"),
    positive("sensitivity", "largest change of each real-valued query"),
    Parameter("steps", kind="integer", low=Fraction(0), high=Fraction(_MOST_STEPS), meaning="number of releases"),
)
_FORMULA = (
    r"\delta(\varepsilon) = \mathbb{E}\max\left(0,\ 1 - e^{\varepsilon - L_1 - \dots - L_k}\right), \quad"
    r" \mathbb{E}e^{sL_i} = \frac{(s+1)e^{sm} + s\,e^{-(s+1)m}}{2s+1}, \quad m = \frac{\Delta}{b}"
)
_SOURCE = ("background/laplace-curve",)

delta = Bound(
    name="laplace-composed.delta",
    unit="delta",
    summary="least delta for which a number of Laplace releases together are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(*_PARAMETERS, non_negative("epsilon")),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=closed_form(_delta, at_most=1),
    vectorised=_delta_fast,
    example={"scale": "10", "sensitivity": "1", "steps": "100", "epsilon": "4"},
)

epsilon = Bound(
    name="laplace-composed.epsilon",
    unit="epsilon",
    summary="least epsilon for which a number of Laplace releases together are (epsilon, delta)-DP",
    formula=_FORMULA,
    parameters=(*_PARAMETERS, unit_interval("delta")),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={"scale": "10", "sensitivity": "1", "steps": "100", "delta": "1e-5"},
)
