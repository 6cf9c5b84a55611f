"""NoisyGD and NoisyCGD: the literal reference (document 000, eq. 2.4).

One epoch passes over the fixed disjoint batches B_1, ..., B_k of size b in order; each step is

    theta <- theta - eta ( (1/b) sum_{i in B_j} clip(grad h(theta; x_i, y_i), C) + lambda theta + Z )

with Z ~ N(0, sigma^2 I), and the last iterate is released. NoisyGD is the case of one batch. sigma is the
standard deviation of the noise on the mean gradient. Losses h (lambda is added by the algorithm, unclipped):

    linear    h = -<x, theta>                  the worst case: its steps are affine and its releases exactly Gaussian
    squared   h = (<x, theta> - y)^2 / 2
    logistic  h = log(1 + e^{<x, theta>}) - y <x, theta>,  y in {0, 1}

The gradient of each is r x with a scalar r that does not decrease in <x, theta>; clipping keeps that, so every step
contracts by c = max(|1 - eta lambda|, |1 - eta (lambda + beta)|), beta the largest curvature on |x| <= feature_norm.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.domain import choice, non_negative, positive, positive_integer
from oracle.errors import DomainError
from oracle.registry import Algorithm, Values
from oracle.tape import Tape

Array = NDArray[np.float64]

LOSSES = ("linear", "squared", "logistic")
_CURVATURE = {"linear": Fraction(0), "squared": Fraction(1), "logistic": Fraction(1, 4)}


def residual(loss: str, score: float, label: float) -> float:
    """The scalar r of the gradient r x."""
    if loss == "linear":
        return -1.0
    if loss == "squared":
        return score - label
    return float(0.5 * (1.0 + np.tanh(0.5 * score)) - label)


def batches(config: Values, records: int) -> int:
    """The number k of batches; the batch size must divide the number of records."""
    if records < 1 or records % config.batch_size:
        raise DomainError(f"batch_size = {config.batch_size} is outside its domain: a divisor of the {records} records")
    return int(records // config.batch_size)


def check_data(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    if features.ndim != 2 or labels.shape != (features.shape[0],):
        raise DomainError(f"features of shape {features.shape} and labels of shape {labels.shape} are no data set")
    if not (np.isfinite(features).all() and np.isfinite(labels).all()):
        raise DomainError("features or labels contain a value that is not finite")
    batches(config, features.shape[0])
    largest = float(np.linalg.norm(features, axis=1).max())
    if largest > float(config.feature_norm) * (1 + 1e-12):
        raise DomainError(f"features have norm {largest}, above the declared feature_norm = {config.feature_norm}")
    if config.loss == "logistic" and not np.isin(labels, (0.0, 1.0)).all():
        raise DomainError("labels of the logistic loss must be 0 or 1")


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate of one model: the text of the algorithm, sample by sample."""
    check_data(features, labels, config)
    eta, lam, sigma, clip_norm = (float(v) for v in (config.eta, config.lam, config.sigma, config.clip_norm))
    records, dimension = features.shape
    theta = np.zeros(dimension)
    step = 0
    for _ in range(config.epochs):
        for start in range(0, records, config.batch_size):
            total = np.zeros(dimension)
            for i in range(start, start + config.batch_size):
                gradient = residual(config.loss, float(features[i] @ theta), float(labels[i])) * features[i]
                norm = float(np.linalg.norm(gradient))
                total += gradient * min(1.0, clip_norm / norm) if norm > 0 else gradient
                if recorder is not None:
                    recorder("sample", step=step, sample=i, norm=norm)
            noise = sigma * tape.normal("noise", step, dimension)[0]
            if recorder is not None:
                recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
            theta = theta - eta * (total / config.batch_size + lam * theta + noise)
            step += 1
    return theta


def contraction(config: Values) -> Fraction:
    """c = max(|1 - eta lambda|, |1 - eta (lambda + beta)|), beta = curvature * feature_norm^2, exactly."""
    beta = _CURVATURE[config.loss] * config.feature_norm**2
    factors = [1 - config.eta * config.lam, 1 - config.eta * (config.lam + beta)]
    return max(abs(Fraction(factor)) for factor in factors)


def account(config: Values, records: int) -> dict[str, Fraction | int]:
    """The parameters of noisy-cgd.mu for this configuration (replace-one: gradient sensitivity 2C)."""
    c = contraction(config)
    if c > 1:
        raise DomainError(
            f"eta = {config.eta} is outside its domain: steps of this loss expand (contraction {float(c):.6g} > 1), "
            "so the last-iterate bound does not apply"
        )
    return {
        "sensitivity": 2 * config.clip_norm,
        "batch_size": config.batch_size,
        "sigma": config.sigma,
        "contraction": c,
        "batches": batches(config, records),
        "epochs": config.epochs,
    }


noisy_cgd = Algorithm(
    name="noisy-cgd",
    summary="noisy cyclic mini-batch gradient descent over fixed disjoint batches; one batch is NoisyGD",
    parameters=(
        choice("loss", *LOSSES),
        positive("eta", "step size"),
        non_negative("lam", "l2-regularisation, added after clipping"),
        positive("clip_norm", "per-sample clipping norm C"),
        positive("sigma", "standard deviation of the noise on the mean gradient"),
        positive_integer("batch_size"),
        positive_integer("epochs"),
        positive("feature_norm", "declared bound on |x|, on which the curvature depends"),
    ),
    released="last_iterate",
    neighbours="replace",
    accounted_by="noisy-cgd.mu",
    account=account,
    reference=train,
    batched="oracle.training.torch_noisy_cgd:train",
    gaussian_release=lambda config: config.loss == "linear",
    source=("relu-approx/thm-2.8-formula",),
)
