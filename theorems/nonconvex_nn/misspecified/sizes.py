r"""Theorem 7 of document 002: how many steps, how many records, with what probability.

Steps. Without noise, for symmetric x, |w_T - w_l| = (1 - eta/2)^T |w_l| exactly. T = O(log |w_l|) is 0 for |w_l| = 1,
whatever the hidden constant is. The proof wants (1 - tau eta/2)^T |w_l|^2 <= 2 alpha^2/9: T >= (4/(tau eta)) log(3
|w_l|/alpha) makes it at most alpha^2/9, as log(1 - x) <= -x.

Records. The noise of the last step is independent of all else, so with |x| <= r

    E|w_T - w_l|^2 >= eta^2 d E s^2,     s = z r (r |w_(T-1)| + 2B)/m >= z r^2 |w_(T-1)|/m, and >= 2 z r B/m.

For symmetric x, |E w_(T-1)| = (1 - (1 - eta/2)^(T-1)) |w_l|, so that with r^2 = 3d (the cube)

    E|w_T - w_l|^2 >= 9 eta^2 z^2 d^3 (1 - (1 - eta/2)^(T-1))^2 |w_l|^2 T^2/n^2.

At n = K d^a |w_l|/(epsilon alpha) that is a constant times alpha^2 d^(3-2a): the printed a = 1 is too small by sqrt(d),
whatever K is, and a = 3/2 is right. The term with B does not vanish with |w_l|, and the printed n does not know B.

The union of events. The proof uses the noise's event (zeta for all steps), and Lemmas 13 and 14 on each of T batches:
the failures are at most (2T + 1) zeta, and 1 - (1 - zeta)^(2T + 1) for independent ones; the text counts 3 zeta and
prints zeta.

Noise's norm. chi^2_d has P(X >= c d) <= exp(-(d/2)(c - 1 - log c)); with c = 5t, t = log(T/zeta) >= 1, the exponent is
at least t.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import factorial
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from theorems.given import Domain
from theorems.nonconvex_nn.misspecified.laws import UNIFORM
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import by_study, on_record, study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Evidence, Finding, Scope, Verdict, argued, computed, instance, proof, refuted

STEPS, ETA, FACTOR, HIDDEN = 768, Fraction(1, 16), Fraction(4845, 1000), 1000
"""T, eta, z epsilon at delta = 1e-5, and a value for the hidden constants and logarithms."""


def judge_steps(steps: Callable[..., Any], given: Domain) -> Finding:
    """Whether steps(|w_l|, alpha, tau, eta) exact steps bring w within alpha of w_l: symmetric x, tau = 1/6."""
    tried = 0
    for point in led(given, norm="1", share="1/4", eta="1/16"):
        norm, alpha, eta = point["norm"], point["share"] * point["norm"], point["eta"]
        tau = Fraction(1, 6)
        count = steps(ball(norm), ball(alpha), ball(tau), ball(eta))
        left = ball(norm) * ((1 - ball(eta) / 2).log() * count).exp()
        slow = ball(norm) ** 2 * ((1 - ball(tau * eta) / 2).log() * count).exp()
        tried += 1
        if left > ball(alpha) or slow > ball(alpha**2) / 9:
            return refuted("too few steps", {
                "x": UNIFORM, "|w_l|": norm, "alpha": alpha, "eta": eta, "T": count.str(8), "|w_T - w_l|": left.str(8),
                "L(w_T) - L(w_l) if y = relu": (left**2 / 2).str(8)})
    norm_, tau_, eta_, part = sympy.symbols("n tau eta s", positive=True)
    count_ = steps(norm_, part * norm_, tau_, eta_)
    return proof(
        computed("e^(-tau eta T/2) |w_l|^2 = alpha^2/9", vanishes(
            sympy.expand_log(sympy.log(part**2 / 9) + tau_ * eta_ * count_ / 2, force=True))),
        argued("log(1 - x) <= -x"),
        tried=tried,
    )


def judge_union(failure: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the events of the proof fail together with probability at most failure(zeta, T): union of 2T + 1."""
    tried = 0
    for point in led(given, zeta="1/1000", steps=10):
        zeta, steps = point["zeta"], point["steps"]
        events = 1 + 2 * steps
        some = 1 - (1 - zeta) ** events
        tried += 1
        if failure(zeta, steps) < some:
            return refuted("independent events of probability zeta: the noise, and two lemmas on each batch", {
                "zeta": zeta, "T": steps, "events": events, "probability": some,
                "claimed": failure(zeta, steps)})
    zeta_, steps_ = given.symbol("zeta"), given.symbol("steps")
    return proof(computed("at least (2T + 1) zeta", never_negative(failure(zeta_, steps_) - (2 * steps_ + 1) * zeta_)),
                 argued("the union of events has at most the sum of their probabilities"), tried=tried)


def _even_tail(dimension: int, at: arb) -> arb:
    """P(chi^2 > at) for an even number of degrees of freedom."""
    half = at / 2
    return (-half).exp() * sum((half**j / factorial(j) for j in range(dimension // 2)), arb(0))


def judge_norm(constant: Fraction, given: Domain) -> Finding:
    """Whether P(chi^2_d > constant d t) <= e^-t for all d and t >= 1."""
    tried = 0
    for t in given.values("t"):
        for dimension in (2, 4, 10, 100):
            tail = _even_tail(dimension, ball(constant * dimension * t))
            tried += 1
            if tail > (-ball(t)).exp() or constant <= 0:
                return refuted("the squared norm of a Gaussian vector is larger more often", {
                    "d": dimension, "t": t, "probability": tail.str(8), "e^-t": (-ball(t)).exp().str(8)})
    at_one = (ball(constant) - 1 - ball(constant).log()) / 2 - 1
    return proof(
        computed("(c - 1 - log c)/2 >= 1 at c = constant", bool(at_one > 0)),
        computed("(ct - 1 - log(ct))/2 - t rises in t >= 1: its derivative is at least c/2 - 3/2", constant >= 3),
        argued("Chernoff's bound for chi^2 at d = 1 is the weakest; t = log(T/zeta), and the union over T steps"),
        tried=tried,
    )


def judge_exponent(power: Fraction, given: Domain) -> Finding:
    """Whether n of order d^power |w_l|/(epsilon alpha) is enough for E|w_T - w_l|^2 <= alpha^2, with private noise."""
    with ctx.workprec(200):
        grown = 1 - (1 - ball(ETA) / 2) ** (STEPS - 1)
        least = 9 * ball(ETA * FACTOR * STEPS) ** 2 * grown**2 / HIDDEN**2
        for digits in (2, 3, 10, 100, 1000):
            d = ball(10) ** digits
            ratio = least * (d.log() * ball(3 - 2 * power)).exp()
            if ratio > 1:
                return refuted_by(
                    "the noise of the last step alone leaves more than alpha^2, and ever more as d grows",
                    {"d": f"10^{digits}", "exponent": power, "hidden constant": HIDDEN, "T": STEPS, "eta": ETA,
                     "z epsilon": FACTOR, "E|w_T - w_l|^2/alpha^2 above": Enclosure.of_ball(ratio)},
                    computed("a certified lower bound above 1", bool(ratio > 1)),
                    argued("symmetric features on a cube, |x|^2 <= 3d: the bound of the docstring, a constant times "
                           "d^(3 - "
                           "2 power)"),
                    study_step("misspecified-printed-dimension", "SLOWER"),
                )
    c, w, b, t = sympy.symbols("C w B t", nonnegative=True)
    r = 1 + t  # sqrt(d) >= 1
    return proof(
        computed("d C^2 d (C sqrt(d) |w| + 2B)^2 is at most d^3 times what it is at d = 1",
                 never_negative(c**2 * (r**6 * (c * w + 2 * b) ** 2 - r**4 * (c * r * w + 2 * b) ** 2))),
        computed("the exponent is at least half of 3", power >= Fraction(3, 2)),
        argued("a contraction of the mean error, and noise of that size in T steps: the recursion of the utility"),
        study_step("misspecified-dimension"), study_step("misspecified-private"), study_step("misspecified-epsilon"),
        tried=len(given.values("dimension")),
    )


def judge_labels(size: Callable[..., Any], given: Domain) -> Finding:
    """Whether n = K size(d, |w_l|, B, epsilon, alpha) records keep the last step's noise below alpha, r^2 = d."""
    tried, factor, eta = 0, sympy.Rational(str(FACTOR)), sympy.Rational(str(ETA))
    for point in led(given, at_most=60, dimension=1, norm="1/1000000", label="1", epsilon="1/2"):
        d, norm, label, eps = (sympy.Rational(str(point[n])) for n in ("dimension", "norm", "label", "epsilon"))
        alpha = norm / 2
        n = HIDDEN * size(d, norm, label, eps, alpha)
        least = d * (2 * eta * factor / eps * label * STEPS) ** 2 / n**2  # the printed noise at any w, its part B
        tried += 1
        if not n > 0 or least > alpha**2:
            return refuted("the noise of the last step alone is longer than alpha, even that of the text", {
                "x": UNIFORM if d == 1 else "uniform on a cube", "d": d, "|w_l|": norm, "B": label, "epsilon": eps,
                "alpha": alpha, "n": n, "T": STEPS, "eta": ETA,
                "z epsilon": FACTOR, "E|w_T - w_l|^2 above": least, "alpha^2": alpha**2})
    r, w, b, e, a = sympy.symbols("r w B epsilon alpha", positive=True)
    m = HIDDEN * size(r**2, w, b, e, a) / STEPS
    private = eta**2 * r**2 * (factor / e * r * (r * w + 2 * b) / m) ** 2
    return proof(
        computed("the noise that privacy needs, at |w| <= |w_l|, leaves at most alpha^2 in a step",
                 never_negative(sympy.together(a**2 - private))),
        tried=tried,
    )


Orders = Mapping[str, tuple[Fraction, Fraction, Fraction]]
"""The exponents of d, epsilon and alpha in the two terms of a sample complexity."""

THEOREM: Orders = {"private": (Fraction(1), Fraction(-1), Fraction(-1)),
                   "statistical": (Fraction(1), Fraction(0), Fraction(-2))}


def judge_summary(says: Orders, given: Domain) -> Finding:
    """Whether a summary has the orders in d, epsilon and alpha that Theorem 7 prints."""
    for term, orders in THEOREM.items():
        if says[term] != orders:
            return refuted("the summary and the theorem differ", {
                "term": term, "d, epsilon, alpha in the summary": ", ".join(map(str, says[term])),
                "in the theorem": ", ".join(map(str, orders))})
    return instance("the exponents of d, epsilon and alpha are those that the theorem prints")


def judge_range(top: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether (0, top(|w_l|)) has an alpha for every problem; |w_l| = 0 for y = 0."""
    for norm in given.values("norm"):
        if top(norm) <= 0:
            return refuted("no alpha is left", {"x": UNIFORM, "y": 0, "|w_l|": norm, "alpha below": top(norm)})
    norm_ = given.symbol("norm")
    return proof(computed("the upper end is positive", (sympy.sympify(top(norm_))).is_positive is True),
                 argued("where alpha >= |w_l|, the start w_0 = 0 is within alpha of w_l"),
                 tried=len(given.values("norm")))


def judge_orders(says: tuple[Fraction, Fraction], given: Domain) -> Finding:
    """Whether the noise that privacy needs grows as d^first in a coordinate and as d^second in norm, for B = 0."""
    for d in given.values("dimension"):
        near, far = (sympy.Integer(d * k) for k in (1, 4))  # sensitivity: r^2 |w|/m = d |w|/m
        grown = far / near
        said = [sympy.Integer(4) ** sympy.Rational(str(one)) for one in says]
        if said != [grown, grown * sympy.sqrt(far / near)]:
            return refuted("the sensitivity of a batch is d |w|/m for B = 0, and the norm of the noise sqrt(d) times "
                           "it", {
                "d": f"{d} and {4 * d}", "coordinate's noise grows by": grown, "claimed": said[0],
                "its norm grows by": grown * 2, "claimed for the norm": said[1]})
    return proof(
        computed("4^1 and 4^(3/2) = 8 for four times the dimension",
                 2 * says[0] == 2 and 2 * says[1] == 3),
        argued("at large d the part with |w| outweighs the part with B"),
        study_step("misspecified-dimension"),
        tried=len(given.values("dimension")),
    )


def judge_rate(says: tuple[str, Fraction], given: Domain) -> Finding:
    """Whether a study of Algorithm 8 has that exponent of E|w_T - w_l|^2 on record."""
    name, exponent = says
    entry = on_record(name)
    if entry.interval is None or not entry.interval[0] - 0.05 <= float(exponent) <= entry.interval[1] + 0.05:
        return Finding(Verdict.REFUTED, Evidence.STATISTICAL, f"the study {name} has other slopes",
                       {"study": name, "slopes": str(entry.interval), "claimed": str(exponent)},
                       Scope("instance", region={"error probability": "that of all studies"}))
    return by_study(name)
