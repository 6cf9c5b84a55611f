"""Making the league table: every library that is installed is held to the bounds, trainings and auditors it offers.

Each finished part is kept in a store, keyed by the library's version and the settings, under the fingerprint of the
code that asks and judges, the vectors and the expected failures, so that an interrupted run goes on where it was, and a
part is only made anew when something about it changed. The answers are kept apart from what is made of them, under the
fingerprint of the code that asks: new vectors, expectations or rules of judging ask nothing a second time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import util
from pathlib import Path
from typing import Any

from empirical.gate import vector_files
from empirical.gate.adapters import Adapter, installed
from empirical.gate.league.answers import Answers
from empirical.gate.league.bound_rows import Settings, bound_row
from empirical.gate.league.league import AnyRow, row_of
from empirical.gate.league.peer_auditors import AUDITORS, PeerAuditor
from empirical.gate.league.peer_trainings import TRAININGS, PeerTraining
from oracle.core.plain import by_fields, plain
from oracle.running import fingerprint
from oracle.running.pool import Died, require_all, spread
from oracle.running.store import Store

ROWS, ANSWERS = "league rows", "league answers"
_BOUND_ROWS = "empirical.gate.league.bound_rows"
_ASKERS = (_BOUND_ROWS, "empirical.gate.xfail")
"""The modules of the gate that look up a bound by its name: they are asked for that of the adapter."""
_SERVES = "empirical.gate.function_worker"

Peer = Adapter | PeerTraining | PeerAuditor


def peers() -> list[Peer]:
    """Whatever can be judged with the libraries that are installed."""
    return [*installed(), *(peer for peer in (*TRAININGS, *AUDITORS) if peer.version is not None)]


def made(peer: Peer, settings: Settings, known: Answers) -> tuple[tuple[AnyRow, ...], Answers]:
    """The rows of one part of a library, and what it has answered, now and before."""
    if isinstance(peer, Adapter):
        return (bound_row(peer, settings, known),), known
    return (peer.row(),) if isinstance(peer, PeerTraining) else tuple(peer.rows()), known


def key(peer: Peer, settings: Settings) -> str:
    """Which part it is: of which library, in which version, with which settings."""
    if isinstance(peer, Adapter):
        name = f"{peer.target} {peer.bound}"
    else:
        name = peer.target if isinstance(peer, PeerTraining) else f"{peer.function.__qualname__} {peer.method}"
    return json.dumps(plain([name, peer.version, settings]))


def code_of(peer: Peer) -> str:
    """The fingerprint of the code that asks and judges, with the vectors and expected failures that it reads."""
    if not isinstance(peer, Adapter):
        return fingerprint.fingerprint(peer.function.__module__)  # expected failures stand in its folder
    files = [vector_files.SHIPPED / f"{peer.bound}.json", *([peer.xfail] if peer.xfail else [])]
    names = {f"{asker}:Bound": [peer.bound] for asker in _ASKERS}
    return fingerprint.fingerprint(_BOUND_ROWS, _source(peer.target), data=files, names=names)


def asked_by(adapter: Adapter) -> str:
    """The fingerprint of the code that asks, and makes nothing of the answer."""
    return fingerprint.fingerprint(_SERVES, _source(adapter.target))


def _asked(adapter: Adapter, settings: Settings) -> str:
    """Whose answers they are: of which library, in which version, within which limits."""
    name = f"{adapter.target} {adapter.bound}"
    return json.dumps([name, adapter.version, settings.timeout, settings.memory])


def _known(kept: Store | None, peer: Peer, settings: Settings) -> Answers:
    if kept is None or not isinstance(peer, Adapter):
        return {}
    data = kept.read(ANSWERS, _asked(peer, settings), asked_by(peer))
    return {} if data is None else json.loads(data)


def _source(target: str) -> str | Path:
    """The module of "module:fn", if it is ours, or the file of it, or that of "file.py:fn"."""
    place = target.partition(":")[0]
    if place.endswith(".py") or place in fingerprint.installed().files:
        return Path(place) if place.endswith(".py") else place
    spec = util.find_spec(place)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def carry_out(
    chosen: Sequence[Peer], settings: Settings, *, workers: int, store: Path | None,
    progress: Callable[[Peer, tuple[AnyRow, ...], bool], None],
) -> list[AnyRow]:
    """The rows of these parts, in their order; those that the store knows are not made again."""
    with nullcontext() if store is None else Store(store) as kept:
        known: dict[str, tuple[AnyRow, ...]] = {}
        codes = {key(peer, settings): code_of(peer) for peer in chosen}
        for peer, (name, code) in zip(chosen, codes.items(), strict=True):
            data = None if kept is None else kept.read(ROWS, name, code)
            if data is not None:
                known[name] = tuple(row_of(row.pop("kind"), row) for row in json.loads(data))
                progress(peer, known[name], False)
        missing = [(peer, name) for peer, name in zip(chosen, codes, strict=True) if name not in known]
        questions = [(peer, settings, _known(kept, peer, settings)) for peer, _ in missing]
        fresh = spread(made, questions, workers=workers)
        dead: dict[str, Died] = {}
        for (peer, name), result in zip(missing, fresh, strict=True):
            if isinstance(result, Died):
                dead[json.loads(name)[0]] = result
                continue
            rows, answers = result
            known[name] = rows
            if kept is not None and isinstance(peer, Adapter):
                kept.write(ANSWERS, _asked(peer, settings), asked_by(peer), json.dumps(answers).encode())
            if kept is not None:
                kept.write(ROWS, name, codes[name], json.dumps([_written(row) for row in rows]).encode())
            progress(peer, rows, True)
    require_all(dead)
    return [row for name in codes for row in known[name]]


def _written(row: AnyRow) -> dict[str, Any]:
    return {"kind": type(row).__name__, **by_fields(row)}
