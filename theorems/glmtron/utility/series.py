r"""The sums of Appendix D.2 of document 003: 1 - (1-x)^N, the f(x) of equation (14), and the chain (12), (13).

With q = 1 - x, f(x) = sum_{t<N} (1 - q^{N-t-1})(1 - q^t) = N (1 + q^{N-1}) - 2 (1 - q^N)/x. Each factor rises in x, so
f does; each factor over x falls in x (1 - q^n is concave in x and 0 at 0), so f/x^2 does. Hence a lower bound c N for
x >= 1/(kN) and c k^2 N^3 x^2 below are both decided at x = 1/(kN), where

    f/N = 1 - 2k + q^{N-1} (1 + 2k q),   q = 1 - 1/(kN).

As log(1 - u) >= -u/(1 - u), q^{N-1} >= exp(-(N-1)/(kN-1)) >= e^{-1/k}, and so f/N >= 1 - 2k + e^{-1/k} (1 + 2k - 2/N),
which rises with N: beyond some N that settles it, and each N below is computed. The limits are 3/e - 1 = 0.1036 for
k = 1 and 5 e^{-1/2} - 3 = 0.0327 for k = 2. The recursion that document 003 iterates has x = eta lambda/2, and k* cuts
at lambda = 1/(eta N), which is k = 2; the scan does not show whether (14) has f(eta lambda) or f(eta lambda/2).

For all N: 1 - q^n >= nx - n(n-1)x^2/2 >= (3/4) nx for x <= 1/(2N), n <= N (Bonferroni), and sum_t t (N-1-t) =
N (N-1)(N-2)/6, so that f >= (3/128) ((N-1)(N-2)/N) min(1, (2Nx)^2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive, positive_integer, probability
from oracle.core.enclosure import ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.readings import reading
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, sampled

_FIRST = 51  # from here on f(1/N) >= N/10 and f(1/(2N)) >= N/33
_LAST = {1: 203, 2: 600}  # from here on the limit settles it


def series(n: int, x: Fraction) -> Fraction:
    """f(x), term by term."""
    q = 1 - x
    return sum(((1 - q ** (n - t - 1)) * (1 - q**t) for t in range(n)), Fraction(0))


def _floor(n: int, k: int) -> arb:
    """f(1/(kN))/N by the closed form."""
    q = 1 - arb(1) / (k * n)
    return 1 - 2 * k + q ** (n - 1) * (1 + 2 * k * q)


def steps(first: int, k: int, share: Fraction) -> tuple[ProofStep, ...]:
    """The proof that f(1/(kN)) >= share N for all N >= first."""
    last = _LAST[k]
    with ctx.workprec(80):
        each = all(_floor(n, k) >= ball(share) for n in range(first, last))
        limit = 1 - 2 * k + (-arb(1) / k).exp() * (1 + 2 * k - arb(2) / last)
        beyond = bool(limit >= ball(share))
    x = sympy.Symbol("x", positive=True)
    return (
        computed(f"f(1/({k}N)) >= {share} N for each N from {first} to {last - 1}, by balls", each),
        computed(f"and from {last} on by the bound with e^(-1/{k}), which rises with N", beyond),
        sampled("the closed form is the sum, for N to 9 as polynomials", all(
            vanishes(sympy.expand(x * sum((1 - (1 - x) ** (n - t - 1)) * (1 - (1 - x) ** t) for t in range(n))
                                  - x * n * (1 + (1 - x) ** (n - 1)) + 2 * (1 - (1 - x) ** n))) for n in range(1, 10))),
        argued("f rises and f/x^2 falls in x; log(1 - u) >= -u/(1 - u); the geometric sum for every N"),
    )


def judge_head(k: int) -> Callable[[Callable[[Any], Any], Domain], Finding]:
    """Whether f(x) >= says(N) for all x in [1/(kN), 1]."""

    def judge(says: Callable[[Any], Any], given: Domain) -> Finding:
        low, values = given["N"].low, given.values("N")
        short = range(max(1, int(low or 1)), _FIRST)  # each of the lengths that the steps leave out
        for n in (*([10] if given.contains(N=10) else []), *[n for n in values if n >= 1], *short):
            x = Fraction(1, k * n)
            true = series(n, x)
            if true < says(n):
                return refuted("f is smaller at the cut", {"N": n, "x": x, "f": f"{float(true):.9g}", "claimed": says(
                    n)})
        first = max(int(low or 1), _FIRST)
        n_ = first + sympy.Symbol("t_N", integer=True, nonnegative=True)
        share = Fraction(1, 10) if k == 1 else Fraction(1, 33)
        return proof(
            *[computed(f"f(1/({k}N)) is at least what is claimed for each N below {first}, exactly", all(
                series(n, Fraction(1, k * n)) >= says(n) for n in short))] * bool(short),
            *steps(first, k, share),
            computed(f"what is claimed is at most {share} N from there on", never_negative(
                n_ * share.numerator / share.denominator - says(n_))),
            tried=len(values) + len(short),
        )

    return judge


def judge_tail(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether f(x) >= says(N, x) for 0 < x < 1/N."""
    tried = 0
    for point in given.points("share", "N"):
        n, x = point["N"], point["share"] / point["N"]
        tried += 1
        true = series(n, x)
        if true < says(n, x):
            return refuted("f is smaller below the cut", {
                "N": n, "x": x, "f": f"{float(true):.9g}", "claimed": f"{float(says(n, x)):.9g}"})
    n_, share_ = given.chart("N"), given.symbol("share")
    low = given["N"].low
    return proof(
        *steps(int(low or 1), 1, Fraction(1, 10)),
        computed("what is claimed is at most N^3 x^2/10", never_negative(n_ * share_**2 / 10 - says(n_, share_ / n_))),
        tried=tried,
    )


def judge_both(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether f(x) >= says(N) min(1, (2Nx)^2) for every N and every x in (0, 1]."""
    tried = 0
    for point in given.points("reach", "N"):
        n, z = point["N"], point["reach"]
        x = min(Fraction(1), z / (2 * n))
        tried += 1
        if series(n, x) < says(n) * min(Fraction(1), (2 * n * x) ** 2):
            return refuted("f is smaller", {"N": n, "x": x, "f": series(n, x), "claimed": says(n) * min(1, (
                2 * n * x) ** 2)})
    n_, x, t, size = given.chart("N"), sympy.Symbol("x", positive=True), sympy.Symbol("t"), sympy.Symbol("n",
        positive=True)
    total = sympy.summation(t * (size - 1 - t), (t, 0, size - 1))
    s = sympy.Symbol("s", nonnegative=True)
    return proof(
        computed("sum_t t (N-1-t) = N (N-1)(N-2)/6", vanishes(total - size * (size - 1) * (size - 2) / 6)),
        computed("nx - n(n-1)x^2/2 >= (3/4) nx for n = N - s and 2Nx = 1/(1 + s')", never_negative(
            sympy.Rational(1, 4) - (size - 1) / (4 * (size + s)))),
        computed("(9/16) x^2 N (N-1)(N-2)/6 at 2Nx = z is (3/128) z^2 (N-1)(N-2)/N", vanishes(
            sympy.Rational(9, 16) * (x / (2 * size)) ** 2 * size * (size - 1) * (size - 2) / 6
            - sympy.Rational(3, 128) * x**2 * (size - 1) * (size - 2) / size)),
        computed("what is claimed is at most that", never_negative(
            sympy.expand((sympy.Rational(3, 128) * (n_ - 1) * (n_ - 2) / n_ - says(n_)) * n_) + 0) or vanishes(
            sympy.Rational(3, 128) * (n_ - 1) * (n_ - 2) / n_ - says(n_))),
        argued("Bonferroni's inequality; f rises in x, so it is above its value at 1/(2N) beyond"), tried=tried,
    )


def judge_bernoulli(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether 1 - (1-x)^N <= min(1, says(N, x)) for x in (0, 1)."""
    tried = 0
    for point in given.points("x", "N"):
        n, x = point["N"], point["x"]
        tried += 1
        if 1 - (1 - x) ** n > min(1, says(n, x)):
            return refuted("more", {"N": n, "x": x, "1 - (1-x)^N": 1 - (1 - x) ** n, "claimed": min(1, says(n, x))})
    n_, x_ = given.chart("N"), given.chart("x")
    return proof(
        computed("the start, N = 1: 1 - (1 - x) <= says(1, x)", never_negative(says(sympy.Integer(1), x_) - x_)),
        computed("the step: 1 - (1-x)(1 - says(N, x)) <= says(N+1, x)", never_negative(
            sympy.together(says(n_ + 1, x_) - 1 + (1 - x_) * (1 - says(n_, x_))))),
        argued("induction; and (1-x)^N >= 0"), tried=tried,
    )


def judge_inverse(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether 1/lambda <= says(N, eta) for every lambda >= 1/(eta N): each of the k* terms."""
    tried = 0
    for point in given.points("eta", "excess", "N"):
        n, eta = point["N"], point["eta"]
        lam = (1 + point["excess"]) / (eta * n)
        tried += 1
        if 1 / lam > says(n, eta):
            return refuted("larger", {"N": n, "eta": eta, "lambda": lam, "1/lambda": 1 / lam, "claimed": says(n, eta)})
    n_, eta_, more = given.symbol("N"), given.symbol("eta"), given.symbol("excess")
    return proof(computed("1/lambda <= eta N at lambda = (1 + s)/(eta N)", never_negative(
        says(n_, eta_) - eta_ * n_ / (1 + more))), tried=tried)


def _from(low: int) -> Parameter:
    return replace(positive_integer("N"), low=Fraction(low))


_WEAKER = {"1 % less": "a smaller lower bound is weaker", "sign": "likewise"}
_QUOTE = ("By defining f(z) := Y1 o' (1 — (1 —2)N=*=1)(1 — (1 — )*) and according to Lemma C.3 in [36],\nwe have:")
_EQ_14 = ("NE* 2N 4F2f N 2N3\n> )\\2 A 1 ot 2 )\\7,\n_N2(1 > N2 10,Z BT ,Z )\ni>k* i<k* i>k*\n(14)")
head = Claim(
    id="glmtron/lemma-f-x", source="003, Appendix D.2: f(x) >= N/10 for x >= 1/N", quote=_QUOTE, whose=Whose.PRINTED,
    severity=Stake.PROOF, statement=r"f(x) = \sum_{t<N} (1 - (1-x)^{N-t-1})(1 - (1-x)^t) \ge N/10, \quad x \ge 1/N",
    words="f(x) is at least N/10 for x >= 1/N", hypotheses=(positive_integer("N"),), says=lambda n: n * Fraction(1, 10),
    check=judge_head(1), expected="REFUTED PROVED",
    flips=(Flip("less 1/5", lambda n: n * Fraction(1, 10) - Fraction(1, 5), Verdict.HOLDS),
           Flip("less 1/6", lambda n: n * Fraction(1, 10) - Fraction(1, 6), Verdict.REFUTED)),
    repair=Repair(
        statement=r"f(x) \ge N/10, \quad x \ge 1/N,\ N \ge 51", words="f(x) is at least N/10 for x >= 1/N and N >= 51",
        says=lambda n: n / 10, hypotheses=(_from(51),), check=judge_head(1), expected="HOLDS ARGUED",
        flips=(Flip("N/9", lambda n: n / 9, Verdict.REFUTED),), true_variants={
            **_WEAKER, "10 -> 11 *": "a smaller lower bound is weaker"},
    ),
)
tail = Claim(
    id="glmtron/lemma-f-2-15", source="003, equation (14): f(x) >= 2 N^3 x^2/15 for x < 1/N", quote=_EQ_14,
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=r"f(x) \ge \tfrac{2}{15} N^3 x^2, \quad x < 1/N",
    words="f(x) is at least 2 N^3 x^2/15 for x < 1/N", hypotheses=(probability("share", "N x"), _from(51)),
    says=lambda n, x: n**3 * x**2 * 2 / 15, check=judge_tail, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f(x) \ge \tfrac{1}{10} N^3 x^2, \quad x < 1/N,\ N \ge 51",
        words="f(x) is at least N^3 x^2/10 for x < 1/N and N >= 51", says=lambda n, x: n**3 * x**2 / 10,
        expected="HOLDS ARGUED", rests_on=("glmtron/lemma-f-x-repaired",),
        true_variants={**_WEAKER, "10 -> 11 *": "a smaller lower bound is weaker",
            "** -> ?* (operator 1)": "3 N x^2/10 is smaller"},
    ),
)
half_step = Claim(
    id="glmtron/eq-14-half-step", source="003, equation (14) at the half steps x = eta lambda/2 of its recursion",
    quote=_EQ_14, whose=Whose.READING, severity=Stake.PROOF,
    statement=r"f(\eta\lambda_i/2) \ge N/10, \quad \lambda_i \ge 1/(\eta N)",
    words="f(eta lambda/2) is at least N/10 above the cut lambda = 1/(eta N)", hypotheses=(_from(51),),
    says=lambda n: n * Fraction(1, 10), check=judge_head(2), expected="REFUTED PROVED",
    repair=Repair(
        statement=r"f(\eta\lambda_i/2) \ge N/33, \quad \lambda_i \ge 1/(\eta N),\ N \ge 51",
        words="f(eta lambda/2) is at least N/33 above the cut lambda = 1/(eta N), for N >= 51", says=lambda n: n / 33,
        expected="HOLDS ARGUED", true_variants={**_WEAKER, "33 -> 34 *": "a smaller lower bound is weaker"},
    ),
)
series_bounds = Claim(
    id="glmtron/eq-14-series", source="003, equation (14): the lower bounds on f at the cut, their joint constant 1/15",
    quote=_EQ_14, whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"f \ge \tfrac{N}{15} \min(1, (N\eta\lambda_i)^2)",
    words="equation (14): f is at least N/15 times min(1, (N eta lambda)^2), its argument being hidden by the scan",
    hypotheses=(_from(51),), says=None, check=None, expected="AMBIGUOUS ARGUED",
    readings=("glmtron/eq-14-series-reading-full", "glmtron/eq-14-series-reading-half"),
)
full_step = reading(
    series_bounds, "full", words="f(eta lambda) is at least N/15 times min(1, (N eta lambda)^2), for N >= 51",
    says=lambda n: n / 15, check=judge_head(1), expected="HOLDS ARGUED", rests_on=("glmtron/lemma-f-x-repaired",),
    flips=(Flip("N/9", lambda n: n / 9, Verdict.REFUTED),),
    true_variants={**_WEAKER, "1 % more": "N/10 is true", "15 -> 16 *": "a smaller lower bound is weaker"},
)
half_steps = reading(
    series_bounds, "half", words="f(eta lambda/2), as the recursion has it, is at least N/15 times min(1, (N eta "
                                 "lambda)^2)",
    says=lambda n: n * Fraction(1, 15), check=judge_head(2), expected="REFUTED PROVED",
    flips=(Flip("N/33", lambda n: n / 33, Verdict.HOLDS),),
)
all_lengths = Claim(
    id="glmtron/eq-14-series-repaired", source="003, equation (14), repaired for every N", severity=Stake.PROOF,
    statement=r"f(\eta\lambda_i/2) \ge \tfrac{3}{128} \tfrac{(N-1)(N-2)}{N} \min(1, (N\eta\lambda_i)^2)",
    words="f(eta lambda/2) is at least (3/128) (N-1)(N-2)/N times min(1, (N eta lambda)^2), for every N",
    hypotheses=(positive("reach", "N eta lambda"), positive_integer("N")),
    says=lambda n: (n - 1) * (n - 2) / n * Fraction(3, 128), check=judge_both, expected="HOLDS ARGUED",
    flips=(Flip("3/64", lambda n: (n - 1) * (n - 2) / n * Fraction(3, 64), Verdict.REFUTED),
           Flip("N/10", lambda n: n * Fraction(1, 10), Verdict.REFUTED)),
    true_variants={"2 -> 3 *": "a smaller lower bound is weaker", "any reach": "both factors of f have one sign for x "
        "< 0, too"},
)
bernoulli = Claim(
    id="glmtron/eq-1-1-x-N", source="003, Appendix D.2, after (11)", whose=Whose.PRINTED, severity=Stake.PROOF,
    quote="Noting that for any = € (0,1/7), we have 1 — (1 — nz)¥ < min{1, Nnz}, then",
    statement=r"1 - (1 - x)^N \le \min(1, Nx)", words="1 - (1-x)^N is at most min(1, N x) for 0 < x < 1",
    hypotheses=(probability("x"), positive_integer("N")), says=lambda n, x: n * x, check=judge_bernoulli,
    expected="HOLDS ARGUED", flips=(Flip("half of it", lambda n, x: n * x / 2, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is weaker", "?* -> + *": "N + x is above 1"},
)
inverse = Claim(
    id="glmtron/eq-12-13", source="003, from (12) to (13)", whose=Whose.PRINTED, severity=Stake.EDITORIAL,
    quote="where the second inequality holds since tr(Hy,;.) = Zf;l AP < Nyp-k*and A > niN",
    statement=r"\sum_{i \le k^*} \lambda_i^{-1} \le N\eta k^*",
    words="each 1/lambda_i up to k* is at most N eta (the last line goes back to the smaller sum: both are upper "
          "bounds)",
    hypotheses=(positive("eta"), Parameter("excess", low=Fraction(0)), positive_integer("N")), says=lambda n,
    eta: n * eta,
    check=judge_inverse, expected="HOLDS PROVED", flips=(Flip("half", lambda n, eta: n * eta / 2, Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is weaker"},
)
