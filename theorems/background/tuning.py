r"""Private tuning with a Poisson number of runs (Papernot and Steinke 2022; Koskela, Redberg and Wang 2024).

The best of K ~ Poisson(m) runs of a base is released, nothing if K = 0. With outcomes in their order of merit and base
laws Q, Q' (a finite base breaks ties by merit of the outcome itself), the outcome y is released with probability e^{-m
Q(>y)} (1 - e^{-m Q(y)}), and nothing with e^{-m}. So finite bases give the exact laws A and A', in balls.

Papernot and Steinke, Theorem 6 as it is quoted: R'(alpha) <= R(alpha) + m d + log(m)/(alpha-1) for a base that is also
(x, d)-DP with e^x <= 1 + 1/(alpha-1). For m < 1 and a base that ignores its data this is negative, and no divergence
is. The repaired statement keeps the e^{-m} of releasing nothing; with t = alpha - 1,

    E_{A'} (A/A')^alpha <= e^{-m} + m e^{t (R(alpha) + m d)}.

Proof (for densities; ties are broken by an independent uniform number, forgotten at the end): the density at y is m
Q(y)^alpha Q'(y)^{-t} e^{-m (alpha Q(>y) - t Q'(>y))}, and t Q'(>y) <= t (e^x Q(>y) + d) <= alpha Q(>y) + t d.

Koskela et al. (000, Theorem 5.1): H_{e^epsilon}(A, A') <= m delta(e) for epsilon = e + m (e^{e1} - 1) + m delta(e1),
any e, e1 >= 0, since A(y) - e^epsilon A'(y) = m e^{-m Q(>y)} (Q(y) - e^{epsilon - m (Q'(>y) - Q(>y))} Q'(y)), and the
difference of the tails is at most e^{e1} - 1 + delta(e1).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.finite_laws import Law, hockey_stick, laws, shown
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, Verdict, argued, at_points, computed, proof, refuted

_BASES = [law for outcomes in (2, 3) for law in laws(outcomes, 4) if min(law) > 0]
_PAIRS = [(a, b) for a, b in itertools.product(_BASES, repeat=2) if len(a) == len(b)]


def tuned(base: Law, mean: Fraction) -> list[arb]:
    """The law of the released outcome, the best outcome last in the base, and of nothing, first."""
    law = [(-ball(mean)).exp()]
    for i, mass in enumerate(base):
        better = sum(base[i + 1:], Fraction(0))
        law.append((-ball(mean * better)).exp() * -(-ball(mean * mass)).expm1())
    return law


def power_sum(first: list[arb], second: list[arb], order: Fraction) -> arb:
    """sum p^alpha q^{1-alpha}, in balls; both laws must be positive."""
    return sum((p * (p / q) ** (ball(order) - 1) for p, q in zip(first, second, strict=True)), arb(0))


Moment = Callable[[Any, Any, Any, Callable[[Any], Any]], Any]
"""The bound on E (A/A')^alpha of (m, t = alpha - 1, X = t (R + m d), exp)."""


def with_nothing(mean: Any, t: Any, exponent: Any, exp: Callable[[Any], Any]) -> Any:
    """The repaired bound."""
    return exp(-mean) + mean * exp(exponent)


def as_quoted(mean: Any, t: Any, exponent: Any, exp: Callable[[Any], Any]) -> Any:
    """e^{t R'} for the quoted R' = R + m d + log(m)/t."""
    return mean * exp(exponent)


def judge_moment(says: Moment, given: Domain) -> Finding:
    """Hold a bound against the exact laws of tuned finite bases, certified, and against the proof's own bound."""
    tried = 0
    for point in given.points("mean", "alpha", most={"mean": 20, "alpha": 6}):
        mean, order = point["mean"], point["alpha"]
        t = order - 1
        for base, other in _PAIRS:
            tried += 1
            leak = max(hockey_stick(base, other, 1 + 1 / t), hockey_stick(other, base, 1 + 1 / t))
            with ctx.workprec(200):
                size = power_sum([ball(p) for p in base], [ball(q) for q in other], order)
                claimed = says(ball(mean), ball(t), size.log() + ball(t * mean * leak), arb.exp)
                true = power_sum(tuned(base, mean), tuned(other, mean), order)
                if true > claimed:
                    return refuted(
                        "a tuned base has a larger divergence, certified",
                        {"Q": shown(base), "Q'": shown(other), "m": mean, "alpha": order,
                         "E (A/A')^alpha": true.str(12), "claimed": claimed.str(12)},
                    )
    tail, d, x, q, other_q, other_tail = sympy.symbols("G d x Q R H", positive=True)
    alpha, m = given.chart("alpha"), given.symbol("mean", "m")
    t = alpha - 1
    first, second = m * q * sympy.exp(-m * tail), m * other_q * sympy.exp(-m * other_tail)
    released = sympy.expand_log(alpha * sympy.log(first) - t * sympy.log(second), force=True)
    product = sympy.log(m) + alpha * sympy.log(q) - t * sympy.log(other_q) - m * (alpha * tail - t * other_tail)
    room = says(m, t, x, sympy.exp) - (sympy.exp(-m) + m * sympy.exp(x))
    if not never_negative(room):
        return at_points(f"no tuned base of {tried} is against it, certified", tried, {"m": "to 20", "alpha": "to 6"})
    return proof(
        argued("the best run has the density m Q e^(-m Q(>y)), ties being broken by an independent number; nothing is "
               "released with probability e^-m on both data sets"),
        computed("its alpha-th moment is m Q^alpha Q'^(1-alpha) e^(-m (alpha Q(>y) - t Q'(>y)))",
                 vanishes(sympy.expand(released - product)) and m.is_positive is True),
        computed("t Q'(>y) <= t ((1 + 1/t) Q(>y) + d) = alpha Q(>y) + t d, since the base is (x, d)-DP, e^x <= 1 + 1/t",
                 vanishes(t * ((1 + 1 / t) * tail + d) - (alpha * tail + t * d)) and signed_positive(t)),
        computed("so e^-m + m e^(t (R + m d)) is a bound, and the claimed one is no smaller", never_negative(room)),
        tried=tried,
    )


Price = Callable[[Any, Any, Any, Callable[[Any], Any]], Any]
"""epsilon - e of (m, e1, delta(e1), exp)."""


def price(mean: Any, first: Any, leak: Any, exp: Callable[[Any], Any]) -> Any:
    """Koskela, Redberg and Wang's price."""
    return mean * (exp(first) - 1) + mean * leak


def judge_price(says: Price, given: Domain) -> Finding:
    """H(A, A') <= m delta(e) at the claimed epsilon, for finite bases, certified."""
    tried = 0
    for point in given.points("mean", "odds", "first_odds", most={"mean": 20}, at_most=80):
        mean, ratio, first = point["mean"], point["odds"], point["first_odds"]
        for base, other in _PAIRS:
            tried += 1
            allowed = mean * max(hockey_stick(base, other, ratio), hockey_stick(other, base, ratio))
            leak = max(hockey_stick(base, other, first), hockey_stick(other, base, first))
            with ctx.workprec(100):
                epsilon = ball(ratio).log() + says(ball(mean), ball(first).log(), ball(leak), arb.exp)
                true = sum(((p - epsilon.exp() * q).max(arb(0)) for p, q in zip(
                    tuned(base, mean), tuned(other, mean), strict=True)), arb(0))
                if true > ball(allowed):
                    return refuted(
                        "a tuned base has a larger delta, certified",
                        {"Q": shown(base), "Q'": shown(other), "m": mean, "e^e": ratio, "e^e1": first,
                         "epsilon": epsilon.str(12), "delta": true.str(12), "claimed": allowed},
                    )
    e1, d, tail, moved, total, q, other_q = sympy.symbols("e_1 d G v E Q R", positive=True)
    m, growth = given.symbol("mean", "m"), given.chart("first_odds")
    difference = m * q * sympy.exp(-m * tail) - sympy.exp(total) * m * other_q * sympy.exp(-m * (tail + moved))
    taken_out = m * sympy.exp(-m * tail) * (q - sympy.exp(total - m * moved) * other_q)
    share = sympy.symbols("s", nonnegative=True)
    below = share / (1 + share)  # Q(>y) in [0, 1)
    return proof(
        argued("the best run has the density m Q e^(-m Q(>y)), ties being broken by an independent number"),
        computed("A - e^epsilon A' = m e^(-m Q(>y)) (Q - e^(epsilon - m (Q'(>y) - Q(>y))) Q'), m > 0",
                 vanishes(difference - taken_out) and m.is_positive is True),
        computed("the tails' difference is at most (e^e1 - 1) Q(>y) + delta(e1), and Q(>y) <= 1, e1 >= 0",
                 never_negative((growth - 1) - (growth - 1) * below, given.chart("odds") - 1)),
        computed("so e + m (e^e1 - 1 + delta(e1)) is enough, and the claimed price is no smaller",
                 never_negative(sympy.expand(says(m, e1, d, sympy.exp) - m * (sympy.exp(e1) - 1 + d)))),
        argued("m e^(-m Q(>y)) <= m, and what is left is the base's divergence at e"),
        tried=tried,
    )


_ORDER = Parameter("alpha", low=Fraction(1), low_open=True)
_TUNING = (positive("mean", "m"), _ORDER)

papernot_steinke = Claim(
    id="background/papernot-steinke",
    source="a finding of ours: the formula that the register recalls of Papernot and Steinke 2022, for m < 1 as well",
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon'(\alpha) = \varepsilon(\alpha) + m\hat\delta + \frac{\log m}{\alpha - 1},\quad"
        r" e^{\hat\varepsilon} \le 1 + \frac{1}{\alpha - 1},\ m > 0"
    ),
    words="Renyi DP of the best of Poisson(m) runs grows by m delta + log(m)/(alpha - 1), for every m > 0",
    hypotheses=_TUNING,
    says=as_quoted,
    check=judge_moment,
    flips=(Flip("with the e^-m of releasing nothing", with_nothing, Verdict.HOLDS),),
    repaired_by="background/poisson-tuning",
    expected="REFUTED PROVED",
)

papernot_steinke_many = Claim(
    id="background/papernot-steinke-reading-many",
    source="Papernot and Steinke 2022, as the register quotes it, read for a mean of at least one run",
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon'(\alpha) = \varepsilon(\alpha) + m\hat\delta + \frac{\log m}{\alpha - 1},\quad"
        r" e^{\hat\varepsilon} \le 1 + \frac{1}{\alpha - 1},\ m \ge 1"
    ),
    words="the quoted Renyi DP of the best of Poisson(m) runs, for m >= 1",
    hypotheses=(Parameter("mean", low=Fraction(1), meaning="m"), _ORDER),
    says=as_quoted,
    check=judge_moment,
    flips=(Flip("without the runs", lambda m, t, x, exp: exp(x / 2), Verdict.REFUTED),),
    true_variants=dict.fromkeys(("1 % more", "squared", "[*] -> + *"), "a larger bound is valid, too"),
    survivors={"beyond *": "not proved: tried at points only"},
    expected="HOLDS CHECKED_AT_POINTS",
)

poisson_tuning = Claim(
    id="background/poisson-tuning",
    source="Papernot and Steinke 2022, repaired for a small number of runs; proved here",
    severity=Stake.PRIVACY,
    statement=(
        r"e^{(\alpha-1)\varepsilon'(\alpha)} \le e^{-m} + m e^{(\alpha-1)(\varepsilon(\alpha) + m\hat\delta)},\quad"
        r" e^{\hat\varepsilon} \le 1 + \frac{1}{\alpha - 1}"
    ),
    words="Renyi DP of the best of Poisson(m) runs, for every m > 0",
    hypotheses=_TUNING,
    says=with_nothing,
    check=judge_moment,
    flips=(
        Flip("as quoted", as_quoted, Verdict.REFUTED),
        Flip("e^-m in place of m", lambda m, t, x, exp: exp(-m) + exp(-m) * exp(x), Verdict.REFUTED),
    ),
    true_variants={"1 % more": "a larger bound is valid, too"},
    expected="HOLDS ARGUED",
)

koskela = Claim(
    id="background/koskela",
    source="Koskela, Redberg and Wang 2024 (arXiv 2402.06701; 000, Theorem 5.1), for any base; text not at hand",
    quote=(
        r"Then, for all $\varepsilon > 0$ and for all $\varepsilon_1 \geq 0$ , $$H_{e^{\varepsilon}}(A||A') "
        r"\le m \cdot \delta(\widehat{\varepsilon}),$$ (5.1) where $\widehat{\varepsilon} = \varepsilon - "
        r"m \cdot (e^{\varepsilon_1} - 1) - m \cdot \delta(\varepsilon_1)$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"H_{e^\varepsilon}(A, A') \le m\,\delta(e),\quad"
        r" \varepsilon = e + m(e^{\varepsilon_1} - 1) + m\,\delta(\varepsilon_1),\ e, \varepsilon_1 \ge 0"
    ),
    words="the privacy curve of the best of Poisson(m) runs, from the curve of one run",
    hypotheses=(
        positive("mean", "m"), Parameter("odds", low=Fraction(1), meaning="e^e"),
        Parameter("first_odds", low=Fraction(1), meaning="e^epsilon_1"),
    ),
    says=price,
    check=judge_price,
    flips=(
        Flip("nothing for the runs", lambda m, first, leak, exp: 0 * m, Verdict.REFUTED),
        Flip("without delta(e1)", lambda m, first, leak, exp: m * (exp(first) - 1), Verdict.REFUTED),
    ),
    true_variants={"- -> + (operator 1)": "a higher price is valid, too"},
    expected="HOLDS ARGUED",
)
