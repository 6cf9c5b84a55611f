"""Gradient descent, plain and private, on linear models: closed forms, laws, invariances, accounts, refusals.

The twins' agreement is tested in test_twins; here what both compute is held to what the documents say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import oracle
from oracle.algorithms.descent import dp_gd_projected
from oracle.algorithms.shared import glm
from oracle.core.algorithm import Values
from oracle.core.tape import Tape
from tests.oracle.descent.cases import Array, batched, config, data, every, literal
from tests.turned import Turned


def close(one: Array, other: Array) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)


# --- closed forms: on the squared loss, unclipped, every iterate is an affine function of the start and the noise


def affine_iterates(features: Array, labels: Array, start: Array, kicks: Array, eta: float, size: int) -> Array:
    """theta_t = A^t theta_0 + sum_{s <= t} A^{t-s} (eta c + kick_s), A = I - eta H: no recursion, powers of A."""
    a = np.eye(len(start)) - eta * features.T @ features / size
    pull = eta * features.T @ labels / size
    return np.array([
        np.linalg.matrix_power(a, t) @ start
        + sum(np.linalg.matrix_power(a, t - s) @ (pull + kicks[s - 1]) for s in range(1, t + 1))
        for t in range(1, len(kicks) + 1)
    ])


@pytest.mark.parametrize("iterate", ["average", "last"])
def test_gradient_descent_on_a_quadratic_has_its_closed_form(iterate: str) -> None:
    features, labels = data()
    values, tape = config("gd", iterate=iterate), Tape(3)
    iterates = affine_iterates(features, labels, tape.normal("initial", 0, 3)[0], np.zeros((5, 3)), 0.3, 6)
    expected = iterates.mean(axis=0) if iterate == "average" else iterates[-1]
    close(literal("gd", features, labels, values, tape), expected)
    close(batched("gd", features, labels, values, tape)[0], expected)


def test_the_average_of_ten_ones_is_one() -> None:
    """The slide's sum of the iterates would be 10 on (theta - 1)^2 / 2 with step size 1."""
    one = np.ones((1, 1)), np.ones(1)
    for iterate in ("average", "last"):
        values = config("gd", learning_rate=1, steps=10, initial_std=0, iterate=iterate)
        assert literal("gd", *one, values, Tape(0)) == pytest.approx([1.0], abs=1e-15)


@pytest.mark.parametrize("size", [5, 6, 7])
@pytest.mark.parametrize(("name", "changes"), [
    ("dp-gd", {"clip_norm": 1000}), ("dp-gd-projected", {"lipschitz": 1000, "radius": 500}),
])
def test_unclipped_noisy_descent_has_its_closed_form(name: str, changes: dict[str, Any], size: int) -> None:
    """The divisor is the declared size, however many records there are."""
    features, labels = data()
    values, tape = config(name, dataset_size=size, neighbours="add_remove", **changes), Tape(3)
    kicks = np.array([-0.3 * 0.2 * tape.normal("noise", step, 3)[0] for step in range(5)])
    expected = affine_iterates(features, labels, np.zeros(3), kicks, 0.3, size).mean(axis=0)
    close(literal(name, features, labels, values, tape), expected)
    close(batched(name, features, labels, values, tape)[0], expected)


@pytest.mark.parametrize("loss", glm.LOSSES)
def test_batches_of_everyone_are_noisy_gradient_descent(loss: str) -> None:
    """DP-SGD at q = 1 and NoisyCGD with one batch are the same algorithm, written by different hands."""
    features, labels = data()
    values = config("dp-sgd", loss=loss, batch_size=6)
    other = oracle.algorithm("noisy-cgd")
    same = other.parse({
        "loss": loss, "learning_rate": "0.3", "regularisation": "0.1", "clip_norm": "0.4", "noise_on_mean": "0.2",
        "batch_size": 6, "epochs": 5, "feature_norm": 1,
    })
    close(literal("dp-sgd", features, labels, values, Tape(8)), other.reference(features, labels, same, Tape(8)))


# --- laws


def test_the_average_iterate_of_the_linear_loss_has_its_closed_form_law() -> None:
    """average ~ N(-eta (T+1)/2 g, eta^2 sigma^2 sum_k k^2 / T^2 I), g the mean clipped gradient.

    20000 models of a fixed seed; a right implementation fails with probability below 1e-5 on a random one: three
    z-tests at 5.5 standard errors, three chi-square tests at 1e-7, a KS test at 1e-6.
    """
    features, labels = data()
    values, models = config("dp-gd", loss="linear"), 20_000
    final = batched("dp-gd", features, labels, values, Tape(99, models))
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    assert (norms > 0.4).any()
    g = (-features * np.minimum(1.0, 0.4 / np.maximum(norms, 1e-300))).mean(axis=0)
    mean = -0.3 * 3 * g
    variance = 0.3**2 * 0.2**2 * (1 + 4 + 9 + 16 + 25) / 25
    assert np.abs((final.mean(axis=0) - mean) / np.sqrt(variance / models)).max() < 5.5
    ratio = ((final - mean) ** 2).sum(axis=0) / variance
    assert (stats.chi2.ppf(0.5e-7, models) < ratio).all()
    assert (ratio < stats.chi2.isf(0.5e-7, models)).all()
    assert stats.kstest(((final - mean) / np.sqrt(variance)).ravel(), "norm").pvalue > 1e-6
    assert oracle.algorithm("dp-gd").gaussian_release(values)
    assert not oracle.algorithm("dp-gd").gaussian_release(config("dp-gd"))


def test_dp_sgd_on_the_linear_loss_has_its_mean_and_covariance() -> None:
    """mean -eta (q/b) sum_i c_i s_1, covariance eta^2 (q (1-q)/b^2 sum_i c_i c_i' + sigma^2 I) s_2, s_p = sum a^{pk}.

    20000 models of a fixed seed; nine z-tests at 6 estimated standard errors (error below 1e-7 on a random seed).
    """
    features, labels = data()
    values, models = config("dp-sgd", loss="linear", noise_on_mean="0.02"), 20_000
    final = batched("dp-sgd", features, labels, values, Tape(98, models))
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    clipped = -features * np.minimum(1.0, 0.4 / np.maximum(norms, 1e-300))
    powers = (1 - 0.3 * 0.1) ** np.arange(5)
    q = 2 / 6
    mean = -0.3 * q / 2 * clipped.sum(axis=0) * powers.sum()
    step = q * (1 - q) / 4 * clipped.T @ clipped + 0.02**2 * np.eye(3)
    covariance = 0.3**2 * step * (powers**2).sum()
    assert np.linalg.norm(covariance - np.diag(np.diag(covariance))) > 0.1 * np.linalg.norm(covariance)
    centred = final - mean
    assert (np.abs(centred.mean(axis=0)) < 6 * centred.std(axis=0) / np.sqrt(models)).all()
    products = centred[:, :, None] * centred[:, None]
    assert (np.abs(products.mean(axis=0) - covariance) < 6 * products.std(axis=0) / np.sqrt(models)).all()


def test_one_step_of_dp_sgd_is_the_exact_mixture_over_all_batches() -> None:
    """Next to no noise: the release is one of 2^4 points, each with probability q^k (1-q)^(4-k); chi-square at 1e-6."""
    features, labels = data(records=4, dimension=2)
    values = config(
        "dp-sgd", loss="linear", learning_rate=1, noise_on_mean="1e-12", batch_size=1, steps=1, dataset_size=4
    )
    final = batched("dp-sgd", features, labels, values, Tape(97, 20_000))
    clipped = features * np.minimum(1.0, 0.4 / np.linalg.norm(features, axis=1, keepdims=True))
    subsets = np.array([[cell >> record & 1 for record in range(4)] for cell in range(16)])
    points = subsets @ clipped
    assert np.sort(np.linalg.norm(points[:, None] - points, axis=2), axis=1)[:, 1].min() > 1e-3
    distances = np.linalg.norm(final[:, None] - points, axis=2)
    assert distances.min(axis=1).max() < 1e-10  # nothing but these points, the empty batch's among them
    counts = np.bincount(distances.argmin(axis=1), minlength=16)
    sizes = subsets.sum(axis=1)
    assert stats.chisquare(counts, 0.25**sizes * 0.75 ** (4 - sizes) * 20_000).pvalue > 1e-6


def test_batches_are_drawn_anew_for_every_step_and_record() -> None:
    """Memberships of two records in two steps: 16 cells, chi-square at 1e-6 on a fixed seed."""
    masks: list[Array] = []
    values = config("dp-sgd", steps=2)
    batched(
        "dp-sgd", *data(), values, Tape(96, 20_000),
        recorder=lambda kind, **facts: masks.append(np.asarray(facts["mask"])) if kind == "batch" else None,
    )
    assert [mask.shape for mask in masks] == [(20_000, 6)] * 2
    bits = np.concatenate([mask[:, [0, 4]] for mask in masks], axis=1)
    counts = np.bincount(bits @ np.array([1, 2, 4, 8]), minlength=16)
    expected = [(1 / 3) ** cell.bit_count() * (2 / 3) ** (4 - cell.bit_count()) * 20_000 for cell in range(16)]
    assert stats.chisquare(counts, expected).pvalue > 1e-6


# --- invariances


@dataclass(frozen=True)
class Permuted(Tape):
    """A tape whose batches are those of records in another order."""

    order: Any = None

    def bernoulli(self, purpose: str, step: int, count: int, rate: float) -> NDArray[np.bool_]:
        return super().bernoulli(purpose, step, count, rate)[:, self.order]


@every
@pytest.mark.parametrize("loss", glm.LOSSES)
def test_turning_features_and_noise_turns_the_model(name: str, loss: str) -> None:
    features, labels = data()
    turn = stats.ortho_group.rvs(3, random_state=4)
    values = config(name, loss=loss)
    once = literal(name, features, labels, values, Tape(7))
    close(literal(name, features @ turn, labels, values, Turned(7, turn=turn)), once @ turn)


@every
def test_the_order_of_the_records_does_not_matter(name: str) -> None:
    features, labels = data()
    order = np.random.default_rng(0).permutation(6)
    once = literal(name, features, labels, config(name), Tape(7))
    close(literal(name, features[order], labels[order], config(name), Permuted(7, order=order)), once)


@pytest.mark.parametrize("name", ["dp-gd", "dp-sgd"])
def test_the_unit_of_length_does_not_matter(name: str) -> None:
    """The linear loss with features, clipping norm and noise three times as long: the model is three times as long."""
    features, labels = data()
    once = literal(name, features, labels, config(name, loss="linear"), Tape(7))
    longer = config(name, loss="linear", clip_norm="1.2", noise_on_mean="0.6")
    close(literal(name, 3 * features, labels, longer, Tape(7)), 3 * once)


# --- what is recorded is what happened


@every
@pytest.mark.parametrize("seed", range(4))
def test_the_model_can_be_rebuilt_from_what_was_recorded(name: str, seed: int) -> None:
    features, labels = data(seed=seed)
    values, tape = config(name), Tape(seed)
    heard: list[tuple[str, dict[str, Any]]] = []
    final = literal(name, features, labels, values, tape, recorder=lambda kind, **facts: heard.append((kind, facts)))
    theta = tape.normal("initial", 0, 3)[0] if name == "gd" else np.zeros(3)
    outside, iterates, bound = 0, [], {"gd": np.inf, "dp-gd-projected": 2.0}.get(name, 0.4)
    for step in range(5):
        [update] = [facts for kind, facts in heard if kind == "update" and facts["step"] == step]
        norms = [facts["norm"] for kind, facts in heard if kind == "sample" and facts["step"] == step]
        if name == "dp-sgd":
            [batch] = [facts["members"] for kind, facts in heard if kind == "batch" and facts["step"] == step]
            assert len(batch) == len(norms)
            assert len(batch) or not update["clipped_sum"].any()
        else:
            assert len(norms) == 6
        assert np.linalg.norm(update["clipped_sum"]) <= sum(min(norm, bound) for norm in norms) * (1 + 1e-12)
        assert update["noise_std"] == (0.0 if name == "gd" else 0.2)
        move = update["clipped_sum"] / (2 if name == "dp-sgd" else 6)
        move = move + update["noise_std"] * tape.normal("noise", step, 3)[0] + (0.1 * theta if name == "dp-sgd" else 0)
        theta = theta - 0.3 * move
        if name == "dp-gd-projected":
            reached = float(np.linalg.norm(theta))
            theta = theta / max(1.0, reached / 0.1)
            outside += reached > 0.1
        iterates.append(theta)
    close(final, theta if name == "dp-sgd" else np.mean(iterates, axis=0))
    assert outside or name != "dp-gd-projected", "the ball was never left: the test is too easy"


def test_an_empty_batch_is_a_step_of_noise_alone() -> None:
    """In eight of nine steps, here: divided by b, not by the size of the batch, nothing is undefined."""
    heard: list[Array] = []
    few = {"batch_size": 1, "dataset_size": 9, "neighbours": "add_remove", "steps": 20}
    tape, values = Tape(2), config("dp-sgd", regularisation=0, **few)
    one = np.ones((1, 3)), np.ones(1)
    final = literal("dp-sgd", *one, values, tape, recorder=lambda kind, **facts: heard.append(facts.get("members")))
    sizes = [len(members) for members in heard if members is not None]
    assert set(sizes) == {0, 1}
    first = next(step for step in range(20) if sizes[step])
    before = Values(**{**vars(values), "steps": first})
    noise = sum(tape.normal("noise", step, 3)[0] for step in range(first))
    close(literal("dp-sgd", *one, before, tape), -0.3 * 0.2 * noise)
    assert np.isfinite(final).all()


# --- the projected algorithm's own


def test_the_projection_is_the_nearest_point_of_the_ball() -> None:
    """<v - Pv, w - Pv> <= 0 for every w of the ball characterises it."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        point, radius = rng.normal(size=3) * 2, float(rng.uniform(0.1, 3))
        nearest = dp_gd_projected.project(point, radius)
        assert np.linalg.norm(nearest) <= radius * (1 + 1e-15)
        other = rng.normal(size=3)
        other *= radius * rng.random() / np.linalg.norm(other)
        assert (point - nearest) @ (other - nearest) <= 1e-12
    np.testing.assert_array_equal(dp_gd_projected.project(np.zeros(3), 1.0), np.zeros(3))


def test_loud_noise_ends_on_the_sphere_and_iterates_never_leave_the_ball() -> None:
    values = config("dp-gd-projected", noise_on_mean=1000, steps=1)
    final = batched("dp-gd-projected", *data(), values, Tape(1, 50))
    np.testing.assert_allclose(np.linalg.norm(final, axis=1), 0.1, rtol=1e-9)
    several = batched("dp-gd-projected", *data(), config("dp-gd-projected", noise_on_mean=1000), Tape(1, 50))
    assert (np.linalg.norm(several, axis=1) < 0.1).all()


@pytest.mark.parametrize("loss", glm.LOSSES)
def test_the_largest_gradient_on_the_ball_is_attained_and_never_exceeded(loss: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, y, radius = rng.normal(size=3), float(rng.integers(0, 2)), float(rng.uniform(0.1, 3))
        largest = dp_gd_projected.largest_gradient(loss, x, y, radius)
        inside = rng.normal(size=(200, 3))
        inside *= radius * rng.random((200, 1)) / np.linalg.norm(inside, axis=1, keepdims=True)
        ends = np.array([1, -1])[:, None] * radius * x / np.linalg.norm(x)
        sizes = [np.linalg.norm(glm.residual(loss, float(x @ theta), y) * x) for theta in [*inside, *ends]]
        assert max(sizes) == pytest.approx(largest, rel=1e-12)
