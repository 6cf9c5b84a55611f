r"""The utility of Theorems 4 and 5 of document 002, and its parameters: beta, gamma, m, eta.

Theorem 4 (B = G = W = 1, |w_0 - w*| <= 2; n a power of 2, floor(log2 n) phases). Lemma 10 with the comparator w* in the
first phase and the release before in the others, n_i = n/2^i, eta_i = eta/4^i, tau_i = 10 eta_i sqrt(L)/epsilon,
E|zeta|_V^2 <= theta tau^2, L = log(1/delta), then the sandwich (2/beta) and Lemma 3 (factor 2G):

    E L(w_k) - L(w*) <= 2 [ 16/(eta n) + 400 theta L eta/(n epsilon^2) + (5/6) eta + 2/beta
                        + gamma (2 + (10/3) sqrt(theta L) eta/epsilon + (3/7) eta n) + 80 eta sqrt(L)/(epsilon n^2) ].

With eta = min(epsilon/sqrt(theta L), 1/sqrt(n)), beta = sqrt(n) and gamma <= 1/(n log n) every term is O(sqrt(theta
L)/(n epsilon) + 1/sqrt(n)): 1/eta is at most the sum of the two; eta <= 1/sqrt(n); theta L eta/epsilon^2 <= 1/eta. eta
beta <= 1.

Theorem 5. On projected records theta becomes m, the noise 20 sqrt(log(2/delta)), so 1600 m for 400 theta, and l(Phi w*)
costs 2 G W^2/m in expectation over Phi (an exact second moment, (|w|^2 |x|^2 + <w, x>^2)/m). With m = (n epsilon)^(2/3)
times a logarithm that is (n epsilon)^(-2/3) + 1/sqrt(n) up to logarithms.

Beta. x = 1, y = +-1 with P(y = 1) = p, tanh w* = 2p - 1. The minimiser of the smoothed risk solves atanh(1 - q/p) -
atanh(q/(1-p) - 1) = q/(p (1-p) beta), w_beta = atanh(1 - q/p) - q/(p beta): the left side falls in q, the right rises.
For a fixed beta phased SGD converges to w_beta as n grows (Theorem 4's own bound, for F_beta), and its risk to that of
w_beta. Expanded in 1/beta: the derivative h of the envelope solves h = s(w - h/beta) - y, so h = s - y - s'(s - y)/beta
+ (s'^2 (s - y) + s'' (s - y)^2/2)/beta^2 + ..., and at w* its mean is s'' Var(y)/(2 beta^2): the bias is of order
beta^-2, its risk of order beta^-4."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log, root
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

One = Callable[[Any], Any]
_P = Fraction(3, 4)
_MOST = 2000  # what O hides, at B = G = W = 1


def smoothed_excess(beta: Fraction) -> arb:
    """The excess risk of the minimiser of the smoothed risk, p = 3/4, by halving an interval with certified signs."""
    up, down = ball(_P), ball(1 - _P)
    low, high = Fraction(0), 2 * min(_P, 1 - _P)
    for _ in range(150):
        q = (low + high) / 2
        left = (1 - ball(q) / up).atanh() - (ball(q) / down - 1).atanh() - ball(q) / (up * down * ball(beta))
        if left > 0:
            low = q
        elif left < 0:
            high = q
        else:
            break
    share = ball(low).union(ball(high))
    minimiser = (1 - share / up).atanh() - share / (up * ball(beta))
    return (minimiser.tanh() - ball(2 * _P - 1)) ** 2


def judge_beta(says: One, given: Domain) -> Finding:
    """Whether what smoothing with beta = says(n) costs is at most 5/sqrt(n), the tanh link."""
    tried = 0
    with ctx.workprec(300):
        for n in (10**12, *(k**2 for k in given.values("root", most=10**6))):
            beta = Fraction(says(Fraction(math.isqrt(n))))
            tried += 1
            excess = smoothed_excess(beta) if beta > 0 else arb(1)
            if excess * arb(n).sqrt() > 5:
                return refuted_by(
                    "the risk tends to that of the smoothed minimiser, a constant, certified",
                    {"n": n, "beta": beta, "link": "tanh", "x": 1, "P(y = 1)": _P, "E y": 2 * _P - 1,
                     "excess risk of the smoothed minimiser": Enclosure.of_ball(excess)},
                    computed("the excess risk of the minimiser of F_beta is above 5/sqrt(n)", True),
                    argued("for a fixed beta the releases converge to that minimiser as n grows, F_beta being strictly "
                           "convex around it"),
                )
    r = given.symbol("root", "r")
    return proof(
        computed("2G 2B^2/beta = 4/beta is at most 5/sqrt(n)", never_negative(5 / r - 4 / says(r))),
        argued("Lemma 3 and the sandwich of Lemma 5"),
        tried=tried,
    )


def judge_order(says: Fraction, given: Domain) -> Finding:
    """Whether beta^says times the excess risk of the smoothed minimiser tends to a positive number, tanh, p = 3/4."""
    tried, ratios = 0, []
    with ctx.workprec(400):
        for beta in (*given.values("beta", most=4**6), 4**7):
            tried += 1
            if beta >= 256:
                ratios.append(smoothed_excess(Fraction(beta)) * ball(Fraction(beta)) ** arb(ball(says)))
        limit = ball(Fraction(81, 1024))  # (s'' Var y)^2/4 at s = 1/2: s'' = -3/4, Var y = 3/4
        worst = next((ratio for ratio in ratios if not abs(ratio / limit - 1) < ball(Fraction(1, 50))), None)
        if worst is not None:
            return refuted("the excess risk has another order, certified", {
                "power": says, "beta": 4**7, "excess risk": Enclosure.of_ball(smoothed_excess(Fraction(4**7))),
                "limit": "81/1024"})
    e, s1, s2, z = sympy.symbols("e s1 s2 z", real=True)  # e = 1/beta, z = s - y
    h = z - s1 * z * e + (s1**2 * z + s2 * z**2 / 2) * e**2
    back = sympy.series(z - s1 * h * e + s2 * (h * e) ** 2 / 2 - h, e, 0, 3).removeO()
    return proof(
        computed("h = s - y - s' h/beta + s'' (h/beta)^2/2 up to 1/beta^2 is solved by the expansion",
                 vanishes(sympy.expand(back))),
        computed("with E(s - y) = 0 and Var(y) = v its mean is s'' v/(2 beta^2), so the risk (s'' v/2)^2/beta^4: "
                 "81/1024 at "
                 "s = 1/2, s'' = -2 s (1 - s^2), v = 1 - s^2",
                 vanishes((-2 * sympy.Rational(1, 2) * sympy.Rational(3, 4) * sympy.Rational(3, 4) / 2) ** 2
                          - sympy.Rational(81, 1024)) and says == 4),
        sampled("from beta = 256 on the certified excess risk is within 2 % of it", True),
        study_step("envelope-bias"),
        tried=tried,
    )


def clipped_answer(gamma: Fraction) -> tuple[int, Fraction]:
    """T and the answer of Algorithm 4 with 2B for B = 1 at m = 7/10, y = 3/10, beta = 1, the clip link, from m."""
    steps = max(1, math.ceil(576 / gamma**2))
    if steps > 2000:
        return steps, Fraction(1, 5)  # beta (m - y)/(1 + beta), up to gamma (Lemma 6)
    d, total = Fraction(0), Fraction(0)
    for t in range(1, steps + 1):
        total += t * d
        u = Fraction(7, 10) + d
        d = Fraction(round((d - Fraction(2, t + 1) * (max(Fraction(-1), min(Fraction(1),
                                                                            u)) - Fraction(3, 10) + d)) * 2**50), 2**50)
    return steps, -total * 2 / (steps * (steps + 1))


def judge_gamma(says: One, given: Domain) -> Finding:
    """Whether for every gamma up to says(n) the errors of the gradients are at most 2/n: gamma (n+1) is bounded."""
    tried = 0
    for n in (1000, *given.values("n", most=10**6)):
        tried += 1
        with ctx.workprec(80):
            told = says(arb(n))
            gamma = Fraction(math.floor(float(told.lower()) * 2**60), 2**60)
        if gamma <= 0:
            return undecided("no error is allowed", tried)
        steps, answer = clipped_answer(gamma)
        if abs(answer - Fraction(1, 5)) > Fraction(2, n):
            return refuted("a gamma of the stated order: the oracle answers 0 whatever the record is", {
                "n": n, "gamma": Enclosure.of_ball(told), "T": steps, "link": "clip to [-1, 1]", "beta": 1, "m": "7/10",
                "y": "3/10", "answer": answer, "derivative": "1/5"})
    n_ = given.symbol("n")
    with ctx.workprec(80):
        fits = bool(4 * arb(4).log() > 5)
    return proof(
        computed("gamma is at most 1/(n log n), and n log n >= n + 1 from n = 4 on", fits and vanishes(
            says(n_) * n_ * sympy.log(n_) - 1)),
        argued("Lemma 6, as Algorithm 6 uses it, makes the errors at most gamma"),
        tried=tried,
    )


def judge_some(says: One, given: Domain) -> Finding:
    """Whether says(n) is of the order O(n log n), with the constant 1: n >= 3."""
    tried = 0
    with ctx.workprec(80):
        for n in given.values("n", most=10**6):
            tried += 1
            if says(arb(n)) > arb(n) * arb(n).log():
                return refuted("above n log n", {"n": n, "gamma": Enclosure.of_ball(says(arb(n)))})
    x, level = sympy.symbols("x l", nonnegative=True)  # n = 1 + x, log n = 1 + l for n >= 3
    told = says(given.symbol("n")).subs(sympy.log(given.symbol("n")), 1 + level).subs(given.symbol("n"), 1 + x)
    return proof(computed("n log n minus it is never negative, as log n >= 1", never_negative(
        (1 + x) * (1 + level) - told)), tried=tried)


def judge_output(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether L_P is defined at an output of says(m, d) coordinates: as many as the records have, d."""
    tried = 0
    for point in led(given, at_most=60, m=1, d=2):
        tried += 1
        if says(point["m"], point["d"]) != point["d"]:
            return refuted("its score with a record is not defined", {
                "m": point["m"], "d": point["d"], "coordinates": says(point["m"], point["d"])})
    m, d = given.symbol("m"), given.symbol("d")
    return proof(computed("as many coordinates as a record", vanishes(says(m, d) - d)), tried=tried)


def _plain(n: arb, epsilon: arb, theta: arb, level: arb, eta: arb, beta: arb, gamma: arb) -> arb:
    """The explicit bound of the module docstring."""
    return 2 * (16 / (eta * n) + 400 * theta * level * eta / (n * epsilon**2) + 5 * eta / 6 + 2 / beta
                + gamma * (2 + (10 * (theta * level).sqrt() * eta / epsilon) / 3 + 3 * eta * n / 7)
                + 80 * eta * level.sqrt() / (epsilon * n**2))


def judge_rate_4(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether the explicit bound is at most 2000 says(n, epsilon, theta, log(1/delta))."""
    tried = 0
    with ctx.workprec(80):
        for point in given.points("n", "epsilon", "theta", "log", at_most=150):
            for factor in (1, 10**6, 10**24):
                n, epsilon, theta, level = arb(point["n"]) * factor, *(
                    ball(Fraction(point[name])) for name in ("epsilon", "theta", "log"))
                eta = (epsilon / (theta * level).sqrt()).min(1 / n.sqrt())
                true = _plain(n, epsilon, theta, level, eta, n.sqrt(), 1 / (n * n.log()))
                told, tried = says(n, epsilon, theta, level), tried + 1
                if not true <= _MOST * told:
                    return refuted("the derived bound has another order", {
                        "n": point["n"] * factor, "epsilon": point["epsilon"], "theta": point["theta"],
                        "log(1/delta)": point["log"], "derived": Enclosure.of_ball(true),
                        "claimed, times 2000": Enclosure.of_ball(_MOST * told)})
    i = sympy.symbols("i", integer=True, positive=True)
    phases = sympy.summation(sympy.Rational(1, 2) * 16**(1 - i) * 8**i, (i, 2, sympy.oo))
    return proof(
        computed("sum over i >= 2 of 16^(1-i) 8^i/2 is 4: the noise of all phases costs 4 (10)^2 theta L eta/(n "
                 "epsilon^2)",
                 vanishes(phases - 4)),
        computed("sum of 8^-i is 1/7, of 4^-i is 1/3", vanishes(
            sympy.summation(sympy.Rational(1, 8) ** i, (i, 1, sympy.oo)) - sympy.Rational(1, 7),
            sympy.summation(sympy.Rational(1, 4) ** i, (i, 1, sympy.oo)) - sympy.Rational(1, 3))),
        sampled("the explicit bound is at most 2000 times the rate, n up to 10^24 and more", True),
        argued("every term is of that order: the module docstring"),
        study_step("smoothed-phased-sgd-statistical"), study_step("smoothed-step"),
        tried=tried,
    )


def judge_rate_5(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether the explicit bound at m of the stated order is at most 9000 log(n/delta) says(n, epsilon, log(1/delta)).

    Besides the points of the domain, epsilon = 1/sqrt(n) is tried, where the private term is the larger one.
    """
    tried = 0
    if given["n"].low is None or given["epsilon"].high is None:
        return undecided("no records, or no private regime", 1)
    with ctx.workprec(80):
        for point in given.points("n", "epsilon", "log", at_most=100):
            for factor, path in ((1, False), (10**24, False), (10**24, True), (10**60, True)):
                n, level = arb(point["n"]) * factor, ball(point["log"])
                epsilon = 1 / n.sqrt() if path else ball(point["epsilon"])
                if not n * epsilon > 1:
                    continue
                deep = n.log() + level + 2
                rows = 3 * deep * (2 * (n * epsilon).log() / 3).exp()
                eta = (epsilon / (rows * (level + 1)).sqrt()).min(1 / n.sqrt())
                true = _plain(n, epsilon, 4 * rows, level + 1, eta, n.sqrt(), 1 / (n * (1 + n.log()))) + 2 / rows
                told, tried = says(n, epsilon, level), tried + 1
                if not true <= 9000 * deep * told:
                    return refuted("the derived bound has another order", {
                        "n": point["n"] * factor, "epsilon": Enclosure.of_ball(epsilon), "log(1/delta)": point["log"],
                        "derived": Enclosure.of_ball(true), "claimed": Enclosure.of_ball(9000 * deep * told)})
    return proof(
        sampled("the explicit bound is at most 9000 log(e^2 n/delta) times the rate", True),
        argued("as Theorem 4 with m for theta and 20 for 10, and 2 G W^2/m for the projection: the module docstring"),
        study_step("smoothed-step-projected"),
        tried=tried,
    )


_N = positive_integer("n").at_least(3)
_UP_TO_1 = Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True)
_LEVEL = Parameter("log", low=Fraction(1, 100), meaning="log(1/delta)")
_THEOREM_4 = (
    r"Moreover, when $\eta = O(\min\{\frac{\epsilon}{\sqrt{\theta \log \frac{1}{\delta}}}, \frac{1}{\sqrt{n}}\}) \leq "
    r"\frac{2}{\beta}$, $\gamma = O(\frac{1}{n \log n})$ and $\beta = O(\sqrt{n})$."
)
_THEOREM_5 = (
    r"Moreover, when $\eta = O(\min\{\frac{\epsilon}{\sqrt{m \log \frac{1}{\delta}}}, \frac{1}{\sqrt{n}}\}) \leq "
    r"\frac{1}{\beta}$, $\gamma = O(n \log n)$ and $\beta = O(\sqrt{n})$ then we have"
)
_PROVED_TO = "only points are tried: beyond and between them the bound is argued"
_ORDER = {"1 % *": "a constant is hidden in O"}

beta_literal = Claim(
    id="nonconvex-nn/thm-4-beta", source="002, Theorem 4: beta = O(sqrt(n)), an upper bound, so beta = 1",
    quote=_THEOREM_4, whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\beta = 1 = O(\sqrt n) \Rightarrow (3)",
    words="(3) holds for every beta = O(sqrt(n)), beta = 1 among them", hypotheses=(positive_integer("root", "sqrt(n)"),
                                                                                    ),
    says=lambda r: r / r, check=judge_beta, uses=("nonconvex-nn/lem-5-error",), expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\beta = \Theta(\sqrt n): \frac{4GB^2}{\beta} = O(n^{-1/2})",
        words="with beta = sqrt(n) smoothing costs at most 4 G B^2/sqrt(n)", says=lambda r: r, expected="HOLDS ARGUED",
        source="002, Theorem 4 with beta = Theta(sqrt(n))", rests_on=("nonconvex-nn/lem-5-error",),
        flips=(Flip("n^(1/4), which the bound does not cover", lambda r: sympy.sqrt(r) if not isinstance(r, Fraction)
                    else Fraction(math.isqrt(int(r)) + 1), Verdict.UNDECIDED),),
        true_variants={**_ORDER, "squared": "a larger beta is closer to the loss"},
    ),
)
beta_order = Claim(
    id="nonconvex-nn/thm-4-beta-order", source="a finding of ours: what smoothing costs, beside 002, Theorem 4",
    severity=Stake.UTILITY, statement=r"L(w_\beta) - L(w^*) \sim \frac{(\sigma'' \mathrm{Var}\,y)^2}{4 \beta^4}",
    words="for the tanh link the smoothed minimiser has an excess risk of order beta^-4, far below the proof's 1/beta",
    hypotheses=(Parameter("beta", low=Fraction(1)),), says=Fraction(4), check=judge_order,
    flips=(Flip("beta^-1", Fraction(1), Verdict.REFUTED), Flip("beta^-2", Fraction(2), Verdict.REFUTED)),
    true_variants={"any beta": "only large beta are asked about"},
    expected="HOLDS ARGUED",
)
gamma_literal = Claim(
    id="nonconvex-nn/thm-5-gamma", source="002, Theorem 5: for every gamma = O(n log n)", quote=_THEOREM_5,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\gamma = n \log n \Rightarrow \text{Theorem 5}",
    words="gradients with errors up to gamma = n log n are good enough: every gamma = O(n log n) is",
    hypotheses=(positive_integer("n").at_least(4),), says=lambda n: n * log(n), check=judge_gamma,
    uses=("nonconvex-nn/lem-6",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\gamma = O\left(\frac{1}{n \log n}\right)",
        words="with gamma <= 1/(n log n), as in Theorem 4, the errors of the gradients are at most 2/n",
        says=lambda n: 1 / (n * log(n)), expected="HOLDS ARGUED", rests_on=("nonconvex-nn/alg-6-oracle",),
        source="002, Theorem 5 with the gamma of Theorem 4",
    ),
)
gamma_some = Claim(
    id="nonconvex-nn/thm-5-gamma-reading-some",
    source="002, Theorem 5: for some gamma = O(n log n), namely 1/(n log n)",
    quote=_THEOREM_5, whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"\frac{1}{n \log n} = O(n \log n)", words="1/(n log n), the gamma that works, is O(n log n), too",
    hypotheses=(_N,), says=lambda n: 1 / (n * log(n)), check=judge_some,
    flips=(Flip("n^2 log n", lambda n: n * n * log(n), Verdict.REFUTED),),
    true_variants={"1 % less": "far below", "squared": "smaller still", "sign": "negative is below",
                   "[*/] -> *": "n log n and 1/(n + log n) are of that order, too",
                   "only at argument 0 = 3": "a constant"},
    expected="HOLDS PROVED",
)
output = Claim(
    id="nonconvex-nn/thm-5-output", source="002, Theorem 5: L_P(w_k), where w_k has m coordinates",
    quote=r"\mathbb{E}L_{\mathcal{P}}(w_k) - L_{\mathcal{P}}(w^*) \leq \tilde{O}\left(\frac{1}{\sqrt{n}} + "
          r"\frac{\sqrt{\log \frac{1}{\delta}}}{(n\epsilon)^{\frac{2}{3}}}\right).", whose=Whose.TYPO,
    statement=r"w_k \in \mathbb{R}^m,\ L_{\mathcal{P}}: \mathbb{R}^d \to \mathbb{R}",
    words="the population risk is defined at w_k", hypotheses=(positive_integer("m"), positive_integer("d")),
    says=lambda m, d: m, check=judge_output, expected="REFUTED PROVED",
    repair=Repair(statement=r"L_{\mathcal{P}}(\Phi^T w_k)", words="the population risk is defined at Phi^T w_k",
                  says=lambda m, d: d, expected="HOLDS PROVED",
                  true_variants={"any m": "m does not enter", "any d": "both sides are d"}),
)
utility_4 = Claim(
    id="nonconvex-nn/thm-4-utility", source="002, Theorem 4: (3), with eta, beta and gamma of the stated orders",
    quote=_THEOREM_4, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}L(w_k) - L(w^*) = O\left(\frac{\sqrt{\theta\log(1/\delta)}}{n\epsilon} + \frac1{\sqrt "
              r"n}\right)",
    words="Algorithm 5 has the excess risk O(sqrt(theta log(1/delta))/(n epsilon) + 1/sqrt(n)), if eta and beta are of "
          "their orders, gamma at most of its own, W, B, G constants",
    hypotheses=(_N, _UP_TO_1, Parameter("theta", low=Fraction(1)), _LEVEL),
    says=lambda n, epsilon, theta, level: root(theta * level) / (n * epsilon) + 1 / root(n), check=judge_rate_4,
    flips=(Flip("1/n for 1/sqrt(n)", lambda n, epsilon, theta, level: root(theta * level) / (n * epsilon) + 1 / n,
                Verdict.REFUTED),),
    uses=("nonconvex-nn/lem-10", "nonconvex-nn/lem-2", "nonconvex-nn/lem-3", "nonconvex-nn/thm-4-w-beta",
          "nonconvex-nn/thm-4-last-constant"),
    rests_on=("nonconvex-nn/lem-10", "nonconvex-nn/lem-3", "nonconvex-nn/thm-4-w-beta-repaired",
              "nonconvex-nn/thm-4-last-constant-repaired"),
    true_variants={**_ORDER, "1 -> 2*": "a constant is hidden in O", "/ -> [*] (operator 4)": "larger"},
    survivors={"beyond *": _PROVED_TO, "between*": _PROVED_TO}, expected="HOLDS ARGUED",
)
utility_5 = Claim(
    id="nonconvex-nn/thm-5-utility",
    source="002, Theorem 5: excess risk, parameters of the stated orders, gamma as in 4",
    quote=_THEOREM_5, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}L(\hat w) - L(w^*) = \tilde O\left(\frac1{\sqrt n} + \frac{\sqrt{\log(1/\delta)}}"
              r"{(n\epsilon)^{2/3}}\right)",
    words="Algorithm 6 has the excess risk O(1/sqrt(n) + sqrt(log(1/delta))/(n epsilon)^(2/3)) but for log(n/delta), n "
          "epsilon >= 1, if m, eta and beta are of their orders, gamma at most of that of Theorem 4",
    hypotheses=(_N, _UP_TO_1, _LEVEL.at_least(1)),
    says=lambda n, epsilon, level: root(level) / (n * epsilon) ** (arb(2) / 3) + 1 / root(n),
    check=judge_rate_5,
    uses=("nonconvex-nn/thm-5-gamma", "nonconvex-nn/thm-4-utility", "nonconvex-nn/thm-2-utility"),
    rests_on=("nonconvex-nn/thm-4-utility", "nonconvex-nn/thm-5-gamma-repaired", "nonconvex-nn/thm-2-jl-term"),
    flips=(Flip("1/(n epsilon)", lambda n, epsilon, level: root(level) / (n * epsilon) + 1 / root(n), Verdict.REFUTED),
           ),
    true_variants={**_ORDER, "1 -> 2*": "a constant is hidden in O", "3 -> 4*": "(n epsilon)^(-1/2) is larger",
                   "/ -> [*] (operator [45])": "larger"},
    survivors={"beyond *": _PROVED_TO, "between*": _PROVED_TO}, expected="HOLDS ARGUED",
)
