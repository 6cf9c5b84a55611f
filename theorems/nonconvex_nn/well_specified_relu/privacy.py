r"""The privacy of Algorithm 7 of document 002 (Theorem 6), and what it returns.

Sensitivity. On the event that no record is stretched beyond 2, a record's gradient at |w| <= 2W is at most (2 * 2W + B)
2 long, so that a replaced one moves the mean by at most 4 (4W + B)/n. In fact by 4 (2W + B)/n: write z = Phi x, |z| <=
2, c = max(0, <w, z>/(|w| |z|)); the first part p = |z|^2 |w| c z/|z| of a gradient lies in the ball with the diameter
from 0 to 4w, since |p|^2 - 4 <w, p> = |z|^2 |w|^2 c^2 (|z|^2 - 4) <= 0; two such parts differ by at most 4 |w| <= 8W,
two second parts by at most 4B.

Privacy. T adaptive Gaussian releases of that sensitivity have the curve at mu = Delta sqrt(T)/sigma. With sigma^2 = 32
(4W + B)^2 T log(2/delta)/(n epsilon)^2 that is mu = epsilon/sqrt(2 log(2/delta)): the calibration s^2 = 2 log(K/delta')
with K = 1 at delta' = delta/2 <= 1/2, private for epsilon <= 1 (`calibrated_range`). What the projection costs is
delta/2, if m >= 2/(3 - log 4) log(2 (n+1)/delta), as in `smoothing.privacy`.

Against the printed words: m = 1 = O(...), d = 1, T = 2, w_1 = 0, n = 100, W = 1/100, B = 1, eta = 1/1000, one record
(+-1, B) and zeros. Then w_2 = eta (+-B g/n + sigma N), cut at 2W, and what is returned is a multiple of g w_2. The
log-likelihood ratio of g w_2 does not depend on g, and crosses epsilon at |w_2| = eta epsilon sigma^2 n/(2B |g|),
inside the ball if |g| is not too small: the true delta is at least P(|g| >= r) delta(epsilon; 2 B r/(n sigma)).

What it returns. The printed mean of w_T over t is w_T. The proof bounds the mean of w_t.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.smoothing.privacy import chernoff_steps
from theorems.tools.calibrated_range import calibrated, exceeds
from theorems.tools.either import log
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Variance = Callable[..., Any]
"""(4W + B, T, n, epsilon, delta) -> sigma^2."""

_WEIGHT, _RECORDS, _STEP, _RADIUS = Fraction(1, 100), 100, Fraction(1, 1000), Fraction(6)


def one_row_delta(variance: arb, epsilon: Fraction) -> arb | None:
    """At least the delta of the release with one row, B = 1; None if the ball cuts what would tell."""
    sigma = variance.sqrt()
    crossing = ball(_STEP * epsilon * _RECORDS) * variance / (2 * ball(_RADIUS))
    if not crossing < ball(2 * _WEIGHT):
        return None
    mu = 2 * ball(_RADIUS) / (_RECORDS * sigma)
    return 2 * normal_upper_tail(ball(_RADIUS)) * delta_ball(ball(epsilon), mu)


def judge_variance(says: Variance, given: Domain) -> Finding:
    """Whether noise of the variance says(4W + B, T, n, epsilon, delta) makes Algorithm 7 (epsilon, delta)-DP."""
    tried = 0
    room = given["room"].low
    with ctx.workprec(160):
        for epsilon, delta in ((Fraction(1), Fraction(1, 10**20)), (Fraction(1, 2), Fraction(1, 10**40))):
            reach = (3 - arb(4).log()) / 2 / (2 * (_RECORDS + 1) / ball(delta)).log()  # room at m = 1
            variance = says(ball(4 * _WEIGHT + 1), 2, _RECORDS, ball(epsilon), ball(delta))
            tried += 1
            if not variance > 0:
                return undecided("no noise at all", tried)
            true = one_row_delta(variance, epsilon)
            if room is not None and reach > ball(room) and true is not None and true > ball(delta):
                return refuted("with one row a record is stretched too often, certified", {
                    "epsilon": epsilon, "claimed delta": delta, "m": 1, "d": 1, "T": 2, "n": _RECORDS, "W": _WEIGHT,
                    "B": 1,
                    "eta": _STEP, "sigma^2": Enclosure.of_ball(variance), "radius": _RADIUS,
                    "true delta, at least": Enclosure.of_ball(true)})
        for point in given.points("epsilon", "delta", "room", "steps", at_most=40):
            tried += 1
            if not says(arb(1), point["steps"], 10, ball(point["epsilon"]), ball(point["delta"])) > 0:
                return undecided("no noise at all", tried)
    if room is None or room < 1:
        return undecided("too few rows for the argument", tried)
    size, steps, n = sympy.symbols("s T n", positive=True)
    delta_, epsilon_ = sympy.symbols("delta", positive=True), given.symbol("epsilon")
    move = 4 * size / n
    squared = sympy.simplify(says(size, steps, n, epsilon_, delta_) * epsilon_**2 / (move**2 * steps))
    high = given["delta"].high
    return proof(
        *chernoff_steps(),
        computed("sigma^2 epsilon^2/(Delta^2 T) is at least 2 log(1/(delta/2)), Delta = 4 (4W + B)/n",
                 exceeds(squared, Fraction(1), sympy.Rational(1, 2), delta_, high)),
        *calibrated(Fraction(1), given["epsilon"].high, None if high is None else high / 2),
        argued("T adaptive Gaussian releases compose to mu = Delta sqrt(T)/sigma; iterates, mean and Phi^T of it are "
               "post-processing; on the event it is (epsilon, delta/2)-DP"),
        tried=tried,
    )


def sensitivity(*, sharp: bool) -> Callable[[Callable[[Any, Any, Any], Any], Domain], Finding]:
    """A checker of how far the mean gradient moves, |Phi x| <= 2 and |w| <= 2W; `sharp` asks for the least bound."""

    def judge(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
        tried = 0
        for point in led(given, at_most=60, W="1", B="1", n=1):
            w, b, n = point["W"], point["B"], point["n"]
            moved = abs(2 * (2 * 2 * w + b) - -2 * (0 * w + b)) / n  # (max(0, <w, z>) + B) z for z = 2 and -2
            tried += 1
            if moved > says(w, b, n) or (sharp and moved != says(w, b, n)):
                return refuted("the mean moves otherwise", {
                    "W": w, "B": b, "n": n, "records": "z = 2 w/|w| against -2 w/|w|, both labels -B, |w| = 2W",
                    "moves by": moved, "claimed": says(w, b, n)})
        w_, b_, n_, t = given.symbol("W"), given.symbol("B"), given.symbol("n"), sympy.symbols("t", nonnegative=True)
        c, z = sympy.symbols("c z", nonnegative=True)
        first = (z**2 * w_ * c) ** 2 - 4 * w_ * c * z**2 * w_ * c  # |p|^2 - 4 <w, p>, for |z| = 2/(1 + t)
        told = says(w_, b_, n_) - (8 * w_ + 4 * b_) / n_
        return proof(
            computed("a first part lies in the ball from 0 to 4w", never_negative(-first.subs(z, 2 / (1 + t)))),
            computed("4 (2W) + 4B over n is at most what is claimed",
                     vanishes(told) if sharp else never_negative(sympy.expand(told))),
            argued("two points of a ball differ by at most its diameter; z = 2w/|w| against -z with labels -B attains "
                   "it"),
            tried=tried,
        )

    return judge


def judge_returned(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the mean over t of says(w_t, w_T) is the mean of the iterates."""
    tried = 0
    for steps in given.values("steps", most=60):
        iterates = [Fraction(t * t, 7) for t in range(steps)]
        told = sum((says(w, iterates[-1]) for w in iterates), Fraction(0)) / steps
        true, tried = sum(iterates, Fraction(0)) / steps, tried + 1
        if told != true:
            return refuted("what is returned is another vector", {
                "T": steps, "iterates": ", ".join(map(str, iterates)), "returned": told, "mean": true})
    w, last = sympy.symbols("w l", real=True)
    return proof(computed("each term is the iterate of its step", vanishes(says(w, last) - w)), tried=tried)


def judge_fresh(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether E<zeta_2, w_2> = 0 for w_2 = -eta zeta_1 and the noise says(fresh, old) of step 2, variance m sigma^2."""
    tried = 0
    for point in led(given, at_most=60, eta="1/2", energy="1"):
        eta, energy = point["eta"], point["energy"]
        # <old, old> has the mean m sigma^2, <fresh, old> has 0: the mean of a linear form, from its coefficients.
        cross, tried = -eta * (says(Fraction(0), Fraction(1)) - says(Fraction(0), Fraction(0))) * energy, tried + 1
        if cross != 0:
            return refuted("the noise of a step and the iterate that it was in are not independent", {
                "eta": eta, "m sigma^2": energy, "w_1": 0, "E<zeta, w_2>": cross, "used": 0})
    fresh, old = sympy.symbols("f o", real=True)
    return proof(computed("the noise of step 2 has no part of that of step 1", vanishes(
        says(fresh, old) - says(fresh, sympy.Integer(0))) and not vanishes(says(fresh, old))), tried=tried)


_UP_TO_1 = Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True)
_DELTA_1 = Parameter("delta", low=Fraction(0), high=Fraction(1), low_open=True)
_ROOM = positive("room", "m (3 - log 4)/2 over log(2 (n+1)/delta)")
_STEPS = positive_integer("steps", "T")
_SIZES = (positive("W"), positive("B"), positive_integer("n"))
_PRINTED: Variance = lambda s, steps, n, epsilon, delta: (  # noqa: E731
    32 * s**2 * steps * log(2 / delta) / (n**2 * epsilon**2))
_SENSITIVITY = (
    r"Under this event we can easily calculate the ℓ_2 -norm sensitivity of $\frac{1}{n} \sum_{i=1}^n (\max\{0, "
    r"\langle "
    r"\tilde{w}_t, \Phi x_i \rangle\} - y_i) \Phi x_i$, which is $\frac{4(4W+B)}{n}$."
)
_LARGER = {"1 % more": "a larger bound is a bound, too"}

theorem_6 = Claim(
    id="nonconvex-nn/thm-6-privacy", source="002, Theorem 6: privacy, m = O(...) an upper bound, as O is",
    quote=r"Theorem 6. *Algorithm 7 is (ϵ, δ) -DP for any $0 < \epsilon, \delta \leq 1$ under the previous "
          r"assumptions and "
          r"$m = O(\log(\frac{n}{\delta})(n\epsilon)^{\frac{2}{3}})$.", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\sigma^2 = \frac{32(4W+B)^2 T \log(2/\delta)}{n^2\epsilon^2} \Rightarrow (\epsilon, \delta)\text{-DP},"
              r"\ m = O(\log(n/\delta)(n\epsilon)^{2/3})",
    words="Algorithm 7 with its noise is (epsilon, delta)-DP for every m up to the stated order, m = 1 among them",
    hypotheses=(_UP_TO_1, _DELTA_1, _ROOM, _STEPS), says=_PRINTED, check=judge_variance, expected="REFUTED PROVED",
    flips=(Flip("ten thousand times the variance", lambda s, steps, n, epsilon, delta: 320000 * s**2 * steps
                * log(2 / delta) / (n**2 * epsilon**2), Verdict.UNDECIDED),),
    repair=Repair(
        statement=r"\mu = \frac{4(2W+B)\sqrt T}{n\sigma} \text{ at } \delta/2;\quad m \ge \frac{2}{3 - \log 4}"
                  r" \log\frac{2(n+1)}{\delta}",
        words="on the event that no record is stretched beyond 2 Algorithm 7, all iterates released, has the Gaussian "
              "curve at "
              "mu = 4 (2W + B) sqrt(T)/(n sigma), whatever the step sizes; with the printed noise and m >= 2.48 "
              "log(2(n+1)/delta) rows of Gaussians it is (epsilon, delta)-DP for epsilon, delta <= 1",
        source="002, Theorem 6, with a lower bound on m", hypotheses=(_UP_TO_1, _DELTA_1, _ROOM.at_least(1), _STEPS),
        says=_PRINTED, check=judge_variance, expected="HOLDS ARGUED",
        flips=(Flip("16 for 32", lambda s, steps, n, epsilon, delta: 16 * s**2 * steps * log(2 / delta)
                    / (n**2 * epsilon**2), Verdict.UNDECIDED),),
        rests_on=("nonconvex-nn/thm-6-sensitivity", "nonconvex-nn/thm-6-sensitivity-sharp", "background/balle-wang",
                  "background/gdp-composition"),
        true_variants={**_LARGER, "32 -> 33*": "more noise"},
    ),
)
moves = Claim(
    id="nonconvex-nn/thm-6-sensitivity", source="002, proof of Theorem 6: the sensitivity of the mean gradient",
    quote=_SENSITIVITY, whose=Whose.PRINTED, severity=Stake.PRIVACY, statement=r"\Delta_2 \le \frac{4(4W+B)}{n}",
    words="a replaced record moves the mean gradient by at most 4 (4W + B)/n, |Phi x| <= 2, |w| <= 2W",
    hypotheses=_SIZES,
    says=lambda w, b, n: 4 * (4 * w + b) / n, check=sensitivity(sharp=False),
    flips=(Flip("4 (2W + B)/n", lambda w, b, n: 4 * (2 * w + b) / n, Verdict.HOLDS),
           Flip("2 (4W + B)/n", lambda w, b, n: 2 * (4 * w + b) / n, Verdict.REFUTED)),
    true_variants={**_LARGER, "4 -> 5*": "a larger bound is a bound"}, expected="HOLDS ARGUED",
)
moves_sharp = Claim(
    id="nonconvex-nn/thm-6-sensitivity-sharp", source="a finding of ours: the sensitivity in 002, Theorem 6",
    severity=Stake.PROOF, statement=r"\Delta_2 = \frac{4(2W+B)}{n}",
    words="the sensitivity of the mean gradient is 4 (2W + B)/n, up to twice smaller than the document has it",
    hypotheses=_SIZES, says=lambda w, b, n: 4 * (2 * w + b) / n, check=sensitivity(sharp=True),
    flips=(Flip("as printed", lambda w, b, n: 4 * (4 * w + b) / n, Verdict.REFUTED),), expected="HOLDS ARGUED",
)
returned = Claim(
    id="nonconvex-nn/alg-7-typos", source="002, Algorithm 7, line 6: the mean over t of w_T",
    quote=r"Return $\bar{w} = \frac{\sum_{t=1}^T \Phi^T \tilde{w}_T}{T}$.", whose=Whose.TYPO, severity=Stake.UTILITY,
    statement=r"\frac1T \sum_t \tilde w_T = \frac1T \sum_t \tilde w_t",
    words="Algorithm 7 returns the mean of its iterates, which its proof bounds", hypotheses=(_STEPS,),
    says=lambda iterate, last: last, check=judge_returned, expected="REFUTED PROVED",
    repair=Repair(statement=r"\bar w = \frac1T \sum_t \Phi^T \tilde w_t",
                  words="Algorithm 7 with w_t in its last line returns the mean of its iterates",
                  says=lambda iterate, last: iterate, expected="HOLDS PROVED"),
)
fresh_noise = Claim(
    id="nonconvex-nn/alg-7-typos-noise",
    source="002, Algorithm 7, line 3: zeta for zeta_t, read as one draw for all steps",
    quote=r"where $\zeta \sim \mathcal{N}(0, \sigma^2 \mathbb{I}_m)$", whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\mathbb{E}\langle \zeta, \tilde w_2 \rangle = 0,\ \tilde w_2 = -\eta \zeta",
    words="with one draw of the noise for all steps the mixed term of the proof of Theorem 6 has mean 0",
    hypotheses=(positive("eta"), positive("energy", "m sigma^2")), says=lambda fresh, old: old, check=judge_fresh,
    expected="REFUTED PROVED",
    repair=Repair(statement=r"\zeta_t \sim \mathcal{N}(0, \sigma^2 I_m) \text{ independent}",
                  words="with a fresh draw for every step it has", says=lambda fresh, old: fresh,
                  expected="HOLDS PROVED",
                  true_variants={"1 % *": "a multiple of a fresh draw is independent, too",
                                 "sign": "so is its opposite",
                                 "squared": "so is its square", "any *": "no step size enters",
                                 "only at argument 0 = 0": "a draw is 0 with probability 0"}),
)
