r"""Algorithm 2, DP-Threshold: one histogram, one call, all calls of a training, and the budget that they share.

In counts (frequencies times K): noise Lap(2/epsilon'), bar 1 + (2/epsilon') log(1/delta'). P(L - L' > t) for two
standard Laplace variables is T(t) = e^-t (1/2 + t/4), t >= 0.

As printed, steps 8 to 12 give noise to the bins whose TRUE count is below the bar and empty all others. With K = 30,
epsilon' = 1, delta' = 1e-5 the bar is at 24.03. A bin of 25 is emptied and loses to one of 5, one of 24 against 6 wins:
no (1, 1e-5)-DP. So "the bin with the most estimates" is not what is used either.

With the test on the noisy count (Karwa and Vadhan) one histogram is (epsilon', delta'/2)-DP. A record moves one batch
mean from a bin to another. Both stay non-empty: two Laplace releases of ratio epsilon'/2 each, e^epsilon' in all. A bin
of count 1 that vanishes or appears speaks with probability P(Lap > (2/epsilon') log(1/delta')) = delta'/2 on one side
and never on the other. With p = delta'/2 and the other bin's two laws P, Q, of ratio e^{epsilon'/2} at most: where the
bin may speak an event has p + (1-p) P(E) <= p + e^{epsilon'} Q(E); the other way round Q(E) - e^{epsilon'} (1-p) P(E)
<= Q(E) (1 - (1-p) e^{epsilon'/2}) <= p. One bin that vanishes and one that appears: p both ways.

A call makes three histograms of the same batches: (3 epsilon', 3 delta'/2)-DP by adding up. (epsilon', delta') is not
enough: let all three squares of a record cross an end of a bin together, with c and c + 1 of 2c + 1 means on its sides.
Batches of four records, three of (<x,w>, y) = (1, 1) and one of (1, -1), have the means 1, 1, 1 of the three squares;
with (9/10, -9/10) for the last they are below 1 and above 1/2. All histograms answer "below" with probability q^3 or
p^3, q = T(epsilon'/2), p = 1 - q, and p/q is about e^{epsilon'/2}: together e^{3 epsilon'/2}. The released s tells it.

All N calls. By advanced composition of 3N mechanisms of (epsilon', delta'/2), epsilon' = epsilon/sqrt(8N log(2/delta)),
delta' = delta/(2N), with slack delta/4: delta_total <= 3N delta'/2 + delta/4 = delta and, as tanh(x/2) <= x/2,

    epsilon_total <= epsilon (sqrt(3)/2 sqrt(1 + log 2/log(2/delta)) + 3 epsilon/(16 log(2/delta))) <= epsilon

for delta <= 1/100 and epsilon <= 2/5 log(2/delta). (The older drift k epsilon'(e^epsilon' - 1) is twice as large.)

The budget. If the records of the thresholds are others than those of the pass, a neighbour changes one of the two
parts, and the other has one law. If they are the same, both parts see it: (2 epsilon, 2 delta).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from theorems.background.composition import power, worst
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

_PRECISION = 160
_SMALL = Fraction(1, 10**5)


def beats(gap: arb) -> arb:
    """T: how often one Laplace variable is above another by a gap >= 0, in scales."""
    return (-gap).exp() * (ball(Fraction(1, 2)) + gap / 4)


# --- as printed


def second_wins(first: int, second: int, noisy: tuple[bool, bool], epsilon: Fraction) -> arb:
    """How often the smaller bin has the larger value: noise on a count, or 0."""
    if all(noisy):
        return beats(ball(Fraction(first - second) * epsilon / 2))
    if noisy[1]:
        return 1 - ball(-second * epsilon / 2).exp() / 2
    return ball(-first * epsilon / 2).exp() / 2 if noisy[0] else arb(0)


def judge_printed(speaks: Callable[[Any, Any], bool], given: Domain) -> Finding:
    """Whether noise on the bins of true count c with speaks(c, bar), 0 for the others, is (epsilon', delta')-DP."""
    tried = 0
    for count, epsilon in ((30, Fraction(1)), (60, Fraction(1, 2))):
        with ctx.workprec(_PRECISION):
            bar = 1 + 2 / ball(epsilon) * (1 / ball(_SMALL)).log()
            for first in range(count // 2 + 2, count):
                tried += 1
                left, right = (
                    second_wins(one, count - one, (speaks(ball(one), bar), speaks(ball(count - one), bar)), epsilon)
                    for one in (first, first - 1))
                if left > ball(epsilon).exp() * right + ball(_SMALL):
                    return refuted("one batch mean moves between two bins, and the winner tells", {
                        "K": count, "epsilon'": epsilon, "delta'": _SMALL, "counts": f"{first}, {count - first}",
                        "counts of the neighbour": f"{first - 1}, {count - first + 1}",
                        "bar": Enclosure.of_ball(bar), "smaller bin wins": Enclosure.of_ball(left),
                        "smaller bin wins, neighbour": Enclosure.of_ball(right)})
    return undecided("no pair of counts of two bins is against it", tried)


def judge_winner(speaks: Callable[[Any, Any], bool], given: Domain) -> Finding:
    """Whether the bin with the most batch means is the one that is used, more often than not."""
    tried = 0
    for count, epsilon in ((30, Fraction(1)), (60, Fraction(1, 2))):
        with ctx.workprec(_PRECISION):
            bar = 1 + 2 / ball(epsilon) * (1 / ball(_SMALL)).log()
            for first in range(count // 2 + 1, count):
                tried += 1
                chance = second_wins(
                    first, count - first, (speaks(ball(first), bar), speaks(ball(count - first), bar)), epsilon)
                if chance > ball(Fraction(1, 2)):
                    return refuted("the smaller bin is used more often", {
                        "K": count, "epsilon'": epsilon, "delta'": _SMALL, "counts": f"{first}, {count - first}",
                        "bar": Enclosure.of_ball(bar), "smaller bin wins": Enclosure.of_ball(chance)})
    return undecided("the larger of two bins is used more often, at these counts", tried)


# --- one histogram with the noisy test


Stable = tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]
"""The noise on a count from epsilon', and the bar from (epsilon', delta')."""


def judge_histogram(says: Stable, given: Domain) -> Finding:
    """Whether a histogram with that noise, tested against that bar, is (epsilon', delta')-DP."""
    scale, bar = says
    tried = 0
    for point in given.points("threshold_epsilon", "threshold_delta", at_most=40):
        with ctx.workprec(_PRECISION):
            epsilon, delta = ball(point["threshold_epsilon"]), ball(point["threshold_delta"])
            noise, least = scale(epsilon), bar(epsilon, delta)
            tried += 1
            if not noise > 0:
                return refuted("there is no noise", {"epsilon'": point["threshold_epsilon"], "scale": noise.str(8)})
            alone = (-(least - 1) / noise).exp() / 2 if least >= 1 else ball(1)
            moved = (1 - (epsilon - 2 / noise).exp()) / 4
            for what, excess in (("a bin of count 1 speaks on one side only", alone), ("two bins change", moved)):
                if excess > delta:
                    return refuted(what, {
                        "epsilon'": point["threshold_epsilon"], "delta'": point["threshold_delta"],
                        "scale": noise.str(12), "bar": least.str(12), "P - e^epsilon' Q": Enclosure.of_ball(excess)})
    epsilon_, delta_ = given.symbol("threshold_epsilon"), given.chart("threshold_delta")
    noise_ = scale(epsilon_)
    spoken = sympy.exp(sympy.simplify(-(bar(epsilon_, delta_) - 1) / noise_)) / 2
    return proof(
        computed("two bins that stay non-empty have 2/scale = epsilon', on symbols",
                 never_negative(epsilon_ - 2 / noise_) and vanishes(epsilon_ - 2 / noise_)),
        computed("a bin of count 1 speaks with probability delta'/2, on symbols", vanishes(spoken - delta_ / 2)),
        argued("the three cases of the docstring: one histogram is (epsilon', delta'/2)-DP"),
        tried=tried,
    )


# --- calls


def below(epsilon: Fraction) -> tuple[arb, arb]:
    """(p, q): a histogram with one mean more, or one less, below an end of a bin answers "below"."""
    q = beats(ball(epsilon / 2))
    return 1 - q, q


def judge_calls(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether N calls on the same records are (a epsilon', b delta')-DP together, says = (a, b)."""
    a, b = says
    tried, least = 0, Fraction(1, 10**9)
    for calls in given.values("calls", most=8) if given["calls"].high is None else given.values("calls"):
        for epsilon in (Fraction(1, 10), Fraction(1, 100)):
            with ctx.workprec(_PRECISION):
                p, q = below(epsilon)
                bar = 1 + 2 / ball(epsilon) * (1 / ball(least)).log()
                count = math.ceil(float((bar + 80 * 2 / ball(epsilon)).mid()))
                silent = 6 * calls * ((bar - count) * ball(epsilon) / 2).exp() / 2
                tried += 1
                left, right = p ** (3 * calls) - silent, q ** (3 * calls)
                if left > (ball(a * epsilon)).exp() * right + ball(abs(b) * least):
                    return refuted("s is below the end of a bin in all calls, too often", {
                        "N": calls, "epsilon'": epsilon, "delta'": least, "K": 2 * count + 1,
                        "claimed epsilon": a * epsilon, "claimed delta": b * least,
                        "all below, at least": Enclosure.of_ball(left.lower()),
                        "all below, neighbour, at most": Enclosure.of_ball(right.upper())})
    return proof(
        computed("three histograms a call: 3 epsilon' and 3 delta'/2",
                 a >= 3 and b >= Fraction(3, 2) and given["calls"].high == 1),
        argued("they are adaptive releases of (epsilon', delta'/2) each, and basic composition adds them up"),
        tried=tried,
    )


def total(records: int, epsilon: arb, delta: arb) -> arb:
    """Advanced composition of the 3N histograms at slack delta/4."""
    small = epsilon / (8 * records * (2 / delta).log()).sqrt()
    value: arb = 3 * records * small * (small / 2).tanh() + small * (6 * records * (4 / delta).log()).sqrt()
    return value


def judge_composition(share: Fraction, given: Domain) -> Finding:
    """Whether all calls are (epsilon, delta)-DP together for epsilon <= share log(2/delta), delta up to its end."""
    tried = 0
    for point in given.points("records", "delta", "part", at_most=80):
        with ctx.workprec(_PRECISION):
            delta = ball(point["delta"])
            epsilon = ball(point["part"]) * ball(share) * (2 / delta).log()
            tried += 1
            if not total(point["records"], epsilon, delta) <= epsilon:
                return undecided(f"advanced composition gives more at N = {point['records']}, delta = {point['delta']}",
                                 tried)
    n, d = given.symbol("records"), given.chart("delta")
    high = given["delta"].high
    with ctx.workprec(_PRECISION):
        fits = high is not None and bool(
            ball(3).sqrt() / 2 * (1 + ball(2).log() / (2 / ball(high)).log()).sqrt() + 3 * ball(share) / 16 <= 1)
    return proof(
        computed("3N delta'/2 + delta/4 = delta for delta' = delta/(2N), on symbols",
                 vanishes(3 * n * (d / (2 * n)) / 2 + d / 4 - d)),
        computed("sqrt(3)/2 sqrt(1 + log 2/log(2/delta)) + 3/16 share <= 1 at the largest delta, certified", fits),
        argued("the first term falls as delta does; background/composition-advanced with tanh(x/2) <= x/2 is the "
               "docstring's line; the calls are adaptive, which it allows"),
        tried=tried,
    )


def judge_total(says: str, given: Domain) -> Finding:
    """Whether advanced composition gives that epsilon at N = 1000, epsilon = 5, delta = 1e-5."""
    with ctx.workprec(_PRECISION):
        found = Enclosure.of_ball(total(1000, arb(5), ball(_SMALL)))
    if rounds_to(found, says) is False:
        return refuted("it is another number", {"epsilon total": found, "claimed": says})
    if not rounds_to(found, says):
        return undecided("the digits are not certain", 1)
    return instance("advanced composition of 3000 histograms at slack delta/4", {"epsilon total": found})


def judge_budget(parts: int) -> Callable[[Fraction, Domain], Finding]:
    """Whether two (epsilon, delta)-DP parts, so many of which a neighbour changes, are (a epsilon, a delta)-DP."""

    def judge(says: Fraction, given: Domain) -> Finding:
        tried = 0
        for point in given.points("odds", "delta", at_most=40, most={"odds": 11}):
            odds, delta = point["odds"], point["delta"]
            first, second = power(worst(odds, delta), parts)
            with ctx.workprec(_PRECISION):
                larger = (ball(says) * ball(odds).log()).exp()
                excess = [ball(p) - larger * ball(q) for p, q in zip(first, second, strict=True)]
                found = sum((value for value in excess if value > 0), arb(0))
                tried += 1
                if found > ball(says * delta):
                    return refuted("two worst mechanisms of (epsilon, delta) on the same records have more" if parts > 1
                                   else "the part that a neighbour changes has more", {
                        "e^epsilon": odds, "delta": delta, "claimed, times epsilon and delta": says,
                        "delta of both": Enclosure.of_ball(found)})
        other = ("the other part reads records that both data sets share: given what it is told it has one law, so "
                 "that it is post-processing, or comes first and is the same")
        return proof(
            computed(f"what is claimed is at least {parts} times epsilon and delta", says >= parts),
            argued(other if parts == 1 else "basic composition adds them up"),
            tried=tried,
        )

    return judge


_TWO = (positive("threshold_epsilon", "epsilon'"), probability("threshold_delta", "delta'"))
_ONE_CALL = (Parameter("calls", kind="integer", low=Fraction(1), high=Fraction(1)),)
_STEP_8 = "8. ifdy € (0,210g(1/8')/(¢'K) + (1/K)) then"
_SEQUENCE = "Moreover, denoting &’ = £o/+/8N log(2/y) and &' = &y/(2N), according to Lemma 2.3 in [24], " \
            "we could know that {s;} ¥ is (&', §\")-DP."

printed = Claim(
    id="glmtron/alg-2", source="003, Algorithm 2, steps 8 to 12, and Lemma D.1: a call is private",
    quote=_STEP_8, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\tilde d = (d + \mathrm{Lap}(2/(\varepsilon' K)))\,1[0 < d < \tfrac{2\log(1/\delta')}{\varepsilon' K} +"
              r" \tfrac1K] \text{ is } (\varepsilon', \delta')\text{-DP}",
    words="noise on the bins whose true frequency is below the bar, and 0 for all others, is (epsilon', delta')-DP",
    hypotheses=_TWO, says=lambda count, bar: count < bar, check=judge_printed,
    flips=(Flip("noise on every bin that is not empty", lambda count, bar: count > 0 * bar, Verdict.UNDECIDED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{keep } d + \mathrm{Lap}(2/(\varepsilon' K)) \text{ where it exceeds }"
                  r" \tfrac{2\log(1/\delta')}{\varepsilon' K} + \tfrac1K: \text{ a call is }"
                  r" (3\varepsilon', \tfrac32\delta')\text{-DP}",
        words="noise on every bin that is not empty, released where the noisy value exceeds the bar: a call of three "
              "histograms is (3 epsilon', 3/2 delta')-DP",
        says=(Fraction(3), Fraction(3, 2)), check=judge_calls, hypotheses=_ONE_CALL,
        source="003, Algorithm 2 with the test on the noisy frequencies",
        flips=(Flip("(epsilon', delta'), as Lemma D.1 has it", (Fraction(1), Fraction(1)), Verdict.REFUTED),),
        rests_on=("glmtron/alg-2-histogram-privacy", "background/composition-basic"),
        true_variants={"*1 % more": "a larger bound is one, too", "*one more": "a larger bound is one, too"},
        expected="HOLDS ARGUED",
    ),
)
winner = Claim(
    id="glmtron/alg-2-winner", source="003, Section 4, with steps 8 to 13 of Algorithm 2",
    quote="The bin with the most estimates is used, ensuring a constant factor",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\mathop{argmax}_k \tilde d_k = \mathop{argmax}_k d_k \text{ with probability above } \tfrac12",
    words="the bin with the most batch means is the one that is used, more often than not",
    hypotheses=_TWO, says=lambda count, bar: count < bar, check=judge_winner,
    flips=(Flip("noise on every bin that is not empty", lambda count, bar: count > 0 * bar, Verdict.UNDECIDED),),
    repaired_by="glmtron/alg-2-repaired", expected="REFUTED PROVED",
)
histogram = Claim(
    id="glmtron/alg-2-histogram-privacy", source="003, Algorithm 2, steps 8 and 9, the test on the noisy frequency",
    quote="A2 « d + p?, where ¢© ~ Lap(0,2/(¢'K))", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\mathrm{Lap}(2/\varepsilon') \text{ on counts},\ \text{bar } 1 + \tfrac{2}{\varepsilon'}\log\tfrac{1}"
              r"{\delta'}: \text{ one histogram is } (\varepsilon', \tfrac12\delta')\text{-DP}",
    words="with the noisy test the noise and the bar of Algorithm 2 make one histogram (epsilon', delta'/2)-DP",
    hypotheses=_TWO, says=(lambda e: 2 / e, lambda e, d: 1 + 2 / e * log(1 / d)), check=judge_histogram,
    flips=(
        Flip("half the noise", (lambda e: 1 / e, lambda e, d: 1 + 1 / e * log(1 / d)), Verdict.REFUTED),
        Flip("half the bar", (lambda e: 2 / e, lambda e, d: 1 + 1 / e * log(1 / d)), Verdict.REFUTED),
    ),
    rests_on=("background/laplace-curve",), expected="HOLDS ARGUED",
)
call = Claim(
    id="glmtron/alg-2-call", source="003, Lemma D.1 (proof): a call of Algorithm 2 is (epsilon', delta')-DP",
    quote=_SEQUENCE, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"s \text{ is } (\varepsilon', \delta')\text{-DP}",
    words="one call, three histograms with the noisy test, is (epsilon', delta')-DP",
    hypotheses=_ONE_CALL, says=(Fraction(1), Fraction(1)), check=judge_calls,
    flips=(Flip("(3 epsilon', 3/2 delta')", (Fraction(3), Fraction(3, 2)), Verdict.HOLDS),),
    repaired_by="glmtron/alg-2-repaired", expected="REFUTED PROVED",
)
sequence = Claim(
    id="glmtron/lemma-D.1-thresholds", source="003, Lemma D.1 (proof) and Section E.1, read of all calls as one",
    quote=_SEQUENCE, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\{s_t\}_{t \le N} \text{ is } (\varepsilon', \delta')\text{-DP}",
    words="all N calls together are (epsilon', delta')-DP, as each of them is said to be",
    hypotheses=(positive_integer("calls", "N"),), says=(Fraction(1), Fraction(1)), check=judge_calls,
    flips=(Flip("a million times that", (Fraction(10**6), Fraction(10**6)), Verdict.UNDECIDED),),
    uses=("glmtron/alg-2",), repaired_by="glmtron/threshold-composition", expected="REFUTED PROVED",
)
composition = Claim(
    id="glmtron/threshold-composition", source="003, Theorem 4.1 and Lemma D.1: epsilon' and delta' for all N calls",
    quote="with &' = \\/ﬁw, o = % in Algorithm", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\varepsilon' = \frac{\varepsilon}{\sqrt{8N\log(2/\delta)}},\ \delta' = \frac{\delta}{2N}: \{s_t\}"
              r" \text{ is } (\varepsilon, \delta)\text{-DP},\ \varepsilon \le \tfrac25\log\tfrac2\delta,\ \delta \le"
              r" \tfrac{1}{100}",
    words="N calls of three histograms with epsilon' and delta' are (epsilon, delta)-DP together, for epsilon up to "
          "2/5 log(2/delta) and delta up to 1/100",
    hypotheses=(positive_integer("records", "N"),
                Parameter("delta", low=Fraction(0), high=Fraction(1, 100), low_open=True),
                Parameter("part", low=Fraction(0), high=Fraction(1), low_open=True, meaning="of the largest epsilon")),
    says=Fraction(2, 5), check=judge_composition,
    flips=(Flip("epsilon up to 10 log(2/delta)", Fraction(10), Verdict.UNDECIDED),),
    uses=("glmtron/alg-2", "glmtron/lemma-D.1-thresholds"),
    rests_on=("background/composition-advanced", "glmtron/alg-2-histogram-privacy"),
    true_variants={"1 % *": "there is room up to 0.42"},
    expected="HOLDS ARGUED",
)
composition_five = Claim(
    id="glmtron/threshold-composition-large", source="003, Theorem 4.1's epsilon' and delta' at epsilon = 5",
    quote=composition.quote, whose=Whose.OURS, severity=Stake.PRIVACY,
    statement=r"N = 1000,\ \varepsilon = 5,\ \delta = 10^{-5}: \varepsilon_{\mathrm{total}} = 4.835",
    words="advanced composition gives 4.835 <= 5 for the 3000 histograms at N = 1000, epsilon = 5, delta = 1e-5",
    hypotheses=(), says="4.835", check=judge_total,
    flips=(Flip("5.226, by the older drift term", "5.226", Verdict.REFUTED),),
    rests_on=("background/composition-advanced", "glmtron/alg-2-histogram-privacy"), expected="HOLDS ARGUED",
)
budget = Claim(
    id="glmtron/budget-twice", source="003, Theorem 4.1, Algorithms 1 and 3: thresholds and steps with one budget",
    quote="to achieve an adaptive clipping [4] by utilizing a small batch of data points.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"(\varepsilon, \delta)\text{-DP thresholds and } (\varepsilon, \delta)\text{-DP steps are }"
              r" (\varepsilon, \delta)\text{-DP together}",
    words="thresholds of (epsilon, delta) and steps of (epsilon, delta) are (epsilon, delta)-DP together: on other "
          "records, or on the same ones",
    hypotheses=(Parameter("odds", low=Fraction(1), low_open=True, meaning="e^epsilon"), probability("delta")),
    says=None, check=None, readings=("glmtron/budget-twice-reading-disjoint", "glmtron/budget-twice-reading-reused"),
    uses=("glmtron/alg-2", "glmtron/threshold-composition"), expected="AMBIGUOUS ARGUED",
)
budget_disjoint = reading(
    budget, "disjoint", source="003, estimating samples that are not trained on",
    statement=r"(\varepsilon, \delta)\text{-DP thresholds and } (\varepsilon, \delta)\text{-DP steps on other records}"
              r"\text{ are } (\varepsilon, \delta)\text{-DP together}",
    words="on other records than those of the steps the thresholds cost nothing more: the whole has the weaker of the "
          "two guarantees",
    says=Fraction(1), check=judge_budget(1), flips=(Flip("half of it", Fraction(1, 2), Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is one, too", "one more": "a larger bound is one, too"},
    expected="HOLDS ARGUED",
)
budget_reused = reading(
    budget, "reused", source="003, a small batch of the training samples",
    words="on records of the steps, too, the thresholds cost nothing more",
    says=Fraction(1), check=judge_budget(2), flips=(Flip("twice that", Fraction(2), Verdict.HOLDS),),
    repaired_by=None, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"(\varepsilon, \delta)\text{-DP thresholds and } (\varepsilon, \delta)\text{-DP steps on the same}"
                  r"\text{ records are } (2\varepsilon, 2\delta)\text{-DP together}",
        words="on the same records thresholds of (epsilon, delta) and steps of (epsilon, delta) are (2 epsilon, 2 "
              "delta)-DP together",
        says=Fraction(2), expected="HOLDS ARGUED", rests_on=("background/composition-basic",),
        flips=(Flip("three halves", Fraction(3, 2), Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound is one, too", "one more": "a larger bound is one, too"},
    ),
)
