r"""Section 3 of document 000 beyond counting: the width that Theorem 3.1 needs, and equations (3.4) to (3.8).

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

from oracle.core.domain import positive, positive_integer, real, vector
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

# --- Theorem 3.1

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
        kernel = [Fraction(int(v.p), int(v.q)) for v in sympy.Matrix([[*points[i], 1] for i in active]).T.nullspace()[0]]
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
                 sympy.expand((w - t * k) - w + t * k) == 0 and sympy.expand((w - t * k) * p - w * p + t * (k * p)) == 0),
        computed(f"n + 4 neurons came down to n + 1 in all {len(tried)} cases, exactly", all(tried)),
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
            if sympy.simplify(prediction - max(product, 0)) != 0 or sympy.simplify(size**2 + outer**2 - 2 * length) != 0:
                return refuted("another prediction or cost", {
                    "|v|": length, "x.v": product, "|u|": size, "alpha": outer, "prediction": prediction,
                    "D x.v": max(product, 0), "(|u|^2 + alpha^2)/2": (size**2 + outer**2) / 2})
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


# --- equations (3.4) to (3.8)


def judge_loss(residual: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether twice the first term of (3.4), of a prediction and a label, is the squared distance that (3.3) has.

    The squared distance is 0 at prediction = y and nowhere less, with second derivative 2: the only such quadratic.
    """
    points = list(given.points("prediction", "y"))
    for point in points:
        f, y = point["prediction"], point["y"]
        at_label, there = residual(y, y), residual(f, y)
        if at_label != 0 or there < 0 or there != residual(2 * y - f, y) or residual(y + 1, y) != 1:
            wrong = f if at_label == 0 else y
            return refuted("the term does not measure the residual", {
                "prediction": wrong, "y": y, "printed": residual(wrong, y), "(3.3)": (wrong - y) ** 2})
    f_, y_ = given.symbol("prediction", "f"), given.symbol("y")
    form = residual(f_, y_)
    return proof(
        computed("the term is 0 at prediction = y", sympy.expand(form.subs(f_, y_)) == 0),
        computed("so is its slope", sympy.expand(sympy.diff(form, f_).subs(f_, y_)) == 0),
        computed("its second derivative is 2 everywhere", sympy.expand(sympy.diff(form, f_, 2)) == 2),
        tried=len(points),
    )


def judge_indicator(says: tuple[Callable[[int], int], bool], given: Domain) -> Finding:
    """Whether an indicator of the sign of x^T u is 1(x^T u >= 0): for every u, or (True) for all but x^T u = 0."""
    indicator, generic = says
    for product in (1, -1) if generic else (1, -1, 0):
        if indicator(product) != int(product >= 0):
            return refuted("the two differ where u is orthogonal to x", {
                "x^T u": product, "as in (3.6)": indicator(product), "as in (3.8)": int(product >= 0)})
    return instance("x^T u has one of the signs tried, which are all cases")


def judge_mean(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (3.6), with that factor of n before the squared norm, is the mean over the records of (3.8)."""
    for point in given.points("n", "lam", most={"n": 7}):
        n, lam = point["n"], point["lam"]
        squares, ridge = [Fraction(j * j + 1) for j in range(n)], 3 * lam / 2
        whole, mean = factor(Fraction(n)) * sum(squares) + ridge, sum((s / 2 + ridge for s in squares), Fraction(0)) / n
        if whole != mean:
            return refuted("the two sides differ", {
                **point, "squared residuals": ", ".join(map(str, squares)), "|v|^2": 3, "(3.6)": whole,
                "mean of (3.8)": mean})
    n_, lam_ = given.symbol("n"), given.symbol("lam")
    j, first, more = sympy.symbols("j f e", integer=True, nonnegative=True)
    r, on, z = map(sympy.IndexedBase, "raz")
    square = sympy.symbols("R", nonnegative=True)
    mean_ = (sympy.Sum(r[j] ** 2, (j, 1, n_)) / 2 + sympy.summation(lam_ / 2 * square, (j, 1, n_))) / n_
    entry = sympy.Sum(sympy.KroneckerDelta(j, first + 1) * on[j] * z[j], (j, 1, first + 1 + more)).doit()
    return proof(
        computed("entry j of D_i X v_i is (D_i)_jj x_j^T v_i, as D_i is diagonal, for any number of records",
                 sympy.simplify(entry - on[first + 1] * z[first + 1]) == 0),
        computed("for any n the mean of r_j^2/2 + (lambda/2) |v|^2 is that factor times the sum of squares plus the "
                 "regulariser", sympy.simplify(
                     factor(n_) * sympy.Sum(r[j] ** 2, (j, 1, n_)) + lam_ / 2 * square - mean_) == 0),
    )


def judge_inference(indicator: Callable[[int], int], given: Domain) -> Finding:
    """Whether sum_i indicator(u_i^T x) x^T v_i is the training prediction of (3.8) at a training point.

    Both are sums over i of x^T v_i times something that depends on the sign of u_i^T x: three signs are all cases, and
    one hyperplane with x^T v = 1 tells them apart (x = 0 predicts 0 in any case).
    """
    x, v = (1, 0), (1, 0)
    for u in ((1, 1), (-1, 1), (0, 1)):
        product = x[0] * u[0] + x[1] * u[1]
        training = sum(a * b for a, b in zip(x, v, strict=True)) if product >= 0 else 0  # (D)_jj of (3.8)
        if indicator(product) * (x[0] * v[0] + x[1] * v[1]) != training:
            return refuted("the prediction at a training point is another", {
                "x": x, "u": u, "v": v, "inference": indicator(product), "training": training})
    return instance("the same for each sign of u_i^T x, which are all cases")


def judge_strong(modulus: Fraction, given: Domain) -> Finding:
    """Whether (3.8) is (modulus lambda)-strongly convex: its Hessian is t t^T + lambda I, t = (D_1 x; ...; D_P x)."""
    s, p = sympy.symbols("s p", real=True)  # p = t.w
    score, label, cross = sympy.symbols("f y c", real=True)
    lam_, square, length = given.symbol("lam", "lambda"), *sympy.symbols("V W", nonnegative=True)
    loss = (score + s * p - label) ** 2 / 2 + lam_ / 2 * (square + 2 * s * cross + s**2 * length)
    second = sympy.diff(loss, s, 2)
    for lam in given.values("lam"):
        across = second.subs({p: 0, length: 2, lam_: lam})  # x = 1, both hyperplanes active, w = (1, -1)
        if modulus * lam * 2 > across:
            return refuted("orthogonally to the active features the curvature is lambda", {
                "x": 1, "u": "(1, 1)", "direction": "(1, -1)", "lambda": lam, "curvature over lambda": across / 2 / lam,
                "claimed": modulus})
    return proof(
        computed("the second derivative along w is (t.w)^2 + lambda |w|^2", sympy.expand(second - p**2 - lam_ * length) == 0),
        computed("that is at least the modulus times lambda |w|^2",
                 sympy.expand(second - sympy.Rational(modulus.numerator, modulus.denominator) * lam_ * length)
                 .is_nonnegative),
    )


def judge_flat(regulariser: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a regulariser of |v_i| and |w_i| leaves (3.4) without strong convexity: n = d = P = 1, v = w = s > 0."""
    s, x, y = sympy.symbols("s", positive=True), sympy.symbols("x", positive=True), sympy.symbols("y", real=True)
    v, w = sympy.symbols("v w", positive=True)  # feasible: x v >= 0 and x w >= 0
    objective = (x * (v - w) - y) ** 2 / 2 + given.symbol("lam") * (regulariser(v) + regulariser(w))
    bend = sympy.simplify(sympy.diff(objective.subs({v: s, w: s}), s, 2))
    if bend == 0:
        return instance("one record, one feature, one pattern: along v = w = s > 0, which is feasible, the objective is "
                        "affine (computer algebra)")
    return refuted("it bends along the ray v = w = s", {"second derivative": bend, "n = d = P": 1})


def judge_dimension(count: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether the scores of k outputs, P hyperplanes and d features depend on count(d, P, k) weights.

    The scores are g_c(x, v) = sum_i 1(u_i^T x >= 0) x^T v_ci; the weights are those by which some derivative is not 0.
    """
    outputs = {"k"} & set(given.parameters)
    for point in given.points("d", "P", *outputs, most=dict.fromkeys(("d", "P", *outputs), 3)):
        d, hyperplanes, k = point["d"], point["P"], point.get("k", 1)
        v = sympy.IndexedBase("v")
        places = itertools.product(range(k), range(hyperplanes), range(d))
        scores = [sum((j + 1) * v[c, i, j] for i in range(hyperplanes) for j in range(d)) for c in range(k)]
        true = sum(any(sympy.diff(score, v[place]) != 0 for score in scores) for place in places)
        if count(d, hyperplanes, k) != true:
            return refuted("another number of weights moves the scores", {
                **point, "parameters": true, "claimed": count(d, hyperplanes, k)})
    d_, p_ = given.symbol("d"), given.symbol("P")
    k_ = given.symbol("k") if outputs else sympy.Integer(1)
    c_, i_, j_ = sympy.symbols("c i j", integer=True)
    total = sympy.Sum(1, (j_, 1, d_), (i_, 1, p_), (c_, 1, k_)).doit()
    return proof(
        computed("counted over the indices of v_cij, for any d, P and k, that is the number",
                 sympy.simplify(total - count(d_, p_, k_)) == 0),
    )


_NETWORK = (vector("x"), vector("u"), positive("lam"))
_WIDTH = (positive_integer("n"), positive_integer("d"))
_WIDER = {name: "a wider network is enough, too" for name in ("1 % more", "squared", "1 -> 2*", "beyond *")}

width = Claim(
    id="relu-approx/thm-3.1", source="000, Theorem 3.1",
    quote=(
        r"There exists $m^* \in \mathbb{N}$ , $m^* \leq d+1$ , such that for all $m \geq m^*$ , the ReLU "
        "minimization problem (3.2) and the convex problem (3.3) have equal minima."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
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
        survivors=_WIDER,
    ),
)
general = Claim(
    id="relu-approx/general-convex-loss", source="000, Section 3.1 (Mishkin et al. 2022), from n + 1 neurons on",
    quote=(
        r"extends the equivalence in Thm. 3.1 to general convex loss functions $\mathcal{L}$ , rather than focusing "
        "solely on the squared loss."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\inf \text{(3.2)} = \inf \text{(3.3)} \text{ for every convex loss of the prediction bounded below, }"
              r" m \ge n + 1",
    words="from n + 1 neurons on the ReLU problem and the convex problem have equal infima for every convex loss that is "
          "bounded below: the reduction keeps prediction and mass, and the loss sees nothing else",
    hypotheses=_WIDTH, says=lambda n, d: n + 1, check=judge_width,
    flips=(Flip("d + 1", lambda n, d: d + 1, Verdict.REFUTED),),
    survivors=_WIDER,
    uses=("relu-approx/thm-3.1",), rests_on=("relu-approx/thm-3.1-repaired",),
    expected="HOLDS ARGUED",
)
weights = Claim(
    id="relu-approx/relu-weights", source="000, Section 3.1 (Pilanci and Ergen 2020)",
    quote=(
        "for a large enough hidden-width m, the optimal weights of the ReLU network can be constructed from the "
        "optimal solution of the convex problem 3.3."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"v \in C_i \implies (u, \alpha) = \Big(\frac{v}{\sqrt{\|v\|}}, \sqrt{\|v\|}\Big):\ \phi(Xu)\alpha = D_i X"
              r" v,\ \tfrac12(\|u\|^2 + \alpha^2) = \|v\|",
    words="each non-zero v_i or w_i of the convex problem becomes one neuron, (v/sqrt|v|, +-sqrt|v|), with the same "
          "prediction and cost",
    hypotheses=(positive("length", "|v|"),),
    says=lambda length: (sympy.sqrt(length), sympy.sqrt(length)), check=judge_weights,
    flips=(Flip("v itself and 1", lambda length: (length, 1), Verdict.REFUTED),),
    rests_on=("relu-approx/thm-3.1-repaired",),
    expected="HOLDS ARGUED",
)
loss = Claim(
    id="relu-approx/eq-3.4",
    source="000, (3.4), a comma for a minus (perhaps of the extraction): as printed it is not the residual",
    quote=(
        r"\min_{v_i, w_i} \frac{1}{2} \left\| \sum_{i=1}^{P} D_i X(v_i - w_i), y \right\|_2^2 + \lambda "
        r"\sum_{i=1}^{P} (\|v_i\|_2 + \|w_i\|_2)"
    ),
    whose=Whose.TYPO,
    statement=r"\tfrac12 \left\lVert \textstyle\sum_i D_i X(v_i - w_i),\ y \right\rVert_2^2",
    words="the first term of (3.4), as printed, is the squared residual of (3.3)",
    hypotheses=(real("prediction"), real("y")), says=lambda prediction, y: prediction**2 + y**2, check=judge_loss,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\tfrac12 \left\lVert \textstyle\sum_i D_i X(v_i - w_i) - y \right\rVert_2^2",
        words="the first term of (3.4), with - y, is the squared residual of (3.3)",
        says=lambda prediction, y: (prediction - y) ** 2,
        expected="HOLDS PROVED",
        source="000, (3.4) with - y",
        flips=(Flip("with + y", lambda prediction, y: (prediction + y) ** 2, Verdict.REFUTED),),
    ),
)
indicator = Claim(
    id="relu-approx/eq-3.6-3.8-D", source="000, the D_i of (3.6), max(0, sign(x^T u)), and of (3.8), 1(x^T u >= 0)",
    quote=r"(D_i)_{jj} = \max (0, \operatorname{sign}(x_j^T u_i)).",
    whose=Whose.PRINTED,
    statement=r"\max(0, \mathrm{sign}(x^T u)) = \mathbb{1}(x^T u \ge 0)",
    words="the two definitions of the diagonal matrices agree for every x and u",
    hypotheses=_NETWORK, says=(lambda product: max(0, product), False), check=judge_indicator,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"x^T u \ne 0 \implies \max(0, \mathrm{sign}(x^T u)) = \mathbb{1}(x^T u \ge 0)",
        words="the two definitions of the diagonal matrices agree unless x^T u = 0",
        says=(lambda product: max(0, product), True),
        expected="HOLDS PROVED",
        source="000, the two definitions of D_i, almost surely",
        survivors={"?0? squared": "0 and 1 are their own squares"},
        flips=(Flip("the negative part", (lambda product: max(0, -product), True), Verdict.REFUTED),),
    ),
)
mean = Claim(
    id="relu-approx/eq-3.7", source="000, (3.7) (its sum printed over i, meant over j)",
    quote="Note that we may also write the loss function of Eq. (3.6) in the summative form",
    whose=Whose.PRINTED,
    statement=r"\mathcal{L}(v, X, y) = \frac1n \sum_{j=1}^n \ell(v, x_j, y_j)",
    words="the loss (3.6) is the mean over the records of (3.8)",
    hypotheses=(vector("x"), vector("u"), positive_integer("n"), positive("lam")), says=lambda n: 1 / (2 * n),
    check=judge_mean,
    flips=(Flip("1/2 in place of 1/(2n)", lambda n: Fraction(1, 2), Verdict.REFUTED),),
    survivors={"any lam": "the identity does not need the sign of lambda"},
    expected="HOLDS PROVED",
)
flat = Claim(
    id="relu-approx/eq-3.4-not-strong", source="000, Section 3.2: (3.4) is not generally strongly convex",
    quote="the overall loss function given by Eq. 3.4 is not generally strongly convex",
    whose=Whose.PRINTED,
    statement=r"\frac{d^2}{ds^2} \big( \lambda \lVert s e \rVert_2 + \lambda \lVert s e \rVert_2 \big) = 0"
              r" \text{ along } v_1 = w_1 = s e",
    words="the problem (3.4) with its group norms is not strongly convex",
    hypotheses=_NETWORK, says=lambda norm: norm, check=judge_flat,
    survivors=dict.fromkeys(("sign", "1 % *"), "a multiple of the norm is affine along the ray, too"),
    flips=(Flip("with squared norms, as in (3.6)", lambda norm: norm**2 / 2, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
dimension = Claim(
    id="relu-approx/dimension", source="000, Section 3.3, practical considerations",
    quote=(
        r"the overall model has a dimension $d \times P \times k$ , where d is the feature dimension and P the "
        "number of randomly chosen hyperplanes."
    ),
    whose=Whose.PRINTED,
    statement=r"\dim v = d \times P \times k", words="the model for k outputs has d P k parameters",
    hypotheses=(positive_integer("d"), positive_integer("P"), positive_integer("k")),
    says=lambda d, p, k: d * p * k, check=judge_dimension,
    flips=(Flip("d P + k", lambda d, p, k: d * p + k, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
inference = Claim(
    id="relu-approx/inference", source="000, Section 3.3, the inference time model",
    quote="the prediction is carried out similarly using the function",
    whose=Whose.PRINTED,
    statement=r"g(x, v) = \textstyle\sum_i \mathbb{1}(u_i^T x \ge 0)\, x^T v_i",
    words="at a training point the inference model gives the training prediction",
    hypotheses=_NETWORK, check=judge_inference,
    says=lambda product: int(product >= 0),
    flips=(
        Flip("> for >=, as in (3.6)", lambda product: int(product > 0), Verdict.REFUTED),
        Flip("without the indicator", lambda product: 1, Verdict.REFUTED),
    ),
    survivors={"squared": "0 and 1 are their own squares"},
    expected="HOLDS PROVED",
)
strong = Claim(
    id="relu-approx/sec-3.4-strong", source="000, Section 3.4",
    quote=r"the loss function (3.8) is clearly $\lambda$ -strongly convex.",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\ell(\cdot, x, y) \text{ is } \lambda\text{-strongly convex}",
    words="the loss (3.8) is lambda-strongly convex",
    hypotheses=_NETWORK, says=Fraction(1), check=judge_strong,
    flips=(Flip("2 lambda", Fraction(2), Verdict.REFUTED),),
    survivors={"1 % less": "it is strongly convex with every smaller modulus, too", "sign": "as with every smaller modulus",
               "any lam": "the second derivative is at least lambda |w|^2 for every real lambda"},
    expected="HOLDS PROVED",
)
