"""What a second opinion is: a formula judged at two precisions of mpmath; `opinions` holds one for every bound.

An opinion is a formula written here from the definition, never taken from `oracle`. `Value` computes the truth itself;
`Root` says on which side of the truth a candidate lies, for bounds that are inverses. Both are evaluated at two
precisions; where these disagree, the opinion is void and the test fails, instead of judging by noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

from oracle.core.enclosure import Dyadic, Enclosure

DIGITS = (60, 120)
AGREEMENT = 30  # digits to which both precisions must agree

Numbers = Mapping[str, Any]


def number(value: Any) -> mpf:
    """An int, double, Fraction or decimal text in mpmath, at the working precision."""
    exact = Fraction(value)
    return mpf(exact.numerator) / exact.denominator


def _numbers(point: Mapping[str, Any]) -> Numbers:
    return {name: _number_or_word(value) for name, value in point.items()}


def _number_or_word(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [number(entry) for entry in value]
    if value == math.inf:
        return mp.inf
    # A word such as "replace" or "closed-form" stays a word; decimal text, which no letter opens, is a number.
    return value if str(value)[0].isalpha() else number(value)


def dyadic(value: mpf) -> Dyadic:
    """The binary number that an mpf is, exactly and whatever its exponent."""
    sign, mantissa, exponent, _ = value._mpf_
    return Dyadic(-int(mantissa) if sign else int(mantissa), int(exponent))


def from_dyadic(value: Dyadic) -> mpf:
    """A dyadic number in mpmath, rounded to the working precision."""
    return mp.ldexp(mpf(value.mantissa), value.exponent)


def at_both_precisions(compute: Callable[[], mpf], digits: tuple[int, int] = DIGITS) -> Enclosure:
    """The value at the higher precision, give or take what the two precisions differ by; they must agree well."""
    values = []
    for working in digits:
        with mp.workdps(working):
            values.append(compute())
    with mp.workdps(2 * digits[-1]):
        low, high = values
        doubt = abs(low - high) + abs(high) * mpf(10) ** (5 - digits[-1])
        assert doubt <= abs(high) * mpf(10) ** -AGREEMENT, f"mpmath disagrees with itself: {low} and {high}"
        return Enclosure(dyadic(high - doubt), dyadic(high + doubt))


@dataclass(frozen=True)
class Value:
    """An opinion that knows the truth."""

    compute: Callable[[Numbers], mpf]
    digits: tuple[int, int] = DIGITS

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the enclosure can contain the truth."""
        truth = at_both_precisions(lambda: self.compute(_numbers(point)), self.digits)
        assert enclosure.overlaps(truth), f"{enclosure} misses {truth} at {point}"


@dataclass(frozen=True)
class Root:
    """An opinion on an inverse: `excess(numbers, candidate)` falls in the candidate and vanishes at the truth.

    Where excess(0) <= 0 already, the truth is 0 (the least value that is allowed).
    """

    excess: Callable[[Numbers, mpf], mpf]

    def _sign(self, point: Mapping[str, Any], candidate: Dyadic) -> int:
        signs = []
        finest = candidate.mantissa.bit_length()  # a candidate of many bits lies close to the truth
        for digits in DIGITS:
            with mp.workdps(digits + finest // 3):
                signs.append(int(mp.sign(self.excess(_numbers(point), from_dyadic(candidate)))))
        assert signs[0] == signs[1], f"mpmath disagrees with itself on the sign at {point}"
        return signs[0]

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the excess is positive below the enclosure (or there is nothing below) and negative above it."""
        if enclosure.lower.mantissa != 0:
            assert self._sign(point, enclosure.lower) >= 0, f"{enclosure} lies above the truth at {point}"
        assert self._sign(point, enclosure.upper) <= 0, f"{enclosure} lies below the truth at {point}"
