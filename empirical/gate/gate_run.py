"""One target held to one bound: every vector asked, judged, and held to the library's expected failures."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction

from empirical.gate.gate_targets import GateTarget
from empirical.gate.making.cases import Case
from empirical.gate.offers import EVERYTHING, Offers
from empirical.gate.policy import DEFAULT, UNDECIDED, Policy
from empirical.gate.result import ANSWERED, GateSearch, Outcome, Result, Unsupported, unsupported_words
from empirical.gate.severity import Severity
from empirical.gate.verdicts import ROUNDING, Breakdown, GateVerdict, Judgement
from empirical.gate.worst_case import search_worst
from empirical.gate.xfail import Xfail, Xfails
from oracle.core.errors import TargetError
from oracle.core.registry import Bound

Progress = Callable[[int, int], None]
"""What is told after each step: how many are done, and of how many."""

SEARCH = 100
SEARCH_SECONDS = 60.0
_HOPELESS = 5  # time-outs after which a target that has not answered once is given up
_DEATHS = 3  # ends of its process after which such a target is, and in a row after which another is asked again


def run(
    target: GateTarget, bound: Bound, cases: Sequence[Case], *, slack: Fraction | None = None,
    rounding: Fraction = ROUNDING, search: int = SEARCH, search_seconds: float = SEARCH_SECONDS, seed: int = 0,
    xfail: Xfails | None = None, only: Collection[int] | None = None, progress: Progress = lambda *_: None,
    slack_absolute: Fraction | None = None, fail_on: Severity = Severity.NEGLIGIBLE, below_formula: str = UNDECIDED,
    offers: Offers = EVERYTHING,
) -> Result:
    """Judge a target on a bound's cases, then by a search of so many examples beyond them.

    The other words are those of a `Policy`; `only` restricts the run to some tcIds. An interruption leaves what is
    done; a target that cannot be used has a result that says why.
    """
    policy = Policy(slack, slack_absolute, rounding, fail_on, below_formula, offers)
    expected = (xfail or Xfails()).of_cases(bound.name, cases)
    wanted = [case for case in cases if only is None or case.tc_id in only]
    chosen = [case for case in wanted if offers.asks(case)]
    judged: list[tuple[Case, Judgement]] = []
    searched: GateSearch | None = None
    unsupported: list[Unsupported] = []
    unusable, interrupted, total = "", False, len(chosen) + search
    started = time.monotonic()
    seconds = 0.0
    try:
        for case in chosen:
            judged.append((case, policy.judge(bound, case, target.ask(bound, case))))
            seconds = time.monotonic() - started
            progress(len(judged), total)
            unusable = _hopeless(judged) or _ended(target, bound, judged)
            if unusable:
                break
        else:
            unusable = _silent(judged)
        choices = {parameter.name: parameter.choices for parameter in bound.parameters if parameter.kind == "choice"}
        unsupported = unsupported_words(choices, [(case, judgement.verdict) for case, judgement in judged])
        if search and not unusable:
            searched = search_worst(
                target, bound, examples=search, seconds=search_seconds, seed=seed, policy=policy, cases=cases,
                unsupported=unsupported, expected=(xfail or Xfails()).of_search(bound.name),
                progress=lambda done: progress(len(judged) + done, total),
            )
    except TargetError as error:
        unusable = str(error)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        target.close()
    outcomes = tuple(
        settled(case, target.call(bound, case), judgement, expected.get(case.tc_id), unsupported, policy=policy)
        for case, judgement in judged
    )
    return Result(
        target=target.name, bound=bound.name, safe=bound.safe, policy=policy, seed=seed, unit=bound.unit,
        outcomes=outcomes, not_offered=len(wanted) - len(chosen), searched=searched,
        unsupported=tuple(unsupported), seconds=seconds, interrupted=interrupted, unusable=unusable,
    )


def settled(
    case: Case, call: str, judgement: Judgement, entry: Xfail | None, unsupported: Sequence[Unsupported] = (), *,
    policy: Policy = DEFAULT,
) -> Outcome:
    """Whether a verdict is good, in the light of what is expected of the case."""
    verdict = judgement.verdict
    word = next((str(item) for item in unsupported if case.input.get(item.parameter) == item.word), "")
    passes = policy.passes(case, judgement, unsupported=bool(word))
    if entry is None:
        why = word if passes and case.valid and verdict is GateVerdict.REFUSED else ""
        return Outcome(case, call, judgement, passes, why=why, undecided=not passes and policy.undecided(judgement))
    if entry.expects(verdict):
        return Outcome(case, call, judgement, True, entry, why=entry.reason)
    remedy = "take it out there" if passes else "change it there"
    why = f"expected {entry.verdict} by {entry.place}, came out {verdict}: {remedy}"
    return Outcome(case, call, judgement, False, entry, why=why)


def _silent(judged: Sequence[tuple[Case, Judgement]]) -> str:
    """Why a target that answered no valid case cannot be used, or nothing."""
    valid = [judgement for case, judgement in judged if case.valid]
    if not valid or any(judgement.verdict in ANSWERED for judgement in valid):
        return ""
    return f"answered none of {len(valid)} valid cases; the first is {valid[0].verdict}: {valid[0].detail}"


def _hopeless(judged: Sequence[tuple[Case, Judgement]]) -> str:
    """Why a target that only ever ends, or lets the time run out, is given up, or nothing."""
    ended = [judgement for _, judgement in judged if judgement.died]
    if len(ended) >= _DEATHS and len(ended) == len(judged):
        return f"ended {len(ended)} times before it answered anything: {ended[0].detail}"
    late = [judgement for case, judgement in judged if case.valid and judgement.verdict is GateVerdict.TIMEOUT]
    if len(late) < _HOPELESS or any(judgement.verdict in ANSWERED for _, judgement in judged):
        return ""
    return f"answered no case before {len(late)} timed out: {late[0].detail}"


def _ended(target: GateTarget, bound: Bound, judged: Sequence[tuple[Case, Judgement]]) -> str:
    """Why a target that did answer is given up, or nothing: it ends at a question that it has answered before, too.

    It may end at a few hard questions in a row and be well: then it is asked again what it has answered.
    """
    last = list(itertools.takewhile(lambda item: item[1].died, reversed(judged)))
    told = (*ANSWERED, GateVerdict.REFUSED)
    answered = next((case for case, judgement in judged if judgement.verdict in told), None)
    if not last or len(last) % _DEATHS or answered is None:
        return ""
    again = target.ask(bound, answered)
    if not (isinstance(again, Breakdown) and again.died):
        return ""
    return (
        f"ended {len(last)} times in a row, and then at {answered.name}, which it had answered before: "
        f"{last[0][1].detail}"
    )
