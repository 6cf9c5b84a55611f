r"""The tangent kernel of Section 6 of document 002: its size at the start, and the flow of the linearised network.

Two layers, |x| = 1. The squared gradients at the start are m |W_2 D|^2 = sum_r D_r z_r^2 and m |h_1|^2 = sum_r 2
relu(g_r)^2, with z, g standard normal and D_r = 1{g_r > 0}: Theta(x, x) is a sum of m independent copies of D z^2 + 2
relu(g)^2, whose mean is 1/2 + 1 and whose mean square is 3/2 + 6 + 2. So E Theta = 3m/2 and Var Theta = 29m/4: in the
document's parametrisation the empirical kernel at the start is off its mean by about sqrt(m) (central limit theorem),
and does not come near it. Over m it does: Var(Theta/m) = 29/(4m), and Chebyshev.

The linearised network is affine in W with the slope g of f at the start. Under W' = -eta g^T L' it obeys f' = -eta g
g^T L', with the empirical kernel at the start, not with its mean over starts. For f = a relu(b x), m = d = 1, the
former is relu(b)^2 + a^2 1{b > 0} and the latter 1 + 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.wide_network.hidden_layers import relu_moment
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Formula = Callable[..., Any]


def unit_moments() -> tuple[Fraction, Fraction]:
    """Mean and mean square of D z^2 + 2 relu(g)^2, by the moments of the ReLU."""
    opened, fourth = sympy.Rational(1, 2), 2 * relu_moment(4)  # P(g > 0); E z^4 by symmetry
    mean = opened + 2 * relu_moment(2)
    square = opened * fourth + 4 * relu_moment(4) + 4 * relu_moment(2)
    return Fraction(str(mean)), Fraction(str(square))


def judge_limit(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether Theta/normal(m) has the variance var(m) at the start, and whether that goes to 0."""
    normal, variance = says
    mean, square = unit_moments()
    one = square - mean**2
    tried = 0
    for m in given.values("width"):
        true = one * m / normal(Fraction(m)) ** 2
        tried += 1
        if variance(Fraction(m)) != true:
            return refuted("another variance", {"m": m, "variance": true, "claimed": variance(Fraction(m))})
    m_ = given.symbol("width")
    limit = sympy.limit(variance(m_), m_, sympy.oo)
    per_unit = sympy.Rational(one.numerator, one.denominator)
    if limit != 0:
        return refuted_by("at the start, before any step, the kernel is off its mean by about sqrt(m)", {
            "L": 2, "|x|": 1, "mean of one unit": mean, "mean square of one unit": square,
                "Var Theta(x, x)": f"{one} m",
            "limit of the variance": limit},
            computed("the variance does not go to 0", bool(limit > 0)),
            argued("a sum of m independent copies: by the central limit theorem it is off its mean by about sqrt(m)"))
    return proof(
        computed("the variance is m times that of one unit, on symbols",
                 vanishes(variance(m_) - per_unit * m_ / normal(m_) ** 2)),
        computed("it goes to 0", limit == 0),
        argued("units are independent and z is independent of g; Chebyshev's inequality"), tried=tried,
    )


def judge_flow(says: Formula, given: Domain) -> Finding:
    """Whether f_ntk' = -eta says(kernel at the start, its mean) L' for f = a relu(b x), from the start (a, b)."""
    tried, mean = 0, 2 * relu_moment(2) + sympy.Rational(1, 2)
    for point in led(given, a="1", b="1", eta="1", at_most=150):
        a, b, eta = point["a"], point["b"], point["eta"]
        slopes = (max(b, Fraction(0)), a if b > 0 else Fraction(0))
        moved = tuple(-eta * slope for slope in slopes)  # a step of length 1 with L' = 1
        rate = sum((slope * step for slope, step in zip(slopes, moved, strict=True)), Fraction(0))
        own = sum((slope**2 for slope in slopes), Fraction(0))
        tried += 1
        if rate != -eta * says(own, Fraction(str(mean))):
            return refuted("the linearised network moves by its own slopes", {
                "a": a, "b": b, "eta": eta, "L'": 1, "kernel at the start": own, "its mean over starts": mean,
                "f_ntk'": rate, "claimed": -eta * says(own, Fraction(str(mean)))})
    one, two, slope = sympy.symbols("g_1 g_2 L'", real=True)
    eta_ = given.symbol("eta")
    flow = one * (-eta_ * slope * one) + two * (-eta_ * slope * two)
    return proof(computed("<g, W'> = -eta <g, g> L' with W' = -eta g L', on symbols", vanishes(
        flow + eta_ * slope * says(one**2 + two**2, sympy.Symbol("E", real=True)))), tried=tried)


def judge_network_flow(says: Formula, given: Domain) -> Finding:
    """Whether (a b)' = -eta says(kernel at W(t), kernel at the start) L' under a' = -eta b L', b' = -eta a L'."""
    tried = 0
    for point in led(given, a="1", b="2", eta="1", at_most=150):
        a, b, eta = point["a"], point["b"], point["eta"]
        rate = -eta * b * b - eta * a * a
        tried += 1
        if rate != -eta * says(a**2 + b**2, Fraction(2)):
            return refuted("the network moves by its slopes at W(t)", {
                "a": a, "b": b, "eta": eta, "f'": rate, "claimed": -eta * says(a**2 + b**2, Fraction(2))})
    t, eta_, slope = sympy.Symbol("t"), given.symbol("eta"), sympy.Symbol("L'", real=True)
    a_, b_ = sympy.Function("a")(t), sympy.Function("b")(t)
    flow = sympy.diff(a_ * b_, t).subs({sympy.diff(a_, t): -eta_ * slope * b_, sympy.diff(b_, t): -eta_ * slope * a_})
    return proof(
        computed("the product rule for f = a b", vanishes(
            sympy.expand(flow + eta_ * slope * says(a_**2 + b_**2, sympy.Symbol("K", real=True))))),
        argued("the chain rule in any number of weights and records: f' = grad f W', W' = -eta (grad f)^T L'"),
        tried=tried,
    )


def judge_convex(says: Formula, given: Domain) -> Finding:
    """Whether the second derivative of l(f_0 + s g) in s is says(g, l''), and not negative for l'' >= 0."""
    f, s, g = sympy.symbols("f s g", real=True)
    loss = sympy.Function("l")
    inner = sympy.Symbol("u", real=True)
    second = sympy.diff(loss(f + s * g), s, 2).doit()
    curvature = sympy.Symbol("c", nonnegative=True)
    square = sympy.diff(inner**2, inner, 2)  # the loss u^2: what the formula must give for it
    tried = 0
    for point in given.points("slope", "curvature"):
        slope, bend = point["slope"], point["curvature"]
        tried += 1
        if says(slope, bend) != slope**2 * bend:
            return refuted("another second derivative: the loss (bend/2) u^2", {
                "g": slope, "l''": bend, "second derivative": slope**2 * bend, "claimed": says(slope, bend)})
    return proof(
        computed("the second derivative of l(f_0 + s g) has the factor g^2, and of (f_0 + s g)^2 it is 2 g^2", vanishes(
            sympy.diff((f + s * g) ** 2, s, 2) - square * g**2) and second.has(g**2)),
        computed("g^2 l'' is never negative, on symbols", never_negative(says(g, curvature))
                 and vanishes(says(g, curvature) - g**2 * curvature)),
        argued("along every line f_ntk is f_0 + s g, so that a convex loss of it is convex"), tried=tried,
    )


limit = Claim(
    id="nonconvex-nn/ntk-limit-scaling", source="002, Section 6: |Theta_t - Theta_0|_F -> 0, in its own "
                                                "parametrisation",
    quote=r"shows $\|\Theta_t - \Theta_0\|_F \rightarrow 0$ when m is sufficiently large",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\|\Theta_t - \Theta_0\|_F \to 0 \text{ as } m \to \infty",
    words="with f = sqrt(m) W_L ... the empirical kernel goes to its mean as m grows (two layers, one record, t = 0)",
    hypotheses=(positive_integer("width", "m"),), says=(lambda m: m**0, lambda m: 29 * m / 4), check=judge_limit,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\mathrm{Var}(\Theta^{(0)}(x,x)/m) = \frac{29}{4m} \to 0,\ E\,\Theta^{(0)}(x,x)/m = \tfrac32",
        words="over m the empirical kernel at the start goes to its mean: variance 29/(4m) (two layers, one record)",
        says=(lambda m: m, lambda m: 29 / (4 * m)), expected="HOLDS ARGUED",
        flips=(Flip("28 for 29", (lambda m: m, lambda m: 28 / (4 * m)), Verdict.REFUTED),),
        true_variants={"[[]0] sign": "only its square enters"},
    ),
)
dynamics = Claim(
    id="nonconvex-nn/ntk-dynamics-expectation", source="002, Section 6: the flow of f_ntk with Theta_0 an expectation",
    quote=r"\Theta_0(\mathcal{X}, \mathcal{X}) = \mathbb{E}_{W^{(0)}} \nabla_W f(W^{(0)}, D_{\mathcal{X}}) \nabla_W "
          r"f(W^{(0)}, D_{\mathcal{X}})^T",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\partial_t f_{ntk} = -\eta\, E_{W^{(0)}}[\nabla f \nabla f^T]\, \nabla L",
    words="the linearised network moves by the mean of the kernel over starts",
    hypotheses=(real("a"), real("b"), positive("eta")), says=lambda own, mean: mean, check=judge_flow,
    expected="REFUTED PROVED",
    repair=Repair(statement=r"\partial_t f_{ntk} = -\eta \nabla f(W^{(0)}) \nabla f(W^{(0)})^T \nabla L",
                  words="the linearised network moves by the empirical kernel at its start",
                  says=lambda own, mean: own, expected="HOLDS PROVED",
                  true_variants={"any eta": "an identity in eta"}),
)
network_flow = Claim(
    id="nonconvex-nn/ntk-dynamics", source="002, Section 6: the flow of f by the empirical kernel Theta_t",
    quote=r"= -\eta \Theta_t(D_{\mathcal{X}}, D_{\mathcal{X}}) \nabla_f L_{f(W^{(t)}, D_{\mathcal{X}})},",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"\partial_t f = -\eta \Theta_t \nabla_f L",
    words="under gradient flow the network moves by its empirical kernel",
    hypotheses=(real("a"), real("b"), positive("eta")), says=lambda now, start: now, check=judge_network_flow,
    flips=(Flip("the kernel at the start", lambda now, start: start, Verdict.REFUTED),),
    true_variants={"any eta": "an identity in eta"}, expected="HOLDS ARGUED",
)
convex = Claim(
    id="nonconvex-nn/ntk-convex", source="002, Section 6: 'using their linearizations, which are convex'",
    quote=r"from the above two equations we can see a basic idea to approximate the gradients of neural networks is "
          r"using "
          r"their linearizations, which are convex.",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"\ell(f_{ntk}(W), y) \text{ is convex in } W",
    words="a convex loss of the linearised network is convex: its second derivative along a line is g^2 l''",
    hypotheses=(real("slope", "g"), positive("curvature", "l''")), says=lambda g, curvature: g**2 * curvature,
    check=judge_convex, flips=(Flip("g l''", lambda g, curvature: g * curvature, Verdict.REFUTED),),
    expected="HOLDS ARGUED", survivors={"any curvature": "a concave loss is not looked at: the identity holds for it"},
)
