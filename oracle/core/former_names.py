"""The names that parameters had in earlier versions: the error for an old name says the new one."""

from __future__ import annotations

FORMER: dict[str, tuple[str, ...]] = {
    "eta": ("learning_rate",), "step_size": ("learning_rate", "proposal_std"),
    "lam": ("regularisation", "group_penalty"),
    "learning_rate": ("base_learning_rate",), "ridge": ("regularisation",), "strong_convexity": ("regularisation",),
    "sigma": ("noise_on_mean", "noise_on_sum", "noise_multiplier", "noise_over_step", "diffusion"),
    "noise_std": ("noise_on_mean",), "noise_multiplier": ("noise_over_sensitivity", "noise_on_mean"),
    "noise": ("noise_on_mean", "iterate_noise", "noise_variances", "noise_law", "noise_formula"),
    "records": ("dataset_size",), "steps": ("dataset_size",), "passes": ("epochs",), "mean": ("mean_runs",),
    "epsilon": ("base_epsilon", "threshold_epsilon"), "delta": ("base_delta", "threshold_delta"),
    "total_epsilon": ("epsilon",), "total_delta": ("delta",), "norm": ("feature_norm", "target_norm"),
    "radius": ("feature_norm", "layer_radius", "grid_radius"), "position": ("batch_position", "record_position"),
    "smoothness": ("link_lipschitz",), "lipschitz": ("link_lipschitz", "spectral_norm"), "width": ("hidden_units",),
    "alpha": ("fourth_moment",), "batch_size": ("divisor",), "batches": ("histogram_batches",), "mu": ("base_mu",),
    "contraction": ("contractions",), "sensitivity": ("sensitivities",),
    "diameter": ("constraint_radius", "estimate_range"),
    "kind": ("step_rule",), "etas": ("learning_rates",), "lams": ("regularisations",), "scale": ("noise_scale",),
    "noise_scale": ("scale",), "beta": ("envelope_smoothness",), "gamma": ("oracle_error",), "runs": ("run_count",),
    "oracle": ("gradient_oracle",), "threshold": ("rank_threshold",), "failure": ("failure_probability",),
    "constant_batch_size": ("constant_divisor",), "poisson": ("sampling",), "points": ("grid_points",),
    "estimation": ("threshold_records",), "validation": ("validation_records",), "blocks": ("layers",),
    "lipschitz_map": ("lipschitz_prox",), "sensitivity_enforced": ("clipped",),
    "disjoint_blocks": ("disjoint",), "initial_std": ("initial_scale",),
    "released": ("released_runs",), "floor": ("variance_floor",), "low": ("estimate_low",), "high": ("estimate_high",),
}
"""Each with what may stand for it now, of which an owner takes one or more."""
