"""What the introduction, Section 2 and Remark 3 of document 002 say of other papers, and who was first.

Nothing of it can be checked here: the texts are not among the documents. Where the document's own use of such a
statement can be checked, it is a claim of its own (rem-3-better, rem-3-consistent, theta-two-definitions).
"""

from __future__ import annotations

from functools import partial

from theorems.claim import Stake
from theorems.tools.unchecked import unchecked_claim

unchecked = partial(unchecked_claim, "nonconvex-nn", "002", severity=Stake.EDITORIAL)


def _text(of: str) -> str:
    return f"the text of {of} would settle it, and is not among the documents"


wang = unchecked(
    "related-wang2019a", "Section 2: Wang et al. 2019a for general non-convex losses",
    "for general non-convex losses Wang et al. 2019a have the bound d/(log(n) epsilon)",
    r"provided the first study of DP-ERM with general non-convex loss, but their bound is "
    r"$O(\frac{d}{(\log n)\epsilon})$, which is quite large.", _text("Wang et al. 2019a"),
    statement=r"O\Big(\frac{d}{\epsilon\log n}\Big)", severity=Stake.UTILITY,
)
jain = unchecked(
    "related-jain", "Section 2: Jain and Thakurta 2014 for convex generalised linear losses",
    "Jain and Thakurta 2014 have the rate 1/sqrt(n epsilon) for unconstrained generalised linear losses",
    r"showed that in the unconstrained case, the error bound can achieve $\tilde{O}(\frac{1}{\sqrt{n\epsilon}})$ in "
    r"general", _text("Jain and Thakurta 2014"), statement=r"\tilde O(1/\sqrt{n\epsilon})", severity=Stake.UTILITY,
)
kasiviswanathan = unchecked(
    "related-kasiviswanathan", "Section 2: Kasiviswanathan and Jin 2016, constrained",
    "in the constrained case the error depends on the Gaussian width of the constraint set only",
    r"showed that in the constrained case, the error bound could only depend on the Gaussian width of the underlying "
    r"constraint set.", _text("Kasiviswanathan and Jin 2016"),
)
song = unchecked(
    "related-song", "Section 2: Song et al. 2021, sqrt(theta)/(n epsilon)",
    "Song et al. 2021 have the bound sqrt(theta)/(n epsilon) in the unconstrained setting",
    r"showed an improved bound of $O(\frac{\sqrt{\theta}}{n\epsilon})$", _text("Song et al. 2021"),
    statement=r"O\Big(\frac{\sqrt\theta}{n\epsilon}\Big)", severity=Stake.UTILITY,
)
bassily = unchecked(
    "related-bassily", "Section 2: Bassily et al. 2021, various settings",
    "Bassily et al. 2021 treat smooth and non-smooth losses in l_p for 1 <= p <= 2",
    r"considered various settings where the loss could be smooth/non-smooth and in the ℓ_p space for general $1 \leq p "
    r"\leq 2$.", _text("Bassily et al. 2021"),
)
arora = unchecked(
    "related-arora", "Section 2 and Remark 3: the optimal rates of Arora et al. 2022b",
    "Arora et al. 2022b have optimal rates for smooth non-negative and for Lipschitz generalised linear losses",
    r"it showed the optimal rate of $\tilde{O}(\frac{1}{\sqrt{n}} + \min\{\frac{1}{(n\epsilon)^{2/3}}, "
    r"\frac{\sqrt{d}}{n\epsilon}\})$.", _text("Arora et al. 2022b") + "; how it compares is rem-3-consistent",
    statement=r"\tilde O\Big(\tfrac{1}{\sqrt n} + \min\{(n\epsilon)^{-2/3}, \tfrac{\sqrt d}{n\epsilon}\}\Big)",
    severity=Stake.UTILITY,
)
hu = unchecked(
    "related-hu", "Section 2: Wang et al. 2019a and Hu et al. 2022, logarithmic in the dimension",
    "for some generalised linear models over an l_1 ball there are bounds that are logarithmic in the dimension",
    "studied the excess population risk for some specific GLMs and showed that their bound can be only logarithmic in "
    "the dimension.", _text("Hu et al. 2022"),
)
gradients = unchecked(
    "related-gradient-norm", "Sections 1 and 2: the gradient norm is inadequate (Agarwal et al. 2017)",
    "a small gradient does not tell how close a private model is to the optimal solution",
    "using the gradient norm is inadequate for indicating how close the private model is to the optimal solution "
    "Agarwal et al. (2017).", _text("Agarwal et al. 2017"),
)
stationary = unchecked(
    "related-second-order", "Section 2: second-order stationary points are minima in some problems",
    "for matrix completion and dictionary learning every second-order stationary point is a global minimum",
    "any second-order stationary point is a local minimum of the problem, and all the local minima are the global "
    "minimum.", "no theorem is named; the papers on matrix completion and dictionary learning would settle it",
)
first = unchecked(
    "intro-first", "introduction: the first comprehensive study of private fully connected networks",
    "nobody had bounded the excess risk of private fully connected networks before",
    "this paper provides the first comprehensive and theoretical study",
    "a statement about all earlier work; a search of the literature would settle it",
)
narrow = unchecked(
    "intro-prior", "introduction: most earlier work has convex losses, or gradient norms",
    "most earlier work on private optimisation has convex losses, or bounds gradient norms",
    "most of the existing work considers the case where the loss function is convex.",
    "a statement about most of the literature; a survey would settle it",
)
lower = unchecked(
    "rem-3-lower", "Remark 3: the lower bound of Arora et al. 2022b for Lipschitz losses",
    "for Lipschitz generalised linear losses n^(-1/2) + min{sqrt(theta)/(n epsilon), (n epsilon)^(-1/2)} is optimal",
    r"which is near-optimal at $O(n^{-\frac{1}{2}} + \min\{\sqrt{\theta}(n\epsilon)^{-1}, "
    r"(n\epsilon)^{-\frac{1}{2}}\})$.", _text("Arora et al. 2022b"), severity=Stake.UTILITY,
    statement=r"\Omega(n^{-1/2} + \min\{\sqrt\theta(n\epsilon)^{-1}, (n\epsilon)^{-1/2}\})",
)
absolute_loss = unchecked(
    "rem-3-abs-loss", "Remark 3: the lower bound holds for the absolute loss only",
    "the lower bound for Lipschitz losses holds only for the absolute loss",
    r"the above lower bound for DP-GLL only holds for the case where $L_{\mathcal{P}}(w) = \mathbb{E}[|y - \langle w, "
    r"x \rangle|]$", _text("Arora et al. 2022b") + "; that this loss is not smooth is rem-3-abs-smooth",
    statement=r"L_{\mathcal{P}}(w) = \mathbb{E}|y - \langle w, x\rangle|", severity=Stake.UTILITY,
)
log_factor = unchecked(
    "thm-2-log-factor", "proof of Theorem 2: an argument of Arora et al. 2022b costs a logarithm",
    "a bound that holds with probability 1 - delta over the projection holds in expectation up to a logarithm",
    r"Thus we can use the same argument as in the Proof of Lemma 8 in Arora et al. (2022b) to transform the above "
    r"result to a result of the expectation w.r.t Φ with an additional logarithmic factor.",
    _text("Arora et al. 2022b") + "; it is not needed: lem-9-averaged and thm-2-utility-no-log", severity=Stake.PROOF,
)
feldman = unchecked(
    "thm-1-feldman", "proof of Theorem 1: Theorem 4.4 of Feldman et al. 2020",
    "Theorem 4.4 of Feldman et al. 2020 gives the privacy of phased SGD if eta <= 2/G",
    r"by Theorem 4.4 in Feldman et al. (2020) we can see it is (ϵ, δ) -DP when $\eta \leq \frac{2}{G}$.",
    _text("Feldman et al. 2020") + "; the privacy itself is thm-1-privacy-repaired", severity=Stake.PRIVACY,
)
last_iterate = unchecked(
    "shamir-zhang-last", "Section 6: the last iterate has similar utility (Shamir and Zhang 2013)",
    "the last iterate has similar utility as the average",
    "we can still obtain a similar utility for the last iteration weight matrices by using the same strategy as",
    "how similar is not said; the text of Shamir and Zhang 2013 (a factor log T) would settle it",
)
