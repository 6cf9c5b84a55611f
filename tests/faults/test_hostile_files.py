"""Files that nobody should be given, to every option that reads one: one line, exit code 2, and soon.

Every kind of file meets every option that reads such files; a sample of the pairs is in `tests`, all are in `thorough`.
"""

from __future__ import annotations

import io
import os
import random
import socket
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from oracle.running.console import run
from reports.cli import app
from tests.malice import saved
from tests.waiting import worked

ROOT = Path(__file__).parents[2]
TARGET = f"{ROOT / 'examples' / 'audit_target.py'}:train"
SECONDS = 6.0  # of this processor; a refusal takes far less
MEGABYTE = 2**20


def linked(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def sized(megabytes: int) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.touch()
        os.truncate(path, megabytes * MEGABYTE)

    return make


def listening(path: Path) -> None:
    socket.socket(socket.AF_UNIX).bind(os.path.relpath(path))  # such a path must be short


def looped(path: Path) -> None:
    other = path.with_name("other")
    other.symlink_to(path.name)
    path.symlink_to(other.name)


SPECIAL: dict[str, bytes | Callable[[Path], object]] = {
    "nothing": lambda path: None, "a folder": Path.mkdir, "a pipe": os.mkfifo, "a link to itself": linked("given"),
    "a loop of links": looped, "a link to nothing": linked("nowhere"), "zeros without end": linked("/dev/zero"),
    "random bytes without end": linked("/dev/urandom"), "a full device": linked("/dev/full"),
    "a terminal": linked("/dev/tty"),
    "a socket": listening, "a file below a file": lambda path: path.write_bytes(b""),
}
GARBAGE: dict[str, bytes | Callable[[Path], object]] = {
    "100 MB of zeros": sized(100), "half a character": "é".encode()[:1], "all bytes": bytes(range(256)),
    "zeros": bytes(10_000), "a mark of UTF-16": "\ufeffa = 1".encode("utf-16"), "UTF-32": "a = 1".encode("utf-32"),
    "a half pair": b"a = '\xed\xa0\x80'", "too long a code": b"\xc0\xaf", "a NUL in a text": b"a = '\x00'",
    "an escape": b"a = '\x1b[31m\x1b]0;title\x07'", "what turns the writing": "\u202ea = 1".encode(),
    "a line without end": b"a" * MEGABYTE, "lines without end": b"\n" * MEGABYTE,
    "random bytes": random.Random(0).randbytes(5000),
    "an ELF file": b"\x7fELF\x02\x01\x01" + bytes(100), "a pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x8c\x02os\x94.",
    "gzip": b"\x1f\x8b\x08" + bytes(50), "HTML": b"<!doctype html><script>alert(1)</script>",
}
TOMLS: dict[str, bytes | Callable[[Path], object]] = {
    "a mark of UTF-8": "\ufeffalgorithm = 'dp-gd'".encode(), "nested tables": b"a = " + b"[" * 20_000 + b"]" * 20_000,
    "nested inline tables": b"a = " + b"{a = " * 20_000 + b"1" + b"}" * 20_000,
    "nested keys": b"[" + b"a." * 20_000 + b"a]",
    "a dotted key": b"a." * 20_000 + b"a = 1", "many digits": b"steps = " + b"1" * 5000,
    "a large hexadecimal": b"steps = 0x" + b"f" * 10**6, "a huge exponent": b"steps = 1e999999999",
    "many decimals": b"steps = 0." + b"1" * 10**6, "not a number": b"steps = nan", "infinity": b"steps = inf",
    "a date": b"steps = 2020-01-01T00:00:00Z", "no such date": b"steps = 2020-13-41", "twice the key": b"a = 1\na = 1",
    "a table for a key": b"[algorithm]\nname = 'dp-gd'", "a list for a key": b"algorithm = []", "not TOML": b"= = =",
    "a text without end": b"a = '''" + b"x" * 10**6, "an open table": b"[a",
    "ten thousand tables": b"[[gate]]\n" * 10_000,
    "ten thousand keys": b"".join(b"k%d = 1\n" % n for n in range(10_000)), "a boolean": b"algorithm = true",
    "an empty key": b"'' = 1", "JSON": b'{"a": 1}', "a wrong gate": b"gate = 1",
    "a gate of lists": b"gate = [[1], [2]]",
    "a wrong xfail": b"xfail = 7", "gates of everything": b"[[gate]]\ntarget = 1\nbound = 2\nslack = []\noffers = 'x'",
}


def npy(shape: object, dtype: str = "'<f8'", version: bytes = b"\x01\x00", filler: int = 118) -> bytes:
    """The header of an array, and no array."""
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}, }}".ljust(filler) + "\n"
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", len(text))
    return b"\x93NUMPY" + version + size + text.encode()


def archive(method: int = zipfile.ZIP_DEFLATED, **parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as writer:
        for name, content in parts.items():
            writer.writestr(f"{name}.npy", content)
    return file.getvalue()


def four(**others: object) -> bytes:
    """A sound pair but for some arrays."""
    x, y = np.eye(3), np.array([0.0, 1.0, 1.0])
    return saved(**{"X0": x, "y0": y, "X1": -x, "y1": y, **others})


def patched(content: bytes, at: int, new: bytes) -> bytes:
    return content[:at] + new + content[at + len(new) :]


def encrypted() -> bytes:
    """An archive whose members say that they are encrypted."""
    content = bytearray(archive(X0=npy((1,)) + bytes(8)))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def lying() -> bytes:
    """An archive that says that its member is small, and expands to 100 MB."""
    content = bytearray(archive(X0=npy((10,)) + bytes(100 * MEGABYTE)))
    for place, at in ((0, 22), (content.index(b"PK\x01\x02"), 24)):
        content[place + at : place + at + 4] = struct.pack("<I", 208)
    return bytes(content)


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "a header of 10^13 entries": lambda: archive(X0=npy((10**13,))), "a negative shape": lambda: archive(X0=npy((-1,))),
    "a shape of 10^400": lambda: archive(X0=npy((10**400,))),
    "a shape of zero and more": lambda: archive(X0=npy((0, 10**18))),
    "a hundred dimensions": lambda: archive(X0=npy((1,) * 100)),
    "a shape that is a text": lambda: archive(X0=npy("'x'")),
    "a true shape": lambda: archive(X0=npy((True,))),
    "a bomb of zeros": lambda: archive(X0=npy((2**28,)) + bytes(32 * MEGABYTE)),
    "an archive that lies": lying, "a nested header": lambda: archive(X0=npy("(" * 200 + ")" * 200)),
    "deeper": lambda: archive(X0=npy("[" * 9000, filler=1)),
    "a header without end": lambda: archive(X0=b"\x93NUMPY\x01\x00\xff\xff" + b"{" * 70_000),
    "a large header": lambda: archive(X0=npy((1,), version=b"\x02\x00", filler=10**6)),
    "no such version": lambda: archive(X0=b"\x93NUMPY\x09\x09" + bytes(100)),
    "code for a header": lambda: archive(X0=npy((1,), "exit()")),
    "no such dtype": lambda: archive(X0=npy((1,), "'<q9'")),
    "objects": lambda: saved(X0=np.array([{}], dtype=object)),
    "objects in a field": lambda: archive(X0=npy((1,), "[('a', '|O')]")),
    "records": lambda: four(X0=np.zeros(3, dtype=[("a", "f8")])), "texts": lambda: four(X0=np.array(["a", "b", "c"])),
    "complex numbers": lambda: four(X0=np.eye(3) * 1j), "dates": lambda: four(X0=np.zeros(3, "M8[s]")),
    "no numbers": lambda: four(X0=np.full((3, 3), np.nan)), "a scalar": lambda: four(X0=np.float64(1)),
    "empty arrays": lambda: four(X0=np.zeros((0, 3)), X1=np.zeros((0, 3))),
    "other lengths": lambda: four(y0=np.zeros(9)),
    "no neighbours": lambda: four(X1=np.eye(3) * 7), "arrays are missing": lambda: saved(X0=np.eye(3)),
    "no members": archive,
    "ten thousand members": lambda: archive(zipfile.ZIP_STORED, **{f"a{n}": b"" for n in range(10_000)}),
    "no array": lambda: archive(X0=b"hello"), "a lone array": lambda: npy((10**13,)),
    "a lone header": lambda: npy((1,))[:20],
    "half an archive": lambda: four()[:200], "no directory": lambda: four()[:-30], "encrypted": encrypted,
    "a damaged member": lambda: patched(four(), 60, b"\xff" * 20),
    "an empty directory": lambda: b"PK\x05\x06" + bytes(18),
    "a directory far away": lambda: b"PK\x05\x06" + b"\xff" * 18,
    "an archive in an archive": lambda: archive(X0=four()),
}
JSONS: dict[str, bytes | Callable[[Path], object]] = {
    "a deep list": b"[" * 10**5 + b"]" * 10**5, "a deep object": b'{"a":' * 10**5, "an integer": b"1" * 5000,
    "NaN": b"NaN",
    "a list": b"[]", "a text": b'"\\ud800"', "an empty object": b"{}",
    "wrong parts": b'{"count": 20, "seed": 0, "bounds": 3}',
    "wrong rows": b'{"count": "x", "seed": [], "bounds": {"a": 1}}', "two documents": b"{} {}",
    "wrong tests": b'{"bound": "laplace.delta", "tests": [1, null, {}]}',
    "lists for texts": b'{"bound": [], "tests": {}}',
}
KEYS: dict[str, bytes | Callable[[Path], object]] = {
    "a beginning": b"-----BEGIN PRIVATE KEY-----\n",
    "no base64": b"-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n",
    "an empty key": b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
    "another thing": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
}
EMPTY: dict[str, bytes | Callable[[Path], object]] = {"empty": b""}
Kinds = dict[str, "bytes | Callable[[Path], object]"]


def arrays() -> Kinds:
    return {name: (lambda path, make=make: path.write_bytes(make())) for name, make in ARCHIVES.items()}


OPTIONS: dict[str, tuple[tuple[str, ...], Kinds]] = {
    "plan": (("plan", "FILE"), SPECIAL | GARBAGE | TOMLS | EMPTY),
    "audit --config": (("audit", "noisy-cgd", "--config", "FILE"), SPECIAL | GARBAGE | TOMLS | EMPTY),
    "one-run --config": (("one-run", "noisy-cgd", "--config", "FILE"), SPECIAL | GARBAGE | TOMLS | EMPTY),
    "gate --config": (("gate", "--config", "FILE"), SPECIAL | GARBAGE | TOMLS | EMPTY),
    "gate --xfail": (("gate", "oracle:bound", "--bound", "laplace.delta", "--xfail", "FILE"),
        SPECIAL | GARBAGE | TOMLS),
    "audit --pair": (("audit", TARGET, "--epsilon", "1", "--pair", "FILE"), SPECIAL | GARBAGE | arrays() | EMPTY),
    "gate --pair": (("gate", TARGET, "--epsilon", "1", "--pair", "FILE"), SPECIAL | GARBAGE | arrays() | EMPTY),
    "audit TARGET": (("audit", "FILE.py:train", "--epsilon", "1"), SPECIAL),
    "gate TARGET": (("gate", "FILE.py:f", "--bound", "laplace.delta"), SPECIAL),
    "check --store": (("check", "relu-approx/lem-3.2", "--store", "FILE"), SPECIAL | GARBAGE),
    "audit --store": (("audit", "noisy-cgd", "--budget", "100", "--store", "FILE"), SPECIAL | GARBAGE),
    "false-claims --store": (("false-claims", "--budget", "100", "--store", "FILE"), SPECIAL | GARBAGE),
    "rates --store": (("rates", "exponential-mechanism", "--store", "FILE"), SPECIAL),
    "report --findings": (("report", "--out", "OUT", "--findings", "FILE"), SPECIAL | GARBAGE),
    "report --store": (("report", "--out", "OUT", "--store", "FILE"), SPECIAL),
    "holes --json": (("holes", "--bound", "laplace.delta", "--count", "1", "--json", "FILE"),
        SPECIAL | GARBAGE | JSONS),
    "vectors describe": (("vectors", "describe", "--folder", "IN", "--bound", "laplace.delta"),
        SPECIAL | GARBAGE | JSONS),
    "verify --key": (("verify", str(ROOT / "LICENSE"), "--key", "FILE"), SPECIAL | GARBAGE | KEYS | EMPTY),
    "verify FILE": (("verify", "FILE", "--key", "KEY", "--signature", "KEY"), SPECIAL),
    "verify --signature": (("verify", str(ROOT / "LICENSE"), "--key", "KEY", "--signature", "FILE"), SPECIAL),
    "check --sign": (("check", "relu-approx/lem-3.2", "--json", "OUT", "--sign", "FILE"),
        SPECIAL | GARBAGE | KEYS | EMPTY),
}
NEW = ("check --store", "audit --store", "false-claims --store", "rates --store", "report --findings", "report --store",
       "holes --json")
"""Options that make a file where there is none."""


HARMLESS = ("lines without end",)
"""Kinds that are sound files of expected failures."""
JUDGED = ("gate --pair", "gate TARGET")


def pairs() -> Iterator[object]:
    """Every option with every kind, of which one in so many is in `tests`."""
    places = [(option, kind) for option, (_, kinds) in OPTIONS.items() for kind in kinds]
    fast = set(random.Random(1).sample(places, 40))
    for option, kind in places:
        if option in NEW and kind in ("nothing", "a link to nothing"):
            continue
        if option == "holes --json" and "without end" in kind:  # a device may be written to
            continue
        yield pytest.param(option, kind, marks=() if (option, kind) in fast else pytest.mark.thorough)


def test_there_are_enough_kinds() -> None:
    kinds = {kind for _, known in OPTIONS.values() for kind in known}
    assert len(kinds) >= 100


@pytest.mark.full
@pytest.mark.parametrize(("option", "kind"), list(pairs()))
def test_a_hostile_file_is_one_line_and_soon(
    option: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words, kinds = OPTIONS[option]
    code_file = any("FILE.py" in word for word in words)
    name = "laplace.delta.json" if "IN" in words else "given.py" if code_file else "given"
    path = tmp_path / name
    content = kinds[kind]
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif kind == "a link to itself":
        path.symlink_to(name)
    elif option == "check --store" and kind == "a terminal" and not Path("/dev/tty").exists():
        pytest.skip("no terminal")
    else:
        content(path)
    if option == "check --sign" and path.is_file() and not path.is_symlink():
        path.chmod(0o600)
    given = f"{path}/below" if kind == "a file below a file" else str(path)
    key = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    (tmp_path / "key").write_bytes(key.public_bytes(serialization.Encoding.PEM, form))
    known = {"FILE": given, "IN": str(tmp_path), "OUT": str(tmp_path / "out"), "KEY": str(tmp_path / "key"),
             "FILE.py:train": f"{given}:train", "FILE.py:f": f"{given}:f"}
    code, spent = worked(lambda: run(app, [known.get(word, word) for word in words]))
    told = capsys.readouterr()
    assert code == 2, told.err
    assert spent < SECONDS
    if option in JUDGED or (option == "gate --xfail" and kind in HARMLESS):
        # A target that cannot be used is a result, told with all others.
        assert "gate: no verdict: a target cannot be used" in told.out
        assert "hangs" not in told.out
        assert told.out.replace("\n", "").isprintable()
        return
    assert told.err.startswith("error: "), told
    assert told.err.count("\n") == 1
    assert told.err.rstrip("\n").isprintable()
    assert len(told.err) < 2000
