"""Noisy SGD on sampled batches: hidden state, or composition over all iterates.

theta <- Pi(theta - eta (sum of the batch's clipped gradients / b + lambda theta + N(0, noise_on_mean^2 I))), a batch of
b records without replacement, or every record with probability b/n on its own (the sum is divided by b all the same);
Pi projects on a convex set, if a diameter is given.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.algorithms.shared.conditions import (
    CLIPPED_RUN,
    CONVEX,
    LAST,
    LOSS_FACTS,
    PLANNED,
    REPLACE,
    SCALAR,
    WITHOUT_REPLACEMENT,
)
from oracle.algorithms.shared.constant_size import FITS
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, towards


def _contraction(config: Values) -> Fraction | None:
    """The Lipschitz constant of the step, for every batch.

    Curvatures lie between lambda and lambda + k (beta - lambda), k = 1 for a mean over b records; a Poisson batch may
    be empty, or hold all n records, k = n/b.
    """
    if config.smoothness is None:
        return None
    rate, ridge, smoothness = map(Fraction, (config.learning_rate, config.regularisation, config.smoothness))
    longest = Fraction(config.dataset_size, config.batch_size) if config.sampling == "poisson" else 1
    return max(abs(1 - rate * curvature) for curvature in (ridge, ridge + longest * (smoothness - ridge)))


def _contracts(config: Values) -> bool | None:
    contraction = _contraction(config)
    return None if contraction is None else contraction <= 1


def _hidden(config: Values) -> dict[str, Any] | None:
    contraction = _contraction(config)
    if contraction is None:
        return None
    return {
        "sensitivity": 2 * config.clip_norm, "dataset_size": config.dataset_size, "batch_size": config.batch_size,
        "noise_on_mean": config.noise_on_mean, "contraction": contraction, "learning_rate": config.learning_rate,
        "diameter": "inf" if config.diameter is None else config.diameter, "steps": config.steps,
    }


def _composed(config: Values) -> dict[str, Any]:
    return {
        "sigma": config.noise_on_mean * config.batch_size / config.clip_norm,
        "sampling_rate": Fraction(config.batch_size, config.dataset_size), "steps": config.steps,
    }


# Of a run only iterates are released, so that the batches stay secret; the divisor is batch_size, whatever was drawn.
_SAMPLED = by_design("short-terms", "gaussian-noise", "secret-batches")

noisy_sgd = Algorithm(
    name="noisy-sgd",
    document="000, Section 2.3; Bok, Su and Altschuler 2024",
    summary="noisy stochastic gradient descent on batches sampled anew at each step",
    parameters=(
        vocabulary.learning_rate, vocabulary.regularisation, vocabulary.clip_norm.finite(),
        vocabulary.noise_on_mean.above(0), vocabulary.batch_size, vocabulary.steps.at_least(1),
        vocabulary.sampling.choosing("without_replacement", "poisson"),
    ),
    setting=PLANNED,
    stated=(*LOSS_FACTS, vocabulary.diameter.finite().above(0)),
    released="last_iterate",
    neighbours="any",
    guarantees=(
        Guarantee(
            "noisy-sgd.epsilon", "hidden state: only the last iterate is seen", _hidden,
            (
                REPLACE, *towards("fresh-batches", FITS), LAST, CONVEX, SCALAR,
                Condition("contracting-steps", _contracts, "every step contracts, whatever the batch"),
                *CLIPPED_RUN, *by_design("fresh-batches", "secret-batches", "bounded-set"),
            ),
        ),
        Guarantee(
            "wor-gaussian.epsilon", "composition by Renyi DP: all iterates may be seen, no convexity needed", _composed,
            (REPLACE, WITHOUT_REPLACEMENT, *towards("without-replacement", FITS), *_SAMPLED),
        ),
        Guarantee(
            "poisson-gaussian.epsilon", "composition: all iterates may be seen, no convexity needed",
            lambda config: {**_composed(config), "neighbours": config.neighbours},
            (FITS, equals("poisson-sampling", "sampling", "poisson"), *_SAMPLED, *by_design("constant-divisor")),
        ),
    ),
    source=("background/bok-sgd",),
)
