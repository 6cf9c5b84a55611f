r"""Appendix D of document 000: "directly apply" Theorem D.3, that is Algorithm 1, to problem (3.4) or (3.6).

Algorithm 1 projects onto a set C, which is an input like the loss: for privacy it must not depend on the records. The
constraints (3.5) of problem (3.4), (2 D_i - I) X v_i >= 0, say that v_i lies on the same side of every record as u_i.
Replacing a record turns the half-space, so iterates that one data set allows the other forbids: outputs there reveal
the record whatever the noise. Problem (3.6) has no constraints.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import sympy

from oracle.core.domain import positive_integer
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

Vector = tuple[Any, ...]
Allowed = Callable[[Vector, Vector, Vector], Any]
"""(record x, direction u, block v) -> whether the constraint set allows v: a bool, or for symbols a relation."""

_PLANE = tuple(itertools.product((1, 0, -1), repeat=2))
_RECORDS = ((1, 0), (0, 1), (1, 1), (1, -1), (-1, 0))


def _dot(a: Vector, b: Vector) -> Any:
    return sum(p * q for p, q in zip(a, b, strict=True))


def same_side(x: Vector, u: Vector, v: Vector) -> bool:
    """(3.5) for one record: (2 1(x^T u >= 0) - 1) x^T v >= 0."""
    return bool((2 * int(_dot(x, u) >= 0) - 1) * _dot(x, v) >= 0)


def judge_set(allowed: Allowed, given: Domain) -> Finding:
    """Whether the constraint set is the same for every record, on the integer points of a small square, d = 2."""
    for u in ((1, 1), (1, 0), (1, -1)):
        for x, other in itertools.permutations(_RECORDS, 2):
            for v in _PLANE:
                if allowed(x, u, v) and not allowed(other, u, v):
                    return refuted(
                        "one data set allows what its neighbour forbids, exactly",
                        {"u": str(list(u)), "record": str(list(x)), "other record": str(list(other)),
                         "v": str(list(v))},
                    )
    x_, u_, v_ = (tuple(sympy.symbols(f"{name}0:2", real=True)) for name in "xuv")
    if allowed(x_, u_, v_) is not True:
        cases = len(_RECORDS) * len(_PLANE)
        return undecided("the same at these points", cases)
    return proof(argued(
        "every v is allowed, whatever the record (symbols): nothing could depend "
        "on it"
    ))


_HYPOTHESES = (positive_integer("n"), positive_integer("d"), positive_integer("P"))
_EVERYTHING: Allowed = lambda x, u, v: True  # noqa: E731

constrained = Claim(
    id="relu-approx/thm-D.3-applies",
    source="000, Appendix D: Theorem D.3 applies directly to problem (3.4), whose constraint set is (3.5)",
    quote=(
        "We can directly apply the following classical result from ERM for the DP-GD (Alg. 1) to the stochastic "
        "problem (3.4) or (3.6)."
    ),
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\mathcal{C} = \{v: (2D_i - I)Xv_i \ge 0\} \text{ does not depend on the records}",
    words="the constraint set of problem (3.4), onto which Algorithm 1 projects, is the same for neighbouring data",
    hypotheses=_HYPOTHESES,
    says=same_side,
    check=judge_set,
    uses=("relu-approx/thm-D.3",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathcal{C} = \mathbb{R}^{dP}",
        words="problem (3.6) has no constraints, so Algorithm 1's projection does not depend on the data",
        says=_EVERYTHING,
        expected="HOLDS ARGUED",
        source="000, Appendix D, for problem (3.6)",
        flips=(
            Flip("the other side", lambda x, u, v: not same_side(x, u, v), Verdict.REFUTED),
            Flip("a half-plane of the record, beyond the points tried", lambda x, u, v: _dot(x, v) < 1000,
                 Verdict.UNDECIDED),
        ),
    ),
)
