"""Wrong variants of document 002's algorithms, to which the second opinions must object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import oracle
from oracle.core.algorithm import Values
from oracle.core.registry import Certify


def changed(name: str, change: Callable[[Values], dict[str, Any]]) -> Certify:
    """The bound at other values than it was given."""
    return lambda v, w: oracle.bound(name).certify(Values(**{**vars(v), **change(v)}), w)


WRONG: dict[str, tuple[str, Certify]] = {
    "one gradient's length for two": (
        "phased-sgd.epsilon", changed("phased-sgd.epsilon", lambda v: {"label_bound": v.label_bound / 2}),
    ),
    "errors of the whole data for those of a phase": (
        "phased-sgd.sigma", changed("phased-sgd.sigma", lambda v: {"dataset_size": 2 * v.dataset_size}),
    ),
    "gradient errors forgotten": ("phased-sgd.sigma", changed("phased-sgd.sigma", lambda v: {"oracle_error": 0})),
    "points taken for unstretched": (
        "phased-sgd-projected.sigma",
        changed("phased-sgd-projected.sigma", lambda v: {"label_bound": v.label_bound / 2}),
    ),
    "the projection for free": (
        "phased-sgd-projected.epsilon",
        changed("phased-sgd-projected.epsilon", lambda v: {"projected_dimension": 10 * v.projected_dimension}),
    ),
    "n points for n + 1": (
        "two-layer-projected.epsilon",
        changed("two-layer-projected.epsilon", lambda v: {"dataset_size": v.dataset_size - 1}),
    ),
    "half of delta kept, whatever is used up": (
        "two-layer-projected.sigma",
        lambda v, w: oracle.bound("two-layer.sigma").certify(
            Values(
                feature_norm=2 * v.feature_norm, base_learning_rate=v.base_learning_rate, link_lipschitz=v.link_lipschitz / 4,
                epsilon=v.epsilon, delta=v.delta / 2,
            ),
            w,
        ),
    ),
    "twice the noise, as if labels lay in [-1, 1]": (
        "two-layer.sigma", changed("two-layer.sigma", lambda v: {"feature_norm": 2 * v.feature_norm, "link_lipschitz": 0}),
    ),
    "features of length one, whatever they are": (
        "two-layer.epsilon", changed("two-layer.epsilon", lambda v: {"feature_norm": 1, "link_lipschitz": 0}),
    ),
    "the triangle inequality for the ball (all steps)": (
        "dp-pgd.sigma", changed("dp-pgd.sigma", lambda v: {"weight_bound": 2 * v.weight_bound}),
    ),
    "a descent step forgotten": ("dp-pgd.epsilon", changed("dp-pgd.epsilon", lambda v: {"steps": v.steps + 1})),
    "the triangle inequality for the ball (one step)": (
        "adaptive-batched-gd.sigma",
        changed("adaptive-batched-gd.sigma", lambda v: {"weight_norm": 2 * v.weight_norm}),
    ),
    "the labels alone": (
        "adaptive-batched-gd.sigma", changed("adaptive-batched-gd.sigma", lambda v: {"weight_norm": 0}),
    ),
    "a noise multiplier for its square": (
        "adaptive-batched-gd.epsilon",
        changed("adaptive-batched-gd.epsilon", lambda v: {"noise_over_sensitivity": v.noise_over_sensitivity**2}),
    ),
    "noise on the sum taken for noise on the mean": (
        "dp-sgd-multilayer.epsilon", changed("dp-sgd-multilayer.epsilon", lambda v: {"divisor": 1}),
    ),
    "the clipping norm ignored": (
        "dp-sgd-multilayer.sigma", changed("dp-sgd-multilayer.sigma", lambda v: {"clip_norm": 1}),
    ),
}
