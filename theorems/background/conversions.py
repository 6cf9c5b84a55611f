r"""From Renyi DP, and from zCDP, to (epsilon, delta)-DP (Mironov 2017; Canonne, Kamath and Steinke 2020), proved.

With the loss x = log(dP/dQ), delta(epsilon) = E_P (1 - e^{epsilon - x})_+ and e^{(alpha-1) R_alpha} = E_P e^{(alpha-1)
x}. With y = e^{epsilon - x} in (0, 1], (1 - y) y^{alpha-1} has the slope y^{alpha-2} (alpha - 1 - alpha y), so it is
largest at y = (alpha-1)/alpha, where it is c(alpha) = (1/alpha) (1 - 1/alpha)^{alpha-1}. Hence

    delta(epsilon) <= c(alpha) e^{(alpha-1) (R_alpha - epsilon)},

and equality where the loss is epsilon + log(alpha/(alpha-1)) for sure: P = (1, 0), Q = ((alpha-1)/(alpha e^epsilon),
rest). So no smaller constant is right; Mironov's conversion has 1 in its place. Solved for epsilon, epsilon = R +
log(c)/(alpha-1) + log(1/delta)/(alpha-1), and rho-zCDP allows every alpha with R = rho alpha.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.finite_laws import Law, laws, shown
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Log = Callable[[Any], Any]


def constant(alpha: Any) -> Any:
    """Canonne, Kamath and Steinke's c(alpha)."""
    return (1 - 1 / alpha) ** (alpha - 1) / alpha


def _same_logs(one: Any, other: Any) -> bool:
    """Whether two positive expressions have one logarithm, by computer algebra."""
    return vanishes(sympy.expand_log(sympy.log(one) - sympy.log(other), force=True))


def _delta_and_moment(first: Law, second: Law, ratio: arb, alpha: Fraction) -> tuple[arb, arb]:
    """The hockey-stick divergence at e^epsilon = ratio, and e^{(alpha-1) R_alpha}, second > 0, in balls."""
    pairs = [(ball(p), ball(q)) for p, q in zip(first, second, strict=True)]
    delta = sum(((p - ratio * q).max(arb(0)) for p, q in pairs), arb(0))
    return delta, sum((p * (p / q) ** (ball(alpha) - 1) for p, q in pairs if p > 0), arb(0))


def judge_constant(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Valid for small laws, certified, and attained by the pair of the module docstring."""
    tried = 0
    pairs = [(p, q) for p, q in itertools.product(laws(2, 4), repeat=2) if min(q) > 0]
    for alpha, epsilon in itertools.product(given.values("alpha"), given.values("epsilon", most=10)):
        with ctx.workprec(200):
            ratio, constant_ = ball(epsilon).exp(), says(ball(alpha))
            for first, second in pairs:
                tried += 1
                delta, size = _delta_and_moment(first, second, ratio, alpha)
                claimed = constant_ * size / ratio ** (ball(alpha) - 1)
                if delta > claimed:
                    return refuted(
                        "a pair has a larger delta, certified",
                        {"P": shown(first), "Q": shown(second), "alpha": alpha, "epsilon": epsilon,
                         "delta": delta.str(12), "claimed": claimed.str(12)},
                    )
            certain = (1 - 1 / ball(alpha)) / ratio  # P = (1, 0), Q = (certain, 1 - certain)
            claimed, delta = constant_ * (certain * ratio) ** (1 - ball(alpha)), 1 - ratio * certain
            if not delta.overlaps(claimed):
                return refuted(
                    "the worst pair's delta is another: the constant is not the least",
                    {"P": "(1, 0)", "Q": f"({certain.str(12)}, rest)", "alpha": alpha, "epsilon": epsilon,
                     "delta": delta.str(12), "claimed": claimed.str(12)},
                )
    alpha, growth, y = given.chart("alpha"), 1 + sympy.symbols("g", nonnegative=True), sympy.symbols("y", positive=True)
    target, best = (1 - y) * y ** (alpha - 1), (alpha - 1) / alpha
    slope = sympy.diff(target, y) - y ** (alpha - 2) * (alpha - 1 - alpha * y)
    certain = best / growth
    return proof(
        computed("(1 - y) y^(alpha-1) has the slope y^(alpha-2) (alpha - 1 - alpha y): it rises up to (alpha-1)/alpha "
                 "in (0, 1), and falls from there", vanishes(slope) and signed_positive(alpha - 1, 1 - best)),
        computed("its largest value is the claimed constant", _same_logs(target.subs(y, best), says(alpha))),
        argued("with y = e^(epsilon - x), (1 - y)_+ <= constant y^(1 - alpha) is averaged over the loss x under P"),
        computed("the pair of constant loss has delta = 1/alpha, the claimed bound: no smaller constant is right",
                 vanishes(1 - growth * certain - 1 / alpha)
                 and _same_logs(says(alpha) * (certain * growth) ** (1 - alpha), 1 / alpha)),
        computed("epsilon is not negative, so that y may be anything in (0, 1]", given["epsilon"].low == 0),
        tried=tried,
    )


Epsilon = Callable[[Any, Any, Any, Log], Any]
"""epsilon of (rho, alpha, delta, log)."""


def zcdp(rho: Any, alpha: Any, delta: Any, log: Log) -> Any:
    """The conversion at one order, whose infimum over alpha > 1 is claimed."""
    return rho * alpha - log(alpha * delta) / (alpha - 1) + log(1 - 1 / alpha)


def judge_zcdp(says: Epsilon, given: Domain) -> Finding:
    """No Gaussian mechanism is less private at any of many orders, and the conversion's equation is solved."""
    tried = 0
    for point in given.points("rho", "delta", "alpha"):
        with ctx.workprec(100):
            mu, small = (2 * ball(point["rho"])).sqrt(), ball(point["delta"])
            tried += 1
            epsilon = says(ball(point["rho"]), ball(point["alpha"]), small, arb.log).max(arb(0))
            true = arb(0) if point["rho"] == 0 else delta_ball(epsilon, mu)
            if true > small:
                return refuted(
                    "a Gaussian mechanism of that rho is less private, certified",
                    {**point, "claimed epsilon": Enclosure.of_ball(epsilon), "delta there": true.str(12)},
                )
    rho, delta, alpha = given.symbol("rho"), given.chart("delta"), given.chart("alpha")
    t = alpha - 1
    epsilon = says(rho, alpha, delta, sympy.log)
    solved = t * (rho * alpha - epsilon) + t * sympy.log(1 - 1 / alpha) - sympy.log(alpha) - sympy.log(delta)
    return proof(
        argued("rho-zCDP is R_alpha <= rho alpha for every alpha > 1: background/rdp-conversion applies at each"),
        computed("at every order c(alpha) e^((alpha-1)(rho alpha - epsilon)) = delta; rho >= 0, delta in (0, 1)",
                 vanishes(sympy.expand_log(solved, force=True)) and rho.is_nonnegative is True
                 and signed_positive(t, delta, 1 - delta)),
        argued("the infimum is valid, too, since delta is continuous in epsilon; a negative one means epsilon = 0"),
        tried=tried,
    )


_ORDER = Parameter("alpha", low=Fraction(1), low_open=True)

rdp_conversion = Claim(
    id="background/rdp-conversion",
    source="Canonne, Kamath and Steinke 2020, Prop. 12 (Mironov 2017, Prop. 3 has 1 for the constant); proved here",
    quote=(
        r"Suppose the mechanism $\mathcal{M}$ is $(\alpha, \epsilon')$ -RDP. Then $\mathcal{M}$ is also "
        r"$(\epsilon, \delta(\epsilon))$ -DP for arbitrary $\epsilon \geq 0$ with $$\delta(\epsilon) = "
        r"\frac{\exp\left((\alpha - 1)(\epsilon' - \epsilon)\right)}{\alpha} \left(1 - "
        r"\frac{1}{\alpha}\right)^{\alpha - 1}.$$ (F.1)"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\delta(\varepsilon) \le \frac{1}{\alpha}\left(1 - \frac{1}{\alpha}\right)^{\alpha-1}"
        r" e^{(\alpha-1)(R_\alpha - \varepsilon)}, \text{ and no smaller constant is right}"
    ),
    words="Renyi DP at one order gives this delta, with the least constant there is",
    hypotheses=(_ORDER, non_negative("epsilon")),
    says=constant,
    check=judge_constant,
    flips=(
        Flip("Mironov's constant, valid but not the least", lambda alpha: alpha / alpha, Verdict.REFUTED),
        Flip("the power alpha for alpha - 1", lambda alpha: (1 - 1 / alpha) ** alpha / alpha, Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)

zcdp_conversion = Claim(
    id="background/zcdp-conversion",
    source="Canonne, Kamath and Steinke 2020, Cor. 13; proved here",
    severity=Stake.PRIVACY,
    statement=(
        r"\rho\text{-zCDP} \implies (\varepsilon, \delta)\text{-DP},"
        r"\ \varepsilon = \max\Big(0, \inf_{\alpha > 1} \rho\alpha"
        r" + \frac{\log(1/(\alpha\delta))}{\alpha - 1} + \log\left(1 - \frac{1}{\alpha}\right)\Big)"
    ),
    words="zCDP gives (epsilon, delta)-DP by the best order of the Renyi conversion",
    hypotheses=(non_negative("rho"), probability("delta"), _ORDER),
    says=zcdp,
    check=judge_zcdp,
    flips=(
        Flip("log(alpha delta) twice", lambda rho, a, d, log: zcdp(rho, a, d, log) + log(a * d) / (2 * (a - 1)),
             Verdict.REFUTED),
        Flip("rho for rho alpha", lambda rho, a, d, log: zcdp(rho, a, d, log) - rho * (a - 1), Verdict.REFUTED),
    ),
    uses=("background/rdp-conversion",),
    rests_on=("background/rdp-conversion",),
    true_variants={"only at argument 0 = 0": "at rho = 0 every epsilon is valid"},
    expected="HOLDS ARGUED",
)
