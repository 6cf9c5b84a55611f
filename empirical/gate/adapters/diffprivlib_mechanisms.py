"""diffprivlib: the noise that its mechanisms add, and its budget accountant.

A mechanism of diffprivlib is given epsilon and delta and draws noise of standard deviation `_scale`: the claim is in
the noise, so that is what is read. Its Laplace, binary and exponential mechanisms turn an epsilon into noise, too, for
which there is no bound here.
"""

from __future__ import annotations

import math
from typing import Any

from empirical.gate.adapters import ABOVE_ZERO, declare

_MOST = 1_000_000  # entries of the accountant's list, one a release


def gaussian_classical_sigma(*, sensitivity: Any, epsilon: Any, delta: Any) -> Any:
    """The classical Gaussian mechanism."""
    from diffprivlib.mechanisms import Gaussian

    return Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)._scale


def gaussian_sigma(*, sensitivity: Any, epsilon: Any, delta: Any) -> Any:
    """The analytic Gaussian mechanism."""
    from diffprivlib.mechanisms import GaussianAnalytic

    return GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=sensitivity)._scale


def composition_basic(*, base_epsilon: Any, steps: Any) -> Any:
    """The accountant without slack."""
    from diffprivlib import BudgetAccountant

    return BudgetAccountant(spent_budget=_spent(base_epsilon, 0, steps)).total()[0]


def composition_optimal(*, base_epsilon: Any, base_delta: Any, steps: Any, delta: Any) -> Any:
    """The accountant with the slack that leads to delta.

    It reports delta = 1 - (1-slack) (1-base_delta)^k; slack is solved from that in high precision and rounded down, so
    that the translation asks for no more than delta.
    """
    import mpmath
    from diffprivlib import BudgetAccountant

    with mpmath.workdps(60):
        slack = float(-mpmath.expm1(mpmath.log1p(-mpmath.mpf(delta)) - steps * mpmath.log1p(-mpmath.mpf(base_delta))))
    below = math.nextafter(slack, 0.0) if slack > 0 else slack  # a negative one is the library's to refuse
    return BudgetAccountant(spent_budget=_spent(base_epsilon, base_delta, steps), slack=below).total()[0]


def _spent(epsilon: Any, delta: Any, steps: Any) -> list[tuple[Any, Any]]:
    if not 0 <= steps <= _MOST:
        raise ValueError(f"a composition of {steps} releases is not offered, but as a list of so many")
    return [(epsilon, delta)] * steps


ADAPTERS = declare("diffprivlib", "mechanisms", "diffprivlib", {
    "composition.basic": composition_basic,
    "composition.optimal": composition_optimal,
    "gaussian-classical.sigma": gaussian_classical_sigma,
    "gaussian.sigma": gaussian_sigma,
}, offers={
    "composition.basic": {"steps": [0, _MOST]}, "composition.optimal": {"steps": [0, _MOST]},
    "gaussian.sigma": {"epsilon": ABOVE_ZERO},
})
