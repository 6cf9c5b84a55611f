"""What a mutant is: a known bug, planted, that our checks must flag (or, where it is harmless, must not).

Severity: C critical (the stated guarantee is false), T theoretical, N negligible, U utility only, E equivalent (looks
wrong, is right: flagging it is a false alarm). A mutant is KILLED when a harmful one is flagged, SPARED when an
equivalent one is not; SURVIVED and FALSE_ALARM are failures.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from empirical.audits.audit_plan import AuditPlan
from empirical.audits.releases import as_numbers, check_releases
from empirical.audits.targets import Array
from oracle.core.registry import algorithm, discover, index
from oracle.core.tape import Tape


@dataclass(frozen=True)
class Detection:
    """Whether a check flagged the planted bug, and what it saw."""

    flagged: bool
    detail: str


@dataclass(frozen=True)
class Mutant:
    """A planted bug with its origin and the check that should flag it."""

    id: str
    severity: str
    title: str
    origin: str
    detect: Callable[[], Detection]


@dataclass(frozen=True)
class Judged:
    """A mutant with what became of it."""

    mutant: Mutant
    detection: Detection

    @property
    def outcome(self) -> str:
        """KILLED or SPARED is good; SURVIVED or FALSE_ALARM is not."""
        if self.mutant.severity == "E":
            return "FALSE_ALARM" if self.detection.flagged else "SPARED"
        return "KILLED" if self.detection.flagged else "SURVIVED"

    @property
    def good(self) -> bool:
        """Whether the checks did what they should."""
        return self.outcome in ("KILLED", "SPARED")

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle mutants`."""
        return {
            "id": self.mutant.id, "severity": self.mutant.severity, "title": self.mutant.title,
            "origin": self.mutant.origin, "outcome": self.outcome, "good": self.good, "detail": self.detection.detail,
        }


@dataclass(frozen=True)
class Planted:
    """The algorithm of a plan with a wrong training in its place, `train(features, labels, config, tape)`: a target."""

    plan: AuditPlan
    train: Callable[..., Any]

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return str(self.plan.target["name"])

    def spec(self) -> dict[str, Any]:
        """The algorithm's own: that is what the bug pretends to be."""
        return dict(self.plan.target)

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the wrong training releases."""
        config = algorithm(self.name).parse(self.plan.target["config"])
        released = as_numbers(self.train(features, labels, config, tape))
        check_releases(self.name, released, models=tape.models, entry_shape=None)
        return released


@functools.cache
def mutants() -> dict[str, Mutant]:
    """All mutants by id."""
    return index(discover(Mutant, "empirical.mutants"), lambda item: item.id)


def judge(item: Mutant) -> Judged:
    """Run the check that should flag a mutant."""
    return Judged(item, item.detect())
