"""Opacus and our literal DP-SGD take the same steps: per-sample gradients, clipping, noise and divisor (`nox -s gate`).

Batches and noise are those of our tape, put into Opacus's hands. Opacus clips by min(1, C/(|g| + 1e-6)), so that it
is a little on the safe side of min(1, C/|g|): by a factor |g|/(|g| + 1e-6) for a clipped gradient. Whole runs are
therefore compared where the gradients that are clipped have norms of thousands and that factor is 1 to nine digits; the
factor itself is tested apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import opacus.optimizers.optimizer
import pytest
import torch
from numpy.typing import NDArray
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

import oracle
from oracle.algorithms.networks import dp_sgd_network
from oracle.algorithms.shared import glm
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.tape import Tape

Array = NDArray[np.float64]
STEPS, RECORDS, DIMENSION, WIDTH = 6, 8, 3, 4
ETA, BATCH = 0.01, 4
COMMON: dict[str, Any] = {
    "loss": "squared", "learning_rate": "0.01", "batch_size": BATCH, "steps": STEPS, "dataset_size": RECORDS,
    "neighbours": "replace",
}


def data(size: float) -> tuple[Array, Array]:
    """Features of norm about 2, and labels of a size, which that of the gradients follows."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(RECORDS, DIMENSION)), size * rng.normal(size=RECORDS)


def network(activation: str, start: Array) -> torch.nn.Module:
    """The same network, made of torch's layers; its parameters are in the order of our weights."""
    inner = torch.nn.Tanh() if activation == "tanh" else torch.nn.ReLU()
    layers = torch.nn.Sequential(torch.nn.Linear(DIMENSION, WIDTH), inner, torch.nn.Linear(WIDTH, 1)).double()
    torch.nn.utils.vector_to_parameters(torch.as_tensor(start), layers.parameters())
    return layers


def weights_of(module: torch.nn.Module) -> Array:
    return np.asarray(torch.nn.utils.parameters_to_vector(module.parameters()).detach())


def backward(module: GradSampleModule, loss: str, features: Array, labels: Array) -> None:
    """Per-sample gradients of the mean loss; Opacus undoes the mean."""
    scores, y = module(torch.as_tensor(features))[:, 0], torch.as_tensor(labels)
    losses = (scores - y) ** 2 / 2 if loss == "squared" else torch.nn.functional.softplus(scores) - y * scores
    losses.mean().backward()


def by_opacus(
    inner: torch.nn.Module, features: Array, labels: Array, values: Values, tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> Array:
    """The last weights of a DP-SGD run made of Opacus's parts."""
    clip_norm, noise_on_mean = float(values.clip_norm), float(values.noise_on_mean)
    ridge = float(getattr(values, "regularisation", 0))  # which the network has none of
    module = GradSampleModule(inner)
    optimizer = DPOptimizer(
        torch.optim.SGD(module.parameters(), lr=ETA, weight_decay=ridge),
        noise_multiplier=noise_on_mean * BATCH / clip_norm, max_grad_norm=clip_norm, expected_batch_size=BATCH,
    )
    count = weights_of(inner).size
    draws: Iterator[float] = iter(())

    def noise(std: float, reference: torch.Tensor, **_: Any) -> torch.Tensor:
        taken = [next(draws) for _ in range(reference.numel())]
        return std * torch.tensor(taken, dtype=reference.dtype).reshape(reference.shape)

    monkeypatch.setattr(opacus.optimizers.optimizer, "_generate_noise", noise)
    for step in range(STEPS):
        batch = tape.bernoulli("batch", step, RECORDS, BATCH / RECORDS)[0]
        assert batch.any(), "Opacus is shown no empty batch here"
        draws = iter(tape.normal("noise", step, count)[0])
        optimizer.zero_grad()
        backward(module, values.loss, features[batch], labels[batch])
        optimizer.step()
    return weights_of(inner)


def share_clipped(name: str, features: Array, labels: Array, values: Values, tape: Tape) -> float:
    """How many of the gradients of our run were clipped."""
    norms: list[float] = []
    oracle.algorithm(name).reference(
        features, labels, values, tape,
        recorder=lambda kind, **facts: norms.append(facts["norm"]) if kind == "sample" else None,
    )
    return float(np.mean(np.array(norms) > float(values.clip_norm)))


def test_dp_sgd_takes_the_steps_of_opacus(monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = data(1e4)
    item = oracle.algorithm("dp-sgd")
    values, tape = item.parse({**COMMON, "regularisation": "0.1", "clip_norm": 4_000, "noise_on_mean": 500}), Tape(1)
    assert 0.2 < share_clipped("dp-sgd", features, labels, values, tape) < 0.9
    linear = torch.nn.Linear(DIMENSION, 1, bias=False).double()
    torch.nn.init.zeros_(linear.weight)
    theirs = by_opacus(linear, features, labels, values, tape, monkeypatch)
    np.testing.assert_allclose(theirs, item.reference(features, labels, values, tape), rtol=1e-9)
    np.testing.assert_allclose(theirs, np.asarray(item.train_batched(features, labels, values, tape))[0], rtol=1e-9)


@pytest.mark.parametrize("activation", vocabulary.activation.choices)
def test_dp_sgd_on_a_network_takes_the_steps_of_opacus(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    features, labels = data(1e4)
    item = oracle.algorithm("dp-sgd-network")
    values = item.parse({
        **COMMON, "activation": activation, "hidden_units": WIDTH, "initial_scale": 1, "clip_norm": 20_000,
        "noise_on_mean": 50,
    })
    tape = Tape(1)
    assert 0.2 < share_clipped("dp-sgd-network", features, labels, values, tape) < 0.9
    start = network(activation, dp_sgd_network.initial(values, DIMENSION, tape))
    theirs = by_opacus(start, features, labels, values, tape, monkeypatch)
    ours = np.asarray(item.reference(features, labels, values, tape))
    assert np.linalg.norm(theirs - ours) <= 1e-9 * np.linalg.norm(ours)
    together = np.asarray(item.train_batched(features, labels, values, tape))[0]
    assert np.linalg.norm(theirs - together) <= 1e-9 * np.linalg.norm(ours)


@pytest.mark.parametrize("loss", dp_sgd_network.LOSSES)
@pytest.mark.parametrize("activation", vocabulary.activation.choices)
def test_gradients_are_those_of_opacus_and_its_clipping_is_a_little_shorter(loss: str, activation: str) -> None:
    """At everyday sizes: gradients record by record, and the clipped sum with Opacus's 1e-6 put in by hand."""
    features, labels = data(1.0)
    labels = (labels > 0).astype(np.float64) if loss == "logistic" else labels
    weights = np.random.default_rng(4).normal(size=dp_sgd_network.weights_count(WIDTH, DIMENSION))
    values = Values(loss=loss, activation=activation, hidden_units=WIDTH)
    ours = np.array([
        dp_sgd_network.gradient(weights, x, float(y), values) for x, y in zip(features, labels, strict=True)
    ])
    module = GradSampleModule(network(activation, weights))
    backward(module, loss, features, labels)
    theirs = np.concatenate([p.grad_sample.reshape(RECORDS, -1).numpy() for p in module.parameters()], axis=1)
    np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-13)

    norms = np.linalg.norm(ours, axis=1)
    clip_norm = float(np.median(norms))
    optimizer = DPOptimizer(
        torch.optim.SGD(module.parameters(), lr=1.0), noise_multiplier=0.0, max_grad_norm=clip_norm,
        expected_batch_size=RECORDS,
    )
    optimizer.clip_and_accumulate()
    total = np.concatenate([p.summed_grad.numpy().ravel() for p in module.parameters()])
    clipped = np.array([glm.clip(gradient, clip_norm) for gradient in ours])
    shorter = np.where(norms > clip_norm, norms / (norms + 1e-6), 1.0)
    np.testing.assert_allclose(total, shorter @ clipped, rtol=1e-9, atol=1e-12)
    assert np.linalg.norm(total - clipped.sum(axis=0)) > 1e-9 * np.linalg.norm(total), "Opacus clips exactly by now"
