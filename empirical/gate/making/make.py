"""Making vectors: which inputs are asked of a bound, what is certified about each, and the document of it all.

The same bound gives the same document every time. Inputs come from its example and its neighbourhood, the ends of each
parameter's domain (`everyday`), the calls that came out wrong in real libraries (`known_bugs`), a search for extremes
(`extremes`), points spread over the whole range (`points`) and inputs that mean nothing (`invalid`); `cells` then adds
what the everyday domain still lacks. Case numbers are permanent: a case of a former file stays with its number, a new
input gets a number that was never used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import metadata
from itertools import islice
from typing import Any, NamedTuple

from empirical.gate.making import extremes
from empirical.gate.making.cases import Case, Expected, Text, certified, is_open, is_told, with_attained
from empirical.gate.making.everyday import at_the_ends, example, halton, near_example, rounded, words
from empirical.gate.making.flags import BOUNDARY, COARSE, GENERAL, ORDINARY, SEARCHED, WIDE, Flag
from empirical.gate.making.invalid import invalid_inputs
from empirical.gate.making.known_bugs import KNOWN, POINTS
from empirical.gate.making.points import FEW_POINTS, point_at, texts
from empirical.gate.vector_files import VERSION, VectorFile
from oracle.core.enclosure import Enclosure, decimal_string
from oracle.core.errors import DomainError, OracleError, PrecisionError, VectorError
from oracle.core.registry import Bound
from oracle.running.patience import TooLongError, within

WIDTH = "1e-18"
DIGITS = 16  # of an expected value, rounded outward: coarser than WIDTH, so that they do not hang on the arithmetic
WIDEST = Fraction(1, 10**6)  # relative: if the two readings of an input differ by more, the case would judge nothing
COARSEST = Fraction(1, 2)  # relative: how far apart the ends of a coarse case may be
_NARROW = Fraction(1, 10**9)  # relative: an answer that is soon so narrow may soon be as narrow as all others, too
_PATIENCE = 1.0  # seconds for that

# What many libraries implement is asked more than what only this project has.
POPULAR = (
    "gaussian.", "gaussian-composed.", "gaussian-classical.", "poisson-gaussian.", "gdp.", "rdp.", "zcdp.", "laplace.",
    "laplace-composed.", "composition.", "amplification.", "tree.", "randomised-response.", "wor-gaussian.", "shuffle.",
)
# Bounds whose reference takes seconds, or minutes away from what is everyday: those of which the tests take fewer
# points than this, and the sampled curve, of which they take few for their number of parameters.
FEW, SLOW = 24, "poisson-gaussian."
OUTSIDE = "outside the domain"
"""How the reason begins for an input whose parameters do not suit each other."""
Candidate = tuple[Mapping[str, Text], Flag | None, str]
Key = tuple[tuple[str, Text], ...]


class Quota(NamedTuple):
    """How many cases of each kind a bound gets."""

    near: int  # near the example
    ends: int  # at the ends of the domains, about
    doubts: int  # of a search, for each kind of doubt
    spread: int  # over the whole range
    thinned: int  # every so many-th of the invalid inputs


def quota(bound: Bound) -> Quota:
    """What a bound gets, by how many libraries have it and by how long its reference takes."""
    popular = bound.name.startswith(POPULAR)
    if _is_slow(bound):
        return Quota(near=1, ends=99 if popular else 16, doubts=0, spread=24 if popular else 14, thinned=2 - popular)
    if popular:
        return Quota(near=14, ends=99, doubts=3, spread=14, thinned=1)
    return Quota(near=6, ends=16, doubts=1, spread=4, thinned=2)


def _is_slow(bound: Bound) -> bool:
    return FEW_POINTS.get(bound.name, FEW) < FEW or bound.name.startswith(SLOW)


def make(bound: Bound, former: VectorFile | None = None) -> dict[str, Any]:
    """The document of a bound's vectors; the cases of a former file stay in it under their numbers."""
    kept = {_key(case.input): case for case in (former.cases if former is not None else ())}
    searched = {key for key, case in kept.items() if SEARCHED.name in case.flags}
    number = former.header["lastTcId"] if former is not None else 0
    found: dict[Key, Case] = {}
    for case in _cases(bound, search=not searched):
        key = _key(case.input)
        if key in found or key in searched:
            continue
        if key not in kept:
            number += 1
        found[key] = replace(case, tc_id=kept[key].tc_id if key in kept else number)
    for key in kept.keys() - found.keys():
        found[key] = _again(bound, kept[key])
    return document(bound, sorted(found.values(), key=lambda case: case.tc_id), number)


def described(bound: Bound, file: VectorFile) -> dict[str, Any]:
    """The document of a file with what is said of its bound, and what is attained, written anew."""
    cases = [
        case if case.expected is None
        else replace(case, expected=with_attained(bound, case.input, replace(case.expected, attained=None)))
        for case in file.cases
    ]
    return {**document(bound, cases, file.header["lastTcId"]), "generator": file.header["generator"]}


def _key(given: Mapping[str, Text]) -> Key:
    return tuple(sorted(given.items()))


def _again(bound: Bound, case: Case) -> Case:
    """A case of a former file that is not asked for any more, or that a search found: certified anew."""
    if case.expected is None:
        return case
    origin = next((flag for flag in GENERAL if flag.name in case.flags), None)
    again = tried(bound, (case.input, origin, case.comment), coarse=COARSE.name in case.flags)
    if isinstance(again, str):
        raise VectorError(f"{case.name} cannot be certified any more; to drop it is a matter for a major version")
    return replace(again, tc_id=case.tc_id)


def _cases(bound: Bound, *, search: bool) -> Iterator[Case]:
    """All cases, not yet numbered; an input may come twice."""
    asked = quota(bound)
    yield from islice(_certified(bound, _near(bound)), asked.near)
    # Of a slow bound only the ends that have a value of their own; those next to them take minutes.
    ends = (item for item in at_the_ends(bound) if not _is_slow(bound) or item[1] in (ORDINARY, BOUNDARY))
    found = list(_certified(bound, ends))
    yield from found[:: 1 + len(found) // asked.ends]
    yield from _certified(bound, ((given, None, "") for given in POINTS.get(bound.name, ())))
    if search and asked.doubts:
        extreme = extremes.find(bound, asked.doubts)
        yield from _certified(bound, ((given, SEARCHED, why) for given, why in extreme))
    yield from islice(_certified(bound, _spread(bound)), asked.spread)
    for given, flag, comment in islice(invalid_inputs(bound, example(bound)), None, None, asked.thinned):
        yield Case(bound.name, 0, given, None, (flag.name,), comment)


def _near(bound: Bound) -> Iterator[Candidate]:
    yield example(bound), ORDINARY, ""
    for index in range(1, 60):
        yield near_example(bound, index), ORDINARY, ""


def _spread(bound: Bound) -> Iterator[Candidate]:
    for index in range(1, 60):
        point = point_at(bound, halton(index, len(bound.parameters))) | words(bound, index)
        yield texts(rounded(point)), WIDE, ""


def _certified(bound: Bound, candidates: Iterable[Candidate]) -> Iterator[Case]:
    for candidate in candidates:
        case = valid_case(bound, candidate)
        if case is not None:
            yield case


def valid_case(bound: Bound, candidate: Candidate) -> Case | None:
    """The case of an input, or None where it has no answer that is worth asking for."""
    case = tried(bound, candidate)
    return None if isinstance(case, str) else case


def tried(bound: Bound, candidate: Candidate, *, coarse: bool = False) -> Case | str:
    """The case of an input, or why it has no answer that is worth asking for; a coarse one may be wider than others."""
    given, origin, comment = candidate
    try:
        truth, coarse = _truth(bound, given, coarse=coarse)
    except OracleError as error:
        return f"{OUTSIDE if isinstance(error, DomainError) else 'not certified'}: {error}"
    if is_open(truth):
        return "the certified lower end is 0, which judges nothing"
    if not is_told(truth):
        return "no double tells the answer"
    expected = Expected.parse(*(truth.to_decimals() if coarse else ends(truth)))
    if coarse and _is_wider(expected, COARSEST):
        return "the certified ends are so far apart that they judge little"
    if not coarse and _is_wider(expected, WIDEST):
        return "the two readings of the input differ by more than a millionth"
    case = Case(bound.name, 0, given, with_attained(bound, given, expected), (), comment)
    flags = [bug.flag.name for bug in KNOWN if bug.applies(case)]
    if origin not in (None, ORDINARY) or not flags:
        flags.insert(0, (origin or ORDINARY).name)
    return replace(case, flags=(*flags, *([COARSE.name] if coarse else ())))


def _truth(bound: Bound, given: Mapping[str, Text], *, coarse: bool) -> tuple[Enclosure, bool]:
    """What is certified, and whether it is wider than that of other cases, as it may be where this is allowed."""
    if not coarse or bound.soon is None:
        return certified(bound, given, width=WIDTH), False
    soon = certified(bound, given)
    if not is_told(soon) or _is_wider(Expected.parse(*soon.to_decimals()), _NARROW):
        return soon, True
    try:
        with within(_PATIENCE):
            return certified(bound, given, width=WIDTH), False
    except (PrecisionError, TooLongError):
        return soon, True


def _is_wider(expected: Expected, share: Fraction) -> bool:
    return expected.upper - expected.lower > share * expected.upper


def ends(enclosure: Enclosure) -> tuple[str, str]:
    """The ends as decimals, rounded outward."""
    return enclosure.lower.to_decimal(digits=DIGITS, up=False), enclosure.upper.to_decimal(digits=DIGITS, up=True)


def generator() -> dict[str, str]:
    """What made a file."""
    return {
        "name": "dp-oracle", "version": metadata.version("dp-oracle"),
        "arithmetic": f"python-flint {metadata.version('python-flint')}, ball arithmetic", "width": WIDTH,
    }


def document(bound: Bound, cases: list[Case], last: int) -> dict[str, Any]:
    """The JSON object of a file."""
    known, used = notes(), sorted({name for case in cases for name in case.flags})
    return {
        **describe(bound), "generator": generator(),
        "notes": {name: known[name] for name in used}, "numberOfTests": len(cases), "lastTcId": last,
        "tests": [_test(case) for case in cases],
    }


def notes() -> dict[str, dict[str, Any]]:
    """The notes of all flags, by name."""
    return {flag.name: flag.note() for flag in (*GENERAL, *(bug.flag for bug in KNOWN))}


def describe(bound: Bound) -> dict[str, Any]:
    """What a file says of its bound, from the registry."""
    return {
        "schema": f"{bound.unit}.schema.json", "vectorsVersion": VERSION, "bound": bound.name, "unit": bound.unit,
        "safe": bound.safe, "tightness": bound.tightness.to_json(), "neighbours": bound.neighbours,
        "threatModel": bound.threat_model, "released": bound.released, "summary": bound.summary,
        "formula": bound.formula, "source": list(bound.source),
        "parameters": [
            {"name": p.name, "kind": p.kind, "domain": p.domain, "meaning": p.meaning, "unit": p.unit}
            for p in bound.parameters
        ],
    }


def _test(case: Case) -> dict[str, Any]:
    test: dict[str, Any] = {
        "tcId": case.tc_id, "comment": case.comment, "flags": list(case.flags),
        "input": {name: list(text) if isinstance(text, tuple) else text for name, text in case.input.items()},
        "result": "invalid" if case.expected is None else "valid",
    }
    if case.expected is not None:
        test["expected"] = {"lower": _decimal(case.expected.lower), "upper": _decimal(case.expected.upper)}
        if case.expected.attained is not None:
            test["attained"] = _decimal(case.expected.attained)
    return test


def _decimal(end: Fraction) -> str:
    """An end of an expected value, which has few digits, in just these."""
    with localcontext(prec=4 * DIGITS):
        _, digits, exponent = (Decimal(end.numerator) / end.denominator).normalize().as_tuple()
    assert isinstance(exponent, int)
    return decimal_string(int("".join(map(str, digits))), exponent)
