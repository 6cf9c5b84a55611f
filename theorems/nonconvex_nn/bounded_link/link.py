r"""Assumption 1 and model (1) of document 002: which links are allowed, and what the noise's mean must be.

"Non-monotone decreasing" can only mean that the link does not decrease anywhere (the proof of Lemma 2 says "since sigma
is increasing"). Read as "not a decreasing function" it allows a link that falls somewhere, and then the surrogate is
not convex: where the link has the slope s the surrogate has the curvature s |x|^2 along x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, probability
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, computed, proof, refuted


def judge_slopes(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether every link whose slopes says(slope) allows, within [-G, G], has a convex surrogate; none is left out.

    The link that has one slope s on [0, 1] has l(1) - 2 l(1/2) + l(0) = s/4 there.
    """
    tried = 0
    for slope in given.values("slope"):
        bend = slope / 2 - 2 * slope / 8  # l(1) - 2 l(1/2) + l(0), the label cancels
        tried += 1
        if bool(says(slope)) and bend < 0:
            return refuted("a link that falls somewhere is allowed, and its surrogate is not convex there", {
                "slope of the link on [0, 1]": slope, "l(0) + l(1) - 2 l(1/2)": bend})
        if not bool(says(slope)) and bend >= 0:
            return refuted("a link with a convex surrogate is not allowed", {
                "slope of the link on [0, 1]": slope, "l(0) + l(1) - 2 l(1/2)": bend})
    falls, rises = sympy.symbols("p", positive=True), sympy.symbols("q", nonnegative=True)
    return proof(
        computed("no negative slope is allowed, and every other one is",
                 not bool(says(-falls)) and bool(says(rises))),
        computed("the surrogate's slope sigma - y then never falls: its rises are slopes times steps",
                 never_negative(rises * sympy.symbols("h", nonnegative=True))),
        tried=tried,
    )


def judge_common(says: Mapping[str, tuple[Any, Any]], given: Domain) -> Finding:
    """Whether (G, B) are the least constants of the sigmoid and of tanh: suprema of the slope and of the size."""
    t = sympy.symbols("t", positive=True)  # e^-x for the sigmoid, e^-2x for tanh: every positive number
    links = {"sigmoid": (1 / (1 + t), -1), "tanh": ((1 - t) / (1 + t), -2)}
    steps = []
    for name, (link, rate) in links.items():
        slope = sympy.simplify(rate * t * sympy.diff(link, t))
        at_zero, supremum = slope.subs(t, 1), sympy.limit(link, t, 0)
        steepest, size = (sympy.Rational(Fraction(part).numerator, Fraction(part).denominator) for part in says[name])
        if not vanishes(steepest - at_zero, size - supremum):
            return refuted("another constant is the least one", {
                "link": name, "claimed G": steepest, "slope at 0": at_zero, "claimed B": size, "supremum": supremum})
        top, bottom = sympy.fraction(sympy.together(steepest - slope))
        lead = sympy.Poly(top, t).LC()
        steps += [
            computed(f"{name}: the slope is positive", never_negative(slope)),
            computed(f"{name}: G minus the slope is a positive multiple of (e^-x - 1)^2 over a positive number",
                     bool(lead > 0) and bottom.is_positive is True and vanishes(top - lead * (t - 1) ** 2)),
        ]
    return proof(*steps)


Mean = Callable[[Any, Any], Any]


def judge_noise(says: Mean, given: Domain) -> Finding:
    """Whether w* minimises the risk when the noise has the conditional mean says(x, c); x = +1 or -1, w* = 0.

    The link is the clip to [-1, 1], scores are within it, and E zeta = (says(1, c) + says(-1, c))/2 = 0.
    """
    tried = 0
    for size in given.values("c"):
        means = {x: says(x, size) for x in (Fraction(1), Fraction(-1))}
        risk = {w: sum((w * x - mean) ** 2 for x, mean in means.items()) / 2 for w in (Fraction(0), size)}
        tried += 1
        if means[Fraction(1)] + means[Fraction(-1)] != 0:
            return refuted("the noise has another mean than zero", {"c": size, "mean": means[Fraction(1)]})
        if risk[size] < risk[Fraction(0)]:
            return refuted("the noise has mean zero, and another model has less risk than w* = 0", {
                "noise": "zeta = c x", "c": size, "x": "1 or -1, each half of the time", "w": size,
                "risk of w* beyond the noise's own": risk[Fraction(0)], "risk of w": risk[size]})
    s, t, y, c = sympy.symbols("s t y c", real=True)
    excess = sympy.expand((s - y) ** 2 - (t - y) ** 2)
    return proof(
        computed("(s - y)^2 - (t - y)^2 is linear in y, and (s - t)^2 at y = t: so is its mean if E[y|x] = t",
                 vanishes(excess.subs(y, t) - (s - t) ** 2, sympy.diff(excess, y, 2))),
        computed("the noise has the conditional mean 0 given either x", vanishes(says(Fraction(1), c),
                                                                                 says(Fraction(-1), c))),
        tried=tried,
    )


_ASSUMED = (
    r"the link function $\sigma : \mathbb{R} \mapsto [-B, B]$ is G -Lipschitz and non-monotone decreasing."
)
_SLOPES = (Parameter("slope", low=Fraction(-1), high=Fraction(1), meaning="a slope of the link over G"),)

assumption = Claim(
    id="nonconvex-nn/asm-1", source="002, Assumption 1: the link is non-monotone decreasing",
    quote=_ASSUMED, whose=Whose.TYPO, severity=Stake.PROOF,
    statement=r"\sigma \text{ not a decreasing function} \Rightarrow \ell \text{ convex}",
    words="a Lipschitz link that is not a decreasing function (it may fall somewhere) has a convex surrogate",
    hypotheses=_SLOPES, says=lambda slope: slope >= -1, check=judge_slopes,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma \text{ monotone non-decreasing} \iff \ell(\cdot; x, y) \text{ convex}",
        words="the links whose surrogate is convex are the monotone non-decreasing ones",
        says=lambda slope: slope >= 0, expected="HOLDS PROVED", source="002, Assumption 1, monotone non-decreasing",
        flips=(Flip("increasing only", lambda slope: slope > 0, Verdict.REFUTED),),
        true_variants={"any slope": "a slope of any size bends the surrogate by its sign"},
    ),
)
common = Claim(
    id="nonconvex-nn/asm-1-common", source="002, Section 4.1.1: sigmoid and tanh satisfy Assumption 1",
    quote=(
        r"In fact, many activation functions that are commonly used in neural networks satisfy Assumption 1, such as "
        r"sigmoid function $\sigma(x) = \frac{1}{1 + \exp(-x)}$ and tanh function"
    ),
    whose=Whose.PRINTED,
    statement=r"\text{sigmoid: } G = \tfrac14,\ B = 1; \quad \tanh: G = 1,\ B = 1",
    words="sigmoid and tanh increase, with the least constants G = 1/4, B = 1 and G = 1, B = 1",
    hypotheses=(), says={"sigmoid": (Fraction(1, 4), 1), "tanh": (1, 1)}, check=judge_common,
    flips=(Flip("G = 1/5 for the sigmoid", {"sigmoid": (Fraction(1, 5), 1), "tanh": (1, 1)}, Verdict.REFUTED),),
    uses=("nonconvex-nn/asm-1",), rests_on=("nonconvex-nn/asm-1-repaired",),
    expected="HOLDS PROVED",
)
noise = Claim(
    id="nonconvex-nn/eq-1-noise", source="002, (1): the noise has zero mean (given x, or on the whole)",
    quote="where ζ is random noise with zero mean.", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\mathbb{E}\zeta = 0 \Rightarrow w^* \in \mathop{argmin} L_{\mathcal{P}}",
    words="with noise of mean zero w* minimises the risk",
    hypotheses=(probability("c"),), says=None, check=None,
    readings=("nonconvex-nn/eq-1-noise-reading-marginal", "nonconvex-nn/eq-1-noise-conditional"),
    expected="AMBIGUOUS PROVED",
)
marginal = Claim(
    id="nonconvex-nn/eq-1-noise-reading-marginal", source="002, (1), the mean taken over x as well",
    quote=noise.quote, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\mathbb{E}\zeta = 0 \Rightarrow w^* \in \mathop{argmin} L_{\mathcal{P}}",
    words="noise whose mean over everything is zero leaves w* a minimiser of the risk",
    hypotheses=noise.hypotheses, says=lambda x, c: c * x, check=judge_noise,
    flips=(Flip("none, given x", lambda x, c: 0 * c * x, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/eq-1-noise-conditional",
    expected="REFUTED PROVED",
)
conditional = Claim(
    id="nonconvex-nn/eq-1-noise-conditional", source="002, Section 4.1.1: E[y|x] = sigma(<w*, x>)",
    quote=r"the Bayes optimal classifier satisfies $\mathbb{E}[y|x] = \sigma(\langle w^*, x \rangle)$",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\mathbb{E}[\zeta|x] = 0 \Rightarrow L_{\mathcal{P}}(w) - L_{\mathcal{P}}(w^*) = \mathbb{E}"
              r"(\sigma(\langle w,x\rangle) - \sigma(\langle w^*,x\rangle))^2",
    words="noise whose mean given x is zero leaves w* a minimiser: the excess risk is E(sigma_w - sigma_w*)^2",
    hypotheses=noise.hypotheses, says=lambda x, c: 0 * c * x, check=judge_noise,
    flips=(Flip("a mean that depends on x", lambda x, c: c * x, Verdict.REFUTED),),
    true_variants=dict.fromkeys(("sign", "1 % *", "squared"), "0 is its own multiple")
    | {"any c": "the mean is 0 for every c", "beyond argument 0*": "x is 1 or -1"},
    expected="HOLDS PROVED",
)
known_norm = Claim(
    id="nonconvex-nn/asm-1-known-W", source="002, after Assumption 1: a known W is a recurring theme",
    quote=(
        r"The assumption of $\|w^*\|_2 \leq W$ for a given known W is a recurring theme in the literature on private "
        r"learning and statistical estimation."
    ),
    whose=Whose.PRINTED, statement=r"\text{no formula}", words="earlier work assumes a known bound W on |w*|, too",
    hypotheses=(), says=None,
    check=citing(Verdict.NOT_CHECKABLE, "what Cai et al. 2021 and Wang and Xu 2020b assume: their texts settle it"),
    expected="NOT_CHECKABLE CITED",
)
scaled = Claim(
    id="nonconvex-nn/footnote-3", source="002, footnote 3: |x| <= 1 is no restriction",
    quote=r"For simplicity, here we assume $\|x\|_2 \leq 1$",
    whose=Whose.PRINTED,
    statement=r"\langle w, x\rangle = \langle R w, x/R\rangle: \ |x| \le R,\ |w^*| \le W \text{ is } |x| \le 1,"
              r"\ |w^*| \le RW",
    words="records of length up to R are records of length up to 1 with W replaced by R W: scores are the same",
    hypotheses=(positive("R"),), says=lambda radius, norm: radius * norm,
    check=lambda says, given: judge_scaling(says, given),
    flips=(Flip("W unchanged", lambda radius, norm: norm, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)


def judge_scaling(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the parameter that belongs to x/R has the length says(R, |w|): scores stay the same."""
    tried = 0
    for radius in given.values("R"):
        tried += 1
        if says(radius, Fraction(3)) / radius != 3:
            return refuted("another score", {"R": radius, "w": 3, "claimed": says(radius, Fraction(3)),
                                             "needed": 3 * radius})
    radius_, w = given.symbol("R"), sympy.symbols("w", positive=True)
    return proof(computed("claimed length times 1/R is |w|, on symbols", vanishes(says(radius_, w) / radius_ - w)),
                 tried=tried)
