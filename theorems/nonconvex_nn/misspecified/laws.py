r"""Laws of x for which the checks of Section 4.2 compute exactly, and what a ReLU does in every case of signs.

- Signs: x uniform on {-1, 1}^d, isotropic and symmetric; all means are finite sums.
- Falling powers: x = (t - mean)/deviation, t with the density (k+1)(1-t)^k on [0, 1], which is log-concave (its
  logarithm is k log(1-t)). Then E x = 0, E x^2 = 1 and |x|^2 <= (k+1)(k+3); k = 0 is the uniform law. Its share
  E[x^2; x < 0] is a rational number. In one dimension E relu(wx)x is w times the share for w < 0 and w times the
  rest for w > 0: the smaller of the two is the constant of strong convexity, and it is the share.
- For these, y = -max(0, x) has the best w* = 0, as relu and max(0, x) do not cancel; w_l = -(1-share)/share, and
  L(w) = 1 - share + w^2 share for w <= 0.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy

from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import ProofStep, computed

MENDED = "read with |x| <= sqrt(d + 2) in Assumption 2, since no law meets it as printed (asm-2-vacuous)"
"""What a claim says of its source whose refutation needs a law: a witness must meet the hypotheses, so one must."""
UNIFORM = "uniform on [-sqrt(3), sqrt(3)]: d = 1, |x|^2 <= 3 = d + 2"

Link = Callable[[Any], Any]
Vector = tuple[Fraction, ...]


def relu(z: Any) -> Any:
    """max(0, z) of a number, and of an expression whose sign is known."""
    return (z + abs(z)) / 2


def signs(dimension: int) -> list[tuple[int, ...]]:
    """The points of the law of signs, all of one weight."""
    return list(itertools.product((1, -1), repeat=dimension))


def inner(v: Sequence[Any], w: Sequence[Any]) -> Any:
    """The inner product."""
    return sum(a * b for a, b in zip(v, w, strict=True))


def mean_times_x(values: Sequence[Any], dimension: int) -> Vector:
    """E[value x] under the law of signs, the values in the order of its points."""
    points = signs(dimension)
    weighted = list(zip(values, points, strict=True))
    return tuple(Fraction(sum(v * x[i] for v, x in weighted)) / len(points) for i in range(dimension))


def chi(link: Link, w: Sequence[Any]) -> Vector:
    """E link(<w, x>) x under the law of signs."""
    return mean_times_x([link(Fraction(inner(w, x))) for x in signs(len(w))], len(w))


@functools.cache
def share(power: int) -> Fraction:
    """E[x^2; x < 0] of the law of that falling power, exactly."""
    t = sympy.Symbol("t")
    density = (power + 1) * (1 - t) ** power
    mean = sympy.Rational(1, power + 2)
    square = sympy.expand(density * (t - mean) ** 2)
    below, whole = (sympy.integrate(square, (t, 0, end)) for end in (mean, 1))
    return Fraction(str(below / whole))


def reach(power: int) -> int:
    """The largest |x|^2 of that law."""
    return (power + 1) * (power + 3)


def moments(power: int) -> tuple[Any, Any]:
    """E x and E x^2 of that law, from its density."""
    t = sympy.Symbol("t")
    density = (power + 1) * (1 - t) ** power
    mean, variance = sympy.Rational(1, power + 2), sympy.Rational(power + 1, (power + 2) ** 2 * (power + 3))
    first, second = (sympy.integrate(sympy.expand(density * (t - mean) ** i), (t, 0, 1)) for i in (1, 2))
    return first, second / variance


def one_sided_risk(below: Any, w: Any) -> Any:
    """L(w) for w <= 0, y = -max(0, x) and that share."""
    return 1 - below + w**2 * below


def law_steps(power: int) -> tuple[ProofStep, ...]:
    """That the law of that falling power is what the docstring says, and so are w*, w_l and the strong convexity."""
    t, w = sympy.symbols("t w", nonnegative=True)
    below, rest = sympy.Rational(str(share(power))), 1 - sympy.Rational(str(share(power)))
    bend = sympy.diff(power * sympy.log(1 - t), t, 2) if power else sympy.Integer(0)
    first, second = moments(power)
    return (
        computed("E x = 0, E x^2 = 1, and |x|^2 is at most (k+1)(k+3)", vanishes(first, second - 1) and vanishes(
            (1 - sympy.Rational(1, power + 2)) ** 2 * (power + 2) ** 2 * (power + 3) - (power + 1) * reach(power))),
        computed("the logarithm of the density is concave", never_negative(-bend.subs(t, 1 - 1 / (1 + w)))),
        computed("the slopes of w -> E relu(wx)x are the share below 0 and the rest, and the former is the smaller",
                 never_negative(rest - below) and below.is_positive is True),
        computed("0 is the best w: L(w) - L(0) is (1 - share)((1 + w)^2 - 1) on the right and w^2 share on the left",
                 never_negative(rest * ((1 + w) ** 2 - 1), below * w**2)),
        computed("the gradient vanishes at w_l < 0: w_l share + (1 - share) = 0",
                 vanishes(sympy.Rational(str(limit_of(share(power)))) * below + rest)),
    )


def limit_of(below: Fraction) -> Fraction:
    """w_l for that y and share."""
    return -(1 - below) / below


def sign_cases(link: Link) -> list[tuple[Any, Any]]:
    """(link(a) - link(b), a - b) for all signs of a and b, written by symbols that are not negative.

    Where both have one sign, either may be the larger.
    """
    p, q = sympy.symbols("p q", nonnegative=True)
    pairs = [(p + q, p), (p, p + q), (p, -q), (-p, q), (-p - q, -p), (-p, -p - q)]
    return [(sympy.expand(link(a) - link(b)), sympy.expand(a - b)) for a, b in pairs]
