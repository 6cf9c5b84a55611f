r"""Phased SGD on projected one-hot records: its exact risk given the projection, in float64, for any n (002, rates R2).

On the generator of `linear_twin` Algorithm 3 sees the records phi_j = Phi e_j. Only their span matters, and of Phi only
K = Phi^T Phi, a Wishart matrix over m: K = R^T R, R upper triangular with R_ii^2 ~ chi^2_{m-i+1}/m and normal entries
of variance 1/m above (Bartlett); x_j = R e_j stands for phi_j, so that the cost does not depend on m >= J. With the w
that predicts w* exactly, R^T w = w*, a step changes e = w - that w by (I - h x x^T) e + h (y - w*_j) x, and Sigma = E e
e^T by

    Sigma -> T Sigma + h^2 Q,   T = I - h (H . + . H) + h^2 sum_j p_j x_j x_j^T . x_j x_j^T,   H = sum_j p_j x_j x_j^T,

Q = sum_j p_j (1 - w*_j^2) x_j x_j^T. T is symmetric on symmetric matrices; in its eigenbasis, with Sigma* = T Sigma* +
h^2 Q, Sigma_t = Sigma* + T^(t-1) (Sigma - Sigma*), and in the eigenbasis of H, where I - h H has the entries alpha_a,

    sum_{t,u} E e_t e_u^T = S + C + C^T,    S = sum_t Sigma_t,
    C_ab = sum_t (alpha_a - alpha_a^(n-t+1))/(1 - alpha_a) (Sigma_t)_ab.

For h <= 1e-6 the term in h^2 of T is left out, and T is diagonal: as it acts like label noise of variance max_j E <e,
x_j>^2 <= 1, it could add h max|x_j|^2 to the risk at most. Phases whose eta_i n_i |H| is below 1e-7 move nothing by
more than that share; of them only the noise is counted. The risk sum_j p_j E <e, x_j>^2 = tr(H Sigma) is that without
the clip; scores stay far from its ends (a premise of studies).
"""

from __future__ import annotations

import math

import numpy as np

from empirical.studies.nonconvex_nn.linear_twin import PhasedPlan, masses, targets
from empirical.studies.study import Array

_STILL = 1e-7
_SMALL = 1e-6


def gram_root(atoms: int, width: int, generator: np.random.Generator) -> Array:
    """R with R^T R distributed like Phi^T Phi, width >= atoms."""
    upper = np.triu(generator.standard_normal((atoms, atoms)), 1)
    degrees = width - np.arange(atoms)
    return np.asarray((upper + np.diag(np.sqrt(generator.chisquare(degrees)))) / math.sqrt(width), dtype=np.float64)


def risk_given(plan: PhasedPlan, root: Array) -> float:
    """The expected excess risk of the last release, given the projection."""
    p, target = np.array([float(q) for q in masses(plan.atoms)]), targets(plan.atoms)
    scaled = root * np.sqrt(p)
    moments, basis = np.linalg.eigh(scaled @ scaled.T)  # H, in whose eigenbasis all is done
    seen = basis.T @ root
    cover = _Symmetric(plan.atoms)
    twice = cover.pairs_sum(moments)
    outer = np.stack([cover.flat(np.outer(x, x)) for x in seen.T])
    fourth = (outer.T * p) @ outer
    spread = cover.flat((seen * (p * (1 - target**2))) @ seen.T)
    start = np.linalg.solve(seen.T, -target)
    sigma = np.outer(start, start)
    for phase in range(1, plan.phases + 1):
        size, h = plan.records >> phase, float(plan.step / 4**phase)
        tau = float(plan.noise) * h
        if h * size * moments[-1] > _STILL:
            decay = np.diag(twice) - (h * fourth if h > _SMALL else 0.0)
            sigma = _averaged(sigma, size, h, moments, cover, decay, h * spread)
        sigma = sigma + tau**2 * np.eye(plan.atoms)
    return float(moments @ np.diag(sigma))


class _Symmetric:
    """Symmetric matrices as vectors, the entries off the diagonal scaled so that norms are kept."""

    def __init__(self, size: int) -> None:
        self.rows, self.columns = np.triu_indices(size)
        self.scale = np.where(self.rows == self.columns, 1.0, math.sqrt(2.0))
        self.size = size

    def flat(self, matrix: Array) -> Array:
        """The vector of a matrix."""
        return np.asarray(matrix[self.rows, self.columns] * self.scale, dtype=np.float64)

    def of(self, vector: Array) -> Array:
        """The matrix of a vector, or of columns of vectors, [size, size, ...]."""
        shaped = (vector.T / self.scale).T
        matrix = np.zeros((self.size, self.size, *vector.shape[1:]))
        matrix[self.rows, self.columns] = shaped
        matrix[self.columns, self.rows] = shaped
        return matrix

    def pairs_sum(self, values: Array) -> Array:
        """v_a + v_b for every entry."""
        return np.asarray(values[self.rows] + values[self.columns], dtype=np.float64)


def _averaged(
    sigma: Array, size: int, h: float, moments: Array, cover: _Symmetric, decay: Array, source: Array
) -> Array:
    """The second moment of a phase's average; (I - T)/h is `decay`, and h Q the `source`, both over h."""
    rates, vectors = np.linalg.eigh(decay) if h > _SMALL else (np.diag(decay), np.eye(len(decay)))
    rest = (vectors.T @ source) / rates  # Sigma* in the eigenbasis of T
    moving = vectors.T @ cover.flat(sigma) - rest
    logs = size * np.log1p(-h * rates)
    own = size * np.log1p(-h * moments)
    summed = size * rest + moving * -np.expm1(logs) / (h * rates)
    # sum_t alpha_a^(n-t) (T^(t-1))_eigen = (alpha^n - lambda^n)/(alpha - lambda), [a, eigen], stable where they agree
    gap = (rates[None, :] - moments[:, None]) * h / (1 - h * rates)[None, :]
    apart = np.abs(own[:, None] - logs[None, :])
    ratio = np.where(gap == 0, 1.0, np.log1p(gap) / np.where(gap == 0, 1.0, gap)) / (1 - h * rates)[None, :]
    grown = np.where(apart == 0, 1.0, -np.expm1(-apart) / np.where(apart == 0, 1.0, apart))
    crossed = np.exp(np.maximum(own[:, None], logs[None, :])) * grown * ratio * size
    still = -np.expm1(own) / (h * moments)
    weights = summed[None, :] - crossed * moving[None, :] - still[:, None] * rest[None, :]
    factor = (1 - h * moments) / (h * moments)
    entries = cover.of(vectors)  # [a, b, eigen]
    later = factor[:, None] * np.einsum("abe,ae->ab", entries, weights)
    return np.asarray((cover.of(vectors @ summed) + later + later.T) / size**2, dtype=np.float64)
