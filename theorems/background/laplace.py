r"""The privacy curve of the Laplace mechanism on a real-valued query, from its definition.

For b = 1 (scaling gives the rest) P = Lap(Delta), Q = Lap(0); the loss |x| - |x - Delta| rises from -Delta to
Delta, so it exceeds epsilon in [0, Delta) exactly on x > (Delta + epsilon)/2, and both tails are exponentials there.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import acb, arb, ctx

from oracle.core.arithmetic import integral
from oracle.core.domain import non_negative, positive
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted

Curve = Callable[[Any, Any, Callable[[Any], Any]], Any]
"""delta of (Delta/b, epsilon, exp) where it is positive: one formula for computer algebra and for balls."""

def curve(shift: Any, epsilon: Any, exp: Callable[[Any], Any]) -> Any:
    """The claimed delta, to be cut off at zero."""
    return 1 - exp((epsilon - shift) / 2)


def symbolic_gap(says: Curve) -> sympy.Expr:
    """P - e^epsilon Q over x > (Delta + epsilon)/2 by exact integration, minus the formula; zero identically."""
    shift, epsilon, gap, x = sympy.symbols("Delta epsilon g x", positive=True)
    start = (shift + epsilon) / 2
    # epsilon < Delta puts the start between epsilon and Delta, so P's density has its peak inside; Q's has not.
    below = sympy.integrate(sympy.exp(x - shift) / 2, (x, start, shift))
    above = sympy.integrate(sympy.exp(shift - x) / 2, (x, shift, sympy.oo))
    q_tail = sympy.integrate(sympy.exp(-x) / 2, (x, start, sympy.oo))
    difference = below + above - sympy.exp(epsilon) * q_tail - says(shift, epsilon, sympy.exp)
    return sympy.simplify(difference.subs(shift, epsilon + gap))


def hockey_stick_integral(shift: Fraction, epsilon: Fraction) -> Enclosure:
    """The enclosure of int (p - e^epsilon q)_+ by certified quadrature, piece by piece between the kinks."""
    with ctx.workprec(160):
        d, e = ball(shift), ball(epsilon)
        if epsilon >= shift:
            return Enclosure.exactly(0)  # the loss never exceeds Delta
        start, stop, zero = (d + e) / 2, d + 60, arb(0)

        def piece(sign: int, low: arb, high: arb, tail: arb) -> arb:
            def integrand(x: acb, analytic: bool) -> acb:
                # Entire on each piece, so the analytic flag asks for nothing.
                return ((sign * (x - d)).exp() - e.exp() * (-x).exp()) / 2

            return integral(integrand, low, high, tail=tail, tolerance=Fraction(1, 10**40))

        # Beyond `stop` the integrand lies between 0 and e^{Delta - x}/2, which integrates to e^{-60}/2.
        return Enclosure.of_ball(
            piece(1, start, d, zero) + piece(-1, d, stop, zero.union((-arb(60)).exp() / 2))
        )


def check(says: Curve, given: Domain) -> Finding:
    """Exact integration for the identity, quadrature for the numbers; any disagreement refutes."""
    tried = 0
    for point in given.points("sensitivity", "scale", "epsilon", at_most=60):
        shift, epsilon = point["sensitivity"] / point["scale"], point["epsilon"]
        if not Fraction(1, 1000) <= shift <= 50:
            continue  # what the quadrature reaches; the integration below is for all
        tried += 1
        with ctx.workprec(160):
            value = says(ball(shift), ball(epsilon), arb.exp)
            formula = Enclosure.of_ball(arb(0) if value <= 0 else value)
        measured = hockey_stick_integral(shift, epsilon)
        if not formula.overlaps(measured):
            return refuted(
                "formula and certified quadrature are disjoint",
                {"Delta/b": shift, "epsilon": epsilon, "formula": formula, "integral": measured},
            )
    shift, less = sympy.symbols("Delta e", positive=True)
    x = sympy.symbols("x", real=True)
    pieces = (-x - (shift - x), x - (shift - x), x - (x - shift))  # |x| - |x - Delta| before 0, up to Delta, beyond
    mirrored = sympy.Abs(shift - x) - sympy.Abs(-x) + sympy.Abs(x) - sympy.Abs(x - shift)
    scale, sensitivity, epsilon = (given.symbol(name) for name in ("scale", "sensitivity", "epsilon"))
    claimed = says(shift, less, sympy.exp)
    return proof(
        computed("the loss is -Delta, then 2x - Delta, then Delta, in units of b > 0",
                 vanishes(pieces[0] + shift, pieces[1] - 2 * x + shift, pieces[2] - shift)
                 and scale.is_positive is True and sensitivity.is_positive is True),
        computed("the mirror image x -> Delta - x exchanges the two laws: one order is enough", vanishes(mirrored)),
        computed("so for epsilon < Delta it exceeds epsilon from (Delta + epsilon)/2 on, where exact integration gives "
                 "the formula", vanishes(symbolic_gap(says)) and epsilon.is_nonnegative is True),
        computed("for epsilon >= Delta it never does, and the formula is not positive: 0 at epsilon = Delta, falling",
                 vanishes(says(shift, shift, sympy.exp)) and never_negative(-sympy.diff(claimed, less))),
        computed("the formula rises in Delta: neighbours at a smaller distance need less",
                 never_negative(sympy.diff(claimed, shift))),
        tried=tried,
    )


laplace_curve = Claim(
    id="background/laplace-curve",
    source="the definition of the Laplace mechanism",
    severity=Stake.PRIVACY,
    statement=r"\delta(\varepsilon) = \max\left(0,\ 1 - e^{(\varepsilon - \Delta/b)/2}\right)",
    words="the least delta of the Laplace mechanism on a real-valued query",
    hypotheses=(positive("sensitivity"), positive("scale"), non_negative("epsilon")),
    says=curve,
    check=check,
    flips=(
        Flip("without the half", lambda shift, epsilon, exp: 1 - exp(epsilon - shift), Verdict.REFUTED),
        Flip("Delta and epsilon exchanged", lambda shift, epsilon, exp: curve(epsilon, shift, exp), Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)
