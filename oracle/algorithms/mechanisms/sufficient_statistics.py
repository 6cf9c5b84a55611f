r"""Linear regression from four noisy moments (document 004, "Modifying ML Algorithms").

With x and y clipped to [0, 1], the means of x^2, xy, x and y over the n records are released, each with Laplace noise
of scale b (4/(epsilon n) for epsilon-DP), and from them alone

    slope = (xy - x y) / max(xx - x^2, variance_floor),        intercept = y - slope x.

The document names S_xx/n and S_xy/n as statistical queries. The centred ones are not means of a function of a record;
the raw moments are, hence these. The noisy variance can be anything, even negative: the floor keeps the slope finite.
Released are [xx, xy, x, y, slope, intercept]; the last two are post-processing. The four releases cost 4/(n b) at
delta = 0, and less at a positive delta.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.conditions import REPLACE
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, equals, said, towards
from oracle.core.errors import DomainError
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data with one feature."""
    glm.check_data(features, labels)
    if features.shape[1] != 1:
        raise DomainError(f"features of shape {features.shape} are outside their domain: one feature")


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The noisy moments, slope and intercept of one run, shape [6]."""
    check(features, labels, config)
    total = np.zeros(4)
    for i, (given_x, given_y) in enumerate(zip(features[:, 0], labels, strict=True)):
        x, y = min(max(float(given_x), 0.0), 1.0), min(max(float(given_y), 0.0), 1.0)
        total += np.array([x * x, x * y, x, y])
        if recorder is not None:
            recorder("sample", step=0, sample=i, clipped=(x, y))
    scale = float(config.noise_scale)
    if recorder is not None:
        recorder("release", exact=total / len(features), noise_scale=scale)
    xx, xy, x_mean, y_mean = total / len(features) + scale * tape.laplace("noise", 0, 4)[0]
    slope = (xy - x_mean * y_mean) / max(xx - x_mean**2, float(config.variance_floor))
    return np.array([xx, xy, x_mean, y_mean, slope, y_mean - slope * x_mean])


_MOMENTS = (
    REPLACE,
    said("unit-square", "clipped"),
    said("only-moments", "only_moments"),
)
_LAPLACE = equals("laplace-noise", "noise_law", "laplace")


sufficient_statistics = Algorithm(
    name="sufficient-statistics",
    document="004, Modifying ML Algorithms",
    summary="linear regression on [0, 1]^2 from the means of x^2, xy, x and y, each with Laplace noise",
    parameters=(vocabulary.noise_scale,),
    training=(vocabulary.variance_floor,),
    setting=(
        vocabulary.dataset_size, vocabulary.noise_law.choosing("laplace", "gaussian"), vocabulary.delta.open(),
        vocabulary.neighbours,
    ),
    stated=(vocabulary.clipped, vocabulary.only_moments),
    trained=lambda config: {"noise_law": "laplace", "clipped": "true", "only_moments": "true"},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "sufficient-statistics.epsilon", "pure: four Laplace releases",
            lambda config: {"dataset_size": config.dataset_size, "scale": config.noise_scale},
            (_LAPLACE, *_MOMENTS),
        ),
        Guarantee(
            "laplace-composed.epsilon", "four Laplace releases, composed exactly at delta",
            lambda config: {
                "scale": config.noise_scale, "sensitivity": Fraction(1, config.dataset_size), "steps": 4,
            },
            (_LAPLACE, *towards("real-queries", *_MOMENTS)),
        ),
        Guarantee(
            "sufficient-statistics-gaussian.epsilon", "the Gaussian mechanism on the four means",
            lambda config: {"dataset_size": config.dataset_size, "sigma": config.noise_scale},
            (equals("gaussian-noise", "noise_law", "gaussian"), *_MOMENTS),
        ),
    ),
    check=check,
    reach=lambda config, count: records.log2(records.LARGEST_DRAW * config.noise_scale),
    reference=train,
    batched="oracle.algorithms.mechanisms.torch_sufficient_statistics:twin",
    source=("cs208/linreg-suffstats-repaired",),
)
