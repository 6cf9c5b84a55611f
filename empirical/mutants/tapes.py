"""Faulty tapes, each fault once: draws that are reused, shared, scaled, not shuffled, or of another law.

A fault is a function from the right tape to a wrong one. It touches the purposes that it names (a draw's purpose up to
its first slash or the whole of it), or all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.core.tape import Tape
from oracle.core.tape.aes_words import AesWords

Fault = Callable[[Tape], Tape]


@dataclass(frozen=True)
class _Faulty(Tape):
    """A tape whose draws of some purposes are made at another step, under another name, for one model, or scaled."""

    purposes: tuple[str, ...] = field(default=(), kw_only=True)
    step_of: Callable[[int], int] = field(default=lambda step: step, kw_only=True)
    name: str = field(default="", kw_only=True)
    shared: bool = field(default=False, kw_only=True)
    factor: float = field(default=1.0, kw_only=True)

    def _touches(self, purpose: str) -> bool:
        return not self.purposes or bool({purpose, purpose.split("/")[0]} & set(self.purposes))

    def stream(self, purpose: str, step: int, count: int) -> np.random.Philox:
        """The stream of another step or name."""
        return super().stream(*self._moved(purpose, step), count)

    def short_stream(self, purpose: str, step: int, count: int) -> AesWords:
        """The stream of another step or name."""
        return super().short_stream(*self._moved(purpose, step), count)

    def _moved(self, purpose: str, step: int) -> tuple[str, int]:
        return (self.name or purpose, self.step_of(step)) if self._touches(purpose) else (purpose, step)

    def words(self, purpose: str, step: int, count: int) -> NDArray[np.uint64]:
        """The words, the first model's for all where they are shared."""
        words = super().words(purpose, step, count)
        return np.tile(words[:1], (self.models, 1)) if self.shared and self._touches(purpose) else words

    def normal(self, purpose: str, step: int, dimension: int) -> NDArray[Any]:
        """The normals, shared or scaled."""
        draws = super().normal(purpose, step, dimension)
        if not self._touches(purpose):
            return draws
        return self.factor * (np.tile(draws[:1], (self.models, 1)) if self.shared else draws)

    def short_pairs(self, purpose: str, step: int, dimension: int) -> Iterator[tuple[slice, Any, Any, Any]]:
        """The short normals; those of a few models at a time are shared among these."""
        for models, *parts in super().short_pairs(purpose, step, dimension):
            for part in parts if self.shared and self._touches(purpose) else ():
                part[:] = part[:1]
            yield models, parts[0], parts[1], parts[2]


def _faulty(kind: type[Tape], **how: Any) -> Fault:
    return lambda tape: kind(
        tape.seed, tape.models, tape.first_model, library=tape.library, single=tape.single, **how
    )


def reused(*purposes: str, first: int = 0) -> Fault:
    """The draws of the first step at every step: one noise, or the first batch, for ever."""
    return _faulty(_Faulty, purposes=purposes, step_of=lambda step: first)


def repeated(period: int, *purposes: str) -> Fault:
    """The draws begin anew after so many steps."""
    return _faulty(_Faulty, purposes=purposes, step_of=lambda step: step % period)


def held(steps: int, *purposes: str) -> Fault:
    """The draws of a step serve for the steps after it, too: new ones come after so many."""
    return _faulty(_Faulty, purposes=purposes, step_of=lambda step: step - step % steps)


def confused(name: str, *purposes: str) -> Fault:
    """The draws of one purpose in the place of others."""
    return _faulty(_Faulty, purposes=purposes, name=name)


def shared(*purposes: str) -> Fault:
    """One model's draws for all models."""
    return _faulty(_Faulty, purposes=purposes, shared=True)


def scaled(factor: float, *purposes: str) -> Fault:
    """Normals of another scale, or of the other sign."""
    return _faulty(_Faulty, purposes=purposes, factor=factor)


class _Unshuffled(Tape):
    def permutation(self, purpose: str, step: int, count: int) -> NDArray[np.int64]:
        return np.tile(np.arange(count), (self.models, 1))


class _GaussianNorms(Tape):
    def exponential_norm(self, purpose: str, step: int, dimension: int) -> NDArray[np.float64]:
        return self.normal(purpose, step, dimension)


class _NeverZero(Tape):
    def poisson(self, purpose: str, step: int, mean: float) -> NDArray[np.int64]:
        return np.maximum(super().poisson(purpose, step, mean), 1)


unshuffled = _faulty(_Unshuffled)
"""No shuffling: the order of the data."""

gaussian_norms = _faulty(_GaussianNorms)
"""Normals for the vectors of density e^-|v|."""

never_zero = _faulty(_NeverZero)
"""A Poisson number that is never zero."""
