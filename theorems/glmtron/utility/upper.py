r"""Theorem 4.2 of document 003 for steps that clip nothing and noise that does not depend on the model: an upper bound.

Setting: symmetric features with Assumption 3.4(A), eta alpha tr(H) <= 1; s^2 = 4 Gamma^2 f^2 (a step's noise is at most
that, if gamma_t <= Gamma are numbers given beforehand); g_i = <w_0 - w*, v_i>^2; x = eta lambda/2 <= 1/2, q = 1 - x,
z = N eta lambda, m = min(1, Nx).

1. By lemma-D.4-half and (A), along the eigenvectors of H, a_{t+1,i} <= q_i^2 a_{t,i} + eta^2 lambda_i (alpha S_t/2 +
   sigma^2) + eta^2 s^2, S_t = sum_i lambda_i a_{t,i}: 1 - eta lambda <= q^2.
2. By the proof of lemma-D.5 and risk-sandwich, risk <= 1/(4N^2) sum_t sum_i lambda_i a_{t,i} (1 + 2 (q_i + ... +
   q_i^{N-1-t})) <= 1/(eta N^2) sum_t sum_i a_{t,i} (1 - q_i^{N-t}), as 1 + 2 sum <= 2 (1 - q^{N-t})/x.
3. 1 - q^N <= m, and sum_{j<N} q^{2j} <= min(N, 2/(3x)), as 1 - q^2 >= 3x/2. So the start adds at most 1/(eta N^2)
   sum_i g_i m_i min(N, 2/(3 x_i)), and disturbances c_u at the steps u at most 1/(eta N^2) sum_u c_u m^2/x, since
   min(N, 2/(3x)) <= m/x. With c = eta^2 s^2, eta^2 lambda sigma^2 and eta^2 lambda alpha S_u/2 that is 2 s^2
   D'_pri/N, 2 sigma^2 D'_eff/N and (alpha D'_eff/N^2) sum_u S_u, D' being the dimensions at eta/2: sums of m^2/lambda
   and of m^2.
4. Summing 1 over t < N, with h = min(N lambda, 4/(3 eta)): sum_t S_t <= [sum h g + N eta^2 (sigma^2 sum lambda h +
   s^2 sum h)]/(1 - rho), rho = (eta^2 alpha/2) sum lambda h <= (2/3) eta alpha tr(H) <= 2/3.

That is the closed form of `glmtron.risk`. In the printed form: D' <= D (m <= min(1, z)), the start is at most (4/3)
g/(eta N)^2/lambda in the head and g lambda/2 in the tail, 1/(1 - rho) <= 3, h <= (4/3) min(N lambda, 1/eta), and

    eta sum_i h_i D'_eff <= 2 tr(H) D'_pri,                                            (absorbed)

as eta h <= 2 min(1, z/2) and sum_i m_i sum_j m_j^2 <= sum_i lambda_i sum_j m_j^2/lambda_j: of a pair i, j the
difference is (lambda_i m_j - lambda_j m_i)^2/(lambda_i lambda_j) + m_i m_j (2 - m_i - m_j) >= 0. So the feedback adds
at most 4 alpha (D_eff/N) sum g min(lambda, 1/(eta N)) to the bias, 4 sigma^2 D_eff/N and 6 s^2 D_pri/N: altogether

    bias <= (4/3) sum_head g/(eta N)^2/lambda + sum_tail g lambda + 4 alpha (D_eff/N) sum g min(lambda, 1/(eta N)),
    variance <= 6 sigma^2 D_eff/N,   private <= 8 s^2 D_pri/N = 32 f^2 Gamma^2 D_pri/N.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.utility.ground import chain, dimension
from theorems.tools.studied import study_step
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

SPECTRA: tuple[tuple[Fraction, ...], ...] = (
    (Fraction(1),), tuple(Fraction(1, i * i) for i in range(1, 7)), (Fraction(1), Fraction(1, 1000), Fraction(1, 1000)),
    tuple(Fraction(1, 2**i) for i in range(8)),
)
ALPHA = Fraction(3)


@dataclass(frozen=True)
class Run:
    """A run without clipping: eigenvalues, squared distances of the start, N, eta, sigma^2 and s^2."""

    spectrum: tuple[Fraction, ...]
    gaps: tuple[Fraction, ...]
    records: int
    rate: Fraction
    label: Fraction
    noise: Fraction

    @property
    def reach(self) -> Fraction:
        """eta N."""
        return self.rate * self.records


def runs(given: Domain, count: str = "N") -> Iterator[Run]:
    """Runs at the ends of the hypotheses: only a start, only label noise, only private noise, all."""
    for point in given.points("share", count, most={count: 24}):
        for spectrum in SPECTRA:
            rate = point["share"] / (ALPHA * sum(spectrum))
            for gap, label, noise in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)):
                yield Run(spectrum, (Fraction(gap),) * len(spectrum), point[count] * (4 if count == "quarter" else 1),
                    rate,
                          Fraction(label), Fraction(noise))


def highest(run: Run) -> arb:
    """The risk by the upper chain, c = 1/2, Gaussian features."""
    total, _ = chain(run.spectrum, run.gaps, run.records, run.rate, Fraction(1, 2), run.label, run.noise)
    return total / (4 * run.records**2)


def closed_form(run: Run, start: Any, noises: Any, feedback: Any) -> Fraction:
    """The bound of the proof; what is claimed are the factors of its three parts."""
    n, eta = run.records, run.rate
    pairs = list(zip(run.gaps, run.spectrum, strict=True))
    heights = [min(n * lam, Fraction(4, 3) / eta) for lam in run.spectrum]
    begun = sum((g * min(Fraction(1), n * eta * lam / 2) * h / lam for (g, lam), h in zip(pairs, heights, strict=True)),
        Fraction(0))
    head, private = dimension(run.spectrum, run.reach / 2, 0), dimension(run.spectrum, run.reach / 2, 1)
    rho = eta**2 * ALPHA / 2 * sum(lam * h for lam, h in zip(run.spectrum, heights, strict=True))
    drift = sum((g * h for (g, _), h in zip(pairs, heights, strict=True)), Fraction(0))
    drift += n * eta**2 * (run.label * sum(lam * h for lam, h in zip(run.spectrum, heights,
        strict=True)) + run.noise * sum(heights))
    total: Fraction = (start * begun / (eta * n**2) + noises * (run.label * head + run.noise * private) / n
                       + feedback * ALPHA * head * drift / (1 - rho) / n**2)
    return total


def chain_steps() -> tuple[ProofStep, ...]:
    """Steps 1 to 4 of the module's proof, on symbols."""
    t, n = sympy.Symbol("t", nonnegative=True), sympy.Symbol("N", positive=True)
    lam, eta, c, s = sympy.symbols("l eta c S", positive=True)
    x = t / (2 * (1 + t))  # runs through [0, 1/2)
    more = sympy.Symbol("m", nonnegative=True)
    big, small = (1 + more) / n, 1 / (n * (1 + more))  # x above and below 1/N
    return (
        computed("1. 1 - eta lambda <= (1 - eta lambda/2)^2", never_negative((1 - eta * lam / 2) ** 2 - 1 + eta * lam)),
        computed("2. 1 + 2 (G - 1) <= 2 G for the geometric sum G; lambda/4 times 2/x is 1/eta",
                 never_negative(2 * s - (1 + 2 * (s - 1))) and vanishes(lam / 4 * 2 / (eta * lam / 2) - 1 / eta)),
        computed("3. 1 - (1-x)^2 >= 3x/2 up to x = 1/2", never_negative(1 - (1 - x) ** 2 - 3 * x / 2)),
        computed("3. min(N, 2/(3x)) <= min(1, Nx)/x: 2/(3x) <= 1/x above 1/N, N <= N below",
                 never_negative(1 / big - 2 / (3 * big)) and vanishes(n - n * small / small)),
        computed("3. 1/(eta N^2) N c/x is 2 s^2/(lambda N) and 2 sigma^2/N for c = eta^2 s^2 and eta^2 lambda "
                 "sigma^2, and "
                 "alpha S/N^2 for one c = eta^2 lambda alpha S/2",
                 vanishes(eta**2 * c / (eta * n) / (eta * lam / 2) - 2 * c / (lam * n),
                          eta**2 * lam * c * s / 2 / (eta * n**2) / (eta * lam / 2) - c * s / n**2)),
        computed("4. (eta^2 alpha/2)(4/(3 eta)) tr(H) = (2/3) eta alpha tr(H)",
                 vanishes(eta**2 * c / 2 * 4 / (3 * eta) * s - sympy.Rational(2, 3) * eta * c * s)),
    )


def judge_closed(says: tuple[Any, Any, Any], given: Domain) -> Finding:
    """Whether the risk is at most the closed form with these factors of start, noise terms and feedback."""
    tried = 0
    with ctx.workprec(100):
        for run in runs(given):
            tried += 1
            claimed = closed_form(run, *says)
            if highest(run) > ball(claimed):
                return refuted("the upper chain, which is the risk itself at w* = 0, is larger", {
                    "spectrum": ", ".join(map(str, run.spectrum)), "N": run.records, "eta": run.rate,
                    "sigma^2": run.label,
                    "s^2": run.noise, "gap": run.gaps[0], "claimed": claimed, "chain": Enclosure.of_ball(highest(run))})
    start, noises, feedback = says
    return proof(
        *chain_steps(),
        computed("the factors of start, noise terms and feedback are no less than 1, 2 and 1",
                 start >= 1 and noises >= 2 and feedback >= 1),
        argued("the parts add up as in the module's proof"),
        study_step("glmtron-private-term"), tried=tried,
    )


def printed_terms(run: Run, start: Any, tail: Any, feedback: Any, variance: Any, private: Any) -> Fraction:
    """Theorem 4.2 with these constants."""
    reach, n = run.reach, run.records
    pairs = list(zip(run.gaps, run.spectrum, strict=True))
    head, own = dimension(run.spectrum, reach, 0), dimension(run.spectrum, reach, 1)
    begun = sum((start * g / lam / reach**2 if lam >= 1 / reach else tail * g * lam for g, lam in pairs), Fraction(0))
    fed = feedback * ALPHA * head / n * sum((g * min(lam, 1 / reach) for g, lam in pairs), Fraction(0))
    total: Fraction = begun + fed + (variance * run.label * head + private * run.noise * own) / n
    return total


def judge_printed(says: tuple[Any, ...], given: Domain) -> Finding:
    """Whether Theorem 4.2 holds with these constants (start, tail, feedback, variance, private)."""
    tried = 0
    with ctx.workprec(100):
        for run in runs(given):
            claimed = printed_terms(run, *says)
            tried += 1
            if highest(run) > ball(claimed):
                return refuted("the upper chain, which is the risk itself at w* = 0, is larger", {
                    "spectrum": ", ".join(map(str, run.spectrum)), "N": run.records, "eta": run.rate,
                    "sigma^2": run.label,
                    "s^2": run.noise, "claimed": claimed, "chain": Enclosure.of_ball(highest(run))})
    start, tail, feedback, variance, private = says
    return proof(
        *chain_steps(),
        computed("2/(3x) is (4/3)/(eta lambda) and N^2 x/(eta N^2) is lambda/2; both constants are as large",
                 start >= Fraction(4, 3) and tail >= Fraction(1, 2)),
        computed("with 1/(1 - rho) <= 3 and h <= (4/3) min(N lambda, 1/eta) the feedback has 3 (4/3)",
            feedback >= 3 * Fraction(4, 3)),
        computed("2 and the feedback's 3 eta^2 alpha tr(H) (4/3)/eta <= 4", variance >= 2 + 4),
        computed("2 and the feedback's 3 alpha eta 2 tr(H) <= 6 (absorbed)", private >= 2 + 6),
        study_step("glmtron-private-term"), study_step("glmtron-power-2-nonprivate"), study_step(
            "glmtron-power-2-constant"),
        argued("the parts add up as in the module's proof"), tried=tried,
    )


def judge_absorbed(says: Any, given: Domain) -> Finding:
    """Whether sum_i m_i sum_j m_j^2 <= says tr(H) sum_j m_j^2/lambda_j, m = min(1, reach lambda)."""
    tried = 0
    for reach in given.values("reach"):
        for spectrum in SPECTRA:
            short = [min(Fraction(1), reach * lam) for lam in spectrum]
            left = sum(short) * sum(m * m for m in short)
            right = sum(spectrum) * sum(m * m / lam for m, lam in zip(short, spectrum, strict=True))
            tried += 1
            if left > says * right:
                return refuted("the product is larger", {"spectrum": spectrum, "eta N": reach, "left": left,
                    "right": says * right})
    a, b = sympy.symbols("a b", positive=True)
    u, v = (1 / (1 + sympy.Symbol(name, nonnegative=True)) for name in "uv")  # in (0, 1]
    pair = a * v**2 / b + b * u**2 / a - u * v**2 - v * u**2
    return proof(
        computed("a pair's difference is (a v - b u)^2/(ab) + u v (2 - u - v), u, v in (0, 1]",
                 vanishes(pair - (a * v - b * u) ** 2 / (a * b) - u * v * (2 - u - v)) and never_negative(u * v * (
                     2 - u - v))),
        computed("what is claimed is no less than 1", says >= 1), tried=tried,
    )


_SHARE = Parameter("share", low=Fraction(0), high=Fraction(1), low_open=True, meaning="eta alpha tr(H)")
RUN = (_SHARE, positive_integer("N"))
THEOREM = (
    "Theorem 4.2 (Utility Guarantee Upper). Consider a dataset D = {(x;,y;)}_,, where each x; is\ndrawn from a "
    "distribution D "
    "satisfying (H, Cs, a, b)-Tail and the distribution of the inherent noise z\nsatisfies (0%, Cy, a, b)-Tail. Given "
    "Assumptionsand if we set a step sizen < m,\n\na noise multiplier f = O(%), estimating data size m = "
    "Q(w),\nprobability of 1 "
    "— 1/N, the output ofAlgorithmwill satisfy:\n\nE[L(Wy)] — L(w.) < bias + variance + privacy,"
)
repaired = Claim(
    id="glmtron/thm-4.2-private-repaired", source="003, Theorem 4.2, its private term derived without the false "
                                                  "induction",
    severity=Stake.UTILITY,
    statement=r"E\mathcal{L}(\bar w) - \mathcal{L}(w_*) \le \frac{1}{\eta N^2}\sum_i g_i \min\left(1, "
              r"\frac{N\eta\lambda_i}{2}\right)"
              r" \min\left(N, \frac{4}{3\eta\lambda_i}\right) + \frac{2(\sigma^2 D_{eff} + s^2 D_{pri})}{N} + "
              r"\frac{\alpha D_{eff}}{N^2}"
              r" \cdot \frac{\sum_i h_i g_i + N\eta^2(\sigma^2 \sum_i \lambda_i h_i + s^2 \sum_i h_i)}{1 - "
              r"\frac{\alpha\eta^2}{2}"
              r"\sum_i \lambda_i h_i}, \quad h_i = \min(N\lambda_i, \tfrac{4}{3\eta}),\ \text{dimensions at } \eta/2",
    words="without clipping, with fixed noise and eta alpha tr(H) <= 1, the excess risk is at most the closed form "
          "with the "
          "feedback of the private noise",
    hypotheses=RUN, says=(Fraction(1), Fraction(2), Fraction(1)), check=judge_closed, expected="HOLDS ARGUED",
    rests_on=("glmtron/lemma-D.4-half", "glmtron/lemma-D.5", "glmtron/risk-sandwich", "glmtron/eq-1-1-x-N"),
    flips=(Flip("a tenth of the noise terms", (Fraction(1), Fraction(1, 10), Fraction(1)), Verdict.REFUTED),
           Flip("a quarter of the start", (Fraction(1, 4), Fraction(2), Fraction(1, 4)), Verdict.REFUTED)),
    true_variants={"*1 % more": "a larger bound is weaker", "*one more": "likewise"},
)
fixed = Claim(
    id="glmtron/thm-4.2-reading-fixed", source="003, Theorem 4.2, read with noise fixed beforehand and no clipping",
    quote=THEOREM, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{bias} \le \tfrac43 \frac{\|w_0-w_*\|^2_{H^{-1}_{0:k^*}}}{\eta^2N^2} + "
              r"\|w_0-w_*\|^2_{H_{k^*:\infty}} + 4\alpha"
              r"\left(\frac{\|w_0-w_*\|^2_{I_{0:k^*}}}{N\eta} + \|w_0-w_*\|^2_{H_{k^*:\infty}}\right) "
              r"\frac{D_{eff}}{N},\quad"
              r" \text{variance} \le 6\sigma^2 \frac{D_{eff}}{N},\quad \text{private} \le 32 f^2\Gamma^2 "
              r"\frac{D^{pri}_{eff}}{N}",
    words="Theorem 4.2 holds, in expectation, with the constants 4/3, 1, 4, 6 and 32 for fixed noise and no clipping",
    hypotheses=RUN, says=(Fraction(4, 3), Fraction(1), Fraction(4), Fraction(6), Fraction(8)), check=judge_printed,
    expected="HOLDS ARGUED", uses=("glmtron/lemma-D.4", "glmtron/lemma-D.5", "glmtron/lemma-D.6",
        "glmtron/variance-induction-conclusion"),
    rests_on=("glmtron/thm-4.2-private-repaired", "glmtron/feedback-absorbed", "glmtron/effective-dimensions"),
    flips=(Flip("constants of a tenth", (Fraction(1, 10),) * 5, Verdict.REFUTED),),
    true_variants={"*1 % more": "a larger constant is weaker", "*one more": "likewise",
                   "?1? 1 % less": "1/2 is what the proof needs of the tail"},
)
absorbed = Claim(
    id="glmtron/feedback-absorbed", source="003, Theorem 4.2: the feedback of the private noise is no larger than the "
                                           "noise",
    severity=Stake.UTILITY, statement=r"(k^* + N\eta \textstyle\sum_{i>k^*} \lambda_i)\, D_{eff} \le tr(H)\, "
                                      r"D^{pri}_{eff}",
    words="(k* + N eta times the tail sum) D_eff is at most tr(H) D_pri", hypotheses=(Parameter("reach", low=Fraction(
        0), low_open=True),),
    says=Fraction(1), check=judge_absorbed, expected="HOLDS PROVED", flips=(Flip("nine tenths", Fraction(9, 10),
        Verdict.REFUTED),),
    true_variants={"1 % more": "a larger bound is weaker", "one more": "likewise",
                   "any reach": "the pair's difference is >= 0 for u, v < 0, too"},
)
