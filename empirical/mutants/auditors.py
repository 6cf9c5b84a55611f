"""Bugs planted in auditors: estimators that claim too much, that hide a failure, or that cannot see.

An auditor that claims too much is caught by counting how often its bound exceeds the truth of exactly known pairs
(`coverage`; false alarm probability 1e-6), the others by what they make of scores that are no numbers and of
a leak whose binomial limit is known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from empirical.audits import one_run
from empirical.estimators.binomial import Scores, epsilon_from_rates, rate_bounds, tally
from empirical.estimators.coverage import (
    Coverage,
    Known,
    Leak,
    allowed,
    coverage,
    gaussian,
    power,
    randomised_response,
)
from empirical.estimators.coverage import subsampled_gaussian as subsampled
from empirical.estimators.estimate import Estimate
from empirical.estimators.estimators import ESTIMATORS
from empirical.estimators.thresholds import candidates, split_choice
from empirical.mutants.mutant import Detection, Mutant
from oracle.core.errors import OracleError

_DELTA = 1e-3
_LEAST_POWER = 0.5


def judge_coverage(
    estimate: Callable[..., Estimate], pair: Known, *, delta: float = _DELTA, repetitions: int = 300, judged: int = 400
) -> Detection:
    """Flag an estimator whose bound exceeds the truth too often, at confidence 0.5, which shows it best."""
    found = coverage(estimate, pair, delta=delta, confidence=0.5, repetitions=repetitions, judged=judged)
    return Detection(not found.valid, f"{pair.name} at confidence 0.5: {found}")


def judge_failure(estimate: Callable[..., Estimate]) -> Detection:
    """Flag an estimator that makes an epsilon out of scores that are no numbers."""
    good, bad = np.linspace(0.0, 1.0, 100), np.full(100, np.nan)
    try:
        found = estimate((good, good), (good, bad), delta=_DELTA, confidence=0.95)
    except OracleError as error:
        return Detection(False, f"refused: {error}")
    return Detection(True, f"scores that are no numbers gave epsilon >= {found.epsilon:g}")


def judge_power(estimate: Callable[..., Estimate]) -> Detection:
    """Flag an estimator that does not see a leak of ten times delta, though the best threshold certifies it."""
    share = power(estimate, Leak(10 * _DELTA), delta=_DELTA, confidence=0.95, models=20_000)
    return Detection(share < _LEAST_POWER, f"a leak with probability 10 delta: {share:.2f} of the binomial limit")


def _either_sign(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """|mu| in the place of max(mu, 0): whichever data set scores higher is taken for the second."""
    ordered = judged if judged[1].mean() >= judged[0].mean() else (judged[1], judged[0])
    return ESTIMATORS["gdp"].estimate(held, ordered, delta=delta, confidence=confidence)


def _greedy(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """Every threshold is tried on the data that judge, and the best is reported."""
    thresholds = np.unique(np.concatenate(judged))
    alarms, hits = (np.count_nonzero(side[:, None] > thresholds, axis=0) for side in judged)
    half = (1 - confidence) / 2
    low, high = rate_bounds(hits, alarms, (len(judged[1]), len(judged[0])), (half, half))
    values = epsilon_from_rates(low, high, delta)
    best = int(np.argmax(values))
    return Estimate(float(values[best]), float(thresholds[best]), None)


def _swallowing(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """Whatever goes wrong is epsilon = 0."""
    try:
        return ESTIMATORS["clopper-pearson"].estimate(held, judged, delta=delta, confidence=confidence)
    except OracleError:
        return Estimate(0.0, None, None)


def _unsplit(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """Both rates are bounded at the whole alpha."""
    alpha = 1 - confidence
    trials = (len(judged[1]), len(judged[0]))
    threshold, _ = split_choice(
        candidates(held), trials, alpha, lambda low, high: epsilon_from_rates(low, high, delta)
    )
    counts = tally(judged, threshold)
    low, high = rate_bounds(counts.hits, counts.alarms, trials, (alpha, alpha))
    return Estimate(float(epsilon_from_rates(low, high, delta)), threshold, None)


def _trimmed(held: Scores, judged: Scores, *, delta: float, confidence: float) -> Estimate:
    """Outliers are cut off before anything is looked at: what happens in one model of fifty is not seen."""
    least, most = np.quantile(held[0], [0.02, 0.98])
    first, second = (tuple(np.clip(side, least, most) for side in scores) for scores in (held, judged))
    return ESTIMATORS["clopper-pearson"].estimate(first, second, delta=delta, confidence=confidence)


def one_run_coverage(block: int, *, repetitions: int = 200, canaries: int = 100, seed: int = 0) -> Coverage:
    """Audits in one run of noisy sums, one for each ten canaries, with Laplace noise 1: the mechanism is 1-DP.

    `block` canaries share a coin: 1 is what the theorem needs.
    """
    rng = np.random.default_rng(seed)
    failures = 0
    for _ in range(repetitions):
        coins = np.repeat(rng.integers(0, 2, canaries // block), block).astype(float)
        sums = coins.reshape(-1, 10).sum(axis=1) + rng.laplace(size=canaries // 10)
        found = one_run.judge_guesses(
            np.repeat(sums, 10), coins, guesses=canaries // 2, delta=0.0, confidence=0.95
        )
        failures += found.epsilon > 1.0
    return Coverage(failures, allowed(repetitions, 0.05), repetitions)


def _shared_coins() -> Detection:
    found = one_run_coverage(10)
    return Detection(not found.valid, f"ten canaries share a coin, one run of a 1-DP sum: {found}")


a01_sign = Mutant(
    id="A01", severity="C", title="an auditor takes |mu| instead of max(mu, 0)", origin="jax_privacy #270",
    detect=lambda: judge_coverage(_either_sign, gaussian(0.0)),
)
a02_greedy = Mutant(
    id="A02", severity="C", title="the threshold is chosen on the data that judge it",
    origin="bb-audit estimate_eps; CANIFE PR 2; jax_privacy #362",
    detect=lambda: judge_coverage(_greedy, gaussian(0.0)),
)
a03_swallowed = Mutant(
    id="A03", severity="C", title="an exception becomes epsilon = 0", origin="bb-audit utils/audit.py",
    detect=lambda: judge_failure(_swallowing),
)
a05_unsplit = Mutant(
    id="A05", severity="C", title="alpha is not split between the two rates", origin="PrivacyGuard #129",
    detect=lambda: judge_coverage(_unsplit, randomised_response(9.0), repetitions=1000),
)
a07_scope = Mutant(
    id="A07", severity="C", title="the Gaussian conversion is used on a subsampled mechanism",
    origin="scope of arXiv 2302.07956",
    # Where delta is near the sampling rate: the subsampled pair is then almost 0-DP, the Gaussian one is not.
    detect=lambda: judge_coverage(
        ESTIMATORS["gdp-threshold"].estimate, subsampled(0.1, 2.0), delta=0.05, judged=2000
    ),
)
a08_coins = Mutant(
    id="A08", severity="C", title="guesses are counted as independent although canaries share their coins",
    origin="scope of arXiv 2305.08846; jax_privacy #362", detect=_shared_coins,
)
a09_blind = Mutant(
    id="A09", severity="T", title="an auditor is blind to a leak with probability 10 delta",
    origin="arXiv 2411.16516", detect=lambda: judge_power(_trimmed),
)
