"""One target held to one bound: what is good, what fails, and what an expected-failure file may excuse."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from empirical.gate.gate_run import run
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making.cases import Case, Expected
from empirical.gate.result import Outcome, Result, exit_code
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict, judge, read
from empirical.gate.xfail import Xfails, load, text_of
from oracle import bound
from oracle.core.errors import DomainError, TargetError
from oracle.core.registry import Bound
from tests.gate_targets import BOUND, BUGS, CASES, correct


def judged(function: Callable[..., Any], **options: Any) -> Result:
    return run(LocalTarget(function), BOUND, CASES, **{"search": 0, **options})


def expecting(folder: Path, *entries: str) -> Xfails:
    """The expected failures of a file with these entries."""
    path = folder / "xfail.toml"
    path.write_text("\n".join(f"[[xfail]]\nbound = 'laplace.delta'\nreason = 'known'\n{entry}" for entry in entries))
    return load(path)


def test_a_correct_implementation_passes() -> None:
    result = judged(correct, slack=Fraction("1.000001"), search=100)
    assert result.exit_code == 0
    assert result.counts[GateVerdict.TIGHT] == 6
    assert result.counts[GateVerdict.REFUSED] == 4
    assert not result.failures
    assert result.searched is not None
    assert result.searched.judged > 50
    assert result.searched.worst == ()


def test_loose_fails_only_where_a_slack_is_asked_for() -> None:
    def double(**given: Any) -> float:
        return 2 * correct(**given)

    result = judged(double)
    assert result.exit_code == 0
    assert result.counts[GateVerdict.LOOSE] == 5  # one answer is 0, and twice as much
    assert judged(double, slack=Fraction("1.99")).exit_code == 1
    assert judged(double, slack=Fraction("2.01")).exit_code == 0
    worst = result.worst(GateVerdict.LOOSE)
    assert worst is not None
    assert worst.judgement.factor == pytest.approx(2)


@pytest.mark.parametrize(
    ("answers", "worst"),
    [
        ({"0": -0.5, "10": 4.7}, "10"),  # half the truth of what leaks is worse than a wrong sign where nothing does
        ({"0": -0.5, "10": 9.9999}, "0"),
        ({"0": -1e-16, "10": 9.9999}, "10"),
        ({"0.1": -0.05, "10": 0.0}, "10"),
        ({"0.1": 0.04, "10": 4.7}, "10"),
        ({"1e-18": -4e-15, "10": 9.9}, "10"),  # rounding in what is next to nothing
        ({"1": 0.9, "1000": 990.0}, "1"),
        ({"10": 5.0, "1000": 500.0}, "1000"),
        ({"10": -math.inf, "1000": 0.0}, "10"),
        ({"0": -math.inf, "0.1": -0.05}, "0"),
    ],
)
def test_the_worst_of_the_unsound_answers(answers: dict[str, float], worst: str) -> None:
    assert worst_of(answers, GateVerdict.UNSOUND) == worst


@pytest.mark.parametrize(
    ("answers", "worst"), [({"0": 9.0, "10": 10.1}, "10"), ({"10": math.inf, "1": 1e9}, "10"), ({"0": 1e-3}, "0")]
)
def test_the_worst_of_the_loose_answers(answers: dict[str, float], worst: str) -> None:
    assert worst_of(answers, GateVerdict.LOOSE) == worst


def worst_of(answers: dict[str, float], verdict: GateVerdict) -> Any:
    """The truth at which these answers, keyed by truths, are worst."""
    cases = [Case(BOUND.name, tc_id, {"x": truth}, Expected.parse(truth, truth)) for tc_id, truth in enumerate(answers)]
    found = [judge(case, read(answer), safe="upper") for case, answer in zip(cases, answers.values(), strict=True)]
    outcomes = tuple(Outcome(case, "", judgement, good=False) for case, judgement in zip(cases, found, strict=True))
    worst = replace(judged(correct), outcomes=outcomes).worst(verdict)
    assert worst is not None
    return worst.case.input["x"]


def test_a_target_that_never_answers_is_no_pass() -> None:
    def refuse(**_: Any) -> float:
        raise ValueError("I do not know")

    result = judged(refuse)
    assert result.exit_code == 2
    assert result.unusable.startswith("answered none of 6 valid cases; the first is REFUSED")
    assert "I do not know" in result.unusable
    assert judged(lambda **_: math.nan).exit_code == 2


def test_nothing_judged_is_undecided() -> None:
    assert run(LocalTarget(correct), BOUND, (), search=0).exit_code == 3
    assert exit_code([]) == 3


class Broken:
    """A target that breaks at the third question."""

    name = "broken"

    def __init__(self, error: BaseException | Answer) -> None:
        self.error, self.asked, self.closed = error, 0, False

    def ask(self, bound: Bound, case: Case) -> Answer:
        self.asked += 1
        if self.asked < 3:
            return LocalTarget(correct).ask(bound, case)
        if isinstance(self.error, BaseException):
            raise self.error
        return self.error

    def call(self, bound: Bound, case: Case) -> str:
        return "broken()"

    def close(self) -> None:
        self.closed = True


def test_an_interruption_keeps_what_is_done() -> None:
    target = Broken(KeyboardInterrupt())
    result = run(target, BOUND, CASES)
    assert result.interrupted
    assert result.exit_code == 130
    assert len(result.outcomes) == 2
    assert target.closed


def test_a_target_that_cannot_be_asked_any_more_has_no_verdict() -> None:
    target = Broken(TargetError("gone"))
    result = run(target, BOUND, CASES)
    assert (result.exit_code, result.unusable, len(result.outcomes)) == (2, "gone", 2)
    assert target.closed


def test_a_target_that_only_lets_time_run_out_is_given_up() -> None:
    late = Broken(Breakdown(GateVerdict.TIMEOUT, "late"))
    late.asked = 2
    result = run(late, BOUND, CASES)
    assert result.exit_code == 2
    assert late.asked == 2 + 5
    answered = Broken(Breakdown(GateVerdict.TIMEOUT, "late"))
    result = run(answered, BOUND, CASES, search=0)
    assert result.exit_code == 1
    assert result.counts[GateVerdict.TIMEOUT] == 8


@pytest.mark.full
def test_an_unsupported_word_is_reported_and_excused() -> None:
    item = bound("poisson-gaussian.epsilon")
    base = {"sigma": "1", "sampling_rate": "0.1", "steps": "10", "delta": "1e-5"}
    truth = Expected.parse("0", "100")
    cases = [
        Case(item.name, number, {**base, "neighbours": word}, truth)
        for number, word in enumerate(["replace", "add_remove", "add_remove", "replace"], start=1)
    ]

    def only_add_remove(*, neighbours: str, **_: Any) -> float:
        if neighbours != "add_remove":
            raise ValueError("not supported")
        return 1e9

    result = run(LocalTarget(only_add_remove), item, cases, search=20)
    assert result.exit_code == 0
    assert list(map(str, result.unsupported)) == ["unsupported: neighbours=replace, 2 cases"]
    assert result.outcomes[0].why == "unsupported: neighbours=replace, 2 cases"
    assert result.searched is not None
    assert result.searched.refused > 0

    calls: list[str] = []

    def sometimes(*, neighbours: str, **_: Any) -> float:
        calls.append(neighbours)
        if calls.count("replace") == 2:
            raise ValueError("not today")
        return 1.0

    result = run(LocalTarget(sometimes), item, cases, search=0)
    assert result.exit_code == 1
    assert [outcome.case.tc_id for outcome in result.failures] == [4]
    assert result.unsupported == ()


def test_only_some_cases() -> None:
    result = judged(BUGS["delta / 10"], only={3})
    assert [outcome.case.tc_id for outcome in result.outcomes] == [3]


TENTH = BUGS["delta / 10"]  # UNSOUND in the cases 1 to 4 and 6; case 5 is 0


@pytest.mark.parametrize(
    "entry", ["verdict = 'UNSOUND'\ncases = [1, 2, 3, 4, 6]", "verdict = 'UNSOUND'\nwhere = {scale = 1}"]
)
def test_expected_failures_are_excused(entry: str, tmp_path: Path) -> None:
    result = judged(TENTH, xfail=expecting(tmp_path, entry))
    excused = {outcome.case.tc_id for outcome in result.expected_failures}
    assert excused == ({1, 2, 3, 4, 6} if "cases" in entry else {1, 2, 6})
    assert result.exit_code == (0 if "cases" in entry else 1)


def test_an_expected_failure_that_passes_is_a_failure_that_names_the_line(tmp_path: Path) -> None:
    result = judged(TENTH, xfail=expecting(tmp_path, "verdict = 'UNSOUND'\ncases = [1, 2, 3, 4, 5, 6]"))
    assert len(result.failures) == 1
    (failed,) = result.failures
    assert failed.case.tc_id == 5
    assert failed.why == f"expected UNSOUND by {tmp_path / 'xfail.toml'}, line 1, came out TIGHT: take it out there"
    assert judged(correct, xfail=expecting(tmp_path, "verdict = 'CRASH'\nflags = ['Bad']")).exit_code == 1


def test_another_failure_than_the_expected_one_fails(tmp_path: Path) -> None:
    entries = ("verdict = 'UNSOUND'\ncases = [2, 3, 4, 6]", "verdict = 'CRASH'\ncases = [1]")
    result = judged(TENTH, xfail=expecting(tmp_path, *entries))
    assert len(result.failures) == 1
    (failed,) = result.failures
    assert failed.case.tc_id == 1
    assert failed.why.endswith("line 6, came out UNSOUND: change it there")


def test_an_entry_may_allow_what_the_machine_decides(tmp_path: Path) -> None:
    entry = "verdict = 'UNSOUND'\ncases = [1, 2, 3, 4, 5, 6]\nalso = ['TIGHT']"
    result = judged(TENTH, xfail=expecting(tmp_path, entry))
    assert result.exit_code == 0  # case 5 is right
    assert 'also = ["TIGHT"]' in text_of(result.to_xfails())
    assert judged(BUGS["crashes"], xfail=expecting(tmp_path, entry)).exit_code == 1, "a crash is allowed by neither"


def test_a_file_may_say_what_was_tested(tmp_path: Path) -> None:
    path = tmp_path / "xfail.toml"
    path.write_text("library = 'mine'\nversion = '1.2'\n")
    assert load(path).entries == ()
    path.write_text("version = 1\n")
    with pytest.raises(DomainError, match=r"version = 1 is outside its domain"):
        load(path)


def test_flags_and_where_name_cases_of_the_right_kind(tmp_path: Path) -> None:
    accepts = BUGS["accepts negative"]
    assert judged(accepts).exit_code == 1
    for entry in ("cases = [11]", "where = {scale = '-1.0'}", "flags = ['Bad']\nwhere = {scale = -1}"):
        xfail = expecting(tmp_path, f"verdict = 'ACCEPTED_INVALID'\n{entry}")
        assert judged(accepts, xfail=xfail).exit_code == 0
    zero = BUGS["crashes"]
    assert judged(zero, xfail=expecting(tmp_path, "verdict = 'CRASH'\nflags = ['Zero']")).exit_code == 0


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("verdict = 'UNSOUND'\ncases = [1, 99]", r"line 1: cases = \[99\] names no case"),
        ("verdict = 'UNSOUND'\nflags = ['Unheard']", "names no case"),
        ("verdict = 'UNSOUND'\nwhere = {scale = 77}", "names no case"),
    ],
)
def test_an_entry_that_names_nothing_is_an_error(entry: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=words):
        judged(TENTH, xfail=expecting(tmp_path, entry))


def test_two_entries_that_disagree_are_an_error(tmp_path: Path) -> None:
    entries = ("verdict = 'UNSOUND'\ncases = [1]", "verdict = 'CRASH'\nwhere = {epsilon = '0.5'}")
    with pytest.raises(DomainError, match=r"case 1 .* UNSOUND by"):
        judged(TENTH, xfail=expecting(tmp_path, *entries))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("verdict = 'TIGHT'\ncases = [1]", "verdict = TIGHT"), ("verdict = 'BAD'\ncases = [1]", "verdict = BAD"),
        ("cases = [1]", "verdict = None"), ("verdict = 'UNSOUND'", "expected cases"),
        ("verdict = 'UNSOUND'\ncases = []", "expected cases"), ("verdict = 'UNSOUND'\ncases = ['1']", "cases = "),
        ("verdict = 'UNSOUND'\ncases = [1]\nsearch = true", "expected cases"),
        ("verdict = 'REFUSED'\nsearch = true", "verdict = REFUSED"), ("verdict = 'UNSOUND'\nflags = [1]", "flags = "),
        ("verdict = 'UNSOUND'\nwhere = {sigma = 1}", "no parameter sigma"),
        ("verdict = 'UNSOUND'\nwhere = 1", "where = 1"), ("verdict = 'UNSOUND'\ncases = [1]\nlink = 1", "link"),
        ("verdict = 'UNSOUND'\ncases = [1]\ncolour = 'red'", "colour"),
        ("verdict = 'UNSOUND'\ncases = [1]\nalso = ['BAD']", "also = BAD"),
        ("verdict = 'UNSOUND'\ncases = [1]\nalso = 'LOOSE'", "also = LOOSE"),
        ("verdict = 'UNSOUND'\ncases = [1]\ntraining = 'a:b'", "not both"),
    ],
)
def test_bad_entries_are_told(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=words):
        expecting(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[xfail]]\nbound = 'none'\nverdict = 'CRASH'\ncases = [1]\nreason = 'r'", "bound = none is unknown"),
        ("[[xfail]]\nbound = 'laplace.delta'\nverdict = 'CRASH'\ncases = [1]\nreason = 'TODO'", "reason = TODO"),
        ("[[xfail]]\nbound = 'laplace.delta'\nverdict = 'CRASH'\ncases = [1]\nreason = ' '", "reason"),
        ("[[xfail]]\nbound = 'laplace.delta'\nverdict = 'CRASH'\ncases = [1]", "reason = None"),
        ("[[xfail]]\ntraining = 'a:b'\nverdict = 'UNSOUND'\nreason = 'r'", "verdict = UNSOUND"),
        ("[[xfail]]\ntraining = 'a:b'\nverdict = 'VIOLATION'\nreason = 'r'\ncases = [1]", "none of them"),
        ("[xfail]\nbound = 'laplace.delta'", r"no \[\[xfail\]\]"), ("colour = 1", "the key colour"), ("[[", "no TOML"),
    ],
)
def test_bad_files_are_told(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "xfail.toml"
    path.write_text(text)
    with pytest.raises(DomainError, match=words):
        load(path)
    with pytest.raises(DomainError, match="cannot be read"):
        load(tmp_path / "none.toml")


@pytest.mark.full
def test_the_present_failures_make_a_file_to_start_from(tmp_path: Path) -> None:
    result = judged(TENTH, search=50)
    assert result.exit_code == 1
    path = tmp_path / "xfail.toml"
    path.write_text(text_of(result.to_xfails()))
    with pytest.raises(DomainError, match="reason = TODO"):
        load(path)
    path.write_text(path.read_text().replace("TODO", "a tenth is returned"))
    again = judged(TENTH, search=50, xfail=load(path))
    assert again.exit_code == 0
    path.write_text(text_of(again.to_xfails()))  # what is known keeps its reason
    assert judged(TENTH, search=50, xfail=load(path)).exit_code == 0
    assert judged(correct, search=50, xfail=load(path)).exit_code == 1


def test_the_search_is_held_to_its_own_entries(tmp_path: Path) -> None:
    known = "verdict = 'UNSOUND'\ncases = [1, 2, 3, 4, 6]"
    assert judged(TENTH, search=50, xfail=expecting(tmp_path, known)).exit_code == 1
    result = judged(TENTH, search=50, xfail=expecting(tmp_path, known, "verdict = 'UNSOUND'\nsearch = true"))
    assert result.exit_code == 0
    missing = judged(correct, search=50, xfail=expecting(tmp_path, "verdict = 'UNSOUND'\nsearch = true"))
    assert missing.exit_code == 0  # a search is not exhaustive
    assert missing.searched is not None
    assert [entry.verdict for entry in missing.searched.not_found] == ["UNSOUND"]


def test_a_result_is_plain_json() -> None:
    for function in (correct, TENTH, BUGS["NaN"], lambda **_: math.inf):
        document = judged(function, search=30).to_json()
        assert json.loads(json.dumps(document, allow_nan=False)) == document
