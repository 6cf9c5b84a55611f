"""How tight a bound is: whether its value is the truth of the mechanism, or how far below it the truth may lie.

A certified value says what a formula is worth; that nothing smaller is right is another statement, and the gate accuses
nobody without it. Each bound carries one of three:

    truth      the value is reached, or is the supremum, by data and functions that the bound allows;
    bracketed  the value is an upper bound, and `attained` encloses what one allowed case really costs: the truth lies
               between the two, and what is below the attained value is wrong;
    one-sided  the value is what one method proves. A smaller one may be right: a better method, or a mechanism that
               never comes to the worst case.

"The truth" is the least value that holds for all that the bound's parameters allow. For a bound that is safe below
(a lower bound, a step that must not be exceeded) everything is mirrored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure
from oracle.core.errors import OracleError

Attained = Callable[[Values, Fraction], Enclosure]
"""Encloses what an allowed case costs, for values and a width; it may raise what a reference may raise."""

TIGHTNESS = {
    "truth": "the truth: nothing on the unsafe side of it is right",
    "bracketed": "an upper bound; the truth is not below what is attained",
    "one-sided": "what one method proves; the truth may lie beyond it",
}
"""The three, in words."""


@dataclass(frozen=True)
class Tightness:
    """One of TIGHTNESS, why, and what is attained where that is less than the value."""

    kind: str
    why: str
    attained: Attained | None = None

    def __post_init__(self) -> None:
        if self.kind not in TIGHTNESS:
            raise OracleError(f"tightness: {self.kind!r} is none of {', '.join(TIGHTNESS)}")
        if (self.kind == "bracketed") != (self.attained is not None):
            raise OracleError("tightness: a bracketed bound has what is attained, and no other bound has it")
        if not self.why.strip():
            raise OracleError("tightness: why is needed")

    def to_json(self) -> dict[str, str]:
        """Its JSON object."""
        return {"kind": self.kind, "why": self.why}


def truth(why: str) -> Tightness:
    """The value is reached, or is the supremum."""
    return Tightness("truth", why)


def bracketed(why: str, attained: Attained) -> Tightness:
    """The value is an upper bound, and this is attained."""
    return Tightness("bracketed", why, attained)


def one_sided(why: str) -> Tightness:
    """The value is what one method proves."""
    return Tightness("one-sided", why)


UNKNOWN = one_sided("nobody has looked for a case that attains it")
"""What holds of a bound that says nothing."""
