"""Wrong variants of elementary bounds: each forgets one thing."""

from __future__ import annotations

from typing import Any

import oracle
from empirical.mutants.changes import formula, parameters
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.core.registry import Certify
from tests.planted import loose, wrong


def _with(name: str, **changes: Any) -> Certify:
    """A bound at parameters that a function of the given ones has changed."""
    return lambda v, w: oracle.bound(name).certify(
        Values(**{**vars(v), **{key: change(v) for key, change in changes.items()}}), w
    )


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
