"""The hypotheses of a claim as a domain: what symbols, boxes and points of a check are made from.

A check that takes its values from here is held to the claim's own hypotheses: the ends of every interval, or points
just inside an open end, come first, and a claim called true for all values whose check never tried them is an error. A
hypothesis that is changed (`without`) changes the symbols and the points, so a check cannot ignore it unnoticed.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Number, Parameter, exact
from oracle.core.errors import DomainError

_NEAR = Fraction(1, 10**6)  # how near to an open end, as a part of the interval, or absolutely if it has no other end
_STEPS = tuple(Fraction(text) for text in ("1/2", "1", "2", "10", "1000"))
_COUNTS = (1, 2, 3, 7, 50)
_INSIDE = tuple(Fraction(text) for text in ("1/2", "1/10", "3/4", "99/100"))
_SEED = 20240607

Point = dict[str, Any]
Ends = tuple[Fraction, Fraction]


class Domain:
    """The domain that hypotheses describe, and which of them a check has tried at their ends."""

    def __init__(self, parameters: tuple[Parameter, ...]) -> None:
        self.parameters = {item.name: item for item in parameters}
        self._tried: set[str] = set()

    def __getitem__(self, name: str) -> Parameter:
        if name not in self.parameters:
            raise DomainError(f"no hypothesis {name}; there are: {', '.join(self.parameters) or 'none'}")
        return self.parameters[name]

    @property
    def untested(self) -> tuple[str, ...]:
        """The hypotheses whose ends have not been tried; vectors have none."""
        return tuple(
            name for name, item in self.parameters.items() if item.kind != "vector" and name not in self._tried
        )

    def contains(self, **point: Any) -> bool:
        """Whether values meet the hypotheses of these names."""
        try:
            for name, value in point.items():
                self[name].parse(value)
        except DomainError:
            return False
        return True

    def without(self, name: str) -> Domain:
        """The domain with one hypothesis dropped: the parameter may be any number of its kind."""
        free = replace(self[name], low=None, high=None, low_open=False, high_open=False)
        return Domain(tuple(free if item.name == name else item for item in self.parameters.values()))

    def values(self, name: str, *, least: Number | None = None, most: Number | None = None) -> tuple[Any, ...]:
        """Values of one parameter, its ends (or what is next to them) first, then some inside.

        `least` and `most` keep an unbounded parameter within what the check can afford; an end of the domain itself
        cannot be cut off.
        """
        item = self[name]
        self._tried.add(name)
        if item.kind == "choice":
            return item.choices
        if item.kind == "schedule":
            return _schedules(self._numbers(replace(item, kind="real"), least, most))
        return self._numbers(item, least, most)

    def _numbers(self, item: Parameter, least: Number | None, most: Number | None) -> tuple[Any, ...]:
        for end, cut, word in ((item.low, least, "least"), (item.high, most, "most")):
            if end is not None and cut is not None:
                raise DomainError(f"{word} = {cut} would cut off an end of {item.name}: {item.domain}")
        low = None if least is None else exact("least", least, "a number")
        high = None if most is None else exact("most", most, "a number")
        found = _around(item)
        inside = [value for value in found if (low is None or value >= low) and (high is None or value <= high)]
        inside += [value for value in (low, high) if value is not None and value not in inside and item._inside(value)]
        return tuple(int(value) if item.kind == "integer" else value for value in inside)

    def points(
        self, *names: str, at_most: int = 400, least: Mapping[str, Number] | None = None,
        most: Mapping[str, Number] | None = None,
    ) -> Iterator[Point]:
        """Points of some parameters (all that have values, if none is named): the corners, then a drawn selection.

        Of more corners than half of `at_most` some are drawn, among them that of all first and that of all last ends.
        """
        chosen = names or tuple(name for name, item in self.parameters.items() if item.kind != "vector")
        lists = [self.values(name, least=(least or {}).get(name), most=(most or {}).get(name)) for name in chosen]
        every = itertools.product(*lists)
        if math.prod(map(len, lists)) <= at_most:
            yield from (dict(zip(chosen, point, strict=True)) for point in every)
            return
        ends = [values[:2] for values in lists]
        many = 2 * math.prod(map(len, ends)) > at_most  # then the corners are drawn, too
        draw = random.Random(_SEED)
        corners = [tuple(one[-1 if high else 0] for one in ends) for high in (False, True)]
        more = (tuple(map(draw.choice, ends)) for _ in range(at_most // 2 - 2))
        corners += more if many else itertools.product(*ends)
        drawn = (tuple(map(draw.choice, lists)) for _ in range(at_most - len(corners)))
        for point in dict.fromkeys((*corners, *drawn)):
            yield dict(zip(chosen, point, strict=True))

    def vectors(self, name: str, dimension: int) -> Iterator[tuple[int, ...]]:
        """Small integer vectors for a vector, the simplest first and zero among them."""
        if self[name].kind != "vector":
            raise DomainError(f"{name} is {self[name].domain}, no vector")
        return itertools.product((1, 0, -1), repeat=dimension)

    def symbol(self, name: str, text: str = "") -> sympy.Symbol:
        """A symbol with what the hypothesis says of its sign and kind."""
        item = self[name]
        assumptions: dict[str, bool] = {"integer": True} if item.kind == "integer" else {"real": True}
        if item.low is not None and item.low >= 0:
            assumptions["positive" if item.low > 0 or item.low_open else "nonnegative"] = True
        return sympy.Symbol(text or name, **assumptions)

    def chart(self, name: str, text: str = "") -> sympy.Expr:
        """An expression in one free symbol that runs through the interval: its signs are decided by computer algebra.

        low + t, or (low + high t)/(1 + t) where there are two ends, with t > 0 or t >= 0 as the lower end is open or
        not; t is real even where the parameter is whole. A closed upper end is the limit t to infinity: it is for
        `values` to try.
        """
        item = self[name]
        if item.low is None:
            return self.symbol(name, text)
        sign = {"positive" if item.low_open else "nonnegative": True}
        whole = item.kind == "integer" and item.high is None
        free = sympy.Symbol(text or f"t_{name}", **({"integer": True} if whole else {"real": True}), **sign)
        low = sympy.Rational(item.low.numerator, item.low.denominator)
        if item.high is None:
            return low + free
        high = sympy.Rational(item.high.numerator, item.high.denominator)
        return (low + high * free) / (1 + free)

    def box(self, **ends: tuple[Number, Number]) -> dict[str, Ends]:
        """A box of the domain, its ends as exact numbers; one that leaves the domain is an error."""
        box: dict[str, Ends] = {}
        for name, (low, high) in ends.items():
            box[name] = self[name].rational(low), self[name].rational(high)
        return box


def _around(item: Parameter) -> list[Fraction]:
    """The ends of an interval or what is next to an open one, and some values inside."""
    low, high, whole = item.low, item.high, item.kind == "integer"
    steps = tuple(map(Fraction, _COUNTS)) if whole else _STEPS
    near = Fraction(1) if whole else _NEAR * (1 if low is None or high is None else high - low)
    if low is None and high is None:
        return [Fraction(0), *[sign * step for step in steps for sign in (1, -1)]]
    if low is None and high is not None:
        last = high - near * item.high_open
        return [last, *[last - step for step in steps]]
    first = (low or Fraction(0)) + near * item.low_open
    if high is None:
        return [first, *[first + step for step in steps]]
    last = high - near * item.high_open
    inside = [first + step for step in steps] if whole else [first + part * (last - first) for part in _INSIDE]
    return list(dict.fromkeys([first, last, *[value for value in inside if first < value < last]]))


def _schedules(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """Lists of values: one entry, equal ones, rising, falling."""
    rising = tuple(sorted(values[:4]))
    return (values[:1], (values[-1],) * 3, rising, rising[::-1])
