"""The league table: rows from real runs of the gate, kept and found again, and what is shipped is what people read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from empirical.gate.adapters import Adapter
from empirical.gate.league.league import AuditorRow, League, LeagueRow, TrainingRow, Worst
from empirical.gate.league.league_run import Settings, carry_out, key
from empirical.gate.league.league_tables import (
    COLUMNS,
    SUMMARY_COLUMNS,
    cells,
    looseness,
    markdown,
    parts,
    summary_cells,
    under_report,
)
from oracle.core.errors import OracleError, TargetError
from reports.command import schema
from reports.model import shipped_league
from tests.commands import command
from tests.project.consoles import ROOT
from tests.waiting import PATIENCE

SETTINGS = Settings(timeout=PATIENCE, search=5, search_seconds=PATIENCE)
BUGGY = """
import math
def delta(scale, sensitivity, epsilon):
    if not (scale > 0 and sensitivity > 0 and epsilon >= 0):
        raise ValueError("outside")
    gap = sensitivity / scale - epsilon
    return {answer}
"""
RIGHT = "min(1.0, -math.expm1(-gap / 2) * (1 + 1e-12) + 1e-15) if gap > -1e-9 else 0.0"
HALVED = "-math.expm1(-gap / 2) / 2 if gap > 0 else 0.0"


@pytest.fixture
def library(tmp_path: Path) -> Adapter:
    (tmp_path / "toy.py").write_text(BUGGY.format(answer=RIGHT), encoding="utf-8")
    return Adapter("toy", "right", "laplace.delta", f"{tmp_path / 'toy.py'}:delta", "numpy")


def rows(
    adapter: Adapter, store: Path | None = None, settings: Settings = SETTINGS
) -> tuple[list[object], list[bool]]:
    fresh: list[bool] = []
    found = carry_out([adapter], settings, workers=1, store=store, progress=lambda _, __, new: fresh.append(new))
    return list(found), fresh


def test_a_row_counts_what_the_gate_found(library: Adapter, tmp_path: Path) -> None:
    ((good,), _) = rows(library)
    assert isinstance(good, LeagueRow)
    assert (good.unsound, good.accepted_invalid, good.crashed, good.as_expected) == (0, 0, 0, True)
    assert good.sound + good.refused_invalid == good.cases > 40
    assert good.worst_unsound is None

    (tmp_path / "toy.py").write_text(BUGGY.format(answer=HALVED), encoding="utf-8")
    ((bad,), _) = rows(library)
    assert isinstance(bad, LeagueRow)
    assert bad.unsound == bad.negligible + bad.material + bad.gross > 20
    assert not bad.as_expected
    assert bad.worst_extreme is not None
    assert bad.worst_extreme.call.startswith("delta(scale=")
    assert len(bad.differs) >= bad.unsound
    league = League.of("2026-01-01", "3", "1.0.0", [bad])
    assert not league.ok
    assert len(league.differences) == len(bad.differs)
    assert bad.worst_extreme.call in markdown(league)


@pytest.mark.full
def test_what_is_kept_is_not_made_again_unless_something_changed(library: Adapter, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first, fresh = rows(library, store)
    assert fresh == [True]
    again, fresh = rows(library, store)
    assert fresh == [False]
    assert again == first
    (tmp_path / "toy.py").write_text(BUGGY.format(answer=HALVED), encoding="utf-8")
    _, fresh = rows(library, store)
    assert fresh == [True]
    assert key(library, SETTINGS) != key(library, replace(SETTINGS, search=6))


COUNTING = """
def delta(scale, sensitivity, epsilon):
    with open({calls!r}, "a") as file:
        file.write("asked\\n")
    if not (scale > 0 and sensitivity > 0 and epsilon >= 0):
        raise ValueError("outside")
    if scale > 1:
        raise RuntimeError("broken")
    return {{"lower": 0.0, "upper": 1.0}}
"""


def test_what_was_answered_is_not_asked_again(library: Adapter, tmp_path: Path) -> None:
    """Other settings of the search make the row anew, from answers that are kept, crashes and refusals included."""
    store, calls = tmp_path / "store", tmp_path / "calls"
    (tmp_path / "toy.py").write_text(COUNTING.format(calls=str(calls)), encoding="utf-8")
    no_search = replace(SETTINGS, search=0)
    ((first,), _) = rows(library, store, no_search)
    assert isinstance(first, LeagueRow)
    asked = len(calls.read_text().splitlines())
    assert asked == first.cases
    assert first.crashed > 5
    ((again,), fresh) = rows(library, store, replace(no_search, search_seconds=1.0))
    assert fresh == [True]
    assert again == first
    assert len(calls.read_text().splitlines()) == asked
    rows(library, store, replace(no_search, memory=2 * SETTINGS.memory))  # other limits, other answers
    assert len(calls.read_text().splitlines()) == 2 * asked


GREEDY = """
def delta(scale, sensitivity, epsilon):
    if not (scale > 0 and sensitivity > 0 and epsilon >= 0):
        raise ValueError("outside")
    if scale > 1:
        raise MemoryError
    return 1.0
"""


@pytest.mark.full
def test_a_budget_leaves_cases_that_are_told_as_not_run(library: Adapter, tmp_path: Path) -> None:
    """Without any time the first case is asked, and no more; memory is the machine's: counted, and no difference."""
    (tmp_path / "toy.py").write_text(GREEDY, encoding="utf-8")
    ((whole,), _) = rows(library, settings=replace(SETTINGS, search=0))
    ((part,), _) = rows(library, settings=replace(SETTINGS, search=0, budget=0.0))
    assert isinstance(whole, LeagueRow)
    assert isinstance(part, LeagueRow)
    assert (whole.not_run, part.not_run, part.cases) == (0, whole.cases - 1, whole.cases)
    assert dict(zip(COLUMNS, cells(part), strict=True))["cases"] == f"1 of {part.cases}"
    assert whole.sound + whole.refused_invalid + whole.out_of_memory == whole.cases
    assert whole.out_of_memory > 5
    assert (whole.crashed, whole.as_expected) == (0, True)


SLOW = """
import time

def delta(scale, sensitivity, epsilon):
    time.sleep(100)
"""


@pytest.mark.full
@pytest.mark.parametrize(("budget", "asked"), [(0.0, 1), pytest.param(600.0, 5, marks=pytest.mark.thorough)])
def test_a_library_that_had_no_time_for_anything_is_a_row(
    library: Adapter, tmp_path: Path, budget: float, asked: int
) -> None:
    """Time is the machine's: a busy one must not take the other rows of the table away."""
    (tmp_path / "toy.py").write_text(SLOW, encoding="utf-8")
    ((row,), _) = rows(library, settings=replace(SETTINGS, timeout=0.2, budget=budget))
    assert isinstance(row, LeagueRow)
    assert (row.timed_out, row.sound, row.searched, row.as_expected) == (asked, 0, 0, True)
    assert row.not_run == row.cases - asked


def test_what_a_library_does_not_offer_is_counted_and_not_asked(library: Adapter) -> None:
    ((everything,), _) = rows(library, settings=replace(SETTINGS, search=0))
    ((part,), _) = rows(replace(library, offers={"scale": [0.5, 2]}), settings=replace(SETTINGS, search=0))
    assert isinstance(everything, LeagueRow)
    assert isinstance(part, LeagueRow)
    assert (everything.unsupported, part.cases) == (0, everything.cases)
    assert part.unsupported > 10
    assert part.sound + part.refused_invalid + part.unsupported == part.cases
    assert part.refused_invalid == everything.refused_invalid  # nonsense is asked all the same


@pytest.mark.parametrize(
    ("answer", "lower", "upper", "told"),
    [
        ("4.7285070672176226", "9.997256146", "9.997256147", "4.729 for 9.997"),
        ("-inf", "0", "0", "-inf for 0"),
        ("[-4.7, -4.5]", "99.3", "99.4", "-4.5 for 99.3"),
        ("[5.0, 6.0]", "1.0", "2.0", "5 for 2"),  # an interval that excludes the truth from above
        ("3.5554265029173043e-07", "3.5554331012361892E-7", "3.5554331012361893E-7", "3.555427e-07 for 3.555433e-07"),
    ],
)
def test_an_under_report_is_told_in_as_many_digits_as_it_takes(answer: str, lower: str, upper: str, told: str) -> None:
    assert under_report(Worst("c", "f()", answer, lower, upper, "1.0")) == told


@pytest.mark.parametrize(
    ("answer", "size", "told"),
    [("2.5", "2.5", "x 2.5"), ("1.00003", "1.0000300001", "x 1.00003"), ("inf", "inf", "inf for 1")],
)
def test_looseness_is_a_factor_where_there_is_one(answer: str, size: str, told: str) -> None:
    assert looseness(Worst("c", "f()", answer, "1", "1", size)) == told


def test_a_library_that_cannot_be_asked_is_an_error_and_no_row(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    with pytest.raises(TargetError, match="nothing_of_this_name"):
        rows(Adapter("toy", "broken", "laplace.delta", f"{tmp_path / 'broken.py'}:delta", "numpy"))


def test_the_shipped_table_is_whole_valid_and_on_its_page() -> None:
    league = shipped_league()
    assert League.from_json(json.loads(json.dumps(league.to_json()))) == league
    jsonschema.validate(league.to_json(), schema("league"))
    assert league.ok, league.differences
    libraries = {row.library for row in league.rows}
    assert libraries == {
        "dp-accounting", "prv-accountant", "Opacus", "autodp", "jax-privacy", "diffprivlib", "OpenDP",
    }
    assert league.trainings
    assert league.auditors
    assert markdown(league) in (ROOT / "docs" / "league.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("library", "variant", "bound", "most"), [
    # The defects that were known before there was a gate, found again by it: an answer at most so many times the truth.
    ("dp-accounting", "RDP", "gaussian.epsilon", 0.5), ("dp-accounting", "PLD", "poisson-gaussian.epsilon", 0.999999),
    ("Opacus", "GDP", "poisson-gaussian.epsilon", 0.5), ("Opacus", "PRV", "poisson-gaussian.epsilon", 0.0),
    ("autodp", "AFA", "gaussian.epsilon", 0.0),
])
def test_known_defects_are_found_again(library: str, variant: str, bound: str, most: float) -> None:
    worst = [
        worst for row in shipped_league().rows for worst in (row.worst_unsound, row.worst_extreme)
        if row.library == library and variant in row.variant and row.bound == bound and worst is not None
    ]
    assert worst, "no under-report is known any more"
    assert any(float(item.answer.strip("[]").split(",")[-1]) <= most * float(item.lower) for item in worst)


def test_the_known_overclaiming_auditor_and_training_are_found_again() -> None:
    league = shipped_league()
    assert any(row.verdict == "OVERCLAIMS" and row.auditor == "epsilon_from_gdp" for row in league.auditors)
    assert any(row.verdict == "VIOLATION" and row.training == "opacus_make_private" for row in league.trainings)


def test_the_summary_adds_up_and_names_the_worst_of_all_bounds() -> None:
    """Rounding in what is next to nothing is not the worst, and neither is a wrong sign where nothing leaks."""
    base = shipped_league().rows[0]
    worst = [
        Worst("c", "f()", "-4e-15", "1e-18", "1e-18", "4e-15"), Worst("c", "f()", "-0.5", "0", "0", "0.5"),
        Worst("c", "f()", "4.7", "10", "10.1", "5.3"), None,
    ]
    made = [
        replace(base, bound=f"b{i}", cases=10 + i, sound=i, unsound=2, refused=1, unsupported=i // 3, worst_unsound=one)
        for i, one in enumerate(worst)
    ]
    told = dict(zip(SUMMARY_COLUMNS, summary_cells(made), strict=True))
    assert (told["bounds"], told["cases"], told["sound"], told["unsound"]) == ("4", "46", "6", "8")
    assert told["refused"] == "4 + 1 not offered"
    assert told["worst under-report"] == "4.7 for 10, b2"
    assert summary_cells(made[3:])[SUMMARY_COLUMNS.index("worst under-report")] == "–"


def test_tables_have_a_cell_a_column() -> None:
    for columns, lines in parts(shipped_league()):
        assert all(len(row) == len(columns) for row in lines)
    assert "worst under-report" in COLUMNS


def test_damaged_tables_are_told(tmp_path: Path) -> None:
    path = tmp_path / "league.json"
    damages = {"{": "is not JSON", "{}": "is no league table", '{"format": "dp-oracle-league/1"}': "damaged"}
    for text, why in damages.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(OracleError, match=why):
            League.read(path)


@pytest.mark.full
def test_the_command_says_what_is_missing() -> None:
    done = command("league", "--library", "no-such-library")
    assert done.returncode == 2
    assert "pip install 'dp-oracle[peers]'" in done.stderr


def test_rows_of_all_kinds_are_told_apart() -> None:
    training = TrainingRow("x", "1", "fn", 1.0, "1e-5", "VIOLATION", 2.0, 0.999, 10, 1.0, False, "")
    auditor = AuditorRow("x", "1", "fn", "pair", 0.0, 0.95, 10, 9, 0, 1.0, "OVERCLAIMS", False)
    league = League.of("2026-01-01", "3", "1.0.0", [auditor, training])
    assert (league.rows, league.trainings, league.auditors) == ((), (training,), (auditor,))
    assert len(league.differences) == 2
