r"""What Lemma 3.2's false constant does to document 000's experiments: which step sizes of Appendix H are admissible.

Theorem 2.8 needs eta < 2/beta: with the document's beta = s |x|^2 + lambda, s = 1/2 for cross-entropy, or the true one,
s a |x|^2 + lambda, a the number of active hyperplanes, P/2 on average. Assumed, since the document does not tell
its preprocessing: unit norms, or pixels in [0, 1] with the usual mean squared norms 87.8 (MNIST) and 883 (CIFAR-10),
which are not measured here; lambda is left out, which only enlarges the admissible range. The document reads Theorem
2.8 with the unclipped loss's beta; that clipping at a level it does not tell can make the loss smoother is looked at in
coverage.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.experiments.reporting import STEP_EXPONENTS
from theorems.verdict import Finding, Verdict, instance, refuted

Row = tuple[Fraction, int]  # (|x|^2, P)

Counts = tuple[int, int, int]
_TABLE: Mapping[Row, Counts] = {
    (Fraction(1), 128): (6, 4, 3), (Fraction(1), 256): (6, 3, 3), (Fraction("87.8"), 64): (4, 1, 0),
    (Fraction("87.8"), 128): (4, 0, 0), (Fraction(883), 32): (2, 0, 0),
}
"""(|x|^2, P) -> how many of the six step sizes are below 2/beta: with the document's beta, with that of a = P/2 active
hyperplanes, and with that of a = P, which every record needs."""


def admissible(limit: Fraction) -> int:
    """How many 10^e of the grid are below the limit, exactly: 10^e < limit is 10^{2e} < limit^2."""
    return sum(Fraction(10) ** int(2 * exponent) < limit**2 for exponent in STEP_EXPONENTS)


def steepest() -> Fraction:
    """The softmax Hessian diag(p) - p p^T along w = (1, -1)/sqrt 2 at p = (1/2, 1/2): its largest value, 1/2."""
    p, w = (Fraction(1, 2),) * 2, (1, -1)
    mean = sum((q * v for q, v in zip(p, w, strict=True)), Fraction(0))
    return (sum((q * v * v for q, v in zip(p, w, strict=True)), Fraction(0)) - mean * mean) / 2


def counts(square: Fraction, hyperplanes: int) -> Counts:
    """The three counts for cross-entropy: beta = |x|^2/2 times 1, P/2 or P."""
    average, every = (admissible(2 / (steepest() * square * a)) for a in (Fraction(hyperplanes, 2), hyperplanes))
    return admissible(2 / (steepest() * square)), average, every


def judge_table(table: Mapping[Row, Counts], given: Domain) -> Finding:
    """Whether the counts of admissible step sizes are those of a table."""
    for (square, hyperplanes), claimed in table.items():
        true = counts(square, hyperplanes)
        if true != claimed:
            return refuted(
                "another number of step sizes is admissible, exactly",
                {"|x|^2": square, "P": hyperplanes, "claimed": claimed, "admissible": true,
                 "2/beta": 4 / (square * Fraction(hyperplanes, 2))},
            )
    return instance("; ".join(
        f"|x|^2 = {float(square):g}, P = {hyperplanes}: {paper} by the document, {average} on average, {every} for "
        "every record" for (square, hyperplanes), (paper, average, every) in table.items()
    ))


_ALL_SIX: Mapping[Row, Counts] = {(Fraction(1), 128): (6, 6, 6), (Fraction(1), 256): (6, 6, 6)}

consequence = Claim(
    id="relu-approx/lem-3.2-consequence",
    source="000, Sections 3.4 and 6 with Appendix H: Theorem 2.8 is used at every step size of the grid, |x| = 1",
    quote=r"The learning rate $\eta$ is tuned in all alternatives using the grid",
    whose=Whose.READING,
    severity=Stake.PRIVACY,
    statement=r"\eta < 2/\beta \text{ for every } \eta \in \{10^{-3}, \dots, 10^{-0.5}\},\ P \in \{128, 256\}",
    words="every step size of the document's grid is admissible for Theorem 2.8 with the unclipped loss: "
          "cross-entropy, unit norms, P/2 or P active hyperplanes (assumed; the document does not say so)",
    hypotheses=(), says=_ALL_SIX, check=judge_table,
    flips=(Flip("four and three of six", {row: _TABLE[row] for row in _ALL_SIX}, Verdict.HOLDS),),
    uses=("relu-approx/lem-3.2", "relu-approx/thm-2.8-eta"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\#\{\eta : \eta < 2/\beta\} = 4, 3, 1, 0, 0 \text{ of } 6 \text{ for } a = P/2,"
                  r"\ 3, 3, 0, 0, 0 \text{ for } a = P",
        words="at the five settings of the register's table 4, 3, 1, 0 and 0 of the six step sizes are admissible "
              "where P/2 hyperplanes are active, the mean, and 3, 3, 0, 0 and 0 for every record",
        says=_TABLE,
        expected="HOLDS ARGUED",
        source="000, Appendix H, with the unclipped loss's true smoothness a|x|^2/2 (87.8 and 883 are recalled)",
        flips=(Flip("one more at P = 256", {**_TABLE, (Fraction(1), 256): (6, 4, 3)}, Verdict.REFUTED),),
        rests_on=("relu-approx/lem-3.2-repaired", "relu-approx/thm-2.8-eta-repaired"),
    ),
)
