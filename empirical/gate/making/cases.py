"""A case: one question to an implementation of a bound, with what is certified about its answer.

Inputs are texts, and there are two honest ways to read "0.1": as one tenth, or as the nearest double. Libraries do
both. The certified enclosure of a case therefore holds under both readings: it is the hull of the reference at the
decimal numbers and the reference at the doubles. An invalid case lies outside the closure of the bound's domain (or is
no number at all), so that whatever number comes back means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from oracle.core.domain import Parameter
from oracle.core.enclosure import Enclosure
from oracle.core.errors import PrecisionError, VectorError
from oracle.core.registry import Bound

Text = str | tuple[str, ...]
"""A parameter as it stands in a vector file: a decimal number, a word, or a schedule of decimal numbers."""


@dataclass(frozen=True)
class Expected:
    """The certified ends of a valid case, as exact numbers: lower <= value <= upper under both readings.

    `attained` is what the truth is certainly not below, where the value is only an upper bound of it (see
    `oracle.core.attainment`); None where the value is the truth itself, or where nothing is known.
    """

    lower: Fraction
    upper: Fraction
    attained: Fraction | None = None

    @staticmethod
    def parse(lower: str, upper: str, attained: str | None = None) -> Expected:
        """The ends that decimal strings stand for, exactly."""
        return Expected(Fraction(lower), Fraction(upper), None if attained is None else Fraction(attained))


@dataclass(frozen=True)
class Case:
    """One question: the bound's parameters as texts; `expected` is None where the right answer is a refusal."""

    bound: str
    tc_id: int
    input: Mapping[str, Text]
    expected: Expected | None
    flags: tuple[str, ...] = ()
    comment: str = ""

    @property
    def valid(self) -> bool:
        """Whether an implementation should answer it with a number."""
        return self.expected is not None

    @property
    def name(self) -> str:
        """How tables, JUnit files and pytest name it: `poisson-gaussian.epsilon/17`; 0 is a case of the search."""
        return f"{self.bound}/{self.tc_id}"


def argument(parameter: Parameter | None, text: Text) -> Any:
    """What an implementation is called with: an int, a float (the nearest double), a word, or a list of floats."""
    if isinstance(text, tuple):
        return [argument(None, entry) for entry in text]
    if parameter is not None and parameter.kind == "choice":
        return text
    try:
        number = float(text)
    except ValueError:
        return text  # an invalid case: no number
    if parameter is not None and parameter.kind == "integer" and math.isfinite(number):
        exact = Fraction(text)
        return int(exact) if exact.denominator == 1 else number
    return number


def arguments(bound: Bound, case_input: Mapping[str, Text]) -> dict[str, Any]:
    """The keyword arguments of a call, in the order of the bound's parameters."""
    return {
        parameter.name: argument(parameter, case_input[parameter.name])
        for parameter in bound.parameters if parameter.name in case_input
    }


def certified(bound: Bound, case_input: Mapping[str, Text], *, width: str | None = None) -> Enclosure:
    """The enclosure of the truth under both readings of the input; what the reference raises, it raises.

    Without a width it is what the reference answers soon: sound, and wider where a narrow answer would be dear.
    """
    decimal = {name: list(text) if isinstance(text, tuple) else text for name, text in case_input.items()}
    double = arguments(bound, case_input)
    enclosure = bound.at(decimal, width=width)
    if bound.parse(decimal) == bound.parse(double):
        return enclosure
    return enclosure.hull(bound.at(double, width=width))


def attained(bound: Bound, case_input: Mapping[str, Text], *, width: str = "1e-13") -> Enclosure | None:
    """What is certainly attained under both readings of an input of a bracketed bound; None where it is not certified.

    The smaller lower end counts.
    """
    if bound.tightness.kind != "bracketed":
        return None
    decimal = {name: list(text) if isinstance(text, tuple) else text for name, text in case_input.items()}
    double = arguments(bound, case_input)
    try:
        first = bound.attained(decimal, width=width)
        second = first if bound.parse(decimal) == bound.parse(double) else bound.attained(double, width=width)
    except PrecisionError:
        return None
    return None if first is None or second is None else first.hull(second)


_DIGITS = 16  # of what is attained, rounded down
SMALLEST, LARGEST = Fraction(1, 10**300), Fraction(10**300)


def is_open(truth: Enclosure) -> bool:
    """Whether nothing is known but an upper end: any answer may be right."""
    return truth.lower.mantissa == 0 and truth.upper.mantissa != 0


def is_told(truth: Enclosure) -> bool:
    """Whether a double can tell the answer: it is 0, or of a size that doubles have with all their digits.

    To be asked before an end becomes a Fraction: a delta of 10^-(10^15) is quickly enclosed, and never written out.
    """
    if truth.lower.mantissa == 0 and truth.upper.mantissa == 0:
        return True
    return truth.lower.compare(SMALLEST) >= 0 and truth.upper.compare(LARGEST) <= 0


def with_attained(bound: Bound, given: Mapping[str, Text], expected: Expected) -> Expected:
    """The ends with what is attained, rounded down, where the bound is an upper one that has this beside it."""
    found = attained(bound, given)
    if found is None:
        return expected
    if found.lower.compare(expected.upper) > 0:
        raise VectorError(f"{bound.name} at {dict(given)}: {found} is attained, above the bound itself")
    low = Fraction(found.lower.to_decimal(digits=_DIGITS, up=False)) if found.lower.compare(SMALLEST) >= 0 else 0
    return replace(expected, attained=min(Fraction(low), expected.lower))
