"""Planted holes: the gate's default run does not pass an accountant that is right but for one region."""

from __future__ import annotations

import functools
import json
import math
import os
import signal
import subprocess
import sys
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
from empirical.gate.searching.holes_cli import Codes, codes_of, is_enough, line, planted, table, told
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict, Interval
from empirical.gate.worst_case import Suspicion
from oracle.core.registry import bounds
from oracle.running.console import run as command
from reports.cli import app
from tests.project.consoles import ROOT
from tests.waiting import PATIENCE, wait_until

NAME = "composition.basic"
SAMPLE = (NAME, "noisy-cgd.mu")
OTHERS = {"convex-relu.step": "full", "gaussian.epsilon": "full", "tree.epsilon": "full", "shifted.mu": "thorough"}
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


@pytest.mark.parametrize(
    "name", [*SAMPLE, *(pytest.param(name, marks=getattr(pytest.mark, tier)) for name, tier in OTHERS.items())]
)
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
    return screens.screen(item, target.ask, screens.ground(item, known, points=500, seed=0), seconds=600.0)


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
    known = screens.ground(item, (), points=200, seed=0)
    found = [outcome for outcome in target.suspects(known, seconds=600.0) if outcome is not None]
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

    item = bounds()["gdp.epsilon"]
    found = screens.screen(item, late, screens.ground(item, (), points=100, seed=0), seconds=600.0)
    assert (found.asked, found.cut_short) == (13, True)


def row(**changed: Any) -> dict[str, Any]:
    return {"holes": 20, "caught": 20, "large": 4, "largeCaught": 4, "byVectors": 5, "missed": [], **changed}


@pytest.mark.full
def test_the_command_counts_writes_and_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "holes.json", tmp_path / "holes.md"
    words = ["holes", "--bound", NAME, "--count", "3", "--json", str(file), "--markdown", str(page)]
    former = {"count": 3, "seed": 0, "bounds": {NAME: row(code="older"), "gdp.mu": row(), "gdp.epsilon": row()}}
    file.write_text(json.dumps(former))
    assert command(app, words) == 0
    assert f"{NAME}: 3 of 3 holes found" in capsys.readouterr().out
    rows = json.loads(file.read_text())["bounds"]
    assert set(rows) == {NAME, "gdp.epsilon"}  # what was measured before stays, of bounds that there are
    assert (rows[NAME]["caught"], rows[NAME]["unsound"]) == (3, 3)
    assert codes_of(NAME).of(rows[NAME]) == "present"
    assert f"| {NAME} | 3 | 3 |" in page.read_text()
    assert command(app, words) == 0
    told = capsys.readouterr().out
    assert "3 of 3 holes found in 1 bounds" in told
    assert f"{NAME}:" not in told  # nothing is measured again


def test_a_file_of_other_holes_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "holes.json"
    for text, why in (
        (json.dumps({"count": 7, "seed": 0, "bounds": {}}), "holds 7 holes a bound of seed 0: take another file"),
        ("[]", "is no file of planted holes"),
    ):
        file.write_text(text)
        assert command(app, ["holes", "--bound", NAME, "--json", str(file)]) == 2
        assert why in capsys.readouterr().err
        assert file.read_text() == text


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="interrupts are sent to a process group")
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGKILL])
def test_what_is_measured_when_a_run_is_cut_short_stays(tmp_path: Path, way: signal.Signals) -> None:
    file = tmp_path / "holes.json"
    words = ["holes", "--bound", NAME, "--bound", "gaussian.epsilon", "--count", "1", "--json", str(file)]
    code = f"import sys, tests.gate.test_gate_holes as t; sys.exit(t.command(t.app, {words!r}))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
    )
    wait_until(lambda: process.poll() is not None or (file.exists() and file.stat().st_size > 0))
    os.killpg(process.pid, way)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == (130 if way is signal.SIGINT else -way), said
    assert "Traceback" not in said
    assert list(json.loads(file.read_text())["bounds"]) == [NAME]


def test_the_page_tells_what_is_of_older_code_and_what_is_not_measured() -> None:
    codes = {name: Codes("all now", "gate now") for name in ("one", "two", "three", "four")}
    rows = {
        "one": row(code="all now", gate="gate now", unsound=20), "two": row(code="all then", gate="gate now"),
        "three": row(code="all then", gate="gate then"),
    }
    page = table(rows, codes)
    assert "1 rows were of the code and the vectors as they stood, 1 of the same" in page
    assert "and 1 of an older gate or older vectors. Not measured yet: `four`." in page
    assert "| one | 20 | 20 | 5 | 20 | 4 | 4 | present |" in page
    assert "| two | 20 | 20 | 5 |  | 4 | 4 | older formulas |" in page
    assert "| three | 20 | 20 | 5 |  | 4 | 4 | older |" in page
    assert "UNSOUND" in page
    assert "BELOW_FORMULA" in page
    assert "Every bound has a row." in table({"one": row()}, {"one": codes["one"]})


def test_the_gate_alone_is_told_from_the_formulas_of_a_bound() -> None:
    """A row of the same gate is not of the same formulas; another bound's row is of neither, for its vectors differ."""
    mine, other = codes_of(NAME), codes_of("noisy-cgd.mu")
    assert len({mine.code, mine.gate, other.code, other.gate}) == 4
    assert mine.of({"code": mine.code, "gate": mine.gate}) == "present"
    assert mine.of({"code": "then", "gate": mine.gate}) == "older formulas"
    assert mine.of({"code": "then", "gate": other.gate}) == mine.of({"code": "then"}) == "older"


def test_the_shipped_page_has_every_bound_and_its_figure_stands_beside_the_league() -> None:
    """Of every bound at least 95 % of 20 holes, and all above 5 % of its domain; both pages tell the file's sums."""
    shipped = json.loads((ROOT / "reports" / "holes.json").read_text(encoding="utf-8"))
    rows = shipped["bounds"]
    assert list(rows) == list(bounds())
    assert shipped["count"] == 20
    assert [name for name, item in rows.items() if not is_enough(item)] == []
    page = (ROOT / "reports" / "holes.md").read_text(encoding="utf-8")
    for name, item in rows.items():
        assert f"| {name} | {item['holes']} | {item['caught']} | {item['byVectors']} | " in page
    assert told(rows) in page
    assert f"{told(rows)}." in (ROOT / "docs" / "league.md").read_text(encoding="utf-8")


def test_what_is_missed_is_told() -> None:
    missed = {"kind": "slab", "region": "1 <= steps <= 2", "share": 0.07, "caught": ""}
    found = {"holes": 20, "caught": 19, "large": 4, "largeCaught": 3, "byVectors": 5, "missed": [missed]}
    assert not is_enough(found)
    assert is_enough({**found, "largeCaught": 4})
    assert not is_enough({**found, "caught": 18, "largeCaught": 4})
    assert "missed slab 7.0%: 1 <= steps <= 2" in line("x", found)
    assert "- `x`, slab, 7.0%: 1 <= steps <= 2" in table({"x": found}, {"x": Codes("", "")})
    assert str(Hole("x", "slab", {"steps": (1, 2), "neighbours": "replace"})) == (
        "1 <= steps <= 2, neighbours = replace"
    )
