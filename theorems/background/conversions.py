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

from oracle.core.domain import Parameter, non_negative, positive, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.domain import Domain
from theorems.tools.finite_laws import hockey_stick, laws, moment, shown
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_ORDERS = (2, 3, 5)
_RATIOS = tuple(Fraction(v) for v in ("1", "3/2", "2", "5"))


def constant(alpha: Any) -> Any:
    """Canonne, Kamath and Steinke's c(alpha)."""
    return (1 - 1 / alpha) ** (alpha - 1) / alpha


def largest_gap(says: Callable[[Any], Any]) -> bool:
    """Whether the constant is the largest (1 - y) y^{alpha-1}: the only critical point, by computer algebra."""
    alpha, y = sympy.symbols("alpha y", positive=True)
    target = (1 - y) * y ** (alpha - 1)
    slope = sympy.simplify(sympy.diff(target, y) - y ** (alpha - 2) * (alpha - 1 - alpha * y)) == 0
    value = sympy.simplify(target.subs(y, (alpha - 1) / alpha) / says(alpha))
    return bool(slope and sympy.simplify(sympy.expand_log(sympy.log(value), force=True)) == 0)


def judge_constant(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Valid for all small laws, in exact rationals, and attained by the pair of the module docstring."""
    tried = 0
    for first, second in itertools.product(laws(2, 5), repeat=2):
        for order, ratio in itertools.product(_ORDERS, _RATIOS):
            size = moment(first, second, order)
            if size is None:
                continue
            tried += 1
            claimed = Fraction(says(Fraction(order))) * size / ratio ** (order - 1)
            true = hockey_stick(first, second, ratio)
            if true > claimed:
                return refuted(
                    "a pair has a larger delta, exactly",
                    {"P": shown(first), "Q": shown(second), "alpha": str(order), "e^epsilon": str(ratio),
                     "delta": str(true), "claimed": str(claimed)},
                )
    for order, ratio in itertools.product(_ORDERS, _RATIOS):
        tried += 1
        certain = Fraction(order - 1, order) / ratio
        pair = ((Fraction(1), Fraction(0)), (certain, 1 - certain))
        size = moment(*pair, order)
        assert size is not None
        claimed, true = Fraction(says(Fraction(order))) * size / ratio ** (order - 1), hockey_stick(*pair, ratio)
        if true != claimed:
            return refuted(
                "the worst pair's delta is another: the constant is not the least",
                {"P": shown(pair[0]), "Q": shown(pair[1]), "alpha": str(order), "e^epsilon": str(ratio),
                 "delta": str(true), "claimed": str(claimed)},
            )
    if not largest_gap(says):
        return undecided("no pair is against it; not proved", tried)
    return proof(argued(
        "(1 - y) y^(alpha-1) is largest at y = (alpha-1)/alpha (computer algebra), integrated over the loss; a pair of "
        f"constant loss attains it; {tried} pairs, orders and epsilons in exact rationals"
    ))


Epsilon = Callable[[Any, Any, Any, Callable[[Any], Any]], Any]
"""epsilon of (rho, alpha, delta, log)."""


def zcdp(rho: Any, alpha: Any, delta: Any, log: Callable[[Any], Any]) -> Any:
    """The conversion at one order, whose infimum over alpha > 1 is claimed."""
    return rho * alpha - log(alpha * delta) / (alpha - 1) + log(1 - 1 / alpha)


_ALPHAS = tuple(1 + Fraction(k, 4) * Fraction(2) ** j for j in range(-2, 8) for k in range(4, 8))


def judge_zcdp(says: Epsilon, given: Domain) -> Finding:
    """No Gaussian mechanism is less private at any of many orders, and the conversion's equation is solved."""
    tried = 0
    for mu, delta in itertools.product(("1/10", "1", "3"), ("1e-2", "1e-5", "1e-10")):
        with ctx.workprec(100):
            size, small = ball(Fraction(mu)), ball(Fraction(delta))
            for alpha in _ALPHAS:
                tried += 1
                epsilon = says(size * size / 2, ball(alpha), small, arb.log)
                if epsilon < 0:
                    continue  # then 0 is claimed, and rdp-conversion says so of a negative epsilon
                true = delta_ball(epsilon, size)
                if true > small:
                    return refuted(
                        "a Gaussian mechanism of that rho is less private, certified",
                        {"rho": f"{mu}^2/2", "alpha": str(alpha), "delta": delta,
                         "claimed epsilon": str(Enclosure.of_ball(epsilon)), "delta there": true.str(12)},
                    )
    rho, t, delta_ = sympy.symbols("rho t delta", positive=True)
    alpha = 1 + t
    epsilon = says(rho, alpha, delta_, sympy.log)
    solved = t * (rho * alpha - epsilon) + t * sympy.log(1 - 1 / alpha) - sympy.log(alpha) - sympy.log(delta_)
    if sympy.simplify(sympy.expand_log(solved, force=True)) != 0:
        return undecided("no Gaussian mechanism is against it; not proved", tried)
    return proof(argued(
        "at every order it solves c(alpha) e^{(alpha-1)(rho alpha - epsilon)} = delta (computer algebra), so the least "
        f"is valid, too; Gaussian mechanisms obey it at {tried} points, certified"
    ))


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
    severity=Severity.PRIVACY,
    statement=(
        r"\delta(\varepsilon) \le \frac{1}{\alpha}\left(1 - \frac{1}{\alpha}\right)^{\alpha-1}"
        r" e^{(\alpha-1)(R_\alpha - \varepsilon)}, \text{ and no smaller constant is right}"
    ),
    words="Renyi DP at one order gives this delta, with the least constant there is",
    hypotheses=(_ORDER, non_negative("rdp"), positive("epsilon")),
    says=constant,
    check=judge_constant,
    flips=(
        Flip("Mironov's constant, valid but not the least", lambda alpha: alpha / alpha, Verdict.REFUTED),
        Flip("the power alpha for alpha - 1", lambda alpha: (1 - 1 / alpha) ** alpha / alpha, Verdict.REFUTED),
    ),
    rests_on=("relu-approx/eq-2.1",),
    expected="HOLDS ARGUED",
)

zcdp_conversion = Claim(
    id="background/zcdp-conversion",
    source="Canonne, Kamath and Steinke 2020, Cor. 13; proved here",
    severity=Severity.PRIVACY,
    statement=(
        r"\rho\text{-zCDP} \implies (\varepsilon, \delta)\text{-DP},\ \varepsilon = \inf_{\alpha > 1} \rho\alpha"
        r" + \frac{\log(1/(\alpha\delta))}{\alpha - 1} + \log\left(1 - \frac{1}{\alpha}\right)"
    ),
    words="zCDP gives (epsilon, delta)-DP by the best order of the Renyi conversion",
    hypotheses=(non_negative("rho"), probability("delta")),
    says=zcdp,
    check=judge_zcdp,
    flips=(
        Flip("log(alpha delta) twice", lambda rho, a, d, log: zcdp(rho, a, d, log) + log(a * d) / (2 * (a - 1)),
             Verdict.REFUTED),
        Flip("rho for rho alpha", lambda rho, a, d, log: zcdp(rho, a, d, log) - rho * (a - 1), Verdict.REFUTED),
    ),
    uses=("background/rdp-conversion",),
    rests_on=("background/rdp-conversion",),
    expected="HOLDS ARGUED",
)
