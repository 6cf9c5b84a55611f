"""Document 002's algorithms (phased SGD and its kin): second opinions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

from oracle.core.enclosure import Enclosure
from tests.formulas import gaussian_excess
from tests.opinion import Numbers, Root, dyadic, from_dyadic, number
from tests.opinion.composition import CurveOpinion

# --- second opinions


def left(v: Numbers) -> mpf:
    """What a projection leaves of delta: n + 1 points, each too long with the probability of the closed form."""
    m = v["projected_dimension"]
    return v["delta"] - (v["dataset_size"] + 1) * mp.sqrt(4 / mp.e**3) ** m / mp.sqrt(9 * mp.pi * m)


def phased(stretch: int) -> Callable[[Numbers], mpf]:
    """Two gradients of length 2B (times the stretch), and the errors of a whole phase, averaged step by step."""

    def moves(v: Numbers) -> mpf:
        records = mp.floor(v["dataset_size"] / 2)
        # after j = 1, ..., n_1 steps the runs are 4B + 2 j gamma apart; the mean of j is (n_1 + 1) / 2
        return 2 * (2 * v["label_bound"] * stretch) + 2 * v["oracle_error"] * (records + 1) / 2

    return moves


def featured(stretch: int) -> Callable[[Numbers], mpf]:
    return lambda v: 2 * stretch * v["feature_norm"]


def descent(v: Numbers) -> mpf:
    """The surrogate gradients at |w| = 2W of the records (2 w^, -B) and (-2 w^, -B), which are the furthest apart."""
    one = (2 * v["weight_bound"] * 2 + v["label_bound"]) * 2
    other = v["label_bound"] * -2
    return (one - other) / v["dataset_size"] * mp.sqrt(v["steps"])


def batched(v: Numbers) -> mpf:
    """The same for records of length r, at any |w|."""
    r, b = v["feature_norm"], v["label_bound"]
    return ((v["weight_norm"] * r + b) * r - b * -r) / v["batch_size"]


def release(
    moves: Callable[[Numbers], mpf], delta: Callable[[Numbers], mpf], noise: str = "noise_over_step"
) -> tuple[Root, Root]:
    """epsilon and sigma of one Gaussian release that moves so far."""
    return (
        Root(lambda v, epsilon: gaussian_excess(moves(v) / v[noise], epsilon, delta(v))),
        Root(lambda v, sigma: gaussian_excess(moves(v) / sigma, v["epsilon"], delta(v))),
    )


def _given(v: Numbers) -> mpf:
    return v["delta"]


_FAMILIES: dict[str, tuple[Callable[[Numbers], mpf], Callable[[Numbers], mpf]]] = {
    "phased-sgd": (phased(1), _given),
    "phased-sgd-projected": (phased(2), left),
    "two-layer": (featured(1), _given),
    "two-layer-projected": (featured(2), left),
    "dp-pgd": (descent, left),
}
_NOISE = {family: "noise_on_mean" if family == "dp-pgd" else "noise_over_step" for family in _FAMILIES}


@dataclass(frozen=True)
class SampledMean:
    """The opinion on sampled Gaussian steps, at the noise multiplier noise_on_mean M / C."""

    unknown: str

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the curve allows the truth in the enclosure."""
        per_unit = Fraction(point["divisor"]) / Fraction(point["clip_norm"])
        opinion = CurveOpinion(self.unknown)
        if self.unknown == "epsilon":
            opinion.judge({**point, "sigma": Fraction(point["noise_on_mean"]) * per_unit}, enclosure)
            return
        with mp.workdps(60):
            ends = [dyadic(from_dyadic(end) * number(per_unit)) for end in (enclosure.lower, enclosure.upper)]
        opinion.judge(point, Enclosure(*ends))


OPINIONS: dict[str, Root | SampledMean] = {
    **{f"{family}.epsilon": release(*parts, _NOISE[family])[0] for family, parts in _FAMILIES.items()},
    **{f"{family}.sigma": release(*parts)[1] for family, parts in _FAMILIES.items()},
    "adaptive-batched-gd.epsilon": Root(lambda v, e: gaussian_excess(1 / v["noise_over_sensitivity"], e, v["delta"])),
    "adaptive-batched-gd.sigma": release(batched, _given)[1],
    "dp-sgd-multilayer.epsilon": SampledMean("epsilon"),
    "dp-sgd-multilayer.sigma": SampledMean("sigma"),
}
