"""Plans of the hidden-state trainings with Renyi bounds: which hypotheses they stand on, and how they compare."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from oracle.algorithms.hidden_state.langevin_gd import root_below
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, Plan, read
from oracle.core.planning import plan as planned
from oracle.core.registry import algorithms

EXAMPLES = Path(__file__).parents[3] / "examples"
ALGORITHMS = ("langevin-gd", "noisy-minibatch", "one-pass-sgd", "projected-noisy-sgd")


def plan(algorithm: str, **changes: Any) -> Plan:
    """The example's plan with some keys changed, or left out where the change is None."""
    item, given = read(EXAMPLES / f"{algorithm}.toml")
    return planned(item, {name: value for name, value in {**given, **changes}.items() if value is not None})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_hidden_state_is_proved_and_pays(algorithm: str) -> None:
    found = plan(algorithm)
    assert {item.status for item in found.judged} == {PROVED}
    hidden, composed = found.judged[0].epsilon, found.judged[-1].epsilon
    assert hidden is not None
    assert composed is not None
    assert hidden.certainly_le(composed)


BROKEN: dict[str, Any] = {
    "convex": "false", "convex_lipschitz": "false", "scalar_output": "false", "smoothness": 10**6,
    "released": "all_iterates", "later_records_public": "false",
}
CASES = [
    (algorithm, parameter.name)
    for algorithm in ALGORITHMS
    for parameter in algorithms()[algorithm].keys
    if parameter.name in BROKEN
]


@pytest.mark.parametrize(("algorithm", "key"), CASES)
def test_every_hypothesis_counts(algorithm: str, key: str) -> None:
    """Not met, it takes the hidden-state guarantees with it; not said, they are conditional. Composition stays.

    It needs short gradients, though: where nothing is clipped, somebody has to say that they are.
    """
    short = {"gradients_bounded": "true"} if key == "convex_lipschitz" else {}
    *hidden, composed = plan(algorithm, **{key: BROKEN[key]}, **short).judged
    assert {item.status for item in hidden} == {DOES_NOT_APPLY}
    assert composed.status == PROVED
    if key != "released":
        *hidden, composed = plan(algorithm, **{key: None}, **short).judged
        assert {item.status for item in hidden} == {CONDITIONAL}
        assert composed.status == PROVED


@pytest.mark.full
@pytest.mark.parametrize("algorithm", ["one-pass-sgd", "projected-noisy-sgd"])
@pytest.mark.parametrize(("said", "status"), [(None, CONDITIONAL), ("false", DOES_NOT_APPLY), ("true", PROVED)])
def test_composition_of_unclipped_gradients_needs_their_bound(algorithm: str, said: Any, status: str) -> None:
    """That lipschitz is a key does not make it true."""
    for convex in ("false", None):
        found = plan(algorithm, convex_lipschitz=convex, gradients_bounded=said).judged[-1]
        assert found.status == status


def test_every_key_that_can_break_is_a_case() -> None:
    assert {key for _, key in CASES} == set(BROKEN)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_relation_counts(algorithm: str) -> None:
    assert plan(algorithm, neighbours="add_remove").best is None


@pytest.mark.parametrize("sampling", ["poisson", "cyclic"])
def test_the_sampling_counts(sampling: str) -> None:
    assert plan("projected-noisy-sgd", sampling=sampling).best is None


def test_without_a_diameter_nothing_is_known_of_the_set() -> None:
    hidden, composed = plan("projected-noisy-sgd", diameter=None).judged
    assert (hidden.status, hidden.epsilon) == (CONDITIONAL, None)
    assert composed.status == PROVED


def test_all_records_of_one_pass_gain_nothing() -> None:
    """The last record's epsilon through Renyi divergences, and exactly: the second is less."""
    hidden, composed = plan("one-pass-sgd", record_position=10000, later_records_public=None).judged
    assert hidden.status == PROVED
    assert hidden.epsilon is not None
    assert composed.epsilon is not None
    assert composed.epsilon.certainly_le(hidden.epsilon)


def test_the_other_notation_says_the_same() -> None:
    """sigma sqrt(2/eta) = 15 C/b: the mini-batch plan has NoisyCGD's epsilon."""
    other = planned(*read(EXAMPLES / "noisy-cgd.toml")).judged[0].epsilon
    same = plan("noisy-minibatch").judged[1].epsilon
    assert other is not None
    assert same is not None
    assert abs(float(other.upper.to_fraction()) - float(same.upper.to_fraction())) < 1e-5


@pytest.mark.parametrize("square", ["2", "1/3", "1e-50", "1e50", "7e-9", "4"])
def test_a_root_from_below(square: str) -> None:
    exact = Fraction(square)
    root = root_below(exact)
    assert root**2 <= exact <= (root * (1 + Fraction(1, 10**29))) ** 2
