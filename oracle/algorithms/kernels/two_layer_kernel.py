r"""Algorithm 9 of document 002 by the kernel trick: scores at given points, no feature ever formed.

The weights of `two_layer` are w = sum_j alpha_j psi(x_j) + sum_i sigma eta_i z_i over the records seen and the phases
run, z_i ~ N(0, I). Only scores <w, psi(x)> ever enter: those of the records, for training, and of the points at which
the result is wanted. They are

    sum_j alpha_j K(x_j, x) + sum_i sigma eta_i g_i(x),        g_i(x) = <z_i, psi(x)>,

and the g_i at all these points are Gaussian with the covariance K. So any matrix R with R R^T = K on these points gives
scores R z of the right law: the features themselves are one, and then the scores are those of `two_layer` on the same
tape; the symmetric root of K is another, of as many columns as there are points whatever the degree.

Privacy: scores at points that are chosen without looking at the data are a function of the weights that `two_layer`
releases, and its guarantee covers them. Scores at the private records themselves are not covered.
"""

from __future__ import annotations

import numpy as np

from oracle.algorithms.kernels import multinomial
from oracle.algorithms.kernels.two_layer import check_records, link
from oracle.algorithms.phased.phased_sgd import sizes
from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError
from oracle.core.tape import Tape

MOST_POINTS = 8192
"""More records and queries than this are refused: the root of their kernel takes their number cubed."""


def check(features: Array, labels: Array, queries: Array) -> Array:
    """Records and queries as one array of points, or a DomainError if they are none."""
    check_records(features, labels)
    glm.check_data(queries, np.zeros(len(queries)))
    if queries.shape[1] != features.shape[1]:
        raise DomainError(f"queries of shape {queries.shape} have other coordinates than records of {features.shape}")
    if len(features) + len(queries) > MOST_POINTS:
        raise DomainError(f"{len(features) + len(queries)} records and queries are more than {MOST_POINTS}")
    return np.concatenate([features, queries])


def noise_root(points: Array, degree: int) -> Array:
    """The symmetric root of the kernel of all points; eigenvalues that rounding made negative are 0."""
    inner = points @ points.T
    gram = sum(inner**i for i in range(degree + 1)) / (degree + 1)
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T)


def scores(
    features: Array, labels: Array, queries: Array, config: Values, tape: Tape, *, root: Array | None = None
) -> Array:
    """<w, psi(x)> at every query for the output w of one model; `root` is an R with R R^T = K on all points."""
    points = check(features, labels, queries)
    root = noise_root(points, config.degree) if root is None else root
    learning_rate, sigma = float(config.base_learning_rate), float(config.noise_over_step)
    records = len(features)
    alpha = np.zeros(records)
    noise = np.zeros(len(points))
    first = 0
    for i, size in enumerate(sizes(records), start=1):
        eta = learning_rate / 4**i
        total = np.zeros(records)
        for t in range(first, first + size):
            total += alpha
            score = noise[t] + sum(
                alpha[j] * multinomial.kernel(features[j], features[t], config.degree) for j in range(t)
            )
            alpha[t] -= eta * (link(config.link, float(score)) - float(labels[t]))
        alpha = total / size
        noise = noise + sigma * eta * (root @ tape.normal("noise", i, root.shape[1])[0])
        first += size
    return np.array([
        noise[records + q] + sum(
            alpha[j] * multinomial.kernel(features[j], queries[q], config.degree) for j in range(records)
        )
        for q in range(len(queries))
    ])
