r"""Appendix F of document 000: from Renyi DP to (epsilon, delta), and numerical against Renyi accounting (Figure 6).

Lemma F.1. With the loss Z under P, delta(epsilon) = E (1 - e^{epsilon - Z})_+. For x = e^{epsilon - Z} in (0, 1) the
factor (1 - x) x^{alpha-1} is largest at x = 1 - 1/alpha, where it is (1/alpha)(1 - 1/alpha)^{alpha-1}; so delta is at
most that times E e^{(alpha-1)(Z - epsilon)} = e^{(alpha-1)(epsilon' - epsilon)}. It is attained: if P = Q(. | a set of
mass e^{-z}), then Z = z, epsilon' = z at every order and delta = 1 - e^{epsilon-z}; take e^{epsilon-z} = 1 - 1/alpha.

Figure 6. The epsilon of the dominating pair is at most what its own Renyi divergences give, converted, and these are
below the bound of Wang, Balle and Kasiviswanathan, Theorem 9 (wor_gaussian.py). Hence, with the same
conversion, an exact numerical accountant is below the Renyi bound at every delta, number of steps and sampling ratio.

The text of Section 2.1 refers to Figure 6 for Poisson sampling, but the figure shows sampling without replacement, a
different pair: the two curves agree at epsilon = 0 but not beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_SIGMA, _RATIO, _DELTA = 5, Fraction(1, 100), Fraction(1, 10**5)
_STEPS = (100, 1000, 10_000)


def printed_factor(alpha: Any) -> Any:
    """What stands before exp((alpha - 1)(epsilon' - epsilon)) in (F.1)."""
    return (1 - 1 / alpha) ** (alpha - 1) / alpha


def judge_conversion(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Hold a conversion factor against mechanisms whose loss is constant, in exact rationals, and against its proof."""
    tried = 0
    for order in range(2, 8):
        alpha = Fraction(order)
        for growth in (Fraction(1), Fraction(3, 2), Fraction(4)):  # e^epsilon
            for loss in {growth * alpha / (alpha - 1), 2 * growth, 5 * growth}:  # e^z, the first one the worst
                tried += 1
                true, allowed = 1 - growth / loss, factor(alpha) * (loss / growth) ** (order - 1)
                if true > allowed:
                    return refuted(
                        "a mechanism of constant loss has a larger delta, exactly",
                        {
                            "alpha": str(order), "e^epsilon": str(growth), "e^epsilon'": str(loss),
                            "delta": str(true), "claimed": str(allowed),
                        },
                    )
    alpha, x = sympy.symbols("alpha x", positive=True)
    product = (1 - x) * x ** (alpha - 1)
    slope = sympy.simplify(sympy.diff(product, x) / x ** (alpha - 2))  # (alpha - 1) - alpha x: one sign change
    peak = sympy.simplify(product.subs(x, 1 - 1 / alpha) - factor(alpha))
    if sympy.expand(slope - (alpha - 1 - alpha * x)) != 0 or peak != 0:
        return undecided("no mechanism fails; not the sharp factor", tried)
    canonne = sympy.simplify((1 - 1 / alpha) ** alpha / (alpha - 1) - factor(alpha))
    return proof(argued(
        "(1 - x) x^{alpha-1} peaks at x = 1 - 1/alpha, where it is the factor (computer algebra), attained by a "
        f"constant loss; {'equal to' if canonne == 0 else 'not'} the form (1 - 1/alpha)^alpha / (alpha - 1)"
    ))


def converted(rdp: Callable[[int], arb], orders: range) -> Enclosure:
    """The least epsilon at delta = 1e-5 over integer orders, by Lemma F.1 solved for epsilon."""
    least = arb("inf")
    for order in orders:
        alpha = arb(order)
        least = least.min(rdp(order) - (ball(_DELTA) * alpha).log() / (alpha - 1) + (1 - 1 / alpha).log())
    return Enclosure.of_ball(least)


def wang(order: int) -> arb:
    """Wang, Balle and Kasiviswanathan 2019, Theorem 9, for the Gaussian under substitution, one step."""
    step, gamma = ball(Fraction(4, _SIGMA**2)), ball(_RATIO)  # (2/sigma)^2; Renyi DP j step / 2 at order j
    choose = arb(1)
    total = arb(1)
    for j in range(1, order + 1):
        choose = choose * (order - j + 1) / j
        if j == 2:
            growth = step.exp()
            total += gamma**2 * choose * (4 * (growth - 1)).min(2 * growth)
        elif j > 2:
            total += 2 * gamma**j * choose * (j * (j - 1) * step / 2).exp()
    return total.log() / (order - 1)


def without_replacement(steps: int) -> tuple[Enclosure, Enclosure]:
    """An upper bound of the numerical epsilon, and Wang's."""
    numerical = bound("wor-gaussian.epsilon").reference(sigma=_SIGMA, sampling_rate=_RATIO, steps=steps, delta=_DELTA)
    return numerical, converted(lambda order: steps * wang(order), range(2, 65))


def poisson(steps: int) -> tuple[Enclosure, Enclosure]:
    """The certified epsilon of Poisson sampling under substitution, and that by its exact Renyi divergences."""
    common: dict[str, Any] = {"sigma": _SIGMA, "sampling_rate": _RATIO, "steps": steps, "neighbours": "replace"}
    rdp = bound("poisson-gaussian.rdp")
    numerical = bound("poisson-gaussian.epsilon").reference(**common, delta=_DELTA)
    return numerical, converted(lambda order: rdp.reference(**common, alpha=order).ball, range(2, 65, 3))


def judge_tighter(both: Callable[[int], tuple[Enclosure, Enclosure]], given: Domain) -> Finding:
    """Whether the first epsilon is below the second at delta = 1e-5 for each number of steps."""
    shown = []
    with ctx.workprec(100):
        for steps in _STEPS:
            numerical, renyi = both(steps)
            if not numerical.possibly_le(renyi):
                return refuted(
                    "the first is larger, certified",
                    {"steps": str(steps), "first": str(numerical), "second": str(renyi)},
                )
            if not numerical.certainly_le(renyi):
                return undecided("the enclosures overlap", len(_STEPS))
            shown.append(f"T = {steps}: {numerical.to_floats()[1]:.4f} against {renyi.to_floats()[0]:.4f}")
    return at_points(
        "; ".join(shown),
        Scope("points", len(_STEPS), len(_STEPS),
                    {"sigma": "5", "ratio": "0.01", "T": "100, 1000, 10000", "delta": "1e-5"}),
    )


Curve = Callable[[Fraction], arb]


def wor_curve(epsilon: Fraction) -> arb:
    """One step without replacement: gamma delta(x) with e^epsilon = 1 + gamma (e^x - 1)."""
    x = (1 + ball(epsilon).expm1() / ball(_RATIO)).log()
    return ball(_RATIO) * delta_ball(x, ball(Fraction(2, _SIGMA)))


def poisson_curve(epsilon: Fraction) -> arb:
    """The pair (2.3): its likelihood ratio rises, so the best event is a half-line, whose end solves a quadratic."""
    q, sigma, growth = ball(_RATIO), ball(Fraction(_SIGMA)), ball(epsilon).exp()

    # With w = e^{y/sigma^2} the ratio is e^epsilon where q c w^2 - (1-q)(e^epsilon - 1) w - e^epsilon q c = 0.
    c = ball(Fraction(-1, 2 * _SIGMA**2)).exp()
    half = (1 - q) * (growth - 1) / (2 * q * c)
    end = sigma**2 * (half + (half**2 + growth).sqrt()).log()

    def beyond(mean: int) -> arb:
        return (1 - q) * normal_upper_tail(end / sigma) + q * normal_upper_tail((end - mean) / sigma)

    return beyond(1) - growth * beyond(-1)


def judge_scheme(curve: Curve, given: Domain) -> Finding:
    """Whether a curve is that of one Poisson-sampled step under substitution, at sigma = 5 and q = 0.01."""
    points = tuple(Fraction(v) for v in ("0", "1/1000", "1/200", "1/100", "1/50"))
    with ctx.workprec(160):
        for epsilon in points:
            true = bound("poisson-gaussian.delta").reference(
                sigma=_SIGMA, sampling_rate=_RATIO, steps=1, epsilon=epsilon, neighbours="replace"
            )
            claimed = Enclosure.of_ball(curve(epsilon))
            if not claimed.overlaps(true):
                return refuted(
                    "the curves differ, certified",
                    {"epsilon": str(epsilon), "sigma": "5", "q": "1/100", "this curve": str(claimed),
                     "Poisson sampling, pair (2.3)": str(true)},
                )
    return at_points(
        "within the certified enclosures",
        Scope("points", len(points), len(points), {"epsilon": "0 to 0.02", "sigma": "5", "q": "0.01"}),
    )


_SETTING = (positive("sigma"), probability("ratio"), positive_integer("steps"), probability("delta"))

lemma_f_1 = Claim(
    id="relu-approx/lem-F.1",
    source="000, Lemma F.1 (Canonne, Kamath and Steinke 2020)",
    quote=(
        r"Suppose the mechanism $\mathcal{M}$ is $(\alpha, \epsilon')$ -RDP. Then $\mathcal{M}$ is also "
        r"$(\epsilon, \delta(\epsilon))$ -DP for arbitrary $\epsilon \geq 0$ with $$\delta(\epsilon) = "
        r"\frac{\exp\left((\alpha - 1)(\epsilon' - \epsilon)\right)}{\alpha} \left(1 - "
        r"\frac{1}{\alpha}\right)^{\alpha - 1}.$$ (F.1)"
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\delta(\varepsilon) = \frac{e^{(\alpha-1)(\varepsilon' - \varepsilon)}}{\alpha}"
              r"\Big(1 - \frac1\alpha\Big)^{\alpha-1}",
    words="(alpha, epsilon')-RDP gives (epsilon, e^((alpha-1)(epsilon'-epsilon)) (1-1/alpha)^(alpha-1) / alpha)-DP",
    hypotheses=(positive("alpha", "order, above 1"), non_negative("epsilon"), non_negative("rdp")),
    says=printed_factor,
    check=judge_conversion,
    flips=(
        Flip("the power alpha", lambda alpha: (1 - 1 / alpha) ** alpha / alpha, Verdict.REFUTED),
        Flip("1/alpha^2", lambda alpha: printed_factor(alpha) / alpha, Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)

figure_6 = Claim(
    id="relu-approx/fig-6",
    source="000, Figure 6 and Section 2.1: numerical accounting is tighter than the RDP bound of Wang et al. 2019",
    quote=(
        "Alternatively, we could use RDP bounds given by Wang et al. (2019), however, as also illustrated by the "
        "Appendix Figure 6, our numerical approach generally leads to tighter bounds."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\varepsilon_{\mathrm{PLD}} < \varepsilon_{\mathrm{RDP}},\quad \sigma = 5,\ m/n = 0.01",
    words="without replacement numerical accounting is tighter than Wang et al.'s Renyi bound at sigma = 5, ratio 0.01",
    hypotheses=_SETTING,
    says=without_replacement,
    check=judge_tighter,
    flips=(Flip("the other way round", lambda steps: without_replacement(steps)[::-1], Verdict.REFUTED),),
    uses=("relu-approx/lem-F.1",),
    rests_on=("relu-approx/lem-F.1",),
    expected="HOLDS CHECKED_AT_POINTS",
)

scheme = Claim(
    id="relu-approx/lem-2.6-vs-fig-6",
    source="000, Section 2.1, which refers to Figure 6 (sampling without replacement) for Poisson sampling",
    quote=(
        "Alternatively, we could use RDP bounds given by Wang et al. (2019), however, as also illustrated by the "
        "Appendix Figure 6, our numerical approach generally leads to tighter bounds."
    ),
    whose=Whose.READING,
    statement=r"H_{e^\varepsilon}(\text{pair of Figure 6}) = H_{e^\varepsilon}(\text{pair } (2.3))",
    words="the curves of Figure 6, without replacement, are those of the pair (2.3), Poisson sampling",
    hypotheses=_SETTING,
    says=wor_curve,
    check=judge_scheme,
    uses=("relu-approx/fig-6",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\delta(\varepsilon) = P(y > y_\varepsilon) - e^\varepsilon Q(y > y_\varepsilon),\quad (P, Q) ="
            r" (2.3)"
        ),
        words="one Poisson-sampled step has the curve of the pair (2.3), the mass of a half-line",
        says=poisson_curve,
        expected="HOLDS CHECKED_AT_POINTS",
        source="000, Section 2.1: the curve of one step of the pair (2.3)",
        rests_on=("relu-approx/lem-2.6-repaired",),
    ),
)

poisson_tighter = Claim(
    id="relu-approx/lem-2.6-vs-fig-6-reading-poisson",
    source="000, Section 2.1: what the text says of Figure 6, for the Poisson sampling that it speaks of",
    quote=(
        "Alternatively, we could use RDP bounds given by Wang et al. (2019), however, as also illustrated by the "
        "Appendix Figure 6, our numerical approach generally leads to tighter bounds."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\varepsilon_{\mathrm{PLD}} < \varepsilon_{\mathrm{RDP}},\quad \sigma = 5,\ q = 0.01 \text{ (Poisson)}",
    words="with Poisson sampling, too, numerical accounting is tighter than Renyi accounting at sigma = 5, q = 0.01",
    hypotheses=_SETTING,
    says=poisson,
    check=judge_tighter,
    flips=(Flip("the other way round", lambda steps: poisson(steps)[::-1], Verdict.REFUTED),),
    rests_on=("relu-approx/lem-F.1", "relu-approx/lem-2.6-repaired"),
    expected="HOLDS CHECKED_AT_POINTS",
)
