r"""Sample sizes for two-layer networks (002, Theorems 10 and 11), as printed and improved, with constants.

Let l^2 = L = log(1/delta), delta <= 1/2, epsilon <= 1, alpha <= 1 and lambda = log(n/delta), which Theorem 8 omits.
With the step W times that of `utility`, S of Theorem 8 is at most W (520 sqrt(theta) l/(n epsilon) + 41/sqrt(n)),
projected with m = lambda n epsilon at most W (4104 sqrt(lambda) l/sqrt(n epsilon) + 137/sqrt(n)) + G W^2/(lambda n
epsilon), and the excess risk at most 2G S + G^2 M^2. Let the polynomial's error be M = sqrt(alpha/2)/G, so that
G^2 M^2 = alpha/2, that is alpha_0 = sqrt(alpha)/(G sqrt(2k)) in Lemmas 16 and 17. If

    n >= 2^33 lambda (A^2 L/epsilon + A sqrt(theta L)/epsilon),     A >= max(1, G W/alpha),

then each of the four terms of 2G S is at most alpha/8, and at most three of them count in one branch: Algorithm 3 runs
only where n epsilon <= theta. (m, rounded up, is at most 1 + 2^-32 times lambda n epsilon.) So the excess risk is at
most alpha. What is left is the size of G W/alpha. Put x = kG/alpha.

- Sigmoid, W = (sqrt(k)/alpha_0)^13 (Lemma 16 for the hidden layer): sqrt(k)/alpha_0 = sqrt(2) k G/sqrt(alpha) is at
  most sqrt(2) x and G/alpha <= x, so that G W/alpha <= 2^(13/2) x^14 <= x^(41/2) for x >= 2: C = 41/2. In truth W <=
  24 sqrt(k (m + 1)), and no unknown power is needed (`thm-10-improved`).
- ReLU, W = 2^((5/2) sqrt(k)/alpha_0): G W/alpha <= x 2^((5/2) sqrt(2) x), and log2 x <= x/(e log 2), so that
  C = (5/2) sqrt(2) + 1/(e log 2) < 41/10 will do.
- With y = kG/sqrt(alpha), G >= 1: G/alpha <= y^2, so that G W/alpha <= y^2 2^((5/2) sqrt(2) y) <= 2^(C y) with
  C <= 23/5: the exponent is k/sqrt(alpha) and not k/alpha. That comes from the missing linear term in M: with 4GM one
  would need alpha_0 of order alpha/(G sqrt(k)).
- With z = G sqrt(k/alpha), G >= 1, and the norm of the ReLU's polynomial itself, W <= sqrt(k (m + 1)) (1/2 + 2/pi)
  (1 + sqrt(2))^m, m <= 0.32 sqrt(2) z + 1, even sqrt(k/alpha) is enough: C = 15/4.

Lower end. One record x = e_1, one unit, sigma_2 the identity cut to [0, 1]: N_2(x) = sigma_1(<a, x>). Two such means,
Delta apart, are told apart by n labels in {0, 1} with total variation TV only, so that one of the two has excess at
least (Delta^2/4)(1 - TV). With n = 1 that is a constant: "n = O(.)", as an upper bound, is false.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import Parameter, positive
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, undecided


def budget_steps() -> tuple[ProofStep, ...]:
    """n >= 2^33 lambda (A^2 L/epsilon + A sqrt(theta L)/epsilon), A >= G W/alpha, makes every term alpha/8 at most."""
    constant = 2**33
    log_least = Fraction(16, 25)  # L at delta <= 1/2
    return (
        computed("statistical: 2 * 137 G W/sqrt(n) <= alpha/8 as 2^33 * 16/25 >= (16 * 137)^2",
                 constant * log_least >= (16 * 137) ** 2),
        computed("private, plain: 2 * 520 G W sqrt(theta) l/(n epsilon) <= alpha/8 as 2^33 >= 16 * 520",
                 constant >= 16 * 520),
        computed("private, projected: 2 * 4104 G W sqrt(lambda) l/sqrt(n epsilon) <= alpha/8 as 2^33 >= (16 * 4104)^2",
                 constant >= (16 * 4104) ** 2),
        computed("projection: 2 G^2 W^2/(lambda n epsilon) <= alpha/8 as 2^33 * 16/25 >= 16",
                 constant * log_least >= 16),
        computed("three of these and G^2 M^2 = alpha/2 are at most alpha", 3 * Fraction(1, 8) + Fraction(1, 2) <= 1),
        argued("the excess risk is at most 2G S + G^2 M^2, with S and the steps of the docstring"),
    )


def two_point(records: int, high: arb, low: arb) -> Enclosure:
    """What no estimate from so many labels at one x can avoid, if their mean is one of the two."""
    overlap = sum((math.comb(records, j) * (high**j * (1 - high) ** (records - j)).min(low**j * (1 - low) ** (
        records - j)) for j in range(records + 1)), arb(0))
    return Enclosure.of_ball((high - low) ** 2 / 4 * overlap)


def judge_upper(unit: str) -> Callable[[Any, Domain], Finding]:
    """The checker of: so many records are enough for excess 1/50 with k = G = 1; "n = O(.)" allows every smaller n."""

    def judge(says: Any, given: Domain) -> Finding:
        with ctx.workprec(128):
            scores = (Fraction(1), Fraction(-1)) if unit == "sigmoid" else (Fraction(3, 4), Fraction(1, 4))
            means = [1 / (1 + (-ball(s)).exp()) if unit == "sigmoid" else ball(s) for s in scores]
            least, alpha = two_point(int(says), *means), Fraction(1, 50)
        if not least.possibly_le(alpha):
            h, a, b = sympy.symbols("h a b", real=True)
            return refuted_by("two networks cannot be told apart by so few labels, whatever the algorithm", {
                "n": says, "k": 1, "G": 1, "alpha": alpha, "x": "e_1", "sigma_1": unit,
                "sigma_2": "min(1, max(0, z))", "<a, x>": " or ".join(map(str, scores)),
                "excess of one of them at least": least},
                computed("(h - a)^2 + (h - b)^2 is (a - b)^2/2 and a square more, whatever a rule answers: weighted "
                         "with the smaller of both probabilities, half of that is what one of the two cannot avoid",
                         vanishes((h - a) ** 2 + (h - b) ** 2 - (a - b) ** 2 / 2 - 2 * (h - (a + b) / 2) ** 2)))
        return undecided("so many labels tell these two networks apart", 1)

    return judge


def judge_sample(kind: str) -> Callable[[Any, Domain], Finding]:
    """The checker of C = says in A = x^C, 2^(C x), 2^(C y) or 2^(C z)."""

    def judge(says: Any, given: Domain) -> Finding:
        power = Fraction(says)
        tried = len(list(given.points(at_most=40)))
        with ctx.workprec(100):
            e_bound = 1 / (arb(1).exp() * arb(2).log())  # log2(u) <= u/(e log 2)
            relu = ball(Fraction(5, 2)) * arb(2).sqrt()
            if kind == "sigmoid":
                if power < Fraction(1, 2):
                    return _too_small(power)
                steps = (computed("2^(13/2) x^14 <= x^C for x >= 2: C >= 14 + 13/2 (at x = 2) and C >= 14 (beyond)",
                                  power >= 14 + Fraction(13, 2) and given["x"].low == 2),)
            elif kind == "relu":
                steps = (computed("x 2^((5/2) sqrt(2) x) <= 2^(C x) for every x > 0, certified",
                                  relu + e_bound <= ball(power) and given["x"].low is not None),)
            elif kind == "improved":
                steps = (computed("y^2 2^((5/2) sqrt(2) y) <= 2^(C y) for every y > 0, certified",
                                  relu + 2 * e_bound <= ball(power) and given["x"].low is not None),)
            else:
                steps = (_sharper_step(power, e_bound, given),)
        k, g, s = sympy.symbols("j h s", nonnegative=True)
        units, slope, inverse = 1 + k, 1 + g, 1 + s  # k, G (for the improvements) and 1/alpha, all at least 1
        x, y, z2 = units * slope * inverse, units**2 * slope**2 * inverse, slope**2 * units * inverse
        return proof(
            *budget_steps(), *steps,
            computed("G/alpha <= x, (k G)^2/alpha <= x^2; for G >= 1 also G/alpha <= y^2 and G sqrt(k)/alpha <= z^2",
                     never_negative(x - slope * inverse, x**2 - y, y - slope * inverse,
                                    z2**2 - slope**2 * units * inverse**2)),
            tried=tried,
        )

    return judge


def _sharper_step(power: Fraction, e_bound: arb, given: Domain) -> ProofStep:
    """z^2 (1/2 + 2/pi) sqrt(m + 1) (1 + sqrt(2))^m <= 2^(C z), m = 0.32 sqrt(2) z + 1, for z >= 1."""
    degree = ball(Fraction(8, 25)) * arb(2).sqrt()
    growth = (1 + arb(2).sqrt()).log() / arb(2).log()
    slope = 2 * e_bound + degree * e_bound / 2 + degree * growth
    start = (ball(Fraction(1, 2)) + 2 / arb.pi()).log() / arb(2).log() + e_bound + growth
    return computed("z^2 (1/2 + 2/pi) sqrt(m + 1) (1 + sqrt(2))^m <= 2^(C z) for z >= 1, by log2(u) <= u/(e log 2)",
                    bool(slope + start <= ball(power)) and given["x"].low == 1)


def _too_small(power: Fraction) -> Finding:
    """x^(2C) with 2C < 1 is less than any sample size of order 1/alpha."""
    return refuted_by("n labels cannot do better than the order 1/n, so that n is at least of order 1/alpha", {
        "C": power, "k": 1, "G": 1, "exponent of 1/alpha claimed": 2 * power, "exponent needed": 1},
        computed("the claimed exponent is below 1", 2 * power < 1),
        argued("means 1/(4 sqrt(n)) apart have TV at most 1/2 (Pinsker), so that one has excess of order 1/n"))


_X = (Parameter("x", low=Fraction(2), meaning="kG/alpha"),)
_Y = (positive("x", "kG/sqrt(alpha)"),)
_Z = (Parameter("x", low=Fraction(1), meaning="G sqrt(k/alpha)"),)
_RESTS = ("nonconvex-nn/lem-7-strong", "nonconvex-nn/rem-9-repaired", "nonconvex-nn/thm-8-utility")
_TEN = (
    r"when $n = O\left(\left(\frac{kG}{\alpha}\right)^{2C} \frac{\log 1/\delta}{\epsilon} + "
    r"\left(\frac{Gk}{\alpha}\right)^C \frac{\sqrt{\theta \log 1/\delta}}{\epsilon}\right)$ with some constant $C > 0$ "
    r"we have"
)
_ELEVEN = (
    r"Then when $n = O\left(4^{C\left(\frac{Gk}{\alpha}\right)} \frac{\log 1/\delta}{\epsilon} + "
    r"2^{C\left(\frac{Gk}{\alpha}\right)} \frac{\sqrt{\theta \log 1/\delta}}{\epsilon}\right)$ with some constant "
    r"$C > 0$ we have"
)


def _ambiguous(number: int, quote: str, statement: str, words: str) -> Claim:
    name = f"nonconvex-nn/thm-{number}"
    return Claim(
        id=name, source=f"002, Theorem {number}: the sample size", quote=quote, whose=Whose.PRINTED,
        severity=Stake.UTILITY, statement=statement, words=words, hypotheses=(), says=None, check=None,
        readings=(f"{name}-reading-upper", f"{name}-reading-order"), expected="AMBIGUOUS ARGUED",
    )


def _upper(number: int, quote: str) -> Claim:
    name = f"nonconvex-nn/thm-{number}"
    return Claim(
        id=f"{name}-reading-upper", source=f"002, Theorem {number} with n = O(.), an upper bound", quote=quote,
        whose=Whose.READING, severity=Stake.UTILITY, statement=r"n = O(\cdot) \Rightarrow \text{excess} \le \alpha",
        words="every sample size up to that order has excess alpha, n = 1 say", hypotheses=(), says=1,
        check=judge_upper("sigmoid" if number == 10 else "relu"),
        flips=(Flip("thirty records", 30, Verdict.UNDECIDED),),
        repaired_by=f"{name}-reading-order", expected="REFUTED PROVED",
    )


theorem_10 = _ambiguous(
    10, _TEN, r"n = O((kG/\alpha)^{2C} L/\epsilon + (kG/\alpha)^C\sqrt{\theta L}/\epsilon)",
    "a network of k sigmoid units is learnt to excess alpha from so many records")
theorem_10_upper = _upper(10, _TEN)
theorem_10_order = Claim(
    id="nonconvex-nn/thm-10-reading-order",
    source="002, Theorem 10: n at least of that order and log(n/delta), delta <= 1/2, kG/alpha >= 2, a step with W",
    quote=_TEN, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"n \ge 2^{33}\log\tfrac{n}{\delta}\left((\tfrac{kG}{\alpha})^{2C}\tfrac{L}{\epsilon} + "
              r"(\tfrac{kG}{\alpha})^C\tfrac{\sqrt{\theta L}}{\epsilon}\right),\ C = \tfrac{41}{2}",
    words="from so many records, times log(n/delta), a network of k sigmoid units is learnt to excess alpha",
    hypotheses=_X, says=Fraction(41, 2), check=judge_sample("sigmoid"),
    flips=(Flip("C = 1/4", Fraction(1, 4), Verdict.REFUTED), Flip("C = 20", Fraction(20), Verdict.UNDECIDED)),
    uses=("nonconvex-nn/lem-16", "nonconvex-nn/thm-8-utility"),
    rests_on=("nonconvex-nn/lem-16-reading-hidden", *_RESTS),
    true_variants={"* more": "more records are enough, too"}, expected="HOLDS ARGUED",
)
theorem_11 = _ambiguous(
    11, _ELEVEN, r"n = O(4^{CkG/\alpha} L/\epsilon + 2^{CkG/\alpha}\sqrt{\theta L}/\epsilon)",
    "a network of k ReLU units is learnt to excess alpha from so many records")
theorem_11_upper = _upper(11, _ELEVEN)
theorem_11_order = Claim(
    id="nonconvex-nn/thm-11-reading-order",
    source="002, Theorem 11: n at least of that order and log(n/delta), delta <= 1/2, a step with W",
    quote=_ELEVEN, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"n \ge 2^{33}\log\tfrac{n}{\delta}\left(4^{CkG/\alpha}\tfrac{L}{\epsilon} + "
              r"2^{CkG/\alpha}\tfrac{\sqrt{\theta L}}{\epsilon}\right),\ C = 4.1",
    words="from so many records, times log(n/delta), a network of k ReLU units is learnt to excess alpha",
    hypotheses=(positive("x", "kG/alpha"),), says=Fraction(41, 10), check=judge_sample("relu"),
    flips=(Flip("C = 4", Fraction(4), Verdict.UNDECIDED),),
    uses=("nonconvex-nn/lem-17", "nonconvex-nn/thm-8-utility"),
    rests_on=("nonconvex-nn/lem-17-reading-hidden", *_RESTS),
    true_variants={"* more": "more records are enough, too"}, expected="HOLDS ARGUED",
)
theorem_11_improved = Claim(
    id="nonconvex-nn/thm-11-improved", source="a finding of ours: 002, Theorem 11 without the linear term of Lemma 7",
    severity=Stake.UTILITY,
    statement=r"n \ge 2^{33}\log\tfrac{n}{\delta}\left(4^{CkG/\sqrt\alpha}\tfrac{L}{\epsilon} + "
              r"2^{CkG/\sqrt\alpha}\tfrac{\sqrt{\theta L}}{\epsilon}\right),\ C = 4.6,\ G \ge 1",
    words="the exponent of Theorem 11 is kG/sqrt(alpha): Lemma 7 without its linear term lets alpha_0 be of order "
          "sqrt(alpha)",
    hypotheses=_Y, says=Fraction(23, 5), check=judge_sample("improved"),
    flips=(Flip("C = 4", Fraction(4), Verdict.UNDECIDED),), rests_on=("nonconvex-nn/lem-17-reading-hidden", *_RESTS),
    true_variants={"* more": "more records are enough, too"}, expected="HOLDS ARGUED",
)
theorem_11_sharper = Claim(
    id="nonconvex-nn/thm-11-sharper",
    source="a finding of ours: 002, Theorem 11 with the norm of the ReLU's polynomial",
    severity=Stake.UTILITY,
    statement=r"n \ge 2^{33}\log\tfrac{n}{\delta}\left(4^{CG\sqrt{k/\alpha}}\tfrac{L}{\epsilon} + "
              r"2^{CG\sqrt{k/\alpha}}\tfrac{\sqrt{\theta L}}{\epsilon}\right),\ C = 3.75,\ G \ge 1",
    words="the exponent of Theorem 11 can be G sqrt(k/alpha): the weights of all k units share one degree",
    hypotheses=_Z, says=Fraction(15, 4), check=judge_sample("sharper"),
    flips=(Flip("C = 3", Fraction(3), Verdict.UNDECIDED),), rests_on=("nonconvex-nn/lem-17-reading-hidden", *_RESTS),
    true_variants={"* more": "more records are enough, too"}, expected="HOLDS ARGUED",
)
