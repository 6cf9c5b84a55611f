"""A random linear term in a ridge objective (document 004)."""

from __future__ import annotations

from typing import Any

from oracle.algorithms.perturbation.output_perturbation_plan import CONVEX
from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, equals, said
from oracle.core.registry import Values


def _objective(config: Values) -> dict[str, Any]:
    return {
        "lipschitz": config.lipschitz, "curvature": config.curvature, "strong_convexity": config.regularisation,
        "dataset_size": config.dataset_size, "neighbours": config.neighbours,
    }


_THEOREM = (
    CONVEX,
    said("every loss is a twice continuously differentiable function of one product <x, theta>", "linear_model"),
    said("the minimum is taken over all of R^d", "unconstrained"),
    said("the released minimiser is exact", "exact_minimiser"),
    CONSTANT,
)

objective_perturbation = Recipe(
    algorithm="objective-perturbation",
    summary="the minimiser of a convex ridge objective with a random linear term <b, theta>/n",
    parameters=(
        vocabulary.dataset_size, vocabulary.lipschitz,
        vocabulary.curvature,
        vocabulary.regularisation.above(0),
        vocabulary.noise_law.choosing("gamma", "gaussian"),
        vocabulary.noise_scale, vocabulary.delta.open(), vocabulary.neighbours,
    ),
    optional=(
        vocabulary.convex,
        vocabulary.linear_model,
        vocabulary.unconstrained,
        vocabulary.exact_minimiser, FIXED_SIZE,
    ),
    guarantees=(
        Guarantee(
            "objective-perturbation.epsilon", "pure: the noise, and its change of variables",
            lambda config: {
                **_objective(config), "scale": config.noise_scale, "correction": "sharp",
            },
            (equals("b has density exp(-|b|/noise_scale)", "noise", "gamma"), *_THEOREM),
        ),
        Guarantee(
            "objective-perturbation-gaussian.epsilon", "Gaussian noise, and its change of variables",
            lambda config: {**_objective(config), "sigma": config.noise_scale, "delta": config.delta},
            (equals("b is Gaussian", "noise", "gaussian"), *_THEOREM),
        ),
    ),
    source=("cs208/objective-perturbation",),
)
