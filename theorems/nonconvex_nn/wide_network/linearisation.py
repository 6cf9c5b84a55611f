r"""The linearised network (002, Definition 8) and how near it is to the network (Lemma 18).

f is homogeneous of degree 1 in each of its L layers, so <grad f(W(0)), W(0)> = L f(W(0)) (Euler), and Definition 8 as
printed has f_ntk(W(0)) = (1 + L) f(W(0)): it is no linearisation, unless W stands for the distance from the start.

Lemma 18 with Definition 8 as printed. W(0) is in every ball around itself. Take omega = 1/sqrt(m), one record with |x|
= 1 and L = 2: the claimed bound is c 8 m^{-1/6} sqrt(log m), which goes to 0, with a probability that goes to 1. The
gap at W(0) is L |f(W(0))|, and f(W(0)) is N(0, |h_1|^2) given h_1, with |h_1| near 1 (Lemma 20 as mended): the
probability that it is below a bound that goes to 0 goes to 0. So no constants c and kappa save it.

Lemma 18 about the start, two layers, with constants. Let u = W_1(0) x, w = W_2(0), delta = (W_1 - W_1(0)) x; by
homogeneity in x let |x| = 1, so |delta| <= omega. Then f - f_ntk = sqrt(m) [(W_2 - w)(relu(u + delta) - relu(u)) +
sum_r w_r (relu(u_r + delta_r) - relu(u_r) - 1{u_r > 0} delta_r)]. The first part is at most omega^2. A term of the
second is 0 unless the unit changes sign, and then at most |w_r| |delta_r| with |u_r| <= |delta_r|. Units with |u_r| <=
tau together have at most omega (sum of their w_r^2)^{1/2}; of the others at most omega^2/tau^2 change sign, together
(omega^2/tau) max|w|. With tau = omega^{2/3}/sqrt(m), P(|u_r| <= tau) <= omega^{2/3}/sqrt(pi), independent of w, so that
the mean of the former is at most omega^{4/3}; and E max (m w_r^2) <= 4 log(m E e^{z^2/4}) = 4 log(sqrt(2) m) = 2 log(2
m^2) by Jensen. Hence

    E sup |f - f_ntk| <= sqrt(m) omega^{4/3} (omega^{2/3} + 1 + sqrt(2 log(2 m^2))),

the order of Lemma 18, for every m and omega. From below: moving open units up, and W_2 along that move, E sup >= (1 -
2^{-m}) sqrt(m) omega^2. For three layers: `three_layers`.
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
from theorems.nonconvex_nn.wide_network.gradients import derivative, frozen, gates, told
from theorems.tools.either import log, root
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Formula = Callable[..., Any]
"""f_ntk(W) by f(W(0)), <gradient at W(0), W> and <gradient at W(0), W(0)>."""

_EXAMPLE = [sympy.ImmutableMatrix([[1, 2], [1, -1], [-1, 1], [2, 1]]), sympy.ImmutableMatrix([[1, 1, -2, 1]])]
_RECORD = sympy.ImmutableMatrix([sympy.Rational(3, 5), sympy.Rational(4, 5)])


def at_start() -> tuple[sympy.Expr, sympy.Expr]:
    """f(W(0)) and <gradient, W(0)> of a network with two layers of whole weights."""
    value = frozen(_EXAMPLE, gates(_EXAMPLE, _RECORD), _RECORD)
    slopes = [derivative(_EXAMPLE, _RECORD, number) for number in (1, 2)]
    return value, sum((a.multiply_elementwise(b) * sympy.ones(b.cols, 1)).dot(sympy.ones(b.rows, 1))
                      for a, b in zip(slopes, _EXAMPLE, strict=True))


def judge_expansion(says: Formula, given: Domain) -> Finding:
    """Whether f_ntk and its slope agree with those of f at the start."""
    value, along = at_start()
    if sympy.simplify(says(value, along, along) - value) != 0:
        return refuted("at the start it is not f, exactly", {
            **told(_EXAMPLE, _RECORD), "f(W(0))": value, "<gradient, W(0)>": along, "f_ntk(W(0))": says(value, along,
                along)})
    tried = 0
    for point in given.points("value", "start"):
        f, start = point["value"], point["start"]
        tried += 1
        if says(f, start, start) != f or says(f, start + 1, start) - says(f, start, start) != 1:
            return refuted("at the start it is not f, or it has another slope", {
                "f(W(0))": f, "<gradient, W(0)>": start, "f_ntk(W(0))": says(f, start, start)})
    f_, start_, along_ = given.symbol("value"), given.symbol("start"), sympy.Symbol("s", real=True)
    return proof(
        computed("f_ntk(W(0)) = f(W(0)), on symbols", vanishes(says(f_, start_, start_) - f_)),
        computed("its derivative along <gradient, W> is 1 everywhere", vanishes(sympy.diff(says(f_, along_, start_),
            along_) - 1)),
        tried=tried,
    )


def judge_linear(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether f_ntk(s W) - says(f(W(0)), s) = s (f_ntk(W) - f(W(0))) on a line; for a linear one says is 0."""
    tried = 0
    for point in led(given, value="1", scale="0"):
        f, scale = point["value"], point["scale"]
        rest = f + scale * 3 - scale * 3  # f_ntk(s W) with <gradient, W> = 3, less s times its linear part
        tried += 1
        if says(f, scale) != rest:
            return refuted("f_ntk is affine, with the constant f(W(0))", {
                "f(W(0))": f, "f_ntk at W = 0": rest, "claimed": says(f, scale)})
    f_, scale_, along = given.symbol("value"), given.symbol("scale"), sympy.Symbol("s", real=True)
    return proof(computed("what is left of f_ntk without its linear part, on symbols", vanishes(
        f_ + scale_ * along - scale_ * along - says(f_, scale_))), tried=tried)


def judge_gap_at_start(says: Formula, given: Domain) -> Finding:
    """Whether Lemma 18 can hold at W = W(0), where the gap is |says(f, L f, L f) - f|; hidden constants 1."""
    factors = []
    for depth in given.values("depth"):
        factors.append(says(Fraction(1), Fraction(depth), Fraction(depth)) - 1)
        if factors[-1] != 0:
            break
    if not any(factors):
        return proof(computed("at the start there is no gap", vanishes(
            says(given.symbol("depth") ** 0, given.symbol("depth"), given.symbol("depth")) - 1)),
            argued("only the centre of the ball was looked at"), tried=len(factors))
    depth, width = 2, 10**18
    with ctx.workprec(100):
        m = arb(width)
        bound = depth**3 * m.root(6) ** -1 * m.log().sqrt()
        allowed = m.sqrt() ** -1 < arb(depth) ** -6 * m.log() ** (-arb(3) / 2)
        # |gap| = factor |h| |z|; |h| >= 1/2 but for Lemma 20 as mended, epsilon = 1/2
        inside = (2 * bound / ball(Fraction(factors[-1])) / arb(2).sqrt()).erf() + 4 * (-m / 4 / 80).exp()
        claimed = 1 - depth**2 * (-m.root(3) ** 2 * depth).exp()
        return refuted_by("already at the start the gap is L |f(W(0))|", {
            "L": depth, "m": width, "omega": "1/sqrt(m)", "claimed bound": Enclosure.of_ball(bound),
            "claimed probability": Enclosure.of_ball(claimed),
                "P(gap at W(0) <= bound) at most": Enclosure.of_ball(inside)},
            computed("omega is admissible", bool(allowed)),
            computed("the probability is below the claimed one, certified", bool(inside < claimed)),
            argued("the same for all hidden constants: the bound goes to 0 as m grows, and |f(W(0))| does not"))


def judge_two_layers(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether E sup |f - f_ntk| <= says(m, v) for two layers, omega = v^3."""
    tried = 0
    for point in given.points("width", "v", at_most=60):
        width, v = point["width"], point["v"]
        with ctx.workprec(100):
            least = ball(1 - Fraction(1, 2**width)) * arb(width).sqrt() * ball(v) ** 6
            claimed = says(arb(width), ball(v))
        tried += 1
        if not claimed > least:
            return refuted("moving open units and the last layer gives more", {
                "m": width, "omega": v**3, "at least": Enclosure.of_ball(least), "claimed": Enclosure.of_ball(claimed)})
    m, v_ = given.symbol("width"), given.symbol("v")
    z, tau = sympy.Symbol("z", real=True), v_**2 / sympy.sqrt(m)
    density = sympy.exp(-(z**2) * m / 4) * sympy.sqrt(m) / (2 * sympy.sqrt(sympy.pi))  # of N(0, 2/m)
    moment = sympy.integrate(sympy.exp(z**2 / 4 - z**2 / 2), (z, -sympy.oo, sympy.oo)) / sympy.sqrt(2 * sympy.pi)
    largest = sympy.Symbol("E", positive=True)  # E max (m w_r^2)
    parts = sympy.sqrt(m) * (v_**6 + v_**3 * v_ + v_**6 / tau * sympy.sqrt(largest) / sympy.sqrt(m))
    gap = sympy.simplify(says(m, v_) - parts.subs(largest, 2 * sympy.log(2 * m**2)))
    return proof(
        computed("2 tau times the density at 0 is omega^{2/3}/sqrt(pi), below omega^{2/3}",
                 vanishes(2 * tau * density.subs(z, 0) - v_**2 / sympy.sqrt(sympy.pi)) and bool(sympy.pi > 1)),
        computed("E e^{z^2/4} = sqrt(2), and 4 log(sqrt(2) m) = 2 log(2 m^2)", vanishes(
            moment - sympy.sqrt(2), sympy.expand_log(4 * sympy.log(sympy.sqrt(2) * m) - 2 * sympy.log(2 * m**2)))),
        computed("the parts add up to at most what is claimed", gap.is_nonnegative is True),
        argued("the two parts of f - f_ntk, the units that change sign and Jensen's inequality: the module's "
               "docstring"),
        tried=tried,
    )


_PRINTED: Formula = lambda value, along, start: value + along  # noqa: E731
definition = Claim(
    id="nonconvex-nn/def-8-ntrf", source="002, Definition 8, read as the local linearisation of f at W(0)",
    quote=r"f_{ntk}(\mathbf{W}, \mathbf{x}) = f(\mathbf{W}^{(0)}, \mathbf{x}) + \left\langle \partial_{\mathbf{W}} "
          r"f(\mathbf{W}^{(0)}, \mathbf{x}), \mathbf{W} \right\rangle.",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"f_{ntk}(W) = f(W^{(0)}) + \langle \partial f(W^{(0)}), "
                                                           r"W\rangle",
    words="the NTRF function, with W and not W - W(0), is the linearisation of f at the start",
    hypotheses=(real("value", "f(W(0))"), real("start", "<gradient, W(0)>")), says=_PRINTED, check=judge_expansion,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f_{ntk}(W) = f(W^{(0)}) + \langle \partial f(W^{(0)}), W - W^{(0)}\rangle",
        words="f(W(0)) + <gradient at W(0), W - W(0)> agrees with f and its slope at the start",
        says=lambda value, along, start: value + along - start, expected="HOLDS PROVED",
        flips=(Flip("twice the slope", lambda value, along, start: value + 2 * (along - start), Verdict.REFUTED),),
    ),
)
linear = Claim(
    id="nonconvex-nn/ntrf-linear", source="002, Section 6, after Definition 8",
    quote=r"Note that an NTRF function is linear.", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"f_{ntk}(0) = 0", words="an NTRF function is linear in W, so 0 at W = 0",
    hypotheses=(real("value", "f(W(0))"), real("scale")), says=lambda value, scale: 0 * value, check=judge_linear,
    expected="REFUTED PROVED",
    repair=Repair(statement=r"f_{ntk} \text{ is affine, with the constant } f(W^{(0)})",
                  words="an NTRF function (as printed) is affine in W with the constant f(W(0))",
                  says=lambda value, scale: value, expected="HOLDS PROVED"),
)
lemma_18 = Claim(
    id="nonconvex-nn/lem-18", source="002, Lemma 18, with f_ntk as Definition 8 prints it",
    quote=r"|f(\mathbf{W}; \mathbf{x}_i) - f_{ntk}(\mathbf{W}; \mathbf{x}_i)| \leq O\left(\omega^{4/3} L^3 \sqrt{m "
          r"\log(m)}\right)",
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"|f - f_{ntk}| = O(\omega^{4/3} L^3 \sqrt{m\log m})",
    words="within omega of the start f and f_ntk differ by O(omega^{4/3} L^3 sqrt(m log m)), with high probability",
    hypotheses=(positive_integer("depth", "L").at_least(2),), says=_PRINTED, check=judge_gap_at_start,
    uses=("nonconvex-nn/def-8-ntrf",), rests_on=("nonconvex-nn/lem-20-repaired", "nonconvex-nn/net-scaling"),
    flips=(Flip("W - W(0)", lambda value, along, start: value + along - start, Verdict.HOLDS),),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"E\sup_{W \in B(W^{(0)}, \omega)} |f - f_{ntk}| \le \sqrt m\, \omega^{4/3} (\omega^{2/3} + 1 + "
                  r"\sqrt{2\log(2m^2)}),\ L = 2",
        words="with two layers and f_ntk about the start the mean of the largest gap has Lemma 18's order, with "
              "constants",
        source="002, Lemma 18 for L = 2, about the start, in the mean",
        hypotheses=(positive_integer("width", "m"), positive("v", "omega^(1/3)")),
        says=lambda m, v: root(m) * v**4 * (v**2 + 1 + root(2 * log(2 * m**2))), check=judge_two_layers,
        expected="HOLDS ARGUED", uses=("nonconvex-nn/def-8-ntrf-repaired",),
        flips=(Flip("omega^{4/3}/10 at m = 1, omega large", lambda m, v: root(m) * v**4 / 10, Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound", "1 -> 2*": "a larger bound", "beyond *": "a larger bound there"},
    ),
)
