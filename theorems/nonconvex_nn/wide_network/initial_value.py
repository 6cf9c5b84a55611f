r"""How large f and the loss are at the start and near it (002, Lemmas 26 and 27, Remark 17).

Lemma 26. Given h_{L-1}, f(W(0), x) is N(0, |h_{L-1}|^2). So if all |h_{L-1}| <= 5/4, then P(some |f_i| > (5/4) a) <= n
e^{-a^2/2}, which is xi/2 at a^2 = 2 log(2n/xi): that is lem-26-omega. Lemma 20 as mended, with epsilon = 1/4, gives |h|
<= 5/4 but for 2 n L e^{-m/(320 L^2)}, which is at most xi if m >= 320 L^2 log(2 n L/xi). The printed condition "omega
<= L log(nL/xi)" says nothing of m, and omega does not occur. Without a condition on m it is false: with m = 1, L = 2, n
= 1 and x = 1, f = a relu(b), a ~ N(0, 1), b ~ N(0, 2), and P(|f| > t) >= P(|a| > s) P(b > t/s): -log of it grows like
t, and xi = e^{-(t/c)^2} is below it for t large, whatever the hidden constant c is.

Lemma 27. On the ball, which is convex, |f(W) - f(W(0))| <= sup sum_l |grad_l f| |W_l - W_l(0)| <= L c sqrt(m) R/sqrt(m)
= c L R by the mean value theorem (f is piecewise smooth and Lipschitz), if all |grad_l f| <= c sqrt(m): then the loss
rises by at most c S L R. The display of the proof has S <f'(W), W - W(0)> without absolute values: false for a loss
that falls in f.

Remark 17 adds to that the loss at the start, which is at most l(0, y) + S |f(W(0), x)|: neither l(0, y) nor the factor
S is in it. The proof of Theorem 13 quotes the remark with S L R/sqrt(m) for S L R.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer, probability, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log, root
from theorems.tools.leading_points import led
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Formula = Callable[..., Any]


def _tail(value: arb) -> arb:
    """P(z > value) for a standard normal z."""
    return (value / arb(2).sqrt()).erfc() / 2


def judge_width(says: Formula, given: Domain) -> Finding:
    """Whether m >= says(n, L, xi) gives |f_i| <= (5/4) sqrt(2 log(2n/xi)) for all i but for 2 xi."""
    with ctx.workprec(100):
        power = 1600  # xi = e^-1600, c = 2: the bound is 2 sqrt(1600) = 80
        least = says(arb(1), arb(2), (-arb(power)).exp())
        if bool(least <= 1):
            t, s = arb(80), arb(8)
            chance = 2 * _tail(s) * _tail(t / s / arb(2).sqrt())
            return refuted_by("one hidden unit: a product of two normal variables has a longer tail than a normal one",
                {
                "m": 1, "L": 2, "n": 1, "x": 1, "log(1/xi)": power, "hidden constant": 2, "claimed bound": t,
                "P(|f| > bound) at least": Enclosure.of_ball(chance)},
                computed("the probability is above xi, certified", bool(chance > (-arb(power)).exp())),
                argued("the same for every hidden constant, at a smaller xi"))
    tried = 0
    for point in given.points("records", "depth", "xi", at_most=60):
        n, depth, xi = (ball(Fraction(point[name])) for name in ("records", "depth", "xi"))
        with ctx.workprec(100):
            m = says(n, depth, xi)
            tried += 1
            if not m > 0:
                return refuted("no width", {"n": n, "L": depth, "xi": xi, "m": m})
    n_, depth_, xi_ = given.chart("records"), given.chart("depth"), given.chart("xi")
    gain = says(n_, depth_, xi_) / (320 * depth_**2) - sympy.log(2 * n_ * depth_ / xi_)
    return proof(
        computed("Lemma 20 as mended fails with at most xi at epsilon = 1/4, 2 n L e^{-m/(320 L^2)} <= xi, by the "
                 "logarithms of both, on symbols", never_negative(gain)),
        argued("then all |h_{L-1}| <= 5/4, and lem-26-omega fails with at most xi"), tried=tried,
    )


def judge_bound(says: Formula, given: Domain) -> Finding:
    """Whether P(some |f_i| > says(n, xi)) <= xi given |h_{L-1}| <= 5/4 for all i."""
    tried = 0
    for point in given.points("records", "xi"):
        n, xi = point["records"], point["xi"]
        with ctx.workprec(100):
            bound = says(arb(n), ball(xi))
            failed = n * 2 * _tail(bound * 4 / 5)
            tried += 1
            if not failed < ball(xi):
                return refuted("the union over the records, at |h| = 5/4, is above xi", {
                    "n": n, "xi": xi, "claimed bound": Enclosure.of_ball(bound), "union": Enclosure.of_ball(failed)})
    n_, xi_, a = given.chart("records"), given.chart("xi"), sympy.Symbol("a", positive=True)
    gain = sympy.diff(sympy.exp(-(a**2) / 2) - sympy.erfc(a / sympy.sqrt(2)), a)
    return proof(
        computed("P(|z| > a) <= e^{-a^2/2}: the difference is 0 at 0, rises up to sqrt(2/pi) and falls from there",
                 vanishes(gain - (sympy.sqrt(2 / sympy.pi) - a) * sympy.exp(-(a**2) / 2))),
        computed("n e^{-(4 bound/5)^2/2} <= xi, on symbols",
                 never_negative(sympy.simplify(xi_ - n_ * sympy.exp(-(says(n_, xi_) * 4 / 5) ** 2 / 2)))),
        argued("given h, f is normal with the deviation |h| <= 5/4; the union over the records"), tried=tried,
    )


def judge_rise(says: Formula, given: Domain) -> Finding:
    """Whether S L (c sqrt(m)) (R/sqrt(m)) <= says(S, L, R, c, m): it is attained by a linear f."""
    tried = 0
    for point in given.points("slope", "depth", "radius", "constant", "width", at_most=200):
        slope, depth, radius, c, m = (Fraction(point[k]) for k in ("slope", "depth", "radius", "constant", "width"))
        rise = slope * depth * c * radius
        tried += 1
        if says(slope, depth, radius, c, m) < rise:
            return refuted("a linear f that moves along its gradient in every layer, a loss of slope S", {
                "S": slope, "L": depth, "R": radius, "|grad_l f|/sqrt(m)": c, "m": m, "rise": rise,
                "claimed": says(slope, depth, radius, c, m)})
    s_, d_, r_, c_, m_ = (given.symbol(k) for k in ("slope", "depth", "radius", "constant", "width"))
    return proof(
        computed("S times L times c sqrt(m) R/sqrt(m) is at most what is claimed, on symbols", never_negative(
            sympy.simplify(says(s_, d_, r_, c_, m_) - s_ * d_ * (c_ * sympy.sqrt(m_)) * (r_ / sympy.sqrt(m_))))),
        argued("the mean value theorem on the convex ball, Cauchy's inequality in every layer, a loss of slope S"),
        tried=tried,
    )


def judge_display(says: Formula, given: Domain) -> Finding:
    """Whether the loss -S f + const on a line rises by at most says(S, <f', W - W(0)>) when f moves by that much."""
    tried = 0
    for point in led(given, slope="1", moved="-1"):
        slope, moved = point["slope"], point["moved"]
        rise = max(-slope * moved, slope * moved)  # the worse of the two losses of slope S
        tried += 1
        if says(slope, moved) < rise:
            return refuted("a loss that falls in f (S log(1 + e^-f) far below 0), and a step that makes f smaller", {
                "S": slope, "<f', W - W(0)>": moved, "rise of the loss": rise, "claimed": says(slope, moved)})
    slope_, up = given.symbol("slope"), sympy.Symbol("u", nonnegative=True)
    return proof(computed("for f that moves up and down, on symbols", never_negative(
        says(slope_, up) - slope_ * up, says(slope_, -up) - slope_ * up)), tried=tried)


def judge_loss(says: Formula, given: Domain) -> Finding:
    """Whether l(f(W)) <= says(l(0), S, |f(W(0))|, rise of f) for all losses of slope at most S."""
    tried = 0
    for point in led(given, at_zero="100", slope="1", value="0", moved="0", at_most=300):
        at_zero, slope, value, moved = (Fraction(point[k]) for k in ("at_zero", "slope", "value", "moved"))
        worst = at_zero + slope * (value + moved)  # the loss l(0) + S f, where f is positive
        tried += 1
        if says(at_zero, slope, value, moved) < worst:
            return refuted("a loss that is large where f is 0", {
                "l(0, y)": at_zero, "S": slope, "|f(W(0))|": value, "|f(W) - f(W(0))|": moved, "loss": worst,
                "claimed": says(at_zero, slope, value, moved)})
    z_, s_, v_, m_ = (given.symbol(k) for k in ("at_zero", "slope", "value", "moved"))
    return proof(
        computed("l(0) + S (|f(W(0))| + the rise) is at most what is claimed", never_negative(
            says(z_, s_, v_, m_) - z_ - s_ * (v_ + m_))),
        argued("the triangle inequality for f, and a loss of slope at most S"), tried=tried,
    )


_SIZES = (positive_integer("records", "n"), probability("xi"))
value = Claim(
    id="nonconvex-nn/lem-26", source="002, Lemma 26: 'with omega <= L log(nL/xi)', no condition on m",
    quote=r"*With probability at least $1 - \xi$, for all $i \in [n]$ with $\omega \leq L \log(nL/\xi)$, we have*",
    whose=Whose.TYPO, severity=Stake.UTILITY,
    statement=r"P(\exists i: |f(W^{(0)}, x_i)| > O(\sqrt{\log(n/\xi)})) \le \xi \text{ for every } m",
    words="f at the start is O(sqrt(log(n/xi))) for all records but for xi, whatever the width is",
    hypotheses=(_SIZES[0], positive_integer("depth", "L").at_least(2), _SIZES[1]),
    says=lambda n, depth, xi: 1 + 0 * depth, check=judge_width, expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"m \ge 320 L^2 \log(2nL/\xi) \Rightarrow P(\exists i: |f(W^{(0)}, x_i)| > "
                  r"\tfrac54\sqrt{2\log(2n/\xi)})"
                  r" \le 2\xi",
        words="with m >= 320 L^2 log(2nL/xi) and |x_i| = 1, |f| <= (5/4) sqrt(2 log(2n/xi)) at the start but for 2 xi",
        says=lambda n, depth, xi: 320 * depth**2 * log(2 * n * depth / xi), expected="HOLDS ARGUED",
        rests_on=("nonconvex-nn/lem-20-repaired", "nonconvex-nn/lem-26-omega"),
        flips=(Flip("100 for 320", lambda n, depth, xi: 100 * depth**2 * log(2 * n * depth / xi), Verdict.UNDECIDED),),
    ),
)
explicit = Claim(
    id="nonconvex-nn/lem-26-omega", source="a finding of ours: 002, Lemma 26 with its constant, given the hidden "
                                           "layers",
    statement=r"\|h_{L-1}\| \le 5/4 \Rightarrow P(\exists i: |f_i| > \tfrac54\sqrt{2\log(2n/\xi)}) \le \xi",
    words="if the last hidden layers are at most 5/4 long, (5/4) sqrt(2 log(2n/xi)) bounds all |f(W(0), x_i)| but for "
          "xi",
    severity=Stake.UTILITY, hypotheses=_SIZES, says=lambda n, xi: root(2 * log(2 * n / xi)) * 5 / 4, check=judge_bound,
    flips=(Flip("half of it", lambda n, xi: root(2 * log(2 * n / xi)) * 5 / 8, Verdict.REFUTED),),
    true_variants={"[*] -> + (operator 1)": "log((n + 2)/xi) is enough, too: n/(n + 2) < 1"},
    expected="HOLDS ARGUED",
)
_RISE = (positive("slope", "S"), positive_integer("depth", "L").at_least(2), positive("radius", "R"),
         positive("constant", "the constant of Lemma 22"), positive_integer("width", "m"))
stability = Claim(
    id="nonconvex-nn/lem-27", source="002, Lemma 27, given Lemma 22 with a constant c",
    quote=r"L_i(\mathbf{W}) - L_i(\mathbf{W}^{(0)}) \leq O(SLR)", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\|\nabla_{W_l} f\| \le c\sqrt m \Rightarrow L_i(W) - L_i(W^{(0)}) \le c\,SLR",
    words="if all layers' gradients are at most c sqrt(m), the loss rises by at most c S L R within R/sqrt(m)",
    hypotheses=_RISE, says=lambda s, depth, r, c, m: c * s * depth * r, check=judge_rise,
    uses=("nonconvex-nn/lem-22",), flips=(Flip("without L", lambda s, depth, r, c, m: c * s * r, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
    true_variants={"1 % more": "a larger bound", "beyond *": "a larger bound there", "any *": "the same product"},
)
display = Claim(
    id="nonconvex-nn/lem-27-display", source="002, proof of Lemma 27, first line: no absolute values",
    quote=r"L_i(\mathbf{W}) - L_i(\mathbf{W}^{(0)}) &\leq S \cdot \langle f'(\mathbf{W}), \mathbf{W} - "
          r"\mathbf{W}^{(0)} \rangle",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"L_i(W) - L_i(W^{(0)}) \le S\langle f'(W), W - "
                                                         r"W^{(0)}\rangle",
    words="the loss rises by at most S times the signed move of f (f linear)",
    hypotheses=(positive("slope", "S"), real("moved", "<f', W - W(0)>")), says=lambda slope, moved: slope * moved,
    check=judge_display, expected="REFUTED PROVED",
    repair=Repair(statement=r"L_i(W) - L_i(W^{(0)}) \le S\,|f(W) - f(W^{(0)})|",
                  words="the loss rises by at most S times the size of the move of f",
                  says=lambda slope, moved: slope * abs(moved), expected="HOLDS PROVED",
                  true_variants={"1 % more": "a larger bound"}),
)
remark = Claim(
    id="nonconvex-nn/rem-17", source="002, Remark 17: sqrt(log) without S, and no l(0, y)",
    quote=r"L_i(\mathbf{W}) \leq O(\sqrt{\log(2n/\xi)} + SLR)", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"L_i(W) \le |f(W^{(0)})| + S\,|f(W) - f(W^{(0)})|",
    words="the loss is at most |f(W(0))| plus S times the move of f, whatever it is at f = 0",
    hypotheses=(non_negative("at_zero", "l(0, y)"), positive("slope", "S"), non_negative("value", "|f(W(0))|"),
                non_negative("moved", "|f(W) - f(W(0))|")),
    says=lambda at_zero, slope, start, moved: start + slope * moved, check=judge_loss,
    uses=("nonconvex-nn/lem-26", "nonconvex-nn/lem-27"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"L_i(W) \le \ell(0, y_i) + S(|f(W^{(0)})| + |f(W) - f(W^{(0)})|)",
        words="the loss is at most l(0, y) plus S times |f(W(0))| plus S times the move of f",
        says=lambda at_zero, slope, start, moved: at_zero + slope * (start + moved), expected="HOLDS ARGUED",
        true_variants={"1 % more": "a larger bound", "any slope": "slopes below 0 do not occur",
            "any *": "signs do not enter"},
    ),
)
quoted = Claim(
    id="nonconvex-nn/rem-17-thm-13", source="002, proof of Theorem 13: Remark 17 quoted with S L R/sqrt(m)",
    quote=r"the upper bound of Loss function in remark 17 $I = O(\sqrt{\log(2n/\xi)} + \frac{SLR}{\sqrt{m}})$",
    whose=Whose.TYPO, severity=Stake.EDITORIAL, statement=r"L_i(W) - L_i(W^{(0)}) \le c\,SLR/m^{1/2}",
    words="the loss rises by at most S L R/sqrt(m) within R/sqrt(m), as the proof of Theorem 13 quotes Remark 17",
    hypotheses=_RISE, says=lambda s, depth, r, c, m: c * s * depth * r / root(m), check=judge_rise,
    flips=(Flip("S L R, as Remark 17 has it", lambda s, depth, r, c, m: c * s * depth * r, Verdict.HOLDS),),
    uses=("nonconvex-nn/rem-17",), repaired_by="nonconvex-nn/lem-27", expected="REFUTED PROVED",
)
