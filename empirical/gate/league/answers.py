"""What a library has answered, kept so that nobody is asked the same twice.

An answer depends on the library, the adapter that asks and the limits of time and memory, and on nothing else: not on
what is certified, how it is judged or which failures are expected. So all of these may change, and vectors be added,
and only what was never asked is asked. An answer that ran out of time or memory is kept like any other.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empirical.gate.function_worker import encoded
from empirical.gate.gate_targets import GateTarget, decoded
from empirical.gate.making.cases import Case
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict
from oracle.core.registry import Bound

Answers = dict[str, dict[str, Any]]
"""By the input as JSON: the answer as it comes from the process that serves the function, and the seconds it took."""


@dataclass
class Remembering:
    """A target that answers from memory what it was asked before."""

    target: GateTarget
    known: Answers = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of what is asked."""
        return self.target.name

    def ask(self, bound: Bound, case: Case) -> Answer:
        """What it answers, or has answered."""
        key = _key(case)
        if key not in self.known:
            started = time.monotonic()
            answer = self.target.ask(bound, case)
            self.known[key] = _written(answer, round(time.monotonic() - started, 4))
        return _read(self.known[key])

    def knows(self, case: Case) -> bool:
        """Whether it was asked before."""
        return _key(case) in self.known

    def call(self, bound: Bound, case: Case) -> str:
        """The exact call of a case."""
        return self.target.call(bound, case)

    def close(self) -> None:
        """End what was started."""
        self.target.close()

    def seconds(self, cases: list[Case]) -> float:
        """What the answers to these cases took when they were given."""
        return float(sum(self.known.get(_key(case), {}).get("seconds", 0.0) for case in cases))


def _key(case: Case) -> str:
    return json.dumps(case.input)


def _written(answer: Answer, seconds: float) -> dict[str, Any]:
    found: dict[str, Any] = {**encoded(answer), "seconds": seconds}
    if isinstance(answer, Breakdown):
        found |= {"verdict": str(answer.verdict), "died": answer.died}
    return found


def _read(found: Mapping[str, Any]) -> Answer:
    if "crash" in found:
        return Breakdown(GateVerdict(found["verdict"]), found["crash"], died=found["died"])
    return decoded(found)
