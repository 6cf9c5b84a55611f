"""Gradient descent on generalised linear models, without privacy: the literal reference (document 004).

    theta_t = theta_{t-1} - eta (1/n) sum_i grad h(theta_{t-1}; x_i, y_i),    t = 1, ..., T.

The output is the average iterate (1/T) (theta_1 + ... + theta_T) or the last one; the slide's average lacks the 1/T.
"Pick an initial point": theta_0 ~ N(0, initial_std^2 I) from the tape, or 0 where initial_std = 0. The losses h are
those of `glm`. The private descents are compared with it; nothing protects the records, and nothing is
guaranteed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data of the loss."""
    glm.check_data(features, labels, loss=config.loss)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average or last iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta = float(config.learning_rate)
    records, dimension = features.shape
    theta = float(config.initial_std) * tape.normal("initial", 0, dimension)[0]
    iterates = np.zeros(dimension)
    for step in range(config.steps):
        total = np.zeros(dimension)
        for i in range(records):
            gradient = glm.residual(config.loss, float(features[i] @ theta), float(labels[i])) * features[i]
            total += gradient
            if recorder is not None:
                recorder("sample", step=step, sample=i, norm=float(np.linalg.norm(gradient)))
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=0.0)
        theta = theta - eta * total / records
        iterates += theta
    average: Array = iterates / config.steps
    return theta if config.iterate == "last" else average


gd = Algorithm(
    name="gd",
    document="004, Gradient Descent",
    summary="gradient descent without privacy, the average or the last iterate",
    parameters=(vocabulary.steps.at_least(1),),
    training=(
        vocabulary.loss.choosing(*glm.LOSSES), vocabulary.learning_rate, vocabulary.initial_std, vocabulary.iterate,
    ),
    released="output",
    neighbours="any",
    check=check,
    reference=train,
    batched="oracle.algorithms.descent.torch_gd:twin",
    source=("cs208/gd-output-repaired",),
)
