r"""Phased SGD on multinomial features, plain and projected: the literal reference (document 002, Algorithm 9).

The records become (psi(x), y), psi of `multinomial`. Phase i = 1, ..., k takes n_i = floor(n / 2^i) records that no
other phase sees, in their order, and runs one pass with eta_i = learning_rate / 4^i from w^1, the last release:

    w^{t+1} = w^t - eta_i (link(<w^t, psi(x_t)>) - y_t) psi(x_t),        t = 1, ..., n_i,
    release (w^1 + ... + w^{n_i}) / n_i + N(0, (sigma eta_i)^2 I),

the gradient of the surrogate loss int_0^{<w, psi(x)>} (link(z) - y) dz; w = 0 at first, and the last release is the
output (Algorithm 2). Projected (Algorithm 3), Phi psi(x) stands for psi(x), Phi an m x D matrix of N(0, 1/m) entries,
one for each model, and Phi^T w is the output. Algorithm 9 asks `choose` which of the two to run.

Links, rising and into [0, 1] as labels are:

    sigmoid  1 / (1 + e^{-z}), slope at most 1/4;     clip  min(max(z, 0), 1), slope at most 1
    one      1: the worst case; its steps are affine, and plain releases are exactly Gaussian

What is fixed here. The text's k = ceil(log2 n) leaves phases without records, over whose number it divides, unless n is
a power of two: k = floor(log2 n). The n - (n_1 + ... + n_k) records at the end are not used. The kernel is divided by
m + 1, so that |psi| <= 1 is true. The average is over w^1, ..., w^{n_i} as printed, so the last record of a phase has
no say. The text's noise is that of labels in [-1, 1] (B = 1): sigma is a parameter here, and the account knows that
labels and link in [0, 1] need half as much. The account refuses steps that could expand, which the theorem does not.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from oracle.domain import Number, choice, exact, positive, positive_integer, shown
from oracle.errors import DomainError
from oracle.registry import Algorithm, Values
from oracle.tape import Tape
from oracle.training import glm, multinomial
from oracle.training.glm import Array

SLOPE = {"sigmoid": Fraction(1, 4), "clip": Fraction(1), "one": Fraction(0)}
"""The Lipschitz constants of the links."""

_LARGEST_STEP = {False: 8, True: 2}  # of learning_rate * slope: |psi| <= 1, and |Phi psi| <= 2


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are records in the unit ball, labels in [0, 1], and features that can be formed."""
    check_records(features, labels)
    multinomial.check_size(features.shape[1], config.degree)


def check_records(features: Array, labels: Array) -> None:
    """A DomainError unless these are at least two records in the unit ball with labels in [0, 1]."""
    glm.check_data(features, labels, feature_norm=Fraction(1))
    if features.shape[0] < 2:
        raise DomainError("one record makes no phase: phased SGD needs at least 2")
    if labels.min() < 0 or labels.max() > 1:
        raise DomainError(f"labels from {labels.min()} to {labels.max()} leave [0, 1]")


def phases(records: int) -> list[tuple[int, int]]:
    """The first record of every phase, and the one after its last: n/2, n/4, ... records, down to one."""
    result, start = [], 0
    for i in range(1, records.bit_length()):
        result.append((start, start + records // 2**i))
        start += records // 2**i
    return result


def choose(records: int, epsilon: Number, rank: Number) -> str:
    """Line 1 of Algorithm 9: plain if n epsilon > theta, a bound on the expected rank of the features; else projected.

    That is where the document's two rates cross, sqrt(theta) / (n epsilon) and 1 / sqrt(n epsilon).
    """
    plain = records * exact("epsilon", epsilon, "a number") > exact("rank", rank, "a number")
    return "two-layer" if plain else "two-layer-projected"


def link(name: str, score: float) -> float:
    """The link at a score."""
    if name == "one":
        return 1.0
    if name == "clip":
        return min(max(score, 0.0), 1.0)
    return float(0.5 * (1.0 + np.tanh(0.5 * score)))


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last release of one model, a weight of every feature."""
    check(features, labels, config)
    size = multinomial.size(features.shape[1], config.degree)
    return _phased(lambda x: multinomial.features(x, config.degree), size, features, labels, config, tape, recorder)


def train_projected(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The same on projected features, lifted back to a weight of every feature."""
    check(features, labels, config)
    rows, columns = config.projected_dimension, multinomial.size(features.shape[1], config.degree)
    phi = tape.normal("projection", 0, rows * columns)[0].reshape(rows, columns) / np.sqrt(rows)
    w = _phased(
        lambda x: phi @ multinomial.features(x, config.degree), rows, features, labels, config, tape, recorder
    )
    return np.asarray(phi.T @ w)


def _phased(
    psi: Callable[[Array], Array], dimension: int, features: Array, labels: Array, config: Values, tape: Tape,
    recorder: Any,
) -> Array:
    learning_rate, sigma = float(config.learning_rate), float(config.sigma)
    w = np.zeros(dimension)
    for i, (start, end) in enumerate(phases(features.shape[0]), start=1):
        eta = learning_rate / 4**i
        total = np.zeros(dimension)
        for t in range(start, end):
            total += w
            point = psi(features[t])
            gradient = (link(config.link, float(w @ point)) - float(labels[t])) * point
            w = w - eta * gradient
            if recorder is not None:
                recorder("sample", step=t, sample=t, norm=float(np.linalg.norm(gradient)))
        average = total / (end - start)
        w = average + sigma * eta * tape.normal("noise", i, dimension)[0]
        if recorder is not None:
            recorder("release", phase=i, average=average.copy(), noise_std=sigma * eta)
    return w


def _steps(config: Values, *, projected: bool) -> dict[str, Fraction | int]:
    slope, limit = SLOPE[config.link], _LARGEST_STEP[projected]
    if config.learning_rate * slope > limit:
        raise DomainError(
            f"learning_rate = {shown(config.learning_rate)} is outside its domain: at most {shown(limit / slope)} for"
            f" the {config.link} link; larger steps may move two runs apart, so the bound does not apply"
        )
    return {"sigma": config.sigma, "feature_norm": 1, "learning_rate": config.learning_rate, "smoothness": slope}


def account(config: Values, records: int) -> dict[str, Fraction | int]:
    """The parameters of two-layer.epsilon: features of norm at most 1."""
    return _steps(config, projected=False)


def account_projected(config: Values, records: int) -> dict[str, Fraction | int]:
    """The parameters of two-layer-projected.epsilon."""
    steps = _steps(config, projected=True)
    return {**steps, "dataset_size": records, "projected_dimension": config.projected_dimension}


_PARAMETERS = (
    choice("link", *SLOPE, meaning="the output activation, into [0, 1]"),
    positive_integer("degree", "degree m of the multinomial kernel"),
    positive("learning_rate", "eta; phase i takes steps of eta / 4^i"),
    positive("sigma", "noise standard deviation of phase i over its step size learning_rate / 4^i"),
)

two_layer = Algorithm(
    name="two-layer",
    document="002, Algorithm 9 (with 2)",
    summary="phased SGD on the features of a multinomial kernel: two-layer networks made convex",
    parameters=_PARAMETERS,
    released="average_iterate",
    neighbours="replace",
    accounted_by="two-layer.epsilon",
    account=account,
    reference=train,
    batched="oracle.training.torch_two_layer:train",
    gaussian_release=lambda config: bool(config.link == "one"),
    source=("nonconvex-nn/thm-8-privacy",),
)

two_layer_projected = Algorithm(
    name="two-layer-projected",
    document="002, Algorithm 9 (with 3)",
    summary="phased SGD on randomly projected features of a multinomial kernel",
    parameters=(*_PARAMETERS, positive_integer("projected_dimension", "rows of the Gaussian projection")),
    released="average_iterate",
    neighbours="replace",
    accounted_by="two-layer-projected.epsilon",
    account=account_projected,
    reference=train_projected,
    batched="oracle.training.torch_two_layer:train_projected",
    gaussian_release=lambda config: False,
    source=("nonconvex-nn/thm-8-privacy",),
)
