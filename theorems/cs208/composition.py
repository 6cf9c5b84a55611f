r"""T steps together in document 004: basic and advanced composition, and the noise that is solved for.

Advanced composition (background/composition-advanced) of T releases that are (e, d0)-DP, with the slack delta/2:

    epsilon = T e tanh(e/2) + e sqrt(2 T L),   L = ln(2/delta),      delta >= 1 - (1-d0)^T (1-delta/2).

The right side of the latter is at most T d0 + delta/2, which is delta at delta = 2 T d0, the slides' delta. As tanh x
<= x, epsilon <= T e^2/2 + e sqrt(2 T L). Where e <= sqrt(L/T) that is at most K e sqrt(T L), K = sqrt 2 + 1/2. Where e
is larger it is not O(e sqrt(T L)): T randomised responses of e = 1 have a loss of mean m T, m = tanh(1/2), and variance
v T, v = 1 - m^2. By Chebyshev the loss is above x = m T - 2 sqrt(v T) with probability at least 3/4, so that delta(x -
ln 2) >= (3/4)(1 - 1/2) = 3/8 > 1/4: at delta = 1/4 epsilon is above x - ln 2, of the order of T.

Noise. With e = epsilon/(K sqrt(T L)), d0 = delta/(2T) and k C/n for the sensitivity, the Gaussian mechanism has

    sigma^2 = 2 (k C/(e n))^2 ln(2.5 T/delta) = 2 k^2 K^2 (C/(epsilon n))^2 T ln(2/delta) ln(2.5 T/delta).

For epsilon <= 1: e <= sqrt(L/T) as K L >= K ln 2 > 1, and e <= 1. For delta <= 1/2: ln(2/delta) <= 2 ln(1/delta) and
ln(2.5 T/delta) <= (7/3) ln(T/delta). So 2 k^2 K^2 (14/3) times the slides' order is enough. For epsilon without a bound
no constant is: mu = k sqrt T C/(n sigma) is k epsilon/sqrt(constant ln ln). A Gaussian pair with mu^2/2 > epsilon has
delta(epsilon) > 1/2 - e^epsilon Phi(-x), x = mu/2 + epsilon/mu, and e^epsilon phi(x) = phi(mu/2 - epsilon/mu): as
Phi(-x) <= phi(x)/x, it is above 1/2 - 2/(mu sqrt(2 pi)), and above 1/4 for mu > 4. What large epsilons lack is noise
of the order T/epsilon: with rho = mu^2/2 = 2T/v for the variance v in (C/n)^2, a record replaced, rho-zCDP is (epsilon,
delta)-DP once rho + 2 sqrt(rho ln(1/delta)) <= epsilon, and so it is where v is at least 8 T/epsilon (rho <= epsilon/4)
and at least (128/9) T ln(1/delta)/epsilon^2 (4 rho ln(1/delta) <= (3 epsilon/4)^2).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.background.composition import power
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula
from theorems.given import Domain
from theorems.tools.either import root
from theorems.tools.leading_points import first_at
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled


def judge_total(says: Formula, given: Domain) -> Finding:
    """Whether T steps of odds a = e^epsilon have together the odds says(a, T): T randomised responses, listed."""
    tried = 0
    for steps, odds in itertools.product(given.values("steps", most=4), given.values("odds")):
        first, second = power(((odds / (1 + odds), 1 / (1 + odds)), (1 / (1 + odds), odds / (1 + odds))), steps)
        true = max(p / q for p, q in zip(first, second, strict=True))
        tried += 1
        if says(odds, steps) != true:
            return refuted("randomised responses, one a step, have other odds together",
                           {"e^epsilon": odds, "T": steps, "claimed": says(odds, steps), "true": true})
    odds, steps = given.chart("odds"), given.symbol("steps")
    p, q = odds / (1 + odds), 1 / (1 + odds)
    return proof(
        computed("the outcome that tells the truth T times has the ratio (p/q)^T, as claimed",
                 vanishes(sympy.expand_log(steps * sympy.log(p / q) - sympy.log(says(odds, steps)), force=True))),
        argued("no outcome has a larger ratio, and no (epsilon, 0)-DP steps do (background/composition-basic)"),
        tried=tried,
    )


def judge_delta(says: Formula, given: Domain) -> Finding:
    """Whether delta = says(T, d0) covers 1 - (1-d0)^T (1-slack) with the slack delta/2 that ln(2/delta) stands for."""
    tried = 0
    for point in given.points("steps", "share"):
        steps, base = point["steps"], point["share"] / (2 * point["steps"])
        claimed = Fraction(says(steps, base))
        true = 1 - (1 - base) ** steps * (1 - claimed / 2)
        tried += 1
        if true > claimed:
            return refuted("the deltas of the steps and the slack are more together",
                           {"T": steps, "delta_0": base, "claimed": claimed, "slack": claimed / 2, "true": true})
    steps, base = given.symbol("steps"), sympy.symbols("d", positive=True)
    claimed = says(steps, base)
    return proof(
        computed("T d0 and half of delta are delta", vanishes(steps * base + claimed / 2 - claimed)),
        argued("1 - (1-d)^T (1-s) <= T d + s: some step fails or the slack is needed, by the union bound"),
        tried=tried,
    )


def judge_any(says: Formula, given: Domain) -> Finding:
    """Whether epsilon <= says(e, T, ln(2/delta)) for all e: T randomised responses of e = 1 at delta = 1/4."""
    with ctx.workprec(100):
        mean, level = arb(1) * (arb(1) / 2).tanh(), arb(8).log()
        for steps in (4**k for k in range(1, 30)):
            least = mean * steps - 2 * ((1 - mean**2) * steps).sqrt() - arb(2).log()
            claimed = says(arb(1), arb(steps), level)
            if least > claimed:
                many, m = sympy.Symbol("T", positive=True), sympy.tanh(sympy.Rational(1, 2))
                quotient = (m * many - 2 * sympy.sqrt((1 - m**2) * many) - sympy.log(2)) / says(
                    sympy.Integer(1), many, sympy.log(8))
                return refuted_by("so many randomised responses have a larger epsilon, by Chebyshev", {
                    "epsilon_0": 1, "T": steps, "delta": "1/4", "claimed": Enclosure.of_ball(claimed),
                    "epsilon at least": Enclosure.of_ball(least)},
                    computed("the quotient of the two grows without bound in T: no constant in front will do",
                             sympy.limit(quotient, many, sympy.oo) == sympy.oo),
                    argued("the epsilon of T responses is at least that: Chebyshev, in the module docstring"))
    tried = sum(1 for _ in given.points("epsilon", "steps", "delta", at_most=60))
    each, steps_, logarithm = given.symbol("epsilon"), given.symbol("steps"), sympy.symbols("L", positive=True)
    return proof(
        computed("it is at least T e, on symbols", never_negative(says(each, steps_, logarithm) - steps_ * each)),
        argued("the epsilons of T steps add up, and so do their deltas (background/composition-basic)"), tried=tried,
    )


def judge_regime(says: Formula, given: Domain) -> Finding:
    """The same where e = u sqrt(L/T) with u in (0, 1]: T e^2/2 + e sqrt(2 T L) is at most what is claimed."""
    for point in given.points("steps", "delta", "share", at_most=60):
        with ctx.workprec(100):
            steps, level = ball(point["steps"]), (2 / ball(point["delta"])).log()
            each = ball(point["share"]) * (level / steps).sqrt()
            least = steps * each * (each / 2).tanh() + each * (2 * steps * level).sqrt()
            if least > says(each, steps, level):
                return refuted("advanced composition gives more", {**point, "advanced composition": least.str(12),
                                                                   "claimed": says(each, steps, level).str(12)})
    steps, level, share = given.symbol("steps"), sympy.symbols("L", positive=True), given.chart("share")
    each = share * sympy.sqrt(level / steps)
    gap = says(each, steps, level) - steps * each**2 / 2 - each * sympy.sqrt(2 * steps * level)
    x = sympy.symbols("x", nonnegative=True)
    return proof(
        computed("T e^2/2 + e sqrt(2 T L) is at most what is claimed for every u in (0, 1]",
                 never_negative(sympy.simplify(gap / level)) and all(0 < u <= 1 for u in given.values("share"))),
        computed("tanh(x) <= x: the slope of x - tanh x is tanh^2",
                 vanishes(sympy.diff(x - sympy.tanh(x), x) - sympy.tanh(x) ** 2)),
    )


def judge_logs(times: Fraction, given: Domain) -> Finding:
    """Whether ln(2.5 T/delta) <= times ln(T/delta) for T >= 1 and delta up to its largest value."""
    for point in given.points("steps", "delta"):
        with ctx.workprec(80):
            inside = ball(point["steps"] / point["delta"])
            if (inside * 5 / 2).log() > ball(times) * inside.log():
                return refuted("the logarithm is larger", {**point, "claimed": times,
                                                           "ratio": ((inside * 5 / 2).log() / inside.log()).str(10)})
    least = Fraction(given["steps"].low or 0) / (given["delta"].high or 1)
    x, k = sympy.symbols("x", positive=True), sympy.Rational(times.numerator, times.denominator)
    with ctx.workprec(80):
        at_end = least > 1 and ball(times) * ball(least).log() > (ball(least) * 5 / 2).log()
    return proof(
        computed("times ln x - ln(5x/2) rises in x = T/delta", signed_positive(k - 1)
                 and vanishes(sympy.diff(k * sympy.log(x) - sympy.log(x), x) - (k - 1) / x)),
        computed("it is positive at the least T/delta, certified", at_end),
    )


def judge_noise(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether sigma^2 = says(epsilon, T, ln(1/delta), ln(T/delta)) (C/n)^2 is enough, a record replaced.

    The exact delta of T Gaussian releases at points, and the derivation of the module docstring on symbols.
    """
    tried = 0
    far = {"epsilon": "1000000", "steps": "1", "delta": "1/8"}
    for point in first_at(far, given, ("epsilon", "steps", "delta"), 80):
        epsilon, steps, delta = point["epsilon"], point["steps"], point["delta"]
        with ctx.workprec(200):
            inside = ball(1 / delta).log()
            variance = says(ball(epsilon), ball(steps), inside, (ball(steps) / ball(delta)).log())
            tried += 1
            if not variance > 0:
                return refuted("no noise at all", {**point, "variance in (C/n)^2": variance.str(8)})
            mu = 2 * (ball(steps) / variance).sqrt()
            if mu > 4 and mu**2 / 2 > ball(epsilon) and delta < Fraction(1, 4):
                large, log = sympy.Symbol("epsilon", positive=True), sympy.log(8)
                share = 2 / (says(large, sympy.Integer(1), log, log) * large)  # mu^2/(2 epsilon), T = 1, delta = 1/8
                return refuted_by("with mu^2/2 > epsilon and mu > 4 delta is above 1/4", {
                    **point, "delta": float(delta), "variance in (C/n)^2": variance.str(8), "mu": mu.str(8)},
                    computed("mu^2/(2 epsilon) grows without bound in epsilon: no constant in front will do",
                             sympy.limit(share, large, sympy.oo) == sympy.oo),
                    argued("delta is above 1/4 there: the normal tail's bound in the module docstring"))
            if epsilon < 100 and delta_ball(ball(epsilon), mu) > ball(delta):
                return refuted("the exact delta is larger, certified", {
                    **point, "delta": float(delta), "variance in (C/n)^2": variance.str(8), "mu": mu.str(8)})
    e, steps_ = given.chart("epsilon"), given.symbol("steps")
    inside, sampled_log = sympy.symbols("l m", positive=True)
    if given["epsilon"].high is None:
        above = says(e, steps_, inside, sympy.Rational(1, 2) + sampled_log)
        return proof(
            computed("it is at least 8 T/epsilon and (128/9) T ln(1/delta)/epsilon^2 where ln(T/delta) > 1/2",
                     never_negative(above - 8 * steps_ / e, above - sympy.Rational(128, 9) * steps_ * inside / e**2)),
            computed("ln(T/delta) >= ln 2 > 1/2", given["delta"].high == Fraction(1, 2) and bool(arb(2).log() > 0.5)),
            argued("the releases are 2T/v-zCDP together, which is (epsilon, delta)-DP: the module docstring"),
            tried=tried,
        )
    constant = 2 * 4 * (sympy.sqrt(2) + sympy.Rational(1, 2)) ** 2 * sympy.Rational(14, 3)
    gap = says(e, steps_, inside, sampled_log) - constant * steps_ * inside * sampled_log / e**2
    with ctx.workprec(80):
        small = (arb(2).sqrt() + arb(1) / 2) * arb(2).log() > 1
    return proof(
        computed("it is at least 2 k^2 K^2 (14/3) times the order, K = sqrt 2 + 1/2, k = 2", never_negative(gap)),
        computed("K ln 2 > 1, so that e <= sqrt(L/T) and e <= 1 for epsilon <= 1", small
                 and given["epsilon"].high == 1),
        computed("ln(2/delta) <= 2 ln(1/delta) for delta <= 1/2", given["delta"].high == Fraction(1, 2)),
        argued("e and d0 of the module docstring make each step (e, d0)-DP and all of them (epsilon, delta)-DP"),
        tried=tried,
    )


def judge_proportional(says: Formula, given: Domain) -> Finding:
    """Whether the least variance of T Gaussian releases is says(T) times that of one: mu = sqrt(T) C/(n sigma)."""
    for steps in given.values("steps"):
        if says(steps) != sum(1 for _ in range(steps)):
            return refuted("T squares of one mu add up to something else", {"T": steps, "claimed": says(steps)})
    t, s = given.symbol("steps"), sympy.symbols("s", positive=True)
    return proof(
        computed("T releases of mu = 1/s each have together mu^2 = T/s^2: at s^2 = claimed the mu of one",
                 vanishes(t / (s**2 * says(t)) - 1 / s**2)),
        sampled("study dp-gd-noise: CONFIRMED, and the slides' formula stays above it",
                study_step("dp-gd-noise").passed),
    )


def judge_released(says: tuple[str, ...], given: Domain) -> Finding:
    """Whether these of theta_0, eta, ghat_1 and ghat_2 tell both outputs of two steps, without the data.

    The steps are run with gradients a + b theta of the data and noise z; then z is what ghat has beside the data's.
    """
    start, rate = sympy.symbols("theta_0 eta", real=True)
    released = sympy.symbols("ghat_1 ghat_2", real=True)
    theta, iterates = start, []
    for step, noisy in enumerate(released, 1):
        intercept, slope, noise = sympy.symbols(f"a_{step} b_{step} z_{step}", real=True)
        theta = (theta - rate * (intercept + slope * theta + noise)).subs(
            noise, noisy - intercept - slope * theta)
        iterates.append(sympy.expand(theta))
    outputs = {"last": iterates[-1], "average": sympy.expand(sum(iterates) / len(iterates))}
    for name, value in outputs.items():
        for needed in sorted(value.free_symbols, key=str):
            if str(needed) not in says:
                moved = sympy.simplify(value.subs(needed, needed + 1) - value)
                return refuted("the output differs where all that was named is the same", {
                    "output": name, "not named": needed, "moves, one more of it, by": moved})
    return proof(
        computed("last and average iterate of two steps are formulas of these, without the data's gradients",
                 all({str(one) for one in value.free_symbols} <= set(says) for value in outputs.values())),
        argued("so is every iterate, by induction; what is computed from a private release is as private"),
    )


_STEPS, _DELTA = positive_integer("steps", "T"), probability("delta")
_HALF = Parameter("delta", low=Fraction(0), low_open=True, high=Fraction(1, 2))
_UNIT = Parameter("epsilon", low=Fraction(0), low_open=True, high=Fraction(1))
_SHARE = Parameter("share", low=Fraction(0), low_open=True, high=Fraction(1), meaning="e / sqrt(ln(2/delta)/T)")
_ADVANCED = (
    r"$$\begin{aligned} \epsilon &= O \left(\epsilon_0 \cdot \sqrt{T \ln(2/\delta)} \right) \\ \delta &= 2T \cdot "
    r"\delta_0 \end{aligned}$$"
)
_NOISE = (
    r"$$\sigma^2 = O \left(\left(\frac{C}{\epsilon n} \right)^2 \cdot T \cdot \ln \frac{T}{\delta} \cdot "
    r"\ln \frac{1}{\delta} \right)$$"
)

released = Claim(
    id="cs208/release-all", source="004, Privacy Analysis: the proof idea",
    quote=r"Proof idea: Show releasing $(\hat{g}_1, \hat{g}_2, \dots, \hat{g}_T)$ satisfies DP", whose=Whose.PRINTED,
    severity=Stake.PRIVACY, statement=r"\hat\theta = F(\hat g_1, \ldots, \hat g_T)",
    words="what DP-GD puts out is a function of its noisy gradients, so that it is as private as they are",
    hypotheses=(), says=("theta_0", "eta", "ghat_1", "ghat_2"), check=judge_released,
    flips=(Flip("the first noisy gradient alone", ("theta_0", "eta", "ghat_1"), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
each_step = Claim(
    id="cs208/each-step-eps", source="004, Privacy Analysis, read with one epsilon for every step and for all of them",
    quote=r"Each step (releasing \hat{g}_t) satisfies (ϵ, δ) -DP", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"T \text{ steps, each } (\epsilon, \delta)\text{-DP, are } (\epsilon, \delta)\text{-DP}",
    words="T steps, each with the epsilon of the whole, are epsilon-DP together",
    hypotheses=(Parameter("odds", low=Fraction(1), meaning="e^epsilon"), _STEPS),
    says=lambda odds, steps: odds, check=judge_total, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"T \text{ steps, each } (\epsilon_0, 0)\text{-DP, are } (T\epsilon_0, 0)\text{-DP, and no better}",
        words="T steps of epsilon_0 are T epsilon_0-DP together, and no better in the worst case",
        says=lambda odds, steps: odds**steps, expected="HOLDS ARGUED",
        source="004, Privacy Analysis, with an epsilon_0 of its own for each step",
        rests_on=("background/composition-basic",),
    ),
)
twice = Claim(
    id="cs208/delta-2T", source="004, Privacy Analysis: delta = 2T delta_0, with ln(2/delta)", quote=_ADVANCED,
    whose=Whose.PRINTED, severity=Stake.PRIVACY, statement=r"1 - (1-\delta_0)^T (1 - \delta/2) \le \delta = 2T\delta_0",
    words="delta = 2 T delta_0 covers the deltas of T steps and the slack delta/2 of advanced composition",
    hypotheses=(_STEPS, Parameter("share", low=Fraction(0), low_open=True, high=Fraction(1), meaning="delta")),
    says=lambda steps, base: 2 * steps * base, check=judge_delta,
    flips=(Flip("T delta_0, no slack left", lambda steps, base: steps * base, Verdict.REFUTED),),
    rests_on=("background/composition-advanced",),
    expected="HOLDS ARGUED",
)
advanced = Claim(
    id="cs208/adv-composition", source="004, Privacy Analysis: advanced composition, for every epsilon_0",
    quote=_ADVANCED, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\epsilon = O\big(\epsilon_0 \sqrt{T \ln(2/\delta)}\big)",
    words="T steps cost a constant times epsilon_0 sqrt(T ln(2/delta)), whatever epsilon_0 is; here the constant 100",
    hypotheses=(positive("epsilon", "epsilon_0"), _STEPS, _DELTA),
    says=lambda each, steps, level: 100 * each * root(steps * level), check=judge_any,
    flips=(Flip("the constant 10000", lambda each, steps, level: 10000 * each * root(steps * level), Verdict.REFUTED),
           Flip("T epsilon_0, as basic composition has it", lambda each, steps, level: steps * each, Verdict.HOLDS)),
    uses=("cs208/delta-2T",), expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\epsilon \le (\sqrt2 + \tfrac12)\, \epsilon_0 \sqrt{T \ln(2/\delta)},\quad"
                  r" \epsilon_0 \le \sqrt{\ln(2/\delta)/T}",
        words="T steps cost at most (sqrt 2 + 1/2) epsilon_0 sqrt(T ln(2/delta)), epsilon_0 up to sqrt(ln(2/delta)/T)",
        hypotheses=(_STEPS, _DELTA, _SHARE), check=judge_regime,
        says=lambda each, steps, level: (2 * root(0 * steps + 2) + 1) * each * root(steps * level) / 2,
        expected="HOLDS ARGUED", source="004, Privacy Analysis, for small epsilon_0 and with a constant",
        rests_on=("background/composition-advanced", "cs208/delta-2T"),
        flips=(Flip("the constant 1", lambda each, steps, level: each * root(steps * level), Verdict.REFUTED),),
        true_variants=dict.fromkeys(("1 % more", "1 -> 2 *", "beyond *"), "a larger bound is one, too"),
    ),
)
logarithms = Claim(
    id="cs208/dp-gd-delta0", source="004, Privacy Analysis: delta_0 = delta/(2T) put in, for delta <= 1/2",
    quote=_NOISE, whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\ln\frac{1.25}{\delta_0} = \ln\frac{2.5T}\delta \le \frac73 \ln\frac T\delta,\quad \delta \le \tfrac12",
    words="the logarithm of the Gaussian mechanism at delta/(2T) is O(ln(T/delta)), with 7/3",
    hypotheses=(_STEPS, _HALF), says=Fraction(7, 3), check=judge_logs,
    flips=(Flip("2", Fraction(2), Verdict.REFUTED),),
    true_variants={"1 % more": "a larger constant will do", "one more": "a larger constant will do"},
    expected="HOLDS PROVED",
)
noise = Claim(
    id="cs208/dp-gd-noise", source="004, Privacy Analysis: the noise that suffices, for every epsilon", quote=_NOISE,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\sigma^2 = O\Big(\Big(\frac{C}{\epsilon n}\Big)^2 T \ln\frac T\delta \ln\frac1\delta\Big)",
    words="a constant times (C/(epsilon n))^2 T ln(T/delta) ln(1/delta) is enough noise for every epsilon; here 1000",
    hypotheses=(positive("epsilon"), _STEPS, _HALF),
    says=lambda epsilon, steps, inside, inner: 1000 * steps * inside * inner / epsilon**2, check=judge_noise,
    flips=(Flip("and as much of T/epsilon beside it", lambda epsilon, steps, inside, inner: 1000 * steps * (
        inside * inner / epsilon**2 + 1 / epsilon), Verdict.HOLDS),),
    uses=("cs208/adv-composition", "cs208/dp-gd-delta0", "cs208/dp-gd-step"), expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\sigma^2 = \tfrac{28}{3} (2\sqrt2 + 1)^2 \Big(\frac{C}{\epsilon n}\Big)^2 T"
                  r" \ln\frac T\delta \ln\frac1\delta,\quad \epsilon \le 1,\ \delta \le \tfrac12",
        words="for epsilon up to 1 and delta up to 1/2 the slides' order of noise is enough, with an explicit constant",
        hypotheses=(_UNIT, _STEPS, _HALF),
        says=lambda epsilon, steps, inside, inner: 28 * (2 * root(0 * steps + 2) + 1) ** 2 * steps * inside * inner
        / (3 * epsilon**2), check=judge_noise,
        flips=(Flip("a tenth of the order", lambda epsilon, steps, inside, inner: steps * inside * inner
                    / (10 * epsilon**2), Verdict.REFUTED),),
        expected="HOLDS ARGUED", source="004, Privacy Analysis, for epsilon <= 1, a record replaced",
        rests_on=("cs208/adv-composition-repaired", "cs208/dp-gd-delta0", "cs208/dp-gd-step-repaired"),
        true_variants=dict.fromkeys(("1 % more", "28 -> 29 *", "1 -> 2 *", "[*] -> + (operator 3)"),
                                    "more noise is enough, too"),
    ),
)
formula_in_steps = Claim(
    id="cs208/dp-gd-noise-formula", source="004, Privacy Analysis: how the noise must grow with T, exactly",
    quote=_NOISE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\sigma^2_{\min}(T) = T\, \sigma^2_{\min}(1) = O\Big(T \ln\frac T\delta \ln\frac1\delta\Big)",
    words="the least noise variance of T steps is exactly T times that of one: the slides' ln(T/delta) is too much",
    hypotheses=(_STEPS,), says=lambda steps: steps, check=judge_proportional,
    flips=(Flip("T^2", lambda steps: steps**2, Verdict.REFUTED),), rests_on=("background/gdp-composition",),
    expected="HOLDS ARGUED",
)
