"""Output and objective perturbation: exact minimisers and exact densities against the bounds, edges, errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_named, check_second_opinion

OUTPUT, SCALE = oracle.bound("output-perturbation.epsilon"), oracle.bound("output-perturbation.scale")
NOISY, SIGMA = oracle.bound("output-perturbation-gaussian.epsilon"), oracle.bound("output-perturbation-gaussian.sigma")
OBJECTIVE, LINEAR = oracle.bound("objective-perturbation.epsilon"), oracle.bound("objective-perturbation.scale")
RIDGE, GAUSSIAN = oracle.bound("objective-perturbation.ridge"), oracle.bound("objective-perturbation-gaussian.epsilon")
BOUNDS = (OUTPUT, SCALE, NOISY, SIGMA, OBJECTIVE, LINEAR, RIDGE, GAUSSIAN)
WORDS = ("replace", "add_remove")
MINIMISER: dict[str, Any] = {
    "lipschitz": 3, "strong_convexity": Fraction(1, 10), "dataset_size": 12, "solver_error": 0, "neighbours": "replace",
}
RECORD: dict[str, Any] = {"lipschitz": 1, "curvature": 1, "regularisation": 1, "dataset_size": 1}
FLAT: dict[str, Any] = {**RECORD, "curvature": 0, "noise_on_sum": 1, "neighbours": "add_remove"}


@pytest.mark.full
@pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
@given(data=st.data())
def test_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize(
    "bound", [OUTPUT, SCALE, NOISY, SIGMA, OBJECTIVE, LINEAR, GAUSSIAN], ids=lambda item: item.name
)
@pytest.mark.parametrize("word", WORDS)
def test_fast_for_every_relation(bound: oracle.Bound, word: str) -> None:
    check_fast(bound, [{**point, "neighbours": word} for point in fixed_points(bound, 60, seed=13)], "torch")


@pytest.mark.parametrize("bound", [OBJECTIVE, LINEAR, RIDGE], ids=lambda item: item.name)
@pytest.mark.parametrize("word", ["sharp", "cms11"])
def test_fast_and_opinion_for_every_correction(bound: oracle.Bound, word: str) -> None:
    chosen = [{**point, "correction": word} for point in fixed_points(bound, 40, seed=13)]
    check_fast(bound, chosen, "numpy")
    for point in chosen[:10]:
        check_second_opinion(bound, point)


# --- output perturbation


def minimiser(slopes: list[Fraction], divisor: int, ridge: Fraction) -> Fraction:
    """The minimiser of (1/divisor) sum g_i theta + (ridge/2) theta^2."""
    return -sum(slopes, Fraction(0)) / divisor / ridge


@pytest.mark.parametrize(("word", "last"), [("replace", Fraction(-3)), ("add_remove", Fraction(0))])
def test_linear_losses_reach_the_sensitivity(word: str, last: Fraction) -> None:
    ridge, common = Fraction(1, 10), [Fraction(1)] * 11
    here, there = minimiser([*common, Fraction(3)], 12, ridge), minimiser([*common, last], 12, ridge)
    assert OUTPUT.reference(**{**MINIMISER, "neighbours": word}, scale=1).contains(abs(here - there))
    assert OUTPUT.reference(**{**MINIMISER, "neighbours": word}, scale=7).contains(abs(here - there) / 7)


def test_a_mean_over_the_records_present_moves_as_far_as_replacing() -> None:
    """Why `add_remove` asks for a constant n: here 12 records become 11, and the divisor with them."""
    ridge, common = Fraction(1, 10), [Fraction(-3)] * 11
    moved = abs(minimiser([*common, Fraction(3)], 12, ridge) - minimiser(common, 11, ridge))
    assert not OUTPUT.reference(**{**MINIMISER, "neighbours": "add_remove"}, scale=1).contains(moved)
    assert OUTPUT.reference(**MINIMISER, scale=1).contains(moved)


def test_logistic_regression_stays_within_the_sensitivity() -> None:
    """Newton's minimisers of l(z) = log(1 + e^-z), |x| <= 1: replacing any record of a few random data sets."""
    rng, ridge, n = np.random.default_rng(3), 0.05, 6
    bound = OUTPUT.reference(
        lipschitz=1, strong_convexity=ridge, dataset_size=n, solver_error=0, scale=1, neighbours="replace"
    ).to_floats()[1]
    largest = 0.0

    def fit(x: Any) -> float:
        theta = 0.0
        for _ in range(60):
            p = 1 / (1 + np.exp(x * theta))
            theta -= (ridge * theta - np.mean(p * x)) / (ridge + np.mean(p * (1 - p) * x * x))
        return theta

    for _ in range(200):
        x = rng.uniform(-1, 1, n)
        other = x.copy()
        other[0] = -np.sign(x[0])
        largest = max(largest, abs(fit(x) - fit(other)))
    assert 0.2 * bound < largest < 0.7 * bound


def test_a_solver_that_errs_on_both_sides() -> None:
    exact, loose = (OUTPUT.reference(**{**MINIMISER, "solver_error": error}, scale=1) for error in (0, Fraction(1, 2)))
    assert exact.contains(5)
    assert loose.contains(6)


@pytest.mark.parametrize("word", WORDS)
def test_gaussian_noise_is_the_gaussian_mechanism(word: str) -> None:
    sensitivity = Fraction(5 if word == "replace" else "2.5")
    setting = {**MINIMISER, "neighbours": word}
    assert NOISY.reference(**setting, sigma=4, delta="1e-5") == oracle.bound("gaussian.epsilon").reference(
        sigma=4, sensitivity=sensitivity, delta="1e-5"
    )
    assert SIGMA.reference(**setting, epsilon=1, delta="1e-5") == oracle.bound("gaussian.sigma").reference(
        sensitivity=sensitivity, epsilon=1, delta="1e-5"
    )


def test_scale_and_epsilon_are_inverse() -> None:
    scale = SCALE.reference(**MINIMISER, epsilon="0.5")
    assert scale.contains(10)
    assert OUTPUT.reference(**MINIMISER, scale=10).contains(Fraction(1, 2))


# --- objective perturbation: exact densities in one dimension


class Saturating:
    """l' rises from -1 to 1 with slope `slope` just below the margin `edge`; the corners are rounded over `blur`."""

    def __init__(self, slope: float, edge: float, blur: float) -> None:
        # l'' is a trapezium: 0, up to the slope within blur, down again within blur; its area is 2.
        length = 2 / slope - blur
        self.knots = np.array([edge - length - 2 * blur, edge - length - blur, edge - blur, edge])
        self.slope, self.blur = slope, blur

    def second(self, z: Any) -> Any:
        return np.interp(z, self.knots, [0.0, self.slope, self.slope, 0.0])

    def first(self, z: Any) -> Any:
        a, b, c, d = self.knots
        up, down = np.clip(z, a, b) - a, np.clip(z, c, d) - c
        ramp = self.slope * (up**2 / (2 * self.blur) + (np.clip(z, b, c) - b) + down - down**2 / (2 * self.blur))
        return -1 + ramp


class Logistic:
    """The derivatives of log(1 + e^-z)."""

    def first(self, z: Any) -> Any:
        return (np.tanh(z / 2) - 1) / 2

    def second(self, z: Any) -> Any:
        return (1 - np.tanh(z / 2) ** 2) / 4


def linear_term(theta: Any, loss: Any, records: tuple[float, ...], ridge: float) -> tuple[Any, Any]:
    """b(theta) and |db/dtheta| for one-dimensional records, ridge = n lambda."""
    b = -ridge * theta - sum(x * loss.first(x * theta) for x in records)
    return b, ridge + sum(x * x * loss.second(x * theta) for x in records)


def log_density(theta: Any, loss: Any, records: tuple[float, ...], ridge: float, scale: float) -> Any:
    b, derivative = linear_term(theta, loss, records, ridge)
    return -np.abs(b) / scale + np.log(derivative)


THETA = np.linspace(-20, 20, 80_001)


@pytest.mark.parametrize(("slope", "ridge"), [(1.0, 1.0), (0.2, 1.0), (1.0, 0.1)])
def test_the_jacobian_is_needed_and_one_factor_is_enough(slope: float, ridge: float) -> None:
    """A record at -1 against one at 1, theta near 15: the bound is nearly reached, and noise alone would promise 1."""
    loss = Saturating(slope, -15.0, 1e-3)
    here, there = (log_density(THETA, loss, (x,), ridge, 2.0) for x in (-1.0, 1.0))
    worst = float(np.max(np.abs(here - there)))
    bound = OBJECTIVE.reference(
        lipschitz=1, curvature=slope, regularisation=ridge, dataset_size=1, noise_scale=2, neighbours="replace",
        correction="sharp",
    ).to_floats()[1]
    assert bound == pytest.approx(1 + math.log1p(slope / ridge), rel=1e-12)
    assert bound - 0.01 < worst <= bound
    assert worst > 1.1, "without the Jacobian epsilon would be 1"


@pytest.mark.parametrize("word", WORDS)
def test_logistic_densities_stay_within_the_bound(word: str) -> None:
    loss, rng = Logistic(), np.random.default_rng(5)
    for _ in range(20):
        others = tuple(rng.uniform(-1, 1, 3))
        ridge, scale = 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-0.5, 1)
        after = (*others, -1.0) if word == "replace" else others
        gap = log_density(THETA, loss, (*others, 1.0), ridge, scale) - log_density(THETA, loss, after, ridge, scale)
        bound = OBJECTIVE.reference(
            lipschitz=1, curvature=0.25, regularisation=ridge, dataset_size=1, noise_scale=scale, neighbours=word,
            correction="sharp",
        ).to_floats()[1]
        assert float(np.max(np.abs(gap))) <= bound


def test_a_ridge_that_follows_the_number_of_records_has_no_bound() -> None:
    """With a mean over the records present, n lambda becomes (n-1) lambda and b moves by lambda theta."""
    gaps = []
    for theta in (10.0, 100.0, 1000.0):
        two, one = log_density(theta, Logistic(), (1.0,), 2.0, 2.0), log_density(theta, Logistic(), (), 1.0, 2.0)
        gaps.append(abs(two - one))
    assert gaps[0] > 3
    assert gaps[2] > 90 * gaps[0] / 10


def test_values_of_the_published_correction() -> None:
    sharp, published = (
        OBJECTIVE.reference(**RECORD, noise_scale=2, neighbours="replace", correction=word)
        for word in ("sharp", "cms11")
    )
    assert sharp.contains(Fraction("1.693147180559945309417232121458"))  # 1 + log 2
    assert published.contains(Fraction("2.386294361119890618834464242916"))  # 1 + log(1 + 2 + 1)
    added = OBJECTIVE.reference(**RECORD, noise_scale=2, neighbours="add_remove", correction="sharp")
    assert added.contains(Fraction("1.193147180559945309417232121458"))


def test_a_flat_loss_needs_no_jacobian() -> None:
    flat = {**RECORD, "curvature": 0, "neighbours": "replace", "correction": "cms11"}
    assert OBJECTIVE.reference(**flat, noise_scale=2) == Enclosure.exactly(1)
    assert LINEAR.reference(**flat, epsilon=2).contains(1)
    assert RIDGE.reference(curvature=0, dataset_size=1, epsilon=1, correction="sharp") == Enclosure.exactly(0)


def test_a_ridge_for_hardly_any_epsilon_is_rounded_up() -> None:
    """Half of an odd number of subnormals is no double."""
    point = {"curvature": 1e-160, "dataset_size": 1, "correction": "sharp"}
    check_fast(RIDGE, [{**point, "epsilon": count * 5e-324} for count in (1, 3, 7)], "numpy", tight=False)


@pytest.mark.parametrize(("word", "correction"), [*itertools.product(WORDS, ("sharp", "cms11"))])
def test_ridge_then_scale_meets_the_target(word: str, correction: str) -> None:
    """Half of epsilon for the curvature, half for the noise: the scale is k L / (epsilon/2)."""
    common = {"curvature": Fraction(1, 4), "dataset_size": 50, "correction": correction}
    ridge = RIDGE.reference(**common, epsilon=1, width="1e-30").upper.to_fraction()
    setting = {**common, "lipschitz": 1, "regularisation": ridge, "neighbours": word}
    scale = LINEAR.reference(**setting, epsilon=1)
    twice = 2 * (2 if word == "replace" else 1)
    assert abs(scale.upper.to_fraction() - twice) < Fraction(1, 10**11)
    back = OBJECTIVE.reference(**setting, noise_scale=scale.upper.to_fraction())
    assert back.certainly_le(1 + Fraction(1, 10**12))
    assert not back.possibly_le(1 - Fraction(1, 10**11))


@pytest.mark.parametrize("correction", ["sharp", "cms11"])
def test_an_epsilon_below_the_price_of_the_curvature_is_refused_by_both_paths(correction: str) -> None:
    price = {"sharp": 0.6931471805599453, "cms11": 1.3862943611198906}[correction]
    point = {**RECORD, "neighbours": "replace", "correction": correction}
    for epsilon in (price - 1e-15, 0.1):
        for call in (LINEAR.reference, LINEAR.fast):
            with pytest.raises(DomainError, match=r"^epsilon = .* does not pay for the curvature: expected more"):
                call(**point, epsilon=epsilon)
    near = [{**point, "epsilon": price * (1 + share)} for share in (1e-12, 1e-6, 1e-2)]
    check_fast(LINEAR, near, "numpy", tight=False)


# --- objective perturbation with a Gaussian term


def exact_delta(loss: Any, ridge: float, sigma: float, epsilon: float, here: float, there: float) -> float:
    """The integral of max(0, p - e^epsilon q) over theta, for one record each (0 is none), by a fine sum."""
    theta = np.linspace(-40, 40, 200_001) * max(1.0, sigma / ridge) / 4

    def density(record: float) -> Any:
        b, derivative = linear_term(theta, loss, (record,), ridge)
        return np.exp(-0.5 * (b / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi)) * derivative

    p, q = density(here), density(there)
    assert np.sum(p) * (theta[1] - theta[0]) == pytest.approx(1, rel=1e-6)
    return float(np.sum(np.maximum(0.0, p - math.exp(epsilon) * q)) * (theta[1] - theta[0]))


@pytest.mark.parametrize("delta", ["0.3", "0.01", "1e-4"])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
@pytest.mark.parametrize("ridge", [0.1, 5.0])
def test_gaussian_densities_stay_within_the_bound(delta: str, sigma: float, ridge: float) -> None:
    setting = {"lipschitz": 1, "regularisation": ridge, "dataset_size": 1, "noise_on_sum": sigma, "delta": delta}
    for loss, curvature in ((Logistic(), 0.25), (Saturating(2.0, 0.5, 0.01), 2.0)):
        for word, pairs in (("add_remove", [(1.0, 0.0), (0.0, 1.0)]), ("replace", [(1.0, -1.0), (-1.0, 1.0)])):
            epsilon = GAUSSIAN.reference(**setting, curvature=curvature, neighbours=word).to_floats()[1]
            for pair in pairs:
                assert exact_delta(loss, ridge, sigma, epsilon, *pair) <= float(delta) * (1 + 1e-6)


@pytest.mark.full
@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 4, 1.2, math.pi / 2, 2.5])
def test_two_gradients_in_a_plane(angle: float) -> None:
    """E max(0, 1 - e^{e - loss}) for the worst slopes of two records at an angle, by a sum over the plane of b."""
    mu, delta = 0.6, 0.05
    bound = GAUSSIAN.reference(**{**FLAT, "neighbours": "replace", "lipschitz": mu}, delta=str(delta)).to_floats()[1]
    grid = np.linspace(-9, 9, 1201)
    first, second = grid[:, None], grid[None, :]
    weight = np.exp(-0.5 * (first**2 + second**2))
    slopes = np.linspace(-mu, mu, 9)
    loss = np.full_like(weight, -np.inf)
    for a, b in itertools.product(slopes, slopes):
        s = (a - b * math.cos(angle), -b * math.sin(angle))
        loss = np.maximum(loss, s[0] * first + s[1] * second + 0.5 * (s[0] ** 2 + s[1] ** 2))
    exact = np.sum(weight * np.maximum(0.0, -np.expm1(bound - loss))) / np.sum(weight)
    assert exact <= delta
    if angle == 0:
        assert exact > 0.9 * delta, "one line: only the second term is lost"


def test_the_gaussian_mechanism_alone_does_not_bound_it() -> None:
    """At the epsilon of N(mu, 1) against N(0, 1), a rounded absolute value has a larger delta."""
    mu, delta = 0.5, 0.01
    plain = oracle.bound("gdp.epsilon").reference(mu=mu, delta=str(delta)).to_floats()[1]
    assert exact_delta(Saturating(50.0, 0.02, 0.001), 1.0, 2.0, plain, 0.0, 1.0) > 1.5 * delta


def test_the_two_branches_meet() -> None:
    """At delta = 1 - 2 e^{mu^2/2} Phi(-mu) both branches give e = mu^2/2."""
    at = Fraction("0.47684341626975326")  # mu = 1: 1 - erfcx(1/sqrt 2), rounded
    below, above = (GAUSSIAN.reference(**FLAT, delta=at + step * Fraction(1, 10**9)) for step in (-1, 1))
    assert not below.possibly_le(above)
    for side in (below, above):
        assert abs(side.upper.to_fraction() - Fraction(1, 2)) < Fraction(1, 10**8)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("mu", [1e-12, 1e-8, 1e-4, 0.1, 1.0, 3.0])
def test_fast_where_the_branches_meet(mu: float, word: str) -> None:
    """Around delta = 1 - 2 e^{mu^2/2} Phi(-mu), with and without a Jacobian of the size of epsilon."""
    meet = mu * math.sqrt(2 / math.pi) if mu < 1e-6 else 1 - math.exp(mu * mu / 2) * math.erfc(mu / math.sqrt(2))
    check_fast(GAUSSIAN, [
        {"lipschitz": mu, "curvature": curvature, "regularisation": 1.0, "dataset_size": 1, "noise_on_sum": 1.0,
         "delta": share * meet, "neighbours": word}
        for share in (0.5, 0.9, 0.9999, 1 - 1e-9, 1.0, 1 + 1e-15, 1 + 1e-9, 1.0001, 1.1)
        for curvature in (0.0, 1e-12, 0.1)
    ], "numpy")


def test_a_large_delta_asks_for_no_epsilon() -> None:
    assert GAUSSIAN.reference(**FLAT, delta="0.69") == Enclosure.exactly(0)
    assert not GAUSSIAN.reference(**FLAT, delta="0.68").possibly_le(0)


# --- orders and errors


@pytest.mark.parametrize(
    ("bound", "name", "value"),
    [(NOISY, "sigma", 2), (SIGMA, "lipschitz", 4), (OBJECTIVE, "curvature", 2), (LINEAR, "epsilon", 3),
     (GAUSSIAN, "delta", Fraction(1, 10)), (RIDGE, "epsilon", 2), (OUTPUT, "solver_error", 1), (SCALE, "epsilon", 2)],
)
def test_strictly_monotone_inside(bound: oracle.Bound, name: str, value: Any) -> None:
    everything = {
        **MINIMISER, "regularisation": MINIMISER["strong_convexity"], "curvature": 1, "scale": 1, "noise_scale": 1,
        "sigma": 1, "noise_on_sum": 1, "delta": Fraction(1, 100), "epsilon": 1, "correction": "sharp",
    }
    check_monotone(bound, {p.name: everything[p.name] for p in bound.parameters}, name, value, certain=True)


@pytest.mark.parametrize(
    ("bound", "name", "value"),
    [(OUTPUT, "solver_error", -1), (OUTPUT, "strong_convexity", 0), (SCALE, "epsilon", 0), (NOISY, "delta", 0),
     (OBJECTIVE, "curvature", -1), (OBJECTIVE, "correction", "none"), (GAUSSIAN, "dataset_size", "1.5"),
     (RIDGE, "epsilon", 0), (LINEAR, "neighbours", "any")],
)
def test_bad_input_is_named(bound: oracle.Bound, name: str, value: Any) -> None:
    check_named(bound, name, value)
