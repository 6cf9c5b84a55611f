"""DP-SGD on a network with one hidden layer, the non-convex case: the literal reference (document 004).

The network is f(x) = <a, phi(W x + c)> + e, W of shape [m, d], m = hidden_units, phi = tanh or ReLU (whose slope at 0
is 0); the loss of a record is the squared or the logistic loss of `glm` at the score f(x). A step draws the batch B by
letting every record in with probability q = b/n, on its own and anew, and takes

    w <- w - eta ( (1/b) sum_{i in B} clip(grad_w h(f(x_i), y_i), C) + Z ),    Z ~ N(0, noise_on_mean^2 I),

where w = (W row by row, c, a, e) is all the weights: one gradient, clipped as one vector. The last iterate is released;
the guarantees are those of `dp_sgd`: they cover all iterates and ask for nothing but the clipping. What the slide
leaves open or gets wrong is fixed as in `dp_sgd`. "Pick an initial point": W has entries N(0, initial_scale^2 / d), a
has N(0, initial_scale^2 / m), c and e are 0; they come from the tape and do not depend on the data.

The derivatives are written out. With u = W x + c, z = phi(u), and r the derivative of the loss at the score,

    d/de = r,    d/da = r z,    d/dc = r a phi'(u),    d/dW = (r a phi'(u)) x^T.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.descent import dp_sgd
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.tape import Tape

LOSSES = ("squared", "logistic")


def weights_count(width: int, dimension: int) -> int:
    """The number of all weights."""
    return width * (dimension + 2) + 1


def gradient(weights: Array, x: Array, label: float, config: Values) -> Array:
    """The gradient of one record's loss in all the weights, forwards and backwards."""
    width, dimension = config.hidden_units, x.size
    first = weights[: width * dimension].reshape(width, dimension)
    bias, second = weights[width * dimension : -1].reshape(2, width)
    u = first @ x + bias
    z = np.tanh(u) if config.activation == "tanh" else np.maximum(u, 0.0)
    slope = 1.0 - z * z if config.activation == "tanh" else (u > 0.0).astype(np.float64)
    r = glm.residual(config.loss, float(second @ z + weights[-1]), label)
    back = r * second * slope
    return np.concatenate([np.outer(back, x).ravel(), back, r * z, [r]])


def initial(config: Values, dimension: int, tape: Tape) -> Array:
    """The weights that training starts from."""
    width, std = config.hidden_units, float(config.initial_scale)
    draws = tape.normal("initial", 0, width * (dimension + 1))[0]
    first = std / np.sqrt(dimension) * draws[: width * dimension]
    second = std / np.sqrt(width) * draws[width * dimension :]
    return np.concatenate([first, np.zeros(width), second, [0.0]])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last weights of one model, all in one vector: the text of the algorithm, sample by sample."""
    dp_sgd.check(features, labels, config)
    eta, clip_norm, sigma = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_on_mean))
    records, dimension = features.shape
    weights = initial(config, dimension, tape)
    for step in range(config.steps):
        batch = np.flatnonzero(tape.bernoulli("batch", step, records, config.batch_size / config.dataset_size)[0])
        if recorder is not None:
            recorder("batch", step=step, members=batch)
        total = np.zeros(weights.size)
        for i in batch:
            slope = gradient(weights, features[i], float(labels[i]), config)
            total += glm.clip(slope, clip_norm)
            if recorder is not None:
                recorder("sample", step=step, sample=int(i), norm=float(np.linalg.norm(slope)))
        noise = sigma * tape.normal("noise", step, weights.size)[0]
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
        weights = weights - eta * (total / config.batch_size + noise)
    return weights


dp_sgd_network = Algorithm(
    name="dp-sgd-network",
    document="004, DP-SGD and Gradient Descent for Neural Networks",
    summary="DP-SGD on a network with one hidden layer, all weights clipped together",
    parameters=dp_sgd.KEYS,
    training=(
        vocabulary.loss.choosing(*LOSSES), vocabulary.activation, vocabulary.hidden_units, vocabulary.initial_scale,
        vocabulary.learning_rate,
    ),
    setting=dp_sgd.SETTING,
    stated=dp_sgd.STATED,
    trained=dp_sgd.trained,
    released="last_iterate",
    neighbours="any",
    guarantees=dp_sgd.GUARANTEES,
    check=dp_sgd.check,
    reach=lambda config, count: records.reach(
        steps=config.steps, learning_rate=config.learning_rate, gradient=config.clip_norm * count / config.batch_size,
        noise=config.noise_on_mean, start=config.initial_scale * records.LARGEST_DRAW,
    ),
    reference=train,
    batched="oracle.algorithms.networks.torch_dp_sgd_network:twin",
    source=("cs208/dp-sgd-repaired", "cs208/nn-nonconvex"),
)
