"""The league's rows about bounds: a library's answers to one bound, judged by the gate."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from empirical.gate import xfail
from empirical.gate.adapters import ROUNDING, TIMEOUT, Adapter
from empirical.gate.jobs import BoundJob
from empirical.gate.league.league import LeagueRow, Worst
from empirical.gate.result import Outcome, Result
from empirical.gate.verdicts import GateVerdict
from oracle.core.errors import TargetError

MEMORY, SEARCH, SEARCH_SECONDS = 4096, 20, 5.0


@dataclass(frozen=True)
class Settings:
    """How long a library may think, how much memory it may take, and how far the search goes."""

    timeout: float = float(TIMEOUT)
    memory: int = MEMORY
    search: int = SEARCH
    search_seconds: float = SEARCH_SECONDS


def bound_row(adapter: Adapter, settings: Settings) -> LeagueRow:
    """What the gate finds about a library's answer to a bound."""
    return _row(adapter, _judged(adapter, settings))


def _judged(adapter: Adapter, settings: Settings) -> Result:
    expected = xfail.Xfails() if adapter.xfail is None else xfail.load(adapter.xfail)
    job = BoundJob(target=adapter.target, bounds=(adapter.bound,), rounding=ROUNDING, **asdict(settings))
    (result,) = job.carry_out(expected, lambda _: lambda *_: None)
    if result.unusable:
        raise TargetError(f"{adapter.target} ({adapter.bound}): {result.unusable}")
    return result


def _row(adapter: Adapter, result: Result) -> LeagueRow:
    count = result.counts
    valid_refused = sum(
        outcome.case.valid for outcome in result.outcomes if outcome.judgement.verdict is GateVerdict.REFUSED
    )
    unsupported = sum(item.cases for item in result.unsupported)
    memory = sum(_of_the_machine(outcome) for outcome in result.outcomes)
    return LeagueRow(
        library=adapter.library, version=adapter.version or "", variant=adapter.variant, bound=adapter.bound,
        cases=len(result.outcomes), searched=result.searched.judged if result.searched else 0,
        sound=count[GateVerdict.TIGHT] + count[GateVerdict.LOOSE], unsound=count[GateVerdict.UNSOUND],
        refused=valid_refused - unsupported, unsupported=unsupported,
        refused_invalid=count[GateVerdict.REFUSED] - valid_refused, accepted_invalid=count[
            GateVerdict.ACCEPTED_INVALID
        ],
        crashed=count[GateVerdict.CRASH] - memory, timed_out=count[GateVerdict.TIMEOUT], out_of_memory=memory,
        below_formula=count[GateVerdict.BELOW_FORMULA],
        worst_unsound=_worst(result.worst(GateVerdict.UNSOUND, ordinary=True)),
        worst_extreme=_worst(result.worst(GateVerdict.UNSOUND, ordinary=False)),
        worst_loose=_worst(result.worst(GateVerdict.LOOSE)),
        seconds=round(result.seconds, 1), as_expected=not result.failures,
        differs=tuple(
            f"{outcome.case.name}: {outcome.judgement.verdict} {outcome.call} -> {outcome.judgement.answer} "
            f"{outcome.why}".strip() for outcome in result.failures
        ),
    )


def _of_the_machine(outcome: Outcome) -> bool:
    """Whether a crash is one of memory, by what was said or by what the library's file says of it."""
    judged, known = outcome.judgement, outcome.expected_failure
    return judged.verdict is GateVerdict.CRASH and (
        "memory" in judged.detail.lower() or (known is not None and "memory" in known.reason)
    )


def _worst(outcome: Outcome | None) -> Worst | None:
    if outcome is None or outcome.case.expected is None:
        return None
    told, found = outcome.to_json(), outcome.judgement
    unsound = found.verdict is GateVerdict.UNSOUND
    lower = told["attained"] if unsound and told["attained"] is not None else told["expected"]["lower"]
    size = found.amount if unsound else found.factor
    return Worst(outcome.case.name, outcome.call, found.answer, lower, told["expected"]["upper"], repr(size))
