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

from oracle.core.domain import non_negative, positive, positive_integer
from theorems.claim import Claim, Flip, Severity
from theorems.domain import Domain
from theorems.tools.effort import points as effort
from theorems.tools.exact_gaussian_curve import Curve, curve
from theorems.tools.exact_gaussian_curve import check as check_curve
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_MUS = tuple(tuple(map(Fraction, row)) for row in (("1",), ("1", "1"), ("3", "4"), ("1/2", "1/3", "2")))


def log_transform(t: Any, mu: Any) -> Any:
    """log E_Q e^{t loss} of N(mu, 1) against N(0, 1), whose loss is mu x - mu^2/2."""
    return (t * t - t) * mu**2 / 2


def square_gap() -> sympy.Expr:
    """The exponent of e^{t loss} times N(0, 1)'s density, minus that of the above times N(t mu, 1)'s; zero."""
    t, mu, x = sympy.symbols("t mu x", real=True)
    return sympy.expand(t * (mu * x - mu**2 / 2) - x**2 / 2 - (log_transform(t, mu) - (x - t * mu) ** 2 / 2))


def judge_sum(says: Callable[[list[Any]], Any], given: Domain) -> Finding:
    """Hold a rule for mu^2, from the list of the mu_i^2, against the second moment of the product's likelihood ratio.

    E_Q (dP/dQ)^2 is e^{mu^2} for a Gaussian pair and multiplies over a product, so its logarithm decides exactly.
    """
    for row in _MUS:
        true = sum((mu * mu for mu in row), Fraction(0))
        claimed = Fraction(says([mu * mu for mu in row]))
        if claimed != true:
            return refuted(
                "the second moment of the likelihood ratio is another",
                {"mu_i": ", ".join(map(str, row)), "log of the moment": str(true), "claimed mu^2": str(claimed)},
            )
    t = sympy.symbols("t", real=True)
    gaps = []
    for count in (1, 2, 3, 7):
        mus = sympy.symbols(f"mu_1:{count + 1}", positive=True)
        together = log_transform(t, sympy.sqrt(says([mu**2 for mu in mus])))
        gaps.append(sympy.expand(sum(log_transform(t, mu) for mu in mus) - together))
    if square_gap() != 0 or any(gap != 0 for gap in gaps):
        return undecided("agrees at points; the identity was not shown", len(_MUS))
    return proof(argued(
        "the loss of the product pair has the Laplace transform of one Gaussian pair's (computer algebra), so the two "
        "have one curve; adaptivity is relu-approx/thm-2.4, and the product itself attains it"
    ))


def judge_mechanism(says: Curve, given: Domain) -> Finding:
    """The curve by quadrature and computer algebra, and that it rises with the distance of the means."""
    finding = check_curve(says, given)
    if finding.verdict is not Verdict.HOLDS:
        return finding
    mu, epsilon = sympy.symbols("mu epsilon", positive=True)

    def tail(x: sympy.Expr) -> sympy.Expr:
        return sympy.erfc(x / sympy.sqrt(2)) / 2

    slope = sympy.diff(says(epsilon, mu, tail, sympy.exp), mu)
    density = sympy.exp(-((mu / 2 - epsilon / mu) ** 2) / 2) / sympy.sqrt(2 * sympy.pi)
    if sympy.simplify(slope / density - 1) != 0:
        return undecided("the slope in mu was not shown", 1)
    return proof(argued(
        "the divergence of two Gaussians of one covariance is that of lem-2.5 at mu = distance/sigma; its slope in mu "
        "is a normal density (computer algebra), so the largest distance is the worst"
    ))


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


def judge_tree(says: Callable[[int], int], given: Domain) -> Finding:
    """Hold the number of sums that a leaf enters against trees that are built."""
    largest = effort(100)
    for leaves in range(1, largest + 1):
        counts = nodes_of_leaves(leaves)
        if max(counts) != says(leaves):
            return refuted(
                "a leaf enters another number of sums",
                {"leaves": str(leaves), "sums with the first leaf": str(counts[0]), "claimed": str(says(leaves))},
            )
    # Doubling the leaves adds one level; up to 2^d leaves share a tree of d + 1 levels.
    doubles = all(says(2 * n) == says(n) + 1 == says(2 * n - 1) for n in range(2, largest))
    if not doubles:
        return undecided("does not grow by one as the leaves double", largest)
    return at_points(
        f"all trees of up to {largest} leaves were built; mu^2 is the number of sums times (|v|/sigma)^2 by "
        "background/gdp-composition",
        Scope("points", largest, largest, {"leaves": f"1 to {largest}"}),
    )


gdp_composition = Claim(
    id="background/gdp-composition",
    source="Dong, Roth and Su 2022, Cor. 3.3; text not at hand, proved here",
    severity=Severity.PRIVACY,
    statement=(
        r"\mathcal{M}_i \text{ is } \mu_i\text{-GDP} \implies (\mathcal{M}_1, \dots, \mathcal{M}_k) \text{ is }"
        r" \sqrt{\textstyle\sum_i \mu_i^2}\text{-GDP, adaptively, and no smaller } \mu \text{ will do}"
    ),
    words="Gaussian-DP parameters compose as the root of the sum of their squares",
    hypotheses=(positive("mu"), positive_integer("steps")),
    says=lambda squares: sum(squares),
    check=judge_sum,
    flips=(
        Flip("the largest one", lambda squares: max(squares), Verdict.REFUTED),
        Flip("k times the sum", lambda squares: len(squares) * sum(squares), Verdict.REFUTED),
        Flip("the first three only", lambda squares: sum(squares[:3]), Verdict.UNDECIDED),
    ),
    rests_on=("relu-approx/thm-2.4", "relu-approx/lem-2.5"),
    expected="HOLDS ARGUED",
)

balle_wang = Claim(
    id="background/balle-wang",
    source="Balle and Wang 2018, Theorem 8 (arXiv 1805.06530); text not at hand, proved here",
    severity=Severity.PRIVACY,
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
    severity=Severity.PRIVACY,
    statement=r"\mu = \frac{\lVert v \rVert}{\sigma}\sqrt{\lceil \log_2 n \rceil + 1}",
    words="a leaf of a binary tree over n leaves enters ceil(log2 n) + 1 noisy sums",
    hypotheses=(positive_integer("leaves"),),
    says=lambda leaves: (leaves - 1).bit_length() + 1,
    check=judge_tree,
    flips=(
        Flip("without the root", lambda leaves: (leaves - 1).bit_length(), Verdict.REFUTED),
        Flip("the logarithm rounded down", lambda leaves: leaves.bit_length(), Verdict.REFUTED),
    ),
    rests_on=("background/gdp-composition",),
    expected="HOLDS CHECKED_AT_POINTS",
)
