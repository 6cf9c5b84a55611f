r"""Both passes of document 003 at one epsilon and delta, with the noise that Theorem 4.1 needs without a constant.

At delta = N^-1.1 the shuffled pass has f_s = log(N/delta)/(epsilon sqrt N) for every epsilon up to sqrt(log(N/delta)/N)
(thm-4.1-reading-one), the tree f_t = sqrt(2 ceil(lg(N+1)) log(1/delta))/epsilon, both for a removed record or, with
twice the noise in both, for a replaced one: epsilon cancels. At w* = 0, without label noise and with Gaussian features
both risks are exact: the shuffled pass has the chain with c = 1/2, the tree that of `chain.tree_risk`, here in balls.
By the noise that clones prove (some 1.7 times f_s) it was the tree that cost less on decaying spectra.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.glmtron.tree.chain import LEVELS
from theorems.glmtron.tree.comparison import QUOTE, noise_ratio
from theorems.glmtron.utility.ground import chain
from theorems.verdict import Finding, Verdict, refuted, undecided

_SPECTRUM = tuple(Fraction(1, i * i) for i in range(1, 9))


def tree_in_balls(spectrum: tuple[Fraction, ...], eta: Fraction, levels: int) -> arb:
    """The risk of tree noise over s^2 for w* = 0 and Gaussian features (`chain.tree_risk`), in balls."""
    records, size = 2**levels, range(len(spectrum))
    lam, q = [ball(value) for value in spectrum], [ball(1 - eta * value / 2) for value in spectrum]
    square = ball(eta) ** 2
    fresh = [[1 + b - 2 * sum((q[i] ** (2**j) for j in range(b)), arb(0)) for b in range(levels + 1)] for i in size]
    mean, rest = [arb(0) for _ in size], [arb(0) for _ in size]
    total = [_mean_energy(one, levels) * square for one in q]
    for t in range(records):
        both = [a + b for a, b in zip(mean, rest, strict=True)]
        energy = sum((a * b for a, b in zip(lam, both, strict=True)), arb(0))
        zeros = ((t + 1) & -(t + 1)).bit_length() - 1
        for i in size:
            spread = square * (energy * lam[i] / 2 + 3 * lam[i] ** 2 * both[i] / 4)
            total[i] += spread * ((1 - q[i] ** (records - t)) / (1 - q[i])) ** 2
            rest[i] = q[i] ** 2 * rest[i] + spread
            mean[i] = q[i] ** 2 * mean[i] + square * fresh[i][zeros]
    risk: arb = sum((a * b for a, b in zip(lam, total, strict=True)), arb(0)) / (4 * records**2)
    return risk


def _mean_energy(q: arb, levels: int) -> arb:
    energy, power, weight = arb(0), q, arb(1)  # `linear.doubled`
    for _ in range(levels):
        energy, weight, power = (1 + power**2) * energy + q**2 * weight**2, (1 + power) * weight, power**2
    return energy + 1


def judge_ratio(says: Any, given: Domain) -> Finding:
    """Whether the tree costs at most says times what the shuffled pass costs, lambda_i = i^-2, eta = 1/10, c = 1."""
    tried, eta = 0, Fraction(1, 10)
    for levels in (*[level for level in given.values("levels", most=9) if level >= 9], 10):
        with ctx.workprec(128):
            records = 2**levels
            allowed = records >= 16 * arb(1).exp() * (arb(4).log() + ball(Fraction(11, 10)) * arb(records).log())
            total, _ = chain(_SPECTRUM, [Fraction(0)] * 8, records, eta, Fraction(1, 2), Fraction(0), Fraction(1))
            ratio = tree_in_balls(_SPECTRUM, eta, levels) / (total / (4 * records**2)) * noise_ratio(
                levels, Fraction(11, 10), Fraction(1))
            tried += 1
            if allowed and ratio > ball(Fraction(says)):
                return refuted("the tree costs more, certified", {
                    "spectrum": "i^-2, 8 directions", "eta": eta, "N": records, "delta": "N^-1.1", "w*": 0,
                    "ratio of the errors": Enclosure.of_ball(ratio), "claimed": says})
    return undecided("no more at the lengths tried", tried)


errors_one = Claim(
    id="glmtron/remark-8-reading-errors-one",
    source="003, Remark 8 of the errors, lambda_i = i^-2, Theorem 4.1 with the constant 1",
    quote=QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"\text{private error}_{\text{tree}} \le \text{private error}_{\text{shuffled}},\ f_s = "
              r"\tfrac{\log(N/\delta)}{\varepsilon\sqrt N}",
    words="with the noise that Theorem 4.1 needs without a constant, too, the tree costs no more than the shuffled "
          "pass on a decaying spectrum",
    hypotheses=(LEVELS,), says=1, check=judge_ratio, expected="REFUTED PROVED",
    uses=("glmtron/thm-4.1-reading-one",), repaired_by="glmtron/remark-8-reading-bounds-repaired",
    untested={"levels": "from 9 on Theorem 4.1 applies"}, flips=(Flip("ten times", 10, Verdict.UNDECIDED),),
)
