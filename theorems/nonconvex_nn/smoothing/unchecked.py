"""What document 002, Sections 4.1.2 and 4.1.3, takes from other papers: nothing is computed about it."""

from __future__ import annotations

from functools import partial

from theorems.claim import Stake
from theorems.tools.unchecked import unchecked_claim

_TEXTS = "what another paper shows; its text is not among the documents: "


unchecked = partial(unchecked_claim, "nonconvex-nn", "002", severity=Stake.EDITORIAL)

norm = unchecked(
    "sec-4.1.2-norm-bassily", "Section 4.1.2: bounds that depend on |w_beta*|",
    "in Bassily et al. (2021) bounds for non-smooth convex losses depend on the norm of the smoothed minimiser",
    r"This phenomenon has also been observed in GLMs with convex and non-smooth loss functions Bassily et al. (2021).",
    _TEXTS + "its theorem for non-smooth losses would settle it; that any comparator may be used is "
             "nonconvex-nn/lem-10",
)
bisection = unchecked(
    "alg-4-bassily", "Section 4.1.2: bisection in the convex case",
    "Bassily et al. (2021) compute the gradient of the smoothed loss by bisection",
    r"In the convex GLM case, Bassily et al. (2021) used the bisection method to calculate $\nabla f_\beta(w; x, y)$.",
    _TEXTS + "its algorithm would settle it; that bisection can be used here, too, is alg-4-bisection-prose-repaired",
)
expectation = unchecked(
    "thm-6-expectation", "proof of Theorem 6: from an event to the expectation over Phi",
    "an argument of Arora et al. (2022b) turns the bound on an event into one in expectation, for a logarithm",
    r"Thus we can use the same argument as in the Proof of Lemma 8 in Arora et al. (2022b) to transform the above "
    r"result "
    r"to a result of the expectation w.r.t Φ with an additional logarithmic factor. Thus we have",
    _TEXTS + "its Lemma 8 would settle it; nonconvex-nn/thm-6-utility is proved in expectation without it",
)
descent = unchecked(
    "thm-6-bassily", "Section 4.1.3: the error bound of DP-PGD",
    "DP-PGD has the error bound of Bassily et al. (2014)",
    r"By combining the error bound of DP-PGD in Bassily et al. (2014) with our analysis, we obtain a bound of",
    _TEXTS + "its theorem would settle it; the branch that it stands for is nonconvex-nn/intro-relu-min, by its own "
             "proof",
)
