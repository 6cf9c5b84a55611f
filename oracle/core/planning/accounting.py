"""From a bound of any unit to the epsilon that it proves at a delta."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from oracle.core.enclosure import Enclosure
from oracle.core.errors import OracleError
from oracle.core.registry import bound

ORDERS = tuple(1 + step * Fraction(2) ** power for power in range(-4, 10) for step in (Fraction(1), Fraction(3, 2)))
"""The Renyi orders tried for a bound whose unit is rdp; any order is valid, more of them would only be tighter."""


def epsilon_of(name: str, parameters: Mapping[str, Any], delta: Fraction) -> Enclosure:
    """The epsilon that a bound of unit epsilon, mu or rdp gives at delta."""
    item = bound(name)
    if item.safe == "lower":
        raise OracleError(f"bound {name} is a lower bound: it proves no epsilon")
    if item.unit == "rdp":
        return min(
            (_at_order(name, parameters, order, delta) for order in ORDERS), key=lambda e: e.upper.to_fraction(),
        )
    value = item.at(parameters)
    if item.unit == "epsilon":
        return value
    if item.unit != "mu":
        raise OracleError(f"bound {name} of unit {item.unit} gives no epsilon")
    if value.upper.mantissa == 0:
        return value  # perfect privacy
    low, high = (end.to_fraction() for end in (value.lower, value.upper))
    upper = bound("gdp.epsilon").reference(mu=high, delta=delta)
    return Enclosure(bound("gdp.epsilon").reference(mu=low, delta=delta).lower, upper.upper) if low else upper


def _at_order(name: str, parameters: Mapping[str, Any], order: Fraction, delta: Fraction) -> Enclosure:
    value = bound(name).at({**parameters, "alpha": order})
    low, high = (
        bound("rdp.epsilon").reference(alpha=order, rdp=end.to_fraction(), delta=delta, conversion="canonne")
        for end in (value.lower, value.upper)
    )
    return Enclosure(low.lower, high.upper)
