r"""Section 4 and Appendix D of document 000: when does the convex problem fit the labels exactly?

Let A = (D_1 X, ..., D_P X), so that sum_i D_i X v_i = A v and A A^T = sum_i D_i X X^T D_i.

Zero optimum. Problem (3.6) is |A v - y|^2 / (2n) + lambda |v|^2 / 2. In the singular directions of A it splits into
(s v - y)^2 / (2n) + lambda v^2 / 2, with minimum lambda y^2 / (2 (s^2 + n lambda)): positive unless y = 0. Together it
is (lambda/2) y^T (A A^T + n lambda I)^{-1} y, and as A A^T <= P |X|^2 it is at least lambda |y|^2 / (2 (P|X|^2 + n
lambda)). Only lambda = 0 can give zero.

Lemma D.1. Every y is reached when S = A A^T is invertible. The summands Y_i are independent, 0 <= Y_i <= r I with r =
lambda_max(X X^T), of mean M >= (r / kappa) I. For t > 0, e^{-tY} <= I - (1 - e^{-tr}) Y / r by convexity, so
|E e^{-tY}| <= 1 - (1 - e^{-tr}) / kappa, and by the Golden-Thompson inequality, P times, E tr e^{-tS} is at most
n |E e^{-tY}|^P. If S is singular that trace is at least 1. Let t grow: S is singular with a probability of at most
n (1 - 1/kappa)^P <= n e^{-P/kappa}. The lemma asks for P >= 2 kappa log(n/delta), twice as much as needed.

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

from oracle.core.domain import non_negative, positive, positive_integer, probability
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.tools.effort import points
from theorems.verdict import Finding, Verdict, argued, proof, refuted, undecided

Optimum = Callable[[sympy.Matrix, sympy.Matrix, int, Any], Any]

# Directions of u, one in each of the eight sectors between the multiples of 45 degrees, all equally likely.
_DIRECTIONS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
_DATA: tuple[tuple[tuple[int, int], ...], ...] = (
    ((1, 0),), ((1, 0), (-1, 0)), ((1, 0), (0, 1)), ((1, 0), (1, 1)), ((1, 0), (1, 1), (0, 1)),
    ((1, 0), (1, 1), (0, 1), (-1, 1)),
)


def pattern(rows: tuple[tuple[int, int], ...], direction: tuple[int, int]) -> tuple[int, ...]:
    """Which rows lie on the positive side."""
    return tuple(int(x * direction[0] + y * direction[1] >= 0) for x, y in rows)


def gram(rows: tuple[tuple[int, int], ...], patterns: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """The sum of D X X^T D over the patterns."""
    return [
        [sum(p[i] * p[j] for p in patterns) * (a[0] * b[0] + a[1] * b[1]) for j, b in enumerate(rows)]
        for i, a in enumerate(rows)
    ]


# --- problem (3.6) and its optimum


def optimum(outer: sympy.Matrix, y: sympy.Matrix, n: int, lam: Any) -> Any:
    """The minimum of (3.6) from A A^T."""
    return sympy.simplify(lam / 2 * (y.T * (outer + n * lam * sympy.eye(len(y))).inv() * y)[0])


def solved(rows: tuple[tuple[int, int], ...], patterns: tuple[tuple[int, ...], ...], y: sympy.Matrix, lam: Any) -> Any:
    """The minimum of (3.6) by solving the normal equations and evaluating the loss."""
    features = sympy.Matrix([[p[i] * entry for p in patterns for entry in row] for i, row in enumerate(rows)])
    n, size = features.shape
    best = (features.T * features + n * lam * sympy.eye(size)).LUsolve(features.T * y)
    rest = features * best - y
    return (rest.T * rest)[0] / (2 * n) + lam / 2 * (best.T * best)[0]


def judge_optimum(says: Optimum, given: Domain) -> Finding:
    """Hold a formula for the optimum of (3.6) against solved instances, and against the singular directions."""
    tried = 0
    for rows in _DATA[:5]:
        for count, lam in itertools.product((1, 2), (sympy.Integer(1), sympy.Rational(1, 10))):
            patterns = tuple(pattern(rows, u) for u in _DIRECTIONS[:count])
            y = sympy.Matrix([1] * len(rows))
            tried += 1
            claimed, true = says(sympy.Matrix(gram(rows, patterns)), y, len(rows), lam), solved(rows, patterns, y, lam)
            if claimed != true:
                return refuted(
                    "the minimum of (3.6) is another number, exactly",
                    {
                        "X": str([list(row) for row in rows]), "u": str([list(u) for u in _DIRECTIONS[:count]]),
                        "y": str(list(y)), "lambda": str(lam), "claimed minimum": str(claimed), "minimum": str(true),
                    },
                )
    first, second, lam = sympy.symbols("s_1 s_2 lambda", positive=True)
    values = sympy.symbols("y_1 y_2", real=True)
    turn = sympy.Matrix([[3, -4], [4, 3]]) / 5
    outer = turn * sympy.diag(first**2, second**2) * turn.T
    v = sympy.symbols("v", real=True)
    total = 0
    for s, y in zip((first, second), values, strict=True):
        loss = (s * v - y) ** 2 / 4 + lam * v**2 / 2  # n = 2
        total += loss.subs(v, sympy.solve(sympy.diff(loss, v), v)[0])
    if sympy.simplify(says(outer, turn * sympy.Matrix(values), 2, lam) - total) != 0:
        return undecided("right at the instances; not proved", tried)
    return proof(argued(
        "in each singular direction of A the minimum is lambda y^2 / (2 (s^2 + n lambda)) (computer algebra); the loss "
        f"splits into these; {tried} instances solved exactly"
    ))


def judge_nested(sign: int, given: Domain) -> Finding:
    """Whether one more pattern never raises (-1), or never lowers (1), the optimal training loss of (3.6)."""
    tried = 0
    for rows in _DATA:
        y = sympy.Matrix([(-1) ** i for i in range(len(rows))])
        losses = [
            solved(rows, tuple(pattern(rows, u) for u in _DIRECTIONS[:count]), y, sympy.Rational(1, 10))
            for count in range(1, 5)
        ]
        for count, (before, after) in enumerate(itertools.pairwise(losses), start=1):
            tried += 1
            if sign * (after - before) < 0:
                return refuted(
                    "it moves the other way, exactly",
                    {"X": str([list(row) for row in rows]), "P": f"{count}, {count + 1}", "loss": f"{before}, {after}"},
                )
    if sign != -1:
        return undecided("at points", tried)
    return proof(argued(
        f"v_(P+1) = 0 leaves the loss of P patterns as it is, so the minimum cannot rise; {tried} steps solved exactly"
    ))


# --- Lemma D.1


def covering(draws: int, size: int) -> int:
    """The number of sequences of draws that show each of `size` things at least once."""
    return sum((-1) ** i * math.comb(size, i) * (size - i) ** draws for i in range(size + 1))


def singular_subsets(rows: tuple[tuple[int, int], ...]) -> dict[int, int]:
    """How many sets of directions, by their size, leave the matrix S singular; exact ranks."""
    patterns = [pattern(rows, u) for u in _DIRECTIONS]
    counts: dict[int, int] = {}
    for size in range(1, len(_DIRECTIONS) + 1):
        counts[size] = sum(
            fmpq_mat(gram(rows, chosen)).rank() < len(rows) for chosen in itertools.combinations(patterns, size)
        )
    return counts


def extreme(matrix: list[list[int]], scale: int, pick: Callable[[list[arb]], arb]) -> arb:
    """The largest or smallest eigenvalue of a symmetric integer matrix over a scale, in a ball."""
    roots: Any = fmpq_mat(matrix).charpoly().numer().complex_roots()  # pairs (root, multiplicity)
    return pick([root.real for root, _ in roots]) / scale


def condition(rows: tuple[tuple[int, int], ...]) -> arb:
    """kappa = lambda_max(X X^T) / lambda_min(M)."""
    mean = gram(rows, tuple(pattern(rows, u) for u in _DIRECTIONS))
    return extreme(gram(rows, ((1,) * len(rows),)), 1, _largest) / extreme(mean, len(_DIRECTIONS), _smallest)


def _largest(values: list[arb]) -> arb:
    return -_smallest([-value for value in values])


def _smallest(values: list[arb]) -> arb:
    result = values[0]
    for value in values[1:]:
        result = result.min(value)
    return result


def instances() -> Iterator[tuple[tuple[tuple[int, int], ...], arb, dict[int, int]]]:
    """The data sets with an invertible M, their kappa and their singular sets of patterns."""
    for rows in _DATA:
        if fmpq_mat(gram(rows, tuple(pattern(rows, u) for u in _DIRECTIONS))).rank() == len(rows):
            yield rows, condition(rows), singular_subsets(rows)


def judge_patterns(factor: Fraction, given: Domain) -> Finding:
    """Whether P >= factor kappa log(n/delta) patterns fail with a probability of at most delta: exact enumeration."""
    tried = 0
    with ctx.workprec(128):
        for rows, kappa, counts in instances():
            for draws in range(1, points(40) + 1):
                tried += 1
                failing = Fraction(
                    sum(count * covering(draws, size) for size, count in counts.items()), len(_DIRECTIONS) ** draws
                )
                allowed = len(rows) * (-draws / (ball(factor) * kappa)).exp()  # the delta with equality
                if ball(failing) > allowed and allowed < 1:
                    return refuted(
                        "fails more often than delta, exactly",
                        {
                            "X": str([list(row) for row in rows]), "P": str(draws), "factor": str(factor),
                            "kappa": kappa.str(12), "probability of failing": str(failing),
                            "delta": allowed.str(12),
                        },
                    )
    if factor < 1:
        return undecided("no instance fails; below what is proved", tried)
    return proof(argued(
        "failing has a probability of at most n (1 - 1/kappa)^P <= n e^{-P/kappa}, so the factor 1 is enough; "
        f"{tried} cases enumerated exactly"
    ))


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
    rho = sympy.symbols("rho")
    series = sympy.Poly(sympy.series(rho * sympy.asin(rho), rho, 0, 12).removeO(), rho).all_coeffs()
    if min(series) < 0:
        return undecided("coefficients", 1)
    for c in (1, 4, 9, 100, 10**4, 10**6):
        below, claimed = sympy.Integer(2 * (c + 1)), constant * (sympy.sqrt(c) + 1) ** 2
        if (claimed - below).is_negative:
            return refuted(
                "kappa is at least 2 (c + 1) (1 - o(1)) as d grows",
                {"c": str(c), "claimed bound": str(claimed), "limit of kappa is at least": str(below)},
            )
    with ctx.workprec(128):
        value = ball(Fraction(int(sympy.floor(constant * 10**20)), 10**20))  # rounded down: harder to prove
        starts = {
            (c, gamma): explicit_start(value, Fraction(c), Fraction(gamma))
            for c, gamma in ((1, "1/10"), (2, "1/20"), (10, "1/100"))
        }
        # The bound tends to this multiple of (sqrt c + 1)^2 for every c.
        for_every_c = bool(value > 1 / (ball(Fraction(1, 4)) - 1 / (2 * arb.pi())))
    if not for_every_c or any(start is None for start in starts.values()):
        return undecided("between what is proved and what is refuted", len(starts))
    return proof(argued(
        "lambda_min(M) >= (1/4 - 1/(2 pi)) d (1 - o(1)), so any constant above 11.01 is enough; explicit d_1: "
        + ", ".join(f"{start} for c = {c} and gamma = {gamma}" for (c, gamma), start in starts.items())
    ))


def judge_order(constant: Fraction, given: Domain) -> Finding:
    """Whether (sqrt c + 1)^2 <= constant c for every c >= 1, so that 2 kappa log(n/gamma) = O(n log(n/gamma) / d)."""
    if constant < 4:
        return refuted("fails at c = 1", {"c": "1", "(sqrt c + 1)^2": "4", "constant": str(constant)})
    t, more = sympy.symbols("t more", nonnegative=True)  # t = sqrt c - 1
    gap = sympy.expand((4 + more) * (t + 1) ** 2 - (t + 2) ** 2)
    if not all(coefficient.is_nonnegative for coefficient in sympy.Poly(gap, t, more).coeffs()):
        return undecided("not shown", 1)
    return proof(argued(
        "4 c - (sqrt c + 1)^2 is a polynomial in sqrt c - 1 with coefficients >= 0 (computer algebra), so P = "
        "2 kappa log(n/gamma) <= 80 sqrt 2 (n/d) log(n/gamma); spending gamma/2 on each lemma costs at most the factor "
        "log(2n/gamma) / log(n/gamma) <= 2 (n >= 2)"
    ))


_DATA_MODEL = (positive_integer("n"), positive_integer("d"))

zero_optimum = Claim(
    id="relu-approx/zero-optimum-3.6",
    source="000, Section 4: with enough hyperplanes the stochastic problem (3.6) has zero global optimum",
    quote=(
        r"we get zero global optimum for the stochastic problem (3.6) with probability at least $1 - \gamma - "
        r"\frac{1}{(2n)^8}$ ."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\min_v \frac{1}{2n}\lVert\sum_i D_i X v_i - y\rVert^2 + \frac{\lambda}{2}\sum_i \|v_i\|^2 = 0",
    words="with enough random hyperplanes the strongly convex problem (3.6), lambda > 0, has optimum zero",
    hypotheses=(*_DATA_MODEL, positive_integer("P"), positive("lam")),
    says=lambda outer, y, n, lam: sympy.Integer(0),
    check=judge_optimum,
    uses=("relu-approx/lem-D.1", "relu-approx/lem-D.2"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=(
            r"\min_v \mathcal{L} = \frac{\lambda}{2}\, y^T (A A^T + n\lambda I)^{-1} y,\ A = (D_1 X, \dots, D_P"
            r" X)"
        ),
        words="the optimum of (3.6) is (lambda/2) y^T (A A^T + n lambda I)^-1 y, zero only for y = 0 or in the limit "
              "lambda = 0",
        says=optimum,
        expected="HOLDS ARGUED",
        source="000, Section 4, problem (3.6) for every lambda > 0",
        flips=(Flip("without n", lambda outer, y, n, lam: optimum(outer, y, 1, lam), Verdict.REFUTED),),
    ),
)

nested = Claim(
    id="relu-approx/fig-4-nested",
    source="000, Appendix E.1: the approximability of the stochastic dual problem increases with P (its training loss)",
    quote=(
        "This comparison shows that the approximability of the stochastic dual problem increases with increasing "
        "P."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\min_v \mathcal{L}_{P+1} \le \min_v \mathcal{L}_{P}",
    words="more random hyperplanes never raise the optimal training loss of (3.6)",
    hypotheses=(*_DATA_MODEL, positive_integer("P"), non_negative("lam")),
    says=-1,
    check=judge_nested,
    flips=(Flip("never lower it", 1, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

lemma_d_1 = Claim(
    id="relu-approx/lem-D.1",
    source="000, Lemma D.1 (Kim and Pilanci 2024, Proposition 2)",
    quote=(
        r"Suppose we sample $P \geq 2\kappa \log \frac{n}{\delta}$ hyperplane arrangement patterns and "
        r"assume M is invertible. Then, with probability at least $1 - \delta$ , for any $y \in \mathbb{R}^n$ "
        r", there exist $v_1, \ldots, v_P \in \mathbb{R}^d$ such that"
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"P \ge 2\kappa\log\frac{n}{\delta} \implies"
              r" \mathbb{P}\Big(\forall y\ \exists v:\ \sum_i D_i X v_i = y\Big) \ge 1 - \delta",
    words="2 kappa log(n/delta) random patterns fit any labels with probability at least 1 - delta",
    hypotheses=(*_DATA_MODEL, probability("delta"), positive("kappa", "condition number, M invertible")),
    says=Fraction(2),
    check=judge_patterns,
    flips=(
        Flip("kappa log(n/delta) / 2", Fraction(1, 2), Verdict.REFUTED),
        Flip("kappa log(n/delta)", Fraction(1), Verdict.HOLDS),
    ),
    rests_on=("background/golden-thompson",),
    expected="HOLDS CITED",
)

lemma_d_2 = Claim(
    id="relu-approx/lem-D.2",
    source="000, Lemma D.2 (Kim and Pilanci 2024, Corollary 3)",
    quote=(
        r"Let the ratio $c = \frac{n}{d} \ge 1$ be fixed. For any $\gamma > 0$ , there exists $d_1$ such that "
        r"for all $d \ge d_1$ with probability at least $1 - \gamma - \frac{1}{(2n)^8}$ ,"
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\kappa \le 10\sqrt{2}\,(\sqrt{c} + 1)^2 \quad (c = n/d \ge 1 \text{ fixed},\ d \ge d_1)",
    words="for Gaussian data kappa is at most 10 sqrt 2 (sqrt c + 1)^2 with high probability for large d",
    hypotheses=(*_DATA_MODEL, probability("gamma")),
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
    severity=Severity.UTILITY,
    statement=r"2\kappa\log\frac{n}{\gamma} = O\Big(\frac{n}{d}\log\frac{n}{\gamma}\Big)",
    words="2 kappa log(n/gamma) is of the order n log(n/gamma) / d, since (sqrt c + 1)^2 <= 4 c for c >= 1",
    hypotheses=(*_DATA_MODEL, probability("gamma"), non_negative("c")),
    says=Fraction(4),
    check=judge_order,
    flips=(Flip("3 c", Fraction(3), Verdict.REFUTED),),
    uses=("relu-approx/lem-D.1", "relu-approx/lem-D.2"),
    expected="HOLDS ARGUED",
)
