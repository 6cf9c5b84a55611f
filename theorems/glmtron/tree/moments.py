r"""Lemmas E.2, E.3, E.6, E.7 and E.8 of document 003: the document's own chains of second moments, on diagonals.

B_t = (I - (eta/2) T(2 eta)) o B_{t-1} + eta^2 M has in the eigenbasis of H (a few lines, with M o B <= alpha tr(HB) H)

    b_{t+1,i} <= (1 - eta lambda_i) b_{t,i} + eta^2 alpha lambda_i S_t + eta^2 m_i,   S_t = tr(H B_t).            (1)

E.2 (B_0 = I, M = 0). At t = 0 the trace is tr(H): the printed bound, which has no t, is false. With F(t) = k/(eta
(t+1)) + sum_{i>k} lambda_i: lambda (1 - eta lambda)^t <= min(lambda, 1/(eta (t+1))), so (1) gives S_t <= F(t) + alpha
eta tr(H) sum_{s<t} S_s/(t-s). If S_s <= 2 F(s) for s < t, then since sum_{s<t} 1/((s+1)(t-s)) = 2 h_t/(t+1), h_t = 1 +
... + 1/t, S_t <= F(t) (1 + 4 alpha eta tr(H) h_t): at most 2 F(t) for eta <= 1/(4 alpha tr(H) (1 + ln N)). At t = N
that is E.2.

E.3. B = T(2 eta)^{-1} o A solves HB + BH - 2 eta M o B = A. Its trace: 2 tr(HB) - 2 eta tr(M o B) = tr(A), and tr(M o
B) <= alpha tr(H) tr(HB): so tr(HB) <= tr(A)/(2 (1 - alpha eta tr(H))), and M o B <= alpha tr(HB) H. The constant 2
could be 1/2. The last inequality of the lemma, 2 alpha tr(A)/(1 - alpha eta tr(H)) <= 2 alpha tr(A), is false for every
eta > 0; what it bounds is at most 2 alpha tr(A) H for alpha eta tr(H) <= 3/4.

E.6. C_t rises, as C_1 >= 0. (eta/2) T o C_N = eta^2 (I - (I - (eta/2)T)^N) o M, whose trace is at most 2 eta^2
<I - (I - eta H/2)^N, M>: it is at most sum m_i (1 - (1-p)^N) with p = eta lambda (1 - eta lambda) <= 2 (eta lambda/2),
and (1-p)^N is convex. So, as in E.3, eta^2 M o C_t <= 2 alpha eta^3 K H, K = <I - (I - eta H/2)^N, M>/(1 - alpha eta
tr(H)). For eta lambda <= 1/2, sum_t (1-p)^t lambda = (1 - (1-p)^N)/(eta (1 - eta lambda)) <= (4/eta) (1 - (1 - eta
lambda/2)^N): the constant is 8, as printed. But the printed step size, eta < 1/(tr(H) log N), lets alpha eta tr(H)
exceed 1, where the bound is negative.

E.7, E.8. The mean of N iterates costs, by sum_k q^k, a quarter of E|.|_H^2 <= 1/(eta N^2) sum_i min(1, z_i/2) sum_t
b_{t,i}, z = N eta lambda. From (1), sum_t b_{t,i} <= (b_{0,i}/(eta lambda_i)) min(1, z_i) + (eta alpha sum S + eta N
m_i/lambda_i) min(1, z_i), and sum_t S_t <= (sum_i b_{0,i} min(1, z_i)/eta + N eta sum_i m_i min(1, z_i))/(1 - alpha eta
tr(H)). With I_+ + (N eta/2) H_- for the directions above and below the cut-off: E.7 with the constants 4 and 2, and
E.8 with 1, 1 and 1. Both need alpha eta tr(H) < 1, and no logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import Parameter, positive_integer, probability
from theorems.claim import Checker, Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain, Point
from theorems.glmtron.tree.chain import GAUSSIAN, WEAKER, averaged, dimension, step
from theorems.glmtron.tree.sums import geometric_steps, noise_steps, start_steps, variance_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted, undecided

SPECTRA = ((Fraction(1),), (Fraction(1, 50),), (Fraction(1), Fraction(1, 9)), (Fraction(1), Fraction(1)))
"""Spectra that checks try: one direction, a weak one, a decaying pair, a flat pair; Gaussian features."""
Limit = Fraction | float
"""Of alpha eta tr(H), beside the hypotheses."""


def told(spectrum: tuple[Fraction, ...], eta: Fraction, **more: object) -> dict[str, object]:
    """A chain as a witness."""
    return {"spectrum": ", ".join(map(str, spectrum)), "alpha": GAUSSIAN, "eta": eta, **more}


def few(given: Domain, limit: Limit = math.inf) -> Iterator[Point]:
    """Points of the number of records, not many, and of the step size, where alpha eta tr(H) < limit."""
    every = given.points("records", "load", most=None if given["records"].high is not None else {"records": 9})
    return (point for point in every if point["load"] < limit)


def beyond(given: Domain, limit: Limit) -> bool:
    """Whether step sizes are meant that the proofs do not allow."""
    return any(1 <= load < limit for load in given.values("load"))


def inverse(spectrum: tuple[Fraction, ...], eta: Fraction, right: tuple[Fraction, ...]) -> list[Fraction]:
    """T(2 eta)^{-1} of a diagonal: 2 lambda b - 2 eta (2 lambda^2 b + lambda tr(HB)) = a."""
    size = len(spectrum)
    matrix = sympy.Matrix(size, size, lambda i, j: (2 * spectrum[i] - 4 * eta * spectrum[i] ** 2) * (i == j)
                          - 2 * eta * spectrum[i] * spectrum[j])
    found = matrix.LUsolve(sympy.Matrix(size, 1, list(right)))
    return [Fraction(int(v.p), int(v.q)) for v in found]


# --- E.2


def judge_trace(says: Callable[..., Any], given: Domain) -> Finding:
    """Whether tr(H P_t) <= says(t, N, eta, k, tail) for P_0 = I, at t = 0, ..., N, for every cut k.

    The step size is `load`/(4 alpha tr(H) (1 + h)), h the harmonic sum of N: below what the lemma asks for.
    """
    tried = 0
    for point in given.points("load", "records", most={"records": 400}):
        records = point["records"]
        harmonic = math.ceil(sum(Fraction(1, i) for i in range(1, records + 1)))  # no less than it has to be
        for spectrum in SPECTRA:
            eta = point["load"] / (4 * GAUSSIAN * sum(spectrum, Fraction(0)) * harmonic)
            moments = [Fraction(1)] * len(spectrum)
            for t in range(min(records, 12) + 1):
                trace = sum((a * b for a, b in zip(spectrum, moments, strict=True)), Fraction(0))
                for cut in range(len(spectrum) + 1):
                    bound = says(t, records, eta, cut, sum(spectrum[cut:], Fraction(0)))
                    tried += 1
                    if trace > bound:
                        return refuted("the trace is larger, exactly", told(
                            spectrum, eta, N=records, t=t, **{"k*": cut, "tr(H P_t)": trace, "claimed": bound}))
                moments = step(spectrum, eta, moments, [Fraction(0)] * len(spectrum))
    n, k, eta_, tail, s = sympy.symbols("n k eta tail s", nonnegative=True)
    size, t_ = n + s + 1, n  # t up to N
    whole = k / (eta_ * (t_ + 1)) + tail
    return proof(
        computed("1/((s+1)(t-s)) = (1/(s+1) + 1/(t-s))/(t+1), so the sum is 2 h_t/(t+1), on symbols",
                 vanishes(1 / ((s + 1) * (n + 1)) - (1 / (s + 1) + 1 / (n + 1)) / (s + n + 2))),  # t = s + n + 1
        computed("1 + 4 alpha eta tr(H) h_t = 2 at the largest step size, 1/(4 alpha tr(H) h_t), on symbols",
                 vanishes(1 + 4 * k * (1 / (4 * k * tail)) * tail - 2)),
        computed("what is claimed is at least twice F(t), on symbols",
                 never_negative(says(t_, size, eta_, k, tail) - 2 * whole)),
        argued("lambda (1 - eta lambda)^t <= min(lambda, 1/(eta (t+1))); induction over t as in the docstring"),
        tried=tried,
    )


# --- E.3


def judge_inverse(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether M o T(2 eta)^{-1} o A <= alpha tr(A) says(alpha eta tr(H)) H."""
    tried = 0
    for load in given.values("load"):
        for spectrum in SPECTRA:
            trace = sum(spectrum, Fraction(0))
            eta = load / (GAUSSIAN * trace)
            for right in ((Fraction(1),) * len(spectrum), (Fraction(1), *[Fraction(0)] * (len(spectrum) - 1))):
                found = inverse(spectrum, eta, right)
                energy = sum((a * b for a, b in zip(spectrum, found, strict=True)), Fraction(0))
                most = max(2 * v * b + energy for v, b in zip(spectrum, found, strict=True))  # over lambda_i
                bound = GAUSSIAN * sum(right, Fraction(0)) * says(load)
                tried += 1
                if most > bound:
                    return refuted("the matrix is larger, exactly", told(
                        spectrum, eta, **{"A": ", ".join(map(str, right)), "largest over H": most, "claimed": bound}))
    share = given.chart("load")
    return proof(
        computed("1/(2 (1 - alpha eta tr(H))), from the trace of the equation, is at most what is claimed, on symbols",
                 never_negative(sympy.simplify(says(share) - 1 / (2 * (1 - share))))),
        argued("T(2 eta)^{-1} keeps the order of matrices for alpha eta tr(H) < 1, and M~ o B = HBH >= 0"),
        tried=tried,
    )


def judge_chain(says: tuple[Callable[[Any], Any], Callable[[Any], Any]], given: Domain) -> Finding:
    """Whether says[0](load) <= says[1](load): the last inequality of E.3, over alpha tr(A) H."""
    left, right = says
    for load in given.values("load"):
        if left(load) > right(load):
            return refuted("the inequality goes the other way", {
                "alpha eta tr(H)": load, "left over alpha tr(A)": left(load), "right": right(load)})
    share = given.chart("load")
    return proof(computed("the left is at most the right, on symbols",
                          never_negative(sympy.simplify(right(share) - left(share)))))


# --- E.6


def kept(spectrum: tuple[Fraction, ...], eta: Fraction, records: int) -> list[Fraction]:
    """The diagonal of I - (I - eta H/2)^N."""
    return [1 - (1 - eta * v / 2) ** records for v in spectrum]


def judge_variance(says: Any, given: Domain, limit: Limit = math.inf) -> Finding:
    """Whether C_N <= says alpha eta^2/(1 - alpha eta tr(H)) <I - (I - eta H/2)^N, M> (I - ...) + sum (I - T~)^t o M."""
    tried = 0
    for point in few(given, limit):
        records, load = point["records"], point["load"]
        for spectrum in SPECTRA:
            trace = sum(spectrum, Fraction(0))
            eta, size = load / (GAUSSIAN * trace), len(spectrum)
            noise = [eta**2] * size
            found = [Fraction(0)] * size
            for _ in range(records):
                found = step(spectrum, eta, found, noise)
            part = kept(spectrum, eta, records)
            shares = [1 - eta * v + eta**2 * v**2 for v in spectrum]
            free = [eta**2 * sum((q**t for t in range(records)), Fraction(0)) for q in shares]
            factor = says * GAUSSIAN * eta**2 / (1 - load) * sum(part, Fraction(0))
            tried += 1
            for value, own, one in zip(found, free, part, strict=True):
                if value > factor * one + own:
                    return refuted("the chain is above the bound, exactly", told(
                        spectrum, eta, N=records, **{"alpha eta tr(H)": load, "C_N": value,
                                                     "claimed": factor * one + own}))
    if beyond(given, limit) or any(point["records"] < 1 for point in few(given, limit)):
        return undecided("a step size or a number of records beyond the proof", tried)
    return proof(
        *geometric_steps(), variance_step(says),
        argued("C_t rises, and T(2 eta) is below T~(2 eta): the trace of eta^2 (I - (I - (eta/2)T)^N) o M is at most "
               "eta^2 sum m h(p), as in the docstring"),
        tried=tried,
    )


# --- E.7, E.8


def costs(
    given: Domain, start: Fraction, noise: Fraction, limit: Limit
) -> Iterator[tuple[tuple[Fraction, ...], Fraction, int, Fraction, Fraction]]:
    """Spectrum, step size, N, alpha eta tr(H), and what the mean costs from such a start with such noise."""
    for point in few(given, limit):
        for spectrum in SPECTRA:
            eta, size = point["load"] / (GAUSSIAN * sum(spectrum, Fraction(0))), len(spectrum)
            chain = [[start] * size]
            while len(chain) < point["records"]:
                chain.append(step(spectrum, eta, chain[-1], [noise * eta**2] * size))
            yield spectrum, eta, point["records"], point["load"], averaged(spectrum, eta, chain)


def judge_noise(says: tuple[Any, Any], given: Domain, limit: Limit = math.inf) -> Finding:
    """Whether noise M = I a step costs the mean at most the two terms of E.7 with these constants."""
    tried = 0
    for spectrum, eta, records, load, exact in costs(given, Fraction(0), Fraction(1), limit):
        above = sum((1 if records * eta * v >= 1 else records * eta * v / 2 for v in spectrum), Fraction(0))
        eff, pri = (dimension(spectrum, eta, records, k, Fraction(1, 4)) for k in (0, 1))
        first = GAUSSIAN * eta / (records * (1 - load)) * above * eff
        bound = says[0] * first + says[1] * pri / records
        tried += 1
        if exact > bound:
            return refuted("noise costs more than the two terms, exactly", told(
                spectrum, eta, N=records, **{"alpha eta tr(H)": load, "exact": exact, "claimed": bound}))
    if beyond(given, limit):
        return undecided("a step size beyond the proof", tried)
    return proof(
        *mean_of_chain(),
        *noise_steps(says),
        argued("both terms are sums of such parts over directions, with (1) of the docstring"),
        tried=tried,
    )


def judge_start(says: tuple[Any, Any, Any], given: Domain, limit: Limit = math.inf) -> Finding:
    """Whether the start w costs the mean at most the three terms of E.8 with these constants; w = (1, ..., 1)."""
    tried = 0
    for spectrum, eta, records, load, exact in costs(given, Fraction(1), Fraction(0), limit):
        head = [v for v in spectrum if records * eta * v >= 1]
        tail = sum((v for v in spectrum if records * eta * v < 1), Fraction(0))
        third = GAUSSIAN * (len(head) + records * eta * tail) / (eta * records**2 * (1 - load)) * dimension(
            spectrum, eta, records, 0)
        first = sum((1 / v for v in head), Fraction(0)) / (eta * records) ** 2
        bound = says[0] * first + says[1] * tail + says[2] * third
        tried += 1
        if exact > bound:
            return refuted("the start costs more than the three terms, exactly", told(
                spectrum, eta, N=records, **{"alpha eta tr(H)": load, "exact": exact, "claimed": bound}))
    if beyond(given, limit):
        return undecided("a step size beyond the proof", tried)
    return proof(
        *mean_of_chain(),
        *start_steps(says),
        argued("the terms are sums of such parts over directions, with (1) of the docstring"),
        tried=tried,
    )


def limited(judge: Callable[..., Finding]) -> Checker:
    """The same of (constants, limit): the bound is claimed where alpha eta tr(H) is below the limit, too."""
    return lambda says, given: judge(says[0], given, says[1])


def mean_of_chain() -> tuple[ProofStep, ...]:
    """From second moments to the mean of the iterates."""
    q, power = sympy.symbols("q K", positive=True)
    t = sympy.Symbol("t", nonnegative=True)
    x, end = 1 / (1 + t), sympy.Symbol("K", positive=True)  # 1 - q, and q^n
    return (
        computed("1 + 2 (q + ... + q^(n-1)) = (1 + q - 2 q^n)/(1 - q), on symbols",
                 vanishes(1 + 2 * (q - power) / (1 - q) - (1 + q - 2 * power) / (1 - q))),
        computed("that is at most 2 (1 - q^n)/(1 - q)", vanishes((2 * (1 - end) - (2 - x - 2 * end)) / x - 1)),
    )


_RECORDS = positive_integer("records", "N")
_ANY = Parameter("load", low=Fraction(0), high=Fraction(3, 2), low_open=True, meaning="alpha eta tr(H)")
_BELOW = probability("load", "alpha eta tr(H)")
_CUT = Parameter("load", low=Fraction(0), high=Fraction(1), low_open=True,
                 meaning="4 alpha eta tr(H) (1 + 1/2 + ... + 1/N)")
_SMALL = "only for alpha eta tr(H) < 1"
_LARGER = {"*1 % more": "a weaker bound", "*one more": "a weaker bound"}

e2 = Claim(
    id="glmtron/lemma-E.2", source="003, Lemma E.2 (4 alpha for the damaged 46 in the step size; any number will do)",
    quote="following inequality holds:", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\operatorname{tr}(H P_t) \le 2 \left\langle \tfrac{1}{\eta N} I_{0:k^*} + H_{k^*:\infty}, "
              r"I\right\rangle \text{ for any } t \in [0, N]",
    words="the trace of H P_t is at most 2 (k*/(eta N) + the tail of H) at every step from 0 on, for every k*",
    hypotheses=(_CUT, _RECORDS), says=lambda t, records, eta, cut, tail: 2 * (cut / (eta * records) + tail),
    check=judge_trace, expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\operatorname{tr}(H P_t) \le 2 \left(\tfrac{k}{\eta (t+1)} + \operatorname{tr} "
                  r"H_{k:\infty}\right),\ "
                  r"\eta \le \tfrac{1}{4\alpha \operatorname{tr}(H)(1 + \ln N)}",
        words="it is at most 2 (k/(eta (t + 1)) + the tail): as printed at the last step",
        says=lambda t, records, eta, cut, tail: 2 * (cut / (eta * (t + 1)) + tail), expected="HOLDS ARGUED",
        flips=(Flip("a tenth", lambda t, records, eta, cut, tail: (cut / (eta * (t + 1)) + tail) / 10,
                    Verdict.REFUTED),),
    ),
)
e3 = Claim(
    id="glmtron/lemma-E.3", source="003, Lemma E.3, the first inequalities",
    quote="Lemma E.3. Under Assumption for every A = 0, it holds that", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"(M - \tilde M) \circ T^{-1} \circ A \preceq M \circ T^{-1} \circ A \preceq "
              r"\tfrac{2\alpha \operatorname{tr}(A)}{1 - \alpha\eta\operatorname{tr}(H)} H",
    words="M o T^-1 o A is at most 2 alpha tr(A)/(1 - alpha eta tr(H)) H; a quarter would do, with T = T(2 eta)",
    hypotheses=(_BELOW,), says=lambda load: 2 / (1 - load), check=judge_inverse, expected="HOLDS ARGUED",
    flips=(Flip("without the denominator", lambda load: Fraction(2), Verdict.REFUTED),
           Flip("a quarter", lambda load: 1 / (2 * (1 - load)), Verdict.HOLDS)),
    true_variants={**WEAKER, "1 % less": "a quarter would do", "squared": "it is above 1"},
)
e3_chain = Claim(
    id="glmtron/lemma-E.3-last", source="003, Lemma E.3, the last inequality",
    quote="Lemma E.3. Under Assumption for every A = 0, it holds that", whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\tfrac{2\alpha \operatorname{tr}(A)}{1 - \alpha\eta\operatorname{tr}(H)} H \preceq "
              r"2\alpha \operatorname{tr}(A) H",
    words="2 alpha tr(A)/(1 - alpha eta tr(H)) is at most 2 alpha tr(A)", hypotheses=(_BELOW,),
    says=(lambda load: 2 / (1 - load), lambda load: 2 + 0 * load), check=judge_chain, expected="REFUTED PROVED",
    flips=(Flip("the other way round", (lambda load: 2 + 0 * load, lambda load: 2 / (1 - load)), Verdict.HOLDS),),
    repair=Repair(
        statement=r"M \circ T^{-1} \circ A \preceq \tfrac{\alpha \operatorname{tr}(A)}{2(1 - "
                  r"\alpha\eta\operatorname{tr} H)}"
                  r" H \preceq 2\alpha \operatorname{tr}(A) H \text{ for } \alpha\eta\operatorname{tr}(H) \le 3/4",
        words="for alpha eta tr(H) <= 3/4 the first and last of the lemma compare as printed, as 1/2 could be its 2",
        hypotheses=(Parameter("load", low=Fraction(0), high=Fraction(3, 4), low_open=True, meaning="alpha eta tr(H)"),),
        says=lambda load: 2 + 0 * load, check=judge_inverse, expected="HOLDS ARGUED",
        flips=(Flip("a quarter", lambda load: Fraction(1, 4) + 0 * load, Verdict.REFUTED),),
        true_variants={**WEAKER, "squared": "more than 2", "+ -> - (operator 2)": "nothing, taken away",
                       "* -> + (operator 1)": "more than 2"},
    ),
)
_E6 = (
    r"C_N \preceq \tfrac{8\alpha\eta^2}{1 - \alpha\eta\operatorname{tr}(H)} \langle I - (I - \tfrac\eta2 H)^N, "
    r"M\rangle (I - (I - \tfrac\eta2 H)^N) + \eta^2\sum_t (I - \tfrac\eta2 \tilde T(2\eta))^t \circ M"
)
_FEW = Parameter("records", kind="integer", low=Fraction(2), high=Fraction(7), meaning="N, 3/2 < 3/ln 7")
E67_HYPOTHESES = (_FEW, _ANY)
e6 = Claim(
    id="glmtron/lemma-E.6", source="003, Lemma E.6 (the constant, damaged in the display, is that of its last line)",
    quote="and[3.6| and provided that the step size 1 satisfies n < 1/(tr(H)log N), the following holds:",
    whose=Whose.PRINTED, severity=Stake.PROOF, statement=_E6 + r",\quad \eta < 1/(\operatorname{tr}(H)\log N)",
    words="the bound on C_N holds for eta < 1/(tr(H) log N): alpha eta tr(H) up to 3/2 at N = 7, Gaussian features",
    hypotheses=(_FEW, _ANY),
    says=(Fraction(8), math.inf), check=limited(judge_variance), expected="REFUTED PROVED",
    flips=(Flip(_SMALL, (Fraction(8), Fraction(1)), Verdict.HOLDS),), uses=("glmtron/lemma-E.3",),
    repair=Repair(
        statement=_E6 + r",\quad \alpha\eta\operatorname{tr}(H) < 1,\ \eta\lambda_1 \le 1/2",
        words="it holds for alpha eta tr(H) < 1 and eta lambda_1 <= 1/2, without a logarithm (alpha = 3 where tried)",
        hypotheses=(_RECORDS, _BELOW), says=Fraction(8), expected="HOLDS ARGUED", true_variants=_LARGER,
        flips=(Flip("a hundredth", Fraction(8, 100), Verdict.REFUTED),), check=judge_variance,
    ),
)
e7 = Claim(
    id="glmtron/lemma-E.7", source="003, Lemma E.7 (with the constants 4 and 2; the text has damaged ones)",
    quote="Lemma E.7. Variance error] If the step size satisfies n < 1/(tr(H) log N), then the following holds",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\text{variance} \lesssim \tfrac{\alpha\eta}{N(1-\alpha\eta\operatorname{tr} H)} \langle I_{0:k^*} + "
              r"\tfrac{N\eta}2 H_{k^*:\infty}, M\rangle (k^* + \tfrac{N^2\eta^2}4\sum\lambda^2) + \tfrac1N \langle "
              r"H^{-1}_{0:k^*} + \tfrac{N^2\eta^2}4 H_{k^*:\infty}, M\rangle",
    words="noise M a step costs at most the two terms, for eta < 1/(tr(H) log N): alpha eta tr(H) up to 3/2 at N = 7",
    hypotheses=(_FEW, _ANY), says=((Fraction(4), Fraction(2)), math.inf), check=limited(judge_noise),
    expected="REFUTED PROVED", uses=("glmtron/lemma-E.6",),
    flips=(Flip(_SMALL, ((Fraction(4), Fraction(2)), Fraction(1)), Verdict.HOLDS),),
    repair=Repair(
        statement=r"\text{variance} \le 4\,(\ldots) + 2\,(\ldots),\quad \alpha\eta\operatorname{tr}(H) < 1",
        words="it holds with the constants 4 and 2 for alpha eta tr(H) < 1, without a logarithm, M = I",
        hypotheses=(_RECORDS, _BELOW), says=(Fraction(4), Fraction(2)), expected="HOLDS ARGUED", check=judge_noise,
        true_variants={"?0? *more": "a weaker bound", "?1? *more": "a weaker bound"},
        flips=(Flip("a hundredth", (Fraction(4, 100), Fraction(2, 100)), Verdict.REFUTED),),
    ),
)
e8 = Claim(
    id="glmtron/lemma-E.8", source="003, Lemma E.8 (as Lemma D.6)",
    quote="Lemma E.8 ([49]). If the step size satisfies 1 < 1/\\1, then it holds that for any k* > 1,",
    whose=Whose.PRINTED, severity=Stake.PROOF,
    statement=r"\text{bias} \lesssim \tfrac{1}{\eta^2N^2}\|w_0-w_*\|^2_{H^{-1}_{0:k^*}} + "
              r"\|w_0-w_*\|^2_{H_{k^*:\infty}} + "
              r"\tfrac{\alpha(\|\cdot\|^2_{I_{0:k^*}} + N\eta\|\cdot\|^2_{H_{k^*:\infty}})}{\eta N^2(1-\alpha\eta"
              r"\operatorname{tr} H)} (k^* + N^2\eta^2\sum\lambda^2),\quad \eta < 1/\lambda_1",
    words="the start costs at most the three terms for eta < 1/lambda_1: alpha eta tr(H) up to 3 with one direction",
    hypotheses=(_RECORDS, Parameter("load", low=Fraction(0), high=Fraction(3), low_open=True, high_open=True,
                                    meaning="alpha eta tr(H)")),
    says=((Fraction(1),) * 3, math.inf), check=limited(judge_start), expected="REFUTED PROVED",
    flips=(Flip(_SMALL, ((Fraction(1),) * 3, Fraction(1)), Verdict.HOLDS),),
    repair=Repair(
        statement=r"\text{as printed, for } \alpha\eta\operatorname{tr}(H) < 1",
        words="it holds with constants 1 for alpha eta tr(H) < 1", hypotheses=(_RECORDS, _BELOW),
        says=(Fraction(1), Fraction(1), Fraction(1)), expected="HOLDS ARGUED", check=judge_start,
        true_variants={"?0? *more": "a weaker bound", "?1? *more": "a weaker bound", "?2? *more": "a weaker bound",
                       "?1? 1 % less": "1/2 would do"},
        flips=(Flip("a hundredth", (Fraction(1, 100),) * 3, Verdict.REFUTED),),
    ),
)
