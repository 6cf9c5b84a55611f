r"""Linear regression through noisy moments: the means of x^2, xy, x and y over n records in [0, 1]^2, each with noise.

Replace (x, y) by (x', y'): each of the four terms lies in [0, 1], so each mean moves by at most 1/n, and (1, 1) against
(0, 0) moves all four by exactly 1/n. So the vector of the four means has l1-sensitivity 4/n and l2-sensitivity 2/n,
both reached by one pair, and nothing is lost by looking at the queries one by one:

    Laplace(b) on each           epsilon = 4 / (n b)                       the sum of the four, exactly
    N(0, sigma^2) on each        the Gaussian curve at mu = 2 / (n sigma)

The same holds for a record that is added or removed while n stays a constant: a term goes to 0. With a positive delta
the Laplace releases cost less: they are `laplace-composed.epsilon` with four steps of sensitivity 1/n, that pair again.

Everything computed from the four noisy means is post-processing: the slope (xy - x y) / (xx - x^2) with any floor below
its denominator. The centred moment S_xx / n is no mean of a function of a record; its sensitivity is (n-1)/n^2.

Source: document 004, last slide; the derivation stands on its own.
"""

from __future__ import annotations

from typing import Any

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu

_SIZE = vocabulary.dataset_size
_SOURCE = ("cs208/linreg-suffstats-repaired",)


def _fast_mu(xp: Any, values: Values) -> Any:
    return quotient(xp, xp.full_like(values.sigma, 2.0), values.dataset_size, values.sigma)


_ASSUMES = ("replace", "unit-square", "only-moments")

epsilon = Bound(
    name="sufficient-statistics.epsilon",
    unit="epsilon",
    tightness=truth("(1, 1) against (0, 0) moves all four means by 1/n"),
    summary="epsilon of the means of x^2, xy, x and y on [0, 1]^2 with Laplace noise on each",
    formula=r"\varepsilon = \frac{4}{nb}",
    parameters=(_SIZE, vocabulary.scale),
    assumes=(*_ASSUMES, "laplace-noise"),
    neighbours="replace",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/laplace-curve"),
    validity="argued",
    certify=closed_form(lambda v: ball(4 / (v.dataset_size * v.scale))),
    vectorised=lambda xp, v: quotient(xp, xp.full_like(v.scale, 4.0), v.dataset_size, v.scale),
    example={"dataset_size": "1000", "scale": "0.004"},
)

gaussian_epsilon = Bound(
    name="sufficient-statistics-gaussian.epsilon",
    unit="epsilon",
    tightness=truth("(1, 1) against (0, 0) moves all four means by 1/n"),
    summary="least epsilon for which the means of x^2, xy, x and y with Gaussian noise on each are (epsilon, delta)-DP",
    formula=CURVE + r", \quad \mu = \frac{2}{n\sigma}",
    parameters=(
        _SIZE, vocabulary.sigma, vocabulary.delta.open(),
    ),
    assumes=(*_ASSUMES, "gaussian-noise"),
    neighbours="replace",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/balle-wang"),
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: ball(2 / (v.dataset_size * v.sigma)), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, _fast_mu(xp, v), v.delta),
    example={"dataset_size": "1000", "sigma": "0.01", "delta": "1e-5"},
)
