r"""The rates of document 000's introduction, against each other.

With x = sqrt(d) / (epsilon n) the convex rate is n^{-1/2} + x, the non-convex ones n^{-1/3} + x^{2/5} and x^{2/3}. The
last belongs to the empirical problem, where the convex rate is x alone: compared with the population's n^{-1/2} + x it
is not worse but better whenever x < n^{-3/4}. (They also bound different things, excess risk and gradient norms.)
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose, citing
from theorems.given import Domain
from theorems.verdict import Finding, Verdict, computed, proof, refuted

Rate = tuple[tuple[Fraction, Fraction], ...]
"""A sum of terms n^a x^b, by their exponents (a, b), with x = sqrt(d) / (epsilon n) <= 1."""
_PATHS = tuple(Fraction(v) for v in ("1", "0", "1/2", "3/4", "2", "10"))
"""x = n^{-j} for these j; j = 1 is d = 1 and epsilon = 1."""


def order(rate: Rate, path: Fraction) -> Fraction:
    """The exponent of n in the largest term at x = n^{-path}."""
    return max(a - path * b for a, b in rate)


def value(rate: Rate, n: arb, x: arb) -> arb:
    """The sum."""
    return sum(((ball(a) * n.log() + ball(b) * x.log()).exp() for a, b in rate), arb(0))


def term_by_term(first: Rate, second: Rate) -> bool:
    """Whether each term of the first sum is below its own term of the second for n >= 1 >= x: a <= a', b >= b'."""
    return any(
        all(a <= c and b >= d for (a, b), (c, d) in zip(first, chosen, strict=True))
        for chosen in itertools.permutations(second, len(first))
    )


def judge_worse(pairs: Mapping[str, tuple[Rate, Rate]], given: Domain) -> Finding:
    """Whether the first rate of each pair is at most the second, for n >= 1 and 0 < x <= 1."""
    points = list(given.points("n", "x"))
    for name, (convex, other) in pairs.items():
        for path in _PATHS:
            if order(convex, path) > order(other, path):
                return refuted(
                    "the non-convex rate is smaller by a power of n, so no constants help",
                    {"pair": name, "x": f"n^-{path}", "convex, exponent of n": order(convex, path),
                     "non-convex, exponent of n": order(other, path)},
                )
        with ctx.workprec(80):
            for point in points:
                left, right = (value(rate, arb(point["n"]), ball(point["x"])) for rate in (convex, other))
                if left > right or not left.is_finite():
                    return refuted("larger", {"pair": name, **point, "convex": left.str(8), "other": right.str(8)})
    return proof(
        computed("term by term: n^a x^b <= n^c x^d for n >= 1 >= x where a <= c and b >= d",
                 bool(pairs) and all(term_by_term(*pair) for pair in pairs.values())),
        tried=len(points),
    )


def _rate(*terms: tuple[str, str]) -> Rate:
    return tuple((Fraction(a), Fraction(b)) for a, b in terms)


_POPULATION, _EMPIRICAL = _rate(("-1/2", "0"), ("0", "1")), _rate(("0", "1"))
_FIFTH, _THIRD = _rate(("-1/3", "0"), ("0", "2/5")), _rate(("0", "2/3"))
_PRINTED = {"Bassily et al. 2021": (_POPULATION, _FIFTH), "Arora et al. 2023": (_POPULATION, _THIRD)}
_LIKE = {"population": (_POPULATION, _FIFTH), "empirical": (_EMPIRICAL, _THIRD)}
_MODEL = (positive_integer("n"), positive_integer("d"), positive("epsilon"))
_COMPARED = (positive_integer("n"), real("x", "sqrt(d) / (epsilon n)").above(0).at_most(1))

intro_rates = Claim(
    id="relu-approx/intro-rates",
    source="000, Section 1: the rates of Bassily et al. 2019 and 2021, Arora et al. 2023, Lowy et al. 2024",
    quote=(
        "State-of-the-art empirical risk minimization (ERM) bounds for private convex optimization are of the "
        r"order $O(\frac{1}{\sqrt{n}} + \frac{\sqrt{d}}{\varepsilon n})$ , where n is the number of training "
        r"data entries, d the dimension of the parameter space and $\varepsilon$ the DP parameter (Bassily et "
        "al., 2019)."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"O\Big(\tfrac{1}{\sqrt n} + \tfrac{\sqrt d}{\varepsilon n}\Big),\ O\Big(\tfrac{1}{n^{1/3}} +"
              r" \tfrac{d^{1/5}}{(\varepsilon n)^{2/5}}\Big),\ O\Big(\tfrac{d^{1/3}}{(\varepsilon n)^{2/3}}\Big)",
    words="the best known rates of private convex and non-convex optimisation are those of the introduction",
    hypotheses=_MODEL,
    says=None,
    check=citing(
        Verdict.NOT_CHECKABLE,
        "rates quoted from four papers whose texts are not among the documents; how they compare is intro-rates-worse. "
        "The convex one is called an ERM bound, but 1/sqrt n belongs to the population risk",
    ),
    expected="NOT_CHECKABLE CITED",
)

rates_worse = Claim(
    id="relu-approx/intro-rates-worse",
    source="000, Section 1: the non-convex bounds are much worse than 1/sqrt n + sqrt d / (epsilon n)",
    quote=(
        "In contrast, the bounds for non-convex optimization, which focus on finding stability points, are much "
        "worse"
    ),
    whose=Whose.READING,
    statement=r"\frac{1}{\sqrt n} + x \le n^{-1/3} + x^{2/5},\quad \frac{1}{\sqrt n} + x \le x^{2/3},"
              r" \quad x = \frac{\sqrt d}{\varepsilon n} \le 1",
    words="both non-convex rates of the introduction are above the convex one wherever the latter says anything",
    hypotheses=_COMPARED,
    says=_PRINTED,
    check=judge_worse,
    uses=("relu-approx/intro-rates",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\frac{1}{\sqrt n} + x \le n^{-1/3} + x^{2/5},\quad x \le x^{2/3} \quad (x \le 1)",
        words=(
            "the convex rates are below the non-convex ones, population and empirical apart, wherever they are "
            "below 1"
        ),
        says=_LIKE,
        expected="HOLDS PROVED",
        flips=(Flip("nothing is compared", {}, Verdict.UNDECIDED),),
        survivors={"[[]*": "the exponents leave room: the changed inequality is true by the same comparison"},
        source="000, Section 1, like compared with like (1/sqrt n belongs to the population risk only)",
    ),
)
