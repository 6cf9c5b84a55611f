"""From the words of the `audit` command to a plan: which target, which pair of data sets, which estimator.

A registered algorithm takes its parameters from a TOML file (decimals stay exact). The file may also describe the pair:
`records` and `dimension` at the top, and a table `[pair]` with the name of a builder and its parameters. Options of the
command go before the file, and the file before the builder's own defaults.

A foreign target has no known domain, so that the command must tell it, and the builder `extremes` puts its canary at
the ends: the longest feature vector and the ends of the labels' range, opposite on the two sides. The defaults are 20
records, 4 features, feature vectors of norm at most 1 and labels in [0, 1].
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from empirical.neighbours import builders, default_pair, make_pair
from empirical.pair_files import file_spec
from empirical.targets import Target, make_target
from oracle.errors import DomainError
from oracle.registry import algorithm, named

SIZES = ("records", "dimension")


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
class Described:
    """A target, and what its configuration file says of the pair."""

    target: Target
    pair: Mapping[str, Any] = field(default_factory=dict)


def describe_algorithm(name: str, config: Path) -> Described:
    """A registered algorithm with the parameters of a TOML file."""
    item = algorithm(name)
    given = _toml(config)
    pair = given.pop("pair", {})
    if not isinstance(pair, dict):
        raise DomainError(f"pair = {pair} in {config} is outside its domain: a table")
    own = {parameter.name for parameter in item.parameters}
    for size in SIZES:
        if size in given and size not in own:
            pair = {size: given.pop(size), **pair}
    return Described(make_target({"kind": "algorithm", "name": name, "config": given}), pair)


def pair_spec(described: Described, words: PairWords) -> dict[str, Any]:
    """The JSON object of the pair that is audited; it is made once, so that a wrong one is told before any training."""
    if words.file is not None:
        clash = [name for name in words.parameters() if name != "neighbours"]
        if clash or words.builder is not None:
            raise DomainError(f"pair = {words.file} is a file: it takes no {', '.join(clash or ['canary'])}")
        return file_spec(words.file, words.neighbours)
    given = {**described.pair, **words.parameters()}
    name = words.builder or given.pop("name", None)
    default = default_pair(described.target) if name is None else {}
    name = name or default["name"]
    known = {parameter.name for parameter in named(builders(), "canary", str(name)).parameters}
    relation = given.get("neighbours")
    if "neighbours" not in known:  # the builder knows one relation only: that of the algorithm's guarantee
        given.pop("neighbours", None)
    spec = {**default, "kind": "built", "name": name, **given}
    pair = make_pair(spec, described.target)
    if relation is not None and pair.neighbours != relation:
        raise DomainError(
            f"neighbours = {relation} is outside its domain: {name} makes neighbours by {pair.neighbours}, as the "
            "guarantee of the algorithm has them"
        )
    return spec


def best_estimator(spec: Mapping[str, Any], target: Target) -> str:
    """The estimator for a pair where none is asked for: the Gaussian one only where the law is Gaussian by theory."""
    law = make_pair(spec, target).law
    return "gdp" if law is not None and law.gaussian else "clopper-pearson"


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)  # decimals stay exact
    except OSError as error:
        raise DomainError(f"config = {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DomainError(f"config = {path} is no TOML file: {error}") from None
