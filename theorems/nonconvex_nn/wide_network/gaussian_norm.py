r"""Lemma 24 of document 002, the norm of a Gaussian vector, and the length of the noise in Lemma 25.

Lemma 24. Let Q = |X - mu|^2/sigma^2, which has the chi-squared law of n degrees. Markov with E e^{uQ} = (1 - 2u)^{-n/2}
gives P(Q >= n z) <= (z e^{1 - z})^{n/2} for z >= 1. For t^2 = z n sigma^2 the bound 2 e^{-t^2/(2 n sigma^2)} is 2
e^{-z/2}. It is at least 1 for z <= 2 log 2. For n >= 2 and z >= 1 the base is at most 1, so the power n/2 >= 1 only
helps, and z e^{1 - z} <= 2 e^{-z/2} since z e^{1 - z/2} is largest at z = 2, where it is 2. For n = 1, P(|Y| >= a) <=
e^{-a^2/2}: the tail has the value 1 at 0, and e^{-a^2/2} - P(|Y| >= a) has the derivative (sqrt(2/pi) - a) e^{-a^2/2}:
it rises from 0 and then falls to 0. So 1 - 2 e^{-t^2/(2 n sigma^2)} is right, and t for t^2 is not.

The noise has one entry for each of the p = m d + (L - 2) m^2 + m weights, so E|G|^2 = sigma^2 p. With y = sqrt(2s/p)
and z = (1 + y)^2 the same bound is e^{-(p/2)(z - 1 - log z)}, and z - 1 - log z = y^2 + 2 (y - log(1 + y)) >= y^2: so
|G| <= sigma (sqrt(p) + sqrt(2s)) but for e^{-s}. From the other side P(Q <= p/2) <= (e^{1/2}/2)^{p/2}: with three
layers |G| is as long as sigma m, which no sqrt(m) times a power of log(m) bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Formula = Callable[..., Any]


def chi_square_tail(degrees: int, size: arb) -> arb:
    """P(Q > size) for the chi-squared law: the upper incomplete gamma function."""
    return (size / 2).gamma_upper(arb(degrees) / 2, regularized=1)


def judge_norm(says: tuple[Formula, bool], given: Domain) -> Finding:
    """Whether P(|X - mu| <= t) is at least (or, if the second says so, at most) 1 - 2 exp(-rate(t, n, sigma))."""
    rate, at_most = says
    tried = 0
    for point in led(given, at_most=160, t="1", dimension=1, sigma="1"):
        t, n, sigma = point["t"], point["dimension"], point["sigma"]
        with ctx.workprec(120):
            inside = 1 - chi_square_tail(n, ball((t / sigma) ** 2))
            claimed = 1 - 2 * (-ball(rate(t, n, sigma))).exp()
            tried += 1
            if (at_most and inside > claimed) or (not at_most and inside < claimed):
                return refuted("the probability of the chi-squared law is on the other side, certified", {
                    "t": t, "n": n, "sigma": sigma, "P(|X - mu| <= t)": Enclosure.of_ball(inside),
                    "1 - 2 exp(...)": Enclosure.of_ball(claimed)})
    if at_most:
        return undecided("no point tried is against it", tried)
    t_, n_, s_ = (given.symbol(name) for name in ("t", "dimension", "sigma"))
    z, a = sympy.symbols("z a", positive=True)
    peak = z * sympy.exp(1 - z / 2)
    return proof(
        computed("the exponent is at most t^2/(2 n sigma^2), on symbols",
                 never_negative(t_**2 / (2 * n_ * s_**2) - rate(t_, n_, s_))),
        computed("z e^{1 - z/2} has the derivative (1 - z/2) e^{1 - z/2} and the value 2 at z = 2",
                 vanishes(sympy.diff(peak, z) - (1 - z / 2) * sympy.exp(1 - z / 2), peak.subs(z, 2) - 2)),
        computed("e^{-a^2/2} - P(|Y| >= a) has the derivative (sqrt(2/pi) - a) e^{-a^2/2} and is 0 at 0",
                 vanishes(sympy.diff(sympy.exp(-a**2 / 2) - sympy.erfc(a / sympy.sqrt(2)), a)
                          - (sympy.sqrt(2 / sympy.pi) - a) * sympy.exp(-a**2 / 2), 1 - sympy.erfc(0))),
        argued("Markov's inequality for n >= 2, and that tail for n = 1, as in the module's docstring"),
        tried=tried,
    )


def judge_product(bound: Formula, given: Domain) -> Finding:
    """Whether E[e^{s|Y|}]^n <= bound(n) e^{s^2 n/2}; E e^{s|Y|} = 2 e^{s^2/2} Phi(s)."""
    tried = 0
    for point in given.points("dimension", "s", most={"dimension": 50, "s": 10}):
        n, s = point["dimension"], point["s"]
        with ctx.workprec(100):
            factor = 1 + (ball(s) / arb(2).sqrt()).erf()  # 2 Phi(s)
            tried += 1
            if factor**n > ball(Fraction(bound(n))):
                return refuted("the product of n moments is larger, certified", {
                    "n": n, "s": s, "E[e^{s|Y|}]^n e^{-s^2 n/2}": Enclosure.of_ball(factor**n), "claimed": bound(n)})
    n_, s_, y = given.symbol("dimension"), given.symbol("s"), sympy.Symbol("y", nonnegative=True)
    moment = 2 * sympy.integrate(sympy.exp(s_ * y - y**2 / 2), (y, 0, sympy.oo)) / sympy.sqrt(2 * sympy.pi)
    return proof(
        computed("E e^{s|Y|} = e^{s^2/2} (1 + erf(s/sqrt 2)), the integral",
                 vanishes(sympy.expand_func(moment.rewrite(sympy.erf))
                          - sympy.exp(s_**2 / 2) * (1 + sympy.erf(s_ / sympy.sqrt(2))))),
        computed("1 + erf <= 2, so that 2^n is the factor", never_negative(sympy.simplify(bound(n_) / 2**n_) - 1)),
        tried=tried,
    )


def judge_least(says: Formula, given: Domain) -> Finding:
    """Whether says(t, n, sigma) is the least value over s of s^2 n sigma/2 - s t."""
    tried = 0
    for point in led(given, at_most=100, t="1", dimension=1, sigma="1"):
        t, n, sigma = point["t"], point["dimension"], point["sigma"]
        s = t / (n * sigma)
        tried += 1
        if says(t, n, sigma) != s**2 * n * sigma / 2 - s * t:
            return refuted("not the least value", {"t": t, "n": n, "sigma": sigma, "s": s,
                                                   "value at s": s**2 * n * sigma / 2 - s * t,
                                                   "claimed": says(t, n, sigma)})
    t_, n_, sigma_ = (given.symbol(name) for name in ("t", "dimension", "sigma"))
    s_ = sympy.Symbol("s", positive=True)
    square = n_ * sigma_ / 2 * (s_ - t_ / (n_ * sigma_)) ** 2
    return proof(computed("completing the square in s", vanishes(
        s_**2 * n_ * sigma_ / 2 - s_ * t_ - says(t_, n_, sigma_) - square)), tried=tried)


def weights(width: Any, depth: Any, inputs: Any) -> Any:
    """How many entries the noise has."""
    return width * inputs + (depth - 2) * width**2 + width


def judge_length(says: tuple[Formula, bool], given: Domain) -> Finding:
    """Whether (|G|/sigma)^2 = O~(length(m, L, d)); or (second) |G|/sigma <= sqrt(length) + sqrt(2s) but for e^-s."""
    length, explicit = says
    m = sympy.Symbol("m", positive=True)
    tried = 0
    for point in given.points("depth", "inputs", most={"depth": 50, "inputs": 50}):
        depth, inputs = point["depth"], point["inputs"]
        growth = sympy.limit(weights(m, depth, inputs) / length(m, depth, inputs), m, sympy.oo)
        tried += 1
        if growth == sympy.oo or (explicit and growth > 1):
            power = sympy.limit(weights(m, depth, inputs) / length(m, depth, inputs) / m, m, sympy.oo)
            return refuted_by("the weights outgrow the claimed length squared by a power of the width", {
                "L": depth, "d": inputs, "E|G|^2/sigma^2": weights(m, depth, inputs),
                "claimed squared, but for logarithms": length(m, depth, inputs),
                    "their ratio over m, in the limit": power},
                computed("the ratio grows like m, beyond every power of log(m)", bool(power > 0)),
                computed("e^{1/2} < 4/2: P(|G|^2 <= sigma^2 p/2) <= (e^{1/2}/2)^{p/2} goes to 0", sympy.E < 4),
                argued("the tail bound of the chi-squared law"),
                study_step("noise-energy-printed", "SLOWER"))
        for width in (1, 2, 7) if explicit else ():
            if length(width, depth, inputs) < weights(width, depth, inputs):
                return refuted("fewer than there are weights: E|G|^2 is larger", {
                    "m": width, "L": depth, "d": inputs, "E|G|^2/sigma^2": weights(width, depth, inputs),
                    "claimed": length(width, depth, inputs)})
    y = sympy.Symbol("y", positive=True)
    return proof(
        computed("the claimed number is that of the weights", vanishes(
            length(m, given.symbol("depth"), given.symbol("inputs"))
            - weights(m, given.symbol("depth"), given.symbol("inputs")))),
        computed("z - 1 - log z - y^2 at z = (1 + y)^2 is 2 (y - log(1 + y)), which rises from 0", vanishes(
            (1 + y) ** 2 - 1 - y**2 - 2 * y, sympy.diff(y - sympy.log(1 + y), y) - y / (1 + y))),
        argued("Markov's inequality: P(Q >= p z) <= e^{-(p/2)(z - 1 - log z)} <= e^{-p y^2/2}"),
        study_step("noise-energy"),
        tried=tried,
    )


def judge_norms(says: Formula, given: Domain) -> Finding:
    """Whether |y|_2^2 <= says(|y|_1) for vectors of two entries, and so of any number."""
    tried = 0
    for point in given.points("first", "second"):
        a, b = point["first"], point["second"]
        tried += 1
        if a**2 + b**2 > says(abs(a) + abs(b)):
            return refuted("the Euclidean norm is larger", {"y": f"{a}, {b}", "claimed": says(abs(a) + abs(b))})
    a_, b_ = sympy.symbols("a b", nonnegative=True)
    return proof(
        computed("a^2 + b^2 <= (a + b)^2 for a, b >= 0, on symbols", never_negative(says(a_ + b_) - a_**2 - b_**2)),
        argued("entry by entry for longer vectors"), tried=tried)


_VECTOR = (positive("t"), positive_integer("dimension", "n"), positive("sigma"))
_QUOTE = r"For any $t > 0$, with probability at most $1 - 2 \exp(-\frac{t}{2n\sigma^2})$"
norm = Claim(
    id="nonconvex-nn/lem-24", source="002, Lemma 24, as printed: with probability at most", quote=_QUOTE,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"P(\|X - \mu\| \le t) \le 1 - 2\exp(-t/(2n\sigma^2))",
    words="a Gaussian vector is within t of its mean with probability at most 1 - 2 exp(-t/(2 n sigma^2))",
    hypotheses=_VECTOR, says=(lambda t, n, sigma: t / (2 * n * sigma**2), True), check=judge_norm,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"P(\|X - \mu\| \le t) \ge 1 - 2\exp(-t^2/(2n\sigma^2))",
        words="a Gaussian vector is within t of its mean with probability at least 1 - 2 exp(-t^2/(2 n sigma^2))",
        says=(lambda t, n, sigma: t**2 / (2 * n * sigma**2), False), expected="HOLDS ARGUED",
        flips=(Flip("without n", (lambda t, n, sigma: t**2 / (2 * sigma**2), False), Verdict.REFUTED),
               Flip("half the exponent", (lambda t, n, sigma: t**2 / (4 * n * sigma**2), False), Verdict.HOLDS)),
        true_variants={"*1 % less": "a weaker bound", "*any t": "only its square enters",
                       "*sign": "a bound above 1 is no bound, and true"},
    ),
)
at_least = Claim(
    id="nonconvex-nn/lem-24-reading-at-least", source="002, Lemma 24 with 'at least' for 'at most'", quote=_QUOTE,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"P(\|X - \mu\| \le t) \ge 1 - 2\exp(-t/(2n\sigma^2))",
    words="a Gaussian vector is within t of its mean with probability at least 1 - 2 exp(-t/(2 n sigma^2))",
    hypotheses=_VECTOR, says=(lambda t, n, sigma: t / (2 * n * sigma**2), False), check=judge_norm,
    flips=(Flip("t^2 for t", (lambda t, n, sigma: t**2 / (2 * n * sigma**2), False), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-24-repaired", expected="REFUTED PROVED",
)
of_proof = Claim(
    id="nonconvex-nn/lem-24-reading-proof", source="002, proof of Lemma 24, last line, the sign mended: sigma for "
                                                   "sigma^2",
    quote=r"&\leq 2 \exp\left(\frac{t^2}{2n\sigma}\right)", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"P(\|X - \mu\| > t) \le 2\exp(-t^2/(2n\sigma))",
    words="a Gaussian vector is farther than t from its mean with probability at most 2 exp(-t^2/(2 n sigma))",
    hypotheses=_VECTOR, says=(lambda t, n, sigma: t**2 / (2 * n * sigma), False), check=judge_norm,
    flips=(Flip("sigma^2 for sigma", (lambda t, n, sigma: t**2 / (2 * n * sigma**2), False), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-24-repaired", expected="REFUTED PROVED",
)
product = Claim(
    id="nonconvex-nn/lem-24-product", source="002, proof of Lemma 24: the product of n moments has one factor 2",
    quote=r"&\leq 2 \exp(s^2 n \sigma / 2 - st)", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"(E e^{s|Y|})^n \le 2 e^{s^2 n/2}", words="n moments of |Y| multiply to at most 2 e^{s^2 n/2} (sigma = "
                                                         "1)",
    hypotheses=(positive_integer("dimension", "n"), positive("s")), says=lambda n: 2 * n**0, check=judge_product,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"(E e^{s|Y|})^n \le 2^n e^{s^2 n/2}", words="n moments of |Y| multiply to at most 2^n e^{s^2 n/2}",
        says=lambda n: 2**n, expected="HOLDS PROVED", flips=(Flip("3/2", lambda n: Fraction(3, 2) ** n,
            Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound", "squared": "a larger bound",
                       "any s": "for s < 0 the factor is below 1"},
    ),
)
least = Claim(
    id="nonconvex-nn/lem-24-sign", source="002, proof of Lemma 24: the least value of s^2 n sigma/2 - s t",
    quote=r"&\leq \min_s 2 \exp(s^2 n \sigma / 2 - st) \\ &\leq 2 \exp\left(\frac{t^2}{2n\sigma}\right)",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"\min_s (s^2 n\sigma/2 - st) = t^2/(2n\sigma)",
    words="the least exponent of the proof of Lemma 24 is + t^2/(2 n sigma)",
    hypotheses=_VECTOR, says=lambda t, n, sigma: t**2 / (2 * n * sigma), check=judge_least, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\min_s (s^2 n\sigma/2 - st) = -t^2/(2n\sigma)",
        words="the least exponent of the proof of Lemma 24 is - t^2/(2 n sigma)",
        says=lambda t, n, sigma: -(t**2) / (2 * n * sigma), expected="HOLDS PROVED",
        true_variants={"any *": "an identity"},
    ),
)
length = Claim(
    id="nonconvex-nn/lem-25-noise-norm", source="002, proof of Lemma 25: the norm of the noise on all weights",
    quote=r"$\|\mathbf{G}_t\|_F \leq \tilde{O}(\frac{M(\sqrt{Lm} + \sqrt{md})C\sqrt{T \log 1/\delta \log "
          r"2T/\gamma}}{n|B_t|\epsilon})$ holds",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\|G_t\|_F = \tilde O(\sigma(\sqrt{Lm} + \sqrt{md}))",
    words="the noise on all weights is sigma (sqrt(L m) + sqrt(m d)) long, but for logarithms",
    hypotheses=(positive_integer("depth", "L").at_least(2), positive_integer("inputs", "d")),
    says=(lambda m, depth, inputs: (sympy.sqrt(depth * m) + sympy.sqrt(m * inputs)) ** 2, False), check=judge_length,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"P(\|G_t\|_F > \sigma(\sqrt p + \sqrt{2s})) \le e^{-s},\ p = md + (L-2)m^2 + m",
        words="the noise is at most sigma (sqrt(p) + sqrt(2s)) long but for e^-s, p = m d + (L - 2) m^2 + m: sqrt(L) m",
        says=(lambda m, depth, inputs: m * inputs + (depth - 2) * m**2 + m, True), expected="HOLDS ARGUED",
        flips=(Flip("L - 1 hidden squares", (lambda m, depth, inputs: m * inputs + (depth - 1) * m**2 + m, True),
                    Verdict.UNDECIDED),),
        true_variants={"any *": "a count of weights, as a polynomial, for all numbers",
                       "*True -> False": "it is a length but for logarithms, too"},
    ),
)
norms = Claim(
    id="nonconvex-nn/lem-24-norms", source="002, proof of Lemma 24, first line: the Euclidean norm is at most the sum",
    quote=r"P(\|\sigma \mathbf{Y}\|_F > t) &\leq P(\|\sigma \mathbf{Y}\|_1 > t)", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"\|y\|_2 \le \|y\|_1", words="a vector's Euclidean norm is at most the sum of "
                                                                  "its sizes",
    hypotheses=(real("first"), real("second")), says=lambda total: total**2, check=judge_norms,
    flips=(Flip("half of it", lambda total: total**2 / 2, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound"}, expected="HOLDS ARGUED",
)
needed = Claim(
    id="nonconvex-nn/lem-25-n", source="002, Lemma 25: the n at which the noise is at most R long",
    quote=r"which indicate $\sum_{t=1}^T \|\mathbf{G}_t\|_F \leq TR$ if $n \geq \tilde{\Omega}(\frac{C(\sqrt{Lm} + "
          r"\sqrt{md})\sqrt{T \log(2/\gamma) \log(1/\delta)}}{R\epsilon})$",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"n \ge \frac{C(\sqrt{Lm} + \sqrt{md})\sqrt{T}}{R\epsilon} \Rightarrow \|G_t\|_F \le R",
    words="n >= C (sqrt(L m) + sqrt(m d)) sqrt(T)/(R epsilon), but for logarithms, keeps the noise below R: the same "
          "length",
    hypotheses=length.hypotheses, says=length.says, check=judge_length, uses=("nonconvex-nn/lem-25-noise-norm",),
    flips=(Flip("the root of the number of weights", (weights, True), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-25-noise-norm-repaired", expected="REFUTED ARGUED",
)
