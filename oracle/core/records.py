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
given, and shorter features keep them. Weights (in a network of many layers, products of them) up to 2^100 in float64
and 2^30 in float32 leave room for all that is computed; beyond, the configuration overflows by itself.

What has no guarantee computes what it is asked: nothing is scaled there, and numbers that the type does not have are
refused. A release that is not finite is an error for every training.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oracle.core.domain import shown
from oracle.core.errors import DomainError, OracleError

Array = NDArray[np.float64]

POWER = {False: 200, True: 32}
"""By whether the precision is single.

Literal references form r x, a residual of about |x| |w| times the features, and square it: 2^800 |w|^2 of 2^1024 at
most. The twins square features and residuals, not their products: 2^64 of 2^128.
"""
_REAL = "biuf"  # numpy's kinds of real numbers


def numbers(name: str, given: Any) -> Array:
    """The numbers as an array of float64 in C order, which nobody else holds for writing; or a DomainError."""
    domain = "an array of real numbers"
    if isinstance(given, np.ma.MaskedArray):
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
            raise DomainError(f"{name} contain {found}, which is outside their domain: finite numbers")


def lengths(features: Array) -> Array:
    """The norm of every record, [n], without overflow: it is taken of the record divided by a power of two."""
    powers = np.frexp(np.abs(features).max(axis=1))[1]
    norms = np.linalg.norm(np.ldexp(features, -powers[:, None]), axis=1)
    with np.errstate(over="ignore"):  # the norm of finite numbers may be none
        return np.asarray(np.ldexp(norms, powers))


def saturated(features: Array, labels: Array, *, single: bool) -> tuple[Array, Array]:
    """The records in the range of the precision, each a function of itself alone."""
    power = POWER[single]
    largest = 2.0**power
    powers = np.maximum(np.frexp(np.abs(features).max(axis=1))[1] - power, 0)
    if powers.any():
        features = np.ldexp(features, -powers[:, None])
    if np.abs(labels).max() > largest:
        labels = np.clip(labels, -largest, largest)
    return features, labels


def castable(features: Array, labels: Array, *, single: bool) -> tuple[Array, Array]:
    """The records as they are, or a DomainError where one has a number that the precision does not."""
    for name, table in (("features", features), ("labels", labels)):
        largest = float(np.abs(table).max())
        if single and largest > float(np.finfo(np.float32).max):
            raise DomainError(f"{name} contain {largest:.6g}, which is outside their domain: numbers of float32")
    return features, labels


def check_release(name: str, *, finite: bool) -> None:
    """An OracleError unless what a training has computed is finite; without a guarantee it may diverge."""
    if not finite:
        raise OracleError(f"what {name} releases is not finite: with this configuration it diverges on these data")
