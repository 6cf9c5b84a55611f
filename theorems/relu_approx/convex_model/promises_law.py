r"""What the audit of Lemma 3.2's step sizes has to find: a certified epsilon of its run.

All hyperplanes are active for every record of the pair, so that only the sum S of the P vectors v_i matters to them,
two numbers: b_j equal records x (of b in the batch, label 0) move it by

    S <- ((1 - eta lambda) I - eta P (b_j/b) x x^T) S + N(0, P (eta sigma)^2 I),

as long as none of them is clipped, that is |<x, S>| sqrt(P) |x| <= C; the canary, always clipped, adds
+-eta C sqrt(P) / b along e_1. Let q bound the probability that a record is clipped that should not be, or the canary is
not: a sum of normal tails over all steps, computed in the linear process, from which the run does not differ before
that happens. The linear process ends in N(+-m, V) with one covariance, so a test <l, S> > t gives

    epsilon >= log((Phi((<l, m> - t) / r) - q - delta) / (Phi(-(<l, m> + t) / r) + q)),      r^2 = l^T V l.

Everything is in balls but l and t, which may be anything. The weights of a run are real numbers here; in doubles they
differ by rounding.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat

from empirical.audits.literal import Array
from empirical.pairs.pair import Pair
from oracle.algorithms.convex_relu.convex_relu import hyperplanes
from oracle.core.algorithm import Values
from oracle.core.domain import Number, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.tape import Tape
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.tools.decisions import epsilon_of_test

_CANDIDATES = 400


@dataclass(frozen=True)
class Final:
    """The linear process at the end: its mean on data set 1, its covariance, and q."""

    mean: arb_mat
    covariance: arb_mat
    clipped: arb

    def along(self, direction: Array) -> tuple[arb, arb]:
        """The mean and the standard deviation of <l, S>."""
        row = arb_mat(1, 2, [arb(float(entry)) for entry in direction])
        return (row * self.mean)[0, 0], (row * self.covariance * row.transpose())[0, 0].sqrt()


def _beyond(bar: arb, mean: arb, std: arb) -> arb:
    """P(|N(mean, std^2)| > bar)."""
    return normal_upper_tail((bar - mean) / std) + normal_upper_tail((bar + mean) / std)


def _column(x: Array) -> arb_mat:
    return arb_mat(2, 1, [arb(float(entry)) for entry in x])


def _check_active(pair: Pair, config: Values) -> None:
    u = hyperplanes(config, 2, Tape(config.hyperplane_seed))
    if not (np.unique(pair.features[1], axis=0) @ u.T >= 0).all():
        raise DomainError(f"hyperplane_seed = {config.hyperplane_seed}: a hyperplane is not active for every record")


def process(pair: Pair, config: Values) -> Final:
    """The linear process, step by step, at the working precision; the canary is the first record."""
    eta, lam = ball(config.learning_rate), ball(config.regularisation)
    sigma, clip_norm = ball(config.noise_on_mean), ball(config.clip_norm)
    hyper, size = config.hyperplanes, config.batch_size
    features, labels = pair.features[1][1:], pair.labels[1][1:]
    if labels.any() or pair.canary != 0:
        raise DomainError("the law is known where the canary is the first record and all other labels are 0")
    starts = [0, *range(size - 1, len(features), size)]
    batches = [
        np.unique(features[start:end], axis=0, return_counts=True)
        for start, end in itertools.pairwise([*starts, len(features)])
    ]
    canary, target = pair.features[1][0], float(pair.labels[1][0])
    push = _column(canary) * (eta * clip_norm * ball(hyper).sqrt() / (size * float(np.linalg.norm(canary))))
    noise = ball(hyper) * (eta * sigma) ** 2
    mean, covariance, clipped = arb_mat(2, 1), arb_mat(2, 2), arb(0)
    root = ball(hyper).sqrt()
    for step in range(config.epochs * len(batches)):
        rows, counts = batches[step % len(batches)]
        matrix = arb_mat([[1 - eta * lam, 0], [0, 1 - eta * lam]])
        first = step % len(batches) == 0
        for x, count in zip(rows, counts, strict=True):
            if not x.any():
                continue
            column = _column(x)
            length = (column.transpose() * column)[0, 0].sqrt()
            at = (column.transpose() * mean)[0, 0]
            std = (column.transpose() * covariance * column)[0, 0].sqrt()
            if step:  # at the start S = 0
                clipped += _beyond(clip_norm / (root * length), at, std)
            matrix -= column * column.transpose() * (eta * hyper * int(count) / size)
        if first and step:
            column = _column(canary)
            at, std = (column.transpose() * mean)[0, 0], (column.transpose() * covariance * column)[0, 0].sqrt()
            clipped += normal_upper_tail((target - clip_norm / root - at) / std)
        mean = matrix * mean + (push if first else arb_mat(2, 1))
        covariance = matrix * covariance * matrix.transpose() + arb_mat([[noise, 0], [0, noise]])
    return Final(mean, covariance, clipped)


def at_least(pair: Pair, config: Values) -> Callable[[Number], Enclosure]:
    """The certified number, as a function of delta, below which the epsilon of the run is not."""
    _check_active(pair, config)

    def certified(delta: Number) -> Enclosure:
        level = probability("delta").rational(delta)
        chosen: list[tuple[Array, float]] = []

        def rates() -> tuple[arb, arb]:
            final = process(pair, config)
            if not chosen:
                chosen.append(_test(final, float(level)))
            direction, threshold = chosen[0]
            mean, std = final.along(direction)
            power = normal_upper_tail((threshold - mean) / std) - final.clipped
            return power, normal_upper_tail((threshold + mean) / std) + final.clipped

        return epsilon_of_test(delta, rates)

    return certified


def _test(final: Final, delta: float) -> tuple[Array, float]:
    """The direction V^-1 m and the best of some thresholds, in doubles: whatever is taken, the proof holds."""
    matrix = np.array([[float(final.covariance[i, j].mid()) for j in range(2)] for i in range(2)])
    gap = np.array([float(final.mean[i, 0].mid()) for i in range(2)])
    direction = np.linalg.solve(matrix, gap)
    centre, spread = float(direction @ gap), math.sqrt(float(direction @ matrix @ direction))
    clipped = float(final.clipped.upper())
    thresholds = np.linspace(-centre, 8 * spread, _CANDIDATES)
    power = [math.erfc((t - centre) / spread / math.sqrt(2)) / 2 - clipped - delta for t in thresholds]
    alarms = [math.erfc((t + centre) / spread / math.sqrt(2)) / 2 + clipped for t in thresholds]
    ratios = [high / low if low > 0 else 0.0 for high, low in zip(power, alarms, strict=True)]
    return direction, float(thresholds[int(np.argmax(ratios))])
