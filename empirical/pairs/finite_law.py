"""Exact laws of releases with finitely many values, and of several coordinates with Laplace noise.

A finite law is two lists of probabilities in balls. Its curve is delta(epsilon) = sum of max(0, p - e^epsilon q), both
ways round; its score is the logarithm of the ratio.

k coordinates that each move by `ratio` scales of their Laplace noise are k releases in sequence, whose exact epsilon
is `laplace-composed.epsilon`. The loss of one is ratio - Y under the law of data set 1, Y = 0 with probability 1/2 and
else an exponential variable of rate 1/2 cut off at c = 2 ratio. The sum W of k of them has, by the number n of those
that are not 0, j that are cut off, and inclusion and exclusion over the others,

    P(W <= w) = sum_n C(k,n) 2^-k sum_j C(n,j) e^{-jc/2} sum_i C(n-j,i) (-1)^i e^{-ic/2} G_{n-j}((w - (i+j) c) / 2),

G_r the distribution function of Gamma(r), that of 0 for r = 0.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from scipy import special

from empirical.pairs.laws import Array, epsilon_of_curve, flattened
from oracle.core.domain import Number, probability
from oracle.core.enclosure import Dyadic, Enclosure
from oracle.core.registry import bound

_CERTAIN = 1e3
"""The score of a value that only one of the data sets has."""
_GRID = 2.0**40
"""Steps of the grid, in a ratio, to which sums of Laplace losses are rounded."""


@dataclass(frozen=True)
class FiniteLaw:
    """The two laws of a release that takes finitely many values."""

    outcomes: Array  # [K, D]
    probabilities: Callable[[], tuple[Sequence[arb], Sequence[arb]]]

    @property
    def gaussian(self) -> bool:
        """It is not."""
        return False

    def epsilon(self, delta: Number) -> Enclosure:
        """The larger epsilon of the two directions."""
        target = probability("delta").rational(delta)
        there, back = (epsilon_of_curve(functools.partial(self._curve, way=way), target) for way in (0, 1))
        return there.maximum(back)

    def _curve(self, epsilon: arb, way: int) -> arb:
        laws = self.probabilities()
        total = arb(0)
        for above, below in zip(laws[way], laws[1 - way], strict=True):
            total += (above - epsilon.exp() * below).max(arb(0))
        return total

    @functools.cached_property
    def doubles(self) -> tuple[Array, Array]:
        """Both laws in double precision."""
        with ctx.workprec(128):
            first, second = self.probabilities()
            return _floats(first), _floats(second)

    @functools.cached_property
    def ratios(self) -> Array:
        """The score of every value: the logarithm of the ratio, cut where one law has no mass."""
        negatives, positives = self.doubles
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(positives) - np.log(negatives)
        finite = np.nan_to_num(logs, nan=0.0, posinf=_CERTAIN, neginf=-_CERTAIN)
        return np.asarray(np.clip(finite, -_CERTAIN, _CERTAIN))

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """The mass of the values whose score is above."""
        above = self.ratios[None, :] > thresholds[:, None]
        negatives, positives = self.doubles
        return np.asarray(above @ negatives), np.asarray(above @ positives)

    def score(self, releases: Array) -> Array:
        """The score of the value that each release is nearest to."""
        flat, ratios = flattened(releases), self.ratios
        result = np.empty(len(flat))
        for start in range(0, len(flat), 4096):  # [4096, K, D] at once
            part = flat[start : start + 4096]
            nearest = np.abs(part[:, None, :] - self.outcomes[None, :, :]).max(axis=2).argmin(axis=1)
            result[start : start + 4096] = ratios[nearest]
        return result


def _floats(values: Sequence[arb]) -> Array:
    return np.array([Dyadic.of(value.mid()).to_float(up=False) for value in values])


@dataclass(frozen=True)
class LaplaceProductLaw:
    """Coordinates with Laplace noise of one scale, each moved by `ratio` scales; what follows them is made of them."""

    ratio: Fraction
    scale: float
    means: tuple[Array, Array]

    @property
    def gaussian(self) -> bool:
        """It is not."""
        return False

    def epsilon(self, delta: Number) -> Enclosure:
        """The epsilon of that many Laplace releases."""
        return bound("laplace-composed.epsilon").reference(
            sensitivity=self.ratio, scale=1, steps=len(self.means[0]), delta=delta
        )

    def rates(self, thresholds: Array) -> tuple[Array, Array]:
        """Tails of the sum of the losses; the law of data set 0 is the mirror image.

        Thresholds are counted on the grid of the scores, in whole numbers, so that the masses are on the right side.
        """
        most = len(self.means[0]) * _GRID
        steps = np.clip(np.floor(thresholds / float(self.ratio) * _GRID), -most - 1, most + 1)
        return 1.0 - self._below(most + steps + 0.5), self._below(most - steps - 0.5)

    def _below(self, steps: Array) -> Array:
        """P(W <= so many steps of the grid)."""
        count, ratio = len(self.means[0]), float(self.ratio)
        weights: Counter[tuple[int, int]] = Counter()  # of G_r at a delay of so many c
        for n in range(count + 1):
            for j in range(n + 1):
                for i in range(n - j + 1):
                    weights[n - j, i + j] += math.comb(count, n) * math.comb(n, j) * math.comb(n - j, i) * (-1) ** i
        total = np.zeros_like(steps)
        for (r, delay), weight in weights.items():
            rest = (steps - 2 * delay * _GRID) / _GRID * ratio / 2
            gamma = special.gammainc(r, np.maximum(rest, 0.0)) if r else rest >= 0
            total = total + weight * math.exp(-delay * ratio) * gamma / 2**count
        return np.asarray(np.clip(total, 0.0, 1.0))

    def score(self, releases: Array) -> Array:
        """The logarithm of the likelihood ratio, rounded so that equal losses stay equal however they were added up."""
        noisy = flattened(releases)[:, : len(self.means[0])]
        middle, ratio = (self.means[0] + self.means[1]) / 2, float(self.ratio)
        losses = np.clip(2 * (noisy - middle) * np.sign(self.means[1] - self.means[0]) / self.scale, -ratio, ratio)
        return np.asarray(np.round(losses.sum(axis=1) / ratio * _GRID) / _GRID * ratio)
