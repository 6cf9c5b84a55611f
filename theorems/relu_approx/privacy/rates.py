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

from oracle.core.domain import positive_integer, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
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
                    "the other rate is smaller by a power of n, so no constants help",
                    {"pair": name, "x": f"n^-{path}", "exponent of n": order(convex, path),
                     "of the other": order(other, path)},
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
_ERM = {"Theorem D.3": (_POPULATION, _EMPIRICAL)}
_RELU = {"Bassily et al. 2021": (_EMPIRICAL, _FIFTH), "Arora et al. 2023": (_EMPIRICAL, _THIRD)}
_LIKE = {"population": (_POPULATION, _FIFTH), "empirical": (_EMPIRICAL, _THIRD)}
_COMPARED = (positive_integer("n"), real("x", "sqrt(d) / (epsilon n)").above(0).at_most(1))

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
        true_variants=dict.fromkeys(
            ("* 1 % *", "* one more", "* sign"),
            "the exponents leave room: the changed inequality is true by the same comparison"),
        source="000, Section 1, like compared with like (1/sqrt n belongs to the population risk only)",
    ),
)

rates_erm = Claim(
    id="relu-approx/intro-rates-erm",
    source="000, Section 1: bounds of empirical risk minimisation, against its own Theorem D.3, logarithms left out",
    quote=(
        "State-of-the-art empirical risk minimization (ERM) bounds for private convex optimization are of the "
        r"order $O(\frac{1}{\sqrt{n}} + \frac{\sqrt{d}}{\varepsilon n})$"
    ),
    whose=Whose.PRINTED,
    statement=r"\frac{1}{\sqrt n} + x \text{ is the best rate of empirical risk},\ x = \sqrt d / (\varepsilon n)",
    words="the best rate of the empirical risk is n^(-1/2) + sqrt d / (epsilon n)",
    hypotheses=_COMPARED,
    says=_ERM,
    check=judge_worse,
    flips=(Flip("sqrt d / (epsilon n) alone", {"Theorem D.3": (_EMPIRICAL, _EMPIRICAL)}, Verdict.HOLDS),),
    repaired_by="relu-approx/thm-D.3-repaired",
    rests_on=("relu-approx/thm-D.3-repaired",),
    expected="REFUTED ARGUED",
)

improved = Claim(
    id="relu-approx/sec-4-improved",
    source="000, Section 4, by the rates of Section 1 in one dimension p for both, sqrt p / (epsilon n) below 1",
    quote="we illustrate the improved convergence rate when compared to private training of 2-layer ReLU networks.",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"x \le n^{-1/3} + x^{2/5},\quad x \le x^{2/3} \quad (x = \frac{\sqrt p}{\varepsilon n} \le 1)",
    words="Theorem D.3's rate in the dimension p is at most the non-convex rates in the same dimension (these are of "
          "gradients, not of the loss)",
    hypotheses=_COMPARED,
    says=_RELU,
    check=judge_worse,
    flips=(Flip("the other way round", {name: pair[::-1] for name, pair in _RELU.items()}, Verdict.REFUTED),
           Flip("nothing is compared", {}, Verdict.UNDECIDED)),
    true_variants=dict.fromkeys(
        ("* 1 % *", "* one more", "* sign"),
        "the exponents leave room: the changed inequality is true by the same comparison"),
    uses=("relu-approx/intro-rates", "relu-approx/thm-4.1"),
    expected="HOLDS PROVED",
)
