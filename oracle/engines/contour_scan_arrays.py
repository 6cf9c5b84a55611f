r"""Which order the vectorised contour sum passes through: a scan of orders on one grid, in float64.

The orders are a geometric row around a guess, and one table of the loss serves them all: log M, the tilted law's mean
and variance and the saddle-point formula of delta come from one product of matrices. Where the answer is not inside,
the row moves. Everything here is a choice; a bad one costs tightness or an answer, never truth.

The spacing follows from Chernoff's bounds at the orders to the right (the images there) and from delta <= 1 (those to
the left). An order left of the saddle point often allows a wider spacing, and cancels more: the cheapest is taken.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from oracle.core.arrays import anywhere, at_least, at_most, constants, counted, largest, least, nonzero, stacked, summed
from oracle.engines.contour_plan_arrays import GOAL, LITTLE, LOG_ROOT_2PI, Scan, StepColumn

_RATIO, _BELOW, _ORDERS = 1.25, 6, 12
_LADDER = tuple(_RATIO ** (power - _BELOW) for power in range(_ORDERS))
_BULK = 2  # orders to the left, the tilted law's variance is that of its bulk, without a beginning second peak
_BEYOND = 3  # orders above the saddle point, for the images on the right
_POINTS = 72
_HELD = 30.0  # the grid holds all but e^{-30} of the tilted mass
_LARGE = -3.0  # left of the bulk the best order tends to 0, which helps no sum: that of a smaller delta is taken
_FARTHEST = 60.0  # a grid reaches no farther, nor where delta and its images do not
_MOVES = 14
SPARED = 0.08  # what a unit of cancellation weighs against a factor e of nodes, up to what is allowed


class _Orders(NamedTuple):
    """Tables [B, orders]: the orders, log M^T, about log delta and epsilon there, Chernoff's exponent and sharper."""

    c: Any
    log_power: Any
    log_delta: Any
    at: Any
    chernoff: Any
    sharper: Any
    variance: Any
    slope: Any
    h: Any


def _guess(pair: StepColumn, log_delta: Any) -> tuple[Any, Any]:
    """About the saddle point, as if all were Gaussian, but no farther than u^alpha has one peak; and the variance.

    A second peak, near alpha a, is of weight q^alpha e^{a^2 alpha c/2} or so, which is 1 at c = -2 log q / a^2, and at
    most of weight q e^{a^2 alpha c/2}.
    """
    xp = pair.xp
    square = pair.a * pair.a
    # Much noise, or a Gaussian mean now and then, which is no gain where records are added.
    much = pair.q * xp.expm1(at_most(xp, square, xp.where(pair.sign > 0.0, 30.0, 1.0)))
    spread = at_most(xp, much, 1.0 + square + 0.25 * square * square)
    spread = pair.steps * pair.q * spread
    c = xp.sqrt(2.0 * at_least(xp, -log_delta - 4.0, 2.0) / spread)
    limit = at_least(xp, 0.5 + xp.sqrt(6.0 - 2.0 * pair.log_q) * pair.sigma, -1.4 * pair.log_q / square)
    return xp.where(pair.sign > 0.0, at_most(xp, c, limit), c), spread


def _orders(pair: StepColumn, middle: Any, farthest: Any) -> _Orders:
    xp = pair.xp
    c = middle[:, None] * constants(xp, _LADDER, middle)
    y, h = pair.points(-xp.sqrt(2.0 * (_HELD + pair.flat(c[:, -1]))), farthest, _POINTS)
    log_u, slope = pair.log_u(y)[:2]
    constant, loss = pair.alpha0[:, None] * log_u - 0.5 * y * y - LOG_ROOT_2PI, pair.sign[:, None] * log_u
    if pair.mirrored:
        mirrored, more, _ = pair.log_u(-y)
        loss, slope = loss - mirrored, slope + more
    exponent = constant[:, None, :] + c[:, :, None] * loss[:, None, :]
    top = largest(xp, exponent, axis=2)
    mass = xp.exp(exponent - top[:, :, None])
    sums = xp.matmul(mass, xp.permute_dims(stacked(xp, (xp.ones_like(loss), loss, loss * loss, slope)), (1, 2, 0)))
    # An order is no number if its mass leaves the grid, or where u^alpha has a second peak, near alpha a.
    alpha, low_top = c + 1.0, top - 12.0
    peak, height = alpha * pair.a[:, None], c * (0.5 * pair.a * pair.a)[:, None] + pair.log_q[:, None]
    beyond = (peak > farthest[:, None] - 3.0) & (alpha * height > low_top) & (pair.sign > 0.0)[:, None]
    total = xp.where(beyond | (exponent[:, :, -1] > low_top), math.nan, sums[:, :, 0])
    mean, steps = sums[:, :, 1] / total, pair.steps[:, None]
    variance = sums[:, :, 2] / total - mean * mean
    log_power = steps * (top + xp.log(total * h[:, None]))
    log_c, log_next = xp.log(c), xp.log1p(c)
    near, far = 1.0 / c, 1.0 / alpha
    spread = steps * variance + near * near + far * far
    at = steps * mean - near - far
    narrow = -log_c - log_next - 0.5 * xp.log(2 * math.pi * spread)
    entropy = c * log_c - alpha * log_next
    sharper = at_most(xp, at_least(xp, narrow - entropy, -6.0), 0.0)
    slopes = pair.a[:, None] * sums[:, :, 3] / total
    return _Orders(c, log_power, log_power - c * at + narrow, at, log_power + entropy, sharper, variance, slopes, h)


def scan(
    pair: StepColumn, log_delta: Any, epsilon: Any, weight: float = SPARED, *, moved: Any = None, aside: float = 1.0
) -> Scan:
    """The contours of a column: for a delta, for an epsilon, or for a delta whose epsilon is about known.

    Given which rows are moved, the others are left where the guess is, whose bound may be all that is asked of them.
    `aside` moves all orders by a factor, where those that were tried have served nothing.
    """
    xp = pair.xp
    target = 0.0 * pair.q + _LARGE if log_delta is None else at_most(xp, log_delta, _LARGE)
    middle, spread = _guess(pair, target)
    middle = middle * aside
    depth = target if epsilon is None else at_most(xp, -0.5 * epsilon * epsilon / spread, target)
    farthest = at_most(xp, 4.0 + xp.sqrt(2.0 * (pair.outside - depth)), _FARTHEST)
    orders, count = _around(pair, middle, target, epsilon, farthest)
    open_rows = nonzero(xp, _outside(count) if moved is None else _outside(count) & moved)
    for _ in range(_MOVES):
        if open_rows.shape[0] == 0:
            break
        # To the right as if log delta grew with the square of c.
        short = target[open_rows] / at_most(xp, orders.log_delta[open_rows, -1], -0.2)
        far = at_most(xp, at_least(xp, 3.0 * xp.sqrt(at_least(xp, short, 0.0)), 3.0), 300.0)
        middle[open_rows] = middle[open_rows] * xp.where(count[open_rows] < 1, 1.0 / 8.0, far)
        part, given = pair.take(open_rows), None if epsilon is None else epsilon[open_rows]
        again, here = _around(part, middle[open_rows], target[open_rows], given, farthest[open_rows])
        for column, new in zip((*orders, count), (*again, here), strict=True):
            column[open_rows] = new
        open_rows = open_rows[nonzero(xp, _outside(here))]
    return _choice(pair, orders, count, log_delta, epsilon, weight)


def _around(pair: StepColumn, middle: Any, target: Any, epsilon: Any, farthest: Any) -> tuple[_Orders, Any]:
    """The orders around a guess, and how many of them lie left of the saddle point."""
    orders = _orders(pair, middle, farthest)
    left = orders.log_delta > target[:, None]
    if epsilon is not None:
        left = left | (orders.at < epsilon[:, None])
    return orders, summed(left)


def _outside(count: Any) -> Any:
    return (count < 1) | (count > _ORDERS - _BEYOND)


def _choice(pair: StepColumn, orders: _Orders, count: Any, log_delta: Any, epsilon: Any, weight: float) -> Scan:
    xp, c = pair.xp, orders.c
    sharp = orders.chernoff + orders.sharper
    if epsilon is None:
        epsilon = at_least(xp, least(xp, (sharp - log_delta[:, None]) / c), 0.0)
    level = log_delta
    if level is None:
        level = at_most(xp, least(xp, sharp - c * epsilon[:, None]), 0.0)
    # A column for the order of the contour, one for that of the bound.
    images = (orders.chernoff - c * epsilon[:, None] + (GOAL - level)[:, None])[:, None, :]
    distance = c[:, None, :] - c[:, :, None]
    right = least(xp, xp.where(distance > 0.0, images / distance, math.inf))
    period = at_least(xp, right, (GOAL - level)[:, None] / c)
    peak = orders.log_power - c * epsilon[:, None] - level[:, None]
    cancelled = peak - xp.log(c * (c + 1.0) * period)
    cost = xp.log(period) - 0.5 * xp.log(orders.variance) + weight * at_least(xp, cancelled + 1.0, 0.0)
    little = pair.sigma < LITTLE
    if anywhere(little):
        # Where few steps tell anything, the integrand is no Gaussian, and the farther it reaches the fewer they are.
        farther = xp.log(at_least(xp, GOAL + cancelled, 4.0) / (pair.steps * pair.sigma)[:, None] / orders.slope)
        cost = cost + xp.where(little[:, None], farther, 0.0)
    index = counted(xp, _ORDERS, c)
    usable = (index <= count[:, None]) & xp.isfinite(cost)
    best = xp.where(usable, cost, math.inf).argmin(axis=1)
    rows = xp.arange(c.shape[0], device=c.device)
    tables = (c, orders.log_power, orders.variance, orders.slope, period, cancelled, orders.chernoff)
    at, log_power, variance, slope, spacing, lost, chernoff = stacked(xp, tables)[:, rows, best]
    bulk = at_most(xp, orders.variance[rows, xp.where(best > _BULK, best - _BULK, 0)], variance)
    log_m = log_power / pair.steps
    found = ~_outside(count)
    return Scan(
        at, epsilon * 1.0, level * 1.0, log_m, variance, bulk, slope, spacing, lost, chernoff, orders.h, found,
    )
