"""Exact laws of the releases on a pair of neighbouring data sets, where theory knows them.

A law is that of the likelihood-ratio score: its rates are what the best attack has, its epsilon is the truth that an
audit approaches from below and a proof from above. The law is of the algorithm in real arithmetic, with the decimals of
its configuration; data and training in doubles differ from it by rounding only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray
from scipy import special

from oracle.core.arithmetic import decreasing_root, enclose
from oracle.core.domain import Number, probability
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import DomainError, OracleError
from oracle.engines.gaussian_curve import certainly_negative, epsilon_of_mu, normal_upper_tail

Array = NDArray[np.float64]
WIDTH = Fraction(1, 10**12)
_LARGEST_EPSILON = 10**6
_FARTHEST = 10**9


class Law(Protocol):
    """The exact law of the likelihood-ratio score on both data sets."""

    @property
    def gaussian(self) -> bool:
        """Whether the release is Gaussian with one covariance, and only the mean differs."""

    def epsilon(self, delta: Number) -> Enclosure:
        """The exact epsilon of this pair at delta, the larger of both directions."""

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """The exact false and true positive rates of 'score > threshold'."""

    def score(self, releases: Array) -> Array:
        """The score of every release, monotone in the likelihood ratio, shape [M]."""


def flattened(releases: Array) -> Array:
    """Releases [M, ...] as a matrix [M, D]."""
    return np.asarray(releases, dtype=np.float64).reshape(len(releases), -1)


@dataclass(frozen=True)
class GaussianLaw:
    """Gaussian releases of one covariance: scores are N(-mu/2, 1) and N(mu/2, 1).

    The score is <weights, release - centre>, weights = covariance^-1 (mean gap) / mu, centre the middle of the means.
    """

    mu: Callable[[], arb]
    weights: Array
    centre: Array

    @property
    def gaussian(self) -> bool:
        """It is."""
        return True

    def epsilon(self, delta: Number) -> Enclosure:
        """The epsilon of the Gaussian pair at mu."""
        return epsilon_of_mu(self.mu, probability("delta").rational(delta), WIDTH)

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """Normal tails."""
        half = _middle(self.mu) / 2
        return np.asarray(special.ndtr(-thresholds - half)), np.asarray(special.ndtr(half - thresholds))

    def score(self, releases: Array) -> Array:
        """The projection on the weights."""
        return np.asarray((flattened(releases) - self.centre) @ self.weights)


def isotropic(*, gap: Fraction, variance: Fraction, direction: Array, centre: Array | None = None) -> GaussianLaw:
    """The Gaussian law of releases whose means are `gap` apart along a unit vector, where the variance is this."""
    scale = 1.0 / float(np.sqrt(float(variance)))
    middle = np.zeros_like(direction) if centre is None else centre
    return GaussianLaw(lambda: ball(gap) / ball(variance).sqrt(), direction * scale, middle)


@dataclass(frozen=True)
class NearlyLaw:
    """A release whose law on either data set is within `slack`, in total variation, of that of a known pair.

    Every event's probability changes by at most slack, so the curve changes by at most slack (1 + e^epsilon): the exact
    epsilon lies between the known pair's at delta +- that.
    """

    known: Law
    slack: Fraction

    @property
    def gaussian(self) -> bool:
        """Nearly is not exactly."""
        return False

    def epsilon(self, delta: Number) -> Enclosure:
        """An enclosure that is as wide as the slack makes it."""
        target = probability("delta").rational(delta)
        largest = self.known.epsilon(target / 2)
        with ctx.workprec(128):
            change = (ball(self.slack) * (1 + largest.upper.ball.exp())).upper()
            doubt = Dyadic.of(change).to_fraction()
        if 2 * doubt > target:
            raise OracleError(f"slack = {float(self.slack):.3g} is too large for delta = {float(target):.3g}")
        return Enclosure(self.known.epsilon(target + doubt).lower, self.known.epsilon(target - doubt).upper)

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """Those of the known pair."""
        return self.known.rates(thresholds)

    def score(self, releases: Array) -> Array:
        """That of the known pair."""
        return self.known.score(releases)


def epsilon_of_curve(curve: Callable[[arb], arb], delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least epsilon >= 0 at which a falling curve of delta, computed in balls, is at most delta."""

    def excess(epsilon: arb) -> arb:
        value = curve(epsilon)
        # On the scale of logarithms the secant needs few steps; the sign is the same.
        return value.log() - ball(delta).log() if value > 0 else value - ball(delta)

    zero, upper = arb(0), arb(1)
    if certainly_negative(lambda: excess(zero)):
        return Enclosure.exactly(0)
    while not certainly_negative(functools.partial(excess, upper)):
        upper = 2 * upper
        if upper > _LARGEST_EPSILON:
            raise OracleError(f"no epsilon up to {_LARGEST_EPSILON} brings delta below {float(delta):.3g}")
    return decreasing_root(excess, zero, upper, width=width)


@dataclass(frozen=True)
class LaplaceLaw:
    """One coordinate with Laplace noise: scores are a standard Laplace variable -+ ratio/2, ratio = (mean gap) / scale.

    The score is <weights, release - centre>; the likelihood ratio rises in it, and is flat beyond both means.
    """

    ratio: Callable[[], arb]
    weights: Array
    centre: Array

    @property
    def gaussian(self) -> bool:
        """It is not."""
        return False

    def epsilon(self, delta: Number) -> Enclosure:
        """delta(epsilon) = 1 - e^{(epsilon - ratio)/2}, solved for epsilon; 0 where that is negative."""
        target = probability("delta").rational(delta)

        def root() -> arb:
            return self.ratio() + 2 * ball(-target).log1p()

        return Enclosure.exactly(0) if certainly_negative(root) else enclose(root, width=WIDTH)

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """Laplace tails."""
        half = _middle(self.ratio) / 2
        return _laplace_tail(thresholds + half), _laplace_tail(thresholds - half)

    def score(self, releases: Array) -> Array:
        """The projection on the weights."""
        return np.asarray((flattened(releases) - self.centre) @ self.weights)


def _laplace_tail(x: Array) -> Array:
    """P(standard Laplace > x)."""
    tail = 0.5 * np.exp(-np.abs(x))
    return np.asarray(np.where(x > 0, tail, 1.0 - tail))


def _middle(value: Callable[[], arb]) -> float:
    """The middle of a ball as a double."""
    with ctx.workprec(128):
        return Dyadic.of(value().mid()).to_float(up=False)


Components = Sequence[tuple[Fraction, Fraction]]
"""Weights and means of the parts of a mixture."""


@dataclass(frozen=True)
class MixtureLaw:
    """Mixtures of Gaussians of one variance along a direction; no mean of data set 0 is above one of data set 1.

    Then the likelihood ratio sum_k q_k e^{b_k x - b_k^2/2} / sum_j p_j e^{a_j x - a_j^2/2} (in units of the standard
    deviation) rises in x: its logarithmic derivative is a mean of the b_k less a mean of the a_j. So the best test is a
    threshold on x, and the hockey-stick divergence is a difference of normal tails at the one point where the ratio is
    e^epsilon; that point is enclosed by two signs, which makes the epsilon a proof.
    """

    negatives: Components
    positives: Components
    variance: Fraction
    direction: Array

    def __post_init__(self) -> None:
        if max(mean for _, mean in self.negatives) > min(mean for _, mean in self.positives):
            raise DomainError("a mean of data set 0 is above one of data set 1: the ratio may not be monotone")

    @property
    def gaussian(self) -> bool:
        """Not for more than one part."""
        return False

    def epsilon(self, delta: Number) -> Enclosure:
        """The larger epsilon of the two directions."""
        target = probability("delta").rational(delta)
        mirrored = [(weight, -mean) for weight, mean in self.negatives]
        forward = epsilon_of_curve(lambda epsilon: self._curve(epsilon, self.positives, self.negatives), target)
        if sorted(mirrored) == sorted(self.positives):
            return forward
        other = [(weight, -mean) for weight, mean in self.positives]
        return forward.maximum(epsilon_of_curve(lambda epsilon: self._curve(epsilon, mirrored, other), target))

    def _curve(self, epsilon: arb, above: Components, below: Components) -> arb:
        """delta(epsilon) of `above` against `below`, at the working precision."""
        std = ball(self.variance).sqrt()
        high = [(ball(weight), ball(mean) / std) for weight, mean in above]
        low = [(ball(weight), ball(mean) / std) for weight, mean in below]

        def advantage(x: arb) -> arb:
            return _tilted(high, x).log() - _tilted(low, x).log() - epsilon

        top_high, top_low = max(mean for _, mean in above), max(mean for _, mean in below)
        if top_high == top_low:  # the ratio has a limit, that of the weights of the largest mean
            limit = ball(_weight(above, top_high) / _weight(below, top_low)).log()
            if limit <= epsilon:
                return arb(0)
        left, right = _crossing(advantage)
        # The first is too large by the mass between the two points, the second by e^epsilon times that.
        top = _tail(high, left) - epsilon.exp() * _tail(low, right)
        bottom = _tail(high, right) - epsilon.exp() * _tail(low, left)
        return bottom.union(top)

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """Sums of normal tails."""
        std = float(self.variance) ** 0.5
        sums = []
        for parts in (self.negatives, self.positives):
            weights = np.array([float(weight) for weight, _ in parts])
            means = np.array([float(mean) for _, mean in parts]) / std
            sums.append(np.asarray(special.ndtr(means[:, None] - thresholds[None, :]).T @ weights))
        return sums[0], sums[1]

    def score(self, releases: Array) -> Array:
        """The projection on the direction, in standard deviations."""
        return np.asarray(flattened(releases) @ self.direction / float(self.variance) ** 0.5)


def _weight(parts: Components, mean: Fraction) -> Fraction:
    """The weight of the parts of one mean."""
    return sum((weight for weight, at in parts if at == mean), Fraction(0))


def _tilted(parts: Sequence[tuple[arb, arb]], x: arb) -> arb:
    """The density of a mixture at x over that of the standard normal."""
    total = arb(0)
    for weight, mean in parts:
        total += weight * (mean * (x - mean / 2)).exp()
    return total


def _tail(parts: Sequence[tuple[arb, arb]], x: arb) -> arb:
    """The mass of a mixture above x."""
    total = arb(0)
    for weight, mean in parts:
        total += weight * normal_upper_tail(x - mean)
    return total


def _crossing(rising: Callable[[arb], arb]) -> tuple[arb, arb]:
    """Two exact points, as close as half the working precision tells, between which a rising function crosses 0."""
    low, high = arb(-1), arb(1)
    while not rising(low) < 0:
        low = 2 * low
        if low < -_FARTHEST:
            raise OracleError("the likelihood ratio does not fall that low")
    while not rising(high) > 0:
        high = 2 * high
        if high > _FARTHEST:
            raise OracleError("the likelihood ratio does not rise that high")
    narrow = arb(2) ** (-ctx.prec // 2)
    while high - low > narrow:
        # Two points near the middle: the root itself may be the middle, where no precision tells a sign.
        start, before = low, high - low
        for part in (7, 9):
            point = (start + before * part / 16).mid()
            if low < point and point < high:
                value = rising(point)
                low, high = (point if value < 0 else low), (point if value > 0 else high)
        if not high - low < before:
            break  # the precision tells no more
    return low, high
