"""Where results are kept so that long work resumes: one SQLite file of entries, readable by a person, no pickle.

An entry is (kind, key, code, data): what it is ("shard", "finding", ...), which one, the fingerprint of the code that
made it (`fingerprint`), and its bytes. There is one entry for a kind and key; an entry of other code counts as absent,
and is replaced by the next. A sha256 covers all four: an entry that was damaged or moved counts as absent, too, and is
computed again. What `code` must be is for its user to say; it is empty for what no code can change.

An entry is written in one transaction, so a kill -9 leaves it whole or absent. The journal is SQLite's rollback journal
and not its write-ahead log, whose shared memory does not work on network file systems. Several processes, and several
kinds of work, may use one store: they may compute the same entry twice and never harm each other. A file that is no
store is left alone; a store that SQLite finds malformed is put aside, and its sound entries are carried over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from oracle.core.errors import DomainError, OracleError

_APPLICATION = 0x64706F61  # "dpoa": marks the file as ours in its header
_VERSION = 3
_LARGEST = 2**40  # bytes; a larger size in a header is damage
_PATIENCE = 60.0  # seconds to wait for another process that is writing
_SCHEMA = """CREATE TABLE entries (
    kind TEXT NOT NULL, key TEXT NOT NULL, code TEXT NOT NULL, sha256 TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (kind, key)
)"""
_WRITE = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)"


class Store:
    """The entries of any number of works in one file; a context manager, which closes it."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; whatever was written is there."""
        self._connection.close()

    def read(self, kind: str, key: str, code: str) -> bytes | None:
        """The bytes of an entry, or None where the store has none, or only one of other code or a damaged one."""
        with self._clear_errors():
            row = self._connection.execute(
                "SELECT sha256, data FROM entries WHERE (kind, key) = (?, ?)", (kind, key)
            ).fetchone()
        if row is None or not isinstance(row[1], bytes) or row[0] != _digest(kind, key, code, row[1]):
            return None
        return row[1]

    def write(self, kind: str, key: str, code: str, data: bytes) -> None:
        """Keep an entry: afterwards it is on the disk, whatever happens to this process."""
        with self._clear_errors(), self._connection as transaction:
            transaction.execute(_WRITE, (kind, key, code, _digest(kind, key, code, data), data))

    def count(self, kind: str, start: str = "") -> int:
        """How many entries of a kind are kept, sound or not, whose keys start so."""
        with self._clear_errors():
            row = self._connection.execute(
                "SELECT count(*) FROM entries WHERE kind = ? AND substr(key, 1, ?) = ?", (kind, len(start), start)
            ).fetchone()
        return int(row[0])

    def _salvage(self) -> None:
        """Put the malformed file aside and start a new one with all entries that can still be read and are sound."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}")
        self.path.replace(aside)
        warnings.warn(f"store = {self.path} is damaged: it is now {aside}, and its sound rows are used", stacklevel=3)
        self._connection = _connect(self.path)
        _pad(aside)
        with contextlib.closing(sqlite3.connect(aside)) as damaged, self._connection as transaction:
            for row in _readable(damaged, "SELECT kind, key, code, sha256, data FROM entries"):
                kind, key, code, sha256, data = row
                if isinstance(data, bytes) and _digest(kind, key, code, data) == sha256:
                    transaction.execute(_WRITE, row)

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
            connection.execute(_SCHEMA)
        elif mark != _APPLICATION:
            raise _refused(path, "a store, or a new file")
        elif connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            raise _refused(path, "it is a store of an earlier or later version; take a new file")
        connection.commit()
    except sqlite3.DatabaseError as error:
        connection.close()
        if "not a database" in str(error):
            raise _refused(path, _told_apart(path)) from None
        if "malformed" in str(error) and _marked(path):
            return sqlite3.connect(path, timeout=_PATIENCE)  # ours; what is sound of it is carried over
        raise
    except DomainError:
        connection.close()
        raise
    return connection


def _refused(path: Path, why: str) -> DomainError:
    return DomainError(f"store = {path} is outside its domain: {why}")


def _told_apart(path: Path) -> str:
    """What to say of a file that is no database: earlier versions kept findings and the league's rows as JSON lines."""
    with path.open("rb") as file:
        start = file.readline(2**20)
    with contextlib.suppress(ValueError):
        line = json.loads(start)
        if isinstance(line, dict) and (line.get("format") == "dp-oracle-findings/1" or {"key", "rows"} <= line.keys()):
            return "it holds JSON lines, as an earlier version wrote them; take a new file"
    return "a store, or a new file"


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


def _digest(kind: object, key: object, code: object, data: bytes) -> str:
    return hashlib.sha256(json.dumps([kind, key, code], default=repr).encode() + b"\n" + data).hexdigest()
