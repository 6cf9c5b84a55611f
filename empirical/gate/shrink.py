"""Simpler inputs near a given one: 1, 0.5 or 1e-5 are easier to think about than 0.4837498."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Context, Decimal

from empirical.gate.making.cases import Text
from oracle.core.domain import Parameter
from oracle.core.registry import Bound

_FAVOURITES = {"real": ("1.0", "0.0", "0.5", "2.0", "0.1", "10.0"), "integer": ("1", "0", "2", "10", "100", "1000")}


def simpler(bound: Bound, given: Mapping[str, Text]) -> Iterator[dict[str, Text]]:
    """Inputs that differ in one parameter, in which they are simpler; all schedules are shortened together."""
    schedules = {name: text for name, text in given.items() if isinstance(text, tuple)}
    length = min((len(text) for text in schedules.values()), default=0)
    for shorter in sorted({1, length // 2, length - 1}):
        if 0 < shorter < length:
            yield {**given, **{name: text[:shorter] for name, text in schedules.items()}}
    for parameter in bound.parameters:
        for text in _simpler(parameter, given[parameter.name]):
            yield {**given, parameter.name: text}


def _simpler(parameter: Parameter, text: Text) -> Iterator[Text]:
    if isinstance(text, tuple):
        for index, entry in enumerate(text):
            for other in _numbers("real", entry):
                yield (*text[:index], other, *text[index + 1 :])
    elif parameter.kind == "choice":
        yield from parameter.choices[: parameter.choices.index(text)]
    else:
        yield from _numbers(parameter.kind, text)


def _numbers(kind: str, text: str) -> Iterator[str]:
    """Simpler numbers than this one, the simplest first."""
    value = Decimal(text)
    nearby: list[Decimal] = []
    if value.is_finite() and value:
        nearby = [Decimal(1).scaleb(value.adjusted()), *(value.normalize(Context(prec=digits)) for digits in (1, 2, 3))]
        if 0 < value < 1:  # just below 1, as contractions are
            nearby += [1 - (1 - value).normalize(Context(prec=digits)) for digits in (1, 2)]
    for candidate in dict.fromkeys((*_FAVOURITES[kind], *(_written(kind, number) for number in nearby))):
        if complexity(candidate) < complexity(text):
            yield candidate


def _written(kind: str, value: Decimal) -> str:
    return str(int(value)) if kind == "integer" else repr(float(value))


def complexity(text: str) -> tuple[int, int, int]:
    """How hard a number is to think about: its digits, the digits of its distance to 1, how far it is from 1."""
    value = Decimal(text)
    if not value.is_finite():
        return (0, 0, 0)
    digits = len(value.normalize().as_tuple().digits)
    if 0 < value < 1:
        digits = min(digits, 1 + len((1 - value).normalize().as_tuple().digits))
    favourite = {Decimal(1): 0, Decimal(0): 1, Decimal("0.5"): 2, Decimal(2): 3}.get(value, 4)
    return (digits, favourite, abs(value.adjusted()))
