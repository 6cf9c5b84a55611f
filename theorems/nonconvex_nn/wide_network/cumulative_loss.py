r"""The proof of Lemma 25 of document 002, step by step: clipping, one noisy step, the sum over steps.

Write a = W - W* - eta g~_t and v = (mean of g~_j) - g~_t + G_t, so that the step before projection ends at a - eta v
from W*. Then |a - eta v|^2 = |a|^2 - 2 eta <a, v> + eta^2 |v|^2, and projecting onto a convex set that has W* in it
makes it no larger. The third inequality of the proof leaves out -2 eta <a, v> and replaces |v|^2 by |G|^2 plus the mean
of |g~_j - g~_t|^2. With one record in the batch the latter is exact, and the inequality says <a, G> >= 0. G is
symmetric and independent of a, so for a other than 0 that has the probability 1/2 at every step, and 2^{-T} at all T
steps: not a high one. What is left out has mean 0 and no sign.

Two clipped gradients are up to 2C apart, so that (eta/2M) sum_j |g~_j - g~_t|^2 is at most (eta/2M)(M - 1) 4 C^2 where
the record of step t is one of the M: the record's own term is 0. That is attained by opposite gradients and above eta
C^2 from M = 3 on.

The weights max(1, |g_t|/C) differ from step to step, and the bracket that they multiply, D_t - D_{t+1} for the squared
distance D_t to W*, has either sign. So the largest weight cannot be taken out of the sum. If the weights never fall (as
without clipping, where all are 1), then the sum is at most (last weight)(largest D - last D), by induction: with one
more step it grows by a' (D' - D''), and (a' - a)(D_max - D') >= 0 is what is left. Nor can 1/(2 eta) before such a
bracket be raised to 1/eta.

The path: |P(W - u) - W| <= |u| if W is in the set, since P(W) = W and P does not expand. At the first step W is not in
B(0, R): each hidden layer is about sqrt(2m) long.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import non_negative, positive, positive_integer, real, unit_interval
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Formula = Callable[..., Any]


def judge_step(dropped: Formula, given: Domain) -> Finding:
    """Whether |a|^2 >= |a - eta v|^2 - eta^2 |v|^2 + dropped(eta, <a, v>), with the probability 1 or one half."""
    tried = 0
    for point in given.points("eta", "a", "v", at_most=200):
        eta, a, v = point["eta"], point["a"], point["v"]
        short = a**2 - (a - eta * v) ** 2 + eta**2 * v**2 - dropped(eta, a * v)
        tried += 1
        if short < 0:
            return refuted_by("one noisy step on a line, one record: the noise against the distance breaks it", {
                "eta": eta, "W - W* - eta g": a, "G": v, "left - right": short, "probability of the other sign": "1/2"},
                computed("left - right is negative, exactly", short < 0),
                computed("with the noise turned round it is positive: one sign of two, equally likely",
                         a**2 - (a + eta * v) ** 2 + eta**2 * v**2 - dropped(eta, -a * v) >= 0))
    eta_ = given.symbol("eta")
    size, other, along = sympy.symbols("A V p", real=True)
    after = size - 2 * eta_ * along + eta_**2 * other  # |a - eta v|^2 by |a|^2, |v|^2 and <a, v>
    return proof(
        computed("|a - eta v|^2 multiplied out, in any dimension",
                 vanishes(size - after + eta_**2 * other - dropped(eta_, along))),
        argued("projecting onto a convex set that has W* in it brings the point no farther from W*"),
        tried=tried,
    )


def judge_spread(bound: Formula, given: Domain) -> Finding:
    """Whether (eta/2M) sum_j |g~_j - g~_t|^2 <= bound(eta, C, M) for gradients clipped to C, g~_t one of the M."""
    tried = 0
    for point in given.points("eta", "clip", "batch", at_most=150):
        eta, clip, batch = point["eta"], point["clip"], point["batch"]
        gradients = [clip, *[-clip] * min(batch - 1, 60)]
        worst = eta / 2 * sum((g - gradients[0]) ** 2 for g in gradients) / len(gradients)
        tried += 1
        if bound(eta, clip, len(gradients)) < worst:
            return refuted("opposite gradients, both of the clipped length", {
                "eta": eta, "C": clip, "M": len(gradients), "sum": worst, "claimed": bound(eta, clip, len(gradients))})
    eta_, clip_, batch_ = given.symbol("eta"), given.symbol("clip"), given.chart("batch")
    return proof(
        computed("(eta/2M)(M - 1)(2C)^2 is at most what is claimed, on symbols",
                 never_negative(bound(eta_, clip_, batch_) - eta_ * (batch_ - 1) * 4 * clip_**2 / (2 * batch_))),
        argued("two vectors of length at most C are at most 2C apart, and the record's own term is 0"),
        tried=tried,
    )


def judge_sum(says: tuple[Formula, bool], given: Domain) -> Finding:
    """Whether sum_t a_t (D_t - D_{t+1}) <= bound(largest a, D_1, D_{T+1}, largest D); and whether the a never fall."""
    bound, ordered = says
    tried = 0
    distances = [Fraction(v) for v in given.values("distance")[:4]] + [Fraction(5), Fraction(1)]
    for weights in itertools.product((Fraction(1), Fraction(10)), repeat=2):
        if ordered and weights[0] > weights[1]:
            continue
        for d in itertools.product(distances, repeat=3):
            total = sum((a * (x - y) for a, x, y in zip(weights, d[:-1], d[1:], strict=True)), Fraction(0))
            tried += 1
            if total > bound(max(weights), d[0], d[-1], max(d)):
                return refuted("a weighted sum of differences is above the bound", {
                    "weights": ", ".join(map(str, weights)), "squared distances": ", ".join(map(str, d)),
                    "sum": total, "claimed": bound(max(weights), d[0], d[-1], max(d))})
    a, more, first, last, up = sympy.symbols("a b D_1 D_T u", nonnegative=True)
    top = first + last + up  # a largest distance that is no smaller than the others
    induction = a * (top - last) + (a + more) * (last - up) <= (a + more) * (top - up)
    return proof(
        computed("one step: a (D_1 - D_2) is at most a (D_max - D_2)",
            never_negative(a * (top - last) - a * (first - last))),
        computed("one step more keeps S <= a (D_max - D), where the weights do not fall",
                 ordered and never_negative(sympy.expand(induction.rhs - induction.lhs))),
        computed("a (D_max - D) is at most what is claimed", never_negative(bound(a, first, last,
            top) - a * (top - last))),
        tried=tried,
    )


def judge_factor(says: Formula, given: Domain) -> Finding:
    """Whether D/(2 eta) <= says(D, eta) for a difference D of squared distances, of either sign."""
    tried = 0
    for point in given.points("difference", "eta"):
        d, eta = point["difference"], point["eta"]
        tried += 1
        if says(d, eta) < d / (2 * eta):
            return refuted("a step away from W*: the difference is negative", {
                "difference": d, "eta": eta, "D/(2 eta)": d / (2 * eta), "claimed": says(d, eta)})
    up, eta_ = sympy.Symbol("u", positive=True), given.symbol("eta")
    return proof(
        computed("at most what is claimed for D = u, 0 and -u", never_negative(
            *(says(d, eta_) - d / (2 * eta_) for d in (up, sympy.Integer(0), -up)))),
        tried=tried,
    )


def judge_path(says: Formula, given: Domain) -> Finding:
    """Whether |P(w - u) - w| <= |u| on a line, P onto [-R, R], at the starts says(share, R)."""
    tried = 0
    for point in given.points("radius", "start", "step", at_most=200):
        r, u = point["radius"], point["step"]
        w = says(point["start"], r)
        moved = abs(max(-r, min(r, w - u)) - w)
        tried += 1
        if moved > abs(u):
            return refuted("from outside the set the projection alone moves the weights", {
                "R": r, "W": w, "eta (gradient + noise)": u, "moved": moved})
    r_, share = given.symbol("radius"), given.chart("start")
    inside = says(share, r_)
    return proof(
        computed("the start is within the set, on symbols", never_negative(r_ - inside, r_ + inside)),
        argued("P(W) = W there, and projecting onto a convex set brings no two points farther apart"),
        tried=tried,
    )


def judge_largest(bound: Formula, given: Domain) -> Finding:
    """Whether max(1, g/C) <= bound(S L sqrt(m), C) for g and C up to S L sqrt(m)."""
    tried = 0
    for point in given.points("top", "clip_share", "gradient_share"):
        top, clip, g = point["top"], point["top"] * point["clip_share"], point["top"] * point["gradient_share"]
        tried += 1
        if bound(top, clip) < max(Fraction(1), g / clip):
            return refuted("the factor is larger", {"S L sqrt(m)": top, "C": clip, "|g|": g,
                                                    "factor": max(Fraction(1), g / clip), "claimed": bound(top, clip)})
    top_, share, part = given.symbol("top"), given.chart("clip_share"), given.chart("gradient_share")
    clip_ = top_ * share
    return proof(
        computed("neither 1 nor g/C is above it, on symbols",
                 never_negative(bound(top_, clip_) - 1, bound(top_, clip_) - top_ * part / clip_)),
        tried=tried,
    )


def judge_clipped(says: tuple[Formula, bool], given: Domain) -> Finding:
    """Whether factor(g, C) g~ = g for the clipped g~, and (second) whether |g~| = C always, on a line."""
    factor, full = says
    tried = 0
    for point in given.points("gradient", "clip"):
        g, clip = point["gradient"], point["clip"]
        clipped = g / max(Fraction(1), abs(g) / clip)
        tried += 1
        if factor(g, clip) * clipped != g or factor(g, clip) < 1 or (full and abs(clipped) != clip):
            return refuted("a gradient within the threshold is not clipped, and shorter than C", {
                "|g|": abs(g), "C": clip, "|g~|^2": clipped**2, "C^2": clip**2})
    g_, more = sympy.symbols("g s", positive=True)
    short, long = (g_, g_ + more), (g_ + more, g_)  # (gradient, threshold)
    return proof(
        computed("within the threshold the factor is 1", vanishes(factor(*short) - 1, factor(g_, g_) - 1)),
        computed("beyond it the factor is |g|/C, and g~ = g C/|g|",
                 vanishes(factor(*long) * g_ - (g_ + more), factor(-g_ - more, g_) * g_ - (g_ + more))),
        tried=tried,
    )


_THIRD = (
    r"&\leq \max(1, \frac{\|\mathbf{g}_t(x_t)\|_F}{C}) \left\{ \frac{\eta C^2}{2} + \frac{1}{2\eta} "
    r"[\|\mathbf{W}^{(t)} - \mathbf{W}^*\|_F^2"
)
cross = Claim(
    id="nonconvex-nn/lem-25-cross-term", source="002, proof of Lemma 25, the third inequality: <a, v> is left out",
    quote=_THIRD, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"-\|a\|^2 \le -\|a - \eta G\|^2 + \eta^2\|G\|^2 \text{ with high probability}",
    words="the third inequality of Lemma 25's proof holds with high probability as written, every dropped term a sign",
    hypotheses=(positive("eta"), real("a", "W - W* - eta g~"), real("v", "the noise")),
    says=lambda eta, along: 0 * along, check=judge_step, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"-\|a\|^2 \le -\|W^{(t+1)} - W^*\|^2 + \eta^2\|v\|^2 - 2\eta\langle a, v\rangle",
        words="with -2 eta <a, v> kept, v the noise and the batch's deviation, the step's inequality holds surely",
        says=lambda eta, along: 2 * eta * along, expected="HOLDS ARGUED",
        flips=(Flip("half of it", lambda eta, along: eta * along, Verdict.REFUTED),),
        true_variants={"any eta": "an identity in eta"},
    ),
)
spread = Claim(
    id="nonconvex-nn/lem-25-constant", source="002, proof of Lemma 25, the fourth inequality: eta C^2/2 becomes 3 eta "
                                              "C^2/2",
    quote=r"&\quad \left. + \frac{\eta}{2M} \sum_{j=1}^M \|\tilde{\mathbf{g}}_t(x_j) - \tilde{\mathbf{g}}_t(x_t)\|_F^2 "
          r"\right\} + \Delta",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\frac{\eta}{2M}\sum_{j=1}^M \|\tilde g_j - \tilde g_t\|^2 \le \eta C^2",
    words="clipped gradients of a batch spread by at most eta C^2",
    hypotheses=(positive("eta"), positive("clip"), positive_integer("batch")),
    says=lambda eta, clip, batch: eta * clip**2, check=judge_spread, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{\eta}{2M}\sum_{j=1}^M \|\tilde g_j - \tilde g_t\|^2 \le 2\eta C^2 (1 - 1/M)",
        words="clipped gradients of a batch spread by at most 2 eta C^2 (1 - 1/M)",
        says=lambda eta, clip, batch: 2 * eta * clip**2 * (batch - 1) / batch, expected="HOLDS ARGUED",
        flips=(Flip("3/2 for 2", lambda eta, clip, batch: eta * clip**2 * (batch - 1) / batch * 3 / 2,
            Verdict.REFUTED),),
        true_variants={"1 % more": "a larger bound", "any clip": "only its square enters",
                       "- -> + (operator 4)": "a larger bound",
                       "/ -> [*] (operator 6)": "a larger bound"},
        survivors={"any eta": "a negative step size turns both sides", "any batch": "an empty batch has no sum"},
    ),
)
telescoping = Claim(
    id="nonconvex-nn/lem-25-telescoping", source="002, proof of Lemma 25: the largest weight is taken out of the sum",
    quote=r"Thus by telescope summation and simply removing the negative term",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\sum_{t=1}^T a_t (D_t - D_{t+1}) \le \max_t a_t \, (D_1 - D_{T+1})",
    words="the largest of the weights max(1, |g_t|/C) can be taken out of the telescoping sum",
    hypotheses=(non_negative("distance", "a squared distance to W*"),),
    says=(lambda top, first, last, most: top * (first - last), False), check=judge_sum, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sum_{t=1}^T a_t (D_t - D_{t+1}) \le a_T (\max_t D_t - D_{T+1}) \text{ for } a_1 \le \dots \le a_T",
        words="if the weights never fall, the sum is at most the last weight times (largest distance - last distance)",
        says=(lambda top, first, last, most: top * (most - last), True), expected="HOLDS PROVED",
        flips=(Flip("weights in any order", (lambda top, first, last, most: top * (most - last), False),
                    Verdict.REFUTED),),
        true_variants={"*1 % more": "a larger bound", "*- -> +*": "a larger bound: D >= 0",
                       "any distance": "only differences of distances enter"},
    ),
)
doubled = Claim(
    id="nonconvex-nn/lem-25-doubling", source="002, proof of Lemma 25, the fourth inequality: 1/(2 eta) becomes 1/eta",
    quote=r"\left\{ \frac{3\eta C^2}{2} + \frac{1}{\eta} [\|\mathbf{W}^{(t)} - \mathbf{W}^*\|_F^2 \right.",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"\frac{1}{2\eta} D \le \frac{1}{\eta} D",
    words="the bracket of squared distances may be doubled, whatever its sign",
    hypotheses=(real("difference"), positive("eta")), says=lambda d, eta: d / eta, check=judge_factor,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{1}{2\eta} D \text{ kept, as } \frac{LR^2}{2\eta m} \text{ has it}",
        words="the bracket keeps its factor 1/(2 eta)", says=lambda d, eta: d / (2 * eta), expected="HOLDS PROVED",
    ),
)
first_step = Claim(
    id="nonconvex-nn/lem-25-path", source="002, proof of Lemma 25: a step moves by at most eta |gradient + noise|",
    quote=r"The second inequality could be seen from the update rule.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\|\Pi_{\mathcal W}(W - u) - W\| \le \|u\|",
    words="a projected step moves the weights by at most its length, at the start, too, which is not in B(0, R)",
    hypotheses=(positive("radius"), unit_interval("start", "how far from 0, of 3R or of R"), real("step")),
    says=lambda share, r: 3 * share * r, check=judge_path, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\|\Pi_{\mathcal W}(W - u) - W\| \le \|u\| \text{ for } W \in \mathcal W",
        words="a projected step from inside the set moves the weights by at most its length",
        says=lambda share, r: share * r, expected="HOLDS ARGUED",
        true_variants={"sign": "the set is symmetric", "1 % less": "the ball is convex"},
    ),
)
largest = Claim(
    id="nonconvex-nn/lem-25-factor", source="002, proof of Lemma 25: 'The third inequality holds because'",
    quote=r"The third inequality holds because $C \leq \max_{t \in [T]} \|\mathbf{g}_t(\mathbf{x}_t)\|_F = "
          r"O(SL\sqrt{m})$.",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\max(1, \|g_t\|/C) \le \frac{SL\sqrt m}{C} \text{ for } C, \|g_t\| \le SL\sqrt m",
    words="the factor of clipping is at most S L sqrt(m)/C, hidden constants 1",
    hypotheses=(positive("top", "S L sqrt(m)"), positive("clip_share", "C over it").at_most(1),
                unit_interval("gradient_share", "|g_t| over it")),
    says=lambda top, clip: top / clip, check=judge_largest,
    flips=(Flip("without the 1", lambda top, clip: top / clip - 1, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound", "squared": "a larger bound: the factor is at least 1"},
    expected="HOLDS PROVED",
)
unclipped = Claim(
    id="nonconvex-nn/lem-25-clipped", source="002, proof of Lemma 25, the second equality: eta^2 C^2 for eta^2 "
                                             "|g~_t|^2",
    quote=r"&= \frac{1}{2\eta} \max(1, \frac{\|\mathbf{g}_t(x_t)\|_F}{C}) (\eta^2 C^2 + \|\mathbf{W}^{(t)} - "
          r"\mathbf{W}^*\|_F^2",
    whose=Whose.PRINTED, severity=Stake.EDITORIAL, statement=r"\nabla L_t = \max(1, \|g_t\|/C)\, \tilde g_t,\ "
                                                             r"\|\tilde g_t\| = C",
    words="the clipped gradient times max(1, |g|/C) is the gradient, and its length is C",
    hypotheses=(real("gradient"), positive("clip")),
    says=(lambda g, clip: abs(g) / clip if abs(g) > clip else 1, True), check=judge_clipped, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\nabla L_t = \max(1, \|g_t\|/C)\, \tilde g_t,\ \|\tilde g_t\| \le C",
        words="the clipped gradient times max(1, |g|/C) is the gradient; its length is at most C, so that = must be <=",
        says=(lambda g, clip: abs(g) / clip if abs(g) > clip else 1, False), expected="HOLDS PROVED",
        flips=(Flip("min for max", (lambda g, clip: abs(g) / clip if abs(g) < clip else 1, False), Verdict.REFUTED),),
    ),
)
