"""The search beyond the vectors: a screen and hypothesis look for the worst case, which is shrunk to a simple input.

The screen (`screen`) asks the target thousands of points and hands on those that look wrong. Then points are drawn
over the bound's ranges (`points`), and from the worst and the loosest of them the search climbs on. The truth of each
example is certified by the reference under both readings of the input, as a vector's is; what the reference cannot
certify, in time, is counted, and never passes. The same seed asks the same questions of the same target (with the same
hypothesis), unless time runs out.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from empirical.gate.gate_targets import GateTarget
from empirical.gate.making.cases import Case, Expected, Text, certified, is_open, is_told, with_attained
from empirical.gate.making.points import as_text, point_at
from empirical.gate.policy import Policy
from empirical.gate.result import GateSearch, Outcome, Unsupported, severity
from empirical.gate.searching.screen import Ground, ground, screen
from empirical.gate.shrink import simpler
from empirical.gate.verdicts import ROUNDING, Answer, GateVerdict, Judgement, Refusal
from empirical.gate.xfail import FOUND_BY_SEARCH, Xfail
from oracle.core.errors import DomainError, PrecisionError, TargetError
from oracle.core.registry import Bound
from oracle.running.patience import TooLongError, within

_STEPS = 100  # hypothesis draws from a short range evenly, from a long one mostly its beginning: hence two digits
_CLIMBED = 0.2  # as many examples again go on from the worst one drawn, and from the loosest
_FIRST_STEP = 0.1  # of a parameter's range
SCREENED = 40  # points that the screen asks the target for each example
_SCREENING = 0.5  # of the search's time, at most
_ENOUGH = 4  # confirmed, the suspects of a kind need no more certificates
_CONFIRMED = 13.0  # of `heights`: an answer is off by 1 % or more
_CERTIFYING, _CERTIFIED = 2.0, 5.0  # seconds for the truth of one example, and of all before shrinking
_SHRINKS = 1000  # examples that shrinking may ask for
_EXTRA = 0.5  # of the search's time, and of that for the truth, that shrinking may take on top of it
_KEPT = 0.5  # of its severity a case keeps when it is shrunk


Position = tuple[float, ...]
"""Where an example lies in the unit cube of the bound's ranges."""

Visit = Callable[[Mapping[str, Any]], tuple[float, float] | None]
"""What looks at a point and measures its unsoundness and its looseness, or None where there is nothing to measure."""


@dataclass
class _Counts:
    judged: int = 0
    refused: int = 0
    uncertified: int = 0
    outside: int = 0
    failed: int = 0
    undecided: int = 0


class Suspicion:
    """What is known so far; `judged` remembers each input, so that none is asked twice."""

    def __init__(
        self, target: GateTarget, bound: Bound, policy: Policy, unsupported: Sequence[Unsupported],
        expected: Mapping[str, Xfail],
    ) -> None:
        self.target, self.bound, self._policy, self._expected = target, bound, policy, expected
        self._unsupported = {(item.parameter, item.word) for item in unsupported}
        self.counts = _Counts()
        self.spent = 0.0  # of this processor for the truth
        self.screened, self.cut_short = 0, False
        self._known: dict[tuple[Text, ...], Outcome | None] = {}

    def examine(self, given: Mapping[str, Text]) -> Outcome | None:
        """The outcome at an input, or None where there is none."""
        key = tuple(given.values())
        if key not in self._known:
            self._known[key] = self._examined(given)
        return self._known[key]

    @property
    def exhausted(self) -> bool:
        """Whether the time for the truth of all examples is over."""
        return self.spent > _CERTIFIED

    def affordable(self, given: Mapping[str, Text]) -> Outcome | None:
        """The outcome at an input, or None where there is none, or no time left for it."""
        return None if self.exhausted else self.examine(given)

    def _examined(self, given: Mapping[str, Text]) -> Outcome | None:
        if not self._policy.offers.has(given):
            self.counts.outside += 1
            return None
        if any((name, text) in self._unsupported for name, text in given.items()):
            self.counts.refused += 1  # as it refuses every vector with this word
            return None
        started = time.process_time()
        try:
            with within(_CERTIFYING):
                truth = certified(self.bound, given)
            self.spent += time.process_time() - started
        except (PrecisionError, TooLongError):
            self.spent += time.process_time() - started
            self.counts.uncertified += 1
            return None
        except DomainError:  # parameters that do not suit each other
            self.counts.outside += 1
            return None
        if is_open(truth):
            self.counts.uncertified += 1
            return None
        if not is_told(truth):
            self.counts.outside += 1
            return None
        expected = Expected.parse(*truth.to_decimals())
        case = self._case(given, expected)
        answer = self.target.ask(self.bound, case)
        judgement = self._policy.judge(self.bound, case, answer)
        if judgement.verdict is GateVerdict.BELOW_FORMULA:  # only then is it worth the time to know what is attained
            case = replace(case, expected=with_attained(self.bound, given, expected))
            judgement = self._policy.judge(self.bound, case, answer)
        outcome = self._settled(Outcome(case, self.target.call(self.bound, case), judgement, True))
        if judgement.verdict is GateVerdict.REFUSED:
            self.counts.refused += 1
        else:
            self.counts.judged += 1
            self.counts.undecided += outcome.undecided
            self.counts.failed += not outcome.good and not outcome.undecided
        return outcome

    def _settled(self, outcome: Outcome) -> Outcome:
        """Whether it is good: what is refused here is no failure, a search asks much that nobody offers."""
        judgement = outcome.judgement
        entry = self._expected.get(judgement.verdict)
        passes = self._policy.passes(outcome.case, judgement, unsupported=True)
        return replace(
            outcome, good=passes or entry is not None, expected_failure=entry, why=entry.reason if entry else "",
            undecided=not passes and entry is None and self._policy.undecided(judgement),
        )

    def _case(self, given: Mapping[str, Text], expected: Expected | None) -> Case:
        return Case(self.bound.name, 0, dict(given), expected, ("Search",), "found by the search beyond the vectors")

    def ask(self, given: Mapping[str, Text]) -> Answer:
        """What the target answers, whatever the truth is."""
        if any((name, text) in self._unsupported for name, text in given.items()):
            return Refusal("unsupported, as in every vector")
        case = self._case(given, None)
        return self.target.ask(self.bound, case) if self._policy.offers.asks(case) else Refusal("not offered")

    def suspects(
        self, known: Ground, *, seconds: float, looked: Callable[[Mapping[str, Text]], Outcome | None] | None = None,
    ) -> Iterator[Outcome | None]:
        """The outcomes at the points that the screen hands on; enough of a kind confirmed, the next kind."""
        found = screen(self.bound, self.ask, known, seconds=_SCREENING * seconds)
        self.screened, self.cut_short = found.asked, found.cut_short
        for given in found.suspects.values():
            confirmed = 0
            for one in given:
                outcome = (looked or self.examine)(one)
                yield outcome
                confirmed += outcome is not None and _is_off(outcome, self.bound.safe)
                if confirmed == _ENOUGH:
                    break


def _is_off(outcome: Outcome, safe: str) -> bool:
    """Whether an answer is clearly on the unsafe side, so that the like of it needs no certificate."""
    measured = heights(outcome.case, outcome.judgement, safe)
    return measured is not None and measured[0] > _CONFIRMED


def search_worst(
    target: GateTarget, bound: Bound, *, examples: int, seconds: float, seed: int, slack: Fraction | None = None,
    rounding: Fraction = ROUNDING, policy: Policy | None = None, unsupported: Sequence[Unsupported],
    expected: Mapping[str, Xfail], cases: Sequence[Case] = (), progress: Callable[[int], None] = lambda _: None,
) -> GateSearch:
    """Look for the worst case of each kind of failure, and for the loosest answer; `cases` are the bound's vectors.

    A policy says all there is to say; slack and rounding alone are one, too.
    """
    policy = policy or Policy(slack=slack, rounding=rounding)
    search = Suspicion(target, bound, policy, unsupported, expected)
    started = time.monotonic()
    worst: dict[GateVerdict, Outcome] = {}
    cut_short = False
    failed: list[TargetError] = []
    done = 0

    def visit(point: Mapping[str, Any]) -> tuple[float, float] | None:
        outcome = look({name: as_text(value) for name, value in policy.offers.moved(point).items()})
        return None if outcome is None else heights(outcome.case, outcome.judgement, bound.safe)

    def look(given: Mapping[str, Text]) -> Outcome | None:
        nonlocal cut_short, done
        if failed or time.monotonic() - started > seconds or search.exhausted:
            cut_short = True
            return None
        try:
            outcome = search.examine(given)
        except TargetError as error:  # told at the end: hypothesis would take it for a failing test, and try it again
            failed.append(error)
            return None
        done += 1
        progress(min(done, examples))
        if outcome is None:
            return None
        verdict = outcome.judgement.verdict
        if verdict in FOUND_BY_SEARCH and (verdict not in worst or severity(outcome) > severity(worst[verdict])):
            worst[verdict] = outcome
        return outcome

    known = ground(bound, cases, points=SCREENED * examples, seed=seed)
    for _ in search.suspects(known, seconds=seconds, looked=look):
        pass
    explore(bound, visit, examples=examples, seed=seed)
    if failed:
        raise failed[0]
    counts = _Counts(**vars(search.counts))  # before shrinking, whose examples are no sample of anything
    limit, spent = started + seconds * (1 + _EXTRA), search.spent

    def affordable(given: Mapping[str, Text]) -> Outcome | None:
        return search.examine(given) if search.spent < spent + _EXTRA * _CERTIFIED else None

    shrunk = [
        shrink(outcome, affordable, bound, until=limit) if verdict is not GateVerdict.TIMEOUT else outcome
        for verdict, outcome in worst.items()
    ]
    return GateSearch(
        asked=examples, **vars(counts), cut_short=cut_short or search.cut_short, seconds=time.monotonic() - started,
        worst=tuple(
            sorted(shrunk, key=lambda item: FOUND_BY_SEARCH.index(item.judgement.verdict))
        ),
        not_found=tuple(entry for verdict, entry in expected.items() if verdict not in worst),
        screened=search.screened,
    )


def explore(bound: Bound, visit: Visit, *, examples: int, seed: int) -> None:
    """Let hypothesis draw points, then climb from the best of them towards what `visit` measures.

    hypothesis has a phase of its own that climbs (`hypothesis.target`); with a few hundred examples it came a hundred
    times less near to a summit than this, and spent half of the draws on it.
    """
    import hypothesis  # slow to import, and a run without a search needs none of it
    from hypothesis import strategies as st

    best: list[tuple[float, Position] | None] = [None, None]

    def look(position: Position) -> tuple[float, float] | None:
        measured = visit(point_at(bound, position))
        if measured is not None:
            for side, height in enumerate(measured):
                known = best[side]
                if known is None or height > known[0]:
                    best[side] = (height, position)
        return measured

    digit = st.integers(0, _STEPS - 1)
    units = st.tuples(digit, digit).map(lambda step: (step[0] * _STEPS + step[1]) / (_STEPS**2 - 1))

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples, database=None, deadline=None, derandomize=False,
        phases=(hypothesis.Phase.generate,), suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.tuples(*(units for _ in bound.parameters)))
    def draw(position: Position) -> None:
        look(position)

    draw()
    for side in (0, 1):
        _climb(look, side, best[side], int(_CLIMBED * examples))


def _climb(
    look: Callable[[Position], tuple[float, float] | None], side: int, start: tuple[float, Position] | None,
    examples: int,
) -> None:
    """Go uphill from the best point, one parameter at a time, by shorter and shorter steps."""
    if start is None:
        return
    (height, position), step = start, _FIRST_STEP
    while True:
        uphill = False
        for index, sign in itertools.product(range(len(position)), (1, -1)):
            moved = min(1.0, max(0.0, position[index] + sign * step))
            if moved == position[index]:
                continue
            if examples == 0:
                return
            examples -= 1
            tried = (*position[:index], moved, *position[index + 1 :])
            measured = look(tried)
            if measured is not None and measured[side] > height:
                height, position, uphill = measured[side], tried, True
        if not uphill:
            step /= 3
        if step < 1 / _STEPS**2:
            return


def heights(case: Case, judgement: Judgement, safe: str) -> tuple[float, float] | None:
    """How far an answer lies on the unsafe and on the safe side, each on a scale that a climber can use.

    Both grow with the logarithm of the relative error, so that an error of 1e-9 stands out against one of 1e-15.
    """
    if judgement.factor is None or case.expected is None:
        return None
    error = (judgement.factor - 1.0) if safe == "upper" else (1.0 - judgement.factor)  # above 0 on the safe side
    height = math.copysign(math.log10(1.0 + 1e15 * min(abs(error), 1e200)), error)  # so that it is finite
    return -height, height


def shrink(
    worst: Outcome, examine: Callable[[Mapping[str, Text]], Outcome | None], bound: Bound, *, until: float
) -> Outcome:
    """The simplest case that was found to have the same verdict and at least half of the severity."""
    least, best = _KEPT * severity(worst), worst
    asked, improved = 0, True
    while improved:
        improved = False
        for candidate in simpler(bound, best.case.input):
            if asked >= _SHRINKS or time.monotonic() > until:
                return best
            asked += 1
            outcome = examine(candidate)
            if outcome is not None and outcome.judgement.verdict is worst.judgement.verdict and (
                severity(outcome) >= least
            ):
                best, improved = outcome, True
                break
    return best


