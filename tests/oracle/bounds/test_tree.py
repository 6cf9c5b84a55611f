"""Tree aggregation: the levels counted on explicit trees, second opinions, identities and bad input."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.making.points import fixed_points
from oracle.bounds.matrix.tree_aggregation import levels
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_second_opinion

EPSILON = oracle.bound("tree.epsilon")
WORDS = ("replace", "add_remove")


def padded_paths(leaves: int) -> list[int]:
    """How many nodes of the padded complete tree lie above or on each leaf: the nodes are listed and counted."""
    size = 1
    while size < leaves:
        size *= 2
    counts, block = [0] * leaves, 1
    while block <= size:
        for start in range(0, size, block):
            for leaf in range(start, min(start + block, leaves)):
                counts[leaf] += 1
        block *= 2
    return counts


def ragged_depth(leaves: int) -> int:
    """Nodes on the longest path of a tree whose nodes split their leaves as evenly as they can."""
    return 1 if leaves == 1 else 1 + ragged_depth((leaves + 1) // 2)


@pytest.mark.parametrize("leaves", [*range(1, 70), 127, 128, 129, 1000])
def test_levels_are_the_nodes_on_a_path(leaves: int) -> None:
    assert set(padded_paths(leaves)) == {levels(leaves)}
    assert ragged_depth(leaves) == levels(leaves)


@given(data=st.data())
def test_contracts_anywhere(data: st.DataObject) -> None:
    check_anywhere(EPSILON, data)


@pytest.mark.parametrize("neighbours", WORDS)
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.999999999999999"])
@pytest.mark.parametrize("leaves", [1, 3, 2**20, 2**20 + 1, 10**300])
def test_second_opinion_at_extremes(leaves: int, delta: str, neighbours: str) -> None:
    check_second_opinion(
        EPSILON, {"noise_multiplier": "2.5", "leaves": leaves, "delta": delta, "neighbours": neighbours}
    )


@pytest.mark.parametrize("noise", ["0.01", "1", "30"])
def test_one_leaf_is_one_gaussian_release(noise: str) -> None:
    common: dict[str, Any] = {"delta": "1e-5", "width": "1e-30"}
    for word, shift in (("add_remove", 1), ("replace", 2)):
        tree = EPSILON.reference(noise_multiplier=noise, leaves=1, neighbours=word, **common)
        assert tree.overlaps(oracle.bound("gdp.epsilon").reference(mu=shift / Fraction(noise), **common))


@pytest.mark.parametrize("leaves", [5, 1000])
def test_a_tree_is_a_composition_of_its_levels(leaves: int) -> None:
    common: dict[str, Any] = {"delta": "1e-5", "width": "1e-30"}
    tree = EPSILON.reference(noise_multiplier=3, leaves=leaves, neighbours="replace", **common)
    path = padded_paths(leaves)[0]
    composed = oracle.bound("gaussian-composed.epsilon").reference(sigma=3, sensitivity=2, steps=path, **common)
    assert tree.overlaps(composed)


@pytest.mark.parametrize("power", [1, 10, 52])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_fast_counts_levels_exactly_at_powers_of_two(power: int, library: str) -> None:
    near = [2**power - 1, 2**power, 2**power + 1] if power > 1 else [1, 2, 3]
    for word in WORDS:
        check_fast(EPSILON, [
            {"noise_multiplier": 3.0, "leaves": leaves, "delta": 1e-5, "neighbours": word} for leaves in near
        ], library)
    values = np.asarray(EPSILON.fast(noise_multiplier=3.0, leaves=np.array(near), delta=1e-5, neighbours="replace"))
    assert values[2] > values[1] * 1.001
    assert (values[0] == values[1]) == (power > 1)


@pytest.mark.parametrize("word", WORDS)
def test_fast_for_every_word(word: str) -> None:
    check_fast(EPSILON, [{**p, "neighbours": word} for p in fixed_points(EPSILON, 60, seed=13)], "torch")


@pytest.mark.parametrize("name", ["noise_multiplier", "delta", "leaves"])
def test_strictly_monotone_inside(name: str) -> None:
    params: dict[str, Any] = {"noise_multiplier": 3, "leaves": 64, "delta": Fraction(1, 10**5), "neighbours": "replace"}
    step = 65 if name == "leaves" else params[name] * (1 + Fraction(1, 10**10))
    check_monotone(EPSILON, params, name, step, certain=True)


def test_replacing_costs_more_than_zeroing() -> None:
    zeroed, replaced = (
        EPSILON.reference(noise_multiplier=3, leaves=64, delta="1e-5", neighbours=word)
        for word in ("add_remove", "replace")
    )
    assert zeroed.certainly_le(replaced)
    assert not replaced.possibly_le(zeroed)


@pytest.mark.parametrize(
    ("name", "value"),
    [("leaves", 0), ("leaves", "2.5"), ("noise_multiplier", 0), ("delta", 1), ("neighbours", "any")],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {
        "noise_multiplier": 1, "leaves": 4, "delta": "1e-5", "neighbours": "replace", name: value,
    }
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)
