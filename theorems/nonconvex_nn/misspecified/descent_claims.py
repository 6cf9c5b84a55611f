"""Lemmas 13 to 15 of document 002 and the displays of their proofs; `descent` has the proofs and the checks."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import non_negative, positive, positive_integer, probability, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.nonconvex_nn.misspecified import descent as on
from theorems.nonconvex_nn.misspecified.laws import MENDED
from theorems.nonconvex_nn.misspecified.surrogate import MU, judge_triangle
from theorems.tools.either import root
from theorems.verdict import Verdict

_TAU = positive("tau").at_most(Fraction(1, 6))
_ETA = positive("eta").at_most(Fraction(1, 16))
_RATES = (_TAU, _ETA)
_EVERY = {"any tau": "the formula is the same for every number", "any eta": "the formula is the same for every number"}

lemma_13 = Claim(
    id="nonconvex-nn/lem-13",
    source="002, Lemma 13: the mean gradient at a fixed w is small; " + MENDED,
    quote=(
        r"$$\left\| \frac{1}{n} \sum_{i=1}^n (\sigma(\langle w, x_i \rangle) - y_i) x_i \right\|_2 \leq \alpha.$$"
    ),
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"\left\lVert \tfrac1n \textstyle\sum_i (\sigma(\langle w, x_i\rangle) - y_i) x_i \right\rVert_2 \le "
              r"\alpha \text{ for fixed } w \text{ and large } n",
    words="for every fixed w the mean gradient of enough records is as small as one likes (with a sigmoid link)",
    hypotheses=(real("gradient"),), says=lambda gradient: 0 * gradient, check=on.judge_lemma_13,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\left\lVert \tfrac1n \textstyle\sum_i (\sigma(\langle w, x_i\rangle) - y_i) x_i - "
                  r"\nabla L^\ell_{\mathcal{P}}(w) \right\rVert_2 \le \alpha",
        words="for every fixed w the mean gradient of enough records is as near to the population's as one likes; at "
              "w_l that one is 0",
        says=lambda gradient: gradient,
        expected="HOLDS ARGUED",
        source="002, Lemma 13, about the deviation (or at w = w_l), with a ReLU",
        rests_on=("nonconvex-nn/lem-13-size",),
    ),
)
size = Claim(
    id="nonconvex-nn/lem-13-size",
    source="002, Lemma 13: the number of records, with 1/zeta for its powers of log(1/zeta)",
    quote=r"$$n \geq \tilde{\Omega}\left(\frac{d}{\alpha^2} \log^4 \frac{d}{\zeta} (r+1)^2\right),$$",
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"n \ge \frac{R^2 (2\lVert w\rVert^2 + 2B^2)}{\zeta\alpha^2},\ \lVert x\rVert^2 \le R^2 = C^2 d",
    words="R^2 (2 |w|^2 + 2 B^2)/(zeta alpha^2) records bring the mean gradient within alpha with probability 1 - zeta",
    hypotheses=(positive("square", "R^2"), non_negative("weight", "|w|"), positive("label", "B"), positive("alpha"),
                probability("zeta")),
    says=lambda square, w, b, alpha, zeta: square * (2 * w**2 + 2 * b**2) / (zeta * alpha**2), check=on.judge_size,
    flips=(Flip("without the labels", lambda square, w, b, alpha, zeta: 2 * square * w**2 / (zeta * alpha**2),
                Verdict.REFUTED),),
    true_variants={"1 % more": "more records", "any square": "a square", "any weight": "only its square enters",
                   "any label": "only its square enters"},
    expected="HOLDS ARGUED",
)
lemma_14 = Claim(
    id="nonconvex-nn/lem-14",
    source="002, Lemma 14",
    quote=(
        r"$$\langle \nabla L^\ell(w; D) - \nabla L^\ell(w_\ell^*; D), w - w_\ell^* \rangle \geq \tau \|w - "
        r"w_\ell^*\|_2^2 + "
        r"\beta \|\nabla L^\ell(w; D) - \nabla L^\ell(w_\ell^*; D)\|_2^2$$ with $\tau = \frac{\mu}{3}$ and "
        r"$\beta = \frac{1}{8}$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\langle \Delta, u \rangle \ge \tfrac\mu3 \lVert u \rVert^2 + \tfrac18 \lVert \Delta \rVert^2,"
              r"\ n \ge \tilde\Omega(d/\mu^2)",
    words="on enough records the surrogate's gradients are coercive with tau = mu/3 and beta = 1/8, for all w at once",
    hypotheses=(MU,), says=(lambda mu: mu / 3, Fraction(1, 8)), check=on.judge_coercive,
    flips=(Flip("tau = mu", (lambda mu: mu, Fraction(1, 8)), Verdict.REFUTED),
           Flip("beta = 2", (lambda mu: mu / 3, Fraction(2)), Verdict.REFUTED)),
    rests_on=("nonconvex-nn/strong-convexity-mu",),
    true_variants={"[[]0[]] 1 % less": "a weaker bound", "[[]0[]] 3 -> 4*": "a weaker bound",
                   "[[]1[]] 1 % less": "a weaker bound"},
    expected="HOLDS ARGUED",
)
lemma_15 = Claim(
    id="nonconvex-nn/lem-15",
    source="002, Lemma 15 with its condition on m, whose proof has another factor sqrt(d)",
    quote=(
        r"then we have $\|w_i - w_\ell^*\|_2 \leq 2\|w_\ell^*\|_2$ for all $i = 0, \dots, T$ when $m \geq "
        r"\tilde{\Omega}\left(\sqrt{\frac{1}{\tau}(4\eta + \frac{1}{\tau})} "
        r"\frac{(\sqrt{d}\|w_\ell^*\|_{2+B})\sqrt{\log "
        r"1/\delta \log 1/\zeta}}{\epsilon \alpha}\right)$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"m \ge K\sqrt{\tfrac1\tau(4\eta + \tfrac1\tau)}\,\frac{(\sqrt d\lVert w_\ell\rVert + B)\ell}"
              r"{\epsilon\alpha} \Rightarrow \lVert w_i - w_\ell \rVert \le 2\lVert w_\ell \rVert",
    words="batches of the printed size keep all iterates within 2 |w_l| of w_l",
    hypotheses=(positive_integer("dimension"), positive("label", "B"), probability("epsilon"), positive("log")),
    says=lambda d, w, b, eps, alpha, log: (
        root(d * 0 + Fraction(75, 2)) * (root(d) * w + b) * log / (eps * alpha)),
    check=on.judge_noise_size,
    uses=("nonconvex-nn/lem-14", "nonconvex-nn/lem-13", "nonconvex-nn/eq-12", "nonconvex-nn/lem-15-induction"),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"m \ge K\sqrt{d\,\tfrac1\tau(4\eta + \tfrac1\tau)}\,\frac{(\sqrt d\lVert w_\ell\rVert + B)\ell}"
                  r"{\epsilon\alpha} \Rightarrow \lVert w_i - w_\ell \rVert \le 2\lVert w_\ell \rVert",
        words="batches larger by sqrt(d), and by a constant, keep all iterates within 2 |w_l| of w_l (with the printed "
              "noise; the noise that privacy needs asks for another sqrt(d))",
        says=lambda d, w, b, eps, alpha, log: (
            root(d * Fraction(75, 2)) * (root(d) * w + b) * log / (eps * alpha)),
        expected="HOLDS ARGUED",
        source="002, Lemma 15 with the condition of its proof",
        rests_on=("nonconvex-nn/lem-14", "nonconvex-nn/eq-12-repaired", "nonconvex-nn/lem-15-induction-repaired"),
        true_variants={"1 % *": "the constant before it is not told", "75 -> 76*": "the constant before it is not told",
                       "2 -> 3*": "the constant before it is not told"},
    ),
)
cross = Claim(
    id="nonconvex-nn/lem-15-cross-term",
    source="002, proof of Lemma 15, first display: the square of a step, multiplied out",
    quote=(
        r"\|w_i - w_\ell^*\|_2^2 &= \|w_{i-1} - w_\ell^*\|_2^2 - \eta \langle \nabla L^\ell(w_{i-1}; D_i) + "
        r"\zeta_{i-1}, "
        r"w_{i-1} - w_\ell^* \rangle + \eta^2 \|\nabla L^\ell(w_{i-1}; D_i) + \zeta_{i-1}\|_2^2"
    ),
    whose=Whose.TYPO,
    severity=Stake.PROOF,
    statement=r"\lVert u - \eta v \rVert^2 = \lVert u \rVert^2 - \eta\langle v, u\rangle + \eta^2\lVert v \rVert^2",
    words="the square of a step has the cross term -eta <v, u>",
    hypotheses=(positive("eta"),), says=1, check=on.judge_expansion,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert u - \eta v \rVert^2 = \lVert u \rVert^2 - 2\eta\langle v, u\rangle + \eta^2\lVert v "
                  r"\rVert^2",
        words="the square of a step has the cross term -2 eta <v, u>",
        says=2, expected="HOLDS PROVED",
        source="002, proof of Lemma 15, with 2 eta",
        true_variants={"any eta": "the expansion is the same"},
    ),
)
twelve = Claim(
    id="nonconvex-nn/eq-12",
    source="002, (12), as it would follow from Lemma 14",
    quote=(
        r"&\leq (1 - \frac{\tau\eta}{2}) \|w_{i-1} - w_\ell^*\|_2^2 + \eta(4\eta + \frac{1}{\tau}) \|\nabla L^\ell"
        r"(w_\ell^*; D_i)\|_2^2 + \eta(4\eta + \frac{1}{\tau}) \|\zeta_{i-1}\|_2^2 \tag{12}"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\lVert w_i - w_\ell\rVert^2 \le (1 - \tfrac{\tau\eta}2)\lVert u\rVert^2 + \eta(4\eta + \tfrac1\tau)"
              r"(\lVert g\rVert^2 + \lVert\zeta\rVert^2)",
    words="a step takes |u|^2 to at most (1 - tau eta/2)|u|^2 + eta (4 eta + 1/tau)(|g|^2 + |zeta|^2)",
    hypotheses=_RATES, says=(lambda tau, eta: 1 - tau * eta / 2, lambda tau, eta: eta * (4 * eta + 1 / tau)),
    check=on.judge_twelve,
    uses=("nonconvex-nn/lem-14", "nonconvex-nn/lem-15-cross-term"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert w_i - w_\ell\rVert^2 \le (1 - \tau\eta)\lVert u\rVert^2 + \eta(4\eta + \tfrac2\tau)"
                  r"(\lVert g\rVert^2 + \lVert\zeta\rVert^2),\ \eta \le \beta",
        words="a step takes |u|^2 to at most (1 - tau eta)|u|^2 + eta (4 eta + 2/tau)(|g|^2 + |zeta|^2), for eta <= "
              "beta",
        says=(lambda tau, eta: 1 - tau * eta, lambda tau, eta: eta * (4 * eta + 2 / tau)),
        expected="HOLDS ARGUED",
        source="002, (12) with the cross term that the square has",
        flips=(Flip("1 - 4 tau eta", (lambda tau, eta: 1 - 4 * tau * eta, lambda tau, eta: eta * (4 * eta + 2 / tau)),
                    Verdict.REFUTED),),
        rests_on=("nonconvex-nn/lem-14",),
        true_variants={**_EVERY, "* 1 % more": "a weaker bound", "[[]1[]] 4 -> 5*": "a weaker bound",
                       "[[]1[]] 2 -> 3*": "a weaker bound", "[[]0[]] - -> + *": "a weaker bound",
                       "[[]0[]] 1 -> 2*": "a weaker bound", "[[]1[]] * -> *": "a weaker bound"},
    ),
)
thirteen = Claim(
    id="nonconvex-nn/eq-13",
    source="002, (13): the noise at w_(i-1) from that at w_l",
    quote=(
        r"&\quad + \tilde{O}(d\eta(4\eta + \frac{1}{\tau}) \frac{(\sqrt{d}\|w_\ell^*\|_2 + B)^2 \log(1/\delta) "
        r"\log 1/\zeta}{m^2 \epsilon^2}), \tag{13}"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"(\sqrt d\lVert w_{i-1}\rVert + B)^2 \le 2 d\lVert w_{i-1} - w_\ell\rVert^2 + 2(\sqrt d\lVert "
              r"w_\ell\rVert"
              r" + B)^2",
    words="the square of p + q, p = sqrt(d) |w - w_l| and q = sqrt(d) |w_l| + B, is at most 2 p^2 + 2 q^2",
    hypotheses=(real("p"), real("q")), says=lambda p, q: 2 * q + 2 * p, check=judge_triangle,
    flips=(Flip("p^2 + 2 q^2", lambda p, q: p + 2 * q, Verdict.REFUTED),),
    uses=("nonconvex-nn/eq-12",),
    expected="HOLDS PROVED",
)
nonexpansive = Claim(
    id="nonconvex-nn/lem-15-nonexpansive",
    source="002, proof of Lemma 15, case 2, and of Theorem 7, case 2: why a step does not expand",
    quote=(
        r"where the second inequality is due to the convexity of the surrogate loss ℓ such that $\langle \nabla L^\ell"
        r"(w_{i-1}; D_i) - \nabla L^\ell(w_\ell^*; D_i), w_{i-1} - w_\ell^* \rangle \geq 0$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\langle\Delta, u\rangle \ge 0 \Rightarrow \lVert u - \eta\Delta\rVert \le \lVert u\rVert",
    words="convexity alone keeps a step of eta <= 1/16 from expanding",
    hypotheses=(_ETA,), says=lambda beta, square: 0 * beta * square, check=on.judge_nonexpansive,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\langle\Delta, u\rangle \ge \beta\lVert\Delta\rVert^2,\ \eta \le 2\beta \Rightarrow "
                  r"\lVert u - \eta\Delta\rVert \le \lVert u\rVert",
        words="with <Delta, u> >= beta |Delta|^2 a step of eta <= 2 beta does not expand; Lemma 14 gives it for all w",
        says=lambda beta, square: beta * square,
        expected="HOLDS PROVED",
        source="002, proof of Lemma 15, by co-coercivity",
        flips=(Flip("a hundredth of beta", lambda beta, square: beta * square / 100, Verdict.REFUTED),),
        true_variants={"1 % more": "a stronger hypothesis", "any eta": "eta <= 2 beta is what the proof asks for"},
    ),
)
induction = Claim(
    id="nonconvex-nn/lem-15-induction",
    source="002, proof of Lemma 15, case 1: its last step",
    quote=(
        r"$$\|w_i - w_\ell^*\|_2^2 \leq (1 - \frac{\tau\eta}{4}) \|w_{i-1} - w_\ell^*\|_2^2 + \frac{2\alpha^2}{9} \leq "
        r"4\|w_\ell^*\|_2^2.$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"(1 - \tfrac{\tau\eta}4)\lVert u\rVert^2 + \tfrac{2\alpha^2}9 \le 4\lVert w_\ell\rVert^2,\ \lVert "
              r"u\rVert"
              r" \le 2\lVert w_\ell\rVert,\ \alpha < \lVert w_\ell\rVert",
    words="a step from within 2 |w_l| stays within 2 |w_l|, with 2 alpha^2/9 added and any alpha below |w_l|",
    hypotheses=(probability("share", "alpha/|w_l|"), _TAU, _ETA), says=lambda tau, eta, alpha: 2 * alpha**2 / 9,
    check=on.judge_induction,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"(1 - \tfrac{\tau\eta}4)\lVert u\rVert^2 + \tfrac{2\tau\eta\alpha^2}9 \le 4\lVert w_\ell\rVert^2",
        words="with 2 tau eta alpha^2/9 added, which the choice of the main proof gives, the induction goes through",
        says=lambda tau, eta, alpha: 2 * tau * eta * alpha**2 / 9,
        expected="HOLDS ARGUED",
        source="002, proof of Lemma 15, with tau^2 under the root as in the main proof",
        flips=(Flip("2 tau eta alpha^2", lambda tau, eta, alpha: 2 * tau * eta * alpha**2, Verdict.REFUTED),),
        true_variants={"1 % *": "there is room up to tau eta alpha^2", "* -> *": "there is room", "sign": "less is "
                                                                                                          "added"},
    ),
)
alpha_root = Claim(
    id="nonconvex-nn/thm-7-alpha-root",
    source="002, proof of Theorem 7: alpha for Lemma 13, with alpha^2 beside the root",
    quote=r"and take $\alpha = \sqrt{\frac{\tau^2}{9(4\tau\beta+1)}} \alpha^2$ in Lemma 13",
    whose=Whose.TYPO,
    severity=Stake.PROOF,
    statement=r"\tfrac1\tau(4\eta + \tfrac1\tau)\alpha'^2 \le \tfrac{\alpha^2}9,\ \alpha'^2 = "
              r"\tfrac{\tau^2}{9(4\tau\beta+1)}\alpha^4",
    words="with alpha^2 beside the root, the gradient's part is at most alpha^2/9",
    hypotheses=(positive("alpha"), *_RATES),
    says=lambda tau, beta, alpha: tau**2 / (9 * (4 * tau * beta + 1)) * alpha**4,
    check=on.judge_square,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\alpha'^2 = \tfrac{\tau^2}{9(4\tau\beta+1)}\alpha^2,\ \beta = \tfrac18 \ge \eta",
        words="with alpha^2 under the root the gradient's part is at most alpha^2/9, as eta <= beta = 1/8",
        says=lambda tau, beta, alpha: tau**2 / (9 * (4 * tau * beta + 1)) * alpha**2,
        expected="HOLDS PROVED",
        source="002, proof of Theorem 7, the root over all of it",
        flips=(Flip("tau in place of tau^2", lambda tau, beta, alpha: tau / (9 * (4 * tau * beta + 1)) * alpha**2,
                    Verdict.REFUTED),),
        true_variants={"1 % less": "a smaller alpha'", "9 -> 10*": "a smaller alpha'", "4 -> 5*": "a smaller alpha'",
                       "1 -> 2*": "a smaller alpha'", "any alpha": "only its square enters",
                       "[*] -> + *": "a larger denominator for tau <= 1/6"},
    ),
)
alpha_tau = Claim(
    id="nonconvex-nn/thm-7-alpha-root-tau",
    source="002, proof of Lemma 15: alpha for Lemma 13 with tau once, for what is added up over all steps",
    quote=r"take $\alpha = \sqrt{\frac{\tau}{9(4\tau\beta+1)}} \alpha^2$ in Lemma 13",
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"\alpha'^2 = \tfrac{\tau}{9(4\tau\beta+1)}\alpha^2",
    words="with tau once, and alpha^2 under the root, the gradient's part of all steps is at most alpha^2/9",
    hypotheses=(positive("alpha"), *_RATES), says=lambda tau, beta, alpha: tau / (9 * (4 * tau * beta + 1)) * alpha**2,
    check=on.judge_square,
    flips=(Flip("tau^2", lambda tau, beta, alpha: tau**2 / (9 * (4 * tau * beta + 1)) * alpha**2, Verdict.HOLDS),),
    repaired_by="nonconvex-nn/thm-7-alpha-root-repaired",
    expected="REFUTED PROVED",
)
geometric = Claim(
    id="nonconvex-nn/thm-7-geometric-sum",
    source="002, proof of Theorem 7: (12) added up over the steps",
    quote=(
        r"(1 - \frac{\tau\eta}{2})^i \|w_0 - w_\ell^*\|_2^2 + \frac{1}{\tau} (4\eta + \frac{1}{\tau}) "
        r"\frac{\tau^2}{9(4\tau\beta+1)} \alpha^2 + \frac{\alpha^2}{9}"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\textstyle\sum_j \eta(1 - \tfrac{\tau\eta}2)^j \le \tfrac1\tau",
    words="what the steps add, times 1 - tau eta/2 a step, comes to at most 1/tau of it",
    hypotheses=_RATES, says=lambda tau, eta: 1 / tau, check=on.judge_geometric,
    uses=("nonconvex-nn/eq-12",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\textstyle\sum_j \eta(1 - \tfrac{\tau\eta}2)^j = \tfrac2\tau",
        words="what the steps add comes to 2/tau of it, so that 4 alpha^2/9 stands where 2 alpha^2/9 is printed",
        says=lambda tau, eta: 2 / tau, expected="HOLDS PROVED",
        source="002, proof of Theorem 7, the series summed",
        true_variants={"any eta": "the sum does not depend on it", "1 % more": "a weaker bound",
                       "2 -> 3 *": "a weaker bound"},
    ),
)
cases = Claim(
    id="nonconvex-nn/thm-7-final-step-cases",
    source="002, (14), (15) and the cases of the proof of Theorem 7: their sums",
    quote=(
        r"$$\|w_T - w_\ell^*\|_2^2 \leq (1 - \frac{\eta\tau}{2})^{T-\tilde{t}-1} \|w_{\tilde{t}+1} - w_\ell^*\|_2^2 + "
        r"\frac{2\alpha^2}{9} \leq \frac{2}{3} \alpha^2. \quad (15)$$"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\tfrac29 + \tfrac29 = \tfrac49,\quad \tfrac13 + \tfrac13 = \tfrac23,\quad (\tfrac23)^2 + \tfrac29 = "
              r"\tfrac23",
    words="the sums of the cases are 4 alpha^2/9, 2 alpha/3 and 2 alpha^2/3, all within alpha",
    hypotheses=(positive("alpha"),), says=(Fraction(4, 9), Fraction(2, 3), Fraction(2, 3)), check=on.judge_cases,
    flips=(Flip("1/2 alpha^2 in (15)", (Fraction(4, 9), Fraction(2, 3), Fraction(1, 2)), Verdict.REFUTED),),
    uses=("nonconvex-nn/thm-7-geometric-sum", "nonconvex-nn/lem-15-nonexpansive"),
    true_variants={"any alpha": "both sides are multiples of its square, or of it"},
    expected="HOLDS PROVED",
)
