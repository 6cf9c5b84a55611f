r"""False privacy claims of document 002: Algorithm 8 as printed, and Theorem 1 without a bound on the step.

Algorithm 8. The text gives every step the noise 8 (sqrt(d) |w| + B)^2 log(1.25/delta) / (m epsilon)^2 and promises
(epsilon, delta)-DP. Both readings of that number are audited where the run starts, at w = 0, with one batch: x =
sqrt(d) e_1 is an admissible record, its gradient has length sqrt(d) B, and no part of the noise has the factor sqrt(d).

    a variance             mu = sqrt(d) / z,                       z = sqrt(2 log(1.25/delta)) / epsilon
    a standard deviation   mu = m sqrt(d) / (2 z^2 B)

Theorem 1 promises (epsilon, delta)-DP of phased SGD "for any 0 < epsilon, delta < 1", and asks eta <= 2/G for the
utility only. Its noise is for a sensitivity of 4 B eta_i, which is right as long as no step expands. With eta_1 = 10^6
and the link tanh (G = 1) the first record decides the sign of w_1, and each later record of its phase, (-a, e_t) but
for its length and with label 0, answers by a step of B eta_1 along an axis of its own. After n_1 records the averages
of the phase are 2 B eta_1 sqrt(n_1 / 3) apart: for n_1 = 256 that is 4.6 times the sensitivity. Nothing is random
before the noise, so that the law is Gaussian. On the axes of the answers, with |x_t| = 1, tanh >= 1 - 10^-300 at scores
above 700 (w_1 falls by a eta_1 a step, from eta_1) and k phases whose records are zeros but in the first,

    mu^2 >= 4 (1 - a^2) (1 - 10^-300)^2 sum_{t=2}^{n_1} ((n_1 - t) / n_1)^2 / (sigma^2 sum_{i<k} 16^-i).

Multipliers are rounded up, which helps the claims.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from empirical.audits.audit_plan import AuditPlan
from oracle.algorithms.phased.phased_sgd import sizes
from oracle.core.domain import Number, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.promise import CONFIDENCE, FalseClaim

_Z = "4.8449"  # sqrt(2 log(1.25e5)) = 4.84480...


def _plan(noise: str, feature_norm: int, dimension: int) -> AuditPlan:
    config: dict[str, Any] = {
        "noise_formula": noise, "noise_over_sensitivity": _Z, "learning_rate": "0.0625", "feature_norm": feature_norm,
        "label_bound": 1, "batch_size": 100,
    }
    return AuditPlan(
        target={"kind": "algorithm", "name": "adaptive-batched-gd", "config": config},
        pair={"kind": "built", "name": "bounded-canary", "records": 100, "dimension": dimension},
        claimed="1", budget=100_000, confidence=CONFIDENCE,
    )


algorithm_8_variance = FalseClaim(
    id="002-algorithm-8-variance",
    claim="nonconvex-nn/thm-7-privacy",
    document="002, Algorithm 8 and Theorem 7",
    promise="one pass with the printed noise, read as a variance, is (1, 1e-5)-DP; d = 100",
    fault="a gradient is up to sqrt(d) (sqrt(d) |w| + B) long: the noise lacks the outer sqrt(d)",
    plan=_plan("printed-variance", 10, 100),
)

algorithm_8_deviation = FalseClaim(
    id="002-algorithm-8-deviation",
    claim="nonconvex-nn/thm-7-privacy",
    document="002, Algorithm 8 and Theorem 7",
    promise="one pass with the printed noise, read as a standard deviation, is (1, 1e-5)-DP; d = 1, m = 100",
    fault="the square of what the noise should be, which for batches of m is too small by a factor of order m",
    plan=_plan("printed-std", 1, 1),
)

_RECORDS, _LEAN, _SIGMA = 512, Fraction("0.001"), Fraction("27.42")  # 8 sqrt(log(1e5)) / 0.99 = 27.4187...


def theorem_1_at_least(delta: Number) -> Enclosure:
    """The epsilon of the Gaussian pair that the answers alone make."""
    phases = sizes(_RECORDS)
    answers = sum(Fraction(phases[0] - t, phases[0]) ** 2 for t in range(2, phases[0] + 1))
    noise = _SIGMA**2 * sum(Fraction(1, 16**i) for i in range(len(phases)))
    squared = 4 * (1 - _LEAN**2) * answers / noise * (1 - Fraction(1, 10**300)) ** 2
    return epsilon_of_mu(lambda: ball(squared).sqrt(), probability("delta").rational(delta), Fraction(1, 10**12))


theorem_1 = FalseClaim(
    id="002-theorem-1-large-steps",
    claim="nonconvex-nn/thm-1-privacy",
    document="002, Theorem 1",
    promise="phased SGD with noise 8 B eta_i sqrt(log(1/delta)) / epsilon is (0.99, 1e-5)-DP, whatever the step eta",
    fault="beyond eta G = 8 a step may expand, and a record has more influence than its own step",
    plan=AuditPlan(
        target={
            "kind": "algorithm", "name": "phased-sgd",
            "config": {
                "link": "tanh", "label_bound": 1, "base_learning_rate": 4_000_000, "initial_radius": 0,
                "noise_over_step": "27.42",
            },
        },
        pair={"kind": "built", "name": "echoed-record", "records": _RECORDS, "lean": "0.001"},
        claimed="0.99", budget=50_000, confidence=CONFIDENCE, shard=5000,
    ),
    at_least=theorem_1_at_least,
)
