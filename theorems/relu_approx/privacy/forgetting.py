r"""Section 2.2 of document 000: forgetting, and the comparison of Theorem 2.8 with the Renyi analysis of Ye and Shokri.

As the epochs grow, mu tends to a finite limit for c < 1, and the distance to it falls like c^{k(E-1)}: a larger eta
lambda forgets faster. The Renyi route: R_alpha/alpha obeys R <- R + 1/(2 s^2) at a step that reads the record (unit
sensitivity, noise s on the mean) and R <- R / (1 + s^2/(c^2 v)) at the others, where v is the inverse log-Sobolev
constant, v <- c^2 v + s^2. That is exact for linear maps and Gaussian laws, and the recursion of the registered
`noisy-minibatch.rdp`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, unit_interval
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.domain import Domain
from theorems.tools.cyclic_value import squared
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_DROPS = (Fraction(1, 10**4), Fraction(2, 10**4))


def renyi_rate(c: arb, batches: int, epochs: int, position: int) -> arb:
    """R_alpha / alpha of the last iterate by the recursion of the module docstring, unit sensitivity and noise."""
    rate, spread = arb(0), arb(0)
    for step in range(batches * epochs):
        if step % batches == position - 1:
            rate += arb(1) / 2
        elif step > 0:
            rate /= 1 + 1 / (c**2 * spread)
        spread = c**2 * spread + 1
    return rate


def squared_mu(c: arb, batches: int, epochs: int) -> arb:
    """mu^2 of Theorem 2.8 at unit sensitivity and noise."""
    q, rest = c**batches, c ** (batches * (epochs - 1))
    return 1 + q**2 / c**2 * (1 - c**2) / (1 - q) ** 2 * (1 - rest) / (1 + rest)


def ratios(batches: int = 60, epochs: int = 400) -> dict[Fraction, Enclosure]:
    """The Renyi rate over mu^2/2 at Figure 1's setting, the record in the worst position, the last batch."""
    with ctx.workprec(128):
        return {
            drop: Enclosure.of_ball(
                2 * renyi_rate(1 - ball(drop), batches, epochs, batches) / squared_mu(1 - ball(drop), batches, epochs)
            )
            for drop in _DROPS
        }


def judge_gap(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether the Renyi bound over Theorem 2.8's, as rates R_alpha/alpha, lies between two numbers."""
    low, high = says
    found = ratios()
    for drop, ratio in found.items():
        if not (ratio.lower.compare(low) >= 0 and ratio.certainly_le(high)):
            return refuted(
                "the ratio of the two bounds is outside, certified",
                {"eta lambda": f"{float(drop):g}", "batches": "60", "epochs": "400", "ratio": str(ratio),
                 "claimed": f"{low} to {high}"},
            )
    return at_points(
        "; ".join(f"eta lambda = {float(drop):g}: {ratio}" for drop, ratio in found.items()),
        Scope("points", len(found), len(found), {"eta lambda": "1e-4, 2e-4", "k": "60", "E": "400"}),
    )


def judge_limit(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the share of mu^2's second term that is lacking after E epochs is says(Q), Q = c^{k(E-1)}, rising in Q.

    It is then larger for a larger c, at every k and E, and goes to 0 with Q.
    """
    c, q, big_q = sympy.symbols("c q Q", positive=True)
    limit = squared(c, q, sympy.Integer(0))
    lacking = sympy.simplify((limit - squared(c, q, big_q)) / (limit - 1))
    slope = sympy.factor(sympy.diff(lacking, big_q))
    at = Fraction(1, 16)  # c = 1/2, k = 2, E = 3
    if sympy.simplify(says(big_q) - lacking) != 0:
        true = lacking.subs(big_q, sympy.Rational(1, 16))
        return refuted(
            "the theorem's value lacks another share of its limit",
            {"c": "1/2", "batches": "2", "epochs": "3", "lacking": str(true), "claimed": str(says(at))},
        )
    if slope.is_positive is not True or lacking.subs(big_q, 0) != 0:
        return undecided("not shown", 1)
    return proof(argued(
        "relative to its limit the second term of mu^2 lacks 2Q/(1+Q), Q = c^{k(E-1)}, which grows with c and goes to "
        "0 with E (computer algebra)"
    ))


_SETTING = (unit_interval("contraction"), positive_integer("batches"), positive_integer("epochs"), positive("sigma"))

slightly = Claim(
    id="relu-approx/ye-shokri-slightly",
    source="000, Section 2.2: the bounds of Theorem 2.8 are slightly lower than those of Ye and Shokri (2022)",
    quote=(
        "however, as also illustrated by the experiments of Bok et al. (2024), the bounds given by Thm. 2.8 lead "
        r"to slightly lower $(\varepsilon, \delta)$ -DP bounds for NoisyCGD."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"1 \le \frac{R_\alpha^{\mathrm{YS}}/\alpha}{\mu^2/2} \le 2",
    words="Theorem 2.8 gives slightly lower bounds than the Renyi analysis: lower, and by less than a factor of two",
    hypotheses=_SETTING,
    says=(Fraction(1), Fraction(2)),
    check=judge_gap,
    flips=(Flip("by a factor of 5 to 20", (Fraction(5), Fraction(20)), Verdict.HOLDS),),
    repaired_by="relu-approx/ye-shokri-much",
    uses=("relu-approx/thm-2.8-formula",),
    expected="REFUTED PROVED",
)

much = Claim(
    id="relu-approx/ye-shokri-much",
    source="000, Section 2.2, with the size of the difference (our recursion; Ye and Shokri's text is not at hand)",
    severity=Severity.UTILITY,
    statement=r"11 \le \frac{R_\alpha^{\mathrm{YS}}/\alpha}{\mu^2/2} \le 15",
    words="at Figure 1's setting the Renyi bound is 11 to 15 times that of Theorem 2.8",
    hypotheses=_SETTING,
    says=(Fraction(11), Fraction(15)),
    check=judge_gap,
    flips=(Flip("Theorem 2.8 is the larger one", (Fraction(0), Fraction(1)), Verdict.REFUTED),),
    rests_on=("relu-approx/thm-2.8-formula",),
    expected="HOLDS CHECKED_AT_POINTS",
)

forgets = Claim(
    id="relu-approx/forgetting",
    source="000, Section 2.2: the larger lambda and eta are, the faster the epsilon-values converge",
    quote=(
        r"The larger the regularization parameter $\lambda$ and the learning rate $\eta$ are, the faster the "
        r"model 'forgets' the past updates and the faster the $\varepsilon$ -values converge."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\frac{\mu_\infty^2 - \mu_E^2}{\mu_\infty^2 - L^2/(b\sigma)^2} = \frac{2Q}{1+Q},\quad Q = c^{k(E-1)}",
    words="the bound converges with the epochs, and faster for a smaller c",
    hypotheses=_SETTING,
    says=lambda big_q: 2 * big_q / (1 + big_q),
    check=judge_limit,
    flips=(
        Flip("half of it", lambda big_q: big_q / (1 + big_q), Verdict.REFUTED),
        Flip("more for a smaller c", lambda big_q: (1 - big_q) / (1 + big_q), Verdict.REFUTED),
    ),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c"),
    expected="HOLDS ARGUED",
)
