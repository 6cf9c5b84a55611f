r"""Subsample and aggregate: the noisy mean of an estimator over disjoint blocks of the data.

The records are split into k disjoint blocks by their position (or by a random partition of the positions), any
estimator runs on every block, and the k answers, each clipped to a set of diameter w, are averaged and noise is added.
Replacing a record changes one block, hence one answer, hence the mean by at most w/k; it is reached by an estimator
that jumps from one end of the set to the other. The estimator itself may be anything: only its clipped answer is seen.

    Laplace(b) on a number clipped to [lo, hi], w = hi - lo        epsilon = w / (k b)
    N(0, sigma^2 I) on a vector clipped to l2-diameter w           the Gaussian curve at mu = w / (k sigma)

both exactly. Laplace noise on every coordinate of a vector has the same epsilon with w the l1-diameter.

A record must not choose its block by its content: the replaced and the new one could then touch two blocks, which costs
2w/k. Blocks that overlap cost w/k for every block that holds a record.

Source: Nissim, Raskhodnikova and Smith (2007) and Smith (2011), whose texts were not at hand; document 004 was. The
derivation stands on its own.
"""

from __future__ import annotations

from oracle.core import vocabulary
from oracle.core.arrays import quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu

_BLOCKS = vocabulary.blocks
_SOURCE = ("cs208/sa-privacy",)

_ASSUMES = ("replace", "disjoint-blocks", "estimates-clipped")

epsilon = Bound(
    name="subsample-aggregate.epsilon",
    unit="epsilon",
    tightness=truth("an estimator that jumps from end to end reaches it"),
    summary="epsilon of the mean of clipped block estimates plus Laplace noise",
    formula=r"\varepsilon = \frac{w}{kb}",
    parameters=(
        vocabulary.estimate_range, _BLOCKS,
        vocabulary.scale,
    ),
    assumes=(*_ASSUMES, "laplace-noise"),
    neighbours="replace",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/laplace-curve"),
    validity="argued",
    certify=closed_form(lambda v: ball(v.estimate_range / (v.blocks * v.scale))),
    vectorised=lambda xp, v: quotient(xp, v.estimate_range, v.blocks, v.scale),
    example={"estimate_range": "1", "blocks": "100", "scale": "0.01"},
)

gaussian_epsilon = Bound(
    name="subsample-aggregate-gaussian.epsilon",
    unit="epsilon",
    tightness=truth("an estimator that jumps from end to end reaches it"),
    summary="least epsilon for which the mean of clipped block estimates plus Gaussian noise is (epsilon, delta)-DP",
    formula=CURVE + r", \quad \mu = \frac{w}{k\sigma}",
    parameters=(
        vocabulary.estimate_range, _BLOCKS,
        vocabulary.sigma, vocabulary.delta.open(),
    ),
    assumes=(*_ASSUMES, "gaussian-noise"),
    neighbours="replace",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/balle-wang"),
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: ball(v.estimate_range / (v.blocks * v.sigma)), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, quotient(xp, v.estimate_range, v.blocks, v.sigma), v.delta),
    example={"estimate_range": "1", "blocks": "100", "sigma": "0.05", "delta": "1e-5"},
)
