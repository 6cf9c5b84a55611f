r"""Two standard facts on matrices that checks of document 000's Appendix D lean on; cited, not proved here.

Golden and Thompson 1965: tr e^{A+B} <= tr e^A e^B for Hermitian A and B. Davidson and Szarek 2001 (Gordon's comparison
and Gaussian concentration): the largest singular value of an n x d matrix of independent N(0, 1) entries exceeds
sqrt n + sqrt d + t with a probability of at most e^{-t^2/2}.
"""

from __future__ import annotations

from oracle.core.domain import non_negative, positive_integer
from theorems.claim import Claim, Stake, citing
from theorems.verdict import Verdict

golden_thompson = Claim(
    id="background/golden-thompson",
    source="Golden 1965 and Thompson 1965",
    severity=Stake.UTILITY,
    statement=r"\operatorname{tr} e^{A+B} \le \operatorname{tr} e^{A} e^{B}",
    words="the trace of the exponential of a sum of Hermitian matrices is at most that of the exponentials' product",
    hypotheses=(positive_integer("n"),),
    says=None,
    check=citing(Verdict.HOLDS, "a classical theorem (Golden 1965, Thompson 1965); its proof is not repeated here"),
    expected="HOLDS CITED",
)

gaussian_matrix_norm = Claim(
    id="background/gaussian-matrix-norm",
    source="Davidson and Szarek 2001, Theorem II.13",
    severity=Stake.UTILITY,
    statement=r"\mathbb{P}\big(\|X\| > \sqrt{n} + \sqrt{d} + t\big) \le e^{-t^2/2}, \quad X_{ij} \sim N(0,1)",
    words="the norm of an n x d Gaussian matrix exceeds sqrt n + sqrt d + t with probability at most e^{-t^2/2}",
    hypotheses=(positive_integer("n"), positive_integer("d"), non_negative("t")),
    says=None,
    check=citing(Verdict.HOLDS, "a classical theorem (Davidson and Szarek 2001); its proof is not repeated here"),
    expected="HOLDS CITED",
)
