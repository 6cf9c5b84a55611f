r"""The utility of Theorem 6 of document 002: ReLU regression by noisy projected descent on projected records.

From v_1 = 0, z = Phi x, Phi an m x d matrix of independent N(0, 1/m), the ball of radius R = 2W, the mean of v_1, ...,
v_T lifted by Phi^T. In expectation over records, noise and Phi, for every step eta and every variance sigma^2,

    E L - L(w*) <= 2 [ W^2/(2 eta T) + eta (M^2 + m sigma^2)/2 + 4WM/sqrt(n) + W^2 (sqrt(1/m) + c_m)^2 ],
    M = 2W sqrt(1 + 2/m) + B,      c_m = sqrt(2) (1 + 2/m)^(1/2) (4 e^-3)^(m/8).

Proof. The surrogate l(v) = E int_0^{<v,z>} (relu(s) - y) ds is convex, and L(Phi^T v) - L(w*) <= 2 (l(v) - l(w*)),
l(w*) without projection (relu-lem-3, given x). |z|^2 is |x|^2 chi^2_m/m, so E|z|^2 <= 1 and E|z|^4 <= 1 + 2/m; on the
ball a record's gradient is at most R|z|^2 + B|z|, of root mean square at most M (Minkowski). Let u be Phi w* projected
on the ball: |u| <= |Phi w*|, E|u|^2 <= W^2.
- Regret: |v_{t+1} - u|^2 <= |v_t - u|^2 - 2 eta <g_t + zeta_t, v_t - u> + eta^2 |g_t + zeta_t|^2, zeta_t independent of
  v_t; summed and by convexity the mean of l_D(v_t) - l_D(u) is at most E|u|^2/(2 eta T) + eta (M^2 + m sigma^2)/2, l_D
  the empirical surrogate.
- Generalisation: uniformly over the ball, twice the Rademacher complexity; by contraction with each record's own
  Lipschitz constant R|z_i| + B at most (2R/n) E sqrt(sum (R|z_i| + B)^2 |z_i|^2) <= 2RM/sqrt(n). u does not depend on
  the records.
- Projection: l(u) - l(w*) <= E(<u,z> - <w*,x>)^2/2, as l is 1-smooth in the score and w* minimises the surrogate given
  x. With Phi w* for u the mean square is (|w*|^2 |x|^2 + <w*,x>^2)/m <= 2W^2/m; the rest, |Phi w* - u| |z|, is 0 unless
  |Phi w*| > 2W, with mean square at most (E[|Phi w*|^4; |Phi w*| > 2W] E|z|^4)^(1/2), and E[...] <= W^4 (1 + 2/m) 16 (4
  e^-3)^(m/2), from 1[c > 4m] <= e^{3(c - 4m)/8} and E c^2 e^{3c/8} = m (m+2) 4^(m/2+2) for c = chi^2_m. Minkowski adds
  them up.

At sigma^2 of Theorem 6, m = log(n/delta) (n epsilon)^(2/3), T = min(n, (n epsilon)^2/(m log(1/delta))) and eta =
1/sqrt(T) that is O~(1/sqrt(n) + sqrt(log(1/delta))/(n epsilon)^(2/3)). Without a projection, Phi = I and m = d, the
projection's term is 0 and the same choice gives 1/sqrt(n) + sqrt(d log(1/delta))/(n epsilon): the other branch of the
introduction, for which the document states no algorithm.

T = 1 = O(...): the mean of v_1 alone is 0, whatever the data are.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import root
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

_CONSTANT = 4000  # what O hides, at W = B = 1


def risk(n: arb, rows: arb, steps: arb, variance: arb, *, projected: bool) -> arb:
    """The explicit bound at W = B = 1 and eta = 1/sqrt(T)."""
    fourth = (1 + 2 / rows).sqrt() if projected else arb(1)
    gradient = 2 * fourth + 1
    lost = (1 / rows).sqrt() + arb(2).sqrt() * fourth * ((arb(4).log() - 3) * rows / 8).exp() if projected else arb(0)
    eta = 1 / steps.sqrt()
    return 2 * (1 / (2 * eta * steps) + eta * (gradient**2 + rows * variance) / 2 + 4 * gradient / n.sqrt() + lost**2)


def scheduled(n: arb, epsilon: arb, level: arb, rows: arb, *, projected: bool) -> arb | None:
    """The bound with the theorem's T and noise; None where T would be below 1."""
    steps = n.min((n * epsilon) ** 2 / (rows * level))
    if not steps >= 1:
        return None
    variance = 32 * 25 * steps * (level + arb(2).log()) / (n * epsilon) ** 2
    return risk(n, rows, steps, variance, projected=projected)


def judge_rate(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether the bound is at most 4000 log(e^2 n/delta) says(n, epsilon, log(1/delta)); epsilon = 1/sqrt(n), too."""
    tried = 0
    if given["n"].low is None or given["epsilon"].high is None or given["log"].low is None:
        return undecided("no records, no private regime, or no delta below 1", 1)
    with ctx.workprec(80):
        for point in given.points("n", "epsilon", "log", at_most=80):
            for factor, path in ((10**6, False), (10**24, False), (10**24, True), (10**60, True)):
                n, level = arb(point["n"]) * factor, ball(point["log"])
                epsilon = 1 / n.sqrt() if path else ball(point["epsilon"])
                deep = n.log() + level + 2
                rows = 3 * deep * (2 * (n * epsilon).log() / 3).exp()
                true = scheduled(n, epsilon, level, rows, projected=True) if n * epsilon > 1 else None
                told = says(n, epsilon, level)
                tried += 1
                if true is not None and not true <= _CONSTANT * deep * told:
                    return refuted("the derived bound has another order", {
                        "n": point["n"] * factor, "epsilon": Enclosure.of_ball(epsilon), "log(1/delta)": point["log"],
                        "derived": Enclosure.of_ball(true), "claimed": Enclosure.of_ball(_CONSTANT * deep * told)})
    m, free = sympy.symbols("m l", positive=True)
    transform = (1 - 2 * free) ** (-m / 2)  # E e^(l chi^2_m)
    second = sympy.simplify(sympy.diff(transform, free, 2).subs(free,
                                                                sympy.Rational(3, 8)) - m * (m + 2) * 4 ** (m / 2 + 2))
    return proof(
        computed("E chi^4 e^(3 chi^2/8) = m (m+2) 4^(m/2+2), from the Laplace transform", vanishes(second)),
        computed("E chi^4 = m (m+2), so E|z|^4 = (1 + 2/m) |x|^4",
                 vanishes(sympy.diff(transform, free, 2).subs(free, 0) - m * (m + 2))),
        sampled("the explicit bound is at most 4000 log(e^2 n/delta) times the rate", True),
        argued("regret, generalisation and projection: the module docstring"),
        study_step("relu-descent"), study_step("relu-descent-rank"), study_step("relu-descent-statistical"),
        tried=tried,
    )


def judge_branch(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether Algorithm 7 with Phi = I has a bound of at most 4000 says(n, epsilon, d, log(1/delta))."""
    tried = 0
    if any(given[name].low is None for name in ("n", "d", "log")) or given["epsilon"].high is None:
        return undecided("no records, no private regime, or no delta below 1", 1)
    with ctx.workprec(80):
        for point in given.points("n", "epsilon", "d", "log", at_most=80):
            for factor, path in ((10**6, False), (10**24, False), (10**40, True)):
                n, level, d = arb(point["n"]) * factor, ball(point["log"]), arb(point["d"])
                epsilon = (-7 * n.log() / 10).exp() if path else ball(point["epsilon"])
                true, told = scheduled(n, epsilon, level, d, projected=False), says(n, epsilon, d, level)
                tried += 1
                if true is not None and not true <= _CONSTANT * told:
                    return refuted("the derived bound has another order", {
                        "n": point["n"] * factor, "epsilon": Enclosure.of_ball(epsilon), "d": point["d"],
                        "log(1/delta)": point["log"], "derived": Enclosure.of_ball(true),
                        "claimed": Enclosure.of_ball(_CONSTANT * told)})
    return proof(
        sampled("without a projection the explicit bound is at most 4000 times the rate", True),
        argued("the proof of Theorem 6 with Phi = I: no projection term, m = d; the smaller of both bounds is chosen "
               "by n, epsilon "
               "and d, without looking at the data"),
        tried=tried,
    )


def judge_steps(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(n) steps can bring the risk down: x = 1, y = 1, W = 1; the mean of v_1, ..., v_T is released."""
    tried = 0
    for n in (10**12, *given.values("n", most=10**6)):
        steps, tried = says(n), tried + 1
        iterates = [Fraction(0)] * min(int(steps), 1)
        if steps <= 1:
            returned = sum(iterates, Fraction(0))
            return refuted("the release is the start, whatever the data are", {
                "n": n, "T": steps, "x": 1, "y": 1, "returned": returned, "excess risk": (max(returned,
                                                                                              Fraction(0)) - 1) ** 2})
    return undecided("more than one step", tried)


_THEOREM_6 = (
    r"Moreover, take $\eta = O(\frac{1}{\sqrt{T}}) \leq \frac{1}{2}$ and $T = O(\min\{n, \frac{n^2 \epsilon^2}{m \log "
    r"1/\delta}\})$, in Algorithm 7 we have"
)
_N = positive_integer("n").at_least(3)
_EPSILON = Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True)
_LEVEL = Parameter("log", low=Fraction(1), meaning="log(1/delta)")
_TO = "only points are tried: beyond and between them the bound is argued"
_ORDER = {"1 % *": "a constant is hidden in O", "1 -> 2*": "a constant is hidden in O"}

utility = Claim(
    id="nonconvex-nn/thm-6-utility",
    source="002, Theorem 6: excess risk, m, T and eta of the stated orders (and its explicit form)",
    quote=_THEOREM_6, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}L(\bar w) - L(w^*) \le 2\left[\frac{W^2}{2\eta T} + \frac{\eta(M^2 + m\sigma^2)}{2} + "
              r"\frac{4WM}{\sqrt n} +"
              r" W^2\left(\tfrac1{\sqrt m} + c_m\right)^2\right] = \tilde O\left(\frac1{\sqrt n} + "
              r"\frac{\sqrt{\log(1/\delta)}}"
              r"{(n\epsilon)^{2/3}}\right)",
    words="Algorithm 7, returning the mean of its iterates from w_1 = 0, has an excess risk of at most 2 [W^2/(2 eta "
          "T) + eta (M^2 + m "
          "sigma^2)/2 + 4WM/sqrt(n) + W^2 (1/sqrt(m) + c_m)^2]; with m, T and eta of the stated orders that is "
          "O(1/sqrt(n) + "
          "sqrt(log(1/delta))/(n epsilon)^(2/3)) but for log(n/delta)",
    hypotheses=(_N, _EPSILON, _LEVEL),
    says=lambda n, epsilon, level: root(level) / (n * epsilon) ** (arb(2) / 3) + 1 / root(n), check=judge_rate,
    flips=(Flip("1/(n epsilon)", lambda n, epsilon, level: root(level) / (n * epsilon) + 1 / root(n), Verdict.REFUTED),
           Flip("1/n for 1/sqrt(n)", lambda n, epsilon, level: root(level) / (n * epsilon) ** (arb(2) / 3) + 1 / n,
                Verdict.REFUTED)),
    uses=("nonconvex-nn/thm-6-stability", "nonconvex-nn/thm-6-decomposition-second", "nonconvex-nn/thm-6-jl-term",
          "nonconvex-nn/lem-3-minimiser"),
    rests_on=("nonconvex-nn/relu-lem-3", "nonconvex-nn/thm-6-jl-term-repaired", "nonconvex-nn/thm-2-second-moment",
              "nonconvex-nn/alg-7-typos-repaired"),
    true_variants={**_ORDER, "3 -> 4*": "(n epsilon)^(-1/2) is larger", "/ -> [*] (operator [45])": "larger"},
    survivors={"beyond *": _TO, "between*": _TO}, expected="HOLDS ARGUED",
)
branch = Claim(
    id="nonconvex-nn/intro-relu-min", source="002, introduction and Section 4.1.3: the first branch of the ReLU rate",
    quote=r"In this scenario, we establish that an upper bound of $\tilde{O}(\frac{1}{\sqrt{n}} + "
          r"\min\{\frac{\sqrt{d}}{n\epsilon}, \frac{1}{(n\epsilon)^{\frac{2}{3}}}\})$ is feasible.",
          whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\Phi = I: \mathbb{E}L(\bar w) - L(w^*) = O\left(\frac1{\sqrt n} + "
              r"\frac{\sqrt{d\log(1/\delta)}}{n\epsilon}\right)",
    words="Algorithm 7 without a projection has the excess risk O(1/sqrt(n) + sqrt(d log(1/delta))/(n epsilon)); with "
          "Theorem 6 that is "
          "the minimum of the introduction, though no algorithm of the document chooses",
    hypotheses=(_N, _EPSILON, positive_integer("d"), _LEVEL),
    says=lambda n, epsilon, d, level: root(d * level) / (n * epsilon) + 1 / root(n), check=judge_branch,
    flips=(Flip("without d", lambda n, epsilon, d, level: root(level) / (n * epsilon) / 100 + 1 / root(n) / 100,
                Verdict.REFUTED),),
    uses=("nonconvex-nn/thm-6-utility",), rests_on=("nonconvex-nn/thm-6-utility",),
    true_variants={**_ORDER, "/ -> [*] (operator [34])": "larger"}, survivors={"beyond *": _TO, "between*": _TO},
    expected="HOLDS ARGUED",
)
literal = Claim(
    id="nonconvex-nn/big-O-parameters-thm-6", source="002, Theorem 6: every T = O(...), an upper bound",
    quote=_THEOREM_6,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"T = 1 = O(\min\{n, \ldots\}) \Rightarrow \text{Theorem 6}",
    words="Theorem 6's risk holds for every T of at most the stated order", hypotheses=(_N,), says=lambda n: 1,
    check=judge_steps, flips=(Flip("n steps", lambda n: n, Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/thm-6-utility",
    expected="REFUTED PROVED",
)
