"""Wrong variants of document 002's algorithms, to which the second opinions must object."""

from __future__ import annotations

from empirical.mutants.changes import another, parameters
from tests.planted import loose, wrong

MUTANTS = (
    wrong("phased-sgd.epsilon", "one gradient's length for two", parameters(label_bound=lambda v: v.label_bound / 2)),
    loose(
        "phased-sgd.sigma", "errors of the whole data for those of a phase",
        parameters(dataset_size=lambda v: 2 * v.dataset_size),
    ),
    wrong("phased-sgd.sigma", "gradient errors forgotten", parameters(oracle_error=0)),
    wrong(
        "phased-sgd-projected.sigma", "points taken for unstretched",
        parameters(label_bound=lambda v: v.label_bound / 2),
    ),
    wrong(
        "phased-sgd-projected.epsilon", "the projection for free",
        parameters(projected_dimension=lambda v: 10 * v.projected_dimension),
    ),
    wrong("two-layer-projected.epsilon", "n points for n + 1", parameters(dataset_size=lambda v: v.dataset_size - 1)),
    loose(
        "two-layer-projected.sigma", "half of delta kept, whatever is used up",
        another(
            "two-layer.sigma", feature_norm=lambda v: 2 * v.feature_norm, link_lipschitz=lambda v: v.link_lipschitz / 4,
            delta=lambda v: v.delta / 2,
        ),
    ),
    loose(
        "two-layer.sigma", "twice the noise, as if labels lay in [-1, 1]",
        parameters(feature_norm=lambda v: 2 * v.feature_norm, link_lipschitz=0),
    ),
    loose(
        "two-layer.epsilon", "features of length one, whatever they are", parameters(feature_norm=1, link_lipschitz=0),
    ),
    loose(
        "dp-pgd.sigma", "the triangle inequality for the ball (all steps)",
        parameters(weight_bound=lambda v: 2 * v.weight_bound),
    ),
    loose("dp-pgd.epsilon", "a descent step too many", parameters(steps=lambda v: v.steps + 1)),
    loose(
        "adaptive-batched-gd.sigma", "the triangle inequality for the ball (one step)",
        parameters(weight_norm=lambda v: 2 * v.weight_norm),
    ),
    wrong("adaptive-batched-gd.sigma", "the labels alone", parameters(weight_norm=0)),
    wrong(
        "adaptive-batched-gd.epsilon", "a noise multiplier for its square",
        parameters(noise_over_sensitivity=lambda v: v.noise_over_sensitivity**2),
    ),
    wrong("dp-sgd-multilayer.epsilon", "noise on the sum taken for noise on the mean", parameters(divisor=1)),
    wrong("dp-sgd-multilayer.sigma", "the clipping norm ignored", parameters(clip_norm=1)),
)
