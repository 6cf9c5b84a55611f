"""The sound rows of a damaged store: found in its bytes, by the form of a row, and held to their digests.

SQLite reads a file from its root, so that one damaged byte may hide all that hangs below it. Here no page, pointer or
header of the file is believed: every place that looks like the record of an entry is tried, and it is one if its sha256
says so. What lies on further pages is followed from page to page, as SQLite's file format has it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterator
from pathlib import Path

PAGE = 4096
_SHA = b"\x81\x0d"  # the type of the column `sha256`, a text of 64 bytes, as a record's header has it
_MOST = PAGE - 35  # bytes of a record that its first page may have, and the least if it goes on elsewhere
_LEAST = (PAGE - 12) * 32 // 255 - 23

Row = tuple[str, str, str, str, bytes]
"""Kind, key, code, sha256 and data of an entry."""


def digest(kind: str, key: str, code: str, data: bytes) -> str:
    """The sha256 of an entry: of all that it says, so that one which was damaged or moved is known."""
    return hashlib.sha256(json.dumps([kind, key, code]).encode() + b"\n" + data).hexdigest()


def sound_rows(path: Path) -> Iterator[tuple[tuple[str, str], Row]]:
    """The sound rows of a file, by kind and key; of two with one name, what was written last comes last."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found: list[tuple[int, Row]] = []
        at = content.find(_SHA)
        while at >= 0:
            for start in range(max(at - 9, 0), at - 3):
                row = _row(content, start, at)
                if row is not None:
                    found.append((_number(content, start), row))
                    break
            at = content.find(_SHA, at + 1)
    for _, row in sorted(found, key=lambda one: one[0]):
        yield (row[0], row[1]), row


def _row(content: mmap.mmap, start: int, sha: int) -> Row | None:
    """The entry whose record starts there and has the type of its digest at `sha`; None where there is no sound one."""
    size, at, types = content[start], start + 1, []
    for _ in range(5):
        number, at = _varint(content, at)
        types.append(number)
        if len(types) == 3 and at != sha:
            return None
    if at != start + size or types[4] % 2 or types[4] < 12 or any(not one % 2 or one < 13 for one in types[:4]):
        return None
    sizes = [(one - 12 - one % 2) // 2 for one in types]
    record = _record(content, start, size + sum(sizes))
    if record is None:
        return None
    parts, at = [], size
    for one in sizes:
        parts.append(record[at : at + one])
        at += one
    try:
        kind, key, code, sha256 = (part.decode() for part in parts[:4])
    except UnicodeDecodeError:
        return None
    return (kind, key, code, sha256, parts[4]) if digest(kind, key, code, parts[4]) == sha256 else None


def _record(content: mmap.mmap, start: int, size: int) -> bytes | None:
    """The bytes of a record of a known size, from all of its pages."""
    if size > len(content):
        return None
    here = size
    if size > _MOST:
        here = _LEAST + (size - _LEAST) % (PAGE - 4)
        here = here if here <= _MOST else _LEAST
    parts, left = [content[start : start + here]], size - here
    at = start + here
    while left > 0:
        page = (int.from_bytes(content[at : at + 4], "big") - 1) * PAGE
        if not PAGE <= page < len(content):
            return None
        parts.append(content[page + 4 : page + 4 + min(left, PAGE - 4)])
        left, at = left - (PAGE - 4), page
    return b"".join(parts)


def _number(content: mmap.mmap, start: int) -> int:
    """The number of the row before whose record it stands: the larger, the later; 0 where it cannot be read."""
    first = start - 1
    while start - first < 9 and first > 0 and content[first - 1] & 0x80:
        first -= 1
    return _varint(content, first)[0] if first >= 0 else 0


def _varint(content: mmap.mmap, at: int) -> tuple[int, int]:
    """A number as SQLite writes it, and where it ends; a large one is enough where none is."""
    number = 0
    for count in range(9):
        if at >= len(content):
            return 0, at
        byte, at = content[at], at + 1
        if count == 8:
            return number << 8 | byte, at
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            break
    return number, at
