r"""Objective against output perturbation in document 004: where each wins.

Noise of density exp(-|v|/b) in d dimensions has E|v|^2 = d (d+1) b^2 (|v| is Gamma(d) in units of b). On a parabola of
curvature h + lambda, h that of the losses, output perturbation has b = 2L/(n lambda epsilon) and the excess
((h + lambda)/2) d(d+1) b^2. Objective perturbation, tilted by <b, theta>/n with b of scale 2L/epsilon', epsilon' =
epsilon - 2 log(1 + t), t = c/(n lambda) (the published correction; c >= h bounds the curvature), moves the minimiser by
b/(n (h + lambda)): excess (1/2) d(d+1) (2L/(n epsilon'))^2/(h + lambda). The ratio of the two is

    objective/output = (lambda/(h + lambda))^2 (epsilon/epsilon')^2,

below 1 exactly where epsilon' > epsilon lambda/(h + lambda), that is 2 log(1 + t) < epsilon h/(h + lambda). As log(1+t)
<= t, it is so wherever n > 2 c (h + lambda)/(epsilon h lambda). For h = 0 < c it is so nowhere.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula
from theorems.given import Domain
from theorems.tools.leading_points import first_at
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, ProofStep, Verdict, computed, proof, refuted


def ratio_steps() -> tuple[ProofStep, ...]:
    """The excesses of both on a parabola, and their ratio."""
    d = sympy.Symbol("d", positive=True)
    h, lam, slope, n, e, left = sympy.symbols("h lambda L n epsilon epsilon'", positive=True)
    square = sympy.gammasimp(sympy.gamma(d + 2) / sympy.gamma(d))  # E r^2 of the density r^(d-1) e^-r
    output = (h + lam) / 2 * square * (2 * slope / (n * lam * e)) ** 2
    objective = square * (2 * slope / (n * left)) ** 2 / (2 * (h + lam))
    theta, b = sympy.symbols("theta b", real=True)
    tilted = sympy.solve(sympy.diff((h + lam) * theta**2 / 2 + b * theta / n, theta), theta)[0]
    return (
        computed("a parabola of curvature h + lambda, tilted by b/n, has its minimiser b/(n (h + lambda)) away",
                 vanishes(tilted + b / (n * (h + lam)))),
        computed("E|v|^2 = d (d + 1) b^2, by the Gamma function", vanishes(square - d * (d + 1))),
        computed("the ratio of the excesses is (lambda/(h + lambda))^2 (epsilon/epsilon')^2",
                 vanishes(objective / output - (lam / (h + lam)) ** 2 * (e / left) ** 2)),
    )


def judge_better(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether objective perturbation has less excess, in every d, for every n with n says[0] > says[1].

    Both are formulas of h, lambda, epsilon and c; where the first is 0 nothing is said.
    """
    names = ("curvature", "ridge", "epsilon", "most")
    tried = 0
    simple = {"curvature": "0", "ridge": "1/100", "epsilon": "1", "most": "1"}
    for point in first_at(simple, given, names, 80):
        h, lam, e, c = (point[name] for name in names)
        times, level = (Fraction(part(h, lam, e, c)) for part in says)
        if times <= 0 <= level:
            continue
        with ctx.workprec(100):
            n = ball(max(level / times, Fraction(0)) if times > 0 else Fraction(0)) + arb(2) ** -40
            left = ball(e) - 2 * (ball(c / lam) / n).log1p()
            ratio = (ball(lam / (h + lam)) * ball(e) / left) ** 2
            tried += 1
            if not left > 0 or ratio > 1:
                return refuted("output perturbation has less excess, certified", {
                    "h": h, "lambda": lam, "epsilon": e, "c": c, "n": n.str(10), "epsilon'": left.str(10),
                    "objective/output": Enclosure.of_ball(ratio) if left > 0 else "epsilon' is not positive"})
    any_h, lam, e, c = (given.symbol(name) for name in names)
    h, x, more = sympy.symbols("h x m", positive=True)
    times, level = (part(h, lam, e, c) for part in says)
    flat = [part(0 * h, lam, e, c) for part in says] if given.contains(curvature=0) else [-h, h]
    n = (level + more) / times
    return proof(
        *ratio_steps(),
        computed("log(1 + x) < x for x > 0: the slope of the difference is x/(1 + x)",
                 vanishes(sympy.diff(x - sympy.log(1 + x), x) - x / (1 + x))),
        computed("2 c/(n lambda) <= epsilon h/(h + lambda) from there on: epsilon' > epsilon lambda/(h + lambda)",
                 never_negative(sympy.together(e * h / (h + lam) - 2 * c / (n * lam)))
                 and signed_positive(times, lam, e, c) and any_h.is_nonnegative is True),
        computed("of flat losses, h = 0, nothing is said", never_negative(-flat[0], flat[1])),
        tried=tried,
    )


def judge_where(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether the ratio of the excesses is the square of says[0]/says[1], the latter what is left of epsilon.

    says[0](h, lambda) is the share of the ridge in the curvature, says[1](left, epsilon) the share of epsilon.
    """
    for point in given.points("curvature", "ridge", "epsilon", "left"):
        h, lam, e, left = point["curvature"], point["ridge"], point["epsilon"], point["left"] * point["epsilon"]
        scale_out, scale_in = 2 / (lam * e), 2 / left  # in units of L/n; the latter tilts the objective
        output, objective = (h + lam) * scale_out**2, scale_in**2 / (h + lam)
        if says[0](h, lam) ** 2 / says[1](left, e) ** 2 != objective / output:
            return refuted("the excesses on a parabola have another ratio", {
                **point, "claimed": says[0](h, lam) ** 2 / says[1](left, e) ** 2, "ratio": objective / output})
    h, lam, e, share = (given.symbol(name) for name in ("curvature", "ridge", "epsilon", "left"))
    ridge, rest = says[0](h, lam), says[1](share * e, e)
    return proof(
        *ratio_steps(),
        computed("it is below 1 exactly where the share that is left of epsilon is above the ridge's share",
                 vanishes(ridge - lam / (h + lam), rest - share) and signed_positive(lam, e, share)
                 and h.is_nonnegative is True),
        study_step("objective-perturbation-curved", "HELD"),
        study_step("objective-perturbation-flat", "BOUND_VIOLATED"),
    )


def judge_scale(says: Formula, given: Domain) -> Finding:
    """Whether c' = says(n) is private (n v has scale at least 2L/epsilon', L = 1) and lets the noise vanish with n."""
    for n in given.values("size"):
        if not 0 < says(Fraction(n)) <= Fraction(n, 2):
            return refuted("the linear term is too small: not private", {"n": n, "c'": says(Fraction(n)),
                                                                         "at most": Fraction(n, 2)})
    n = given.symbol("size")
    limit = sympy.limit(1 / says(n), n, sympy.oo)
    if limit != 0:
        return refuted("the noise does not fall with n: its scale has a positive limit", {
            "n": "to infinity", "c' at n = 100": says(Fraction(100)), "scale of v times epsilon": limit})
    return proof(
        computed("n v has at least the scale 2/epsilon: c' <= n/2", n.is_positive is True
                 and never_negative(n / 2 - says(n))),
        computed("the scale of v, 1/(c' epsilon), goes to 0 as n grows", limit == 0),
    )


_HAS = "Has better performance than output perturbation [CMS11]."
_POINT = (Parameter("curvature", low=Fraction(0), low_open=True, meaning="h"), positive("ridge", "lambda"),
          positive("epsilon"), positive("most", "c"))
_ANY = (Parameter("curvature", low=Fraction(0), meaning="h"), *_POINT[1:])

better = Claim(
    id="cs208/objective-better", source="004, Objective Perturbation: its performance, without conditions", quote=_HAS,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"E[\mathrm{excess}_{\mathrm{objective}}] < E[\mathrm{excess}_{\mathrm{output}}]",
    words="objective perturbation has less excess risk than output perturbation, always; here from n = 400/lambda on",
    hypotheses=_ANY, says=(lambda h, lam, e, c: lam, lambda h, lam, e, c: 400), check=judge_better,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"n > \frac{2c(h + \lambda)}{\varepsilon h \lambda} \implies E[\mathrm{excess}_{\mathrm{objective}}]"
                  r" < E[\mathrm{excess}_{\mathrm{output}}]",
        words="on parabolas objective perturbation has less excess risk in every dimension once n is above "
              "2 c (h + lambda)/(epsilon h lambda), h > 0 the curvature of the losses",
        hypotheses=_POINT, expected="HOLDS PROVED",
        says=(lambda h, lam, e, c: e * h * lam, lambda h, lam, e, c: 2 * c * (h + lam)),
        source="004, Objective Perturbation, the region where it is better, on parabolas",
        flips=(Flip("a quarter of it", (lambda h, lam, e, c: e * h * lam, lambda h, lam, e, c: c * (h + lam) / 2),
                    Verdict.REFUTED),),
        true_variants=dict.fromkeys(("[[]0[]] 1 % less", "[[]1[]] 1 % more", "[[]1[]] 2 -> 3 *"),
                                    "from a larger n on it is so, too"),
    ),
)
where = Claim(
    id="cs208/objective-perturbation-better", source="004, Objective Perturbation: where it is better, on parabolas",
    quote=_HAS, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{\mathrm{excess}_{\mathrm{objective}}}{\mathrm{excess}_{\mathrm{output}}} = \Big(\frac{\lambda}"
              r"{h + \lambda}\Big)^2 \Big(\frac{\varepsilon}{\varepsilon'}\Big)^2 < 1 \iff \varepsilon' >"
              r" \frac{\varepsilon\lambda}{h + \lambda}",
    words="on parabolas objective perturbation wins exactly where what the correction leaves of epsilon is above the "
          "ridge's share of the curvature, and output perturbation elsewhere: a loss that is flat on the data is one",
    hypotheses=(*_ANY[:3],
                Parameter("left", low=Fraction(0), low_open=True, high=Fraction(1), meaning="epsilon'/epsilon")),
    says=(lambda h, lam: lam / (h + lam), lambda left, e: left / e), check=judge_where,
    flips=(Flip("the curvature's share", (lambda h, lam: h / (h + lam), lambda left, e: left / e), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
_LINEAR = r"$R_{\text{priv}}(\theta, v) = \langle \theta, v \rangle + c \|\theta\|^2$"
v_scale = Claim(
    id="cs208/objective-v-scale", source="004, Objective Perturbation: <theta, v> without 1/n, c' open", quote=_LINEAR,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"v \propto e^{-c'\varepsilon|v|} \text{ is private and vanishes as } n \to \infty",
    words="the linear term's scale: c' a number, or one that grows with n", hypotheses=(positive_integer("size", "n"),),
    says=None, check=None, readings=("cs208/objective-v-scale-reading-number", "cs208/objective-v-scale-repaired"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"c' = \frac n2:\ \text{private and } |v| = O\Big(\frac1{n\varepsilon}\Big)",
        words="with c' = n/2 (L = 1, beside the change of variables) the noise is enough and vanishes as n grows",
        says=lambda n: n / 2, check=judge_scale, expected="HOLDS PROVED",
        source="004, Objective Perturbation, c' with a factor n", flips=(Flip("n", lambda n: n, Verdict.REFUTED),),
        true_variants={"1 % less": "a little more noise is private, too, and vanishes",
                       "2 -> 3 *": "a little more noise is private, too, and vanishes"},
    ),
)
v_number = Claim(
    id="cs208/objective-v-scale-reading-number", source="004, Objective Perturbation, c' read as a number",
    quote=_LINEAR, whose=Whose.READING, severity=Stake.UTILITY, statement=v_scale.statement,
    words="with c' = 1/2, whatever n is, the noise vanishes as n grows", hypotheses=v_scale.hypotheses,
    says=lambda n: Fraction(1, 2), check=judge_scale, repaired_by="cs208/objective-v-scale-repaired",
    flips=(Flip("n/2", lambda n: n / 2, Verdict.HOLDS),), expected="REFUTED PROVED",
)
