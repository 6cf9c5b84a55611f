r"""Noisy prefix sums of a stream by a binary tree: the literal reference (document 003, Algorithm 4).

Leaf k (k = 1, 2, ...) completes the nodes of 1, 2, 4, ..., 2^b consecutive leaves that end with it, b the number of
zeros at the end of k in binary. The largest of them is kept, with noise drawn as it completes; the live nodes below it,
which it contains, are dropped. What is live then are the nodes of the binary digits of k, which tile 1, ..., k:

    answer k = sum over the live nodes of (sum of the node's leaves + noise of the node).

Corrected, against the document: all noise is drawn at the start there, before the clipping norms are known. And its
answer is read off the digits of t: with t and the leaves counted from 0, as in Algorithm 3, the left siblings on the
path to leaf t sum to the leaves before it, without leaf t, which Algorithm 3 needs in. Here the digits are those
of t + 1.

A tree of N leaves has live nodes of at most floor(log2 N) + 1 sizes: that is all the memory. One node completes to
stay with each leaf, so that node is named by the leaf, and there are N noises in all. The other nodes of a full tree
(those that complete with a larger one that ends there, too) are in no answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oracle.algorithms.shared.glm import Array


class PrefixSums:
    """The stream's live nodes; `noise(t)` is the noise of the node that leaf t (from 0) completes."""

    def __init__(self, dimension: int, noise: Callable[[int], Array]) -> None:
        self.leaves = 0
        self.noise = noise
        self.dimension = dimension
        self.live: dict[int, tuple[Array, Array]] = {}  # level -> (sum of leaves, noise)

    def add(self, leaf: Array) -> Array:
        """Accept a leaf; the noisy sum of all leaves up to and with it."""
        self.leaves += 1
        total = leaf.copy()
        level = 0
        while level in self.live:  # two nodes of one size become one of the next
            total += self.live.pop(level)[0]
            level += 1
        self.live[level] = (total, self.noise(self.leaves - 1))
        answer = np.zeros(self.dimension)
        for exact, noise in self.live.values():
            answer += exact + noise
        return answer
