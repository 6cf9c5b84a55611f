r"""What document 002, Section 4.1.3, says of the ReLU link and of its surrogate loss, and how its rate compares.

The surrogate at the score z is max(0, z)^2/2 - y z, with slope max(0, z) - y.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

One = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]


def relu(z: Fraction) -> Fraction:
    """max(0, z)."""
    return max(Fraction(0), z)


def beyond(name: str) -> Callable[[One, Domain], Finding]:
    """A checker: is the ReLU at says(limit) above the limit of that name, for every limit?"""

    def judge(says: One, given: Domain) -> Finding:
        tried = 0
        for limit in given.values(name):
            tried += 1
            if relu(says(limit)) <= limit:
                return refuted("not above it there", {name: limit, "z": says(limit)})
        limit_ = given.symbol(name)
        return proof(computed("the score is above the limit, which is positive, and there the link is the score itself",
                              limit_.is_positive is True and (says(limit_) - limit_).is_positive is True), tried=tried)

    return judge


def judge_lemma_3(says: Fraction, given: Domain) -> Finding:
    """Whether (relu(b) - relu(a))^2 <= says int_a^b (relu(z) - relu(a)) dz for all scores; Lemma 3 has 2G, G = 1."""
    tried = 0
    for point in given.points("a", "b", at_most=200):
        a, b = point["a"], point["b"]
        surrogate = (relu(b) ** 2 - relu(a) ** 2) / 2 - relu(a) * (b - a)
        tried += 1
        if (relu(b) - relu(a)) ** 2 > says * surrogate:
            return refuted("the squared loss falls behind", {
                "<w*, x>": a, "<w, x>": b, "squared": (relu(b) - relu(a)) ** 2, "surrogate": surrogate, "factor": says})
    p, q = sympy.symbols("p q", nonnegative=True)
    factor = sympy.Rational(says.numerator, says.denominator)
    cases = {  # (a, b) by signs: the surrogate's and the squared difference
        "a, b >= 0, a <= b": (q**2 / 2, q**2), "a, b >= 0, b <= a": (q**2 / 2, q**2),
        "a <= 0 <= b": (q**2 / 2, q**2), "b <= 0 <= a": (p**2 / 2 + p * q, p**2), "both <= 0": (0 * q, 0 * q),
    }
    return proof(
        computed("max(0, z)^2/2 - a z in the five orders of 0, a and b", vanishes(
            ((p + q) ** 2 - p**2) / 2 - p * q - q**2 / 2, (p**2 - (p + q) ** 2) / 2 + (p + q) * q - q**2 / 2,
            -(p**2) / 2 + p * (p + q) - p**2 / 2 - p * q)),
        computed("in each of them the factor is enough",
                 all(never_negative(factor * small - large) for small, large in cases.values())),
        tried=tried,
    )


def judge_gradient(says: Two, given: Domain) -> Finding:
    """Whether the longest gradient for |w| <= W, |x| <= 1, |y| <= B is says(W, B)."""
    tried = 0
    for point in given.points("W", "B", at_most=60):
        w, b = point["W"], point["B"]
        longest = max(abs(relu(z) - y) * s for s in (Fraction(1), Fraction(1, 2)) for z in (-w * s, 0 * w, w * s)
                      for y in (-b, b))
        tried += 1
        if longest != says(w, b):
            return refuted("the longest gradient is another", {"W": w, "B": b, "longest": longest,
                                                               "claimed": says(w, b)})
    w_, b_ = given.symbol("W"), given.symbol("B")
    s, t, u = sympy.symbols("s t u", nonnegative=True)
    return proof(
        computed("|max(0, z) - y| |x| <= (W/(1+s) + B/(1+t))/(1+u) is at most W + B, attained at x = w/|w|, y = -B",
                 never_negative(says(w_, b_) - (w_ / (1 + s) + b_ / (1 + t)) / (1 + u))
                 and vanishes(says(w_, b_) - w_ - b_)),
        tried=tried,
    )


def judge_sign(says: Two, given: Domain) -> Finding:
    """Whether at the score says(y, C) the surrogate of a label y < 0 is below -C."""
    tried = 0
    for point in given.points("y", "C", at_most=60):
        y, limit = point["y"], point["C"]
        z, tried = says(y, limit), tried + 1
        if relu(z) ** 2 / 2 - y * z >= -limit:
            return refuted("not below there", {"y": y, "C": limit, "z": z, "surrogate": relu(z) ** 2 / 2 - y * z})
    size, limit_ = sympy.symbols("s C", positive=True)
    z_ = says(-size, limit_)
    return proof(
        computed("the score is negative, and -y z = |y| z is below -C", z_.is_negative is True and (
            -limit_ - size * z_).is_positive is True and given["y"].high is not None and given["y"].high <= 0),
        tried=tried,
    )


def judge_slope(says: Two, given: Domain) -> Finding:
    """Whether says(relu, gradient) has no finite Lipschitz constant: difference quotients from 0 grow without end."""
    tried = 0
    for z in given.values("z"):
        tried += 1
        quotient = says(relu(z), relu(z) ** 2 / 2) / z
        if abs(quotient) <= 1 < z / 2:
            return refuted("its slope is at most 1", {
                "z": z, "value at z": says(relu(z), relu(z) ** 2 / 2), "value at 0": 0, "quotient": quotient})
    z_, limit = given.symbol("z"), sympy.symbols("C", positive=True)
    quotient_ = says(z_, z_**2 / 2) / z_
    return proof(computed("the quotient z/2 is above C at z = 2C + 2", vanishes(quotient_ - z_ / 2) and (
        quotient_.subs(z_, 2 * limit + 2) - limit).is_positive is True), tried=tried)


def judge_worse(says: Two, given: Domain) -> Finding:
    """Whether says(root of d, root of theta) > 0: the private branch of the ReLU rate is worse by that, theta <= d."""
    tried = 0
    for point in led(given, at_most=60, d=4, theta=4):
        d, theta = point["d"], point["theta"]
        if theta > d:
            continue
        tried += 1
        if not says(d, theta):
            return refuted("the two rates are the same", {"d": d, "theta": theta, "sqrt(d)/(n epsilon)": f"sqrt({d})",
                                                          "sqrt(theta)/(n epsilon)": f"sqrt({theta})"})
    theta_, more = given.symbol("theta"), sympy.symbols("r", nonnegative=True)
    return proof(computed("d = theta + r, r >= 0: it is never better", says(theta_ + more, theta_) in (True,
                                                                                                       sympy.true)),
                 argued("theta is a bound on the rank, which is at most d"), tried=tried)


def judge_mirror(says: tuple[Callable[..., Any], Callable[..., Any]], given: Domain) -> Finding:
    """Whether the private branches of the two rates, in (n, epsilon, dimension), are one expression."""
    tried = 0
    for point in given.points("n", "epsilon", "dimension", at_most=40):
        values = [sympy.Rational(str(Fraction(point[name]))) for name in ("n", "epsilon", "dimension")]
        one, other = (form(*values) for form in says)
        tried += 1
        if sympy.simplify(one - other) != 0:
            return refuted("two rates", {**{k: str(v) for k, v in point.items()}, "bounded": one, "ReLU": other})
    symbols = [given.symbol(name) for name in ("n", "epsilon", "dimension")]
    return proof(computed("one expression", vanishes(says[0](*symbols) - says[1](*symbols))), tried=tried)


_BOUNDED = (
    r"Although this assumption includes several commonly used activation functions, it excludes the ReLU function "
    r"where "
    r"$\sigma(x) = \max\{0, x\}$ due to the boundedness assumption of σ ."
)
_WORSE = (
    r"This bound is worse than those derived in the previous section because the ReLU link function is not Lipschitz "
    r"over \mathbb{R}^d ."
)
_DIMENSIONS = (positive_integer("d"), positive_integer("theta"))

excluded = Claim(
    id="nonconvex-nn/relu-excluded", source="002, Section 4.1.3: ReLU is not bounded", quote=_BOUNDED,
    whose=Whose.PRINTED,
    statement=r"\forall B\ \exists z: \max(0, z) > B", words="the ReLU link leaves [-B, B] at z = B + 1, for every B",
    hypotheses=(positive("B"),), says=lambda b: b + 1, check=beyond("B"),
    flips=(Flip("at B", lambda b: b, Verdict.REFUTED),),
    true_variants={"1 % more": "further out", "1 -> 2*": "further out"}, expected="HOLDS PROVED",
)
lemma_3 = Claim(
    id="nonconvex-nn/relu-lem-3", source="002, Section 4.1.3: Lemma 3 for the ReLU link, G = 1",
    quote=r"Note that since ReLU is Lipschitz, we can still use Lemma 3", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"(\sigma(b) - \sigma(a))^2 \le 2 \int_a^b (\sigma(z) - \sigma(a))\,dz",
    words="the squared excess loss of the ReLU link is at most twice the surrogate's",
    hypotheses=(real("a"), real("b")), says=Fraction(2), check=judge_lemma_3,
    flips=(Flip("1", Fraction(1), Verdict.REFUTED),),
    true_variants={"1 % more": "larger", "one more": "larger"}, expected="HOLDS PROVED",
)
unbounded = Claim(
    id="nonconvex-nn/relu-not-lipschitz", source="002, Section 4.1.3: the surrogate's gradient is unbounded",
    quote=r"the surrogate loss function $\ell(w; x, y)$ is no longer Lipschitz over the whole space \mathbb{R}^d , as "
          r"$\nabla \ell(w; x, y) = (\sigma(\langle w, x \rangle) - y)x$ is unbounded", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"\sup_w \lVert \nabla\ell(w; x, y) \rVert = \infty",
    words="the gradient of the ReLU surrogate is longer than any C at |w| = C + 1, x = w/|w|, y = 0",
    hypotheses=(positive("C"),),
    says=lambda limit: limit + 1, check=beyond("C"), flips=(Flip("at C", lambda limit: limit, Verdict.REFUTED),),
    true_variants={"1 % more": "further out", "1 -> 2*": "further out"}, expected="HOLDS PROVED",
)
gradient = Claim(
    id="nonconvex-nn/relu-grad-bound", source="002, Section 4.1.3: gradients on a ball",
    quote=r"for any w with $\|w\|_2 \leq W$, we have $\|\nabla \ell(w; x, y)\|_2 \leq W + B$", whose=Whose.PRINTED,
    severity=Stake.PRIVACY, statement=r"\lVert w \rVert \le W \Rightarrow \lVert \nabla\ell \rVert \le W + B",
    words="gradients of the ReLU surrogate at |w| <= W are at most W + B long, and no less",
    hypotheses=(positive("W"), positive("B")), says=lambda w, b: w + b, check=judge_gradient,
    flips=(Flip("max(W, B)", lambda w, b: max(w, b), Verdict.REFUTED),), expected="HOLDS PROVED",
)
signs = Claim(
    id="nonconvex-nn/relu-nonneg-prose", source="002, Section 4.1.3: the loss (2) is not non-negative",
    quote=r"However, their analysis assumes the loss function to be non-negative, whereas our loss function ℓ in (2) "
          r"does "
          r"not satisfy this assumption.", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"y < 0: \inf_z \left(\tfrac12 \max(0,z)^2 - yz\right) = -\infty",
    words="the ReLU surrogate of a label y < 0 is below -C at z = 2C/y, for every C",
    hypotheses=(Parameter("y", high=Fraction(0), high_open=True), positive("C")), says=lambda y, limit: 2 * limit / y,
    check=judge_sign, flips=(Flip("at -2C/y", lambda y, limit: -2 * limit / y, Verdict.REFUTED),),
    true_variants={"1 % *": "room", "2 -> 3*": "further out", "[*] -> +*": "further out"}, expected="HOLDS PROVED",
)
slope = Claim(
    id="nonconvex-nn/relu-nonneg-prose-lipschitz", source="002, Section 4.1.3: the ReLU link is not Lipschitz",
    quote=_WORSE, whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\sup \frac{|\sigma(z) - \sigma(z')|}{|z - z'|} = \infty", words="the ReLU link is not Lipschitz",
    hypotheses=(positive("z"),), says=lambda link, surrogate: link, check=judge_slope, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sup \frac{|\ell(z) - \ell(z')|}{|z - z'|} = \infty",
        words="the surrogate loss of the ReLU link (y = 0) is not Lipschitz; the link is, with constant 1",
        says=lambda link, surrogate: surrogate, expected="HOLDS PROVED",
        true_variants={"only at *": "one value less or more makes no function Lipschitz"},
    ),
)
worse = Claim(
    id="nonconvex-nn/relu-worse-prose", source="002, Section 4.1.3: worse than the bounds before", quote=_WORSE,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\frac{\sqrt d}{n\epsilon} \text{ against }"
    r" \frac{\sqrt\theta}{n\epsilon}",
    words="the ReLU rate is worse than the bounded one: never better, but the same where theta = d",
    hypotheses=(), says=None, check=None,
    readings=("nonconvex-nn/relu-worse-prose-reading-weakly", "nonconvex-nn/relu-worse-prose-reading-strictly"),
    expected="AMBIGUOUS ARGUED",
)
worse_weakly = Claim(
    id="nonconvex-nn/relu-worse-prose-reading-weakly", source="002, Section 4.1.3, worse read as no better",
    quote=_WORSE, whose=Whose.READING, severity=Stake.UTILITY, statement=r"\sqrt d \ge \sqrt\theta",
    words="the private branch of the ReLU rate is no better than that of the bounded one, as theta <= d",
    hypotheses=_DIMENSIONS, says=lambda d, theta: d >= theta, check=judge_worse,
    flips=(Flip("strictly", lambda d, theta: d > theta, Verdict.REFUTED),), expected="HOLDS ARGUED",
    true_variants={"any *": "theta <= d is the same comparison for all numbers"},
)
worse_strictly = Claim(
    id="nonconvex-nn/relu-worse-prose-reading-strictly", source="002, Section 4.1.3, worse read as strictly worse",
    quote=_WORSE, whose=Whose.READING, severity=Stake.UTILITY, statement=r"\sqrt d > \sqrt\theta",
    words="the private branch of the ReLU rate is strictly worse than that of the bounded one", hypotheses=_DIMENSIONS,
    says=lambda d, theta: d > theta, check=judge_worse, repaired_by="nonconvex-nn/relu-worse-prose-reading-weakly",
    flips=(Flip("no better", lambda d, theta: d >= theta, Verdict.HOLDS),), expected="REFUTED PROVED",
)
mirror = Claim(
    id="nonconvex-nn/abstract-relu-mirror", source="002, abstract: the rates of both links, d for theta",
    quote=r"We also delve into the scenario involving the ReLU link function, and our findings mirror those of the "
          r"bounded "
          r"link function.", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\frac{\sqrt\theta}{n\epsilon}\Big|_{\theta = d} = \frac{\sqrt d}{n\epsilon}",
    words="the rates that the introduction states for bounded links and for ReLU are the same with d for theta",
    hypotheses=(positive_integer("n"), Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True),
                positive_integer("dimension")),
    says=(lambda n, epsilon, dimension: sympy.sqrt(dimension) / (n * epsilon) + 1 / sympy.sqrt(n),
          lambda n, epsilon, dimension: 1 / sympy.sqrt(n) + sympy.sqrt(dimension) / (n * epsilon)), check=judge_mirror,
    flips=(Flip("d for its root", (
        lambda n, epsilon, dimension: dimension / (n * epsilon) + 1 / sympy.sqrt(n),
        lambda n, epsilon, dimension: 1 / sympy.sqrt(n) + sympy.sqrt(dimension) / (n * epsilon)), Verdict.REFUTED),),
    true_variants={"any dimension": "one expression for all numbers"}, expected="HOLDS PROVED",
)
arora = Claim(
    id="nonconvex-nn/relu-arora-same", source="002, Section 4.1.3: Arora et al. (2022b)",
    quote=r"It is worth noting that Arora et al. (2022b) also employs DP-PGD for convex generalized linear loss and "
          r"obtains "
          r"the same bound.", whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"\text{no formula}",
    words="Arora et al. (2022b) obtain the same bound for DP-PGD on non-negative generalised linear losses",
    hypotheses=(),
    says=None, check=citing(Verdict.NOT_CHECKABLE, "what another paper shows; its text is not among the documents: its "
                            "theorem on smooth non-negative losses would settle it"),
    expected="NOT_CHECKABLE CITED",
)
