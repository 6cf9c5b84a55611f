"""The claims about the updates (3), the averages and SGD's saddle; their checks are in `updates`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.core.domain import Parameter, positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.glmtron.algorithms.updates import (
    judge_all_enter,
    judge_count,
    judge_crossing,
    judge_exponent,
    judge_extra,
    judge_first,
    judge_gradient,
    judge_later,
    judge_list,
    judge_noise_helps,
    judge_omission,
    judge_permutation,
    judge_still,
)
from theorems.verdict import Verdict

_LINE = (real("s", "<x, w>"), real("y"))
_ETA = Parameter("eta", low=Fraction(0), high=Fraction(1), low_open=True)
_RECORDS = (positive_integer("records", "N"),)
_RULES = "SGD: wy=w;_ 1 —17- (ReLU(xtTWt_l) — )Xy - ]l[XtTWt_l > 0] 3)"
_SADDLE = (
    "as it sometimes fails to reach the optimal solution and can struggle with convergence under conditions of high "
    "noise, often settling at a saddle point instead"
)
_LINES_1 = (
    "Randomly permute {(x;,y;)}i o", "Initialize wg — 0", "fort=0,...,N —1do",
    "st < DP-Threshold ({(x}, y;) }/,, wy, &', d)", "vt = /2atr(H)Cy log?* N - s,", "Sample g; ~ N(0,Lixq)",
    "Wit < Wi — 1l + 2f18t)", "where I; = clip.,, (x/ (ReLU(x,; w;) — yy))",
)


def gradient(s: Any, relu: Any, slope: Any, y: Any) -> Any:
    """SGD's factor of x in (3)."""
    return (relu - y) * slope


def glmtron(s: Any, relu: Any, slope: Any, y: Any) -> Any:
    """GLMtron's factor of x in (3)."""
    return relu - y


update = Claim(
    id="glmtron/eq-3-update-rules", source="003, (3), SGD", quote=_RULES, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\nabla_w \tfrac12(\mathrm{ReLU}(x^T w) - y)^2 = (\mathrm{ReLU}(x^T w) - y)\,x\,1[x^T w > 0],"
              r"\ x^T w \ne 0",
    words="SGD's update in (3) is a step along the gradient of the squared loss, off the kink",
    hypotheses=_LINE, says=gradient, check=judge_gradient,
    flips=(Flip("GLMtron's", glmtron, Verdict.REFUTED),),
    true_variants={"beyond argument 2 *": "the indicator is 0 or 1"}, expected="HOLDS PROVED",
)
update_glmtron = Claim(
    id="glmtron/eq-3-update-rules-glmtron", source="003, (3), GLMtron",
    quote="GLMtron: w;=w;_1—1\" (ReLU(xtth,l) — Yt)X¢.", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"w_t = w_{t-1} - \eta(\mathrm{ReLU}(x_t^T w_{t-1}) - y_t)x_t",
    words="GLMtron's update is SGD's without the slope of ReLU",
    hypotheses=_LINE, says=glmtron, check=judge_omission,
    flips=(Flip("SGD's", gradient, Verdict.REFUTED),), expected="HOLDS PROVED",
)
algorithm_1 = Claim(
    id="glmtron/alg-1", source="003, Algorithm 1, what its output is made of (noise and clip aside)",
    quote="return w < + >0 wy", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\bar w = -\frac{\eta}{N}\sum_{t=0}^{N-1}(N - 1 - t)(l_t + 2f\gamma_t g_t)",
    words="the average of w_0, ..., w_{N-1} holds the noisy step at place t N - 1 - t times",
    hypotheses=_RECORDS, says=lambda t, n: n - 1 - t, check=judge_first,
    flips=(Flip("N - t", lambda t, n: n - t, Verdict.REFUTED),),
    uses=("glmtron/eq-3-update-rules-glmtron",), true_variants={"any records": "without records there are no steps"},
    expected="HOLDS PROVED",
)
algorithm_3 = Claim(
    id="glmtron/alg-3",
    source="003, Algorithm 3, what its output is made of, with the prefix sums that Section 5 asks for",
    quote="return Wy < + Zi\\;l Wy", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\bar w = -\frac{\eta}{N}\sum_{t=0}^{N-1}\big((N - t)\, l_t + \nu_t\big)",
    words="the average of w_1, ..., w_N holds the step at place t N - t times",
    hypotheses=_RECORDS, says=lambda t, n: n - t, check=judge_later,
    flips=(Flip("N - 1 - t, as in Algorithm 1", lambda t, n: n - 1 - t, Verdict.REFUTED),),
    uses=("glmtron/alg-4-prefix",), rests_on=("glmtron/alg-4-prefix-repaired", "glmtron/alg-3-closed-form"),
    true_variants={"any records": "without records there are no steps"}, expected="HOLDS ARGUED",
)
training_index = Claim(
    id="glmtron/alg-1-training-index", source="003, Algorithm 1, the average of w_0, ..., w_{N-1}",
    quote="Finally, the algorithm culminates by computing the average of the iterates.",
    whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"\bar w = \tfrac1N\sum_{t=0}^{N-1} w_t \text{ depends on every record}",
    words="every record enters the average of w_0, ..., w_{N-1}",
    hypotheses=(), says=0, check=judge_all_enter, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\bar w = \tfrac1N\sum_{t=1}^{N} w_t \text{ depends on every record}",
        words="every record enters the average of w_1, ..., w_N, as Algorithm 3 has it", says=1,
        expected="HOLDS PROVED",
        true_variants={"one more": "later iterates hold all records, too"},
    ),
)
exponent = Claim(
    id="glmtron/alg-1-gamma-exponent", source="003, Algorithm 1, step 6, and the end of Lemma D.3's proof",
    quote="vt = /2atr(H)Cy log?* N - s,", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\gamma_t^2 = \alpha\,\mathrm{tr}(H)\log^{2a}N \cdot 2C_2^2\log^{2a}N\, s_t^2",
    words="with the root over 2 alpha tr(H) alone, gamma^2 is the bound on |x|^2 times that on the squared residual",
    hypotheses=(positive("alpha"), positive("trace", "tr H"), positive("tail", "C_2"), positive("logs", "log^2a N"),
                positive("s")),
    says=lambda alpha, trace, tail, logs, s: 2 * alpha * trace * tail**2 * logs**2 * s**2, check=judge_exponent,
    flips=(Flip("with the root over all but s",
                lambda alpha, trace, tail, logs, s: 2 * alpha * trace * tail * logs * s**2, Verdict.REFUTED),),
    true_variants={"any *": "it is an identity"}, expected="HOLDS PROVED",
)
clipping_list = Claim(
    id="glmtron/alg-1-clipping-list", source="003, Section 4 of Algorithm 1: the norm goes into the list",
    quote="Upon determining the clipping threshold 4, it is subsequently incorporated into the existing clipping list "
          ".",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\text{a line of Algorithm 1 adds } \gamma_t \text{ to the list } \gamma",
    words="a line of Algorithm 1 adds gamma_t to its list", hypotheses=(), says=_LINES_1, check=judge_list,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\text{a line of Algorithm 3 adds } \gamma_t \text{ to the list } \gamma",
        words="a line of Algorithm 3 adds gamma_t to its list",
        says=("add ~y; to the list v and I' = max -~y", "l; < clip,, (x¢(ReLU(x, W¢) — y1))"), expected="HOLDS PROVED",
        true_variants={"[[]1[]] another word": "one line that does it is enough"},
    ),
)
permutation = Claim(
    id="glmtron/alg-1-permutation", source="003, Section 4: a random permutation treats records independently",
    quote="we begin with a random permutation of the dataset, ensuring that each data point is treated independently "
          "and uniformly.",
    whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"P(\pi(1) = i, \pi(2) = i) = \frac{1}{N^2}",
    words="after a random permutation the places are filled uniformly and independently",
    hypotheses=_RECORDS, says=lambda n: Fraction(1, 1) / n**2, check=judge_permutation, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"P(\pi(1) = i, \pi(2) = i) = 0",
        words="after a random permutation each place is filled uniformly, and no record is at two places",
        says=lambda n: 0 * n, expected="HOLDS PROVED",
        true_variants={"sign": "of 0", "1 % *": "of 0", "squared": "of 0",
                       "any records": "without two places nothing is said"},
    ),
)
efficiency = Claim(
    id="glmtron/glmtron-efficiency", source="003, Section 4, read as fewer multiplications a step than SGD",
    quote="The exclusion of this derivative in GLMtron’s framework not only simplifies the computational process but "
          "also enhances efficiency.",
    whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"\text{a step of GLMtron has fewer multiplications than one of SGD}",
    words="a step of GLMtron, 2d + 1 multiplications, has fewer than one of SGD",
    hypotheses=(positive_integer("dimension", "d"),), says=lambda d, active: 2 * d + 1, check=judge_count,
    flips=(Flip("d - 1 multiplications", lambda d, active: d - 1, Verdict.HOLDS),), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"2d + 1 - (d + a(d + 1)) = (1 - a)(d + 1),\ a = 1[x^T w > 0]",
        words="a step of GLMtron has as many multiplications as one of SGD where <x, w> > 0, and d + 1 more elsewhere",
        says=lambda d, active: (1 - active) * (d + 1), check=judge_extra, expected="HOLDS PROVED",
        flips=(Flip("none", lambda d, active: 0 * d, Verdict.REFUTED),),
        true_variants={"any dimension": "it is an identity"},
    ),
)
saddle = Claim(
    id="glmtron/sgd-saddle-prose", source="003, Section 4, first half: SGD settles at a saddle point (at w_0 = 0)",
    quote=_SADDLE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"w_0 = 0 \Rightarrow w_t = 0 \text{ for SGD, and 0 is no minimum}",
    words="without noise SGD never leaves w_0 = 0, which is a minimum in one direction and none in the other",
    hypotheses=(_ETA, positive("target", "w*")), says=lambda eta: 0 * eta, check=judge_still,
    flips=(Flip("eta/2, GLMtron's mean step", lambda eta: eta / 2, Verdict.REFUTED),),
    uses=("glmtron/eq-3-update-rules",),
    true_variants={"sign": "of 0", "1 % *": "of 0", "squared": "of 0", "any *": "0 is 0"}, expected="HOLDS ARGUED",
)
saddle_budget = Claim(
    id="glmtron/sgd-saddle-prose-budget", source="003, Section 4, second half: more so at a low privacy budget",
    quote="This issue is particularly pronounced when considering a low privacy budget.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\tau < \tau' \Rightarrow \lvert E w_2 - E w_1 \rvert_{\tau'} \le \lvert E w_2 - E w_1 \rvert_{\tau}",
    words="with more noise the mean of SGD moves less away from the saddle at 0",
    hypotheses=(_ETA,), says=lambda less, more: more <= less, check=judge_noise_helps,
    uses=("glmtron/sgd-saddle-prose",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\tau > 0: E w_2 - E w_1 = \eta/4,\quad \tau = 0: 0",
        words="any noise makes the mean of SGD leave the saddle at 0, by eta/4 in the second step; without it there is "
              "no move", says=lambda less, more: more > less, expected="HOLDS PROVED",
    ),
)
ftrl = Claim(
    id="glmtron/appB-ftrl-suboptimal",
    source="003, Appendix B: DP-FTRL may converge to a suboptimal solution (no noise)",
    quote="indicating that it may converge to a suboptimal solution.", whose=Whose.READING, severity=Stake.UTILITY,
    statement=saddle.statement.replace("SGD", "FTRL"),
    words="without noise FTRL, a sum of SGD's gradients, never leaves w_0 = 0, which is no minimum",
    hypotheses=saddle.hypotheses, says=lambda eta: 0 * eta, check=judge_still,
    flips=(Flip("eta/2", lambda eta: eta / 2, Verdict.REFUTED),), uses=("glmtron/eq-3-update-rules",),
    true_variants=saddle.true_variants, expected="HOLDS ARGUED",
)
mechanism = Claim(
    id="glmtron/fig-1-mechanism", source="003, Figure 1: one-hot data, a start with the wrong sign, no noise",
    quote="Training trajectories of DP-SGD and DP-GLMtron on a 2D noiseless ReLU regression with symmetric Bernoulli "
          "data.",
    whose=Whose.OURS, severity=Stake.UTILITY,
    statement=r"w_i < 0 < w^*_i,\ x = e_i: \text{ SGD } w_i,\ \text{GLMtron } w_i + \eta w^*_i",
    words="from a start of the wrong sign SGD does not cross 0, since the records that ask for it have no gradient, "
          "and GLMtron does",
    hypotheses=(positive("model", "-w_i"), positive("target", "w*_i"), _ETA),
    says=(lambda w, target, eta: w, lambda w, target, eta: w + eta * target), check=judge_crossing,
    flips=(Flip("SGD crosses as well", (lambda w, target, eta: w + eta * target,) * 2, Verdict.REFUTED),),
    true_variants={"any target": "the two steps are the same expressions for all numbers"}, expected="HOLDS PROVED",
)
