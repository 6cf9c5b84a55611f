r"""The bound of Theorem 2.8 as a function of c, and what regularisation can reach (document 000, Sections 2.2 and 6).

Why it grows: with L = -log c, n = k(E-1), g(x) = x/(1 - e^{-x}) and h(x) = x/(2 sinh x) half the logarithmic slope of
the second term of mu^2 in log c, times L, is g(kL) - g(2L)/2 - h(nL). As n >= k and h falls, this is at least
g(kL) - h(kL) - g(2L)/2 = (g(2kL) - g(2L))/2, which is positive for k >= 2, as g rises. From L/(b sigma) at c = 0 on: so
no regularisation makes the guarantee better than that of a single epoch, which does not depend on c at all.
"""

from __future__ import annotations

from fractions import Fraction

import sympy

from oracle.core.domain import non_negative, positive_integer, probability
from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.relu_approx.privacy.noisy_cgd import shapes
from theorems.tools.cyclic_value import squared, value
from theorems.verdict import Finding, ProofStep, Verdict, computed, instance, proof, refuted, undecided


def slope_steps(given: Domain) -> list[ProofStep]:
    """The steps of the module's docstring, as polynomial identities: q = c^k, Q = c^n and y = e^{-x} are symbols."""
    c, q, big_q, n, x, y = sympy.symbols("c q Q n x y", positive=True)
    k = given.symbol("batches")
    term = squared(c, q, big_q) - 1
    slope = (c * sympy.diff(term, c) + k * q * sympy.diff(term, q) + n * big_q * sympy.diff(term, big_q)) / (2 * term)
    claimed = k / (1 - q) - 1 / (1 - c**2) - n * big_q / (1 - big_q**2)

    def along(value: sympy.Expr) -> sympy.Expr:
        return sympy.cancel(sympy.diff(value, x) - y * sympy.diff(value, y))  # d/dx, as y = e^{-x}

    def vanishes(value: sympy.Expr) -> bool:
        return bool(sympy.cancel(value) == 0)

    def at_zero(value: sympy.Expr) -> bool:
        return bool(value.subs({x: 0, y: 1}) == 0)

    g, twice, h = x / (1 - y), 2 * x / (1 - y**2), x * y / (1 - y**2)  # g(x), g(2x), h(x)
    rise, fall, rest = 1 - y - x * y, (1 - y**2) - x * (1 + y**2), 1 - y**2 - 2 * x * y**2
    more = sympy.expand(k * (given.chart("epochs") - 1) - k)
    return [
        computed("half the slope of log(second term) in log c, times L, is g(kL) - g(2L)/2 - h(nL)",
                 vanishes(slope - claimed)),
        computed("g rises: the numerator of its slope is 0 at 0 and has the slope x e^(-x) > 0",
                 vanishes(along(g) * (1 - y) ** 2 - rise) and at_zero(rise) and along(rise).is_positive),
        computed("h falls: the numerator of its slope is 0 at 0, and so is that of its own slope, which falls",
                 vanishes(along(h) * (1 - y**2) ** 2 - y * fall) and vanishes(along(fall) + rest) and at_zero(fall)
                 and at_zero(rest) and along(rest).is_positive),
        computed("g(x) - h(x) = g(2x)/2, so with n >= k the slope is at least (g(2kL) - g(2L))/2 > 0 for k >= 2",
                 vanishes(g - h - twice / 2) and more.is_nonnegative
                 and given["batches"].low is not None and given["batches"].low >= 2),
    ]


def judge_monotone(direction: str, given: Domain) -> Finding:
    """Whether the theorem's value "grows" or "falls" strictly with c for k >= 2 and E >= 2."""
    tried = 0
    for c, k, epochs in shapes(given):
        tried += 1
        before, after = value(squared, c, k, epochs), value(squared, (1 + c) / 2, k, epochs)
        if (after > before) != (direction == "grows") or after == before:
            return refuted(
                "the value moves the other way, or not at all, in exact rationals",
                {"batches": k, "epochs": epochs, "c": c, "larger c": (1 + c) / 2, "mu^2 at c": before,
                 "mu^2 at the larger c": after},
            )
    return proof(*slope_steps(given), tried=tried)


def at_contraction(contraction: int) -> Enclosure:
    """NoisyCGD's epsilon at sigma = 15, L = 2, k = 60, E = 400 and delta = 1e-5."""
    return bound("noisy-cgd.epsilon").reference(
        sensitivity=2, batch_size=1, noise_on_mean=15, contraction=contraction, batches=60, epochs=400, delta="1e-5"
    )


def judge_reach(target: Fraction, given: Domain) -> Finding:
    """Whether some c in [0, 1] brings NoisyCGD's epsilon down to a target at Figure 1's setting."""
    least = at_contraction(0)
    if not least.possibly_le(target):
        return refuted(
            "even c = 0, which forgets everything at each step, has a larger epsilon",
            {"desired epsilon": target, "epsilon at c = 0": least, "sigma": 15, "delta": "1e-5"},
        )
    if not least.certainly_le(target):
        return undecided(f"{target} lies within {least}", 1)
    return instance(f"c = 0 has the epsilon {least}")


def judge_ends(printed: tuple[str, str], given: Domain) -> Finding:
    """Whether the epsilons that c in [0, 1] gives at Figure 1's setting run from the first number to the second."""
    return all_round(
        (({"c": contraction}, at_contraction(contraction), text) for contraction, text in enumerate(printed)),
        f"from {printed[0]} at c = 0, that of one epoch, to {printed[1]} at c = 1; it grows between them",
    )


def judge_least(share: Fraction, given: Domain) -> Finding:
    """Whether the least c over lambda, for u = eta lambda >= 0 and the data's v = eta (beta - lambda), is share v."""
    values = given.values("v")
    for v in values:
        grid = [Fraction(n, 64) for n in range(65)] + [1 - v / 2]
        true = min(max(abs(1 - u), abs(1 - u - v)) for u in grid)
        if true != share * v:
            return refuted("another least c", {"v": v, "least c": true, "claimed": share * v})
    v, by = given.chart("v"), sympy.Symbol("t", positive=True)
    ratio = sympy.Rational(share.numerator, share.denominator)
    there = 1 - v / 2
    return proof(
        computed("at eta lambda = 1 - v/2 >= 0 both terms of c are the claimed share of v",
                 sympy.simplify((1 - there) ** 2 - (ratio * v) ** 2) == 0
                 and sympy.simplify((1 - there - v) ** 2 - (ratio * v) ** 2) == 0
                 and sympy.factor(there).is_nonnegative and share > 0),
        computed("with less regularisation the first term is larger, with more the second",
                 sympy.expand((1 - (there - by)) - ratio * v).is_positive
                 and sympy.expand(-(1 - (there + by) - v) - ratio * v).is_positive),
        tried=len(values),
    )


_SETTING = (
    probability("contraction"), positive_integer("batches").at_least(2), positive_integer("epochs").at_least(2),
)
_ADJUST = (
    r"For a given value of the learning $\eta$ , we can always adjust the value of $\lambda$ to have "
    r"desirable $(\varepsilon,\delta)$ -DP guarantees."
)

monotone = Claim(
    id="relu-approx/tuning-monotone",
    source="000, Section 6: the bound depends monotonically on c = 1 - eta lambda, so mu fixes c",
    quote=(
        r"bound of Thm. (2.8) depends monotonoysly on the parameter $c = 1 - \eta \cdot \lambda$ . In case the "
        r"hyperparameters b noise scale $\sigma$ are fixed, fixing the GDP parameter $\mu$ will also fix the "
        "value of c."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\frac{\partial \mu}{\partial c} > 0 \quad (k \ge 2,\ E \ge 2)",
    words="for two or more batches and epochs the bound of Theorem 2.8 grows strictly with c, so that mu fixes c",
    hypotheses=_SETTING,
    says="grows",
    check=judge_monotone,
    flips=(Flip("falls with c", "falls", Verdict.REFUTED),),
    uses=("relu-approx/thm-2.8-formula", "relu-approx/thm-2.8-c"),
    expected="HOLDS PROVED",
)

adjusts = Claim(
    id="relu-approx/lambda-adjusts",
    source="000, Section 2.2: for a given eta we can always adjust lambda to have desirable guarantees",
    quote=_ADJUST,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\exists \lambda:\ \varepsilon(\lambda) \text{ is as desired}",
    words="some regularisation brings epsilon down to a desirable value",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/lambda-adjusts-reading-any", "relu-approx/tuning-lambda"),
    uses=("relu-approx/thm-2.8-formula",),
    expected="AMBIGUOUS ARGUED",
)

any_epsilon = Claim(
    id="relu-approx/lambda-adjusts-reading-any",
    source="000, Section 2.2, desirable read as any epsilon > 0",
    quote=_ADJUST,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\forall \varepsilon^* > 0\ \exists \lambda:\ \varepsilon(\lambda) \le \varepsilon^*",
    words="at Figure 1's setting some regularisation brings epsilon down to any desired value, such as 0.4",
    hypotheses=(),
    says=Fraction(2, 5),
    check=judge_reach,
    flips=(Flip("0.47 instead of 0.4", Fraction(47, 100), Verdict.HOLDS),),
    repaired_by="relu-approx/lambda-adjusts-repaired",
    uses=("relu-approx/thm-2.8-formula",),
    expected="REFUTED PROVED",
)

reached = Claim(
    id="relu-approx/lambda-adjusts-repaired",
    source="000, Section 2.2, for what one epoch allows",
    severity=Stake.UTILITY,
    statement=r"\{\varepsilon(c) : c \in [0, 1]\} = [0.4661,\ 1.4212] \quad (\sigma = 15,\ k = 60,\ E = 400)",
    words="at Figure 1's setting the epsilons of c in [0, 1] run from 0.4661, the value of one epoch, to 1.4212",
    hypotheses=(),
    says=("0.4661", "1.4212"),
    check=judge_ends,
    flips=(Flip("from 0.4", ("0.4000", "1.4212"), Verdict.REFUTED),),
    rests_on=("relu-approx/tuning-monotone",),
    expected="HOLDS PROVED",
)

least_c = Claim(
    id="relu-approx/lambda-least-c",
    source="000, Section 2.2: what adjusting lambda can do for given eta and data (our finding)",
    quote=_ADJUST,
    severity=Stake.UTILITY,
    statement=r"\min_{\lambda \ge 0} \max\{|1-\eta\lambda|, |1-\eta(\lambda + B)|\} = \eta B/2 \quad (\eta B \le 2)",
    words="for given eta and data of curvature B the least c over lambda is eta B/2, not 0",
    hypotheses=(non_negative("v", "eta B").at_most(2),),
    says=Fraction(1, 2),
    check=judge_least,
    flips=(Flip("0", Fraction(0), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
