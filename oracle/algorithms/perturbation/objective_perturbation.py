r"""Objective perturbation: a random linear term in the objective (document 004, "Objective Perturbation").

    release  argmin ( (1/n) sum_i h(<x_i, theta>, y_i) + (Lambda/2) |theta|^2 + <b, theta>/n )

for b of density proportional to exp(-|b|/s), with the losses of `minimiser`, |h'| |x| <= L = max |x|, h'' |x|^2 <= c.
For a target epsilon and t = c / (n lambda):

    epsilon' = epsilon - log(1 + 2 t + t^2),      Lambda = lambda,                                if epsilon' > 0,
    epsilon' = epsilon / 2,                       Lambda = c / (n (e^{epsilon/4} - 1)) > lambda   otherwise,
    s = 2 L / epsilon'.

The document has <theta, v> + c |theta|^2 with constants that it does not give; these are those of Chaudhuri, Monteleoni
and Sarwate (2011), who write Lambda = lambda + Delta. `correction` chooses what the change of variables costs: "cms11"
is the above, "sharp" has log(1 + t) and e^{epsilon/2} instead, which is enough, and "none" has no such term: then
nothing is proved, and for small n lambda the target is missed by far.

The guarantee is of the exact minimiser. A solver's answer, here within a few hundred roundings over lambda, is another
random variable, of which the theorem says nothing: that it is the minimiser is a hypothesis of the account.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from oracle.algorithms.shared import glm, minimiser
from oracle.algorithms.shared.glm import Array
from oracle.core import vocabulary
from oracle.core.errors import DomainError
from oracle.core.registry import Algorithm, Values
from oracle.core.tape import Tape

CORRECTIONS = ("cms11", "sharp", "none")


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the accounting assumes."""
    glm.check_data(features, labels, feature_norm=config.feature_norm, loss=config.loss)


def noise_and_ridge(config: Values, records: int) -> tuple[float, float]:
    """The scale s of b and the ridge Lambda, as the text computes them."""
    epsilon, ridge = float(config.epsilon), float(config.regularisation)
    lipschitz = float(config.feature_norm)
    steep = float(minimiser.CURVATURE[config.loss]) * lipschitz**2
    ratio = steep / (records * ridge)
    spent = {"cms11": math.log1p(2.0 * ratio + ratio**2), "sharp": math.log1p(ratio), "none": 0.0}[config.correction]
    left = epsilon - spent
    if left <= 0.0:
        left = epsilon / 2.0
        ridge = steep / (records * math.expm1(epsilon / (4.0 if config.correction == "cms11" else 2.0)))
    return 2.0 * lipschitz / left, ridge


def train(features: Array, labels: Array, config: Values, tape: Tape, recorder: Any = None) -> Array:
    """The minimiser of one run's perturbed objective."""
    check(features, labels, config)
    records, dimension = features.shape
    scale, ridge = noise_and_ridge(config, records)
    b = scale * tape.exponential_norm("noise", 0, dimension)[0]
    theta, distance = minimiser.minimise(
        features, labels, config.loss, ridge, b / records, float(config.feature_norm), recorder
    )
    if recorder is not None:
        recorder("release", exact=theta.copy(), distance=distance, noise_scale=scale, ridge=ridge)
    return theta


def account(config: Values, records: int) -> dict[str, Any]:
    """The parameters of objective-perturbation.epsilon, with the noise and the ridge of the run, to the last bit."""
    steep = minimiser.CURVATURE[config.loss] * config.feature_norm**2
    if config.correction == "none" and steep:
        raise DomainError("correction = none is outside its domain: the change of variables is not paid for")
    scale, ridge = noise_and_ridge(config, records)
    added = ridge != float(config.regularisation)
    return {
        "lipschitz": config.feature_norm,
        "curvature": steep,
        "strong_convexity": Fraction(ridge) if added else config.regularisation,
        "dataset_size": records,
        "scale": Fraction(scale),
        "neighbours": "replace",
        "correction": "cms11" if config.correction == "cms11" else "sharp",
    }


objective_perturbation = Algorithm(
    name="objective-perturbation",
    document="004, Objective Perturbation",
    summary="the minimiser of a ridge risk with a random linear term, noise and ridge chosen for a target epsilon",
    parameters=(
        vocabulary.loss.choosing(*minimiser.LOSSES),
        vocabulary.regularisation.above(0),
        vocabulary.epsilon.above(0),
        vocabulary.correction.choosing(*CORRECTIONS),
        vocabulary.feature_norm,
    ),
    released="output",
    neighbours="replace",
    accounted_by="objective-perturbation.epsilon",
    account=account,
    reference=train,
    batched="oracle.algorithms.perturbation.torch_objective_perturbation:train",
    gaussian_release=lambda config: False,
    source=("cs208/objective-perturbation",),
)
