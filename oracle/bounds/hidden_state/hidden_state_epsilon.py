r"""NoisyGD and NoisyCGD in terms of (epsilon, delta): the epsilon of a training, and the noise for a target.

Their last iterates are mu-GDP (`hidden_state`), and mu-GDP is (epsilon, delta)-DP exactly along the Gaussian curve
(`gaussian`). mu is a factor over sigma, so that the least sigma is the factor times that of a single Gaussian release.
For NoisyGD the result is exact in the worst case (a quadratic loss attains mu); NoisyCGD's mu is an upper bound.
Without steps nothing is released: epsilon and the noise needed are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.bounds.hidden_state import hidden_state as mu
from oracle.bounds.hidden_state.hidden_state import ASSUMES, BATCHES, CONTRACTION, SENSITIVITY, SIGMA
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose, finite
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import bracketed, one_sided, truth
from oracle.core.enclosure import Enclosure
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu, sigma_of
from oracle.engines.geometric import BUDGET

_LARGEST_MU = 1e150  # beyond, mu^2 overflows: the reference answers


def _epsilon_upper(xp: Any, mu_upper: Any, delta: Any) -> Any:
    """The epsilon of mu = 0 is 0; NaN where mu leaves the doubles."""
    usable = (mu_upper > 1 / _LARGEST_MU) & (mu_upper < _LARGEST_MU)
    epsilon = arrays.epsilon_upper(xp, xp.where(usable, mu_upper, 1.0), delta)
    return xp.where(usable, epsilon, xp.where(mu_upper == 0.0, 0.0 * delta, math.nan))


def _sigma(square: Callable[[], arb], ratio: Fraction, values: Values, width: Fraction) -> Enclosure:
    """The factor times the noise of one release of that sensitivity; the factor is at least 1."""
    most = int(finite(lambda: square().sqrt()).upper().ceil().fmpz())
    single = sigma_of(ratio, values.epsilon, values.delta, width / (4 * most))
    return enclose(lambda: single.ball * square().sqrt(), width=width)


def _sigma_upper(xp: Any, ratio: Any, root: Any, values: Values) -> Any:
    """A sensitivity of 0 needs no noise."""
    sensitivity = inflate(ratio * root, BUDGET)
    none = sensitivity == 0.0
    sigma = arrays.sigma_upper(xp, xp.where(none, 1.0, sensitivity), values.epsilon, values.delta)
    return xp.where(none, 0.0 * values.delta, sigma)


_SIZE, _BATCH_SIZE = vocabulary.dataset_size, vocabulary.batch_size
_STEPS, _EPOCHS, _DELTA = vocabulary.steps, vocabulary.epochs.at_least(1), vocabulary.delta.open()
_GD = CURVE + r", \quad \mu = \frac{L}{n\sigma}\sqrt{\frac{1-c^{t}}{1+c^{t}}\,\frac{1+c}{1-c}}"
_CGD = CURVE + (
    r", \quad \mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\,\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}}"
    r"\ (k \ge 2;\ \text{NoisyGD for } k = 1)"
)
_GD_SOURCE, _CGD_SOURCE = ("background/bok-gd", "relu-approx/lem-2.5"), ("relu-approx/thm-2.8-formula",)
_GD_POINT = {"sensitivity": "2", "dataset_size": "50", "contraction": "0.9", "steps": "20", "delta": "1e-5"}
_CGD_POINT = {  # Figure 1 of document 000 at eta lambda = 1e-4, with sigma and sensitivity per record of the batch
    "sensitivity": "2", "batch_size": "1", "contraction": "0.9999", "batches": "60", "epochs": "400", "delta": "1e-5",
}

noisy_gd_epsilon = Bound(
    name="noisy-gd.epsilon",
    unit="epsilon",
    tightness=truth("quadratic losses, whose iterates are Gaussian, reach it"),
    summary="least epsilon for which the last iterate of NoisyGD is proved (epsilon, delta)-DP",
    formula=_GD,
    parameters=(SENSITIVITY, _SIZE, SIGMA, CONTRACTION, _STEPS, _DELTA),
    assumes=(*ASSUMES, "full-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=_GD_SOURCE,
    validity="argued",
    certify=lambda v, width: (
        epsilon_of_mu(lambda: mu.gd_mu(v), v.delta, width) if v.steps else Enclosure.exactly(0)
    ),
    vectorised=lambda xp, v: _epsilon_upper(xp, mu.gd_mu_upper(xp, v), v.delta),
    example={**_GD_POINT, "noise_on_mean": "0.15"},
)

noisy_cgd_epsilon = Bound(
    name="noisy-cgd.epsilon",
    unit="epsilon",
    tightness=bracketed(
        "linear maps, the record in the last batch",
        lambda v, width: epsilon_of_mu(lambda: mu.cgd_attained(v), v.delta, width),
    ),
    summary="least epsilon for which the last iterate of NoisyCGD is proved (epsilon, delta)-DP",
    formula=_CGD,
    parameters=(SENSITIVITY, _BATCH_SIZE, SIGMA, CONTRACTION, BATCHES, _EPOCHS, _DELTA),
    assumes=(*ASSUMES, "cyclic-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=_CGD_SOURCE,
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: mu.cgd_mu(v), v.delta, width),
    vectorised=lambda xp, v: _epsilon_upper(xp, mu.cgd_mu_upper(xp, v), v.delta),
    example={**_CGD_POINT, "noise_on_mean": "15"},
)

noisy_gd_sigma = Bound(
    name="noisy-gd.sigma",
    unit="sigma",
    tightness=truth("quadratic losses, whose iterates are Gaussian, reach it"),
    summary="least noise on the mean gradient for which the last iterate of NoisyGD is proved (epsilon, delta)-DP",
    formula=_GD,
    parameters=(SENSITIVITY, _SIZE, CONTRACTION, _STEPS, vocabulary.epsilon, _DELTA),
    assumes=(*ASSUMES, "full-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=_GD_SOURCE,
    validity="argued",
    certify=lambda v, width: (
        _sigma(lambda: mu.gd_square(v), v.sensitivity / v.dataset_size, v, width) if v.steps else Enclosure.exactly(0)
    ),
    vectorised=lambda xp, v: _sigma_upper(
        xp, quotient(xp, v.sensitivity, v.dataset_size), mu.gd_root(xp, v), v
    ),
    example={**_GD_POINT, "epsilon": "1"},
)

noisy_cgd_sigma = Bound(
    name="noisy-cgd.sigma",
    unit="sigma",
    tightness=one_sided("the inverse of an upper bound"),
    summary="least noise on the mean gradient for which the last iterate of NoisyCGD is proved (epsilon, delta)-DP",
    formula=_CGD,
    parameters=(SENSITIVITY, _BATCH_SIZE, CONTRACTION, BATCHES, _EPOCHS, vocabulary.epsilon, _DELTA),
    assumes=(*ASSUMES, "cyclic-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=_CGD_SOURCE,
    validity="argued",
    certify=lambda v, width: _sigma(lambda: mu.cgd_square(v), v.sensitivity / v.batch_size, v, width),
    vectorised=lambda xp, v: _sigma_upper(xp, quotient(xp, v.sensitivity, v.batch_size), mu.cgd_root(xp, v), v),
    example={**_CGD_POINT, "epsilon": "1"},
)
