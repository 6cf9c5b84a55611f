r"""Exact second moments for the tree's claims: rational numbers, Gaussian features, diagonal H.

The tree. Answer number c = 1, ..., N has one live node for every bit of c that is 1; the node of level j that is born
at c = (odd) 2^j lives for 2^j answers, and is dropped when a larger one is born. All nodes have variance s^2 (here 1).

The document's own chains. (I - (eta/2) T(2 eta)) o A = A - (eta/2)(HA + AH) + eta^2 E[xx^T A xx^T], and for Gaussian
features E[xx^T A xx^T] = 2HAH + tr(HA) H: on diagonals `step`. At w* = 0 and with no label noise the algorithm itself
is exact, with half of the fourth moment: `tree_risk`. That one also takes independent coordinates with E x_i^4 =
kurtosis lambda_i^2, so that E[x_i^2 (x.d)^2] = lambda_i S + (kurtosis - 1) lambda_i^2 d_i^2 on average over signs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from oracle.core.domain import Parameter, positive_integer
from theorems.given import Domain

GAUSSIAN = Fraction(3)
"""alpha of Gaussian features: E[xx^T A xx^T] = 2HAH + tr(HA)H <= 3 tr(HA) H."""

Diagonal = Sequence[Fraction]
Bound = Callable[..., Any]


def lifetimes(records: int) -> list[tuple[int, int]]:
    """The nodes of a tree as (born, dropped), counted in answers; a node that is never dropped ends after the last."""
    live: dict[int, int] = {}
    found = []
    for count in range(1, records + 1):
        level = (count & -count).bit_length() - 1
        for below in range(level):
            found.append((live.pop(below), count))
        live[level] = count
    return found + [(born, records + 1) for born in live.values()]


def covariance(records: int, one: int, other: int) -> int:
    """E[Gamma_one Gamma_other] over s^2: what is born counts +1, what is dropped -1."""
    return sum(((one == born) - (one == dropped)) * ((other == born) - (other == dropped))
               for born, dropped in lifetimes(records))


def mean_energy(q: Fraction, records: int) -> Fraction:
    """E(sum_t u_t)^2 over (eta s)^2, u_t the mean given the noise: answer c has the weight q^(N - c)."""
    return sum(
        (sum((q ** (records - count) for count in range(born, dropped)), Fraction(0)) ** 2
         for born, dropped in lifetimes(records)), Fraction(0))


def fresh(q: Fraction, count: int) -> Fraction:
    """What the change of the noise at answer c adds to E u^2 over (eta s)^2, the drop of older nodes included."""
    zeros = (count & -count).bit_length() - 1
    return 1 + zeros - 2 * sum((q ** (2**j) for j in range(zeros)), Fraction(0))


def tree_risk(spectrum: Diagonal, eta: Fraction, records: int, share: Fraction = Fraction(1),
              kurtosis: Fraction = GAUSSIAN) -> Fraction:
    """The excess risk over s^2 of the mean of w_1, ..., w_N, w* = 0, no label noise: exact.

    `share` of the martingale part counts: 1 for the algorithm, 0 for the mean given the noise.
    """
    size = range(len(spectrum))
    q = [1 - eta * value / 2 for value in spectrum]
    mean, rest = [Fraction(0)] * len(spectrum), [Fraction(0)] * len(spectrum)
    total = [eta**2 * mean_energy(q[i], records) for i in size]
    for t in range(records if share else 0):
        both = [mean[i] + rest[i] for i in size]
        energy = sum((spectrum[i] * both[i] for i in size), Fraction(0))
        spread = [eta**2 * (energy * spectrum[i] / 2 + (2 * kurtosis - 3) * spectrum[i] ** 2 * both[i] / 4)
                  for i in size]
        for i in size:
            total[i] += share * spread[i] * ((1 - q[i] ** (records - t)) / (1 - q[i])) ** 2
            rest[i] = q[i] ** 2 * rest[i] + spread[i]
            mean[i] = q[i] ** 2 * mean[i] + eta**2 * fresh(q[i], t + 1)
    return sum((spectrum[i] * total[i] for i in size), Fraction(0)) / (4 * records**2)


def dimension(spectrum: Diagonal, eta: Fraction, records: int, power: int, cut: Fraction = Fraction(1)) -> Fraction:
    """D_eff (power 0) or D_pri (power 1): sum of 1/lambda^power; below 1/(eta N), (N eta lambda)^2 cut times that."""
    total = Fraction(0)
    for value in spectrum:
        part = records * eta * value
        total += (1 if part >= 1 else part**2 * cut) / value**power
    return total


def step(spectrum: Diagonal, eta: Fraction, before: Diagonal, add: Diagonal) -> list[Fraction]:
    """(I - (eta/2) T(2 eta)) o A + add on diagonals, Gaussian features."""
    energy = sum((a * b for a, b in zip(spectrum, before, strict=True)), Fraction(0))
    return [(1 - eta * v + 2 * eta**2 * v**2) * a + eta**2 * v * energy + m
            for v, a, m in zip(spectrum, before, add, strict=True)]


def averaged(spectrum: Diagonal, eta: Fraction, chain: Sequence[Diagonal]) -> Fraction:
    """A quarter of E|mean of d_0, ..., d_{N-1}|_H^2, given the second moments: d_{t+k} is q^k d_t on average."""
    total, records = Fraction(0), len(chain)
    for i, value in enumerate(spectrum):
        q = 1 - eta * value / 2
        for t, moments in enumerate(chain):
            total += value * moments[i] * (1 + 2 * q * (1 - q ** (records - t - 1)) / (1 - q))
    return total / (4 * records**2)


_ALONE = ((Fraction(1),), (Fraction(1, 50),))
_PAIRS = ((Fraction(1), Fraction(1, 9)), (Fraction(1), Fraction(1)))
_MOST = 4  # levels of a tree: 16 records
LEVELS = positive_integer("levels", "lg N")
LOAD = Parameter("load", low=Fraction(0), high=Fraction(1), low_open=True, meaning="alpha eta tr(H)")
ALPHA = Parameter("alpha", low=Fraction(1), meaning="of the fourth moments, Assumption 3.4 (A)")


@dataclass(frozen=True)
class TreeRun:
    """A pass that a check tries: a spectrum, the step size, a power of two of records, and alpha."""

    spectrum: tuple[Fraction, ...]
    eta: Fraction
    levels: int
    alpha: Fraction

    @property
    def records(self) -> int:
        """N."""
        return int(2**self.levels)

    @property
    def trace(self) -> Fraction:
        """tr(H)."""
        return sum(self.spectrum, Fraction(0))

    def dimension(self, power: int) -> Fraction:
        """D_eff (power 0) or D_pri (power 1)."""
        return dimension(self.spectrum, self.eta, self.records, power)

    def risk(self, share: Fraction = Fraction(1)) -> Fraction:
        """The excess risk of tree noise over s^2."""
        kurtosis = self.alpha if len(self.spectrum) == 1 else GAUSSIAN
        return tree_risk(self.spectrum, self.eta, self.records, share, kurtosis)

    def told(self, **more: object) -> dict[str, object]:
        """The run as a witness."""
        return {"spectrum": ", ".join(map(str, self.spectrum)), "eta": self.eta, "N": self.records,
                "alpha": self.alpha, **more}


def runs(given: Domain, at_most: int = 40) -> Iterator[TreeRun]:
    """Runs at the points of levels, load and alpha; one direction has kurtosis alpha, two are Gaussian (alpha >= 3)."""
    for point in given.points("levels", "load", "alpha", at_most=at_most, most={"levels": _MOST}):
        for spectrum in (*_ALONE, *(_PAIRS if point["alpha"] >= GAUSSIAN else ())):
            trace = sum(spectrum, Fraction(0))
            yield TreeRun(spectrum, point["load"] / (point["alpha"] * trace), point["levels"], point["alpha"])


WEAKER = {"*1 % more": "a weaker bound", "* -> * (constant *": "a weaker bound"}
WEAKER_CONSTANT = {**WEAKER, "squared": "the constant is above 1: a weaker bound"}
"""Why variants of an upper bound are true as well."""
