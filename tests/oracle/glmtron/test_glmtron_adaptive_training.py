"""DP-GLMtron with thresholds from other records: what the thresholds change, what they cost, and planted bugs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import oracle
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, plan, proved_epsilon
from oracle.core.tape import Tape

Array = NDArray[np.float64]
ITEM, FIXED = oracle.algorithm("dp-glmtron-adaptive"), oracle.algorithm("dp-glmtron")
PASS = {
    "learning_rate": "0.25", "clip_norm": "0.5", "noise_over_sensitivity": "0.7", "initial_std": "0.5",
    "clip": "shorten",
}
LOUD = {  # always speaks
    "threshold_epsilon": 30, "threshold_delta": "0.1", "histogram_batches": 20, "threshold_records": 40,
}
STEPS = 6


def config(**changes: Any) -> Values:
    given = {
        **PASS, "threshold_records": 24, "threshold_scale": "0.25", "threshold_epsilon": 2, "threshold_delta": "0.1",
        "histogram_batches": 8, "model_variance": "0.3",
    }
    return ITEM.parse({**given, **changes})


def data(estimation: int = 24, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(STEPS + estimation, 3)), rng.normal(size=STEPS + estimation)


def both(x: Array, y: Array, values: Values, tape: Tape) -> list[Array]:
    alone = np.array([ITEM.reference(x, y, values, tape.one(model)) for model in range(tape.models)])
    return [alone, np.asarray(ITEM.train_batched(x, y, values, tape))]


def heard(x: Array, y: Array, values: Values, tape: Tape) -> tuple[list[float], Array]:
    """The noise of every step of one model, told by the reference, and of all, told by the twin: [steps, M]."""
    alone: list[float] = []
    together: list[Array] = []
    ITEM.reference(
        x, y, values, tape.one(0), recorder=lambda kind, **f: alone.append(f["noise_std"]) if kind == "update" else None
    )
    ITEM.train_batched(
        x, y, values, tape,
        recorder=lambda kind, **f: together.append(np.asarray(f["noise_std"])) if kind == "update" else None,
    )
    return alone, np.array(together)


def test_where_every_call_fails_the_norm_is_the_first() -> None:
    """Labels of the estimation records beyond all bins: the pass is that of a fixed norm, bit for bit on one tape."""
    x, y = data()
    y[STEPS:] = 1e200
    tape = Tape(3, 4)
    for result in both(x, y, config(), tape):
        fixed = [FIXED.reference(x[:STEPS], y[:STEPS], FIXED.parse(PASS), tape.one(model)) for model in range(4)]
        np.testing.assert_allclose(result, fixed, rtol=1e-13)


def test_where_the_scale_is_known_the_norm_is_its_multiple() -> None:
    """Estimation records without features and with labels 3: squares 9, 9, 0, so that s = sqrt(2 * 16)."""
    x, y = data(40)
    x[STEPS:], y[STEPS:] = 0.0, 3.0
    tape = Tape(3, 4)
    known = FIXED.parse({**PASS, "clip_norm": Fraction(0.25 * math.sqrt(32))})
    for result in both(x, y, config(**LOUD), tape):
        fixed = [FIXED.reference(x[:STEPS], y[:STEPS], known, tape.one(model)) for model in range(4)]
        np.testing.assert_allclose(result, fixed, rtol=1e-12)


def test_the_norm_follows_the_model() -> None:
    """It is scale sqrt(2 (2^j + V)) or scale sqrt(2 2^j) at each step, changes with w, and the twins agree on it."""
    x, y = data(40)
    x[STEPS:], y[STEPS:] = x[STEPS], 0.01
    alone, together = heard(x, y, config(**LOUD), Tape(5, 30))
    np.testing.assert_allclose(alone, together[:, 0], rtol=1e-12)
    ends = (together / (2 * 0.7 * 0.25)) ** 2 / 2
    powers = {2.0**j + v for j in range(-64, 64) for v in (0.0, 0.3)}
    assert all(min(abs(end - power) for power in powers) < 1e-9 for end in np.unique(ends.round(12)))
    assert all(len(np.unique(step)) > 1 for step in together)
    assert any(len(np.unique(model)) > 1 for model in together.T)


def test_a_failure_keeps_the_last_norm() -> None:
    """Told by the histograms: where one of three is silent, the noise is that of the step before."""
    x, y = data()
    x[STEPS:], y[STEPS:] = x[STEPS], 0.5
    silent, noises = np.zeros((STEPS, 200), dtype=bool), np.zeros((STEPS, 200))

    def recorder(kind: str, **facts: Any) -> None:
        if kind == "histograms":
            silent[facts["step"]] |= np.asarray(facts["bin"]) == -1
        elif kind == "update":
            noises[facts["step"]] = facts["noise_std"]

    ITEM.train_batched(x, y, config(threshold_epsilon="1.6"), Tape(5, 200), recorder=recorder)
    before = np.concatenate([np.full((1, 200), 2 * 0.7 * 0.5), noises[:-1]])
    np.testing.assert_array_equal(noises[silent], before[silent])
    assert (silent[1:] & ~silent[:-1]).any()
    assert silent[0].any()
    assert (noises[~silent] != before[~silent]).any()


def test_a_record_of_the_thresholds_is_not_trained_on() -> None:
    """Replacing one changes, at a fixed tape, at most the norms; where no call hears it, nothing."""
    x, y = data(40)
    changed = x.copy()
    changed[STEPS:, :] *= -1.0  # with labels 0 all squares stay
    y[STEPS:] = 0.0
    one, other = (both(given, y, config(**LOUD), Tape(2, 3))[1] for given in (x, changed))
    np.testing.assert_array_equal(one, other)


# --- what is proved


def epsilon(**changes: Any) -> Any:
    values = config(threshold_records=4000, histogram_batches=4000, **changes)
    return proved_epsilon(ITEM, values, records=4020, delta="9.67e-4")


def test_the_guarantee_is_the_weaker_of_both() -> None:
    quiet = {"noise_over_sensitivity": "20", "threshold_epsilon": "0.01", "threshold_delta": "1e-8"}
    trained = oracle.bound("glmtron.epsilon").reference(
        noise_over_sensitivity="20", dataset_size=20, delta="9.67e-4", method="upper"
    )
    thresholds = oracle.bound("dp-threshold.epsilon").reference(
        threshold_epsilon="0.01", threshold_delta="1e-8", histograms=3, calls=20, delta="9.67e-4"
    )
    assert trained.certainly_le(thresholds)
    assert epsilon(**quiet).overlaps(thresholds)
    less = {"noise_over_sensitivity": "0.5", "threshold_epsilon": "0.01", "threshold_delta": "1e-8"}
    alone = oracle.bound("glmtron.epsilon").reference(
        noise_over_sensitivity="0.5", dataset_size=20, delta="9.67e-4", method="upper"
    )
    assert thresholds.certainly_le(alone)
    assert epsilon(**less).overlaps(alone)


def test_where_there_is_no_guarantee() -> None:
    with pytest.raises(DomainError, match="no epsilon is enough"):  # 60 histograms give away more than delta
        epsilon(threshold_delta="1e-4")
    with pytest.raises(DomainError, match="no record's vector is longer than the clipping norm"):
        epsilon(threshold_epsilon="0.01", threshold_delta="1e-8", clip="printed-max")


@pytest.mark.parametrize(("changes", "message", "wanted"), [
    (
        {"threshold_records": 30}, "threshold_records = 30 is outside its domain: less than the 30 records",
        "threshold_records is below dataset_size",
    ),
    (
        {"threshold_records": 7}, "7 records are too few for the thresholds: histogram_batches = 8",
        "histogram_batches divides threshold_records",
    ),
    (
        {"threshold_records": 20}, "histogram_batches = 8 is outside its domain: a divisor of the 20 records",
        "histogram_batches divides threshold_records",
    ),
    ({"histogram_batches": 3}, r"histogram_batches = 3 .* needs 4 records", "a bin can speak"),
])
def test_too_few_records_are_refused_everywhere(changes: dict[str, Any], message: str, wanted: str) -> None:
    values = config(**changes)
    with pytest.raises(DomainError, match=f"no guarantee: .*{wanted}"):
        proved_epsilon(ITEM, values, records=30, delta="0.9")
    for train in (ITEM.reference, ITEM.train_batched):
        with pytest.raises(DomainError, match=message):
            train(*data(), values, Tape(0))


PLANNED: dict[str, Any] = {
    "dataset_size": 4020, "threshold_records": 4000, "histogram_batches": 4000, "noise_over_sensitivity": "20",
    "threshold_epsilon": "0.01", "threshold_delta": "1e-8", "clip": "shorten", "epochs": 1, "shuffled": "true",
    "thresholds": "other_records", "noisy_test": "true", "fixed_bins": "true", "released": "all_iterates",
    "neighbours": "replace", "delta": "9.67e-4",
}


def test_a_plan_that_says_what_the_training_does_proves_the_same() -> None:
    trained = epsilon(noise_over_sensitivity="20", threshold_epsilon="0.01", threshold_delta="1e-8")
    planned = plan(ITEM, PLANNED).best
    assert planned is not None
    assert planned.epsilon == trained


@pytest.mark.parametrize("change", [
    {"epochs": 2}, {"shuffled": "false"}, {"thresholds": "same_records"}, {"thresholds": "fixed"},
    {"noisy_test": "false"}, {"fixed_bins": "false"}, {"neighbours": "add_remove"}, {"clip": "printed-max"},
    {"threshold_records": 4019}, {"histogram_batches": 2000}, {"dataset_size": 4000},
], ids=str)
def test_what_a_plan_depends_on(change: dict[str, Any]) -> None:
    assert plan(ITEM, {**PLANNED, **change}).best is None


@pytest.mark.parametrize("missing", ["shuffled", "noisy_test", "fixed_bins", "clip"])
def test_what_is_not_said_is_not_assumed(missing: str) -> None:
    [judged] = plan(ITEM, {key: value for key, value in PLANNED.items() if key != missing}).judged
    assert judged.status == CONDITIONAL
