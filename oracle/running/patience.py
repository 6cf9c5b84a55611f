"""A limit on the time of a computation in this process: processor time, so that a busy machine changes nothing.

It works in the main thread of a system that has such an alarm, and between two steps of Python; elsewhere nothing is
limited. An alarm of somebody else's that was set before is put back.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLongError(BaseException):
    """The time is over; no Exception, so that nobody on the way mistakes it for a wrong number."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let what is inside take so much processor time at most; a TooLongError ends it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    started = time.process_time()
    former = signal.signal(signal.SIGVTALRM, over)
    left, interval = signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
        if left:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(1e-3, left - (time.process_time() - started)), interval)
