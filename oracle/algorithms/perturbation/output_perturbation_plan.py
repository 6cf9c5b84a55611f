"""Noise on the minimiser of a regularised risk (document 004)."""

from __future__ import annotations

from typing import Any

from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, equals, said
from oracle.core.registry import Values

CONVEX = said("every record's loss is convex in theta", "convex")


def _minimiser(config: Values) -> dict[str, Any] | None:
    if config.solver_error is None:
        return None
    return {
        "lipschitz": config.lipschitz, "strong_convexity": config.regularisation, "dataset_size": config.dataset_size,
        "solver_error": config.solver_error, "neighbours": config.neighbours,
    }


def _pure(config: Values) -> dict[str, Any] | None:
    minimiser = _minimiser(config)
    return None if minimiser is None else {**minimiser, "scale": config.noise_scale}


def _gaussian(config: Values) -> dict[str, Any] | None:
    minimiser = _minimiser(config)
    return None if minimiser is None else {**minimiser, "sigma": config.noise_scale, "delta": config.delta}


output_perturbation = Recipe(
    algorithm="output-perturbation",
    summary="the minimiser of a strongly convex regularised risk, plus noise",
    parameters=(
        vocabulary.dataset_size, vocabulary.lipschitz,
        vocabulary.regularisation.above(0),
        vocabulary.noise_law.choosing("gamma", "gaussian"),
        vocabulary.noise_scale, vocabulary.delta.open(), vocabulary.neighbours,
    ),
    optional=(
        vocabulary.solver_error,
        vocabulary.convex, FIXED_SIZE,
    ),
    guarantees=(
        Guarantee(
            "output-perturbation.epsilon", "pure: the minimiser moves by a bounded distance", _pure,
            (equals("the noise has density exp(-|v|/noise_scale)", "noise", "gamma"), CONVEX, CONSTANT),
        ),
        Guarantee(
            "output-perturbation-gaussian.epsilon", "the Gaussian mechanism on the minimiser", _gaussian,
            (equals("the noise is Gaussian", "noise", "gaussian"), CONVEX, CONSTANT),
        ),
    ),
    source=("cs208/output-perturbation",),
)
