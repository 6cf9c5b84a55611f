"""Each claim is checked once in a process, however many tests ask for its finding."""

from __future__ import annotations

import functools
from typing import Any

from theorems.claim import Checked, check, claim, judge
from theorems.verdict import Finding


@functools.cache
def found(name: str) -> Checked:
    """The claim of that id, checked."""
    return check(claim(name))


def judged(name: str, says: Any) -> Finding:
    """What the checker of the claim of that id finds about another statement, under the claim's hypotheses."""
    return judge(claim(name), says)
