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

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

Caps = tuple[Fraction | None, Fraction | None]
"""Bounds on |u_j| and on alpha_j; None is no bound."""


def one_neuron(caps: Caps, y: Fraction, lam: Fraction) -> Fraction:
    """The infimum of the constrained problem for n = d = m = 1, x = 1 and y > 0, in exact rationals."""
    longest, largest = caps
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
    tried = 0
    for lam in (Fraction(1, 10), Fraction(1), Fraction(3)):
        for y in (Fraction(1), Fraction(5), Fraction(50)):
            tried += 1
            left, right = fourth_powers(y, lam), one_neuron(caps, y, lam)
            if left != right:
                return refuted(
                    "the minima differ, exactly",
                    {
                        "n = d = m": "1", "x": "1", "y": str(y), "lambda": str(lam),
                        "bound on |u|": str(caps[0]), "bound on alpha": str(caps[1]),
                        "minimum of (G.1)": str(left), "infimum of the other": str(right),
                    },
                )
    s, t = sympy.symbols("s t", positive=True)
    least = sympy.expand((s**4 + t**4) / 2 - s**2 * t**2 - (s**2 - t**2) ** 2 / 2)
    balanced = sympy.simplify((s * sympy.sqrt(t / s)) ** 2 - (t / sympy.sqrt(t / s)) ** 2)
    if least != 0 or balanced != 0 or caps != (Fraction(1), None):
        return undecided("equal at the instances", tried)
    return proof(argued(
        "(s^4 + t^4)/2 = s^2 t^2 + (s^2 - t^2)^2/2 (computer algebra), and both problems reduce to the regulariser "
        "lambda sum |u_j|^2 alpha_j^2 by scaling, which the data term does not feel"
    ))


Regulariser = Callable[[Any, Any], Any]
"""(|u|, alpha) -> a neuron's share of the regulariser."""


def judge_invariance(regulariser: Regulariser, given: Domain) -> Finding:
    """Whether u -> g u, alpha -> alpha / g leaves data term and regulariser unchanged for every g > 0."""
    for u in (Fraction(1), Fraction(2)):
        for alpha in (Fraction(1), Fraction(-1), Fraction(3)):
            for g in (Fraction(2), Fraction(1, 3)):
                before, after = regulariser(abs(u), alpha), regulariser(abs(g * u), alpha / g)
                if before != after:
                    return refuted(
                        "the regulariser changes, exactly; the data term does not",
                        {"u": str(u), "alpha": str(alpha), "gamma": str(g), "before": str(before),
                         "after": str(after)},
                    )
    s, t, g = sympy.symbols("s t g", positive=True)
    if sympy.simplify(regulariser(g * s, t / g) - regulariser(s, t)) != 0:
        return undecided("at points", 12)
    return proof(argued(
        "max(0, g x) = g max(0, x) for g > 0, and the regulariser is unchanged for "
        "every s, t and g (computer algebra)"
    ))


def judge_balance(squared: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the scaling with gamma^2 = squared(|u|, alpha) is real and makes |u| gamma equal to |alpha| / gamma."""
    for s in (Fraction(1), Fraction(4)):
        for alpha in (Fraction(1), Fraction(-1), Fraction(9), Fraction(-9)):
            gamma = squared(s, alpha)
            if gamma <= 0 or s**2 * gamma != alpha**2 / gamma:
                return refuted(
                    "no real scaling, or no equality in Young's inequality",
                    {"|u|": str(s), "alpha": str(alpha), "gamma^2": str(gamma)},
                )
    s, alpha = sympy.symbols("s", positive=True), sympy.symbols("alpha", real=True, nonzero=True)
    if sympy.simplify(s**2 * squared(s, alpha) ** 2 - alpha**2) != 0:
        return undecided("at points", 8)
    return proof(argued("|u|^2 gamma^4 = alpha^2 (computer algebra)"))


_HYPOTHESES = (positive("lam"),)

theorem_g_1 = Claim(
    id="relu-approx/thm-G.1",
    source="000, Theorem G.1, with the constraint as printed: alpha_j <= 1, and no bound on |u_j|",
    quote=r"\min_{\{u_j,\alpha_j \le 1\}_{j=1}^m, \|u_j\|_{\sigma} \forall j \in [m]}",
    whose=Whose.TYPO,
    statement=(
        r"\min \tfrac12\|\cdot\|^2 + \tfrac\lambda2 \sum_j \|u_j\|^4 + \alpha_j^4 ="
        r" \min_{\alpha_j \le 1} \tfrac12\|\cdot\|^2 + \lambda \sum_j \alpha_j^2"
    ),
    words="problem (G.1) and the problem with lambda sum alpha_j^2 under alpha_j <= 1 have equal minima",
    hypotheses=_HYPOTHESES,
    says=(None, Fraction(1)),
    check=judge_minima,
    flips=(Flip("both bounds", (Fraction(1), Fraction(1)), Verdict.REFUTED),),
    uses=("relu-approx/thm-G.1-proof", "relu-approx/thm-G.1-gamma"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\min \tfrac12\|\cdot\|^2 + \tfrac\lambda2 \sum_j \|u_j\|^4 + \alpha_j^4 ="
            r" \min_{\|u_j\|_2 \le 1} \tfrac12\|\cdot\|^2 + \lambda \sum_j \alpha_j^2",
        words="problem (G.1) and the problem with lambda sum alpha_j^2 under |u_j| <= 1 have equal minima",
        says=(Fraction(1), None),
        expected="HOLDS ARGUED",
        source="000, Theorem G.1 with |u_j| <= 1",
        flips=(
            Flip("|u_j| <= 2", (Fraction(2), None), Verdict.REFUTED),
            Flip("alpha_j <= 1 as well", (Fraction(1), Fraction(1)), Verdict.REFUTED),
        ),
        rests_on=("relu-approx/thm-G.1-proof-repaired",),
    ),
)

invariance = Claim(
    id="relu-approx/thm-G.1-proof",
    source="000, proof of Theorem G.1: problem (G.1) is scaling invariant",
    quote="We see that the problem (G.1) is scaling invariant",
    whose=Whose.PRINTED,
    severity=Severity.PROOF,
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
        expected="HOLDS ARGUED",
        source="000, proof of Theorem G.1: the right side of (G.2) is scaling invariant",
        flips=(Flip("|u|^2 + alpha^2", lambda s, t: s**2 + t**2, Verdict.REFUTED),),
    ),
)

balance = Claim(
    id="relu-approx/thm-G.1-gamma",
    source="000, proof of Theorem G.1: gamma_i = sqrt(alpha_i / |u_i|) gives equality in Young's inequality",
    quote=r"\gamma_i = \sqrt{\frac{\alpha_i}{\|u_j\|_2}}$ gives an equality in Young's inequality.",
    whose=Whose.TYPO,
    severity=Severity.PROOF,
    statement=r"\gamma_i = \sqrt{\alpha_i / \|u_i\|}",
    words="the scaling sqrt(alpha_i / |u_i|) is real and balances |u_i| and alpha_i for every sign of alpha_i",
    hypotheses=_HYPOTHESES,
    says=lambda s, alpha: alpha / s,
    check=judge_balance,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\gamma_i = \sqrt{|\alpha_i| / \|u_i\|}",
        words="the scaling sqrt(|alpha_i| / |u_i|) balances |u_i| and |alpha_i|",
        says=lambda s, alpha: abs(alpha) / s,
        expected="HOLDS ARGUED",
        source="000, proof of Theorem G.1 with |alpha_i|",
        flips=(Flip("without the root", lambda s, alpha: alpha**2 / s**2, Verdict.REFUTED),),
    ),
)
