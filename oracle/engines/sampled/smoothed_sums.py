"""The sums of a smoothed contour in floats: near which epsilon they meet a delta, and how they bend. Nothing is proved.

`smoothed_contour` adds to such sums what makes them bounds. A scout is made of floats alone, in a tenth of the time: it
finds the place before the points and the tables are computed in balls.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from oracle.core.errors import PrecisionError
from oracle.engines.sampled.cut_gaussian import CutGaussian
from oracle.engines.sampled.float_tables import (
    NEAR,
    Complex,
    matrix_product,
    power,
    power_beside_one,
    sinh_over,
    size,
)
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from oracle.engines.sampled.smoothed_plan import SMOOTHNESS, SmoothedPlan

TALLEST = 1.6  # height of the line of integration: it costs a factor e^{1.28} of precision
_NOISE = 1e-15  # of the terms
_MOST_POINTS = 100_000  # far more than balls could follow
_STEEP = 30.0  # from which on e^x is not asked for


class SmoothedSums:
    """The terms of both bounds at the nodes of a plan, M^T being e^{log_top} of what they have for it."""

    plan: SmoothedPlan
    log_top: Any
    upper: Complex
    lower: Complex
    upper_error: float = 0.0
    lower_error: float = 0.0
    alone: dict[bool, tuple[Complex, float]]

    def _sum(self, terms: Complex, turns: tuple[Complex, Complex]) -> float:
        """2 Re sum_n term_n e^{-i n k epsilon} - term_0, in floats."""
        down, across = turns
        real = terms.real @ across.real - terms.imag @ across.imag
        imaginary = terms.real @ across.imag + terms.imag @ across.real
        return float(2.0 * (down.real @ real - down.imag @ imaginary) - terms[0, 0].real)

    @functools.lru_cache(maxsize=4)  # noqa: B019 - a curve is short-lived, and asked again and again
    def _terms(self, *, above: bool, alone: bool) -> tuple[Complex, float]:
        """The terms of one bound, with those of the steps that tell nothing or without, and a bound of their errors."""
        terms, error = (self.upper, self.upper_error) if above else (self.lower, self.lower_error)
        return (terms + self.alone[above][0], error + self.alone[above][1]) if alone else (terms, error)

    def about(self, epsilon: float, *, above: bool) -> float:
        """About the log of one bound, in floats; -inf where it is not positive. Not a proof."""
        plan, k = self.plan, self.plan.spacing
        if above:
            epsilon -= SMOOTHNESS * plan.reach**2 / 6
        alone = plan.beside_one and (not plan.reach or epsilon < SMOOTHNESS * plan.reach)
        terms, _ = self._terms(above=above, alone=alone)
        turns = (
            np.exp(-1j * (k * epsilon * plan.columns) * np.arange(plan.rows)),
            np.exp(-1j * (k * epsilon) * np.arange(plan.columns)),
        )
        value = self._sum(terms, turns)
        return math.log(value * k / (2 * math.pi)) + float(self.log_top) - plan.c * epsilon if value > 0 else -math.inf

    def curvature(self, epsilon: float) -> float:
        """About the second derivative of delta that the smoothing meets, in units of delta."""
        if not self.plan.reach:
            step = epsilon / 8 + 1e-2 / self.plan.c
            before, here, after = (self.about(epsilon + side * step, above=True) for side in (-1, 0, 1))
            if not abs(before - here) + abs(after - here) < 100:
                return 0.0
            return max(math.expm1(before - here) + math.expm1(after - here), 0.0) / step**2
        above, below = (self.about(epsilon, above=side) for side in (True, False))
        return -math.expm1(below - above) * 3 / (SMOOTHNESS * self.plan.reach**2) if above > below else 0.0


def nodes_of(plan: SmoothedPlan) -> Complex:
    """s_n = c + i n k, a table."""
    n = np.arange(plan.rows * plan.columns, dtype=np.float64).reshape(plan.rows, plan.columns)
    return np.asarray(plan.c + 1j * (plan.spacing * n), dtype=np.complex128)


def plain_kernel(s: Complex) -> Complex:
    """1/(s (s+1))."""
    return np.asarray(1.0 / (s * (s + 1.0)), dtype=np.complex128)


def smoothed_kernels(s: Complex, w: float, sinh: Complex, cosh: Complex, stretch: float) -> tuple[Complex, Complex]:
    """The upper and the lower bound's factors at the nodes, from sinh and cosh of w s."""
    m, z = SMOOTHNESS, w * s
    with np.errstate(all="ignore"):
        inverse = 1.0 / z
        value = sinh * inverse
        first = (cosh - value) * inverse
        second = value - 2.0 * first * inverse
    near = size(z) < NEAR
    value[near], first[near], second[near] = sinh_over(z[near])
    fourteen = power(value, m - 2)
    kernel = fourteen * value * value
    slope = (m * w) * (fourteen * value * first)
    bend = (w * w) * (m * (fourteen * value * second) + (m * (m - 1)) * (fourteen * first * first))
    return kernel / (s * (s + 1.0)), (kernel / s - slope - (0.5 * stretch) * bend) / (s + 1.0)


class SmoothedScout(SmoothedSums):
    """The sums of a plan from points, tables and kernels in floats."""

    def __init__(self, step: SampledGaussian, count: int, plan: SmoothedPlan) -> None:
        self.plan = plan
        with np.errstate(all="ignore"):
            weights, losses = _float_line(step, plan.c, plan.accuracy)
            turns, s = 1j * plan.spacing * losses, nodes_of(plan)
            start = float(weights.sum().real)
            far = _deviations(plan.columns * turns, plan.rows)
            near = _deviations(turns, plan.columns)
            if plan.beside_one:
                self.log_top, top = 0.0, 1.0
            else:
                self.log_top, top = count * math.log(start), start
            weights = weights / top
            moments = matrix_product(weights * far, 1.0 + near.T) + matrix_product(weights[None, :], near.T)
            moments += start / top - 1.0
            powers = power_beside_one(moments, count) if plan.beside_one else power(1.0 + moments, count)
            kernels = (plain_kernel(s),) * 2
            if plan.reach:
                z = plan.reach * s
                kernels = smoothed_kernels(s, plan.reach, np.sinh(z), np.cosh(z), math.exp(SMOOTHNESS * plan.reach))
            self.alone = {True: (kernels[0], 0.0), False: (kernels[1], 0.0)}
            self.upper, self.lower = powers * kernels[0], powers * kernels[1]
            sizes = float(np.abs(self.upper).sum())
            if not math.isfinite(sizes):
                raise PrecisionError("the terms overflow in float64")
            self.log_noise = math.log(_NOISE * sizes * plan.spacing / math.pi + 1e-300)

    def about(self, epsilon: float, *, above: bool) -> float:
        """About the log of one bound; -inf where it is not told from the noise of the floats."""
        value = super().about(epsilon, above=above)
        return value if value + self.plan.c * epsilon - self.log_top > self.log_noise else -math.inf


def _deviations(exponents: Complex, count: int) -> Complex:
    """e^{n x} - 1, a row for each n < count, by doubling."""
    table = np.zeros((1, len(exponents)), dtype=np.complex128)
    other = np.expm1(exponents)[None, :]
    while len(table) < count:
        more = table[: count - len(table)]
        table = np.concatenate([table, more * other + more + other])
        other = other * (2.0 + other)
    return table


def _float_line(step: SampledGaussian, c: float, goal: float) -> tuple[Complex, Complex]:
    """The weights and losses of `on_line`, in floats."""
    goal -= min(0.0, step.cumulants(c)[0])
    h, height = step.line(c, goal, TALLEST)
    low, high = step.window(c, goal + 0.5 * height**2)
    first, last = math.floor(low / h), math.ceil(high / h)
    if last - first > _MOST_POINTS:
        raise PrecisionError(f"the quadrature needs {last - first} points")
    y: Complex = np.asarray(h * np.arange(first, last + 1) + 1j * (step.slopes[0] * height), np.complex128)
    (alpha, beta), (slope, mirrored_slope) = step.exponents(c), step.slopes
    log_u = _log_u(step, y)
    exponent, losses = alpha * log_u, slope * log_u
    if mirrored_slope:
        log_u = _log_u(step, -y)
        exponent, losses = exponent + beta * log_u, losses + mirrored_slope * log_u
    if isinstance(step, CutGaussian):
        exponent = exponent - np.exp(step.steepness * (y - step.cut))
    return np.exp(exponent - 0.5 * y * y + math.log(h / math.sqrt(2 * math.pi))), losses


def _log_u(step: SampledGaussian, y: Complex) -> Complex:
    """log(1 - q + q e^{a y - a^2/2})."""
    a, q = 1 / float(step.sigma), float(step.rate)
    x = a * y - 0.5 * a * a
    steep = x.real > _STEEP
    small = np.log1p(q * np.expm1(np.where(steep, 0.0, x)))
    large = x + math.log(q) + np.log1p((1 - q) / q * np.exp(-np.where(steep, x, 0.0)))
    return np.asarray(np.where(steep, large, small))
