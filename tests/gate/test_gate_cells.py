"""The everyday domain in cells: every cell has a case or a reason, and filling changes nothing else."""

from __future__ import annotations

import json
import math
import signal
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import arb

from empirical.gate import vector_files
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making import partition
from empirical.gate.making.cases import Case, arguments
from empirical.gate.making.cells import Filling, fill
from empirical.gate.making.everyday_ranges import AT_MOST, EVERYDAY
from empirical.gate.making.flags import CELL, COARSE
from empirical.gate.making.lint import coverage, lint
from empirical.gate.making.make import tried
from empirical.gate.making.partition import uncovered, where
from empirical.gate.policy import DEFAULT
from empirical.gate.searching.neighbours import Certified
from empirical.gate.verdicts import GateVerdict
from empirical.gate.worst_case import Suspicion
from oracle.core import vocabulary
from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound, bounds
from oracle.running.console import run
from oracle.running.patience import TooLongError, within
from reports.cli import app
from tests.tiers import REPRESENTATIVES

NAME = "gdp.epsilon"
every_bound = pytest.mark.parametrize("name", sorted(bounds()))


def test_every_number_has_an_everyday_range_inside_its_domain() -> None:
    assert set(EVERYDAY) <= set(vocabulary.TERMS)
    assert {name for pair in AT_MOST.items() for name in pair} <= set(EVERYDAY)
    used = {p.name for item in bounds().values() for p in item.parameters if p.kind != "choice"}
    assert set(EVERYDAY) == used


@every_bound
def test_the_cube_is_the_domain(name: str) -> None:
    """Every position has a point that the bound's own parser takes, and the cells of the axes hold it."""
    item = bound(name)
    for axis in partition.of(item):
        ends = [cell for cell in axis.cells if not cell.word]
        assert [(cell.low, cell.high) for cell in ends] == sorted((cell.low, cell.high) for cell in ends)
    for place in np.random.default_rng(3).random((10, len(partition.of(item)))):
        point = partition.point(item, list(map(float, place)))
        item.parse(point)
        for axis, cell in zip(partition.of(item), partition.located(item, point), strict=True):
            assert cell is not None, axis.name


@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_a_position_is_found_again(name: str) -> None:
    for axis in partition.of(bound(name)):
        for u in np.linspace(0.001, 0.999, 37):
            value = axis.at(float(u))
            again = axis.at(axis.position(value))
            assert again == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)


def test_what_was_never_asked_has_cells() -> None:
    """The steps between 2 and 99, and the small rates, in which accountants that answered 0 passed."""
    steps = next(axis for axis in partition.of(bound("poisson-gaussian.epsilon")) if axis.name == "steps")
    assert [str(cell) for cell in steps.cells[:6]] == ["0", "[1, 2)", "[2, 3)", "[3, 10)", "[10, 32)", "[32, 100)"]
    rates = next(axis for axis in partition.of(bound("poisson-gaussian.epsilon")) if axis.name == "sampling_rate")
    assert rates.of(2e-6) != rates.of(2e-5) != rates.of(2e-4) is not None


@every_bound
def test_every_cell_has_a_case(name: str) -> None:
    """One axis at a time every cell is asked, unless no product with it could be answered."""
    item, cases = bound(name), vector_files.load(name).cases
    seen = [set[int | None]() for _ in partition.of(item)]
    for case in cases:
        for asked, cell in zip(seen, where(item, case), strict=True) if case.valid else ():
            asked.add(cell)
    reasons = " ".join(vector_files.unanswered(name))
    for axis, cells in zip(partition.of(item), seen, strict=True):
        for index, one in enumerate(axis.cells):
            assert index in cells or f"{axis.name} {one}" in reasons


def test_filling_closes_the_cells_and_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = vector_files.read(vector_files.SHIPPED / f"{NAME}.json")
    tests = [test for test in whole["tests"] if CELL.name not in test["flags"]]
    vector_files.save(tmp_path / f"{NAME}.json", {**whole, "tests": tests, "numberOfTests": len(tests)})
    before = vector_files.load(NAME, tmp_path)
    assert any("neither a case nor a reason" in str(problem) for problem in lint(NAME, tmp_path, 0))
    assert fill(NAME, tmp_path, seconds=0.0) == (0, len(uncovered(bound(NAME), before.cases)))
    added, missing = fill(NAME, tmp_path, seconds=600.0)
    after = vector_files.load(NAME, tmp_path)
    assert (added > 0, missing) == (True, 0)
    assert after.cases[: len(before.cases)] == before.cases
    new = after.cases[len(before.cases) :]
    assert [case.tc_id for case in new] == list(range(whole["lastTcId"] + 1, whole["lastTcId"] + 1 + added))
    assert all(case.flags[0] == CELL.name for case in new)
    assert lint(NAME, tmp_path, 5) == []
    assert fill(NAME, tmp_path, seconds=600.0) == (0, 0)


FEW = {"sigma": "1", "sampling_rate": "0.001", "steps": "2", "delta": "1e-5", "neighbours": "add_remove"}


def test_where_a_narrow_answer_is_dear_a_case_is_coarse_and_sound() -> None:
    item = bound("poisson-gaussian.epsilon")
    case = tried(item, (FEW, CELL, ""), coarse=True)
    assert isinstance(case, Case)
    assert case.expected is not None
    assert (case.flags[0], case.flags[-1]) == (CELL.name, COARSE.name)
    narrow = item.at(FEW, width="1e-5")  # by more work, and inside
    assert narrow.lower.compare(case.expected.lower) >= 0
    assert narrow.upper.compare(case.expected.upper) <= 0
    assert case.expected.upper - case.expected.lower > Fraction(1, 10**9) * case.expected.upper


def test_what_is_certified_too_coarsely_is_no_case() -> None:
    item = bound("gdp.delta")
    given = {"mu": "1", "epsilon": "1"}
    for lower, why in ((0, "lower end is 0"), (arb(1) / 8, "judge little")):
        wide = Enclosure.between(arb(lower), arb(1) / 2)
        assert why in str(tried(replace(item, soon=lambda _, wide=wide: wide), (given, CELL, ""), coarse=True))
    enough = replace(item, soon=lambda _: Enclosure.between(arb(3) / 8, arb(1) / 2))
    case = tried(enough, (given, CELL, ""), coarse=True)
    assert isinstance(case, Case)
    assert COARSE.name in case.flags
    # Neither where it is not allowed, nor where a narrow answer is soon there.
    plain, soon = tried(enough, (given, CELL, "")), replace(item, soon=lambda v: item.certify(v, Fraction(1, 10**12)))
    assert tried(soon, (given, CELL, ""), coarse=True) == plain == tried(item, (given, CELL, ""))
    assert isinstance(plain, Case)
    assert COARSE.name not in plain.flags


def test_the_search_judges_where_a_narrow_answer_is_dear() -> None:
    item = bound("poisson-gaussian.epsilon")
    search = Suspicion(LocalTarget(lambda **_: 0.0124), item, DEFAULT, (), {})
    outcome = search.examine(FEW)
    assert outcome is not None
    assert outcome.judgement.verdict is GateVerdict.UNSOUND  # the truth is above 0.01244


def test_the_linter_asks_a_coarse_case_for_a_part_in_common(tmp_path: Path) -> None:
    name = "poisson-gaussian.epsilon"
    whole = vector_files.read(vector_files.SHIPPED / f"{name}.json")
    test = next(test for test in whole["tests"] if COARSE.name in test["flags"])
    upper = Fraction(test["expected"]["upper"])
    for factor, found in ((Fraction(1), 0), (Fraction(3, 2), 1), (Fraction(1, 4), 1)):
        lower, higher = (f"{float(upper * factor * end):.9g}" for end in (Fraction(999, 1000), Fraction(1001, 1000)))
        tests = [{**test, "expected": {"lower": lower, "upper": higher}}]
        vector_files.save(tmp_path / f"{name}.json", {**whole, "tests": tests})
        assert sum("excludes the truth" in str(problem) for problem in lint(name, tmp_path, None)) == found


def test_cells_whose_answers_are_all_0_get_others() -> None:
    item = bound("noisy-cgd.step")  # 0 wherever no contraction is needed, which is nearly everywhere
    whole = vector_files.load(item.name)
    silent = tuple(case for case in whole.cases if case.expected is None or case.expected.upper == 0)
    filling = Filling(item, replace(whole, cases=silent), {})
    added = filling.tell(until=math.inf)
    new = vector_files.decode(filling.document()).cases[len(silent) :]
    assert len(new) == added > 10
    assert all(case.flags[0] == CELL.name and case.expected is not None and case.expected.upper > 0 for case in new)
    assert filling.tell(until=-math.inf) == 0  # no time left


def test_what_cannot_be_answered_is_listed_and_tried_again_on_demand(tmp_path: Path) -> None:
    name = "gaussian.delta"  # whose deltas at little noise and a large epsilon are below all doubles
    vector_files.save(tmp_path / f"{name}.json", vector_files.read(vector_files.SHIPPED / f"{name}.json"))
    known = vector_files.unanswered(name)
    assert known
    filling = Filling(bound(name), vector_files.load(name, tmp_path), {})
    assert filling.missing == len(known)
    filling.carry_out(seconds=600.0)
    assert (filling.missing, set(filling.unanswered)) == (0, set(known))
    vector_files.save_unanswered(name, tmp_path, {**known, "sigma [7, 8), epsilon 0": "no reason"})
    assert any("no product of two of its cells" in str(problem) for problem in lint(name, tmp_path, 0))


def test_the_linter_shows_the_cells(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vectors", "lint", "--bound", "gaussian.delta", "--sample", "0"]
    assert run(app, words) == 0
    told, found = capsys.readouterr().out, coverage("gaussian.delta")
    assert f"{found.covered} of {found.products} products of two cells have a case" in told
    assert "no double tells the answer" in told
    assert run(app, [*words, "--cells"]) == 0
    assert all(cells in capsys.readouterr().out for cells in list(found.unanswered)[:1])
    assert run(app, [*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"]["gaussian.delta"]["covered"] == found.covered


@every_bound
def test_certified_answers_move_as_the_directions_say(name: str) -> None:
    """Each certified answer against those at all easier points: a proved bound lies on its side of every truth."""
    item = bound(name)
    cases = [case for case in vector_files.load(name).cases if case.expected is not None]
    proved = Certified(item, cases).proved([arguments(item, case.input) for case in cases])
    for case, end in zip(cases, proved, strict=True):
        assert case.expected is not None
        assert math.isfinite(end)  # a point is as easy as itself
        if item.safe == "upper":
            assert end * (1 - 1e-15) <= float(case.expected.upper) * (1 + 1e-15), case.name
        else:
            assert end * (1 + 1e-15) >= float(case.expected.lower) * (1 - 1e-15), case.name


def for_ever() -> None:
    while True:
        math.sqrt(2)


def test_patience_has_an_end() -> None:
    with pytest.raises(TooLongError), within(0.05):
        for_ever()
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    with within(100.0):
        with pytest.raises(TooLongError), within(0.01):
            for_ever()
        assert 0 < signal.getitimer(signal.ITIMER_VIRTUAL)[0] <= 100.0
