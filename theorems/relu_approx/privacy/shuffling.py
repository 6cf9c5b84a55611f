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

import itertools
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import sympy
from flint import arb, ctx

from oracle.core.domain import positive
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.relu_approx.certified_tables import all_round
from theorems.relu_approx.experiments.figure_1 import noisy_cgd_epsilon
from theorems.tools.refutations import refuted_by
from theorems.verdict import (
    Finding,
    ProofStep,
    Verdict,
    argued,
    at_points,
    computed,
    instance,
    proof,
    refuted,
    undecided,
)

_SIGMA, _DELTA = 5, Fraction(1, 10**5)
_LOCAL = tuple(Fraction(i, 20) for i in range(8, 61, 2))
"""The epsilon0 that are tried, for sensitivity 1."""


def clones(batches: int, local: Fraction, epsilon: Fraction) -> arb:
    """The clones' delta; 0 from epsilon = epsilon0 on."""
    if epsilon >= local:
        return arb(0)
    return bound("shuffle.delta").reference(epsilon0=local, users=batches, epsilon=epsilon, method="upper").ball


def correction(batches: int, sensitivity: int, local: Fraction, epsilon: Fraction) -> arb:
    """(e^epsilon + 1)(1 + e^{-epsilon0}/2) n delta0, which falls with epsilon0 and grows with epsilon."""
    local_delta = bound("gaussian.delta").reference(sigma=_SIGMA, sensitivity=sensitivity, epsilon=local)
    with ctx.workprec(100):
        return (ball(epsilon).exp() + 1) * (1 + ball(-local).exp() / 2) * batches * local_delta.ball


def total_delta(batches: int, sensitivity: int, local: Fraction, epsilon: Fraction) -> Enclosure:
    """The bound of the module's text at one epsilon0."""
    return Enclosure.of_ball(clones(batches, local, epsilon) + correction(batches, sensitivity, local, epsilon))


@cache
def above_gaussian(batches: int, sensitivity: int) -> bool:
    """Whether the bound gives no epsilon up to the Gaussian's, for any epsilon0 >= 0: certified on all pieces.

    Where epsilon0 is in [a, b] and epsilon in [d, e] the bound is at least clones(a, e) plus the correction at b and d,
    and beyond the last epsilon0 at least the clones there.
    """
    most = gaussian_epsilon(sensitivity).upper.to_fraction()
    edges = [Fraction(sensitivity * i, 40) for i in range(121)]
    for start, end in itertools.pairwise(most * Fraction(share) for share in ("0", "1/2", "3/4", "9/10", "1")):
        pieces = [clones(batches, low, end) + correction(batches, sensitivity, high, start)
                  for low, high in itertools.pairwise(edges)]
        if not all(piece > ball(_DELTA) for piece in (*pieces, clones(batches, edges[-1], end))):
            return False
    return True


def gaussian_epsilon(sensitivity: int) -> Enclosure:
    """Epsilon of one Gaussian release at delta = 1e-5: what the epoch costs without amplification."""
    return bound("gaussian.epsilon").reference(sigma=_SIGMA, sensitivity=sensitivity, delta=_DELTA)


@cache
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


_REGION = {"epsilon0": "0.4 to 3 times the sensitivity", "delta": "1e-5", "sigma": "5"}


def judge_worse(counts: tuple[int, ...], given: Domain) -> Finding:
    """Whether the shuffling bound of an epoch is above the Gaussian's epsilon, for sensitivity 1 and 2.

    It is refuted where it is below for both: the document does not say which of them its figure has.
    """
    told = []
    for batches in counts:
        below: dict[str, object] = {}
        for sensitivity in (1, 2):
            plain, best = gaussian_epsilon(sensitivity), smallest(batches, sensitivity)
            if best is not None and plain.lower.compare(best[0]) > 0:
                below |= {
                    f"epsilon0, sensitivity {sensitivity}": best[1],
                    f"epsilon by shuffling, sensitivity {sensitivity}": best[0],
                    f"Gaussian epsilon, sensitivity {sensitivity}": plain,
                }
            told.append(f"{batches} batches, sensitivity {sensitivity}: "
                        f"{'none below 3' if best is None else float(best[0])} against {plain.to_floats()[0]:.4f}")
        if len(below) == 6:
            return refuted("the shuffling bound is below the Gaussian's epsilon, for both sensitivities, certified",
                           {"batches": batches, "sigma": _SIGMA, "delta": "1e-5", **below})
        if below:
            return undecided("below for one sensitivity only", 2)
    return proof(*_above(counts), summary="; ".join(told))


def _above(counts: tuple[int, ...]) -> tuple[ProofStep, ProofStep]:
    """That the bound is above the Gaussian's epsilon at these numbers of batches, whatever epsilon0."""
    return (
        computed("for sensitivity 1 and 2 the bound exceeds delta at every epsilon up to the Gaussian's, on every "
                 "piece of the range of epsilon0",
                 bool(counts) and all(above_gaussian(count, s) for count in counts for s in (1, 2))),
        argued("clones grow with epsilon0: with a larger one there are fewer, and more can be added, and the bias of "
               "the record's own clone is a mixture of the larger bias in both orders"),
    )


def judge_option(counts: tuple[int, ...], given: Domain) -> Finding:
    """Whether shuffling has a better bound of an epoch than the batches composed without amplification."""
    for count in counts:
        if above_gaussian(count, 1) and above_gaussian(count, 2):
            told = {f"epsilon without, sensitivity {s}": gaussian_epsilon(s) for s in (1, 2)}
            return refuted_by("composed without amplification the batches have the better bound",
                              {"batches": count, "sigma": _SIGMA, "delta": "1e-5", **told}, *_above((count,)))
        best = [smallest(count, sensitivity) for sensitivity in (1, 2)]
        if not all(one and gaussian_epsilon(s).lower.compare(one[0]) > 0 for s, one in zip((1, 2), best, strict=True)):
            return undecided("better for one sensitivity only, or at no epsilon0 tried", 2)
    return instance("below the Gaussian's epsilon, certified") if counts else undecided("nothing is claimed", 1)


def judge_improves(counts: tuple[int, ...], given: Domain) -> Finding:
    """Whether the certified epsilon falls along these numbers of batches; two upper bounds cannot refute it."""
    told = []
    for sensitivity in (1, 2):
        values = [smallest(count, sensitivity) for count in counts]
        found = [value[0] for value in values if value is not None]
        if len(found) < 2 or len(found) < len(counts) or found[0] <= found[-1] or sorted(found, reverse=True) != found:
            return undecided("the least epsilons found do not fall", max(len(counts), 1))
        told.append(f"sensitivity {sensitivity}: "
                    + ", ".join(f"{count}: {float(value)}" for count, value in zip(counts, found, strict=True)))
    tried = 2 * len(counts) * len(_LOCAL)
    return at_points("; ".join(told), tried, {**_REGION, "batches": ", ".join(map(str, counts))})


def judge_condition(counts: tuple[int, ...], given: Domain) -> Finding:
    """Whether no epsilon0 >= 0 meets epsilon0 <= log(n / (16 log(2/delta))) for these n and every delta."""
    with ctx.workprec(80):
        for delta in given.values("delta"):
            needed = 16 * (2 / ball(delta)).log()
            for count in counts:
                if not needed > count:
                    return refuted("the condition is met by epsilon0 = 0 and a little more",
                                   {"batches": count, "delta": delta, "16 log(2/delta)": needed.str(10)})
    symbol = given.symbol("delta")
    return proof(
        computed("at the largest delta 16 log(2/delta) exceeds these n, certified", bool(counts) and min(counts) > 0),
        computed("and it falls in delta", sympy.diff(16 * sympy.log(2 / symbol), symbol).is_negative),
        argued("the condition of Feldman et al. (2021) is epsilon0 <= log(n/(16 log(2/delta))), as it is recalled: the "
               "document does not print it"),
        tried=len(given.values("delta")),
    )


def judge_numerical(table: Mapping[int, str | None], given: Domain) -> Finding:
    """Whether the least epsilon certified at these numbers of batches is that, or (None) there is none below 3.

    Sensitivity 1, epsilon in hundredths. An epsilon that is found is certified; that there is no smaller one is only
    known for the epsilon0 tried.
    """
    for count, text in table.items():
        best = smallest(count, 1)
        if best is not None and (text is None or best[0] < Fraction(text)):
            return refuted(
                "the numerical method, which needs no condition, gives a smaller bound, certified",
                {"batches": count, "sigma": _SIGMA, "sensitivity": 1, "delta": "1e-5", "epsilon0": best[1],
                 "epsilon by shuffling": best[0]},
            )
        if text is not None and (best is None or best[0] > Fraction(text)):
            return undecided(f"{count} batches: no epsilon up to {text} at the epsilon0 tried", len(_LOCAL))
    if not table:
        return undecided("nothing is claimed", 1)
    return instance("each certified at an explicit epsilon0, and the next hundredth at none of those tried")


def judge_composed(says: tuple[str, str, str], given: Domain) -> Finding:
    """NoisyCGD's epsilon (eta lambda = 5.4e-5, substitution) and that of 400 composed epochs, sensitivity 1 and 2."""
    noisy = noisy_cgd_epsilon("5.4e-5", Fraction(2, _SIGMA), 60, 400)
    composed = [bound("gaussian.epsilon").reference(sigma=_SIGMA, sensitivity=20 * s, delta=_DELTA) for s in (1, 2)]
    if not all(noisy.certainly_le(value) for value in composed):
        return undecided("the enclosures overlap", 2)
    names = "NoisyCGD", "composed, sensitivity 1", "composed, sensitivity 2"
    return all_round(
        (({"of": name}, value, text) for name, value, text in zip(names, (noisy, *composed), says, strict=True)),
        "an epoch of the Gaussian, not amplified, is the best bound at 60 batches (fig-8-repaired); 400 of them "
        "compose to mu = 20 s/sigma",
    )


_RESTS = ("background/shuffle-clones", "background/fmt-approximate")
_FEW = (
    "When computing the shuffling bounds, one quickly finds that this is a too few number of batches for the "
    "conditions of the analysis of Feldman et al. (2021) to hold."
)

conditions = Claim(
    id="relu-approx/app-J-conditions",
    source="000, Appendix J: 50 or 60 batches are too few for the conditions of Feldman et al. (2021)",
    quote=_FEW,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\frac{n}{16 \log(2/\delta)} < 1 \quad (n = 50, 60;\ \delta \le 10^{-5})",
    words="with 50 or 60 batches no epsilon0 meets the condition of the closed-form shuffling bound at delta <= 1e-5",
    hypotheses=(positive("delta").at_most(Fraction(1, 10**5)),),
    says=(50, 60),
    check=judge_condition,
    flips=(Flip("1000 batches", (1000,), Verdict.REFUTED), Flip("no number", (), Verdict.UNDECIDED)),
    true_variants={"*one more": "fewer than 195 batches are all too few"},
    expected="HOLDS ARGUED",
)

no_bound = Claim(
    id="relu-approx/app-J-numerical",
    source="000, Appendix J: the analysis does not apply at 60 batches, by its closed form or by the numerical method",
    quote=_FEW,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{the shuffling analysis says nothing at } n = 60",
    words="with 60 batches the conditions of the shuffling analysis do not hold",
    hypotheses=(),
    says=None,
    check=None,
    readings=("relu-approx/app-J-conditions", "relu-approx/app-J-numerical-reading-none"),
    expected="AMBIGUOUS ARGUED",
)

none_numerical = Claim(
    id="relu-approx/app-J-numerical-reading-none",
    source="000, Appendix J, read of the numerical method that it uses: it gives no bound at 60 batches",
    quote=_FEW,
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\text{no } \varepsilon < 3 \text{ by the numerical method at } n = 60",
    words="with 60 batches the numerical shuffling bound says nothing",
    hypotheses=(),
    says={60: None},
    check=judge_numerical,
    flips=(Flip("0.78 with 60 batches", {60: "0.78"}, Verdict.HOLDS),),
    repaired_by="relu-approx/app-J-numerical-repaired",
    uses=("relu-approx/app-J-conditions",),
    rests_on=_RESTS,
    expected="REFUTED ARGUED",
)

numerical = Claim(
    id="relu-approx/app-J-numerical-repaired",
    source="000, Appendix J: what the numerical method gives at 50 and 60 batches, sigma = 5, delta = 1e-5",
    severity=Stake.UTILITY,
    statement=r"\varepsilon(n = 50) \le 0.85,\quad \varepsilon(n = 60) \le 0.78 \quad (s = 1)",
    words="the numerical shuffling bound is 0.85 with 50 batches and 0.78 with 60, at sensitivity 1",
    hypotheses=(),
    says={50: "0.85", 60: "0.78"},
    check=judge_numerical,
    flips=(Flip("0.5 with 60 batches", {60: "0.5"}, Verdict.UNDECIDED), Flip("nothing", {60: None}, Verdict.REFUTED),
           Flip("2.9, more than needed", {60: "2.9"}, Verdict.REFUTED)),
    rests_on=_RESTS,
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
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{shuffling}} > \varepsilon_{\mathrm{Gaussian}} \quad (n = 1000,\ \sigma = 5)",
    words="with 1000 batches the shuffling bound of one epoch is worse than the Gaussian mechanism's epsilon",
    hypotheses=(),
    says=(1000,),
    check=judge_worse,
    rests_on=_RESTS,
    expected="REFUTED ARGUED",
    repair=Repair(
        statement=r"\varepsilon_{\mathrm{shuffling}} > \varepsilon_{\mathrm{Gaussian}} \quad (n = 50, 60;\ \sigma = 5)",
        words="with 50 or 60 batches the shuffling bound of one epoch is worse than the Gaussian mechanism's epsilon",
        says=(50, 60),
        expected="HOLDS ARGUED",
        source="000, Appendix J, for the 50 and 60 batches of the experiments",
        true_variants={"*one more": "one batch more is too few as well"},
    ),
)

best_option = Claim(
    id="relu-approx/app-J-best-option",
    source="000, Appendix J: with disjoint batches shuffling is the best option; here against no amplification at all",
    quote=(
        "When using disjoint batches of data, currently the best option for obtaining rigorous guarantees is to use "
        "data shuffling and shuffling amplification (Feldman et al., 2021)"
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{shuffling}} \le \varepsilon_{\mathrm{Gaussian}} \quad (n = 50, 60;\ \sigma = 5)",
    words="with the experiments' 50 or 60 batches no bound of an epoch is better than that of shuffling amplification",
    hypotheses=(),
    says=(50, 60),
    check=judge_option,
    flips=(Flip("1000 batches", (1000,), Verdict.HOLDS), Flip("no number", (), Verdict.UNDECIDED)),
    repaired_by="relu-approx/fig-8-repaired",
    expected="REFUTED ARGUED",
)

improves = Claim(
    id="relu-approx/app-J-improves",
    source="000, Appendix J and the caption of Figure 8: the shuffling bound improves as the number of batches grows",
    quote="The shuffling privacy guarantee clearly improves the number of batches per epoch grows",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"n \mapsto \varepsilon_{\mathrm{shuffling}}(n) \text{ falls}",
    words="the shuffling bound of one epoch falls with the number of batches, from 50 and 60 to 1000",
    hypotheses=(),
    says=(50, 60, 250, 1000),
    check=judge_improves,
    flips=(Flip("in the other order", (1000, 250, 60), Verdict.UNDECIDED), Flip("one", (60,), Verdict.UNDECIDED)),
    true_variants=dict.fromkeys(("[[]?[]] 1 % *", "[[]?[]] one more"),
                                "other numbers of batches in the same order fall as well"),
    rests_on=_RESTS,
    expected="HOLDS CHECKED_AT_POINTS",
)

composed_epochs = Claim(
    id="relu-approx/app-J-400",
    source="000, Appendix J: NoisyCGD would be better than shuffling; here the bounds of 400 epochs, sigma = 5",
    quote=(
        "Although we do not explicitly show comparisons against the shuffled DP-SGD, we believe that our approach "
        "would be better than the shuffling approach."
    ),
    whose=Whose.READING,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_{\mathrm{NoisyCGD}} = 4.611 < 24.38\ (s = 1),\ 65.32\ (s = 2)",
    words="over 400 epochs of 60 batches NoisyCGD has epsilon 4.611, the composed epochs 24.38 or, substituting, 65.32",
    hypotheses=(),
    says=("4.611", "24.38", "65.32"),
    check=judge_composed,
    flips=(Flip("the same", ("4.611", "4.611", "4.611"), Verdict.REFUTED),),
    rests_on=("relu-approx/thm-2.8-formula", "relu-approx/fig-8-repaired", "background/gdp-composition"),
    expected="HOLDS ARGUED",
)
