"""ReLU regression (document 002, Algorithms 7 and 8): gradients, exact laws, attained sensitivities, guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import optimize, stats

import oracle
from oracle.algorithms.regression import adaptive_batched_gd, dp_pgd, relu_regression
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError
from oracle.core.planning import plan_of_training, proved_epsilon
from oracle.core.tape import Tape
from tests.oracle.phased import cases
from tests.turned import Turned

Array = NDArray[np.float64]
PGD, ADAPTIVE = (oracle.algorithm(name) for name in ("dp-pgd", "adaptive-batched-gd"))
PGD_BASE: dict[str, Any] = {
    "learning_rate": "0.4", "noise_on_mean": "0.3", "weight_bound": "0.2", "label_bound": 1, "projected_dimension": 3,
    "steps": 4,
}
ADAPTIVE_BASE: dict[str, Any] = {
    "noise_formula": "exact", "noise_over_sensitivity": "0.5", "learning_rate": "0.3", "feature_norm": 2,
    "label_bound": "1.5", "batch_size": 2,
}


def pgd(**changes: Any) -> Values:
    return PGD.parse({**PGD_BASE, **changes})


def adaptive(**changes: Any) -> Values:
    return ADAPTIVE.parse({**ADAPTIVE_BASE, **changes})


def data(records: int = 6, dimension: int = 4, seed: int = 1) -> tuple[Array, Array]:
    return cases.data(records, dimension, seed)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The epsilon of mu-GDP at delta, by the textbook curve and a root finder."""

    def excess(epsilon: float) -> float:
        tail = np.exp(epsilon + stats.norm.logcdf(-epsilon / mu - mu / 2))
        return float(stats.norm.cdf(mu / 2 - epsilon / mu) - tail - delta)

    return float(optimize.brentq(excess, 0, 1000, xtol=1e-12))


def orthogonal(dimension: int) -> Array:
    return np.asarray(stats.ortho_group.rvs(dimension, random_state=3), dtype=np.float64)


def test_the_gradient_is_that_of_the_surrogate_loss() -> None:
    """l = max(0, s)^2 / 2 - y s, by central differences and by torch; no score drawn is near the kink."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        w, x, y = rng.normal(size=4), rng.normal(size=4), float(rng.normal())
        gradient = relu_regression.gradient(w, x, y)

        def height(at: Array, x: Array = x, y: float = y) -> float:
            return float(max(0.0, at @ x) ** 2 / 2 - y * (at @ x))

        slopes = [(height(w + step) - height(w - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(gradient, slopes, atol=1e-8)
        free = torch.tensor(w, requires_grad=True)
        score = free @ torch.as_tensor(x)
        (score.relu() ** 2 / 2 - y * score).backward()  # type: ignore[no-untyped-call]
        np.testing.assert_allclose(gradient, np.asarray(free.grad), rtol=1e-13)


# --- Algorithm 7


def test_two_steps_release_half_of_the_second_iterate() -> None:
    """w_1 = 0 and w_2 = eta (mean of y Phi x - zeta_1) where the ball is wide: the average is w_2 / 2, not w_2."""
    features, labels = data()
    values, tape = pgd(steps=2, weight_bound=100), Tape(4)
    phi = tape.normal("projection", 0, 12)[0].reshape(3, 4) / math.sqrt(3)
    second = 0.4 * (phi @ (labels @ features) / 6 - 0.3 * tape.normal("noise", 0, 3)[0])
    for result in (PGD.reference(features, labels, values, tape), PGD.train_batched(features, labels, values, tape)[0]):
        np.testing.assert_allclose(result, phi.T @ second / 2, rtol=1e-12)
    for train in (PGD.reference, PGD.train_batched):
        assert not np.asarray(train(features, labels, pgd(steps=1), tape)).any()


def test_iterates_are_projected_on_twice_the_weight_bound() -> None:
    """Long steps: the second and the third iterate lie on the sphere of radius 2W = 0.4 of the projected space."""
    features, labels = data()
    tape = Tape(5)
    lift = np.linalg.pinv(dp_pgd.projection(pgd(), 4, tape).T)
    second = 2 * lift @ PGD.reference(features, labels, pgd(learning_rate=1000, steps=2), tape)
    third = 3 * lift @ PGD.reference(features, labels, pgd(learning_rate=1000, steps=3), tape) - second
    assert np.linalg.norm(second) == pytest.approx(0.4, rel=1e-12)
    assert np.linalg.norm(third) == pytest.approx(0.4, rel=1e-12)
    assert np.linalg.norm(second - third) > 0.01


def test_the_projection_keeps_lengths_on_average() -> None:
    """m |Phi x|^2 / |x|^2 is chi-square of m degrees, 2000 of them add up to 40,000: a test at 1e-6, fixed seed."""
    x = np.arange(1.0, 6.0)
    tape, values = Tape(6, 2000), pgd(projected_dimension=20)
    total = sum(np.sum((dp_pgd.projection(values, 5, tape.one(model)) @ x) ** 2) for model in range(2000))
    law = stats.chi2(40_000)
    assert law.ppf(0.5e-6) < 20 * total / (x @ x) < law.isf(0.5e-6)


@pytest.mark.parametrize(
    ("algorithm", "values", "purpose"), [(PGD, pgd(), "projection"), (ADAPTIVE, adaptive(), "noise")]
)
def test_turning_the_features_and_the_draws_turns_the_release(
    algorithm: Algorithm, values: Values, purpose: str
) -> None:
    features, labels = data()
    turn = orthogonal(4)
    plain = algorithm.reference(features, labels, values, Tape(7))
    tape = Turned(7, turn=turn, touches=lambda drawn, step: drawn == purpose)
    turned = algorithm.reference(features @ turn, labels, values, tape)
    np.testing.assert_allclose(turned, plain @ turn, rtol=1e-11)


def test_the_order_of_the_records_does_not_matter() -> None:
    features, labels = data()
    order = np.random.default_rng(0).permutation(6)
    once = PGD.reference(features, labels, pgd(), Tape(2))
    np.testing.assert_allclose(PGD.reference(features[order], labels[order], pgd(), Tape(2)), once, rtol=1e-11)


def test_the_guarantee_is_the_composition_of_a_sensitivity_that_is_attained() -> None:
    """4 (2W + B) / n, at |w| = 2W and projected features of length 2 along it; what Phi costs comes off delta."""
    w = 0.4 * np.array([0.6, 0.8, 0])
    along = 2 * w / np.linalg.norm(w)
    apart = relu_regression.gradient(w, along, -1.0) - relu_regression.gradient(w, -along, -1.0)
    assert np.linalg.norm(apart) == pytest.approx(4 * (2 * 0.2 + 1), rel=1e-14)
    values = pgd(projected_dimension=25, noise_on_mean="0.9", steps=9)
    spent = 41 * math.exp(-25 * (3 - math.log(4)) / 2) / (3 * math.sqrt(math.pi * 25))
    expected = gaussian_epsilon(float(np.linalg.norm(apart)) * 3 / (40 * 0.9), 1e-5 - spent)
    proved = proved_epsilon(PGD, values, records=40, delta="1e-5")
    assert float(proved.upper.to_fraction()) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(DomainError, match="projected_dimension"):
        proved_epsilon(PGD, pgd(), records=40, delta="1e-5")


# --- Algorithm 8


@pytest.mark.parametrize(("noise", "std"), [("exact", 0.5), ("printed-variance", 0.25), ("printed-std", 0.0625)])
def test_one_batch_is_one_gaussian_release(noise: str, std: float) -> None:
    """From w_0 = 0: N(eta mean of y x, (eta sigma)^2 I), where z = 1/2, r = 2, B = 3/2, m = 6: exactly on the tape, and
    20,000 models by two chi-square tests (of the mean and of all squares) at 1e-6 each, on a fixed seed."""
    features, labels = data()
    values, tape = adaptive(noise_formula=noise, batch_size=6), Tape(8, 20_000)
    mean = 0.3 * labels @ features / 6
    np.testing.assert_allclose(
        ADAPTIVE.reference(features, labels, values, tape.one(7)),
        mean - 0.3 * std * tape.one(7).normal("noise", 0, 4)[0], rtol=1e-12,
    )
    models = np.asarray(ADAPTIVE.train_batched(features, labels, values, tape))
    standard = (models - mean) / (0.3 * std)
    for statistic, law in (
        (20_000 * np.sum(standard.mean(axis=0) ** 2), stats.chi2(4)), (np.sum(standard**2), stats.chi2(80_000)),
    ):
        assert law.ppf(0.5e-6) < statistic < law.isf(0.5e-6)


def test_the_noise_is_z_times_a_sensitivity_that_is_attained_and_never_passed() -> None:
    rng = np.random.default_rng(9)
    values = adaptive()
    for _ in range(50):
        w = rng.normal(size=3) * rng.choice([0.01, 1, 100])
        moved = 2 * adaptive_batched_gd.noise_std(values, float(np.linalg.norm(w))) / 0.5  # m sigma / z
        along = 2 * w / np.linalg.norm(w)
        worst = relu_regression.gradient(w, along, -1.5) - relu_regression.gradient(w, -along, -1.5)
        assert np.linalg.norm(worst) == pytest.approx(moved, rel=1e-12)
        records = [2 * x / np.linalg.norm(x) for x in rng.normal(size=(9, 3))]
        slopes = np.array([relu_regression.gradient(w, x, float(rng.choice([-1.5, 1.5]))) for x in records])
        assert np.linalg.norm(slopes[:, None] - slopes[None], axis=2).max() <= moved * (1 + 1e-12)


@pytest.mark.parametrize("noise", vocabulary.noise_formula.choices)
def test_the_guarantee_has_the_least_ratio_of_noise_to_sensitivity_which_is_that_of_the_start(noise: str) -> None:
    values = adaptive(noise_formula=noise)
    [judged] = plan_of_training(ADAPTIVE, values, records=6, delta="1e-5").judged
    least = float(Fraction(judged.parameters["noise_over_sensitivity"]))

    def ratio(length: float) -> float:
        return adaptive_batched_gd.noise_std(values, length) / (2 * (2 * length + 3) / 2)

    assert ratio(0.0) == pytest.approx(least, rel=1e-14)
    assert all(ratio(length) >= least * (1 - 1e-14) for length in np.geomspace(1e-9, 1e9, 200))


@pytest.mark.parametrize(("noise", "dimension", "batch", "epsilon"), [
    ("exact", 100, 50, 0.7514), ("printed-variance", 1, 50, 0.7514), ("printed-variance", 100, 50, 10.394),
    ("printed-std", 1, 100, 10.8),
])
def test_the_printed_noise_does_not_give_what_it_promises(
    noise: str, dimension: int, batch: int, epsilon: float
) -> None:
    """z of the text's (1, 1e-5), |x| <= sqrt(d), B = 1: what is proved, by our bound and by the curve of the start."""
    z = math.sqrt(2 * math.log(1.25e5))
    values = adaptive(
        noise_formula=noise, noise_over_sensitivity=z, feature_norm=math.isqrt(dimension), label_bound=1,
        batch_size=batch,
    )
    proved = float(proved_epsilon(ADAPTIVE, values, records=10 * batch, delta="1e-5").upper.to_fraction())
    moves = 2 * math.sqrt(dimension) / batch
    assert proved == pytest.approx(gaussian_epsilon(moves / adaptive_batched_gd.noise_std(values, 0.0), 1e-5), rel=1e-9)
    assert proved == pytest.approx(epsilon, rel=2e-3)


def test_the_noise_of_every_step_follows_the_iterate_it_starts_from() -> None:
    """Both record the same norms, sums and noises; the noises are those of the iterates that shorter runs release."""
    features, labels = data(8)
    alone: list[tuple[str, dict[str, Any]]] = []
    together: list[tuple[str, dict[str, Any]]] = []
    values, tape = adaptive(), Tape(3, 3)
    ADAPTIVE.reference(features, labels, values, tape.one(2), recorder=lambda k, **f: alone.append((k, f)))
    ADAPTIVE.train_batched(features, labels, values, tape, recorder=lambda k, **f: together.append((k, f)))
    here, there = ([facts for kind, facts in heard if kind == "update"] for heard in (alone, together))
    assert len(here) == len(there) == 4
    for step in range(4):
        before = (
            np.zeros(4) if step == 0
            else ADAPTIVE.reference(features[: 2 * step], labels[: 2 * step], values, tape.one(2))
        )
        expected = 0.5 * 2 * (2 * np.linalg.norm(before) + 3) / 2
        assert here[step]["noise_std"] == pytest.approx(expected, rel=1e-12)
        assert float(there[step]["noise_std"][2]) == pytest.approx(expected, rel=1e-11)
        np.testing.assert_allclose(there[step]["clipped_sum"][2], here[step]["clipped_sum"], rtol=1e-10)
        norms = [facts["norm"] for kind, facts in alone if kind == "sample" and facts["step"] == step]
        [samples] = [facts for kind, facts in together if kind == "samples" and facts["step"] == step]
        np.testing.assert_allclose(samples["norms"][2], norms, rtol=1e-10)


def test_records_may_change_places_within_a_batch_and_nowhere_else() -> None:
    features, labels = data()
    once = ADAPTIVE.reference(features, labels, adaptive(), Tape(2))
    for order, same in (([1, 0, 2, 3, 5, 4], True), ([2, 1, 0, 3, 4, 5], False)):
        again = ADAPTIVE.reference(features[order], labels[order], adaptive(), Tape(2))
        assert (np.linalg.norm(again - once) <= 1e-11 * np.linalg.norm(once)) == same


def test_a_well_specified_model_is_found() -> None:
    """Symmetric features of unit covariance: the surrogate's gradient is (w - w*)/2 on average, so 60 steps of 1/2
    leave (3/4)^60 of |w*| = 1 and what the batches of 500 add; 8 models, fixed seed, 0.1 is five times what is seen."""
    rng = np.random.default_rng(4)
    features = rng.choice([-1.0, 1.0], (30_000, 3))
    target = np.array([0.6, 0.0, 0.8])
    labels = np.maximum(features @ target, 0.0)
    values = adaptive(learning_rate="0.5", feature_norm="1.7321", label_bound="1.5", batch_size=500)
    models = np.asarray(ADAPTIVE.train_batched(features, labels, values, Tape(1, 8)))
    assert np.linalg.norm(models - target, axis=1).max() < 0.1


# --- what is refused, and what the agreement test catches


@pytest.mark.parametrize(("make", "changes"), [
    (pgd, {"noise_on_mean": 0}), (pgd, {"learning_rate": -1}), (pgd, {"projected_dimension": 0}),
    (pgd, {"weight_bound": 0}), (pgd, {"steps": 0}), (adaptive, {"noise_formula": "printed"}),
    (adaptive, {"noise_over_sensitivity": 0}), (adaptive, {"batch_size": 0}), (adaptive, {"label_bound": 0}),
])
def test_a_configuration_outside_its_domain_is_refused(make: Callable[..., Values], changes: dict[str, Any]) -> None:
    [(name, value)] = changes.items()
    with pytest.raises(DomainError, match=f"{name} = {value} is outside its domain"):
        make(**changes)


def test_nothing_that_is_no_number_and_no_noise_of_clipped_gradients_is_taken() -> None:
    with pytest.raises(DomainError, match="noise_on_mean = nan is not a finite number"):
        pgd(noise_on_mean=math.nan)
    unclipped = {name: value for name, value in PGD_BASE.items() if name != "noise_on_mean"}
    for extra in ({}, {"clip_norm": 1, "dataset_size": 40}):
        with pytest.raises(DomainError, match="dp-pgd has no parameter"):
            PGD.parse({**unclipped, "noise_multiplier": 2, **extra})


def test_data_beyond_the_hypotheses_are_refused_by_both() -> None:
    features, labels = data()
    for item, values in ((PGD, pgd()), (ADAPTIVE, adaptive())):
        for train in (item.reference, item.train_batched):
            with pytest.raises(DomainError, match="feature_norm"):
                train(features * 40, labels, values, Tape(0))
            with pytest.raises(DomainError, match="label_bound"):
                train(features, labels * 40, values, Tape(0))
    for use in (
        lambda: ADAPTIVE.reference(features, labels, adaptive(batch_size=4), Tape(0)),
        lambda: ADAPTIVE.train_batched(features, labels, adaptive(batch_size=4), Tape(0)),
    ):
        with pytest.raises(DomainError, match="divisor of the 6 records"):
            use()
    with pytest.raises(DomainError, match="not met: the batches are disjoint and of one size: batch_size divides"):
        proved_epsilon(ADAPTIVE, adaptive(batch_size=4), records=6, delta="1e-5")
