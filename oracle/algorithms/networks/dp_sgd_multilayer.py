"""DP-SGD on a multi-layer ReLU network around its random start: the literal reference (document 002, Algorithm 10).

The network has L layers, hidden ones of m = hidden_units units and no biases: with h_0 = x and h_l = max(0, W_l
h_{l-1}),

    f(W, x) = sqrt(m) W_L h_{L-1},    W_1 of shape [m, d], W_l of [m, m], W_L of [1, m].

W_l(0) has entries N(0, 2/m) for l < L, and W_L(0) has N(0, 1/m); they and the noise are short normals of the tape, of
which networks need thousands, and which fill a layer input by input. A step draws the batch B by letting every record
in with probability q = M/n, on its own and anew, and takes

    W(t+1) = Pi( W(t) - eta ( (1/M) sum_{i in B} clip(grad_W l(f(W(t), x_i), y_i), C) + G_t ) ),  G_t ~ N(0, sigma^2 I),

one gradient over all layers, clipped as one vector; sigma = noise_on_mean = z C / M for a noise multiplier z. Released
is the average (W(1) + ... + W(T)) / T. The losses are two that the text allows (convex, non-negative, differentiable,
1-Lipschitz): logistic, and pseudo-Huber for labels that are any numbers. The text's |x| <= 1 serves its utility and is
not asked for.

What is fixed here. The text divides by |B|, and so does its noise: with no one drawn that is undefined, and where a
record may be added or removed the noise shows |B|, which many steps add up to a leak of its own; the divisor is the
constant M. Its Pi, on |W_l| <= R around 0, would tear the start apart (|W_l(0)| is about sqrt(2m)), where the analysis
wants to stay within R / sqrt(m) of it, R = layer_radius: centre = "start" projects every layer on the ball of that
radius around W_l(0), centre = "origin" is the text's. Either is post-processing. "p" is q, and sigma is sigma_t.

The derivatives are eq. 16, mended: outer products with h_{l-1}^T, h_{L-1} in the last layer, D_l the signs of
W_l h_{l-1}, the product from l + 1. With b_l the derivative of f in W_l h_{l-1},

    b_{L-1} = sqrt(m) D_{L-1} W_L^T,    b_l = D_l W_{l+1}^T b_{l+1},
    df/dW_l = b_l h_{l-1}^T,            df/dW_L = sqrt(m) h_{L-1}^T,

and D is 0 at 0. The linearisation of Definition 8 is f(W(0), x) + <df/dW(W(0), x), W - W(0)>: with the text's W in
place of W - W(0) it would be (1 + L) f at W(0), f being homogeneous of degree L.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.descent import dp_sgd
from oracle.algorithms.shared import glm, minimiser
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values
from oracle.core.tape import Tape

LOSSES = ("logistic", "pseudo-huber")
Layers = list[Array]


def shapes(config: Values, dimension: int) -> list[tuple[int, int]]:
    """The shapes of all layers, first to last."""
    width = config.hidden_units
    return [(width, dimension), *[(width, width)] * (config.depth - 2), (1, width)]


def weights_count(config: Values, dimension: int) -> int:
    """The number of all weights."""
    return sum(rows * columns for rows, columns in shapes(config, dimension))


def radius(config: Values) -> float:
    """How far a layer may be from the centre."""
    return float(config.layer_radius) / (np.sqrt(config.hidden_units) if config.centre == "start" else 1.0)


def flat(layers: Layers) -> Array:
    """All weights in one vector, layer by layer, row by row."""
    return np.concatenate([layer.ravel() for layer in layers])


def unflat(weights: Array, config: Values, dimension: int) -> Layers:
    """The layers of a vector of weights."""
    sizes = np.cumsum([rows * columns for rows, columns in shapes(config, dimension)])
    parts = np.split(weights, sizes[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes(config, dimension), strict=True)]


def drawn(draws: Array, config: Values, dimension: int) -> Layers:
    """Draws as layers, filled input by input: the weights that lead from an input to all units stand together."""
    layers, first = [], 0
    for rows, columns in shapes(config, dimension):
        layers.append(draws[first : first + rows * columns].reshape(columns, rows).T)
        first += rows * columns
    return layers


def initial(config: Values, dimension: int, tape: Tape) -> Layers:
    """W(0), the weights that training starts from."""
    draws = drawn(tape.short_normal("initial", 0, weights_count(config, dimension))[0], config, dimension)
    scales = [np.sqrt(2.0 / config.hidden_units)] * (config.depth - 1) + [np.sqrt(1.0 / config.hidden_units)]
    return [scale * layer for scale, layer in zip(scales, draws, strict=True)]


def hidden(layers: Layers, x: Array) -> Layers:
    """h_0, ..., h_{L-1}."""
    outputs = [x]
    for layer in layers[:-1]:
        outputs.append(np.maximum(layer @ outputs[-1], 0.0))
    return outputs


def network(layers: Layers, x: Array) -> float:
    """f(W, x)."""
    return float(np.sqrt(layers[-1].size) * (layers[-1] @ hidden(layers, x)[-1])[0])


def network_gradient(layers: Layers, x: Array) -> Layers:
    """The derivatives of f in all layers, by eq. 16 as mended."""
    outputs = hidden(layers, x)
    scale = np.sqrt(layers[-1].size)
    gradients = [scale * outputs[-1][None, :]]
    back = scale * layers[-1][0]
    for number in range(len(layers) - 2, -1, -1):
        back = back * (layers[number] @ outputs[number] > 0.0)
        gradients.insert(0, np.outer(back, outputs[number]))
        back = layers[number].T @ back
    return gradients


def gradient(layers: Layers, x: Array, label: float, loss: str) -> Layers:
    """The gradient of one record's loss in all layers."""
    slope = minimiser.residual(loss, network(layers, x), label)
    return [slope * part for part in network_gradient(layers, x)]


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The average of one model's weights, all in one vector: the text of the algorithm, sample by sample."""
    dp_sgd.check(features, labels, config)
    eta, clip_norm, sigma = (float(v) for v in (config.learning_rate, config.clip_norm, config.noise_on_mean))
    records, dimension = features.shape
    start = initial(config, dimension, tape)
    centre = start if config.centre == "start" else [np.zeros_like(layer) for layer in start]
    layers = start
    average = np.zeros(flat(start).size)
    for step in range(config.steps):
        batch = np.flatnonzero(tape.bernoulli("batch", step, records, config.batch_size / config.dataset_size)[0])
        if recorder is not None:
            recorder("batch", step=step, members=batch)
        total = np.zeros(average.size)
        for i in batch:
            slope = flat(gradient(layers, features[i], float(labels[i]), config.loss))
            total += glm.clip(slope, clip_norm)
            if recorder is not None:
                recorder("sample", step=step, sample=int(i), norm=float(np.linalg.norm(slope)))
        draws = tape.short_normal("noise", step, average.size)[0]
        noise = sigma * flat(drawn(draws, config, dimension))
        if recorder is not None:
            recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
        moved = unflat(flat(layers) - eta * (total / config.batch_size + noise), config, dimension)
        layers = [_project(layer, middle, radius(config)) for layer, middle in zip(moved, centre, strict=True)]
        average += flat(layers) / config.steps
    return average


def _project(layer: Array, centre: Array, length: float) -> Array:
    """The nearest matrix, in Frobenius norm, of the ball around the centre."""
    distance = float(np.linalg.norm(layer - centre))
    return centre + (layer - centre) * (length / distance) if distance > length else layer


def _sampled(config: Values) -> dict[str, Any]:
    """The parameters of dp-sgd-multilayer.epsilon: all iterates, composed; the start does not depend on the data."""
    names = ("noise_on_mean", "clip_norm", "steps", "neighbours")
    rate = Fraction(config.batch_size, config.dataset_size)
    return {**{name: getattr(config, name) for name in names}, "divisor": config.batch_size, "sampling_rate": rate}


dp_sgd_multilayer = Algorithm(
    name="dp-sgd-multilayer",
    document="002, Algorithm 10",
    summary="DP-SGD on a multi-layer ReLU network kept close to its random start, the average of the weights",
    parameters=dp_sgd.KEYS,
    training=(
        vocabulary.loss.choosing(*LOSSES), vocabulary.depth, vocabulary.hidden_units, vocabulary.learning_rate,
        vocabulary.layer_radius, vocabulary.centre,
    ),
    setting=(*dp_sgd.SETTING, vocabulary.released),
    stated=dp_sgd.STATED,
    trained=dp_sgd.trained,
    released="average_iterate",
    neighbours="any",
    guarantees=(
        Guarantee(
            "dp-sgd-multilayer.epsilon", "composition of sampled Gaussian steps: all iterates may be seen", _sampled,
            dp_sgd.POISSON,
        ),
    ),
    check=dp_sgd.check,
    reach=lambda config, count: records.reach(
        steps=1, learning_rate=config.learning_rate, gradient=config.clip_norm * count / config.batch_size,
        noise=config.noise_on_mean, start=Fraction(radius(config)) + records.LARGEST_DRAW,
    ),
    reference=train,
    batched="oracle.algorithms.networks.torch_dp_sgd_multilayer:twin",
    source=(
        "nonconvex-nn/thm-13-privacy-repaired", "nonconvex-nn/alg-10-projection-repaired", "nonconvex-nn/def-8-ntrf",
    ),
)
