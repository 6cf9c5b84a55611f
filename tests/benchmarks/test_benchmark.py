"""The benchmark of accountants around its measurements: its problems, its goals, and the section it writes."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from oracle.core.registry import bound, bounds
from tests.benchmarks import check_missed, missed
from tests.project.consoles import ROOT

sys.path.append(str(ROOT / "benchmarks"))
import run
from accountants import PROBLEMS, STEPS, work
from accountants_tables import MARKS, goals, markdown, rewrite


def measured(**changes: dict[str, Any]) -> dict[str, Any]:
    """A made-up result that meets every goal by little, but for the cells that are changed."""
    cells: dict[str, dict[str, Any]] = {
        "reference": {"ms": 20.0, "value": 2.0, "error": 0.0, "lower": 2.0, "upper": 2.0, "width": 1e-9},
        "fast": {"ms": 1.0, "value": 2.0, "error": 1e-10},
        "dpa PLD": {"ms": 100.0, "value": 2.1, "error": 0.1},
        "prv": {"failure": "ValueError"},
        "Opacus PRV": {"failure": "not offered"},
        "autodp": {"ms": 1.0, "value": float("inf"), "error": float("inf")},
        "numpy": {"microseconds": 99.0, "points": 10},
        "torch": {"microseconds": 99.0, "points": 10},
    }
    steps = {str(t): {"reference": {"ms": 1.0}, "fast": {"ms": 1.0}} for t in STEPS}
    steps[str(STEPS[-1])] = {"reference": {"ms": 2.0}, "fast": changes.pop("last_step", {"ms": 2.0})}
    everyday = {name: {"microseconds": 199.0, "points": 10, "by_reference": 0.0} for name in ("numpy", "torch")}
    everyday["torch"] |= changes.pop("everyday", {})
    for name, change in changes.items():
        cells[name.replace("_", " ")] = change
    problem = {"bound": PROBLEMS["P3 s=1"].bound, "values": PROBLEMS["P3 s=1"].values, "measured": cells}
    return {"problems": {"P3 s=1": problem}, "throughput": everyday, "steps": steps}


def test_the_problems_are_parameters_of_their_bounds() -> None:
    for problem in PROBLEMS.values():
        bound(problem.bound).parse(problem.values)


def test_goals_met() -> None:
    assert missed(goals(measured())) == []
    assert len(goals(measured())) == 9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"numpy": {"microseconds": 101.0}}, ["1,000 times"]),
        ({"numpy": {"microseconds": 1001.0}}, ["100 times", "1,000 times"]),
        ({"numpy": {"failure": "timeout"}}, ["100 times", "1,000 times"]),
        ({"fast": {"ms": 1.0, "value": 2.0, "error": -3e-10}}, ["correct digits"]),
        ({"fast": {"ms": 1.1, "value": 2.0, "error": 1e-10}}, ["one call"]),
        ({"fast": {"failure": "timeout"}}, ["correct digits", "one call"]),
        ({"reference": {"ms": 20.1, "value": 2.0, "error": 0.0, "width": 1e-9}}, ["5 times"]),
        ({"reference": {"ms": 20.0, "value": 2.0, "error": 0.0, "width": 2e-9}}, ["width"]),
        ({"dpa_PLD": {"failure": "timeout"}}, ["100 times", "1,000 times", "5 times"]),
        ({"everyday": {"microseconds": 201.0}}, ["5,000 everyday"]),
        ({"everyday": {"by_reference": 1e-4}}, ["left to the reference"]),
        ({"everyday": {"microseconds": math.inf, "by_reference": math.inf}}, ["5,000", "left to"]),
        ({"last_step": {"ms": 2.1}}, ["T = 10^7"]),
        ({"last_step": {"failure": "timeout"}}, ["T = 10^7"]),
    ],
)
def test_goals_missed(changes: dict[str, dict[str, Any]], words: list[str]) -> None:
    check_missed(goals(measured(**changes)), words)


def test_the_table_has_a_row_a_problem_and_the_goals() -> None:
    result = measured()
    result["goals"] = goals(result)
    lines = markdown(result).splitlines()
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1
    (row,) = [line for line in lines if line.startswith("| P3")]
    assert row.endswith("| 100, +1.0e-01 | ValueError | – | inf |")
    assert sum(line.startswith("- Goal met") for line in lines) == 9


def test_only_the_section_between_the_marks_is_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n", encoding="utf-8")
    rewrite(page, "new \\1\n")
    assert page.read_text(encoding="utf-8") == f"before\n{MARKS[0]}\nnew \\1\n{MARKS[1]}\nafter\n"
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(SystemExit):
        rewrite(page, "new\n")


def test_the_page_has_the_marks() -> None:
    page = (ROOT / "docs" / "accountants.md").read_text(encoding="utf-8")
    assert [page.count(mark) for mark in MARKS] == [1, 1]


def test_our_own_measurements_run() -> None:
    told = work(["single", "reference", "P1"], quick=True)
    assert told["lower"] <= told["value"] <= told["upper"]
    assert work(["single", "fast", "P1"], quick=True)["value"] >= told["lower"]
    assert work(["around", "numpy", "P1"], quick=True)["by_reference"] == 0


@pytest.mark.full
def test_every_bound_has_points_to_be_measured_at() -> None:
    """Drawn one by one, parameters that limit each other could leave the domain."""
    for name in bounds():
        item, rng = bound(name), np.random.default_rng(5)
        assert item.example is not None, name
        points = {p.name: run.draw(p, item.example[p.name], 2, rng) for p in item.parameters}
        assert np.isfinite(item.fast(**points)).all(), name


@pytest.mark.parametrize(("budget", "points", "singles"), [(0.0, 3, 1), (1e9, 50, 50)])
def test_a_bound_is_measured_at_as_many_points_as_its_time_allows(
    budget: float, points: int, singles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three points, or one of the reference, tell how long all would take; numpy and torch are timed three times."""
    item, asked = bound("gaussian.epsilon"), {"fast": list[int](), "reference": list[int]()}

    def counting(name: str) -> Any:
        def call(**values: Any) -> Any:
            asked[name].append(np.asarray(values["sigma"]).size)
            return getattr(item, name)(**values)

        return call

    counted = SimpleNamespace(
        example=item.example, parameters=item.parameters, fast=counting("fast"), reference=counting("reference")
    )
    monkeypatch.setattr(run, "bound", lambda name: counted)
    monkeypatch.setattr(run, "BUDGET", budget)
    row = run.bench_bound("gaussian.epsilon", 50)
    assert asked == {"fast": [3] + [points] * 6, "reference": [1] + [1] * singles}
    assert min(row["reference_ms"], row["numpy_per_second"], row["torch_per_second"]) > 0
