"""Noisy gradient descent in the notation of Langevin diffusions: full batches, noise of variance 2 eta sigma^2 a step.

theta <- Pi(theta - eta (mean of n clipped gradients + lambda theta) + N(0, 2 eta sigma^2 I)): the noise on the mean
gradient has standard deviation sigma sqrt(2/eta), which is rounded down where a bound asks for it.
"""

from __future__ import annotations

import math
from fractions import Fraction

from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values

_DIGITS = 10**60


def root_below(square: Fraction) -> Fraction:
    """A square root to thirty significant digits or more, rounded down: the safe side for noise."""
    scale = _DIGITS * max(1, -(-square.denominator // square.numerator)) ** 2
    return Fraction(math.isqrt(square.numerator * scale // square.denominator), math.isqrt(scale))


def noise_on_the_mean(config: Values) -> Fraction:
    """sigma sqrt(2/eta), rounded down."""
    return root_below(2 * config.diffusion**2 / config.learning_rate)


def contracting(config: Values) -> bool | None:
    """Whether step_size <= 2/(strong_convexity + smoothness), for curvatures that suit each other."""
    lam, beta = config.regularisation, config.smoothness
    return None if beta is None else bool(lam <= beta and config.learning_rate * (lam + beta) <= 2)


LAST = equals("only the last iterate is released", "released", "last_iterate")
CONVEX = said("every record's loss, the ridge apart, is convex", "convex")
SCALAR = said("clipping keeps it convex: one output", "scalar_output")
CONTRACTS = Hypothesis("every step contracts: step_size <= 2/(strong_convexity + smoothness)", contracting)
SMOOTHNESS = vocabulary.smoothness
FLAGS = (
    vocabulary.convex,
    vocabulary.scalar_output,
)
_HIDDEN = (REPLACE, LAST, CONVEX, SCALAR, CONTRACTS)

langevin_gd = Recipe(
    algorithm="langevin-gd",
    summary="full-batch noisy gradient descent, noise of variance 2 step_size sigma^2",
    parameters=(
        vocabulary.dataset_size, vocabulary.steps,
        vocabulary.clip_norm.finite(),
        vocabulary.diffusion, vocabulary.learning_rate,
        vocabulary.regularisation.above(0), vocabulary.delta.open(),
        vocabulary.neighbours,
        vocabulary.released,
    ),
    optional=(SMOOTHNESS, *FLAGS),
    guarantees=(
        Guarantee(
            "langevin.epsilon", "hidden state, by Chourasia, Ye and Shokri's formula",
            lambda config: None if config.smoothness is None else {
                "sensitivity": 2 * config.clip_norm, "dataset_size": config.dataset_size, "sigma": config.diffusion,
                "strong_convexity": config.regularisation, "smoothness": config.smoothness,
                "step_size": config.learning_rate, "steps": config.steps, "delta": config.delta,
            },
            _HIDDEN,
        ),
        Guarantee(
            "noisy-gd.mu", "hidden state, by the best shifts",
            lambda config: {
                "sensitivity": 2 * config.clip_norm, "dataset_size": config.dataset_size,
                "sigma": noise_on_the_mean(config), "contraction": 1 - config.learning_rate * config.regularisation,
                "steps": config.steps,
            },
            _HIDDEN,
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {
                "sigma": noise_on_the_mean(config), "sensitivity": 2 * config.clip_norm / config.dataset_size,
                "steps": config.steps, "delta": config.delta,
            },
            (REPLACE,),
        ),
    ),
    source=("background/chourasia21", "background/bok-gd"),
)
