r"""The multinomial kernel and its features: the literal reference (document 002, Section 5, Lemmas 16 and 17).

    K(x, x') = (1 + <x, x'> + ... + <x, x'>^m) / (m + 1),        psi_a(x) = sqrt( |a|! / (a_1! ... a_d!) / (m + 1) ) x^a

over all exponents a = (a_1, ..., a_d) with |a| = a_1 + ... + a_d <= m. By the multinomial theorem the features of
degree i give <x, x'>^i / (m + 1), so <psi(x), psi(x')> = K(x, x').

What is fixed here. The lemmas want K(x, x') <= 1; their kernel, without the division, has K(x, x) = m + 1 at |x| = 1.
Divided, |psi(x)|^2 = K(x, x) <= 1 for |x| <= 1, with equality at |x| = 1. The lemmas count D_m = 1 + d + ... + d^m
features, all products of up to m coordinates in order. Equal products are one feature here, C(d + m, m) in all: no
inner product changes, and scores have the same law, since Gaussian noise on D_m features has as much in every
direction, and what of it lies off the span of all psi(x) meets no record.

A polynomial q(z) = c_0 + ... + c_m z^m of a direction is linear in psi: q(<a, x>) = <w, psi(x)> for `weights`, of

    |w|^2 = (m + 1) (c_0^2 + c_1^2 |a|^2 + ... + c_m^2 |a|^{2m}),

which is how a hidden unit becomes a weight vector once a polynomial approximates its activation (`chebyshev`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oracle.algorithms.shared.glm import Array
from oracle.core.errors import DomainError

MOST_FEATURES = 1_000_000
"""More explicit features than this are refused: the kernel form needs none."""


def size(dimension: int, degree: int) -> int:
    """The number of features, one for each product of up to `degree` of the coordinates."""
    return math.comb(dimension + degree, degree)


def check_size(dimension: int, degree: int) -> None:
    """A DomainError if the explicit features are too many, with their number."""
    if size(dimension, degree) > MOST_FEATURES:
        raise DomainError(
            f"degree = {degree} is outside its domain: {dimension} coordinates give {size(dimension, degree)} features,"
            f" and at most {MOST_FEATURES} are formed; use a lower degree or the kernel form"
        )


@functools.lru_cache(maxsize=16)
def exponents(dimension: int, degree: int) -> NDArray[np.int64]:
    """The exponents of all features, [features, dimension]: degree 0 first, then in lexicographic order of products."""
    check_size(dimension, degree)
    table = np.zeros((size(dimension, degree), dimension), dtype=np.int64)
    row = 0
    for i in range(degree + 1):
        for product in itertools.combinations_with_replacement(range(dimension), i):
            for coordinate in product:
                table[row, coordinate] += 1
            row += 1
    table.setflags(write=False)
    return table


def multiplicity(exponent: Sequence[int]) -> int:
    """|a|! / (a_1! ... a_d!): how many ordered products are the same feature."""
    return math.factorial(sum(exponent)) // math.prod(math.factorial(power) for power in exponent)


def features(x: Array, degree: int) -> Array:
    """psi(x) of one record, entry by entry."""
    result = []
    for exponent in exponents(len(x), degree).tolist():
        monomial = math.prod(float(coordinate) ** power for coordinate, power in zip(x, exponent, strict=True))
        result.append(math.sqrt(multiplicity(exponent) / (degree + 1)) * monomial)
    return np.array(result)


def kernel(x: Array, other: Array, degree: int) -> float:
    """K(x, x') of two records."""
    inner = float(x @ other)
    return sum(inner**i for i in range(degree + 1)) / (degree + 1)


def weights(coefficients: Sequence[float], direction: Array) -> Array:
    """The w with <w, psi(x)> = c_0 + c_1 <a, x> + ... + c_m <a, x>^m for every x."""
    degree = len(coefficients) - 1
    degrees = exponents(len(direction), degree).sum(axis=1)
    return (degree + 1) * np.array([coefficients[i] for i in degrees]) * features(direction, degree)
