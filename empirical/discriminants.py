r"""Learned discriminants on rows of numbers: linear, quadratic, and the best single coordinate.

Every coordinate is first divided by its standard deviation over both sides together; a constant one is left out. The
covariance S of n such rows within the sides is shrunk towards a multiple of the identity, (1 - r) S + r m I with
m = tr(S)/d and the r of Ledoit and Wolf (2004), which is of the order d/n: with many rows it vanishes, with few it
keeps the inverse tame. Beyond `_FULL` coordinates, the quadratic discriminant treats the coordinates as independent.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[np.float64]

_FULL = 128
_FINALISTS = 12
_SCREENED = 4000
_LEAST_SHRINKAGE = 1e-9  # keeps coordinates that are linear functions of each other from dividing by zero


def spread(first: Array, second: Array) -> Array:
    """The standard deviation of each coordinate over both sides together; 0 where it is constant up to rounding."""
    sides = (first, second)
    count = sum(len(side) for side in sides)
    mean = sum(side.sum(axis=0) for side in sides) / count
    deviation: Array = np.sqrt(sum(_squares(side - mean) for side in sides) / count)
    size = np.maximum(np.abs(first).max(axis=0), np.abs(second).max(axis=0))
    return np.where(deviation > 1e-14 * size, deviation, 0.0)


def linear(first: Array, second: Array) -> Array | None:
    """The direction of Fisher's linear discriminant with shrunk covariance; None if every coordinate is constant."""
    scale = spread(first, second)
    varying = scale > 0
    if not varying.any():
        return None
    sides = [side[:, varying] / scale[varying] for side in (first, second)]
    means = [side.mean(axis=0) for side in sides]
    within = np.concatenate([side - mean for side, mean in zip(sides, means, strict=True)])
    direction = np.zeros(len(scale))
    direction[varying] = linalg.solve(_shrunk(within), means[1] - means[0], assume_a="pos") / scale[varying]
    return direction


def quadratic(first: Array, second: Array) -> dict[str, Array] | None:
    """The log ratio of two normal laws, <b, x> + x'Ax/2 around a centre; None if every coordinate is constant."""
    scale = spread(first, second)
    varying = scale > 0
    if not varying.any():
        return None
    centre = (first.mean(axis=0) + second.mean(axis=0)) / 2
    sides = [(side[:, varying] - centre[varying]) / scale[varying] for side in (first, second)]
    means = [side.mean(axis=0) for side in sides]
    direction, inner = np.zeros(len(scale)), scale[varying]
    if inner.size <= _FULL:
        precisions = [_inverse(_shrunk(side - mean)) for side, mean in zip(sides, means, strict=True)]
        matrix = np.zeros((len(scale), len(scale)))
        matrix[np.ix_(varying, varying)] = (precisions[0] - precisions[1]) / np.outer(inner, inner)
        direction[varying] = (precisions[1] @ means[1] - precisions[0] @ means[0]) / inner
        return {"centre": centre, "direction": direction, "matrix": matrix}
    weights = [1 / np.maximum(side.var(axis=0), _LEAST_SHRINKAGE) for side in sides]
    diagonal = np.zeros(len(scale))
    diagonal[varying] = (weights[0] - weights[1]) / inner**2
    direction[varying] = (weights[1] * means[1] - weights[0] * means[0]) / inner
    return {"centre": centre, "direction": direction, "matrix": diagonal}


def scan(first: Array, second: Array, merit: Callable[[Array, Array], float]) -> tuple[int, float]:
    """The coordinate, and the sign, of the largest merit among those that differ most in mean, spread or tails."""
    candidates = np.arange(first.shape[1])
    if candidates.size > _FINALISTS:
        few = first[:_SCREENED], second[:_SCREENED]
        best = [np.argsort(-difference, kind="stable")[:_FINALISTS] for difference in _differences(*few)]
        candidates = np.unique(np.concatenate(best))
    means = second.mean(axis=0) - first.mean(axis=0)  # for coordinates that certify nothing
    rows = [
        (merit(sign * first[:, i], sign * second[:, i]), sign * means[i], i, sign)
        for i in candidates
        for sign in (1.0, -1.0)
    ]
    _, _, coordinate, sign = max(rows, key=lambda row: row[:2])
    return int(coordinate), sign


def _differences(first: Array, second: Array) -> list[Array]:
    """How far apart the two sides are in each coordinate: in mean, in log-variance and in the tails."""
    scale = spread(first, second)
    safe = np.where(scale > 0, scale, 1.0)
    means = np.abs(second.mean(axis=0) - first.mean(axis=0)) / safe
    variances = [np.maximum(side.var(axis=0) / safe**2, _LEAST_SHRINKAGE) for side in (first, second)]
    tails = np.zeros(len(scale))
    for level in np.quantile(np.concatenate([first, second]), (0.01, 0.1, 0.9, 0.99), axis=0):
        rates = (first > level).mean(axis=0), (second > level).mean(axis=0)
        error = np.sqrt(np.maximum(rates[0] * (1 - rates[0]) + rates[1] * (1 - rates[1]), 1 / len(first)))
        tails = np.maximum(tails, np.abs(rates[1] - rates[0]) / error)
    return [means, np.abs(np.log(variances[1] / variances[0])), tails]


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("md,md->d", rows, rows))


def _shrunk(centred: Array) -> Array:
    """The Ledoit-Wolf covariance of centred rows."""
    count, size = centred.shape
    covariance: Array = centred.T @ centred / count
    level = max(float(np.trace(covariance)) / size, _LEAST_SHRINKAGE)
    identity = level * np.eye(size)
    fourth = float((np.einsum("md,md->m", centred, centred) ** 2).sum())
    error = (fourth / count - float((covariance**2).sum())) / count
    distance = float(((covariance - identity) ** 2).sum())
    amount = 1.0 if distance == 0 else min(1.0, max(_LEAST_SHRINKAGE, error / distance))
    return np.asarray((1 - amount) * covariance + amount * identity)


def _inverse(matrix: Array) -> Array:
    inverse: Array = linalg.cho_solve(linalg.cho_factor(matrix), np.eye(len(matrix)))
    return (inverse + inverse.T) / 2
