r"""DP-TAGLMtron and its baseline DP-FTRL: the literal references (document 003, Algorithms 3 and 4 and section 6).

One pass over the records in the given order, a record a step, t = 0, ..., N - 1:

    l_t     = clip_gamma(v_t),   v_t the vector of record t at w_t (see `glmtron`)
    l'_t    = the noisy sum of l_0, ..., l_t by a binary tree (see `tree`)
    w_{t+1} = argmin_w <w, l'_t> + |w - w_0|^2 / (2 eta) = w_0 - eta l'_t

released is the mean of w_1, ..., w_N. The document starts at w_0 = 0 and knows no other. The noise of a node is
f gamma, as in the document and in the bound. A record moves a node by 2 gamma if it is replaced, by gamma if its leaf
is zeroed or was zero (`neighbours`; a record with x = 0 has a zero leaf): the guarantee asks which, the training does
not. Corrected: clipping (see `glmtron`). The f of Theorem 5.1 is a multiplier for a move of gamma;
under the document's own relation, replace, it is half of what the theorem promises.

gamma is fixed in advance; in the document it comes from DP-Threshold at every step.

DP-FTRL, the baseline, is the same with the gradient for v_t.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from oracle.algorithms.glmtron import glmtron
from oracle.algorithms.glmtron.dp_threshold import BESIDE, covered, covers
from oracle.algorithms.glmtron.glmtron import ONE_PASS, SHORTENS
from oracle.algorithms.glmtron.tree import PrefixSums
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, said
from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound
from oracle.core.tape import Tape


def train(
    features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None, *, indicator: bool = False
) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    glmtron.check(features, labels, config)
    eta, gamma = float(config.learning_rate), float(config.clip_norm)
    noise_std = float(config.noise_multiplier) * gamma
    records, dimension = features.shape
    sums = PrefixSums(dimension, lambda t: noise_std * tape.normal("node", t, dimension)[0])
    start = float(config.initial_std) * tape.normal("initial", 0, dimension)[0]
    w = start
    iterates = np.zeros(dimension)
    for t in range(records):
        v = glmtron.vector(features[t], float(labels[t]), w, indicator=indicator)
        leaf = glmtron.clipped(v, gamma, config.clip)
        if recorder is not None:
            recorder("sample", step=t, sample=t, norm=float(np.linalg.norm(v)))
            recorder("update", step=t, clipped_sum=leaf.copy(), noise_std=noise_std)
        w = start - eta * sums.add(leaf)
        iterates += w
    average: Array = iterates / records
    return average


def train_gradient(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model of the baseline."""
    return train(features, labels, config, tape, recorder, indicator=True)


# --- what is proved


def _tree(config: Values) -> dict[str, Any]:
    return {
        "noise_multiplier": config.noise_multiplier, "dataset_size": config.dataset_size, "delta": config.delta,
        "neighbours": config.neighbours,
    }


def _own(config: Values) -> Enclosure:
    return bound("taglmtron.epsilon").at(_tree(config))


_LATE_NOISE = said("late-noise", "late_noise")
_PASS = (ONE_PASS, SHORTENS, _LATE_NOISE)

_algorithm = functools.partial(
    Algorithm,
    parameters=(vocabulary.noise_multiplier, vocabulary.neighbours),
    training=glmtron.TRAINING,
    setting=glmtron.PLANNED,
    stated=(vocabulary.late_noise, *BESIDE),
    trained=lambda config: {"epochs": 1, "thresholds": "fixed", "late_noise": "true"},
    released="average_iterate",
    neighbours="any",
    guarantees=(
        Guarantee(
            "taglmtron.epsilon", "all completed nodes: all iterates may be seen", _tree,
            (*_PASS, covers(_own), *by_design("gaussian-noise")),
        ),
        covered(_own, _PASS),
    ),
    check=glmtron.check,
    reach=lambda config, count: glmtron.reach(  # a prefix has as many nodes as its number has digits, or fewer
        config, count, config.noise_multiplier * count.bit_length() / count
    ),
)

dp_taglmtron = _algorithm(
    name="dp-taglmtron",
    document="003, Algorithms 3 and 4",
    summary="one GLMtron pass on noisy prefix sums by tree aggregation, the average iterate",
    reference=train,
    batched="oracle.algorithms.glmtron.torch_dp_taglmtron:twin",
    source=(
        "glmtron/alg-3", "glmtron/alg-4-gamma-repaired", "glmtron/alg-4-prefix-repaired", "glmtron/thm-5.1-repaired",
    ),
)

dp_ftrl = _algorithm(
    name="dp-ftrl",
    document="003, Section 6, DP-FTRL",
    summary="DP-TAGLMtron's pass with the gradient of ReLU regression in place of its vector",
    reference=train_gradient,
    batched="oracle.algorithms.glmtron.torch_dp_taglmtron:twin_gradient",
    source=("glmtron/eq-3-update-rules", "glmtron/thm-5.1-repaired"),
)
