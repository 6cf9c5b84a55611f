"""Wrong formulas for document 004's mechanisms, the slides' own slips among them: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

from empirical.mutants.changes import certified, formula, parameters
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.engines import gaussian_curve
from tests.planted import loose, wrong


def _one_record(v: Values) -> str:
    return "add_remove"


MUTANTS = (
    wrong("output-perturbation.epsilon", "a minimiser moved by one loss", parameters(neighbours=_one_record)),
    wrong(
        "output-perturbation.epsilon", "the solver's error counted once",
        parameters(solver_error=lambda v: v.solver_error / 2),
    ),
    wrong(
        "output-perturbation.scale", "an exact solver taken for granted",
        parameters(solver_error=lambda v: Fraction(0)),
    ),
    wrong(
        "output-perturbation-gaussian.epsilon", "a mean over one record fewer",
        parameters(dataset_size=lambda v: v.dataset_size + 1),
    ),
    wrong(
        "output-perturbation-gaussian.sigma", "twice the strong convexity",
        parameters(strong_convexity=lambda v: 2 * v.strong_convexity),
    ),
    wrong("objective-perturbation.epsilon", "no Jacobian", parameters(curvature=lambda v: Fraction(0))),
    loose(
        "objective-perturbation.epsilon", "both factors where one is enough",
        parameters(correction=lambda v: "cms11"),
    ),
    wrong("objective-perturbation.scale", "no Jacobian in the noise", parameters(curvature=lambda v: Fraction(0))),
    loose("objective-perturbation.ridge", "a ridge that is not divided by n", parameters(dataset_size=lambda v: 1)),
    wrong(
        # the curve of N(mu, 1) against N(0, 1), as if the sign of <b, x> were known
        "objective-perturbation-gaussian.epsilon", "one side of the linear term",
        certified(
            lambda v, w: gaussian_curve.epsilon_of_mu(lambda: ball(2 * v.lipschitz / v.noise_on_sum), v.delta, w),
        ),
    ),
    wrong(
        "objective-perturbation-gaussian.epsilon", "a replaced record that moves along one line",
        parameters(lipschitz=lambda v: 2 * v.lipschitz, neighbours="add_remove"),
    ),
    wrong("exponential-mechanism.epsilon", "the normaliser forgotten", parameters(neighbours=_one_record)),
    loose(
        "exponential-mechanism.utility", "a logarithm for the best constant",
        parameters(method=lambda v: "textbook"),
    ),
    wrong("subsample-aggregate.epsilon", "a block too many", parameters(blocks=lambda v: v.blocks + 1)),
    wrong(
        "subsample-aggregate-gaussian.epsilon", "a radius for a diameter",
        parameters(estimate_range=lambda v: v.estimate_range / 2),
    ),
    wrong(
        "sufficient-statistics.epsilon", "three queries for four",
        formula(lambda v: ball(3 / (v.dataset_size * v.scale))),
    ),
    loose(
        "sufficient-statistics-gaussian.epsilon", "the l1-sensitivity for the l2",
        parameters(sigma=lambda v: v.sigma / 2),
    ),
    wrong("dp-gd.epsilon", "C/n for a replaced record", parameters(neighbours=_one_record)),
    wrong("dp-gd.sigma", "a step of descent forgotten", parameters(steps=lambda v: max(0, v.steps - 1))),
    wrong(
        "dp-sgd.epsilon", "the noise of the sum for that of the mean",
        parameters(noise_on_mean=lambda v: v.noise_on_mean * Fraction(101, 100)),
    ),
)
