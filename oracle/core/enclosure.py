"""An enclosure: two exact dyadic numbers with a proof that the truth lies between them.

`Enclosure(lower, upper)` means lower <= truth <= upper. The ends are exact (mantissa * 2**exponent, exponent of
any size, since a delta of e^(-10^23) is a legitimate answer), so an enclosure survives pickling, JSON and printing
without ever being narrowed: every conversion rounds outward. There is no `__float__`, no `__lt__` and no `__bool__`:
nobody can forget that it is an interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

from oracle.core.errors import OracleError, PrecisionError

Exact = int | float | Fraction | Decimal
"""A number with one exact meaning (a float means the double it is, not the decimal it was typed as)."""

_EXACT_FRACTION_EXPONENT = 20_000  # beyond this a Fraction costs megabytes; balls take over
_LONGEST_EXACT_DECIMAL, _LONGEST_EXACT_MANTISSA = 40, 10_000  # decimals; bits, as Python prints no 4,300 digits


@dataclass(frozen=True)
class Dyadic:
    """The exact number mantissa * 2**exponent."""

    mantissa: int
    exponent: int

    def __post_init__(self) -> None:
        shift = (self.mantissa & -self.mantissa).bit_length() - 1 if self.mantissa else 0
        object.__setattr__(self, "mantissa", self.mantissa >> shift)
        object.__setattr__(self, "exponent", self.exponent + shift if self.mantissa else 0)

    @staticmethod
    def of(value: arb) -> Dyadic:
        """The dyadic number that an exact ball is."""
        mantissa, exponent = value.man_exp()
        return Dyadic(int(mantissa), int(exponent))

    @property
    def ball(self) -> arb:
        """The same number as an exact ball (arb keeps it exact at any working precision)."""
        return arb((self.mantissa, self.exponent))

    def compare(self, other: Dyadic | Exact) -> int:
        """-1, 0 or 1 as this number is below, equal to or above the other, exactly."""
        if isinstance(other, Dyadic):
            left, right = self.ball, other.ball
        else:
            exact = Fraction(other)
            left = arb((self.mantissa * exact.denominator, self.exponent))
            right = arb((exact.numerator, 0))
        return -1 if left < right else (1 if left > right else 0)

    def to_fraction(self) -> Fraction:
        """The number as a Fraction; refused where that would need megabytes."""
        if abs(self.exponent) > _EXACT_FRACTION_EXPONENT:
            raise PrecisionError(f"2**{self.exponent} is too extreme for an exact Fraction; take ball or decimal")
        return Fraction(self.mantissa) * Fraction(2) ** self.exponent

    def to_float(self, *, up: bool) -> float:
        """The nearest double on the asked side (infinite or zero only where no finite double is on that side)."""
        magnitude = self.mantissa.bit_length() + self.exponent
        if magnitude > 1100 or magnitude < -1200:
            huge, positive = magnitude > 0, self.mantissa > 0
            if huge:
                limit = math.inf if up == positive else math.nextafter(math.inf, 0)
                return limit if positive else -limit
            return (5e-324 if positive else 0.0) if up else (0.0 if positive else -5e-324)
        # A long mantissa is cut first, on the asked side, so that a Fraction stays small.
        cut = max(0, self.mantissa.bit_length() - 256)
        kept = -(-self.mantissa >> cut) if up else self.mantissa >> cut
        exact = Fraction(kept) * Fraction(2) ** (self.exponent + cut)
        try:
            near = float(exact)
        except OverflowError:
            near = math.inf if self.mantissa > 0 else -math.inf
        if up and near < exact:
            return math.nextafter(near, math.inf)
        if not up and near > exact:
            return math.nextafter(near, -math.inf)
        return near

    def to_decimal(self, *, digits: int, up: bool) -> str:
        """A decimal string with that many significant digits, rounded to the asked side."""
        if self.mantissa == 0:
            return "0"
        magnitude = self.mantissa.bit_length() + self.exponent
        precision = 4 * digits + 2 * abs(magnitude).bit_length() + 64
        with ctx.workprec(precision):
            place = int((arb((abs(self.mantissa), self.exponent)).log() / arb(10).log()).mid().floor().fmpz())
            # `place` may be one off at a power of ten: the digit count then differs by one, the side does not.
            shift = place - digits + 1
            if abs(self.exponent) <= _EXACT_FRACTION_EXPONENT:
                scaled = self.to_fraction() / Fraction(10) ** shift
                unit = math.ceil(scaled) if up else math.floor(scaled)
            else:
                ball = self.ball / arb(10) ** shift
                unit = int(ball.upper().ceil().fmpz()) if up else int(ball.lower().floor().fmpz())
        return decimal_string(unit, shift)


def decimal_string(unit: int, shift: int) -> str:
    """unit * 10**shift, plainly for everyday sizes and as d.ddde+xx otherwise, without trailing zeros."""
    if unit == 0:
        return "0"
    sign, text = ("-" if unit < 0 else ""), fmpz(abs(unit)).str()  # str(int) refuses thousands of digits
    exponent = shift + len(text) - 1
    text = text.rstrip("0")
    if -5 <= exponent < 20:
        if exponent >= len(text) - 1:
            return sign + text + "0" * (exponent - len(text) + 1)
        if exponent >= 0:
            return f"{sign}{text[: exponent + 1]}.{text[exponent + 1 :]}"
        return sign + "0." + "0" * (-exponent - 1) + text
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{sign}{text[0]}{fraction}e{exponent}"


def _smaller(one: Dyadic, other: Dyadic) -> Dyadic:
    return one if one.compare(other) <= 0 else other


def _larger(one: Dyadic, other: Dyadic) -> Dyadic:
    return other if one.compare(other) <= 0 else one


@dataclass(frozen=True)
class Enclosure:
    """A certified interval: lower <= truth <= upper, with exact ends."""

    lower: Dyadic
    upper: Dyadic

    def __post_init__(self) -> None:
        if self.lower.compare(self.upper) > 0:
            raise OracleError(f"an enclosure needs lower <= upper, got {self.lower} > {self.upper}")

    @staticmethod
    def of_ball(ball: arb) -> Enclosure:
        """The outward-rounded ends of a finite ball, at the working precision."""
        if not ball.is_finite():
            raise OracleError("a ball that is not finite encloses nothing")
        return Enclosure(Dyadic.of(ball.lower()), Dyadic.of(ball.upper()))

    @staticmethod
    def between(lower: arb, upper: arb) -> Enclosure:
        """The enclosure of everything from the bottom of one ball to the top of another."""
        return Enclosure(Dyadic.of(lower.lower()), Dyadic.of(upper.upper()))

    @staticmethod
    def exactly(value: int) -> Enclosure:
        """The enclosure of an integer by itself."""
        return Enclosure(Dyadic(value, 0), Dyadic(value, 0))

    @property
    def ball(self) -> arb:
        """A ball that contains the enclosure, at the working precision."""
        return self.lower.ball.union(self.upper.ball)

    def capped(self, ceiling: int) -> Enclosure:
        """The same truth, known to be at most `ceiling`."""
        top = Dyadic(ceiling, 0)
        return self if self.upper.compare(top) <= 0 else Enclosure(self.lower, top)

    def hull(self, other: Enclosure) -> Enclosure:
        """The enclosure of a truth that lies in one of the two, or between them."""
        return Enclosure(_smaller(self.lower, other.lower), _larger(self.upper, other.upper))

    def minimum(self, other: Enclosure) -> Enclosure:
        """The enclosure of the smaller of two truths."""
        return Enclosure(_smaller(self.lower, other.lower), _smaller(self.upper, other.upper))

    def maximum(self, other: Enclosure) -> Enclosure:
        """The enclosure of the larger of two truths."""
        return Enclosure(_larger(self.lower, other.lower), _larger(self.upper, other.upper))

    def contains(self, value: Exact | Enclosure) -> bool:
        """Whether the value (or the whole other enclosure) lies inside."""
        if isinstance(value, Enclosure):
            return self.lower.compare(value.lower) <= 0 and value.upper.compare(self.upper) <= 0
        return self.lower.compare(value) <= 0 <= self.upper.compare(value)

    def certainly_le(self, other: Exact | Enclosure) -> bool:
        """Whether truth <= other is proved."""
        return self.upper.compare(other.lower if isinstance(other, Enclosure) else other) <= 0

    def possibly_le(self, other: Exact | Enclosure) -> bool:
        """Whether truth <= other is not refuted."""
        return self.lower.compare(other.upper if isinstance(other, Enclosure) else other) <= 0

    def overlaps(self, other: Enclosure) -> bool:
        """Whether the two enclosures could be of the same number."""
        return self.possibly_le(other) and other.possibly_le(self)

    def width(self) -> float:
        """upper - lower, rounded up to a double."""
        with ctx.workprec(64):
            return Dyadic.of((self.upper.ball - self.lower.ball).upper()).to_float(up=True)

    def to_floats(self) -> tuple[float, float]:
        """The ends as doubles, rounded outward."""
        return self.lower.to_float(up=False), self.upper.to_float(up=True)

    def to_decimals(self) -> tuple[str, str]:
        """The ends as decimal strings, rounded outward by less than a hundredth of the width."""
        short = self.lower.mantissa.bit_length() <= _LONGEST_EXACT_MANTISSA
        if self.lower == self.upper and short and abs(self.lower.exponent) <= _LONGEST_EXACT_DECIMAL:
            # m / 2**e has exactly e decimals, so this many digits print it without rounding at all.
            digits = len(str(abs(self.lower.mantissa))) + abs(self.lower.exponent) + 2
        else:
            digits = 4 + self._agreeing_digits()
        return self.lower.to_decimal(digits=digits, up=False), self.upper.to_decimal(digits=digits, up=True)

    def _agreeing_digits(self) -> int:
        """About how many significant digits the two ends share (40 for a point), and at least one."""
        with ctx.workprec(64):
            gap = self.upper.ball - self.lower.ball
            size = abs(self.upper.ball).max(abs(self.lower.ball))
            if gap.is_zero() or not gap > 0:
                return 40
            return max(1, math.ceil(Dyadic.of((size / gap).log_base(10).upper()).to_float(up=True)))

    def __str__(self) -> str:
        lower, upper = self.to_decimals()
        return f"[{lower}, {upper}]"

    def _refusal(self, what: str) -> TypeError:
        return TypeError(f"an Enclosure has no {what}: it is an interval; use contains, certainly_le or to_floats")

    def __float__(self) -> float:
        raise self._refusal("single float value")

    def __bool__(self) -> bool:
        raise self._refusal("truth value")

    def __lt__(self, other: object) -> bool:
        raise self._refusal("order")

    __le__ = __gt__ = __ge__ = __lt__


def ball(value: int | Fraction) -> arb:
    """The ball around an exact rational at the working precision."""
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))
