r"""Binary tree aggregation that releases every node, with independent Gaussian noise on each (Chan, Shi and Song 2011).

Vectors of l2-norm at most 1 stand at the leaves of a binary tree; every node releases the sum of the leaves below it
plus N(0, noise^2 I). One leaf enters the nodes on its path to the root and no other, h of them:

    h = ceil(log2(leaves)) + 1        the number of levels of the complete tree that holds the leaves.

A number of leaves that is no power of two is padded with empty leaves: in the complete tree every leaf, the first
included, has exactly h nodes on its path, so h is the worst case and is reached. A ragged tree of the same leaves
(each node splits its leaves as evenly as it can) has a leaf at depth ceil(log2(leaves)) too, since no binary tree of
depth d has more than 2^d leaves; a scheme that releases only completed blocks touches fewer nodes and is covered.

All releases together are one Gaussian release whose mean moves by the same vector v in h blocks of
coordinates: sqrt(h) |v|, with |v| <= 1 if a leaf is zeroed (add_remove) and |v| <= 2 if it is replaced, both reached.
So the curve is the Gaussian one, exactly, at mu = |v| sqrt(h) / noise; for adaptively chosen leaves too, the worst pair
being Gaussian (Dong, Roth and Su 2022, Cor. 3.3). Every prefix sum is a sum of nodes: post-processing, free.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from oracle.bounds.gaussian.gaussian_composed import composed_mu
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import quotient
from oracle.core.attainment import bracketed
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu

SHIFT = {"add_remove": 1, "replace": 2}  # how far a leaf of norm at most 1 can move
POWERS_OF_TWO = tuple(2.0**j for j in range(1024))


def levels(leaves: int) -> int:
    """ceil(log2(leaves)) + 1, exactly."""
    return (leaves - 1).bit_length() + 1


def _mu(values: Values, height: int) -> arb:
    return ball(SHIFT[values.neighbours] / values.noise_multiplier) * ball(height).sqrt()


def _complete(values: Values, width: Fraction) -> Enclosure:
    """What leaf 1 attains in a tree that releases only what is complete: the nodes of 1, 2, 4, ... <= n leaves."""
    return epsilon_of_mu(lambda: _mu(values, values.leaves.bit_length()), values.delta, width)


def _fast(xp: Any, values: Values) -> Any:
    noise = values.noise_multiplier
    table = xp.asarray(POWERS_OF_TWO, dtype=xp.float64, device=noise.device)
    flat = xp.reshape(values.leaves + 0.0, (-1,))  # a sum is contiguous, which torch asks for
    below = xp.searchsorted(table, flat, side="left")  # how many 2^j are below, exactly
    height = xp.reshape(xp.astype(below, xp.float64), noise.shape) + 1.0
    ratio = quotient(xp, xp.full_like(noise, float(SHIFT[values.neighbours])), noise)
    return arrays.epsilon_upper(xp, composed_mu(xp, ratio, height), values.delta)


epsilon = Bound(
    name="tree.epsilon",
    unit="epsilon",
    tightness=bracketed("a leaf of the nodes that are complete, the only ones that some trees release", _complete),
    summary="least epsilon for which binary tree aggregation, all nodes released, is (epsilon, delta)-DP",
    formula=CURVE + (
        r", \quad \mu = \frac{s\sqrt{\lceil\log_2 n\rceil + 1}}{\sigma},"
        r" \quad s = 1 \text{ (add or remove) or } 2 \text{ (replace)}"
    ),
    parameters=(
        vocabulary.noise_multiplier,
        vocabulary.leaves,
        vocabulary.delta.open(),
        vocabulary.neighbours,
    ),
    assumes=("short-leaves", "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/tree-aggregation",),
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: _mu(v, levels(v.leaves)), v.delta, width),
    vectorised=_fast,
    example={"noise_multiplier": "10", "leaves": "1000", "delta": "1e-5", "neighbours": "add_remove"},
)
