"""What a training algorithm is: one record with its keys, its two implementations, and what may be proved of it.

A configuration is a set of keys from the vocabulary, the same for a plan, an audit, an example file and Python:

    parameters   what every configuration has
    training     what only a training needs (a loss, a start); a plan may give them
    setting      what only a plan must say, since a training knows it (the number of records, what is released)
    stated       what a plan may state of losses or of an implementation, for theorems that ask; absent is unknown

`facts` derives stated keys from the others (the smoothness of a named loss), for plans and trainings alike; `trained`
says what our own training makes true besides, so that its guarantee needs no statements. Where `noise_on_mean` is a
key, `noise_multiplier` may be given in its place: noise_on_mean = noise_multiplier * clip_norm / batch_size.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from oracle.core import extras, hypotheses, records, vocabulary
from oracle.core.domain import Parameter, parse_all, shown, unknown
from oracle.core.errors import DomainError, OracleError
from oracle.core.hypotheses import HYPOTHESES, ROUNDED

if TYPE_CHECKING:
    import torch

    from oracle.core.torch_twin import Twin

Values = SimpleNamespace
"""Parsed parameters by name: exact Fractions and ints on the certified path, arrays on the fast one."""



@dataclass(frozen=True)
class Condition:
    """How a configuration decides a hypothesis of a bound; `holds` is None where the configuration does not say.

    A hypothesis with several conditions is met where all of them are. `words` are empty where the condition is the
    hypothesis itself, whose sentence stands with it and nowhere else.
    """

    decides: str
    holds: Callable[[Values], bool | None]
    words: str = ""
    rounded: Callable[[Values], bool] = lambda config: False

    def __post_init__(self) -> None:
        hypotheses.named("a condition", (self.decides,))

    @property
    def text(self) -> str:
        """What is to hold, in words."""
        return self.words or HYPOTHESES[self.decides].words

    def status(self, config: Values) -> str:
        """Whether the configuration meets it."""
        return ROUNDED if self.rounded(config) else hypotheses.status(self.holds(config))


@dataclass(frozen=True)
class Guarantee:
    """A bound that may hold for an algorithm; `parameters` is None where a key that it needs is not given.

    `conditions` decide every hypothesis of the bound, and nothing else.
    """

    bound: str
    words: str
    parameters: Callable[[Values], Mapping[str, Any] | None]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class Algorithm:
    """A training algorithm: its keys, a literal reference, a batched torch sibling on the same tape, its guarantees.

    `document` says where it stands in the documents, `released` what leaves it, `neighbours` the relation it is proved
    for ("any": the configuration says). An algorithm that is only planned has no `reference` and no `batched`.
    `batched` is "module:twin", loaded only when called, so that `import oracle` needs no torch. `check` is a
    DomainError unless the data fit the configuration. `reach` is log2 of how far the weights may go by a configuration
    on so many records, whatever these are (`records.reach`); None where it says nothing. `step` is log2 of the largest
    number that a step computes, by its configuration, of weights of 2^room, for trainings that cut their weights to the
    room (`records.FARTHEST`), since the data decide how far these go. `risks` are bounds on how good
    its output is. `gaussian_release` says that for losses with an affine gradient the released law is exactly Gaussian,
    so that an audit may convert by GDP. A `deterministic` one reads nothing of the tape: all models are equal.

    Both implementations take what `records` makes of the data: see there for what may be given, and for what becomes of
    records too large to compute with.
    """

    name: str
    document: str
    summary: str
    parameters: tuple[Parameter, ...]
    released: str
    neighbours: str
    source: tuple[str, ...]
    training: tuple[Parameter, ...] = ()
    setting: tuple[Parameter, ...] = ()
    stated: tuple[Parameter, ...] = ()
    facts: Callable[[Values], Mapping[str, Any]] = lambda config: {}
    trained: Callable[[Values], Mapping[str, Any]] = lambda config: {}
    guarantees: tuple[Guarantee, ...] = ()
    risks: tuple[Guarantee, ...] = ()
    reference: Callable[..., Any] | None = None
    batched: str | None = None
    check: Callable[..., Any] | None = None
    reach: Callable[[Values, int], float] | None = None
    step: Callable[[Values, int], float] = lambda config, room: -np.inf
    gaussian_release: Callable[[Values], bool] = lambda config: False
    deterministic: bool = False

    def __post_init__(self) -> None:
        vocabulary.check(f"algorithm {self.name}", self.keys)
        twice = {key.name for key in self.keys if sum(other.name == key.name for other in self.keys) > 1}
        if twice:
            raise OracleError(f"algorithm {self.name} has {', '.join(sorted(twice))} among its keys twice")
        if self.reference is not None:
            object.__setattr__(self, "reference", self._admitting(getattr(self.reference, "literal", self.reference)))

    @property
    def keys(self) -> tuple[Parameter, ...]:
        """All keys that a configuration may have."""
        return (*self.parameters, *self.training, *self.setting, *self.stated)

    @property
    def can_train(self) -> bool:
        """Whether it is implemented, and not only planned."""
        return self.reference is not None

    def parse(self, given: Mapping[str, Any]) -> Values:
        """The exact configuration of a training, or a DomainError that names key, value and domain."""
        self.require_training()
        return Values(**parse_all(self.name, (*self.parameters, *self.training), self._with_noise(given)))

    def for_training(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a plan that a training takes; a DomainError where the plan says what our training does not do."""
        others = {key.name: key for key in (*self.setting, *self.stated, vocabulary.claimed_epsilon)}
        kept = {name: value for name, value in given.items() if name not in others}
        if len(kept) == len(given):
            return kept
        made = {"released": self.released, "neighbours": self.neighbours, **self.trained(self.parse(kept))}
        for name, does in made.items():
            if name in given and name in others and does != "any" and others[name].parse(given[name]) != does:
                raise DomainError(f"{name} = {shown(given[name])} is not what the training of {self.name} does: {does}")
        return kept

    def parse_plan(self, given: Mapping[str, Any]) -> Values:
        """The exact configuration of a plan, absent keys None, with what follows from it; or a DomainError."""
        optional = (*self.training, *self.stated, vocabulary.claimed_epsilon)
        named = self._with_noise(given)
        known = [key.name for key in (*self.keys, vocabulary.claimed_epsilon)]
        for name in named:
            if name not in known:
                raise unknown(self.name, name, named[name], known)
        wanted = (*self.parameters, *self.setting, *(key for key in optional if key.name in named))
        return self._with_facts(parse_all(self.name, wanted, dict(named)))

    def as_trained(self, config: Values, *, records: int, delta: Fraction) -> Values:
        """The plan of a training on that many records: its configuration, and all that the training makes true.

        `records` is how many there are, which the configuration's own dataset_size may contradict; a plan has no such
        value.
        """
        self.require_training()
        known: dict[str, Any] = {"dataset_size": records, "delta": delta, "released": self.released}
        if self.neighbours != "any":
            known["neighbours"] = self.neighbours
        setting = {key.name: known[key.name] for key in self.setting if key.name in known}
        return self._with_facts({
            "records": records, "delta": delta, **setting, **vars(config), **self.trained(config)
        })

    def require_training(self) -> None:
        """A DomainError where the algorithm is only planned."""
        if not self.can_train:
            raise DomainError(f"algorithm = {self.name} can be planned, but is not implemented here: it has no twin")

    def train_batched(
        self, features: Any, labels: Any, config: Values, tape: Any, *, device: str | torch.device = "cpu",
        dtype: torch.dtype | str | None = None, recorder: Any = None,
    ) -> torch.Tensor:
        """What all the tape's models release, [M, ...], trained at once on the device (imports torch)."""
        self.require_training()
        assert self.batched is not None
        module, name = self.batched.split(":")
        with extras.told():
            twin: Twin = getattr(importlib.import_module(module), name)  # told: by the string in the record
        data = self._admitted(features, labels, config, tape)
        from oracle.core.tape import Tape  # here and below: it loads numpy's generators, which no plan needs

        if not isinstance(tape, Tape):
            tape = Tape(0)  # nothing of it is read
        released = twin.train(*data, config, tape, fit=self._fit(config), device=device, dtype=dtype, recorder=recorder)
        ends = released.aminmax()  # the least and the largest: numbers that are not finite are among them
        records.check_release(self.name, finite=bool(ends.min.isfinite() & ends.max.isfinite()))
        return released

    def _admitting(self, literal: Callable[..., Any]) -> Callable[..., Any]:
        """The literal training on whatever may be given as data."""

        @functools.wraps(literal)
        def reference(features: Any, labels: Any, config: Values, tape: Any, recorder: Any = None) -> Any:
            data = self._fit(config)(*self._admitted(features, labels, config, tape), single=False)
            released = literal(*data, config, tape, recorder)
            records.check_release(self.name, finite=bool(np.isfinite(released).all()))
            return released

        reference.literal = literal  # type: ignore[attr-defined]  # of a record that is made of this one
        return reference

    def _admitted(self, features: Any, labels: Any, config: Any, tape: Any) -> tuple[records.Array, records.Array]:
        """The data as arrays of float64, or a DomainError where they are none or do not fit the configuration."""
        if any(not hasattr(config, key.name) for key in (*self.parameters, *self.training)):
            raise DomainError(f"config = {shown(config)} is outside its domain: what parse makes of {self.name}'s keys")
        from oracle.core.tape import Tape

        if not isinstance(tape, Tape) and not self.deterministic:
            raise DomainError(f"tape = {shown(tape)} is outside its domain: a Tape, which a seed makes")
        x, y = records.numbers("features", features), records.numbers("labels", labels)
        records.check(x, y)
        records.check_numbers((*self.parameters, *self.training), config, single=False)
        if self.check is not None:
            self.check(x, y, config)
        return x, y

    def _fit(self, config: Values) -> Callable[..., tuple[records.Array, records.Array]]:
        """What makes the data fit a precision: where there is something to protect, each record by itself.

        There the configuration must fit it, too.
        """
        if not self.guarantees:
            return records.castable

        def fit(
            features: records.Array, labels: records.Array, *, single: bool, cast: bool = False
        ) -> tuple[records.Array, records.Array]:
            def far(some: Values) -> float:
                return -np.inf if self.reach is None else self.reach(some, len(features))

            keys = (*self.parameters, *self.training)
            records.check_numbers(keys, config, single=single or cast)
            records.check_room(self.name, keys, config, far, self.step, single=single)
            return records.saturated(features, labels, single=single)

        return fit

    def _with_facts(self, values: Mapping[str, Any]) -> Values:
        absent = {key.name: None for key in (*self.keys, vocabulary.claimed_epsilon)}
        config = Values(**{**absent, **values})
        derived = {name: value for name, value in self.facts(config).items() if getattr(config, name) is None}
        return Values(**{**vars(config), **derived})

    def _with_noise(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The given keys, with the noise under the name that this algorithm has for it."""
        keys = {key.name: key for key in self.keys}
        named = dict(given)
        reads = "noise_multiplier" not in keys and {"noise_on_mean", "clip_norm"} <= keys.keys()
        if "noise_multiplier" not in named or not reads:
            return named
        if "noise_on_mean" in named:
            raise DomainError(
                f"noise_multiplier = {named['noise_multiplier']} and noise_on_mean = {named['noise_on_mean']} are both "
                f"given; {self.name} takes one of them"
            )
        factors = ("clip_norm", "batch_size" if "batch_size" in keys else "dataset_size")
        if any(name not in named for name in factors):
            raise DomainError(f"{self.name} needs {' and '.join(factors)} to read noise_multiplier")
        clip_norm, size = (keys[name].rational(named[name]) for name in factors)
        named["noise_on_mean"] = vocabulary.noise_multiplier.rational(named.pop("noise_multiplier")) * clip_norm / size
        return named


def said(decides: str, key: str, words: str = "") -> Condition:
    """A condition that the configuration states itself, by a flag."""
    return equals(decides, key, "true", words)


def exactly(decides: str, key: str, words: str = "") -> Condition:
    """The same of something that a training in floating point cannot do: its flag is ROUNDED."""
    return replace(said(decides, key, words), rounded=lambda config: getattr(config, key) == ROUNDED)


def equals(decides: str, key: str, value: str, words: str = "") -> Condition:
    """A condition that a key has one value."""
    return Condition(
        decides, lambda config: None if getattr(config, key) is None else getattr(config, key) == value, words
    )


def given(decides: str, *keys: str, words: str = "") -> Condition:
    """A condition that the configuration states itself, by numbers under these keys."""
    return Condition(
        decides, lambda config: None if None in (getattr(config, key) for key in keys) else True, words
    )


def by_design(*names: str) -> tuple[Condition, ...]:
    """Hypotheses that the algorithm meets by what it is, whatever its keys say."""
    return tuple(Condition(name, lambda config: True) for name in names)


def towards(decides: str, *conditions: Condition) -> tuple[Condition, ...]:
    """The same conditions, where another hypothesis depends on them."""
    return tuple(replace(condition, decides=decides, words=condition.text) for condition in conditions)
