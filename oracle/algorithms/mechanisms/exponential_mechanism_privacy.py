r"""The exponential mechanism on an empirical risk: what it costs, and how good its choice is.

    P(theta) proportional to pi(theta) exp(-(sum_i l(theta | x_i) + n R(theta)) / T)

for a public base measure pi, a temperature T, and losses whose values lie in an interval of length B, the same for all
theta and x (clipping the loss makes it so).

Replace one record: the exponent changes by (l(theta|x) - l(theta|x')) / T, at most B/T either way, and the normaliser
by a factor between the same two: epsilon = 2B/T. It is the least for all data: where theta gains B, everything else
loses B, and theta has almost no weight, the ratio is nearly e^{2B/T}.

Add or remove one record, with R's factor n a constant: up to a constant, which cancels, the exponent changes by a
number in [0, B/T], weight and normaliser both by a factor in [e^{-B/T}, 1], and their quotient by at most e^{B/T}
either way: epsilon = B/T, half as much. With the literal n R(theta), n the number of records, it is not: R then counts
like a loss, and epsilon is (B + range of R)/T, nothing at all for an unbounded R.

Document 004 has T = 2/epsilon and B = 1.

Utility over K candidates, pi uniform, s = n/T, F(theta) = (1/n) sum_i l + R: with H the entropy, s E F = H(P) - log Z
and Z >= e^{-s min F}, so

    textbook    E F - min F <= log(K) / s.

The best constant is smaller. With gaps g_i = s (F(theta_i) - min F) of the K - 1 others, E F - min F <= v/s means sum
(g_i - v) e^{-g_i} <= v; each summand is at most e^{-1-v}, at g_i = 1 + v, so that the worst v has (K-1) e^{-1-v} = v:

    sharp       E F - min F <= W((K-1)/e) / s,      W(t) e^{W(t)} = t,

reached by K - 1 candidates of gap (1 + v)/s. At T = 2B/epsilon, which is epsilon-DP for replacing, 1/s = 2B/(epsilon
n).

Source: McSherry and Talwar (2007) and Kasiviswanathan et al. (2011), whose texts were not at hand; document 004 was.
The derivations stand on their own.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from oracle.bounds.sampling.relation import NEIGHBOURS, TERMS
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import one_sided, truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form

_NEWTON_STEPS = 30


def _gap(values: Values) -> arb:
    """The bound on s (E F - min F)."""
    if values.method == "textbook":
        return ball(values.candidates).log()
    return (ball(values.candidates - 1) * arb(-1).exp()).lambertw()


def _fast_gap(xp: Any, values: Values) -> Any:
    """The same to a few unit roundoffs; 0 for one candidate."""
    some = values.candidates > 1.0
    candidates = xp.where(some, values.candidates, 2.0)
    if values.method == "textbook":
        return xp.where(some, xp.log(candidates), 0.0)
    target = xp.log(candidates - 1.0) - 1.0  # v + log v, of which v is a well conditioned function
    v = xp.where(target > 1.0, target, 0.3 + 0.0 * target)
    moving = v > 0.0  # a row that has arrived stays, whatever its neighbours do
    for _ in range(_NEWTON_STEPS):  # v + log v is concave: from the first step on Newton's points rise to the root
        step = (v + xp.log(v) - target) * v / (1.0 + v)
        v = xp.where(moving, xp.where(step < v, v - step, 0.5 * v), v)
        moving = moving & (xp.abs(step) > 1e-12 * v)
        if not bool(xp.any(moving)):
            break
    v = v - (v + xp.log(v) - target) * v / (1.0 + v)
    return xp.where(some, v, 0.0)


_RANGE = vocabulary.loss_range

epsilon = Bound(
    name="exponential-mechanism.epsilon",
    unit="epsilon",
    tightness=truth("the supremum: one model of nearly no weight gains as much as all others lose"),
    summary="epsilon of drawing a model with probability proportional to exp(-(sum of the losses)/temperature)",
    formula=r"\varepsilon = \frac{kB}{T}, \quad k = 2 \text{ (replace) or } 1 \text{ (add or remove)}",
    parameters=(_RANGE, vocabulary.temperature, NEIGHBOURS),
    assumes=("loss-range", "exact-law", "public-measure", "constant-size"),
    neighbours="any",
    threat_model="all_iterates",
    source=("cs208/exp-mech", "cs208/exp-mech-add-remove"),
    validity="argued",
    certify=closed_form(lambda v: ball(TERMS[v.neighbours] * v.loss_range / v.temperature)),
    vectorised=lambda xp, v: quotient(xp, TERMS[v.neighbours] * v.loss_range, v.temperature),
    example={"loss_range": "1", "temperature": "2", "neighbours": "replace"},
)

utility = Bound(
    name="exponential-mechanism.utility",
    unit="risk",
    tightness=one_sided("the worst risks need gaps that losses in the given range may not have"),
    summary="expected excess empirical risk of the epsilon-DP exponential mechanism over finitely many models",
    formula=(
        r"\mathbb{E} F - \min F \le \frac{2B}{\varepsilon n}\,w, \quad w = \log K \text{ (textbook) or }"
        r" W\left(\frac{K-1}{e}\right) \text{ (sharp)}, \quad W(t)e^{W(t)} = t"
    ),
    parameters=(
        _RANGE, vocabulary.epsilon.above(0),
        vocabulary.dataset_size, vocabulary.candidates,
        vocabulary.method.choosing("sharp", "textbook"),
    ),
    assumes=("excess-empirical-risk", "judged-draw", "loss-range", "exact-law", "calibrated", "uniform-measure"),
    neighbours="replace",
    threat_model="all_iterates",
    source=("cs208/exp-mech-utility", "cs208/exp-mech-utility-sharp"),
    validity="argued",
    certify=closed_form(lambda v: ball(2 * v.loss_range / (v.epsilon * v.dataset_size)) * _gap(v)),
    vectorised=lambda xp, v: xp.where(
        v.candidates > 1.0,
        inflate(quotient(xp, 2.0 * v.loss_range, v.epsilon, v.dataset_size) * _fast_gap(xp, v), 32.0), 0.0,
    ),
    example={"loss_range": "1", "epsilon": "1", "dataset_size": "1000", "candidates": "100", "method": "sharp"},
)
