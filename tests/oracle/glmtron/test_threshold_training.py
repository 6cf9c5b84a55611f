"""DP-Threshold: bins, exact laws of what speaks, symmetries, privacy of one histogram, guarantee and errors."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import integrate, stats

import oracle
from oracle.algorithms.glmtron import dp_threshold, torch_dp_threshold
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.planning import proved_epsilon
from oracle.core.tape import Tape
from tests.checks import check_twins

Array = NDArray[np.float64]
ITEM = oracle.algorithm("dp-threshold")
MODELS = 20_000


def config(**changes: Any) -> Values:
    given = {
        "threshold_epsilon": 1, "threshold_delta": "0.1", "histogram_batches": 8, "model_variance": 0, "weights": "2",
    }
    return ITEM.parse({**given, **changes})


def equal(records: int = 8, score: float = 1.0, label: float = 1.0) -> tuple[Array, Array]:
    """Records that are all the same: with w = 2 the squares are (2 score - label)^2, label^2 and 4 score^2."""
    return np.full((records, 1), score), np.full(records, label)


def released(x: Array, y: Array, values: Values, models: int = MODELS, seed: int = 1) -> Array:
    return np.asarray(ITEM.train_batched(x, y, values, Tape(seed, models)))


def silence(gap: float, scale: float) -> float:
    """P(a Laplace variable of that scale <= gap)."""
    return 1 - math.exp(-gap / scale) / 2 if gap >= 0 else math.exp(gap / scale) / 2


def close(count: int, probability: float, of: int = MODELS) -> bool:
    """Whether so many of so many agree with a probability; wrong once in 10^6."""
    return bool(stats.binomtest(count, of, probability).pvalue > 1e-6)


# --- bins


def test_bins_are_half_open_between_powers_of_two() -> None:
    powers = [2.0**j for j in range(-dp_threshold.REACH, dp_threshold.REACH)]
    values = [0.0, 5e-324, 2.0**-65, math.nextafter(2.0**-64, 0), *powers, *(math.nextafter(p, 0) for p in powers[1:]),
              *(1.3 * p for p in powers), math.nextafter(2.0**64, 0), 2.0**64, 1e300, math.inf, math.nan]
    numbers = [dp_threshold.bin_of(value) for value in values]
    batched = torch_dp_threshold.bins(torch.tensor([values], dtype=torch.float64))
    assert batched[0].tolist() == numbers
    assert set(numbers) == set(range(dp_threshold.BINS))
    for value, number in zip(values, numbers, strict=True):
        if number not in (0, dp_threshold.BINS - 1):
            end = dp_threshold.upper_end(number)
            assert value < end
            assert number == 1 or value >= end / 2
    assert dp_threshold.upper_end(0) == 0
    assert dp_threshold.bin_of(math.nan) == dp_threshold.BINS - 1


@pytest.mark.parametrize(("score", "label", "variance", "s"), [
    (1.0, 1.0, 0, 4.0),  # squares 1, 1 and 4: upper ends 2, 2 and 8
    (0.0, 3.0, 0, math.sqrt(32)),  # squares 9, 9 and 0
    (0.0, 0.0, 0, 0.0),  # all are 0, whose bin ends there
    (0.0, 0.0, "0.5", 1.0),  # the variance belongs to the third
    (1.0, 1.0, "0.5", math.sqrt(17)),
    (0.0, 3.0, 1, math.sqrt(32)),
    (-0.7, 1.0, 0, 4.0),  # squares 5.76, 1 and 1.96
])
def test_the_scale_is_the_largest_of_three(score: float, label: float, variance: Any, s: float) -> None:
    """Little noise, forty batches: every histogram speaks for its only bin."""
    values = config(threshold_epsilon=30, histogram_batches=40, model_variance=variance)
    x, y = equal(80, score, label)
    for result in (ITEM.reference(x, y, values, Tape(0)), released(x, y, values, 1)[0]):
        np.testing.assert_allclose(result, [1.0, s], rtol=1e-14)


# --- exact laws


def test_a_full_bin_speaks_as_often_as_laplace_says() -> None:
    """All K = 8 counts in one bin, bar 1 + 2 log 10: all three speak with the cube of one probability."""
    speaks = 1 - silence(1 + 2 * math.log(10) - 8, 2)
    values = released(*equal(), config())
    assert close(int(values[:, 0].sum()), speaks**3)
    assert set(np.unique(values[:, 1])) == {0.0, 4.0}
    np.testing.assert_array_equal(values[:, 0], values[:, 1] > 0)


def test_a_single_count_speaks_with_half_of_delta() -> None:
    """Seven means in one bin and one in another, of the labels only: the single one speaks with delta'/2.

    It is then the largest as often as the integral over its noise says.
    """
    x, y = np.zeros((8, 1)), np.ones(8)
    y[3] = 10.0
    heard: list[NDArray[np.int64]] = []

    def recorder(kind: str, **facts: Any) -> None:
        if facts["histogram"] == 1:
            heard.append(np.asarray(facts["bin"]))

    ITEM.train_batched(x, y, config(), Tape(3, MODELS), recorder=recorder)
    bar, single, many = 1 + 2 * math.log(10), dp_threshold.bin_of(100.0), dp_threshold.bin_of(1.0)
    law = stats.laplace(scale=2)

    def wins(own: int, other: int) -> float:
        return float(integrate.quad(lambda z: law.pdf(z - own) * law.cdf(max(z - other, -700)), bar, 60)[0])

    chosen = np.concatenate(heard)
    assert law.sf(bar - 1) == pytest.approx(0.1 / 2)
    assert close(int((chosen == single).sum()), wins(1, 7))
    assert close(int((chosen == many).sum()), wins(7, 1))
    assert close(int((chosen == -1).sum()), silence(bar - 1, 2) * silence(bar - 7, 2))


def test_what_one_histogram_chooses_is_private() -> None:
    """The exact law of the chosen bin for counts (a, b) and (a - 1, b + 1), for all of few counts: (1, delta'/2)-DP."""
    bar, law = 1 + 2 * math.log(10), stats.laplace(scale=2)

    def chosen(first: int, second: int) -> Array:
        def wins(own: int, other: int) -> float:
            if own == 0:
                return 0.0
            quiet = (lambda z: law.cdf(z - other)) if other else (lambda z: 1.0)
            points = [p for p in (own, other) if p > bar]
            return float(integrate.quad(lambda z: law.pdf(z - own) * quiet(z), bar, 60, points=points or None)[0])

        both = [wins(first, second), wins(second, first)]
        return np.array([*both, 1 - sum(both)])

    worst = 0.0
    for total in (1, 2, 8, 12):
        laws = [chosen(count, total - count) for count in range(total + 1)]
        for one, other in itertools.pairwise(laws):
            for a, b in ((one, other), (other, one)):
                worst = max(worst, float(np.maximum(a - math.e * b, 0).sum()))
    assert 0.049 < worst <= 0.05 + 1e-9  # delta'/2, and the bin of a single record reaches it


def test_a_bin_without_upper_end_is_a_failure() -> None:
    """Squares of 2^64 and more, or that overflow: the last bin wins, and there is nothing to say."""
    values = config(threshold_epsilon=30, histogram_batches=40)
    for label in (2.0**32, 1e200):
        x, y = equal(40, 1.0, label)
        assert not released(x, y, values, 3).any()
        assert not ITEM.reference(x, y, values, Tape(0)).any()


# --- symmetries


def test_only_the_batch_of_a_record_matters() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(24, 1)), rng.normal(size=24)
    within = np.concatenate([3 * batch + rng.permutation(3) for batch in range(8)])
    among = np.concatenate([3 * batch + np.arange(3) for batch in rng.permutation(8)])
    plain = released(x, y, config(), 50)
    assert len({row.tobytes() for row in plain}) > 1
    for order in (within, among):
        np.testing.assert_array_equal(released(x[order], y[order], config(), 50), plain)


@dataclass(frozen=True)
class Moved(Tape):
    """Every bin has the noise of the bin two below."""

    def laplace(self, purpose: str, step: int, count: int) -> Array:
        return np.roll(super().laplace(purpose, step, count), 2, axis=1)


def test_doubling_all_outputs_doubles_the_scale() -> None:
    x, y = np.random.default_rng(4).normal(size=(2, 24))
    small = released(x[:, None], y, config(model_variance="0.25", threshold_epsilon=2), 50)
    doubled = config(model_variance=1, threshold_epsilon=2)
    large = np.asarray(ITEM.train_batched(2 * x[:, None], 2 * y, doubled, Moved(1, 50)))
    assert small[:, 0].any()
    np.testing.assert_array_equal(large, small * [1, 2])


def test_the_recorder_hears_the_same_of_both() -> None:
    rng = np.random.default_rng(6)
    x, y, tape = rng.normal(size=(16, 1)), rng.normal(size=16), Tape(2, 4)
    together: list[dict[str, Any]] = []
    ITEM.train_batched(x, y, config(), tape, recorder=lambda kind, **facts: together.append(facts))
    assert [facts["histogram"] for facts in together] == [0, 1, 2]
    for model in range(4):
        alone: list[dict[str, Any]] = []
        ITEM.reference(x, y, config(), tape.one(model), recorder=lambda kind, a=alone, **facts: a.append(facts))
        for one, all_of_them in zip(alone, together, strict=True):
            assert one["bin"] == int(all_of_them["bin"][model])
            np.testing.assert_allclose(one["means"], np.asarray(all_of_them["means"])[0], rtol=1e-13)


# --- what is proved, and errors


def test_the_guarantee_is_between_one_histogram_and_three() -> None:
    """Three of (epsilon', delta'/2): at most the sums; at least one Laplace pair at the same delta; else a reason."""
    values = config(threshold_epsilon="0.5", threshold_delta="1e-6", histogram_batches=80)
    leaked = 3 * 5e-7
    value = proved_epsilon(ITEM, values, records=160, delta=leaked * 1.01)
    assert value.certainly_le(3 * values.threshold_epsilon)
    assert not value.possibly_le(values.threshold_epsilon)
    assert not proved_epsilon(ITEM, values, records=160, delta="0.01").possibly_le(0.2)
    with pytest.raises(DomainError):
        proved_epsilon(ITEM, values, records=160, delta=leaked * 0.9)


SPEAKS = r"histogram_batches is above 1 \+ \(2/threshold_epsilon\) log\(1/threshold_delta\)"
DIVIDES = "histogram_batches divides dataset_size"


@pytest.mark.parametrize(("changes", "records", "message", "wanted"), [
    (
        {"histogram_batches": 5}, 10,
        r"histogram_batches = 5 .* at least 6, .* exceed 5\.60517; that needs 6 records", SPEAKS,
    ),
    (
        {"threshold_epsilon": "0.0027", "threshold_delta": "8.8e-7", "histogram_batches": 550}, 550,
        "needs 10330 records", SPEAKS,
    ),
    ({}, 7, "7 records are too few for the thresholds: histogram_batches = 8", DIVIDES),
    ({}, 12, "histogram_batches = 8 is outside its domain: a divisor of the 12 records", DIVIDES),
])
def test_too_few_records_are_refused_with_the_number_needed(
    changes: Any, records: int, message: str, wanted: str
) -> None:
    values = config(**changes)
    with pytest.raises(DomainError, match=f"no guarantee: .*{wanted}"):
        proved_epsilon(ITEM, values, records=records, delta="0.9")
    for train in (ITEM.reference, ITEM.train_batched):
        with pytest.raises(DomainError, match=message):
            train(*equal(records), values, Tape(0))


def test_a_model_of_another_dimension_is_refused() -> None:
    for train in (ITEM.reference, ITEM.train_batched):
        with pytest.raises(DomainError, match=r"weights of 2 entries .* 1 features"):
            train(*equal(), config(weights="1,2"), Tape(0))


@pytest.mark.parametrize("changes", [
    {"threshold_epsilon": 0}, {"threshold_delta": 0}, {"threshold_delta": 1}, {"histogram_batches": 0},
    {"model_variance": -1},
])
def test_a_configuration_outside_its_domain_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        config(**changes)


def test_a_tiny_delta_is_no_overflow() -> None:
    values = config(threshold_epsilon=10, threshold_delta="1e-1000", histogram_batches=470)
    check_twins(ITEM.reference, ITEM.train_batched, equal(470), values, Tape(0, 3))
