"""The league table: what the gate finds in real libraries, dated, with the worst case of each.

A row is one library, one variant of it (an accountant, a relation) and one bound; a training row is a training with the
epsilon that its library claims, audited; an auditor row is a foreign auditor on pairs whose epsilon is known exactly.
The table is data, `League.to_json`, so that what was found on one machine, with the libraries installed, can be shown
where they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle.core.errors import OracleError
from oracle.core.plain import by_fields
from oracle.core.reading import read_json

FORMAT = "dp-oracle-league/1"


@dataclass(frozen=True)
class Worst:
    """The worst case of a kind: the call to repeat it, what was answered and what is certified.

    `size` is how far beyond the certified end an unsound answer lies, or how many times the truth a loose one is.
    """

    case: str
    call: str
    answer: str
    lower: str
    upper: str
    size: str


@dataclass(frozen=True)
class LeagueRow:
    """What the gate found about one library's answer to one bound; `cases` are the vectors, `searched` beyond them.

    `not_run` of them were left over when the row's budget of time was spent. `worst_unsound` lies inside the everyday
    box (delta 1e-12 to 1e-3, epsilon 0.01 to 20), `worst_extreme` outside; `unsupported` are the cases that the library
    does not offer: words that it refuses throughout, and what its adapter says that it is not asked. `negligible`,
    `material` and `gross` are the unsound answers by how much they matter (`empirical.gate.severity`), `below_formula`
    answers below an upper bound that nothing proves wrong. What depends on the machine, its time (`timed_out`) and its
    memory (`out_of_memory`), is no crash. `differs` says where something is not as the library's file of expected
    failures foretells.
    """

    library: str
    version: str
    variant: str
    bound: str
    cases: int
    searched: int
    sound: int
    unsound: int
    refused: int
    unsupported: int
    refused_invalid: int
    accepted_invalid: int
    crashed: int
    timed_out: int
    worst_unsound: Worst | None
    worst_loose: Worst | None
    seconds: float
    as_expected: bool
    differs: tuple[str, ...] = ()
    below_formula: int = 0
    out_of_memory: int = 0
    worst_extreme: Worst | None = None
    negligible: int = 0
    material: int = 0
    gross: int = 0
    not_run: int = 0


@dataclass(frozen=True)
class TrainingRow:
    """A library's training, its claim, and what an audit of it certifies."""

    library: str
    version: str
    training: str
    claimed: float
    delta: str
    verdict: str
    epsilon_lower: float | None
    confidence: float
    models: int
    seconds: float
    as_expected: bool
    remark: str


@dataclass(frozen=True)
class AuditorRow:
    """A library's auditor on pairs whose epsilon is known: how often it claims more than the truth."""

    library: str
    version: str
    auditor: str
    pair: str
    true_epsilon: float
    confidence: float
    repetitions: int
    overclaims: int
    crashes: int
    median: float | None
    verdict: str
    as_expected: bool


AnyRow = LeagueRow | TrainingRow | AuditorRow


@dataclass(frozen=True)
class League:
    """The whole table, with the day and the Python it was made on."""

    date: str
    python: str
    vectors: str
    rows: tuple[LeagueRow, ...]
    trainings: tuple[TrainingRow, ...]
    auditors: tuple[AuditorRow, ...]

    @staticmethod
    def of(date: str, python: str, vectors: str, rows: Sequence[AnyRow]) -> League:
        """The table of rows of all kinds."""
        return League(
            date, python, vectors, tuple(row for row in rows if isinstance(row, LeagueRow)),
            tuple(row for row in rows if isinstance(row, TrainingRow)),
            tuple(row for row in rows if isinstance(row, AuditorRow)),
        )

    @property
    def ok(self) -> bool:
        """Whether everything came out as the expected-failure files say."""
        return all(row.as_expected for part in (self.rows, self.trainings, self.auditors) for row in part)

    @property
    def differences(self) -> list[str]:
        """What came out otherwise than expected, a line each."""
        return [
            *(f"{row.library} {row.variant}, {line}" for row in self.rows for line in row.differs),
            *(f"{row.library} {row.training}: {row.verdict}" for row in self.trainings if not row.as_expected),
            *(
                f"{row.library} {row.auditor}, {row.pair}: {row.verdict}"
                for row in self.auditors if not row.as_expected
            ),
        ]

    def to_json(self) -> dict[str, Any]:
        """The content of `league.json`."""
        return {"format": FORMAT, "ok": self.ok, **by_fields(self)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> League:
        """The table that was written; an OracleError if it is none."""
        if data.get("format") != FORMAT:
            raise OracleError(f"format = {data.get('format')!r} is no league table: expected {FORMAT}")
        try:
            return League(
                data["date"], data["python"], data["vectors"],
                tuple(_bound_row(row) for row in data["rows"]),
                tuple(TrainingRow(**row) for row in data["trainings"]),
                tuple(AuditorRow(**row) for row in data["auditors"]),
            )
        except (KeyError, TypeError) as error:
            raise OracleError(f"the league table is damaged: {error}") from None

    @staticmethod
    def read(path: Path) -> League:
        """The table in a file."""
        return League.from_json(read_json(path, fault=OracleError))


def row_of(kind: str, data: Mapping[str, Any]) -> AnyRow:
    """A row of that class from its JSON object."""
    makers: dict[str, Callable[..., AnyRow]] = {TrainingRow.__name__: TrainingRow, AuditorRow.__name__: AuditorRow}
    return _bound_row(data) if kind == LeagueRow.__name__ else makers[kind](**data)


def _bound_row(data: Mapping[str, Any]) -> LeagueRow:
    kinds = ("worst_unsound", "worst_loose", "worst_extreme")
    worst = {key: Worst(**data[key]) if data.get(key) else None for key in kinds}
    return LeagueRow(**{**data, **worst, "differs": tuple(data["differs"])})
