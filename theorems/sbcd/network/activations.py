r"""Assumption 3.1 of document 001 for a run of Algorithm 2: are the activations bounded? One hidden unit, gamma = 1.

As listed, the algorithms normalise theta_0 before its noisy update, so the next x and U are solved for with an
unbounded Gaussian theta_0 = rho + z. With x_0 = 1, x_1 >= 0 and |theta_1| <= 1: U_0 <- (theta_0 + x_1)/2 by (6) and
then x_1 <- (theta_1 y + U_0)/(1 + theta_1^2) by (5), at least (z/2 - |y|)/2: beyond every X with positive probability.

With theta_0 normalised after the update, |theta_0| <= rho. With squared loss, (5) gives -|y|/2 <= x_1 <= |y|/2 +
max(0, U_0), because |theta_1 y|/(1 + theta_1^2) <= |y|/2, and (6) gives U_0 <= max(0, (rho |x_0| + x_1)/2). So x_1 <= B
= rho |x_0| + |y| stays so, once it is: |y|/2 + (rho |x_0| + B)/2 = B.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import positive, real
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative
from theorems.sbcd.network.updates import PRINTED, decided, regions
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted, undecided


def judge_bounded(weight: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether x_1 stays bounded where x and U are solved for with theta_0 = weight(rho, z), z the Gaussian noise."""
    tried, beyond = 0, ""
    for point in led(given, rho="1", y="1", X="16"):
        rho, y = point["rho"], point["y"]
        limit = max(point["X"], (rho + abs(y)) ** 2)
        noise = 4 * (1 + limit) + 2 * abs(y) + 1  # of variance 1
        theta = Fraction(weight(rho, noise))
        beyond = beyond or (f"a weight of {theta} at rho = {rho}" if abs(theta) > rho else "")
        hidden = Fraction(PRINTED(theta, Fraction(0)))  # x_0 = 1, and x_1 = 0 before
        x = (max(Fraction(0), hidden) - abs(y)) / 2  # theta_1 = 1 or -1
        tried += 1
        if x > 0 and x * x > limit:
            with ctx.workprec(64):
                chance = Enclosure.of_ball(normal_upper_tail(ball(noise)))
            return refuted(
                "the noise takes the activation beyond X with positive probability, whatever X is",
                {"|theta_1| at most": 1, "x_0": 1, "y": y, "rho": rho, "noise at least": noise, "variance": 1,
                 "X": limit, "x_1 at least": x, "probability": chance},
            )
    if beyond:
        return undecided(beyond, tried)
    rho_ = given.symbol("rho")
    more, less = sympy.symbols("s p", nonnegative=True)
    # z = s; z = -s with rho = s/2 + p, which stays above -rho; and z = -2 rho - s.
    noises = ((rho_, more), (more / 2 + less, -more), (rho_, -2 * rho_ - more))
    weights = [(size, weight(size, z)) for size, z in noises]
    t, label, wide, before = sympy.symbols("t y b x", nonnegative=True)  # |theta_1|, |y|, rho |x_0|, sigma(U_0)
    return proof(
        computed("|theta_0| <= rho, whatever the noise", all(
            never_negative(size - value) and never_negative(size + value) for size, value in weights)),
        computed("|theta_1 y|/(1 + theta_1^2) <= |y|/2, the difference being |y| (1 - |theta_1|)^2/(2 (1 + theta_1^2))",
                 vanishes(label / 2 - t * label / (1 + t**2) - label * (1 - t) ** 2 / (2 * (1 + t**2)))),
        computed("(5): sigma(U_0)/(1 + theta_1^2) is between 0 and sigma(U_0), so -|y|/2 <= x_1 <= |y|/2 + sigma(U_0)",
                 never_negative(before - before / (1 + t**2))),
        computed("(6): U_0 <= max(0, (theta_0 x_0 + x_1)/2), in every region of the plane", all(
            never_negative(sympy.expand(((x + a) / 2 if decided(x + a) else 0) - PRINTED(a, x)))
            for a, x in regions())),
        computed("x_1 <= rho |x_0| + |y| gives |y|/2 + (rho |x_0| + x_1)/2 <= the same again",
                 vanishes(label / 2 + (wide + (wide + label)) / 2 - (wide + label))),
        tried=tried,
    )


_UNIT = (positive("rho"), positive("X"), real("y"))
_BENIGN = (
    r"This assumption is benign, because \mathbf{x}_0 is anchored as the input, and "
    r"$\{\mathbf{x}_d\}_{d=1}^D$ are softly constrained by several quadratic terms in Equation (4) that we "
    "aim to jointly minimize."
)

bounded = Claim(
    id="sbcd/assump-3.1", source="001, Assumption 3.1, called benign",
    quote=_BENIGN,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\exists X_1 < \infty:\ \lVert \mathbf{x}_1 \rVert_2^2 \le X_1 \text{ always}",
    words="bounded activations are a benign assumption: for Algorithm 2 as listed, or normalised after the noise",
    hypotheses=_UNIT, says=None, check=None, readings=("sbcd/assump-3.1-reading-listed", "sbcd/assump-3.1-repaired"),
    uses=("sbcd/alg-order",),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"-\tfrac{|y|}{2} \le x_1 \le \rho |x_0| + |y| \text{ if so at the start}",
        words="with one hidden unit, squared loss and weights normalised after the noise the activation stays bounded",
        says=lambda rho, z: sympy.Max(-rho, sympy.Min(rho, rho + z)), check=judge_bounded,
        expected="HOLDS ARGUED",
        source="001, Assumption 3.1, for one hidden unit, theta_0 normalised after its update, squared loss",
        flips=(Flip("normalised before the noise", lambda rho, z: rho + z, Verdict.REFUTED),),
        rests_on=("sbcd/alg-order-repaired", "sbcd/eq-5-D", "sbcd/eq-6"),
        true_variants={"sign": "weights within [-rho, rho] are all that it needs",
                       "1 % less": "weights within [-rho, rho] are all that it needs",
                       "any X": "the bound does not depend on X"},
    ),
)
listed = reading(
    bounded, "listed", source="001, Assumption 3.1, for Algorithm 2 as it is listed",
    words="the activations that Algorithm 2, as listed, solves for are bounded by a constant",
    says=lambda rho, z: rho + z, check=judge_bounded,
    flips=(Flip("normalised after the noise", lambda rho, z: sympy.Max(-rho, sympy.Min(rho, rho + z)), Verdict.HOLDS),),
    uses=("sbcd/alg-order",), expected="REFUTED PROVED",
)
