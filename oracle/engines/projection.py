r"""What a Gaussian random projection costs: the delta that it uses up, and a bound at the delta that is left.

Phi has m rows of independent N(0, 1/m) entries, drawn without looking at the data. For |x| <= 1, |Phi x|^2 is |x|^2
times a chi^2_m variable over m, so |Phi x| > 2 has at most the probability

    P(chi^2_m > 4m) = Gamma(a, 4a) / Gamma(a) <= e^{-m (3 - log 4)/2} / (3 sqrt(pi m)),        a = m/2.

Proof. Gamma(a, x) = x^{a-1} e^{-x} int_0^inf (1 + s/x)^{a-1} e^{-s} ds, which is at most x^a e^{-x} / (x - a + 1) for
a >= 1, since (1 + s/x)^{a-1} <= e^{(a-1)s/x}. At x = 4a, with Stirling's Gamma(a+1) >= sqrt(2 pi a) a^a e^{-a}, that
is Gamma(a) (4 e^{-3})^a a / ((3a + 1) sqrt(2 pi a)). For m = 1 the integral is at most 1, so P <= e^{-2} / sqrt(2
pi), which is smaller than the right-hand side. Chernoff's bound, which the paper uses, is the same without 1 / (3
sqrt(pi m)).

Two neighbouring data sets (a record is replaced) have n + 1 different points. Let E be the event |Phi x| <= 2 for all
of them: it depends on Phi alone, whose law is the same under both. If for every Phi in E the mechanism is (epsilon,
delta')-DP on this pair, then for every set S of outcomes, which may include Phi itself,

    P(M(D) in S) <= E[1_E (e^epsilon P(M(D') in S | Phi) + delta')] + P(not E)
                 <= e^epsilon P(M(D') in S) + delta' + P(not E)

so a privacy statement at delta' = delta - (n + 1) P(|Phi x| > 2) is one at delta. Nothing is conditioned on: on the bad
event, on which sensitivities are not bounded, all is given up. This derivation stands on its own (document 002 splits
delta in halves). It is for a matrix of Gaussians; a "fast" projection has another tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import PRECISION_LIMIT, is_narrow
from oracle.core.arrays import UNIT
from oracle.core.domain import shown
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.engines.gaussian_curve import certainly_negative

DATASET_SIZE = vocabulary.dataset_size
PROJECTED_DIMENSION = vocabulary.projected_dimension
DELTA = vocabulary.delta.open()
FORMULA = r"\delta' = \delta - (n+1)\,\frac{e^{-m(3 - \log 4)/2}}{3\sqrt{\pi m}}"
SOURCE = "nonconvex-nn/thm-2-stretch"

_RATE = (3 - math.log(4)) / 2
_SMALLEST = 1e-290  # below, float64 loses relative accuracy
_LARGEST = 0.999  # above, 1 - delta' would lose digits


def failure(values: Values) -> arb:
    """What the chance that one of the n + 1 points is stretched to more than twice its length is bounded by."""
    m = ball(values.projected_dimension)
    tail = (-m * (3 - arb(4).log()) / 2).exp() / (3 * (arb.pi() * m).sqrt())
    return ball(values.dataset_size + 1) * tail


def at_remaining_delta(
    values: Values, width: Fraction, bound: Callable[[Fraction, Fraction], Enclosure]
) -> Enclosure:
    """bound(delta', width), which must fall in delta', at what the projection leaves of delta: at both ends of a ball.

    The failure is transcendental, so it never equals delta: the sign below is always decided.
    """
    if certainly_negative(lambda: ball(values.delta) - failure(values)):
        with ctx.workprec(64):
            used = failure(values).str(6, radius=False)
        raise DomainError(
            f"delta = {shown(values.delta)} is outside its domain: a real number in ({used}, 1), since a projection to"
            f" projected_dimension = {shown(values.projected_dimension)} of dataset_size = {shown(values.dataset_size)}"
            " records uses up that much"
        )
    precision = 128 + 2 * (width.denominator.bit_length() - width.numerator.bit_length())
    while precision <= PRECISION_LIMIT:
        with ctx.workprec(precision):
            rest = ball(values.delta) - failure(values)
            if rest > 0:
                low, high = (Dyadic.of(end).to_fraction() for end in (rest.lower(), rest.upper()))
                result = Enclosure(bound(high, width / 8).lower, bound(low, width / 8).upper)
                if is_narrow(result.ball, width):
                    return result
        precision *= 2
    raise PrecisionError("what the projection leaves of delta lies too close to where the bound becomes 0")


def remaining_delta(xp: Any, values: Values) -> Any:
    """What the projection leaves of delta, rounded down; NaN (for the reference) where float64 cannot tell it."""
    m, delta = values.projected_dimension, values.delta
    used = (values.dataset_size + 1.0) * xp.exp(-_RATE * m * (1.0 - 4 * UNIT)) / (3.0 * xp.sqrt(math.pi * m))
    rest = (delta - used * (1.0 + 16 * UNIT)) * (1.0 - 2 * UNIT)
    # The exponent's error is relative to the exponent, at most 700 where the failure counts at all.
    usable = (rest > 0.05 * used) & (rest > _SMALLEST) & (delta < _LARGEST)
    return xp.where(usable, rest, math.nan)
