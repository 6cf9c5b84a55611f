r"""The privacy losses of Table 1 of document 001: no L_F, L_T and S_g give them, layer by layer or together.

With constant noise the accounting never loses less for more epochs (constant-noise-grows), whatever the power of its
factors, and the printed column falls from 10 to 20 epochs. That could be a misprint of one entry; the others do not fit
either. By the repaired recursion R/alpha of a block depends on L_F and L_T through q = (L_F L_T)^2 only. For one
position j of the record write C_K and D_K for the losses after K epochs of the two strategies, x for the largest
C_20/C_50 and y for the least D_50/C_50 over the positions. All losses grow with q, which turns values at the ends of an
interval into bounds on it, and C_20 <= C_50.

A random position is mixed by f(a) = log(mean exp((alpha-1) a))/(alpha-1), which is monotone, convex and 0 at 0, so
f(t a) <= t f(a) for t <= 1 and >= for t >= 1. So for every layer eps(C_20) <= x eps(C_50), and eps(D_50) >= y eps(C_50)
if y >= 1. It is shown in balls that for every q > 0

    y >= 1 and y + A (1 - x) >= B,   or   A (1 - x) >= B,      A = 12, B = 21/20,

and then eps(D_50) >= B eps(C_50) - A (eps(C_50) - eps(C_20)) for each layer, hence for their sum, whatever their q and
S_g (the same for both strategies and all K) and however many they are. The printed values violate it. (As printed, (11)
is infinite at j_0 = 0.) For q >= 51/50: C_20 is at most 20 touches, and C_50 at least what it is there. For q <= 1/100
all losses of position j are divided by q^{4 - j}, which cancels in x and y, and q is one ball.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction

from flint import arb, ctx

from oracle.core.domain import positive
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import bound
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.sbcd.experiments.experiments import CONSTANT, DECREASE, EPOCHS, Schedule, judge_column, losses
from theorems.tools.printed import rounding_interval, rounds_to
from theorems.verdict import Finding, Verdict, argued, computed, instance, proof, refuted, undecided

_LEAST, _MOST = Fraction(1, 100), Fraction(51, 50)
_PIECES = 2000
_SENSITIVITY = Fraction("16.2067")
Table = tuple[tuple[str, ...], tuple[str, ...]]
Line = tuple[Fraction | int, Fraction]
"""The numbers A and B of the module docstring."""
_LINE: Line = (12, Fraction(21, 20))


def decreasing(k: int) -> Fraction:
    """Strategy D for K = 50, 0.0075 + 0.0008 (K - k)."""
    return Fraction("0.0075") + Fraction("0.0008") * (50 - k)


def decreasing_to_the_end(k: int) -> Fraction:
    """Strategy D for K = 50 with 0.0075 in the last epoch that is run."""
    return Fraction("0.0075") + Fraction("0.0008") * (49 - k)


def constant(k: int) -> Fraction:
    """Strategy C."""
    return Fraction(1, 100)


@functools.cache
def at_the_end(q: Fraction, noise: Schedule, epochs: int) -> list[arb]:
    """The losses at an end of an interval."""
    return losses(ball(q), noise, epochs)


def alternative(line: Line, gains: list[arb], ratios: list[arb]) -> bool:
    """Whether lower bounds of 1 - x and y, by position, give the alternative of the module docstring."""
    slope, share = ball(Fraction(line[0])), ball(line[1])
    least = [arb.max(gain, arb(0)) for gain in gains]  # C_20 <= C_50
    return all(slope * gain >= share for gain in least) or all(
        ratio >= 1 and all(ratio + slope * gain >= share for gain in least) for ratio in ratios
    )


def shown(line: Line, noise: Schedule) -> tuple[bool, bool, bool]:
    """Whether the alternative holds for small q in one ball, on intervals up to 51/50 cut in two, and beyond."""
    with ctx.workprec(80):
        middle = ball(_LEAST / 2)
        small = arb(middle.mid(), middle.mid())
        early, late, other = (
            losses(small, which, epochs, divided=True)
            for which, epochs in ((constant, 20), (constant, 50), (noise, 50))
        )
        near = alternative(line, [1 - a / b for a, b in zip(early, late, strict=True)],
                           [a / b for a, b in zip(other, late, strict=True)])
        stack, spent = [(_LEAST, _MOST)], 0
        while stack and spent < _PIECES:
            spent += 1
            low, high = stack.pop()
            early, late = at_the_end(high, constant, 20), at_the_end(low, constant, 50)
            other, most = at_the_end(low, noise, 50), at_the_end(high, constant, 50)
            if not alternative(line, [1 - a / b for a, b in zip(early, late, strict=True)],
                               [a / b for a, b in zip(other, most, strict=True)]):
                cut = Fraction(round(2**20 * (low + high) / 2), 2**20)
                stack += [(low, cut), (cut, high)]
        touches = 20 / ball(constant(0))
        beyond = alternative(line, [1 - touches / late for late in at_the_end(_MOST, constant, 50)], [arb(0)])
    return near, not stack, beyond


def judge_line(line: Line, given: Domain) -> Finding:
    """Whether D_50 >= B C_50 - A (C_50 - C_20) for all q, S_g and layers."""
    for q in given.values("product"):
        with ctx.workprec(80):
            early, late = (losses(ball(q), constant, epochs) for epochs in (20, 50))
            for noise in (decreasing, decreasing_to_the_end):
                for j, loss in enumerate(losses(ball(q), noise, 50)):
                    if loss < ball(line[1]) * late[j] - ball(Fraction(line[0])) * (late[j] - early[j]):
                        return refuted("D loses less there, certified", {"q": q, "j_0": j, "A": line[0], "B": line[1]})
    found = [shown(line, noise) for noise in (decreasing, decreasing_to_the_end)]
    return proof(
        computed("for q <= 1/100 the alternative holds, in one ball", all(near for near, _, _ in found)),
        computed("for q from 1/100 to 51/50 on intervals, by values at their ends", all(it for _, it, _ in found)),
        computed("for q >= 51/50 C_20 is at most 20 touches, C_50 at least that at 51/50", all(it for *_, it in found)),
        argued("f(t a) <= t f(a) for t <= 1 and >= for t >= 1, f being convex and 0 at 0: so for a random position"),
        argued("the inequality is linear, so it holds for the sum over layers"),
    )


def needed(steady: tuple[str, str]) -> Fraction:
    """The least D_50 for printed C_20 and C_50: C_20 down by half a digit, C_50 whichever way is weaker."""
    early, _ = rounding_interval(steady[0])
    return min(_LINE[1] * end - _LINE[0] * (end - early) for end in rounding_interval(steady[1]))


def judge_rows(rows: tuple[str, str, str], given: Domain) -> Finding:
    """Whether the printed D_50, C_20 and C_50 violate the inequality, whatever the digits leave open."""
    least = needed(rows[1:])
    if rounding_interval(rows[0])[1] >= least:
        return refuted("the inequality holds", {"D_50": rows[0], "at least": f"{float(least):.6f}"})
    return instance(f"D_50 = {rows[0]} would have to be {float(least):.6f} at least")


def filled(strategy: Callable[[int, int], Fraction], epochs: int) -> tuple[Fraction, ...]:
    """The noise of a strategy."""
    return tuple(strategy(k, epochs) for k in range(epochs))


def by_theorem(noise: tuple[Fraction, ...], sensitivity: Fraction, gradient: Fraction) -> Enclosure:
    """The loss of one block by the repaired Theorem 4.6 at what Section 5 prints: alpha, b, eta, n/b; L_T = 1."""
    return bound("sbcd-mixed.rdp").at({
        "alpha": 100, "sensitivity": sensitivity, "batch_size": 960, "learning_rate": Fraction(1, 100),
        "noise_variances": noise, "batches": 5, "lipschitz_gradient": gradient, "lipschitz_prox": 1,
    })


def judge_unprinted(rows: Mapping[tuple[str, str], str], given: Domain) -> Finding:
    """Whether C_50 is that by S_g and L_F, different for all: then what Section 5 prints does not determine it."""
    for (sensitivity, gradient), printed in rows.items():
        value = by_theorem((Fraction(1, 100),) * 50, Fraction(sensitivity), Fraction(gradient))
        if not rounds_to(value, printed):
            return refuted("another loss, certified", {"S_g": sensitivity, "L_F": gradient, "C_50": value})
    if len(set(rows.values())) < len(rows):
        return refuted("two of them agree", {"C_50": ", ".join(rows.values())})
    return instance("; ".join(f"S_g = {s}, L_F = {f}: {value}" for (s, f), value in rows.items()))


def judge_table(table: Table, given: Domain) -> Finding:
    """Whether the losses can come from Theorem 4.6: nothing forbids them, and L_F = 0.98, S_g = 16.2067 does."""
    falling = judge_column(table[1], given)
    if falling.verdict is Verdict.REFUTED:
        return falling
    if judge_rows((table[0][-1], table[1][1], table[1][-1]), given).verdict is Verdict.HOLDS:
        return refuted("constant noise has hardly any loss to gain after 20 epochs, so old epochs are forgotten, and "
                       "the smaller noise of D's last epochs must cost more (table-1-inequality)",
                       {"D_50": table[0][-1], "C_20": table[1][1], "C_50": table[1][-1]})
    strategies = (lambda k, K: Fraction("0.0075") + Fraction("0.0008") * (K - k), lambda k, K: Fraction(1, 100))
    for column, strategy in zip(table, strategies, strict=True):
        for epochs, printed in zip(EPOCHS, column, strict=True):
            value = by_theorem(filled(strategy, epochs), _SENSITIVITY, Fraction(98, 100))
            if not rounds_to(value, printed):
                return undecided(f"not that of L_F = 0.98, S_g = 16.2067: {value} at K = {epochs}", 1)
    if not all(Fraction(one) > Fraction(other) for one, other in zip(*table, strict=True)):
        return refuted("D does not lose more than C at every K", {"D": table[0], "C": table[1]})
    return instance("the repaired Theorem 4.6 at L_F = 0.98, L_T = 1, S_g = 16.2067, b = 960, eta = 0.01, certified; D "
                    "loses more than C at every K")


_FIT: Table = (
    ("0.031859", "0.042882", "0.046160", "0.046991", "0.047180"),
    ("0.028784", "0.040020", "0.043352", "0.044183", "0.044371"),
)
_UNEVEN: Table = (DECREASE, ("0.040000", *CONSTANT[1:]))

line = Claim(
    id="sbcd/table-1-inequality", source="001, Table 1 against Theorem 4.6, its indices and power set right (finding)",
    severity=Stake.UTILITY,
    statement=r"\varepsilon_D(50) \ge \tfrac{21}{20}\varepsilon_C(50) - 12\,(\varepsilon_C(50) - \varepsilon_C(20))",
    words="with the schedules of Table 1 the accounting gives D_50 >= 1.05 C_50 - 12 (C_50 - C_20), for any layers",
    hypotheses=(positive("product", "q, the square of L_F L_T"),), says=_LINE, check=judge_line,
    flips=(Flip("B = 2", (12, Fraction(2)), Verdict.REFUTED),),
    rests_on=("sbcd/noise-vs-smoothness-repaired",),
    true_variants={"*1 %*": "the numbers leave room", "[[]0[]] one more": "a larger A is a weaker inequality",
                   "[[]1[]] sign": "a smaller B is a weaker inequality"},
    expected="HOLDS ARGUED",
)
unprinted = Claim(
    id="sbcd/table-1-underspecified", source="001, Section 5: S_g, L_F and L_T of the layers are not printed (finding)",
    quote=r"In addition, we set the layerwise Lipschitz constant $\rho = 3$ and the step size $\eta = 0.01$.",
    severity=Stake.UTILITY,
    statement=r"\varepsilon_C(50) = 0.044371, 0.180877, 0.198184 \text{ for } (S_g, L_F) = (16.2067, 0.98),"
              r"\ (32.4134, 0.98),\ (16.2067, 1)",
    words="what Section 5 prints does not determine Table 1: S_g and L_F, which are not printed, change its losses",
    hypotheses=(), check=judge_unprinted,
    says={("16.2067", "0.98"): "0.044371", ("32.4134", "0.98"): "0.180877", ("16.2067", "1"): "0.198184"},
    flips=(Flip("the same for twice S_g", {("16.2067", "0.98"): "0.044371", ("32.4134", "0.98"): "0.044371"},
                Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
rows = Claim(
    id="sbcd/table-1-last-rows", source="001, Table 1, K = 20 and 50 (finding)", severity=Stake.UTILITY,
    statement=r"0.040708 < \tfrac{21}{20} \cdot 0.040716 - 12\,(0.040716 - 0.040652)",
    words="the printed losses after 20 and 50 epochs violate what the repaired accounting gives for any L_F, L_T, S_g",
    hypotheses=(), says=(DECREASE[-1], CONSTANT[1], CONSTANT[-1]), check=judge_rows,
    flips=(Flip("those of L_F = 0.98", (_FIT[0][-1], _FIT[1][1], _FIT[1][-1]), Verdict.REFUTED),),
    rests_on=("sbcd/table-1-inequality",), true_variants={"*a digit*": "it is violated by more than a digit"},
    expected="HOLDS ARGUED",
)
privacy = Claim(
    id="sbcd/table-1-privacy", source="001, Table 1, the privacy losses (alpha = 100, n/b = 5)",
    quote=(
        r"To guarantee privacy, we applied Theorem 4.6 and employed the privacy loss calculation with $\alpha = "
        "100$."
    ),
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"\varepsilon_K(100) \text{ of Theorem 4.6 for both strategies, } K = 10, \dots, 50",
    words="the privacy losses of Table 1 are those of Theorem 4.6 for some layers' L_F, L_T and S_g",
    hypotheses=(), says=(DECREASE, CONSTANT), check=judge_table,
    flips=(
        Flip("with the D of L_F = 0.98", (_FIT[0], CONSTANT), Verdict.REFUTED),
        Flip("with a smaller C_10", _UNEVEN, Verdict.REFUTED),
    ),
    uses=("sbcd/thm-4.6-eq-11", "sbcd/thm-4.6-mix", "sbcd/fixed-blocks", "sbcd/decrease-schedule"),
    rests_on=("sbcd/constant-noise-grows",),
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\varepsilon_K(100),\ K = 10, \dots, 50, \text{ for } L_F = 0.98,\ L_T = 1,\ S_g = 16.2067;\quad"
                  r" \varepsilon_D(K) > \varepsilon_C(K)",
        words="for one block with L_F = 0.98 Theorem 4.6, repaired, gives a table in which D loses more than C",
        says=_FIT,
        expected="HOLDS ARGUED",
        source="001, Table 1 as the repaired Theorem 4.6 would fill it for one block, L_F = 0.98, C_50 = 0.044371",
        rests_on=("sbcd/thm-4.6-repaired", "sbcd/thm-4.6-mix"),
    ),
)
