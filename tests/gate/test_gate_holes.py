"""Planted holes: an accountant that is right but for one region is called UNSOUND by the gate's default run."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from empirical.gate import vector_files
from empirical.gate.gate_run import run
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making import partition
from empirical.gate.making.cases import Case, Expected, arguments
from empirical.gate.making.partition import uncovered
from empirical.gate.policy import DEFAULT
from empirical.gate.searching import screen as screens
from empirical.gate.searching.holes import KINDS, LEAST, Hole, Planter, caught
from empirical.gate.searching.holes_cli import is_enough, line, planted, table
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict, Interval
from empirical.gate.worst_case import Suspicion
from oracle.core.registry import bounds
from oracle.running.console import run as command
from reports.cli import app

NAME = "composition.basic"
SAMPLE = (NAME, "noisy-cgd.mu")
OTHERS = ("convex-relu.step", "gaussian.epsilon", "tree.epsilon", "shifted.mu")
planter = functools.cache(Planter)

# Accountants that passed with exit code 0 while the vectors had holes: where each answers 0.
PASSED: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    "few steps": ("poisson-gaussian.epsilon", lambda v: 2 <= v["steps"] <= 9 or 11 <= v["steps"] <= 49),
    "small rates": ("poisson-gaussian.epsilon", lambda v: 0 < v["sampling_rate"] < 3e-4),
    "no noise for few steps": ("poisson-gaussian.sigma", lambda v: 2 <= v["steps"] <= 59),
    "few steps of DP-SGD": ("dp-sgd.epsilon", lambda v: 1 <= v["steps"] <= 99),
}


@pytest.mark.parametrize("what", PASSED)
def test_accountants_that_passed_fail_by_the_vectors_alone(what: str) -> None:
    name, inside = PASSED[what]
    item, cases = bounds()[name], vector_files.load(name).cases
    # Right by heart outside the region, so that nothing else can be called unsound.
    known = {
        tuple(arguments(item, case.input).values()): case.expected.upper for case in cases if case.expected is not None
    }

    def answer(**given: Any) -> Any:
        item.parse(given)
        return 0.0 if inside(given) else known[tuple(given.values())]

    result = run(LocalTarget(answer), item, cases, search=0)
    unsound = [outcome for outcome in result.outcomes if outcome.judgement.verdict is GateVerdict.UNSOUND]
    assert unsound
    assert all(not outcome.good and outcome.judgement.answer == "0" for outcome in unsound)


@pytest.mark.parametrize("name", [*SAMPLE, *(pytest.param(name, marks=pytest.mark.full) for name in OTHERS)])
def test_a_fixed_sample_of_holes_is_found(name: str) -> None:
    holes = planter(name).holes(6)
    assert [hole for hole in holes if not caught(planter(name), hole).by] == []


@pytest.mark.parametrize("name", [NAME, pytest.param("gaussian.epsilon", marks=pytest.mark.full)])
def test_an_honest_accountant_is_not_accused(name: str) -> None:
    assert caught(planter(name), None).by == ""


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(bounds()))
def test_the_holes_of_every_bound_are_found(name: str) -> None:
    found = planted(name, 20, 0)
    assert is_enough(found), line(name, found)


def test_holes_are_of_every_kind_and_size() -> None:
    holes = planter("tree.epsilon").holes(20)
    assert {hole.kind for hole in holes} == set(KINDS)
    assert all(hole.share >= LEAST for hole in holes)
    assert sum(hole.share < 0.05 for hole in holes) >= 5
    assert holes == Planter("tree.epsilon").holes(20)
    single = [limit for hole in holes if hole.kind == "count" for limit in hole.limits.values()]
    assert any(limit[0] == limit[1] for limit in single)


def suspects(function: Callable[..., float], cases: Sequence[Case] | None = None) -> screens.Screen:
    """What a screen of a few points finds suspicious in an accountant of the basic composition."""
    item = bounds()[NAME]
    target = Suspicion(LocalTarget(function), item, DEFAULT, (), {})
    known = vector_files.load(NAME).cases if cases is None else cases
    return screens.screen(item, target.ask, known, points=500, seconds=600.0, seed=0)


def right(**given: Any) -> float:
    return float(given["base_epsilon"] * given["steps"] * (1 + 1e-15))


def is_inside(given: Mapping[str, Any]) -> bool:
    return 0.02 <= float(given["base_epsilon"]) <= 0.03


def with_hole(**given: Any) -> float:
    return 0.0 if is_inside(given) else right(**given)


def test_the_screen_needs_no_vectors() -> None:
    """Where there is nothing but the float64 formula, a thin slab stands out."""
    found = suspects(with_hole, ()).suspects["clear"]
    assert found
    assert all(map(is_inside, found))


def test_certified_neighbours_and_edges_need_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where float64 has no answer, easier points prove, and the target's own jumps tell."""
    monkeypatch.setattr(screens, "estimates", lambda _, points: [math.nan] * len(points))
    found = suspects(with_hole).suspects["clear"]
    assert found
    assert all(map(is_inside, found))
    assert any(map(is_inside, suspects(with_hole).suspects["edge"]))
    # One branch is 5 % too small: its edge is seen on both sides.
    found = suspects(lambda **v: (0.95 if v["base_epsilon"] > 0.3 else 1.0) * right(**v)).suspects["edge"]
    sides = [float(str(given["base_epsilon"])) for given in found]
    assert min(sides) < 0.3 < max(sides)
    assert sum(0.1 < side < 0.9 for side in sides) > len(sides) / 2


def test_cells_without_a_vector_are_asked() -> None:
    asked: list[Mapping[str, Any]] = []

    def answer(**given: Any) -> float:
        asked.append(given)
        return right(**given)

    item, cases = bounds()[NAME], [case for case in vector_files.load(NAME).cases if case.input["steps"] == "100"]
    missing = uncovered(item, cases)
    suspects(answer, cases)
    first = asked[: len(missing)]
    assert missing <= {pair for given in first for pair in partition.covered(partition.located(item, given))}


def test_an_accusation_rests_on_the_certified_truth_at_that_point() -> None:
    item = bounds()[NAME]
    target = Suspicion(LocalTarget(lambda **v: 0.5 * right(**v)), item, DEFAULT, (), {})
    found = [outcome for outcome in target.suspects((), examples=5, seconds=600.0, seed=0) if outcome is not None]
    assert found
    for outcome in found:
        assert isinstance(outcome.case.expected, Expected)
        truth = item.at(dict(outcome.case.input), width="1e-12")
        assert truth.possibly_le(outcome.case.expected.upper)
        assert outcome.judgement.verdict is GateVerdict.UNSOUND


def test_a_target_that_hangs_is_asked_no_more() -> None:
    asked = 0

    def late(_: Any) -> Answer:
        nonlocal asked
        asked += 1
        return Breakdown(GateVerdict.TIMEOUT, "late") if asked > 10 else Interval(1.0, 1.0)

    found = screens.screen(bounds()["gdp.epsilon"], late, (), points=100, seconds=600.0, seed=0)
    assert (found.asked, found.cut_short) == (13, True)


@pytest.mark.full
def test_the_command_counts_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = ["--json", str(tmp_path / "holes.json"), "--markdown", str(tmp_path / "holes.md")]
    assert command(app, ["holes", "--bound", "composition.basic", "--count", "3", *pages]) == 0
    assert "3 of 3 holes found" in capsys.readouterr().out
    whole = json.loads((tmp_path / "holes.json").read_text())
    assert whole["bounds"]["composition.basic"]["caught"] == 3
    assert "| composition.basic | 3 | 3 |" in (tmp_path / "holes.md").read_text()


def test_what_is_missed_is_told() -> None:
    missed = {"kind": "slab", "region": "1 <= steps <= 2", "share": 0.07, "caught": ""}
    found = {"holes": 20, "caught": 19, "large": 4, "largeCaught": 3, "byVectors": 5, "missed": [missed]}
    assert not is_enough(found)
    assert is_enough({**found, "largeCaught": 4})
    assert not is_enough({**found, "caught": 18, "largeCaught": 4})
    assert "missed slab 7.0%: 1 <= steps <= 2" in line("x", found)
    assert "- `x`, slab, 7.0%: 1 <= steps <= 2" in table({"x": found})
    assert str(Hole("x", "slab", {"steps": (1, 2), "neighbours": "replace"})) == (
        "1 <= steps <= 2, neighbours = replace"
    )
