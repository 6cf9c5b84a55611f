r"""Remark 9 of document 002: what a random projection costs the surrogate loss off its minimiser.

Phi [m, d] has independent N(0, 1/m) entries, Z = <Phi w, Phi x> for |x| <= 1 and z = <w, x>. Then E Z = z, and Var Z =
(|w|^2 |x|^2 + z^2)/m <= 2 |w|^2/m. The loss of a record is g(z) with g' = link - y, so that by Taylor

    0 <= g(Z) - g(z) - g'(z)(Z - z) <= (G/2)(Z - z)^2,   hence   0 <= E g(Z) - g(z) <= (G/2) Var Z <= G |w|^2/m:

the linear term has mean 0 whether g'(z) vanishes or not, so that nothing asks for the minimiser. It is not the
smoothness *at the minimiser* that gives 1/m, but that the projected score is unbiased. Remark 9 overlooks that.

The order 1/m is attained. Let w = W e_1 and x = e_1, so that Z = W Q/m, Q chi-squared with m degrees of freedom, and
let the link be a ramp of slope G around z. Beyond h = 1/(2G) of z it is flat, and the second difference is Huber's,
H(t) = G t^2/2, or G (h |t| - h^2/2) beyond h; with u = |t|/h it is at least (G/2)(t^2 - t^4/(4 h^2)), as
u - 1/2 - u^2/2 + u^4/8 has a positive slope and is positive at u = 1. Fourth central moments of Q are 12 m^2 + 48 m, so

    E g(Z) - g(z) >= (G/2) (2 W^2/m - G^2 W^4 (12/m^2 + 48/m^3)),

which times m tends to G W^2. The label's mean is arbitrary here, so this is so on the minimiser and off it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.bounded_link.projection_loss import row_moments
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as is_positive
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided


def chi_squared_moments() -> tuple[Any, Any, Any]:
    """Mean, variance and fourth central moment of chi-squared with m degrees of freedom, from its raw moments."""
    m = sympy.Symbol("m", positive=True)
    raw = [sympy.expand(sympy.prod([m + 2 * i for i in range(order)])) for order in range(5)]
    central = sympy.expand(sum(sympy.binomial(4, j) * (-m) ** (4 - j) * raw[j] for j in range(5)))
    return raw[1], sympy.expand(raw[2] - m**2), central


@functools.cache
def unbiased_steps() -> tuple[ProofStep, ...]:
    """E Z = z and Var Z, from the Gaussian moments of one row; and the second difference of a smooth loss."""
    length, w2, w1, first, of_row = row_moments()  # in the plane of w and x, x = r e_1
    m, slope, u = sympy.symbols("m G u", positive=True)
    tangent = sympy.Symbol("s", real=True)
    a, b, t = sympy.symbols("a b t", nonnegative=True)  # |w_1|, |w_2|, and |x| = t/(1 + t)
    score = w1 * length
    variance = of_row / m
    return (
        computed("a row of Phi has E <g, w><g, x> = <w, x>, so that E Z = z", vanishes(first - score)),
        computed("Var Z = (|w|^2 |x|^2 + <w, x>^2)/m", vanishes(
            variance - ((w1**2 + w2**2) * length**2 + score**2) / m)),
        computed("a loss whose slope rises at most by G |Z - z| lies at most (G/2)(Z - z)^2 above its tangent",
                 vanishes(sympy.integrate(slope * u, (u, 0, m)) - slope * m**2 / 2)),
        computed("the tangent g(z) + s (Z - z) has mean g(z), whatever its slope s: no minimiser is needed",
                 vanishes(tangent * (first - score))),
        computed("|x| <= 1 gives Var Z <= 2 |w|^2/m", never_negative(
            sympy.expand((2 * (a**2 + b**2) / m - variance.subs({w1: a, w2: b, length: t / (1 + t)})) * (1 + t) ** 2))),
    )


@functools.cache
def attained_steps() -> tuple[ProofStep, ...]:
    """The ramp whose loss is G W^2/m (1 - O(1/m))."""
    u, m, slope, size = sympy.symbols("u m G W", positive=True)
    t = sympy.Symbol("t", nonnegative=True)
    first, variance, fourth = chi_squared_moments()
    gap = u - sympy.Rational(1, 2) - u**2 / 2 + u**4 / 8
    low = slope / 2 * (size**2 * variance / m**2 - slope**2 * size**4 * fourth / m**4)
    least = sympy.diff(gap, u).subs(u, sympy.sqrt(sympy.Rational(2, 3)))  # where the slope is least
    return (
        computed("chi-squared has mean m, variance 2m and fourth central moment 12 m^2 + 48 m",
                 vanishes(first - m, variance - 2 * m, fourth - 12 * m**2 - 48 * m)),
        computed("Huber's function is at least (G/2)(t^2 - t^4/(4 h^2)): at u = 1 + t by its slope, whose least value "
                 "is positive, and at u = 1", bool(least > 0) and gap.subs(u, 1) > 0
                 and vanishes(sympy.diff(gap, u, 2).subs(u, sympy.sqrt(sympy.Rational(2, 3))))
                 and never_negative(sympy.diff(gap, u, 2).subs(u, 1 + t))),
        computed("so m times the loss of the projection tends to at least G W^2",
                 vanishes(sympy.limit(low * m, m, sympy.oo) - slope * size**2)),
    )


def _rows() -> ProofStep:
    return argued("rows are independent, and Gaussian ones have one law in every plane, so that of w and x is enough; "
                  "the tangent's bound is that of every rising G-Lipschitz link, and means keep inequalities")


def judge_exponent(says: Any, given: Domain) -> Finding:
    """Whether the largest loss of the projection, over all problems with constants W and G, is of order m^says.

    Above it is G W^2/m for every problem, below G W^2/m (1 - O(1/m)) for a ramp.
    """
    exponent = Fraction(says)
    if exponent != -1:
        slope, size, width = Fraction(1, 4), Fraction(1), 10**6
        upper = slope * size**2 / width
        lower = slope / 2 * (2 * size**2 / width - slope**2 * size**4 * Fraction(12 * width + 48, width**3))
        faster = exponent < -1
        return refuted_by(
            "no problem loses as much" if not faster else "a ramp loses more",
            {"claimed exponent": exponent, "exponent": -1, "G": slope, "W": size, "m": width,
             "loss at most, whatever the problem": upper, "loss of the ramp at least": lower,
             "ratio of the bound to the claimed order": "tends to " + ("0" if not faster else "infinity")},
            *(attained_steps() if faster else (*unbiased_steps(), _rows())),
            computed("the quotient of 1/m and the claimed order has that limit",
                     sympy.limit(sympy.Symbol("m", positive=True) ** (-1 - sympy.Rational(str(exponent))),
                                 sympy.Symbol("m", positive=True), sympy.oo)
                     == (sympy.oo if faster else 0)),
        )
    tried = len(list(given.points("G", "W", "m")))
    slope_, size_, m_ = given.symbol("G"), given.symbol("W"), given.symbol("m")
    claimed = slope_ * size_**2 * m_ ** sympy.Rational(str(exponent))
    return proof(
        *unbiased_steps(),
        computed("(G/2) Var Z <= (G/2) 2 W^2/m is G W^2/m", never_negative(claimed - slope_ / 2 * 2 * size_**2 / m_)
                 and is_positive(slope_ / m_)),
        *attained_steps(), _rows(), tried=tried,
    )


def judge_lipschitz_step(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether E|Z - z| <= says(W, log, m) for the Gaussian projection; the log is log(n/delta) >= 1."""
    tried = 0
    for point in given.points("W", "log", "m", at_most=120):
        size, log, m = Fraction(point["W"]), Fraction(point["log"]), int(point["m"])
        tried += 1
        # E|t| >= (E t^2)^(3/2)/(E t^4)^(1/2), by Hoelder: here with the chi-squared moments, squared
        least = size**2 * Fraction((2 * m) ** 3, (12 * m**2 + 48 * m) * m**2)
        claimed = sympy.sympify(says(size, log, m))
        if claimed < 0 or claimed**2 < sympy.Rational(least.numerator, least.denominator):
            return refuted("E|Z - z| is more, by Hoelder's inequality", {
                "W": size, "log(n/delta)": log, "m": m, "square of E|Z - z| at least": least,
                "claimed": claimed})
    size_, log_, m_ = given.symbol("W"), given.chart("log"), given.symbol("m")
    return proof(
        *unbiased_steps(),
        computed("(E|Z - z|)^2 <= Var Z <= 2 W^2/m is at most the square of what is claimed",
                 never_negative(says(size_, log_, m_) ** 2 - 2 * size_**2 / m_, says(size_, log_, m_))),
        argued("the Lipschitz constant, 1, multiplies it (Jensen and Cauchy-Schwarz)"),
        tried=tried,
    )


def judge_compared(says: tuple[int, Any], given: Domain) -> Finding:
    """Whether the theorem of that number has a rate of that exponent in n epsilon that Theorem 8's is lower than."""
    half, private = Fraction(-1, 2), Fraction(-2, 3)
    printed = {1: (half, Fraction(-1)), 2: (half, private), 8: (half, half)}  # exponents of n and n epsilon, as printed
    number, exponent = says
    if number not in printed:
        return undecided(f"Theorem {number} prints no such rate", 1)
    if exponent not in printed[number]:
        return refuted("that theorem prints other exponents", {
            "theorem": number, "claimed exponent": exponent, "its exponents": ", ".join(map(str, printed[number])),
            "theorem with the claimed exponent": 2, "its own": ", ".join(map(str, printed[2]))})
    if exponent >= printed[8][1]:
        return refuted("Theorem 8 is not slower than that", {
            "theorem": number, "claimed exponent": exponent, "its exponents": ", ".join(map(str, printed[8])),
            "theorem with the claimed exponent": number, "its own": ", ".join(map(str, printed[number]))})
    return proof(computed("it stands in that theorem, and is below Theorem 8's -1/2", exponent < printed[8][1]))


def judge_minimiser(says: Callable[[Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether w* is the surrogate's minimiser: says(w*, r, phi) is where the surrogate of one feature r is least.

    One record psi = r, a ramp, and E y = link(w* r + phi): the surrogate's slope link(w r) - E y vanishes there.
    """
    tried = 0
    for point in given.points("target", "length", "error", at_most=150):
        target, length, error = (Fraction(point[name]) for name in ("target", "length", "error"))
        slope = Fraction(1, 4) / (abs(target) * length + abs(error) + 1)  # all scores within the ramp
        tried += 1
        at = says(target, length, error, slope)
        rest = slope * (at * length - target * length - error)
        if rest != 0:
            return refuted("the surrogate's slope does not vanish there", {
                "w*": target, "psi": length, "phi": error, "G": slope, "claimed minimiser": at,
                "slope of the surrogate over psi": rest})
    t_, r_, e_ = given.symbol("target"), given.symbol("length"), given.symbol("error")
    g_ = sympy.Symbol("G", positive=True)
    found = says(t_, r_, e_, g_)
    return proof(
        computed("link(w r) = link(w* r + phi) there, on symbols", vanishes(found * r_ - t_ * r_ - e_)),
        computed("so its distance from w* is |phi|/r, which has no bound as r falls to 0",
                 vanishes((found - t_) * r_ - e_) and sympy.limit((found - t_).subs(e_, 1), r_, 0, "+") == sympy.oo),
        tried=tried,
    )


_ONLY = (
    r"Therefore, we cannot rely on this property and the smooth Lipschitz condition to demonstrate that the error "
    r"caused by projecting onto a lower space is $\tilde{O}(\frac{1}{m})$. Instead, we can only use the Lipschitz "
    r"condition to obtain an error of $\tilde{O}(\frac{1}{\sqrt{m}})$."
)
_SCALES = (positive("W"), positive("log", "log(n/delta)").at_least(1), positive_integer("m"))
_ONE = (positive("target", "w*"), positive("length", "psi"), positive("error", "phi"))

remark = Claim(
    id="nonconvex-nn/rem-9", source="002, Remark 9: 'only', read of the loss of the projection off the minimiser",
    quote=_ONLY, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sup\,\mathbb{E}\ell(\Phi w^*) - \ell(w^*) \text{ is of order } m^{-1/2} \text{ off the minimiser}",
    words="off the surrogate's minimiser the projection costs no less than the order 1/sqrt(m)",
    hypotheses=(positive("G"), positive("W"), positive_integer("m")), says=Fraction(-1, 2), check=judge_exponent,
    uses=("nonconvex-nn/thm-2-jl-term",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\sup\,\mathbb{E}\ell(\Phi w^*) - \ell(w^*) \le \frac{G W^2}{m}, \text{ and of that order}",
        words="the projection costs at most G W^2/m wherever w* is, and that order is attained",
        says=Fraction(-1), expected="HOLDS ARGUED", source="002, Remark 9 with E <Phi w, Phi x> = <w, x>",
        flips=(Flip("the order 1/m^2", Fraction(-2), Verdict.REFUTED),),
        true_variants={"any W": "only W^2 enters"},
    ),
)
lipschitz_step = Claim(
    id="nonconvex-nn/thm-8-proof-lipschitz", source="002, proof of Theorem 8, the display by the Lipschitz condition",
    quote=r"= O(W \frac{\log n/\delta}{\sqrt{m}}).", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\mathbb{E}|\langle\Phi w^*,\Phi x\rangle - \langle w^*,x\rangle| \le \sqrt2\,W\log(n/\delta)/\sqrt m",
    words="the mean error of a projected score is of order W log(n/delta)/sqrt(m); the logarithm is not needed",
    hypotheses=_SCALES, says=lambda w, log, m: sympy.sqrt(2) * w * log / sympy.sqrt(m), check=judge_lipschitz_step,
    flips=(
        Flip("W/(2 sqrt(m))", lambda w, log, m: w / (2 * sympy.sqrt(m)), Verdict.REFUTED),
        Flip("without the logarithm", lambda w, log, m: sympy.sqrt(2) * w / sympy.sqrt(m), Verdict.HOLDS),
    ),
    true_variants={"1 % more": "a larger bound is a bound, too", "2 -> 3 *": "a larger bound is a bound, too",
                   "[*] -> + (operator 2)": "a larger bound is a bound, too: log(n/delta) is added"},
    expected="HOLDS ARGUED",
)
compared = Claim(
    id="nonconvex-nn/rem-9-theorem-1", source="002, Remark 9: which theorem has the rate n^(-2/3)",
    quote=r"the rate of sample size n in Theorem 8 is lower than that in Theorem 1 ($n^{-\frac{1}{2}}$ v.s. "
          r"$n^{-\frac{2}{3}}$)",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"\text{Theorem 1 has the rate } n^{-2/3}",
    words="the rate n^(-2/3) that Theorem 8 falls behind is that of Theorem 1",
    uses=("nonconvex-nn/thm-2-utility",),
    hypotheses=(), says=(1, Fraction(-2, 3)), check=judge_compared, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{Theorem 2 has the rate } (n\epsilon)^{-2/3}", words="the rate n^(-2/3) is that of Theorem 2",
        says=(2, Fraction(-2, 3)), expected="HOLDS PROVED", source="002, Remark 9 with Theorem 2",
    ),
)
minimiser = Claim(
    id="nonconvex-nn/rem-9-minimiser", source="002, Remark 9: w* is the surrogate's minimiser where M = 0 only",
    quote=r"w^* is also a global minimizer of $L_{\mathcal{P}}^{\ell}(w)$, which is not the case in model (4).",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"w_\ell^* = w^* + \phi/\lVert\psi\rVert, \text{ of norm without a bound}",
    words="with a model error w* is no minimiser of the surrogate, and the minimiser's norm has no bound by W and M",
    hypotheses=_ONE, says=lambda target, length, error, slope: target + error / length, check=judge_minimiser,
    flips=(Flip("w* itself", lambda target, length, error, slope: target, Verdict.REFUTED),),
    true_variants={"any *": "the equation is linear, and has the same solution for all signs"}, expected="HOLDS PROVED",
)
