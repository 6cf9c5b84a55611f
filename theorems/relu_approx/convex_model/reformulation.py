r"""Section 3 of document 000 beyond counting: the width that Theorem 3.1 needs, and equations (3.4) to (3.8).

Theorem 3.1 is false. d = 2, x_i = (t_i, 1) with t = 0..5, y = (0, 1, 0, 1, 0, 1), lambda = 1/1000. A network of m
neurons is, as a function of t, piecewise linear with at most m kinks, so its slope changes sign at most m times. If
m < 4, one of the five differences f(t+1) - f(t) has the wrong sign or is 0 while y's is +-1, so two residuals differ by
at least 1 and their squares add up to at least 1/2: the objective (3.2) is at least 1/4. But five neurons interpolate,
f = phi(t) - 2 phi(t-1) + 2 phi(t-2) - 2 phi(t-3) + 2 phi(t-4), at cost lambda sum |u_j| |alpha_j| after balancing, and
the convex problem (3.3) is never above a network's objective (v_i = |alpha| u, and |u|^2 + alpha^2 >= 2 |u| |alpha|).

Repaired: m* <= n + 1. A prediction is a mass times a convex combination of points +-phi(Xu), |u| <= 1, of a compact set
in R^n, and Caratheodory's theorem keeps n + 1 of them, with the same mass, hence the same objective.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, vector
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_LABELS = (0, 1, 0, 1, 0, 1)
_NEURONS = ((1, 0), (-2, 1), (2, 2), (-2, 3), (2, 4))  # (alpha, s): alpha phi(t - s)
_LAM = Fraction(1, 1000)


def interpolant_cost() -> Enclosure:
    """The objective (3.2) of the five balanced neurons: lambda sum |alpha| |(1, -s)|; they interpolate exactly."""
    for t, y in enumerate(_LABELS):
        assert sum(a * max(0, t - s) for a, s in _NEURONS) == y
    with ctx.workprec(100):
        return Enclosure.of_ball(ball(_LAM) * sum((abs(a) * arb(1 + s * s).sqrt() for a, s in _NEURONS), arb(0)))


def least_cost(neurons: int) -> Fraction:
    """A lower bound of the objective (3.2) with that many neurons: 1/4 if the slope cannot change sign often enough."""
    changes = sum(a != b for a, b in itertools.pairwise(b > a for a, b in itertools.pairwise(_LABELS)))
    return Fraction(1, 4) if neurons < changes else Fraction(0)


def caratheodory(points: list[list[Fraction]], weights: list[Fraction]) -> list[Fraction]:
    """Weights of the same sum and the same combination, at most dimension + 1 of them positive, exactly."""
    weights = list(weights)
    while sum(w > 0 for w in weights) > len(points[0]) + 1:
        active = [i for i, w in enumerate(weights) if w > 0]
        matrix = sympy.Matrix([[*points[i], 1] for i in active]).T
        kernel = [Fraction(int(v.p), int(v.q)) for v in matrix.nullspace()[0]]
        step = min(weights[i] / k for i, k in zip(active, kernel, strict=True) if k > 0) if max(kernel) > 0 else -min(
            weights[i] / -k for i, k in zip(active, kernel, strict=True) if k < 0
        )
        for i, k in zip(active, kernel, strict=True):
            weights[i] -= step * k
    return weights


def judge_width(width: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether (3.2) and (3.3) have equal minima from width(n, d) neurons on."""
    neurons, cost = width(6, 2), interpolant_cost()
    if not Enclosure.between(ball(least_cost(neurons)), ball(least_cost(neurons))).possibly_le(cost):
        return refuted(
            "five neurons are cheaper than any network of that width, certified",
            {"d": "2", "x_i": "(t, 1), t = 0..5", "y": str(list(_LABELS)), "lambda": str(_LAM), "m": str(neurons),
             "objective (3.2) at least": str(least_cost(neurons)), "minimum of (3.3) at most": str(cost)},
        )
    # Caratheodory's reduction on an instance: seven points of the plane come down to three.
    points = [[Fraction(i), Fraction((i * i) % 5)] for i in range(7)]
    weights = [Fraction(i + 1, 28) for i in range(7)]
    after = caratheodory(points, weights)
    moved = [sum((a - b) * p[c] for a, b, p in zip(after, weights, points, strict=True)) for c in range(2)]
    kept = moved == [0, 0] and sum(after) == sum(weights) and sum(w > 0 for w in after) <= 3 and min(after) >= 0
    n, d = sympy.symbols("n d", integer=True, positive=True)
    if not kept or sympy.simplify(width(n, d) - n - 1).is_nonnegative is not True:
        return undecided("not refuted; narrower than what is proved", 1)
    return proof(argued(
        "by Caratheodory's theorem n + 1 neurons carry any prediction with its mass (the reduction was run exactly on "
        "an instance); wider networks can do no better, since (3.3) is never above them"
    ))


def judge_loss(residual: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether twice the first term of (3.4), of a prediction and a label, is that of (3.3): (prediction - y)^2."""
    for prediction, y in ((Fraction(1), Fraction(1)), (Fraction(0), Fraction(2)), (Fraction(3), Fraction(-1))):
        if residual(prediction, y) != (prediction - y) ** 2:
            return refuted(
                "the term does not measure the residual",
                {"prediction": str(prediction), "y": str(y), "printed": str(residual(prediction, y)),
                 "(3.3)": str((prediction - y) ** 2)},
            )
    f, label = sympy.symbols("f y", real=True)
    if sympy.expand(residual(f, label) - (f - label) ** 2) != 0:
        return undecided("right at three points only", 3)
    return proof(argued("the square of prediction - y, a polynomial identity"))


def judge_indicator(says: tuple[Callable[[int], int], bool], given: Domain) -> Finding:
    """Whether an indicator of the sign of x^T u is 1(x^T u >= 0): for every u, or (True) for all but x^T u = 0."""
    indicator, generic = says
    for product in (1, -1) if generic else (1, -1, 0):
        if indicator(product) != int(product >= 0):
            return refuted(
                "the two differ where u is orthogonal to x",
                {"x^T u": str(product), "as in (3.6)": str(indicator(product)), "as in (3.8)": str(int(product >= 0))},
            )
    return proof(argued(
        "the three signs are all cases; x^T u = 0 has probability 0 for Gaussian u and x != 0, and x = 0 "
        "adds nothing to a prediction"
    ))


def judge_mean(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (3.6), with that factor of n before the squared norm, is the mean of (3.8), two records, P = 2, d = 1."""
    x, y, v = sympy.symbols("x0:2", real=True), sympy.symbols("y0:2", real=True), sympy.symbols("v0:2", real=True)
    lam = sympy.symbols("lambda", positive=True)
    active = ((1, 0), (1, 1))  # (D_i)_jj by record and hyperplane
    scores = [x[j] * sum(a * w for a, w in zip(active[j], v, strict=True)) for j in range(2)]
    ridge = lam / 2 * sum(w**2 for w in v)
    squares = [(s - t) ** 2 for s, t in zip(scores, y, strict=True)]
    whole = sympy.nsimplify(factor(sympy.Integer(2))) * sum(squares) + ridge
    mean = sum(square / 2 + ridge for square in squares) / 2
    n = sympy.symbols("n", integer=True, positive=True)
    if sympy.expand(whole - mean) == 0 and sympy.simplify(factor(n) - 1 / (2 * n)) == 0:
        return proof(argued(
            "expanded by computer algebra for two records and two hyperplanes, and the factor is 1/(2n) for "
            "every n; the sum is over j where (3.7) prints i"
        ))
    if sympy.expand(whole - mean) == 0:
        return undecided("right for two records", 1)
    at = dict(zip([*x, *y, *v, lam], (1, 1, 1, 0, 0, 0, 1), strict=True))
    return refuted(
        "the two sides differ",
        {"x": "(1, 1)", "y": "(1, 0)", "v": "(0, 0)", "lambda": "1", "(3.6)": str(whole.subs(at)),
                    "mean of (3.8)": str(mean.subs(at))},
    )


def judge_inference(indicator: Callable[[int], int], given: Domain) -> Finding:
    """Whether sum_i indicator(u_i^T x) x^T v_i is the training prediction of (3.8) at a training point.

    Both are sums over i of x^T v_i times something that depends on the sign of u_i^T x: three signs are all cases, and
    one hyperplane with x^T v = 1 tells them apart (x = 0 predicts 0 in any case).
    """
    for sign in (1, -1, 0):
        if indicator(sign) != int(sign >= 0):
            return refuted(
                "the prediction at a training point is another",
                {"x": "(1, 0)", "u": f"({sign}, 1)", "v": "(1, 0)", "inference": str(indicator(sign)),
                            "training": str(int(sign >= 0))},
            )
    return proof(argued("the same expression term by term, for each sign of u_i^T x"))


def judge_strong(modulus: Fraction, given: Domain) -> Finding:
    """Whether (3.8) is (modulus lambda)-strongly convex: its Hessian is t t^T + lambda I, t = (D_1 x; ...; D_P x)."""
    if modulus > 1:
        return refuted(
            "orthogonally to the active features the curvature is lambda",
            {"x": "1", "u": "(1, 1)", "direction": "(1, -1)", "curvature over lambda": "1", "claimed": str(modulus)},
        )
    s, tw, lam, ww = sympy.symbols("s p lambda q", positive=True)
    second = sympy.diff((s * tw) ** 2 / 2 + lam / 2 * s**2 * ww, s, 2)  # along w: p = t.w, q = |w|^2
    if sympy.expand(second - tw**2 - lam * ww) != 0:
        return undecided("not shown", 1)
    return proof(argued("the second derivative along w is (t.w)^2 + lambda |w|^2 >= lambda |w|^2"))


def judge_flat(regulariser: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a regulariser of |v_i| and |w_i| leaves (3.4) without strong convexity: along v_1 = w_1 = s e, e in C_1.

    The prediction D_1 X (v_1 - w_1) does not change along that ray, so only the regulariser bends.
    """
    s = sympy.symbols("s", positive=True)
    bend = sympy.simplify(sympy.diff(2 * regulariser(s), s, 2))
    if bend == 0:
        return proof(argued(
            "the objective is affine along a ray of feasible points, for "
            "every X and y (computer algebra)"
        ))
    return refuted(
        "it bends along the ray v_1 = w_1 = s e",
        {"second derivative over lambda": str(bend), "at s": "1", "value": str(bend.subs(s, 1))},
    )


def judge_dimension(count: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether a model of k outputs, P hyperplanes and d features has count(d, P, k) parameters."""
    for d, hyperplanes, outputs in ((1, 1, 2), (2, 3, 4), (5, 2, 3)):
        true = len(list(itertools.product(range(outputs), range(hyperplanes), range(d))))
        if count(d, hyperplanes, outputs) != true:
            return refuted(
                "another number of entries v_i of all outputs",
                {"d": str(d), "P": str(hyperplanes), "k": str(outputs), "parameters": str(true),
                            "claimed": str(count(d, hyperplanes, outputs))},
            )
    d_, p_, k_ = sympy.symbols("d P k", integer=True, positive=True)
    if sympy.expand(count(d_, p_, k_) - d_ * p_ * k_) != 0:
        return undecided("right at three sizes only", 3)
    return proof(argued(f"P vectors of d entries for each output; MNIST with P = 128 has {count(784, 128, 10)}"))


_NETWORK = (vector("x"), vector("u"), positive("lam"))

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
    hypotheses=(positive_integer("d"), positive_integer("n"), positive("lam")), says=lambda n, d: d + 1,
    check=judge_width,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\exists m^* \le n + 1: \text{ (3.2) and (3.3) have equal minima for all } m \ge m^*",
        words="from n + 1 hidden neurons on the ReLU problem and the convex problem have equal minima",
        says=lambda n, d: n + 1,
        expected="HOLDS ARGUED",
        flips=(Flip("2d - 1", lambda n, d: 2 * d - 1, Verdict.REFUTED),),
    ),
)
loss = Claim(
    id="relu-approx/eq-3.4",
    source="000, (3.4): the norm of (sum D_i X (v_i - w_i), y), read as of both parts together",
    quote=(
        r"\min_{v_i, w_i} \frac{1}{2} \left\| \sum_{i=1}^{P} D_i X(v_i - w_i), y \right\|_2^2 + \lambda "
        r"\sum_{i=1}^{P} (\|v_i\|_2 + \|w_i\|_2)"
    ),
    whose=Whose.TYPO,
    statement=r"\tfrac12 \left\lVert \textstyle\sum_i D_i X(v_i - w_i),\ y \right\rVert_2^2",
    words="the first term of (3.4), as printed, is the squared residual of (3.3)",
    hypotheses=_NETWORK, says=lambda prediction, y: prediction**2 + y**2, check=judge_loss,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\tfrac12 \left\lVert \textstyle\sum_i D_i X(v_i - w_i) - y \right\rVert_2^2",
        words="the first term of (3.4), with - y, is the squared residual of (3.3)",
        says=lambda prediction, y: (prediction - y) ** 2,
        expected="HOLDS ARGUED",
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
        expected="HOLDS ARGUED",
        source="000, the two definitions of D_i, almost surely",
        flips=(Flip("the negative part", (lambda product: max(0, -product), True), Verdict.REFUTED),),
    ),
)
mean = Claim(
    id="relu-approx/eq-3.7", source="000, (3.7) (its sum printed over i, meant over j)",
    quote="Note that we may also write the loss function of Eq. (3.6) in the summative form",
    whose=Whose.PRINTED,
    statement=r"\mathcal{L}(v, X, y) = \frac1n \sum_{j=1}^n \ell(v, x_j, y_j)",
    words="the loss (3.6) is the mean over the records of (3.8)",
    hypotheses=_NETWORK, says=lambda n: 1 / (2 * n), check=judge_mean,
    flips=(Flip("1/2 in place of 1/(2n)", lambda n: sympy.Rational(1, 2), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
flat = Claim(
    id="relu-approx/eq-3.4-not-strong", source="000, Section 3.2: (3.4) is not generally strongly convex",
    quote="the overall loss function given by Eq. 3.4 is not generally strongly convex",
    whose=Whose.PRINTED,
    statement=r"\frac{d^2}{ds^2} \big( \lambda \lVert s e \rVert_2 + \lambda \lVert s e \rVert_2 \big) = 0"
              r" \text{ along } v_1 = w_1 = s e",
    words="the problem (3.4) with its group norms is not strongly convex",
    hypotheses=_NETWORK, says=lambda norm: norm, check=judge_flat,
    flips=(Flip("with squared norms, as in (3.6)", lambda norm: norm**2 / 2, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
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
    expected="HOLDS ARGUED",
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
        Flip("> for >=", lambda product: int(product > 0), Verdict.REFUTED),
        Flip("without the indicator", lambda product: 1, Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
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
    expected="HOLDS ARGUED",
)
