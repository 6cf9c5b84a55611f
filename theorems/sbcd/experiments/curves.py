r"""The curves of Figure 1 of document 001 and what Section 4.3 reads off them: contributions of epochs, trends.

Setting: n = 2100, b = 100 (N = 21 batches, so j_0 runs from 0 to 20), eta = 0.01, S_g = 1, L_T = 1 and L_F = 0.99 (the
document's rho, taken as L_F although it bounds the weights). Contributions come from the repaired recursion: the touch
of an epoch is followed by the factors L_F^2 V/(L_F^2 V + 2 eta o) of the steps without the record. They hold in balls.
A record that comes later in an epoch is followed by fewer such steps, so a larger j_0 makes every contribution larger.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import arb, ctx

from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from theorems.claim import Claim, Flip, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.experiments.figure_1 import EPOCHS, Schedule, decimal
from theorems.sbcd.privacy.orders import shares, worth
from theorems.tools.printed import rounds_to
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, instance, refuted

_BATCHES = 21
_L = Fraction(99, 100)
_UNIT = ball(Fraction(1, 4_000_000))  # eta S_g^2/(4 b^2)


def contributions(noise: Sequence[Fraction], before: int, gradient: Fraction = _L) -> list[arb]:
    """R/alpha that each epoch's touch contributes to the end, b = 100 and S_g = 1; L_F is the gradient's."""
    return [_UNIT * share for share in shares(map(ball, noise), _BATCHES, before, ball(gradient) ** 2)]


def losses(schedule: Schedule) -> list[Enclosure]:
    """The privacy loss at alpha = 2 after 1, ..., 30 epochs, a random position (the log-mean-exp of all)."""
    with ctx.workprec(128):
        noise = [ball(schedule(k)) for k in range(EPOCHS)]
        after = [list(worth(noise, _BATCHES, j, ball(_L) ** 2))[_BATCHES - 1::_BATCHES] for j in range(_BATCHES)]
        by_position = [[2 * _UNIT * sum(found, arb(0)) for found in epochs] for epochs in after]
        return [
            Enclosure.of_ball((sum((m.exp() for m in means), arb(0)) / _BATCHES).log())
            for means in zip(*by_position, strict=True)
        ]


def judge_slopes(says: tuple[int, Mapping[str, tuple[str, str]]], given: Domain) -> Finding:
    """The least and the largest rise of log10 of the contributions from one epoch to the next, from an epoch on."""
    first, ranges = says
    if first < 0:
        raise DomainError("epochs are counted from 0")
    schedules = {"constant": decimal("0.01", "0"), "adaptive": decimal("0.01", "-0.0003")}
    with ctx.workprec(128):
        for name, claimed in ranges.items():
            slopes = [
                (((late / early).log() / arb(10).log()), before, first + place)
                for before in (0, 15, 20)
                for place, (early, late) in enumerate(itertools.pairwise(
                    contributions([schedules[name](k) for k in range(EPOCHS)], before)[first:]))
            ]
            for found, text in zip((min, max), claimed, strict=True):
                slope, before, epoch = found(slopes, key=lambda item: float(item[0].mid()))
                if not rounds_to(Enclosure.of_ball(slope), text):
                    return refuted(
                        "the curve is steeper or flatter there, certified",
                        {"noise": name, "j_0": before, "epoch": epoch, "slope": slope.str(8, radius=False),
                         "claimed": text},
                    )
    return instance(f"certified for j_0 = 0, 15, 20 and the epochs {first} to {EPOCHS - 1}")


def judge_order(smaller: bool, given: Domain) -> Finding:
    """Whether a larger j_0 makes the first epochs' contributions smaller (True) or larger, at L_F = 0.99."""
    with ctx.workprec(128):
        found = [contributions([Fraction(1, 100)] * EPOCHS, j) for j in range(_BATCHES)]
        for k, j in itertools.product(range(3), range(_BATCHES - 1)):
            one, other = found[j][k], found[j + 1][k]
            if not (other < one if smaller else other > one):
                return refuted(
                    "the contribution moves the other way, certified",
                    {"epoch": k, "j_0": f"{j} and {j + 1}",
                     "contributions": f"{one.str(6, radius=False)} and {other.str(6, radius=False)}"},
                )
    return instance("in the epochs 0 to 2, for every j_0 from 0 to 20: fewer steps follow the record")


_SCHEDULES: Mapping[str, Schedule] = {
    "constant": decimal("0.0005", "0"), "decay": decimal("0.001", "-0.00003"), "increase": decimal("0.0001", "0.0003"),
    "decrease, then constant": lambda k: Fraction("0.0005") - Fraction("0.00003") * min(k, 10),
}


def judge_trends(trends: Mapping[str, tuple[int, str]], given: Domain) -> Finding:
    """Whether the loss rises up to K epochs and falls from there to 30, and loss(30)/loss(20) is that, by schedule."""
    for name, (turn, printed) in trends.items():
        if not 1 <= turn <= EPOCHS:
            raise DomainError(f"the loss cannot turn at {turn} epochs of {EPOCHS}")
        values = losses(_SCHEDULES[name])
        for epochs, (now, then) in enumerate(itertools.pairwise(values), 1):
            if not (now if epochs < turn else then).certainly_le(then if epochs < turn else now):
                return refuted(
                    "the loss does otherwise, certified",
                    {"noise": name, "turns at": turn, "epochs": epochs, "loss": now, "with one more": then},
                )
        with ctx.workprec(128):
            ratio = Enclosure.of_ball(values[29].ball / values[19].ball)
        if not rounds_to(ratio, printed):
            return refuted("another ratio, certified", {"noise": name, "ratio": ratio, "claimed": printed})
    told = "; ".join(f"{name}: {printed}" for name, (_, printed) in trends.items())
    return instance(f"the loss after 30 epochs over that after 20, {told}")


_TRENDS = {
    "constant": (30, "1.0021"), "decay": (30, "3.1865"), "increase": (1, "0.6722"),
    "decrease, then constant": (14, "0.9806"),
}
_LINEAR = (
    "The numerical results align with the analysis, as indicated by the near-linear curves observed in the "
    "logarithmic scale graph."
)
_LATER = (
    "we observe that a larger value of j_0 , signifying a delayed occurrence of the mini-batch containing "
    "the unique instance, leads to a smaller privacy loss during the initial stages of training."
)
_TREND = (
    "Empirical findings suggest that privacy loss converges when a constant magnitude of noise is utilized "
    "in the later stages of training. Conversely, the privacy loss diverges if the noise magnitude continues "
    "to decrease in the late phase of training."
)

linear = Claim(
    id="sbcd/fig-1a-linear", source="001, Section 4.3: near-linear curves in the logarithmic graph", quote=_LINEAR,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\log_{10} \text{ contribution is nearly linear in the epoch}",
    words="in the logarithmic graph the curves of the epochs' contributions are nearly straight",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/fig-1a-linear-reading-late", "sbcd/fig-1a-linear-reading-all"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1-rho"),
    expected="AMBIGUOUS PROVED",
)
linear_late = reading(
    linear, "late", source="001, Section 4.3, the later half; L_F = 0.99 and 0.0003 k assumed",
    statement=r"\log_{10} \text{ rises by } 0.1746 \text{ to } 0.1748 \text{ (constant), } 0.1781 \text{ to } 0.2116"
              r" \text{ (adaptive) an epoch},\ k \ge 15",
    words="in the later half the logarithm of an epoch's contribution rises by 0.1746 to 0.1748 an epoch with constant "
          "noise, by 0.1781 to 0.2116 with adaptive noise",
    check=judge_slopes, says=(15, {"constant": ("0.1746", "0.1748"), "adaptive": ("0.1781", "0.2116")}),
    flips=(Flip("twice as steep", (15, {"constant": ("0.34", "0.36")}), Verdict.REFUTED),), expected="HOLDS PROVED",
)
linear_all = reading(
    linear, "all", source="001, Section 4.3, all 30 epochs; L_F = 0.99 assumed",
    statement=r"\log_{10} \text{ rises by } 0.17 \text{ to } 0.22 \text{ an epoch},\ k \ge 0",
    words="over all 30 epochs the logarithm of an epoch's contribution rises by 0.17 to 0.22 an epoch",
    check=judge_slopes, says=(0, {"constant": ("0.17", "0.22"), "adaptive": ("0.18", "0.22")}),
    flips=(Flip("with the steep beginning", (0, {"constant": ("0.1746", "1.4127")}), Verdict.HOLDS),),
    repaired_by="sbcd/fig-1a-linear-reading-late", expected="REFUTED PROVED",
)
order = Claim(
    id="sbcd/fig-1a-j0-claim",
    source="001, Section 4.3: a larger j_0 leads to a smaller privacy loss in the initial stages", quote=_LATER,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"j_0 < j_0' \implies \text{less loss at } j_0' \text{ in the initial stages}",
    words="a record in a later batch loses less in the initial stages of training",
    hypotheses=(), says=None, check=None, readings=("sbcd/fig-1a-j0-claim-reading-epochs", "sbcd/fig-1a-j0-iterations"),
    uses=("sbcd/thm-4.6-eq-11",),
    expected="AMBIGUOUS PROVED",
)
order_epochs = reading(
    order, "epochs", source="001, Section 4.3, the stages being epochs (the axis of Figure 1(a))",
    statement=r"j_0 < j_0' \implies \text{contribution}_k(j_0') < \text{contribution}_k(j_0),\ k = 0, 1, 2",
    words="a record in a later batch contributes less in the first epochs", says=True, check=judge_order,
    flips=(Flip("more", False, Verdict.HOLDS),), expected="REFUTED PROVED",
)
order_repaired = Claim(
    id="sbcd/fig-1a-j0-claim-repaired",
    source="001, Section 4.3, the other way round, at Figure 1's setting with L_F = 0.99 and o = 0.01",
    severity=Stake.UTILITY,
    statement=r"j_0 < j_0' \implies \text{contribution}_k(j_0) < \text{contribution}_k(j_0'),\ k = 0, 1, 2"
              r"\quad (L_F = 0.99,\ o = 0.01)",
    words="at Figure 1's setting a record in a later batch contributes more in each of the first three epochs",
    hypotheses=(), says=False, check=judge_order, flips=(Flip("less", True, Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
trends = Claim(
    id="sbcd/fig-1b-claims", source="001, Section 4.3, on Figure 1(b)", quote=_TREND,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\text{constant noise late: the loss converges; noise that continues to decrease: it diverges}",
    words="late constant noise makes the loss converge, and noise that continues to decrease makes it diverge",
    hypotheses=(), says=None, check=None,
    readings=("sbcd/fig-1b-claims-reading-trends", "sbcd/decrease-diverges-reading-every-noise"),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/fig-1b-decay"),
    expected="AMBIGUOUS PROVED",
)
trends_30 = reading(
    trends, "trends",
    source="001, Section 4.3, the figure's 30 epochs (L_F = 0.99, alpha = 2, S_g = 1 assumed, decay repaired)",
    statement=r"\varepsilon_{30}/\varepsilon_{20} = 1.0021 \text{ (constant)},\ 3.1865 \text{ (decay)},\ 0.6722 \text{"
              r" (increase)},\ 0.9806 \text{ (decrease, then constant)}",
    words="within 30 epochs constant noise makes the loss settle to 0.21 % from below, late constant noise to 2 % from "
          "above, decaying noise makes it rise in every epoch, growing noise fall in every epoch",
    says=_TRENDS, check=judge_trends,
    flips=(Flip("increasing noise makes it rise", {"increase": (30, "0.6722")}, Verdict.REFUTED),),
    uses=("sbcd/fig-1b-decay",), rests_on=("sbcd/fig-1b-decay-repaired",), expected="HOLDS PROVED",
)
