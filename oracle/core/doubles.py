"""Numbers and arrays of numbers as the doubles that they are: what no double holds is found, never rounded in silence.

An integer beyond 2^53 may lie between two doubles; so may a fraction, a decimal or a number of a wider format. The fast
paths compute with doubles, and a count that was rounded on its way in is another question, answered well.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import array_api_compat
import numpy as np

from oracle.core.domain import shown
from oracle.core.errors import DomainError

LARGEST_COUNT = 2.0**53
"""Up to here a double holds every integer, and the next one: sums and differences of counts are exact."""


def exact_float64(xp: Any, name: str, value: Any, device: Any) -> tuple[Any, Any]:
    """A number or an array of real numbers as a float64 array, and the entries that are no doubles.

    These are told as an array of the original numbers, None at those that are doubles; None where all are. What is no
    array of real numbers is refused, never reinterpreted.
    """
    if type(value) is float or (type(value) is int and abs(value) <= LARGEST_COUNT):
        return xp.asarray(np.asarray(float(value)), device=device), None  # a single question: most of it is overhead
    if type(value) is np.ndarray and value.dtype == np.float64 and array_api_compat.is_numpy_namespace(xp):
        return value, None
    try:
        # What is no tensor goes through numpy, since torch would read a Python float in single precision.
        array = value if array_api_compat.is_torch_array(value) else np.asarray(value)
        if isinstance(value, (list, tuple)) and array.dtype == np.float64:
            array = _unmixed(value, array)
        if array.dtype == object:
            doubles, lost = _of_objects(array)
        else:
            own = array_api_compat.array_namespace(array)
            if not (own.isdtype(array.dtype, "real floating") or own.isdtype(array.dtype, "integral")):
                raise TypeError(f"its type is {array.dtype}")
            doubles = own.astype(array, own.float64)
            lost = _rounded(own, array, doubles)
        return xp.asarray(doubles, device=device), lost
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise DomainError(f"{name} = {shown(value)} is no array of real numbers: {error}") from None


def _unmixed(value: Any, array: Any) -> Any:
    """The array of a list, with its integers as they are: beside a float numpy has rounded them already."""
    entries = np.asarray(value, dtype=object)
    counts = any(isinstance(entry, (int, np.integer)) and abs(int(entry)) > LARGEST_COUNT for entry in entries.flat)
    return entries if counts else array


def _of_objects(array: Any) -> tuple[Any, Any]:
    """Python's own numbers, which numpy keeps as objects where they do not fit its types."""
    doubles = np.empty(array.shape, dtype=np.float64)
    lost = np.empty(array.shape, dtype=object)
    for at, entry in np.ndenumerate(array):
        if isinstance(entry, (bool, np.bool_)) or not isinstance(entry, (int, float, Fraction, Decimal, np.number)):
            raise TypeError(f"an entry is of type {type(entry).__name__}")
        own: Any = int(entry) if hasattr(entry, "__index__") else entry
        doubles[at] = number = float(own)
        if math.isfinite(number) and Fraction(number) != Fraction(own):
            lost[at] = entry
    return doubles, lost if any(entry is not None for entry in lost.flat) else None


def _rounded(own: Any, array: Any, doubles: Any) -> Any:
    """The entries of an array of integers or wide floats that were rounded on their way to doubles."""
    is_float = own.isdtype(array.dtype, "real floating")
    if (own.finfo if is_float else own.iinfo)(array.dtype).bits < (65 if is_float else 64):
        return None
    suspects = own.isfinite(doubles) if is_float else own.abs(doubles) >= LARGEST_COUNT
    if not bool(own.any(suspects)):
        return None
    entries, asked = (np.asarray(array_api_compat.to_device(part, "cpu")) for part in (array, suspects))
    lost = np.empty(entries.shape, dtype=object)
    for at in np.ndindex(entries.shape):
        entry = entries[at] if is_float else int(entries[at])
        if asked[at] and entry != (np.float64(entry) if is_float else int(float(entry))):
            lost[at] = entry
    return lost if any(entry is not None for entry in lost.flat) else None
