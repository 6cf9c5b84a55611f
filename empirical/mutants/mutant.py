"""What a mutant is: a known bug, planted, that our checks must flag (or, where it is harmless, must not).

A mutant is a record: what it changes (`changes`), of what (`of`: the name of a bound, an algorithm, an estimator or a
module), how bad that is, where it was seen, which checks must catch it and which must not fire. A check is a named
function that plants the bug, looks, and answers in words. A mutant is KILLED when everything that must catch it does,
SPARED when it is equivalent and nothing fires; SURVIVED and FALSE_ALARM are failures.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from empirical.estimators.estimators import ESTIMATORS
from oracle.core.errors import DomainError, OracleError
from oracle.core.plain import picked
from oracle.core.registry import algorithms, bounds, discover, index, named

SEVERITIES = {
    "C": ("critical", "the stated guarantee is false"),
    "T": ("theoretical", "only an unusual adversary could use it"),
    "N": ("negligible", "too small to matter"),
    "U": ("utility only", "privacy stands: more noise, a looser bound, or a worse model than promised"),
    "E": ("equivalent", "looks wrong, is right, and must not be flagged"),
}
SLIP = "a slip of the pen, planted"


@dataclass(frozen=True)
class Detection:
    """Whether a check flagged the planted bug, and what it saw."""

    flagged: bool
    detail: str


@dataclass(frozen=True)
class Change:
    """What a bug changes, and how: inside `plant(thing)` stands the wrong thing in the place of the right one."""

    what: str
    plant: Callable[[Any], AbstractContextManager[Any]]


NOTHING = Change("nothing", nullcontext)


@dataclass(frozen=True)
class Mutant:
    """A planted bug. `at` tells its checks where to look; `id` is what it changes of what, if nothing shorter."""

    of: str
    title: str
    changes: Change
    severity: str = field(kw_only=True)
    origin: str = field(kw_only=True)
    caught_by: tuple[str, ...] = field(default=(), kw_only=True)
    spared_by: tuple[str, ...] = field(default=(), kw_only=True)
    at: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    id: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", f"{self.of}: {self.title}")
        if self.severity not in SEVERITIES:
            raise OracleError(f"mutant {self.id}: severity = {self.severity} is none of {', '.join(SEVERITIES)}")
        if self.equivalent == bool(self.caught_by) or self.equivalent > bool(self.spared_by):
            raise OracleError(f"mutant {self.id}: harm must be caught by a check, what is equivalent spared by one")

    @property
    def equivalent(self) -> bool:
        """Whether it looks wrong and is right."""
        return self.severity == "E"

    def planted(self) -> AbstractContextManager[Any]:
        """The context in which the bug stands; what it gives is the wrong thing."""
        return self.changes.plant(thing(self.of))

    def honest(self) -> Mutant:
        """The same record without the bug: no check may flag it."""
        return replace(self, changes=NOTHING)


@dataclass(frozen=True)
class Check:
    """A named check: whether it flags a mutant; `reads` are the keys of `at` that it looks at."""

    name: str
    run: Callable[[Mutant], Detection]
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A mutant with what became of it: what each of its checks saw."""

    mutant: Mutant
    seen: Mapping[str, Detection]

    @property
    def outcome(self) -> str:
        """KILLED or SPARED is good; SURVIVED or FALSE_ALARM is not."""
        if any(self.seen[name].flagged for name in self.mutant.spared_by):
            return "FALSE_ALARM"
        if self.mutant.equivalent:
            return "SPARED"
        return "KILLED" if all(self.seen[name].flagged for name in self.mutant.caught_by) else "SURVIVED"

    @property
    def good(self) -> bool:
        """Whether the checks did what they should."""
        return self.outcome in ("KILLED", "SPARED")

    @property
    def detail(self) -> str:
        """What the checks saw."""
        return "; ".join(found.detail for found in self.seen.values())

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle mutants`."""
        words = picked(self.mutant, "id", "severity", "title", "origin")  # the rest of it is code
        return words | picked(self, "outcome", "good", "detail")


def thing(name: str) -> Any:
    """The bound, algorithm, estimator or module of that name, as it should be."""
    for table in (bounds(), algorithms(), ESTIMATORS):
        if name in table:
            return table[name]
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DomainError(f"of = {name} is no bound, no algorithm, no estimator and no module") from error


def gathered(package: str) -> Iterator[Mutant]:
    """The mutants in the tuples MUTANTS of the modules below a package."""
    for info in pkgutil.walk_packages(importlib.import_module(package).__path__, prefix=package + "."):
        yield from getattr(importlib.import_module(info.name), "MUTANTS", ())


@functools.cache
def mutants(*packages: str) -> dict[str, Mutant]:
    """All mutants by id: ours, and those of further packages."""
    every = [item for package in (__package__, *packages) for item in gathered(package)]
    return index(every, lambda item: item.id)


@functools.cache
def checks(*packages: str) -> dict[str, Check]:
    """All checks by name: ours, and those of further packages."""
    return index(discover(Check, __package__, *packages), lambda item: item.name)


def judge(item: Mutant, known: Mapping[str, Check] | None = None) -> Judged:
    """Run the checks that a mutant names."""
    table = checks() if known is None else known
    return Judged(item, {name: named(table, "check", name).run(item) for name in (*item.caught_by, *item.spared_by)})
