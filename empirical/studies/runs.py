"""Carrying out studies: replicates in blocks, wherever there is room, kept as soon as they come; then the judgement.

A block of replicates is a unit of work: it depends on the study's data, its code and its own number, on nothing else,
so that a run gives the same bits on one core, in processes, on a cluster, and in two sittings. Every block is computed
with one thread.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from empirical.studies.levels import level_of
from empirical.studies.outcome import StudyOutcome, held_to_family, judge
from empirical.studies.study import Array, Curve, Number, Study, studies, study
from oracle.core.errors import OracleError
from oracle.running.fingerprint import fingerprint
from oracle.running.places import PATIENCE, Place, place_for
from oracle.running.store import Store

REPLICATES = "replicates"
PILOT = 1_000_003
"""What a pilot adds to the seed of a study: its runs are never those that are judged."""


@dataclass(frozen=True)
class Portion:
    """A block of replicates of a study at one value of its axis; `code` is the fingerprint of what makes them."""

    study: str
    hash: str
    at: int
    first: int
    seed: int
    code: str


@dataclass(frozen=True)
class Advance:
    """How far a run is: portions done of all, processor seconds that they took, and seconds left."""

    done: int
    total: int
    left: float | None


def work(portion: Portion) -> tuple[Array, float] | str:
    """The replicates of a portion and the processor seconds they took; or, in words, why this worker has none."""
    item = study(portion.study)
    if (item.hash, code_of(item)) != (portion.hash, portion.code):
        return "a worker runs other code, or other versions of libraries, than this process"
    runs = item.simulation
    assert runs is not None
    started = time.process_time()
    replicates = range(portion.first, min(portion.first + runs.block, runs.replicates))
    with threadpool_limits(1):  # sums must not depend on how many threads share them; twins see to torch's
        errors = np.asarray(runs.sample(item.spot(runs.at[portion.at]), portion.seed, replicates), dtype=np.float64)
    if errors.ndim == 1:
        errors = np.stack([errors, np.full(len(errors), np.nan)], axis=1)
    if errors.shape != (len(replicates), 2):
        return f"study {item.name} gave errors of shape {errors.shape} for {len(replicates)} replicates"
    return errors, time.process_time() - started


def code_of(item: Study) -> str:
    """The fingerprint of what makes the replicates of a study."""
    assert item.simulation is not None
    return fingerprint(item.simulation.sample.__module__, names={f"{__name__}:Study": [item.name]})


def portions(item: Study, *, pilot: bool = False) -> Iterator[Portion]:
    """The units of work of a study, in order."""
    runs = item.simulation
    if runs is None:
        return
    code, seed = code_of(item), runs.seed + (PILOT if pilot else 0)
    for place in range(len(runs.at)):
        for first in range(0, runs.replicates, runs.block):
            yield Portion(item.name, item.hash, place, first, seed, code)


def carry_out(
    chosen: Mapping[str, Study], *, store: Path | None = None, workers: int = 1, cluster: str | None = None,
    patience: float = PATIENCE, recorded: Mapping[str, float] | None = None, pilot: bool = False,
    progress: Callable[[Advance], None] = lambda _: None,
) -> dict[str, StudyOutcome]:
    """The outcomes of studies by name; finished portions are kept in the store and never computed again.

    `recorded` are the probabilities of the decisions of other studies, by name, which share the family's error.
    """
    for item in chosen.values():
        item.check_premises()
    todo = [portion for item in chosen.values() for portion in portions(item, pilot=pilot)]
    kept = None if store is None else Store(store)
    try:
        with place_for(workers=workers, cluster=cluster, items=len(todo), patience=patience) as place:
            made = _replicates(todo, place, kept, progress)
    finally:
        if kept is not None:
            kept.close()
    others = {name: p for name, p in (recorded or {}).items() if name not in chosen}
    found = {
        name: _outcome(item, made, family=len(chosen) + len(others), pilot=pilot) for name, item in chosen.items()
    }
    return held_to_family(found, others)


def _replicates(
    todo: list[Portion], place: Place, kept: Store | None, progress: Callable[[Advance], None]
) -> dict[Portion, tuple[Array, float]]:
    """Every portion's replicates and seconds: from the store, or as they are made, and then stored."""
    made: dict[Portion, tuple[Array, float]] = {}
    for portion in todo:
        data = None if kept is None else kept.read(REPLICATES, _key(portion), portion.code)
        if data is not None:
            both = np.load(io.BytesIO(data), allow_pickle=False)
            made[portion] = both[:-1], float(both[-1, 0])
    started, before = time.monotonic(), len(made)
    for portion, result in place.run(work, [portion for portion in todo if portion not in made]):
        if isinstance(result, str):
            raise OracleError(result)
        made[portion] = result
        if kept is not None:
            buffer = io.BytesIO()
            np.save(buffer, np.concatenate([result[0], [[result[1], np.nan]]]), allow_pickle=False)
            kept.write(REPLICATES, _key(portion), portion.code, buffer.getvalue())
        each = (time.monotonic() - started) / (len(made) - before)
        progress(Advance(len(made), len(todo), each * (len(todo) - len(made))))
    return made


def _outcome(
    item: Study, made: Mapping[Portion, tuple[Array, float]], *, family: int, pilot: bool
) -> StudyOutcome:
    started = time.process_time()
    runs: dict[Number, Array] = {}
    seconds = 0.0
    if item.simulation is not None:
        parts: dict[int, list[Array]] = {}
        for portion in portions(item, pilot=pilot):
            parts.setdefault(portion.at, []).append(made[portion][0])
            seconds += made[portion][1]
        runs = {item.simulation.at[place]: np.concatenate(arrays) for place, arrays in parts.items()}
    curves: dict[Number, Curve] = {}
    if item.exact is not None:
        curves = {value: item.exact(item.spot(value)) for value in item.grid}
    measured = [value for value in item.grid if value in runs or value in curves]
    levels = [level_of(item, value, runs.get(value), curves.get(value)) for value in measured]
    outcome = judge(item, levels, curves, runs, family=family)
    code = "" if item.simulation is None else code_of(item)
    return replace(outcome, code=code, seconds=seconds + time.process_time() - started)


def _key(portion: Portion) -> str:
    return f"{portion.study}/{portion.hash}/{portion.seed}/{portion.at}/{portion.first}"


def chosen_studies(names: tuple[str, ...], *, everything: bool, full: bool) -> dict[str, Study]:
    """The studies of these names; or all of the default set, and with `full` the dear ones, too."""
    if names:
        return {name: study(name) for name in names}
    return {name: item for name, item in studies().items() if everything and (full or item.tier == "default")}
