r"""The minimiser of a regularised convex risk, by Newton's method, and how far the answer can be from it.

    J(theta) = (1/n) sum_i h(<x_i, theta>, y_i) + (lambda/2) |theta|^2 + <t, theta>        t a given vector, or 0

with losses whose slope r in the score s is at most 1, so that every record's loss is Lipschitz with constant
max |x|, and whose curvature r' is at most that of the table:

    linear        h = -s                          r' = 0
    logistic      h = log(1 + e^s) - y s          r' <= 1/4,   y in {0, 1}
    pseudo-huber  h = sqrt(1 + (s - y)^2) - 1     r' <= 1,     y any number

The squared loss is missing because it is not Lipschitz: no multiple of 1/n bounds how its minimiser moves.

A Newton step is shortened until the gradient gets shorter by a quarter of the step. That always ends, since J is
strongly convex with a smooth Hessian. The method stops where the computed gradient is below what rounding alone can
make of it (`rounding`); a gradient g of the true J has a minimiser within |g| / lambda, hence the certificate

    |theta - argmin J| <= (|computed gradient| + rounding) / lambda.

How large that can be is known before the data are seen (`worst_distance`), so that no run need be refused for them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core.errors import OracleError

LOSSES = ("linear", "logistic", "pseudo-huber")
CURVATURE = {**{loss: glm.CURVATURE[loss] for loss in ("linear", "logistic")}, "pseudo-huber": Fraction(1)}
MOST_STEPS = 200
MOST_HALVINGS = 50


def residual(loss: str, score: float, label: float) -> float:
    """The slope r of the loss in the score."""
    if loss == "pseudo-huber":
        return (score - label) / math.sqrt(1.0 + (score - label) ** 2)
    return glm.residual(loss, score, label)


def curvature(loss: str, score: float, label: float) -> float:
    """The derivative of r in the score."""
    if loss == "linear":
        return 0.0
    if loss == "logistic":
        return 0.25 * (1.0 - math.tanh(0.5 * score) ** 2)
    return 1.0 / math.sqrt(1.0 + (score - label) ** 2) ** 3


def rounding(unit: float, shape: tuple[int, int], lipschitz: float, steep: Any, size: Any, tilt: Any) -> Any:
    """A bound on the rounding error of a gradient of J, for numbers of relative spacing `unit`.

    n summands of norm at most L; a score is off by at most d unit |x| |theta|, which `steep`, the largest curvature of
    J, turns into an error of the gradient. `size` is |theta|, `tilt` is |t|.
    """
    records, dimension = shape
    return unit * (records + dimension + 20) * (lipschitz + steep * size + tilt)


def worst_distance(shape: tuple[int, int], loss: str, ridge: float, feature_norm: float) -> float:
    """The largest certified distance from argmin J, t = 0, for data of that shape: infinite where none is promised.

    rounding = k (L + c |theta|) for a k of the shape, c the largest curvature of J. The method stops at a gradient of
    at most that, within 2 rounding / lambda of the minimiser, which is no longer than L / lambda. So

        rounding <= k (L + c (L + 2 rounding) / lambda) = k L (1 + c / lambda) / (1 - 2 k c / lambda).
    """
    steep = float(CURVATURE[loss]) * feature_norm * feature_norm + ridge
    k = rounding(float(np.finfo(np.float64).eps), shape, 1.0, 0.0, 0.0, 0.0)
    left = 1.0 - 2.0 * k * steep / ridge
    if left <= 0.5:
        return math.inf
    return float(1.01 * 2.0 * k * feature_norm * (1.0 + steep / ridge) / left / ridge)  # 1.01 for what is rounded here


def derivatives(
    features: Array, labels: Array, loss: str, ridge: float, tilt: Array, theta: Array
) -> tuple[Array, Array]:
    """Gradient and Hessian of J at theta, record by record."""
    records, dimension = features.shape
    gradient, hessian = np.zeros(dimension), np.zeros((dimension, dimension))
    for x, y in zip(features, labels, strict=True):
        score = float(x @ theta)
        gradient += residual(loss, score, float(y)) * x
        hessian += curvature(loss, score, float(y)) * np.outer(x, x)
    return gradient / records + ridge * theta + tilt, hessian / records + ridge * np.eye(dimension)


def minimise(
    features: Array, labels: Array, loss: str, ridge: float, tilt: Array, feature_norm: float, recorder: Any = None
) -> tuple[Array, float]:
    """The minimiser of J, and a bound on the distance of this answer from it."""
    steep = float(CURVATURE[loss]) * feature_norm * feature_norm + ridge
    spacing = float(np.finfo(np.float64).eps)
    theta = np.zeros(features.shape[1])
    gradient, hessian = derivatives(features, labels, loss, ridge, tilt, theta)
    for step in range(MOST_STEPS):
        length = float(np.linalg.norm(gradient))
        size, tilted = float(np.linalg.norm(theta)), float(np.linalg.norm(tilt))
        noise = rounding(spacing, features.shape, feature_norm, steep, size, tilted)
        if length <= noise:
            return theta, (length + noise) / ridge
        direction = np.linalg.solve(hessian, gradient)
        part = 1.0
        for _ in range(MOST_HALVINGS):
            trial = theta - part * direction
            gradient, hessian = derivatives(features, labels, loss, ridge, tilt, trial)
            if np.linalg.norm(gradient) <= (1.0 - part / 4.0) * length:
                break
            part /= 2.0
        theta = trial
        if recorder is not None:
            recorder("update", step=step, gradient_norm=length, part=part)
    raise OracleError(f"no minimiser within {MOST_STEPS} Newton steps: gradient norm {np.linalg.norm(gradient):.3g}")
