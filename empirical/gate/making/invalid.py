"""Inputs that mean nothing, of which the right answer is a refusal.

Only what lies outside the closure of the domain is asked: at the end of an open interval a limit may be right (epsilon
at delta = 0 may be infinite), and a count of 0 may have a meaning. Nor is every domain of a bound a mathematical one:
an upper end such as "at most 100000 steps" is a limit of this project's own code, and a contraction above 1 is only
another theorem's business. So the questions are: NaN, a text, a negative number, a probability above 1, a fraction of a
count, a word that is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from empirical.gate.making.cases import Text
from empirical.gate.making.flags import (
    ABOVE_ONE,
    BEYOND,
    NEGATIVE,
    NON_INTEGER,
    NOT_A_NUMBER,
    NOT_NUMERIC,
    UNKNOWN_WORD,
    Flag,
)
from oracle.core.domain import Parameter
from oracle.core.errors import DomainError
from oracle.core.registry import Bound

PROBABILITIES = (
    "delta", "base_delta", "threshold_delta", "slack", "failure_probability", "sampling_rate", "keep",
)
CLASSICAL = ("gaussian-classical.sigma", "epsilon")  # the one other upper end that is a theorem's: epsilon at most 1

Invalid = tuple[dict[str, Text], Flag, str]


def invalid_inputs(bound: Bound, base: Mapping[str, Text]) -> Iterator[Invalid]:
    """Each parameter of a valid input in turn made to mean nothing: input, flag, comment."""
    numbers = [parameter for parameter in bound.parameters if parameter.kind != "choice"]
    for parameter in numbers:
        yield _changed(base, parameter, "nan", NOT_A_NUMBER, "is NaN")
        if parameter.low is not None and parameter.low >= 0:
            yield _changed(base, parameter, "-1", NEGATIVE, "is negative")
        if parameter.name in PROBABILITIES and parameter.high == 1:
            yield _changed(base, parameter, "1.5", ABOVE_ONE, "is above 1")
        if (bound.name, parameter.name) == CLASSICAL:
            yield _changed(base, parameter, "1.5", BEYOND, "is above 1")
        if parameter.kind == "integer":
            yield _changed(base, parameter, "2.5", NON_INTEGER, "is no integer")
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            yield _changed(base, parameter, "neither", UNKNOWN_WORD, "is none of its words")
    yield _changed(base, numbers[0], "one", NOT_NUMERIC, "is a word")


def _changed(base: Mapping[str, Text], parameter: Parameter, text: str, flag: Flag, what: str) -> Invalid:
    old = base[parameter.name]
    # Of a schedule the last entry, which is as easily forgotten by a check.
    new = (*old[:-1], text) if isinstance(old, tuple) else text
    return {**base, parameter.name: new}, flag, f"{parameter.name} {what}"


def is_outside(bound: Bound, given: Mapping[str, Text]) -> bool:
    """Whether an input lies outside the closure of the bound's domain, and the bound's own parser refuses it."""
    try:
        bound.parse({name: list(text) if isinstance(text, tuple) else text for name, text in given.items()})
    except DomainError:
        return any(_outside(bound, parameter, given.get(parameter.name, "")) for parameter in bound.parameters)
    return False


def _outside(bound: Bound, parameter: Parameter, text: Text) -> bool:
    if isinstance(text, tuple):
        return any(_outside(bound, parameter, entry) for entry in text)
    if parameter.kind == "choice":
        return text not in parameter.choices
    try:
        number = float(text)
    except ValueError:
        return True
    if not math.isfinite(number):
        return math.isnan(number)
    exact = Fraction(text)
    below = parameter.low is not None and parameter.low >= 0 and exact < 0
    limited = parameter.name in PROBABILITIES or (bound.name, parameter.name) == CLASSICAL
    above = limited and parameter.high == 1 and exact > 1
    return below or above or (parameter.kind == "integer" and exact.denominator != 1)
