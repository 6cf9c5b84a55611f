r"""Assumption 3.1 of document 001 for a run of Algorithm 2: are the activations bounded? One hidden unit, gamma = 1.

As listed, the algorithms normalise theta_0 before its noisy update, so the next x and U are solved for with
an unbounded Gaussian theta_0. With theta_1 = 0, x_0 = 1 and theta_0 = K > 0: U_0 <- (K + x_1)/2 by (6) and then x_1 <-
U_0 by (5), at least K/2 after one pass, whatever X was: the assumption fails with positive probability.

With theta_0 normalised after the update, |theta_0| <= rho. With squared loss, (5) gives x_1 <= |y|/2 + max(0, U_0),
because |theta_1 y|/(1 + theta_1^2) <= |y|/2, and (6) gives U_0 <= max(0, (rho |x_0| + x_1)/2). So x_1 <= B = rho |x_0|
+ |y| stays so, once it is: |y|/2 + (rho |x_0| + B)/2 = B.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import positive
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.sbcd.updates import PRINTED
from theorems.verdict import Finding, argued, proof, refuted, undecided


def passed(theta: Fraction, x: Fraction) -> Fraction:
    """x_1 after U_0 <- (6) and x_1 <- (5) with theta_1 = 0 and x_0 = 1."""
    return max(Fraction(0), PRINTED(theta, x))


def judge_bounded(weight: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether x_1 stays bounded where x and U are solved for with theta_0 = weight(rho, z), z the Gaussian noise."""
    rho, limit = Fraction(1), Fraction(16)  # |x_1|^2 <= X = 16, noise of variance 1
    noise = Fraction(8)
    x = passed(Fraction(weight(rho, noise)), Fraction(0))
    if x * x > limit:
        with ctx.workprec(64):
            chance = Enclosure.of_ball(normal_upper_tail(ball(noise)))
        return refuted(
            "the noise takes the activation beyond X with positive probability",
            {"theta_1": "0", "x_0": "1", "rho": str(rho), "noise at least": str(noise), "variance": "1",
             "X": str(limit), "x_1 at least": str(x), "probability": str(chance)},
        )
    y, size, z = sympy.symbols("y rho z", positive=True)  # |x_0| = 1
    stays = sympy.expand(y / 2 + (size + (size + y)) / 2 - (size + y)) == 0
    normal = sympy.simplify(size - weight(size, z)).is_nonnegative is True
    if not (stays and normal):
        return undecided("one draw does not fail", 1)
    return proof(argued(
        "theta_0 <= rho, and then x_1 <= rho |x_0| + |y| is preserved by (5) and (6) (module docstring)"
    ))


_UNIT = (positive("rho"), positive("X"), positive("noise"))

bounded = Claim(
    id="sbcd/assump-3.1", source="001, Assumption 3.1, called benign, for Algorithm 2 as it is listed",
    quote=(
        r"This assumption is benign, because \mathbf{x}_0 is anchored as the input, and "
        r"$\{\mathbf{x}_d\}_{d=1}^D$ are softly constrained by several quadratic terms in Equation (4) that we "
        "aim to jointly minimize."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\exists X_1 < \infty:\ \lVert \mathbf{x}_1 \rVert_2^2 \le X_1 \text{ always}",
    words="the activations that Algorithm 2 solves for are bounded by a constant",
    hypotheses=_UNIT, says=lambda rho, z: rho + z, check=judge_bounded,
    uses=("sbcd/alg-order",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"x_1 \le \rho |x_0| + |y| \text{ if so at the start}",
        words="with one hidden unit, weights normalised after the noise and bounded records the activation is bounded",
        says=lambda rho, z: sympy.Min(rho, rho + z),
        expected="HOLDS ARGUED",
        source="001, Assumption 3.1, for one hidden unit, theta_0 normalised after its update and bounded records",
        rests_on=("sbcd/alg-order-repaired", "sbcd/eq-5-D", "sbcd/eq-6"),
    ),
)
