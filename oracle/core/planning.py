"""A training configuration held against the bounds: which apply, under which hypotheses, and what is proved of it.

A `Recipe` knows one algorithm: the keys of its configuration, and the guarantees that may hold for it. A guarantee is a
registered bound, how the configuration becomes its parameters, and the hypotheses under which the bound is a theorem
about the algorithm. A hypothesis is met, not met, or unknown (the configuration does not say); a guarantee is proved
only if all its hypotheses are met. Recipes stand in `oracle.plans`, one file an algorithm.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracle.core.accounting import epsilon_of
from oracle.core.domain import Parameter, Value, choice, parse_all, positive, shown
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError, PrecisionError
from oracle.core.registry import Values, bound, discover, index, named

MET, NOT_MET, UNKNOWN = "met", "not met", "unknown"
PROVED, CONDITIONAL, DOES_NOT_APPLY, UNDECIDED = "PROVED", "CONDITIONAL", "DOES NOT APPLY", "UNDECIDED"


@dataclass(frozen=True)
class Hypothesis:
    """Something a theorem assumes of the algorithm; `holds` is None where the configuration does not say."""

    words: str
    holds: Callable[[Values], bool | None]

    def status(self, config: Values) -> str:
        """Whether the configuration meets it."""
        holds = self.holds(config)
        return UNKNOWN if holds is None else MET if holds else NOT_MET


@dataclass(frozen=True)
class Guarantee:
    """A bound that may hold for an algorithm; `parameters` is None where a key that it needs is not given."""

    bound: str
    words: str
    parameters: Callable[[Values], Mapping[str, Any] | None]
    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class Recipe:
    """An algorithm: the keys of its configuration (absent optional ones are None), and what may be proved of it."""

    algorithm: str
    summary: str
    parameters: tuple[Parameter, ...]
    optional: tuple[Parameter, ...]
    guarantees: tuple[Guarantee, ...]
    source: tuple[str, ...]

    def parse(self, given: Mapping[str, Any]) -> Values:
        """The exact configuration, or a DomainError that names key, value and domain."""
        extra = tuple(parameter for parameter in (*self.optional, CLAIMED) if parameter.name in given)
        unknown = [name for name in given if name not in {p.name for p in (*self.parameters, *self.optional, CLAIMED)}]
        if unknown:
            required, optional = (", ".join(p.name for p in group) for group in (self.parameters, self.optional))
            raise DomainError(
                f"{unknown[0]} = {shown(given[unknown[0]])} is no key of {self.algorithm}; it takes {required}"
                + (f", and optionally {optional}" if optional else "")
            )
        values = parse_all(self.algorithm, (*self.parameters, *extra), dict(given))
        return Values(**{**{parameter.name: None for parameter in (*self.optional, CLAIMED)}, **values})


CLAIMED = positive("claimed_epsilon", "an epsilon to be judged: is it proved?")


@dataclass(frozen=True)
class Judged:
    """A guarantee held against a configuration."""

    guarantee: Guarantee
    status: str
    hypotheses: tuple[tuple[str, str], ...]
    parameters: Mapping[str, str]
    epsilon: Enclosure | None
    delta: Fraction
    reason: str = ""


@dataclass(frozen=True)
class Plan:
    """What is known of one configuration: every guarantee judged, and the best that is proved."""

    recipe: Recipe
    config: Values
    judged: tuple[Judged, ...]

    @property
    def best(self) -> Judged | None:
        """The proved guarantee of the least epsilon; None if nothing is proved."""
        proved = [item for item in self.judged if item.status == PROVED and item.epsilon is not None]
        return min(proved, key=lambda item: item.epsilon.upper.to_fraction(), default=None)  # type: ignore[union-attr]

    @property
    def claim_is_proved(self) -> bool | None:
        """Whether a proved guarantee is at most the claimed epsilon; None without a claim."""
        if self.config.claimed_epsilon is None:
            return None
        best = self.best
        return best is not None and best.epsilon is not None and best.epsilon.certainly_le(self.config.claimed_epsilon)


def flag(name: str, meaning: str = "") -> Parameter:
    """A key that is true or false."""
    return choice(name, "true", "false", meaning=meaning)


def said(words: str, key: str) -> Hypothesis:
    """A hypothesis that the configuration states itself, by a flag."""
    return Hypothesis(words, lambda config: None if getattr(config, key) is None else getattr(config, key) == "true")


def equals(words: str, key: str, value: str) -> Hypothesis:
    """A hypothesis that a key has one value."""
    return Hypothesis(words, lambda config: None if getattr(config, key) is None else getattr(config, key) == value)


@functools.cache
def recipes() -> dict[str, Recipe]:
    """All recipes by the name of their algorithm."""
    return index(discover(Recipe, "oracle.algorithms"), lambda item: item.algorithm)


def read(path: Path) -> tuple[Recipe, Values]:
    """The recipe and the exact configuration of a TOML file; every fault of the file is a DomainError that names it."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise DomainError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DomainError(f"{path} is no TOML file: {error}") from None
    for name, value in given.items():
        if isinstance(value, dict):
            raise DomainError(f"{name} is a table; the keys of a configuration stand at the top of the file")
    if "algorithm" not in given:
        raise DomainError(f"{path} has no key algorithm: one of {', '.join(recipes())}")
    recipe = named(recipes(), "algorithm", str(given.pop("algorithm")))
    return recipe, recipe.parse({name: _plain(value) for name, value in given.items()})


def _plain(value: Any) -> Any:
    """TOML's truth values are the words of a flag."""
    return str(value).lower() if isinstance(value, bool) else value


def judge(recipe: Recipe, config: Values) -> Plan:
    """Every guarantee of the recipe, held against the configuration."""
    return Plan(recipe, config, tuple(_judge(guarantee, config) for guarantee in recipe.guarantees))


def _judge(guarantee: Guarantee, config: Values) -> Judged:
    hypotheses = tuple((item.words, item.status(config)) for item in guarantee.hypotheses)
    found = {status for _, status in hypotheses}
    delta = Fraction(getattr(config, "delta", 0))

    def result(status: str, parameters: Mapping[str, Any], epsilon: Enclosure | None, reason: str = "") -> Judged:
        texts = {name: _text(value) for name, value in parameters.items()}
        needs_delta = bound(guarantee.bound).unit != "epsilon" or "delta" in texts
        return Judged(guarantee, status, hypotheses, texts, epsilon, delta if needs_delta else Fraction(0), reason)

    if NOT_MET in found:
        return result(DOES_NOT_APPLY, {}, None, "a hypothesis is not met")
    parameters = guarantee.parameters(config)
    if parameters is None:
        return result(CONDITIONAL, {}, None, "a key that the bound needs is not given")
    status = CONDITIONAL if UNKNOWN in found else PROVED
    try:
        return result(status, parameters, epsilon_of(guarantee.bound, parameters, delta))
    except DomainError as error:
        return result(DOES_NOT_APPLY, parameters, None, str(error))
    except PrecisionError as error:
        return result(UNDECIDED, parameters, None, str(error))


def _text(value: Value) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
