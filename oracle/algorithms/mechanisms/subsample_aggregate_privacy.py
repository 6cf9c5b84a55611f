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

from oracle.core.arrays import quotient
from oracle.core.domain import positive, positive_integer, probability
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu

_BLOCKS = positive_integer("blocks", "number k of disjoint blocks")
_SOURCE = ("cs208/sa-privacy",)

epsilon = Bound(
    name="subsample-aggregate.epsilon",
    unit="epsilon",
    summary="epsilon of the mean of clipped block estimates plus Laplace noise",
    formula=r"\varepsilon = \frac{w}{kb}",
    parameters=(
        positive("diameter", "length hi - lo of the interval that a block's estimate is clipped to"), _BLOCKS,
        positive("scale", "scale b of the Laplace noise on the mean"),
    ),
    neighbours="replace",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=closed_form(lambda v: ball(v.diameter / (v.blocks * v.scale))),
    vectorised=lambda xp, v: quotient(xp, v.diameter, v.blocks, v.scale),
    example={"diameter": "1", "blocks": "100", "scale": "0.01"},
)

gaussian_epsilon = Bound(
    name="subsample-aggregate-gaussian.epsilon",
    unit="epsilon",
    summary="least epsilon for which the mean of clipped block estimates plus Gaussian noise is (epsilon, delta)-DP",
    formula=CURVE + r", \quad \mu = \frac{w}{k\sigma}",
    parameters=(
        positive("diameter", "l2-diameter of the set that a block's estimate is clipped to"), _BLOCKS,
        positive("sigma", "standard deviation of the noise on every coordinate of the mean"), probability("delta"),
    ),
    neighbours="replace",
    threat_model="all_iterates",
    source=_SOURCE,
    certify=lambda v, width: epsilon_of_mu(lambda: ball(v.diameter / (v.blocks * v.sigma)), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, quotient(xp, v.diameter, v.blocks, v.sigma), v.delta),
    example={"diameter": "1", "blocks": "100", "sigma": "0.05", "delta": "1e-5"},
)
