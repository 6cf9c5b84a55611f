"""Level: whether the explicit bound of a theorem holds at every point, and whether runs agree with the exact curve.

Only this can refute an upper bound. Replicates are independent, with the error as their mean; a point is above the
bound only where Student's one-sided lower limit of the mean is, the error probability being shared by all points
(Bonferroni). Errors are skewed to the right, which makes that limit err on the side of the theorem. Of a share, counted
by replicates that are 0 or 1, the limit is the binomial one. Real replicates that are all alike tell nothing of what
they may be otherwise. An exact curve is compared as it is: balls that are certainly above the bound violate it without
any error probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from flint import arb

from empirical.studies.study import FIXED, SHARE, Array, Curve, Number, Study

DISAGREEMENT = 4.0
"""Standard errors by which runs may differ from the exact curve: by chance once in 15,000 points."""
_ROUNDING = 1e-12  # relative: a deterministic replicate agrees with the exact curve up to this


@dataclass(frozen=True)
class Level:
    """One point: the mean of the runs with its standard error, the exact values, the bound; None for what there is not.

    `p_above` is the probability, if the bound held, of runs that are so far above it; `agrees` says whether runs and
    exact curve do. `diverged` counts replicates that were no longer finite, and `step` is the first such step.
    """

    at: Number
    mean: float | None = None
    error: float | None = None
    exact: tuple[float, float] | None = None
    bound: float | None = None
    trivial: float | None = None
    p_above: float = 1.0
    p_below: float = 1.0
    agrees: bool | None = None
    diverged: int = 0
    step: int | None = None

    @property
    def value(self) -> float | None:
        """The best known value: the exact curve's upper end, else the mean."""
        return self.exact[1] if self.exact is not None else self.mean

    @property
    def ratio(self) -> float | None:
        """The value in units of the bound."""
        return None if self.bound is None or self.value is None or self.bound == 0 else self.value / self.bound


def ends(curve: Curve) -> tuple[float, float]:
    """The lower end of the first ball and the upper end of the last, as doubles outside them."""
    return (
        math.nextafter(float(curve[0].lower()), -math.inf), math.nextafter(float(curve[-1].upper()), math.inf)
    )


def level_of(study: Study, value: Number, runs: Array | None, curve: Curve | None) -> Level:
    """What is known of one point; `runs` are its replicates, [count, 2]."""
    spot = study.spot(value)
    bound = None if study.bound is None else study.bound(spot)
    trivial = None if study.trivial is None else float(study.trivial(spot).mid())
    known: dict[str, Any] = {"at": value, "trivial": trivial, "bound": None if bound is None else float(bound.upper())}
    if runs is not None:
        bad = ~np.isfinite(runs[:, 0])
        if bad.any():
            steps = runs[bad, 1]
            first = int(np.nanmin(steps)) if np.isfinite(steps).any() else None
            return Level(**known, diverged=int(bad.sum()), step=first)
        mean, error = _mean(runs[:, 0])
        known |= {"mean": mean, "error": error}
        if bound is not None:
            law = "" if study.simulation is None else study.simulation.law
            known |= {
                "p_above": _tail(runs[:, 0], float(bound.upper()), law, above=True),
                "p_below": _tail(runs[:, 0], float(bound.lower()), law, above=False),
            }
    if curve is not None:
        low, high = ends(curve)
        known["exact"] = (low, high)
        if runs is not None:
            slack = DISAGREEMENT * known["error"] + _ROUNDING * abs(high)
            known["agrees"] = low - slack <= known["mean"] <= high + slack
        if bound is not None:
            known |= _compared(curve, bound)
    return Level(**known)


def _mean(errors: Array) -> tuple[float, float]:
    """The mean of replicates and its standard error."""
    return float(errors.mean()), float(errors.std(ddof=1) / math.sqrt(len(errors))) if len(errors) > 1 else math.inf


def _tail(errors: Array, bound: float, law: str, *, above: bool) -> float:
    """The largest probability, if the mean is not above (below) the bound, of replicates at least so far there."""
    mean, error = _mean(errors)
    apart, count = (mean - bound) if above else (bound - mean), len(errors)
    if law == FIXED:
        return 0.0 if apart > 0 else 1.0
    if law == SHARE:
        hits, share = round(float(errors.sum())), min(max(bound, 0.0), 1.0)
        coins = scipy.stats.binom(count, share)
        return float(coins.sf(hits - 1) if above else coins.cdf(hits))
    return float(scipy.stats.t.sf(apart / error, count - 1)) if error > _ROUNDING * abs(mean) else 1.0


def _compared(curve: Curve, bound: arb) -> dict[str, float]:
    """The exact curve against the bound: certain where the balls are apart."""
    return {"p_above": 0.0 if curve[0] > bound else 1.0, "p_below": 0.0 if curve[-1] <= bound else 1.0}


def p_violated(levels: list[Level]) -> float:
    """The error probability of saying that the bound is violated at some point, all points paid for."""
    tested = [level.p_above for level in levels if level.bound is not None]
    return min(1.0, len(tested) * min(tested)) if tested else 1.0


def p_held(levels: list[Level]) -> float:
    """The error probability of saying that the bound holds at every point: the worst of them, by intersection."""
    tested = [level.p_below for level in levels if level.bound is not None]
    return max(tested) if tested else 1.0
