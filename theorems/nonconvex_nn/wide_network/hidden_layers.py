r"""How large hidden layers are at the start (002, Section 6 and Lemma 20), for the ReLU and for other activations.

A row of W_l times a fixed h is N(0, 2|h|^2/m). Half of its square's mean is left by the ReLU, so that E|h_l|^2 = m
(2/m) |h|^2/2 = |h_{l-1}|^2: by the tower rule E|h_l|^2 = |x|^2, and f = sqrt(m) W_L h_{L-1}, given h, has the law N(0,
|h_{L-1}|^2): Var f(W(0), x) = |x|^2, whatever width and depth.

Lemma 20, |x| = 1. The ratios r_l = |h_l|^2/|h_{l-1}|^2 have the law of the mean of m independent copies of Y = 2
relu(g)^2, g standard normal, whatever came before: EY = 1, EY^2 = 6, E e^{uY} = 1/2 + (1 - 4u)^{-1/2}/2. For 0 <= u <=
1/10, (1 - 4u)^{-1/2} <= 1 + 2u + 10 u^2, so E e^{u(Y-1)} <= e^{-u}(1 + u + 5u^2) <= e^{5u^2}; and for u >= 0, E
e^{-u(Y-1)} <= e^u (1 - u + 3u^2) <= e^{3u^2}. Markov with u = t/10 and u = t/6: P(|r - 1| > t) <= 2 e^{-m t^2/20} for t
<= 1. With t = epsilon/L for all layers and records, |h_l|^2 is between (1 - epsilon/L)^l and (1 + epsilon/L)^l, and
|h_l| between 1 - epsilon (Bernoulli) and e^{epsilon/2} <= 1 + epsilon. So all |h_{i,l}| are in [1 - epsilon, 1 +
epsilon] but for 2 n L e^{-m epsilon^2/(20 L^2)}. (The source has epsilon^2/L in the exponent.) As printed the exponent
is positive: the failure is bounded by more than 1, which says nothing.

Since h_l(c x) = c h_l(x) for c >= 0, a record of length |x| has |h_l| near |x|, not near 1: Assumption 4 has |x| <= 1.

Other activations at the variance v/m of Lemma 20, v = 2. A sigmoid is at least 1/2 on half the line, so |h_1|^2 is at
least a quarter of a binomial (m, 1/2): of the order of m, not of 1. For tanh u^2 - 2u^4/3 <= tanh(u)^2 <= u^2, so that
E|h_1|^2 is between v - 2v^2/m and v: at v = 2 it goes to 2. With v = 1 it goes to 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, positive_integer, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

Formula = Callable[..., Any]


@functools.cache
def relu_moment(power: int) -> sympy.Expr:
    """E relu(g)^power for a standard normal g."""
    g = sympy.Symbol("g", positive=True)
    return sympy.simplify(sympy.integrate(g**power * sympy.exp(-(g**2) / 2), (g, 0,
        sympy.oo)) / sympy.sqrt(2 * sympy.pi))


def judge_variance(says: Formula, given: Domain) -> Finding:
    """Whether Var f(W(0), x) = says(|x|^2, m, L)."""
    half, tried = Fraction(int(relu_moment(2) * 2), 2), 0
    for point in given.points("square", "width", "depth", at_most=120, most={"depth": 50}):
        square, width, depth = point["square"], point["width"], point["depth"]
        size = square
        for _ in range(depth - 1):
            size = width * Fraction(2, width) * size * half
        variance = width * Fraction(1, width) * size
        tried += 1
        if says(square, width, depth) != variance:
            return refuted("another variance", {"|x|^2": square, "m": width, "L": depth, "variance": variance,
                                                "claimed": says(square, width, depth)})
    square_, width_, depth_ = given.symbol("square"), given.symbol("width"), given.symbol("depth")
    return proof(
        computed("E relu(g)^2 = 1/2, the integral", relu_moment(2) == sympy.Rational(1, 2)),
        computed("a hidden layer keeps the mean square, and sqrt(m) W_L gives it the variance, on symbols", vanishes(
            width_ * (2 / width_) * square_ * relu_moment(2) - square_,
            width_ * (1 / width_) * square_ - says(square_, width_, depth_))),
        argued("the layers are independent: the tower rule, from the first layer to the last"),
        tried=tried,
    )


def ratio_steps() -> tuple[ProofStep, ...]:
    """The steps about one layer's ratio of mean squares."""
    t = sympy.Symbol("t", nonnegative=True)
    u = t / (1 + t) / 10  # from 0 to 1/10
    x, e = sympy.symbols("u epsilon", positive=True)
    return (
        computed("E Y = 1 and E Y^2 = 6, the integrals", vanishes(2 * relu_moment(2) - 1, 4 * relu_moment(4) - 6)),
        computed("(1 + 2u + 10u^2)^2 (1 - 4u) >= 1 for 0 <= u <= 1/10",
                 never_negative((1 + 2 * u + 10 * u**2) ** 2 * (1 - 4 * u) - 1)),
        computed("u t - 5u^2 at u = t/10 is t^2/20, and u t - 3u^2 at u = t/6 is no smaller", vanishes(
            (x * x / 10 - 5 * (x / 10) ** 2) - x**2 / 20) and never_negative(x * x / 6 - 3 * (x / 6) ** 2 - x**2 / 20)),
        computed("e^{epsilon/2} <= 1 + epsilon on [0, 1]: convex, and at 1 it is e^{1/2} < 2",
                 bool(sympy.E < 4) and vanishes(sympy.exp(e / 2).subs(e, 0) - 1)),
    )


def judge_failure(says: Formula, given: Domain) -> Finding:
    """Whether says(n, L, m, epsilon) bounds the failure of Lemma 20 and goes to 0 as m grows."""
    tried, m = 0, sympy.Symbol("m", positive=True)
    for point in led(given, at_most=60, records=1, depth=2, epsilon="1"):
        n, depth, e = point["records"], point["depth"], sympy.Rational(str(Fraction(point["epsilon"])))
        limit = sympy.limit(says(n, depth, m, e), m, sympy.oo)
        tried += 1
        if limit != 0:
            wide = 1000 * depth**2
            return refuted("the bound of the failure grows with the width, and is never below 1", {
                "n": n, "L": depth, "epsilon": e, "m": wide, "bound of the failure": says(n, depth, wide, e)})
    n_, depth_, e_ = given.symbol("records"), given.symbol("depth"), given.symbol("epsilon")
    proved = 2 * n_ * depth_ * sympy.exp(-m * e_**2 / (20 * depth_**2))
    return proof(
        *ratio_steps(),
        computed("2 n L e^{-m epsilon^2/(20 L^2)} is at most what is claimed",
                 never_negative(sympy.simplify(says(n_, depth_, m, e_) / proved) - 1)),
        argued("Markov's inequality, the union over records and layers, Bernoulli's inequality; epsilon <= 1"),
        tried=tried,
    )


def judge_centre(says: Formula, given: Domain) -> Finding:
    """Whether |h_l| of a record of length |x| is near says(|x|): the root of its mean square is |x|."""
    tried = 0
    for point in led(given, size="0"):
        size = point["size"]
        tried += 1
        if says(size) != size:
            return refuted("h_l(c x) = c h_l(x) for c >= 0: its mean square is |x|^2, and 0 has 0", {
                "|x|": size, "root of E|h_l|^2": size, "claimed": says(size)})
    size_ = given.symbol("size")
    return proof(
        computed("the claimed centre is the root of the mean square, on symbols", vanishes(
            says(size_) ** 2 - 2 * size_**2 * relu_moment(2), says(size_) - size_)),
        argued("homogeneity: |h_l(x)| = |x| |h_l(x/|x|)|, and Lemma 20 for x/|x|"),
        tried=tried,
    )


def judge_index(says: Formula, given: Domain) -> Finding:
    """Whether says(L) is the last index of a hidden layer: W_1, ..., W_{L-1} make hidden layers, W_L the output."""
    tried = 0
    for depth in given.values("depth"):
        hidden = [layer for layer in range(1, depth + 1) if layer < depth]
        tried += 1
        if says(depth) != hidden[-1]:
            return refuted("h_L is not defined; relu(W_L h_{L-1}) would be one number, and 0 half of the time", {
                "L": depth, "layers with an activation": ", ".join(map(str, hidden)), "claimed last": says(depth)})
    depth_ = given.symbol("depth")
    return proof(computed("the output has no activation: one layer fewer", vanishes(says(depth_) - depth_ + 1)),
                 tried=tried)


def judge_activation(says: tuple[str, Fraction], given: Domain) -> Finding:
    """Whether |h_1|, |x| = 1, is near 1 for wide networks with this activation and the variance v/m."""
    name, v = says[0], Fraction(says[1])
    widths = given.values("width", most=1000)
    if name == "sigmoid":
        width, few = 128, 16
        chance = sum((Fraction(comb(width, k), 2**width) for k in range(few + 1)), Fraction(0))
        return refuted("half of the units are at least 1/2: |h_1| grows like sqrt(m)", {
            "activation": name, "m": width, "P(at most 16 units >= 1/2)": chance, "else |h_1| >": 2,
            "chance in decimals": f"{float(chance):.3g}"})
    u = sympy.Symbol("u", nonnegative=True)
    mean = v / 2 if name == "relu" else v
    low = [Fraction(mean if name == "relu" else v - 2 * v**2 / width) for width in widths]
    if mean != 1:
        return refuted("the mean square of the first hidden layer goes to another number than 1", {
            "activation": name, "v": v, "E|h_1|^2 at most": mean, "E|h_1|^2 at least": low[-1], "m": widths[-1]})
    if name == "relu":
        return proof(computed("E relu(g)^2 = 1/2, so that 2/m keeps the mean square", relu_moment(2) * 2 == 1),
                     argued("Lemma 20"), tried=len(widths))
    if name != "tanh":
        return undecided(f"nothing is known here of {name}", len(widths))
    cubic = sympy.diff(sympy.tanh(u), u) - (1 - sympy.tanh(u) ** 2)
    return proof(
        computed("(u - u^3/3)^2 >= u^2 - 2u^4/3", never_negative((u - u**3 / 3) ** 2 - (u**2 - 2 * u**4 / 3))),
        computed("tanh' = 1 - tanh^2, which is at least 1 - u^2, the derivative of u - u^3/3",
            sympy.simplify(cubic) == 0),
        computed("m (v/m - (2/3) 3 (v/m)^2) = v - 2v^2/m is within 2/m of 1 at v = 1", mean == 1 == v),
        argued("tanh(u) is between u - u^3/3 and u for u >= 0 (where the former is negative, so is u^2 - 2u^4/3), and "
               "E u^4 = 3 (v/m)^2; the limit m to infinity"),
        tried=len(widths),
    )


_DEPTH = positive_integer("depth", "L").at_least(2)
scaling = Claim(
    id="nonconvex-nn/net-scaling", source="002, Section 6: f = sqrt(m) W_L ..., with the start of Algorithm 10",
    quote=r"f(\mathbf{W}, x) = (\sqrt{m}) \cdot \mathbf{W}_L \sigma(\mathbf{W}_{L-1} \sigma(\mathbf{W}_{L-2} \dots "
          r"\sigma(\mathbf{W}_1 x) \dots)),",
    whose=Whose.OURS, severity=Stake.UTILITY, statement=r"\mathrm{Var}\, f(W^{(0)}, x) = \|x\|^2",
    words="at the start f has the mean 0 and the variance |x|^2, whatever the width and the depth",
    hypotheses=(non_negative("square", "|x|^2"), positive_integer("width", "m"), _DEPTH),
    says=lambda square, width, depth: square, check=judge_variance,
    flips=(Flip("over m", lambda square, width, depth: square / width, Verdict.REFUTED),),
    true_variants={"any *": "an identity"}, expected="HOLDS ARGUED",
)
layers = Claim(
    id="nonconvex-nn/lem-20", source="002, Lemma 20: the sign in the exponent",
    quote=r"*If $\epsilon \in (0, 1]$, with probability at least $1 - O(nl) \cdot e^{\Omega(m\epsilon^2/L)}$ over the "
          r"randomness of $\mathbf{W}^{(0)}$, we have*",
    whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"P(\exists i, l: \|h_{i,l}\| \notin [1-\epsilon, 1+\epsilon]) \le nL\, e^{+m\epsilon^2/L} \to 0",
    words="Lemma 20's bound of the failure goes to 0 as the network widens",
    hypotheses=(positive_integer("records", "n"), _DEPTH, positive("epsilon").at_most(1)),
    says=lambda n, depth, m, e: n * depth * sympy.exp(m * e**2 / depth), check=judge_failure, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"P(\exists i, l: \|h_{i,l}\| \notin [1-\epsilon, 1+\epsilon]) \le 2nL e^{-m\epsilon^2/(20L^2)},"
                  r"\ \|x_i\| = 1",
        words="for |x_i| = 1 Lemma 20's event fails with probability at most 2 n L e^{-m epsilon^2/(20 L^2)}",
        says=lambda n, depth, m, e: 2 * n * depth * sympy.exp(-m * e**2 / (20 * depth**2)), expected="HOLDS ARGUED",
        true_variants={"1 % more": "a larger bound", "any records": "a bound for every number of them"},
        flips=(Flip("epsilon for its square", lambda n, depth, m,
            e: 2 * n * depth * sympy.exp(-m * e / (20 * depth**2)),
                    Verdict.UNDECIDED),),
    ),
)
unit = Claim(
    id="nonconvex-nn/lem-20-unit", source="002, Lemma 20 under Assumption 4: |x| <= 1",
    quote=r"\forall i \in [n], l \in [L] : \|h_{i,l}\| \in [1 - \epsilon, 1 + \epsilon] \quad (17)",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\|h_{i,l}\| \approx 1 \text{ for all } \|x_i\| \le 1",
    words="hidden layers are about 1 long for every record of Assumption 4",
    hypotheses=(unit_interval("size", "|x|"),), says=lambda size: size**0, check=judge_centre,
        expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\|h_{i,l}\| \in \|x_i\| [1 - \epsilon, 1 + \epsilon]", words="hidden layers are about |x| long",
        says=lambda size: size, expected="HOLDS ARGUED", rests_on=("nonconvex-nn/lem-20-repaired",),
        true_variants={"any size": "an identity"},
    ),
)
index = Claim(
    id="nonconvex-nn/lem-20-index", source="002, (17): l in [L]; h_{i,l} is defined for l in [L - 1]",
    quote=r"\forall i \in [n], l \in [L] : \|h_{i,l}\|", whose=Whose.TYPO, severity=Stake.EDITORIAL,
    statement=r"l \in [L]", words="hidden layers run to l = L", hypotheses=(_DEPTH,), says=lambda depth: depth,
    check=judge_index, expected="REFUTED PROVED",
    repair=Repair(statement=r"l \in [L-1]", words="hidden layers run to l = L - 1", says=lambda depth: depth - 1,
                  expected="HOLDS PROVED"),
)
sigmoid = Claim(
    id="nonconvex-nn/extends-to-sigmoid", source="002, Section 6, read of Lemma 20 with the start of Algorithm 10",
    quote=r"The general analysis framework is able to extend to other activation functions like tanh, and sigmoid, as "
          r"long as the function is smooth almost everywhere.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sigma = \text{sigmoid},\ W_l \sim N(0, 2/m) \Rightarrow \|h_l\| \in [1-\epsilon, 1+\epsilon]",
    words="with sigmoid units and the document's start N(0, 2/m) hidden layers have lengths near 1",
    hypotheses=(positive_integer("width", "m"),), says=("sigmoid", 2), check=judge_activation,
        expected="REFUTED PROVED",
    flips=(Flip("tanh", ("tanh", 2), Verdict.REFUTED), Flip("the ReLU", ("relu", 2), Verdict.HOLDS)),
    repair=Repair(
        statement=r"\sigma = \tanh,\ W_l \sim N(0, 1/m) \Rightarrow E\|h_1\|^2 \in [1 - 2/m, 1],\ \|x\| = 1",
        words="with tanh and the variance 1/m, not 2/m, the first hidden layer keeps its mean square as m grows",
        says=("tanh", 1), expected="HOLDS ARGUED", source="002, Section 6, for tanh and its own variance, first layer",
        flips=(Flip("the ReLU at 1/m", ("relu", 1), Verdict.REFUTED),),
    ),
)
