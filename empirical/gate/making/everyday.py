"""Inputs of a bound near its everyday example, and with one parameter of the example at an end of its domain."""

from __future__ import annotations

import math
from collections.abc import Iterator

from empirical.gate.making.cases import Text, argument
from empirical.gate.making.flags import BOUNDARY, HUGE, NEAR_BOUNDARY, ORDINARY, Flag
from empirical.gate.making.points import CORNERS, Point, point_at, texts
from empirical.gate.ranges import logarithmic
from oracle.core.domain import Parameter
from oracle.core.registry import Bound

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)


def halton(index: int, dimensions: int) -> tuple[float, ...]:
    """The point of that number of a sequence that fills the unit cube evenly."""

    def radical_inverse(base: int) -> float:
        value, scale, rest = 0.0, 1.0, index
        while rest:
            scale /= base
            rest, digit = divmod(rest, base)
            value += digit * scale
        return value

    return tuple(radical_inverse(base) for base in _PRIMES[:dimensions])


def example(bound: Bound) -> dict[str, Text]:
    """The bound's own example; the middle of the range where it has none."""
    if bound.example is None:
        return texts(rounded(point_at(bound, [0.5] * len(bound.parameters))))
    kinds = {parameter.name: parameter.kind for parameter in bound.parameters}
    return {
        parameter.name: tuple(bound.example[parameter.name].split(",")) if kinds[parameter.name] == "schedule"
        else bound.example[parameter.name]
        for parameter in bound.parameters
    }


def rounded(point: Point, digits: int = 4) -> Point:
    """The point with few digits, near 1 counted from 1, so that people can read and type it."""
    return {
        name: tuple(_rounded(entry, digits) for entry in value) if isinstance(value, tuple) else _rounded(value, digits)
        for name, value in point.items()
    }


def _rounded(value: int | float | str, digits: int) -> int | float | str:
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    if 0.9 < value < 1.1:
        return 1.0 + float(f"{value - 1.0:.{digits - 1}g}")
    return float(f"{value:.{digits}g}")


def words(bound: Bound, index: int) -> dict[str, str]:
    """A word for each choice, so that consecutive indices go through all combinations."""
    chosen = {}
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            index, position = divmod(index, len(parameter.choices))
            chosen[parameter.name] = parameter.choices[position]
    return chosen


def near_example(bound: Bound, index: int) -> dict[str, Text]:
    """The example with every number moved by a factor of its own."""
    base = example(bound)
    moved: Point = {}
    for parameter, u in zip(bound.parameters, halton(index, len(bound.parameters)), strict=True):
        text = base[parameter.name]
        if isinstance(text, tuple):
            moved[parameter.name] = tuple(_moved(parameter, float(entry), u) for entry in text)
        elif parameter.kind != "choice":
            moved[parameter.name] = _moved(parameter, argument(parameter, text), u)
    moved |= words(bound, index)
    return {parameter.name: texts(rounded(moved, 3))[parameter.name] for parameter in bound.parameters}


def _moved(parameter: Parameter, value: int | float, u: float) -> int | float:
    if parameter.kind == "integer":
        return max(round(value * logarithmic(u, (-1.0, 1.0))), math.ceil(parameter.low or 0))
    if parameter.low == 1 and parameter.low_open:
        return 1.0 + (value - 1.0) * logarithmic(u, (-1.0, 0.7))
    if parameter.high == 1:
        if value > 0.5:
            return 1.0 - (1.0 - value) * logarithmic(u, (-1.0, 0.3))
        return min(value * logarithmic(u, (-5.0, 2.0) if value < 1e-3 else (-1.5, 0.3)), 1.0)
    return value * logarithmic(u, (-1.0, 1.0) if parameter.kind == "real" else (-0.3, 0.3))


def at_the_ends(bound: Bound) -> Iterator[tuple[dict[str, Text], Flag, str]]:
    """The example with one parameter in turn at, or next to, an end of its domain, or very large: with a comment."""
    base = example(bound)
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            for word in parameter.choices:
                yield {**base, parameter.name: word}, ORDINARY, f"{parameter.name} = {word}"
        elif parameter.kind != "schedule":
            for text, flag in _ends(bound, parameter):
                yield {**base, parameter.name: text}, flag, f"{parameter.name} = {text}"
    if any(isinstance(text, tuple) for text in base.values()):
        short = {name: text[:1] if isinstance(text, tuple) else text for name, text in base.items()}
        yield short, BOUNDARY, "schedules of one entry"


def _ends(bound: Bound, parameter: Parameter) -> Iterator[tuple[str, Flag]]:
    low, high = parameter.low, parameter.high
    if parameter.infinite:
        yield "inf", BOUNDARY
    if low is not None and not parameter.low_open:
        yield str(texts({"": float(low)})[""]), BOUNDARY
    if parameter.kind == "integer":
        yield str(math.floor(low or 0) + (2 if parameter.low_open else 1)), NEAR_BOUNDARY
        yield str(min(_largest(bound, parameter, 10**6), int(high or 2**53))), HUGE
        return
    yield from ((text, NEAR_BOUNDARY) for text in _next_to_low(parameter))
    if high == 1:
        yield "0.3" if low == 0 else "0.7", ORDINARY
        yield "0.999999999", NEAR_BOUNDARY
        if not parameter.high_open:
            yield "1", BOUNDARY
    elif high is None:
        yield str(texts({"": float(_largest(bound, parameter, 10**8))})[""]), HUGE


def _next_to_low(parameter: Parameter) -> tuple[str, ...]:
    if parameter.low is None:
        return ()
    if parameter.low > 0:
        return (str(texts({"": float(parameter.low) + 1e-6})[""]), str(texts({"": float(parameter.low) + 0.01})[""]))
    if parameter.high == 1:
        return ("1e-9", "1e-15", "1e-100")
    return ("1e-8", "0.001")


def _largest(bound: Bound, parameter: Parameter, usual: int) -> int:
    """The largest value that is not too much for this bound's reference, from the corners that are known."""
    corners = [value for value in CORNERS.get((bound.name, parameter.name), (usual,)) if value <= usual]
    return int(max(corners)) if corners and max(corners) >= 1 else usual
