"""How much work a check may do: the everyday amount, or twenty times it under `dp-oracle check --full`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FULL = 20
_factor: ContextVar[int] = ContextVar("effort", default=1)


def points(everyday: int) -> int:
    """How many points, boxes or repetitions to spend where the everyday check spends that many."""
    return everyday * _factor.get()


@contextmanager
def full() -> Iterator[None]:
    """Do the full amount of work inside."""
    token = _factor.set(_FULL)
    try:
        yield
    finally:
        _factor.reset(token)
