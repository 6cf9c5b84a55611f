"""The Gaussian mechanism as document 002 states it (Lemma 1)."""

from fractions import Fraction

from oracle.core.domain import positive, probability
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.tools.classical_calibration import calibration
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
    severity=Stake.PRIVACY,
    statement=_STATEMENT + r" \text{ for } 0 < \epsilon, \delta < 1",
    words="the classical Gaussian calibration is private for epsilon and delta in (0, 1)",
    hypotheses=(probability("epsilon"), probability("delta"), positive("sensitivity")),
    says=Fraction(5, 4),
    check=calibration,
    flips=(Flip("1.25 replaced by 0.8", Fraction(4, 5), Verdict.REFUTED),),
    rests_on=("background/balle-wang",),
    untested={"sensitivity": "the noise is a multiple of it, so that it cancels: a step of the proof"},
    true_variants={"one more": "more noise is enough, too", "1 % *": "the proof has room: 1.2375 is enough, too"},
    expected="HOLDS ARGUED",
)

lemma_1_beyond = Claim(
    id="nonconvex-nn/lem-1-beyond",
    source="a finding of ours: the range that 002, Lemma 1 prints is needed",
    statement=_STATEMENT + r" \text{ for every } \epsilon > 0",
    words="the classical Gaussian calibration is private for every epsilon, which the document does not say",
    hypotheses=(positive("epsilon"), probability("delta"), positive("sensitivity")),
    says=Fraction(5, 4),
    check=calibration,
    flips=(Flip("so much noise that no point tried fails", Fraction(10**600), Verdict.UNDECIDED),),
    repaired_by="nonconvex-nn/lem-1",
    expected="REFUTED PROVED",
)
