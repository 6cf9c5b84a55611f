"""Figure 1 of document 001: are its schedules variances, do its positions exist, and whose is its rho?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from oracle.core.domain import positive
from theorems.claim import Claim, Flip, Repair, Stake, Whose
from theorems.given import Domain
from theorems.tools.readings import reading
from theorems.verdict import Finding, Verdict, computed, instance, proof, refuted

EPOCHS = 30
Schedule = Callable[[int], Fraction]


def decimal(start: str, slope: str) -> Schedule:
    """The schedule start + slope k, exactly."""
    return lambda k: Fraction(start) + Fraction(slope) * k


Piece = tuple[int, str, str, str]
"""Part of a schedule, start + slope k up to an epoch: that epoch, start, slope, and what it is there."""


def judge_schedule(pieces: tuple[Piece, ...], given: Domain) -> Finding:
    """Whether the noise is positive in the epochs 0 to 30 (counted from 0 or from 1), with these values at the joints.

    A piece begins where the one before ends, with the same value there.
    """
    begin, before = 0, None
    for end, start, slope, there in pieces:
        noise = decimal(start, slope)
        for k in range(begin, end + 1):
            if noise(k) <= 0:
                return refuted("the variance is not positive, exactly", {"epoch": k, "o": noise(k)})
        if noise(end) != Fraction(there) or before not in (None, noise(begin)):
            return refuted("another value at a joint", {"epoch": end, "o": noise(end), "claimed": there})
        begin, before = end, noise(end)
    if begin != EPOCHS:
        return refuted("it does not last for 30 epochs", {"epoch": begin})
    return instance(f"positive in all epochs from 0 to {EPOCHS}, {pieces[0][1]} at first, {pieces[-1][3]} at last")


def judge_positions(positions: tuple[int, ...], given: Domain) -> Finding:
    """Whether the j_0 are positions of a batch: 0 to n/b - 1."""
    for j in positions:
        if not 0 <= j < 2100 // 100:
            return refuted("there is no such batch", {"j_0": j, "n": 2100, "b": 100, "batches": 2100 // 100})
    return instance("all below n/b = 21")


def judge_rho(constant: Callable[[Any, Any, Any], Any], given: Domain) -> Finding:
    """Whether L_F of a block with one input, |x|^2 = X, is constant(eta, gamma, X): rho does not enter."""
    def apart(eta: Any, gamma: Any, square: Any) -> Any:
        """How far a step on gamma (U - theta x)^2/2 takes theta = 1 and 0 apart: it is linear in theta."""
        theta, goal, x = sympy.symbols("theta U x", real=True)
        step = theta - eta * sympy.diff(gamma * (goal - theta * x) ** 2 / 2, theta)
        moved = sympy.expand(step.subs(theta, 1) - step.subs(theta, 0)).subs(x**2, square)
        slope = sympy.expand(sympy.diff(step, theta)).subs(x**2, square)
        return abs(moved) if sympy.expand(moved - slope) == 0 else sympy.nan

    tried = 0
    for at in given.points("eta", "gamma", "square", at_most=60):
        point = [sympy.Rational(v.numerator, v.denominator) for v in (at["eta"], at["gamma"], at["square"])]
        tried += 1
        true, claimed = apart(*point), constant(*point)
        if claimed != true:
            return refuted(
                "the step's Lipschitz constant is another",
                {"inputs": 1, "|x|^2": point[2], "gamma": point[1], "eta": point[0], "rho": "0.99", "L_F": true,
                 "claimed": claimed},
            )
    symbols = [given.symbol(name) for name in ("eta", "gamma", "square")]
    return proof(computed(
        "a step on gamma (U - theta x)^2/2 multiplies distances by |1 - eta gamma x^2|, whatever the weights' norm",
        sympy.simplify(constant(*symbols) - apart(*symbols)) == 0,
    ), tried=tried)


def judge_unit_input(says: tuple[str, str, str, str], given: Domain) -> Finding:
    """Whether |1 - eta gamma |x|^2| is that decimal."""
    eta, gamma, square, constant = (Fraction(text) for text in says)
    if abs(1 - eta * gamma * square) != constant:
        return refuted("another constant", {"L_F": abs(1 - eta * gamma * square), "claimed": constant})
    return instance(f"|1 - {says[0]}| = {says[3]}")


_STEP = (positive("eta"), positive("gamma"), positive("square", "the square of the input's norm"))
_RHO = r"Common hyper-parameter settings: Lipschitz constant $\rho = 0.99$, batch size $b = 100$"
noise_a = Claim(
    id="sbcd/fig-1a-noise", source="001, Figure 1(a): o = 0.01 - 0.003 k over 30 epochs",
    quote=r"while in the adaptive noise scenario, the $o(\eta, k, j) = 0.01 - 0.003k$.",
    whose=Whose.TYPO,
    severity=Stake.UTILITY,
    statement=r"o_k = 0.01 - 0.003k > 0,\quad 0 \le k \le 30", words="the adaptive noise of Figure 1(a) is a variance",
    hypotheses=(), says=((30, "0.01", "-0.003", "-0.08"),), check=judge_schedule,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o_k = 0.01 - 0.0003k > 0,\quad 0 \le k \le 30",
        words="the noise 0.01 - 0.0003 k, the largest slope of one digit that stays positive, is a variance",
        says=((30, "0.01", "-0.0003", "0.001"),),
        expected="HOLDS PROVED",
        source="001, Figure 1(a) with 0.0003 k, a guess at what was meant",
        flips=(Flip("0.0004 k", ((30, "0.01", "-0.0004", "-0.002"),), Verdict.REFUTED),),
    ),
)
noise_b = Claim(
    id="sbcd/fig-1b-decay", source="001, Figure 1(b): noise decay, o = 0.001 - 0.0003 k",
    quote=r"noise decay means $o(\eta, k, j) = 0.001 - 0.0003k$",
    whose=Whose.TYPO,
    severity=Stake.UTILITY,
    statement=r"o_k = 0.001 - 0.0003k > 0,\quad 0 \le k \le 30",
    words="the decaying noise of Figure 1(b) is a variance",
    hypotheses=(), says=((30, "0.001", "-0.0003", "-0.008"),), check=judge_schedule,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"o_k = 0.001 - 0.00003k > 0,\quad 0 \le k \le 30",
        words="the noise 0.001 - 0.00003 k, the largest slope of one digit that stays positive, is a variance",
        says=((30, "0.001", "-0.00003", "0.0001"),),
        expected="HOLDS PROVED",
        source="001, Figure 1(b) with 0.00003 k, a guess at what was meant",
        flips=(Flip("0.00004 k", ((30, "0.001", "-0.00004", "-0.0002"),), Verdict.REFUTED),),
    ),
)
noise_c = Claim(
    id="sbcd/fig-1b-deccon", source="001, Figure 1(b): 0.0005 - 0.00003 k up to k = 10, then 0.0002",
    quote=(
        r"noise decrease-constant means that $o(\eta, k, j) = 0.0005 - 0.00003k$ where $k \in [1, 10]$ and "
        r"remain $o(\eta, k, j) = 0.0002$ where $k \in [10, 30]$."
    ),
    whose=Whose.PRINTED,
    statement=r"o_k = 0.0005 - 0.00003k,\ k \le 10,\quad o_k = 0.0002,\ k \ge 10, \text{ agree at } 10 \text{ and are}"
              r" > 0",
    words="the decrease-constant noise of Figure 1(b) is a variance, and its two parts agree at k = 10",
    hypotheses=(), says=((10, "0.0005", "-0.00003", "0.0002"), (30, "0.0002", "0", "0.0002")), check=judge_schedule,
    flips=(Flip("0.00005 k", ((10, "0.0005", "-0.00005", "0"), (30, "0.0002", "0", "0.0002")), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
noise_d = Claim(
    id="sbcd/fig-1b-increase", source="001, Figure 1(b): noise increase, o = 0.0001 + 0.0003 k",
    quote=r"noise increase means $o(\eta, k, j) = 0.0001 + 0.0003k$",
    whose=Whose.PRINTED,
    statement=r"o_k = 0.0001 + 0.0003k > 0,\ o_{30} = 0.0091",
    words="the increasing noise of Figure 1(b) is a variance, 0.0091 at last",
    hypotheses=(), says=((30, "0.0001", "0.0003", "0.0091"),), check=judge_schedule,
    flips=(Flip("from -0.0001 on", ((30, "-0.0001", "0.0003", "0.0089"),), Verdict.REFUTED),),
    expected="HOLDS PROVED",
)
positions = Claim(
    id="sbcd/fig-1-j0", source="001, Figure 1: j_0 = 0, 15, 30 with n = 2100 and b = 100",
    quote="Each scenario contains three situations ($j_0 = 0, 15, 30$).",
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"j_0 \in \{0, 15, 30\} \subset \{0, \dots, n/b - 1\}", words="the figure's positions j_0 exist",
    hypotheses=(), says=(0, 15, 30), check=judge_positions,
    expected="REFUTED PROVED",
    repair=Repair(
        statement=r"\{0, 15, 20\} \subset \{0, \dots, 20\}",
        words="the positions 0, 15 and 20 exist",
        says=(0, 15, 20),
        expected="HOLDS PROVED",
        source="001, Figure 1, the positions that exist",
        flips=(Flip("21", (0, 21), Verdict.REFUTED),),
        true_variants={"* one more": "the positions 1 and 16 exist, too"},
    ),
)
rho = Claim(
    id="sbcd/fig-1-rho", source="001, Figure 1: Lipschitz constant rho = 0.99, while L_F is not printed", quote=_RHO,
    whose=Whose.PRINTED,
    severity=Stake.UTILITY,
    statement=r"L_F = 0.99", words="the curves of Figure 1 belong to L_F = 0.99, the figure's only Lipschitz constant",
    hypotheses=_STEP, says=None, check=None,
    readings=("sbcd/fig-1-rho-reading-weights", "sbcd/fig-1-rho-reading-unit-input"),
    uses=("sbcd/lem-4.1",),
    expected="AMBIGUOUS PROVED",
)
rho_weights = reading(
    rho, "weights", source="001, Figure 1 with (2): the weights' bound as L_F",
    statement=r"L_F = \rho \text{ for every block with } \|\theta\| \le \rho = 0.99",
    words="the bound rho on the weights' norm is the Lipschitz constant L_F of a gradient step",
    says=lambda eta, gamma, square: sympy.Rational(99, 100), check=judge_rho,
    flips=(Flip("by Lemma 4.1", lambda eta, gamma, square: abs(1 - eta * gamma * square), Verdict.HOLDS),),
    expected="REFUTED PROVED",
)
rho_unit = reading(
    rho, "unit-input", source="001, Figure 1 with Lemma 4.1: eta = 0.01 and an input of norm 1",
    statement=r"L_F = |1 - \eta\gamma x^2| = 0.99 \quad (\eta = 0.01,\ \gamma = 1,\ |x| = 1)",
    words="0.99 is the L_F of one input of norm 1 at the figure's step size 0.01, with gamma = 1", hypotheses=(),
    says=("0.01", "1", "1", "0.99"), check=judge_unit_input,
    flips=(Flip("an input of norm 2", ("0.01", "1", "4", "0.99"), Verdict.REFUTED),),
    rests_on=("sbcd/fig-1-rho-repaired",), expected="HOLDS PROVED",
)
rho_repaired = Claim(
    id="sbcd/fig-1-rho-repaired", source="001, Figure 1, with Lemma 4.1",
    severity=Stake.UTILITY,
    statement=r"L_F = |1 - \eta\gamma x^2| \text{ for a single input}",
    words="with a single input L_F is |1 - eta gamma x^2|, whatever rho",
    hypotheses=_STEP, says=lambda eta, gamma, square: abs(1 - eta * gamma * square), check=judge_rho,
    flips=(Flip("gamma forgotten", lambda eta, gamma, square: abs(1 - eta * square), Verdict.REFUTED),),
    true_variants={"any eta": "true of every step size", "any gamma": "true of every gamma",
                   "any square": "an identity in the square, of whichever sign"},
    expected="HOLDS PROVED",
)
