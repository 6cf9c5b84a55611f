"""What the literal trainings of generalised linear models share: losses, clipping, and checks of data.

A loss h depends on theta through the score <x, theta>, so that its gradient is r x with a scalar r:

    linear    h = -<x, theta>                  the worst case: its steps are affine and its releases exactly Gaussian
    squared   h = (<x, theta> - y)^2 / 2
    logistic  h = log(1 + e^{<x, theta>}) - y <x, theta>,  y in {0, 1}

r does not decrease in the score, and clipping keeps that. The curvature is the largest derivative of r.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace as Values

import numpy as np
from numpy.typing import NDArray

from oracle.core import records
from oracle.core.errors import DomainError

Array = NDArray[np.float64]

LOSSES = ("linear", "squared", "logistic")
CURVATURE = {"linear": Fraction(0), "squared": Fraction(1), "logistic": Fraction(1, 4)}


def residual(loss: str, score: float, label: float) -> float:
    """The scalar r of the gradient r x."""
    if loss == "linear":
        return -1.0
    if loss == "squared":
        return score - label
    return float(0.5 * (1.0 + np.tanh(0.5 * score)) - label)


def clip(gradient: Array, clip_norm: float) -> Array:
    """The gradient, shortened to norm C if it is longer; zero stays zero."""
    norm = float(np.linalg.norm(gradient))
    return gradient * min(1.0, clip_norm / norm) if norm > 0 else gradient


def reach(config: Values, steps: int, share: Fraction = Fraction(1)) -> float:
    """How far steps on a mean of clipped gradients, with a ridge if there is one, may carry the weights (`records`).

    `share` is the largest number of gradients in a mean over its divisor.
    """
    ridge = getattr(config, "regularisation", Fraction(0))
    return records.reach(
        steps=steps, learning_rate=config.learning_rate, gradient=config.clip_norm * max(share, Fraction(1)),
        noise=config.noise_on_mean, factor=abs(1 - config.learning_rate * ridge),
    )


def check_data(features: Array, labels: Array, *, feature_norm: Fraction | None = None, loss: str = "") -> None:
    """A DomainError unless these are data: one row a record, finite, within the declared norm, labels of the loss."""
    records.check(features, labels)
    if feature_norm is not None:
        largest = float(records.lengths(features).max())
        if largest > float(feature_norm) * (1 + 1e-12):
            raise DomainError(f"features have norm {largest}, above the declared feature_norm = {feature_norm}")
    if loss == "logistic" and not np.isin(labels, (0.0, 1.0)).all():
        raise DomainError("labels of the logistic loss must be 0 or 1")


def batches(batch_size: int, records: int) -> int:
    """The number of batches; the batch size must divide the number of records: no record is dropped in silence."""
    if records < 1 or records % batch_size:
        raise DomainError(f"batch_size = {batch_size} is outside its domain: a divisor of the {records} records")
    return records // batch_size
