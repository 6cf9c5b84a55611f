"""DP-SGD for multi-layer networks (document 002, Algorithm 10), divided by a constant batch size."""

from __future__ import annotations

from oracle.core import vocabulary
from oracle.core.algorithm import Guarantee, Recipe, equals, said

multilayer = Recipe(
    algorithm="dp-sgd-multilayer",
    summary="DP-SGD with Poisson sampling, clipped gradients and a constant normalisation",
    parameters=(
        vocabulary.noise_on_mean.above(0),
        vocabulary.clip_norm.finite(),
        vocabulary.batch_size,
        vocabulary.sampling_rate,
        vocabulary.steps,
        vocabulary.delta.open(), vocabulary.neighbours, vocabulary.released,
    ),
    optional=(
        vocabulary.sampling, vocabulary.constant_divisor,
    ),
    guarantees=(
        Guarantee(
            "dp-sgd-multilayer.epsilon", "composition of sampled Gaussian steps: all iterates may be seen",
            lambda config: {
                "divisor": config.batch_size, **{
                    name: getattr(config, name)
                    for name in ("noise_on_mean", "clip_norm", "sampling_rate", "steps", "delta", "neighbours")
                },
            },
            (
                equals("records are sampled independently in every step", "sampling", "poisson"),
                said("the sum is divided by a constant, and so is the noise", "constant_divisor"),
            ),
        ),
    ),
    source=("nonconvex-nn/thm-13-privacy",),
)
