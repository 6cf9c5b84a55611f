r"""Appendix J of document 000: shuffled batches (Feldman, McMillan and Talwar 2021) against the Gaussian mechanism.

One record of each batch is called a user: conditioned on all other records, which batch the differing record goes to is
a random order of n users, and each batch releases its sum plus N(0, sigma^2), a Gaussian mechanism in that user's
record. Laws a, b (the differing record's two values) and r (any other user's) are pairwise at distance mu = s/sigma.

The bound. Let delta0 be the Gaussian curve at epsilon0 and k = e^{-epsilon0}. Where a > b/k move mass so that the ratio
is 1/k and a + b stays the same, and likewise where b > a/k: a and b change by delta0 / (1 + 1/k) in total variation and
become epsilon0-close. Where r < k (a + b)/2 lift it: the missing mass is at most (k/2)(H(a, r) + H(b, r)) <= k delta0.
Now the reduction to clones holds exactly as it does for epsilon0-LDP users (shuffle.py; it needs no more
than these two inequalities), so

    delta(epsilon) <= clones(epsilon) + (e^epsilon + 1) (delta0 / (1 + 1/k) + (n - 1) k delta0)
                   <= clones(epsilon) + (e^epsilon + 1) (1 + k/2) n delta0.

The last line is how Theorem 3.8 of Feldman et al. is quoted (its text was not at hand); by the above it is valid. It
needs no condition on n; the condition epsilon0 <= log(n / (16 log(2/delta))) belongs to the closed form only.

At n = 1000, sigma = 5 and delta = 1e-5 it is far below the Gaussian's epsilon, for sensitivity 1 and 2: Figure 8 and
its conclusion are the wrong way round. At n = 60 it is indeed above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flint import arb, ctx

from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Severity, Whose, citing
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_SIGMA, _DELTA = 5, Fraction(1, 10**5)
_LOCAL = tuple(Fraction(i, 20) for i in range(8, 61, 2))
"""The epsilon0 that are tried, for sensitivity 1."""


def total_delta(batches: int, sensitivity: int, local: Fraction, epsilon: Fraction) -> Enclosure:
    """clones(epsilon) + (e^epsilon + 1)(1 + e^{-epsilon0}/2) n delta0."""
    local_delta = bound("gaussian.delta").reference(sigma=_SIGMA, sensitivity=sensitivity, epsilon=local)
    if epsilon < local:
        clones = bound("shuffle.delta").reference(epsilon0=local, users=batches, epsilon=epsilon, method="upper").ball
    else:
        clones = arb(0)
    with ctx.workprec(100):
        return Enclosure.of_ball(
            clones + (ball(epsilon).exp() + 1) * (1 + ball(-local).exp() / 2) * batches * local_delta.ball
        )


def gaussian_epsilon(sensitivity: int) -> Enclosure:
    """Epsilon of one Gaussian release at delta = 1e-5: what the epoch costs without amplification."""
    return bound("gaussian.epsilon").reference(sigma=_SIGMA, sensitivity=sensitivity, delta=_DELTA)


def smallest(batches: int, sensitivity: int, digits: int = 100) -> tuple[Fraction, Fraction] | None:
    """(epsilon, epsilon0): the least multiple of 1/digits certified over the epsilon0 tried, and the best of them."""
    best: tuple[Fraction, Fraction] | None = None
    for local in (sensitivity * value for value in _LOCAL):
        low, high = -1, min(int(3 * digits), int(best[0] * digits) if best else 3 * digits)
        while high - low > 1:  # total_delta falls where clones do; a certified point stays certified
            middle = (low + high) // 2
            if total_delta(batches, sensitivity, local, Fraction(middle, digits)).certainly_le(_DELTA):
                high = middle
            else:
                low = middle
        found = Fraction(high, digits)
        if total_delta(batches, sensitivity, local, found).certainly_le(_DELTA) and (best is None or found < best[0]):
            best = found, local
    return best


def judge_worse(batches: int, given: Domain) -> Finding:
    """Whether the shuffling bound of an epoch is above the Gaussian's epsilon, for sensitivity 1 and 2."""
    shown = []
    for sensitivity in (1, 2):
        plain, best = gaussian_epsilon(sensitivity), smallest(batches, sensitivity)
        if best is not None and plain.lower.compare(best[0]) > 0:
            return refuted(
                "the shuffling bound is below the Gaussian's epsilon, certified",
                {
                    "batches": str(batches), "sigma": str(_SIGMA), "sensitivity": str(sensitivity), "delta": "1e-5",
                    "epsilon0": str(best[1]), "epsilon by shuffling": str(best[0]), "Gaussian epsilon": str(plain),
                },
            )
        shown.append(f"sensitivity {sensitivity}: {'none below 3' if best is None else float(best[0])} against {plain}")
    tried = 2 * len(_LOCAL)
    return at_points(
        "; ".join(shown),
        Scope("points", tried, tried, {"epsilon0": "0.4 to 3 times the sensitivity", "delta": "1e-5"}),
    )


def judge_improves(counts: tuple[int, ...], given: Domain) -> Finding:
    """Whether the certified epsilon falls along these numbers of batches (sensitivity 1)."""
    values = [smallest(count, 1) for count in counts]
    for (first, before), (second, after) in zip(
        zip(counts, values, strict=True), zip(counts[1:], values[1:], strict=True), strict=False
    ):
        if before is None or after is None:
            return undecided("no bound found", 1)
        if after[0] >= before[0]:
            return refuted(
                "it does not fall",
                {"batches": f"{first}, {second}", "epsilon": f"{before[0]}, {after[0]}"},
            )
    return at_points(
        ", ".join(f"{count}: {float(value[0])}" for count, value in zip(counts, values, strict=True) if value),
        Scope("points", len(counts), len(counts), {"batches": ", ".join(map(str, counts))}),
    )


def judge_condition(counts: tuple[int, ...], given: Domain) -> Finding:
    """Whether no epsilon0 >= 0 meets epsilon0 <= log(n / (16 log(2/delta))) at delta = 1e-5 for these n."""
    with ctx.workprec(80):
        needed = 16 * (2 / ball(_DELTA)).log()
        for count in counts:
            if needed < count:
                return refuted(
                    "the condition is met by epsilon0 = 0 and a little more",
                    {"batches": str(count), "16 log(2/delta)": needed.str(10)},
                )
    return proof(argued(f"16 log(2/delta) = {needed.str(6)} exceeds {', '.join(map(str, counts))} at delta = 1e-5"))


def judge_numerical(table: Mapping[int, str | None], given: Domain) -> Finding:
    """Whether the numerical bound at these numbers of batches is at most that epsilon, or (None) says nothing below 3.

    Sensitivity 1. An epsilon that is found is certified; that there is none is only known for the epsilon0 tried.
    """
    for count, text in table.items():
        best = smallest(count, 1)
        if text is None and best is not None:
            return refuted(
                "the numerical method needs no condition: a bound, certified",
                {"batches": str(count), "sigma": str(_SIGMA), "sensitivity": "1", "delta": "1e-5",
                 "epsilon0": str(best[1]), "epsilon by shuffling": str(best[0])},
            )
        if text is not None and (best is None or best[0] > Fraction(text)):
            return undecided(
                f"{count} batches: no epsilon up to {text} at the epsilon0 tried, the least found is "
                f"{'none' if best is None else best[0]}",
                len(_LOCAL),
            )
    return proof(argued("certified at an explicit epsilon0 each"))


def judge_counts(table: Mapping[str, tuple[int, int, int]], given: Domain) -> Finding:
    """Whether records / batch size is the number of batches."""
    for name, (records, size, batches) in table.items():
        if records != size * batches:
            return refuted(
                "another number of batches",
                {"data": name, "records": str(records), "batch size": str(size), "claimed": str(batches)},
            )
    return proof(argued("exact division, no batch is left over"))


_SETTING = (positive_integer("batches"), positive("sigma"), probability("delta"))
_COUNTS = {"MNIST": (60_000, 1000, 60), "FashionMNIST": (60_000, 1000, 60), "CIFAR-10": (50_000, 1000, 50)}

batches_per_epoch = Claim(
    id="relu-approx/app-J-batches",
    source="000, Section 6 and Appendix J: batch size 1000, hence 50 or 60 disjoint batches an epoch",
    quote="In our experiments of Section 6, we use 50 or 60 disjoint batches per epoch.",
    whose=Whose.PRINTED,
    statement=r"6 \cdot 10^4 / 1000 = 60,\quad 5 \cdot 10^4 / 1000 = 50",
    words="the experiments have 60 batches an epoch on MNIST and FashionMNIST and 50 on CIFAR-10",
    hypotheses=_SETTING[:1],
    says=_COUNTS,
    check=judge_counts,
    flips=(Flip("60 on CIFAR-10", {**_COUNTS, "CIFAR-10": (50_000, 1000, 60)}, Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

conditions = Claim(
    id="relu-approx/app-J-conditions",
    source="000, Appendix J: 50 or 60 batches are too few for the conditions of Feldman et al. (2021)",
    quote=(
        "When computing the shuffling bounds, one quickly finds that this is a too few number of batches for the "
        "conditions of the analysis of Feldman et al. (2021) to hold."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\frac{n}{16 \log(2/\delta)} < 1 \quad (n = 50, 60)",
    words="with 50 or 60 batches no epsilon0 meets the condition of the closed-form shuffling bound at delta = 1e-5",
    hypotheses=_SETTING,
    says=(50, 60),
    check=judge_condition,
    flips=(Flip("1000 batches", (1000,), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)

no_bound = Claim(
    id="relu-approx/app-J-numerical",
    source="000, Appendix J, read of the numerical method that it uses: the analysis does not apply at 60 batches",
    quote=(
        "When computing the shuffling bounds, one quickly finds that this is a too few number of batches for the "
        "conditions of the analysis of Feldman et al. (2021) to hold."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\text{no } \varepsilon < 3 \text{ by the numerical method at } n = 60",
    words="with 60 batches the numerical shuffling bound says nothing",
    hypotheses=_SETTING,
    says={60: None},
    check=judge_numerical,
    flips=(Flip("0.78 with 60 batches", {60: "0.78"}, Verdict.HOLDS),),
    repaired_by="relu-approx/app-J-numerical-repaired",
    uses=("relu-approx/app-J-conditions",),
    expected="REFUTED PROVED",
)

numerical = Claim(
    id="relu-approx/app-J-numerical-repaired",
    source="000, Appendix J: what the numerical method gives at 50 and 60 batches, sigma = 5, delta = 1e-5",
    severity=Severity.UTILITY,
    statement=r"\varepsilon(n = 50) \le 0.85,\quad \varepsilon(n = 60) \le 0.78 \quad (s = 1)",
    words="the numerical shuffling bound is at most 0.85 with 50 batches and 0.78 with 60, at sensitivity 1",
    hypotheses=_SETTING,
    says={50: "0.85", 60: "0.78"},
    check=judge_numerical,
    flips=(Flip("0.5 with 60 batches", {60: "0.5"}, Verdict.UNDECIDED), Flip("nothing", {60: None}, Verdict.REFUTED)),
    expected="HOLDS ARGUED",
)

figure_8 = Claim(
    id="relu-approx/fig-8",
    source="000, Figure 8 and Appendix J: 1000 batches, sigma = 5, one epoch",
    quote=(
        "This shows that the privacy guarantees in case we use shuffling amplification bounds instead of "
        "NoisyCGD analysis in our experiments are worse than the privacy bounds of the Gaussian mechanism"
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\varepsilon_{\mathrm{shuffling}} > \varepsilon_{\mathrm{Gaussian}} \quad (n = 1000,\ \sigma = 5)",
    words="with 1000 batches the shuffling bound of one epoch is worse than the Gaussian mechanism's epsilon",
    hypotheses=_SETTING,
    says=1000,
    check=judge_worse,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon_{\mathrm{shuffling}} > \varepsilon_{\mathrm{Gaussian}} \quad (n = 60,\ \sigma = 5)",
        words="with 60 batches the shuffling bound of one epoch is worse than the Gaussian mechanism's epsilon",
        says=60,
        expected="HOLDS CHECKED_AT_POINTS",
        source="000, Appendix J, for the 60 batches of the experiments",
    ),
)

improves = Claim(
    id="relu-approx/app-J-improves",
    source="000, Appendix J: the shuffling guarantee improves as the number of batches grows",
    quote="The shuffling privacy guarantee clearly improves the number of batches per epoch grows",
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"n \mapsto \varepsilon_{\mathrm{shuffling}}(n) \text{ falls}",
    words="the shuffling bound of one epoch falls with the number of batches, from 60 to 1000",
    hypotheses=_SETTING,
    says=(60, 250, 1000),
    check=judge_improves,
    flips=(Flip("in the other order", (1000, 250, 60), Verdict.REFUTED),),
    expected="HOLDS CHECKED_AT_POINTS",
)

inferior = Claim(
    id="relu-approx/app-J-inferior",
    source="000, Appendix J: shuffled disjoint batches have an inferior privacy-utility trade-off (Chua et al. 2024)",
    quote=(
        "however it has been shown in Chua et al. (2024a;b) that the data-shuffling combined with disjoint "
        "batches leads to an inferior privacy-utility trade-off compared to random mini-batch sampling."
    ),
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"\text{utility}(\text{shuffled}) < \text{utility}(\text{random}) \text{ at equal } \varepsilon",
    words="shuffled disjoint batches give a worse privacy-utility trade-off than random mini-batches",
    hypotheses=_SETTING,
    says=None,
    check=citing(
        Verdict.NOT_CHECKABLE,
        "quoted from Chua et al. 2024a and 2024b, whose texts are not among the documents, and the document shows no "
        "training with shuffled batches",
    ),
    expected="NOT_CHECKABLE CITED",
)
