"""Points to try a statement at: a simple one first, so that a witness is easy to read, then those of the domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from theorems.given import Domain, Point


def led(given: Domain, at_most: int = 400, most: Mapping[str, int] | None = None, **simple: Any) -> Iterator[Point]:
    """A simple point, if it meets the hypotheses; then the domain's own points of the same names."""
    yield from first_at(simple, given, tuple(simple), at_most, most)


def first_at(
    simple: Mapping[str, Any], given: Domain, names: tuple[str, ...], at_most: int = 400,
    most: Mapping[str, int] | None = None,
) -> Iterator[Point]:
    """A simple point, if there is one and it meets the hypotheses; then the domain's own points of these names.

    The numbers of both are of one kind, that of the hypothesis: whole ones or fractions.
    """
    if simple and given.contains(**simple):
        yield {name: given[name].parse(value) for name, value in simple.items()}
    yield from given.points(*names, at_most=at_most, most=most)
