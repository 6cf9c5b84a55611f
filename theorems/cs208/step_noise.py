r"""One step of DP-GD and DP-SGD in document 004: how far a record moves it, and what its noise must depend on.

Clipped gradients have norm at most C. In a sum over n records, divided by n, a replaced record moves g to h, |g - h| <=
2C, and opposite ones reach it; a record that is added or removed, n staying a constant, moves it by at most C/n. The
slides define neighbours in X^n, where a record is replaced, and take C/n.

DP-SGD. Divided by C/B, the noisy mean of a Poisson batch is the sum of vectors of norm at most 1 of those drawn, each
with probability B/n, plus noise of multiplier sigma B/C: the sampled Gaussian mechanism, if the divisor is the constant
B. A batch of exactly B records has the record or another one in its place: it moves by up to 2C/B.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, non_negative_integer, positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.cs208.judging import Formula
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import vanishes
from theorems.tools.two_vectors import never_negative, two_vectors
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

MOVES = {"replace": ("C", "-C"), "add_remove": ("C", "0"), "poisson": ("C", "0"), "fixed size": ("C", "-C")}
"""The clipped gradients before and after, on a line, that are the farthest apart, by what may happen to a record."""


def judge_moves(says: Mapping[str, Formula], given: Domain) -> Finding:
    """Whether says[kind](C, n) is how far the sum of clipped gradients over the divisor n can move, for each kind."""
    tried = 0
    for point in led(given, 80, clip=1, divisor=10):
        clip, n = point["clip"], point["divisor"]
        ends = {"C": clip, "-C": -clip, "0": Fraction(0)}
        for kind, formula in says.items():
            before, after = (ends[word] for word in MOVES[kind])
            moved = (7 * clip + before) / n - (7 * clip + after) / n  # 7 C stands for the other records
            tried += 1
            if formula(clip, n) != moved:
                return refuted("the mean of clipped gradients moves otherwise", {
                    "what": kind, "C": clip, "divisor": n, "gradient before": before, "after": after,
                    "claimed": formula(clip, n), "moved": moved})
    clip_, n_ = given.symbol("clip"), given.symbol("divisor")
    g, inner, h = two_vectors(clip_)
    two = [says[kind](clip_, n_) for kind in says if MOVES[kind][1] == "-C"]
    one = [says[kind](clip_, n_) for kind in says if MOVES[kind][1] == "0"]
    return proof(
        computed("opposite gradients of length C are 2C apart, one of length C and none C; over the divisor that is "
                 "what is claimed", clip_.is_positive is True and vanishes(
                     *(value - 2 * clip_ / n_ for value in two), *(value - clip_ / n_ for value in one))),
        computed("|g - h| <= 2C and |g| <= C for all g, h of norm at most C, by their squares",
                 never_negative(4 * clip_**2 - (g - 2 * inner + h)) and never_negative(clip_**2 - g)),
        argued("the zero vector is a limit of such g, h; the other records and the divisor stay"),
        tried=tried,
    )


def judge_step(times: Fraction, given: Domain) -> Finding:
    """Whether noise calibrated for the sensitivity times C/n makes a step (epsilon, delta)-DP, a record replaced."""
    tried = 0
    for point in led(given, 80, epsilon="1/2", delta="1/100000"):
        epsilon, delta = point["epsilon"], point["delta"]
        with ctx.workprec(80):
            s = (2 * ball(Fraction(5, 4) / delta).log()).sqrt()
            true = delta_ball(ball(epsilon), 2 * ball(epsilon) / (ball(times) * s)) if times > 0 else ball(1)
            tried += 1
            if true > ball(delta):
                return refuted("a replaced record moves the mean by 2C/n: delta is larger, certified", {
                    "epsilon_0": epsilon, "delta_0": float(delta), "noise for": f"{times} C/n",
                    "true delta": Enclosure.of_ball(true)})
    k = sympy.Rational(times.numerator, times.denominator)
    return proof(
        computed("the noise is that of a sensitivity of at least 2C/n", k >= 2 and given["epsilon"].high == 1),
        argued("the Gaussian mechanism's delta falls with the noise; at 2C/n it is cs208/gaussian-mechanism-repaired"),
        tried=tried,
    )


def judge_arguments(says: tuple[str, ...], given: Domain) -> Finding:
    """Whether the least noise of DP-GD is a function of these: the slides' own formula, and twice n halves sigma."""
    c, n, t, e, d = sympy.symbols("C n T epsilon delta", positive=True)
    printed = (c / (e * n)) ** 2 * t * sympy.log(t / d) * sympy.log(1 / d)
    missing = sorted(str(one) for one in printed.free_symbols if str(one) not in says)
    if missing:
        return refuted("the formula of the slides depends on more", {
            "missing": ", ".join(missing), "n": "1 and 10", "sigma^2 ratio": sympy.simplify(
                printed.subs(n, 1) / printed.subs(n, 10))})
    return instance("the formula of the slides has no other argument", {"arguments": ", ".join(says)})


_SETTING = {"T": 1, "epsilon": 1, "C": 2, "B": 2, "sigma": 1, "n": 2}
_OTHERWISE = {"T": 2, "epsilon": 2, "C": 1, "B": 1, "sigma": 2, "n": 10}
"""A setting of DP-SGD in which every record is drawn, and another value of each of its numbers."""
_SAMPLED = {"T": "T", "epsilon": "epsilon", "delta": "sigma", "C": "C", "B": "B", "n": "n"}
"""The arguments of its noise, each with the number that is changed to show that it counts: sigma decides delta."""


def _delta(setting: Mapping[str, int]) -> arb:
    """delta(epsilon) of one Poisson step, or of T steps that draw every record, when a record is removed.

    With p = B/n, delta(epsilon) = p delta_G(log(1 + (e^epsilon - 1)/p)) at mu = C/(B sigma); at p = 1 T steps are one
    at mu sqrt(T).
    """
    with ctx.workprec(80):
        p = ball(Fraction(setting["B"], setting["n"]))
        mu = ball(Fraction(setting["C"], setting["B"] * setting["sigma"])) * ball(setting["T"]).sqrt()
        return p * delta_ball((1 + (ball(setting["epsilon"]).exp() - 1) / p).log(), mu)


def judge_sampled_arguments(says: tuple[str, ...], given: Domain) -> Finding:
    """Whether the least noise of DP-SGD with Poisson batches is a function of these, and of no fewer.

    Two settings that differ in one argument have another delta at one sigma: the least sigma for the smaller of the two
    is at most that one in the one setting, and above it in the other, since delta falls with sigma. So do two values of
    delta ask for two sigmas.
    """
    differ = []
    for argument, name in _SAMPLED.items():
        values = sorted((_SETTING[name], _OTHERWISE[name]))
        one, two = (_delta({**_SETTING, name: value}) for value in values)
        differ.append(not one.overlaps(two))
        if argument not in says and differ[-1]:
            return refuted(f"{argument} is not among the arguments, and at another {name} delta is another", {
                **_SETTING, name: " and ".join(map(str, values)),
                **{f"delta at {name} = {value}": Enclosure.of_ball(delta)
                   for value, delta in zip(values, (one, two), strict=True)}})
    if set(says) != set(_SAMPLED):
        return undecided("another list of arguments, of which nothing is computed", 1)
    return proof(
        computed("two values of each argument, the others the same, have another delta at one sigma, or for delta "
                 "itself at two sigmas, certified: none can be left out", all(differ)),
        argued("the steps are T sampled Gaussians of the rate B/n and the multiplier sigma B/C: their delta at epsilon "
               "is a function of T, epsilon, B/n and sigma B/C that falls with sigma, and the least sigma with at most "
               "delta one of T, epsilon, delta, C, B and n"),
    )


def judge_divisor(says: Formula, given: Domain) -> Finding:
    """Whether a record added to a batch of m others moves sum/says(B, batch size) by at most C/B, an empty mean 0."""
    tried = 0

    def mean(total: Fraction, size: int, batch: int) -> Fraction:
        by = says(batch, size)
        return Fraction(total) / by if by else Fraction(0)

    for point in led(given, 80, clip=1, batch_size=10, others=1):
        clip, batch, m = point["clip"], point["batch_size"], point["others"]
        moved = mean(-m * clip + clip, m + 1, batch) - mean(-m * clip, m, batch)
        tried += 1
        if abs(moved) > clip / batch:
            return refuted("a record that joins the batch moves the mean by more", {
                "C": clip, "B": batch, "others in the batch": m, "their gradients": -clip, "its gradient": clip,
                "claimed": clip / batch, "moved": moved})
    batch_, m_ = given.symbol("batch_size"), given.symbol("others")
    total, g = sympy.symbols("s g", real=True)
    return proof(
        computed("whatever the others' sum, a gradient g moves the quotient by g/B",
                 given.symbol("clip").is_positive is True
                 and vanishes((total + g) / says(batch_, m_ + 1) - total / says(batch_, m_) - g / batch_)),
        tried=tried,
    )


def judge_scaled(says: tuple[Formula, Formula], given: Domain) -> Finding:
    """Whether (noise multiplier, rate) = says of (sigma, C, B, n) makes a step of DP-SGD the sampled Gaussian."""
    names = ("noise", "clip", "batch_size", "left_out")
    tried = 0
    for point in given.points(*names, at_most=60):
        sigma, clip, batch, n = *(point[name] for name in names[:3]), point["batch_size"] + point["left_out"]
        scale = Fraction(batch) / clip  # takes a gradient of length C over B to length 1
        tried += 1
        true = (sigma * scale, Fraction(batch, n))
        claimed = tuple(formula(sigma, clip, Fraction(batch), n) for formula in says)
        if claimed != true:
            return refuted("scaled so that gradients have norm at most 1, the step is another",
                           {**point, "claimed": f"{claimed[0]}, {claimed[1]}", "true": f"{true[0]}, {true[1]}"})
    sigma_, clip_, batch_ = (given.symbol(name) for name in names[:3])
    n_, g = batch_ + given.symbol("left_out"), sympy.symbols("g", positive=True)
    multiplier, rate = (formula(sigma_, clip_, batch_, n_) for formula in says)
    return proof(
        computed("times B/C, g/B is g/C, of length at most 1 for |g| <= C, and the noise is the multiplier",
                 sigma_.is_positive is True and clip_.is_positive is True
                 and vanishes((g / batch_) * (batch_ / clip_) - g / clip_, sigma_ * batch_ / clip_ - multiplier)),
        computed("the rate is the probability B/n", vanishes(rate * n_ - batch_)),
        argued("each record is drawn on its own, and the divisor does not depend on who was: what is released is a "
               "scaled sampled Gaussian, and the scale is public"),
        tried=tried,
    )


_MEAN = (positive("clip", "C"), positive_integer("divisor", "n"))
_STEP = r"$$\sigma^2 = 2 \left(\frac{C}{\epsilon_0 n} \right)^2 \cdot \ln \frac{1.25}{\delta_0}$$"
_SGD = r"Select a random batch $S_t \subseteq \{1, \dots, n\}$ of size B ."
_ESTIMATE = (
    r"$$\hat{g}_t = \frac{1}{B} \sum_{i \in S_t} [\nabla \ell(\hat{\theta}_{t-1} | x_i, y_i)]_C + "
    r"\mathcal{N}(0, \sigma^2 I)$$"
)

moves = Claim(
    id="cs208/dp-gd-sensitivity", source="004, Privacy Analysis of DP-GD: sensitivity C/n, data in X^n", quote=_STEP,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=(
        r"\lVert \frac1n \sum_i [g_i]_C - \frac1n \sum_i [g'_i]_C \rVert \le \frac Cn, \quad x \sim x' \in X^n"
    ),
    words="the mean of clipped gradients moves by C/n when a record is replaced", hypotheses=_MEAN,
    says={"replace": lambda clip, n: clip / n}, check=judge_moves, uses=("cs208/clip",), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{2C}n \text{ (a record replaced)},\quad \frac Cn \text{ (one added or removed, } n"
                  r" \text{ constant)}",
        words="the mean of clipped gradients moves by 2C/n when a record is replaced, and by C/n, n a constant, when "
              "one is added or removed; both are reached",
        says={"replace": lambda clip, n: 2 * clip / n, "add_remove": lambda clip, n: clip / n},
        expected="HOLDS ARGUED", source="004, Privacy Analysis of DP-GD, by what may happen to a record",
        rests_on=("cs208/clip-repaired",),
        flips=(Flip("2C/n for both", dict.fromkeys(("replace", "add_remove"), lambda clip, n: 2 * clip / n),
                    Verdict.REFUTED),),
    ),
)
step = Claim(
    id="cs208/dp-gd-step", source="004, Privacy Analysis of DP-GD: one iteration, data in X^n", quote=_STEP,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=(
        r"\sigma^2 = 2\Big(\frac{C}{\epsilon_0 n}\Big)^2 \ln\frac{1.25}{\delta_0}"
        r" \implies (\epsilon_0, \delta_0)\text{-DP}"
    ),
    words="an iteration with the Gaussian mechanism's noise for C/n is (epsilon_0, delta_0)-DP, for epsilon_0 up to 1",
    hypotheses=(Parameter("epsilon", low=Fraction(0), high=Fraction(1), low_open=True), probability("delta")),
    says=Fraction(1), check=judge_step, uses=("cs208/dp-gd-sensitivity", "cs208/gaussian-mechanism"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma^2 = 2\Big(\frac{2C}{\epsilon_0 n}\Big)^2 \ln\frac{1.25}{\delta_0} \implies"
                  r" (\epsilon_0, \delta_0)\text{-DP},\ \epsilon_0 \le 1",
        words="an iteration with the noise for 2C/n is (epsilon_0, delta_0)-DP for epsilon_0 up to 1, a record "
              "replaced",
        says=Fraction(2), expected="HOLDS ARGUED",
        source="004, Privacy Analysis of DP-GD, with 2C/n and epsilon_0 <= 1",
        rests_on=("cs208/dp-gd-sensitivity-repaired", "cs208/gaussian-mechanism-repaired"),
        true_variants={"1 % more": "more noise is enough, too", "one more": "more noise is enough, too"},
    ),
)
arguments = Claim(
    id="cs208/tbd-sigma-n", source="004, DP Gradient Descent: what the noise depends on",
    quote=r"Noise variance $\sigma^2 = \text{TBD}(T, \epsilon, \delta, C)$.", whose=Whose.TYPO,
    severity=Stake.EDITORIAL, statement=r"\sigma^2 = \mathrm{TBD}(T, \epsilon, \delta, C)",
    words="the noise variance is a function of T, epsilon, delta and C, without n", hypotheses=(),
    says=("T", "epsilon", "delta", "C"), check=judge_arguments, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma^2 = \mathrm{TBD}(T, \epsilon, \delta, C, n)",
        words="the noise variance is a function of T, epsilon, delta, C and n",
        says=("T", "epsilon", "delta", "C", "n"), expected="HOLDS PROVED", source="004, DP Gradient Descent, with n",
    ),
)
sampled_arguments = Claim(
    id="cs208/tbd-sigma-n-sgd", source="004, DP-SGD: what the noise depends on, with amplification by sampling",
    quote=r"Noise variance $\sigma^2 = \text{TBD}(T, \epsilon, \delta, C, B)$.", whose=Whose.TYPO,
    severity=Stake.EDITORIAL, statement=r"\sigma^2 = \mathrm{TBD}(T, \epsilon, \delta, C, B)",
    words="the noise variance is a function of T, epsilon, delta, C and B, without n", hypotheses=(),
    says=("T", "epsilon", "delta", "C", "B"), check=judge_sampled_arguments, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sigma^2 = \mathrm{TBD}(T, \epsilon, \delta, C, B, n)",
        words="the least noise variance is a function of T, epsilon, delta, C, B and n, and depends on each of them",
        says=("T", "epsilon", "delta", "C", "B", "n"), expected="HOLDS ARGUED", source="004, DP-SGD, with n",
        rests_on=("cs208/dp-sgd-repaired",),
        flips=(Flip("without T", ("epsilon", "delta", "C", "B", "n"), Verdict.REFUTED),
               Flip("without delta", ("T", "epsilon", "C", "B", "n"), Verdict.REFUTED)),
    ),
)
divisor = Claim(
    id="cs208/poisson-normalisation", quote=_ESTIMATE, whose=Whose.READING, severity=Stake.PRIVACY,
    source="004, DP-SGD with Poisson batches, 1/B read as one over the size of the batch that was drawn",
    statement=r"\lVert \frac{\sum_{S \cup i} [g]_C}{|S| + 1} - \frac{\sum_S [g]_C}{|S|} \rVert \le \frac CB",
    words="a record that joins a Poisson batch moves the mean over those drawn by C/B",
    hypotheses=(positive("clip", "C"), positive_integer("batch_size", "B"),
                non_negative_integer("others", "in the batch")),
    says=lambda batch, size: size, check=judge_divisor, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\lVert \frac{\sum_{S \cup i} [g]_C}{B} - \frac{\sum_S [g]_C}{B} \rVert \le \frac CB",
        words="a record that joins a Poisson batch moves the sum over the constant B by at most C/B",
        says=lambda batch, size: batch, expected="HOLDS PROVED", source="004, DP-SGD, with the constant divisor B",
        true_variants={"any *": "g/B, whatever B is and whoever else was drawn"},
    ),
)
sgd = Claim(
    id="cs208/dp-sgd", source="004, DP-SGD: a batch of size B, its law and its noise left open", quote=_SGD,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\hat g_t = \frac1B \sum_{i \in S_t} [\nabla\ell]_C + \mathcal{N}(0, \sigma^2 I)",
    words="a step of DP-SGD has sensitivity C/B: of a batch of exactly B records, or of a Poisson batch over B",
    hypotheses=_MEAN, says=None, check=None, readings=("cs208/dp-sgd-reading-fixed-size", "cs208/dp-sgd-repaired"),
    expected="AMBIGUOUS ARGUED",
    repair=Repair(
        statement=r"\hat g_t \cdot \frac BC \text{ is the sampled Gaussian of multiplier } \frac{\sigma B}C"
                  r" \text{ and rate } \frac Bn",
        words="a step of DP-SGD with Poisson batches of rate B/n, clipping and the constant divisor B is, scaled, the "
              "sampled Gaussian mechanism with the multiplier sigma B/C",
        hypotheses=(positive("noise", "sigma"), positive("clip", "C"), positive_integer("batch_size", "B"),
                    non_negative_integer("left_out", "n - B")),
        says=(lambda sigma, clip, batch, n: sigma * batch / clip, lambda sigma, clip, batch, n: batch / n),
        check=judge_scaled, expected="HOLDS ARGUED",
        source="004, DP-SGD, with Poisson batches and the constant divisor B",
        rests_on=("cs208/clip-repaired", "cs208/poisson-normalisation-repaired"),
        flips=(Flip("without B", (lambda sigma, clip, batch, n: sigma / clip, lambda sigma, clip, batch, n: batch / n),
                    Verdict.REFUTED),),
    ),
)
sgd_fixed = Claim(
    id="cs208/dp-sgd-reading-fixed-size", source="004, DP-SGD, read of batches of exactly B records", quote=_SGD,
    whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\lVert \frac1B \sum_{S} [g]_C - \frac1B \sum_{S'} [g']_C \rVert \le \frac CB",
    words="the mean over a batch of exactly B records moves by C/B when one of them becomes another", hypotheses=_MEAN,
    says={"fixed size": lambda clip, n: clip / n}, check=judge_moves, repaired_by="cs208/dp-sgd-repaired",
    flips=(Flip("2C/B", {"fixed size": lambda clip, n: 2 * clip / n}, Verdict.HOLDS),), expected="REFUTED PROVED",
)
