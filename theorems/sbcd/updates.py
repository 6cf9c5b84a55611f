r"""Equations (4) to (7) of document 001: the penalty, and the exact updates of x_d, U_d and theta_d.

(4) is a quadratic penalty, not a Lagrangian: its minimum is below that of the constrained problem. It is convex in each
theta_d and x_d, but not in U_d, where the square of x - max(0, U) has a downward kink at 0 for x > 0.

(6), one coordinate, a = theta_d x_d and x = x_{d+1}: on U >= 0 the objective (x - U)^2 + (U - a)^2 is least at
max(0, (x + a)/2), on U <= 0 the objective x^2 + (U - a)^2 at min(0, a). If x + a <= 0 the first gives U = 0, which the
second half contains: U = min(0, a). If x + a > 0 and a >= 0, (x - a)^2 / 2 <= x^2 + a^2: U = (x + a)/2. If x + a > 0
and a < 0, compare x^2 with (x - a)^2 / 2: the negative half wins exactly when x - a >= sqrt(2) x. These are the three
cases, so (6) is right, with two minimisers at the border.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, vector
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided


def half_objective(a: Fraction, x: Fraction, u: Fraction) -> Fraction:
    """(x - max(0, U))^2 + (U - a)^2, the part of (4) that one coordinate of U_d enters, doubled."""
    return (x - max(Fraction(0), u)) ** 2 + (u - a) ** 2


@dataclass(frozen=True)
class Cases:
    """(6) for one coordinate, a = theta_d x_d and x = x_{d+1}, of numbers or of symbols."""

    threshold: sympy.Expr
    near: Callable[[Any, Any], Any]  # if -x <= a <= -threshold x <= 0
    below: Callable[[Any, Any], Any]  # if a + x <= 0
    otherwise: Callable[[Any, Any], Any]

    def __call__(self, a: Fraction, x: Fraction) -> Fraction:
        """The update, the first case that applies."""
        if -x <= a and x >= 0 and bool(sympy.Rational(a) <= -self.threshold * sympy.Rational(x)):
            return Fraction(self.near(a, x))
        return Fraction(self.below(a, x) if a + x <= 0 else self.otherwise(a, x))

    def proved(self) -> bool:
        """Whether the cases are those of the module docstring, as symbols."""
        a, x = sympy.symbols("a x", positive=True)
        gaps = (
            self.threshold - (sympy.sqrt(2) - 1), self.near(-a, x) + a, self.below(-a, x) + a, self.below(a, -a - x),
            self.otherwise(a, x) - (a + x) / 2, self.otherwise(-a, a + x) - x / 2,
        )
        return all(sympy.simplify(gap) == 0 for gap in gaps)


PRINTED = Cases(sympy.sqrt(2) - 1, lambda a, x: a, lambda a, x: min(0 * a, a), lambda a, x: (a + x) / 2)


def judge_activation(update: Cases, given: Domain) -> Finding:
    """Hold an update of U against the least value on both half-lines, exactly, on a grid; prove it by its cases."""
    grid = [Fraction(n, 4) for n in range(-10, 11)]
    near = [(Fraction(-n, 1000), Fraction(1)) for n in range(400, 430)]  # where the cases change
    points = [*itertools.product(grid, repeat=2), *near]
    for a, x in points:
        least = min(half_objective(a, x, max(Fraction(0), (x + a) / 2)), half_objective(a, x, min(Fraction(0), a)))
        found = half_objective(a, x, update(a, x))
        if found > least:
            return refuted(
                "another U has a smaller objective, exactly",
                {"theta x": str(a), "x_next": str(x), "U": str(update(a, x)), "objective": str(found),
                 "least": str(least)},
            )
    a_, x_ = sympy.symbols("a x", real=True)
    root = sympy.sqrt(2)
    border = sympy.expand(2 * x_**2 - (x_ - a_) ** 2 - (root * x_ - x_ + a_) * (root * x_ + x_ - a_))
    right = sympy.expand(x_**2 + a_**2 - (x_ - a_) ** 2 / 2 - (x_ + a_) ** 2 / 2)
    if not update.proved() or border != 0 or right != 0:
        return undecided("no point fails; not proved", len(points))
    return proof(argued(
        "least on each half-line, compared case by case: x^2 + a^2 - (x-a)^2/2 = (x+a)^2/2 >= 0 and 2x^2 - (x-a)^2 = "
        "(sqrt2 x - x + a)(sqrt2 x + x - a) (computer algebra); gamma cancels"
    ))


def printed_activity(theta: sympy.Matrix, u: sympy.Matrix, before: sympy.Matrix) -> sympy.Matrix:
    """(5) for 1 <= d <= D-1: (theta^T theta + I)^{-1} (theta^T U_d + sigma(U_{d-1}))."""
    return (theta.T * theta + sympy.eye(theta.cols)).LUsolve(theta.T * u + before)


def judge_activity(
    update: Callable[[sympy.Matrix, sympy.Matrix, sympy.Matrix], sympy.Matrix], given: Domain
) -> Finding:
    """Whether an update of x_d makes the gradient of (4), which is convex in x_d, vanish for a layer of symbols."""
    def gradient(theta: sympy.Matrix, u: sympy.Matrix, before: sympy.Matrix) -> sympy.Matrix:
        x = update(theta, u, before)
        return x - before - theta.T * (u - theta * x)

    point = (sympy.Matrix([[1, 2], [0, 1]]), sympy.Matrix([1, 1]), sympy.Matrix([1, 3]))
    if gradient(*point) != sympy.zeros(2, 1):
        names = ("theta", "U_d", "sigma(U_{d-1})")
        return refuted(
            "the gradient of (4) does not vanish at the update",
            {**{name: str(value.tolist()) for name, value in zip(names, point, strict=True)},
             "x_d": str(update(*point).tolist()), "gradient": str(gradient(*point).tolist())},
        )
    a, b, c, d, u, v, s, t = sympy.symbols("a b c d u v s t", real=True)
    layers = (
        (sympy.Matrix([a, b]), sympy.Matrix([u, v]), sympy.Matrix([s])),
        (sympy.Matrix([[a, b]]), sympy.Matrix([u]), sympy.Matrix([s, t])),
        (sympy.Matrix([[a, b], [c, d]]), sympy.Matrix([u, v]), sympy.Matrix([s, t])),
    )
    if not all(sympy.expand(sympy.numer(sympy.together(v))) == 0 for layer in layers for v in gradient(*layer)):
        return undecided("vanishes at a point only", 1)
    return proof(argued(
        "the gradient gamma (x - sigma(U_{d-1}) - theta^T (U_d - theta x)) vanishes identically for a layer of "
        "symbols, and the Hessian gamma (I + theta^T theta) is positive definite; the normal equations read the same "
        "in every size"
    ))


def judge_input(update: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether an update of x_0, of theta_0, U_0 and the input, leaves the input what it is, as (1) and (3) ask."""
    for theta, u, fed in ((Fraction(1), Fraction(1), Fraction(1)), (Fraction(2), Fraction(-1), Fraction(3))):
        value = update(theta, u, fed)
        if value != fed:
            return refuted(
                "the update replaces the input of the network",
                {"theta_0": str(theta), "U_0": str(u), "input": str(fed), "x_0 after the update": str(value)},
            )
    theta_, u_, given_ = sympy.symbols("theta U x", real=True)
    if sympy.simplify(update(theta_, u_, given_) - given_) != 0:
        return undecided("kept at two points only", 2)
    return proof(argued("x_0 stays the input"))


def judge_last(parameter: Callable[[sympy.Symbol], sympy.Expr], given: Domain) -> Finding:
    """Whether Prox with that parameter of gamma minimises R(x) + gamma/2 (x - s)^2, for R = w (x - y)^2 / 2."""
    gamma, weight, s, y, x = sympy.symbols("gamma w s y x", positive=True)
    loss = weight * (x - y) ** 2 / 2
    proximal = sympy.solve(sympy.diff(loss + (x - s) ** 2 / (2 * parameter(gamma)), x), x)[0]
    least = sympy.solve(sympy.diff(loss + gamma * (x - s) ** 2 / 2, x), x)[0]
    if sympy.simplify(proximal - least) == 0:
        return proof(argued(
            "equal for squared losses only if 1/(2 eta) = gamma/2 "
            "(computer algebra), and then the two objectives are the same for every R"
        ))
    at = {gamma: 2, weight: 1, s: 1, y: 4}
    return refuted(
        "the proximal map is another point",
        {"gamma": "2", "R": "(x - 4)^2 / 2", "sigma(U)": "1", "proximal point": str(proximal.subs(at)),
                    "minimiser": str(least.subs(at))},
    )


def judge_convexity(blocks: tuple[str, ...], given: Domain) -> Finding:
    """Whether (4) is convex in each of the named blocks: one coordinate decides U, algebra the rest."""
    gamma, x0, x1, u, theta = sympy.symbols("gamma x_0 x_1 U theta", positive=True)
    smooth = gamma / 2 * ((x1 - u) ** 2 + (u - theta * x0) ** 2)  # on U > 0; quadratic in theta and in x on both sides
    for block in blocks:
        if block == "U":
            h = Fraction(1, 4)
            middle, ends = half_objective(Fraction(0), Fraction(1), Fraction(0)), [
                half_objective(Fraction(0), Fraction(1), s * h) for s in (1, -1)
            ]
            if middle > sum(ends) / 2:
                return refuted(
                    "the middle of a segment lies above its ends' mean",
                    {"theta x": "0", "x_next": "1", "U": f"-{h}, 0, {h}",
                     "objective": f"{ends[1]}, {middle}, {ends[0]}"},
                )
        else:
            second = sympy.diff(smooth, {"theta": theta, "x": x0}[block], 2)
            if second.is_nonnegative is not True:
                return undecided(f"{block}: sign of {second} not shown", 1)
    return proof(argued(
        "along any line (4) is quadratic in theta_d and in x_d with second derivative gamma times a square "
        "(plus that of R, convex by hypothesis)"
    ))


def judge_penalty(minimum: Callable[[sympy.Expr, sympy.Expr], sympy.Expr], given: Domain) -> Finding:
    """Hold a claimed least value of (4) at a given theta against the true one: one layer, R = (x_1 - y)^2/2, x_0 = 1.

    claimed(constrained, gamma) is given the constrained problem's value (theta - y)^2 / 2, for theta, U > 0.
    """
    gamma, theta, y, x, u = sympy.symbols("gamma theta y x U", positive=True)
    penalty = (x - y) ** 2 / 2 + gamma / 2 * ((x - u) ** 2 + (u - theta) ** 2)
    point = sympy.solve([sympy.diff(penalty, x), sympy.diff(penalty, u)], [x, u], dict=True)[0]
    least = sympy.simplify(penalty.subs(point))
    constrained = (theta - y) ** 2 / 2
    claimed = minimum(constrained, gamma)
    if sympy.simplify(claimed - least) == 0:
        return proof(argued(
            f"the least value of (4) over x and U is {sympy.factor(least)}; it tends to the constrained "
            "value only as gamma grows"
        ))
    at = {gamma: 1, theta: 1, y: 2}
    return refuted(
        "the minimum of (4) violates the constraints and is smaller",
        {"theta": "1", "y": "2", "gamma": "1", "claimed": str(claimed.subs(at)),
         "least value of (4)": str(least.subs(at)), "x_1": str(point[x].subs(at)),
         "sigma(U_0)": str(point[u].subs(at))},
    )


def judge_step(update: Callable[[sympy.Expr, sympy.Expr, sympy.Expr], sympy.Expr], given: Domain) -> Finding:
    """Whether <g, t' - t> + |t' - t|^2/(2 eta) is |t' - update(t, g, eta)|^2/(2 eta) up to a constant."""
    t, g, moved = sympy.symbols("t g m", real=True)
    eta = sympy.symbols("eta", positive=True)
    gap = g * (moved - t) + (moved - t) ** 2 / (2 * eta) - (moved - update(t, g, eta)) ** 2 / (2 * eta)
    if sympy.simplify(sympy.diff(gap, moved)) == 0:
        return proof(argued("the two objectives differ by a constant (computer algebra), coordinate by coordinate"))
    return refuted(
        "the two objectives have different minimisers",
        {"theta": "1", "gradient": "1", "eta": "1/2", "minimiser": "1/2",
                    "update": str(update(sympy.Integer(1), sympy.Integer(1), sympy.Rational(1, 2)))},
    )


def judge_exact(update: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether an update, of h, eta and theta, is Algorithm 1's argmin of h t^2/2 + (t - theta)^2/(2 eta)."""
    tried = [(Fraction(h), Fraction(e), Fraction(t)) for h in (1, 3) for e in ("1/2", "1/10") for t in (1, -2)]
    for h, eta, theta in tried:
        true = theta / (1 + eta * h)
        if update(h, eta, theta) != true:
            return refuted(
                "the linearised step is another point",
                {"F": f"{h} theta^2 / 2", "eta": str(eta), "theta": str(theta), "argmin": str(true),
                            "update": str(update(h, eta, theta))},
            )
    h_, eta_, theta_ = sympy.symbols("h eta theta", positive=True)
    stationary = h_ * update(h_, eta_, theta_) + (update(h_, eta_, theta_) - theta_) / eta_
    if sympy.simplify(stationary) != 0:
        return undecided("right at points only", len(tried))
    return proof(argued("h t + (t - theta)/eta = 0 at t = theta/(1 + eta h)"))


_LAYER = (vector("theta"), vector("x"), vector("U"), positive("gamma"))

convexity = Claim(
    id="sbcd/eq-4-convex", source="001, Section 3.2, after (4)",
    quote=(
        r"we have $\forall d$, $\mathcal{F}(\theta_d)$ is convex w.r.t. θ_d , and $\forall d$, "
        r"$\mathcal{F}(\mathbf{x}_d)$ is convex w.r.t. \mathbf{x}_d ."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
    statement=r"\mathcal{F}(\theta_d),\ \mathcal{F}(\mathbf{x}_d) \text{ are convex}",
    words="the penalty (4) is convex in each theta_d and in each x_d, for a convex loss",
    hypotheses=_LAYER, says=("theta", "x"), check=judge_convexity,
    flips=(Flip("in U_d as well", ("theta", "x", "U"), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

lagrangian = Claim(
    id="sbcd/eq-4-lagrangian", source="001, (4): the Lagrangian function of problem (3)",
    quote=(
        "We then consider the Lagrangian function of the problem (3) with a multiplier co-efficient γ , which is "
        "set 1 in this work."
    ),
    whose=Whose.READING,
    statement=r"\min_{\mathbf{x}, \mathbf{U}} \mathcal{F} = \mathcal{L}(\theta)",
    words="(4) is a Lagrangian: its minimum over x and U is the constrained problem's value",
    hypotheses=_LAYER, says=lambda constrained, gamma: constrained, check=judge_penalty,
    flips=(
        Flip("gamma/(gamma + 2) of it", lambda constrained, gamma: constrained * gamma / (gamma + 2), Verdict.HOLDS),
    ),
    repaired_by="sbcd/eq-4-penalty",
    expected="REFUTED PROVED",
)

penalty = Claim(
    id="sbcd/eq-4-penalty", source="001, (4), as the quadratic penalty that it is: one layer and a squared loss",
    statement=r"\min_{\mathbf{x}, \mathbf{U}} \mathcal{F} = \frac{\gamma}{\gamma + 2}\,\mathcal{L}(\theta)",
    words="(4) is a quadratic penalty: with one layer and a squared loss its minimum is gamma/(gamma+2) of the loss",
    hypotheses=_LAYER, says=lambda constrained, gamma: constrained * gamma / (gamma + 2), check=judge_penalty,
    flips=(Flip("the loss itself", lambda constrained, gamma: constrained, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

activity = Claim(
    id="sbcd/eq-5-mid", source="001, (5), 1 <= d <= D-1",
    quote=(
        r"(\theta_d^T \theta_d + \mathbf{I})^{-1} (\theta_d^T \mathbf{U}_d + \sigma(\mathbf{U}_{d-1})) & "
        r"\text{if } d = 0, 1, \dots, D-1."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=(
        r"\mathbf{x}_d = (\theta_d^T\theta_d + \mathbf{I})^{-1}(\theta_d^T\mathbf{U}_d + \sigma(\mathbf{U}_{d-1}))"
    ),
    words="the update (5) of an inner x_d minimises (4) exactly",
    hypotheses=_LAYER, says=printed_activity, check=judge_activity,
    flips=(
        Flip("theta theta^T in place of theta^T theta",
             lambda theta, u, s: (theta * theta.T + sympy.eye(2)).LUsolve(theta.T * u + s), Verdict.REFUTED),
        Flip("without the identity", lambda theta, u, s: (theta.T * theta).LUsolve(theta.T * u + s), Verdict.REFUTED),
        Flip("only the first coordinate of sigma(U)",
             lambda theta, u, s: printed_activity(theta, u, sympy.diag(1, *[0] * (len(s) - 1)) * s), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)

first = Claim(
    id="sbcd/eq-5-d0", source="001, (5) with d = 0, where U_{-1} does not exist (its term taken as 0)",
    quote=(
        r"(\theta_d^T \theta_d + \mathbf{I})^{-1} (\theta_d^T \mathbf{U}_d + \sigma(\mathbf{U}_{d-1})) & "
        r"\text{if } d = 0, 1, \dots, D-1."
    ),
    whose=Whose.TYPO,
    statement=(
        r"\mathbf{x}_0 = (\theta_0^T\theta_0 + \mathbf{I})^{-1}(\theta_0^T\mathbf{U}_0 + \sigma(\mathbf{U}_{-1}))"
    ),
    words="the update (5) may be used for d = 0",
    hypotheses=_LAYER, says=lambda theta, u, given: theta * u / (theta**2 + 1), check=judge_input,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbf{x}_0 = \mathbf{x}",
        words="x_0 is the input and is not updated",
        says=lambda theta, u, given: given,
        expected="HOLDS ARGUED",
        source="001, (5), d = 0 left out",
        flips=(Flip("theta_0^+ U_0", lambda theta, u, given: u / theta, Verdict.REFUTED),),
    ),
)

last = Claim(
    id="sbcd/eq-5-D", source="001, (5), d = D",
    quote=r"\text{Prox}_{\frac{1}{\gamma}, \mathcal{R}}(\sigma_{D-1}(\mathbf{U}_{D-1})). & \text{if } d = D",
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\mathbf{x}_D = \mathrm{Prox}_{1/\gamma, \mathcal{R}}(\sigma_{D-1}(\mathbf{U}_{D-1}))",
    words="the update (5) of x_D minimises (4) exactly",
    hypotheses=_LAYER, says=lambda gamma: 1 / gamma, check=judge_last,
    flips=(Flip("the parameter gamma", lambda gamma: gamma, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

hidden = Claim(
    id="sbcd/eq-6", source="001, (6) (Zeng et al. 2019, Lemma 13)",
    quote=(
        r"\min\{0, \theta_d \mathbf{x}_d\} & \text{if } \theta_d \mathbf{x}_d + \mathbf{x}_{d+1} \leq "
        r"0. \\ \frac{1}{2}(\theta_d \mathbf{x}_d + \mathbf{x}_{d+1}) & \text{otherwise.}"
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=(
        r"\mathbf{U}_d = \theta_d\mathbf{x}_d,\ \min\{0, \theta_d\mathbf{x}_d\},\ \tfrac12(\theta_d\mathbf{x}_d +"
        r" \mathbf{x}_{d+1}) \text{ in the three cases}"
    ),
    words="the three-case formula is the exact minimiser of (4) over U_d for ReLU",
    hypotheses=_LAYER, says=PRINTED, check=judge_activation,
    flips=(
        Flip("the first case left out", replace(PRINTED, threshold=sympy.Integer(1)), Verdict.REFUTED),
        Flip("1/2 in place of sqrt(2) - 1", replace(PRINTED, threshold=sympy.Rational(1, 2)), Verdict.REFUTED),
        Flip("5/12, a convergent of it", replace(PRINTED, threshold=sympy.Rational(5, 12)), Verdict.REFUTED),
        Flip("max for min in the second case", replace(PRINTED, below=lambda a, x: max(0 * a, a)), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)

proximal_step = Claim(
    id="sbcd/eq-7", source="001, (7)",
    quote=r"= \text{Prox}_{\eta, r_d}(\theta_d - \eta \nabla \mathcal{F}(\theta_d)) \quad (7)",
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
    statement=(
        r"\operatorname{argmin}_{\theta'} \langle \nabla\mathcal{F}(\theta), \theta' - \theta\rangle +"
        r" \tfrac{1}{2\eta}\lVert\theta' - \theta\rVert_F^2 + r(\theta') ="
        r" \mathrm{Prox}_{\eta, r}(\theta - \eta\nabla\mathcal{F}(\theta))"
    ),
    words="the linearised update with damping is a proximal gradient step",
    hypotheses=(vector("theta"), positive("eta")), says=lambda t, g, eta: t - eta * g, check=judge_step,
    flips=(Flip("the sign of the gradient", lambda t, g, eta: t + eta * g, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

exact_step = Claim(
    id="sbcd/eq-7-exact", source="001, Section 4.1: the update of Algorithm 1 written as (7)",
    quote=(
        r"use first order Taylor expansion of $\mathcal{F}(\theta'_d)$ to write it in the proximal gradient "
        "descent format."
    ),
    whose=Whose.READING,
    statement=r"\operatorname{argmin}_{\theta'} \mathcal{F}(\theta') + \tfrac{1}{2\eta}\lVert\theta' - \theta\rVert_F^2"
              r" = \theta - \eta\nabla\mathcal{F}(\theta) \quad (r = 0)",
    words="Algorithm 1's exact update of theta_d is the proximal gradient step (7)",
    hypotheses=(vector("theta"), positive("eta")), says=lambda h, eta, theta: theta - eta * h * theta,
    check=judge_exact,
    uses=("sbcd/eq-7",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\operatorname{argmin}_{\theta'} \tfrac{h}{2}\theta'^2 + \tfrac{1}{2\eta}(\theta' - \theta)^2 ="
                  r" \frac{\theta}{1 + \eta h}",
        words="Algorithm 1's exact update of a sub-problem of curvature h divides by 1 + eta h",
        says=lambda h, eta, theta: theta / (1 + eta * h),
        expected="HOLDS ARGUED",
        source="001, Algorithm 1's update for a quadratic sub-problem of curvature h",
    ),
)
