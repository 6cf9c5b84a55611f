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
random variable, of which the theorem says nothing: that it is the minimiser is a hypothesis, which a plan states. Our
own training meets it up to rounding, and so nothing is proved of it: a plan says CONDITIONAL, and an audit holds it to
the epsilon of exact arithmetic.

A plan may give the target epsilon, as a training does, or the noise itself (noise_law and noise_scale).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from oracle.algorithms.perturbation import output_perturbation
from oracle.algorithms.perturbation.output_perturbation import CONVEX, GAMMA, GAUSSIAN, LIPSCHITZ, NOISE_LAW
from oracle.algorithms.shared import glm, minimiser
from oracle.algorithms.shared.conditions import CONSTANT_SIZE
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Algorithm, Condition, Guarantee, Values, exactly, given, said
from oracle.core.errors import DomainError
from oracle.core.hypotheses import ROUNDED
from oracle.core.tape import Tape

CORRECTIONS = ("cms11", "sharp", "none")


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless the data fit the configuration that the guarantee assumes."""
    glm.check_data(features, labels, feature_norm=config.feature_norm, loss=config.loss)
    if records.log2(config.feature_norm) > 500:
        given = records.told(config.feature_norm)
        raise DomainError(f"feature_norm = {given} is outside its domain: its square is no double")


def _curvature(config: Values) -> Fraction:
    """The largest second derivative of a record's loss along its features."""
    result: Fraction = minimiser.CURVATURE[config.loss] * config.feature_norm**2
    return result


def noise_and_ridge(config: Values, records: int) -> tuple[float, float]:
    """The scale s of b and the ridge Lambda, as the text computes them."""
    epsilon, ridge = float(config.epsilon), float(config.regularisation)
    lipschitz = float(config.feature_norm)
    steep = float(_curvature(config))
    ratio = steep / (records * ridge)
    spent = {"cms11": 2.0 * ratio + ratio * ratio, "sharp": ratio, "none": 0.0}[config.correction]
    left = epsilon - math.log1p(spent)
    if left <= 0.0:
        left = epsilon / 2.0
        ridge = steep / (records * math.expm1(epsilon / (4.0 if config.correction == "cms11" else 2.0)))
    return 2.0 * lipschitz / left, ridge


def _reach(config: Values, count: int) -> float:
    """How far the minimiser may be (`records`): no farther than the longest slope, over the ridge."""
    ratio = records.log2(_curvature(config)) - records.log2(count * config.regularisation)
    if ratio > records.SPAN[False]:
        return ratio  # its square is no double
    scale, ridge = noise_and_ridge(config, count)
    if not 0 < ridge < math.inf or scale == math.inf:
        return math.inf
    slope = config.feature_norm + records.LARGEST_DRAW * Fraction(scale) / count
    return records.log2(slope) - records.log2(Fraction(ridge))


def _step(config: Values, room: int) -> float:
    """The largest number that a Newton step computes: the curvature, or a ridge that follows it, times such weights."""
    ridge = max(_curvature(config) * max(1, 4 / config.epsilon), config.regularisation)
    return records.log2(ridge) + room


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


def _targeted(config: Values) -> bool:
    """Whether noise and ridge follow from a target epsilon."""
    target = (config.epsilon, config.correction, config.loss, config.feature_norm)
    return config.noise_law == "gamma" and None not in target


def facts(config: Values) -> dict[str, Any]:
    """What the losses are known for, and the noise that a target epsilon leads to, to the last bit of the run's."""
    if config.epsilon is not None and config.noise_scale is not None:
        raise DomainError(
            f"epsilon = {config.epsilon} and noise_scale = {config.noise_scale} are both given; one of them is taken"
        )
    known = output_perturbation.facts(config)
    if known:
        known |= {"curvature": _curvature(config), "linear_model": "true"}
    if _targeted(config):
        known["noise_scale"] = Fraction(noise_and_ridge(config, config.dataset_size)[0])
    return known


def _ridge(config: Values) -> Fraction:
    """The ridge of the objective: the given one, or a larger one that a target epsilon asks for."""
    given: Fraction = config.regularisation
    if not _targeted(config):
        return given
    ridge = noise_and_ridge(config, config.dataset_size)[1]
    return given if ridge == float(given) else Fraction(ridge)


def _tilted(config: Values, **noise: Any) -> dict[str, Any] | None:
    """What both bounds ask for: the objective, and the noise."""
    if None in (config.lipschitz, config.curvature, config.noise_scale):
        return None
    return {
        "lipschitz": config.lipschitz, "curvature": config.curvature, "regularisation": _ridge(config),
        "dataset_size": config.dataset_size, "neighbours": config.neighbours, **noise,
    }


def _pure(config: Values) -> dict[str, Any] | None:
    correction = "cms11" if config.correction == "cms11" else "sharp"
    return _tilted(config, noise_scale=config.noise_scale, correction=correction)


_THEOREM = (
    CONVEX, LIPSCHITZ, CONSTANT_SIZE, given("curved-margins", "curvature"), said("smooth-margins", "linear_model"),
    said("whole-space", "unconstrained"), exactly("exact-minimiser", "exact_minimiser"),
)
_PAID = Condition(
    "curved-margins",
    lambda config: config.correction != "none" or (None if config.curvature is None else config.curvature == 0),
    "the change of variables is paid for: correction is not none, or no loss is curved",
)

objective_perturbation = Algorithm(
    name="objective-perturbation",
    document="004, Objective Perturbation",
    summary="the minimiser of a ridge risk with a random linear term, noise and ridge chosen for a target epsilon",
    parameters=(vocabulary.regularisation.above(0),),
    training=(
        vocabulary.loss.choosing(*minimiser.LOSSES), vocabulary.feature_norm, vocabulary.epsilon.above(0),
        vocabulary.correction.choosing(*CORRECTIONS),
    ),
    setting=(vocabulary.dataset_size, NOISE_LAW, vocabulary.delta.open(), vocabulary.neighbours),
    stated=(
        vocabulary.noise_scale, vocabulary.lipschitz, vocabulary.curvature, vocabulary.convex, vocabulary.linear_model,
        vocabulary.unconstrained, vocabulary.exact_minimiser, vocabulary.fixed_size,
    ),
    facts=facts,
    trained=lambda config: {"noise_law": "gamma", "unconstrained": "true", "exact_minimiser": ROUNDED},
    released="output",
    neighbours="replace",
    guarantees=(
        Guarantee(
            "objective-perturbation.epsilon", "pure: the noise, and its change of variables", _pure,
            (GAMMA, *_THEOREM, _PAID),
        ),
        Guarantee(
            "objective-perturbation-gaussian.epsilon", "Gaussian noise, and its change of variables",
            lambda config: _tilted(config, noise_on_sum=config.noise_scale),
            (GAUSSIAN, *_THEOREM),
        ),
    ),
    check=check,
    reach=_reach,
    step=_step,
    reference=train,
    batched="oracle.algorithms.perturbation.torch_objective_perturbation:twin",
    source=("cs208/objective-perturbation-repaired",),
)
