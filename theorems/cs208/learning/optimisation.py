r"""What document 004 says of losses and of convexity.

Midpoints. Let 0 < w < 1 and L((1-w) a + w b) <= (1-w) L(a) + w L(b) for all a, b. The weights t for which L((1-t) a +
t b) <= (1-t) L(a) + t L(b) holds for all a, b contain 0 and 1, and with s, t also (1-w) s + w t: between two of them
there is another, so their closure, an interval without gaps, is [0, 1]; a continuous L is convex. A w outside of
[0, 1] asks for the opposite: L = -x^2 meets it. Without continuity it is false: the numbers have a basis over the
rationals (by the axiom of choice) in which 1 and sqrt 2 stand, and minus the coordinate of 1 is additive, hence meets
every rational w with equality; but at t = 1/sqrt 2, between 0 and 1, it is 0, and convexity asks for -1/sqrt 2.

Local minima. If theta is a local minimum of a convex L and L(b) < L(theta), then at theta + t (b - theta), 0 < t <= 1,
L is at most (1-t) L(theta) + t L(b) < L(theta): as near to theta as one likes. So it is a global one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import Parameter, non_negative, positive, positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted


def judge_mean(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(sum, n) is the mean of n numbers: n equal ones have it, and two lists pool by their lengths."""
    counts, values = given.values("count"), given.values("value")
    for n, v in [(10, Fraction(1))] * given.contains(count=10) + [(n, v) for n in counts for v in values]:
        total = sum((v for _ in range(n)), Fraction(0))
        if says(total, n) != v:
            return refuted(
                "so many equal numbers have another mean",
                {"numbers": n, "each": v, "claimed": says(total, n), "mean": v},
            )
    n, m = given.symbol("count"), given.symbol("count", "m")
    v = given.symbol("value")
    s, r = sympy.symbols("s r", real=True)
    return proof(
        computed("n equal numbers have that number for their mean", n.is_positive is True
                 and vanishes(says(n * v, n) - v)),
        computed("the mean of two lists together is that of their means, weighted by their lengths",
                 vanishes(says(s + r, n + m) - (n * says(s, n) + m * says(r, m)) / (n + m))),
        tried=len(counts) * len(values),
    )


def judge_midpoint(weight: Fraction, given: Domain) -> Finding:
    """Whether the inequality at one weight makes a continuous function convex."""
    a, b = sympy.symbols("a b", real=True)
    w = sympy.Rational(weight.numerator, weight.denominator)
    gap = sympy.expand(-(1 - w) * a**2 - w * b**2 + ((1 - w) * a + w * b) ** 2)  # of L = -x^2, right minus left
    if vanishes(gap + w * (1 - w) * (a - b) ** 2) and not 0 < weight < 1:
        return refuted(
            "a concave function meets the inequality at this weight",
            {"weight": weight, "L": "-x^2", "right minus left": f"{-weight * (1 - weight)} (a - b)^2"},
        )
    s, t = sympy.symbols("s t", nonnegative=True)
    return proof(
        computed("with the weights s and t the weight (1-w) s + w t is had, too: it is the inequality at w between the "
                 "points of s and of t", vanishes((1 - w) * ((1 - s) * a + s * b) + w * ((1 - t) * a + t * b)
                                                  - (1 - (1 - w) * s - w * t) * a - ((1 - w) * s + w * t) * b)),
        argued("0 and 1 are had; between two weights there is another, so the weights are dense; L is continuous"),
    )


def judge_any_midpoint(says: tuple[Fraction, bool], given: Domain) -> Finding:
    """Whether the inequality at one rational weight makes any function convex: an additive one meets it.

    With says[1] it is said of continuous functions only, which no such additive one is.
    """
    weight, continuous = says
    if continuous:
        return judge_midpoint(weight, given)
    x, y, p, q = sympy.symbols("x y p q", rational=True)
    w = sympy.Rational(weight.numerator, weight.denominator)

    def coordinate(one: Any, root_two: Any) -> Any:  # minus the one of one + root_two sqrt 2
        return -one

    middle = coordinate((1 - w) * x + w * p, (1 - w) * y + w * q)
    return refuted_by(
        "minus the coordinate of 1 in a basis of the reals over the rationals meets it, and is not convex",
        {"weight": weight, "L": "x + y sqrt 2 -> -x", "between": "0 and 1", "at t": "sqrt(2)/2", "L there": 0,
         "(1-t) L(0) + t L(1)": "-sqrt(2)/2"},
        computed("it meets the inequality with equality on the field of 1 and sqrt 2",
                 vanishes(middle - (1 - w) * coordinate(x, y) - w * coordinate(p, q))),
        computed("at sqrt(2)/2 = (1/2) sqrt 2 it is 0, above -sqrt(2)/2",
                 coordinate(sympy.Integer(0), sympy.Rational(1, 2)) == 0 and bool(-sympy.sqrt(2) / 2 < 0)),
        argued("a basis of the reals over the rationals with 1 and sqrt 2 in it exists, so that it extends to all"),
    )


def judge_minima(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether theta is no local minimum of a convex L exactly where says(drop), drop = L(theta) - min L."""
    for drop in given.values("drop"):
        if says(drop) and not drop > 0:
            return refuted_by(
                "a convex function has a local minimum, which is its global one",
                {"L": "x^2", "at": 0, "value": 0, "value at 1/1000": Fraction(1, 10**6)}, *_parabola_steps())
        if not says(drop) and drop > 0:
            return refuted("no local minimum of a convex function, and it is called one", {
                "L": "-x between 0 and the drop", "at": 0, "drop": drop})
    top, t = sympy.Symbol("L_0", real=True), given.chart("share")
    low, shares = sympy.Symbol("d", positive=True), given.values("share")
    along = (1 - t) * top + t * (top - low)  # convexity's bound at the share t of the way to a lower point
    return proof(
        computed("on the way to a lower point, by d > 0, a convex L is below L(theta) at every share t in (0, 1]",
                 signed_positive(top - along) and all(0 < one <= 1 for one in shares) and bool(says(low))),
        argued("these points are as near to theta as one likes, so theta is no local minimum"),
    )


def _parabola_steps() -> tuple[ProofStep, ...]:
    x, y = sympy.symbols("x y", real=True)
    return (
        computed("x^2 meets the midpoint inequality, and is least at 0",
                 vanishes((x**2 + y**2) / 2 - ((x + y) / 2) ** 2 - (x - y) ** 2 / 4) and (x**2).is_nonnegative is True),
    )


def judge_squared(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether it is the squared distance of the label from the line, and convex in slope and offset."""
    tried = 0
    for point in given.points(at_most=60):
        values = [point[name] for name in ("slope", "offset", "feature", "label")]
        distance = values[3] - (values[1] + values[0] * values[2])
        tried += 1
        if says(*values) != distance * distance:
            return refuted("not the squared distance from the line", {**point, "claimed": says(*values)})
    a, b, x, y = (given.symbol(name) for name in ("slope", "offset", "feature", "label"))
    value = says(a, b, x, y)
    v, w = sympy.symbols("v w", real=True)
    form = sympy.Matrix([[v, w]]) * sympy.hessian(value, (a, b)) * sympy.Matrix([v, w])
    return proof(
        computed("its second derivative in any direction is twice a square", vanishes(form[0] - 2 * (v * x + w) ** 2)),
        computed("it is the square of the distance from the line", vanishes(value - (y - b - a * x) ** 2)),
        tried=tried,
    )


_MINIMA = "- Convex functions have **no local minima**"
COUNTED = (positive_integer("count", "n"), real("value", "one of the numbers"))
_SHARE = Parameter("share", low=Fraction(0), low_open=True, high=Fraction(1))
_DROP = non_negative("drop", "L(theta) - min L")

loss = Claim(
    id="cs208/loss", source="004, ML Inputs and Loss Functions",
    quote=r"Define $L: \Theta \rightarrow \mathbb{R}$ $L(\theta) = \frac{1}{n} \sum_{i=1}^n \ell(\theta|x_i, y_i)$",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"L(\theta) = \frac1n \sum_{i=1}^n \ell(\theta | x_i, y_i)",
    words="the sum of the losses over n is their mean, the loss under the uniform law on the records",
    hypotheses=COUNTED, says=lambda total, n: total / n, check=judge_mean,
    flips=(Flip("the sum", lambda total, n: total, Verdict.REFUTED),
           Flip("n + 1 for n", lambda total, n: total / (n + 1), Verdict.REFUTED)),
    expected="HOLDS PROVED",
)
squared_loss = Claim(
    id="cs208/squared-loss", source="004, ML Inputs and Loss Functions: the squared loss of a line",
    quote=r"E.g. squared loss $\ell(\theta|x_i, y_i) = |(\theta_1 x_i + \theta_0) - y_i|^2$.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"v^T \nabla^2 \ell\, v = 2 (v_1 x + v_0)^2 \ge 0",
    words="the squared loss of a line is convex in its two coefficients",
    hypotheses=(real("slope"), real("offset"), real("feature"), real("label")),
    says=lambda slope, offset, x, y: (slope * x + offset - y) ** 2,
    check=judge_squared,
    flips=(Flip("its negative", lambda slope, offset, x, y: -((slope * x + offset - y) ** 2), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)


convexity = Claim(
    id="cs208/convexity-midpoint", source="004, Convexity: the definition",
    quote=(
        r"**Def:** L is **convex** if for all points \vec{a}, \vec{b} , we have "
        r"$$L\left(\frac{\vec{a} + \vec{b}}{2}\right) \leq \frac{L(\vec{a}) + L(\vec{b})}{2}.$$"
    ),
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"L\Big(\frac{a + b}2\Big) \le \frac{L(a) + L(b)}2 \ \forall a, b \iff L \text{ convex}",
    words="a function that is at midpoints at most the mean of the ends is convex: any one, or any continuous one",
    hypotheses=(), says=None, check=None,
    readings=("cs208/convexity-midpoint-reading-any", "cs208/convexity-midpoint-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=(
            r"L \text{ continuous},\ L((1-w)a + wb) \le (1-w)L(a) + wL(b) \implies L \text{ convex},\ w = \frac12"
        ),
        words="a continuous function that meets the inequality at midpoints is convex",
        says=Fraction(1, 2), check=judge_midpoint, expected="HOLDS ARGUED",
        source="004, Convexity, for continuous functions, which all losses of the slides are",
        flips=(Flip("the weight 3/2", Fraction(3, 2), Verdict.REFUTED),
               Flip("the weight 1/3", Fraction(1, 3), Verdict.HOLDS)),
        true_variants={"1 % *": "any one weight inside (0, 1) is enough"},
    ),
)
convexity_any = Claim(
    id="cs208/convexity-midpoint-reading-any", source="004, Convexity: the definition, read of every function",
    quote=convexity.quote, whose=Whose.READING, severity=Stake.EDITORIAL, statement=convexity.statement,
    words="every function that meets the inequality at midpoints is convex, continuous or not",
    hypotheses=(), says=(Fraction(1, 2), False), check=judge_any_midpoint,
    flips=(Flip("every continuous function", (Fraction(1, 2), True), Verdict.HOLDS),),
    repaired_by="cs208/convexity-midpoint-repaired", expected="REFUTED ARGUED",
)
minima = Claim(
    id="cs208/convex-no-local-minima", source="004, Convexity: local minima", quote=_MINIMA,
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"L \text{ convex} \implies \text{no local minima}",
    words="convex functions have no local minima: none at all, or none but global ones",
    hypotheses=(_DROP, _SHARE), says=None, check=None,
    readings=("cs208/convex-no-local-minima-reading-none", "cs208/convex-no-local-minima-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"L \text{ convex},\ \theta \text{ a local minimum} \implies L(\theta) = \min L",
        words="every local minimum of a convex function is a global one",
        says=lambda drop: drop > 0, check=judge_minima, expected="HOLDS ARGUED",
        source="004, Convexity, read as none but global ones",
        flips=(Flip("none at all", lambda drop: drop >= 0, Verdict.REFUTED),),
        true_variants={"any drop": "L(theta) is never below min L"},
    ),
)
minima_none = Claim(
    id="cs208/convex-no-local-minima-reading-none", source="004, Convexity, read to the letter", quote=_MINIMA,
    whose=Whose.READING, severity=Stake.EDITORIAL, statement=minima.statement,
    words="a convex function has no local minimum at all", hypotheses=minima.hypotheses, says=lambda drop: drop >= 0,
    check=judge_minima, flips=(Flip("none but global ones", lambda drop: drop > 0, Verdict.HOLDS),),
    repaired_by="cs208/convex-no-local-minima-repaired", expected="REFUTED PROVED",
)


def judge_logistic(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(u), u = e^z for the margin z, is the second derivative of the logistic loss, and never negative."""
    z, u = sympy.symbols("z", real=True), given.chart("odds")
    bend = sympy.diff(sympy.log(1 + sympy.exp(-z)), z, 2)
    for odds in given.values("odds"):
        true = sympy.nsimplify(sympy.simplify(bend.subs(z, sympy.log(sympy.Rational(odds)))))
        if sympy.nsimplify(says(odds)) != true:
            return refuted("another second derivative", {"e^z": odds, "claimed": says(odds), "true": true})
    x, v = sympy.symbols("x v", real=True)
    return proof(
        computed("the second derivative of log(1 + e^-z) in the margin is this",
                 vanishes(bend.subs(z, sympy.log(u)) - says(u))),
        computed("it is never negative; in theta along v, margins <x, theta>, it is that times <x, v>^2",
                 signed_positive(says(u)) and ((x * v) ** 2).is_nonnegative is True),
        computed("a mean of functions with a non-negative second derivative has one",
                 never_negative(sum(sympy.symbols("b_1:4", nonnegative=True)) / 3)),
    )


logistic = Claim(
    id="cs208/logistic-convex", source="004, Convexity: logistic regression",
    quote="Loss function for logistic regression is convex", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\ell''(z) = \frac{u}{(1 + u)^2} > 0,\quad \ell(z) = \log(1 + e^{-z}),\ u = e^z",
    words="the logistic loss is convex: its second derivative is sigma (1 - sigma)",
    hypotheses=(positive("odds", "e^z"),), says=lambda u: u / (1 + u) ** 2, check=judge_logistic,
    flips=(Flip("sigma alone", lambda u: u / (1 + u), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)


def judge_minimum(ridge: Fraction, given: Domain) -> Finding:
    """Whether the logistic loss of any data plus ridge theta^2/2 has a minimum; one record x = 1, y = 1 may have none.

    Its slope at theta is ridge theta - 1/(1 + e^theta).
    """
    theta = sympy.symbols("theta", real=True)
    if ridge <= 0:
        with ctx.workprec(80):
            here, there = (ball(-at).exp().log1p() + ball(ridge * at**2 / 2) for at in (Fraction(0), Fraction(1)))
        lowered = sympy.Rational(ridge.numerator, ridge.denominator)
        value = sympy.log(1 + sympy.exp(-theta)) + lowered * theta**2 / 2
        return refuted_by(
            "the loss falls for ever: there is no minimum",
            {"records (x, y)": "(1, 1)", "ridge": ridge, "theta": 0, "L(theta)": Enclosure.of_ball(here),
             "L(theta + 1)": Enclosure.of_ball(there)},
            computed("the slope -1/(1 + e^theta) is negative everywhere, or the loss is unbounded below", vanishes(
                sympy.diff(value, theta) + 1 / (1 + sympy.exp(theta)))
                and (1 / (1 + sympy.exp(theta))).is_positive is True
                if ridge == 0 else sympy.limit(value, theta, sympy.oo) == -sympy.oo),
        )
    t, r = sympy.symbols("theta", real=True), sympy.Symbol("lambda", positive=True)
    value = sympy.log(1 + sympy.exp(-t)) + r * t**2 / 2
    return proof(
        computed("the ridge is positive", ridge > 0),
        computed("the objective's second derivative is at least the ridge, so that a minimum is the only one",
                 vanishes(sympy.diff(value, t, 2) - r - sympy.exp(-t) / (1 + sympy.exp(-t)) ** 2)),
        computed("log(1 + e^-z) >= 0, so that the objective is at least ridge |theta|^2/2, and log 2 at 0",
                 vanishes(value.subs(t, 0) - sympy.log(2))),
        argued("so it is above log 2 outside of a ball, and a continuous function has a minimum on the ball"),
    )


minimum = Claim(
    id="cs208/logistic-minimum-exists", source="004, Convexity: the minimum of logistic regression",
    quote="No closed form solution for minimum, but it is easy to find", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\exists\, \theta: L(\theta) = \min L", words="the loss of logistic regression has a minimum",
    hypotheses=(), says=Fraction(0), check=judge_minimum,
    flips=(Flip("a negative ridge", Fraction(-1, 10), Verdict.REFUTED),),
    uses=("cs208/logistic-convex",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\exists!\, \theta: L(\theta) + \frac\lambda2 |\theta|^2 = \min,\quad \lambda > 0",
        words="with a ridge the loss of logistic regression has exactly one minimum",
        says=Fraction(1, 10), expected="HOLDS ARGUED",
        source="004, Convexity, with a ridge: data that a plane separates have no minimum without one",
        true_variants={"1 % *": "every positive ridge will do", "one more": "every positive ridge will do"},
    ),
)
