r"""Document 004 on logistic regression: no closed form for the minimum, but it is easy to find.

With whole-numbered features the minimiser theta solves sum x_i (sigma(x_i theta) - y_i) = 0, with u = e^theta a
polynomial equation: sigma(k theta) = u^k/(1 + u^k). Where its factor with the positive root is irreducible and has a
Galois group that is not solvable, u is no expression of radicals (Abel, Galois). Three records are enough. (With one
feature value there is a closed form: the logarithm of the odds of the labels.)

Easy to find: on a convex b-smooth L with a minimiser t, step size 1/b: L(a_{t+1}) <= L(a_t) - |g|^2/(2b), and by
convexity L(a_t) - L(t) <= <g, a_t - t>; so L(a_{t+1}) - L(t) <= (b/2)(|a_t - t|^2 - |a_{t+1} - t|^2), which adds up to
T (L(a_T) - L(t)) <= b |a_0 - t|^2/2, since L falls.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from sympy.polys.numberfields.galoisgroups import galois_group

from oracle.core.domain import non_negative, positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.cs208.judging import Formula
from theorems.given import Domain
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted

_QUOTE = "No closed form solution for minimum, but it is easy to find"


def judge_radicals(records: tuple[tuple[int, int], ...], given: Domain) -> Finding:
    """Whether e^theta of the minimiser on these records (x, y) is no expression of radicals."""
    if any(y not in (0, 1) for _, y in records):
        return refuted("labels are 0 or 1", {"records (x, y)": str(records)})
    u = sympy.Symbol("u")
    slope = sum(x * (u**x / (1 + u**x) - y) for x, y in records)
    factors = [sympy.Poly(part, u) for part, _ in sympy.factor_list(sympy.fraction(sympy.together(slope))[0], u)[1]]
    with_root = [part for part in factors if part.degree() > 0 and part.count_roots(0, sympy.oo) > 0]
    if len(with_root) != 1:
        return refuted("no minimiser, or more than one factor with a positive root",
                       {"records (x, y)": str(records), "factors": len(with_root)})
    least = with_root[0]
    if least.degree() < 5 or (least.degree() <= 6 and galois_group(least)[0].is_solvable):
        return refuted("the minimiser is an expression of radicals", {
            "records (x, y)": str(records), "polynomial of e^theta": least.as_expr(), "degree": least.degree()})
    group = galois_group(least)[0]
    return instance("e^theta is a root of an irreducible polynomial whose Galois group is not solvable", {
        "records (x, y)": str(records), "polynomial of e^theta": least.as_expr(), "order of the group": group.order()})


def huber(steps: int) -> Fraction:
    """The excess that so many steps of size 1 from 1 leave of x^2/2 continued by a line from x = 1/(2T+1) on."""
    bend, x = Fraction(1, 2 * steps + 1), Fraction(1)
    for _ in range(steps):
        x -= min(x, bend)
    return bend * x - bend**2 / 2 if x > bend else x**2 / 2


def judge_descent(says: Formula, given: Domain) -> Finding:
    """Whether T steps of size 1/b leave an excess of at most says(b, distance^2, T): a Huber function is run."""
    tried = 0
    for point in given.points("smoothness", "square", "steps", at_most=60):
        b, square, steps = point["smoothness"], point["square"], point["steps"]
        line = b * square * huber(steps)
        tried += 1
        if says(b, square, steps) < line:
            return refuted("a Huber function is left with more", {**point, "claimed": says(b, square, steps),
                                                                  "excess": line})
    b, square, steps = (given.symbol(name) for name in ("smoothness", "square", "steps"))
    g, d, cosine = sympy.symbols("g d c", real=True)  # |gradient|, distance, and their inner product g d c
    before = g * d * cosine - g**2 / (2 * b)  # convexity, and the fall of a step
    after = d**2 - 2 * g * d * cosine / b + g**2 / b**2  # squared distance after a step
    return proof(
        argued("a b-smooth L falls by |g|^2/(2b), and convexity bounds what was to fall by <g, a - t>"),
        computed("so the excess after a step is at most (b/2) times what the squared distance loses",
                 vanishes(before - b / 2 * (d**2 - after))),
        computed("added up and over T that is what is claimed", b.is_positive is True and steps.is_positive is True
                 and square.is_nonnegative is True and vanishes(says(b, square, steps) - b * square / (2 * steps))),
        tried=tried,
    )


no_radicals = Claim(
    id="cs208/logistic-no-closed-form", source="004, Convexity: no closed form, read as no expression of radicals",
    quote=_QUOTE, whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"e^{\theta} \text{ is no expression of radicals for the records } (1, 1), (2, 0), (3, 0)",
    words="three records have a minimiser of the logistic loss whose e^theta is no expression of radicals",
    hypotheses=(), says=((1, 1), (2, 0), (3, 0)), check=judge_radicals,
    flips=(Flip("one feature value, two labels", ((1, 1), (1, 0)), Verdict.REFUTED),),
    true_variants={"[[]0[]] [[]0[]] one more": "other records have it, too",
                   "[[]2[]] [[]0[]] sign": "other records have it, too",
                   "[[]2[]] [[]1[]] one more": "other records have it, too"}, expected="HOLDS PROVED",
)
easy = Claim(
    id="cs208/logistic-easy", source="004, Convexity: easy to find, by gradient descent, where there is a minimiser",
    quote=_QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"L(\theta_T) - \min L \le \frac{\beta |\theta_0 - \theta^*|^2}{2T},\quad \eta = \frac1\beta",
    words="T steps of gradient descent of size 1/b on a convex b-smooth function leave an excess of at most "
          "b |theta_0 - theta*|^2/(2T)",
    hypotheses=(positive("smoothness", "b"), non_negative("square", "squared distance"),
                positive_integer("steps", "T")),
    says=lambda b, square, steps: b * square / (2 * steps), check=judge_descent,
    flips=(Flip("an eighth of it", lambda b, square, steps: b * square / (16 * steps), Verdict.REFUTED),),
    uses=("cs208/logistic-convex",), expected="HOLDS ARGUED",
)
