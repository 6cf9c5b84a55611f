r"""The worst case of DP-Threshold: one record moves one batch mean of all three histograms out of a full bin.

On data set 0 all squares are 0, so that all K means lie in the bin {0}. On data set 1 the last record has squares that
are not, and one mean of each histogram lies in a bin of its own: counts K - 1 and 1. With c = K - 1, s = 2/epsilon' the
scale of the noise and t = 1 + s log(1/delta') what a count must exceed, one histogram has

    no bin that speaks      F(t - K) on data set 0,        F(t - c) F(t - 1) on data set 1
    the lonely bin          0,                             1/2 e^{-(t-1)/s} - 1/8 e^{-(2t-1-c)/s}        for c < t
                                                           (3/8 + (c-t)/(4s)) e^{-(c-1)/s}               for c >= t

(F the distribution function of the noise; the last two are the integral of the lonely count's density beyond t times
the probability that the full bin's is below) and the bin {0} otherwise. The three are independent; the release is the
largest end of the bins chosen, or the failure of one: a law of at most five values.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from flint import arb

from empirical.pairs.finite_law import FiniteLaw
from empirical.pairs.generic import replaced
from empirical.pairs.pair import Builder, Pair
from oracle.algorithms.glmtron.dp_threshold import bin_of, check_size, upper_end
from oracle.algorithms.glmtron.dp_threshold_privacy import HISTOGRAMS
from oracle.core.algorithm import Values
from oracle.core.domain import positive_integer
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError, PrecisionError

NOTHING, EMPTY, LONELY = range(3)
_SIZE = 1.25  # of score and label: no square of it is a power of two, where a rounding could change the bin


def _distribution(x: arb) -> arb:
    """P(standard Laplace <= x), for an x of known sign."""
    if x < 0:
        return x.exp() / 2
    if x >= 0:
        return 1 - (-x).exp() / 2
    raise PrecisionError("a count is too close to the threshold to tell the side")


def histogram_laws(config: Values) -> tuple[list[arb], list[arb]]:
    """The probabilities of nothing, the bin {0} and the lonely bin, on both data sets."""
    scale = ball(2 / config.threshold_epsilon)
    bar = 1 - scale * ball(config.threshold_delta).log()
    full, rest = arb(config.histogram_batches), arb(config.histogram_batches - 1)
    silent = _distribution((bar - full) / scale)
    both_silent = _distribution((bar - rest) / scale) * _distribution((bar - 1) / scale)
    if rest >= bar:
        lonely = (arb(3) / 8 + (rest - bar) / (4 * scale)) * (-(rest - 1) / scale).exp()
    elif rest < bar:
        lonely = (-(bar - 1) / scale).exp() / 2 - (-(2 * bar - 1 - rest) / scale).exp() / 8
    else:
        raise PrecisionError("a count is too close to the threshold to tell the side")
    return [silent, 1 - silent, arb(0)], [both_silent, 1 - both_silent - lonely, lonely]


def _histograms(name: str, config: Values, parameters: Values) -> Pair:
    records = parameters.records
    check_size(config, records)
    weights = np.array([float(entry) for entry in config.weights])
    if not weights.any():
        raise DomainError("weights = 0 is outside its domain: a model that the canary's score can differ from 0 for")
    canary = _SIZE * weights / float(weights @ weights)
    others, labels = np.zeros((records - 1, weights.size)), np.zeros(records - 1)
    pair = replaced(others, labels, (0.0 * canary, canary), (0.0, -_SIZE), records - 1)
    size, score = records // config.histogram_batches, float(canary @ weights)
    ends = [upper_end(bin_of(r * r / size)) for r in (score + _SIZE, _SIZE, score)]
    released: list[tuple[float, float]] = []
    cases: list[tuple[int, tuple[int, ...]]] = []
    for chosen in itertools.product(range(HISTOGRAMS), repeat=HISTOGRAMS):
        value = (0.0, 0.0)
        if NOTHING not in chosen:
            reached = [end if bin_ == LONELY else 0.0 for end, bin_ in zip(ends, chosen, strict=True)]
            reached[2] += float(config.model_variance)
            value = (1.0, math.sqrt(2 * max(reached)))
        if value not in released:
            released.append(value)
        cases.append((released.index(value), chosen))

    def probabilities() -> tuple[list[arb], list[arb]]:
        totals = []
        for law in histogram_laws(config):
            total = [arb(0) for _ in released]
            for place, chosen in cases:
                weight = arb(1)
                for bin_ in chosen:
                    weight *= law[bin_]
                total[place] += weight
            totals.append(total)
        return totals[0], totals[1]

    return replace(pair, law=FiniteLaw(np.array(released), probabilities))


histogram_canary = Builder(
    name="histogram-canary",
    summary="a record that takes one batch mean of every histogram out of the bin that all others are in",
    algorithms=("dp-threshold",),
    parameters=(positive_integer("records"),),
    defaults=lambda name, config: {"records": config.histogram_batches},
    build=_histograms,
)
