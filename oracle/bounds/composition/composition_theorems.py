r"""Composition of k arbitrary (epsilon, delta)-DP mechanisms, chosen adaptively: basic, advanced and optimal.

Every (epsilon, delta)-DP pair is post-processing of one pair (Kairouz, Oh and Viswanath 2015, Thm 3.3; Murtagh and
Vadhan 2016, Lemma 3.2): with probability delta the output gives the input away, otherwise it is randomised response
with p = e^epsilon / (1 + e^epsilon). So the worst k-fold composition is the product of k such pairs:

    delta_total(E) = 1 - (1-delta)^k (1 - D(E)),
    D(E) = sum_l C(k,l) max(0, p^{k-l} q^l - e^E p^l q^{k-l}),       q = 1 - p,                     (op. cit., Thm 3.3)

since l responses against the bit have probability C(k,l) p^{k-l} q^l under one input and C(k,l) p^l q^{k-l} under the
other. The terms are positive for (k - 2l) epsilon > E: with T_l = C(k,l) p^{k-l} q^l they are
T_l (1 - e^{E - (k-2l) epsilon}).

The inverse needs no search. With A_j = T_0 + ... + T_j and B_j the same sum of the other law, D(E) is the largest of
the A_j - e^E B_j and 0 (the best set of outcomes is a threshold set), so for t = 1 - (1-delta_total)/(1-delta)^k >= 0

    the least E >= 0 with D(E) <= t   is   max(0, max_j log((A_j - t) / B_j)).

The ratio of the next terms, e^{(k-2j-2) epsilon}, falls in j and the next quotient lies between it and this one
(mediant): once it is below the quotient, or below 1, the maximum has been passed. No E is enough for t < 0.

Basic: E = k epsilon, where D vanishes (total delta 1 - (1-delta)^k). Advanced: the loss of one response is +epsilon or
-epsilon with mean epsilon tanh(epsilon/2), so by Hoeffding's inequality D(E) <= P(loss > E) <= slack at

    E = k epsilon (e^epsilon - 1)/(e^epsilon + 1) + epsilon sqrt(2 k log(1/slack)),

which with min(k epsilon, .) is Kairouz, Oh and Viswanath's Theorem 3.4 without the middle of its three terms; Dwork,
Rothblum and Vadhan (2010) have k epsilon (e^epsilon - 1) for the first summand, which is larger.
Its total delta is 1 - (1-delta)^k (1-slack) <= k delta + slack, whatever the delta of each mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.bounds.composition import composition_arrays as arrays
from oracle.bounds.renyi.zcdp import fast_log_inverse, log_inverse
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import PRECISION_LIMIT, enclose
from oracle.core.arrays import TINY, inflate
from oracle.core.attainment import bracketed, truth
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.registry import Bound, closed_form

# --- basic and advanced


def _advanced(values: Values) -> arb:
    epsilon, k = ball(values.base_epsilon), values.steps
    basic: arb = k * epsilon
    return basic.min(basic * (epsilon / 2).tanh() + epsilon * (2 * k * log_inverse(values.slack)).sqrt())


def _advanced_fast(xp: Any, values: Values) -> Any:
    k, epsilon = values.steps, values.base_epsilon
    basic = k * epsilon
    tail = epsilon * xp.sqrt(2.0 * k * fast_log_inverse(xp, values.slack))
    advanced = basic * xp.tanh(0.5 * epsilon) + tail
    result = inflate(xp.where(basic < advanced, basic, advanced), 32.0) + TINY
    return xp.where((k > 0.0) & (epsilon > 0.0), result, 0.0)


# --- optimal


def _one_law(values: Values) -> Iterator[arb]:
    """p^k C(k, l) for l = 0, 1, ...: the probability of l contrary responses is this times e^{-l epsilon}."""
    k = values.steps
    term = (-k * (-ball(values.base_epsilon)).exp().log1p()).exp()
    for contrary in range(k + 1):
        yield term
        term = term * (k - contrary) / (contrary + 1)


def _divergence(values: Values, total: Fraction) -> arb:
    """D(E), a sum of positive terms."""
    k, epsilon = values.steps, values.base_epsilon
    if total >= k * epsilon:
        return arb(0)
    terms = math.ceil((k - total / epsilon) / 2)  # the l with (k - 2l) epsilon > E, strictly
    decay, growth = (-ball(epsilon)).exp(), ball(2 * epsilon).exp()
    ratio, weight, result = ball(total - k * epsilon).exp(), arb(1), arb(0)
    for contrary, law in zip(range(terms), _one_law(values), strict=False):
        # The first gap is computed by itself: it may be the only one, and tiny.
        gap = -ball(total - k * epsilon).expm1() if contrary == 0 else 1 - ratio
        result += law * weight * gap
        weight = weight * decay
        # e^{E - (k-2l) epsilon} by recurrence, or by itself where e^{2 epsilon} might overflow even a ball
        ratio = ratio * growth if epsilon < 1000 else ball(total - (k - 2 * contrary - 2) * epsilon).min(arb(0)).exp()
    return result


def _optimal_delta(values: Values) -> arb:
    if values.base_delta == 1:
        return arb(0 if values.steps == 0 else 1)
    kept: arb = values.steps * ball(-values.base_delta).log1p()  # log (1 - delta)^k
    return -kept.expm1() + kept.exp() * _divergence(values, values.epsilon)


def remaining(values: Values) -> arb:
    """t = 1 - (1 - delta) / (1 - base_delta)^k at the working precision, for both deltas below 1."""
    exponent: arb = ball(-values.delta).log1p() - values.steps * ball(-values.base_delta).log1p()
    return -exponent.expm1()


def sign_of_remaining(values: Values) -> int:
    """The sign of t, decided: by an exact comparison of powers where t can be 0, by balls elsewhere."""
    one, all_ = 1 - values.base_delta, 1 - values.delta
    if values.steps * (one.denominator.bit_length() - 1) <= all_.denominator.bit_length():
        power: Fraction = one**values.steps
        return int(power > all_) - int(power < all_)
    precision = 128
    while precision <= PRECISION_LIMIT:  # (1-base_delta)^k has a longer denominator than 1 - delta: they differ
        with ctx.workprec(precision):
            value = remaining(values)
            if value > 0 or value < 0:
                return 1 if value > 0 else -1
        precision *= 2
    raise PrecisionError("delta lies too close to 1 - (1 - base_delta)^steps to decide whether any epsilon is enough")


def _inverse(values: Values) -> arb:
    """max(0, max_j log((A_j - t) / B_j)) for t > 0 and epsilon > 0."""
    k, epsilon, t = values.steps, values.base_epsilon, remaining(values)
    decay, weight = (-ball(epsilon)).exp(), arb(1)
    lower = upper = arb.neg_inf()
    mass, other = arb(0), arb(0)  # A_j, and B_j e^{(k-j) epsilon}, which neither overflows nor vanishes
    for j, law in enumerate(_one_law(values)):
        mass, other, weight = mass + law * weight, other * decay + law, weight * decay
        above = mass - t
        if above > 0:
            candidate = ball((k - j) * epsilon) + (above / other).log()
            lower, upper = lower.max(candidate.lower()), upper.max(candidate.upper())
        elif not above <= 0:
            candidate = ball((k - j) * epsilon) + (above.upper() / other).log()
            upper = upper.max(candidate.upper())
        slope = (k - 2 * j - 2) * epsilon
        if slope <= 0 or ball(slope) < lower:
            break
    if upper <= 0:
        return arb(0)
    return lower.union(upper) if lower.is_finite() else arb.nan()


def _optimal_epsilon(values: Values, width: Fraction) -> Enclosure:
    if values.delta == 1:
        return Enclosure.exactly(0)
    sign = -1 if values.base_delta == 1 and values.steps else sign_of_remaining(values)
    if sign < 0:
        raise DomainError(
            f"delta = {shown(values.delta)} is below 1 - (1 - base_delta)^steps for base_delta = "
            f"{shown(values.base_delta)} and steps = {values.steps}: no epsilon is enough"
        )
    if sign == 0:
        return enclose(lambda: ball(values.steps * values.base_epsilon), width=width)
    if values.base_epsilon == 0 or values.steps == 0:
        return Enclosure.exactly(0)
    return enclose(lambda: _inverse(values), width=width)


def _optimal_at_slack(values: Values, width: Fraction) -> Enclosure:
    """What the worst composition costs at the same total delta, where t is the slack; of no more steps than allowed."""
    steps = min(values.steps, _MOST_STEPS)
    if values.base_delta == 1:
        return Enclosure.exactly(0)  # the total delta is 1
    asked = Values(base_epsilon=values.base_epsilon, base_delta=Fraction(0), steps=steps, delta=values.slack)
    return _optimal_epsilon(asked, width)


_MOST_STEPS = 100000
_EPSILON = vocabulary.base_epsilon
_DELTA = vocabulary.base_delta
_STEPS = vocabulary.steps.at_most(_MOST_STEPS)

basic = Bound(
    name="composition.basic",
    unit="epsilon",
    tightness=truth("randomised responses reach it at delta 0"),
    summary="epsilon of a number of epsilon-DP mechanisms together, by adding up",
    formula=r"\varepsilon_{\mathrm{total}} = k\varepsilon",
    parameters=(_EPSILON, vocabulary.steps),
    assumes=("pure-mechanisms",),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/composition-basic",),
    validity="argued",
    certify=closed_form(lambda v: ball(v.steps * v.base_epsilon)),
    vectorised=lambda xp, v: xp.where(
        (v.steps > 0.0) & (v.base_epsilon > 0.0), inflate(v.steps * v.base_epsilon, 1.0) + TINY, 0.0
    ),
    example={"base_epsilon": "0.1", "steps": "100"},
)

advanced = Bound(
    name="composition.advanced",
    unit="epsilon",
    tightness=bracketed("randomised responses reach the optimal composition, which is below", _optimal_at_slack),
    summary="epsilon of a number of (epsilon, delta)-DP mechanisms at delta 1 - (1-delta)^k (1-slack)",
    formula=(
        r"\varepsilon_{\mathrm{total}} = \min\left(k\varepsilon,\ k\varepsilon\,\frac{e^{\varepsilon} - 1}"
        r"{e^{\varepsilon} + 1} + \varepsilon\sqrt{2k\log(1/\delta')}\right)"
    ),
    parameters=(
        _EPSILON, vocabulary.base_delta,
        vocabulary.steps,
        vocabulary.slack,
    ),
    assumes=("private-mechanisms",),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/composition-advanced",),
    validity="argued",
    certify=closed_form(_advanced),
    vectorised=_advanced_fast,
    example={"base_epsilon": "0.1", "base_delta": "0", "steps": "100", "slack": "1e-5"},
)

optimal_delta = Bound(
    name="composition.optimal-delta",
    unit="delta",
    tightness=truth("randomised responses, each giving all away with probability base_delta, reach it"),
    summary="least delta at epsilon of the worst composition of (base_epsilon, base_delta)-DP mechanisms",
    formula=(
        r"\delta_{\mathrm{total}} = 1 - (1-\delta)^k\left(1 - \sum_{l=0}^{k} \binom{k}{l}"
        r" \max\left(0,\ p^{k-l} q^{l} - e^{E} p^{l} q^{k-l}\right)\right),"
        r" \quad p = \frac{e^{\varepsilon}}{1 + e^{\varepsilon}},\ q = 1 - p"
    ),
    parameters=(_EPSILON, _DELTA, _STEPS, vocabulary.epsilon),
    assumes=("private-mechanisms",),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/composition-optimal",),
    validity="argued",
    certify=closed_form(_optimal_delta, at_most=1),
    vectorised=lambda xp, v: arrays.delta_upper(xp, v.base_epsilon, v.base_delta, v.steps, v.epsilon),
    example={"base_epsilon": "0.1", "base_delta": "0", "steps": "100", "epsilon": "4"},
)

optimal_epsilon = Bound(
    name="composition.optimal",
    unit="epsilon",
    tightness=truth("randomised responses, each giving all away with probability base_delta, reach it"),
    summary="least epsilon at delta of the worst composition of (base_epsilon, base_delta)-DP mechanisms",
    formula=(
        r"\min\left\{E \ge 0 : 1 - (1-\delta)^k\left(1 - \sum_{l=0}^{k} \binom{k}{l}"
        r" \max\left(0,\ p^{k-l} q^{l} - e^{E} p^{l} q^{k-l}\right)\right) \le \delta_{\mathrm{total}}\right\}"
    ),
    parameters=(_EPSILON, _DELTA, _STEPS, vocabulary.delta),
    assumes=("private-mechanisms",),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/composition-optimal",),
    validity="argued",
    certify=_optimal_epsilon,
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, v.base_epsilon, v.base_delta, v.steps, v.delta),
    example={"base_epsilon": "0.1", "base_delta": "0", "steps": "100", "delta": "1e-5"},
)
