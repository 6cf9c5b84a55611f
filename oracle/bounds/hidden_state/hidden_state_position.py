r"""NoisyCGD for a record in a known batch: the earlier in the epoch, the more steps are left to hide it.

Setting of `hidden_state` (fixed disjoint batches in a fixed order, contraction c <= 1; c = 1 is the convex case). A
record in batch p of k is touched at steps p, p + k, ..., and k - p steps follow the last touch. In units of L/b and
sigma, the shift programme (`shift_programme`, blocks (B, V, R)) has the minorant of two edges

    E - 1 whole epochs:       B = c^{k-1} (1 + c^k + ... + c^{k(E-2)}),   V = 1 + c^2 + ... + c^{2k(E-1)-2}
    the last touch and after: B = c^{k-p},                                V = 1 + c^2 + ... + c^{2(k-p)},  R = c^{k-p+1}

or, where the first would be the steeper one, of the two joined. Proof: between touches S is flat, so vertices can only
lie just before a touch (or at the ends). Seen along these points, the e-th rise is proportional to c^{-ke} and the e-th
run to c^{-2ke}: the slopes c^{ke} fall, so that the points before the first and before the last touch are below all
points between them, and only they can be vertices. The steps before the first touch cost nothing.

p = k gives `noisy-cgd.mu`, the worst case: a record one batch earlier can be given the later one's shifts one step
earlier, and the free step that this leaves at the end needs none. k = 1 is NoisyGD.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from oracle.bounds.hidden_state.hidden_state import ASSUMES, BATCHES, CONTRACTION, SENSITIVITY, SIGMA
from oracle.bounds.hidden_state.shift_programme import cost, joined
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import one_sided
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, closed_form
from oracle.engines.geometric import BUDGET, ArrayPowers, BallPowers, PowerFunctions, square_sum

_UNDERFLOW = 1e-140  # of the last touch; below, its square leaves the doubles

Edge = tuple[Any, Any, Any]


def two_edges(left: Edge, right: Edge) -> arb:
    """The cost of the minorant of two blocks, in balls; where their order is undecided, both answers."""
    separate, together = cost(left) + cost(right), cost(joined(left, right))
    first, second = left[0] * right[1], right[2] * right[0] * left[1]
    if first <= second:
        return separate
    return together if first > second else separate.union(together)


def two_edges_arrays(xp: Any, left: Edge, right: Edge) -> Any:
    """The same in arrays."""
    convex = left[0] * right[1] <= right[2] * right[0] * left[1]
    return xp.where(convex, cost(left) + cost(right), cost(joined(left, right)))


def last_touch(c: Any, after: Any, powers: PowerFunctions) -> Edge:
    """The block of the last touch and the free steps after it."""
    return powers.power(c, after), square_sum(c, after + 1, powers), powers.power(c, after + 1)


def whole_epochs(c: Any, k: Any, count: Any, powers: PowerFunctions) -> tuple[Any, Any]:
    """B and V of whole epochs that each begin with a touch (count >= 1)."""
    drift = powers.power(c, k - 1) * powers.geometric_sum(c, k * count) / powers.geometric_sum(c, k)
    return drift, square_sum(c, k * count, powers)


def _mu(values: Values) -> arb:
    c, k, epochs, powers = values.contraction, values.batches, values.epochs, BallPowers()
    if values.batch_position > k:
        raise DomainError(
            f"batch_position = {values.batch_position} is outside its domain: an integer in [1, batches], {k} here"
        )
    right = last_touch(c, k - values.batch_position, powers)
    square = cost(right) if epochs == 1 else two_edges((*whole_epochs(c, k, epochs - 1, powers), arb(1)), right)
    return ball(values.sensitivity / (values.batch_size * values.noise_on_mean)) * square.sqrt()


def _fast(xp: Any, values: Values) -> Any:
    c, k, epochs, powers = values.contraction, values.batches, values.epochs, ArrayPowers(xp)
    outside = values.batch_position > k
    if bool(xp.any(outside)):
        first = int(xp.argmax(xp.astype(xp.reshape(outside, (-1,)), xp.int8)))
        position, batches = (int(xp.reshape(v, (-1,))[first]) for v in (values.batch_position, k))
        raise DomainError(
            f"batch_position = {position} is outside its domain: an integer in [1, batches], {batches} here"
        )
    drift, spread = whole_epochs(c, k, epochs - 1.0, powers)
    right = last_touch(c, k - values.batch_position, powers)
    square = two_edges_arrays(xp, (drift, xp.where(spread > 0.0, spread, 1.0), 1.0), right)
    square = xp.where((right[0] < _UNDERFLOW) & (c > 0.0), float("nan"), square)
    return inflate(
        quotient(xp, values.sensitivity, values.batch_size, values.noise_on_mean) * xp.sqrt(square), 4 * BUDGET,
    )


noisy_cgd_position_mu = Bound(
    name="noisy-cgd-position.mu",
    unit="mu",
    tightness=one_sided("the best multipliers change from epoch to epoch, and those of one loss do not"),
    summary="mu of NoisyCGD's last iterate for a record in a given batch of the epoch",
    formula=(
        r"\mu = \frac{L}{b\sigma}\sqrt{\frac{B_1^2}{V_1} + \frac{B_2^2}{V_2}}"
        r"\ \text{ if } \frac{B_1}{V_1} \le \frac{R_2 B_2}{V_2},"
        r"\text{ else } \frac{L}{b\sigma}\frac{R_2 B_1 + B_2}{\sqrt{R_2^2 V_1 + V_2}};"
        r"\ B_1 = c^{k-1}\frac{1-c^{k(E-1)}}{1-c^k},\ V_1 = \frac{1-c^{2k(E-1)}}{1-c^2},"
        r"\ B_2 = c^{k-p},\ V_2 = \frac{1-c^{2(k-p+1)}}{1-c^2},\ R_2 = c^{k-p+1}"
    ),
    parameters=(
        SENSITIVITY, vocabulary.batch_size, SIGMA, CONTRACTION, BATCHES, vocabulary.epochs.at_least(1),
        vocabulary.batch_position,
    ),
    assumes=(*ASSUMES, "cyclic-batches", "record-in-batch"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("relu-approx/thm-2.8-formula", "background/shifted-interpolation"),
    validity="argued",
    certify=closed_form(_mu),
    vectorised=_fast,
    example={
        "sensitivity": "2", "batch_size": "1", "noise_on_mean": "15", "contraction": "0.9999", "batches": "60",
        "epochs": "400",
        "batch_position": "30",
    },
)
