"""Certified polynomial approximations of activations: the figures of the documents, and mpmath on other points."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.polynomial import chebyshev as numpy_chebyshev

from oracle.algorithms.kernels import chebyshev
from oracle.algorithms.kernels.chebyshev import Approximation, approximation
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError, PrecisionError

CASES = [("sigmoid", m) for m in (1, 2, 5, 12, 30)] + [("relu", m) for m in (1, 2, 3, 8, 31, 48)]


def sampled_error(found: Approximation, digits: int, count: int = 1000) -> mpmath.mpf:
    """The largest error on equispaced points, by mpmath's own evaluation in the Chebyshev basis."""
    with mpmath.workdps(digits):
        terms = [mpmath.mpf(c.numerator) / c.denominator for c in found.coefficients]
        worst = mpmath.mpf(0)
        for index in range(-count, count + 1):
            x = mpmath.mpf(index) / count
            one, two = mpmath.mpf(0), mpmath.mpf(0)  # Clenshaw's recurrence
            for term in reversed(terms[1:]):
                one, two = 2 * x * one - two + term, one
            truth = 1 / (1 + mpmath.exp(-x)) if found.function == "sigmoid" else max(x, mpmath.mpf(0))
            worst = max(worst, abs(truth - (x * one - two + terms[0])))
        return worst


def check_error(found: Approximation) -> None:
    """No sample lies above the enclosure, and the samples, 1000 on a side, come within a hundredth of it."""
    coarse, fine = sampled_error(found, 40, 150), sampled_error(found, 80)
    with mpmath.workdps(80):
        lower, upper = (mpmath.ldexp(end.mantissa, end.exponent) for end in (found.error.lower, found.error.upper))
        assert coarse <= upper, f"an error of {coarse} lies above {upper}"
        assert fine <= upper, f"an error of {fine} lies above {upper}"
        assert fine >= lower * mpmath.mpf("0.99"), f"no error comes near {lower}"


@pytest.mark.full
@pytest.mark.parametrize(("function", "degree"), CASES)
def test_errors_agree_with_samples_at_two_precisions(function: str, degree: int) -> None:
    check_error(approximation(function, degree))


@pytest.mark.full
@pytest.mark.parametrize(("function", "degree"), CASES)
def test_enclosures_are_narrow_and_overlap(function: str, degree: int) -> None:
    wide, narrow = (approximation(function, degree, width=width).error for width in ("0.1", "1e-5"))
    assert wide.overlaps(narrow)
    low, high = narrow.to_floats()
    assert high - low <= 1e-5 * low


@pytest.mark.parametrize(("function", "degree"), CASES)
def test_coefficients_are_those_of_numpy(function: str, degree: int) -> None:
    activation = {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0)}[function]
    found = approximation(function, degree)
    expected = numpy_chebyshev.chebinterpolate(activation, degree)
    np.testing.assert_allclose([float(c) for c in found.coefficients], expected, rtol=0, atol=1e-14)
    if degree <= 12:  # beyond, numpy's change of basis cancels
        monomials = [float(c) for c in found.monomials]
        np.testing.assert_allclose(monomials, numpy_chebyshev.cheb2poly(expected), rtol=0, atol=1e-10)


def test_the_two_bases_are_one_polynomial_exactly() -> None:
    found = approximation("relu", 20)
    for x in (Fraction(-1), Fraction(-3, 7), Fraction(0), Fraction(1, 9), Fraction(1)):
        before, current = Fraction(1), x
        value = found.coefficients[0]
        for coefficient in found.coefficients[1:]:
            value += coefficient * current
            before, current = current, 2 * x * current - before
        assert value == sum(c * x**power for power, c in enumerate(found.monomials))


def test_the_sigmoid_converges_at_its_rate_with_bounded_coefficients() -> None:
    """Lemma 16: the rate is log(pi + sqrt(pi^2 + 1)) = 1.8623, the ellipse through the poles +-i pi."""
    ends = {m: approximation("sigmoid", m).error.to_floats()[1] for m in (4, 14, 32, 64)}
    rate = math.log(math.pi + math.sqrt(math.pi**2 + 1))
    assert math.log(ends[4] / ends[14]) / 10 == pytest.approx(1.863, abs=0.003)
    assert math.log(ends[32] / ends[64]) / 32 == pytest.approx(rate, abs=1e-4)
    for m in (8, 64):
        low, high = approximation("sigmoid", m).norm.to_floats()
        assert 0.5594 <= low <= high <= 0.55941


def test_relu_converges_like_one_over_m_with_exponential_coefficients() -> None:
    """Lemma 17: m times the error rises from .217 to .294 for even m; odd ones, without a point at 0, do worse."""
    products = [m * approximation("relu", m).error.to_floats()[1] for m in (2, 4, 8, 16, 32, 64)]
    assert products == sorted(products)
    assert products[0] == pytest.approx(0.217, abs=5e-4)
    assert products[-1] == pytest.approx(0.294, abs=5e-4)
    assert 15 * approximation("relu", 15).error.to_floats()[0] > 0.47
    growth = [math.log2(approximation("relu", m, width=1).norm.to_floats()[1]) / m for m in (16, 32, 64, 128)]
    assert growth == sorted(growth)
    assert growth[2] == pytest.approx(1.058, abs=1e-3)
    assert growth[-1] < math.log2(1 + math.sqrt(2))


def test_the_tail_of_the_sigmoid_is_bounded() -> None:
    """The coefficients beyond a degree, from an interpolation of a far higher one, add up to less than tau."""
    terms = [abs(float(c)) for c in approximation("sigmoid", 60, width=1).coefficients]
    for degree in range(1, 40):
        assert sum(terms[degree + 1 :]) <= float(chebyshev._tail(degree).upper())


def test_relu_of_degree_one_is_known() -> None:
    """The line through the values at +-1/sqrt 2: 1/(2 sqrt 2) + z/2, wrong by 1/(2 sqrt 2) at 0."""
    found = approximation("relu", 1)
    assert [float(c) for c in found.monomials] == pytest.approx([math.sqrt(0.125), 0.5], abs=1e-15)
    low, high = found.error.to_floats()
    assert low <= math.sqrt(0.125) <= high


@pytest.mark.parametrize(("arguments", "message"), [
    ({"function": "tanh", "degree": 3}, "function = tanh is outside its domain: one of sigmoid, relu"),
    ({"function": "relu", "degree": 0}, "degree = 0 is outside its domain"),
    ({"function": "relu", "degree": 257}, r"degree = 257 is outside its domain: an integer in \[1, 256\]"),
    ({"function": "relu", "degree": 4, "width": 0}, "width = 0 is outside its domain"),
    ({"function": "relu", "degree": 4, "width": "1e-12"}, r"width = 1e-12 needs \d+ points"),
])
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        approximation(**arguments)


# --- planted errors


@pytest.mark.parametrize(("function", "degree"), [("sigmoid", 5), ("relu", 8)])
@pytest.mark.parametrize("factor", ["0.5", "1.5"])
def test_a_wrong_enclosure_is_caught(function: str, degree: int, factor: str) -> None:
    found = approximation(function, degree)
    with_factor = Enclosure.of_ball(found.error.ball * float(factor))
    with pytest.raises(AssertionError, match=r"above|near"):
        check_error(replace(found, error=with_factor))


def test_a_wrong_coefficient_is_caught() -> None:
    found = approximation("sigmoid", 12)
    shifted = (*found.coefficients[:-1], found.coefficients[-1] + Fraction(1, 10**10))
    with pytest.raises(AssertionError, match="above"):
        check_error(replace(found, coefficients=shifted))


def test_a_tail_that_is_too_large_is_not_taken_for_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tail = chebyshev._tail
    monkeypatch.setattr(chebyshev, "_tail", lambda degree: tail(degree - 12))
    with pytest.raises(PrecisionError, match="not enclosed"):
        approximation("sigmoid", 12)
