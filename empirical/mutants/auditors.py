"""Bugs planted in auditors: estimators that claim too much, that hide a failure, or that cannot see."""

from __future__ import annotations

import numpy as np

from empirical.audits.targets import Array
from empirical.estimators.binomial import Scores, epsilon_from_rates, rate_bounds, tally
from empirical.estimators.coverage import gaussian, randomised_response, subsampled_gaussian
from empirical.estimators.estimate import Estimate
from empirical.estimators.estimators import ESTIMATORS
from empirical.estimators.thresholds import candidates, split_choice
from empirical.mutants.changes import auditor
from empirical.mutants.checks import fair_coins
from empirical.mutants.mutant import Mutant
from oracle.core.errors import OracleError


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


def shared_coins(rng: np.random.Generator, canaries: int) -> Array:
    """Ten canaries share a coin."""
    return np.repeat(fair_coins(rng, canaries // 10), 10)


MUTANTS = (
    Mutant(
        "gdp", "an auditor takes |mu| instead of max(mu, 0)", auditor(_either_sign), id="A01", severity="C",
        origin="jax_privacy #270", caught_by=("coverage",), at={"known": {"pair": gaussian(0.0)}},
    ),
    Mutant(
        "clopper-pearson", "the threshold is chosen on the data that judge it", auditor(_greedy), id="A02",
        severity="C", origin="bb-audit estimate_eps; CANIFE PR 2; jax_privacy #362", caught_by=("coverage",),
        at={"known": {"pair": gaussian(0.0)}},
    ),
    Mutant(
        "clopper-pearson", "an exception becomes epsilon = 0", auditor(_swallowing), id="A03", severity="C",
        origin="bb-audit utils/audit.py", caught_by=("scores that are no numbers",),
    ),
    Mutant(
        "clopper-pearson", "alpha is not split between the two rates", auditor(_unsplit), id="A05", severity="C",
        origin="PrivacyGuard #129", caught_by=("coverage",),
        at={"known": {"pair": randomised_response(9.0), "repetitions": 1000}},
    ),
    Mutant(
        "joint", "the Gaussian conversion is used on a subsampled mechanism",
        auditor(ESTIMATORS["gdp-threshold"].estimate), id="A07", severity="C", origin="scope of arXiv 2302.07956",
        # Where delta is near the sampling rate: the subsampled pair is then almost 0-DP, the Gaussian one is not.
        caught_by=("coverage",), at={"known": {"pair": subsampled_gaussian(0.1, 2.0), "delta": 0.05, "judged": 2000}},
    ),
    Mutant(
        "empirical.audits.one_run", "guesses are counted as independent although canaries share their coins",
        auditor(shared_coins), id="A08", severity="C", origin="scope of arXiv 2305.08846; jax_privacy #362",
        caught_by=("coverage of one run",),
    ),
    Mutant(
        "clopper-pearson", "an auditor is blind to a leak with probability 10 delta", auditor(_trimmed), id="A09",
        severity="T", origin="arXiv 2411.16516", caught_by=("rare leak",),
    ),
)
