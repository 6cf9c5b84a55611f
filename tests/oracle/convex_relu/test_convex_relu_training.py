"""Training of the convex ReLU model: its gradients, its law, its kinship with other trainings, its errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

import oracle
from oracle.algorithms.convex_relu import convex_relu, torch_convex_relu
from oracle.core.errors import DomainError
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.oracle.convex_relu.cases import ALGORITHM, BASE, Array, config, data
from tests.turned import Turned

MODELS = [
    ("squared", 1), ("logistic", 1), ("squared", 3), ("softmax", 2), ("softmax", 3), ("logistic", 3),
]
every_model = pytest.mark.parametrize(("loss", "outputs"), MODELS)


def heard(train: Callable[..., Any], *args: Any) -> list[tuple[str, dict[str, Any]]]:
    events: list[tuple[str, dict[str, Any]]] = []
    train(*args, recorder=lambda kind, **facts: events.append((kind, facts)))
    return events


# --- gradients


def loss_of(v: torch.Tensor, u: torch.Tensor, x: torch.Tensor, y: torch.Tensor, loss: str) -> torch.Tensor:
    """A record's loss as document 000 writes it, with torch's own losses and no code of ours."""
    outputs = torch.stack([sum((normal @ x >= 0) * (x @ w) for normal, w in zip(u, part, strict=True)) for part in v])
    target = y.reshape(1) if v.shape[0] == 1 else torch.nn.functional.one_hot(y.long(), v.shape[0]).to(v.dtype)
    if loss == "squared":
        return (outputs - target).square().sum() / 2
    if loss == "logistic":
        return torch.nn.functional.binary_cross_entropy_with_logits(outputs, target, reduction="sum")
    return torch.nn.functional.cross_entropy(outputs, y.long())


@every_model
@pytest.mark.parametrize("clipping", ["record", "output"])
def test_clipped_sums_are_those_of_automatic_differentiation(loss: str, outputs: int, clipping: str) -> None:
    """At the second step (v is not zero): each record's gradient by autograd, clipped as the text says, and summed."""
    features, labels = data(outputs)
    tape = Tape(3)
    values = {"loss": loss, "outputs": outputs, "clipping": clipping, "batch_size": 6, "clip_norm": "0.2"}
    v = torch.tensor(ALGORITHM.reference(features, labels, config(epochs=1, **values), tape), requires_grad=True)
    u = torch.tensor(convex_relu.hyperplanes(config(), 3, tape))
    expected = np.zeros(v.shape)
    acted = 0
    for x, y in zip(torch.tensor(features), torch.tensor(labels), strict=True):
        (slope,) = torch.autograd.grad(loss_of(v, u, x, y, loss), v)
        parts = [slope] if clipping == "record" else list(slope)
        limit = 0.2 / np.sqrt(len(parts))
        acted += sum(float(part.norm()) > limit for part in parts)
        clipped = [part * min(1.0, limit / max(float(part.norm()), 1e-300)) for part in parts]
        expected += np.asarray(clipped[0] if clipping == "record" else torch.stack(clipped))
    assert acted
    facts = [f for kind, f in heard(ALGORITHM.reference, features, labels, config(epochs=2, **values), tape)
             if kind == "update"]
    np.testing.assert_allclose(facts[1]["clipped_sum"].reshape(v.shape), expected, rtol=1e-10, atol=1e-13)


@every_model
def test_residuals_are_slopes_of_the_losses(loss: str, outputs: int) -> None:
    """r by central differences of the loss in the outputs: x = u = 1 makes the outputs equal to the weights."""
    one = torch.ones(1, 1, dtype=torch.float64)
    rng = np.random.default_rng(1)
    for label in range(max(2, outputs)):
        v = 2 * rng.normal(size=outputs)
        target = np.array([float(label)]) if outputs == 1 else np.eye(outputs)[label]

        def h(values: Array, label: int = label) -> float:
            y = torch.tensor(float(label), dtype=torch.float64)
            return float(loss_of(torch.tensor(values).reshape(outputs, 1, 1), one, one[0], y, loss))

        slopes = [(h(v + 1e-5 * e) - h(v - 1e-5 * e)) / 2e-5 for e in np.eye(outputs)]
        np.testing.assert_allclose(convex_relu.residual(loss, v, target), slopes, atol=1e-8)


def test_softmax_does_not_overflow() -> None:
    np.testing.assert_allclose(
        convex_relu.residual("softmax", np.array([1e4, -1e4, 1e4]), np.eye(3)[1]), [0.5, -1, 0.5], rtol=1e-15
    )


# --- the inference model


@every_model
def test_inference_is_what_training_predicts(loss: str, outputs: int) -> None:
    """The norms that training records at step T are |r(g(x, v_T))| sqrt(a) |x|, with g the inference model."""
    features, labels = data(outputs)
    tape = Tape(8, 2)
    values = {"loss": loss, "outputs": outputs, "batch_size": 6}
    v = torch_convex_relu.twin.train(features, labels, config(epochs=2, **values), tape)
    u = torch_convex_relu.hyperplanes(config(), tape, v)
    outputs_at = torch_convex_relu.predict(torch.tensor(features), u, v)
    assert outputs_at.shape == (2, outputs, 6)
    for model in range(2):
        norms = [f["norm"] for kind, f in heard(
            ALGORITHM.reference, features, labels, config(epochs=3, **values), tape.one(model)
        ) if kind == "sample" and f["step"] == 2]
        for j, (x, y) in enumerate(zip(features, labels, strict=True)):
            alone = convex_relu.predict(x, np.asarray(u[model]), np.asarray(v[model]))
            np.testing.assert_allclose(np.asarray(outputs_at[model, :, j]), alone, rtol=1e-12, atol=1e-15)
            target = np.array([y]) if outputs == 1 else np.eye(outputs)[int(y)]
            length = np.sqrt(sum(normal @ x >= 0 for normal in np.asarray(u[model]))) * np.linalg.norm(x)
            expected = float(np.linalg.norm(convex_relu.residual(loss, alone, target)) * length)
            assert norms[j] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_hyperplanes_are_standard_normal_and_each_model_has_its_own() -> None:
    """30000 draws of a fixed seed: a right tape fails with probability 1e-6 (KS)."""
    like = torch.zeros(1, 3, dtype=torch.float64)
    u = torch_convex_relu.hyperplanes(config(), Tape(5, 2500), like)
    assert u.shape == (2500, 4, 3)
    assert stats.kstest(np.asarray(u).ravel(), "norm").pvalue > 1e-6
    np.testing.assert_array_equal(convex_relu.hyperplanes(config(), 3, Tape(5, 2500).one(7)), np.asarray(u[7]))


def test_a_record_on_a_hyperplane_is_active_in_both() -> None:
    """1(u^T x >= 0), not max(0, sign): with x = 0 nothing moves; with u^T x = 0 exactly, the record counts."""

    @dataclass(frozen=True)
    class Flat(Tape):
        def normal(self, purpose: str, step: int, dimension: int) -> Any:
            draws = super().normal(purpose, step, dimension)
            return np.tile([0.0, 1.0], (self.models, dimension // 2)) if purpose == "hyperplanes" else draws

    values = config(loss="squared", outputs=1, batch_size=1, epochs=2)
    on_it = (np.array([[0.5, 0.0]]), np.array([1.0]))
    check_twins(ALGORITHM.reference, ALGORITHM.train_batched, on_it, values, Flat(1, 2))
    first = heard(ALGORITHM.reference, *on_it, values, Flat(1))[0][1]
    assert first["norm"] == pytest.approx(0.5 * np.sqrt(4))


# --- kinship and invariance


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_one_output_is_noisy_cgd_on_the_wide_features(loss: str) -> None:
    """Appendix A: the model is a generalised linear model in x~, so NoisyCGD there is the same algorithm."""
    features, labels = data(1)
    tape = Tape(2)
    keys = ("learning_rate", "regularisation", "clip_norm", "noise_on_mean", "batch_size", "epochs")
    shared = {key: BASE[key] for key in keys}
    ours = ALGORITHM.reference(features, labels, config(loss=loss, outputs=1), tape)
    u = convex_relu.hyperplanes(config(), 3, tape)
    wide = ((features @ u.T >= 0)[:, :, None] * features[:, None, :]).reshape(6, 12)
    glms = oracle.algorithm("noisy-cgd")
    theirs = glms.reference(wide, labels, glms.parse({"loss": loss, "feature_norm": 2, **shared}), tape)
    np.testing.assert_allclose(ours.ravel(), theirs, rtol=1e-10)


def test_the_order_within_a_batch_does_not_matter() -> None:
    features, labels = data()
    swap = [1, 0, 3, 2, 5, 4]
    one, other = (ALGORITHM.reference(*given, config(), Tape(4)) for given in (
        (features, labels), (features[swap], labels[swap])
    ))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    moved = ALGORITHM.reference(features[::-1], labels[::-1], config(), Tape(4))
    assert not np.allclose(one, moved)  # other batches are another algorithm


TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]


@every_model
def test_turned_features_hyperplanes_and_noise_turn_the_model(loss: str, outputs: int) -> None:
    features, labels = data(outputs)
    values = config(loss=loss, outputs=outputs)
    straight = ALGORITHM.reference(features, labels, values, Tape(6))
    turned = ALGORITHM.reference(features @ TURN.T, labels, values, Turned(6, turn=TURN.T))
    np.testing.assert_allclose(turned, straight @ TURN.T, rtol=1e-9, atol=1e-12)


def test_the_unclipped_squared_loss_has_its_gaussian_law() -> None:
    """Given its hyperplanes a model is Gaussian: v <- (I - eta (lambda I + H_j)) v + eta (m_j - Z), in closed form.

    3000 models of a fixed seed, each whitened by its own mean and covariance: 18000 standard normals. A right
    implementation fails with probability below 1e-5: mean at 5 standard errors, a chi-square test at 1e-6, KS at 1e-6.
    """
    features, labels = data(1, records=4, dimension=2, seed=3)
    values = config(loss="squared", outputs=1, hyperplanes=3, clip_norm=1000, epochs=2)
    tape = Tape(17, 3000)
    released = np.asarray(ALGORITHM.train_batched(features, labels, values, tape)).reshape(3000, 6)
    white = np.empty((3000, 6))
    for model in range(3000):
        u = convex_relu.hyperplanes(values, 2, tape.one(model))
        wide = ((features @ u.T >= 0)[:, :, None] * features[:, None, :]).reshape(4, 6)
        mean, covariance = np.zeros(6), np.zeros((6, 6))
        for step in range(4):
            rows, y = (wide[:2], labels[:2]) if step % 2 == 0 else (wide[2:], labels[2:])
            map_ = np.eye(6) - 0.3 * (0.1 * np.eye(6) + rows.T @ rows / 2)
            mean = map_ @ mean + 0.3 * rows.T @ y / 2
            covariance = map_ @ covariance @ map_.T + (0.3 * 0.2) ** 2 * np.eye(6)
        white[model] = np.linalg.solve(np.linalg.cholesky(covariance), released[model] - mean)
    flat = white.ravel()
    assert abs(flat.mean()) < 5 / np.sqrt(flat.size)
    assert stats.chi2.ppf(0.5e-6, flat.size) < flat @ flat < stats.chi2.isf(0.5e-6, flat.size)
    assert stats.kstest(flat, "norm").pvalue > 1e-6


# --- errors, and bugs that must not pass


@pytest.mark.parametrize(("changes", "labels", "message"), [
    ({}, [0, 1, 2, 3, 0, 1], "labels must be classes, integers from 0 to 2"),
    ({}, [0, 1, 2, 0.5, 0, 1], "labels must be classes"),
    ({"loss": "squared"}, [0, 1, 2, -1, 0, 1], "labels must be classes"),
    ({"loss": "logistic", "outputs": 1}, [0, 1, 2, 1, 0, 1], "integers from 0 to 1"),
    ({"outputs": 1}, [0, 1, 0, 1, 0, 1], "softmax needs an integer >= 2"),
    ({"batch_size": 4}, [0, 1, 2, 1, 0, 1], "batch_size = 4 .* divisor of the 6 records"),
    ({"feature_norm": "0.001"}, [0, 1, 2, 1, 0, 1], "above the declared feature_norm"),
])
def test_data_that_do_not_fit_are_refused_by_both(changes: dict[str, Any], labels: list[float], message: str) -> None:
    for train in (ALGORITHM.reference, ALGORITHM.train_batched):
        with pytest.raises(DomainError, match=message):
            train(data()[0], np.array(labels, dtype=np.float64), config(**changes), Tape(0))


@pytest.mark.parametrize("changes", [
    {"noise_on_mean": 0}, {"noise_on_mean": -1}, {"clip_norm": 0}, {"hyperplanes": 0}, {"outputs": 0},
    {"loss": "linear"}, {"clipping": "none"}, {"learning_rate": 0}, {"regularisation": -1},
])
def test_a_configuration_outside_its_domain_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError, match="is outside its domain"):
        config(**changes)
