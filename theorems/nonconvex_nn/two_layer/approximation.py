r"""Polynomials for hidden layers (002, Lemmas 16 and 17), with explicit degrees, errors and norms for all degrees.

KERNEL. K(x, x') = (1 + <x, x'> + ... + <x, x'>^m)/(m + 1) is at most 1 on the unit ball (undivided it would be m + 1);
it has D_m = 1 + d + ... + d^m ordered monomials as features, and p(<a, x>) = c_0 + ... + c_m <a, x>^m, |a| = 1, is
<w_a, psi(x)> with |w_a|^2 = (m + 1) |c|_2^2. A hidden layer is sum b_t p(<a_t, x>) up to |b|_1 <= sqrt(k) times the
error, with |w| <= sqrt(k (m + 1)) |c|_2.

SIGMOID. It is analytic in the ellipse with foci -1, 1 and half axes sqrt(10) and 3, and at most 1/sin 3 there: |1 +
e^{-z}|^2 = (e^{-Re z} + cos Im z)^2 + sin^2 Im z, at least 1 where cos Im z >= 0 and at least sin^2 3 elsewhere. So its
Chebyshev coefficients are at most 2 rho^-j/sin 3, rho = 3 + sqrt(10) (Cauchy's estimate), the error of the partial sum
of degree m is at most 2 rho^-m/((rho - 1) sin 3), and as the monomial coefficients of T_j add up to at most
(1 + sqrt(2))^j, |c|_1 <= (2/sin 3)/(1 - (1 + sqrt(2))/rho) < 24 for every m. So the error alpha_0 needs a degree of
(log(1/alpha_0) + log(2/((rho - 1) sin 3)))/log rho, and W <= 24 sqrt(k (m + 1)): no power of 1/alpha_0 at all. For
alpha_0 >= 3/4 the hidden layer itself is at most sqrt(k)/(1 + 1/e) < sqrt(k) alpha_0, and w* = 0 will do.

RELU. |cos t| = 2/pi + (4/pi) sum_j (-1)^(j+1) cos(2jt)/(4j^2 - 1), so that relu(z) = 1/pi + z/2 + (2/pi) sum_j
(-1)^(j+1) T_2j(z)/(4j^2 - 1). As 1/(4j^2 - 1) telescopes, the partial sum of degree m = 2J has error at most
1/(pi (m + 1)), and the coefficients add up to at most 1/2 + 2/pi, so that |c|_1 <= (1/2 + 2/pi)(1 + sqrt(2))^m. So
alpha_0 needs an even degree of at most 1/(pi alpha_0) + 1, and W <= sqrt(k (m + 1)) (1/2 + 2/pi) (1 + sqrt(2))^m =
sqrt(k) 2^(O(1/alpha_0)): the sqrt(k) of the exponent is not needed. For alpha_0 >= 1 the hidden layer is at most
sqrt(k) alpha_0, and w* = 0.

THE NETWORK ITSELF. The lemmas speak of N_2, that is of sigma_2 of the hidden layer, where Corollary 1 needs the hidden
layer. For k = 1 and sigma_2(z) = max(0, z - 1/2) (and at most 1), N_2 has a kink at <a, x> = 0. If polynomials p_m of
all degrees m had errors at most A q^m with q < 1, then by Markov |p'_{m+1} - p'_m| <= (m + 1)^2 A (q^m + q^(m+1)),
whose sum converges uniformly, and N_2 would have a derivative in <a, x>. So no degree O(log(1/alpha_0)) will do for
N_2. (A polynomial in x on the circle through a, averaged with its mirror image, is one in <a, x> of no higher degree.)

COMPOSED, ReLU units and an outer activation of Lipschitz constant G >= 1. The hidden layer is at most sqrt(k), so that
for alpha_0 >= G a constant, the activation at 0, is within sqrt(k) alpha_0 of N_2. For alpha_0 < G RELU has a
polynomial P of degree O(G/alpha_0) within sqrt(k) alpha_0/(2G) of the layer, so |P| <= 2 sqrt(k), and on [-2 sqrt(k),
2 sqrt(k)] Jackson's theorem has one of degree O(G/alpha_0) within sqrt(k) alpha_0/2 of the activation. Composed they
are within sqrt(k) alpha_0 of N_2, at a degree O(G^2/alpha_0^2).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled, undecided

Layer = tuple[Any, Any, Any]
"""slope and shift of the degree in log(1/alpha_0) or 1/alpha_0, and C of the norm's bound."""


def constants() -> dict[str, arb]:
    """rho, its logarithm, the sigmoid's factor in front of rho^-m, the bounds of |c|_1."""
    rho, root = 3 + arb(10).sqrt(), arb(2).sqrt()
    return {
        "rho": rho, "rate": rho.log(), "factor": 2 / ((rho - 1) * arb(3).sin()), "growth": (1 + root).log(),
        "sigmoid norm": 2 / arb(3).sin() / (1 - (1 + root) / rho), "relu norm": arb(1) / 2 + 2 / arb.pi(),
    }


@functools.cache
def kernel_steps() -> tuple[ProofStep, ...]:
    """The kernel's features and a unit's weights, on symbols and for small degrees."""
    s, a1, a2 = sympy.symbols("s a_1 a_2", real=True)
    squares = [sum(sympy.binomial(i, j) * a1 ** (2 * j) * a2 ** (2 * i - 2 * j) for j in range(i + 1))
               for i in range(6)]  # of the weights of <a, x>^i on its features sqrt(binomial) x_1^j x_2^(i - j)
    coefficients = [sum(abs(c) for c in sympy.Poly(sympy.chebyshevt(j, s), s).all_coeffs()) for j in range(12)]
    return (
        sampled("the features' weights of <a, x>^i have squared norm |a|^(2i), in the plane up to degree 5", vanishes(
            *(square - (a1**2 + a2**2) ** i for i, square in enumerate(squares)))),
        sampled("the coefficients of T_j add up to at most (1 + sqrt(2))^j, up to degree 11", all(
            bool(total <= (1 + sympy.sqrt(2)) ** j) for j, total in enumerate(coefficients))),
        argued("T_j(i) i^-j, whose coefficients are those of T_j without their signs, is at most (1 + sqrt(2))^j at 1"),
        argued("sum b_t p(<a_t, x>) is <w, psi(x)>, and |b|_1 <= sqrt(k) as |b|_2 = 1 (Cauchy-Schwarz)"),
    )


def judge_sigmoid(says: Layer, given: Domain) -> Finding:
    """Whether degree ceil(slope log(1/alpha_0) + shift) has the error alpha_0 and W <= (sqrt(k)/alpha_0)^C."""
    slope, shift, power = (Fraction(one) for one in says)
    limit = Fraction(3, 4)  # from here on w* = 0
    tried = 0
    with ctx.workprec(100):
        known = constants()
        for point in given.points("alpha", "k", at_most=60):
            alpha, k = Fraction(point["alpha"]), int(point["k"])
            tried += 1
            if alpha >= limit:
                continue
            m = int((ball(slope) * (-ball(alpha).log()) + ball(shift)).upper().ceil().unique_fmpz() or 0)
            error = known["factor"] / known["rho"] ** m
            norm = known["sigmoid norm"] * arb(k * (m + 1)).sqrt()
            if not (error <= ball(alpha) and norm <= (arb(k).sqrt() / ball(alpha)) ** ball(power)) or m < 1:
                return undecided(f"the estimates do not give it at alpha_0 = {float(alpha):g}, k = {k}", tried)
        x0 = -ball(limit).log()
        corner = ball(power) * x0 - known["sigmoid norm"].log() - (ball(slope) * x0 + ball(shift) + 2).log() / 2
        rises = ball(power) - ball(slope) / 2 / (ball(slope) * x0 + ball(shift) + 2)
        steps = (
            computed("2 rho^-m/((rho - 1) sin 3) <= alpha_0 at that degree for every alpha_0 <= 3/4, certified",
                     ball(slope) * known["rate"] >= 1 and ball(shift) * known["rate"] >= known["factor"].log()),
            computed("24 sqrt(m + 1) <= alpha_0^-C at alpha_0 = 3/4, and the right side grows faster below, certified",
                     corner >= 0 and rises > 0 and slope > 0),
            computed("sqrt(k) <= sqrt(k)^C as C >= 1", power >= 1),
            computed("1/(1 + 1/e) <= 3/4: from alpha_0 = 3/4 on w* = 0 will do",
                     1 / (1 + (-arb(1)).exp()) <= ball(limit)),
            computed("sin 3 > 0 and (1 + sqrt(2))/rho < 1, certified",
                     arb(3).sin() > 0 and known["growth"] < known["rate"] and known["sigmoid norm"] < 24),
        )
    return proof(
        *kernel_steps(), *steps,
        argued("Cauchy's estimate of the Chebyshev coefficients in the ellipse, and what is cut off is geometric"),
        tried=tried,
    )


def judge_relu(says: Layer, given: Domain) -> Finding:
    """Whether an even degree at most slope/alpha_0 + shift has the error alpha_0, and W <= 2^(C sqrt(k)^q/alpha_0)."""
    slope, shift, power = (Fraction(one) for one in says)
    j, jj = sympy.symbols("j J", positive=True, integer=True)
    t = sympy.Symbol("t", real=True)
    tried = 0
    with ctx.workprec(100):
        known = constants()
        for point in given.points("alpha", "k", at_most=60):
            alpha, k = Fraction(point["alpha"]), int(point["k"])
            tried += 1
            if alpha >= 1:
                continue
            m = 2 * int((slope / alpha + shift) // 2)  # the largest even degree allowed
            norm = known["relu norm"].log() + arb(k * (m + 1)).log() / 2 + m * known["growth"]
            fits = norm <= ball(power) * arb(k).sqrt() / ball(alpha) * arb(2).log()
            if not (1 / (arb.pi() * (m + 1)) <= ball(alpha) and fits):
                return undecided(f"the estimates do not give it at alpha_0 = {float(alpha):g}, k = {k}", tried)
        log2 = arb(2).log()
        corner = (ball(power) * log2 - (ball(slope) + ball(shift) + 1).log() / 2 - known["relu norm"].log()
                  - (ball(slope) + ball(shift)) * known["growth"])
        in_k = ball(power) * log2 - 1
        in_y = ball(power) * log2 - ball(slope) / 2 / (ball(slope) + ball(shift) + 1) - ball(slope) * known["growth"]
        steps = (
            computed("an even degree m > slope/alpha_0 + shift - 2 has m + 1 >= 1/(pi alpha_0), certified",
                     ball(slope) >= 1 / arb.pi() and shift >= 1),
            computed("log W <= C sqrt(k)/alpha_0 log 2 at k = alpha_0 = 1, and the difference rises in sqrt(k) and in "
                     "1/alpha_0, certified", corner >= 0 and in_k >= 0 and in_y >= 0),
        )
    fourier = [sympy.integrate(sympy.cos(t) * sympy.cos(2 * i * t), (t, 0, sympy.pi / 2)) * 4 / sympy.pi
               for i in range(1, 5)]
    return proof(
        *kernel_steps(), *steps,
        computed("1/(4j^2 - 1) telescopes: beyond J it sums to 1/(2 (2J + 1))",
                 vanishes(1 / (4 * j**2 - 1) - (1 / (2 * j - 1) - 1 / (2 * j + 1)) / 2)
                 and vanishes(sympy.Rational(1, 2) / (2 * jj + 1) * 2 / sympy.pi - 1 / (sympy.pi * (2 * jj + 1)))),
        sampled("(4/pi) (-1)^(j+1)/(4j^2 - 1) are the Fourier coefficients of |cos t|, j up to 4", all(
            vanishes(value - 4 / sympy.pi * (-1) ** (i + 1) / (4 * i**2 - 1)) for i, value in enumerate(fourier, 1))),
        argued("the series of |cos t| converges to it everywhere, and |relu| <= 1 on [-1, 1] gives w* = 0 from "
               "alpha_0 = 1 on"),
        tried=tried,
    )


def judge_outer(outer: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether outer(sigmoid(t)) is approximated at a geometric rate on [-1, 1]: no, if it has a kink at 0."""
    t = sympy.Symbol("t", real=True)
    u = sympy.Symbol("u", positive=True)
    middle, slope = sympy.Rational(1, 2), sympy.diff(1 / (1 + sympy.exp(-t)), t).subs(t, 0)  # of the sigmoid at 0
    right = slope * sympy.limit((outer(middle + u) - outer(middle)) / u, u, 0, "+")
    left = slope * sympy.limit((outer(middle) - outer(middle - u)) / u, u, 0, "+")
    given.values("k")
    if right != left:
        return refuted_by("the network has a kink inside, and what polynomials approximate at a geometric rate is "
                          "differentiable", {
            "k": 1, "b": 1, "sigma_2": "min(1, max(0, z - 1/2))", "slope of N_2 in <a, x> at 0-": left, "at 0+": right,
            "claimed degree": "O(log(1/alpha_0))"},
            computed("one-sided slopes at <a, x> = 0 differ", bool(right != left)),
            argued("Markov's inequality makes the derivatives of such polynomials converge uniformly"))
    return undecided("no kink at 0", 1)


def judge_count(count: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether count(d, m) is the number of products of up to m of d coordinates, in order."""
    tried = 0
    for d, m in ((1, 1), (2, 3), (3, 2), (4, 4), *((int(p["d"]), int(p["m"])) for p in given.points("d", "m", most={
            "d": 8, "m": 5}))):
        found = sum(d**i for i in range(m + 1))
        tried += 1
        if count(d, m) != found or math.comb(d + m, m) > found:
            return refuted("another number of ordered products", {
                "d": d, "m": m, "ordered products": found, "claimed": count(d, m)})
    d_, m_ = sympy.symbols("d", positive=True), sympy.Symbol("m", positive=True, integer=True)
    return proof(
        computed("the number grows by d^(m + 1) with the degree, on symbols (d > 1), and is 1 + d at degree 1",
                 vanishes(sympy.simplify(count(1 + d_, m_ + 1) - count(1 + d_, m_) - (1 + d_) ** (m_ + 1)))
                 and vanishes(sympy.simplify(count(1 + d_, 1) - 2 - d_))),
        argued("there are d^i products of i coordinates in order; for d = 1 it is m + 1; induction"),
        tried=tried,
    )


def geometric(d: Any, m: Any) -> Any:
    """1 + d + ... + d^m."""
    return (d ** (m + 1) - 1) / (d - 1) if d > 1 else m + 1


_ALPHA: tuple[Parameter, ...] = (positive("alpha", "alpha_0"), positive_integer("k"))
_ROOM = "the estimates have room"
_SIGMOID = (
    r"\mathcal{N}_2 is $(\sqrt{k}\alpha_0, (\frac{\sqrt{k}}{\alpha_0})^C)$ -uniformly approximated by kernel "
    r"\mathcal{K} with some constant $C > 0$ for any α_0"
)
RELU_QUOTE = (
    r"\mathcal{N}_2 is $(\sqrt{k}\alpha_0, 2^{C\frac{\sqrt{k}}{\alpha_0}})$ -uniformly approximated by kernel "
    r"\mathcal{K} with some constant $C > 0$ for any α_0"
)

lemma_16 = Claim(
    id="nonconvex-nn/lem-16", source="002, Lemma 16 (after Goel and Klivans 2019)", quote=_SIGMOID,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\mathcal{N}_2 \text{ is } (\sqrt k\alpha_0, (\sqrt k/\alpha_0)^C)\text{-approximated, } "
              r"m = O(\log(1/\alpha_0))",
    words="with sigmoid hidden units, N_2 (or its hidden layer?) has features of degree O(log(1/alpha_0))",
    hypotheses=_ALPHA, says=None, check=None,
    readings=("nonconvex-nn/lem-16-reading-network", "nonconvex-nn/lem-16-reading-hidden"),
    expected="AMBIGUOUS ARGUED",
)
sigmoid_network = Claim(
    id="nonconvex-nn/lem-16-reading-network", source="002, Lemma 16 with N_2 itself, outer activation included",
    quote=_SIGMOID, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\mathcal{N}_2 = \sigma_2(\sum_t b_t\sigma_1(\langle a_t, x\rangle)) \text{ at degree } "
              r"O(\log(1/\alpha_0))",
    words="N_2 with any Lipschitz outer activation is approximated by polynomials of degree O(log(1/alpha_0))",
    hypotheses=(positive_integer("k"),), says=lambda z: sympy.Max(0, z - sympy.Rational(1, 2)), check=judge_outer,
    flips=(Flip("the identity outside", lambda z: z, Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/lem-16-reading-hidden", expected="REFUTED ARGUED",
)
sigmoid_hidden = Claim(
    id="nonconvex-nn/lem-16-reading-hidden", source="002, Lemma 16 for the hidden layer, with constants of ours",
    quote=_SIGMOID, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sum_t b_t\sigma_1(\langle a_t, x\rangle) \text{ at } m = \lceil 0.55\log(1/\alpha_0) + 0.56\rceil,\ "
              r"C = 13",
    words="the hidden layer is approximated to sqrt(k) alpha_0 at degree 0.55 log(1/alpha_0) + 0.56, with C = 13; in "
          "truth W <= 24 sqrt(k (m + 1))",
    hypotheses=_ALPHA, says=(Fraction(11, 20), Fraction(14, 25), 13), check=judge_sigmoid,
    flips=(
        Flip("half the degree", (Fraction(11, 40), Fraction(14, 25), 13), Verdict.UNDECIDED),
        Flip("the power 1", (Fraction(11, 20), Fraction(14, 25), 1), Verdict.UNDECIDED),
    ),
    true_variants={"* more": "a higher degree or power is enough, too"},
    expected="HOLDS ARGUED",
)
lemma_17 = Claim(
    id="nonconvex-nn/lem-17", source="002, Lemma 17 (after Goel and Klivans 2019)", quote=RELU_QUOTE,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\mathcal{N}_2 \text{ is } (\sqrt k\alpha_0, 2^{C\sqrt k/\alpha_0})\text{-approximated, } "
              r"m = O(1/\alpha_0)",
    words="with ReLU hidden units, N_2 (or its hidden layer?) has features of degree O(1/alpha_0)",
    hypotheses=_ALPHA, says=None, check=None,
    readings=("nonconvex-nn/lem-17-reading-network", "nonconvex-nn/lem-17-reading-given",
              "nonconvex-nn/lem-17-reading-units", "nonconvex-nn/lem-17-reading-hidden"),
    expected="AMBIGUOUS CHECKED_AT_POINTS",
)
relu_hidden = Claim(
    id="nonconvex-nn/lem-17-reading-hidden", source="002, Lemma 17 for the hidden layer, with constants of ours",
    quote=RELU_QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sum_t b_t\sigma_1(\langle a_t, x\rangle) \text{ at an even } m \le 0.32/\alpha_0 + 1,\ C = 5/2",
    words="the hidden layer is approximated to sqrt(k) alpha_0 at an even degree up to 0.32/alpha_0 + 1, with C = 5/2; "
          "in truth W <= sqrt(k) 2^(O(1/alpha_0))",
    hypotheses=_ALPHA, says=(Fraction(8, 25), 1, Fraction(5, 2)), check=judge_relu,
    flips=(
        Flip("half the degree", (Fraction(4, 25), 1, Fraction(5, 2)), Verdict.UNDECIDED),
        Flip("C = 1", (Fraction(8, 25), 1, 1), Verdict.UNDECIDED),
    ),
    true_variants={"[[]0] 1 % *": _ROOM, "[[]2] 1 % *": _ROOM, "[[]2] one more": _ROOM},
    expected="HOLDS ARGUED",
)
features = Claim(
    id="nonconvex-nn/lem-16-D-m", source="002, Lemmas 16 and 17: the number of features",
    quote=r"$D_m = 1 + d + \dots + d^m$", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"D_m = 1 + d + \dots + d^m = (d^{m+1} - 1)/(d - 1)",
    words="the multinomial features of degree m are 1 + d + ... + d^m in number, counted in order",
    hypotheses=(positive_integer("d"), positive_integer("m")), says=geometric, check=judge_count,
    flips=(Flip("d^m", lambda d, m: d**m, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
