r"""The first display of Theorem 4.6 of document 001: a record whose batch nobody knows, by joint convexity.

With w_j the probability of position j and M(P, Q) = e^{(alpha-1) R_alpha(P, Q)} = sum p^alpha q^{1-alpha},

    M(sum_j w_j P_j, sum_j w_j Q_j) <= sum_j w_j M(P_j, Q_j)

because p^alpha q^{1-alpha} is jointly convex: its Hessian is alpha (alpha-1) p^{alpha-2} q^{-alpha-1} times v v^T with
v = (q, -p). It needs a position that is random, the same for both data sets, and hidden: were it released, or fixed
and known, the loss would be that of the position itself, in the worst case the largest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive_integer
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

Law = tuple[Fraction, ...]
_LAWS: tuple[Law, ...] = tuple(
    tuple(Fraction(n, 20) for n in weights) for weights in ((10, 6, 4), (2, 2, 16), (4, 12, 4), (18, 1, 1))
)
_ORDERS = (2, 3, 8)


def moment(first: Law, second: Law, alpha: int) -> Fraction:
    """sum p^alpha q^{1-alpha}, exactly."""
    return sum((p**alpha / q ** (alpha - 1) for p, q in zip(first, second, strict=True)), Fraction(0))


def mean(laws: Sequence[Law]) -> Law:
    """The uniform mixture."""
    return tuple(sum(weights, Fraction(0)) / len(laws) for weights in zip(*laws, strict=True))


def hessian_gap() -> sympy.Matrix:
    """The Hessian of p^alpha q^{1-alpha} minus the multiple of v v^T; zero identically."""
    p, q, alpha = sympy.symbols("p q alpha", positive=True)
    v = sympy.Matrix([q, -p])
    square = alpha * (alpha - 1) * p ** (alpha - 2) * q ** (-alpha - 1) * v * v.T
    return sympy.simplify(sympy.hessian(p**alpha * q ** (1 - alpha), (p, q)) - square)


def mean_of(moments: list[Any]) -> Any:
    """What the theorem claims of a uniform position."""
    return sum(moments, Fraction(0)) / len(moments)


def judge(says: Callable[[list[Any]], Any], given: Domain) -> Finding:
    """Hold a claimed moment of a mixture of two positions, made of theirs, against the exact one."""
    count = 0
    for alpha, quadruple in itertools.product(_ORDERS, itertools.product(_LAWS, repeat=4)):
        firsts, seconds = quadruple[:2], quadruple[2:]
        value = says([moment(p, q, alpha) for p, q in zip(firsts, seconds, strict=True)])
        true = moment(mean(firsts), mean(seconds), alpha)
        if value < true:
            return refuted(
                "a mixture of two pairs of laws loses more, in exact rationals",
                {
                    "alpha": str(alpha), "P": str([list(map(str, p)) for p in firsts]),
                    "Q": str([list(map(str, q)) for q in seconds]), "claimed moment": str(value), "moment": str(true),
                },
            )
        count += 1
    moments = [list(sympy.symbols(f"M0:{size}", positive=True)) for size in (1, 2, 3, 5)]
    slack = [sympy.simplify(says(some) - sum(some) / len(some)).is_nonnegative is True for some in moments]
    if not (hessian_gap().is_zero_matrix and all(slack)):
        return undecided("no pair fails; convexity was not shown", count)
    return proof(argued(
        "p^alpha q^(1-alpha) is jointly convex (its Hessian is a positive multiple of v v^T, computer algebra); "
        f"for a position that is random, hidden and kept for the whole run. Exact at {count} mixtures"
    ))


theorem_4_6_mix = Claim(
    id="sbcd/thm-4.6-mix",
    source="001, Theorem 4.6, first display",
    quote=(
        r"since j_0 is uniformly distributed among the index set $\{0, 1, \dots, n/b - 1\}$, we use the joint "
        "convexity of scaled exponentiation of Rényi divergence to bound the final privacy loss "
        r"$\varepsilon_K(\alpha)$."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=(
        r"\varepsilon_K(\alpha) \le \frac{1}{\alpha - 1}\log\left(\sum_{j_0} \frac{b}{n}"
        r" e^{(\alpha - 1)\varepsilon_K(\alpha, j_0)}\right)"
    ),
    words="a record in a uniformly random batch, nobody knows which, loses the log of the mean of exponentials",
    hypotheses=(
        Parameter("alpha", low=Fraction(1), low_open=True), positive_integer("batches"),
    ),
    says=mean_of,
    check=judge,
    flips=(
        Flip("the best position", min, Verdict.REFUTED),
        Flip("half of it", lambda moments: mean_of(moments) / 2, Verdict.REFUTED),
        Flip("the first and the last position", lambda moments: (moments[0] + moments[-1]) / 2, Verdict.UNDECIDED),
    ),
    uses=("sbcd/one-batch-per-epoch",),
    rests_on=("sbcd/one-batch-per-epoch-repaired",),
    expected="HOLDS CHECKED_AT_POINTS",
)
