"""Algorithm 7 of 002 on few atoms, reduced to their span: a step costs d^2, whatever n and m (rates R4).

Records are unit vectors e_j with probability p_j, labels relu(w*_j) +- a with equal chances: the data enter by their
counts and label means alone. Phi = Q U with U upper triangular, [d, d], and Q^T Q = I, of which only U enters: the
squares of its diagonal are chi^2_(m-j)/m and its other entries N(0, 1/m), all independent (Bartlett). An iterate is
w = Q v + u with u orthogonal to the columns of Phi; then Phi^T w = U^T v, the gradient of the records is Q U g with
g_j = (n_j/n) (relu((U^T v)_j) - mean label of j), and noise N(0, sigma^2 I_m) is N(0, sigma^2 I_d) in v and
N(0, sigma^2 I_(m-d)) in u. The projection on |w| <= 2W needs |v|^2 + |u|^2. No record sees u, and its law is that of
any direction, so that its length is enough: a step of it is

    |u - eta zeta|^2 = (|u| - eta sigma a)^2 + eta^2 sigma^2 c,        a ~ N(0, 1),  c ~ chi^2_(m-d-1).

Nothing is approximated: what comes out has the law of Algorithm 7 (the average of w_1, ..., w_T, lifted by Phi^T).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empirical.studies.study import Array

_AT_ONCE = 512  # steps whose noise is drawn together


@dataclass(frozen=True)
class Atoms:
    """What data are drawn from: p_j, w*_j, and how far labels lie from their mean."""

    probabilities: Array
    target: Array
    spread: float

    @property
    def means(self) -> Array:
        """E[y | e_j]."""
        return np.maximum(self.target, 0.0)

    def risk(self, scores: Array) -> Array:
        """The exact excess risk of weights, which are the scores of the atoms, [..., d]."""
        return np.asarray((np.maximum(scores, 0.0) - self.means) ** 2 @ self.probabilities)

    def draw(self, records: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """How many of the records are each atom, and how many of these have the upper label."""
        counts = rng.multinomial(records, self.probabilities)
        return counts.astype(np.float64), rng.binomial(counts, 0.5).astype(np.float64)


@dataclass(frozen=True)
class Descent:
    """The constants of a run: n, m, T, eta, sigma and the radius 2W."""

    records: int
    rows: int
    steps: int
    rate: float
    noise: float
    radius: float


def triangle(rows: int, dimension: int, rng: np.random.Generator) -> Array:
    """U, the triangle of a Gaussian [rows, dimension] matrix with entries N(0, 1/rows)."""
    upper = np.triu(rng.standard_normal((dimension, dimension)), 1)
    upper[np.diag_indices(dimension)] = np.sqrt(rng.chisquare(rows - np.arange(dimension)))
    return np.asarray(upper / np.sqrt(rows))


def span_risks(atoms: Atoms, run: Descent, generators: list[np.random.Generator]) -> Array:
    """The excess risks of one run for each generator, [replicates]."""
    dimension, models = len(atoms.target), len(generators)
    upper = np.stack([triangle(run.rows, dimension, rng) for rng in generators])
    lower = np.ascontiguousarray(upper.transpose(0, 2, 1))
    drawn = [atoms.draw(run.records, rng) for rng in generators]
    share = np.stack([counts for counts, _ in drawn]) / run.records
    above = np.stack([ups / np.maximum(counts, 1.0) for counts, ups in drawn])
    labels = atoms.means + atoms.spread * (2.0 * above - 1.0)
    v, away, average = np.zeros((models, dimension)), np.zeros(models), np.zeros((models, dimension))
    kick = run.rate * run.noise
    for first in range(0, run.steps, _AT_ONCE):
        count = min(_AT_ONCE, run.steps - first)
        normals, squares = _noise(generators, count, dimension, run.rows - dimension)
        for normal, square in zip(normals, squares, strict=True):
            average += v
            scores = np.matmul(lower, v[:, :, None])[:, :, 0]
            slope = share * (np.maximum(scores, 0.0) - labels)
            v = v - run.rate * np.matmul(upper, slope[:, :, None])[:, :, 0] - kick * normal[:, :dimension]
            away = np.sqrt((away - kick * normal[:, dimension]) ** 2 + kick**2 * square)
            shrink = run.radius / np.maximum(np.sqrt((v * v).sum(axis=1) + away**2), run.radius)
            v, away = v * shrink[:, None], away * shrink
    return atoms.risk(np.matmul(lower, (average / run.steps)[:, :, None])[:, :, 0])


def _noise(generators: list[np.random.Generator], steps: int, dimension: int, orthogonal: int) -> tuple[Array, Array]:
    """Normals [steps, models, d + 1] and chi^2 of one degree of freedom less than is orthogonal, [steps, models]."""
    normals = np.stack([rng.standard_normal((steps, dimension + 1)) for rng in generators], axis=1)
    if orthogonal == 0:
        normals[:, :, dimension] = 0.0
    if orthogonal < 2:
        return normals, np.zeros((steps, len(generators)))
    return normals, np.stack([rng.chisquare(orthogonal - 1, steps) for rng in generators], axis=1)
