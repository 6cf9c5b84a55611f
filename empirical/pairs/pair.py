"""Neighbouring data sets to audit on: from a file, or built as the worst case of a target.

A pair is described in JSON: {"kind": "file", "path": ..., "sha256": ...} is an npz file (`empirical.pairs.pair_files`),
and {"kind": "built", "name": ..., ...} names a builder of `empirical.pairs` with its parameters. A
builder stands at the top of a module there; that is its registration.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from empirical.pairs.laws import Law
from empirical.pairs.pair_files import check_dataset, differing, read_pair
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter, parse_all, shown
from oracle.core.errors import DomainError
from oracle.core.registry import algorithm, discover, index, named
from oracle.core.tape import Tape

Array = NDArray[np.float64]


class DescribedTarget(Protocol):
    """What a pair needs to know of a target: the JSON object that determines it."""

    def spec(self) -> dict[str, Any]:
        """The description of the target."""


class Trained(DescribedTarget, Protocol):
    """What a pair that is fitted to a target needs: its releases."""

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the tape's models release."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring data sets; `canary` is the place of the record that differs, in the data set(s) that have it.

    Of neighbours that add or remove a record, data set 1 has it. `direction` is where the flattened releases are
    expected to differ, and `law` their exact law, both where theory knows them.
    """

    features: tuple[Array, Array]
    labels: tuple[Array, Array]
    neighbours: str
    canary: int | None
    direction: Array | None
    law: Law | None = None


@dataclass(frozen=True)
class Builder:
    """A worst case for the algorithms named, or for any target where none is.

    `parameters` are those of its description, `defaults` their values for an algorithm's configuration; both functions
    are given the algorithm's name and configuration, which are empty for a target that is none of ours. A `special`
    one is asked for by name only. One that has to train the target has `fit` instead of `build`.
    """

    name: str
    summary: str
    algorithms: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    defaults: Callable[[str, Values], dict[str, Any]]
    build: Callable[[str, Values, Values], Pair] | None
    special: bool = False
    fit: Callable[[Trained, Values], Pair] | None = None


@functools.cache
def builders() -> dict[str, Builder]:
    """All builders by name."""
    return index(discover(Builder, "empirical.pairs"), lambda item: item.name)


def default_pair(target: DescribedTarget) -> dict[str, Any]:
    """The description of the pair that is worst for the target's algorithm."""
    name, config = _subject(target)
    for builder in builders().values():
        if name in builder.algorithms and not builder.special:
            return {"kind": "built", "name": builder.name, **builder.defaults(name, config)}
    if name:
        raise DomainError(f"target = {name} has no worst case of its own: give a pair")
    return {"kind": "built", "name": "extremes", **builders()["extremes"].defaults(name, config)}


def make_pair(spec: Mapping[str, Any], target: Trained) -> Pair:
    """The pair of a description, checked: two data sets that differ in one record as the relation says."""
    kind = spec.get("kind")
    if kind == "file":
        read = read_pair(spec)
        return Pair(read.features, read.labels, read.neighbours, read.canary, None)
    if kind != "built":
        raise DomainError(f"pair kind = {kind} is outside its domain: file or built")
    builder = named(builders(), "pair", str(spec.get("name")))
    name, config = _subject(target)
    if builder.algorithms and name not in builder.algorithms:
        raise DomainError(f"pair = {builder.name} is not for this target: it is for {', '.join(builder.algorithms)}")
    given = {key: value for key, value in spec.items() if key not in ("kind", "name")}
    given = {**builder.defaults(name, config), **given}
    parameters = Values(**parse_all(builder.name, builder.parameters, given))
    try:
        if builder.build is not None:
            return checked(builder.build(name, config, parameters))
        assert builder.fit is not None
        return checked(builder.fit(target, parameters))
    except OverflowError as error:  # parameters are exact, data sets are doubles
        told = ", ".join(f"{key} = {shown(value)}" for key, value in given.items())
        raise DomainError(f"{told} is outside the domain of {builder.name}: doubles ({error})") from None


def checked(pair: Pair) -> Pair:
    """The same pair, or a DomainError unless it is one of neighbours."""
    for features, labels in zip(pair.features, pair.labels, strict=True):
        check_dataset(features, labels)
    place = differing(pair.features, pair.labels, pair.neighbours)
    if pair.canary is not None and pair.canary != place:
        raise DomainError(f"canary = {pair.canary} is not the record that differs, which is {place}")
    return pair


def _subject(target: DescribedTarget) -> tuple[str, Values]:
    """The name and configuration of an algorithm of ours; empty for any other target."""
    spec = target.spec()
    if spec.get("kind") != "algorithm":
        return "", Values()
    return str(spec["name"]), algorithm(str(spec["name"])).parse(spec["config"])
