"""Checking vector files without trusting the code that made them: every problem is one line.

The form (schema, numbers, notes, counts, parameters), each input (valid or not, as it says, by the bound's own parser),
the cells of the everyday domain (each product of two has a case, or a reason why not), and the answers: a sample, or
all, certified again at another width, and so at another precision of the arithmetic. The new enclosure is far narrower
than the digits of a file, so it must lie inside what the file expects. That of a coarse case is one that is soon had,
and may be wider: the two must have a part in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from empirical.gate import vector_files
from empirical.gate.making import partition, schema
from empirical.gate.making.cases import Case, attained, certified, is_told
from empirical.gate.making.flags import COARSE
from empirical.gate.making.invalid import is_outside
from empirical.gate.making.make import describe, generator, notes
from empirical.gate.making.partition import uncovered
from empirical.gate.vector_files import SHIPPED, VERSION, decode, encode, read
from oracle.core.enclosure import Enclosure
from oracle.core.errors import OracleError, VectorError
from oracle.core.registry import Bound, bounds

WIDTH = "1e-24"  # another one than the maker's, so that another precision is used
ATTAINED_WIDTH = "1e-16"


@dataclass(frozen=True)
class Complaint:
    """What is wrong, and where: a file, or a file and the number of a case."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def lint(name: str, folder: Path = SHIPPED, sample: int | None = 3) -> list[Complaint]:
    """The problems of a bound's file; `sample` valid cases are certified again, None for all of them."""
    path = folder / f"{name}.json"
    try:
        document = read(path)
    except VectorError as error:
        return [Complaint(name, str(error))]
    bound = bounds().get(name)
    if bound is None:
        return [Complaint(name, f"there is no bound {name}")]
    problems = list(_form(name, bound, document))
    if problems:  # what lies deeper could not even be read
        return problems
    if path.read_text(encoding="utf-8") != encode(document):
        problems.append(Complaint(name, "is not written as `vectors make` writes it"))
    problems += _whole(name, bound, document)
    file = decode(document)
    inputs = [problem for case in file.cases for problem in _input(bound, case)]
    problems += inputs or _cells(bound, file.cases, vector_files.unanswered(name, folder))
    for case in chosen(file.cases, sample):
        problems += _answer(bound, case)
    return problems


@dataclass(frozen=True)
class CellCount:
    """How much of a bound's everyday domain has a case: products of two cells, and those that cannot be answered."""

    products: int
    covered: int
    unanswered: dict[str, str]


def coverage(name: str, folder: Path = SHIPPED) -> CellCount:
    """The coverage of a bound's file."""
    bound, file = bounds()[name], vector_files.load(name, folder)
    total = len(partition.pairs(bound))
    return CellCount(total, total - len(uncovered(bound, file.cases)), vector_files.unanswered(name, folder))


def _cells(bound: Bound, cases: tuple[Case, ...], reasons: Mapping[str, str]) -> Iterator[Complaint]:
    """Each product of two cells of the everyday domain has a case, or a reason why it has none."""
    names = {partition.told(bound, pair): pair for pair in partition.pairs(bound)}
    missing = uncovered(bound, cases)
    open_ = sorted(cells for cells, pair in names.items() if pair in missing and cells not in reasons)
    if open_:
        yield Complaint(bound.name, f"{len(open_)} products of cells have neither a case nor a reason: {open_[0]}, ...")
    for cells in reasons:
        if cells not in names:
            yield Complaint(bound.name, f"{cells} is called unanswered, and is no product of two of its cells")
        elif names[cells] not in missing:
            yield Complaint(bound.name, f"{cells} is called unanswered, and has a case")


def chosen(cases: tuple[Case, ...], sample: int | None) -> tuple[Case, ...]:
    """The valid cases to be certified again: all, or so many spread over the file."""
    valid = tuple(case for case in cases if case.valid)
    if sample is None or sample >= len(valid):
        return valid
    return tuple(valid[index * len(valid) // sample] for index in range(sample))


def _form(name: str, bound: Bound, document: Mapping[str, Any]) -> Iterator[Complaint]:
    import jsonschema  # slow to import

    validator = jsonschema.Draft202012Validator(schema.of(bound.unit))
    for error in sorted(validator.iter_errors(document), key=lambda error: error.json_path):
        deepest = jsonschema.exceptions.best_match([error]) or error
        yield Complaint(name, f"against the schema at {deepest.json_path}: {' '.join(deepest.message.split())[:200]}")


def _whole(name: str, bound: Bound, document: Mapping[str, Any]) -> Iterator[Complaint]:
    for key, value in describe(bound).items():
        if document.get(key) != value:
            yield Complaint(name, f"{key} is not what the registry says: {document.get(key)!r}"[:200])
    made = document["generator"]
    if made["name"] != generator()["name"] or document["vectorsVersion"] != VERSION:
        yield Complaint(name, f"made by {made['name']} under version {document['vectorsVersion']}, expected {VERSION}")
    if document["numberOfTests"] != len(document["tests"]):
        yield Complaint(name, f"numberOfTests = {document['numberOfTests']}, and there are {len(document['tests'])}")
    numbers = [test["tcId"] for test in document["tests"]]
    if document["lastTcId"] < max(numbers):
        yield Complaint(name, f"lastTcId = {document['lastTcId']}, and there is a test {max(numbers)}")
    for before, after in pairwise(numbers):
        if after <= before:
            yield Complaint(f"{name}/{after}", f"its number does not rise: {before} stands before it")
    inputs = Counter(str(sorted(test["input"].items())) for test in document["tests"])
    for test in document["tests"]:
        if inputs[str(sorted(test["input"].items()))] > 1:
            yield Complaint(f"{name}/{test['tcId']}", "its input stands in the file twice")
    used = {flag for test in document["tests"] for flag in test["flags"]}
    for flag in sorted(used ^ document["notes"].keys()):
        yield Complaint(name, f"flag {flag} has no note" if flag in used else f"note {flag} is not used")
    known = notes()
    for flag, note in document["notes"].items():
        if known.get(flag) != note:
            yield Complaint(name, f"note {flag} is not what the code says")


def _input(bound: Bound, case: Case) -> Iterator[Complaint]:
    names = [parameter.name for parameter in bound.parameters]
    if list(case.input) != names:
        yield Complaint(case.name, f"its input has {', '.join(case.input)}; the bound takes {', '.join(names)}")
        return
    if not case.valid:
        if not is_outside(bound, case.input):
            yield Complaint(case.name, "is called invalid, but its input is not outside the closure of the domain")
        return
    try:
        bound.parse({name: list(text) if isinstance(text, tuple) else text for name, text in case.input.items()})
    except OracleError as error:
        yield Complaint(case.name, f"is called valid, but is refused: {error}")


def _answer(bound: Bound, case: Case) -> Iterator[Complaint]:
    assert case.expected is not None
    lower, upper = case.expected.lower, case.expected.upper
    if lower > upper:
        yield Complaint(case.name, "its lower end lies above the upper one")
        return
    try:
        coarse = COARSE.name in case.flags
        truth = certified(bound, case.input, width=None if coarse else WIDTH)
    except OracleError as error:
        yield Complaint(case.name, f"cannot be certified: {error}")
        return
    yield from _compare(case.name, truth, lower, upper, coarse=coarse)
    yield from _attained(bound, case)


def _attained(bound: Bound, case: Case) -> Iterator[Complaint]:
    """What is attained belongs to a bracketed bound, lies below its value, and is certified again."""
    assert case.expected is not None
    told = case.expected.attained
    if bound.tightness.kind != "bracketed":
        if told is not None:
            yield Complaint(case.name, f"says what is attained, and {bound.name} is {bound.tightness.kind}")
        return
    if told is not None and told > case.expected.lower:
        yield Complaint(case.name, "what is attained lies above the lower end")
    found = attained(bound, case.input, width=ATTAINED_WIDTH)
    if told is None and found is not None:
        yield Complaint(case.name, "does not say what is attained")
    elif told is not None and (found is None or found.lower.compare(told) < 0):
        yield Complaint(case.name, f"says that {float(told)} is attained, which is not certified: {found}")


def _compare(name: str, truth: Enclosure, lower: Fraction, upper: Fraction, *, coarse: bool) -> Iterator[Complaint]:
    if coarse:
        if truth.upper.compare(lower) < 0 or truth.lower.compare(upper) > 0:
            yield Complaint(name, f"expects what excludes the truth: {truth}")
    elif not is_told(truth):
        yield Complaint(name, "its answer is of a size that no double tells")
    elif not (truth.certainly_le(upper) and truth.lower.compare(lower) >= 0):
        yield Complaint(name, f"expects what excludes the truth, or a part of what may be the truth: {truth}")
