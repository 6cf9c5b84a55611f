"""The search beyond the vectors: it finds, repeats itself, keeps to its time, and shrinks to simple numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making.cases import Case, Expected
from empirical.gate.result import GateSearch, Outcome, severity
from empirical.gate.shrink import complexity, simpler
from empirical.gate.verdicts import ROUNDING, GateVerdict, Interval, judge
from empirical.gate.worst_case import as_text, explore, heights, search_worst
from oracle.core.errors import PrecisionError, TargetError
from oracle.core.registry import bound, bounds
from tests.gate_targets import BOUND, BUGS, _small_scales, correct


def found(function: Any, **options: Any) -> GateSearch:
    given = {"examples": 100, "seconds": math.inf, "seed": 0, "slack": None, "rounding": ROUNDING, "unsupported": (),
             "expected": {}}
    return search_worst(LocalTarget(function), BOUND, **{**given, **options})


def worst(searched: GateSearch, verdict: GateVerdict) -> Outcome:
    (outcome,) = [item for item in searched.worst if item.judgement.verdict is verdict]
    return outcome


@pytest.mark.parametrize("seed", range(4))
def test_a_bug_in_a_small_region_is_found_and_shrunk(seed: int) -> None:
    # The region takes one eighth of the range of the scale and a half of that of epsilon.
    outcome = worst(found(_small_scales, seed=seed), GateVerdict.UNSOUND)
    assert not outcome.good
    assert severity(outcome) == pytest.approx(1e-6, rel=0.01)
    assert outcome.case.input["scale"] in ("0.1", "0.05")
    assert outcome.case.input["sensitivity"] == "1.0"
    assert outcome.case.input["epsilon"] == "0.0"


@pytest.mark.full
def test_the_same_seed_asks_the_same_questions() -> None:
    asked: list[list[Any]] = [[], []]
    for calls in asked:
        found(lambda calls=calls, **given: calls.append(tuple(given.values())) or _small_scales(**given))
    assert asked[0] == asked[1]
    other: list[Any] = []
    found(lambda **given: other.append(tuple(given.values())) or correct(**given), seed=1)
    assert other != asked[0]


def _nearest(seed: int, *, told: bool) -> float:
    """How near to a point far from everything simple so many examples come, told how near they are or not."""
    distances = []

    def visit(point: Mapping[str, Any]) -> tuple[float, float] | None:
        distances.append(abs(math.log(point["scale"] / 37.7)) + abs(math.log(point["sensitivity"] / 0.0123)))
        return (-distances[-1], 0.0) if told else None

    explore(BOUND, visit, examples=300, seed=seed)
    return min(distances)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_the_search_climbs(seed: int) -> None:
    assert _nearest(seed, told=True) < 0.05 < _nearest(seed, told=False)


@pytest.mark.full
def test_time_cuts_it_short(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0

    def slow(**given: Any) -> float:
        nonlocal passed
        passed += 0.05
        return correct(**given)

    monkeypatch.setattr("empirical.gate.worst_case.time.monotonic", lambda: passed)
    searched = found(slow, seconds=0.3)
    assert searched.cut_short
    assert 0 < searched.judged < 20
    assert "cut short" in searched.told
    assert not found(correct).cut_short


def test_what_cannot_be_certified_is_counted_and_never_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: Any, **__: Any) -> Any:
        raise PrecisionError("no digits left")

    monkeypatch.setattr("empirical.gate.worst_case.certified", stuck)
    searched = found(correct)
    assert (searched.judged, searched.worst) == (0, ())
    assert searched.uncertified > 50
    assert "not certified" in searched.told


def test_what_no_double_could_tell_is_left_out() -> None:
    gaussian = bound("gaussian.delta")  # whose truth at a large epsilon is far below the doubles
    searched = search_worst(
        LocalTarget(lambda **_: 0.0), gaussian, examples=100, seconds=math.inf, seed=0, slack=None, rounding=ROUNDING,
        unsupported=(), expected={},
    )
    assert searched.outside > 0
    truth = worst(searched, GateVerdict.UNSOUND).case.expected
    assert truth is not None
    assert truth.lower >= Fraction(1, 10**300)


def test_a_target_that_is_gone_is_no_finding() -> None:
    class Gone(LocalTarget):
        def ask(self, *_: Any) -> Any:
            raise TargetError("gone")

    with pytest.raises(TargetError, match="gone"):
        search_worst(
            Gone(correct), BOUND, examples=10, seconds=math.inf, seed=0, slack=None, rounding=ROUNDING, unsupported=(),
            expected={},
        )


@pytest.mark.full
def test_loose_answers_are_shown_and_fail_only_with_a_slack() -> None:
    def loose(**given: Any) -> float:
        return correct(**given) * (3 if given["scale"] > 1 else 1)

    outcome = worst(found(loose), GateVerdict.LOOSE)
    assert outcome.good
    assert outcome.judgement.factor == pytest.approx(3)
    assert not worst(found(loose, slack=Fraction(2)), GateVerdict.LOOSE).good


def test_crashes_are_found() -> None:
    outcome = worst(found(BUGS["crashes"]), GateVerdict.CRASH)
    assert outcome.call.endswith("(scale=1.0, sensitivity=1.0, epsilon=0.0)")


@pytest.mark.parametrize("name", sorted(bounds()))
def test_every_bound_can_be_drawn_as_a_case(name: str) -> None:
    item, seen = bounds()[name], []

    def visit(point: Mapping[str, Any]) -> None:
        given = {key: as_text(value) for key, value in point.items()}
        item.parse({key: list(text) if isinstance(text, tuple) else text for key, text in given.items()})
        seen.append(given)

    explore(item, visit, examples=3, seed=0)
    assert seen
    for candidate in simpler(item, seen[-1]):
        assert candidate.keys() == seen[-1].keys()


def test_simple_numbers_come_first() -> None:
    ordered = ["1.0", "0.0", "0.5", "2.0", "3.0", "0.1", "1e-05", "0.15", "0.4837498"]
    assert sorted(ordered, key=complexity) == ordered
    given = {"scale": "0.4837498", "sensitivity": "1.0", "epsilon": "0.0"}
    candidates = [candidate["scale"] for candidate in simpler(BOUND, given) if candidate["scale"] != given["scale"]]
    assert candidates[:3] == ["1.0", "0.0", "0.5"]
    assert "0.48" in candidates
    assert all(complexity(text) < complexity("0.4837498") for text in map(str, candidates))
    assert [c for c in simpler(BOUND, {**given, "scale": "1.0"}) if c["sensitivity"] == "1.0"] != []


def test_heights_rank_answers() -> None:
    truth = Case(BOUND.name, 0, {}, Expected(Fraction(1), Fraction(1)))
    for safe in ("upper", "lower"):
        values = [0.5, 1 - 1e-6, 1.0, 1 + 1e-6, 2.0, float("inf")]
        measured = []
        for value in values:
            end = Fraction(value) if value != float("inf") else value
            measured.append(heights(truth, judge(truth, Interval(end, end), safe=safe), safe))
        unsound = [height[0] for height in measured if height is not None]
        assert unsound == sorted(unsound, reverse=safe == "upper")
        assert [-height[0] for height in measured if height] == [height[1] for height in measured if height]
