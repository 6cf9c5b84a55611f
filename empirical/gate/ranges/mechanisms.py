"""Where the parameters of the basic mechanisms are drawn: Gaussian, Laplace, sampled, composed, amplified, shuffled."""

from __future__ import annotations

import math

from empirical.gate.ranges import CORNER_INTEGERS, CORNER_REALS, LARGEST, SMALLEST, Corners, Maps, Ranges, logarithmic

# Decimal exponents between which a parameter is drawn, where the default does not fit: (bound, parameter) -> logs.
RANGES: Ranges = {
    ("gaussian.delta", "sigma"): (-4.0, 8.0),
    ("gaussian.delta", "sensitivity"): (-0.5, 0.5),
    ("gaussian.delta", "epsilon"): (-10.0, 4.0),
    ("gaussian.epsilon", "sigma"): (-4.0, 8.0),
    ("gaussian.epsilon", "sensitivity"): (-0.5, 0.5),
    ("gaussian.sigma", "epsilon"): (-8.0, 4.0),
    ("gaussian.sigma", "delta"): (-250.0, -0.3),
    ("gdp.epsilon", "mu"): (-8.0, 4.0),
    ("gdp.delta", "mu"): (-8.0, 4.0),
    ("gdp.delta", "epsilon"): (-10.0, 4.0),
    ("gaussian-composed.delta", "sigma"): (-4.0, 8.0),
    ("gaussian-composed.delta", "sensitivity"): (-0.5, 0.5),
    ("gaussian-composed.delta", "epsilon"): (-10.0, 4.0),
    ("gaussian-composed.epsilon", "sigma"): (-2.0, 8.0),
    ("gaussian-composed.epsilon", "sensitivity"): (-0.5, 0.5),
    ("randomised-response.delta", "epsilon"): (-10.0, 2.0),
    ("zcdp.epsilon", "rho"): (-12.0, 4.0),
    ("tree.epsilon", "leaves"): (0.0, 15.0),
    ("tree.epsilon", "noise_multiplier"): (-2.0, 8.0),
    ("composition.basic", "steps"): (0.0, 9.0),
    ("composition.advanced", "steps"): (0.0, 9.0),
    ("composition.optimal-delta", "steps"): (0.0, 2.5),
    ("composition.optimal-delta", "base_epsilon"): (-6.0, 2.0),
    ("composition.optimal-delta", "epsilon"): (-6.0, 3.0),
    ("composition.optimal", "steps"): (0.0, 2.5),
    ("composition.optimal", "base_epsilon"): (-6.0, 2.0),
    ("laplace.delta", "epsilon"): (-10.0, 4.0),
    ("laplace-composed.delta", "scale"): (-2.0, 3.0),
    ("laplace-composed.delta", "sensitivity"): (-0.5, 0.5),
    ("laplace-composed.delta", "steps"): (0.0, 1.0),
    ("laplace-composed.delta", "epsilon"): (-5.0, 3.0),
    ("laplace-composed.epsilon", "scale"): (-2.0, 3.0),
    ("laplace-composed.epsilon", "sensitivity"): (-0.5, 0.5),
    ("laplace-composed.epsilon", "steps"): (0.0, 1.0),
    ("shuffle.delta", "users"): (0.0, 2.0),  # the opinion lists every outcome
    ("shuffle.epsilon", "users"): (0.0, 2.0),
    ("shuffle.delta", "epsilon0"): (-4.0, 1.5),
    ("shuffle.delta", "epsilon"): (-6.0, 1.0),
    ("shuffle.epsilon", "epsilon0"): (-4.0, 1.5),
    ("shuffle.epsilon", "delta"): (-15.0, -0.3),
    ("poisson-gaussian.rdp", "sigma"): (-0.5, 2.0),
    **{(f"poisson-gaussian.{name}", "sigma"): (-0.1, 1.5) for name in ("epsilon", "delta")},
    ("poisson-gaussian.epsilon", "delta"): (-12.0, -0.3),
    ("poisson-gaussian.delta", "epsilon"): (-2.0, 0.0),
    ("poisson-gaussian.sigma", "epsilon"): (-1.0, 1.0),
    # No sample without replacement is larger than the data set; test_amplification goes to that edge.
    ("amplification.wor", "dataset_size"): (3.0, 12.0),
    ("amplification.wor", "batch_size"): (0.0, 3.0),
    ("amplification.wor-delta", "dataset_size"): (3.0, 12.0),
    ("amplification.wor-delta", "batch_size"): (0.0, 3.0),
    ("amplification.with-replacement", "dataset_size"): (0.0, 9.0),
    ("amplification.with-replacement", "draws"): (0.0, 5.0),
    ("amplification.with-replacement-delta", "base_epsilon"): (-4.0, 2.0),
    ("amplification.with-replacement-delta", "dataset_size"): (0.0, 6.0),
    ("amplification.with-replacement-delta", "draws"): (0.0, 2.0),
    ("wor-gaussian.epsilon", "delta"): (-30.0, -0.3),
    ("noisy-gd.mu", "dataset_size"): (0.0, 9.0),
    ("noisy-gd.mu", "steps"): (0.0, 9.0),
}


def _upper_half(u: float) -> float:
    if u < 0.04:
        return 0.5
    if u < 0.5:
        return 0.5 + logarithmic((u - 0.04) / 0.46, (-15.9, -0.4))
    return 1.0 - logarithmic((u - 0.5) / 0.5, (-0.4, -15.9))


def _sampling_rate(u: float) -> float:
    if u < 0.04:
        return 0.0
    return 1.0 if u > 0.96 else logarithmic((u - 0.04) / 0.92, (-2.0, -0.05))


def _some_steps(u: float) -> int:
    """None, one, or many: a few steps at any width are the business of test_composition."""
    return 0 if u < 0.04 else 1 if u < 0.12 else int(logarithmic((u - 0.12) / 0.88, (2.0, 4.0)))


def _batch_share(u: float) -> float:
    if u < 0.04:
        return 0.0
    if u > 0.96:
        return 1.0
    return logarithmic((u - 0.04) / 0.92, (-4.0, -0.01))


def _few_or_many(u: float) -> int:
    """None, or one (which is a case of its own) as often as more."""
    if u < 0.04:
        return 0
    return 1 if u < 0.6 else int(logarithmic((u - 0.6) / 0.4, (0.31, 4.0)))


# Maps from the unit interval for domains of their own, and for parameters that must suit each other.
MAPS: Maps = {
    **{(f"poisson-gaussian.{name}", "sampling_rate"): _sampling_rate for name in ("epsilon", "delta", "sigma")},
    **{(f"poisson-gaussian.{name}", "steps"): _some_steps for name in ("epsilon", "delta")},
    ("poisson-gaussian.sigma", "steps"): lambda u: _some_steps(0.04 + 2 * max(0.0, u - 0.4) if u > 0.04 else 0.0),
    ("poisson-gaussian.sigma", "delta"): lambda u: logarithmic(u, (-12.0, -1.0)),
    ("randomised-response.delta", "keep"): _upper_half,
    ("randomised-response.epsilon", "keep"): _upper_half,
    ("gaussian-classical.sigma", "epsilon"): lambda u: logarithmic(u, (-8.0, 0.0)),
    ("rdp.epsilon", "alpha"): lambda u: 1.0 + logarithmic(u, (-8.0, 4.0)),
    # Integers among the orders, for which the opinion is a finite sum.
    ("poisson-gaussian.rdp", "alpha"): lambda u: (
        1.0 + logarithmic(u / 0.7, (-3.0, 1.5)) if u < 0.7 else 2.0 + math.floor(100 * (u - 0.7))
    ),
    # Integers, which both methods take; test_wor_gaussian tries other orders.
    ("wor-gaussian.rdp", "alpha"): lambda u: float(int(logarithmic(u, (0.31, 2.3)))),
    ("wor-gaussian.rdp", "sigma"): lambda u: logarithmic(u, (-0.5, 3.0)),
    ("wor-gaussian.rdp", "sampling_rate"): _batch_share,
    ("wor-gaussian.epsilon", "sigma"): lambda u: logarithmic(u, (-0.5, 2.0)),
    ("wor-gaussian.epsilon", "sampling_rate"): _batch_share,
    ("wor-gaussian.epsilon", "steps"): _few_or_many,
    # No epsilon reaches a delta below 1 - (1 - base_delta)^steps; test_composition_theorems goes to that edge.
    ("composition.optimal", "base_delta"): lambda u: 0.0 if u < 0.3 else logarithmic((u - 0.3) / 0.7, (-300, -20)),
    ("composition.optimal", "delta"): lambda u: 1.0 if u > 0.96 else logarithmic(u, (-15.0, 0.0)),
}

FEW_POINTS: dict[str, int] = {
    "poisson-gaussian.epsilon": 60, "poisson-gaussian.delta": 60, "poisson-gaussian.sigma": 12,
}

# Sensitivity / sigma stays below 1e60 where epsilon is solved for: beyond, the reference needs thousands of bits and
# seconds a point (that it then still answers is tested once, in test_fast).
CORNERS: Corners = {
    ("poisson-gaussian.epsilon", "sigma"): (1e-3, 0.5, 1.0, 30.0),
    ("poisson-gaussian.delta", "sigma"): (1e-3, 0.5, 1.0),  # much noise at a large epsilon: deltas below 10^-1000
    **{(f"poisson-gaussian.{name}", "sampling_rate"): (0.0, 1e-3, 0.5, 1.0) for name in ("epsilon", "delta", "sigma")},
    **{(f"poisson-gaussian.{name}", "steps"): (0, 1, 1000) for name in ("epsilon", "delta", "sigma")},
    ("poisson-gaussian.epsilon", "delta"): (1e-15, 1e-5, 0.3, 0.9, 1 - 2**-53),
    ("poisson-gaussian.sigma", "delta"): (1e-15, 1e-5, 0.3),
    **{(f"poisson-gaussian.{name}", "epsilon"): (0.0, 0.1, 1.0) for name in ("delta", "sigma")},
    ("gaussian.epsilon", "sigma"): tuple(v for v in CORNER_REALS if v >= 1e-30),
    ("gaussian.epsilon", "sensitivity"): tuple(v for v in CORNER_REALS if v <= 1e30),
    ("gdp.epsilon", "mu"): tuple(v for v in CORNER_REALS if v <= 1e30),
    ("gaussian-composed.epsilon", "sigma"): tuple(v for v in CORNER_REALS if v >= 1e-30),
    ("gaussian-composed.epsilon", "sensitivity"): tuple(v for v in CORNER_REALS if v <= 1e30),
    ("gaussian-composed.epsilon", "steps"): (0, 1, 2, 10**6, 2**53),
    ("tree.epsilon", "noise_multiplier"): tuple(v for v in CORNER_REALS if v >= 1e-30),
    ("randomised-response.delta", "keep"): (0.5, 0.5 + 2**-53, 0.75, 0.9, 1 - 2**-53),
    ("randomised-response.epsilon", "keep"): (0.5, 0.5 + 2**-53, 0.75, 0.9, 1 - 2**-53),
    ("rdp.epsilon", "alpha"): (1 + 2**-52, 1.5, 2.0, 3.0, 1e8, 1e30, 1e300, LARGEST),
    ("poisson-gaussian.rdp", "sigma"): (0.05, 0.3, 1.0, 7.0, 1e4, 1e30, 1e160),
    ("poisson-gaussian.rdp", "alpha"): (1 + 2**-52, 1.000001, 1.5, 2.0, 3.0, 100.0, 1e4),
    ("laplace-composed.delta", "steps"): (0, 1, 2, 3, 17, 100),
    ("laplace-composed.epsilon", "steps"): (0, 1, 2, 3, 17, 100),
    ("laplace-composed.epsilon", "scale"): tuple(v for v in CORNER_REALS if v >= 1e-30),
    ("laplace-composed.epsilon", "sensitivity"): tuple(v for v in CORNER_REALS if v <= 1e30),
    ("amplification.wor", "dataset_size"): tuple(v for v in CORNER_INTEGERS if v >= 10**6),
    ("amplification.wor", "batch_size"): (1, 2, 3, 10**6),
    ("amplification.wor-delta", "dataset_size"): tuple(v for v in CORNER_INTEGERS if v >= 10**6),
    ("amplification.wor-delta", "batch_size"): (1, 2, 3, 10**6),
    ("amplification.with-replacement", "draws"): (1, 2, 3, 1000, 100_000),
    ("amplification.with-replacement-delta", "draws"): (1, 2, 3, 1000, 100_000),
    ("wor-gaussian.rdp", "sigma"): (1e-4, 1e-2, 0.3, 1.0, 3.0, 1e3, 1e6),
    ("wor-gaussian.rdp", "steps"): (0, 1, 3, 10**6, 10**12),
    ("wor-gaussian.rdp", "alpha"): (1 + 2**-52, 1.5, 2.0, 3.0, 64.0, 1e3, 1e6),
    ("wor-gaussian.epsilon", "sigma"): (1e-4, 1e-2, 0.3, 1.0, 3.0, 1e3, 1e4),
    ("wor-gaussian.epsilon", "sampling_rate"): (0.0, 1e-17, 1e-8, 0.5, 1 - 1e-8, 1 - 2**-53, 1.0),
    ("wor-gaussian.epsilon", "steps"): (0, 1, 2, 10**4, 10**12),
    ("composition.optimal-delta", "steps"): (0, 1, 2, 3, 17, 1000, 2000, 2001, 5000),
    ("composition.optimal", "steps"): (0, 1, 2, 3, 17, 1000, 2000, 2001, 5000),
    ("shuffle.delta", "users"): (1, 2, 3, 17, 1000, 10**4),
    ("shuffle.epsilon", "users"): (1, 2, 3, 17, 1000, 10**4),
    ("composition.optimal", "base_delta"): (0.0, SMALLEST, 1e-310, 1e-300, 1e-100),
    ("composition.optimal", "delta"): (1e-90, 1e-15, 1e-5, 0.3, 0.5, 1 - 2**-53, 1.0),
}
