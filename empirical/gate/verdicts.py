"""What an answer is worth: the verdicts of the gate, a public contract (VECTORS.md).

A bound has a safe side: an epsilon may be too large, never too small (`safe` = "upper"); for a lower bound, or a step
size that must not be exceeded, it is the other way round ("lower"). With [lower, upper] the certified value of the
bound's formula, t what the truth is certainly not below, s and A the slack, and r the rounding that is forgiven, an
answer a on a valid case of a bound safe above is

    UNSOUND        a < t - r |t|                     amount = t - a; relative gap and severity (`severity`)
    BELOW_FORMULA  a < lower - r |lower|, and not UNSOUND
    TIGHT          a <= s upper + A + r |upper|, and neither
    LOOSE          otherwise                         factor = a / upper

and mirrored for "lower". t is `lower` where the value is the truth, what is attained where the value is an upper bound
with that beside it, and 0 where nothing is known (`oracle.core.attainment`): nobody is called unsound for being better
than one method. An answer {lower, upper} is judged by its safe end, and is UNSOUND, too, if its other end excludes the
truth. NaN, None and whatever is no number is a CRASH on valid input. On invalid input any answer, NaN included, is
ACCEPTED_INVALID: comparisons with NaN are false, so that a check `epsilon > budget` lets it pass.
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
from empirical.gate.severity import Severity, graded
from oracle.core.domain import exact, printable
from oracle.core.errors import DomainError

ROUNDING = Fraction(1, 10**12)
"""What is forgiven by default, relative to the truth: a correct formula in float64 errs by 1e-15, some by more."""


class GateVerdict(StrEnum):
    """The eight verdicts."""

    TIGHT = "TIGHT"
    LOOSE = "LOOSE"
    BELOW_FORMULA = "BELOW_FORMULA"
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
    """The target broke: `verdict` is CRASH or TIMEOUT; `died` says that its process ended without an answer."""

    verdict: GateVerdict
    why: str
    died: bool = False


Answer = Interval | Refusal | Breakdown


@dataclass(frozen=True)
class Judgement:
    """A verdict with what it rests on.

    `amount` is how far an UNSOUND or BELOW_FORMULA answer lies beyond the certified end, `relative` the same over that
    end, `severity` how much an UNSOUND one matters; `factor` is answer over value (1 where it lies inside, infinite for
    an infinite answer or a value of 0). Each is None where it means nothing. `died`: the process ended.
    """

    verdict: GateVerdict
    answer: str
    detail: str = ""
    amount: float | None = None
    factor: float | None = None
    relative: float | None = None
    severity: Severity | None = None
    died: bool = False


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
    case: Case, answer: Answer, *, safe: str, slack: Fraction = Fraction(1), rounding: Fraction = ROUNDING,
    slack_absolute: Fraction = Fraction(0), tightness: str = "truth", unit: str = "",
) -> Judgement:
    """The verdict on an answer to a case of a bound that is safe on that side, so tight, and in that unit."""
    if isinstance(answer, Refusal):
        return Judgement(GateVerdict.REFUSED, "refused", answer.why)
    if isinstance(answer, Breakdown):
        return Judgement(answer.verdict, answer.verdict.lower(), answer.why, died=answer.died)
    if case.expected is None:
        return Judgement(GateVerdict.ACCEPTED_INVALID, shown(answer), "an answer to an input that means nothing")
    if _is_nan(answer.lower):
        return Judgement(GateVerdict.CRASH, "nan", "answered nan: no number")
    wrong = _beyond(case.expected, answer, safe=safe, rounding=rounding, tightness=tightness, unit=unit)
    if wrong is not None:
        return wrong
    value, told, factor = case.expected, shown(answer), _factor(case.expected, answer, safe)
    if safe == "upper":
        tight = answer.upper <= slack * value.upper + slack_absolute + rounding * abs(value.upper)
    else:
        tight = answer.lower >= value.lower / slack - slack_absolute - rounding * abs(value.lower)
    detail = "" if tight else f"{factor:.6g} times the truth"
    return Judgement(GateVerdict.TIGHT if tight else GateVerdict.LOOSE, told, detail, factor=factor)


def _beyond(
    value: Expected, answer: Interval, *, safe: str, rounding: Fraction, tightness: str, unit: str
) -> Judgement | None:
    """UNSOUND or BELOW_FORMULA, or None for an answer on the safe side."""
    interval = answer.lower != answer.upper  # which claims to contain the truth; one number may err on the safe side
    too_low = answer.upper < value.lower - rounding * abs(value.lower) and (interval or safe == "upper")
    too_high = answer.lower > value.upper + rounding * abs(value.upper) and (interval or safe == "lower")
    if not too_low and not too_high:
        return None
    given, factor = answer.upper if too_low else answer.lower, _factor(value, answer, safe)
    side, formula = ("below", value.lower) if too_low else ("above", value.upper)
    limit: Fraction | None = formula
    if tightness != "truth" and too_low == (safe == "upper"):  # on the unsafe side the truth may lie beyond the value
        limit = (value.attained or Fraction(0)) if too_low else None
    gap = None if limit is None else limit - given if too_low else given - limit
    if limit is not None and gap is not None and gap > rounding * abs(limit):
        relative, severity = graded(gap, limit, unit)
        end = "certified lower end" if too_low else "certified upper end"
        if limit != formula:
            end = "least possible truth" if limit == 0 else "attained value"
        detail = f"{_near(gap)} (relative {relative:.2g}) {side} the {end} {_near(limit)}"
        return Judgement(
            GateVerdict.UNSOUND, shown(answer), detail, amount=rounded(gap), factor=factor, relative=relative,
            severity=severity,
        )
    gap = formula - given if too_low else given - formula
    detail = (
        f"{_near(gap)} {side} what this method proves, {_near(formula)}; "
        + ("not below what is attained, " + _near(limit) if limit else "nothing proves it wrong")
    )
    relative, _ = graded(gap, formula, unit)
    return Judgement(
        GateVerdict.BELOW_FORMULA, shown(answer), detail, amount=rounded(gap), factor=factor, relative=relative
    )


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
