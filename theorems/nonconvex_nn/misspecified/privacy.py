r"""Algorithm 8 of document 002: the length of a gradient, the sensitivity of a batch, the noise that privacy needs.

A gradient (relu(<w,x>) - y) x with |x| <= r = sqrt(d) and |y| <= B is at most r (r |w| + B) long, attained at x along w
and y = -B. How far a batch's mean moves when one record is replaced: the first part of the gradient, p = relu(<w,x>) x,
has |p|^2 - r^2 <w,p> = relu(<w,x>)^2 (|x|^2 - r^2) <= 0, so it lies in the ball whose diameter is from 0 to r^2 w, and
two of them differ by at most r^2 |w|; the second parts differ by at most 2rB. So a mean of m moves by at most

    Delta(w) = r (r |w| + 2B)/m,        attained at x = r w^, y = -B against x' = -r w^, y' = -B.

The text prints sqrt(d)|w| + B for a gradient, 2 (|w| + B) and (sqrt(d)|w| + B)/m for a sensitivity. At w = 0, where the
algorithm starts, the truth is 2 sqrt(d) B/m: none of them has it.

Privacy of noise that follows the iterate: w_(i-1) is released and, given it, does not depend on batch i; step i is a
Gaussian mechanism with known noise s and sensitivity Delta(w_(i-1)); later steps see other batches. So if s = z
Delta(w_(i-1)) in every step, all iterates together are (1/z)-GDP. At w_0 = 0 one record alone makes N(0, s^2) and
N(Delta, s^2): what is certified against the printed noise is exact for T = 1.

The printed noise, sigma_(i-1) = 8 (sqrt(d)|w| + B)^2 log(1.25/delta)/(m epsilon)^2, is meant as a variance (twice the
gradient's norm in the classical calibration) but stands for the standard deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball, epsilon_of_mu
from theorems.given import Domain
from theorems.nonconvex_nn.misspecified.laws import UNIFORM
from theorems.tools.leading_points import led
from theorems.tools.printed import rounds_to
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as is_positive
from theorems.verdict import Finding, ProofStep, argued, computed, instance, proof, refuted

Noise = Callable[..., Any]
"""(d, |w|, B, m, epsilon, log(1.25/delta)) -> the standard deviation of a step's noise, for balls and expressions."""


def _within_a_ball() -> ProofStep:
    size, score, radius = sympy.symbols("s c r", nonnegative=True)
    first = score**2 * size**2 - radius**2 * score**2  # |p|^2 - r^2 <w,p>, p = score x, |x| = size
    return computed("the first part of a gradient lies in the ball over 0 and r^2 w",
                    vanishes(first - score**2 * (size - radius) * (size + radius)))


def judge_length(bound: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether bound(d, |w|, B) is the largest length of a gradient."""
    tried = 0
    for point in led(given, dimension=4, weight="0", label="1"):
        d, w, label = (sympy.Rational(str(point[name])) for name in ("dimension", "weight", "label"))
        tried += 1
        true = sympy.sqrt(d) * (sympy.sqrt(d) * w + label)  # x = sqrt(d) along w, y = -B
        if sympy.simplify(bound(d, w, label) - true) != 0:
            return refuted("a gradient is longer, or none is as long", {
                "d": d, "|w|": w, "B": label, "claimed": bound(d, w, label), "largest gradient": true})
    r, w_, label_ = sympy.Symbol("r", positive=True), given.symbol("weight"), given.symbol("label")
    score = sympy.Symbol("a", nonnegative=True)
    return proof(
        computed("the bound is r (r |w| + B)", vanishes(bound(r**2, w_, label_) - r * (r * w_ + label_))),
        computed("|relu(<w,x>) - y| <= relu(<w,x>) + B <= r |w| + B, attained",
                 never_negative((r * w_ + label_) - (r * w_ / (1 + score) + label_))),
        tried=tried,
    )


def judge_sensitivity(bound: Callable[..., Any], given: Domain) -> Finding:
    """Whether bound(d, |w|, B, m) is how far the mean of m gradients can move when one record is replaced."""
    tried = 0
    for point in led(given, dimension=4, weight="0", label="1", batch=10):
        d, w, label, m = (sympy.Rational(str(point[name])) for name in ("dimension", "weight", "label", "batch"))
        tried += 1
        true = sympy.sqrt(d) * (sympy.sqrt(d) * w + 2 * label) / m
        if sympy.simplify(bound(d, w, label, m) - true) != 0:
            return refuted("the mean gradient of a batch moves by another length", {
                "d": d, "|w|": w, "B": label, "m": m, "claimed": bound(d, w, label, m), "sensitivity": true,
                "records": "x = sqrt(d) along w (or any unit vector), y = -B, against -x, y = -B"})
    r, w_, label_, m_ = sympy.Symbol("r", positive=True), *(given.symbol(n) for n in ("weight", "label", "batch"))
    moved = (r * (r * w_ + label_) + r * label_) / m_  # of the two records, which point to opposite sides
    return proof(
        computed("the two records attain it", vanishes(bound(r**2, w_, label_, m_) - moved)),
        _within_a_ball(),
        argued("two points of that ball differ by at most its diameter r^2 |w|, two second parts by at most 2rB"),
        tried=tried,
    )


def judge_noise(noise: Noise, given: Domain) -> Finding:
    """Whether every step with that noise is (epsilon, delta)-DP, by the exact Gaussian curve."""
    tried = 0
    simple: dict[str, Any] = {"epsilon": "99/100", "delta": "1/100000", "dimension": 100, "weight": "0", "label": "1",
        "batch": 100}
    for point in led(given, at_most=60, **simple):
        eps, delta, d, w, label, m = (point[name] for name in simple)
        with ctx.workprec(100):
            r = ball(d).sqrt()
            log = (ball(Fraction(5, 4)) / ball(delta)).log()
            std = noise(ball(d), ball(w), ball(label), ball(m), ball(eps), log)
            mu = r * (r * ball(w) + 2 * ball(label)) / ball(m) / std
            true = Enclosure.of_ball(delta_ball(ball(eps), mu))
        tried += 1
        if not std > 0:
            return refuted("that is no noise at all", {"d": d, "|w|": w, "B": label, "m": m, "noise": std})
        if not true.possibly_le(delta):
            def at(mu: arb = mu) -> arb:
                return mu

            return refuted("one step from that w has a larger delta than promised, certified in balls", {
                "d": d, "|w|": w, "B": label, "m": m, "epsilon": eps, "delta": delta,
                "noise": Enclosure.of_ball(std), "true delta": true,
                "true epsilon": epsilon_of_mu(at, delta, Fraction(1, 10**6)) if d <= 1000 else "larger"})
    r_, log_ = sympy.symbols("r l", positive=True)
    w_, label_, m_, eps_ = (given.symbol(name) for name in ("weight", "label", "batch", "epsilon"))
    least = 2 * log_ * (r_ * (r_ * w_ + 2 * label_) / m_) ** 2 / eps_**2
    square = sympy.expand(noise(r_**2, w_, label_, m_, eps_, log_) ** 2)
    return proof(
        computed("the variance is at least 2 log(1.25/delta) sensitivity^2/epsilon^2", never_negative(square - least)),
        argued("a step is then private by the Gaussian mechanism; batches are disjoint, and the noise depends on the "
               "released iterate only"),
        tried=tried,
    )


def judge_certified(says: tuple[tuple[int, int, str], ...], given: Domain, deviation: bool) -> Finding:
    """Whether (d, m, epsilon) are what the printed noise gives at w = 0, B = 1, where (1, 1e-5)-DP is promised."""
    delta = Fraction(1, 10**5)
    told = {}
    for d, m, printed in says:
        def mu(d: int = d, m: int = m) -> arb:
            number = 8 * (ball(Fraction(5, 4)) / ball(delta)).log() / m**2  # the printed sigma
            return 2 * ball(d).sqrt() / m / (number if deviation else number.sqrt())

        found = epsilon_of_mu(mu, delta, Fraction(1, 10**6))
        if rounds_to(found, printed) is not True:
            return refuted("another epsilon is certified", {"d": d, "m": m, "claimed": printed, "epsilon": found})
        told[f"d = {d}, m = {m}"] = str(found)
    return instance("the least epsilon of one step from w = 0 at delta = 1e-5, certified in balls", told)


def judge_certified_variance(says: tuple[tuple[int, int, str], ...], given: Domain) -> Finding:
    """The printed number as a variance."""
    return judge_certified(says, given, deviation=False)


def judge_certified_deviation(says: tuple[tuple[int, int, str], ...], given: Domain) -> Finding:
    """The printed number as a standard deviation."""
    return judge_certified(says, given, deviation=True)


def judge_gdp(noise: Callable[..., Any], given: Domain) -> Finding:
    """Whether noise(r^2, |w|, B, m, z) is z times the sensitivity: then all iterates together are (1/z)-GDP."""
    tried = 0
    for point in led(given, at_most=100, square="4", weight="0", label="1", batch=10, multiplier="5"):
        d, w, label, m, z = (
            sympy.Rational(str(point[n])) for n in ("square", "weight", "label", "batch", "multiplier"))
        tried += 1
        needed = z * sympy.sqrt(d) * (sympy.sqrt(d) * w + 2 * label) / m
        if sympy.simplify(noise(d, w, label, m, z) - needed) < 0:
            return refuted("the step is a Gaussian mechanism with a larger mu than 1/z", {
                "r^2": d, "|w|": w, "B": label, "m": m, "z": z, "noise": noise(d, w, label, m, z), "needed": needed})
    r, w_, label_, m_, z_ = sympy.Symbol("r", positive=True), *(
        given.symbol(name) for name in ("weight", "label", "batch", "multiplier"))
    return proof(
        computed("the noise is at least z times the sensitivity",
                 never_negative(noise(r**2, w_, label_, m_, z_) - z_ * r * (r * w_ + 2 * label_) / m_)),
        argued("given the released iterate a step is a Gaussian mechanism of ratio z, and each record is in one step"),
        tried=tried,
    )


def judge_trend(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether |w_(t+1)| is at most, and is, says(|w_l|, q, t), q = 1 - eta/2: exact gradients, symmetric x, w_0 = 0."""
    tried = 0
    for point in led(given, eta="1/16", norm="1", step=0, most={"step": 200}):
        keep, norm, step = 1 - point["eta"] / 2, point["norm"], point["step"]
        before, after = (norm * (1 - keep ** (step + i)) for i in (0, 1))
        tried += 1
        if says(norm, keep, step) != after:
            return refuted("exact gradients, no noise", {
                "x": UNIFORM, "eta": point["eta"], "|w_l|": norm, "step": step, "|w| before": before,
                "|w| after": after, "claimed": says(norm, keep, step)})
    norm_, step_, eta_ = given.symbol("norm"), given.symbol("step"), given.chart("eta")
    keep_ = sympy.Symbol("q", positive=True)
    now = norm_ * (1 - keep_**step_)
    return proof(
        computed("a step takes |w_l| (1 - q^t) to what is claimed, on symbols", vanishes(sympy.powsimp(sympy.expand(
            now * keep_ + norm_ * (1 - keep_) - says(norm_, keep_, step_)), force=True))),
        computed("it is |w_l| q^t (1 - q) longer, and 0 < q < 1", vanishes(sympy.powsimp(sympy.expand(
            now * keep_ + norm_ * (1 - keep_) - now - norm_ * keep_**step_ * (1 - keep_)), force=True))
            and is_positive(1 - eta_ / 2, eta_ / 2)),
        argued("from w_0 = 0 the exact iterates stay on the segment from 0 to w_l: w <- q w + (1 - q) w_l"),
        tried=tried,
    )


def judge_growth(factor: Callable[..., Any], given: Domain) -> Finding:
    """Whether noise alone multiplies E|w|^2 by factor(eta, z, d, m)^2 in a step, for r = sqrt(d), at the least B, 0."""
    tried = 0
    for point in led(given, at_most=40, eta="1/16", multiplier="5", dimension=4, batch=10, label="0"):
        eta, z, d, m, label = (point[n] for n in ("eta", "multiplier", "dimension", "batch", "label"))
        w = sympy.Integer(1)
        square = sympy.Rational(str(eta**2 * d * z**2 * d / Fraction(m) ** 2)) * (sympy.sqrt(d) * w + 2 * label) ** 2
        said = factor(*(sympy.Rational(str(v)) for v in (eta, z, d, m))) ** 2
        tried += 1
        if sympy.simplify(said - square) > 0 or (label == 0 and sympy.simplify(said - square) != 0):
            return refuted("the noise of a step adds another amount", {
                "eta": eta, "z": z, "d": d, "m": m, "B": label, "claimed factor^2": said, "added per |w|^2": square})
    r = sympy.Symbol("r", positive=True)
    eta_, z_, m_, label_ = (given.symbol(name) for name in ("eta", "multiplier", "batch", "label"))
    w_ = sympy.Symbol("w", nonnegative=True)
    added = eta_**2 * r**2 * (z_ * r * (r * w_ + 2 * label_) / m_) ** 2
    return proof(
        computed("eta^2 d s^2 is at least factor^2 |w|^2",
                 never_negative(added - (factor(eta_, z_, r**2, m_) * w_) ** 2)),
        argued("the noise is independent of the rest and has mean 0: it adds its second moment to E|w|^2"),
        tried=tried,
    )


PLACE = (positive_integer("dimension"), non_negative("weight", "|w|"), positive("label", "B"))
