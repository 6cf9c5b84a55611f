"""Shards in a store: what is written is read back or counts as absent; nothing damaged is used."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from empirical.audits.audit_plan import AuditPlan, Shard
from empirical.audits.shard_store import Shards
from oracle.core.errors import DomainError, OracleError
from oracle.running.store import Store

SHARDS = [Shard("evaluation", index, side, 100 * index, 100) for index in range(6) for side in (0, 1)]
ARRAYS = {shard: np.random.default_rng(place).normal(size=100) for place, shard in enumerate(SHARDS)}


def filled(path: Path) -> Path:
    with Shards(path) as store:
        for shard, array in ARRAYS.items():
            store.keep("models", shard, "attack", "code", array)
    return path


def present(store: Shards) -> list[Shard]:
    """The shards that the store has, each of which must have its own bits."""
    found = {shard: store.array("models", shard, "attack", "code") for shard in SHARDS}
    for shard, array in found.items():
        assert array is None or array.tobytes() == ARRAYS[shard].tobytes()
    return [shard for shard, array in found.items() if array is not None]


def altered(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    with Shards(filled(tmp_path / "new" / "store")) as store:
        assert present(store) == SHARDS
        assert store.shards_of("models") == len(SHARDS)
        assert store.array("other models", SHARDS[0], "attack", "code") is None
        assert store.array("models", SHARDS[0], "attack", "other code") is None
        assert store.array("models", SHARDS[0], "other attack", "code") is None
        assert store.array("models", Shard("selection", 0, 0, 0, 100), "attack", "code") is None
        assert store.array("models", Shard("evaluation", 0, 0, 0, 99), "attack", "code") is None
        store.keep("models", SHARDS[0], "attack", "code", ARRAYS[SHARDS[0]])
        assert store.shards_of("models") == len(SHARDS)


def test_a_person_can_read_the_plan(tmp_path: Path) -> None:
    plan = AuditPlan({"kind": "function", "path": "a.py:f"}, {"kind": "file", "path": "p.npz"})
    with Shards(tmp_path / "store") as store:
        store.register(plan)
        store.register(plan)
    with sqlite3.connect(tmp_path / "store") as connection:
        query = "SELECT key, CAST(data AS TEXT) FROM entries WHERE kind = 'plan'"
        assert connection.execute(query).fetchall() == [(plan.hash(), plan.canonical())]
    connection.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entries SET data = zeroblob(length(data)) WHERE key LIKE '%/0/0/%'",
        "UPDATE entries SET data = substr(data, 1, 200) WHERE key LIKE '%/0/0/%'",
        "UPDATE entries SET data = 'text' WHERE key LIKE '%/0/0/%'",
        "UPDATE entries SET sha256 = '' WHERE key LIKE '%/0/0/%'",
        "DELETE FROM entries WHERE key LIKE '%/0/0/%'",
        "UPDATE entries SET (data, sha256) = (SELECT data, sha256 FROM entries WHERE key LIKE '%/1/0/%')"
        " WHERE key LIKE '%/0/0/%'",
    ],
    ids=["zeros", "cut", "text", "digest", "missing", "another row's"],
)
def test_a_damaged_row_counts_as_absent_and_can_be_written_again(tmp_path: Path, damage: str) -> None:
    path = filled(tmp_path / "store")
    altered(path, damage)
    with Shards(path) as store:
        assert present(store) == SHARDS[1:]
        store.keep("models", SHARDS[0], "attack", "code", ARRAYS[SHARDS[0]])
        assert present(store) == SHARDS


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    with Shards(tmp_path / "store") as store, pytest.raises(ValueError, match="allow_pickle"):
        store.keep("models", SHARDS[0], "attack", "code", np.array([object()]))


def test_a_truncated_store_is_put_aside_and_its_sound_rows_are_kept(tmp_path: Path) -> None:
    path = filled(tmp_path / "store")
    size = path.stat().st_size
    os.truncate(path, size - 8192)
    with pytest.warns(UserWarning, match="damaged"):
        salvaged = Shards(path)
    with salvaged as store:
        kept = present(store)
        assert 0 < len(kept) < len(SHARDS)
        for shard, array in ARRAYS.items():
            store.keep("models", shard, "attack", "code", array)
        assert present(store) == SHARDS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Shards(path).__exit__(None, None, None)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.filterwarnings("ignore:.*damaged")
def test_every_flipped_byte_is_either_harmless_or_found(tmp_path: Path) -> None:
    content = filled(tmp_path / "store").read_bytes()
    rng = np.random.default_rng(0)
    for trial, place in enumerate(rng.integers(100, len(content), size=40).tolist()):  # behind SQLite's file header
        path = tmp_path / f"flipped-{trial}"
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        with Shards(path) as store:
            present(store)


@pytest.mark.parametrize("kind", ["text", "database", "other version"])
def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "mine"
    if kind == "text":
        path.write_text("my notes, which are longer than the header of a database\n" * 40)
    elif kind == "database":
        altered(path, "CREATE TABLE mine (x)")
    else:
        altered(filled(path), "UPDATE entries SET sha256 = 'of another version'")
        altered(path, "PRAGMA user_version = 1")
        altered(path, "VACUUM")  # nothing is left of the rows as they were
    content = path.read_bytes()
    with pytest.raises(DomainError, match=r"store = .*mine"):
        Shards(path)
    assert path.read_bytes() == content


def test_a_store_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OracleError, match="store = "):
        Shards(tmp_path / "file" / "store")
    with pytest.raises(OracleError, match="store = "):
        Shards(tmp_path)


def test_many_writers_do_not_harm_each_other(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def write() -> None:
        try:
            filled(tmp_path / "store")
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failures
    with Shards(tmp_path / "store") as store:
        assert present(store) == SHARDS
        assert store.shards_of("models") == len(SHARDS)


@pytest.mark.parametrize("line", ['{"format": "dp-oracle-findings/1"}', '{"key": "abc", "rows": []}'])
def test_a_file_of_an_earlier_version_is_refused_by_its_name(tmp_path: Path, line: str) -> None:
    path = tmp_path / "findings.jsonl"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(DomainError, match="JSON lines, as an earlier version wrote them; take a new file"):
        Shards(path)
    assert path.read_text() == f"{line}\n{line}\n"


def test_kinds_do_not_meet_and_the_code_is_part_of_the_digest(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.write("shard", "a", "code", b"1")
        store.write("finding", "a", "code", b"2")
        assert (store.read("shard", "a", "code"), store.read("finding", "a", "code")) == (b"1", b"2")
        assert (store.count("shard"), store.count("shard", "b"), store.count("shard", "a")) == (1, 0, 1)
        altered(tmp_path / "store", "UPDATE entries SET code = 'other'")
        assert store.read("shard", "a", "other") is None
        store.write("shard", "a", "other", b"3")
        assert store.read("shard", "a", "code") is None
        assert store.count("shard") == 1
