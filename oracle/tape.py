"""The tape: every random draw of a training run, addressable, so that two implementations see the same randomness.

A draw is named by (seed, purpose, step) and a model index. Names are hashed to a Philox key and the model index is the
counter, so any model's draws can be produced alone or in a block, in any order, on any machine, with equal bits.
Normals come from Box-Muller (a fixed number of raw words each, unlike a ziggurat), so that rows are addressable.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oracle.errors import DomainError

_WORDS_PER_COUNT = 4  # Philox4x64 yields four 64-bit words for each counter value


@dataclass(frozen=True)
class Tape:
    """The draws of the models first_model, ..., first_model + models - 1 under one seed."""

    seed: int
    models: int = 1
    first_model: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0 or self.models < 1 or self.first_model < 0:
            raise DomainError(
                f"a tape needs seed >= 0, models >= 1 and first_model >= 0, got {self.seed}, {self.models}, "
                f"{self.first_model}"
            )

    def one(self, model: int) -> Tape:
        """The tape of a single model of this block."""
        if not 0 <= model < self.models:
            raise DomainError(f"model = {model} is outside its domain: an integer in [0, {self.models - 1}]")
        return replace(self, models=1, first_model=self.first_model + model)

    def block(self, first: int, count: int) -> Tape:
        """The tape of a sub-block of this block's models."""
        if first < 0 or count < 1 or first + count > self.models:
            raise DomainError(f"models {first} to {first + count - 1} are outside the block of {self.models} models")
        return replace(self, models=count, first_model=self.first_model + first)

    def words(self, purpose: str, step: int, count: int) -> NDArray[np.uint64]:
        """Raw 64-bit words, shape [models, count]."""
        key = hashlib.blake2b(f"{self.seed}/{purpose}/{step}".encode(), digest_size=16).digest()
        counts_per_model = -(-count // _WORDS_PER_COUNT)
        generator = np.random.Philox(key=np.frombuffer(key, dtype=np.uint64))
        generator.advance(self.first_model * counts_per_model)
        raw = generator.random_raw(self.models * counts_per_model * _WORDS_PER_COUNT)
        return np.asarray(raw, dtype=np.uint64).reshape(self.models, -1)[:, :count]

    def normal(self, purpose: str, step: int, dimension: int) -> NDArray[np.float64]:
        """Independent standard normals, shape [models, dimension]."""
        pairs = -(-dimension // 2)
        raw = self.words(purpose, step, 2 * pairs)
        uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53  # never 0, never 1
        radius = np.sqrt(-2.0 * np.log(uniform[:, :pairs]))
        angle = 2.0 * np.pi * uniform[:, pairs:]
        both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
        return both[:, :dimension]
