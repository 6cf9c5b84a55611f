"""The everyday range of every number of the vocabulary: what people use, in cells of about a decade.

Vectors have at least one case in every cell of a bound's everyday domain and in every product of two cells (where that
can be answered), searches are spread over it, and holes are planted in it. Two numbers are the ends of a range that is
cut at the powers of ten; more numbers are the edges themselves. A count is cut at 1, 2, 3, 10, 32 and 100, then at
the powers of ten. What belongs to a domain beside (0, 1, infinity) is a cell of its own. A bound may narrow a range
(`empirical.gate.ranges`, EVERYDAY); it is no domain: nothing is refused because it lies outside.
"""

from __future__ import annotations

from empirical.gate.ranges import Edges

_SIZE = (1e-2, 1e2)  # what is of the order of 1, give or take
_NOISE = (1e-3, 1e2)
_DELTA = (1e-15, 1e-1)
_RECORDS = (1, 1e7)
_ERROR = (1e-6, 1e-1)

EVERYDAY: dict[str, Edges] = {
    # --- what is guaranteed
    "epsilon": (1e-3, 1e2), "base_epsilon": (1e-3, 1e1), "epsilon0": (1e-2, 1e1), "threshold_epsilon": (1e-2, 1e1),
    "delta": _DELTA, "base_delta": (1e-15, 1e-3), "threshold_delta": (1e-15, 1e-3), "slack": _DELTA,
    "mu": (1e-3, 1e2), "base_mu": (1e-2, 1e1), "rho": (1e-4, 1e1), "rdp": (1e-4, 1e2),
    "alpha": (1.001, 1.01, 1.1, 2, 10, 100, 1000), "failure_probability": (1e-6, 1e-1),
    # --- noise
    "sigma": (1e-1, 1e2), "noise_on_mean": _NOISE, "noise_on_sum": (1e-2, 1e4), "noise_multiplier": (1e-1, 1e2),
    "noise_over_sensitivity": (1e-1, 1e2), "noise_over_step": (1e-1, 1e4), "diffusion": _NOISE,
    "noise_variances": (1e-4, 1e1), "iterate_noise": _SIZE, "scale": (1e-3, 1e2), "noise_scale": _SIZE,
    "label_noise": (1e-3, 1e1), "keep": (0.5001, 0.6, 0.75, 0.9, 0.99, 0.999), "temperature": _SIZE,
    # --- what one record can do
    "sensitivity": _SIZE, "sensitivities": _SIZE, "clip_norm": _SIZE, "loss_range": _SIZE, "estimate_range": _SIZE,
    "feature_norm": _SIZE, "label_bound": _SIZE,
    # --- counts
    "dataset_size": _RECORDS, "batch_size": (1, 1e5), "divisor": (1, 1e5), "batches": (1, 1e5), "epochs": (1, 1e4),
    "steps": (1, 1e7), "sampling_rate": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.5, 0.9, 1), "draws": (1, 1e5),
    "record_position": _RECORDS, "batch_position": (1, 1e5), "users": (1, 1e6), "leaves": _RECORDS,
    "blocks": (1, 1e4), "calls": (1, 1e3), "histograms": (1, 1e1), "candidates": (1, 1e6), "mean_runs": (1e-1, 1e3),
    # --- steps
    "learning_rate": (1e-4, 1e1), "base_learning_rate": (1e-4, 1e1), "regularisation": (1e-5, 1e1),
    "contraction": (1e-2, 1e-1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1), "contractions": (0.1, 0.5, 0.9, 1, 1.5),
    "drift": _SIZE, "shift": _SIZE, "diameter": (1e-2, 1e3), "constraint_radius": _SIZE, "weight_bound": _SIZE,
    "projected_dimension": (1, 1e5), "solver_error": _ERROR, "oracle_error": _ERROR,
    # --- losses and models
    "lipschitz": _SIZE, "smoothness": _SIZE, "strong_convexity": (1e-4, 1e1), "curvature": (1e-3, 1e1),
    "link_lipschitz": (1e-2, 1e1), "active": (1, 1e4), "lipschitz_gradient": (0.1, 0.5, 0.9, 0.99, 1, 1.5),
    "lipschitz_prox": (0.1, 0.5, 0.9, 0.99, 1, 1.5), "weight_norm": _SIZE, "dimension": (1, 1e6),
    # --- tuning and risk
    "rank_threshold": (-3, -1, 0, 1, 3), "distance": _SIZE, "target_norm": _SIZE, "optimal_risk": (1e-3, 1e1),
    "rank": (1, 1e4), "spectrum": (1e-4, 1e1), "gap": (1e-3, 1e1), "fourth_moment": (1, 1.5, 3, 10),
}

AT_MOST: dict[str, str] = {
    "batch_size": "dataset_size", "batch_position": "batches", "record_position": "dataset_size",
}
"""A count that is never above another one of the same bound."""
