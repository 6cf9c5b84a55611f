"""Noise on the minimiser of a regularised risk (document 004)."""

from __future__ import annotations

from typing import Any

from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core.domain import choice, non_negative, positive, positive_integer, probability
from oracle.core.planning import Guarantee, Recipe, equals, flag, said
from oracle.core.registry import Values

CONVEX = said("every record's loss is convex in theta", "convex")


def _minimiser(config: Values) -> dict[str, Any] | None:
    if config.solver_error is None:
        return None
    return {
        "lipschitz": config.lipschitz, "strong_convexity": config.strong_convexity, "dataset_size": config.dataset_size,
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
        positive_integer("dataset_size"), positive("lipschitz", "Lipschitz constant of every record's loss in theta"),
        positive("strong_convexity", "strong convexity of the regulariser"),
        choice("noise", "gamma", "gaussian", meaning="density exp(-|v|/noise_scale), or N(0, noise_scale^2 I)"),
        positive("noise_scale"), probability("delta"), choice("neighbours", "replace", "add_remove"),
    ),
    optional=(
        non_negative("solver_error", "proved largest distance of the solver's answer from the minimiser"),
        flag("convex", "whether every record's loss is convex"), FIXED_SIZE,
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
