r"""The privacy of Algorithm 9 of document 002 (Theorem 8), and which of its branches is chosen.

Algorithm 9 is Algorithm 2, or Algorithm 3, on (psi(x), y), with the noise tau_i = 8 B eta_i sqrt(log(1/delta))/epsilon,
or 16 B eta_i sqrt(log(2/delta))/epsilon, at B = 1. Link and label lie in [0, 1], so gradients are at most |psi| <= 1
long, and two of them differ by at most 2.

Refuted as printed. Let the link be the constant 1, psi = 1 or -1, the label 0; replace the first record of the first
phase. Every later step moves both runs alike; the averages of the phase differ by 2 eta_1 (n_1 - 1)/n_1, later phases
only add noise, of variances 16^-i tau_1^2. The release is exactly Gaussian. As delta rises to 1 the noise vanishes, but
(epsilon, delta)-DP with delta < 1 does not allow that: at delta = 0.999 and epsilon = 1 the true delta is larger. (At
delta = 1 anything is private.) Here n epsilon > theta = 1, so that Algorithm 2 is run. Theorem 8's conditions on eta
belong to its utility; without one a step may expand (see Theorem 1).

Repaired. For gradients h(<w, psi>) psi, h of slope in [0, G], a step takes a difference u of two runs to u - s eta_i
<u, psi> psi, s in [0, G], of squared norm |u|^2 - s eta_i <u, psi>^2 (2 - s eta_i |psi|^2), no more than |u|^2 if
eta_i G r^2 <= 2, where |psi| <= r. As eta_i <= eta/4, that is eta G r^2 <= 8; on projected features, |Phi psi| <= 2r,
eta G r^2 <= 2. The step with the replaced record moves the runs apart by at most 2r eta_i, projected 4r eta_i. One
phase sees it: what was released before has the same law, its release is a Gaussian mechanism of mu = 2r/sigma, or
4r/sigma, for the noise sigma eta_i, and the rest is post-processing. What a projection stretches further is charged to
delta.

The printed noise at r = 1 is then enough for epsilon <= 1 and delta <= 24/25. With v = sqrt(log(1/delta)), mu =
epsilon/(4v), and delta_true <= Q(epsilon/mu - mu/2) <= Q(y), y = 4v - 1/(8v), Q the normal tail; y >= 0 for 32 v^2
>= 1, and Q(y) <= e^{-y^2/2}/2 <= e^{1/2 - 8 v^2}/2 <= e^{-v^2} = delta, as e^{1/2}/2 < 1. Projected: at delta/2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx
from sympy import sqrt

from oracle.core.domain import positive, positive_integer, unit_interval
from oracle.core.enclosure import Enclosure, ball
from oracle.engines.gaussian_curve import delta_ball
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.tools.either import log, root
from theorems.tools.refutations import refuted_by
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as is_positive
from theorems.verdict import Finding, ProofStep, Verdict, argued, computed, proof, refuted

_RECORDS = 1024  # ten phases, the first of 512


def run_without_noise(psi: Fraction, start: Fraction = Fraction(0), shift: Fraction = Fraction(0)) -> Fraction:
    """Algorithm 2 on the constant link 1, labels 0, d = 1, all features 1 but the first record's psi, eta = 4.

    Step by step, exactly; `shift` is added to the first phase's release, as its noise would be.
    """
    w, at = start, 0
    for i in range(1, _RECORDS.bit_length()):
        size, eta, total = _RECORDS >> i, Fraction(4, 4**i), Fraction(0)
        for _ in range(size):
            total += w
            w -= eta * (1 - 0) * (psi if at == 0 else 1)
            at += 1
        w = total / size + (shift if i == 1 else 0)
    return w


def true_delta(noise: arb, epsilon: Fraction) -> arb:
    """The exact delta of that run's release, the noise given over the step size."""
    moved = abs(run_without_noise(Fraction(-1)) - run_without_noise(Fraction(1)))
    phases = _RECORDS.bit_length() - 1
    spread = ball(sum((Fraction(1, 16**i) for i in range(phases)), Fraction(0))).sqrt()
    return delta_ball(ball(epsilon), ball(moved) / (noise * spread))


def run_steps() -> tuple[ProofStep, ...]:
    """That the release is Gaussian, and of which means and variance."""
    first, shift = Fraction(_RECORDS // 2), Fraction(3, 7)
    ends = [run_without_noise(Fraction(psi), *more) for psi in (1, -1) for more in ((), (shift,), (Fraction(0), shift))]
    return (
        computed("the run step by step: the two data sets' releases are 2 (n_1 - 1)/n_1 eta_1 apart",
                 ends[3] - ends[0] == 2 * (first - 1) / first),
        computed("a shift of the start, or of a release by its noise, is carried to the end unchanged, gradients not "
                 "depending on w: the release is Gaussian with the variance tau_1^2 sum_i 16^-i",
                 all(ends[base + more] - ends[base] == shift for base in (0, 3) for more in (1, 2))),
        computed("Algorithm 9 runs Algorithm 2: n epsilon > theta, the features having rank 1",
                 _RECORDS * Fraction(99, 100) > 1),
    )


def judge_printed(noise: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether Algorithm 9 with noise(epsilon, delta) over the step size is private at every epsilon and delta."""
    tried = 0
    lead = [{"epsilon": Fraction(1), "delta": Fraction(999, 1000)}]
    with ctx.workprec(128):
        for point in [p for p in lead if given.contains(**p)] + list(given.points("epsilon", "delta")):
            epsilon, delta = Fraction(point["epsilon"]), Fraction(point["delta"])
            tried += 1
            if delta >= 1:
                continue  # anything is (epsilon, 1)-DP
            level = noise(ball(epsilon), ball(delta))
            found = true_delta(level, epsilon) if level > 0 else arb(1)
            if found > ball(delta):
                return refuted_by("the constant link's run, which is exactly Gaussian, has a larger delta, certified", {
                    "epsilon": epsilon, "delta": delta, "n": _RECORDS, "theta": 1, "link": 1, "labels": 0,
                    "psi of the replaced record": "1 and -1", "noise over the step": Enclosure.of_ball(level),
                    "true delta": Enclosure.of_ball(found)}, *run_steps())
    v = sympy.Symbol("v", positive=True)
    least, largest = given["epsilon"].high, given["delta"].high
    with ctx.workprec(128):
        enough = largest is not None and largest < 1 and 32 * (-ball(largest).log()) >= 1 and arb(1).exp().sqrt() < 2
    e = sympy.Symbol("e", positive=True)
    slack = sympy.Symbol("s", nonnegative=True)
    claimed = noise(1 / (1 + slack), sympy.exp(-(v**2)))  # epsilon = 1/(1 + s) in (0, 1]
    y = 4 * v - 1 / (8 * v)
    return proof(
        computed("the noise is 8 v/epsilon, v = sqrt(log(1/delta)), at least", never_negative(
            sympy.simplify(claimed / (1 + slack)) - 8 * v)),
        computed("mu = 2/(8 v/epsilon) = epsilon/(4v), so that epsilon/mu - mu/2 = 4v - epsilon/(8v) is at least y",
                 vanishes(2 * e / (8 * v) - e / (4 * v)) and least == 1),
        computed("y^2/2 is at least 8 v^2 - 1/2",
                 never_negative(sympy.expand(y**2 / 2 - 8 * v**2 + sympy.Rational(1, 2)))),
        computed("y >= 0 for the delta allowed, and e^(1/2)/2 < 1, certified", bool(enough)),
        argued("the normal tail at y >= 0 is at most e^(-y^2/2)/2, so that the true delta is at most e^(-v^2)"),
        tried=tried,
    )


def judge_moves(says: tuple[Any, Any, Any, Any], given: Domain) -> Finding:
    """Whether (moves, limit) plain and projected are right: mu = moves r/sigma wherever eta G r^2 <= limit."""
    moves, limit, projected_moves, projected_limit = (Fraction(one) for one in says)
    for name, most, stretch in (("plain", moves, 1), ("projected", projected_moves, 2)):
        if most < 2 * stretch:
            first = 2 * int(2 * stretch / (2 * stretch - most)) + 2 if most > 0 else 2
            moved = Fraction(2 * stretch * (first - 1), first)
            return refuted("a constant link 1 with the label 0, and opposite features, moves a phase by more", {
                "branch": name, "length of the features": stretch, "records of the phase": first,
                "moved over the step": moved, "claimed": most})
    tried = len(list(given.points("r", "G")))
    square, inner, s, eta, length = sympy.symbols("u2 ux s eta p2", positive=True)
    after = square - 2 * s * eta * inner**2 + (s * eta * inner) ** 2 * length  # |u - s eta <u, psi> psi|^2
    r_, g_ = given.symbol("r"), given.symbol("G")
    t = sympy.Symbol("t", nonnegative=True)
    grown = [sympy.Rational(str(one)) / (4 * g_ * r_**2) * g_ * t / (1 + t) * (stretch * r_) ** 2
             for one, stretch in ((limit, 1), (projected_limit, 2))]  # s eta_i |psi|^2, s = G t/(1 + t), at the limit
    return proof(
        computed("a step takes |u|^2 to |u|^2 - s eta <u, psi>^2 (2 - s eta |psi|^2)",
                 vanishes(after - square + s * eta * inner**2 * (2 - s * eta * length))),
        computed("s eta_i |psi|^2 is at most 2 for eta_i = eta/4, on both branches (|Phi psi| <= 2r)",
                 never_negative(*(2 - one for one in grown)) and limit / 4 <= 2 and projected_limit <= 2
                 and g_.is_positive is True),
        computed("gradients are at most |psi| long, so two of them are at most 2r, projected 4r, apart",
                 never_negative(sympy.Rational(str(moves)) * r_ - 2 * r_)
                 and never_negative(sympy.Rational(str(projected_moves)) * r_ - 2 * 2 * r_)),
        argued("the runs then stay so near, and so do their averages; one phase sees the record, its release is a "
               "Gaussian mechanism whatever was released before, and the rest is post-processing"),
        argued("records that a projection stretches to more than 2r are charged to delta"),
        tried=tried,
    )


Rule = tuple[Callable[[Any, Any, Any], Any], Any]
"""What must be positive for Algorithm 2 to be run, of n, epsilon and theta; and the exponent of the other rate."""


def judge_rule(says: Rule, given: Domain) -> Finding:
    """Whether Algorithm 2 is chosen exactly where its rate sqrt(theta)/(n epsilon) is below (n epsilon)^-power."""
    rule, power = says
    tried = 0
    for point in given.points("n", "epsilon", "theta"):
        n, epsilon, theta = Fraction(point["n"]), Fraction(point["epsilon"]), Fraction(point["theta"])
        budget = sympy.Rational(str(n * epsilon))
        first, second = sympy.sqrt(sympy.Rational(str(theta))) / budget, budget ** -sympy.Rational(str(power))
        tried += 1
        if (rule(n, epsilon, theta) > 0) != bool(first < second):
            return refuted("the rule does not choose the smaller rate", {
                "n": n, "epsilon": epsilon, "theta": theta, "rate of Algorithm 2": sympy.N(first, 8),
                "rate of Algorithm 3": sympy.N(second, 8), "Algorithm 2 chosen": rule(n, epsilon, theta) > 0})
    n_, epsilon_, theta_ = given.symbol("n"), given.symbol("epsilon"), given.symbol("theta")
    gap = sympy.Symbol("g", positive=True)
    order = sympy.Rational(str(power))
    rank = ((n_ * epsilon_) ** (1 - order)) ** 2  # where the two rates are equal
    below, at, above = (sympy.powdenest(sympy.simplify(rule(n_, epsilon_, theta)), force=True)
                        for theta in (rank / (1 + gap), rank, rank * (1 + gap)))
    quotient = sympy.simplify(sympy.sqrt(rank * (1 + gap)) / (n_ * epsilon_) / (n_ * epsilon_) ** -order)
    return proof(
        computed("at theta = (n epsilon)^(2 (1 - power)) (1 + g) the rates have the quotient sqrt(1 + g)",
                 vanishes(quotient - sqrt(1 + gap)) and theta_.is_positive is True),
        computed("at g = 0 the rule changes its sign, above it is negative, and below positive",
                 vanishes(at) and is_positive(-above) and is_positive(below)),
        tried=tried,
    )


_PRIVATE = (unit_interval("epsilon").above(0), unit_interval("delta").above(0))
_SETTING = (positive("r", "length of the features"), positive("G"))
_LARGER = "more noise, or a smaller step, is private, too"

privacy = Claim(
    id="nonconvex-nn/thm-8-privacy", source="002, Theorem 8: the privacy of Algorithm 9",
    quote=r"Theorem 8. *Under Assumption 3, for any $0 < \epsilon, \delta \leq 1$, Algorithm 9 is (ϵ, δ) -DP.",
    whose=Whose.PRINTED, severity=Stake.PRIVACY,
    statement=r"\tau_i = 8\eta_i\sqrt{\log(1/\delta)}/\epsilon:\ (\epsilon,\delta)\text{-DP for } 0 < \epsilon, "
              r"\delta \le 1",
    words="Algorithm 9 is private for every epsilon and delta up to 1, whatever the step size",
    hypotheses=_PRIVATE, says=lambda epsilon, delta: 8 * root(log(1 / delta)) / epsilon, check=judge_printed,
    flips=(
        Flip("half the noise", lambda epsilon, delta: 4 * root(log(1 / delta)) / epsilon, Verdict.REFUTED),
        Flip("log(10/delta), which no point tried is against",
             lambda epsilon, delta: 8 * root(log(10 / delta)) / epsilon, Verdict.UNDECIDED),
    ),
    uses=("nonconvex-nn/thm-1-privacy", "nonconvex-nn/thm-2-privacy"),
    repaired_by="nonconvex-nn/thm-8-privacy-repaired", expected="REFUTED PROVED",
)
repaired = Claim(
    id="nonconvex-nn/thm-8-privacy-repaired",
    source="002, Theorem 8 repaired: features of length r, noise sigma eta_i, and a condition on the step",
    severity=Stake.PRIVACY,
    statement=r"\mu = \frac{2r}{\sigma} \text{ if } \eta G r^2 \le 8; \text{ projected } \mu = \frac{4r}{\sigma} "
              r"\text{ if } \eta G r^2 \le 2",
    words="a replaced record moves a phase by at most 2r eta_i, projected 4r eta_i, if eta G r^2 <= 8, projected 2: "
          "one Gaussian mechanism of that much over the noise",
    hypotheses=_SETTING, says=(2, 8, 4, 2), check=judge_moves,
    flips=(
        Flip("moves by r", (1, 8, 4, 2), Verdict.REFUTED), Flip("projected by 2r", (2, 8, 2, 2), Verdict.REFUTED),
        Flip("steps twice as long", (2, 16, 4, 2), Verdict.UNDECIDED),
    ),
    rests_on=("background/balle-wang", "nonconvex-nn/thm-2-stretch"),
    true_variants={"*more": _LARGER, "*sign": _LARGER, "any r": "only r^2 and |psi| <= r enter"},
    expected="HOLDS ARGUED",
)
printed_noise = Claim(
    id="nonconvex-nn/thm-8-privacy-noise",
    source="a finding of ours: for which delta the printed noise of 002, Theorem 8 is enough, eta G <= 8",
    severity=Stake.PRIVACY,
    statement=r"\tau_i = 8\eta_i\sqrt{\log(1/\delta)}/\epsilon:\ (\epsilon,\delta)\text{-DP for } \epsilon \le 1,"
              r"\ \delta \le 24/25",
    words="with steps that do not expand, the printed noise is enough for epsilon <= 1 and delta <= 0.96",
    hypotheses=(unit_interval("epsilon").above(0), unit_interval("delta").above(0).at_most("24/25")),
    says=lambda epsilon, delta: 8 * root(log(1 / delta)) / epsilon, check=judge_printed,
    flips=(Flip("a quarter of the noise", lambda epsilon, delta: 2 * root(log(1 / delta)) / epsilon, Verdict.REFUTED),),
    rests_on=("background/balle-wang", "nonconvex-nn/thm-8-privacy-repaired"),
    true_variants={"1 % more": _LARGER, "8 -> 9 *": _LARGER},
    expected="HOLDS ARGUED",
)
_RANK = (positive_integer("n"), unit_interval("epsilon").above(0), positive("theta"))
threshold = Claim(
    id="nonconvex-nn/alg-9", source="002, Algorithm 9, line 1: which algorithm is run",
    quote=r"If $\epsilon > \frac{\theta}{n}$, run Algorithm 2 with \tilde{D} . Otherwise run Algorithm 3 with "
          r"\tilde{D} .",
    whose=Whose.PRINTED, severity=Stake.UTILITY,
    statement=r"\epsilon > \theta/n \iff \sqrt\theta/(n\epsilon) < (n\epsilon)^{-1/2}",
    words="Algorithm 9 runs the algorithm with the smaller of the two printed rates",
    hypotheses=_RANK, says=(lambda n, epsilon, theta: epsilon - theta / n, Fraction(1, 2)), check=judge_rule,
    flips=(
        Flip("the threshold of Algorithm 1", (lambda n, e, theta: n * e - theta ** sympy.Rational(3, 2),
                                              Fraction(1, 2)), Verdict.REFUTED),
        Flip("the other way round", (lambda n, e, theta: theta / n - e, Fraction(1, 2)), Verdict.REFUTED),
    ),
    true_variants={"*1 % *": "only the sign counts"}, expected="HOLDS PROVED",
)
threshold_improved = Claim(
    id="nonconvex-nn/alg-9-improved", source="a finding of ours: 002, Algorithm 9 with the improved rate of Theorem 8",
    severity=Stake.UTILITY,
    statement=r"\epsilon > \theta^{3/2}/n \iff \sqrt\theta/(n\epsilon) < (n\epsilon)^{-2/3}",
    words="with the improved rate (n epsilon)^(-2/3) the threshold is that of Algorithm 1, theta^(3/2)/n",
    hypotheses=_RANK,
    says=(lambda n, epsilon, theta: (n * epsilon) ** 2 - theta**3, Fraction(2, 3)), check=judge_rule,
    flips=(Flip("the printed threshold", (lambda n, e, theta: e - theta / n, Fraction(2, 3)), Verdict.REFUTED),),
    true_variants={"*1 % *": "only the sign counts"}, expected="HOLDS PROVED",
)
