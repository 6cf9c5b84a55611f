r"""NoisyGD and NoisyCGD with a projection: iterates in a set of diameter D forget everything before some step.

Setting of `hidden_state`: theta <- Proj(theta - eta (mean gradient + N(0, sigma^2 I))) with gradient maps that contract
by c <= 1 (c = 1: convex and smooth losses, eta <= 2/beta); the iterates before the last step lie in a set of diameter
D. In units of the drift (s = eta L/n, tau = eta sigma, so that d = D n/(eta L) is the diameter) the shift programme may
begin anywhere with z = d. Its value in closed form (derived here; `shift_programme` says what the programme is):

**NoisyGD.** A start t steps before the end costs f(t) = (c^t d + G(c, t))^2 / (1 + c^2 + ... + c^{2t-2}): in the
minorant's coordinates a step alone has a slope proportional to 1/P_i, P_i = c^{t-i}, which falls along the steps, so S
is concave and above every chord to its last point from a point below its first: no constraint binds. With x = c^t and
e = 1 - d(1-c), f is proportional to (1 - e x)^2/(1 - x^2), whose derivative has the sign of x - e: f falls up to
t* = log e / log c (t* = d at c = 1, infinity if e <= 0) and rises after it. So the least cost is the smaller of that of
the common start, `noisy-gd.mu`, and of f at the two integers next to t*, or at the nearest in 1..steps.

**NoisyCGD**, k >= 2, the record in the last batch, which is the worst (advance the touches: see
`hidden_state_position`; a start with less distance never costs more). A start is best just after a touch, since free
steps before the next touch only help. Let N be the touches between the start and the last step, y = c^{kN}:

    left edge   B = c^{k-1} (y d + 1 + c^k + ... + c^{k(N-1)}),   V = 1 + c^2 + ... + c^{2(Nk+k-1)-2}
    last step   B = V = 1, R = c,          cost F(N) = the minorant of the two.

F(N) is the least cost from that start unless the first point before a touch lies below the left edge. Then the start's
own cost is above F(N), and F(N) >= F(0): the part of the chain before that point is less steep than the chain, so its
cost is at most the chain's share, and the same part in front of the last touch is the start N = 0. Hence the minimum of
F over N = 0..E-2 is the least cost over all starts at the diameter. With e = 1 - d(1 - c^k), the two cases of F fall up
to y = e/c^{2k-2} (edges apart) and y = e/c^k (joined) and rise after it; edges are apart for y below one threshold (a
concave quadratic, not negative at y = 0, decides), where F is continuously differentiable. So F has one minimum in y,
at one of the two points, and the best N is an integer next to one of them, or the nearest in 0..E-2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.bounds.hidden_state.hidden_state import (
    ASSUMES,
    BATCHES,
    CONTRACTION,
    SENSITIVITY,
    SIGMA,
    cgd_square,
    cgd_squares,
    gd_factor,
)
from oracle.bounds.hidden_state.hidden_state_position import Edge, two_edges, two_edges_arrays
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import at_least, at_most, inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines.geometric import BUDGET, ArrayPowers, BallPowers, PowerFunctions, square_sum

_MOST_CANDIDATES = 8  # integers next to a ball; more say that the ball is too wide


def gd_from(c: Any, t: Any, d: Any, powers: PowerFunctions) -> Any:
    """The cost f(t) of a start at distance d, t >= 1 steps before the end."""
    gap = powers.power(c, t) * d + powers.geometric_sum(c, t)
    return gap / square_sum(c, t, powers) * gap


def cgd_edges(c: Any, k: Any, touches: Any, d: Any, powers: PowerFunctions) -> tuple[Edge, Edge]:
    """The two blocks of a start at distance d just after a touch, with that many touches before the last step."""
    inside = powers.geometric_sum(c, k * touches) / powers.geometric_sum(c, k)
    drift = powers.power(c, k - 1) * (powers.power(c, k * touches) * d + inside)
    one = powers.power(c, 0 * k)
    return (drift, square_sum(c, k * touches + k - 1, powers), one), (one, one, powers.number(c))


def _next_to(points: Iterable[arb | Fraction], low: int, high: int) -> list[int] | None:
    """The integers next to some numbers, moved into low..high; None where a ball does not say which they are."""
    found: set[int] = set()
    for point in points:
        if isinstance(point, Fraction):
            below, above = math.floor(point), math.ceil(point)
        elif not point.is_finite():
            return None
        else:
            below, above = int(point.lower().floor().fmpz()), int(point.upper().ceil().fmpz())
        below, above = (min(max(value, low), high) for value in (below, above))
        if above - below > _MOST_CANDIDATES:
            return None
        found.update(range(below, above + 1))
    return sorted(found)


def _least(costs: Iterable[arb]) -> arb:
    first, *others = costs
    for other in others:
        first = first.min(other)
    return first


def _gd_square(c: Fraction, steps: int, d: Fraction | None) -> arb:
    """The least cost of NoisyGD; d is None where nothing is projected. NaN: ask for more precision."""
    common: arb = gd_factor(c, steps, BallPowers())
    if d is None or steps == 0 or c == 0 or d * (1 - c) >= 1:
        return common
    best = d if c == 1 else ball(-d * (1 - c)).log1p() / ball(c - 1).log1p()
    starts = _next_to([best], 1, steps)
    if starts is None:
        return arb("nan")
    return _least([common, *(gd_from(c, t, ball(d), BallPowers()) for t in starts)])


def _cgd_square(c: Fraction, k: int, epochs: int, d: Fraction | None) -> arb:
    """The least cost of NoisyCGD, likewise."""
    common = cgd_square(Values(contraction=c, batches=k, epochs=epochs))
    if d is None or epochs == 1 or c == 0:
        return common
    if c == 1:
        points: list[arb | Fraction] = [d - 1, d - Fraction(2 * (k - 1), k)]
    elif _is_power(1 - 1 / d if d else Fraction(0), c, k):
        points = [Fraction(epochs)]  # e = 0: the later in y, the better
    else:
        share, log = -ball(d * (1 - c)) * BallPowers().geometric_sum(c, k), ball(c - 1).log1p()
        # 1 + share is e, and log e is minus infinity from 0 down.
        if share <= -1:
            points = [Fraction(epochs)]
        else:
            points = [share.log1p() / (k * log) - 1, (share.log1p() - (2 * k - 2) * log) / (k * log)]
    touches = _next_to(points, 0, epochs - 2)
    if touches is None:
        return arb("nan")
    return _least([common, *(two_edges(*cgd_edges(c, k, n, ball(d), BallPowers())) for n in touches)])


def _is_power(value: Fraction, c: Fraction, k: int) -> bool:
    """Whether value = c^k for 0 < c < 1, exactly; c^k has a denominator of k bits or more."""
    return value > 0 and k < value.denominator.bit_length() and c**k == value


def _distance(values: Values, size: int) -> Fraction | None:
    """The diameter in units of one drift; None for infinity."""
    if values.diameter == math.inf:
        return None
    return Fraction(values.diameter * size / (values.learning_rate * values.sensitivity))


def _gd(values: Values) -> arb:
    square = _gd_square(values.contraction, values.steps, _distance(values, values.dataset_size))
    return ball(values.sensitivity / (values.dataset_size * values.noise_on_mean)) * square.sqrt()


def _cgd(values: Values) -> arb:
    c, k, epochs, d = values.contraction, values.batches, values.epochs, _distance(values, values.batch_size)
    square = _gd_square(c, epochs, d) if k == 1 else _cgd_square(c, k, epochs, d)
    return ball(values.sensitivity / (values.batch_size * values.noise_on_mean)) * square.sqrt()


def _distances(xp: Any, values: Values, size: Any) -> Any:
    """The diameter in units of one drift; 0 stays 0, infinity stays infinity, NaN where a double cannot hold it."""
    plain = (values.diameter > 0.0) & (values.diameter < math.inf)
    inside = xp.where(plain, values.diameter, 1.0)
    # One factor after the other: quotient gives NaN where any of them leaves the doubles.
    distance = quotient(xp, inside, values.learning_rate, values.sensitivity, 1.0 / size)
    return xp.where(plain, distance, values.diameter)


def _gd_squares(xp: Any, c: Any, steps: Any, d: Any) -> Any:
    powers = ArrayPowers(xp)
    finite = xp.where(d < math.inf, d, 1.0)
    share = finite * (1.0 - c)
    log = powers.log(xp.where(c < 1.0, c, 0.5))
    best = xp.where(c < 1.0, xp.log1p(-xp.where(share < 1.0, share, 0.5)) / log, finite)
    best = xp.where(share < 1.0, best, steps)
    last = at_least(xp, steps, 1.0)
    square = gd_factor(c, steps, powers)
    for start in (xp.floor(best), xp.ceil(best)):
        t = at_most(xp, at_least(xp, start, 1.0), last)
        square = at_most(xp, xp.where(d < math.inf, gd_from(c, t, finite, powers), math.inf), square)
    return xp.where(xp.isnan(d), math.nan, square)


def _cgd_squares(xp: Any, c: Any, k: Any, epochs: Any, d: Any) -> Any:
    """For k >= 2; elsewhere, the numbers mean nothing."""
    powers = ArrayPowers(xp)
    finite = xp.where(d < math.inf, d, 1.0)
    share = finite * (1.0 - c) * powers.geometric_sum(c, k)
    log = powers.log(xp.where(c < 1.0, c, 0.5))
    log_e = xp.log1p(-xp.where(share < 1.0, share, 0.5))
    last = at_least(xp, epochs - 2.0, 0.0)
    joined = xp.where(c < 1.0, log_e / (k * log), finite) - 1.0
    apart = xp.where(c < 1.0, (log_e - (2.0 * k - 2.0) * log) / (k * log), finite - (2.0 * k - 2.0) / k)
    square = cgd_squares(xp, c, k, epochs, powers)
    for best in (joined, apart):
        for start in (xp.floor(best), xp.ceil(best)):
            touches = xp.where(share < 1.0, at_most(xp, at_least(xp, start, 0.0), last), last)
            left, right = cgd_edges(c, k, touches, finite, powers)
            cost = two_edges_arrays(xp, (left[0], xp.where(left[1] > 0.0, left[1], 1.0), left[2]), right)
            square = at_most(xp, xp.where((d < math.inf) & (epochs > 1.0), cost, math.inf), square)
    return xp.where(xp.isnan(d), math.nan, square)


def _gd_fast(xp: Any, values: Values) -> Any:
    square = _gd_squares(xp, values.contraction, values.steps, _distances(xp, values, values.dataset_size))
    ratio = quotient(xp, values.sensitivity, values.dataset_size, values.noise_on_mean)
    return inflate(ratio * xp.sqrt(square), 4 * BUDGET)


def _cgd_fast(xp: Any, values: Values) -> Any:
    c, k, epochs, d = values.contraction, values.batches, values.epochs, _distances(xp, values, values.batch_size)
    square = xp.where(k == 1.0, _gd_squares(xp, c, epochs, d), _cgd_squares(xp, c, at_least(xp, k, 2.0), epochs, d))
    ratio = quotient(xp, values.sensitivity, values.batch_size, values.noise_on_mean)
    return inflate(ratio * xp.sqrt(square), 4 * BUDGET)


_LEARNING_RATE = vocabulary.learning_rate
_DIAMETER = vocabulary.diameter

noisy_gd_projected_mu = Bound(
    name="noisy-gd-projected.mu",
    unit="mu",
    tightness=one_sided("no data are known whose projected iterates attain it"),
    summary="mu of the last iterate of full-batch noisy gradient descent with iterates in a bounded set",
    formula=(
        r"\mu^2 = \frac{L^2}{n^2\sigma^2}\min\left(\frac{1-c^T}{1+c^T}\frac{1+c}{1-c},\ \min_{1\le t\le T}"
        r"\frac{\left(c^t d + \frac{1-c^t}{1-c}\right)^2}{\frac{1-c^{2t}}{1-c^2}}\right),"
        r"\quad d = \frac{D n}{\eta L}"
    ),
    parameters=(
        SENSITIVITY, vocabulary.dataset_size, SIGMA, CONTRACTION, vocabulary.steps,
        _LEARNING_RATE, _DIAMETER,
    ),
    assumes=(*ASSUMES, "full-batches", "bounded-set"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/bok-gd", "background/shifted-interpolation"),
    validity="argued",
    certify=closed_form(_gd),
    vectorised=_gd_fast,
    example={
        "sensitivity": "2", "dataset_size": "50", "noise_on_mean": "0.15", "contraction": "1", "steps": "1000",
        "learning_rate": "0.1", "diameter": "0.5",
    },
)

noisy_cgd_projected_mu = Bound(
    name="noisy-cgd-projected.mu",
    unit="mu",
    tightness=one_sided("no data are known whose projected iterates attain it"),
    summary="mu of the last iterate of noisy cyclic mini-batch gradient descent with iterates in a bounded set",
    formula=(
        r"\mu^2 = \min\left(\mu_{\mathrm{CGD}}^2,\ \frac{L^2}{b^2\sigma^2}\min_{0\le N\le E-2} F(N)\right),\quad "
        r"F = \frac{B^2}{V} + 1 \text{ if } B \le cV, \text{ else } \frac{(cB+1)^2}{c^2V+1},\quad "
        r"B = c^{k-1}\left(c^{kN} d + \frac{1-c^{kN}}{1-c^k}\right),\ V = \frac{1-c^{2(Nk+k-1)}}{1-c^2},"
        r"\ d = \frac{D b}{\eta L}"
    ),
    parameters=(
        SENSITIVITY, vocabulary.batch_size, SIGMA, CONTRACTION, BATCHES, vocabulary.epochs.at_least(1),
        _LEARNING_RATE, _DIAMETER,
    ),
    assumes=(*ASSUMES, "cyclic-batches", "bounded-set"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("relu-approx/thm-2.8-formula", "background/shifted-interpolation"),
    validity="argued",
    certify=closed_form(_cgd),
    vectorised=_cgd_fast,
    example={
        "sensitivity": "2", "batch_size": "50", "noise_on_mean": "0.15", "contraction": "1", "batches": "20",
        "epochs": "400",
        "learning_rate": "0.1", "diameter": "0.05",
    },
)
