r"""The exponential mechanism in document 004: its epsilon, by what may happen to a record, and how good its choice is.

P(theta) is proportional to exp(-(sum of the losses + n R(theta))/T), losses in an interval of length B; the slides
have T = 2/epsilon and B = 1. Let r = e^{B/T}.

Replace: each weight changes by a factor f between 1/r and r, the normaliser by a factor between the same two, since
sum w f <= r sum w: the probabilities by at most r^2. It is the supremum: a candidate of weight w that gains r while
all others, of weight 1, lose r has the ratio r (w + 1)/(w r + 1/r), which goes to r^2 as w goes to 0.

Add or remove, n R a constant: each factor lies in [1/r, 1] up to a common factor, and so does the normaliser's: at most
r. With the literal n R, n the number of records, a weight changes by e^{-R/T} as well: not bounded by r.

Utility over K candidates, s = n/T, gaps g_i = s (F(theta_i) - min F) of the K - 1 others: s (E F - min F) <= v says
sum (g_i - v) e^{-g_i} <= v. A summand has the slope (1 + v - g) e^{-g}: it is largest at g = 1 + v, e^{-1-v}. So
every v with (K - 1) e^{-1-v} <= v will do; equal gaps 1 + v reach the least of them, v = W((K-1)/e), W(t) e^{W(t)} = t.
v = log K is one: (K - 1)/(e K) <= log K, as log K >= 1 - 1/K. At T = 2/epsilon: E F - min F <= 2 v/(epsilon n).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.cs208.judging import Formula, formula, unchecked
from theorems.given import Domain
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled


def ratio(weight: Fraction, up: Fraction, down: Fraction) -> Fraction:
    """How the probability of a candidate of that weight changes, multiplied by up, the one of weight 1 by down."""
    return up * (weight + 1) / (weight * up + down)


def judge_replaced(says: Formula, given: Domain) -> Finding:
    """Whether replacing a record costs says(r) in odds, r = e^{B/T}: never more, and as near as one likes."""
    for r in given.values("odds"):
        for weight in (Fraction(1), Fraction(1, 10**3), Fraction(1, 10**9)):
            for up, down in ((r, 1 / r), (1 / r, r), (r, Fraction(1)), (Fraction(1), 1 / r)):
                found = ratio(weight, up, down)
                if found > says(r):
                    return refuted("two candidates have larger odds", {
                        "e^(B/T)": r, "weight": weight, "factors": f"{up} and {down}", "claimed": says(r),
                        "odds": found})
        near = ratio(Fraction(1, 10**9) / r**2, r, 1 / r)
        if near < says(r) * Fraction(999999, 10**6):
            return refuted("the odds never come near it", {"e^(B/T)": r, "claimed": says(r), "odds": near})
    r, w = given.chart("odds"), sympy.Symbol("w", positive=True)
    p = sympy.Symbol("p", nonnegative=True)
    f = (1 / r + r * p) / (1 + p)  # any factor between 1/r and r, its upper end the limit
    return proof(
        computed("each summand w (r f - 1) and w (r - f) is at least 0: the normaliser's factor lies in [1/r, r]",
                 never_negative(sympy.together(w * (r * f - 1)), sympy.together(w * (r - f)))),
        computed("r over 1/r is what is claimed", vanishes(says(r) - r / (1 / r))),
        computed("a candidate of weight w that gains while the other loses comes as near as one likes",
                 vanishes(sympy.limit(r * (w + 1) / (w * r + 1 / r), w, 0) - says(r))),
        argued("sums over any number of candidates, or integrals, of such summands have their sign"),
    )


def judge_added(says: tuple[Formula, bool], given: Domain) -> Finding:
    """Whether adding a record costs says[0](r) in odds; if says[1] the regulariser is multiplied by the new n, too.

    R = 0 for the first candidate and 10 T for the second.
    """
    for r in given.values("odds"):
        for weight in (Fraction(1), Fraction(1, 10**3), Fraction(1, 10**9)):
            for up, down in ((Fraction(1), 1 / r), (1 / r, Fraction(1))):
                lost = Fraction(1, 20000) if says[1] else Fraction(1)  # e^-10 is below 1/20000
                found = ratio(weight, up, down * lost)
                if found > says[0](r):
                    return refuted("the regulariser counts like one more loss: larger odds", {
                        "e^(B/T)": r, "weight": weight, "factors": f"{up} and {down * lost}", "e^(R/T) above": 1 / lost,
                        "claimed": says[0](r), "odds": found})
        near = ratio(Fraction(1, 10**9) / r, Fraction(1), 1 / r)
        if near < says[0](r) * Fraction(999999, 10**6):
            return refuted("the odds never come near it", {"e^(B/T)": r, "claimed": says[0](r), "odds": near})
    r, w = given.chart("odds"), sympy.Symbol("w", positive=True)
    p = sympy.Symbol("p", nonnegative=True)
    f = (1 / r + p) / (1 + p)  # any factor between 1/r and 1
    return proof(
        computed("w (r f - 1) and w (1 - f) are at least 0: the normaliser's factor lies in [1/r, 1]",
                 never_negative(sympy.together(w * (r * f - 1)), sympy.together(w * (1 - f))) and not says[1]),
        computed("1 over 1/r is what is claimed, and approached", vanishes(says[0](r) - r)
                 and vanishes(sympy.limit((w + 1) / (w + 1 / r), w, 0) - says[0](r))),
        argued("sums over any number of candidates, or integrals, of such summands have their sign; a common factor "
               "cancels"),
    )


def judge_utility(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether s (E F - min F) <= v = says(K): (K-1) e^(-1-v) <= v, certified; equal gaps are tried, too."""
    tried, many = 0, (k for k in (10**3, 10**6, 10**12, 10**30) if given.contains(candidates=k))
    for k in (*given.values("candidates"), *many):
        with ctx.workprec(120):
            v = says(ball(k))
            for gap in (1 + v, arb(1), arb(2), arb(k).log() + 1):
                weight = (k - 1) * (-gap).exp()
                tried += 1
                if gap * weight / (1 + weight) > v + arb(2) ** -80:
                    return refuted("equal gaps have a larger excess, certified", {
                        "K": k, "gap": gap.str(8), "claimed": v.str(10),
                        "excess": (gap * weight / (1 + weight)).str(10)})
            if k > 1 and not (k - 1) * (-1 - v).exp() < v + arb(2) ** -80:
                return refuted("(K-1) e^(-1-v) is above v: equal gaps 1 + v exceed it", {"K": k, "v": v.str(10)})
    g, v, k = sympy.symbols("g v k", positive=True)
    slope = sympy.diff((g - v) * sympy.exp(-g), g)
    return proof(
        computed("(g - v) e^-g has the slope (1 + v - g) e^-g, and is e^(-1-v) where that is 0",
                 vanishes(slope - (1 + v - g) * sympy.exp(-g), ((g - v) * sympy.exp(-g)).subs(g, 1 + v)
                          - sympy.exp(-1 - v))),
        computed("(K-1)/(e K) <= log K: log K - 1 + 1/K has the slope (K - 1)/K^2",
                 vanishes(sympy.diff(sympy.log(k) - 1 + 1 / k, k) - (k - 1) / k**2)),
        sampled("(K-1) e^(-1-v) <= v for what is claimed, certified at every K tried, up to 10^30", tried > 0),
        argued("v = log K has (K-1) e^(-1-v) <= v, and v = W((K-1)/e) has equality, for all K"),
        study_step("exponential-mechanism"), study_step("exponential-mechanism-candidates"), tried=tried,
    )


_ODDS = (Parameter("odds", low=Fraction(1), low_open=True, meaning="r = e^(B/T); B = 1 and T = 2/epsilon"),)
_LAW = (
    r"$$\Pr[M(\vec{x}, \vec{y}) = \theta] \propto e^{-\frac{\varepsilon}{2} \sum_{i=1}^n \ell(\theta|x_i, y_i) - "
    r"\frac{\varepsilon n}{2} R(\theta)}.$$"
)
_CLIPPED = r"-DP if the loss functions are clipped to $[0,1]$. (why?)"

mechanism = Claim(
    id="cs208/exp-mech", source="004, Exponential Mechanism for ML: a record replaced", quote=_CLIPPED,
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\varepsilon = \frac{2B}T \text{, which is } \varepsilon \text{ at } B = 1, T = 2/\varepsilon",
    words="drawing by losses in an interval of length B at temperature T is 2B/T-DP, a record "
    "replaced, and no better in general", hypotheses=_ODDS, says=lambda r: r**2, check=judge_replaced,
    flips=(Flip("B/T", lambda r: r, Verdict.REFUTED), Flip("3B/T", lambda r: r**3, Verdict.REFUTED)),
    expected="HOLDS ARGUED",
)
added = Claim(
    id="cs208/exp-mech-add-remove", source="004, Exponential Mechanism for ML: a record added or removed, n R constant",
    severity=Stake.PRIVACY, statement=r"\varepsilon = \frac BT \text{ (add or remove, } nR \text{ constant)}",
    words="drawing by losses in an interval of length B at temperature T is B/T-DP, a record added or removed and the "
          "regulariser's factor a constant", hypotheses=_ODDS, says=(lambda r: r, False), check=judge_added,
    flips=(Flip("with the literal n", (lambda r: r, True), Verdict.REFUTED),), expected="HOLDS ARGUED",
)
literal = Claim(
    id="cs208/exp-mech-literal-n", source="004, Exponential Mechanism for ML: a record added, n R with the new n",
    quote=_LAW, whose=Whose.READING, severity=Stake.PRIVACY,
    statement=r"\varepsilon = \frac BT \text{ with } nR(\theta)",
    words="with n the number of records in front of R, adding a record costs B/T, whatever R is",
    hypotheses=_ODDS, says=(lambda r: r, True), check=judge_added, repaired_by="cs208/exp-mech-add-remove",
    flips=(Flip("with a constant in front of R", (lambda r: r, False), Verdict.HOLDS),), expected="REFUTED PROVED",
)
mean_and_sum = Claim(
    id="cs208/mean-vs-sum-exp-mech", source="004, Exponential Mechanism for ML: a mean and a sum",
    quote=_LAW, whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    statement=r"\frac{\varepsilon}{2 \cdot 1/n}\Big(-\frac1n \sum\ell - R\Big) = -\frac\varepsilon2 \sum\ell -"
              r" \frac{\varepsilon n}2 R",
    words="epsilon times the score over twice its sensitivity 1/n is the exponent of the slides",
    hypotheses=(positive("epsilon"), positive_integer("size", "n"), positive("total", "sum of the losses"),
                positive("regulariser", "R")),
    says=lambda e, n, total, r: -e * total / 2 - e * n * r / 2,
    check=formula(
        ("epsilon", "size", "total", "regulariser"),
        lambda e, n, total, r: e * (-total / n - r) / (2 * (e / e) / n),
        lambda e, n, total, r: e * (-total / n - r) * n / 2, "the exponent is another", "both are one expression",
    ),
    flips=(Flip("R not multiplied", lambda e, n, total, r: -e * total / 2 - e * r / 2, Verdict.REFUTED),),
    true_variants={"any *": "an identity of expressions"}, expected="HOLDS PROVED",
)
utility = Claim(
    id="cs208/exp-mech-utility", source="004, Exponential Mechanism for ML: the excess of its choice, textbook",
    severity=Stake.UTILITY, statement=r"E F - \min F \le \frac{2B \ln K}{\varepsilon n}",
    words="the expected excess over K candidates is at most 2 B ln K/(epsilon n)",
    hypotheses=(positive_integer("candidates", "K"),), says=lambda k: k.log(), check=judge_utility,
    flips=(Flip("a quarter", lambda k: k.log() / 4, Verdict.REFUTED),),
    true_variants={"1 % *": "the sharp constant is smaller, and larger ones will do", "beyond *": "a larger bound",
                   "squared": "(log K)^2 is above W((K-1)/e), too"}, expected="HOLDS ARGUED",
)
sharp = Claim(
    id="cs208/exp-mech-utility-sharp", source="004, Exponential Mechanism for ML: the excess, least constant",
    severity=Stake.UTILITY, statement=r"E F - \min F \le \frac{2B}{\varepsilon n} W\Big(\frac{K-1}e\Big)",
    words="the expected excess over K candidates is at most 2 B W((K-1)/e)/(epsilon n), which equal gaps reach",
    hypotheses=(positive_integer("candidates", "K"),), says=lambda k: ((k - 1) * arb(-1).exp()).lambertw(),
    check=judge_utility, flips=(Flip("half", lambda k: ((k - 1) * arb(-1).exp()).lambertw() / 2, Verdict.REFUTED),),
    true_variants=dict.fromkeys(("1 % more", "beyond *", "-1 -> 0 *", "- -> + *", "[*] -> + *"),
                                "a larger bound is one, too"), expected="HOLDS ARGUED",
)


def points_by_hand(sides: int, dimension: int) -> int:
    """The grid's points, one dimension after the other."""
    count = 1
    for _ in range(dimension):
        count *= sides
    return count


runtime = Claim(
    id="cs208/exp-mech-runtime", source="004, Exponential Mechanism for ML: its cost, on a grid",
    quote="Problem: runtime often exponential in dimensionality of", whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"|\Theta| = m^d",
    words="a grid of m points a side has m^d candidates, each of which a literal draw weighs",
    hypotheses=(positive_integer("sides", "m"), positive_integer("dimension", "d")), says=lambda m, d: m**d,
    check=formula(("sides", "dimension"), points_by_hand, lambda m, d: m**d, "the grid has another number of points",
                  "m^d points, on symbols", most={"dimension": 8},
                  more=lambda given: (computed("one more dimension multiplies by m: exponential in d", vanishes(
                      given.symbol("sides") ** (given.symbol("dimension") + 1) / given.symbol("sides")
                      ** given.symbol("dimension") - given.symbol("sides"))),)),
    flips=(Flip("m d", lambda m, d: m * d, Verdict.REFUTED),), true_variants={"any *": "an identity of expressions"},
    expected="HOLDS PROVED",
)
learnable = unchecked(
    "exp-mech-learnable", "Exponential Mechanism for ML: the theorem, informally stated",
    "what is learnable without privacy on a finite universe is learnable with it",
    "anything learnable non-privately on a finite data universe is also learnable with DP (with larger n).",
    "informally stated; a definition of learnable and of how much larger n may be would settle it. For finitely many "
    "candidates the excess 2 ln K/(epsilon n) is cs208/exp-mech-utility",
)
