"""From the words of the `audit` command to a plan: which target, which pair of data sets, which estimator.

A registered algorithm takes its parameters from a TOML file (decimals stay exact), or from its default audit. The file
may also describe the pair: `records` and `dimension` at the top, and a table `[pair]` with the name of a builder and
its parameters. Options of the command go before the file, and the file before the builder's own defaults.

A foreign target has no known domain, so that the command must tell it: by default 20 records, 4 features, feature
vectors of norm at most 1 and labels in [0, 1]. Which of the builders for any target it suffers from most is found out
by small audits (`empirical.audits.epsilon_search`), unless one is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from empirical.audits.audit import Audit, run
from empirical.audits.audit_plan import AuditPlan
from empirical.audits.campaigns import DEFAULT
from empirical.audits.epsilon_search import worst_pair
from empirical.audits.foreign.foreign import Foreign
from empirical.audits.targets import AlgorithmTarget, AuditTarget, make_target
from empirical.audits.tightness import estimators
from empirical.pairs.pair import builders, default_pair, make_pair
from empirical.pairs.pair_files import file_spec
from oracle.core.domain import shown, word
from oracle.core.errors import DomainError
from oracle.core.reading import read_toml
from oracle.core.registry import algorithm, named
from oracle.running.isolated import MEMORY, TIMEOUT

FOREIGN_SHARD = 1000
"""Models of a unit of work of a foreign target: it may be slow, and what a kill loses should be little."""


@dataclass(frozen=True)
class TargetWords:
    """What the command line says of the target."""

    target: str | None = None
    command: str | None = None
    config: Path | Mapping[str, Any] | None = None
    batched: bool = False
    timeout: float = TIMEOUT
    memory: int = MEMORY


@dataclass(frozen=True)
class PairWords:
    """What the command line says of the pair; None where it says nothing."""

    file: Path | None = None
    builder: str | None = None
    neighbours: str | None = None
    records: int | None = None
    dimension: int | None = None
    feature_norm: str | None = None
    labels: tuple[str, str] | None = None

    def parameters(self) -> dict[str, Any]:
        """The builder's parameters that were given."""
        low, high = self.labels if self.labels is not None else (None, None)
        given = {
            "records": self.records, "dimension": self.dimension, "feature_norm": self.feature_norm, "label_low": low,
            "label_high": high, "neighbours": self.neighbours,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class DescribedAudit:
    """A target, what its file or its default audit says of the pair, and options of a plan that suit it."""

    target: AuditTarget
    pair: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def make_plan(
    target: TargetWords, pair: PairWords, options: Mapping[str, Any], *, carry_out: Callable[[AuditPlan], Audit] = run
) -> AuditPlan:
    """The plan of an audit; `options` are fields of a plan, which go before those that suit the target.

    `carry_out` runs the small audits that search for a pair, where one is searched for.
    """
    described = describe(target)
    if options.get("claimed") is None and not _has_guarantee(described.target):
        raise DomainError(f"epsilon is needed: {described.target.name} has no guarantee of its own to be held to")
    spec = pair_spec(described, pair)
    plan = AuditPlan(target=described.target.spec(), pair=spec, **{**described.options, **options})
    if "estimator" not in options:
        plan = replace(plan, estimator=estimators(plan)[0])
    if isinstance(described.target, Foreign) and pair.file is None and pair.builder is None:
        domain = builders()[spec["name"]].parameters
        names = [item.name for item in builders().values() if not item.algorithms and item.parameters == domain]
        first = [spec["name"], *(name for name in names if name != spec["name"])]
        plan = replace(plan, pair=worst_pair(plan, [{**spec, "name": name} for name in first], carry_out))
        described.target.close()
    return plan


def _has_guarantee(target: AuditTarget) -> bool:
    return isinstance(target, AlgorithmTarget) and bool(target.algorithm.guarantees)


def describe(words: TargetWords) -> DescribedAudit:
    """The target that the words name."""
    if (words.target is None) == (words.command is None):
        raise DomainError("an audit needs a TARGET or --cmd, and not both")
    foreign = words.command is not None or ":" in str(words.target)
    if words.batched and (words.command is not None or not foreign):
        raise DomainError(f"batched is for a function, pkg.mod:fn or file.py:fn, not for {words.target or 'a command'}")
    if foreign and words.config is not None:
        told = shown(words.config)
        raise DomainError(f"config = {told} is for a registered algorithm, and not for a foreign target")
    if not foreign:
        name = str(words.target)
        if name.endswith(".py"):
            raise DomainError(f"target = {name} is outside its domain: name the function, too, {name}:fn")
        return _default(name) if words.config is None else _configured(name, words.config)
    limits = {"timeout": words.timeout, "memory": words.memory}
    if words.command is not None:
        spec = {"kind": "command", "command": words.command, **limits}
    else:
        spec = {"kind": "function", "path": words.target, "batched": words.batched, **limits}
    return DescribedAudit(make_target(spec), options={"shard": FOREIGN_SHARD})


def _default(name: str) -> DescribedAudit:
    """A registered algorithm as its default audit has it."""
    algorithm(name)  # an unknown name is told apart from one without a default
    for plan in DEFAULT.values():
        if plan.target.get("name") == name:
            pair = {key: value for key, value in plan.pair.items() if key != "kind"}
            return DescribedAudit(make_target(plan.target), pair)
    raise DomainError(f"config is needed: {name} has no default audit")


def _configured(name: str, config: Path | Mapping[str, Any]) -> DescribedAudit:
    """A registered algorithm with the keys of a TOML file, or of a mapping like it; the file of a plan serves, too."""
    item = algorithm(name)
    own = {parameter.name for parameter in item.keys}
    read = read_toml(config, name="config") if isinstance(config, Path) else _plain(config)
    given = {key: word(value) for key, value in read.items()}
    if given.pop("algorithm", name) != name:
        raise DomainError(f"algorithm in {shown(config)} is outside its domain: {name}, which is to be audited")
    pair = given.pop("pair", {})
    if not isinstance(pair, dict):
        raise DomainError(f"pair = {shown(pair)} in {shown(config)} is outside its domain: a table")
    for size in ("records", "dimension"):
        if size in given and size not in own:
            pair = {size: given.pop(size), **pair}
    return DescribedAudit(make_target({"kind": "algorithm", "name": name, "config": item.for_training(given)}), pair)


def pair_spec(described: DescribedAudit, words: PairWords) -> dict[str, Any]:
    """The JSON object of the pair that is audited; a wrong one is told before any training."""
    given = words.parameters()
    if words.file is not None:
        relation = given.pop("neighbours", None)
        if given or words.builder is not None:
            raise DomainError(f"pair = {words.file} is a file: it takes no {', '.join(given) or 'canary'}")
        return file_spec(words.file, relation)
    given = {**described.pair, **given}
    name = words.builder or given.pop("name", None)
    given.pop("name", None)
    default = default_pair(described.target) if name is None else {}
    name = name or default["name"]
    relation = given.get("neighbours")
    known = {parameter.name for parameter in named(builders(), "canary", str(name)).parameters}
    if "neighbours" not in known:  # the builder follows the relation of the algorithm's guarantee
        given.pop("neighbours", None)
    spec = {**default, "kind": "built", "name": name, **given}
    made = make_pair(spec, described.target).neighbours
    if relation not in (None, made):
        raise DomainError(f"neighbours = {relation} is outside its domain: {name} makes neighbours by {made} here")
    return spec


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping as JSON has it: a plan is text, and exact numbers are text in it."""
    return {
        name: _plain(value) if isinstance(value, Mapping)
        else str(value) if isinstance(value, (Fraction, Decimal)) else value
        for name, value in values.items()
    }

