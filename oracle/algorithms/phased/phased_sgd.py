r"""Phased SGD for generalised linear models with a bounded link: the literal reference (document 002, Algorithms 1-3).

Algorithm 2. k = floor(log2 n) phases; phase i = 1..k takes the next n_i = floor(n / 2^i) records, in order, and

    w^1 = w_{i-1},    w^{t+1} = w^t - eta_i (link(<w^t, x_t>) - y_t) x_t,    eta_i = eta / 4^i,    t = 1..n_i,
    w_i = (1/n_i) sum_{t=1..n_i} w^t + N(0, (sigma eta_i)^2 I).

with eta = base_learning_rate and sigma = noise_over_step. w_k is returned; every w_i may be released. The paper has
sigma = 8B sqrt(log(1/delta)) / epsilon. Algorithm 3 is the same on the records Phi x, Phi a matrix [m, d] of N(0, 1/m)
entries, and returns Phi^T w_k.

What the document leaves open or gets wrong, and what is done here:

- k = ceil(log2 n) as printed makes the last phase empty (n_k = 0, an average of nothing) unless n is a power of two.
- The phases use n_1 + ... + n_k < n records; those left over at the end, at least one, are not used. Two records are
  the fewest that make a phase.
- The average is over w^1, ..., w^{n_i} as printed: the last record of a phase has no influence, and the last phase, of
  one record, only adds noise.
- "A random w_0 in W": 0, or uniform in a ball, drawn without looking at the data.
- Theorem 1 leaves out that the step must not expand: training takes any step, but nothing is proved for eta G > 8, nor
  for eta G > 2 on projected records, as long as 2 (eta_1 is eta / 4).

Algorithm 1 runs one of the two. Which one, the function `choose` tells from n, epsilon and a rank theta that is known
without looking at the records, so that its guarantee is that of the one that runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.phased.phased_sgd_privacy import LARGEST_STEP, LEARNING_RATE, SIGMA
from oracle.algorithms.shared import glm, links
from oracle.algorithms.shared.conditions import (
    GAUSSIAN_PROJECTION,
    LABELS_BOUNDED,
    PLANNED,
    REPLACE,
    SHORT_FEATURES,
)
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, given, said
from oracle.core.domain import Number, positive, positive_integer
from oracle.core.errors import DomainError
from oracle.core.tape import Tape
from oracle.engines.projection import PROJECTED_DIMENSION

LONGEST = {False: 1, True: 2}
"""The length up to which a record's features are accounted for: plain, and projected."""


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the guarantees assume."""
    glm.check_data(features, labels, feature_norm=Fraction(1))
    largest = float(np.abs(labels).max())
    if largest > float(config.label_bound):
        raise DomainError(f"labels are as large as {largest}, above the declared label_bound = {config.label_bound}")
    sizes(features.shape[0])


def reach(config: Values, count: int) -> float:
    """How far all phases may carry the weights (`records`): their steps are at most a quarter of the base's.

    Residuals are at most 2 label_bound, or 2 where labels are in [-1, 1], and features at most 2, projected.
    """
    return records.reach(
        steps=count, learning_rate=config.base_learning_rate / 4, noise=config.noise_over_step,
        gradient=4 * Fraction(getattr(config, "label_bound", 1)), start=Fraction(getattr(config, "initial_radius", 0)),
    )


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


DATA_KEPT = {"disjoint": "true", "features_bounded": "true", "labels_bounded": "true"}
"""What our own training makes true of the records: a phase has its own, in order, and `check` refuses those beyond."""


def link_facts(config: Values) -> dict[str, Any]:
    """A named link rises."""
    return {} if config.link is None else {"link_rises": "true"}


def facts(config: Values) -> dict[str, Any]:
    """What is known of a named link: it rises, and has a Lipschitz constant unless it jumps."""
    known = link_facts(config)
    if config.link is not None and config.link != "sign":
        known["link_lipschitz"] = links.lipschitz(config.link, config.label_bound)
    return known


def _is_lipschitz(config: Values) -> bool | None:
    if config.link == "sign":
        return False
    if config.link_lipschitz is None:
        return None
    return bool(config.link is None or config.link_lipschitz >= links.lipschitz(config.link, config.label_bound))


def no_expansion(words: str, curvature: Callable[[Values], Fraction | None], *, projected: bool) -> Condition:
    """No step moves two runs apart, the first phase's included, for gradients of that curvature on short records."""
    limit = LARGEST_STEP[projected]

    def holds(config: Values) -> bool | None:
        known = curvature(config)
        return None if known is None else bool(config.base_learning_rate * known <= limit)

    return Condition("lipschitz-link", holds, f"no step expands: base_learning_rate * {words} <= {limit}")


IN_PHASES = (
    REPLACE,
    equals("phase-averages", "released", "average_iterate"),
    Condition("disjoint-phases", lambda config: config.dataset_size >= 2, "there is a phase: dataset_size >= 2"),
    said("disjoint-phases", "disjoint"),
    said("rising-link", "link_rises"),
    *by_design("gaussian-noise", "independent-start"),
)
"""What every theorem about phases assumes, whatever the features."""

_WORDS = {
    False: "one noisy average sees each record",
    True: "one noisy average sees each record; long projections are charged to delta",
}


def phased_guarantee(slope: str, *, projected: bool, assumes: tuple[Condition, ...] = ()) -> Guarantee:
    """The guarantee for gradients whose factor has the slope of that key; they are exact without an oracle_error."""

    def parameters(config: Values) -> dict[str, Any] | None:
        if getattr(config, slope) is None:
            return None
        width = {"projected_dimension": config.projected_dimension} if projected else {}
        return {
            "noise_over_step": config.noise_over_step, "label_bound": config.label_bound,
            "base_learning_rate": config.base_learning_rate, "link_lipschitz": getattr(config, slope),
            "dataset_size": config.dataset_size, "oracle_error": getattr(config, "oracle_error", 0), **width,
        }

    return Guarantee(
        "phased-sgd-projected.epsilon" if projected else "phased-sgd.epsilon", _WORDS[projected], parameters,
        (
            *IN_PHASES, SHORT_FEATURES, LABELS_BOUNDED, *((GAUSSIAN_PROJECTION,) if projected else ()), *assumes,
            no_expansion(slope, lambda config: getattr(config, slope), projected=projected),
        ),
    )


_LIPSCHITZ = (Condition("lipschitz-link", _is_lipschitz),)
PHASED = (links.LABEL_BOUND, LEARNING_RATE, SIGMA)
"""The parameters that all phased algorithms have, and what only their training needs:"""
START = (links.LINK, vocabulary.initial_radius)
PHASED_FLAGS = (
    vocabulary.link_rises, vocabulary.disjoint, vocabulary.features_bounded, vocabulary.labels_bounded,
)


def choose(*, records: int, epsilon: Number, theta: Number) -> str:
    """Algorithm 1: the name of the algorithm to run, of the smaller error for features of expected rank theta.

    sqrt(theta)/(n epsilon) < (n epsilon)^{-2/3} if and only if n epsilon > theta^{3/2}; squared, that is exact.
    """
    budget = positive_integer("records").rational(records) * vocabulary.epsilon.above(0).rational(epsilon)
    rank = positive("theta").rational(theta)
    return "phased-sgd" if budget**2 > rank**3 else "phased-sgd-projected"


_MODEL = (
    said("independent-records", "independent_records"), said("well-specified", "well_specified"),
    *by_design("excess-population-risk", "judged-phase"),
)
"""What the risk asks for besides what privacy does."""


def _risk(config: Values, *, projected: bool) -> dict[str, Any] | None:
    """The parameters of the risk: a replaced record moves a phase's average by 4B steps, by 8B if it is projected."""
    asked = ("target_norm", "projected_dimension") if projected else ("distance", "rank")
    names = ("link_lipschitz", "label_bound", "dataset_size", "base_learning_rate", *asked)
    values = {name: getattr(config, name) for name in names}
    if None in values.values():
        return None
    noise = Fraction(config.noise_over_step / ((8 if projected else 4) * config.label_bound))
    return {**values, "noise_over_sensitivity": noise}


def _risk_guarantee(*conditions: Condition, projected: bool) -> Guarantee:
    kept = (item for item in IN_PHASES if item.decides in ("disjoint-phases", "rising-link", "gaussian-noise"))
    return Guarantee(
        "phased-sgd-projected.risk" if projected else "phased-sgd.risk", "the last phase's release, in expectation",
        lambda config: _risk(config, projected=projected),
        (*_MODEL, *kept, SHORT_FEATURES, LABELS_BOUNDED, *_LIPSCHITZ, *conditions),
    )


RISK_KEYS = (vocabulary.independent_records, vocabulary.well_specified)

phased_sgd = Algorithm(
    name="phased-sgd",
    document="002, Algorithm 2 (and 1, with 2)",
    summary="one pass in phases of half the remaining records, the noisy average of each released",
    parameters=PHASED,
    training=START,
    setting=PLANNED,
    stated=(vocabulary.link_lipschitz, *PHASED_FLAGS, *RISK_KEYS, vocabulary.distance, vocabulary.rank),
    facts=facts,
    trained=lambda config: DATA_KEPT,
    released="average_iterate",
    neighbours="replace",
    guarantees=(phased_guarantee("link_lipschitz", projected=False, assumes=_LIPSCHITZ),),
    risks=(
        _risk_guarantee(given("start-at-distance", "distance"), given("data-rank", "rank"), projected=False),
    ),
    check=check,
    reach=reach,
    reference=train,
    batched="oracle.algorithms.phased.torch_phased_sgd:twin",
    gaussian_release=lambda config: config.link == "constant" and config.initial_radius == 0,
    source=("nonconvex-nn/thm-1-privacy",),
)

phased_sgd_projected = Algorithm(
    name="phased-sgd-projected",
    document="002, Algorithm 3 (and 1, with 3)",
    summary="phased SGD on records projected by a random Gaussian matrix, one a model",
    parameters=(*PHASED, PROJECTED_DIMENSION),
    training=START,
    setting=PLANNED,
    stated=(
        vocabulary.link_lipschitz, *PHASED_FLAGS, vocabulary.gaussian_projection, *RISK_KEYS, vocabulary.target_norm,
    ),
    facts=facts,
    trained=lambda config: {**DATA_KEPT, "gaussian_projection": "true"},
    released="average_iterate",
    neighbours="replace",
    guarantees=(phased_guarantee("link_lipschitz", projected=True, assumes=_LIPSCHITZ),),
    risks=(
        _risk_guarantee(
            GAUSSIAN_PROJECTION, given("bounded-target", "target_norm"),
            Condition(
                "start-at-zero",
                lambda config: None if config.initial_radius is None else bool(config.initial_radius == 0),
            ),
            projected=True,
        ),
    ),
    check=check,
    reach=reach,
    reference=train_projected,
    batched="oracle.algorithms.phased.torch_phased_sgd:twin_projected",
    source=("nonconvex-nn/thm-2-privacy",),
)
