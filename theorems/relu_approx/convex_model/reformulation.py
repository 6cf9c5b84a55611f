"""Equations (3.4) to (3.8) of document 000: what is printed, what it is of any size, and the model's dimension."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.verdict import Finding, Verdict, argued, at_points, computed, proof, refuted


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
    signs = (1, -1) if generic else (1, -1, 0)
    for sign in signs:
        if indicator(sign) != int(sign >= 0):
            return refuted("the two differ where u is orthogonal to x", {
                "x^T u": sign, "as in (3.6)": indicator(sign), "as in (3.8)": int(sign >= 0)})
    return proof(computed("they agree for each sign that x^T u can have: these are all cases",
                          all(indicator(sign) == int(sign >= 0) for sign in signs)))


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


def judge_sum(combined: Callable[[list[Fraction], int], Fraction], given: Domain) -> Finding:
    """Whether combined(losses of the records, a free j) is their mean, for every j.

    Both sides are linear in the losses, so that records of loss 0 but for one are enough.
    """
    for n in given.values("n", most=7):
        for only in range(n):
            losses = [Fraction(int(i == only)) for i in range(n)]
            for free in range(n):
                if combined(losses, free) != Fraction(1, n):
                    return refuted("j is free, so the sum is not the mean", {
                        "n": n, "losses": ", ".join(map(str, losses)), "j": free + 1,
                        "as printed": combined(losses, free), "mean": Fraction(1, n)})
    return at_points("the mean of the losses, each counted once", given.values("n", most=7)[-1], {"n": "1 to 7"})


def judge_scale(factor: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether h = (1/2) |sum_i D_i X v_i - y|^2 is that multiple of the mean of the records' losses at lambda = 0."""
    for n in given.values("n", most=50):
        squares = [Fraction(j + 1) for j in range(n)]
        whole, mean = sum(squares, Fraction(0)) / 2, sum((s / 2 for s in squares), Fraction(0)) / n
        if whole != factor(n) * mean:
            return refuted("h is the sum of the records' losses, not their mean",
                           {"n": n, "squared residuals": ", ".join(map(str, squares)), "h": whole, "mean": mean})
    n_, j, r = given.symbol("n"), sympy.symbols("j", integer=True), sympy.IndexedBase("r")
    whole_ = sympy.Sum(r[j] ** 2, (j, 1, n_)) / 2
    return proof(computed("h is that multiple of (1/n) sum_j r_j^2/2, for any n",
                          sympy.simplify(whole_ - factor(n_) * sympy.Sum(r[j] ** 2 / 2, (j, 1, n_)) / n_) == 0))


def judge_own(pattern: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether pattern(u^T x_j, u^T x_i), what (3.8) has of record j for D_i, is 1(u^T x_j >= 0), whatever record i."""
    for x, other in itertools.product((1, 0, -2), repeat=2):
        found = pattern(sympy.Integer(x), sympy.Integer(other))
        if found != int(x >= 0):
            return refuted("another record moves the loss", {
                "u^T x_j": x, "u^T x_i": other, "pattern": found, "as in (3.8)": int(x >= 0)})
    size, other_ = sympy.symbols("s", positive=True), sympy.symbols("z", real=True)
    signs = ((size, 1), (sympy.Integer(0), 1), (-size, 0))
    return proof(
        computed("for each sign of u^T x_j it is 1 or 0 as in (3.8), for every value of another record's: the rest of "
                 "the loss has x_j, y_j and v only", all(pattern(x, other_) == true for x, true in signs)),
        argued("the hyperplanes u_i are drawn without the data"),
        tried=9 * len(given.values("lam")),
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
    size = sympy.Symbol("s", positive=True)
    return proof(computed("the indicator is that of (3.8) for u_i^T x of each sign and any size: the sums agree",
                          [indicator(one) for one in (size, sympy.Integer(0), -size)] == [1, 1, 0]))


def judge_strong(modulus: Fraction, given: Domain) -> Finding:
    """Whether (3.8) is (modulus lambda)-strongly convex: its Hessian is t t^T + lambda I, t = (D_1 x; ...; D_P x)."""
    s, p = sympy.symbols("s p", real=True)  # p = t.w
    score, label, cross = sympy.symbols("f y c", real=True)
    square, length = sympy.symbols("V W", nonnegative=True)
    lam_ = given.symbol("lam", "lambda")
    loss = (score + s * p - label) ** 2 / 2 + lam_ / 2 * (square + 2 * s * cross + s**2 * length)
    second = sympy.diff(loss, s, 2)
    for lam in given.values("lam"):
        across = second.subs({p: 0, length: 2, lam_: lam})  # x = 1, both hyperplanes active, w = (1, -1)
        if modulus * lam * 2 > across:
            return refuted("orthogonally to the active features the curvature is lambda", {
                "x": 1, "u": "(1, 1)", "direction": "(1, -1)", "lambda": lam, "curvature over lambda": across / 2 / lam,
                "claimed": modulus})
    return proof(
        computed("the second derivative along w is (t.w)^2 + lambda |w|^2",
                 sympy.expand(second - p**2 - lam_ * length) == 0),
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
        return proof(computed("one record, one feature, one pattern: along v = w = s > 0, which is feasible, the "
                              "objective is affine, for any x, y and lambda", bend == 0),
                     tried=len(given.values("lam")))
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


def judge_variables(count: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether problem (3.4) has count(d, P) variables: those by which the derivative of its prediction is not 0."""
    v, w = sympy.IndexedBase("v"), sympy.IndexedBase("w")
    for point in given.points("d", "P", most={"d": 3, "P": 3}):
        places = list(itertools.product(range(point["P"]), range(point["d"])))
        prediction = sum((j + 1) * (v[i, j] - w[i, j]) for i, j in places)
        true = sum(sympy.diff(prediction, one[place]) != 0 for one in (v, w) for place in places)
        if count(point["d"], point["P"]) != true:
            return refuted("another number of variables moves the prediction",
                           {**point, "variables": true, "claimed": count(point["d"], point["P"])})
    d, patterns = given.symbol("d"), given.symbol("P")
    i_, j_, which = sympy.symbols("i j b", integer=True)
    total = sympy.Sum(1, (j_, 1, d), (i_, 1, patterns), (which, 1, 2)).doit()  # v or w
    return proof(computed("counted over the indices of v_ij and w_ij, for any d and P, that is the number",
                          sympy.simplify(total - count(d, patterns)) == 0))


_UNIT = (vector("x"), vector("u"))
_NETWORK = (*_UNIT, positive("lam"))

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
    hypotheses=_UNIT, says=(lambda product: max(0, product), False), check=judge_indicator,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"x^T u \ne 0 \implies \max(0, \mathrm{sign}(x^T u)) = \mathbb{1}(x^T u \ge 0)",
        words="the two definitions of the diagonal matrices agree unless x^T u = 0",
        says=(lambda product: max(0, product), True),
        expected="HOLDS PROVED",
        source="000, the two definitions of D_i, almost surely",
        true_variants={"?0? squared": "0 and 1 are their own squares", "?0? beyond *": "a sign is at most 1"},
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
    true_variants={"any lam": "the identity does not need the sign of lambda"},
    expected="HOLDS PROVED",
)
index = Claim(
    id="relu-approx/eq-3.7-index", source="000, (3.7): the sum is over i, the summand has j",
    quote=r"\mathcal{L}(v, X, y) = \frac{1}{n} \sum_{i=1}^{n} \ell(v, x_j, y_j),",
    whose=Whose.TYPO,
    statement=r"\frac1n \sum_{i=1}^n \ell(v, x_j, y_j) = \frac1n \sum_{j=1}^n \ell(v, x_j, y_j)",
    words="the sum over i of the loss of record j, over n, is the mean of the losses",
    hypotheses=(positive_integer("n"),), says=lambda losses, free: sum(losses[free] for _ in losses) / len(losses),
    check=judge_sum,
    flips=(Flip("over j", lambda losses, free: sum(losses) / len(losses), Verdict.HOLDS),),
    repaired_by="relu-approx/eq-3.7",
    expected="REFUTED PROVED",
)
scale = Claim(
    id="relu-approx/app-D-scale", source="000, Appendix D, first display: h is what Theorems D.3 and D.4 bound",
    quote="We give a convergence analysis for the minimization of the loss function",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\tfrac12 \lVert \textstyle\sum_i D_i X v_i - y \rVert^2 = \frac1n \sum_j \ell(v, x_j, y_j),"
              r"\quad \lambda = 0",
    words="the loss of Appendix D, half the squared residual, is the mean loss of Theorem D.3",
    hypotheses=(positive_integer("n"),), says=lambda n: 1, check=judge_scale,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\tfrac12 \lVert \textstyle\sum_i D_i X v_i - y \rVert^2 = \sum_j \ell(v, x_j, y_j),"
                  r"\quad \lambda = 0",
        words="it is n times the mean loss, so that what bounds the mean is n times larger for it",
        says=lambda n: n,
        expected="HOLDS PROVED",
        source="000, Appendix D, first display, against Theorem D.3",
        flips=(Flip("2n times", lambda n: 2 * n, Verdict.REFUTED),),
    ),
)
flat = Claim(
    id="relu-approx/eq-3.4-not-strong", source="000, Section 3.2: (3.4) is not generally strongly convex",
    quote="the overall loss function given by Eq. 3.4 is not generally strongly convex",
    whose=Whose.PRINTED,
    statement=r"\frac{d^2}{ds^2} \big( \lambda \lVert s e \rVert_2 + \lambda \lVert s e \rVert_2 \big) = 0"
              r" \text{ along } v_1 = w_1 = s e",
    words="the problem (3.4) with its group norms is not strongly convex",
    hypotheses=_NETWORK, says=lambda norm: norm, check=judge_flat,
    true_variants=dict.fromkeys(("sign", "1 % *", "any lam"), "a multiple of the norm is affine along the ray, too"),
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
variables = Claim(
    id="relu-approx/p-of-3.4", source="000, Appendix D, after Theorem D.3",
    quote=(
        "this result gives utility bounds for the stochastic problems (3.4) or (3.6) with $p = d \\times P$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{(3.4) has } p = d \times P \text{ variables}",
    words="problem (3.4), whose variables are v_i and w_i, has d P of them",
    hypotheses=(positive_integer("d"), positive_integer("P")),
    says=lambda d, patterns: d * patterns,
    check=judge_variables,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{(3.4) has } p = 2 d P \text{ variables}",
        words="problem (3.4) has 2 d P variables, so that the bound grows by sqrt 2; d P is right for (3.6)",
        says=lambda d, patterns: 2 * d * patterns,
        expected="HOLDS PROVED",
        source="000, Appendix D, for problem (3.4)",
    ),
)
inference = Claim(
    id="relu-approx/inference", source="000, Section 3.3, the inference time model",
    quote="the prediction is carried out similarly using the function",
    whose=Whose.PRINTED,
    statement=r"g(x, v) = \textstyle\sum_i \mathbb{1}(u_i^T x \ge 0)\, x^T v_i",
    words="at a training point the inference model gives the training prediction",
    hypotheses=_UNIT, check=judge_inference,
    says=lambda product: 1 if product >= 0 else 0,
    flips=(
        Flip("> for >=, as in (3.6)", lambda product: 1 if product > 0 else 0, Verdict.REFUTED),
        Flip("without the indicator", lambda product: 1, Verdict.REFUTED),
    ),
    true_variants={"squared": "0 and 1 are their own squares"},
    expected="HOLDS PROVED",
)
own = Claim(
    id="relu-approx/loss-own-record", source="000, Section 3.4",
    quote=(
        r"From Eq. (3.8) it is evident that each loss function $\ell(v,x_j,y_j)$ , $j\in[n]$ , depends only on the "
        r"data entry $(x_j,y_j)$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\partial \ell(v, x_j, y_j) / \partial (x_i, y_i) = 0,\ i \ne j",
    words="the loss (3.8) of a record depends on no other record",
    hypotheses=_NETWORK, says=lambda own, other: 1 if own >= 0 else 0, check=judge_own,
    flips=(Flip("active above the mean of the two", lambda own, other: 1 if own >= other else 0,
                Verdict.REFUTED),),
    true_variants={"any lam": "the regulariser has no record in it", "squared": "0 and 1 are their own squares"},
    expected="HOLDS ARGUED",
)
strong = Claim(
    id="relu-approx/sec-3.4-strong", source="000, Section 3.4",
    quote=r"the loss function (3.8) is clearly $\lambda$ -strongly convex.",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\ell(\cdot, x, y) \text{ is } \lambda\text{-strongly convex}",
    words="the loss (3.8) is lambda-strongly convex",
    hypotheses=_NETWORK, says=Fraction(1), check=judge_strong,
    flips=(Flip("2 lambda", Fraction(2), Verdict.REFUTED),),
    true_variants={"1 % less": "a smaller modulus is right, too", "sign": "a smaller modulus is right, too",
                   "any lam": "the second derivative is at least lambda |w|^2 for every real lambda"},
    expected="HOLDS PROVED",
)
