r"""Appendix G of document 000: the reformulation of a ReLU problem with fourth powers, Theorem G.1.

The ReLU is positively homogeneous, so u_j -> g u_j, alpha_j -> alpha_j / g leaves the data term of (G.1) as it is. The
regulariser is not invariant: with s = |u_j| and t = |alpha_j| it is (s^4 + t^4)/2 = s^2 t^2 + (s^2 - t^2)^2 / 2, which
over the scalings is least, s^2 t^2, where s = t, that is for g = sqrt(t/s). (If s t = 0 the neuron does nothing, and
s = t = 0 is best.) So the minimum of (G.1) is that of the data term plus lambda sum s^2 t^2. On the other side, under
|u_j| <= 1 the regulariser lambda sum t^2 is at least lambda sum s^2 t^2, and equal to it for s = 1, which scaling
reaches: the minima agree, for every X, y and m. The printed constraint is garbled ("alpha_j <= 1", and |u_j| with no
bound): without a bound on |u_j| scaling makes the regulariser as small as one likes.

One neuron, x = 1: with z = u alpha the minimum of (z - y)^2/2 + lambda (z / cap)^2 over the feasible z.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, real
from oracle.core.errors import DomainError
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Caps = tuple[Fraction | None, Fraction | None]
"""Bounds on |u_j| and on alpha_j; None is no bound."""


def one_neuron(caps: Caps, y: Fraction, lam: Fraction) -> Fraction:
    """The infimum of the constrained problem for n = d = m = 1, x = 1 and y > 0, in exact rationals."""
    longest, largest = caps
    if longest is not None and longest < 0:
        raise DomainError(f"|u| <= {longest} allows nothing")
    weight = lam / longest**2 if longest is not None else Fraction(0)  # alpha >= z / cap, or as small as one likes
    z = y / (1 + 2 * weight)
    if longest is not None and largest is not None:
        z = min(z, longest * largest)
    return (z - y) ** 2 / 2 + weight * z**2


def fourth_powers(y: Fraction, lam: Fraction) -> Fraction:
    """The minimum of (G.1) for n = d = m = 1: u = alpha = sqrt z, and lambda z^2 is the regulariser."""
    z = y / (1 + 2 * lam)
    return (z - y) ** 2 / 2 + lam * z**2


def judge_minima(caps: Caps, given: Domain) -> Finding:
    """Whether (G.1) and the problem with these bounds have equal minima."""
    longest, largest = caps
    points = [(lam, y) for lam in given.values("lam") for y in (Fraction(1), Fraction(5), Fraction(50))]
    for lam, y in points:
        left, right = fourth_powers(y, lam), one_neuron(caps, y, lam)
        if left != right:
            return refuted("the minima differ, exactly", {
                "n = d = m": 1, "x": 1, "y": y, "lambda": lam, "bound on |u|": longest, "bound on alpha": largest,
                "minimum of (G.1)": left, "infimum of the other": right})
    s, t, z = sympy.symbols("s t z", positive=True)
    lam_ = given.symbol("lam", "lambda")
    other = lam_ * (z / s) ** 2  # the other regulariser at |u| = s and |u| |alpha| = z
    cap = None if longest is None else sympy.Rational(longest.numerator, longest.denominator)
    return proof(
        computed("(s^4 + t^4)/2 = s^2 t^2 + (s^2 - t^2)^2/2: least, lambda (s t)^2, where s = t",
                 sympy.expand((s**4 + t**4) / 2 - s**2 * t**2 - (s**2 - t**2) ** 2 / 2) == 0),
        computed("the scaling g = sqrt(t/s) makes them equal",
                 sympy.simplify((s * sympy.sqrt(t / s)) ** 2 - (t / sympy.sqrt(t / s)) ** 2) == 0),
        computed("the other regulariser falls with |u|, so it is least at the bound, and there it is lambda (s t)^2",
                 sympy.diff(other, s).is_negative and cap is not None
                 and sympy.simplify(other.subs(s, cap) - lam_ * z**2) == 0),
        computed("alpha has no bound, so the bound of |u| is reached by scaling", largest is None),
        argued("the data term does not feel the scaling (thm-G.1-proof-repaired), so both problems are data term plus "
               "lambda sum |u_j|^2 alpha_j^2; a neuron with |u| |alpha| = 0 is best at 0"),
        tried=len(points),
    )


Regulariser = Callable[[Any, Any], Any]
"""(|u|, alpha) -> a neuron's share of the regulariser."""


def judge_invariance(regulariser: Regulariser, given: Domain) -> Finding:
    """Whether u -> g u, alpha -> alpha / g leaves data term and regulariser unchanged for every g > 0."""
    for g, u, alpha in itertools.product((Fraction(2), *given.values("gamma")), (1, 2), (1, -1, 3)):
        before, after = regulariser(Fraction(u), Fraction(alpha)), regulariser(abs(g * u), alpha / g)
        if before != after:
            return refuted("the regulariser changes, exactly; the data term does not",
                           {"u": u, "alpha": alpha, "gamma": g, "before": before, "after": after})
    s, z = sympy.symbols("s z", positive=True)
    t, g_ = sympy.symbols("t", real=True), given.symbol("gamma", "g")
    outputs = [sympy.Max(0, g_ * product) * t / g_ - sympy.Max(0, product) * t for product in (z, -z, 0 * z)]
    return proof(
        computed("max(0, g z) alpha/g = max(0, z) alpha for z > 0, z < 0 and z = 0, as g > 0: so the data term stays",
                 all(sympy.simplify(output) == 0 for output in outputs)),
        computed("the regulariser is unchanged for every |u|, alpha and g",
                 sympy.simplify(regulariser(g_ * s, t / g_) - regulariser(s, t)) == 0),
    )


def judge_balance(squared: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the scaling with gamma^2 = squared(|u|, alpha) is real and makes |u| gamma equal to |alpha| / gamma."""
    for point in given.points("size", "magnitude"):
        s = point["size"]
        for alpha in (point["magnitude"], -point["magnitude"]):
            gamma = squared(s, alpha)
            if gamma <= 0 or s**2 * gamma != alpha**2 / gamma:
                return refuted("no real scaling, or no equality in Young's inequality",
                               {"|u|": s, "alpha": alpha, "gamma^2": gamma})
    s_, magnitude = given.symbol("size", "s"), given.symbol("magnitude", "m")
    return proof(
        computed("gamma^2 is positive for either sign of alpha",
                 all(sympy.simplify(squared(s_, sign * magnitude)).is_positive for sign in (1, -1))),
        computed("|u|^2 gamma^4 = alpha^2 for either sign of alpha",
                 all(sympy.simplify(s_**2 * squared(s_, sign * magnitude) ** 2 - magnitude**2) == 0
                     for sign in (1, -1))),
    )


Young = Callable[[Any, Any, Any, Any], Any]


def judge_young(gap: Young, given: Domain) -> Finding:
    """Whether |x|^2 + |y|^2 - 2 <a, b>, a coordinate's share of which is gap(x, y, a, b), is never negative."""
    for point in given.points("x", "y"):
        for a, b in ((point["x"], point["y"]), (Fraction(1), Fraction(1))):
            if gap(point["x"], point["y"], a, b) < 0:
                return refuted("the right side is larger, exactly",
                               {**point, "a": a, "b": b, "left - right": gap(point["x"], point["y"], a, b)})
    x, y, a_, b_ = sympy.symbols("x y a b", real=True)
    form = sympy.sympify(gap(x, y, a_, b_))
    return proof(
        computed("a coordinate's share is the square (x - y)^2, whatever a and b",
                 sympy.expand(form - (x - y) ** 2) == 0),
        computed("a square is not negative", sympy.factor(form).is_nonnegative),
    )


def judge_minimiser(power: int, given: Domain) -> Finding:
    """Whether at a minimiser of (G.1), with that power in place of the fourth, |u_j| = |alpha_j| for every neuron.

    Along the scaling u -> g u, alpha -> alpha / g, which the data term does not feel, the regulariser is g^p s^p +
    t^p / g^p.
    """
    s, t, g = given.symbol("size", "s"), given.symbol("magnitude", "t"), sympy.symbols("g", positive=True)
    cost = (g * s) ** power + (t / g) ** power
    slope = sympy.expand(sympy.diff(cost, g).subs(g, 1))
    for point in given.points("size", "magnitude"):
        value = slope.subs({s: point["size"], t: point["magnitude"]})
        if (value == 0) != (point["size"] == point["magnitude"]):
            return refuted("the regulariser stands still along the scaling where the two differ, or moves where not",
                           {**point, "power": power, "slope": value})
    return proof(
        computed("at g = 1 the regulariser's slope is a multiple of s^4 - t^4, which vanishes only at s = t",
                 sympy.expand(slope - power * (s**4 - t**4)) == 0 and sympy.factor(
                     (s**4 - t**4) / (s - t)).expand().is_positive),
        argued("a minimiser's regulariser stands still; a neuron with |u| |alpha| = 0 is best at 0"),
    )


def judge_equivalent(regulariser: Regulariser, given: Domain) -> Finding:
    """Whether a neuron's share of the regulariser of (G.1), at its least over the scalings, is regulariser(|u|, alpha).

    At gamma^2 = t/s the square is s^2 t^2, exactly; as (s^4 + t^4)/2 is nowhere less, it is the least.
    """
    points = list(given.points("size", "magnitude"))
    for point in points:
        s, t = point["size"], point["magnitude"]
        least = ((s * s * t / s) ** 2 + (t * t * s / t) ** 2) / 2  # (s g)^4 and (t/g)^4 at g^2 = t/s
        if regulariser(s, t) != least:
            return refuted("another least value", {**point, "least": least, "claimed": regulariser(s, t)})
    s_, t_, g = given.symbol("size", "s"), given.symbol("magnitude", "t"), sympy.symbols("g", positive=True)
    scaled = ((s_ * g) ** 4 + (t_ / g) ** 4) / 2
    return proof(
        computed("((s g)^4 + (t/g)^4)/2 is the claimed value plus half the square of (s g)^2 - (t/g)^2",
                 sympy.expand(scaled - regulariser(s_, t_) - ((s_ * g) ** 2 - (t_ / g) ** 2) ** 2 / 2) == 0),
        computed("which is 0 at g^2 = t/s",
                 sympy.simplify(scaled.subs(g, sympy.sqrt(t_ / s_)) - regulariser(s_, t_)) == 0),
        argued("the data term does not feel the scaling (thm-G.1-proof-repaired), so both problems have one minimum; a "
               "neuron with |u| |alpha| = 0 is best at 0 in both"),
        tried=len(points),
    )


def judge_wide(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the minimum of (G.1) for x = y = 1 and m neurons is says(m, lambda).

    z = sum z_j, z_j = u_j alpha_j, costs (z - 1)^2/2 + lambda sum z_j^2, least for equal z_j: lambda z^2 / m.
    """
    points = sorted(given.points("m", "lam"), key=lambda point: abs(point["lam"] - 1))
    for point in points:
        m, lam = point["m"], point["lam"]
        z = 1 / (1 + 2 * lam / m)
        true = (z - 1) ** 2 / 2 + lam * z**2 / m
        if says(m, lam) != true:
            return refuted("the minimum moves with the width, exactly", {
                **point, "x": 1, "y": 1, "claimed": says(m, lam), "minimum": true})
    m_, lam_, (z_, w, v, s) = given.symbol("m"), given.symbol("lam"), sympy.symbols("z w v s", positive=True)
    cost = (z_ - 1) ** 2 / 2 + lam_ * z_**2 / m_
    best = 1 / (1 + 2 * lam_ / m_)
    copies = sympy.symbols("N", positive=True, integer=True)
    return proof(
        computed("(s^4 + t^4)/2 >= s^2 t^2, equal for s = t: a neuron of z_j costs lambda z_j^2",
                 sympy.expand((s**4 + v**4) / 2 - s**2 * v**2 - (s**2 - v**2) ** 2 / 2) == 0),
        computed("m numbers of sum z have squares of sum z^2/m or more, equal ones exactly that: by induction",
                 sympy.factor(w**2 / m_ + (z_ - w) ** 2 - z_**2 / (m_ + 1)
                              - ((m_ + 1) * w - m_ * z_) ** 2 / (m_ * (m_ + 1))) == 0),
        computed("the cost is convex in z and its slope is 0 at the minimum claimed",
                 sympy.simplify(sympy.diff(cost, z_).subs(z_, best)) == 0 and sympy.diff(cost, z_, 2).is_positive
                 and sympy.simplify(cost.subs(z_, best) - says(m_, lam_)) == 0),
        computed("it falls with m", sympy.factor(-sympy.diff(says(m_, lam_), m_)).is_positive),
        computed("of any data: N copies of a neuron, each over sqrt N, predict the same and cost 1/N in fourth powers, "
                 "but as much as before in squares, those of (3.2)",
                 sympy.simplify(copies * (s / sympy.sqrt(copies)) ** 4 - s**4 / copies) == 0
                 and sympy.simplify(copies * (s / sympy.sqrt(copies)) ** 2 - s**2) == 0),
        tried=len(points),
    )


_QUOTE = r"\min_{\{u_j,\alpha_j \le 1\}_{j=1}^m, \|u_j\|_{\sigma} \forall j \in [m]}"
_FOURTH = r"\min \tfrac12\|\cdot\|^2 + \tfrac\lambda2 \sum_j \|u_j\|^4 + \alpha_j^4 ="
_READ = "relu-approx/thm-G.1-reading-letters"
_MEANT = "relu-approx/thm-G.1-repaired"

theorem_g_1 = Claim(
    id="relu-approx/thm-G.1",
    source="000, Theorem G.1, whose constraint is destroyed in the text (alpha_j <= 1, |u_j|_sigma without a bound)",
    quote=_QUOTE,
    whose=Whose.TYPO,
    statement=_FOURTH + r" \min_{?} \tfrac12\|\cdot\|^2 + \lambda \sum_j \alpha_j^2",
    words="problem (G.1) and the problem with lambda sum alpha_j^2 under the printed constraint have equal minima",
    hypotheses=(positive("lam"),), says=None, check=None, readings=(_READ, _MEANT),
    uses=("relu-approx/thm-G.1-proof", "relu-approx/thm-G.1-gamma"),
    expected="AMBIGUOUS ARGUED",
)

letters = Claim(
    id=_READ,
    source="000, Theorem G.1, its constraint read letter by letter: alpha_j <= 1, and no bound on |u_j|",
    quote=_QUOTE,
    whose=Whose.READING,
    statement=_FOURTH + r" \min_{\alpha_j \le 1} \tfrac12\|\cdot\|^2 + \lambda \sum_j \alpha_j^2",
    words="problem (G.1) and the problem with lambda sum alpha_j^2 under alpha_j <= 1 have equal minima",
    hypotheses=(positive("lam"),),
    says=(None, Fraction(1)),
    check=judge_minima,
    flips=(
        Flip("both bounds", (Fraction(1), Fraction(1)), Verdict.REFUTED),
        Flip("|u_j| <= 1", (Fraction(1), None), Verdict.HOLDS),
    ),
    repaired_by=_MEANT,
    expected="REFUTED PROVED",
)

meant = Claim(
    id=_MEANT,
    source="000, Theorem G.1 with |u_j| <= 1, which is evidently meant",
    quote=_QUOTE,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=_FOURTH + r" \min_{\|u_j\|_2 \le 1} \tfrac12\|\cdot\|^2 + \lambda \sum_j \alpha_j^2",
    words="problem (G.1) and the problem with lambda sum alpha_j^2 under |u_j| <= 1 have equal minima",
    hypotheses=(positive("lam"),),
    says=(Fraction(1), None),
    check=judge_minima,
    flips=(
        Flip("|u_j| <= 2", (Fraction(2), None), Verdict.REFUTED),
        Flip("alpha_j <= 1 as well", (Fraction(1), Fraction(1)), Verdict.REFUTED),
        Flip("letter by letter", (None, Fraction(1)), Verdict.REFUTED),
    ),
    rests_on=("relu-approx/thm-G.1-proof-repaired",),
    expected="HOLDS ARGUED",
)

invariance = Claim(
    id="relu-approx/thm-G.1-proof",
    source="000, proof of Theorem G.1: problem (G.1) is scaling invariant",
    quote="We see that the problem (G.1) is scaling invariant",
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\|\gamma u\|^4 + (\alpha/\gamma)^4 = \|u\|^4 + \alpha^4",
    words="problem (G.1) does not change under u_j -> u_j gamma_j, alpha_j -> alpha_j / gamma_j",
    hypotheses=(positive("gamma"),),
    says=lambda s, t: (s**4 + t**4) / 2,
    check=judge_invariance,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\|\gamma u\|^2 (\alpha/\gamma)^2 = \|u\|^2 \alpha^2",
        words="the data term and the regulariser sum |u_j|^2 alpha_j^2 do not change under the scaling",
        says=lambda s, t: s**2 * t**2,
        expected="HOLDS PROVED",
        source="000, proof of Theorem G.1: the right side of (G.2) is scaling invariant",
        flips=(Flip("|u|^2 + alpha^2", lambda s, t: s**2 + t**2, Verdict.REFUTED),),
        true_variants=dict.fromkeys(("sign", "1 % *", "squared", "2 -> 3*"), "a function of |u| alpha is unchanged"),
    ),
)

young = Claim(
    id="relu-approx/young", source="000, proof of Theorem G.1: Young's inequality, with mixed letters",
    quote=r"From Young's inequality $\|x\|_2^2 + \|y\|_2^2 \ge 2\langle a,b\rangle$ it follows that",
    whose=Whose.TYPO,
    statement=r"\|x\|_2^2 + \|y\|_2^2 \ge 2\langle a,b\rangle",
    words="|x|^2 + |y|^2 is at least 2 <a, b> for all x, y, a and b",
    hypotheses=(real("x"), real("y")),
    says=lambda x, y, a, b: x * x + y * y - 2 * a * b,
    check=judge_young,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\|x\|_2^2 + \|y\|_2^2 \ge 2\langle x,y\rangle",
        words="|x|^2 + |y|^2 is at least 2 <x, y>, coordinate by coordinate",
        says=lambda x, y, a, b: x * x + y * y - 2 * x * y,
        expected="HOLDS PROVED",
        source="000, proof of Theorem G.1, with x and y on both sides",
    ),
)

minimiser = Claim(
    id="relu-approx/G.2", source="000, (G.2)",
    quote=(
        r"we must have for the global minimizer $\{u_j^*, \alpha_j^*\}_{j=1}^m$ of the ReLU minimization problem (G.1) "
        "that"
    ),
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\|u_j^*\|^4 + (\alpha_j^*)^4 = 2\|u_j^*\|^2 (\alpha_j^*)^2",
    words="at a minimiser of (G.1) |u_j| = |alpha_j| (because the regulariser stands still along the scaling, not "
          "because (G.1) were invariant)",
    hypotheses=(positive("size", "|u_j|"), positive("magnitude", "|alpha_j|")),
    says=4,
    check=judge_minimiser,
    flips=(Flip("the power 0, a regulariser that scaling does not move", 0, Verdict.REFUTED),),
    rests_on=("relu-approx/thm-G.1-proof-repaired",),
    expected="HOLDS ARGUED",
)

balance = Claim(
    id="relu-approx/thm-G.1-gamma",
    source="000, proof of Theorem G.1: gamma_i = sqrt(alpha_i / |u_i|) gives equality in Young's inequality",
    quote=r"\gamma_i = \sqrt{\frac{\alpha_i}{\|u_j\|_2}}$ gives an equality in Young's inequality.",
    whose=Whose.TYPO,
    severity=Stake.PROOF,
    statement=r"\gamma_i = \sqrt{\alpha_i / \|u_i\|}",
    words="the scaling sqrt(alpha_i / |u_i|) is real and balances |u_i| and alpha_i for every sign of alpha_i",
    hypotheses=(positive("size", "|u_i|"), positive("magnitude", "|alpha_i|; a neuron with 0 is set to 0")),
    says=lambda s, alpha: alpha / s,
    check=judge_balance,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\gamma_i = \sqrt{|\alpha_i| / \|u_i\|}",
        words="the scaling sqrt(|alpha_i| / |u_i|) balances |u_i| and |alpha_i|",
        says=lambda s, alpha: abs(alpha) / s,
        expected="HOLDS PROVED",
        source="000, proof of Theorem G.1 with |alpha_i|",
        flips=(Flip("without the root", lambda s, alpha: alpha**2 / s**2, Verdict.REFUTED),),
    ),
)

equivalent = Claim(
    id="relu-approx/G.2-equivalent", source="000, the last sentence of the proof of Theorem G.1",
    quote="we see that the minimizing the right-hand-side of (G.2) w.r.t.",
    whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"\min \tfrac12\|\cdot\|^2 + \lambda \sum_j \|u_j\|^2 \alpha_j^2 = \min \text{(G.1)}",
    words="the problem with the regulariser lambda sum |u_j|^2 alpha_j^2 has the minimum of (G.1)",
    hypotheses=(positive("size", "|u_j|"), positive("magnitude", "|alpha_j|")),
    says=lambda s, t: s**2 * t**2,
    check=judge_equivalent,
    flips=(Flip("half of it", lambda s, t: s**2 * t**2 / 2, Verdict.REFUTED),),
    rests_on=("relu-approx/thm-G.1-proof-repaired",),
    expected="HOLDS ARGUED",
)

wide = Claim(
    id="relu-approx/G.1-analogous",
    source="000, Appendix G, read as: (G.1), too, has one minimum from some width on, here n + 1 = 2",
    quote="We have the following result which is analogous to the reformulation behind the non-strongly convex dual "
          "form (3.3).",
    whose=Whose.READING,
    severity=Stake.PROOF,
    statement=r"\min \text{(G.1)} \text{ does not depend on } m \ge m^*",
    words="as for (3.2), the minimum of (G.1) is the same for all widths from some width on",
    hypotheses=(positive_integer("m", "the width").at_least(2), positive("lam")),
    says=lambda m, lam: lam / (2 + 2 * lam),
    check=judge_wide,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"x = y = 1:\ \min \text{(G.1)} = \frac{\lambda}{m + 2\lambda} \to 0",
        words="with more neurons the regulariser of (G.1) falls to 0: for x = y = 1 the minimum is "
              "lambda/(m + 2 lambda), so that no reformulation with a fixed regulariser has it at every width",
        says=lambda m, lam: lam / (m + 2 * lam),
        expected="HOLDS PROVED",
        source="000, Appendix G, (G.1) for one record",
        flips=(Flip("lambda/m", lambda m, lam: lam / m, Verdict.REFUTED),),
    ),
)
