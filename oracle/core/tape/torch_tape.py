"""The tape on a device: the same words, made where the models are trained, so that no processor core feeds a GPU.

Words are bit for bit those of the tape on the host, and so are uniforms, batches, orders and counts. Normals and other
laws are made of them by the device's own elementary functions in the same formulas: the same but for the last bits.
What is drawn is a tensor on the device, and drawing reads nothing back from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from oracle.core.tape import WORDS_PER_COUNT, Tape, places_below, poisson_table
from oracle.core.tape.aes_words import WORDS_PER_BLOCK
from oracle.core.tape.torch_words import aes, philox, shifted, signed

_BLOCK_WORDS = 1 << 22
"""Of normals made at a time: some ten tensors of so many words are alive meanwhile."""


@dataclass(frozen=True)
class TorchTape(Tape):
    """The draws of a block of models on a device; normals in float64 unless the tape is `single`."""

    device: torch.device = field(default=torch.device("cpu"), compare=False, kw_only=True)

    def words(self, purpose: str, step: int, count: int) -> Any:
        """Raw 64-bit words as int64 of the same bits, shape [models, count]."""
        _, words = next(self._word_blocks(purpose, step, count, rows=self.models))
        return words

    def uniform(self, purpose: str, step: int, count: int) -> Any:
        """Independent uniforms strictly between 0 and 1, shape [models, count], in float64."""
        return _inside(self.words(purpose, step, count))

    def bernoulli(self, purpose: str, step: int, count: int, rate: float) -> Any:
        """Independent events of probability `rate`, shape [models, count]."""
        return shifted(self.words(purpose, step, count), 11) < places_below(rate)

    def permutation(self, purpose: str, step: int, count: int) -> Any:
        """A uniform permutation of 0, ..., count - 1 for every model, shape [models, count]."""
        turned = self.words(purpose, step, count) ^ signed(1 << 63)  # in signed order as the words are in unsigned
        return turned.argsort(dim=1, stable=True)

    def laplace(self, purpose: str, step: int, count: int) -> Any:
        """Independent standard Laplace variables (scale 1), shape [models, count]."""
        centred = self.uniform(purpose, step, count) - 0.5
        return -centred.sign() * (-2.0 * centred.abs()).log1p()

    def exponential_norm(self, purpose: str, step: int, dimension: int) -> Any:
        """Vectors of density proportional to e^{-|v|}, shape [models, dimension]."""
        direction = self.normal(purpose + "/direction", step, dimension)
        direction = direction / torch.linalg.vector_norm(direction, dim=1, keepdim=True)
        return direction * -self.uniform(purpose + "/length", step, dimension).log().sum(dim=1, keepdim=True)

    def poisson(self, purpose: str, step: int, mean: float) -> Any:
        """A Poisson number for every model, shape [models], by inverting the distribution function at one uniform."""
        table = torch.as_tensor(poisson_table(mean)).to(self.device)
        return torch.searchsorted(table, self.uniform(purpose, step, 1)[:, 0].contiguous())

    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        """Independent standard normals, shape [models, dimension]."""
        pairs = -(-dimension // 2)
        both = self._empty(self.models, 2 * pairs)
        for models, words in self._word_blocks(purpose, step, 2 * pairs, rows=_BLOCK_WORDS // max(1, 2 * pairs)):
            radius = (_inside(words[:, :pairs]).log() * -2.0).sqrt().to(both)
            turn = words[:, pairs:].to(both) * 2.0**-64 if self.single else _inside(words[:, pairs:])
            turn = turn * (2.0 * math.pi)
            torch.mul(radius, turn.cos(), out=both[models, :pairs])
            torch.mul(radius, turn.sin(), out=both[models, pairs:])
        return both[:, :dimension]

    def short_normal(self, purpose: str, step: int, dimension: int) -> Any:
        """Independent standard normals of 32 bits each, shape [models, dimension]."""
        pairs = -(-dimension // 2)
        both = self._empty(self.models, 2 * pairs)
        for models, radius, cosine, sine in self.short_pairs(purpose, step, dimension):
            torch.mul(radius, cosine, out=both[models, :pairs])
            torch.mul(radius, sine, out=both[models, pairs:])
        return both[:, :dimension]

    def short_pairs(self, purpose: str, step: int, dimension: int) -> Iterator[tuple[slice, Any, Any, Any]]:
        """The same normals of a few models at a time: the place of these, radii, cosines and sines, [models, pairs]."""
        pairs = -(-dimension // 2)
        blocks = -(-pairs // WORDS_PER_BLOCK)
        key, like = self.key(purpose, step, b"short"), self._empty(0)
        for models in self._rows(max(1, _BLOCK_WORDS // max(1, WORDS_PER_BLOCK * blocks))):
            count = models.stop - models.start
            raw = aes(key, (self.first_model + models.start) * blocks, count * blocks, self.device)
            words = raw.view(count, -1)[:, : 2 * pairs]
            unsigned = words[:, :pairs].to(torch.int64) & 0xFFFFFFFF
            places = (unsigned.to(torch.float32) + 0.5) * 2.0**-32
            turn = words[:, pairs:].to(like) * (2.0 * math.pi * 2.0**-32)
            yield models, (places.to(like).log() * -2.0).sqrt(), turn.cos(), turn.sin()

    def _empty(self, *shape: int) -> torch.Tensor:
        kind = torch.float32 if self.single else torch.float64
        return torch.empty(shape, dtype=kind, device=self.device)

    def _rows(self, rows: int) -> Iterator[slice]:
        for first in range(0, self.models, rows):
            yield slice(first, min(first + rows, self.models))

    def _word_blocks(self, purpose: str, step: int, count: int, rows: int) -> Iterator[tuple[slice, torch.Tensor]]:
        """The words [models, count], those of so many models at a time."""
        whole = -(-count // WORDS_PER_COUNT)
        name = self.key(purpose, step)
        key = int.from_bytes(name[:8], "little"), int.from_bytes(name[8:], "little")
        for models in self._rows(max(1, rows)):
            counters = (models.stop - models.start) * whole
            raw = philox(key, (self.first_model + models.start) * whole, counters, self.device)
            yield models, raw.view(models.stop - models.start, -1)[:, :count]


def _inside(words: torch.Tensor) -> torch.Tensor:
    """The first 53 bits of the words and a half as multiples of 2^-53, strictly between 0 and 1."""
    return ((shifted(words, 11).to(torch.float64) + 0.5) * 2.0**-53).clamp(max=1.0 - 2.0**-53)
