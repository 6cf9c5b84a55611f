r"""Theorem 3.1 of document 000 and what stands beside it: the width that makes (3.2) and (3.3) one problem.

Theorem 3.1 is false. d = 2, x_i = (t_i, 1) with t = 0..5, y = (0, 1, 0, 1, 0, 1), lambda = 1/1000. A network of m
neurons is, as a function of t, piecewise linear with at most m kinks, so it has at most m + 1 slopes, in this order. If
m < 4, one of the five differences f(t+1) - f(t) has the wrong sign or is 0 while y's is +-1, so two residuals differ by
at least 1 and their squares add up to at least 1/2: the objective (3.2) is at least 1/4. But five neurons interpolate,
f = phi(t) - 2 phi(t-1) + 2 phi(t-2) - 2 phi(t-3) + 2 phi(t-4), at cost lambda sum |u_j| |alpha_j| after balancing, and
the convex problem (3.3) is never above a network's objective (v_i = |alpha| u, and |u|^2 + alpha^2 >= 2 |u| |alpha|).

Repaired: m* <= n + 1. A prediction is a mass times a convex combination of points +-phi(Xu), |u| <= 1, of a compact set
in R^n, and Caratheodory's theorem keeps n + 1 of them, with the same mass, hence the same objective. The loss enters
through the prediction only, so any loss of the prediction that is bounded below will do in place of the square.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled

_LABELS = (0, 1, 0, 1, 0, 1)
_NEURONS = ((1, 0), (-2, 1), (2, 2), (-2, 3), (2, 4))  # (alpha, s): alpha phi(t - s)
_LAM = Fraction(1, 1000)
_UNIT = tuple((Fraction(a, c), Fraction(b, c)) for a, b, c in ((3, 4, 5), (5, 12, 13), (8, 15, 17), (1, 0, 1)))


def follows(slopes: int) -> bool:
    """Whether so many slopes, in their order, can give the labels' differences their signs, by trying all signs."""
    wanted = [1 if b > a else -1 for a, b in itertools.pairwise(_LABELS)]

    def within(signs: tuple[int, ...]) -> bool:
        left = iter(signs)
        return all(any(sign == want for sign in left) for want in wanted)  # neighbours differ: no slope serves twice

    return any(within(signs) for signs in itertools.product((-1, 0, 1), repeat=slopes))


def caratheodory(points: list[list[Fraction]], weights: list[Fraction]) -> list[Fraction]:
    """Weights of the same sum and the same combination, at most dimension + 1 of them positive, exactly."""
    weights = list(weights)
    while sum(w > 0 for w in weights) > len(points[0]) + 1:
        active = [i for i, w in enumerate(weights) if w > 0]
        matrix = sympy.Matrix([[*points[i], 1] for i in active]).T
        kernel = [Fraction(int(v.p), int(v.q)) for v in matrix.nullspace()[0]]
        kernel = kernel if max(kernel) > 0 else [-k for k in kernel]
        step = min(weights[i] / k for i, k in zip(active, kernel, strict=True) if k > 0)
        for i, k in zip(active, kernel, strict=True):
            weights[i] -= step * k
    return weights


def reduced(n: int, d: int) -> bool:
    """Whether n + 4 neurons on n records come down to n + 1 with prediction and mass unchanged, exactly."""
    data = [[Fraction((3 * j * j + 5 * c + j * c) % 7 - 3) for c in range(d)] for j in range(n)]
    points, weights = [], []
    for i in range(n + 4):
        a, b = _UNIT[i % 4]
        u = [(a, b)[(c + i) % 2] if c < 2 else Fraction(0) for c in range(d)] if d > 1 else [Fraction((-1) ** i)]
        outer = (-1) ** (i // 2)
        points.append([outer * max(Fraction(0), sum((x * w for x, w in zip(row, u, strict=True)), Fraction(0)))
                       for row in data])
        weights.append(Fraction(i + 1, 3))
    after = caratheodory(points, weights)
    moved = [sum((a - b) * p[c] for a, b, p in zip(after, weights, points, strict=True)) for c in range(n)]
    return not any(moved) and sum(after) == sum(weights) and min(after) >= 0 and sum(w > 0 for w in after) <= n + 1


def judge_width(width: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether (3.2) and (3.3) have equal minima from width(n, d) neurons on."""
    a, b = sympy.symbols("a b", real=True)
    neurons = width(6, 2)
    if not follows(int(neurons) + 1):
        fits = all(sum(w * max(0, t - s) for w, s in _NEURONS) == y for t, y in enumerate(_LABELS))
        with ctx.workprec(100):
            cost = ball(_LAM) * sum((abs(w) * arb(1 + s * s).sqrt() for w, s in _NEURONS), arb(0))
        return refuted_by("five neurons are cheaper than any network of that width", {
            "d": 2, "x_i": "(t, 1), t = 0..5", "y": list(_LABELS), "lambda": _LAM, "m": neurons,
            "objective (3.2) at least": "1/4", "minimum of (3.3) at most": Enclosure.of_ball(cost)},
            argued("a network of m neurons is piecewise linear in t with at most m + 1 slopes, and a difference of one "
                   "sign needs a slope of that sign in between"),
            computed(f"no {int(neurons) + 1} signs contain + - + - + in this order", not follows(int(neurons) + 1)),
            computed("two residuals that differ by 1 have squares of sum at least 1/2: objective at least 1/4",
                     sympy.expand(a**2 + b**2 - (a - b) ** 2 / 2 - (a + b) ** 2 / 2) == 0),
            computed("five neurons fit the labels and cost less than 1/4", bool(fits and cost < arb("0.25"))),
            argued("the convex problem (3.3) is never above a network's objective"))
    tried = [reduced(point["n"], point["d"]) for point in given.points("n", "d", most={"n": 7, "d": 3})]
    w, k, t, p = sympy.symbols("w k t p", real=True)
    n, d = given.symbol("n"), given.symbol("d")
    return proof(
        computed("weights w - t k with sum k = 0 and sum k p = 0 have the same sum and combination",
                 sympy.expand((w - t * k) - w + t * k) == 0
                 and sympy.expand((w - t * k) * p - w * p + t * (k * p)) == 0),
        sampled(f"n + 4 neurons came down to n + 1 in all {len(tried)} cases, exactly", all(tried)),
        argued("n + 2 points of R^n have such k, and t = min w/k over k > 0 removes one; (3.3) attains its minimum; a "
               "neuron balanced costs lambda |u| |alpha|, and (3.3) is never above (3.2)"),
        computed("the claimed width is at least n + 1", sympy.simplify(width(n, d) - n - 1).is_nonnegative),
    )


def judge_weights(neuron: Callable[[Any], tuple[Any, Any]], given: Domain) -> Finding:
    """Whether the neurons (u, alpha) = neuron(|v|) times (v/|v|, 1) predict D X v and cost |v| for v in its cone.

    neuron gives (the length of u, alpha). The prediction for a record is phi(x.u) alpha, x.u = |u| x.v / |v|.
    """
    for length in given.values("length"):
        for product in (Fraction(2), Fraction(0), Fraction(-3)):
            size, outer = (sympy.sympify(part) for part in neuron(length))
            prediction = sympy.Max(0, size * product / length) * outer
            cost = (size**2 + outer**2) / 2
            if sympy.simplify(prediction - max(product, 0)) != 0 or sympy.simplify(cost - length) != 0:
                return refuted("another prediction or cost", {
                    "|v|": length, "x.v": product, "|u|": size, "alpha": outer, "prediction": prediction,
                    "D x.v": max(product, 0), "(|u|^2 + alpha^2)/2": cost})
    r, more = given.symbol("length", "r"), sympy.symbols("q", positive=True)
    size, outer = neuron(r)
    return proof(
        computed("where the record is active, x.v > 0, the neuron predicts x.v",
                 sympy.simplify(size * more / r * outer - more) == 0 and sympy.sympify(size).is_positive),
        computed("it costs (|u|^2 + alpha^2)/2 = |v|", sympy.simplify((size**2 + outer**2) / 2 - r) == 0),
        computed("where it is not, x.v <= 0 by the cone's constraint, both are 0",
                 sympy.Max(0, -size * more / r) == 0),
        argued("so the sum over the non-zero v_i and, with -alpha, w_i has (3.3)'s prediction and objective; enough "
               "neurons: as many as there are, or n + 1 (thm-3.1-repaired)"),
    )


_WIDTH = (positive_integer("n"), positive_integer("d"))
_WIDER = dict.fromkeys(("1 % more", "squared", "1 -> 2*", "beyond *"), "a wider network is enough, too")

width = Claim(
    id="relu-approx/thm-3.1", source="000, Theorem 3.1",
    quote=(
        r"There exists $m^* \in \mathbb{N}$ , $m^* \leq d+1$ , such that for all $m \geq m^*$ , the ReLU "
        "minimization problem (3.2) and the convex problem (3.3) have equal minima."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\exists m^* \le d + 1: \text{ (3.2) and (3.3) have equal minima for all } m \ge m^*",
    words="from d + 1 hidden neurons on the ReLU problem and the convex problem have equal minima",
    hypotheses=_WIDTH, says=lambda n, d: d + 1,
    check=judge_width,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\exists m^* \le n + 1: \text{ (3.2) and (3.3) have equal minima for all } m \ge m^*",
        words="from n + 1 hidden neurons on the ReLU problem and the convex problem have equal minima (perhaps before)",
        says=lambda n, d: n + 1,
        expected="HOLDS ARGUED",
        flips=(Flip("2d - 1", lambda n, d: 2 * d - 1, Verdict.REFUTED),),
        true_variants=_WIDER,
    ),
)
general = Claim(
    id="relu-approx/general-convex-loss", source="000, Section 3.1 (Mishkin et al. 2022): Theorem 3.1 for other losses",
    quote=(
        r"extends the equivalence in Thm. 3.1 to general convex loss functions $\mathcal{L}$ , rather than focusing "
        "solely on the squared loss."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\min \text{(3.2)} = \min \text{(3.3)} \text{ for every convex loss},\ m \ge m^*,\ m^* \le d + 1",
    words="from d + 1 neurons on the ReLU problem and the convex problem have equal minima for every convex loss, the "
          "squared one among them",
    hypotheses=_WIDTH, says=lambda n, d: d + 1, check=judge_width,
    uses=("relu-approx/thm-3.1",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\inf \text{(3.2)} = \inf \text{(3.3)} \text{ for every convex loss bounded below},\ m \ge n + 1",
        words="from n + 1 neurons on the ReLU problem and the convex problem have equal infima for every convex loss "
              "that is bounded below: the reduction keeps prediction and mass, and the loss sees nothing else",
        says=lambda n, d: n + 1,
        expected="HOLDS ARGUED",
        true_variants=_WIDER,
        rests_on=("relu-approx/thm-3.1-repaired",),
    ),
)
weights = Claim(
    id="relu-approx/relu-weights", source="000, Section 3.1 (Pilanci and Ergen 2020)",
    quote=(
        "for a large enough hidden-width m, the optimal weights of the ReLU network can be constructed from the "
        "optimal solution of the convex problem 3.3."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"v \in C_i \implies (u, \alpha) = \Big(\frac{v}{\sqrt{\|v\|}}, \sqrt{\|v\|}\Big):\ \phi(Xu)\alpha ="
              r" D_i X v,\ \tfrac12(\|u\|^2 + \alpha^2) = \|v\|",
    words="each non-zero v_i or w_i of the convex problem becomes one neuron, (v/sqrt|v|, +-sqrt|v|), with the same "
          "prediction and cost",
    hypotheses=(positive("length", "|v|"),),
    says=lambda length: (sympy.sqrt(length), sympy.sqrt(length)), check=judge_weights,
    flips=(Flip("v itself and 1", lambda length: (length, 1), Verdict.REFUTED),),
    rests_on=("relu-approx/thm-3.1-repaired",),
    expected="HOLDS ARGUED",
)
