"""Where the parameters of DP-GLMtron, DP-TAGLMtron and DP-Threshold (document 003) are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Maps, Ranges

RANGES: Ranges = {
    ("glmtron.epsilon", "noise_over_sensitivity"): (-0.3, 2.3),
    ("glmtron.sigma", "epsilon"): (-2.5, 1.0),
    ("glmtron-adaptive.epsilon", "noise_over_sensitivity"): (-0.3, 2.3),
    ("glmtron-adaptive.epsilon", "threshold_epsilon"): (-2.0, 1.5),
    ("taglmtron.epsilon", "noise_multiplier"): (-2.0, 8.0),
    ("taglmtron.epsilon", "dataset_size"): (0.0, 15.0),
    ("taglmtron.sigma", "dataset_size"): (0.0, 15.0),
    ("taglmtron.sigma", "epsilon"): (-8.0, 4.0),
    ("taglmtron.sigma", "delta"): (-250.0, -0.3),
    **{(f"dp-threshold.{name}", "threshold_epsilon"): (-2.0, 1.5) for name in ("epsilon", "delta")},
    ("dp-threshold.delta", "epsilon"): (-5.0, 1.5),
}

MAPS: Maps = {
    # The opinion lists every outcome; from about 20 records on shuffling is worth something.
    **{(f"glmtron.{name}", "dataset_size"): lambda u: int(10.0 ** (1.7 * u**0.4)) for name in ("epsilon", "sigma")},
    **{(f"glmtron.{name}", "delta"): lambda u: 10.0 ** (-8 + 7 * u) for name in ("epsilon", "sigma")},
    **{(f"dp-threshold.{name}", "histograms"): lambda u: 3 if u > 0.4 else 1 for name in ("epsilon", "delta")},
    **{(f"dp-threshold.{name}", "calls"): lambda u: 2 if u > 0.4 else 1 for name in ("epsilon", "delta")},
    ("glmtron-adaptive.epsilon", "dataset_size"): lambda u: 2 if u > 0.4 else 1,
    ("glmtron-adaptive.epsilon", "threshold_delta"): lambda u: 10.0 ** (-300 + 285 * u),
    ("glmtron-adaptive.epsilon", "delta"): lambda u: 10.0 ** (-8 + 7 * u),
    # No epsilon reaches a delta below 1 - (1 - threshold_delta/2)^k: one of two comes close to it for k = 6.
    ("dp-threshold.epsilon", "threshold_delta"): lambda u: 2.0**-19 if u > 0.4 else 10.0 ** (-300 + 700 * u),
    ("dp-threshold.epsilon", "delta"): lambda u: (
        6 * 2.0**-20 * (1 + 10.0 ** (-6 + 10 * u)) if u < 0.4 else 10.0 ** (-5 + 8.3 * (u - 0.4))
    ),
}

CORNERS: Corners = {
    **{(f"glmtron.{name}", "dataset_size"): (1, 2, 3, 17, 1000) for name in ("epsilon", "sigma")},
    ("glmtron.epsilon", "noise_over_sensitivity"): (1e-8, 0.1, 1.0, 3.0, 1e8, 1e160),
    ("glmtron.sigma", "epsilon"): (0.0, 1e-8, 1.0, 3.0, 1e3),
    **{(f"glmtron.{name}", "delta"): (1e-100, 1e-15, 1e-5, 0.3, 0.5, 0.9, 1 - 2**-53) for name in ("epsilon", "sigma")},
    ("glmtron-adaptive.epsilon", "dataset_size"): (1, 2, 3),
    ("glmtron-adaptive.epsilon", "noise_over_sensitivity"): (1e-8, 0.1, 1.0, 3.0, 1e8, 1e160),
    ("glmtron-adaptive.epsilon", "threshold_epsilon"): (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30),
    ("glmtron-adaptive.epsilon", "threshold_delta"): (5e-324, 1e-310, 1e-300, 1e-100),
    ("glmtron-adaptive.epsilon", "delta"): (1e-90, 1e-15, 1e-5, 0.3, 0.5, 0.9, 1 - 2**-53),
    ("taglmtron.sigma", "epsilon"): (0.0, 1e-160, 1e-8, 1.0, 3.0, 1e8, 1e160),
    ("taglmtron.epsilon", "noise_multiplier"): (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30, 1e160, 1e300),
    **{
        (f"dp-threshold.{name}", "threshold_epsilon"): (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
        for name in ("epsilon", "delta")
    },
    **{(f"dp-threshold.{name}", "histograms"): (1, 2, 3) for name in ("epsilon", "delta")},
    **{(f"dp-threshold.{name}", "calls"): (1, 2, 10) for name in ("epsilon", "delta")},
    ("dp-threshold.epsilon", "threshold_delta"): (5e-324, 1e-310, 1e-300, 1e-100),
    ("dp-threshold.epsilon", "delta"): (1e-90, 1e-15, 1e-5, 0.3, 0.5, 1 - 2**-53),
}

FEW_POINTS: dict[str, int] = {
    "glmtron-adaptive.epsilon": 60,
    "glmtron.epsilon": 60, "glmtron.sigma": 30, "taglmtron.epsilon": 200, "taglmtron.sigma": 100,
    "dp-threshold.epsilon": 80, "dp-threshold.delta": 60,
}
