"""How much work a check may do: the everyday amount, or twenty times it under `dp-oracle check --full`; and how long.

The limit counts seconds of a processor, not of the clock, so that a busy machine changes no outcome.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from oracle.core.errors import OracleError

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


class TookTooLongError(OracleError):
    """A check was stopped at its time limit."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Stop what is inside after so many seconds of a processor; only in a main thread, where signals arrive.

    It is stopped again every second until it ends, since what is inside may catch every error, as libraries do.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TookTooLongError(f"stopped after {seconds:g} seconds of a processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
