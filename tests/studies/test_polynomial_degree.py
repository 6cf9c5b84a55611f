"""Degrees and norms of polynomials for hidden units: against numpy's interpolation, and planted bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import arb
from numpy.polynomial import chebyshev

from empirical.studies.levels import level_of
from empirical.studies.nonconvex_nn import polynomial_degree as degrees
from empirical.studies.outcome import StudyOutcome, judge
from empirical.studies.study import Study


def outcome_of(study: Study) -> StudyOutcome:
    assert study.exact is not None
    curves = {x: study.exact(study.spot(x)) for x in study.grid}
    return judge(study, [level_of(study, x, None, curves[x]) for x in study.grid], curves, {}, family=1)


@pytest.mark.parametrize(("name", "degree"), [("relu", 8), ("relu", 16), ("sigmoid", 4), ("sigmoid", 8)])
def test_error_and_norm_by_numpy(name: str, degree: int) -> None:
    function = (lambda x: np.maximum(x, 0.0)) if name == "relu" else (lambda x: 1 / (1 + np.exp(-x)))
    series = chebyshev.chebinterpolate(function, degree)
    x = np.linspace(-1, 1, 200_001)
    spot = {"activation": name, "degree": degree}
    assert np.abs(chebyshev.chebval(x, series) - function(x)).max() == pytest.approx(
        float(degrees.error(spot)[0].mid()), rel=1e-2)
    assert np.linalg.norm(chebyshev.cheb2poly(series)) == pytest.approx(float(degrees.norm(spot)[0].mid()), rel=1e-6)


def test_least_degree_by_trying_all() -> None:
    for rule, value in (("printed", 8), ("improved", 1024)):
        spot = {"rule": rule, "1/alpha": value}
        first = next(m for m in range(2, 64, 2) if degrees.remaining(spot, m) <= 1 / arb(2 * value))
        assert degrees.least_degree(spot)[0] == first


def test_a_bound_that_is_too_low_is_violated() -> None:
    low = replace(degrees.relu_error, grid=(16, 32), bound=lambda spot: degrees.error_bound(spot) / 20)
    assert outcome_of(low).verdict == "BOUND_VIOLATED"


def test_a_wrong_exponent_of_the_features_is_not_confirmed() -> None:
    assert outcome_of(degrees.feature_count).verdict == "CONFIRMED"
    wrong = replace(degrees.feature_count, setting={"degree": 9})
    assert outcome_of(wrong).verdict == "SLOWER"


def test_the_network_of_the_runs_is_what_is_approximated() -> None:
    # <w*, psi(x)> of the polynomial's weights is within its error of the hidden unit at every record.
    from oracle.algorithms.kernels import multinomial
    from oracle.algorithms.kernels.chebyshev import approximation

    found = approximation("sigmoid", 4)
    w = multinomial.weights([float(c) for c in found.monomials], np.array([1.0, 0.0]))
    points = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], axis=1)
    scores = np.array([w @ multinomial.features(x, 4) for x in points])
    assert np.abs(scores - 1 / (1 + np.exp(-points[:, 0]))).max() <= float(found.error.ball.upper()) + 1e-12
    assert np.linalg.norm(w) <= 1.2502


def test_runs_repeat() -> None:
    spot = degrees.network.spot(2**8)
    assert np.array_equal(degrees.network_excess(spot, 3, range(1, 2)), degrees.network_excess(spot, 3, range(2))[1:])
