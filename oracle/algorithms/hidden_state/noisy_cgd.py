"""NoisyGD and NoisyCGD: the literal reference (document 000, eq. 2.4).

One epoch passes over the fixed disjoint batches B_1, ..., B_k of size b in order; each step is

    theta <- theta - eta ( (1/b) sum_{i in B_j} clip(grad h(theta; x_i, y_i), C) + lambda theta + Z )

with Z ~ N(0, sigma^2 I), sigma = noise_on_mean, and the last iterate is released. NoisyGD is the case of one batch. The
losses h are those of `glm` (lambda is added by the algorithm, unclipped). Every step contracts by c = max(|1 - eta
lambda|, |1 - eta (lambda + beta)|), beta the largest curvature on |x| <= feature_norm, since clipping keeps r
non-decreasing. Under replace-one the mean gradient moves by 2C/b against noise sigma, once an epoch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import (
    DISJOINT_BATCHES,
    HIDDEN_STATE,
    LOSS_FACTS,
    PLANNED,
    REPLACE,
    contraction,
)
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, towards
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    glm.check_data(features, labels, feature_norm=config.feature_norm, loss=config.loss)
    glm.batches(config.batch_size, features.shape[0])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, lam, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm))
    sigma = float(config.noise_on_mean)
    records, dimension = features.shape
    theta = np.zeros(dimension)
    step = 0
    for _ in range(config.epochs):
        for start in range(0, records, config.batch_size):
            total = np.zeros(dimension)
            for i in range(start, start + config.batch_size):
                gradient = glm.residual(config.loss, float(features[i] @ theta), float(labels[i])) * features[i]
                total += glm.clip(gradient, clip_norm)
                if recorder is not None:
                    recorder("sample", step=step, sample=i, norm=float(np.linalg.norm(gradient)))
            noise = sigma * tape.normal("noise", step, dimension)[0]
            if recorder is not None:
                recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
            theta = theta - eta * (total / config.batch_size + lam * theta + noise)
            step += 1
    return theta


def facts(config: Values) -> dict[str, Any]:
    """What the loss is known for on |x| <= feature_norm: its curvature, ridge included, and that it is convex."""
    if config.loss is None or config.feature_norm is None:
        return {}
    curvature = glm.CURVATURE[config.loss] * config.feature_norm**2
    return {"smoothness": config.regularisation + curvature, "convex": "true", "scalar_output": "true"}


def hidden(config: Values) -> dict[str, Any] | None:
    """The parameters of noisy-cgd.mu: the record moves a batch's sum by 2C at most, once an epoch."""
    factor = contraction(config)
    if factor is None:
        return None
    return {
        "sensitivity": 2 * config.clip_norm, "batch_size": config.batch_size, "noise_on_mean": config.noise_on_mean,
        "contraction": factor, "batches": config.dataset_size // config.batch_size, "epochs": config.epochs,
    }


HIDDEN = Guarantee(
    "noisy-cgd.mu", "hidden state: only the last iterate is seen", hidden, (*HIDDEN_STATE, DISJOINT_BATCHES)
)
COMPOSED = Guarantee(
    "gaussian-composed.epsilon", "composition: all iterates may be seen, no convexity needed",
    lambda config: {
        "sigma": config.noise_on_mean, "sensitivity": 2 * config.clip_norm / config.batch_size, "steps": config.epochs,
    },
    (*towards("l2-sensitivity", REPLACE, DISJOINT_BATCHES), *by_design("gaussian-noise")),
)
KEYS = (
    vocabulary.learning_rate, vocabulary.regularisation, vocabulary.clip_norm.finite(),
    vocabulary.noise_on_mean.above(0), vocabulary.batch_size, vocabulary.epochs.at_least(1),
)

noisy_cgd = Algorithm(
    name="noisy-cgd",
    document="000, eq. 2.4",
    summary="noisy cyclic mini-batch gradient descent over fixed disjoint batches; one batch is NoisyGD",
    parameters=KEYS,
    training=(vocabulary.loss.choosing(*glm.LOSSES), vocabulary.feature_norm),
    setting=PLANNED,
    stated=LOSS_FACTS,
    facts=facts,
    released="last_iterate",
    neighbours="replace",
    guarantees=(HIDDEN, COMPOSED),
    check=check,
    reach=lambda config, count: glm.reach(config, config.epochs * (count // config.batch_size)),
    reference=train,
    batched="oracle.algorithms.hidden_state.torch_noisy_cgd:twin",
    gaussian_release=lambda config: config.loss == "linear",
    source=("relu-approx/thm-2.8-formula",),
)
