r"""Composed mechanisms: certified epsilon and delta of any sequence of (sampled) Gaussian and Laplace steps.

    from oracle.engines.composed_pairs import PoissonGaussian, compose
    compose([(PoissonGaussian(sigma=1, sampling_rate="1/60"), 24000)], neighbours="replace").epsilon("1e-5")

It is `dp_oracle.compose`.

`sigma` is the noise multiplier: the standard deviation of the noise on the sum over the bound on one record's norm.
Under add_remove both directions are composed and the larger counts; under replace the pair is symmetric. What is
proved: the enclosure of the hockey-stick divergence of the composed pair. That this pair dominates the mechanism is
cited: for add/remove Zhu, Dong and Wang 2022 (dominating pairs compose; Poisson sampling of a Gaussian), for replace
the pair (1-q) N(0) + q N(1) against (1-q) N(0) + q N(-1) of Lebeda et al. 2024 (document 000, Lemma 2.6, corrected).

Gaussian steps alone, or a single step, have closed forms; steps with very little noise are summed over the number of
samples (`small_noise`); everything else goes through `contour`. Where that is too dear (few steps of a small rate: the
loss is nearly discrete), equal sampled steps have an enclosure that may be wide (`sampled_bounds`). It is the answer
where no width is asked for; an asked width is reached, or a PrecisionError tells how narrow an answer there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.core import vocabulary
from oracle.core.arithmetic import DEFAULT_WIDTH
from oracle.core.domain import (
    Number,
    non_negative_integer,
    positive,
    shown,
)
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.engines.composed_curve import certainly_below, chernoff_below, contour_delta, contour_epsilon, largest_loss
from oracle.engines.contour import Stages, Step
from oracle.engines.gaussian_step import GaussianStep
from oracle.engines.laplace.laplace_step import LaplaceStep
from oracle.engines.sampled import sampled_bounds
from oracle.engines.sampled.plain_bounds import plain_delta, plain_epsilon
from oracle.engines.sampled.sampled_bounds import LEAST_NOISE, UNPLANNED, narrowest
from oracle.engines.sampled.sampled_gaussian import SampledGaussian

DIRECTIONS = {"add_remove": ("remove", "add"), "replace": ("replace",)}
NEIGHBOURS = vocabulary.neighbours.choosing(*DIRECTIONS)
_WIDTHS = (DEFAULT_WIDTH, Fraction(1, 10**6), Fraction(1, 100))
_NEARLY_ONE = 1 - Fraction(1, 1 << 40)


@dataclass(frozen=True)
class PoissonGaussian:
    """A Gaussian step of noise multiplier sigma on a Poisson sample."""

    sigma: Number
    sampling_rate: Number = 1

    def step(self, direction: str) -> Step | None:
        """The step as a pair in one direction; None where nothing is ever sampled."""
        sigma = vocabulary.sigma.rational(self.sigma)
        rate = vocabulary.sampling_rate.rational(self.sampling_rate)
        if rate == 0:
            return None
        if rate == 1:
            return GaussianStep.of((2 if direction == "replace" else 1) / sigma)
        return SampledGaussian(sigma, rate, direction)


@dataclass(frozen=True)
class Laplace:
    """A Laplace release; the sensitivity is measured under the relation in use, so both directions are alike."""

    scale: Number
    sensitivity: Number = 1

    def step(self, direction: str) -> Step:
        """The step as a pair."""
        return LaplaceStep(
            vocabulary.sensitivity.rational(self.sensitivity) / vocabulary.scale.rational(self.scale)
        )


Mechanism = PoissonGaussian | Laplace
MECHANISMS: Mapping[str, type[Mechanism]] = {"poisson-gaussian": PoissonGaussian, "laplace": Laplace}


def compose(
    parts: Iterable[tuple[Mechanism, int] | Mapping[str, Any]], *, neighbours: str = "add_remove"
) -> Composition:
    """The composition of mechanisms, each repeated a number of times: certified epsilon and delta of all together.

    A part is a mapping: `mechanism` is "poisson-gaussian" (with `sigma`, the noise on the sum in units of the bound on
    one record's norm, and `sampling_rate`, by default 1) or "laplace" (with `scale` and `sensitivity`, by default 1),
    and `steps` is how often it is run, by default once. In its place the pair of the mechanism itself and its steps
    will do. `neighbours` is "add_remove" or "replace".

        >>> import dp_oracle
        >>> training = {"mechanism": "poisson-gaussian", "sigma": 1, "sampling_rate": "1/60", "steps": 240}
        >>> statistics = {"mechanism": "laplace", "scale": 4}
        >>> both = dp_oracle.compose([training, statistics], neighbours="add_remove")
        >>> both.epsilon("1e-5", width="1e-6").upper.to_decimal(digits=5, up=True)
        '1.819'
        >>> both.delta(2).certainly_le("1e-4")
        True
    """
    chosen = str(NEIGHBOURS.parse(neighbours))
    if isinstance(parts, (str, Mapping)) or not isinstance(parts, Iterable):
        raise DomainError(f"parts = {shown(parts)} is outside its domain: a list of mechanisms with their steps")
    counted = [_counted(place, part) for place, part in enumerate(parts)]
    directions: list[Stages] = []
    for direction in DIRECTIONS[chosen]:
        stages = _stages([(part.step(direction), count) for part, count in counted])
        if stages not in directions:  # Laplace and plain Gaussian steps are alike in both
            directions.append(stages)
    return Composition(tuple(directions))


def _counted(place: int, part: Any) -> tuple[Mechanism, int]:
    """A part as a mechanism and its steps; a DomainError says which part is none, and why."""
    if isinstance(part, Mapping):
        given = dict(part)
        count, word = given.pop("steps", 1), given.pop("mechanism", None)
        if word not in MECHANISMS:
            raise DomainError(
                f"parts[{place}]: mechanism = {shown(word)} is outside its domain: one of {', '.join(MECHANISMS)}"
            )
        keys = {field.name: field.default is MISSING for field in fields(MECHANISMS[word])}
        unknown = [name for name in given if name not in keys]
        lacking = [name for name, needed in keys.items() if needed and name not in given]
        if unknown or lacking:
            told = f"has no {shown(unknown[0])}" if unknown else f"needs {', '.join(lacking)}"
            raise DomainError(f"parts[{place}]: {word} {told}; it takes {', '.join(keys)} and steps")
        mechanism = MECHANISMS[word](**given)
    elif isinstance(part, Sequence) and len(part) == 2 and isinstance(part[0], Mechanism):
        mechanism, count = part
    else:
        raise DomainError(
            f"parts[{place}] = {shown(part)} is outside its domain: a mapping of mechanism and steps, or a pair of them"
        )
    return mechanism, int(non_negative_integer("steps").rational(count))


def _stages(parts: Sequence[tuple[Step | None, int]]) -> Stages:
    """Equal steps counted together, Gaussian ones merged into one, empty ones dropped."""
    counts: dict[Step, int] = {}
    squared = Fraction(0)
    for step, count in parts:
        if isinstance(step, GaussianStep):
            squared += count * step.squared_mu
        elif step is not None and count:
            counts[step] = counts.get(step, 0) + count
    merged: list[tuple[Step, int]] = [(GaussianStep(squared), 1)] if squared else []
    return [*merged, *counts.items()]


@dataclass(frozen=True)
class Composition:
    """A composed mechanism: its stages in every direction that its neighbouring relation has."""

    directions: tuple[Stages, ...]

    def delta(self, epsilon: Number, *, width: Number | None = DEFAULT_WIDTH) -> Enclosure:
        """The certified least delta at an epsilon >= 0; of width None as narrow as little work makes it."""
        asked, at = _width(width), vocabulary.epsilon.rational(epsilon)
        best, winner = Enclosure.exactly(0), self.directions[0]
        for stages in self.directions:
            if _nearly_one(best, asked):
                break
            if not _dominated(stages, best.lower.ball, at, winner):
                best, winner = _larger(best, _delta(stages, at, asked)), stages
        return best

    def epsilon(self, delta: Number, *, width: Number | None = DEFAULT_WIDTH) -> Enclosure:
        """The certified least epsilon >= 0 at a delta in (0, 1); of width None as narrow as little work makes it."""
        asked, target = _width(width), vocabulary.delta.open().rational(delta)
        best, winner = Enclosure.exactly(0), self.directions[0]
        for index, stages in enumerate(self.directions):
            with ctx.workprec(128):
                settled = index > 0 and _dominated(stages, ball(target), best.lower.ball, winner)
            if not settled:
                best, winner = _larger(best, _epsilon(stages, target, asked)), stages
        return best

    def profile(self, epsilons: Iterable[Number], *, width: Number | None = DEFAULT_WIDTH) -> list[Enclosure]:
        """The certified delta at every epsilon of a grid."""
        return [self.delta(epsilon, width=width) for epsilon in epsilons]


def _width(width: Number | None) -> Fraction | None:
    return None if width is None else min(positive("width").rational(width), Fraction(1))


def _larger(one: Enclosure, other: Enclosure) -> Enclosure:
    """The enclosure of the larger of two enclosed numbers."""
    lower = one.lower if one.lower.compare(other.lower) >= 0 else other.lower
    upper = one.upper if one.upper.compare(other.upper) >= 0 else other.upper
    return Enclosure(lower, upper)


def _dominated(stages: Stages, level: arb, epsilon: Fraction | arb, winner: Stages) -> bool:
    """Whether delta(epsilon) < level is certain by little work (then the direction need not be computed).

    Chernoff's bound may tell, or a rough contour; `winner` is the direction that has that level.
    """
    if not stages:
        return True
    if not level > 0:
        return False
    with ctx.workprec(128):
        at = epsilon if isinstance(epsilon, arb) else ball(epsilon)
        largest = largest_loss(stages)
        if largest is not None and at >= largest:
            return True
        if any(isinstance(step, SampledGaussian) and step.sigma < LEAST_NOISE for step, _ in stages):
            return False
        try:
            return chernoff_below(stages, level, at) or certainly_below(stages, level, at, winner)
        except UNPLANNED:
            return False


def _nearly_one(delta: Enclosure, width: Fraction | None) -> bool:
    """Whether no other direction can move a delta by more than the width that is asked for, or reached at best."""
    least = 1 - (DEFAULT_WIDTH if width is None else width) / 2
    return delta.upper.compare(1) >= 0 and delta.lower.compare(least) >= 0


def _delta(stages: Stages, epsilon: Fraction, width: Fraction | None) -> Enclosure:
    def exactly(asked: Fraction, most: float) -> Enclosure:
        return contour_delta(stages, epsilon, asked, most)

    if (sampled := _equal_sampled(stages)) is None:
        return _in_reach(exactly, width)
    if width is None and (fewer := _fewer(*sampled)) is not None:
        return Enclosure(_delta(fewer, epsilon, None).lower, plain_delta(*sampled, epsilon).upper)
    return narrowest(exactly, sampled_bounds.SampledDelta(*sampled, epsilon), width)


def _epsilon(stages: Stages, delta: Fraction, width: Fraction | None) -> Enclosure:
    def exactly(asked: Fraction, most: float) -> Enclosure:
        return contour_epsilon(stages, delta, asked, most)

    if (sampled := _equal_sampled(stages)) is None:
        return _in_reach(exactly, width)
    if width is None and (fewer := _fewer(*sampled)) is not None:
        return Enclosure(_epsilon(fewer, delta, None).lower, plain_epsilon(*sampled, delta).upper)
    return narrowest(exactly, sampled_bounds.SampledEpsilon(*sampled, delta), width)


def _in_reach(exactly: Callable[[Fraction, float], Enclosure], width: Fraction | None) -> Enclosure:
    """The answer of an asked width; without one the narrowest of a few widths that is in reach."""
    for asked in _WIDTHS if width is None else (width,):
        try:
            return exactly(asked, math.inf)
        except PrecisionError as error:
            refusal = error
    told = "" if width is None else "; ask for a wider width, or for none"
    raise PrecisionError(f"{refusal}{told}") from refusal


def _fewer(step: SampledGaussian, count: int) -> Stages | None:
    """For a rate that no double tells from 1: a little less of it, a mixture of it and nothing, so never worse."""
    return [(replace(step, rate=_NEARLY_ONE), count)] if step.rate > _NEARLY_ONE else None


def _equal_sampled(stages: Stages) -> tuple[SampledGaussian, int] | None:
    """The step and the number of equal sampled Gaussian steps, if these are all there is."""
    if len(stages) != 1 or not isinstance(stages[0][0], SampledGaussian):
        return None
    return stages[0][0], stages[0][1]
