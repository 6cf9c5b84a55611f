r"""The Laplace mechanism on a real-valued query: its exact privacy curve.

For noise of density e^{-|z|/b} / (2b) and sensitivity Delta,

    delta(epsilon) = max(0, 1 - e^{(epsilon - Delta/b)/2})

Derivation: the privacy loss of (Lap(Delta, b), Lap(0, b)) exceeds epsilon exactly on x > (Delta + b epsilon)/2 when
0 <= epsilon < Delta/b; there P has mass 1 - e^{-(Delta - b epsilon)/(2b)}/2 and e^epsilon Q has the other half, so the
difference is 1 - e^{(epsilon - Delta/b)/2}. For epsilon >= Delta/b the loss never exceeds epsilon and delta is 0.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import TINY, UNIT, inflate
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form


def _delta(values: Values) -> arb:
    gap = values.sensitivity / values.scale - values.epsilon  # exact rationals: the zero branch is decided exactly
    return -(ball(-gap) / 2).expm1() if gap > 0 else arb(0)


def _fast(xp: Any, values: Values) -> Any:
    ratio = values.sensitivity / values.scale + TINY
    gap = (ratio - values.epsilon) + 4 * UNIT * (ratio + values.epsilon) + TINY
    delta = inflate(-xp.expm1(-0.5 * gap), 16.0) + TINY
    return xp.where(gap > 0.0, xp.where(delta < 1.0, delta, 1.0), 0.0)


delta = Bound(
    name="laplace.delta",
    unit="delta",
    tightness=truth("two numbers at that distance reach the curve"),
    summary="least delta for which one Laplace release of a real number is (epsilon, delta)-DP",
    formula=r"\delta(\varepsilon) = \max\left(0,\ 1 - e^{(\varepsilon - \Delta/b)/2}\right)",
    parameters=(
        vocabulary.scale,
        vocabulary.sensitivity,
        vocabulary.epsilon,
    ),
    assumes=("real-queries", "laplace-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/laplace-curve",),
    validity="proved",
    certify=closed_form(_delta, at_most=1),
    vectorised=_fast,
    example={"scale": "1", "sensitivity": "1", "epsilon": "0.5"},
)
