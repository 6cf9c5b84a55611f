r"""Effective dimensions and the simplified cases of Section 4 of document 003.

k* counts the lambda_i >= 1/(eta N). With z = eta N lambda each term of D_eff is min(1, z^2), and each of D_pri that
over lambda. First case, tr(H) <= 1, eta N = n = sqrt(N): 1 <= n lambda in the head and z^2 <= z in the tail, so D_eff
<= n tr(H), k* <= n tr(H), and D_pri <= n^2 tr(H) = N. Second case, H = I: all d terms are 1 once eta N >= 1.

A vanishing bound. Its variance term is sigma^2 D_eff/N >= sigma^2 k*/N, so k* = o(N) is necessary where sigma > 0. A
tail sum of o(1/N) is not: for lambda_i = i^-2 and eta = N^(-3/5), k* <= N^(1/5), and sum_{i > k*} i^-2 >= 1/(k* + 1) is
of order N^(-1/5), while all three terms vanish (the rate is N^(-2/5), Corollary 4.3). The private term needs
N eta^2 sum_{i > k*} lambda_i to vanish: a tail of o(1/(eta^2 N)), which is o(1/N) for a constant step size only.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive, positive_integer
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import dimension
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as is_positive
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

_SPECTRA: tuple[tuple[Fraction, ...], ...] = (
    (Fraction(1),), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)), (Fraction(1, 7),) * 7,
    (Fraction(9, 10), *[Fraction(1, 500)] * 50),
)


def judge_terms(says: tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]], given: Domain) -> Finding:
    """Whether the sums of says[0](z) and says[1](z), z = eta N lambda, head and tail, are D_eff lambda^-power."""
    head, tail = says
    tried = 0
    for reach in given.values("reach"):
        for spectrum in _SPECTRA:
            for power in (0, 1):
                printed = dimension(spectrum, reach, power)
                split = sum(((head if reach * lam >= 1 else tail)(reach * lam, lam**power) for lam in spectrum),
                    Fraction(0))
                short = sum((min(Fraction(1), (reach * lam) ** 2) / lam**power for lam in spectrum), Fraction(0))
                tried += 1
                if split != short or printed != short:
                    return refuted("the sums differ", {"eta N": reach, "spectrum": spectrum, "claimed": split,
                        "printed": short})
    z, over = sympy.symbols("z l", positive=True)
    more = sympy.Symbol("s", nonnegative=True)
    return proof(
        computed("the head's term is the smaller of 1 and z^2 for z = 1 + s",
                 vanishes(head(1 + more, over) - 1 / over) and never_negative((1 + more) ** 2 - 1)),
        computed("the tail's term is the smaller for z = 1/(1 + s)", vanishes(tail(z, over) - z**2 / over)
                 and never_negative(1 - 1 / (1 + more) ** 2)), tried=tried,
    )


def judge_trace(says: tuple[Callable[[Any], Any], ...], given: Domain) -> Finding:
    """Whether k*, D_eff and D_pri are at most says[0](n), says[1](n), says[2](n), n = sqrt(N) = eta N, tr(H) <= 1."""
    tried = 0
    for n in given.values("root"):
        for spectrum in (*_SPECTRA, (1 / Fraction(n),) * int(n)):
            found = (sum(lam >= 1 / Fraction(n) for lam in spectrum), dimension(spectrum, Fraction(n), 0),
                     dimension(spectrum, Fraction(n), 1))
            tried += 1
            for name, true, claimed in zip(("k*", "D_eff", "D_pri"), found, says, strict=True):
                if true > claimed(Fraction(n)):
                    return refuted("a spectrum of trace at most 1 has more", {
                        "sqrt N": n, "spectrum": ", ".join(map(str, spectrum[:5])), name: true, "claimed": claimed(
                            Fraction(n))})
    n_ = given.chart("root")
    more = sympy.Symbol("s", nonnegative=True)
    above, below = (1 + more) / n_, 1 / (n_ * (1 + more))
    return proof(
        computed("in the head 1 <= n lambda and 1/lambda <= n^2 lambda; in the tail n^2 lambda^2 <= n lambda",
                 never_negative(n_ * above - 1, n_**2 * above - 1 / above, n_ * below - (n_ * below) ** 2)),
        computed("so k*, D_eff <= n tr(H) and D_pri <= n^2 tr(H), which is at most what is claimed",
                 never_negative(says[0](n_) - n_, says[1](n_) - n_, says[2](n_) - n_**2)),
        computed("for every trace T = 1/(1 + s) up to 1, n T <= n and n^2 T <= n^2",
                 never_negative(n_ - n_ / (1 + more), n_**2 - n_**2 / (1 + more))), tried=tried,
    )


def judge_isotropic(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether D_eff = D_pri = says(d) for H = I, eta N >= 1."""
    tried = 0
    for point in given.points("reach", "d"):
        d, reach = point["d"], point["reach"]
        tried += 1
        for power in (0, 1):
            true = dimension((Fraction(1),) * d, reach, power)
            if true != says(d):
                return refuted("another dimension", {"d": d, "eta N": reach, "dimension": true, "claimed": says(d)})
    d_ = given.symbol("d")
    return proof(computed("d terms, each 1/1 = 1 as lambda = 1 >= 1/(eta N)", vanishes(says(d_) - d_)
                          and never_negative(given.chart("reach") - 1)), tried=tried)


def judge_necessary(says: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether the variance term sigma^2 D_eff/N is at least says(sigma^2, k*/N)."""
    tried = 0
    for point in given.points("variance", "reach"):
        for spectrum in _SPECTRA:
            reach, n = point["reach"], 10
            k = sum(lam >= 1 / reach for lam in spectrum)
            true = point["variance"] * dimension(spectrum, reach, 0) / n
            tried += 1
            if true < says(point["variance"], Fraction(k, n)):
                return refuted("the variance term is smaller", {
                    "sigma^2": point["variance"], "k*/N": Fraction(k, n), "term": true, "claimed": says(
                        point["variance"], Fraction(k, n))})
    v_, share, more = given.symbol("variance"), sympy.Symbol("k", nonnegative=True), sympy.Symbol("s", nonnegative=True)
    return proof(
        computed("sigma^2 (k* + a sum >= 0)/N is at least sigma^2 k*/N, on symbols",
                 never_negative(v_ * (share + more) - says(v_, share))),
        computed("and sigma^2 k*/N vanishes with k*/N only, as sigma > 0", is_positive(v_)), tried=tried,
    )


def judge_needed(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether a vanishing bound needs a tail sum below N^says(h), where eta = N^-h and lambda_i = i^-2: by exponents.

    Orders: k* = N^((1-h)/2), the tail N^(-(1-h)/2), D_eff = k*, D_pri = N^(3(1-h)/2). The bound vanishes if 1/(eta N),
    D_eff/N and D_pri/N do.
    """
    tried = 0
    for h in given.values("h"):
        bias, variance, private = h - 1, (1 - h) / 2 - 1, 3 * (1 - h) / 2 - 1
        tailed = -(1 - h) / 2
        tried += 1
        if max(bias, variance, private) < 0 and tailed >= says(h):
            n = 10**10
            return refuted("the bound vanishes, and the tail sum does not fall so fast", {
                "lambda_i": "i^-2", "eta": f"N^-{h}",
                "exponents of bias, variance, private": f"{bias}, {variance}, {private}",
                "exponent of the tail": tailed, "claimed": says(h), "N": n})
    h_ = given.chart("h")
    return proof(
        computed("the private exponent is that of the tail plus 1 - 2h: the tail is below the claim when it vanishes",
                 vanishes(says(h_) + (1 - 2 * h_)) and vanishes(3 * (1 - h_) / 2 - 1 - (1 - 2 * h_) + (1 - h_) / 2)),
        argued("for any spectrum D_pri/N >= N eta^2 (tail sum), so N eta^2 (tail sum) must vanish"), tried=tried,
    )


_CASE_1 = ("Assuming the\nstep size 7 is sufficiently small and scaled with the square root of the data size, v/ N, "
           "the "
           "optimal\nnumber of iterations k* must be confined within a scope proportional to v/N. If not, the "
           "inequality\ntr(H) > k* - Nln > 1 would contradict the data assumptions.")
_PROSE = ("To achieve a diminishing bound, it is necessary for k*\nto be o( V') and for the tail summation of "
          "eigenvalues to "
          "be o(1/N)")
_REACH = positive("reach", "eta N")
terms = Claim(
    id="glmtron/effective-dimensions", source="003, Theorem 4.2: D_eff and D_pri", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    quote="where the effective dimensions are given by\n\nD=kt + 21 ZA =S+ A ZA\n\ni>k* i<k* i>k*",
    statement=r"k^* + N^2\eta^2 \sum_{i>k^*} \lambda_i^2 = \sum_i \min(1, (N\eta\lambda_i)^2), \quad"
              r" \sum_{i \le k^*} \lambda_i^{-1} + N^2\eta^2 \sum_{i>k^*} \lambda_i = \sum_i \min(1, "
              r"(N\eta\lambda_i)^2)/\lambda_i",
    words="both effective dimensions are sums of the smaller of 1 and (N eta lambda)^2, the private one over lambda",
    hypotheses=(_REACH,), says=(lambda z, over: 1 / over, lambda z, over: z**2 / over), check=judge_terms,
    expected="HOLDS PROVED", flips=(Flip("head and tail exchanged", (lambda z, over: z**2 / over, lambda z,
        over: 1 / over),
                                         Verdict.REFUTED),),
)
trace = Claim(
    id="glmtron/simplified-case-1", source="003, Section 4, first simplified case", quote=_CASE_1, whose=Whose.PRINTED,
    severity=Stake.UTILITY, statement=r"tr(H) \le 1,\ \eta = N^{-1/2}: \quad k^* \le \sqrt{N},\ D_{eff} \le "
                                      r"\sqrt{N},\ D^{pri}_{eff} \le N",
    words="for trace at most 1 and eta = 1/sqrt(N), k* and D_eff are at most sqrt(N), and D_pri at most N",
    hypotheses=(positive_integer("root", "sqrt N"),), says=(lambda n: n, lambda n: n, lambda n: n**2),
    check=judge_trace,
    expected="HOLDS PROVED", rests_on=("glmtron/effective-dimensions",),
    flips=(Flip("D_pri at most sqrt(N)", (lambda n: n, lambda n: n, lambda n: n), Verdict.REFUTED),),
    true_variants={"*1 % more": "a larger bound is weaker", "*squared": "likewise", "?2? 2 -> 3 *": "likewise"},
)
isotropic = Claim(
    id="glmtron/simplified-case-2", source="003, Section 4, second simplified case", whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    quote="Both the\neffective dimension, D.¢, and the private effective dimension, Df:frfi, effectively reduce to the "
          "feature\ndimension d. Moreover the clipping threshold contributes a factor of d, leading to a total "
          "utility\n\n"
          "bound of O( + Nd; 5).",
    statement=r"H = I,\ \eta N \ge 1: \quad D_{eff} = D^{pri}_{eff} = d",
    words="for H = I and eta N >= 1 (N >= alpha d at the largest step size) both dimensions are d",
    hypotheses=(Parameter("reach", low=Fraction(1), meaning="eta N"), positive_integer("d")), says=lambda d: d,
    check=judge_isotropic, expected="HOLDS PROVED", rests_on=("glmtron/effective-dimensions",),
    flips=(Flip("one less", lambda d: d - 1, Verdict.REFUTED),),
)
few = Claim(
    id="glmtron/prose-k-o-N", source="003, Section 4: k* = o(N) is necessary for a vanishing bound", quote=_PROSE,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\sigma^2 D_{eff}/N \ge \sigma^2 k^*/N",
    words="with label noise the bound vanishes only if k*/N does", hypotheses=(positive("variance"), _REACH),
    says=lambda variance, share: variance * share, check=judge_necessary, expected="HOLDS PROVED",
    rests_on=("glmtron/effective-dimensions",),
    flips=(Flip("twice that", lambda variance, share: 2 * variance * share, Verdict.REFUTED),),
    true_variants={"1 % less": "a smaller lower bound is weaker", "sign": "likewise"},
)
needed = Claim(
    id="glmtron/prose-necessary-tail", source="003, Section 4: a tail sum of o(1/N) is necessary", quote=_PROSE,
    whose=Whose.PRINTED, severity=Stake.UTILITY, statement=r"\text{a vanishing bound needs } \sum_{i>k^*} \lambda_i = "
                                                           r"o(1/N)",
    words="the bound vanishes only if the eigenvalues beyond k* add up to o(1/N)",
    hypotheses=(Parameter("h", low=Fraction(1, 3), high=Fraction(1), low_open=True, high_open=True,
        meaning="eta = N^-h"),),
    says=lambda h: h * 0 - 1, check=judge_needed, expected="REFUTED PROVED",
    repair=Repair(statement=r"\text{a vanishing bound needs } \sum_{i>k^*} \lambda_i = o(1/(\eta^2 N))",
                  words="with noise that does not fall, the bound vanishes only if the eigenvalues beyond k* add up "
                        "to o(1/(eta^2 N))",
                  says=lambda h: 2 * h - 1, expected="HOLDS ARGUED",
                  true_variants={"any h": "where the bound does not vanish nothing is claimed"}),
)
