"""The claims of Section 4.3 of document 001 about its accounting (`theorems.sbcd.experiments.prose` judges them)."""

from __future__ import annotations

from fractions import Fraction

from oracle.core.domain import Parameter, non_negative_integer, positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.sbcd.experiments.prose import (
    judge_disparity,
    judge_every_noise,
    judge_inverse,
    judge_iterations,
    judge_last,
    judge_share,
    judge_vanishing,
    judge_zero,
)
from theorems.verdict import Verdict

_PRODUCT = positive("product", "q, the square of L_F L_T")
_BLOCK = (positive("noise"), _PRODUCT, positive_integer("batches"), positive_integer("epochs"), positive("s"))
_INVERSE = (
    r"Specifically, these contributions are inversely proportional to $o(\eta, j, k)$, i.e., the variance of "
    "the noise"
)
_LAST = (
    "under the hidden state assumption, the calibrated noise in the last few epochs primarily contributes to "
    "the total privacy loss."
)
_DIVERGES = (
    "Conversely, the privacy loss diverges if the noise magnitude continues to decrease in the late phase of "
    "training."
)

inverse = Claim(
    id="sbcd/contribution-inverse",
    source="001, Section 4.3: contributions are inversely proportional to the variance (which is 2 eta o, not o)",
    quote=_INVERSE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{contribution}_k \propto 1/o_k",
    words="an epoch's contribution to the privacy loss is inversely proportional to the noise variance",
    hypotheses=_BLOCK, says=None, check=None,
    readings=("sbcd/contribution-inverse-reading-own-epoch", "sbcd/contribution-inverse-repaired"),
    uses=("sbcd/thm-4.6-eq-11",),
    expected="AMBIGUOUS PROVED",
)
inverse_own = Claim(
    id="sbcd/contribution-inverse-reading-own-epoch", source="001, Section 4.3, that epoch's variance alone changed",
    quote=_INVERSE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"o_k \to s\,o_k \implies \text{contribution}_k \to \text{contribution}_k / s",
    words="an epoch's contribution to the privacy loss is inversely proportional to that epoch's noise variance",
    hypotheses=_BLOCK, says=lambda k, epoch, s: s if k == epoch else 1, check=judge_inverse,
    flips=(Flip("all epochs", lambda k, epoch, s: s, Verdict.HOLDS),),
    repaired_by="sbcd/contribution-inverse-repaired",
    expected="REFUTED PROVED",
)
inverse_repaired = Claim(
    id="sbcd/contribution-inverse-repaired", source="001, Section 4.3, with all variances scaled together",
    quote=_INVERSE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"o \to s\,o \implies \text{contribution}_k \to \text{contribution}_k / s \text{ for every } k",
    words="scaling the noise variance of all epochs divides every contribution by the same number",
    hypotheses=_BLOCK, says=lambda k, epoch, s: s, check=judge_inverse,
    flips=(Flip("scaling the later epochs only", lambda k, epoch, s: s if k >= epoch else 1, Verdict.REFUTED),),
    survivors={"any batches": "without a batch there is no contribution", "any epochs": "nor without an epoch",
               "any product": "the algebra does not use the sign of q"},
    expected="HOLDS PROVED",
)
last = Claim(
    id="sbcd/last-epochs",
    source="001, Section 4.3: the last few epochs primarily contribute (5 of 30 and more than half are ours)",
    quote=_LAST, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k > \tfrac12 \varepsilon_K,\ K = 30",
    words="the last 5 of 30 epochs contribute more than half of the loss",
    hypotheses=(), says=None, check=None, readings=("sbcd/last-epochs-reading-convex", "sbcd/last-epochs-repaired"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/contraction"),
    expected="AMBIGUOUS PROVED",
)
last_convex = Claim(
    id="sbcd/last-epochs-reading-convex", source="001, Section 4.3, for every convex block: L_F = 1", quote=_LAST,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k > \tfrac12 \varepsilon_K \quad (L_F = 1,\ K = 30)",
    words="the last 5 of 30 epochs contribute more than half of the loss, for the L_F = 1 that convexity gives",
    hypotheses=(), says=(Fraction(1), ""), check=judge_last, repaired_by="sbcd/last-epochs-repaired",
    flips=(Flip("L_F = 0.99", (Fraction(99, 100), ""), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
last_repaired = Claim(
    id="sbcd/last-epochs-repaired", source="001, Section 4.3, at Figure 1's setting with L_F = 0.99", quote=_LAST,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k = 0.8661\,\varepsilon_K \quad (L_F = 0.99,\ K = 30,\ n/b = 21,"
              r"\ o = 0.01)",
    words="at Figure 1's setting with L_F = 0.99 the last 5 of 30 epochs contribute 0.8661 of the loss, at every j_0",
    hypotheses=(), says=(Fraction(99, 100), "0.8661"), check=judge_last,
    flips=(Flip("L_F = 1.01", (Fraction(101, 100), ""), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
last_share = Claim(
    id="sbcd/last-epochs-share", source="001, Section 4.3, without contraction (finding)", severity=Stake.UTILITY,
    statement=r"\sum_{k \ge K - m} \text{contribution}_k \le \frac{2m}{K - 1}\,\varepsilon_K \quad (L_F L_T = 1)",
    words="without contraction, with constant noise, the last m of K epochs contribute at most 2 m/(K - 1) of the loss",
    hypotheses=(positive_integer("batches"), Parameter("epochs", kind="integer", low=Fraction(2)),
                positive_integer("last", "m, the last epochs that are counted")),
    says=lambda m, epochs: Fraction(2) * m / (epochs - 1), check=judge_share,
    flips=(Flip("a tenth of it", lambda m, epochs: Fraction(1, 5) * m / (epochs - 1), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
diverges = Claim(
    id="sbcd/decrease-diverges", source="001, Section 4.3: the loss diverges if the noise continues to decrease",
    quote=_DIVERGES, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"o_k \text{ decreasing} \implies \varepsilon_K \to \infty",
    words="noise that continues to decrease makes the privacy loss diverge",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/decrease-diverges-reading-every-noise", "sbcd/decrease-diverges-repaired"),
    uses=("sbcd/thm-4.6-eq-11",),
    expected="AMBIGUOUS PROVED",
)
diverges_every = Claim(
    id="sbcd/decrease-diverges-reading-every-noise",
    source="001, Section 4.3, any noise that falls for ever", quote=_DIVERGES,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"o_k > o_{k+1} \text{ for all } k \implies \varepsilon_K \to \infty",
    words="noise that decreases for ever makes the privacy loss diverge, 1 + 2^-k for one",
    hypotheses=(), says=Fraction(1), check=judge_every_noise, repaired_by="sbcd/decrease-diverges-repaired",
    flips=(Flip("to 0", Fraction(0), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
diverges_repaired = Claim(
    id="sbcd/decrease-diverges-repaired", source="001, Section 4.3, for noise that tends to 0", quote=_DIVERGES,
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{\varepsilon_K}{\alpha} \ge \frac{\eta S_g^2}{4b^2 o_{K-1}} \left(\frac{q}{1+q}\right)^{N-1-j_0}"
              r" \to \infty \text{ as } o_{K-1} \to 0",
    words="noise that tends to 0 makes the privacy loss diverge: the last touch outgrows the factors after it",
    hypotheses=(positive("noise", "that of the last epoch"), _PRODUCT, non_negative_integer("steps", "n/b - 1 - j_0")),
    says=lambda o, q, n: (q / (1 + q)) ** n / o, check=judge_vanishing,
    flips=(Flip("without the factors", lambda o, q, n: 1 / o, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
zero = Claim(
    id="sbcd/zero-before-j0",
    source="001, Section 4.3: the loss is zero for the first j_0 mini-batches (start independent of the data)",
    quote="as the privacy loss is zero for the first j_0 mini-batches of the first epoch.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"R_\alpha(\theta_0^j \,\|\, \theta_0'^j) = 0 \text{ for } j \le j_0",
    words="nothing is lost in the first j_0 mini-batches of the first epoch",
    hypotheses=(non_negative_integer("position", "j_0"),), says=lambda before: before, check=judge_zero,
    flips=(Flip("the first j_0 + 1", lambda before: before + 1, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
iterations = Claim(
    id="sbcd/fig-1a-j0-iterations", source="001, Section 4.3, the stages being iterations of the first epoch",
    quote="This observation is consistent with Theorem 4.6, as the privacy loss is zero for the first j_0 mini-batches "
          "of the first epoch.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"j_0 < t \le j_0' \implies \varepsilon^t(j_0') = 0 < \varepsilon^t(j_0)",
    words="in the first epoch, after more than j_0 and at most j_0' steps, a record in batch j_0' has lost nothing "
          "and one in batch j_0 something",
    hypotheses=(positive("noise"), _PRODUCT, non_negative_integer("earlier", "j_0, below the later one"),
                positive_integer("later", "j_0'")),
    says=lambda later: later, check=judge_iterations,
    flips=(Flip("one iteration longer", lambda later: later + 1, Verdict.REFUTED),),
    survivors={"any later": "with j_0' = 0 there is no such iteration"},
    expected="HOLDS PROVED",
)
disparity = Claim(
    id="sbcd/fig-1a-disparity", source="001, Section 4.3: as training progresses the disparity between j_0 diminishes",
    quote="However, as the training progresses, this disparity diminishes.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac{\text{contribution}_k(j_0)}{\text{contribution}_k(0)} \text{ falls in } k: 24.95 \text{ to } 1.49"
              r"\ (j_0 = 20),\ 18.13 \text{ to } 1.35\ (j_0 = 15)",
    words="in the logarithmic graph the curves of j_0 = 15 and 20 come closer to that of 0 every epoch (L_F = 0.99)",
    hypotheses=(), check=judge_disparity,
    says=(lambda late, early: late / early, {15: ("18.13", "1.35"), 20: ("24.95", "1.49")}),
    flips=(Flip("as a difference", (lambda late, early: late - early, {20: ("0", "1")}), Verdict.REFUTED),),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"),
    expected="HOLDS PROVED",
)
