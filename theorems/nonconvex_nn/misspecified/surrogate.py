r"""The surrogate of Section 4.2 of document 002: its gradient, its strong convexity, and Lemmas 11 and 12.

Let a = <w,x>, b = <v,x>, u = w - v, g = <u,x> = a - b, D = relu(a) - relu(b). In every case of signs

    0 <= D^2 <= D g <= g^2,     and D g > 0 where a > b, a > 0 (or b > a, b > 0).                        (S)

Gradient. d/dw int_0^<w,x> (relu(z) - y) dz = (relu(<w,x>) - y) x; x and y are bounded, so that the mean may be
differentiated: the gradient of the population's surrogate is chi_w - chi_P.

Symmetric x. relu(a) - relu(-a) = a, so x and -x together give a x: chi_w = E relu(<w,x>) x = E <w,x> x/2 = w/2.

Strong convexity. <chi_w - chi_v, u> = E D g, homogeneous in (w, v). Let |u| = 1. E D g > 0 for every w, v: one of them
is not 0, say w, and E<w,x> = 0 with a density gives P(a > 0) > 0, where relu(a) - relu(b) is not 0 unless g = 0. As
|v| grows, E D g tends to E[g^2; <v^,x> > 0] > 0, v^ = v/|v|, uniformly on u, v^ by dominated convergence. So E D g is
positive and continuous on a compact set, and has a least value mu > 0. One mu does for all isotropic log-concave laws
of all dimensions: E D g depends on the law of (<u,x>, <v,x>) only, an isotropic log-concave law in the plane (after a
rotation); those form a compact set under weak convergence, all of them have densities, and the second moments converge.
mu <= 1/2 always, as E[g^2; <v,x> > 0] + E[g^2; <v,x> < 0] = 1.

Lemma 11. r = relu(<w,x>) - y, c = <E r x, e> for a unit vector e: E(r - c <e,x>)^2 = L(w) - c^2 >= 0.
Lemma 12. E D^2 <= E D g = <chi_w - chi_v, u> <= |chi_w - chi_v| |u|, and mu |u|^2 <= <chi_w - chi_v, u> gives
|u| <= |chi_w - chi_v|/mu: E D^2 <= |chi_w - chi_v|^2/mu. For symmetric x and v = 0 both sides are |w|^2/2, and so it is
for w < 0 = v in one dimension: the constant 1/mu is the least.
Final step. |E D x|^2 <= E D^2 (Lemma 11's proof) <= E g^2 = |u|^2: the gradient is 1-Lipschitz.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter
from theorems.given import Domain
from theorems.nonconvex_nn.misspecified.laws import UNIFORM, chi, inner, mean_times_x, relu, share, sign_cases, signs
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as is_positive
from theorems.verdict import Finding, ProofStep, argued, computed, instance, proof, refuted

_SMALL = (Fraction(-3), Fraction(-1, 2), Fraction(0), Fraction(1), Fraction(2))


def below_its_argument() -> ProofStep:
    """The step (S): a difference of ReLUs, squared, is at most its product with the difference of their arguments."""
    cases = sign_cases(relu)
    return computed("D^2 <= D g <= g^2 in all cases of signs, D a difference of ReLUs and g of their arguments", all(
        never_negative(d * g - d**2, g**2 - d * g) for d, g in cases))


def judge_gradient(slope: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether slope(score, label, x) is the derivative by w of int_0^{wx} (relu(z) - y) dz."""
    tried = 0
    for score, label, x in itertools.product(given.values("score"), given.values("label"), _SMALL):
        tried += 1
        true = (relu(score) - label) * x
        if slope(score, label, x) != true:
            return refuted("the surrogate's derivative is another",
                           {"<w,x>": score, "y": label, "x": x, "claimed": slope(score, label, x), "derivative": true})
    z, x_, label_ = sympy.symbols("z x y", real=True)
    size = sympy.Symbol("s", nonnegative=True)
    steps = []
    for score in (size, -size):
        integrand = (z if score is size else 0) - label_
        loss = sympy.integrate(integrand, (z, 0, score))
        derivative = sympy.diff(loss, size) * (1 if score is size else -1) * x_  # the score has the derivative x
        steps.append(vanishes(slope(score, label_, x_) - derivative))
    return proof(
        computed("the derivative by w, for scores of either sign", all(steps)),
        argued("x and y are bounded, so that the mean of the losses may be differentiated under the mean"),
        tried=tried,
    )


def judge_symmetric(half: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E relu(<w,x>) x has the coordinates half(w_i) for symmetric isotropic x."""
    tried = 0
    for dimension in (1, 2, 3):
        for w in given.vectors("w", dimension):
            tried += 1
            found, claimed = chi(relu, w), tuple(half(Fraction(one)) for one in w)
            if found != claimed:
                return refuted("x uniform on the signs gives another vector",
                               {"w": list(w), "chi": [str(one) for one in found], "claimed": [str(c) for c in claimed]})
    size, free = sympy.Symbol("s", nonnegative=True), sympy.Symbol("w", real=True)
    return proof(
        computed("relu(a) - relu(-a) = a for either sign, so that x and -x together give <w,x> x",
                 vanishes(relu(size) - relu(-size) - size, relu(-size) - relu(size) + size)),
        computed("E <w,x> x / 2 = w/2, as E xx^T = I", vanishes(half(free) - free / 2)),
        argued("x and -x have one law: the mean is half of that over the pairs"),
        tried=tried,
    )


def judge_minimiser(twice: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether w_i = twice(E y x_i) is where the surrogate's gradient vanishes, x symmetric and isotropic."""
    tried = 0
    for dimension in (1, 2):
        for labels in itertools.product((-1, 0, 2), repeat=2**dimension):
            centre = mean_times_x(labels, dimension)
            w = tuple(twice(one) for one in centre)
            gradient = mean_times_x(
                [relu(inner(w, x)) - y for x, y in zip(signs(dimension), labels, strict=True)], dimension)
            tried += 1
            if any(gradient):
                return refuted("the gradient does not vanish there", {
                    "d": dimension, "labels at the signs": list(labels), "w": [str(one) for one in w],
                    "gradient": [str(one) for one in gradient]})
    free = sympy.Symbol("c", real=True)
    return proof(computed("w/2 - c = 0 there, on symbols", vanishes(twice(free) / 2 - free)), tried=tried)


def judge_link(link: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (link(a) - link(b))(a - b) >= 0, and > 0 where the larger of a and b is positive: what mu > 0 needs."""
    tried = 0
    for a, b in itertools.product(given.values("a"), given.values("b")):
        tried += 1
        product = (link(a) - link(b)) * (a - b)
        if product < 0 or (product <= 0 < max(a, b) and a != b):
            return refuted("no curvature where the scores are positive",
                           {"a": a, "b": b, "link(a)": link(a), "link(b)": link(b), "product": product})
    p, q = sympy.symbols("p q", positive=True)
    rising = [(link(p + q) - link(p)) * q, (link(p) - link(-q)) * (p + q)]
    return proof(
        computed("D g >= 0 in all cases of signs", all(never_negative(d * g) for d, g in sign_cases(link))),
        computed("D g > 0 where the larger score is positive", is_positive(*rising)),
        argued("isotropic with a density: the mean of D g is positive for all w and v, and continuous on a compact set "
               "of directions and lengths, infinite ones included; log-concave plane marginals are compact, too"),
        tried=tried,
    )


def judge_half(constant: Fraction, given: Domain) -> Finding:
    """Whether <chi_w - chi_v, w - v> = constant |w - v|^2 for symmetric isotropic x."""
    tried = 0
    for w, v in itertools.product(given.vectors("w", 2), given.vectors("v", 2)):
        tried += 1
        u = [a - b for a, b in zip(w, v, strict=True)]
        found = inner([a - b for a, b in zip(chi(relu, w), chi(relu, v), strict=True)], u)
        if found != constant * inner(u, u):
            return refuted("x uniform on the signs has another constant",
                           {"w": list(w), "v": list(v), "<chi_w - chi_v, w - v>": found, "|w - v|^2": inner(u, u)})
    lam = sympy.symbols("l", nonnegative=True)
    return proof(
        computed("chi is w/2, so that the product is |w - v|^2/2",
                 vanishes(sympy.Rational(str(constant)) * lam - lam / 2)),
        tried=tried,
    )


def judge_exponential(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether constant(e) is the constant of x = (exponential) - 1: the smaller of E[x^2; x<0] and E[x^2; x>0]."""
    x = sympy.Symbol("x", real=True)
    density = sympy.exp(-(x + 1))
    parts = [sympy.integrate(x**2 * density, (x, *ends)) for ends in ((-1, 0), (0, sympy.oo))]
    least = min(parts, key=lambda one: sympy.N(one, 30))
    said = constant(sympy.E)
    if not vanishes(said - least):
        return refuted("the shares of the second moment are others",
                       {"E[x^2; x < 0]": parts[0], "E[x^2; x > 0]": parts[1], "claimed": said})
    return instance("both shares by integration; their sum is 1", {"mu": least, "about": sympy.N(least, 12)})


def judge_product(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether two independent copies have curvature constant(e) along (1, -1) as v goes to infinity along -(1, 1)."""
    s, t = sympy.symbols("s t", positive=True)
    given_sum = sympy.integrate(t**2, (t, -s, s)) / (2 * s) / 2  # E[(x_1 - x_2)^2 | sum = s]/2: uniform on [-s, s]
    found = sympy.integrate(sympy.expand(s * given_sum) * sympy.exp(-s), (s, 0, 2))
    if not vanishes(constant(sympy.E) - found):
        return refuted("the part of the second moment below the mean sum is another",
                       {"E[(x_1 - x_2)^2/2; x_1 + x_2 < 0]": found, "claimed": constant(sympy.E)})
    return proof(
        computed("E[g^2; x_1 + x_2 < 0] for g = (x_1 - x_2)/sqrt(2), by integration",
                 vanishes(constant(sympy.E) - found)),
        argued("E D g tends to it for w - v = (1, -1)/sqrt(2) as v goes to infinity along -(1, 1): mu is at most that; "
               "further coordinates do not enter"),
    )


def judge_distance(bound: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether |chi_w - chi_P|^2 <= bound(L(w)) for isotropic x; only the residual matters."""
    tried = 0
    for values in itertools.product((-2, 0, 1), repeat=4):
        tried += 1
        risk, moved = Fraction(sum(v * v for v in values), 4), mean_times_x(values, 2)
        if inner(moved, moved) > bound(risk):
            return refuted("residuals on the four signs",
                           {"residuals": list(values), "L": risk, "|chi_w - chi_P|^2": inner(moved, moved),
                            "claimed": bound(risk)})
    t, c = sympy.symbols("t c", real=True)
    rest = sympy.Symbol("s", nonnegative=True)
    risk_ = c**2 + rest
    square = risk_ - 2 * t * c + t**2  # E(r - t <e,x>)^2, as E<e,x>^2 = 1
    return proof(
        computed("E(r - c <e,x>)^2 = L - c^2, c = <E r x, e>", vanishes(square.subs(t, c) - (risk_ - c**2))),
        computed("so L = c^2 + something not negative, and the bound is at least c^2",
                 never_negative(bound(risk_) - c**2)),
        argued("e the direction of E r x makes c its length"),
        tried=tried + len(given.values("risk")),
    )


def judge_lipschitz(bound: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether |grad(w) - grad(v)|^2 <= bound(|w - v|^2) for the population's surrogate, x isotropic."""
    tried = 0
    for below in (share(0), share(7)):
        for u in given.values("distance"):
            tried += 1
            steep = ((1 - below) * u) ** 2  # one dimension, w > v > 0
            if steep > bound(u**2):
                return refuted("one dimension, both scores positive",
                               {"E[x^2; x > 0]": 1 - below, "w - v": u, "|difference|^2": steep,
                                "claimed": bound(u**2)})
    for u in given.values("distance"):
        if bound(u**2) < u**2:
            return refuted("as nearly all of x^2 sits above 0, the slope comes near 1", {
                "w - v": u, "least bound that all laws obey": u**2, "claimed": bound(u**2)})
    size = sympy.Symbol("n", nonnegative=True)
    return proof(
        below_its_argument(),
        computed("E g^2 = |w - v|^2 is within the bound", never_negative(bound(size) - size)),
        argued("|E D x|^2 <= E D^2, as in Lemma 11, and E D^2 <= E g^2"),
        tried=tried,
    )


def judge_constant(constant: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E(relu(<w,x>) - relu(<v,x>))^2 <= constant(mu) |chi_w - chi_v|^2 for laws of strong convexity mu."""
    points = [Fraction(1, 2), *(share(power) for power in (1, 2, 7)), *given.values("mu")]
    for mu in points:
        w = Fraction(-1)
        left, right = w**2 * mu, constant(mu) * (w * mu) ** 2
        if left > right:
            return refuted(
                "one dimension, E[x^2; x < 0] = mu, v = 0 and w = -1",
                {"x": UNIFORM if mu == Fraction(1, 2) else f"of strong convexity {mu}", "mu": mu, "w": w,
                 "E(relu - relu)^2": left, "|chi_w - chi_v|^2": (w * mu) ** 2, "claimed bound": right},
            )
    mu_, moved = sympy.symbols("mu m", positive=True)
    return proof(
        below_its_argument(),
        computed("E D^2 <= |chi_w - chi_v| |u| with |u| = |chi_w - chi_v|/mu is within the bound",
                 never_negative(constant(mu_) * moved**2 - moved * (moved / mu_))),
        argued("E D^2 <= E D g = <chi_w - chi_v, u> <= |chi_w - chi_v| |u|, and strong convexity bounds |u|"),
        tried=len(points),
    )


def judge_triangle(bound: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether (p + q)^2 <= bound(p^2, q^2): p the residual at w*, q the difference of the two predictions."""
    tried = 0
    for p, q in itertools.product(given.values("p"), given.values("q")):
        tried += 1
        if (p + q) ** 2 > bound(p**2, q**2):
            return refuted("one record", {"p": p, "q": q, "(p + q)^2": (p + q) ** 2, "claimed": bound(p**2, q**2)})
    p_, q_ = sympy.symbols("p q", real=True)
    gap = sympy.factor(bound(p_**2, q_**2) - (p_ + q_) ** 2)
    return proof(computed("what is left is a square", gap.is_nonnegative is True), tried=tried)


MU = Parameter("mu", low=Fraction(0), low_open=True, high=Fraction(1, 2), meaning="at most 1/2 for every law")
