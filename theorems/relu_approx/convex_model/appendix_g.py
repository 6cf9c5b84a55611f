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

from oracle.core.domain import positive, real
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
        survivors=dict.fromkeys(("sign", "1 % *", "squared", "2 -> 3*"), "every function of |u| alpha is unchanged"),
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
