r"""The exact convex programme of a two-layer ReLU network, for tiny data (document 000, eqs. 3.2 and 3.3).

The network sum_j relu(X u_j) alpha_j with weight decay (3.2) and

    min  |sum_i D_i X (v_i - w_i) - y|^2 / 2 + lambda sum_i (|v_i| + |w_i|),      v_i, w_i in C_i,      (3.3)

over all activation patterns D_i = diag 1(X u >= 0) and their cones C_i = {u : (2 D_i - I) X u >= 0} have one minimum,
if the network is wide enough. (Theorem 3.1 says width d + 1, which is too little; n + 1 serves, by Caratheodory's
theorem for output and cost.) A network of that value has a neuron (v, +) or (w, -) for each vector that is not zero:
u = v / sqrt|v|, alpha = +-sqrt|v|.

PATTERNS are enumerated exactly. A sign vector of X u is a composition of those of rays (s o t is s, and t where s is 0:
the signs of u + epsilon w): a cell of the arrangement is a pointed cone, once X has full column rank, and contains the
sum of its rays, the ends of which lie on rank - 1 independent hyperplanes. All in rational arithmetic. The document
counts one pattern a region. There may be more: u = 0 gives all ones, which for x = 1, -1 no region does. Cones without
interior change nothing in (3.3): each is part of a cone with interior, and on both D X u = relu(X u).

THE OPTIMUM is found by an interior-point method (logarithmic barriers of |v| <= t and of the cones, the former
minimised over t in closed form; Newton's method on all vectors at once). The residual theta = y - output, scaled until
the projections of +-X^T D_i theta on C_i are no longer than lambda, is feasible for the dual, theta^T y - |theta|^2 / 2
(projections by non-negative least squares): each solution comes with its gap. Without the constraints ("gated" units:
D_i X v for any v, so that no w is needed) the same method minimises the relaxation, which can only be lower.

THE ALGORITHM releases the optimal value, to 1e-10 relative. The outputs at the records are unique, too, but a gap is
known to bound their error by its root only; the vectors need not be unique at all. There is no randomness, and nothing
protects the records.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.algorithm import Algorithm, Values
from oracle.core.domain import Number
from oracle.core.errors import DomainError, OracleError
from oracle.core.tape import Tape

Signs = tuple[int, ...]
_MOST_ROWS = 12  # the number of patterns grows like n^d, the work on them faster
_MOST_UNKNOWNS = 2000  # of the programme: a few seconds
_TRAINED_TO = 1e-10  # the relative gap of a released value
_NEWTON_STEPS = 60
_LARGEST_WEIGHT = 1e16


@dataclass(frozen=True)
class Solution:
    """An approximate minimiser with its value and a lower bound on the minimum, both in floating point."""

    patterns: NDArray[np.bool_]  # [M, n]
    v: Array  # [M, d]
    w: Array  # [M, d]
    objective: float
    lower: float

    @property
    def gap(self) -> float:
        """How far above the minimum the objective can be."""
        return self.objective - self.lower

    def network(self) -> tuple[Array, Array]:
        """Hidden weights [m, d] and output weights [m] of the network of the same value."""
        both = np.concatenate([self.v, self.w])
        roots = np.sqrt(np.linalg.norm(both, axis=1))
        kept = roots > 0
        signs = np.repeat([1.0, -1.0], len(self.v))
        return both[kept] / roots[kept, None], (signs * roots)[kept]


def _check_features(x: Array) -> None:
    glm.check_data(x, np.zeros(x.shape[0]) if x.ndim else np.zeros(0))
    if x.shape[0] > _MOST_ROWS:
        raise DomainError(f"{x.shape[0]} records are too many: patterns are enumerated for at most {_MOST_ROWS}")


# --- the patterns


def sign_vectors(x: Array) -> set[Signs]:
    """The signs (-1, 0, 1) that X u takes, u in R^d, exactly; the entries of X are the doubles that they are."""
    _check_features(x)
    exact = fmpq_mat([[fmpq(*Fraction(float(entry)).as_integer_ratio()) for entry in row] for row in x])
    columns = _pivots(exact)
    found: set[Signs] = {(0,) * x.shape[0]}
    if not columns:
        return found
    rays = _rays(fmpq_mat([[exact[i, j] for j in columns] for i in range(x.shape[0])]))
    fresh = list(found)
    while fresh:
        grown = {tuple(s or t for s, t in zip(base, ray, strict=True)) for base in fresh for ray in rays} - found
        found |= grown
        fresh = list(grown)
    return found


def _pivots(matrix: fmpq_mat) -> list[int]:
    """Columns of a matrix that are a basis of its column space."""
    reduced, rank = matrix.rref()
    return [next(j for j in range(reduced.ncols()) if reduced[i, j] != 0) for i in range(rank)]


def _rays(full: fmpq_mat) -> set[Signs]:
    """The sign vectors of both ends of every line on which rank - 1 independent hyperplanes meet (full column rank)."""
    rank = full.ncols()
    rays: set[Signs] = set()
    for chosen in itertools.combinations(range(full.nrows()), rank - 1):
        line = fmpq_mat(rank, 1)
        if rank == 1:
            line[0, 0] = 1
        else:
            hyperplanes = fmpq_mat([[full[i, j] for j in range(rank)] for i in chosen])
            pivots = _pivots(hyperplanes)
            if len(pivots) < rank - 1:
                continue
            free = next(j for j in range(rank) if j not in pivots)
            reduced = hyperplanes.rref()[0]
            line[free, 0] = 1
            for i, pivot in enumerate(pivots):
                line[pivot, 0] = -reduced[i, free]
        image = full * line
        signs = tuple(int(image[i, 0] > 0) - int(image[i, 0] < 0) for i in range(full.nrows()))
        rays |= {signs, tuple(-sign for sign in signs)}
    return rays


def patterns(x: Array) -> NDArray[np.bool_]:
    """All activation patterns 1(X u >= 0), u in R^d: the document's D_X, shape [M, n], sorted."""
    return _active(sign_vectors(x))


def open_patterns(x: Array) -> NDArray[np.bool_]:
    """The patterns of the regions into which the hyperplanes orthogonal to the rows cut R^d; zeros cut nothing."""
    found = sign_vectors(x)
    cutting = np.flatnonzero(np.any(x != 0, axis=1))
    return _active({signs for signs in found if all(signs[row] for row in cutting)})


def _active(found: set[Signs]) -> NDArray[np.bool_]:
    return np.array(sorted({tuple(sign >= 0 for sign in signs) for signs in found}))


# --- the optimum


@dataclass(frozen=True)
class _Programme:
    """The vectors z_g to be found: images B_g z_g, cones G_g z_g >= 0 of some interior, costs lam |z_g|."""

    images: Array  # [g, n, d]
    cones: Array  # [g, rows, d]
    y: Array
    lam: float

    def residual(self, z: Array) -> Array:
        return np.asarray(self.y - np.einsum("gnd,gd->n", self.images, z))

    def objective(self, z: Array) -> float:
        residual = self.residual(z)
        return float(residual @ residual / 2 + self.lam * np.linalg.norm(z, axis=1).sum())

    def lower(self, z: Array) -> float:
        """The dual value of the scaled residual: no z whatever has a smaller objective."""
        theta = self.residual(z)
        slopes = np.einsum("gnd,n->gd", self.images, theta)
        if self.cones.shape[1]:  # p projected on a cone is p plus an element of the dual cone (Moreau)
            pairs = zip(slopes, self.cones, strict=True)
            slopes = np.array([slope + cone.T @ scipy.optimize.nnls(cone.T, -slope)[0] for slope, cone in pairs])
        steepest = float(np.linalg.norm(slopes, axis=1).max())
        theta = theta * min(1.0, self.lam / max(steepest, 1e-300))
        return float(theta @ self.y - theta @ theta / 2)

    def barrier(self, z: Array, weight: float) -> float:
        """weight (objective with t for the norms) - sum log(t^2 - |z|^2) - sum log(G z), infinite outside.

        It is at its minimum over t, where weight lambda t = 1 + s, s^2 = 1 + (weight lambda |z|)^2; constants left out.
        """
        slack = np.einsum("grd,gd->gr", self.cones, z)
        if (slack <= 0).any():
            return float("inf")
        residual = self.residual(z)
        s = self.stretched(z, weight)
        value = weight * (residual @ residual / 2) + (s - np.log1p(s)).sum()
        return float(value - np.log(slack).sum())

    def stretched(self, z: Array, weight: float) -> Array:
        """The s of each vector."""
        return np.asarray(np.hypot(1.0, weight * self.lam * np.linalg.norm(z, axis=1)))

    def newton(self, z: Array, weight: float) -> tuple[Array, float]:
        """The Newton step of the barrier, and the squared decrement.

        The Hessian is R^T R for each vector, R from a factorisation of its square root (late in the method, entries of
        the Hessian itself hold no trace of its small eigenvalues), plus weight F^T F with F of n rows for all of them.
        """
        dimension = z.shape[1]
        slack, s = np.einsum("grd,gd->gr", self.cones, z), self.stretched(z, weight)
        pull = (weight * self.lam) ** 2 / (1 + s)  # of z on itself
        slope = pull[:, None] * z - np.einsum("grd,gr->gd", self.cones, 1 / slack)
        slope -= weight * np.einsum("gnd,n->gd", self.images, self.residual(z))
        unit = z / np.maximum(np.linalg.norm(z, axis=1), 1e-300)[:, None]
        along = (1 - 1 / np.sqrt(s))[:, None, None] * unit[:, :, None] * unit[:, None, :]
        own = np.sqrt(pull)[:, None, None] * (np.eye(dimension) - along)
        root = np.concatenate([self.cones / slack[:, :, None], own], axis=1)
        factor = np.asarray(np.linalg.qr(root, mode="r"))
        right = np.concatenate([self.images.transpose(0, 2, 1), slope[:, :, None]], axis=2)
        turned = np.linalg.solve(factor.transpose(0, 2, 1), right)
        flat, h = turned[:, :, :-1].reshape(-1, len(self.y)), turned[:, :, -1].ravel()
        step = flat @ np.linalg.solve(np.eye(len(self.y)) / weight + flat.T @ flat, flat.T @ h) - h
        moved = np.linalg.solve(factor, step.reshape(*z.shape, 1))[:, :, 0]
        return moved, float(-h @ step)


def solve(
    x: Array, y: Array, lam: Number, *, constrained: bool = True, tolerance: float = 1e-9, relative: bool = False
) -> Solution:
    """Minimise (3.3), or its relaxation without cones, to a gap of tolerance * max(1, |y|^2 / 2).

    `relative`: to a gap of tolerance * the minimum.
    """
    glm.check_data(x, y)
    weight = float(vocabulary.group_penalty.rational(lam))
    found = open_patterns(x) if constrained else patterns(x)
    images = found[:, :, None] * x
    cutting = np.any(x != 0, axis=1) & constrained
    cones = np.where(found, 1.0, -1.0)[:, cutting, None] * x[cutting]
    start = np.array([_inside(cone) for cone in cones]).reshape(len(found), x.shape[1])
    if constrained:
        images, cones, start = np.concatenate([images, -images]), np.tile(cones, (2, 1, 1)), np.tile(start, (2, 1))
    programme = _Programme(images, cones, y, weight)
    z, lower = _minimised(programme, start, tolerance, 0.0 if relative else max(1.0, float(y @ y) / 2))
    v, w = (z[: len(found)], z[len(found) :]) if constrained else (z, np.zeros_like(z))
    return Solution(found, v, w, programme.objective(z), lower)


def _inside(cone: Array) -> Array:
    """A point well inside a cone G u >= 0 whose interior is not empty: it maximises the least slack."""
    if not len(cone):
        return np.zeros(cone.shape[1])
    unit = np.ldexp(cone, -np.frexp(np.abs(cone).max(axis=1, keepdims=True))[1])  # no square of it leaves the doubles
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    least = np.concatenate([-unit, np.ones((len(unit), 1))], axis=1)
    goal, box = [0.0] * cone.shape[1] + [-1.0], [(-1.0, 1.0)] * cone.shape[1] + [(0.0, None)]
    return np.asarray(scipy.optimize.linprog(goal, A_ub=least, b_ub=np.zeros(len(unit)), bounds=box).x[:-1])


def _step(programme: _Programme, z: Array, weight: float) -> tuple[Array, float]:
    """The Newton step and the squared decrement; an OracleError where doubles have none for records of such sizes."""
    try:
        step, decrement = programme.newton(z, weight)
    except np.linalg.LinAlgError:
        step, decrement = z, math.nan
    if not math.isfinite(decrement):
        raise OracleError("the programme is not solved: a Newton step is no number")
    return step, decrement


def _minimised(programme: _Programme, start: Array, tolerance: float, unit: float) -> tuple[Array, float]:
    """Vectors of an objective near to a lower bound, and that bound; small vectors are made zero.

    Near is within tolerance * max(unit, bound).
    """
    z = start
    if programme.barrier(z, 1.0) == float("inf"):
        raise OracleError("the programme is not solved: a cone is too thin for floating point")
    weight, lower = 1.0, 0.0  # every objective is >= 0
    while weight < _LARGEST_WEIGHT:
        for _ in range(_NEWTON_STEPS):
            step, decrement = _step(programme, z, weight)
            if decrement < 1e-5:
                break
            length, least = 1.0, programme.barrier(z, weight)
            while length > 1e-12 and programme.barrier(z + length * step, weight) > least - length * decrement / 10:
                length /= 2
            if length <= 1e-12:
                break  # rounding drowns what is left to gain at this weight
            z = z + length * step
        lower = max(lower, programme.lower(z))
        norms = np.linalg.norm(z, axis=1)
        for least in (2.0, 1e-2, 1e-4, 1e-6, 0.0):  # none but zero, ..., all as they are
            kept = np.where((norms > least * norms.max())[:, None], z, 0.0)
            if programme.objective(kept) - lower <= tolerance * max(unit, lower):
                return kept, lower
        weight *= 10
    asked = tolerance * max(unit, lower)
    raise OracleError(f"the programme is not solved: a gap of {programme.objective(z) - lower}, not {asked}")


# --- the algorithm


def check(features: Array, labels: Array) -> None:
    """A DomainError unless these are data, few enough that all the patterns can be handled."""
    glm.check_data(features, labels)
    _check_features(features)
    records, dimension = features.shape
    regions = 2 * sum(math.comb(records - 1, k) for k in range(dimension))  # in general position, else fewer
    if 2 * regions * dimension > _MOST_UNKNOWNS:
        raise DomainError(
            f"{records} records of dimension {dimension} are too many: up to {regions} patterns, and a programme of "
            f"{2 * regions * dimension} unknowns, above {_MOST_UNKNOWNS}"
        )


def of_size_one(features: Array, labels: Array, lam: Fraction) -> tuple[Array, Array, Fraction, float]:
    """The same programme with entries of X and y up to 1, and the unit of its value.

    Exact: a power of two times X and lambda changes nothing, and times y and lambda it is squared in the value. No
    slope exceeds |X| |y|, which then is at most n d: larger lambdas have one value.
    """
    x_power, y_power = (int(np.frexp(np.abs(part).max())[1]) for part in (features, labels))
    scaled = lam / Fraction(2) ** (x_power + y_power)
    if y_power > 500:
        raise DomainError(f"labels of size 2^{y_power} are too large: sums of their squares are no doubles")
    unit = math.ldexp(1.0, 2 * y_power)
    return np.ldexp(features, -x_power), np.ldexp(labels, -y_power), min(scaled, Fraction(features.size)), unit


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The optimal value of (3.3), shape [1]; the tape is not read."""
    check(features, labels)
    x, y, lam, unit = of_size_one(features, labels, config.group_penalty)
    found = solve(x, y, lam, tolerance=_TRAINED_TO, relative=True)
    if recorder is not None:
        recorder("release", objective=unit * found.objective, lower=unit * found.lower)
    return np.array([unit * found.objective])


convex_relu_exact = Algorithm(
    name="convex-relu-exact",
    document="000, eq. (3.3)",
    summary="optimal value of the exact convex programme of a two-layer ReLU network, tiny data; not private",
    parameters=(vocabulary.group_penalty,),
    released="output",
    neighbours="any",
    reference=train,
    check=lambda features, labels, config: check(features, labels),
    batched="oracle.algorithms.convex_relu.torch_convex_programme:twin",
    source=("relu-approx/thm-3.1",),
    deterministic=True,
)
