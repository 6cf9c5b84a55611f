"""Risk of noisy, phased, projected and batched gradient descent: identities, limits, register values, simulations.

A simulated mean must lie below the bound by more than four standard errors: if it were a true mean at the bound, a
normal mean of so many runs would pass with a probability below 4e-5. Seeds are fixed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.ranges.directions import TURNS
from empirical.gate.searching.neighbours import DIRECTIONS
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_monotone

GD, TAIL, CALIBRATED = (oracle.bound(f"{name}.risk") for name in ("dp-gd", "dp-gd-tail", "dp-gd-calibrated"))
PHASED, PROJECTED = oracle.bound("phased-sgd.risk"), oracle.bound("phased-sgd-projected.risk")
PGD = oracle.bound("dp-pgd.risk")
BATCHED, SYMMETRIC = oracle.bound("adaptive-batched-gd.risk"), oracle.bound("adaptive-batched-gd-symmetric.risk")


def upper(bound: oracle.Bound, **params: Any) -> float:
    return bound.reference(**params).to_floats()[1]


def assert_below(risks: Any, bound: float, *, within: float) -> None:
    """The mean is below the bound by four standard errors, and the bound is no more than `within` times the mean."""
    mean, error = float(np.mean(risks)), float(np.std(risks, ddof=1) / math.sqrt(len(risks)))
    assert mean + 4 * error < bound, f"simulated {mean} +- {error} against {bound}"
    assert bound < within * mean, f"simulated {mean} against a bound of {bound}: it says nothing"


# --- DP-GD


def test_the_average_of_the_later_iterates_attains_the_bound_and_breaks_the_textbook_s() -> None:
    """L = G|theta| from its minimum with a subgradient of norm G: one step ends at eta G, with the risk eta G^2."""
    rate, lipschitz = Fraction(1, 3), Fraction(5)
    value = GD.reference(
        distance=Fraction(1, 10**30), lipschitz=lipschitz, dimension=1, noise_on_mean=0, steps=1, learning_rate=rate,
    )
    attained = rate * lipschitz**2
    assert value.upper.compare(attained) >= 0
    assert value.upper.to_fraction() - attained < Fraction(1, 10**11)
    assert rate * lipschitz**2 / 2 < attained  # D^2/(2 eta T) + eta G^2/2, the bound for the earlier iterates


def test_calibrated_is_the_plain_bound_at_the_best_step_and_the_least_noise() -> None:
    common = {"distance": 2, "lipschitz": 3, "dimension": 7, "steps": 50}
    sigma = oracle.bound("gaussian.sigma").reference(
        sensitivity=Fraction(6, 1000), epsilon=1, delta="1e-6", width="1e-30",
    ).upper.to_fraction() * Fraction(math.isqrt(50 * 10**60), 10**30)
    best = 2 / math.sqrt(51 * 9 + 50 * 7 * float(sigma) ** 2)
    value = upper(CALIBRATED, dataset_size=1000, epsilon=1, delta="1e-6", **common)
    assert upper(GD, noise_on_mean=sigma, learning_rate=best, **common) == pytest.approx(value, rel=1e-12)
    for factor in (0.5, 0.99, 1.01, 2.0):
        assert upper(GD, noise_on_mean=sigma, learning_rate=factor * best, **common) > value * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_many_steps_give_the_form_of_theorem_d3(epsilon: float) -> None:
    """2 sqrt(2) D G sqrt(p log(1.25/delta)) / (n epsilon) for epsilon <= 1, as the number of steps grows."""
    value = upper(
        CALIBRATED, distance=1, lipschitz=1, dimension=100, dataset_size=10**4, steps=10**12, epsilon=epsilon,
        delta="1e-5",
    )
    form = 2 * math.sqrt(2 * 100 * math.log(1.25e5)) / (1e4 * epsilon)
    assert 0.5 * form < value < form


def test_simulated_descent_stays_below() -> None:
    """Absolute loss in five dimensions, projected onto a ball; the average of the later iterates."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(40, 5))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    truth = np.array([0.5, -0.5, 0.3, 0.0, 0.2])
    labels = features @ truth  # the minimum is 0, at the truth
    rate, steps, sigma, runs = 0.1, 40, 0.2, 400
    theta, total = np.zeros((runs, 5)), np.zeros((runs, 5))
    for _ in range(steps):
        gradient = np.sign(theta @ features.T - labels) @ features / 40
        theta = theta - rate * (gradient + sigma * rng.normal(size=theta.shape))
        theta /= np.maximum(1.0, np.linalg.norm(theta, axis=1, keepdims=True))
        total += theta
    risks = np.abs(total / steps @ features.T - labels).mean(axis=1)
    common = {
        "distance": float(np.linalg.norm(truth)), "lipschitz": 1, "dimension": 5, "noise_on_mean": sigma,
        "steps": steps, "learning_rate": rate,
    }
    assert_below(risks, upper(GD, **common), within=6)
    # 400 runs, each above the tail bound with probability 1/1000 at most: 8 of them with probability below 2e-8
    assert np.count_nonzero(risks > upper(TAIL, constraint_radius=2, failure_probability="0.001", **common)) < 8
    assert upper(TAIL, constraint_radius=2, failure_probability="0.001", **common) < 6 * np.quantile(risks, 0.999)


def test_the_tail_is_above_the_mean_and_both_agree_without_noise() -> None:
    common = {"distance": 1, "lipschitz": 2, "dimension": 9, "steps": 100, "learning_rate": "0.1"}
    quiet = GD.reference(noise_on_mean=0, **common)
    assert TAIL.reference(noise_on_mean=0, constraint_radius=3, failure_probability="0.01", **common).overlaps(quiet)
    assert GD.reference(noise_on_mean=1, **common).certainly_le(
        TAIL.reference(noise_on_mean=1, constraint_radius=3, failure_probability="0.999", **common).lower.to_fraction()
    )


# --- phased SGD


def explicit(n: int, eta: float, nu: float, *, rank: float, distance: float, tau: float) -> float:
    """2G[4 D^2/(eta n) + 64 B^2 theta nu^2 eta/n + (2/3) B^2 eta + 2 B tau_k] for B = G = 1."""
    return 2 * (4 * distance**2 / (eta * n) + 64 * rank * nu**2 * eta / n + 2 / 3 * eta + 2 * tau)


@pytest.mark.parametrize("power", [1, 2, 5, 10, 18, 40])
def test_powers_of_two_stay_below_the_geometric_sums(power: int) -> None:
    eta, nu, n = 0.02, 10.0, 2**power
    common = {"link_lipschitz": 1, "label_bound": 1, "distance": 3, "rank": 20}
    value = upper(PHASED, **common, dataset_size=n, base_learning_rate=eta, noise_over_sensitivity=nu)
    form = explicit(n, eta, nu, rank=20, distance=3, tau=4 * nu * eta / 4.0**power)
    assert value < form * (1 + 1e-12)  # the test's own rounding; only powers beyond 2^25 come so close
    if power >= 10:
        assert value > 0.97 * form  # the sums are nearly complete


def test_the_registered_value_at_two_to_the_eighteen() -> None:
    """epsilon = 1/2, delta = 1e-5, theta = 32, W = 4 and eta = epsilon / (2 sqrt(theta log(1/delta))): 0.092."""
    log = math.log(1e5)
    value = upper(
        PHASED, link_lipschitz=1, label_bound=1, distance=4, rank=32, dataset_size=2**18,
        base_learning_rate=0.25 / math.sqrt(32 * log), noise_over_sensitivity=4 * math.sqrt(log),
    )
    assert value == pytest.approx(0.0923, abs=5e-4)


@pytest.mark.parametrize("n", [3, 5, 7, 1000, 1023, 60000])
def test_sizes_between_powers_of_two_cost_little(n: int) -> None:
    """floor(n / 2^i) >= 2^(k-i): no more than the bound at the power of two below, at whose price those phases come."""
    common = {
        "link_lipschitz": 1, "label_bound": 1, "distance": 1, "rank": 5, "base_learning_rate": 0.05,
        "noise_over_sensitivity": 2,
    }
    below = 2 ** (n.bit_length() - 1)
    assert upper(PHASED, dataset_size=n, **common) <= upper(PHASED, dataset_size=below, **common)
    assert upper(PHASED, dataset_size=2 * below, **common) < upper(PHASED, dataset_size=n, **common)


def test_without_noise_only_start_and_steps_remain() -> None:
    value = PHASED.reference(
        link_lipschitz=2, label_bound=3, distance=5, rank=10**6, dataset_size=4, base_learning_rate=1,
        noise_over_sensitivity=0,
    )
    # two phases of 2 and 1 records with steps 1/4 and 1/16
    assert value.contains(2 * 2 * (Fraction(25, 2 * 2) * 4 + 2 * 9 * (Fraction(1, 4) + Fraction(1, 16))))


def test_the_projection_costs_its_distortion_and_never_more_rank_than_records() -> None:
    common = {"link_lipschitz": 1, "label_bound": 1, "dataset_size": 1024, "base_learning_rate": "0.01"}
    quiet = {"target_norm": 2, "noise_over_sensitivity": 0, **common}
    free = PROJECTED.reference(projected_dimension=10**9, **quiet).to_floats()[0]
    for m in (1, 10, 1000):
        value = upper(PROJECTED, projected_dimension=m, **quiet)
        assert value - free == pytest.approx(2 * 4 / m, rel=1e-4)
    many, more = (
        upper(PROJECTED, target_norm=0, projected_dimension=m, noise_over_sensitivity=50, **common)
        for m in (256, 10**12)
    )
    assert many == pytest.approx(more, rel=1e-12)  # from the second phase on there are at most 256 records


def one_hot_problem(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """x = e_j with probability proportional to 2^-j, and the truth +-1."""
    chances = 0.5 ** np.arange(1, count + 1)
    return chances / chances.sum(), rng.choice([-1.0, 1.0], size=count)


@pytest.mark.parametrize("m", [None, 48])
def test_simulated_phases_stay_below(m: int | None) -> None:
    """A tanh link on one-hot records, with and without a Gaussian projection, 100 runs at once."""
    rng = np.random.default_rng(2)
    d, n, eta, nu, runs = 10, 1 << 12, 0.05, 2.0, 100
    chances, truth = one_hot_problem(rng, d)
    rows = np.arange(runs)
    basis = np.broadcast_to(np.eye(d), (runs, d, d)) if m is None else rng.normal(size=(runs, d, m)) / math.sqrt(m)
    w = np.zeros((runs, basis.shape[-1]))
    for phase in range(1, n.bit_length()):
        step, size = eta / 4**phase, n >> phase
        columns = rng.choice(d, size=(size, runs), p=chances)
        labels = np.where(rng.random((size, runs)) < (1 + np.tanh(truth[columns])) / 2, 1.0, -1.0)
        total = np.zeros_like(w)
        for column, label in zip(columns, labels, strict=True):
            total += w
            x = basis[rows, column]
            w = w - step * (np.tanh(np.einsum("ri,ri->r", w, x)) - label)[:, None] * x
        sensitivity = (4 if m is None else 8) * step
        w = total / size + nu * sensitivity * rng.normal(size=w.shape)
    risks = ((np.tanh(np.einsum("ri,rji->rj", w, basis)) - np.tanh(truth)) ** 2) @ chances
    common = {
        "link_lipschitz": 1, "label_bound": 1, "dataset_size": n, "base_learning_rate": eta,
        "noise_over_sensitivity": nu,
    }
    bound = (
        upper(PHASED, distance=math.sqrt(d), rank=d, **common) if m is None
        else upper(PROJECTED, target_norm=math.sqrt(d), projected_dimension=m, **common)
    )
    assert_below(risks, bound, within=40)


# --- noisy projected gradient descent for ReLU


def test_the_terms_of_projected_descent() -> None:
    common = {"target_norm": 1, "label_bound": 1, "projected_dimension": 10**6}
    # Many records, small steps, no noise: what is left is the distortion 2 W^2/m, and M = 3.
    rest = upper(PGD, **common, dataset_size=10**30, steps=10**30, learning_rate="1e-15", noise_on_mean=0)
    assert rest == pytest.approx(2e-6, rel=1e-6)
    data = upper(PGD, **common, dataset_size=10**4, steps=10**30, learning_rate="1e-15", noise_on_mean=0)
    assert data - rest == pytest.approx(2 * 4 * 3 / 100, rel=1e-5)
    noisy = upper(PGD, **common, dataset_size=10**30, steps=10**30, learning_rate="1e-3", noise_on_mean=2)
    assert noisy - rest == pytest.approx(1e-3 * (9 + 4e6), rel=1e-5)


def test_a_projection_to_one_dimension_is_paid_for() -> None:
    """m = 1: the start may well lie outside the ball, and the bound must know."""
    value = upper(
        PGD, target_norm=1, label_bound=1, projected_dimension=1, dataset_size=10**30, steps=10**30,
        learning_rate="1e-15", noise_on_mean=0,
    )
    assert value == pytest.approx(2 * (1 + math.sqrt(6) * (4 * math.exp(-3)) ** 0.125) ** 2, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.0, 0.5])
def test_simulated_projected_descent_stays_below(sigma: float) -> None:
    rng = np.random.default_rng(3)
    d, m, n, steps, rate, runs = 8, 64, 20_000, 20, 0.1, 200
    chances, _ = one_hot_problem(rng, d)
    truth = np.eye(d)[0]
    basis = rng.normal(size=(runs, d, m)) / math.sqrt(m)
    counts = rng.multinomial(n, chances, size=runs) / n
    # y = 1 on the first column and +-1/2 elsewhere: the mean labels a column
    heads = rng.binomial(np.rint(counts * n).astype(int), 0.5) / np.maximum(1, counts * n)
    means = np.where(truth > 0, 1.0, heads - 0.5)
    v, total = np.zeros((runs, m)), np.zeros((runs, m))
    for _ in range(steps):
        total += v
        residual = np.maximum(0.0, np.einsum("ri,rji->rj", v, basis)) - means
        v = v - rate * (np.einsum("rj,rji->ri", counts * residual, basis) + sigma * rng.normal(size=v.shape))
        v /= np.maximum(1.0, np.linalg.norm(v, axis=1, keepdims=True) / 2)
    learnt = np.maximum(0.0, np.einsum("ri,rji->rj", total / steps, basis))
    risks = ((learnt - np.maximum(truth, 0.0)) ** 2) @ chances
    bound = upper(
        PGD, target_norm=1, label_bound=1, projected_dimension=m, dataset_size=n, steps=steps, learning_rate=rate,
        noise_on_mean=sigma,
    )
    assert_below(risks, bound, within=20)


# --- adaptive batched gradient descent


LIMIT = {
    "label_bound": 1, "dimension": 1, "batch_size": 10**40, "steps": 400, "learning_rate": Fraction(1, 2),
    "noise_over_sensitivity": 0,
}


def test_twice_the_best_risk_is_attained_by_a_symmetric_law() -> None:
    """x = +-1, y = min(0, x): w* = 0 has the risk 1/2, and the surrogate's minimiser 1 has the risk 1."""
    value = SYMMETRIC.reference(target_norm=1, optimal_risk=Fraction(1, 2), feature_norm=1, **LIMIT)
    assert value.upper.to_fraction() - 1 < Fraction(1, 10**11)
    assert value.upper.compare(1) >= 0


def test_theorem_7_s_constant_fails_for_an_exponential_law() -> None:
    """x + 1 exponential, y = -max(0, x): the minimiser's risk is 1/mu times the best, and the claim is 2 (1 + 2 mu)."""
    rng = np.random.default_rng(4)
    x = rng.exponential(size=400_000) - 1
    mu = 1 - 2 / math.e
    minimiser = -(1 - mu) / mu
    y = -np.maximum(0.0, x)

    def risk(w: float) -> float:
        return float(np.mean((np.maximum(0.0, w * x) - y) ** 2))

    assert abs(np.mean((np.maximum(0.0, minimiser * x) - y) * x)) < 0.03  # it is the zero of the surrogate's gradient
    assert min(risk(w) for w in np.linspace(-1, 1, 41)) == pytest.approx(risk(0.0))
    ratio = risk(minimiser) / risk(0.0)
    assert ratio == pytest.approx(1 / mu, rel=0.05)
    assert ratio > 1.15 * 2 * (1 + 2 * mu)
    allowed = upper(
        BATCHED, target_norm=-minimiser, optimal_risk=1 - mu, feature_norm=20, strong_convexity=mu, **LIMIT
    ) / (1 - mu)
    assert ratio < allowed == pytest.approx((1 + 1 / mu) ** 2, rel=1e-6)


def test_no_step_leaves_the_start() -> None:
    rest = {**LIMIT, "steps": 0, "feature_norm": 1}
    assert SYMMETRIC.reference(target_norm=2, optimal_risk=0, **rest).contains(2)  # 4/4 + (2/2)^2
    assert BATCHED.reference(target_norm=2, optimal_risk=1, strong_convexity="0.5", **rest).contains(25)


def test_symmetry_helps_everywhere() -> None:
    for bound_params in (
        {"target_norm": 1, "optimal_risk": "0.1", "feature_norm": 4, "noise_over_sensitivity": 3, "batch_size": 10**4},
        {"target_norm": 5, "optimal_risk": 0, "feature_norm": 2, "noise_over_sensitivity": 0, "batch_size": 10},
    ):
        params = {"label_bound": 2, "dimension": 4, "steps": 20, "learning_rate": "0.5", **bound_params}
        assert SYMMETRIC.reference(**params).certainly_le(upper(BATCHED, strong_convexity="0.5", **params))


def test_too_little_data_makes_the_chain_explode() -> None:
    """Noise that grows with the iterate: more steps then do harm."""
    common = {
        **LIMIT, "target_norm": 1, "optimal_risk": 0, "feature_norm": 3, "dimension": 8, "batch_size": 10,
        "noise_over_sensitivity": 5,
    }
    assert upper(SYMMETRIC, **{**common, "steps": 30}) > 1e10 * upper(SYMMETRIC, **{**common, "steps": 0})


@pytest.mark.parametrize("nu", [0.0, 3.0])
def test_simulated_batches_stay_below(nu: float) -> None:
    """Uniform on a cube, labels off the model by -max(0, -x_1)/2: w_l = w* + e_1/2 and L(w*) = 1/8, in closed form."""
    rng = np.random.default_rng(5)
    d, batch, steps, rate, runs = 3, 1000, 15, 0.5, 60
    truth, radius, label_bound = np.array([0.5, -0.3, 0.2]), 3.0, 3.0

    def sample(*shape: int) -> tuple[Any, Any]:
        x = rng.uniform(-math.sqrt(3), math.sqrt(3), size=(*shape, d))
        return x, np.maximum(0.0, x @ truth) - 0.5 * np.maximum(0.0, -x[..., 0])

    w = np.zeros((runs, d))
    for _ in range(steps):
        x, y = sample(runs, batch)
        assert np.abs(y).max() <= label_bound
        residual = np.maximum(0.0, np.einsum("ri,rbi->rb", w, x)) - y
        gradient = np.einsum("rb,rbi->ri", residual, x) / batch
        deviation = nu * radius * (radius * np.linalg.norm(w, axis=1) + 2 * label_bound) / batch
        w = w - rate * (gradient + deviation[:, None] * rng.normal(size=w.shape))
    x, y = sample(50_000)
    risks = np.mean((np.maximum(0.0, w @ x.T) - y) ** 2, axis=1)
    bound = upper(
        SYMMETRIC, target_norm=float(np.linalg.norm(truth + 0.5 * np.eye(d)[0])), optimal_risk="0.125",
        label_bound=label_bound, feature_norm=radius, dimension=d, batch_size=batch, steps=steps, learning_rate=rate,
        noise_over_sensitivity=nu,
    )
    assert_below(risks, bound, within=4)


# --- everywhere


every_bound = pytest.mark.parametrize(
    "bound", [GD, TAIL, CALIBRATED, PHASED, PROJECTED, PGD, BATCHED, SYMMETRIC], ids=lambda item: item.name,
)


@pytest.mark.full
@every_bound
@given(data=st.data())
def test_the_second_opinion_agrees_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@every_bound
def test_directions_are_strict_at_the_example(bound: oracle.Bound) -> None:
    for name, direction in DIRECTIONS[bound.name].items():
        if direction != TURNS:
            given = Fraction(bound.example[name])  # type: ignore[index]
            shares = ("delta", "failure_probability", "strong_convexity")
            other = min(2 * given, Fraction(1)) if name in shares else 2 * given
            check_monotone(bound, dict(bound.example or {}), name, other, certain=True)


@pytest.mark.parametrize("bound", [PHASED, PROJECTED], ids=lambda b: b.name)
def test_a_single_record_makes_no_phase(bound: oracle.Bound) -> None:
    with pytest.raises(DomainError, match=r"dataset_size = 1 is outside its domain: an integer in \(1, "):
        bound.reference(**{**(bound.example or {}), "dataset_size": 1})
