r"""The steps of the proof of Theorem 4 of document 002, Lemma 10 among them.

Lemma 10. One phase, eta and n its own step and size; w^1 = w_{i-1}, comparator v, P = |w^1 - v|^2 (in the span of the
records). Answers a_t of the oracle are within gamma of the gradient f'_t, and |a_t| <= 2B: Algorithm 4 answers with an
average of numbers of at most 2B (`gradient_oracle`). Expand |w^{t+1} - v|^2 = |w^t - v|^2 - 2 eta <a_t, w^t - v> +
eta^2 |a_t|^2, use <a_t - f'_t, w^t - v> >= -gamma |w^t - v|, sum over t, take expectations (the t-th record is fresh)
and use convexity: F(mean) - F(v) <= P/(2 eta n) + 2 eta B^2 + (gamma/n) sum_t |w^t - v|, and |w^t - v| <= sqrt(P) + 2B
eta (t-1). So 2 eta B^2 and gamma (sqrt(P) + eta n B) are enough, for every comparator v; the text's 5/2 and 3 are
larger. It gets 5/2 from |a_t|^2 <= 4 B^2 + gamma^2, which does not follow from an error of at most gamma: that gives
(2B + gamma)^2.

Its last display. gamma = B/(n log n) and eta_i n_i <= eta n/8, eta <= W/(6B sqrt(n)): gamma 3 n_i eta_i B <= B W/(16
sqrt(n) log n), which the printed 1/(sqrt(n) log n) covers if and only if B W <= 16 (take i = 1 and n a power of 2)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.smoothing.gradient_oracle import step_links
from theorems.tools.either import log
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

Two = Callable[[Any, Any], Any]


def judge_lemma_10(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether Lemma 10 holds with says = (a, b): a eta B^2 + gamma (sqrt(P) + b n eta B); exact runs on one record."""
    curved, drift = says
    tried = 0
    for point in given.points("B", "gamma_over_B", "records", at_most=24, most={"records": 8}):
        bound, records = point["B"], point["records"]
        gamma, beta, eta = bound * point["gamma_over_B"], Fraction(2), Fraction(1, 2)
        for loss, start, target, sign in itertools.product(
                step_links(bound), (Fraction(0), bound), (Fraction(0), -bound), (-1, 1)):
            w, seen = start, []
            for _ in range(records):
                seen.append(w)
                told = beta * (w - loss.prox(w, beta)) + sign * gamma
                w -= eta * max(-2 * bound, min(2 * bound, told))
            gain = loss.envelope(sum(seen) / records, beta) - loss.envelope(target, beta)
            far = abs(start - target)
            most = far**2 / (2 * eta * records) + curved * eta * bound**2
            most += gamma * (far + drift * records * eta * bound)
            tried += 1
            if gain > most:
                return refuted("one phase gains less, exactly", {
                    "B": bound, "gamma": gamma, "n_i": records, "eta_i": eta, "beta": beta, "w_{i-1}": start,
                    "comparator": target, "slopes of g": ", ".join(map(str, loss.slopes)),
                    "kinks of g": ", ".join(map(str, loss.kinks)) or "none", "F - F": gain, "claimed": most})
    w, v, a = sympy.symbols("w v a", real=True)
    eta_, b_, n_, t_ = sympy.symbols("eta B n t", positive=True)
    mean = sympy.simplify(sympy.summation(2 * b_ * eta_ * (t_ - 1), (t_, 1, n_)) / n_)
    return proof(
        computed("(w - eta a - v)^2 = (w - v)^2 - 2 eta a (w - v) + eta^2 a^2",
                 vanishes(sympy.expand((w - eta_ * a - v) ** 2 - (w - v) ** 2 + 2 * eta_ * a * (w - v)
                                       - eta_**2 * a**2))),
        computed("eta |a|^2/2 <= 2 eta B^2 <= a eta B^2", curved >= 2),
        computed("the mean of 2B eta (t - 1) is B eta (n - 1), at most b n eta B",
                 vanishes(mean - b_ * eta_ * (n_ - 1)) and drift >= 1),
        argued("the sum telescopes; the t-th record is fresh, and F is convex: the module docstring"),
        tried=tried,
    )


def judge_cross(says: Two, given: Domain) -> Finding:
    """Whether |a|^2 <= says(B, gamma) for every a within gamma of a gradient of norm up to 2B."""
    tried = 0
    for point in led(given, at_most=60, B="1", gamma="1"):
        bound, gamma = point["B"], point["gamma"]
        true, tried = (2 * bound + gamma) ** 2, tried + 1
        if true > says(bound, gamma):
            return refuted("an answer in the direction of the gradient is longer", {
                "B": bound, "gamma": gamma, "gradient": 2 * bound, "answer": 2 * bound + gamma,
                "squared": true, "claimed": says(bound, gamma)})
    b_, gamma_ = given.symbol("B"), given.symbol("gamma")
    s, t = sympy.symbols("s t", nonnegative=True)
    return proof(
        computed("(2B/(1+s) + gamma/(1+t))^2 is at most what is claimed", never_negative(
            says(b_, gamma_) - (2 * b_ / (1 + s) + gamma_ / (1 + t)) ** 2)),
        tried=tried,
    )


def judge_last_display(says: Two, given: Domain) -> Finding:
    """Whether gamma (sqrt(P) + 3 n_i eta_i B) sqrt(n) log n <= B sqrt(P) + says(W, B): i = 1, n a power of 4."""
    tried = 0
    for point in led(given, at_most=80, W="5", B="5"):
        w, b = point["W"], point["B"]
        true, tried = b * w / 16, tried + 1  # gamma 3 n_1 eta_1 B sqrt(n) log n at eta = W/(6B sqrt(n))
        if true > says(w, b):
            return refuted("with P = 0 the line before is larger", {
                "W": w, "B": b, "n": 4, "i": 1, "before, times sqrt(n) log n": true, "after": says(w, b)})
    w_, b_ = given.symbol("W"), given.symbol("B")
    n_, p = sympy.symbols("n P", positive=True)
    eta = w_ / (6 * b_ * sympy.sqrt(n_))
    return proof(
        computed("3 (n/2) (eta/4) B B/(n log n) times sqrt(n) log n is B W/16",
                 vanishes(3 * n_ / 2 * eta / 4 * b_ * b_ / n_ * sympy.sqrt(n_) - b_ * w_ / 16)),
        computed("that is at most what is claimed", never_negative(says(w_, b_) - b_ * w_ / 16)),
        computed("n_i eta_i falls by 8 from phase to phase, and B sqrt(P)/n <= B sqrt(P)/sqrt(n) for n = 1 + P >= 1",
                 never_negative(sympy.Integer(1) - sympy.Rational(1, 8), (1 + p) ** 2 - (1 + p))),
        tried=tried,
    )


def judge_room(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether gamma (n+1) <= B for gamma = says(n) B, so that 4B + gamma (n+1) <= 5B."""
    tried = 0
    with ctx.workprec(80):
        for n in (2, *given.values("n")) if given.contains(n=2) else given.values("n"):
            share, tried = says(arb(n)) * (n + 1), tried + 1
            if not share <= 1:
                return refuted("the errors of the oracle do not fit, certified", {
                    "n": n, "gamma (n+1)/B": Enclosure.of_ball(share), "room": 1})
        if not given["n"].low or given["n"].low < 4:
            return undecided("no proof for these n", tried)
        least = arb(4).log() * 4 - 5  # n log n - n - 1 at n = 4
    x = sympy.symbols("x", positive=True)
    slope = sympy.diff(x * sympy.log(x) - x - 1, x)
    return proof(
        computed("1/(n log n) as claimed", vanishes(says(x) - 1 / (x * sympy.log(x)))),
        computed("n log n - n - 1 is positive at n = 4, certified, and its slope is log n > 0",
                 bool(least > 0) and vanishes(slope - sympy.log(x))),
        tried=tried,
    )


def judge_expansion(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(beta) is the longest step for which |u - eta s <u,x> x| <= |u|, s in [0, beta], |x| <= 1."""
    tried = 0
    for beta in given.values("beta"):
        eta = says(beta)
        factors = [abs(1 - eta * s * beta) for s in (Fraction(0), Fraction(1, 2), Fraction(1))]
        tried += 1
        if max(factors) > 1:
            return refuted("a step moves two runs apart", {"beta": beta, "eta": eta, "|x|": 1, "factor": max(factors)})
        if abs(1 - eta * Fraction(101, 100) * beta) <= 1:
            return refuted("longer steps do not move two runs apart either", {"beta": beta, "eta": eta})
    beta_, s = given.symbol("beta"), sympy.symbols("s", nonnegative=True)
    step = says(beta_) * beta_ / (1 + s)
    return proof(computed("(1 - eta beta/(1+s))^2 <= 1, with equality at s = 0", never_negative(
        1 - (1 - step) ** 2) and vanishes((1 - says(beta_) * beta_) ** 2 - 1)), tried=tried)


def judge_mean(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean of 4B + 2 gamma t over t = 1, ..., n is says(B, gamma, n)."""
    tried = 0
    for point in given.points("B", "gamma", "records", at_most=60, most={"records": 60}):
        b, gamma, n = point["B"], point["gamma"], point["records"]
        true, tried = sum((4 * b + 2 * gamma * t for t in range(1, n + 1)), Fraction(0)) / n, tried + 1
        if says(b, gamma, n) != true:
            return refuted("another mean", {"B": b, "gamma": gamma, "n": n, "mean": true, "claimed": says(b, gamma, n)})
    b_, gamma_, n_, t = given.symbol("B"), given.symbol("gamma"), given.symbol("records"), sympy.symbols("t")
    return proof(computed("the sum, by computer algebra", vanishes(
        says(b_, gamma_, n_) - sympy.summation(4 * b_ + 2 * gamma_ * t, (t, 1, n_)) / n_)), tried=tried)


def judge_comparator(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether sum_i (F(w_i) - F(w_{i-1})) from w_0 = says(w*, w_beta) is F(w_k) - F(w*); F(w) = (w - 1)^2, w* = 0."""
    tried = 0
    for point in led(given, at_most=60, target="0", minimiser="1"):
        target, least = point["target"], point["minimiser"]
        releases = [says(target, least), Fraction(5), Fraction(-3), Fraction(2)]
        loss = [(w - least) ** 2 for w in releases]
        told, true = sum(b - a for a, b in itertools.pairwise(loss)), loss[-1] - (target - least) ** 2
        tried += 1
        if told != true:
            return refuted("the sum telescopes to another difference", {
                "F(w)": f"(w - {least})^2", "w*": target, "w_beta*": least, "w_k": releases[-1], "sum": told,
                "F(w_k) - F(w*)": true})
    target_, least_ = given.symbol("target"), given.symbol("minimiser")
    return proof(computed("the sum starts at the comparator, which is w*", vanishes(says(target_, least_) - target_)),
                 tried=tried)


def judge_constant(says: Two, given: Domain) -> Finding:
    """Whether 2G times the sandwich's 2 B^2/beta is at most says(G B^2, beta)."""
    tried = 0
    for point in led(given, at_most=60, weight="1", beta="1"):
        true, tried = 4 * point["weight"] / point["beta"], tried + 1
        if true > says(point["weight"], point["beta"]):
            return refuted("Lemma 3 and Lemma 5 give more", {
                "G B^2": point["weight"], "beta": point["beta"], "2G 2B^2/beta": true,
                "claimed": says(point["weight"], point["beta"])})
    weight, beta = given.symbol("weight"), given.symbol("beta")
    return proof(computed("4 G B^2/beta is at most what is claimed", never_negative(
        says(weight, beta) - 4 * weight / beta)), tried=tried)


def judge_last_phase(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether 4^(-k) <= says(n) for k = floor(log2 n): with eta <= 1/sqrt(n) the last noise is then as printed."""
    tried = 0
    for n in (3, 1023, *given.values("n", most=10**6)):
        if n < 1:
            return undecided("no records", max(tried, 1))
        k, tried = n.bit_length() - 1, tried + 1
        if Fraction(1, 4**k) > says(Fraction(n)):
            return refuted("the last phase has a longer step", {"n": n, "k": k, "4^-k": Fraction(1, 4**k),
                                                               "claimed": says(Fraction(n))})
    n_ = given.symbol("n")
    return proof(argued("2^k > n/2, so 4^-k < 4/n^2"), computed("4/n^2 is at most what is claimed", never_negative(
        says(n_) - 4 / n_**2)), sampled("at the points", True), tried=tried)


_B, _GAMMA = positive("B"), positive("gamma")
_SHARE = Parameter("gamma_over_B", low=Fraction(0), high=Fraction(1))
_RECORDS = positive_integer("records", "n_i")
_LEMMA_10 = (
    r"\mathbb{E}[F_\beta(\bar{w}_i) - F_\beta(\bar{w}_{i-1})] \leq \frac{\mathbb{E}[\|w_{i-1} - "
    r"\bar{w}_{i-1}\|_V^2]}{2\eta_i n_i} + \frac{5\eta_i B^2}{2} + \frac{(B\mathbb{E}[\|w_{i-1} - \bar{w}_{i-1}\|_V] + "
    r"1)}{\sqrt{n} \log n}."
)
_SENSITIVITY = (
    r"And thus $\|\bar{w}_i - \bar{w}_i'\| \leq 4B\eta_i + \gamma\eta_i(n+1) \leq 5B\eta_i$."
)

lemma_10 = Claim(
    id="nonconvex-nn/lem-10", source="002, Lemma 10, with the last term of the display before its last",
    quote=r"\frac{\mathbb{E}[\Phi^1]}{2\eta n_i} + \frac{5\eta B^2}{2} + \gamma(\mathbb{E}[\sqrt{\Phi^1}] + 3n_i \eta "
          r"B)",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}[F_\beta(\bar w_i) - F_\beta(v)] \le \frac{\mathbb{E}\Phi^1}{2\eta_i n_i} + \frac52 \eta_i "
              r"B^2"
              r" + \gamma(\mathbb{E}\sqrt{\Phi^1} + 3 n_i \eta_i B)",
    words="a phase of Algorithm 5 comes within P/(2 eta_i n_i) + 5/2 eta_i B^2 + gamma (sqrt(P) + 3 n_i eta_i B) of "
          "any "
          "comparator",
    hypotheses=(_B, _SHARE, _RECORDS), says=(Fraction(5, 2), Fraction(3)), check=judge_lemma_10,
    flips=(Flip("without them", (Fraction(-1), Fraction(0)), Verdict.REFUTED),
           Flip("2 and 1", (Fraction(2), Fraction(1)), Verdict.HOLDS)),
    uses=("nonconvex-nn/lem-6",), rests_on=("nonconvex-nn/lem-5", "nonconvex-nn/lem-5-smooth", "nonconvex-nn/lem-6"),
    true_variants={"[[]0[]] 1 % *": "2 is enough", "[[]0[]] one more": "2 is enough", "[[]1[]] 1 % *": "1 is enough",
                   "[[]1[]] one more": "1 is enough"},
    expected="HOLDS ARGUED",
)
last_display = Claim(
    id="nonconvex-nn/lem-10-last-term", source="002, Lemma 10: the printed last term, from the display before",
    quote=_LEMMA_10, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\gamma(\sqrt{\Phi} + 3 n_i \eta_i B) \le \frac{B\sqrt{\Phi} + 1}{\sqrt n \log n}",
    words="the last term of Lemma 10 follows for all W and B", hypotheses=(positive("W"), _B), says=lambda w, b: 1,
    check=judge_last_display, uses=("nonconvex-nn/lem-10",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\gamma(\sqrt{\Phi} + 3 n_i \eta_i B) \le \frac{B\sqrt{\Phi} + BW/16}{\sqrt n \log n}",
        words="the last term of Lemma 10 follows with B W/16 for 1, so as printed for B W <= 16",
        says=lambda w, b: b * w / 16, expected="HOLDS PROVED",
        true_variants={"1 % more": "larger", "/ -> [*]*": "larger", "any [WB]": "both sides are one expression"},
        flips=(Flip("B W/17", lambda w, b: b * w / 17, Verdict.REFUTED),),
    ),
)
cross = Claim(
    id="nonconvex-nn/lem-10-cross-term", source="002, proof of Lemma 10, first display: the squared answer",
    quote=r"+ 2\eta\gamma \|w^t - \bar{w}_{i-1}\|_V + \eta^2(\gamma^2 + 4B^2)", whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\lVert \tilde\nabla f_\beta \rVert^2 \le \gamma^2 + 4B^2",
    words="an answer within gamma of a gradient of norm 2B has squared norm at most 4 B^2 + gamma^2",
    hypotheses=(_B, _GAMMA), says=lambda b, gamma: 4 * b**2 + gamma**2, check=judge_cross, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert \tilde\nabla f_\beta \rVert^2 \le (2B + \gamma)^2",
        words="an answer within gamma of a gradient of norm 2B has squared norm at most (2B + gamma)^2",
        says=lambda b, gamma: (2 * b + gamma) ** 2, expected="HOLDS PROVED",
        true_variants={"1 % more": "larger"},
    ),
)
room = Claim(
    id="nonconvex-nn/thm-4-proof-sensitivity", source="002, proof of Theorem 4, gamma = B/(n log n)",
    quote=_SENSITIVITY, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\gamma (n+1) \le B,\ \gamma = \frac{B}{n \log n},\ n \ge 2",
    words="the errors of the oracle add at most B eta_i to the sensitivity, gamma (n+1) <= B, for every n",
    hypotheses=(positive_integer("n").at_least(2),), says=lambda n: 1 / (n * log(n)), check=judge_room,
    flips=(Flip("a third of it", lambda n: 1 / (3 * n * log(n)), Verdict.UNDECIDED),), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\gamma (n+1) \le B \text{ for } n \ge 4", words="gamma (n+1) <= B for n >= 4",
        hypotheses=(positive_integer("n").at_least(4),), says=lambda n: 1 / (n * log(n)), check=judge_room,
        expected="HOLDS PROVED", flips=(Flip("1/n", lambda n: 1 / n, Verdict.REFUTED),),
    ),
)
expansion = Claim(
    id="nonconvex-nn/thm-4-nonexpansive", source="002, proof of Theorem 4: steps of at most 2/beta",
    quote=r"Note that since f_β is β -smooth. Thus, by using a similar proof as in Hardt et al. (2016) we have when "
          r"$\eta \leq \frac{2}{\beta}$", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\eta_i \le 2/\beta \Rightarrow \lVert u - \eta_i s \langle u, x\rangle x \rVert \le \lVert u \rVert",
    words="a step on a common record does not move two runs apart for eta_i <= 2/beta, and may beyond",
    hypotheses=(positive("beta"),), says=lambda beta: 2 / beta, check=judge_expansion,
    flips=(Flip("4/beta", lambda beta: 4 / beta, Verdict.REFUTED),
           Flip("1/beta", lambda beta: 1 / beta, Verdict.REFUTED)),
    rests_on=("nonconvex-nn/lem-5-smooth",), expected="HOLDS ARGUED",
)
mean_shift = Claim(
    id="nonconvex-nn/thm-4-average", source="002, proof of Theorem 4: the mean of 4B + 2 gamma t (n for n_i)",
    quote=_SENSITIVITY, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\frac1{n_i} \sum_{t=1}^{n_i} (4B + 2\gamma t) = 4B + \gamma (n_i + 1)",
    words="the mean of 4B + 2 gamma t over a phase is 4B + gamma (n_i + 1)", hypotheses=(_B, _GAMMA, _RECORDS),
    says=lambda b, gamma, n: 4 * b + gamma * (n + 1), check=judge_mean,
    flips=(Flip("n for n + 1", lambda b, gamma, n: 4 * b + gamma * n, Verdict.REFUTED),), expected="HOLDS PROVED",
    true_variants={"any B": "an identity", "any gamma": "an identity"},
)
comparator = Claim(
    id="nonconvex-nn/thm-4-w-beta", source="002, proof of Theorem 4: w_0 = w_beta* in a sum that is to end at F(w*)",
    quote=r"Denote $\bar{w}_0 = w_\beta^*$ and $\zeta_0 = w_0 - w^*$", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\sum_i [F_\beta(\bar w_i) - F_\beta(\bar w_{i-1})] = F_\beta(\bar w_k) - F_\beta(w^*),\ \bar w_0 ="
              r" w_\beta^*",
    words="the sum that starts at w_beta* telescopes to the difference from F(w*)",
    hypotheses=(Parameter("target"), Parameter("minimiser")), says=lambda target, least: least,
    check=judge_comparator, uses=("nonconvex-nn/lem-10",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\bar w_0 := w^*", words="the sum that starts at w* does, and Lemma 10 is for any comparator",
        says=lambda target, least: target, expected="HOLDS PROVED",
    ),
)
constant = Claim(
    id="nonconvex-nn/thm-4-last-constant", source="002, proof of Theorem 4, last display: what smoothing costs",
    quote=r"\leq O(GW^2 B)\left(\frac{\sqrt{\theta \log \frac{1}{\delta}}}{n\epsilon} + \frac{1}{\sqrt{n}}\right) + "
          r"\frac{GB^2}{\beta}.", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"2G \cdot \frac{2B^2}{\beta} \le \frac{GB^2}{\beta}",
    words="Lemma 3 and the sandwich of Lemma 5 give G B^2/beta for the smoothing",
    hypotheses=(positive("weight", "G B^2"), positive("beta")), says=lambda weight, beta: weight / beta,
    check=judge_constant, uses=("nonconvex-nn/lem-5-error",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"2G \cdot \frac{2B^2}{\beta} = \frac{4GB^2}{\beta}", words="they give 4 G B^2/beta",
        says=lambda weight, beta: 4 * weight / beta, expected="HOLDS PROVED",
        true_variants={"1 % more": "larger", "4 -> 5*": "larger", "any weight": "both sides are one expression"},
    ),
)
last_phase = Claim(
    id="nonconvex-nn/thm-4-last-phase", source="002, proof of Theorem 4: 2B tau_k (k = floor(log2 n) phases)",
    quote=r"\mathbb{E}[F_\beta(w_k) - F_\beta(\bar{w}_k)] \leq 2BR\mathbb{E}[\langle \zeta_k, x \rangle] \leq 2B\tau_k "
          r"\leq O\left(\frac{WBR\sqrt{\log \frac{1}{\delta}}}{\epsilon n^{\frac{5}{2}}}\right).", whose=Whose.READING,
    severity=Stake.PROOF, statement=r"4^{-k} \le 4/n^2,\ \eta \le W/(B\sqrt n)",
    words="the last phase has a step of at most 4 eta/n^2, so that its noise costs O(n^(-5/2))",
    hypotheses=(positive_integer("n"),), says=lambda n: 4 / n**2, check=judge_last_phase,
    flips=(Flip("1/n^2", lambda n: 1 / n**2, Verdict.REFUTED),),
    true_variants={"1 % more": "larger", "4 -> 5*": "larger", "/ -> [*]*": "larger"}, expected="HOLDS ARGUED",
)
