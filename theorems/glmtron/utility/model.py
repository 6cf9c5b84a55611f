r"""Definition 3.2, Assumption 3.4 and Remark 1 of document 003: the model and the fourth moments of the features.

Definition 3.2. With E[z | x] = 0 the risk of a model is half of E(relu(<w,x>) - relu(<w*,x>))^2 + sigma^2. A zero-mean
law is a mixture of zero-mean laws on two points -q and p, with masses p/(p+q) and q/(p+q) and the variance pq.

Fourth moments. A >= 0 is a sum of v v^T, so that (A) says E<u,x>^2 <v,x>^2 <= alpha (u^T H u)(v^T H v) for all u, v.
With u, v replaced by H^{1/2} u, H^{1/2} v and x by H^{-1/2} x: E<u,x>^2 <v,x>^2 <= alpha |u|^2 |v|^2, E xx^T = I. For
Gaussian x the pair u, v spans a plane at most, on which the moments are those of two independent normal variables:
|u|^2 |v|^2 + 2 <u,v>^2, which lies between that of (B), <u,v>^2 + |u|^2 |v|^2, and 3 |u|^2 |v|^2. For any x,
<u,x>^2 <v,x>^2 <= (<u,x>^4 + <v,x>^4)/2: alpha = sup_{|u| = 1} E<u,x>^4 will do, finite for a sub-Gaussian x. And
E[<v,x>^2 xx^T] - H v v^T H is the covariance of <v,x> x, so (B) always holds with beta = 0.
With A = I, (A) says E[|x|^2 xx^T] <= alpha tr(H) H; its trace is E|x|^4 <= alpha tr(H)^2, and E|x|^4 >= (E|x|^2)^2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, non_negative, positive, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import rational
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def judge_risk(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(gap, variance) is the risk at a point x where the two predictions differ by gap."""
    tried = 0
    for point in given.points("gap", "variance"):
        gap, p = point["gap"], point["variance"]
        true = (p / (1 + p) * (gap - 1) ** 2 + 1 / (1 + p) * (gap + p) ** 2) / 2  # z is 1 or -p: mean 0, variance p
        tried += 1
        if says(gap, p) != true:
            return refuted("the risk is another one", {
                "gap": gap, "variance of z": p, "claimed": says(gap, p), "risk": true})
    gap_ = given.symbol("gap")
    p_, q_ = sympy.symbols("p q", positive=True)
    two = (p_ * (gap_ + q_) ** 2 + q_ * (gap_ - p_) ** 2) / (p_ + q_) / 2
    return proof(
        computed("for every zero-mean z on two points -q and p: half of gap^2 plus the variance pq",
                 vanishes(says(gap_, p_ * q_) - two) and vanishes(says(gap_, sympy.Integer(0)) - gap_**2 / 2)),
        argued("every zero-mean law is a mixture of such laws; the mean over x gives L(w), least at gap = 0: w*"),
        tried=tried,
    )


def judge_covariance(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the covariance of N(0, diag(v, r v)) is says(v, r v): the two variances of a multiple of I."""
    tried = 0
    for point in given.points("variance", "ratio"):
        v, w = point["variance"], point["ratio"] * point["variance"]
        tried += 1
        if tuple(says(v, w)) != (v, w):
            return refuted("a Gaussian whose covariance is no multiple of I", {
                "variances": f"{v}, {w}", "claimed": ", ".join(map(str, says(v, w)))})
    v_, r_ = given.symbol("variance"), given["ratio"]
    fixed = r_.low is not None and r_.low == r_.high
    w_ = v_ * (rational(r_.low) if fixed and r_.low is not None else given.symbol("ratio"))
    first, second = says(v_, w_)
    return proof(computed("the entries of the covariance, on symbols", vanishes(first - v_, second - w_)), tried=tried)


def judge_fourth(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether Assumption 3.4 holds with (alpha, beta) for Gaussian features."""
    alpha, beta = says
    if alpha < 3:
        return refuted("in one dimension E x^4 is 3", {"d": 1, "u": 1, "v": 1, "moment": 3, "alpha": alpha})
    if beta > 1:
        return refuted("for u orthogonal to v the moment is |u|^2 |v|^2", {
            "d": 2, "u": "1, 0", "v": "0, 1", "moment": 1, "beta": beta})
    u1, u2, v1, v2 = sympy.symbols("u1 u2 v1 v2", real=True)
    x, y = sympy.symbols("x y")
    normal = {0: 1, 1: 0, 2: 1, 3: 0, 4: 3}
    product = sympy.Poly((u1 * x + u2 * y) ** 2 * (v1 * x + v2 * y) ** 2, x, y)
    moment = sum(c * normal[i] * normal[j] for (i, j), c in product.terms())
    sizes, inner = (u1**2 + u2**2) * (v1**2 + v2**2), u1 * v1 + u2 * v2
    area = (u1 * v2 - u2 * v1) ** 2
    return proof(
        computed("the moment is |u|^2 |v|^2 + 2 <u,v>^2", vanishes(moment - sizes - 2 * inner**2)),
        computed("|u|^2 |v|^2 = <u,v>^2 + (the area)^2", vanishes(sizes - inner**2 - area)),
        computed("(A): alpha |u|^2 |v|^2 less the moment is (alpha - 3)|u|^2 |v|^2 + 2 (the area)^2 >= 0",
                 vanishes(rational(alpha) * sizes - moment - (rational(alpha) - 3) * sizes - 2 * area) and alpha >= 3),
        computed("(B): the moment less <u,v>^2 and beta |u|^2 |v|^2 is (1 - beta)|u|^2 |v|^2 + <u,v>^2 >= 0", vanishes(
            moment - inner**2 - rational(beta) * sizes - (1 - rational(beta)) * sizes - inner**2) and beta <= 1),
        argued("a matrix A >= 0 is a sum of v v^T, and H^{1/2} u, H^{1/2} v span a plane at most"),
    )


def judge_rademacher(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E[xx^T A xx^T] - HAH >= says(beta) tr(HA) H for x_i = +-sqrt(lambda_i): at A = e1 e1^T, entry 11."""
    tried = 0
    for point in given.points("beta", "lam"):
        beta, lam = point["beta"], point["lam"]
        left = lam**2 - lam**2  # x_1^4 = lambda_1^2 with probability 1
        tried += 1
        if left < says(beta) * lam * lam:
            return refuted("x_1^2 is constant: the entry 11 of the left side vanishes at A = e1 e1^T", {
                "lambda_1": lam, "beta": beta, "left": left, "right": says(beta) * lam * lam})
    lam_ = given.symbol("lam")
    value = says(given.symbol("beta"))
    x, m = sympy.symbols("x m", real=True)
    return proof(
        computed("nothing, or less, is claimed beyond the positive semi-definite order", never_negative(-value * lam_)),
        computed("E (X - m)^2 = E X^2 - 2m E X + m^2 >= 0: a covariance is positive semi-definite",
                 vanishes((x - m) ** 2 - x**2 + 2 * m * x - m**2)),
        argued("for A = v v^T the left side is the covariance matrix of <v,x> x"), tried=tried,
    )


def judge_one_hot(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (A) holds with alpha = says(lambda_min) for x = +-e_i with probability lambda_i/2 each."""
    tried = 0
    for point in given.points("smallest"):
        low = point["smallest"]
        tried += 1
        if says(low) * low * low < low:
            return refuted("A = e_i e_i^T: the entry ii is lambda_i on the left, alpha lambda_i^2 on the right", {
                "lambda_i": low, "alpha": says(low), "left": low, "right": says(low) * low * low})
    low_, rest = given.symbol("smallest"), sympy.Symbol("s", nonnegative=True)
    size = low_ + rest
    return proof(
        computed("lambda_i A_ii <= alpha lambda_i A_ii lambda_i for every lambda_i >= the smallest",
                 never_negative(says(low_) * size**2 - size)),
        argued("E[xx^T A xx^T] is the diagonal matrix of lambda_i A_ii, and tr(HA) >= lambda_i A_ii"), tried=tried,
    )


def judge_subgaussian(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether alpha = says(K) serves where E<u,x>^4 <= K for unit u, E xx^T = I."""
    tried = 0
    for point in given.points("fourth"):
        k = point["fourth"]  # x = +-sqrt(K) with probability 1/K, else 0: E x^2 = 1, E x^4 = K
        tried += 1
        if says(k) < k * k / k:
            return refuted("in one dimension the least alpha is E x^4", {"E x^4": k, "alpha": says(k)})
    p, q = sympy.symbols("p q", real=True)
    k_ = given.chart("fourth")
    return proof(
        computed("(p^4 + q^4)/2 - p^2 q^2 = (p^2 - q^2)^2/2",
                 vanishes((p**4 + q**4) / 2 - p**2 * q**2 - (p**2 - q**2) ** 2 / 2)),
        computed("alpha is at least K", never_negative(says(k_) - k_)),
        argued("so E<u,x>^2 <v,x>^2 <= K for unit u, v; a sub-Gaussian x has a finite K"), tried=tried,
    )


def judge_alpha(says: Fraction, given: Domain) -> Finding:
    """Whether every alpha of (A) is at least `says`; x = +-1 has alpha = 1."""
    if says > 1:
        return refuted("x = +-1 meets (A) with alpha = 1", {"x": "+-1", "least alpha": 1, "claimed": says})
    a, b = (given.symbol(name) for name in ("first", "second"))
    p = given.chart("mass")
    gap = p * a**2 + (1 - p) * b**2 - (p * a + (1 - p) * b) ** 2
    for point in given.points("first", "second", "mass", at_most=60):
        u, v, m = (point[name] for name in ("first", "second", "mass"))
        if m * u**2 + (1 - m) * v**2 < says * (m * u + (1 - m) * v) ** 2:
            return refuted("E|x|^4 is smaller", {"|x|^2": f"{u}, {v}", "mass": m, "claimed": says})
    return proof(
        computed("E|x|^4 - (E|x|^2)^2 = p (1 - p)(a - b)^2 for |x|^2 on two values", vanishes(gap - p * (1 - p) * (
            a - b) ** 2)),
        argued("the trace of (A) at A = I is E|x|^4 <= alpha tr(H)^2, tr(H) = E|x|^2, and a variance is >= 0 for any "
               "law"),
        summary="alpha >= 1, so that E|x|^2 log <= alpha tr(H) log",
    )


_REMARK_1 = (
    "For Gaussian distribution, it can be verified that Assumption@]holds with o = 3 and\n\nB = 1 [56]]. Furthermore, "
    "the "
    "assumption of sub-Gaussianity in data, specifically that H :xisa\nsub-Gaussian random vector, as posited in "
    "previous "
    "work [44} 141} 154} 28155} 120L 32, [31]] for private\nlinear regression model, can be shown to imply Assumption "
    "[3.4][(A)] [56]."
)
_RATIO = Parameter("ratio", low=Fraction(0), low_open=True)

well_specified = Claim(
    id="glmtron/def-3.2-well-specified", source="003, Definition 3.2", whose=Whose.PRINTED,
    quote="Assume that there exists a parameter w, € R such\nthat E[y | x] = ReLU(xw,), and the variance of the model "
          "noise can be denoted by o2 :=\nE [(y — ReLU(x\"w.))?].",
    statement=r"\mathcal{L}(w) = \tfrac12 E(\mathrm{ReLU}(x^\top w) - \mathrm{ReLU}(x^\top w_*))^2 + \tfrac12 \sigma^2",
    words="a well-specified model: the risk is half the squared difference of the predictions plus half of sigma^2",
    hypotheses=(real("gap", "relu(<w,x>) - relu(<w*,x>)"), non_negative("variance")),
    says=lambda gap, variance: (gap**2 + variance) / 2, check=judge_risk, expected="HOLDS ARGUED",
    flips=(Flip("without the half", lambda gap, variance: gap**2 + variance, Verdict.REFUTED),),
)
covariance = Claim(
    id="glmtron/prose-gaussian-cov-identity", source="003, after Assumption 3.3, and Section 4", whose=Whose.PRINTED,
    quote="In the case of a Gaussian distribution, the data covariance matrix reduces to an identity matrix scaled\nby "
          "variance.", severity=Stake.EDITORIAL,
    statement=r"x \sim \mathcal{N}(0, H) \Rightarrow H = \sigma^2 I",
    words="the covariance of Gaussian features is a multiple of the identity",
    hypotheses=(positive("variance"), _RATIO), says=lambda v, w: ((v + w) / 2, (v + w) / 2), check=judge_covariance,
    expected="REFUTED PROVED",
    flips=(Flip("a diagonal matrix, whatever its entries", lambda v, w: (v, w), Verdict.HOLDS),),
    repair=Repair(
        statement=r"x \sim \mathcal{N}(0, \sigma^2 I) \Rightarrow H = \sigma^2 I", says=lambda v, w: ((v + w) / 2, (
            v + w) / 2),
        words="the covariance of Gaussian features with one variance in all directions is a multiple of the identity",
        hypotheses=(positive("variance"), Parameter("ratio", low=Fraction(1), high=Fraction(1))),
        check=judge_covariance, expected="HOLDS PROVED",
        flips=(Flip("twice the variance", lambda v, w: (v + w, v + w), Verdict.REFUTED),),
        true_variants={"any variance": "an identity of the entries"},
    ),
)
gaussian_moments = Claim(
    id="glmtron/assumption-3.4-gaussian", source="003, Remark 1", whose=Whose.PRINTED, quote=_REMARK_1,
    statement=r"HAH + tr(HA)H \preceq E[xx^\top A xx^\top] = 2HAH + tr(HA) H \preceq 3\, tr(HA) H",
    words="Gaussian features meet Assumption 3.4 with alpha = 3 and beta = 1",
    severity=Stake.UTILITY, hypotheses=(), says=(Fraction(3), Fraction(1)), check=judge_fourth, expected="HOLDS ARGUED",
    flips=(Flip("alpha = 2", (Fraction(2), Fraction(1)), Verdict.REFUTED),
           Flip("beta = 2", (Fraction(3), Fraction(2)), Verdict.REFUTED)),
    true_variants={"?0? 1 % more": "a larger alpha is a weaker condition", "?0? one more": "likewise",
                   "?1? 1 % less": "a smaller beta is a weaker condition", "?1? sign": "likewise"},
)
rademacher = Claim(
    id="glmtron/assumption-3.4B-rademacher", source="003, Assumption 3.4(B) for the Bernoulli data of Section 6",
    whose=Whose.READING, severity=Stake.UTILITY,
    quote="(B) There exists a constant 5 > 0, such that for every PSD matrix A, the following holds:\nE[xx' Axx'] - "
          "HAH > "
          "3-tr(HA) - H.",
    statement=r"x_i = \pm\sqrt{\lambda_i}: \quad E[xx^\top A xx^\top] - HAH \succeq \beta\, tr(HA) H, \ \beta > 0",
    words="features with independent signs meet Assumption 3.4(B) with some beta > 0",
    hypotheses=(positive("beta"), positive("lam")), says=lambda beta: beta, check=judge_rademacher,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E[xx^\top A xx^\top] - HAH \succeq 0", words="any features meet Assumption 3.4(B) with beta = 0",
        says=lambda beta: 0 * beta, expected="HOLDS ARGUED",
        true_variants={"sign": "minus 0 is 0", "1 % more": "1 % of 0", "1 % less": "1 % of 0", "squared": "0 squared",
                       "any beta": "beta does not enter", "any lam": "only the square of lambda enters"},
    ),
)
one_hot = Claim(
    id="glmtron/assumption-3.4A-onehot", source="003, Assumption 3.4(A) for one-hot Bernoulli data of Section 6",
    whose=Whose.READING, severity=Stake.UTILITY,
    quote="(A) There exists a constant o > 0 such that for any Positive Semi-Definite (PSD) matrix A, the\nfollowing "
          "holds:\nExx Axx'] < a-tr(HA) - H.",
    statement=r"x = \pm e_i: \quad E[xx^\top A xx^\top] \preceq 3\, tr(HA) H",
    words="one-hot features meet Assumption 3.4(A) with alpha = 3, whatever their smallest eigenvalue",
    hypotheses=(Parameter("smallest", low=Fraction(0), high=Fraction(1), low_open=True, meaning="smallest eigenvalue"),
        ),
    says=lambda smallest: 3 + 0 * smallest, check=judge_one_hot, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E[xx^\top A xx^\top] \preceq \lambda_{\min}^{-1} tr(HA) H", expected="HOLDS ARGUED",
        words="one-hot features meet Assumption 3.4(A) with alpha = 1/(the smallest eigenvalue), and with no less",
        says=lambda smallest: 1 / smallest,
        true_variants={"1 % more": "a larger alpha is a weaker condition",
                       "1 -> 2 (constant 1)": "a larger alpha is a weaker condition"},
    ),
)
subgaussian = Claim(
    id="glmtron/remark-1-subgaussian", source="003, Remark 1", whose=Whose.PRINTED, quote=_REMARK_1,
    severity=Stake.UTILITY, statement=r"\sup_{|u|=1} E\langle u, H^{-1/2}x\rangle^4 \le K \Rightarrow \text{3.4(A) "
                                      r"with } \alpha = K",
    words="sub-Gaussian H^(-1/2) x meets Assumption 3.4(A), alpha being the largest fourth moment K",
    hypotheses=(Parameter("fourth", low=Fraction(1), meaning="K"),), says=lambda fourth: fourth,
    check=judge_subgaussian,
    expected="HOLDS ARGUED", flips=(Flip("half of it", lambda fourth: fourth / 2, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger alpha is a weaker condition", "squared": "K >= 1, so its square is larger"},
)
at_least_one = Claim(
    id="glmtron/alpha-ge-1", source="003, after Definition 3.5", whose=Whose.PRINTED, severity=Stake.UTILITY,
    quote="Additionally, according to Assumption [3.4][(A)] it holds\nthat ||x||2 < atr(H) - log®*(1/b) in Equation .",
    statement=r"E\|x\|^2 = tr(H) \le \alpha\, tr(H)", words="by Assumption 3.4(A) the mean of |x|^2 is at most alpha "
    "tr(H): alpha >= 1",
    hypotheses=(non_negative("first"), non_negative("second"), Parameter("mass", low=Fraction(0), high=Fraction(1))),
    says=Fraction(1), check=judge_alpha, expected="HOLDS ARGUED", flips=(Flip("alpha >= 2", Fraction(2),
        Verdict.REFUTED),),
    true_variants={"1 % less": "a smaller lower bound is weaker", "sign": "likewise",
                   "any *": "the identity holds for any two values and any mass"},
)
