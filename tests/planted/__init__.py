"""Planted bugs that only the tests can judge, as data on the machine of `empirical.mutants`; a tuple MUTANTS a file.

`tests/meta/test_planted.py` runs them all. `checks` holds the checks that need the tests' second opinions and laws.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from empirical.mutants.checks import Setting
from empirical.mutants.mutant import SLIP, Change, Mutant

wrong = partial(Mutant, severity="C", origin=SLIP, caught_by=("second opinion", "safe side"))
"""A bound that promises too much."""

loose = partial(Mutant, severity="U", origin=SLIP, caught_by=("second opinion",), spared_by=("safe side",))
"""A bound that is not the one it says, but never below it: no violation."""

misled = partial(Mutant, severity="U", origin=SLIP, caught_by=("second opinion", "safe side"))
"""A bound on risk that promises too much: nobody's privacy suffers."""


def unlike(of: str, title: str, changes: Change, severity: str, setting: Setting, **further: Any) -> Mutant:
    """A batched twin that is not the algorithm: its literal reference disagrees."""
    return Mutant(
        of, title, changes, **{"severity": severity, "origin": SLIP, "caught_by": ("twins",), **further},
        at={"setting": setting},
    )


def seen(of: str, title: str, changes: Change, *tests: Any, severity: str = "C", check: str = "its tests") -> Mutant:
    """A bug that every one of some tests must see."""
    return Mutant(of, title, changes, severity=severity, origin=SLIP, caught_by=(check,), at={"tests": tests})
