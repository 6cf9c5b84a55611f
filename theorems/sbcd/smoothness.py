r"""Lemma 3.2, the Hessian after it, and Lemma 4.1 of document 001: how smooth a sub-problem is, and what a step does.

F(theta) = R(theta x) changes along a direction H as R(z + t w) does, w = H x, so its curvature there is that of R along
w, at most s |H x|^2 if R is s-smooth, and |H x|^2 <= |x|^2 |H|_F^2 row by row. An inner block is the case s = gamma:
its Hessian, for one record, is gamma (I kron x x^T), singular as soon as x has two coordinates. For a batch it is
gamma/b (I kron sum_i x_i x_i^T), definite exactly if the x_i span. The last block's constant comes from R, not from
gamma. A gradient step has the Lipschitz constant max |1 - eta h| over curvatures h in [omega, beta]; (1 - eta h)^2 is
convex in h, so an end decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, choice, non_negative, positive, unit_interval, vector
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.sbcd.algebra import led, never_negative, symbol_of, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted


def judge_constant(constant: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether constant(gamma, X, smoothness of R) is the best smoothness of R(theta x) for all |x|^2 <= X.

    An inner block is the case R = gamma/2 |U - .|^2: where smoothness is no hypothesis, it is gamma.
    """
    inner = "smoothness" not in given.parameters
    simple = {"gamma": "1", "X": "1/4"} if inner else {"gamma": "1", "X": "1", "smoothness": "2"}
    tried = 0
    for point in led(given, **simple):
        gamma, bound, smooth = point["gamma"], point["X"], point["gamma" if inner else "smoothness"]
        # R = smooth (z - y)^2 / 2 at |x|^2 = X, along x/|x|: the second difference of a quadratic is its curvature.
        values = [smooth * (t * bound - 1) ** 2 / 2 / bound for t in (Fraction(1), Fraction(0), Fraction(-1))]
        true = values[0] - 2 * values[1] + values[2]
        tried += 1
        if constant(gamma, bound, smooth) < true:
            return refuted(
                "the Hessian has a larger eigenvalue, exactly",
                {"gamma": gamma, "X": bound, "|x|^2": bound, "R": f"{smooth} (theta x - y)^2 / 2",
                 "largest eigenvalue": true, "claimed": constant(gamma, bound, smooth)},
            )
    gamma_, bound_ = symbol_of(given, "gamma"), given.symbol("X")
    smooth_ = gamma_ if inner else given.symbol("smoothness")
    hh, hx, xx, theta, y = sympy.symbols("hh hx xx theta y", real=True)  # |h|^2, <h, x>, |x|^2 for a row h of H
    share = hx / xx
    attained = sympy.diff(smooth_ * (theta * sympy.sqrt(bound_) - y) ** 2 / 2, theta, 2)
    return proof(
        computed("|h|^2 |x|^2 - <h, x>^2 = |x|^2 |h - x <h, x>/|x|^2|^2 >= 0 for every row h: |H x|^2 <= |x|^2 |H|^2",
                 vanishes(hh * xx - hx**2 - xx * (hh - 2 * share * hx + share**2 * xx))),
        computed("R's own curvature s along H x gives at most s |x|^2 <= s X, which is the constant, and R = s z^2/2 "
                 "attains it with one number x, x^2 = X (differentiated)",
                 vanishes(constant(gamma_, bound_, smooth_) - attained)
                 and never_negative(attained) and vanishes(attained - smooth_ * bound_)),
        tried=tried,
    )


def judge_hessian(entry: Callable[[Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether entry(gamma, same row, x_j, x_l) is the second derivative in theta_ij and theta_kl of an inner block.

    Two rows and two columns, equal or not, and all other terms as one number: with that, every size is covered.
    """
    gamma = symbol_of(given, "gamma")
    x = sympy.symbols("x_j x_l", real=True)
    rows = [sympy.symbols(f"{name}_j {name}_l", real=True) for name in ("s", "t")]
    rest = sympy.symbols("u v", real=True)
    value = gamma / 2 * sum((r - row[0] * x[0] - row[1] * x[1]) ** 2 for r, row in zip(rest, rows, strict=True))
    wrong, cases = [], 0
    for rows_are, equal in itertools.product(given.values("rows"), (True, False)):
        first, second = rows[0][0], rows[0 if rows_are == "same" else 1][0 if equal else 1]
        true, claimed = sympy.diff(value, first, second), entry(gamma, int(rows_are == "same"), x[0], x[not equal])
        cases += 1
        if not vanishes(true - claimed):
            wrong.append((rows_are, equal, true, claimed))
    numbers = {gamma: 1, x[0]: 1, x[1]: 2}
    for rows_are, equal, true, claimed in wrong:
        if sympy.sympify(true).subs(numbers) != sympy.sympify(claimed).subs(numbers):
            return refuted(
                "an entry of the Hessian is another number",
                {"x": "1, 2", "gamma": 1, "rows": rows_are, "columns": "equal" if equal else "different",
                 "entry": sympy.sympify(true).subs(numbers), "claimed": sympy.sympify(claimed).subs(numbers)},
            )
    return proof(
        computed("differentiated twice with symbols: rows equal or not, columns equal or not, all other terms of the "
                 "row as one number, and so for layers of every size", not wrong),
        tried=cases * len(given.values("gamma")),
    )


def judge_step(bound: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether bound(eta, omega, beta) is the largest |1 - eta h| for h from omega to beta = omega + width."""
    tried = 0
    for point in given.points("eta", "omega", "width", at_most=150):
        eta, omega, beta = point["eta"], point["omega"], point["omega"] + point["width"]
        for share in (Fraction(n, 4) for n in range(5)):
            tried += 1
            h = omega + share * (beta - omega)
            if abs(1 - eta * h) > bound(eta, omega, beta):
                return refuted(
                    "a quadratic in the class moves points farther apart",
                    {"eta": eta, "omega": omega, "beta": beta, "curvature": h, "|1 - eta h|": abs(1 - eta * h),
                     "claimed": bound(eta, omega, beta)},
                )
    eta_, omega_, width_ = (given.symbol(name) for name in ("eta", "omega", "width"))
    beta_, part = omega_ + width_, sympy.symbols("p", nonnegative=True)
    t = part / (1 + part)  # a share of the way from omega to beta

    def square(at: Any) -> Any:
        return (1 - eta_ * (omega_ + at * width_)) ** 2

    chord = sympy.factor(t * square(1) + (1 - t) * square(0) - square(t))
    ends = sympy.Max(abs(1 - eta_ * omega_), abs(1 - eta_ * beta_))
    return proof(
        argued("grad F(a) - grad F(b) = H (a - b) for a symmetric H between omega and beta (mean value), so the step "
               "moves a - b by I - eta H, whose eigenvalues are 1 - eta h"),
        computed("(1 - eta h)^2 lies below its chord, by eta^2 t (1 - t)(beta - omega)^2, so an end of [omega, beta] "
                 "is largest", never_negative(chord)),
        computed("the constant claimed is the larger of the two ends, which the quadratics of these curvatures attain",
                 vanishes(bound(eta_, omega_, beta_) - ends)),
        tried=tried,
    )


def judge_threshold(threshold: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether |1 - eta omega| is the larger term up to eta = threshold(omega, beta), and |1 - eta beta| from there."""
    tried = 0
    for point in given.points("share", "beta"):
        omega, beta = point["share"] * point["beta"], point["beta"]
        for part in (Fraction(1, 10**6), Fraction(1, 2), Fraction(1), Fraction(1001, 1000), Fraction(3, 2)):
            eta = part * threshold(omega, beta)
            convex, smooth = abs(1 - eta * omega), abs(1 - eta * beta)
            tried += 1
            if (convex < smooth) if part <= 1 else (convex > smooth):
                return refuted(
                    "the other term dominates there",
                    {"omega": omega, "beta": beta, "eta": eta, "|1 - eta omega|": convex, "|1 - eta beta|": smooth},
                )
    beta_, omega_ = given.symbol("beta"), given.chart("share") * given.symbol("beta")
    below, above = sympy.symbols("p s", nonnegative=True)

    def gap(eta: Any) -> Any:
        return sympy.factor((1 - eta * omega_) ** 2 - (1 - eta * beta_) ** 2)

    up_to, from_there = (threshold(omega_, beta_) * part for part in (below / (1 + below), 1 + above))
    return proof(
        computed("for eta up to the threshold (1 - eta omega)^2 - (1 - eta beta)^2 has no negative term, on symbols",
                 never_negative(gap(up_to))),
        computed("from the threshold on its negative has none (at omega = beta both are 0, the limit)",
                 never_negative(-gap(from_there))),
        tried=tried,
    )


Batch = Sequence[tuple[int, ...]]


def spans(batch: Batch) -> bool:
    """Whether the vectors of a batch span their space."""
    return bool(sympy.Matrix(batch).rank() == len(batch[0]))


def judge_contraction(contracts: Callable[[Batch], bool], given: Domain) -> Finding:
    """Whether a rule says rightly for which batches x_1, ..., x_b some eta gives Lemma 4.1 a bound below 1."""
    tried = 0
    for size, count in ((1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 3)):
        vectors = list(itertools.product((1, 0, -1), repeat=size))
        for batch in itertools.islice(itertools.combinations_with_replacement(vectors, count), 60):
            tried += 1
            gram = sympy.Matrix(batch).T * sympy.Matrix(batch)  # b/gamma times the Hessian of each row
            truly = all(gram[:k, :k].det() > 0 for k in range(1, size + 1))  # definite, by Sylvester
            if contracts(batch) != truly:
                return refuted(
                    "the Hessian is singular, omega = 0, so L_F >= |1 - 0| = 1 for every eta"
                    if not truly else "the Hessian is definite, so a small eta contracts",
                    {"x": list(batch), "definite": truly, "bound of Lemma 4.1": "below 1" if truly else ">= 1"},
                )
    h, more = sympy.symbols("h s", positive=True)
    beta = h + more
    eta = 1 / beta
    return proof(
        argued("v^T (sum_i x_i x_i^T) v = sum_i <x_i, v>^2 vanishes for some v, other than 0, exactly if the x_i do "
               "not span"),
        computed("a definite Hessian has curvatures h in (0, beta], and eta = 1/beta gives 0 <= 1 - eta h < 1",
                 never_negative(1 - eta * h) and (eta * h).is_positive is True),
        computed("a singular one has the curvature 0, and |1 - eta 0| = 1", bool(abs(1 - eta * 0) == 1)),
        tried=tried,
    )


_ONE = Parameter("gamma", low=Fraction(1), high=Fraction(1), meaning="set 1 in the document")
_BLOCK = (vector("x"), positive("gamma"), positive("X", "of which |x|^2 is at most"))
_LAST = (vector("x"), _ONE, positive("X", "of which |x|^2 is at most"), positive("smoothness", "of R"))
_ROWS = (vector("x"), positive("gamma"), choice("rows", "same", "different"))
_LEMMA = (
    r"then the function $\mathcal{F}(\theta_d)$ for any layer $0 \leq d \leq D$ is β_d -smooth and the "
    "smoothness constant β_d is γX_d^2 ."
)
_HESSIAN = (
    r"we can calculate the Hessian matrix of $\mathcal{F}(\theta_d)$ as $\nabla^2 \mathcal{F}(\theta_d) "
    r"= \mathbf{x}_d \mathbf{x}_d^T \geq 0$."
)

lemma_3_2 = Claim(
    id="sbcd/lem-3.2", source="001, Lemma 3.2 (with |x_d|^2 <= X_d of Assumption 3.1), d < D",
    quote=_LEMMA,
    whose=Whose.TYPO,
    severity=Severity.PRIVACY,
    statement=r"\mathcal{F}(\theta_d) \text{ is } \gamma X_d^2\text{-smooth}",
    words="an inner sub-problem is gamma X^2-smooth, where |x|^2 <= X",
    hypotheses=_BLOCK, says=lambda gamma, bound, smooth: gamma * bound**2, check=judge_constant,
    uses=("sbcd/assump-3.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F}(\theta_d) \text{ is } \gamma X_d\text{-smooth, and no less}",
        words="the best smoothness of an inner sub-problem is gamma X, where |x|^2 <= X",
        says=lambda gamma, bound, smooth: gamma * bound,
        expected="HOLDS PROVED",
        source="001, Lemma 3.2, repaired",
        flips=(Flip("gamma X / 2", lambda gamma, bound, smooth: gamma * bound / 2, Verdict.REFUTED),),
    ),
)
lemma_3_2_last = Claim(
    id="sbcd/lem-3.2-last", source="001, Lemma 3.2, said for any layer 0 <= d <= D: the last one, gamma = 1",
    quote=_LEMMA,
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\mathcal{F}(\theta_D) \text{ is } \gamma X_D^2\text{-smooth}",
    words="the last sub-problem's smoothness is gamma X^2, too, whatever the loss R",
    hypotheses=_LAST, says=lambda gamma, bound, smooth: gamma * bound**2, check=judge_constant,
    uses=("sbcd/lem-3.2",),
    flips=(Flip("gamma X", lambda gamma, bound, smooth: gamma * bound, Verdict.REFUTED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{F}(\theta_D) \text{ is } \beta_{\mathcal{R}} X_D\text{-smooth, and no less}",
        words="the best smoothness of the last sub-problem is that of R, times X",
        says=lambda gamma, bound, smooth: smooth * bound,
        expected="HOLDS PROVED",
        source="001, Lemma 3.2 for d = D, repaired",
        survivors={"any gamma": "gamma does not enter the last sub-problem",
                   "beyond argument 0 = 1": "gamma is 1: there is nothing beyond"},
    ),
)
hessian = Claim(
    id="sbcd/hessian-xxT", source="001, after Lemma 3.2: the Hessian is x x^T",
    quote=_HESSIAN,
    whose=Whose.PRINTED,
    statement=r"\nabla^2\mathcal{F}(\theta_d) = \mathbf{x}_d\mathbf{x}_d^T",
    words="the Hessian of an inner sub-problem is x x^T: of all of theta, or of one of its rows",
    hypotheses=_ROWS, says=None, check=None,
    readings=("sbcd/hessian-xxT-reading-all", "sbcd/hessian-xxT-reading-row"),
    expected="AMBIGUOUS PROVED",
    repair=Repair(
        statement=r"\nabla^2\mathcal{F}(\theta_d) = \gamma\,(\mathbf{I} \otimes \mathbf{x}_d\mathbf{x}_d^T)",
        words="for one record the Hessian of an inner sub-problem is gamma x x^T in each row of theta, 0 between rows",
        says=lambda gamma, same, x_j, x_l: gamma * same * x_j * x_l, check=judge_hessian,
        expected="HOLDS PROVED",
        source="001, after Lemma 3.2, repaired",
        flips=(Flip("without gamma", lambda gamma, same, x_j, x_l: 2 * same * x_j * x_l, Verdict.REFUTED),),
        survivors={"any gamma": "the second derivative is linear in gamma, of either sign",
                   "beyond argument 1 = 1": "rows are equal or not: there is nothing beyond"},
    ),
)
hessian_all = Claim(
    id="sbcd/hessian-xxT-reading-all", source="001, after Lemma 3.2: the Hessian in all entries of theta is x x^T",
    quote=_HESSIAN, whose=Whose.READING,
    statement=r"\frac{\partial^2 \mathcal{F}}{\partial\theta_{ij}\,\partial\theta_{kl}} = x_j x_l",
    words="the Hessian of an inner sub-problem in all entries of theta is x x^T",
    hypotheses=_ROWS, says=lambda gamma, same, x_j, x_l: x_j * x_l, check=judge_hessian,
    flips=(Flip("gamma x x^T within a row, 0 between rows", lambda gamma, same, x_j, x_l: gamma * same * x_j * x_l,
                Verdict.HOLDS),),
    repaired_by="sbcd/hessian-xxT-repaired",
    expected="REFUTED PROVED",
)
hessian_row = Claim(
    id="sbcd/hessian-xxT-reading-row", source="001, after Lemma 3.2: the Hessian in one row of theta, gamma = 1",
    quote=_HESSIAN, whose=Whose.READING,
    statement=r"\frac{\partial^2 \mathcal{F}}{\partial\theta_{ij}\,\partial\theta_{il}} = x_j x_l \quad (\gamma = 1)",
    words="the Hessian of an inner sub-problem in one row of theta is x x^T, for gamma = 1 and one record",
    hypotheses=(vector("x"), _ONE, choice("rows", "same")), says=lambda gamma, same, x_j, x_l: x_j * x_l,
    check=judge_hessian,
    flips=(Flip("twice it", lambda gamma, same, x_j, x_l: 2 * x_j * x_l, Verdict.REFUTED),),
    survivors={"beyond argument 1 = 1": "the row is one: there is nothing beyond"},
    expected="HOLDS PROVED",
)
lemma_4_1 = Claim(
    id="sbcd/lem-4.1", source="001, Lemma 4.1",
    quote=r"is Lipschitz continuous with a constant $L_F \leq \max\{|1 - \eta\omega|, |1 - \eta\beta|\}$.",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"L_F \le \max\{|1-\eta\omega|, |1-\eta\beta|\}",
    words="a gradient step on a function with curvature between omega and beta has that Lipschitz constant",
    hypotheses=(positive("eta"), non_negative("omega"), non_negative("width", "beta - omega")), check=judge_step,
    says=lambda eta, omega, beta: sympy.Max(abs(1 - eta * omega), abs(1 - eta * beta)),
    flips=(
        Flip("the smaller of the two", lambda eta, omega, beta: sympy.Min(abs(1 - eta * omega), abs(1 - eta * beta)),
             Verdict.REFUTED),
        Flip("the convexity term alone", lambda eta, omega, beta: abs(1 - eta * omega), Verdict.REFUTED),
    ),
    uses=("sbcd/lem-3.2",),
    survivors={"any omega": "omega may be negative: the proof does not use its sign"},
    expected="HOLDS ARGUED",
)
threshold_4_1 = Claim(
    id="sbcd/lem-4.1-threshold", source="001, after Lemma 4.1",
    quote=(
        r"will be dominated by the convexity term $|1 - \eta\omega|$ when the step size $\eta \leq "
        r"\frac{2}{\omega + \beta}$ and otherwise the smoothness term $|1 - \eta\beta|$."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
    statement=r"\eta \le \frac{2}{\omega+\beta} \implies |1-\eta\omega| \ge |1-\eta\beta|,"
              r" \quad \eta \ge \frac{2}{\omega+\beta} \implies |1-\eta\omega| \le |1-\eta\beta|",
    words="the convexity term is the larger up to eta = 2/(omega + beta), and the smoothness term from there",
    hypotheses=(unit_interval("share", "omega/beta"), positive("beta")), says=lambda omega, beta: 2 / (omega + beta),
    check=judge_threshold,
    flips=(Flip("2/beta", lambda omega, beta: 2 / beta, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
contraction = Claim(
    id="sbcd/contraction", source="a finding on 001, Sections 3.2 and 4.2: what Assumption 3.1 gives Lemma 4.1",
    severity=Severity.PROOF,
    statement=r"\exists \eta:\ \max\{|1-\eta\omega|, |1-\eta\beta|\} < 1 \text{ for every inner sub-problem}",
    words="Lemma 4.1 gives a contraction for every batch that Assumption 3.1 admits",
    hypotheses=(vector("x"),), says=lambda batch: True, check=judge_contraction,
    uses=("sbcd/lem-4.1", "sbcd/hessian-xxT"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\exists \eta:\ \max\{|1-\eta\omega|, |1-\eta\beta|\} < 1 \iff"
                  r" \mathrm{span}\{\mathbf{x}_i\} = \mathbb{R}^m",
        words="Lemma 4.1 gives a contraction, for some eta, exactly if the inputs of the batch span their space",
        says=spans,
        expected="HOLDS ARGUED",
        source="a finding on 001, Section 4.2: which batches contract",
        flips=(
            Flip("a single input", lambda batch: len(batch[0]) == 1 and any(batch[0]), Verdict.REFUTED),
            Flip("as many records as inputs", lambda batch: len(batch) >= len(batch[0]), Verdict.REFUTED),
        ),
        rests_on=("sbcd/lem-4.1", "sbcd/hessian-xxT-repaired"),
        survivors={"beyond *": "for larger batches the proof is argued", "1 % *": "a truth value has no percentage",
                   "squared": "a truth value has no square"},
    ),
)
