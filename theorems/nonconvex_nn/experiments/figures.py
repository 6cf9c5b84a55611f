r"""What Section 6.1 of document 002 says of its figures and of their parameters, as far as it can be computed.

Theorem 13's hypotheses with their hidden factors read as 1: m >= T^7 C^(-8) and n >= C (sqrt(L m) + sqrt(m d))
sqrt(T)/(R epsilon), C <= min(S L sqrt(m), R). For Figure 5 m = n^(1/4)/2 (or n^14/2, as printed) and T = 50 n^(2/5):
m/(T^7 C^(-8)) is of the order of n^(1/4 - 14/5), or n/(sqrt(m T)) of n^(1 - 7 - 1/5): one of the two hypotheses fails
for all large n, whatever the hidden factors. m = n^(4/5) and T = n^(1/10) meet both, and let the first and the last
term fall.

The approximation error need not fall with n: at x = 0 a network without biases is 0, and so are all its derivatives, so
that the error is l(0, y) for every width.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.conditions import free_of_clip, judge_without_clip, least_records
from theorems.nonconvex_nn.theorem_13.formulas import exactly, same
from theorems.nonconvex_nn.theorem_13.proof_algebra import step_size
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

Formula = Callable[..., Any]
Pair = tuple[Formula, Formula]
_CLIP, _LAYERS, _INPUTS = 20, 3, 784
_N = sympy.Symbol("n", positive=True)


def judge_shown(term: Formula, given: Domain) -> Finding:
    """Whether a term of the bound, of R, m and T, changes with R at given m and T, as a curve of Figure 1 does."""
    radius, m, steps = (given.symbol(name) for name in ("R", "m", "T"))
    for point in given.points("R", "m", "T", at_most=12):
        values = [exactly(point[name]) for name in ("R", "m", "T")]
        ends = [sympy.simplify(term(share * sympy.sqrt(values[1]), *values[1:])) for share in
                (sympy.Rational(1, 10), sympy.Rational(19, 10))]
        if ends[0] == ends[1]:
            return refuted("it is the same at both ends of the axis", {
                "m": values[1], "T": values[2], "R/sqrt(m)": "1/10 and 19/10",
                "at the ends": f"{ends[0]} and {ends[1]}"})
    return proof(computed("its derivative in R is not 0, on symbols",
                          bool(sympy.simplify(sympy.diff(term(radius, m, steps), radius)) != 0)))


def judge_nested(radius: Formula, given: Domain) -> Finding:
    """Whether the balls of radius(R, m) grow with R, so that an infimum over them cannot rise."""
    for point in given.points("R", "m", at_most=20):
        r, m = exactly(point["R"]), exactly(point["m"])
        if not sympy.N(radius(2 * r, m) - radius(r, m)) > 0:
            return refuted("the ball does not grow", {
                "R": r, "m": m, "radius": radius(r, m), "at 2 R": radius(2 * r, m)})
    slope = sympy.diff(radius(given.symbol("R"), given.symbol("m")), given.symbol("R"))
    return proof(
        computed("the radius has a positive derivative in R, on symbols", sympy.simplify(slope).is_positive),
        argued("an infimum over a larger set is not larger"),
    )


def judge_convex(loss: Formula, given: Domain) -> Finding:
    """Whether loss(f) is convex in f, and with it in the weights, of which f_ntk is an affine function."""
    f = sympy.Symbol("f", real=True)
    bend = sympy.simplify(sympy.diff(loss(f), f, 2))
    for at in (-2, 0, 2):
        if bend.subs(f, at) < 0:
            return refuted("the second derivative is negative", {"f": at, "second derivative": bend.subs(f, at)})
    return proof(
        computed("its second derivative is not negative, on symbols", bend.is_nonnegative),
        argued("f_ntk is affine in the weights, a ball is convex, and a mean of convex functions is convex"),
    )


def judge_kappa(least: Fraction, given: Domain) -> Finding:
    """Whether omega = 0.1 <= kappa L^-6 log(m)^(-3/2) needs kappa >= least at all three widths, L = 3."""
    with ctx.workprec(100):
        needed = {m: arb(m).log() ** arb("1.5") * 729 / 10 for m in (200, 500, 2000)}
    for m, kappa in needed.items():
        if not kappa > arb(least.numerator) / least.denominator:
            return refuted("less is enough", {"m": m, "kappa": kappa.str(8, radius=False), "claimed": least})
    return instance("by balls", {f"m = {m}": kappa.str(8, radius=False) for m, kappa in needed.items()})


def judge_clip(clip: Fraction, given: Domain) -> Finding:
    """Whether a clipping norm is at most S L sqrt(m) for S = 1, L = 3 and m = 256."""
    most = _LAYERS * math.isqrt(256)
    if clip > most:
        return refuted("more than S L sqrt(m)", {"C": clip, "S": 1, "L": _LAYERS, "m": 256, "S L sqrt(m)": most})
    return instance(f"at most {most}") if clip == most else undecided("smaller than the largest that is allowed", 1)


def judge_width(width: Fraction, given: Domain) -> Finding:
    """Whether T^7 C^-8 is that number for 200 steps, one an epoch, and C = 20."""
    true = Fraction(200**7, _CLIP**8)
    if width != true:
        return refuted("another number", {"T": 200, "C": _CLIP, "T^7 C^-8": true, "claimed": width})
    return instance("200^7/20^8, exactly")


def judge_steps(steps: int, given: Domain) -> Finding:
    """Whether that is the largest T with T^7 C^-8 <= 256, C = 20."""
    if not steps**7 <= 256 * _CLIP**8 < (steps + 1) ** 7:
        return refuted("not the largest", {"T": steps, "m": 256, "C": _CLIP})
    return instance("67^7 <= 256 20^8 < 68^7, exactly")


def judge_parameters(chosen: Pair, given: Domain) -> Finding:
    """Whether m(n) and T(n) meet the hypotheses on m and n for all large n, C = 20, for some hidden factors."""
    width, steps = (formula(_N) for formula in chosen)
    wide = sympy.limit(width / (steps**7 / sympy.Integer(_CLIP) ** 8), _N, sympy.oo)
    many = sympy.limit(_N / least_records(_CLIP, _LAYERS, width, _INPUTS, steps, 1, 1), _N, sympy.oo)
    n = given.values("n")[0]
    at = {name: sympy.N(formula.subs(_N, n), 8) for name, formula in (
        ("m", width), ("T", steps), ("T^7 C^-8", steps**7 / sympy.Integer(_CLIP) ** 8),
        ("n asked for, R = 1", least_records(_CLIP, _LAYERS, width, _INPUTS, steps, 1, 1)))}
    if wide == 0:
        return refuted_by("m is ever further below T^7 C^-8", {"n": n, **at, "fails": "m >= T^7 C^-8"},
                          computed("the quotient tends to 0", wide == 0))
    if many == 0:
        return refuted_by("n is ever further below what is asked for", {"n": n, **at, "fails": "n"},
                          computed("the quotient tends to 0", many == 0))
    return proof(
        computed("m/(T^7 C^-8) grows without bound", wide == sympy.oo),
        computed("n over what is asked for grows without bound: logarithms do not matter", many == sympy.oo),
    )


def judge_falling(chosen: Pair, given: Domain) -> Finding:
    """Whether T^(-1/2) and both parts of the privacy error fall from n = 3 on, delta = 1/n^2."""
    width, steps = (formula(_N) for formula in chosen)
    noise = sympy.sqrt(steps) * 2 * sympy.log(_N) / _N**2
    terms = {"1/sqrt(T)": 1 / sympy.sqrt(steps), "L m^2 ...": width**2 * noise, "d m ...": width * noise}
    more = given.chart("n")
    for name, term in terms.items():
        for n in given.values("n"):
            if not sympy.N((term.subs(_N, 2 * n) - term.subs(_N, n)), 20) < 0:
                return refuted("it rises", {"term": name, "n": n, "at n": sympy.N(term.subs(_N, n), 8),
                                            "at 2 n": sympy.N(term.subs(_N, 2 * n), 8)})
    slopes = [sympy.simplify(_N * sympy.diff(sympy.log(term), _N)) for term in terms.values()]
    least = [slope.subs(sympy.log(_N), sympy.log(3)) for slope in slopes]  # 1/log(n) <= 1/log(3)
    return proof(
        computed("n times the derivative of each logarithm is at most its value at n = 3, which is negative",
                 all(slope.is_negative is True for slope in least) and (more - 3).is_nonnegative is True),
        tried=3 * len(given.values("n")),
    )


def judge_error(falls: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether falls(error at n, error at 2 n) for the approximation error of records x = 0 with label 1."""
    weights = sympy.symbols("w_1 w_2 v_1 v_2", real=True)
    x = sympy.Integer(0)
    value = weights[1] * sympy.Max(0, weights[0] * x)
    slopes = (weights[1] * x, sympy.Max(0, weights[0] * x))
    reached = value + sum(slope * move for slope, move in zip(slopes, weights[2:], strict=True))
    error = sympy.sqrt(1 + (reached - 1) ** 2) - 1
    n = given.values("n")[0]
    if not falls(error, error):
        return refuted("the network is 0 at x = 0 for every width, and so are its derivatives", {
            "n": f"{n} and {2 * n}", "x": 0, "label": 1, "error at n": error, "error at 2 n": error})
    return undecided("records x = 0 are not against it", 1)


def judge_norm(scale: Fraction, given: Domain) -> Finding:
    """Whether 784 pixels in [0, 1], multiplied by the scale, have norm at most 1."""
    norm = scale * math.isqrt(_INPUTS)
    if norm > 1:
        return refuted("an image of ones is longer", {"pixels": _INPUTS, "scale": scale, "norm": norm})
    return instance("28 times 1/28") if norm == 1 else undecided("shorter than allowed", 1)


_SHOWN = (positive("R"), positive_integer("m"), positive_integer("T"))
_LARGE = (positive_integer("n").at_least(60000),)

caption = Claim(
    id="nonconvex-nn/fig-1-caption",
    source="002, caption of Figure 1: the first term in Theorem 8; the text: the NTRF error",
    quote="Figure 1: Results of the first term in Theorem 8.", whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"\frac{\partial}{\partial R}\sqrt{\log(1/\xi)/T} \ne 0",
    words="the first term of the bound, of Theorem 13 as of Theorem 8, is what Figure 1 shows against R/sqrt(m)",
    hypotheses=_SHOWN, says=lambda radius, m, steps: sympy.sqrt(1 / steps), check=judge_shown,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{\partial}{\partial R}(y - R|h|) \ne 0",
        words="the second term of (7) changes with R: for one record out of reach it falls with R |h|",
        says=lambda radius, m, steps: 1000 - radius, expected="HOLDS PROVED",
        source="002, Figure 1: the second term of (7)",
        flips=(Flip("1/sqrt(n) of Theorem 8", lambda radius, m, steps: 1 / steps, Verdict.REFUTED),),
        true_variants={**dict.fromkeys(("sign", "1 % *", "squared", "1000 -> 1001 *", "- -> + *"),
        "it changes with R, too"),
                       "any [RT]": "a linear function of R"},
    ),
)
convex = Claim(
    id="nonconvex-nn/fig-1-convex", source="002, Section 6.1: the NTRF error is the value of a convex problem",
    quote="which can be approximated by solving the convex optimization problem", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\inf_{f \in \mathcal F} \frac{1}{|S|}\sum \ell(f(x), y) \text{ is convex in } W",
    words="the approximation error is the least value of a convex function on a convex set (here of sqrt(1 + f^2))",
    hypotheses=(), says=lambda f: sympy.sqrt(1 + f**2), check=judge_convex,
    flips=(Flip("a loss that is not convex", lambda f: -sympy.sqrt(1 + f**2), Verdict.REFUTED),),
    true_variants={"1 % *": "convex, too", "squared": "convex, too", "* -> *": "convex, too"}, expected="HOLDS ARGUED",
)
nested = Claim(
    id="nonconvex-nn/fig-1-R",
    source="002, Section 6.1: a larger R results in a smaller approximation error (Figure 1)",
    quote="increasing the size of the hyperparameter space R results in a smaller approximation error.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"R \le R' \implies \inf_{\mathcal{F}(R')} \le \inf_{\mathcal{F}(R)}",
    words="at a given width a larger R does not make the approximation error larger", hypotheses=_SHOWN[:2],
    says=lambda radius, m: radius / sympy.sqrt(m), check=judge_nested,
    flips=(Flip("1/R", lambda radius, m: 1 / radius, Verdict.REFUTED),),
    true_variants={"1 % *": "another multiple", "squared": "another radius that grows", "* -> *": "another that grows"},
    expected="HOLDS ARGUED",
)
confounded = Claim(
    id="nonconvex-nn/fig-1-confounded",
    source="002, Section 6.1: Figure 1 compares widths at one R/sqrt(m), not at one R",
    quote="Moreover, when the network width m is increased, the approximation error tends to zero, indicating that the "
          "NTRF space can better fit wider neural networks on the training data.",
    whose=Whose.READING, severity=Stake.UTILITY, statement=r"R \text{ is the same for all widths at one } R/\sqrt m",
    words="the widths of Figure 1 are compared at one R, as the conclusion about m needs",
    hypotheses=(real("omega", "R/sqrt(m)").at_least(Fraction(1, 10)).at_most(Fraction(19, 10)),
                real("m").at_least(200).at_most(2000)),
    says=lambda omega, m: 10 * sympy.sqrt(2) * omega,
    check=same(("omega", "m"), lambda omega, m: omega * sympy.sqrt(m), "R = omega sqrt(m), on symbols",
               "R grows with the width: by sqrt(10) from 200 to 2000"),
    uses=("nonconvex-nn/rem-15-approx-zero",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"R = \omega\sqrt m", words="at one R/sqrt(m) the radius R grows like sqrt(m), and all reach with it",
        says=lambda omega, m: omega * sympy.sqrt(m), expected="HOLDS PROVED", source="002, Figure 1: R on its axis",
        flips=(Flip("omega m", lambda omega, m: omega * m, Verdict.REFUTED),),
        true_variants={"any *": "an identity"},
    ),
)
kappa = Claim(
    id="nonconvex-nn/fig-1-omega", source="ours: the radii of Figure 1 against Lemma 18, L = 3",
    severity=Stake.UTILITY, statement=r"0.1 \le \kappa L^{-6}(\log m)^{-3/2} \implies \kappa > 889",
    words="the smallest radius of Figure 1, 0.1, is within Lemma 18's range only if its constant exceeds 889",
    hypotheses=(), says=Fraction(889), check=judge_kappa,
    flips=(Flip("900", Fraction(900), Verdict.REFUTED), Flip("100", Fraction(100), Verdict.HOLDS)),
    uses=("nonconvex-nn/lem-18",),
    true_variants={"1 % less": "less is true, too", "sign": "less is true, too"}, expected="HOLDS PROVED",
)
fixed_step = Claim(
    id="nonconvex-nn/fig-2-theory-mismatch",
    source="002, Section 6.1: Figure 2, eta = 0.01 for every C, aligns with the theory",
    quote="Figure 2 illustrates that when the clipping constant C is chosen from $[1, 64]$, the excess population risk "
          "remains unaffected, which aligns with our theoretical analysis.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{\partial}{\partial C} \frac{SL\sqrt m\,\eta\,\sigma^2(C)\,(m^2L + md)}{C} = 0, \quad \eta = 0.01",
    words="by the bound, the noise's term does not change with C at the fixed step of Figure 2",
    hypotheses=free_of_clip.hypotheses, says=lambda layers, r, clip, m, t: Fraction(1, 100),
    check=judge_without_clip, uses=("nonconvex-nn/rem-15",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta \propto 1/C",
        words="the noise's term does not change with C if the step is the theorem's, proportional to 1/C",
        says=step_size, expected="HOLDS PROVED", source="002, Figure 2 with eta of Theorem 13",
        true_variants=free_of_clip.true_variants,
    ),
)
clip_norm = Claim(
    id="nonconvex-nn/fig-2-C-hypothesis",
    source="002, Figure 2: C up to 64, against C <= S L sqrt(m), S = 1, factor read as 1",
    quote=r"when the clipping constant C is chosen from $[1, 64]$", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"64 \le SL\sqrt m,\quad S = 1, L = 3, m = 256",
    words="every C of Figure 2 meets C <= S L sqrt(m) for a loss with S = 1", hypotheses=(), says=Fraction(64),
    check=judge_clip, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"C \le 48", words="C up to 48 meets C <= S L sqrt(m) for a loss with S = 1", says=Fraction(48),
        expected="HOLDS PROVED", source="002, Figure 2 with C in [1, 48]",
    ),
)
width_3 = Claim(
    id="nonconvex-nn/fig-3-width",
    source="ours: the width that Theorem 13 asks of Figure 3, at least 200 steps, C = 20",
    severity=Stake.UTILITY, statement=r"T^7C^{-8} = 500\,000,\quad T = 200, C = 20",
    words="with one step an epoch, and all other factors read as 1, Figure 3 needs networks 500000 units wide",
    hypotheses=(), says=Fraction(500000), check=judge_width,
    flips=(Flip("50000", Fraction(50000), Verdict.REFUTED),), expected="HOLDS PROVED",
)
steps_4 = Claim(
    id="nonconvex-nn/fig-4-steps", source="ours: the steps that Theorem 13 allows in Figure 4, m = 256, C = 20",
    severity=Stake.UTILITY, statement=r"\max\{T : T^7C^{-8} \le 256\} = 67",
    words="at m = 256 and C = 20, all other factors read as 1, Theorem 13 is about at most 67 steps",
    hypotheses=(), says=67, check=judge_steps, flips=(Flip("68", 68, Verdict.REFUTED),), expected="HOLDS PROVED",
)
parameters = Claim(
    id="nonconvex-nn/fig-5-params", source="002, Section 6.1: the parameters of Figure 5, n^14 read as n^(1/4)",
    quote=r"we choose the parameters satisfying the condition in Theorem 13, with $m = (n^{14}/2)$, $T = 50n^{2/5}$, "
          r"$\epsilon = 1$, $\delta = 1/n^2$ and $C = 20$.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"m = \tfrac12n^{1/4},\ T = 50n^{2/5}: \quad m \ge c\,T^7C^{-8}",
    words="m = n^(1/4)/2 and T = 50 n^(2/5) meet the hypotheses of Theorem 13 for all large n",
    hypotheses=_LARGE, says=(lambda n: n ** sympy.Rational(1, 4) / 2, lambda n: 50 * n ** sympy.Rational(2, 5)),
    check=judge_parameters, uses=("nonconvex-nn/thm-13-m-star",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"m = n^{4/5},\ T = n^{1/10}", words="m = n^(4/5) and T = n^(1/10) meet them for all large n",
        says=(lambda n: n ** sympy.Rational(4, 5), lambda n: n ** sympy.Rational(1, 10)), expected="HOLDS PROVED",
        source="002, Figure 5 with powers that Theorem 13 allows",
        flips=(Flip("T = n^(1/5)", (lambda n: n ** sympy.Rational(4, 5), lambda n: n ** sympy.Rational(1, 5)),
                    Verdict.REFUTED),),
        true_variants={"[[]?[]] 1 % *": "a constant factor",
        "[[]0[]] squared": "m = n^(8/5): n^0.85 records are asked for",
                       "[[]0[]] 4 -> 5 *": "m = n", "[[]0[]] ?? -> *": "m = 4 n/5", "[[]1[]] 10 -> 11 *": "fewer steps",
                       "any n": "about large n only"},
    ),
)
parameters_literal = Claim(
    id="nonconvex-nn/fig-5-params-reading-literal",
    source="002, Section 6.1: the parameters of Figure 5, n^14 as printed",
    quote=parameters.quote, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"m = \tfrac12n^{14},\ T = 50n^{2/5}: \quad n \ge c\,C(\sqrt{Lm} + \sqrt{md})\sqrt T",
    words="m = n^14/2 and T = 50 n^(2/5) meet the hypotheses of Theorem 13 for all large n",
    hypotheses=_LARGE, says=(lambda n: n**14 / 2, parameters.says[1]), check=judge_parameters,
    flips=(Flip("the repair", (
        lambda n: n ** sympy.Rational(4, 5), lambda n: n ** sympy.Rational(1, 10)), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/fig-5-params-repaired", expected="REFUTED PROVED",
)
each_term = Claim(
    id="nonconvex-nn/fig-5-each-term", source="002, Section 6.1: each term of (7) falls with n in Figure 5",
    quote="It is notable that our parameter setting is to make each term in the upper bound (7) "
          "decrease when n becomes larger.",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"(7) \text{ falls with } n, \text{ term by term}",
    words="with m = n^(1/4)/2 and T = 50 n^(2/5) each term of (7) falls as n grows",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/fig-5-each-term-reading-explicit", "nonconvex-nn/fig-5-each-term-reading-approximation"),
    expected="AMBIGUOUS PROVED",
)
explicit = Claim(
    id="nonconvex-nn/fig-5-each-term-reading-explicit", source="002, Figure 5: the first and the last term of (7)",
    quote=each_term.quote, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"T^{-1/2},\ Lm^2\sqrt T\,\tfrac{\log n}{n^2},\ dm\sqrt T\,\tfrac{\log n}{n^2} \text{ fall, } n \ge 3",
    words="the convergence term and both parts of the privacy error fall from n = 3 on",
    hypotheses=(positive_integer("n").at_least(3),), says=parameters.says, check=judge_falling,
    flips=(Flip("m = n^14/2", (lambda n: n**14 / 2, parameters.says[1]), Verdict.REFUTED),),
    true_variants={"[[]?[]] 1 % *": "a constant factor", "[[]0[]] [42] -> *": "m = n^(1/5)/2, n^(1/4)/3: narrower",
                   "[[]0[]] / -> *": "m = 2 n^(1/4)", "[[]1[]] squared": "T = 2500 n^(4/5): n^-1.1 log n",
                   "[[]1[]] 50 -> *": "a constant factor", "[[]1[]] [25] -> *": "T of power 3/5 or 1/3",
                   "[[]1[]] ?? -> *": "T = 20 n: log(n)/n falls from e on"}, expected="HOLDS PROVED",
)
of_error = Claim(
    id="nonconvex-nn/fig-5-each-term-reading-approximation", source="002, Figure 5: the second term of (7)",
    quote=each_term.quote, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\inf_{\mathcal F} \frac1T\sum_i \ell(f(x_i), y_i) \text{ falls with } n",
    words="the approximation error falls as n, and with it m and T, grows", hypotheses=_LARGE,
    says=lambda before, after: bool(after < before), check=judge_error,
    flips=(Flip("it does not rise", lambda before, after: bool(after <= before), Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/fig-5-each-term-reading-explicit", expected="REFUTED PROVED",
)
norm = Claim(
    id="nonconvex-nn/exp-unit-norm",
    source="002, Section 6.1: images of 784 pixels, read as numbers in [0, 1], and |x| <= 1",
    quote="The training set comprised 60,000 samples, with each sample represented by a 784-dimensional vector.",
    whose=Whose.READING, severity=Stake.UTILITY, statement=r"x \in [0, 1]^{784} \implies \lVert x \rVert \le 1",
    words="images of 784 pixels in [0, 1] meet Assumption 4", hypotheses=(), says=Fraction(1), check=judge_norm,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"x/28", words="images of 784 pixels in [0, 1], divided by 28, meet Assumption 4",
        says=Fraction(1, 28), expected="HOLDS PROVED", source="002, Section 6.1 with |x| <= 1",
    ),
)
