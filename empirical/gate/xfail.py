"""Expected failures: what a library under test knows to be wrong, in a TOML file of its own, strict both ways.

    [[xfail]]
    bound = "poisson-gaussian.epsilon"    # or: training = "mylib:train", with the verdict VIOLATION
    verdict = "UNSOUND"
    cases = [12, 40]                      # tcIds; or `where`, or `flags`, or `search`
    reason = "the PLD is truncated before delta"
    link = "https://github.com/..."       # optional
    also = ["LOOSE"]                      # optional: what it may be instead, where time, memory or rounding decides

`where = {neighbours = "replace"}` names every valid case with these words and values, `flags = ["TinyDelta"]` every
case with one of these flags (together: with both); where the verdict is ACCEPTED_INVALID both name invalid cases, and
the flags of UNSOUND, BELOW_FORMULA, LOOSE and REFUSED name valid ones. Each case that an entry names must come out
with its verdict; another one, or a pass, is a failure that says which line to change. `search = true` expects the
verdict of the search beyond the vectors, which is not exhaustive, so that not finding it again is no failure. What
names nothing that exists is an error. Above the tables, `library` and `version` may say what was tested.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from empirical.gate.making.cases import Case, Text
from empirical.gate.verdicts import GateVerdict
from oracle.core.domain import shown
from oracle.core.errors import DomainError
from oracle.core.plain import picked
from oracle.core.reading import parse_toml, read_text
from oracle.core.registry import bounds, named

VIOLATION = "VIOLATION"
FAILURES = tuple(verdict for verdict in GateVerdict if verdict is not GateVerdict.TIGHT)
FOUND_BY_SEARCH = (
    GateVerdict.UNSOUND, GateVerdict.BELOW_FORMULA, GateVerdict.LOOSE, GateVerdict.CRASH, GateVerdict.TIMEOUT
)
TODO = "TODO"
_KEYS = ("bound", "training", "verdict", "cases", "where", "flags", "search", "reason", "link", "also")
_TESTED = ("library", "version")


@dataclass(frozen=True)
class Xfail:
    """One entry: whom and what it expects, why, and where it stands."""

    subject: str
    verdict: str
    reason: str
    place: str
    link: str = ""
    cases: tuple[int, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    search: bool = False
    also: tuple[str, ...] = ()

    def expects(self, verdict: GateVerdict) -> bool:
        """Whether a verdict is what is expected."""
        return verdict == self.verdict or verdict in self.also

    def names(self, case: Case) -> bool:
        """Whether a case of its bound is meant."""
        if self.cases:
            return case.tc_id in self.cases
        if not self.where and not self.flags:
            return False  # it is about the search alone
        either = self.verdict in (GateVerdict.CRASH, GateVerdict.TIMEOUT) and not self.where
        if not either and case.valid != (self.verdict != GateVerdict.ACCEPTED_INVALID):
            return False
        if self.flags and not set(self.flags) & set(case.flags):
            return False
        return all(key in case.input and _equal(case.input[key], value) for key, value in self.where.items())

    def to_json(self) -> dict[str, str]:
        """What a result says about it: not the cases that it is about, which stand beside it."""
        return picked(self, "reason", "link", "place")


@dataclass(frozen=True)
class Xfails:
    """The entries of a file; none by default."""

    entries: tuple[Xfail, ...] = ()

    def of_cases(self, bound: str, cases: Sequence[Case]) -> dict[int, Xfail]:
        """The entry of each case that has one; a DomainError for an entry that names no case, or two that disagree."""
        found: dict[int, Xfail] = {}
        for entry in self._of(bound):
            meant = [case.tc_id for case in cases if entry.names(case)]
            missing = sorted(set(entry.cases) - set(meant))
            if missing or (not meant and not entry.search):
                told = f"cases = {missing}" if missing else "what it says of where and flags"
                raise DomainError(f"{entry.place}: {told} names no case of {bound}")
            for tc_id in meant:
                other = found.setdefault(tc_id, entry)
                if other.verdict != entry.verdict:
                    raise DomainError(
                        f"{entry.place}: case {tc_id} of {bound} is to be {entry.verdict}, and {other.verdict} by "
                        f"{other.place}"
                    )
        return found

    def of_search(self, bound: str) -> dict[str, Xfail]:
        """What the search beyond the vectors may find, by verdict."""
        return {entry.verdict: entry for entry in self._of(bound) if entry.search}

    def of_training(self, training: str) -> Xfail | None:
        """The entry of a training."""
        return next(iter(self._of(training)), None)

    def _of(self, subject: str) -> Iterable[Xfail]:
        return (entry for entry in self.entries if entry.subject == subject)


def load(path: Path) -> Xfails:
    """The expected failures of a file; whatever is wrong with it is a DomainError that says where."""
    text = read_text(path, name="xfail")
    given = parse_toml(text, path, name="xfail")
    tables = given.pop("xfail", [])
    for key in _TESTED:
        _text(given, key, str(path))
        given.pop(key, None)
    if given or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        what = f"the key {shown(next(iter(given)))}" if given else "an xfail that is no [[xfail]]"
        raise DomainError(f"xfail = {path} has {what}; expected tables [[xfail]] only")
    headers = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[xfail]]")]
    lines = headers if len(headers) == len(tables) else [1] * len(tables)  # tables written inline, as one array
    return Xfails(tuple(
        _entry(table, f"{path}, line {line}") for table, line in zip(tables, lines, strict=True)
    ))


def _entry(table: dict[str, Any], place: str) -> Xfail:
    for key in table:
        if key not in _KEYS:
            raise DomainError(f"{place}: {shown(key)} is no key of an entry; known: {', '.join(_KEYS)}")
    subject, verdict = _subject(table, place), table.get("verdict")
    training, search = "training" in table, table.get("search", False)
    allowed = (VIOLATION,) if training else FOUND_BY_SEARCH if search else FAILURES
    if verdict not in allowed:
        raise DomainError(f"{place}: verdict = {shown(verdict)} is outside its domain: {', '.join(allowed)}")
    reason = table.get("reason")
    if not isinstance(reason, str) or not reason.strip() or reason.strip() == TODO:
        raise DomainError(f"{place}: reason = {shown(reason)} is outside its domain: why it fails, in words")
    selectors = [key for key in ("cases", "where", "flags", "search") if table.get(key)]
    if training == bool(selectors) or ("cases" in selectors and selectors != ["cases"]) or (
        "search" in selectors and selectors != ["search"]
    ):
        raise DomainError(
            f"{place}: expected cases, or where and flags, or search = true"
            + (" for a bound, and none of them for a training" if training else "")
        )
    return Xfail(
        subject=subject, verdict=str(verdict), reason=reason, place=place, link=_text(table, "link", place),
        cases=_integers(table.get("cases", []), place), where=_where(table.get("where", {}), subject, place),
        flags=_words(table.get("flags", []), "flags", place), search=search is True, also=_also(table, place),
    )


def _subject(table: dict[str, Any], place: str) -> str:
    if ("bound" in table) == ("training" in table):
        raise DomainError(f"{place}: expected a bound or a training, and not both")
    if "training" in table:
        return _text(table, "training", place)
    name = _text(table, "bound", place)
    try:
        return named(bounds(), "bound", name).name
    except DomainError as error:
        raise DomainError(f"{place}: {error}") from None


def _text(table: dict[str, Any], key: str, place: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise DomainError(f"{place}: {key} = {shown(value)} is outside its domain: a text")
    return value


def _integers(value: Any, place: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(entry) is int for entry in value):
        raise DomainError(f"{place}: cases = {shown(value)} is outside its domain: a list of tcIds")
    return tuple(value)


def _words(value: Any, key: str, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise DomainError(f"{place}: {key} = {shown(value)} is outside its domain: a list of {key}")
    return tuple(value)


def _also(table: dict[str, Any], place: str) -> tuple[str, ...]:
    others = _words(table.get("also", []), "also", place)
    for verdict in others:
        if verdict not in tuple(GateVerdict):
            raise DomainError(f"{place}: also = {shown(verdict)} is outside its domain: {', '.join(GateVerdict)}")
    return others


def _where(value: Any, bound: str, place: str) -> dict[str, str]:
    if not isinstance(value, dict) or any(isinstance(entry, (dict, list)) for entry in value.values()):
        raise DomainError(f"{place}: where = {shown(value)} is outside its domain: parameters with their values")
    known = [parameter.name for parameter in bounds()[bound].parameters] if value else []
    for key in value:
        if key not in known:
            raise DomainError(f"{place}: {bound} has no parameter {shown(key)}; it takes {', '.join(known)}")
    return {key: str(entry) for key, entry in value.items()}


def _equal(given: Text, wanted: str) -> bool:
    """Whether a parameter's text is that word or that number."""
    if isinstance(given, tuple) or given == wanted:
        return given == wanted
    try:
        return Fraction(given) == Fraction(wanted)
    except (ValueError, ZeroDivisionError):
        return False


def text_of(entries: Sequence[Xfail]) -> str:
    """The file of these entries, for a library to start from."""
    lines = ["# Expected failures of the dp-oracle gate, strict both ways; every reason must be filled in.", ""]
    for entry in entries:
        lines += ["[[xfail]]", f"{'training' if entry.verdict == VIOLATION else 'bound'} = {json.dumps(entry.subject)}",
                  f'verdict = "{entry.verdict}"']
        if entry.cases:
            lines.append(f"cases = {list(entry.cases)}")
        if entry.search:
            lines.append("search = true")
        if entry.also:
            lines.append(f"also = {json.dumps(list(entry.also))}")
        lines.append(f"reason = {json.dumps(entry.reason)}")
        if entry.link:
            lines.append(f"link = {json.dumps(entry.link)}")
        lines.append("")
    return "\n".join(lines)
