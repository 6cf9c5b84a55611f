"""Wrong formulas for document 004's mechanisms, the slides' own slips among them: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import oracle
from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Certify, closed_form
from oracle.engines import gaussian_curve


def changed(name: str, **changes: Any) -> tuple[str, Certify]:
    """A bound that computes itself at other parameters, each a function of the true ones."""

    def certify(v: Values, width: Fraction) -> Enclosure:
        wrong = {key: change(v) for key, change in changes.items()}
        return oracle.bound(name).certify(Values(**{**vars(v), **wrong}), width)

    return name, certify


def _one_record(v: Values) -> str:
    return "add_remove"


WRONG: dict[str, tuple[str, Certify]] = {
    "a minimiser moved by one loss": changed("output-perturbation.epsilon", neighbours=_one_record),
    "the solver's error counted once": changed(
        "output-perturbation.epsilon", solver_error=lambda v: v.solver_error / 2
    ),
    "an exact solver taken for granted": changed("output-perturbation.scale", solver_error=lambda v: Fraction(0)),
    "a mean over one record fewer": changed(
        "output-perturbation-gaussian.epsilon", dataset_size=lambda v: v.dataset_size + 1
    ),
    "twice the strong convexity": changed(
        "output-perturbation-gaussian.sigma", strong_convexity=lambda v: 2 * v.strong_convexity
    ),
    "no Jacobian": changed("objective-perturbation.epsilon", curvature=lambda v: Fraction(0)),
    "both factors where one is enough": changed("objective-perturbation.epsilon", correction=lambda v: "cms11"),
    "no Jacobian in the noise": changed("objective-perturbation.scale", curvature=lambda v: Fraction(0)),
    "a ridge that is not divided by n": changed("objective-perturbation.ridge", dataset_size=lambda v: 1),
    "one side of the linear term": (  # the curve of N(mu, 1) against N(0, 1), as if the sign of <b, x> were known
        "objective-perturbation-gaussian.epsilon",
        lambda v, w: gaussian_curve.epsilon_of_mu(lambda: ball(2 * v.lipschitz / v.noise_on_sum), v.delta, w),
    ),
    "a replaced record that moves along one line": (
        "objective-perturbation-gaussian.epsilon", lambda v, w: oracle.bound(
            "objective-perturbation-gaussian.epsilon"
        ).certify(Values(**{**vars(v), "lipschitz": 2 * v.lipschitz, "neighbours": "add_remove"}), w),
    ),
    "the normaliser forgotten": changed("exponential-mechanism.epsilon", neighbours=_one_record),
    "a logarithm for the best constant": changed("exponential-mechanism.utility", method=lambda v: "textbook"),
    "a block too many": changed("subsample-aggregate.epsilon", blocks=lambda v: v.blocks + 1),
    "a radius for a diameter": changed("subsample-aggregate-gaussian.epsilon", estimate_range=lambda v: v.estimate_range / 2),
    "three queries for four": (
        "sufficient-statistics.epsilon", closed_form(lambda v: ball(3 / (v.dataset_size * v.scale))),
    ),
    "the l1-sensitivity for the l2": changed("sufficient-statistics-gaussian.epsilon", sigma=lambda v: v.sigma / 2),
    "C/n for a replaced record": changed("dp-gd.epsilon", neighbours=_one_record),
    "a step of descent forgotten": changed("dp-gd.sigma", steps=lambda v: max(0, v.steps - 1)),
    "the noise of the sum for that of the mean": changed(
        "dp-sgd.epsilon", noise_on_mean=lambda v: v.noise_on_mean * Fraction(101, 100)
    ),
}
