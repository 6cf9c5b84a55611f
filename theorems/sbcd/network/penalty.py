r"""Equations (4) and (7) of document 001: the penalty, its convexity, and the update of theta_d.

(4) is a quadratic penalty, not a Lagrangian: its minimum is below that of the constrained problem. It is convex in each
theta_d and x_d, but not in U_d, where the square of x - max(0, U) has a downward kink at 0 for x > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, real, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import minimiser, never_negative
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def half_objective(a: Any, x: Any, u: Any) -> Any:
    """(x - max(0, U))^2 + (U - a)^2, the part of (4) that one coordinate of U_d enters, doubled."""
    return (x - max(0 * u, u)) ** 2 + (u - a) ** 2


def judge_convexity(blocks: tuple[str, ...], given: Domain) -> Finding:
    """Whether (4) is convex in each of the named blocks: one coordinate decides U, second derivatives the rest."""
    if "U" in blocks:
        h = Fraction(1, 4)
        left, middle, right = (half_objective(Fraction(0), Fraction(1), u) for u in (-h, Fraction(0), h))
        if middle > (left + right) / 2:
            return refuted(
                "the middle of a segment lies above its ends' mean",
                {"theta x": "0", "x_next": "1", "U": f"-{h}, 0, {h}", "objective": f"{left}, {middle}, {right}"},
            )
    gamma, t = given.symbol("gamma"), sympy.symbols("t", real=True)
    at, w, move, s = sympy.symbols("a w v s", real=True)  # numbers of one coordinate: w - t v is what (4) squares
    bends = {
        # theta + t H: U - theta x moves by t times H x. x + t h: x - sigma(U) by t h, and U - theta x by t theta h.
        "theta": [sympy.diff(gamma / 2 * (w - t * move) ** 2, t, 2)],
        "x": [sympy.diff(gamma / 2 * term**2, t, 2) for term in (at + t * move - s, w - t * move)],
    }
    signs = [vanishes(bend - gamma * move**2) for block in blocks for bend in bends[block]]
    return proof(
        computed("in every coordinate of U_d - theta_d x_d and of x_d - sigma(U_{d-1}) the second derivative along a "
                 "line is gamma times a square, gamma > 0", all(signs) and gamma.is_nonnegative is True
                 and all(value > 0 for value in given.values("gamma"))),
        argued("(4) is a sum of these over the coordinates and layers, of terms without the block, and of R, convex in "
               "theta_D and in x_D by hypothesis; a sum of convex functions is convex"),
    )


def judge_penalty(minimum: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Hold a claimed least value of (4) at theta > 0 against the true one: one layer, R = (x_1 - y)^2/2, x_0 = 1.

    claimed(constrained, gamma) is given the constrained problem's value (theta - y)^2 / 2.
    """
    gamma, theta, y = (given.symbol(name) for name in ("gamma", "theta", "y"))
    x, u, less = sympy.symbols("x U v", nonnegative=True)
    right = (x - y) ** 2 / 2 + gamma / 2 * ((x - u) ** 2 + (u - theta) ** 2)  # U >= 0
    left = (x - y) ** 2 / 2 + gamma / 2 * (x**2 + (less + theta) ** 2)  # U = -v <= 0
    point = sympy.solve([sympy.diff(right, x), sympy.diff(right, u)], [x, u], dict=True)[0]
    least, constrained = sympy.factor(right.subs(point)), (theta - y) ** 2 / 2
    tried = 0
    for case in led(given, gamma="1", theta="1", y="2"):
        at = {gamma: case["gamma"], theta: case["theta"], y: case["y"]}
        claimed, true = minimum((case["theta"] - case["y"]) ** 2 / 2, case["gamma"]), sympy.Rational(least.subs(at))
        tried += 1
        if Fraction(claimed) != Fraction(int(true.p), int(true.q)):
            return refuted(
                "the minimum of (4) violates the constraints and is another number",
                {"theta": case["theta"], "y": case["y"], "gamma": case["gamma"], "claimed": claimed,
                 "least value of (4)": true, "x_1": point[x].subs(at), "sigma(U_0)": point[u].subs(at)},
            )
    bend = sympy.hessian(right, (x, u))
    return proof(
        computed("on U >= 0 the Hessian in (x, U) is positive definite, and its stationary point has U > 0",
                 never_negative(bend[0, 0]) and bend.det().is_positive is True and never_negative(point[u])),
        computed("on U <= 0 the value is never below that at U = 0", never_negative(left - left.subs(less, 0))),
        computed("the value at the stationary point is the one claimed", vanishes(minimum(constrained, gamma) - least)),
        tried=tried,
    )


def judge_step(update: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether <g, t' - t> + |t' - t|^2/(2 eta) is |t' - update(t, g, eta)|^2/(2 eta) up to a constant."""
    cases = [(Fraction(t), Fraction(g), eta) for eta in given.values("eta") for t in (1, -2) for g in (1, -3, 0)]
    for theta, slope, eta in cases:
        true = minimiser(lambda m, t=theta, g=slope, e=eta: g * (m - t) + (m - t) ** 2 / (2 * e))
        if update(theta, slope, eta) != true:
            return refuted(
                "the two objectives have different minimisers",
                {"theta": theta, "gradient": slope, "eta": eta, "minimiser": true,
                 "update": update(theta, slope, eta)},
            )
    t_, g_, moved = sympy.symbols("t g m", real=True)
    eta_ = given.symbol("eta")
    gap = g_ * (moved - t_) + (moved - t_) ** 2 / (2 * eta_) - (moved - update(t_, g_, eta_)) ** 2 / (2 * eta_)
    return proof(
        computed("in every coordinate the two objectives differ by what does not depend on theta', so their sums with "
                 "any r(theta') have the same minimisers", vanishes(sympy.diff(gap, moved))),
        tried=len(cases),
    )


def judge_exact(update: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether an update, of h, eta and theta, is Algorithm 1's argmin of h t^2/2 + (t - theta)^2/(2 eta)."""
    tried = 0
    for point in led(given, h="1", eta="1/2", theta="1"):
        h, eta, theta = point["h"], point["eta"], point["theta"]
        true = minimiser(lambda t, h=h, e=eta, s=theta: h * t**2 / 2 + (t - s) ** 2 / (2 * e))
        tried += 1
        if update(h, eta, theta) != true:
            return refuted(
                "the linearised step is another point",
                {"F": f"{h} theta^2 / 2", "eta": eta, "theta": theta, "argmin": true, "update": update(h, eta, theta)},
            )
    h_, eta_, theta_ = (given.symbol(name) for name in ("h", "eta", "theta"))
    found = update(h_, eta_, theta_)
    return proof(
        computed("h t + (t - theta)/eta vanishes there, and h + 1/eta > 0, on symbols",
                 vanishes(h_ * found + (found - theta_) / eta_) and (h_ + 1 / eta_).is_positive is True),
        tried=tried,
    )


_LAYER = (vector("theta"), vector("x"), vector("U"), positive("gamma"))
_SCALAR = (positive("theta"), positive("y"), positive("gamma"))
_TAYLOR = (
    r"use first order Taylor expansion of $\mathcal{F}(\theta'_d)$ to write it in the proximal gradient "
    "descent format."
)
_LAGRANGIAN = (
    "We then consider the Lagrangian function of the problem (3) with a multiplier co-efficient γ , which is "
    "set 1 in this work."
)
_QUADRATIC = (real("theta"), non_negative("h", "the curvature of F"), positive("eta"))

convexity = Claim(
    id="sbcd/eq-4-convex", source="001, Section 3.2, after (4)",
    quote=(
        r"we have $\forall d$, $\mathcal{F}(\theta_d)$ is convex w.r.t. θ_d , and $\forall d$, "
        r"$\mathcal{F}(\mathbf{x}_d)$ is convex w.r.t. \mathbf{x}_d ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\mathcal{F}(\theta_d),\ \mathcal{F}(\mathbf{x}_d) \text{ are convex}",
    words="the penalty (4) is convex in each theta_d and in each x_d, for a loss convex in theta_D and in x_D",
    hypotheses=_LAYER, says=("theta", "x"), check=judge_convexity,
    flips=(Flip("in U_d as well", ("theta", "x", "U"), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
lagrangian = Claim(
    id="sbcd/eq-4-lagrangian", source="001, (4): the Lagrangian function of problem (3)",
    quote=_LAGRANGIAN,
    whose=Whose.PRINTED,
    statement=r"\mathcal{F} \text{ of (4) is the Lagrangian function of (3)}",
    words="(4) is called a Lagrangian: one that is exact at its minimum, or a name for the quadratic penalty",
    hypotheses=_LAYER, says=None, check=None,
    readings=("sbcd/eq-4-lagrangian-reading-exact", "sbcd/eq-4-penalty"),
    repaired_by="sbcd/eq-4-penalty",
    expected="AMBIGUOUS PROVED",
)
lagrangian_exact = reading(
    lagrangian, "exact", source="001, (4) as a Lagrangian that is exact at its minimum",
    statement=r"\min_{\mathbf{x}, \mathbf{U}} \mathcal{F} = \mathcal{L}(\theta)",
    words="the minimum of (4) over x and U is the constrained problem's value", hypotheses=_SCALAR,
    says=lambda constrained, gamma: constrained, check=judge_penalty,
    flips=(
        Flip("gamma/(gamma + 2) of it", lambda constrained, gamma: constrained * gamma / (gamma + 2), Verdict.HOLDS),
    ),
    repaired_by="sbcd/eq-4-penalty", expected="REFUTED PROVED",
)
penalty = Claim(
    id="sbcd/eq-4-penalty",
    source="001, (4), as the quadratic penalty that it is: one layer, x_0 = 1, theta > 0 and a squared loss",
    statement=r"\min_{\mathbf{x}, \mathbf{U}} \mathcal{F} = \frac{\gamma}{\gamma + 2}\,\mathcal{L}(\theta)",
    words="(4) is a quadratic penalty: with one layer and a squared loss its minimum is gamma/(gamma+2) of the loss",
    hypotheses=_SCALAR, says=lambda constrained, gamma: constrained * gamma / (gamma + 2), check=judge_penalty,
    flips=(Flip("the loss itself", lambda constrained, gamma: constrained, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
proximal_step = Claim(
    id="sbcd/eq-7", source="001, (7)",
    quote=r"= \text{Prox}_{\eta, r_d}(\theta_d - \eta \nabla \mathcal{F}(\theta_d)) \quad (7)",
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=(
        r"\operatorname{argmin}_{\theta'} \langle \nabla\mathcal{F}(\theta), \theta' - \theta\rangle +"
        r" \tfrac{1}{2\eta}\lVert\theta' - \theta\rVert_F^2 + r(\theta') ="
        r" \mathrm{Prox}_{\eta, r}(\theta - \eta\nabla\mathcal{F}(\theta))"
    ),
    words="the linearised update with damping is a proximal gradient step",
    hypotheses=(vector("theta"), positive("eta")), says=lambda t, g, eta: t - eta * g, check=judge_step,
    flips=(Flip("the sign of the gradient", lambda t, g, eta: t + eta * g, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
exact_step = Claim(
    id="sbcd/eq-7-exact", source="001, Section 4.1: the update of Algorithm 1 written as (7)",
    quote=_TAYLOR,
    whose=Whose.PRINTED,
    statement=r"\text{the update of Algorithm 1, written as (7)}",
    words="Algorithm 1's update of theta_d is written as (7): the same update, or one put in its place",
    hypotheses=_QUADRATIC, says=None, check=None, readings=("sbcd/eq-7-exact-reading-equal", "sbcd/eq-7"),
    uses=("sbcd/eq-7",),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"\operatorname{argmin}_{\theta'} \tfrac{h}{2}\theta'^2 + \tfrac{1}{2\eta}(\theta' - \theta)^2 ="
                  r" \frac{\theta}{1 + \eta h}",
        words="Algorithm 1's exact update of a sub-problem of curvature h divides by 1 + eta h",
        says=lambda h, eta, theta: theta / (1 + eta * h), check=judge_exact,
        expected="HOLDS PROVED",
        source="001, Algorithm 1's update for a quadratic sub-problem of curvature h",
        flips=(Flip("the linearised step", lambda h, eta, theta: theta - eta * h * theta, Verdict.REFUTED),),
    ),
)
exact_step_equal = reading(
    exact_step, "equal", source="001, Section 4.1: the update of Algorithm 1 is (7), r = 0",
    statement=r"\operatorname{argmin}_{\theta'} \mathcal{F}(\theta') + \tfrac{1}{2\eta}\lVert\theta' - \theta\rVert_F^2"
              r" = \theta - \eta\nabla\mathcal{F}(\theta) \quad (r = 0)",
    words="Algorithm 1's exact update of theta_d is the proximal gradient step (7)",
    says=lambda h, eta, theta: theta - eta * h * theta, check=judge_exact,
    flips=(Flip("theta/(1 + eta h)", lambda h, eta, theta: theta / (1 + eta * h), Verdict.HOLDS),),
    uses=("sbcd/eq-7",), expected="REFUTED PROVED",
)
