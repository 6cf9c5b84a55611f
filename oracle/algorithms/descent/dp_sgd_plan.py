"""Gradient descent on random batches of clipped gradients with Gaussian noise (document 004), by how batches are drawn.

Every step divides the sum of the batch's clipped gradients by the constant batch_size and adds N(0, noise_std^2 I).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.algorithms.descent.dp_gd_plan import CLIPPED
from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Hypothesis, Recipe, equals, said
from oracle.core.registry import Values


def _multiplier(config: Values) -> Fraction:
    """The noise on the sum of the batch in units of clip_norm."""
    return Fraction(config.noise_on_mean * config.batch_size / config.clip_norm)


def _poisson(config: Values) -> dict[str, Any]:
    return {
        "clip_norm": config.clip_norm, "dataset_size": config.dataset_size, "batch_size": config.batch_size,
        "noise_std": config.noise_on_mean, "steps": config.steps, "delta": config.delta, "neighbours": config.neighbours,
    }


def _without_replacement(config: Values) -> dict[str, Any]:
    return {
        "sigma": _multiplier(config), "sampling_rate": Fraction(config.batch_size, config.dataset_size),
        "steps": config.steps, "delta": config.delta,
    }


def _unsampled(config: Values) -> dict[str, Any]:
    return {
        "sigma": _multiplier(config), "sensitivity": 2 if config.neighbours == "replace" else 1, "steps": config.steps,
        "delta": config.delta,
    }


FITS = Hypothesis("batch_size is at most dataset_size", lambda config: config.batch_size <= config.dataset_size)
DIVISOR = said("the sum is divided by the constant batch_size, not by the number drawn", "constant_divisor")
SECRET = said("which records were drawn stays secret", "secret_batches")
# Where a record joins or leaves, a sample of fixed size changes in another record too.
ONE_TERM = Hypothesis(
    "a record is in a batch at most once, and its coming or going leaves the others' places alone",
    lambda config: config.sampling == "poisson"
    or (config.sampling == "without_replacement" and config.neighbours == "replace"),
)

dp_sgd = Recipe(
    algorithm="dp-sgd",
    summary="gradient descent on the noisy means of random batches of clipped gradients",
    parameters=(
        vocabulary.dataset_size, vocabulary.batch_size,
        vocabulary.clip_norm.finite(),
        vocabulary.noise_on_mean.above(0),
        vocabulary.steps.at_least(1), vocabulary.delta.open(), vocabulary.neighbours,
        vocabulary.sampling.choosing("poisson", "without_replacement", "with_replacement"),
    ),
    optional=(
        vocabulary.clipped,
        vocabulary.constant_divisor,
        vocabulary.secret_batches, FIXED_SIZE,
    ),
    guarantees=(
        Guarantee(
            "dp-sgd.epsilon", "amplification by Poisson sampling, composed exactly", _poisson,
            (
                equals("every record enters a batch with probability batch_size/dataset_size", "sampling", "poisson"),
                FITS, CLIPPED, DIVISOR, SECRET, CONSTANT,
            ),
        ),
        Guarantee(
            "wor-gaussian.epsilon", "amplification by sampling without replacement", _without_replacement,
            (
                REPLACE, equals("batches are drawn without replacement", "sampling", "without_replacement"), FITS,
                CLIPPED, SECRET,
            ),
        ),
        Guarantee(
            "gaussian-composed.epsilon", "composition without amplification: the batches may be known", _unsampled,
            (CLIPPED, DIVISOR, ONE_TERM, CONSTANT),
        ),
    ),
    source=("cs208/dp-sgd",),
)
