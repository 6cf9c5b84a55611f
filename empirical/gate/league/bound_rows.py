"""The league's rows about bounds: a library's answers to one bound, judged by the gate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from empirical.gate import offers, vector_files, xfail
from empirical.gate.adapters import ROUNDING, TIMEOUT, Adapter
from empirical.gate.gate_run import run
from empirical.gate.gate_targets import GateFunction
from empirical.gate.league.answers import Answers, Remembering
from empirical.gate.league.league import LeagueRow, Worst
from empirical.gate.making.cases import Case
from empirical.gate.result import Outcome, Result
from empirical.gate.severity import Severity, everyday
from empirical.gate.verdicts import GateVerdict
from oracle.core.errors import TargetError
from oracle.core.registry import Bound, bound

MEMORY, SEARCH, SEARCH_SECONDS, BUDGET = 4096, 20, 5.0, 60.0


@dataclass(frozen=True)
class Settings:
    """How long a library may think, how much memory it may take, and how far the search goes.

    `budget` is what asking for a row's vectors may take, in seconds; what is left over is not run.
    """

    timeout: float = float(TIMEOUT)
    memory: int = MEMORY
    search: int = SEARCH
    search_seconds: float = SEARCH_SECONDS
    budget: float = BUDGET


def bound_row(adapter: Adapter, settings: Settings, known: Answers) -> LeagueRow:
    """What the gate finds about a library's answer to a bound; what is asked is added to what is known."""
    return _row(adapter, judged(adapter, settings, known))


def judged(adapter: Adapter, settings: Settings, known: Answers) -> Result:
    """Every vector and the search, by answers that are known, or asked for."""
    expected = xfail.Xfails() if adapter.xfail is None else xfail.load(adapter.xfail)
    target = Remembering(GateFunction(adapter.target, settings.timeout, settings.memory), known)
    item, cases = bound(adapter.bound), vector_files.load(adapter.bound).cases
    offered = offers.parse(item, adapter.offers)
    entries = expected.of_cases(item.name, cases)
    wrong = {tc_id for tc_id, entry in entries.items() if entry.verdict == GateVerdict.UNSOUND}
    asked = _asked(target, item, [case for case in cases if offered.asks(case)], wrong, settings.budget)
    result = run(
        target, item, cases, rounding=ROUNDING, search=settings.search, search_seconds=settings.search_seconds,
        xfail=expected, offers=offered,
        only=asked | {case.tc_id for case in cases if not offered.asks(case)},
    )
    if result.unusable and not all(_of_the_machine(outcome) for outcome in result.outcomes):
        raise TargetError(f"{adapter.target} ({adapter.bound}): {result.unusable}")
    return replace(result, seconds=target.seconds([outcome.case for outcome in result.outcomes]))


def _asked(target: Remembering, item: Bound, cases: list[Case], wrong: set[int], budget: float) -> set[int]:
    """The tcIds that have an answer: those that are remembered, and those that are asked within the budget.

    First come those whose answers are known to be wrong, so that a library that mends them is seen to; then everyday
    questions, and those at the ends of the domain, both of all kinds in turn: one that runs out of time costs as much
    as a hundred others. What is remembered costs nothing, so that the next run goes on where this one stopped.
    """
    asked: set[int] = set()
    spent = 0.0
    in_turn = vector_files.in_turn(cases)
    for case in sorted(in_turn, key=lambda case: (case.tc_id not in wrong, not everyday(case, item.unit))):
        if not target.knows(case):
            if spent > budget:
                continue
            target.ask(item, case)
            spent += target.seconds([case])
        asked.add(case.tc_id)
    return asked


def _row(adapter: Adapter, result: Result) -> LeagueRow:
    count = result.counts
    valid_refused = sum(
        outcome.case.valid for outcome in result.outcomes if outcome.judgement.verdict is GateVerdict.REFUSED
    )
    unsupported = sum(item.cases for item in result.unsupported)
    grave = result.severities
    cases = len(vector_files.load(adapter.bound).cases)
    memory = sum(_out_of_memory(outcome) for outcome in result.outcomes)
    differing = [outcome for outcome in result.failures if not _of_the_machine(outcome)]
    return LeagueRow(
        library=adapter.library, version=adapter.version or "", variant=adapter.variant, bound=adapter.bound,
        cases=cases, not_run=cases - len(result.outcomes) - result.not_offered,
        searched=result.searched.judged if result.searched else 0,
        sound=count[GateVerdict.TIGHT] + count[GateVerdict.LOOSE], unsound=count[GateVerdict.UNSOUND],
        refused=valid_refused - unsupported, unsupported=unsupported + result.not_offered,
        refused_invalid=count[GateVerdict.REFUSED] - valid_refused, accepted_invalid=count[
            GateVerdict.ACCEPTED_INVALID
        ],
        crashed=count[GateVerdict.CRASH] - memory, timed_out=count[GateVerdict.TIMEOUT], out_of_memory=memory,
        below_formula=count[GateVerdict.BELOW_FORMULA], negligible=grave[Severity.NEGLIGIBLE],
        material=grave[Severity.MATERIAL], gross=grave[Severity.GROSS],
        worst_unsound=_worst(result.worst(GateVerdict.UNSOUND, ordinary=True)),
        worst_extreme=_worst(result.worst(GateVerdict.UNSOUND, ordinary=False)),
        worst_loose=_worst(result.worst(GateVerdict.LOOSE)),
        seconds=round(result.seconds, 1), as_expected=not differing,
        differs=tuple(
            f"{outcome.case.name}: {outcome.judgement.verdict} {outcome.call} -> {outcome.judgement.answer} "
            f"{outcome.why}".strip() for outcome in differing
        ),
    )


def _out_of_memory(outcome: Outcome) -> bool:
    """Whether a crash is one of memory, by what was said or by what the library's file says of it."""
    judged, known = outcome.judgement, outcome.expected_failure
    return judged.verdict is GateVerdict.CRASH and (
        "memory" in judged.detail.lower() or (known is not None and "memory" in known.reason)
    )


def _of_the_machine(outcome: Outcome) -> bool:
    """Whether it depends on the time or the memory of a machine: it is counted, and differs from one to the next.

    So it is with what ran out of either, and with an answer where that was expected, unless the answer is unsound.
    """
    verdict, known = outcome.judgement.verdict, outcome.expected_failure
    if verdict is GateVerdict.TIMEOUT or _out_of_memory(outcome):
        return True
    late = known is not None and (known.verdict == GateVerdict.TIMEOUT or "memory" in known.reason)
    return late and verdict in (GateVerdict.TIGHT, GateVerdict.LOOSE, GateVerdict.REFUSED, GateVerdict.BELOW_FORMULA)


def _worst(outcome: Outcome | None) -> Worst | None:
    if outcome is None or outcome.case.expected is None:
        return None
    told, found = outcome.to_json(), outcome.judgement
    unsound = found.verdict is GateVerdict.UNSOUND
    lower = told["attained"] if unsound and told["attained"] is not None else told["expected"]["lower"]
    size = found.amount if unsound else found.factor
    return Worst(outcome.case.name, outcome.call, found.answer, lower, told["expected"]["upper"], repr(size))
