"""The block updates of SBCD, in the reference and in the twin: each is what its definition asks for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from oracle.algorithms.block_coordinate import sbcd, torch_sbcd
from oracle.algorithms.shared import glm
from oracle.core import vocabulary
from tests.oracle.block_coordinate.updates import Array, cost_of_u, relu


def printed(ahead: float, x_next: float) -> float:
    return float(sbcd.solved_u(np.array([ahead]), np.array([x_next]))[0])


def of_the_twin(ahead: float, x_next: float) -> float:
    pair = (torch.tensor([value], dtype=torch.float64) for value in (ahead, x_next))
    return float(torch_sbcd.minimal_u(*pair)[0])


def without_the_first_case(ahead: float, x_next: float) -> float:
    return min(0.0, ahead) if ahead + x_next <= 0 else 0.5 * (ahead + x_next)


def with_half_for_root(ahead: float, x_next: float) -> float:
    return ahead if -x_next <= ahead <= -0.5 * x_next <= 0 else without_the_first_case(ahead, x_next)


def u_is_minimal(update: Callable[[float, float], float], ahead: float, x_next: float) -> bool:
    """No point of a fine grid, no stationary point of either half-line and no end is better."""
    reach = abs(ahead) + abs(x_next) + 1e-3
    others = np.concatenate([np.linspace(-reach, reach, 4001), [ahead, 0.0, x_next, (ahead + x_next) / 2]])
    best = cost_of_u(others, ahead, x_next).min()
    return bool(cost_of_u(update(ahead, x_next), ahead, x_next) <= best * (1 + 1e-12) + 1e-300)


@settings(max_examples=300)
@given(st.floats(-5, 5), st.floats(-5, 5))
def test_equation_6_is_the_exact_minimiser(ahead: float, x_next: float) -> None:
    assert u_is_minimal(printed, ahead, x_next)
    assert u_is_minimal(of_the_twin, ahead, x_next)
    assert printed(ahead, x_next) == pytest.approx(of_the_twin(ahead, x_next), abs=1e-15)


def test_equation_6_at_its_edges() -> None:
    """Where two cases meet, at zero, and on a grid that reaches all three."""
    root = 1 - math.sqrt(2)
    points = [(0.0, 0.0), (-1.0, 1.0), (1.0, -1.0), (root, 1.0), (2 * root, 2.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
    points += list(itertools.product(np.linspace(-2, 2, 17), repeat=2))
    for ahead, x_next in points:
        assert u_is_minimal(printed, ahead, x_next), (ahead, x_next)
        assert u_is_minimal(of_the_twin, ahead, x_next), (ahead, x_next)
    # Both are minimisers where the first case ends; before and behind it, one is.
    assert cost_of_u(root, root, 1.0) == pytest.approx(cost_of_u((root + 1) / 2, root, 1.0), rel=1e-12)
    assert printed(root - 1e-9, 1.0) == root - 1e-9
    assert printed(root + 1e-9, 1.0) == pytest.approx((root + 1) / 2)


@pytest.mark.parametrize("wrong", [without_the_first_case, with_half_for_root])
def test_a_wrong_equation_6_is_found_out(wrong: Callable[[float, float], float]) -> None:
    assert not all(u_is_minimal(wrong, -ahead, 1.0) for ahead in (0.3, 0.45, 0.6, 0.9))


@pytest.mark.parametrize("seed", range(10))
def test_equation_5_is_the_exact_minimiser(seed: int) -> None:
    """Against a general minimiser of the two terms that hold x_d; with y for U_D that is the proximal step of R."""
    rng = np.random.default_rng(seed)
    out, into = (int(n) for n in rng.integers(1, 5, 2))
    theta, u, before = rng.normal(size=(out, into)) * 2, rng.normal(size=out), rng.normal(size=into)

    def cost(x: Array) -> float:
        return float(0.5 * np.sum((x - relu(before)) ** 2) + 0.5 * np.sum((u - theta @ x) ** 2))

    x = sbcd.solved_x(theta, u, before)
    found = optimize.minimize(cost, np.zeros(into), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(x, found.x, atol=1e-5)
    np.testing.assert_allclose((x - relu(before)) + theta.T @ (theta @ x - u), 0, atol=1e-12)
    assert all(cost(x) < cost(x + 1e-3 * rng.normal(size=into)) for _ in range(50))


@pytest.mark.parametrize("regulariser", vocabulary.regulariser.choices)
@pytest.mark.parametrize("eta", [0.01, 0.5, 2.0])
def test_the_proximal_maps_are_what_their_definition_says(regulariser: str, eta: float) -> None:
    r = {"none": lambda t: 0 * t, "l2": lambda t: t**2 / 2, "l1": np.abs}[regulariser]
    values = np.array([-3.0, -0.7, -0.005, 0.0, 0.003, 0.5, 1.7])
    grid = np.linspace(-4, 4, 80_001)
    for value, ours, twins in zip(
        values, sbcd.prox(values, eta, regulariser),
        torch_sbcd.proximal(torch.tensor(values), eta, regulariser).tolist(), strict=True,
    ):
        best = grid[np.argmin(r(grid) + (grid - value) ** 2 / (2 * eta))]
        assert ours == pytest.approx(best, abs=1.01e-4)
        assert twins == pytest.approx(ours, abs=1e-15)


def test_the_printed_proximal_map_of_l2_is_not_the_minimiser() -> None:
    eta, theta = 0.01, 1.7
    wrong, ours = eta / (1 + eta) * theta, float(sbcd.prox(np.array([theta]), eta, "l2")[0])
    assert ours == pytest.approx(1.6831683, abs=1e-7)
    assert wrong**2 / 2 + (wrong - theta) ** 2 / (2 * eta) > 10 * (ours**2 / 2 + (ours - theta) ** 2 / (2 * eta))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 3), (5, 2)])
def test_normalisation_cuts_the_spectral_norm_and_nothing_else(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(sum(shape))
    theta = rng.normal(size=shape)
    norm = math.sqrt(np.linalg.eigvalsh(theta.T @ theta)[-1])
    for rho in (0.5 * norm, 0.999 * norm, 1.001 * norm, math.inf):
        ours = sbcd.normalised(theta, rho)
        np.testing.assert_allclose(ours, theta * min(rho / norm, 1.0), rtol=1e-12)
        np.testing.assert_allclose(torch_sbcd.shortened(torch.tensor(theta[None]), rho)[0], ours, rtol=1e-12)
        turn, _ = np.linalg.qr(rng.normal(size=(shape[1], shape[1])))
        np.testing.assert_allclose(sbcd.normalised(theta @ turn, rho), ours @ turn, atol=1e-12)
    np.testing.assert_array_equal(sbcd.normalised(np.zeros(shape), 0.5), 0)
    np.testing.assert_array_equal(torch_sbcd.shortened(torch.zeros(2, *shape), 0.5), 0)


def test_the_gradient_is_that_of_the_objective() -> None:
    rng = np.random.default_rng(3)
    theta, x, u = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=2)
    leaf = torch.tensor(theta, requires_grad=True)
    (0.5 * (torch.tensor(u) - leaf @ torch.tensor(x)).square().sum()).backward()
    assert leaf.grad is not None
    np.testing.assert_allclose(sbcd.gradient(theta, x, u), leaf.grad, rtol=1e-12)


@given(st.integers(0, 10_000), st.floats(0.05, 1.0), st.sampled_from(vocabulary.regulariser.choices), st.booleans())
def test_a_step_of_theta_does_not_expand(seed: int, share: float, regulariser: str, clipped: bool) -> None:
    """For eta * mean |x|^2 <= 2, clipped (each term is then the gradient of a Huber loss) or not."""
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=(4, 3)), rng.normal(size=(4, 2))
    eta = share * 2 / float(np.mean(np.sum(x**2, axis=1)))
    pair = rng.normal(size=(2, 2, 3))
    moved = []
    for theta in pair:
        slopes = [sbcd.gradient(theta, *record) for record in zip(x, u, strict=True)]
        mean = sum(glm.clip(slope, 0.5 if clipped else math.inf) for slope in slopes) / 4
        moved.append(sbcd.prox(theta - eta * mean, eta, regulariser))
    assert np.linalg.norm(moved[0] - moved[1]) <= np.linalg.norm(pair[0] - pair[1]) * (1 + 1e-12)
