r"""DP-Threshold (document 003, Algorithm 2, repaired): clipping thresholds from stable histograms of batch means.

A call splits its records into K batches and each of its histograms counts the K means of one squared residual in fixed
bins. In units of 1/K (nothing else depends on K): every non-empty bin of count c releases c + Lap(2/epsilon') where
that exceeds the threshold 1 + (2/epsilon') log(1/delta'), every other bin nothing; the largest bin is chosen from what
was released (Karwa and Vadhan 2018, Lemma 2.3, after Bun, Nissim and Stemmer 2016). As printed, the algorithm adds
noise to the bins whose true count is BELOW the threshold and empties the others: which bins speak then tells the
count (delta = 1).

One histogram. Replacing a record moves one batch mean from a bin i to a bin j. Both bins non-empty before and after:
two Laplace releases (and what the threshold makes of them), each of ratio m = epsilon'/2. A bin that vanishes or
appears had or has the count 1, and speaks with probability

    p = P(Lap(2/epsilon') > (2/epsilon') log(1/delta')) = delta'/2,    on the side where it is, never on the other.

So one histogram is (epsilon', delta'/2)-DP, as the three cases show at epsilon = epsilon': one bin vanishes and
the other changes (p + (1-p) delta_1(epsilon - log(1-p)), or delta_1(epsilon + log(1-p)) the other way round, where
delta_1 is the curve of one Laplace release), one vanishes and the other appears (p), neither (delta_2 of two releases).
And each of them lies, at every epsilon, below

    p + (1-p) delta_2(epsilon),    the curve of 'give all away with probability p, else two Laplace releases':

delta_1 <= delta_2; (1-p) delta_1(epsilon - log(1-p)) <= (1-p) delta_1(epsilon); and the other way round the integral of
(L1 - e^epsilon (1-p) L0)_+ is at most that of p L1 + (1-p) (L1 - e^epsilon L0)_+. This pair is its own mirror image, so
that negative epsilons follow: it dominates, and domination composes, adaptively too (Zhu, Dong and Wang 2022). All
k = histograms x calls of them on the same records, each call for the model of its step, have together

    delta_total(E) = 1 - (1-p)^k (1 - delta_2k(E)),      delta_2k the curve of 2k Laplace releases (`laplace-composed`),

which is below what optimal composition of k (epsilon', delta'/2)-DP mechanisms gives, let alone k epsilon', k delta'/2.
E is the least with delta_2k(E) <= t = 1 - (1 - delta)/(1-p)^k; none is enough where t < 0.

Hypotheses. Bins, K and the split into batches do not depend on the records; neighbours are data sets of one size
(replace). Where no bin speaks the call must say so, and not fall back on the records. A training pass on other
records that uses the thresholds costs its own guarantee for those records: the whole has the weaker one, not the sum.

The text of the document was at hand, that of the papers cited was not; the derivation above stands on its own.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from oracle.bounds.composition import composition_arrays
from oracle.bounds.composition.composition_theorems import remaining, sign_of_remaining
from oracle.bounds.laplace import laplace_composed
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose, through
from oracle.core.arrays import UNIT, inflate
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound

HISTOGRAMS = 3
"""Of each call of the algorithm: one for each of the three residuals."""
_MOST_HISTOGRAMS = 100_000  # of all calls together
_SMALLEST = 1e-280  # below, float64 loses relative accuracy
_SHARP = 1e-11  # relative doubt about t above which float64 leaves the answer to the reference


def _releases(values: Values) -> Values:
    """The Laplace releases of all histograms: two each, of ratio epsilon'/2."""
    return Values(sensitivity=values.threshold_epsilon, scale=Fraction(2), steps=2 * values.histograms * values.calls)


def _leaks(values: Values) -> Values:
    """What each histogram gives away, as one of the mechanisms of an optimal composition."""
    return Values(base_delta=values.threshold_delta / 2, steps=_histograms(values.histograms, values.calls))


def _histograms(histograms: int, calls: int) -> int:
    if histograms * calls > _MOST_HISTOGRAMS:
        raise DomainError(
            f"histograms = {shown(histograms)} is outside its domain: histograms * calls at most {_MOST_HISTOGRAMS},"
            f" with calls = {shown(calls)}"
        )
    return histograms * calls


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    leaks = Values(**vars(_leaks(values)), delta=values.delta)
    sign = sign_of_remaining(leaks)
    if sign < 0:
        raise DomainError(
            f"delta = {shown(values.delta)} is outside its domain: at least 1 - (1 - threshold_delta/2)^k for k ="
            f" {leaks.steps} histograms of threshold_delta = {shown(values.threshold_delta)}; no epsilon is enough"
        )
    releases = _releases(values)

    def left(finer: Fraction) -> Enclosure:
        return enclose(lambda: remaining(leaks), width=finer) if sign else Enclosure.exactly(0)

    def composed(delta: Fraction, finer: Fraction) -> Enclosure:
        return laplace_composed.epsilon.certify(Values(**vars(releases), delta=delta), finer)

    return through(left, composed, width=width)


def _delta(values: Values, width: Fraction) -> Enclosure:
    leaks, releases = _leaks(values), _releases(values)
    exact = Values(**vars(releases), epsilon=values.epsilon)
    curve = laplace_composed.delta.certify(exact, width / 16)

    def total() -> Any:
        kept = leaks.steps * ball(-leaks.base_delta).log1p()
        return -kept.expm1() + kept.exp() * curve.ball

    return enclose(total, width=width).capped(1)


# --- float64


def _many(xp: Any, values: Values) -> Any:
    """k, by the domain of both: the first that is too large is named."""
    many = values.histograms * values.calls
    bad = xp.reshape(many > _MOST_HISTOGRAMS, (-1,))
    if bool(xp.any(bad)):
        first = int(xp.argmax(xp.astype(bad, xp.int8)))
        _histograms(*(int(xp.reshape(v, (-1,))[first]) for v in (values.histograms, values.calls)))
    return many


def _epsilon_fast(xp: Any, values: Values) -> Any:
    many = _many(xp, values)
    low, high = composition_arrays.remaining(xp, 0.5 * values.threshold_delta, many, values.delta)
    sharp = (low > _SMALLEST) & (high - low <= _SHARP * low)
    releases = Values(
        sensitivity=values.threshold_epsilon, scale=xp.full_like(low, 2.0), steps=2.0 * many,
        delta=xp.where(sharp, low, 0.5),
    )
    return xp.where(sharp, laplace_composed.epsilon.vectorised(xp, releases), math.nan)


def _delta_fast(xp: Any, values: Values) -> Any:
    many = _many(xp, values)
    releases = Values(
        sensitivity=values.threshold_epsilon, scale=xp.full_like(many, 2.0), steps=2.0 * many, epsilon=values.epsilon
    )
    curve = laplace_composed.delta.vectorised(xp, releases)
    kept = many * xp.log1p(-0.5 * values.threshold_delta)
    total = inflate(-xp.expm1(kept * (1 + 4 * UNIT)) + xp.exp(kept * (1 - 4 * UNIT)) * curve, 16.0)
    total = xp.where(total > 1.0, 1.0, total)
    return xp.where(values.threshold_delta > _SMALLEST, total, math.nan)


_PARAMETERS = (vocabulary.threshold_epsilon, vocabulary.threshold_delta, vocabulary.histograms, vocabulary.calls)
_TOTAL = (
    r"\delta_{\mathrm{total}} = 1 - \left(1 - \tfrac{\delta'}{2}\right)^{k}\left(1 -"
    r" \mathbb{E}\max\left(0,\ 1 - e^{E - L_1 - \dots - L_{2k}}\right)\right), \quad"
    r" \mathbb{E}e^{sL_i} = \frac{(s+1)e^{sm} + s\,e^{-(s+1)m}}{2s+1}, \quad m = \tfrac{\varepsilon'}{2}"
)
_EXAMPLE = {"threshold_epsilon": "0.01", "threshold_delta": "1e-9", "histograms": "3", "calls": "100"}
_bound = functools.partial(
    Bound, neighbours="replace", threat_model="all_iterates", released="all_iterates",
    source=(
        "glmtron/alg-2-repaired", "glmtron/alg-2-histogram-privacy", "glmtron/threshold-composition-exact",
        "background/laplace-curve",
    ),
    validity="argued",
)

_ASSUMES = ("replace", "fixed-histograms", "noisy-test", "laplace-noise")

epsilon = _bound(
    name="dp-threshold.epsilon",
    unit="epsilon",
    tightness=one_sided("three cases of a histogram are bounded by one pair above them all"),
    summary="an epsilon for which all thresholds of a training are (epsilon, delta)-DP together",
    formula=r"\min\{E \ge 0 : \delta_{\mathrm{total}}(E) \le \delta\}, \quad " + _TOTAL,
    parameters=(*_PARAMETERS, vocabulary.delta.open()),
    assumes=_ASSUMES,
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={**_EXAMPLE, "delta": "1e-5"},
)

delta = _bound(
    name="dp-threshold.delta",
    unit="delta",
    tightness=one_sided("three cases of a histogram are bounded by one pair above them all"),
    summary="a delta for which all thresholds of a training are (epsilon, delta)-DP together",
    formula=_TOTAL,
    parameters=(*_PARAMETERS, vocabulary.epsilon),
    assumes=_ASSUMES,
    certify=_delta,
    vectorised=_delta_fast,
    example={**_EXAMPLE, "epsilon": "0.3"},
)
