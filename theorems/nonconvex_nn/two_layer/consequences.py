r"""What the theorems on networks of document 002 lead to: the introduction's sizes, Remark 12, alpha_0, W and D_m.

The introduction prints 1/epsilon^2 where Theorems 10 and 11 print 1/epsilon. That is no contradiction: the rank theta
is at most n, and n >= A^2 L/epsilon + A sqrt(n L)/epsilon, L = log(1/delta), is solved by n = 3 A^2 L/epsilon^2, as
1 + sqrt(3) <= 3. So the introduction has the theorem's sample size with theta replaced by n, which is also why it does
not depend on the dimension. But it leaves out log(1/delta), which is not bounded.

Assumption 3 wants W = O(1). A hidden layer of k equal units, b_t = 1/sqrt(k), is sqrt(k) sigma_1(<a, x>), at x = a
sqrt(k)/(1 + 1/e) > 0.73 sqrt(k), and |<w*, psi>| <= W: so W >= 0.73 sqrt(k) - M, whatever the features. Constants that
hide W hide what drives the sample size.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.nonconvex_nn.two_layer.approximation import geometric
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def judge_size(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether n = says(A, L, epsilon) has n >= A^2 L/epsilon + A sqrt(theta L)/epsilon with theta = n."""
    tried = 0
    for point in ({"A": 1, "L": 100, "epsilon": 1}, *given.points("A", "L", "epsilon")):
        size, log, epsilon = (sympy.Rational(str(Fraction(point[name]))) for name in ("A", "L", "epsilon"))
        n = sympy.sympify(says(size, log, epsilon))
        need = size**2 * log / epsilon + size * sympy.sqrt(n * log) / epsilon
        tried += 1
        if bool(sympy.N(need - n, 30) > 0):
            return refuted("the theorem's sample size with theta = n is larger", {
                "A": size, "log(1/delta)": log, "epsilon": epsilon, "claimed n": n, "theorem": sympy.N(need, 12)})
    size_, root_, s_ = given.symbol("A"), sympy.Symbol("l", positive=True), sympy.Symbol("s", nonnegative=True)
    epsilon_ = 1 / (1 + s_)
    n_ = sympy.factor(says(size_, root_**2, epsilon_))
    gap = n_ - size_**2 * root_**2 / epsilon_ - size_ * root_ * sympy.sqrt(n_) / epsilon_
    parts = sympy.Poly(sympy.expand(sympy.cancel(gap / (size_ * root_) ** 2)), s_).coeffs()
    return proof(
        computed("n is at least A^2 L/epsilon + A sqrt(n L)/epsilon for every epsilon in (0, 1], on symbols",
                 all(part.is_number and bool(part >= 0) for part in parts) and given.symbol("L").is_positive is True),
        tried=tried,
    )


def judge_alpha_0(says: Any, given: Domain) -> Finding:
    """Whether M = sqrt(k) alpha_0 with alpha_0 = alpha/(says G sqrt(k)) leaves at most alpha by Lemma 7 as printed."""
    constant = Fraction(says)
    tried = 0
    for point in ({"alpha": 1, "G": 1}, *given.points("alpha", "G", at_most=60)):
        alpha, slope = Fraction(point["alpha"]), Fraction(point["G"])
        error = alpha / (constant * slope)
        cost, tried = 4 * slope * error + 2 * slope**2 * error**2, tried + 1
        if cost > alpha or error < 0:
            return refuted("Lemma 7's terms of the model error alone exceed alpha, or alpha_0 is negative", {
                "alpha": alpha, "G": slope, "M": error, "4GM + 2 G^2 M^2": cost})
    slope_ = given.symbol("G")
    alpha_ = 1 / (1 + sympy.Symbol("s", nonnegative=True))
    error_ = alpha_ / (sympy.Rational(str(constant)) * slope_)
    return proof(
        computed("4GM + 2 G^2 M^2 <= alpha for every alpha in (0, 1], on symbols",
                 never_negative(alpha_ - 4 * slope_ * error_ - 2 * slope_**2 * error_**2)),
        tried=tried,
    )


def judge_degree(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether sqrt(k)/alpha, the order of G/alpha_0, is at most says(k, 1/alpha): what stands in the exponent of d."""
    tried = 0
    for point in given.points("k", "inverse"):
        k, inverse = sympy.Integer(int(point["k"])), sympy.Rational(str(Fraction(point["inverse"])))
        tried += 1
        if bool(says(k, inverse) < 0):
            return refuted("a negative order", {"k": k, "1/alpha": inverse, "claimed": says(k, inverse)})
        if bool(sympy.sqrt(k) * inverse > says(k, inverse)):
            return undecided("sqrt(k)/alpha is larger: Lemma 7 as printed does not give so small a degree", tried)
    root, inverse_ = 1 + sympy.Symbol("j", nonnegative=True), given.chart("inverse")
    d, m = sympy.symbols("d", nonnegative=True), 4
    return proof(
        computed("sqrt(k)/alpha is at most that for k >= 1 and alpha <= 1, on symbols",
                 never_negative(says(root**2, inverse_) - root * inverse_)),
        computed("1 + d + ... + d^m <= (m + 1) d^m for d >= 1, term by term (at m = 4)",
                 never_negative((m + 1) * (1 + d) ** m - sum((1 + d) ** i for i in range(m + 1)))),
        argued("so it is for every m: each term is at most the last"),
        tried=tried,
    )


def judge_minimum(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether L(h) - L(N_2) at an x with E[y|x] = N_2 is says(h, N_2), never negative."""
    tried = 0
    for point in given.points("h", "mean"):
        h, mean = Fraction(point["h"]), Fraction(point["mean"])
        true = (h**2 - 2 * h * mean + mean) - (mean - mean**2)  # labels in {0, 1}: E y^2 = E y
        tried += 1
        if says(h, mean) != true:
            return refuted("another difference of risks", {
                "h": h, "N_2": mean, "difference of the risks": true, "claimed": says(h, mean)})
    h_, mean_, second = sympy.symbols("h N s", real=True)  # s = E[y^2|x] cancels
    return proof(
        computed("(h^2 - 2 h N + s) - (N^2 - 2 N^2 + s) is that", vanishes(
            (h_**2 - 2 * h_ * mean_ + second) - (mean_**2 - 2 * mean_**2 + second) - says(h_, mean_))),
        computed("and it is a square", vanishes(says(h_, mean_) - (h_ - mean_) ** 2)),
        tried=tried,
    )


def judge_norm(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether weights of norm says(k, m) serve every hidden layer of k sigmoid units, to an error of sqrt(k)/4."""
    tried = 0
    for point in ({"k": 10_000, "m": 1}, *given.points("k", "m")):
        k, m = sympy.Integer(int(point["k"])), sympy.Integer(int(point["m"]))
        least = sympy.sqrt(k) * (1 / (1 + sympy.exp(-1)) - sympy.Rational(1, 4))
        tried += 1
        if bool(sympy.N(least - says(k, m), 30) > 0):
            return refuted("k equal units reach a value that no shorter weights reach, whatever the features", {
                "k": k, "b_t": "1/sqrt(k)", "M": sympy.sqrt(k) / 4, "W at least": sympy.N(least, 12),
                "claimed": says(k, m)})
    k_, m_ = given.symbol("k"), given.symbol("m")
    return proof(
        computed("24 sqrt(k (m + 1)) of Lemma 16's polynomial is at most that, on symbols",
                 never_negative(says(k_, m_) ** 2 - 576 * k_ * (m_ + 1), says(k_, m_))),
        argued("the polynomial of degree m serves every unit, and |b|_1 <= sqrt(k)"),
        tried=tried,
    )


def judge_improved(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether says(k, G/alpha, log) is at least (G W/alpha)^2, W = 24 sqrt(k (m + 1)), m + 1 <= 0.55 log + 2.56."""
    tried = 0
    for point in given.points("k", "ratio", "log"):
        k, ratio, log = (Fraction(point[name]) for name in ("k", "ratio", "log"))
        need, tried = 576 * k * (Fraction(11, 20) * log + Fraction(64, 25)) * ratio**2, tried + 1
        if says(k, ratio, log) < need:
            return undecided("the estimates do not give so little", tried)
    k_, ratio_, log_ = given.symbol("k"), given.symbol("ratio"), given.chart("log")
    need_ = 576 * k_ * (sympy.Rational(11, 20) * log_ + sympy.Rational(64, 25)) * ratio_**2
    return proof(
        computed("(G W/alpha)^2 is at most that, on symbols", never_negative(says(k_, ratio_, log_) - need_)),
        argued("n = 2^33 log(n/delta) (A^2 L/epsilon + A sqrt(theta L)/epsilon) then leaves at most alpha, as for "
               "Theorem 10"),
        tried=tried,
    )


def judge_growth(says: tuple[Callable[[Any], Any], Callable[[Any], Any]], given: Domain) -> Finding:
    """Whether the first sample size is polynomial in k, and the second exponential in k (and so in 1/alpha)."""
    k = sympy.Symbol("k", positive=True)
    orders = [sympy.limit(sympy.expand_log(sympy.log(says[0](k)), force=True) / sympy.log(k), k, sympy.oo),
              sympy.limit(sympy.expand_log(sympy.log(says[1](k)), force=True) / k, k, sympy.oo)]
    if orders[0].is_finite is not True or orders[1].is_positive is not True:
        return refuted("another growth in k", {
            "log of the first over log k": orders[0], "log of the second over k": orders[1]})
    tried = len(given.values("k"))
    return proof(
        computed("log n/log k has a finite limit for sigmoids", orders[0].is_finite is True),
        computed("log n/k has a positive limit for ReLUs", orders[1].is_positive is True),
        computed("both as Theorems 10 and 11 print them, k^(2C) and 4^(C k), C = 1", vanishes(
            says[0](k) - k**2) and vanishes(sympy.log(says[1](k)) - k * sympy.log(4))),
        tried=tried,
    )


def judge_name(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(k, d, m) is the dimension of the space H in R^k that the features of degree m live in."""
    tried = 0
    for point in ({"k": 1, "d": 2, "m": 1}, *given.points("k", "d", "m", most={"d": 6, "m": 5, "k": 10})):
        k, d, m = int(point["k"]), int(point["d"]), int(point["m"])
        dimension = sum(d**i for i in range(m + 1))
        tried += 1
        if says(k, d, m) != dimension:
            return refuted("the number of hidden units is not the dimension of the feature space", {
                "hidden units": k, "d": d, "m": m, "dimension of the features": dimension, "claimed": says(k, d, m)})
    d_, m_ = sympy.Symbol("d", positive=True), sympy.Symbol("m", positive=True, integer=True)
    k_ = sympy.Symbol("k", positive=True)
    return proof(
        computed("it grows by d^(m + 1) with the degree, and is 1 + d at degree 1", vanishes(
            sympy.simplify(says(k_, 1 + d_, m_ + 1) - says(k_, 1 + d_, m_) - (1 + d_) ** (m_ + 1)),
            sympy.simplify(says(k_, 1 + d_, 1) - 2 - d_))),
        argued("for d = 1 it is m + 1; induction"),
        tried=tried,
    )


_SIZES = (positive("A"), positive("L", "log(1/delta)"), unit_interval("epsilon").above(0))
_ALPHA = (unit_interval("alpha").above(0), positive("G"))
_ORDERS = (positive_integer("k"), positive("inverse", "1/alpha").at_least(1))
_INTRO = (
    r"For the sigmoid case, we show that the sample complexity is $O((\frac{kC_1}{\alpha})^{2C_1} "
    r"\frac{1}{\epsilon^2})$, where k is the number of hidden nodes and C_1 is a positive constant."
)
_RELU = r"we show that the sample complexity is $O(4^{C_2 \frac{k}{\alpha}} \frac{1}{\epsilon^2})$"
_MORE = "more records are enough, too"
_SOLVED = r"n = 3A^2L/\epsilon^2 \Rightarrow n \ge A^2L/\epsilon + A\sqrt{nL}/\epsilon"
_VARIANTS = {"1 % *": "1 + sqrt(3) < 2.97", "*constant*": _MORE}

intro = Claim(
    id="nonconvex-nn/intro-eps2", source="002, Section 1: 1/epsilon^2 where Theorem 10 prints 1/epsilon", quote=_INTRO,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"n = O((kC_1/\alpha)^{2C_1}/\epsilon^2)",
    words="the introduction's sample size for sigmoids, with 1/epsilon^2 and no log(1/delta)",
    hypotheses=_SIZES, says=None, check=None,
    readings=("nonconvex-nn/intro-eps2-reading-rank", "nonconvex-nn/intro-eps2-reading-delta"),
    expected="AMBIGUOUS PROVED",
)
intro_rank = Claim(
    id="nonconvex-nn/intro-eps2-reading-rank", source="002, Section 1: Theorem 10 with theta = n, log(1/delta) kept",
    quote=_INTRO, whose=Whose.READING, severity=Stake.UTILITY, statement=_SOLVED,
    words="the introduction's sample size is that of Theorem 10 with the rank replaced by n, times log(1/delta)",
    hypotheses=_SIZES, says=lambda a, log, e: 3 * a**2 * log / e**2, check=judge_size,
    flips=(Flip("1/epsilon", lambda a, log, e: 3 * a**2 * log / e, Verdict.REFUTED),
           Flip("2 in place of 3", lambda a, log, e: 2 * a**2 * log / e**2, Verdict.REFUTED)),
    uses=("nonconvex-nn/thm-10",), true_variants=_VARIANTS, expected="HOLDS PROVED",
)
intro_delta = Claim(
    id="nonconvex-nn/intro-eps2-reading-delta", source="002, Section 1: the sample size for every delta, as printed",
    quote=_INTRO, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"n = 3A^2/\epsilon^2 \Rightarrow n \ge A^2L/\epsilon + A\sqrt{nL}/\epsilon",
    words="the introduction's sample size does not grow as delta falls",
    hypotheses=_SIZES, says=lambda a, log, e: 3 * a**2 / e**2, check=judge_size,
    flips=(Flip("with log(1/delta)", lambda a, log, e: 3 * a**2 * log / e**2, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/intro-eps2-reading-rank", expected="REFUTED PROVED",
)
intro_relu = Claim(
    id="nonconvex-nn/intro-eps2-relu", source="002, Section 1: Theorem 11 with theta = n, log(1/delta) kept",
    quote=_RELU, whose=Whose.READING, severity=Stake.UTILITY, statement=_SOLVED + r",\ A = 2^{C_2k/\alpha}",
    words="the introduction's sample size for ReLUs is that of Theorem 11 with the rank replaced by n",
    hypotheses=_SIZES, says=lambda a, log, e: 3 * a**2 * log / e**2, check=judge_size,
    flips=(Flip("1/epsilon", lambda a, log, e: 3 * a**2 * log / e, Verdict.REFUTED),),
    uses=("nonconvex-nn/thm-11",), true_variants=_VARIANTS, expected="HOLDS PROVED",
)
dimension = Claim(
    id="nonconvex-nn/rem-12-dimension", source="002, Remark 12: sample sizes and the dimension",
    quote=r"similar to the GLM case, the sample complexities are still independent of the data dimension.",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=_SOLVED + r"\text{, without } d",
    words="with the rank at most n the sample sizes of Theorems 10 and 11 do not depend on the dimension",
    hypotheses=_SIZES, says=lambda a, log, e: 3 * a**2 * log / e**2, check=judge_size,
    flips=(Flip("1/epsilon", lambda a, log, e: 3 * a**2 * log / e, Verdict.REFUTED),),
    uses=("nonconvex-nn/thm-10", "nonconvex-nn/thm-11"), true_variants=_VARIANTS, expected="HOLDS PROVED",
)
alpha_0 = Claim(
    id="nonconvex-nn/thm-10-alpha-0", source="002, proof of Theorems 10 and 11: the choice of alpha_0",
    quote=r"Thus combining with the previous two lemmas with $\alpha_0 = \frac{\alpha}{G\sqrt{k}}$ and Corollary 1 we "
          r"have the proof.",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"M = \alpha/G \Rightarrow 4GM + 2G^2M^2 \le \alpha",
    words="alpha_0 = alpha/(G sqrt(k)) makes what the model error costs at most alpha",
    hypotheses=_ALPHA, says=1, check=judge_alpha_0, uses=("nonconvex-nn/lem-7",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"M = 2\alpha/(9G) \Rightarrow 4GM + 2G^2M^2 \le \alpha",
        words="alpha_0 = 2 alpha/(9 G sqrt(k)) is small enough by Lemma 7 as printed", says=Fraction(9, 2),
        expected="HOLDS PROVED", source="002, proof of Theorems 10 and 11 with a constant in alpha_0",
        flips=(Flip("4", 4, Verdict.REFUTED),),
        true_variants={"1 % *": "4/c + 2/c^2 <= 1 from c = 2 + sqrt(6) on", "one more": _MORE},
    ),
)
degree_10 = Claim(
    id="nonconvex-nn/thm-10-D-m", source="002, Theorem 10: the number of features, G = O(1)",
    quote=r"$D_m = \tilde{O}(d^{O(\log \frac{k}{\alpha})})$", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\log(\sqrt k/\alpha) \le \log(k/\alpha)",
    words="the degree O(log(1/alpha_0)) is O(log(k/alpha)) for a constant G",
    hypotheses=_ORDERS, says=lambda k, inverse: k * inverse, check=judge_degree,
    flips=(Flip("the fourth root of k", lambda k, inverse: k ** sympy.Rational(1, 4) * inverse, Verdict.UNDECIDED),),
    uses=("nonconvex-nn/lem-16",), rests_on=("nonconvex-nn/lem-16-D-m", "nonconvex-nn/lem-16-reading-hidden"),
    true_variants=dict.fromkeys(("1 % more", "squared"), "a larger order is one, too"), expected="HOLDS ARGUED",
)
degree_11 = Claim(
    id="nonconvex-nn/thm-11-D-m", source="002, Theorem 11: the number of features, G = O(1)",
    quote=r"$D_m = O\left(\frac{\sqrt{k}}{\alpha} d^{O\left(\frac{k}{\alpha}\right)}\right)$", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"\sqrt k/\alpha \le k/\alpha",
    words="the degree O(1/alpha_0) = O(sqrt(k)/alpha) is O(k/alpha), and sqrt(k)/alpha counts the degrees",
    hypotheses=_ORDERS, says=lambda k, inverse: k * inverse, check=judge_degree,
    flips=(Flip("sqrt(k)/alpha, which is sharper", lambda k, inverse: sympy.sqrt(k) * inverse, Verdict.HOLDS),
           Flip("k alone", lambda k, inverse: k, Verdict.UNDECIDED)),
    uses=("nonconvex-nn/lem-17",), rests_on=("nonconvex-nn/lem-16-D-m", "nonconvex-nn/lem-17-reading-hidden"),
    true_variants=dict.fromkeys(("1 % more", "squared"), "a larger order is one, too"), expected="HOLDS ARGUED",
)
minimum = Claim(
    id="nonconvex-nn/thm-10-minimum", source="002, Theorems 10 and 11: the least risk is that of N_2",
    quote=r"\mathbb{E}L_{\mathcal{P}}(h) - \min_h L_{\mathcal{P}}(h) = \mathbb{E}L_{\mathcal{P}}(h) - "
          r"L_{\mathcal{P}}(\mathcal{N}_2) \leq \alpha.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"L(h) - L(\mathcal{N}_2) = \mathbb{E}(h - \mathcal{N}_2)^2",
    words="where E[y|x] = N_2(x), N_2 has the least risk of all functions",
    hypotheses=(real("h"), unit_interval("mean", "N_2(x)")), says=lambda h, mean: (h - mean) ** 2, check=judge_minimum,
    flips=(Flip("without the square", lambda h, mean: h - mean, Verdict.REFUTED),),
    true_variants={"any mean": "an identity"}, expected="HOLDS PROVED",
)
constant_norm = Claim(
    id="nonconvex-nn/asm-3-W-vs-thm-10", source="002, Assumption 3 (W = O(1)) against Theorems 10 and 11, which use it",
    quote=r"We assume that there exist constants $W, G = O(1)$ such that $\|w^*\|_2 \leq W$", whose=Whose.READING,
    severity=Stake.UTILITY, statement=r"\lVert w^*\rVert \le W = O(1) \text{ for the networks of (6)}",
    words="one constant W, 10 say, serves the hidden layers to which Section 5 is applied",
    hypotheses=(positive_integer("k"), positive_integer("m")), says=lambda k, m: sympy.Integer(10), check=judge_norm,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert w^*\rVert \le 24\sqrt{k(m+1)} \text{ for sigmoids}",
        words="W grows like sqrt(k (m + 1)) for sigmoids, and has to stand in every bound",
        says=lambda k, m: 24 * sympy.sqrt(k * (m + 1)), expected="HOLDS ARGUED",
        source="002, Assumption 3 with the norm of the application",
        rests_on=("nonconvex-nn/lem-16-reading-hidden",), true_variants={"1 % more": "a larger norm is one, too",
                  "*constant*": "a larger norm is one, too"},
    ),
)
improved_10 = Claim(
    id="nonconvex-nn/thm-10-improved", source="a finding of ours: 002, Theorem 10 without an unknown power",
    severity=Stake.UTILITY,
    statement=r"A^2 = 576\,k\,(G/\alpha)^2\,(0.55\log(G\sqrt{2k/\alpha}) + 2.56)",
    words="sigmoid networks need A^2 of order k (G/alpha)^2 log(kG/alpha) in place of (kG/alpha)^(2C)",
    hypotheses=(positive_integer("k"), positive("ratio", "G/alpha"), positive("log", "log(1/alpha_0)").at_least("1/4")),
    says=lambda k, ratio, log: 576 * k * ratio**2 * (Fraction(11, 20) * log + Fraction(64, 25)), check=judge_improved,
    flips=(Flip("without k", lambda k, ratio, log: 576 * ratio**2 * (log + 3), Verdict.UNDECIDED),),
    rests_on=("nonconvex-nn/lem-16-reading-hidden", "nonconvex-nn/thm-10-reading-order"),
    true_variants={"1 % more": _MORE, "*constant*": _MORE, "[*] -> + (operator 4)": _MORE,
                   "any *": "an equation between formulas"},
    expected="HOLDS ARGUED",
)
growth = Claim(
    id="nonconvex-nn/rem-12", source="002, Remark 12: polynomial in k for sigmoids, exponential for ReLUs",
    quote=r"the sample complexity now depends on $\text{poly}(k)$ in the sigmoid case and depends on the exponential "
          r"of k and $\frac{1}{\alpha}$ in the ReLU case",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"k^{2C} \text{ and } 4^{Ck}",
    words="the printed sample sizes are polynomial in k for sigmoids, and exponential for ReLUs",
    hypotheses=(positive_integer("k"),), says=(lambda k: k**2, lambda k: 4**k), check=judge_growth,
    flips=(Flip("the other way round", (lambda k: 4**k, lambda k: k**2), Verdict.REFUTED),),
    uses=("nonconvex-nn/thm-10", "nonconvex-nn/thm-11"), true_variants={"any k": "growth is at infinity"},
    expected="HOLDS PROVED",
)
overloaded = Claim(
    id="nonconvex-nn/k-overloaded", source="002, model (4) against (6): k is a dimension and a number of units",
    quote=r"$\mathcal{H} \subseteq \mathbb{R}^k$ with some k", whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\dim\mathcal{H} = k = \text{number of hidden units}",
    words="the k of the feature space is the k of the hidden units (phases and projections are called k, too)",
    hypotheses=(positive_integer("k"), positive_integer("d"), positive_integer("m")), says=lambda k, d, m: k,
    check=judge_name, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\dim\mathcal{H} = D_m = 1 + d + \dots + d^m", words="the feature space has the dimension D_m",
        says=lambda k, d, m: geometric(d, m), expected="HOLDS ARGUED", source="002, Section 5 with D_m for that k",
        true_variants={"any *": "the identity is one of polynomials"},
    ),
)
efficiency = Claim(
    id="nonconvex-nn/rem-12-open", source="002, Remark 12: efficient algorithms are an open problem",
    quote=r"Hence, developing efficient algorithms for privately learning one-hidden layer networks will remain an "
          r"open problem.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"\text{no efficient private algorithm is known}",
    words="nobody knows an efficient private algorithm for one-hidden layer networks", hypotheses=(), says=None,
    check=citing(Verdict.NOT_CHECKABLE, "a statement about all that is known; an algorithm with a run time polynomial "
                 "in k, d and 1/alpha would settle it"),
    expected="NOT_CHECKABLE CITED",
)
