r"""NoisyCGD on the convex ReLU model: the literal reference (document 000, eqs. 3.6-3.8 trained by 2.4).

Hyperplanes u_1, ..., u_P ~ N(0, I_d) are drawn without looking at the data. A model has a vector v_i of R^d for each of
them, and one set of those for each of k outputs; its output at x is

    g(x, v) = sum_i 1(u_i^T x >= 0) x^T v_i = x~^T v,      x~ = (1(u_i^T x >= 0) x)_i of R^{P d},

so that the gradient of a record's loss h is r x~^T with r, the derivative of h in the k outputs:

    squared   h = |g - y|^2 / 2                      r = g - y
    softmax   cross-entropy of softmax(g), k >= 2    r = softmax(g) - y
    logistic  one cross-entropy an output            r = sigmoid(g) - y

y is the label itself for one output and the unit vector of the label, a class 0, ..., k - 1, for several. One epoch
passes over the fixed disjoint batches B_1, ..., B_m of size b in order, from v = 0; each step is

    v <- v - eta ( (1/b) sum_{j in B} clip(grad h(v; x_j, y_j), C) + lambda v + Z ),       Z ~ N(0, sigma^2 I),

and the last iterate is released (the hyperplanes are no secret). `clipping` is "record" for the whole gradient, as in
the document, and "output" for each output's part to C / sqrt(k): the document's "k independent linear models".

Corrected: eq. 3.6 has max(0, sign(x^T u)) where 3.8 and the inference model have 1(x^T u >= 0), which differ at
x^T u = 0 only; we take the latter. The guarantee has the repaired smoothness kappa P |x|^2 + lambda for Lemma 3.2's
|x|^2 + lambda (P, since all hyperplanes may be active for some record), and asks that clipping keep the loss convex:
not so for softmax with three classes or more and for several logistic losses clipped jointly, unless C is so large
that it never acts (`convex_relu_smoothness` has the proofs). Training is allowed in any case. Either way a record moves
the sum of the clipped gradients by 2C at most.

Every model has hyperplanes of its own: they are randomness of the algorithm like the noise, so that many models show
its law; the guarantee holds for each set of hyperplanes, hence for the mixture, too.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.convex_relu import convex_relu_smoothness as model
from oracle.algorithms.hidden_state.noisy_cgd import COMPOSED, HIDDEN, KEYS, hidden
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import CLIPPED_RUN, CONTRACTS, DISJOINT_BATCHES, LAST, PLANNED, REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, said, towards
from oracle.core.errors import DomainError
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    check_outputs(config)
    glm.check_data(features, labels, feature_norm=config.feature_norm)
    glm.batches(config.batch_size, features.shape[0])
    classes = config.outputs if config.outputs > 1 else 2
    if (config.outputs > 1 or config.loss == "logistic") and not np.isin(labels, np.arange(classes)).all():
        raise DomainError(f"labels must be classes, integers from 0 to {classes - 1}")


def check_outputs(config: Values) -> None:
    """A DomainError for a softmax of one output, whose loss is constant."""
    if config.loss == "softmax" and config.outputs == 1:
        raise DomainError("outputs = 1 is outside its domain: softmax needs an integer >= 2")


def hyperplanes(config: Values, dimension: int, tape: Tape) -> Array:
    """The normals u_1, ..., u_P of a model, shape [P, d]."""
    draws = tape.normal("hyperplanes", 0, config.hyperplanes * dimension)[0]
    return np.asarray(draws.reshape(config.hyperplanes, dimension))


def predict(x: Array, u: Array, v: Array) -> Array:
    """The inference model g(x, v) for one x, shape [k], from hyperplanes [P, d] and weights [k, P, d]."""
    outputs = np.zeros(v.shape[0])
    for output in range(v.shape[0]):
        for normal, weights in zip(u, v[output], strict=True):
            if normal @ x >= 0:
                outputs[output] += x @ weights
    return outputs


def residual(loss: str, outputs: Array, target: Array) -> Array:
    """The derivative r of a record's loss in the outputs."""
    if loss == "squared":
        return outputs - target
    if loss == "logistic":
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * outputs)) - target)
    weights = np.exp(outputs - outputs.max())
    return np.asarray(weights / weights.sum() - target)


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The last iterate v of one model, shape [k, P, d]: the text of the algorithm, sample by sample."""
    check(features, labels, config)
    eta, lam, clip_norm = (float(v) for v in (config.learning_rate, config.regularisation, config.clip_norm))
    sigma = float(config.noise_on_mean)
    records, dimension = features.shape
    u = hyperplanes(config, dimension, tape)
    wide = np.array([np.concatenate([(normal @ x >= 0) * x for normal in u]) for x in features])
    v = np.zeros((config.outputs, config.hyperplanes * dimension))
    step = 0
    for _ in range(config.epochs):
        for start in range(0, records, config.batch_size):
            total = np.zeros_like(v)
            for j in range(start, start + config.batch_size):
                target = np.array([labels[j]]) if config.outputs == 1 else np.eye(config.outputs)[int(labels[j])]
                gradient = np.outer(residual(config.loss, v @ wide[j], target), wide[j])
                if config.clipping == "record":
                    total += glm.clip(gradient, clip_norm)
                else:
                    total += np.array([glm.clip(part, clip_norm / np.sqrt(config.outputs)) for part in gradient])
                if recorder is not None:
                    recorder("sample", step=step, sample=j, norm=float(np.linalg.norm(gradient)))
            noise = sigma * tape.normal("noise", step, v.size)[0].reshape(v.shape)
            if recorder is not None:
                recorder("update", step=step, clipped_sum=total.copy(), noise_std=sigma)
            v = v - eta * (total / config.batch_size + lam * v + noise)
            step += 1
    return v.reshape(config.outputs, config.hyperplanes, dimension)


def smoothness(config: Values) -> Fraction | None:
    """beta = kappa a feature_norm^2 + lambda, a the active hyperplanes, all P of them unless the plan says fewer."""
    if config.feature_norm is None:
        return None
    return model.smoothness(config.loss, _active(config), config.feature_norm, config.regularisation)


def _active(config: Values) -> int:
    return int(config.hyperplanes if config.active is None else config.active)


def clipping_keeps_convexity(config: Values) -> bool | None:
    """Whether the clipped gradients are those of a convex loss; None where that depends on a norm that is not given."""
    if config.loss == "squared" or config.outputs == 1 or (config.loss == "softmax" and config.outputs == 2):
        return True
    if config.loss == "logistic" and config.clipping == "output":
        return True
    if config.feature_norm is None:
        return None
    # Otherwise only clipping that never acts: |r| sqrt(a) |x| <= C for the record, or C / sqrt(k) for an output.
    square = _LARGEST_RESIDUAL[config.loss][config.clipping] * _active(config) * config.feature_norm**2
    jointly = config.loss == "softmax" and config.clipping == "record"
    return bool(square * (1 if jointly else config.outputs) <= config.clip_norm**2)


_LARGEST_RESIDUAL = {"softmax": {"record": 2, "output": 1}, "logistic": {"record": 1, "output": 1}}
"""The largest |r|^2 of all of softmax's outputs or of one (record, output), and of one logistic output."""
_MODEL = (
    Condition(
        "contracting-steps", lambda config: config.loss != "softmax" or config.outputs > 1,
        "a softmax has two outputs or more",
    ),
    said("contracting-steps", "independent_hyperplanes", "the hyperplanes do not depend on the data"),
)
_CONVEX = Condition(
    "contracting-steps", clipping_keeps_convexity,
    "clipping keeps the loss convex: one output, two-class softmax, squared loss, logistic losses clipped one by one, "
    "or clipping that never acts",
)

noisy_cgd_convex_relu = Algorithm(
    name="noisy-cgd-convex-relu",
    document="000, eqs. 3.6-3.8 and 2.4",
    summary="noisy cyclic mini-batch gradient descent on the convex ReLU model of random hyperplanes",
    parameters=(
        *KEYS, vocabulary.clipping, vocabulary.loss.choosing(*model.CURVATURE), vocabulary.outputs,
        vocabulary.hyperplanes,
    ),
    training=(vocabulary.feature_norm,),
    setting=PLANNED,
    stated=(vocabulary.active, vocabulary.independent_hyperplanes, vocabulary.smoothness),
    facts=lambda config: {"smoothness": smoothness(config)},
    trained=lambda config: {"independent_hyperplanes": "true"},
    released="last_iterate",
    neighbours="replace",
    guarantees=(
        Guarantee(
            HIDDEN.bound, HIDDEN.words, hidden,
            (REPLACE, DISJOINT_BATCHES, LAST, *CLIPPED_RUN, *_MODEL, _CONVEX, CONTRACTS),
        ),
        Guarantee(
            COMPOSED.bound, COMPOSED.words, COMPOSED.parameters,
            (*COMPOSED.conditions, *towards("l2-sensitivity", *_MODEL)),
        ),
    ),
    check=check,
    reach=lambda config, count: glm.reach(
        config, config.epochs * (count // config.batch_size), Fraction(config.outputs * config.hyperplanes)
    ),
    reference=train,
    batched="oracle.algorithms.convex_relu.torch_convex_relu:twin",
    source=("relu-approx/lem-3.2-repaired", "relu-approx/thm-2.8-formula"),
)
