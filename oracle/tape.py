"""The tape: every random draw of a training run, addressable, so that two implementations see the same randomness.

A draw is named by (seed, purpose, step) and a model index. Names are hashed to a Philox key and the model index is the
counter, so any model's draws can be produced alone or in a block, in any order, on any machine, with equal bits.
Normals come from Box-Muller (a fixed number of raw words each, unlike a ziggurat), so that rows are addressable; every
other law is made of a fixed number of words, too. Their logarithms, sines and cosines are numpy's, or torch's, which
are several times as fast: the same normals but for the last bits.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.errors import DomainError

LIBRARIES = ("numpy", "torch")
_WORDS_PER_COUNT = 4  # Philox4x64 yields four 64-bit words for each counter value


@dataclass(frozen=True)
class Tape:
    """The draws of the models first_model, ..., first_model + models - 1 under one seed.

    `library` names whose elementary functions make the normals.
    """

    seed: int
    models: int = 1
    first_model: int = 0
    library: str = field(default="numpy", compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.seed < 0 or self.models < 1 or self.first_model < 0:
            raise DomainError(
                f"a tape needs seed >= 0, models >= 1 and first_model >= 0, got {self.seed}, {self.models}, "
                f"{self.first_model}"
            )
        if self.library not in LIBRARIES:
            raise DomainError(f"library = {self.library} is none of {', '.join(LIBRARIES)}")

    def by(self, library: str) -> Tape:
        """The same tape, its normals computed by a library; the draws are arrays of numpy all the same."""
        return replace(self, library=library)

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

    def uniform(self, purpose: str, step: int, count: int) -> NDArray[np.float64]:
        """Independent uniforms strictly between 0 and 1, shape [models, count]."""
        uniform: NDArray[np.float64] = (self.words(purpose, step, count) >> np.uint64(11)).astype(np.float64)
        uniform += 0.5  # above 2^52 the half is rounded away, the last one up
        uniform *= 2.0**-53
        return np.minimum(uniform, 1.0 - 2.0**-53, out=uniform)

    def bernoulli(self, purpose: str, step: int, count: int, rate: float) -> NDArray[np.bool_]:
        """Independent events of probability `rate`, shape [models, count]: a Poisson-sampled batch as a mask."""
        return self.uniform(purpose, step, count) < rate

    def permutation(self, purpose: str, step: int, count: int) -> NDArray[np.int64]:
        """A uniform permutation of 0, ..., count - 1 for every model, shape [models, count]; two words in 2^64 tie."""
        return np.argsort(self.words(purpose, step, count), axis=1, kind="stable").astype(np.int64)

    def laplace(self, purpose: str, step: int, count: int) -> NDArray[np.float64]:
        """Independent standard Laplace variables (scale 1), shape [models, count]."""
        centred = self.uniform(purpose, step, count) - 0.5
        return -np.sign(centred) * np.log1p(-2.0 * np.abs(centred))

    def exponential_norm(self, purpose: str, step: int, dimension: int) -> NDArray[np.float64]:
        """Vectors of density proportional to e^{-|v|}, shape [models, dimension]: uniform directions, Gamma(d) long."""
        direction = self.normal(purpose + "/direction", step, dimension)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        length: NDArray[np.float64] = -np.log(self.uniform(purpose + "/length", step, dimension)).sum(axis=1)
        return direction * length[:, None]

    def poisson(self, purpose: str, step: int, mean: float) -> NDArray[np.int64]:
        """A Poisson number for every model, shape [models], by inverting the distribution function at one uniform."""
        uniform = self.uniform(purpose, step, 1)[:, 0]
        most = int(mean + 40.0 * np.sqrt(mean) + 60.0)  # beyond, the tail is below 2^-53
        logs = np.cumsum(np.log(mean) - np.log(np.arange(1, most))) - mean
        table = np.cumsum(np.concatenate([[np.exp(-mean)], np.exp(logs)]))
        return np.searchsorted(table, uniform, side="left").astype(np.int64)

    def normal(self, purpose: str, step: int, dimension: int) -> NDArray[np.float64]:
        """Independent standard normals, shape [models, dimension]."""
        pairs = -(-dimension // 2)
        uniform = self.uniform(purpose, step, 2 * pairs).reshape(self.models, 2, pairs)
        xp: Any = importlib.import_module(self.library)
        first, second = xp.asarray(np.ascontiguousarray(uniform.swapaxes(0, 1)))  # short rows make slow loops
        radius, angle = xp.sqrt(-2.0 * xp.log(first)), 2.0 * np.pi * second
        both = xp.concatenate([radius * xp.cos(angle), radius * xp.sin(angle)], axis=1)
        return np.asarray(both)[:, :dimension]
