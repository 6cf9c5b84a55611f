r"""How fast document 001's accounting forgets, and what becomes of the gradient under noise: Sections 4.1, 4.3 and 5.

With constant noise the spread stays below o/(1-q) for q < 1 (it maps to itself), so a step does not lower it, and the
factor q w/(q w + o) is at most q: exponential. For q = 1 all factors of a run multiply to no less than 1/(K N): a
polynomial. On h theta^2/2 a step multiplies E theta^2 by (1 - eta h)^2 and adds 2 eta o, so the gradient's square tends
to h^2 2 eta o/(1 - (1 - eta h)^2), linear in o, and to 0 only without noise.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import ctx

from oracle.core.domain import Parameter, non_negative_integer, positive, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.experiments.experiments import losses
from theorems.sbcd.privacy.orders import shares
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted, undecided


def judge_contraction(most: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether a touch that n steps without the record follow keeps at most most(q, n) of itself, for constant noise."""
    tried = 0
    for at in given.points("noise", "product", "steps", at_most=80, most={"steps": 7}):
        o, q, n = at["noise"], at["product"], at["steps"]
        for before in (0, 3):
            tried += 1
            kept = shares([o], before + 1 + n, before, q)[0] * o
            if kept > most(q, n):
                return refuted("more is kept, exactly", {**at, "steps before": before, "kept": kept})
    o, n, q = given.symbol("noise"), given.symbol("steps"), given.chart("product")
    v = sympy.Symbol("v", nonnegative=True)
    widest = o / (1 - q)
    w = widest * v / (1 + v)  # from 0 to the widest, which is the limit of large v
    gap = sympy.factor(sympy.simplify(q - q * w / (q * w + o)))
    return proof(
        computed("the spread begins at 0, and o/(1 - q) maps to itself under q w + o, which grows with w",
                 sympy.simplify(q * widest + o - widest) == 0 and sympy.sympify(q).is_positive),
        computed("below it a factor is at most q", gap.is_nonnegative),
        computed("after no step all is kept", sympy.simplify(most(q, 0) - 1) == 0),
        computed("and the bound takes q once a step", sympy.simplify(most(q, n + 1) - q * most(q, n)) == 0),
        tried=tried,
    )


def judge_convex(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether without contraction, q = 1, the first touch of K epochs keeps at most C r^K (N = 2, j_0 = 0)."""
    size, rate = says
    if rate >= 1 and size >= 1:
        return instance("a factor is at most 1")
    K = sympy.Symbol("K", positive=True)
    vanishes = rate >= 0 and sympy.limit(K * sympy.Rational(rate.numerator, rate.denominator) ** K, K, sympy.oo) == 0
    for epochs in (1, 10, 100, 300):
        kept = shares([Fraction(1)] * epochs, 2, 0, Fraction(1))[0]
        if kept > size * rate**epochs and kept >= Fraction(1, 2 * epochs) and vanishes:
            return refuted("more is kept, exactly, and at least 1/(2 K) for every K, so no C and r < 1 serve", {
                "K": epochs, "batches": 2, "j_0": 0, "kept": f"{float(kept):.6g}", "C": size, "r": rate,
            })
    return undecided("no K up to 300 is against it", 4)


def judge_gradient(limit: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean square of the gradient of h theta^2/2 tends to limit(eta h, h, o eta) under steps with noise o.

    The product eta h is between 0 and 1.
    """
    shrunk, h, noise = given.chart("rate"), given.symbol("curvature"), given.chart("noise")
    tried = 0
    for at in given.points("rate", "curvature", "noise", at_most=60):
        tried += 1
        a, c, s = (at[name] for name in ("rate", "curvature", "noise"))
        fixed = limit(a, c, s) / c**2
        if (1 - a) ** 2 * fixed + 2 * s != fixed:
            return refuted("it is not what the steps leave alone", {**at, "claimed": limit(a, c, s),
                                                                    "limit": c**2 * 2 * s / (1 - (1 - a) ** 2)})
    fixed = limit(shrunk, h, noise) / h**2
    return proof(
        computed("it is left alone by a step", sympy.simplify((1 - shrunk) ** 2 * fixed + 2 * noise - fixed) == 0),
        computed("and a step takes the distance from it times (1 - eta h)^2 < 1",
                 sympy.factor(1 - (1 - shrunk) ** 2).is_positive and sympy.factor((1 - shrunk) ** 2).is_positive),
        tried=tried,
    )


def judge_same(says: tuple[Fraction, tuple[str, ...]], given: Domain) -> Finding:
    """Whether D's loss over C's at K = 50, L_T = 1 and that L_F is within 3 % of 1, and these numbers if given."""
    gradient, printed = says
    if gradient < 0:
        raise DomainError("a Lipschitz constant is not negative")
    with ctx.workprec(100):
        pairs = zip(losses(ball(gradient) ** 2, lambda k: Fraction("0.0475") - Fraction("0.0008") * k, 50),
                    losses(ball(gradient) ** 2, lambda k: Fraction("0.01"), 50), strict=True)
        for place, (one, other) in enumerate(pairs):
            far = not abs(one / other - 1) <= ball(Fraction(3, 100))
            if far or (printed and not rounds_to(Enclosure.of_ball(one / other), printed[place])):
                return refuted("the losses differ by more, certified", {
                    "L_F": gradient, "K": 50, "j_0": place, "D over C": (one / other).str(6, radius=False),
                })
    return instance(f"within 3 % at every position{': ' * bool(printed)}{', '.join(printed)}")


_EXPONENTIAL = "and decrease exponentially¹ as the number of iterations and epochs increase."
_DIMINISHES = (
    r"as the algorithm converges gradually, the gradient $\nabla \mathcal{F}(\theta_d)$ diminishes, prompting the use "
    "of calibrated noise with an adaptive variance instead of a fixed one."
)
_SAME = (
    "The decrease strategy is designed in a manner so that the privacy loss of both strategies will be "
    "approximately the same for the same number of epochs K ."
)
_QUADRATIC = (probability("rate", "eta h"), positive("curvature", "h"), positive("noise", "eta o"))

exponential = Claim(
    id="sbcd/decay-exponential", source="001, Section 4.3, with footnote 1", quote=_EXPONENTIAL, whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{contribution}_k \le C\,r^{K-k},\ r < 1",
    words="an epoch's contribution to the privacy loss decreases exponentially with the steps and epochs after it",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/decay-exponential-reading-contraction", "sbcd/decay-exponential-reading-convex"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/contraction"),
    expected="AMBIGUOUS PROVED",
)
exponential_contraction = reading(
    exponential, "contraction", source="001, Section 4.3, for L_F L_T < 1 and constant noise",
    statement=r"\text{decay after } n \text{ steps without the record} \le q^n",
    words="with a contraction and constant noise a touch keeps at most q^n of itself after n steps without the record",
    hypotheses=(positive("noise"), probability("product", "q, the square of L_F L_T"), non_negative_integer("steps")),
    says=lambda q, n: q**n, check=judge_contraction,
    flips=(Flip("q^2 a step", lambda q, n: q ** (2 * n), Verdict.REFUTED),), expected="HOLDS PROVED",
)
exponential_convex = reading(
    exponential, "convex", source="001, Section 4.3, for the L_F L_T = 1 that convexity gives",
    statement=r"\text{decay of the first touch} \le 10 \cdot 0.9^K \quad (L_F L_T = 1)",
    words="without contraction the first touch keeps at most 10 times 0.9^K of itself after K epochs",
    says=(Fraction(10), Fraction(9, 10)), check=judge_convex,
    flips=(Flip("at most itself", (Fraction(1), Fraction(1)), Verdict.HOLDS),),
    repaired_by="sbcd/decay-exponential-reading-contraction", expected="REFUTED PROVED",
)
diminishes = Claim(
    id="sbcd/gradient-diminishes", source="001, Section 4.1", quote=_DIMINISHES, whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\nabla\mathcal{F} \to 0", words="as the algorithm converges, the gradient diminishes",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/gradient-diminishes-reading-noise", "sbcd/gradient-diminishes-reading-no-noise"),
    expected="AMBIGUOUS PROVED",
)
diminishes_without = reading(
    diminishes, "no-noise", source="001, Section 4.1; for h theta^2/2 without noise",
    statement=r"\|\nabla\mathcal{F}\|^2 \to 0 \quad (\mathcal{F} = \tfrac{h}{2}\theta^2,\ o = 0)",
    words="without noise the gradient of h theta^2/2 tends to 0",
    hypotheses=(*_QUADRATIC[:2], Parameter("noise", low=Fraction(0), high=Fraction(0))),
    says=lambda rate, h, noise: 0 * h, check=judge_gradient,
    flips=(Flip("to h^2", lambda rate, h, noise: h**2, Verdict.REFUTED),),
    true_variants=dict.fromkeys(("1 % *", "sign", "squared"), "0 times a number is 0"), expected="HOLDS PROVED",
)
diminishes_with = reading(
    diminishes, "noise", source="001, Section 4.1; for h theta^2/2, noise of constant variance",
    statement=r"E\|\nabla\mathcal{F}\|^2 \to 0 \quad (\mathcal{F} = \tfrac{h}{2}\theta^2)",
    words="under noise of constant variance the mean square of the gradient of h theta^2/2 tends to 0",
    hypotheses=_QUADRATIC, says=lambda rate, h, noise: 0 * h, check=judge_gradient, repaired_by="sbcd/noise-utility",
    flips=(Flip("what the steps leave alone", lambda rate, h, noise: h**2 * 2 * noise / (1 - (1 - rate) ** 2),
                Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
utility = Claim(
    id="sbcd/noise-utility", source="001, Section 4.3, end; for h theta^2/2",
    quote="worth noting that noise with a smaller variance tends to yield better utility for the model compared to "
          "noise with a larger variance",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"E\|\nabla\mathcal{F}\|^2 \to \frac{2\eta o\,h^2}{1 - (1 - \eta h)^2} \quad"
              r" (\mathcal{F} = \tfrac{h}{2}\theta^2,\ \eta h < 1)",
    words="on h theta^2/2 the mean square of the gradient, 2 h times the excess risk, tends to a multiple of the "
          "noise's variance: less noise, better utility",
    hypotheses=_QUADRATIC, says=lambda rate, h, noise: h**2 * 2 * noise / (1 - (1 - rate) ** 2), check=judge_gradient,
    flips=(Flip("none", lambda rate, h, noise: 0 * h, Verdict.REFUTED),),
    true_variants={"any noise": "an identity in the variance, of whichever sign"},
    expected="HOLDS PROVED",
)
same = Claim(
    id="sbcd/same-loss-by-theorem", source="001, Section 5, as printed or by Theorem 4.6", quote=_SAME,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\varepsilon_D(K) \approx \varepsilon_C(K)",
    words="both strategies lose about the same for the same number of epochs",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/table-1-same-loss", "sbcd/same-loss-by-theorem-reading-any"),
    expected="AMBIGUOUS PROVED",
)
same_any = reading(
    same, "any", source="001, Section 5, by the accounting, for any L_F (none printed)",
    statement=r"|\varepsilon_D(50)/\varepsilon_C(50) - 1| \le 0.03 \text{ for every } L_F, \text{ say } 0.95",
    words="the accounting gives both strategies the same loss after 50 epochs, to 3 %, for any L_F such as 0.95",
    says=(Fraction(95, 100), ()), check=judge_same,
    flips=(Flip("L_F = 0.986", (Fraction("0.986"), ()), Verdict.HOLDS),), expected="REFUTED PROVED",
)
same_repaired = Claim(
    id="sbcd/same-loss-by-theorem-repaired", source="001, Section 5, by the accounting, for L_F = 0.986 (finding)",
    severity=Stake.UTILITY,
    statement=r"\varepsilon_D(50)/\varepsilon_C(50) = 1.010, 1.002, 0.994, 0.987, 0.979 \text{ at } j_0 = 0, \dots, 4"
              r"\quad (L_F = 0.986,\ L_T = 1)",
    words="at L_F = 0.986 the accounting gives both strategies the same loss after 50 epochs, to 3 % at every position",
    hypotheses=(), says=(Fraction("0.986"), ("1.010", "1.002", "0.994", "0.987", "0.979")), check=judge_same,
    flips=(Flip("L_F = 1", (Fraction(1), ()), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
