"""Each claim is checked once in a process, however many tests ask for its finding."""

from __future__ import annotations

import functools

from theorems.claim import Checked, check, claim


@functools.cache
def found(name: str) -> Checked:
    """The claim of that id, checked."""
    return check(claim(name))
