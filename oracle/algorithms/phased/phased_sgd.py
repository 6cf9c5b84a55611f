r"""Phased SGD for generalised linear models with a bounded link: the literal reference (document 002, Algorithms 1-3).

Algorithm 2. k = floor(log2 n) phases; phase i = 1..k takes the next n_i = floor(n / 2^i) records, in order, and

    w^1 = w_{i-1},    w^{t+1} = w^t - eta_i (link(<w^t, x_t>) - y_t) x_t,    eta_i = eta / 4^i,    t = 1..n_i,
    w_i = (1/n_i) sum_{t=1..n_i} w^t + N(0, (sigma eta_i)^2 I).

w_k is returned; every w_i may be released. The paper's noise is sigma = 8B sqrt(log(1/delta)) / epsilon. Algorithm 3 is
the same on the records Phi x, Phi a matrix [m, d] of N(0, 1/m) entries, and returns Phi^T w_k.

What the document leaves open or gets wrong, and what is done here:

- k = ceil(log2 n) as printed makes the last phase empty (n_k = 0, an average of nothing) unless n is a power of two.
- The phases use n_1 + ... + n_k < n records; those left over at the end, at least one, are not used. Two records are
  the fewest that make a phase.
- The average is over w^1, ..., w^{n_i} as printed: the last record of a phase has no influence, and the last phase, of
  one record, only adds noise.
- "A random w_0 in W": 0, or uniform in a ball, drawn without looking at the data.
- Theorem 1 leaves out that the step must not expand: training takes any step, `account` refuses eta G > 8, and eta G >
  2 for projected records, as long as 2 (eta_1 is eta / 4).

Algorithm 1 runs one of the two. Which one, the function `choose` tells from n, epsilon and a rank theta that is known
without looking at the records, so that its account is that of the one that runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.phased.phased_sgd_privacy import LEARNING_RATE, SIGMA, check_step
from oracle.algorithms.shared import glm, links
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.domain import Number, positive, positive_integer
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape
from oracle.engines.projection import PROJECTED_DIMENSION

LONGEST = {False: 1, True: 2}
"""The length up to which a record's features are accounted for: plain, and projected."""

PHASED = (
    links.LINK,
    links.LABEL_BOUND,
    LEARNING_RATE,
    SIGMA,
    vocabulary.initial_radius,
)
"""The parameters that all phased algorithms have."""


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    glm.check_data(features, labels, feature_norm=Fraction(1))
    largest = float(np.abs(labels).max())
    if largest > float(config.label_bound):
        raise DomainError(f"labels are as large as {largest}, above the declared label_bound = {config.label_bound}")
    sizes(features.shape[0])


def sizes(records: int) -> list[int]:
    """n_1, ..., n_k."""
    if records < 2:
        raise DomainError(f"{records} records make no phase: the first has half of them, rounded down")
    k = records.bit_length() - 1
    return [records // 2**i for i in range(1, k + 1)]


def initial(config: Values, tape: Tape, dimension: int) -> Array:
    """w_0: a uniform point of the ball."""
    radius = float(config.initial_radius)
    if radius == 0:
        return np.zeros(dimension)
    direction = tape.normal("initial", 0, dimension)[0]
    length = radius * float(tape.uniform("initial/length", 0, 1)[0, 0]) ** (1.0 / dimension)
    start: Array = length * direction / float(np.linalg.norm(direction))
    return start


def descend(
    features: Array, labels: Array, config: Values, tape: Tape, slope: Callable[[float, float], float], recorder: Any
) -> Array:
    """w_k for gradients slope(<w, x>, y) x: the text of the algorithm, sample by sample."""
    records, dimension = features.shape
    w = initial(config, tape, dimension)
    first = 0
    for i, size in enumerate(sizes(records), start=1):
        eta = float(config.base_learning_rate) / 4.0**i
        total = np.zeros(dimension)
        for t in range(first, first + size):
            total += w
            gradient = slope(float(features[t] @ w), float(labels[t])) * features[t]
            w = w - eta * gradient
            if recorder is not None:
                recorder("sample", step=i, sample=t, norm=float(np.linalg.norm(gradient)))
        average = total / size
        noise_std = float(config.noise_over_step) * eta
        w = average + noise_std * tape.normal("noise", i, dimension)[0]
        if recorder is not None:
            recorder("release", step=i, average=average, noise_std=noise_std, released=w)
        first += size
    return w


def projection(config: Values, tape: Tape, dimension: int) -> Array:
    """Phi: independent entries of variance 1/m."""
    rows: int = config.projected_dimension
    entries: Array = tape.normal("projection", 0, rows * dimension)[0] / math.sqrt(rows)
    return entries.reshape(rows, dimension)


def descend_projected(
    features: Array, labels: Array, config: Values, tape: Tape, slope: Callable[[float, float], float], recorder: Any
) -> Array:
    """Phi^T w_k, w_k trained on Phi x."""
    phi = projection(config, tape, features.shape[1])
    projected = np.array([phi @ x for x in features])
    return np.asarray(phi.T @ descend(projected, labels, config, tape, slope, recorder), dtype=np.float64)


def _slope(config: Values) -> Callable[[float, float], float]:
    bound = float(config.label_bound)
    return lambda score, label: links.value(config.link, score, bound) - label


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """Algorithm 2 for one model."""
    check(features, labels, config)
    return descend(features, labels, config, tape, _slope(config), recorder)


def train_projected(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """Algorithm 3 for one model."""
    check(features, labels, config)
    return descend_projected(features, labels, config, tape, _slope(config), recorder)


def phased_account(
    config: Values, records: int, *, projected: bool, smoothness: Fraction, error: Fraction, reason: str
) -> dict[str, Any]:
    """The parameters of the bound for gradients of that smoothness, known up to the error, if no step expands."""
    sizes(records)
    check_step(config, projected=projected, curvature=smoothness, reason=reason)
    width = {"projected_dimension": config.projected_dimension} if projected else {}
    return {
        "sigma": config.noise_over_step, "label_bound": config.label_bound, "learning_rate": config.base_learning_rate,
        "smoothness": smoothness, "dataset_size": records, "oracle_error": error, **width,
    }


def _account(config: Values, records: int, *, projected: bool) -> dict[str, Any]:
    slope = links.lipschitz(config.link, config.label_bound)
    reason = f"link = {config.link}"
    return phased_account(
        config, records, projected=projected, smoothness=slope, error=Fraction(0), reason=reason,
    )


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of phased-sgd.epsilon."""
    return _account(config, records, projected=False)


def account_projected(config: Values, records: int) -> dict[str, Any]:
    """The parameters of phased-sgd-projected.epsilon."""
    return _account(config, records, projected=True)


def choose(*, records: int, epsilon: Number, theta: Number) -> str:
    """Algorithm 1: the name of the algorithm to run, of the smaller error for features of expected rank theta.

    sqrt(theta)/(n epsilon) < (n epsilon)^{-2/3} if and only if n epsilon > theta^{3/2}; squared, that is exact.
    """
    budget = positive_integer("records").rational(records) * vocabulary.epsilon.above(0).rational(epsilon)
    rank = positive("theta").rational(theta)
    return "phased-sgd" if budget**2 > rank**3 else "phased-sgd-projected"


phased_sgd = Algorithm(
    name="phased-sgd",
    document="002, Algorithm 2 (and 1, with 2)",
    summary="one pass in phases of half the remaining records, the noisy average of each released",
    parameters=PHASED,
    released="average_iterate",
    neighbours="replace",
    accounted_by="phased-sgd.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.phased.torch_phased_sgd:train",
    gaussian_release=lambda config: config.link == "constant" and config.initial_radius == 0,
    source=("nonconvex-nn/thm-1-privacy",),
)

phased_sgd_projected = Algorithm(
    name="phased-sgd-projected",
    document="002, Algorithm 3 (and 1, with 3)",
    summary="phased SGD on records projected by a random Gaussian matrix, one a model",
    parameters=(*PHASED, PROJECTED_DIMENSION),
    released="average_iterate",
    neighbours="replace",
    accounted_by="phased-sgd-projected.epsilon",
    account=account_projected,
    reference=train_projected,
    batched="oracle.algorithms.phased.torch_phased_sgd:train_projected",
    gaussian_release=lambda config: False,
    source=("nonconvex-nn/thm-2-privacy",),
)
