"""A random linear term in a ridge objective (document 004)."""

from __future__ import annotations

from typing import Any

from oracle.algorithms.perturbation.output_perturbation_plan import CONVEX
from oracle.algorithms.shared.fixed_size import CONSTANT, FIXED_SIZE
from oracle.core.domain import choice, non_negative, positive, positive_integer, probability
from oracle.core.planning import Guarantee, Recipe, equals, flag, said
from oracle.core.registry import Values


def _objective(config: Values) -> dict[str, Any]:
    return {
        "lipschitz": config.lipschitz, "curvature": config.curvature, "strong_convexity": config.strong_convexity,
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
        positive_integer("dataset_size"), positive("lipschitz", "largest gradient norm of a record's loss"),
        non_negative("curvature", "largest second derivative of a record's loss along its features"),
        positive("strong_convexity", "factor of the ridge, that added for privacy included"),
        choice("noise", "gamma", "gaussian", meaning="b of density exp(-|b|/noise_scale), or N(0, noise_scale^2 I)"),
        positive("noise_scale"), probability("delta"), choice("neighbours", "replace", "add_remove"),
    ),
    optional=(
        flag("convex", "whether every record's loss is convex"),
        flag("linear_model", "whether a loss is a smooth function of <x, theta>"),
        flag("unconstrained", "whether theta ranges over all of R^d"),
        flag("exact_minimiser", "whether the minimiser is released exactly"), FIXED_SIZE,
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
