r"""The privacy of Algorithm 10 (Theorem 13): what its words can mean, and the two changes that make it true.

"There exist c_1, c_2": a refutation needs all of them. The start W(0) is taken as known, as composition does; kept
secret, it only adds a factor below 1 to the distances, if eta is large.

A replaced record, epsilon <= 1, delta <= 1/n^2, divisor |B_t| epsilon: the reading that asks least. n > c_2, M = 1, q =
1/n, T = 1, epsilon = min(1, c_1 q^2)/2; the other records are x = 0, whose gradients vanish (h_l = 0), ours has the
clipped gradient +-C u. The noise of a batch of fewer than n is at least n/(n - 1) times that of a batch of n, whatever
C, so that the weights across u tell whether |B| = n: with r = n/(n - 1), a chi square of D degrees is cut at r times
its mean, and one of variance r^2 at 1/r of it, wrong with probability at most (r e^(1-r))^(D/2) and
(e^(1-1/r)/r)^(D/2), D = m d - 1 as large as one likes. (An empty batch, which the text leaves undefined, is taken to be
told.) Given |B| = n our record is in the batch for certain: no amplification is left. Along u the laws are two
Gaussians mu = 2 C/(n sigma) = 2 epsilon/(c_2 q sqrt(Lambda)) apart, Lambda = log(1/delta). The event "|B| = n, and the
loss is above 2 epsilon" has a delta of at least q^n (1 - e^-epsilon) Q(2 epsilon/mu) up to the errors, 2 epsilon/mu =
c_2 q sqrt(Lambda) < sqrt(Lambda), and Q(sqrt(Lambda)) decays like e^(-Lambda/2): more than delta = e^(-Lambda) for
small delta, for every c_1 and c_2. (With a constant divisor |B| is not told, and amplification makes up for q: see
thm-13-privacy-order.)

A record added or removed: q = 1, T = 1, n = 2 against 1, records x = 0, delta = 1/4. W(1) = W(0) - eta G_0, if R is so
large that the projection does nothing; a weight has the variance 2/m + (eta sigma)^2, W(0) being secret here, and sigma
is s/2 or s for batches of 2 or 1, whatever s = c_2 C sqrt(log(1/delta))/epsilon. With the eta for which (eta s)^2 = 8/m
the variances are 4/m and 10/m: the sum of squares of m d weights tells them apart.

The exponent as printed, |B_t|^epsilon, is 1 for a batch of one. Records with opposite clipped gradients: N(+-C,
sigma^2) with sigma = c_2 C sqrt(log(1/delta)), mu = 2/(c_2 sqrt(k)), k = log(1/delta). With k = 4/c_2^2 + 3 + c_2 mu <=
1, so that the total variation 2 Phi(mu/2) - 1 >= mu phi(1/2) > 0.35 mu, more than 2 e^-k since e^k > 3 k^(3/2) >= 3 c_2
sqrt(k); with epsilon <= delta/2 the pair is not (epsilon, delta)-DP, because e^epsilon - 1 <= delta.

Every delta < 1, with |B_t| epsilon: mu = 2 epsilon/(c_2 sqrt(log(1/delta))) and t = 1 - delta. For t <= 1/2,
log(1/delta) <= 2 t; once mu^2 >= 4 epsilon, 1 - delta(epsilon) <= (1 + e^epsilon) e^(-mu^2/32) <= 4 e^(-epsilon^2/(16
c_2^2 t)), for epsilon <= 1, which is below t for small t: more than delta.

Repaired: a constant divisor M and any noise. Multiplied by M/C, a step releases a sum of vectors of norm at most 1 with
noise N(0, z^2 I), z = sigma M/C: the sampled Gaussian step; W(0), the projection and the average come after, or do not
depend on the data. So all iterates together have the curve of T composed pairs, under either relation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.theorem_13.formulas import same
from theorems.tools.refutations import refuted_by
from theorems.verdict import Finding, Verdict, argued, at_points, computed, proof, refuted, undecided

Formula = Callable[..., Any]


def _constants(given: Domain) -> list[tuple[Fraction, Fraction]]:
    """c_1 and c_2, simple ones first."""
    one = [(Fraction(1), Fraction(1))] if given.contains(c_1=1, c_2=1) else []
    return one + [(point["c_1"], point["c_2"]) for point in given.points("c_1", "c_2", at_most=16)]


def judge_scale(noise: Formula, given: Domain) -> Finding:
    """Whether the law of the weights hides the batch's size: noise(|B|) is the scale, in units that c_2 is part of."""
    one, two = Fraction(noise(1)), Fraction(noise(2))
    if one == two:
        return undecided("the scale of the noise does not tell batches of one and two apart", 1)
    most = max(one, two)
    least, largest = sorted(1 + 4 * (scale / most) ** 2 for scale in (one, two))  # variances, in units of 2/m
    delta, middle = Fraction(1, 4), (least + largest) / 2
    c_1, _ = _constants(given)[0]
    epsilon = min(c_1, Fraction(1)) / 2
    for size in (4**k for k in range(3, 9)):
        with ctx.workprec(200):
            half = arb(size) / 2
            power = 1 - (half * ball(middle / largest)).gamma_lower(half, regularized=1)
            alarm = 1 - (half * ball(middle / least)).gamma_lower(half, regularized=1)
            excess = power - ball(epsilon).exp() * alarm - ball(delta)
        if excess > 0:
            return refuted_by(
                "the scale of the noise tells whether a record is there, whatever the constants", {
                    "n": "2 or 1", "q": 1, "T": 1, "records": "x = 0", "epsilon": epsilon, "delta": delta,
                    "variances": f"{least} and {largest}", "weights": size, "threshold": middle,
                    "power": Enclosure.of_ball(power), "alarm": Enclosure.of_ball(alarm)},
                argued("the law of W(1), for every c_1 and c_2, is that of the module's text: eta makes up for c_2"),
            )
    return undecided("no number of weights tried tells them apart", 1)


def judge_known_size(noise: Formula, given: Domain) -> Finding:
    """Whether noise(|B|) c_2 q C sqrt(log(1/delta))/epsilon hides the batch's size, or suffices where it does not."""
    c_1, c_2 = (Fraction(1), Fraction(10)) if given.contains(c_1=1, c_2=10) else _constants(given)[0]
    given.values("c_1"), given.values("c_2")
    n = math.ceil(c_2) + 1
    most, fewer = Fraction(noise(n)), Fraction(noise(n - 1))
    if most == fewer:
        return undecided("the scale of the noise does not tell the size of the batch", 1)
    q, weights = Fraction(1, n), 2**18
    epsilon = min(Fraction(1), c_1 * q**2) / 2
    for exponent in (20, 50, 100, 200):  # log(1/delta)
        with ctx.workprec(1200):
            mu = 2 * ball(epsilon) / (ball(n * most * c_2 * q) * arb(exponent).sqrt())
            above, below = (((2 * ball(epsilon) / mu + side * mu / 2) / arb(2).sqrt()).erfc() / 2 for side in (-1, 1))
            r = ball(max(most / fewer, fewer / most))  # the variances are cut at their geometric mean
            missed = ((1 - 1 / r).exp() / r) ** (weights // 2) + (r * (1 - r).exp()) ** (weights // 2)
            growth = ball(epsilon).exp()
            reached = ball(q) ** n * ((1 - missed) * above - growth * below) - growth * missed
        if reached > (-arb(exponent)).exp():
            big = sympy.Symbol("Lambda", positive=True)
            room = sympy.limit(big / 2 - sympy.log(1 + big) + sympy.log(big) / 2, big, sympy.oo)
            return refuted_by(
                "the noise tells the size of the batch, and a batch of all records is not amplified", {
                    "c_1": c_1, "c_2": c_2, "n": n, "M": 1, "T": 1, "epsilon": epsilon, "log(1/delta)": exponent,
                    "mu": Enclosure.of_ball(mu), "weights": weights, "delta at least": Enclosure.of_ball(reached)},
                computed("Q(sqrt(Lambda)) over e^(-Lambda) grows without bound", room == sympy.oo),
                argued("so for every c_1 and c_2 some delta fails: the module's text"),
            )
    return undecided("no delta tried is against it", 4)


def judge_exponent(divisor: Formula, given: Domain) -> Finding:
    """Whether noise c_2 sqrt(log(1/delta))/divisor(|B|, epsilon) suffices for one step on a batch of one, q = 1."""
    for c_1, c_2 in _constants(given):
        k = 4 / c_2**2 + 3 + c_2
        with ctx.workprec(200):
            delta = (-ball(k)).exp()
            epsilon = min(c_1, Fraction(math.exp(-min(float(k), 600))) / 4)
            mu = 2 * ball(divisor(1, epsilon)) / (ball(c_2) * ball(k).sqrt())
            apart = (mu / arb(8).sqrt()).erf()
            excess = apart - (ball(epsilon).exp() - 1) - delta
        if not excess > 0:
            return undecided("one step on a batch of one is not against it", 1)
        e, more = sympy.symbols("epsilon t", positive=True)
        return refuted_by(
            "a batch of one gets noise that does not depend on epsilon", {
                "c_1": c_1, "c_2": c_2, "n": 1, "q": 1, "T": 1, "log(1/delta)": k, "epsilon": epsilon,
                "mu": Enclosure.of_ball(mu), "total variation": Enclosure.of_ball(apart)},
            computed("the divisor of a batch of one is 1, whatever epsilon",
                     bool(sympy.simplify(divisor(1, e) - 1) == 0)),
            computed("k - 3/2 log(k) - log(3) > 0 at k = 3, and its derivative is positive from there on",
                     bool(3 - arb(3).log() * 5 / 2 > 0)
                     and bool(sympy.simplify(1 - sympy.Rational(3, 2) / (3 + more)).is_positive)),
            computed("the normal density at 1/2 is more than 0.35", bool(
                (arb(-1) / 8).exp() / (2 * arb.pi()).sqrt() > arb("0.35"))),
            argued("so for every c_1 and c_2 this log(1/delta) and an epsilon fail: the module's text"),
        )
    return undecided("no constants", 1)


def judge_every_delta(largest: Fraction, given: Domain) -> Finding:
    """Whether one Gaussian step, q = 1, n = 1, keeps every delta below the largest, for some c_2 of the domain."""
    c_1, c_2 = max(_constants(given), key=lambda pair: pair[1])  # the most noise that is tried
    epsilon = min(c_1, Fraction(1)) / 2
    for power in range(1, 60):
        gap = Fraction(1, 2**power)
        delta = largest - gap
        if delta <= 0:
            continue
        with ctx.workprec(300):
            mu = 2 * ball(epsilon) / (ball(c_2) * (-ball(delta).log()).sqrt())
            root = arb(2).sqrt()
            inside = ((mu / 2 - ball(epsilon) / mu) / root).erfc() / 2 + ball(epsilon).exp() * (
                (mu / 2 + ball(epsilon) / mu) / root).erfc() / 2
        if inside < ball(1 - delta):
            small, const = sympy.symbols("t c_2", positive=True)
            decay = sympy.limit(4 * sympy.exp(-1 / (const**2 * small)) / small, small, 0, "+")
            return refuted_by(
                "delta next to 1 gets next to no noise", {
                    "c_2": c_2, "n": 1, "q": 1, "T": 1, "epsilon": epsilon, "1 - delta": 1 - delta,
                    "1 - delta(epsilon)": Enclosure.of_ball(inside)},
                computed("4 exp(-a/t)/t tends to 0 with t for every a > 0", decay == 0),
                argued("so for every c_2 some delta fails: the last inequality of the module's text"),
            )
    return undecided("no delta tried is against it", 59)


def judge_order(factor: Fraction, given: Domain) -> Finding:
    """Whether z = factor q sqrt(T log(1/delta))/epsilon suffices for epsilon = q^2 T or less, records replaced."""
    curve, tried = bound("poisson-gaussian.delta"), 0
    for q in (Fraction(1, 1000), *given.values("q")):
        for epsilon in given.values("epsilon"):
            for delta in (Fraction(1, 4), Fraction(1, 10**9), Fraction(1, 10**100)):
                steps = math.ceil(epsilon / q**2)
                noise = factor * q * Fraction(math.sqrt(steps * math.log(1 / delta)) * (1 + 1e-12)) / epsilon
                found = curve.reference(sampling_rate=q, steps=steps, sigma=noise, epsilon=epsilon,
                neighbours="replace")
                tried += 1
                if not found.possibly_le(delta):
                    return refuted("not enough noise", {"q": q, "T": steps, "epsilon": epsilon, "delta": delta,
                                                        "z": noise, "delta of the curve": found})
    region = {"q": "1e-6 to 1", "epsilon": "1e-6 to 1", "T": "epsilon/q^2", "delta": "1/4, 1e-9, 1e-100"}
    return at_points("never above delta by the certified curve", tried, region)


def judge_multiplier(multiplier: Formula, given: Domain) -> Finding:
    """Whether multiplier(sigma, M, C) is the noise over one record's largest share C/M of the released mean."""
    found = same(("sigma", "M", "C"), lambda sigma, size, clip: sigma / (clip / size),
                 "the released mean, times M/C, has vectors of norm at most 1 and this noise, on symbols",
                 "not the noise of the sum of vectors of norm 1")(multiplier, given)
    if found.verdict is not Verdict.HOLDS:
        return found
    return proof(
        *found.steps,
        argued("given the past a step is the sampled Gaussian on these vectors, records added, removed or replaced"),
        argued("start, projection and average are post-processing, and T steps have the product of T pairs"),
    )


def judge_mean_size(rate: Formula, given: Domain) -> Finding:
    """Whether sampling every one of n records with probability rate(M, n) makes a batch of M on average."""
    return same(("M", "n"), lambda size, n: size / n, "n p = M, on symbols", "another mean size")(rate, given)


def judge_empty(divisor: Formula, given: Domain) -> Finding:
    """Whether line 6 is defined for every batch that can be drawn: it divides by divisor(|B|, M)."""
    for point in given.points("q", "n", at_most=30):
        q, n = Fraction(point["q"]), point["n"]
        if divisor(0, max(1, q * n)) == 0 and q < 1:
            return refuted("a batch may be empty, and the step divides by its size", {
                "q": q, "n": n, "probability of an empty batch": (1 - q) ** n, "divisor": 0})
    size, mean = sympy.Symbol("b", nonnegative=True), sympy.Symbol("M", positive=True)
    return proof(computed("the divisor is positive for every size of the batch, on symbols",
                          bool(sympy.sympify(divisor(size, mean)).is_positive)))


_CONSTANTS = (positive("c_1"), positive("c_2"))

privacy = Claim(
    id="nonconvex-nn/thm-13-privacy",
    source="002, Theorem 13: the privacy of Algorithm 10, read with |B_t| epsilon, a record replaced, delta <= 1/n^2",
    quote=r"for any $\epsilon < c_1 q^2 T$, Algorithm 10 is (ϵ, δ) -DP for any $0 < \delta < 1$ if we have $\sigma_t "
          r"\geq c_2 \frac{qC \sqrt{T \log(1/\delta)}}{|B_t|^\epsilon}$.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\epsilon < c_1q^2T,\ \sigma_t \ge c_2\frac{qC\sqrt{T\log(1/\delta)}}{|B_t|\epsilon} \implies"
              r" (\epsilon, \delta)\text{-DP}",
    words="for some c_1 and c_2, noise c_2 q C sqrt(T log(1/delta))/(|B_t| epsilon) on the mean of a batch is private "
          "where a record is replaced, epsilon <= 1 and delta <= 1/n^2",
    hypotheses=_CONSTANTS, says=lambda batch: Fraction(1, batch), check=judge_known_size, expected="REFUTED ARGUED",
    flips=(Flip("a constant divisor", lambda batch: Fraction(1), Verdict.UNDECIDED),),
    repair=Repair(
        statement=r"\frac1M\sum_{B_t}\tilde g + \mathcal{N}(0, \sigma^2 I),\ z = \frac{\sigma M}{C}: \text{ the curve "
                  r"of } T \text{ sampled Gaussian steps of multiplier } z",
        words="with a constant divisor M, all iterates are as private as T Poisson-sampled Gaussian steps of noise "
              "sigma M/C, for records added, removed or replaced",
        says=lambda sigma, size, clip: sigma * size / clip, check=judge_multiplier,
        hypotheses=(positive("sigma"), positive("M"), positive("C")), expected="HOLDS ARGUED",
        source="002, Algorithm 10, divided by a constant, with the noise of the exact curve",
        flips=(Flip("sigma/C", lambda sigma, size, clip: sigma / clip, Verdict.REFUTED),),
        rests_on=("relu-approx/lem-2.6-repaired", "relu-approx/thm-2.4"),
        true_variants={"any *": "an identity of powers"},
    ),
)


def _reading(name: str, **own: Any) -> Claim:
    full = {
        "statement": privacy.statement, "hypotheses": _CONSTANTS, "quote": privacy.quote, "whose": Whose.READING,
        "severity": Stake.PRIVACY, "repaired_by": "nonconvex-nn/thm-13-privacy-repaired", "expected": "REFUTED ARGUED",
        **own,
    }
    return Claim(id=f"nonconvex-nn/thm-13-privacy-reading-{name}", **full)


add_remove = _reading(
    "add-remove", source="002, Theorem 13, read with |B_t| epsilon and with records added or removed",
    words="noise that is inversely proportional to the batch's size hides whether a record is in the data",
    says=lambda batch: Fraction(1, batch), check=judge_scale,
    flips=(Flip("a constant divisor", lambda batch: Fraction(1), Verdict.UNDECIDED),
           Flip("the size squared", lambda batch: Fraction(1, batch**2), Verdict.REFUTED)),
)
exponent = _reading(
    "exponent", source="002, Theorem 13, read with |B_t| to the power epsilon, as it is printed", whose=Whose.READING,
    statement=r"\sigma_t \ge c_2\frac{qC\sqrt{T\log(1/\delta)}}{|B_t|^\epsilon} \implies (\epsilon, \delta)\text{-DP}",
    words="noise of the order of q C sqrt(T log(1/delta))/|B_t|^epsilon makes Algorithm 10 private",
    says=lambda batch, epsilon: batch**epsilon, check=judge_exponent,
    flips=(Flip("|B| epsilon", lambda batch, epsilon: batch * epsilon, Verdict.UNDECIDED),),
)
every_delta = _reading(
    "every-delta", source="002, Theorem 13, read with |B_t| epsilon and replaced records, for any delta < 1",
    words="for some c_2 that noise makes Algorithm 10 private for every delta below 1", says=Fraction(1),
    check=judge_every_delta, flips=(Flip("delta below 1/4", Fraction(1, 4), Verdict.UNDECIDED),),
)
order = Claim(
    id="nonconvex-nn/thm-13-privacy-order",
    source="ours: the order of the noise of Theorem 13, with a constant divisor",
    severity=Stake.PRIVACY,
    statement=r"z = 4\,\frac{q\sqrt{T\log(1/\delta)}}{\epsilon},\ \epsilon \le q^2T,\ \epsilon \le 1,\ \delta \le "
              r"\tfrac14 \implies (\epsilon, \delta)\text{-DP}",
    words="with a constant divisor the noise multiplier 4 q sqrt(T log(1/delta))/epsilon is "
          "enough where records are replaced",
    hypotheses=(probability("q").at_most(1), probability("epsilon").at_most(1)), says=Fraction(4), check=judge_order,
    flips=(Flip("2 in place of 4", Fraction(2), Verdict.REFUTED),), rests_on=("relu-approx/lem-2.6-repaired",),
    true_variants={"1 % more": "more noise is enough, too", "one more": "more noise is enough, too"},
    survivors={"1 % less": "the points leave room: 3 is enough there, too"},
    expected="HOLDS CHECKED_AT_POINTS",
)
rate = Claim(
    id="nonconvex-nn/alg-10-p",
    source="002, Algorithm 10, line 3: p, which is not defined, read as q = M/n of Theorem 13",
    quote=r"For each data $(x_i, y_i) \in D$ sample it probability p .", whose=Whose.READING, severity=Stake.EDITORIAL,
    statement=r"p = M/n \implies \mathbb{E}|B_t| = M", words="with p = M/n a batch has M records on average",
    hypotheses=(positive("M"), positive("n")), says=lambda size, n: size / n, check=judge_mean_size,
    flips=(Flip("1/M", lambda size, n: 1 / size, Verdict.REFUTED),), true_variants={"any *": "an identity"},
    expected="HOLDS PROVED",
)
empty = Claim(
    id="nonconvex-nn/alg-10-empty-batch", source="002, Algorithm 10, line 6: the mean over a batch that may be empty",
    quote=r"\frac{1}{|B_t|} \sum_{(x_j^{(t)}, y_j^{(t)}) \in B_t} \tilde{g}_t(x_j^{(t)})", whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"\frac{1}{|B_t|} \text{ is defined for every batch}",
    words="line 6 of Algorithm 10 is defined for every batch that can be drawn",
    hypotheses=(probability("q").at_most(1), positive_integer("n")), says=lambda size, mean: size, check=judge_empty,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{1}{M} \sum", words="divided by the constant M, line 6 is defined for every batch",
        says=lambda size, mean: mean, expected="HOLDS PROVED", source="002, Algorithm 10 with the divisor M",
        flips=(Flip("|B| + M", lambda size, mean: size + mean, Verdict.HOLDS),),
        true_variants={"1 % *": "any positive constant is", "squared": "any positive constant is",
                       "any *": "the divisor does not depend on it", "beyond *": "positive, too",
                       "only at *": "positive"},
    ),
)
