r"""Lemma 3.2 / B.1 of document 000: the smoothness of the convex ReLU loss, refuted and repaired.

The loss is (1/2) (t^T v - y)^2 + (lambda/2) |v|^2 with t = (1(x^T u_i >= 0) x)_{i <= P}. Along any direction w its
second derivative is (t^T w)^2 + lambda |w|^2, whose supremum over unit w is |t|^2 + lambda = a |x|^2 + lambda,
a the number of active hyperplanes. The document takes the Hessian for block-diagonal and finds |x|^2 + lambda.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import sympy

from oracle.core.domain import positive, vector
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, Verdict, argued, proof, refuted, undecided

Constant = Callable[[sympy.Expr, sympy.Expr, sympy.Expr], sympy.Expr]
"""A claimed smoothness constant as a function of (active hyperplanes a, |x|^2, lambda)."""


def second_derivative_gap() -> sympy.Expr:
    """d^2/ds^2 of the loss along v + s w, minus (t^T w)^2 + lambda |w|^2; zero identically, in every dimension."""
    s, tv, tw, y, lam, vv, vw, ww = sympy.symbols("s tv tw y lambda vv vw ww", real=True)
    loss = (tv + s * tw - y) ** 2 / 2 + lam / 2 * (vv + 2 * s * vw + s**2 * ww)
    return sympy.simplify(sympy.diff(loss, s, 2) - (tw**2 + lam * ww))


def small_cases() -> Iterator[tuple[sympy.Matrix, list[sympy.Matrix]]]:
    """Small integer points x and hyperplanes u, simplest first."""
    for dimension, hyperplanes in ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3)):
        grid = [sympy.Matrix(v) for v in itertools.product((1, 0, -1), repeat=dimension)]
        for x in grid:
            for u in itertools.combinations_with_replacement(grid, hyperplanes):
                yield x, list(u)


def largest_curvature(x: sympy.Matrix, hyperplanes: list[sympy.Matrix], lam: sympy.Expr) -> sympy.Expr:
    """The largest eigenvalue of the loss's Hessian, by differentiating the loss (3.8) itself, exactly."""
    blocks = [sympy.symbols(f"v{i}_:{x.rows}") for i in range(len(hyperplanes))]
    score = sum(
        sum(x[j] * block[j] for j in range(x.rows))
        for u, block in zip(hyperplanes, blocks, strict=True)
        if (x.T * u)[0] >= 0
    )
    weights = [v for block in blocks for v in block]
    loss = (score - 1) ** 2 / sympy.Integer(2) + lam / 2 * sum(v**2 for v in weights)
    return max(sympy.hessian(loss, weights).eigenvals())


def printed(active: sympy.Expr, square: sympy.Expr, lam: sympy.Expr) -> sympy.Expr:
    """The constant of Lemma 3.2: one block's curvature."""
    return square + lam


def repaired(active: sympy.Expr, square: sympy.Expr, lam: sympy.Expr) -> sympy.Expr:
    """The constant that is true: every active hyperplane's block has the same direction."""
    return active * square + lam


def judge(constant: Constant, given: Domain) -> Finding:
    """Prove a claimed constant for all x, u and lambda, or find the smallest counterexample."""
    active = sympy.symbols("a", integer=True, nonnegative=True)
    square, lam = sympy.symbols("X lambda", nonnegative=True)
    tried = 0
    for x, hyperplanes in small_cases():
        tried += 1
        count = sum(1 for u in hyperplanes if (x.T * u)[0] >= 0)
        true = largest_curvature(x, hyperplanes, sympy.Integer(1))
        claimed = constant(sympy.Integer(count), (x.T * x)[0], sympy.Integer(1))
        if true > claimed:
            return refuted(
                f"largest curvature {true}, claimed {claimed}, in exact arithmetic",
                {
                    "dimension": str(x.rows), "hyperplanes": str(len(hyperplanes)), "x": str(list(x)),
                    "u": str([list(u) for u in hyperplanes]), "lambda": "1", "active": str(count),
                    "largest curvature": str(true), "claimed": str(claimed),
                },
            )
    slack = sympy.factor(constant(active, square, lam) - (active * square + lam))
    if second_derivative_gap() == 0 and slack.is_nonnegative:
        return proof(argued(
            "second derivative along w is (t.w)^2 + lambda |w|^2 (computer algebra), at most a |x|^2 + lambda by "
            "Cauchy-Schwarz, attained at w = t/|t|"
        ))
    return undecided(
        "no small case fails; not proved for all",
        Scope("points", tried, tried, {"x, u": "entries -1, 0, 1", "lambda": "1"}),
    )


lemma_3_2 = Claim(
    id="relu-approx/lem-3.2",
    source="000, Lemma 3.2 and Lemma B.1",
    quote=(
        r"The gradients of the loss function $\ell(v, x_j, y_j)$ given in Eq. (3.8) are $\beta$ -Lipschitz "
        r"continuous for $\beta = ||x_j||_2^2 + \lambda$ ."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"\nabla_v \ell(v, x, y) \text{ is } (\lVert x\rVert_2^2 + \lambda)\text{-Lipschitz}",
    words="gradients of the convex ReLU loss are (|x|^2 + lambda)-Lipschitz",
    hypotheses=(vector("x"), vector("u", "each hyperplane"), positive("lam")),
    says=printed,
    check=judge,
    uses=("relu-approx/lem-B.1-hessian",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla_v \ell(v, x, y) \text{ is } (a\lVert x\rVert_2^2 + \lambda)\text{-Lipschitz},"
            r"\quad a = \#\{i : x^T u_i \ge 0\}, \text{ and for no smaller constant}",
        words="gradients of the convex ReLU loss are (a |x|^2 + lambda)-Lipschitz, a = number of active hyperplanes",
        says=repaired,
        expected="HOLDS ARGUED",
        source="000, Lemma 3.2, repaired",
        flips=(
            Flip("half of it", lambda active, square, lam: active * square / 2 + lam, Verdict.REFUTED),
            Flip("without lambda", lambda active, square, lam: active * square, Verdict.REFUTED),
        ),
        rests_on=("relu-approx/lem-B.1-hessian-repaired",),
    ),
)
