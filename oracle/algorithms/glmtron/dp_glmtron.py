r"""DP-GLMtron and its baseline DP-SGD: the literal references (document 003, Algorithm 1 and section 6).

The N records are put in a random order, which stays secret. One pass, a record a step:

    w_{t+1} = w_t - eta ( clip_gamma(v_t) + 2 f gamma g_t ),   g_t ~ N(0, I),   t = 0, ..., N - 1

with the vector v_t of the record at place t (see `glmtron`); released is the mean of w_0, ..., w_{N-1}. The document
starts at w_0 = 0. Replacing a record moves one step by at most 2 gamma against noise 2 f gamma.

gamma is fixed in advance here; `dp_glmtron_adaptive` takes it from DP-Threshold on other records, a step at a time, as
the document does. Corrected: clipping (see `glmtron`).

DP-SGD, the baseline, is the same with the gradient for v_t; its guarantees are the same, which ask nothing of v_t.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from oracle.algorithms.glmtron import glmtron
from oracle.algorithms.glmtron.dp_threshold import BESIDE, covered, covers
from oracle.algorithms.glmtron.glmtron import ONE_PASS, SHORTENS
from oracle.algorithms.shared.conditions import REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, given, said, towards
from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound
from oracle.core.tape import Tape


def train(
    features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None, *, indicator: bool = False
) -> Array:
    """The average iterate of one model: the text of the algorithm, sample by sample."""
    glmtron.check(features, labels, config)
    eta, gamma = float(config.learning_rate), float(config.clip_norm)
    noise_std = 2 * float(config.noise_over_sensitivity) * gamma
    records, dimension = features.shape
    order = tape.permutation("order", 0, records)[0]
    w = float(config.initial_std) * tape.normal("initial", 0, dimension)[0]
    iterates = np.zeros(dimension)
    for t in range(records):
        iterates += w
        x, y = features[order[t]], float(labels[order[t]])
        v = glmtron.vector(x, y, w, indicator=indicator)
        clipped = glmtron.clipped(v, gamma, config.clip)
        if recorder is not None:
            recorder("sample", step=t, sample=int(order[t]), norm=float(np.linalg.norm(v)))
            recorder("update", step=t, clipped_sum=clipped.copy(), noise_std=noise_std)
        w = w - eta * (clipped + noise_std * tape.normal("noise", t, dimension)[0])
    average: Array = iterates / records
    return average


def train_gradient(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average iterate of one model of the baseline."""
    return train(features, labels, config, tape, recorder, indicator=True)


# --- what is proved


NOISE = vocabulary.noise_over_sensitivity.above(0)
_STATED = (vocabulary.shuffled, *BESIDE)
SHUFFLED = said("secret-order", "shuffled")
PASS = (REPLACE, ONE_PASS, SHORTENS)
"""What a step's guarantee assumes: the record of a step moves it by twice the clipping norm, and no other step."""


def _shuffled(config: Values) -> dict[str, Any]:
    return {
        "noise_over_sensitivity": config.noise_over_sensitivity, "dataset_size": config.dataset_size,
        "delta": config.delta, "method": "upper",
    }


def _alone(config: Values) -> dict[str, Any]:
    return {"sigma": config.noise_over_sensitivity, "sensitivity": 1, "delta": config.delta}


def _one_step(config: Values) -> Enclosure:
    return bound("gaussian.epsilon").at(_alone(config))


def _best(config: Values) -> Enclosure:
    """The best of the training's own guarantees."""
    return bound("glmtron.epsilon").at(_shuffled(config)) if config.shuffled == "true" else _one_step(config)


_WALK = (
    # Noise moves the iterate anywhere, and with it the vector of a record that is not 0: some run clips it.
    Condition(
        "unclipped", lambda config: False if config.dataset_size > 1 else None,
        "clipping never acts, though noise can move the iterate anywhere",
    ),
    Condition(
        "fixed-noise", lambda config: bool(config.thresholds == "fixed"), "the clipping norm is fixed in advance"
    ),
    ONE_PASS, equals("judged-average", "released", "average_iterate"), given("start-at-gap", "gap"),
    said("independent-records", "independent_records"),
    said("relu-labels", "well_specified", "the mean of a label, given x, is relu(<w*, x>)"),
    given("relu-labels", "label_noise", words="its variance is at most label_noise^2"),
    *by_design("excess-population-risk", "gaussian-noise"),
)


def _risk(config: Values, *asked: str) -> dict[str, Any] | None:
    """The parameters of the risk: the noise of a step is 2 f gamma."""
    names = ("spectrum", "gap", "dataset_size", "learning_rate", "label_noise", *asked)
    values = {name: getattr(config, name) for name in names}
    if None in values.values() or config.clip_norm is None:
        return None
    return {**values, "noise_on_mean": 2 * config.noise_over_sensitivity * config.clip_norm}


_RISKS = (
    Guarantee(
        "glmtron.risk", "the average iterate, in expectation, in closed form",
        lambda config: _risk(config, "fourth_moment"),
        (*_WALK, said("symmetric-features", "symmetric"), given("fourth-moments", "spectrum", "fourth_moment")),
    ),
)
_RISK_KEYS = (
    vocabulary.spectrum, vocabulary.gap, vocabulary.fourth_moment, vocabulary.label_noise, vocabulary.symmetric,
    vocabulary.independent_records, vocabulary.well_specified,
)

_algorithm = functools.partial(
    Algorithm,
    parameters=(NOISE,),
    training=glmtron.TRAINING,
    setting=(*glmtron.PLANNED, vocabulary.neighbours),
    stated=_STATED,
    trained=lambda config: {"epochs": 1, "thresholds": "fixed", "shuffled": "true"},
    released="average_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "glmtron.epsilon", "shuffled, a Gaussian step a record: all iterates may be seen", _shuffled,
            (*PASS, SHUFFLED, covers(_best), *by_design("gaussian-noise")),
        ),
        Guarantee(
            "gaussian.epsilon", "a Gaussian step a record: all iterates and the order may be seen", _alone,
            (*towards("l2-sensitivity", *PASS, covers(_one_step)), *by_design("gaussian-noise")),
        ),
        covered(_best, PASS),
    ),
    check=glmtron.check,
    reach=lambda config, count: glmtron.reach(config, count, 2 * config.noise_over_sensitivity),
)

dp_glmtron = _algorithm(
    name="dp-glmtron",
    document="003, Algorithm 1",
    summary="one noisy GLMtron pass over records in a secret random order, the average iterate",
    stated=(*_STATED, *_RISK_KEYS),
    risks=_RISKS,
    reference=train,
    batched="oracle.algorithms.glmtron.torch_dp_glmtron:twin",
    source=("glmtron/alg-1", "glmtron/clip-repaired", "glmtron/thm-4.1-reading-constant"),
)

glm_dp_sgd = _algorithm(
    name="glm-dp-sgd",
    document="003, Section 6, DP-SGD",
    summary="DP-GLMtron's pass with the gradient of ReLU regression in place of its vector",
    reference=train_gradient,
    batched="oracle.algorithms.glmtron.torch_dp_glmtron:twin_gradient",
    source=("glmtron/eq-3-update-rules", "glmtron/thm-4.1-reading-constant"),
)
