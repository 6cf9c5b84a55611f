"""Where the parameters of document 002's network trainings are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Maps, Ranges

_PROJECTED = ("phased-sgd-projected", "two-layer-projected", "dp-pgd")
_PHASED = ("phased-sgd", "phased-sgd-projected", "two-layer", "two-layer-projected")
_FAMILIES = (*_PHASED, "dp-pgd")
_LINEAR = ("phased-sgd", "phased-sgd-projected")  # features no longer than 1, labels within label_bound
_KERNEL = ("two-layer", "two-layer-projected")  # labels in [0, 1], features within feature_norm
_BOTH = ("epsilon", "sigma")
_NOISES = (*((f"{family}.epsilon", "noise_over_step") for family in _PHASED), ("dp-pgd.epsilon", "noise_on_mean"))

RANGES: Ranges = {
    **dict.fromkeys(_NOISES, (-2.0, 6.0)),
    **{(f"{family}.sigma", "epsilon"): (-6.0, 3.0) for family in (*_FAMILIES, "adaptive-batched-gd")},
    **{(f"{family}.sigma", "delta"): (-200.0, -0.3) for family in ("phased-sgd", "two-layer", "adaptive-batched-gd")},
    **{(f"{family}.{b}", "label_bound"): (-1.0, 1.0) for family in (*_LINEAR, "dp-pgd") for b in _BOTH},
    **{(f"{family}.{b}", "feature_norm"): (-1.0, 0.0) for family in _KERNEL for b in _BOTH},
    # With features no longer than 1, a base_learning_rate of 2 and a link_lipschitz of 1 are allowed everywhere.
    **{(f"{family}.{b}", "base_learning_rate"): (-4.0, 0.3) for family in _PHASED for b in _BOTH},
    **{(f"{family}.{b}", "link_lipschitz"): (-4.0, -0.01) for family in _PHASED for b in _BOTH},
    # The projection uses up a third of the smallest delta at most, and next to nothing of many.
    **{(f"{family}.{b}", "dataset_size"): (0.0, 2.0) for family in _PROJECTED for b in _BOTH},
    **{(f"{family}.{b}", "projected_dimension"): (1.15, 3.0) for family in _PROJECTED for b in _BOTH},
    **{(f"{family}.{b}", "delta"): (-4.0, -0.3) for family in _PROJECTED for b in _BOTH},
    ("adaptive-batched-gd.epsilon", "noise_over_sensitivity"): (-2.0, 8.0),
    ("dp-sgd-multilayer.epsilon", "clip_norm"): (-0.5, 0.5),
    ("dp-sgd-multilayer.epsilon", "divisor"): (-0.2, 0.2),
    ("dp-sgd-multilayer.epsilon", "delta"): (-12.0, -0.3),
    ("dp-sgd-multilayer.sigma", "clip_norm"): (-1.0, 1.0),
    ("dp-sgd-multilayer.sigma", "divisor"): (-1.0, 3.0),
    ("dp-sgd-multilayer.sigma", "epsilon"): (-1.0, 1.0),
}

# The sampled curve itself is tried at length under its own name: here mostly no sampling at random, or one step.
MAPS: Maps = {
    ("dp-sgd-multilayer.epsilon", "noise_on_mean"): lambda u: 0.9 + 9 * u,
    **{
        (f"dp-sgd-multilayer.{b}", "sampling_rate"): lambda u: 0.0 if u < 0.04 else 0.125 if u < 0.1 else 1.0
        for b in _BOTH
    },
    **{
        (f"dp-sgd-multilayer.{b}", "steps"): lambda u: 0 if u < 0.04 else 1 if u < 0.5 else int(200 * u) for b in _BOTH
    },
    ("dp-sgd-multilayer.sigma", "delta"): lambda u: 10.0 ** (-12.0 + 11.0 * u),
}

FEW_POINTS: dict[str, int] = {
    **{f"{family}.{b}": 60 if family in _PROJECTED else 120 for family in _FAMILIES for b in _BOTH},
    "adaptive-batched-gd.epsilon": 120, "adaptive-batched-gd.sigma": 120,
    "dp-sgd-multilayer.epsilon": 20, "dp-sgd-multilayer.sigma": 12,
}

_REALS = (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
_SMALL = (5e-324, 1e-310, 1e-300, 1e-30, 1e-8, 0.5, 1.0)
CORNERS: Corners = {
    **dict.fromkeys(_NOISES, (1e-30, 1e-8, 1.0, 3.0, 1e30, 1e300)),
    **{(f"{family}.{b}", "label_bound"): _REALS for family in (*_LINEAR, "dp-pgd") for b in _BOTH},
    **{(f"dp-pgd.{b}", "weight_bound"): _REALS for b in _BOTH},
    **{(f"{family}.{b}", "feature_norm"): _SMALL for family in _KERNEL for b in _BOTH},
    **{(f"{family}.{b}", "base_learning_rate"): (*_SMALL, 2.0) for family in _PHASED for b in _BOTH},
    **{(f"{family}.{b}", "link_lipschitz"): (0.0, *_SMALL) for family in _PHASED for b in _BOTH},
    **{(f"{family}.{b}", "oracle_error"): (0.0, 5e-324, 1e-8, 1.0, 1e30) for family in _LINEAR for b in _BOTH},
    **{
        (f"{family}.{b}", "dataset_size"): (1, 2, 3, 10**6, 2**53)
        for family in _FAMILIES if family != "two-layer" for b in _BOTH
    },
    **{(f"{family}.{b}", "projected_dimension"): (10**6, 2**53, int(1e100)) for family in _PROJECTED for b in _BOTH},
    **{(f"dp-pgd.{b}", "steps"): (1, 2, 10**6, 2**53) for b in _BOTH},
    ("adaptive-batched-gd.epsilon", "noise_over_sensitivity"): (1e-30, 1e-8, 1.0, 3.0, 1e30, 1e160, 1e300),
    # a sigma for an epsilon beyond is a matter of a second, under the name of the Gaussian mechanism itself
    **{
        (f"{family}.sigma", "epsilon"): (0.0, 1e-310, 1e-30, 1e-8, 1.0, 3.0, 1e8)
        for family in (*_FAMILIES, "adaptive-batched-gd")
    },
    ("adaptive-batched-gd.sigma", "weight_norm"): (0.0, 5e-324, 1e-8, 1.0, 1e30),
    ("adaptive-batched-gd.sigma", "feature_norm"): _REALS,
    ("adaptive-batched-gd.sigma", "label_bound"): _REALS,
    ("dp-sgd-multilayer.epsilon", "noise_on_mean"): (1.0, 30.0),
    **{(f"dp-sgd-multilayer.{b}", "clip_norm"): (0.75, 1.0) for b in _BOTH},
    **{(f"dp-sgd-multilayer.{b}", "divisor"): (1.0, 1.5) for b in _BOTH},
    **{(f"dp-sgd-multilayer.{b}", "sampling_rate"): (0.0, 0.5, 1.0) for b in _BOTH},
    **{(f"dp-sgd-multilayer.{b}", "steps"): (0, 1, 1000) for b in _BOTH},
    ("dp-sgd-multilayer.epsilon", "delta"): (1e-15, 1e-5, 0.3, 0.9),
    ("dp-sgd-multilayer.sigma", "delta"): (1e-15, 1e-5, 0.3),
    ("dp-sgd-multilayer.sigma", "epsilon"): (0.0, 0.1, 1.0),
}
