"""Wrong constants of the convex ReLU model, the document's own among them; the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

from oracle.algorithms.convex_relu import convex_relu_smoothness
from oracle.core.enclosure import ball
from oracle.core.registry import Certify, closed_form

WRONG: dict[str, tuple[str, Certify]] = {
    "a block-diagonal Hessian": (
        "convex-relu.smoothness",
        closed_form(lambda v: ball(convex_relu_smoothness.smoothness(v.loss, 1, v.feature_norm, v.regularisation))),
    ),
    "the ridge forgotten": (
        "convex-relu.smoothness",
        closed_form(lambda v: ball(convex_relu_smoothness.smoothness(v.loss, v.active, v.feature_norm, Fraction(0)))),
    ),
    "c taken for 1 - eta lambda": (
        "convex-relu.contraction", closed_form(lambda v: ball(abs(1 - v.learning_rate * v.regularisation))),
    ),
    "a step of 1/beta": (
        "convex-relu.step", closed_form(lambda v: ball(convex_relu_smoothness._step(v) / 2)),
    ),
}
