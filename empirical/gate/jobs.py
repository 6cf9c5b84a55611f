"""What the gate is asked to do for a function or a command: which bounds, how strictly, within which limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from empirical.gate import vector_files
from empirical.gate.gate_run import SEARCH, SEARCH_SECONDS, Progress, run
from empirical.gate.gate_targets import GateCommand, GateFunction
from empirical.gate.offers import parse
from empirical.gate.policy import BELOW, UNDECIDED, Policy
from empirical.gate.result import Result
from empirical.gate.severity import Severity
from empirical.gate.verdicts import ROUNDING
from empirical.gate.xfail import Xfails
from oracle.core.domain import Number, Parameter, non_negative, non_negative_integer, shown
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, bound
from oracle.running.isolated import MEGABYTES, MEMORY, SECONDS, TIMEOUT, command_words

SLACK = Parameter("slack", low=Fraction(1))
SEARCHING = Parameter("search_seconds", low=Fraction(0), high=SECONDS.high)


def parsed_policy(item: Bound, words: Mapping[str, Any]) -> Policy:
    """How strictly a bound is judged, by words from a command line, a config or a test."""
    found = {name: str(words[name]) for name in ("fail_on", "below_formula") if name in words}
    for name, known in (("fail_on", tuple(Severity)), ("below_formula", BELOW)):
        if name in found and found[name] not in known:
            raise DomainError(f"{name} = {shown(found[name])} is outside its domain: {', '.join(known)}")
    offers = words.get("offers", {})
    if not isinstance(offers, Mapping):
        raise DomainError(f"offers = {shown(offers)} is outside its domain: parameters with what is offered of them")
    slack, absolute = words.get("slack"), words.get("slack_absolute")
    return Policy(
        slack=None if slack is None else SLACK.rational(slack),
        slack_absolute=None if absolute is None else non_negative("slack_absolute").rational(absolute),
        rounding=non_negative("rounding").rational(words.get("rounding", ROUNDING)),
        fail_on=Severity(found.get("fail_on", Severity.NEGLIGIBLE)), offers=parse(item, offers),
        below_formula=found.get("below_formula", UNDECIDED),
    )


@dataclass(frozen=True)
class BoundJob:
    """A function for one bound, or a command for one or more; what is wrong with it is told before anything runs."""

    target: str | None = None
    command: str | None = None
    bounds: tuple[str, ...] = ()
    slack: Number | None = None
    slack_absolute: Number | None = None
    rounding: Number = ROUNDING
    fail_on: str = Severity.NEGLIGIBLE
    below_formula: str = UNDECIDED
    offers: Mapping[str, Any] = field(default_factory=dict)
    search: Number = SEARCH
    search_seconds: Number = SEARCH_SECONDS
    seed: Number = 0
    timeout: Number = TIMEOUT
    memory: Number = MEMORY
    only: frozenset[int] | None = None

    def __post_init__(self) -> None:
        if (self.target is None) == (self.command is None):
            raise DomainError("a gate needs a target or a command, and not both")
        if not self.bounds:
            raise DomainError(f"bound is needed: which one does {self.target or self.command} implement?")
        if self.target is not None and len(self.bounds) > 1:
            raise DomainError(f"bound = {', '.join(self.bounds)}: a function has one bound; a command may have many")
        SECONDS.rational(self.timeout)
        MEGABYTES.rational(self.memory)
        self._make()
        self._options()
        for name in self.bounds:
            self._policy(name)
            known = {case.tc_id for case in vector_files.load(bound(name).name).cases}
            if self.only is not None and not self.only <= known:
                raise DomainError(f"case = {min(self.only - known)} is outside its domain: a tcId of {name}")

    @property
    def name(self) -> str:
        """What a progress bar calls it."""
        return str(self.target or self.command)

    def _options(self) -> dict[str, Any]:
        return {
            "search": int(non_negative_integer("search").rational(self.search)),
            "search_seconds": float(SEARCHING.rational(self.search_seconds)),
            "seed": int(non_negative_integer("seed").rational(self.seed)), "only": self.only,
        }

    def _policy(self, name: str) -> dict[str, Any]:
        words = ("slack", "slack_absolute", "rounding", "fail_on", "below_formula", "offers")
        policy = parsed_policy(bound(name), {word: getattr(self, word) for word in words})
        return {word: getattr(policy, word) for word in words}

    def _make(self) -> GateFunction | GateCommand:
        if self.command is not None:
            return GateCommand(command_words(self.command), self.timeout, self.memory)
        return GateFunction(str(self.target), self.timeout, self.memory)

    def carry_out(self, xfail: Xfails, progress: Callable[[str], Progress]) -> Iterator[Result]:
        """The result of each bound; `progress` gives what a bound's progress is told to."""
        for name in self.bounds:
            cases = vector_files.load(name).cases
            words = self._policy(name) | self._options()
            yield run(self._make(), bound(name), cases, xfail=xfail, progress=progress(name), **words)
