r"""The optimal value of the exact convex programme by its dual: the torch sibling of `convex_programme`.

No patterns, cones or vectors here. The network's programme (3.2) is that of the atoms a = +-relu(X u), |u| = 1,

    min  |sum_j c_j a_j - y|^2 / 2 + lambda sum_j c_j,  c_j >= 0,

and its dual is the projection of y on the theta for which no atom has <theta, a> > lambda: maximise theta^T y -
|theta|^2 / 2. It is solved by exchange. A projection on the atoms known so far, in the form of Lawson and Hanson (least
distance programming by non-negative least squares), gives weights c, and with them a value from above; the steepest
atoms at theta are added; theta, shrunk until it is feasible, gives a value from below. The method ends when the two
meet: the errors of the directions enter both squared.

The STEEPEST atom, the largest theta^T relu(X u) / |u|, is found over all u: a maximiser u with X_S u = 0 and active
rows D is the projection of X^T D theta on the null space of X_S, up to its length. Whatever u comes out of a set S and
a mask D is a direction, and its slope is true; so all masks are tried, whether or not they are patterns of any u.

There is no randomness: one value is computed and repeated for every model. Single precision cannot settle a small
lambda, theta being a difference of y and outputs: that is an error and no value.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from oracle.algorithms.convex_relu.convex_programme import of_size_one
from oracle.core import torch_twin
from oracle.core.algorithm import Values
from oracle.core.errors import OracleError
from oracle.core.torch_twin import Twin, drawn

_ROUNDS = 200
_ADDED = 16  # atoms a round, of either sign


def _prepared(x: torch.Tensor, y: torch.Tensor, config: Values, recorder: Any) -> torch.Tensor:
    """The optimal value, [1]: powers of two that bring the data to size one change no digit of them."""
    *data, lam, unit = of_size_one(x.double().cpu().numpy(), y.double().cpu().numpy(), config.group_penalty)
    scaled, labels = (drawn(part, x) for part in data)
    upper, lower = solved(scaled, labels, float(lam))
    if recorder is not None:
        recorder("release", objective=unit * upper, lower=unit * lower)
    return torch.full((1,), unit * upper, dtype=x.dtype, device=x.device)


twin = Twin(
    lambda value, config, tape, recorder: value.expand(tape.models, 1), entries=lambda *_: 1, prepare=_prepared,
)


def solved(x: torch.Tensor, y: torch.Tensor, lam: float) -> tuple[float, float]:
    """Values from above and from below, that differ by eps^(2/3) of the precision, relatively, or ten times as much."""
    tolerance = torch.finfo(x.dtype).eps ** (2 / 3)
    projectors = list(null_spaces(x))
    atoms = x.new_zeros((len(x), 0))
    theta, before, upper, lower = y, float("inf"), float(y @ y) / 2, 0.0
    for _ in range(_ROUNDS):
        slopes, fresh = steepest(x, theta, projectors)
        if not len(slopes):  # none is a number: what is left has underflowed
            break
        feasible = theta * min(1.0, lam / max(float(slopes.max()), torch.finfo(x.dtype).tiny))
        lower = max(lower, float(feasible @ y - feasible @ feasible / 2))
        if upper - lower <= tolerance * upper:
            return upper, lower
        if upper >= before:  # rounding drowns what is left to gain
            break
        atoms = torch.cat([atoms, fresh[:, slopes > lam]], dim=1)
        if not atoms.shape[1]:  # no atom pays, and yet the ends do not meet
            break
        theta, weights = projected(atoms, y, lam)
        residual = y - atoms @ weights
        before, upper = upper, min(upper, float(residual @ residual / 2 + lam * weights.sum()))
    if upper - lower <= 10 * tolerance * upper:
        return upper, lower
    raise OracleError(f"the programme is not solved: its value is between {lower} and {upper}")


def null_spaces(x: torch.Tensor) -> Iterator[torch.Tensor]:
    """The projectors on the null spaces of all sets of fewer than d rows, [sets, d, d] for each size of the sets."""
    records, dimension = x.shape
    for size in range(min(records + 1, dimension)):
        chosen = x[torch.tensor(list(itertools.combinations(range(records), size)), dtype=torch.long, device=x.device)]
        yield torch.eye(dimension, dtype=x.dtype, device=x.device) - torch.linalg.pinv(chosen) @ chosen


def steepest(x: torch.Tensor, theta: torch.Tensor, projectors: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest slopes <theta, a>, [k], the largest of all among them, and their atoms a, [n, k].

    Beside the largest of either sign: those of the u whose active rows are their mask's, at most _ADDED of either sign.
    Others are slopes of no stationary direction, and only crowd the programme.
    """
    records = len(x)
    masks = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=x.dtype, device=x.device)] * records)
    masks = masks.reshape(-1, records)
    pulls = (masks * theta) @ x
    chunk = max(1, torch_twin.CHUNK_ELEMENTS // masks.numel())
    slopes: list[torch.Tensor] = []
    atoms: list[torch.Tensor] = []
    for part in (group[at : at + chunk] for group in projectors for at in range(0, len(group), chunk)):
        directions = torch.einsum("sde,me->smd", part, pulls)
        lengths = torch.linalg.vector_norm(directions, dim=2, keepdim=True)
        images = torch.where(lengths > 0, directions / lengths, 0.0) @ x.T
        own = ((images > 0) == (masks > 0)).all(dim=2)
        for sign in (1.0, -1.0):  # X^T D (-theta) is -X^T D theta: the same u, turned round
            found = (sign * images).clamp(min=0.0)
            slope = sign * (found @ theta)
            stationary = torch.where(own | (slope == slope.max()), slope, -torch.inf).flatten()
            top = stationary.topk(min(_ADDED, len(stationary)))
            kept = top.indices[top.values > -torch.inf]
            slopes.append(slope.flatten()[kept])
            atoms.append(sign * found.reshape(-1, records)[kept].T)
    every = torch.cat(slopes)
    order = every.argsort(descending=True)[: 2 * _ADDED]
    return every[order], torch.cat(atoms, dim=1)[:, order]


def projected(atoms: torch.Tensor, y: torch.Tensor, lam: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The theta nearest to y with <theta, a> <= lambda for the given atoms, and the weights c: theta = y - sum c a."""
    system = torch.cat([-atoms, (atoms.T @ y - lam).reshape(1, -1)])
    target = torch.zeros_like(system[:, 0])
    target[-1] = 1.0
    u = non_negative(system, target)
    weights = u / (1.0 - system[-1] @ u)
    return y - atoms @ weights, weights


def non_negative(system: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Least squares with non-negative unknowns, by the active-set method of Lawson and Hanson."""
    unknowns = system.shape[1]
    rounding = 10 * torch.finfo(system.dtype).eps * torch.linalg.vector_norm(system, dim=0)
    solution, free = torch.zeros_like(system[0]), torch.zeros_like(system[0], dtype=torch.bool)
    before, least = solution, float("inf")
    for _ in range(10 * unknowns):
        rest = target - system @ solution
        if float(rest @ rest) >= least:
            return before  # what is left to gain is rounding
        before, least = solution, float(rest @ rest)
        gains = torch.where(free, -torch.inf, system.T @ rest - rounding)
        if not bool((gains > 0).any()):
            break
        free[gains.argmax()] = True
        while bool(free.any()):
            tried = torch.zeros_like(solution)
            q, r = torch.linalg.qr(system[:, free])
            tried[free] = torch.linalg.solve_triangular(r, (q.T @ target).reshape(-1, 1), upper=True).flatten()
            falling = free & (tried <= 0)
            if not bool(falling.any()):
                solution = tried
                break
            steps = torch.where(falling, solution / (solution - tried), torch.inf)
            solution = solution + steps.min() * (tried - solution)
            free &= ~(falling & (steps <= steps.min()))
            solution = torch.where(free, solution, 0.0)
    return solution
