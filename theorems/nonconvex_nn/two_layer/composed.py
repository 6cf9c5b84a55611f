r"""Lemma 17 of document 002 read of the network N_2 itself: what its degree O(1/alpha_0) may hide, and what it may not.

G CANNOT BE HIDDEN from a constant that is to be absolute. k = 1, a ReLU, sigma_2(z) = min(1, max(0, G (z - 1/2))): N_2
rises from 0 to 1 while <a, x> goes from 1/2 to 1/2 + 1/G. On the circle through a, averaged with its mirror image, a
polynomial in x of degree m is one in s = <a, x> of degree m at most; if it is within alpha_0 of N_2, it is within 1/2 +
alpha_0 of 1/2 on [-1, 1], and rises by at least 1 - 2 alpha_0 there: Markov's inequality asks for G (1 - 2 alpha_0) <=
m^2 (1/2 + alpha_0). So no degree that depends on alpha_0 alone will do for all G.

k AND G GIVEN it is true. N_2 is a function of the projection u of x on the span of a_1, ..., a_k, in the unit ball of
at most k dimensions, and |N_2(u) - N_2(u')| <= G |b|_1 |u - u'| <= G sqrt(k) |u - u'|; extend it to the cube by
projecting on the ball. In u_j = cos(t_j) convolve it with the product of k Fejer kernels K_n, K_n the squared modulus
of sum_j sin((j + 1) pi/(n + 2)) e^{ijt}: K_n >= 0 has degree n and E cos(h) = cos(pi/(n + 2)) (sin((j+1) c) is the
eigenvector of the path with n + 1 vertices for 2 cos(c)). As 1 - cos(h) >= 2 h^2/pi^2 on [-pi, pi], E h^2 <=
pi^4/(4 (n + 2)^2), so the error is at most G sqrt(k) (k E h^2)^{1/2} <= G k pi^2/(2 (n + 2)), which is sqrt(k) alpha_0
for n + 2 >= G sqrt(k) pi^2/(2 alpha_0): a polynomial of degree at most k n <= 5 G k^{3/2}/alpha_0. It is a sum of
products of T_i(u_j), i <= n, with coefficients of at most 2^k, so that |w| <= sqrt(m + 1) 2^k (n + 1)^k (1 +
sqrt(2))^m, m = k n: 2^{O(1/alpha_0)}.

UNIFORM IN k, G given: open. What was tried: (a) degrees multiplied give O(1/alpha_0^2), free of k. (b) For every fixed
k the last paragraph, with k^{3/2}; for orthonormal a_t, where N_2 is G-Lipschitz, a rotation-invariant kernel (Newman
and Shapiro) has the error G k/m, so that sqrt(k) is left. (c) Against it: along every great circle N_2 is as smooth as
k = 1 for orthonormal a_t, so that no one-dimensional restriction needs more than Jackson's O(1/alpha_0); functions of
the signs on the cube of side 2/sqrt(k) need degree k only, which is less than 1/alpha_0 where they are felt; and
exponentials of the hidden layer on that cube, split into dyadic pieces and cut off by total degree, have constant
accuracy at O(1/alpha_0). Neither side reaches all of the ball.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.two_layer.approximation import RELU_QUOTE
from theorems.tools.either import root
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, sampled, undecided

Degree = Callable[[Any, Any, Any], Any]
"""(alpha_0, k, G) -> a degree at which N_2 is claimed to be approximated."""


def judge_any_slope(degree: Degree, given: Domain) -> Finding:
    """Whether degree(alpha_0, k, G) is enough for every G, k = 1: Markov's inequality at a steep enough activation."""
    tried = 0
    for point in led(given, alpha="1/4"):
        alpha = point["alpha"]
        steep = Fraction(1)
        while steep < 10**60:
            m, tried = degree(alpha, 1, steep), tried + 1
            if steep * (1 - 2 * alpha) > m**2 * (Fraction(1, 2) + alpha):
                return refuted_by("an outer activation so steep that no polynomial of that degree follows it", {
                    "alpha_0": alpha, "k": 1, "G": steep, "sigma_2": "min(1, max(0, G (z - 1/2)))", "degree": m,
                    "rises by, at least": 1 - 2 * alpha, "within": 1 / steep,
                    "largest slope, at most": m**2 * (Fraction(1, 2) + alpha)},
                    computed("it would rise faster than m^2 times its size on [-1, 1]",
                             steep * (1 - 2 * alpha) > m**2 * (Fraction(1, 2) + alpha)),
                    argued("Markov's inequality, for the mean of the polynomial and its mirror image on a circle; for "
                           "every hidden constant a larger G does the same"))
            steep *= 4
    return undecided("no activation of this kind is against a degree that grows like that with G", tried)


def judge_given_slope(degree: Degree, given: Domain) -> Finding:
    """Whether degree(alpha_0, k, G) is at least k n of the module's text, n + 2 >= G sqrt(k) pi^2/(2 alpha_0)."""
    tried = sum(1 for _ in given.points("alpha", "k", "G", at_most=60))
    alpha, steep, r = given.symbol("alpha"), given.symbol("G"), sympy.Symbol("r", positive=True)  # r = sqrt(k)
    needed = r**2 * steep * r * sympy.pi**2 / (2 * alpha)
    room = sympy.simplify(degree(alpha, r**2, steep) / needed) - 1
    if not never_negative(room):
        return undecided("the construction asks for a higher degree", tried)
    y = sympy.Symbol("y", positive=True)
    with ctx.workprec(100):
        kernels = all(_first_coefficient(n).overlaps((arb.pi() / (n + 2)).cos()) for n in range(13))
    return proof(
        computed("k times G sqrt(k) pi^2/(2 alpha_0) is at most what is claimed, on symbols", never_negative(room)),
        computed("1 - cos(y) <= y^2/2 at y = pi/(n + 2): (pi^2/2) times that is pi^4/(4 (n + 2)^2)", vanishes(
            sympy.pi**2 / 2 * (sympy.pi / y) ** 2 / 2 - sympy.pi**4 / (4 * y**2))),
        computed("G sqrt(k) (k pi^4/(4 (n+2)^2))^(1/2) is sqrt(k) alpha_0 at that n + 2", vanishes(
            steep * r * sympy.sqrt(r**2 * sympy.pi**4 / (4 * y**2)).subs(y, steep * r * sympy.pi**2 / (2 * alpha))
            - r * alpha)),
        sampled("E cos(h) = cos(pi/(n + 2)) for n up to 12, certified", kernels),
        argued("N_2 as a Lipschitz function of the projection, the kernels and the norm: the module's text"),
        tried=tried,
    )


def _first_coefficient(n: int) -> arb:
    """E cos(h) of the kernel of degree n."""
    found = [((j + 1) * arb.pi() / (n + 2)).sin() for j in range(n + 1)]
    return sum((a * b for a, b in itertools.pairwise(found)), arb(0)) / sum((a * a for a in found), arb(0))


def judge_units(power: Fraction, given: Domain) -> Finding:
    """Whether N_2 has polynomials of degree O(alpha_0^-power), the constant free of k; G is given."""
    tried = sum(1 for _ in given.points("alpha", "k", at_most=10))
    if power < 2:
        return undecided(
            "for every k there is a constant (lem-17-reading-given), but what is known of it grows with k; degrees "
            "multiplied give O(1/alpha_0^2) for all k; no network is known that needs more than O(1/alpha_0): the "
            "module's text. Theorem 11 needs the hidden layer only", tried)
    return proof(
        computed("two degrees O(1/alpha_0), multiplied, are O(alpha_0^-power): it is at least 2", power >= 2),
        argued("the polynomials of `approximation`, COMPOSED: degrees of composed polynomials are multiplied"),
        tried=tried,
    )


_SMALL = positive("alpha", "alpha_0").at_most(Fraction(1, 4))
_GIVEN: tuple[Parameter, ...] = (positive("alpha", "alpha_0"), positive_integer("k"), positive("G"))
any_slope = Claim(
    id="nonconvex-nn/lem-17-reading-network",
    source="002, Lemma 17 with N_2 itself, and one hidden constant for every G-Lipschitz outer activation",
    quote=RELU_QUOTE, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\mathcal{N}_2 = \sigma_2(\sum_t b_t\sigma_1(\langle a_t, x\rangle)) \text{ at degree } c/\alpha_0,\ "
              r"\text{whatever } G",
    words="N_2 with any Lipschitz outer activation is approximated by polynomials of degree O(1/alpha_0), free of G",
    hypotheses=(_SMALL,), says=lambda alpha, k, steep: 1000 / alpha, check=judge_any_slope,
    flips=(Flip("with G in the degree", lambda alpha, k, steep: 5 * steep / alpha, Verdict.UNDECIDED),
           Flip("10^6/alpha_0^2", lambda alpha, k, steep: 10**6 / alpha**2, Verdict.REFUTED)),
    repaired_by="nonconvex-nn/lem-17-reading-given", expected="REFUTED ARGUED",
)
given_slope = Claim(
    id="nonconvex-nn/lem-17-reading-given",
    source="002, Lemma 17 with N_2 itself, its hidden constants free to depend on k and G",
    quote=RELU_QUOTE, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\mathcal{N}_2 \text{ at degree } 5Gk^{3/2}/\alpha_0,\ W \le \sqrt{m+1}\, 2^k (n+1)^k (1 + \sqrt 2)^m",
    words="N_2 with k ReLU units and a G-Lipschitz activation is approximated to sqrt(k) alpha_0 at a degree of at "
          "most 5 G k^{3/2}/alpha_0, with W = 2^{O(1/alpha_0)}",
    hypotheses=_GIVEN, says=lambda alpha, k, steep: 5 * steep * k * root(k) / alpha, check=judge_given_slope,
    flips=(Flip("half the degree", lambda alpha, k, steep: 5 * steep * k * root(k) / (2 * alpha), Verdict.UNDECIDED),
           Flip("free of G", lambda alpha, k, steep: 5 * k * root(k) / alpha, Verdict.UNDECIDED)),
    true_variants={"1 % *": "5 is a little more than pi^2/2", "5 -> 6*": "a higher degree"},
    survivors={"any *": "sizes that are not positive are none: the symbols are those of sizes"},
    expected="HOLDS ARGUED",
)
units = Claim(
    id="nonconvex-nn/lem-17-reading-units",
    source="002, Lemma 17 with N_2 itself, G given and one hidden constant for every k",
    quote=RELU_QUOTE, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\mathcal{N}_2 \text{ at degree } c_G/\alpha_0,\ \text{whatever } k",
    words="for a given G the degree O(1/alpha_0) is free of the number of units",
    hypotheses=_GIVEN[:2], says=Fraction(1), check=judge_units,
    flips=(Flip("degree O(1/alpha_0^2)", Fraction(2), Verdict.HOLDS),), expected="UNDECIDED CHECKED_AT_POINTS",
)
