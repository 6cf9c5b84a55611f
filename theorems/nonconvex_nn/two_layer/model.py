r"""Model (4), Assumption 3 and the surrogate loss (5) of document 002: what they mean, and what is misprinted.

The risk of h less that of the best function is E(h - E[y|x])^2 for every h, as E(h - y)^2 = E(h - E[y|x])^2 +
E(y - E[y|x])^2. So the display of Section 5 holds if and only if E[y|x] = link(<w*, psi> + phi) almost surely, that is
if E[zeta|x] = 0; model (4) says that the mean of zeta is 0, which is less.

The surrogate's slope along psi is link(<w, psi>) - y: it is convex in w if and only if the link rises. Link and label
lie in [0, 1], so a gradient is at most |psi| <= 1 long; and a link of slope at most G is G-smooth, differentiable or
not. Two gradients differ by at most 2, half of the 4B that Algorithm 2 with B = 1 counts with.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, real, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, at_points, computed, proof, refuted

"""Records (probability, link value at x, mean of zeta given x)."""


def judge_identity(law_of: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the display holds where zeta has the conditional means law_of(share, bias) and its reflection.

    Two values of x with probabilities p and 1 - p; zeta has the conditional means bias and what makes the total mean 0
    where law_of is that; h is any function, and the best one is E[y|x].
    """
    tried = 0
    for point in ({"share": "1/2", "bias": "1/4"}, *given.points("share", "bias")):
        share, bias = Fraction(point["share"]), Fraction(point["bias"])
        first, second = law_of(share, bias)
        tried += 1
        for h in (Fraction(0), Fraction(1, 2), Fraction(1)):
            means = (Fraction(1, 2) + first, Fraction(1, 2) + second)  # of the label; the link's value is 1/2 twice
            true = share * (h - means[0]) ** 2 + (1 - share) * (h - means[1]) ** 2
            shown = (h - Fraction(1, 2)) ** 2
            if true != shown:
                return refuted("the noise has mean 0, but not at every x", {
                    "probability of the first x": share, "mean of zeta at the first x": first, "at the second": second,
                    "mean of zeta": share * first + (1 - share) * second, "h": h, "link": "1/2",
                    "excess over the best function": true, "the display": shown})
    h_, y, mu = sympy.symbols("h y mu", real=True)
    p_, b_ = given.chart("share"), given.symbol("bias")
    return proof(
        computed("(h - y)^2 is (h - mu)^2 + (mu - y)^2 + 2 (h - mu)(mu - y), whose last term has mean 0 at mu = E[y|x]",
                 vanishes((h_ - y) ** 2 - (h_ - mu) ** 2 - (mu - y) ** 2 - 2 * (h_ - mu) * (mu - y))),
        computed("the conditional means of zeta are 0, so that E[y|x] is the link",
                 all(vanishes(sympy.sympify(mean)) for mean in law_of(p_, b_))),
        argued("so the best h is E[y|x], and what is left is E(h - E[y|x])^2, whatever the law of x"),
        tried=tried,
    )


def judge_wording(admits: Callable[[Any, Any], bool], given: Domain) -> Finding:
    """Whether every link that is admitted, of slopes s and then t, has a convex surrogate: its slope is the link's."""
    tried, admitted = 0, 0
    for point in ({"first": 1, "second": -1}, *given.points("first", "second")):
        s, t = Fraction(point["first"]), Fraction(point["second"])
        tried += 1
        admitted += bool(admits(s, t))
        if admits(s, t) and min(s, t) < 0:
            return refuted("the link falls somewhere, and there the surrogate's curvature is negative", {
                "slope of the link before 0": s, "slope after 0": t, "least curvature": min(s, t)})
        if not admits(s, t) and min(s, t) >= 0:
            return refuted("a rising link, whose surrogate is convex, is kept out", {
                "slope of the link before 0": s, "slope after 0": t, "least curvature": min(s, t)})
    return at_points("the surrogate of every link of two slopes that is admitted is convex, and rising ones are",
                     tried, {"slopes": "of both signs and 0", "admitted": str(admitted)})


def judge_constants(says: tuple[Any, Callable[[Any], Any]], given: Domain) -> Finding:
    """Whether l is Lipschitz with the first constant and smooth with the second, of G; both are attained."""
    lipschitz, smooth = says
    if lipschitz < 1:
        return refuted("a constant link 1 and the label 0 have a longer gradient", {
            "link": 1, "y": 0, "|psi|": 1, "length of the gradient": 1, "claimed": lipschitz})
    tried = 0
    for slope in given.values("G"):
        tried += 1
        if smooth(slope) < slope:
            return refuted("the gradients of a ramp differ by more", {
                "G": slope, "|psi|": 1, "distance of the weights": 1 / (2 * slope),
                "distance of the gradients": Fraction(1, 2), "claimed": smooth(slope) / (2 * slope)})
    p, q, r, u = sympy.symbols("p q r u", nonnegative=True)
    value, label, length = p / (1 + p), q / (1 + q), r / (1 + r)  # in [0, 1), the ends are limits
    slope_ = given.symbol("G")
    quotient = slope_ * u / (1 + u)  # a difference quotient of the link
    return proof(
        computed("|link - y| |psi| is at most the first constant for link, y and |psi| in [0, 1]",
                 never_negative(lipschitz - (value - label) * length, lipschitz - (label - value) * length)),
        computed("gradients differ by a difference quotient of the link, in [0, G], times |psi|^2 <= 1, at most the "
                 "second constant", never_negative(smooth(slope_) - quotient * length**2)),
        tried=tried,
    )


def judge_moves(says: Any, given: Domain) -> Finding:
    """Whether says is the largest distance of two gradients (link - y) psi."""
    most = max(abs(a * x - b * z) for a in (1, 0, -1) for b in (1, 0, -1) for x in (1, -1) for z in (1, -1))
    if says != most:
        return refuted("gradients of two records are at most that far apart, and a constant link 1 attains it", {
            "link": 1, "labels": "0 and 0", "psi": "1 and -1", "largest distance": most, "claimed": says})
    p = sympy.Symbol("p", nonnegative=True)
    length = p / (1 + p)  # in [0, 1)
    return proof(
        computed("the triangle inequality: two gradients of at most 1 are at most that far apart",
                 never_negative(says - 2 * length)),
        computed("opposite features with the label 0 under a constant link 1 attain it", most == says),
    )


def judge_interval(says: tuple[Callable[..., Any], Callable[..., Any]], given: Domain) -> Finding:
    """Whether labels and link in [low, high] become ones in [0, 1]; says = (slope, risk) of the shifted problem."""
    slope_of, risk_of = says
    tried = 0
    for point in given.points("low", "width", "G"):
        low, width, slope = (Fraction(point[name]) for name in ("low", "width", "G"))
        tried += 1
        for h, y in ((Fraction(0), Fraction(1)), (Fraction(1, 3), Fraction(1)), (Fraction(1), Fraction(1, 4))):
            before = (low + width * h - low - width * y) ** 2
            if risk_of((h - y) ** 2, low, width) != before or slope_of(slope, low, width) * width != slope:
                return refuted("the shifted problem has another risk or slope", {
                    "low": low, "width": width, "G": slope, "h": h, "y": y, "squared error": before,
                    "claimed": risk_of((h - y) ** 2, low, width), "slope of the shifted link": slope / width,
                    "claimed slope": slope_of(slope, low, width)})
    low_, width_, slope_ = (given.symbol(name) for name in ("low", "width", "G"))
    h_, y_ = sympy.symbols("h y", real=True)
    shifted = (low_ + width_ * h_ - low_ - width_ * y_) ** 2
    return proof(
        computed("the squared error is that of the shifted problem times the width squared",
                 vanishes(shifted - risk_of((h_ - y_) ** 2, low_, width_))),
        computed("the shifted link has the slope G over the width",
                 vanishes(slope_of(slope_, low_, width_) * width_ - slope_)),
        tried=tried,
    )


def judge_special_case(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the score of (4), says(<w*, psi>, phi), is <w*, x> of model (1) at phi = 0 and psi = x."""
    score, error = sympy.symbols("s phi", real=True)
    tried = 0
    for value in given.values("score"):
        tried += 1
        if says(value, 0) != value:
            return refuted("another score than that of model (1)", {
                "<w*, x>": value, "phi": 0, "score of (4)": says(value, 0)})
    return proof(computed("<w*, x> + phi is <w*, x> at phi = 0, and so it is (4) for every phi",
                          vanishes(says(score, error) - score - error)), tried=tried)


_IDENTITY = (
    r"L_{\mathcal{P}}(h) - \min_h L_{\mathcal{P}}(h) = \mathbb{E}_{(x,y) \sim \mathcal{P}}[(h(x) - \sigma(\langle "
    r"w^*, \psi(x) \rangle + \phi(x)))^2]."
)
_NOISE = (unit_interval("share", "probability of the first x").open(), real("bias", "mean of zeta at the first x"))

identity = Claim(
    id="nonconvex-nn/excess-identity", source="002, Section 5, the excess population risk under model (4)",
    quote=_IDENTITY, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L(h) - \min_h L(h) = \mathbb{E}(h - \sigma(\langle w^*, \psi\rangle + \phi))^2",
    words="the excess risk is the squared distance from the link, for a noise 'whose mean is 0'",
    hypotheses=_NOISE, says=None, check=None,
    readings=("nonconvex-nn/excess-identity-reading-mean", "nonconvex-nn/excess-identity-reading-conditional"),
    expected="AMBIGUOUS ARGUED",
)
identity_mean = Claim(
    id="nonconvex-nn/excess-identity-reading-mean", source="002, Section 5, with E zeta = 0 and no more",
    quote=r"ζ is a random noise whose mean is 0", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}\zeta = 0 \Rightarrow L(h) - \min_h L(h) = \mathbb{E}(h - \sigma(\cdot))^2",
    words="the display holds whenever the noise has mean 0",
    hypotheses=_NOISE, says=lambda share, bias: (bias, -bias * share / (1 - share)), check=judge_identity,
    flips=(Flip("mean 0 at every x", lambda share, bias: (0 * bias, 0 * bias), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/excess-identity-reading-conditional", expected="REFUTED PROVED",
)
identity_conditional = Claim(
    id="nonconvex-nn/excess-identity-reading-conditional", source="002, Section 5, with E[zeta|x] = 0",
    quote=r"ζ is a random noise whose mean is 0", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathbb{E}[\zeta|x] = 0 \Rightarrow L(h) - \min_h L(h) = \mathbb{E}(h - \sigma(\cdot))^2",
    words="the display holds if the noise has mean 0 given x",
    hypotheses=_NOISE, says=lambda share, bias: (0 * bias, 0 * bias), check=judge_identity,
    flips=(Flip("mean 0 in total", lambda share, bias: (bias, -bias * share / (1 - share)), Verdict.REFUTED),),
    true_variants=dict.fromkeys(("sign", "1 % *", "squared", "any share"), "0 in another form"),
    expected="HOLDS ARGUED",
)
special_case = Claim(
    id="nonconvex-nn/eq-4", source="002, Section 5, model (4) against model (1)",
    quote=r"Note that in the case of $\phi(x) = 0$ and ψ is the identity function, (4) is equivalent to model (1).",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\langle w^*, \psi(x)\rangle + \phi(x) = \langle w^*, x\rangle \text{ at } \phi = 0,\ \psi(x) = x",
    words="without a model error and with psi the identity, model (4) is model (1)",
    hypotheses=(real("score", "<w*, x>"),), says=lambda score, phi: score + phi, check=judge_special_case,
    flips=(Flip("the difference", lambda score, phi: phi - score, Verdict.REFUTED),), expected="HOLDS PROVED",
)
wording = Claim(
    id="nonconvex-nn/asm-3", source="002, Assumption 3: the link is 'non-monotone decreasing'",
    quote=r"is G -Lipschitz and non-monotone decreasing, and has sub-gradient everywhere.", whose=Whose.TYPO,
    severity=Stake.EDITORIAL,
    statement=r"\sigma \text{ not monotonically decreasing} \Rightarrow \ell \text{ convex}",
    words="a link that is not monotonically decreasing has a convex surrogate, as the algorithms need",
    hypotheses=(real("first", "slope of the link before 0"), real("second", "slope of the link after 0")),
    says=lambda s, t: s > 0 or t > 0, check=judge_wording, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma \text{ non-decreasing} \Rightarrow \ell \text{ convex}",
        words="a monotonically non-decreasing link has a convex surrogate", says=lambda s, t: s >= 0 and t >= 0,
        expected="HOLDS CHECKED_AT_POINTS", source="002, Assumption 3 with 'monotonically non-decreasing'",
        flips=(Flip("rising somewhere", lambda s, t: s >= 0, Verdict.REFUTED),),
        survivors={"beyond *": "slopes beyond those that are tried"},
    ),
)
constants = Claim(
    id="nonconvex-nn/eq-5", source="002, (5): the surrogate loss for link and label in [0, 1]",
    quote=r"By Lemma 2 we can see the ℓ is 1-Lipschitz and G -smooth.", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\lVert\nabla\ell\rVert \le 1, \quad \lVert\nabla\ell(w) - \nabla\ell(v)\rVert \le G\lVert w-v\rVert",
    words="the surrogate loss is 1-Lipschitz and G-smooth (Lemma 2 with B = 1 would say 2-Lipschitz)",
    hypotheses=(positive("G"),), says=(Fraction(1), lambda g: g), check=judge_constants,
    flips=(
        Flip("half the Lipschitz constant", (Fraction(1, 2), lambda g: g), Verdict.REFUTED),
        Flip("half the smoothness", (Fraction(1), lambda g: g / 2), Verdict.REFUTED),
        Flip("2-Lipschitz, which is weaker", (Fraction(2), lambda g: g), Verdict.HOLDS),
    ),
    true_variants={"* more": "a larger constant is one, too"},
    uses=("nonconvex-nn/lem-2",),
    expected="HOLDS PROVED",
)
moves = Claim(
    id="nonconvex-nn/eq-5-over-noise", source="a finding of ours: 002, Algorithm 9 runs Algorithm 2 with B = 1",
    severity=Stake.UTILITY,
    statement=r"\max \lVert\nabla\ell(w; z) - \nabla\ell(w; z')\rVert = 2 = 4B \text{ at } B = \tfrac12",
    words="two gradients differ by at most 2: the noise of Algorithm 2 with B = 1, which counts with 4, is twice "
          "what is needed",
    hypotheses=(), says=2, check=judge_moves, flips=(Flip("4B at B = 1", 4, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
interval = Claim(
    id="nonconvex-nn/footnote-6", source="002, Section 5, footnote 6",
    quote=r"We can extend to any bounded interval.", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"y = l + s y_0,\ \sigma = l + s\sigma_0: \quad G_0 = G/s,\ (\sigma - y)^2 = s^2(\sigma_0 - y_0)^2",
    words="labels and link in any interval are ones in [0, 1] but for a shift and a scale",
    hypotheses=(real("low"), positive("width"), positive("G")),
    says=(lambda g, low, width: g / width, lambda risk, low, width: risk * width**2), check=judge_interval,
    flips=(Flip("the width, not squared", (lambda g, low, width: g / width, lambda risk, low, width: risk * width),
                Verdict.REFUTED),),
    true_variants={"any *": "the scale enters as a factor only"}, expected="HOLDS PROVED",
)
