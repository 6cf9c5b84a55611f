"""Files that nobody should be given: every one of them ends in one line on standard error and exit code 2, in no time.

Pipes would hang, devices would never end, archives would expand to more than there is, and texts may be deeper or have
more digits than their readers bear.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from oracle.core.errors import DomainError, OracleError
from oracle.core.reading import read_arrays, read_bytes, read_json
from oracle.running.console import run
from reports.cli import app

TEXTS: dict[str, bytes] = {
    "nested tables": b"a = " + b"[" * 20_000 + b"]" * 20_000, "nested keys": b"[" + b"a." * 20_000 + b"a]",
    "many digits": b"steps = " + b"1" * 5000, "no text": bytes(range(256)), "zeros": bytes(10_000),
    "half a character": "é".encode()[:1], "a line without end": b"a" * 10**6, "not TOML": b"= = =", "empty": b"",
    "a table for a key": b"[algorithm]\nname = 'dp-gd'", "a list for a key": b"algorithm = []",
    "twice the key": b"algorithm = 'dp-gd'\nalgorithm = 'dp-gd'", "escapes": b"algorithm = '\x1b[31mred'",
}


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
COMMANDS = (
    ("plan",), ("audit", "--epsilon", "1", "--config"), ("gate", "--config"),
    ("gate", "oracle:bound", "--bound", "laplace.delta", "--xfail"),
)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(app, list(words)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert "\x1b" not in printed.err
    return printed.err


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: f"{words[0]} {words[-1]}")
@pytest.mark.parametrize("kind", [*TEXTS, *SPECIAL])
def test_a_hostile_configuration_is_one_line(
    kind: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.toml"
    if kind in TEXTS:
        path.write_bytes(TEXTS[kind])
    else:
        SPECIAL[kind](path)
    if kind == "empty" and words[-1] == "--xfail":
        return  # no expected failures: a file as good as any
    refused(capsys, *words, str(path))


def npy(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """The header of an array, and no array."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(118) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def archive(**parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, content in parts.items():
            writer.writestr(f"{name}.npy", content)
    return file.getvalue()


def saved(**arrays: np.ndarray) -> bytes:  # type: ignore[type-arg]
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


ARRAYS: dict[str, bytes] = {
    "a header of 10^13 entries": archive(X0=npy((10**13,))),
    "a bomb": archive(X0=npy((3 * 2**30 // 8,)) + bytes(2**20)),
    "a negative shape": archive(X0=npy((-1,))), "objects": saved(X0=np.array([{}], dtype=object)),
    "a damaged archive": saved(X0=np.ones(1000))[:-40] + bytes(40), "half an archive": saved(X0=np.ones(1000))[:200],
    "a lone array": npy((10**13,)), "no array": archive(X0=b"hello"), "nothing": b"", "text": b"PK\x03\x04 hello",
    "no members": archive(), "a header without end": archive(X0=b"\x93NUMPY\x01\x00\xff\xff" + b"{" * 70_000),
    "code for a header": archive(X0=npy((1,)).replace(b"'<f8'", b"exit()")),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_hostile_pair_is_one_line(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pair.npz"
    path.write_bytes(ARRAYS[kind])
    target = Path(__file__).parents[3] / "examples" / "audit_target.py"
    told = refused(capsys, "audit", f"{target}:train", "--epsilon", "1", "--pair", str(path))
    assert "pair" in told


def test_a_small_bomb_is_known_by_its_header() -> None:
    with pytest.raises(ValueError, match="MB, more than the 1 that they may have"):
        read_arrays(saved(X0=np.zeros(2**18)), megabytes=1)
    assert read_arrays(saved(X0=np.zeros(2**10)), megabytes=1)["X0"].shape == (2**10,)


@pytest.mark.parametrize("kind", SPECIAL)
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    SPECIAL[kind](path)
    with pytest.raises(DomainError, match=r"store = .* cannot be read|store = .* is too large"):
        read_bytes(path, name="store", megabytes=1)


def test_json_that_is_too_deep_is_told(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 10**5 + "]" * 10**5)
    with pytest.raises(OracleError, match="nested too deeply"):
        read_json(path)
