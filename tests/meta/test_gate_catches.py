"""Bugs planted in implementations, which the gate must catch by vectors and by search; and bugs planted in the gate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.special import log_ndtr

import empirical.gate.gate_run as runner
import tests.gate.test_gate_run as run_tests
import tests.gate.test_gate_search as search_tests
import tests.gate.test_gate_targets as target_tests
from empirical.gate import vector_files
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making.cases import Case
from empirical.gate.result import Result
from empirical.gate.verdicts import GateVerdict
from empirical.gate.xfail import Xfails
from oracle import bound
from tests.gate_targets import BUGS, correct

Choice = Callable[[Case], bool]
SEEN = (AssertionError, pytest.fail.Exception)
NOT_SEARCHED = {"accepts negative", "accepts NaN", "refuses the large"}  # the search looks for wrong numbers


def judged(name: str, function: Callable[..., Any], *, search: int, chosen: Choice = lambda _: True) -> Result:
    """A function held to the shipped vectors of a bound, or to the search alone."""
    cases = [] if search else [case for case in vector_files.load(name).cases if chosen(case)]
    return runner.run(LocalTarget(function), bound(name), cases, search=search)


def failed(result: Result) -> set[GateVerdict]:
    return {outcome.judgement.verdict for outcome in result.failures}


def gaussian_delta(*, sigma: Any, sensitivity: Any, epsilon: Any) -> float:
    """Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m), by logarithms, a little above the truth."""
    if not (0 < sigma < math.inf and 0 < sensitivity < math.inf and 0 <= epsilon < math.inf):
        raise ValueError(f"sigma = {sigma}, sensitivity = {sensitivity}, epsilon = {epsilon}")
    ratio = sensitivity / sigma
    first = float(log_ndtr(ratio / 2 - epsilon / ratio))
    second = epsilon + float(log_ndtr(-ratio / 2 - epsilon / ratio))
    difference = -math.expm1(min(0.0, second - first))
    # The subtraction loses digits where the two are close, and the logarithms where they are large.
    error = 1e-14 * (1 + abs(first) + abs(second) + epsilon)
    return min(1.0, math.exp(first) * (difference + error))


@pytest.mark.parametrize(("name", "function"), [("laplace.delta", correct), ("gaussian.delta", gaussian_delta)])
def test_a_correct_implementation_is_not_flagged(name: str, function: Callable[..., Any]) -> None:
    for search in (0, 100):
        result = judged(name, function, search=search)
        assert not result.failures, result.failures[0]


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught_by_the_vectors(bug: str) -> None:
    assert failed(judged("laplace.delta", BUGS[bug], search=0))


@pytest.mark.parametrize("bug", sorted(set(BUGS) - NOT_SEARCHED))
def test_a_planted_bug_is_caught_by_the_search_alone(bug: str) -> None:
    assert failed(judged("laplace.delta", BUGS[bug], search=100))


def _quick(case: Case) -> bool:
    """Whether our accountant answers in a tenth of a second: not a tiny noise, and not an extreme of anything."""
    return case.valid and case.input["sigma"] in ("1", "5", "15") and case.input["sampling_rate"] in (
        "0.01", "0.016666666666666666", "1", "0"
    )


def _fast(**given: Any) -> float:
    return float(bound("poisson-gaussian.epsilon").fast(**given))


OTHER = {"add_remove": "replace", "replace": "add_remove"}
SAMPLED_BUGS: dict[str, Callable[..., Any]] = {
    "relation mixed up": lambda *, neighbours, **given: _fast(neighbours=OTHER.get(neighbours, neighbours), **given),
    "off by one in steps": lambda *, steps, **given: _fast(steps=max(0, steps - 1), **given),
    "delta * 10": lambda *, delta, **given: _fast(delta=min(10 * delta, 0.999) if delta < 1 else delta, **given),
    "half of the sampling rate": lambda *, sampling_rate, **given: _fast(sampling_rate=sampling_rate / 2, **given),
}


@pytest.mark.full
@pytest.mark.parametrize("bug", SAMPLED_BUGS)
@pytest.mark.parametrize("search", [0, 10])
def test_a_bug_of_an_accountant_is_caught(bug: str, search: int) -> None:
    result = judged("poisson-gaussian.epsilon", SAMPLED_BUGS[bug], search=search, chosen=_quick)
    assert GateVerdict.UNSOUND in failed(result)


def test_the_fast_path_of_an_accountant_is_not_flagged() -> None:
    assert not judged("poisson-gaussian.epsilon", _fast, search=0, chosen=_quick).failures


def test_forgiving_too_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = runner.judge
    monkeypatch.setattr(runner, "judge", lambda *a, **k: judge(*a, **{**k, "rounding": Fraction(1, 10**6)}))
    with pytest.raises(SEEN):
        test_a_planted_bug_is_caught_by_the_vectors("1e-9 too small")


def test_an_expected_failure_that_excuses_a_pass_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled = runner.settled

    def lenient(*args: Any, **options: Any) -> Any:
        outcome = settled(*args, **options)
        return replace(outcome, good=outcome.good or outcome.expected_failure is not None)

    monkeypatch.setattr(runner, "settled", lenient)
    for test in (
        run_tests.test_an_expected_failure_that_passes_is_a_failure_that_names_the_line,
        run_tests.test_another_failure_than_the_expected_one_fails,
    ):
        with pytest.raises((*SEEN, ValueError)):  # there is no failure to unpack
            test(tmp_path)


def test_an_entry_that_names_nothing_taken_for_fine_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Xfails, "of_cases", lambda *_: {})
    with pytest.raises(SEEN):
        run_tests.test_an_entry_that_names_nothing_is_an_error("verdict = 'CRASH'\ncases = [99]", "none", tmp_path)


def test_silence_taken_for_a_pass_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_silent", lambda _: "")
    with pytest.raises(SEEN):
        run_tests.test_a_target_that_never_answers_is_no_pass()


def test_every_refusal_taken_for_unsupported_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = runner.settled
    monkeypatch.setattr(
        runner, "settled",
        lambda *a, **k: replace(out := settled(*a, **k), good=out.good or out.judgement.verdict is GateVerdict.REFUSED),
    )
    with pytest.raises(SEEN):
        run_tests.test_an_unsupported_word_is_reported_and_excused()


def test_a_search_that_does_not_climb_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.gate.worst_case._climb", lambda *_: None)
    with pytest.raises(SEEN):
        search_tests.test_the_search_climbs(0)


def test_a_search_that_does_not_shrink_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.gate.worst_case.shrink", lambda worst, *_, **__: worst)
    with pytest.raises(SEEN):
        search_tests.test_a_bug_in_a_small_region_is_found_and_shrunk(0)


def test_what_cannot_be_certified_counted_as_judged_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.gate.worst_case._Search.examine", lambda self, _: setattr(self.counts, "judged", 60))
    with pytest.raises(SEEN):
        search_tests.test_what_cannot_be_certified_is_counted_and_never_passes(monkeypatch)


def test_a_crash_taken_for_a_refusal_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("empirical.gate.gate_targets.Breakdown", lambda verdict, why: target_tests.Refusal(why))
    with pytest.raises(SEEN):
        target_tests.test_a_hostile_call_loses_its_case_only("aborts", tmp_path)
