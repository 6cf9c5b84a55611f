r"""Algorithm 10 projects on a ball around 0: with four layers or more its network becomes 0, and Theorem 13 fails.

Write b = eta C sqrt(m): kappa sqrt(L) R/sqrt(T) for the theorem's step with any constant kappa of its Theta. The proof,
for a network of L >= 4 layers, any T, kappa and R, and m >= 16 b^2. (The printed step has sqrt(L R): another kappa.)

(1) The start. A hidden-hidden W_l(0) is sqrt(2/m) times an m x m Gaussian G. A 1/4-net of the sphere has at most 9^m
points, |G| <= 2 max <u, G v> over two nets, and each <u, G v> is N(0, 1): |G| > 2 sqrt(2 (log 81 + 1) m) has
probability at most e^-m, so |W_l(0)| <= 10 but for that. |W_l(0)|_F^2 is 2/m times a chi square of m^2 degrees, which
is below m^2/2 with probability at most (e^(1/2)/2)^(m^2/2) (Chernoff): |W_l(0)|_F >= sqrt(m) but for that.
(2) The noise. n may be as large as one likes at given m and T, q = 1/2 say; then sigma_t is as small as one likes, and
all |G_t|_F <= C but for any probability that one likes. A mean of clipped gradients has norm at most C. So a step moves
W by at most 2 eta C = 2 b/sqrt(m) <= 1/2 before the projection.
(3) The projection multiplies a layer V by min(1, R/|V|_F). The first step leaves operator norms of at most (10 + 1/2)
R/(sqrt(m) - 1/2) <= 21 R/sqrt(m); every later one adds at most 2 b/sqrt(m). So all W_l(t), 2 <= l < L, t >= 1, and
their average have operator norms of at most K R/sqrt(m), K = 21 + 2 b T/R = 21 + 2 kappa sqrt(L T).
(4) |W_1|_F and |W_L|_F are at most R after a projection. ReLU shrinks norms: |f(x)| <= sqrt(m) R^2 (K R/sqrt(m))^(L-2)
= R^L K^(L-2) m^((3-L)/2) for |x| <= 1, whatever the data: to 0 as m grows.

Against Theorem 13: let one record (x, 1), |x| = 1, have probability 1, and the loss be sqrt(1 + (f - y)^2) - 1, S = 1.
(a) Weights of one unit a layer reach f = 1 in B(0, R) once sqrt(m) R^L >= 1: the least risk is 0. (b) With Chernoff as
before |h_l(0)| >= |h_{l-1}(0)|/2 but for (e^(1/8) (1 + 3^(-1/2))/2)^m, so |h_{L-1}(0)| >= 2^(1-L); f(W(0), x) given
h_{L-1}(0) is N(0, |h|^2), within 4 |h| but for 7 in 10^5. Moving W_L(0) alone moves f_ntk by up to R |h|, so with R =
2^(L-1) + 4 (L + 1) it reaches 1, even as Definition 8 prints it, from (1 + L) f(W(0), x): the approximation error is 0.
(c) The privacy error goes to 0 as n grows. (d) Whatever the constant c hidden in the first term, c S L^(3/2) R
sqrt(log(1/xi)/T), there is a T that makes it less than a quarter of the loss sqrt(2) - 1 of f = 0; then an m >= m* that
makes |f| less than a quarter; then an n. The risk is more than the bound with a probability of nearly 1.

What is true of the ball around the start, |W_l - W_l(0)|_F <= R/sqrt(m): exchange the layers one by one. An exchange
changes f by at most sqrt(m) a^(L-1) R/sqrt(m), a the largest operator norm, so f stays within L R a^(L-1) of f(W(0),
x), and by (1) a <= 10 + R but for e^-m: nothing collapses. (7) is false all the same: `clipping`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.formulas import exactly, ordered
from theorems.nonconvex_nn.theorem_13.proof_algebra import width_needed
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

Formula = Callable[..., Any]
Ball = Mapping[str, Any]
XI = Fraction(1, 10)
LOSS = sympy.sqrt(2) - 1


def operator_constant(layers: Any, steps: Any, kappa: Any) -> Any:
    """K: hidden-hidden layers keep operator norms of at most K R/sqrt(m)."""
    return 21 + 2 * kappa * sympy.sqrt(layers * steps)


def output_bound(m: Any, radius: Any, layers: Any, steps: Any, kappa: Any) -> Any:
    """R^L K^(L-2) m^((3-L)/2), which no output of the literal algorithm exceeds."""
    inner = operator_constant(layers, steps, kappa) ** (layers - 2)
    return radius**layers * inner * m ** ((3 - layers) * sympy.Rational(1, 2))


def _product(m: Any, radius: Any, layers: Any, steps: Any, kappa: Any) -> Any:
    """sqrt(m) |W_L| |W_1| times the operator norms of the layers between."""
    between = (operator_constant(layers, steps, kappa) * radius / sympy.sqrt(m)) ** (layers - 2)
    return sympy.sqrt(m) * radius**2 * between


def start_steps() -> tuple[ProofStep, ...]:
    """The numbers of steps (1) and (3), in balls."""
    with ctx.workprec(100):
        net = 2 * (2 * (arb(81).log() + 1)).sqrt() * arb(2).sqrt()
        tail = arb("0.5").exp() / 2
    root = sympy.Symbol("s", nonnegative=True)  # sqrt(m) = 1 + s
    return (
        computed("|W_l(0)| <= 10 but for e^-m: 2 sqrt(2 (log 81 + 1)) sqrt(2) < 10", bool(net < 10)),
        computed("|W_l(0)|_F >= sqrt(m) but for (e^(1/2)/2)^(m^2/2), whose base is below 1", bool(tail < 1)),
        computed("(10 + 1/2)/(sqrt(m) - 1/2) <= 21/sqrt(m) for m >= 1", never_negative(
            21 * (1 + root - sympy.Rational(1, 2)) - sympy.Rational(21, 2) * (1 + root))),
        argued("steps (1) to (4) of the module's text: nets, Chernoff, radial projection, ReLU shrinks norms"),
    )


def less_than_half(m: int) -> Enclosure:
    """The probability that |W_l(0)|_F < sqrt(m): of a chi square of m^2 degrees below m^2/2."""
    with ctx.workprec(100):
        return Enclosure.of_ball((arb(m * m) / 4).gamma_lower(arb(m * m) / 2, regularized=1))


def judge_space(ball: Ball, given: Domain) -> Finding:
    """Whether the weights within R/sqrt(m) of the start, layer by layer, lie in the parameter space."""
    return _judge_ball(ball, given, lambda far, near, allowed: far + allowed, lambda near, allowed: near - allowed,
                       "the space does not hold the ball of the analysis", "needed")


def judge_projected(ball: Ball, given: Domain) -> Finding:
    """Whether the first projection leaves every layer within R/sqrt(m) of the start."""
    return _judge_ball(ball, given, lambda far, near, allowed: far - near, lambda near, allowed: allowed - near,
                       "the first projection tears the start apart", "distance")


def _judge_ball(
    ball: Ball, given: Domain, far_value: Formula, gap: Formula, wrong: str, what: str,
) -> Finding:
    around_start, tried = ball["centre"] == "start", 0
    simple = [{"R": Fraction(1), "m": 16}] if given.contains(R=1, m=16) else []
    for point in (*simple, *given.points("R", "m")):
        radius, m = exactly(point["R"]), exactly(point["m"])
        near, allowed, far = ball["radius"](radius, m), radius / sympy.sqrt(m), sympy.sqrt(m)
        tried += 1
        if around_start:
            if sympy.N(gap(near, allowed), 30) < -1e-25:
                return refuted("not the ball of the analysis", {**point, "centre": "start", "radius": near})
            continue
        value = far_value(far, near, allowed)
        limit = near if what == "needed" else allowed
        if sympy.N(value - limit, 30) > 0 and point["m"] >= 16:
            rare = less_than_half(int(point["m"]))
            return refuted_by(
                wrong, {**point, "centre": "origin", "radius": near, "|W_2(0)|_F at least": far,
                        "but for the probability": rare, what: value, "allowed": limit},
                computed("the start is that long but for a probability below one in a million, certified",
                         rare.certainly_le(Fraction(1, 10**6))),
            )
    if not around_start:
        return undecided("no point tried is against it", tried)
    symbols = given.symbol("R"), given.symbol("m")
    return proof(
        computed("a ball around the start: of radius R/sqrt(m), on symbols",
                 never_negative(sympy.simplify(gap(ball["radius"](*symbols), symbols[0] / sympy.sqrt(symbols[1]))))),
        argued("balls with one centre lie in each other as their radii do, and a projection ends in its ball"),
        tried=tried,
    )


def judge_output(bound: Formula, given: Domain) -> Finding:
    """Whether bound(m, R, L, T, kappa) is at least what steps (1) to (4) give for the output of Algorithm 10."""
    names, tried = ("m", "R", "L", "T", "kappa"), 0
    for point in given.points(*names, at_most=40):
        values = [exactly(point[name]) for name in names]
        tried += 1
        if not sympy.N(bound(*values) / _product(*values), 30) >= 1 - 1e-20:
            return undecided(f"steps (1) to (4) do not give as little at {point}", tried)
    symbols = [given.symbol(name) for name in names]
    layers, m = given.chart("L"), symbols[0]
    found = [m, symbols[1], layers, symbols[3], symbols[4]]
    power = sympy.simplify(m * sympy.diff(sympy.log(bound(*found)), m))
    return proof(
        *start_steps(),
        computed("sqrt(m) R^2 (K R/sqrt(m))^(L-2) is not above it, on symbols",
                 ordered(_product(*found), bound(*found))),
        computed("its power of m, m times the derivative of its logarithm, is at most -1/2",
                 never_negative(-sympy.Rational(1, 2) - power)),
        tried=tried,
    )


def judge_utility(first: Formula, given: Domain) -> Finding:
    """Whether first(c, L, R, T), beside terms that vanish, bounds the excess risk of the point mass of the text."""
    symbols = {name: sympy.Symbol(name, positive=True) for name in ("R", "T", "m", "kappa")}
    constant_, deep = given.symbol("c"), given.values("L")
    if sympy.limit(first(constant_, deep[0], symbols["R"], symbols["T"]), symbols["T"], sympy.oo) != 0:
        return undecided("the first term does not vanish as T grows: no instance against it", 1)
    for constant in (exactly(value) for value in (Fraction(1), *given.values("c"))):
        layers, kappa = deep[0], 1
        radius = 2 ** (layers - 1) + 4 * (layers + 1)
        steps = next((4**k for k in range(200) if sympy.N(first(constant, layers, radius, 4**k)) < LOSS / 4), 0)
        if not steps:
            return undecided("the first term is not small at any T tried", 1)
        m = next(4**k for k in range(900) if sympy.N(output_bound(4**k, radius, layers, steps, kappa)) < LOSS / 4
                 and 4**k >= width_needed(1, layers, radius, steps, radius))  # C = R
        with ctx.workprec(100):
            shorter = arb("0.125").exp() * (1 + 1 / arb(3).sqrt()) / 2
            beyond = (arb(4) / arb(2).sqrt()).erfc()
        vanishes = sympy.limit(output_bound(symbols["m"], symbols["R"], layers, symbols["T"], symbols["kappa"]),
                               symbols["m"], sympy.oo) == 0
        return refuted_by(
            "the network becomes 0 while the bound is a quarter of the loss of 0", {
                "hidden constant": constant, "L": layers, "S": 1, "R": radius, "T": steps, "kappa": kappa, "m": m,
                "first term": sympy.N(first(constant, layers, radius, steps), 8),
                "|f| at most": sympy.N(output_bound(m, radius, layers, steps, kappa), 8),
                "excess risk at least": sympy.N(LOSS - output_bound(m, radius, layers, steps, kappa), 8)},
            *start_steps(),
            computed("the bound on |f| vanishes as m grows, on symbols", vanishes),
            computed("|h_l(0)| >= |h_{l-1}(0)|/2 but for b^m, b < 1; |N(0, 1)| > 4 has probability below 7/10^5",
                     bool(shorter < 1) and bool(beyond < arb("0.00007"))),
            computed("R |h| >= 1 + 4 (1 + L) |h| where |h| >= 2^(1-L)", never_negative(
                (radius - 4 * (layers + 1)) * sympy.Integer(2) ** (1 - layers) - 1)),
            argued("(a) to (d) of the module's text; n grows last, so that noise and privacy error vanish"),
        )
    return undecided("no constant", 1)


def judge_near(bound: Formula, given: Domain) -> Finding:
    """Whether |f(W) - f(W(0))| <= bound(L, R, a) within R/sqrt(m) of the start, a >= all operator norms there."""
    tried = 0
    for point in given.points("L", "share", "a"):
        layers, most = exactly(point["L"]), exactly(point["a"])
        radius = exactly(point["share"]) * most
        moved = most**layers - (most - radius) ** layers  # one unit a layer, m = 1, weights a - R moved to a
        tried += 1
        if bound(layers, radius, most) < moved:
            return refuted("a network with one unit a layer moves further", {
                "L": layers, "R": radius, "a": most, "claimed": bound(layers, radius, most), "moved": moved})
    layers_, radius_, most_ = given.symbol("L"), sympy.Symbol("R", positive=True), given.symbol("a")
    return proof(
        computed("L exchanges of at most sqrt(m) a^(L-1) R/sqrt(m) each, on symbols", ordered(
            layers_ * radius_ * most_ ** (layers_ - 1), bound(layers_, radius_, most_))),
        *start_steps()[:1],
        argued("exchanging one layer changes f by at most sqrt(m) times the other norms times the change's norm"),
        tried=tried,
    )


_SPACE: tuple[Parameter, ...] = (positive("R"), positive_integer("m"))
_LITERAL = {"centre": "origin", "radius": lambda radius, m: radius}
_MENDED = {"centre": "start", "radius": lambda radius, m: radius / sympy.sqrt(m)}
_HALF = {"centre": "start", "radius": lambda radius, m: radius / (2 * sympy.sqrt(m))}
_TWICE = {"centre": "start", "radius": lambda radius, m: 2 * radius / sympy.sqrt(m)}

space = Claim(
    id="nonconvex-nn/asm-4", source="002, Assumption 4: the parameter space, against the ball of the analysis",
    quote=r"the parameter space of the network is $\mathcal{W} = \mathcal{B}(\mathbf{0}, R)$, i.e., for all "
          r"$\mathbf{W} \in \mathcal{W} : \|\mathbf{W}_l\|_F \leq R$, for all $l \in [L]$.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\mathcal{B}(\mathbf{W}^{(0)}, R/\sqrt m) \subseteq \mathcal{B}(\mathbf{0}, R)",
    words="the parameter space, the ball of radius R around 0, holds the weights near the "
          "start that the analysis is about",
    hypotheses=_SPACE, says=_LITERAL, check=judge_space, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{W} = \mathcal{B}(\mathbf{W}^{(0)}, R/\sqrt m)",
        words="the ball of radius R/sqrt(m) around the start holds the weights that the analysis is about",
        says=_MENDED, expected="HOLDS ARGUED", source="002, Assumption 4 with the ball of Lemma 25 and of (7)",
        flips=(Flip("half the radius", _HALF, Verdict.REFUTED), Flip("twice the radius", _TWICE, Verdict.HOLDS)),
        true_variants={"*1 % more": "a larger ball holds it, too", "any *": "balls with one centre"},
    ),
)
projection = Claim(
    id="nonconvex-nn/alg-10-projection", source="002, Algorithm 10, line 6: the projection on B(0, R)",
    quote=r"convex set $\mathcal{W} = \mathcal{B}(\mathbf{0}, R)$", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\lVert \Pi_{\mathcal{B}(\mathbf{0}, R)}(\mathbf{W}_l) - \mathbf{W}_l^{(0)} \rVert_F \le R/\sqrt m",
    words="the projection keeps every layer within R/sqrt(m) of its start, where the network is nearly linear",
    hypotheses=_SPACE, says=_LITERAL, check=judge_projected,
    uses=("nonconvex-nn/asm-4", "nonconvex-nn/lem-25-path"), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\Pi = \Pi_{\mathcal{B}(\mathbf{W}^{(0)}, R/\sqrt m)}",
        words="projected on the ball of radius R/sqrt(m) around its start, every layer is within R/sqrt(m) of it",
        says=_MENDED, expected="HOLDS ARGUED", source="002, Algorithm 10, with the ball around the start",
        flips=(Flip("twice the radius", _TWICE, Verdict.REFUTED), Flip("half the radius", _HALF, Verdict.HOLDS)),
        true_variants={"*1 % less": "a smaller ball, too", "any *": "balls with one centre",
                       "*sign": "a negative radius: no ball at all"},
    ),
)
output = Claim(
    id="nonconvex-nn/thm-13-projection-L4",
    source="ours: what Algorithm 10, as printed, puts out with four layers or more",
    severity=Stake.UTILITY,
    statement=r"|f(\widetilde{\mathbf W}_{priv}, x)| \le R^L K^{L-2} m^{(3-L)/2}, \quad K = 21 + 2\kappa\sqrt{LT}",
    words="with L >= 4 layers the network that Algorithm 10 puts out is 0 in the limit of width, whatever the data say",
    hypotheses=(positive_integer("m"), positive("R"), positive_integer("L").at_least(4), positive_integer("T"),
                positive("kappa", "the constant of the step")),
    says=output_bound, check=judge_output,
    flips=(Flip("K of two steps for all T", lambda m, r, layers, t, k: output_bound(m, r, layers, 2, k),
                Verdict.UNDECIDED),
           Flip("m^(2-L)", lambda m, r, layers, t, k: output_bound(m, r, layers, t, k) / sympy.sqrt(m) ** (layers - 1),
                Verdict.UNDECIDED)),
    true_variants={"1 % more": "a larger bound is one, too", "- -> + (operator 1)": "a larger bound is one, too"},
    expected="HOLDS ARGUED",
)
utility = Claim(
    id="nonconvex-nn/thm-13-utility",
    source="002, Theorem 13: the excess population risk (7), L >= 4, any hidden constant",
    quote=r"the excess population risk $L_{\mathcal{D}}(\hat{\mathbf{W}}) - \min_{\mathbf{W} \in \mathcal{W}} "
          r"L_{\mathcal{D}}(\mathbf{W})$ of the output in Algorithm 10",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L_{\mathcal D}(\hat{\mathbf W}) - \min_{\mathcal W} L_{\mathcal D} \le "
              r"c\,SL^{3/2}R\sqrt{\frac{\log(1/\xi)}{T}} + \inf_{\mathcal F} \frac1T\sum_i "
              r"\ell(f(x_i), y_i) + (\text{privacy})",
    words="the excess risk of Algorithm 10 is at most the convergence term, the "
          "approximation error and the privacy error",
    hypotheses=(positive("c", "the hidden constant"), positive_integer("L").at_least(4)),
    says=lambda c, layers, radius, t: c * layers ** sympy.Rational(3, 2) * radius * sympy.sqrt(
        -sympy.log(sympy.Rational(1, 10)) / t),
    check=judge_utility,
    flips=(Flip("a first term that does not fall with T", lambda c, layers, radius, t: c * radius, Verdict.UNDECIDED),
           Flip("as printed, without S L^(3/2) R", lambda c, layers, radius, t: c * sympy.sqrt(
               -sympy.log(sympy.Rational(1, 10)) / t), Verdict.REFUTED)),
    uses=("nonconvex-nn/asm-4", "nonconvex-nn/alg-10-projection", "nonconvex-nn/thm-13-algebra",
          "nonconvex-nn/def-8-ntrf", "nonconvex-nn/lem-18", "nonconvex-nn/lem-19", "nonconvex-nn/lem-22",
          "nonconvex-nn/lem-23", "nonconvex-nn/lem-25", "nonconvex-nn/lem-25-inequality",
          "nonconvex-nn/lem-25-noise-norm", "nonconvex-nn/lem-25-n", "nonconvex-nn/lem-26", "nonconvex-nn/lem-27",
          "nonconvex-nn/rem-17", "nonconvex-nn/rem-17-thm-13"),
    rests_on=("nonconvex-nn/thm-13-projection-L4",), repaired_by="nonconvex-nn/thm-13-start-ball",
    expected="REFUTED ARGUED",
)
near = Claim(
    id="nonconvex-nn/thm-13-start-ball", source="ours: what is true of Algorithm 10 with the ball around the start",
    severity=Stake.UTILITY,
    statement=r"\lVert \mathbf W_l - \mathbf W_l^{(0)} \rVert_F \le \frac{R}{\sqrt m} \implies |f(\mathbf W, x) - "
              r"f(\mathbf W^{(0)}, x)| \le LR\,a^{L-1}, \quad a \le 10 + R",
    words="projected on the ball around the start the network stays within L R a^(L-1) of its start at every width",
    hypotheses=(positive_integer("L").at_least(2), positive("share", "R/a").at_most(1), positive("a")),
    says=lambda layers, radius, a: layers * radius * a ** (layers - 1), check=judge_near,
    flips=(Flip("without L", lambda layers, radius, a: radius * a ** (layers - 1), Verdict.REFUTED),
           Flip("a^(L-2)", lambda layers, radius, a: layers * radius * a ** (layers - 2), Verdict.REFUTED)),
    true_variants={"1 % more": "a larger bound is one, too"},
    expected="HOLDS ARGUED",
)
