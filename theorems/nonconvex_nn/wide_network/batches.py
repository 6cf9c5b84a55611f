r"""Lemma 23 of document 002: no batch is much smaller than expected.

|B_t| is binomial with mean M. For 0 < c <= 1, P(|B_t| <= (1 - c) M) <= e^{-c^2 M/2} (lower Chernoff bound). With c = 1
- C_1 the union over T steps is at most T e^{-(1 - C_1)^2 M/2}, and at M = K log(T/gamma) that is at most gamma if (1 -
C_1)^2 K >= 2: for C_1 = 1/2 the constant 8 is enough. The lower bound: P <= e^{-sM} by Markov with E e^{-u B} <=
e^{M(e^{-u} - 1)}, and (1 - c) log(1 - c) + c >= c^2/2, whose derivative -log(1 - c) - c is not negative.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import positive, positive_integer, probability, unit_interval
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Formula = Callable[..., Any]


def small_batch(records: int, mean: int, below: Fraction) -> Fraction:
    """P(|B| < below) for a batch that takes each of the records with probability mean/records, exactly."""
    q, most = Fraction(mean, records), -(-below.numerator // below.denominator) - 1
    return sum((comb(records, k) * q**k * (1 - q) ** (records - k) for k in range(most + 1)), Fraction(0))


def judge_batches(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether M >= K log(T/gamma), says = (K, C_1), makes |B_t| >= C_1 M for all t with probability 1 - gamma."""
    constant, share = Fraction(says[0]), Fraction(says[1])
    tried = 0
    for point in given.points("steps", "gamma", most={"steps": 1000}):
        steps, gamma = point["steps"], point["gamma"]
        with ctx.workprec(100):
            asked = ball(constant) * (ball(Fraction(steps)) / ball(gamma)).log()
            mean = int(float(asked.upper())) + 1  # no smaller than what is asked
        if mean > 200:
            continue  # an exact binomial of that size is dear, and far below gamma
        failed = small_batch(4 * mean, mean, share * mean)
        tried += 1
        if (1 - failed) ** steps < 1 - gamma:
            return refuted("too many batches are small, exactly", {
                "T": steps, "gamma": gamma, "M": mean, "n": 4 * mean, "C_1": share,
                "chance that one batch is small": Enclosure.of_ball(ball(failed))})
    c = sympy.Symbol("c", positive=True)
    rate = (1 - c) * sympy.log(1 - c) + c - c**2 / 2
    return proof(
        computed("(1 - C_1)^2 K >= 2, with 0 < C_1 < 1, so that T e^{-(1 - C_1)^2 M/2} <= gamma",
                 0 < share < 1 and (1 - share) ** 2 * constant >= 2),
        computed("(1 - c) log(1 - c) + c - c^2/2 is 0 at 0 and has the derivative -log(1 - c) - c, that c/(1 - c) >= 0",
                 vanishes(rate.subs(c, 0), sympy.diff(rate, c) + sympy.log(1 - c) + c,
                          sympy.diff(-sympy.log(1 - c) - c, c) - c / (1 - c))),
        argued("Markov's inequality for e^{-u|B|}, and the union over the T steps"),
        tried=tried,
    )


def judge_tail(event: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the event (b, M, c) contains all batches b < (1 - c) M."""
    tried = 0
    for point in led(given, at_most=200, mean="2", part="1/2", short="0"):
        mean, part = point["mean"], point["part"]
        size = (1 - part) * mean * point["short"]
        tried += 1
        if not event(size, mean, part):
            return refuted("a small batch is not in the event whose probability is bounded", {
                "M": mean, "deviation": part, "|B|": size, "needed: |B| <": (1 - part) * mean})
    mean_, part_, short = given.symbol("mean"), given.chart("part"), given.chart("short")
    inside = event((1 - part_) * mean_ * short, mean_, part_)
    return proof(computed("every |B| below (1 - c) M is in the event, on symbols", _true(inside)), tried=tried)


def _true(relation: Any) -> bool:
    """Whether an inequality between expressions holds by the signs of its terms."""
    if isinstance(relation, (bool, sympy.logic.boolalg.BooleanAtom)):
        return bool(relation)
    gap = relation.lhs - relation.rhs if isinstance(relation, sympy.GreaterThan) else None
    return gap is not None and not gap.has(sympy.Abs) and never_negative(sympy.simplify(gap))


def judge_deviation(failure: Formula, given: Domain) -> Finding:
    """Whether T P(|B_t| < (1 - c) M) <= gamma at c^2 M = 3 log(T/gamma), by the one-sided bound; failure(T, gamma)."""
    tried = 0
    for point in given.points("steps", "gamma"):
        steps, gamma = point["steps"], point["gamma"]
        if failure(steps, gamma) <= 0 or failure(steps, gamma) ** 2 < steps**2 * (gamma / steps) ** 3:
            return refuted("less than the one-sided bound gives", {"T": steps, "gamma": gamma})
        tried += 1
        if failure(steps, gamma) > gamma:
            return refuted("the union over the steps is above gamma", {
                "T": steps, "gamma": gamma, "claimed failure": failure(steps, gamma)})
    steps_, gamma_ = given.chart("steps"), given.chart("gamma")
    union = steps_ * sympy.exp(-3 * sympy.log(steps_ / gamma_) / 2)
    return proof(
        computed("T e^{-c^2 M/2} at c^2 M = 3 log(T/gamma) is T (gamma/T)^{3/2} and at most the claimed failure",
                 vanishes(union - steps_ * (gamma_ / steps_) ** sympy.Rational(3, 2))
                 and never_negative(sympy.simplify(failure(steps_, gamma_) ** 2 - union**2))),
        computed("which is at most gamma", never_negative(sympy.simplify(gamma_ - failure(steps_, gamma_)))),
        argued("P(|B_t| <= (1 - c) M) <= e^{-c^2 M/2}, as in Lemma 23; for c > 1 there is nothing to prove"),
        tried=tried,
    )


def judge_chernoff(says: Formula, given: Domain) -> Finding:
    """Whether P(|B| - M >= g M) <= 2 exp(-says(g, M)) for g in (0, 1], |B| binomial with mean M."""
    tried, beyond = 0, False
    for point in given.points("part", "mean", most={"mean": 60}):
        part, mean = point["part"], point["mean"]
        large = 1 - small_batch(4 * mean, mean, (1 + part) * mean)
        with ctx.workprec(100):
            bound = 2 * (-ball(says(part, Fraction(mean)))).exp()
            tried += 1
            if ball(large) > bound:
                return refuted("an exact binomial tail is above it", {
                    "n": 4 * mean, "M": mean, "deviation": part, "P": Enclosure.of_ball(ball(large)),
                    "claimed": Enclosure.of_ball(bound)})
            markov = mean * ((1 + ball(part)) * (1 + ball(part)).log() - ball(part))
            beyond = beyond or bool(ball(says(part, Fraction(mean))) > markov)
    if beyond:
        return undecided("the exponent is above that of Markov's inequality", tried)
    g, t = sympy.Symbol("g", positive=True), sympy.Symbol("t", nonnegative=True)
    rate = (1 + g) * sympy.log(1 + g) - g - g**2 / 3
    bend = sympy.diff(rate, g, 2)
    part_, mean_ = given.chart("part"), given.symbol("mean")
    return proof(
        computed("the exponent is at most g^2 M/3, on symbols", never_negative(part_**2 * mean_ / 3 - says(part_,
            mean_))),
        computed("(1 + g) log(1 + g) - g - g^2/3 and its slope are 0 at 0; its second derivative is positive up to "
                 "1/2 and "
                 "negative from there, and the slope at 1 is log(2) - 2/3 > 0", vanishes(
                     rate.subs(g, 0), sympy.diff(rate, g).subs(g, 0), bend - (1 / (1 + g) - sympy.Rational(2, 3)))
                 and never_negative(bend.subs(g, t / (1 + t) / 2), -bend.subs(g, sympy.Rational(1, 2) + t))
                 and bool(sympy.diff(rate, g).subs(g, 1) > 0)),
        argued("Markov's inequality for e^{u|B|}: P <= e^{-M((1 + g) log(1 + g) - g)}"), tried=tried,
    )


_STEPS = (positive_integer("steps", "T"), probability("gamma"))
batches = Claim(
    id="nonconvex-nn/lem-23", source="002, Lemma 23, with the constants 8 and C_1 = 1/2",
    quote=r"When $M \geq \Omega(\log \frac{T}{\gamma})$ we have with probability at least $1 - \gamma$ for all $t \in "
          r"[T]$, "
          r"$|B_t| \geq C_1 M$ for some constant $C_1 > 0$",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"M \ge 8\log(T/\gamma) \Rightarrow P(\forall t: |B_t| \ge M/2) \ge 1 - \gamma",
    words="with M >= 8 log(T/gamma) all T batches have at least M/2 records but for a probability gamma",
    hypotheses=_STEPS, says=(8, Fraction(1, 2)), check=judge_batches,
    flips=(Flip("the constant 1", (1, Fraction(1, 2)), Verdict.REFUTED),
           Flip("C_1 = 9/10", (8, Fraction(9, 10)), Verdict.REFUTED)),
    true_variants={"[[]0] *more": "larger batches", "[[]1] 1 % less": "a smaller share of the mean"},
    expected="HOLDS ARGUED",
)
tail = Claim(
    id="nonconvex-nn/lem-23-tail", source="002, proof of Lemma 23: the upper tail is bounded where the lower is needed",
    quote=r"\mathbb{P}(|B_t| - M \geq \gamma M) \leq 2 \exp\left(-\frac{\gamma^2 M}{3}\right)",
    whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\{|B_t| < (1-\gamma)M\} \subseteq \{|B_t| - M \ge \gamma M\}",
    words="the event that the proof of Lemma 23 bounds contains the small batches",
    hypotheses=(positive("mean", "M"), probability("part", "the proof's first gamma"), unit_interval("short")),
    says=lambda size, mean, part: size - mean >= part * mean, check=judge_tail, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\{|B_t| < (1-\gamma)M\} \subseteq \{M - |B_t| \ge \gamma M\}",
        words="the event M - |B_t| >= gamma M contains the small batches",
        says=lambda size, mean, part: mean - size >= part * mean, expected="HOLDS PROVED",
        flips=(Flip("half of M", lambda size, mean, part: mean / 2 - size >= part * mean, Verdict.REFUTED),),
        true_variants={"- -> +*": "a larger event contains them, too"},
    ),
)
deviation = Claim(
    id="nonconvex-nn/lem-23-deviation", source="002, proof of Lemma 23: |B_t| >= (1 - sqrt(3 log(T/gamma)/M)) M",
    quote=r"Thus, we have with probability at least $1 - \gamma$ we have $|B_t| \geq (1 - \frac{\sqrt{3 \log "
          r"\frac{T}{\gamma}}}{\sqrt{M}})M$.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"T e^{-c^2 M/2} = \gamma^{3/2} T^{-1/2} \le \gamma \text{ at } c^2 M = 3\log(T/\gamma)",
    words="all batches reach (1 - c) M, c^2 = 3 log(T/gamma)/M, but for gamma, by the one-sided bound",
    hypotheses=_STEPS, says=lambda steps, gamma: gamma, check=judge_deviation,
    flips=(Flip("gamma^2", lambda steps, gamma: gamma**2, Verdict.REFUTED),
           Flip("2 gamma", lambda steps, gamma: 2 * gamma, Verdict.REFUTED)),
    expected="HOLDS ARGUED",
)
chernoff = Claim(
    id="nonconvex-nn/lem-23-chernoff", source="002, proof of Lemma 23: the display, as printed (the upper tail)",
    quote=r"\mathbb{P}(|B_t| - M \geq \gamma M) \leq 2 \exp\left(-\frac{\gamma^2 M}{3}\right)",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"P(|B_t| - M \ge \gamma M) \le 2e^{-\gamma^2 M/3},\ "
                                                             r"\gamma \le 1",
    words="the upper tail of a batch's size is at most 2 exp(-gamma^2 M/3) for gamma up to 1",
    hypotheses=(positive("part", "gamma").at_most(1), positive_integer("mean", "M")),
    says=lambda part, mean: part**2 * mean / 3, check=judge_chernoff,
    flips=(Flip("gamma for its square", lambda part, mean: part * mean / 3, Verdict.UNDECIDED),
           Flip("thrice the exponent", lambda part, mean: part**2 * mean, Verdict.REFUTED)),
    true_variants={"1 % less": "a weaker bound", "sign": "a bound above 1 is true", "3 -> 4*": "a weaker bound",
                   "2 -> 3*": "a weaker bound: gamma is at most 1"},
    expected="HOLDS ARGUED",
)
