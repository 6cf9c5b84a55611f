"""DP-GLMtron, DP-TAGLMtron and their baselines: exact laws, closed forms, symmetries, guarantees and errors."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import optimize, stats

import oracle
from empirical.mutants.tapes import unshuffled
from oracle.algorithms.glmtron import glmtron, torch_glmtron
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError
from oracle.core.planning import PROVED, plan, plan_of_training, proved_epsilon
from oracle.core.tape import Tape
from tests.checks import check_twins
from tests.samples import normal_data

Array = NDArray[np.float64]
NAMES = ("dp-glmtron", "glm-dp-sgd", "dp-taglmtron", "dp-ftrl")
SHUFFLED, TREES = NAMES[:2], NAMES[2:]
every_name = pytest.mark.parametrize("name", NAMES)


def noise_key(name: str) -> str:
    """A pass names its noise by what a record moves, 2 gamma; the tree by gamma."""
    return "noise_multiplier" if name in TREES else "noise_over_sensitivity"


def config(name: str, noise: Any = "0.7", **changes: Any) -> Values:
    given = {
        "learning_rate": "0.25", "clip_norm": "0.5", noise_key(name): noise, "initial_std": "0.5", "clip": "shorten",
    }
    if name in TREES:
        given["neighbours"] = "replace"
    return oracle.algorithm(name).parse({**given, **changes})


def data(records: int = 11, dimension: int = 3, seed: int = 0) -> tuple[Array, Array]:
    return normal_data(seed, records, dimension)


def both(name: str, x: Array, y: Array, values: Values, tape: Tape) -> list[Array]:
    """The models of the reference and of the twin."""
    item = oracle.algorithm(name)
    alone = np.array([item.reference(x, y, values, tape.one(model)) for model in range(tape.models)])
    return [alone, np.asarray(item.train_batched(x, y, values, tape))]


# --- the vector of a record


def test_the_gradient_is_that_of_the_loss_and_glmtron_drops_the_indicator() -> None:
    rng = np.random.default_rng(2)
    signs = set()
    for _ in range(50):
        x, w, y = rng.normal(size=4), rng.normal(size=4), float(rng.normal())
        score = float(x @ w)
        signs.add(score > 0)
        leaf = torch.tensor(w, requires_grad=True)
        (0.5 * (torch.relu(torch.tensor(x) @ leaf) - y) ** 2).backward()
        assert leaf.grad is not None
        np.testing.assert_allclose(glmtron.vector(x, y, w, indicator=True), leaf.grad.numpy(), atol=1e-14)
        differences = [
            ((max(x @ (w + step), 0) - y) ** 2 - (max(x @ (w - step), 0) - y) ** 2) / 4e-6 for step in 1e-6 * np.eye(4)
        ]
        np.testing.assert_allclose(glmtron.vector(x, y, w, indicator=True), differences, atol=1e-6)
        np.testing.assert_allclose(glmtron.vector(x, y, w, indicator=False), (max(score, 0) - y) * x, rtol=1e-14)
        for indicator in (True, False):
            r = torch_glmtron.factors(*torch.tensor([[score], [y]], dtype=torch.float64), indicator=indicator)
            np.testing.assert_allclose(float(r) * x, glmtron.vector(x, y, w, indicator=indicator), atol=1e-14)
    assert signs == {True, False}


@pytest.mark.parametrize(("clip", "lengths"), [
    ("shorten", {100.0: 1.0, 1.0: 1.0, 0.1: 0.1, 0.0: 0.0}),
    ("printed-max", {100.0: 100.0, 1.0: 1.0, 0.1: 1.0, 0.0: 0.0}),
])
def test_clipping_shortens_and_the_misprint_lengthens(clip: str, lengths: dict[float, float]) -> None:
    direction = np.array([0.6, -0.8])
    for length, expected in lengths.items():
        np.testing.assert_allclose(glmtron.clipped(length * direction, 1.0, clip), expected * direction, rtol=1e-15)
        r = torch_glmtron.clipped(torch.tensor([-length]), torch.ones(1), 1.0, clip)
        assert float(r) == pytest.approx(-expected, rel=1e-6)


# --- closed forms on the tape


def weights(name: str, records: int) -> Array:
    """How much of step t's move is in the average: of w_0..w_{N-1} for a pass, of w_1..w_N on prefix sums."""
    later = records - 1 - np.arange(records) if name in SHUFFLED else records - np.arange(records)
    return np.asarray(later / records)


def noise_of(name: str, values: Values, tape: Tape, records: int, dimension: int) -> Array:
    """The noise in the average iterate, from the tape, without any training."""
    std = float(getattr(values, noise_key(name)) * values.clip_norm)
    if name in SHUFFLED:
        draws = [tape.normal("noise", t, dimension)[0] for t in range(records)]
        return np.asarray(-float(values.learning_rate) * 2 * std * weights(name, records) @ np.array(draws))
    total = np.zeros(dimension)
    for k in range(1, records + 1):
        while k:  # the node that ends at k, then that before it, ...
            total += std * tape.normal("node", k - 1, dimension)[0]
            k &= k - 1
    return np.asarray(-float(values.learning_rate) * total / records)


@every_name
@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_records_without_features_leave_only_noise(name: str, neighbours: str) -> None:
    values = config(name, **({"neighbours": neighbours} if name in TREES else {}))
    x, y = np.zeros((11, 3)), np.ones(11)
    tape = Tape(3, 4)
    for models in both(name, x, y, values, tape):
        for model in range(4):
            own = tape.one(model)
            expected = 0.5 * own.normal("initial", 0, 3)[0] + noise_of(name, values, own, 11, 3)
            np.testing.assert_allclose(models[model], expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["dp-glmtron", "dp-taglmtron"])
def test_far_labels_make_every_step_as_long_as_the_clipping_norm(name: str) -> None:
    """Labels beyond any score: every clipped vector is -gamma x/|x|, and the release is exactly Gaussian."""
    values, (x, _) = config(name), data()
    y = np.full(len(x), 1e9)
    units = x / np.linalg.norm(x, axis=1, keepdims=True)
    tape = Tape(4, 4)
    for models in both(name, x, y, values, tape):
        for model in range(4):
            own = tape.one(model)
            order = own.permutation("order", 0, len(x))[0] if name in SHUFFLED else np.arange(len(x))
            mean = 0.25 * 0.5 * weights(name, len(x)) @ units[order]
            expected = 0.5 * own.normal("initial", 0, 3)[0] + mean + noise_of(name, values, own, len(x), 3)
            np.testing.assert_allclose(models[model], expected, rtol=1e-10)


def test_the_variance_of_the_noise_is_the_closed_form() -> None:
    """Per coordinate (2 eta f gamma)^2 sum_t (1 - (t+1)/N)^2 for the pass; (eta f gamma)^2 and all pairs for the tree.

    A chi-square of 12,000 normals a side: the test errs with probability 2e-6.
    """
    records = 6
    for name in ("dp-glmtron", "dp-taglmtron"):
        values = config(name, initial_std=0)
        models = np.asarray(oracle.algorithm(name).train_batched(np.zeros((records, 3)), np.ones(records), values,
                                                                Tape(9, 4000)))
        if name in SHUFFLED:
            variance = sum((1 - (t + 1) / records) ** 2 for t in range(records))
        else:
            pairs = itertools.product(range(1, records + 1), repeat=2)
            variance = sum((min(j, k) >> (j ^ k).bit_length()).bit_count() for j, k in pairs) / records**2
        variance *= ((2 if name in SHUFFLED else 1) * 0.25 * 0.7 * 0.5) ** 2
        statistic = float((models**2).sum()) / variance
        assert 1e-6 < stats.chi2(models.size).cdf(statistic) < 1 - 1e-6


@pytest.mark.parametrize("name", SHUFFLED)
def test_the_order_is_uniform(name: str) -> None:
    """Three records of far labels in one dimension each: the average tells the order. The test errs once in 10^6."""
    values = config(name, initial_std=0 if name == "dp-glmtron" else 1, noise="1e-9", clip_norm="1e-6")
    models = np.asarray(oracle.algorithm(name).train_batched(np.eye(3), np.full(3, 1e9), values, Tape(8, 6000)))
    if name == "glm-dp-sgd":  # a record moves its coordinate if that is positive at the start, which the others do not
        start = Tape(8, 6000).normal("initial", 0, 3)
        kept = (start > 1e-3).all(axis=1)
        models = (models - start)[kept]
    moves = np.rint(models / (0.25 * 1e-6 / 3)).astype(int)  # 2, 1 and 0 for the first, second and third place
    assert set(map(tuple, moves)) == set(itertools.permutations(range(3)))
    counts = [int((moves == order).all(axis=1).sum()) for order in itertools.permutations(range(3))]
    assert stats.chisquare(counts).pvalue > 1e-6


def test_in_the_identity_region_the_pass_is_least_squares() -> None:
    """Positive features and labels, small steps: all scores are positive, and the recursion is affine."""
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.1, 1, (9, 2)), rng.uniform(5, 6, 9)
    for name in NAMES[::2]:
        values = config(name, learning_rate="0.05", clip_norm=1000, noise="1e-15", initial_std=0)
        order = Tape(6).permutation("order", 0, 9)[0] if name in SHUFFLED else np.arange(9)
        w, iterates = np.zeros(2), [np.zeros(2)]
        for i in order:
            w = w - 0.05 * np.outer(x[i], x[i]) @ w + 0.05 * y[i] * x[i]
            iterates.append(w)
        average = np.mean(iterates[:-1] if name in SHUFFLED else iterates[1:], axis=0)
        for models in both(name, x, y, values, Tape(6)):
            np.testing.assert_allclose(models[0], average, rtol=1e-9)


@pytest.mark.parametrize(("passed", "tree"), [("dp-glmtron", "dp-taglmtron"), ("glm-dp-sgd", "dp-ftrl")])
def test_without_noise_the_tree_takes_the_same_steps(passed: str, tree: str) -> None:
    """On equal records the order is nothing: N times mean(w_1..w_N), and w_0, are N + 1 times mean(w_0..w_N)."""
    changes = {"noise": "1e-14"}
    x, y = np.tile([0.3, -1.2], (8, 1)), np.full(8, 2.0)
    for model in range(3):
        start = 0.5 * Tape(1, 3).one(model).normal("initial", 0, 2)[0]
        one = both(passed, x, y, config(passed, **changes), Tape(1, 3))
        other = both(tree, x[:7], y[:7], config(tree, **changes), Tape(1, 3))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(8 * a[model], start + 7 * b[model], rtol=1e-9)


@every_name
def test_at_zero_the_baselines_have_no_gradient_and_glmtron_moves(name: str) -> None:
    heard: list[Array] = []

    def recorder(kind: str, **facts: Any) -> None:
        if kind == "update" and facts["step"] == 0:
            heard.append(np.asarray(facts["clipped_sum"]).ravel())

    oracle.algorithm(name).reference(*data(), config(name, initial_std=0), Tape(2), recorder=recorder)
    oracle.algorithm(name).train_batched(*data(), config(name, initial_std=0), Tape(2), recorder=recorder)
    assert [bool(first.any()) for first in heard] == [name in ("dp-glmtron", "dp-taglmtron")] * 2


# --- symmetries


@every_name
def test_scaling_labels_and_clipping_scales_the_model(name: str) -> None:
    """The update is homogeneous in (w, y, gamma): by a power of two all bits stay."""
    (x, y), tape = data(), Tape(7, 5)
    scaled = {"clip_norm": "2", "initial_std": "2"}
    for small, large in zip(
        both(name, x, y, config(name), tape), both(name, x, 4 * y, config(name, **scaled), tape), strict=True
    ):
        np.testing.assert_array_equal(4 * small, large)


@pytest.mark.parametrize("name", ["dp-glmtron", "dp-taglmtron"])
def test_turning_the_features_turns_the_model(name: str) -> None:
    """From zero, and up to the noise, which is not turned with them and next to nothing here."""
    (x, y), tape = data(), Tape(7, 3)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    values = config(name, initial_std=0, noise="1e-13")
    for plain, turned in zip(both(name, x, y, values, tape), both(name, x @ turn, y, values, tape), strict=True):
        np.testing.assert_allclose(plain @ turn, turned, atol=1e-10)


@pytest.mark.parametrize("name", SHUFFLED)
def test_the_tape_only_chooses_the_order(name: str) -> None:
    x, y = data()
    order = Tape(5).permutation("order", 0, len(x))[0]
    item = oracle.algorithm(name)
    shuffled = item.reference(x, y, config(name), Tape(5))
    np.testing.assert_array_equal(shuffled, item.reference(x[order], y[order], config(name), unshuffled(Tape(5))))
    assert not np.allclose(shuffled, item.reference(x, y, config(name), unshuffled(Tape(5))))


@every_name
def test_the_recorder_hears_every_step_of_both(name: str) -> None:
    item, (x, y), tape = oracle.algorithm(name), data(), Tape(7, 3)
    together: list[tuple[str, dict[str, Any]]] = []
    item.train_batched(x, y, config(name), tape, recorder=lambda kind, **facts: together.append((kind, facts)))
    updates = [facts for kind, facts in together if kind == "update"]
    norms = [np.asarray(facts["norms"]).reshape(3) for kind, facts in together if kind == "samples"]
    assert len(updates) == len(norms) == len(x)
    std = 2 * 0.7 * 0.5 if name in SHUFFLED else 0.7 * 0.5  # 2 f gamma a step, f gamma a node
    assert all(facts["noise_std"] == pytest.approx(std) for facts in updates)
    for model in range(3):
        alone: list[tuple[str, dict[str, Any]]] = []
        item.reference(x, y, config(name), tape.one(model), recorder=lambda k, a=alone, **f: a.append((k, f)))
        for kind, facts in alone:
            if kind == "update":
                expected = np.asarray(updates[facts["step"]]["clipped_sum"])[model]
                np.testing.assert_allclose(facts["clipped_sum"], expected, atol=1e-12)
                assert np.linalg.norm(facts["clipped_sum"]) <= 0.5 * (1 + 1e-12)
                assert facts["noise_std"] == pytest.approx(std)
            else:
                assert facts["norm"] == pytest.approx(norms[facts["step"]][model], abs=1e-12)
        samples = [facts["sample"] for kind, facts in alone if kind == "sample"]
        assert sorted(samples) == list(range(len(x)))


# --- what is proved


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least epsilon of the Gaussian curve, by scipy."""
    def spare(epsilon: float) -> float:
        second = np.exp(epsilon + stats.norm.logcdf(-mu / 2 - epsilon / mu))
        return float(stats.norm.cdf(mu / 2 - epsilon / mu) - second - delta)

    return float(optimize.brentq(spare, 0, 100, xtol=1e-13))


def epsilon(name: str, records: int, delta: Any, **changes: Any) -> Any:
    return proved_epsilon(oracle.algorithm(name), config(name, **changes), records=records, delta=delta)


@pytest.mark.parametrize("name", TREES)
def test_the_tree_is_one_gaussian_release_of_its_nodes(name: str) -> None:
    for records, nodes in ((1, 1), (7, 3), (8, 4), (550, 10)):
        for neighbours, move in (("replace", 2), ("add_remove", 1)):  # of a node by a record, in clipping norms
            truth = gaussian_epsilon(move * np.sqrt(nodes) / 5, 1e-5)
            lower, upper = epsilon(name, records, "1e-5", noise=5, neighbours=neighbours).to_floats()
            assert lower == pytest.approx(truth, rel=1e-9)
            assert upper == pytest.approx(truth, rel=1e-9)


def test_the_printed_noise_of_the_tree_is_half_of_what_it_promises() -> None:
    """Theorem 5.1's f gamma under replace, for epsilon = 1 at delta = 1e-5: it is 1.628."""
    printed = Fraction(np.sqrt(2 * 10 * np.log(1e5)))
    value = epsilon("dp-taglmtron", 550, "1e-5", noise=printed)
    assert not value.possibly_le(Fraction("1.62"))
    assert value.certainly_le(Fraction("1.64"))
    assert epsilon("dp-taglmtron", 550, "1e-5", noise=printed, neighbours="add_remove").certainly_le(1)


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_the_training_the_plan_and_the_bound_mean_one_multiplier(neighbours: str) -> None:
    """Noise over the clipping norm: what a node's noise is in a run, and one epsilon three times."""
    told: list[Any] = []
    values = config("dp-taglmtron", noise=20, neighbours=neighbours)
    oracle.algorithm("dp-taglmtron").reference(
        *data(), values, Tape(1), recorder=lambda kind, **facts: told.append(facts.get("noise_std"))
    )
    assert set(told) == {None, 20 * 0.5}
    common = {"noise_multiplier": 20, "dataset_size": 60, "delta": "1e-3", "neighbours": neighbours}
    trained = epsilon("dp-taglmtron", 60, "1e-3", noise=20, neighbours=neighbours)
    given = {
        **common, "epochs": 1, "clip": "shorten", "thresholds": "fixed", "released": "average_iterate",
        "late_noise": "true",
    }
    planned = plan(oracle.algorithm("dp-taglmtron"), given).best
    direct = oracle.bound("taglmtron.epsilon").at(common)
    assert planned is not None
    assert planned.epsilon is not None
    assert planned.epsilon.overlaps(direct)
    assert trained.overlaps(direct)


@pytest.mark.parametrize("name", SHUFFLED)
def test_the_pass_is_no_worse_than_one_gaussian_release(name: str) -> None:
    for records in (1, 20, 550):
        upper = epsilon(name, records, "9.67e-4", noise="3.5143").to_floats()[1]
        assert upper <= gaussian_epsilon(1 / 3.5143, 9.67e-4) * (1 + 1e-9)
    assert upper == pytest.approx(0.2, rel=1e-3)  # the example of `dp-oracle plan`


@every_name
def test_the_misprint_has_no_guarantee_but_trains(name: str) -> None:
    item = oracle.algorithm(name)
    with pytest.raises(DomainError, match=r"no guarantee: .* no record's vector is longer than the clipping norm"):
        epsilon(name, 10, "1e-5", clip="printed-max")
    check_twins(item.reference, item.train_batched, data(), config(name, clip="printed-max"), Tape(1, 3))


@every_name
@pytest.mark.parametrize("changes", [
    {"learning_rate": 0}, {"noise": 0}, {"clip_norm": 0}, {"noise": "nan"}, {"initial_std": -1},
    {"clip": "max"}, {"neighbours": "both"},
])
def test_a_configuration_outside_its_domain_is_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(DomainError):
        config(name, **changes)


def test_the_four_are_registered() -> None:
    items: list[Algorithm] = [oracle.algorithm(name) for name in NAMES]
    plans = [plan_of_training(item, config(item.name), records=10, delta="1e-5") for item in items]
    proved = [{found.guarantee.bound for found in each.judged if found.status == PROVED} for each in plans]
    assert proved == [{"glmtron.epsilon", "gaussian.epsilon"}] * 2 + [{"taglmtron.epsilon"}] * 2
    assert {item.released for item in items} == {"average_iterate"}
