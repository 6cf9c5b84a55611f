r"""The steps whose contour is summed in float64, and two bounds of what that sum leaves out: a column of settings.

Everything is on a coarse grid of the standard normal variable y (`sampled_gaussian` has the notation): `log_cut` for
what lies beyond the last node and `log_growth` for the trapezoidal rule of M, both by shifting the line of integration
in y as in the reference. For `log_growth`, whose line may be a thousand wide, every factor is taken at the worse end of
each cell of the grid. For `log_cut` only the turn of the loss is: there the grid must be so fine that the sum of a
Gaussian is its integral, or there is no bound. A factor e^2 is added for the rest. The rest are choices (`scan`).

Rows never meet: what a row is told depends on no other row of its column.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

from oracle.core.arrays import anywhere, at_least, at_most, constants, counted, largest, nonzero, stacked, summed

LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
GOAL = 28.0  # truncations and images aim at e^{-28} of delta
FINEST = 1.0  # the widest distance at which a sum over a Gaussian is its integral, to 1e-8
_COARSE = 48
_LINE = 160  # points on a shifted line
_BEYOND = 1.06
_WIDE, _WIDE_POINTS = 24.0, 64  # windows beyond are looked at closely
# How far to integrate, in units of what a Gaussian law asks for: what is tried first, where there is little noise and
# the steps that tell anything are few, and where neither is enough.
_NEAR, _FAR = (1.0, 1.15, 1.4, 1.8, 2.7, 4.6), (6.0, 9.0, 12.0, 17.0, 24.0, 34.0)
_REACHES = (3.2, 4.5, 6.0, 9.0, 14.0, 22.0, 35.0, 60.0, 100.0, 170.0, 300.0)
LITTLE = 0.5  # noise
_MUCH, _CUT = 0.85, -22.0  # noise from which on one knows the reach; the most it may cut off, as an exponent of e
_LEAST_REACH, _MORE_REACH, _MIRRORED_REACH = 1.07, 0.5, 0.15
_ANGLE = 0.8  # the share of the widest turn of the line that bounds what is cut off,
_SHIFTS = (0.45, 1.0)  # and those of its widest shift that are tried for the quadrature
_SIGNS = (1.0, *(-1.0 for _ in _SHIFTS))


class Scan(NamedTuple):
    """The chosen order of each row, about its epsilon and log delta, what is known about it; is it a good one."""

    c: Any
    epsilon: Any
    level: Any
    log_m: Any
    variance: Any
    bulk: Any
    slope: Any
    period: Any
    cancelled: Any
    chernoff: Any
    h: Any
    found: Any


class ContourPlans(NamedTuple):
    """A column of plans: where to integrate, with how many nodes and points, and what that leaves out."""

    c: Any
    epsilon: Any
    last: Any
    nodes: Any
    points: Any
    low: Any
    high: Any
    log_cut: Any
    log_growth: Any
    shift: Any


Columns = TypeVar("Columns", Scan, ContourPlans)


def picked(columns: Columns, rows: Any) -> Columns:
    """Some of the rows, in their order."""
    if rows.shape[0] == columns.c.shape[0]:
        return columns
    return type(columns)(*(column[rows] for column in columns))


class StepColumn:
    """The steps of a column of settings: u, the window of the tilted law, the bounds on shifted lines.

    The loss is log u where a record is removed (sign 1), -log u where it is added (sign -1), and log u(y) - log u(-y)
    where it is replaced (mirrored, all rows).
    """

    def __init__(self, xp: Any, sigma: Any, rate: Any, steps: Any, sign: Any, *, mirrored: bool) -> None:
        outside = 38.0 + xp.log(steps)
        columns = (sigma, rate, steps, sign, 1.0 / sigma, 0.5 * (1.0 + sign), xp.log(rate), xp.log1p(-rate), outside)
        self._name(xp, stacked(xp, columns), mirrored=mirrored)

    def _name(self, xp: Any, columns: Any, *, mirrored: bool) -> None:
        self.xp, self.columns, self.mirrored = xp, columns, mirrored
        self.sigma, self.q, self.steps, self.sign, self.a, self.alpha0, self.log_q, self.log_rest = columns[:8]
        self.outside = columns[8]  # the window holds all but e^{-outside} of the tilted mass

    def take(self, rows: Any) -> StepColumn:
        """The same for some of the rows, in their order."""
        if rows.shape[0] == self.q.shape[0]:
            return self
        part = object.__new__(StepColumn)
        part._name(self.xp, self.columns[:, rows], mirrored=self.mirrored)
        return part

    def flat(self, c: Any) -> Any:
        """The log of the most that u^{-c} is, where the loss falls with u(y) or u(-y)."""
        return -c * self.log_rest if self.mirrored else at_least(self.xp, c * self.log_rest * self.sign, 0.0)

    def envelope(self, c: Any) -> tuple[Any, ...]:
        """By how much two Gaussians around the integrand are above M(c), the second's centre, M(c)'s bound; as tables.

        u^alpha <= 1 - q + q w^alpha: a second Gaussian at alpha a; and M(c) >= q^alpha e^{a^2 alpha (alpha-1)/2}.
        """
        flat, alpha = self.flat(c), 1.0 + c
        centre = alpha * self.a
        steep = 0.5 * centre * self.a * c
        floor = 0.0 * c if self.mirrored else at_least(self.xp, alpha * self.log_q + steep, 0.0)
        lift = flat - floor
        return lift[:, None], (self.log_q + steep + lift)[:, None], centre[:, None], floor[:, None]

    def window(self, c: Any, extra: Any, envelope: tuple[Any, ...]) -> tuple[Any, Any]:
        """Intervals that hold all but e^{-extra} M(c) of the integrand, a table like extra, by Gaussian envelopes."""
        xp, (lift, weight, centre, floor) = self.xp, envelope
        lifted = extra + lift
        near = xp.sqrt(2.0 * (lifted + floor))
        high = centre + xp.sqrt(2.0 * at_least(xp, extra + weight, 0.5))
        high = xp.where(high > near, high, near)
        low = -xp.sqrt(2.0 * at_least(xp, lifted, 0.5))
        if not self.mirrored:
            rises = (self.sign > 0.0)[:, None]
            low, high = xp.where(rises, low, -near), xp.where(rises, high, near)
        wide = (high > _WIDE) & (self.sign > 0.0)[:, None]
        if anywhere(wide):
            for line in range(extra.shape[1]):
                rows = nonzero(xp, wide[:, line])
                if rows.shape[0]:
                    high[rows, line] = self.take(rows)._right_end(c[rows], extra[rows, line], high[rows, line])
        return low, high

    def _right_end(self, c: Any, extra: Any, high: Any) -> Any:
        """Where the integrand falls below e^{-extra} for good; `high`, where its second peak near alpha a is above.

        alpha log u - y^2/2 has at most two maxima, since the slope of log u is a sigmoid.
        """
        xp, alpha = self.xp, 1.0 + c
        index = counted(xp, _WIDE_POINTS, c)
        step = _WIDE / (_WIDE_POINTS - 1)
        y = xp.concat([0.0 * c[:, None] + step * index[None, :], (alpha * self.a)[:, None]], axis=1)
        exponent = alpha[:, None] * self.log_u(y)[0] - 0.5 * y * y
        if self.mirrored:
            exponent = exponent - c[:, None] * self.log_u(-y)[0]
        heavy = exponent > -extra[:, None] - 6.0
        last = largest(xp, xp.where(heavy[:, :-1], y[:, :-1], 0.0), axis=1) + step
        return xp.where(heavy[:, -1] | heavy[:, -2], high, last)

    def points(self, low: Any, high: Any, count: int) -> tuple[Any, Any]:
        """Points y from low to high, along a new axis, and their distance."""
        h = (high - low) / (count - 1)
        return low[..., None] + h[..., None] * counted(self.xp, count, h), h

    def log_u(self, y: Any) -> tuple[Any, Any, Any]:
        """log u(y) = log1p(q (w - 1)), accurate where it is tiny; u's share q w / u; and x = log w."""
        xp = self.xp
        x = self.a[:, None] * y - 0.5 * (self.a * self.a)[:, None]
        moderate = x < 30.0
        near = self.q[:, None] * xp.expm1(xp.where(moderate, x, 0.0))
        value, share = xp.log1p(near), (near + self.q[:, None]) / (1.0 + near)
        if anywhere(~moderate):
            far = self.log_q[:, None] + x + xp.log1p(xp.exp((self.log_rest - self.log_q)[:, None] - xp.abs(x)))
            value, share = xp.where(moderate, value, far), xp.where(moderate, share, 1.0)
        return value, share, x

    def shifted(self, c: Any, t: Any, angle: Any, signs: tuple[float, ...], window: tuple[Any, Any]) -> Any:
        """log int |integrand at Im y = angle/a| e^{-sign t V} dy, V >= 0 the turn of the loss.

        Columns t, angle [B, K] of lines for every c [B], over windows [B, K] or [B, 1]. With a sign for each line the
        integrals are bounds: a growing one (-1) cell by cell, as |u| rises in y, and so does the turn; a decaying one
        (1) takes the turn at the worse end of a cell. Without signs they are estimates of decaying ones.
        """
        xp, a = self.xp, self.a[:, None, None]
        y, h = self.points(*window, _LINE if signs else _COARSE)
        sine, cosine = xp.sin(angle)[..., None], xp.cos(angle)[..., None]
        offset = (self.log_q - self.log_rest)[:, None, None] - 0.5 * a * a
        if signs:
            sign = constants(xp, signs, c)[:, None]
            cell = h[..., None]
            half = at_least(xp, -0.5 * sign * cell, 0.0)
            # Towards the worse end of a cell w is larger (growth) or smaller (decay) by this factor.
            worse = xp.exp(-sign * (a * cell))

        def parts(points: Any, rises: Any) -> tuple[Any, Any]:  # log u without log (1-q), and its turn
            log_w = offset + a * points
            w = turned = xp.exp(at_most(xp, log_w, 300.0))
            if signs:
                turned = w * worse
                log_w = log_w + rises * (a * half)
                w = xp.exp(at_most(xp, log_w, 300.0))
            size = 0.5 * xp.log1p(w * (2.0 * cosine + w)) + at_least(xp, log_w - 300.0, 0.0)
            return size, xp.atan2(turned * sine, 1.0 + turned * cosine)

        log_u, turn = parts(y, self.sign[:, None, None])
        power = self.alpha0 + self.sign * c
        exponent = power[:, None, None] * log_u
        if self.mirrored:
            log_u, more = parts(-y, -1.0)
            exponent, turn, power = exponent - c[:, None, None] * log_u, turn + more, power - c
        least = at_least(xp, xp.abs(y) - half, 0.0) if signs else y
        turn = (t[..., None] * sign if signs else t[..., None]) * turn
        exponent = exponent - turn - 0.5 * least * least
        top, tilt = largest(xp, exponent), angle / self.a[:, None]
        same = (power * self.log_rest - LOG_ROOT_2PI)[:, None] + 0.5 * tilt * tilt
        line = top + xp.log(summed(xp.exp(exponent - top[..., None])) * h) + same
        return xp.where((sign[:, 0] < 0.0) | (h <= FINEST), line, math.inf) if signs else line


def plan_at(pair: StepColumn, at: Scan) -> ContourPlans:
    """The plan at the contours of a `Scan`: nodes and points, and bounds of what they leave out."""
    xp, sigma, c, steps = pair.xp, pair.sigma, at.c, pair.steps
    envelope = pair.envelope(c)
    window = pair.window(c, pair.outside[:, None], envelope)
    level = c * at.epsilon + at.level
    needed = at_least(xp, steps * at.log_m - level - xp.log(c) + (GOAL - 3.0), 4.0)  # about how much it is to fall
    few = needed > steps * at.slope * sigma  # that few steps tell anything: no Gaussian
    square = 2.0 * needed / steps
    gaussian = xp.sqrt(square / at.variance)  # how far to integrate if it were one
    last, decay = gaussian * 1.0, gaussian * 1.0

    def search(rows: Any) -> tuple[Any, ...]:
        part, here = pair.take(rows), picked(at, rows)
        ends, sides = (tuple(x[rows] for x in given) for given in (window, envelope))
        farthest, turn = _reach(part, here, ends, gaussian[rows], level[rows] - GOAL, few[rows])
        last[rows], decay[rows] = farthest, turn
        return part, here, ends, sides, farthest, turn

    # With much noise one knows how far to integrate; otherwise, and where that was too short, it is searched for.
    known = sigma >= _MUCH
    rows = nonzero(xp, ~known)
    if rows.shape[0] < c.shape[0]:
        more = _MIRRORED_REACH if pair.mirrored else _MORE_REACH
        reach = xp.sqrt(square / at.bulk) * (_LEAST_REACH + more / (sigma * sigma))
        last, decay = _BEYOND * reach, _turn(pair, at, reach)
    if rows.shape[0]:
        search(rows)
    plan = _bounded(pair, at, window, envelope, last, decay)
    rows = nonzero(xp, known & ~(plan.log_cut - level <= _CUT))
    if rows.shape[0]:
        for column, new in zip(plan, _bounded(*search(rows)), strict=True):
            column[rows] = new
    return plan


def _bounded(
    pair: StepColumn, at: Scan, window: tuple[Any, ...], envelope: tuple[Any, ...], last: Any, decay: Any
) -> ContourPlans:
    """The plan for a last node, given the turn of the line that shows what lies beyond it."""
    xp, c, steps = pair.xp, at.c, pair.steps
    shift = at_most(xp, 0.48 * math.pi * pair.sigma, 9.0)[:, None] * constants(xp, _SHIFTS, c)
    angle, turns = pair.a[:, None] * shift, 2.0 if pair.mirrored else 1.0
    farther = pair.window(c, pair.outside[:, None] + turns * last[:, None] * angle, envelope)
    low, high = (xp.concat(ends, axis=1) for ends in zip(window, farther, strict=True))
    angles = xp.concat([decay[:, None], angle], axis=1)
    lines = pair.shifted(c, last[:, None], angles, _SIGNS, (low, high))
    log_cut = steps * lines[:, 0] + 2.0 - xp.log(math.pi * last)
    growth = lines[:, 1:] + 2.0
    needed = (GOAL + 4.0 + xp.log(steps))[:, None] + at_least(xp, growth - at.log_m[:, None], 0.0)
    distance = xp.where(xp.isfinite(growth), 2 * math.pi * shift / needed, 0.0)
    best = distance.argmax(axis=1)
    rows = xp.arange(c.shape[0], device=c.device)
    shift, log_growth, distance = stacked(xp, (shift, growth, distance))[:, rows, best]
    nodes, low, high = last * at.period / (2 * math.pi), low[:, 0], high[:, 0]
    return ContourPlans(
        c, at.epsilon, last, nodes, (high - low) / distance + 2.0, low, high, log_cut, log_growth, shift
    )


def _turn(pair: StepColumn, at: Scan, t: Any) -> Any:
    """The turn of a line that shows what lies beyond t, a column or a table."""
    slope, sigma, a = (x if t.ndim == 1 else x[:, None] for x in (at.slope, pair.sigma, pair.a))
    return at_most(pair.xp, at_most(pair.xp, t * slope, 1.15 * sigma), 6.0) * (_ANGLE * a)


def _reach(
    pair: StepColumn, at: Scan, window: tuple[Any, ...], start: Any, wanted: Any, few: Any
) -> tuple[Any, Any]:
    """About how far to integrate for the rest to be what is wanted, and the turn of the line that shows it."""
    xp = pair.xp

    def tried(reaches: Any, rows: Any) -> tuple[Any, Any, Any]:
        part, here, begin, goal, ends = pair, at, start, wanted, window
        if rows is not None:
            part, here, begin, goal = pair.take(rows), picked(at, rows), start[rows], wanted[rows]
            ends = tuple(end[rows] for end in window)
        t = begin[:, None] * reaches
        angle = _turn(part, here, t)
        line = part.shifted(here.c, t, angle, (), ends)
        enough = part.steps[:, None] * line - xp.log(math.pi * t) <= goal[:, None]
        index = xp.arange(t.shape[0], device=t.device)
        best = xp.argmax(xp.astype(enough, xp.int8), axis=1)
        found = enough[index, best]
        return found, xp.where(found, t[index, best], t[:, -1]), xp.where(found, angle[index, best], angle[:, -1])

    near, far = constants(xp, _NEAR, start), (pair.sigma < LITTLE) & few
    reaches = xp.where(far[:, None], constants(xp, _FAR, start), near) if anywhere(far) else near
    found, last, angle = tried(reaches, None)
    rows = nonzero(xp, ~found)
    if rows.shape[0]:
        _, last[rows], angle[rows] = tried(constants(xp, _REACHES, start), rows)
    return _BEYOND * last, angle  # the bound on the line is a little above its estimate
