"""Printed numbers against enclosures: does a certified value round to what a document prints?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from oracle.core.enclosure import Enclosure
from oracle.core.errors import OracleError


def rounding_interval(text: str) -> tuple[Fraction, Fraction]:
    """All numbers that round to a printed decimal: half a unit of its last digit on both sides."""
    printed = Decimal(text)
    exponent = printed.as_tuple().exponent
    if not isinstance(exponent, int):
        raise OracleError(f"{text} is not a finite decimal")
    half = Fraction(10) ** exponent / 2
    return Fraction(printed) - half, Fraction(printed) + half


def rounds_to(value: Enclosure, text: str) -> bool | None:
    """Whether the enclosed number rounds to the printed decimal; None where the enclosure is too wide to tell."""
    low, high = rounding_interval(text)
    if value.lower.compare(low) >= 0 and value.certainly_le(high):
        return True
    if not value.possibly_le(high) or (value.upper.compare(low) < 0):
        return False
    return None
