r"""Lemma 4.7 of document 001 and the order alpha' of Corollary 4.5: log-Sobolev constants and Renyi orders along a run.

Formula: 1/c' = L_T^2 (L_F^2/c + 2 eta o) from 1/c = 0. The coefficient of o_{k'}^{j'} in 1/c_k^j is multiplied by
(L_F L_T)^2 in every later step, is 2 eta L_T^2 right after its own, and step n/b of an epoch is step 0 of the next.

Law: for FIXED maps F and T the law of theta has the constant c_k^j. In Algorithm 2 it has not, because the map depends
on theta through x and U: one hidden unit, records (0, y), eta = b = 1, theta_1 from 0. With x_1 fixed the step is
theta - (theta x_1 - y) x_1 and 1-Lipschitz for x_1^2 <= 2; but x_1 = theta y/(1 + theta^2), so it is theta + g, g = y^2
theta/(1 + theta^2)^2, which has theta's sign. After two steps E theta^2 is s^2 + E (theta + g)^2 > 2 s^2 = 1/c, s^2 =
2 o; but a log-Sobolev inequality gives a variance of at most 1/c.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, schedule
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.privacy.accounting import STEP, heat_flow, in_range
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided


def judge_formula(coefficient: Callable[..., Any], given: Domain) -> Finding:
    """Whether 1/c_k^j = sum over the earlier steps (e, i) of o_e^i coefficient(k, e, j, i, n/b, eta, L_F, L_T)."""
    tried = 0
    names = ("eta", "batches", "lipschitz_gradient", "lipschitz_prox")
    for noise in given.values("noise"):
        for point in given.points(*names, at_most=20, most={"batches": 3}):
            eta, batches, slope, prox = (point[name] for name in names)
            true = Fraction(0)
            for k in range(min(len(noise), 3)):
                for j in range(batches):
                    steps = [(e, i) for e in range(k) for i in range(batches)] + [(k, i) for i in range(j)]
                    parts = (noise[e] * (1 + i) * coefficient(k, e, j, i, batches, eta, slope, prox) for e, i in steps)
                    closed = sum(parts, Fraction(0))
                    tried += 1
                    if closed != true:
                        return refuted(
                            "the sum does not solve the recursion, exactly",
                            {"eta": eta, "L_F": slope, "L_T": prox, "batches": batches, "k": k, "j": j,
                             "noise": f"{', '.join(map(str, noise))}, times 1 + j in step j",
                             "1/c by the sum": closed, "1/c": true},
                        )
                    true = prox**2 * (slope**2 * true + 2 * eta * noise[k] * (1 + j))
    k, e, j, i = sympy.symbols("k e j i", integer=True, nonnegative=True)
    eta, n, slope, prox = (given.symbol(name) for name in names)
    there = (eta, slope, prox)
    later = coefficient(k, e, j + 1, i, n, *there) / coefficient(k, e, j, i, n, *there)
    renamed = coefficient(k + 1, e, 0, i, n, *there) / coefficient(k, e, n, i, n, *there)
    return proof(
        computed("a later step multiplies the coefficient of every earlier one by (L_F L_T)^2, on symbols",
                 vanishes(sympy.powsimp(later, force=True) - slope**2 * prox**2)),
        computed("the coefficient of the last step is 2 eta L_T^2",
                 vanishes(coefficient(k, k, i + 1, i, n, *there) - 2 * eta * prox**2)),
        computed("step n/b of an epoch is step 0 of the next, under both names the same",
                 vanishes(sympy.powsimp(renamed, force=True) - 1)),
        computed("so the sum solves 1/c' = L_T^2 (L_F^2/c + 2 eta o), by induction from the empty sum",
                 vanishes(prox**2 * (slope**2 * e + 2 * eta * i) - (slope**2 * prox**2 * e + 2 * eta * prox**2 * i))),
        tried=tried,
    )


Law = tuple[Callable[[Any, Any], Any], Callable[[Any, Any, Any, Any], Any]]
"""The input x_1 of a step, of theta and y, and 1/c after it, of 1/c before, L_F, L_T and 2 eta o."""


def judge_law(says: Law, given: Domain) -> Finding:
    """Whether the law of theta has the claimed constant after a step, x_1 = own_input(theta, y) being what it reads.

    A Gaussian law has no constant above its inverse variance, which linear maps tell. For an input that depends on
    theta: the first step is N(0, s^2), x_1 = 0 being solved for with theta_1 = 0. Then E theta^2 <= 2 s^2 must hold for
    every y for which a fixed x_1 makes the step 1-Lipschitz; one that has theta's sign adds 2 theta step + step^2 >= 0.
    """
    own_input, widened = says
    theta, label = sympy.symbols("theta y", real=True)
    x = own_input(theta, label)
    names, tried = ("spread", "lipschitz_gradient", "lipschitz_prox", "eta", "noise"), 0
    for at in given.points(*names, at_most=100):
        v, slope, prox, added = *(at[name] for name in names[:3]), 2 * at["eta"] * at["noise"]
        true = prox**2 * (slope**2 * v + added)
        tried += 1
        if widened(v, slope, prox, added) < true:
            return refuted("a Gaussian law under linear maps has a larger variance than 1/c", {
                "1/c": v, "L_F": slope, "L_T": prox, "2 eta o": added, "claimed": widened(v, slope, prox, added),
                "variance after": true,
            })
    outward = sympy.factor(-(theta * x - label) * x * theta).is_nonnegative is True
    y = Fraction(14, 5)
    for noise in (Fraction(1, 2), *given.values("noise")):
        with ctx.workprec(64):
            excess = _excess(own_input, y, noise)
        tried += 1
        if outward and excess > 0:
            return refuted(
                "the variance is larger than a log-Sobolev constant allows, certified",
                {"y": y, "records": "(0, y)", "eta": 1, "theta_1 at the start": 0, "steps": 2, "s^2": 2 * noise,
                 "1/c of Lemma 4.7": 4 * noise, "variance above it by at least": f"{float(excess.lower()):.3g}"},
            )
    fixed = sympy.simplify(sympy.diff(x, theta)) == 0
    if not fixed:
        return undecided("the input depends on theta", tried)
    g, F, (a, b) = sympy.Function("g"), sympy.Function("F"), sympy.symbols("a b", real=True)
    inner, outer = sympy.diff(g(F(a)), a), sympy.diff(g(b), b).subs(b, F(a)) * sympy.diff(F(a), a)
    both = [sympy.diff(g(a + b), by) for by in (a, b)]
    v, slope, prox = (given.symbol(name) for name in names[:3])
    added = 2 * given.symbol("eta") * given.symbol("noise")
    return proof(
        computed("the input that the step reads does not depend on theta, and 1/c and the noise's 2 eta o are positive",
                 fixed and v.is_positive is True and added.is_positive is True),
        computed("(g(F))' = g'(F) F', so an L-Lipschitz map takes (10) with c to (10) with c/L^2 for the image",
                 vanishes(inner.doit() - outer.doit())),
        computed("g(a + b) has one derivative in a and in b, so (10) of two independent summands adds up their 1/c",
                 vanishes(both[0].doit() - both[1].doit())),
        argued("entropy is at most the sum of the entropies in the summands (tensorisation), a Lipschitz map has a "
               "derivative almost everywhere, and N(0, s^2) has c = 1/s^2 (Gross)"),
        computed("F, noise and T one after the other give the 1/c claimed, on symbols",
                 vanishes(widened(v, slope, prox, added) - prox**2 * (slope**2 * v + added))),
        tried=tried,
    )


def _excess(own_input: Callable[[Any, Any], Any], y: Fraction, noise: Fraction) -> arb:
    """A lower bound of E[2 theta step + step^2], theta ~ N(0, 2 o), for a step that has theta's sign.

    On theta in [s, 2s], of probability > 0.13 on either side, it is at least its least value there, by 64 pieces.
    """
    size = ball(2 * noise).sqrt()
    least = arb("inf")
    for piece in range(64):
        theta = (size * (1 + ball(Fraction(piece, 64)))).union(size * (1 + ball(Fraction(piece + 1, 64))))
        x = own_input(theta, ball(y))
        step = -(theta * x - ball(y)) * x
        value = 2 * theta * step + step * step
        least = least.min(value.lower())
    return 2 * ball(Fraction(13, 100)) * arb(least) if least > 0 else arb(0)


def judge_order(order: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether R_alpha(after)/alpha <= R_order(before)/order/(1 + u), u = 2 eta o c/L_F^2, order = order(alpha, u).

    Points: N(m, v_1) against N(0, v_2) in balls, v_1 <= v_2, where R_alpha/alpha depends on alpha; c = 1/v_2.
    """
    tried = 0
    for point in given.points(at_most=60):
        alpha, v, slope, prox = (
            point[name] for name in ("alpha", "spread", "lipschitz_gradient", "lipschitz_prox")
        )
        added = 2 * point["eta"] * point["noise"]
        u = added / (v * slope**2)
        with ctx.workprec(128):
            prime = Fraction(order(alpha, u))
            for part in (Fraction(1), Fraction(1, 2)):
                for mean in (Fraction(0), Fraction(1)):
                    before = _rate(mean, part * v, v, prime)
                    first, second = (prox**2 * (slope**2 * w + added) for w in (part * v, v))
                    after = _rate(mean * slope * prox, first, second, alpha)
                    tried += 1
                    if prime <= 1 or after > before / ball(1 + u):
                        return refuted(
                            "two Gaussians lose more", {
                                "alpha": alpha, "u": u, "order": prime, "v_1": part * v, "v_2": v, "mean": mean,
                                "before/(1+u)": (before / ball(1 + u)).str(8), "after": after.str(8)})
    alpha_, u_ = given.chart("alpha"), sympy.symbols("u", positive=True)
    characteristic = 1 + (order(alpha_, u_) - 1) * (1 + u_)
    return proof(
        *heat_flow(),
        in_range(given),
        computed("the characteristic from the order claimed ends in alpha, u being t c_0, on symbols",
                 vanishes(characteristic - alpha_)),
        tried=tried,
    )


def _rate(mean: Fraction, first: Fraction, second: Fraction, alpha: Fraction) -> arb:
    """R_alpha/alpha of N(mean, first) against N(0, second): finite for first <= second."""
    a, v, w = ball(alpha), ball(first), ball(second)
    mixed = a * w + (1 - a) * v
    logs = ((w / v).log() / 2 + (w / mixed).log() / (2 * (a - 1))) if alpha != 1 else arb(0)
    return (a * ball(mean) ** 2 / (2 * mixed) + logs) / a


def judge_uniform(order: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the order at which the bound before is asked stays above 1, so that a uniform bound stays uniform."""
    tried = 0
    for point in given.points(at_most=80):
        u = 2 * point["eta"] * point["noise"] / point["spread"] / point["lipschitz_gradient"] ** 2
        prime = order(point["alpha"], u)
        tried += 1
        if not prime > 1:
            return refuted("the order leaves the range of the bound", {"alpha": point["alpha"], "u": u, "order": prime})
    more, u_ = given.chart("alpha") - 1, sympy.symbols("u", positive=True)
    return proof(
        computed("alpha > 1 gives alpha' > 1, on symbols",
                 sympy.simplify(order(given.chart("alpha"), u_) - 1).is_positive is True and more.is_positive is True),
        argued("B f for a step without the record and B + a for one with it do not depend on alpha: induction from 0"),
        tried=tried,
    )


_FORMULA = (
    schedule("noise", "o(eta, k, 0); o(eta, k, j) may be any number"), positive_integer("batches"), positive("eta"),
    positive("lipschitz_gradient"), positive("lipschitz_prox"),
)
def _spread(v: Any, slope: Any, prox: Any, added: Any) -> Any:
    """1/c after a step, as Lemma 4.7 has it, from 1/c = v before it."""
    return prox**2 * (slope**2 * v + added)


_LAW = (
    "then the distribution of parameter θ_k^j in the j -th iteration of the k -th epoch satisfies c_k^j log-Sobolev "
    "inequality (LSI)"
)
_ORDER = (
    r"\text{the order } \alpha' = (\alpha - 1) \left(1 + \frac{c \cdot 2\eta \cdot \sigma(\eta, k, j)}{L_F^2}"
    r"\right)^{-1} + 1."
)

lemma_4_7 = Claim(
    id="sbcd/lem-4.7", source="001, Lemma 4.7, the formula, from a fixed start",
    quote="satisfies c_k^j log-Sobolev inequality (LSI) and the constant c_k^j is calculated by:",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\frac{1}{c_k^j} = 2\eta L_T^2 \Big(\sum_{k'<k}\sum_{j'} o_{k'}^{j'}(L_F L_T)^{2((k-k')n/b - j' + j - 1)} +"
        r" \sum_{j'<j} o_k^{j'} (L_F L_T)^{2(j-j'-1)}\Big)"
    ),
    words="the closed form of the log-Sobolev constants solves the one-step recursion from a fixed start",
    hypotheses=_FORMULA, check=judge_formula,
    says=lambda k, e, j, i, n, eta, slope, prox: 2 * eta * prox**2 * (slope * prox) ** (2 * ((k - e) * n + j - i - 1)),
    flips=(
        Flip("without the -1", lambda k, e, j, i, n, eta, slope, prox:
             2 * eta * prox**2 * (slope * prox) ** (2 * ((k - e) * n + j - i)), Verdict.REFUTED),
        Flip("without L_T^2 in front", lambda k, e, j, i, n, eta, slope, prox:
             2 * eta * (slope * prox) ** (2 * ((k - e) * n + j - i - 1)), Verdict.REFUTED),
    ),
    uses=("sbcd/lem-4.1", "sbcd/lem-4.2", "sbcd/norm-nonexpansive"),
    true_variants={"any noise": "an identity, linear in the noise", "any eta": "an identity, linear in eta",
                   "any batches": "without batches there is no step, and the sum is empty",
                   "any lipschitz_*": "an identity in the squares of L_F and L_T"},
    expected="HOLDS PROVED",
)
law = Claim(
    id="sbcd/lem-4.7-law", source="001, Lemma 4.7, as stated: of the law of theta",
    quote=_LAW,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\theta_k^j \text{ satisfies a log-Sobolev inequality with the constant } c_k^j",
    words="the law of theta has the constant of the formula: for fixed maps, or for those of Algorithm 2",
    hypotheses=STEP[1:], says=None, check=None,
    readings=("sbcd/lem-4.7-law-repaired", "sbcd/lem-4.7-law-reading-algorithm"),
    uses=("sbcd/lem-4.7", "sbcd/norm-nonexpansive"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"F, T \text{ fixed maps} \implies \theta_k^j \text{ has the constant } c_k^j",
        words="from a fixed start and for maps fixed beforehand the law of theta has the constant of Lemma 4.7",
        says=(lambda theta, y: y / 2 + 0 * theta, _spread), check=judge_law,
        expected="HOLDS ARGUED",
        source="001, Lemma 4.7, for fixed maps",
        flips=(Flip("the input solved for with theta", (lambda theta, y: theta * y / (1 + theta**2), _spread),
                    Verdict.REFUTED),
               Flip("without L_T", (lambda theta, y: y / 2 + 0 * theta, lambda v, f, t, added: f**2 * v + added),
                    Verdict.REFUTED)),
        rests_on=("sbcd/lem-4.7", "sbcd/norm-post-processing"),
        true_variants={**dict.fromkeys(("[[]0[]] 1 % *", "[[]0[]] squared", "[[]0[]] sign", "[[]0[]] *->*",
                                        "[[]0[]] beyond *", "[[]0[]] only at *"),
                                       "any input that does not depend on theta is a fixed map"),
                   "any lipschitz_*": "only the squares of L_F and L_T enter"},
    ),
)
law_algorithm = reading(
    law, "algorithm", source="001, Lemma 4.7, for Algorithm 2, whose map depends on theta",
    statement=r"\theta_k^j \text{ of Algorithm 2 satisfies a log-Sobolev inequality with the constant } c_k^j",
    words="the law of theta in Algorithm 2, where x and U are solved for with theta, has the constant of Lemma 4.7",
    says=(lambda theta, y: theta * y / (1 + theta**2), _spread), check=judge_law,
    flips=(Flip("a fixed input", (lambda theta, y: y / 2 + 0 * theta, _spread), Verdict.HOLDS),),
    uses=("sbcd/lem-4.7",),
    expected="REFUTED PROVED",
)
order_step = Claim(
    id="sbcd/cor-4.5-alpha", source="001, Corollary 4.5, case 1: the order alpha'",
    quote=_ORDER, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\frac{R_\alpha(\text{after})}{\alpha} \le \frac{1}{1+u}\,\frac{R_{\alpha'}(\text{before})}{\alpha'},"
              r" \quad \alpha' = 1 + \frac{\alpha - 1}{1 + u},\ u = \frac{2\eta o\, c}{L_F^2}",
    words="the divergence before a step without the record is to be taken at the order 1 + (alpha - 1)/(1 + u)",
    hypotheses=STEP, says=lambda alpha, u: (alpha - 1) / (1 + u) + 1, check=judge_order,
    flips=(Flip("without the + 1", lambda alpha, u: (alpha - 1) / (1 + u), Verdict.REFUTED),
           Flip("the order alpha", lambda alpha, u: alpha, Verdict.REFUTED)),
    rests_on=("sbcd/cor-4.5-case1-repaired",),
    true_variants={"any lipschitz_prox": "whatever the proximal map: L_T does not enter"},
    expected="HOLDS ARGUED",
)
uniform = Claim(
    id="sbcd/uniform-alpha", source="001, Theorem 4.6, proof sketch",
    quote=r"Therefore, we can uniformly bounded the value of $\frac{\varepsilon_K(\alpha, j_0)}{\alpha}$ for any α .",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\alpha > 1 \implies \alpha' > 1: \text{ a bound of } R_\alpha/\alpha \text{ for all } \alpha > 1"
              r" \text{ stays one}",
    words="a bound of R/alpha that is uniform over the orders above 1 stays uniform from step to step",
    hypotheses=STEP, says=lambda alpha, u: (alpha - 1) / (1 + u) + 1, check=judge_uniform,
    flips=(Flip("without the + 1", lambda alpha, u: (alpha - 1) / (1 + u), Verdict.REFUTED),),
    rests_on=("sbcd/cor-4.5-case1-repaired",),
    true_variants={"1 % more": "a larger order is above 1, too",
                   "*constant*": "any order above 1 serves", "*operator*": "any order above 1 serves",
                   "beyond *": "any order above 1 serves", "any lipschitz_prox": "L_T does not enter"},
    expected="HOLDS ARGUED",
)
