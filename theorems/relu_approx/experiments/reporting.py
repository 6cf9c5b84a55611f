r"""The experiments of document 000 (Section 6, Appendices E, H and I): grids, numbers of runs, error bars, figures.

What can be counted is counted here; what would need training runs is in `unchecked`.

Poisson tuning draws K ~ Poisson(20) candidates uniformly from the grid, so each of the 18 of Appendix H is tried
Poisson(20/18) times, and is missed with probability e^{-10/9} = 0.33.

Error bars of 1.96 standard errors from 5 runs: if runs are normal, (mean - truth) / standard error has Student's law
with 4 degrees of freedom, whose mass on [-x, x] is s (3 - s^2) / 2 with s = x / sqrt(4 + x^2): 0.878 at x = 1.96.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction

import sympy
from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

HYPERPLANES: Mapping[str, tuple[int, ...]] = {
    "MNIST": (64, 128, 256), "FashionMNIST": (64, 128, 256), "CIFAR-10": (16, 32, 64),
}
STEP_EXPONENTS = tuple(Fraction(v) for v in ("-3", "-2.5", "-2", "-1.5", "-1", "-0.5"))
_MEAN = 20


def judge_candidates(count: int, given: Domain) -> Finding:
    """Whether each data set has that many candidates (P, eta)."""
    for data, grid in HYPERPLANES.items():
        if len(grid) * len(STEP_EXPONENTS) != count:
            return refuted(
                "another number of candidates",
                {"data": data, "values of P": str(len(grid)), "values of eta": str(len(STEP_EXPONENTS)),
                 "claimed": str(count)},
            )
    return instance("3 values of P times 6 of eta for each data set")


def tried_candidates(count: int) -> Enclosure:
    """The expected number of different candidates among K ~ Poisson(20) uniform draws, summed over K."""
    with ctx.workprec(100):
        total, weight = arb(0), ball(Fraction(-_MEAN)).exp()
        for k in range(200):
            total += weight * count * (1 - ball(Fraction(count - 1, count) ** k))
            weight = weight * _MEAN / (k + 1)
        return Enclosure.between(total, total + 2 * count * weight)  # the rest: the terms halve at least


def judge_coverage(printed: str, given: Domain) -> Finding:
    """Whether the expected number of candidates tried rounds to that, both by the sum and by thinning."""
    value = tried_candidates(18)
    with ctx.workprec(100):
        thinned = Enclosure.of_ball(18 * (1 - ball(Fraction(-10, 9)).exp()))
    if not value.overlaps(thinned):
        return undecided("sum and thinning differ", 1)
    return all_round([({"candidates": 18, "mean of K": _MEAN}, thinned, printed)], (
        f"18 (1 - e^(-10/9)) = {thinned}; so the best of the grid is missed with probability 0.33, and nothing at all "
        "is run with probability e^-20"
    ))


def judge_exponents(exponents: tuple[Fraction, ...], given: Domain) -> Finding:
    """Whether the step sizes are {10^{-i/2}} for consecutive whole i."""
    for exponent in exponents:
        if (2 * exponent).denominator != 1:
            return refuted("not a half-integer power of ten", {"exponent": str(exponent)})
    steps = {b - a for a, b in itertools.pairwise(exponents)}
    if steps != {Fraction(1, 2)}:
        return refuted(
            "the exponents are not half a unit apart",
            {"exponents": ", ".join(map(str, exponents)), "exponent": str(exponents[0])},
        )
    return instance("i = 1, ..., 6 of 10^{-i/2}")


def judge_128(data_sets: tuple[str, ...], given: Domain) -> Finding:
    """Whether P = 128 is among the values tried on these data sets."""
    for data in data_sets:
        if 128 not in HYPERPLANES[data]:
            return refuted(
                "P = 128 was not tried",
                {"data": data, "grid of P": ", ".join(map(str, HYPERPLANES[data]))},
            )
    return instance("128 is the middle of the grid")


def judge_counts(table: Mapping[str, tuple[int, int, int]], given: Domain) -> Finding:
    """Whether records / batch size is the number of batches."""
    for name, (records, size, batches) in table.items():
        if records != size * batches:
            return refuted("another number of batches",
                           {"data": name, "records": records, "batch size": size, "claimed": batches})
    return instance("exact division, no batch is left over") if table else undecided("nothing is claimed", 1)


_LEVEL = Fraction(95, 100)


def coverage(multiple: Fraction) -> Enclosure:
    """The mass of Student's law with 4 degrees of freedom on [-x, x]."""
    with ctx.workprec(100):
        s = ball(multiple) / (4 + ball(multiple) ** 2).sqrt()
        return Enclosure.of_ball(s * (3 - s * s) / 2)


def judge_bars(multiple: Fraction, given: Domain) -> Finding:
    """Whether mean +- multiple standard errors of 5 normal runs covers 95 %, the multiple rounded to three decimals."""
    value, half = coverage(multiple), Fraction(1, 2000)
    rounded = coverage(multiple - half).certainly_le(_LEVEL) and not coverage(multiple + half).possibly_le(_LEVEL)
    if not rounded:
        return refuted(
            "another coverage, certified",
            {"runs": "5", "multiple": str(multiple), "coverage": str(value)},
        )
    x = sympy.symbols("x", positive=True)
    s = x / sympy.sqrt(4 + x**2)
    density = sympy.Rational(3, 8) * (1 + x**2 / 4) ** sympy.Rational(-5, 2)  # Student's with 4 degrees of freedom
    return proof(
        argued("(mean - truth) / standard error of 5 independent normal runs has Student's law, 4 degrees of freedom"),
        computed("its mass on [-x, x] is s (3 - s^2)/2: the slope is twice the density, and 0 at x = 0",
                 vanishes(sympy.diff(s * (3 - s**2) / 2, x) - 2 * density, s.subs(x, 0))),
        computed(f"the coverage is {value}: below 0.95 half a digit before, above it half a digit after", rounded),
    )


_COUNTS = {"MNIST": (60_000, 1000, 60), "FashionMNIST": (60_000, 1000, 60), "CIFAR-10": (50_000, 1000, 50)}

batches_per_epoch = Claim(
    id="relu-approx/app-J-batches",
    source="000, Section 6 and Appendix J: batch size 1000, hence 50 or 60 disjoint batches an epoch",
    quote="In our experiments of Section 6, we use 50 or 60 disjoint batches per epoch.",
    whose=Whose.PRINTED,
    statement=r"6 \cdot 10^4 / 1000 = 60,\quad 5 \cdot 10^4 / 1000 = 50",
    words="the experiments have 60 batches an epoch on MNIST and FashionMNIST and 50 on CIFAR-10",
    hypotheses=(),
    says=_COUNTS,
    check=judge_counts,
    flips=(Flip("60 on CIFAR-10", {**_COUNTS, "CIFAR-10": (50_000, 1000, 60)}, Verdict.REFUTED),
           Flip("nothing", {}, Verdict.UNDECIDED)),
    expected="HOLDS PROVED",
)

candidates = Claim(
    id="relu-approx/app-H",
    source="000, Appendix H prints the grids of P and eta; the count is ours",
    statement=r"3 \times 6 = 18 \text{ candidates}",
    words="the grids of Appendix H give 18 candidates (P, eta) for the convex models on each data set",
    hypotheses=(),
    says=18,
    check=judge_candidates,
    flips=(Flip("20", 20, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)

covered = Claim(
    id="relu-approx/app-H-coverage",
    source="a question of ours about 000, Tables 1 and 2 with Appendix H; the document does not say it",
    statement=r"\mathbb{E}\,\#\{\text{candidates tried}\} = 18",
    words="Poisson(20) draws, uniform as we assume, try all 18 candidates of the grid on average",
    hypotheses=(),
    says="18.00",
    check=judge_coverage,
    uses=("relu-approx/app-H",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\mathbb{E}\,\#\{\text{candidates tried}\} = 18(1 - e^{-10/9}) = 12.07",
        words="Poisson(20) draws, uniform as we assume, try 12.07 of the 18 candidates on average",
        says="12.07",
        expected="HOLDS PROVED",
        source="000, Tables 1 and 2 with Appendix H",
        rests_on=("relu-approx/app-H",),
    ),
)

step_sizes = Claim(
    id="relu-approx/app-E-grid",
    source="000, Appendices E and H: step sizes from {10^{-i/2}}, i whole; that they agree is a check of ours",
    statement=r"\{10^{-3}, 10^{-2.5}, \dots, 10^{-0.5}\} \subset \{10^{-i/2}: i \in \mathbb{Z}\}",
    words="the step sizes of Appendix H are consecutive members of Appendix E's grid 10^(-i/2)",
    hypotheses=(),
    says=STEP_EXPONENTS,
    check=judge_exponents,
    flips=(
        Flip("10^(-0.75)", (Fraction(-3, 4), Fraction(-1, 4)), Verdict.REFUTED),
        Flip("with a gap", (Fraction(-2), Fraction(-1)), Verdict.REFUTED),
    ),
    expected="HOLDS PROVED",
)

p_128 = Claim(
    id="relu-approx/P-128",
    source="a finding of ours: what 000, Section 6 says of P = 128 (not checkable: fig-5) cannot rest on CIFAR-10",
    severity=Stake.UTILITY,
    statement=r"128 \in \text{grid of } P \text{ for each data set}",
    words="P = 128 was tried on each data set (the document does not say so)",
    hypotheses=(),
    says=("MNIST", "FashionMNIST", "CIFAR-10"),
    check=judge_128,
    uses=("relu-approx/fig-5",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"128 \in \{64, 128, 256\}",
        words="P = 128 was tried on MNIST and FashionMNIST",
        says=("MNIST", "FashionMNIST"),
        expected="HOLDS PROVED",
        source="000, Section 6, for the data sets whose grid has P = 128",
        flips=(Flip("CIFAR-10", ("CIFAR-10",), Verdict.REFUTED),),
    ),
)

bars = Claim(
    id="relu-approx/error-bars-reading-95",
    source="a finding of ours: 000, Section 6.2 draws 1.96 standard errors of 5 trials and calls them no 95 % interval",
    statement=r"\mathbb{P}\big(|\bar x - \mu| \le 1.96\, s/\sqrt5\big) = 0.95",
    words="1.96 standard errors of 5 runs make a 95 % interval",
    hypotheses=(),
    says=Fraction("1.96"),
    check=judge_bars,
    flips=(Flip("2.776, Student's quantile", Fraction("2.776"), Verdict.HOLDS),),
    repaired_by="relu-approx/error-bars-repaired",
    expected="REFUTED PROVED",
)

bars_repaired = Claim(
    id="relu-approx/error-bars-repaired",
    source="000, Section 6.2, with Student's quantile for 4 degrees of freedom",
    statement=r"\mathbb{P}\big(|\bar x - \mu| \le 2.776\, s/\sqrt5\big) = 0.95",
    words="2.776 standard errors (to three decimals) of 5 normal runs make a 95 % interval",
    hypotheses=(),
    says=Fraction("2.776"),
    check=judge_bars,
    flips=(
        Flip("1.96", Fraction("1.96"), Verdict.REFUTED),
        Flip("2.777", Fraction("2.777"), Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)
