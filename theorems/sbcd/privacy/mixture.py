r"""The first display of Theorem 4.6 of document 001: a record whose batch nobody knows, by joint convexity.

With w_j the probability of position j and M(P, Q) = e^{(alpha-1) R_alpha(P, Q)} = sum p^alpha q^{1-alpha},

    M(sum_j w_j P_j, sum_j w_j Q_j) <= sum_j w_j M(P_j, Q_j)

because p^alpha q^{1-alpha} is jointly convex: its Hessian is alpha (alpha-1) p^{alpha-2} q^{-alpha-1} times v v^T with
v = (q, -p). What is claimed is the weight of a position, 1/N. It needs a position that is random, the same for both
data sets, and hidden: were it released, or fixed and known, the loss would be that of the position itself, in the worst
case the largest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Law = tuple[Fraction, ...]
_LAWS: tuple[Law, ...] = tuple(
    tuple(Fraction(n, 20) for n in weights) for weights in ((10, 6, 4), (2, 2, 16), (4, 12, 4), (18, 1, 1))
)


def moment(first: Law, second: Law, alpha: Fraction) -> arb:
    """sum p^alpha q^{1-alpha} in a ball."""
    pairs = zip(first, second, strict=True)
    return sum((ball(q) * (ball(alpha) * ball(p / q).log()).exp() for p, q in pairs), arb(0))


def mean(laws: Sequence[Law]) -> Law:
    """The uniform mixture."""
    return tuple(sum(weights, Fraction(0)) / len(laws) for weights in zip(*laws, strict=True))


def hessian_gap() -> sympy.Matrix:
    """The Hessian of p^alpha q^{1-alpha} minus the multiple of v v^T; zero identically."""
    p, q, alpha = sympy.symbols("p q alpha", positive=True)
    v = sympy.Matrix([q, -p])
    square = alpha * (alpha - 1) * p ** (alpha - 2) * q ** (-alpha - 1) * v * v.T
    return sympy.simplify(sympy.hessian(p**alpha * q ** (1 - alpha), (p, q)) - square)


def weighted(weight: Callable[[Any, Any], Any], size: int, moments: Sequence[Any]) -> Any:
    """The claimed moment: the sum of weight(N, j) times the moment of position j."""
    return sum((ball(Fraction(weight(Fraction(size), j))) * one for j, one in enumerate(moments)), arb(0))


def judge(weight: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Hold a claimed moment of a mixture of positions, made of theirs, against the exact one."""
    tried = 0
    for size, alpha in itertools.product(given.values("batches", most=4), (Fraction(2), *given.values("alpha"))):
        every = itertools.product(itertools.product(_LAWS, repeat=2), repeat=size)
        for laws in itertools.islice(every, 0, None if size < 3 else 20_000, 1 if size < 3 else 300):
            firsts, seconds = zip(*laws, strict=True)
            tried += 1
            with ctx.workprec(96):
                value = weighted(weight, size, [moment(p, q, alpha) for p, q in laws])
                true = moment(mean(firsts), mean(seconds), alpha)
                if value < true:
                    return refuted(
                        "a mixture of pairs of laws loses more, certified",
                        {"alpha": alpha, "P": str([list(map(str, p)) for p in firsts]),
                         "Q": str([list(map(str, q)) for q in seconds]), "claimed moment": value.str(8),
                         "moment": true.str(8)},
                    )
    size_, j = given.symbol("batches"), sympy.symbols("j", integer=True, nonnegative=True)
    last, before = sympy.symbols("P Q", real=True)  # the last law, and the sum of the N laws before it, at an outcome
    mixed = (before + last) / (size_ + 1)
    return proof(
        computed("p^alpha q^(1-alpha) has the Hessian alpha (alpha-1) p^(alpha-2) q^(-alpha-1) v v^T, v = (q, -p), and "
                 "alpha > 1", bool(hessian_gap().is_zero_matrix) and (given.chart("alpha") - 1).is_positive is True),
        argued("so it is jointly convex, and so is the moment of two pairs of laws, finite or with densities"),
        computed("N + 1 positions are N/(N+1) parts of the mixture of N and 1/(N+1) of the last: induction on N",
                 vanishes(size_ / (size_ + 1) * before / size_ + last / (size_ + 1) - mixed)),
        computed("the weight of every position is 1/N, for symbols N and j, which the induction gives",
                 size_.is_positive is True and vanishes(weight(size_, j) - 1 / size_)),
        tried=tried,
    )


theorem_4_6_mix = Claim(
    id="sbcd/thm-4.6-mix",
    source="001, Theorem 4.6, first display",
    quote=(
        r"since j_0 is uniformly distributed among the index set $\{0, 1, \dots, n/b - 1\}$, we use the joint "
        "convexity of scaled exponentiation of Rényi divergence to bound the final privacy loss "
        r"$\varepsilon_K(\alpha)$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon_K(\alpha) \le \frac{1}{\alpha - 1}\log\left(\sum_{j_0} \frac{b}{n}"
        r" e^{(\alpha - 1)\varepsilon_K(\alpha, j_0)}\right)"
    ),
    words="a record in a uniformly random batch, nobody knows which, loses the log of the mean of exponentials",
    hypotheses=(
        Parameter("alpha", low=Fraction(1), low_open=True), positive_integer("batches"),
    ),
    says=lambda size, position: 1 / size,
    check=judge,
    flips=(
        Flip("the first position alone", lambda size, position: Fraction(int(position == 0)), Verdict.REFUTED),
        Flip("half of it", lambda size, position: Fraction(1, 2) / size, Verdict.REFUTED),
        Flip("a weight of 1, which is weaker", lambda size, position: size / size, Verdict.UNDECIDED),
        Flip("0 from the fifth position on", lambda size, position: int(position < 4) / size
             if isinstance(position, int) else sympy.Piecewise((1 / size, position < 4), (0, True)), Verdict.UNDECIDED),
    ),
    uses=("sbcd/one-batch-per-epoch",),
    rests_on=("sbcd/one-batch-per-epoch-repaired",),
    expected="HOLDS ARGUED",
)
