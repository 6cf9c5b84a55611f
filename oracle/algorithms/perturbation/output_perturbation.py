r"""Output perturbation: noise on the minimiser of a regularised risk (document 004, "Output Perturbation").

    release  argmin ( (1/n) sum_i h(<x_i, theta>, y_i) + (lambda/2) |theta|^2 ) + v,     density of v ~ exp(-|v| / b)

with the losses of `minimiser`. The document leaves the noise open; exp(-(n lambda epsilon / (2 L)) |v|), that is
b = 2 L / (n lambda epsilon), is epsilon-DP for replacing a record, because the minimiser moves by at most
2 L / (n lambda), L = max |x|. Its "strictly convex" is not needed: the linear loss is not, and reaches the bound.

An answer of a solver is no argmin. `solver_error` is the distance tau that the guarantee allows for, and counts
(2 L / (n lambda) + 2 tau); a configuration in which no answer can be promised to be that close is refused, for the
shape of the data alone: to look at the answer would tell of the records. The minimiser and the sum are therefore
computed in double precision, whatever is asked for: rounding the sum then is post-processing.

A plan may have Gaussian noise, other losses (say how steep: lipschitz), and a record added or removed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.shared import glm, minimiser
from oracle.algorithms.shared.conditions import CONSTANT_SIZE
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Guarantee, Values, by_design, equals, given, said
from oracle.core.errors import DomainError
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the guarantee assumes."""
    glm.check_data(features, labels, feature_norm=config.feature_norm, loss=config.loss)
    norm = float(config.feature_norm)
    distance = minimiser.worst_distance(features.shape, config.loss, float(config.regularisation), norm)
    if not distance <= float(config.solver_error):
        raise DomainError(
            f"solver_error = {config.solver_error} is outside its domain: the answer is certified to {distance:.3g}"
        )


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The noisy minimiser of one run."""
    check(features, labels, config)
    dimension = features.shape[1]
    theta, distance = minimiser.minimise(
        features, labels, config.loss, float(config.regularisation), np.zeros(dimension), float(config.feature_norm),
        recorder,
    )
    noise = float(config.noise_scale) * tape.exponential_norm("noise", 0, dimension)[0]
    if recorder is not None:
        recorder("release", exact=theta.copy(), distance=distance, noise_scale=float(config.noise_scale))
    return np.asarray(theta + noise)


def facts(config: Values) -> dict[str, Any]:
    """What the losses of `minimiser` are known for on |x| <= feature_norm: their slopes in the score are at most 1."""
    if config.loss is None or config.feature_norm is None:
        return {}
    return {"lipschitz": config.feature_norm, "convex": "true"}


def _moved(config: Values, **noise: Any) -> dict[str, Any] | None:
    """What both bounds ask for: how far one record moves the solver's answer, and the noise."""
    if config.lipschitz is None or config.solver_error is None:
        return None
    return {
        "lipschitz": config.lipschitz, "strong_convexity": config.regularisation, "dataset_size": config.dataset_size,
        "solver_error": config.solver_error, "neighbours": config.neighbours, **noise,
    }


CONVEX = said("convex-losses", "convex")
LIPSCHITZ = given("lipschitz-loss", "lipschitz")
GAMMA, GAUSSIAN = equals("radial-noise", "noise_law", "gamma"), equals("gaussian-noise", "noise_law", "gaussian")
_MINIMISER = (CONVEX, LIPSCHITZ, CONSTANT_SIZE, given("near-minimiser", "solver_error"), *by_design("ridge"))
NOISE_LAW = vocabulary.noise_law.choosing("gamma", "gaussian")


output_perturbation = Algorithm(
    name="output-perturbation",
    document="004, Output Perturbation",
    summary="the minimiser of a ridge risk plus noise of density exp(-|v|/noise_scale)",
    parameters=(vocabulary.regularisation.above(0), vocabulary.noise_scale),
    training=(
        vocabulary.loss.choosing(*minimiser.LOSSES), vocabulary.feature_norm, vocabulary.solver_error.above(0),
    ),
    setting=(vocabulary.dataset_size, NOISE_LAW, vocabulary.delta.open(), vocabulary.neighbours),
    stated=(vocabulary.lipschitz, vocabulary.convex, vocabulary.fixed_size),
    facts=facts,
    trained=lambda config: {"noise_law": "gamma"},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "output-perturbation.epsilon", "pure: the minimiser moves by a bounded distance",
            lambda config: _moved(config, scale=config.noise_scale),
            (GAMMA, *_MINIMISER),
        ),
        Guarantee(
            "output-perturbation-gaussian.epsilon", "the Gaussian mechanism on the minimiser",
            lambda config: _moved(config, sigma=config.noise_scale),
            (GAUSSIAN, *_MINIMISER),
        ),
    ),
    check=check,
    reach=lambda config, count: records.log2(records.LARGEST_DRAW * config.noise_scale),
    reference=train,
    batched="oracle.algorithms.perturbation.torch_output_perturbation:twin",
    source=("cs208/output-perturbation",),
)
