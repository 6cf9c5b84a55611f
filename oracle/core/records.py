"""Records, once for all trainings: what may be given as data, and why no finite record leaves a training's numbers.

`numbers` makes arrays of float64 of whatever holds real numbers (lists, arrays of any layout, tensors), `check` says
what is a data set. Every other input is a DomainError, for the reference and for the batched twin alike.

A training is private for every data set, however large its numbers are: a square that overflows in one record would
show by a NaN in the release that the record is there. So a training with a guarantee first takes every record by itself
into a range in which products of its entries with each other and with the weights are finite:

    features with an entry of 2^POWER or more are divided by the least power of two that makes all entries smaller
    labels beyond 2^POWER are cut to it

POWER is 200 for float64 and 32 for float32; other records keep every bit, and those divided keep their direction. A map
of single records makes neighbours of neighbours, so that whatever is proved of the training for all records in the
range is proved of the whole for all finite records. Declared bounds on norms or labels are checked before, on what was
given, and shorter features keep them. Weights (in a network of many layers, products of them) up to 2^ROOM leave room
for all that is computed: 2^100 in float64, 2^30 in float32. Beyond, the configuration may overflow by itself: where
`reach` says so, before anything is drawn and whatever the data are, it is refused. Where steps follow the weights, so
that the data decide how far these go, weights are cut to the room after every step, which is a map of what the noise
has passed already and costs no privacy; then the configuration is refused where one step from there leaves the SPAN.

What has no guarantee computes what it is asked: nothing is scaled there, and numbers that the type does not have are
refused. A release that is not finite is an error for every training.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.core.domain import Parameter, shown
from oracle.core.errors import DomainError, OracleError

Array = NDArray[np.float64]

POWER = {False: 200, True: 32}
"""By whether the precision is single.

Literal references form r x, a residual of about |x| |w| times the features, and square it: 2^800 |w|^2 of 2^1024 at
most. The twins square features and residuals, not their products: 2^64 of 2^128.
"""
ROOM = {False: 100, True: 30}
"""log2 of the largest weights that leave room, by whether the precision is single."""
FARTHEST = {single: 2.0**room for single, room in ROOM.items()}
"""What the entries of weights are cut to where steps follow them."""
SPAN = {False: 900, True: 100}
"""log2 of the largest number that one step may compute of weights so far: sums over 2^24 features are no larger."""
LARGEST_DRAW = 64
"""No normal draw of a tape is as large: one of 64 bits stays below 10."""
_REAL = "biuf"  # numpy's kinds of real numbers


def numbers(name: str, given: Any) -> Array:
    """The numbers as an array of float64 in C order, which nobody else holds for writing; or a DomainError."""
    domain = "an array of real numbers"
    if "numpy.ma" in sys.modules and isinstance(given, np.ma.MaskedArray):  # who has one has loaded it, which is slow
        raise DomainError(f"{name} are a masked array, outside their domain: {domain}, none of them masked")
    try:
        if hasattr(given, "detach"):  # a tensor, which may be on a device, in any precision, and part of a graph
            given = given.detach().cpu()
            given = (given if given.is_complex() else given.double()).numpy()
        table = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged, sparse, without values, or no array at all
        raise DomainError(f"{name} = {shown(given)} are outside their domain: {domain} ({shown(error)})") from None
    if table.dtype.kind not in _REAL:
        raise DomainError(f"{name} of type {table.dtype} are outside their domain: {domain}")
    with np.errstate(over="ignore"):  # a long double may be no double; `check` tells
        doubles = np.require(table.astype(np.float64, copy=False), requirements=("C", "W"))
    return doubles.copy() if min(doubles.strides, default=0) < 0 else doubles  # one entry is in every order


def check(features: Array, labels: Array) -> None:
    """A DomainError unless these are a data set: one row a record, one label each, one record at least, all finite."""
    if features.ndim != 2 or labels.shape != (features.shape[0],):
        raise DomainError(f"features of shape {features.shape} and labels of shape {labels.shape} are no data set")
    if features.shape[0] < 1 or features.shape[1] < 1:
        raise DomainError(f"features of shape {features.shape} hold no records")
    for name, table in (("features", features), ("labels", labels)):
        if not np.isfinite(table).all():
            found = table[~np.isfinite(table)].flat[0]
            raise DomainError(f"{name} contain {found}, which is not finite: their domain is the finite numbers")


def lengths(features: Array) -> Array:
    """The norm of every record, [n], without overflow: it is taken of the record divided by a power of two."""
    powers = np.frexp(np.abs(features).max(axis=1))[1]
    norms = np.linalg.norm(np.ldexp(features, -powers[:, None]), axis=1)
    with np.errstate(over="ignore"):  # the norm of finite numbers may be none
        return np.asarray(np.ldexp(norms, powers))


def saturated(features: Array, labels: Array, *, single: bool, cast: bool = False) -> tuple[Array, Array]:
    """The records in the range of the precision, each a function of itself alone, whatever releases are cast to."""
    power = POWER[single]
    largest = 2.0**power
    powers = np.maximum(np.frexp(np.abs(features).max(axis=1))[1] - power, 0)
    if powers.any():
        features = np.ldexp(features, -powers[:, None])
    if np.abs(labels).max() > largest:
        labels = np.clip(labels, -largest, largest)
    return features, labels


def castable(features: Array, labels: Array, *, single: bool, cast: bool = False) -> tuple[Array, Array]:
    """The records as they are, or a DomainError where one has a number that the precision does not."""
    for name, table in (("features", features), ("labels", labels)):
        largest = float(np.abs(table).max())
        if single and largest > float(np.finfo(np.float32).max):
            raise DomainError(f"{name} contain {largest:.6g}, which is outside their domain: numbers of float32")
    return features, labels


def reach(
    *, steps: int, learning_rate: Fraction, gradient: Fraction, noise: Fraction, start: Fraction = Fraction(0),
    factor: Fraction = Fraction(1),
) -> float:
    """log2 of how far steps w <- f w - learning_rate (g + z) may carry a weight, whatever the data are.

    |w| <= `start` before and |f| <= `factor`, |g| <= `gradient`, and z has entries of the standard deviation `noise`.
    """
    far = start + steps * learning_rate * (gradient + LARGEST_DRAW * noise)
    return log2(far) + steps * max(0.0, log2(factor))


def log2(value: Fraction | int) -> float:
    """log2 of a number >= 0 of any size, about."""
    value = Fraction(value)
    return math.log2(value.numerator) - math.log2(value.denominator) if value else -math.inf


def check_numbers(keys: Iterable[Parameter], config: SimpleNamespace, *, single: bool) -> None:
    """A DomainError unless the real keys are numbers of a precision: finite, and positive where they must not be 0.

    What data are checked against (feature_norm) is never cast to float32, and what only the exact logarithm is taken of
    (threshold_delta) may be as small as it likes.
    """
    kind, limits = ("float32", np.finfo(np.float32)) if single else ("float64", np.finfo(np.float64))
    for key in _reals(keys, config):
        given = getattr(config, key.name)
        for value in given if isinstance(given, tuple) else (given,):
            if value == math.inf or key.name == "threshold_delta" or (single and key.name == "feature_norm"):
                continue
            lost = key.low == 0 and key.low_open and 0 < value < Fraction(float(limits.smallest_subnormal))
            if abs(value) > Fraction(float(limits.max)) or lost:
                raise DomainError(f"{key.name} = {told(value)} is outside its domain: a number of {kind}")


def _reals(keys: Iterable[Parameter], config: SimpleNamespace) -> list[Parameter]:
    return [key for key in keys if key.kind in ("real", "schedule") and getattr(config, key.name) is not None]


def check_room(
    name: str, keys: Iterable[Parameter], config: SimpleNamespace, far: Callable[[SimpleNamespace], float],
    step: Callable[[SimpleNamespace, int], float], *, single: bool,
) -> None:
    """A DomainError, of the key that does most to it, where a configuration by itself leaves a precision's room.

    `far` is log2 of how far its weights may go, `step` that of the largest number that one step computes of weights of
    2^room.
    """
    room, trained, reals = ROOM[single], "float32" if single else "float64", _reals(keys, config)
    _check_reach(f"the weights of {name}", reals, config, far, trained, room)
    _check_reach(f"a step of {name}", reals, config, lambda some: step(some, room), trained, SPAN[single])


def _check_reach(
    what: str, keys: list[Parameter], config: SimpleNamespace, far: Callable[[SimpleNamespace], float], kind: str,
    room: int,
) -> None:
    """A DomainError, of the key that does most to it, where something may go farther than there is room for."""
    def without(key: Parameter) -> float:
        given = getattr(config, key.name)
        harmless = tuple(Fraction(1) for _ in given) if isinstance(given, tuple) else Fraction(1)
        return far(SimpleNamespace(**{**vars(config), key.name: harmless}))

    if (farthest := far(config)) > room:
        blamed = min(keys, key=without)
        raise DomainError(
            f"{blamed.name} = {told(getattr(config, blamed.name))} is outside its domain: with the rest of the "
            f"configuration {what} may reach 2^{farthest:.0f}, whatever the data, and {kind} has room for 2^{room}"
        )


def told(value: Any) -> str:
    """A number of any size in a few letters."""
    if isinstance(value, tuple):
        return shown([told(entry) for entry in value])
    size = log2(abs(value)) * math.log10(2) if value != math.inf else 0.0
    return shown(value) if abs(size) < 15 else f"about {'-' if value < 0 else ''}1e{size:+.0f}"


def check_release(name: str, *, finite: bool) -> None:
    """An OracleError unless what a training has computed is finite; without a guarantee it may diverge."""
    if not finite:
        raise OracleError(f"what {name} releases is not finite: with this configuration it diverges on these data")
