"""The default campaign: every private algorithm on the worst case that is known of it, and NoisyCGD over epochs.

Each audit is expected to be CONSISTENT with what is proved. Epsilons are small enough for a distribution-free audit to
say something with 200,000 models a side, and the trainings small enough for seconds: what an audit shows of a mechanism
does not depend on how many harmless records take part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from empirical.audits.audit_plan import AuditPlan
from empirical.audits.tightness import FREE

BUDGET = 200_000
FEWER, FEWEST = 40_000, 10_000
"""Models a side of the trainings that are no closed form, and of those that draw a random projection for each model."""
WORST_CLAIM = "7.538812166633314"
"""The epsilon that noisy-cgd.mu proves of the audits of NoisyCGD with the canary in a batch, rounded up."""


def _entry(
    name: str, config: Mapping[str, Any], pair: str, budget: int = BUDGET, **parameters: Any
) -> AuditPlan:
    return AuditPlan(
        target={"kind": "algorithm", "name": name, "config": dict(config)},
        pair={"kind": "built", "name": pair, **parameters}, budget=budget, estimator=FREE, held=0.1,
    )


_CYCLIC = {
    "loss": "linear", "learning_rate": "0.5", "regularisation": "0.1", "clip_norm": "1", "noise_on_mean": "0.2",
    "batch_size": 10, "epochs": 10, "feature_norm": "1",
}
_CONVEX = {
    **_CYCLIC, "regularisation": "0", "noise_on_mean": "0.02", "batch_size": 100, "epochs": 4, "feature_norm": "2",
}
_SAMPLED = {
    "loss": "linear", "learning_rate": "0.5", "regularisation": "0", "clip_norm": "1", "noise_on_mean": "0.1",
    "batch_size": 10, "steps": 50, "dataset_size": 100, "neighbours": "add_remove",
}
_PHASED = {
    "link": "constant", "label_bound": "1", "base_learning_rate": "0.5", "noise_over_step": "4", "initial_radius": 0,
}
_SMOOTHED = {**_PHASED, "envelope_smoothness": "1", "oracle_error": "0.01", "gradient_oracle": "bisection"}
_REGRESSION = {"learning_rate": "0.1", "clip_norm": "1", "initial_std": 0, "clip": "shorten"}
_GLMTRON = {**_REGRESSION, "noise_over_sensitivity": "0.4"}
_THRESHOLD = {"threshold_epsilon": "2", "threshold_delta": "1e-6", "histogram_batches": 15, "model_variance": "0.5"}

DEFAULT: dict[str, AuditPlan] = {
    "NoisyGD on quadratics": _entry(
        "noisy-cgd",
        {**_CYCLIC, "regularisation": "0.2", "noise_on_mean": "0.15", "batch_size": 50, "epochs": 20},
        "cyclic-canary", records=50, dimension=4, batch=1,
    ),
    "NoisyCGD, canary in the first batch": _entry(
        "noisy-cgd", _CYCLIC, "cyclic-canary", records=40, dimension=4, batch=1,
    ),
    "NoisyCGD, canary in the second batch": _entry(
        "noisy-cgd", _CYCLIC, "cyclic-canary", records=40, dimension=4, batch=2,
    ),
    "NoisyCGD, canary in the last batch": _entry(
        "noisy-cgd", _CYCLIC, "cyclic-canary", records=40, dimension=4, batch=4,
    ),
    "NoisyCGD's bound, worst losses": AuditPlan(
        # Not NoisyCGD itself, but losses that its bound allows; the claim is noisy-cgd.mu with the numbers above.
        target={
            "kind": "adversary", "contraction": "0.95", "batches": 4, "epochs": 10, "sensitivity": "1",
            "batch_position": 4,
        },
        pair={"kind": "built", "name": "zoned"}, claimed=WORST_CLAIM, budget=BUDGET, estimator=FREE, held=0.1,
    ),
    "NoisyCGD, convex, linear losses": _entry(
        "noisy-cgd", _CONVEX, "cyclic-canary", records=300, dimension=1, batch=3,
    ),
    "NoisyCGD, convex, better losses": _entry(
        "noisy-cgd", {**_CONVEX, "loss": "squared"}, "clocked-canary", records=300, dimension=1,
    ),
    "DP-GD, average iterate": _entry(
        "dp-gd",
        {
            "loss": "linear", "learning_rate": "0.5", "clip_norm": "1", "noise_on_mean": "0.3", "steps": 10,
            "dataset_size": 20, "neighbours": "replace",
        },
        "full-batch-canary", records=20, dimension=4,
    ),
    "DP-SGD, a record added": _entry("dp-sgd", _SAMPLED, "sampled-canary", records=2, dimension=2),
    "DP-SGD, a record replaced": _entry(
        "dp-sgd",
        {**_SAMPLED, "neighbours": "replace", "dataset_size": 5, "batch_size": 1, "noise_on_mean": "2", "steps": 20},
        "sampled-canary", records=5, dimension=1,
    ),
    "phased SGD": _entry("phased-sgd", _PHASED, "first-record", records=128, dimension=2),
    "DP-GLMtron": _entry("dp-glmtron", _GLMTRON, "shuffled-canary", records=20, dimension=2),
    "tree aggregation (DP-TAGLMtron)": _entry(
        "dp-taglmtron", {**_REGRESSION, "noise_multiplier": "3", "neighbours": "replace"}, "tree-canary",
        records=16, dimension=2, place=1,
    ),
    "output perturbation": _entry(
        "output-perturbation",
        {
            "loss": "linear", "regularisation": "0.5", "noise_scale": "0.1", "solver_error": "1e-9",
            "feature_norm": "1",
        },
        "minimiser-canary", records=20, dimension=1,
    ),
    "objective perturbation": _entry(
        "objective-perturbation",
        {"loss": "linear", "regularisation": "0.5", "epsilon": "2", "correction": "sharp", "feature_norm": "1"},
        "minimiser-canary", records=20, dimension=1,
    ),
    "exponential mechanism": _entry(
        "exponential-mechanism",
        {
            "loss": "logistic", "loss_range": "1", "temperature": "1", "regularisation": "0.1", "grid_radius": "2",
            "grid_points": 8,
        },
        "grid-canary", records=4, dimension=1,
    ),
    "subsample and aggregate": _entry(
        "subsample-aggregate",
        {
            "estimator": "median", "order": "given", "blocks": 10, "estimate_low": "0", "estimate_high": "1",
            "noise_scale": "0.05",
        },
        "block-canary", records=10,
    ),
    "sufficient statistics": _entry(
        "sufficient-statistics", {"noise_scale": "0.1", "variance_floor": "0.01"}, "moments-canary", records=20,
    ),
    "DP-Threshold": _entry(
        "dp-threshold", {**_THRESHOLD, "weights": ["1"]}, "histogram-canary", records=15,
    ),
    "adaptive batched GD": _entry(
        "adaptive-batched-gd",
        {
            "noise_formula": "exact", "noise_over_sensitivity": "1.5", "learning_rate": "0.1", "feature_norm": "2",
            "label_bound": "1", "batch_size": 10,
        },
        "bounded-canary", records=10, dimension=2,
    ),
    "two-layer kernel SGD": _entry(
        "two-layer", {"link": "constant", "degree": 3, "base_learning_rate": "0.5", "noise_over_step": "1"},
        "kernel-canary", records=64, dimension=1,
    ),
    "smoothed phased SGD": _entry(
        "smoothed-phased-sgd", _SMOOTHED, "first-record", budget=FEWER, records=32, dimension=2,
    ),
    "DP-SBCD, one block": _entry(
        "dp-sbcd",
        {
            "layers": 0, "hidden_units": 1, "outputs": 1, "learning_rate": "0.5", "regulariser": "none",
            "spectral_norm": "inf", "batch_size": 1, "noise_variances": ["0.5", "0.5", "0.5"], "clip_norm": "1",
        },
        "label-canary", records=1, dimension=4,
    ),
    "projected DP-GD": _entry(
        "dp-gd-projected",
        {
            "loss": "linear", "learning_rate": "0.5", "lipschitz": "1", "radius": "1", "noise_on_mean": "0.2",
            "steps": 5, "dataset_size": 10, "neighbours": "replace",
        },
        "full-batch-canary", budget=FEWER, records=10, dimension=2,
    ),
    "DP-FTRL": _entry(
        "dp-ftrl", {**_REGRESSION, "noise_multiplier": "2", "neighbours": "replace"}, "tree-canary", budget=FEWER,
        records=8, dimension=1, place=2,
    ),
    "DP-SGD baseline of GLMtron": _entry(
        "glm-dp-sgd", _GLMTRON, "shuffled-canary", budget=FEWER, records=8, dimension=1,
    ),
    "DP-PGD on projected records": _entry(
        "dp-pgd",
        {
            "learning_rate": "0.5", "noise_on_mean": "0.5", "weight_bound": "1", "label_bound": "1",
            "projected_dimension": 64, "steps": 4,
        },
        "bounded-canary", budget=FEWER, records=5, dimension=1,
    ),
    "convex ReLU units": _entry(
        "noisy-cgd-convex-relu",
        {
            "loss": "squared", "outputs": 1, "hyperplanes": 2, "learning_rate": "0.2", "regularisation": "0.1",
            "clip_norm": "1", "clipping": "record", "noise_on_mean": "0.3", "batch_size": 5, "epochs": 3,
            "feature_norm": "1",
        },
        "unit-canary", budget=FEWER, records=10, dimension=1,
    ),
    "tuned NoisyCGD": _entry(
        "poisson-tuned-noisy-cgd",
        {
            "loss": "linear", "learning_rates": ["0.5"], "regularisations": ["0.1"], "clip_norm": "1",
            "noise_on_mean": "0.5", "batch_size": 5, "epochs": 3, "feature_norm": "1", "mean_runs": "3",
            "validation_records": 1, "score": "loss",
        },
        "tuned-canary", budget=FEWER, records=6, dimension=1,
    ),
    "phased SGD on projected records": _entry(
        "phased-sgd-projected", {**_PHASED, "noise_over_step": "8", "projected_dimension": 200}, "first-record", FEWEST,
        records=16, dimension=1,
    ),
    "smoothed phased SGD on projected records": _entry(
        "smoothed-phased-sgd-projected",
        {**_SMOOTHED, "noise_over_step": "8", "projected_dimension": 200}, "first-record", FEWEST,
        records=16, dimension=1,
    ),
    "two-layer kernel SGD, projected": _entry(
        "two-layer-projected",
        {
            "link": "constant", "degree": 1, "base_learning_rate": "0.5", "noise_over_step": "4",
            "projected_dimension": 200,
        },
        "kernel-canary", FEWEST, records=16, dimension=1,
    ),
    "DP-GLMtron, adaptive": _entry(
        "dp-glmtron-adaptive",
        {
            **_GLMTRON, "threshold_scale": "1", **_THRESHOLD, "threshold_delta": "1e-8", "histogram_batches": 20,
            "threshold_records": 20,
        },
        "shuffled-canary", FEWER, records=24, dimension=1,
    ),
    "DP-SGD on a deep network": _entry(
        "dp-sgd-multilayer",
        {
            "loss": "pseudo-huber", "depth": 2, "hidden_units": 1, "learning_rate": "0.2", "layer_radius": "5",
            "centre": "start", "clip_norm": "1", "noise_on_mean": "0.3", "batch_size": 5, "steps": 5,
            "dataset_size": 10, "neighbours": "add_remove",
        },
        "network-canary", FEWER, records=2, dimension=1,
    ),
    "DP-SGD on a network": _entry(
        "dp-sgd-network",
        {
            "loss": "squared", "activation": "tanh", "hidden_units": 2, "initial_scale": "0.1", "learning_rate": "0.1",
            "clip_norm": "1", "noise_on_mean": "0.3", "batch_size": 5, "steps": 5, "dataset_size": 10,
            "neighbours": "add_remove",
        },
        "network-canary", budget=FEWER, records=2, dimension=1,
    ),
}

EPOCHS = (1, 2, 4, 8, 12)


def _over_epochs(epochs: int, losses: str) -> AuditPlan:
    """Noise and batch size enter by their product alone, so that linear losses do with the smallest batches."""
    if losses == "linear":
        config = {**_CONVEX, "noise_on_mean": "1", "batch_size": 2, "epochs": epochs}
        return _entry("noisy-cgd", config, "cyclic-canary", records=6, dimension=1, batch=3)
    config = {**_CONVEX, "noise_on_mean": "0.01", "batch_size": 200, "epochs": epochs, "loss": "squared"}
    return _entry("noisy-cgd", config, "clocked-canary", records=600, dimension=1)


OVER_EPOCHS: dict[str, AuditPlan] = {
    f"NoisyCGD, {losses} losses, epochs: {epochs}": _over_epochs(epochs, losses)
    for losses in ("linear", "better") for epochs in EPOCHS
}
"""NoisyCGD with convex losses (c = 1), three batches, the canary in the last: how audits follow the bound."""

ALL: dict[str, AuditPlan] = {**DEFAULT, **OVER_EPOCHS}
"""The audits of `dp-oracle audit --all`."""
