"""An audit as a call of Python: `dp_oracle.audit`, which takes what `dp-oracle audit` takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from empirical.audits.audit import Audit, run
from empirical.audits.plan_files import PairWords, TargetWords, make_plan
from oracle.core.domain import Number, positive_integer, shown
from oracle.core.errors import DomainError
from oracle.running.isolated import MEMORY, TIMEOUT


def audit(
    target: str | Callable[..., Any], /, *, config: Mapping[str, Any] | str | Path | None = None,
    epsilon: Number | None = None, delta: Number = "1e-5", batched: bool = False, pair: str | Path | None = None,
    canary: str | None = None, neighbours: str | None = None, records: int | None = None, dimension: int | None = None,
    feature_norm: Number | None = None, labels: tuple[Number, Number] | None = None, budget: int | None = None,
    confidence: float | None = None, estimator: str | None = None, attacks: Sequence[str] | None = None, seed: int = 0,
    shard: int | None = None, timeout: float = TIMEOUT, memory: int = MEMORY, store: str | Path | None = None,
    workers: int = 1,
) -> Audit:
    """A lower confidence bound on the epsilon of what a training releases, held against the claimed one.

    `target` is the name of an algorithm, whose `config` is a mapping of its keys or a TOML file (by default that of its
    own audit); or a function, itself or as "pkg.mod:fn" or "file.py:fn", with a claimed `epsilon`: it is called as
    fn((features, labels), seed), or with `batched` as fn((features, labels), seeds), in a process of its own.

    `records`, `dimension`, `feature_norm` and `labels` are the domain of its data, from which the two neighbouring data
    sets are built; `pair` is an npz file of X0, y0, X1, y1 in their place, `canary` the name of one way to build them.
    `budget` is the number of models a data set, of which some are held out to choose the attack.

        >>> import dp_oracle
        >>> found = dp_oracle.audit("output-perturbation", budget=2000)
        >>> found.verdict, 1 < found.epsilon_lower < found.claimed < 3
        ('CONSISTENT', True)
        >>> dp_oracle.audit("output-perturbation", epsilon="0.5", budget=2000).verdict
        'VIOLATION'

    A target that gives nothing to judge is INVALID, and `reason` says why. The same seed gives the same result; with a
    `store`, an SQLite file, finished work is kept there and never done again.
    """
    positive_integer("workers").parse(workers)
    options = {
        "claimed": _text(epsilon), "delta": str(delta), "budget": budget, "confidence": confidence, "seed": seed,
        "estimator": estimator, "shard": shard, "attacks": None if attacks is None else _names(attacks),
    }
    carry_out = functools.partial(run, store=None if store is None else Path(store), workers=workers)
    plan = make_plan(
        TargetWords(
            target if isinstance(target, str) else path_of(target), None,
            Path(config) if isinstance(config, str) else config, batched, timeout, memory,
        ),
        PairWords(
            None if pair is None else Path(pair), canary, neighbours, records, dimension, _text(feature_norm),
            None if labels is None else (str(labels[0]), str(labels[1])),
        ),
        {name: value for name, value in options.items() if value is not None},
        carry_out=carry_out,
    )
    return carry_out(plan)


def path_of(function: Callable[..., Any]) -> str:
    """How another process finds a function: `pkg.mod:fn` in a package, otherwise `file.py:fn`."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not callable(function) or not isinstance(name, str) or not isinstance(module, str):
        raise DomainError(f"target = {shown(function)} is outside its domain: an algorithm's name, or a function")
    try:
        file = inspect.getsourcefile(function)
    except TypeError:  # a built-in function
        file = None
    if "<" in name or file is None or not Path(file).is_file():
        raise DomainError(
            f"target = {name} cannot be found by another process: expected a function at the top of a file, "
            "with a name of its own (no lambda, none inside another function, none typed in at a prompt)"
        )
    return f"{module}:{name}" if "." in module else f"{Path(file).resolve()}:{name}"


def _text(value: Number | None) -> str | None:
    return None if value is None else str(value)


def _names(attacks: Sequence[str]) -> tuple[str, ...]:
    if isinstance(attacks, str):
        raise DomainError(f"attacks = {shown(attacks)} is a word; expected a list of words")
    return tuple(dict.fromkeys(attacks))
