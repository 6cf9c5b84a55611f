"""Plans of document 004's algorithms and of projected descent: every hypothesis counts, epsilons are the bounds'."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import oracle
from oracle.core import planning
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, read

EXAMPLES = Path(__file__).parents[3] / "examples"
# The flags on which the first guarantee of each example rests.
FLAGS = {
    "dp-gd": ("clipped", "fixed_size"),
    "dp-gd-projected": ("gradients_bounded",),
    "dp-sgd": ("clipped", "constant_divisor", "secret_batches", "fixed_size"),
    "output-perturbation": ("convex",),
    "objective-perturbation": ("convex", "linear_model", "unconstrained", "exact_minimiser"),
    "exponential-mechanism": ("clipped", "exact_sampling"),
    "subsample-aggregate": ("disjoint", "clipped"),
    "sufficient-statistics": ("clipped", "only_moments"),
}


def plan(name: str, **changes: Any) -> Plan:
    """The plan of an example with other keys; None takes a key away."""
    item, given = read(EXAMPLES / f"{name}.toml")
    return planning.plan(item, {key: value for key, value in {**given, **changes}.items() if value is not None})


@pytest.mark.parametrize(("name", "flag"), [(name, flag) for name, flags in FLAGS.items() for flag in flags])
def test_every_flag_counts(name: str, flag: str) -> None:
    for word, status in (("true", PROVED), ("false", DOES_NOT_APPLY), (None, CONDITIONAL)):
        assert plan(name, **{flag: word}).judged[0].status == status


def test_the_epsilons_are_those_of_the_bounds() -> None:
    for name in ("dp-gd", "objective-perturbation", "exponential-mechanism", "subsample-aggregate"):
        judged = plan(name).judged[0]
        assert judged.epsilon == oracle.bound(judged.guarantee.bound).at(judged.parameters)
    assert plan("dp-gd").claim_is_proved
    assert not plan("dp-gd", neighbours="replace").claim_is_proved, "twice the sensitivity"


@pytest.mark.parametrize(
    "name", ["output-perturbation", "exponential-mechanism", "objective-perturbation", "dp-gd-projected"]
)
def test_adding_a_record_asks_for_a_constant_size(name: str) -> None:
    statuses = [
        plan(name, neighbours="add_remove", fixed_size=word).judged[0].status for word in ("true", "false", None)
    ]
    assert statuses == [PROVED, DOES_NOT_APPLY, CONDITIONAL]
    assert plan(name, fixed_size="false").judged[0].status == PROVED, "replacing a record does not"


@pytest.mark.parametrize(("name", "key"), [
    ("output-perturbation", "solver_error"), ("output-perturbation", "lipschitz"),
    ("objective-perturbation", "lipschitz"), ("objective-perturbation", "curvature"),
    ("objective-perturbation", "noise_scale"), ("subsample-aggregate", "estimate_range"),
])
def test_a_number_that_is_not_given_proves_nothing(name: str, key: str) -> None:
    for law in ("gamma" if "perturbation" in name else "laplace", "gaussian"):
        statuses = [item.status for item in plan(name, noise_law=law, **{key: None}).judged]
        assert PROVED not in statuses
        assert CONDITIONAL in statuses


@pytest.mark.parametrize("name", ["output-perturbation", "objective-perturbation"])
def test_a_named_loss_says_how_steep_it_is(name: str) -> None:
    """The logistic loss on |x| <= 1 has slopes of at most 1 and curvatures of at most 1/4: what the examples state."""
    unsaid = dict.fromkeys(("lipschitz", "curvature", "convex", "linear_model"))
    named = plan(name, **unsaid, loss="logistic", feature_norm=1)
    assert named.best is not None
    assert named.best.parameters == plan(name).judged[0].parameters


def test_clipping_ends_say_how_far_apart_they_are() -> None:
    found = plan("subsample-aggregate", estimate_range=None, estimate_low="-0.25", estimate_high="0.75")
    assert found.best is not None
    assert found.best.parameters == plan("subsample-aggregate").judged[0].parameters
    empty = plan("subsample-aggregate", estimate_range=None, estimate_low=1, estimate_high=1).judged[0]
    assert empty.status == DOES_NOT_APPLY
    assert "estimate_low < estimate_high" in empty.reason


TARGET = {
    "noise_scale": None, "lipschitz": None, "curvature": None, "loss": "logistic", "feature_norm": 1, "epsilon": "0.5",
}


@pytest.mark.parametrize(("ridge", "added"), [("0.01", False), ("0.00001", True)])
@pytest.mark.parametrize("correction", ["cms11", "sharp"])
def test_a_target_epsilon_chooses_noise_and_ridge(ridge: str, added: bool, correction: str) -> None:
    """What is proved is the target, up to the rounding of the run's own noise, with or without more ridge."""
    found = plan("objective-perturbation", **TARGET, correction=correction, regularisation=ridge).best
    assert found is not None
    assert found.epsilon is not None
    assert found.epsilon.to_floats()[1] == pytest.approx(0.5, rel=1e-12)
    assert (Fraction(found.parameters["regularisation"]) > Fraction(ridge)) == added


def test_a_target_without_correction_proves_nothing() -> None:
    """The logarithm of the change of variables is not paid for; a loss without curvature owes nothing."""
    assert plan("objective-perturbation", **TARGET, correction="none").best is None
    straight = plan("objective-perturbation", **{**TARGET, "loss": "linear"}, correction="none").best
    assert straight is not None
    with pytest.raises(DomainError, match="epsilon = 1/2 and noise_scale = 2 are both given"):
        plan("objective-perturbation", **{**TARGET, "noise_scale": 2}, correction="sharp")


@pytest.mark.parametrize(
    ("name", "pure"),
    [("output-perturbation", "gamma"), ("objective-perturbation", "gamma"), ("subsample-aggregate", "laplace"),
     ("sufficient-statistics", "laplace")],
)
def test_the_noise_decides_which_guarantee_applies(name: str, pure: str) -> None:
    for law in (pure, "gaussian"):
        for item in plan(name, noise_law=law).judged:
            applies = ("gaussian" in item.guarantee.bound) == (law == "gaussian")
            assert (item.status == PROVED) == applies


@pytest.mark.parametrize(
    ("sampling", "neighbours", "proved"),
    [("poisson", "add_remove", [0, 2]), ("poisson", "replace", [0, 2]), ("without_replacement", "replace", [1, 2]),
     ("without_replacement", "add_remove", []), ("with_replacement", "replace", []),
     ("with_replacement", "add_remove", [])],
)
def test_how_batches_are_drawn_decides_what_is_proved(sampling: str, neighbours: str, proved: list[int]) -> None:
    judged = plan("dp-sgd", sampling=sampling, neighbours=neighbours).judged
    assert [index for index, item in enumerate(judged) if item.status == PROVED] == proved


@pytest.mark.parametrize(("neighbours", "sensitivity"), [("add_remove", 1), ("replace", 2)])
def test_known_batches_leave_composition(neighbours: str, sensitivity: int) -> None:
    """In units of clip_norm: the noise multiplier 1 against one gradient, or two."""
    best = plan("dp-sgd", secret_batches="false", neighbours=neighbours).best
    assert best is not None
    composed = oracle.bound("gaussian-composed.epsilon")
    assert best.guarantee.bound == composed.name
    assert best.epsilon == composed.reference(sigma=1, sensitivity=sensitivity, steps=1000, delta="1e-5")


def test_batches_without_replacement_have_their_own_bound() -> None:
    best = plan("dp-sgd", sampling="without_replacement", neighbours="replace").best
    assert best is not None
    amplified = oracle.bound("wor-gaussian.epsilon")
    assert best.guarantee.bound == amplified.name
    assert best.epsilon == amplified.reference(sigma=1, sampling_rate="0.01", steps=1000, delta="1e-5")


def test_a_batch_larger_than_the_data_proves_nothing() -> None:
    for sampling in ("poisson", "without_replacement"):
        found = plan("dp-sgd", sampling=sampling, neighbours="replace", batch_size=10001)
        assert all("not met: " in item.reason for item in found.judged)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        (
            "objective-perturbation",
            {"loss": "logistic", "regularisation": "0.5", "feature_norm": 1, "epsilon": 1, "correction": "sharp"},
            "the released minimiser is exact",
        ),
        (
            "exponential-mechanism",
            {
                "loss": "logistic", "loss_range": 1, "temperature": 2, "regularisation": 0, "grid_radius": 1,
                "grid_points": 5,
            },
            "the model is drawn from this law, not from an approximation to it",
        ),
    ],
)
def test_what_a_training_meets_up_to_rounding_is_not_proved_of_it(name: str, given: dict[str, Any], words: str) -> None:
    """An algorithm that is exact has the epsilon; ours has it in exact arithmetic only, and audits hold it to that."""
    item = oracle.algorithm(name)
    ours = planning.plan_of_training(item, item.parse(given), records=10, delta="1e-5")
    first = ours.judged[0]
    assert first.status == CONDITIONAL
    assert first.reason == f"met up to rounding only: {words}"
    found = {one.hypothesis.words: one.status for one in first.hypotheses}
    assert found[words] == "rounded"
    assert set(found.values()) == {"met", "rounded"}
    assert ours.best is None
    with pytest.raises(DomainError, match=f"no guarantee: .*met up to rounding only: {words}"):
        planning.proved_epsilon(item, item.parse(given), records=10, delta="1e-5")
    accounted = planning.epsilon_of_exact_arithmetic(ours)
    assert accounted == first.epsilon
    assert accounted.to_floats()[1] == pytest.approx(1.0, rel=1e-9)
    flag = {"objective-perturbation": "exact_minimiser", "exponential-mechanism": "exact_sampling"}[name]
    assert plan(name, **{flag: None}).best_of_exact_arithmetic is None, "what is not said is not rounding"
