"""What document 002 says of the privacy of Algorithm 8; `privacy` has the proofs and the checks."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import non_negative, non_negative_integer, positive, positive_integer, probability
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.nonconvex_nn.misspecified import privacy as on
from theorems.nonconvex_nn.misspecified.laws import MENDED
from theorems.tools.either import root
from theorems.verdict import Verdict

_BATCH = (*on.PLACE, positive_integer("batch", "m"))
_STEP = (probability("epsilon"), probability("delta"), *_BATCH)
_ANY = {"any weight": "a norm is not negative, whatever is said of it", "any label": "a bound is positive",
        "any dimension": "a dimension is a count"}
_STEP_8 = (
    r"where $\zeta_{i-1} \sim \mathcal{N}(0, \sigma_{i-1}^2 I_d)$ with $\sigma_{i-1} = "
    r"\frac{8(\sqrt{d}\|w_{i-1}\|_2 + B)^2 \log(1.25/\delta)}{m^2 \epsilon^2}$."
)

length = Claim(
    id="nonconvex-nn/grad-bound-prose",
    source="002, Section 4.2: the length of a gradient",
    quote=(
        r"we can still find that $\|\nabla \ell(w_{t-1}; x, y)\|_2 \leq \sqrt{d}\|w_{t-1}\|_2 + B$, whose upper bound "
        r"only depends on the current model w_{t-1} ."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\lVert \nabla\ell(w; x, y) \rVert_2 \le \sqrt d \lVert w \rVert_2 + B",
    words="a gradient is at most sqrt(d) |w| + B long",
    hypotheses=on.PLACE, says=lambda d, w, b: root(d) * w + b, check=on.judge_length,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\max \lVert \nabla\ell(w; x, y) \rVert_2 = \sqrt d\,(\sqrt d \lVert w \rVert_2 + B)",
        words="a gradient is at most sqrt(d) (sqrt(d) |w| + B) long, which is attained",
        says=lambda d, w, b: root(d) * (root(d) * w + b),
        expected="HOLDS PROVED",
        source="002, Section 4.2, the outer sqrt(d) restored",
        flips=(Flip("d (|w| + B)", lambda d, w, b: d * (w + b), Verdict.REFUTED),),
        true_variants={"any label": "a bound on labels is positive, whatever is said of it",
                       "any dimension": "a dimension is a count"},
    ),
)
sensitivity = Claim(
    id="nonconvex-nn/grad-bound-prose-sensitivity",
    source="002, Section 4.2: the sensitivity of the gradient (of a batch's mean)",
    quote=(
        r"Therefore, we can still use the Gaussian mechanism with sensitivity $2(\|w_{t-1}\|_2 + B)$ to the gradient "
        r"to "
        r"ensure (ϵ, δ) -DP."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\Delta = 2(\lVert w \rVert_2 + B)/m",
    words="the mean gradient of a batch of m has sensitivity 2 (|w| + B)/m",
    hypotheses=_BATCH, says=lambda d, w, b, m: 2 * (w + b) / m, check=on.judge_sensitivity,
    uses=("nonconvex-nn/grad-bound-prose",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\Delta = \sqrt d\,(\sqrt d \lVert w \rVert_2 + 2B)/m",
        words="the mean gradient of a batch of m has sensitivity sqrt(d) (sqrt(d) |w| + 2B)/m, which is attained",
        says=lambda d, w, b, m: root(d) * (root(d) * w + 2 * b) / m,
        expected="HOLDS ARGUED",
        source="002, Section 4.2, the sensitivity that it has",
        flips=(Flip("twice the longest gradient", lambda d, w, b, m: 2 * root(d) * (root(d) * w + b) / m,
                    Verdict.REFUTED),),
        rests_on=("nonconvex-nn/grad-bound-prose-repaired",),
        true_variants=_ANY,
    ),
)
sensitivity_proof = Claim(
    id="nonconvex-nn/grad-bound-prose-proof",
    source="002, proof of Theorem 7: the sensitivity of a batch's mean gradient",
    quote=(
        r"This is true since the ℓ_2 -norm sensitivity of $\nabla L^\ell(w_{i-1}; D_i)$ is "
        r"$\frac{\sqrt{d}\|w_{i-1}\|_{2+B}}{m}$ based on our assumption."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\Delta = (\sqrt d \lVert w \rVert_2 + B)/m",
    words="the mean gradient of a batch of m has sensitivity (sqrt(d) |w| + B)/m",
    hypotheses=_BATCH, says=lambda d, w, b, m: (root(d) * w + b) / m, check=on.judge_sensitivity,
    flips=(Flip("the true one", lambda d, w, b, m: root(d) * (root(d) * w + 2 * b) / m, Verdict.HOLDS),),
    uses=("nonconvex-nn/grad-bound-prose",), repaired_by="nonconvex-nn/grad-bound-prose-sensitivity-repaired",
    expected="REFUTED PROVED",
)
privacy = Claim(
    id="nonconvex-nn/thm-7-privacy",
    source="002, Theorem 7 and Algorithm 8: the noise is a variance or a standard deviation",
    quote=r"For any $0 < \epsilon, \delta < 1$, Algorithm 8 is (ϵ, δ) -DP.",
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=r"\sigma_{i-1} = \frac{8(\sqrt d \lVert w_{i-1}\rVert_2 + B)^2 \log(1.25/\delta)}{m^2\epsilon^2}"
              r" \Rightarrow (\epsilon, \delta)\text{-DP}",
    words="Algorithm 8 with its printed noise is (epsilon, delta)-DP",
    hypotheses=_STEP, says=lambda d, w, b, m, eps, log: root(8 * (root(d) * w + b) ** 2 * log) / (m * eps),
    check=on.judge_noise,
    flips=(
        Flip("the printed number taken for the standard deviation",
             lambda d, w, b, m, eps, log: 8 * (root(d) * w + b) ** 2 * log / (m * eps) ** 2, Verdict.REFUTED),
    ),
    uses=("nonconvex-nn/grad-bound-prose-proof", "nonconvex-nn/lem-1"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma_{i-1}^2 = \frac{8d(\sqrt d \lVert w_{i-1}\rVert_2 + B)^2 \log(1.25/\delta)}{m^2\epsilon^2}"
                  r" \Rightarrow (\epsilon, \delta)\text{-DP}",
        words="Algorithm 8 with d times the printed noise as its variance is (epsilon, delta)-DP, all iterates seen",
        says=lambda d, w, b, m, eps, log: root(8 * d * (root(d) * w + b) ** 2 * log) / (m * eps),
        expected="HOLDS ARGUED",
        source="002, Algorithm 8, a variance with the missing factor d",
        flips=(Flip("a quarter of that variance",
                    lambda d, w, b, m, eps, log: root(2 * d * (root(d) * w + b) ** 2 * log) / (m * eps),
                    Verdict.REFUTED),),
        rests_on=("nonconvex-nn/lem-1", "nonconvex-nn/grad-bound-prose-sensitivity-repaired"),
        true_variants={"1 % more": "more noise", "8 -> 9 *": "more noise"},
    ),
)
deviation = Claim(
    id="nonconvex-nn/alg-8",
    source="002, Algorithm 8 word by word: N(0, sigma^2 I) with that sigma, a standard deviation",
    quote=_STEP_8,
    whose=Whose.PRINTED,
    severity=Stake.PRIVACY,
    statement=privacy.statement,
    words="Algorithm 8 with the printed number as its standard deviation is (epsilon, delta)-DP",
    hypotheses=_STEP, says=lambda d, w, b, m, eps, log: 8 * (root(d) * w + b) ** 2 * log / (m * eps) ** 2,
    check=on.judge_noise,
    flips=(Flip("the repair", lambda d, w, b, m, eps, log: root(8 * d * (root(d) * w + b) ** 2 * log) / (m * eps),
                Verdict.HOLDS),),
    repaired_by="nonconvex-nn/thm-7-privacy-repaired",
    expected="REFUTED PROVED",
)
certified = Claim(
    id="nonconvex-nn/thm-7-privacy-certified",
    source="a finding of ours on 002, Theorem 7: what the printed noise, a variance, gives where (1, 1e-5) is promised",
    severity=Stake.PRIVACY,
    statement=r"\epsilon(d) = 0.751, 1.098, 1.610, 2.688, 10.394, 40.60 \text{ at } d = 1, 2, 4, 10, 100, 784",
    words="where (1, 1e-5)-DP is promised, the printed variance gives epsilon 0.751 in one dimension, and 1.098, "
          "1.610, "
          "2.688, 10.394 and 40.60 in 2, 4, 10, 100 and 784, at w = 0 and whatever B and m are",
    hypotheses=(),
    says=((1, 1, "0.751"), (2, 1, "1.098"), (4, 1, "1.610"), (10, 1, "2.688"), (100, 100, "10.394"), (784, 1, "40.60")),
    check=on.judge_certified_variance,
    flips=(Flip("1 in 100 dimensions", ((100, 1, "1.000"),), Verdict.REFUTED),),
    true_variants=dict.fromkeys(("[[]?[]] [[]1[]] 1 % *", "[[]?[]] [[]1[]] one more"),
                                "m cancels, as it should"),
    rests_on=("background/balle-wang",),
    expected="HOLDS ARGUED",
)
certified_deviation = Claim(
    id="nonconvex-nn/alg-8-certified",
    source="a finding of ours on 002, Algorithm 8: what the printed noise, a standard deviation, gives",
    severity=Stake.PRIVACY,
    statement=r"\epsilon(m) = 10.8, 316.8 \text{ at } d = 1,\ B = 1,\ m = 100, 1000",
    words="where (1, 1e-5)-DP is promised, the printed number as a standard deviation gives epsilon 10.8 with batches "
          "of "
          "100 and 316.8 with batches of 1000, in one dimension, B = 1, at w = 0",
    hypotheses=(), says=((1, 100, "10.8"), (1, 1000, "316.8")), check=on.judge_certified_deviation,
    flips=(Flip("1 with batches of 100", ((1, 100, "1.0"),), Verdict.REFUTED),),
    rests_on=("background/balle-wang",),
    expected="HOLDS ARGUED",
)
gdp = Claim(
    id="nonconvex-nn/thm-7-privacy-gdp",
    source="a finding of ours on 002, Algorithm 8: noise that follows the released iterate",
    severity=Stake.PRIVACY,
    statement=r"\sigma_i = z\,\frac{r(r\lVert w_{i-1}\rVert_2 + 2B)}{m} \Rightarrow (w_1, \dots, w_T)"
              r" \text{ is } \tfrac1z\text{-GDP},\ \lVert x\rVert \le r",
    words="noise of z times the sensitivity at the released iterate makes all iterates together (1/z)-GDP, if a record "
          "is replaced",
    hypotheses=(positive("square", "r^2, |x| <= r"), *_BATCH[1:], positive("multiplier", "z")),
    says=lambda d, w, b, m, z: z * root(d) * (root(d) * w + 2 * b) / m, check=on.judge_gdp,
    flips=(Flip("without the outer sqrt(d)", lambda d, w, b, m, z: z * (root(d) * w + 2 * b) / m, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/grad-bound-prose-sensitivity-repaired", "background/balle-wang"),
    true_variants={"1 % more": "more noise", "2 -> 3 *": "more noise",
                   "any weight": _ANY["any weight"], "any label": _ANY["any label"],
                   "any square": "a square", "any multiplier": "no noise below 0"},
    expected="HOLDS ARGUED",
)
trend = Claim(
    id="nonconvex-nn/noise-shrinks-prose",
    source="002, Section 4.2: the noise falls as the algorithm goes on, in the limit of batches; " + MENDED,
    quote=(
        r"In general, our method can provide a tighter bound, as $\|w_{t-1}\|_2$ becomes smaller as t increases, "
        r"which "
        r"implies that we add smaller noise to the gradient."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\lVert w_{t+1} \rVert_2 \le \lVert w_t \rVert_2 = (1 - (1 - \eta/2)^t)\lVert w_\ell^* \rVert_2",
    words="the iterates do not become longer, nor the noise larger, as the algorithm goes on",
    hypotheses=(positive("eta").at_most(Fraction(1, 16)), positive("norm", "|w_l|"), non_negative_integer("step")),
    says=lambda norm, keep, t: norm * (1 - keep**t), check=on.judge_trend,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert w_{t+1} \rVert_2 = (1 - (1 - \eta/2)^{t+1})\lVert w_\ell^* \rVert_2",
        words="from w_0 = 0 exact steps make the iterate longer, up to |w_l|, for symmetric features",
        says=lambda norm, keep, t: norm * (1 - keep ** (t + 1)),
        expected="HOLDS ARGUED",
        source="002, Section 4.2, as it is",
        rests_on=("nonconvex-nn/relu-symmetric-closed-form",),
        true_variants={"any *": "the same recursion"},
    ),
)
growth = Claim(
    id="nonconvex-nn/noise-shrinks-prose-explosion",
    source="a finding of ours on 002, Algorithm 8: noise that follows the iterate multiplies it",
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}\lVert w_i\rVert^2 \ge \left(\frac{\eta z d^{3/2}}{m}\right)^2 \mathbb{E}\lVert w_{i-1}"
              r"\rVert^2",
    words="private noise of a step alone multiplies E|w|^2 by at least (eta z d^(3/2)/m)^2, so that the iterates run "
          "away from batches smaller than eta z d^(3/2)",
    hypotheses=(positive("eta"), positive("multiplier", "z"), positive_integer("dimension"), positive_integer("batch"),
                non_negative("label", "B")),
    says=lambda eta, z, d, m: eta * z * d * root(d) / m, check=on.judge_growth,
    flips=(Flip("d in place of d^(3/2)", lambda eta, z, d, m: eta * z * d / m, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/grad-bound-prose-sensitivity-repaired",),
    true_variants={"sign": "only the square enters", "any eta": "only the square enters",
                   "any multiplier": "only the square enters"},
    expected="HOLDS ARGUED",
)
