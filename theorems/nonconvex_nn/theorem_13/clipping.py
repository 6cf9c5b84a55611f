r"""Clipping turns the mean into a median: Theorem 13 and Lemma 25 fail with the ball around the start as well.

C is at most of the order of R, and gradients of the network are of order sqrt(m): a wide network has every gradient
clipped that does not nearly vanish. Then a record moves f by a fixed length, up or down, whatever its loss is, and the
run settles where as much weight of labels lies above as below.

The instance. L = 2, one feature vector x, |x| = 1; the label is 1 with probability p = 2/5 and else 0; the loss is
phi(f - y), phi(u) = u^4 for |u| <= 1 and 4|u| - 3 beyond: not negative, convex, differentiable, S = 4. Batches are all
of the data (q = 1; epsilon < c_1 T), C = 1, R = 16, the ball is around the start, and eta = kappa sqrt(2) R/(C
sqrt(m T)). m grows first, at any T, then n, as the hypotheses allow (m >= m*, n >= ...); so the noise, the privacy
error and the distance of the labels' shares from p vanish.

(1) |grad f|^2/m = |h|^2 + |W_2 D|^2 tends to 3/2 at the start, and, as few units change sign within R/sqrt(m), in the
whole ball; f and its linearisation differ by m^(-1/6) sqrt(log m) at most there (Lemma 18 for two layers, mended). A
record's gradient is longer than C unless |phi'(f - y)| < C/|grad f|, that is unless f is within a distance of y that
vanishes.
(2) So f(W_t) tends to u_t, u_(t+1) = u_t - s g(u_t), s = kappa sqrt(3) R/sqrt(T), with g(u) = -1 below 0, 1 - 2p
between 0 and 1, and 1 above 1 (u_0 has a density, so no u_t is 0 or 1). The weights move along grad f(W(0)): by at most
(|u_t - u_0|/1.5) in units of 1/sqrt(m) a layer, so that the projection is never felt while |u_0| <= 4 and R >= 4.
(3) For s <= 1 the interval (-s, s] is not left again, and from |u_0| <= 4 it is reached within 4/((1 - 2p) s) + 1
steps, none of which ends farther than 4 away: the mean of u_t is at most s + 16/((1 - 2p) s T) + 4/T away from 0, which
vanishes as T grows.
(4) The output, the mean of the weights, has that mean as its f, by (1). The risk is at least p (1 - |mean|)^4. With f =
1/2, which R = 16 reaches from |u_0| <= 4 even by Definition 8 as printed, it is 1/16: so is the approximation error,
and the least risk is at most that. So the excess tends to at least p - 1/16 = 0.3375, and (7) to 1/16 as T grows,
whatever the hidden constants are; the probability of all this tends to P(|N(0, 1)| <= 4). In Lemma 25 the mean over t
of the left side tends to 0.3375 as well, and that of the right side to 0.

Within the clipped regime nothing depends on C: a step is eta C times a mean of unit vectors and eta times noise of
deviation z C/M, where eta is a number over C.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from oracle.core.domain import positive, positive_integer
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.formulas import exactly
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled, undecided

Formula = Callable[..., Any]
SHARE, RADIUS, START, KAPPA = Fraction(2, 5), 16, 4, 1
_SHARE = sympy.Rational(2, 5)
_XI = sympy.Rational(1, 10)


def settled(steps: Any) -> Any:
    """How far the mean of the iterates' f is from 0 at most, in the limit of width: (3) of the module's text."""
    s = KAPPA * sympy.sqrt(3) * RADIUS / sympy.sqrt(steps)
    return s + START * (START / ((1 - 2 * _SHARE) * s) + 1) / steps


def pushed(u: Fraction, step: Fraction) -> Fraction:
    """u after a clipped step, u neither 0 nor 1."""
    return u - step * (-1 if u < 0 else 1 - 2 * SHARE if u < 1 else 1)


def runs_settle() -> bool:
    """Exact runs of the limit from seven starts: after 4/((1 - 2p) s) steps u stays within s of 0."""
    for start in (Fraction(value, 7) for value in (-28, -20, -3, 3, 5, 20, 28)):
        for step in (Fraction(1, 3), Fraction(2, 11), Fraction(1, 19)):
            u, wait = start, int(START / ((1 - 2 * SHARE) * step)) + 1
            for t in range(wait + 40):
                if t >= wait and abs(u) > step:
                    return False
                u = pushed(u, step)
    return True


def limit_steps() -> tuple[ProofStep, ...]:
    """The steps about the instance: its loss, its gradient at the start, and where the limit settles."""
    u, z, t = sympy.Symbol("u", real=True), sympy.Symbol("z", positive=True), sympy.Symbol("t", nonnegative=True)
    s, more = sympy.symbols("s w", positive=True)
    inner, outer = u**4, 4 * u - 3  # for 0 <= u <= 1 and beyond; phi is even
    m = sympy.Symbol("m", positive=True)
    density = sympy.exp(-(z**2) * m / 4) * sympy.sqrt(m) / (2 * sympy.sqrt(sympy.pi))  # of N(0, 2/m)
    hidden = m * sympy.integrate(z**2 * density, (z, 0, sympy.oo))
    opened = m * sympy.integrate(density, (z, 0, sympy.oo)) / m
    part = 1 / (1 + t)  # of an interval, from its far end to (not including) 0
    return (
        computed("phi is convex, its value and slope fit at 1, its slope is at most 4, and phi(1/2) = 1/16", vanishes(
            (inner - outer).subs(u, 1), sympy.diff(inner - outer, u).subs(u, 1), inner.subs(u, sympy.Rational(1, 2))
            - sympy.Rational(1, 16)) and never_negative(
                sympy.diff(inner, u, 2), 4 - sympy.diff(inner, u).subs(u, part))),
        computed("|h|^2 and |W_2 D|^2 have the means 1 and 1/2 at the start, so that |grad f|^2/m tends to 3/2",
                 vanishes(sympy.simplify(hidden) - 1, sympy.simplify(opened) - sympy.Rational(1, 2))),
        computed("(-s, s] is not left: from (0, s] u falls by (1 - 2p) s < s, and from (-s, 0) it rises by s",
                 never_negative(part * s - (1 - 2 * _SHARE) * s + s, s - (-part * s + s))
                 and 0 < 1 - 2 * _SHARE < 1),
        computed("outside of it every step moves u towards 0 by at least (1 - 2p) s", never_negative(
            s - (1 - 2 * _SHARE) * s) and never_negative((s + more) - (1 - 2 * _SHARE) * s)),
        computed("the mean of u is at most s + 4 (4/((1 - 2p) s))/T, which vanishes as T grows", sympy.limit(
            settled(z), z, sympy.oo) == 0),
        sampled("seven starts and three steps, exactly, end there and stay", runs_settle()),
        argued("(1) and (2) of the module's text: near-linearity, the projection is not felt; m grows first, then n"),
    )


def judge_settles(says: Formula, given: Domain) -> Finding:
    """Whether the mean of u over T = 3 j^2 steps of length 16/j is within says(T) of 0 from every |u_0| <= 4."""
    tried = 0
    for j in given.values("j"):
        steps, step = 3 * j**2, Fraction(KAPPA * RADIUS, j)
        for start in (Fraction(START), Fraction(-START), Fraction(1, 3)):
            u, total = start, Fraction(0)
            for _ in range(steps):
                total, u = total + u, pushed(u, step)
            tried += 1
            if abs(exactly(total / steps)) > says(sympy.Integer(steps)):
                return refuted("the mean of a run of the limit, exactly, is further from 0", {
                    "T": steps, "s": step, "u_0": start, "mean": sympy.N(exactly(total / steps), 12),
                    "claimed": sympy.N(says(sympy.Integer(steps)), 12)})
    j_ = given.chart("j")
    return proof(
        *limit_steps(),
        computed("s + (16/((1 - 2p) s) + 4)/T is at most what is claimed, on symbols",
                 never_negative(sympy.simplify(says(3 * j_**2) - settled(3 * j_**2)))),
        tried=tried,
    )


def _against(first: Formula, constant: Any, approximation: Any) -> tuple[int, Any, Any] | None:
    """The least power of 4 for T with p (1 - mean)^4 - 1/16 above the first term and the approximation error."""
    for power in range(4, 200):
        steps = 4**power
        if sympy.N(settled(steps)) >= 1:
            continue
        excess = _SHARE * (1 - settled(steps)) ** 4 - sympy.Rational(1, 16)
        promised = first(constant, 2, RADIUS, steps) + approximation
        if sympy.N(excess - promised) > sympy.Rational(1, 20):
            return steps, excess, promised
    return None


def _judge(first: Formula, given: Domain, approximation: Any, what: str, *more: ProofStep) -> Finding:
    t = sympy.Symbol("T", positive=True)
    given.values("c")
    if sympy.limit(first(given.symbol("c"), 2, RADIUS, t), t, sympy.oo) != 0:
        return undecided("the term does not vanish as T grows: this instance is not against it", 1)
    found = _against(first, exactly(Fraction(1)), approximation)
    if found is None:
        return undecided("no T tried makes the term small", 1)
    steps, excess, promised = found
    return refuted_by(what, {
        "hidden constants": 1, "L": 2, "S": 4, "R": RADIUS, "C": 1, "q": 1, "kappa": KAPPA, "p": SHARE, "T": steps,
        "loss": "u^4 up to 1, then 4|u| - 3", "m, n": "in the limit, m first", "excess risk above": sympy.N(excess, 8),
        "claimed at most": sympy.N(promised, 8), "but for the probability": (arb(START) / arb(2).sqrt()).erfc().str(
            5, radius=False)},
        *limit_steps(),
        computed("it is more by 1/20 at that T; and for every hidden constant at some T, as the term vanishes",
                 bool(sympy.N(excess - promised) > sympy.Rational(1, 20))), *more)


def judge_risk(first: Formula, given: Domain) -> Finding:
    """Whether first(c, L, R, T), the approximation error and terms that vanish with n bound the excess risk."""
    return _judge(first, given, sympy.Rational(1, 16), "every gradient is clipped, and the run ends at the median, "
                  "not at the least risk", study_step("wide-network", "PRE_ASYMPTOTIC"))


def judge_sum(first: Formula, given: Domain) -> Finding:
    """Whether first(c, L, R, T), beside the noise's energy, bounds the mean of L_t(W_t) - L_t(W*), f = 1/2 at W*."""
    return _judge(first, given, 0, "the losses of the run stay above those at f = 1/2")


def judge_free_of_clip(step: Formula, given: Domain) -> Finding:
    """Whether a step step(C) times C, and times the noise's deviation z C/M, does not change with C."""
    c = given.symbol("clip")
    z, batch = sympy.symbols("z M", positive=True)
    tried = 0
    for clip in given.values("clip"):
        value = exactly(clip)
        tried += 1
        if sympy.simplify(step(value) * value - step(2 * value) * 2 * value) != 0:
            return refuted("two thresholds, all gradients longer than either: the run is another", {
                "C": clip, "other C": 2 * clip, "eta C": step(value) * value,
                "other eta C": step(2 * value) * 2 * value})
    return proof(
        computed("eta C and eta z C/M do not change with C, on symbols", vanishes(
            sympy.diff(step(c) * c, c), sympy.diff(step(c) * z * c / batch, c))),
        argued("a gradient longer than C is clipped to C times its direction, so that the whole run, start, noise and "
               "projection included, has one law for all such C"),
        tried=tried,
    )


_C = (positive("c", "the hidden constant"),)
_RESTS = ("nonconvex-nn/lem-18-repaired", "nonconvex-nn/thm-13-clipped-limit")
_BALL = "with the ball around W(0), so that no projection tears the start apart"
_FIRST: Formula = lambda c, layers, radius, t: (  # noqa: E731
    4 * c * layers ** sympy.Rational(3, 2) * radius * sympy.sqrt(-sympy.log(_XI) / t))

settles = Claim(
    id="nonconvex-nn/thm-13-clipped-limit",
    source="ours: where Algorithm 10 settles in the limit of width if labels are 1 with probability 2/5 and else 0",
    severity=Stake.UTILITY,
    statement=r"|f(\hat{\mathbf W}, x)| \le s + \frac{80}{sT} + \frac4T \to 0,\quad s = 16\sqrt{3/T} \le 1",
    words="with every gradient clipped the output tends to the median of the labels, 0, and not to the least risk",
    hypotheses=(positive_integer("j", "sqrt(T/3)").at_least(16),),
    says=lambda t: 16 * sympy.sqrt(3 / t) + 5 * sympy.sqrt(3 / t) / 3 + 4 / t, check=judge_settles,
    flips=(Flip("a twentieth of it", lambda t: sympy.sqrt(3 / t), Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound", "* -> *": "a larger bound from T = 768 on"}, expected="HOLDS ARGUED",
)
mended = Claim(
    id="nonconvex-nn/thm-13-utility-start",
    source="ours: Theorem 13 mended in its projection and its first term alone, " + _BALL,
    severity=Stake.UTILITY,
    statement=r"L_{\mathcal D}(\hat{\mathbf W}) - \min_{\mathcal W} L_{\mathcal D} \le c\,SL^{3/2}R\sqrt{"
              r"\frac{\log(1/\xi)}{T}} + \inf_{\mathcal F} \frac1T\sum_i \ell(f(x_i), y_i) + "
              r"(\text{privacy}),\quad \mathcal{W} = \mathcal{B}(\mathbf W^{(0)}, R/\sqrt m)",
    words="with the ball around the start and all factors in the first term the excess risk is at most (7)",
    hypotheses=_C, says=_FIRST, check=judge_risk,
    flips=(Flip("a first term that does not fall with T", lambda c, layers, radius, t: c * radius, Verdict.UNDECIDED),
           Flip("a hundred times the term", lambda c, layers, radius, t: 100 * _FIRST(c, layers, radius, t),
                Verdict.REFUTED)),
    uses=("nonconvex-nn/lem-25-inequality",), rests_on=_RESTS,
    repaired_by="nonconvex-nn/thm-13-start-ball", expected="REFUTED ARGUED",
)
elements = Claim(
    id="nonconvex-nn/intro-three-elements",
    source="002, Section 1, third part: what the bound is composed of, read as: no other error is left, " + _BALL,
    quote="In essence, this bound is composed of three elements: an approximation error attributable to NTK, an error "
          "arising from the Gaussian noise introduced in every iteration, and a combined term representing the "
          "convergence rate and sampling error.",
    whose=Whose.READING, severity=Stake.UTILITY, statement=mended.statement,
    words="approximation, noise, and a term that falls with T are all there is: clipping costs nothing",
    hypotheses=_C, says=_FIRST, check=judge_risk,
    flips=(Flip("a fourth term that does not fall with T", lambda c, layers, radius, t: c * radius,
                Verdict.UNDECIDED),),
    uses=("nonconvex-nn/thm-13-utility",), rests_on=_RESTS,
    repaired_by="nonconvex-nn/thm-13-start-ball", expected="REFUTED ARGUED",
)
inequality = Claim(
    id="nonconvex-nn/lem-25-inequality",
    source="002, Lemma 25: its inequality as a whole, its Delta of order S L^(3/2) R/sqrt(T), " + _BALL,
    quote=r"\sum_{t=1}^T L_t(\mathbf{W}^{(t)}) - L_t(\mathbf{W}^*) \leq \frac{SL\eta\sqrt{m}}{2\kappa C} \sum_{t=1}^T "
          r"\|\mathbf{G}_t\|_F^2 + 3T\Delta",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\frac1T\sum_t \left(L_t(\mathbf W^{(t)}) - L_t(\mathbf W^*)\right) \le \frac{SL\eta\sqrt m}{2\kappa "
              r"CT}\sum_t\|\mathbf G_t\|_F^2 + 3\Delta,\quad \Delta = c\,\frac{SL^{3/2}R}{\sqrt T}",
    words="the losses along the run exceed those of W* by the noise energy times S L eta sqrt(m)/C and 3 Delta a step "
          "at most",
    hypotheses=_C, says=lambda c, layers, radius, t: 12 * c * layers ** sympy.Rational(3, 2) * radius / sympy.sqrt(t),
    check=judge_sum,
    flips=(Flip("3 Delta that does not fall with T", lambda c, layers, radius, t: 3 * c * radius, Verdict.UNDECIDED),),
    uses=("nonconvex-nn/lem-18", "nonconvex-nn/lem-19", "nonconvex-nn/lem-22", "nonconvex-nn/lem-23",
          "nonconvex-nn/lem-25", "nonconvex-nn/lem-25-path", "nonconvex-nn/lem-25-cross-term",
          "nonconvex-nn/lem-25-telescoping", "nonconvex-nn/lem-25-doubling"),
    rests_on=_RESTS,
    repaired_by="nonconvex-nn/lem-25-cross-term-repaired", expected="REFUTED ARGUED",
)
in_range = Claim(
    id="nonconvex-nn/rem-15-C-range",
    source="002, Remark 15: within some range C has no significant impact, read of the theorem's step, proportional to "
           "1/C, and of every C that all gradients of the run are longer than",
    quote="Thus, when C is in some range, it will not have a significant impact on performance.",
    whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\eta \propto 1/C,\ C \le \min_t \lVert g_t\rVert \implies \text{the law of the run is free of } C",
    words="as long as every gradient is clipped, and the step is the theorem's, the run does not depend on C at all",
    hypotheses=(positive("clip", "C"),), says=lambda clip: 1 / clip, check=judge_free_of_clip,
    flips=(Flip("the fixed step of Figure 2", lambda clip: sympy.Integer(1) / 100 + 0 * clip, Verdict.REFUTED),),
    uses=("nonconvex-nn/rem-15",),
    true_variants={"1 % *": "another constant", "1 -> 2*": "another constant",
                   "sign": "a negative step has one law, too"},
    expected="HOLDS ARGUED",
)
