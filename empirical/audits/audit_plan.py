"""The plan of an audit: all that determines its result, as plain JSON, and the shards into which its models are cut.

A plan is hashed, and so is the part of it that determines its models: what is trained is kept under the second hash, so
that a changed plan never meets old models, but one that only judges the same models otherwise does. The models are
numbered on one tape: data set 0 has the models 0, ..., budget - 1, data set 1 the next `budget` ones; on
each side the first ones (the share `held`) select attack and threshold, and the others judge. So no two of the four
groups share a model, and a model's draws do not depend on how the work is cut or where it runs.

The shard size is part of the plan: the models are the same for every size, but a batched training may round the last
bits differently in a smaller batch, and a sequential audit looks after every shard.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from empirical.attacks.attacks import ATTACKS, LEAST_MODELS
from oracle.core.domain import Parameter
from oracle.core.errors import DomainError
from oracle.core.plain import by_fields
from oracle.core.tape import Tape

FORMAT = "dp-oracle-plan/1"
PHASES = ("selection", "evaluation")
EPSILON = Parameter("epsilon", low=Fraction(0), high=Fraction(10**9))  # no bound comes near; a double must hold it
DELTA = Parameter("delta", low=Fraction(0), high=Fraction(1), high_open=True)
"""What may be claimed: at delta = 0 pure privacy, which only the distribution-free estimators can judge."""
TRAINING = ("target", "pair", "budget", "held", "seed", "shard")
"""The parts of a plan that determine its models and how they are cut into shards."""


@dataclass(frozen=True, order=True)
class Shard:
    """Models first, ..., first + models - 1 of the plan's tape, trained on one of the two data sets."""

    phase: str
    index: int
    side: int
    first: int
    models: int

    def tape(self, seed: int) -> Tape:
        """The draws of the shard's models."""
        return Tape(seed, self.models, self.first)


@dataclass(frozen=True)
class AuditPlan:
    """All that determines an audit's result: target, pair, claim, budget, attacks, estimator and seed."""

    target: Mapping[str, Any]
    pair: Mapping[str, Any]
    delta: str = "1e-5"
    claimed: str | None = None
    budget: int = 100_000
    held: float = 0.2
    confidence: float = 0.95
    estimator: str = "clopper-pearson"
    attacks: tuple[str, ...] = tuple(ATTACKS)
    seed: int = 0
    shard: int = 20_000

    def __post_init__(self) -> None:
        DELTA.rational(self.delta)
        if self.claimed is not None:
            EPSILON.rational(self.claimed)
        for name, value, least in (("budget", self.budget, 100), ("seed", self.seed, 0), ("shard", self.shard, 1)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise DomainError(f"{name} = {value} is outside its domain: an integer >= {least}")
        for name, share in (("held", self.held), ("confidence", self.confidence)):
            if not 0 < share < 1:
                raise DomainError(f"{name} = {share} is outside its domain: a real number in (0, 1)")
        object.__setattr__(self, "attacks", tuple(self.attacks))
        unknown = [name for name in self.attacks if name not in ATTACKS]
        if unknown or not self.attacks:
            named = ", ".join(unknown) or "none"
            raise DomainError(f"attacks = {named} is outside its domain: some of {', '.join(ATTACKS)}")
        try:
            self.canonical()
        except (TypeError, ValueError) as error:
            raise DomainError(f"target and pair of a plan are JSON objects: {error}") from None

    @property
    def selection(self) -> int:
        """How many models of each side select attack and threshold."""
        return min(self.budget - 1, max(LEAST_MODELS, math.ceil(self.held * self.budget)))

    def shards(self, phase: str) -> tuple[Shard, ...]:
        """The shards of a phase in the order in which they count: both sides of one index before the next index."""
        start, end = (0, self.selection) if phase == "selection" else (self.selection, self.budget)
        return tuple(
            Shard(phase, index, side, side * self.budget + first, min(self.shard, end - first))
            for index, first in enumerate(range(start, end, self.shard))
            for side in (0, 1)
        )

    def to_json(self) -> dict[str, Any]:
        """The plan as a JSON object."""
        return by_fields(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> AuditPlan:
        """The plan of a JSON object; an unknown key is a DomainError."""
        known = {field.name for field in fields(cls)}
        for name in given:
            if name not in known:
                raise DomainError(f"{name} is no part of a plan; there are {', '.join(sorted(known))}")
        for name in ("target", "pair"):
            if not isinstance(given.get(name), Mapping):
                raise DomainError(f"{name} = {given.get(name)} is outside its domain: a JSON object")
        return cls(**{**given, "attacks": tuple(given.get("attacks", ATTACKS))})

    def canonical(self) -> str:
        """The one JSON text of the plan."""
        return _text(self.to_json())

    def hash(self) -> str:
        """The name of the plan: 32 hexadecimal digits of BLAKE2b of its canonical text."""
        return _hash(self.canonical())

    def models_hash(self) -> str:
        """The name of the plan's models, which it shares with plans that only attack or judge them otherwise."""
        return _hash(_text({name: value for name, value in self.to_json().items() if name in TRAINING}))


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **value}, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
