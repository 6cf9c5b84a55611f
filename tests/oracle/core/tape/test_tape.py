"""The tape's other draws: each has its law, and each model's can be drawn alone.

Statistical tests fix their seed; a right generator fails each assertion with probability below 1e-6 on a random one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import oracle.core.tape
from oracle.core.errors import DomainError
from oracle.core.tape import LIBRARIES, LONGEST_PAIR, SINGLE_ERROR, Tape

DRAWS: dict[str, Callable[[Tape], Any]] = {
    "uniform": lambda tape: tape.uniform("u", 3, 5),
    "bernoulli": lambda tape: tape.bernoulli("b", 3, 5, 0.3),
    "permutation": lambda tape: tape.permutation("p", 3, 5),
    "laplace": lambda tape: tape.laplace("l", 3, 5),
    "exponential_norm": lambda tape: tape.exponential_norm("e", 3, 5),
    "poisson": lambda tape: tape.poisson("k", 3, 20.0),
    "short_normal": lambda tape: tape.short_normal("s", 3, 5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_any_model_can_be_drawn_alone(name: str) -> None:
    draw, tape = DRAWS[name], Tape(9, 6, 11)
    together = draw(tape)
    assert len(together) == 6
    for model in range(6):
        np.testing.assert_array_equal(draw(tape.one(model)), together[[model]])
    np.testing.assert_array_equal(draw(tape.block(2, 3)), together[2:5])


def test_uniforms_bernoullis_and_laplaces_have_their_laws() -> None:
    tape = Tape(5, 40_000)
    uniform = tape.uniform("u", 0, 2)
    assert 0.0 < uniform.min() < uniform.max() < 1.0
    assert stats.kstest(uniform.ravel(), "uniform").pvalue > 1e-6
    assert stats.kstest(tape.laplace("l", 0, 2).ravel(), "laplace").pvalue > 1e-6
    assert stats.binomtest(int(tape.bernoulli("b", 0, 2, 0.03).sum()), 80_000, 0.03).pvalue > 1e-6
    assert not tape.bernoulli("b", 0, 2, 0.0).any()
    assert tape.bernoulli("b", 0, 2, 1.0).all()


@pytest.mark.parametrize("rate", [
    0.0, 2.0**-60, 0.5**54, 2.0**-53, 3 * 0.5**54, 1e-9, 0.1, 0.3, 0.5 - 2.0**-54, 0.5, 0.5 + 2.0**-53, 0.7,
    1 - 2.0**-52, 1 - 2.0**-53, 1.0,
])
def test_an_event_is_a_uniform_below_the_rate(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are compared, and no uniform is made of them: the same events, also next to the rate and at the ends."""
    tape = Tape(5, 100)
    np.testing.assert_array_equal(tape.bernoulli("b", 0, 7, rate), tape.uniform("b", 0, 7) < rate)
    near = {int(rate * 2**53) + shift for shift in range(-6, 7)} | {0, 1, 2**52 - 1, 2**52, 2**53 - 2, 2**53 - 1}
    words = [(place << 11) + low for place in sorted(near) if 0 <= place < 2**53 for low in (0, 2047)]
    fix([*words, *[0] * (-len(words) % 4)], monkeypatch)
    events, uniform = Tape(0).bernoulli("b", 0, len(words), rate), Tape(0).uniform("b", 0, len(words))
    np.testing.assert_array_equal(events, uniform < rate)


def test_permutations_are_uniform() -> None:
    drawn = Tape(6, 60_000).permutation("p", 0, 3)
    assert (np.sort(drawn, axis=1) == np.arange(3)).all()
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_vectors_of_exponential_norm(dimension: int) -> None:
    """The norm is Gamma(d), and the first coordinate of the direction has the law of a uniform direction's."""
    vectors = Tape(7, 40_000).exponential_norm("e", 0, dimension)
    norms = np.linalg.norm(vectors, axis=1)
    assert stats.kstest(norms, stats.gamma(dimension).cdf).pvalue > 1e-6
    first = vectors[:, 0] / norms
    if dimension == 1:
        assert stats.binomtest(int((first > 0).sum()), 40_000).pvalue > 1e-6
    else:
        half = stats.beta((dimension - 1) / 2, (dimension - 1) / 2)
        assert stats.kstest((first + 1) / 2, half.cdf).pvalue > 1e-6


@pytest.mark.parametrize("mean", [0.01, 1.0, 20.0, 300.0])
def test_poisson_numbers(mean: float) -> None:
    drawn = Tape(8, 100_000).poisson("k", 0, mean)
    edges = np.unique(stats.poisson(mean).ppf(np.linspace(0.02, 0.98, 12)))
    cells = np.searchsorted(edges, drawn, side="left")
    expected = np.diff(np.concatenate([[0.0], stats.poisson(mean).cdf(edges), [1.0]])) * len(drawn)
    counts = np.bincount(cells, minlength=len(expected))
    assert stats.chisquare(counts, expected).pvalue > 1e-6


@pytest.mark.parametrize("dimension", [1, 2, 7, 10])
def test_the_library_changes_normals_in_their_last_bits_only(dimension: int) -> None:
    tape = Tape(4, 2000, 3)
    other = tape.by("torch")
    assert other == tape  # the same draws
    ours, theirs = (one.normal("noise", 1, dimension) for one in (tape, other))
    assert isinstance(theirs, np.ndarray)
    np.testing.assert_allclose(theirs, ours, rtol=1e-14)
    assert other.one(5).library == other.block(2, 3).library == "torch"
    np.testing.assert_array_equal(other.words("noise", 1, dimension), tape.words("noise", 1, dimension))
    np.testing.assert_allclose(other.block(7, 2).normal("noise", 1, dimension), ours[7:9], rtol=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("single", [False, True])
def test_normals_come_in_blocks(library: str, single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bits as all at once, every model in one block, also where blocks are no longer than a row."""
    tape = Tape(4, 7, 3).by(library, single=single)
    together = tape.normal("noise", 1, 5)
    for words, sizes in ((1 << 17, [7]), (24, [3, 3, 1]), (1, [1] * 7)):
        monkeypatch.setattr(oracle.core.tape, "_BLOCK_WORDS", words)
        blocks = list(tape._blocks("noise", 1, 6))
        places = [place for models, _ in blocks for place in range(7)[models]]
        assert ([len(part) for _, part in blocks], places) == (sizes, list(range(7)))
        np.testing.assert_array_equal(tape.normal("noise", 1, 5), together)


def test_a_stream_is_that_of_its_key() -> None:
    """Philox keyed by the hash of the name, from the counter of the first model on."""
    key = np.frombuffer(hashlib.blake2b(b"3/u/2", digest_size=16).digest(), dtype=np.uint64)
    expected = np.random.Philox(key=key, counter=8 * 2).random_raw(5 * 8).reshape(5, 8)[:, :7]
    np.testing.assert_array_equal(Tape(3, 5, 8).words("u", 2, 7), expected)


def test_an_unknown_library_is_refused() -> None:
    with pytest.raises(DomainError, match="library = os is none of numpy, torch"):
        Tape(0).by("os")


def test_normals_are_box_muller_of_the_uniforms() -> None:
    """Number by number, as the text has it: the first half of a row is cosines, the second sines."""
    tape = Tape(6, 3, 2)
    uniform, normal = tape.uniform("noise", 4, 6), tape.normal("noise", 4, 5)
    for model in range(3):
        for place in range(5):
            radius = math.sqrt(-2 * math.log(uniform[model, place % 3]))
            turn = (math.cos, math.sin)[place // 3](2 * math.pi * uniform[model, 3 + place % 3])
            assert normal[model, place] == pytest.approx(radius * turn, rel=1e-14)


def test_uniforms_are_the_first_53_bits_of_the_words_and_a_half() -> None:
    """Bit by bit, for models in the middle of a stream and counts that do not fill the last four words."""
    for count in (1, 4, 7, 1000):
        tape = Tape(3, 5, 8)
        places = tape.words("u", 2, count) >> np.uint64(11)
        expected = [[min((float(place) + 0.5) * 2.0**-53, 1 - 2.0**-53) for place in row] for row in places.tolist()]
        np.testing.assert_array_equal(tape.uniform("u", 2, count), expected)


class FixedWords:
    """A stream of given words."""

    def __init__(self, words: list[int]) -> None:
        self.words = np.array(words, dtype=np.uint64)

    def random_raw(self, count: int) -> Any:
        assert count == len(self.words)
        return self.words


def fix(words: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tape, "stream", lambda *_: FixedWords(words))


def test_the_largest_word_is_not_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A uniform of exactly 1 would make a Laplace variable infinite, once in 2^53 draws."""
    fix([0, 2**64 - 1, 0, 0], monkeypatch)
    low, high = Tape(0).uniform("u", 0, 2)[0]
    assert 0.0 < low < high < 1.0
    assert np.isfinite(Tape(0).laplace("l", 0, 2)).all()


def farthest(double: Any, single: Any) -> float:
    """The largest distance of a pair in float32 from the pair in float64, as a share of its length."""
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    pairs = [draws.astype(np.float64).reshape(len(draws), 2, -1) for draws in (double, single)]
    return float((np.linalg.norm(pairs[1] - pairs[0], axis=1) / np.linalg.norm(pairs[0], axis=1)).max())


@pytest.mark.parametrize("library", LIBRARIES)
def test_single_normals_are_the_normals_in_float32(library: str) -> None:
    """Over two million draws, and in any block."""
    for dimension in (2, 10, 4000):
        tape = Tape(4, 2_000_000 // (3 * dimension), 5)
        single = tape.by(library, single=True)
        assert single == tape  # the same draws
        drawn = single.normal("noise", 1, dimension)
        assert farthest(tape.normal("noise", 1, dimension), drawn) <= SINGLE_ERROR
        np.testing.assert_array_equal(single.block(7, 2).normal("noise", 1, dimension), drawn[7:9])
        np.testing.assert_array_equal(single.one(3).normal("noise", 1, dimension), drawn[3:4])
        np.testing.assert_array_equal(single.uniform("u", 1, 3), tape.uniform("u", 1, 3))


@pytest.mark.parametrize("library", LIBRARIES)
def test_single_normals_of_extreme_words(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uniforms next to 0, where the normals are longest, next to 1, where they vanish, and at the quarters of a turn.

    Where the float64 pair is shorter than 1e-7 its own rounding of the uniform shows, and the distance is at most that.
    """
    near = [2**power + shift for power in (11, 12, 24, 40, 60, 61, 62, 63) for shift in (-2048, -1, 0, 2048)]
    ends = [0, 1, 2047, *near, *(-word % 2**64 for word in near), 2**64 - 1, 3 * 2**62]
    pairs = [(first, second) for first in ends for second in ends]
    words = [word for place in (0, 1) for word in (pair[place] for pair in pairs)]
    fix([*words, *[0] * (-len(words) % 4)], monkeypatch)
    double, single = (tape.normal("noise", 0, len(words)) for tape in (Tape(0), Tape(0).by(library, single=True)))
    lengths = np.hypot(*double.reshape(2, -1))
    assert 8.65 < lengths.max() < LONGEST_PAIR
    assert np.hypot(*single.astype(np.float64).reshape(2, -1)).max() < LONGEST_PAIR
    assert 0 < lengths.min() < 1e-7
    apart = np.hypot(*(single.astype(np.float64) - double).reshape(2, -1))
    assert (apart <= np.where(lengths > 1e-7, SINGLE_ERROR * lengths, 1e-7)).all()


def test_single_normals_are_normal() -> None:
    """2 * 10^5 draws of a fixed seed; a right generator fails with probability 1e-6."""
    assert stats.kstest(Tape(2024, 50_000, single=True).normal("noise", 0, 4).ravel(), "norm").pvalue > 1e-6
