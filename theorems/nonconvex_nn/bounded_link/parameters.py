r"""What the proofs of Theorems 1 and 2 of document 002 leave open: parameters given as O(.), starts, constants, slips.

"eta = O(.)" and "m = O(.)" bound from above only. (1) d = 1, x = 1, the clip to [-1, 1], w* = 1/2, labels +-1 of mean
1/2, w_0 = 0, delta = 1/2, epsilon = 1 (so tau_i <= 8 eta_i). A phase moves w by at most 2 eta_i n_i and its noise, so
E w_k^2 <= V = 2 ((2 eta n/7)^2 + 64 eta^2/15), and E(clip(w_k) - 1/2)^2 >= (1/16) P(|w_k| <= 1/4) >= (1 - 16 V)/16 by
Chebyshev. With eta = n^-2, which is O(.), V tends to 0 and the excess stays above 1/17, where the theorem promises
O(1/sqrt(n)). (2) m = 1, x = e_1 or e_2, each half of the time, w* = (1/2, -1/2): what comes out is a multiple of
(g_1, g_2), and where g_1 g_2 > 0 (half of the time) one of its two scores has the wrong sign, so that the risk is at
least 1/8: at least 1/16 on average, for every n, step and noise.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative_integer, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.bounded_link.excess import gaps
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def judge_step_order(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the excess risk is O(1/sqrt(n)) for the step says(n), which is at most 1/sqrt(n)."""
    n = sympy.symbols("n", positive=True)
    spread = 2 * ((2 * says(n) * n / 7) ** 2 + 64 * says(n) ** 2 / 15)
    least, rate = (1 - 16 * spread) / 16, 1 / sympy.sqrt(n) + 8 / n
    if sympy.limit(least / rate, n, sympy.oo) != sympy.oo:
        return undecided("the lower bound does not outgrow the rate", len(given.values("n")))
    large = 2**40
    return refuted_by(
        "such a small step is O(.), and hardly leaves the start: the excess risk does not fall", {
            "d": 1, "x": 1, "link": "clip to [-1, 1]", "w*": "1/2", "w_0": 0, "epsilon": 1, "delta": "1/2", "n": large,
            "eta": says(sympy.Integer(large)), "excess risk at least": sympy.N(least.subs(n, large), 12),
            "1/sqrt(n) + 8/n": sympy.N(rate.subs(n, large), 12)},
        computed("the step is at most 1/sqrt(n)", never_negative((1 / sympy.sqrt(n) - says(n)).subs(n, (1 + n) ** 2))),
        computed("the lower bound over the rate tends to infinity, whatever constant O(.) hides",
                 sympy.limit(least / rate, n, sympy.oo) == sympy.oo),
        computed("sum of 8^-i is 1/7, of 16^-i 1/15: what the steps and noises of all phases add up to",
                 vanishes(sympy.Rational(1, 8) / (1 - sympy.Rational(1, 8)) - sympy.Rational(1, 7),
                          sympy.Rational(1, 16) / (1 - sympy.Rational(1, 16)) - sympy.Rational(1, 15))),
    )


def judge_rows_order(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether Algorithm 3 learns with says(n) rows."""
    for n in given.values("n"):
        if says(n) >= 2:
            return undecided("two rows or more", 1)
    wrong = Fraction(1, 2)  # P(g_1 g_2 > 0)
    risk = Fraction(1, 2) * Fraction(1, 2) ** 2  # one of two equally likely records has the wrong sign, |score| = 1/2
    large = 2**40
    return refuted("one row cannot tell two records apart: half of the projections give one of them the wrong sign", {
        "m": 1, "x": "e_1 or e_2, each half of the time", "w*": "(1/2, -1/2)", "link": "clip to [-1, 1]", "n": large,
        "epsilon": 1, "P(wrong sign)": wrong, "excess risk at least": wrong * risk,
        "(n epsilon)^(-2/3) + 1/sqrt(n)":
        sympy.N(sympy.Integer(large) ** sympy.Rational(-2, 3) + Fraction(1, 2**20), 8)})


def judge_start(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether every start |w_0| <= r W with says(r) is at most 2W away from every |w*| <= W."""
    for far in (Fraction(10**9), *given.values("r")):
        if bool(says(far)) and far + 1 > 2:
            return refuted("a start as far as one likes is allowed, and the run moves by at most 2 B eta n/7", {
                "|w_0|/W": far, "|w_0 - w*|/W": far + 1, "needed at most": 2})
    beyond, inside = sympy.symbols("p", positive=True), sympy.symbols("q", nonnegative=True)
    return proof(
        computed("no start beyond W is allowed, and all others are", not bool(says(1 + beyond))
                 and bool(says(sympy.Integer(1)))),
        computed("|w_0 - w*| <= r W + W <= 2W for r <= 1", never_negative(2 - 1 / (1 + inside) - 1)),
    )


def judge_last_noise(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether E L(wbar + zeta) - L(wbar) <= 2B says(tau, sqrt(2/pi)), B = 1: a mean of <zeta, x>, or of its size.

    x = 1, label 0, wbar = 0, the clip link: L(s) >= s^2/2 for |s| <= 1, so E L >= tau^2 E[Z^2; |Z| <= 1/tau]/2.
    """
    tried = 0
    with ctx.workprec(120):
        for tau in given.values("tau"):
            edge = 1 / ball(tau)
            inner = (edge / arb(2).sqrt()).erf() - edge * (2 / arb.pi()).sqrt() * (-(edge**2) / 2).exp()
            gained = ball(tau) ** 2 * inner / 2
            tried += 1
            if gained > 2 * says(ball(tau), (2 / arb.pi()).sqrt()):
                return refuted("the mean of a Gaussian is 0, and a convex loss rises on average", {
                    "tau_k": tau, "link": "clip to [-1, 1]", "x": 1, "y": 0, "wbar": 0,
                    "claimed": Enclosure.of_ball(2 * says(ball(tau), (2 / arb.pi()).sqrt())),
                    "E L(wbar + zeta) - L(wbar) at least": Enclosure.of_ball(gained)})
    tau_, z = given.symbol("tau"), sympy.symbols("z", positive=True)
    size = 2 * sympy.integrate(z * sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi), (z, 0, sympy.oo))
    return proof(
        computed("E|<zeta, x>| = tau |x| sqrt(2/pi) is what is claimed, for |x| = 1",
                 vanishes(says(tau_, sympy.sqrt(2 / sympy.pi)) - tau_ * size)),
        argued("|L(w) - L(w')| <= 2B E|<w - w', x>|, and <zeta, x> is N(0, tau^2 |x|^2)"),
        tried=tried,
    )


def judge_constant(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the projection's part of the bound, 2G (G W^2), is at most a constant (1000) times says(G, W, B)."""
    tried = 0
    for point in led(given, G="1", W="1000000", B="1"):
        slope, norm, bound = point["G"], point["W"], point["B"]
        part = 2 * slope * slope * norm**2
        tried += 1
        if part > 1000 * says(slope, norm, bound):
            return refuted("the quotient 2W/B is as large as one likes", {
                "G": slope, "W": norm, "B": bound, "2G G W^2": part, "claimed, times a constant of 1000":
                1000 * says(slope, norm, bound)})
    slope_, norm_, bound_ = (given.symbol(name) for name in ("G", "W", "B"))
    return proof(computed("2 G^2 W^2 is at most twice what is claimed",
                          never_negative(2 * says(slope_, norm_, bound_) - 2 * slope_**2 * norm_**2)), tried=tried)


def judge_left_side(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(excess risk, excess of the surrogate) is at most 2G times the excess of the surrogate."""
    tried = 0
    for steep in (*(one for one in (Fraction(1, 4),) if given.contains(G=one)), *given.values("G")):
        for slopes in ((steep, steep), (Fraction(0), steep), (steep, Fraction(0))):
            surrogate, risk = gaps(slopes)
            tried += 1
            if says(risk, surrogate) > 2 * steep * surrogate:
                return refuted("for G < 1/2 a positive number is not at most 2G times itself", {
                    "G": steep, "excess of the surrogate": surrogate, "excess risk": risk,
                    "left side": says(risk, surrogate), "2G times the surrogate's": 2 * steep * surrogate})
    risk_, surrogate_ = sympy.symbols("r s", positive=True)
    return proof(computed("the left side is the excess risk", vanishes(says(risk_, surrogate_) - risk_)),
                 argued("that it is at most 2G times the excess of the surrogate is Lemma 3"), tried=tried)


def judge_power(says: tuple[Callable[[Any, Any], Any], int], given: Domain) -> Finding:
    """Whether 4^-k <= factor n^-2 for says = (k by (j, r), factor), n = 2^j + r, 0 <= r < 2^j, and no less does."""
    phases, factor = says
    tried, largest = 0, Fraction(0)
    for point in given.points("j", "r", most={"j": 20, "r": 10**6}):
        j, r = point["j"], point["r"]
        if r >= 2**j:
            continue
        n = 2**j + r
        ratio = Fraction(n**2, 4 ** phases(j, r))
        tried, largest = tried + 1, max(largest, ratio)
        if ratio > factor:
            return refuted("the last noise is larger", {"n": n, "k": phases(j, r), "n^2/4^k": ratio,
                                                        "claimed factor": factor})
    if largest * 4 <= factor:
        return undecided("a smaller factor does at every point", tried)
    j_, r_ = given.symbol("j"), sympy.symbols("r", integer=True, positive=True)
    return proof(
        computed("at n = 2^j: factor 4^k >= 4^j",
                 never_negative(sympy.simplify(factor * 4 ** phases(j_, sympy.Integer(0)) / 4**j_ - 1))),
        computed("between 2^j and 2^(j+1): factor 4^k >= 4^(j+1), which is more than n^2",
                 never_negative(sympy.simplify(factor * 4 ** phases(j_, r_) / 4**j_ - 4))),
        argued("n = 2^j + r < 2^(j+1)"),
        tried=tried,
    )


_SIZE = positive_integer("n")
_STEP = (
    r"when $\eta = O(\min\{\frac{\epsilon}{\sqrt{\theta \log \frac{1}{\delta}}}, \frac{1}{\sqrt{n}}\}) \leq "
    r"\frac{2}{G}$"
)

step_order = Claim(
    id="nonconvex-nn/big-O-parameters", source="002, Theorem 1: eta = O(.), which eta = n^-2 is",
    quote=_STEP, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\eta = O(\min\{\cdot\}) \Rightarrow \mathbb{E} L(w_k) - L(w^*) = O(1/\sqrt n + \cdot)",
    words="every step that is O(min{epsilon/sqrt(theta log(1/delta)), 1/sqrt(n)}) gives the rate of Theorem 1",
    hypotheses=(_SIZE,), says=lambda n: 1 / n**2, check=judge_step_order,
    flips=(Flip("1/sqrt(n) itself", lambda n: 1 / sympy.sqrt(n), Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/thm-1-utility",
    expected="REFUTED PROVED",
)
rows_order = Claim(
    id="nonconvex-nn/big-O-parameters-thm-2", source="002, Theorem 2: m = O(.), which m = 1 is",
    quote=r"let $m = O(\log(n/\delta)(n\epsilon)^{\frac{2}{3}})$", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"m = O(\log(n/\delta)(n\epsilon)^{2/3}) \Rightarrow \mathbb{E} L(\hat w) - L(w^*) ="
              r" \tilde O((n\epsilon)^{-2/3} + n^{-1/2})",
    words="every number of rows that is O(log(n/delta) (n epsilon)^(2/3)) gives the rate of Theorem 2",
    hypotheses=(_SIZE,), says=lambda n: n / n, check=judge_rows_order,
    flips=(Flip("more rows", lambda n: n + 1, Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/thm-2-utility",
    expected="REFUTED PROVED",
)
start = Claim(
    id="nonconvex-nn/alg-2-start", source="002, Algorithm 2: w_0 in W, a set that Section 4.1.1 does not define",
    quote=r"Take a random initial vector $w_0 \in \mathcal{W}$.", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"w_0 \in \mathbb{R}^d \Rightarrow \lVert w_0 - w^*\rVert \le 2W",
    words="wherever it starts, the run starts at most 2W from w*, as the rate needs",
    hypotheses=(positive("r", "|w_0|/W"),), says=lambda far: far > 0, check=judge_start,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert w_0\rVert \le W \Rightarrow \lVert w_0 - w^*\rVert \le 2W",
        words="a start of length at most W, chosen without the data, is at most 2W from w*",
        says=lambda far: far <= 1, expected="HOLDS PROVED", source="002, Algorithm 2, with the ball of radius W",
        true_variants={"any r": "a length is not negative"},
    ),
)
last_noise = Claim(
    id="nonconvex-nn/thm-1-last-noise", source="002, proofs of Theorems 1 and 2: the mean of <zeta_k, x>",
    quote=(
        r"\mathbb{E}[L_{\mathcal{P}}^\ell(w_k) - L_{\mathcal{P}}^\ell(\bar{w}_k)] \leq 2B\mathbb{E}[\langle \zeta_k, x "
        r"\rangle] \leq 2B\tau_k"
    ),
    whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"\mathbb{E}[L^\ell(w_k) - L^\ell(\bar w_k)] \le 2B\,\mathbb{E}\langle\zeta_k, x\rangle = 0",
    words="the last noise costs at most 2B times the mean of <zeta_k, x>, which is 0",
    hypotheses=(positive("tau"),), says=lambda tau, root: 0 * tau, check=judge_last_noise,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}[L^\ell(w_k) - L^\ell(\bar w_k)] \le 2B\,\mathbb{E}|\langle\zeta_k, x\rangle| \le"
                  r" 2B\sqrt{2/\pi}\,\tau_k",
        words="the last noise costs at most 2B times the mean of |<zeta_k, x>|, at most 2B sqrt(2/pi) tau_k",
        says=lambda tau, root: tau * root, expected="HOLDS ARGUED", source="002, proof of Theorem 1, with the modulus",
        rests_on=("nonconvex-nn/lem-2",),
    ),
)
constant = Claim(
    id="nonconvex-nn/thm-2-final-constant", source="002, proof of Theorem 2: O~(G^2 W B (...)), the constants explicit",
    quote=(
        r"\tilde{O}(G^2WB(\frac{\sqrt{\log \frac{1}{\delta}}}{(n\epsilon)^{\frac{2}{3}}} + \frac{1}{\sqrt{n}}))$."
    ),
    whose=Whose.READING,
    statement=r"2G \cdot GW^2 \le C\, G^2WB",
    words="the projection's part of the bound, 2 G^2 W^2/m, is at most a constant times G^2 W B/m",
    hypotheses=(positive("G"), positive("W"), positive("B")), says=lambda slope, norm, bound: slope**2 * norm * bound,
    check=judge_constant,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"2G \cdot GW^2 \le 2G^2W(W + B)",
        words="the projection's part of the bound, 2 G^2 W^2/m, is at most 2 G^2 W (W + B)/m",
        says=lambda slope, norm, bound: slope**2 * norm * (norm + bound), expected="HOLDS PROVED",
        source="002, proof of Theorem 2, with W^2",
        true_variants={"1 % more": "a larger bound is one, too", "any G": "only its square enters"},
    ),
)
left_side = Claim(
    id="nonconvex-nn/thm-2-final-left", source="002, proof of Theorem 2, last line: the surrogate on both sides",
    quote=(
        r"we can get $\mathbb{E}L_{\mathcal{P}}^{\ell}(\hat{w}) - L_{\mathcal{P}}^{\ell}(w^*) \leq "
        r"2G(\mathbb{E}L_{\mathcal{P}}^{\ell}(\hat{w}) - L_{\mathcal{P}}^{\ell}(w^*))"
    ),
    whose=Whose.TYPO,
    statement=r"\mathbb{E} L^\ell(\hat w) - L^\ell(w^*) \le 2G(\mathbb{E} L^\ell(\hat w) - L^\ell(w^*))",
    words="the excess of the surrogate is at most 2G times itself",
    hypotheses=(positive("G"),), says=lambda risk, surrogate: surrogate, check=judge_left_side,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E} L(\hat w) - L(w^*) \le 2G(\mathbb{E} L^\ell(\hat w) - L^\ell(w^*))",
        words="the excess risk is at most 2G times the excess of the surrogate",
        says=lambda risk, surrogate: risk, expected="HOLDS ARGUED", source="002, proof of Theorem 2, L for L^l",
        rests_on=("nonconvex-nn/lem-3",), true_variants={"any G": "a Lipschitz constant is not negative"},
    ),
)
last_phase = Claim(
    id="nonconvex-nn/thm-1-last-phase", source="002, proof of Theorem 1: 2B tau_k is O(n^(-5/2)), k = ceil(log2 n)",
    quote=r"\leq 2B\tau_k \leq O\left(\frac{WB\sqrt{\log \frac{1}{\delta}}}{\epsilon n^{\frac{5}{2}}}\right).",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"4^{-k} \le n^{-2} \Rightarrow 2B\tau_k = 16B^2\eta\, 4^{-k}\sqrt{\log(1/\delta)}/\epsilon \le"
              r" 16WB\sqrt{\log(1/\delta)}/(\epsilon n^{5/2}),\ \eta \le W/(B\sqrt n)",
    words="with k = ceil(log2 n) phases the last noise is O(n^(-5/2)): 4^-k <= n^-2",
    hypotheses=(positive_integer("j", "n = 2^j + r"), non_negative_integer("r", "less than 2^j")),
    says=(lambda j, r: j + (1 if r > 0 else 0), 1), check=judge_power,
    flips=(Flip("floor(log2 n) phases", (lambda j, r: j, 1), Verdict.REFUTED),),
    true_variants={"*1 -> 2*": "more phases have a smaller last noise", "[[]1] one more": "a larger factor is one, too",
                   "*beyond argument 1*": "more phases have a smaller last noise"},
    expected="HOLDS ARGUED",
)
last_phase_floor = Claim(
    id="nonconvex-nn/thm-1-last-phase-floor", source="a finding of ours: the same with floor(log2 n) phases",
    statement=r"4^{-k} < 4n^{-2},\ k = \lfloor\log_2 n\rfloor",
    words="with k = floor(log2 n) phases the last noise is at most 4 times as large: 4^-k < 4 n^-2",
    severity=Stake.PROOF, hypotheses=last_phase.hypotheses, says=(lambda j, r: j, 4), check=judge_power,
    flips=(Flip("the factor 3", (lambda j, r: j, 3), Verdict.REFUTED),),
    true_variants={"[[]1] one more": "a larger factor is one, too",
                   "*beyond argument 1*": "more phases have a smaller last noise"},
    expected="HOLDS ARGUED",
)
