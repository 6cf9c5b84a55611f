"""How every bound moves when a parameter grows: it rises, falls, or turns (neither way throughout, or not at all).

The search takes a certified answer at an easier point for a lower bound of the truth, which tells it where to look; the
tests hold every direction, at points that hypothesis draws and between all certified answers of the vectors.
"""

from __future__ import annotations

RISES, FALLS, TURNS = "rises", "falls", "turns"

DIRECTIONS: dict[str, dict[str, str]] = {
    "adaptive-batched-gd-symmetric.risk": {
        "target_norm": RISES, "optimal_risk": RISES, "label_bound": RISES, "feature_norm": RISES, "dimension": RISES,
        "batch_size": FALLS, "steps": TURNS, "learning_rate": TURNS, "noise_over_sensitivity": RISES,
    },
    "adaptive-batched-gd.epsilon": {"noise_over_sensitivity": FALLS, "delta": FALLS},
    "adaptive-batched-gd.risk": {
        "target_norm": RISES, "optimal_risk": RISES, "label_bound": RISES, "feature_norm": RISES, "dimension": RISES,
        "batch_size": FALLS, "steps": TURNS, "learning_rate": TURNS, "noise_over_sensitivity": RISES,
        "strong_convexity": FALLS,
    },
    "adaptive-batched-gd.sigma": {
        "weight_norm": RISES, "feature_norm": RISES, "label_bound": RISES, "batch_size": FALLS, "epsilon": FALLS,
        "delta": FALLS,
    },
    "amplification.poisson": {"base_epsilon": RISES, "sampling_rate": RISES},
    "amplification.poisson-delta": {"base_delta": RISES, "sampling_rate": RISES},
    "amplification.with-replacement": {"base_epsilon": RISES, "dataset_size": FALLS, "draws": RISES},
    "amplification.with-replacement-delta": {
        "base_epsilon": RISES, "base_delta": RISES, "dataset_size": FALLS, "draws": RISES,
    },
    "amplification.wor": {"base_epsilon": RISES, "dataset_size": FALLS, "batch_size": RISES},
    "amplification.wor-delta": {"base_delta": RISES, "dataset_size": FALLS, "batch_size": RISES},
    "composition.advanced": {"base_epsilon": RISES, "base_delta": TURNS, "steps": RISES, "slack": FALLS},
    "composition.basic": {"base_epsilon": RISES, "steps": RISES},
    "composition.optimal": {"base_epsilon": RISES, "base_delta": RISES, "steps": RISES, "delta": FALLS},
    "composition.optimal-delta": {"base_epsilon": RISES, "base_delta": RISES, "steps": RISES, "epsilon": FALLS},
    "convex-relu.contraction": {
        "learning_rate": TURNS, "active": RISES, "feature_norm": RISES, "regularisation": TURNS,
    },
    "convex-relu.smoothness": {"active": RISES, "feature_norm": RISES, "regularisation": RISES},
    "convex-relu.step": {"active": FALLS, "feature_norm": FALLS, "regularisation": FALLS},
    "dp-gd-calibrated.risk": {
        "distance": RISES, "lipschitz": RISES, "dimension": RISES, "dataset_size": FALLS, "steps": FALLS,
        "epsilon": FALLS, "delta": FALLS,
    },
    "dp-gd-tail.risk": {
        "distance": RISES, "constraint_radius": RISES, "lipschitz": RISES, "dimension": RISES, "noise_on_mean": RISES,
        "steps": FALLS, "learning_rate": TURNS, "failure_probability": FALLS,
    },
    "dp-gd.epsilon": {
        "clip_norm": RISES, "dataset_size": FALLS, "noise_on_mean": FALLS, "steps": RISES, "delta": FALLS,
    },
    "dp-gd.risk": {
        "distance": RISES, "lipschitz": RISES, "dimension": RISES, "noise_on_mean": RISES, "steps": FALLS,
        "learning_rate": TURNS,
    },
    "dp-gd.sigma": {"clip_norm": RISES, "dataset_size": FALLS, "steps": RISES, "epsilon": FALLS, "delta": FALLS},
    "dp-pgd.epsilon": {
        "noise_on_mean": FALLS, "weight_bound": RISES, "label_bound": RISES, "dataset_size": TURNS, "steps": RISES,
        "projected_dimension": FALLS, "delta": FALLS,
    },
    "dp-pgd.risk": {
        "target_norm": RISES, "label_bound": RISES, "projected_dimension": TURNS, "dataset_size": FALLS, "steps": FALLS,
        "learning_rate": TURNS, "noise_on_mean": RISES,
    },
    "dp-pgd.sigma": {
        "weight_bound": RISES, "label_bound": RISES, "dataset_size": TURNS, "steps": RISES,
        "projected_dimension": FALLS, "epsilon": FALLS, "delta": FALLS,
    },
    "dp-sgd-multilayer.epsilon": {
        "noise_on_mean": FALLS, "clip_norm": RISES, "divisor": FALLS, "sampling_rate": RISES, "steps": RISES,
        "delta": FALLS,
    },
    "dp-sgd-multilayer.sigma": {
        "clip_norm": RISES, "divisor": FALLS, "sampling_rate": RISES, "steps": RISES, "epsilon": FALLS, "delta": FALLS,
    },
    # A larger batch has more noise and a higher rate at once.
    "dp-sgd.epsilon": {
        "clip_norm": RISES, "dataset_size": FALLS, "batch_size": TURNS, "noise_on_mean": FALLS, "steps": RISES,
        "delta": FALLS,
    },
    "dp-threshold.delta": {
        "threshold_epsilon": RISES, "threshold_delta": RISES, "histograms": RISES, "calls": RISES, "epsilon": FALLS,
    },
    "dp-threshold.epsilon": {
        "threshold_epsilon": RISES, "threshold_delta": RISES, "histograms": RISES, "calls": RISES, "delta": FALLS,
    },
    "exponential-mechanism.epsilon": {"loss_range": RISES, "temperature": FALLS},
    "exponential-mechanism.utility": {
        "loss_range": RISES, "epsilon": FALLS, "dataset_size": FALLS, "candidates": RISES,
    },
    "gaussian-classical.sigma": {"sensitivity": RISES, "epsilon": FALLS, "delta": FALLS},
    "gaussian-composed.delta": {"sigma": FALLS, "sensitivity": RISES, "steps": RISES, "epsilon": FALLS},
    "gaussian-composed.epsilon": {"sigma": FALLS, "sensitivity": RISES, "steps": RISES, "delta": FALLS},
    "gaussian.delta": {"sigma": FALLS, "sensitivity": RISES, "epsilon": FALLS},
    "gaussian.epsilon": {"sigma": FALLS, "sensitivity": RISES, "delta": FALLS},
    "gaussian.sigma": {"sensitivity": RISES, "epsilon": FALLS, "delta": FALLS},
    "gdp.delta": {"mu": RISES, "epsilon": FALLS},
    "gdp.epsilon": {"mu": RISES, "delta": FALLS},
    "glmtron-adaptive.epsilon": {
        "noise_over_sensitivity": FALLS, "dataset_size": TURNS, "threshold_epsilon": RISES, "threshold_delta": RISES,
        "delta": FALLS,
    },
    "glmtron-recursion.risk": {
        "spectrum": TURNS, "gap": TURNS, "dataset_size": TURNS, "learning_rate": TURNS, "label_noise": RISES,
        "noise_on_mean": RISES,
    },
    "glmtron.effective-dimension": {"spectrum": TURNS, "dataset_size": RISES, "learning_rate": RISES},
    # More records hide more, but each must leak less: below a few hundred the second can win.
    "glmtron.epsilon": {"noise_over_sensitivity": FALLS, "dataset_size": TURNS, "delta": FALLS},
    "glmtron.private-dimension": {"spectrum": TURNS, "dataset_size": RISES, "learning_rate": RISES},
    "glmtron.risk": {
        "spectrum": TURNS, "gap": TURNS, "dataset_size": TURNS, "learning_rate": TURNS, "label_noise": RISES,
        "noise_on_mean": RISES, "fourth_moment": RISES,
    },
    "glmtron.sigma": {"dataset_size": TURNS, "epsilon": FALLS, "delta": FALLS},
    "iteration-sgd.epsilon": {
        "lipschitz": RISES, "noise_on_mean": FALLS, "dataset_size": FALLS, "record_position": RISES, "delta": FALLS,
    },
    "iteration-sgd.rdp": {
        "lipschitz": RISES, "noise_on_mean": FALLS, "dataset_size": FALLS, "record_position": RISES, "alpha": RISES,
    },
    "iteration.epsilon": {"drift": TURNS, "iterate_noise": TURNS, "shift": TURNS, "contraction": TURNS, "delta": FALLS},
    "iteration.rdp": {"drift": TURNS, "iterate_noise": TURNS, "shift": TURNS, "contraction": TURNS, "alpha": RISES},
    "langevin.epsilon": {
        "sensitivity": RISES, "dataset_size": FALLS, "diffusion": FALLS, "strong_convexity": FALLS, "smoothness": TURNS,
        "learning_rate": RISES, "steps": RISES, "delta": FALLS,
    },
    "langevin.rdp": {
        "sensitivity": RISES, "dataset_size": FALLS, "diffusion": FALLS, "strong_convexity": FALLS, "smoothness": TURNS,
        "learning_rate": RISES, "steps": RISES, "alpha": RISES,
    },
    "laplace-composed.delta": {"scale": FALLS, "sensitivity": RISES, "steps": RISES, "epsilon": FALLS},
    "laplace-composed.epsilon": {"scale": FALLS, "sensitivity": RISES, "steps": RISES, "delta": FALLS},
    "laplace.delta": {"scale": FALLS, "sensitivity": RISES, "epsilon": FALLS},
    "linear-gaussian.mu": {"drift": TURNS, "contractions": TURNS, "iterate_noise": TURNS},
    "noisy-cgd-position.mu": {
        "sensitivity": RISES, "batch_size": FALLS, "contraction": RISES, "batches": FALLS, "epochs": RISES,
        "noise_on_mean": FALLS, "batch_position": RISES,
    },
    "noisy-cgd-projected.mu": {
        "sensitivity": RISES, "batch_size": FALLS, "contraction": RISES, "batches": FALLS, "epochs": RISES,
        "noise_on_mean": FALLS, "learning_rate": FALLS, "diameter": RISES,
    },
    "noisy-cgd.epsilon": {
        "sensitivity": RISES, "batch_size": FALLS, "contraction": RISES, "batches": FALLS, "epochs": RISES,
        "noise_on_mean": FALLS, "delta": FALLS,
    },
    "noisy-cgd.mu": {
        "sensitivity": RISES, "batch_size": FALLS, "noise_on_mean": FALLS, "contraction": RISES, "batches": FALLS,
        "epochs": RISES,
    },
    "noisy-cgd.sigma": {
        "sensitivity": RISES, "batch_size": FALLS, "contraction": RISES, "batches": FALLS, "epochs": RISES,
        "epsilon": FALLS, "delta": FALLS,
    },
    "noisy-cgd.step": {
        "sensitivity": RISES, "batch_size": FALLS, "noise_on_mean": FALLS, "batches": FALLS, "epochs": RISES,
        "mu": FALLS,
    },
    "noisy-gd-projected.mu": {
        "sensitivity": RISES, "dataset_size": FALLS, "contraction": RISES, "steps": RISES, "noise_on_mean": FALLS,
        "learning_rate": FALLS, "diameter": RISES,
    },
    "noisy-gd.epsilon": {
        "sensitivity": RISES, "dataset_size": FALLS, "contraction": RISES, "steps": RISES, "noise_on_mean": FALLS,
        "delta": FALLS,
    },
    "noisy-gd.mu": {
        "sensitivity": RISES, "dataset_size": FALLS, "noise_on_mean": FALLS, "contraction": RISES, "steps": RISES,
    },
    "noisy-gd.sigma": {
        "sensitivity": RISES, "dataset_size": FALLS, "contraction": RISES, "steps": RISES, "epsilon": FALLS,
        "delta": FALLS,
    },
    "noisy-minibatch.epsilon": {
        "sensitivity": RISES, "batch_size": FALLS, "diffusion": FALLS, "learning_rate": RISES, "contraction": RISES,
        "batches": TURNS, "epochs": RISES, "batch_position": RISES, "delta": FALLS,
    },
    "noisy-minibatch.rdp": {
        "sensitivity": RISES, "batch_size": FALLS, "diffusion": FALLS, "learning_rate": RISES, "contraction": RISES,
        "batches": TURNS, "epochs": RISES, "batch_position": RISES, "alpha": RISES,
    },
    "noisy-sgd.delta": {
        "sensitivity": RISES, "dataset_size": FALLS, "batch_size": TURNS, "noise_on_mean": FALLS, "contraction": RISES,
        "learning_rate": FALLS, "diameter": RISES, "steps": RISES, "epsilon": FALLS,
    },
    "noisy-sgd.epsilon": {
        "sensitivity": RISES, "dataset_size": FALLS, "batch_size": TURNS, "noise_on_mean": FALLS, "contraction": RISES,
        "learning_rate": FALLS, "diameter": RISES, "steps": RISES, "delta": FALLS,
    },
    "objective-perturbation-gaussian.epsilon": {
        "lipschitz": RISES, "curvature": RISES, "regularisation": FALLS, "dataset_size": FALLS, "noise_on_sum": FALLS,
        "delta": FALLS,
    },
    "objective-perturbation.epsilon": {
        "lipschitz": RISES, "curvature": RISES, "regularisation": FALLS, "dataset_size": FALLS, "noise_scale": FALLS,
    },
    "objective-perturbation.ridge": {"curvature": RISES, "dataset_size": FALLS, "epsilon": FALLS},
    "objective-perturbation.scale": {
        "lipschitz": RISES, "curvature": RISES, "regularisation": FALLS, "dataset_size": FALLS, "epsilon": FALLS,
    },
    "output-perturbation-gaussian.epsilon": {
        "lipschitz": RISES, "strong_convexity": FALLS, "dataset_size": FALLS, "solver_error": RISES, "sigma": FALLS,
        "delta": FALLS,
    },
    "output-perturbation-gaussian.sigma": {
        "lipschitz": RISES, "strong_convexity": FALLS, "dataset_size": FALLS, "solver_error": RISES, "epsilon": FALLS,
        "delta": FALLS,
    },
    "output-perturbation.epsilon": {
        "lipschitz": RISES, "strong_convexity": FALLS, "dataset_size": FALLS, "solver_error": RISES, "scale": FALLS,
    },
    "output-perturbation.scale": {
        "lipschitz": RISES, "strong_convexity": FALLS, "dataset_size": FALLS, "solver_error": RISES, "epsilon": FALLS,
    },
    "phased-sgd-projected.epsilon": {
        "noise_over_step": FALLS, "label_bound": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS,
        "dataset_size": RISES, "oracle_error": RISES, "projected_dimension": FALLS, "delta": FALLS,
    },
    "phased-sgd-projected.risk": {
        "link_lipschitz": RISES, "label_bound": RISES, "target_norm": RISES, "projected_dimension": TURNS,
        "dataset_size": TURNS, "base_learning_rate": TURNS, "noise_over_sensitivity": RISES,
    },
    "phased-sgd-projected.sigma": {
        "label_bound": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS, "dataset_size": RISES,
        "oracle_error": RISES, "projected_dimension": FALLS, "epsilon": FALLS, "delta": FALLS,
    },
    "phased-sgd.epsilon": {
        "noise_over_step": FALLS, "label_bound": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS,
        "dataset_size": RISES, "oracle_error": RISES, "delta": FALLS,
    },
    "phased-sgd.risk": {
        "link_lipschitz": RISES, "label_bound": RISES, "distance": RISES, "rank": RISES, "dataset_size": TURNS,
        "base_learning_rate": TURNS, "noise_over_sensitivity": RISES,
    },
    "phased-sgd.sigma": {
        "label_bound": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS, "dataset_size": RISES,
        "oracle_error": RISES, "epsilon": FALLS, "delta": FALLS,
    },
    "poisson-gaussian.delta": {"sigma": FALLS, "sampling_rate": RISES, "steps": RISES, "epsilon": FALLS},
    "poisson-gaussian.epsilon": {"sigma": FALLS, "sampling_rate": RISES, "steps": RISES, "delta": FALLS},
    "poisson-gaussian.rdp": {"sigma": FALLS, "sampling_rate": RISES, "steps": RISES, "alpha": RISES},
    "poisson-gaussian.sigma": {"sampling_rate": RISES, "steps": RISES, "epsilon": FALLS, "delta": FALLS},
    "poisson-tuning-pair.epsilon": {"base_epsilon": RISES, "base_delta": RISES, "mean_runs": RISES, "delta": FALLS},
    "poisson-tuning-renyi.epsilon": {"base_mu": RISES, "mean_runs": RISES, "delta": FALLS},
    "poisson-tuning.epsilon": {"base_mu": RISES, "mean_runs": RISES, "delta": FALLS},
    "poisson-tuning.lower": {"base_mu": TURNS, "mean_runs": TURNS, "rank_threshold": TURNS, "delta": FALLS},
    "poisson-tuning.rdp": {"base_mu": RISES, "mean_runs": RISES, "alpha": TURNS},
    "projected-noisy-sgd.epsilon": {
        "lipschitz": RISES, "dataset_size": FALLS, "batch_size": TURNS, "noise_on_mean": FALLS, "learning_rate": FALLS,
        "diameter": RISES, "steps": RISES, "delta": FALLS, "alpha": TURNS,
    },
    "projected-noisy-sgd.rdp": {
        "lipschitz": RISES, "dataset_size": FALLS, "batch_size": TURNS, "noise_on_mean": FALLS, "learning_rate": FALLS,
        "diameter": RISES, "steps": RISES, "alpha": RISES,
    },
    "randomised-response.delta": {"keep": RISES, "epsilon": FALLS},
    "randomised-response.epsilon": {"keep": RISES, "delta": FALLS},
    "rdp.epsilon": {"alpha": TURNS, "rdp": RISES, "delta": FALLS},
    "sbcd-composition.epsilon": {
        "learning_rate": RISES, "batch_size": FALLS, "sensitivities": TURNS, "noise_variances": TURNS, "delta": FALLS,
    },
    "sbcd-composition.rdp": {
        "alpha": RISES, "learning_rate": RISES, "batch_size": FALLS, "sensitivities": TURNS, "noise_variances": TURNS,
    },
    "sbcd-mixed.rdp": {
        "alpha": RISES, "sensitivity": RISES, "batch_size": FALLS, "learning_rate": RISES, "noise_variances": TURNS,
        "batches": TURNS, "lipschitz_gradient": RISES, "lipschitz_prox": RISES,
    },
    "sbcd.epsilon": {
        "sensitivity": RISES, "batch_size": FALLS, "learning_rate": RISES, "noise_variances": TURNS, "batches": TURNS,
        "lipschitz_gradient": RISES, "lipschitz_prox": RISES, "delta": FALLS,
    },
    "sbcd.rdp": {
        "alpha": RISES, "sensitivity": RISES, "batch_size": FALLS, "learning_rate": RISES, "noise_variances": TURNS,
        "batches": TURNS, "lipschitz_gradient": RISES, "lipschitz_prox": RISES, "batch_position": TURNS,
    },
    "shifted.mu": {"drift": TURNS, "contractions": TURNS, "iterate_noise": TURNS, "diameter": RISES},
    "shuffle.delta": {"epsilon0": RISES, "users": FALLS, "epsilon": FALLS},
    "shuffle.epsilon": {"epsilon0": RISES, "users": FALLS, "delta": FALLS},
    "subsample-aggregate-gaussian.epsilon": {"estimate_range": RISES, "blocks": FALLS, "sigma": FALLS, "delta": FALLS},
    "subsample-aggregate.epsilon": {"estimate_range": RISES, "blocks": FALLS, "scale": FALLS},
    "sufficient-statistics-gaussian.epsilon": {"dataset_size": FALLS, "sigma": FALLS, "delta": FALLS},
    "sufficient-statistics.epsilon": {"dataset_size": FALLS, "scale": FALLS},
    "taglmtron.epsilon": {"noise_multiplier": FALLS, "dataset_size": RISES, "delta": FALLS},
    "taglmtron.sigma": {"dataset_size": RISES, "epsilon": FALLS, "delta": FALLS},
    "tree.epsilon": {"noise_multiplier": FALLS, "leaves": RISES, "delta": FALLS},
    "two-layer-projected.epsilon": {
        "noise_over_step": FALLS, "feature_norm": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS,
        "dataset_size": RISES, "projected_dimension": FALLS, "delta": FALLS,
    },
    "two-layer-projected.sigma": {
        "feature_norm": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS, "dataset_size": RISES,
        "projected_dimension": FALLS, "epsilon": FALLS, "delta": FALLS,
    },
    "two-layer.epsilon": {
        "noise_over_step": FALLS, "feature_norm": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS,
        "delta": FALLS,
    },
    "two-layer.sigma": {
        "feature_norm": RISES, "base_learning_rate": TURNS, "link_lipschitz": TURNS, "epsilon": FALLS, "delta": FALLS,
    },
    "wor-gaussian.epsilon": {"sigma": FALLS, "sampling_rate": RISES, "steps": RISES, "delta": FALLS},
    "wor-gaussian.rdp": {"sigma": FALLS, "sampling_rate": RISES, "steps": RISES, "alpha": RISES},
    "zcdp.epsilon": {"rho": RISES, "delta": FALLS},
}
