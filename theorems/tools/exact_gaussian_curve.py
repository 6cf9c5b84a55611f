r"""The privacy curve of a Gaussian pair, and whether a formula for it characterises mu-GDP.

Two independent ways: computer algebra (the likelihood ratio crosses e^epsilon once; the tangents of the trade-off
function G_mu have slope -e^epsilon and intercept 1 - delta(epsilon)), and certified quadrature of the hockey-stick
integral with a proved tail. For the equivalence: G_mu is convex, so it is the supremum of its tangents; those with
epsilon >= 0 touch it where alpha <= G_mu(alpha), and the others are their mirror images, since G_mu is its own inverse.
A mechanism is (epsilon, delta(epsilon))-DP for all epsilon >= 0 exactly when its trade-off lies above all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import acb, arb, ctx

from oracle.core.arithmetic import integral
from oracle.core.enclosure import Enclosure, ball

Function = Callable[[Any], Any]
Curve = Callable[[Any, Any, Function, Function], Any]
"""delta of (epsilon, mu, upper tail of the normal law, exp): one formula for computer algebra and for balls."""


def curve(epsilon: Any, mu: Any, tail: Function, exp: Function) -> Any:
    """The delta of N(mu, 1) against N(0, 1)."""
    return tail(epsilon / mu - mu / 2) - exp(epsilon) * tail(epsilon / mu + mu / 2)


def symbolic_gaps(says: Curve) -> dict[str, sympy.Expr]:
    """Differences that must vanish identically if the formula is true; their names say what they prove."""
    mu = sympy.symbols("mu", positive=True)
    epsilon = sympy.symbols("epsilon", nonnegative=True)
    z = sympy.symbols("z", real=True)

    def upper_tail(x: sympy.Expr) -> sympy.Expr:
        return sympy.erfc(x / sympy.sqrt(2)) / 2

    def density(x: sympy.Expr) -> sympy.Expr:
        return sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)

    claimed = says(epsilon, mu, upper_tail, sympy.exp)
    log_ratio = sympy.expand_log(sympy.log(density(z - mu) / density(z)), force=True)
    crossing = epsilon / mu + mu / 2
    hockey_stick = upper_tail(crossing - mu) - sympy.exp(epsilon) * upper_tail(crossing)
    # G_mu in the parameter z: alpha = 1 - Phi(z), G = Phi(z - mu); its slope is (dG/dz) / (dalpha/dz).
    slope = density(z - mu) / sympy.diff(upper_tail(z), z)
    intercept = (1 - upper_tail(z - mu)) - slope * upper_tail(z)
    return {
        "the log-likelihood ratio is mu z - mu^2/2, increasing in z": sympy.simplify(log_ratio - (mu * z - mu**2 / 2)),
        "it equals epsilon at the crossing": sympy.simplify((mu * z - mu**2 / 2 - epsilon).subs(z, crossing)),
        "the hockey-stick integral is the formula": sympy.simplify(hockey_stick - claimed),
        "the tangent's slope is -e^epsilon": sympy.simplify(slope.subs(z, crossing) + sympy.exp(epsilon)),
        "the tangent's intercept is 1 - delta": sympy.simplify(intercept.subs(z, crossing) - (1 - claimed)),
    }


def hockey_stick_integral(mu: Fraction, epsilon: Fraction) -> Enclosure:
    """The enclosure of int (phi(x - mu) - e^epsilon phi(x))_+ dx by certified quadrature from the crossing on."""
    with ctx.workprec(160):
        m, e = ball(mu), ball(epsilon)
        start = e / m + m / 2
        stop = start.max(m) + 30
        root = (2 * arb.pi()).sqrt()

        def integrand(x: acb, analytic: bool) -> acb:
            # Entire in x, so the analytic flag asks for nothing.
            return ((-((x - m) ** 2) / 2).exp() - e.exp() * (-(x * x) / 2).exp()) / root

        # Beyond `stop` the integrand lies between 0 and phi(x - mu), whose tail is at most phi(y)/y, y = stop - mu > 0.
        y = stop - m
        tail = arb(0).union((-(y * y) / 2).exp() / (root * y))
        return Enclosure.of_ball(integral(integrand, start, stop, tail=tail, tolerance=Fraction(1, 10**40)))
