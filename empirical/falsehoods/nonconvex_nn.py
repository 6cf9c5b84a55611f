r"""False privacy claims of document 002: Algorithm 8 as printed.

The text gives every step the noise 8 (sqrt(d) |w| + B)^2 log(1.25/delta) / (m epsilon)^2 and promises (epsilon,
delta)-DP. Both readings of that number are audited where the run starts, at w = 0, with one batch: x = sqrt(d) e_1 is
an admissible record, its gradient has length sqrt(d) B, and no part of the noise has the factor sqrt(d).

    a variance             mu = sqrt(d) / z,                       z = sqrt(2 log(1.25/delta)) / epsilon
    a standard deviation   mu = m sqrt(d) / (2 z^2 B)

The multiplier z is rounded up, which helps the claim.
"""

from __future__ import annotations

from typing import Any

from empirical.false_claims import CONFIDENCE, FalseClaim
from empirical.plan import Plan

_Z = "4.8449"  # sqrt(2 log(1.25e5)) = 4.84480...


def _plan(noise: str, feature_norm: int, dimension: int) -> Plan:
    config: dict[str, Any] = {
        "noise": noise, "noise_multiplier": _Z, "eta": "0.0625", "feature_norm": feature_norm, "label_bound": 1,
        "batch_size": 100,
    }
    return Plan(
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
