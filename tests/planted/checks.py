"""Checks that need the tests: second opinions, widths, fast paths, laws of releases, and tests of the machinery itself.

Each runs assertions of `tests/checks.py`, or of tests, on what a mutant plants. A bug is caught when one of them fails
with the words that it should fail with (`words` of a mutant's `at`, if it says any); failing otherwise is an error.
"""

from __future__ import annotations

import inspect
import io
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import oracle
from empirical.gate.making.points import Point, fixed_points, points_of_all_words
from empirical.mutants.checks import POINTS
from empirical.mutants.mutant import NOTHING, Check, Detection, Mutant
from empirical.studies.study import study
from oracle.core.errors import OracleError
from oracle.core.registry import Bound
from tests.checks import (
    LIBRARIES,
    check_fast,
    check_libraries_agree,
    check_monotone,
    check_round_trip,
    check_second_opinion,
    check_shift_programme,
    check_width,
)
from tests.oracle.core.test_twins import test_a_seed_repeats_bit_for_bit_and_models_differ as check_models
from theorems.claim import claim, expectations, judge

DEFAULT = Fraction(1, 10**12)
SEEN = (AssertionError, pytest.fail.Exception)


@contextmanager
def _flagged(found: list[str], words: str) -> Iterator[None]:
    """Take down the complaint of a check, which must have the words."""
    try:
        yield
    except SEEN as error:
        if not re.search(words, str(error)):
            raise
        found.append(str(error).partition("\n")[0])


def asserted(name: str, look: Callable[[Mutant, Any], None], *, words: str = "", reads: tuple[str, ...] = ()) -> Check:
    """A check that is an assertion about the wrong thing."""

    def run(item: Mutant) -> Detection:
        found: list[str] = []
        with _flagged(found, item.at.get("words", words)), item.planted() as wrong:
            look(item, wrong)
        return Detection(bool(found), found[0] if found else f"{name}: nothing seen")

    return Check(name, run, (*reads, "words"))


def _points(item: Mutant, bound: Bound, count: int, *, seed: int = 1) -> Sequence[Point]:
    """Those that the mutant names, or a fixed sample."""
    return item.at.get("points") or fixed_points(bound, count, seed=seed)


def _opinions(item: Mutant, bound: Bound) -> None:
    for point in item.at.get("points") or points_of_all_words(bound, POINTS, seed=1):
        check_second_opinion(bound, point)


def _widths(item: Mutant, bound: Bound) -> None:
    for point in _points(item, bound, POINTS):
        check_width(bound, point, DEFAULT)


def _fast(item: Mutant, bound: Bound) -> None:
    for library in LIBRARIES:
        check_fast(bound, _points(item, bound, 200), library)


def _programme(item: Mutant, bound: Bound) -> None:
    common = {"sensitivity": 1, "noise_on_mean": 1}
    for contraction in (Fraction(1, 2), Fraction(9, 10)):
        if bound.name == "noisy-gd.mu":
            check_shift_programme(bound, {**common, "dataset_size": 1, "steps": 4}, contraction)
        else:
            for batches in (1, 2, 3):
                params = {**common, "batch_size": 1, "batches": batches, "epochs": 4}
                check_shift_programme(bound, params, contraction)


class _Heard:
    """What a test's `capsys` is: all that was printed since it was last asked."""

    def __init__(self) -> None:
        self.streams = {"out": io.StringIO(), "err": io.StringIO()}

    def readouterr(self) -> SimpleNamespace:
        said = SimpleNamespace(**{name: stream.getvalue() for name, stream in self.streams.items()})
        for stream in self.streams.values():
            stream.seek(0)
            stream.truncate()
        return said


def _called(test: Callable[..., None]) -> None:
    """Run a test with the fixtures that it asks for by name."""
    with ExitStack() as stack:
        heard = _Heard()
        makers: dict[str, Callable[[], Any]] = {
            "tmp_path": lambda: Path(stack.enter_context(tempfile.TemporaryDirectory())),
            "monkeypatch": lambda: stack.enter_context(pytest.MonkeyPatch.context()),
            "capsys": lambda: heard,
        }
        asked = [name for name, it in inspect.signature(test).parameters.items() if it.default is it.empty]
        given = {name: makers[name]() for name in asked}
        if "capsys" in asked:
            stack.enter_context(redirect_stdout(heard.streams["out"]))
            stack.enter_context(redirect_stderr(heard.streams["err"]))
        test(**given)


def _tested(item: Mutant) -> Detection:
    """Whether every one of some tests fails (without a bug: whether any does)."""
    found: list[str] = []
    with item.planted():
        for test in item.at["tests"]:
            with _flagged(found, item.at.get("words", "")):
                _called(test)
    enough = 1 if item.changes is NOTHING else len(item.at["tests"])
    seen = f"{len(found)} of {len(item.at['tests'])} tests failed"
    return Detection(len(found) >= enough, f"{seen}: {found[0]}" if found else seen)


def _premises(item: Mutant) -> Detection:
    """Whether a study is refused, with words that say why."""
    with item.planted():
        try:
            study(item.at["study"]).check_premises()
        except OracleError as error:
            return Detection(bool(re.search(item.at["words"], str(error))), str(error))
    return Detection(False, "every hypothesis is met")


def _verdict(item: Mutant) -> Detection:
    """Whether the checker of a claim comes to another verdict on it than is established, and to which."""
    name, established = item.at["claim"], expectations()[item.at["claim"]].verdict
    with item.planted():
        finding = judge(claim(name), claim(name).says)
    return Detection(
        finding.verdict is not established and item.at["words"] == finding.verdict.name,
        f"{finding.verdict.name}: {finding.summary}",
    )


premises = Check("premises", _premises, ("study", "words"))
verdict = Check("verdict", _verdict, ("claim", "words"))
second_opinion = asserted("second opinion", _opinions, words=r"misses|lies (above|below) the truth", reads=("points",))
width = asserted("width", _widths, words="is wider than", reads=("points",))
fast_path = asserted("fast path", _fast, reads=("points",))
libraries = asserted(
    "libraries", lambda item, bound: check_libraries_agree(bound, fixed_points(bound, 50, seed=3)),
    words="Not equal to tolerance",
)
shift_programme = asserted("shift programme", _programme, words="misses")
round_trip = asserted(
    "round trip", lambda item, bound: check_round_trip(oracle.bound(item.at["curve"]), bound, *item.at["trip"]),
    reads=("curve", "trip"),
)
monotone = asserted(
    "monotone", lambda item, bound: check_monotone(bound, *item.at["moved"], certain=True), reads=("moved",)
)
randomness = asserted("randomness", lambda item, algorithm: check_models(algorithm))
law = Check("law", _tested, ("tests", "words"))
its_tests = Check("its tests", _tested, ("tests", "words"))
