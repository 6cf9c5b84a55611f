r"""Gaussian noise Delta s/epsilon with s^2 >= 2 log(K/delta), proved private on a stated range of epsilon and delta.

The argument is that of `classical_calibration`, with the largest delta as a parameter: the true delta is phi(x) (R(x) -
R(x + mu)) at x = s - epsilon/(2s), mu = epsilon/s, R the Mills ratio; with delta = K e^{-s^2/2} it is at most delta if
R(x) <= K sqrt(2 pi) e^{-epsilon/2}. x rises in s and falls in epsilon, s is least at the largest delta, and R falls: so
one inequality at the largest epsilon E and the largest delta D decides. More noise is more private.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.enclosure import ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.tools.symbolic_signs import positive, vanishes
from theorems.verdict import ProofStep, argued, computed


def enough(constant: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the one inequality holds, certified, at the largest epsilon and the largest delta."""
    if constant <= delta:
        return False  # s would not be real and positive
    with ctx.workprec(200):
        s = (2 * (ball(constant) / ball(delta)).log()).sqrt()
        x = s - ball(epsilon) / (2 * s)
        root = (2 * arb.pi()).sqrt()
        mills = root * (x * x / 2).exp() * normal_upper_tail(x)
        return bool(mills < ball(constant) * root * (ball(-epsilon) / 2).exp())


def calibrated(constant: Fraction, epsilon: Fraction | None, delta: Fraction | None) -> tuple[ProofStep, ...]:
    """The steps that noise with s^2 >= 2 log(K/delta) is (epsilon, delta)-DP up to these ends; None is no end."""
    e, s = sympy.symbols("epsilon s", positive=True)
    x, mu = s - e / (2 * s), e / s
    ends = epsilon is not None and delta is not None
    return (
        computed("epsilon/mu - mu/2 is x = s - epsilon/(2s), epsilon/mu + mu/2 is x + mu, and e^epsilon phi(x + mu) = "
                 "phi(x): the true delta is phi(x) (R(x) - R(x + mu))",
                 vanishes(e / mu - mu / 2 - x, e / mu + mu / 2 - x - mu, e - (x + mu) ** 2 / 2 + x**2 / 2)),
        computed("x rises in s and falls in epsilon", positive(sympy.diff(x, s), -sympy.diff(x, e))),
        argued("the Mills ratio R falls, and s is least at the largest delta; more noise is more private"),
        computed(f"R(x) < K sqrt(2 pi) e^(-epsilon/2) at K = {constant} and the largest epsilon and delta, certified",
                 ends and enough(constant, epsilon or Fraction(0), delta or Fraction(0))),
    )


def exceeds(squared: Any, constant: Fraction, share: Any, delta: sympy.Symbol, most: Fraction | None) -> bool:
    """Whether s^2, an expression in delta, is at least 2 log(K/(share delta)) on (0, most]: delta = most e^-t.

    Both sides are then linear in t >= 0: no coefficient of the difference may be negative.
    """
    if most is None:
        return False
    t = sympy.symbols("t", nonnegative=True)
    top, constant_ = sympy.Rational(most.numerator, most.denominator), sympy.Rational(constant.numerator,
                                                                                     constant.denominator)
    gap = sympy.expand(sympy.expand_log(
        (squared - 2 * sympy.log(constant_ / (share * delta))).subs(delta, top * sympy.exp(-t)), force=True))
    if gap.has(sympy.Piecewise) or gap.free_symbols - {t}:
        return False
    slope, rest = sympy.simplify(gap.coeff(t, 1)), sympy.simplify(gap.coeff(t, 0))
    is_line = sympy.simplify(gap - slope * t - rest) == 0
    return bool(is_line and slope.is_nonnegative and rest.is_nonnegative)
