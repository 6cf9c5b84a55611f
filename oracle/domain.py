"""Parameter domains: the one place that turns text or numbers into exact values, or says clearly why not.

Decimal text is exact: "0.1" is one tenth. A Python float is the double that it is. "1/60" is a sixtieth.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from oracle.errors import DomainError

Number = int | float | Fraction | Decimal | str
Value = int | Fraction | str

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_RATIO = re.compile(r"[+-]?\d+/\d+")
_LARGEST_EXPONENT = 4000  # 10**-4000 is still an instant Fraction; nobody means a delta below it
_LONGEST_TEXT = 4000  # Python converts no longer text to an integer


def exact(name: str, value: Number, expected: str) -> Fraction:
    """The exact rational that a number or its decimal text stands for."""
    if isinstance(value, (str, Decimal)):
        return _exact_text(name, str(value).strip(), expected)
    if isinstance(value, float) and not math.isfinite(value):
        raise DomainError(f"{name} = {value} is not a finite number; expected {expected}")
    try:
        if isinstance(value, bool):
            raise TypeError
        # An index is any integer type, numpy's included, whose own arithmetic would overflow.
        return Fraction(operator.index(value)) if hasattr(value, "__index__") else Fraction(value)
    except (TypeError, ValueError):
        raise DomainError(f"{name} = {shown(value)} is not a number; expected {expected}") from None


def shown(value: object) -> str:
    """A value as an error message shows it: one short line, whatever it is."""
    if isinstance(value, (int, Fraction)) and max(value.numerator, value.denominator, key=abs).bit_length() > 500:
        return f"a number of {max(value.numerator, value.denominator, key=abs).bit_length()} bits"
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _exact_text(name: str, text: str, expected: str) -> Fraction:
    is_decimal = _DECIMAL.fullmatch(text) is not None
    if len(text) > _LONGEST_TEXT or not (is_decimal or _RATIO.fullmatch(text)):
        raise DomainError(f"{name} = {shown(text)} is not a number; expected {expected}")
    exponent = text.lower().partition("e")[2] if is_decimal else ""
    if exponent and (len(exponent) > 8 or abs(int(exponent)) > _LARGEST_EXPONENT):
        raise DomainError(
            f"{name} = {shown(text)} has a decimal exponent beyond {_LARGEST_EXPONENT}; expected {expected}"
        )
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise DomainError(f"{name} = {shown(text)} divides by zero; expected {expected}") from None


@dataclass(frozen=True)
class Parameter:
    """A named parameter: a real or an integer between two ends, or one of a few words."""

    name: str
    kind: str = "real"  # "real" | "integer" | "choice"; "vector" only in the hypotheses of a claim
    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    choices: tuple[str, ...] = ()
    meaning: str = ""

    @property
    def domain(self) -> str:
        """The domain in words, as it stands in error messages and listings."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "vector":
            return "a real vector"
        noun = "an integer" if self.kind == "integer" else "a real number"
        if self.low is not None and self.high is not None:
            left, right = ("(" if self.low_open else "["), (")" if self.high_open else "]")
            return f"{noun} in {left}{self.low}, {self.high}{right}"
        if self.low is not None:
            return f"{noun} {'>' if self.low_open else '>='} {self.low}"
        return noun

    def parse(self, value: Number) -> Value:
        """The exact value of an input, or a DomainError that names argument, value and domain."""
        if self.kind == "choice":
            if value not in self.choices:
                raise DomainError(f"{self.name} = {shown(value)} is outside its domain: {self.domain}")
            return str(value)
        number = exact(self.name, value, self.domain)
        if not self._inside(number) or (self.kind == "integer" and number.denominator != 1):
            raise DomainError(f"{self.name} = {shown(value)} is outside its domain: {self.domain}")
        return int(number) if self.kind == "integer" else number

    def _inside(self, number: Fraction) -> bool:
        above = self.low is None or number > self.low or (number == self.low and not self.low_open)
        below = self.high is None or number < self.high or (number == self.high and not self.high_open)
        return above and below

    def outside(self, xp: Any, array: Any) -> Any:
        """A boolean array that marks the entries outside the domain (NaN and infinities included)."""
        bad = ~xp.isfinite(array)
        if self.low is not None:
            bad = bad | (array < float(self.low)) | ((array == float(self.low)) if self.low_open else bad)
        if self.high is not None:
            bad = bad | (array > float(self.high)) | ((array == float(self.high)) if self.high_open else bad)
        if self.kind == "integer":
            bad = bad | (array != xp.floor(array))
        return bad


def positive(name: str, meaning: str = "") -> Parameter:
    """A real number > 0."""
    return Parameter(name, low=Fraction(0), low_open=True, meaning=meaning)


def non_negative(name: str, meaning: str = "") -> Parameter:
    """A real number >= 0."""
    return Parameter(name, low=Fraction(0), meaning=meaning)


def vector(name: str, meaning: str = "") -> Parameter:
    """Any real vector: a hypothesis of a claim, not an input."""
    return Parameter(name, kind="vector", meaning=meaning)


def probability(name: str, meaning: str = "") -> Parameter:
    """A real number strictly between 0 and 1."""
    return Parameter(name, low=Fraction(0), high=Fraction(1), low_open=True, high_open=True, meaning=meaning)


def unit_interval(name: str, meaning: str = "") -> Parameter:
    """A real number in [0, 1]."""
    return Parameter(name, low=Fraction(0), high=Fraction(1), meaning=meaning)


def positive_integer(name: str, meaning: str = "") -> Parameter:
    """An integer >= 1."""
    return Parameter(name, kind="integer", low=Fraction(1), meaning=meaning)


def non_negative_integer(name: str, meaning: str = "") -> Parameter:
    """An integer >= 0."""
    return Parameter(name, kind="integer", low=Fraction(0), meaning=meaning)


def choice(name: str, *choices: str, meaning: str = "") -> Parameter:
    """One of a few words."""
    return Parameter(name, kind="choice", choices=choices, meaning=meaning)


def parse_all(owner: str, parameters: tuple[Parameter, ...], given: dict[str, Any]) -> dict[str, Value]:
    """Every parameter parsed; unknown and missing names are errors that list what is known."""
    known = [parameter.name for parameter in parameters]
    for name in given:
        if name not in known:
            got = shown(given[name])
            raise DomainError(f"{owner} has no parameter {shown(name)} (got {got}); it takes {', '.join(known)}")
    for parameter in parameters:
        if parameter.name not in given:
            raise DomainError(f"{owner} needs {parameter.name}: {parameter.domain}")
    return {parameter.name: parameter.parse(given[parameter.name]) for parameter in parameters}
