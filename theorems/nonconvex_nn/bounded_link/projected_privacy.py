r"""Theorem 2 of document 002, privacy: phased SGD on projected records, tau_i = 16 B eta_i sqrt(log(2/delta))/epsilon.

Where it is true. Two neighbouring data sets have n + 1 different records. On the event E that all of them stay at most
2 long, which depends on the projection alone, the surrogate is 4B-Lipschitz and 4G-smooth, a phase's average moves by
at most 8B eta_i if 4 G eta_i <= 2 (eta <= 2/G), and the run is (epsilon, delta/2)-DP by the classical calibration
(lem-1), as 16 sqrt(log(2/delta)) >= 8 sqrt(2 log(5/(2 delta))) for every delta <= 8/5. For every set S of outcomes,
P(M(D) in S) <= e^epsilon P(M(D') in S) + delta/2 + P(not E): in general a curve at delta' is one at delta' + (n+1)
P(|Phi x| > 2). The last summand is at most delta/2 if m >= log(2 (n+1)/delta)/((3 - log 4)/2) (thm-2-stretch).

Where it is false. "m = O(log(n/delta) (n epsilon)^(2/3))" bounds m from above only: m = 1 is allowed. Let d = 1,
Phi x = g a vector of m entries N(0, 1/m); constant link B, records (1, -B) or (-1, -B) first and (1, B) after. Given g
the release is Gaussian, w_k ~ N(-+ (mu_0/2) g, I) in units of its noise, mu_0 = 4B eta_1 (n_1 - 1)/n_1 / tau, and what
comes out is <g, w_k>, with means -+ (mu_0/2) |g|^2 and variance |g|^2: the logarithm of the likelihood ratio is mu_0
times the outcome, whatever g is. So the best test is a threshold, and delta(epsilon) = E_g delta_Gauss(epsilon, mu_0
|g|), exactly. At m = 1 long g make it e^(-4 sqrt(log(2/delta))) rather than delta; cutting |g| into pieces bounds it
from below. For every m, P(|g| >= 1) > 1/4, so that it is at least a quarter of delta_Gauss(epsilon, mu_0).

The range "0 < epsilon, delta < 1/(2G)" is that of the step size in the proof. For a flat link, G = 1/1000, it allows
epsilon = 490, where the noise is too small whatever m is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.bounded_link.privacy import refuses
from theorems.nonconvex_nn.bounded_link.projection import longer, whole
from theorems.tools.either import log, root
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Promise = Mapping[str, Callable[..., Any]]
"""The rows m(n, delta), the noise over B eta_i/epsilon as a function of delta, and which eta G are allowed."""

_RECORDS = 1024
_PIECES = tuple(Fraction(j, 4) for j in range(2, 57))


def one_row(epsilon: Fraction, noise: arb) -> arb:
    """A lower bound of delta(epsilon) at m = 1: pieces of |g|, each with its shortest g."""
    apart = 4 * ball(Fraction(_RECORDS // 2 - 1, _RECORDS // 2)) * ball(epsilon) / noise  # mu_0
    total = arb(0)
    for low, high in itertools.pairwise(_PIECES):
        mass = 2 * (normal_upper_tail(ball(low)) - normal_upper_tail(ball(high)))
        total += mass * delta_ball(ball(epsilon), apart * ball(low))
    return total


def judge_projected(says: Promise, given: Domain) -> Finding:
    """Whether Algorithm 3 is (epsilon, delta)-DP with says["rows"](n, delta), says["noise"](delta), says["step"]."""
    tried = 0
    simple = {"epsilon": Fraction(1, 4), "delta": Fraction(1, 10**20), "n": _RECORDS}
    largest = {"epsilon": (given["epsilon"].high or 1) * Fraction(49, 50), "delta": Fraction(1, 10**5), "n": _RECORDS}
    lead = [point for point in (simple, largest) if given.contains(**point)]
    with ctx.workprec(200):
        for point in (*lead, *given.points("epsilon", "delta", "n")):
            epsilon, delta, n = point["epsilon"], point["delta"], point["n"]
            rows, noise = whole(says["rows"](ball(n), ball(delta))), abs(says["noise"](ball(delta)))
            tried += 1
            if rows == 1 and one_row(epsilon, noise) > ball(delta):
                return refuted("m = 1 is allowed, and there a long projected record tells too often", {
                    "epsilon": epsilon, "delta": delta, "n": _RECORDS, "m": 1,
                    "true delta at least": Enclosure.of_ball(one_row(epsilon, noise))})
            long = delta_ball(ball(epsilon), 4 * ball(Fraction(511, 512)) * ball(epsilon) / noise)
            if long / 4 > ball(delta):  # |Phi x| >= 1 with probability above 1/4, for every m
                return refuted("the noise is too small, whatever m is: P(|Phi x| >= 1) > 1/4", {
                    "epsilon": epsilon, "delta": delta, "n": _RECORDS, "m": rows,
                    "delta where |Phi x| = 1": Enclosure.of_ball(long),
                    "true delta at least": Enclosure.of_ball(long / 4)})
            stretched = ball(n + 1) * longer(rows, arb(4)) if rows else arb(0)
            half = delta_ball(ball(epsilon), 8 * ball(epsilon) / noise)
            if stretched > ball(delta) / 2 or half > ball(delta) / 2:
                return undecided(f"one half of delta is too small for its part at epsilon = {epsilon}", tried)
    return proof(*_steps(says, given), tried=tried)


def _steps(says: Promise, given: Domain) -> list[Any]:
    delta, n = given.symbol("delta"), given.symbol("n")
    surplus = sympy.simplify(says["noise"](delta) ** 2 - 128 * sympy.log(sympy.Rational(5, 2) / delta)) / 128
    room = sympy.simplify(sympy.exp(sympy.expand_log(surplus, force=True)) * delta)
    left = says["rows"](n, delta) * (3 - sympy.log(4)) / 2
    limit, most = given["epsilon"].high, given["delta"].high
    return [
        computed("e^((noise^2 - classical^2)/128) = (8/5)/delta >= 1: enough noise by Lemma 1 for delta/2 and the "
                 "sensitivity 8B eta_i, as delta <= 1",
                 vanishes(room - sympy.Rational(8, 5)) and most is not None and most <= 1),
        computed("(n+1) e^(-m (3 - log 4)/2) is delta/2 at the claimed number of rows",
                 vanishes((n + 1) * sympy.exp(-sympy.simplify(left)) - delta / 2)),
        computed("no eta G above 2 is allowed, and 2 is: 4 G eta_i <= 2 in every phase",
                 refuses(says["step"](2 + sympy.symbols("p", positive=True)))
                 and bool(says["step"](sympy.Integer(2)))),
        computed("epsilon is at most 1", limit is not None and limit <= 1),
        argued("the event that n + 1 records stay at most 2 long depends on the projection only, whose law is the same "
               "for both data sets; what happens off it is charged to delta"),
    ]


def judge_step(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether no step of size eta_1 = says(G)/4 on a record of length 2 takes two runs apart, and says is the most."""
    tried = 0
    for slope in (*(one for one in (Fraction(3),) if given.contains(G=one)), *given.values("G")):
        factor = 1 - says(slope) / 4 * slope * 4
        tried += 1
        if factor != -1:
            return refuted("a step on a record of length 2 takes two runs apart, or a longer one does not", {
                "G": slope, "eta": says(slope), "eta_1": says(slope) / 4, "|Phi x|": 2, "step factor": factor})
    slope_ = given.symbol("G")
    return proof(computed("the factor 1 - 4 G eta_1 is -1, the last that does not expand",
                          vanishes(1 - says(slope_) * slope_ + 1)), tried=tried)


def judge_covered(says: int, given: Domain) -> Finding:
    """Whether the event, on the first `says` of the n + 1 records of two neighbours, keeps the last one at most 2 long.

    One dimension, m = 1: Phi = (g_1, ..., g_{n+1}) has g_i = 0 but for the last, g = 10, and x_i = e_i.
    """
    for n in given.values("n"):
        lengths = [Fraction(0)] * n + [Fraction(10)]
        seen = lengths[: says + n]
        if max(seen, default=Fraction(0)) <= 2 < max(lengths):
            return refuted("the neighbour's own record is stretched on the event", {
                "n": n, "m": 1, "Phi": ", ".join(map(str, lengths)), "records of D": "e_1 to e_n",
                "neighbour's record": f"e_{n + 1}", "records in the event": min(len(seen), n + 1),
                "longest record of D": max(lengths[:n]), "|Phi x'|": lengths[n]})
    return proof(computed("every record of either data set is among those of the event", says >= 1),
                 argued("a data set and its neighbour have n + 1 records together"))


def judge_noise(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(delta) is Theorem 1's noise over B eta_i/epsilon, for twice its Lipschitz constant at delta/2."""
    tried = 0
    with ctx.workprec(120):
        for delta in given.values("delta"):
            needed = 8 * 2 * (2 / ball(delta)).log().sqrt()
            tried += 1
            if not abs(says(ball(delta)) - needed) < arb(2) ** -80 * needed:
                return refuted("another noise", {"delta": delta, "claimed": Enclosure.of_ball(says(ball(delta))),
                                                 "by Theorem 1": Enclosure.of_ball(needed)})
    delta_ = given.symbol("delta")
    return proof(computed("8 (2B) eta_i sqrt(log(1/(delta/2)))/epsilon, on symbols",
                          vanishes(says(delta_) ** 2 - 256 * sympy.log(2 / delta_))
                          and never_negative(says(delta_.subs(delta_, sympy.Rational(1, 2))))), tried=tried)


def _printed(delta: Any) -> Any:
    return 16 * root(log(2 / delta))


def _enough(n: Any, delta: Any) -> Any:
    return 2 * log(2 * (n + 1) / delta) / (3 - log(4 * n / n))


_QUOTE = (
    r"let $m = O(\log(n/\delta)(n\epsilon)^{\frac{2}{3}})$, then Algorithm 3 is (ϵ, δ) -DP for any $0 < \epsilon, "
    r"\delta < \frac{1}{2G}$."
)
_SIZE = positive_integer("n")

theorem = Claim(
    id="nonconvex-nn/thm-2-privacy", source="002, Theorem 2: privacy for every m = O(.), read at m = 1 and G = 1",
    quote=_QUOTE, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\tau_i = \frac{16B\eta_i\sqrt{\log(2/\delta)}}{\epsilon},\ m = O(\log(n/\delta)(n\epsilon)^{2/3})"
              r" \Rightarrow (\epsilon, \delta)\text{-DP},\ 0 < \epsilon, \delta < 1/(2G)",
    words="projected phased SGD with the printed noise is (epsilon, delta)-DP for all numbers of rows that O(.) allows",
    hypotheses=(probability("epsilon").below("1/2"), probability("delta").below("1/2"), _SIZE),
    says={"rows": lambda n, delta: n / n, "noise": _printed, "step": lambda reach: reach <= 2}, check=judge_projected,
    uses=("nonconvex-nn/thm-1-privacy", "nonconvex-nn/def-6-jl", "nonconvex-nn/thm-2-smooth"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta G \le 2:\ \delta = \delta' + (n+1)\,\mathbb{P}[\lVert\Phi x\rVert > 2] \text{ with } \delta'"
                  r" \text{ of } \mu = 8B/\sigma;\ (\epsilon, \delta)\text{-DP for } \epsilon \le 1,\ m \ge"
                  r" \tfrac{2}{3 - \log 4}\log\tfrac{2(n+1)}{\delta}",
        words="if eta G <= 2, projected phased SGD is, up to a delta of (n+1) P(|Phi x| > 2), a Gaussian mechanism "
              "with mu = 8B/sigma, and (epsilon, delta)-DP with the printed noise for epsilon <= 1 if m >= "
              "log(2 (n+1)/delta)/0.807",
        says={"rows": _enough, "noise": _printed, "step": lambda reach: reach <= 2},
        hypotheses=(probability("epsilon").at_most(1), probability("delta"), _SIZE), expected="HOLDS ARGUED",
        source="002, Theorem 2, with eta <= 2/G, epsilon <= 1 and enough rows",
        flips=(Flip("a fiftieth of the noise", {"rows": _enough, "noise": lambda delta: root(log(2 / delta)) * 8 / 25,
                                                "step": lambda reach: reach <= 2}, Verdict.REFUTED),
               Flip("half the rows", {"rows": lambda n, delta: log(2 * (n + 1) / delta) / (3 - log(4 * n / n)),
                                      "noise": _printed, "step": lambda reach: reach <= 2}, Verdict.UNDECIDED)),
        rests_on=("nonconvex-nn/alg-2-sensitivity", "nonconvex-nn/thm-2-smooth", "nonconvex-nn/thm-2-stretch",
                  "nonconvex-nn/lem-1", "background/balle-wang"),
        true_variants={"[[]noise] sign": "the law of the noise is symmetric"},
    ),
)
wide_range = replace(
    theorem, id="nonconvex-nn/thm-2-privacy-range",
    source="002, Theorem 2 with enough rows: 0 < epsilon < 1/(2G), G = 1/1000",
    whose=Whose.READING, repair=None, repaired_by="nonconvex-nn/thm-2-privacy-repaired",
    words="with enough rows the printed noise is enough for every epsilon below 1/(2G), here 500",
    hypotheses=(positive("epsilon").below(500), probability("delta"), _SIZE),
    says={"rows": _enough, "noise": _printed, "step": lambda reach: reach <= 2}, uses=(),
    flips=(Flip("four times the noise", {"rows": _enough, "noise": lambda delta: 64 * root(log(2 / delta)),
                                         "step": lambda reach: reach <= 2}, Verdict.UNDECIDED),),
)
step = Claim(
    id="nonconvex-nn/thm-2-step", source="002, Theorem 2: eta <= 1, where its proof has a bound with G",
    quote=r"when $\eta = O(\min\{\frac{\epsilon}{\sqrt{m \log \frac{1}{\delta}}}, \frac{1}{\sqrt{n}}\}) \leq 1$",
    whose=Whose.TYPO, severity=Stake.PRIVACY,
    statement=r"\eta \le 1 \Rightarrow 4G\eta_1 \le 2", words="with eta = 1 no step on a record of length 2 expands",
    hypotheses=(positive("G"),), says=lambda slope: slope / slope, check=judge_step,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta = 2/G:\ 4G\eta_1 = 2",
        words="eta = 2/G is the largest step with which no step on a record of length 2 expands (the proof has 1/(2G))",
        says=lambda slope: 2 / slope, expected="HOLDS PROVED", source="002, proof of Theorem 2, with eta_1 = eta/4",
    ),
)
covered = Claim(
    id="nonconvex-nn/thm-2-event", source="002, proof of Theorem 2: the event E is about the records of D alone",
    quote=(
        r"then with probability at least $1 - \frac{\delta}{2}$ for all feature vectors we have $\|\Phi x_i\|_2 \leq "
        r"(1 + \alpha)\|x_i\|_2 \leq 2\|x_i\|_2$"
    ),
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\lVert\Phi x_i\rVert \le 2\ (i \le n) \Rightarrow \text{sensitivity} \le 8B\eta_i",
    words="if the n records of D stay at most 2 long, so does the record that a neighbour has in place of one of them",
    hypotheses=(_SIZE,), says=0, check=judge_covered,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"E = \{\lVert\Phi x\rVert \le 2 \text{ for the } n + 1 \text{ records of } D \text{ and } D'\}",
        words="the event must be about the n + 1 records of both data sets",
        says=1, expected="HOLDS ARGUED", source="002, proof of Theorem 2, for n + 1 records",
        true_variants={"one more": "more records are no harm"},
    ),
)
noise = Claim(
    id="nonconvex-nn/alg-3-noise", source="002, Algorithm 3: tau_i = 16 B eta_i sqrt(log(2/delta))/epsilon",
    quote=r"with $\tau_i = \frac{16B\eta_i \sqrt{\log \frac{2}{\delta}}}{\epsilon}$.", whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"16B\eta_i\sqrt{\log(2/\delta)}/\epsilon = 8(2B)\eta_i\sqrt{\log(1/(\delta/2))}/\epsilon",
    words="the noise of Algorithm 3 is that of Algorithm 2 for gradients twice as long and delta/2",
    hypotheses=(probability("delta"),), says=_printed, check=judge_noise,
    flips=(Flip("log(1/delta)", lambda delta: 16 * root(log(1 / delta)), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
