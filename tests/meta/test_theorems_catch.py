"""Plant false claims and require the checkers to refute them, or at least not to say that they hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from oracle.core.errors import OracleError
from tests.theorems.findings import judged
from theorems.claim import Checked, Expectation, check, claim, judge
from theorems.given import Domain
from theorems.verdict import ALL, INSTANCE, Evidence, Finding, ProofStep, Scope, Verdict, argued, computed, proof


@pytest.mark.parametrize("constant", ["1/5", "1/2", "4/5"])
def test_a_calibration_whose_variance_can_be_negative_is_refuted(constant: str) -> None:
    assert judged("nonconvex-nn/lem-1", Fraction(constant)).verdict is Verdict.REFUTED


def test_a_calibration_that_no_point_refutes_and_no_proof_covers_is_undecided() -> None:
    # K = 1.1 leaves every point tried intact for epsilon < 1, but R(x0) is too large for the proof.
    assert judged("nonconvex-nn/lem-1", Fraction("1.1")).verdict is Verdict.UNDECIDED


def test_the_range_matters() -> None:
    item = claim("nonconvex-nn/lem-1")
    wider = Domain(tuple(replace(one, high=Fraction(5)) if one.name == "epsilon" else one for one in item.hypotheses))
    assert judge(item, Fraction(5, 4)).verdict is Verdict.HOLDS
    assert judge(item, Fraction(5, 4), wider).verdict is Verdict.REFUTED


@pytest.mark.full
@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [
        (lambda a, square, lam: a * square, Verdict.REFUTED),
        (lambda a, square, lam: a * square / 2 + lam, Verdict.REFUTED),
        (lambda a, square, lam: 2 * a * square + lam, Verdict.HOLDS),
        # True, but beyond the computer algebra used, which must then not say HOLDS.
        (lambda a, square, lam: a**2 * square + lam, Verdict.UNDECIDED),
        # False from four active hyperplanes on, beyond the small cases: must not be called HOLDS either.
        (lambda a, square, lam: a * square + lam - lam * a * (a - 1) * (a - 2) * (a - 3) / 1000, Verdict.UNDECIDED),
    ],
)
def test_smoothness_constants(claimed: object, verdict: Verdict) -> None:
    assert judged("relu-approx/lem-3.2", claimed).verdict is verdict


def test_a_false_expectation_is_a_regression() -> None:
    item = claim("relu-approx/lem-3.2")
    for expected, words in (
        (Expectation(Verdict.HOLDS, Evidence.PROVED), "verdict: expected HOLDS, found REFUTED"),
        (Expectation(Verdict.REFUTED, Evidence.STATISTICAL), "evidence: expected STATISTICAL, found PROVED"),
    ):
        checked = check(replace(item, expected=str(expected)))
        assert not checked.as_expected
        assert checked.difference == words


def test_undecided_and_vacuous_never_pass() -> None:
    item = claim("relu-approx/lem-2.5")
    for verdict in (Verdict.UNDECIDED, Verdict.VACUOUS):
        found = Finding(verdict, Evidence.PROVED, "planted", scope=ALL)
        assert not Checked(item, found, Expectation(Verdict.HOLDS, Evidence.PROVED)).as_expected


_POINTS = Scope("points", 3, 3)
_SEEN = computed("of course", True)


@pytest.mark.parametrize(("finding", "complaint"), [
    (Finding(Verdict.REFUTED, Evidence.PROVED, "x", scope=INSTANCE), "without a witness"),
    (Finding(Verdict.REFUTED, Evidence.PROVED, "x", {"x": "1"}, ALL), "more than one instance"),
    (Finding(Verdict.HOLDS, Evidence.CHECKED_AT_POINTS, "x"), "how much of the hypotheses"),
    (Finding(Verdict.HOLDS, Evidence.CITED, "x", scope=_POINTS), "only cites"),
    (Finding(Verdict.HOLDS, Evidence.PROVED, "x", scope=_POINTS), "calls points PROVED"),
    (Finding(Verdict.HOLDS, Evidence.PROVED, "x", scope=ALL), "without a step"),
    (Finding(Verdict.HOLDS, Evidence.PROVED, "x", scope=ALL, steps=(argued("y"),)), "calls proved what it argues"),
    (Finding(Verdict.HOLDS, Evidence.ARGUED, "x", scope=ALL, steps=(computed("y", True),)), "argued what it computes"),
    (Finding(Verdict.HOLDS, Evidence.ARGUED, "x", scope=INSTANCE, steps=(argued("y"),)), "calls instance ARGUED"),
    (Finding(Verdict.HOLDS, Evidence.ARGUED, "x", scope=ALL, steps=(argued("y"),)), "argues without a computed step"),
    (Finding(Verdict.HOLDS, Evidence.ARGUED, "x", scope=ALL, steps=(_SEEN, argued("y"), ProofStep("z", False))),
     "failed"),
    (Finding(Verdict.HOLDS, Evidence.STATISTICAL, "x", scope=_POINTS), "error probability"),
    (Finding(Verdict.HOLDS, Evidence.CERTIFIED_ON_BOX, "x", scope=_POINTS), "calls points CERTIFIED_ON_BOX"),
    (Finding(Verdict.HOLDS, Evidence.CHECKED_AT_POINTS, "x", scope=Scope("box", 3, 3)), "calls box CHECKED_AT_POINTS"),
    (Finding(Verdict.REFUTED, Evidence.CITED, "x", {"x": "1"}), "more than one instance"),
    (Finding(Verdict.NOT_CHECKABLE, Evidence.PROVED, "x", scope=ALL), "calls not checkable"),
    (Finding(Verdict.UNDECIDED, Evidence.CHECKED_AT_POINTS, " ", scope=_POINTS), "gives no reason"),
])
def test_a_finding_that_breaks_the_rules_is_an_error(finding: Finding, complaint: str) -> None:
    with pytest.raises(OracleError, match=complaint):
        check(replace(claim("relu-approx/lem-3.2"), check=lambda says, given: finding))


def test_what_is_proved_was_tried_at_the_ends_of_its_hypotheses() -> None:
    item = replace(claim("relu-approx/lem-3.2-repaired"), check=lambda says, given: proof(computed("all of it", True)))
    with pytest.raises(OracleError, match="never tried at the ends of lam"):
        check(item)
    assert check(replace(item, untested={"lam": "planted"})).finding.evidence is not Evidence.CITED


def test_evidence_is_capped_by_what_it_rests_on() -> None:
    item = claim("relu-approx/lem-D.2")
    weak = next(name for name in item.rests_on if claim(name).expected == "HOLDS CITED")
    checked = check(item)
    assert (checked.finding.evidence, checked.capped_by) == (Evidence.CITED, weak)
    with pytest.raises(OracleError, match="which is not established"):
        check(replace(item, rests_on=("relu-approx/lem-3.2",)))


@pytest.mark.parametrize(("kind", "tried", "met"), [("point", 3, 3), ("points", 3, 4), ("box", 3, -1)])
def test_a_scope_that_makes_no_sense_is_an_error(kind: str, tried: int, met: int) -> None:
    with pytest.raises(OracleError, match="scope"):
        Scope(kind, tried, met)


def test_a_check_that_met_no_hypothesis_is_vacuous() -> None:
    empty = Finding(Verdict.HOLDS, Evidence.CHECKED_AT_POINTS, "x", scope=Scope("points", 100, 0))
    checked = check(replace(claim("relu-approx/lem-3.2-repaired"), check=lambda says, given: empty))
    assert checked.finding.verdict is Verdict.VACUOUS
    assert not checked.as_expected


def test_more_than_the_theorem_is_not_attained() -> None:
    assert judged("relu-approx/thm-2.8-attained", Fraction(1)).verdict is Verdict.HOLDS
    assert judged("relu-approx/thm-2.8-attained", Fraction(1001, 1000)).verdict is Verdict.REFUTED
