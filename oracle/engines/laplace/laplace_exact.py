"""Compositions of Laplace releases alone, summed exactly: few by residues, more on a circle unless a contour is short.

Both sums are curves in the gap between the largest loss, which is a rational number, and epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError
from oracle.engines.contour import Stages, make_plan, saddle_for
from oracle.engines.laplace import laplace_circle, laplace_residues
from oracle.engines.laplace.laplace_step import LaplaceStep

_MANY = 3000  # nodes of a contour, from which on the circle is the quicker way


def largest_loss(stages: Stages) -> Fraction | None:
    """The largest loss of the composition, exactly; None if not all of it are Laplace releases."""
    parts = _parts(stages)
    return None if parts is None else laplace_residues.largest_loss(parts)


def curve_by_gap(
    stages: Stages, width: Fraction, *, epsilon: Fraction | None = None, log_delta: float = 0.0
) -> Callable[[arb], arb] | None:
    """delta as a function of the gap below the largest loss, where a sum serves; for an epsilon, or about a delta."""
    parts = _parts(stages)
    if parts is None:
        return None
    if laplace_residues.serves(parts):
        return lambda gap: laplace_residues.curve(parts, gap)
    if not laplace_circle.serves(parts):
        return None
    at = {"log_delta": log_delta} if epsilon is None else {"epsilon": float(epsilon)}
    goal = 4 - math.log(width.numerator) + math.log(width.denominator)
    try:
        few = make_plan(stages, saddle_for(stages, **at).epsilon, goal).nodes <= _MANY
    except PrecisionError:
        few = False
    return None if few else lambda gap: laplace_circle.curve(parts, gap)


def curve_by_epsilon(stages: Stages, width: Fraction, *, log_delta: float) -> Callable[[arb], arb] | None:
    """delta as a function of epsilon, where a sum serves about a delta."""
    largest, by_gap = largest_loss(stages), curve_by_gap(stages, width, log_delta=log_delta)
    if largest is None or by_gap is None:
        return None
    return lambda epsilon: by_gap(ball(largest) - epsilon)


def _parts(stages: Stages) -> laplace_residues.Parts | None:
    parts = tuple((step.ratio, count) for step, count in stages if isinstance(step, LaplaceStep))
    return parts if len(parts) == len(stages) else None
