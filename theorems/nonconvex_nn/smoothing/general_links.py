r"""What document 002 says around Algorithms 5 and 6: who needs them, what they require, and slips of their text.

Smoothness. |grad l(w) - grad l(v)| = |link(<w,x>) - link(<v,x>)| |x| <= G |w - v| for every G-Lipschitz link, with or
without kinks: the surrogate is an integral of the link, and G-smooth without any subgradient of the link. A line of
slope G attains it.

Subgradients. At a kink with slope a on its left and b on its right the regular subdifferential is [a, b], empty if a >
b; Clarke's is the hull of a and b, never empty.

Fast projections. Phi = sqrt(1/m) times m rows, drawn with replacement, of H D, H a Hadamard matrix of order d = 8 r and
D random signs. For x = (1, ..., 1, 0, ...)/sqrt(8), 8 ones on columns whose patterns are all of a Hadamard matrix of
order 8: with probability 16/256 the signs are a row of it or its opposite; then a share 1/8 of the rows of H meets it,
with square 8, and |Phi x|^2 = 8 K/m, K binomial with m trials and chance 1/8. So P(|Phi x| > 2) >= P(K > m/2)/16, which
falls like e^{-0.41 m}, and not like the Gaussian e^{-0.807 m}."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.bounded_link.phases import empty as algorithm_2
from theorems.tools.either import log
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided


def judge_smoothness(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(G) is the least smoothness constant of the surrogate for links with kinks, |x| <= 1."""
    tried = 0
    for size in given.values("G"):
        def link(z: Fraction, size: Fraction = size) -> Fraction:
            return max(-size, min(size, size * z))  # clip: kinks without a regular subgradient at 1

        grid = [Fraction(k, 4) for k in range(-8, 9)]
        rises = [abs(link(b) - link(a)) / abs(b - a) for a in grid for b in grid if a < b]
        tried += 1
        if says(size) != max(rises):
            return refuted("the gradient of the surrogate of a link with kinks has another Lipschitz constant", {
                "link": "G times the clip to [-1, 1], kinks at -1 and 1", "G": size, "x": 1,
                "largest difference quotient of the gradient": max(rises), "claimed": says(size)})
    size_, rise = given.symbol("G"), sympy.symbols("r", nonnegative=True)
    return proof(
        computed("|link(a) - link(b)| |x| <= G |a - b| |x| <= G |w - v|: G is enough, and a line attains it",
                 vanishes(says(size_) - size_) and never_negative(size_ * (1 + rise) - size_)),
        argued("<w - v, x> is at most |w - v|, and no subgradient of the link enters"),
        tried=tried,
    )


def judge_subgradient(says: Callable[[Any, Any], tuple[Any, Any]], given: Domain) -> Finding:
    """Whether the clip link, slope 1 on the left of 1 and 0 on its right, has no subgradient at 1."""
    low, high = says(Fraction(1), Fraction(0))
    if low <= high:
        return refuted("the link has a subgradient there", {
            "link": "clip to [-1, 1]", "at": 1, "slope on the left": 1, "on the right": 0,
            "a subgradient": (low + high) / 2})
    return instance("at 1 the clip link has no slope that supports it from below", {"low": low, "high": high})


def judge_required(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the requirement, a drop of the slope by at most says(slope), admits the links of Section 4.1.2."""
    tried = 0
    for point in given.points("left", "drop", at_most=60):
        left, right = point["left"], point["left"] * (1 - point["drop"])
        tried += 1
        if left - right > says(left):
            return refuted("a link without a subgradient at a point is not admitted", {
                "link": "a kink from a steeper to a flatter line", "slope on the left": left,
                "slope on the right": right, "largest drop admitted": says(left)})
    left_ = given.symbol("left")
    return proof(
        computed("any drop to a slope that is not negative is admitted, on symbols",
                 never_negative(says(left_) - left_ * given.chart("drop"))),
        argued("a link of Assumption 1 does not fall, so that no slope drops by more than itself"),
        tried=tried,
    )


_LINES_OF_5 = {
    1: "set k, partition the data, take w_0", 2: "for i", 3: "eta_i and w_i^1", 4: "for t", 5: "oracle and update",
    6: "end for", 7: "w_i is the average plus the noise zeta_i", 8: "end for",
}


def judge_line(says: int, given: Domain) -> Finding:
    """Whether the noise is in that line of Algorithm 5."""
    if "noise" not in _LINES_OF_5.get(says, ""):
        true = next(number for number, words in _LINES_OF_5.items() if "noise" in words)
        return refuted("another line draws the noise", {
            "claimed line": says, "that line": _LINES_OF_5.get(says, "none"), "line of the noise": true})
    return instance("the line of Algorithm 5 that draws the noise", {"line": says})


def stretched_often(rows: int) -> Fraction:
    """P(K > m/2)/16 for K binomial (m, 1/8): a lower bound on P(|Phi x| > 2) of the fast projection."""
    tail = sum(math.comb(rows, k) * 7 ** (rows - k) for k in range(rows // 2 + 1, rows + 1))
    return Fraction(tail, 8**rows) / 16


def judge_fast(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether P(|Phi x| > 2) <= e^(-says(m)) for Phi of rows of a randomised Hadamard matrix."""
    tried = 0
    for rows in (16, *given.values("m", most=64)):
        with ctx.workprec(128):
            claimed, tried = (-says(arb(rows))).exp(), tried + 1
            if ball(stretched_often(rows)) > claimed:
                return refuted("a record is stretched to more than twice its length more often, certified", {
                    "m": rows, "x": "eight equal entries", "probability, at least": stretched_often(rows),
                    "claimed": Enclosure.of_ball(claimed)})
    return undecided("no failure at these sizes", tried)


def judge_gaussian(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether P(|Phi x| > 2) <= e^(-says(m)) for Phi of Gaussians: chi^2_m > 4m."""
    tried = 0
    for rows in given.values("m", most=64):
        if rows < 1:
            return undecided("no projection", max(tried, 1))
        with ctx.workprec(128):
            half = arb(rows) / 2
            true = (4 * half).gamma_upper(half) / half.gamma()
            tried += 1
            if true > (-says(arb(rows))).exp():
                return refuted("the chi-square tail is heavier, certified", {
                    "m": rows, "probability": Enclosure.of_ball(true),
                    "claimed": Enclosure.of_ball((-says(arb(rows))).exp())})
    m = given.symbol("m")
    chernoff = 4 * sympy.Rational(3, 8) * m + m / 2 * sympy.log(1 - 2 * sympy.Rational(3, 8))
    return proof(
        argued("Markov's inequality for e^(l chi^2), whose mean is (1 - 2l)^(-m/2)"),
        computed("at l = 3/8 it is the claimed exponent",
                 vanishes(sympy.expand_log(chernoff, force=True) - says(m))),
        tried=tried,
    )


def judge_cost(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether T = 144 (n log n)^2, the steps of Algorithm 4 at gamma = B/(n log n), is at most says(n)."""
    tried = 0
    for n in (1000, *given.values("n", most=10**6)):
        with ctx.workprec(80):
            steps, tried = 144 * (arb(n) * arb(n).log()) ** 2, tried + 1
            if steps > ball(says(Fraction(n))):
                return refuted("Algorithm 4 takes more steps for one gradient, certified", {
                    "n": n, "T": Enclosure.of_ball(steps), "claimed": says(Fraction(n)),
                    "halvings of bisection": math.ceil(math.log2(2 * n * math.log(n)))})
    n_ = given.chart("n")
    return proof(argued("log n <= n - 1"), computed("144 (n (n - 1))^2 is at most the claimed number", never_negative(
        sympy.expand(says(n_) - 144 * (n_ * (n_ - 1)) ** 2))), tried=tried)


def judge_same(says: tuple[Callable[..., Any], Callable[..., Any]], given: Domain) -> Finding:
    """Whether two rates in (n, epsilon, theta or m, log(1/delta)) are one expression."""
    names = ("n", "epsilon", "theta", "log")
    tried = 0
    for point in given.points(*names, at_most=20):
        values = [sympy.Rational(str(Fraction(point[name]))) for name in names]
        one, other = (sympy.simplify(rate(*values)) for rate in says)
        tried += 1
        if sympy.simplify(one - other) != 0:
            return refuted("two rates", {**{name: point[name] for name in names}, "one": one, "other": other})
    symbols = [given.symbol(name) for name in names]
    return proof(computed("one expression", vanishes(says[0](*symbols) - says[1](*symbols))), tried=tried)


_NONSMOOTH = (
    r"Since the surrogate loss function, in this case, becomes non-smooth, the issue lies in finding a method to make "
    r"it smooth."
)
_SUBGRADIENT = (
    r"However, unlike the convex case, this assumption may not always hold since some non-convex functions may have no "
    r"subgradient at some point."
)
_FAST = r"Sample a fast JL matrix $\Phi \in \mathbb{R}^{m \times d}$"
_EFFICIENT = r"In the following, we propose an algorithm that can efficiently approximate $\nabla f_\beta(w; x, y)$."
_SAME = (
    r"We will address this case and demonstrate that it is possible to achieve the same bounds as in Theorem 1 and "
    r"Theorem 2 (but with higher time complexity)."
)
_AT_LEAST_2 = positive_integer("n").at_least(2)

nonsmooth = Claim(
    id="nonconvex-nn/sec-4.1.2-nonsmooth", source="002, Section 4.1.2: the premise, for links of Assumption 1",
    quote=_NONSMOOTH, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\sigma \text{ without a subgradient somewhere} \Rightarrow \ell \text{ is not smooth}",
    words="the surrogate loss of a Lipschitz link with a kink has no finite smoothness constant",
    hypotheses=(positive("G"),), says=lambda size: sympy.oo, check=judge_smoothness, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert \nabla\ell(w) - \nabla\ell(v) \rVert \le G \lVert w - v \rVert",
        words="the surrogate loss of any G-Lipschitz link is G-smooth, and no less: Algorithm 2 needs no smoothing",
        says=lambda size: size, expected="HOLDS ARGUED",
        flips=(Flip("2G", lambda size: 2 * size, Verdict.REFUTED),),
    ),
)
subgradient = Claim(
    id="nonconvex-nn/clarke-subgradient", source="002, Section 4.1.2: links without a subgradient", quote=_SUBGRADIENT,
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\exists \sigma, z: \partial\sigma(z) = \emptyset",
    words="some Lipschitz monotone link has no subgradient at some point: true of regular ones, false of Clarke's",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/clarke-subgradient-reading-regular", "nonconvex-nn/clarke-subgradient-reading-clarke"),
    expected="AMBIGUOUS PROVED",
)
regular = Claim(
    id="nonconvex-nn/clarke-subgradient-reading-regular",
    source="002, Section 4.1.2, subgradients as for convex functions",
    quote=_SUBGRADIENT, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\partial\,\mathrm{clip}(1) = \{s : 1 \le s \le 0\} = \emptyset",
    words="the clip link has no regular subgradient at 1", hypotheses=(), says=lambda left, right: (left, right),
    check=judge_subgradient,
    flips=(Flip("Clarke's", lambda left, right: (min(left, right), max(left, right)), Verdict.REFUTED),),
    expected="HOLDS PROVED",
    true_variants={"1 % *": "still empty", "squared": "1 and 0 are their squares"},
)
clarke = Claim(
    id="nonconvex-nn/clarke-subgradient-reading-clarke", source="002, Section 4.1.2, Clarke's subgradients",
    quote=_SUBGRADIENT, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\partial_C\,\mathrm{clip}(1) = \emptyset", words="the clip link has no Clarke subgradient at 1",
    hypotheses=(), says=lambda left, right: (min(left, right), max(left, right)), check=judge_subgradient,
    flips=(Flip("regular ones", lambda left, right: (left, right), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/clarke-subgradient-reading-regular", expected="REFUTED PROVED",
)
required = Claim(
    id="nonconvex-nn/alg-5-6-differentiable", source="002, Algorithms 5 and 6: what they require of the link",
    quote=r"link function σ satisfies Assumption 1 and is differentiable", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\sigma'(z-) = \sigma'(z+)",
    words="Algorithms 5 and 6, which require a differentiable link, admit the links that they are for",
    hypotheses=(positive("left"), Parameter("drop", low=Fraction(0), high=Fraction(1), low_open=True)),
    says=lambda left: 0 * left, check=judge_required,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"0 \le \sigma'(z+) \text{ and no more}",
        words="Algorithms 5 and 6 require no more than Assumption 1: the slope may drop by all of itself",
        says=lambda left: left, expected="HOLDS ARGUED", true_variants={"1 % more": "no less is admitted"},
    ),
)
line = Claim(
    id="nonconvex-nn/alg-6-line-number", source="002, Algorithm 6, line 2: the line of Algorithm 5 with the noise",
    quote=r"Run Algorithm 5 on the projected dataset \tilde{D} , where in Line 8, $\zeta_i \sim \mathcal{N}(0, "
          r"\tau_i^2 "
          r"\mathbb{I}_m)$", whose=Whose.TYPO, statement=r"\zeta_i \text{ is drawn in line } 8 \text{ of Algorithm 5}",
    words="line 8 of Algorithm 5 draws the noise", hypotheses=(), says=8, check=judge_line, expected="REFUTED PROVED",
    repair=Repair(statement=r"\zeta_i \text{ is drawn in line } 7", words="line 7 of Algorithm 5 draws the noise",
                  says=7,
                  expected="HOLDS PROVED"),
)
fast = Claim(
    id="nonconvex-nn/alg-6-fast-jl", source="002, Algorithm 6, line 1: fast JL matrix, where others have a JL matrix",
    quote=_FAST, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\Pr(\lVert \Phi x \rVert > 2) \le e^{-m(3 - \log 4)/2}",
    words="the projection stretches a record beyond 2 as rarely as a Gaussian one: true of Gaussians, false of rows "
          "of a "
          "randomised Hadamard matrix",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/alg-6-fast-jl-reading-gaussian", "nonconvex-nn/alg-6-fast-jl-reading-hadamard"),
    expected="AMBIGUOUS ARGUED",
)
_EXPONENT = lambda m: m * (3 - log(4 + 0 * m)) / 2  # noqa: E731  # log 4 of m's own kind
gaussian = Claim(
    id="nonconvex-nn/alg-6-fast-jl-reading-gaussian",
    source="002, Algorithm 6 with the Gaussian matrix of Definition 6",
    quote=_FAST, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\Pr(\chi^2_m > 4m) \le e^{-m(3 - \log 4)/2}",
    words="a Gaussian projection stretches a record beyond 2 with probability at most e^(-m (3 - log 4)/2)",
    hypotheses=(positive_integer("m"),), says=_EXPONENT, check=judge_gaussian,
    flips=(Flip("twice the exponent", lambda m: m * (3 - log(4 + 0 * m)), Verdict.REFUTED),), expected="HOLDS ARGUED",
    true_variants={"+ -> - (operator 2)": "it adds 0",
                   "only at argument 0 = 1": "one row has room: P(chi^2_1 > 4) = .046"},
)
hadamard = Claim(
    id="nonconvex-nn/alg-6-fast-jl-reading-hadamard",
    source="002, Algorithm 6 with rows of a randomised Hadamard matrix, drawn with replacement",
    quote=_FAST, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\Pr(\lVert \Phi x \rVert > 2) \le e^{-m(3 - \log 4)/2}",
    words="a subsampled randomised Hadamard matrix stretches a record beyond 2 as rarely as a Gaussian one",
    hypotheses=(positive_integer("m"),), says=_EXPONENT, check=judge_fast,
    flips=(Flip("a quarter of the exponent", lambda m: m * (3 - log(4 + 0 * m)) / 8, Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/alg-6-fast-jl-reading-gaussian", expected="REFUTED PROVED",
)
phases = replace(
    algorithm_2, id="nonconvex-nn/alg-5-empty-phase",
    source="002, Algorithm 5, line 1: k = ceil(log2 n) phases of floor(n/2^i)",
    quote=r"Set $k = \lceil \log_2(n) \rceil$, partite the whole dataset S into k subsets $\{D_1, \dots, D_k\}$.",
    severity=Stake.PROOF, words="every phase of Algorithm 5 has a record", uses=("nonconvex-nn/alg-2-empty-phase",),
    repair=algorithm_2.repair and replace(algorithm_2.repair, source="002, Algorithm 5, with k = floor(log2 n)"),
)
cost = Claim(
    id="nonconvex-nn/alg-4-cost", source="002, Section 4.1.2: Algorithm 4 is efficient", quote=_EFFICIENT,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"T = 144 (n \log n)^2",
    words="Algorithm 4 approximates gradients efficiently: in polynomial time, yes; in the time of bisection, no",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/alg-4-cost-reading-polynomial", "nonconvex-nn/alg-4-cost-reading-logarithmic"),
    expected="AMBIGUOUS ARGUED",
)
cost_polynomial = Claim(
    id="nonconvex-nn/alg-4-cost-reading-polynomial", source="002, Algorithm 4 at gamma = B/(n log n): polynomial",
    quote=_EFFICIENT, whose=Whose.READING, severity=Stake.UTILITY, statement=r"T \le 144 n^4",
    words="Algorithm 4 takes at most 144 n^4 steps a gradient (in fact 144 (n log n)^2)", hypotheses=(_AT_LEAST_2,),
    says=lambda n: 144 * n**4, check=judge_cost,
    flips=(Flip("144 n^2", lambda n: 144 * n**2, Verdict.REFUTED),),
    true_variants={"1 % more": "more is more", "squared": "more is more", "144 -> 145*": "more", "4 -> 5*": "more"},
    expected="HOLDS ARGUED",
)
cost_logarithmic = Claim(
    id="nonconvex-nn/alg-4-cost-reading-logarithmic",
    source="002, Algorithm 4 at gamma = B/(n log n): no slower than n halvings, of which bisection needs log2(2 n log "
           "n)",
    quote=_EFFICIENT, whose=Whose.READING, severity=Stake.UTILITY, statement=r"T \le n",
    words="Algorithm 4 takes at most n steps a gradient, at its error gamma = B/(n log n)", hypotheses=(_AT_LEAST_2,),
    says=lambda n: n, check=judge_cost, repaired_by="nonconvex-nn/alg-4-cost-reading-polynomial",
    flips=(Flip("144 n^4", lambda n: 144 * n**4, Verdict.HOLDS),), expected="REFUTED PROVED",
)
_RATE = (Parameter("n", "integer", low=Fraction(1)), Parameter("epsilon", low=Fraction(0), high=Fraction(1),
                                                               low_open=True),
         positive("theta"), positive("log", "log(1/delta)"))
same = Claim(
    id="nonconvex-nn/sec-4.1.2-same-bounds", source="002, Section 4.1.2: (3) is the bound of Theorem 1", quote=_SAME,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{\sqrt{\theta\log(1/\delta)}}{n\epsilon} + \frac{1}{\sqrt n} = \frac{1}{\sqrt n} +"
              r" \frac{\sqrt{\theta\log(1/\delta)}}{n\epsilon}",
    words="Theorem 4 states the rate of Theorem 1", hypotheses=_RATE,
    says=(lambda n, epsilon, theta, level: sympy.sqrt(theta * level) / (n * epsilon) + 1 / sympy.sqrt(n),
          lambda n, epsilon, theta, level: 1 / sympy.sqrt(n) + sympy.sqrt(theta * level) / (n * epsilon)),
    check=judge_same,
    flips=(Flip("theta for its root", (
        lambda n, epsilon, theta, level: theta * sympy.sqrt(level) / (n * epsilon) + 1 / sympy.sqrt(n),
        lambda n, epsilon, theta, level: 1 / sympy.sqrt(n) + sympy.sqrt(theta * level) / (n * epsilon)),
        Verdict.REFUTED),),
    true_variants={"any theta": "equal for all numbers", "any log": "equal for all numbers"},
    uses=("nonconvex-nn/thm-1-utility",),
    expected="HOLDS PROVED",
)
