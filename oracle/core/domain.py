"""Parameter domains: the one place that turns text or numbers into exact values, or says clearly why not.

Decimal text is exact: "0.1" is one tenth. A Python float is the double that it is. "1/60" is a sixtieth. A schedule is
a list of such numbers, or their text with commas.
"""

from __future__ import annotations

import functools
import math
import operator
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from oracle.core.errors import DomainError
from oracle.core.former_names import FORMER

Number = int | float | Fraction | Decimal | str
Value = int | Fraction | str | float | tuple[Fraction, ...]
"""A parsed parameter; a float is only ever infinity, which an `extended` parameter allows."""

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


_LARGEST_TOLD = 10**308  # a number that float() takes


def shown(value: object) -> str:
    """A value as an error message shows it: one short line, whatever it is."""
    if isinstance(value, (int, Fraction)):
        bits = max(value.numerator, value.denominator, key=abs).bit_length()
        if bits > 500:
            near = float(value) if abs(Fraction(value)) <= _LARGEST_TOLD else 0.0
            return f"about {near:.6g}" if near else f"a number of {bits} bits"
    text = printable(str(value))
    return text if len(text) <= 60 else text[:57] + "..."


def printable(text: str) -> str:
    """A text as one line without what a terminal, an encoder or an XML file would stumble over."""
    return clean(" ".join(text.split()))


def clean(text: str) -> str:
    """A text of any number of lines, without what a terminal or a page would obey instead of showing it.

    That is escape sequences and other control characters, what turns the direction of writing, and halves of pairs.
    """
    return "\n".join(line if line.isprintable() else "".join(map(_harmless, line)) for line in text.split("\n"))


def _harmless(character: str) -> str:
    """A character, if it is to be seen or a space."""
    return character if character.isprintable() or unicodedata.category(character) == "Zs" else "\ufffd"


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
    """A named parameter: a real or an integer between two ends, a list of such reals, or one of a few words."""

    name: str
    kind: str = "real"  # "real" | "integer" | "schedule" | "choice"; "vector" only in the hypotheses of a claim
    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    choices: tuple[str, ...] = ()
    meaning: str = ""
    infinite: bool = False  # whether infinity is allowed, too
    unit: str = ""  # of what it is a multiple; empty for a pure number

    @property
    def domain(self) -> str:
        """The domain in words, as it stands in error messages and listings."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind == "vector":
            return "a real vector"
        if self.kind == "schedule":
            return "a list of numbers, each " + self._entry().domain
        return self._interval() + (", or inf" if self.infinite else "")

    def _interval(self) -> str:
        noun = "an integer" if self.kind == "integer" else "a real number"
        if self.low is not None and self.high is not None:
            left, right = ("(" if self.low_open else "["), (")" if self.high_open else "]")
            return f"{noun} in {left}{self.low}, {self.high}{right}"
        if self.low is not None:
            return f"{noun} {'>' if self.low_open else '>='} {self.low}"
        return noun

    def above(self, low: Number) -> Parameter:
        """The same parameter where it must be larger."""
        return replace(self, low=Fraction(low), low_open=True)

    def at_least(self, low: Number) -> Parameter:
        """The same parameter where it must not be smaller."""
        return replace(self, low=Fraction(low), low_open=False)

    def below(self, high: Number) -> Parameter:
        """The same parameter where it must be smaller."""
        return replace(self, high=Fraction(high), high_open=True, infinite=False)

    def at_most(self, high: Number) -> Parameter:
        """The same parameter where it must not be larger."""
        return replace(self, high=Fraction(high), high_open=False, infinite=False)

    def open(self) -> Parameter:
        """The same parameter strictly between its ends."""
        return replace(self, low_open=True, high_open=True)

    def finite(self) -> Parameter:
        """The same parameter where it must be a number."""
        return replace(self, infinite=False)

    def choosing(self, *choices: str) -> Parameter:
        """The same parameter where only these words are allowed, in this order."""
        return replace(self, choices=choices)

    def narrows(self, other: Parameter) -> bool:
        """Whether this is the other parameter but for a domain that is no larger."""
        same = replace(
            self, low=other.low, high=other.high, low_open=other.low_open, high_open=other.high_open,
            choices=other.choices, infinite=other.infinite,
        )
        return (
            same == other and set(self.choices) <= set(other.choices) and (other.infinite or not self.infinite)
            and _no_lower(self, other) and _no_higher(self, other)
        )

    def parse(self, value: Number) -> Value:
        """The exact value of an input, or a DomainError that names argument, value and domain."""
        if self.kind == "choice":
            if value not in self.choices:
                raise DomainError(f"{self.name} = {shown(value)} is outside its domain: {self.domain}")
            return str(value)
        if self.kind == "schedule":
            return self._parse_schedule(value)
        if self.infinite and str(value).strip() in ("inf", "Infinity"):
            return math.inf
        number = exact(self.name, value, self.domain)
        if not self._inside(number) or (self.kind == "integer" and number.denominator != 1):
            raise DomainError(f"{self.name} = {shown(value)} is outside its domain: {self.domain}")
        return int(number) if self.kind == "integer" else number

    def rational(self, value: Number) -> Fraction:
        """The exact value of an input that is a number, or a DomainError."""
        number = self.parse(value)
        assert isinstance(number, (int, Fraction)), f"{self.name} is no finite number"
        return Fraction(number)

    def _entry(self) -> Parameter:
        return replace(self, kind="real")

    def _parse_schedule(self, given: Any) -> tuple[Fraction, ...]:
        if isinstance(given, str):
            inside = given.strip().removeprefix("[").removesuffix("]")
            given = inside.split(",") if inside.strip() else []
        # A zero-dimensional array says that it is iterable, and is not.
        if not isinstance(given, Iterable) or getattr(given, "ndim", 1) != 1:
            raise DomainError(f"{self.name} = {shown(given)} is no list; expected {self.domain}")
        entries: list[Fraction] = []
        for index, value in enumerate(given, start=1):
            try:
                number = exact(self.name, value, self.domain)
            except DomainError as error:
                raise DomainError(f"{error} (entry {index})") from None
            if not self._inside(number):
                raise DomainError(f"{self.name} = {shown(value)} (entry {index}) is outside its domain: {self.domain}")
            entries.append(number)
        return tuple(entries)

    def _inside(self, number: Fraction) -> bool:
        above = self.low is None or number > self.low or (number == self.low and not self.low_open)
        below = self.high is None or number < self.high or (number == self.high and not self.high_open)
        return above and below

    def outside(self, xp: Any, array: Any) -> Any:
        """A boolean array that marks the entries outside the domain (NaN and infinities included)."""
        if self.low is None:
            inside = array > -math.inf
        else:
            least, beside = _double(self.low)
            inside = array > least if beside < 0 or (self.low_open and not beside) else array >= least
        if self.high is not None:
            most, beside = _double(self.high)
            inside = inside & (array < most if beside > 0 or (self.high_open and not beside) else array <= most)
        elif not self.infinite:
            inside = inside & (array < math.inf)
        if self.kind == "integer":
            inside = inside & (array == xp.floor(array))
        return ~inside


@functools.cache
def _double(end: Fraction) -> tuple[float, int]:
    """The nearest double of an end, and on which side of it that lies: -1 below, 0 at it, 1 above."""
    nearest = float(end)
    return nearest, (Fraction(nearest) > end) - (Fraction(nearest) < end)


def _no_lower(inner: Parameter, outer: Parameter) -> bool:
    if outer.low is None or inner.low is None:
        return outer.low is None
    return inner.low > outer.low or (inner.low == outer.low and (inner.low_open or not outer.low_open))


def _no_higher(inner: Parameter, outer: Parameter) -> bool:
    if outer.high is None or inner.high is None:
        return outer.high is None
    return inner.high < outer.high or (inner.high == outer.high and (inner.high_open or not outer.high_open))


def real(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """Any real number."""
    return Parameter(name, meaning=meaning, unit=unit)


def positive(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """A real number > 0."""
    return Parameter(name, low=Fraction(0), low_open=True, meaning=meaning, unit=unit)


def non_negative(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """A real number >= 0."""
    return Parameter(name, low=Fraction(0), meaning=meaning, unit=unit)


def vector(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """Any real vector: a hypothesis of a claim, not an input."""
    return Parameter(name, kind="vector", meaning=meaning, unit=unit)


def extended(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """A real number >= 0, or infinity."""
    return Parameter(name, low=Fraction(0), meaning=meaning, infinite=True, unit=unit)


def schedule(
    name: str, meaning: str = "", *, low: int | None = 0, low_open: bool = True, unit: str = ""
) -> Parameter:
    """A list of real numbers, one a step (or a phase, or a direction): each > 0 unless said otherwise."""
    return Parameter(
        name, kind="schedule", low=None if low is None else Fraction(low), low_open=low_open, meaning=meaning,
        unit=unit,
    )


def probability(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """A real number strictly between 0 and 1."""
    return Parameter(name, low=Fraction(0), high=Fraction(1), low_open=True, high_open=True, meaning=meaning, unit=unit)


def unit_interval(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """A real number in [0, 1]."""
    return Parameter(name, low=Fraction(0), high=Fraction(1), meaning=meaning, unit=unit)


def positive_integer(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """An integer >= 1."""
    return Parameter(name, kind="integer", low=Fraction(1), meaning=meaning, unit=unit)


def non_negative_integer(name: str, meaning: str = "", *, unit: str = "") -> Parameter:
    """An integer >= 0."""
    return Parameter(name, kind="integer", low=Fraction(0), meaning=meaning, unit=unit)


def choice(name: str, *choices: str, meaning: str = "") -> Parameter:
    """One of a few words."""
    return Parameter(name, kind="choice", choices=choices, meaning=meaning)


def flag(name: str, meaning: str = "") -> Parameter:
    """True or false."""
    return choice(name, "true", "false", meaning=meaning)


def unknown(owner: str, name: str, value: object, known: Sequence[str]) -> DomainError:
    """The error for a name that an owner does not take; for a name of an earlier version it says the new one."""
    now = [new for new in FORMER.get(name, ()) if new in known]
    renamed = f": its name is {' or '.join(now)} now" if now else ""
    takes = ", ".join(known)
    return DomainError(f"{owner} has no parameter {shown(name)} (got {shown(value)}){renamed}; it takes {takes}")


def word(value: Any) -> Any:
    """A value as it is, but for Python's and TOML's truth values: they are the words of a flag."""
    return str(value).lower() if isinstance(value, bool) else value


def parse_all(owner: str, parameters: tuple[Parameter, ...], given: dict[str, Any]) -> dict[str, Value]:
    """Every parameter parsed; unknown and missing names are errors that list what is known."""
    known = [parameter.name for parameter in parameters]
    for name in given:
        if name not in known:
            raise unknown(owner, name, given[name], known)
    for parameter in parameters:
        if parameter.name not in given:
            raise DomainError(f"{owner} needs {parameter.name}: {parameter.domain}")
    values = {parameter.name: parameter.parse(given[parameter.name]) for parameter in parameters}
    same_length(owner, {name: len(value) for name, value in values.items() if isinstance(value, tuple)})
    return values


def same_length(owner: str, lengths: dict[str, int]) -> None:
    """A DomainError unless all schedules of an owner have one length."""
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} = {count} entries" for name, count in lengths.items())
        raise DomainError(f"{told}: the schedules of {owner} must have one length")
