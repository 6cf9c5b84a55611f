r"""Tables of complex doubles with error bounds known in advance: what `smoothed_contour` is made of.

Nothing of libm is trusted: exponentials are balls, rounded once; the rest is +, -, *, / and square roots. u = 2^-53.
- A complex product errs by at most sqrt(2) 2u/(1-2u) < 3u of its size, whatever the order and with or without fused
  operations; an inner product of n complex terms, as a real one of 2n, by sqrt(2) 2nu/(1-2nu) of the sum of sizes
  (Higham, Accuracy and Stability of Numerical Algorithms, Section 3.1), whatever the order of summation.
- Entries below 1e-150 are made 0, which counts as an absolute error; nothing overflows, as the entries are at most 1.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from oracle.core.errors import PrecisionError

Complex = NDArray[np.complex128]
Array = NDArray[np.float64]

UNIT = 2.0**-53
NEAR = 0.5  # below which sinh(z)/z is a power series
_TERMS = 9
ROUNDED = 1e-34  # the absolute error that a rounded ball may have besides
_TINY = 1e-150
_ACCURACY = 60  # bits that a ball must have before it is rounded to a double
_SQUARED = 3  # doublings of a table for which a ball is rounded once
_SKIPPED = 1 << _SQUARED


def sinh_over(z: Complex) -> tuple[Complex, Complex, Complex]:
    """Q, Q' and Q'' for |z| < 1/2 by their power series sum z^{2i}/(2i+1)! and its derivatives."""
    square = z * z
    value, first, second = np.zeros_like(z), np.zeros_like(z), np.zeros_like(z)
    for i in reversed(range(_TERMS)):
        factor = 1.0 / math.factorial(2 * i + 1)
        value = value * square + factor
        if i:
            first = first * square + 2 * i * factor
            second = second * square + 2 * i * (2 * i - 1) * factor
    return value, first * z, second


def power_table(start: list[acb], factors: list[acb], count: int) -> tuple[Complex, float]:
    """start * factor^n, a row for each n < count, by doubling, and how many units of roundoff an entry errs by.

    The factors by which rows are doubled are balls rounded once (2 units) or squares of such in doubles (2e + 3 units
    for e before, as |factor| <= 1), every product errs by 3 more.
    """
    table, step, units, off = rounded(start)[None, :], factors, 2.0, 0.0
    for doubling in itertools.count():
        if len(table) >= count:
            return table, units
        if doubling % _SQUARED == 0:
            step = [factor**_SKIPPED for factor in step] if doubling else step
            by, off = rounded(step)[None, :], 2.0
        else:
            by, off = by * by, 2 * off + 3
        more = table[: count - len(table)] * by
        more[_squared_size(more) < _TINY * _TINY] = 0.0
        table = np.concatenate([table, more])
        units += off + 3.1
    raise AssertionError


def rounded(values: list[acb]) -> Complex:
    """The doubles next to balls: off by 2 units of the size, or by `ROUNDED`; the balls' accuracy is checked."""
    if min(map(acb.rel_accuracy_bits, values)) < _ACCURACY:
        for value in values:
            if value.rel_accuracy_bits() < _ACCURACY and not value.rad() < ROUNDED:
                raise PrecisionError("a ball is too wide to be rounded to a double")
    result = np.array(list(map(complex, values)), dtype=np.complex128)  # of the midpoints, rounded to nearest
    result[size(result) < _TINY] = 0.0
    return result


def matrix_product(left: Complex, right: Complex) -> Complex:
    """A complex matrix product as two real ones, whose error bound holds for every order of summation."""
    both = np.concatenate([left.real, left.imag], axis=1)
    real = both @ np.concatenate([right.real, -right.imag], axis=0)
    return np.asarray(real + 1j * (both @ np.concatenate([right.imag, right.real], axis=0)))


def power(values: Complex, exponent: int) -> Complex:
    """values^exponent by squaring: exponent - 1 products along the tree of each entry; what is tiny becomes 0."""
    result: Any = None
    while True:
        if exponent & 1:
            result = values if result is None else result * values
        exponent >>= 1
        if not exponent:
            return np.asarray(result)
        values = values * values
        values[_squared_size(values) < _TINY * _TINY] = 0.0


def deviation_table(factors: list[acb], count: int) -> tuple[Complex, float]:
    """factor^n - 1, a row for each n < count, by doubling, and their errors in units of B_n = min(2, n |factor - 1|).

    With x, y for n, m and |1 + x|, |1 + y| <= 1, x y + x + y errs by what x and y err by and at most 8 units of B_{n+m}
    of its own. What rows are doubled by is a ball rounded once (2 units), or follows from the last one by x (2 + x), in
    doubles: 2e + 6 units for e before, as that has the slope 2 (1 + x), and B_{2n} >= B_n.
    """
    table, step, units, off = np.zeros((1, len(factors)), dtype=np.complex128), factors, 2.0, 0.0
    for doubling in itertools.count():
        if len(table) >= count:
            return table, units
        if doubling % _SQUARED == 0:
            step = [factor**_SKIPPED for factor in step] if doubling else step
            other, off = rounded([factor - 1 for factor in step])[None, :], 2.0
        else:
            other, off = other * (2.0 + other), 2 * off + 6
        more = table[: count - len(table)]
        table = np.concatenate([table, more * other + more + other])
        units += off + 14.1
    raise AssertionError


def most_deviation(factors: list[acb], count: int) -> Array:
    """min(2, n |factor - 1|), a row for each n < count."""
    sizes = size(rounded([factor - 1 for factor in factors])) * (1 + 1e-9)
    return np.minimum(2.0, np.arange(count, dtype=np.float64)[:, None] * sizes[None, :])


def power_beside_one(values: Complex, exponent: int) -> Complex:
    """(1 + values)^exponent - 1 by squaring."""
    result: Any = None
    while True:
        if exponent & 1:
            result = values if result is None else result * values + result + values
        exponent >>= 1
        if not exponent:
            return np.asarray(result)
        values = values * (2.0 + values)


def products(powers: Complex, kernel: Complex, error: Array, kernel_error: Array) -> tuple[Complex, float]:
    """The products of both, and a bound of the sum of their errors."""
    terms = powers * kernel
    sizes = size(kernel) + kernel_error
    return terms, total(error * sizes + size(powers) * (kernel_error + 4 * UNIT * sizes))


def total(sizes: Array) -> float:
    """The sum of doubles >= 0, rounded up."""
    return up(float(sizes.sum()), sizes.size + 99)


def size(values: Complex) -> Array:
    """|z|, to 2 units; by a square root, which IEEE 754 rounds well."""
    return np.asarray(np.sqrt(_squared_size(values)))


def _squared_size(values: Complex) -> Array:
    return np.asarray(values.real * values.real + values.imag * values.imag)


def up(value: float, units: float) -> float:
    """A sum of that many doubles >= 0, rounded up."""
    return value * (1 + 2 * units * UNIT) + 1e-140


def above(value: arb) -> float:
    """A double above a ball."""
    return math.nextafter(float(value.upper()), math.inf)
