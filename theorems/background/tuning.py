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

from oracle.core.domain import Parameter, non_negative, positive, unit_interval
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.domain import Domain
from theorems.tools.finite_laws import Law, hockey_stick, laws, moment, shown
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_MEANS = tuple(Fraction(v) for v in ("1/100", "1/2", "1", "3", "20"))


def tuned(base: Law, mean: Fraction) -> list[arb]:
    """The law of the released outcome, the best outcome last in the base, and of nothing, first."""
    law = [(-ball(mean)).exp()]
    for i, mass in enumerate(base):
        better = sum(base[i + 1:], Fraction(0))
        law.append((-ball(mean * better)).exp() * -(-ball(mean * mass)).expm1())
    return law


def tuned_moment(base: Law, other: Law, mean: Fraction, order: int) -> arb:
    """E_{A'} (A/A')^alpha, in balls; both laws must be positive."""
    return sum(
        (p**order / q ** (order - 1) for p, q in zip(tuned(base, mean), tuned(other, mean), strict=True)), arb(0)
    )


Moment = Callable[[Any, Any, Any, Callable[[Any], Any]], Any]
"""The bound on E (A/A')^alpha of (m, t = alpha - 1, X = t (R + m d), exp)."""


def with_nothing(mean: Any, t: Any, exponent: Any, exp: Callable[[Any], Any]) -> Any:
    """The repaired bound."""
    return exp(-mean) + mean * exp(exponent)


def as_quoted(mean: Any, t: Any, exponent: Any, exp: Callable[[Any], Any]) -> Any:
    """e^{t R'} for the quoted R' = R + m d + log(m)/t."""
    return mean * exp(exponent)


def judge_moment(says: tuple[Moment, Fraction], given: Domain) -> Finding:
    """Hold a bound, for means from some m on, against the exact laws of tuned finite bases, certified."""
    formula, least = says
    tried = met = 0
    bases = [law for law in laws(2, 4) if min(law) > 0] + [(Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))]
    pairs = [(a, b) for a, b in itertools.product(bases, repeat=2) if len(a) == len(b)]
    for (base, other), mean, order in itertools.product(pairs, _MEANS, (2, 3, 6)):
        tried += 1
        if mean < least:
            continue
        met += 1
        t = order - 1
        size = moment(base, other, order)
        assert size is not None
        leak = max(hockey_stick(base, other, 1 + Fraction(1, t)), hockey_stick(other, base, 1 + Fraction(1, t)))
        with ctx.workprec(100):
            claimed = formula(ball(mean), t, ball(size).log() + t * ball(mean * leak), arb.exp)
            true = tuned_moment(base, other, mean, order)
            if true > claimed:
                return refuted(
                    "a tuned base has a larger divergence, certified",
                    {"Q": shown(base), "Q'": shown(other), "m": str(mean), "alpha": str(order),
                     "E (A/A')^alpha": true.str(12), "claimed": claimed.str(12)},
                )
    alpha, tail, d, m, x, q, other_q, other_tail = sympy.symbols("alpha G d m x Q R H", positive=True)
    t_ = alpha - 1
    step = sympy.simplify(t_ * ((1 + 1 / t_) * tail + d) - (alpha * tail + t_ * d))  # t Q'(>y) <= t (e^x Q(>y) + d)
    first, second = m * q * sympy.exp(-m * tail), m * other_q * sympy.exp(-m * other_tail)
    released = alpha * sympy.log(first) - t_ * sympy.log(second)
    product = sympy.log(m) + alpha * sympy.log(q) - t_ * sympy.log(other_q) - m * (alpha * tail - t_ * other_tail)
    step += sympy.simplify(sympy.expand_log(released, force=True) - product) ** 2
    same = sympy.simplify(formula(m, t_, x, sympy.exp) - with_nothing(m, t_, x, sympy.exp))
    if step != 0 or same != 0:
        return at_points(
            f"no tuned base of {met} is against it, certified",
            Scope("points", tried, met, {"m": f"{least} to 20", "alpha": "2, 3, 6"}),
        )
    return proof(argued(
        "t (e^x Q + d) = alpha Q + t d (computer algebra) takes the exponential out of the integral, whose rest is the "
        f"base's own moment; {met} tuned finite bases obey it, certified"
    ))


Price = Callable[[Any, Any, Any, Callable[[Any], Any]], Any]
"""epsilon - e of (m, e1, delta(e1), exp)."""


def price(mean: Any, first: Any, leak: Any, exp: Callable[[Any], Any]) -> Any:
    """Koskela, Redberg and Wang's price."""
    return mean * (exp(first) - 1) + mean * leak


def judge_price(says: Price, given: Domain) -> Finding:
    """H(A, A') <= m delta(e) at the claimed epsilon, for finite bases, certified."""
    tried = 0
    bases = [law for law in laws(2, 4) if min(law) > 0] + [law for law in laws(3, 4) if min(law) > 0]
    pairs = [(a, b) for a, b in itertools.product(bases, repeat=2) if len(a) == len(b)]
    for (base, other), mean in itertools.product(pairs, _MEANS):
        for ratio, first in itertools.product((Fraction(1), Fraction(2)), (Fraction(1), Fraction(3, 2))):
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
                        {"Q": shown(base), "Q'": shown(other), "m": str(mean), "e^e": str(ratio), "e^e1": str(first),
                         "epsilon": epsilon.str(12), "delta": true.str(12), "claimed": str(allowed)},
                    )
    m, e1, d, tail, moved, total, q, other_q = sympy.symbols("m e_1 d G v E Q R", positive=True)
    difference = m * q * sympy.exp(-m * tail) - sympy.exp(total) * m * other_q * sympy.exp(-m * (tail + moved))
    taken_out = m * sympy.exp(-m * tail) * (q - sympy.exp(total - m * moved) * other_q)
    gap = sympy.simplify(difference - taken_out)
    if gap != 0 or sympy.simplify(says(m, e1, d, sympy.exp) - price(m, e1, d, sympy.exp)) != 0:
        return undecided("no tuned base is against it; not proved", tried)
    return proof(argued(
        f"by the density of the best of a Poisson number of runs (module docstring); {tried} tuned finite bases obey "
        "it, certified"
    ))


_ORDER = Parameter("alpha", low=Fraction(1), low_open=True)
_TUNING = (positive("mean"), non_negative("rdp"), unit_interval("delta"), _ORDER)

papernot_steinke = Claim(
    id="background/papernot-steinke",
    source="Papernot and Steinke 2022, a Poisson number of runs, as the register quotes it (text not at hand)",
    severity=Severity.PRIVACY,
    statement=(
        r"\varepsilon'(\alpha) = \varepsilon(\alpha) + m\hat\delta + \frac{\log m}{\alpha - 1},\quad"
        r" e^{\hat\varepsilon} \le 1 + \frac{1}{\alpha - 1},\ m > 0"
    ),
    words="Renyi DP of the best of Poisson(m) runs grows by m delta + log(m)/(alpha - 1), for every m > 0",
    hypotheses=_TUNING,
    says=(as_quoted, Fraction(0)),
    check=judge_moment,
    flips=(
        Flip("with the e^-m of releasing nothing", (with_nothing, Fraction(0)), Verdict.HOLDS),
        Flip("for m >= 1", (as_quoted, Fraction(1)), Verdict.HOLDS),
    ),
    repaired_by="background/poisson-tuning",
    expected="REFUTED PROVED",
)

papernot_steinke_many = Claim(
    id="background/papernot-steinke-reading-many",
    source="Papernot and Steinke 2022, as the register quotes it, read for a mean of at least one run",
    severity=Severity.PRIVACY,
    statement=(
        r"\varepsilon'(\alpha) = \varepsilon(\alpha) + m\hat\delta + \frac{\log m}{\alpha - 1},\quad"
        r" e^{\hat\varepsilon} \le 1 + \frac{1}{\alpha - 1},\ m \ge 1"
    ),
    words="the quoted Renyi DP of the best of Poisson(m) runs, for m >= 1",
    hypotheses=(Parameter("mean", low=Fraction(1)), *_TUNING[1:]),
    says=(as_quoted, Fraction(1)),
    check=judge_moment,
    flips=(
        Flip("for m >= 1/2", (as_quoted, Fraction(1, 2)), Verdict.REFUTED),
        Flip("without the runs", (lambda m, t, x, exp: exp(x / 2), Fraction(1)), Verdict.REFUTED),
    ),
    expected="HOLDS CHECKED_AT_POINTS",
)

poisson_tuning = Claim(
    id="background/poisson-tuning",
    source="Papernot and Steinke 2022, repaired for a small number of runs; proved here",
    severity=Severity.PRIVACY,
    statement=(
        r"e^{(\alpha-1)\varepsilon'(\alpha)} \le e^{-m} + m e^{(\alpha-1)(\varepsilon(\alpha) + m\hat\delta)},\quad"
        r" e^{\hat\varepsilon} \le 1 + \frac{1}{\alpha - 1}"
    ),
    words="Renyi DP of the best of Poisson(m) runs, for every m > 0",
    hypotheses=_TUNING,
    says=(with_nothing, Fraction(0)),
    check=judge_moment,
    flips=(
        Flip("as quoted", (as_quoted, Fraction(0)), Verdict.REFUTED),
        Flip("e^-m in place of m", (lambda m, t, x, exp: exp(-m) + exp(-m) * exp(x), Fraction(0)), Verdict.REFUTED),
    ),
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
    severity=Severity.PRIVACY,
    statement=(
        r"H_{e^\varepsilon}(A, A') \le m\,\delta(e),\quad"
        r" \varepsilon = e + m(e^{\varepsilon_1} - 1) + m\,\delta(\varepsilon_1),\ e, \varepsilon_1 \ge 0"
    ),
    words="the privacy curve of the best of Poisson(m) runs, from the curve of one run",
    hypotheses=(positive("mean"), non_negative("epsilon"), non_negative("epsilon1")),
    says=price,
    check=judge_price,
    flips=(
        Flip("nothing for the runs", lambda m, first, leak, exp: 0 * m, Verdict.REFUTED),
        Flip("without delta(e1)", lambda m, first, leak, exp: m * (exp(first) - 1), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)
