"""What an answer is worth: the verdicts of the gate, a public contract (VECTORS.md).

A bound has a safe side: an epsilon may be too large, never too small (`safe` = "upper"); for a lower bound, or a step
size that must not be exceeded, it is the other way round ("lower"). With t the certified enclosure [lower, upper] of
the truth, s the slack and r the rounding that is forgiven, an answer a on a valid case of a bound safe above is

    UNSOUND  a < lower - r |lower|               amount = lower - a, as far as it is certified
    TIGHT    a <= s upper + r |upper|, and not UNSOUND
    LOOSE    otherwise                           factor = a / upper

and mirrored for "lower". An answer {lower, upper} is judged by its safe end, and is UNSOUND, too, if its other end
excludes the truth. NaN, None and whatever is no number is a CRASH on valid input. On invalid input any answer, NaN
included, is ACCEPTED_INVALID: comparisons with NaN are false, so that a check `epsilon > budget` lets it pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.gate.making.cases import Case, Expected
from oracle.core.domain import exact, printable
from oracle.core.errors import DomainError

ROUNDING = Fraction(1, 10**12)
"""What is forgiven by default, relative to the truth: a correct formula in float64 errs by 1e-15, some by more."""


class GateVerdict(StrEnum):
    """The seven verdicts."""

    TIGHT = "TIGHT"
    LOOSE = "LOOSE"
    UNSOUND = "UNSOUND"
    REFUSED = "REFUSED"
    ACCEPTED_INVALID = "ACCEPTED_INVALID"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"


@dataclass(frozen=True)
class Interval:
    """An answer in numbers; floats may be infinite or NaN. A single number has two equal ends."""

    lower: Fraction | float
    upper: Fraction | float


@dataclass(frozen=True)
class Refusal:
    """The target said clearly that it does not answer this input (ValueError or TypeError, or {"refused": why})."""

    why: str


@dataclass(frozen=True)
class Breakdown:
    """The target broke: `verdict` is CRASH or TIMEOUT."""

    verdict: GateVerdict
    why: str


Answer = Interval | Refusal | Breakdown


@dataclass(frozen=True)
class Judgement:
    """A verdict with what it rests on.

    `amount` is how far an UNSOUND answer lies beyond the certified end, `factor` answer over truth (1 where it lies
    inside, infinite for an infinite answer or a truth of 0); both None where they mean nothing.
    """

    verdict: GateVerdict
    answer: str
    detail: str = ""
    amount: float | None = None
    factor: float | None = None


def number(value: Any) -> Fraction | float | None:
    """An answer's number exactly: ints, floats, numpy and torch scalars, decimal strings; None if it is none."""
    if value is None or isinstance(value, (bool, np.bool_, bytes, bytearray)):  # of which float() would make a number
        return None
    if isinstance(value, (str, Decimal)):
        text = str(value).strip().lower()
        if text.lstrip("+-") in ("inf", "infinity", "nan"):
            return float(text)
        try:
            return exact("the answer", text, "a number")  # which never computes 10 to the power of a billion
        except DomainError:
            return None
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    try:
        double = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return Fraction(double) if math.isfinite(double) else double


def read(value: Any) -> Answer:
    """What a target returned, as an answer: a number, or a mapping with `lower` and `upper`."""
    if isinstance(value, dict):
        if not {"lower", "upper"} <= set(value):
            return Breakdown(GateVerdict.CRASH, f"answered {_short(value)}: expected a number, or lower and upper")
        lower, upper = number(value["lower"]), number(value["upper"])
    else:
        lower = upper = number(value)
    if lower is None or upper is None:
        return Breakdown(GateVerdict.CRASH, f"answered {_short(value)}: no number")
    if _is_nan(lower) or _is_nan(upper):
        return Interval(math.nan, math.nan)
    if lower > upper:
        return Breakdown(GateVerdict.CRASH, f"answered {_short(value)}: lower lies above upper")
    return Interval(lower, upper)


def judge(
    case: Case, answer: Answer, *, safe: str, slack: Fraction = Fraction(1), rounding: Fraction = ROUNDING
) -> Judgement:
    """The verdict on an answer to a case of a bound that is safe on that side."""
    if isinstance(answer, Refusal):
        return Judgement(GateVerdict.REFUSED, "refused", answer.why)
    if isinstance(answer, Breakdown):
        return Judgement(answer.verdict, answer.verdict.lower(), answer.why)
    if case.expected is None:
        return Judgement(GateVerdict.ACCEPTED_INVALID, shown(answer), "an answer to an input that means nothing")
    if _is_nan(answer.lower):
        return Judgement(GateVerdict.CRASH, "nan", "answered nan: no number")
    return _judge_number(case.expected, answer, safe=safe, slack=slack, rounding=rounding)


def _judge_number(
    truth: Expected, answer: Interval, *, safe: str, slack: Fraction, rounding: Fraction
) -> Judgement:
    told, factor = shown(answer), _factor(truth, answer, safe)
    interval = answer.lower != answer.upper  # which claims to contain the truth; one number may err on the safe side
    too_low = answer.upper < truth.lower - rounding * abs(truth.lower) and (interval or safe == "upper")
    too_high = answer.lower > truth.upper + rounding * abs(truth.upper) and (interval or safe == "lower")
    if too_low or too_high:
        amount = truth.lower - answer.upper if too_low else answer.lower - truth.upper
        end = f"below the certified lower end {_near(truth.lower)}" if too_low else (
            f"above the certified upper end {_near(truth.upper)}"
        )
        return Judgement(GateVerdict.UNSOUND, told, f"{_near(amount)} {end}", amount=rounded(amount), factor=factor)
    if safe == "upper":
        tight = answer.upper <= slack * truth.upper + rounding * abs(truth.upper)
    else:
        tight = answer.lower >= truth.lower / slack - rounding * abs(truth.lower)
    detail = "" if tight else f"{factor:.6g} times the truth"
    return Judgement(GateVerdict.TIGHT if tight else GateVerdict.LOOSE, told, detail, factor=factor)


def _factor(truth: Expected, answer: Interval, safe: str) -> float:
    """Answer over truth, from the nearest certified end; 1 inside the enclosure."""
    value = answer.upper if safe == "upper" else answer.lower
    end = min(max(value, truth.lower), truth.upper)  # the nearest number that may be the truth
    if value == end:
        return 1.0
    return rounded(value / end) if end != 0 else math.inf * (1 if value > 0 else -1)


def shown(answer: Interval) -> str:
    """An answer in seventeen digits."""
    if answer.lower == answer.upper or _is_nan(answer.lower):
        return _near(answer.upper)
    return f"[{_near(answer.lower)}, {_near(answer.upper)}]"


def _near(value: Fraction | float) -> str:
    return f"{rounded(value):.17g}"


def rounded(value: Fraction | float) -> float:
    """The nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_nan(value: Fraction | float) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _short(value: Any) -> str:
    text = printable(repr(value))
    return text if len(text) <= 80 else text[:77] + "..."
