r"""DP-GLMtron with thresholds from DP-Threshold: the literal reference (document 003, Algorithms 1 and 2).

The last `estimation` records are for the thresholds, and only for them; the other N are the pass of `dp_glmtron`. At
every step t, before the record:

    s_t     = DP-Threshold of the estimation records for the model w_t (see `dp_threshold`)
    gamma_t = threshold_scale s_t,    threshold_scale = sqrt(2 alpha tr(H)) C_2 log^{2a}(N) in the document
    w_{t+1} = w_t - eta ( clip_{gamma_t}(v_t) + 2 f gamma_t g_t ),    g_t ~ N(0, I)

Released is the mean of w_0, ..., w_{N-1}. Where a call fails, gamma_t is that of the step before, and `clip_norm` at
the start: the document does not say, and what does not depend on the records costs nothing.

Corrected: clipping (see `glmtron`), DP-Threshold (see there), and that the two sets of records are disjoint, which the
document leaves open ("a small batch of data points"): then a replaced record is in one of them, and the weaker of
the two guarantees holds for all. With epsilon' and delta' of Theorem 4.1 the estimation records must outnumber the
others many times over. As the noise follows a gamma_t that follows w_t, large f and threshold_scale feed back until
nothing but the reach of the bins holds the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.glmtron import dp_threshold, glmtron
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def trained_on(config: Values, records: int) -> int:
    """The number of records of the pass, which are the first; a DomainError if there are none, or too few others."""
    if config.threshold_records >= records:
        raise DomainError(f"estimation = {config.threshold_records} is outside its domain: less than the {records} records")
    dp_threshold.check_size(config, config.threshold_records)
    return int(records - config.threshold_records)


def check(features: Array, labels: Array, config: Values) -> int:
    """The number of records of the pass; a DomainError unless these are data, enough of them for both parts."""
    glm.check_data(features, labels)
    return trained_on(config, features.shape[0])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    records, dimension = check(features, labels, config), features.shape[1]
    eta, gamma, noise_multiplier = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_over_sensitivity))
    order = tape.permutation("order", 0, records)[0]
    w = float(config.initial_std) * tape.normal("initial", 0, dimension)[0]
    iterates = np.zeros(dimension)
    for t in range(records):
        iterates += w
        s = dp_threshold.threshold(features[records:], labels[records:], w, config, tape, t, recorder)
        gamma = gamma if s is None else float(config.threshold_scale) * s
        x, y = features[order[t]], float(labels[order[t]])
        v = glmtron.vector(x, y, w, indicator=False)
        clipped = glmtron.clipped(v, gamma, config.clip)
        noise_std = 2 * noise_multiplier * gamma
        if recorder is not None:
            recorder("sample", step=t, sample=int(order[t]), norm=float(np.linalg.norm(v)))
            recorder("update", step=t, clipped_sum=clipped.copy(), noise_std=noise_std)
        w = w - eta * (clipped + noise_std * tape.normal("noise", t, dimension)[0])
    average: Array = iterates / records
    return average


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of glmtron-adaptive.epsilon but delta."""
    glmtron.check_clip(config)
    return {
        "noise_multiplier": config.noise_over_sensitivity, "records": trained_on(config, records),
        "threshold_epsilon": config.threshold_epsilon, "threshold_delta": config.threshold_delta,
    }


dp_glmtron_adaptive = Algorithm(
    name="dp-glmtron-adaptive",
    document="003, Algorithms 1 and 2",
    summary="DP-GLMtron whose clipping norms come from DP-Threshold on other records, a step at a time",
    parameters=(
        *glmtron.PARAMETERS,
        vocabulary.noise_over_sensitivity.above(0),
        vocabulary.threshold_records,
        vocabulary.threshold_scale,
        *dp_threshold.PARAMETERS,
    ),
    released="average_iterate",
    neighbours="replace",
    accounted_by="glmtron-adaptive.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.glmtron.torch_dp_glmtron_adaptive:train",
    gaussian_release=lambda config: False,
    source=("glmtron/alg-1", "glmtron/alg-2", "glmtron/budget-twice", "glmtron/feedback-divergence"),
)
