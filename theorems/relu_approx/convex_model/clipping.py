r"""Section 3.4 and Appendices A, B of document 000: the loss as a GLM, its Hessian, and what clipping keeps.

With t = (D_1 x; ...; D_P x) the squared loss is g(t.v), g convex on the line, so its gradient g'(t.v) t, clipped to
norm C, is G'(t.v) t with G' = g' cut to [-C/|t|, C/|t|]: still nondecreasing, so G is convex, and as smooth as g. Its
Hessian is t t^T, which is not block diagonal as Appendix B says.

With k >= 3 classes and cross-entropy the gradient is t (p - e_y)^T, and clipping its norm scales r = p - e_y to length
tau = C/|t| where it is longer. There the field has the Jacobian J = (tau/|r|)(I - r r^T/|r|^2)(diag p - p p^T) in the
logits: the product of two symmetric matrices that do not commute. It is not symmetric, so the clipped field is no
gradient at all, and its symmetric part has a negative eigenvalue: it is not monotone, and a step can expand. With two
classes r keeps its direction, and all is well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb, arb_mat, ctx

from oracle.core.domain import positive, positive_integer, vector
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

_LOGITS = {2: (0, 1), 3: (0, 1, -1), 4: (0, 1, -1, -2)}


def jacobian(classes: int, radius: Fraction) -> arb_mat:
    """J of the clipped softmax residual at small integer logits, label 0, in balls; the clip is active there."""
    weights = [arb(z).exp() for z in _LOGITS[classes]]
    total = sum(weights, arb(0))
    p = [w / total for w in weights]
    r = [v - (1 if i == 0 else 0) for i, v in enumerate(p)]
    square = sum((v * v for v in r), arb(0))
    assert square > ball(radius) ** 2, "the clip is not active"
    size = range(classes)
    curvature = arb_mat([[(p[i] if i == j else arb(0)) - p[i] * p[j] for j in size] for i in size])
    project = arb_mat([[arb(1 if i == j else 0) - r[i] * r[j] / square for j in size] for i in size])
    return (ball(radius) / square.sqrt()) * (project * curvature)


def form(matrix: arb_mat, w: tuple[Fraction, ...]) -> arb:
    """w^T M w over |w|^2."""
    size = range(len(w))
    total = sum((ball(w[i]) * matrix[i, j] * ball(w[j]) for i in size for j in size), arb(0))
    return total / ball(sum((v * v for v in w), Fraction(0)))


def worst_direction(matrix: arb_mat) -> tuple[Fraction, ...]:
    """A rational vector near the lowest eigenvector of the symmetric part, by plain floats: balls judge it after."""
    size = matrix.nrows()
    values = np.array([[float(matrix[i, j].mid()) for j in range(size)] for i in range(size)])
    _, vectors = np.linalg.eigh((values + values.T) / 2)
    return tuple(Fraction(round(1000 * v), 1000) for v in vectors[:, 0])


def judge_field(classes: int, given: Domain) -> Finding:
    """Whether the clipped cross-entropy field of so many classes is a gradient field of a convex function."""
    with ctx.workprec(128):
        matrix = jacobian(classes, Fraction(1, 10))
        skew = max((abs(matrix[i, j] - matrix[j, i]) for i in range(classes) for j in range(i)), key=lambda v: v.mid())
        w = worst_direction(matrix)
        value = form(matrix, w)
        if skew > 0 or value < 0:
            return refuted(
                "the Jacobian is not symmetric, so the field is no gradient, and not monotone, certified",
                {"classes": str(classes), "logits": str(_LOGITS[classes]), "label": "0", "tau": "1/10",
                 "largest |J - J^T|": str(Enclosure.of_ball(skew)), "direction w": str(tuple(map(str, w))),
                 "w^T J w / |w|^2": str(Enclosure.of_ball(value))},
            )
    s = sympy.symbols("s", real=True)
    p = 1 / (1 + sympy.exp(-s))  # two classes: r = (p - 1, 1 - p) = (1 - p)(-1, 1), of fixed direction
    slope = sympy.simplify(sympy.diff(-(1 - p), s) - p * (1 - p))
    if classes != 2 or slope != 0:
        return undecided("no failure at this point", 1)
    return proof(argued(
        "with two classes the residual keeps its direction and its length is monotone in the margin, so the "
        "clipped field is the gradient of a convex function of the margin"
    ))


def judge_scalar(clip: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether clipping g' = s - y at a level keeps it nondecreasing with slope at most 1 (squared loss, exactly)."""
    grid = [Fraction(n, 4) for n in range(-20, 21)]
    for level in (Fraction(1), Fraction(1, 2)):
        for before, after in itertools.pairwise(grid):
            rise = clip(after, level) - clip(before, level)
            if not 0 <= rise <= after - before:
                return refuted(
                    "the clipped derivative falls, or rises too fast",
                    {"level": str(level), "g' before": str(before), "g' after": str(after),
                                "rise of the clipped": str(rise)},
                )
    bound, more = sympy.symbols("l x", positive=True)  # beyond the level by x; at it; inside, level = l + x; at 0
    zero = sympy.Integer(0)
    cases = [(bound + more, bound, bound), (bound, bound, bound), (bound, bound + more, bound), (zero, bound, zero)]
    if any(sympy.simplify(clip(s * at, level) - s * value) != 0 for at, level, value in cases for s in (1, -1)):
        return undecided("no grid point fails", len(grid))
    return proof(argued(
        "cutting a nondecreasing function at two levels leaves it nondecreasing and no steeper; its "
        "integral is convex and as smooth"
    ))


def judge_step(says: tuple[int, Fraction], given: Domain) -> Finding:
    """Whether one clipped step (classes, eta) contracts as c = 1 - eta lambda says: a = 64 active, |x| = C = 1.

    The parameters' Jacobian is t t^T kron J, so along t kron w the step multiplies w by (1 - eta lambda) I - 64 eta J.
    With two classes and p = 15/16 for the label nothing is clipped, |r| = sqrt(2)/16 < 1/8, and J has the eigenvalue
    2 p (1 - p) = 15/128, so that too large an eta expands there.
    """
    classes, eta = says
    unclipped = 1 - Fraction(1, 10**4) - 64 * eta * Fraction(15, 128)
    if classes == 2 and abs(unclipped) > 1:
        return refuted(
            "two models move apart in one step, exactly: eta is above 2/beta",
            {"classes": "2", "eta": str(eta), "eta lambda": "1/10000", "active hyperplanes": "64",
             "step factor at least": str(abs(unclipped)), "claimed c": "0.9999"},
        )
    with ctx.workprec(128):
        matrix = jacobian(classes, Fraction(1, 8))
        size = range(classes)
        keep = 1 - ball(Fraction(1, 10**4))  # eta lambda = 1e-4
        step = arb_mat([[(keep if i == j else arb(0)) - 64 * ball(eta) * matrix[i, j] for j in size] for i in size])
        w = worst_direction(matrix)
        moved = [sum((step[i, j] * ball(w[j]) for j in size), arb(0)) for i in size]
        factor = (sum((v * v for v in moved), arb(0)) / ball(sum((v * v for v in w), Fraction(0)))).sqrt()
        if factor > 1:
            return refuted(
                "two models move apart in one step, certified",
                {"classes": str(classes), "eta": str(eta), "eta lambda": "1/10000", "active hyperplanes": "64",
                 "step factor at least": str(Enclosure.of_ball(factor)), "claimed c": "0.9999"},
            )
    if classes > 2 or 32 * eta + Fraction(2, 10**4) > 2:  # eta (beta + lambda) > 2, beta = 64/2 + lambda
        return undecided("no expansion at this point", 1)
    return proof(argued(
        "the clipped field is the gradient of a convex, smooth function of the margin (clip-convex-scalar): "
        "a step contracts by c as Theorem 2.8 asks, for eta < 2/beta"
    ))


def judge_glm(features: Callable[[Any, tuple[int, ...]], tuple[Any, ...]], given: Domain) -> Finding:
    """Whether the score of (3.8) is <features(x, D), v> for d = 1, for all patterns of two hyperplanes."""
    for x in (-2, 1, 3):
        for active in ((0, 0), (0, 1), (1, 0), (1, 1)):
            for v in ((1, 0), (0, 1), (2, -1)):
                score = sum(a * x * w for a, w in zip(active, v, strict=True))
                claimed = sum(a * b for a, b in zip(features(x, active), v, strict=True))
                if score != claimed:
                    return refuted(
                        "the loss is no function of that product",
                        {"x": str(x), "D": str(active), "v": str(v), "score": str(score),
                                    "product": str(claimed)},
                    )
    x_ = sympy.symbols("x", real=True)
    if any(features(x_, active) != tuple(a * x_ for a in active) for active in itertools.product((0, 1), repeat=3)):
        return undecided("right at points only", 36)
    return proof(argued(
        "sum_i D_i x^T v_i = t.v term by term with t = (D_1 x; ...; D_P x), linear in every coordinate of x"
    ))


def judge_blocks(claimed: Callable[[sympy.Matrix], sympy.Matrix], given: Domain) -> Finding:
    """Whether a matrix of t = (D_1 x; D_2 x) is the Hessian of h, by differentiating h; d = 1, symbols."""
    v, t = sympy.symbols("v0:2", real=True), sympy.Matrix(sympy.symbols("t0:2", real=True))
    y = sympy.symbols("y", real=True)
    hessian = sympy.hessian((t[0] * v[0] + t[1] * v[1] - y) ** 2 / sympy.Integer(2), v)
    if (hessian - claimed(t)).applyfunc(sympy.expand) != sympy.zeros(2, 2):
        at = dict.fromkeys(t, 1)
        return refuted(
            "blocks of different hyperplanes interact",
            {"x": "1", "u": "(1, 1)", "claimed": str(claimed(t).subs(at).tolist()),
                        "Hessian": str(hessian.subs(at).tolist())},
        )
    return proof(argued("the Hessian is t t^T, t = (D_1 x; ...; D_P x), of norm a |x|^2"))


_GLM = (vector("x"), positive("clip_norm"), positive_integer("classes"))

glm = Claim(
    id="relu-approx/app-A-glm", source="000, Appendix A",
    quote=(
        "which shows that we are actually minimizing a loss function of a GLM when we are minimizing the loss "
        r"$\mathcal{L}(v, X, y)$ w.r.t. v."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\ell_j(v) = \tfrac12 (\tilde x_j^T v - y_j)^2 + \tfrac\lambda2 \lVert v \rVert^2",
    words="the scalar loss (3.8) is a generalised linear model in the features (D_1 x; ...; D_P x)",
    hypotheses=_GLM, says=lambda x, active: tuple(a * x for a in active), check=judge_glm,
    flips=(Flip("x repeated, active or not", lambda x, active: tuple(x for _ in active), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
blocks = Claim(
    id="relu-approx/lem-B.1-hessian", source="000, the proof of Lemma B.1: the Hessian is block diagonal",
    quote="the Hessian matrix is of the diagonal block form",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\nabla^2 h = \mathrm{diag}(A_1, \dots, A_P)",
    words="the Hessian of the convex ReLU loss is block diagonal",
    hypotheses=_GLM, says=lambda t: sympy.diag(*(v**2 for v in t)), check=judge_blocks,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla^2 h = \tilde x \tilde x^T",
        words="the Hessian of the convex ReLU loss is t t^T with t = (D_1 x; ...; D_P x)",
        says=lambda t: t * t.T,
        expected="HOLDS ARGUED",
        source="000, the proof of Lemma B.1, repaired",
        flips=(Flip("twice that", lambda t: 2 * t * t.T, Verdict.REFUTED),),
    ),
)
field = Claim(
    id="relu-approx/clip-convex",
    source="000, Section 3.4, with the ten-class cross-entropy of Section 6 (three classes are enough)",
    quote=(
        "we are allowed to use the analysis of Bok et al. (2024) also when clipping the gradients since then the "
        "clipped gradients are gradients of another convex loss (Song et al., 2021)."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\mathrm{clip}(\nabla_v h, C) = \nabla_v \tilde h \text{ for a convex } \tilde h",
    words="clipped multi-class cross-entropy gradients are gradients of another convex loss",
    hypotheses=_GLM, says=3, check=judge_field,
    flips=(Flip("four classes", 4, Verdict.REFUTED), Flip("two classes", 2, Verdict.HOLDS)),
    repaired_by="relu-approx/clip-convex-scalar", uses=("relu-approx/app-A-glm",),
    expected="REFUTED PROVED",
)
scalar = Claim(
    id="relu-approx/clip-convex-scalar", source="000, Section 3.4, for scalar outputs (Song et al. 2021)",
    quote=(
        "we are allowed to use the analysis of Bok et al. (2024) also when clipping the gradients since then the "
        "clipped gradients are gradients of another convex loss (Song et al., 2021)."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\mathrm{clip}(g'(t^T v)\, t, C) = \nabla_v G(t^T v),\ G \text{ convex}",
    words="clipped gradients of a scalar generalised linear model are gradients of another convex loss",
    hypotheses=_GLM, says=lambda slope, level: max(-level, min(level, slope)), check=judge_scalar,
    flips=(
        Flip("gradients above the level set to 0",
             lambda slope, level: slope if abs(slope) <= level else Fraction(0), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/app-A-glm",),
    expected="HOLDS ARGUED",
)
preserved = Claim(
    id="relu-approx/clip-preserves",
    source="000, Section 3.4: Theorem 2.8 applies with the same c when clipping (three classes)",
    quote=(
        "Thus, the DP accounting Thm. 2.8 is applicable with the same convexity parameters also when clipping "
        r"the gradients $\nabla_v h(v,x_j,y_j)$ ."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\lVert S(v) - S(v') \rVert \le (1 - \eta\lambda) \lVert v - v' \rVert,\quad S \text{ the clipped step}",
    words="with clipping and cross-entropy a step still contracts by 1 - eta lambda",
    hypotheses=_GLM, says=(3, Fraction(1, 100)), check=judge_step,
    flips=(Flip("two classes", (2, Fraction(1, 100)), Verdict.HOLDS),
           Flip("eta = 1/10", (3, Fraction(1, 10)), Verdict.REFUTED)),
    repaired_by="relu-approx/clip-preserves-scalar", uses=("relu-approx/clip-convex", "relu-approx/lem-3.2"),
    expected="REFUTED PROVED",
)
preserved_scalar = Claim(
    id="relu-approx/clip-preserves-scalar", source="000, Section 3.4, for scalar outputs and two classes",
    quote=(
        r"The properties of $\lambda$ -strong convexity and $\beta$ -smoothness are preserved when clipping the "
        r"sample-wise gradients $\nabla_v h(v,x_j,y_j)$ (Section E.2, Redberg et al., 2024)."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\lVert S(v) - S(v') \rVert \le c \lVert v - v' \rVert,\ \eta < 2/\beta,\ S \text{ the clipped step}",
    words="with clipping and two classes a step still contracts by the c of the unclipped loss",
    hypotheses=_GLM, says=(2, Fraction(1, 100)), check=judge_step,
    flips=(
        Flip("three classes", (3, Fraction(1, 100)), Verdict.REFUTED),
        Flip("eta = 1, above 2/beta", (2, Fraction(1)), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/clip-convex-scalar", "relu-approx/lem-3.2-repaired"),
    expected="HOLDS ARGUED",
)
