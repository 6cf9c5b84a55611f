"""What document 002 says of Theorem 7's steps, records and probabilities; `sizes` has the proofs and the checks."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import Parameter, non_negative, positive, positive_integer, probability
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.nonconvex_nn.misspecified import sizes as on
from theorems.nonconvex_nn.misspecified.laws import MENDED
from theorems.tools.either import log, root
from theorems.verdict import Verdict

_STEPS = (positive("norm", "|w_l|"), probability("share", "alpha/|w_l|"), positive("eta").at_most(Fraction(1, 16)))
_CONDITION = (
    r"$$n \geq \tilde{\Omega}(\max\{\frac{d\|w_{\ell}^*\|_2 \sqrt{\log \frac{1}{\delta} \log "
    r"\frac{1}{\zeta}}}{\epsilon "
    r"\alpha}, \frac{\|w_{\ell}^*\|_2^2 d \log^4 \frac{1}{\zeta}}{\alpha^2}\}),$$"
)
_STATISTICAL = "HOLDS STATISTICAL"

steps = Claim(
    id="nonconvex-nn/thm-7-T",
    source="002, Theorem 7: the number of steps; " + MENDED,
    quote=r"setting $T = O(\log(\|w_{\ell}^*\|_2))$ and $\eta \leq \frac{1}{16}$ in Algorithm 8 we have",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"T = O(\log\lVert w_\ell^*\rVert_2) \Rightarrow \lVert w_T - w_\ell^*\rVert_2 \le \alpha",
    words="a multiple of log |w_l| steps bring w within alpha of w_l",
    hypotheses=_STEPS, says=lambda norm, alpha, tau, eta: 1000 / (tau * eta) * log(norm), check=on.judge_steps,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"T \ge \frac{4}{\tau\eta}\log\frac{3\lVert w_\ell^*\rVert_2}{\alpha}",
        words="(4/(tau eta)) log(3 |w_l|/alpha) steps leave at most alpha^2/9 of |w_l|^2 to (1 - tau eta/2)^T",
        says=lambda norm, alpha, tau, eta: 4 / (tau * eta) * log(3 * norm / alpha),
        expected="HOLDS ARGUED",
        source="002, Theorem 7 with alpha inside the logarithm",
        flips=(Flip("without the 3", lambda norm, alpha, tau, eta: 4 / (tau * eta) * log(norm / alpha),
                    Verdict.REFUTED),),
    ),
)
step_of_proof = Claim(
    id="nonconvex-nn/thm-7-T-step",
    source="002, proof of Theorem 7, case 1: alpha drops out of T; " + MENDED,
    quote=(
        r"take $T = O(\frac{\log(\alpha/\|w_\ell^*\|_2)}{\log(1-\frac{\tau\eta}{2})}) = O(\frac{1}{\tau\eta} "
        r"\log(\|w_\ell^*\|_2))$ we have"
    ),
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"\frac{\log(\alpha/\lVert w_\ell^*\rVert)}{\log(1 - \tau\eta/2)} = O\left(\frac1{\tau\eta}\log\lVert "
              r"w_\ell^*\rVert\right)",
    words="(1/(tau eta)) log |w_l| steps, or a multiple, are as good as log(|w_l|/alpha)/log(1/(1 - tau eta/2))",
    hypotheses=_STEPS, says=lambda norm, alpha, tau, eta: log(norm) / (tau * eta), check=on.judge_steps,
    flips=(Flip("with alpha", lambda norm, alpha, tau, eta: 4 / (tau * eta) * log(3 * norm / alpha), Verdict.HOLDS),),
    repaired_by="nonconvex-nn/thm-7-T-repaired",
    expected="REFUTED PROVED",
)
union = Claim(
    id="nonconvex-nn/thm-7-probability",
    source="002, Theorem 7: with probability 1 - zeta, where its proof counts 1 - 3 zeta",
    quote=r"Thus, in total we must have $\|w_T - w_\ell^*\|_2 \leq \alpha$ with probability at least $1 - 3\zeta$.",
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"P(\text{some event of the proof fails}) \le 3\zeta",
    words="the events that the proof uses fail with probability at most 3 zeta in all (the theorem says zeta)",
    hypotheses=(probability("zeta"), positive_integer("steps", "T")), says=lambda zeta, steps: 3 * zeta,
    check=on.judge_union,
    flips=(Flip("zeta, as in the theorem", lambda zeta, steps: zeta, Verdict.REFUTED),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"P(\text{some event of the proof fails}) \le (2T + 1)\zeta",
        words="the events that the proof uses, two of them on each batch, fail with probability at most (2T + 1) zeta",
        says=lambda zeta, steps: (2 * steps + 1) * zeta,
        expected="HOLDS ARGUED",
        source="002, proof of Theorem 7, with fresh batches counted",
        true_variants={"1 % more": "a weaker bound", "2 -> 3 *": "a weaker bound", "1 -> 2 *": "a weaker bound",
                       "any steps": "a count"},
    ),
)
noise_norm = Claim(
    id="nonconvex-nn/thm-7-noise-norm",
    source="002, proof of Theorem 7: the norm of the noise in all steps (zeta <= 1/e)",
    quote=(
        r"Thus, with probability at least $1 - \zeta$, $\|\zeta_{i-1}\|_2^2 \leq O(d "
        r"\frac{(\sqrt{d}\|w_{i-1}\|_{2+B})^2 "
        r"\log \frac{T}{\zeta} \log \frac{1}{\delta}}{m^2 \epsilon^2})$ for all $i = 1, \dots, T$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"P(\lVert\zeta_{i-1}\rVert^2 > 5 d\,\sigma_{i-1}^2 t) \le e^{-t},\ t = \log(T/\zeta) \ge 1",
    words="the noise's squared norm is at most 5 d sigma^2 log(T/zeta) in all T steps with probability 1 - zeta",
    hypotheses=(Parameter("t", low=Fraction(1), meaning="log(T/zeta)"),), says=Fraction(5), check=on.judge_norm,
    flips=(Flip("1 in place of 5", Fraction(1), Verdict.REFUTED),),
    true_variants={"1 % *": "there is room", "one more": "a weaker bound"},
    expected="HOLDS ARGUED",
)
complexity = Claim(
    id="nonconvex-nn/thm-7-sample-complexity",
    source="002, Theorem 7: the exponent of d in the private part of n, with the noise that privacy needs, and "
           "|x| <= sqrt(3d); " + MENDED,
    quote=_CONDITION,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"n \ge \tilde\Omega\left(\frac{d\lVert w_\ell\rVert}{\epsilon\alpha}\right) \Rightarrow "
              r"\mathbb{E}\lVert "
              r"w_T - w_\ell\rVert^2 \le \alpha^2",
    words="n of order d |w_l|/(epsilon alpha) is enough for a mean square distance of alpha^2",
    hypotheses=(positive_integer("dimension"),), says=Fraction(1), check=on.judge_exponent,
    uses=("nonconvex-nn/thm-7-privacy", "nonconvex-nn/lem-15"),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"n \ge \tilde\Omega\left(\frac{d^{3/2}\lVert w_\ell\rVert + dB}{\epsilon\alpha}\right)",
        words="n of order (d^(3/2) |w_l| + d B)/(epsilon alpha), and no less in d, is enough for the private part",
        says=Fraction(3, 2),
        expected="HOLDS ARGUED",
        source="002, Theorem 7, with the noise that privacy needs; alpha is the distance, so the risk's is its square",
        flips=(Flip("1.4", Fraction(7, 5), Verdict.REFUTED),),
        rests_on=("nonconvex-nn/thm-7-utility-repaired", "nonconvex-nn/grad-bound-prose-sensitivity-repaired"),
        true_variants={"1 % more": "more records", "one more": "more records", "any dimension": "a count"},
    ),
)
intro = Claim(
    id="nonconvex-nn/thm-7-sample-complexity-intro",
    source="002, Introduction: the sample complexity of the misspecified model",
    quote=(
        r"showcasing a sample complexity of $\tilde{O}(\max\{\frac{\sqrt{d}}{c\alpha}, \frac{d}{\alpha^2}\})$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\max\{\sqrt d/(c\alpha), d/\alpha^2\}",
    words="the introduction's sqrt(d)/(c alpha), without epsilon, is what Theorem 7 prints",
    hypotheses=(), says={"private": (Fraction(1, 2), Fraction(0), Fraction(-1)),
                         "statistical": (Fraction(1), Fraction(0), Fraction(-2))},
    check=on.judge_summary, flips=(Flip("d/(epsilon alpha)", on.THEOREM, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/thm-7-sample-complexity-repaired",
    expected="REFUTED PROVED",
)
text = Claim(
    id="nonconvex-nn/thm-7-sample-complexity-text",
    source="002, after Theorem 7: its sample complexity in short",
    quote=(
        r"the sample complexity required to achieve $L_{\mathcal{P}}(w) - c \cdot L_{\mathcal{P}}(w^*) \leq \alpha$ "
        r"with "
        r"some $c > 0$ is $\tilde{O}(\max\{\frac{d}{\epsilon\alpha}, \frac{d}{\alpha^2}\})$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\max\{d/(\epsilon\alpha), d/\alpha^2\}",
    words="the sample complexity after Theorem 7 has the orders that the theorem prints (which are not the true ones)",
    hypotheses=(), says={"private": (Fraction(1), Fraction(-1), Fraction(-1)),
                         "statistical": (Fraction(1), Fraction(0), Fraction(-2))},
    check=on.judge_summary,
    flips=(
        Flip("1/alpha^2 in both terms", {**on.THEOREM, "private": (Fraction(1), Fraction(-1), Fraction(-2))},
             Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)


def _rate(name: str, study: str, exponent: int, words: str) -> Claim:
    """A rate of E|w_T - w_l|^2 that a study has on record."""
    return Claim(
        id=f"nonconvex-nn/thm-7-sample-complexity-{name}",
        source=f"a finding of ours on 002, Theorem 7, by the study {study}",
        severity=Stake.UTILITY,
        statement=rf"\mathbb{{E}}\lVert w_T - w_\ell\rVert^2 \text{{ has the exponent }} {exponent}",
        words=words, hypotheses=(), says=(study, Fraction(exponent)), check=on.judge_rate,
        flips=(Flip("half of it", (study, Fraction(exponent, 2)), Verdict.REFUTED),),
        true_variants={"[[]1[]] 1 % *": "within the study's tolerance of 0.05"},
        expected=_STATISTICAL,
    )


in_n = _rate("n", "misspecified-private", -2, "the squared distance falls as n^-2 with the noise that privacy needs")
in_epsilon = _rate("epsilon", "misspecified-epsilon", -2, "the squared distance falls as epsilon^-2")
in_d = _rate("d", "misspecified-dimension", 3, "the squared distance grows as d^3 with the noise that privacy needs")
without = _rate("statistical", "misspecified-statistical", -1,
                "without privacy the squared distance falls as 1/n, so that n of order d/alpha is enough for the risk")
literal = _rate("literal", "misspecified-literal", -2, "with the printed noise the squared distance falls as n^-2")
literal_d = _rate("literal-d", "misspecified-literal-dimension", 2,
                  "with the printed noise, which is not private, the squared distance grows as d^2")

labels = Claim(
    id="nonconvex-nn/thm-7-B-missing",
    source="002, Theorem 7: no B in the condition on n; " + MENDED,
    quote=_CONDITION,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"n = K\frac{d\lVert w_\ell\rVert}{\epsilon\alpha} \Rightarrow \lVert w_T - w_\ell\rVert \le \alpha,"
              r"\text{ whatever } B",
    words="1000 times the printed n keeps the noise of a step within alpha, in mean square, however small |w_l| is "
          "beside B",
    hypotheses=(positive_integer("dimension"), positive("norm", "|w_l|"), positive("label", "B"),
                probability("epsilon")),
    says=lambda d, w, b, eps, alpha: d * w / (eps * alpha), check=on.judge_labels,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"n = K\frac{d^{3/2}\lVert w_\ell\rVert + dB}{\epsilon\alpha}",
        words="n = 1000 (d^(3/2) |w_l| + d B)/(epsilon alpha) keeps the private noise of a step within alpha, in mean "
              "square and for |w| <= |w_l| (T = 768, eta = 1/16, delta = 1e-5)",
        says=lambda d, w, b, eps, alpha: (d * root(d) * w + d * b) / (eps * alpha),
        expected="HOLDS PROVED",
        source="002, Theorem 7 with a term for B",
        flips=(Flip("a thousandth of the term with B",
                    lambda d, w, b, eps, alpha: (d * root(d) * w + d * b / 1000) / (eps * alpha), Verdict.REFUTED),),
        true_variants={"1 % *": "the hidden constant, 1000 here, leaves room"},
    ),
)
alpha_range = Claim(
    id="nonconvex-nn/thm-7-alpha-range",
    source="002, Theorem 7: alpha in (0, |w_l|); " + MENDED,
    quote=r"For any error $\alpha \in (0, \|w_{\ell}^*\|_2)$, if n is sufficiently large such that",
    whose=Whose.READING,
    severity=Stake.EDITORIAL,
    statement=r"(0, \lVert w_\ell^*\rVert_2) \ne \emptyset",
    words="there is an alpha that Theorem 7 is about, for every problem",
    hypotheses=(non_negative("norm", "|w_l|"),), says=lambda norm: norm, check=on.judge_range,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\alpha \in (0, \lVert w_\ell^*\rVert_2 + 1)",
        words="alpha may go up to |w_l| + 1: beyond |w_l| the start is near enough",
        says=lambda norm: norm + 1, expected="HOLDS ARGUED",
        source="002, Theorem 7 with a range that is never empty",
        true_variants={"1 % *": "any positive upper end will do", "1 -> 2 *": "any positive upper end will do",
                       "squared": "any positive upper end will do",
                       "beyond *": "any positive upper end will do"},
    ),
)
linear = Claim(
    id="nonconvex-nn/misspecified-linear-d",
    source="002, after Theorem 7: why the sample complexity is linear in d",
    quote=(
        r"This dependency results from two factors: the magnitude of noise added depends on \sqrt{d} , and the "
        r"estimation "
        r"error of $\|\nabla L^\ell(w; D)\|_2$ introduces an additional d factor."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\sigma \propto d^{1/2},\quad \sqrt d\,\sigma \propto d",
    words="the noise that privacy needs grows as sqrt(d) in a coordinate and as d in norm",
    hypotheses=(positive_integer("dimension"),), says=(Fraction(1, 2), Fraction(1)), check=on.judge_orders,
    uses=("nonconvex-nn/thm-7-privacy",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma \propto d,\quad \sqrt d\,\sigma \propto d^{3/2}",
        words="the noise that privacy needs grows as d in a coordinate and as d^(3/2) in norm, where |w| outweighs B",
        says=(Fraction(1), Fraction(3, 2)), expected="HOLDS ARGUED",
        source="002, after Theorem 7, with the noise that privacy needs",
        rests_on=("nonconvex-nn/grad-bound-prose-sensitivity-repaired",),
    ),
)
