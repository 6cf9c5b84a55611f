"""What an audit trains: a registered algorithm, anybody's Python function, or a command that speaks JSON lines.

A target is made from a JSON object, its spec, in any process, and the spec holds all that determines its releases:

- `{"kind": "algorithm", "name": ..., "config": {...}}`: an algorithm of `dp-oracle algorithms`, decimals as text;
- `{"kind": "function", "path": "pkg.mod:fn" or "file.py:fn", "batched": bool, "timeout": seconds, "memory": MB}`;
- `{"kind": "command", "command": "prog ...", "timeout": seconds, "memory": MB}`;
- `{"kind": "literal", "name": ..., "config": {...}}`: what a document prints and is wrong (`empirical.audits.literal`);
- `{"kind": "adversary", "contraction": ..., "batches": ..., "epochs": ..., "sensitivity": ..., "batch_position":
  ...}`: the worst losses of a hidden state (`empirical.pairs.adversaries`), for the pair that is built as `zoned`.

Functions and commands run in a process of their own (`foreign`), and their specs carry the sha256 of the
source files, so that a campaign is never continued with other code. A release is what the target gives away: an array
for each model. Whatever cannot be a release is a TargetError that says why, and an audit then is INVALID; it never has
an epsilon.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from empirical.audits.foreign.foreign import TrainingCommand, TrainingFunction
from empirical.audits.foreign.releases import check_releases
from empirical.audits.literal import LiteralTarget, trained
from empirical.pairs.adversaries import ZonedDescent
from oracle.core.algorithm import Values
from oracle.core.domain import shown
from oracle.core.errors import DomainError
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

Array = NDArray[np.float64]


class AuditTarget(Protocol):
    """What can be audited."""

    @property
    def name(self) -> str:
        """What tables and messages call it."""

    def spec(self) -> dict[str, Any]:
        """The JSON object from which `make_target` makes an equal target."""

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the tape's models release, shape [tape.models, ...] and finite; otherwise a TargetError says why."""


class AlgorithmTarget:
    """A registered algorithm, trained by its batched twin."""

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.algorithm = algorithm(name)
        if self.algorithm.deterministic:
            raise DomainError(
                f"target = {name} is outside its domain: a randomised algorithm (it is deterministic: what it releases "
                "is a function of the data, and no audit can bound its epsilon)"
            )
        self.config: Values = self.algorithm.parse(config)
        self.name = name
        self._given = dict(config)
        self._shape: tuple[int, ...] | None = None

    def spec(self) -> dict[str, Any]:
        """The algorithm's name and configuration."""
        return {"kind": "algorithm", "name": self.name, "config": self._given}

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """The batched training's releases; an error of the algorithm itself is told as it is."""
        released = trained(self.name, lambda: self.algorithm.train_batched(features, labels, self.config, tape))
        check_releases(self.name, released, models=tape.models, entry_shape=self._shape)
        self._shape = released.shape[1:]
        return released


def make_target(spec: Mapping[str, Any]) -> AuditTarget:
    """The target of a spec, in any process; a DomainError where the spec is no target's."""
    given = dict(spec)
    kind = given.pop("kind", None)
    makers: dict[str, Callable[..., AuditTarget]] = {
        "algorithm": AlgorithmTarget, "function": TrainingFunction, "command": TrainingCommand,
        "literal": LiteralTarget, "adversary": ZonedDescent.of,
    }
    if kind not in makers:
        raise DomainError(f"kind = {shown(kind)} is outside its domain: one of {', '.join(makers)}")
    maker = makers[kind]
    keys = inspect.signature(maker).parameters
    unknown = [name for name in given if name not in keys]
    missing = [name for name, key in keys.items() if key.default is key.empty and name not in given]
    if unknown or missing:
        told = f"has no {', '.join(map(shown, unknown))}" if unknown else f"needs {', '.join(missing)}"
        raise DomainError(f"the spec of a target of kind {kind} {told}; it takes {', '.join(keys)}")
    return maker(**given)
