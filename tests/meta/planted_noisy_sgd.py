"""Wrong formulas for noisy SGD with hidden state: the second opinions must object."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from oracle.bounds.hidden_state import noisy_sgd_privacy as noisy_sgd
from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure
from oracle.core.registry import Certify


def _with(certify: Certify, change: Callable[[Values], dict[str, Any]]) -> Certify:
    def wrong(v: Values, width: Fraction) -> Enclosure:
        return certify(Values(**{**vars(v), **change(v)}), width)

    return wrong


WRONG: dict[str, tuple[str, Certify]] = {
    "C for 2C in noisy SGD": (
        "noisy-sgd.epsilon", _with(noisy_sgd._epsilon, lambda v: {"sensitivity": v.sensitivity / 2}),
    ),
    "the last step for free": (
        "noisy-sgd.epsilon", _with(noisy_sgd._epsilon, lambda v: {"steps": max(0, v.steps - 1)}),
    ),
    "the projection forgotten": (
        "noisy-sgd.epsilon",
        _with(noisy_sgd._epsilon, lambda v: {"diameter": math.inf if v.diameter else v.diameter}),
    ),
    "noise on the sum for noise on the mean": (
        "noisy-sgd.delta", _with(noisy_sgd._delta, lambda v: {"noise_on_mean": v.noise_on_mean / 2}),
    ),
    "contraction squared": (
        "noisy-sgd.delta", _with(noisy_sgd._delta, lambda v: {"contraction": v.contraction**2}),
    ),
}
