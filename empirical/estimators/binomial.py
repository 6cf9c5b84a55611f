r"""What the counts of one test say of its two rates, and what the rates say of epsilon.

A test says "data set 1" when a model's score exceeds a threshold. Its true positive rate is p, its false positive rate
q. Counts of independent models are binomial, so for every p and q there are exact p-values (Clopper and Pearson 1934)

    p1(P) = Pr[Bin(n1, P) >= hits]  (is p <= P?),    p2(Q) = Pr[Bin(n0, Q) <= alarms]  (is q >= Q?),

each at most t with probability at most t when P = p, Q = q. Two confidence regions for (p, q) follow.

*Split*: p1 > alpha1 and p2 > alpha2 with alpha1 + alpha2 = alpha: a rectangle, whose corner is the worst case.

*Joint*: the two counts are independent, so z1 = Phi^-1(1 - p1) and z2 = Phi^-1(1 - p2) at the truth lie, coordinate by
coordinate, stochastically below two independent standard normals. Take an arc of directions u = (cos a, sin a),
a in [first, last] within the first quadrant, and the region sup_u u.z < c. The supremum rises in both coordinates, so

    Pr[truth outside] <= Pr[sup_u u.N >= c] = Pr[N > c] + (last - first) / (2 pi) e^{-c^2/2},     c >= 0,

exactly, N standard normal: beyond either end of the arc lies half of a half-plane, above the arc a sector of |N| >= c.
A rectangle at alpha/1000 bounds the region, and its error is taken off first. Where the loss in epsilon is about
linear, d1 z1 + d2 z2 with d inside the arc, the region gives away c |d|, and c is close to the normal quantile of
alpha: less than the split rectangle, which gives away d1 z_{alpha1} + d2 z_{alpha2}.

A region that contains (p, q) bounds every function of the two rates at once, hence both directions of the definition:
epsilon >= log((p - delta) / q) and epsilon >= log((1 - q - delta) / (1 - p)). A test that is worse than guessing says
nothing; the attack has to find the sign.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Counts = NDArray[np.integer[Any]]
Scores = tuple[Array, Array]
Conversion = Callable[[Array, Array], Array]
"""From (p, q) to epsilon or mu; rises in p, falls in q."""

_HALF_ARC = 0.1
_NEAR_AXIS = 0.35
_BOX_SHARE = 1e-3
_SEGMENTS = 64


@dataclass(frozen=True)
class RateBounds:
    """A lower confidence bound of the true positive rate and an upper one of the false positive rate."""

    true_positive: float
    false_positive: float


@dataclass(frozen=True)
class Tally:
    """How many of the models of data set 1 and 0 score above a threshold, of how many."""

    hits: int
    positives: int
    alarms: int
    negatives: int


def tally(scores: Scores, threshold: float) -> Tally:
    """The counts of the test 'score > threshold'."""
    negatives, positives = scores
    return Tally(
        int(np.count_nonzero(positives > threshold)), len(positives),
        int(np.count_nonzero(negatives > threshold)), len(negatives),
    )


def rate_low(hits: Counts | int, trials: int, z: Array | float) -> Array:
    """The P at which Pr[Bin(trials, P) >= hits] is the upper tail of the normal law at z: a lower bound of a rate."""
    count, deviate = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(z, dtype=np.float64))
    rate, high = np.zeros(count.shape), (deviate > 0) & (count > 0)
    rate[high] = special.betaincinv(count[high], trials - count[high] + 1, special.ndtr(-deviate[high]))
    low = (deviate <= 0) & (count > 0)
    # The complement, since a level next to 1 would be rounded to 1.
    rate[low] = special.betainccinv(count[low], trials - count[low] + 1, special.ndtr(deviate[low]))
    return rate


def rate_high(alarms: Counts | int, trials: int, z: Array | float) -> Array:
    """The Q at which Pr[Bin(trials, Q) <= alarms] is the normal law's upper tail at z: an upper bound of a rate."""
    return 1.0 - rate_low(trials - np.asarray(alarms), trials, z)


def rate_bounds(
    hits: Counts | int, alarms: Counts | int, trials: tuple[int, int], alphas: tuple[float, float]
) -> tuple[Array, Array]:
    """Clopper-Pearson: lower bounds of the hit rate at alphas[0] and upper bounds of the false-alarm rate at alphas[1].

    `trials` are the numbers of models of data set 1 and of data set 0.
    """
    return rate_low(hits, trials[0], -special.ndtri(alphas[0])), rate_high(alarms, trials[1], -special.ndtri(alphas[1]))


def epsilon_from_rates(low: Array, high: Array, delta: float) -> Array:
    """The largest epsilon that (epsilon, delta)-DP must have, given p >= low and q <= high; never below 0."""
    low, high = np.asarray(low), np.asarray(high)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        forward = np.where(low > delta, np.log((low - delta) / high), 0.0)
        backward = np.where(1 - high > delta, np.log((1 - high - delta) / (1 - low)), 0.0)
    return np.maximum(0.0, np.maximum(forward, backward))


def mu_from_rates(low: Array, high: Array) -> Array:
    """The largest mu that a Gaussian pair must have, given p >= low and q <= high; never below 0."""
    with np.errstate(invalid="ignore"):
        mu = special.ndtri(low) - special.ndtri(high)
    return np.asarray(np.maximum(0.0, np.nan_to_num(mu, nan=0.0, neginf=0.0)))


@functools.cache
def unit_quadrature(nodes: int) -> tuple[Array, Array]:
    """Points and weights for integrals over (0, 1) of functions of quantiles: dense at both ends, where these bend."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    angles = np.pi * (points + 1) / 4
    return np.sin(angles) ** 2, weights * np.pi / 4 * np.sin(2 * angles)


def arc_around(angle: float) -> tuple[float, float]:
    """The ends of the arc around an angle: a little to both sides, and up to an axis that is near.

    With the axis, the rarer count has a bound of its own; without, its far tail, where the loss is not linear, decides.
    """
    first = 0.0 if angle < _NEAR_AXIS else angle - _HALF_ARC
    last = math.pi / 2 if angle > math.pi / 2 - _NEAR_AXIS else angle + _HALF_ARC
    return first, last


def arc_quantile(arc: float, alpha: float) -> float:
    """The c >= 0 with Pr[N > c] + arc / (2 pi) e^{-c^2/2} = alpha; 0 if alpha is larger than that at 0."""

    def excess(c: float) -> float:
        return float(special.ndtr(-c)) + arc / (2 * math.pi) * math.exp(-c * c / 2) - alpha

    return float(scipy.optimize.brentq(excess, 0.0, 40.0, xtol=1e-12)) if excess(0.0) > 0 else 0.0


def joint_point(counts: Tally, angle: float, alpha: float, convert: Conversion) -> float:
    """The conversion at one point next to the joint region, in the arc's middle: not below its least value inside."""
    first, last = arc_around(angle)
    c = arc_quantile(last - first, alpha)
    middle = (first + last) / 2
    low = rate_low(counts.hits, counts.positives, c * math.cos(middle))
    return float(convert(low, rate_high(counts.alarms, counts.negatives, c * math.sin(middle))))


def joint_bound(counts: Tally, angle: float, alpha: float, convert: Conversion) -> tuple[float, RateBounds]:
    """The least value of a conversion over the joint region whose arc is centred at `angle`, and where it is attained.

    The region's edge is cut into segments of z2, finer near the arc. On one, z2 <= its right end and z1 <= the edge at
    its left end, so the conversion at these two is below its values on the segment: nothing is lost to the grid but a
    little tightness.
    """
    first, last = arc_around(angle)
    c = arc_quantile(last - first, alpha * (1 - _BOX_SHARE))
    box = -float(special.ndtri(alpha * _BOX_SHARE / 2))
    middle = c * math.sin(angle)
    right = np.unique(np.concatenate([np.linspace(-box, box, _SEGMENTS), middle + np.linspace(-1.0, 1.0, _SEGMENTS)]))
    right = np.append(right[np.abs(right) < box], box)
    left = np.concatenate([[-np.inf], right[:-1]])
    edge = np.minimum(box, _edge(left, first, last, c))
    low = rate_low(counts.hits, counts.positives, edge)
    high = rate_high(counts.alarms, counts.negatives, right)
    values = convert(low, high)
    worst = int(np.argmin(values))
    return float(values[worst]), RateBounds(float(low[worst]), float(high[worst]))


def _edge(z2: Array, first: float, last: float, c: float) -> Array:
    """The largest z1 of the region sup_u u.z < c at z2: a circle above the arc, its tangents beyond either end."""
    with np.errstate(divide="ignore", invalid="ignore"):
        before = (c - math.sin(first) * z2) / math.cos(first) if first > 0 else np.full_like(z2, c)
        after = (c - math.sin(last) * z2) / max(math.cos(last), 1e-300)
        circle = np.sqrt(np.maximum(0.0, c * c - z2 * z2))
    return np.where(z2 <= c * math.sin(first), before, np.where(z2 <= c * math.sin(last), circle, after))
