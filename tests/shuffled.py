"""Exact laws of what a shuffler leaves, in rationals, for the tests of shuffled protocols."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from mpmath import mp

from tests.opinion import dyadic, number

FINE = Fraction(1, 10**30)
NEAR = Fraction(1, 10**55)  # how far logarithms as rationals may move a probability
Row = Sequence[Fraction]


def logarithm(value: Fraction) -> Fraction:
    """A rational within 10^-60 of log(value)."""
    with mp.workdps(80):
        exact = dyadic(mp.log(number(value)))
    return exact.to_fraction().limit_denominator(10**62)


def shuffled(rows: Iterable[Row]) -> dict[tuple[int, ...], Fraction]:
    """The exact law of how often each output occurs when every user draws from a row: what a shuffler leaves."""
    law: dict[tuple[int, ...], Fraction] = {}
    for row in rows:
        law = law or {(0,) * len(row): Fraction(1)}
        mixed: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for counts, weight in law.items():
            for output, chance in enumerate(row):
                mixed[(*counts[:output], counts[output] + 1, *counts[output + 1:])] += weight * chance
        law = mixed
    return law


def divergence(first: Iterable[Row], second: Iterable[Row], factor: Fraction) -> Fraction:
    """sum max(0, P - factor Q) of two shuffled protocols, exactly, the larger of the two directions."""
    p, q = shuffled(first), shuffled(second)
    return max(
        sum((max(Fraction(0), a[o] - factor * b[o]) for o in a), Fraction(0)) for a, b in ((p, q), (q, p))
    )
