r"""False privacy claims of document 003: the clip, the thresholds and the tree as printed.

The clip (proof of Lemma D.1). v max{1, gamma/|v|} has no largest norm, so noise 2 f gamma hides no record whose label
is large. The promise audited is that of the lemma for one step, f = sqrt(2 log(1.25/delta)) / epsilon, of which a pass
in secret order is no worse: a record is in one step. With a label of +-Y and eta Y far above the noise, the average of
w_0, ..., w_{N-1} is +-eta Y a/N + N(0, (2 f gamma eta)^2 sum_a (a/N)^2), a uniform in 0, ..., N - 1: a test above all
noise fails only where the canary comes last.

The thresholds (Algorithm 2). Noise goes to the bins whose TRUE frequency is in (0, bar), and all others are set to 0.
With K = 30 batch means, epsilon' = 1 and delta' = 1e-5 the bar is at 24.03 of 30: a bin of 25 is set to 0, and the
other bin, of 5, wins unless its noise is below -5/30, in scales of 2/30 with probability e^-2.5 / 2. One record less,
and the bin of 24 loses to that of 6 with probability e^-9 (1 + 9/2) / 2 only (two Laplace noises that differ by 9
scales). The larger of two such histograms is released, of (<x, w> - y)^2 and of y^2.

The tree (Theorem 5.1). Its noise f Gamma, f = sqrt(2 L log(1/delta)) / epsilon with L = ceil(lg(N + 1)), is for a leaf
that is added; neighbours "differ by only one element" (Definition 3.1, and the noise 2 f gamma of Algorithm 1): a leaf
is replaced, and moves by 2 Gamma. Released is the average iterate, which has less of the noise of short-lived nodes;
for N = 3 the canary at the first place has mu = 2 / (f sqrt(2/3)). Multipliers are rounded
up, which helps the claims.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.audits.audit_plan import AuditPlan
from empirical.audits.literal import Array, Literal
from oracle.algorithms.glmtron.dp_threshold import BINS, bin_of, upper_end
from oracle.algorithms.glmtron.dp_threshold_privacy import HISTOGRAMS
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.domain import Number
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.tape import Tape
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.promise import CONFIDENCE, FalseClaim
from theorems.tools.decisions import epsilon_of_test


def printed_threshold(features: Array, labels: Array, config: Values, tape: Tape) -> Array:
    """The s of Algorithm 2 as printed, at the model w = 0, without the variance of step 15: shape [M, 1]."""
    count = config.histogram_batches
    if len(features) % count:
        raise DomainError(
            f"histogram_batches = {count} is outside its domain: a divisor of the {len(features)} records"
        )
    scale = 2.0 / (float(config.threshold_epsilon) * count)
    bar = scale * -math.log(float(config.threshold_delta)) + 1.0 / count
    largest = np.zeros(tape.models)
    zero = np.zeros_like(labels)
    # (<x, w> - y)^2, y^2, <x, w>^2
    for which, squares in zip(range(HISTOGRAMS), (labels**2, labels**2, zero), strict=True):
        means = squares.reshape(count, -1).mean(axis=1)
        frequency = np.bincount([bin_of(float(mean)) for mean in means], minlength=BINS) / count
        noisy = np.zeros((tape.models, BINS))
        spoken = (frequency > 0) & (frequency < bar)
        noisy[:, spoken] = frequency[spoken] + scale * tape.laplace("histogram", which, BINS)[:, spoken]
        noisy[:, frequency == 0] = -math.inf  # only a non-empty interval is chosen
        ends = np.array([upper_end(number) for number in noisy.argmax(axis=1)])
        largest = np.maximum(largest, ends)
    result: Array = np.sqrt(2.0 * largest)[:, None]
    return result


def thresholds_at_least(delta: Number) -> Enclosure:
    """The epsilon of the test whether the released s belongs to the bin [4, 8)."""

    def rates() -> tuple[arb, arb]:
        missed = (arb(-5 / 2).exp() / 2) ** 2
        return 1 - missed, 1 - (1 - arb(-9).exp() * (1 + arb(9 / 2)) / 2) ** 2

    return epsilon_of_test(delta, rates)


literal_threshold = Literal(
    name="printed-dp-threshold",
    document="003, Algorithm 2",
    summary="DP-Threshold with its test on the true frequencies",
    parameters=(vocabulary.histogram_batches, vocabulary.threshold_epsilon, vocabulary.threshold_delta),
    releases=printed_threshold,
)

_MULTIPLIER, _ETA, _LABEL, _PASS = Fraction("4.8449"), Fraction("0.01"), 1000, 10


def clip_at_least(delta: Number) -> Enclosure:
    """The epsilon of the test whether the average iterate is above 0.8 (gamma = 1)."""
    shares = [Fraction(age, _PASS) for age in range(_PASS)]

    def rates() -> tuple[arb, arb]:
        std = ball((2 * _MULTIPLIER * _ETA) ** 2 * sum(share**2 for share in shares)).sqrt()
        power, alarm = (
            sum((normal_upper_tail(ball(Fraction("0.8") - push * share) / std) for share in shares), arb(0)) / _PASS
            for push in (_ETA * _LABEL, -_ETA * _LABEL)
        )
        return power, alarm

    return epsilon_of_test(delta, rates)


clip = FalseClaim(
    id="003-glmtron-clip",
    claim="glmtron/clip",
    document="003, proof of Lemma D.1",
    promise="a step clipped by v max{1, gamma/|v|} with noise 2 f gamma is (1, 1e-5)-DP, hence a pass over records",
    fault="max for min: no vector is shortened, and the record's label is its influence",
    plan=AuditPlan(
        target={
            "kind": "algorithm", "name": "dp-glmtron",
            "config": {
                "learning_rate": "0.01", "clip_norm": 1, "initial_std": 0, "clip": "printed-max",
                "noise_over_sensitivity": "4.8449",
            },
        },
        pair={
            "kind": "built", "name": "label-flip", "records": 10, "dimension": 1, "feature_norm": 1,
            "label_low": -1000, "label_high": 1000, "neighbours": "replace",
        },
        claimed="1", budget=100_000, confidence=CONFIDENCE,
    ),
    at_least=clip_at_least,
)

thresholds = FalseClaim(
    id="003-dp-threshold",
    claim="glmtron/alg-2",
    document="003, Algorithm 2 and Lemma D.1",
    promise="a call of DP-Threshold is (epsilon', delta')-DP; here (1, 1e-5)",
    fault="which bins get noise is decided by their true frequencies",
    plan=AuditPlan(
        target={
            "kind": "literal", "name": "theorems.glmtron.promises:literal_threshold",
            "config": {"histogram_batches": 30, "threshold_epsilon": 1, "threshold_delta": "1e-5"},
        },
        pair={"kind": "built", "name": "on-the-bar", "records": 30, "ones": 25},
        claimed="1", budget=100_000, confidence=CONFIDENCE,
    ),
    at_least=thresholds_at_least,
)

tree = FalseClaim(
    id="003-tree-replaced-record",
    claim="glmtron/thm-5.1",
    document="003, Theorem 5.1 and Algorithm 4",
    promise="DP-TAGLMtron with node noise f Gamma is (1, 1e-5)-DP for data sets that differ in one element; N = 3",
    fault="a replaced leaf moves every node above it by 2 Gamma",
    plan=AuditPlan(
        target={
            "kind": "algorithm", "name": "dp-taglmtron",
            "config": {
                "learning_rate": "0.1", "clip_norm": 1, "initial_std": 0, "clip": "shorten", "neighbours": "replace",
                "noise_multiplier": "6.7862",  # sqrt(2 * 2 * log(1e5)) = 6.7861...
            },
        },
        pair={"kind": "built", "name": "tree-canary", "records": 3, "dimension": 1, "place": 1},
        claimed="1", budget=200_000, confidence=CONFIDENCE, estimator="gdp",
    ),
)
