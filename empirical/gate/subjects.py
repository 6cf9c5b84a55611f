"""What one pytest test of an implementation asks and requires: a certified case, or the search beyond the cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

from empirical.gate.gate_run import SEARCH_SECONDS, settled
from empirical.gate.gate_targets import LocalTarget
from empirical.gate.making.cases import Case, arguments
from empirical.gate.policy import DEFAULT, Policy
from empirical.gate.result import Outcome, Unsupported
from empirical.gate.verdicts import GateVerdict
from empirical.gate.worst_case import search_worst
from empirical.gate.xfail import Xfail
from oracle.core.domain import clean
from oracle.core.errors import DomainError
from oracle.core.registry import Bound

FAILURES: dict[str, Any] = {
    # One class a verdict, so that pytest's xfail(raises=...) tells the expected verdict from any other; builtins, as
    # pytest shows the module of an exception otherwise.
    verdict: type(verdict.title().replace("_", ""), (pytest.fail.Exception,), {"__module__": "builtins"})
    for verdict in GateVerdict
}

TO_DO = {
    GateVerdict.UNSOUND: "it claims more than is true: correct it, and round to the safe side",
    GateVerdict.BELOW_FORMULA: "it is below what this method proves, and not known to be wrong: correct it, or say "
    'below_formula="pass" of a better method',
    GateVerdict.LOOSE: "it is sound, but beyond the slack that the test allows: tighten it, or allow more",
    GateVerdict.REFUSED: "the input is valid: answer it; words that the library does not support are told by "
    'unsupported={"parameter": ["word"]}',
    GateVerdict.ACCEPTED_INVALID: "the input means nothing: raise a ValueError or a TypeError",
    GateVerdict.CRASH: "answer with a number, or with lower and upper, or raise a ValueError or a TypeError",
    GateVerdict.TIMEOUT: "answer sooner",
}


@dataclass(frozen=True)
class Agreement:
    """What a library says of a function: the bound it implements, and what it does not promise."""

    bound: Bound
    notes: Mapping[str, Mapping[str, Any]]
    unsupported: tuple[Unsupported, ...]
    policy: Policy = DEFAULT

    def unsupported_word(self, case: Case) -> str:
        """The word of a valid case that the library says it does not support, or nothing."""
        found = (word for word in self.unsupported if case.valid and case.input[word.parameter] == word.word)
        return next(map(str, found), "")

    def told(self, outcome: Outcome, to_do: str) -> str:
        """A failure, as whoever must mend it wants to read it."""
        case, judged, truth = outcome.case, outcome.judgement, outcome.case.expected
        certified = "a refusal" if truth is None else f"[{float(truth.lower):.17g}, {float(truth.upper):.17g}]"
        lines = [
            " ".join(filter(None, [judged.verdict, judged.severity])) + f": {case.name}"
            + (f", {case.comment}" if case.comment else ""),
            f"  call       {outcome.call}",
            f"  answer     {judged.answer}" + (f" ({judged.detail})" if judged.detail else ""),
            f"  certified  {certified}",
            *([] if truth is None or truth.attained is None else [f"  attained   {float(truth.attained):.17g}"]),
            f"  to do      {to_do}",
        ]
        for flag in case.flags:
            if flag in self.notes:
                links = self.notes[flag].get("links", ())
                lines.append(f"  {flag}: {' '.join((self.notes[flag]['description'], *links))}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Question:
    """A case, with the entry of the xfail file that expects its failure."""

    agreement: Agreement
    case: Case
    entry: Xfail | None

    def __post_init__(self) -> None:
        word = self.agreement.unsupported_word(self.case)
        if word and self.entry is not None:
            raise DomainError(f"{self.entry.place}: case {self.case.tc_id} is {word}, by the test's own words")

    @property
    def id(self) -> str:
        """What pytest calls it: `17-TinyDelta`."""
        return "-".join([str(self.case.tc_id), *self.case.flags[:1]])

    @property
    def values(self) -> tuple[Any, ...]:
        """The arguments in the order of the bound's parameters."""
        given = arguments(self.agreement.bound, self.case.input)
        return tuple(given[parameter.name] for parameter in self.agreement.bound.parameters)

    @property
    def marks(self) -> tuple[pytest.MarkDecorator, ...]:
        """pytest's strict xfail where a failure is expected: a pass fails, and so does another verdict."""
        if self.entry is None:
            return ()
        return (pytest.mark.xfail(strict=True, raises=FAILURES[self.entry.verdict], reason=self.entry.reason),)

    def check(self, function: Callable[..., Any], called: str) -> None:
        """Ask, judge, and fail unless the answer is good."""
        agreement, case, target = self.agreement, self.case, LocalTarget(function, called)
        if not agreement.policy.offers.asks(case):
            pytest.skip(f"not offered: {agreement.policy.offers}")
        judgement = agreement.policy.judge(agreement.bound, case, target.ask(agreement.bound, case))
        outcome = settled(
            case, target.call(agreement.bound, case), judgement, self.entry, agreement.unsupported,
            policy=agreement.policy,
        )
        word = agreement.unsupported_word(case)
        if word and judgement.verdict is GateVerdict.REFUSED:
            pytest.skip(word)
        if word:
            _fail(outcome, agreement.told(outcome, f"the test says {word}, but it is answered: take that out"))
        if self.entry is not None or not outcome.good:
            _fail(outcome, agreement.told(outcome, outcome.why or TO_DO[judgement.verdict]))


@dataclass(frozen=True)
class Search:
    """The search for a worse case than the vectors have: what a budget beyond their number buys."""

    agreement: Agreement
    examples: int
    entries: Mapping[str, Xfail]
    cases: tuple[Case, ...]
    id = "search"

    @property
    def values(self) -> tuple[None, ...]:
        """Nothing yet for each of the bound's parameters: the search chooses them."""
        return (None,) * len(self.agreement.bound.parameters)

    @property
    def marks(self) -> tuple[pytest.MarkDecorator, ...]:
        """An xfail that may pass, where the xfail file expects a verdict of the search: it is not exhaustive."""
        if not self.entries:
            return ()
        raises = tuple(FAILURES[verdict] for verdict in self.entries)
        reason = "; ".join(entry.reason for entry in self.entries.values())
        return (pytest.mark.xfail(strict=False, raises=raises, reason=reason),)

    def check(self, function: Callable[..., Any], called: str) -> None:
        """Search, and fail on what was found; a search that could judge nothing does not pass."""
        agreement = self.agreement
        searched = search_worst(
            LocalTarget(function, called), agreement.bound, examples=self.examples, seconds=SEARCH_SECONDS, seed=0,
            policy=agreement.policy, unsupported=agreement.unsupported, expected=self.entries, cases=self.cases,
        )
        print(clean(searched.told))  # pytest shows it with -rP, and with a failure
        # What nobody expects goes first: its verdict decides whether the test fails.
        found = sorted(
            (item for item in searched.worst if not item.good or item.expected_failure), key=lambda item: item.good
        )
        if found:
            told = [agreement.told(item, item.why or TO_DO[item.judgement.verdict]) for item in found]
            _fail(found[0], "\n".join(told))
        if searched.judged == 0:
            pytest.fail(f"undecided; {searched.told}", pytrace=False)


Subject = Question | Search


def _fail(outcome: Outcome, message: str) -> NoReturn:
    raise FAILURES[outcome.judgement.verdict](message, pytrace=False)
