"""Theorem 8 of 002 and its improvement: what a model error phi, |phi| <= M, costs (model (4); rates R6).

E[y|x] = link(<w*, psi(x)> + phi(x)). Records are e_j as in `linear_twin`, with a hidden sign b, even, that psi does not
see: phi = b M. Then min_h L is that of the function that sees b, no w absorbs phi, and L(w) - min_h L is the excess of
`linear_twin` plus M^2 exactly; labels given psi have the same law for every M. The document bounds what M adds by
2 G^2 M^2 + 4 G M; the improvement by G^2 M^2: with c = <w*, psi> + phi and g' = link - link(c),
(link(a) - link(c))^2 <= 2G (g(a) - g(c)), and g(<w*, psi>) - g(c) <= G phi^2/2. The rest is the bound of Theorem 1,
whose Lemma 8 holds for any w* that is compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.nonconvex_nn.linear_twin import (
    ROOT_LOG,
    TARGET,
    WELL_SPECIFIED,
    PhasedPlan,
    closed_bound,
    configuration,
    drawn,
    excess,
    generator_of,
    masses,
    tape_of,
    targets,
)
from empirical.studies.study import EQUAL, UPPER, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm

_STEP, _ATOMS, _THETA = Fraction(1, 10), 36, 36


def _error(spot: Spot) -> Fraction:
    """M; the axis is 1/M, so that errors fall along it."""
    return Fraction(1, spot["1/M"])


def _plan(spot: Spot) -> PhasedPlan:
    """Algorithm 9 runs Algorithm 2 where n epsilon > theta, as here; epsilon = 1."""
    step = _STEP * min(Fraction(1) / (math.isqrt(_THETA) * ROOT_LOG), Fraction(1, math.isqrt(spot["n"])))
    return PhasedPlan(spot["n"], step, 8 * ROOT_LOG, _ATOMS)


def _exact(spot: Spot) -> Curve:
    return (excess(_plan(spot)) + ball(_error(spot) ** 2),)


def _improved(spot: Spot) -> arb:
    return closed_bound(_plan(spot), rank=Fraction(_THETA)) + ball(_error(spot) ** 2)


def _printed(spot: Spot) -> arb:
    return 2 * closed_bound(_plan(spot), rank=Fraction(_THETA)) + ball(2 * _error(spot) ** 2 + 4 * _error(spot))


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    """Runs on drawn hidden signs; the risk counts both signs of every atom."""
    plan, error = _plan(spot), float(_error(spot))
    twin = algorithm("phased-sgd")
    config = twin.parse(configuration(plan))
    p, target = np.array([float(p) for p in masses(_ATOMS)]), targets(_ATOMS)
    errors = []
    for replicate in replicates:
        features, _ = drawn(plan, generator_of(seed, replicate))
        u = generator_of(seed + 1, replicate).random((plan.records, 2))
        means = features @ target + np.where(u[:, 0] < 0.5, error, -error)
        labels = np.where(u[:, 1] < (1 + means) / 2, 1.0, -1.0)
        released = np.clip(twin.train_batched(features, labels, config, tape_of(seed, replicate, 16)).numpy(), -1, 1)
        risks = sum((released - target - sign * error) ** 2 @ p / 2 for sign in (-1, 1))
        errors.append(float(np.mean(risks)))
    return np.array(errors)


def _study(
    name: str, statement: str, kind: str, predicted: int, source: tuple[str, ...], bound: Callable[[Spot], arb],
) -> Study:
    return Study(
        name=name,
        source=source,
        statement=statement,
        estimand="expected excess population risk over the best function of x",
        generator="e_j with p_j = 2^-j and a hidden sign b, labels +-1 of mean +-0.3 + b M, clip link",
        axis="1/M",
        grid=tuple(10 * 2**k for k in range(5)),
        setting={"n": 2**50, "atoms": _ATOMS, "padded": False},
        predicted=Fraction(predicted),
        kind=kind,
        premises=(
            WELL_SPECIFIED,
            Premise("means of labels lie in [-1, 1] with the model error", lambda spot: _error(spot) + TARGET <= 1),
            Premise("eta <= 1/G", lambda spot: _plan(spot).step <= 1),
        ),
        exact=_exact,
        trivial=lambda spot: ball(TARGET**2 + _error(spot) ** 2),
        bound=bound,
    )


improved_floor = _study(
    "model-noise-floor", "the model error costs G^2 M^2: exponent -2 in 1/M (the improvement of Theorem 8)", EQUAL, -2,
    ("nonconvex-nn/lem-7-strong",), _improved,
)
printed_floor = _study(
    "model-noise-floor-printed", "excess risk O(M^2 + M): exponent at most -1 in 1/M (Theorem 8)", UPPER, -1,
    ("nonconvex-nn/thm-8-utility", "nonconvex-nn/lem-7"), _printed,
)
at_moderate_size = Study(
    name="model-noise-moderate",
    source=("nonconvex-nn/thm-8-utility", "nonconvex-nn/lem-7-strong"),
    statement="excess risk within the bound of Theorem 1 plus G^2 M^2, on runs",
    estimand="expected excess population risk over the best function of x",
    generator="e_j with p_j = 2^-j and a hidden sign b, labels +-1 of mean +-0.3 + b M, clip link",
    axis="1/M",
    grid=(3, 5, 10),
    setting={"n": 1024, "atoms": _ATOMS, "padded": False},
    premises=(
        WELL_SPECIFIED,
        Premise("means of labels lie in [-1, 1] with the model error", lambda spot: _error(spot) + TARGET <= 1),
    ),
    exact=_exact,
    bound=_improved,
    simulation=Simulation(_sample, (3, 10), 32, 2008),
)
