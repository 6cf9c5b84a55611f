r"""One phase of SGD (document 002, Lemmas 8 and 9): how much its average may lose against any point chosen before it.

A phase starts at w^1, takes n steps w^{t+1} = w^t - eta g^t and averages w^1, ..., w^n; z is the point of comparison
(wbar_{i-1}, or w* in the first phase), q bounds |x|^2 (of records, or of projected ones). The gradients lie in the span
V of the records, so for the semi-norm of V, exactly, |w^{t+1} - z|_V^2 = |w^t - z|_V^2 - 2 eta <g^t, w^t - z> + eta^2
|g^t|^2, and |g^t|^2 <= 4 B^2 q. Summed over t and divided by 2 eta n; in expectation <g^t, w^t - z> is at least
L(w^t) - L(z), as the t-th record is fresh and L is convex; L of the average is at most the average:

    E[L(wbar) - L(z)] <= E|w^1 - z|_V^2/(2 eta n) + 2 B^2 q eta.

Nothing is assumed about eta. The constant is the least one: let the link be the clip to [-B, B], all records x with
|x|^2 = q, the label -B (w* has a score of -B or less: the model is well-specified), and all scores of the phase at
least B, where the loss is linear, with the gradient 2B x. From w^1 = z + 2 B eta n x the two sides are equal, for every
n. For records that a projection stretches to 2 that is 8 B^2 eta. On average over the projection it is 2 B^2 eta again,
since a record that is fresh given the projection has E|Phi x|^2 = |x|^2 <= 1; with the start z + 2 B eta n Phi x the
two sides are equal for every projection, with |Phi x|^2 for q. So no event and no logarithm is needed there.

With eta in place of eta_i in the first term, as printed, that term is 4^i times too small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Bound = Mapping[str, Callable[..., Any]]
"""What stands before |w^1 - z|^2, by (eta_i, eta, n_i), and what is added, by (B, eta_i)."""


def phase(bound: Fraction, eta: Fraction, n: int, square: Fraction, reach: Fraction) -> tuple[Fraction, Fraction]:
    """L(wbar) - L(z) and |w^1 - z|^2 of a phase whose start is z + reach x; scores are followed one by one."""
    def loss(score: Fraction) -> Fraction:  # int_0^score (clip - y), y = -B, for a score of at least B
        return bound**2 / 2 + bound * (score - bound) + bound * score

    compared = bound + 2 * bound * eta * n * square  # the score of z
    score, total = compared + reach * square, Fraction(0)
    for _ in range(n):
        total += score
        link = max(-bound, min(bound, score))
        score -= eta * (link + bound) * square
    return loss(total / n) - loss(compared), reach**2 * square


def judge_phase(says: Bound, given: Domain) -> Finding:
    """Whether E[L(wbar) - L(z)] <= start(eta_i, eta, n) E|w^1 - z|^2 + added(B, eta_i), in the first phase."""
    tried = 0
    most = given["square"].high or Fraction(1)
    for point in led(given, at_most=250, B="1", eta="1/4", n=4, square=most):
        bound, eta, n, square = point["B"], point["eta"], point["n"], point["square"]
        start, added = says["start"](eta, 4 * eta, n), says["added"](bound, eta)
        for reach in (2 * bound * eta * n, 8 * bound * eta * n):
            gained, apart = phase(bound, eta, n, square, reach)
            tried += 1
            if gained > start * apart + added:
                return refuted("a phase on one record, all scores where the loss is linear, is against it", {
                    "B": bound, "eta_i": eta, "n_i": n, "|x|^2": square, "start": "z + reach x", "reach": reach,
                    "L(wbar) - L(z)": gained, "bound": start * apart + added})
    bound_, eta_, n_ = (given.symbol(name) for name in ("B", "eta", "n"))
    square_ = given.chart("square")
    g, w = sympy.symbols("g_1 g_2 g_3", real=True)[:2], sympy.symbols("w_1 w_2 w_3", real=True)
    inside = sum((a - eta_ * b) ** 2 - a**2 + 2 * eta_ * a * b - eta_**2 * b**2 for a, b in zip(w, g, strict=False))
    return proof(
        computed("|w - eta g - z|_V^2 = |w - z|_V^2 - 2 eta <g, w - z> + eta^2 |g|^2 for g in the span of V",
                 vanishes(inside)),
        computed("1/(2 eta_i n_i) is at most what stands before the distance",
                 never_negative(says["start"](eta_, 4 * eta_, n_) - 1 / (2 * eta_ * n_))),
        computed("eta_i (2B)^2 |x|^2/2 is at most what is added, for the longest record",
                 never_negative(says["added"](bound_, eta_) - eta_ * (2 * bound_) ** 2 * square_ / 2)),
        argued("the t-th record is fresh, so that <g, w - z> has the mean <grad L(w), w - z> >= L(w) - L(z); sums "
               "telescope, and L of an average is at most the average of L"),
        tried=tried,
    )


def judge_least(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(B, eta) is the least that can be added, over all |x|^2 of the hypotheses: it is attained."""
    top, tried = given["square"].high, 0
    if top is None:
        return undecided("records of any length need no finite constant", 1)
    for point in given.points("B", "eta", "n", "square", at_most=250):
        bound, eta, n = point["B"], point["eta"], point["n"]
        gained, apart = phase(bound, eta, n, top, 2 * bound * eta * n)
        needed = gained - apart / (2 * eta * n)
        tried += 1
        if says(bound, eta) != needed:
            return refuted("another constant is the least", {
                "B": bound, "eta_i": eta, "n_i": n, "|x|^2": top, "claimed": says(bound, eta), "needed": needed})
    bound_, eta_, n_ = (given.symbol(name) for name in ("B", "eta", "n"))
    square_ = sympy.Rational(top.numerator, top.denominator)
    reach = 2 * bound_ * eta_ * n_
    gained_ = 2 * bound_ * square_ * (reach - bound_ * eta_ * (n_ - 1))
    return proof(
        computed("on the linear part the average is reach - B eta (n - 1) along x from z, so that equality needs this "
                 "constant, for every n",
                 vanishes(gained_ - reach**2 * square_ / (2 * eta_ * n_) - says(bound_, eta_))),
        argued("the link is a clip, and the label that of a w* beyond its ramp: the model is well-specified"),
        tried=tried,
    )


def judge_radius(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(B, R, eta) may be added for every R of the hypotheses, |x| <= 1."""
    tried = 0
    for point in led(given, R="1/2", B="1", eta="1/4", n=4):
        radius, bound, eta, n = point["R"], point["B"], point["eta"], point["n"]
        gained, apart = phase(bound, eta, n, Fraction(1), 2 * bound * eta * n)
        needed = gained - apart / (2 * eta * n)
        tried += 1
        if says(bound, radius, eta) < needed:
            return refuted("with an R below 1 the term is too small", {
                "R": radius, "B": bound, "eta_i": eta, "n_i": n, "claimed": says(bound, radius, eta),
                "needed": needed})
    radius_, bound_, eta_ = given.symbol("R"), given.symbol("B"), given.symbol("eta")
    return proof(computed("2 B^2 eta is at most the claimed term, whatever R",
                          never_negative(says(bound_, radius_, eta_) - 2 * bound_**2 * eta_)), tried=tried)


_LEMMA = (
    r"For each epoch i we have $\mathbb{E}[L_{\mathcal{P}}^\ell(\bar{w}_i) - L_{\mathcal{P}}^\ell(\bar{w}_{i-1})] \leq "
    r"\frac{\mathbb{E}\|\bar{w}_{i-1} - w_{i-1}\|_V^2}{2\eta n_i} + 2B^2\eta_i$."
)
_PHASE = (positive("B"), positive("eta", "eta_i"), positive_integer("n", "n_i"))
_SHORT = (*_PHASE, unit_interval("square", "|x|^2"))
_LONG = (*_PHASE, Parameter("square", low=Fraction(0), high=Fraction(4), meaning="|Phi x|^2"))
_MEAN = (*_PHASE, unit_interval("square", "the mean of |Phi x|^2 over Phi, which is |x|^2"))
_RIGHT: Bound = {"start": lambda step, base, n: 1 / (2 * step * n), "added": lambda bound, step: 2 * bound**2 * step}
_LOOSE = {"*1 % more": "a larger bound is one, too", "*start] 1 -> 2*": "a larger bound is one, too"}

lemma_8 = Claim(
    id="nonconvex-nn/lem-8", source="002, Lemma 8, with eta (the base step) under the distance",
    quote=_LEMMA, whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"\mathbb{E}[L^\ell(\bar w_i) - L^\ell(\bar w_{i-1})] \le \frac{\mathbb{E}\lVert\bar w_{i-1} - w_{i-1}"
              r"\rVert_V^2}{2\eta n_i} + 2B^2\eta_i",
    words="a phase loses at most |start - z|^2/(2 eta n_i) + 2 B^2 eta_i, eta being 4^i eta_i",
    hypotheses=_SHORT, says={**_RIGHT, "start": lambda step, base, n: 1 / (2 * base * n)}, check=judge_phase,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}[L^\ell(\bar w_i) - L^\ell(z)] \le \frac{\mathbb{E}\lVert z - w_{i-1}\rVert_V^2}"
                  r"{2\eta_i n_i} + 2B^2\eta_i",
        words="a phase loses at most |start - z|_V^2/(2 eta_i n_i) + 2 B^2 eta_i in expectation against any point z "
              "that is chosen before it",
        says=_RIGHT, expected="HOLDS ARGUED", source="002, Lemma 8, with eta_i as in its proof",
        flips=(Flip("B^2 eta_i", {**_RIGHT, "added": lambda bound, step: bound**2 * step}, Verdict.REFUTED),),
        rests_on=("nonconvex-nn/lem-2",), true_variants=_LOOSE,
    ),
)
sharp = Claim(
    id="nonconvex-nn/lem-8-sharp", source="a finding of ours: the constant of 002, Lemma 8 is the least one",
    statement=r"\text{equality for } w_{i-1} = z + 2B\eta_i n_i x \text{ on the flat part of a clip link, for every }"
              r" n_i",
    words="2 B^2 eta_i is the least that Lemma 8 can add, for every n_i, in the well-specified model as well",
    severity=Stake.UTILITY,
    hypotheses=_SHORT, says=lambda bound, step: 2 * bound**2 * step, check=judge_least,
    flips=(Flip("19 B^2 eta/10", lambda bound, step: Fraction(19, 10) * bound**2 * step, Verdict.REFUTED),
           Flip("3 B^2 eta", lambda bound, step: 3 * bound**2 * step, Verdict.REFUTED)),
    rests_on=("nonconvex-nn/lem-8-repaired",),
    expected="HOLDS ARGUED",
)
lemma_9 = Claim(
    id="nonconvex-nn/lem-9", source="002, Lemma 9: the same on projected records (one projection, or on average)",
    quote=(
        r"For each epoch i we have $\mathbb{E}[L_{\mathcal{P}'}^{\ell}(\bar{w}_i) - L_{\mathcal{P}'}^{\ell}("
        r"\bar{w}_{i-1})] \leq \frac{\mathbb{E}\|\bar{w}_{i-1} - w_{i-1}\|_2^2}{2\eta_i n_i} + 2B^2\eta_i$."
    ),
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\mathbb{E}[L^\ell_{\mathcal{P}'}(\bar w_i) - L^\ell_{\mathcal{P}'}(\bar w_{i-1})] \le"
              r" \frac{\mathbb{E}\lVert\bar w_{i-1} - w_{i-1}\rVert_2^2}{2\eta_i n_i} + 2B^2\eta_i",
    words="a phase on projected records loses at most |start - z|^2/(2 eta_i n_i) + 2 B^2 eta_i",
    hypotheses=_LONG, says=None, check=None,
    readings=("nonconvex-nn/lem-9-reading-fixed", "nonconvex-nn/lem-9-averaged"),
    expected="AMBIGUOUS ARGUED",
)
fixed = Claim(
    id="nonconvex-nn/lem-9-reading-fixed", source="002, Lemma 9 for one projection that keeps records at most 2 long",
    quote=lemma_9.quote, whose=Whose.READING, severity=Stake.PROOF, statement=lemma_9.statement,
    words="for one projection that keeps records at most 2 long a phase loses at most |start - z|^2/(2 eta_i n_i) + "
          "2 B^2 eta_i",
    hypotheses=_LONG, says=_RIGHT, check=judge_phase,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=lemma_9.statement.replace("2B^2", "8B^2"),
        words="for one projection that keeps records at most 2 long a phase loses at most "
              "|start - z|^2/(2 eta_i n_i) + 8 B^2 eta_i",
        says={**_RIGHT, "added": lambda bound, step: 8 * bound**2 * step}, expected="HOLDS ARGUED",
        source="002, Lemma 9, with |Phi x|^2 <= 4",
        flips=(Flip("7 B^2 eta", {**_RIGHT, "added": lambda bound, step: 7 * bound**2 * step}, Verdict.REFUTED),),
        rests_on=("nonconvex-nn/thm-2-smooth",),
        true_variants={**_LOOSE, "*8 -> 9*": "a larger bound is one, too"},
    ),
)
fixed_sharp = replace(
    sharp, id="nonconvex-nn/lem-9-fixed-sharp", source="a finding of ours: 8 B^2 is the least for one projection",
    words="for one projection with |Phi x| <= 2, 8 B^2 eta_i is the least that Lemma 9 can add, for every n_i",
    hypotheses=_LONG, says=lambda bound, step: 8 * bound**2 * step,
    flips=(Flip("2 B^2 eta, as printed", lambda bound, step: 2 * bound**2 * step, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/lem-9-reading-fixed-repaired",),
)
averaged = replace(
    fixed, id="nonconvex-nn/lem-9-averaged", source="002, Lemma 9 in expectation over the projection as well",
    words="on average over the projection a phase loses at most E|start - z|^2/(2 eta_i n_i) + 2 B^2 eta_i: no event "
          "and no logarithm is needed",
    hypotheses=_MEAN, expected="HOLDS ARGUED", repair=None,
    flips=(Flip("B^2 eta", {**_RIGHT, "added": lambda bound, step: bound**2 * step}, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/lem-2", "nonconvex-nn/thm-2-second-moment"), true_variants=_LOOSE,
)
averaged_sharp = replace(
    sharp, id="nonconvex-nn/lem-9-averaged-sharp", source="a finding of ours: 2 B^2 is the least on average as well",
    words="on average over the projection 2 B^2 eta_i is the least that Lemma 9 can add, for every n_i",
    hypotheses=_MEAN, rests_on=("nonconvex-nn/lem-9-averaged",),
)
radius = Claim(
    id="nonconvex-nn/thm-1-proof-R", source="002, proofs of Theorems 1 and 2: 2 B^2 R^2 eta_1, R undefined",
    quote=r"\frac{\|w_0 - w_\ell^*\|_2^2}{2\eta_1 n_1} + 2B^2 R^2 \eta_1", whose=Whose.TYPO,
    statement=r"2B^2\eta_1 \le 2B^2R^2\eta_1 \text{ for every } R > 0",
    words="the term of the first phase is at most 2 B^2 R^2 eta_1 for a number R that is not defined",
    hypotheses=(positive("R"), *_PHASE), says=lambda bound, radius, step: 2 * bound**2 * radius**2 * step,
    check=judge_radius,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"2B^2\eta_1 \quad (R = 1)",
        words="the term of the first phase is 2 B^2 eta_1: R is the bound 1 on |x|",
        says=lambda bound, radius, step: 2 * bound**2 * step, expected="HOLDS ARGUED",
        source="002, proofs of Theorems 1 and 2 with R = 1", rests_on=("nonconvex-nn/lem-8-repaired",),
        true_variants={"1 % more": "a larger term is one, too", "any R": "it does not enter"},
    ),
)


def judge_display(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether |w - eta g - z|_V^2 - |w - z|_V^2 is says(eta, <g, w - z>, |g|^2), for g in the span V of two axes."""
    tried = 0
    for eta in given.values("eta"):
        for apart, g in (((1, 2, 5), (3, -1, 0)), ((0, 0, 1), (1, 1, 0)), ((2, 0, 0), (0, 0, 0))):
            inner, square = (sum(a * b for a, b in zip(g, other, strict=True)) for other in (apart, g))
            moved = sum(((a - eta * b) ** 2 - a**2 for a, b in zip(apart[:2], g[:2], strict=True)), Fraction(0))
            tried += 1
            if says(eta, Fraction(inner), Fraction(square)) != moved:
                return refuted("the semi-norm changes by another amount", {
                    "eta": eta, "w - z": ", ".join(map(str, apart)), "g": ", ".join(map(str, g)), "V": "e_1, e_2",
                    "claimed": says(eta, Fraction(inner), Fraction(square)), "change": moved})
    eta_, a, b, c, g, h = given.symbol("eta"), *(sympy.Symbol(name, real=True) for name in "abcgh")
    change = (a - eta_ * g) ** 2 + (b - eta_ * h) ** 2 - a**2 - b**2
    return proof(
        computed("with the part across V, c, which neither semi-norm nor gradient sees", vanishes(
            change - says(eta_, a * g + b * h + c * 0, g**2 + h**2))),
        argued("V has any number of axes: both sides are sums over them"),
        tried=tried,
    )


display = Claim(
    id="nonconvex-nn/lem-8-display", source="002, proof of Lemma 8, first line: an equality",
    quote=(
        r"\Phi^{t+1} &= \Phi^t - 2\eta \langle \nabla \ell(w^t; x^t, y^t), w^t - \bar{w}_{i-1} \rangle + \eta^2 "
        r"\|\nabla \ell(w^t; x^t, y^t)\|_2^2"
    ),
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\lVert w - \eta g - z\rVert_V^2 = \lVert w - z\rVert_V^2 - 2\eta\langle g, w - z\rangle +"
              r" \eta^2\lVert g\rVert_2^2,\ g \in \mathrm{span}(V)",
    words="the squared semi-norm changes by exactly -2 eta <g, w - z> + eta^2 |g|^2, as the gradient lies in V",
    hypotheses=(positive("eta"),), says=lambda step, inner, square: -2 * step * inner + step**2 * square,
    check=judge_display,
    flips=(Flip("without the square", lambda step, inner, square: -2 * step * inner, Verdict.REFUTED),),
    true_variants={"any eta": "an identity of polynomials"},
    expected="HOLDS ARGUED",
)
