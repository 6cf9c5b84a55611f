"""The tape: every random draw of a training run, addressable, so that two implementations see the same randomness.

A draw is named by (seed, purpose, step) and a model index. Names are hashed to a Philox key and the model index is the
counter, so any model's draws can be produced alone or in a block, in any order, on any machine, with equal bits.
Normals come from Box-Muller (a fixed number of raw words each, unlike a ziggurat), so that rows are addressable; every
other law is made of a fixed number of words, too. Their sines and cosines are numpy's, or torch's, which are several
times as fast in float64: the same normals but for the last bits. Single normals, in float32, come from the same words:
a pair of them lies within `SINGLE_ERROR` times its length (at most 8.66) of the pair in float64. Theirs are always
numpy's, which are as fast as torch's, and more than twice as fast where a processor has AVX-512.

Short normals are for models of thousands of weights: a word of 64 bits makes a pair of them, and the words come from
AES in counter mode, keyed by the name of the draw, in a fraction of the time of Philox's. The first 32 bits w of a pair
are rounded to single precision, u = (w + 1/2) / 2^32, so that in either precision the same numbers are drawn: the law
of a radius is off by at most 2^-24 in its distribution function, 2^-32 beyond a length of 4, where the grid is finer,
and no pair is longer than 6.77, which a normal pair is once in 2^33.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from oracle.core.errors import DomainError
from oracle.core.extras import told
from oracle.core.tape.aes_words import WORDS_PER_BLOCK, AesWords

LIBRARIES = ("numpy", "torch")
SINGLE_ERROR = 1e-6
"""The largest distance of a pair of normals in float32 from the pair in float64, as a share of the latter's length."""
LONGEST_PAIR = 8.66
"""No two normals of a pair are longer, as a vector: sqrt(-2 log 2^-54), rounded up."""
LONGEST_SHORT_PAIR = 6.77
"""The same of short normals: sqrt(-2 log 2^-33), rounded up."""
MOST_MODELS = 1 << 64
"""Models of a seed: no counter of theirs leaves the 128 bits of AES, whatever number of words each draws."""
WORDS_PER_COUNT = 4  # Philox4x64 yields four 64-bit words for each counter value
_BLOCK_WORDS = 1 << 17  # of normals made at a time: what becomes of them stays in the cache of a core
_BLOCK_PAIRS = 1 << 17  # of short normals: longer ones leave the cache, and on shorter calls threads lose time


@dataclass(frozen=True)
class _Key(ISeedSequence):
    """The seed of a stream that is its key; a stream given a key alone asks the system for entropy, too, slowly."""

    key: NDArray[np.uint64]

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[Any]:
        """The key."""
        return self.key


@dataclass(frozen=True)
class Tape:
    """The draws of the models first_model, ..., first_model + models - 1 under one seed.

    `library` names whose elementary functions make the normals in float64, and `single` asks for them in float32.
    """

    seed: int
    models: int = 1
    first_model: int = 0
    library: str = field(default="numpy", compare=False, kw_only=True)
    single: bool = field(default=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.seed < 0 or self.models < 1 or not 0 <= self.first_model <= MOST_MODELS - self.models:
            raise DomainError(
                f"a tape needs seed >= 0, models >= 1 and first_model >= 0, no more than 2^64 models in all, got "
                f"{self.seed}, {self.models}, {self.first_model}"
            )
        if self.library not in LIBRARIES:
            raise DomainError(f"library = {self.library} is none of {', '.join(LIBRARIES)}")

    def by(self, library: str, *, single: bool = False) -> Tape:
        """The same tape, its normals computed by a library; the draws are arrays of numpy all the same."""
        return replace(self, library=library, single=single)

    @property
    def _functions(self) -> Any:
        """The module whose elementary functions make the normals."""
        with told():
            return np if self.single else importlib.import_module(self.library)  # told: numpy or torch

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

    def key(self, purpose: str, step: int, kind: bytes = b"") -> bytes:
        """The 16 bytes that name a draw, and those of short normals apart."""
        return hashlib.blake2b(f"{self.seed}/{purpose}/{step}".encode(), digest_size=16, person=kind).digest()

    def stream(self, purpose: str, step: int, count: int) -> np.random.Philox:
        """The generator of `count` words for each model, rounded up to whole counts, where it comes to these models."""
        counter = self.first_model * -(-count // WORDS_PER_COUNT)
        seed = _Key(np.frombuffer(self.key(purpose, step), dtype=np.uint64))
        return np.random.Philox(seed, counter=counter)  # type: ignore[arg-type]  # numpy's stubs forget the interface

    def words(self, purpose: str, step: int, count: int) -> NDArray[np.uint64]:
        """Raw 64-bit words, shape [models, count]."""
        models, whole = self._shape(count)
        raw = self.stream(purpose, step, count).random_raw(models * whole)
        return np.asarray(raw, dtype=np.uint64).reshape(models, whole)[:, :count]

    def uniform(self, purpose: str, step: int, count: int) -> NDArray[np.float64]:
        """Independent uniforms strictly between 0 and 1, shape [models, count]."""
        return _inside(self.words(purpose, step, count))

    def _shape(self, count: int) -> tuple[int, int]:
        return self.models, -(-count // WORDS_PER_COUNT) * WORDS_PER_COUNT

    def bernoulli(self, purpose: str, step: int, count: int, rate: float) -> NDArray[np.bool_]:
        """Independent events of probability `rate`, shape [models, count]: a Poisson-sampled batch as a mask."""
        words = self.words(purpose, step, count)
        below = places_below(rate)
        return words < np.uint64(below << 11) if below < 1 << 53 else np.ones(words.shape, dtype=np.bool_)

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
        return np.searchsorted(poisson_table(mean), uniform, side="left").astype(np.int64)

    def normal(self, purpose: str, step: int, dimension: int) -> NDArray[Any]:
        """Independent standard normals, shape [models, dimension], in float64 unless the tape is `single`."""
        pairs = -(-dimension // 2)
        xp = self._functions
        both = xp.empty((self.models, 2 * pairs), dtype=xp.float32 if self.single else xp.float64)
        for models, words in self._blocks(purpose, step, 2 * pairs):
            _normals(xp, words, both[models])
        return np.asarray(both)[:, :dimension]

    def short_stream(self, purpose: str, step: int, count: int) -> AesWords:
        """The generator of `count` words for each model, for short normals, where it comes to these models."""
        return AesWords(self.key(purpose, step, b"short"), self.first_model * -(-count // WORDS_PER_BLOCK))

    def short_normal(self, purpose: str, step: int, dimension: int) -> NDArray[Any]:
        """Independent standard normals of 32 bits each, shape [models, dimension], in the precision of `normal`."""
        pairs = -(-dimension // 2)
        both = np.empty((self.models, 2 * pairs), dtype=np.float32 if self.single else np.float64)
        for models, *parts in self.short_pairs(purpose, step, dimension):
            radius, cosine, sine = (np.asarray(part) for part in parts)
            np.multiply(radius, cosine, out=both[models, :pairs])
            np.multiply(radius, sine, out=both[models, pairs:])
        return both[:, :dimension]

    def short_pairs(self, purpose: str, step: int, dimension: int) -> Iterator[tuple[slice, Any, Any, Any]]:
        """The same normals of a few models at a time: the place of these, radii, cosines and sines, [models, pairs].

        The first pairs of a row are radii times cosines, the others radii times sines: whoever scales and adds them has
        no need of the products. Arrays of either library, which hold until the next are asked for.
        """
        pairs = -(-dimension // 2)
        xp = self._functions
        stream, whole = self.short_stream(purpose, step, pairs), -(-pairs // WORDS_PER_BLOCK) * WORDS_PER_BLOCK
        rows = max(1, _BLOCK_PAIRS // max(1, pairs))
        shape = (min(rows, self.models), pairs)
        kept = [xp.empty(shape, dtype=xp.float32 if self.single else xp.float64) for _ in range(3)]
        for first in range(0, self.models, rows):
            models = slice(first, min(first + rows, self.models))
            count = models.stop - first
            raw = stream.random_raw(count * whole)
            radius, cosine, sine = (part[:count] for part in kept)
            _short_pairs(xp, raw.view("<u4").reshape(count, 2 * whole)[:, : 2 * pairs], radius, cosine, sine)
            yield models, radius, cosine, sine

    def _blocks(self, purpose: str, step: int, count: int) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
        """The words [models, count], those of a few models at a time."""
        stream, (_, whole) = self.stream(purpose, step, count), self._shape(count)
        rows = max(1, _BLOCK_WORDS // max(1, whole))
        for first in range(0, self.models, rows):
            models = slice(first, min(first + rows, self.models))
            raw = np.asarray(stream.random_raw((models.stop - first) * whole), dtype=np.uint64)
            yield models, raw.reshape(models.stop - first, whole)[:, :count]


def poisson_table(mean: float) -> NDArray[np.float64]:
    """The distribution function of a Poisson number at 0, 1, ...; beyond, the tail is below 2^-53."""
    most = int(mean + 40.0 * np.sqrt(mean) + 60.0)
    logs = np.cumsum(np.log(mean) - np.log(np.arange(1, most))) - mean
    return np.cumsum(np.concatenate([[np.exp(-mean)], np.exp(logs)]))


def _normals(xp: Any, words: NDArray[np.uint64], out: Any) -> None:
    """The normals that Box and Muller make of words are put into `out`, both [models, 2 pairs]."""
    pairs = words.shape[1] // 2
    radius, angle = (_single if out.dtype == xp.float32 else _double)(xp, words[:, :pairs], words[:, pairs:])
    radius *= -2.0
    xp.sqrt(radius, out=radius)
    xp.multiply(radius, xp.cos(angle), out=out[:, :pairs])
    xp.multiply(radius, xp.sin(angle, out=angle), out=out[:, pairs:])


def _short_pairs(xp: Any, words: NDArray[np.uint32], radius: Any, cosine: Any, sine: Any) -> None:
    """What Box and Muller make of words [models, 2 pairs] is put into arrays [models, pairs]."""
    pairs = words.shape[1] // 2
    single = radius.dtype == xp.float32
    places = np.asarray(radius) if single else np.empty(radius.shape, dtype=np.float32)
    np.copyto(places, words[:, :pairs], casting="unsafe")
    places += 0.5
    places *= 2.0**-32
    if not single:
        np.copyto(np.asarray(radius), places)
    xp.log(radius, out=radius)
    radius *= -2.0
    xp.sqrt(radius, out=radius)
    np.copyto(np.asarray(sine), words[:, pairs:].view(np.int32), casting="unsafe")
    sine *= 2.0 * np.pi * 2.0**-32
    xp.cos(sine, out=cosine)
    xp.sin(sine, out=sine)


def _inside(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The first 53 bits of the words and a half as multiples of 2^-53, strictly between 0 and 1."""
    places = _places(words)
    places += 0.5  # above 2^52 the half is rounded away, the last one up
    places *= 2.0**-53
    return np.minimum(places, 1.0 - 2.0**-53, out=places)


@functools.cache
def places_below(rate: float) -> int:
    """How many of the numbers that 53 bits make become uniforms below the rate: all up to the first that does not."""
    first = max(0, min(int(rate * 2.0**53), 2**53) - 3)  # it and all before it do, if it is not 0
    near = np.arange(first, min(first + 6, 2**53), dtype=np.uint64)
    return first + int(np.count_nonzero(_inside(near << np.uint64(11)) < rate))


def _places(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers that the first 53 bits of the words make."""
    # Short rows that lie apart make slow loops, once here; signed numbers convert faster.
    return (words >> np.uint64(11)).view(np.int64).astype(np.float64)


def _double(xp: Any, radii: NDArray[np.uint64], turns: NDArray[np.uint64]) -> tuple[Any, Any]:
    """The logarithms of uniforms, and the angles, of pairs of normals."""
    logarithm, angle = xp.asarray(_inside(radii)), xp.asarray(_inside(turns))
    angle *= 2.0 * np.pi
    return xp.log(logarithm, out=logarithm), angle


def _single(xp: Any, radii: NDArray[np.uint64], turns: NDArray[np.uint64]) -> tuple[Any, Any]:
    """The same in float32: the logarithm alone needs all digits, near 1, and the angle may be any that is as good."""
    logarithm = xp.asarray(_places(radii))
    logarithm += 0.5
    logarithm *= 2.0**-53  # the last one is 1 here, and its normals are 0
    xp.log(logarithm, out=logarithm)
    angle = xp.asarray(turns.view(np.int64).astype(np.float32))  # half a turn either way
    angle *= 2.0 * np.pi * 2.0**-64
    return xp.asarray(logarithm, dtype=xp.float32), angle
