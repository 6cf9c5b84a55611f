r"""Lemma 3.2, the Hessian after it, and Lemma 4.1 of document 001: how smooth a sub-problem is, and what a step does.

F(theta) = gamma/2 |U - theta x|_F^2 has the Hessian gamma (I kron x x^T): its largest eigenvalue is gamma |x|^2, below
gamma X when |x|^2 <= X, and its rank is the number of rows, so it is singular as soon as x has two coordinates: omega
= 0. The last block's constant comes from R, not from gamma. A gradient step has the Lipschitz constant max |1 - eta h|
over curvatures h in [omega, beta]; (1 - eta h)^2 is convex in h, so an end decides.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, vector
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_VALUES = tuple(Fraction(v) for v in ("1/4", "1", "4"))


def judge_constant(constant: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether constant(gamma, X) bounds the curvature gamma |x|^2 of an inner block for every |x|^2 <= X."""
    for gamma in (Fraction(1), Fraction(2)):
        for bound in _VALUES:
            true = gamma * bound  # attained at |x|^2 = X
            if constant(gamma, bound) < true:
                return refuted(
                    "the Hessian has a larger eigenvalue, exactly",
                    {"gamma": str(gamma), "X_d": str(bound), "|x|^2": str(bound), "largest eigenvalue": str(true),
                     "claimed": str(constant(gamma, bound))},
                )
    gap = hessian_gap(lambda gamma, x: gamma * sympy.kronecker_product(sympy.eye(2), x * x.T))
    gamma_, bound_ = sympy.symbols("gamma X", positive=True)
    enough = sympy.simplify(constant(gamma_, bound_) - gamma_ * bound_).is_nonnegative is True
    if gap != sympy.zeros(4, 4) or not enough:
        return undecided("no value fails; not proved", 6)
    return proof(argued(
        "the Hessian is gamma x x^T for each row (computer algebra), of norm gamma |x|^2 <= gamma X, which "
        "is attained"
    ))


def hessian_gap(claimed: Callable[[sympy.Symbol, sympy.Matrix], sympy.Matrix]) -> sympy.Matrix:
    """The Hessian of gamma/2 |U - theta x|^2 in theta (2 x 2, row by row) minus a claimed one, if the shapes agree."""
    gamma = sympy.symbols("gamma", positive=True)
    theta, x = sympy.symbols("t0:4", real=True), sympy.Matrix(sympy.symbols("x0 x1", real=True))
    u = sympy.symbols("u0 u1", real=True)
    rows = [u[i] - sum(theta[2 * i + j] * x[j] for j in range(2)) for i in range(2)]
    true = sympy.hessian(gamma / 2 * sum(row**2 for row in rows), theta)
    expected = claimed(gamma, x)
    return (true - expected).applyfunc(sympy.expand) if expected.shape == true.shape else true


def judge_hessian(claimed: Callable[[sympy.Symbol, sympy.Matrix], sympy.Matrix], given: Domain) -> Finding:
    """Whether a formula is the Hessian of an inner block, and whether that is singular."""
    gap = hessian_gap(claimed)
    if gap != sympy.zeros(4, 4):
        gamma, x = sympy.symbols("gamma", positive=True), sympy.Matrix(sympy.symbols("x0 x1", real=True))
        return refuted(
            "the Hessian is another matrix",
            {"layer": "2 x 2", "claimed": str(claimed(gamma, x).tolist()),
             "Hessian": "gamma (I kron x x^T), 4 x 4, with entries gamma x_i x_j"},
        )
    return proof(argued("differentiated by computer algebra for a 2 x 2 layer; its rank is 2 of 4, so omega = 0"))


def judge_last(constant: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether constant(gamma, X, smoothness of R) bounds the last block's curvature s |x|^2, |x|^2 <= X."""
    for gamma in (Fraction(1), Fraction(1, 10)):
        for bound in _VALUES:
            for smooth in (Fraction(1), Fraction(1, 2)):
                true = smooth * bound
                if constant(gamma, bound, smooth) < true:
                    return refuted(
                        "the last block is curvier: gamma does not enter it",
                        {"gamma": str(gamma), "X_D": str(bound), "R": f"{smooth} (theta x - y)^2 / 2",
                         "largest eigenvalue": str(true), "claimed": str(constant(gamma, bound, smooth))},
                    )
    gamma_, bound_, smooth_ = sympy.symbols("gamma X s", positive=True)
    if sympy.simplify(constant(gamma_, bound_, smooth_) - smooth_ * bound_).is_nonnegative is not True:
        return undecided("no value fails; not proved", 12)
    return proof(argued("R(theta x) has the Hessian R'' (x x^T) by the chain rule, at most its smoothness times X"))


def judge_step(bound: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether bound(eta, omega, beta) is at least |1 - eta h| for every curvature h in [omega, beta]."""
    tried = 0
    for eta in (Fraction(1, 2), Fraction(1), Fraction(3)):
        for omega in (Fraction(0), Fraction(1, 2)):
            for beta in (Fraction(1, 2), Fraction(1), Fraction(2)):
                for share in (Fraction(n, 4) for n in range(5)):
                    tried += 1
                    h = omega + share * (beta - omega)
                    if omega <= beta and abs(1 - eta * h) > bound(eta, omega, beta):
                        return refuted(
                            "a quadratic in the class moves points farther apart",
                            {"eta": str(eta), "omega": str(omega), "beta": str(beta), "curvature": str(h),
                             "|1 - eta h|": str(abs(1 - eta * h)), "claimed": str(bound(eta, omega, beta))},
                        )
    eta_, omega_, beta_, t = sympy.symbols("eta omega beta t", positive=True)
    square = (1 - eta_ * (omega_ + t * (beta_ - omega_))) ** 2
    second = sympy.factor(sympy.diff(square, t, 2))  # 2 eta^2 (beta - omega)^2: convex in t, so an end is largest
    ends = sympy.Max(abs(1 - eta_ * omega_), abs(1 - eta_ * beta_))
    same = sympy.simplify(bound(eta_, omega_, beta_) - ends) == 0
    if sympy.expand(second - 2 * eta_**2 * (beta_ - omega_) ** 2) != 0 or not same:
        return undecided("not shown", tried)
    return proof(argued(
        "the step's derivative I - eta H has eigenvalues 1 - eta h, and (1 - eta h)^2 is convex in h (computer "
        "algebra): an end of [omega, beta] is largest"
    ))


def judge_threshold(threshold: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether |1 - eta omega| >= |1 - eta beta| exactly up to threshold(omega, beta)."""
    for omega in (Fraction(0), Fraction(1, 2), Fraction(1)):
        for beta in (Fraction(1), Fraction(3)):
            if omega >= beta:
                continue
            for share in (Fraction(1, 2), Fraction(1), Fraction(11, 10), Fraction(3, 2)):
                eta = share * threshold(omega, beta)
                if (abs(1 - eta * omega) >= abs(1 - eta * beta)) != (share <= 1):
                    return refuted(
                        "the other term dominates there",
                        {"omega": str(omega), "beta": str(beta), "eta": str(eta),
                         "|1 - eta omega|": str(abs(1 - eta * omega)), "|1 - eta beta|": str(abs(1 - eta * beta))},
                    )
    eta_, omega_, beta_ = sympy.symbols("eta omega beta", positive=True)
    gap = (1 - eta_ * beta_) ** 2 - (1 - eta_ * omega_) ** 2
    root = sympy.simplify(threshold(omega_, beta_) * (omega_ + beta_) - 2)
    if sympy.expand(gap - eta_ * (beta_ - omega_) * (eta_ * (beta_ + omega_) - 2)) != 0 or root != 0:
        return undecided("not shown", 20)
    return proof(argued(
        "the squares differ by eta (beta - omega)(eta (beta + omega) - 2), of which the threshold is "
        "the root (computer algebra)"
    ))


def judge_contraction(rows_of_x: int, given: Domain) -> Finding:
    """Whether Lemma 4.1's bound is below 1 for an inner block whose x has that many coordinates, for some eta."""
    x = sympy.Matrix(sympy.symbols(f"x0:{rows_of_x}", positive=True))  # of either sign: only x x^T matters
    omega = sympy.det(x * x.T).factor()  # zero exactly if the smallest eigenvalue is
    if omega == 0:
        return refuted(
            "the Hessian is singular, omega = 0, so L_F >= |1 - 0| = 1 for every eta",
            {"x": str([1] + [0] * (rows_of_x - 1)), "smallest eigenvalue": "0", "bound of Lemma 4.1": ">= 1"},
        )
    if rows_of_x != 1 or not omega.is_positive:
        return undecided(f"sign of {omega} not shown", 1)
    return proof(argued(f"omega = {omega}, so eta = 1/omega contracts"))


_BLOCK = (vector("x"), positive("gamma"), positive("X"))
_STEP = (positive("eta"), non_negative("omega"), positive("beta"))

lemma_3_2 = Claim(
    id="sbcd/lem-3.2", source="001, Lemma 3.2 (with |x_d|^2 <= X_d of Assumption 3.1)",
    quote=(
        r"then the function $\mathcal{F}(\theta_d)$ for any layer $0 \leq d \leq D$ is β_d -smooth and the "
        "smoothness constant β_d is γX_d^2 ."
    ),
    whose=Whose.TYPO,
    severity=Severity.PRIVACY,
    statement=r"\mathcal{F}(\theta_d) \text{ is } \gamma X_d^2\text{-smooth}",
    words="an inner sub-problem is gamma X^2-smooth, where |x|^2 <= X",
    hypotheses=_BLOCK, says=lambda gamma, bound: gamma * bound**2, check=judge_constant,

    uses=("sbcd/assump-3.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F}(\theta_d) \text{ is } \gamma X_d\text{-smooth}",
        words="an inner sub-problem is gamma X-smooth, where |x|^2 <= X (and gamma X is attained)",
        says=lambda gamma, bound: gamma * bound,
        expected="HOLDS ARGUED",
        source="001, Lemma 3.2, repaired",
        flips=(Flip("gamma X / 2", lambda gamma, bound: gamma * bound / 2, Verdict.REFUTED),),
    ),
)
lemma_3_2_last = Claim(
    id="sbcd/lem-3.2-last", source="001, Lemma 3.2, said for any layer 0 <= d <= D: the last one",
    quote=(
        r"then the function $\mathcal{F}(\theta_d)$ for any layer $0 \leq d \leq D$ is β_d -smooth and the "
        "smoothness constant β_d is γX_d^2 ."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\mathcal{F}(\theta_D) \text{ is } \gamma X_D\text{-smooth (even so repaired)}",
    words="the last sub-problem's smoothness is gamma X, too",
    hypotheses=_BLOCK, says=lambda gamma, bound, smooth: gamma * bound, check=judge_last,
    uses=("sbcd/lem-3.2",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F}(\theta_D) \text{ is } \beta_{\mathcal{R}} X_D\text{-smooth}",
        words="the last sub-problem is as smooth as R, times X",
        says=lambda gamma, bound, smooth: smooth * bound,
        expected="HOLDS ARGUED",
        source="001, Lemma 3.2 for d = D, repaired",
    ),
)
hessian = Claim(
    id="sbcd/hessian-xxT", source="001, after Lemma 3.2: the Hessian is x x^T",
    quote=(
        r"we can calculate the Hessian matrix of $\mathcal{F}(\theta_d)$ as $\nabla^2 \mathcal{F}(\theta_d) "
        r"= \mathbf{x}_d \mathbf{x}_d^T \geq 0$."
    ),
    whose=Whose.READING,
    statement=r"\nabla^2\mathcal{F}(\theta_d) = \mathbf{x}_d\mathbf{x}_d^T",
    words="the Hessian of an inner sub-problem is x x^T",
    hypotheses=_BLOCK, says=lambda gamma, x: x * x.T, check=judge_hessian,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla^2\mathcal{F}(\theta_d) = \gamma\,(\mathbf{I} \otimes \mathbf{x}_d\mathbf{x}_d^T)",
        words="the Hessian of an inner sub-problem is gamma x x^T for each row of theta, singular from two columns on",
        says=lambda gamma, x: gamma * sympy.kronecker_product(sympy.eye(2), x * x.T),
        expected="HOLDS ARGUED",
        source="001, after Lemma 3.2, repaired",
        flips=(
            Flip("without gamma", lambda gamma, x: sympy.kronecker_product(sympy.eye(2), x * x.T), Verdict.REFUTED),
        ),
    ),
)
lemma_4_1 = Claim(
    id="sbcd/lem-4.1", source="001, Lemma 4.1",
    quote=r"is Lipschitz continuous with a constant $L_F \leq \max\{|1 - \eta\omega|, |1 - \eta\beta|\}$.",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"L_F \le \max\{|1-\eta\omega|, |1-\eta\beta|\}",
    words="a gradient step on a function with curvature between omega and beta has that Lipschitz constant",
    hypotheses=_STEP, check=judge_step,
    says=lambda eta, omega, beta: sympy.Max(abs(1 - eta * omega), abs(1 - eta * beta)),
    flips=(
        Flip("the smaller of the two", lambda eta, omega, beta: sympy.Min(abs(1 - eta * omega), abs(1 - eta * beta)),
             Verdict.REFUTED),
        Flip("the convexity term alone", lambda eta, omega, beta: abs(1 - eta * omega), Verdict.REFUTED),
    ),
    uses=("sbcd/lem-3.2",),
    expected="HOLDS ARGUED",
)
threshold_4_1 = Claim(
    id="sbcd/lem-4.1-threshold", source="001, after Lemma 4.1",
    quote=(
        r"will be dominated by the convexity term $|1 - \eta\omega|$ when the step size $\eta \leq "
        r"\frac{2}{\omega + \beta}$ and otherwise the smoothness term $|1 - \eta\beta|$."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
    statement=r"|1-\eta\omega| \ge |1-\eta\beta| \iff \eta \le \frac{2}{\omega+\beta}",
    words="the convexity term dominates exactly for eta <= 2/(omega + beta)",
    hypotheses=_STEP, says=lambda omega, beta: 2 / (omega + beta), check=judge_threshold,
    flips=(Flip("2/beta", lambda omega, beta: 2 / beta, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
contraction = Claim(
    id="sbcd/contraction", source="001, Sections 3.2 and 4.2: convexity is all that is shown of the sub-problems",
    severity=Severity.PROOF,
    statement=r"\exists \eta:\ \max\{|1-\eta\omega|, |1-\eta\beta|\} < 1 \text{ for an inner sub-problem}",
    words="Lemma 4.1 gives a contraction for the sub-problems of (4)",
    hypotheses=_BLOCK, says=2, check=judge_contraction,

    uses=("sbcd/lem-4.1", "sbcd/hessian-xxT"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\dim \mathbf{x}_d = 1,\ x \ne 0 \implies \omega = \gamma x^2 > 0",
        words="Lemma 4.1 gives a contraction only where the layer has a single input",
        says=1,
        expected="HOLDS ARGUED",
        source="001, Section 4.2, for layers with a single input",
        flips=(Flip("three inputs", 3, Verdict.REFUTED),),
    ),
)
