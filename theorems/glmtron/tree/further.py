r"""More of DP-TAGLMtron's utility: any number of records, and two steps in the proofs of Lemmas E.5 and E.7 of 003.

Any N, l = floor(lg N) + 1 (else the setting and the proof of `sharp`). The nodes of level j < l are live in blocks of
at most 2^j answers that end 2^{j+1} apart: the k-th from the end has a weight of at most y^{2k} (1-y)/(1-q), y =
q^{2^j}, and there are at most (N/2^j + 1)/2 <= N/2^j of them. So x^2 W <= sum_j (1-y)^2 min(N/2^j, 1/(1-y^4)). With 1-y
<= 2^j x the first gives N x^2 (2^l - 1) <= 2 N^2 x^2 = z^2/2; the second l: at most l min(1, z^2) in all, and the mean
costs s^2 l D_pri/N^2. An answer has at most l nodes, so E u^2 <= 2 l eta^2 s^2, and the rest costs 3 alpha l eta^2
tr(H) D_eff/N.

E.5, P_t. P_t = (I - (eta/2) T(2 eta)) o P_{t-1}, P_0 = I: as T o I = 2H - 2 eta M o I >= 2 (1 - alpha eta tr(H)) H >=
0, P_t falls, and tr(H P_t) <= tr(H). So P_t <= (I - (eta/2)T~)^t o I + alpha eta^2 tr(H) sum_s (I - (eta/2)T~)^s o H,
where the sum is at most (4/eta)(I - (I - eta H/2)^N) for t <= N and eta lambda <= 1/2 (`moments`, E.6): the printed
constant, 4, by a way that does not need Lemma E.2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive, positive_integer, probability
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.tree.chain import ALPHA, GAUSSIAN, LOAD, WEAKER, dimension, lifetimes, step, tree_risk
from theorems.glmtron.tree.moments import SPECTRA, few, kept, told
from theorems.glmtron.tree.sharp import rest_steps
from theorems.glmtron.tree.sums import geometric_steps, powers_step
from theorems.tools.symbolic_signs import never_negative
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted, sampled, undecided


def judge_any(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether tree noise costs, over s^2, at most says(l, N, alpha, eta, tr H, D_eff, D_pri), l = floor(lg N) + 1."""
    tried = 0
    for point in given.points("records", "load", "alpha", at_most=40, most={"records": 13}):
        records, alpha = point["records"], point["alpha"]
        for value in (Fraction(1), Fraction(1, 20)):
            spectrum, eta = (value,), point["load"] / (alpha * value)
            exact = tree_risk(spectrum, eta, records, kurtosis=alpha)
            eff, pri = (dimension(spectrum, eta, records, k) for k in (0, 1))
            bound = says(records.bit_length(), records, alpha, eta, value, eff, pri)
            tried += 1
            if exact > bound:
                return refuted("tree noise costs more, exactly", {
                    "lambda": value, "eta": eta, "N": records, "alpha": alpha, "exact": exact, "claimed": bound})
    k = sympy.Symbol("k", nonnegative=True)
    rest = sympy.symbols("N eta T D_e D_p", positive=True)
    numbers = (1 + k, rest[0], given.chart("alpha"), *rest[1:])
    size, eta_, trace, eff_, pri_ = rest
    most = (1 + k) * (pri_ / size**2 + 3 * given.chart("alpha") * eta_**2 * trace * eff_ / size)
    t, z = sympy.symbols("t z", nonnegative=True)
    y = 1 / (1 + t)
    return proof(
        computed("(1-y)^2/(1-y^4) <= 1 for y in (0, 1), and z^2/2 <= l z^2, on symbols",
                 never_negative(sympy.cancel((1 - y**4 - (1 - y) ** 2) / t * (1 + t) ** 4), (1 + k) * z**2 - z**2 / 2)),
        sampled("an answer has at most l nodes, and level j at most N/2^j (N up to 40)", all(
            max(sum(a <= count < b for a, b in lifetimes(n)) for count in range(1, n + 1)) <= n.bit_length()
            for n in range(1, 41))),
        *rest_steps(given),
        computed("the bound of the proof is at most what is claimed, on symbols",
                 never_negative(says(*numbers) - most)),
        argued("blocks, weights and sums as in the docstring"),
        tried=tried,
    )


def judge_powers(says: Any, given: Domain) -> Finding:
    """Whether P_t <= (I - (eta/2)T~)^t o I + says eta alpha tr(H) (I - (I - eta H/2)^N) for t up to N."""
    tried = 0
    for point in few(given):
        for spectrum in SPECTRA:
            eta = point["load"] / (GAUSSIAN * sum(spectrum, Fraction(0)))
            moments = [Fraction(1)] * len(spectrum)
            part = kept(spectrum, eta, point["records"])
            for t in range(1, point["records"] + 1):
                moments = step(spectrum, eta, moments, [Fraction(0)] * len(spectrum))
                tried += 1
                for value, found, more in zip(spectrum, moments, part, strict=True):
                    bound = (1 - eta * value + (eta * value) ** 2) ** t + says * point["load"] * more
                    if found > bound:
                        return refuted("P_t is larger, exactly", told(
                            spectrum, eta, N=point["records"], t=t, **{"P_t": found, "claimed": bound}))
    if any(load >= 1 for load in given.values("load")) or any(size < 1 for size in given.values("records", most=9)):
        return undecided("a step size or a number of records beyond the proof", tried)
    return proof(
        *geometric_steps(), powers_step(says),
        argued("P_t falls, so that tr(H P_t) <= tr(H), as in the docstring"),
        tried=tried,
    )


def judge_union(says: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether says(lg N, f, gamma) is at least f^2 gamma^2 (lg N + 1), an increment's second moment, for N >= 2."""
    tried = 0
    for point in given.points("levels", "f", "gamma", most={"levels": 20}):
        true = point["f"] ** 2 * point["gamma"] ** 2 * (point["levels"] + 1)
        tried += 1
        if says(point["levels"], point["f"], point["gamma"]) < true:
            return refuted("an increment of the noise is larger", {
                **point, "increment": true, "claimed": says(point["levels"], point["f"], point["gamma"])})
    m, f, gamma = given.chart("levels"), given.symbol("f"), given.symbol("gamma")
    # lg N >= 1, and gamma^4 + 1 >= 2 gamma^2 >= gamma^2: what is left is a square and terms >= 0
    left = sympy.expand((says(m, f, gamma) - f**2 * gamma**2 * (m + 1)) / f**2 - m * (gamma**2 - 1) ** 2)
    return proof(
        computed("what is left over lg N (gamma^2 - 1)^2 is never negative, on symbols", never_negative(left)),
        tried=tried,
    )


any_records = Claim(
    id="glmtron/thm-5.2-sharp-any-N", source="003, Theorem 5.2, sharpened: any number of records",
    severity=Stake.UTILITY,
    statement=r"\text{private} \le f^2\Gamma^2 (\lfloor\log_2 N\rfloor + 1)\left[\tfrac{D^{pri}}{N^2} "
              r"+ 3\alpha\,\eta^2 \operatorname{tr}(H) \tfrac{D_{eff}}{N}\right]",
    words="the sharpened bound, with floor(lg N) + 1, for every number of records",
    hypotheses=(positive_integer("records", "N"), LOAD, ALPHA),
    says=lambda levels, records, alpha, eta, trace, eff, pri: (
        levels * (pri / records**2 + 3 * alpha * eta**2 * trace * eff / records)),
    check=judge_any, expected="HOLDS ARGUED", true_variants=WEAKER,
    flips=(Flip("a thousandth", lambda m, n, alpha, eta, trace, eff, pri: m * pri / n**2 / 1000, Verdict.REFUTED),
           Flip("the first term alone", lambda m, n, alpha, eta, trace, eff, pri: m * pri / n**2, Verdict.UNDECIDED)),
)
powers = Claim(
    id="glmtron/lemma-E.5-P", source="003, proof of Lemma E.5: the bound on E[R_t ... R_j R_j ... R_t]",
    quote="where the term HP,,_; can be bounded by LemmaE IE.2| Now, we could derive:", whose=Whose.PRINTED,
    severity=Stake.PROOF,
    statement=r"P_p \preceq (I - \tfrac\eta2\tilde T(2\eta))^p \circ I + 4\eta\alpha\operatorname{tr}(H)"
              r"(I - (I - \tfrac\eta2 H)^N)",
    words="P_p is at most that for p <= N, alpha eta tr(H) < 1 and eta lambda_1 <= 1/2: not by Lemma E.2, which is "
          "false "
          "for small t, but as P_t falls",
    hypotheses=(positive_integer("records", "N"), probability("load", "alpha eta tr(H)")), says=Fraction(4),
    check=judge_powers, expected="HOLDS ARGUED", uses=("glmtron/lemma-E.2",),
    flips=(Flip("nothing", Fraction(0), Verdict.REFUTED),),
    true_variants={"*more": "a weaker bound"},
)
union = Claim(
    id="glmtron/lemma-E.7-M", source="003, Lemma E.7: M~ bounds the noise of every step (powers as far as legible)",
    quote="Furthermore, Lemma [E.5]implies that, for any ¢ < N", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"f^2 \log_2 N (E[\gamma^2 + \gamma^4] + 1) I \succeq f^2\gamma^2 (\log_2 N + 1) I",
    words="the last term of M~ alone bounds an increment's second moment, N >= 2; the crossing terms are negative",
    hypotheses=(positive_integer("levels", "lg N"), positive("f"), positive("gamma")),
    says=lambda levels, f, gamma: f**2 * levels * (gamma**2 + gamma**4 + 1), check=judge_union, expected="HOLDS PROVED",
    flips=(Flip("without the 1 and the power 4", lambda levels, f, gamma: f**2 * levels * gamma**2, Verdict.REFUTED),),
    true_variants={"1 % more": "a weaker bound", "1 -> 2*": "a weaker bound", "any f": "its square alone counts",
                   "any gamma": "even powers alone count",
                   "?? -> ? (operator 3)": "2 gamma for gamma^2: lg N (gamma^2 - 1)^2 and terms >= 0 are left, too"},
)
