r"""The worst losses for a hidden state: the last-iterate bounds are attained, so no better bound of their kind exists.

**Multipliers.** The optimal-shift programme (`shifted.mu`) is the least sum of B^2/V over the edges of a convex
minorant, an edge being a run of steps with B = sum P_i s_i, V = sum (P_i tau_i)^2, P_i the product of the later c in
the run, and R the product of all its c. The affine iteration x <- c_i x + s_i + N(0, tau_i^2) has only (sum of all P_i
s_i)^2 / V: the noise of earlier edges lies on the steeper later ones. But a step may contract by less than c_i. Let the
first step of every edge after the first do so, by the factor

    gamma = (B_1/V_1) / (R_2 B_2/V_2),

the quotient of the two edges' slopes as seen at the end of the later one, which is below 1 since slopes increase. Then

    (gamma R_2 B_1 + B_2)^2 / (gamma^2 R_2^2 V_1 + V_2) = B_1^2/V_1 + B_2^2/V_2

(by Cauchy-Schwarz, whose equality is that choice), and the joined edges have the slope B_2/V_2 of the later one, so
that the next vertex is treated alike. Hence an affine iteration with multipliers between 0 and c_i attains `shifted.mu`
exactly, for every schedule: the programme cannot be improved without knowing more of the maps.

**Place for time.** NoisyCGD has one loss a batch, the same in every epoch, so a multiplier cannot depend on the time.
It can depend on the place. In one dimension let the maps x - eta f_j'(x) of all batches push the iterate upwards, so
far in an epoch that each batch meets it in another interval (a zone) in every epoch; and let the map of batch j have
the multiplier of epoch e as its slope in its e-th zone, and the slope c between zones. All slopes are between 0 and c,
so every f_j is convex with f'' between (1-c)/eta and 1/eta: strongly convex, 1/eta-smooth, and the same on both data
sets but for the record's own linear term. Inside the zones the iteration is the affine one; the probability ever to
leave them, `doubt`, is a sum of normal tails, as small as one likes. So `noisy-cgd.mu` is attained, in the limit, by
smooth (strongly) convex losses with eta = 1/beta, for a record in any batch (`noisy-cgd-position.mu`) and with E >= 1.

What it takes: curvature up to 1/eta in single steps (with eta < 1/beta multipliers stay above 1 - eta beta, and such
losses reach less), and other records whose gradients are far larger than the canary's. Where every gradient is clipped
to one C, only large batches can push that far: `empirical.pairs.clocked` does so for the algorithm as it runs.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from empirical.pairs.laws import NearlyLaw, isotropic
from empirical.pairs.pair import Pair
from oracle.core.domain import Number, exact
from oracle.core.errors import DomainError
from oracle.core.tape import Tape

Array = NDArray[np.float64]

WIDTH = 9.0
"""Half a zone, in standard deviations beyond the two means: a normal tail of 1e-19 for every step."""

_MOST_PUSH = 1e11  # beyond, a place is rounded by more than 1e-4 of a step's noise


class _Edge(NamedTuple):
    """A run of steps: its first step, B, V and R."""

    first: int
    drift: Fraction
    variance: Fraction
    memory: Fraction


def tight_multipliers(
    drift: list[Fraction], contraction: list[Fraction], noise: list[Fraction]
) -> tuple[list[Fraction], Fraction]:
    """Multipliers between 0 and c_i for which the affine iteration attains the programme, and its mu squared."""
    chain: list[_Edge] = []
    for i, (s, c, tau) in enumerate(zip(drift, contraction, noise, strict=True)):
        edge = _Edge(i, s, tau * tau, c)
        while chain and chain[-1].drift * edge.variance >= edge.memory * edge.drift * chain[-1].variance:
            last = chain.pop()
            edge = _Edge(
                last.first, edge.memory * last.drift + edge.drift, edge.memory**2 * last.variance + edge.variance,
                last.memory * edge.memory,
            )
        chain.append(edge)
    multipliers = list(contraction)
    for left, right in itertools.pairwise(chain):
        slope = right.memory * right.drift / right.variance
        multipliers[right.first] *= left.drift / left.variance / slope
    return multipliers, sum((edge.drift**2 / edge.variance for edge in chain), Fraction(0))


@dataclass(frozen=True)
class ZonedDescent:
    """NoisyCGD on the worst losses, in units of a step's noise (eta sigma = 1), one record a batch.

    Record j has the loss f_j(theta) - x_j theta: a data set is the column of the x_j, and its neighbour replaces x_j at
    `batch_position` (from 1) by -x_j, |x_j| = sensitivity / 2. As a target it releases the last iterate.
    """

    contraction: Fraction
    batches: int
    epochs: int
    sensitivity: Fraction
    batch_position: int

    @classmethod
    def of(
        cls, *, contraction: Number, batches: int, epochs: int, sensitivity: Number, batch_position: int | None = None
    ) -> ZonedDescent:
        """The adversary of noisy-cgd.mu; `sensitivity` is L/(b sigma), the drift of a touch over a step's noise."""
        c, s = exact("contraction", contraction, "in (0, 1]"), exact("sensitivity", sensitivity, "positive")
        place = batches if batch_position is None else batch_position
        if not 0 < c <= 1:
            raise DomainError(f"contraction = {contraction} is outside its domain: a real number in (0, 1]")
        if s <= 0:
            raise DomainError(f"sensitivity = {sensitivity} is outside its domain: a real number > 0")
        if batches < 1 or epochs < 1 or not 1 <= place <= batches:
            raise DomainError(
                f"batches = {batches}, epochs = {epochs}, batch_position = {place} are outside their domain: integers "
                ">= 1, the batch_position at most the number of batches"
            )
        return cls(c, batches, epochs, s, place)

    @property
    def name(self) -> str:
        """What tables call it."""
        return "zoned-descent"

    def spec(self) -> dict[str, Any]:
        """The numbers that determine it."""
        return {
            "kind": "adversary", "contraction": str(self.contraction), "batches": self.batches, "epochs": self.epochs,
            "sensitivity": str(self.sensitivity), "batch_position": self.batch_position,
        }

    def multipliers(self) -> tuple[list[Fraction], Fraction]:
        """The multipliers of all steps, and mu squared."""
        steps = self.batches * self.epochs
        touched = [
            self.sensitivity if i % self.batches == self.batch_position - 1 else Fraction(0) for i in range(steps)
        ]
        return tight_multipliers(touched, [self.contraction] * steps, [Fraction(1)] * steps)

    def pair(self) -> Pair:
        """The neighbours and the law of the last iterate, exact up to the doubt."""
        record = np.zeros((self.batches, 1))
        record[self.batch_position - 1, 0] = float(self.sensitivity) / 2
        multipliers, _ = self.multipliers()
        gap, variance = Fraction(0), Fraction(0)
        for i, multiplier in enumerate(multipliers):
            touched = i % self.batches == self.batch_position - 1
            gap, variance = multiplier * gap + (self.sensitivity if touched else 0), multiplier**2 * variance + 1
        zones = self._zones()
        known = isotropic(gap=gap, variance=variance, direction=np.ones(1), centre=zones.end)
        labels = np.zeros(self.batches)
        return Pair(
            (-record, record), (labels, labels), "replace", self.batch_position - 1, np.ones(1),
            NearlyLaw(known, Fraction(zones.doubt)),
        )

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """The last iterates of the tape's models, [M, 1]."""
        if features.shape != (self.batches, 1):
            raise DomainError(f"features of shape {features.shape} are outside their domain: [{self.batches}, 1]")
        zones = self._zones()
        theta = np.zeros(tape.models)
        for step in range(self.batches * self.epochs):
            j = step % self.batches
            theta = zones.step(theta, j) + features[j, 0] + tape.normal("noise", step, 1)[:, 0]
        return theta[:, None]

    def _zones(self) -> Zones:
        """The maps, with a push that is large enough to keep zones apart."""
        multipliers = [float(m) for m in self.multipliers()[0]]
        c, half, half_gap, variance = float(self.contraction), 0.0, 0.0, 0.0
        for i, multiplier in enumerate(multipliers):
            half = max(half, half_gap + WIDTH * math.sqrt(variance))
            touched = i % self.batches == self.batch_position - 1
            half_gap = multiplier * half_gap + (float(self.sensitivity) / 2 if touched else 0.0)
            variance = multiplier**2 * variance + 1.0
        doubt = 4 * len(multipliers) * float(special.ndtr(-WIDTH))
        # The distance of an epoch's zones from the next epoch's falls by c^k an epoch: the first one makes up for it.
        push = 8 * half / max(c ** (self.batches * (self.epochs - 1)), 1e-300)
        if push > _MOST_PUSH:
            raise DomainError(
                f"contraction = {self.contraction} is outside its domain: doubles cannot keep the zones of "
                f"{self.batches * self.epochs} steps apart (push {push:.2g})"
            )
        path = np.zeros((self.epochs, self.batches))
        images = np.zeros((self.epochs, self.batches))
        place = 0.0
        for i, multiplier in enumerate(multipliers):
            epoch, j = divmod(i, self.batches)
            path[epoch, j] = place
            if epoch == 0:
                place = c * place + push
            else:
                apart = place - path[epoch - 1, j]
                if apart < 2 * half:
                    raise DomainError(f"contraction = {self.contraction} is outside its domain: zones are not apart")
                before = multipliers[i - self.batches]
                place = images[epoch - 1, j] + (before + multiplier) * half + (apart - 2 * half) * c
            images[epoch, j] = place
        slopes = np.array(multipliers).reshape(self.epochs, self.batches)
        return Zones(path, images, slopes, half, np.array([place]), doubt)


@dataclass(frozen=True)
class Zones:
    """The maps of all batches: in epoch e's zone, around path[e, j], the image is images[e, j] and the slope its own.

    Between the zones the map is linear, with the slope c that its ends leave; before the first and after the last zone
    it goes on with that zone's slope.
    """

    path: Array
    images: Array
    slopes: Array
    half: float
    end: Array
    doubt: float

    def step(self, theta: Array, j: int) -> Array:
        """Batch j's map, x - eta f_j'(x), without the record's own term."""
        path, images, slopes = self.path[:, j], self.images[:, j], self.slopes[:, j]
        offsets = np.array([-self.half, self.half])
        knots = (path[:, None] + offsets).reshape(-1)
        values = (images[:, None] + slopes[:, None] * offsets).reshape(-1)
        inside = np.interp(theta, knots, values)
        below, above = np.minimum(theta - knots[0], 0.0), np.maximum(theta - knots[-1], 0.0)
        return np.asarray(inside + slopes[0] * below + slopes[-1] * above)
