"""Where results are kept so that long work resumes: one SQLite file of entries, readable by a person, no pickle.

An entry is (kind, key, code, data): what it is ("shard", "finding", ...), which one, the fingerprint of the code that
made it (`fingerprint`), and its bytes. There is one entry for a kind and key; an entry of other code counts as absent,
and is replaced by the next. A sha256 covers all four: an entry that was damaged or moved counts as absent, too, and is
computed again. What `code` must be is for its user to say; it is empty for what no code can change.

An entry is written in one transaction, so a kill -9 leaves it whole or absent. The journal is SQLite's rollback journal
and not its write-ahead log, whose shared memory does not work on network file systems. Several processes, and several
kinds of work, may use one store: they may compute the same entry twice and never harm each other. A file that is no
store is left alone; a damaged store is put aside, and its sound entries are carried over (`salvage`).
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from oracle.core.domain import shown
from oracle.core.errors import DomainError, OracleError
from oracle.running.outputs import lost
from oracle.running.salvage import digest, sound_rows

_APPLICATION = 0x64706F61  # "dpoa": marks the file as ours in its header
_VERSION = 3
_PATIENCE = 60.0  # seconds to wait for another process that is writing
_SCHEMA = """CREATE TABLE entries (
    kind TEXT NOT NULL, key TEXT NOT NULL, code TEXT NOT NULL, sha256 TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (kind, key)
)"""
_PAGE = 4096
_HEADER = {  # of SQLite's file format: one damaged byte there would change how the whole file is read
    0: b"SQLite format 3\0\x10\x00\x01\x01\x00\x40\x20\x20", 44: (4).to_bytes(4, "big"), 52: bytes(4),
    56: (1).to_bytes(4, "big") + _VERSION.to_bytes(4, "big") + bytes(4) + _APPLICATION.to_bytes(4, "big") + bytes(20),
}
_TABLES = {("table", "entries", _SCHEMA), ("index", "sqlite_autoindex_entries_1", None)}
_ELSEWHERE = {  # the trouble is not in the file: it is locked, or it is the disk's or the system's
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT,
}
BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite may keep beside a store."""
_WRITE = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)"


class _DamagedError(Exception):
    """A store that cannot be used as it is."""


class Store:
    """The entries of any number of works in one file; a context manager, which closes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._clear_errors():
                try:
                    self._connection = _connect(path)
                except _DamagedError:
                    self._salvage()
        except OSError as error:
            raise OracleError(f"store = {path} cannot be used: {error.strerror}") from None

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
                "SELECT code, sha256, data FROM entries WHERE (kind, key) = (?, ?)", (kind, key)
            ).fetchone()
        if row is None or row[0] != code:
            return None
        if not isinstance(row[2], bytes) or row[1] != digest(kind, key, code, row[2]):
            warnings.warn(f"store = {self.path}: the {kind} {shown(key)} is damaged and not used", stacklevel=2)
            return None
        return row[2]

    def write(self, kind: str, key: str, code: str, data: bytes) -> None:
        """Keep an entry: afterwards it is on the disk, whatever happens to this process.

        A disk that is full is told once, and costs what a later run would not have computed again, and no verdict.
        """
        with self._clear_errors():
            try:
                with self._connection as transaction:
                    transaction.execute(_WRITE, (kind, key, code, digest(kind, key, code, data), data))
            except sqlite3.OperationalError as error:
                if not {"full", "I/O"} & set(str(error).split()):
                    raise
                lost(f"store = {self.path}", str(error))

    def count(self, kind: str, start: str = "") -> int:
        """How many entries of a kind are kept, sound or not, whose keys start so."""
        with self._clear_errors():
            row = self._connection.execute(
                "SELECT count(*) FROM entries WHERE kind = ? AND substr(key, 1, ?) = ?", (kind, len(start), start)
            ).fetchone()
        return int(row[0])

    def _salvage(self) -> None:
        """Put the damaged file aside and start a new one with all entries that are sound."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}")
        for end in ("", *BESIDE):  # a journal of the old file would be rolled back into the new one
            with contextlib.suppress(FileNotFoundError):
                os.replace(f"{self.path}{end}", f"{aside}{end}")
        kept = dict(sound_rows(aside))
        self._connection = _connect(self.path)
        with self._connection as transaction:
            transaction.executemany(_WRITE, kept.values())
        warnings.warn(
            f"store = {self.path} is damaged: it is now {aside}, its {len(kept)} sound entries are used, and what is "
            "missing is computed again", stacklevel=4,
        )

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OracleError(f"store = {self.path} cannot be used: {error}") from None


def _connect(path: Path) -> sqlite3.Connection:
    """Open or make a store; a damaged one is a _DamagedError, and a file that is none a DomainError."""
    if path.exists() and not path.is_file():
        raise _refused(path, "a regular file, or a new one")
    connection = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")  # two processes may make one store at the same time
        if path.stat().st_size == 0:
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
            connection.execute(_SCHEMA)
        connection.commit()
        if not _sound(connection, path):
            raise sqlite3.DatabaseError("malformed")
    except sqlite3.DatabaseError as error:
        connection.close()
        trouble = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the class of the code
        if trouble in _ELSEWHERE or (trouble == sqlite3.SQLITE_READONLY and not os.access(path, os.W_OK)):
            raise
        if next(sound_rows(path), None) is None and not _ours(path):
            raise _refused(path, _told_apart(path)) from None
        raise _DamagedError from None
    return connection


def _refused(path: Path, why: str) -> DomainError:
    return DomainError(f"store = {path} is outside its domain: {why}")


def _told_apart(path: Path) -> str:
    """What to say of a file that is no store: earlier versions kept findings and the league's rows as JSON lines."""
    with path.open("rb") as file:
        start = file.readline(2**20)
    if start[68:72] == _APPLICATION.to_bytes(4, "big"):
        return "it is a store of an earlier or later version; take a new file"
    with contextlib.suppress(ValueError, RecursionError):
        line = json.loads(start)
        if isinstance(line, dict) and (line.get("format") == "dp-oracle-findings/1" or {"key", "rows"} <= line.keys()):
            return "it holds JSON lines, as an earlier version wrote them; take a new file"
    return "a store, or a new file"


def _ours(path: Path) -> bool:
    """Whether a file that SQLite cannot read, and that has no sound row, is a store of this version all the same.

    One of another version is none: its rows may be sound by a rule that is not known here, so it is left alone.
    """
    with path.open("rb") as file:
        start = file.read(_PAGE)
    marked = start[68:72] == _APPLICATION.to_bytes(4, "big") or _SCHEMA.encode() in start
    return marked and start[60:64] == _VERSION.to_bytes(4, "big")


def _sound(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether nothing is wrong with the file but, perhaps, the bytes of entries, which their digests cover."""
    with path.open("rb") as file:
        header = file.read(100)
    if any(header[start : start + len(content)] != content for start, content in _HEADER.items()):
        return False
    if set(connection.execute("SELECT type, name, sql FROM sqlite_master")) != _TABLES:
        return False
    return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
