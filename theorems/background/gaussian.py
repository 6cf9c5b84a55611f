r"""Gaussian pairs: what a composition of them is, the analytic Gaussian mechanism, and the tree of noisy sums.

Composition. A mu_i-GDP mechanism is dominated by N(mu_i, 1) against N(0, 1), for every alpha > 0; by
relu-approx/thm-2.4 an adaptive composition is dominated by the product pair, whose loss is sum_i (mu_i z_i - mu_i^2/2):
under N(0, I) it is normal of mean -mu^2/2 and variance mu^2 = sum mu_i^2, exactly the loss of N(mu, 1) against N(0, 1).
The mechanisms that release N(mu_i, 1) or N(0, 1) attain it.

Analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8). N(f(D), sigma^2 I) and N(f(D'), sigma^2 I) differ along
one line only, so their divergence is that of mu = |f(D) - f(D')|/sigma; delta rises with mu, its slope being the normal
density at mu/2 - epsilon/mu, so the worst neighbours are those at distance Delta.

Tree (Chan, Shi and Song 2011). In a complete binary tree over n leaves each leaf is in ceil(log2 n) + 1 sums.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, non_negative_integer, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.exact_gaussian_curve import Curve, curve, hockey_stick_integral
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def log_transform(t: Any, mu: Any) -> Any:
    """log E_Q e^{t loss} of N(mu, 1) against N(0, 1), whose loss is mu x - mu^2/2."""
    return (t * t - t) * mu**2 / 2


def judge_sum(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Hold a rule for mu^2, from that of the steps before and the new one's, against the product's likelihood ratio.

    E_Q (dP/dQ)^2 is e^{mu^2} for a Gaussian pair and multiplies over a product, so its logarithm decides exactly.
    """
    tried = 0
    mus = given.values("mu")
    for count in given.values("steps", most=7):
        for first in range(len(mus)):
            tried += 1
            row = [mus[(first + i) % len(mus)] for i in range(count)]
            claimed, true = Fraction(0), sum((mu * mu for mu in row), Fraction(0))
            for mu in row:
                claimed = Fraction(says(claimed, mu * mu))
            if claimed != true:
                return refuted(
                    "the second moment of the likelihood ratio is another",
                    {"mu_i": ", ".join(map(str, row)), "log of the moment": true, "claimed mu^2": claimed},
                )
    t, x = sympy.symbols("t x", real=True)
    mu, before = given.symbol("mu"), sympy.symbols("nu", positive=True)
    square = t * (mu * x - mu**2 / 2) - x**2 / 2 - (log_transform(t, mu) - (x - t * mu) ** 2 / 2)
    together = log_transform(t, sympy.sqrt(says(before**2, mu**2)))
    return proof(
        computed("e^(t loss) times the density of N(0, 1) is e^((t^2 - t) mu^2/2) times that of N(t mu, 1)",
                 vanishes(square) and mu.is_positive is True),
        computed("one mechanism has its own mu^2", vanishes(says(0, mu**2) - mu**2)),
        computed("one mechanism more multiplies the Laplace transforms, and mu^2 is as claimed: for all k by induction",
                 vanishes(sympy.expand(log_transform(t, before) + log_transform(t, mu) - together))
                 and given["steps"].low == 1),
        argued("equal Laplace transforms of the loss mean equal laws of the loss, hence one curve; adaptive mechanisms "
               "are dominated by the product (relu-approx/thm-2.4), and the product itself attains it"),
        tried=tried,
    )


def judge_mechanism(says: Curve, given: Domain) -> Finding:
    """The curve by quadrature and computer algebra, and that it rises with the distance of the means."""
    tried = 0
    for point in given.points("sigma", "sensitivity", "epsilon"):
        mu, epsilon = point["sensitivity"] / point["sigma"], point["epsilon"]
        if not Fraction(1, 1000) <= mu <= 20 or epsilon > 20:
            continue  # what the quadrature reaches; the algebra below is for all
        tried += 1
        with ctx.workprec(160):
            formula = Enclosure.of_ball(says(ball(epsilon), ball(mu), normal_upper_tail, arb.exp))
        measured = hockey_stick_integral(mu, epsilon)
        if not formula.overlaps(measured):
            return refuted(
                "formula and certified quadrature are disjoint",
                {"mu": mu, "epsilon": epsilon, "formula": formula, "integral": measured},
            )
    sigma, sensitivity, epsilon = (given.symbol(name) for name in ("sigma", "sensitivity", "epsilon"))
    x, y, a, b = sympy.symbols("x y a b", real=True)
    mu = sympy.symbols("mu", positive=True)
    ratio = ((x - b) ** 2 + y**2 - (x - a) ** 2 - y**2) / (2 * sigma**2)
    crossing = epsilon / mu + mu / 2

    def tail(x: sympy.Expr) -> sympy.Expr:
        return sympy.erfc(x / sympy.sqrt(2)) / 2

    claimed = says(epsilon, mu, tail, sympy.exp)
    density = sympy.exp(-((mu / 2 - epsilon / mu) ** 2) / 2) / sympy.sqrt(2 * sympy.pi)
    return proof(
        computed("with the first axis along f(D) - f(D'), the log-likelihood ratio depends on that coordinate only",
                 vanishes(sympy.diff(ratio, y), sympy.diff(ratio, x, 2))),
        computed("on the line it crosses epsilon once, and the divergence beyond is the formula at mu = distance/sigma",
                 vanishes(mu * crossing - mu**2 / 2 - epsilon,
                          tail(crossing - mu) - sympy.exp(epsilon) * tail(crossing) - claimed)),
        computed("its slope in mu is a normal density, so it rises with the distance; sigma and Delta are positive",
                 vanishes(sympy.diff(claimed, mu) / density - 1) and signed_positive(sigma, sensitivity)
                 and epsilon.is_nonnegative is True),
        argued("so the supremum over neighbours is the value at their largest distance, Delta"),
        tried=tried,
    )


def nodes_of_leaves(leaves: int) -> list[int]:
    """How many nodes of the complete tree hold each leaf, by building all its nodes."""
    width = 1
    while width < leaves:
        width *= 2
    counts = [0] * leaves
    while width:
        for start in range(0, leaves, width):
            for leaf in range(start, min(start + width, leaves)):
                counts[leaf] += 1
        width //= 2
    return counts


def judge_tree(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Hold mu^2, from the depth d and (|v|/sigma)^2, against trees that are built over 2^(d-1) < n <= 2^d leaves."""
    tried = 0
    for depth in given.values("depth", most=7):
        for leaves in {2**depth // 2 + 1, 2**depth}:
            tried += 1
            most = max(nodes_of_leaves(leaves))
            if says(depth, Fraction(1)) != most:
                return refuted(
                    "a leaf enters another number of sums",
                    {"leaves": leaves, "most sums with one leaf": most, "claimed": says(depth, Fraction(1))},
                )
    depth, ratio = given.symbol("depth"), given.symbol("ratio")
    for value in given.values("ratio"):
        tried += 1
        if says(1, value) != 2 * value:
            return refuted("two sums cost another mu^2", {"(|v|/sigma)^2": value, "claimed": says(1, value)})
    return proof(
        argued("a leaf lies in exactly one node of each width 2^j, j = 0, ..., d: one sum for each"),
        computed("one leaf has one node, and one level more adds one sum of cost (|v|/sigma)^2: for all d by induction",
                 vanishes(says(0, ratio) - ratio, says(depth + 1, ratio) - says(depth, ratio) - ratio)
                 and depth.is_nonnegative is True and ratio.is_positive is True),
        tried=tried,
    )


gdp_composition = Claim(
    id="background/gdp-composition",
    source="Dong, Roth and Su 2022, Cor. 3.3; text not at hand, proved here",
    severity=Stake.PRIVACY,
    statement=(
        r"\mathcal{M}_i \text{ is } \mu_i\text{-GDP} \implies (\mathcal{M}_1, \dots, \mathcal{M}_k) \text{ is }"
        r" \sqrt{\textstyle\sum_i \mu_i^2}\text{-GDP, adaptively, and no smaller } \mu \text{ will do}"
    ),
    words="Gaussian-DP parameters compose as the root of the sum of their squares",
    hypotheses=(positive("mu"), positive_integer("steps")),
    says=lambda before, new: before + new,
    check=judge_sum,
    flips=(
        Flip("the largest one", lambda before, new: max(before, new), Verdict.REFUTED),
        Flip("twice the new one", lambda before, new: before + 2 * new, Verdict.REFUTED),
        Flip("what was before, halved", lambda before, new: before / 2 + new, Verdict.REFUTED),
    ),
    rests_on=("relu-approx/thm-2.4", "relu-approx/lem-2.5"),
    expected="HOLDS ARGUED",
)

balle_wang = Claim(
    id="background/balle-wang",
    source="Balle and Wang 2018, Theorem 8 (arXiv 1805.06530); text not at hand, proved here",
    severity=Stake.PRIVACY,
    statement=(
        r"\mathcal{N}(f(D), \sigma^2 I) \text{ is } (\varepsilon, \delta)\text{-DP} \iff"
        r" \Phi\left(\tfrac{\Delta}{2\sigma} - \tfrac{\varepsilon\sigma}{\Delta}\right)"
        r" - e^\varepsilon \Phi\left(-\tfrac{\Delta}{2\sigma} - \tfrac{\varepsilon\sigma}{\Delta}\right) \le \delta"
    ),
    words="the Gaussian mechanism is (epsilon, delta)-DP exactly when its curve at Delta/sigma is at most delta",
    hypotheses=(positive("sigma"), positive("sensitivity"), non_negative("epsilon")),
    says=curve,
    check=judge_mechanism,
    flips=(
        Flip("mu/2 with the other sign", lambda e, mu, tail, exp: curve(e, -mu, tail, exp), Verdict.REFUTED),
        Flip("mu for mu/2", lambda e, mu, tail, exp: tail(e / mu - mu) - exp(e) * tail(e / mu + mu), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/lem-2.5",),
    expected="HOLDS ARGUED",
)

tree = Claim(
    id="background/tree-aggregation",
    source="Chan, Shi and Song 2011, binary tree aggregation with Gaussian noise",
    severity=Stake.PRIVACY,
    statement=r"\mu^2 = \frac{\lVert v \rVert^2}{\sigma^2}(d + 1),\quad d = \lceil \log_2 n \rceil",
    words="a leaf of a binary tree over n leaves enters ceil(log2 n) + 1 noisy sums",
    hypotheses=(non_negative_integer("depth", "ceil(log2 n)"), positive("ratio", "(|v|/sigma)^2")),
    says=lambda depth, ratio: (depth + 1) * ratio,
    check=judge_tree,
    flips=(
        Flip("without the root", lambda depth, ratio: depth * ratio, Verdict.REFUTED),
        Flip("the noise of one sum", lambda depth, ratio: ratio, Verdict.REFUTED),
    ),
    rests_on=("background/gdp-composition",),
    expected="HOLDS ARGUED",
)
