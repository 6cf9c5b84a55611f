"""DP-GD on generalised linear models: the literal reference (document 004, DP Gradient Descent).

    theta_t = theta_{t-1} - eta ( (1/n) sum_i clip(grad h(theta_{t-1}; x_i, y_i), C) + Z_t ),    t = 1, ..., T,

with Z_t ~ N(0, sigma^2 I), sigma = noise_on_mean, and theta_0 = 0; the average iterate (1/T) (theta_1 + ... + theta_T)
is released. The losses h are those of `glm`.

What is fixed here. The slide clips by max(1, C/|g|), which leaves long gradients long and lengthens short ones: it is
min(1, C/|g|). Its average lacks the 1/T. Its noise ("TBD") is given by the caller, and the guarantee says what it
is worth: a replaced record moves the mean by 2C/n, not by the slide's C/n, which is for one added or removed. n is a
declared constant (see `constant_size`). The guarantee covers all iterates, so the slide's other output, theta_T, is
covered, too: that one is `noisy-cgd` with one batch and lambda = 0. No step size and no convexity is asked for.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import CONSTANT_SIZE
from oracle.algorithms.shared.constant_size import DECLARED_SIZE, check_size
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, given, said
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data of the loss, as many as the relation allows."""
    glm.check_data(features, labels, loss=config.loss)
    check_size(config, features.shape[0])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, clip_norm, sigma = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_on_mean))
    records, dimension = features.shape
    theta = np.zeros(dimension)
    iterates = np.zeros(dimension)
    for step in range(config.steps):
        total = np.zeros(dimension)
        for i in range(records):
            gradient = glm.residual(config.loss, float(features[i] @ theta), float(labels[i])) * features[i]
            total += glm.clip(gradient, clip_norm)
            if recorder is not None:
                recorder("sample", step=step, sample=i, norm=float(np.linalg.norm(gradient)))
        noise = sigma * tape.normal("noise", step, dimension)[0]
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
        theta = theta - eta * (total / config.dataset_size + noise)
        iterates += theta
    average: Array = iterates / config.steps
    return average


def composed(config: Values, longest: Fraction) -> dict[str, Any]:
    """The parameters of dp-gd.epsilon where no record's gradient is longer than that: all iterates, composed."""
    return {
        "clip_norm": longest, "dataset_size": config.dataset_size, "noise_on_mean": config.noise_on_mean,
        "steps": config.steps, "neighbours": config.neighbours,
    }


CLIPPED = said(
    "short-gradients", "clipped", "every record's gradient g is clipped by itself: g min(1, clip_norm/|g|)"
)
FULL = (DECLARED_SIZE, CONSTANT_SIZE, *by_design("gaussian-noise", "only-noisy-gradients", "full-batches"))
"""What full-batch descent with noise is, and what it needs besides short gradients."""
WORDS = "composition: exact, all iterates may be seen, no convexity needed"




def _idle(config: Values) -> bool | None:
    """Whether no gradient can be longer than the clipping norm, by what is declared of the losses."""
    declared = config.convex_lipschitz == "true" and config.lipschitz is not None
    return True if declared and config.lipschitz <= config.clip_norm else None


MEAN_RISK = (
    equals("judged-average", "released", "average_iterate"),
    Condition(
        "full-batches", lambda config: True if config.neighbours == "replace" else None,
        "the divisor is the number of records: neighbours = replace",
    ),
    *by_design("excess-empirical-risk", "gaussian-noise", "convex-set"),
)
"""What the risk of a full-batch descent asks of it, besides its losses and its set."""


def _risk(config: Values) -> dict[str, Any] | None:
    names = ("distance", "lipschitz", "dimension", "noise_on_mean", "steps", "learning_rate")
    values = {name: getattr(config, name) for name in names}
    return None if None in values.values() else values


dp_gd = Algorithm(
    name="dp-gd",
    document="004, DP Gradient Descent",
    summary="full-batch gradient descent on the noisy mean of clipped gradients, the average iterate",
    parameters=(
        vocabulary.clip_norm.finite(), vocabulary.noise_on_mean.above(0), vocabulary.steps.at_least(1),
        vocabulary.dataset_size, vocabulary.neighbours,
    ),
    training=(vocabulary.loss.choosing(*glm.LOSSES), vocabulary.learning_rate),
    setting=(vocabulary.delta.open(), vocabulary.released),
    stated=(
        vocabulary.clipped, vocabulary.fixed_size, vocabulary.convex_lipschitz, vocabulary.lipschitz,
        vocabulary.distance, vocabulary.dimension,
    ),
    trained=lambda config: {"clipped": "true", "fixed_size": "true"},
    released="average_iterate",
    neighbours="any",
    guarantees=(
        Guarantee(
            "dp-gd.epsilon", WORDS, lambda config: composed(config, config.clip_norm),
            (CLIPPED, *FULL),
        ),
    ),
    risks=(
        Guarantee(
            "dp-gd.risk", "the average iterate, in expectation", _risk,
            (
                *MEAN_RISK, said("lipschitz-losses", "convex_lipschitz"), given("start-at-distance", "distance"),
                Condition("unclipped", _idle, "clipping never acts: lipschitz, of losses as they are, <= clip_norm"),
                given("counted-directions", "dimension"),
            ),
        ),
    ),
    check=check,
    reach=lambda config, count: glm.reach(config, config.steps, Fraction(count, config.dataset_size)),
    reference=train,
    batched="oracle.algorithms.descent.torch_dp_gd:twin",
    gaussian_release=lambda config: config.loss == "linear",
    source=("cs208/dp-gd-sensitivity-repaired", "cs208/clip-repaired", "cs208/gd-output-repaired"),
)
