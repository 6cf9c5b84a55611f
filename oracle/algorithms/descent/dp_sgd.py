"""DP-SGD on generalised linear models: the literal reference (document 000, eq. 2.2; document 004).

A step draws the batch B by letting every record in with probability q = b/n, on its own and anew, and takes

    theta <- theta - eta ( (1/b) sum_{i in B} clip(grad h(theta; x_i, y_i), C) + lambda theta + Z ),

with Z ~ N(0, noise_on_mean^2 I). 000 writes noise_on_mean = C sigma / b, so that its sigma is the noise multiplier of
the accountants. The losses h are those of `glm`.

What is fixed here. The divisor is the expected size b, as in 000, never |B|: dividing by |B| is undefined for an empty
batch and makes a record's weight depend on who else was drawn; an empty batch is a step of noise alone. 004 says "of
size B" and leaves the noise open ("TBD"); its own analysis samples by Poisson, which is what is done. Its clipping
factor max(1, C/|g|) is min(1, C/|g|). Its output, "the average or the last iterate", is the last one here, as in 000;
the guarantees cover all iterates. lambda = 0 is the documents' update; lambda > 0 adds the ridge of 000's eq. 2.4,
unclipped: it is a function of the iterate alone, so that it costs no privacy, and the two methods can be run on one
problem. No step size and no convexity is asked for: only the clipping.

A plan may draw its batches otherwise, or let them be known: each way has its guarantee.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.descent.dp_gd import CLIPPED
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import CONSTANT_SIZE, REPLACE, WITHOUT_REPLACEMENT
from oracle.algorithms.shared.constant_size import DECLARED_SIZE, FITS, check_batch_size, check_size
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, by_design, equals, said, towards
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data of the loss, as many as the relation allows."""
    glm.check_data(features, labels, loss=config.loss)
    check_size(config, features.shape[0])
    check_batch_size(config)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, lam, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm))
    sigma = float(config.noise_on_mean)
    records, dimension = features.shape
    theta = np.zeros(dimension)
    for step in range(config.steps):
        batch = np.flatnonzero(tape.bernoulli("batch", step, records, config.batch_size / config.dataset_size)[0])
        if recorder is not None:
            recorder("batch", step=step, members=batch)
        total = np.zeros(dimension)
        for i in batch:
            gradient = glm.residual(config.loss, float(features[i] @ theta), float(labels[i])) * features[i]
            total += glm.clip(gradient, clip_norm)
            if recorder is not None:
                recorder("sample", step=step, sample=int(i), norm=float(np.linalg.norm(gradient)))
        noise = sigma * tape.normal("noise", step, dimension)[0]
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
        theta = theta - eta * (total / config.batch_size + lam * theta + noise)
    return theta


def _poisson(config: Values) -> dict[str, Any]:
    names = ("clip_norm", "dataset_size", "batch_size", "noise_on_mean", "steps", "neighbours")
    return {name: getattr(config, name) for name in names}


def _multiplier(config: Values) -> Fraction:
    """The noise on the sum of the batch in units of clip_norm."""
    return Fraction(config.noise_on_mean * config.batch_size / config.clip_norm)


def _without_replacement(config: Values) -> dict[str, Any]:
    rate = Fraction(config.batch_size, config.dataset_size)
    return {"sigma": _multiplier(config), "sampling_rate": rate, "steps": config.steps}


def _unsampled(config: Values) -> dict[str, Any]:
    sensitivity = 2 if config.neighbours == "replace" else 1
    return {"sigma": _multiplier(config), "sensitivity": sensitivity, "steps": config.steps}


DIVISOR = said("constant-divisor", "constant_divisor")
SECRET = said("secret-batches", "secret_batches")
POISSON = (
    equals("poisson-sampling", "sampling", "poisson"), FITS, CLIPPED, DIVISOR, SECRET, DECLARED_SIZE, CONSTANT_SIZE,
    *by_design("gaussian-noise", "only-noisy-gradients"),
)
"""What the sampled Gaussian steps ask for."""
# Where a record joins or leaves, a sample of fixed size changes in another record too.
ONE_TERM = Condition(
    "l2-sensitivity",
    lambda config: config.sampling == "poisson"
    or (config.sampling == "without_replacement" and config.neighbours == "replace"),
    "a record is in a batch at most once, and its coming or going leaves the others' places alone",
)
GUARANTEES = (
    Guarantee("dp-sgd.epsilon", "amplification by Poisson sampling, composed exactly", _poisson, POISSON),
    Guarantee(
        "wor-gaussian.epsilon", "amplification by sampling without replacement", _without_replacement,
        (
            REPLACE, WITHOUT_REPLACEMENT, *towards("without-replacement", FITS, DECLARED_SIZE),
            *towards("short-terms", CLIPPED), SECRET, *by_design("gaussian-noise"),
        ),
    ),
    Guarantee(
        "gaussian-composed.epsilon", "composition without amplification: the batches may be known", _unsampled,
        (
            *towards("l2-sensitivity", FITS, CLIPPED, DIVISOR, ONE_TERM, DECLARED_SIZE, CONSTANT_SIZE),
            *by_design("gaussian-noise"),
        ),
    ),
)
KEYS = (
    vocabulary.clip_norm.finite(), vocabulary.noise_on_mean.above(0), vocabulary.batch_size,
    vocabulary.steps.at_least(1), vocabulary.dataset_size, vocabulary.neighbours,
)
SETTING = (
    vocabulary.delta.open(), vocabulary.sampling.choosing("poisson", "without_replacement", "with_replacement"),
)
STATED = (vocabulary.clipped, vocabulary.constant_divisor, vocabulary.secret_batches, vocabulary.fixed_size)


def trained(config: Values) -> dict[str, Any]:
    """What our own trainings on Poisson batches make true."""
    return {"sampling": "poisson", **{key.name: "true" for key in STATED}}


dp_sgd = Algorithm(
    name="dp-sgd",
    document="000, eq. 2.2; 004, DP-SGD",
    summary="gradient descent on the noisy sums of clipped gradients over Poisson batches, divided by a constant",
    parameters=KEYS,
    training=(vocabulary.loss.choosing(*glm.LOSSES), vocabulary.learning_rate, vocabulary.regularisation),
    setting=SETTING,
    stated=STATED,
    trained=trained,
    released="last_iterate",
    neighbours="any",
    guarantees=GUARANTEES,
    check=check,
    reach=lambda config, count: glm.reach(config, config.steps, Fraction(count, config.batch_size)),
    reference=train,
    batched="oracle.algorithms.descent.torch_dp_sgd:twin",
    source=("relu-approx/eq-2.2", "cs208/dp-sgd-repaired"),
)
