r"""Figure 1 of document 001 and what Section 4.3 reads off it: schedules, positions, contributions of epochs.

Setting: n = 2100, b = 100 (N = 21 batches, so j_0 runs from 0 to 20), eta = 0.01, S_g = 1, L_T = 1 and L_F = 0.99 (the
document's rho, taken as L_F although it bounds the weights). Contributions come from the repaired recursion: the touch
of an epoch is followed by the factors L_F^2 V/(L_F^2 V + 2 eta o) of the steps without the record. They hold in balls.
A record that comes later in an epoch is followed by fewer such steps, so a larger j_0 makes every contribution larger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import non_negative_integer, positive, positive_integer
from oracle.core.enclosure import Enclosure, ball
from theorems.claim import Claim, Flip, Repair, Severity, Whose
from theorems.domain import Domain
from theorems.verdict import Finding, Scope, Verdict, argued, at_points, proof, refuted, undecided

_BATCHES, _EPOCHS = 21, 30
_ETA, _L = Fraction(1, 100), Fraction(99, 100)
Schedule = Callable[[int], Fraction]


def decimal(start: str, slope: str) -> Schedule:
    """The schedule start + slope k, exactly."""
    return lambda k: Fraction(start) + Fraction(slope) * k


def contributions(noise: Sequence[Fraction], before: int, gradient: Fraction = _L) -> list[arb]:
    """R/alpha that each epoch's touch contributes to the end, b = 100, S_g = 1; the gradient step is L_F-Lipschitz."""
    shares: list[arb] = []
    spread, square = arb(0), ball(gradient) ** 2
    for o in noise:
        added = 2 * ball(_ETA) * ball(o)
        for batch in range(_BATCHES):
            if batch == before:
                shares.append(ball(_ETA / (40_000 * o)))
            else:
                factor = square * spread / (square * spread + added)
                shares = [share * factor for share in shares]
            spread = square * spread + added
    return shares


def loss(schedule: Schedule, epochs: int) -> Enclosure:
    """The privacy loss at alpha = 2, the mean over the positions (the log-mean-exp of values below 0.02)."""
    with ctx.workprec(128):
        noise = [schedule(k) for k in range(epochs)]
        means = [2 * sum(contributions(noise, j), arb(0)) for j in range(0, _BATCHES)]
        return Enclosure.of_ball((sum((m.exp() for m in means), arb(0)) / _BATCHES).log())


def judge_schedule(schedule: Schedule, given: Domain) -> Finding:
    """Whether the noise is positive in each of the 30 epochs: a variance."""
    for k in range(_EPOCHS):
        if schedule(k) <= 0:
            return refuted("the variance is not positive, exactly", {"epoch": str(k), "o": str(schedule(k))})
    return proof(argued(f"positive in all {_EPOCHS} epochs, from {schedule(0)} to {schedule(_EPOCHS - 1)}"))


def judge_positions(positions: tuple[int, ...], given: Domain) -> Finding:
    """Whether the j_0 are positions of a batch: 0 to n/b - 1."""
    for j in positions:
        if not 0 <= j < 2100 // 100:
            return refuted(
                "there is no such batch",
                {"j_0": str(j), "n": "2100", "b": "100", "batches": str(2100 // 100)},
            )
    return proof(argued("all below n/b = 21"))


def judge_rho(constant: Callable[[Any, Any], Any], given: Domain) -> Finding:
    """Whether L_F of a block with one input, x^2 = X, is constant(eta, X): rho = 0.99 does not enter."""
    for square in (Fraction(1), Fraction(4)):
        true = abs(1 - _ETA * square)
        if constant(_ETA, square) != true:
            return refuted(
                "the step's Lipschitz constant is another",
                {"inputs": "1", "|x|^2": str(square), "eta": str(_ETA), "rho": "0.99", "L_F": str(true),
                            "claimed": str(constant(_ETA, square))},
            )
    eta, size = sympy.symbols("eta X", positive=True)
    if sympy.simplify(constant(eta, size) - abs(1 - eta * size)) != 0:
        return undecided("right at two inputs only", 2)
    return proof(argued(
        "theta - eta x^2 theta is 1 - eta gamma x^2 times theta, gamma = 1, whatever the weights' norm "
        "(with two or more inputs L_F is 1 or more)"
    ))


def judge_slopes(says: Mapping[str, tuple[Fraction, Fraction]], given: Domain) -> Finding:
    """Whether log10 of the contributions rises by an amount in the given range from each of the epochs 15..28 on."""
    schedules = {"constant": decimal("0.01", "0"), "adaptive": decimal("0.01", "-0.0003")}
    with ctx.workprec(128):
        for name, (low, high) in says.items():
            noise = [schedules[name](k) for k in range(_EPOCHS)]
            for before in (0, 15, 20):
                shares = contributions(noise, before)
                for k in range(15, 28):
                    slope = (shares[k + 1] / shares[k]).log() / arb(10).log()
                    if not (slope >= ball(low) and slope <= ball(high)):
                        return refuted(
                            "the curve is steeper or flatter there, certified",
                            {"noise": name, "j_0": str(before), "epoch": str(k), "slope": slope.str(8, radius=False),
                             "claimed": f"{float(low):g} to {float(high):g}"},
                        )
    return at_points(
        "certified for j_0 = 0, 15, 20 and the epochs 15 to 28; before, the curves bend",
        Scope("points", 78, 78, {"L_F": "0.99", "K": "30"}),
    )


def judge_order(smaller: bool, given: Domain) -> Finding:
    """Whether a larger j_0 makes the first epochs' contributions smaller (True) or larger, at L_F = 0.99."""
    with ctx.workprec(128):
        shares = {j: contributions([Fraction(1, 100)] * _EPOCHS, j) for j in (0, 15, 20)}
        early = {j: Enclosure.of_ball(contributions([Fraction(1, 100)], j)[0]) for j in (0, 15, 20)}
        for k in range(3):
            for one, other in ((0, 15), (15, 20)):
                if (shares[other][k] < shares[one][k]) is not smaller:
                    return refuted(
                        "the contribution moves the other way, certified",
                        {"epoch": str(k), "j_0": f"{one} and {other}",
                         "contributions": f"{shares[one][k].str(6, radius=False)} and "
                                          f"{shares[other][k].str(6, radius=False)}",
                         "loss after one epoch": f"{early[one]} and {early[other]}"},
                    )
    return at_points(
        "in the epochs 0 to 2, for j_0 = 0, 15, 20: fewer steps follow the record",
        Scope("points", 6, 6, {"L_F": "0.99", "K": "30", "o": "0.01"}),
    )


_SCHEDULES: Mapping[str, Schedule] = {
    "constant": decimal("0.0005", "0"), "decay": decimal("0.001", "-0.00003"), "increase": decimal("0.0001", "0.0003"),
    "decrease, then constant": lambda k: Fraction("0.0005") - Fraction("0.00003") * min(k, 10),
}


def judge_trends(trends: Mapping[str, str], given: Domain) -> Finding:
    """Whether the loss over 10, 20 and 30 epochs "settles" (within 2 %), "rises" or "falls", for each schedule."""
    found = {}
    for name, trend in trends.items():
        values = [loss(_SCHEDULES[name], epochs) for epochs in (10, 20, 30)]
        with ctx.workprec(128):
            ratio = Enclosure.of_ball(values[2].ball / values[1].ball)
        near = ratio.lower.compare(Fraction(98, 100)) >= 0 and ratio.certainly_le(Fraction(102, 100))
        seen = "settles" if near else ("rises" if ratio.lower.compare(1) > 0 else "falls")
        found[name] = f"{seen}, {values[2].to_floats()[0]:.4g} after 30 epochs"
        if seen != trend:
            return refuted(
                "the loss does otherwise, certified",
                {"noise": name, "claimed": trend, "seen": seen,
                 "after 10, 20, 30 epochs": "; ".join(f"{value.to_floats()[0]:.6g}" for value in values)},
            )
    return at_points(
        "; ".join(f"{k}: {v}" for k, v in found.items()),
        Scope("points", 3 * len(trends), 3 * len(trends), {"L_F": "0.99", "alpha": "2", "S_g": "1"}),
    )


_SETTING = (positive("noise"), positive_integer("epochs"), non_negative_integer("j_0"))
_TRENDS = {"constant": "settles", "decay": "rises", "increase": "falls", "decrease, then constant": "settles"}

noise_a = Claim(
    id="sbcd/fig-1a-noise", source="001, Figure 1(a): o = 0.01 - 0.003 k over 30 epochs",
    quote=r"while in the adaptive noise scenario, the $o(\eta, k, j) = 0.01 - 0.003k$.",
    whose=Whose.TYPO,
    severity=Severity.UTILITY,
    statement=r"o_k = 0.01 - 0.003k > 0,\quad 0 \le k < 30", words="the adaptive noise of Figure 1(a) is a variance",
    hypotheses=_SETTING, says=decimal("0.01", "-0.003"), check=judge_schedule,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o_k = 0.01 - 0.0003k > 0,\quad 0 \le k < 30",
        words="the noise 0.01 - 0.0003 k is a variance",
        says=decimal("0.01", "-0.0003"),
        expected="HOLDS ARGUED",
        source="001, Figure 1(a) with 0.0003 k, a guess at what was meant",
        flips=(Flip("0.0004 k", decimal("0.01", "-0.0004"), Verdict.REFUTED),),
    ),
)
noise_b = Claim(
    id="sbcd/fig-1b-decay", source="001, Figure 1(b): noise decay, o = 0.001 - 0.0003 k",
    quote=r"noise decay means $o(\eta, k, j) = 0.001 - 0.0003k$",
    whose=Whose.TYPO,
    severity=Severity.UTILITY,
    statement=r"o_k = 0.001 - 0.0003k > 0,\quad 0 \le k < 30", words="the decaying noise of Figure 1(b) is a variance",
    hypotheses=_SETTING, says=decimal("0.001", "-0.0003"), check=judge_schedule,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o_k = 0.001 - 0.00003k > 0,\quad 0 \le k < 30",
        words="the noise 0.001 - 0.00003 k is a variance",
        says=decimal("0.001", "-0.00003"),
        expected="HOLDS ARGUED",
        source="001, Figure 1(b) with 0.00003 k, a guess at what was meant",
        flips=(Flip("0.00004 k", decimal("0.001", "-0.00004"), Verdict.REFUTED),),
    ),
)
noise_c = Claim(
    id="sbcd/fig-1b-deccon", source="001, Figure 1(b): 0.0005 - 0.00003 k up to k = 10, then 0.0002",
    quote=(
        r"noise decrease-constant means that $o(\eta, k, j) = 0.0005 - 0.00003k$ where $k \in [1, 10]$ and "
        r"remain $o(\eta, k, j) = 0.0002$ where $k \in [10, 30]$."
    ),
    whose=Whose.PRINTED,
    statement=r"o_k = 0.0005 - 0.00003\min(k, 10) > 0",
    words="the decrease-constant noise of Figure 1(b) is a variance",
    hypotheses=_SETTING, says=_SCHEDULES["decrease, then constant"], check=judge_schedule,
    flips=(Flip("0.00005 k", lambda k: Fraction("0.0005") - Fraction("0.00005") * min(k, 10), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
noise_d = Claim(
    id="sbcd/fig-1b-increase", source="001, Figure 1(b): noise increase, o = 0.0001 + 0.0003 k",
    quote=r"noise increase means $o(\eta, k, j) = 0.0001 + 0.0003k$",
    whose=Whose.PRINTED,
    statement=r"o_k = 0.0001 + 0.0003k > 0", words="the increasing noise of Figure 1(b) is a variance",
    hypotheses=_SETTING, says=decimal("0.0001", "0.0003"), check=judge_schedule,
    flips=(Flip("from -0.0001 on", decimal("-0.0001", "0.0003"), Verdict.REFUTED),),
    expected="HOLDS ARGUED",
)
positions = Claim(
    id="sbcd/fig-1-j0", source="001, Figure 1: j_0 = 0, 15, 30 with n = 2100 and b = 100",
    quote="Each scenario contains three situations ($j_0 = 0, 15, 30$).",
    whose=Whose.PRINTED,
    severity=Severity.UTILITY,
    statement=r"j_0 \in \{0, 15, 30\} \subset \{0, \dots, n/b - 1\}", words="the figure's positions j_0 exist",
    hypotheses=_SETTING, says=(0, 15, 30), check=judge_positions,

    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\{0, 15, 20\} \subset \{0, \dots, 20\}",
        words="the positions 0, 15 and 20 exist",
        says=(0, 15, 20),
        expected="HOLDS ARGUED",
        source="001, Figure 1, the positions that exist",
        flips=(Flip("21", (0, 21), Verdict.REFUTED),),
    ),
)
rho = Claim(
    id="sbcd/fig-1-rho", source="001, Figure 1: Lipschitz constant rho = 0.99, the weights' bound of (2), used as L_F",
    quote=r"Common hyper-parameter settings: Lipschitz constant $\rho = 0.99$, batch size $b = 100$",
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"L_F = \rho",
    words="the bound rho on the weights' norm is the Lipschitz constant L_F of a gradient step",
    hypotheses=_SETTING, says=lambda eta, square: Fraction(99, 100), check=judge_rho,
    uses=("sbcd/lem-4.1",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"L_F = |1 - \eta\gamma x^2| \text{ for a single input}",
        words="with a single input L_F is |1 - eta x^2|, whatever rho",
        says=lambda eta, square: abs(1 - eta * square),
        expected="HOLDS ARGUED",
        source="001, Figure 1, with Lemma 4.1",
        rests_on=("sbcd/lem-4.1",),
    ),
)
linear = Claim(
    id="sbcd/fig-1a-linear", source="001, Section 4.3: near-linear curves in the logarithmic graph",
    quote=(
        "The numerical results align with the analysis, as indicated by the near-linear curves observed in the "
        "logarithmic scale graph."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\log_{10} \text{ contribution rises by } 0.174 \text{ to } 0.212 \text{ an epoch (late epochs)}",
    words="in the later half the logarithm of an epoch's contribution rises almost linearly",
    hypotheses=_SETTING, check=judge_slopes,
    says={"constant": (Fraction("0.174"), Fraction("0.178")), "adaptive": (Fraction("0.177"), Fraction("0.212"))},
    flips=(Flip("twice as steep", {"constant": (Fraction("0.34"), Fraction("0.36"))}, Verdict.REFUTED),),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"), rests_on=("sbcd/thm-4.6-repaired",),
    expected="HOLDS CHECKED_AT_POINTS",
)
order = Claim(
    id="sbcd/fig-1a-j0-claim",
    source="001, Section 4.3: a larger j_0 leads to a smaller privacy loss in the first epochs",
    quote=(
        "we observe that a larger value of j_0 , signifying a delayed occurrence of the mini-batch containing "
        "the unique instance, leads to a smaller privacy loss during the initial stages of training."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"j_0 < j_0' \implies \varepsilon_k(j_0') < \varepsilon_k(j_0) \text{ for small } k",
    words="a record in a later batch contributes less in the first epochs",
    hypotheses=_SETTING, says=True, check=judge_order,
    uses=("sbcd/thm-4.6-eq-11",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"j_0 < j_0' \implies \varepsilon_k(j_0) < \varepsilon_k(j_0')",
        words="a record in a later batch contributes more in every one of the first epochs",
        says=False,
        expected="HOLDS CHECKED_AT_POINTS",
        source="001, Section 4.3, the other way round",
        rests_on=("sbcd/thm-4.6-repaired",),
    ),
)
trends = Claim(
    id="sbcd/fig-1b-claims", source="001, Section 4.3, on Figure 1(b) (its decay slope as repaired)",
    quote=(
        "Empirical findings suggest that privacy loss converges when a constant magnitude of noise is utilized "
        "in the later stages of training. Conversely, the privacy loss diverges if the noise magnitude continues "
        "to decrease in the late phase of training."
    ),
    whose=Whose.READING,
    severity=Severity.UTILITY,
    statement=r"\text{constant noise: converges; decaying: diverges; increasing: decreases; then constant: converges}",
    words="constant noise makes the loss settle, decaying noise rise, growing noise fall, late constant noise settle",
    hypotheses=_SETTING, says=_TRENDS, check=judge_trends,
    flips=(Flip("increasing noise makes it rise", {"increase": "rises"}, Verdict.REFUTED),),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1b-decay"),
    rests_on=("sbcd/thm-4.6-repaired", "sbcd/fig-1b-decay-repaired"),
    expected="HOLDS CHECKED_AT_POINTS",
)
