"""The Gaussian mechanism as document 004 states it: without a range for epsilon."""

from fractions import Fraction

from oracle.core.domain import Parameter, positive, probability
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.tools.classical_calibration import calibration
from theorems.verdict import Verdict

_STATEMENT = (
    r"Z \sim \mathcal{N}\left(0,\ 2\left(\frac{\mathrm{GS}}{\varepsilon}\right)^2 \ln\frac{1.25}{\delta}\, I\right)"
    r" \text{ gives } (\varepsilon, \delta)\text{-DP}"
)

gaussian_mechanism = Claim(
    id="cs208/gaussian-mechanism",
    source="004, Gaussian mechanism",
    quote=(
        r"**Gaussian Mechanism:** $Z \sim \mathcal{N} \left(\vec{0}, 2 \left(\frac{\text{GS}_{f, "
        r"\ell_2}}{\varepsilon} \right)^2 \cdot \ln \frac{1.25}{\delta} \cdot I_k \right)$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=_STATEMENT,
    words="the classical Gaussian calibration is private, no range of epsilon given",
    hypotheses=(positive("epsilon"), probability("delta"), positive("sensitivity")),
    says=Fraction(5, 4),
    check=calibration,
    flips=(Flip("so much noise that no point tried fails", Fraction(10**600), Verdict.UNDECIDED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=_STATEMENT + r" \text{ for } 0 < \varepsilon \le 1,\ 0 < \delta < 1",
        words="the classical Gaussian calibration is private for epsilon up to 1",
        says=Fraction(5, 4),
        check=calibration,
        expected="HOLDS ARGUED",
        source="004, Gaussian mechanism, with the range it needs",
        hypotheses=(
            Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True), probability("delta"),
            positive("sensitivity"),
        ),
        flips=(Flip("1.25 replaced by 0.8", Fraction(4, 5), Verdict.REFUTED),),
        rests_on=("background/balle-wang",),
        untested={"sensitivity": "the noise is a multiple of it, so that it cancels: a step of the proof"},
        true_variants={"one more": "more noise is enough, too", "1 % *": "the proof has room: 1.2375 is enough, too"},
    ),
)
