"""Ball arithmetic with a goal: raise the precision until an enclosure is as narrow as asked, or say why not.

Width convention, everywhere: an enclosure of *width* w satisfies upper - lower <= w * min(1, |truth|), so that a
delta of 1e-300 comes with digits and not as [0, 1e-12].

Five tools, each a proof by itself:
- `enclose`: a closed form, evaluated in balls at rising precision;
- `integral`: acb.integral on a finite path plus a tail that the caller has bounded by a proof;
- `decreasing_root`: two points whose function values have certified opposite signs;
- `finite`: a number next to a pole, at the first precision that tells them apart;
- `through`: a monotone function of a number that is itself only enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from flint import acb, arb, ctx

from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError

DEFAULT_WIDTH = Fraction(1, 10**12)
PRECISION_LIMIT = 1 << 15


def _precisions(width: Fraction) -> Iterator[int]:
    """Working precisions in bits, from just enough for the width, doubling up to the limit."""
    bits = max(64, _bits(width) + 40)
    while bits <= PRECISION_LIMIT:
        yield bits
        bits *= 2


def _bits(width: Fraction) -> int:
    """About -log2 of a width that may lie far below the doubles."""
    return width.denominator.bit_length() - width.numerator.bit_length() + 1


def is_narrow(value: arb, width: Fraction) -> bool:
    """Whether a ball proves upper - lower <= (width / 2) * min(1, |truth|); half is kept for outward rounding."""
    if not value.is_finite():
        return False
    if value.is_exact():
        return True
    scale = abs(value).lower().min(arb(1))
    return bool(4 * value.rad() <= ball(width) * scale)


def reaches(enclosure: Enclosure, width: Fraction) -> bool:
    """Whether upper - lower <= width * min(1, |truth|) is certain, by the ends alone."""
    lower, upper = enclosure.lower.ball, enclosure.upper.ball
    if lower == upper:
        return True
    with ctx.workprec(128 + 2 * _bits(width)):
        gap = upper - lower
        scale = arb(0) if lower <= 0 <= upper else abs(lower).min(abs(upper)).min(arb(1))
        return bool(gap <= ball(width) * scale)


def enclose(compute: Callable[[], arb], *, width: Fraction = DEFAULT_WIDTH) -> Enclosure:
    """The enclosure of a closed form: `compute` is called at rising precision until its ball is narrow."""
    for precision in _precisions(width):
        with ctx.workprec(precision):
            value = compute()
            if is_narrow(value, width):
                return Enclosure.of_ball(value)
    asked = f"{float(width):.3g}" if _bits(width) < 1000 else f"2^-{_bits(width)}"
    raise PrecisionError(f"width {asked} not reached at {PRECISION_LIMIT} bits")


def integral(
    integrand: Callable[[acb, bool], acb], lower: arb, upper: arb, *, tail: arb, tolerance: Fraction
) -> arb:
    """A ball around the integral of a real integrand from `lower` on, the part beyond `upper` lying in `tail`.

    `integrand(z, analytic)` must return a non-finite ball when `analytic` is set and it is not analytic on z: the
    Gauss-Legendre error bound of acb.integral is a theorem only then. `tail` must enclose what is cut off.
    """
    body = acb.integral(integrand, acb(lower), acb(upper), abs_tol=ball(tolerance), rel_tol=ball(tolerance))
    return body.real + tail


def _sign(function: Callable[[arb], arb], point: arb) -> tuple[int, arb]:
    """The certified sign of function(point), and the ball that shows it; precision rises as needed."""
    precision = ctx.prec
    while precision <= PRECISION_LIMIT:
        with ctx.workprec(precision):
            value = function(point)
            if value > 0:
                return 1, value
            if value < 0:
                return -1, value
            if value.is_zero():
                return 0, value
        precision *= 2
    raise PrecisionError(f"the sign at {point.str(20)} is undecided at {PRECISION_LIMIT} bits")


def finite(compute: Callable[[], arb], *, precision: int = 128) -> arb:
    """A ball that is finite, at rising precision: next to a pole a number may need many bits to be told from it."""
    while precision <= PRECISION_LIMIT:
        with ctx.workprec(precision):
            value = compute()
            if value.is_finite():
                return value
        precision *= 2
    raise PrecisionError(f"a number is not told from a pole at {PRECISION_LIMIT} bits")


def decreasing_root(
    function: Callable[[arb], arb], lower: arb, upper: arb, *, width: Fraction = DEFAULT_WIDTH
) -> Enclosure:
    """The enclosure of the zero of a decreasing function in [lower, upper], by certified signs at its two ends.

    Secant steps on midpoints propose, signs certify: no proposal is ever trusted. The caller proves monotonicity and
    gives exact ends with function(lower) >= 0 >= function(upper), which is checked.
    """
    magnitude = max(0, Dyadic.of(upper.mid()).exponent + int(upper.mid().bits()))
    with ctx.workprec(next(_precisions(width)) + 64 + magnitude):  # enough bits to tell points of that size apart
        low, high = lower.mid(), upper.mid()
        sign_low, value_low = _sign(function, low)
        sign_high, value_high = _sign(function, high)
        if sign_low < 0 or sign_high > 0:
            raise PrecisionError("no sign change between the given ends: they do not bracket a root")
        if sign_low == 0 or sign_high == 0:
            root = Dyadic.of(low if sign_low == 0 else high)
            return Enclosure(root, root)
        previous, current = (low, value_low.mid()), (high, value_high.mid())
        stalled = 0
        while not is_narrow(low.union(high), width):
            before = high - low
            point = _propose(previous, current, low, high, bisect=stalled >= 3)
            if not (low < point and point < high):
                raise PrecisionError(f"no point left between {low.str(20)} and {high.str(20)}")
            sign, value = _sign(function, point)
            low, high = (point if sign >= 0 else low), (point if sign <= 0 else high)
            previous, current = current, (point, value.mid())
            # Once the next step would be tiny, a second sign just across the root closes the bracket around it.
            margin = (point.abs_lower().min(arb(1)) * ball(width) / 8).mid()
            step = _secant_step(previous, current)
            if step is not None and abs(step) < margin:
                across = (point + sign * margin).mid()
                if low < across and across < high:
                    sign, _ = _sign(function, across)
                    low, high = (across if sign >= 0 else low), (across if sign <= 0 else high)
            stalled = 0 if 2 * (high - low) <= before else stalled + 1
        return Enclosure(Dyadic.of(low), Dyadic.of(high))


def _secant_step(previous: tuple[arb, arb], current: tuple[arb, arb]) -> arb | None:
    """The step from the current point to where the chord through both evaluations crosses zero, if it does."""
    (x0, y0), (x1, y1) = previous, current
    slope = (y1 - y0).mid()
    if slope.is_zero():
        return None
    step = (-y1 * (x1 - x0) / slope).mid()
    return step if step.is_finite() else None


def _propose(
    previous: tuple[arb, arb], current: tuple[arb, arb], low: arb, high: arb, *, bisect: bool
) -> arb:
    """The secant point of the last two evaluations if it falls inside the bracket, else the bracket's middle."""
    step = None if bisect else _secant_step(previous, current)
    if step is not None:
        point = (current[0] + step).mid()
        if low < point and point < high:
            return point
    return ((low + high) / 2).mid()


def through(
    inner: Callable[[Fraction], Enclosure], outer: Callable[[Fraction, Fraction], Enclosure], *,
    width: Fraction = DEFAULT_WIDTH,
) -> Enclosure:
    """The enclosure of outer(inner) for a monotone outer: `inner(width)` is refined until its two ends give one answer.

    `outer(argument, width)` encloses the outer function at an exact argument; rising or falling, its values at the two
    ends of the inner enclosure enclose the truth between them.
    """
    finer = width / 64
    while _bits(finer) <= PRECISION_LIMIT // 2:  # an exact argument of more bits would take megabytes
        argument = inner(finer)
        whole = outer(argument.lower.to_fraction(), width / 4)
        if argument.upper != argument.lower:
            whole = whole.hull(outer(argument.upper.to_fraction(), width / 4))
        with ctx.workprec(_bits(width) + 64 + max(0, whole.upper.exponent + whole.upper.mantissa.bit_length())):
            if is_narrow(whole.ball, width):
                return whole
        finer = finer * finer
    raise PrecisionError(f"width 2^-{_bits(width)} not reached: the inner value lies too close to a jump")
