"""What one pytest test of an implementation asks and requires: a certified case, or the search beyond the cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from oracle.errors import DomainError
from oracle.gate.cases import Case, arguments
from oracle.gate.run import good, run
from oracle.gate.targets import LocalTarget
from oracle.gate.verdicts import Judgement, Verdict, judge
from oracle.gate.xfail import Xfail
from oracle.registry import Bound

FAILURES: dict[Verdict, type[pytest.fail.Exception]] = {
    # One class a verdict, so that pytest's xfail(raises=...) tells the expected verdict from any other; builtins, as
    # pytest shows the module of an exception otherwise.
    verdict: type(verdict.title().replace("_", ""), (pytest.fail.Exception,), {"__module__": "builtins"})
    for verdict in Verdict
}

TO_DO = {
    Verdict.UNSOUND: "it claims more than is true: correct it, and round to the safe side",
    Verdict.LOOSE: "it is sound, but beyond the slack that the test allows: tighten it, or allow more",
    Verdict.REFUSED: "the input is valid: answer it; words that the library does not support are told by "
    'unsupported={"parameter": ["word"]}',
    Verdict.ACCEPTED_INVALID: "the input means nothing: raise a ValueError or a TypeError",
    Verdict.CRASH: "answer with a number, or with lower and upper, or raise a ValueError or a TypeError",
    Verdict.TIMEOUT: "answer sooner",
}


@dataclass(frozen=True)
class Agreement:
    """What a library says of a function: the bound it implements, and what it does not promise."""

    bound: Bound
    notes: Mapping[str, Mapping[str, Any]]
    slack: Fraction | None
    rounding: Fraction
    unsupported: Mapping[str, tuple[str, ...]]

    def judge(self, case: Case, function: Callable[..., Any]) -> Judgement:
        """Call the function in this process, and judge what it says."""
        answer = LocalTarget(function).ask(self.bound, case)
        slack = Fraction(1) if self.slack is None else self.slack
        return judge(case, answer, safe=self.bound.safe, slack=slack, rounding=self.rounding)


@dataclass(frozen=True)
class Question:
    """A case, with the entry of the xfail file that expects its failure."""

    agreement: Agreement
    case: Case
    entry: Xfail | None

    def __post_init__(self) -> None:
        word = unsupported_word(self.case, self.agreement.unsupported)
        if word and self.entry is not None:
            raise DomainError(f"unsupported has {word}, and the xfail file expects {self.case.name} to fail: choose one")

    @property
    def id(self) -> str:
        """What pytest calls it: `17-TinyDelta`."""
        return "-".join([str(self.case.tc_id), *self.case.flags[:1]])

    @property
    def values(self) -> tuple[Any, ...]:
        """The arguments in the order of the bound's parameters."""
        return tuple(arguments(self.agreement.bound, self.case.input).values())

    @property
    def marks(self) -> tuple[pytest.MarkDecorator, ...]:
        """pytest's strict xfail where the failure is expected: a pass fails, and so does another verdict."""
        if self.entry is None:
            return ()
        return (pytest.mark.xfail(strict=True, raises=FAILURES[self.entry.verdict], reason=_reason(self.entry)),)

    def check(self, function: Callable[..., Any], called: str) -> None:
        """Ask, judge, and fail unless the answer is good."""
        __tracebackhide__ = True
        judgement = self.agreement.judge(self.case, function)
        word = unsupported_word(self.case, self.agreement.unsupported)
        if word and judgement.verdict is Verdict.REFUSED:
            pytest.skip(f"unsupported, as said: {word}")
        if word:
            self._fail(judgement, called, f"unsupported={{...}} says that it refuses {word}: take that out")
        if not good(self.case, judgement, slack=self.agreement.slack):
            other = self.entry is not None and self.entry.verdict is not judgement.verdict
            expected = f" ({_reason(self.entry)})" if self.entry is not None and other else ""
            self._fail(judgement, called, TO_DO[judgement.verdict] + expected)

    def _fail(self, judgement: Judgement, called: str, to_do: str) -> None:
        __tracebackhide__ = True
        case = self.case
        lines = [
            f"{judgement.verdict}: {case.name}" + (f", {case.comment}" if case.comment else ""),
            f"  call       {call(called, self.agreement.bound, case)}",
            f"  answer     {judgement.answer}" + (f" ({judgement.detail})" if judgement.detail else ""),
            f"  certified  {certified(case)}",
            f"  to do      {to_do}",
        ]
        for flag in case.flags:
            note = self.agreement.notes.get(flag, {})
            lines.append("  " + f"{flag}: {note.get('description', '')} {' '.join(note.get('links', ()))}".strip())
        raise FAILURES[judgement.verdict]("\n".join(lines), pytrace=False)


@dataclass(frozen=True)
class Search:
    """The search for a worse case than the vectors have: what a budget beyond their number buys."""

    agreement: Agreement
    examples: int
    id = "search"

    @property
    def values(self) -> tuple[None, ...]:
        """Nothing yet for each of the bound's parameters: the search chooses them."""
        return (None,) * len(self.agreement.bound.parameters)

    @property
    def marks(self) -> tuple[pytest.MarkDecorator, ...]:
        """An xfail that may pass, where the file expects that the search finds something: it is not exhaustive."""
        return ()

    def check(self, function: Callable[..., Any], called: str) -> None:
        """Search, and fail on the worst that was found."""
        raise NotImplementedError


Subject = Question | Search


def unsupported_word(case: Case, unsupported: Mapping[str, tuple[str, ...]]) -> str:
    """The first word of a valid case that the library says it does not support, as `parameter = word`."""
    for name, words in unsupported.items():
        if case.valid and case.input[name] in words:
            return f"{name} = {case.input[name]}"
    return ""


def call(called: str, bound: Bound, case: Case) -> str:
    """The exact call of a case, to be pasted."""
    return f"{called}({', '.join(f'{name}={value!r}' for name, value in arguments(bound, case.input).items())})"


def certified(case: Case) -> str:
    """What is known of the right answer, in seventeen digits."""
    if case.expected is None:
        return "a refusal"
    return f"[{float(case.expected.lower):.17g}, {float(case.expected.upper):.17g}]"


def _reason(entry: Xfail) -> str:
    return f"the xfail file expects {entry.verdict}: {entry.reason}"
