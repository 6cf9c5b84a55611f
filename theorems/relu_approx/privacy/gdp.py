"""Lemma 2.5 of document 000: the privacy curve that characterises mu-GDP (`theorems/tools/gaussian_curve.py`)."""

from __future__ import annotations

from oracle.core.domain import non_negative, positive
from theorems.claim import Claim, Flip, Severity, Whose
from theorems.tools.exact_gaussian_curve import check, curve
from theorems.verdict import Verdict

lemma_2_5 = Claim(
    id="relu-approx/lem-2.5",
    source="000, Lemma 2.5 (Dong, Roth and Su 2022, Cor. 2.13)",
    quote=(
        r"A mechanism $\mathcal{M}$ is $\mu$ -GDP if and only it is $(\varepsilon, \delta)$ -DP for all "
        r"$\varepsilon \geq 0$ , where $$\delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{\mu} + "
        r"\frac{\mu}{2}\right) - \mathrm{e}^{\varepsilon}\Phi\left(-\frac{\varepsilon}{\mu} - "
        r"\frac{\mu}{2}\right).$$"
    ),
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=(
        r"\mathcal{M} \text{ is } \mu\text{-GDP} \iff \text{it is } (\varepsilon, \delta(\varepsilon))\text{-DP}"
        r" \text{ for all } \varepsilon \ge 0,"
        r"\quad \delta(\varepsilon) = \Phi\left(-\frac{\varepsilon}{\mu} + \frac{\mu}{2}\right)"
        r" - e^{\varepsilon} \Phi\left(-\frac{\varepsilon}{\mu} - \frac{\mu}{2}\right)"
    ),
    words="mu-GDP is the same as the Gaussian privacy curve at every epsilon >= 0",
    hypotheses=(positive("mu"), non_negative("epsilon")),
    says=curve,
    check=check,
    flips=(
        Flip("mu/2 with the other sign", lambda e, mu, tail, exp: curve(e, -mu, tail, exp), Verdict.REFUTED),
        Flip(
            "the second term without e^epsilon",
            lambda e, mu, tail, exp: tail(e / mu - mu / 2) - tail(e / mu + mu / 2), Verdict.REFUTED,
        ),
    ),
    expected="HOLDS ARGUED",
)
