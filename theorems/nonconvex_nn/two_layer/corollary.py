"""Definition 7 and Corollary 1 of document 002, and how they name things; what else Section 5 says in passing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.two_layer.links import Ramp
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, sampled

_CONDITION = {"M": "|f(x) - <w*, psi(x)>| <= M", "W": "|w*|_2 <= W"}
"""What Definition 7 asks, by the letters of its two bounds."""
_TITLES = {8: "Adaptive DP Batched Gradient Descent", 9: "DP Two-layer Neural Networks"}
_RUNS_ON = {8: "(x_i, y_i), with the ReLU", 9: "(psi(x_i), y_i), with the link"}


def judge_letters(says: tuple[str, str], given: Domain) -> Finding:
    """Whether the two letters of (., .)-uniformly approximated are those that the definition binds, in its order."""
    unknown = [letter for letter in says if letter not in _CONDITION]
    if unknown or says != tuple(_CONDITION):
        return refuted("the definition binds other letters", {
            "named": ", ".join(says), "bound": ", ".join(_CONDITION), "not bound": ", ".join(unknown)})
    return instance("the two letters are those of the definition's bounds", dict(_CONDITION))


def judge_algorithm(says: int, given: Domain) -> Finding:
    """Whether the algorithm of that number is the one that is run on (psi(x), y), as Corollary 1 needs."""
    if says not in _TITLES or "psi" not in _RUNS_ON[says]:
        return refuted("that algorithm is run on other data", {
            "algorithm": says, "its title": _TITLES.get(says, "none"), "runs on": _RUNS_ON.get(says, "nothing"),
            "algorithm on the features": next(n for n, data in _RUNS_ON.items() if "psi" in data)})
    return instance("it is run on the features", {"title": _TITLES[says]})


def judge_model_error(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether phi = says(f, <w*, psi>) makes E[y|x] = link(f) the model (4), with |phi| <= M."""
    tried = 0
    link = Ramp(Fraction(1, 4))
    for point in given.points("value", "score"):
        value, score = Fraction(point["value"]), Fraction(point["score"])
        phi, tried = says(value, score), tried + 1
        if link.at(score + phi) != link.at(value) or abs(phi) != abs(value - score):
            return refuted("the model (4) has another mean then", {
                "f(x)": value, "<w*, psi(x)>": score, "phi": phi, "mean of (4)": link.at(score + phi),
                "E[y|x]": link.at(value)})
    value_, score_ = given.symbol("value"), given.symbol("score")
    return proof(
        computed("<w*, psi> + phi = f, so that (4) holds, and |phi| = |f - <w*, psi>| <= M by Definition 7",
                 vanishes(score_ + says(value_, score_) - value_)),
        argued("K(x, x) = |psi(x)|^2, so that K <= 1 gives |psi| <= 1, and Theorem 8 applies"),
        tried=tried,
    )


def judge_units(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether |b|_1 is at most says(k) for |b|_2 = 1: equal entries attain sqrt(k)."""
    tried = 0
    for k in given.values("k"):
        tried += 1
        if bool(sympy.sqrt(k) > says(sympy.Integer(k))):
            return refuted("equal weights have more", {"k": k, "b_t": "1/sqrt(k)", "|b|_1": sympy.sqrt(k),
                                                       "claimed": says(sympy.Integer(k))})
    root = 1 + sympy.Symbol("r", nonnegative=True)
    spread = sympy.Symbol("v", nonnegative=True)  # k times the variance of the |b_t|: 1 - |b|_1^2/k
    return proof(
        computed("|b|_1^2 = k (1 - v), v being k times the variance of the |b_t|: at most the square of that",
                 never_negative(says(root**2) ** 2 - root**2 * (1 - spread), says(root**2))),
        tried=tried,
    )


def judge_cost(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the features of degree m in d dimensions are at least says(d, m) in number, exponential in m."""
    tried = 0
    for point in given.points("d", "m", most={"d": 6, "m": 8}):
        d, m = int(point["d"]), int(point["m"])
        count, tried = sum(d**i for i in range(m + 1)), tried + 1
        if says(d, m) > count:
            return refuted("there are fewer features", {"d": d, "m": m, "features": count, "claimed": says(d, m)})
    d_, m_ = sympy.Symbol("d", positive=True), given.symbol("m")
    before = (d_**m_ - 1) / (d_ - 1)  # 1 + d + ... + d^(m - 1)
    return proof(
        computed("1 + d + ... + d^m is d^m and the sum before it, which is not negative",
                 vanishes((d_ ** (m_ + 1) - 1) / (d_ - 1) - d_**m_ - before)),
        computed("what is claimed is d^m, which grows by the factor d >= 2 with each degree",
                 vanishes(says(d_, m_) - d_**m_, says(d_, m_ + 1) - d_ * says(d_, m_)) and given["d"].low == 2
                 and m_.is_positive is True),
        tried=tried,
    )


def judge_kernel(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(<x, x'>, m) is the inner product of the features of degree m, computed without forming them."""
    tried = 0
    pairs = (((1, 0), (1, 0)), ((1, 2), (3, -1)), ((0, 1), (2, 2)), ((1, 1), (-1, 1)))
    for m in given.values("m", most=6):
        for x, z in pairs:
            formed = Fraction(sum(math.comb(i, j) * x[0] ** j * x[1] ** (i - j) * z[0] ** j * z[1] ** (i - j)
                                  for i in range(m + 1) for j in range(i + 1)), m + 1)
            found, tried = Fraction(says(Fraction(x[0] * z[0] + x[1] * z[1]), m)), tried + 1
            if found != formed:
                return refuted("another inner product", {"x": x, "x'": z, "m": m, "features": formed, "claimed": found})
    return proof(
        sampled("it is the features' inner product in the plane, exactly, up to degree 7", tried > 0),
        argued("the multinomial theorem gives it in every dimension; weights are sums of features of records and "
               "Gaussian noise, so that scores need kernel values only: their number squared, whatever D_m is"),
        tried=tried,
    )


letters = Claim(
    id="nonconvex-nn/def-7", source="002, Definition 7: (M, W) in its title, (M, B) in its text",
    quote=r"We say f is (M, B) -uniformly approximated by \mathcal{K} over $\mathcal{P}_{\mathcal{X}}$ if there exists "
          r"some $w^* \in \mathcal{H}$ with $\|w^*\|_2 \leq W$",
    whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"(M, B)\text{-uniformly approximated: } \lVert w^*\rVert \le W,\ |f - \langle w^*, \psi\rangle| \le M",
    words="the two bounds of the definition are called M and B", hypotheses=(), says=("M", "B"), check=judge_letters,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"(M, W)\text{-uniformly approximated}", words="the two bounds of the definition are M and W",
        says=("M", "W"), expected="HOLDS PROVED", source="002, Definition 7, with the letters of its title",
    ),
)
corollary = Claim(
    id="nonconvex-nn/cor-1", source="002, Corollary 1: a function that features approximate is one of model (4)",
    quote=r"The function $h(x) = \sigma(\langle w, \psi(x) \rangle)$ for the output w in Algorithm 9 achieves the same "
          r"error bound as in Theorem 8.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\phi = f - \langle w^*, \psi\rangle: \quad \sigma(f) = \sigma(\langle w^*, \psi\rangle + \phi),\ "
              r"|\phi| \le M",
    words="where E[y|x] = link(f) and features approximate f to M, model (4) holds with that M, and so does Theorem 8",
    hypotheses=(real("value", "f(x)"), real("score", "<w*, psi(x)>")), says=lambda value, score: value - score,
    check=judge_model_error, flips=(Flip("the other sign", lambda value, score: score - value, Verdict.REFUTED),),
    uses=("nonconvex-nn/thm-8-utility", "nonconvex-nn/def-7"),
    rests_on=("nonconvex-nn/thm-8-utility", "nonconvex-nn/def-7-repaired"), expected="HOLDS ARGUED",
)
algorithm_8 = Claim(
    id="nonconvex-nn/cor-1-algorithm-8", source="002, Section 5, before Definition 7: Algorithm 8 for 9",
    quote=r"if a function f can be approximated by an element of an appropriate RKHS, then Algorithm 8 can be used to "
          r"obtain a private estimator.",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"\text{Algorithm 8 runs on } (\psi(x_i), y_i)",
    words="it is Algorithm 8 that learns with the features", hypotheses=(), says=8, check=judge_algorithm,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{Algorithm 9 runs on } (\psi(x_i), y_i)",
        words="it is Algorithm 9 that learns with the features", says=9, expected="HOLDS PROVED",
        source="002, Section 5, with Algorithm 9",
    ),
)
units = Claim(
    id="nonconvex-nn/eq-6", source="002, (6): what |b|_2 = 1 leaves of a hidden layer's error",
    quote=r"Here we assume $\|x\|_2 = 1$, $\|a_t\|_2 = 1$ for each t and $\|b\|_2 = 1$ where $b = (b_1, \dots, b_k)$",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\lVert b\rVert_2 = 1 \Rightarrow \lVert b\rVert_1 \le \sqrt k",
    words="an error alpha_0 of every unit makes at most sqrt(k) alpha_0 of the hidden layer",
    hypotheses=(positive_integer("k"),), says=lambda k: sympy.sqrt(k), check=judge_units,
    flips=(Flip("half", lambda k: sympy.sqrt(k) / 2, Verdict.REFUTED), Flip("k", lambda k: k, Verdict.HOLDS)),
    true_variants=dict.fromkeys(("1 % more", "squared"), "a larger bound is a bound, too"), expected="HOLDS PROVED",
)
inefficient = Claim(
    id="nonconvex-nn/rem-12-inefficient", source="002, Remark 12: the dimension of the features",
    quote=r"The second difference is that Algorithm 9 is inefficient in the ReLU case, as the dimension of the feature "
          r"map will be exponential.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"D_m \ge d^m",
    words="the explicit features grow exponentially with the degree, which for ReLUs is of order sqrt(k)/alpha",
    hypotheses=(positive_integer("d").at_least(2), positive_integer("m")), says=lambda d, m: d**m, check=judge_cost,
    flips=(Flip("d^(m + 1)", lambda d, m: d ** (m + 1), Verdict.REFUTED),), uses=("nonconvex-nn/thm-11-D-m",),
    expected="HOLDS PROVED",
)
kernel = Claim(
    id="nonconvex-nn/rem-12-kernel", source="a finding of ours: 002, Remark 12, Algorithm 9 by the kernel trick",
    severity=Stake.EDITORIAL,
    statement=r"\langle\psi(x), \psi(x')\rangle = (m+1)^{-1}\sum_{i=0}^m\langle x, x'\rangle^i",
    words="Algorithm 9 needs kernel values only, so that its cost grows with n and not with D_m; what is exponential "
          "for ReLUs is n itself",
    hypotheses=(positive_integer("m"),),
    says=lambda score, m: sum(score**i for i in range(m + 1)) / (m + 1), check=judge_kernel,
    flips=(Flip("undivided", lambda score, m: sum(score**i for i in range(m + 1)), Verdict.REFUTED),),
    survivors={"beyond *": "degrees and scores beyond those tried; the multinomial theorem is argued"},
    expected="HOLDS ARGUED",
)
