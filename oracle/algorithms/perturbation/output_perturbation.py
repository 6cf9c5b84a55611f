r"""Output perturbation: noise on the minimiser of a regularised risk (document 004, "Output Perturbation").

    release  argmin ( (1/n) sum_i h(<x_i, theta>, y_i) + (lambda/2) |theta|^2 ) + v,     density of v ~ exp(-|v| / b)

with the losses of `minimiser`. The document leaves the noise open; exp(-(n lambda epsilon / (2 L)) |v|), that is
b = 2 L / (n lambda epsilon), is epsilon-DP for replacing a record, because the minimiser moves by at most
2 L / (n lambda), L = max |x|. Its "strictly convex" is not needed: the linear loss is not, and reaches the bound.

An answer of a solver is no argmin. `solver_error` is the distance tau that the guarantee allows for, and counts
(2 L / (n lambda) + 2 tau); a run whose answer cannot be certified to be that close is refused. The minimiser and the
sum are therefore computed in double precision, whatever is asked for: rounding the sum then is post-processing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oracle.algorithms.shared import glm, minimiser
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    glm.check_data(features, labels, feature_norm=config.feature_norm, loss=config.loss)


def certify(distance: float, config: Values) -> None:
    """A DomainError unless the answer is as close to the minimiser as the configuration promises."""
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
    certify(distance, config)
    noise = float(config.noise_scale) * tape.exponential_norm("noise", 0, dimension)[0]
    if recorder is not None:
        recorder("release", exact=theta.copy(), distance=distance, noise_scale=float(config.noise_scale))
    return np.asarray(theta + noise)


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of output-perturbation.epsilon: every loss is Lipschitz with constant feature_norm."""
    return {
        "lipschitz": config.feature_norm,
        "strong_convexity": config.regularisation,
        "dataset_size": records,
        "solver_error": config.solver_error,
        "scale": config.noise_scale,
        "neighbours": "replace",
    }


output_perturbation = Algorithm(
    name="output-perturbation",
    document="004, Output Perturbation",
    summary="the minimiser of a ridge risk plus noise of density exp(-|v|/noise_scale)",
    parameters=(
        vocabulary.loss.choosing(*minimiser.LOSSES),
        vocabulary.regularisation.above(0),
        vocabulary.noise_scale,
        vocabulary.solver_error.above(0),
        vocabulary.feature_norm,
    ),
    released="output",
    neighbours="replace",
    accounted_by="output-perturbation.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.perturbation.torch_output_perturbation:train",
    gaussian_release=lambda config: False,
    source=("cs208/output-perturbation",),
)
