"""DP-PGD for ReLU regression on randomly projected records: the literal reference (document 002, Algorithm 7).

Phi has m rows of d independent N(0, 1/m) entries, drawn without looking at the data; from w_1 = 0,

    w_{t+1} = Pi( w_t - eta ( (1/n) sum_i (max(0, <w_t, Phi x_i>) - y_i) Phi x_i + zeta_t ) ),

zeta_t ~ N(0, sigma^2 I_m), sigma = noise_on_mean, t = 1, ..., T, where Pi projects on the ball |w| <= 2W of R^m.
Released is Phi^T (w_1 + ... + w_T) / T, in R^d.

What is fixed here. The text returns (1/T) sum_t Phi^T w_T, which is the last iterate: its analysis averages w_t. It
writes zeta for zeta_t and leaves w_1 open: 0, which lies in the ball and knows no data. sigma is free, and the
guarantee says what it gives: the text's 32 (4W + B)^2 T log(2/delta) / (n epsilon)^2 is larger than needed. The average
begins at w_1 and leaves w_{T+1} out, as in the text; all T noisy gradients are accounted for, and Phi may be published.

Nothing is clipped: |x| <= 1 and |y| <= B are hypotheses, and data beyond them are refused. A projection that stretches
a record to more than twice its length is charged to delta, see `oracle.engines.projection`: no run is refused for it,
since the refusal would be a function of the data.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.descent.dp_gd_projected import project
from oracle.algorithms.regression import relu_regression
from oracle.algorithms.shared.conditions import (
    GAUSSIAN_PROJECTION,
    LABELS_BOUNDED,
    PLANNED,
    REPLACE,
    SHORT_FEATURES,
)
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, said
from oracle.core.tape import Tape
from oracle.engines.projection import PROJECTED_DIMENSION


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data meet the hypotheses of the guarantee."""
    relu_regression.check_data(features, labels, feature_norm=Fraction(1), label_bound=config.label_bound)


def projection(config: Values, dimension: int, tape: Tape) -> Array:
    """Phi, of shape [m, d]."""
    rows = config.projected_dimension
    phi: Array = tape.normal("projection", 0, rows * dimension)[0].reshape(rows, dimension) / np.sqrt(rows)
    return phi


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model, lifted to the features' space: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, sigma, radius = float(config.learning_rate), float(config.noise_on_mean), 2 * float(config.weight_bound)
    records, dimension = features.shape
    phi = projection(config, dimension, tape)
    w = np.zeros(config.projected_dimension)
    iterates = np.zeros(config.projected_dimension)
    for step in range(config.steps):
        iterates += w
        total = np.zeros(config.projected_dimension)
        for i in range(records):
            gradient = relu_regression.gradient(w, phi @ features[i], float(labels[i]))
            total += gradient
            if recorder is not None:
                recorder("sample", step=step, sample=i, norm=float(np.linalg.norm(gradient)))
        noise = sigma * tape.normal("noise", step, config.projected_dimension)[0]
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
        w = project(w - eta * (total / records + noise), radius)
    lifted: Array = phi.T @ (iterates / config.steps)
    return lifted


def _parameters(config: Values) -> dict[str, Any]:
    """The parameters of dp-pgd.epsilon: all noisy gradients, composed."""
    names = ("noise_on_mean", "weight_bound", "label_bound", "dataset_size", "steps", "projected_dimension")
    return {name: getattr(config, name) for name in names}


def _risk(config: Values) -> dict[str, Any] | None:
    """The parameters of dp-pgd.risk: the true parameter is in the ball of radius W = weight_bound."""
    if config.learning_rate is None:
        return None
    names = ("label_bound", "projected_dimension", "dataset_size", "steps", "learning_rate", "noise_on_mean")
    return {"target_norm": config.weight_bound, **{name: getattr(config, name) for name in names}}


def _within(config: Values) -> bool | None:
    return None if config.target_norm is None else bool(config.target_norm <= config.weight_bound)


_DATA = (SHORT_FEATURES, LABELS_BOUNDED, GAUSSIAN_PROJECTION)
_RUN = by_design("gaussian-noise", "full-batches", "projected-weights", "relu-updates")

dp_pgd = Algorithm(
    name="dp-pgd",
    document="002, Algorithm 7",
    summary="full-batch projected gradient descent for ReLU regression on randomly projected records, the average",
    parameters=(
        vocabulary.noise_on_mean.above(0), vocabulary.weight_bound, vocabulary.label_bound, PROJECTED_DIMENSION,
        vocabulary.steps.at_least(1),
    ),
    training=(vocabulary.learning_rate,),
    setting=PLANNED,
    stated=(
        vocabulary.features_bounded, vocabulary.labels_bounded, vocabulary.gaussian_projection,
        vocabulary.independent_records, vocabulary.well_specified, vocabulary.target_norm,
    ),
    trained=lambda config: {"features_bounded": "true", "labels_bounded": "true", "gaussian_projection": "true"},
    released="average_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "dp-pgd.epsilon", "composition: all iterates may be seen; long projections are charged to delta",
            _parameters,
            (REPLACE, *_DATA, *_RUN, *by_design("independent-start")),
        ),
    ),
    risks=(
        Guarantee(
            "dp-pgd.risk", "the average iterate, in expectation", _risk,
            (
                equals("judged-average", "released", "average_iterate"), *_DATA, *_RUN,
                said("independent-records", "independent_records"), said("well-specified", "well_specified"),
                *by_design("excess-population-risk", "start-at-zero"),
                Condition("bounded-target", _within, "target_norm is at most weight_bound"),
            ),
        ),
    ),
    check=check,
    reach=lambda config, count: records.reach(
        steps=1, learning_rate=config.learning_rate, gradient=config.weight_bound + config.label_bound,
        noise=config.noise_on_mean, start=2 * config.weight_bound,
    ),
    reference=train,
    batched="oracle.algorithms.regression.torch_dp_pgd:twin",
    source=("nonconvex-nn/thm-6-privacy", "nonconvex-nn/alg-7-typos"),
)
