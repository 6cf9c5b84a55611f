"""Noisy prefix sums of many streams at once: the batched sibling of `tree`.

The exact prefix is a running sum. Of the noises a stack keeps, for each live node from the largest down, the sum of its
noise and of those of all larger ones: a new node replaces the smaller ones at the top, and a step is one addition.
"""

from __future__ import annotations

import torch


class PrefixNoise:
    """The noise of the answers, from the noises of the nodes in the order of their completion."""

    def __init__(self) -> None:
        self.answers = 0
        self.stack: list[torch.Tensor] = []

    def add(self, noise: torch.Tensor) -> torch.Tensor:
        """The noise of the next answer, where `noise` is that of the node that completes with it; not to be changed."""
        larger = (self.answers & (self.answers + 1)).bit_count()  # of the live nodes, those that stay
        self.answers += 1
        del self.stack[larger:]
        self.stack.append(self.stack[-1] + noise if self.stack else noise)
        return self.stack[-1]
