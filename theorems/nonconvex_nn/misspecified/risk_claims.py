"""What document 002 says of the risk in Section 4.2: (11), Theorem 7; `risk` has the proofs and the checks."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import Parameter, non_negative, positive
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.nonconvex_nn.misspecified import risk as on
from theorems.nonconvex_nn.misspecified.laws import MENDED
from theorems.nonconvex_nn.misspecified.surrogate import MU
from theorems.tools.either import root
from theorems.verdict import Verdict

_WEAKER = {
    "1 % more": "a weaker bound", "any best": "a risk is a mean square", "any gradient": "only its square enters",
}
_LEMMAS = ("nonconvex-nn/lem-11", "nonconvex-nn/lem-12-repaired")

eleven = Claim(
    id="nonconvex-nn/eq-11",
    source="002, (11); " + MENDED,
    quote=r"&\leq 2\mu L_{\mathcal{P}}(w^*) + 2\mu \|\nabla L_{\mathcal{P}}^\ell(w)\|_2. \end{aligned} \quad (11)",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mathbb{E}(\sigma_w - \sigma_{w^*})^2 \le 2\mu L(w^*) + 2\mu \lVert \nabla L^\ell(w) \rVert_2",
    words="the mean square between the predictions is at most 2 mu times the best risk and the gradient's norm",
    hypotheses=on._PARTS, says=lambda c, best, g: 2 * c * best + 2 * c * g, check=on.judge_difference,
    uses=("nonconvex-nn/lem-11", "nonconvex-nn/lem-12"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}(\sigma_w - \sigma_{w^*})^2 \le 2c L(w^*) + 2c \lVert \nabla L^\ell(w) \rVert_2^2,"
                  r"\ c = 1/\mu",
        words="(11) holds with the square of the gradient's norm and the constant of Lemma 12, which 1/mu is",
        says=lambda c, best, g: 2 * c * best + 2 * c * g**2,
        expected="HOLDS ARGUED",
        source="002, (11) with the square",
        flips=(Flip("half of it", lambda c, best, g: c * best + c * g**2, Verdict.REFUTED),),
        rests_on=_LEMMAS,
        true_variants={**_WEAKER},
    ),
)
total = Claim(
    id="nonconvex-nn/eq-11-total",
    source="002, proof of Theorem 7, the display before Lemma 13; " + MENDED,
    quote=r"$$L_{\mathcal{P}}(w) \leq 2(1 + 2\mu)L_{\mathcal{P}}(w^*) + 4\mu \|\nabla L_{\mathcal{P}}^\ell(w)\|_2.$$",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"L(w) \le 2(1 + 2\mu) L(w^*) + 4\mu \lVert \nabla L^\ell(w) \rVert_2",
    words="the risk is at most 2 (1 + 2 mu) times the best one and 4 mu times the gradient's norm",
    hypotheses=on._PARTS, says=lambda c, best, g: 2 * (1 + 2 * c) * best + 4 * c * g, check=on.judge_total,
    uses=("nonconvex-nn/eq-11", "nonconvex-nn/triangle-2"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"L(w) \le 2(1 + 2c) L(w^*) + 4c \lVert \nabla L^\ell(w) \rVert_2^2,\ c = 1/\mu",
        words="with the square, and the constant of Lemma 12, the risk is at most 2 (1 + 2c) L(w*) + 4c |gradient|^2",
        says=lambda c, best, g: 2 * (1 + 2 * c) * best + 4 * c * g**2,
        expected="HOLDS ARGUED",
        source="002, proof of Theorem 7, with the square",
        flips=(Flip("1 + 2c for 2 (1 + 2c)", lambda c, best, g: (1 + 2 * c) * best + 4 * c * g**2, Verdict.REFUTED),),
        rests_on=(*_LEMMAS, "nonconvex-nn/triangle-2"),
        true_variants={**_WEAKER, "1 -> 2 *": "a weaker bound", "4 -> 5 *": "a weaker bound"},
    ),
)
text_total = Claim(
    id="nonconvex-nn/sec-4.2-total",
    source="002, Section 4.2: the risk from the gradient, with the square that (11) drops",
    quote=(
        r"$$L_{\mathcal{P}}(w) \leq O(L_{\mathcal{P}}(w^*) + \|\chi^{\sigma w} - \chi_{\mathcal{P}}\|_2^2).$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"L(w) \le (2 + 4c) (L(w^*) + \lVert \chi^{\sigma_w} - \chi_{\mathcal{P}} \rVert_2^2)",
    words="the risk is a constant times the sum of the best one and the squared gradient; 2 + 4/mu will do",
    hypotheses=on._PARTS, says=lambda c, best, g: (2 + 4 * c) * (best + g**2), check=on.judge_total,
    flips=(Flip("the norm in place of its square", lambda c, best, g: (2 + 4 * c) * (best + g), Verdict.REFUTED),),
    rests_on=(*_LEMMAS, "nonconvex-nn/triangle-2"),
    uses=("nonconvex-nn/lem-11", "nonconvex-nn/strong-convexity-mu"),
    true_variants={**_WEAKER, "4 -> 5 *": "a weaker bound"},
    expected="HOLDS ARGUED",
)
constant = Claim(
    id="nonconvex-nn/thm-7-constant",
    source="002, Theorem 7, read with mu the constant of strong convexity and |x| bounded, not by sqrt(d), as no "
           "law is: the constant before the best risk, for n and T so large that w_T is nearly w_l",
    quote=r"$$L_{\mathcal{P}}(w_T) \leq 2(1 + 2\mu)L_{\mathcal{P}}(w^*) + \alpha$$",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"L(w_\ell^*) \le 2(1 + 2\mu) L(w^*),\ \mu \text{ the constant of strong convexity}",
    words="the algorithm's limit has at most 2 (1 + 2 mu) times the best risk, mu the constant of strong convexity",
    hypotheses=(MU,), says=lambda mu: 2 * (1 + 2 * mu), check=on.judge_limit,
    flips=(Flip("2/mu, which is weaker", lambda mu: 2 / mu, Verdict.HOLDS),
           Flip("(1 + mu)/(2 mu)", lambda mu: (1 + mu) / (2 * mu), Verdict.REFUTED)),
    uses=("nonconvex-nn/eq-11-total", "nonconvex-nn/lem-12"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"L(w_\ell^*) \le \frac1\mu L(w^*)",
        words="the algorithm's limit has at most 1/mu times the best risk, and 1/mu is the least such factor",
        says=lambda mu: 1 / mu,
        expected="HOLDS ARGUED",
        source="002, Theorem 7 with 1/mu for 2 (1 + 2 mu); for symmetric x, mu = 1/2, both hold",
        rests_on=("nonconvex-nn/strong-convexity-mu",),
        true_variants={"1 % more": "a weaker bound", "1 -> 2 *": "a weaker bound"},
    ),
)
bounded = Claim(
    id="nonconvex-nn/thm-7-constant-bounded",
    source="002, Theorem 7: its constant for bounded features, |x| <= C sqrt(d), C > 1",
    quote=constant.quote,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\lVert x \rVert_2 \le C\sqrt d \Rightarrow L(w_\ell^*) \le 2(1 + 2\mu) L(w^*)",
    words="where Assumption 2 bounds |x| by C sqrt(d), the limit has at most 2 (1 + 2 mu) times the best risk",
    hypotheses=(Parameter("C", low=Fraction(1), low_open=True),), says=lambda mu: 2 * (1 + 2 * mu),
    check=on.judge_bounded, flips=(Flip("1/mu", lambda mu: 1 / mu, Verdict.HOLDS),),
    uses=("nonconvex-nn/asm-2-vacuous",), repaired_by="nonconvex-nn/thm-7-constant-repaired",
    expected="REFUTED ARGUED",
)
symmetric = Claim(
    id="nonconvex-nn/thm-7-constant-symmetric",
    source="002, Theorem 7 for symmetric features: 2 (1 + 2 mu) = 4 at mu = 1/2",
    quote=constant.quote,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"x \overset{d}{=} -x \Rightarrow L(w_\ell^*) \le 4 L(w^*)",
    words="for symmetric features the limit has at most 4 times the best risk (2 times, in fact, which is attained)",
    hypotheses=(), says=Fraction(4), check=on.judge_symmetric_limit,
    flips=(Flip("2, the least", Fraction(2), Verdict.HOLDS), Flip("1.9", Fraction(19, 10), Verdict.REFUTED)),
    rests_on=("nonconvex-nn/relu-symmetric-closed-form",),
    true_variants={"1 % *": "4 is twice what is needed", "one more": "a weaker bound"},
    expected="HOLDS ARGUED",
)
of_lemma = Claim(
    id="nonconvex-nn/thm-7-constant-lemma-12",
    source="002, Theorem 7 with mu the constant of Lemma 12",
    quote=constant.quote,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"L(w_\ell^*) \le 2(1 + 2c) L(w^*),\ c \ge 1/\mu \text{ of Lemma 12}",
    words="with Lemma 12's constant, at least 1/mu, in the place of mu, the limit has at most 2 (1 + 2c) times L(w*)",
    hypotheses=(on._CONSTANT,), says=lambda c: 2 * (1 + 2 * c), check=on.judge_lemma_constant,
    flips=(Flip("c/2", lambda c: c / 2, Verdict.REFUTED),),
    rests_on=("nonconvex-nn/thm-7-constant-repaired",),
    true_variants=dict.fromkeys(("1 % *", "1 -> 2 *", "2 -> 3 *", "squared", "[*] -> + *"),
                                "there is four times as much as is needed"),
    expected="HOLDS ARGUED",
)
utility = Claim(
    id="nonconvex-nn/thm-7-utility",
    source="002, Theorem 7: the risk of the last iterate, mu the constant of strong convexity or that of Lemma 12",
    quote=constant.quote,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"L(w_T) \le 2(1 + 2\mu) L(w^*) + \alpha,\ \alpha \in (0, \lVert w_\ell^* \rVert_2)",
    words="the last iterate has at most 2 (1 + 2 mu) times the best risk, and alpha: mu of Section 4.2, or of Lemma 12",
    hypotheses=(MU,), says=None, check=None,
    readings=("nonconvex-nn/thm-7-utility-reading-strong", "nonconvex-nn/thm-7-constant-lemma-12"),
    uses=("nonconvex-nn/thm-7-constant", "nonconvex-nn/asm-2-vacuous"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"\mathbb{E}L(w_T) \le R(e_T),\ R = \left(\sqrt e + \sqrt{L(w^*)/\mu}\right)^2 \text{ or } \frac e4 +"
                  r" \left(\frac{\sqrt e}2 + \sqrt{2L(w^*)}\right)^2,\ e_i = q^2 e_{i-1} + \eta^2\left[\frac{\rho^2}m "
                  r"R(e_{i-1}) + d\left(\frac{\nu\rho}m\right)^2(\rho(\sqrt{e_{i-1}} + \lVert w_\ell\rVert) + 2B)^2"
                  r"\right]",
        words="in expectation the last iterate's risk is at most R(e_T), e_T the bound on its mean square distance to "
              "w_l that the recursion gives; symmetric features have the second R",
        says=(lambda s, b, mu: (s + b / root(mu)) ** 2, lambda s, b: s**2 / 4 + (s / 2 + root(2 * b**2)) ** 2),
        check=on.judge_explicit,
        hypotheses=(non_negative("distance", "|w - w_l|"),),
        expected="HOLDS ARGUED",
        source="002, Theorem 7, in expectation and with explicit constants",
        flips=(
            Flip("sqrt(L*) in place of sqrt(2 L*)", (
                lambda s, b, mu: (s + b / root(mu)) ** 2, lambda s, b: s**2 / 4 + (s / 2 + b) ** 2), Verdict.REFUTED),
            Flip("no mu", (lambda s, b, mu: (s + b) ** 2,
                           lambda s, b: s**2 / 4 + (s / 2 + root(2 * b**2)) ** 2), Verdict.REFUTED),
        ),
        rests_on=("nonconvex-nn/relu-symmetric-closed-form", "nonconvex-nn/strong-convexity-mu",
                  "nonconvex-nn/thm-7-final-step"),
        true_variants={"* 1 % more": "a weaker bound", "* / -> [*] *": "a weaker bound"},
    ),
)
utility_strong = Claim(
    id="nonconvex-nn/thm-7-utility-reading-strong",
    source="002, Theorem 7, read with mu the constant of strong convexity and |x| bounded, though not by sqrt(d)",
    quote=constant.quote,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=utility.statement,
    words="the last iterate has at most 2 (1 + 2 mu) times the best risk, and alpha, mu the constant of strong "
          "convexity, as n grows and the noise with it vanishes",
    hypotheses=(MU,), says=lambda mu: 2 * (1 + 2 * mu), check=on.judge_utility,
    flips=(Flip("1/mu", lambda mu: 1 / mu, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/thm-7-utility-repaired",
    expected="REFUTED ARGUED",
)
projected = Claim(
    id="nonconvex-nn/projection-destroys-sc",
    source="002, after Theorem 7: projecting the data destroys strong convexity, read as: leaves none of it",
    quote=(
        "We cannot use the same strategy as in Algorithm 2 since projecting the data will alter the sample "
        "distribution "
        "and destroy the strongly convex property."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\mu(\Phi x) = 0",
    words="after a projection of the data the surrogate is not strongly convex any more",
    hypotheses=(MU, positive("least", "the least eigenvalue of Phi Phi^T")), says=lambda mu, least: 0 * mu * least,
    check=on.judge_projected,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mu(\Phi x) \ge \mu(x)\,\lambda_{\min}(\Phi\Phi^T)",
        words="a projection to no more dimensions than there are keeps strong convexity: its constant is at least mu "
              "times the least eigenvalue of Phi Phi^T; what is lost is isotropy",
        says=lambda mu, least: mu * least,
        expected="HOLDS ARGUED",
        source="002, after Theorem 7: what a projection does",
        flips=(Flip("mu, whatever Phi is", lambda mu, least: mu, Verdict.REFUTED),),
        rests_on=("nonconvex-nn/strong-convexity-mu",),
        true_variants={"any mu": "the formula is the same", "any least": "the formula is the same"},
    ),
)
