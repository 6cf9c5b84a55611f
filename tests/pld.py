"""An independent composition: privacy-loss distributions on a grid, rounded up and down, composed by convolution.

Shares no code and no method with `oracle.engines.contour`. Masses between grid points come from normal distribution
functions; rounding the loss up gives an upper bound of delta and rounding it down a lower one. Convolutions are float64
FFTs of positive vectors that sum to one, whose error is below 1e-12 here, so results are compared with 1e-10 to spare.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import signal, special

Array = NDArray[np.float64]


def exceeds(direction: str, sigma: float, rate: float, levels: Array) -> Array:
    """P(L > level) under P, from the point x at which the monotone loss crosses the level."""

    def tail(x: Array, mean: float) -> Array:
        return special.ndtr((mean - x) / sigma)

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if direction == "add":
            ratio = (np.exp(-levels) - 1 + rate) / rate
            x = np.where(ratio > 0, sigma**2 * np.log(np.maximum(ratio, 1e-300)) + 0.5, -np.inf)
            return np.asarray(special.ndtr(x / sigma))
        if direction == "remove":
            ratio = (np.exp(levels) - 1 + rate) / rate
            x = np.where(ratio > 0, sigma**2 * np.log(np.maximum(ratio, 1e-300)) + 0.5, -np.inf)
        else:
            k, e = rate * math.exp(-0.5 / sigma**2), np.exp(levels)
            b = (1 - rate) * (e - 1)
            root = np.sqrt(b * b + 4 * e * k * k)
            x = sigma**2 * np.log(np.where(b > 0, (b + root) / (2 * k), 2 * e * k / (root - b)))
    return np.asarray((1 - rate) * tail(x, 0.0) + rate * tail(x, 1.0))


def one_step(direction: str, sigma: float, rate: float, grid: float) -> tuple[int, Array, float]:
    """The index of the first grid point, the mass of each cell (l, l + grid], and the mass beyond the last one."""
    far = 12 / sigma + 1 / sigma**2 + abs(math.log(rate)) + 1
    limits = {"remove": (math.log1p(-rate), far), "add": (-far, -math.log1p(-rate)), "replace": (-far, far)}
    low, high = limits[direction]
    first, last = math.floor(low / grid), math.ceil(high / grid)
    above = exceeds(direction, sigma, rate, np.arange(first, last + 1) * grid)
    above[0] = 1.0  # what lies below the window is counted in its first cell; it is below 1e-25
    return first, -np.diff(above), float(above[-1]) + 1e-25


def composed_delta(
    direction: str, sigma: float, rate: float, steps: int, epsilon: float, *, grid: float
) -> tuple[float, float]:
    """A lower and an upper bound of delta(epsilon) after a number of steps."""
    first, mass, tail = one_step(direction, sigma, rate, grid)
    total = np.array([1.0])
    power, count = mass, steps
    while count:
        if count & 1:
            total = signal.fftconvolve(total, power)
        power, count = signal.fftconvolve(power, power), count >> 1
    down = (first * steps + np.arange(len(total))) * grid
    up = down + steps * grid

    def expected(losses: Array) -> float:
        return float(np.sum(total * np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))))

    return expected(down), expected(up) + steps * tail
