r"""Section 4.2 of document 001: privacy of the whole algorithm by summing what each block loses with the others fixed.

Two blocks of one number each, updated at the same time by theta <- A theta + noise: gradient steps of quadratics, block
1's coupled to theta_0, as the sub-problems of the document's (4) are. The record moves block 0 where it is read, and
block 1 never. With the other block fixed, block 1 loses nothing and block 0 what the repaired recursion says. But in a
step without the record block 1 reads theta_0, which depends on it.
All laws are Gaussian, so the divergence of the pair (theta_0, theta_1) is known exactly: R/alpha = m^T C^{-1} m / 2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy

from oracle.core.domain import positive, positive_integer
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.sbcd.accounting import BlockSetting, recursion
from theorems.verdict import Finding, Scope, Verdict, at_points, refuted

_VALUES = (Fraction(0), Fraction(1, 2), Fraction(1))


@dataclass(frozen=True)
class CoupledBlocks:
    """Two coupled blocks: own factors of theta_0 and theta_1, and how much of theta_0 goes into theta_1."""

    own: Fraction
    other: Fraction
    coupling: Fraction
    epochs: int
    batches: int
    before: int

    def witness(self) -> dict[str, str]:
        """The pair in words."""
        return {
            "theta_0": f"{self.own} theta_0 + N(0, 1), moved by 1/2 where the record is read",
            "theta_1": f"{self.coupling} theta_0 + {self.other} theta_1 + N(0, 1)",
            "epochs": str(self.epochs), "batches": str(self.batches), "j_0": str(self.before),
        }


def pairs() -> list[CoupledBlocks]:
    """Small pairs, the simplest first; the record is read once an epoch."""
    shapes = [(1, 2, 0), (1, 3, 0), (1, 3, 1), (2, 2, 0), (2, 2, 1)]
    return [
        CoupledBlocks(own, other, coupling, *shape)
        for shape, own, other, coupling in itertools.product(shapes, _VALUES, _VALUES, reversed(_VALUES))
    ]


def exact_law(pair: CoupledBlocks) -> Fraction:
    """R / alpha of the last iterate of both blocks, exactly."""
    step = sympy.Matrix([[pair.own, 0], [pair.coupling, pair.other]])
    mean, covariance = sympy.zeros(2, 1), sympy.zeros(2, 2)
    for batch in itertools.chain.from_iterable(range(pair.batches) for _ in range(pair.epochs)):
        touch = sympy.Matrix([sympy.Rational(int(batch == pair.before), 2), 0])
        mean, covariance = step * mean + touch, step * covariance * step.T + sympy.eye(2)
    value = sympy.Rational((mean.T * covariance.inv() * mean)[0] / 2)
    return Fraction(int(value.p), int(value.q))


def summed(pair: CoupledBlocks) -> Fraction:
    """The sum of what each block loses with the other fixed: block 1 never reads the record."""
    return recursion(BlockSetting((Fraction(1),) * pair.epochs, pair.batches, pair.before, pair.own, Fraction(1)))


def composed(pair: CoupledBlocks) -> Fraction:
    """R / alpha with every iterate released, from the registered bound: one entry for each touch of block 0."""
    result = bound("sbcd-composition.rdp").at({
        "alpha": 2, "learning_rate": Fraction(1, 2), "batch_size": 1, "sensitivities": [1] * pair.epochs,
        "noise_variances": [1] * pair.epochs,
    })
    return result.upper.to_fraction() / 2


def judge(says: Callable[[CoupledBlocks], Fraction], given: Domain) -> Finding:
    """Hold a claimed R/alpha of both blocks against the exact one."""
    every = pairs()
    scope = Scope("points", len(every), len(every), {"factors and coupling": "0, 1/2, 1", "K": "1, 2", "n/b": "2, 3"})
    for pair in every:
        claimed, true = says(pair), exact_law(pair)
        if claimed < true:
            return refuted(
                "the two blocks together reveal more than claimed, exactly: in a step that does not read the record, "
                "block 1 reads block 0, which depends on it",
                {**pair.witness(), "claimed R/alpha": str(claimed), "exact R/alpha": str(true)},
            )
    summary = f"never below the exact law of {len(every)} pairs of coupled blocks"
    return at_points(summary, scope)


_HYPOTHESES = (positive("eta"), positive("sensitivity"), positive_integer("batch_size"), positive("noise"))

fixed_blocks = Claim(
    id="sbcd/fixed-blocks",
    source="001, Section 4.2 and the proof sketch of Theorem 4.6",
    quote=(
        "we can establish an upper bound of the privacy loss of Algorithm 2 by summing the privacy losses of its "
        "individual sub-problems."
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=(
        r"\varepsilon(\alpha) \le \sum_d \varepsilon_d(\alpha),"
        r" \quad \varepsilon_d \text{ computed with } \theta_{d'}, d' \ne d, \text{ fixed}"
    ),
    words="the last iterate loses at most the sum of what its blocks lose, each with the others fixed",
    hypotheses=_HYPOTHESES,
    says=summed,
    check=judge,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"R_\alpha \le \frac{\alpha\eta}{4b^2} \sum_i \frac{S_i^2}{o_i},"
            r" \quad i \text{ over the updates that read the record}",
        words="the algorithm loses at most the sum over all updates that read the record, without any decay",
        says=composed,
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.2, repaired: all iterates released",
        flips=(Flip("half of it", lambda pair: composed(pair) / 2, Verdict.REFUTED),),
    ),
)
