r"""Remarks 14 and 15, the factors that (7) leaves out, and steps of the proof of Theorem 13 that are no algebra.

Reach (Remarks 14 and 15), L = 2 and one record (x, y), |x| = 1. f_ntk moves by at most (R/sqrt m)(|df/dW_1| +
|df/dW_2|) <= R (|W_2(0)| + |h|), |h| <= |W_1(0) x|. A chi square of m degrees exceeds 2m with probability at most
(2/e)^(m/2) (Chernoff), so |W_1(0) x| <= 2 and |W_2(0)| <= sqrt 2 but for twice that; f(W(0), x) is N(0, |h|^2) given h,
at most 2 with probability Phi(1) > 0.84. So f_ntk <= 2 + (2 + sqrt 2) R for every m, and a label above that is out of
reach for ever.

Scaling ((7) lacks S L^(3/2) R). With s l for l, s C for C (so eta/s for eta) the run is the same, and risk,
approximation error and privacy error are multiplied by s. One clipped step, T = 1: once |grad f| >= sqrt(m) |h| makes
every gradient longer than C, the output depends on the label only by the sign of f(W(0), x) - y. The labels 10 and 20
have one sign but for |f(W(0), x)| >= 10, hence one output, which for one of the two labels is 5 away with probability
nearly 1/2 at least: the risk is s (sqrt 26 - 1). R that reaches 20 makes the approximation error 0, n as large as one
likes the privacy error. So c sqrt(log(1/xi)) alone is too little once s (sqrt 26 - 1) > c sqrt(log(1/xi)): for every c.

No privacy (Remark 14). M >= k log(T/gamma_1) leaves n = k log(T/gamma_1) records admissible, and m as large as one
likes. Let x be uniform on 2n orthonormal points with labels +-1 drawn once. At least n of them are unseen; f there does
not depend on their labels, so that with probability > 0.85 over the labels (n >= 8) a quarter of the unseen have the
other sign, each of loss at least sqrt 2 - 1: the risk is at least (sqrt 2 - 1)/8 where the least risk is 0. L = 2: the
Gram matrix of h(x_i) tends to (1 - 1/pi) I + 11^T/pi as m grows, so moving W_2(0) by |v| (1 - 1/pi)^(-1/2)/sqrt m, v_i
= y_i - 3 f(W(0), x_i), fits all seen labels even by Definition 8 as printed; |v|^2 <= n (1 + 3 sqrt(2 log(20 n)))^2 but
for 1/10. That R grows like sqrt(log T) log log T: the first term vanishes as T grows, and the approximation error is 0.

Online to batch. Given the past, the next loss has the mean L_D(W_t) if its record is fresh. A learner that remembers
the labels of n records and says 0 elsewhere has L_D = 1 for labels +-1 and |f - y|, but loss 0 on every record seen
before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.formulas import at_least, exactly
from theorems.tools.readings import reading
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Formula = Callable[..., Any]
_LOSS = sympy.sqrt(2) - 1
_LOG = sympy.log(10)


def judge_reach(radius: Formula, given: Domain) -> Finding:
    """Whether, with R = radius(m, R_0), one record's approximation error vanishes as m grows, whatever its label."""
    m, start = sympy.Symbol("m", positive=True), given.symbol("R")
    if not sympy.limit(radius(m, start), m, sympy.oo).is_finite:
        return undecided("R grows with m: every label comes within reach", 1)
    first = Fraction(1, 2) if given.contains(R="1/2") else given.values("R")[0]
    reached = 2 + (2 + sympy.sqrt(2)) * radius(sympy.Integer(64), exactly(first))
    label = sympy.ceiling(reached) + 1
    with ctx.workprec(100):
        kept = 1 - (1 / arb(2).sqrt()).erfc() / 2 - 2 * (arb(2) / arb(1).exp()) ** 32
    return refuted_by(
        "the label is out of reach at every width", {
            "L": 2, "R": first, "label": label, "f_ntk at most": sympy.N(reached, 12), "m": 64,
            "with probability at least": kept.str(8, radius=False)},
        computed("2/e < 1: the chi squares exceed twice their means ever more rarely", bool(arb(1).exp() > 2)),
        computed("that has a probability above 4/5 from m = 64 on", bool(kept > arb("0.8"))),
        study_step("tangent-reach", "CONFIRMED"),
        argued("the bound on the reach in the module's text"),
    )


def judge_fit(radius: Formula, given: Domain) -> Finding:
    """Whether, with R = radius(|y|, |f|, |h|), the last layer alone can take f_ntk from f(W(0), x) to y."""
    tried = 0
    for point in given.points("y", "f", "h"):
        y, f, h = (exactly(point[name]) for name in ("y", "f", "h"))
        tried += 1
        if radius(y, f, h) * h - f < y:  # from -f up to y; the other signs are nearer, or mirror images
            return refuted("the label is out of the last layer's reach alone", {
                **point, "start": -f, "R": radius(y, f, h), "reached": radius(y, f, h) * h - f, "label": y})
    y_, f_, h_ = (given.symbol(name) for name in ("y", "f", "h"))
    return proof(
        computed("-|f| + R |h| is at least |y|, on symbols", never_negative(sympy.expand(
            radius(y_, f_, h_) * h_ - f_ - y_))),
        argued("f_ntk has the derivative sqrt(m) h in the last layer, so that moves up to R/sqrt(m) change it by "
               "any number up to R |h|"),
        tried=tried,
    )


def judge_scaling(first: Formula, given: Domain) -> Finding:
    """Whether first(c, S, L, R), at T = 1, can be the first term for every S: it must grow with S as the risk does."""
    c, s, layers, radius, k = sympy.symbols("c S L R k", positive=True)
    growth = sympy.limit(first(c, s, layers, radius) / s, s, sympy.oo)
    if growth == 0:
        constant = exactly((Fraction(1), *given.values("c"))[0])
        scale = next(2**power for power in range(400)
                     if sympy.N(2**power * (sympy.sqrt(26) - 1) - first(constant, 2**power, 2, 100)) > 0)
        return refuted_by(
            "one clipped step cannot tell the label 10 from 20, and the loss may be multiplied by any S", {
                "c": constant, "S": scale, "L": 2, "R": 100, "T": 1, "labels": "10 or 20", "off by": 5,
                "first term": sympy.N(first(constant, scale, 2, 100), 8),
                "risk": sympy.N(scale * (sympy.sqrt(26) - 1), 8)},
            computed("the first term grows less than S, for every c", growth == 0),
            argued("one output for both labels: the module's text"),
        )
    gap = sympy.simplify(first(c, k * s, layers, radius) - k * first(c, s, layers, radius))
    given.values("c")
    return proof(
        computed("multiplied by k if S is, on symbols", bool(gap == 0)),
        computed("one step stays within it: L^(3/2) R >= sqrt(26) - 1 at L = 2, R = 100",
                 bool(sympy.N(first(1, 1, 2, 100) - sympy.sqrt(26) + 1) > 0)),
        argued("risk, approximation error and privacy error are multiplied by k by the same run"),
    )


def fitting_radius(n: Any) -> Any:
    """An R that lets f_ntk fit n orthonormal records with labels +-1, L = 2, in the limit of width."""
    return sympy.sqrt(n / (1 - 1 / sympy.pi)) * (1 + 3 * sympy.sqrt(2 * sympy.log(20 * n)))


def judge_without_privacy(first: Formula, given: Domain) -> Finding:
    """Whether first(c, R, T) bounds the excess risk without privacy of n = k log(10 T) records, any hidden k."""
    t, c, k = sympy.symbols("T c k", positive=True)
    given.values("c"), given.values("k")
    vanishes = sympy.limit(first(c, sympy.sqrt(k * sympy.log(t)) * sympy.log(t), t), t, sympy.oo) == 0
    if not vanishes:
        return undecided("the first term does not vanish as T grows", 1)
    for power in range(2, 40):
        steps = 10**power
        n = max(8, math.ceil(math.log(10 * steps)))
        promised = sympy.N(first(sympy.Integer(1), fitting_radius(n), steps))
        if promised < _LOSS / 8:
            wrong = [(size, [math.comb(size, j) for j in range((size + 3) // 4, size + 1)]) for size in range(8, 16)]
            enough = min(Fraction(sum(counts), 2**size) for size, counts in wrong) > Fraction(85, 100)
            return refuted_by(
                "half of the population is unseen, and the bound does not know n", {
                    "hidden constants": 1, "n": n, "points": 2 * n, "L": 2, "T": steps,
                    "R": sympy.N(fitting_radius(n), 8), "first term": sympy.N(promised, 8),
                    "risk at least": sympy.N(_LOSS / 8, 8)},
                computed("of 8 to 15 unseen labels a quarter is wrong with probability > 0.85", enough),
                computed("of 16 or more, too: 1 - e^(-U/8) (Hoeffding)", bool(1 - arb(-2).exp() > arb("0.85"))),
                computed("the first term vanishes as T grows with R = sqrt(k log T) log T, for all constants",
                         vanishes),
                argued("more unseen labels, and the fit of the seen ones: the module's text"),
            )
    return undecided("no T tried makes the first term small", 1)


def judge_sampling(order: Formula, given: Domain) -> Finding:
    """Whether T^-2, the order of 1/sqrt(n) at n = T^4, is at most order(sqrt(T))."""
    tried = 0
    for v in given.values("root"):
        tried += 1
        if order(v) < v**-4:
            return refuted("the deviation of T^4 records is of a larger order", {
                "T": v**2, "1/sqrt(n)": v**-4, "claimed": order(v)})
    v_ = given.chart("root")
    return proof(
        computed("1/sqrt(n) at n = T^4 is at most that, on symbols", never_negative(order(v_) - v_**-4)),
        argued("over the ball the loss of the linearised network deviates by at most 2 S times its Rademacher "
               "complexity, R |grad f|/sqrt(m n), and a multiple of 1/sqrt(n)"),
        tried=tried,
    )


def judge_online(gap: Formula, given: Domain) -> Finding:
    """Whether the mean of L_D(W_t) exceeds that of L_t(W_t) by at most gap(T), xi = 1/e and losses of at most 1."""
    fresh, tried = "extra" in given.parameters, 0
    for point in given.points("T", "extra" if fresh else "n", at_most=60):
        steps = point["T"]
        n = steps + point["extra"] if fresh else point["n"]
        true = 1 - Fraction(min(n, steps), steps)
        tried += 1
        if sympy.N(exactly(true) - gap(sympy.Integer(steps)), 20) > 0:
            return refuted("a learner that remembers n records looks better than it is", {
                "n": n, "T": steps, "mean loss": Fraction(min(n, steps), steps), "mean population loss": 1,
                "allowed gap": sympy.N(gap(sympy.Integer(steps)), 12)})
    more = given.chart("T")
    if not fresh:
        return proof(
            computed("it is at least 1, on symbols", never_negative(gap(more) - 1)),
            argued("losses lie in [0, 1], so that no two of their means are further apart"), tried=tried,
        )
    return proof(
        computed("it is at least sqrt(2/T) (Azuma and Hoeffding at xi = 1/e), on symbols",
                 never_negative(sympy.simplify(gap(more) / sympy.sqrt(2 / more)) - 1)),
        argued("with fresh records L_t(W_t) - L_D(W_t) are martingale differences within [-1, 1]: Azuma and Hoeffding"),
        tried=tried,
    )


def judge_average(slack: Formula, given: Domain) -> Finding:
    """Whether L(average) <= average of L + slack(Delta), if L(W') >= L(W) + <grad L(W), W' - W> - Delta throughout."""
    delta, tried = given.symbol("delta"), len(given.values("delta"))
    g, mean, steps = sympy.symbols("g mean T", positive=True)
    if not all(slack(exactly(value)) >= exactly(value) for value in given.values("delta")):
        return undecided("the averaged inequality does not give as little", tried)
    return proof(
        computed("the linear terms <g, W_t - mean> add up to g (T mean - T mean) = 0", sympy.simplify(
            g * (steps * mean) - g * steps * mean) == 0),
        computed("what is left is Delta, on symbols", never_negative(slack(delta) - delta)),
        argued("the inequality at W = average and W' = W_t, averaged over t"),
        tried=tried,
    )


def judge_trained(value: Formula, given: Domain) -> Finding:
    """Whether value(w_1, w_2, x, y), of networks with one unit, is the label y of the one record."""
    for point in given.points("w_1", "w_2", "x", at_most=20):
        weights = [exactly(point[name]) for name in ("w_1", "w_2", "x")]
        for label in (1, -1):
            found = value(*weights, sympy.Integer(label))
            if sympy.simplify(found - label) != 0:
                return refuted("not the label that the network is to be trained on", {
                    **point, "label": label, "value": found})
    symbols = [given.symbol(name) for name in ("w_1", "w_2", "x")]
    y = sympy.Symbol("y", real=True)
    return proof(computed("it is the label, on symbols", bool(sympy.simplify(value(*symbols, y) - y) == 0)))


def _trained(w_1: Any, w_2: Any, x: Any, y: Any) -> Any:
    """The linearised network at the weights that a step along its gradient makes fit the label."""
    slopes = (w_2 * x, w_1 * x)
    step = (y - w_2 * w_1 * x) / sum(slope**2 for slope in slopes)
    return w_2 * w_1 * x + sum(slope * step * slope for slope in slopes)


_RADIUS = (positive("R"),)
_C = (positive("c", "the hidden constant"),)
_ONE = (positive("w_1"), positive("w_2"), positive("x"))

approximation = Claim(
    id="nonconvex-nn/rem-15-approx-zero",
    source="002, Remark 15: the approximation error tends to zero as m grows, R given",
    quote="In the interpolation regime, the training error can be zero, which means the approximation error tends to "
          "zero as m becomes sufficiently large.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\inf_{\mathcal{F}(\mathbf{W}^{(0)}, R/\sqrt m)} \frac1T\sum_i \ell(f(x_i), "
              r"y_i) \to 0 \quad (m \to \infty)",
    words="at a given R the approximation error of (7) vanishes as the width grows",
    hypotheses=_RADIUS, says=lambda m, radius: radius, check=judge_reach,
    flips=(Flip("R growing like m^(1/4)", lambda m, radius: radius * m ** sympy.Rational(1, 4), Verdict.UNDECIDED),),
    uses=("nonconvex-nn/def-8-ntrf",),
    rests_on=("nonconvex-nn/def-8-ntrf-repaired",),
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"R \ge \frac{|y| + |f(\mathbf W^{(0)}, x)|}{|h_{L-1}^{(0)}|} \implies "
                  r"\inf = 0 \text{ for one record}",
        words="for one record the approximation error is 0 once R |h| is at least |y| + |f(W(0), x)|",
        says=lambda y, f, h: (y + f) / h, check=judge_fit,
        hypotheses=tuple(map(positive, ("y", "f", "h"))), expected="HOLDS ARGUED",
        flips=(Flip("half of it", lambda y, f, h: (y + f) / (2 * h), Verdict.REFUTED),
               Flip("without f at the start", lambda y, f, h: y / h, Verdict.REFUTED)),
        source="002, Remark 15 with R large enough", true_variants={"1 % more": "a larger R, too",
        "any *": "an identity"},
    ),
)
limit = Claim(
    id="nonconvex-nn/rem-14", source="002, Remark 14: as m and T grow the error of (7) tends to zero, R given",
    quote=r"Moreover, when $m, T \rightarrow \infty$, the error will tend to zero.", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"(7) \to 0 \quad (m, T \to \infty,\ \epsilon = \infty)",
    words="without privacy the bound (7) vanishes as m and T grow, at a given R",
    hypotheses=_RADIUS, says=lambda m, radius: radius, check=judge_reach,
    flips=(Flip("R growing like log(m)", lambda m, radius: radius * sympy.log(m), Verdict.UNDECIDED),),
    uses=("nonconvex-nn/rem-15-approx-zero",), repaired_by="nonconvex-nn/rem-15-approx-zero-repaired",
    expected="REFUTED ARGUED",
)
without_privacy = Claim(
    id="nonconvex-nn/rem-14-nonprivate", source="002, Remark 14: the result for epsilon = infinity, which has no n",
    quote=r"It is notable that when $\epsilon = \infty$, *i.e.*, when in the non-private case, our result will be "
          r"$O(\inf_{f \in \mathcal{F}(\mathbf{W}^{(0)}, \frac{R}{\sqrt{m}})} \left\{ \frac{1}{T} \sum_{i=1}^T "
          r"\ell(f(\mathbf{x}_i), y_i) \right\} + \frac{1}{\sqrt{T}})$.",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L_{\mathcal D}(\hat{\mathbf W}) - \min L_{\mathcal D} \le \inf_{\mathcal F} \frac1T\sum_i \ell(f(x_i), "
              r"y_i) + c\,\frac{SL^{3/2}R}{\sqrt T}, \quad \epsilon = \infty",
    words="without privacy the excess risk is at most the approximation error plus O(1/sqrt(T)), whatever n",
    hypotheses=(*_C, positive("k", "the constant of M >= k log(T/gamma_1)")),
    says=lambda c, radius, t: c * sympy.sqrt(8 * _LOG / t) * radius, check=judge_without_privacy,
    flips=(Flip("a term that does not fall with T", lambda c, radius, t: c * radius, Verdict.UNDECIDED),),
    uses=("nonconvex-nn/thm-13-utility",), repaired_by="nonconvex-nn/thm-13-multi-pass-repaired",
    expected="REFUTED ARGUED",
)
terms = Claim(
    id="nonconvex-nn/rem-14-terms", source="002, Remark 14: the first term of (7) as the sampling error, too",
    quote="The first term represents the sum of convergence rate and sampling error.", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"|L_{\mathcal D} - L_n| \text{ of the order of the first term}",
    words="a term in T alone covers what n records do not tell of the population: true under the hypotheses of "
          "Theorem 13, which make n at least T^4, false without privacy, where they ask for no n",
    hypotheses=(), says=None, check=None, expected="AMBIGUOUS ARGUED", uses=("nonconvex-nn/thm-13-hidden-n",),
    readings=("nonconvex-nn/rem-14-terms-reading-private", "nonconvex-nn/rem-14-terms-reading-nonprivate"),
)
sampling_private = reading(
    terms, "private", hypotheses=(real("root", "sqrt(T)").at_least(1),), says=lambda v: 1 / v, check=judge_sampling,
    words="with n of order T^4, as the hypotheses have it for epsilon <= 1, the deviation of n records, 1/sqrt(n), is "
          "at most of the order of the first term, 1/sqrt(T), in T (its factors are thm-13-printed-constant)",
    expected="HOLDS ARGUED", rests_on=("nonconvex-nn/thm-13-hidden-n",),
    flips=(Flip("T^(-5/2)", lambda v: v**-5, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger order", "1 -> 2 *": "a larger order", "squared": "1/T is enough, too",
                   "/ -> [*] *": "a larger order"},
)
sampling = reading(
    terms, "nonprivate", hypotheses=without_privacy.hypotheses, says=without_privacy.says, check=judge_without_privacy,
    words="without privacy the first term covers what n records do not tell of the population, without n in it",
    expected="REFUTED ARGUED", flips=without_privacy.flips, repaired_by="nonconvex-nn/thm-13-multi-pass-repaired",
)
constant = Claim(
    id="nonconvex-nn/thm-13-printed-constant", source="002, (7): the first term, without S L^(3/2) R, at T = 1",
    quote=r"\underbrace{\sqrt{\frac{\log(\frac{1}{\xi})}{T}}}_{\text{Convergence rate}}", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"c\sqrt{\log(1/\xi)/T} \text{ for every } S",
    words="the first term of (7), c sqrt(log(1/xi)/T), is enough for losses of every Lipschitz constant",
    hypotheses=_C, says=lambda c, s, layers, radius: c * sympy.sqrt(_LOG), check=judge_scaling,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"c\,SL^{3/2}R\sqrt{\log(1/\xi)/T}",
        words="with the factor S L^(3/2) R of the proof the first term grows with the loss as the risk does",
        says=lambda c, s, layers, radius: c * s * layers ** sympy.Rational(3, 2) * radius * sympy.sqrt(_LOG),
        expected="HOLDS ARGUED", source="002, (7) with the proof's Delta in the first term",
        flips=(Flip("sqrt(S)", lambda c, s, layers, radius: c * sympy.sqrt(s) * layers * radius, Verdict.REFUTED),),
        survivors=dict.fromkeys(
            ("1 % *", "3 -> 4 *", "2 -> 3 *", "[*][*] -> [*] *", "any c"),
            "linear in S as it should be: that the sum (7) is then a bound is thm-13-utility-start"),
    ),
)
largest_loss = Claim(
    id="nonconvex-nn/thm-13-I", source="002, proof of Theorem 13: I, with S L R/sqrt(m) where Remark 17 has S L R",
    quote=r"$I = O(\sqrt{\log(2n/\xi)} + \frac{SLR}{\sqrt{m}})$", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"|\ell(\mathbf W) - \ell(\mathbf W^{(0)})| \le \frac{SLR}{\sqrt m},\quad \mathbf W \in "
              r"\mathcal{B}(\mathbf W^{(0)}, R/\sqrt m)",
    words="within R/sqrt(m) of the start the loss changes by at most S L R/sqrt(m)",
    hypotheses=(positive("S"), positive_integer("L").at_least(2), positive("R"), positive_integer("m").at_least(1)),
    says=lambda s, layers, radius, m: s * layers * radius / sympy.sqrt(m),
    check=at_least(("S", "L", "R", "m"), lambda s, layers, radius, m: s * radius,
                   "at least S R |h|, which the last layer alone reaches, |h| = 1",
                   "moving the last layer alone changes it by S R |h|, |h| = 1"),
    uses=("nonconvex-nn/rem-17", "nonconvex-nn/lem-27"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"SLR", words="S L R, without the root of m, is at least what the last layer alone changes",
        says=lambda s, layers, radius, m: s * layers * radius, expected="HOLDS PROVED",
        source="002, Remark 17 in place of the proof's I",
        flips=(Flip("S L R/m", lambda s, layers, radius, m: s * layers * radius / m, Verdict.REFUTED),),
        true_variants={"1 % *": "L >= 2 leaves room", "any m": "m does not enter",
                       "[*] -> + (operator 1)": "S + L is at least S, too"},
    ),
)
online = Claim(
    id="nonconvex-nn/thm-13-multi-pass",
    source="002, proof of Theorem 13: online to batch, on records that are drawn again",
    quote="therefore we can apply the Azuma-Hoeffding inequality or so called online-to-batch "
          "technique to get the expectation loss",
    whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\frac1T\sum_t L_{\mathcal D}(\mathbf W^{(t)}) \le \frac1T\sum_t L_t(\mathbf W^{(t)}) + "
              r"I\sqrt{\frac{2\log(1/\xi)}{T}}",
    words="the mean population loss of T iterates exceeds their mean loss by at most I sqrt(2 log(1/xi)/T), whatever n",
    hypotheses=(positive_integer("T"), positive_integer("n")), says=lambda steps: sympy.sqrt(2 / steps),
    check=judge_online, flips=(Flip("the largest loss", lambda steps: 1 + 0 * steps, Verdict.HOLDS),),
    uses=("nonconvex-nn/thm-13-multi-pass-count",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\ldots, \quad T \text{ fresh records}",
        words="with a fresh record for every step it exceeds it by at most I sqrt(2 log(1/xi)/T)",
        says=lambda steps: sympy.sqrt(2 / steps), check=judge_online, expected="HOLDS ARGUED",
        hypotheses=(positive_integer("T"), positive_integer("extra", "n - T").at_least(0)),
        source="002, proof of Theorem 13 with n >= T records, each used once",
        flips=(Flip("half of it", lambda steps: sympy.sqrt(2 / steps) / 2, Verdict.UNDECIDED),),
        true_variants={"1 % more": "a larger gap, too", "2 -> 3 *": "a larger gap, too"},
    ),
)
average = Claim(
    id="nonconvex-nn/thm-13-jensen", source="002, proof of Theorem 13: the average of the iterates, by Lemma 19",
    quote=r"$L_{\mathcal{D}}(\hat{\mathbf{W}}) = L_{\mathcal{D}}(\frac{1}{T} \sum_{i=1}^T \mathbf{W}^{(i)}) \leq "
          r"\frac{1}{T} \sum_{i=1}^T L_{\mathcal{D}}(\mathbf{W}^{(i)}) + \Delta$",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"L(\bar{\mathbf W}) \le \frac1T\sum_t L(\mathbf W^{(t)}) + \Delta",
    words="if the loss is convex up to Delta throughout, the average has at most the average loss plus Delta",
    hypotheses=(positive("delta"),), says=lambda delta: delta, check=judge_average,
    flips=(Flip("Delta/2", lambda delta: delta / 2, Verdict.UNDECIDED),),
    uses=("nonconvex-nn/lem-19",),
    true_variants={"1 % more": "more is enough, too", "any delta": "the same inequality"}, expected="HOLDS ARGUED",
)
initial = Claim(
    id="nonconvex-nn/rem-15-fntk-W0", source="002, Remark 15: f_ntk(W(0), x), the function at the start, one unit",
    quote=r"if it is large enough, then $f_{ntk}(\mathbf{W}^{(0)}, x)$ will converge to a well-trained neural network",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"f_{ntk}(\mathbf W^{(0)}, x) \to y",
    words="the linearised network at the start is a well-trained one, whatever the labels",
    uses=("nonconvex-nn/def-8-ntrf",),
    hypotheses=_ONE, says=lambda w_1, w_2, x, y: w_2 * w_1 * x, check=judge_trained, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f_{ntk}(\mathbf W, x) = y \text{ for some } \mathbf W",
        words="the linearised network at other weights than the start fits the label", says=_trained,
        expected="HOLDS PROVED", source="002, Remark 15 with trained weights",
        true_variants={"any *": "an identity wherever the slopes do not both vanish",
                       "[*] -> + (operator [12])": "a step along any slopes that do not both vanish fits the label"},
    ),
)
