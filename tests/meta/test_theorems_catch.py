"""Plant false claims and require the checkers to refute them, or at least not to say that they hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

import theorems.relu_approx.gdp as gdp
import theorems.relu_approx.noisy_cgd as noisy_cgd
import theorems.relu_approx.noisy_cgd_tightness as noisy_cgd_tightness
from oracle.enclosure import Dyadic, Enclosure
from oracle.errors import OracleError
from theorems.claim import Checked, Evidence, Finding, Verdict, check, claim
from theorems.classical_gaussian import calibration
from theorems.relu_approx.smoothness import judge
from theorems.shift_programme import exact_linear, touched_steps


@pytest.mark.parametrize("constant", ["1/5", "1/2", "4/5"])
def test_a_calibration_whose_variance_can_be_negative_is_refuted(constant: str) -> None:
    assert calibration(largest=Fraction(1), constant=Fraction(constant)).verdict is Verdict.REFUTED


def test_a_calibration_that_no_point_refutes_and_no_proof_covers_is_undecided() -> None:
    # K = 1 leaves every point tried intact for epsilon <= 1, but s0 = 0 and the proof does not go through.
    assert calibration(largest=Fraction(1), constant=Fraction(1)).verdict is Verdict.UNDECIDED


def test_the_range_matters() -> None:
    assert calibration(largest=Fraction(1)).verdict is Verdict.HOLDS
    assert calibration(largest=Fraction(5)).verdict is Verdict.REFUTED


def test_theorem_2_8_with_a_smaller_exponent_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    def weaker(c: Fraction, k: int, epochs: int) -> Fraction:
        if c == 1:
            return 1 + Fraction(epochs - 1, k)
        decay = c ** (k * (epochs - 1))
        return 1 + c ** (2 * k) * (1 - c**2) / (1 - c**k) ** 2 * (1 - decay) / (1 + decay)

    monkeypatch.setattr(noisy_cgd, "literal_squared_factor", weaker)
    assert noisy_cgd.check().verdict is Verdict.REFUTED
    assert noisy_cgd.check_optimal().verdict is Verdict.REFUTED


def test_theorem_2_8_that_forgets_the_last_step_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    true = noisy_cgd.literal_squared_factor
    monkeypatch.setattr(noisy_cgd, "literal_squared_factor", lambda c, k, epochs: true(c, k, epochs) - Fraction(1, 100))
    assert noisy_cgd.check().verdict is Verdict.REFUTED


def test_theorem_2_8_larger_than_needed_is_valid_but_not_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    true = noisy_cgd.literal_squared_factor
    monkeypatch.setattr(noisy_cgd, "literal_squared_factor", lambda c, k, epochs: true(c, k, epochs) + Fraction(1, 100))
    assert noisy_cgd.check_optimal().verdict is Verdict.REFUTED


def test_lemma_2_5_with_shifted_quadrature_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    true = gdp.hockey_stick_integral

    def shifted(mu: Fraction, epsilon: Fraction) -> Enclosure:
        exact = true(mu, epsilon)
        moved = exact.lower.to_fraction() * (1 + Fraction(1, 2**40))
        dyadic = Dyadic(moved.numerator, -(moved.denominator.bit_length() - 1))
        return Enclosure(dyadic, dyadic)

    monkeypatch.setattr(gdp, "hockey_stick_integral", shifted)
    assert gdp.check().verdict is Verdict.REFUTED


def test_lemma_2_5_with_an_open_identity_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gdp, "symbolic_gaps", lambda: {"planted": sympy.Symbol("x")})
    assert gdp.check().verdict is Verdict.UNDECIDED


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
    assert judge(claimed).verdict is verdict  # type: ignore[arg-type]


def test_a_false_expectation_is_a_regression() -> None:
    false = replace(claim("relu-approx/lem-3.2"), expected=Verdict.HOLDS)
    assert not check(false).as_expected


def test_undecided_and_vacuous_never_pass() -> None:
    item = claim("relu-approx/lem-2.5")
    for verdict in (Verdict.UNDECIDED, Verdict.VACUOUS):
        assert not Checked(item, Finding(verdict, Evidence.CHECKED_AT_POINTS, "planted")).as_expected


def test_a_refutation_without_a_witness_is_an_error() -> None:
    bare = replace(claim("relu-approx/lem-3.2"), check=lambda: Finding(Verdict.REFUTED, Evidence.PROVED, "planted"))
    with pytest.raises(OracleError, match="without a witness"):
        check(bare)


def test_more_than_the_theorem_is_not_attained() -> None:
    assert noisy_cgd_tightness.judge(Fraction(1)).verdict is Verdict.HOLDS
    assert noisy_cgd_tightness.judge(Fraction(1001, 1000)).verdict is Verdict.REFUTED


def test_a_witness_with_one_curvature_throughout_does_not_show_tightness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        noisy_cgd_tightness, "attained",
        lambda c, k, epochs: (c, exact_linear(c, touched_steps(batches=k, epochs=epochs, position=k))),
    )
    assert noisy_cgd_tightness.judge(Fraction(1)).verdict is Verdict.UNDECIDED
