"""Streaming prefix sums: the noise of a full tree, node by node, in the memory of its height."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from oracle.algorithms.glmtron.torch_tree import PrefixNoise
from oracle.algorithms.glmtron.tree import PrefixSums

Array = NDArray[np.float64]
LEAVES = 100


def full_tree(leaves: Array, noises: dict[tuple[int, int], Array], count: int) -> Array:
    """The noisy sum of the first `count` leaves as a full tree gives it: left siblings on the way from the root."""
    answer, low = np.zeros(leaves.shape[1]), 0
    for level in reversed(range(count.bit_length())):
        if count >> level & 1:
            high = low + 2**level
            answer += leaves[low:high].sum(axis=0) + noises[level, low >> level]
            low = high
    assert low == count
    return answer


def membership(streamed: str) -> Array:
    """Which nodes are in which answer: row k - 1 of the matrix is answer k to noises that are unit vectors."""
    units = np.eye(LEAVES)
    if streamed == "reference":
        sums = PrefixSums(LEAVES, lambda t: units[t])
        return np.array([sums.add(np.zeros(LEAVES)) for _ in range(LEAVES)])
    noise = PrefixNoise()
    return np.array([noise.add(torch.tensor(units[t])).numpy() for t in range(LEAVES)])


both = pytest.mark.parametrize("streamed", ["reference", "batched"])


def test_the_stream_is_the_full_tree_on_the_same_noise() -> None:
    rng = np.random.default_rng(1)
    leaves = rng.normal(size=(LEAVES, 3))
    noises = {
        (level, index): rng.normal(size=3) for level in range(LEAVES.bit_length()) for index in range(LEAVES >> level)
    }

    def completed(t: int) -> Array:
        level = ((t + 1) & -(t + 1)).bit_length() - 1
        return noises[level, t >> level]

    sums, noise = PrefixSums(3, completed), PrefixNoise()
    for t in range(LEAVES):
        expected = full_tree(leaves, noises, t + 1)
        np.testing.assert_allclose(sums.add(leaves[t]), expected, rtol=1e-12, atol=1e-12)
        batched = leaves[: t + 1].sum(axis=0) + noise.add(torch.tensor(completed(t))).numpy()
        np.testing.assert_allclose(batched, expected, rtol=1e-12, atol=1e-12)


@both
def test_the_covariance_of_the_answers(streamed: str) -> None:
    """Answers j < k share the nodes of the binary digits they have in common from the top; alone each has popcount."""
    nodes = membership(streamed)
    assert set(np.unique(nodes)) == {0.0, 1.0}
    covariance = nodes @ nodes.T
    for k in range(1, LEAVES + 1):
        assert covariance[k - 1, k - 1] == k.bit_count()
        for j in range(1, k):
            common = (j ^ k).bit_length()  # digits below differ first at the highest of these
            assert covariance[j - 1, k - 1] == (j >> common).bit_count()


@both
def test_increments_are_anticorrelated(streamed: str) -> None:
    """The increments of the noise, which the document takes for independent, are not (Lemma E.5, lower)."""
    nodes = membership(streamed)
    increments = np.diff(nodes, axis=0, prepend=0)
    covariance = increments @ increments.T
    assert covariance[0, 1] == covariance[2, 3] == -1
    assert np.trace(covariance[:4, :4]) == 1 + 2 + 1 + 3


@both
def test_a_leaf_is_in_as_many_nodes_as_the_bound_counts(streamed: str) -> None:
    """Node t covers the leaves that its zeros at the end say; no leaf is in more than ceil(log2(N + 1)) of them."""
    nodes = membership(streamed)
    for records in (1, 2, 3, 7, 8, 64, 100):
        inside = np.zeros(records, dtype=int)
        for t in range(records):
            assert nodes[:records, t].any(), "a node that no answer uses"
            inside[t + 1 - ((t + 1) & -(t + 1)) : t + 1] += 1
        assert inside.max() == inside[0] == records.bit_length()


def test_memory_is_the_height_of_the_tree() -> None:
    sums, noise = PrefixSums(1, lambda t: np.ones(1)), PrefixNoise()
    for k in range(1, 2**10 + 1):
        answer = sums.add(np.ones(1))
        stacked = noise.add(torch.ones(1))
        assert len(sums.live) == len(noise.stack) == k.bit_count() <= 10
        assert answer[0] == k + float(stacked[0]) == k + k.bit_count()


def test_leaves_and_noises_stay_as_they_are() -> None:
    """What is handed in is not added to in place: the caller, or the tape, still owns it."""
    given: list[Any] = [np.ones(2) for _ in range(8)]
    sums, noise = PrefixSums(2, lambda t: given[t]), PrefixNoise()
    leaf, tensors = np.ones(2), [torch.ones(2) for _ in range(8)]
    for t in range(8):
        sums.add(leaf)
        noise.add(tensors[t])
    assert all((value == 1).all() for value in [leaf, *given, *tensors])
