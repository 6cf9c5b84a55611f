r"""Randomised response on one bit: its exact privacy curve and its inverse (Warner 1965).

The true bit is told with probability keep >= 1/2, the other with probability 1 - keep. For the two bits the outputs
have the laws P = (keep, 1 - keep) and Q = (1 - keep, keep), so that

    delta(epsilon) = sum_x max(0, P(x) - e^epsilon Q(x)) = max(0, keep - e^epsilon (1 - keep)),

since 1 - keep <= keep leaves the second output nothing for epsilon >= 0; the other direction is the same by symmetry.
Solved for epsilon: epsilon(delta) = max(0, log((keep - delta) / (1 - keep))), and 0 for delta >= 2 keep - 1.

Both are computed through 2 keep - 1, which is exact in binary: with s = log(keep / (1 - keep)), delta is
keep (1 - e^{epsilon - s}) for epsilon < s.
"""

from __future__ import annotations

import math
from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import TINY, UNIT, inflate
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form

_ILL_CONDITIONED = 1e-10  # relative rounding error above which float64 leaves the answer to the reference


def _delta(values: Values) -> arb:
    keep = values.keep
    log_odds = ball((2 * keep - 1) / (1 - keep)).log1p()
    gap = log_odds - ball(values.epsilon)
    # For rational epsilon > 0, e^epsilon is irrational, so the sign is decided at some precision; at 0 both are exact.
    return arb(0) if gap < 0 else ball(keep) * -(-gap).expm1()


def _delta_fast(xp: Any, values: Values) -> Any:
    log_odds = xp.log1p((2.0 * values.keep - 1.0) / (1.0 - values.keep))
    slack = 8 * UNIT * (log_odds + values.epsilon) + TINY
    gap = (log_odds - values.epsilon) + slack
    delta = inflate(values.keep * -xp.expm1(-gap), 16.0) + TINY
    return xp.where(gap > 0.0, xp.where(slack < _ILL_CONDITIONED * gap, delta, math.nan), 0.0)


def _epsilon(values: Values) -> arb:
    excess = 2 * values.keep - 1 - values.delta
    return ball(excess / (1 - values.keep)).log1p() if excess > 0 else arb(0)


def _epsilon_fast(xp: Any, values: Values) -> Any:
    excess = (2.0 * values.keep - 1.0) - values.delta  # one rounding of an exact difference: its sign is exact
    epsilon = inflate(xp.log1p(inflate(xp.where(excess > 0.0, excess, 0.0) / (1.0 - values.keep), 4.0)), 8.0) + TINY
    return xp.where(excess > 0.0, epsilon, 0.0)


_KEEP = vocabulary.keep
_SOURCE = ("background/randomised-response",)

delta = Bound(
    name="randomised-response.delta",
    unit="delta",
    tightness=truth("the two bits themselves"),
    summary="least delta for which randomised response on a bit is (epsilon, delta)-DP",
    formula=r"\delta(\varepsilon) = \max\left(0,\ p - e^{\varepsilon}(1 - p)\right)",
    parameters=(_KEEP, vocabulary.epsilon),
    assumes=("one-bit",),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="proved",
    certify=closed_form(_delta, at_most=1),
    vectorised=_delta_fast,
    example={"keep": "0.75", "epsilon": "0.5"},
)

epsilon = Bound(
    name="randomised-response.epsilon",
    unit="epsilon",
    tightness=truth("the two bits themselves"),
    summary="least epsilon for which randomised response on a bit is (epsilon, delta)-DP",
    formula=r"\varepsilon(\delta) = \max\left(0,\ \log\frac{p - \delta}{1 - p}\right)",
    parameters=(_KEEP, vocabulary.delta),
    assumes=("one-bit",),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="proved",
    certify=closed_form(_epsilon),
    vectorised=_epsilon_fast,
    example={"keep": "0.75", "delta": "0"},
)
