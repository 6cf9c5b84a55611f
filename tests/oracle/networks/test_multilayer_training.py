"""DP-SGD on multi-layer networks (document 002, Algorithm 10): derivatives, start, linearisation, projection."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import stats

import oracle
from oracle.algorithms.networks import dp_sgd_multilayer as literal
from oracle.algorithms.networks import torch_dp_sgd_multilayer as twin
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.planning import plan_of_training, proved_epsilon
from oracle.core.tape import Tape
from oracle.core.torch_twin import Kept
from tests.checks import check_twins
from tests.oracle.networks.records import check_records, linearised
from tests.trainings.noisy_cgd import unit_data

Array = NDArray[np.float64]
ALGORITHM = oracle.algorithm("dp-sgd-multilayer")
BASE: dict[str, Any] = {
    "loss": "logistic", "depth": 3, "hidden_units": 4, "learning_rate": "0.3", "layer_radius": "0.4", "centre": "start",
    "clip_norm": "0.5", "noise_on_mean": "0.2", "batch_size": 2, "steps": 4, "dataset_size": 6, "neighbours": "replace",
}
every_kind = pytest.mark.parametrize(("depth", "loss"), [(2, "logistic"), (3, "pseudo-huber"), (4, "logistic")])


def config(**changes: Any) -> Values:
    return ALGORITHM.parse({**BASE, **changes})


def data(records: int = 6, dimension: int = 3, seed: int = 1) -> tuple[Array, Array]:
    return unit_data(np.random.default_rng(seed), records, dimension)


def objective(loss: str, layers: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The loss of one record as its definition says, for torch to differentiate."""
    signal = x
    for layer in layers[:-1]:
        signal = torch.relu(layer @ signal)
    score = math.sqrt(layers[-1].shape[1]) * (layers[-1] @ signal)[0]
    if loss == "logistic":
        return torch.nn.functional.softplus(score) - y * score
    return torch.sqrt(1 + (score - y) ** 2) - 1


@every_kind
def test_the_gradient_is_the_derivative_of_the_loss(depth: int, loss: str) -> None:
    """By central differences, and by torch's automatic differentiation; no weights drawn are near a kink."""
    rng = np.random.default_rng(4)
    values = config(depth=depth, loss=loss)
    active = 0
    for model in range(10):
        start = literal.initial(values, 3, Tape(model + 5))
        x, y = rng.normal(size=3), float(rng.integers(0, 2))
        weights = literal.flat(start)
        gradient = literal.flat(literal.gradient(start, x, y, loss))

        def height(at: Array, x: Array = x, y: float = y) -> float:
            layers = [torch.as_tensor(layer) for layer in literal.unflat(at, values, 3)]
            return float(objective(loss, layers, torch.as_tensor(x), torch.tensor(y)))

        slopes = [(height(weights + step) - height(weights - step)) / 2e-6 for step in 1e-6 * np.eye(weights.size)]
        np.testing.assert_allclose(gradient, slopes, atol=1e-7)
        free = [torch.tensor(layer, requires_grad=True) for layer in start]
        objective(loss, free, torch.as_tensor(x), torch.tensor(y)).backward()  # type: ignore[no-untyped-call]
        by_torch = np.concatenate([np.asarray(layer.grad).ravel() for layer in free])
        np.testing.assert_allclose(gradient, by_torch, rtol=1e-11, atol=1e-14)
        active += bool(gradient.any())
    assert active >= 5  # a network whose units are all dead has no gradient to compare


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_clipped_gradients_is_that_of_torch_func(depth: int, loss: str, seed: int) -> None:
    """The twin never forms a per-sample gradient; vmap over models and records of torch's gradient does."""
    rng = np.random.default_rng(seed)
    models, records, dimension, width = (int(rng.integers(*ends)) for ends in ((1, 5), (2, 9), (1, 9), (3, 9)))
    values = config(depth=depth, loss=loss, hidden_units=width)
    layers = twin.initial(values, Tape(seed, models), dimension, torch.zeros(0, dtype=torch.float64))
    shapes = ((models, records, dimension), (models, records))
    x, y = (torch.as_tensor(rng.normal(size=shape)) for shape in shapes)
    x = torch.where(torch.as_tensor(rng.random((models, records, 1)) < 0.6), x, 0)  # no record, no gradient

    def one(*point: torch.Tensor) -> torch.Tensor:
        return objective(loss, [layer.mT for layer in point[:-2]], point[-2], point[-1])

    slopes_of = torch.func.grad(one, argnums=tuple(range(depth)))
    within = torch.func.vmap(slopes_of, in_dims=(*[None] * depth, 0, 0))
    slopes = torch.cat([part.mT.flatten(2) for part in torch.func.vmap(within)(*layers, x, y)], dim=2)
    lengths = slopes.norm(dim=2)
    clip_norm = float(lengths[lengths > 0].median())
    totals = [torch.as_tensor(rng.normal(size=layer.shape)) for layer in layers]
    before = twin.flat(totals)
    norms = twin.add_clipped_sums(layers, x, y, clip_norm, loss, into=totals, times=-0.7, kept=Kept(x))
    torch.testing.assert_close(norms, lengths, rtol=1e-12, atol=1e-15)
    shares = clip_norm / lengths.clamp(min=clip_norm)
    moved = -0.7 * (shares[:, :, None] * slopes).sum(dim=1)
    torch.testing.assert_close(twin.flat(totals), before + moved, rtol=1e-11, atol=1e-13)


def test_the_start_has_the_law_of_the_text() -> None:
    """N(0, 2/m), and N(0, 1/m) in the last layer: chi-square tests at 1e-6 each, on a fixed seed."""
    start = literal.initial(config(hidden_units=100), 20, Tape(6))
    assert [layer.shape for layer in start] == [(100, 20), (100, 100), (1, 100)]
    for layer, variance in zip(start, (2 / 100, 2 / 100, 1 / 100), strict=True):
        law = stats.chi2(layer.size)
        assert law.ppf(0.5e-6) < (layer**2).sum() / variance < law.isf(0.5e-6)
    assert abs(np.corrcoef(start[0].ravel(), start[1].ravel()[:2000])[0, 1]) < 5 / math.sqrt(2000)  # 1e-6


def test_outputs_at_the_start_have_variance_one() -> None:
    """E f(W(0), x)^2 = |x|^2 at every depth and number of units: 20,000 networks, 5 standard errors (1e-6)."""
    values = config(depth=3, hidden_units=10)
    tape = Tape(7, 20_000)
    x = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64).expand(20_000, 1, 3)
    layers = twin.initial(values, tape, 3, x)
    squares = np.asarray(twin.network(layers, x)[0][:, 0]) ** 2
    assert abs(squares.mean() - 1) < 5 * squares.std() / math.sqrt(20_000)
    alone = literal.network(literal.initial(values, 3, tape.one(9)), np.array([0.6, 0.0, 0.8]))
    assert alone**2 == pytest.approx(squares[9], rel=1e-10)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_linearisation_is_affine_and_touches_the_network_at_the_start(depth: int) -> None:
    """f is homogeneous of degree L, so Definition 8 as printed, with W for W - W(0), would be (1 + L) f at W(0)."""
    rng = np.random.default_rng(depth)
    values = config(depth=depth, hidden_units=8)
    start = literal.initial(values, 3, Tape(8))
    x = rng.normal(size=3)
    at_start = literal.network(start, x)
    assert at_start != 0
    assert linearised(start, start, x) == at_start
    one, other = ([layer + rng.normal(size=layer.shape) for layer in start] for _ in range(2))
    between = [0.3 * a + 0.7 * b for a, b in zip(one, other, strict=True)]
    ends = linearised(one, start, x), linearised(other, start, x)
    assert linearised(between, start, x) == pytest.approx(0.3 * ends[0] + 0.7 * ends[1], rel=1e-11)
    slopes = literal.network_gradient(start, x)
    printed = at_start + sum(float(np.sum(s * w)) for s, w in zip(slopes, start, strict=True))
    assert printed == pytest.approx((1 + depth) * at_start, rel=1e-11)

    def error(size: float) -> float:
        near = [w0 + size * (w - w0) for w, w0 in zip(one, start, strict=True)]
        return literal.network(near, x) - linearised(near, start, x)

    assert error(1e-3) / error(1e-4) == pytest.approx(100, rel=0.1)  # second order, where no unit changes sides
    layers, first = ([torch.as_tensor(layer.T.copy())[None] for layer in group] for group in (one, start))
    inputs = torch.as_tensor(np.stack([x, 2 * x]))[None]
    at_first, moved = torch.func.jvp(
        lambda *point: twin.network(list(point), inputs)[0], tuple(first),
        tuple(w - w0 for w, w0 in zip(layers, first, strict=True)),
    )
    assert float((at_first + moved)[0, 0]) == pytest.approx(ends[0], rel=1e-11)


def test_noise_alone_is_averaged_as_the_text_says() -> None:
    """Almost no gradient, a wide ball: (1/T) sum of W(1..T) = W(0) - eta sum_s (T - s)/T G_s, s = 0, ..., T - 1."""
    features, labels = data()
    values, tape = config(clip_norm="1e-14", layer_radius="1e6"), Tape(9)
    size = literal.flat(literal.initial(values, 3, tape)).size
    noise = sum((4 - step) / 4 * 0.2 * tape.short_normal("noise", step, size)[0] for step in range(4))
    expected = literal.flat(literal.initial(values, 3, tape)) - 0.3 * literal.flat(literal.drawn(noise, values, 3))
    for result in (
        ALGORITHM.reference(features, labels, values, tape), ALGORITHM.train_batched(features, labels, values, tape)[0],
    ):
        np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("centre", "length"), [("start", 0.2), ("origin", 0.4)])
def test_every_layer_is_projected_on_its_own_ball(centre: str, length: float) -> None:
    """R / sqrt(m) = 0.2 around the start, R = 0.4 around 0: after a step of noise that leaves them, on the spheres."""
    features, labels = data()
    values, tape = config(centre=centre, noise_on_mean=100, steps=1), Tape(10)
    start = literal.initial(values, 3, tape)
    for result in (
        ALGORITHM.reference(features, labels, values, tape), ALGORITHM.train_batched(features, labels, values, tape)[0],
    ):
        for layer, first in zip(literal.unflat(np.asarray(result), values, 3), start, strict=True):
            moved = layer - first if centre == "start" else layer
            assert np.linalg.norm(moved) == pytest.approx(length, rel=1e-11)
    quiet = config(noise_on_mean="1e-9", clip_norm="0.01", steps=1, layer_radius=1)
    near = ALGORITHM.reference(features, labels, quiet, tape)
    assert 0 < np.linalg.norm(near - literal.flat(start)) < 0.4  # inside: not pushed to the sphere


def test_all_layers_are_clipped_as_one_vector() -> None:
    """One record, always drawn, almost no noise: a step has length eta C over all the weights, not C a layer."""
    features, labels = data(1)
    values = config(
        clip_norm="0.01", noise_on_mean="1e-13", batch_size=1, dataset_size=1, steps=1, layer_radius=1, hidden_units=8
    )
    start = literal.flat(literal.initial(values, 3, Tape(3)))
    for result in (
        ALGORITHM.reference(features, labels, values, Tape(3)),
        np.asarray(ALGORITHM.train_batched(features, labels, values, Tape(3)))[0],
    ):
        assert np.linalg.norm(result - start) == pytest.approx(0.3 * 0.01, rel=1e-8)


def test_hidden_units_are_exchangeable() -> None:
    """Renaming the units of a hidden layer renames the gradient and leaves the output."""
    rng = np.random.default_rng(7)
    layers = literal.initial(config(hidden_units=8), 3, Tape(11))
    x, units = rng.normal(size=3), rng.permutation(8)
    renamed = [layers[0][units], layers[1][:, units], layers[2]]
    assert literal.network(renamed, x) == pytest.approx(literal.network(layers, x), rel=1e-12)
    once, again = literal.gradient(layers, x, 1.0, "logistic"), literal.gradient(renamed, x, 1.0, "logistic")
    np.testing.assert_allclose(again[0], once[0][units], rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(again[1], once[1][:, units], rtol=1e-11, atol=1e-15)


def test_the_order_of_the_records_does_not_matter_where_all_are_drawn() -> None:
    features, labels = data()
    order = np.random.default_rng(0).permutation(6)
    values = config(batch_size=6)
    once = ALGORITHM.reference(features, labels, values, Tape(2))
    again = ALGORITHM.reference(features[order], labels[order], values, Tape(2))
    np.testing.assert_allclose(again, once, rtol=1e-10)


def test_both_record_the_same_batches_norms_and_sums() -> None:
    check_records(ALGORITHM, data(), config(hidden_units=8), rtol=1e-10)


def test_what_is_proved_is_that_of_sampled_gaussian_steps() -> None:
    """The same steps by two other bounds: DP-SGD's, and with everyone drawn the composition of T Gaussians."""
    values = config(dataset_size=60, batch_size=7, steps=30, noise_on_mean="0.1")
    [judged] = plan_of_training(ALGORITHM, values, records=60, delta="1e-5").judged
    assert judged.parameters["sampling_rate"] == "7/60"
    ours = proved_epsilon(ALGORITHM, values, records=60, delta="1e-5")
    given = {"clip_norm": "0.5", "dataset_size": 60, "batch_size": 7, "noise_on_mean": "0.1", "steps": 30}
    assert ours.overlaps(oracle.bound("dp-sgd.epsilon").at({**given, "neighbours": "replace", "delta": "1e-5"}))
    at: dict[str, Any] = {"records": 6, "delta": "1e-5"}
    everyone = proved_epsilon(ALGORITHM, config(batch_size=6, noise_on_mean="0.5"), **at)
    plain = oracle.bound("gaussian-composed.epsilon").at({"sigma": 3, "sensitivity": 1, "steps": 4, "delta": "1e-5"})
    assert everyone.overlaps(plain)
    for centre in vocabulary.centre.choices:  # projections are post-processing
        assert proved_epsilon(ALGORITHM, config(centre=centre, batch_size=6, noise_on_mean="0.5"), **at) == everyone


@pytest.mark.parametrize(("changes", "message"), [
    ({"depth": 1}, "depth"), ({"hidden_units": 0}, "hidden_units"), ({"loss": "squared"}, "loss"),
    ({"centre": "middle"}, "centre"), ({"layer_radius": 0}, "layer_radius"), ({"noise_on_mean": 0}, "noise_on_mean"),
    ({"noise_on_mean": -1}, "noise_on_mean"), ({"clip_norm": 0}, "clip_norm"),
])
def test_a_configuration_outside_its_domain_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        config(**changes)


def test_data_that_do_not_fit_are_refused_by_both_and_prove_nothing() -> None:
    features, labels = data()
    for train in (ALGORITHM.reference, ALGORITHM.train_batched):
        with pytest.raises(DomainError, match="must be 0 or 1"):
            train(features, labels + 0.5, config(), Tape(0))
        for changes, message, unmet in (
            ({"dataset_size": 7}, "not the number", "the data have dataset_size records"),
            ({"batch_size": 7}, "no such sampling rate", "batch_size is at most dataset_size"),
        ):
            with pytest.raises(DomainError, match=message):
                train(features, labels, config(**changes), Tape(0))
            with pytest.raises(DomainError, match=f"not met: .*{unmet}"):
                proved_epsilon(ALGORITHM, config(**changes), records=6, delta="1e-5")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("centre", ["start", "origin"])
def test_distances_that_need_no_measuring_change_no_bit(
    centre: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over radii that no layer, some layers and all layers reach; the origin is first measured from, then reckoned."""
    measured, norm = [0], torch.linalg.matrix_norm

    def counted(*args: Any) -> torch.Tensor:
        measured[0] += 1
        return norm(*args)

    monkeypatch.setattr(torch.linalg, "matrix_norm", counted)
    counts = []
    for radius in ("0.01", 1, 4, 8, 16, 1000):
        values = config(centre=centre, layer_radius=radius, noise_on_mean="0.05")
        measured[0] = 0
        result = ALGORITHM.train_batched(*data(), values, Tape(5, 4), dtype=dtype)
        counts.append(measured[0])
        with monkeypatch.context() as patch:
            patch.setattr(twin._Ball, "reach", property(lambda _: math.inf, lambda *_: None), raising=False)
            always = ALGORITHM.train_batched(*data(), values, Tape(5, 4), dtype=dtype)
        assert torch.equal(result, always)
    assert counts[0] == BASE["steps"] * BASE["depth"]  # every layer in every step
    assert counts[-1] == (0 if centre == "start" else BASE["depth"])


def test_records_beyond_the_usual_number_count_as_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One record is usual here, two places are filled for all, and some models have three or more."""
    values = config(batch_size=1, dataset_size=12, layer_radius=2, hidden_units=8)
    tape, given = Tape(3, 40), data(records=12)
    sizes = np.array([tape.bernoulli("batch", step, 12, 1 / 12).sum(axis=1) for step in range(values.steps)])
    assert sizes.min() == 0
    assert (sizes > 2).any(axis=1).sum() >= 2  # in two steps or more
    check_twins(ALGORITHM.reference, ALGORITHM.train_batched, given, values, tape)
    batches = twin.drawn_batches
    monkeypatch.setattr(twin, "drawn_batches", lambda *given, **absent: (
        tuple(part[:, :2] for part in batch) for batch in batches(*given, **absent)
    ))
    with pytest.raises(AssertionError, match="is not"):
        check_twins(ALGORITHM.reference, ALGORITHM.train_batched, given, values, tape)
