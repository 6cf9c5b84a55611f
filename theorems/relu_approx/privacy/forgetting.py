r"""Section 2.2 of document 000: forgetting, and the comparison of Theorem 2.8 with the Renyi analysis of Ye and Shokri.

As the epochs grow, mu tends to a finite limit for c < 1, and the distance to it falls like c^{k(E-1)}: a larger eta
lambda forgets faster. The Renyi route: R_alpha/alpha obeys R <- R + 1/(2 s^2) at a step that reads the record (unit
sensitivity, noise s on the mean) and R <- R / (1 + s^2/(c^2 v)) at the others, where v is the inverse log-Sobolev
constant, v <- c^2 v + s^2. That is exact for linear maps and Gaussian laws, and the recursion of the registered
`noisy-minibatch.rdp`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import epsilon_of_mu
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.relu_approx.privacy.gdp import symbolic_tail
from theorems.tools.cyclic_value import squared
from theorems.tools.exact_gaussian_curve import curve
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided

_DROPS = tuple(Fraction(v) for v in ("5.4e-5", "1e-4", "2e-4"))  # eta lambda in Figure 1
_DELTA = Fraction(1, 10**5)


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
    return arb(squared(c, c**batches, c ** (batches * (epochs - 1))))


def ratios(batches: int = 60, epochs: int = 400) -> dict[Fraction, Enclosure]:
    """The Renyi rate over mu^2/2 at Figure 1's setting, the record in the last batch."""
    with ctx.workprec(128):
        return {
            drop: Enclosure.of_ball(
                2 * renyi_rate(1 - ball(drop), batches, epochs, batches) / squared_mu(1 - ball(drop), batches, epochs)
            )
            for drop in _DROPS
        }


def epsilon_ratio(drop: Fraction, sigma: int, batches: int = 60, epochs: int = 400) -> Enclosure:
    """The Renyi route's epsilon, at the best order of a grid of twentieths, over Theorem 2.8's, at delta = 1e-5."""
    with ctx.workprec(128):
        scale = ball(Fraction(4, sigma**2))  # (L/(b sigma))^2 with L = 2
        c = 1 - ball(drop)
        rate, square = scale * renyi_rate(c, batches, epochs, batches), scale * squared_mu(c, batches, epochs)
        least = arb("inf")
        for twentieths in range(22, 2000):
            order = arb(twentieths) / 20
            least = least.min(rate * order - (ball(_DELTA) * order).log() / (order - 1) + (1 - 1 / order).log())
        exact = epsilon_of_mu(square.sqrt, _DELTA, Fraction(1, 10**12))
        return Enclosure.of_ball(least / exact.ball)


def judge_lower(which: str, given: Domain) -> Finding:
    """Whether "Theorem 2.8" or "Renyi" is lower: R_alpha/alpha against mu^2/2, that of the theorem's Gaussian."""
    found = ratios()
    for drop, ratio in found.items():
        above = ratio.lower.compare(1) > 0
        if not above and not ratio.certainly_le(1):
            return undecided(f"the ratio is {ratio}", 1)
        if above != (which == "Theorem 2.8"):
            return refuted("the other one is lower", {"eta lambda": drop, "Renyi rate over mu^2/2": ratio})
    return instance(
        "the Renyi rate is above that of the Gaussian at every order, so is what it converts to at every delta "
        "(Lemma F.1 is never below the Gaussian's own curve): "
        + ", ".join(f"{float(drop):g}: {ratio.to_floats()[0]:.2f} times" for drop, ratio in found.items())
    )


def judge_gap(says: Mapping[Fraction, tuple[str, str, str]], given: Domain) -> Finding:
    """Whether the ratios of the rates, and of the epsilons at sigma = 15 and 5, round to these numbers."""
    found, names = ratios(), ("rates", "epsilons, sigma = 15", "epsilons, sigma = 5")
    return all_round(
        ({"eta lambda": drop, "of": name}, value, text) for drop, texts in says.items()
        for name, text, value in zip(
            names, texts, (found[drop], epsilon_ratio(drop, 15), epsilon_ratio(drop, 5)), strict=True)
    )


def judge_limit(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the share of mu^2's second term that is lacking after E epochs is says(Q), Q = c^{k(E-1)}, rising in Q.

    It is then larger for a larger c, at every k and E, and goes to 0 with Q.
    """
    tried = 0
    for point in given.points("contraction", "batches", "epochs", at_most=60):
        c, k, epochs = point.values()
        if k * epochs > 200:
            continue
        tried += 1
        q, big_q = c**k, c ** (k * (epochs - 1))
        limit = squared(c, q, Fraction(0))
        lacking = (limit - squared(c, q, big_q)) / (limit - 1)
        if says(big_q) != lacking:
            return refuted(
                "the theorem's value lacks another share of its limit",
                {"c": c, "batches": k, "epochs": epochs, "lacking": lacking, "claimed": says(big_q)},
            )
    c, q, big_q, eta, lam, mu = sympy.symbols("c q Q eta lambda mu", positive=True)
    share = given.chart("contraction")
    epsilon = sympy.Symbol("epsilon", nonnegative=True)
    steps = given.symbol("batches") * (given.chart("epochs") - 1)
    limit = squared(c, q, sympy.Integer(0))
    lacking = sympy.simplify((limit - squared(c, q, big_q)) / (limit - 1))
    tail = curve(epsilon, mu, symbolic_tail, sympy.exp)
    return proof(
        computed("relative to its limit the second term of mu^2 lacks the claimed share of Q = c^(k(E-1))",
                 sympy.simplify(says(big_q) - lacking) == 0),
        computed("it vanishes with Q and rises with Q",
                 lacking.subs(big_q, 0) == 0 and sympy.factor(sympy.diff(lacking, big_q)).is_positive),
        computed("Q rises with c, as k(E-1) >= 1, and falls with E, as c < 1",
                 sympy.diff(c**steps, c).is_positive and sympy.factor(1 - share).is_positive),
        computed("c = 1 - eta lambda falls with lambda and with eta",
                 all(sympy.diff(1 - eta * lam, by).is_negative for by in (eta, lam))),
        computed("delta, and with it epsilon, rises with mu: its slope is a normal density",
                 sympy.simplify(sympy.diff(tail, mu)).is_positive),
        tried=tried,
    )


def judge_faster(share: Fraction, given: Domain) -> Finding:
    """Whether a larger eta gives a smaller c up to that share of 2/beta, whatever lambda < beta."""
    points = list(given.points("lam", "excess"))
    for point in points:
        lam, beta = point["lam"], point["lam"] + point["excess"]
        etas = [share * Fraction(n, 20) * 2 / beta for n in range(1, 20)]
        values = [max(abs(1 - eta * lam), abs(1 - eta * beta)) for eta in etas]
        for place in range(1, len(etas)):
            if values[place] >= values[place - 1]:
                return refuted(
                    "the larger step size has no smaller c",
                    {"lambda": lam, "beta": beta, "eta": etas[place - 1], "larger eta": etas[place],
                     "c": values[place - 1], "its c": values[place]},
                )
    lam, more = given.symbol("lam"), given.symbol("excess")
    least = 2 / (2 * lam + more)  # 2/(lambda + beta), where the two terms of c cross
    room = sympy.factor(least - sympy.Rational(share.numerator, share.denominator) * 2 / (lam + more))
    return proof(computed("c = 1 - eta lambda up to there, which falls", room.is_nonnegative), tried=len(points))


_SETTING = (probability("contraction"), positive_integer("batches"), positive_integer("epochs").at_least(2))

_SLIGHTLY = (
    "however, as also illustrated by the experiments of Bok et al. (2024), the bounds given by Thm. 2.8 lead "
    r"to slightly lower $(\varepsilon, \delta)$ -DP bounds for NoisyCGD."
)

slightly = Claim(
    id="relu-approx/ye-shokri-slightly",
    source="000, Section 2.2: the bounds of Theorem 2.8 are slightly lower than those of Ye and Shokri (2022)",
    quote=_SLIGHTLY,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{Thm.\,2.8}} < \varepsilon_{\mathrm{YS}} \text{ (slightly)}",
    words="Theorem 2.8 gives slightly lower bounds than the Renyi analysis of Ye and Shokri",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/ye-shokri-slightly-reading-lower", "relu-approx/ye-shokri-slightly-reading-bok"),
    expected="AMBIGUOUS CITED",
)

lower = Claim(
    id="relu-approx/ye-shokri-slightly-reading-lower",
    source="000, Section 2.2, read as lower at Figure 1's settings (by our recursion; Ye and Shokri's is not at hand)",
    quote=_SLIGHTLY,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"R_\alpha^{\mathrm{YS}}/\alpha > \mu^2/2 \quad (k = 60,\ E = 400,\ \eta\lambda \in"
              r" \{5.4 \cdot 10^{-5}, 10^{-4}, 2 \cdot 10^{-4}\})",
    words="at Figure 1's settings the bounds of Theorem 2.8 are lower than those of the Renyi analysis",
    hypotheses=(),
    says="Theorem 2.8",
    check=judge_lower,
    flips=(Flip("the Renyi analysis is lower", "Renyi", Verdict.REFUTED),),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/lem-F.1", "background/ye-shokri22"),
    expected="HOLDS ARGUED",
)

much = Claim(
    id="relu-approx/ye-shokri-much",
    source="000, Section 2.2, with the size of the difference (our recursion; Ye and Shokri's text is not at hand)",
    severity=Stake.UTILITY,
    statement=r"\frac{R_\alpha^{\mathrm{YS}}/\alpha}{\mu^2/2} = 18.14,\ 14.60,\ 11.58,\quad"
              r" \frac{\varepsilon^{\mathrm{YS}}}{\varepsilon} = 5.61,\ 4.91,\ 4.25\ (\sigma = 15)",
    words="at Figure 1's setting the Renyi rate is 12 to 18 times, and its epsilon 4 to 7 times, that of Theorem 2.8",
    hypotheses=(),
    says={
        _DROPS[0]: ("18.14", "5.61", "6.50"), _DROPS[1]: ("14.60", "4.91", "5.52"),
        _DROPS[2]: ("11.58", "4.25", "4.62"),
    },
    check=judge_gap,
    flips=(
        Flip("Theorem 2.8 is the larger one", {_DROPS[1]: ("0.50", "0.50", "0.50")}, Verdict.REFUTED),
        Flip("nothing", {}, Verdict.UNDECIDED),
    ),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/lem-F.1", "background/ye-shokri22"),
    expected="HOLDS ARGUED",
)

forgets = Claim(
    id="relu-approx/forgetting",
    source="000, Section 2.2: the larger lambda and eta are, the faster epsilon converges (c = 1 - eta lambda)",
    quote=(
        r"The larger the regularization parameter $\lambda$ and the learning rate $\eta$ are, the faster the "
        r"model 'forgets' the past updates and the faster the $\varepsilon$ -values converge."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\frac{\mu_\infty^2 - \mu_E^2}{\mu_\infty^2 - L^2/(b\sigma)^2} = \frac{2Q}{1+Q},\quad Q = c^{k(E-1)}",
    words="the bound converges with the epochs, and faster for a larger lambda or eta, as long as c = 1 - eta lambda",
    hypotheses=_SETTING,
    says=lambda big_q: 2 * big_q / (1 + big_q),
    check=judge_limit,
    flips=(
        Flip("half of it", lambda big_q: big_q / (1 + big_q), Verdict.REFUTED),
        Flip("more for a smaller c", lambda big_q: (1 - big_q) / (1 + big_q), Verdict.REFUTED),
    ),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c"),
    expected="HOLDS PROVED",
)

faster = Claim(
    id="relu-approx/forgetting-eta",
    source="000, Section 2.2, read of every step size that Theorem 2.8 admits",
    quote=(
        r"The larger the regularization parameter $\lambda$ and the learning rate $\eta$ are, the faster the "
        r"model 'forgets' the past updates and the faster the $\varepsilon$ -values converge."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\eta < \eta' < 2/\beta \implies c(\eta') < c(\eta)",
    words="for all step sizes below 2/beta a larger one has a smaller c and forgets faster",
    hypotheses=(positive("lam"), positive("excess", "beta - lambda")),
    says=Fraction(1),
    check=judge_faster,
    flips=(Flip("up to 1/beta", Fraction(1, 2), Verdict.HOLDS),),
    repaired_by="relu-approx/forgetting",
    expected="REFUTED PROVED",
)
