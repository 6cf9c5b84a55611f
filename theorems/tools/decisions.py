"""What a test between two data sets proves of epsilon: no event (its yes, say) has power > e^epsilon alarm + delta."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from oracle.core.arithmetic import enclose
from oracle.core.domain import Number, probability
from oracle.core.enclosure import Enclosure, ball


def epsilon_of_test(delta: Number, rates: Callable[[], tuple[arb, arb]]) -> Enclosure:
    """log((power - delta) / alarm); `rates` gives power and alarm as balls, at the working precision."""
    level = probability("delta").rational(delta)

    def proved() -> arb:
        power, alarm = rates()
        return ((power - ball(level)) / alarm).log()

    return enclose(proved)
