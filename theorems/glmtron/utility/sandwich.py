r"""The two chains between which DP-GLMtron's risk lies on Gaussian features, and how far apart they are at most.

Without clipping and with fixed noise, along the eigenvectors of H: a_{t+1,i} = (1 - y_i + 2c y_i^2) a_{t,i} + c eta^2
lambda_i S_t + b_i, y = eta lambda, S_t = sum_j lambda_j a_{t,j}, b_i = eta^2 (sigma^2 lambda_i + s^2), with c = 1/4 and
c = 1/2 is below and above the second moments: E[(relu difference)^2 xx^T] is between c <d,x>^2 xx^T, on average. The
risk is an eighth to a quarter of |mean of the iterates - w*|_H^2, which is T/N^2, T = sum_t sum_i lambda_i a_{t,i} w_i,
w_i = 1 + 2 (q + ... + q^{N-1-t}), falling in t.

How far apart. Let k and K be the factors 1 - y + y^2/2 and 1 - y + y^2 of the two chains, and L = 3 eta tr(H) <= 1, so
that the y_i add up to L/3. For weights that fall and are >= 0, sum_j K^j weight_j <= R sum_j k^j weight_j with R =
(1-k)/(1-K) = (1 - y/2)/(1 - y) <= (6-L)/(6-2L): a weight that falls is a sum of steps, and (1 - K^n)/(1 - K) is at
most R (1 - k^n)/(1 - k). T has a part without feedback: start and noise, each kept by k^j or K^j; R bounds it. The rest
is F = c eta^2 sum_u S_u B_u, B_u = sum_i lambda_i^2 sum_{t>u} k_i^{t-1-u} w_i >= 0, which falls in u: B of the upper
chain is at most R times B of the lower. For any weights that fall, the feedback of S upon itself adds at most (1/2)
eta^2 sum_i lambda_i^2/(1 - K_i) = (1/2) sum y/(1-y) <= rho = L/(2(3-L)) times the weighted sum of S; so that sum is at
most R/(1-rho) times that of the lower chain. Altogether T is at most 2 R^2/(1-rho) times as large, and with a quarter
over an eighth the ends of the sandwich are at most

    4 (6-L)^2/((6-2L)(6-3L)) <= 25/3

apart. With L falling to 0 that is 4, and no less will do: the feedback of a start along one direction upon very many
weak ones doubles with c. Label noise alone: b_i is eta^2 sigma^2 lambda_i, so that its part without feedback is eta^2
sigma^2 sum_u B_u, and S_u <= eta sigma^2 tr(H)/((1 - L/3)(1 - rho)): the feedback is at most L/(6-3L) of that, and the
ends are at most 2 (6-L)/(6-3L) apart, which falls to 2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake
from theorems.given import Domain
from theorems.glmtron.utility.lower import lowest
from theorems.glmtron.utility.moments import relu_steps
from theorems.glmtron.utility.upper import RUN, Run, highest, runs
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

Apart = Callable[[Any], Any]
"""L = alpha eta tr(H) -> how far apart the ends are at most, as a factor."""


def judge_sandwich(says: tuple[Any, Any], given: Domain) -> Finding:
    """Whether the exact second moments lie between the chains with c = says[0] and c = says[1], on the diagonal."""
    low, high = says
    if low > Fraction(1, 4) or high < Fraction(1, 2):
        which = low > Fraction(1, 4)
        return refuted("one dimension: E (relu(wx) - relu(w*x))^2 x^2 over E ((w - w*)x)^2 x^2 is the c of a step", {
            "w": 1, "w*": -1 if which else 0, "c": Fraction(1, 4) if which else Fraction(1, 2), "claimed": low if which
            else high})
    tried = 0
    with ctx.workprec(100):
        for run in runs(given):
            tried += 1
            if not lowest(run) <= highest(run):
                return undecided("the lower chain is above the upper one", tried)
    a, energy, less = (sympy.Symbol(name, nonnegative=True) for name in ("a", "S", "m"))
    eta, lam = sympy.symbols("eta l", positive=True)
    down, up = (sympy.Rational(c.numerator, c.denominator) for c in (low, high))

    def step(c: Any, at: Any, total: Any) -> Any:
        return (1 - eta * lam + 2 * c * (eta * lam) ** 2) * at + c * eta**2 * lam * total

    return proof(
        *relu_steps(high, low),
        computed("a step with the larger c is no smaller on the diagonal", never_negative(
            sympy.expand(step(up, a, energy) - step(down, a, energy)))),
        computed("and it rises with the moments before it: its factor is (1 - eta lambda/2)^2 + (2c - 1/4)(eta "
                 "lambda)^2, its weight of S is c eta^2 lambda", vanishes(
                     step(up, a + less, energy) - step(up, a, energy) - less * ((1 - eta * lam / 2) ** 2
                     + (2 * up - sympy.Rational(1, 4)) * (eta * lam) ** 2)) and up >= sympy.Rational(1, 8)),
        argued("induction on the steps; averaging keeps the order (lemma-D.5), and the risk is 1/8 to 1/4 of |w - "
               "w*|_H^2"),
        tried=tried,
    )


def wide_run(given: Domain) -> Run:
    """A start along one direction, and 49 weak ones, for 400 steps of the largest size."""
    share, none = max(given.values("share")), Fraction(0)
    spectrum = (Fraction(1), *[Fraction(1, 49)] * 49)
    return Run(spectrum, (Fraction(1), *[none] * 49), 400, share / (3 * sum(spectrum)), none, none)


def apart_steps() -> tuple[ProofStep, ...]:
    """R and rho of the docstring, on symbols."""
    t, s = sympy.symbols("t s", nonnegative=True)
    share = 1 / (1 + t)  # L, through (0, 1]
    y = share / 3 / (1 + s)  # one of the y_i, which add up to L/3
    low, high, first, second = sympy.symbols("k K A B", positive=True)
    ratio = (6 - share) / (6 - 2 * share)
    return (
        computed("(1-k)/(1-K) = (1 - y/2)/(1 - y) is at most (6-L)/(6-2L), and 0 <= k <= K, y <= L/3", vanishes(
            (y - y**2 / 2) / (y - y**2) - (1 - y / 2) / (1 - y)) and never_negative(
                sympy.together(ratio - (1 - y / 2) / (1 - y)), 1 - y + y**2 / 2)),
        computed("R (1 - A)/(1 - k) - (1 - B)/(1 - K) = (B - A)/(1 - K) for R = (1-k)/(1-K): A = k^n <= B = K^n",
                 vanishes((1 - low) / (1 - high) * (1 - first) / (1 - low) - (1 - second) / (1 - high)
                          - (second - first) / (1 - high))),
        computed("(1/2) y^2/(1 - K) = (1/2) y/(1-y) <= (1/2) y/(1 - L/3), which adds up to rho <= 1/4", vanishes(
            y**2 / (y - y**2) - y / (1 - y)) and never_negative(
                sympy.together(1 / (1 - share / 3) - 1 / (1 - y)), sympy.together(
                    sympy.Rational(1, 4) - share / 3 / (1 - share / 3) / 2))),
        argued("weights that fall are sums of steps; T unrolled into what is kept and what is fed back, as in the "
               "docstring"),
    )


def judge_apart(noises: tuple[tuple[int, int, int], ...], most: Apart) -> Callable[[Apart, Domain], Finding]:
    """Whether the ends of the sandwich are at most says(L) apart, for runs with these starts and noises."""

    def judge(says: Apart, given: Domain) -> Finding:
        tried = 0
        every = [run for run in runs(given) if (int(run.gaps[0]), int(run.label), int(run.noise)) in noises]
        with ctx.workprec(100):
            for run in [*([wide_run(given)] if (1, 0, 0) in noises else []), *every]:
                tried += 1
                share, ratio = 3 * run.rate * sum(run.spectrum), highest(run) / lowest(run)
                if ratio > ball(says(share)):
                    return refuted("the ends of the sandwich are farther apart, certified", {
                        "largest eigenvalue": run.spectrum[0], "others": run.spectrum[-1],
                        "directions": len(run.spectrum), "start along the first": run.gaps[0],
                        "start along the others": run.gaps[-1], "sigma^2": run.label, "s^2": run.noise,
                        "N": run.records, "eta": run.rate, "apart": Enclosure.of_ball(ratio), "claimed": says(share)})
        t = sympy.Symbol("t", nonnegative=True)
        share_ = 1 / (1 + t)
        ratio_, rho = (6 - share_) / (6 - 2 * share_), share_ / (2 * (3 - share_))
        fed = share_ / 6 / ((1 - share_ / 3) * (1 - rho))
        return proof(
            *apart_steps(),
            computed("2 R times 2 R/(1-rho), and 2 R (1 + (L/6)/((1 - L/3)(1 - rho))), are the docstring's factors",
                     vanishes(4 * ratio_**2 / (1 - rho) - widest(share_), 2 * ratio_ * (1 + fed) - label_only(share_))),
            computed("that is at most what is claimed, on symbols",
                     never_negative(sympy.together(says(share_) - most(share_)))),
            tried=tried,
        )

    return judge


def widest(share: Any) -> Any:
    """The bound for any start and any noise."""
    return 4 * (6 - share) ** 2 / ((6 - 2 * share) * (6 - 3 * share))


def label_only(share: Any) -> Any:
    """The bound for label noise alone."""
    return 2 * (6 - share) / (6 - 3 * share)


_WEAKER = {"1 % more": "a weaker bound", "squared": "likewise", "2 -> 3 *": "likewise",
           "3 -> 4 *": "a smaller divisor: a weaker bound", "- -> + (operator 1)": "a larger numerator: a weaker bound",
           "* -> + *": "a weaker bound for L up to 1", "any N": "the bound has no N"}
sandwich = Claim(
    id="glmtron/exact-sandwich", source="003, Lemma D.4 and D.5 on Gaussian features: the two chains",
    severity=Stake.UTILITY,
    statement=r"a_{t+1,i} = (1 - \eta\lambda_i + 2c\eta^2\lambda_i^2) a_{t,i} + c\,\eta^2\lambda_i \textstyle\sum_j "
              r"\lambda_j a_{t,j} +"
              r" \eta^2(\sigma^2\lambda_i + s^2), \quad c \in \{\tfrac14, \tfrac12\}",
    words="on Gaussian features the risk of a run without clipping lies between an eighth of the chain with c = 1/4 "
          "and a quarter of that with c = 1/2",
    hypotheses=RUN, says=(Fraction(1, 4), Fraction(1, 2)), check=judge_sandwich, expected="HOLDS ARGUED",
    rests_on=("glmtron/lemma-D.4-half", "glmtron/lemma-D.4-lower", "glmtron/lemma-D.5", "glmtron/risk-sandwich",
              "glmtron/assumption-3.4-gaussian"),
    flips=(Flip("c = 1/3 below", (Fraction(1, 3), Fraction(1, 2)), Verdict.REFUTED),
           Flip("c = 2/5 above", (Fraction(1, 4), Fraction(2, 5)), Verdict.REFUTED)),
    true_variants={"?0? 1 % less": "a smaller lower chain is weaker", "?0? sign": "likewise",
                   "?1? 1 % more": "a larger upper chain is weaker", "?1? one more": "likewise",
                   "any share": "the order of the moments on the diagonal needs no condition on the step size"},
)
ends = Claim(
    id="glmtron/exact-sandwich-factor", source="003, the two chains: how far apart their risks are",
    severity=Stake.UTILITY, statement=r"\text{upper}/\text{lower} \le 2",
    words="the two ends of the sandwich are at most a factor of 2 apart, that of an eighth to a quarter",
    hypotheses=(RUN[0], RUN[1]), says=lambda share: 2 + 0 * share,
    check=judge_apart(((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)), widest), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{upper}/\text{lower} \le \frac{4(6-L)^2}{(6-2L)(6-3L)} \le \tfrac{25}{3},\quad L = "
                  r"\alpha\eta\operatorname{tr}(H) \le 1",
        words="the ends are at most 4 (6-L)^2/((6-2L)(6-3L)) apart, L = alpha eta tr(H): at most 25/3, whatever "
              "spectrum, start, noises and N",
        says=widest, expected="HOLDS ARGUED", rests_on=("glmtron/exact-sandwich",),
        flips=(Flip("25/3 throughout", lambda share: Fraction(25, 3) + 0 * share, Verdict.HOLDS),
               Flip("4, where L is 1", lambda share: 4 * share, Verdict.REFUTED)),
        true_variants={**_WEAKER, "4 -> 5 *": "a weaker bound"},
    ),
)
label_ends = Claim(
    id="glmtron/exact-sandwich-label", source="003, the two chains: label noise alone", severity=Stake.UTILITY,
    statement=r"w_0 = w_*,\ s = 0: \quad \text{upper}/\text{lower} \le \frac{2(6-L)}{6-3L}",
    words="for label noise alone the ends are at most 2 (6-L)/(6-3L) apart: 10/3, and 2 as the step size falls",
    hypotheses=(RUN[0], RUN[1]), says=label_only, check=judge_apart(((0, 1, 0),), label_only), expected="HOLDS ARGUED",
    rests_on=("glmtron/exact-sandwich",),
    flips=(Flip("2", lambda share: 2 + 0 * share, Verdict.REFUTED),
           Flip("four", lambda share: 4 + 0 * share, Verdict.HOLDS)),
    true_variants={**_WEAKER, "/ -> ?* *": "a product of numbers above 1: a weaker bound"},
)
