"""Linear regression from the noisy means of x^2, xy, x and y on [0, 1]^2 (document 004)."""

from __future__ import annotations

from fractions import Fraction

from oracle.algorithms.hidden_state.noisy_cgd_plan import REPLACE
from oracle.core import vocabulary
from oracle.core.planning import Guarantee, Recipe, equals, said

_MOMENTS = (
    REPLACE,
    said("x and y of every record lie in [0, 1]: they are clipped", "clipped"),
    said("the means of x^2, xy, x and y are released, and nothing else that sees the data", "only_moments"),
)
_LAPLACE = (equals("the noise on each mean is Laplace", "noise", "laplace"), *_MOMENTS)

sufficient_statistics = Recipe(
    algorithm="sufficient-statistics",
    summary="linear regression from the noisy means of x^2, xy, x and y",
    parameters=(
        vocabulary.dataset_size, vocabulary.noise_law.choosing("laplace", "gaussian"),
        vocabulary.noise_scale,
        vocabulary.delta.open(), vocabulary.neighbours,
    ),
    optional=(
        vocabulary.clipped,
        vocabulary.only_moments,
    ),
    guarantees=(
        Guarantee(
            "sufficient-statistics.epsilon", "pure: four Laplace releases",
            lambda config: {"dataset_size": config.dataset_size, "scale": config.noise_scale}, _LAPLACE,
        ),
        Guarantee(
            "laplace-composed.epsilon", "four Laplace releases, composed exactly at delta",
            lambda config: {
                "scale": config.noise_scale, "sensitivity": Fraction(1, config.dataset_size), "steps": 4,
                "delta": config.delta,
            },
            _LAPLACE,
        ),
        Guarantee(
            "sufficient-statistics-gaussian.epsilon", "the Gaussian mechanism on the four means",
            lambda config: {
                "dataset_size": config.dataset_size, "sigma": config.noise_scale, "delta": config.delta,
            },
            (equals("the noise on each mean is Gaussian", "noise", "gaussian"), *_MOMENTS),
        ),
    ),
    source=("cs208/linreg-suffstats",),
)
