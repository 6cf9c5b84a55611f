r"""A Gaussian pair whose means lie very far apart, in balls: where its curve costs too much to be inverted.

Where mu is 10^4000, epsilon is about mu^2/2 and wanted to an absolute width, so that everything needs thousands of
digits. With x = epsilon/mu - mu/2, y = x + mu, phi the density and R(y) = (1 - Phi(y)) / phi(y) the Mills ratio,

    delta = Phi(-x) - phi(x) R(y),     1 - delta = Phi(x) + phi(x) R(y),

no exponential of epsilon is left, and x is moderate: delta <= Phi(-x) <= e^{-x^2/2}, and for x = -t <= 0
1 - delta <= e^{-t^2/2} (1/2 + phi(0) R(0)) = e^{-t^2/2}, so that

    -sqrt(2 log 1/(1-delta)) <= x <= sqrt(2 log 1/delta).

(No delta that can be written down lets x reach -mu/2, where epsilon is 0.) Newton's method proposes x with twice the
digits at every step; signs on both sides certify it. For y > 0 the series
R(y) = (1/y) (1 - 1/y^2 + 3/y^4 - ...) envelopes: R lies between any two partial sums that follow each other.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx

from oracle.core.arithmetic import finite
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError

FAR = 1 << 256  # the distance from which on this is the quicker way, and x + mu is large for certain
_LARGE = 1 << 128
_PROPOSALS = 200
_TRIES = 6


def _mills(y: arb) -> arb:
    """R(y) for a large y, by its enveloping series."""
    if not y > _LARGE:
        raise PrecisionError("the Mills ratio has no series so near")
    term, total, j = 1 / y, arb(0), 0
    while True:  # every term is far below the last one: no precision needs more than a few hundred
        total, j = total + term, j + 1
        term = -term * (2 * j - 1) / (y * y)
        if abs(term) < abs(total) * arb((1, -ctx.prec)):
            return total.union(total + term)


def _crossing(
    mu: Callable[[arb], arb], factor: Callable[[arb], arb], delta: Fraction, margin: Callable[[], arb], bits: int
) -> tuple[arb, arb]:
    """Two exact x, about two margins apart, between which delta is met; `bits` of x are enough for the margin.

    mu may depend on x, if it does not rise with it: delta falls in x, and rises in mu where epsilon stands. The slope
    of delta is -phi(x) times the factor; it only serves proposals.
    """
    above = 2 * delta > 1  # then 1 - delta is the tail with all the digits

    def distance(x: arb) -> arb:
        """How far the logarithm of the smaller tail lies above that of its target."""
        point = x / arb(2).sqrt()
        beyond = (-x * x / 2).exp() / (2 * arb.pi()).sqrt() * _mills(x + mu(x))
        if above:
            return (((-point).erfc() / 2 + beyond) / ball(1 - delta)).log()
        return ((point.erfc() / 2 - beyond) / ball(delta)).log()

    def slope(x: arb) -> arb:
        """The slope of that where the target is met."""
        density = factor(x) * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
        return (density / ball(1 - delta) if above else -density / ball(delta)).mid()

    with ctx.workprec(128):
        edge = (-2 * ball(min(delta, 1 - delta)).log()).sqrt()
        x = (-edge if above else edge).mid()
        for _ in range(_PROPOSALS):  # a tail's logarithm is concave: from outside, Newton's steps never overshoot
            value = distance(x)
            step = (value / slope(x) * value.exp()).mid()  # the slope at the target, brought to x
            x = (x - step).mid()
            if not abs(step) > arb((1, -50)):
                break
    good = 40
    for _ in range(_TRIES):
        while good < bits:
            good = min(2 * good - 8, bits)
            with ctx.workprec(good + 64):
                x = (x - (distance(x) / slope(x)).mid()).mid()
        with ctx.workprec(bits + 64):
            low, high = ((x + sign * margin()).mid() for sign in (-1, 1))
            first, last = distance(low), distance(high)
            if (first < 0 and last > 0) if above else (first > 0 and last < 0):
                return low, high
        bits += 64
    raise PrecisionError(f"where a delta of about e^-{float((edge * edge / 2).mid()):.3g} is met was not enclosed")


def epsilon_far(mu: Callable[[], arb], delta: Fraction, width: Fraction) -> Enclosure:
    """The enclosure of the least epsilon with delta(epsilon) <= delta, for mu >= FAR recomputed at any precision."""
    about = finite(mu)
    size, lost = _exponent(about), _lost(mu)

    def sharp(_: arb | None = None) -> arb:
        with ctx.extraprec(lost):
            return mu()

    low, high = _crossing(
        sharp, lambda x: sharp() * _mills(x + sharp()), delta, lambda: (ball(width) / sharp() / 8).mid(),
        _bits(width) + size + 8,
    )
    with ctx.workprec(_bits(width) + 2 * size + 64):
        return Enclosure.between(*(sharp() * (x + sharp() / 2) for x in (low, high)))


def _lost(mu: Callable[[], arb]) -> int:
    """About how many bits mu loses on the way: those of a contraction next to 1, say."""
    for precision in (128, 512, 2048, 8192, 32768):
        with ctx.workprec(precision):
            value = mu()
            if value.is_finite() and (value.is_exact() or value.rel_accuracy_bits() > 64):
                return 0 if value.is_exact() else precision - int(value.rel_accuracy_bits())
    raise PrecisionError("mu keeps no digits at 32768 bits")


def mu_far(epsilon: Fraction, delta: Fraction, relative: Fraction) -> Enclosure:
    """The enclosure of the mu with delta(epsilon) = delta, for epsilon >= FAR^2, to a relative width.

    epsilon/mu - mu/2 = x is solved by mu = sqrt(x^2 + 2 epsilon) - x, which falls in x by at most 2 a unit; x + mu is
    at least sqrt(2 epsilon).
    """

    def mu(x: arb) -> arb:
        return (x * x + 2 * ball(epsilon)).sqrt() - x

    with ctx.workprec(128):
        size = _exponent(ball(2 * epsilon).sqrt())
    bits = max(_bits(relative) - size, 0) + 64
    low, high = _crossing(
        mu, lambda x: mu(x) / (mu(x) + x), delta, lambda: (ball(relative) * mu(arb(0)) / 16).min(arb(1)).mid(), bits
    )
    with ctx.workprec(_bits(relative) + size + 64):
        return Enclosure.between(mu(high), mu(low))


def _bits(width: Fraction) -> int:
    """About -log2 of a width."""
    return max(0, width.denominator.bit_length() - width.numerator.bit_length() + 1)


def _exponent(value: arb) -> int:
    """A number n with value < 2^n."""
    mantissa, exponent = value.upper().man_exp()
    return int(mantissa).bit_length() + int(exponent)
