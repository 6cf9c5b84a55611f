"""A configuration of every private algorithm with the worst case that is built for it, for the tests of pairs and laws.

`law` says which exact law the pair is expected to have; `models` is how many are drawn to hold it against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PairCase:
    """An algorithm's configuration, and what differs from its default pair."""

    algorithm: str
    config: Mapping[str, Any]
    law: str | None
    pair: Mapping[str, Any] = field(default_factory=dict)
    models: int = 20_000

    @property
    def id(self) -> str:
        """The name of the test."""
        words = [self.algorithm, *(str(value) for key, value in self.config.items() if key in _TELLING)]
        return "-".join([*words, *(f"{key}={value}" for key, value in self.pair.items())])


_TELLING = ("loss", "link", "neighbours", "estimator", "noise_formula", "regularisation")

CYCLIC = {
    "loss": "linear", "learning_rate": "0.5", "regularisation": "0.1", "clip_norm": "1", "noise_on_mean": "0.2",
    "batch_size": 10, "epochs": 3, "feature_norm": "1",
}
CLOCKED = {
    **CYCLIC, "loss": "squared", "regularisation": "0", "noise_on_mean": "0.02", "batch_size": 100, "feature_norm": "2",
}
DP_GD = {
    "loss": "linear", "learning_rate": "0.5", "clip_norm": "2", "noise_on_mean": "0.3", "steps": 4, "dataset_size": 8,
    "neighbours": "replace",
}
PROJECTED = {
    "loss": "linear", "learning_rate": "0.5", "lipschitz": "2", "radius": "5", "noise_on_mean": "0.3", "steps": 4,
    "dataset_size": 8, "neighbours": "replace",
}
DP_SGD = {
    "loss": "linear", "learning_rate": "0.5", "regularisation": "0", "clip_norm": "1", "noise_on_mean": "0.5",
    "batch_size": 4, "steps": 6, "dataset_size": 10, "neighbours": "replace",
}
NETWORK = {
    "loss": "squared", "activation": "tanh", "hidden_units": 3, "initial_scale": "0.1", "learning_rate": "0.1",
    "clip_norm": "1", "noise_on_mean": "0.5", "batch_size": 4, "steps": 3, "dataset_size": 8,
    "neighbours": "add_remove",
}
DEEP = {
    "loss": "pseudo-huber", "depth": 2, "hidden_units": 4, "learning_rate": "0.1", "layer_radius": "5",
    "centre": "start", "clip_norm": "1", "noise_on_mean": "0.5", "batch_size": 4, "steps": 3, "dataset_size": 8,
    "neighbours": "replace",
}
PHASED = {
    "link": "constant", "label_bound": "2", "base_learning_rate": "0.5", "noise_over_step": "3", "initial_radius": 0,
}
SMOOTHED = {**PHASED, "envelope_smoothness": "1", "oracle_error": "0.01", "gradient_oracle": "bisection"}
KERNEL = {"link": "constant", "degree": 3, "base_learning_rate": "0.5", "noise_over_step": "2"}
REGRESSION = {"learning_rate": "0.1", "clip_norm": "2", "initial_std": 0, "clip": "shorten"}
GLMTRON = {**REGRESSION, "noise_over_sensitivity": "0.5"}
TREE = {**REGRESSION, "noise_multiplier": "2", "neighbours": "replace"}
THRESHOLD = {"threshold_epsilon": "2", "threshold_delta": "1e-4", "histogram_batches": 11, "model_variance": "0.5"}
PGD = {
    "learning_rate": "0.1", "noise_on_mean": "0.5", "weight_bound": "1", "label_bound": "1",
    "projected_dimension": 400, "steps": 3,
}
ADAPTIVE = {
    "noise_formula": "exact", "noise_over_sensitivity": "2", "learning_rate": "0.1", "feature_norm": "2",
    "label_bound": "3", "batch_size": 5,
}
OUTPUT = {
    "loss": "linear", "regularisation": "0.5", "noise_scale": "0.3", "solver_error": "1e-9", "feature_norm": "2",
}
OBJECTIVE = {
    "loss": "linear", "regularisation": "0.5", "epsilon": "1.5", "correction": "sharp", "feature_norm": "2",
}
GRID = {
    "loss": "logistic", "loss_range": "1", "temperature": "1.5", "regularisation": "0.1", "grid_radius": "2",
    "grid_points": 8,
}
BLOCKS = {
    "estimator": "mean", "order": "given", "blocks": 5, "estimate_low": "-1", "estimate_high": "2",
    "noise_scale": "0.4",
}
SBCD = {
    "layers": 0, "hidden_units": 1, "outputs": 1, "learning_rate": "0.1", "regulariser": "none",
    "spectral_norm": "inf", "batch_size": 4, "noise_variances": ["2", "1"], "clip_norm": "1",
}
UNITS = {
    "loss": "squared", "outputs": 1, "hyperplanes": 3, "learning_rate": "0.1", "regularisation": "0.1",
    "clip_norm": "1", "clipping": "record", "noise_on_mean": "0.2", "batch_size": 5, "epochs": 2, "feature_norm": "1",
}
TUNED = {
    "loss": "linear", "learning_rates": ["0.5", "0.3"], "regularisations": ["0.1", "0.1"], "clip_norm": "1",
    "noise_on_mean": "0.5", "batch_size": 5, "epochs": 2, "feature_norm": "1", "mean_runs": "3",
    "validation_records": 2, "score": "loss",
}

CASES = (
    PairCase("noisy-cgd", CYCLIC, "GaussianLaw", {"batch": 1}),
    PairCase("noisy-cgd", CYCLIC, "GaussianLaw", {"batch": 4}),
    PairCase("noisy-cgd", {**CYCLIC, "loss": "logistic", "feature_norm": "3"}, None),
    PairCase("noisy-cgd", {**CYCLIC, "loss": "squared"}, None),
    PairCase("noisy-cgd", CLOCKED, "NearlyLaw", {"name": "clocked-canary", "records": 300}, 10_000),
    PairCase("dp-gd", DP_GD, "GaussianLaw"),
    PairCase("dp-gd", {**DP_GD, "neighbours": "add_remove"}, "GaussianLaw"),
    PairCase("dp-gd", {**DP_GD, "loss": "squared"}, None),
    PairCase("dp-gd-projected", PROJECTED, None),
    PairCase("dp-gd-projected", {**PROJECTED, "loss": "squared", "neighbours": "add_remove"}, None),
    PairCase("dp-gd-projected", {**PROJECTED, "loss": "logistic"}, None),
    PairCase("dp-sgd", DP_SGD, "MixtureLaw"),
    PairCase("dp-sgd", {**DP_SGD, "neighbours": "add_remove"}, "MixtureLaw"),
    PairCase("dp-sgd", {**DP_SGD, "regularisation": "0.4"}, "MixtureLaw"),
    PairCase("dp-sgd", {**DP_SGD, "loss": "logistic"}, None),
    PairCase("dp-sgd-network", NETWORK, None),
    PairCase("dp-sgd-network", {**NETWORK, "loss": "logistic", "neighbours": "replace"}, None),
    PairCase("dp-sgd-multilayer", DEEP, None),
    PairCase("phased-sgd", PHASED, "GaussianLaw"),
    PairCase("phased-sgd", {**PHASED, "link": "tanh"}, "GaussianLaw"),
    PairCase("phased-sgd", {**PHASED, "link": "sigmoid", "initial_radius": "1"}, None),
    PairCase("phased-sgd-projected", {**PHASED, "projected_dimension": 400}, None),
    PairCase("smoothed-phased-sgd", SMOOTHED, "GaussianLaw"),
    PairCase("smoothed-phased-sgd", {**SMOOTHED, "link": "sign"}, "GaussianLaw"),
    PairCase("smoothed-phased-sgd-projected", {**SMOOTHED, "projected_dimension": 400}, None),
    PairCase("two-layer", KERNEL, "GaussianLaw"),
    PairCase("two-layer", {**KERNEL, "link": "sigmoid", "degree": 2}, None),
    PairCase("two-layer-projected", {**KERNEL, "projected_dimension": 400}, None),
    PairCase("dp-glmtron", GLMTRON, "MixtureLaw"),
    PairCase("dp-glmtron", {**GLMTRON, "initial_std": "0.1"}, "MixtureLaw"),
    PairCase("glm-dp-sgd", GLMTRON, None),
    PairCase(
        "dp-glmtron-adaptive",
        {
            **GLMTRON, "threshold_scale": "1", **THRESHOLD, "threshold_delta": "1e-6", "histogram_batches": 15,
            "threshold_records": 15,
        },
        None,
    ),
    PairCase("dp-taglmtron", TREE, "GaussianLaw"),
    PairCase("dp-taglmtron", {**TREE, "neighbours": "add_remove", "initial_std": "0.2"}, "GaussianLaw", {"place": 3}),
    PairCase("dp-ftrl", TREE, None),
    PairCase("dp-pgd", PGD, None),
    PairCase("adaptive-batched-gd", ADAPTIVE, "GaussianLaw"),
    PairCase("adaptive-batched-gd", {**ADAPTIVE, "noise_formula": "printed-variance"}, "GaussianLaw"),
    PairCase("adaptive-batched-gd", ADAPTIVE, None, {"records": 10}),
    PairCase("output-perturbation", OUTPUT, "LaplaceLaw"),
    PairCase("output-perturbation", {**OUTPUT, "loss": "logistic"}, None, {"dimension": 2}),
    PairCase("objective-perturbation", OBJECTIVE, "LaplaceLaw"),
    PairCase("objective-perturbation", {**OBJECTIVE, "loss": "pseudo-huber"}, None, {"dimension": 2}, 2_000),
    PairCase("exponential-mechanism", GRID, "FiniteLaw"),
    PairCase("exponential-mechanism", {**GRID, "loss": "squared"}, "FiniteLaw", {"dimension": 2}),
    PairCase("subsample-aggregate", BLOCKS, "LaplaceLaw"),
    PairCase("subsample-aggregate", {**BLOCKS, "estimator": "slope", "order": "shuffled"}, "LaplaceLaw"),
    PairCase("subsample-aggregate", {**BLOCKS, "estimator": "median"}, "LaplaceLaw", {"records": 5}),
    PairCase("subsample-aggregate", {**BLOCKS, "estimator": "median"}, None, {"records": 15}),
    PairCase("sufficient-statistics", {"noise_scale": "0.1", "variance_floor": "0.01"}, "LaplaceProductLaw"),
    PairCase("dp-threshold", {**THRESHOLD, "weights": ["1", "0.5"]}, "FiniteLaw"),
    PairCase("dp-threshold", {**THRESHOLD, "weights": ["1"], "histogram_batches": 15}, "FiniteLaw", {"records": 45}),
    PairCase("dp-sbcd", SBCD, "NearlyLaw"),
    PairCase("dp-sbcd", {**SBCD, "layers": 1, "hidden_units": 2}, None),
    PairCase("noisy-cgd-convex-relu", UNITS, None),
    PairCase("noisy-cgd-convex-relu", {**UNITS, "loss": "logistic", "clip_norm": "10"}, None),
    PairCase("poisson-tuned-noisy-cgd", TUNED, None),
)
