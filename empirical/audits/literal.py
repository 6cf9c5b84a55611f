"""Literal variants: what a document prints where that is wrong, to be audited and for nothing else.

The registered algorithms are the corrected ones; some keep a misprint under a name of its own. A variant that is none
of these is a `Literal`: it stands in a module of `theorems`, beside the promise that it breaks. It is no algorithm of
`dp-oracle algorithms`, has no account, and can be reached in one way only, the audit of a target `{"kind": "literal",
"name": "theorems.MODULE:VARIABLE", "config": {...}}`, so that nobody trains with it by mistake.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirical.audits.foreign.releases import as_numbers, check_releases
from oracle.core.algorithm import Values
from oracle.core.domain import Parameter, parse_all, shown
from oracle.core.errors import DomainError, MissingExtraError, TargetError
from oracle.core.extras import missing
from oracle.core.tape import Tape

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Literal:
    """A variant as printed: its parameters, and what the tape's models release on a data set, shape [M, ...]."""

    name: str
    document: str
    summary: str
    parameters: tuple[Parameter, ...]
    releases: Callable[[Array, Array, Values, Tape], Any]

    def parse(self, given: Mapping[str, Any]) -> Values:
        """The exact configuration, or a DomainError."""
        return Values(**parse_all(self.name, self.parameters, dict(given)))


def literal(name: str) -> Literal:
    """The literal variant of that name, `theorems.MODULE:VARIABLE`; its module is loaded here, as a name in a plan."""
    module, _, variable = name.partition(":")
    try:
        ours = module.startswith("theorems.")  # told: as the next line
        found = getattr(importlib.import_module(module), variable, None) if ours else None  # told: by the plan
    except ModuleNotFoundError as error:
        if lacking := missing(error):
            raise lacking from None
        found = None
    if not isinstance(found, Literal):
        raise DomainError(f"literal = {shown(name)} is unknown; expected theorems.MODULE:VARIABLE of a literal variant")
    return found


def trained(name: str, training: Callable[[], Any]) -> Array:
    """What a training of ours releases, as numbers; a DomainError is told as it is, any other as a TargetError."""
    try:
        return as_numbers(training())
    except (DomainError, MissingExtraError):
        raise  # the configuration does not suit the data: the message says which argument; or a library is absent
    except Exception as error:  # it speaks many libraries' errors, and all mean that there is no release
        raise TargetError(f"{name} failed: {type(error).__name__}: {shown(error)}") from error


class LiteralTarget:
    """A literal variant as the target of an audit."""

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.literal = literal(name)
        self.config = self.literal.parse(config)
        self.name = name
        self._given = dict(config)

    def spec(self) -> dict[str, Any]:
        """The variant's name and configuration."""
        return {"kind": "literal", "name": self.name, "config": self._given}

    def releases(self, features: Array, labels: Array, tape: Tape) -> Array:
        """What the tape's models release."""
        released = trained(self.name, lambda: self.literal.releases(features, labels, self.config, tape))
        check_releases(self.name, released, models=tape.models, entry_shape=None)
        return released
