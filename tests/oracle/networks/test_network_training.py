"""DP-SGD on a network: derivatives by finite differences and by torch's own, joint clipping, symmetries, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats

import oracle
from oracle.algorithms.networks import dp_sgd_network, torch_dp_sgd_network
from oracle.core import torch_twin, vocabulary
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.planning import proved_epsilon
from oracle.core.tape import Tape
from tests.oracle.networks.records import check_records
from tests.trainings.noisy_cgd import unit_data

Array = NDArray[np.float64]
ALGORITHM = oracle.algorithm("dp-sgd-network")
BASE: dict[str, Any] = {
    "loss": "logistic", "activation": "tanh", "hidden_units": 4, "initial_scale": 1, "learning_rate": "0.3",
    "clip_norm": "0.5", "noise_on_mean": "0.2", "batch_size": 2, "steps": 4, "dataset_size": 6, "neighbours": "replace",
}
KINDS = [(loss, activation) for loss in dp_sgd_network.LOSSES for activation in vocabulary.activation.choices]
every_kind = pytest.mark.parametrize(("loss", "activation"), KINDS)


def config(**changes: Any) -> Values:
    return ALGORITHM.parse({**BASE, **changes})


def data(records: int = 6, dimension: int = 3, seed: int = 1) -> tuple[Array, Array]:
    return unit_data(np.random.default_rng(seed), records, dimension)


def objective(loss: str, activation: str, w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The loss of one record as its definition says, for torch to differentiate."""
    width, d = 4, x.shape[-1]
    first, bias = w[: width * d].reshape(width, d), w[width * d : width * (d + 1)]
    hidden = first @ x + bias
    hidden = torch.tanh(hidden) if activation == "tanh" else torch.relu(hidden)
    score = w[width * (d + 1) : width * (d + 2)] @ hidden + w[-1]
    return (score - y) ** 2 / 2 if loss == "squared" else torch.nn.functional.softplus(score) - y * score


@every_kind
def test_the_gradient_is_the_derivative_of_the_loss(loss: str, activation: str) -> None:
    """By central differences, and by torch's automatic differentiation; no weights drawn are near a kink of ReLU."""
    rng = np.random.default_rng(4)
    values = config(loss=loss, activation=activation)
    for _ in range(10):
        weights, x, y = rng.normal(size=21), rng.normal(size=3), float(rng.integers(0, 2))
        gradient = dp_sgd_network.gradient(weights, x, y, values)

        def height(w: Array, x: Array = x, y: float = y) -> float:
            return float(objective(loss, activation, *(torch.as_tensor(part) for part in (w, x, y))))

        slopes = [(height(weights + step) - height(weights - step)) / 2e-6 for step in 1e-6 * np.eye(21)]
        np.testing.assert_allclose(gradient, slopes, atol=1e-7)
        free = torch.tensor(weights, requires_grad=True)
        objective(loss, activation, free, torch.as_tensor(x), torch.as_tensor(y)).backward()  # type: ignore[no-untyped-call]
        np.testing.assert_allclose(gradient, np.asarray(free.grad), rtol=1e-11, atol=1e-14)


@pytest.mark.full
@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_clipped_gradients_is_that_of_torch_func(loss: str, activation: str, seed: int) -> None:
    """The twin never forms a per-sample gradient; vmap over models and records of torch's gradient does."""
    rng = np.random.default_rng(seed)
    models, records, dimension = (int(rng.integers(*ends)) for ends in ((1, 5), (5, 12), (1, 7)))
    shapes = ((models, dp_sgd_network.weights_count(4, dimension)), (models, records, dimension), (models, records))
    weights, x, y = (torch.as_tensor(rng.normal(size=shape)) for shape in shapes)
    taken = torch.as_tensor(rng.random((models, records)) < 0.6)
    values = config(loss=loss, activation=activation)
    here = torch_dp_sgd_network.order(4, dimension)
    ones = torch.ones(models, records, 1, dtype=x.dtype)
    total, norms = torch_dp_sgd_network._clipped_sum(
        weights[:, here], torch.cat([x, ones], dim=2), (x**2).sum(dim=2) + 1, y, taken, 1.5, values, torch_twin.Kept(x)
    )

    def one(w: torch.Tensor, features: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return objective(loss, activation, w, features, label)

    slopes = torch.func.vmap(torch.func.vmap(torch.func.grad(one), in_dims=(None, 0, 0)))(weights, x, y)
    lengths = slopes.norm(dim=2)
    assert (lengths > 1.5).any()
    assert (lengths < 1.5).any()
    torch.testing.assert_close(norms, lengths, rtol=1e-12, atol=0)
    shares = torch.clamp(1.5 / lengths, max=1.0) * taken
    expected = (shares[:, :, None] * slopes).sum(dim=1)[:, here]
    torch.testing.assert_close(total, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_members_are_the_records_of_the_mask(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = rng.random((4, 7)) < rng.choice([0.0, 0.1, 0.5, 1.0])
    index, taken = torch_dp_sgd_network.members(mask, absent=7)
    assert index.shape == taken.shape == (4, mask.sum(axis=1).max())
    assert (index[~taken] == 7).all()
    for model in range(4):
        np.testing.assert_array_equal(index[model][taken[model]], np.flatnonzero(mask[model]))


def test_all_weights_are_clipped_as_one_vector() -> None:
    """One record, always drawn, almost no noise: a step has length eta C over all the weights, not C a layer."""
    features, labels = data(1)
    values = config(clip_norm="0.01", noise_on_mean="1e-13", batch_size=1, dataset_size=1, steps=1)
    start = dp_sgd_network.initial(values, 3, Tape(3))
    heard: list[float] = []
    final = ALGORITHM.reference(
        features, labels, values, Tape(3),
        recorder=lambda kind, **facts: heard.append(facts["norm"]) if kind == "sample" else None,
    )
    assert heard[0] > 0.01
    assert np.linalg.norm(final - start) == pytest.approx(0.3 * 0.01, rel=1e-9)
    together = np.asarray(ALGORITHM.train_batched(features, labels, values, Tape(3)))[0]
    assert np.linalg.norm(together - start) == pytest.approx(0.3 * 0.01, rel=1e-9)


def test_the_initial_weights_have_their_scales() -> None:
    """W ~ N(0, s^2/d), a ~ N(0, s^2/hidden_units), no biases: two chi-square tests at 1e-6 each, on a fixed seed."""
    start = dp_sgd_network.initial(config(hidden_units=500, initial_scale=3), 20, Tape(6))
    first, bias, second, last = np.split(start, [10_000, 10_500, 11_000])
    assert not bias.any()
    assert not last.any()
    for part, variance in ((first, 9 / 20), (second, 9 / 500)):
        law = stats.chi2(part.size)
        assert law.ppf(0.5e-6) < (part**2).sum() / variance < law.isf(0.5e-6)


@every_kind
def test_hidden_units_are_exchangeable(loss: str, activation: str) -> None:
    """Renaming the hidden units renames the gradient: the symmetry that makes the problem non-convex."""
    rng = np.random.default_rng(7)
    weights, x = rng.normal(size=21), rng.normal(size=3)
    units = np.array([2, 0, 3, 1])
    places = np.concatenate([np.arange(12).reshape(4, 3)[units].ravel(), 12 + units, 16 + units, [20]])
    values = config(loss=loss, activation=activation)
    gradient = dp_sgd_network.gradient(weights, x, 1.0, values)
    renamed = dp_sgd_network.gradient(weights[places], x, 1.0, values)
    np.testing.assert_allclose(renamed, gradient[places], rtol=1e-12, atol=1e-15)


def test_the_order_of_the_records_does_not_matter_where_all_are_drawn() -> None:
    features, labels = data()
    order = np.random.default_rng(0).permutation(6)
    values = config(batch_size=6)
    once = ALGORITHM.reference(features, labels, values, Tape(2))
    np.testing.assert_allclose(ALGORITHM.reference(features[order], labels[order], values, Tape(2)), once, rtol=1e-11)


def test_both_record_the_same_batches_norms_and_sums() -> None:
    check_records(ALGORITHM, data(), config(), rtol=1e-11)


def test_a_network_learns_what_no_linear_model_can() -> None:
    """Exclusive or: most of 50 private networks get all four points right; a linear model gets three at best."""
    features = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    labels = np.array([0.0, 1.0, 1.0, 0.0])
    values = config(
        hidden_units=8, initial_scale=2, learning_rate=1, clip_norm=1, noise_on_mean="0.02", batch_size=2, steps=300,
        dataset_size=4,
    )
    weights = np.asarray(ALGORITHM.train_batched(features, labels, values, Tape(9, 50)))
    first, bias, second = weights[:, :16].reshape(50, 8, 2), weights[:, 16:24], weights[:, 24:32]
    hidden = np.tanh(np.einsum("mhd,nd->mnh", first, features) + bias[:, None])
    right = ((np.einsum("mnh,mh->mn", hidden, second) + weights[:, 32:]) > 0) == (labels == 1)
    assert right.all(axis=1).mean() > 0.8


@pytest.mark.parametrize(("changes", "message"), [
    ({"hidden_units": 0}, "hidden_units"), ({"loss": "linear"}, "loss"), ({"activation": "sigmoid"}, "activation"),
    ({"initial_scale": 0}, "initial_scale"), ({"noise_on_mean": 0}, "noise_on_mean"), ({"clip_norm": -1}, "clip_norm"),
])
def test_a_configuration_outside_its_domain_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        config(**changes)


def test_what_is_proved_is_what_is_proved_of_dp_sgd() -> None:
    other = oracle.algorithm("dp-sgd")
    assert ALGORITHM.guarantees is other.guarantees
    values = config(noise_on_mean="0.5")
    same = other.parse({
        "loss": "squared", "learning_rate": 1, "regularisation": 0,
        **{key.name: getattr(values, key.name) for key in other.parameters},
    })
    proved = [proved_epsilon(*part, records=6, delta="1e-5") for part in ((ALGORITHM, values), (other, same))]
    assert proved[0] == proved[1]


def test_data_are_refused_as_for_dp_sgd() -> None:
    features, labels = data()
    for train in (ALGORITHM.reference, ALGORITHM.train_batched):
        with pytest.raises(DomainError, match="not the number of records"):
            train(features, labels, config(dataset_size=7), Tape(0))
        with pytest.raises(DomainError, match="no such sampling rate"):
            train(features, labels, config(batch_size=7), Tape(0))
        with pytest.raises(DomainError, match="must be 0 or 1"):
            train(features, labels + 0.5, config(), Tape(0))
