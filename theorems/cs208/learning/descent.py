r"""What document 004 says of gradient descent: its step, its direction and its output.

Descent on a b-smooth L (its gradient is b-Lipschitz): L(a - g v) <= L(a) - g |v|^2 + (b/2) g^2 |v|^2 for v the
gradient at a, by integrating along the step: L falls if 0 < g < 2/b. A step of 2/b or more need not: L = b x^2/2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import formula
from theorems.cs208.learning.optimisation import COUNTED, judge_mean
from theorems.given import Domain
from theorems.tools.symbolic_signs import positive, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted


def judge_descent(says: Fraction, given: Domain) -> Finding:
    """Whether a step of says/b on a b-smooth function never raises it; b x^2/2 from 1 is exact."""
    factor = says
    after = (1 - factor) ** 2  # of x = 1, in units of b/2
    if not factor > 0 or after >= 1:
        return refuted(
            "a step takes this function no lower", {"f": "x^2/2", "step size": factor, "from": 1,
                                                    "to": 1 - factor, "f before": Fraction(1, 2), "f after": after / 2},
        )
    g, b, v = sympy.symbols("g b v", positive=True)
    f = sympy.Rational(factor.numerator, factor.denominator)
    fall = (g * v**2 - b * g**2 * v**2 / 2).subs(g, f / b)
    return proof(
        argued("a function with a b-Lipschitz gradient v is at a - g v at most f(a) - g |v|^2 + b g^2 |v|^2/2"),
        computed("at the step size that is a fall wherever the gradient is not 0", positive(fall)),
    )


towards = Claim(
    id="cs208/moves-towards-minima", source="004, Gradient Descent: the annotated step, no range of the step size",
    quote="(minimization: subtract gradient term because we move towards local minima)",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"f(a - \gamma \nabla f(a)) < f(a)",
    words="a step against the gradient lowers the function, whatever the step size; here 3/smoothness",
    hypotheses=(), says=Fraction(3), check=judge_descent, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f(a - \gamma \nabla f(a)) < f(a),\quad 0 < \gamma < 2/\beta,\ \nabla f(a) \ne 0",
        words="a step against the gradient of a b-smooth function lowers it for step sizes below 2/b; here 1/b",
        says=Fraction(1), expected="HOLDS ARGUED", source="004, Gradient Descent, with a step size below 2/smoothness",
        flips=(Flip("2/b exactly", Fraction(2), Verdict.REFUTED), Flip("3/2", Fraction(3, 2), Verdict.HOLDS)),
        true_variants={"1 % *": "every step size below 2/b will do"},
    ),
)


def judge_steepest(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the direction says(g_1, g_2) rises fastest among directions of one Euclidean length."""
    tried = 0
    others = [(Fraction(a), Fraction(b)) for a in (-2, -1, 0, 1, 3) for b in (-1, 0, 1, 2) if (a, b) != (0, 0)]
    for point in given.points("first", "second"):
        g = (point["first"], point["second"])
        own = says(*g)
        for v in [*others, g] if g != (0, 0) else []:
            rise, length = g[0] * v[0] + g[1] * v[1], v[0] ** 2 + v[1] ** 2
            mine, size = g[0] * own[0] + g[1] * own[1], own[0] ** 2 + own[1] ** 2
            tried += 1
            if rise > 0 and (mine < 0 or rise**2 * size > mine**2 * length):
                return refuted("another direction of that length rises faster", {
                    "gradient": f"({g[0]}, {g[1]})", "direction": f"({own[0]}, {own[1]})",
                    "better": f"({v[0]}, {v[1]})"})
    g_ = sympy.symbols("g_1:4", real=True)
    v_ = sympy.symbols("v_1:4", real=True)
    own_ = (*says(g_[0], g_[1]), g_[2])
    squares = sum((g_[i] * v_[j] - g_[j] * v_[i]) ** 2 for i in range(3) for j in range(i))
    inner = sum(a * b for a, b in zip(g_, v_, strict=True))
    return proof(
        computed("<g, v>^2 <= |g|^2 |v|^2: the difference is a sum of squares, in three dimensions",
                 vanishes(sum(a**2 for a in g_) * sum(b**2 for b in v_) - inner**2 - squares)),
        computed("the direction is a positive multiple of the gradient, for which it is equal",
                 vanishes(own_[0] * g_[1] - own_[1] * g_[0]) and vanishes(own_[0] - g_[0])),
        argued("any two vectors lie in a plane; along a unit vector v a differentiable function rises at the rate "
               "<g, v>"),
        tried=tried,
    )


steepest = Claim(
    id="cs208/steepest-ascent", source="004, Gradient Descent: the annotated step, for Euclidean lengths",
    quote="(gradient term is steepest ascent)", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\mathop{argmax}_{\lVert v \rVert_2 = 1} \langle \nabla f, v \rangle "
              r"= \nabla f/\lVert \nabla f \rVert_2",
    words="where it is not 0, the gradient is the direction of steepest ascent, in the Euclidean norm",
    hypotheses=(real("first"), real("second")), says=lambda first, second: (first, second), check=judge_steepest,
    flips=(Flip("the signs alone, steepest in the largest-entry norm",
                lambda a, b: (a / abs(a) if a * a > 0 else a, b / abs(b) if b * b > 0 else b), Verdict.REFUTED),
           Flip("the descent", lambda a, b: (-a, -b), Verdict.REFUTED)),
    expected="HOLDS ARGUED",
)


def by_parts(records: int, slope: Fraction, theta: Fraction) -> Fraction:
    """The difference quotient of the mean of slope_i theta + theta^2/2 over records, exact for parabolas."""
    def mean(at: Fraction) -> Fraction:
        return sum(((slope + i) * at + at**2 / 2 for i in range(records)), Fraction(0)) / records

    return (mean(theta + 1) - mean(theta - 1)) / 2


def slope_steps(given: Domain) -> tuple[ProofStep, ...]:
    """The slopes of n parabolas, added up."""
    n, c, theta = (given.symbol(name) for name in ("records", "slope", "theta"))
    i, at = sympy.Symbol("i", integer=True), sympy.Symbol("t", real=True)
    slope = sympy.diff((c + i) * at + at**2 / 2, at).subs(at, theta)
    return (computed("the slopes of the n parabolas add up to n times that, on symbols", vanishes(
        sympy.summation(slope, (i, 0, n - 1)) - n * (c + (n - 1) / 2 + theta))),)


gradient_mean = Claim(
    id="cs208/gradient-mean", source="004, Gradient Descent: the gradient of the mean is the mean of the gradients",
    quote=(
        r"$$g_t = \nabla L(\hat{\theta}_{t-1}) = \frac{1}{n} \sum_i \nabla \ell(\hat{\theta}_{t-1} | x_i, y_i)$$"
    ),
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\nabla \frac1n \sum_i \ell_i = \frac1n \sum_i \nabla\ell_i",
    words="the gradient of the mean loss is the mean of the gradients, here of parabolas with slopes c, ..., c + n - 1",
    hypotheses=(positive_integer("records", "n"), real("slope", "c"), real("theta")),
    says=lambda n, slope, theta: (n * slope + n * (n - 1) / Fraction(2) + n * theta) / n,
    check=formula(
        ("records", "slope", "theta"), by_parts, lambda n, slope, theta: slope + (n - 1) / Fraction(2) + theta,
        "the mean loss has another slope", "the mean of the n slopes c + i + theta is c + (n-1)/2 + theta, on symbols",
        more=slope_steps,
    ),
    flips=(Flip("the sum", lambda n, slope, theta: n * slope + n * (n - 1) / Fraction(2) + n * theta,
                Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
output = Claim(
    id="cs208/gd-output", source="004, Gradient Descent, DP Gradient Descent and DP-SGD: the output",
    quote=r"Output $\hat{\theta} = \sum_{t=1}^T \hat{\theta}_t$ or $\hat{\theta}_T$",
    whose=Whose.TYPO, severity=Stake.UTILITY, statement=r"\hat\theta = \sum_{t=1}^T \hat\theta_t",
    words="the average iterate is the sum of the iterates", hypotheses=COUNTED,
    says=lambda total, n: total, check=judge_mean, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\hat\theta = \frac1T \sum_{t=1}^T \hat\theta_t",
        words="the average iterate is the sum of the iterates over their number",
        says=lambda total, n: total / n, expected="HOLDS PROVED", source="004, the three descents, with 1/T",
    ),
)
