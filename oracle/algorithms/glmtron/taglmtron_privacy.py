r"""DP-TAGLMtron (document 003, Algorithms 3 and 4): GLMtron on prefix sums from a binary tree of noisy nodes.

In step t the clipped update l_t, |l_t| <= gamma_t, of record t becomes leaf t; a node is the sum of 2^j consecutive
leaves that begin at a multiple of 2^j, plus Gaussian noise, and is released when its last leaf has come; all iterates
are computed from these nodes. Leaf 1 lies in the nodes of 1, 2, 4, ... <= N leaves, no leaf in more: of the released
nodes

    L = floor(log2 N) + 1 = ceil(log2(N + 1))       contain the worst leaf.

(`tree.epsilon` counts the padded tree, one node more unless N is a power of two.) With noise f Gamma on every node,
Gamma >= gamma_t for all of its leaves, a record that is replaced moves the mean of each node of its leaf by at most
2 gamma_t <= 2 Gamma, one whose leaf is zeroed (add_remove, the number of steps being fixed) by at most Gamma. Given the
nodes released before, each is a Gaussian release of sensitivity s over noise f, so all together are mu-GDP with

    mu = s sqrt(L) / f,    s = 2 (replace) or 1 (add_remove),

exactly: adaptive composition of Gaussian releases loses nothing (Dong, Roth and Su 2022, Cor. 3.3), and equal
shifts of one leaf reach it. The least f is s sqrt(L) / mu with delta(epsilon; mu) = delta.

Hypotheses. gamma_t does not depend on the records but through what was released before it (or comes from
`dp-threshold` on other records: the guarantee is then the weaker of the two). A node's noise is drawn when the node is
complete, with the Gamma = max gamma_t of then. Algorithm 4 as printed draws all noise at the start with the Gamma of
then; a leaf with twice that gamma_t doubles mu. The printed f = sqrt(2 L log(1/delta)) / epsilon on f Gamma
(Theorem 5.1) is a multiplier for s = 1; under the document's own relation, replace, it is half of what it promises.

The document's text was at hand; the derivation above stands on its own.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.bounds.gaussian.gaussian_composed import composed_mu
from oracle.bounds.matrix.tree_aggregation import POWERS_OF_TWO, SHIFT
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu, sigma_of


def nodes(records: int) -> int:
    """ceil(log2(records + 1)), exactly: the most released nodes that one leaf enters."""
    return records.bit_length()


def _nodes_fast(xp: Any, records: Any) -> Any:
    table = xp.asarray(POWERS_OF_TWO, dtype=xp.float64, device=records.device)
    flat = xp.reshape(records + 0.0, (-1,))  # a sum is contiguous, which torch asks for
    return xp.reshape(xp.astype(xp.searchsorted(table, flat, side="right"), xp.float64), records.shape)


def _mu(values: Values) -> arb:
    return ball(SHIFT[values.neighbours] / values.noise_multiplier) * ball(nodes(values.dataset_size)).sqrt()


def _epsilon_fast(xp: Any, values: Values) -> Any:
    noise = values.noise_multiplier
    ratio = quotient(xp, xp.full_like(noise, float(SHIFT[values.neighbours])), noise)
    return arrays.epsilon_upper(xp, composed_mu(xp, ratio, _nodes_fast(xp, values.dataset_size)), values.delta)


def _sigma(values: Values, width: Fraction) -> Enclosure:
    """s sqrt(L) times the noise on a sensitivity of 1."""
    count, shift = nodes(values.dataset_size), SHIFT[values.neighbours]
    finer = width / (8 * shift * count)
    one = sigma_of(Fraction(1), values.epsilon, values.delta, finer)
    magnitude = max(0, one.upper.exponent + one.upper.mantissa.bit_length())
    with ctx.workprec(128 + magnitude + 2 * finer.denominator.bit_length()):
        scale = shift * ball(count).sqrt()
        return Enclosure.between(scale * one.lower.ball, scale * one.upper.ball)


def _sigma_fast(xp: Any, values: Values) -> Any:
    sensitivity = inflate(SHIFT[values.neighbours] * xp.sqrt(_nodes_fast(xp, values.dataset_size)), 2.0)
    return arrays.sigma_upper(xp, sensitivity, values.epsilon, values.delta)


_RECORDS = vocabulary.dataset_size
_NEIGHBOURS = vocabulary.neighbours
_FORMULA = CURVE + (
    r", \quad \mu = \frac{s\sqrt{\lceil\log_2(N + 1)\rceil}}{f},"
    r" \quad s = 2 \text{ (replace) or } 1 \text{ (add or remove)}"
)

_bound = functools.partial(
    Bound, formula=_FORMULA, neighbours="any", threat_model="all_iterates", released="all_iterates",
    source=("glmtron/thm-5.1-repaired", "glmtron/alg-4-nodes-released", "background/gdp-composition"),
    validity="argued",
)

_ASSUMES = ("one-pass", "shortening", "gaussian-noise", "past-thresholds", "late-noise")

epsilon = _bound(
    name="taglmtron.epsilon",
    unit="epsilon",
    tightness=truth("equal shifts of one leaf in all of its nodes reach it"),
    summary="least epsilon for which DP-TAGLMtron, all nodes and iterates released, is (epsilon, delta)-DP",
    parameters=(vocabulary.noise_multiplier, _RECORDS, vocabulary.delta.open(), _NEIGHBOURS),
    assumes=_ASSUMES,
    certify=lambda v, width: epsilon_of_mu(lambda: _mu(v), v.delta, width),
    vectorised=_epsilon_fast,
    example={"noise_multiplier": "20", "dataset_size": "550", "delta": "1e-5", "neighbours": "replace"},
)

sigma = _bound(
    name="taglmtron.sigma",
    unit="sigma",
    tightness=truth("equal shifts of one leaf in all of its nodes reach it"),
    summary="least noise multiplier f that makes DP-TAGLMtron (epsilon, delta)-DP",
    parameters=(_RECORDS, vocabulary.epsilon, vocabulary.delta.open(), _NEIGHBOURS),
    assumes=_ASSUMES,
    certify=_sigma,
    vectorised=_sigma_fast,
    example={"dataset_size": "550", "epsilon": "1", "delta": "1e-5", "neighbours": "replace"},
)
