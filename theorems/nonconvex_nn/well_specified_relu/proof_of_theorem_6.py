r"""The steps of the proof of Theorem 6 of document 002.

Stability. Two runs of projected descent on neighbouring data and with the same noise: for eta <= 1/2 a step on a
common, 4-smooth and convex loss of one record does not move them apart (its slope along z is in [0, 4]), nor does the
mean of such steps, nor the projection; the replaced record moves them apart by at most eta 2 Lip/n a step. So |w_t -
w_t'| <= 2 Lip eta t/n, and the generalisation error is at most Lip times that.

Decomposition. L'(w) - L(w*) = [L'(w) - l(Phi w*)] + [l(Phi w*) - L(w*)]. The second line of the display has min L' for
l(Phi w*) in the first bracket and L'(w_{T+1}) for it in the second. As w_{T+1} is in the ball over which the minimum is
taken, the second line is at least the first: a true inequality. But its second bracket is not what is bounded next,
l(Phi w*) - L(w*), nor an upper bound of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.leading_points import led
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

_ETA = Parameter("eta", low=Fraction(0), high=Fraction(1, 2), low_open=True)


def run(records: list[tuple[Fraction, Fraction]], eta: Fraction, radius: Fraction, steps: int) -> list[Fraction]:
    """Projected descent on a line without noise, from 0: what common noise would cancel in a difference."""
    w, seen = Fraction(0), []
    for _ in range(steps):
        slope = sum(((max(Fraction(0), w * z) - y) * z for z, y in records), Fraction(0)) / len(records)
        w = Fraction(round(max(-radius, min(radius, w - eta * slope)) * 2**60), 2**60)
        seen.append(w)
    return seen


def judge_stability(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether two runs on neighbours stay within says(Lip, eta, t, n); |z| <= 2, |w| <= 2W, eta <= 1/2."""
    tried = 0
    for point in led(given, at_most=30, most={"n": 6}, W="1", B="1", eta="1/10", n=2):
        w, b, eta, n = point["W"], point["B"], point["eta"], point["n"]
        limit = 2 * (4 * w + b)
        common = [(Fraction((-1) ** k), b / (k + 2)) for k in range(n - 1)]
        pairs = (((Fraction(2), b), (Fraction(-2), b)), ((Fraction(2), b), (Fraction(2), -b)))
        for one, other in pairs:
            first, second = (run([*common, record], eta, 2 * w, 4) for record in (one, other))
            for t, (a, c) in enumerate(zip(first, second, strict=True), 1):
                tried += 1
                if abs(a - c) > says(limit, eta, t, n) + Fraction(1, 2**50):
                    return refuted("two runs come further apart", {
                        "W": w, "B": b, "eta": eta, "n": n, "t": t, "record": f"{one[0]}, {one[1]}",
                        "replaced by": f"{other[0]}, {other[1]}", "others": "; ".join(f"{z}, {y}" for z, y in common),
                        "distance": abs(a - c), "claimed": says(limit, eta, t, n)})
    limit_, eta_, t_, n_ = sympy.symbols("L eta t n", positive=True)
    s = sympy.symbols("s", nonnegative=True)
    top = given["eta"].high
    return proof(
        computed("eta <= 1/2: (1 - 4 eta/(1+s))^2 <= 1, so that a common step does not move them apart",
                 top is not None and top <= Fraction(1, 2) and never_negative(
                     1 - (1 - 4 * sympy.Rational(1, 2) / (1 + s)) ** 2)),
        computed("one step more adds 2 Lip eta/n", vanishes(
            says(limit_, eta_, t_ + 1, n_) - says(limit_, eta_, t_, n_) - 2 * limit_ * eta_ / n_,
            says(limit_, eta_, sympy.Integer(0), n_))),
        argued("a mean of such steps and a projection onto a ball do not move them apart either"),
        tried=tried,
    )


def judge_constants(says: tuple[Callable[[Any, Any], Any], int], given: Domain) -> Finding:
    """Whether says = (Lipschitz constant of W and B, smoothness) is that of l(.; z, y) on |w| <= 2W, |z| <= 2."""
    steep, smooth = says
    tried = 0
    for point in given.points("W", "B", at_most=60):
        w, b = point["W"], point["B"]
        longest, tried = (2 * 2 * w + b) * 2, tried + 1
        if steep(w, b) != longest or smooth != 4:
            return refuted("other constants", {"W": w, "B": b, "longest gradient": longest, "largest curvature": 4,
                                               "claimed": f"{steep(w, b)} and {smooth}"})
    w_, b_ = given.symbol("W"), given.symbol("B")
    s, t = sympy.symbols("s t", nonnegative=True)
    return proof(
        computed("(|w| |z| + B) |z| is largest at |w| = 2W, |z| = 2, and attained at z = 2 w/|w|, y = -B",
                 vanishes(steep(w_, b_) - (2 * w_ * 2 + b_) * 2) and never_negative(
                     steep(w_, b_) - (2 * w_ / (1 + s) * 2 / (1 + t) + b_) * 2 / (1 + t))),
        computed("the curvature is |z|^2 = 4 where the score is positive", smooth == 2**2),
        tried=tried,
    )


def losses(stretch: Fraction, target: Fraction, found: Fraction) -> dict[str, Fraction]:
    """One record x = 1, y = w* = target, Phi = stretch: the surrogate losses, all scores being positive."""
    def loss(score: Fraction) -> Fraction:
        return score**2 / 2 - target * score

    return {"release": loss(stretch * found), "of Phi w*": loss(stretch**2 * target), "of w*": loss(target),
            "least": loss(min(target, stretch * 2 * target))}


def judge_split(says: Callable[[Any, Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether L'(w) - L(w*) <= says(L'(w), l(Phi w*), L(w*), min L', L'(w_{T+1})); w and w_{T+1} in the ball 2W."""
    tried = 0
    for point in led(given, at_most=80, stretch="1/2", target="1", one="1", other="1"):
        target, stretch = point["target"], point["stretch"]
        a, c = (losses(stretch, target, 2 * target * point[name]) for name in ("one", "other"))
        told = says(a["release"], a["of Phi w*"], a["of w*"], a["least"], c["release"])
        tried += 1
        if a["release"] - a["of w*"] > told:
            return refuted("the left side is larger", {
                "Phi": stretch, "w*": target, "w": 2 * target * point["one"], "w_{T+1}": 2 * target * point["other"],
                "left": a["release"] - a["of w*"], "right": told})
    release, comparator, best, more = sympy.symbols("a c b m", real=True)
    slack = sympy.symbols("s", nonnegative=True)
    room = sympy.expand(says(release, comparator, best, more, more + slack) - (release - best))
    return proof(computed("min L' <= L'(w_{T+1}): the right side is the left one plus what is never negative",
                          never_negative(room)), tried=tried)


def judge_bracket(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether l(Phi w*) - L(w*) <= says(l(Phi w*), L'(w_{T+1})) - L(w*): what is bounded next is what stands there."""
    tried = 0
    for point in led(given, at_most=80, stretch="1/2", target="1", other="1"):
        target, stretch = point["target"], point["stretch"]
        c = losses(stretch, target, 2 * target * point["other"])
        tried += 1
        if c["of Phi w*"] > says(c["of Phi w*"], c["release"]):
            return refuted("the last iterate is better than Phi w*", {
                "Phi": stretch, "w*": target, "w_{T+1}": 2 * target * point["other"],
                "l(Phi w*) - L(w*)": c["of Phi w*"] - c["of w*"], "L'(w_{T+1}) - L(w*)": c["release"] - c["of w*"]})
    comparator, release = sympy.symbols("c r", real=True)
    return proof(computed("it is the loss of Phi w*", vanishes(says(comparator, release) - comparator)), tried=tried)


def judge_moment(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether E(<Phi w, Phi x> - <w, x>)^2/2 <= 10 says(W)/m for x = w/W: it is W^2/m, from E chi^2_m = m, Var = 2m."""
    tried = 0
    for w in given.values("W"):
        tried += 1
        if w**2 > 10 * says(w):
            return refuted("no constant makes up for a power of W", {
                "W": w, "x": "w/W", "m times the mean": w**2, "10 times claimed": 10 * says(w)})
    w_, m = given.symbol("W"), sympy.symbols("m", positive=True)
    return proof(
        computed("<Phi w, Phi x> = W chi^2_m/m has the variance 2 W^2/m",
                 vanishes(w_**2 * 2 * m / m**2 - 2 * w_**2 / m)),
        computed("half of it is at most ten times what is claimed", never_negative(10 * says(w_) - w_**2)),
        argued("for other x it is (|w|^2 |x|^2 + <w, x>^2)/m, which is no larger"),
        tried=tried,
    )


def judge_regret(says: int, given: Domain) -> Finding:
    """Whether eta Lip^2/2 <= says eta (4W + B)^2 with Lip = 2 (4W + B): the recursion summed and divided by 2 eta T."""
    tried = 0
    for size in given.values("size"):
        tried += 1
        if Fraction((2 * size) ** 2, 2) > says * size**2:
            return refuted("the recursion gives more", {"4W + B": size, "Lip^2/2": (2 * size) ** 2 / 2,
                                                        "claimed": says * size**2})
    size_ = given.symbol("size")
    return proof(computed("2 (4W + B)^2 is at most what is claimed",
                          never_negative(says * size_**2 - (2 * size_) ** 2 / 2)),
                 argued("the mixed terms telescope, and the noise has mean 0 given the past"), tried=tried)


def judge_half(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether says(W/(W+B), sqrt(T)) <= 1/2."""
    tried = 0
    for point in led(given, at_most=80, share="3/4", root=1):
        share, root = point["share"], point["root"]
        tried += 1
        if says(share, root) > Fraction(1, 2):
            return refuted("the step is longer", {"W": 3 * share, "B": 3 * (1 - share), "T": root**2,
                                                  "eta": says(share, root)})
    root_, s = given.chart("root"), sympy.symbols("s", positive=True)
    return proof(computed("W/(W+B) = 1/(1+s) < 1: at most 1/sqrt(T) <= 1/2", never_negative(
        sympy.Rational(1, 2) - says(1 / (1 + s), root_))), tried=tried)


_SPLIT = (
    r"\leq [L_{\mathcal{P}'}^\ell(\tilde{w}) - \min_{w \in \tilde{W}} L_{\mathcal{P}'}^\ell(w)] + "
    r"[L_{\mathcal{P}'}^\ell(\tilde{w}_{T+1}) - L_{\mathcal{P}}^\ell(w^*)]."
)
_UNIT = Parameter("share", low=Fraction(0), high=Fraction(1), low_open=True, high_open=True)
_STRETCH = Parameter("stretch", low=Fraction(0), high=Fraction(2), low_open=True)
_PLACES = tuple(Parameter(name, low=Fraction(0), high=Fraction(1)) for name in ("one", "other"))

stability = Claim(
    id="nonconvex-nn/thm-6-stability", source="002, proof of Theorem 6: the stability of projected descent",
    quote=r"The first term, which is the generalization error is bounded by Lipschitz times the stability i.e., $O((W "
          r"+ "
          r"B)^2 \frac{\eta T}{n})$.", whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\lVert \tilde w_t - \tilde w_t' \rVert \le \frac{2\,\mathrm{Lip}\,\eta t}{n},\ \mathrm{Lip} = 2(4W+B),"
              r"\ \eta \le \tfrac12",
    words="two runs on neighbouring data and with the same noise stay within 2 Lip eta t/n of each other, eta <= 1/2",
    hypotheses=(positive("W"), positive("B"), _ETA, positive_integer("n")),
    says=lambda limit, eta, t, n: 2 * limit * eta * t / n, check=judge_stability,
    flips=(Flip("a twentieth of it", lambda limit, eta, t, n: limit * eta * t / (10 * n), Verdict.REFUTED),),
    rests_on=("nonconvex-nn/thm-6-sensitivity",), expected="HOLDS ARGUED",
)
constants = Claim(
    id="nonconvex-nn/thm-6-smooth", source="002, proof of Theorem 6: Lipschitz and smooth on the event",
    quote=r"Since $\ell(w; \Phi x_i, y_i)$ is a $2(4W + B)$ -Lipschitz and 4-smooth function", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"\mathrm{Lip} = 2(4W+B),\ \lVert \nabla^2 \ell \rVert \le 4",
    words="for |Phi x| <= 2 and |w| <= 2W the surrogate is 2 (4W + B)-Lipschitz and 4-smooth, and no less",
    hypotheses=(positive("W"), positive("B")), says=(lambda w, b: 2 * (4 * w + b), 4), check=judge_constants,
    flips=(Flip("W + B", (lambda w, b: w + b, 4), Verdict.REFUTED),), expected="HOLDS PROVED",
)
split = Claim(
    id="nonconvex-nn/thm-6-decomposition", source="002, proof of Theorem 6, first display, its second line",
    quote=_SPLIT, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"L'(\tilde w) - L(w^*) \le [L'(\tilde w) - \min L'] + [L'(\tilde w_{T+1}) - L(w^*)]",
    words="the second line of the decomposition is an upper bound: the minimum is at most the loss of w_{T+1}",
    hypotheses=(_STRETCH, positive("target"), *_PLACES),
    says=lambda release, comparator, best, least, last: release - least + last - best, check=judge_split,
    flips=(Flip("without the last loss", lambda release, comparator, best, least, last: release - best - last * last
                - 1, Verdict.REFUTED),),
    true_variants={"any *": "the minimum is over the same set"},
    expected="HOLDS PROVED",
)
bracket = Claim(
    id="nonconvex-nn/thm-6-decomposition-second", source="002, proof of Theorem 6, first display: its second bracket",
    quote=_SPLIT, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\ell(\Phi w^*) - L(w^*) \le L'(\tilde w_{T+1}) - L(w^*)",
    words="the second bracket of the decomposition bounds the loss of Phi w*, which the proof goes on to bound",
    hypotheses=(_STRETCH, positive("target"), _PLACES[1]), says=lambda comparator, last: last, check=judge_bracket,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"[L'(\tilde w) - \ell(\Phi w^*)] + [\ell(\Phi w^*) - L(w^*)]",
        words="the second bracket with the loss of Phi w* is what the proof goes on to bound",
        says=lambda comparator, last: comparator, expected="HOLDS PROVED",
        true_variants={"any *": "one expression for all numbers"},
    ),
)
moment = Claim(
    id="nonconvex-nn/thm-6-jl-term", source="002, proof of Theorem 6: what the projection costs, W explicit",
    quote=r"\leq O(W\alpha^2) = O\left(\frac{W \log n / \delta}{m}\right).", whose=Whose.READING, severity=Stake.PROOF,
    statement=r"\tfrac12 \mathbb{E}|\langle \Phi w^*, \Phi x\rangle - \langle w^*, x\rangle|^2 = O(W/m)",
    words="the projection costs O(W/m), with W as a variable", hypotheses=(positive("W"),), says=lambda w: w,
    check=judge_moment, expected="REFUTED PROVED",
    repair=Repair(statement=r"\tfrac12 \mathbb{E}|\cdot|^2 \le W^2/m", words="the projection costs at most W^2/m",
                  says=lambda w: w**2, expected="HOLDS ARGUED", true_variants={"1 % *": "ten times it is allowed",
                                                                               "any W": "only its square enters"}),
)
regret = Claim(
    id="nonconvex-nn/thm-6-regret", source="002, proof of Theorem 6: the excess empirical risk",
    quote=r"\leq \frac{\mathbb{E}\|\tilde{w}_1 - \tilde{w}^*\|_2^2}{2\eta T} + 4\eta(4W + B)^2", whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"\frac{\eta}{2} (2(4W+B))^2 \le 4\eta(4W+B)^2",
    words="the gradients cost at most 4 eta (4W + B)^2 in the empirical risk (in fact 2 eta (4W + B)^2)",
    hypotheses=(positive("size", "4W + B"),), says=4, check=judge_regret, flips=(Flip("1", 1, Verdict.REFUTED),),
    true_variants={"one more": "larger", "any size": "only its square enters"}, expected="HOLDS ARGUED",
)
half = Claim(
    id="nonconvex-nn/thm-6-eta", source="002, proof of Theorem 6: W/((W+B) sqrt(T)) <= 1/2",
    quote=r"\leq \frac{W}{(W+B)\sqrt{T}} \leq \frac{1}{2}", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\frac{W}{(W+B)\sqrt T} \le \frac12", words="the step of the proof is at most 1/2 for every T",
    hypotheses=(_UNIT, Parameter("root", low=Fraction(1))), says=lambda share, root: share / root, check=judge_half,
    flips=(Flip("half of it", lambda share, root: share / (2 * root), Verdict.HOLDS),), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{W}{(W+B)\sqrt T} \le \frac12,\ T \ge 4",
        words="the step of the proof is at most 1/2 for T >= 4",
        hypotheses=(_UNIT, Parameter("root", low=Fraction(2))), says=lambda share, root: share / root, check=judge_half,
        expected="HOLDS PROVED", flips=(Flip("its double", lambda share, root: 2 * share / root, Verdict.REFUTED),),
        true_variants={"sign": "smaller", "1 % less": "smaller", "squared": "smaller, as it is below 1"},
    ),
)
