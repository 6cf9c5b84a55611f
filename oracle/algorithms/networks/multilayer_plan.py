"""DP-SGD for multi-layer networks (document 002, Algorithm 10), divided by a constant batch size."""

from __future__ import annotations

from oracle.algorithms.phased.phased_sgd_plan import RELEASED
from oracle.core.domain import choice, non_negative_integer, positive, probability, unit_interval
from oracle.core.planning import Guarantee, Recipe, flag, said

multilayer = Recipe(
    algorithm="dp-sgd-multilayer",
    summary="DP-SGD with Poisson sampling, clipped gradients and a constant normalisation",
    parameters=(
        positive("sigma", "standard deviation of the noise on the mean gradient"),
        positive("clip_norm", "norm C to which each record's gradient is clipped, over all layers together"),
        positive("batch_size", "the constant by which the sum of clipped gradients is divided"),
        unit_interval("sampling_rate", "probability with which each record enters a step"),
        non_negative_integer("steps"),
        probability("delta"), choice("neighbours", "add_remove", "replace"), RELEASED,
    ),
    optional=(
        flag("poisson", "whether every record is sampled on its own, anew in every step"),
        flag("constant_batch_size", "whether batch_size is a constant, not the size of the sample"),
    ),
    guarantees=(
        Guarantee(
            "dp-sgd-multilayer.epsilon", "composition of sampled Gaussian steps: all iterates may be seen",
            lambda config: {
                name: getattr(config, name) for name in (
                    "sigma", "clip_norm", "batch_size", "sampling_rate", "steps", "delta", "neighbours",
                )
            },
            (
                said("records are sampled independently in every step", "poisson"),
                said("the sum is divided by a constant, and so is the noise", "constant_batch_size"),
            ),
        ),
    ),
    source=("nonconvex-nn/thm-13-privacy",),
)
