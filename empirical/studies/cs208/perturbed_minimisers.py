r"""Output and objective perturbation, where both are solved exactly: where each wins (004; rates R17).

Output perturbation adds v of density ~ exp(-|v|/b), b = 2L/(n lambda epsilon), in d dimensions: |v| is Gamma(d) long in
units of b, so E|v|^2 = d(d+1) b^2. For the linear loss the objective is a parabola of curvature lambda, and the
excess is (lambda/2) d(d+1) (2L/(n lambda epsilon))^2 exactly: exponent -2 in n epsilon.

Objective perturbation tilts by <b, theta>/n, b of scale 2L/epsilon'. On a parabola of curvature h + lambda its
minimiser moves by b/(n (h + lambda)): the excess is (1/2) d(d+1) (2L/(n epsilon'))^2/(h + lambda), against
(1/2) (h + lambda) d(d+1) (2L/(n lambda epsilon))^2 of output perturbation. With t = c/(n lambda) the ratio

    objective/output = (lambda/(h + lambda))^2 (epsilon/epsilon')^2,      epsilon' = epsilon - log(1 + 2t + t^2),

is below 1 wherever epsilon' > epsilon lambda/(h + lambda). "Better performance than output perturbation" (slides) is
therefore false where there is no curvature to win by (h = 0 and c > 0: a loss that is flat on the data, but bounded
in its curvature elsewhere), and where n lambda is so small that epsilon' is eaten up.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import arb

from empirical.studies.study import EQUAL, Array, Curve, Premise, Simulation, Spot, Study
from oracle.core.enclosure import ball
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

DIMENSION, RIDGE, EPSILON = 4, Fraction(1, 10), Fraction(1)
_MODELS = 200


def _scale(spot: Spot) -> Fraction:
    return 2 / (Fraction(spot["n"]) * RIDGE * EPSILON)


def _excess(spot: Spot) -> Curve:
    return (ball(RIDGE / 2 * DIMENSION * (DIMENSION + 1) * _scale(spot) ** 2),)


def _features(records: int) -> Array:
    """Rows of norm 1, all of them e_1, so that the minimiser is known: -mean gradient/lambda."""
    features = np.zeros((records, DIMENSION))
    features[:, 0] = 1.0
    return features


def _sample(spot: Spot, seed: int, replicates: range) -> Array:
    """The mean excess of the regularised risk, (lambda/2) |released - minimiser|^2, on the twin."""
    item = algorithm("output-perturbation")
    config = item.parse({
        "loss": "linear", "regularisation": RIDGE, "feature_norm": 1, "noise_scale": _scale(spot),
        "solver_error": Fraction(1, 10**9),
    })
    features = _features(spot["n"])
    best = features.mean(axis=0) / float(RIDGE)
    means = []
    for replicate in replicates:
        tape = Tape(seed * 1000 + replicate, models=_MODELS)
        models = np.asarray(item.train_batched(features, np.zeros(spot["n"]), config, tape))
        means.append(float(RIDGE) / 2 * ((models - best) ** 2).sum(axis=1).mean())
    return np.array(means)


output = Study(
    name="output-perturbation",
    source=("cs208/output-perturbation",),
    statement="output perturbation on a parabola: excess regularised risk of exponent -2 in n epsilon",
    estimand="excess regularised risk",
    generator="linear loss, features e_1, lambda = 1/10, epsilon = 1, four dimensions; Gamma law of the noise",
    axis="n",
    grid=tuple(4**k for k in range(2, 14)),
    predicted=Fraction(-2),
    margin=Fraction(1, 100),
    kind=EQUAL,
    premises=(
        Premise("features have norm at most 1", lambda spot: float(np.linalg.norm(_features(4), axis=1).max()) <= 1.0),
    ),
    exact=_excess,
    simulation=Simulation(_sample, at=(16, 256), replicates=32, seed=2017),
)


def _left(spot: Spot) -> arb:
    """epsilon' of Chaudhuri, Monteleoni and Sarwate, for a loss of curvature at most 1."""
    t = 1 / (ball(spot["n"]) * ball(spot["ridge"]))
    left: arb = ball(EPSILON) - (1 + 2 * t + t**2).log()
    return left


def _ratio(spot: Spot) -> Curve:
    ridge = ball(spot["ridge"])
    return ((ridge / (ball(spot["curvature"]) + ridge)) ** 2 * (ball(EPSILON) / _left(spot)) ** 2,)


def _compared(name: str, curvature: Fraction, words: str) -> Study:
    return Study(
        name=name,
        source=("cs208/objective-perturbation-better",),
        statement=f"objective perturbation has less excess than output perturbation: {words}",
        estimand="excess of objective over that of output perturbation",
        generator="a parabola of curvature h, lambda = 1/100, epsilon = 1, loss of curvature at most 1; closed form",
        axis="n",
        grid=tuple(400 * 4**k for k in range(8)),
        setting={"ridge": Fraction(1, 100), "curvature": curvature},
        premises=(Premise("epsilon' > 0: the ridge need not be raised", lambda spot: bool(_left(spot) > 0)),),
        exact=_ratio,
        bound=lambda spot: arb(1),
    )


curved = _compared("objective-perturbation-curved", Fraction(1, 4), "h = 1/4, a quarter of the largest curvature")
flat = _compared("objective-perturbation-flat", Fraction(0), "h = 0, a loss that is flat on the data")
