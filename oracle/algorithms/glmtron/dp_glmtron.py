r"""DP-GLMtron and its baseline DP-SGD: the literal references (document 003, Algorithm 1 and section 6).

The N records are put in a random order, which stays secret. One pass, a record a step:

    w_{t+1} = w_t - eta ( clip_gamma(v_t) + 2 f gamma g_t ),   g_t ~ N(0, I),   t = 0, ..., N - 1

with the vector v_t of the record at place t (see `glmtron`); released is the mean of w_0, ..., w_{N-1}. The document
starts at w_0 = 0. Replacing a record moves one step by at most 2 gamma against noise 2 f gamma.

gamma is fixed in advance here; `dp_glmtron_adaptive` takes it from DP-Threshold on other records, a step at a time, as
the document does. Corrected: clipping (see `glmtron`).

DP-SGD, the baseline, is the same with the gradient for v_t; its account is the same, which asks nothing of v_t.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from oracle.algorithms.glmtron import glmtron
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array) -> None:
    """A DomainError unless these are data; of any norm, since every record's vector is clipped."""
    glm.check_data(features, labels)


def train(
    features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None, *, indicator: bool = False
) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels)
    eta, gamma, noise_multiplier = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_over_sensitivity))
    records, dimension = features.shape
    order = tape.permutation("order", 0, records)[0]
    w = float(config.initial_std) * tape.normal("initial", 0, dimension)[0]
    iterates = np.zeros(dimension)
    for t in range(records):
        iterates += w
        x, y = features[order[t]], float(labels[order[t]])
        v = glmtron.vector(x, y, w, indicator=indicator)
        clipped = glmtron.clipped(v, gamma, config.clip)
        noise_std = 2 * noise_multiplier * gamma
        if recorder is not None:
            recorder("sample", step=t, sample=int(order[t]), norm=float(np.linalg.norm(v)))
            recorder("update", step=t, clipped_sum=clipped.copy(), noise_std=noise_std)
        w = w - eta * (clipped + noise_std * tape.normal("noise", t, dimension)[0])
    average: Array = iterates / records
    return average


def train_gradient(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model of the baseline."""
    return train(features, labels, config, tape, recorder, indicator=True)


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of glmtron.epsilon but delta: one shuffled pass with all iterates seen."""
    glmtron.check_clip(config)
    return {"noise_multiplier": config.noise_over_sensitivity, "records": records, "method": "upper"}


_algorithm = functools.partial(
    Algorithm,
    parameters=(
        *glmtron.PARAMETERS, vocabulary.noise_over_sensitivity.above(0),
    ),
    released="average_iterate",
    neighbours="replace",
    accounted_by="glmtron.epsilon",
    account=account,
    gaussian_release=lambda config: False,
)

dp_glmtron = _algorithm(
    name="dp-glmtron",
    document="003, Algorithm 1",
    summary="one noisy GLMtron pass over records in a secret random order, the average iterate",
    reference=train,
    batched="oracle.algorithms.glmtron.torch_dp_glmtron:train",
    source=("glmtron/alg-1", "glmtron/clip", "glmtron/thm-4.1"),
)

glm_dp_sgd = _algorithm(
    name="glm-dp-sgd",
    document="003, Section 6, DP-SGD",
    summary="DP-GLMtron's pass with the gradient of ReLU regression in place of its vector",
    reference=train_gradient,
    batched="oracle.algorithms.glmtron.torch_dp_glmtron:train_gradient",
    source=("glmtron/eq-3-update-rules", "glmtron/thm-4.1"),
)
