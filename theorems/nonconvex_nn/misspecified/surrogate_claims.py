"""What Section 4.2 of document 002 says of its surrogate: the claims; `surrogate` has the proofs and the checks."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import non_negative, positive, real, vector
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.nonconvex_nn.misspecified import surrogate as on
from theorems.nonconvex_nn.misspecified.laws import MENDED, relu
from theorems.verdict import Verdict

gradient = Claim(
    id="nonconvex-nn/grad-identity",
    source="002, Section 4.2: the gradient of the surrogate's population risk",
    quote=(
        r"we can easily get that $\chi^{\sigma w} - \chi_{\mathcal{P}}$ is the gradient of the population risk "
        r"function "
        r"of the surrogate loss function in (2), i.e., $\nabla L_{\mathcal{P}}^{\ell}(w) = \chi^{\sigma w} - "
        r"\chi_{\mathcal{P}}$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\nabla L_{\mathcal{P}}^{\ell}(w) = \mathbb{E}[\sigma(\langle w, x\rangle) x] - \mathbb{E}[yx]",
    words="the gradient of the surrogate's population risk is chi_w - chi_P",
    hypotheses=(real("score"), real("label")),
    says=lambda score, label, x: ((score + abs(score)) / 2 - label) * x, check=on.judge_gradient,
    flips=(Flip("the label added", lambda score, label, x: ((score + abs(score)) / 2 + label) * x, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
symmetric = Claim(
    id="nonconvex-nn/relu-symmetric-closed-form",
    source="a finding of ours on 002, Section 4.2: chi_w for symmetric isotropic x",
    severity=Stake.UTILITY,
    statement=r"x \overset{d}{=} -x,\ \mathbb{E}xx^T = I \Rightarrow \mathbb{E}\,\mathrm{relu}(\langle w, x\rangle)x"
              r" = w/2",
    words="for a symmetric isotropic law E relu(<w,x>) x is w/2 exactly, so that the surrogate's gradient is linear",
    hypotheses=(vector("w"),), says=lambda w: w / 2, check=on.judge_symmetric,
    flips=(Flip("w/3", lambda w: w / 3, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
minimiser = Claim(
    id="nonconvex-nn/relu-symmetric-closed-form-minimiser",
    source="a finding of ours on 002, Section 4.2: w_l for symmetric isotropic x",
    severity=Stake.UTILITY,
    statement=r"w_\ell^* = 2\,\mathbb{E}[yx]",
    words="for a symmetric isotropic law the surrogate's minimiser is 2 E[yx]",
    hypotheses=(), says=lambda c: 2 * c, check=on.judge_minimiser,
    flips=(Flip("E[yx]", lambda c: c, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/relu-symmetric-closed-form",),
    expected="HOLDS ARGUED",
)
convex = Claim(
    id="nonconvex-nn/strong-convexity-mu",
    source="002, Section 4.2: the surrogate is mu-strongly convex for isotropic log-concave laws",
    quote=(
        r"Secondly, for ReLU regression, there exists a constant $\mu > 0$ such that σ is μ -strongly convex w.r.t "
        r"\mathcal{P}_x if the marginal distribution is isotropic and log-concave Diakonikolas et al. (2020), i.e., "
        r"for any w, v we have $\langle \chi_{\mathcal{P}}^{\sigma w} - \chi_{\mathcal{P}}^{\sigma v}, w - v \rangle "
        r"\geq \mu \|w - v\|_2^2$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\exists \mu > 0:\ \langle \chi^{\sigma_w} - \chi^{\sigma_v}, w - v\rangle \ge \mu \lVert w - v "
              r"\rVert_2^2",
    words="the surrogate of a ReLU is strongly convex under isotropic log-concave laws, with one mu > 0 for all of "
          "them",
    hypotheses=(real("a", "<w,x>"), real("b", "<v,x>")), says=relu, check=on.judge_link,
    flips=(Flip("a link that is 0", lambda z: 0 * z, Verdict.REFUTED),
           Flip("a falling link", lambda z: -z, Verdict.REFUTED),
           Flip("the identity, too", lambda z: z, Verdict.HOLDS)),
    true_variants={
        "1 % *": "a multiple of a ReLU has a constant, too", "2 -> 3*": "a multiple of a ReLU has a constant, too",
        "/ -> [*] *": "a multiple of a ReLU has a constant, too", "squared": "relu squared rises where scores are "
                                                                             "positive",
    },
    expected="HOLDS ARGUED",
)
convex_half = Claim(
    id="nonconvex-nn/strong-convexity-mu-symmetric",
    source="a finding of ours on 002, Section 4.2: mu for symmetric isotropic x",
    severity=Stake.UTILITY,
    statement=r"\langle \chi^{\sigma_w} - \chi^{\sigma_v}, w - v\rangle = \tfrac12 \lVert w - v \rVert_2^2",
    words="for symmetric isotropic laws mu is 1/2, with equality for all w and v",
    hypotheses=(vector("w"), vector("v")), says=Fraction(1, 2), check=on.judge_half,
    flips=(Flip("1/4", Fraction(1, 4), Verdict.REFUTED),),
    rests_on=("nonconvex-nn/relu-symmetric-closed-form",),
    expected="HOLDS ARGUED",
)
convex_exponential = Claim(
    id="nonconvex-nn/strong-convexity-mu-exponential",
    source="a finding of ours on 002, Section 4.2: mu for a centred exponential law",
    severity=Stake.UTILITY,
    statement=r"x + 1 \sim \mathrm{Exp}(1) \Rightarrow \mu = 1 - 2/e",
    words="for a centred exponential law in one dimension mu is 1 - 2/e = 0.2642",
    hypotheses=(), says=lambda e: 1 - 2 / e, check=on.judge_exponential,
    flips=(Flip("1 - 1/e", lambda e: 1 - 1 / e, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
convex_product = Claim(
    id="nonconvex-nn/strong-convexity-mu-product",
    source="a finding of ours on 002, Section 4.2: mu for independent centred exponentials, d >= 2",
    severity=Stake.UTILITY,
    statement=r"\mu \le 1 - \frac{19}{3e^2} = 0.1429",
    words="for two or more independent centred exponentials mu is at most 1 - 19/(3 e^2) = 0.1429",
    hypotheses=(), says=lambda e: 1 - Fraction(19, 3) / e**2, check=on.judge_product,
    flips=(Flip("1 - 2/e, as in one dimension", lambda e: 1 - 2 / e, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
lemma_11 = Claim(
    id="nonconvex-nn/lem-11",
    source="002, Lemma 11, and Section 4.2",
    quote=(
        r"the distance between $\chi_{\mathcal{P}}^{\sigma w}$ and $\chi_{\mathcal{P}}$ is bounded by "
        r"$\sqrt{L_{\mathcal{P}}(w)}$, i.e., $\|\chi_{\mathcal{P}}^{\sigma w} - \chi_{\mathcal{P}}\|_2 \leq "
        r"\sqrt{L_{\mathcal{P}}(w)}$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\lVert \chi^{\sigma_w} - \chi_{\mathcal{P}} \rVert_2^2 \le L_{\mathcal{P}}(w)",
    words="for isotropic x the surrogate's gradient is no longer than the root of the risk",
    hypotheses=(non_negative("risk"),), says=lambda risk: risk, check=on.judge_distance,
    flips=(Flip("half the risk", lambda risk: risk / 2, Verdict.REFUTED),
           Flip("twice the risk", lambda risk: 2 * risk, Verdict.HOLDS)),
    true_variants={"1 % more": "a weaker bound", "any risk": "a risk is a mean square"},
    expected="HOLDS ARGUED",
)
lemma_12 = Claim(
    id="nonconvex-nn/lem-12",
    source="002, Lemma 12: 'some constant mu', where mu is the constant of strong convexity in Section 4.2",
    quote=(
        r"Under Assumption 2, we have $\mathbb{E}_{\mathcal{P}}[(\sigma(\langle w, x \rangle) - \sigma(\langle w^*, x "
        r"\rangle))^2] \leq \mu(\|\chi_{\mathcal{P}}^{\sigma w} - \chi_{\mathcal{P}}^{\sigma w^*}\|_2^2)$ with some "
        r"constant μ ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}(\sigma_w - \sigma_{w^*})^2 \le \mu \lVert \chi^{\sigma_w} - \chi^{\sigma_{w^*}} \rVert_2^2",
    words="the mean square between two ReLUs is at most mu times that between their chi",
    hypotheses=(on.MU,), says=None, check=None,
    readings=("nonconvex-nn/lem-12-reading-convexity", "nonconvex-nn/lem-12-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"\mathbb{E}(\sigma_w - \sigma_{w^*})^2 \le \frac1\mu \lVert \chi^{\sigma_w} - \chi^{\sigma_{w^*}} "
                  r"\rVert_2^2",
        words="with mu the constant of strong convexity, Lemma 12 holds with the constant 1/mu, which is the least",
        says=lambda mu: 1 / mu, check=on.judge_constant,
        expected="HOLDS ARGUED",
        source="002, Lemma 12 with 1/mu",
        flips=(Flip("mu itself", lambda mu: mu, Verdict.REFUTED),
               Flip("1/mu^2, which is weaker", lambda mu: 1 / mu**2, Verdict.UNDECIDED)),
        rests_on=("nonconvex-nn/strong-convexity-mu",),
        true_variants={"1 % more": "a weaker bound", "1 -> 2 *": "a weaker bound"},
    ),
)
lemma_12_convexity = Claim(
    id="nonconvex-nn/lem-12-reading-convexity",
    source="002, Lemma 12 with mu the constant of strong convexity, the only mu of Section 4.2; " + MENDED,
    quote=lemma_12.quote,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=lemma_12.statement,
    words="the mean square between two ReLUs is at most mu times that between their chi, mu that of strong convexity",
    hypotheses=(on.MU,), says=lambda mu: mu, check=on.judge_constant,
    flips=(Flip("1/mu", lambda mu: 1 / mu, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/lem-12-repaired",
    expected="REFUTED PROVED",
)
triangle = Claim(
    id="nonconvex-nn/triangle-2",
    source="002, proof of Theorem 7: the risk from that of w*",
    quote=(
        r"$$L_{\mathcal{P}}(w) \leq 2L_{\mathcal{P}}(w^*) + 2\mathbb{E}_{\mathcal{P}}[(\sigma(\langle w, x \rangle) - "
        r"\sigma(\langle w^*, x \rangle))^2].$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"L(w) \le 2L(w^*) + 2\mathbb{E}(\sigma_w - \sigma_{w^*})^2",
    words="the risk of w is at most twice that of w* and twice the mean square between the predictions",
    hypotheses=(real("p"), real("q")), says=lambda p, q: 2 * p + 2 * q, check=on.judge_triangle,
    flips=(Flip("once", lambda p, q: p + q, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
final = Claim(
    id="nonconvex-nn/thm-7-final-step",
    source="002, proof of Theorem 7: the gradient from the distance",
    quote=(
        r"\|\nabla L_{\mathcal{P}}^\ell(w_T) - \nabla L_{\mathcal{P}}^\ell(w_\ell^*)\|_2 \leq \|w_T - w_\ell^*\|_2 "
        r"\leq "
        r"\alpha."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\lVert \nabla L^\ell_{\mathcal{P}}(w) - \nabla L^\ell_{\mathcal{P}}(v) \rVert_2^2 \le "
              r"\lVert w - v \rVert_2^2",
    words="for isotropic x the gradient of the surrogate's population risk is 1-Lipschitz",
    hypotheses=(positive("distance"),), says=lambda square: square, check=on.judge_lipschitz,
    flips=(Flip("a quarter of it, which symmetric laws have", lambda square: square / 4, Verdict.REFUTED),
           Flip("four times that", lambda square: 4 * square, Verdict.HOLDS)),
    rests_on=("nonconvex-nn/lem-11",),
    true_variants={"1 % more": "a weaker bound", "any distance": "only its square enters"},
    expected="HOLDS ARGUED",
)
