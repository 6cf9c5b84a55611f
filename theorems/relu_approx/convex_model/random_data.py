r"""Appendix D of document 000: how many random patterns fit every label, Lemmas D.1 and D.2.

As in `interpolation`, A = (D_1 X, ..., D_P X) and S = A A^T = sum_i D_i X X^T D_i.

Lemma D.1. Every y is reached when S = A A^T is invertible. The summands Y_i are independent, 0 <= Y_i <= r I with r =
lambda_max(X X^T), of mean M >= (r / kappa) I. Let N_k be the common kernel of Y_1, ..., Y_k, and Pi its projector. The
projector Q onto N_k cap ker Y_{k+1} is Pi Q Pi <= Pi (I - Y_{k+1}/r) Pi, so that E dim N_{k+1} <= (1 - 1/kappa)
E dim N_k. S is singular with a probability of at most E dim N_P <= n (1 - 1/kappa)^P <= n e^{-P/kappa}. The lemma asks
for P >= 2 kappa log(n/delta), twice as much as needed.

Lemma D.2. M_ij = |x_i| |x_j| f(rho_ij), f(rho) = rho (1/4 + arcsin(rho)/(2 pi)), rho_ij the cosines. All Taylor
coefficients of f are >= 0, and Hadamard powers of a Gram matrix are positive semidefinite (Schur). Leave out the powers
rho and rho^2: what remains has r = f(1) - 1/4 - 1/(2 pi) = 1/4 - 1/(2 pi) on the diagonal and at most r rho^4 off it,
whose Frobenius norm is at most r (sum rho_ij^8)^{1/2}, in mean square at most r^2 105 c^2 / d^2. So lambda_min(M) >=
r d (1 - o(1)). With lambda_max(X X^T) <= (sqrt n + sqrt d + t)^2 but for e^{-t^2/2} (Davidson and Szarek), kappa <=
(sqrt c + 1)^2 (1/r + o(1)), and 1/r = 11.01 is below 10 sqrt 2 = 14.14. From below, lambda_min(M) <= |x_1|^2 / 2 and
lambda_max >= tr (XX^T)^2 / tr XX^T = d (c + 1)(1 + o(1)): no constant C with C (sqrt c + 1)^2 < 2 (c + 1) would do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx, fmpq_mat

from oracle.core.domain import positive, positive_integer, probability, real
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.convex_model.interpolation import DATA, DIRECTIONS, Rows, gram, pattern
from theorems.tools.effort import points
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided

# --- Lemma D.1


def covering(draws: int, size: int) -> int:
    """The number of sequences of draws that show each of `size` things at least once."""
    return sum((-1) ** i * math.comb(size, i) * (size - i) ** draws for i in range(size + 1))


def singular_subsets(rows: Rows) -> dict[int, int]:
    """How many sets of directions, by their size, leave the matrix S singular; exact ranks."""
    patterns = [pattern(rows, u) for u in DIRECTIONS]
    counts: dict[int, int] = {}
    for size in range(1, len(DIRECTIONS) + 1):
        counts[size] = sum(
            fmpq_mat(gram(rows, chosen)).rank() < len(rows) for chosen in itertools.combinations(patterns, size)
        )
    return counts


def extreme(matrix: list[list[int]], scale: int, pick: Callable[[list[arb]], arb]) -> arb:
    """The largest or smallest eigenvalue of a symmetric integer matrix over a scale, in a ball."""
    roots: Any = fmpq_mat(matrix).charpoly().numer().complex_roots()  # pairs (root, multiplicity)
    return pick([root.real for root, _ in roots]) / scale


def condition(rows: Rows) -> arb:
    """kappa = lambda_max(X X^T) / lambda_min(M)."""
    mean = gram(rows, tuple(pattern(rows, u) for u in DIRECTIONS))
    return extreme(gram(rows, ((1,) * len(rows),)), 1, _largest) / extreme(mean, len(DIRECTIONS), _smallest)


def _largest(values: list[arb]) -> arb:
    return -_smallest([-value for value in values])


def _smallest(values: list[arb]) -> arb:
    result = values[0]
    for value in values[1:]:
        result = result.min(value)
    return result


def instances() -> Iterator[tuple[Rows, arb, dict[int, int]]]:
    """The data sets with an invertible M, their kappa and their singular sets of patterns."""
    for rows in DATA:
        if fmpq_mat(gram(rows, tuple(pattern(rows, u) for u in DIRECTIONS))).rank() == len(rows):
            yield rows, condition(rows), singular_subsets(rows)


def judge_patterns(factor: Fraction, given: Domain) -> Finding:
    """Whether P >= factor kappa log(n/delta) patterns fail with a probability of at most delta: exact enumeration."""
    tried, within = 0, True
    with ctx.workprec(128):
        for rows, kappa, counts in instances():
            for draws in range(1, points(40) + 1):
                tried += 1
                failing = Fraction(
                    sum(count * covering(draws, size) for size, count in counts.items()), len(DIRECTIONS) ** draws
                )
                within = within and not ball(failing) > len(rows) * (1 - 1 / kappa) ** draws
                allowed = len(rows) * (-draws / (ball(factor) * kappa)).exp()  # the delta with equality
                if ball(failing) > allowed and allowed < 1:
                    return refuted("fails more often than delta, exactly", {
                        "X": [list(row) for row in rows], "P": draws, "factor": factor, "kappa": kappa.str(12),
                        "probability of failing": failing, "delta": allowed.str(12)})
        enough = all(_enough(factor, **point) for point in given.points("n", "delta", "kappa", at_most=200))
    x, length = sympy.symbols("x"), sympy.symbols("l", positive=True)  # 1/kappa, log(n/delta)
    multiple = sympy.Rational(factor.numerator, factor.denominator)
    ratio = given.chart("n") / given.chart("delta")
    return proof(
        argued("the expected dimension of the common kernel falls by the factor 1 - 1/kappa with each pattern, so "
               "failing has a probability of at most n (1 - 1/kappa)^P"),
        sampled(f"so it has in {tried} cases enumerated exactly", within),
        computed("log(1 - x) + x is 0 at x = 0 and falls up to x = 1/kappa, so that is at most n e^{-P/kappa}",
                 sympy.simplify(sympy.diff(sympy.log(1 - x) + x, x).subs(x, 1 / given.chart("kappa"))).is_negative),
        computed("n/delta > 1, so its logarithm l is positive",
                 sympy.expand(sympy.numer(sympy.together(ratio - 1))).is_positive),
        computed("at P = factor kappa l it is at most delta: e^{l - factor l} <= 1",
                 sympy.expand((multiple - 1) * length).is_nonnegative),
        sampled("so it is at all n, delta and kappa tried", enough),
    )


def _enough(factor: Fraction, n: int, delta: Fraction, kappa: Fraction) -> bool:
    """Whether n (1 - 1/kappa)^P <= delta at P = factor kappa log(n/delta), not rounded up."""
    count = ball(factor * kappa) * (n / ball(delta)).log()
    return bool(n * (count * (1 - 1 / ball(kappa)).log()).exp() <= ball(delta))


# --- Lemma D.2 and the number of patterns


def explicit_start(constant: arb, ratio: Fraction, gamma: Fraction) -> int | None:
    """A power of two d_1 from which on kappa <= constant (sqrt c + 1)^2 fails with probability at most gamma."""
    room = constant * (ball(Fraction(1, 4)) - 1 / (2 * arb.pi()))
    if not room > 1:
        return None
    slack = Fraction(1, 20)
    spread = (room * ball((1 - slack) ** 2)).sqrt() - 1  # what t / (sqrt d (sqrt c + 1)) may be
    if not spread > 0:
        return None
    for power in range(8, 40):
        d = int(2**power)
        t = spread * arb(d).sqrt() * (ball(ratio).sqrt() + 1)
        failing = (-t * t / 2).exp() + ball(ratio * d) * ball(-d * slack**2 / 4).exp()
        failing += ball(105 * ratio**2 / (d**2 * slack**2))
        if failing <= ball(gamma) and d * slack**2 > 4:  # from there on each term falls
            return d
    return None


def judge_condition(constant: sympy.Expr, given: Domain) -> Finding:
    """Whether kappa <= constant (sqrt c + 1)^2 for large d, for every fixed c = n/d >= 1."""
    for c in (*given.values("c"), 10**6):
        claimed, below = constant * (sympy.sqrt(sympy.Rational(str(c))) + 1) ** 2, 2 * (sympy.Rational(str(c)) + 1)
        if (claimed - below).is_negative:
            return refuted("kappa is at least 2 (c + 1) (1 - o(1)) as d grows",
                           {"c": c, "claimed bound": claimed, "limit of kappa is at least": below})
    with ctx.workprec(128):
        value = ball(Fraction(int(sympy.floor(constant * 10**20)), 10**20))  # rounded down: harder to prove
        starts = {
            (c, gamma): explicit_start(value, Fraction(c), gamma)
            for c, gamma in itertools.product(given.values("c"), given.values("gamma"))
        }
        # The bound tends to this multiple of (sqrt c + 1)^2 for every c.
        for_every_c = bool(value > 1 / (ball(Fraction(1, 4)) - 1 / (2 * arb.pi())))
    if not for_every_c or any(start is None for start in starts.values()):
        return undecided("between what is proved and what is refuted", len(starts))
    k = sympy.symbols("k", integer=True, nonnegative=True)
    rho = sympy.symbols("rho")
    series = sympy.series(sympy.asin(rho), rho, 0, 12).removeO()
    coefficient = sympy.binomial(2 * k, k) / (4**k * (2 * k + 1))
    (first, gamma), start = max(starts.items(), key=lambda item: item[1] or 0)
    return proof(
        argued("M_ij = |x_i| |x_j| rho (1/4 + arcsin(rho)/(2 pi)), and Hadamard powers of a Gram matrix are positive "
               "semidefinite (Schur)"),
        sampled("arcsin has the Taylor coefficients binom(2k, k)/(4^k (2k+1)) > 0 up to order 12",
                all(series.coeff(rho, 2 * i + 1) == coefficient.subs(k, i) > 0 for i in range(6))),
        argued("and beyond; E rho^8 = 105/(d (d+2) (d+4) (d+6)), the lower tail of chi-square and Markov's inequality "
               "give lambda_min(M) >= (1/4 - 1/(2 pi)) d (1 - o(1))"),
        computed("the constant is above 1/(1/4 - 1/(2 pi)) = 11.01", for_every_c),
        sampled(f"an explicit d_1 for all {len(starts)} pairs of c and gamma tried (at most {start}, at c = {first}, "
                f"gamma = {gamma})", all(starts.values())),
    )


def judge_order(constant: Fraction, given: Domain) -> Finding:
    """Whether (sqrt c + 1)^2 <= constant c for every c >= 1, so that 2 kappa log(n/gamma) = O(n log(n/gamma) / d)."""
    multiple = sympy.Rational(constant.numerator, constant.denominator)
    for c in given.values("c"):
        ratio = sympy.Rational(str(c))
        if (multiple * ratio - (sympy.sqrt(ratio) + 1) ** 2).is_negative:
            return refuted("(sqrt c + 1)^2 is larger", {
                "c": c, "(sqrt c + 1)^2": (sympy.sqrt(ratio) + 1) ** 2, "constant": constant})
    t = sympy.symbols("t", nonnegative=True)  # sqrt c - 1, as c >= 1
    gap = sympy.expand(multiple * (t + 1) ** 2 - (t + 2) ** 2)
    ratio_ = given.chart("n") / given.chart("gamma")
    tried = len(list(given.points("n", "gamma")))
    return proof(
        computed("constant c - (sqrt c + 1)^2 is a polynomial in sqrt c - 1 with coefficients >= 0",
                 gap.is_nonnegative),
        computed("n/gamma >= 2, so log(2n/gamma) <= 2 log(n/gamma): spending gamma/2 on each lemma keeps the order",
                 sympy.expand(sympy.numer(sympy.together(ratio_ - 2))).is_positive),
        argued("P = 2 kappa log(n/gamma) <= 80 sqrt 2 (n/d) log(n/gamma) by Lemmas D.1 and D.2"),
        tried=tried,
    )


# --- the minimum with lambda > 0


def judge_falling(most: Callable[[Any, Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether min (3.6) <= most(P, lambda_min(M), n, lambda) for labels in [-1, 1], and that falls to 0 as P grows.

    The minimum is at most lambda |y|^2 / (2 (lambda_min(S) + n lambda)), and lambda_min(S) at least a level q P
    lambda_min(M) but for n e^{t level} (1 - (1 - e^{-t r})/kappa)^P, r = lambda_max(X X^T) = kappa lambda_min(M).
    """
    points_ = list(given.points("P", "m", "n", "lam", at_most=100))
    for point in points_:
        at = [sympy.Rational(str(point[name])) for name in ("P", "m", "n", "lam")]
        true = at[3] * at[2] / (2 * (at[0] * at[1] / (4 * sympy.log(2)) + at[2] * at[3]))
        if sympy.simplify(most(*at) - true).is_negative:
            return undecided(f"below what is proved at {point}", len(points_))
    count, m, n, lam = (given.symbol(name) for name in ("P", "m", "n", "lam"))
    r, t, s = sympy.symbols("r t s", positive=True)
    kappa, level_ = r / m, count * m / (4 * sympy.log(2))
    exponent = (t * level_ - count * (1 - sympy.exp(-t * r)) / kappa).subs(t, sympy.log(2) / r)
    value = lam * n / (2 * (s + n * lam))
    claimed_ = most(count, m, n, lam)
    return proof(
        argued("e^{-tY} <= I - (1 - e^{-tr}) Y/r and Golden and Thompson's inequality, P times: E tr e^{-tS} <= n "
               "(1 - (1 - e^{-tr})/kappa)^P, which with Markov's inequality bounds how often lambda_min(S) is below a "
               "level"),
        computed("at t = (log 2)/r and the level P lambda_min(M)/(4 log 2) that is at most n e^{-P/(4 kappa)}: gamma "
                 "for P >= 4 kappa log(n/gamma)", sympy.simplify(exponent + count / (4 * kappa)) == 0),
        computed("the minimum lambda n / (2 (s + n lambda)), |y|^2 <= n, falls with the smallest eigenvalue s",
                 sympy.factor(-sympy.diff(value, s)).is_positive),
        computed("at the level it is the claimed number", sympy.simplify(value.subs(s, level_) - claimed_) == 0),
        computed("which is 0 at 1/P = 0, where it is continuous: it falls to 0 as P grows",
                 sympy.cancel(claimed_.subs(count, 1 / t)).subs(t, 0) == 0),
        argued("lambda_min(M) is of the order d = n/c (Lemma D.2), so that is of the order 1/P"),
        tried=len(points_),
    )


_RATIO = real("c", "n/d").at_least(1)

lemma_d_1 = Claim(
    id="relu-approx/lem-D.1",
    source="000, Lemma D.1 (Kim and Pilanci 2024, Proposition 2)",
    quote=(
        r"Suppose we sample $P \geq 2\kappa \log \frac{n}{\delta}$ hyperplane arrangement patterns and "
        r"assume M is invertible. Then, with probability at least $1 - \delta$ , for any $y \in \mathbb{R}^n$ "
        r", there exist $v_1, \ldots, v_P \in \mathbb{R}^d$ such that"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"P \ge 2\kappa\log\frac{n}{\delta} \implies"
              r" \mathbb{P}\Big(\forall y\ \exists v:\ \sum_i D_i X v_i = y\Big) \ge 1 - \delta",
    words="2 kappa log(n/delta) random patterns fit any labels with probability at least 1 - delta",
    hypotheses=(positive_integer("n"), probability("delta"), real("kappa", "M invertible").at_least(2)),
    says=Fraction(2),
    check=judge_patterns,
    flips=(
        Flip("kappa log(n/delta) / 2", Fraction(1, 2), Verdict.REFUTED),
        Flip("kappa log(n/delta)", Fraction(1), Verdict.HOLDS),
    ),
    true_variants={"1 % *": "every factor from 1 on is enough", "one more": "every factor from 1 on is enough"},
    expected="HOLDS ARGUED",
)

lemma_d_2 = Claim(
    id="relu-approx/lem-D.2",
    source="000, Lemma D.2 (Kim and Pilanci 2024, Corollary 3)",
    quote=(
        r"Let the ratio $c = \frac{n}{d} \ge 1$ be fixed. For any $\gamma > 0$ , there exists $d_1$ such that "
        r"for all $d \ge d_1$ with probability at least $1 - \gamma - \frac{1}{(2n)^8}$ ,"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\kappa \le 10\sqrt{2}\,(\sqrt{c} + 1)^2 \quad (c = n/d \ge 1 \text{ fixed},\ d \ge d_1)",
    words="for Gaussian data kappa is at most 10 sqrt 2 (sqrt c + 1)^2 with high probability for large d",
    hypotheses=(_RATIO, probability("gamma")),
    says=10 * sympy.sqrt(2),
    check=judge_condition,
    flips=(
        Flip("the constant 1", sympy.Integer(1), Verdict.REFUTED),
        Flip("the constant 8, between what is proved and refuted", sympy.Integer(8), Verdict.UNDECIDED),
    ),
    rests_on=("background/gaussian-matrix-norm",),
    expected="HOLDS CITED",
)

order_of_p = Claim(
    id="relu-approx/P-order",
    source="000, Section 4 and Appendix D: P = O(n log(n/gamma) / d)",
    quote=(
        r"There results together tell that taking d and n large enough (such that $n \geq d$ ), we have that "
        r"with $P = O(\frac{n\log\frac{n}{\gamma}}{d})$ hyperplane arrangements we get the zero global "
        "optimum with high probability"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"2\kappa\log\frac{n}{\gamma} = O\Big(\frac{n}{d}\log\frac{n}{\gamma}\Big)",
    words="2 kappa log(n/gamma) is of the order n log(n/gamma) / d, since (sqrt c + 1)^2 <= 4 c for c >= 1",
    hypotheses=(_RATIO, positive_integer("n").at_least(2), probability("gamma")),
    says=Fraction(4),
    check=judge_order,
    flips=(Flip("3 c", Fraction(3), Verdict.REFUTED),),
    true_variants={"1 % more": "a larger constant is true, too", "one more": "a larger constant is true, too"},
    uses=("relu-approx/lem-D.1", "relu-approx/lem-D.2"),
    rests_on=("relu-approx/lem-D.1", "relu-approx/lem-D.2"),
    expected="HOLDS CITED",
)

falling = Claim(
    id="relu-approx/minimum-to-zero",
    source="000, Section 4, for labels in [-1, 1], lambda fixed and P >= 4 kappa log(n/gamma)",
    quote=r"the minimum loss $\mathcal{L}(\theta^*, D)$ goes to zero",
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\min \mathcal{L} \le \frac{\lambda n}{2\big(P\lambda_{\min}(M)/(4\log 2) + n\lambda\big)} \to 0"
              r" \text{ but for a probability } \gamma,\quad P \ge 4\kappa\log\frac{n}{\gamma}",
    words="the minimum of (3.6), lambda fixed, goes to zero as P grows, like 1/P: like 1/log n for the document's P, "
          "which supports no rate n^(-1/2) (thm-4.1-regularised)",
    hypotheses=(positive_integer("P"), positive("m", "lambda_min(M)"), positive_integer("n"), positive("lam")),
    says=lambda count, m, n, lam: lam * n / (2 * (count * m / (4 * sympy.log(2)) + n * lam)),
    check=judge_falling,
    flips=(Flip("a hundredth of it", lambda count, m, n, lam: lam * n / (200 * (count * m + n * lam)),
                Verdict.UNDECIDED),),
    rests_on=("background/golden-thompson", "relu-approx/zero-optimum-3.6-repaired", "relu-approx/lem-D.2"),
    expected="HOLDS CITED",
)
