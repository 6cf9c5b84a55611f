r"""Lemma 3.2 of document 001 and the Hessian after it: how smooth a sub-problem is.

F(theta) = R(theta x) changes along a direction H as R(z + t w) does, w = H x, so its curvature there is that of R along
w, at most s |H x|^2 if R is s-smooth, and |H x|^2 <= |x|^2 |H|_F^2 row by row. An inner block is the case s = gamma:
its Hessian, for one record, is gamma (I kron x x^T). The last block's constant comes from R, not from gamma.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, choice, positive, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.network.algebra import never_negative, symbol_of
from theorems.tools.leading_points import led
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted


def judge_constant(constant: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether constant(gamma, X, smoothness of R) is the best smoothness of R(theta x) for all |x|^2 <= X.

    An inner block is the case R = gamma/2 |U - .|^2: where smoothness is no hypothesis, it is gamma.
    """
    inner = "smoothness" not in given.parameters
    simple: dict[str, Any] = {"gamma": "1", "X": "1/4"} if inner else {"gamma": "1", "X": "1", "smoothness": "2"}
    tried = 0
    for point in led(given, **simple):
        gamma, bound, smooth = point["gamma"], point["X"], point["gamma" if inner else "smoothness"]
        # R = smooth (z - y)^2 / 2 at |x|^2 = X, along x/|x|: the second difference of a quadratic is its curvature.
        values = [smooth * (t * bound - 1) ** 2 / 2 / bound for t in (Fraction(1), Fraction(0), Fraction(-1))]
        true = values[0] - 2 * values[1] + values[2]
        tried += 1
        if constant(gamma, bound, smooth) < true:
            return refuted(
                "the Hessian has a larger eigenvalue, exactly",
                {"gamma": gamma, "X": bound, "|x|^2": bound, "R": f"{smooth} (theta x - y)^2 / 2",
                 "largest eigenvalue": true, "claimed": constant(gamma, bound, smooth)},
            )
    gamma_, bound_ = symbol_of(given, "gamma"), given.symbol("X")
    smooth_ = gamma_ if inner else given.symbol("smoothness")
    hh, hx, xx, theta, y = sympy.symbols("hh hx xx theta y", real=True)  # |h|^2, <h, x>, |x|^2 for a row h of H
    share = hx / xx
    attained = sympy.diff(smooth_ * (theta * sympy.sqrt(bound_) - y) ** 2 / 2, theta, 2)
    return proof(
        computed("|h|^2 |x|^2 - <h, x>^2 = |x|^2 |h - x <h, x>/|x|^2|^2 >= 0 for every row h: |H x|^2 <= |x|^2 |H|^2",
                 vanishes(hh * xx - hx**2 - xx * (hh - 2 * share * hx + share**2 * xx))),
        computed("R's own curvature s along H x gives at most s |x|^2 <= s X, which is the constant, and R = s z^2/2 "
                 "attains it with one number x, x^2 = X (differentiated)",
                 vanishes(constant(gamma_, bound_, smooth_) - attained)
                 and never_negative(attained) and vanishes(attained - smooth_ * bound_)),
        tried=tried,
    )


def judge_hessian(entry: Callable[[Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether entry(gamma, same row, x_j, x_l) is the second derivative in theta_ij and theta_kl of an inner block.

    Two rows and two columns, equal or not, and all other terms as one number: with that, every size is covered.
    """
    gamma = symbol_of(given, "gamma")
    x = sympy.symbols("x_j x_l", real=True)
    rows = [sympy.symbols(f"{name}_j {name}_l", real=True) for name in ("s", "t")]
    rest = sympy.symbols("u v", real=True)
    value = gamma / 2 * sum((r - row[0] * x[0] - row[1] * x[1]) ** 2 for r, row in zip(rest, rows, strict=True))
    wrong, cases = [], 0
    for rows_are, equal in itertools.product(given.values("rows"), (True, False)):
        first, second = rows[0][0], rows[0 if rows_are == "same" else 1][0 if equal else 1]
        true, claimed = sympy.diff(value, first, second), entry(gamma, int(rows_are == "same"), x[0], x[not equal])
        cases += 1
        at_values = all(
            vanishes(true.subs(gamma, value) - entry(value, int(rows_are == "same"), x[0], x[not equal]))
            for value in given.values("gamma")
        )
        if not (at_values and vanishes(true - claimed)):
            wrong.append((rows_are, equal, true, claimed))
    numbers = {gamma: 1, x[0]: 1, x[1]: 2}
    for rows_are, equal, true, claimed in wrong:
        if sympy.sympify(true).subs(numbers) != sympy.sympify(claimed).subs(numbers):
            return refuted(
                "an entry of the Hessian is another number",
                {"x": "1, 2", "gamma": 1, "rows": rows_are, "columns": "equal" if equal else "different",
                 "entry": sympy.sympify(true).subs(numbers), "claimed": sympy.sympify(claimed).subs(numbers)},
            )
    return proof(
        computed("differentiated twice with symbols: rows equal or not, columns equal or not, all other terms of the "
                 "row as one number, and so for layers of every size", not wrong),
        tried=cases,
    )


_ONE = Parameter("gamma", low=Fraction(1), high=Fraction(1), meaning="set 1 in the document")
_BLOCK = (vector("x"), positive("gamma"), positive("X", "of which |x|^2 is at most"))
_LAST = (vector("x"), _ONE, positive("X", "of which |x|^2 is at most"), positive("smoothness", "of R"))
_ROWS = (vector("x"), positive("gamma"), choice("rows", "same", "different"))
_LEMMA = (
    r"then the function $\mathcal{F}(\theta_d)$ for any layer $0 \leq d \leq D$ is β_d -smooth and the "
    "smoothness constant β_d is γX_d^2 ."
)
_HESSIAN = (
    r"we can calculate the Hessian matrix of $\mathcal{F}(\theta_d)$ as $\nabla^2 \mathcal{F}(\theta_d) "
    r"= \mathbf{x}_d \mathbf{x}_d^T \geq 0$."
)

lemma_3_2 = Claim(
    id="sbcd/lem-3.2", source="001, Lemma 3.2 (with |x_d|^2 <= X_d of Assumption 3.1), d < D",
    quote=_LEMMA,
    whose=Whose.TYPO,
    severity=Stake.PRIVACY,
    statement=r"\mathcal{F}(\theta_d) \text{ is } \gamma X_d^2\text{-smooth}",
    words="an inner sub-problem is gamma X^2-smooth, where |x|^2 <= X",
    hypotheses=_BLOCK, says=lambda gamma, bound, smooth: gamma * bound**2, check=judge_constant,
    uses=("sbcd/assump-3.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F}(\theta_d) \text{ is } \gamma X_d\text{-smooth, and no less}",
        words="the best smoothness of an inner sub-problem is gamma X, where |x|^2 <= X",
        says=lambda gamma, bound, smooth: gamma * bound,
        expected="HOLDS PROVED",
        source="001, Lemma 3.2, repaired",
        flips=(Flip("gamma X / 2", lambda gamma, bound, smooth: gamma * bound / 2, Verdict.REFUTED),),
    ),
)
lemma_3_2_last = Claim(
    id="sbcd/lem-3.2-last", source="001, Lemma 3.2, said for any layer 0 <= d <= D: the last one, gamma = 1",
    quote=_LEMMA,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\mathcal{F}(\theta_D) \text{ is } \gamma X_D^2\text{-smooth}",
    words="the last sub-problem's smoothness is gamma X^2, too, whatever the loss R",
    hypotheses=_LAST, says=lambda gamma, bound, smooth: gamma * bound**2, check=judge_constant,
    uses=("sbcd/lem-3.2",),
    flips=(Flip("gamma X", lambda gamma, bound, smooth: gamma * bound, Verdict.REFUTED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F}(\theta_D) \text{ is } \beta_{\mathcal{R}} X_D\text{-smooth, and no less}",
        words="the best smoothness of the last sub-problem is that of R, times X",
        says=lambda gamma, bound, smooth: smooth * bound,
        expected="HOLDS PROVED",
        source="001, Lemma 3.2 for d = D, repaired",
        true_variants={"any gamma": "gamma does not enter the last sub-problem",
                       "beyond argument 0 = 1": "gamma is 1: there is nothing beyond"},
    ),
)
hessian = Claim(
    id="sbcd/hessian-xxT", source="001, after Lemma 3.2: the Hessian is x x^T",
    quote=_HESSIAN,
    whose=Whose.PRINTED,
    statement=r"\nabla^2\mathcal{F}(\theta_d) = \mathbf{x}_d\mathbf{x}_d^T",
    words="the Hessian of an inner sub-problem is x x^T: of all of theta, or of one of its rows",
    hypotheses=_ROWS, says=None, check=None,
    readings=("sbcd/hessian-xxT-reading-all", "sbcd/hessian-xxT-reading-row"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"\nabla^2\mathcal{F}(\theta_d) = \gamma\,(\mathbf{I} \otimes \mathbf{x}_d\mathbf{x}_d^T)",
        words="for one record the Hessian of an inner sub-problem is gamma x x^T in each row of theta, 0 between rows",
        says=lambda gamma, same, x_j, x_l: gamma * same * x_j * x_l, check=judge_hessian,
        expected="HOLDS PROVED",
        source="001, after Lemma 3.2, repaired",
        flips=(Flip("without gamma", lambda gamma, same, x_j, x_l: 2 * same * x_j * x_l, Verdict.REFUTED),),
        true_variants={"any gamma": "the second derivative is linear in gamma, of either sign",
                       "beyond argument 1 = 1": "rows are equal or not: there is nothing beyond"},
    ),
)
hessian_all = reading(
    hessian, "all", source="001, after Lemma 3.2: the Hessian in all entries of theta is x x^T",
    statement=r"\frac{\partial^2 \mathcal{F}}{\partial\theta_{ij}\,\partial\theta_{kl}} = x_j x_l",
    words="the Hessian of an inner sub-problem in all entries of theta is x x^T",
    says=lambda gamma, same, x_j, x_l: x_j * x_l, check=judge_hessian,
    flips=(Flip("gamma x x^T within a row, 0 between rows", lambda gamma, same, x_j, x_l: gamma * same * x_j * x_l,
                Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
hessian_row = reading(
    hessian, "row", source="001, after Lemma 3.2: the Hessian in one row of theta, gamma = 1",
    statement=r"\frac{\partial^2 \mathcal{F}}{\partial\theta_{ij}\,\partial\theta_{il}} = x_j x_l \quad (\gamma = 1)",
    words="the Hessian of an inner sub-problem in one row of theta is x x^T, for gamma = 1 and one record",
    hypotheses=(vector("x"), _ONE, choice("rows", "same")), says=lambda gamma, same, x_j, x_l: x_j * x_l,
    check=judge_hessian, flips=(Flip("twice it", lambda gamma, same, x_j, x_l: 2 * x_j * x_l, Verdict.REFUTED),),
    true_variants={"beyond argument 0 = 1": "gamma is 1: there is nothing beyond",
               "beyond argument 1 = 1": "the row is one: there is nothing beyond"},
    expected="HOLDS PROVED",
)
independent = Claim(
    id="sbcd/beta-independent", source="001, Section 3.2, after Lemma 3.2, with the constant gamma X",
    quote="In addition, Lemma 3.2 indicates that the smoothness constant β_d does not depend on other parameters.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\beta_d = \gamma X_d \text{ for every } \mathbf{x}_d, \mathbf{U}_d \text{ of Assumption 3.1}",
    words="the smoothness gamma X of an inner sub-problem serves for every value of the other parameters, |x|^2 <= X",
    hypotheses=_BLOCK, says=lambda gamma, bound, smooth: gamma * bound, check=judge_constant,
    flips=(Flip("gamma X^2", lambda gamma, bound, smooth: gamma * bound**2, Verdict.REFUTED),),
    uses=("sbcd/lem-3.2", "sbcd/assump-3.1"), rests_on=("sbcd/hessian-xxT-repaired",),
    expected="HOLDS PROVED",
)
