"""DP-SGD on generalised linear models: the literal reference (document 000, eq. 2.2; document 004).

A step draws the batch B by letting every record in with probability q = b/n, on its own and anew, and takes

    theta <- theta - eta ( (1/b) sum_{i in B} clip(grad h(theta; x_i, y_i), C) + lambda theta + Z ),

with Z ~ N(0, noise_std^2 I). 000 writes noise_std = C sigma / b, so that its sigma is the noise multiplier of the
accountants. The losses h are those of `glm`.

What is fixed here. The divisor is the expected size b, as in 000, never |B|: dividing by |B| is undefined for an empty
batch and makes a record's weight depend on who else was drawn; an empty batch is a step of noise alone. 004 says "of
size B" and leaves the noise open ("TBD"); its own analysis samples by Poisson, which is what is done. Its clipping
factor max(1, C/|g|) is min(1, C/|g|). Its output, "the average or the last iterate", is the last one here, as in 000;
the account covers all iterates. lambda = 0 is the documents' update; lambda > 0 adds the ridge of 000's eq. 2.4,
unclipped: it is a function of the iterate alone, so that it costs no privacy, and the two methods can be run on one
problem. No step size and no convexity is asked for: only the clipping.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.constant_size import DATASET_SIZE, check_batch_size, check_size
from oracle.algorithms.shared.glm import Array
from oracle.bounds.sampling.relation import NEIGHBOURS
from oracle.core import vocabulary
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data of the loss, as many as the relation allows."""
    glm.check_data(features, labels, loss=config.loss)
    check_size(config, features.shape[0])
    check_batch_size(config)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate of one model: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, lam, clip_norm, noise_std = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm, config.noise_on_mean))
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
        noise = noise_std * tape.normal("noise", step, dimension)[0]
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=noise_std)
        theta = theta - eta * (total / config.batch_size + lam * theta + noise)
    return theta


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of dp-sgd.epsilon: all iterates, composed."""
    check_size(config, records)
    check_batch_size(config)
    names = ("clip_norm", "dataset_size", "batch_size", "noise_std", "steps", "neighbours")
    return {name: getattr(config, name) for name in names}


dp_sgd = Algorithm(
    name="dp-sgd",
    document="000, eq. 2.2; 004, DP-SGD",
    summary="gradient descent on the noisy sums of clipped gradients over Poisson batches, divided by a constant",
    parameters=(
        vocabulary.loss.choosing(*glm.LOSSES),
        vocabulary.learning_rate,
        vocabulary.regularisation,
        vocabulary.clip_norm.finite(),
        vocabulary.noise_on_mean.above(0),
        vocabulary.batch_size,
        vocabulary.steps.at_least(1),
        DATASET_SIZE,
        NEIGHBOURS,
    ),
    released="last_iterate",
    neighbours="any",
    accounted_by="dp-sgd.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.descent.torch_dp_sgd:train",
    gaussian_release=lambda config: False,
    source=("relu-approx/eq-2.2", "cs208/dp-sgd"),
)
