"""Wrong constants of the convex ReLU model, the document's own among them; the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

from empirical.mutants.changes import formula
from oracle.algorithms.convex_relu import convex_relu_smoothness
from oracle.core.enclosure import ball
from tests.planted import loose, wrong

MUTANTS = (
    wrong(
        "convex-relu.smoothness", "a block-diagonal Hessian",
        formula(lambda v: ball(convex_relu_smoothness.smoothness(v.loss, 1, v.feature_norm, v.regularisation))),
    ),
    wrong(
        "convex-relu.smoothness", "the ridge forgotten",
        formula(lambda v: ball(convex_relu_smoothness.smoothness(v.loss, v.active, v.feature_norm, Fraction(0)))),
    ),
    wrong(
        "convex-relu.contraction", "c taken for 1 - eta lambda",
        formula(lambda v: ball(abs(1 - v.learning_rate * v.regularisation))),
    ),
    loose("convex-relu.step", "a step of 1/beta", formula(lambda v: ball(convex_relu_smoothness._step(v) / 2))),
)
