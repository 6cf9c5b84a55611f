r"""What DP-Threshold estimates and how many records it takes: the cases of the residual, Lemma D.3, the size of K.

The residual of x at w is ReLU(u) - y, u = <x, w>, y = ReLU(u*) + z. For u > 0 it is u - y, for u <= 0 it is -y: d1 and
d2 cover it exactly, and d3 + z^2 the two cases with u* <= 0 within a factor of 2.

Lemma D.3, where the chosen bin [s, 2s) holds the expectation: for symmetric x E d1 = |w - w*|^2/2 + |w|^2/2 + sigma^2,
E d2 = |w*|^2/2 + sigma^2, E d3 = |w|^2 (norms by H). With V = sigma^2 plus the largest of |w - w*|^2, |w*|^2, |w|^2 the
largest of 2 u_1, 2 u_2, 2 (u_3 + sigma^2 log^{2a}(1/b)), u_p in (E d_p, 2 E d_p], is at least 2 max(E d1, E d2) >= V
and at most 4 V + 2 sigma^2 log^{2a}(1/b) <= (4 + 2 log^{2a}(1/b)) V. No absolute constant is enough: at w = w* = 0 the
third is 2 sigma^2 log^{2a}(1/b) and V is sigma^2. That batch means are near their expectation is not part of
this claim.

The size. A histogram all of whose K means are in one bin has a noisy count above the bar with probability 1/2 or more
if and only if K >= 1 + (2/epsilon') log(1/delta'): so many batches, and so at least so many records, whatever C_1 is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive, positive_integer, probability, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

_PRECISION = 120

Squares = tuple[Callable[[Any, Any], Any], ...]
"""d1, d2, d3 from u = <x, w> and y."""


def judge_cases(squares: Squares, given: Domain) -> Finding:
    """Whether the squared residual is at most 2 (d + z^2) in each case of signs, for the d of that case."""
    tried = 0

    def residual(u: Any, y: Any) -> Any:
        return (max(u, Fraction(0)) - y) ** 2

    for point in given.points("u", "target", "z", at_most=300):
        u, target, z = point["u"], point["target"], point["z"]
        y = max(target, Fraction(0)) + z
        case = 0 if u > 0 and target > 0 else 1 if target > 0 else 2
        tried += 1
        if residual(u, y) > 2 * (squares[case](u, y) + z * z):
            return refuted("the case's square does not cover the residual", {
                "<x, w>": u, "<x, w*>": target, "z": z, "residual squared": residual(u, y),
                "d + z^2": squares[case](u, y) + z * z, "case": case + 1})
    a, b = sympy.symbols("a b", nonnegative=True)
    z_ = given.symbol("z")
    gaps = [
        2 * (squares[0](a, b + z_) + z_**2) - (a - b - z_) ** 2 - (a - b - z_) ** 2 - 2 * z_**2,
        2 * (squares[1](-a, b + z_) + z_**2) - 2 * (b + z_) ** 2 - 2 * z_**2,
        2 * (squares[2](a, z_) + z_**2) - (a - z_) ** 2 - (a + z_) ** 2,
        2 * (squares[2](-a, z_) + z_**2) - z_**2 - 2 * a**2 - z_**2,
    ]
    return proof(
        computed("with 2 (d + z^2) - r^2 written as a sum of squares in each of the four cases of signs, on symbols",
                 vanishes(*gaps) and given["u"].low is None and given["target"].low is None),
        tried=tried,
    )


Most = Callable[[Any], Any]
"""The constant over V, from log^{2a}(1/b)."""


def judge_scale(most: Most, given: Domain) -> Finding:
    """Whether V <= s^2 <= most V where the chosen bins hold the expectations, ends of bins at their worst."""
    tried = 0
    for point in given.points("apart", "target", "model", "variance", "logs", at_most=300):
        a, b, c, v, logs = (point[name] for name in ("apart", "target", "model", "variance", "logs"))
        means = (a / 2 + c / 2 + v, b / 2 + v, c)
        least = 2 * max(means[0], means[1], means[2] + v * logs)
        largest = max(4 * means[0], 4 * means[1], 4 * means[2] + 2 * v * logs)
        scale = max(a, b, c) + v
        tried += 1
        if least < scale or largest > most(logs) * scale:
            return refuted("s^2 is not within the constant of V", {
                "|w - w*|^2": a, "|w*|^2": b, "|w|^2": c, "sigma^2": v, "log^2a(1/b)": logs, "V": scale,
                "s^2 at least": least, "s^2 up to": largest, "claimed at most": most(logs) * scale})
    v_, rest = given.chart("variance"), sympy.symbols("p q", nonnegative=True)
    top, logs_ = sympy.Symbol("m", nonnegative=True), given.chart("logs")
    orders = [(top, top / (1 + rest[0]), top / (1 + rest[1])), (top / (1 + rest[0]), top, top / (1 + rest[1])),
              (top / (1 + rest[0]), top / (1 + rest[1]), top)]
    return proof(
        computed("s^2 >= 2 E d1 or 2 E d2 is at least V, whichever square is the largest, on symbols", all(
            never_negative((2 * b + 4 * v_ if i == 1 else 2 * (a + c) + 4 * v_) / 2 - top - v_)
            for i, (a, b, c) in enumerate(orders))),
        computed("4 E d1, 4 E d2 and 4 E d3 + 2 sigma^2 log^2a(1/b) are at most the constant times V, on symbols", all(
            never_negative(most(logs_) * (top + v_) - bound)
            for a, b, c in orders for bound in (2 * a + 2 * c + 4 * v_, 2 * b + 4 * v_, 4 * c + 2 * v_ * logs_))),
        argued("E d1, E d2, E d3 for symmetric x: half of the squares of <x, w*> count, by x -> -x"),
        tried=tried,
    )


# --- sizes


def bar_of(records: int, epsilon: Fraction, delta: arb) -> arb:
    """1 + (2/epsilon') log(1/delta') for the epsilon' and delta' of Theorem 4.1."""
    small = ball(epsilon) / (8 * records * (2 / delta).log()).sqrt()
    value: arb = 1 + 2 / small * (2 * records / delta).log()
    return value


def judge_small(available: Callable[[int], int], given: Domain) -> Finding:
    """Whether available(N) batches can be expected to speak, delta = N^-1.1, at every epsilon and N of Section 6."""
    tried = 0
    for records, epsilon in itertools.product(range(550, 49, -100), map(Fraction, ("0.5", "0.2", "0.05"))):
        with ctx.workprec(_PRECISION):
            needed = bar_of(records, epsilon, (ball(Fraction(-11, 10)) * ball(records).log()).exp())
        tried += 1
        if ball(available(records)) < needed:
            return refuted("not even all batch means in one bin can be expected to pass the bar", {
                "N": records, "epsilon": epsilon, "delta": "N^-1.1", "batches": available(records),
                "batches needed": Enclosure.of_ball(needed)})
    return undecided("so many batches may speak at these settings", tried)


def judge_speaks(needed: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether K means in one bin pass the bar with probability >= 1/2 exactly from K = needed(epsilon', delta') on."""
    tried = 0
    for point in given.points("threshold_epsilon", "threshold_delta", at_most=40):
        with ctx.workprec(_PRECISION):
            epsilon, delta = ball(point["threshold_epsilon"]), ball(point["threshold_delta"])
            gap = needed(epsilon, delta) - 1 - 2 / epsilon * (1 / delta).log()
            tried += 1
            if abs(gap) > ball(Fraction(1, 10**20)):
                return refuted("the bar is elsewhere", {
                    "epsilon'": point["threshold_epsilon"], "delta'": point["threshold_delta"],
                    "needed minus bar": Enclosure.of_ball(gap)})
    e, d = given.symbol("threshold_epsilon"), given.chart("threshold_delta")
    return proof(
        computed("it is the bar 1 + (2/epsilon') log(1/delta'), on symbols",
                 vanishes(needed(e, d) - 1 - 2 / e * sympy.log(1 / d)) and e.is_positive is True),
        argued("a Laplace variable is symmetric with a density: K + noise exceeds the bar with probability 1/2 at K = "
               "bar, less below it and more above"),
        tried=tried,
    )


def judge_constant(constant: Fraction, given: Domain) -> Finding:
    """Whether K = C_1 log(N/delta')/epsilon' is below the bar 1 + (2/epsilon') log(1/delta') for all N and delta."""
    tried = 0
    for point in given.points("records", "delta", "threshold_epsilon", at_most=100):
        with ctx.workprec(_PRECISION):
            small, e = ball(point["delta"]) / (2 * point["records"]), ball(point["threshold_epsilon"])
            count, bar = ball(constant) * (point["records"] / small).log() / e, 1 + 2 / e * (1 / small).log()
            tried += 1
            if count >= bar:
                return refuted("K reaches the bar", {
                    "N": point["records"], "delta": point["delta"], "epsilon'": point["threshold_epsilon"],
                    "K": Enclosure.of_ball(count), "bar": Enclosure.of_ball(bar)})
    n, d = sympy.Symbol("n", positive=True), sympy.Symbol("g", positive=True)  # log N >= 0 and log(2/delta) > 0
    c = sympy.Rational(constant.numerator, constant.denominator)
    return proof(
        computed("2 log(1/delta') >= C_1 log(N/delta') with delta' = delta/(2N), on symbols",
                 never_negative(2 * (n + d) - c * (2 * n + d)) and given["records"].low == 1
                 and given["delta"].high is not None),
        tried=tried,
    )


def judge_b(says: tuple[Callable[[Any], Any], Callable[[Any], Any]], given: Domain) -> Finding:
    """Whether both probabilities, of Definition 3.5 and of Lemma D.3, lie in (0, 1) for every b of the hypotheses."""
    tried = 0
    for b in (*given.values("b"), Fraction(1, 10)):
        if not given.contains(b=b):
            continue
        tried += 1
        for name, value in zip(("Definition 3.5", "Lemma D.3"), (part(b) for part in says), strict=True):
            if not 0 < value < 1:
                return refuted("it is no probability that says anything", {
                    "b": b, "where": name, "value": value})
    b_ = given.chart("b")
    return proof(computed("both lie in (0, 1), on symbols", all(
        never_negative(part(b_)) and never_negative(1 - part(b_)) for part in says)), tried=tried)


_TWO = (positive("threshold_epsilon", "epsilon'"), probability("threshold_delta", "delta'"))
cases = Claim(
    id="glmtron/threshold-cases", source="003, Section 4, the three cases, with step 15 and the fourth case",
    quote="when considering a special case that x; wy < 0,x{ w, < 0, the clipping threshold is integrated into the "
          "third scenario.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"(\mathrm{ReLU}(u) - y)^2 \le 2(d + z^2),\quad d = (u - y)^2,\ y^2,\ u^2 \text{ by case}",
    words="in each case of signs the squared residual is at most 2 (d + z^2) for the case's d",
    hypotheses=(real("u", "<x, w>"), real("target", "<x, w*>"), real("z")),
    says=(lambda u, y: (u - y) ** 2, lambda u, y: y**2, lambda u, y: u**2), check=judge_cases,
    flips=(Flip("half of the third", (lambda u, y: (u - y) ** 2, lambda u, y: y**2, lambda u, y: u**2 / 2),
                Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
scale = Claim(
    id="glmtron/lemma-D.3", source="003, Lemma D.3 (scanned: the constant of its upper end cannot be read)",
    quote="with probability at least 1 — 1/b, Al- gorithm[2|returns s; such that V< ~? <",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"V \le s_t^2 \le C\,V,\quad V = \max\{\lVert w^* - w \rVert_H^2, \lVert w^* \rVert_H^2, \lVert w"
              r" \rVert_H^2\} + \sigma^2",
    words="s^2 lies between V and a constant times V: an absolute one, or one with log^2a(1/b) in it",
    hypotheses=(non_negative("apart", "|w - w*|^2"), non_negative("target", "|w*|^2"), non_negative("model", "|w|^2"),
                positive("variance", "sigma^2"), Parameter("logs", low=Fraction(1), meaning="log^2a(1/b)")),
    says=None, check=None, readings=("glmtron/lemma-D.3-reading-absolute", "glmtron/lemma-D.3-repaired"),
    uses=("glmtron/threshold-cases",), expected="AMBIGUOUS ARGUED",
)
scale_logs = reading(
    scale, "repaired", source="003, Lemma D.3 with 4 + 2 log^2a(1/b), where the chosen bins hold the expectations",
    words="where the chosen bins hold the expectations, V <= s^2 <= (4 + 2 log^2a(1/b)) V",
    says=lambda logs: 4 + 2 * logs, check=judge_scale,
    flips=(Flip("4", lambda logs: 4 + 0 * logs, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger constant is one, too", "? -> ? (constant *": "a larger constant is one, too",
                   "squared": "a larger constant is one, too", "any *": "negative squares and logarithms do not occur"},
    expected="HOLDS ARGUED",
)
scale_absolute = reading(
    scale, "absolute", source="003, Lemma D.3 with an absolute constant, 4",
    words="where the chosen bins hold the expectations, V <= s^2 <= 4 V",
    says=lambda logs: 4 + 0 * logs, check=judge_scale,
    flips=(Flip("4 + 2 log^2a(1/b)", lambda logs: 4 + 2 * logs, Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
small = Claim(
    id="glmtron/alg-2-sample-size", source="003, Section 4: a small batch, and Section 6: at most N records",
    quote="to achieve an adaptive clipping [4] by utilizing a small batch of data points.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"1 + \tfrac{2}{\varepsilon'}\log\tfrac{1}{\delta'} \le K \le m \le N \text{ in Section 6}",
    words="at the settings of Section 6 no more than N batches are enough for a histogram that may speak",
    hypotheses=(), says=lambda records: records, check=judge_small,
    flips=(Flip("a million batches", lambda records: 10**6, Verdict.UNDECIDED),),
    uses=("glmtron/alg-2", "glmtron/threshold-composition"), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"P\big(K + \mathrm{Lap}(2/\varepsilon') > \text{bar}\big) \ge \tfrac12 \iff K \ge 1 +"
                  r" \tfrac{2}{\varepsilon'}\log\tfrac{1}{\delta'}",
        words="a histogram with all K means in one bin speaks with probability 1/2 or more exactly from K = 1 + "
              "(2/epsilon') log(1/delta') on: so many records at least",
        says=lambda e, d: 1 + 2 / e * log(1 / d), check=judge_speaks, hypotheses=_TWO, expected="HOLDS ARGUED",
        source="003, Algorithm 2 with the test on the noisy frequencies: the batches it takes",
        flips=(Flip("log(1/delta')/epsilon', half of it", lambda e, d: 1 + 1 / e * log(1 / d), Verdict.REFUTED),),
    ),
)
constant = Claim(
    id="glmtron/alg-2-C1", source="003, Algorithm 2, step 3: K = ceil(C_1 log(N/delta')/epsilon') with C_1 = 1",
    quote="into three K = [C} log(NN/(&\"))/e'] subsets of equal size separately", whose=Whose.OURS,
    severity=Stake.UTILITY,
    statement=r"\frac{\log(N/\delta')}{\varepsilon'} < 1 + \frac{2}{\varepsilon'}\log\frac{1}{\delta'}",
    words="with C_1 = 1 the K of Algorithm 2 stays below the bar for all N and delta: no bin is expected to pass it",
    hypotheses=(positive_integer("records", "N"), Parameter("delta", low=Fraction(0), high=Fraction(1), low_open=True),
                positive("threshold_epsilon", "epsilon'")),
    says=Fraction(1), check=judge_constant, flips=(Flip("C_1 = 3", Fraction(3), Verdict.REFUTED),),
    true_variants={"1 % less": "a smaller K is below, too", "sign": "a negative K is below, too"},
    expected="HOLDS PROVED",
)
b_conflict = Claim(
    id="glmtron/b-conflict", source="003, Definition 3.5 (probability 1 - b) and Lemma D.3 (probability 1 - 1/b)",
    quote="with probability at least 1 — 1/b,", whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"1 - b \in (0, 1) \text{ and } 1 - 1/b \in (0, 1)",
    words="one number b serves Definition 3.5 and Lemma D.3",
    hypotheses=(probability("b"),), says=(lambda b: 1 - b, lambda b: 1 - 1 / b), check=judge_b,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"1 - b \in (0, 1) \text{ in both}", words="with 1 - b in Lemma D.3, too, one number b serves both",
        says=(lambda b: 1 - b, lambda b: 1 - b), expected="HOLDS PROVED",
        true_variants={"*1 % *": "any number in (0, 1) is a probability", "*squared": "any number in (0, 1) is one"},
    ),
)
