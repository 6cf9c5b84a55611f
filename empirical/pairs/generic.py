"""Pairs for any target: canaries at the ends of the declared domain of features and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from empirical.pairs.pair import Array, Builder, Pair
from empirical.pairs.pair_files import RELATIONS
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter, choice, positive, positive_integer
from oracle.core.tape import Tape

DOMAIN = (
    positive_integer("records", "size of the data set(s) that have the canary"),
    positive_integer("dimension", "number of features"),
    positive("feature_norm", "length of the canary, and of every other record that is not zero"),
    Parameter("label_low", meaning="least label, that of the canary on data set 0"),
    Parameter("label_high", meaning="largest label, that of the canary on data set 1"),
    choice("neighbours", *RELATIONS),
)


def unit(dimension: int, coordinate: int = 0) -> Array:
    """A unit vector."""
    return np.asarray(np.eye(dimension)[coordinate])


def replaced(others: Array, labels: Array, canaries: tuple[Array, Array], ends: tuple[float, float], at: int) -> Pair:
    """Neighbours whose record `at` is one or the other canary, with its label; `others` has the rest, in order."""
    features = tuple(np.insert(others, at, canary, axis=0) for canary in canaries)
    targets = tuple(np.insert(labels, at, end) for end in ends)
    return Pair((features[0], features[1]), (targets[0], targets[1]), "replace", at, None)


def added(others: Array, labels: Array, canary: Array, end: float, at: int) -> Pair:
    """Neighbours of which the second has a canary at place `at` more."""
    return Pair(
        (others, np.insert(others, at, canary, axis=0)), (labels, np.insert(labels, at, end)), "add_remove", at, None
    )


def _background(parameters: Values, *, orthogonal: bool) -> tuple[Array, Array]:
    """The other records: zero, or unit vectors in general position with no part in the canary's direction."""
    count, dimension = parameters.records - 1, parameters.dimension
    others = np.zeros((count, dimension))
    if orthogonal and dimension > 1:
        others[:, 1:] = Tape(0, count).normal("background", 0, dimension - 1)
        others *= float(parameters.feature_norm) / np.linalg.norm(others, axis=1, keepdims=True)
    low, high = float(parameters.label_low), float(parameters.label_high)
    labels = np.where(np.arange(count) % 2 == 0, low, high)
    return others, labels


def _built(parameters: Values, *, orthogonal: bool, opposite: bool) -> Pair:
    others, labels = _background(parameters, orthogonal=orthogonal)
    canary = float(parameters.feature_norm) * unit(parameters.dimension)
    low, high = float(parameters.label_low), float(parameters.label_high)
    at = parameters.records - 1
    if parameters.neighbours == "add_remove":
        return added(others, labels, canary, high, at)
    return replaced(others, labels, (-canary if opposite else canary, canary), (low, high), at)


def defaults(name: str, config: Values) -> dict[str, Any]:
    """A small domain, for a target that says nothing of its own."""
    return {
        "records": 20, "dimension": 4, "feature_norm": 1, "label_low": 0, "label_high": 1, "neighbours": "replace",
    }


extremes = Builder(
    name="extremes",
    summary="the last record is the longest there is, and opposite on the two sides, features and label; the rest is 0",
    algorithms=(),
    parameters=DOMAIN,
    defaults=defaults,
    build=lambda name, config, parameters: _built(parameters, orthogonal=False, opposite=True),
)

orthogonal = Builder(
    name="orthogonal",
    summary="the same, with other records in general position, all at right angles to the canary",
    algorithms=(),
    parameters=DOMAIN,
    defaults=defaults,
    build=lambda name, config, parameters: _built(parameters, orthogonal=True, opposite=True),
)

label_flip = Builder(
    name="label-flip",
    summary="a canary of one and the same features, at right angles to the others, whose label is flipped",
    algorithms=(),
    parameters=DOMAIN,
    defaults=defaults,
    build=lambda name, config, parameters: _built(parameters, orthogonal=True, opposite=False),
)
