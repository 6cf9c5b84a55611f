"""Where the shards of campaigns are kept: one SQLite file, one row a shard, readable by a person, no pickle.

A row is keyed by (hash of the models, phase, side, index, attack), the attack being that of the scores, or empty for
releases, and holds an array as the bytes of an .npy file. `code` is the fingerprint of what trained it: a row of other
code counts as absent. Its sha256 covers all of these: a row that was damaged or moved counts as absent, too, and is
computed again. The plans stand beside the rows, as JSON, so that a store tells by itself what it holds.

A shard is written in one transaction, so a kill -9 leaves a shard whole or absent. The journal is SQLite's rollback
journal and not its write-ahead log, whose shared memory does not work on network file systems. Several processes may
use one store: they may train the same shard twice, with equal bits, and never harm each other. A file that is no store
is left alone; a store that SQLite finds malformed is put aside, and its sound rows are carried over.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from empirical.audits.audit_plan import AuditPlan, Shard
from oracle.core.errors import DomainError, OracleError

Array = NDArray[np.float64]

_APPLICATION = 0x64706F61  # "dpoa": marks the file as ours in its header
_VERSION = 2
_LARGEST = 2**40  # bytes; a larger size in a header is damage
_PATIENCE = 60.0  # seconds to wait for another process that is writing
_SCHEMA = """
CREATE TABLE plans (hash TEXT PRIMARY KEY, models TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE shards (
    models TEXT NOT NULL, phase TEXT NOT NULL, side INTEGER NOT NULL, number INTEGER NOT NULL, attack TEXT NOT NULL,
    size INTEGER NOT NULL, code TEXT NOT NULL, sha256 TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (models, phase, side, number, attack)
);
"""
_PLAN = "INSERT OR IGNORE INTO plans VALUES (?, ?, ?)"
_SHARD = "INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Store:
    """The shards of any number of plans in one file; a context manager, which closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OracleError(f"store = {path} cannot be made: {error.strerror}") from None
        with self._clear_errors():
            self._connection = _connect(path)
            if not _sound(self._connection):
                self._connection.close()
                self._salvage()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def register(self, plan: AuditPlan) -> None:
        """Write the plan's text, so that a reader of the file knows what the hashes stand for."""
        with self._clear_errors(), self._connection as transaction:
            transaction.execute(_PLAN, (plan.hash(), plan.models_hash(), plan.canonical()))

    def read(self, models: str, shard: Shard, attack: str, code: str) -> Array | None:
        """The array of a shard, or None where the store has none, or only one of other code or a damaged one."""
        place = (models, shard.phase, shard.side, shard.index, attack)
        with self._clear_errors():
            row = self._connection.execute(
                "SELECT sha256, data FROM shards WHERE (models, phase, side, number, attack) = (?, ?, ?, ?, ?)", place
            ).fetchone()
        if row is None or not isinstance(row[1], bytes) or row[0] != _digest((*place, shard.models, code), row[1]):
            return None
        return np.asarray(np.load(io.BytesIO(row[1]), allow_pickle=False), dtype=np.float64)

    def write(self, models: str, shard: Shard, attack: str, code: str, array: Array) -> None:
        """Keep the array of a shard: afterwards it is on the disk, whatever happens to this process."""
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        key = (models, shard.phase, shard.side, shard.index, attack, shard.models, code)
        with self._clear_errors(), self._connection as transaction:
            transaction.execute(_SHARD, (*key, _digest(key, buffer.getvalue()), buffer.getvalue()))

    def count(self, models: str) -> int:
        """How many shards of these models are kept."""
        with self._clear_errors():
            row = self._connection.execute("SELECT count(*) FROM shards WHERE models = ?", (models,)).fetchone()
        return int(row[0])

    def _salvage(self) -> None:
        """Put the malformed file aside and start a new one with all rows that can still be read and are sound."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}")
        self.path.replace(aside)
        warnings.warn(f"store = {self.path} is damaged: it is now {aside}, and its sound rows are used", stacklevel=3)
        self._connection = _connect(self.path)
        _pad(aside)
        with contextlib.closing(sqlite3.connect(aside)) as damaged, self._connection as transaction:
            for row in _readable(damaged, "SELECT * FROM plans"):
                transaction.execute(_PLAN, row)
            for row in _readable(damaged, "SELECT * FROM shards"):
                if isinstance(row[8], bytes) and _digest(row[:7], row[8]) == row[7]:
                    transaction.execute(_SHARD, row)

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OracleError(f"store = {self.path} cannot be used: {error}") from None


def _connect(path: Path) -> sqlite3.Connection:
    """Open or make a store; a DomainError when the file is something else."""
    connection = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")  # two processes may make one store at the same time
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        if mark == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
        elif mark != _APPLICATION:
            raise DomainError(f"store = {path} is outside its domain: a file made by an audit, or a new one")
        elif connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            raise DomainError(f"store = {path} is outside its domain: it was made by another version; take a new one")
        connection.commit()
    except sqlite3.DatabaseError as error:
        connection.close()
        if "not a database" in str(error):
            raise DomainError(f"store = {path} is outside its domain: a file made by an audit, or a new one") from None
        if "malformed" in str(error) and _marked(path):
            return sqlite3.connect(path, timeout=_PATIENCE)  # ours; what is sound of it is carried over
        raise
    except DomainError:
        connection.close()
        raise
    return connection


def _marked(path: Path) -> bool:
    """Whether the header of a database that SQLite cannot read says that it is a store."""
    with path.open("rb") as file:
        return file.read(72)[68:] == _APPLICATION.to_bytes(4, "big")


def _sound(connection: sqlite3.Connection) -> bool:
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
            raise  # locked, or the disk: no sign of damage
        return False


def _pad(path: Path) -> None:
    """Fill a file that was cut short with zeros up to the size in its header: SQLite reads no page of it otherwise."""
    with path.open("r+b") as file:
        header = file.read(100)
        size = int.from_bytes(header[16:18], "big") * int.from_bytes(header[28:32], "big")
        if path.stat().st_size < size <= _LARGEST:
            file.truncate(size)


def _readable(connection: sqlite3.Connection, query: str) -> Iterator[tuple[object, ...]]:
    """Rows of a query up to the first that SQLite cannot read."""
    with contextlib.suppress(sqlite3.DatabaseError):
        yield from connection.execute(query)


def _digest(key: tuple[object, ...], data: bytes) -> str:
    return hashlib.sha256("/".join(map(str, key)).encode() + b"\n" + data).hexdigest()
