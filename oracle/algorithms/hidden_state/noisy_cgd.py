"""NoisyGD and NoisyCGD: the literal reference (document 000, eq. 2.4).

One epoch passes over the fixed disjoint batches B_1, ..., B_k of size b in order; each step is

    theta <- theta - eta ( (1/b) sum_{i in B_j} clip(grad h(theta; x_i, y_i), C) + lambda theta + Z )

with Z ~ N(0, sigma^2 I), and the last iterate is released. NoisyGD is the case of one batch. sigma is the
standard deviation of the noise on the mean gradient. The losses h are those of `glm` (lambda is added by the algorithm,
unclipped). Every step contracts by c = max(|1 - eta lambda|, |1 - eta (lambda + beta)|), beta the largest curvature on
|x| <= feature_norm, since clipping keeps r non-decreasing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    glm.check_data(features, labels, feature_norm=config.feature_norm, loss=config.loss)
    glm.batches(config.batch_size, features.shape[0])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, lam, sigma, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.noise_on_mean, config.clip_norm))
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


def contraction(config: Values) -> Fraction:
    """c = max(|1 - eta lambda|, |1 - eta (lambda + beta)|), beta = curvature * feature_norm^2, exactly."""
    beta = glm.CURVATURE[config.loss] * config.feature_norm**2
    factors = [1 - config.learning_rate * config.regularisation, 1 - config.learning_rate * (config.regularisation + beta)]
    return max(abs(Fraction(factor)) for factor in factors)


def account(config: Values, records: int) -> dict[str, Fraction | int]:
    """The parameters of noisy-cgd.mu for this configuration."""
    return cyclic_account(config, records, contraction(config))


def cyclic_account(config: Values, records: int, c: Fraction) -> dict[str, Fraction | int]:
    """The parameters of noisy-cgd.mu for steps that contract by c (replace-one: gradient sensitivity 2C)."""
    if c > 1:
        raise DomainError(
            f"eta = {config.learning_rate} is outside its domain: steps of this loss expand (contraction {float(c):.6g} > 1), "
            "so the last-iterate bound does not apply"
        )
    return {
        "sensitivity": 2 * config.clip_norm,
        "batch_size": config.batch_size,
        "sigma": config.noise_on_mean,
        "contraction": c,
        "batches": glm.batches(config.batch_size, records),
        "epochs": config.epochs,
    }


noisy_cgd = Algorithm(
    name="noisy-cgd",
    document="000, eq. 2.4",
    summary="noisy cyclic mini-batch gradient descent over fixed disjoint batches; one batch is NoisyGD",
    parameters=(
        vocabulary.loss.choosing(*glm.LOSSES),
        vocabulary.learning_rate,
        vocabulary.regularisation,
        vocabulary.clip_norm.finite(),
        vocabulary.noise_on_mean.above(0),
        vocabulary.batch_size,
        vocabulary.epochs.at_least(1),
        vocabulary.feature_norm,
    ),
    released="last_iterate",
    neighbours="replace",
    accounted_by="noisy-cgd.mu",
    account=account,
    reference=train,
    batched="oracle.algorithms.hidden_state.torch_noisy_cgd:train",
    gaussian_release=lambda config: config.loss == "linear",
    source=("relu-approx/thm-2.8-formula",),
)
