"""Parameter points for any registered bound: one map from the unit cube, read by hypothesis and by fixed samples.

`value_at(bound, parameter, u)` turns u in [0, 1] into a parameter value, by the parameter's kind and domain and by the
RANGES table below, which holds what is special about a bound. All values are doubles (or ints, or words), so that the
fast path and the certified reference see exactly the same numbers. A new bound needs an entry only where the defaults
do not suit it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracle.domain import Parameter
from oracle.registry import Bound
from tests.topics import gathered

Point = dict[str, Any]

LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324

_DEFAULT_LOGS = {"real": (-4.0, 4.0), "integer": (0.0, 4.0), "probability": (-300.0, -0.3)}

# Decimal exponents between which a parameter is drawn, where the default does not fit: (bound, parameter) -> logs.
RANGES: dict[tuple[str, str], tuple[float, float]] = {
    ("gaussian.delta", "sigma"): (-4.0, 8.0),
    ("gaussian.delta", "sensitivity"): (-0.5, 0.5),
    ("gaussian.delta", "epsilon"): (-10.0, 4.0),
    ("gaussian.epsilon", "sigma"): (-4.0, 8.0),
    ("gaussian.epsilon", "sensitivity"): (-0.5, 0.5),
    ("gaussian.sigma", "epsilon"): (-8.0, 4.0),
    ("gaussian.sigma", "delta"): (-250.0, -0.3),
    ("gdp.epsilon", "mu"): (-8.0, 4.0),
    ("gdp.delta", "mu"): (-8.0, 4.0),
    ("gdp.delta", "epsilon"): (-10.0, 4.0),
    ("gaussian-composed.delta", "sigma"): (-4.0, 8.0),
    ("gaussian-composed.delta", "sensitivity"): (-0.5, 0.5),
    ("gaussian-composed.delta", "epsilon"): (-10.0, 4.0),
    ("gaussian-composed.epsilon", "sigma"): (-2.0, 8.0),
    ("gaussian-composed.epsilon", "sensitivity"): (-0.5, 0.5),
    ("randomised-response.delta", "epsilon"): (-10.0, 2.0),
    ("zcdp.epsilon", "rho"): (-12.0, 4.0),
    ("tree.epsilon", "leaves"): (0.0, 15.0),
    ("tree.epsilon", "noise_multiplier"): (-2.0, 8.0),
    ("composition.basic", "steps"): (0.0, 9.0),
    ("composition.advanced", "steps"): (0.0, 9.0),
    ("composition.optimal-delta", "steps"): (0.0, 2.5),
    ("composition.optimal-delta", "epsilon"): (-6.0, 2.0),
    ("composition.optimal-delta", "total_epsilon"): (-6.0, 3.0),
    ("composition.optimal", "steps"): (0.0, 2.5),
    ("composition.optimal", "epsilon"): (-6.0, 2.0),
    ("laplace.delta", "epsilon"): (-10.0, 4.0),
    ("laplace-composed.delta", "scale"): (-2.0, 3.0),
    ("laplace-composed.delta", "sensitivity"): (-0.5, 0.5),
    ("laplace-composed.delta", "steps"): (0.0, 1.0),
    ("laplace-composed.delta", "epsilon"): (-5.0, 3.0),
    ("laplace-composed.epsilon", "scale"): (-2.0, 3.0),
    ("laplace-composed.epsilon", "sensitivity"): (-0.5, 0.5),
    ("laplace-composed.epsilon", "steps"): (0.0, 1.0),
    ("shuffle.delta", "users"): (0.0, 2.0),  # the opinion lists every outcome
    ("shuffle.epsilon", "users"): (0.0, 2.0),
    ("shuffle.delta", "epsilon0"): (-4.0, 1.5),
    ("shuffle.delta", "epsilon"): (-6.0, 1.0),
    ("shuffle.epsilon", "epsilon0"): (-4.0, 1.5),
    ("shuffle.epsilon", "delta"): (-15.0, -0.3),
    ("poisson-gaussian.rdp", "sigma"): (-0.5, 2.0),
    **{(f"poisson-gaussian.{name}", "sigma"): (-0.1, 1.5) for name in ("epsilon", "delta")},
    ("poisson-gaussian.epsilon", "delta"): (-12.0, -0.3),
    ("poisson-gaussian.delta", "epsilon"): (-2.0, 0.0),
    ("poisson-gaussian.sigma", "epsilon"): (-1.0, 1.0),
    # No sample without replacement is larger than the data set; test_amplification goes to that edge.
    ("amplification.wor", "dataset_size"): (3.0, 12.0),
    ("amplification.wor", "batch_size"): (0.0, 3.0),
    ("amplification.wor-delta", "dataset_size"): (3.0, 12.0),
    ("amplification.wor-delta", "batch_size"): (0.0, 3.0),
    ("amplification.with-replacement", "dataset_size"): (0.0, 9.0),
    ("amplification.with-replacement", "draws"): (0.0, 5.0),
    ("amplification.with-replacement-delta", "epsilon"): (-4.0, 2.0),
    ("amplification.with-replacement-delta", "dataset_size"): (0.0, 6.0),
    ("amplification.with-replacement-delta", "draws"): (0.0, 2.0),
    ("wor-gaussian.epsilon", "delta"): (-30.0, -0.3),
    ("noisy-gd.mu", "dataset_size"): (0.0, 9.0),
    ("noisy-gd.mu", "steps"): (0.0, 9.0),
    **gathered("RANGES"),
}


def _is_probability(parameter: Parameter) -> bool:
    return parameter.high == 1 and parameter.low_open and parameter.high_open


def _logs(bound: Bound, parameter: Parameter) -> tuple[float, float]:
    kind = "probability" if _is_probability(parameter) else parameter.kind
    return RANGES.get((bound.name, parameter.name), _DEFAULT_LOGS[kind])


def _logarithmic(u: float, logs: tuple[float, float]) -> float:
    return 10.0 ** (logs[0] + u * (logs[1] - logs[0]))


def _probability(u: float, logs: tuple[float, float]) -> float:
    if u < 0.7:
        return _logarithmic(u / 0.7, logs)
    return 1.0 - _logarithmic((u - 0.7) / 0.3, (-0.3, -15.5))


def _closed_unit(u: float) -> float:
    if u < 0.04:
        return 0.0
    if u > 0.96:
        return 1.0
    if u < 0.25:
        return _logarithmic((u - 0.04) / 0.21, (-20.0, -1.0))
    if u < 0.5:
        return 0.1 + 0.8 * (u - 0.25) / 0.25
    return 1.0 - _logarithmic((u - 0.5) / 0.46, (-1.0, -15.9))


def _upper_half(u: float) -> float:
    if u < 0.04:
        return 0.5
    if u < 0.5:
        return 0.5 + _logarithmic((u - 0.04) / 0.46, (-15.9, -0.4))
    return 1.0 - _logarithmic((u - 0.5) / 0.5, (-0.4, -15.9))


def _sampling_rate(u: float) -> float:
    if u < 0.04:
        return 0.0
    return 1.0 if u > 0.96 else _logarithmic((u - 0.04) / 0.92, (-2.0, -0.05))


def _some_steps(u: float) -> int:
    """None, one, or many: a few steps at any width are the business of test_composition."""
    return 0 if u < 0.04 else 1 if u < 0.12 else int(_logarithmic((u - 0.12) / 0.88, (2.0, 4.0)))


def _batch_share(u: float) -> float:
    if u < 0.04:
        return 0.0
    if u > 0.96:
        return 1.0
    return _logarithmic((u - 0.04) / 0.92, (-4.0, -0.01))


def _few_or_many(u: float) -> int:
    """None, or one (which is a case of its own) as often as more."""
    if u < 0.04:
        return 0
    return 1 if u < 0.6 else int(_logarithmic((u - 0.6) / 0.4, (0.31, 4.0)))


# Maps from the unit interval for domains of their own, and for parameters that must suit each other.
MAPS: dict[tuple[str, str], Callable[[float], Any]] = {
    **{(f"poisson-gaussian.{name}", "sampling_rate"): _sampling_rate for name in ("epsilon", "delta", "sigma")},
    **{(f"poisson-gaussian.{name}", "steps"): _some_steps for name in ("epsilon", "delta")},
    ("poisson-gaussian.sigma", "steps"): lambda u: _some_steps(0.04 + 2 * max(0.0, u - 0.4) if u > 0.04 else 0.0),
    ("poisson-gaussian.sigma", "delta"): lambda u: _logarithmic(u, (-12.0, -1.0)),
    ("randomised-response.delta", "keep"): _upper_half,
    ("randomised-response.epsilon", "keep"): _upper_half,
    ("gaussian-classical.sigma", "epsilon"): lambda u: _logarithmic(u, (-8.0, 0.0)),
    ("rdp.epsilon", "alpha"): lambda u: 1.0 + _logarithmic(u, (-8.0, 4.0)),
    # Integers among the orders, for which the opinion is a finite sum.
    ("poisson-gaussian.rdp", "alpha"): lambda u: (
        1.0 + _logarithmic(u / 0.7, (-3.0, 1.5)) if u < 0.7 else 2.0 + math.floor(100 * (u - 0.7))
    ),
    # Integers, which both methods take; test_wor_gaussian tries other orders.
    ("wor-gaussian.rdp", "alpha"): lambda u: float(int(_logarithmic(u, (0.31, 2.3)))),
    ("wor-gaussian.rdp", "sigma"): lambda u: _logarithmic(u, (-0.5, 3.0)),
    ("wor-gaussian.rdp", "sampling_rate"): _batch_share,
    ("wor-gaussian.epsilon", "sigma"): lambda u: _logarithmic(u, (-0.5, 2.0)),
    ("wor-gaussian.epsilon", "sampling_rate"): _batch_share,
    ("wor-gaussian.epsilon", "steps"): _few_or_many,
    # No epsilon reaches a total_delta below 1 - (1 - delta)^steps; test_composition_theorems goes to that edge.
    ("composition.optimal", "delta"): lambda u: 0.0 if u < 0.3 else _logarithmic((u - 0.3) / 0.7, (-300, -20)),
    ("composition.optimal", "total_delta"): lambda u: 1.0 if u > 0.96 else _logarithmic(u, (-15.0, 0.0)),
    **gathered("MAPS"),
}

SCHEDULE_LENGTH = 4  # of every schedule that is drawn: those of one bound must agree


def value_at(bound: Bound, parameter: Parameter, u: float) -> Any:
    """The value of a parameter at the position u in [0, 1] of its range."""
    if (bound.name, parameter.name) in MAPS:
        return MAPS[bound.name, parameter.name](u)
    if parameter.kind == "choice":
        return parameter.choices[min(int(u * len(parameter.choices)), len(parameter.choices) - 1)]
    closed_zero = parameter.low == 0 and not parameter.low_open
    if parameter.kind == "schedule":
        # Entries that differ, and that all move with u: the golden ratio spreads them over the range.
        logs = RANGES.get((bound.name, parameter.name), _DEFAULT_LOGS["real"])
        spread = [(u + 0.618034 * index) % 1.0 for index in range(SCHEDULE_LENGTH)]
        return tuple(0.0 if closed_zero and v < 0.1 else _logarithmic(v, logs) for v in spread)
    if parameter.infinite and u > 0.96:
        return math.inf
    if parameter.kind == "integer":
        if closed_zero and u < 0.04:
            return 0
        return max(int(_logarithmic(u, _logs(bound, parameter))), math.ceil(parameter.low or 0))
    if _is_probability(parameter):
        return _probability(u, _logs(bound, parameter))
    if parameter.high == 1 and closed_zero:
        return _closed_unit(u)
    assert parameter.high is None, f"{bound.name}: no range for {parameter.name} ({parameter.domain}); add one here"
    if closed_zero and u < 0.04:
        return 0.0
    return _logarithmic(u, _logs(bound, parameter))


def point_at(bound: Bound, position: Sequence[float]) -> Point:
    """The parameters of a bound at a position in the unit cube."""
    return {p.name: value_at(bound, p, u) for p, u in zip(bound.parameters, position, strict=True)}


def points(bound: Bound) -> st.SearchStrategy[Point]:
    """Points drawn by hypothesis."""
    units = [st.floats(0.0, 1.0) for _ in bound.parameters]
    return st.tuples(*units).map(lambda position: point_at(bound, position))


# The reference takes long for these: at most so many of their points.
FEW_POINTS: dict[str, int] = {
    "poisson-gaussian.epsilon": 60, "poisson-gaussian.delta": 60, "poisson-gaussian.sigma": 12,
    **gathered("FEW_POINTS"),
}


def fixed_points(bound: Bound, count: int, seed: int = 0) -> list[Point]:
    """The same `count` spread-out points every time; they share every word, as one array's points must."""
    count = min(count, FEW_POINTS.get(bound.name, count))
    cube = np.random.default_rng(seed).random((count, len(bound.parameters)))
    for index, parameter in enumerate(bound.parameters):
        if parameter.kind == "choice":
            cube[:, index] = (0.5 + seed // 2 % len(parameter.choices)) / len(parameter.choices)
    return [point_at(bound, [float(u) for u in position]) for position in cube]


def columns(bound: Bound, chosen: Sequence[Point]) -> dict[str, Any]:
    """The points as one float64 array a parameter, [points] or [points, steps] (points must agree on every word)."""
    table: dict[str, Any] = {}
    for parameter in bound.parameters:
        values = [point[parameter.name] for point in chosen]
        if parameter.kind == "choice":
            assert len(set(values)) == 1, f"{bound.name}: points of one array must share {parameter.name}"
            table[parameter.name] = values[0]
        else:
            table[parameter.name] = np.array(values, dtype=np.float64)
    return table


# The far corners of the doubles. Sensitivity / sigma stays below 1e60 where epsilon is solved for: beyond, the
# reference needs thousands of bits and seconds a point (that it then still answers is tested once, in test_fast).
_CORNER_REALS = (SMALLEST, 2.5e-323, 1e-310, 1e-300, 1e-160, 1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30, 1e160, 1e300, LARGEST)
_CORNER_INTEGERS = (1, 2, 3, 10**6, 2**53, int(1e100), int(1e300))  # doubles all: both paths must see one number
_CORNER_UNITS = (0.0, SMALLEST, 1e-300, 1e-17, 1e-8, 0.5, 1 - 1e-8, 1 - 2**-53, 1.0)
_CORNER_PROBABILITIES = (SMALLEST, 1e-310, 1e-300, 1e-100, 1e-15, 1e-5, 0.3, 0.5, 0.5000000001, 0.9, 1 - 2**-53)
_CORNERS: dict[tuple[str, str], tuple[float, ...]] = {
    ("poisson-gaussian.epsilon", "sigma"): (1e-3, 0.5, 1.0, 30.0),
    ("poisson-gaussian.delta", "sigma"): (1e-3, 0.5, 1.0),  # much noise at a large epsilon: deltas below 10^-1000
    **{(f"poisson-gaussian.{name}", "sampling_rate"): (0.0, 1e-3, 0.5, 1.0) for name in ("epsilon", "delta", "sigma")},
    **{(f"poisson-gaussian.{name}", "steps"): (0, 1, 1000) for name in ("epsilon", "delta", "sigma")},
    ("poisson-gaussian.epsilon", "delta"): (1e-15, 1e-5, 0.3, 0.9, 1 - 2**-53),
    ("poisson-gaussian.sigma", "delta"): (1e-15, 1e-5, 0.3),
    **{(f"poisson-gaussian.{name}", "epsilon"): (0.0, 0.1, 1.0) for name in ("delta", "sigma")},
    ("gaussian.epsilon", "sigma"): tuple(v for v in _CORNER_REALS if v >= 1e-30),
    ("gaussian.epsilon", "sensitivity"): tuple(v for v in _CORNER_REALS if v <= 1e30),
    ("gdp.epsilon", "mu"): tuple(v for v in _CORNER_REALS if v <= 1e30),
    ("gaussian-composed.epsilon", "sigma"): tuple(v for v in _CORNER_REALS if v >= 1e-30),
    ("gaussian-composed.epsilon", "sensitivity"): tuple(v for v in _CORNER_REALS if v <= 1e30),
    ("gaussian-composed.epsilon", "steps"): (0, 1, 2, 10**6, 2**53),
    ("tree.epsilon", "noise_multiplier"): tuple(v for v in _CORNER_REALS if v >= 1e-30),
    ("randomised-response.delta", "keep"): (0.5, 0.5 + 2**-53, 0.75, 0.9, 1 - 2**-53),
    ("randomised-response.epsilon", "keep"): (0.5, 0.5 + 2**-53, 0.75, 0.9, 1 - 2**-53),
    ("rdp.epsilon", "alpha"): (1 + 2**-52, 1.5, 2.0, 3.0, 1e8, 1e30, 1e300, LARGEST),
    ("poisson-gaussian.rdp", "sigma"): (0.05, 0.3, 1.0, 7.0, 1e4, 1e30, 1e160),
    ("poisson-gaussian.rdp", "alpha"): (1 + 2**-52, 1.000001, 1.5, 2.0, 3.0, 100.0, 1e4),
    ("laplace-composed.delta", "steps"): (0, 1, 2, 3, 17, 100),
    ("laplace-composed.epsilon", "steps"): (0, 1, 2, 3, 17, 100),
    ("laplace-composed.epsilon", "scale"): tuple(v for v in _CORNER_REALS if v >= 1e-30),
    ("laplace-composed.epsilon", "sensitivity"): tuple(v for v in _CORNER_REALS if v <= 1e30),
    ("amplification.wor", "dataset_size"): tuple(v for v in _CORNER_INTEGERS if v >= 10**6),
    ("amplification.wor", "batch_size"): (1, 2, 3, 10**6),
    ("amplification.wor-delta", "dataset_size"): tuple(v for v in _CORNER_INTEGERS if v >= 10**6),
    ("amplification.wor-delta", "batch_size"): (1, 2, 3, 10**6),
    ("amplification.with-replacement", "draws"): (1, 2, 3, 1000, 100_000),
    ("amplification.with-replacement-delta", "draws"): (1, 2, 3, 1000, 100_000),
    ("wor-gaussian.rdp", "sigma"): (1e-4, 1e-2, 0.3, 1.0, 3.0, 1e3, 1e6),
    ("wor-gaussian.rdp", "steps"): (0, 1, 3, 10**6, 10**12),
    ("wor-gaussian.rdp", "alpha"): (1 + 2**-52, 1.5, 2.0, 3.0, 64.0, 1e3, 1e6),
    ("wor-gaussian.epsilon", "sigma"): (1e-4, 1e-2, 0.3, 1.0, 3.0, 1e3, 1e4),
    ("wor-gaussian.epsilon", "sampling_rate"): (0.0, 1e-17, 1e-8, 0.5, 1 - 1e-8, 1 - 2**-53, 1.0),
    ("wor-gaussian.epsilon", "steps"): (0, 1, 2, 10**4, 10**12),
    ("composition.optimal-delta", "steps"): (0, 1, 2, 3, 17, 1000, 2000, 2001, 5000),
    ("composition.optimal", "steps"): (0, 1, 2, 3, 17, 1000, 2000, 2001, 5000),
    ("shuffle.delta", "users"): (1, 2, 3, 17, 1000, 10**4),
    ("shuffle.epsilon", "users"): (1, 2, 3, 17, 1000, 10**4),
    ("composition.optimal", "delta"): (0.0, SMALLEST, 1e-310, 1e-300, 1e-100),
    ("composition.optimal", "total_delta"): (1e-90, 1e-15, 1e-5, 0.3, 0.5, 1 - 2**-53, 1.0),
    **gathered("CORNERS"),
}


def corner_points(bound: Bound, count: int, seed: int = 0) -> list[Point]:
    """The same `count` extreme points every time: each coordinate is a far corner of its domain."""
    rng = np.random.default_rng(seed)
    count = min(count, FEW_POINTS.get(bound.name, count))

    def corner(parameter: Parameter) -> Any:
        if parameter.kind == "choice":
            return parameter.choices[0]
        values: tuple[float, ...] = _CORNER_REALS
        if parameter.kind == "integer":
            values = _CORNER_INTEGERS
        elif parameter.high == 1:
            values = _CORNER_PROBABILITIES if parameter.low_open else _CORNER_UNITS
        if parameter.low == 0 and not parameter.low_open and 0.0 not in values:
            values = (0, *values)
        values = (*values, math.inf) if parameter.infinite else values
        values = _CORNERS.get((bound.name, parameter.name), values)
        if parameter.kind == "schedule":
            return tuple(values[int(rng.integers(len(values)))] for _ in range(SCHEDULE_LENGTH))
        return values[int(rng.integers(len(values)))]

    return [{p.name: corner(p) for p in bound.parameters} for _ in range(count)]
