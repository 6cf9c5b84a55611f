"""Wrong variants of elementary bounds: each forgets one thing."""

from __future__ import annotations

from empirical.mutants.changes import formula, parameters
from oracle.core.enclosure import ball
from tests.planted import loose, wrong

MUTANTS = (
    wrong(
        "composition.basic", "a mechanism left out of the sum", formula(lambda v: ball((v.steps - 1) * v.base_epsilon)),
    ),
    loose(
        "gaussian-composed.delta", "steps for their root in delta",
        parameters(sensitivity=lambda v: v.sensitivity * max(1, v.steps), steps=lambda v: min(v.steps, 1)),
    ),
    wrong("gdp.delta", "half of mu", parameters(mu=lambda v: v.mu / 2)),
    wrong(
        "laplace-composed.epsilon", "a release forgotten in epsilon",
        parameters(steps=lambda v: max(0, v.steps - 1)),
    ),
    loose("randomised-response.epsilon", "delta halved for nothing", parameters(delta=lambda v: v.delta / 2)),
)
