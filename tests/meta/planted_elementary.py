"""Wrong variants of elementary bounds: each forgets one thing."""

from __future__ import annotations

from typing import Any

import oracle
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.core.registry import Certify, closed_form


def _with(name: str, **changes: Any) -> Certify:
    """A bound at parameters that a function of the given ones has changed."""
    return lambda v, w: oracle.bound(name).certify(
        Values(**{**vars(v), **{key: change(v) for key, change in changes.items()}}), w
    )


WRONG: dict[str, tuple[str, Certify]] = {
    "a mechanism left out of the sum": ("composition.basic", closed_form(lambda v: ball((v.steps - 1) * v.base_epsilon))),
    "steps for their root in delta": (
        "gaussian-composed.delta",
        _with(
            "gaussian-composed.delta", sensitivity=lambda v: v.sensitivity * max(1, v.steps),
            steps=lambda v: min(v.steps, 1),
        ),
    ),
    "half of mu": ("gdp.delta", _with("gdp.delta", mu=lambda v: v.mu / 2)),
    "a release forgotten in epsilon": (
        "laplace-composed.epsilon", _with("laplace-composed.epsilon", steps=lambda v: max(0, v.steps - 1)),
    ),
    "delta halved for nothing": (
        "randomised-response.epsilon", _with("randomised-response.epsilon", delta=lambda v: v.delta / 2),
    ),
}
