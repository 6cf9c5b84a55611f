r"""DP-GLMtron with thresholds from DP-Threshold: the literal reference (document 003, Algorithms 1 and 2).

The last `threshold_records` records are for the thresholds, and only for them; the other N are the pass of
`dp_glmtron`. At every step t, before the record:

    s_t     = DP-Threshold of the threshold records for the model w_t (see `dp_threshold`)
    gamma_t = threshold_scale s_t,    threshold_scale = sqrt(2 alpha tr(H)) C_2 log^{2a}(N) in the document
    w_{t+1} = w_t - eta ( clip_{gamma_t}(v_t) + 2 f gamma_t g_t ),    g_t ~ N(0, I)

Released is the mean of w_0, ..., w_{N-1}. Where a call fails, gamma_t is that of the step before, and `clip_norm` at
the start: the document does not say, and what does not depend on the records costs nothing.

Corrected: clipping (see `glmtron`), DP-Threshold (see there), and that the two sets of records are disjoint, which the
document leaves open ("a small batch of data points"): then a replaced record is in one of them, and the weaker of
the two guarantees holds for all. With epsilon' and delta' of Theorem 4.1 the threshold records must outnumber the
others many times over. As the noise follows a gamma_t that follows w_t, large f and threshold_scale feed back until
nothing but the reach of the bins holds the model; its entries are cut to `FARTHEST`, after the noise and so at no
cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.glmtron import dp_threshold, glmtron
from oracle.algorithms.glmtron.dp_glmtron import NOISE, PASS, SHUFFLED
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals
from oracle.core.errors import DomainError
from oracle.core.records import FARTHEST
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data, enough of them for both parts."""
    glmtron.check(features, labels, config)
    if config.threshold_records >= len(features):
        raise DomainError(
            f"threshold_records = {config.threshold_records} is outside its domain: less than the {len(features)}"
            " records"
        )
    dp_threshold.check_size(config, config.threshold_records)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    records, dimension = len(features) - config.threshold_records, features.shape[1]  # the first are those of the pass
    eta, gamma = float(config.learning_rate), float(config.clip_norm)
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
        noise_std = 2 * float(config.noise_over_sensitivity) * gamma
        if recorder is not None:
            recorder("sample", step=t, sample=int(order[t]), norm=float(np.linalg.norm(v)))
            recorder("update", step=t, clipped_sum=clipped.copy(), noise_std=noise_std)
        w = w - eta * (clipped + noise_std * tape.normal("noise", t, dimension)[0])
        w = np.clip(w, -FARTHEST[False], FARTHEST[False])
    average: Array = iterates / records
    return average


# --- what is proved


def _both(config: Values) -> dict[str, Any]:
    """The parameters of glmtron-adaptive.epsilon, whose records are those of the pass."""
    return {
        "noise_over_sensitivity": config.noise_over_sensitivity,
        "dataset_size": config.dataset_size - config.threshold_records,
        "threshold_epsilon": config.threshold_epsilon, "threshold_delta": config.threshold_delta,
    }


def _step(config: Values, room: int) -> float:
    """The largest number that a step computes by its configuration: a threshold follows bins that have a last end."""
    squares = dp_threshold.largest_square(config)
    thresholds = records.log2(config.clip_norm), records.log2(config.threshold_scale) + squares / 2
    noisy = max(thresholds) + records.log2(1 + 2 * records.LARGEST_DRAW * config.noise_over_sensitivity)
    return max(squares, noisy + max(0.0, records.log2(config.learning_rate)))


dp_glmtron_adaptive = Algorithm(
    name="dp-glmtron-adaptive",
    document="003, Algorithms 1 and 2",
    summary="DP-GLMtron whose clipping norms come from DP-Threshold on other records, a step at a time",
    parameters=(NOISE, vocabulary.threshold_records, *dp_threshold.KEYS),
    training=(*glmtron.TRAINING, vocabulary.threshold_scale, vocabulary.model_variance),
    setting=(*glmtron.PLANNED, vocabulary.neighbours),
    stated=(vocabulary.shuffled, *dp_threshold.STATED),
    trained=lambda config: {
        **dp_threshold.TRAINED, "epochs": 1, "thresholds": "other_records", "shuffled": "true",
    },
    released="average_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "glmtron-adaptive.epsilon", "the weaker of a shuffled pass and of the thresholds: all iterates may be seen",
            _both,
            (
                *PASS, SHUFFLED,
                equals("other-records", "thresholds", "other_records"),
                Condition(
                    "other-records", lambda config: config.threshold_records < config.dataset_size,
                    "records are left for the pass: threshold_records is below dataset_size",
                ),
                *dp_threshold.REPAIRED, *dp_threshold.filled("threshold_records"),
                *by_design("gaussian-noise", "past-thresholds"),
            ),
        ),
    ),
    check=check,
    reach=lambda config, count: records.log2(config.initial_std * records.LARGEST_DRAW),
    step=_step,
    reference=train,
    batched="oracle.algorithms.glmtron.torch_dp_glmtron_adaptive:twin",
    source=(
        "glmtron/alg-1", "glmtron/alg-2-repaired", "glmtron/budget-twice-reading-disjoint",
        "glmtron/feedback-divergence",
    ),
)
