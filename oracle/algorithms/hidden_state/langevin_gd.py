"""Noisy gradient descent in the notation of Langevin diffusions: full batches, noise of variance 2 eta sigma^2 a step.

theta <- Pi(theta - eta (mean of n clipped gradients + lambda theta) + N(0, 2 eta sigma^2 I)): the noise on the mean
gradient has standard deviation sigma sqrt(2/eta), which is rounded down where a bound asks for it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from oracle.algorithms.shared.conditions import CLIPPED_RUN, CONVEX, LAST, LOSS_FACTS, PLANNED, REPLACE, SCALAR
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, towards

_DIGITS = 10**60


def root_below(square: Fraction) -> Fraction:
    """A square root to thirty significant digits or more, rounded down: the safe side for noise."""
    scale = _DIGITS * max(1, -(-square.denominator // square.numerator)) ** 2
    return Fraction(math.isqrt(square.numerator * scale // square.denominator), math.isqrt(scale))


def noise_on_the_mean(config: Values) -> Fraction:
    """sigma sqrt(2/eta), rounded down."""
    return root_below(2 * config.diffusion**2 / config.learning_rate)


def contracting(config: Values) -> bool | None:
    """Whether learning_rate <= 2/(regularisation + smoothness), for curvatures that suit each other."""
    lam, beta = config.regularisation, config.smoothness
    return None if beta is None else bool(lam <= beta and config.learning_rate * (lam + beta) <= 2)


CONTRACTS = Condition(
    "contracting-steps", contracting, "every step contracts: learning_rate <= 2/(regularisation + smoothness)"
)
_RUN = (REPLACE, LAST, *CLIPPED_RUN, *by_design("full-batches"))
_LOSSES = (CONVEX, SCALAR, CONTRACTS)

langevin_gd = Algorithm(
    name="langevin-gd",
    document="001, Section 2; Chourasia, Ye and Shokri 2021",
    summary="full-batch noisy gradient descent, noise of variance 2 learning_rate diffusion^2",
    parameters=(
        vocabulary.learning_rate, vocabulary.regularisation.above(0), vocabulary.clip_norm.finite(),
        vocabulary.diffusion, vocabulary.steps,
    ),
    setting=PLANNED,
    stated=LOSS_FACTS,
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "langevin.epsilon", "hidden state, by Chourasia, Ye and Shokri's formula",
            lambda config: None if config.smoothness is None else {
                "sensitivity": 2 * config.clip_norm, "dataset_size": config.dataset_size, "diffusion": config.diffusion,
                "strong_convexity": config.regularisation, "smoothness": config.smoothness,
                "learning_rate": config.learning_rate, "steps": config.steps,
            },
            (*_RUN, *towards("strongly-convex-losses", *_LOSSES)),
        ),
        Guarantee(
            "noisy-gd.mu", "hidden state, by the best shifts",
            lambda config: {
                "sensitivity": 2 * config.clip_norm, "dataset_size": config.dataset_size,
                "noise_on_mean": noise_on_the_mean(config),
                "contraction": 1 - config.learning_rate * config.regularisation, "steps": config.steps,
            },
            (*_RUN, *_LOSSES),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": noise_on_the_mean(config), "sensitivity": 2 * config.clip_norm / config.dataset_size,
                "steps": config.steps,
            },
            (*towards("l2-sensitivity", REPLACE), *by_design("gaussian-noise")),
        ),
    ),
    source=("background/chourasia21", "background/bok-gd"),
)
