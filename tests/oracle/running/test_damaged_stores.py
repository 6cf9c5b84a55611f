"""A damaged store never gives a wrong entry, and one damaged byte costs one entry at most, wherever it is."""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from oracle.core.errors import DomainError
from oracle.running.salvage import PAGE, sound_rows
from oracle.running.store import Store

Rows = dict[tuple[str, str, str], bytes]


def make(path: Path) -> Rows:
    """A store of entries of all sizes, each of which replaced one of other code."""
    rng, rows = random.Random(5), {}
    with Store(path) as store:
        for number in range(60):
            kind = ("finding", "shard", "league answers", "plan")[number % 4]
            key = f"{kind}/{number}/{'k' * rng.choice([0, 20, 80])}"
            code = "" if kind == "plan" else "c" * 32
            data = rng.randbytes(rng.choice([10, 300, 900, 4200, 20_000]))
            store.write(kind, key, f"old{code}", data)
            store.write(kind, key, code, data)
            rows[kind, key, code] = data
    return rows


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Rows]:
    path = tmp_path_factory.mktemp("damaged") / "store"
    rows = make(path)
    return path.read_bytes(), rows


def flip(rng: random.Random, content: bytearray) -> None:
    at = rng.choice([rng.randrange(len(content)), rng.randrange(PAGE), rng.randrange(100)])
    content[at] ^= 1 << rng.randrange(8)


def overwrite(rng: random.Random, content: bytearray) -> None:
    at = rng.choice([rng.randrange(len(content)), rng.randrange(PAGE), rng.randrange(100)])
    content[at] ^= rng.randrange(1, 256)


def many(rng: random.Random, content: bytearray) -> None:
    for _ in range(rng.randrange(2, 50)):
        flip(rng, content)


def cut(rng: random.Random, content: bytearray) -> None:
    del content[rng.randrange(1, len(content)) :]


def zeroed(rng: random.Random, content: bytearray) -> None:
    at = PAGE * rng.randrange(len(content) // PAGE)
    content[at : at + PAGE] = bytes(PAGE)


def scrambled(rng: random.Random, content: bytearray) -> None:
    at = PAGE * rng.randrange(len(content) // PAGE)
    content[at : at + PAGE] = rng.randbytes(PAGE)


def swapped(rng: random.Random, content: bytearray) -> None:
    one, other = (PAGE * rng.randrange(len(content) // PAGE) for _ in range(2))
    content[one : one + PAGE], content[other : other + PAGE] = (
        content[other : other + PAGE], content[one : one + PAGE],
    )


def doubled(rng: random.Random, content: bytearray) -> None:
    content += content[: PAGE * rng.randrange(1, 9)]


DAMAGES: tuple[Callable[[random.Random, bytearray], None], ...] = (
    flip, overwrite, flip, many, cut, zeroed, scrambled, swapped, doubled,
)
ONE_BYTE = (flip, overwrite)


@pytest.mark.parametrize("seed", [*range(27), *(pytest.param(n, marks=pytest.mark.thorough) for n in range(27, 1008))])
def test_no_damage_gives_a_wrong_entry(seed: int, store: tuple[bytes, Rows], tmp_path: Path) -> None:
    content, rows = store
    damage, rng, damaged = DAMAGES[seed % len(DAMAGES)], random.Random(seed), bytearray(content)
    damage(rng, damaged)
    path = tmp_path / "store"
    path.write_bytes(damaged)
    if seed % 10 == 1:
        (tmp_path / "store-journal").write_bytes(rng.randbytes(5000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            opened = Store(path)
        except DomainError:  # nothing in it tells that it was a store: it is left alone
            assert damage not in ONE_BYTE
            assert path.read_bytes() == damaged
            assert list(sound_rows(path)) == []
            return
        with opened:
            found = {name: opened.read(*name) for name in rows}
            lost = [name for name, data in found.items() if data is None]
            assert all(data in (None, rows[name]) for name, data in found.items())
            if damage in ONE_BYTE:
                assert len(lost) <= 1
            for kind, key, code in lost:
                opened.write(kind, key, code, rows[kind, key, code])
            assert {name: opened.read(*name) for name in rows} == rows
        with Store(path) as again:
            assert {name: again.read(*name) for name in rows} == rows


@pytest.mark.full
def test_every_byte_of_the_header_may_be_damaged(store: tuple[bytes, Rows], tmp_path: Path) -> None:
    content, rows = store
    for at in range(100):
        path = tmp_path / f"store-{at}"
        path.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Store(path) as opened:
                assert {name: opened.read(*name) for name in rows} == rows


def test_what_is_lost_and_what_is_kept_is_told(store: tuple[bytes, Rows], tmp_path: Path) -> None:
    content, rows = store
    path = tmp_path / "store"
    path.write_bytes(content[: len(content) // 2])
    with pytest.warns(UserWarning, match=r"is damaged: it is now .*, its \d+ sound entries are used"):
        Store(path).close()
    ((kind, key, code), data) = next((name, data) for name, data in rows.items() if len(data) == 300)
    path.write_bytes(content.replace(data, data[:-1] + bytes([data[-1] ^ 1])))
    with Store(path) as opened, pytest.warns(UserWarning, match=f"the {kind} .* is damaged and not used"):
        assert opened.read(kind, key, code) is None


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a device without end", "a link to itself", "text", "zeros"])
def test_what_is_no_store_is_refused_at_once_and_left_alone(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "store"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind in ("text", "zeros"):
        path.write_bytes(b"\x81\x0d and more of it \n" * 1000 if kind == "text" else bytes(10_000))
    else:
        path.symlink_to("/dev/zero" if kind == "a device without end" else path.name)
    before = path.read_bytes() if kind in ("text", "zeros") else b""
    with pytest.raises(Exception, match=r"store = .*store (is outside its domain|cannot be)"):
        Store(path)
    assert kind not in ("text", "zeros") or path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
