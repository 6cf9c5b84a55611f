"""The Gaussian mechanism as document 002 states it (Lemma 1)."""

from fractions import Fraction

from oracle.core.domain import positive, probability
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.tools.classical_calibration import Calibration, calibration
from theorems.verdict import Verdict

_STATEMENT = (
    r"q(D) + \mathcal{N}\left(0,\ \frac{2\Delta_2^2 \log(1.25/\delta)}{\epsilon^2} I\right)"
    r" \text{ is } (\epsilon, \delta)\text{-DP}"
)

lemma_1 = Claim(
    id="nonconvex-nn/lem-1",
    source="002, Lemma 1",
    quote=r"Gaussian mechanism preserves (ϵ, δ) -DP for $0 < \epsilon, \delta < 1$.",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=_STATEMENT + r" \text{ for } 0 < \epsilon, \delta < 1",
    words="the classical Gaussian calibration is private for epsilon and delta in (0, 1)",
    hypotheses=(probability("epsilon"), probability("delta"), positive("sensitivity")),
    says=Calibration(largest=Fraction(1)),
    check=calibration,
    flips=(
        Flip("1.25 replaced by 0.8", Calibration(Fraction(1), constant=Fraction(4, 5)), Verdict.REFUTED),
        Flip("epsilon up to 5", Calibration(largest=Fraction(5)), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)

lemma_1_beyond = Claim(
    id="nonconvex-nn/lem-1-beyond",
    source="002, Lemma 1, read without its range",
    statement=_STATEMENT + r" \text{ for every } \epsilon > 0",
    words="the classical Gaussian calibration is private for every epsilon",
    hypotheses=(positive("epsilon"), probability("delta"), positive("sensitivity")),
    says=Calibration(largest=None),
    check=calibration,
    flips=(Flip("the range it needs", Calibration(largest=Fraction(1)), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-1",
    expected="REFUTED PROVED",
)
