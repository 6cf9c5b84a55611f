r"""Lemma 3.2 / B.1 and Appendix A of document 000: the loss as a GLM, its Hessian, its smoothness refuted and repaired.

The loss is (1/2) (t^T v - y)^2 + (lambda/2) |v|^2 with t = (1(x^T u_i >= 0) x)_{i <= P}. Its gradients at v + w and v
differ by H w = (t^T w) t + lambda w. With T = |t|^2, W = |w|^2 and p = t^T w the square of that is p^2 T + 2 lambda p^2
+ lambda^2 W, and (T + lambda)^2 W is larger by (T^2 + 2 lambda T)(W - p^2/T), where W - p^2/T = |w - (p/T) t|^2 >= 0.
For w = t the two are equal. So the constant is |t|^2 + lambda = a |x|^2 + lambda, a the number of active hyperplanes.
The document takes the Hessian for block-diagonal and finds |x|^2 + lambda.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.verdict import Finding, Scope, Verdict, computed, proof, refuted, undecided

Constant = Callable[[Any, Any, Any], Any]
"""A claimed smoothness constant as a function of (active hyperplanes a, |x|^2, lambda)."""
Vector = tuple[int, ...]


def dot(a: Vector, b: Vector) -> int:
    """The inner product."""
    return sum(p * q for p, q in zip(a, b, strict=True))


def features(x: Vector, hyperplanes: tuple[Vector, ...]) -> list[int]:
    """t = (1(x^T u_1 >= 0) x; ...; 1(x^T u_P >= 0) x), entry by entry."""
    return [entry if dot(x, u) >= 0 else 0 for u in hyperplanes for entry in x]


def small_cases() -> Iterator[tuple[Vector, tuple[Vector, ...]]]:
    """Small integer points x and hyperplanes u, simplest first."""
    for dimension, count in ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3)):
        grid = list(itertools.product((1, 0, -1), repeat=dimension))
        for x in grid:
            for u in itertools.combinations_with_replacement(grid, count):
                yield x, u


# --- Appendix A


def judge_glm(feature: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the score of (3.8) is t^T v, the entry of t at hyperplane i and coordinate c being feature(D_i, x_c)."""
    tried = 0
    for point in given.points("d", "P", most={"d": 3, "P": 3}):
        for x, slope in itertools.product(itertools.product((2, 0, -1), repeat=point["d"]), (-1, 0, 1)):
            directions = [tuple(slope + (i + c) % 3 - 1 for c in range(point["d"])) for i in range(point["P"])]
            active = [int(dot(x, u) >= 0) for u in directions]
            v = [[1 + 2 * i + c for c in range(point["d"])] for i in range(point["P"])]
            score = sum(dot(x, tuple(block)) for block, on in zip(v, active, strict=True) if on)
            product = sum(feature(on, x[c]) * block[c] for block, on in zip(v, active, strict=True)
                          for c in range(point["d"]))
            tried += 1
            if score != product:
                return refuted("the loss is no function of that product",
                               {"x": x, "D": active, "v": v, "score": score, "product": product})
    active_, x_, v_ = map(sympy.IndexedBase, "Dxv")
    i, c, p, q = sympy.symbols("i c p q", integer=True, positive=True)
    more = sympy.symbols("e f", integer=True, nonnegative=True)  # P = p + e hyperplanes, d = q + f coordinates
    every = ((c, 1, q + more[1]), (i, 1, p + more[0]))
    score_ = sympy.Sum(active_[i] * x_[c] * v_[i, c], *every)
    entry = sympy.diff(score_, v_[p, q]).doit()
    return proof(
        computed("the score sum_i D_i x^T v_i is 0 at v = 0, for any number of hyperplanes and coordinates",
                 sympy.Sum(active_[i] * x_[c] * sympy.Integer(0), *every).doit() == 0),
        computed("its derivatives do not depend on v, so it is linear", not entry.has(v_)),
        computed("its derivative by the weight of hyperplane p and coordinate q is that feature",
                 sympy.simplify(entry - feature(active_[p], x_[q])) == 0),
        tried=tried,
    )


# --- the Hessian


def judge_blocks(claimed: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether claimed(t_p, t_q, whether in one block) is the entry p, q of the Hessian of (t^T v - y)^2/2."""
    for hyperplanes in given.values("P", most=3):
        weights = sympy.symbols(f"v0:{max(hyperplanes, 0)}", real=True)
        hessian = sympy.hessian((sum(weights) - 1) ** 2 / sympy.Integer(2), weights) if weights else sympy.zeros(0, 0)
        told = [[claimed(1, 1, int(p == q)) for q in range(hyperplanes)] for p in range(hyperplanes)]
        if told != hessian.tolist():
            return refuted("blocks of different hyperplanes interact", {
                "x": 1, "u": [1] * hyperplanes, "claimed": told, "Hessian": hessian.tolist()})
    t, v = map(sympy.IndexedBase, "tv")
    i, first, between, more = sympy.symbols("i f g e", integer=True, nonnegative=True)
    y, same = sympy.symbols("y same", real=True)
    p, q = first + 1, first + 1 + between
    score = sympy.Sum(t[i] * v[i], (i, 1, q + more))  # of any length: q + e
    entry = sympy.diff((score - y) ** 2 / 2, v[p]).diff(v[q]).doit()
    return proof(
        computed("for any length of t the derivative of (t^T v - y)^2/2 by v_p and v_q is that entry, whether p and q "
                 "belong to one block or not (it is symmetric: p <= q)",
                 sympy.simplify(entry - claimed(t[p], t[q], same)) == 0),
    )


# --- Lemma 3.2


def judge(constant: Constant, given: Domain) -> Finding:
    """Whether gradients of (3.8) are Lipschitz with that constant, for all x, u and lambda."""
    tried = 0
    for (x, hyperplanes), lam in itertools.product(small_cases(), (Fraction(1), *given.values("lam"))):
        t = features(x, hyperplanes)
        tried += 1
        w = t if any(t) else [1] * len(t)
        inner, square = dot(tuple(t), tuple(w)), dot(tuple(w), tuple(w))
        moved = sum((inner * a + lam * b) ** 2 for a, b in zip(t, w, strict=True))  # |H w|^2
        count, norm = sum(dot(x, u) >= 0 for u in hyperplanes), dot(x, x)
        claimed = constant(count, norm, lam)
        if claimed < 0 or moved > claimed**2 * square:
            true = Fraction(dot(tuple(t), tuple(t))) + lam
            return refuted(f"largest curvature {true}, claimed {claimed}, in exact arithmetic", {
                "dimension": len(x), "hyperplanes": len(hyperplanes), "x": list(x), "u": [list(u) for u in hyperplanes],
                "lambda": lam, "active": count, "largest curvature": true, "claimed": claimed})
    steps = lipschitz(given)
    active = sympy.symbols("a", integer=True, nonnegative=True)
    norm_, lam_ = sympy.symbols("X", nonnegative=True), given.symbol("lam", "lambda")
    slack = sympy.factor(constant(active, norm_, lam_) - (active * norm_ + lam_))
    if not slack.is_nonnegative:
        return undecided("no small case fails; not proved for all",
                         Scope("points", tried, tried, {"x, u": "entries -1, 0, 1", "lambda": "its ends and inside"}))
    return proof(*steps, computed("the constant is at least a |x|^2 + lambda", slack.is_nonnegative), tried=tried)


def lipschitz(given: Domain) -> tuple[Any, ...]:
    """The steps of the module's text, on symbols."""
    size, length, p, s = sympy.symbols("T W p s", positive=True)
    lam = given.symbol("lam", "lambda")
    on, norm, i = sympy.IndexedBase("D"), sympy.symbols("X", nonnegative=True), sympy.symbols("i", integer=True)
    count = sympy.symbols("P", integer=True, positive=True)
    moved = sympy.expand(p**2 * size + 2 * lam * p**2 + lam**2 * length)  # |p t + lambda w|^2
    rest = (length - 2 * s * p + s**2 * size).subs(s, p / size)  # |w - s t|^2 at s = p/T: not negative
    blocks = sympy.Sum(on[i] * norm, (i, 1, count)) - norm * sympy.Sum(on[i], (i, 1, count))
    return (
        computed("(T + lambda)^2 |w|^2 - |H w|^2 = (T^2 + 2 lambda T) |w - (p/T) t|^2 for T = |t|^2 > 0",
                 sympy.expand((size + lam) ** 2 * length - moved - (size**2 + 2 * lam * size) * rest) == 0),
        computed("for t = 0 it is lambda^2 |w|^2 on both sides",
                 sympy.expand((lam**2 * length - moved).subs({size: 0, p: 0})) == 0),
        computed("T^2 + 2 lambda T >= 0, as lambda > 0", (size**2 + 2 * lam * size).is_nonnegative),
        computed("equal for w = t: no smaller constant",
                 sympy.expand(((size + lam) ** 2 * length - moved).subs({length: size, p: size})) == 0),
        computed("T = sum_i D_i^2 |x|^2 = a |x|^2, as D_i is 0 or 1",
                 all(value**2 == value for value in (0, 1)) and sympy.simplify(blocks) == 0),
    )


def judge_least(constant: Constant, given: Domain) -> Finding:
    """Whether the constant is the least one: a Lipschitz constant that exceeds a |x|^2 + lambda nowhere."""
    found = judge(constant, given)
    if found.verdict is not Verdict.HOLDS:
        return found
    a, norm, lam = sympy.symbols("a X lambda", nonnegative=True)
    exact = sympy.expand(constant(a, norm, lam) - a * norm - lam) == 0
    return proof(*found.steps, computed("it is no larger either", exact), summary=found.summary)


_SIZES = (vector("x"), vector("u", "each hyperplane"), positive_integer("d"), positive_integer("P"))

glm = Claim(
    id="relu-approx/app-A-glm", source="000, Appendix A",
    quote=(
        "which shows that we are actually minimizing a loss function of a GLM when we are minimizing the loss "
        r"$\mathcal{L}(v, X, y)$ w.r.t. v."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\ell_j(v) = \tfrac12 (\tilde x_j^T v - y_j)^2 + \tfrac\lambda2 \lVert v \rVert^2,"
              r"\quad \tilde x_j = (D_1 x_j; \dots; D_P x_j)",
    words="the scalar loss (3.8) is a generalised linear model in the features (D_1 x; ...; D_P x)",
    hypotheses=_SIZES, says=lambda on, coordinate: on * coordinate, check=judge_glm,
    flips=(
        Flip("x repeated, active or not", lambda on, coordinate: coordinate, Verdict.REFUTED),
        Flip("twice the features", lambda on, coordinate: 2 * on * coordinate, Verdict.REFUTED),
    ),
    true_variants={"any *": "without a hyperplane or a coordinate both sides are 0"},
    expected="HOLDS PROVED",
)
blocks = Claim(
    id="relu-approx/lem-B.1-hessian", source="000, the proof of Lemma B.1: the Hessian is block diagonal",
    quote="the Hessian matrix is of the diagonal block form",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\nabla^2 h = \mathrm{diag}(A_1, \dots, A_P)",
    words="the Hessian of the convex ReLU loss is block diagonal",
    hypotheses=(vector("x"), vector("u", "each hyperplane"), positive_integer("P")),
    says=lambda tp, tq, same: same * tp * tq, check=judge_blocks,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla^2 h = \tilde x \tilde x^T",
        words="the Hessian of the convex ReLU loss is t t^T with t = (D_1 x; ...; D_P x)",
        says=lambda tp, tq, same: tp * tq,
        expected="HOLDS PROVED",
        source="000, the proof of Lemma B.1, repaired",
        flips=(Flip("twice that", lambda tp, tq, same: 2 * tp * tq, Verdict.REFUTED),),
        true_variants={"any P": "a matrix without entries is what it is said to be"},
    ),
)
lemma_3_2 = Claim(
    id="relu-approx/lem-3.2",
    source="000, Lemma 3.2 and Lemma B.1",
    quote=(
        r"The gradients of the loss function $\ell(v, x_j, y_j)$ given in Eq. (3.8) are $\beta$ -Lipschitz "
        r"continuous for $\beta = ||x_j||_2^2 + \lambda$ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\nabla_v \ell(v, x, y) \text{ is } (\lVert x\rVert_2^2 + \lambda)\text{-Lipschitz}",
    words="gradients of the convex ReLU loss are (|x|^2 + lambda)-Lipschitz",
    hypotheses=(vector("x"), vector("u", "each hyperplane"), positive("lam")),
    says=lambda active, square, lam: square + lam,
    check=judge,
    flips=(Flip("the repair", lambda active, square, lam: active * square + lam, Verdict.HOLDS),),
    uses=("relu-approx/lem-B.1-hessian",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla_v \ell(v, x, y) \text{ is } (a\lVert x\rVert_2^2 + \lambda)\text{-Lipschitz},"
            r"\quad a = \#\{i : x^T u_i \ge 0\}, \text{ and for no smaller constant}",
        words="gradients of the convex ReLU loss are (a |x|^2 + lambda)-Lipschitz, a = number of active hyperplanes",
        says=lambda active, square, lam: active * square + lam,
        check=judge_least,
        expected="HOLDS PROVED",
        source="000, Lemma 3.2, repaired",
        flips=(
            Flip("as printed", lambda active, square, lam: square + lam, Verdict.REFUTED),
            Flip("half of it", lambda active, square, lam: active * square / Fraction(2) + lam, Verdict.REFUTED),
            Flip("without lambda", lambda active, square, lam: active * square, Verdict.REFUTED),
            Flip("1 % more", lambda active, square, lam: (active * square + lam) * Fraction(101, 100),
                 Verdict.UNDECIDED),
        ),
        rests_on=("relu-approx/lem-B.1-hessian-repaired",),
    ),
)
