"""The line by which a command says that it has begun: what it loads and plans may take seconds, and its work hours.

On a terminal it is the first thing that happens, and it stands until the command says something itself or shows a bar.
In a log it stays, and only campaigns of many works have it, after all that could be refused: what judges one target may
find as late as in its process that it cannot be used, and whatever fails is told in one line.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Sequence

from oracle.core.domain import printable

_LONGEST = 200  # characters of a command line that are told

_begun: str | None = None  # what a log is still to be told
_standing = 0  # characters that stand on the terminal


def begin(words: Sequence[str]) -> None:
    """Say on a terminal what has begun; a log hears it from `tell`."""
    global _begun, _standing
    what = printable(" ".join(words))[:_LONGEST]
    with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody may listen
        if not sys.stderr.isatty():
            _begun = f"{what}: begun"
            return
        text = f"{what[: max(0, shutil.get_terminal_size().columns - 10)]}: begun"
        sys.stderr.write(f"{text}\r")
        sys.stderr.flush()
        _standing = len(text)


def tell() -> None:
    """Say in a log that the work begins, once."""
    global _begun
    text, _begun = _begun, None
    if text is not None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()


def end(*, over: bool = False) -> None:
    """Take the line from the terminal, for something else is said now; when all is over, no log hears it any more."""
    global _begun, _standing
    _begun = None if over else _begun
    width, _standing = _standing, 0
    if width:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(f"\r{' ' * width}\r")
            sys.stderr.flush()
