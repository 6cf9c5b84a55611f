"""What a study comes to: a verdict with its interval and bound, for the theorem, against it, against us, or undecided.

| verdict        | what it says                                                                                     |
|----------------|--------------------------------------------------------------------------------------------------|
| CONFIRMED      | the simultaneous interval of the counted local slopes lies within the margin of the prediction   |
| HELD           | the bound holds at every point; no exponent was predicted                                        |
| FASTER         | all counted slopes are below the prediction by more than the margin: an upper bound not attained |
| SLOWER         | all counted slopes are above the prediction by more than the margin: this refutes it             |
| BOUND_VIOLATED | the explicit bound is exceeded: this refutes it                                                  |
| CONTRADICTED   | runs and exact curve differ: one of ours is wrong                                                |
| DIVERGED       | a replicate was no longer finite                                                                 |
| PRE_ASYMPTOTIC | the grid does not reach the range in which an exponent can be read                               |
| UNRESOLVED     | the interval reaches beyond the margin, or the bound is neither held nor violated                |

A study makes at most one decision with an error probability: half of it is the bound's, half the exponent's. Over all
studies the decisions are tested by Holm's rule, so that the probability of any false one is at most `FAMILY_ERROR`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from empirical.studies.levels import Level, p_held, p_violated
from empirical.studies.slopes import Slopes, exact_slopes, sampled_slopes
from empirical.studies.study import Array, Curve, Number, Study
from oracle.core.plain import plain

FAMILY_ERROR = 0.05

_FURTHEST = 60  # points beyond the grid that are tried on an exact curve


@dataclass(frozen=True)
class StudyOutcome:
    """The verdict of a study, how sure it is, and all that it was read from.

    `p` is the probability of this decision if it were false, before it is held against the other studies'; it is 0
    where nothing was drawn by lot. `interval` holds all counted local slopes, at the family's error probability divided
    by the number of studies; Holm's rule, which decides, may be sure where this interval still reaches beyond the
    margin. `needed` is the value of the axis from which an exact curve has the predicted exponent.
    """

    study: Study
    verdict: str
    reason: str
    p: float
    interval: tuple[float, float] | None
    counted: tuple[Number, ...]
    slopes: tuple[float, ...]
    unfit: float | None
    levels: tuple[Level, ...]
    needed: Number | None = None
    code: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def bound(self) -> str:
        """Whether the bound was held everywhere: held, violated, not decided, or none."""
        tested = [level for level in self.levels if level.bound is not None]
        if not tested:
            return "none"
        if self.verdict == "BOUND_VIOLATED":
            return "violated"
        return "held" if p_held(list(self.levels)) <= FAMILY_ERROR else "not decided"

    @property
    def worst(self) -> float | None:
        """The largest share of the bound that any point takes."""
        return max((level.ratio for level in self.levels if level.ratio is not None), default=None)

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of `dp-oracle rates`."""
        return {
            **self.study.frozen(), "hash": self.study.hash, "verdict": self.verdict, "reason": self.reason, "p": self.p,
            "interval": plain(self.interval), "counted": [str(value) for value in self.counted],
            "slopes": list(self.slopes), "lack_of_fit": self.unfit, "bound_held": self.bound, "worst_share": self.worst,
            "needed": None if self.needed is None else str(self.needed), "code": self.code,
            "points": [
                {"at": str(level.at), **{name: plain(value) for name, value in vars(level).items() if name != "at"}}
                for level in self.levels
            ],
        }


def judge(study: Study, levels: list[Level], curves: Mapping[Number, Curve], runs: Mapping[Number, Array], *,
          family: int) -> StudyOutcome:
    """The outcome of a study from its points, curves and replicates; `family` studies share the error probability."""
    found = _slopes(study, levels, curves, runs)
    interval = None if found is None else found.interval(FAMILY_ERROR / (2 * max(1, family)))

    def outcome(verdict: str, reason: str, p: float = 1.0, needed: Number | None = None) -> StudyOutcome:
        return StudyOutcome(
            study, verdict, reason, p, interval, () if found is None else found.counted,
            () if found is None else found.slopes, None if found is None else found.unfit, tuple(levels), needed,
        )

    diverged = [level for level in levels if level.diverged]
    if diverged:
        first = diverged[0]
        when = "" if first.step is None else f" at step {first.step}"
        return outcome("DIVERGED", f"{first.diverged} replicates at {study.axis} = {first.at} are not finite{when}")
    above = min(1.0, 2 * p_violated(levels))
    if above <= FAMILY_ERROR:
        worst = min((level for level in levels if level.bound is not None), key=lambda level: level.p_above)
        told = f"{worst.value:.4g} against a bound of {worst.bound:.4g} at {study.axis} = {worst.at}"
        return outcome("BOUND_VIOLATED", told, above)
    apart = [level for level in levels if level.agrees is False]
    if apart:
        one = apart[0]
        return outcome("CONTRADICTED", f"at {study.axis} = {one.at} runs give {one.mean:.6g}, the curve {one.exact}")
    if study.predicted is None:
        sure = min(1.0, 2 * p_held(levels))
        if sure <= FAMILY_ERROR:
            return outcome("HELD", "the bound holds at every point", sure)
        return outcome("UNRESOLVED", "at some point the bound is neither held nor violated")
    if found is None:
        needed = _needed(study)
        return outcome("PRE_ASYMPTOTIC", _why(study, needed), needed=needed)
    target, margin = float(study.predicted), float(study.margin)
    # A prediction with a bound comes true only where the bound holds, too: both must be sure, neither pays for both.
    sure = p_held(levels) if study.bound is not None else 0.0
    decisions = {
        "CONFIRMED": max(sure, found.p_outside(target - margin, target + margin)),
        "FASTER": max(sure, found.p_outside(-np.inf, target - margin)),
        "SLOWER": found.p_outside(target + margin, np.inf),
    }
    verdict = min(decisions, key=lambda name: decisions[name])
    told = f"local slopes {min(found.slopes):.3f} to {max(found.slopes):.3f}, predicted {target:.3f} +- {margin:.3f}"
    p = min(1.0, 2 * decisions[verdict])
    return outcome(verdict, told, p) if p <= FAMILY_ERROR else outcome("UNRESOLVED", told)


def held_to_family(outcomes: Mapping[str, StudyOutcome], others: Mapping[str, float]) -> dict[str, StudyOutcome]:
    """The outcomes after Holm's rule over them and the recorded probabilities of the studies that were not run."""
    ps = {**others, **{name: outcome.p for name, outcome in outcomes.items()}}
    # What made no decision cannot make a false one; it still counts as a member of the family.
    rejected: set[str] = set()
    for place, name in enumerate(sorted(ps, key=lambda one: ps[one])):
        if ps[name] > FAMILY_ERROR / (len(ps) - place):
            break
        rejected.add(name)
    return {
        name: outcome if outcome.p == 1.0 or name in rejected else replace(
            outcome, verdict="UNRESOLVED",
            reason=f"{outcome.verdict} by itself (p = {outcome.p:.2g}), not among {len(ps)} studies: {outcome.reason}",
        )
        for name, outcome in outcomes.items()
    }


def _slopes(
    study: Study, levels: list[Level], curves: Mapping[Number, Curve], runs: Mapping[Number, Array]
) -> Slopes | None:
    if study.predicted is None:
        return None
    grid = study.measured_at
    known = {level.at: level for level in levels}
    if any(known[value].diverged for value in grid):
        return None
    if study.by_replicates:
        errors = np.stack([runs[value][:, 0] for value in grid], axis=1)
        values = errors.mean(axis=0)
    else:
        values = np.array([float(curves[value][-1].mid()) for value in grid])
    trivial = np.array([known[value].trivial or np.inf for value in grid])
    small = values <= float(study.asymptotics.below) * trivial
    if study.by_replicates:
        seed = 0 if study.simulation is None else study.simulation.seed
        return sampled_slopes(grid, errors, small, least=study.asymptotics.least, seed=seed)
    balls = np.array([[float(ball.mid()) for ball in curves[value]] for value in grid]).T
    usable = small & (balls > 0).all(axis=0)
    return exact_slopes(grid, balls, usable, drift=float(study.drift), least=study.asymptotics.least)


def _needed(study: Study) -> Number | None:
    """The first point beyond the grid from which an exact curve has the predicted exponent; None if none is found.

    A study that says itself what it needs is not asked: its curve may cost as much as the axis is long.
    """
    if study.exact is None or study.predicted is None or len(study.grid) < 2 or study.needs:
        return None
    step, value = Fraction(study.grid[-1]) / study.grid[-2], Fraction(study.grid[-1])
    seen: list[tuple[Number, float]] = []
    for _ in range(_FURTHEST):
        value = value * step
        there = int(value) if value.denominator == 1 else value
        seen.append((there, float(study.exact(study.spot(there))[-1].mid())))
        if len(seen) < 3:
            continue
        (a, _), (b, _), (c, _) = seen[-3:]
        slopes = exact_slopes(
            (a, b, c), np.array([[one for _, one in seen[-3:]]]), np.ones(3), drift=float(study.drift), least=3,
        )
        if slopes is not None and abs(slopes.slopes[0] - float(study.predicted)) <= float(study.margin):
            return a
    return None


def _why(study: Study, needed: Number | None) -> str:
    rule = study.asymptotics
    small = f"an error below {float(rule.below):g} of the trivial one"
    text = f"fewer than {rule.least} points have {small} and a steady slope"
    if needed is not None:
        text += f"; the exact curve has the exponent from {study.axis} = {needed}"
    return f"{text}; {study.needs}" if study.needs else text
