r"""SBCD: stochastic block coordinate descent of a ReLU network, the literal reference (document 001, Algorithm 1).

The network x_{d+1} = sigma(theta_d x_d), d < D, is loosened by auxiliary variables x_1, ..., x_D and U_0, ..., U_{D-1}
of every record. With R = |theta_D x_D - y|^2 / 2 and gamma = 1, a record's part of the objective (4) is

    F = R + 1/2 sum_{d < D} ( |x_{d+1} - sigma(U_d)|^2 + |U_d - theta_d x_d|^2 ).

An epoch passes over the fixed disjoint batches of b records in order; for every batch and each d = 0, ..., D in turn:

    x_d     <- (theta_d^T theta_d + I)^{-1} (theta_d^T U_d + sigma(U_{d-1}))      d > 0, each record of the batch    (5)
    U_d     <- the minimiser of F over U_d, three cases an entry                  d < D, each record of the batch    (6)
    theta_d <- theta_d min(rho / |theta_d|_2, 1)                                                                     (2)
    theta_d <- Prox_{eta,r}(theta_d - (eta / b) sum_i grad F_i),    grad F_i = (theta_d x_d - U_d) x_d^T             (7)

with y for U_D throughout: for the squared loss the proximal step of R in (5) and the gradient of R in (7) are those of
the other blocks, with y in that place. The last iterate, all blocks as one vector, is released.

What the document leaves open or gets wrong, and what is done here:

- (5) at d = 0 would need U_{-1}: x_0 is the input and stays.
- (6) as printed, read entry by entry, is an exact minimiser. With a = theta_d x_d and x = x_{d+1} the minimum over
  u <= 0 is at min(0, a), that over u >= 0 at max(0, (a + x) / 2). If a + x <= 0, the first is no worse. If not and
  a >= 0, it is worse by (a + x)^2 / 4. Else x > -a > 0 and x^2 / 2 meets (x - a)^2 / 4: the first wins if and only if
  a <= -(sqrt 2 - 1) x, where both are minimisers in the case of equality.
- "Simultaneously" is read as the order of the listing: each line uses what the lines before it have made.
- Algorithm 1 asks for the exact minimum over theta_d, and Section 4.1 for its linearisation (7): it is (7) here.
- The normalisation (2) comes before the update, as listed, so that the output may exceed rho. The spectral norm is
  exact: power iteration would under-estimate it. rho = inf leaves it out.
- Prox of r = |theta|^2 / 2 is theta / (1 + eta), not eta theta / (1 + eta).
- The start is a choice: weights N(0, 1 / inputs) from the tape, and x and U by a forward pass through them. Every
  record keeps its x and U from one epoch to the next.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.errors import DomainError, OracleError
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration."""
    glm.check_data(features, labels)
    glm.batches(config.batch_size, features.shape[0])
    if config.outputs > 1 and not np.isin(labels, np.arange(config.outputs)).all():
        raise DomainError(f"labels of {config.outputs} outputs must be the classes 0, ..., {config.outputs - 1}")


def targets(labels: Array, outputs: int) -> Array:
    """The y of every record, [n, outputs]: the label itself, or the unit vector of its class."""
    return labels[:, None] if outputs == 1 else np.eye(outputs)[labels.astype(int)]


def shapes(inputs: int, config: Values) -> list[tuple[int, int]]:
    """The shapes of theta_0, ..., theta_D: rows are outputs."""
    widths = [inputs, *[config.hidden_units] * config.layers, config.outputs]
    return [(out, into) for into, out in itertools.pairwise(widths)]


def solved_x(theta: Array, u: Array, u_before: Array) -> Array:
    """x_d of one record, by (5)."""
    before, eye = np.maximum(u_before, 0.0), np.eye(theta.shape[1])
    try:
        return np.asarray(np.linalg.solve(theta.T @ theta + eye, theta.T @ u + before), dtype=np.float64)
    except np.linalg.LinAlgError:  # beside weights as long as these, rounding has lost the I: the same minimiser by SVD
        return np.asarray(np.linalg.pinv(np.vstack([theta, eye])) @ np.concatenate([u, before]), dtype=np.float64)


def solved_u(ahead: Array, x_next: Array) -> Array:
    """U_d of one record, by (6): `ahead` is theta_d x_d."""
    u = np.empty_like(ahead)
    for j, (a, x) in enumerate(zip(ahead, x_next, strict=True)):
        if -x <= a <= -(math.sqrt(2.0) - 1.0) * x <= 0.0:
            u[j] = a
        elif a + x <= 0.0:
            u[j] = min(0.0, a)
        else:
            u[j] = 0.5 * (a + x)
    return u


def normalised(theta: Array, rho: float) -> Array:
    """Theta with its spectral norm cut down to rho, by (2)."""
    norm = float(np.linalg.norm(theta, 2))
    return theta * (rho / norm) if norm > rho else theta


def gradient(theta: Array, x: Array, u: Array) -> Array:
    """The gradient of |U_d - theta_d x_d|^2 / 2 in theta_d."""
    return np.outer(theta @ x - u, x)


def prox(theta: Array, eta: float, regulariser: str) -> Array:
    """Prox_{eta,r} for r = 0, |theta|^2 / 2 or |theta|_1."""
    if regulariser == "l2":
        return theta / (1.0 + eta)
    if regulariser == "l1":
        return np.sign(theta) * np.maximum(0.0, np.abs(theta) - eta)
    return theta


def check_steps(largest: float, limit: float, config: Values) -> None:
    """An OracleError where the descent has left the numbers; one that clips does not, whatever the records."""
    if not largest <= limit:
        raise OracleError(f"nothing is clipped, and the descent diverges: learning_rate = {config.learning_rate}")


def descend(
    features: Array, labels: Array, config: Values, tape: Tape, *, noise: Sequence[float], clip_norm: float,
    recorder: Any,
) -> Array:
    """Algorithms 1 and 2, record by record: `noise` has the o of each epoch, clip_norm = inf clips nothing."""
    check(features, labels, config)
    eta, rho = float(config.learning_rate), float(config.spectral_norm)
    records, last = features.shape[0], config.layers
    theta: list[Array] = []
    for d, (out, into) in enumerate(shapes(features.shape[1], config)):
        theta.append(tape.normal("initial", d, out * into)[0].reshape(out, into) / math.sqrt(into))

    x: list[Array] = [features]  # x[d][i] and u[d][i] belong to record i
    u: list[Array] = []
    for d in range(last):
        u.append(np.array([theta[d] @ x[d][i] for i in range(records)]))
        x.append(np.maximum(u[d], 0.0))
    u.append(targets(labels, config.outputs))

    update = 0
    for o in noise:
        std = math.sqrt(2.0 * eta * o)
        for start in range(0, records, config.batch_size):
            batch = range(start, start + config.batch_size)
            for d in range(last + 1):
                for i in batch:
                    if d > 0:
                        x[d][i] = solved_x(theta[d], u[d][i], u[d - 1][i])
                    if d < last:
                        u[d][i] = solved_u(theta[d] @ x[d][i], x[d + 1][i])
                theta[d] = normalised(theta[d], rho)
                total = np.zeros_like(theta[d])
                for i in batch:
                    slope = gradient(theta[d], x[d][i], u[d][i])
                    total += glm.clip(slope, clip_norm)
                    if recorder is not None:
                        norm = float(np.linalg.norm(slope))
                        recorder("sample", step=update, block=d, sample=i, norm=norm)
                if recorder is not None:
                    recorder("update", step=update, block=d, clipped_sum=total.copy(), noise_std=std)
                moved = theta[d] - eta * total / config.batch_size
                if std > 0:
                    moved = moved + std * tape.normal("noise", update, moved.size)[0].reshape(moved.shape)
                theta[d] = prox(moved, eta, config.regulariser)
                if clip_norm == math.inf:  # systems of equations are made of squares
                    check_steps(float(np.abs(theta[d]).max()), float(np.finfo(np.float64).max) ** 0.25, config)
                update += 1
    return np.concatenate([block.ravel() for block in theta])


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """All blocks of the last iterate as one vector: Algorithm 1."""
    noise = [0.0] * config.epochs
    return descend(features, labels, config, tape, noise=noise, clip_norm=math.inf, recorder=recorder)


DESCENT = (vocabulary.layers, vocabulary.learning_rate, vocabulary.batch_size)
NETWORK = (vocabulary.hidden_units, vocabulary.outputs, vocabulary.regulariser, vocabulary.spectral_norm)
"""The keys that both algorithms have: of the descent, and what only a training needs."""

sbcd = Algorithm(
    name="sbcd",
    document="001, Algorithm 1",
    summary="stochastic block coordinate descent of a ReLU network in three-splitting form; not private",
    parameters=(*DESCENT, vocabulary.epochs.at_least(1)),
    training=NETWORK,
    released="last_iterate",
    neighbours="any",
    check=check,
    reference=train,
    batched="oracle.algorithms.block_coordinate.torch_sbcd:twin",
    source=("sbcd/eq-5-mid", "sbcd/eq-6"),
)
