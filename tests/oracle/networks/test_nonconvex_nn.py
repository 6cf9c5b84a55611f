"""Document 002's algorithms: sensitivities on literal recursions, what a projection costs, identities and edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_second_opinion
from tests.tiers import examples

EXACT = Fraction(1, 10**30)
FAMILIES = ("phased-sgd", "phased-sgd-projected", "two-layer", "two-layer-projected", "dp-pgd")
CLOSED = [
    oracle.bound(f"{name}.{unit}") for name in (*FAMILIES, "adaptive-batched-gd") for unit in ("epsilon", "sigma")
]
SAMPLED = [oracle.bound(f"dp-sgd-multilayer.{unit}") for unit in ("epsilon", "sigma")]
PHASED: dict[str, Any] = {
    "label_bound": 1, "base_learning_rate": "0.1", "link_lipschitz": 1, "dataset_size": 1024, "oracle_error": 0,
}
TO_100: dict[str, Any] = {**PHASED, "projected_dimension": 100}
DESCENT: dict[str, Any] = {
    "weight_bound": 1, "label_bound": 1, "dataset_size": 1000, "steps": 100, "projected_dimension": 100,
}


def reference(name: str, **params: Any) -> Enclosure:
    return oracle.bound(name).reference(**params)


def upper(value: Enclosure) -> float:
    return value.to_floats()[1]


# --- the generic contracts, at any width


@pytest.mark.full
@pytest.mark.parametrize("bound", CLOSED, ids=lambda item: item.name)
@examples(1 / 2)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.full
@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
def test_sampled_steps_have_a_second_opinion_and_a_fast_path(neighbours: str) -> None:
    common: dict[str, Any] = {
        "clip_norm": 0.5, "divisor": 32.0, "sampling_rate": 0.0625, "steps": 300, "neighbours": neighbours,
    }
    for bound, asked in zip(SAMPLED, ({"noise_on_mean": 0.03}, {"epsilon": 1.5}), strict=True):
        extra = {**asked, "delta": 1e-6}
        check_second_opinion(bound, {**common, **extra})
        check_fast(bound, [{**common, **extra}], "numpy")


# --- sensitivities: the literal recursion of one phase


Record = tuple[Any, Any]
Oracle = Callable[[Any, Any, Any], Any]


def phase(start: Any, records: Sequence[Record], step: Any, gradient: Oracle) -> list[Any]:
    """w^1, ..., w^{n+1} of one pass, as the algorithm is printed."""
    iterates = [start]
    for x, y in records:
        iterates.append(iterates[-1] - step * gradient(iterates[-1], x, y))
    return iterates


def moved(first: Record, other: Record, rest: Sequence[Record], step: Any, gradient: Oracle) -> tuple[Any, Any]:
    """How far a replaced first record moves the printed average, and that of the iterates after each record."""
    runs = [phase(Fraction(0), [record, *rest], step, gradient) for record in (first, other)]
    gaps = [abs(a - b) for a, b in zip(*runs, strict=True)]
    count = len(rest) + 1
    return sum(gaps[:-1]) / count, sum(gaps[1:]) / count


def sensitivity(name: str, **params: Any) -> Fraction:
    """What a bound takes for the sensitivity over the step: its noise over the noise for a sensitivity of 1."""
    noise = reference(name, epsilon=1, delta="1e-5", width=EXACT, **params)
    unit = reference("gaussian.sigma", sensitivity=1, epsilon=1, delta="1e-5", width=EXACT)
    result = (noise.upper.to_fraction() / unit.lower.to_fraction()).limit_denominator(10**12)
    assert abs(noise.lower.to_fraction() / unit.upper.to_fraction() - result) < Fraction(1, 10**20)
    return result


@pytest.mark.parametrize("stretch", [1, 2])
@pytest.mark.parametrize("records", [1, 2, 8, 512])
def test_the_sensitivity_of_a_phase_is_attained_exactly(records: int, stretch: int) -> None:
    """One coordinate, a constant link B: the first record (x, -B) against (-x, -B), all others without a gradient."""
    big, step = Fraction(3, 2), Fraction(1, 7)
    x = Fraction(stretch)
    printed, shifted = moved(
        (x, -big), (-x, -big), [(x, big)] * (records - 1), step, lambda w, x, y: (big - y) * x,
    )
    if stretch == 1:
        bound = sensitivity("phased-sgd.sigma", **{**PHASED, "label_bound": big, "dataset_size": 2 * records})
    else:  # so many rows that the projection uses up nothing to 20 digits
        setting = {**TO_100, "label_bound": big, "dataset_size": 2 * records, "projected_dimension": 1000}
        bound = sensitivity("phased-sgd-projected.sigma", **setting)
    assert shifted == bound * step == 4 * big * stretch * step
    assert printed == bound * step * Fraction(records - 1, records)


@pytest.mark.parametrize("records", [1, 2, 8, 64])
def test_errors_of_the_gradients_add_up_to_the_sensitivity_exactly(records: int) -> None:
    """An oracle that errs by gamma in the direction in which the two runs part."""
    big, step, gamma = Fraction(1), Fraction(1, 7), Fraction(1, 50)

    def gradient(w: Fraction, x: Fraction, y: Fraction) -> Fraction:
        return (big - y) * x + gamma * (x if w == 0 else -w / abs(w))

    one = Fraction(1)
    printed, shifted = moved((one, -big), (-one, -big), [(one, big)] * (records - 1), step, gradient)
    bound = sensitivity("phased-sgd.sigma", **{**PHASED, "oracle_error": gamma, "dataset_size": 2 * records})
    assert shifted == bound * step
    assert printed == step * (records - 1) * (4 * big / records + gamma)


@pytest.mark.parametrize("stretch", [1.0, 2.0])
@given(seed=st.integers(0, 10**6))
def test_no_phase_moves_by_more(stretch: float, seed: int) -> None:
    """Random records and a random kinked link, at the largest step that is allowed."""
    rng = np.random.default_rng(seed)
    knots = np.sort(rng.normal(size=6))
    heights = np.sort(rng.uniform(-1.0, 1.0, size=6))
    slope = float(np.max(np.diff(heights) / np.diff(knots)))
    step = 2 / (slope * stretch**2)

    def gradient(w: Any, x: Any, y: float) -> Any:
        return (np.interp(w @ x, knots, heights) - y) * x

    def record() -> Record:
        x = rng.normal(size=3)
        return stretch * x / np.linalg.norm(x), rng.uniform(-1.0, 1.0)

    rest, start = [record() for _ in range(15)], rng.normal(size=3) * 3
    runs = [phase(start, [first, *rest], step, gradient) for first in (record(), record())]
    gaps = [float(np.linalg.norm(a - b)) for a, b in zip(*runs, strict=True)]
    assert max(gaps) <= 4 * stretch * step * (1 + 1e-9)


@pytest.mark.parametrize(("records", "least"), [(8, 0.7), (64, 2.2), (512, 6.4)])
def test_beyond_the_largest_step_the_sensitivity_is_not_bounded(records: int, least: float) -> None:
    """Theorem 1 states privacy without a condition on the step: a steep link then parts the runs in every record."""
    steep, slight = 1e9, 1e-3

    def gradient(w: Any, x: Any, y: float) -> Any:
        return (min(1.0, max(-1.0, steep * float(w @ x))) - y) * x

    axes = np.eye(records)
    rest = [(np.concatenate([[-slight], math.sqrt(1 - slight**2) * axes[t]]), 0.0) for t in range(1, records)]
    runs = [
        phase(np.zeros(records + 1), [(sign * np.eye(records + 1)[0], -1.0), *rest], 1.0, gradient)
        for sign in (1.0, -1.0)
    ]
    averages = [np.mean(run[:-1], axis=0) for run in runs]
    assert float(np.linalg.norm(averages[0] - averages[1])) / 4 > least
    beyond = {**PHASED, "base_learning_rate": 4, "link_lipschitz": 10**9}
    with pytest.raises(DomainError, match=r"^base_learning_rate = 4 .*: a real number in \(0, 1/125000000] for link_"):
        reference("phased-sgd.sigma", **beyond, epsilon=1, delta="1e-5")


# --- sensitivities: the ReLU gradient


def relu_gradient(w: Any, x: Any, y: Any) -> Any:
    return (np.maximum(0, np.sum(w * x, axis=-1)) - y)[..., None] * x


@given(seed=st.integers(0, 10**6))
def test_no_relu_gradient_moves_by_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w = rng.normal(size=3) * 10.0 ** rng.uniform(-1, 1)
    r, big = 10.0 ** rng.uniform(-1, 1, size=2)
    x = rng.normal(size=(2, 4000, 3)) + rng.choice([-2, 0, 2], size=(2, 4000, 1)) * w / np.linalg.norm(w)
    x *= r * rng.uniform(0.8, 1.0, size=(2, 4000, 1)) / np.linalg.norm(x, axis=2, keepdims=True)
    y = big * rng.choice([-1.0, 1.0], size=(2, 4000))
    gaps = np.linalg.norm(relu_gradient(w, x[0], y[0]) - relu_gradient(w, x[1], y[1]), axis=1)
    largest = r * (r * np.linalg.norm(w) + 2 * big)
    assert gaps.max() <= largest * (1 + 1e-12)
    assert gaps.max() >= 0.6 * largest, "the search is no search"


@pytest.mark.parametrize("weight", [Fraction(0), Fraction(1, 3), Fraction(5)])
def test_the_sensitivity_of_a_relu_step_is_attained_exactly(weight: Fraction) -> None:
    """Along w: (r, -B) against (-r, -B); the triangle inequality's 2r(r|w| + B) is attained at w = 0 alone."""
    r, big = Fraction(3, 2), Fraction(2, 3)
    one, other = ((max(Fraction(0), weight * x) + big) * x for x in (r, -r))
    batch = {"weight_norm": weight, "feature_norm": r, "label_bound": big, "batch_size": 7}
    assert sensitivity("adaptive-batched-gd.sigma", **batch) == (one - other) / 7
    triangle = 2 * r * (r * weight + big)
    assert one - other == triangle if weight == 0 else one - other < triangle


def test_a_descent_step_is_a_relu_step_at_radius_2w_with_points_of_length_2() -> None:
    many = {**DESCENT, "projected_dimension": 1000}
    for weight, steps in ((1, 1), (Fraction(1, 3), 100)):
        batch = {"weight_norm": 2 * weight, "feature_norm": 2, "label_bound": 1, "batch_size": 1000}
        expected = sensitivity("adaptive-batched-gd.sigma", **batch) * math.isqrt(steps)
        assert sensitivity("dp-pgd.sigma", **{**many, "weight_bound": weight, "steps": steps}) == expected


# --- the projection


def chi_square_tail(m: int) -> mpf:
    """P(chi^2_m > 4m)."""
    return mp.gammainc(mpf(m) / 2, 2 * mpf(m), mp.inf, regularized=True)


def used_up(n: int, m: int) -> mpf:
    return (n + 1) * mp.exp(-m * (3 - mp.log(4)) / 2) / (3 * mp.sqrt(mp.pi * m))


@pytest.mark.parametrize("m", [*range(1, 40), 100, 1000])
def test_the_tail_lies_between_the_truth_and_chernoff(m: int) -> None:
    with mp.workdps(40):
        truth, bound = chi_square_tail(m), used_up(0, m)
        assert truth <= bound <= mp.exp(-m * (3 - mp.log(4)) / 2)
        assert bound <= truth * (1 + mpf(2) / m)


@pytest.mark.parametrize("name", ["phased-sgd-projected", "two-layer-projected", "dp-pgd"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (100, 17), (1000, 30)])
def test_no_delta_below_what_the_projection_uses_up(name: str, n: int, m: int) -> None:
    """One part in 10^9 above is answered by both paths, one below is refused by both."""
    with mp.workdps(40):
        least = float(used_up(n, m))
    for unit in ("epsilon", "sigma"):
        bound = oracle.bound(f"{name}.{unit}")
        example = {k: Fraction(v) for k, v in (bound.example or {}).items()}
        point = {**example, "dataset_size": n, "projected_dimension": m}
        floats = {k: float(v) for k, v in point.items()}
        check_fast(bound, [{**floats, "delta": least * (1 + 1e-9)}], "numpy")
        below = least * (1 - 1e-9)
        with pytest.raises(DomainError, match=r"^delta = .* is outside its domain: a real number in \("):
            bound.reference(**{**point, "delta": below})
        with pytest.raises(DomainError, match=r"^delta = .* is outside its domain: a real number in \("):
            bound.fast(**{**floats, "delta": np.array([0.99, below])})


def test_many_rows_cost_nothing_but_the_stretch() -> None:
    noise = reference("phased-sgd-projected.sigma", **{**TO_100, "projected_dimension": 10**6}, epsilon=1, delta="1e-5")
    doubled = {**PHASED, "label_bound": 2}
    assert noise.overlaps(reference("phased-sgd.sigma", **doubled, epsilon=1, delta="1e-5"))
    few = reference("phased-sgd-projected.sigma", **{**TO_100, "projected_dimension": 20}, epsilon=1, delta="1e-5")
    assert noise.certainly_le(few)
    assert not few.possibly_le(noise)


# --- identities


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("phased-sgd", {**PHASED, "oracle_error": "0.001"}),
        ("phased-sgd-projected", {**TO_100, "oracle_error": "0.01"}),
        ("two-layer", {"feature_norm": "0.7", "base_learning_rate": 1, "link_lipschitz": 2}), ("dp-pgd", DESCENT),
    ],
)
def test_the_noise_for_an_epsilon_has_that_epsilon(name: str, params: dict[str, Any], epsilon: Fraction) -> None:
    noise = reference(f"{name}.sigma", **params, epsilon=epsilon, delta="1e-5", width=EXACT)
    low, high = (end.to_fraction() for end in (noise.lower, noise.upper))
    noise_name = "noise_on_mean" if name == "dp-pgd" else "noise_over_step"
    largest, least = (
        reference(f"{name}.epsilon", **{noise_name: end}, **params, delta="1e-5", width=EXACT) for end in (low, high)
    )
    assert least.possibly_le(epsilon)
    assert not largest.certainly_le(epsilon - Fraction(1, 10**20))
    assert largest.upper.to_fraction() - least.lower.to_fraction() < Fraction(1, 10**20)


def test_two_layers_are_phased_sgd_with_labels_in_a_unit_interval() -> None:
    """Labels in [0, 1] are labels in [-1/2, 1/2] but for a shift: half the noise of B = 1."""
    at: dict[str, Any] = {"epsilon": 1, "delta": "1e-5", "width": EXACT}
    features = {"feature_norm": 1, "base_learning_rate": "0.1", "link_lipschitz": 1}
    half, whole = (reference("phased-sgd.sigma", **{**PHASED, "label_bound": b}, **at) for b in ("0.5", 1))
    noise = reference("two-layer.sigma", **features, **at)
    assert noise.overlaps(half)
    assert abs(upper(whole) / upper(noise) - 2) < 1e-12
    rows = {"dataset_size": 1024, "projected_dimension": 20}
    projected = reference("two-layer-projected.sigma", **features, **rows, **at)
    setting = {**TO_100, "label_bound": "0.5", "projected_dimension": 20}
    assert projected.overlaps(reference("phased-sgd-projected.sigma", **setting, **at))


def test_a_kernel_that_is_not_normalised_needs_its_diagonal_in_noise_and_step() -> None:
    """1 + <x,x'> + ... + <x,x'>^8 has features of length 3: three times the noise, a ninth of the step."""
    at: dict[str, Any] = {"epsilon": 1, "delta": "1e-5"}
    step = {"base_learning_rate": Fraction(8, 9), "link_lipschitz": 1}
    unit, nine = (reference("two-layer.sigma", feature_norm=r, **step, **at) for r in (1, 3))
    assert abs(upper(nine) / upper(unit) - 3) < 1e-11
    with pytest.raises(DomainError, match=r"^base_learning_rate = 1 .* \(0, 8/9\] for link_lipschitz = 1 and feature"):
        reference("two-layer.sigma", feature_norm=3, base_learning_rate=1, link_lipschitz=1, **at)


def test_noise_that_follows_the_iterate_has_one_noise_multiplier() -> None:
    """At every |w| the noise over the sensitivity is the z whose epsilon was asked for."""
    for weight in (0, 1, 1000):
        batch = {"weight_norm": weight, "feature_norm": 2, "label_bound": 3, "batch_size": 50}
        noise = reference("adaptive-batched-gd.sigma", **batch, epsilon=2, delta="1e-6", width=EXACT)
        multiplier = noise.lower.to_fraction() * 50 / (2 * (2 * weight + 6))
        value = reference("adaptive-batched-gd.epsilon", noise_over_sensitivity=multiplier, delta="1e-6")
        assert abs(value.upper.to_fraction() - 2) < Fraction(1, 10**11)


def test_multilayer_steps_are_sampled_gaussian_steps() -> None:
    sampling: dict[str, Any] = {"sampling_rate": "0.01", "steps": 1000, "delta": "1e-5", "neighbours": "replace"}
    sampled = reference("poisson-gaussian.epsilon", sigma=2, **sampling)
    for noise, clip_norm, divisor in ((2, 1, 1), ("0.1", 5, 100), (Fraction(2, 3), "0.01", Fraction(3, 100))):
        scaled = {"noise_on_mean": noise, "clip_norm": clip_norm, "divisor": divisor}
        assert reference("dp-sgd-multilayer.epsilon", **scaled, **sampling).overlaps(sampled)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
def test_multilayer_without_sampling_is_composition(neighbours: str) -> None:
    setting: dict[str, Any] = {
        "clip_norm": 3, "divisor": 10, "sampling_rate": 1, "steps": 49, "neighbours": neighbours,
    }
    noise = reference("dp-sgd-multilayer.sigma", **setting, epsilon=1, delta="1e-5")
    moves = Fraction(3, 10) * 7 * (2 if neighbours == "replace" else 1)
    assert noise.overlaps(reference("gaussian.sigma", sensitivity=moves, epsilon=1, delta="1e-5"))
    nothing = {**setting, "sampling_rate": 0}
    assert reference("dp-sgd-multilayer.sigma", **nothing, epsilon=1, delta="1e-5") == Enclosure.exactly(0)


# --- edges


@pytest.mark.parametrize(
    ("name", "limit", "params"),
    [
        ("phased-sgd", 8, PHASED), ("phased-sgd-projected", 2, TO_100),
        ("two-layer", 8, {"feature_norm": 1}),
        ("two-layer-projected", 2, {"feature_norm": 1, "dataset_size": 9, "projected_dimension": 99}),
    ],
)
def test_the_step_may_lie_on_the_edge_exactly(name: str, limit: int, params: dict[str, Any]) -> None:
    """base_learning_rate * link_lipschitz = 8 (or 2) is allowed, however the product rounds; anything beyond is not."""
    bound = oracle.bound(f"{name}.epsilon")
    setting = {**params, "noise_over_step": 10, "delta": "1e-5", "link_lipschitz": 3}
    bound.reference(**{**setting, "base_learning_rate": Fraction(limit, 3)})
    with pytest.raises(DomainError, match=rf"^base_learning_rate = .*: a real number in \(0, {limit}/3\]"):
        bound.reference(**{**setting, "base_learning_rate": Fraction(limit, 3) + EXACT})
    floats = {k: float(v) for k, v in setting.items()}
    below = float(Fraction(limit, 3))  # rounded down, for 2/3 as for 8/3
    assert Fraction(below) < Fraction(limit, 3)
    check_fast(bound, [{**floats, "base_learning_rate": below}], "numpy")
    with pytest.raises(DomainError, match=r"^base_learning_rate = "):
        bound.fast(**{**floats, "base_learning_rate": np.array([0.1, math.nextafter(below, 9.0)])})


def test_a_constant_link_allows_every_step() -> None:
    at = {"epsilon": 1, "delta": "1e-5"}
    free = reference("phased-sgd.sigma", **{**PHASED, "link_lipschitz": 0, "base_learning_rate": 10**9}, **at)
    assert free == reference("phased-sgd.sigma", **PHASED, **at)


@pytest.mark.parametrize(
    ("name", "params", "moving"),
    [
        ("phased-sgd.sigma", {**PHASED, "oracle_error": Fraction(1, 10**4), "epsilon": 1, "delta": Fraction(1, 10**5)},
         ("label_bound", "oracle_error", "epsilon", "delta")),
        ("phased-sgd-projected.epsilon",
         {**TO_100, "projected_dimension": 20, "noise_over_step": 9, "delta": Fraction(1, 10**3)},
         ("label_bound", "dataset_size", "projected_dimension", "noise_over_step", "delta")),
        ("dp-pgd.epsilon", {**DESCENT, "noise_on_mean": Fraction(1, 10), "delta": Fraction(1, 10**5)},
         ("weight_bound", "label_bound", "steps", "noise_on_mean", "delta")),
    ],
)
def test_strictly_monotone_inside(name: str, params: dict[str, Any], moving: tuple[str, ...]) -> None:
    for key in moving:
        whole = key in ("dataset_size", "projected_dimension", "steps")
        step = params[key] + 1 if whole else params[key] * (1 + Fraction(1, 10**9))
        check_monotone(oracle.bound(name), params, key, step, certain=True)


@pytest.mark.parametrize("bound", [*CLOSED, *SAMPLED], ids=lambda item: item.name)
def test_bad_input_is_named(bound: oracle.Bound) -> None:
    for parameter in bound.parameters:
        bad: Any = "any" if parameter.kind == "choice" else -1
        with pytest.raises(DomainError, match=f"^{parameter.name} = {bad} is outside its domain"):
            bound.at({**(bound.example or {}), parameter.name: bad})
