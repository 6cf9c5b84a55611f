r"""The optimal-shift programme: Gaussian DP of the last iterate of a noisy iteration with any schedule.

Setting: X_i = Proj(phi_i(X_{i-1}) + N(0, tau_i^2 I)), i = 1..T, from one start. phi_i is c_i-Lipschitz, and on the
neighbouring data it differs by at most s_i in norm (0 at a step that does not touch the differing record); Proj is any
1-Lipschitz map, the identity included. If shifts a_i >= 0 satisfy

    z_i = c_i z_{i-1} + s_i - a_i >= 0,   z_0 = 0,   z_T = 0,      then   mu^2 = sum_i (a_i / tau_i)^2

(shifted interpolation, Bok, Su and Altschuler 2024; the claim background/shifted-interpolation; its text was not at
hand): a process follows X' at a distance z_i of X, and step i pays for a_i of that distance with its noise. If the
iterates before the last step stay in a set of diameter D, the process may also begin at any step j < T with z_j = D,
whatever happened before. `shifted.mu` is the least cost over all shifts and all these starts. At D = 0 it is s_T/tau_T:
the last step is always paid for, since a_T >= s_T. (The released iterate itself need not be projected.)

**Solution** (derived here). Let P_i = c_{i+1} ... c_T. Times P_i, the constraint says that the payments
A_i = sum_{j<=i} P_j a_j stay at or below the drifts S_i = sum_{j<=i} P_j s_j and meet them at T; the cost is
sum (dA_i)^2 / (P_i tau_i)^2. With w_i = sum_{j<=i} (P_j tau_j)^2 as abscissa the optimum is the taut string: the
greatest convex minorant of the points (w_i, S_i). (It is feasible; and for any feasible A the cost is at least
sum over its edges of (rise)^2/(run), by Cauchy-Schwarz on each edge and since the slopes increase while A <= S at the
vertices and A = S at T.) A step with P_i = 0 costs nothing. A start at z_j = D is the programme of the steps after j
with c_{j+1} D added to the first drift.

**Arithmetic.** A run of steps is a block (B, V, R): B = sum P_i s_i, V = sum (P_i tau_i)^2 with P_i the product of the
later c within the block, R the product of all its c. Joined blocks are (R'B + B', R'^2 V + V', R R'), the slope of the
left one is below that of the right one where B/V < R' B'/V', and an edge of the minorant costs B^2/V. Sums of positive
terms throughout: nothing cancels, nothing depends on the size of P, c_i = 0 and c_i > 1 need no case of their own.

**Certificate.** Joining two neighbouring edges drops a vertex. A chain with certainly increasing slopes through some
of the points is the optimum of a relaxation: its cost is a lower bound. A chain that comes from (w_i, S_i) by dropping
only vertices that certainly lie on or above the new edge stays below S: it is feasible, and its cost an upper bound.
So undecided comparisons join for the lower bound and do not join for the upper one; a tie costs a ball's radius.

**Tightness.** The single edge from 0 to T, `linear-gaussian.mu`, is the exact mu of X_i = c_i X_{i-1} + s_i b + noise,
b = 0 or 1: no valid bound is below it. The two agree where the minorant has one edge (constant c <= 1, s and tau). In
general smaller multipliers than c_i, at the first step of each edge but the first, attain the optimum exactly: without
a diameter, `shifted.mu` is the least bound that holds for all c_i-Lipschitz maps (`adversaries` has them).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from oracle.bounds.hidden_state import shift_programme_arrays as arrays
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.attainment import bracketed, truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form

Block = tuple[arb, arb, arb]


def joined(left: Block, right: Block) -> Block:
    """Two runs of steps as one."""
    memory = right[2]
    return memory * left[0] + right[0], memory * memory * left[1] + right[1], left[2] * memory


def cost(block: Block) -> arb:
    """What one edge of the minorant costs."""
    return block[0] * block[0] / block[1]


def _certainly_steeper(right: Block, left: Block) -> bool:
    return bool(left[0] * right[1] < right[2] * right[0] * left[1])


def _certainly_not_steeper(right: Block, left: Block) -> bool:
    return bool(left[0] * right[1] >= right[2] * right[0] * left[1])


class _Suffixes:
    """The minorants of all suffixes of a schedule, built from the right; each step points to the end of its edge.

    Every `skips` pointer runs over several edges (Myers 1983: a pointer of twice the length wherever two equal ones
    meet), so that a tangent from anywhere is found in O(log T) comparisons.
    """

    def __init__(self, steps: list[Block]) -> None:
        self.end = count = len(steps)
        zero = arb(0)
        self.costs = [zero] * (count + 1)  # lower bounds, in balls
        self._edges, self._nexts, self._depths = list(steps), [count] * (count + 1), [0] * (count + 1)
        self._leaps, self._skips = list(steps), [count] * (count + 1)

    def add(self, i: int, step: Block) -> None:
        """Put step i before the suffix that begins at i + 1."""
        edge, after = self.tangent(step, i + 1)
        self._edges[i], self._nexts[i] = edge, after
        self.costs[i] = cost(edge) + self.costs[after]
        self._depths[i] = self._depths[after] + 1
        self._leaps[i], self._skips[i] = edge, after
        if after < self.end:
            middle = self._skips[after]
            far = self._skips[middle]
            if self._depths[after] - self._depths[middle] == self._depths[middle] - self._depths[far]:
                self._leaps[i] = joined(joined(edge, self._leaps[after]), self._leaps[middle])
                self._skips[i] = far

    def tangent(self, first: Block, at: int) -> tuple[Block, int]:
        """The edge that begins with a block in front of step `at`, and where it ends; what follows is steeper."""
        while at < self.end and not _certainly_steeper(self._edges[at], first):
            skip, further = self._skips[at], joined(first, self._leaps[at])
            if skip < self.end and not _certainly_steeper(self._edges[skip], further):
                first, at = further, skip
            else:
                first, at = joined(first, self._edges[at]), self._nexts[at]
        return first, at


def _reset(step: Block, diameter: Fraction) -> Block:
    """A step that begins at the distance of the diameter."""
    return step[0] + step[2] * ball(diameter), step[1], step[2]


def _least_cost(steps: list[Block], diameter: Fraction | float) -> tuple[arb, int | None]:
    """A ball whose truth is a lower bound of the least cost, and the start that seems best (None: the common one)."""
    suffixes = _Suffixes(steps)
    best: arb | None = None
    start: int | None = None
    for i in reversed(range(len(steps))):
        suffixes.add(i, steps[i])
        if isinstance(diameter, Fraction):
            if best is not None and best < suffixes.costs[i]:
                return best, start  # an earlier start costs at least what this suffix costs by itself
            edge, after = suffixes.tangent(_reset(steps[i], diameter), i + 1)
            total = cost(edge) + suffixes.costs[after]
            if best is None or total.mid() < best.mid():
                start = i
            best = total if best is None else best.min(total)
    whole = suffixes.costs[0]
    if best is None or whole.mid() <= best.mid():
        start = None
    return whole if best is None else best.min(whole), start


def _feasible_cost(steps: Iterable[Block]) -> arb:
    """The cost of a feasible chain, next to the least one: edges are joined only where that is certainly right."""
    chain: list[Block] = []
    for step in steps:
        last = step
        while chain and _certainly_not_steeper(last, chain[-1]):
            last = joined(chain.pop(), last)
        chain.append(last)
    return sum((cost(edge) for edge in chain), arb(0))


def _steps(values: Values) -> list[Block]:
    return [
        (ball(drift), ball(noise) ** 2, ball(contraction))
        for drift, noise, contraction in zip(values.drift, values.iterate_noise, values.contractions, strict=True)
    ]


def optimum(steps: list[Block], diameter: Fraction | float = math.inf) -> arb:
    """A ball around the least cost over all shifts and starts."""
    lower, start = _least_cost(steps, diameter)
    if start is not None:
        assert isinstance(diameter, Fraction)
        steps = [_reset(steps[start], diameter), *steps[start + 1 :]]
    return lower.union(_feasible_cost(steps))


def _chord(values: Values) -> arb:
    steps = _steps(values)
    return cost(functools.reduce(joined, steps)).sqrt() if steps else arb(0)


def _reached(values: Values) -> arb:
    """What linear maps reach: the optimum without a diameter; with one, what a last map that forgets all else costs."""
    steps = _steps(values)
    if values.diameter == math.inf or not steps:
        return optimum(steps).sqrt()
    return cost(steps[-1]).sqrt()


_DRIFT = vocabulary.drift
_NOISE = vocabulary.iterate_noise

shifted_mu = Bound(
    name="shifted.mu",
    unit="mu",
    tightness=bracketed("linear maps reach it without a diameter, the last step alone with one", closed_form(_reached)),
    summary="mu of the last iterate of any contractive noisy iteration: the optimal-shift programme",
    formula=(
        r"\mu^2 = \min \sum_{i>j} \frac{a_i^2}{\tau_i^2}"
        r"\quad\text{s.t.}\quad z_i = c_i z_{i-1} + s_i - a_i \ge 0,\ z_T = 0,"
        r"\ (j, z_j) = (0, 0) \text{ or } z_j = D,\ 0 \le j < T"
    ),
    parameters=(
        _DRIFT, vocabulary.contractions, _NOISE,
        vocabulary.diameter,
    ),
    assumes=("last-iterate", "lipschitz-maps", "bounded-drift", "gaussian-noise", "independent-start", "bounded-set"),
    neighbours="any",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/shifted-interpolation",),
    validity="argued",
    certify=closed_form(lambda v: optimum(_steps(v), v.diameter).sqrt()),
    vectorised=lambda xp, v: arrays.optimum_upper(xp, v.drift, v.contractions, v.iterate_noise, v.diameter),
    example={"drift": "0,1,0,1", "contractions": "0.9,0.9,0.9,0.9", "iterate_noise": "2,2,1,1", "diameter": "inf"},
)

linear_gaussian_mu = Bound(
    name="linear-gaussian.mu",
    unit="mu",
    tightness=truth("the last iterate is Gaussian with these means and this variance"),
    summary="exact mu of the last iterate of a scalar linear Gaussian iteration; no hidden-state bound is below it",
    formula=(
        r"\mu = \frac{\sum_i P_i s_i}{\sqrt{\sum_i P_i^2 \tau_i^2}}, \quad P_i = \prod_{j>i} c_j"
    ),
    parameters=(_DRIFT, vocabulary.contractions, _NOISE),
    assumes=("last-iterate", "linear-iteration", "gaussian-noise", "independent-start"),
    neighbours="any",
    threat_model="last_iterate",
    released="last_iterate",
    source=("relu-approx/thm-2.8-tightness",),
    validity="argued",
    certify=closed_form(_chord),
    vectorised=lambda xp, v: arrays.chord_upper(xp, v.drift, v.contractions, v.iterate_noise),
    example={"drift": "0,1,0,1", "contractions": "0.9,0.9,0.9,0.9", "iterate_noise": "2,2,1,1"},
)
