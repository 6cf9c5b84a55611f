r"""What document 001 says in passing in Sections 1, 4.2 and 4.3 about its own accounting, checked on the accounting.

Contributions of epochs are those of Theorem 4.6 with its indices set right, exact (eta = 1/2, S_g = b = 1) or in balls
at Figure 1's setting. Scaling all noise by s scales every spread by s and leaves every factor q V/V' alone, so all
contributions fall as 1/s; changing one epoch's noise moves the factors, too. Without contraction (L_F = 1, which is all
that convexity gives) factors tend to 1 and old epochs are hardly forgotten. Noise that falls for ever but stays above
some m > 0 keeps the spread below M/(1-q), so a factor stays below f = qM/(qM + (1-q)m) < 1 and the loss below
1/(8m(1 - f^{N-1})); noise that tends to 0 makes the last touch alone, 1/(8 o), as large as you like.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

from flint import arb, ctx

from oracle.core.domain import non_negative, positive, positive_integer
from oracle.core.enclosure import Enclosure
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.sbcd.accounting import BlockSetting, recursion
from theorems.sbcd.closed_form import REPAIRED
from theorems.sbcd.figure_1 import contributions
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

Epoch = tuple[tuple[int, ...], ...]
Noise = tuple[Fraction, ...]
ONE = Fraction(1)


def independent(n: int, b: int) -> Iterator[Epoch]:
    """All epochs of n/b batches, each sampled from all records, as Corollary 4.5 says."""
    return itertools.product(itertools.combinations(range(n), b), repeat=n // b)


def partition(n: int, b: int) -> Iterator[Epoch]:
    """All epochs that run through the records once."""
    for order in itertools.permutations(range(n)):
        yield tuple(order[start:start + b] for start in range(0, n, b))


def judge_batches(epochs: Callable[[int, int], Iterator[Epoch]], given: Domain) -> Finding:
    """Whether each record is in exactly one batch of every epoch that can happen."""
    tried = 0
    for n, b in ((2, 1), (3, 1), (4, 2)):
        for epoch in epochs(n, b):
            tried += 1
            times = [sum(record in batch for batch in epoch) for record in range(n)]
            if times != [1] * n:
                return refuted(
                    "a record is in no batch, or in several",
                    {"n": str(n), "b": str(b), "epoch": str([list(batch) for batch in epoch]),
                                "batches with record 0": str(times[0])},
                )
    return at_points(
        f"all {tried} epochs enumerated",
        Scope("points", tried, tried, {"(n, b)": "(2, 1), (3, 1), (4, 2)"}),
    )


def judge_inverse(scaled: Callable[[Noise, int, int], Noise], given: Domain) -> Finding:
    """Whether an epoch's contribution is divided by s where the noise is scaled(noise, epoch, s)."""
    tried = 0
    for before, epoch, factor in itertools.product((1, 0), (0, 1), (2, 3)):
        noise = (ONE, ONE)
        shares = []
        for schedule in (noise, scaled(noise, epoch, factor)):
            decay = REPAIRED.decay(BlockSetting(schedule, 2, before, Fraction(9, 10), ONE), epoch)
            assert decay is not None, "the form with its indices set right never divides by zero"
            shares.append(decay / (8 * schedule[epoch]))
        tried += 1
        if shares[1] * factor != shares[0]:
            return refuted(
                "the contribution is divided by another number, exactly",
                {"noise": ", ".join(map(str, noise)), "times": str(factor), "epoch": str(epoch), "batches": "2",
                 "j_0": str(before), "L_F": "9/10", "contribution before": str(shares[0]), "after": str(shares[1])},
            )
    return at_points(
        "exactly, and by homogeneity (module docstring)",
        Scope("points", tried, tried, {"L_F": "9/10", "n/b": "2", "K": "2"}),
    )


def judge_last(gradient: Fraction, given: Domain) -> Finding:
    """Whether the last 5 of 30 epochs contribute more than half, at Figure 1's setting but for L_F, for j_0 = 0, 20."""
    shares = {}
    with ctx.workprec(128):
        for before in (0, 20):
            found = contributions([Fraction(1, 100)] * 30, before, gradient)
            shares[before] = Enclosure.of_ball(sum(found[-5:], arb(0)) / sum(found, arb(0)))
    for before, share in shares.items():
        if share.certainly_le(Fraction(1, 2)):
            return refuted(
                "the earlier epochs contribute more, certified",
                {"L_F": str(gradient), "j_0": str(before), "epochs": "30", "batches": "21",
                            "share of the last 5": str(share)},
            )
    if not all(share.lower.compare(Fraction(1, 2)) > 0 for share in shares.values()):
        return undecided("too close to a half", 2)
    return at_points(
        "; ".join(f"j_0 = {before}: {share.to_floats()[0]:.4f}" for before, share in shares.items()),
        Scope("points", 2, 2, {"L_F": str(gradient), "j_0": "0, 20", "K": "30", "n/b": "21"}),
    )


def judge_divergence(limit: Fraction, given: Domain) -> Finding:
    """Whether the loss diverges for the noise limit + 2^-k, which falls for ever (N = 2, j_0 = 1, L_F = 9/10)."""
    def loss(epochs: int) -> Fraction:
        noise = tuple(limit + Fraction(1, 2**k) for k in range(epochs))
        return recursion(BlockSetting(noise, 2, 1, Fraction(9, 10), ONE))

    if limit == 0:
        assert loss(12) >= Fraction(2**11, 8), "the last touch alone"
        return proof(argued(
            "the touch in the last step has lost nothing yet: R/alpha is at least 1/(8 o) = 2^(K-1)/8"
        ))
    q = Fraction(81, 100)
    widest = (limit + 1) / (1 - q)
    ceiling = 1 / (8 * limit * (1 - q * widest / (q * widest + limit)))
    assert loss(40) <= ceiling, "the bound of the module docstring"
    return refuted(
        "the noise falls for ever, and the loss stays below a bound",
        {"noise": f"{limit} + 2^-k", "L_F": "9/10", "batches": "2", "j_0": "1",
                    "R/alpha after 20, 40 epochs": f"{float(loss(20)):.6f}, {float(loss(40)):.6f}",
                    "never above": str(ceiling)},
    )


def judge_zero(steps: Callable[[int], int], given: Domain) -> Finding:
    """Whether the loss is 0 after steps(j_0) iterations of the first epoch, and no longer after j_0 + 1."""
    cases = [(batches, before) for batches in (2, 3, 5) for before in range(batches)]
    for batches, before in cases:
        # An epoch cut off after t steps is an epoch of t batches; j_0 beyond it means that the record is not read.
        seen = steps(before)
        lost = recursion(BlockSetting((ONE,), seen, before, ONE, ONE))
        if lost != 0:
            return refuted(
                "the record has been read by then",
                {"batches": str(batches), "j_0": str(before), "iterations": str(seen),
                            "R/alpha": str(lost)},
            )
    return at_points(
        "nothing is lost before the record is read",
        Scope("points", len(cases), len(cases), {"n/b": "2, 3, 5"}),
    )


def judge_disparity(measure: Callable[[arb, arb], arb], given: Domain) -> Finding:
    """Whether measure(contribution at j_0 = 20, at j_0 = 0) falls from epoch to epoch, at Figure 1's setting."""
    with ctx.workprec(128):
        late, early = (contributions([Fraction(1, 100)] * 30, before) for before in (20, 0))
        values = [measure(a, b) for a, b in zip(late, early, strict=True)]
        for epoch, (now, then) in enumerate(itertools.pairwise(values)):
            if not then < now:
                return refuted(
                    "it does not fall there, certified",
                    {"epochs": f"{epoch} and {epoch + 1}",
                                "disparity": f"{now.str(8, radius=False)} and {then.str(8, radius=False)}"},
                )
        return at_points(
            f"falls from {values[0].str(5, radius=False)} to {values[-1].str(5, radius=False)}, certified",
            Scope("points", 29, 29, {"L_F": "0.99", "o": "0.01", "j_0": "0, 20"}),
        )


def judge_smaller(share: Fraction, given: Domain) -> Finding:
    """Whether one block's loss is at most that share of composition's, the sum of its touches (Figure 1's setting)."""
    with ctx.workprec(128):
        found = contributions([Fraction(1, 100)] * 30, 20)  # the worst position
        ratio = Enclosure.of_ball(sum(found, arb(0)) / (30 * found[-1]))  # the last touch has not decayed
    if not ratio.certainly_le(share):
        return refuted(
            "a larger share, certified",
            {"L_F": "0.99", "epochs": "30", "ratio": str(ratio), "claimed": str(share)},
        )
    return at_points(
        f"the ratio is {ratio.to_floats()[0]:.4f}",
        Scope("points", 1, 1, {"L_F": "0.99", "K": "30", "n/b": "21", "j_0": "20"}),
    )


def judge_smoothness(constants: Callable[[Fraction], Fraction], given: Domain) -> Finding:
    """Whether the loss grows with h, L_F = constants(h), h = 1/4, 1/2, 1: then more noise is needed for the same."""
    points = [Fraction(1, 4), Fraction(1, 2), ONE]
    for batches, epochs in ((2, 2), (3, 2)):
        losses = [recursion(BlockSetting((ONE,) * epochs, batches, batches - 1, constants(h), ONE)) for h in points]
        for (small, large), (less, more) in zip(itertools.pairwise(points), itertools.pairwise(losses), strict=True):
            if more <= less:
                return refuted(
                    "the loss falls, so less noise is enough",
                    {"h": f"{small} and {large}", "eta": "1", "L_F": f"{constants(small)} and "
                                f"{constants(large)}", "batches": str(batches), "epochs": str(epochs),
                                "R/alpha": f"{less} and {more}"},
                )
    return at_points(
        "a larger L_F widens the law and raises every factor",
        Scope("points", 4, 4, {"L_F": "1/4 to 1"}),
    )


_BLOCK = (
    positive("noise"), positive_integer("batches"), positive_integer("epochs"), non_negative("lipschitz_gradient"),
)
_REPAIRED = ("sbcd/thm-4.6-repaired",)

once = Claim(
    id="sbcd/one-batch-per-epoch",
    source="001, Corollary 4.5 (indices of a batch are sampled from {0, ..., n-1}) and the proof sketch of Theorem 4.6",
    quote=r"which contains b different training instances whose indices are sampled from $\{0, 1, \dots, n-1\}$.",
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\#\{j : i_0 \in B_k^j\} = 1 \text{ for sampled batches}",
    words="batches sampled from all records contain each record exactly once an epoch, as Theorem 4.6 assumes",
    hypotheses=(positive_integer("n"), positive_integer("b")), says=independent, check=judge_batches,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\bigsqcup_j B_k^j = \{0, \dots, n-1\} \implies \#\{j : i_0 \in B_k^j\} = 1",
        words="batches that partition the records contain each record exactly once an epoch",
        says=partition,
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Theorem 4.6, for batches that partition the records",
    ),
)
inverse = Claim(
    id="sbcd/contribution-inverse", source="001, Section 4.3: contributions are inversely proportional to the variance",
    quote=(
        r"Specifically, these contributions are inversely proportional to $o(\eta, j, k)$, i.e., the variance of "
        "the noise"
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"o_k \to s\,o_k \implies \text{contribution}_k \to \text{contribution}_k / s",
    words="an epoch's contribution to the privacy loss is inversely proportional to that epoch's noise variance",
    hypotheses=_BLOCK, check=judge_inverse,
    says=lambda noise, epoch, s: tuple(s * o if k == epoch else o for k, o in enumerate(noise)),
    uses=("sbcd/thm-4.6-eq-11",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o \to s\,o \implies \text{contribution}_k \to \text{contribution}_k / s \text{ for every } k",
        words="scaling the noise variance of all epochs divides every contribution by the same number",
        says=lambda noise, epoch, s: tuple(s * o for o in noise),
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.3, with all variances scaled together",
        flips=(Flip("scaling the later epochs only",
                    lambda noise, epoch, s: tuple(s * o if k >= epoch else o for k, o in enumerate(noise)),
                    Verdict.REFUTED),),
        rests_on=_REPAIRED,
    ),
)
last = Claim(
    id="sbcd/last-epochs", source="001, Section 4.3: the last few epochs primarily contribute; convex blocks",
    quote=(
        "under the hidden state assumption, the calibrated noise in the last few epochs primarily contributes to "
        "the total privacy loss."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\sum_{k \ge K - 5} \text{contribution}_k > \tfrac12 \varepsilon_K \quad (L_F = 1,\ K = 30)",
    words="the last 5 of 30 epochs contribute more than half of the loss, for the L_F = 1 that convexity gives",
    hypotheses=_BLOCK, says=ONE, check=judge_last,

    uses=("sbcd/thm-4.6-eq-11", "sbcd/contraction"),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\sum_{k \ge K - 5} \text{contribution}_k > \tfrac12 \varepsilon_K \quad (L_F = 0.99,\ K = 30)",
        words="the last 5 of 30 epochs contribute more than half of the loss for L_F = 0.99",
        says=Fraction(99, 100),
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.3, for the contraction L_F = 0.99 of Figure 1",
        flips=(Flip("L_F = 1.01", Fraction(101, 100), Verdict.REFUTED),),
        rests_on=_REPAIRED,
    ),
)
diverges = Claim(
    id="sbcd/decrease-diverges", source="001, Section 4.3: the loss diverges if the noise continues to decrease",
    quote=(
        "Conversely, the privacy loss diverges if the noise magnitude continues to decrease in the late phase of "
        "training."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"o_k > o_{k+1} \text{ for all } k \implies \varepsilon_K \to \infty",
    words="noise that decreases for ever makes the privacy loss diverge",
    hypotheses=_BLOCK, says=ONE, check=judge_divergence,

    uses=("sbcd/thm-4.6-eq-11",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o_k = 2^{-k} \implies \varepsilon_K \to \infty",
        words="noise that tends to 0 makes the privacy loss diverge",
        says=Fraction(0),
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.3, for noise that tends to 0",
        flips=(Flip("to 1/10", Fraction(1, 10), Verdict.REFUTED),),
        rests_on=_REPAIRED,
    ),
)
zero = Claim(
    id="sbcd/zero-before-j0", source="001, Section 4.3: the loss is zero for the first j_0 mini-batches",
    quote="as the privacy loss is zero for the first j_0 mini-batches of the first epoch.",
    whose=Whose.PRINTED,
    severity=Severity.PRIVACY,
    statement=r"R_\alpha(\theta_0^j \,\|\, \theta_0'^j) = 0 \text{ for } j \le j_0",
    words="nothing is lost in the first j_0 mini-batches of the first epoch",
    hypotheses=_BLOCK, says=lambda before: before, check=judge_zero,
    flips=(Flip("the first j_0 + 1", lambda before: before + 1, Verdict.REFUTED),),
    expected="HOLDS CHECKED_AT_POINTS",
)
disparity = Claim(
    id="sbcd/fig-1a-disparity", source="001, Section 4.3: as training progresses the disparity between j_0 diminishes",
    quote="However, as the training progresses, this disparity diminishes.",
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\frac{\text{contribution}_{k+1}(j_0 = 20)}{\text{contribution}_{k+1}(j_0 = 0)} <"
              r" \frac{\text{contribution}_k(j_0 = 20)}{\text{contribution}_k(j_0 = 0)}",
    words="in the logarithmic graph the curves of different j_0 come closer from epoch to epoch",
    hypotheses=_BLOCK, says=lambda late, early: late / early, check=judge_disparity,
    flips=(Flip("as a difference", lambda late, early: late - early, Verdict.REFUTED),),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"), rests_on=_REPAIRED,
    expected="HOLDS CHECKED_AT_POINTS",
)
smaller = Claim(
    id="sbcd/smaller-than-composition", source="001, Section 1: significantly smaller than by composition; one block",
    quote="our algorithm’s privacy loss is significantly smaller than that of composition theory.",
    whose=Whose.READING,
    severity=Severity.PRIVACY,
    statement=r"\varepsilon_K \le \tfrac15\,\alpha \sum_k \frac{\eta S_g^2}{4b^2 o_k} \quad (L_F = 0.99,\ K = 30)",
    words="the loss of one block, the others fixed, is at most a fifth of composition's at Figure 1's setting",
    hypotheses=_BLOCK, says=Fraction(1, 5), check=judge_smaller,
    flips=(Flip("a twentieth", Fraction(1, 20), Verdict.REFUTED),),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"), rests_on=_REPAIRED,
    expected="HOLDS CHECKED_AT_POINTS",
)
smoothness = Claim(
    id="sbcd/noise-vs-smoothness",
    source="001, Section 1: larger variance is needed if the Lipschitz constant of the loss gradient is bigger",
    quote=(
        "we need noise of larger variance to achieve the same level of differential privacy if the Lipschitz "
        "constant of the loss gradient is bigger"
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\beta < \beta' \implies \varepsilon_K(\beta) < \varepsilon_K(\beta') \quad"
              r" (\mathcal{F} = \tfrac{\beta}{2}\theta^2)",
    words="a bigger Lipschitz constant of the loss's gradient needs more noise for the same privacy",
    hypotheses=_BLOCK, says=lambda h: abs(1 - h), check=judge_smoothness,

    uses=("sbcd/lem-4.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"L_F < L_F' \implies \varepsilon_K(L_F) < \varepsilon_K(L_F')",
        words="a bigger Lipschitz constant of the gradient step needs more noise for the same privacy",
        says=lambda h: h,
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 1, for the Lipschitz constant of the step",
        flips=(Flip("of 1/L_F", lambda h: 1 / h, Verdict.REFUTED),),
        rests_on=_REPAIRED,
    ),
)
