r"""Lemma 18 of document 002 for three layers, about the start: proved with a constant, so that no study has to tell it.

Let L = 3, |x| = 1, m >= 3, omega <= 1, all matrices within omega of the start; u = W_1(0) x, h = relu(u), p = W_2(0) h,
delta and e what the ball adds to u and p, l = log m, M = m omega^{2/3}. But for e^-cm each, |h| is between 1/2 and 2,
|W_3(0)| at most 2 and |W_2(0)| at most 10 (`theorem_13.shrinking`, (1), has the last). Then |delta| <= omega, |relu(u +
delta) - h| <= omega and |e| <= omega (2 + omega) + 10 omega <= 13 omega. f - f_ntk is sqrt(m) times

(A) (W_3 - W_3(0)) (relu(p + e) - relu(p)), at most 13 omega^2;
(B) the sum over units j of the second layer of W_3(0)_j (relu(p_j + e_j) - relu(p_j) - 1{p_j > 0} e_j), which is 0
    unless |p_j| <= |e_j|, and then at most |W_3(0)_j| |e_j|;
(C) W_3(0) D_2 (W_2 - W_2(0)) (relu(u + delta) - h), at most 2 omega^2; and
(D) v r, v = W_3(0) D_2 W_2(0), r_k = relu(u_k + delta_k) - h_k - 1{u_k > 0} delta_k, 0 unless |u_k| <= |delta_k|, and
    then at most |delta_k|.

Units that change sign. With tau = omega^{2/3}/sqrt(m): at most omega^2/tau^2 = M units have |delta_k| > tau, at most
169 M have |e_j| > tau; the others that change sign have |u_k| <= tau, or |p_j| <= tau. u_k is N(0, 2/m), and p_j given
h is N(0, 2 |h|^2/m): these have probabilities of at most omega^{2/3}/sqrt(pi) and 2 omega^{2/3}/sqrt(pi), so that their
numbers are below M and 2 M but for e^{-cM}, c > 0 (Chernoff). So at most 2 M units of the first layer and 171 M of the
second change sign, for all matrices of the ball at once.

Weights of few units. For any N coordinates the sum of W_3(0)_j^2 is 1/m times a chi square of N degrees, above N (1 + 2
sqrt(2l) + 4l)/m <= 9 N l/m with probability at most m^{-2N} (Laurent and Massart), and there are at most m^N choices:
all of them stay below that but for m^{-N}. Given W_2(0), the sum of v_k^2 over N coordinates is a quadratic form of
rank at most N in W_3(0), of norm at most 100/m: the same with 100. So (B) is at most (9 * 171 M l/m)^{1/2} 13 omega
and (D) (900 * 2 M l/m)^{1/2} omega, by Cauchy, and sqrt(M) = sqrt(m) omega^{1/3}:

    |f - f_ntk| <= 15 sqrt(m) omega^2 + (39 sqrt(171) + 30 sqrt(2)) omega^{4/3} sqrt(m l) <= 570 omega^{4/3} sqrt(m l),

for all W of the ball at once, but for a probability of O(e^{-c M}): Lemma 18, with its order and its probability, for
one record; n records cost the factor n. (For L layers the same argument has constants of products of L norms: whether
L^3 is enough is what Cao and Gu are cited for.)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive_integer, real
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log, root
from theorems.tools.refutations import refuted_by
from theorems.tools.studied import AGAINST, FOR, by_study, on_record
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.verdict import Evidence, Finding, ProofStep, Scope, Verdict, argued, computed, proof, undecided

Formula = Callable[..., Any]


def order_steps() -> tuple[ProofStep, ...]:
    """The computed parts of the module's text but for the sum."""
    omega, m = sympy.symbols("omega m", positive=True)
    less, more = sympy.symbols("s t", nonnegative=True)
    tau, many = omega ** sympy.Rational(2, 3) / sympy.sqrt(m), m * omega ** sympy.Rational(2, 3)
    z = sympy.Symbol("z", real=True)
    density = sympy.exp(-(z**2) * m / 4) * sympy.sqrt(m) / (2 * sympy.sqrt(sympy.pi))  # of N(0, 2/m)
    near = 1 / (1 + less)  # omega
    wide = 1 + more  # sqrt(log m)
    with ctx.workprec(100):
        small = [arb(bound) * (arb(bound) / mean).log() - arb(bound) + mean for bound, mean in (
            (1, 1 / arb.pi().sqrt()), (2, 2 / arb.pi().sqrt()))]
    return (
        computed("|e| <= omega (2 + omega) + 10 omega is at most 13 omega for omega <= 1",
                 never_negative(13 * near - near * (2 + near) - 10 * near)),
        computed("omega^2/tau^2 = M, and 2 tau times the densities at 0 is omega^{2/3}/sqrt(pi), twice that for |h| = "
                 "1/2", vanishes(omega**2 / tau**2 - many, 2 * tau * density.subs(z, 0) - omega ** sympy.Rational(2, 3)
                                 / sympy.sqrt(sympy.pi))),
        computed("Chernoff's exponents for M and 2 M units are positive, certified", all(bool(c > 0) for c in small)),
        computed("1 + 2 sqrt(2 l) + 4 l <= 9 l for l >= 1: 2 sqrt(2) <= 3 and 1 <= l <= 2l", never_negative(
            9 * wide**2 - 1 - 3 * wide - 4 * wide**2) and bool(sympy.sqrt(8) < 3)),
    )


def judge_three(says: Formula, given: Domain) -> Finding:
    """Whether sup |f - f_ntk| <= says(m, v) for three layers, omega = v^3, but for the probability of the text."""
    tried = 0
    for point in given.points("width", "v", at_most=40):
        width, v = point["width"], point["v"]
        with ctx.workprec(100):  # move the last two layers along the forward pass: sqrt(m) omega^2 |h_1|, |h_1| > 1/2
            least, claimed = arb(width).sqrt() * ball(v) ** 6 / 2, says(arb(width), ball(v))
        tried += 1
        if not claimed > least:
            return refuted_by("moving the last two layers along the forward pass gives more", {
                "m": width, "omega": v**3, "at least": Enclosure.of_ball(least), "claimed": Enclosure.of_ball(claimed)},
                argued("W_2 moves by omega along a row of open units, W_3 by omega on them, but for a small chance"))
    v_, logarithm = (1 + sympy.Symbol(name, nonnegative=True) for name in ("s", "t"))  # omega^{-1/3}, sqrt(log m)
    parts = 15 / v_**2 + 553 * logarithm  # over sqrt(m) v^4
    claimed_ = sympy.simplify(says(sympy.exp(logarithm**2), 1 / v_) / sympy.exp(logarithm**2 / 2) * v_**4)
    if not never_negative(claimed_ - parts):
        return undecided("the parts (A) to (D) add up to more", tried)
    return proof(
        *order_steps(),
        computed("39 sqrt(171) + 30 sqrt(2) < 553", bool(39 * sympy.sqrt(171) + 30 * sympy.sqrt(2) < 553)),
        computed("(A) to (D) add up to at most that for omega <= 1 and log m >= 1", never_negative(claimed_ - parts)),
        argued("the parts, the units that change sign, and the weights of few units: the module's text"),
        tried=tried,
    )


def exponent(study: str) -> sympy.Rational:
    """The power of the study's axis in omega^{4/3} sqrt(m log m): of 1/omega, of m, of m at omega = R/sqrt(m)."""
    m, omega = sympy.symbols("m omega", positive=True)
    bound = omega ** sympy.Rational(4, 3) * sympy.sqrt(m * sympy.log(m))
    if study == "linearisation-distance":
        return -sympy.simplify(omega * sympy.diff(sympy.log(bound), omega))
    along = bound.subs(omega, 1 / sympy.sqrt(m)) if study == "linearisation-scaled" else bound
    return sympy.limit(sympy.simplify(m * sympy.diff(sympy.expand_log(sympy.log(along), force=True), m)), m, sympy.oo)


def judge_power(says: tuple[str, Fraction], given: Domain) -> Finding:
    """Whether the largest gap grows at most like that power of the study's axis, but for powers of log m.

    The study can refute it: all its slopes are in the interval on record but for the error of the studies. That it
    holds is not for a study to tell, but follows from the bound.
    """
    name, power = says
    entry, finding = on_record(name), by_study(name)
    if entry.interval is not None and entry.verdict in (*FOR, *AGAINST, "UNRESOLVED"):
        low, high = map(Fraction, entry.interval)
        if low > power:
            region = {} if finding.scope is None else finding.scope.region
            return Finding(Verdict.REFUTED, Evidence.STATISTICAL, f"study {name}: all slopes within {float(low):.3f} "
                           f"and {float(high):.3f}, claimed at most {power}",
                           {"study": name, "claimed power": str(power), "slopes": str(entry.interval)},
                           Scope("instance", region=region))
    proved = exponent(name)
    if proved > sympy.Rational(power.numerator, power.denominator):
        return undecided(f"the bound's power is {proved}, which is more, and the study {name} does not tell", 1)
    return proof(
        computed(f"the bound's power of the study's axis is {proved}, at most the claimed one",
                 proved <= sympy.Rational(power.numerator, power.denominator)),
        argued("the largest gap is at most the bound but for a probability that vanishes: lem-18-three-layers"),
    )


_BOUND: Formula = lambda m, v: 570 * v**4 * root(m * log(m))  # noqa: E731
three_layers = Claim(
    id="nonconvex-nn/lem-18-three-layers", source="a finding of ours: 002, Lemma 18 for L = 3, f_ntk about the start",
    severity=Stake.UTILITY,
    statement=r"\sup_{W \in B(W^{(0)}, \omega)} |f - f_{ntk}| \le 570\, \omega^{4/3} \sqrt{m\log m} \text{ but for } "
              r"O(e^{-cm\omega^{2/3}}),\ L = 3,\ \omega \le 1",
    words="with three layers and f_ntk about the start the largest gap has Lemma 18's order and probability, |x| = 1",
    hypotheses=(positive_integer("width", "m").at_least(3), real("v", "omega^(1/3)").above(0).at_most(1)),
    says=_BOUND, check=judge_three, uses=("nonconvex-nn/def-8-ntrf-repaired",),
    rests_on=("nonconvex-nn/lem-20-repaired",),
    flips=(Flip("half the constant", lambda m, v: 285 * v**4 * root(m * log(m)), Verdict.UNDECIDED),
           Flip("without the logarithm", lambda m, v: 570 * v**4 * root(m), Verdict.UNDECIDED),
           Flip("omega^2/3", lambda m, v: root(m) * v**6 / 3, Verdict.REFUTED)),
    true_variants={"1 % more": "a larger bound", "570 -> 571*": "a larger bound",
                   "[*][*] -> [*] *": "4v for v^4: larger for v <= 1", "[*] -> + (operator 2)": "570 + v^4: larger"},
    expected="HOLDS ARGUED",
)
_STUDY_SOURCE = "002, Lemma 18, f_ntk about the start, three layers: "
_QUOTE = r"O\left(\omega^{4/3} L^3 \sqrt{m \log(m)}\right)"
_WEAKER = {"[[]1[]] one more": "a weaker power", "[[]1[]] 1 % more": "a weaker power",
           "[[]1[]] 1 % less": "a weaker power", "[[]1[]] sign": "a weaker power"}
distance = Claim(
    id="nonconvex-nn/lem-18-distance", source=_STUDY_SOURCE + "the power of omega", whose=Whose.READING,
    quote=_QUOTE, severity=Stake.UTILITY, statement=r"|f - f_{ntk}| = O(\omega^{4/3}) \text{ at one width}",
    words="about the start the largest gap falls at least like omega^{4/3}, at one width",
    hypotheses=(), says=("linearisation-distance", Fraction(-4, 3)), check=judge_power,  # in 1/omega
    flips=(Flip("like omega^3", ("linearisation-distance", Fraction(-3)), Verdict.REFUTED),),
    rests_on=("nonconvex-nn/lem-18-three-layers",),
    true_variants={name: why for name, why in _WEAKER.items() if "1 % more" not in name}, expected="HOLDS ARGUED",
)
width = Claim(
    id="nonconvex-nn/lem-18-width", source=_STUDY_SOURCE + "the power of m at one distance", whose=Whose.READING,
    quote=_QUOTE, severity=Stake.UTILITY, statement=r"|f - f_{ntk}| = O(m^{1/2 + o(1)}) \text{ at one } \omega",
    words="about the start the largest gap grows at most like sqrt(m), but for a logarithm, at one distance",
    hypotheses=(), says=("linearisation-width", Fraction(1, 2)), check=judge_power,
    flips=(Flip("like m", ("linearisation-width", Fraction(1)), Verdict.HOLDS),
           Flip("like m^{9/20}", ("linearisation-width", Fraction(9, 20)), Verdict.UNDECIDED),
           Flip("like m^{1/4}", ("linearisation-width", Fraction(1, 4)), Verdict.REFUTED)),
    rests_on=("nonconvex-nn/lem-18-three-layers",),
    true_variants={name: why for name, why in _WEAKER.items() if "more" in name}, expected="HOLDS ARGUED",
)
scaled = Claim(
    id="nonconvex-nn/lem-18-scaled", source=_STUDY_SOURCE + "the power of m at the distance R/sqrt(m)",
    quote=_QUOTE, whose=Whose.READING, severity=Stake.UTILITY,
    statement=r"|f - f_{ntk}| = O(m^{-1/6 + o(1)}) \text{ at } \omega = R/\sqrt m",
    words="about the start the largest gap at R/sqrt(m) falls at least like m^{-1/6}, but for a logarithm",
    hypotheses=(), says=("linearisation-scaled", Fraction(-1, 6)), check=judge_power,
    flips=(Flip("not rising", ("linearisation-scaled", Fraction(0)), Verdict.HOLDS),
           Flip("like m^{-1/5}", ("linearisation-scaled", Fraction(-1, 5)), Verdict.UNDECIDED),
           Flip("like m^{-1/2}", ("linearisation-scaled", Fraction(-1, 2)), Verdict.REFUTED)),
    rests_on=("nonconvex-nn/lem-18-three-layers",),
    true_variants={name: why for name, why in _WEAKER.items() if "1 % more" not in name}, expected="HOLDS ARGUED",
)
