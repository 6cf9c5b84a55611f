"""A correct implementation of laplace.delta in float64, the bugs that are planted in it, and cases to judge them by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from empirical.gate.making.cases import Case, Expected, Text, certified
from oracle import bound

BOUND = bound("laplace.delta")


def correct(*, scale: Any, sensitivity: Any, epsilon: Any) -> float:
    """1 - exp((epsilon - sensitivity/scale)/2), or 0, a few units in the last place above the truth."""
    for name, value in (("scale", scale), ("sensitivity", sensitivity)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} = {value} must be positive and finite")
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"epsilon = {epsilon} must be at least 0 and finite")
    loss = sensitivity / scale
    return 0.0 if epsilon >= loss else -math.expm1((epsilon - loss) / 2) * (1 + 4e-15)


def _scaled(factor: float) -> Callable[..., float]:
    return lambda **given: factor * correct(**given)


def _small_scales(**given: Any) -> float:
    """Right, but for a region that no case of ours lies in."""
    wrong = 0.02 < given["scale"] < 0.2 and given["epsilon"] < 0.05
    return correct(**given) * (1 - 1e-6 if wrong else 1)


BUGS: dict[str, Callable[..., Any]] = {
    "1e-9 too small": _scaled(1 - 1e-9),
    "delta / 10": _scaled(0.1),
    "sensitivity forgotten": lambda **given: correct(**{**given, "sensitivity": 1.0}),
    "epsilon doubled": lambda **given: correct(**{**given, "epsilon": 2 * given["epsilon"]}),
    "NaN": lambda **given: correct(**given) * math.nan,
    "accepts negative": lambda *, scale, **given: correct(scale=abs(scale), **given),
    "accepts NaN": lambda **given: 1.0 if any(value != value for value in given.values()) else correct(**given),
    "crashes": lambda **given: correct(**given) / (given["epsilon"] != 0),
    "refuses the large": lambda **given: correct(**given) if given["sensitivity"] < 2 else math.sqrt(-1),
}
"""Each is caught by the cases below, and all but those that take invalid input by the search alone."""

VALID = (
    ("1", "1", "0.5"), ("1", "1", "0"), ("0.5", "1", "1"), ("2", "3", "0.1"), ("10", "1", "1"), ("1", "1", "1e-8"),
)
INVALID = (("-1", "1", "0.5"), ("1", "1", "-0.5"), ("nan", "1", "0.5"), ("1", "-1", "0.5"))


def _input(values: tuple[str, ...]) -> dict[str, Text]:
    return dict(zip(("scale", "sensitivity", "epsilon"), values, strict=True))


def _valid(number: int, values: tuple[str, ...]) -> Case:
    truth = Expected.parse(*certified(BOUND, _input(values)).to_decimals())
    return Case(BOUND.name, number, _input(values), truth, ("Zero" if values[2] == "0" else "Ordinary",), "an example")


CASES = (
    *(_valid(number, values) for number, values in enumerate(VALID, start=1)),
    *(Case(BOUND.name, number, _input(values), None, ("Bad",)) for number, values in enumerate(INVALID, start=11)),
)
