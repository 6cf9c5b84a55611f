"""Every accusation is fair: unsound is only what is below the truth, and is told with how much it matters.

Severity, what lies below a formula without being wrong, the absolute slack, what a library offers, one denominator, and
programs that die at once.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from scipy import stats

from empirical.gate import vector_files
from empirical.gate.gate_run import run
from empirical.gate.gate_targets import GateCommand, LocalTarget
from empirical.gate.making.cases import Case, Expected, arguments
from empirical.gate.offers import parse, spoken
from empirical.gate.output import document, junit, print_results, rows, verdict_line
from empirical.gate.policy import Policy
from empirical.gate.severity import Severity, everyday, graded
from empirical.gate.suite import conformance
from empirical.gate.verdicts import GateVerdict, Interval, judge
from empirical.gate.xfail import load
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, bound
from tests.commands import command
from tests.project.consoles import ROOT

pytestmark = pytest.mark.full

BRACKETED = ("wor-gaussian.rdp", "wor-gaussian.epsilon", "zcdp.epsilon", "rdp.epsilon", "gaussian-classical.sigma")


def answering(cases: tuple[Case, ...], value: Any) -> LocalTarget:
    """A target that knows the file by heart, and says `value` of what it expects."""
    answers = iter(cases)

    def function(**_: Any) -> Any:
        case = next(answers)
        if case.expected is None:
            raise ValueError("nonsense")
        return str(value(case.expected))

    return LocalTarget(function, "by_heart")


def judged(name: str, value: Any, **options: Any) -> Any:
    cases = vector_files.load(name).cases
    return run(answering(cases, value), bound(name), cases, search=0, **options)


def least(expected: Expected) -> Fraction:
    return expected.lower if expected.attained is None else expected.attained


# --- unsound is below the truth


@pytest.mark.parametrize("name", BRACKETED)
def test_a_library_that_answers_what_is_attained_is_not_called_unsound(name: str) -> None:
    result = judged(name, least)
    assert result.counts[GateVerdict.UNSOUND] == 0
    assert result.counts[GateVerdict.BELOW_FORMULA] > 0
    assert not result.failures
    assert result.exit_code == 3
    assert judged(name, least, below_formula="pass").exit_code == 0
    assert judged(name, least, below_formula="fail").exit_code == 1


@pytest.mark.parametrize("name", BRACKETED)
def test_a_library_may_say_that_it_is_below_the_formula(name: str, tmp_path: Path) -> None:
    below = [outcome.case.tc_id for outcome in judged(name, least).undecided]
    file = tmp_path / "known.toml"
    file.write_text(f'[[xfail]]\nbound = "{name}"\nverdict = "BELOW_FORMULA"\ncases = {below}\nreason = "better"\n')
    assert judged(name, least, xfail=load(file)).exit_code == 0
    assert judged(name, lambda expected: expected.upper, xfail=load(file)).exit_code == 1, "strict both ways"


@pytest.mark.parametrize("name", BRACKETED)
def test_below_what_is_attained_is_unsound(name: str) -> None:
    result = judged(name, lambda expected: least(expected) * Fraction(99, 100))
    positive = [c for c in vector_files.load(name).cases if c.expected is not None and least(c.expected) > 0]
    assert result.counts[GateVerdict.UNSOUND] == len(positive) > 0
    assert result.exit_code == 1


def test_the_call_that_slandered_an_exact_library() -> None:
    """0.1565 is what the dominating pair has; data sets attain 0.1158, and a library that says 0.12 may be right."""
    (case,) = [case for case in vector_files.load("wor-gaussian.rdp").cases if case.tc_id == 1]
    item = bound("wor-gaussian.rdp")
    for answer, verdict in (("0.12", GateVerdict.BELOW_FORMULA), ("0.1157", GateVerdict.UNSOUND), (
        "0.1565", GateVerdict.TIGHT if case.expected and case.expected.upper > Fraction("0.1565") else GateVerdict.LOOSE
    )):
        value = Fraction(answer)
        assert Policy().judge(item, case, Interval(value, value)).verdict is verdict


def test_a_method_is_no_measure_of_another() -> None:
    """Of a one-sided bound only a negative answer is unsound."""
    result = judged("dp-pgd.epsilon", lambda expected: expected.lower / 2)
    assert result.counts[GateVerdict.UNSOUND] == 0
    assert result.exit_code == 3
    assert judged("dp-pgd.epsilon", lambda _: -1).counts[GateVerdict.BELOW_FORMULA] == 0


def test_an_interval_above_an_upper_bound_excludes_the_truth_whatever_the_tightness() -> None:
    case = Case("x", 1, {}, Expected(Fraction(1), Fraction(2), Fraction(1, 2)))
    for tightness in ("truth", "bracketed", "one-sided"):
        assert judge(case, Interval(Fraction(3), Fraction(4)), safe="upper", tightness=tightness).verdict == "UNSOUND"
    above = Interval(Fraction(3), Fraction(3))
    assert judge(case, above, safe="lower", tightness="one-sided").verdict is GateVerdict.BELOW_FORMULA
    assert judge(case, above, safe="lower", tightness="truth").verdict is GateVerdict.UNSOUND


def test_the_search_asks_what_is_attained_before_it_accuses() -> None:
    item = bound("zcdp.epsilon")
    gaussian = bound("gdp.epsilon")

    def better(*, rho: float, delta: float) -> float:
        return float(gaussian.fast(mu=math.sqrt(2 * rho), delta=delta)) * (1 + 1e-9)

    result = run(LocalTarget(better), item, (), search=30)
    assert result.searched is not None
    assert result.searched.failed == 0
    assert result.searched.undecided > 0
    assert {outcome.judgement.verdict for outcome in result.undecided} == {GateVerdict.BELOW_FORMULA}


# --- severity


@pytest.mark.parametrize(("gap", "limit", "unit", "severity"), [
    ("1e-7", "1", "sigma", "negligible"), ("1e-5", "1", "sigma", "material"), ("0.02", "1", "sigma", "gross"),
    ("1e-10", "1e-10", "epsilon", "negligible"), ("1e-8", "1e-8", "epsilon", "gross"),
    ("1e-16", "1e-16", "delta", "negligible"), ("1e-14", "1e-14", "delta", "gross"), ("0.5", "0", "epsilon", "gross"),
])
def test_severity_is_by_the_relative_and_the_absolute_gap(gap: str, limit: str, unit: str, severity: str) -> None:
    relative, found = graded(Fraction(gap), Fraction(limit), unit)
    assert found == severity
    assert relative == (math.inf if limit == "0" else pytest.approx(float(Fraction(gap) / Fraction(limit))))


def naive(*, sigma: float, sensitivity: float, epsilon: float) -> float:
    """The textbook formula in float64, right in real numbers: it cancels where delta is tiny."""
    if not (0 < sigma < math.inf and 0 < sensitivity < math.inf and 0 <= epsilon < math.inf):
        raise ValueError("outside the domain")
    mu = sensitivity / sigma
    first, second = stats.norm.logcdf(mu / 2 - epsilon / mu), stats.norm.logcdf(-mu / 2 - epsilon / mu)
    return float(math.exp(first) * -math.expm1(min(0.0, epsilon + second - first)))


def test_rounding_at_a_tiny_delta_is_not_presented_like_a_wrong_epsilon(capsys: pytest.CaptureFixture[str]) -> None:
    cases, item = vector_files.load("gaussian.delta").cases, bound("gaussian.delta")
    strict = run(LocalTarget(naive), item, cases, search=0)
    assert strict.severities[Severity.NEGLIGIBLE] > 0
    assert strict.severities[Severity.MATERIAL] == strict.severities[Severity.GROSS] == 0
    assert strict.exit_code == 1
    lenient = run(LocalTarget(naive), item, cases, search=0, fail_on=Severity.MATERIAL)
    assert lenient.exit_code == 0
    assert [row[2] for row in rows(lenient) if row[2].startswith("UNSOUND")] == ["UNSOUND, negligible"]
    print_results([lenient])
    assert "unsound answers below material, which --fail-on lets pass" in capsys.readouterr().out
    halved = run(LocalTarget(lambda **given: naive(**given) / 2), item, cases, search=0, fail_on=Severity.GROSS)
    assert halved.severities[Severity.GROSS] > 0
    assert halved.exit_code == 1
    failures = [lines[0] for lines in _told(halved)]
    assert failures[0].startswith("UNSOUND gross  gaussian.delta/")
    (suite,) = ElementTree.fromstring(junit([halved]))
    assert any(node.get("message", "").startswith("UNSOUND gross") for case in suite for node in case)
    (told,) = document([halved])["results"]
    assert {test["severity"] for test in told["tests"]} >= {"gross", None}
    assert told["severities"]["gross"] == halved.severities[Severity.GROSS]


def _told(result: Any) -> list[list[str]]:
    from empirical.gate.output import failures

    return list(failures(result))


def test_everyday_is_by_what_is_asked_and_by_what_is_true() -> None:
    def case(delta: str, truth: int) -> Case:
        return Case("gaussian.epsilon", 1, {"sigma": "1", "delta": delta}, Expected(Fraction(truth), Fraction(truth)))

    assert everyday(case("1e-5", 1), "epsilon")
    assert not everyday(case("1e-14", 1), "epsilon")
    assert not everyday(case("1e-5", 21), "epsilon")
    assert not everyday(case("1e-5", 0), "epsilon")


# --- the absolute slack


def test_a_renyi_accountant_that_answers_a_quarter_where_the_truth_is_0() -> None:
    """It failed at any factor: no multiple of 0 is 0.25."""
    case = Case("gaussian.epsilon", 1, {"sigma": "1", "sensitivity": "1", "delta": "0.5"}, Expected(*[Fraction(0)] * 2))

    def quarter(**_: Any) -> float:
        return 0.25

    def code(**options: Any) -> int:
        return run(LocalTarget(quarter), bound("gaussian.epsilon"), [case], search=0, **options).exit_code

    assert code(slack=Fraction(1000)) == 1
    assert code(slack=Fraction(2), slack_absolute=Fraction(1, 4)) == 0
    assert code(slack_absolute=Fraction(1, 4)) == 0
    assert code(slack_absolute=Fraction(1, 5)) == 1
    assert code() == 0
    below = Interval(Fraction(-1), Fraction(-1))
    assert judge(case, below, safe="lower", slack_absolute=Fraction(1)).verdict is GateVerdict.TIGHT


# --- what is offered


OFFERS = {"sigma": [1, 10], "steps": ["integers", 10, 100000], "neighbours": ["add_remove"]}


def of_the_oracle(item: Bound, offers: Any) -> Any:
    """Answers like the fast path, inside what it offers only; it crashes beyond."""
    def function(**given: Any) -> float:
        try:
            item.parse(given)
        except DomainError as error:
            raise ValueError(str(error)) from None
        if not offers.has({name: text if isinstance(text, str) else repr(text) for name, text in given.items()}):
            raise RuntimeError("beyond what is offered")
        return float(item.fast(**given))
    return function


def test_what_is_not_offered_is_neither_failed_nor_passed() -> None:
    item = bound("poisson-gaussian.rdp")
    cases, offers = vector_files.load(item.name).cases, parse(item, OFFERS)
    target = LocalTarget(of_the_oracle(item, offers))
    blind = run(target, item, cases, search=0)
    assert blind.counts[GateVerdict.CRASH] > 0
    result = run(target, item, cases, search=20, offers=offers)
    assert result.exit_code == 0, [outcome.judgement for outcome in result.failures]
    assert result.not_offered + len(result.outcomes) == len(cases)
    assert result.not_offered > 0
    assert any(not outcome.case.valid for outcome in result.outcomes), "nonsense is asked all the same"
    assert result.searched is not None
    assert result.searched.judged > 10, "the search goes where something is offered"
    assert document([result])["results"][0]["notOffered"] == result.not_offered
    assert "not offered" in {row[2] for row in rows(result)}


def test_words_of_offers() -> None:
    item = bound("poisson-gaussian.rdp")
    said = spoken(["sigma=1..10", "steps=integers,10..100000", "neighbours=add_remove"])
    assert parse(item, said) == parse(item, OFFERS)
    assert parse(item, {"sigma": ["0.5", "inf"]}).has({"sigma": "1e9"})
    assert not parse(item, {"alpha": "integers"}).has({"alpha": "2.5"})
    for wrong in ({"colour": [1, 2]}, {"sigma": [2, 1]}, {"sigma": [1]}, {"sigma": "reals"}, {"neighbours": ["all"]}):
        with pytest.raises(DomainError, match=r"offers|neighbours"):
            parse(item, wrong)
    for word in ("sigma", "=1..2", "sigma="):
        with pytest.raises(DomainError):
            spoken([word])


def test_a_config_and_a_test_offer_the_same(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from oracle import bound\n\n"
        "def delta(*, sigma, sensitivity, epsilon):\n"
        "    if not (sigma > 0 and sensitivity > 0 and epsilon >= 0):\n        raise ValueError('no')\n"
        "    if not 0.5 <= sigma <= 10:\n        raise RuntimeError('not offered')\n"
        "    return float(bound('gaussian.delta').fast(sigma=sigma, sensitivity=sensitivity, epsilon=epsilon))\n"
    )
    (tmp_path / "gate.toml").write_text(
        '[[gate]]\ntarget = "mine.py:delta"\nbound = "gaussian.delta"\nsearch = 20\nslack_absolute = 0.25\n'
        'fail_on = "material"\noffers = {sigma = [0.5, 10]}\n'
    )
    file = tmp_path / "result.json"
    done = command("gate", "--config", str(tmp_path / "gate.toml"), "--json", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    (result,) = json.loads(file.read_text())["results"]
    assert result["offers"] == "sigma in [0.5, 10]"
    assert result["slackAbsolute"] == "1/4"
    assert result["failOn"] == "material"
    with pytest.raises(pytest.Collector.CollectError, match="leaves no valid case"):
        conformance("gaussian.delta", naive, offers={"sigma": ["1e50", "1e51"]})
    with pytest.raises(pytest.Collector.CollectError, match="fail_on"):
        conformance("gaussian.delta", naive, fail_on="loud")


# --- one denominator


def test_cases_and_failures_are_counted_over_one_number() -> None:
    cases, item = vector_files.load("gaussian.delta").cases, bound("gaussian.delta")
    result = run(LocalTarget(lambda **given: naive(**given) / 2), item, cases, search=40)
    assert result.searched is not None
    judged_by_search = result.searched.judged + result.searched.refused
    asked = result.questions
    assert asked["judged"] == len(result.outcomes) + judged_by_search
    assert asked["failed"] > len(result.failures), "each example of the search that failed counts, not only the worst"
    assert asked["failed"] <= asked["judged"]
    told = f"{asked['judged']} cases judged ({judged_by_search} by the search), {asked['failed']} failed"
    assert told in verdict_line([result])


# --- dying programs


@pytest.mark.parametrize("body", ["import os; os._exit(3)", "raise SystemExit('no licence')", "import nothing_here"])
def test_a_program_that_dies_at_once_is_told_at_once(body: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(body)
    target = GateCommand([sys.executable, str(program)])
    started = []
    start = target._start
    target._start = lambda: started.append(1) or start()  # type: ignore[method-assign,func-returns-value]
    result = run(target, bound("laplace.delta"), vector_files.load("laplace.delta").cases)
    assert len(started) == 3
    assert result.exit_code == 2
    assert result.unusable.startswith("ended 3 times before it answered anything")
    assert len(result.outcomes) == 3


def test_a_program_that_never_starts_again_is_given_up(tmp_path: Path) -> None:
    """It answers four questions, and from then on ends at each: what it answered before tells that from hard ones."""
    program, mark = tmp_path / "program.py", tmp_path / "mark"
    inside = (
        f"if os.path.exists({str(mark)!r}): raise SystemExit('no licence')\nfor line in sys.stdin:\n"
        f"    if json.loads(line)['id'] == 5: open({str(mark)!r}, 'w'); raise SystemExit('no licence')"
    )
    text = (ROOT / "examples/gate/target.py").read_text().replace("for line in sys.stdin:", f"import os\n{inside}")
    program.write_text(text)
    cases = vector_files.load("laplace.delta").cases
    result = run(GateCommand([sys.executable, str(program)]), bound("laplace.delta"), cases)
    assert (result.exit_code, len(result.outcomes), result.searched) == (2, 7, None)
    assert result.unusable.startswith(f"ended 3 times in a row, and then at {cases[0].name}, which it had answered")
    assert "no licence" in result.unusable


def test_a_program_that_dies_of_some_questions_only_is_judged(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    cases = [case for case in vector_files.load("laplace.delta").cases if case.valid][:20]
    deadly = [arguments(bound("laplace.delta"), case.input) for case in cases[1:8]]
    inside = f"for line in sys.stdin:\n    if json.loads(line)['input'] in {deadly}: raise SystemExit(1)"
    program.write_text((ROOT / "examples/gate/target.py").read_text().replace("for line in sys.stdin:", inside))
    result = run(GateCommand([sys.executable, str(program)]), bound("laplace.delta"), cases, search=0)
    assert result.exit_code == 1
    assert result.counts[GateVerdict.CRASH] == 7
    assert len(result.outcomes) == 20
