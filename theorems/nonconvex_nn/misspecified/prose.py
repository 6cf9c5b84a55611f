r"""Smaller statements of Section 4.2 of document 002 and of its introduction, and what cannot be checked here.

For x uniform on [-sqrt(3), sqrt(3)] in one dimension and y = x/2 (of no model: relu explains no odd function) all is
closed: L(w) = w^2/2 - w/2 + 1/4 for w >= 0, so w* = 1/2, and w_l = 2 E[yx] = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, positive_integer, probability
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.nonconvex_nn.misspecified.laws import MENDED, UNIFORM, relu
from theorems.nonconvex_nn.misspecified.surrogate import MU
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted

_OTHERS = "what another paper proves; its text is not among the documents"


def odd_labels(slope: Any) -> tuple[Any, Any, Any]:
    """L(w) for w >= 0, its minimiser and the surrogate's, for y = slope x, by integration."""
    x, w = sympy.symbols("x w", nonnegative=True)
    half = sympy.sqrt(3)
    above = sympy.integrate(sympy.expand((w * x - slope * x) ** 2), (x, 0, half)) / (2 * half)
    below = sympy.integrate((slope * x) ** 2, (x, 0, half)) / (2 * half)
    loss = sympy.expand(above + below)
    gradient = sympy.integrate(sympy.expand((w * x - slope * x) * x), (x, 0, half)) / (2 * half)
    gradient += sympy.integrate(-slope * x**2, (x, 0, half)) / (2 * half)
    return sympy.Lambda(w, loss), *(sympy.solve(one, w)[0] for one in (sympy.diff(loss, w), gradient))


def judge_where(point: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the iterates tend to point(w_l, w*): they tend to where the surrogate's gradient vanishes."""
    _, best, limit = odd_labels(sympy.Rational(1, 2))
    if point(limit, best) != limit:
        return refuted_by(
            "y = x/2: the surrogate's minimiser is not the best w",
            {"x": UNIFORM, "w_l": limit, "w*": best, "claimed limit": point(limit, best),
             "limit of the iterates": limit},
            computed("the two differ", bool(limit != best)),
            argued("w_l is the only zero of the strongly monotone gradient, so that small exact steps tend to it"),
        )
    one, other = sympy.symbols("l s", real=True)
    return proof(computed("it is w_l itself, on symbols", vanishes(point(one, other) - one)),
                 argued("w_l is the only zero of the strongly monotone gradient"))


def judge_same(excess: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the surrogate's minimiser has the risk excess(k) above the least one for y = k x."""
    tried = 0
    for k in given.values("slope"):
        loss, best, limit = odd_labels(sympy.Rational(str(k)))
        true = Fraction(str(loss(limit) - loss(best)))
        tried += 1
        if excess(k) != true:
            return refuted("y = k x", {"x": UNIFORM, "k": k, "w*": best, "w_l": limit, "L(w*)": loss(best),
                                       "L(w_l)": loss(limit), "claimed excess": excess(k)})
    k_ = given.symbol("slope")
    loss, best, limit = odd_labels(k_)
    return proof(
        computed("w* = k, w_l = 2k and the excess is what is claimed, by integration", vanishes(
            best - k_, limit - 2 * k_, loss(limit) - loss(best) - excess(k_))),
        computed("it is positive for k > 0", (loss(limit) - loss(best)).is_positive is True),
        tried=tried,
    )


def judge_unbounded(length: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the gradient at w along x is length(|w|, |x|) long for y = 0, and so without a bound in w."""
    tried = 0
    for point in led(given, weight="1", size="1"):
        w, x = point["weight"], point["size"]
        tried += 1
        if length(w, x) != relu(w * x) * x:
            return refuted("the gradient has another length", {
                "|w|": w, "|x|": x, "claimed": length(w, x), "length": relu(w * x) * x})
    w_, x_ = given.symbol("weight"), given.symbol("size")
    return proof(
        computed("it is |w| |x|^2, which grows with |w| without end",
                 vanishes(length(w_, x_) - w_ * x_**2) and sympy.limit(length(w_, x_), w_, sympy.oo) == sympy.oo),
        tried=tried,
    )


def judge_step_size(largest: Fraction, given: Domain) -> Finding:
    """Whether beta - 2 eta >= 0, beta = 1/8, for all eta up to the largest, and for no larger ones."""
    beta = Fraction(1, 8)
    if beta - 2 * largest != 0:
        return refuted("beta - 2 eta has another zero", {"eta": largest, "beta - 2 eta": beta - 2 * largest})
    return instance("beta - 2 eta is 0 at eta = 1/16: the term of (12) is not positive up to there",
                    {"beta": beta, "eta": largest})


def judge_m_condition(square: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether eta (4 eta + 1/tau)/square(tau, eta) <= 4 tau eta: m^2 = square d^2 log/epsilon^2 tames the noise."""
    tried = 0
    for point in led(given, tau="1/6", eta="1/16"):
        tau, eta = point["tau"], point["eta"]
        tried += 1
        if not square(tau, eta) > 0 or eta * (4 * eta + 1 / tau) > 4 * tau * eta * square(tau, eta):
            return refuted("the noise is no small part of the contraction", {
                "tau": tau, "eta": eta, "claimed": square(tau, eta), "eta (4 eta + 1/tau)": eta * (4 * eta + 1 / tau)})
    tau_, eta_ = given.symbol("tau"), given.symbol("eta")
    return proof(computed("4 tau eta times it is at least eta (4 eta + 1/tau)", never_negative(
        4 * tau_ * eta_ * square(tau_, eta_) - eta_ * (4 * eta_ + 1 / tau_))), tried=tried)


def judge_share(part: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether part(d) <= the variance of one gradient for d independent coordinates and labels +-1/8 of their own."""
    tried = 0
    for d in given.values("dimension"):
        tried += 1
        true = Fraction(d, 64)  # E|xi x|^2 = E xi^2 E|x|^2 at least
        if part(d) > true or part(d) <= 0:
            return refuted("the variance of a gradient from label noise alone is E xi^2 E|x|^2", {
                "d": d, "claimed": part(d), "variance": true})
    d_ = given.symbol("dimension")
    return proof(
        computed("at most d/64, and a multiple of d", never_negative(d_ / 64 - part(d_))
                 and sympy.simplify(part(d_) / d_).is_positive is True),
        argued("records are independent, and label noise of mean 0 is uncorrelated with the rest: a step adds eta^2/m "
               "of "
               "it to E|w - w_l|^2"),
        tried=tried,
    )


def judge_factor(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether L(w_l) <= factor(mu) opt for all laws of strong convexity mu: 1/mu is attained."""
    for mu in (Fraction(1, 2), *given.values("mu")):
        if factor(mu) < 1 / mu:
            return refuted("1/mu is attained", {"mu": mu, "claimed c": factor(mu), "L(w_l)/opt": 1 / mu})
    mu_ = given.symbol("mu")
    return proof(computed("the factor is at least 1/mu", never_negative(factor(mu_) - 1 / mu_)),
                 argued("isotropic log-concave laws have one mu > 0 in common, so that 1/mu is a constant"),
                 tried=1 + len(given.values("mu")))


def judge_smaller(divisor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether alpha/divisor(c) is below |w_l| for every alpha below |w_l|, c the constant of Lemma 12."""
    tried = 0
    for point in led(given, share="99/100", constant="2"):
        tried += 1
        if not 0 < point["share"] / divisor(point["constant"]) < 1:
            return refuted("the smaller alpha leaves the range", {
                "alpha/|w_l|": point["share"], "c": point["constant"], "divisor": divisor(point["constant"])})
    c_, share_ = given.chart("constant"), given.chart("share")
    return proof(computed("alpha/divisor <= alpha", never_negative(share_ - share_ / divisor(c_))), tried=tried)


where = Claim(
    id="nonconvex-nn/lem-15-wstar",
    source="002, (14) and case 3 of the proof of Theorem 7: w* where w_l is meant; " + MENDED,
    quote=r"$$\|w_T - w^*\|_2^2 \leq \frac{2\alpha^2}{9} + \frac{2\alpha^2}{9} \leq \frac{4\alpha^2}{9}. \quad (14)$$",
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"\lVert w_T - w^*\rVert_2 \to 0",
    words="the iterates tend to w*, the minimiser of the risk",
    hypotheses=(), says=lambda limit, best: best, check=judge_where,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\lVert w_T - w_\ell^*\rVert_2 \to 0", words="the iterates tend to w_l, the surrogate's minimiser",
        says=lambda limit, best: limit, expected="HOLDS ARGUED", source="002, (14) with w_l",
        rests_on=("nonconvex-nn/strong-convexity-mu",),
    ),
)
no_lemma_3 = Claim(
    id="nonconvex-nn/misspecified-lemma-3",
    source="002, Section 4.2: without a model the surrogate does not stand for the risk",
    quote=(
        "Since the zero-mean random noise assumption does not hold, we cannot apply Lemma 3, which transforms the "
        "original "
        "population risk to the population risk of a convex surrogate loss."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"L_{\mathcal{P}}(w_\ell^*) - L_{\mathcal{P}}(w^*) = k^2/2 > 0 \text{ for } y = kx",
    words="without a model the surrogate's minimiser need not be that of the risk: for labels k x it costs k^2/2",
    hypotheses=(positive("slope", "k"),), says=lambda k: k**2 / 2, check=judge_same,
    flips=(Flip("they are the same", lambda k: 0 * k, Verdict.REFUTED),),
    uses=("nonconvex-nn/lem-3",),
    expected="HOLDS PROVED",
)
smaller = Claim(
    id="nonconvex-nn/thm-7-final-step-alpha",
    source="002, end of the proof of Theorem 7: alpha/(4 mu) in place of alpha, mu the constant of Lemma 12",
    quote=r"Take $\alpha = \frac{\alpha}{4\mu}$ we can get the result.",
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"\alpha < \lVert w_\ell^*\rVert \Rightarrow \tfrac{\alpha}{4c} < \lVert w_\ell^*\rVert,\ c \ge 2",
    words="alpha/(4c) is still in the range of alpha, c >= 2 the constant of Lemma 12 (for a mu below 1/4 it need not "
          "be)",
    hypotheses=(probability("share", "alpha/|w_l|"), Parameter("constant", low=Fraction(2))),
    says=lambda c: 4 * c, check=judge_smaller,
    flips=(Flip("4/c^2, for 4 mu^2", lambda c: 4 / c**2, Verdict.REFUTED),),
    uses=("nonconvex-nn/eq-11-total",),
    true_variants=dict.fromkeys(("1 % *", "4 -> 5 *", "squared", "[*] -> + *"), "any divisor of 1 or more will do"),
    expected="HOLDS PROVED",
)
unbounded = Claim(
    id="nonconvex-nn/surrogate-not-lipschitz",
    source="002, Section 4.2: the surrogate is not Lipschitz over all w",
    quote=(
        r"their methods cannot be applied to our function $L_{\mathcal{P}}^{\ell}$ because they assume that the loss "
        r"is "
        r"Lipschitz over \mathbb{R}^d , which is not the case for our loss."
    ),
    whose=Whose.PRINTED,
    statement=r"\lVert\nabla\ell(w; x, 0)\rVert_2 = \lVert w\rVert\lVert x\rVert^2 \text{ for } w \parallel x",
    words="the surrogate's gradients have no bound over all w",
    hypotheses=(positive("weight", "|w|"), positive("size", "|x|")), says=lambda w, x: w * x**2, check=judge_unbounded,
    flips=(Flip("|x|^2", lambda w, x: x**2, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
step_size = Claim(
    id="nonconvex-nn/thm-7-eta",
    source="002, Theorem 7: eta <= 1/16 is what the last step of (12) asks for",
    quote=r"setting $T = O(\log(\|w_{\ell}^*\|_2))$ and $\eta \leq \frac{1}{16}$ in Algorithm 8 we have",
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\beta - 2\eta \ge 0 \iff \eta \le \tfrac1{16}",
    words="eta <= 1/16 is the largest step for which beta - 2 eta is not negative (with the right cross term 1/8 would "
          "do)",
    hypotheses=(), says=Fraction(1, 16), check=judge_step_size,
    flips=(Flip("1/8", Fraction(1, 8), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
m_condition = Claim(
    id="nonconvex-nn/eq-13-m-condition",
    source="002, the condition on m after (13), with the printed noise",
    quote=(
        r"$$m \geq \tilde{\Omega}(\sqrt{\frac{\eta}{\tau} + \frac{1}{\tau^2} \frac{d\sqrt{\log 1/\delta \log 1/\zeta}}"
        r"{\epsilon}}),$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\frac{\eta(4\eta + 1/\tau)}{\eta/\tau + 1/\tau^2} \le 4\tau\eta",
    words="m^2 of order (eta/tau + 1/tau^2) d^2 log/epsilon^2 makes the noise's part of (13) a part of tau eta",
    hypotheses=(positive("tau"), positive(
        "eta")), says=lambda tau, eta: eta / tau + 1 / tau**2, check=judge_m_condition,
    flips=(Flip("without 1/tau^2", lambda tau, eta: eta / tau, Verdict.REFUTED),),
    uses=("nonconvex-nn/eq-13",),
    true_variants={"1 % *": "there is room where tau eta is below 1, and more is more", "1 -> 2 *": "larger batches"},
    expected="HOLDS PROVED",
)
share_of_d = Claim(
    id="nonconvex-nn/nonprivate-d-factor",
    source="002, after Theorem 7: a factor d even without privacy, for this algorithm",
    quote="Therefore, even in the non-private case, there is still a factor of d in the sample complexity.",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}\lVert w_T - w_\ell\rVert^2 \ge \frac{\eta^2}{m}\cdot\frac{d}{64}",
    words="with labels of noise +-1/8 a step of Algorithm 8 adds at least eta^2 d/(64 m) to the mean square distance",
    hypotheses=(positive_integer("dimension"),), says=lambda d: d * Fraction(1, 64), check=judge_share,
    flips=(Flip("d^2/64", lambda d: d**2 * Fraction(1, 64), Verdict.REFUTED),),
    true_variants={"1 % less": "a smaller part is a lower bound, too",
                   "64 -> 65*": "a smaller part is a lower bound, too"},
    expected="HOLDS ARGUED",
)
factor = Claim(
    id="nonconvex-nn/intro-c-opt",
    source="002, Introduction: the risk is within alpha of c opt",
    quote=(
        r"This sample complexity guarantees that the difference between the population risk of our private estimator "
        r"and "
        r"$c \cdot \text{opt}$ is no more than α , where opt is the optimal value of population risk and $c > 0$ is "
        r"some "
        r"constant."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"L(w_\ell^*) \le c\,\mathrm{opt},\ c = 1/\mu",
    words="the limit's risk is at most a constant times the best one: c = 1/mu, which is at least 2",
    hypotheses=(MU,), says=lambda mu: 1 / mu, check=judge_factor,
    flips=(Flip("c = 1", lambda mu: 1 + 0 * mu, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/thm-7-constant-repaired", "nonconvex-nn/strong-convexity-mu"),
    true_variants={"1 % more": "a weaker bound", "1 -> 2 *": "a weaker bound"},
    expected="HOLDS ARGUED",
)
hardness = Claim(
    id="nonconvex-nn/hardness-prose",
    source="002, Section 4.2: ReLU regression without assumptions on x is NP-hard (Manurangsi and Reichman 2018)",
    quote=(
        r"in the absence of distributional assumptions on the marginal distribution of x , i.e., \mathcal{P}_x , "
        r"finding a "
        r"parameter w such that $L_{\mathcal{P}}(w) \leq O(L_{\mathcal{P}}(w^*)) + \alpha$ with some small error α is "
        r"NP-hard even in the non-private case."
    ),
    whose=Whose.PRINTED,
    statement=r"\text{no formula}",
    words="without assumptions on the features it is NP-hard to come within a constant factor of the best risk",
    hypotheses=(), says=None, check=citing(Verdict.NOT_CHECKABLE, _OTHERS), expected="NOT_CHECKABLE CITED",
)
necessary = Claim(
    id="nonconvex-nn/hardness-prose-goel",
    source="002, after Theorem 7: the factor before the best risk is necessary (Goel et al. 2019)",
    quote=(
        r"In fact, this big- O term is necessary, as Goel et al. (2019) provides hardness results for "
        r"$L_{\mathcal{P}}(w) - "
        r"L_{\mathcal{P}}(w^*) \leq \alpha$ with $\alpha \in (0, 1)$, even if the underlying distribution is the "
        r"standard "
        r"Gaussian."
    ),
    whose=Whose.PRINTED,
    statement=r"\text{no formula}",
    words="to come within alpha of the best risk is hard even for Gaussian features",
    hypotheses=(), says=None, expected="NOT_CHECKABLE CITED",
    check=citing(Verdict.NOT_CHECKABLE, _OTHERS + "; that this algorithm needs a factor 1/mu is "
                                                  "thm-7-constant-repaired"),
)
