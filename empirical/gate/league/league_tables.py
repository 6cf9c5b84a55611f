"""The league table for people: columns that a terminal, docs/league.md and the report share, and that page's part.

The page has a line for each library and accountant first, and every bound folded away below.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from empirical.gate.league.league import AuditorRow, League, LeagueRow, TrainingRow, Worst
from empirical.gate.result import shortfall
from oracle.running.markdown import code, shown, table

COLUMNS = (
    "library", "bound", "cases", "sound", "unsound", "gross", "material", "below formula", "worst under-report",
    "worst at extremes", "worst looseness", "refused", "nonsense accepted", "crashed", "out of time or memory",
    "seconds",
)
SUMMARY_COLUMNS = (
    "library", "bounds", "cases", "sound", "unsound", "gross", "material", "below formula", "worst under-report",
    "refused", "nonsense accepted", "crashed", "out of time or memory",
)
TRAINING_COLUMNS = ("library", "training", "claimed epsilon", "audited: epsilon >=", "verdict")
AUDITOR_COLUMNS = ("library", "auditor", "pair", "true epsilon", "claims more", "allowed", "median claim", "verdict")


def named(library: str, version: str, variant: str) -> str:
    """A library as the table calls it."""
    return f"{library} {version} {variant}".strip()


def under_report(worst: Worst | None) -> str:
    """How far an unsound answer is off, and what it should be."""
    return "–" if worst is None else _apart(*_missed(worst))


def _missed(worst: Worst) -> tuple[float, float]:
    """The end of an unsound answer that lies beyond the truth, and the certified end that it missed."""
    ends, lower, upper = _ends(worst), float(worst.lower), float(worst.upper)
    return (ends[-1], lower) if ends[-1] < lower else (ends[0], upper)


def _shortfall(worst: Worst) -> float:
    answer, truth = _missed(worst)
    return shortfall(abs(answer - truth), max(abs(answer), abs(truth)))


def _ends(worst: Worst) -> list[float]:
    return [float(end) for end in worst.answer.strip("[]").split(",")]


def looseness(worst: Worst | None) -> str:
    """How many times the truth the loosest answer is, or both where no factor tells."""
    if worst is None:
        return "–"
    factor = float(worst.size)
    if math.isinf(factor):
        return _apart(_ends(worst)[-1], float(worst.upper))
    return f"x {short(factor, apart_from=1.0)}"


def _apart(answer: float, truth: float) -> str:
    return f"{short(answer, apart_from=truth)} for {short(truth, apart_from=answer)}"


def short(value: float, apart_from: float | None = None) -> str:
    """A number in four digits, or in as many more as tell it from another."""
    digits = 4
    while apart_from is not None and digits < 17 and f"{value:.{digits}g}" == f"{apart_from:.{digits}g}":
        digits += 1
    return f"{value:.{digits}g}"


def summaries(league: League) -> list[tuple[str, ...]]:
    """The row of every accountant of a library."""

    def accountant(row: LeagueRow) -> tuple[str, str, str]:
        return row.library, row.version, row.variant

    groups = itertools.groupby(sorted(league.rows, key=accountant), key=accountant)
    return [summary_cells(list(rows)) for _, rows in groups]


def summary_cells(rows: Sequence[LeagueRow]) -> tuple[str, ...]:
    """The row of all bounds that one accountant of a library answers."""

    def total(name: str) -> str:
        return str(sum(getattr(row, name) for row in rows))

    unsound = [(worst, row.bound) for row in rows if (worst := row.worst_unsound) is not None]
    worst, bound = max(unsound, key=lambda found: _shortfall(found[0]), default=(None, ""))
    told = under_report(worst) + (f", {bound}" if bound else "")
    first = rows[0]
    return (
        named(first.library, first.version, first.variant), str(len(rows)),
        _cases(sum(row.cases for row in rows), sum(row.not_run for row in rows)), total("sound"), total("unsound"),
        total("gross"), total("material"), total("below_formula"), told,
        _refused(sum(row.refused for row in rows), sum(row.unsupported for row in rows)),
        total("accepted_invalid"), total("crashed"), str(sum(row.timed_out + row.out_of_memory for row in rows)),
    )


def _cases(cases: int, not_run: int) -> str:
    return f"{cases - not_run} of {cases}" if not_run else str(cases)


def _refused(refused: int, unsupported: int) -> str:
    return str(refused) + (f" + {unsupported} not offered" if unsupported else "")


def cells(row: LeagueRow) -> tuple[str, ...]:
    """A row of the table."""
    return (
        named(row.library, row.version, row.variant), row.bound, _cases(row.cases, row.not_run), str(row.sound),
        str(row.unsound), str(row.gross), str(row.material), str(row.below_formula), under_report(row.worst_unsound),
        under_report(row.worst_extreme), looseness(row.worst_loose), _refused(row.refused, row.unsupported),
        str(row.accepted_invalid), str(row.crashed), str(row.timed_out + row.out_of_memory), f"{row.seconds:.1f}",
    )


def training_cells(row: TrainingRow) -> tuple[str, ...]:
    """A row of the trainings."""
    lower = "–" if row.epsilon_lower is None else f"{row.epsilon_lower:.4g}"
    return (f"{row.library} {row.version}", row.training, f"{row.claimed:.4g}", lower, row.verdict)


def auditor_cells(row: AuditorRow) -> tuple[str, ...]:
    """A row of the auditors."""
    return (
        f"{row.library} {row.version}", row.auditor, row.pair, short(row.true_epsilon),
        f"{row.overclaims} of {row.repetitions}", f"{1 - row.confidence:.2g}",
        "–" if row.median is None else short(row.median), row.verdict,
    )


def parts(league: League) -> list[tuple[Sequence[str], list[tuple[str, ...]]]]:
    """The tables that have rows, each with its columns."""
    found: list[tuple[Sequence[str], list[tuple[str, ...]]]] = [
        (COLUMNS, [cells(row) for row in league.rows]),
        (TRAINING_COLUMNS, [training_cells(row) for row in league.trainings]),
        (AUDITOR_COLUMNS, [auditor_cells(row) for row in league.auditors]),
    ]
    return [part for part in found if part[1]]


def markdown(league: League) -> str:
    """The page's part: a line for each accountant; every bound and the calls of worst cases, folded away."""
    lines = [f"Made on {league.date} with Python {league.python} and vectors {league.vectors}.", ""]
    lines += [*table(SUMMARY_COLUMNS, summaries(league)), ""]
    lines += [*table(TRAINING_COLUMNS, [training_cells(row) for row in league.trainings]), ""]
    auditors = table(AUDITOR_COLUMNS, [auditor_cells(row) for row in league.auditors])
    calls = [
        _told(row, worst) for row in league.rows
        for worst in (row.worst_unsound, row.worst_extreme) if worst is not None
    ]
    lines += _folded("Every bound", table(COLUMNS, [cells(row) for row in league.rows]))
    lines += _folded("Auditors, on pairs whose epsilon is known exactly", auditors)
    lines += _folded("The worst under-report of each, as a call of its adapter", calls)
    return "\n".join(lines).rstrip("\n")


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _told(row: LeagueRow, worst: Worst) -> str:
    answer, truth = _missed(worst)
    return (
        f"- {named(row.library, row.version, row.variant)}, {row.bound}: {code(worst.call)} "
        f"answers {shown(worst.answer)}; "
        f"certified: at {'least' if answer < truth else 'most'} {short(truth, apart_from=answer)}"
    )
