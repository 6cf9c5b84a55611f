"""The two ways to look for a counterexample: draws that shrink, and boxes that are cut."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb
from hypothesis import strategies as st

from oracle.core.errors import DomainError
from tests.waiting import PATIENCE
from theorems.tools import effort
from theorems.tools.boxes import prove
from theorems.tools.counterexamples import search

BOX = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(-1), Fraction(2))}


def test_the_smallest_counterexample_is_found_and_only_draws_are_counted() -> None:
    drawn: list[int] = []

    def fails(n: int) -> bool:
        drawn.append(n)
        return n >= 137

    found = search({"n": st.integers(0, 10**6)}, fails)
    assert found.counterexample == {"n": 137}
    first = next(place for place, n in enumerate(drawn, start=1) if n >= 137)
    assert found.scope.tried == found.scope.met == first < len(drawn)
    assert found.scope.region == {"n": "integers(min_value=0, max_value=1000000)"}


def test_nothing_is_found_where_nothing_fails_and_what_met_is_counted() -> None:
    found = search({"n": st.integers(0, 999)}, lambda n: False, meets=lambda n: n % 2 == 0, points=100)
    assert found.counterexample is None
    assert found.scope.tried == 100
    assert 0 < found.scope.met < 100


def test_a_domain_whose_own_filter_leaves_nothing_is_met_nowhere() -> None:
    found = search({"n": st.integers(0, 9).filter(lambda n: n > 9)}, lambda n: True, region={"n": "empty"})
    assert (found.counterexample, found.scope.met, found.scope.region) == (None, 0, {"n": "empty"})


def test_the_full_effort_draws_more() -> None:
    with effort.full():
        found = search({"x": st.fractions()}, lambda x: False, points=10)
    assert found.scope.tried == 200


@pytest.mark.full
def test_a_search_does_not_depend_on_what_is_loaded(tmp_path: Path) -> None:
    """Hypothesis draws constants of loaded modules; a check must come out the same in a test and a command."""
    (tmp_path / "loaded.py").write_text("CONSTANTS = [918273645546, 918273645547, 918273645548]\n")
    code = (
        "{}\nfrom hypothesis import strategies as st\nfrom theorems.tools.counterexamples import search\nseen = []\n"
        "search({{'n': st.integers(0, 10**12)}}, lambda n: seen.append(n), points=300)\nprint(seen)\n"
    )
    seen = [
        subprocess.run(
            [sys.executable, "-c", code.format(first)], capture_output=True, text=True, check=True, timeout=PATIENCE,
            cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}", "PATH": ""},
        ).stdout
        for first in ("", "import loaded")
    ]
    assert seen[0] == seen[1] != ""
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["loaded.py"]


def test_a_true_inequality_is_proved_on_the_whole_box() -> None:
    # x^2 + y^2 - 2xy + 1/10 = (x - y)^2 + 1/10, which balls see only on small pieces.
    found = prove(BOX, lambda x, y: x * x + y * y - 2 * x * y + arb("0.1"))
    assert found.proved
    assert found.counterexample is None
    assert found.scope.kind == "box"
    assert found.scope.met == found.scope.tried > 1
    assert found.scope.region == {"x": "[0, 1]", "y": "[-1, 2]"}


def test_a_false_inequality_has_an_exact_counterexample() -> None:
    found = prove(BOX, lambda x, y: (x - y) * (x - y) - arb("0.001"))
    assert not found.proved
    assert found.counterexample is not None
    x, y = found.counterexample["x"], found.counterexample["y"]
    assert (x - y) ** 2 < Fraction(1, 1000)


def test_an_inequality_that_touches_zero_is_left_open() -> None:
    found = prove({"x": (Fraction(-1), Fraction(1))}, lambda x: x * x, pieces=50)
    assert (found.proved, found.counterexample) == (False, None)


def test_an_inequality_that_balls_cannot_see_is_left_open() -> None:
    found = prove({"x": (Fraction(0), Fraction(1))}, lambda x: x - x + arb("1e-30"), pieces=50)
    assert (found.proved, found.counterexample) == (False, None)
    assert found.scope.tried == 50


def test_a_gap_that_is_not_a_number_proves_nothing() -> None:
    found = prove({"x": (Fraction(0), Fraction(1))}, lambda x: arb("nan"), pieces=20)
    assert (found.proved, found.counterexample) == (False, None)


def test_pieces_outside_the_hypotheses_are_tried_but_not_met() -> None:
    def gap(x: arb, y: arb) -> arb | None:
        return None if x < y else x - y + arb("0.01")  # false only where the hypothesis x >= y fails

    inside = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(0), Fraction(1))}
    found = prove(inside, gap)
    assert found.proved
    assert 0 < found.scope.met < found.scope.tried
    assert prove(inside, lambda x, y: None).scope.met == 0


@pytest.mark.parametrize("gap", [lambda x: x, lambda x: -x])
def test_an_empty_box_is_refused(gap: Any) -> None:
    with pytest.raises(DomainError, match="x = "):
        prove({"x": (Fraction(1), Fraction(0))}, gap)
