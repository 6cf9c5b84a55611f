r"""Regression from statistics, risks, priors, tuning and overfitting in document 004.

Statistical queries. A mean of a function of a row has F(0, 0) + F(1, 1) = 2 F(0, 1) on two rows; the centred moment
S_xx/n, 0 at equal rows and 1/4 at (0, 1), has not. Replacing a by a' among n numbers, m the mean of the others, changes
S_xx by ((n-1)/n) ((a-m)^2 - (a'-m)^2): its mean by at most (n-1)/n^2 on [0, 1].

Overfitting. Let M be epsilon-DP, losses in [0, 1], records drawn independently. Exchange record i with a fresh one: E
l(M(D), x_i) is, under the exchange, E l(M(D'), x') with D' a neighbour of D, so that the expected empirical and fresh
losses are within a factor e^epsilon of each other: fresh - empirical <= (1 - e^-epsilon) fresh <= 1 - e^-epsilon.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula, formula
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, at_points, computed, proof, refuted

Statistic = Callable[[Sequence[Fraction]], Fraction]


def centred(rows: Sequence[Fraction]) -> Fraction:
    """S_xx/n: the mean of the squared distances from the mean."""
    mean = sum(rows, Fraction(0)) / len(rows)
    return sum(((x - mean) ** 2 for x in rows), Fraction(0)) / len(rows)


def raw(rows: Sequence[Fraction]) -> Fraction:
    """The mean of the squares."""
    return sum((x * x for x in rows), Fraction(0)) / len(rows)


def squared_mean(rows: Sequence[Fraction]) -> Fraction:
    """The square of the mean."""
    return (sum(rows, Fraction(0)) / len(rows)) ** 2


def judge_query(says: Statistic, given: Domain) -> Finding:
    """Whether a statistic is a mean of a function of a row: F(0, 0) + F(1, 1) = 2 F(0, 1) on two rows.

    The function of a row is F of that row alone; up to four rows are tried.
    """
    zero, one = Fraction(0), Fraction(1)
    equal, apart = says((zero, zero)) + says((one, one)), says((zero, one))
    if equal != 2 * apart:
        return refuted("no mean of a function of a row has these values", {
            "F(0, 0) + F(1, 1)": equal, "2 F(0, 1)": 2 * apart})
    tried = 0
    for size in given.values("size", most=4):
        for rows in itertools.product((zero, Fraction(1, 2), one), repeat=size):
            mean = sum((says((row,)) for row in rows), zero) / size
            tried += 1
            if says(rows) != mean:
                return refuted("not the mean of what it is on single rows", {
                    "rows": ", ".join(map(str, rows)), "F": says(rows), "mean of F of one row": mean})
    return at_points("the mean of what it is on single rows", tried, {"rows": "up to four of 0, 1/2 and 1"})


def judge_moments(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether the means of x^2, xy, x, y on [0, 1]^2 have the l1-sensitivity says[0](n), the squared l2 says[1](n)."""
    corners = list(itertools.product((Fraction(0), Fraction(1, 2), Fraction(1)), repeat=2))

    def terms(x: Any, y: Any) -> tuple[Any, ...]:
        return x * x, x * y, x, y

    for n in given.values("size"):
        moves = [[(a - b) / n for a, b in zip(terms(*one), terms(*two), strict=True)]
                 for one in corners for two in corners]
        sums = max(sum(abs(m) for m in move) for move in moves), max(sum(m * m for m in move) for move in moves)
        claimed = says[0](Fraction(n)), says[1](Fraction(n))
        if claimed != sums:
            return refuted("the four means move otherwise", {
                "n": n, "claimed": f"{claimed[0]}, {claimed[1]}", "l1 and squared l2": f"{sums[0]}, {sums[1]}"})
    n = given.symbol("size")
    u, v = sympy.symbols("u v", nonnegative=True)
    inside = terms(u / (1 + u), v / (1 + v))
    full = [a - b for a, b in zip(terms(sympy.Integer(1), sympy.Integer(1)), terms(sympy.Integer(0), sympy.Integer(0)),
                                  strict=True)]
    return proof(
        computed("each of the four terms lies in [0, 1], the ends being limits", never_negative(
            *inside, *(1 - term for term in inside))),
        computed("(1, 1) against (0, 0) moves each mean by 1/n: 4/n and 4/n^2, the largest there are", vanishes(
            sum(full) / n - says[0](n), sum(one**2 for one in full) / n**2 - says[1](n))),
        argued("independent noise on each: log densities add up, so that Laplace noise of scale b costs the l1 "
               "distance over b, and Gaussian noise what the l2 distance does"),
    )


def centred_by_hand(size: int) -> Fraction:
    """The largest change of S_xx/n on zeros and ones, one of them replaced."""
    best = Fraction(0)
    for ones in range(size):
        others = [Fraction(1)] * ones + [Fraction(0)] * (size - 1 - ones)
        best = max(best, abs(centred([Fraction(1), *others]) - centred([Fraction(0), *others])))
    return best


def centred_steps(given: Domain) -> tuple[ProofStep, ...]:
    """S_xx by the mean m of the others, and |(a-m)^2 - (b-m)^2| <= 1 on [0, 1]."""
    n = given.symbol("size")
    others, square = sympy.symbols("m q", real=True)
    a, b = sympy.symbols("a b", real=True)

    def total(x: Any) -> Any:  # S_xx = sum of squares - (sum)^2/n, the others' sum (n-1) m and squares q
        return square + x**2 - ((n - 1) * others + x) ** 2 / n

    u, v = sympy.symbols("u v", nonnegative=True)
    top = (u / (1 + u) - v / (1 + v)) ** 2
    return (
        computed("replacing b by a changes S_xx by ((n-1)/n) ((a-m)^2 - (b-m)^2)",
                 vanishes(total(a) - total(b) - (n - 1) / n * ((a - others) ** 2 - (b - others) ** 2))),
        computed("both squares lie in [0, 1], the ends being limits", never_negative(
            sympy.expand((1 + u) ** 2 * (1 + v) ** 2 * (1 - top)))),
    )


def judge_symbol(says: Fraction, given: Domain) -> Finding:
    """Whether the empirical risk is the risk: losses 0 or 1 with probability 1/2, one record of loss says.

    1/2 stands for the mean over the records that may be drawn.
    """
    risk = (Fraction(0) + Fraction(1)) / 2
    if says != risk:
        return refuted("the empirical risk of one record is not the risk", {
            "losses": "0 or 1, equally likely", "record's loss": says, "risk": risk})
    p, loss_0, loss_1 = sympy.symbols("p l_0 l_1", real=True)
    n = sympy.Symbol("n", positive=True)
    mean = n * (p * loss_1 + (1 - p) * loss_0) / n
    return proof(
        computed("the mean of n losses has the mean of one for its expectation", vanishes(
            mean - p * loss_1 - (1 - p) * loss_0)),
        argued("expectations are linear, for every law of the records"),
    )


def best_by_hand(odds: Fraction, runs: int) -> Fraction:
    """The largest odds of the best of so many randomised responses of one bit: all of them say 0, or some says 1."""
    first = second = Fraction(1)
    for _ in range(runs):
        first, second = first * odds / (1 + odds), second / (1 + odds)
    return max(first / second, second / first, (1 - first) / (1 - second), (1 - second) / (1 - first))


def judge_fresh(says: Formula, given: Domain) -> Finding:
    """Whether fresh minus empirical loss is at most says(a), a = e^epsilon: one bit, answered by randomised response.

    The answer is the record with odds a, the loss 1 where the two differ: empirical loss 1/(1 + a), fresh 1/2.
    """
    for odds in given.values("odds"):
        gap = Fraction(1, 2) - 1 / (1 + odds)
        if says(odds) < gap:
            return refuted("randomised response overfits more", {"e^epsilon": odds, "claimed": says(odds), "gap": gap})
    odds, fresh = given.chart("odds"), sympy.Symbol("f", nonnegative=True)
    return proof(
        computed("fresh <= e^epsilon empirical gives fresh - empirical <= (1 - e^-epsilon) fresh, fresh = f/(1 + f)",
                 vanishes(fresh - fresh / odds - (1 - 1 / odds) * fresh)),
        computed("that is at most what is claimed", never_negative(
            sympy.together(says(odds) - (1 - 1 / odds)))),
        argued("exchange a record with a fresh one: the two data sets are neighbours, and losses lie in [0, 1]"),
    )


_ROWS = r"$S_{xx}/n, S_{xy}/n, \bar{x}, \bar{y}$ are all statistical queries"
_SIZE = (positive_integer("size", "n"),)

moments = Claim(
    id="cs208/linreg-suffstats", source="004, Modifying ML Algorithms: the statistics of linear regression",
    quote=_ROWS, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\frac{S_{xx}}n, \frac{S_{xy}}n, \bar x, \bar y \text{ are means of functions of a row}",
    words="the statistics of linear regression are means of bounded functions of a row: centred, or raw moments",
    hypotheses=_SIZE, says=None, check=None,
    readings=("cs208/linreg-suffstats-reading-centred", "cs208/linreg-suffstats-repaired"), expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"\overline{x^2}, \overline{xy}, \bar x, \bar y: \ \Delta_1 = \frac4n,\ \Delta_2 = \frac2n"
                  r" \text{ on } [0, 1]^2",
        words="the means of x^2, xy, x and y on [0, 1]^2 are means of functions of a row, and move together by 4/n in "
              "l1 and 2/n in l2 when a record is replaced, both reached",
        says=(lambda n: 4 / n, lambda n: 4 / n**2), check=judge_moments, expected="HOLDS ARGUED",
        source="004, Modifying ML Algorithms, with raw moments",
        flips=(Flip("1/n", (lambda n: 1 / n, lambda n: 1 / n**2), Verdict.REFUTED),),
    ),
)
moments_centred = Claim(
    id="cs208/linreg-suffstats-reading-centred", source="004, Modifying ML Algorithms, S_xx about the mean",
    quote=_ROWS, whose=Whose.READING, severity=Stake.PRIVACY, statement=r"\frac{S_{xx}}n = \frac1n \sum_i \varphi(x_i)",
    words="the centred moment S_xx/n is a mean of a function of a row", hypotheses=_SIZE, says=centred,
    check=judge_query, repaired_by="cs208/linreg-suffstats-repaired", expected="REFUTED PROVED",
    flips=(Flip("the raw moment", raw, Verdict.HOLDS), Flip("the squared mean", squared_mean, Verdict.REFUTED)),
)
sensitivity = Claim(
    id="cs208/linreg-centred-sensitivity", source="004, Modifying ML Algorithms: how far the centred moment moves",
    severity=Stake.PRIVACY, statement=r"\Delta\frac{S_{xx}}n = \frac{n-1}{n^2} \text{ on } [0, 1]",
    words="the centred moment S_xx/n of numbers in [0, 1] moves by at most (n-1)/n^2 when one is replaced, and does",
    hypotheses=_SIZE, says=lambda n: Fraction(1) * (n - 1) / n**2,
    check=formula(("size",), centred_by_hand, lambda n: (n - 1) / Fraction(1) / n**2, "it moves otherwise",
                  "(n-1)/n^2, reached where all others are equal", most={"size": 12}, more=centred_steps),
    flips=(Flip("1/n", lambda n: 1 / Fraction(1) / n, Verdict.REFUTED),), expected="HOLDS PROVED",
)
two_risks = Claim(
    id="cs208/erm-overfit", source="004, Supervised ML Output: one L for the risk and for the empirical risk",
    quote=r"Find $\theta \in \Theta$ minimizing $L(\theta) = \frac{1}{n} \sum_{i=1}^n \ell(\theta|x_i, y_i)$.",
    whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\mathbb{E}_{\mathcal{P}}[\ell(\theta|x, y)] = L(\theta) = \frac1n \sum_i \ell(\theta|x_i, y_i)",
    words="the empirical risk is the risk, as they have one name; here of one record of loss 0",
    hypotheses=(), says=Fraction(0), check=judge_symbol, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}\Big[\frac1n \sum_i \ell(\theta|x_i, y_i)\Big] ="
                  r" \mathbb{E}_{\mathcal{P}}[\ell(\theta|x, y)]",
        words="the empirical risk of a fixed theta is the risk on average; here the mean 1/2 of the losses 0 and 1",
        says=Fraction(1, 2), expected="HOLDS ARGUED", source="004, Supervised ML Output, on average over the data",
    ),
)
prior = Claim(
    id="cs208/bayes-prior", source="004, Supervised ML Output: a regulariser as a prior, with its factor 1/n",
    quote="can capture Bayesian prior.", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"n\Big(\frac1n \sum_i -\log p_i + R\Big) = -\log\Big(\pi \prod_i p_i\Big),\quad R = -\frac1n \log\pi",
    words="with R = -(1/n) log prior the regularised risk is minus the log posterior over n, up to a constant",
    hypotheses=(positive_integer("size", "n"), real("likelihood", "sum of the log likelihoods"), real("log_prior")),
    says=lambda n, likelihood, log_prior: -log_prior / n,
    check=formula(
        ("size", "likelihood", "log_prior"),
        lambda n, likelihood, log_prior: -(likelihood + log_prior) / n + likelihood / n,
        lambda n, likelihood, log_prior: -(likelihood + log_prior) / n + likelihood / n,
        "posterior and regularised risk differ", "minus the log posterior over n, less the mean log loss",
    ),
    flips=(Flip("without 1/n", lambda n, likelihood, log_prior: -log_prior, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
tuning = Claim(
    id="cs208/hyperparameter", source="004, Neural Networks & Privacy: the best of several runs",
    quote="Run analyses on the training data with various hyperparameter settings, and choose the best one. "
          "Q: any problems?", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\max_{i \le k} M_i \text{ of } \varepsilon\text{-DP } M_i \text{ can cost exactly } k\varepsilon",
    words="the largest of k randomised responses of epsilon costs exactly k epsilon: choosing the best is not free",
    hypotheses=(Parameter("odds", low=Fraction(1), meaning="e^epsilon"), positive_integer("runs", "k")),
    says=lambda odds, runs: odds**runs,
    check=formula(("odds", "runs"), best_by_hand, lambda odds, runs: odds**runs, "the largest answer has other odds",
                  "all k answers are 0 with the ratio (p/q)^k", most={"runs": 8},
                  more=lambda given: (computed("p/q = e^epsilon", vanishes(
                      (given.chart("odds") / (1 + given.chart("odds"))) * (1 + given.chart("odds"))
                      - given.chart("odds"))),
                      argued("the other outcome has smaller odds: q^k (1 - q^k) <= p^k (1 - p^k), as p^k + q^k <= 1"))),
    flips=(Flip("free", lambda odds, runs: odds, Verdict.REFUTED),), expected="HOLDS ARGUED",
)
fresh_data = Claim(
    id="cs208/dp-generalises", source="004, Supervised ML Output: DP and overfitting, in expectation",
    quote="*Fact: DP automatically helps prevent overfitting! [Dwork et al. `15]", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}[\text{fresh loss}] - \mathbb{E}[\text{empirical loss}] \le e^\varepsilon - 1",
    words="an epsilon-DP choice has expected fresh and empirical losses in [0, 1] at most e^epsilon - 1 apart",
    hypotheses=(Parameter("odds", low=Fraction(1), meaning="e^epsilon"),), says=lambda odds: odds - 1,
    check=judge_fresh, flips=(Flip("a tenth", lambda odds: (odds - 1) / 10, Verdict.REFUTED),
                              Flip("1 - e^-epsilon", lambda odds: 1 - 1 / odds, Verdict.HOLDS)),
    true_variants=dict.fromkeys(("1 % more", "- -> + *"), "a larger bound is one, too"), expected="HOLDS ARGUED",
)
