r"""The privacy of Algorithms 5 and 6 of document 002 (Theorems 4 and 5).

Sensitivity. Phase i sees the replaced record, and no other does. Two runs of the phase that differ by u before a step
on a common record differ after it by u - eta_i s <u, x> x, s in [0, beta], plus errors of the gradients: the first part
is no longer than u if eta_i beta |x|^2 <= 2. The step on the replaced record moves them apart by at most 4B eta_i (8B
eta_i for |x| <= 2), and errors of up to gamma by 2 gamma eta_i a step. After j steps: eta_i (4B + 2 j gamma). The mean
of w^1, ..., w^{n_i} therefore moves by at most eta_i (4B + gamma (n_i + 1)). As eta_i <= eta/4, eta beta <= 8 is
enough.

Privacy. What was released before has the same law, the phase's release is a Gaussian mechanism whatever was released
before, and the rest is post-processing: the Gaussian curve at mu = (4B + gamma (n_1 + 1))/(tau_i/eta_i). With gamma (n
+ 1) <= B, the printed noise 10 B sqrt(log(1/delta))/epsilon is 2 sqrt(log(1/delta)) times the sensitivity over epsilon,
and 4 log(1/delta) >= 2 log(1.25/delta) if and only if delta <= 4/5: Lemma 1's calibration, at epsilon = 1, too.

Projected. P(|Phi x| > 2) <= P(chi^2_m > 4m) <= e^{-4 l m} (1 - 2l)^{-m/2} at l = 3/8, which is e^{-m (3 - log 4)/2}.
With m >= 2/(3 - log 4) log(2 (n+1)/delta), all n + 1 points of two neighbouring data sets stay within length 2 but for
a probability of delta/2, which depends on Phi alone; then the sensitivity is eta_i (8B + gamma (n_i + 1)) <= 10 B eta_i
for gamma (n + 1) <= 2B, and the printed noise is calibrated to delta/2 for every delta <= 1.

Against the printed words. A constant link B with the label -B and one record x = 1 against x = -1 (others are 0, n =
1024) moves the mean of the first phase by 4B eta_1 511/512, times the answer of the oracle over 2B, at least 1 - 1e-6
for gamma <= B/1000; what the later phases add to the noise is below tau_1^2/15. So w_k is Gaussian with at least that
mu. Projected to m = 1, d = 1, with Phi = g: w_k = -+a g + tau N and Phi^T w_k = -+a g^2 + |g| tau N have the
log-likelihood ratio -2 a w/tau^2 at w, whatever g is: the true delta is E delta(epsilon; 2 a |g|/tau), at least P(|g|
>= r) delta(epsilon; 2 a r/tau). Without a bound on the step: records x_1 = +-e_1, then x_t = (-1/1000, b e_t), |x_t|
= 1, with the label 0 and a clip link. The first record decides the sign of all later answers, which are +-B on axes of
their own."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, normal_upper_tail
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.calibrated_range import calibrated, exceeds
from theorems.tools.either import log, root
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

Noise = Callable[[Any, Any, Any], Any]
"""(B, epsilon, delta) -> tau_i/eta_i."""

_CORNERS = tuple((Fraction(e), Fraction(d)) for e, d in (
    ("1", "0.999"), ("99/100", "0.9999"), ("1", "1e-5"), ("1/2", "1e-20"), ("1/2", "1/2")))
_MOVED = 4 * Fraction(511, 512) * (1 - Fraction(1, 10**6))  # of the mean of phase 1, over B eta_1
_KEPT = Fraction(16, 15)  # the variance of the last release over that of the first is below it
_RADIUS = Fraction(6)


def constant_link_delta(noise: arb, epsilon: Fraction) -> arb:
    """At least the delta of w_k for the constant link B = 1, noise = tau_i/eta_i."""
    return delta_ball(ball(epsilon), ball(_MOVED) / (noise * ball(_KEPT).sqrt()))


def one_row_delta(noise: arb, epsilon: Fraction, radius: Fraction = _RADIUS) -> arb:
    """At least the delta of Phi^T w_k for m = d = 1: P(|g| >= r) delta(epsilon; mu r), mu that of |g| = 1."""
    mu = ball(_MOVED) / (noise * ball(_KEPT).sqrt())
    return 2 * normal_upper_tail(ball(radius)) * delta_ball(ball(epsilon), mu * ball(radius))


def chernoff_steps() -> tuple[ProofStep, ...]:
    """That m >= 2/(3 - log 4) log(2 (n+1)/delta) rows leave delta/2 for the event that a record is stretched."""
    m, n = sympy.symbols("m n", positive=True)
    bound = sympy.exp(-4 * sympy.Rational(3, 8) * m) * (1 - 2 * sympy.Rational(3, 8)) ** (-m / 2)
    share, t = sympy.symbols("q t", nonnegative=True)
    return (
        computed("Chernoff at 3/8: P(chi^2_m > 4m) <= e^(-m (3 - log 4)/2)",
                 vanishes(sympy.expand_log(sympy.log(bound), force=True) + m * (3 - sympy.log(4)) / 2)),
        computed("(n + 1) e^-(1 + t) q, q = log(2 (n+1)/delta), is delta/2 e^(-t q)",
                 vanishes(sympy.log(n + 1) - (1 + t) * share - (-t * share - (share - sympy.log(n + 1))))
                 and never_negative(t * share)),
        argued("the event depends on Phi alone, whose law is that of both data sets; off it all is given up"),
    )


def judge_noise(says: Noise, given: Domain) -> Finding:
    """Whether noise says(B, epsilon, delta) eta_i makes Algorithm 5 private, gamma (n+1) <= B, eta beta <= 8."""
    points = [point for point in _CORNERS if given.contains(epsilon=point[0], delta=point[1])]
    points += [(point["epsilon"], point["delta"]) for point in given.points("epsilon", "delta", at_most=60)]
    with ctx.workprec(120):
        for epsilon, delta in points:
            if delta >= 1:
                continue  # delta = 1 promises nothing
            noise = says(arb(1), ball(epsilon), ball(delta))
            true = constant_link_delta(noise, epsilon) if noise > 0 else arb(1)
            if true > ball(delta):
                with ctx.workprec(200):
                    rest = 1 - constant_link_delta(noise, epsilon) if noise > 0 else arb(0)
                return refuted("the released model tells two neighbours apart better, certified", {
                    "epsilon": epsilon, "claimed delta": delta, "B": 1, "n": 1024, "link": "constant B, labels -B",
                    "records": "x = 1 or -1, others 0", "tau_i/eta_i": Enclosure.of_ball(noise),
                    "1 - delta, claimed": 1 - delta, "1 - delta, at most": Enclosure.of_ball(rest)})
    b, delta_, epsilon_ = given.symbol("B"), sympy.symbols("delta", positive=True), given.symbol("epsilon")
    squared = (says(b, epsilon_, delta_) * epsilon_ / (5 * b)) ** 2
    error, n = sympy.symbols("q n", nonnegative=True)
    return proof(
        computed("gamma = B/((n + 1)(1 + q)) and n_1 <= n: 4B + gamma (n_1 + 1) <= 5B",
                 never_negative(b - b / ((n + 1) * (1 + error)) * (n + 1)) and b.is_positive is True),
        computed("the noise is at least 5B sqrt(2 log(1.25/delta))/epsilon",
                 exceeds(sympy.simplify(squared), Fraction(5, 4), 1, delta_, given["delta"].high)),
        *calibrated(Fraction(5, 4), given["epsilon"].high, given["delta"].high),
        argued("one phase sees the record: what was released before has the same law, the rest is post-processing"),
        tried=len(points),
    )


def projected(factor: int, constant: Fraction, least: Callable[[arb, Fraction], arb]) -> Callable[[Noise, Domain],
                                                                                              Finding]:
    """A checker of noise on projected records: factor B is the sensitivity, K the calibration, `least` what is lost."""

    def judge(says: Noise, given: Domain) -> Finding:
        tried = 0
        with ctx.workprec(160):
            for epsilon, delta in ((Fraction(1), Fraction(1, 10**20)), (Fraction(1, 2), Fraction(1, 10**40))):
                rows = ball(Fraction(1, 2)) * (3 - arb(4).log()) / (2 * 1025 / ball(delta)).log()  # of room, at m = 1
                low = given["room"].low
                outside = low is None or bool(rows < ball(low))
                noise = says(arb(1), ball(epsilon), ball(delta))
                true = least(noise, epsilon) if noise > 0 else arb(1)
                tried += 1
                if not noise > 0:
                    return undecided("no noise at all", tried)
                if not outside and true > ball(delta):
                    return refuted("with one row a record is stretched too often, certified", {
                        "epsilon": epsilon, "claimed delta": delta, "m": 1, "d": 1, "n": 1024, "B": 1,
                        "noise": Enclosure.of_ball(noise), "radius": _RADIUS, "true delta, at least":
                        Enclosure.of_ball(true)})
            for point in given.points("epsilon", "delta", "room", at_most=40):
                tried += 1
                if not says(arb(1), ball(point["epsilon"]), ball(point["delta"])) > 0:
                    return undecided("no noise at all", tried)
        if given["room"].low is None or given["room"].low < 1:
            return undecided("too few rows for the argument", tried)
        b, delta_, epsilon_ = given.symbol("B"), sympy.symbols("delta", positive=True), given.symbol("epsilon")
        squared = sympy.simplify((says(b, epsilon_, delta_) * epsilon_ / (factor * b)) ** 2)
        high = given["delta"].high
        return proof(
            *chernoff_steps(),
            computed(f"the noise is at least {factor}B sqrt(2 log(K/(delta/2)))/epsilon, K = {constant}",
                     exceeds(squared, constant, sympy.Rational(1, 2), delta_, high) and b.is_positive is True),
            *calibrated(constant, given["epsilon"].high, None if high is None else high / 2),
            argued("on the event it is (epsilon, delta/2)-DP as the module docstring says, so in all (epsilon, "
                   "delta)-DP"),
            tried=tried,
        )

    return judge


def judge_moved(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether says(B, gamma, n_i) eta_i bounds how far the mean of a phase moves, eta_i beta |x|^2 <= 2, |x| <= 1."""
    tried = 0
    for point in given.points("B", "gamma", "records", at_most=80, most={"records": 60}):
        b, gamma, records = point["B"], point["gamma"], point["records"]
        # Constant links move the runs apart by 4B at the first record; errors may add 2 gamma a step.
        apart = [Fraction(0)] + [4 * b + 2 * gamma * t for t in range(1, records)]
        moved, tried = sum(apart) / records, tried + 1
        if moved > says(b, gamma, records):
            return refuted("a phase moves further", {"B": b, "gamma": gamma, "n_i": records, "moves by": moved,
                                                     "claimed": says(b, gamma, records)})
    b_, gamma_, n_, j = given.symbol("B"), given.symbol("gamma"), given.symbol("records"), sympy.symbols("j")
    along, across, s = sympy.symbols("a c s", nonnegative=True)
    step = 2 / (1 + s)  # eta_i slope |x|^2, in (0, 2]
    mean = sympy.simplify(sympy.summation(4 * b_ + 2 * gamma_ * j, (j, 1, n_)) / n_)
    return proof(
        computed("a step on a common record multiplies the part of the difference along x by 1 - step, step <= 2",
                 never_negative(along**2 + across**2 - ((1 - step) * along) ** 2 - across**2)),
        computed("the mean of 4B + 2 gamma t over t = 1, ..., n_i is 4B + gamma (n_i + 1), and is claimed",
                 never_negative(sympy.expand(says(b_, gamma_, n_) - mean)) and b_.is_positive is True),
        argued("the replaced record's step moves the runs apart by at most 4B eta_i, errors by 2 gamma eta_i a step"),
        tried=tried,
    )


def echoed_apart(records: int, lean: Fraction) -> tuple[Fraction, int]:
    """The squared distance of the two means over (B eta_1)^2, on the axes of the answers, and how many answers count.

    In units B = 1, eta_1 = 10^6, link clip, beta = 1: after the first record the first coordinate is -+eta_1/2, each
    answer moves it back by lean eta_1, and scores beyond 3 have the envelope's derivative +-1 exactly.
    """
    eta, first, total, answers = Fraction(10**6), Fraction(10**6) / 2, Fraction(0), 0
    for t in range(2, records + 1):
        if lean * first < 3:
            break
        total += 4 * Fraction(records - t, records) ** 2
        first -= lean * eta
        answers += 1
    return total, answers


def judge_step(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether Algorithm 5 with the printed noise is private for steps eta <= says(beta), n = 512, delta = 1e-5."""
    epsilon, delta, records, lean = Fraction(1), Fraction(1, 10**5), 256, Fraction(1, 1000)
    tried = 0
    for beta in given.values("beta"):
        tried += 1
        if not 0 < says(beta) <= 8 / beta and says(beta) < 4 * 10**6 / beta:
            return undecided("no step, or one for which no run was made", tried)
        if says(beta) < 4 * 10**6 / beta:
            continue
        squared, answers = echoed_apart(records, lean)
        with ctx.workprec(120):
            noise = 10 * (1 / ball(delta)).log().sqrt() / ball(epsilon)
            shrunk = 1 - ball(lean) ** 2  # the answers' axes carry that part of a record of length 1
            true = delta_ball(ball(epsilon), (ball(squared) * shrunk / ball(_KEPT)).sqrt() / noise)
            if true > ball(delta):
                return refuted("beyond eta beta = 8 one record decides the answers of all others, certified", {
                    "epsilon": epsilon, "claimed delta": delta, "beta": 1, "eta": 4 * 10**6, "n": 2 * records,
                    "link": "clip to [-1, 1]", "records": "(1, 0) or (-1, 0), label -1, then (-1/1000, b e_t), b^2 = 1 "
                    "- 10^-6, label 0", "answers": answers, "squared distance over (B eta_1)^2": squared,
                    "true delta, at least": Enclosure.of_ball(true)})
    beta_ = given.symbol("beta")
    return proof(
        computed("eta <= 8/beta, so that no step of a phase expands, eta_1 being eta/4",
                 never_negative(8 / beta_ - says(beta_)) and beta_.is_positive is True),
        argued("then the noise is enough: nonconvex-nn/thm-4-privacy-repaired"),
        tried=tried,
    )


def judge_factor(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether the noise 10 B says(R) eta_i sqrt(log(1/delta))/epsilon is private for every R of the hypotheses."""
    epsilon, delta, tried = Fraction(1), Fraction(1, 10**5), 0
    with ctx.workprec(120):
        for factor in given.values("R"):
            noise = 10 * ball(says(factor)) * (1 / ball(delta)).log().sqrt() / ball(epsilon)
            true = constant_link_delta(noise, epsilon) if noise > 0 else arb(1)
            tried += 1
            if true > ball(delta):
                return refuted("the noise is too small, certified", {
                    "R": factor, "epsilon": epsilon, "claimed delta": delta, "n": 1024,
                    "link": "constant B, labels -B", "true delta": Enclosure.of_ball(true)})
    return proof(
        computed("the factor is at least 1", never_negative(says(given.chart("R")) - 1)),
        argued("with a factor of 1 it is private, nonconvex-nn/thm-4-privacy-repaired, and more noise is more private"),
        tried=tried,
    )


_UP_TO_1 = Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True)
_DELTA_1 = Parameter("delta", low=Fraction(0), high=Fraction(1), low_open=True)
_ROOM = positive("room", "m (3 - log 4)/2 over log(2 (n+1)/delta)")
_B = positive("B")
_THEOREM_4 = (
    r"Theorem 4. *Under Assumption 1, for any $0 < \epsilon, \delta \leq 1$, Algorithm 5 is (ϵ, δ) -DP."
)
_ROOM_WORDS = {"B": "noise and sensitivity are multiples of it"}
_PRINTED: Noise = lambda b, epsilon, delta: 10 * b * root(log(1 / delta)) / epsilon  # noqa: E731
_PROJECTED: Noise = lambda b, epsilon, delta: 20 * b * root(log(2 / delta)) / epsilon  # noqa: E731
_MORE = {"1 % more": "more noise is enough, too"}

moved = Claim(
    id="nonconvex-nn/alg-5-sensitivity", source="a finding of ours: the sensitivity of a phase of 002, Algorithm 5",
    severity=Stake.PRIVACY, statement=r"\Delta_2(\bar w_i) \le \eta_i (4B + \gamma (n_i + 1)),\ \eta_i \beta \le 2",
    words="a replaced record moves the mean of a phase by at most eta_i (4B + gamma (n_i + 1)), if eta_i beta <= 2",
    hypotheses=(_B, non_negative("gamma"), positive_integer("records", "n_i")),
    says=lambda b, gamma, records: 4 * b + gamma * (records + 1), check=judge_moved,
    flips=(Flip("3B", lambda b, gamma, records: 3 * b + gamma * (records + 1), Verdict.REFUTED),
           Flip("5B + gamma (n_i + 1)", lambda b, gamma, records: 5 * b + gamma * (records + 1), Verdict.HOLDS)),
    rests_on=("nonconvex-nn/lem-5", "nonconvex-nn/lem-5-smooth"),
    true_variants={**_MORE, "4 -> 5*": "a larger bound is a bound", "1 -> 2*": "a larger bound is a bound"},
    expected="HOLDS ARGUED",
)
theorem_4 = Claim(
    id="nonconvex-nn/thm-4-privacy", source="002, Theorem 4: privacy (R = 1, gamma (n+1) <= B, eta beta <= 8)",
    quote=_THEOREM_4, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\tau_i = \frac{10 B \eta_i \sqrt{\log(1/\delta)}}{\epsilon} \Rightarrow (\epsilon, \delta)\text{-DP},"
              r"\ 0 < \epsilon, \delta \le 1",
    words="Algorithm 5 with noise 10 B eta_i sqrt(log(1/delta))/epsilon is (epsilon, delta)-DP for all epsilon and "
          "delta "
          "up to 1",
    hypotheses=(_UP_TO_1, _DELTA_1, _B), says=_PRINTED, check=judge_noise, untested=_ROOM_WORDS,
    flips=(Flip("log(2/delta) for log(1/delta)",
                lambda b, epsilon, delta: 10 * b * root(log(2 / delta)) / epsilon, Verdict.HOLDS),),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mu = \frac{4B + \gamma(n_1 + 1)}{\tau_i/\eta_i};\quad \tau_i = \frac{10 B \eta_i"
                  r" \sqrt{\log(1/\delta)}}{\epsilon} \Rightarrow (\epsilon, \delta)\text{-DP},\ \epsilon \le 1, \delta"
                  r" \le \tfrac45,\ \gamma(n+1) \le B,\ \eta\beta \le 8",
        words="Algorithm 5 has the curve of a Gaussian mechanism at mu = (4B + gamma (n_1 + 1)) eta_i/tau_i, if eta "
              "beta "
              "<= 8; with the printed noise, R = 1 and gamma (n+1) <= B that is (epsilon, delta)-DP for delta <= 4/5",
        source="002, Theorem 4, with delta <= 4/5 and a bound on the step",
        hypotheses=(_UP_TO_1, Parameter("delta", low=Fraction(0), high=Fraction(4, 5), low_open=True), _B),
        says=_PRINTED, expected="HOLDS ARGUED", untested=_ROOM_WORDS,
        check=judge_noise,
        flips=(Flip("2 for 10", lambda b, epsilon, delta: 2 * b * root(log(1 / delta)) / epsilon, Verdict.REFUTED),),
        rests_on=("nonconvex-nn/alg-5-sensitivity", "background/balle-wang"),
        true_variants={**_MORE, "10 -> 11*": "more noise is enough", "1 -> 2 *": "log(2/delta) is more noise"},
    ),
)
theorem_4_step = Claim(
    id="nonconvex-nn/thm-4-privacy-step", source="002, Theorem 4: its first sentence names no step size",
    quote=_THEOREM_4, whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\text{Algorithm 5 is } (\epsilon, \delta)\text{-DP for every } \eta",
    words="Algorithm 5 is private whatever the step size is (up to 10^9/beta)",
    hypotheses=(positive("beta"),), says=lambda beta: 10**9 / beta, check=judge_step, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\eta \le 8/\beta", words="Algorithm 5 is private for steps eta <= 8/beta",
        says=lambda beta: 8 / beta, expected="HOLDS ARGUED", rests_on=("nonconvex-nn/thm-4-privacy-repaired",),
        flips=(Flip("2/beta, as the utility asks", lambda beta: 2 / beta, Verdict.HOLDS),),
        true_variants={"1 % less": "a shorter step is shorter"},
    ),
)
factor_r = Claim(
    id="nonconvex-nn/alg-5-R", source="002, Algorithm 5, line 7: R, which is defined nowhere, read as any R > 0",
    quote=r"\zeta_i \sim \mathcal{N}(0, \tau_i^2 \mathbb{I}_d)$ with $\tau_i = \frac{10BR\eta_i \sqrt{\log "
          r"\frac{1}{\delta}}}{\epsilon}$.", whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\tau_i = \frac{10 B R \eta_i \sqrt{\log(1/\delta)}}{\epsilon},\ R > 0",
    words="the noise 10 B R eta_i sqrt(log(1/delta))/epsilon is private whatever R is", hypotheses=(positive("R"),),
    says=lambda factor: factor, check=judge_factor, expected="REFUTED PROVED",
    flips=(Flip("R + 1", lambda factor: factor + 1, Verdict.HOLDS),),
    repair=Repair(
        statement=r"R \ge 1 = \max \lVert x \rVert", words="the noise is private for R >= 1, the bound on |x|",
        hypotheses=(Parameter("R", low=Fraction(1)),), says=lambda factor: factor, check=judge_factor,
        expected="HOLDS ARGUED", rests_on=("nonconvex-nn/thm-4-privacy-repaired",),
        flips=(Flip("R/10", lambda factor: factor / 10, Verdict.REFUTED),),
        true_variants={**_MORE, "squared": "R^2 >= R for R >= 1"},
    ),
)
theorem_5 = Claim(
    id="nonconvex-nn/thm-5-privacy", source="002, Theorem 5: privacy, m = O(...) an upper bound, as O is",
    quote=r"let $m = O(\log(\frac{n}{\delta})(n\epsilon)^{\frac{2}{3}})$, Algorithm 6 is (ϵ, δ) -DP for any $0 < "
          r"\epsilon, \delta \leq 1$.", whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\tau_i = \frac{20 B \eta_i \sqrt{\log(2/\delta)}}{\epsilon} \Rightarrow (\epsilon, \delta)\text{-DP},"
              r"\ m = O(\log(n/\delta)(n\epsilon)^{2/3})",
    words="Algorithm 6 with its noise is (epsilon, delta)-DP for every m up to the stated order, m = 1 among them",
    hypotheses=(_UP_TO_1, _DELTA_1, _B, _ROOM), says=_PROJECTED, check=projected(10, Fraction(5, 4), one_row_delta),
    untested=_ROOM_WORDS, uses=("nonconvex-nn/thm-4-privacy",), expected="REFUTED PROVED",
    flips=(Flip("a hundred times the noise", lambda b, epsilon, delta: 2000 * b * root(log(2 / delta)) / epsilon,
                Verdict.UNDECIDED),),
    repair=Repair(
        statement=r"\mu = \frac{8B + \gamma(n_1 + 1)}{\tau_i/\eta_i} \text{ at } \delta/2;\quad m \ge \frac{2}{3 - \log"
                  r" 4} \log\frac{2(n+1)}{\delta},\ \gamma(n+1) \le 2B,\ \eta\beta \le 2",
        words="on the event that no record is stretched beyond 2 Algorithm 6 has the Gaussian curve at mu = (8B + "
              "gamma "
              "(n_1 + 1)) eta_i/tau_i, if eta beta <= 2; with the printed noise, gamma (n+1) <= 2B and m >= 2.48 "
              "log(2(n+1)/delta) rows of Gaussians it is (epsilon, delta)-DP for epsilon, delta <= 1",
        source="002, Theorem 5, with a lower bound on m and a bound on the step",
        hypotheses=(_UP_TO_1, _DELTA_1, _B, _ROOM.at_least(1)), says=_PROJECTED, expected="HOLDS ARGUED",
        check=projected(10, Fraction(5, 4), one_row_delta), untested=_ROOM_WORDS,
        flips=(Flip("5 for 20", lambda b, epsilon, delta: 5 * b * root(log(2 / delta)) / epsilon, Verdict.UNDECIDED),),
        rests_on=("nonconvex-nn/alg-5-sensitivity", "background/balle-wang"),
        true_variants={**_MORE, "1 % less": "19.8 is enough", "20 -> 21*": "more noise", "2 -> 3 *": "more noise"},
    ),
)
