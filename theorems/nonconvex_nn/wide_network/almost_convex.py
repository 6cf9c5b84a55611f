r"""Lemma 19 of document 002: is the loss almost convex near the start?

Scaling the loss by s scales S, the loss and its gradient by s. The condition on omega has no S in it, so if the lemma
held for every S, then, with Delta fixed, L(W') >= L(W) + <grad L(W), W' - W> - Delta/s for every s: the loss would be
convex on the ball. It is not: with two layers and one open unit f = sqrt(m) a b, and moving a by alpha and b by -b
alpha/a leaves the first order out and changes f by -sqrt(m) b alpha^2/a. For a, b > 0 and a loss that rises in f, as
log(1 + e^f), the loss falls while its linear part is 0. So for S large the lemma fails, at every start with an open
unit of positive weight: all but a part (3/4)^m of them. The check takes m = 10^6, L = 2, Delta = 1 and hidden constants
1: the printed radius is then above 10^-6, and the claimed probability above 0.99.

The last step of the proof is an algebra: S w^{4/3} L^3 sqrt(m log m) <= Delta at the printed radius means S <= L^5
log(m)^{3/2}. With (Delta/S)^{3/4} for Delta^{3/4} it holds for L >= 1 and log m >= 1.

The step before it: f(W') - f(W) - <grad f(W), W' - W> is [f - f_ntk](W') - [f - f_ntk](W) + <grad f(W(0)) - grad f(W),
W' - W>, since f_ntk has the slope of f at the start. The text leaves the last term out, which Lemma 18 says nothing
about; and it bounds the difference of the first two by |.| - |.| where |.| + |.| is right. The signed inequality that
is used, A >= B - |A - B|, is true, though the display has absolute values around A and B.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.nonconvex_nn.wide_network.conditions import remainder
from theorems.nonconvex_nn.wide_network.monomials import suffices
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, undecided

Formula = Callable[..., Any]


_WIDTH, _UNIT, _RADIUS_BELOW = 10**6, Fraction(1, 1000), Fraction(1, 10**6)


def loss_gap(slope: Fraction, omega: Fraction) -> arb:
    """L(W') - L(W), the linear part being 0: one open unit with a = b = 1/1000, a moved by omega and b by -omega."""
    root = 1000  # sqrt(m)
    moved = root * (_UNIT + omega) * (_UNIT - omega)
    return ball(slope) * ((1 + ball(moved).exp()).log() - (1 + ball(root * _UNIT**2).exp()).log())


def judge_lemma(says: Formula, given: Domain) -> Finding:
    """Whether Lemma 19 holds with the radius multiplied by says(S): L = 2, m = 10^6, Delta = 1, hidden constants 1."""
    tried = 0
    with ctx.workprec(128):
        m = arb(_WIDTH)
        radius = arb(2) ** -6 * m ** (-arb(3) / 8) * m.log() ** (-arb(3) / 2)
        for point in led(given, slope="10000000000"):
            slope = Fraction(point["slope"])
            omega = min(Fraction(says(slope)), Fraction(1)) * _RADIUS_BELOW
            claimed = 1 - 4 * (-m * ball(omega) ** (arb(2) / 3) * 2).exp()
            gap = loss_gap(slope, omega)
            tried += 1
            if gap < -1 and claimed > ball(Fraction(99, 100)):
                return refuted_by("S log(1 + e^f) falls by more than Delta while its linear part is 0, certified", {
                    "S": slope, "Delta": 1, "kappa": 1, "L": 2, "m": _WIDTH, "x": 1, "omega": omega, "a": _UNIT,
                        "b": _UNIT,
                    "L(W') - L(W)": Enclosure.of_ball(gap), "claimed probability": Enclosure.of_ball(claimed)},
                    computed("omega is within the printed radius", bool(ball(_RADIUS_BELOW) < radius)),
                    computed("the linear part is 0: b alpha + a beta = 0", _UNIT * omega - _UNIT * omega == 0),
                    argued("nearly every start has such a unit: among 10^6 open ones with a, b of the order 1/1000, "
                           "and "
                           "for other a, b, f(W(0)), constants and radii a larger S does the same"))
    return undecided("no loss of this kind is against it", tried)


def judge_base(says: Formula, given: Domain) -> Finding:
    """Whether the remainder of f = a b at W is says(gap at W', gap at W, <grad f(W(0)) - grad f(W), W' - W>)."""
    tried = 0
    for point in led(given, alpha="1", beta="1", at_most=150):
        alpha, beta = point["alpha"], point["beta"]
        # start (1, 1); W = (1 + alpha, 1); W' = (1 + alpha, 1 + beta)
        true = (1 + alpha) * (1 + beta) - (1 + alpha) - (1 + alpha) * beta
        here, there = 0 * alpha, (1 + alpha) * (1 + beta) - 1 - alpha - beta
        turned = (1 - (1 + alpha)) * beta
        tried += 1
        if says(there, here, turned) != true:
            return refuted("f = a b from (1, 1): what is left out has a size of its own", {
                "alpha": alpha, "beta": beta, "f(W') - f(W) - <grad f(W), W' - W>": true, "gap at W'": there,
                    "gap at W": here,
                "claimed": says(there, here, turned)})
    later, now, at_later, at_now, slope, first = sympy.symbols("F f N n g g_0", real=True)
    return proof(
        computed("for every f: f_ntk(W') - f_ntk(W) is the start's slope along W' - W", vanishes(
            (later - now - slope) - says(later - at_later, now - at_now, first - slope)
            - ((at_later - at_now) - first))),
        tried=tried,
    )


def judge_two_gaps(says: Formula, given: Domain) -> Finding:
    """Whether |u - v| <= says(|u|, |v|)."""
    tried = 0
    for point in led(given, u="1", v="-1"):
        u, v = point["u"], point["v"]
        tried += 1
        if abs(u - v) > says(abs(u), abs(v)):
            return refuted("gaps of opposite sign", {"u": u, "v": v, "|u - v|": abs(u - v),
                                                     "claimed": says(abs(u), abs(v))})
    a, b = sympy.symbols("a b", nonnegative=True)
    return proof(computed("for both orders and both signs, on symbols", never_negative(
        says(a + b, a) - b, says(a, a + b) - b, says(a, b) - (a + b))), tried=tried)


def judge_signed(says: Formula, given: Domain) -> Finding:
    """Whether A >= says(B, |A - B|)."""
    tried = 0
    for point in given.points("u", "v"):
        u, v = point["u"], point["v"]
        tried += 1
        if u < says(v, abs(u - v)):
            return refuted("not below", {"A": u, "B": v, "claimed": says(v, abs(u - v))})
    v_, rest = sympy.symbols("B", real=True), sympy.symbols("r", nonnegative=True)
    return proof(computed("for A = B + r and A = B - r, on symbols", never_negative(
        v_ + rest - says(v_, rest), v_ - rest - says(v_, rest))), tried=tried)


def judge_lipschitz(says: Formula, given: Domain) -> Finding:
    """Whether |grad_W l(f(W))| <= says(S, |grad f|) for l = S log(1 + e^f) and others of slope up to S."""
    tried = 0
    for point in led(given, slope="1", gradient="4"):
        slope, gradient = point["slope"], point["gradient"]
        tried += 1
        if says(slope, gradient) < slope * gradient / 2:  # at f = 0, where the slope of the loss is S/2
            return refuted("the chain rule: the slope in W has the factor |grad f|", {
                "loss": "S log(1 + e^f) at f = 0", "S": slope, "|grad f|": gradient,
                    "|grad_W loss|": slope * gradient / 2,
                "claimed": says(slope, gradient)})
    slope_, gradient_ = given.symbol("slope"), given.symbol("gradient")
    part = sympy.Symbol("t", nonnegative=True)
    return proof(
        computed("S |grad f| t/(1 + t), t >= 0, is at most what is claimed",
                 never_negative(says(slope_, gradient_) - slope_ * gradient_ * part / (1 + part))),
        argued("the chain rule, and a slope of the loss of at most S"), tried=tried,
    )


_LEMMA = r"with $\omega \leq \kappa L^{-6} m^{-3/8} [\log(m)]^{-3/2} \Delta^{3/4}$ it holds uniformly"
lemma = Claim(
    id="nonconvex-nn/lem-19", source="002, Lemma 19: any Delta > 0, a radius without S", quote=_LEMMA,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L_i(W') \ge L_i(W) + \langle\nabla L_i(W), W'-W\rangle - \Delta \text{ for every } S",
    words="the loss is convex but for Delta within a radius that does not depend on S",
    hypotheses=(positive("slope", "S"),), says=lambda slope: slope**0, check=judge_lemma,
    uses=("nonconvex-nn/lem-18", "nonconvex-nn/lem-19-S"), repaired_by="nonconvex-nn/lem-19-S-repaired",
    flips=(Flip("the radius over S", lambda slope: 1 / slope, Verdict.UNDECIDED),), expected="REFUTED ARGUED",
)
_RADIUS = (positive("S"), positive_integer("L").at_least(2), positive_integer("m"),
           positive("log_m", "log m").at_least(1), positive("Delta"))
slope = Claim(
    id="nonconvex-nn/lem-19-S", source="002, proof of Lemma 19, last step: the remainder is at most Delta",
        quote=_LEMMA,
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\omega \le L^{-6} m^{-3/8}\log(m)^{-3/2}\Delta^{3/4} \Rightarrow S\omega^{4/3}L^3\sqrt{m\log m} \le "
              r"\Delta",
    words="the radius of Lemma 19 makes its remainder at most Delta, for every S",
    hypotheses=_RADIUS, says=lambda s, depth, m, log, loss: depth**48 * m**3 * log**12 / loss**6,
    check=suffices(
        lambda s, depth, m, log, loss, power: remainder(s, depth, log, loss, m, power ** sympy.Rational(-1, 8)), 6,
        unknown="omega^-8", what="S w^(4/3) L^3 sqrt(m log m) against Delta"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\omega \le L^{-6} m^{-3/8}\log(m)^{-3/2}(\Delta/S)^{3/4} \Rightarrow S\omega^{4/3}L^3\sqrt{m\log "
                  r"m} \le \Delta",
        words="with (Delta/S)^{3/4} for Delta^{3/4} the remainder of Lemma 19 is at most Delta",
        says=lambda s, depth, m, log, loss: s**6 * depth**48 * m**3 * log**12 / loss**6, expected="HOLDS PROVED",
        flips=(Flip("L^{-9/4} and log^{-3/8}: all that is needed",
                    lambda s, depth, m, log, loss: s**6 * depth**18 * m**3 * log**3 / loss**6, Verdict.HOLDS),),
        true_variants={"1 % more": "a smaller radius is enough, too", "48 -> 49*": "a smaller radius",
                       "12 -> 13*": "a smaller radius", "3 -> 4*": "a smaller radius",
                       "1 % less": "L^30 >= 2^30 is left"},
    ),
)
base = Claim(
    id="nonconvex-nn/lem-19-base", source="002, proof of Lemma 19: linearised at W, Lemma 18 at W(0)",
    quote=r"where we could decompose the last term in the right side of inequality into",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"f(W') - f(W) - \langle\nabla f(W), W'-W\rangle = [f - f_{ntk}](W') - [f - f_{ntk}](W)",
    words="the remainder at W is the difference of the gaps to f_ntk at W' and W",
    hypotheses=(real("alpha"), real("beta")), says=lambda there, here, turned: there - here, check=judge_base,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\ldots + \langle \nabla f(W^{(0)}) - \nabla f(W), W' - W\rangle",
        words="the remainder at W is that difference plus <grad f(W(0)) - grad f(W), W' - W>",
        says=lambda there, here, turned: there - here + turned, expected="HOLDS PROVED",
    ),
)
gaps = Claim(
    id="nonconvex-nn/lem-19-gaps", source="002, proof of Lemma 19: |f' - f'_ntk| - |f - f_ntk|",
    quote=r"(|f(\mathbf{W}'; \mathbf{x}_i) - f_{ntk}(\mathbf{W}'; \mathbf{x}_i)| - |f(\mathbf{W}; \mathbf{x}_i) - "
          r"f_{ntk}(\mathbf{W}; \mathbf{x}_i)|)",
    whose=Whose.TYPO, severity=Stake.PROOF, statement=r"|u - v| \le |u| - |v|",
    words="the difference of two gaps is at most the difference of their sizes",
    hypotheses=(real("u"), real("v")), says=lambda u, v: u - v, check=judge_two_gaps, expected="REFUTED PROVED",
    repair=Repair(statement=r"|u - v| \le |u| + |v|", words="the difference of two gaps is at most the sum of their "
                                                            "sizes",
                  says=lambda u, v: u + v, expected="HOLDS PROVED", true_variants={"1 % more": "a larger bound"}),
)
signed = Claim(
    id="nonconvex-nn/lem-19-signed", source="002, proof of Lemma 19: what the triangle inequality is used for",
    quote=r"By the triangular inequality", whose=Whose.READING, severity=Stake.PROOF, statement=r"A \ge B - |A - B|",
    words="the signed inequality A >= B - |A - B|, which the display has with absolute values, holds",
    hypotheses=(real("u"), real("v")), says=lambda b, rest: b - rest, check=judge_signed,
    flips=(Flip("+", lambda b, rest: b + rest, Verdict.REFUTED),), expected="HOLDS PROVED",
)
lipschitz = Claim(
    id="nonconvex-nn/lem-19-lipschitz", source="002, proof of Lemma 19: 'S-lipschitz with respect to W'",
    quote=r"$\ell(\cdot)$ is S -lipschitz with respect to \mathbf{W} to obtain the following inequality",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"\|\nabla_W \ell(f(W))\| \le S",
    words="the loss is S-Lipschitz in the weights", hypotheses=(positive("slope", "S"), positive("gradient",
        "|grad f|")),
    says=lambda slope, gradient: slope, check=judge_lipschitz, expected="REFUTED PROVED",
    repair=Repair(statement=r"\|\nabla_W \ell(f(W))\| \le S\|\nabla f(W)\|",
                  words="the loss is S-Lipschitz in f, and S |grad f|-Lipschitz in the weights",
                  says=lambda slope, gradient: slope * gradient, expected="HOLDS ARGUED",
                  true_variants={"1 % more": "a larger bound"}),
)
