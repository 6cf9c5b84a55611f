"""Document 002's algorithms (phased SGD and its kin): second opinions, directions and where points are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

from oracle.enclosure import Enclosure
from tests.formulas import gaussian_excess
from tests.opinion import Numbers, Root, dyadic, from_dyadic, number
from tests.opinions_composition import CurveOpinion
from tests.topics import FALLS, RISES, TURNS

PROJECTED = ("phased-sgd-projected", "two-layer-projected", "dp-pgd")
PHASED = ("phased-sgd", "phased-sgd-projected", "two-layer", "two-layer-projected")


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


def release(moves: Callable[[Numbers], mpf], delta: Callable[[Numbers], mpf]) -> tuple[Root, Root]:
    """epsilon and sigma of one Gaussian release that moves so far."""
    return (
        Root(lambda v, epsilon: gaussian_excess(moves(v) / v["sigma"], epsilon, delta(v))),
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


@dataclass(frozen=True)
class Sampled:
    """The opinion on sampled Gaussian steps, at the noise multiplier sigma M / C."""

    unknown: str

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the curve allows the truth in the enclosure."""
        per_unit = Fraction(point["batch_size"]) / Fraction(point["clip_norm"])
        opinion = CurveOpinion(self.unknown)
        if self.unknown == "epsilon":
            opinion.judge({**point, "sigma": Fraction(point["sigma"]) * per_unit}, enclosure)
            return
        with mp.workdps(60):
            ends = [dyadic(from_dyadic(end) * number(per_unit)) for end in (enclosure.lower, enclosure.upper)]
        opinion.judge(point, Enclosure(*ends))


OPINIONS: dict[str, Root | Sampled] = {
    **{f"{family}.epsilon": release(*parts)[0] for family, parts in _FAMILIES.items()},
    **{f"{family}.sigma": release(*parts)[1] for family, parts in _FAMILIES.items()},
    "adaptive-batched-gd.epsilon": Root(lambda v, e: gaussian_excess(1 / v["noise_multiplier"], e, v["delta"])),
    "adaptive-batched-gd.sigma": release(batched, _given)[1],
    "dp-sgd-multilayer.epsilon": Sampled("epsilon"),
    "dp-sgd-multilayer.sigma": Sampled("sigma"),
}


# --- directions

_PHASED = {
    "label_bound": RISES, "learning_rate": TURNS, "smoothness": TURNS, "dataset_size": RISES, "oracle_error": RISES,
}
_LAYERED = {"feature_norm": RISES, "learning_rate": TURNS, "smoothness": TURNS}
_SETTINGS = {
    "phased-sgd": _PHASED,
    "phased-sgd-projected": {**_PHASED, "projected_dimension": FALLS},
    "two-layer": _LAYERED,
    "two-layer-projected": {**_LAYERED, "dataset_size": RISES, "projected_dimension": FALLS},
    "dp-pgd": {
        "weight_bound": RISES, "label_bound": RISES, "dataset_size": TURNS, "steps": RISES,
        "projected_dimension": FALLS,
    },
}
_SAMPLED = {"clip_norm": RISES, "batch_size": FALLS, "sampling_rate": RISES, "steps": RISES}

DIRECTIONS: dict[str, dict[str, str]] = {
    **{f"{name}.epsilon": {"sigma": FALLS, **moves, "delta": FALLS} for name, moves in _SETTINGS.items()},
    **{f"{name}.sigma": {**moves, "epsilon": FALLS, "delta": FALLS} for name, moves in _SETTINGS.items()},
    "adaptive-batched-gd.epsilon": {"noise_multiplier": FALLS, "delta": FALLS},
    "adaptive-batched-gd.sigma": {
        "weight_norm": RISES, "feature_norm": RISES, "label_bound": RISES, "batch_size": FALLS, "epsilon": FALLS,
        "delta": FALLS,
    },
    "dp-sgd-multilayer.epsilon": {"sigma": FALLS, **_SAMPLED, "delta": FALLS},
    "dp-sgd-multilayer.sigma": {**_SAMPLED, "epsilon": FALLS, "delta": FALLS},
}


# --- where points are drawn

_BOTH = ("epsilon", "sigma")

RANGES: dict[tuple[str, str], tuple[float, float]] = {
    **{(f"{family}.epsilon", "sigma"): (-2.0, 6.0) for family in _SETTINGS},
    **{(f"{family}.sigma", "epsilon"): (-6.0, 3.0) for family in (*_SETTINGS, "adaptive-batched-gd")},
    **{(f"{family}.sigma", "delta"): (-200.0, -0.3) for family in ("phased-sgd", "two-layer", "adaptive-batched-gd")},
    **{(f"{family}.{b}", "label_bound"): (-1.0, 1.0) for family in _SETTINGS for b in _BOTH},
    **{(f"{family}.{b}", "feature_norm"): (-1.0, 0.0) for family in PHASED for b in _BOTH},
    # With features no longer than 1, a learning rate of 2 and a smoothness of 1 are allowed everywhere.
    **{(f"{family}.{b}", "learning_rate"): (-4.0, 0.3) for family in PHASED for b in _BOTH},
    **{(f"{family}.{b}", "smoothness"): (-4.0, -0.01) for family in PHASED for b in _BOTH},
    # The projection uses up a third of the smallest delta at most, and next to nothing of many.
    **{(f"{family}.{b}", "dataset_size"): (0.0, 2.0) for family in PROJECTED for b in _BOTH},
    **{(f"{family}.{b}", "projected_dimension"): (1.15, 3.0) for family in PROJECTED for b in _BOTH},
    **{(f"{family}.{b}", "delta"): (-4.0, -0.3) for family in PROJECTED for b in _BOTH},
    ("adaptive-batched-gd.epsilon", "noise_multiplier"): (-2.0, 8.0),
    ("dp-sgd-multilayer.epsilon", "clip_norm"): (-0.5, 0.5),
    ("dp-sgd-multilayer.epsilon", "batch_size"): (-0.2, 0.2),
    ("dp-sgd-multilayer.epsilon", "delta"): (-12.0, -0.3),
    ("dp-sgd-multilayer.sigma", "clip_norm"): (-1.0, 1.0),
    ("dp-sgd-multilayer.sigma", "batch_size"): (-1.0, 3.0),
    ("dp-sgd-multilayer.sigma", "epsilon"): (-1.0, 1.0),
}

# The sampled curve itself is tried at length under its own name: here mostly no sampling at random, or one step.
MAPS: dict[tuple[str, str], Callable[[float], float]] = {
    ("dp-sgd-multilayer.epsilon", "sigma"): lambda u: 0.9 + 9 * u,
    **{
        (f"dp-sgd-multilayer.{b}", "sampling_rate"): lambda u: 0.0 if u < 0.04 else 0.125 if u < 0.1 else 1.0
        for b in _BOTH
    },
    **{
        (f"dp-sgd-multilayer.{b}", "steps"): lambda u: 0 if u < 0.04 else 1 if u < 0.5 else int(200 * u) for b in _BOTH
    },
    ("dp-sgd-multilayer.sigma", "delta"): lambda u: 10.0 ** (-12.0 + 11.0 * u),
}

FEW_POINTS = {
    **{f"{family}.{b}": 60 if family in PROJECTED else 120 for family in _SETTINGS for b in _BOTH},
    "adaptive-batched-gd.epsilon": 120, "adaptive-batched-gd.sigma": 120,
    "dp-sgd-multilayer.epsilon": 20, "dp-sgd-multilayer.sigma": 12,
}

_REALS = (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
_SMALL = (5e-324, 1e-310, 1e-300, 1e-30, 1e-8, 0.5, 1.0)
CORNERS: dict[tuple[str, str], tuple[float, ...]] = {
    **{(f"{family}.epsilon", "sigma"): (1e-30, 1e-8, 1.0, 3.0, 1e30, 1e300) for family in _SETTINGS},
    **{(f"{family}.{b}", p): _REALS for family in _SETTINGS for b in _BOTH for p in ("label_bound", "weight_bound")},
    **{(f"{family}.{b}", "feature_norm"): _SMALL for family in PHASED for b in _BOTH},
    **{(f"{family}.{b}", "learning_rate"): (*_SMALL, 2.0) for family in PHASED for b in _BOTH},
    **{(f"{family}.{b}", "smoothness"): (0.0, *_SMALL) for family in PHASED for b in _BOTH},
    **{(f"{family}.{b}", "oracle_error"): (0.0, 5e-324, 1e-8, 1.0, 1e30) for family in PHASED for b in _BOTH},
    **{(f"{family}.{b}", "dataset_size"): (1, 2, 3, 10**6, 2**53) for family in _SETTINGS for b in _BOTH},
    **{(f"{family}.{b}", "projected_dimension"): (10**6, 2**53, int(1e100)) for family in PROJECTED for b in _BOTH},
    **{(f"dp-pgd.{b}", "steps"): (1, 2, 10**6, 2**53) for b in _BOTH},
    ("adaptive-batched-gd.epsilon", "noise_multiplier"): (1e-30, 1e-8, 1.0, 3.0, 1e30, 1e160, 1e300),
    # a sigma for an epsilon beyond is a matter of a second, under the name of the Gaussian mechanism itself
    **{
        (f"{family}.sigma", "epsilon"): (0.0, 1e-310, 1e-30, 1e-8, 1.0, 3.0, 1e8)
        for family in (*_SETTINGS, "adaptive-batched-gd")
    },
    ("adaptive-batched-gd.sigma", "weight_norm"): (0.0, 5e-324, 1e-8, 1.0, 1e30),
    ("adaptive-batched-gd.sigma", "feature_norm"): _REALS,
    ("adaptive-batched-gd.sigma", "label_bound"): _REALS,
    ("dp-sgd-multilayer.epsilon", "sigma"): (1.0, 30.0),
    **{(f"dp-sgd-multilayer.{b}", "clip_norm"): (0.75, 1.0) for b in _BOTH},
    **{(f"dp-sgd-multilayer.{b}", "batch_size"): (1.0, 1.5) for b in _BOTH},
    **{(f"dp-sgd-multilayer.{b}", "sampling_rate"): (0.0, 0.5, 1.0) for b in _BOTH},
    **{(f"dp-sgd-multilayer.{b}", "steps"): (0, 1, 1000) for b in _BOTH},
    ("dp-sgd-multilayer.epsilon", "delta"): (1e-15, 1e-5, 0.3, 0.9),
    ("dp-sgd-multilayer.sigma", "delta"): (1e-15, 1e-5, 0.3),
    ("dp-sgd-multilayer.sigma", "epsilon"): (0.0, 0.1, 1.0),
}
