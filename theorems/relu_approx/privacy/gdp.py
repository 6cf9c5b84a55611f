r"""Lemma 2.5 of document 000: the privacy curve that characterises mu-GDP (`theorems/tools/exact_gaussian_curve.py`).

mu = 0, which the text before it allows ("mu >= 0"), is a claim of its own: the formula divides by it.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools import exact_gaussian_curve as curves
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def symbolic_tail(x: sympy.Expr) -> sympy.Expr:
    """1 - Phi(x), on symbols."""
    return sympy.erfc(x / sympy.sqrt(2)) / 2


def trade_off_gaps(mu: sympy.Symbol) -> dict[str, bool]:
    """What holds of G_mu, given by alpha = 1 - Phi(z) and G = Phi(z - mu); the names say it."""
    z = sympy.Symbol("z", real=True)

    alpha, value = symbolic_tail(z), 1 - symbolic_tail(z - mu)
    slope = sympy.simplify(sympy.diff(value, z) / sympy.diff(alpha, z))
    mirrored = [part.subs(z, mu - z) for part in (alpha, value)]
    gaps = (mirrored[0] - value, mirrored[1] - alpha)
    return {
        "G_mu is convex: its slope rises with alpha": sympy.simplify(
            sympy.diff(slope, z) / sympy.diff(alpha, z)
        ).is_positive is True,
        "G_mu is its own inverse: z and mu - z exchange alpha and G": all(
            sympy.simplify(gap.rewrite(sympy.erf).expand(func=True)) == 0 for gap in gaps
        ),
    }


def judge_curve(says: curves.Curve, given: Domain) -> Finding:
    """Quadrature at points, the ends of mu and epsilon among them; computer algebra for the identities."""
    tried = 0
    for point in given.points("mu", "epsilon", at_most=16, most={"mu": 20, "epsilon": 20}):
        tried += 1
        with ctx.workprec(160):
            formula = Enclosure.of_ball(says(ball(point["epsilon"]), ball(point["mu"]), normal_upper_tail, arb.exp))
        measured = curves.hockey_stick_integral(point["mu"], point["epsilon"])
        if not formula.overlaps(measured):
            return refuted(
                "formula and certified quadrature are disjoint", {**point, "formula": formula, "integral": measured}
            )
    return proof(
        *(computed(name, gap == 0) for name, gap in curves.symbolic_gaps(says).items()),
        *(computed(name, so) for name, so in trade_off_gaps(given.symbol("mu")).items()),
        argued("a convex function is the supremum of its tangents; those with epsilon < 0 are the mirror images of the "
               "others, and the neighbouring relation is symmetric"),
        argued("(epsilon, delta(epsilon))-DP for all epsilon >= 0 is a trade-off function above all these lines"),
        tried=tried,
    )


def judge_attained(which: str, given: Domain) -> Finding:
    """Whether Lemma 2.2's largest divergence is one of a pair ("max") or only approached ("sup").

    The mechanism x + N(0, 1) for records x in [0, 1), all of them neighbours: a pair at distance d < 1 has the Gaussian
    curve of mu = d, and the pair at distance (1 + d)/2 a larger one.
    """
    def delta(mu: Fraction, epsilon: Fraction) -> Enclosure:
        with ctx.workprec(100):
            return Enclosure.of_ball(curves.curve(ball(epsilon), ball(mu), normal_upper_tail, arb.exp))

    near, farther = Fraction(99, 100), Fraction(199, 200)
    mu, apart = sympy.Symbol("mu", positive=True), 1 / (1 + sympy.Symbol("a", positive=True))  # below 1
    slope = sympy.diff(curves.curve(given.symbol("epsilon"), mu, symbolic_tail, sympy.exp), mu)
    rises = (
        computed("the divergence rises with the distance: its slope is a normal density",
                 sympy.simplify(slope).is_positive),
        computed("a distance below 1 has a larger one below 1, halfway to it",
                 all(sympy.factor(gap).is_positive for gap in ((1 + apart) / 2 - apart, 1 - (1 + apart) / 2))),
    )
    for epsilon in given.values("epsilon", most=20):
        least, more = delta(near, epsilon), delta(farther, epsilon)
        if which == "max" and not more.possibly_le(least):
            return refuted_by("every pair has a pair with a larger divergence", {
                "mechanism": "x + N(0, 1), x in [0, 1)", "epsilon": epsilon, "distance": near, "delta": least,
                "larger distance": farther, "its delta": more,
            }, *rises)
    return proof(*rises, computed("it is the supremum that is claimed", which == "sup"),
                 argued("so the least delta for all pairs is that of distance 1, which no pair has"))


def judge_zero(says: curves.Curve, given: Domain) -> Finding:
    """Whether a curve is the Gaussian's at every mu >= 0; at mu = 0 the two laws are one and the same."""
    points = list(given.points("mu", "epsilon", at_most=36, most={"mu": 20, "epsilon": 20}))
    for point in points:
        mu, epsilon = point["mu"], point["epsilon"]
        with ctx.workprec(100):
            value = says(ball(epsilon), ball(mu), normal_upper_tail, arb.exp)
            true = (1 - ball(epsilon).exp()).max(arb(0))  # of one law from itself
            true = curves.curve(ball(epsilon), ball(mu), normal_upper_tail, arb.exp) if mu else true
        if not arb(value).is_finite() or not true.overlaps(arb(value)):
            return refuted("no number, or another one",
                           {**point, "formula": arb(value).str(8), "delta": true.str(8)})
    (p, mu_, beyond), zero = sympy.symbols("p mu epsilon", positive=True), sympy.Integer(0)
    grown = 1 + sympy.Symbol("t", nonnegative=True)  # e^epsilon
    formulas = [curve(given.symbol("epsilon"), mu_, symbolic_tail, sympy.exp) for curve in (says, curves.curve)]
    return proof(
        computed("at mu = 0 it is 0, as [p - e^epsilon p]_+ is for epsilon >= 0: laws that are the same do not diverge",
                 says(given.symbol("epsilon"), zero, symbolic_tail, sympy.exp) == 0
                 and sympy.expand(p - grown * p).is_nonpositive),
        computed("0 is the limit of Lemma 2.5's formula: both its tails begin at epsilon/mu -+ mu/2, without bound "
                 "as mu falls, and at epsilon = 0 they become one",
                 all(sympy.limit(beyond / mu_ + sign * mu_ / 2, mu_, 0, "+") == sympy.oo for sign in (1, -1))
                 and sympy.simplify(symbolic_tail(-mu_ / 2) - symbolic_tail(mu_ / 2)).subs(mu_, 0) == 0),
        computed("for mu > 0 it is that formula", sympy.simplify(formulas[0] - formulas[1]) == 0),
        tried=len(points),
    )


lemma_2_5 = Claim(
    id="relu-approx/lem-2.5",
    source="000, Lemma 2.5 (Dong, Roth and Su 2022, Cor. 2.13)",
    quote=(
        r"A mechanism $\mathcal{M}$ is $\mu$ -GDP if and only it is $(\varepsilon, \delta)$ -DP for all "
        r"$\varepsilon \geq 0$ , where $$\delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{\mu} + "
        r"\frac{\mu}{2}\right) - \mathrm{e}^{\varepsilon}\Phi\left(-\frac{\varepsilon}{\mu} - "
        r"\frac{\mu}{2}\right).$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\mathcal{M} \text{ is } \mu\text{-GDP} \iff \text{it is } (\varepsilon, \delta(\varepsilon))\text{-DP}"
        r" \text{ for all } \varepsilon \ge 0,"
        r"\quad \delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{\mu} + \frac{\mu}{2}\right)"
        r" - e^{\varepsilon} \Phi\left(-\frac{\varepsilon}{\mu} - \frac{\mu}{2}\right)"
    ),
    words="mu-GDP is the same as the Gaussian privacy curve at every epsilon >= 0",
    hypotheses=(positive("mu"), non_negative("epsilon")),
    true_variants={"any epsilon": "the curve is that of the pair at negative epsilon, too"},
    says=curves.curve,
    check=judge_curve,
    flips=(
        Flip("mu/2 with the other sign", lambda e, mu, tail, exp: curves.curve(e, -mu, tail, exp), Verdict.REFUTED),
        Flip(
            "the second term without e^epsilon",
            lambda e, mu, tail, exp: tail(e / mu - mu / 2) - tail(e / mu + mu / 2), Verdict.REFUTED,
        ),
    ),
    expected="HOLDS ARGUED",
)

lemma_2_5_at_0 = Claim(
    id="relu-approx/lem-2.5-mu-0",
    source="000, the sentence before Lemma 2.5, mu >= 0, with the lemma's formula",
    quote=r"a mechanism $\mathcal{M}$ is $\mu$ -GDP, $\mu \geq 0$ , if for all neighboring datasets the outcomes",
    whose=Whose.PRINTED,
    statement=r"\delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{\mu} + \frac{\mu}{2}\right)"
              r" - e^{\varepsilon} \Phi\left(-\frac{\varepsilon}{\mu} - \frac{\mu}{2}\right) \quad (\mu \ge 0)",
    words="the curve of Lemma 2.5 is that of mu-GDP for every mu >= 0, 0 included",
    hypotheses=(non_negative("mu"), non_negative("epsilon")),
    says=curves.curve,
    check=judge_zero,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mu = 0:\ \delta(\varepsilon) = 0, \text{ the limit of the formula}",
        words="at mu = 0, where the formula divides by 0, delta is 0, its limit; for mu > 0 it is the formula",
        says=lambda e, mu, tail, exp: 0 if mu <= 0 else curves.curve(e, mu, tail, exp),
        expected="HOLDS ARGUED",
        source="000, Lemma 2.5 with mu = 0",
        flips=(Flip("1 at mu = 0", lambda e, mu, tail, exp: 1 if mu <= 0 else curves.curve(e, mu, tail, exp),
                    Verdict.REFUTED),),
        rests_on=("relu-approx/lem-2.5",),
    ),
)

lemma_2_2_max = Claim(
    id="relu-approx/lem-2.2-max",
    source="000, Lemma 2.2: the maximum over neighbours, where there are infinitely many data sets",
    quote=r"$$\delta(\varepsilon) = \max_{D \sim D'} H_{e^{\varepsilon}}(\mathcal{M}(D)||\mathcal{M}(D')).$$",
    whose=Whose.PRINTED,
    statement=r"\max_{D \sim D'} H_{e^{\varepsilon}}(\mathcal{M}(D) \| \mathcal{M}(D')) \text{ exists}",
    words="some pair of neighbours has the largest divergence, whatever the mechanism",
    hypotheses=(non_negative("epsilon"),),
    says="max",
    check=judge_attained,
    flips=(Flip("the supremum", "sup", Verdict.HOLDS),),
    repaired_by="relu-approx/lem-2.2",
    expected="REFUTED PROVED",
)
