r"""Lemma 2 of document 002: the surrogate loss l(w) = int_0^{<w,x>} (sigma(z) - y) dz of a bounded link.

A G-Lipschitz non-decreasing link has between any two scores a, b a difference quotient s in [0, G]: sigma(a) - sigma(b)
= s (a - b). That is all that is needed. The gradient is (sigma(<w,x>) - y) x (the integrand is continuous), so

    <grad(w) - grad(v), w - v> = s (a - b)^2 >= 0,     |grad(w) - grad(v)| = s |a - b| |x| <= G |x|^2 |w - v|,

and |grad| <= 2B |x|. No derivative of the link occurs: "if sigma has (sub)gradient anywhere" is not needed for the
smoothness, nor are the Moreau envelopes of Section 4.1.2, which are there for links without one. The constants are
attained: the constant link B with the label -B, and the clip of G z to [-B, B].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, real, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted

Constants = Mapping[str, Callable[[Any, Any], Any]]
_SHORT = unit_interval("norm", "|x|")
_LONG = Parameter("norm", low=Fraction(0), high=Fraction(2), meaning="|Phi x|")


def judge_constants(says: Constants, given: Domain) -> Finding:
    """Whether the surrogate is convex, says["lipschitz"](B, G)-Lipschitz and says["smooth"](B, G)-smooth."""
    tried = 0
    for point in given.points("B", "G", "norm"):
        bound, slope, norm = point["B"], point["G"], point["norm"]
        true = {"lipschitz": (bound + bound) * norm, "smooth": slope * norm * norm}
        links = {"lipschitz": "the constant B, label -B", "smooth": "G z clipped to [-B, B], scores inside"}
        tried += 1
        for name, formula in says.items():
            if formula(bound, slope) < true[name]:
                return refuted(f"a link needs a larger constant: {links[name]}", {
                    "B": bound, "G": slope, "|x|": norm, "constant": name, "claimed": formula(bound, slope),
                    "attained": true[name]})
    bound_, high = given.symbol("B"), given["norm"].high
    rise, rest, along, across, t = sympy.symbols("q r A C t", nonnegative=True)  # G = q + r; squares A, C of u's parts
    slope_ = rise + rest  # the link's difference quotient between the two scores is q
    norm_ = sympy.Rational(str(high)) / (1 + t) if high is not None else sympy.Symbol("x", nonnegative=True)
    inner = rise * along * norm_**2  # <grad - grad', u>, <u, x>^2 being A |x|^2
    turned = rise**2 * along * norm_**4  # |grad - grad'|^2
    above, below = sympy.symbols("i j", nonnegative=True)  # link = B - i, y = -B + j, and the other way round
    largest = {"lipschitz": 2 * bound_ * norm_, "smooth": slope_ * norm_**2}
    return proof(
        computed("between two scores the link rises by q (a - b), 0 <= q <= G, so that <grad - grad', w - w'> = "
                 "q (a - b)^2 >= 0: convex, for every monotone Lipschitz link", never_negative(inner)),
        computed("|grad - grad'|^2 = q^2 (a - b)^2 |x|^2 <= (G |x|^2)^2 |w - w'|^2, w - w' in parts along and across x",
                 never_negative((slope_ * norm_**2) ** 2 * (along + across) - turned)),
        *([computed("|link - y| <= 2B: link = B - i and y = -B + j, or the reverse", never_negative(
            2 * bound_ - ((bound_ - above) - (-bound_ + below)), 2 * bound_ + ((-bound_ + above) - (bound_ - below))))]
          if "lipschitz" in says else []),
        *(computed(f"the claimed {name} constant is at least the one for every |x| up to the longest",
                   never_negative(formula(bound_, slope_) - largest[name], formula(bound_, slope_)))
          for name, formula in says.items()),
        tried=tried,
    )


def judge_rank(says: Callable[[int], bool], given: Domain) -> Finding:
    """Whether says(r) holds for exactly the ranks that s x x^T may have, 0 <= s <= G."""
    for x in given.vectors("x", 3):
        for slope in given.values("slope"):
            column = sympy.Matrix(x)
            rank = int((sympy.Rational(slope.numerator, slope.denominator) * column * column.T).rank())
            if not says(rank):
                return refuted("the Hessian has another rank: the link is flat there, or x is zero", {
                    "slope of the link": slope, "x": ", ".join(map(str, x)), "rank": rank})
    a, b, c = sympy.symbols("a b c", real=True)
    hessian = given.symbol("slope") * sympy.Matrix([a, b, c]) * sympy.Matrix([[a, b, c]])
    minors = [hessian.extract(rows, columns).det() for rows in ([0, 1], [0, 2], [1, 2])
              for columns in ([0, 1], [0, 2], [1, 2])]
    return proof(
        computed("every minor of two rows and two columns of s x x^T vanishes", vanishes(*minors)),
                 computed("the ranks 0 and 1 occur and are allowed, no larger one is",
                 says(0) and says(1) and not says(2 + sympy.symbols("k", integer=True, nonnegative=True))),
    )


def judge_gradient(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(link, score, y) is the factor of x in the gradient: the derivative of int_0^score (link - y)."""
    def link(z: Any) -> Any:
        return z / (1 + abs(z))

    tried = 0
    simple = [{"score": Fraction(1), "y": Fraction(1, 2)}] if given.contains(score=1, y="1/2") else []
    for point in (*simple, *given.points("score", "y")):
        score, y = point["score"], point["y"]
        tried += 1
        if says(link, score, y) != link(score) - y:
            return refuted("the derivative of the integral is another one", {
                "link": "z/(1 + |z|)", "<w, x>": score, "y": y, "claimed": says(link, score, y),
                "true": link(score) - y})
    z, score_, y_ = sympy.symbols("z", real=True), given.symbol("score"), given.symbol("y")
    any_link = sympy.Function("sigma")
    loss = sympy.Integral(any_link(z) - y_, (z, 0, score_))
    return proof(
        computed("the derivative of the integral by its upper end, for an undetermined link",
                 vanishes(sympy.diff(loss, score_) - says(any_link, score_, y_))),
        tried=tried,
    )


def judge_definite(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether says(value) holds for exactly the values v^T H v that H = s x x^T takes, 0 <= s."""
    for x in given.vectors("x", 2):
        for v in given.vectors("x", 2):
            for slope in sorted(given.values("slope"), reverse=True):
                value = slope * sum(a * b for a, b in zip(x, v, strict=True)) ** 2
                if any(v) and not says(value):
                    return refuted("a direction across x has no curvature", {
                        "slope of the link": slope, "x": ", ".join(map(str, x)), "v": ", ".join(map(str, v)),
                        "v^T H v": value})
    s, inner, below = given.symbol("slope"), sympy.symbols("a", real=True), sympy.symbols("p", positive=True)
    return proof(
        computed("v^T H v = s <x, v>^2 is never negative", never_negative(s * inner**2)),
        computed("0 is allowed, and no negative value is", bool(says(sympy.Integer(0))) and not bool(says(-below))),
    )


_LEMMA = (
    r"Under Assumption 1, for any $(x, y) \sim \mathcal{P}$, function $\ell(\cdot; x, y)$ is convex and $2B$ "
    r"-Lipschitz. Moreover, if σ has (sub)gradient anywhere, then the rank of the Hessian matrix for "
    r"$\ell(\cdot; x, y)$ is 1, and $\ell(\cdot; x, y)$ is G -smooth."
)
_SLOPE = unit_interval("slope", "sigma'(<w, x>) over G")
_MORE = {"*1 % more": "a larger constant is one, too"}
_MORE_TWO = {**_MORE, "*2 -> 3*": "a larger constant is one, too"}
_PLAIN: Constants = {"lipschitz": lambda bound, slope: 2 * bound, "smooth": lambda bound, slope: slope}

_RESTS = ("nonconvex-nn/asm-1-repaired", "nonconvex-nn/lem-2-gradient-repaired")

lemma_2 = Claim(
    id="nonconvex-nn/lem-2", source="002, Lemma 2 (convex, Lipschitz, smooth; the rank is lem-2-rank)",
    quote=_LEMMA, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\ell(\cdot; x, y) \text{ is convex, } 2B\text{-Lipschitz and } G\text{-smooth}",
    words="the surrogate loss is convex, 2B-Lipschitz and G-smooth",
    hypotheses=(positive("B"), positive("G"), _SHORT), says=_PLAIN, check=judge_constants,
    flips=(
        Flip("B-Lipschitz", {**_PLAIN, "lipschitz": lambda bound, slope: bound}, Verdict.REFUTED),
        Flip("G/2-smooth", {**_PLAIN, "smooth": lambda bound, slope: slope / 2}, Verdict.REFUTED),
    ),
    uses=("nonconvex-nn/asm-1",), rests_on=_RESTS, true_variants=_MORE_TWO, expected="HOLDS PROVED",
)
unconditional = Claim(
    id="nonconvex-nn/lem-2-smooth-unconditional",
    source="a finding of ours: 002, Lemma 2 needs no derivative of the link, nor does Section 4.1.2 need envelopes",
    statement=r"\lVert\nabla\ell(w) - \nabla\ell(v)\rVert = |\sigma(\langle w,x\rangle) - \sigma(\langle v,x\rangle)|\,"
              r"\lVert x\rVert \le G\lVert w - v\rVert \text{ for every } G\text{-Lipschitz } \sigma",
    words="the surrogate of every G-Lipschitz non-decreasing link is G-smooth, whether it has a derivative or not",
    severity=Stake.UTILITY,
    hypotheses=lemma_2.hypotheses, says={"smooth": lambda bound, slope: slope}, check=judge_constants,
    flips=(Flip("G/2", {"smooth": lambda bound, slope: slope / 2}, Verdict.REFUTED),),
    rests_on=_RESTS,
    true_variants={**_MORE, "any B": "the range of the link does not enter the smoothness"},
    expected="HOLDS PROVED",
)
scalar_form = Claim(
    id="nonconvex-nn/glm-form", source="002, Section 4.1.1, after Lemma 3: l is a generalised linear loss",
    quote=(
        r"$\ell(w; x, y) = g(\langle w, x \rangle, y)$ where $g(\cdot, y)$ is convex, $2B$ -Lipschitz, and G -smooth."
    ),
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"g(s, y) = \int_0^s (\sigma(z) - y)\, dz \text{ is convex, } 2B\text{-Lipschitz, } G\text{-smooth}",
    words="the surrogate is a convex, 2B-Lipschitz, G-smooth function of the score",
    hypotheses=lemma_2.hypotheses, says=_PLAIN, check=judge_constants,
    flips=(Flip("B-Lipschitz", {**_PLAIN, "lipschitz": lambda bound, slope: bound}, Verdict.REFUTED),),
    rests_on=_RESTS, true_variants=_MORE_TWO,
    expected="HOLDS PROVED",
)
projected = Claim(
    id="nonconvex-nn/thm-2-smooth", source="002, proof of Theorem 2: the surrogate on projected records of length 2",
    quote=(
        r"$\|\nabla \ell(w_i^t; \tilde{x}_i^t, y_i^t)\|_2 = \|(\sigma(\langle w_i^t, \Phi x_i^t \rangle) - y_i^t)\Phi "
        r"x_i^t\|_2 \leq 4B$ and $\ell(w_i^t; \tilde{x}_i^t, y_i^t)$ is $4G$ -smooth."
    ),
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\lVert\Phi x\rVert \le 2 \Rightarrow \ell(\cdot; \Phi x, y) \text{ is } 4B\text{-Lipschitz and }"
              r" 4G\text{-smooth}",
    words="on records that a projection stretches to at most 2 the surrogate is 4B-Lipschitz and 4G-smooth",
    hypotheses=(positive("B"), positive("G"), _LONG),
    says={"lipschitz": lambda bound, slope: 4 * bound, "smooth": lambda bound, slope: 4 * slope},
    check=judge_constants,
    flips=(Flip("2G-smooth", {"smooth": lambda bound, slope: 2 * slope}, Verdict.REFUTED),),
    rests_on=_RESTS,
    true_variants={**_MORE, "*4 -> 5*": "a larger constant is one, too"},
    expected="HOLDS PROVED",
)
rank = Claim(
    id="nonconvex-nn/lem-2-rank", source="002, Lemma 2: the rank of the Hessian is 1",
    quote=_LEMMA, whose=Whose.PRINTED,
    statement=r"\mathrm{rank}\, \nabla^2 \ell(w; x, y) = 1",
    words="the Hessian of the surrogate has rank 1 wherever it exists",
    hypotheses=(_SLOPE, Parameter("x", kind="vector")), says=lambda rank: 1 <= rank <= 1, check=judge_rank,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathrm{rank}\, \nabla^2 \ell(w; x, y) \le 1",
        words="the Hessian of the surrogate has rank 0 or 1 wherever it exists (0 where the link is flat or x = 0)",
        says=lambda rank: rank <= 1, expected="HOLDS PROVED", source="002, proof of Lemma 2: rank at most 1",
        true_variants={"any slope": "a multiple of x x^T, whatever the factor"},
    ),
)
gradient = Claim(
    id="nonconvex-nn/lem-2-gradient", source="002, proof of Lemma 2: the gradient, with y inside the link",
    quote=r"\nabla\ell(w; x, y) &= (\sigma(\langle w, x \rangle - y) \cdot x", whose=Whose.TYPO,
    statement=r"\nabla\ell(w; x, y) = \sigma(\langle w, x\rangle - y)\, x",
    words="the gradient of the surrogate is sigma(<w, x> - y) x",
    hypotheses=(real("score"), Parameter("y", low=Fraction(-1), high=Fraction(1))),
    says=lambda link, score, y: link(score - y), check=judge_gradient,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla\ell(w; x, y) = (\sigma(\langle w, x\rangle) - y)\, x",
        words="the gradient of the surrogate is (sigma(<w, x>) - y) x, as Algorithm 2 has it",
        says=lambda link, score, y: link(score) - y, expected="HOLDS PROVED",
        source="002, Algorithm 2, line 6",
        true_variants={"any y": "the derivative is the same for every label"},
    ),
)


def judge_hessian(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(slope function, score, y) is the factor of x x^T in the Hessian where the link has a derivative."""
    def slope(z: Any) -> Any:
        return 1 / (1 + abs(z)) ** 2

    tried = 0
    for point in given.points("score", "y"):
        score, y = point["score"], point["y"]
        tried += 1
        if says(slope, score, y) != slope(score):
            return refuted("the second derivative of the integral is another one", {
                "link": "z/(1 + |z|)", "<w, x>": score, "y": y, "claimed": says(slope, score, y),
                "true": slope(score)})
    z, score_, y_ = sympy.symbols("z", real=True), given.symbol("score"), given.symbol("y")
    any_link = sympy.Function("sigma")
    loss = sympy.Integral(any_link(z) - y_, (z, 0, score_))
    claimed = says(lambda at: sympy.diff(any_link(z), z).subs(z, at), score_, y_)
    return proof(
        computed("the second derivative of the integral, for an undetermined link",
                 vanishes((sympy.diff(loss, score_, 2) - claimed).doit())),
        tried=tried,
    )


hessian = Claim(
    id="nonconvex-nn/lem-2-hessian", source="002, proof of Lemma 2: the Hessian, with y inside the link's derivative",
    quote=r"\nabla^2\ell(w; x, y) &= \sigma'(\langle w, x \rangle - y) \cdot xx^T", whose=Whose.TYPO,
    statement=r"\nabla^2\ell(w; x, y) = \sigma'(\langle w, x\rangle - y)\, xx^T",
    words="the Hessian of the surrogate is sigma'(<w, x> - y) x x^T",
    hypotheses=gradient.hypotheses, says=lambda slope, score, y: slope(score - y), check=judge_hessian,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla^2\ell(w; x, y) = \sigma'(\langle w, x\rangle)\, xx^T",
        words="the Hessian of the surrogate is sigma'(<w, x>) x x^T where the link has a derivative",
        says=lambda slope, score, y: slope(score), expected="HOLDS PROVED",
        true_variants={"any y": "the label does not enter"},
    ),
)
definite = Claim(
    id="nonconvex-nn/lem-2-definite", source="002, proof of Lemma 2: the Hessian is positive definite",
    quote=r"Therefore we have $\nabla^2\ell(w; x, y) \succ 0$ and $\ell(\cdot; x, y)$ is convex", whose=Whose.TYPO,
    severity=Stake.PROOF,
    statement=r"\nabla^2\ell(w; x, y) \succ 0",
    words="the Hessian of the surrogate is positive definite",
    hypotheses=(_SLOPE, Parameter("x", kind="vector")), says=lambda value: value > 0, check=judge_definite,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla^2\ell(w; x, y) \succeq 0",
        words="the Hessian of the surrogate is positive semidefinite",
        says=lambda value: value >= 0, expected="HOLDS PROVED",
    ),
)
