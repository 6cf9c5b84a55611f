"""The studies of projected, smoothed and misspecified phased SGD (002), against other routes to the same numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import roots_genlaguerre, roots_hermitenorm

from empirical.studies.nonconvex_nn import jl_bias, smoothed_rates
from empirical.studies.nonconvex_nn.linear_twin import PhasedPlan, excess, generator_of, masses, targets, trained
from empirical.studies.nonconvex_nn.projected_moments import gram_root, risk_given
from empirical.studies.study import Array, study
from oracle.core.errors import OracleError


def stepped(plan: PhasedPlan, root: Array) -> float:
    """The risk given the projection, by one step after the other."""
    size = plan.atoms
    p, target, one = np.array([float(q) for q in masses(size)]), targets(size), np.eye(size)
    hessian = (root * p) @ root.T
    start = np.linalg.solve(root.T, -target)
    sigma = np.outer(start, start)
    for phase in range(1, plan.phases + 1):
        count, h = plan.records >> phase, float(plan.step / 4**phase)
        total, before = np.zeros((size, size)), np.zeros((size, size))
        for _ in range(count):
            total += sigma + before + before.T
            before = (before + sigma) @ (one - h * hessian)
            moved = np.zeros((size, size))
            for j in range(size):
                x = np.outer(root[:, j], root[:, j])
                moved += p[j] * ((one - h * x) @ sigma @ (one - h * x) + h**2 * (1 - target[j] ** 2) * x)
            sigma = moved
        sigma = total / count**2 + (float(plan.noise) * h) ** 2 * one
    return float(np.trace(hessian @ sigma))


def test_moments_given_the_projection_are_those_of_single_steps() -> None:
    plan, root = PhasedPlan(64, Fraction(2), Fraction(1, 3), 4), gram_root(4, 16, generator_of(1, 0))
    assert risk_given(plan, root) == pytest.approx(stepped(plan, root), rel=1e-9)


@pytest.mark.parametrize(
    ("records", "step", "noise"), [(2**20, Fraction(1, 100), 10), (2**50, Fraction(1, 2**20), 2**20)]
)
def test_without_a_projection_they_are_the_certified_curve(records: int, step: Fraction, noise: int) -> None:
    plan = PhasedPlan(records, step, Fraction(noise), 8)
    assert risk_given(plan, np.eye(8)) == pytest.approx(float(excess(plan).mid()), rel=1e-5)


def test_the_twin_has_the_mean_of_the_moments() -> None:
    # Two means of independent replicates, four standard errors apart once in 15,000; the seeds are fixed.
    plan, width = PhasedPlan(128, Fraction(1, 2), Fraction(1, 2), 4), 40
    more = {"projected_dimension": width}
    runs = trained(plan, 11, range(40), models=16, name="phased-sgd-projected", more=more)
    exact = np.array([risk_given(plan, gram_root(4, width, generator_of(12, r))) for r in range(400)])
    error = np.hypot(runs.std() / np.sqrt(len(runs)), exact.std() / np.sqrt(len(exact)))
    assert abs(runs.mean() - exact.mean()) < 4 * error


@pytest.mark.parametrize(("m", "norm", "score"), [(4, 2, 0.5), (16, 3, -2.0), (64, 2, 0.5)])
def test_the_projection_loss_is_that_of_an_iterated_integral(m: int, norm: int, score: float) -> None:
    # Given |Phi x|^2 = s, chi-square over m, the score is normal with mean s z and variance (|w|^2 - z^2) s/m.
    s, outer = roots_genlaguerre(120, m / 2 - 1)
    g, inner = roots_hermitenorm(120)
    s = 2 * s / m
    found = score * s[:, None] + np.sqrt((norm**2 - score**2) * s / m)[:, None] * g
    losses = np.logaddexp(found, -found) - np.log(2) - np.log(np.cosh(score))
    loss = outer / outer.sum() @ losses @ (inner / inner.sum())
    exact = jl_bias.loss({"m": m, "norm": Fraction(norm), "score": Fraction(score)})[0]
    assert float(exact.mid()) == pytest.approx(loss, rel=1e-10)
    assert float(exact.rad()) < 1e-15


@pytest.mark.parametrize("beta", [1, 16])
def test_the_minimiser_of_the_envelope_is_where_its_slope_vanishes(beta: int) -> None:
    def slope(z: float) -> float:
        proxes = [mpmath.findroot(lambda u, y=y: mpmath.tanh(u) - y + beta * (u - z), z) for y in (1, -1)]
        return float(0.75 * beta * (z - proxes[0]) + 0.25 * beta * (z - proxes[1]))

    low, high = 0.0, 3.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    exact = smoothed_rates.envelope_bias.exact
    assert exact is not None
    risk = float(exact(smoothed_rates.envelope_bias.spot(beta))[0].mid())
    assert risk == pytest.approx((np.tanh(low) - 0.5) ** 2, rel=1e-6)


def test_a_rescaled_step_is_the_other_one() -> None:
    item = study("smoothed-step")
    assert item.simulation is not None
    assert item.bound is not None
    spot = item.spot(8)
    limit = float(item.bound(spot).upper())
    assert item.simulation.sample(spot, 7, range(1)).max() < limit


def test_a_width_below_the_rank_is_refused() -> None:
    item = study("projected-phased-sgd-private")
    assert item.simulation is not None
    with pytest.raises(OracleError, match="m is at least"):
        replace(item, grid=(8**3,), simulation=replace(item.simulation, at=(8**3,))).check_premises()


def test_the_floor_takes_all_of_the_improved_bound() -> None:
    item = study("model-noise-floor")
    assert item.exact is not None
    assert item.bound is not None
    share = item.exact(item.spot(10))[0] / item.bound(item.spot(10))
    assert 0.99 < float(share.mid()) <= 1.0
