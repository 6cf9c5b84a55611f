"""What a case is for: the flags of the vectors that are not about one known bug (those are in `known_bugs`).

A flag is a name with a note. The note says what kind of mistake its cases catch (`bug_type`), what the cases are, what
the mistake does to a user, and where it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BUG_TYPES = ("BASIC", "EDGE_CASE", "NUMERICAL", "KNOWN_BUG", "INPUT_VALIDATION")


@dataclass(frozen=True)
class Flag:
    """A name and its note."""

    name: str
    bug_type: str
    description: str
    effect: str
    links: tuple[str, ...] = ()

    def note(self) -> dict[str, Any]:
        """The note as it stands in a file."""
        return {
            "bugType": self.bug_type, "description": self.description, "effect": self.effect,
            "links": list(self.links),
        }


ORDINARY = Flag(
    "Ordinary", "BASIC", "Everyday parameters, of the size that people use.",
    "A wrong formula, a forgotten factor, the wrong neighbouring relation.",
)
WIDE = Flag(
    "WideRange", "BASIC", "Parameters spread over all that makes sense, everyday sizes or not.",
    "A formula, a grid or an approximation that was only ever tried near the defaults.",
)
CELL = Flag(
    "Cell", "BASIC", "One of the points that together visit every product of two cells of the everyday domain.",
    "A branch of its own for few steps, small rates or one neighbouring relation, that nobody ever tried.",
)
BOUNDARY = Flag(
    "Boundary", "EDGE_CASE", "One parameter stands at an end of its domain that belongs to the domain.",
    "Division by zero, log of zero, or a special case that nobody wrote.",
)
NEAR_BOUNDARY = Flag(
    "NearBoundary", "EDGE_CASE", "One parameter stands next to an end of its domain.",
    "Cancellation (1 - x, e^x - 1 computed as they stand), underflow, an answer of exactly 0 where there is a cost.",
)
HUGE = Flag(
    "HugeValue", "EDGE_CASE", "One parameter is very large.",
    "Overflow to inf or NaN, loops and arrays that grow with the value.",
)
SEARCHED = Flag(
    "Extreme", "NUMERICAL",
    "Found by a search: the smallest and the largest answers of the range, the points where rounding in double "
    "precision costs this project's own float64 formula most, and points that it hands over to ball arithmetic.",
    "Loss of digits, on either side of the truth.",
)
COARSE = Flag(
    "Coarse", "NUMERICAL",
    "A few sampled steps, say, where the certified ends may lie further apart than the digits of a double: what lies "
    "between them is not judged.",
    "A method for many small steps that is used for few large ones.",
)

NOT_A_NUMBER = Flag(
    "NotANumber", "INPUT_VALIDATION", "One parameter is NaN.",
    "Comparisons with NaN are false, so that NaN passes the checks; seen: epsilon = 0 at sigma = nan (dp-accounting "
    "0.6.0, RDP), no answer ever (Opacus 1.6.0, PRV).",
    ("https://github.com/google/differential-privacy", "https://github.com/meta-pytorch/opacus"),
)
NEGATIVE = Flag(
    "Negative", "INPUT_VALIDATION", "One parameter that cannot be negative is.",
    "A guarantee that means nothing; seen: epsilon = -134 for -5 steps (Opacus 1.6.0, RDP), 0 for -5 steps (autodp "
    "0.2.3.1).",
    ("https://github.com/meta-pytorch/opacus", "https://github.com/yuxiangw/autodp"),
)
ABOVE_ONE = Flag(
    "AboveOne", "INPUT_VALIDATION", "A probability or a rate is above 1.",
    "A percentage taken for a fraction goes unnoticed; seen: epsilon = 0 at delta = 2 (dp-accounting 0.6.0, PLD).",
    ("https://github.com/google/differential-privacy",),
)
BEYOND = Flag(
    "BeyondTheTheorem", "INPUT_VALIDATION",
    "The classical calibration of the Gaussian mechanism is asked for an epsilon above 1, for which it is not proved.",
    "Less noise than the promised epsilon needs. Seen with smartnoise-sdk and in a text book.",
    ("https://github.com/opendp/smartnoise-sdk/issues/462", "https://github.com/uvm-plaid/programming-dp/issues/45"),
)
NON_INTEGER = Flag(
    "NonInteger", "INPUT_VALIDATION", "A count is no integer.",
    "Steps computed by a division lose their rest silently; seen: a negative epsilon at 2.5 steps (Opacus 1.6.0, PRV).",
    ("https://github.com/meta-pytorch/opacus",),
)
UNKNOWN_WORD = Flag(
    "UnknownWord", "INPUT_VALIDATION", "A choice is none of its words.",
    "A misspelt neighbouring relation or method falls back to a default that is not meant.",
)
NOT_NUMERIC = Flag(
    "NotNumeric", "INPUT_VALIDATION", "A text that is no number stands where a number belongs.",
    "A crash deep inside, or a text compared with numbers.",
)

GENERAL = (
    ORDINARY, WIDE, CELL, BOUNDARY, NEAR_BOUNDARY, HUGE, SEARCHED, NOT_A_NUMBER, NEGATIVE, ABOVE_ONE, BEYOND,
    NON_INTEGER, UNKNOWN_WORD, NOT_NUMERIC, COARSE,
)
