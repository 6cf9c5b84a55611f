"""How the strings of a witness are read: numbers and lists of them, as exactly as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

Witness = Mapping[str, str]


def number(witness: Witness, key: str) -> float:
    """A fraction or a decimal; of an enclosure its lower end, of a ball its middle."""
    text = witness[key].strip("[]").partition(",")[0].partition(" ")[0]
    return float(Fraction(text)) if "/" in text else float(text)


def numbers(text: str) -> list[Fraction]:
    """A list or a tuple of fractions and decimals."""
    return [Fraction(part) for part in text.strip("()[] ").split(",") if part.strip()]
