"""Short normals: their words, their law, both precisions, and any model alone.

Statistical tests fix their seed; a right generator fails each assertion with probability below 1e-6 on a random one.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import oracle.core.tape
from oracle.core.tape import LIBRARIES, LONGEST_SHORT_PAIR, SINGLE_ERROR, Tape
from oracle.core.tape.aes_words import AesWords

every_library = pytest.mark.parametrize("library", LIBRARIES)


def aes_128(key: bytes, block: bytes) -> bytes:
    """FIPS 197 to the letter, in integers of Python: the block under the key."""

    def times(a: int, b: int) -> int:
        product = 0
        for place in range(8):
            product ^= (a << place) * (b >> place & 1)
        for place in range(14, 7, -1):
            product ^= (0x11B << place - 8) * (product >> place & 1)
        return product

    def substitute(byte: int) -> int:
        inverse = next((other for other in range(256) if times(byte, other) == 1), 0)
        turned = [(inverse << turn | inverse >> 8 - turn) & 0xFF for turn in range(5)]
        return turned[0] ^ turned[1] ^ turned[2] ^ turned[3] ^ turned[4] ^ 0x63

    box = [substitute(byte) for byte in range(256)]
    keys, constant = [list(key[place : place + 4]) for place in range(0, 16, 4)], 1
    for place in range(4, 44):
        last = keys[-1]
        if place % 4 == 0:
            last = [box[byte] for byte in last[1:] + last[:1]]
            last[0] ^= constant
            constant = times(constant, 2)
        keys.append([a ^ b for a, b in zip(keys[-4], last, strict=True)])
    rounds = [[byte for word in keys[place : place + 4] for byte in word] for place in range(0, 44, 4)]
    state = [a ^ b for a, b in zip(block, rounds[0], strict=True)]
    for number in range(1, 11):
        state = [box[state[(place + 4 * (place % 4)) % 16]] for place in range(16)]
        if number < 10:
            columns = [state[place : place + 4] for place in range(0, 16, 4)]
            state = [
                times(c[row], 2) ^ times(c[(row + 1) % 4], 3) ^ c[(row + 2) % 4] ^ c[(row + 3) % 4]
                for c in columns for row in range(4)
            ]
        state = [a ^ b for a, b in zip(state, rounds[number], strict=True)]
    return bytes(state)


def test_the_cipher_of_these_tests_is_aes() -> None:
    """The example of FIPS 197, Appendix C.1."""
    block = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert aes_128(bytes(range(16)), block).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


@pytest.mark.full
def test_the_words_are_those_of_the_key_and_the_model() -> None:
    """AES keyed by the hash of the name, `count` words for each model rounded up to blocks, one after the other."""
    key = hashlib.blake2b(b"3/u/2", digest_size=16, person=b"short").digest()
    blocks = [aes_128(key, counter.to_bytes(16, "big")) for counter in range(8 * 3, 13 * 3)]
    expected = [int.from_bytes(half, "little") for block in blocks for half in (block[:8], block[8:])]
    stream = Tape(3, 5, 8).short_stream("u", 2, 5)
    assert [*stream.random_raw(7).tolist(), *stream.random_raw(0).tolist(), *stream.random_raw(23).tolist()] == expected


def test_a_counter_carries_over_all_its_bytes() -> None:
    key = bytes(16)
    first = 2**64 - 1
    words = AesWords(key, first).random_raw(4).tolist()
    blocks = [aes_128(key, counter.to_bytes(16, "big")) for counter in (first, first + 1)]
    assert words == [int.from_bytes(half, "little") for block in blocks for half in (block[:8], block[8:])]


def test_they_are_box_muller_of_32_bits_each() -> None:
    """Number by number: the first half of a model's bits are radii, the second turns; cosines come before sines."""
    tape = Tape(6, 3, 2)
    words = tape.short_stream("noise", 4, 3).random_raw(12).tolist()  # a model's fourth word is not used
    normal = tape.short_normal("noise", 4, 5)
    assert normal.shape == (3, 5)
    for model in range(3):
        bits = [part for word in words[4 * model : 4 * model + 3] for part in (word & 0xFFFFFFFF, word >> 32)]
        for place in range(5):
            radius = math.sqrt(-2 * math.log(float(np.float32((bits[place % 3] + 0.5) * 2.0**-32))))
            turn = (math.cos, math.sin)[place // 3](2 * math.pi * bits[3 + place % 3] / 2**32)
            assert normal[model, place] == pytest.approx(radius * turn, rel=1e-12)


@every_library
@pytest.mark.parametrize("single", [False, True])
def test_they_come_in_blocks(library: str, single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits as all at once, every model in one block, also where blocks are no longer than a row."""
    tape = Tape(4, 7, 3).by(library, single=single)
    together = tape.short_normal("noise", 1, 5)
    assert together.dtype == (np.float32 if single else np.float64)
    for pairs, sizes in ((1 << 18, [7]), (9, [3, 3, 1]), (1, [1] * 7)):
        monkeypatch.setattr(oracle.core.tape, "_BLOCK_PAIRS", pairs)
        seen: list[Any] = []
        for models, *parts in tape.short_pairs("noise", 1, 5):
            radius, cosine, sine = (np.asarray(part) for part in parts)
            assert radius.dtype == together.dtype
            np.testing.assert_array_equal(np.hstack([radius * cosine, radius * sine])[:, :5], together[models])
            seen.append((len(radius), range(7)[models]))
        assert [size for size, _ in seen] == sizes
        assert [place for _, places in seen for place in places] == list(range(7))
        np.testing.assert_array_equal(tape.short_normal("noise", 1, 5), together)


@every_library
def test_both_precisions_draw_the_same(library: str) -> None:
    """Over two million draws, and in any block: a pair is off by at most `SINGLE_ERROR` times its length."""
    for dimension in (2, 10, 4000):
        tape = Tape(4, 2_000_000 // (3 * dimension), 5)
        single = tape.by(library, single=True)
        double, drawn = tape.short_normal("noise", 1, dimension), single.short_normal("noise", 1, dimension)
        assert farthest(double, drawn) <= SINGLE_ERROR
        np.testing.assert_allclose(tape.by(library).short_normal("noise", 1, dimension), double, rtol=1e-13)
        np.testing.assert_array_equal(single.block(7, 2).short_normal("noise", 1, dimension), drawn[7:9])
        np.testing.assert_array_equal(single.one(3).short_normal("noise", 1, dimension), drawn[3:4])


def farthest(double: Any, single: Any) -> float:
    """The largest distance of a pair in float32 from the pair in float64, as a share of its length."""
    pairs = [draws.astype(np.float64).reshape(len(draws), 2, -1) for draws in (double, single)]
    return float((np.linalg.norm(pairs[1] - pairs[0], axis=1) / np.linalg.norm(pairs[0], axis=1)).max())


class FixedPairs:
    """A stream of given pairs of 32 bits, the firsts before the seconds."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        bits = [pair[place] for place in (0, 1) for pair in pairs]
        self.words = np.array([low | high << 32 for low, high in zip(bits[::2], bits[1::2], strict=True)], np.uint64)

    def random_raw(self, count: int) -> Any:
        assert len(self.words) <= count <= len(self.words) + 1  # the last one fills a block, and is not used
        return np.pad(self.words, (0, count - len(self.words)))


@every_library
def test_extreme_words(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uniforms next to 0, where the normals are longest, next to 1, where they are short, and quarters of a turn.

    The last 128 first words are rounded to the uniform 1, and their normals are 0, in either precision.
    """
    near = [2**power + shift for power in (1, 7, 8, 12, 23, 24, 30, 31) for shift in (-1, 0, 1)]
    ends = sorted({0, *near, *(2**32 - word for word in near), 2**32 - 129, 2**32 - 128, 2**32 - 1, 3 * 2**30})
    pairs = [(first, second) for first in ends for second in ends]
    monkeypatch.setattr(Tape, "short_stream", lambda *_: FixedPairs(pairs))
    double, single = (
        tape.short_normal("noise", 0, 2 * len(pairs))[0].astype(np.float64).reshape(2, -1)
        for tape in (Tape(0), Tape(0).by(library, single=True))
    )
    first = np.array([pair[0] for pair in pairs], dtype=np.uint64)
    lengths = np.hypot(*double)
    assert lengths[first == 0] == pytest.approx(math.sqrt(66 * math.log(2)), rel=1e-12)
    assert 6.76 < lengths.max() < LONGEST_SHORT_PAIR
    assert np.hypot(*single).max() < LONGEST_SHORT_PAIR
    shortest = first >= 2**32 - 128
    assert not double[:, shortest].any()
    assert not single[:, shortest].any()
    assert lengths[~shortest].min() == pytest.approx(math.sqrt(2 * 2.0**-24), rel=1e-6)
    assert (np.hypot(*(single - double)) <= SINGLE_ERROR * lengths).all()


@pytest.mark.parametrize("single", [False, True])
def test_they_are_normal(single: bool) -> None:
    """A million draws: their law, the squares of their pairs, the four first moments, and neighbours' products."""
    drawn = Tape(2024, 500, single=single).short_normal("noise", 0, 2000).astype(np.float64)
    flat = drawn.ravel()
    assert stats.kstest(flat, "norm").pvalue > 1e-6
    assert stats.kstest((drawn[:, :1000] ** 2 + drawn[:, 1000:] ** 2).ravel(), stats.chi2(2).cdf).pvalue > 1e-6
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((flat**power).mean() - moment) < 5 * math.sqrt(variance / flat.size)  # 6e-7
    for shift in (1, 2, 1000, 2000):  # within a row, the two of a pair, and the same place of two models
        assert abs((flat[shift:] * flat[:-shift]).mean()) < 5 / math.sqrt(flat.size - shift)
    tails = (np.abs(flat) > 4).sum()
    assert stats.binomtest(int(tails), flat.size, 2 * stats.norm.sf(4)).pvalue > 1e-6


def test_names_make_other_draws() -> None:
    """Seeds, purposes and steps: uncorrelated over 10^5 draws, within five standard errors (6e-7)."""
    base = Tape(1, 100).short_normal("noise", 0, 1000).ravel()
    for other in (
        Tape(2, 100).short_normal("noise", 0, 1000), Tape(1, 100).short_normal("initial", 0, 1000),
        Tape(1, 100).short_normal("noise", 1, 1000), Tape(1, 100).normal("noise", 0, 1000),
        Tape(1, 100, 100).short_normal("noise", 0, 1000),
    ):
        assert abs((base * other.ravel()).mean()) < 5 / math.sqrt(base.size)
