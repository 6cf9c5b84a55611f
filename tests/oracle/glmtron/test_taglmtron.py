"""DP-TAGLMtron: nodes counted on a running tree, the document's noise held to the truth, inverses and bad input."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

import oracle
from oracle.algorithms.glmtron.taglmtron_privacy import nodes
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_second_opinion
from tests.opinion import number

EPSILON, SIGMA = oracle.bound("taglmtron.epsilon"), oracle.bound("taglmtron.sigma")
WORDS = ("replace", "add_remove")


def released_nodes(records: int) -> list[int]:
    """Run the binary counter: after each leaf, one node is complete (it absorbs the smaller ones); count its leaves."""
    counts, active = [0] * records, []
    for leaf in range(records):
        start, size = leaf, 1
        for position in range(start, start + size):
            counts[position] += 1
        while active and active[-1][1] == size:
            start, size = active.pop()[0], 2 * size
            for position in range(start, start + size):
                counts[position] += 1
        active.append((start, size))
    return counts


def printed_noise(records: int, epsilon: str, delta: str) -> Fraction:
    """f = sqrt(2 ceil(lg(N+1)) ln(1/delta)) / epsilon of Lemma E.1 and Theorem 5.1, to forty digits."""
    with mp.workdps(50):
        levels = mp.ceil(mp.log(records + 1, 2) - mp.mpf(10) ** -30)
        value = mp.sqrt(2 * levels * mp.log(1 / number(delta))) / number(epsilon)
        return Fraction(mp.nstr(value, 40))


@pytest.mark.parametrize("records", [*range(1, 66), 127, 128, 550])
def test_the_first_leaf_enters_the_most_nodes(records: int) -> None:
    counts = released_nodes(records)
    assert max(counts) == counts[0] == nodes(records)


@pytest.mark.full
@pytest.mark.parametrize("bound", [EPSILON, SIGMA], ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize("neighbours", WORDS)
@pytest.mark.parametrize("delta", ["1e-200", "1e-5", "0.999999999999999"])
@pytest.mark.parametrize("records", [1, 3, 2**20 - 1, 2**20, 10**300], ids=["1", "3", "before", "power", "huge"])
def test_second_opinion_at_extremes(records: int, delta: str, neighbours: str) -> None:
    common = {"dataset_size": records, "delta": delta, "neighbours": neighbours}
    check_second_opinion(EPSILON, {**common, "noise_multiplier": "2.5"})
    check_second_opinion(SIGMA, {**common, "epsilon": "0.7"})


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("records", [1, 2, 5, 8, 550])
def test_a_complete_tree_is_the_other_one_and_no_other_costs_more(records: int, word: str) -> None:
    point: dict[str, Any] = {"noise_multiplier": 5, "delta": "1e-5", "neighbours": word, "width": "1e-25"}
    ours, padded = EPSILON.reference(dataset_size=records, **point), oracle.bound("tree.epsilon").reference(
        leaves=records, **point
    )
    assert ours.overlaps(padded) if records in (1, 2, 8) else ours.certainly_le(padded)
    composed = oracle.bound("gaussian-composed.epsilon").reference(
        sigma=5, sensitivity=2 if word == "replace" else 1, steps=released_nodes(records)[0], delta="1e-5",
        width="1e-25",
    )
    assert ours.overlaps(composed)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(("epsilon", "delta"), [("0", "0.01"), ("0.05", "1e-5"), ("1", "1e-5"), ("9", "1e-12")])
def test_sigma_inverts_epsilon(epsilon: str, delta: str, word: str) -> None:
    least = SIGMA.reference(dataset_size=550, epsilon=epsilon, delta=delta, neighbours=word, width="1e-30")
    low, high = (
        EPSILON.reference(noise_multiplier=end.to_fraction(), dataset_size=550, delta=delta, neighbours=word)
        for end in (least.upper, least.lower)
    )
    assert low.possibly_le(Fraction(epsilon))
    assert not high.certainly_le(Fraction(epsilon) - Fraction(1, 10**9))
    assert least.width() < 1e-29


def test_replacing_takes_twice_the_noise_of_zeroing() -> None:
    zeroed, replaced = (
        SIGMA.reference(dataset_size=100, epsilon=1, delta="1e-5", neighbours=word).upper.to_fraction()
        for word in ("add_remove", "replace")
    )
    assert abs(replaced / zeroed - 2) < Fraction(1, 10**12)


# --- the document's noise


@pytest.mark.parametrize(
    ("epsilon", "delta", "true"), [("0.2", "1e-5", "0.279"), ("0.5", "1e-5", "0.759"), ("1", "1e-5", "1.628"),
                                   ("1", "0.01", "1.328")],
)
@pytest.mark.parametrize("records", [15, 550])
def test_theorem_5_1_fails_under_the_documents_own_relation(
    epsilon: str, delta: str, true: str, records: int
) -> None:
    """The printed f on noise f Gamma: replace has twice the sensitivity that it is made for."""
    noise = printed_noise(records, epsilon, delta)
    common: dict[str, Any] = {"noise_multiplier": noise, "dataset_size": records, "delta": delta}
    replaced = EPSILON.reference(neighbours="replace", **common)
    assert abs(replaced.upper.to_fraction() - Fraction(true)) < Fraction("0.0005")
    assert EPSILON.reference(neighbours="add_remove", **common).certainly_le(Fraction(epsilon))
    assert EPSILON.reference(neighbours="replace", **{**common, "noise_multiplier": 2 * noise}).certainly_le(
        Fraction(epsilon)
    )


@pytest.mark.parametrize(
    ("delta", "last", "seen"),
    [("0.01", "6.248", "6.257"), ("1e-3", "6.978", "6.997"), ("1e-5", "7.968", "7.991"), ("1e-6", "8.339", "8.348")],
)
def test_lemma_e_1_fails_from_an_epsilon_on(delta: str, last: str, seen: str) -> None:
    """Well inside its range epsilon <= 2 ln(1/delta): the printed noise is too little, under add_remove, too.

    It holds up to `last` and no further; `seen` is the first failure on a grid.
    """
    for text, holds in ((last, True), (str(Fraction(last) + Fraction("0.001")), False), (seen, False)):
        noise = printed_noise(550, text, delta)
        true = EPSILON.reference(noise_multiplier=noise, dataset_size=550, delta=delta, neighbours="add_remove")
        assert true.certainly_le(Fraction(text)) if holds else not true.possibly_le(Fraction(text))


def test_noise_drawn_before_the_clipping_norm_is_known_is_too_little() -> None:
    """Algorithm 4 as printed: nodes noised for Gamma, a later leaf of 2 Gamma; 3.367 where 1 is promised."""
    noise = printed_noise(15, "1", "0.01")
    common: dict[str, Any] = {"dataset_size": 15, "delta": "0.01", "neighbours": "replace"}
    value = EPSILON.reference(noise_multiplier=noise / 2, **common)  # f Gamma is half as much against 2 Gamma
    assert abs(value.upper.to_fraction() - Fraction("3.367")) < Fraction("0.0005")


# --- the fast path, edges and errors


@pytest.mark.parametrize("power", [1, 10, 52])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_fast_counts_nodes_exactly_at_powers_of_two(power: int, library: str) -> None:
    near = [2**power - 1, 2**power, 2**power + 1]
    for word in WORDS:
        common = {"delta": 1e-5, "neighbours": word}
        check_fast(EPSILON, [{"noise_multiplier": 3.0, "dataset_size": n, **common} for n in near], library)
        check_fast(SIGMA, [{"dataset_size": n, "epsilon": 0.5, **common} for n in near], library)
    sizes = np.array(near)
    values = np.asarray(EPSILON.fast(noise_multiplier=3.0, dataset_size=sizes, delta=1e-5, neighbours="replace"))
    assert values[1] > values[0] * 1.001
    assert values[1] == values[2]


@pytest.mark.parametrize("name", ["noise_multiplier", "delta", "dataset_size"])
def test_strictly_monotone_inside(name: str) -> None:
    params: dict[str, Any] = {
        "noise_multiplier": 3, "dataset_size": 63, "delta": Fraction(1, 10**5), "neighbours": "replace",
    }
    step = 64 if name == "dataset_size" else params[name] * (1 + Fraction(1, 10**10))
    check_monotone(EPSILON, params, name, step, certain=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("dataset_size", 0), ("dataset_size", "2.5"), ("noise_multiplier", 0), ("delta", 1), ("neighbours", "any")],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {
        "noise_multiplier": 1, "dataset_size": 4, "delta": "1e-5", "neighbours": "replace", name: value,
    }
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)
