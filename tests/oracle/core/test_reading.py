"""The readers of files that users give, which refuse what nobody should be given (commands: tests/faults).

Pipes would hang, devices would never end, archives would expand to more than there is, and texts may be deeper or have
more digits than their readers bear.
"""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from oracle.core import reading
from oracle.core.errors import DomainError, OracleError
from oracle.core.reading import read_arrays, read_bytes, read_json
from tests.malice import saved


def pipe(path: Path) -> None:
    os.mkfifo(path)


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, 100 * 2**20)


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a pipe": pipe, "a folder": lambda path: path.mkdir(),
    "a device without end": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: None, "a link to itself": lambda path: path.symlink_to(path.name),
    "a large file": large,
}


def test_a_small_bomb_is_known_by_its_header() -> None:
    with pytest.raises(ValueError, match="MB, more than the 1 that they may have"):
        read_arrays(saved(X0=np.zeros(2**18)), megabytes=1)
    assert read_arrays(saved(X0=np.zeros(2**10)), megabytes=1)["X0"].shape == (2**10,)


def test_an_archive_with_damaged_bytes_is_told_or_read() -> None:
    sound, draw, told = saved(X0=np.eye(3), y0=np.arange(3.0)), random.Random(0), 0
    plain = io.BytesIO()
    np.savez(plain, X0=np.eye(3))  # its headers are not compressed: what reads them sees the damage
    for number in range(1000):
        content = bytearray(plain.getvalue() if number % 2 else sound)
        for _ in range(draw.choice((1, 1, 3))):
            content[draw.randrange(len(content))] = draw.choice((0, 255, ord("("), ord("'"), draw.randrange(256)))
        try:
            read_arrays(bytes(content), megabytes=1)
        except (ValueError, OSError):
            told += 1
    assert told > 250


@pytest.mark.parametrize("kind", SPECIAL)
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    SPECIAL[kind](path)
    with pytest.raises(DomainError, match=r"store = .* cannot be read|store = .* is too large"):
        read_bytes(path, name="store", megabytes=1)


def test_a_file_that_says_that_it_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "given").touch()
    os.truncate(path, 2**40)
    monkeypatch.setattr(reading, "_blocks", lambda *_: pytest.fail("it is read"))
    with pytest.raises(DomainError, match="is too large: it has more than 2048 MB"):
        read_bytes(path, megabytes=2048)


def test_a_file_that_does_not_say_how_large_it_is_is_read() -> None:
    assert read_bytes(Path("/proc/self/status")).startswith(b"Name:")


def test_json_that_is_too_deep_is_told(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 10**5 + "]" * 10**5)
    with pytest.raises(OracleError, match="nested too deeply"):
        read_json(path)
