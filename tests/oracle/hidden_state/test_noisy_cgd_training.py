"""Training: the tape's draws, the twins' agreement, what a recorder sees, the accounting, the law of the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import oracle
from oracle.algorithms.hidden_state import noisy_cgd, torch_noisy_cgd
from oracle.algorithms.shared import glm, torch_glm
from oracle.algorithms.shared.conditions import contraction as contraction_of
from oracle.core import torch_twin
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.planning import DOES_NOT_APPLY, PROVED, plan_of_training
from oracle.core.tape import Tape
from tests.checks import check_twins

ALGORITHM = oracle.algorithm("noisy-cgd")
DELTA = Fraction(1, 10**5)
Data = tuple[NDArray[np.float64], NDArray[np.float64]]
BASE: dict[str, Any] = {
    "loss": "logistic", "learning_rate": "0.3", "regularisation": "0.1", "clip_norm": "0.5", "noise_on_mean": "0.2",
    "batch_size": 2, "epochs": 3,
    "feature_norm": 1,
}


def config(**changes: Any) -> Values:
    return ALGORITHM.parse({**BASE, **changes})


def data(records: int = 6, dimension: int = 3, seed: int = 0) -> Data:
    """Features of norm at most 1 (one of them zero, half of them clipped at 0.5), and labels 0 or 1."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(records, dimension))
    features *= rng.random((records, 1)) / np.linalg.norm(features, axis=1, keepdims=True)
    features[0] = 0.0
    return features, rng.integers(0, 2, records).astype(np.float64)


def batched(*args: Any, **kwargs: Any) -> Any:
    return ALGORITHM.train_batched(*args, **kwargs)


# --- the tape


@given(st.integers(0, 2**64), st.integers(1, 9), st.integers(0, 10**6), st.integers(0, 9), st.integers(1, 9))
def test_any_model_can_be_drawn_alone_or_in_a_block(seed: int, models: int, first: int, step: int, count: int) -> None:
    tape = Tape(seed, models, first)
    words, normals = tape.words("noise", step, count), tape.normal("noise", step, count)
    assert words.shape == normals.shape == (models, count)
    for model in range(models):
        np.testing.assert_array_equal(tape.one(model).words("noise", step, count), words[[model]])
        np.testing.assert_array_equal(tape.one(model).normal("noise", step, count), normals[[model]])
        np.testing.assert_array_equal(Tape(seed, 1, first + model).normal("noise", step, count), normals[[model]])
    half = models // 2
    parts = [tape.block(0, half)] if half else []
    parts.append(tape.block(half, models - half))
    np.testing.assert_array_equal(np.concatenate([part.normal("noise", step, count) for part in parts]), normals)
    np.testing.assert_array_equal(tape.block(half, models - half).one(0).words("noise", step, count), words[[half]])


def test_every_name_is_its_own_stream() -> None:
    """Seeds, purposes, steps and models: no two of 400 streams share a word (2^-64 a pair if they are independent)."""
    words: set[int] = set()
    streams = 0
    for seed in range(5):
        for purpose in ("noise", "batches", "noise/1", ""):
            for step in (0, 1, 2, 10, 12):
                block = Tape(seed, 4).words(purpose, step, 8)
                words.update(int(word) for word in block.ravel())
                streams += 4
    assert streams == 400
    assert len(words) == 400 * 8


def test_a_tape_is_fixed_for_ever() -> None:
    """The bits of a seed are part of what a recorded audit means: these were written down once and must not change."""
    expected = [
        [15828357073269219359, 9243561260379120750, 5132864846324510789],
        [6922499123443369571, 2021759963740035207, 8744521625980848499],
    ]
    assert Tape(7, 2, 3).words("noise", 5, 3).tolist() == expected
    normals = [-0.5533128590176406, -0.0038050237459444536]
    np.testing.assert_allclose(Tape(7, 2, 3).normal("noise", 5, 2)[0], normals, rtol=1e-14)


def test_normals_are_normal() -> None:
    """2 * 10^5 draws of a fixed seed; a right generator fails each of the five assertions with probability < 1e-6."""
    draws = Tape(2024, 50_000).normal("noise", 0, 4)
    flat = draws.ravel()
    count = flat.size
    assert stats.kstest(flat, "norm").pvalue > 1e-6
    assert abs(flat.mean()) < 5 / np.sqrt(count)
    assert abs(flat.var() - 1) < 5 * np.sqrt(2 / count)
    assert abs((flat**4).mean() - 3) < 5 * np.sqrt(96 / count)
    # Coordinates of one model (cosine and sine of one pair among them) and their squares are uncorrelated.
    for power in (1, 2):
        correlations = np.corrcoef(draws.T**power)[np.triu_indices(4, 1)]
        assert np.abs(correlations).max() < 5.5 / np.sqrt(50_000)
    assert np.isfinite(flat).all()


def test_models_and_steps_are_independent() -> None:
    """Correlation over 10^5 coordinates of neighbouring models and steps: each |r| < 5.5/sqrt(n), error < 1e-7."""
    tape = Tape(11, 3)
    rows = np.concatenate([tape.normal("noise", step, 100_000) for step in range(3)])
    correlations = np.corrcoef(rows)[np.triu_indices(9, 1)]
    assert np.abs(correlations).max() < 5.5 / np.sqrt(100_000)


@pytest.mark.parametrize("bad", [
    {"seed": -1}, {"seed": 0, "models": 0}, {"seed": 0, "first_model": -1}, {"seed": 0, "first_model": 2**64},
    {"seed": 0, "first_model": 2**64 - 2, "models": 3},
])
def test_a_bad_tape_is_refused(bad: dict[str, int]) -> None:
    with pytest.raises(DomainError, match="a tape needs"):
        Tape(**bad)


@pytest.mark.parametrize("model", [-1, 3, 100])
def test_a_model_outside_the_block_is_refused(model: int) -> None:
    with pytest.raises(DomainError, match=f"model = {model} is outside its domain"):
        Tape(0, 3).one(model)


@pytest.mark.parametrize(("first", "count"), [(0, 4), (3, 1), (2, 2), (-1, 2), (0, 0)])
def test_a_block_outside_the_block_is_refused(first: int, count: int) -> None:
    """A sub-block that reaches into models the tape does not have would draw another shard's noise."""
    with pytest.raises(DomainError):
        Tape(0, 3, 10).block(first, count)


# --- the twins


@given(
    records=st.integers(1, 4), batch=st.integers(1, 4), dimension=st.integers(1, 5), epochs=st.integers(1, 3),
    models=st.integers(1, 3), loss=st.sampled_from(glm.LOSSES), seed=st.integers(0, 1000),
    eta=st.floats(0.001, 2), lam=st.floats(0, 2), clip_norm=st.floats(0.01, 3), sigma=st.floats(0.001, 10),
)
def test_the_twins_agree(
    records: int, batch: int, dimension: int, epochs: int, models: int, loss: str, seed: int,
    eta: float, lam: float, clip_norm: float, sigma: float,
) -> None:
    """Any shape, loss and parameters, expanding steps included: the text and the tensor are one algorithm."""
    values = config(
        loss=loss, learning_rate=eta, regularisation=lam, clip_norm=clip_norm, noise_on_mean=sigma, batch_size=batch,
        epochs=epochs,
    )
    check_twins(ALGORITHM.reference, batched, data(records * batch, dimension, seed), values, Tape(seed, models, seed))


def test_chunks_are_invisible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of another shape may round differently in the last bits, and nothing else may."""
    values, tape = config(), Tape(3, 11)
    whole = batched(*data(), values, tape)
    chunks: list[int] = []
    original = torch_noisy_cgd.twin

    def counted(data: Any, values: Values, part: Tape, recorder: Any) -> Any:
        chunks.append(part.models)
        return original.chunk(data, values, part, recorder)

    monkeypatch.setattr(torch_noisy_cgd, "twin", replace(original, chunk=counted))
    monkeypatch.setattr(torch_twin, "CHUNK_ELEMENTS", 9)
    split = batched(*data(), values, tape)
    assert sorted(chunks) == [2, 3, 3, 3]  # on threads, in whatever order
    np.testing.assert_allclose(np.asarray(split), np.asarray(whole), rtol=1e-12)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=4), st.floats(0, 3), st.floats(0.01, 3))
def test_clipping_by_bounds_is_clipping_by_shares(rs: list[float], norm: float, clip_norm: float) -> None:
    x = np.array([norm, 0.0])
    given_r = torch.tensor([rs], dtype=torch.float64)
    cut = torch_glm.clipped(given_r, torch.full((len(rs),), norm, dtype=torch.float64), clip_norm)
    for r, clipped in zip(rs, cut[0].tolist(), strict=True):
        np.testing.assert_allclose(clipped * x, glm.clip(r * x, clip_norm), rtol=1e-14, atol=1e-300)


def test_models_differ_and_seeds_repeat() -> None:
    once, again = (np.asarray(batched(*data(), config(), Tape(3, 4))) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert len({row.tobytes() for row in once}) == 4
    assert not np.array_equal(once, np.asarray(batched(*data(), config(), Tape(4, 4))))


def test_dtype_and_device_are_those_asked_for() -> None:
    single = batched(*data(), config(), Tape(3, 4), device="cpu", dtype=torch.float32)
    assert single.dtype == torch.float32
    assert single.device == torch.device("cpu")
    double = batched(*data(), config(), Tape(3, 4))
    np.testing.assert_allclose(np.asarray(single), np.asarray(double), rtol=1e-3, atol=1e-5)


def events(kind: str, seen: list[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    return (facts for name, facts in seen if name == kind)


@pytest.mark.parametrize("loss", glm.LOSSES)
def test_the_recorder_sees_norms_and_updates_in_both(loss: str) -> None:
    features, labels = data()
    values, tape = config(loss=loss), Tape(5, 2)
    alone: list[tuple[str, dict[str, Any]]] = []
    together: list[tuple[str, dict[str, Any]]] = []
    silent = ALGORITHM.reference(features, labels, values, tape.one(1))
    heard = ALGORITHM.reference(features, labels, values, tape.one(1), recorder=lambda k, **f: alone.append((k, f)))
    np.testing.assert_array_equal(silent, heard)
    batched(features, labels, values, tape, recorder=lambda kind, **facts: together.append((kind, facts)))

    steps = 9
    norms = {(fact["step"], fact["sample"]): fact["norm"] for fact in events("sample", alone)}
    assert list(norms) == [(step, 2 * (step % 3) + i) for step in range(steps) for i in range(2)]
    blocks = list(events("samples", together))
    assert [fact["step"] for fact in blocks] == list(range(steps))
    for fact in blocks:
        for offset, sample in enumerate(range(fact["batch"].start, fact["batch"].stop)):
            assert float(fact["norms"][1, offset]) == pytest.approx(norms[fact["step"], sample], rel=1e-9, abs=1e-15)
    assert any(norm > 0.5 for norm in norms.values()) or loss != "linear", "nothing was clipped: the test is too easy"

    updates = list(zip(events("update", alone), events("update", together), strict=True))
    assert len(updates) == steps
    theta = np.zeros(3)
    for step, (one, many) in enumerate(updates):
        assert one["step"] == many["step"] == step
        assert one["noise_std"] == many["noise_std"] == 0.2
        np.testing.assert_allclose(np.asarray(many["clipped_sum"])[1], one["clipped_sum"], rtol=1e-9, atol=1e-15)
        assert float(np.linalg.norm(one["clipped_sum"])) <= 2 * 0.5 * (1 + 1e-12)
        noise = one["noise_std"] * tape.one(1).normal("noise", step, 3)[0]
        theta = theta - 0.3 * (one["clipped_sum"] / 2 + 0.1 * theta + noise)
    np.testing.assert_allclose(theta, heard, rtol=1e-12)  # what was recorded is what happened


@pytest.mark.parametrize("loss", glm.LOSSES)
def test_gradients_are_the_derivatives_of_the_losses(loss: str) -> None:
    """r(score) x is the gradient of h: by central differences of h as the paper writes it."""
    h = {
        "linear": lambda s, y: -s,
        "squared": lambda s, y: (s - y) ** 2 / 2,
        "logistic": lambda s, y: np.logaddexp(0, s) - y * s,
    }[loss]
    for score in (-3.0, -0.5, 0.0, 1.0, 4.0):
        for label in (0.0, 1.0):
            slope = (h(score + 1e-5, label) - h(score - 1e-5, label)) / 2e-5
            assert glm.residual(loss, score, label) == pytest.approx(slope, abs=1e-8)


# --- accounting and data checks


@pytest.mark.parametrize(
    ("changes", "contraction"),
    [
        ({"loss": "linear", "learning_rate": "0.1", "regularisation": "0.5"}, Fraction(19, 20)),
        ({"loss": "linear", "learning_rate": "0.1", "regularisation": 0}, Fraction(1)),
        ({"loss": "squared", "learning_rate": "0.1", "regularisation": "0.5"}, Fraction(19, 20)),
        ({"loss": "squared", "learning_rate": "1.5", "regularisation": "0.1"}, Fraction(17, 20)),
        ({"loss": "squared", "learning_rate": "0.1", "regularisation": "0", "feature_norm": 4}, Fraction(1)),
        ({"loss": "logistic", "learning_rate": "1", "regularisation": "1/3", "feature_norm": 2}, Fraction(2, 3)),
        ({"loss": "logistic", "learning_rate": "1.5", "regularisation": "1/3", "feature_norm": 2}, Fraction(1)),
    ],
)
def test_the_guarantee_is_exact(changes: dict[str, Any], contraction: Fraction) -> None:
    account = noisy_cgd.hidden(ALGORITHM.as_trained(config(**changes), records=10, delta=DELTA))
    assert account == {
        "sensitivity": 1, "batch_size": 2, "noise_on_mean": Fraction(1, 5), "contraction": contraction, "batches": 5,
        "epochs": 3,
    }
    assert oracle.bound("noisy-cgd.mu").reference(**account).lower.compare(0) > 0


@pytest.mark.parametrize("changes", [
    {
        "loss": "squared", "learning_rate": "2.1", "regularisation": 0,
    }, {"loss": "linear", "learning_rate": 3, "regularisation": 1},
    {"loss": "logistic", "learning_rate": "8.0000001", "regularisation": 0},
])
def test_expanding_steps_are_not_accounted_for(changes: dict[str, Any]) -> None:
    """What is left then is composition over all iterates."""
    found = plan_of_training(ALGORITHM, config(**changes), records=10, delta=DELTA)
    assert [item.status for item in found.judged] == [DOES_NOT_APPLY, PROVED]
    assert found.judged[0].reason == "not met: every step contracts: learning_rate <= 2/smoothness"


@given(st.sampled_from(glm.LOSSES), st.floats(0.01, 1.9), st.floats(0, 1), st.integers(0, 100))
def test_steps_contract_as_the_account_says(loss: str, eta: float, lam: float, seed: int) -> None:
    """Two models under the same noise come closer by at least c in one full-batch step, clipped or not."""
    values = config(loss=loss, learning_rate=eta, regularisation=lam, batch_size=6, epochs=1)
    features, labels = data(seed=seed)
    pair = np.random.default_rng(seed).normal(size=(2, 3)) * 3
    moved = []
    for theta in pair:
        clipped = np.zeros(3)
        for x, y in zip(features, labels, strict=True):
            gradient = glm.residual(loss, float(x @ theta), float(y)) * x
            clipped += gradient * min(1.0, 0.5 / max(float(np.linalg.norm(gradient)), 1e-300))
        moved.append(theta - eta * (clipped / 6 + lam * theta))
    ratio = float(np.linalg.norm(moved[0] - moved[1]) / np.linalg.norm(pair[0] - pair[1]))
    planned = ALGORITHM.as_trained(values, records=6, delta=DELTA)
    assert ratio <= float(contraction_of(planned)) * (1 + 1e-9)


@pytest.mark.parametrize(("broken", "message"), [
    (lambda x, y: (x[:, 0], y), "no data set"),
    (lambda x, y: (x, y[:-1]), "no data set"),
    (lambda x, y: (x, y[:, None]), "no data set"),
    (lambda x, y: (np.where(x == x.max(), np.nan, x), y), "not finite"),
    (lambda x, y: (x, np.where(y == 1, np.inf, y)), "not finite"),
    (lambda x, y: (x[:5], y[:5]), "batch_size = 2 .* divisor of the 5 records"),
    (lambda x, y: (x[:0], y[:0]), "hold no records"),
    (lambda x, y: (x * 10, y), "above the declared feature_norm = 1"),
    (lambda x, y: (x, y + 0.5), "must be 0 or 1"),
])
def test_data_that_the_account_does_not_cover_are_refused_by_both(broken: Any, message: str) -> None:
    bad = broken(*data())
    with pytest.raises(DomainError, match=message):
        ALGORITHM.reference(*bad, config(), Tape(0))
    with pytest.raises(DomainError, match=message):
        batched(*bad, config(), Tape(0))


# --- the law of the release


def test_the_release_of_the_linear_loss_has_its_closed_form_law() -> None:
    """theta_T ~ N(-eta sum_t a^(T-1-t) g_t, eta^2 sigma^2 (1 - a^(2T))/(1 - a^2) I), a = 1 - eta lambda.

    40000 models of a fixed seed; a right implementation fails with probability below 1e-5 on a random seed: four
    z-tests at 5.5 standard errors, four chi-square tests at 1e-7, six correlations at 5.5/sqrt(M), a KS test at 1e-6.
    """
    features, labels = data(records=6, dimension=4, seed=1)
    values, models = config(loss="linear", learning_rate="0.4", regularisation="0.25", epochs=4), 40_000
    final = np.asarray(batched(features, labels, values, Tape(99, models)))

    contraction, steps = 1 - 0.4 * 0.25, 12
    norms = np.linalg.norm(features, axis=1, keepdims=True)
    assert (norms > 0.5).any()
    clipped = -features * np.minimum(1.0, 0.5 / np.maximum(norms, 1e-300))
    means = [clipped[2 * j : 2 * j + 2].mean(axis=0) for j in range(3)]
    mean = -0.4 * sum(contraction ** (steps - 1 - t) * means[t % 3] for t in range(steps))
    variance = 0.4**2 * 0.2**2 * (1 - contraction ** (2 * steps)) / (1 - contraction**2)

    z = (final.mean(axis=0) - mean) / np.sqrt(variance / models)
    assert np.abs(z).max() < 5.5
    ratio = ((final - mean) ** 2).sum(axis=0) / variance
    low, high = stats.chi2.ppf(0.5e-7, models), stats.chi2.isf(0.5e-7, models)
    assert (low < ratio).all()
    assert (ratio < high).all()
    assert np.abs(np.corrcoef(final.T)[np.triu_indices(4, 1)]).max() < 5.5 / np.sqrt(models)
    assert stats.kstest(((final - mean) / np.sqrt(variance)).ravel(), "norm").pvalue > 1e-6
    assert ALGORITHM.gaussian_release(values)
    assert not ALGORITHM.gaussian_release(config(loss="squared"))
