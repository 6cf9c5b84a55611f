r"""Section 3.4 of document 000: what clipping keeps of the loss.

With t = (D_1 x; ...; D_P x) the squared loss is g(t.v), g convex on the line, so its gradient g'(t.v) t, clipped to
norm C, is G'(t.v) t with G' = g' cut to [-C/|t|, C/|t|]: still nondecreasing, so G is convex, and as smooth as g.

With k >= 3 classes and cross-entropy the gradient is t (p - e_y)^T, and clipping its norm scales r = p - e_y to length
tau = C/|t| where it is longer. There the field has the Jacobian J = (tau/|r|)(I - r r^T/|r|^2)(diag p - p p^T) in the
logits: the product of two symmetric matrices that do not commute, and its symmetric part has a negative eigenvalue. So
the clipped field is not monotone, hence no gradient of a convex function, and a step can expand. The checkers take J
only to find a direction; what they judge are the clipped gradients of two models. With two classes r keeps its
direction, and all is well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer, probability, vector
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

Logits = tuple[Fraction, ...]


def start(classes: int) -> list[Logits]:
    """Logits to try, label 0: one where the residual is long, and for two classes one where nothing is clipped."""
    spread = (0, 1, *[-1] * (classes - 2))
    confident = [(Fraction(27, 10), Fraction(0))] if classes == 2 else []
    return [tuple(map(Fraction, spread)), *confident]


def clipped(logits: Logits, radius: Fraction) -> list[arb]:
    """The softmax residual p - e_0, cut to a length of at most the radius: the clipped gradient in the logits."""
    weights = [ball(z).exp() for z in logits]
    total = sum(weights, arb(0))
    r = [w / total - (1 if i == 0 else 0) for i, w in enumerate(weights)]
    length = sum((v * v for v in r), arb(0)).sqrt()
    if length > ball(radius):
        return [v * ball(radius) / length for v in r]
    return r if length < ball(radius) else [arb("nan")] * len(r)


def moved_apart(classes: int, radius: Fraction) -> list[tuple[Logits, Logits, list[arb]]]:
    """Pairs of models (as logits) with w, their difference, in the worst direction, and that of their gradients."""
    found = []
    for z in start(classes):
        p = np.exp(np.array(z, float))
        p /= p.sum()
        r = p - np.eye(classes)[0]
        project = np.eye(classes) - np.outer(r, r) / (r @ r) * (r @ r > float(radius) ** 2)
        matrix = project @ (np.diag(p) - np.outer(p, p))
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        for column in (0, int(np.argmax(values))):
            w = tuple(Fraction(round(1000 * v), 10**4) for v in vectors[:, column])
            other = tuple(a + b for a, b in zip(z, w, strict=True))
            rise = [b - a for a, b in zip(clipped(z, radius), clipped(other, radius), strict=True)]
            found.append((z, other, rise))
    return found


def margin_steps() -> tuple[ProofStep, ...]:
    """With two classes the residual keeps its direction, and its length falls with the margin."""
    s = sympy.symbols("s", real=True)
    p = 1 / (1 + sympy.exp(-s))  # of the label; r = (p - 1, 1 - p) = (1 - p)(-1, 1)
    return (
        computed("with two classes the residual is (1 - p)(-1, 1), whose factor has the slope p (1 - p) > 0 in the "
                 "margin", sympy.simplify(sympy.diff(-(1 - p), s) - p * (1 - p)) == 0),
        argued("so clipping cuts a nondecreasing function of the margin, as in clip-convex-scalar"),
    )


def judge_field(classes: int, given: Domain) -> Finding:
    """Whether the clipped cross-entropy field of so many classes is a gradient field of a convex function.

    One record x = 1, one active hyperplane: the weights are the logits, and the gradient's norm that of the residual.
    Gradients of a convex function are monotone: <F(z') - F(z), z' - z> >= 0.
    """
    radius = Fraction(1, 10)
    with ctx.workprec(128):
        for z, other, rise in moved_apart(classes, radius):
            w = [b - a for a, b in zip(z, other, strict=True)]
            inner = sum((ball(a) * b for a, b in zip(w, rise, strict=True)), arb(0))
            if inner < 0:
                return refuted("clipped gradients of two models turn against their difference, certified: they are no "
                               "gradients of a convex function", {
                    "classes": classes, "x": 1, "label": 0, "C": radius, "v": ", ".join(map(str, z)),
                    "v'": ", ".join(map(str, other)),
                    "<difference of the gradients, v' - v>": Enclosure.of_ball(inner)})
    return proof(*margin_steps()) if classes == 2 else undecided("no failure at these points", 2)


def judge_step(says: tuple[int, Fraction], given: Domain) -> Finding:
    """Whether one clipped step (classes, eta) contracts, x = 1, C = 1, eta lambda = 1e-4 and 64 active hyperplanes.

    Weights t kron z / 64 with t = (1, ..., 1) have the logits z. The gradient is t kron r, of norm 8 |r|, so that r is
    cut at 1/8, and a step takes z - z' = w to (1 - eta lambda) w - 64 eta (F(z) - F(z')).
    """
    classes, eta = says
    keep = 1 - Fraction(1, 10**4)
    with ctx.workprec(128):
        for z, other, rise in moved_apart(classes, Fraction(1, 8)):
            w = [b - a for a, b in zip(z, other, strict=True)]
            after = [ball(keep * a) - 64 * ball(eta) * b for a, b in zip(w, rise, strict=True)]
            factor = (sum((v * v for v in after), arb(0)) / ball(sum(a * a for a in w))).sqrt()
            if factor > 1:
                return refuted("two models move apart in one step, certified", {
                    "classes": classes, "eta": eta, "eta lambda": "1/10000", "active hyperplanes": 64, "C": 1,
                    "logits": ", ".join(map(str, z)), "other logits": ", ".join(map(str, other)),
                    "step factor": Enclosure.of_ball(factor), "claimed c": "0.9999"})
    if classes != 2:
        return undecided("no expansion at these points", 2)
    return proof(
        *margin_steps(),
        computed("eta is at most 2/(beta + lambda), beta = 64/2 + lambda", 32 * eta + Fraction(2, 10**4) <= 2),
        argued("a step on a convex and smooth function of the margin then contracts by 1 - eta lambda"),
    )


Cut = Callable[[Any, Any], Any]


def ordered_cases() -> list[tuple[Any, Any, Any]]:
    """(a, b, level) with a <= b in every position to -level and level, ends included, written by positive symbols."""
    cases = []
    for p, q, r in itertools.product(*((sympy.Integer(0), sympy.Symbol(name, positive=True)) for name in "pqr")):
        level = sympy.Symbol("l", positive=True)
        cases += [(-level - p - q, -level - p, level), (level + p, level + p + q, level),
                  (-level - p, level + q, level)]
        if q + r != 0:
            inside = (q + r) / 2  # the level; -level + q runs through the inside
            cases += [(-inside - p, -inside + q, inside), (-inside + q, inside + p, inside)]
        if p + q + r != 0:
            inside = (p + q + r) / 2
            cases.append((-inside + p, -inside + p + q, inside))
    return cases


def cut_steps(clip: Cut) -> tuple[ProofStep, ...]:
    """What the cut function is, and that it rises no more than its argument."""
    level, more = sympy.symbols("l x", positive=True)
    slopes = [(sign * at, bound) for sign in (1, -1)
              for at, bound in ((level + more, level), (level, level), (level, level + more), (0 * level, level))]
    scaled = [slope * bound / abs(slope) if (abs(slope) - bound).is_positive else slope for slope, bound in slopes]
    rises = [(sympy.expand(clip(b, bound) - clip(a, bound)), b - a) for a, b, bound in ordered_cases()]
    return (
        computed("clipping g' t to norm C multiplies g' by min(1, (C/|t|)/|g'|): it is that cut at the level C/|t|, "
                 "beyond the level, at it, inside and at 0",
                 all(sympy.simplify(clip(slope, bound) - true) == 0
                     for (slope, bound), true in zip(slopes, scaled, strict=True))),
        computed(f"the cut is nondecreasing and no steeper than its argument, in all {len(rises)} positions of two "
                 "arguments",
                 all(rise.is_nonnegative and sympy.expand(whole - rise).is_nonnegative for rise, whole in rises)),
    )


def judge_scalar(clip: Cut, given: Domain) -> Finding:
    """Whether clipping g' at a level keeps it nondecreasing with slope at most 1."""
    grid = [Fraction(n, 4) for n in range(-20, 21)]
    levels = given.values("level")
    for level in levels:
        for before, after in itertools.pairwise(sorted({*grid, level, -level})):
            rise = clip(after, level) - clip(before, level)
            if not (0 <= rise <= after - before and abs(clip(after, level)) <= level):
                return refuted("the clipped derivative falls, rises too fast or is longer than the level", {
                    "level": level, "g' before": before, "g' after": after, "rise of the clipped": rise})
    return proof(
        *cut_steps(clip),
        argued("g' is nondecreasing, so its cut is; the integral G of a nondecreasing function is convex, and so is "
               "v -> G(t.v)"),
        tried=len(levels) * len(grid),
    )


Ends = tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]
"""(eta lambda, eta beta) -> the two numbers the larger of which is the factor c of a step."""


def judge_contraction(says: Ends, given: Domain) -> Finding:
    """Whether a clipped step of the squared loss multiplies distances by at most c, the larger of the two, and c < 1.

    In v = s t/|t|^2 + w, w orthogonal to t, a step takes differences of s to (1 - eta lambda) ds - eta |t|^2 dG' and w
    to (1 - eta lambda) w; dG' = kappa ds with kappa in [0, 1].
    """
    cut: Cut = lambda slope, level: max(-level, min(level, slope))  # noqa: E731
    slopes = (Fraction(-5), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(7))
    tried = 0
    for point in given.points("lam", "square", "half"):
        lam, square = point["lam"], point["square"]
        eta = 2 * point["half"] / (lam + square)
        c = max(end(eta * lam, eta * (lam + square)) for end in says)
        largest = abs(1 - eta * lam)  # across t
        for a, b in itertools.combinations(slopes, 2) if square else ():
            after = (1 - eta * lam) * (b - a) - eta * square * (cut(b, Fraction(1)) - cut(a, Fraction(1)))
            largest = max(largest, abs(after / (b - a)))
        tried += 1
        if c != largest or c >= 1:
            return refuted("two models come nearer by another factor, exactly", {
                "lambda": lam, "|t|^2": square, "eta": eta, "level": 1, "claimed c": c, "factor": largest})
    lam_, square_, half_ = given.chart("lam"), given.chart("square"), given.chart("half")
    eta_ = 2 * half_ / (lam_ + square_)
    a_, b_, kappa = eta_ * lam_, eta_ * (lam_ + square_), sympy.symbols("kappa", nonnegative=True)
    along = 1 - eta_ * lam_ - kappa * eta_ * square_
    upper, lower = (end(a_, b_) for end in says)
    return proof(
        *cut_steps(cut),
        computed("along t a step multiplies by 1 - eta (lambda + kappa |t|^2), which falls with kappa",
                 (-sympy.diff(along, kappa)).is_nonnegative),
        computed("at kappa = 0 that is the first number, also the factor across t",
                 sympy.simplify(along.subs(kappa, 0) - upper) == 0),
        computed("at kappa = 1 it is minus the second", sympy.simplify(along.subs(kappa, 1) + lower) == 0),
        computed("both are below 1 as lambda > 0 and eta < 2/beta",
                 all(sympy.factor(1 - end).is_positive for end in (upper, lower))),
        argued("the two directions are orthogonal, and a batch's step is the mean of its records' steps, so that its "
               "factor is at most the largest of theirs"),
        tried=tried,
    )


def judge_coupled(loss: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the outputs' losses are independent and half squares: the first output's label 1, the second's 0."""
    one, two = sympy.symbols("z_1 z_2", real=True)
    mixed = sympy.simplify(sympy.diff(loss(one, two), one, two))
    if mixed != 0:
        return refuted("the outputs' scores interact", {
            "second derivative by two scores": mixed, "at": "z_1 = z_2 = 0", "value": mixed.subs({one: 0, two: 0})})
    at_label = {one: 1, two: 0}
    return proof(
        computed("the second derivative by the scores of two outputs is 0", mixed == 0),
        computed("by each of them it is 1", all(sympy.diff(loss(one, two), z, 2) == 1 for z in (one, two))),
        computed("the loss and its slopes are 0 at the labels", all(
            sympy.sympify(part).subs(at_label) == 0
            for part in (loss(one, two), sympy.diff(loss(one, two), one), sympy.diff(loss(one, two), two)))),
    )


_ALLOWED = (
    "we are allowed to use the analysis of Bok et al. (2024) also when clipping the gradients since then the clipped "
    "gradients are gradients of another convex loss (Song et al., 2021)."
)
_CLASSES = (vector("x"), positive("clip_norm"), positive_integer("classes").at_least(3))

field = Claim(
    id="relu-approx/clip-convex",
    untested=dict.fromkeys(("clip_norm", "classes"), "what a flip of it says holds by words, for every value"),
    source="000, Section 3.4, read of the loss of the experiments: ten-class cross-entropy, one clip for all outputs",
    quote=_ALLOWED,
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\mathrm{clip}(\nabla_v h, C) = \nabla_v \tilde h \text{ for a convex } \tilde h",
    words="clipped cross-entropy gradients of ten classes are gradients of another convex loss",
    hypotheses=_CLASSES, says=10, check=judge_field,
    flips=(Flip("three classes", 3, Verdict.REFUTED), Flip("two classes", 2, Verdict.HOLDS)),
    repaired_by="relu-approx/clip-convex-scalar", uses=("relu-approx/app-A-glm",),
    expected="REFUTED PROVED",
)
scalar = Claim(
    id="relu-approx/clip-convex-scalar", source="000, Section 3.4, for scalar outputs (Song et al. 2021)",
    quote=_ALLOWED,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\mathrm{clip}(g'(t^T v)\, t, C) = \nabla_v G(t^T v),\ G \text{ convex}",
    words="clipped gradients of a scalar generalised linear model are gradients of another convex loss",
    hypotheses=(positive("level", "C / |t|; for t = 0 there is nothing to clip"),),
    says=lambda slope, level: max(-level, min(level, slope)), check=judge_scalar,
    flips=(
        Flip("gradients above the level set to 0",
             lambda slope, level: slope if abs(slope) <= level else Fraction(0), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/app-A-glm",),
    expected="HOLDS ARGUED",
)
preserved = Claim(
    id="relu-approx/clip-preserves",
    untested=dict.fromkeys(("clip_norm", "classes", "eta", "lam"), "a flip of it holds by words, for every value"),
    source="000, Section 3.4: Theorem 2.8 applies with the same c when clipping, read of ten-class cross-entropy",
    quote=(
        "Thus, the DP accounting Thm. 2.8 is applicable with the same convexity parameters also when clipping "
        r"the gradients $\nabla_v h(v,x_j,y_j)$ ."
    ),
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\lVert S(v) - S(v') \rVert \le (1 - \eta\lambda) \lVert v - v' \rVert,\quad S \text{ the clipped step}",
    words="with clipping and cross-entropy a step still contracts by 1 - eta lambda",
    hypotheses=(*_CLASSES, positive("eta"), positive("lam")), says=(10, Fraction(1, 100)), check=judge_step,
    flips=(Flip("two classes", (2, Fraction(1, 100)), Verdict.HOLDS),
           Flip("two classes, eta = 1, above 2/beta", (2, Fraction(1)), Verdict.REFUTED),
           Flip("three classes, eta = 1/10", (3, Fraction(1, 10)), Verdict.REFUTED)),
    repaired_by="relu-approx/clip-preserves-scalar", uses=("relu-approx/clip-convex", "relu-approx/lem-3.2"),
    expected="REFUTED PROVED",
)
preserved_scalar = Claim(
    id="relu-approx/clip-preserves-scalar", source="000, Section 3.4, for the squared loss (3.8)",
    quote=(
        r"The properties of $\lambda$ -strong convexity and $\beta$ -smoothness are preserved when clipping the "
        r"sample-wise gradients $\nabla_v h(v,x_j,y_j)$ (Section E.2, Redberg et al., 2024)."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\lVert S(v) - S(v') \rVert \le c \lVert v - v' \rVert,\ c = \max(1 - \eta\lambda, \eta\beta - 1) < 1,"
              r"\ \beta = \lVert t \rVert^2 + \lambda,\ \eta < 2/\beta,\ S \text{ the clipped step}",
    words="with clipping a step on the squared loss still contracts by the c of the unclipped one",
    hypotheses=(positive("lam"), non_negative("square", "|t|^2 = a |x|^2"),
                probability("half", "eta beta / 2, as eta < 2/beta")),
    says=(lambda decay, curved: 1 - decay, lambda decay, curved: curved - 1), check=judge_contraction,
    flips=(
        Flip("1 - eta lambda alone", (lambda decay, curved: 1 - decay, lambda decay, curved: 1 - decay),
             Verdict.REFUTED),
        Flip("1 - eta beta", (lambda decay, curved: 1 - curved, lambda decay, curved: 1 - curved), Verdict.REFUTED),
    ),
    true_variants={"*beyond argument 1*": "eta beta is below 2 by the hypotheses"},
    rests_on=("relu-approx/app-A-glm", "relu-approx/lem-3.2-repaired"),
    expected="HOLDS ARGUED",
)
coupled = Claim(
    id="relu-approx/k-independent", source="000, Section 3.3, with the cross-entropy of Section 6",
    quote="we will simply use k independent linear models parallely",
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\frac{\partial^2}{\partial z_a \partial z_b}\Big(\log \textstyle\sum_c e^{z_c} - z_y\Big) = 0,"
              r"\ a \ne b",
    words="with cross-entropy the losses of the k outputs are independent (their parameters are separate, the loss and "
          "the clip are not)",
    hypotheses=(),
    says=lambda one, two: sympy.log(sympy.exp(one) + sympy.exp(two)) - one, check=judge_coupled,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{\partial^2}{\partial z_a \partial z_b} \textstyle\sum_c \tfrac12 (z_c - y_c)^2 = 0,\ a \ne b",
        words="with the squared loss the losses of the outputs are independent",
        says=lambda one, two: (one - 1) ** 2 / 2 + two**2 / 2,
        expected="HOLDS PROVED",
        source="000, Section 3.3, for the squared loss",
    ),
)
