"""Draws on a device: words equal to the tape's bit for bit, the same laws, and nothing read back from the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.core.tape import SINGLE_ERROR, Tape, torch_tape
from oracle.core.tape.aes_words import AesWords
from oracle.core.tape.torch_tape import TorchTape
from oracle.core.tape.torch_words import aes, philox
from tests.pretend_device import NAME, pretended, values

CPU = torch.device("cpu")
EXACT = {
    "words": lambda tape: tape.words("w", 3, 5),
    "uniform": lambda tape: tape.uniform("u", 3, 5),
    "bernoulli": lambda tape: tape.bernoulli("b", 3, 5, 0.3),
    "never": lambda tape: tape.bernoulli("b", 3, 5, 0.0),
    "always": lambda tape: tape.bernoulli("b", 3, 5, 1.0),
    "permutation": lambda tape: tape.permutation("p", 3, 9),
    "poisson": lambda tape: tape.poisson("k", 3, 20.0),
}
CLOSE = {
    "laplace": lambda tape: tape.laplace("l", 3, 5),
    "exponential_norm": lambda tape: tape.exponential_norm("e", 3, 5),
    "normal": lambda tape: tape.normal("n", 3, 7),
    "short_normal": lambda tape: tape.short_normal("s", 3, 7),
}


def on_device(tape: Tape, device: torch.device = CPU, *, single: bool = False) -> TorchTape:
    return TorchTape(tape.seed, tape.models, tape.first_model, device=device, single=single)


@given(key=st.binary(min_size=16, max_size=16), first=st.integers(0, 2**80), blocks=st.integers(0, 9))
@example(key=b"\xff" * 16, first=2**64 - 3, blocks=7)
@example(key=bytes(16), first=2**63 - 2, blocks=5)
@example(key=bytes(16), first=2**128 - 4, blocks=3)
def test_words_are_those_of_the_host(key: bytes, first: int, blocks: int) -> None:
    """Philox's are numpy's, and AES's those of the library that the host asks, also where a counter carries."""
    names = np.frombuffer(key, dtype="<u8")
    made = philox((int(names[0]), int(names[1])), first, blocks, CPU).numpy().view(np.uint64).ravel()
    np.testing.assert_array_equal(made, np.random.Philox(key=names, counter=first).random_raw(4 * blocks))
    words = aes(key, first, blocks, CPU).numpy().view("<u8").ravel()
    np.testing.assert_array_equal(words, AesWords(key, first).random_raw(2 * blocks))


@pytest.mark.parametrize("first", [2**128 - 3, 2**192 - 3, 2**256 - 3])
def test_a_counter_carries_through_all_its_words(first: int) -> None:
    """Philox's has 256 bits, of which those of `Tape` never leave the first 128."""
    made = philox((1, 2), first, 6, CPU).numpy().view(np.uint64).ravel()
    np.testing.assert_array_equal(made, np.random.Philox(key=np.array([1, 2]), counter=first).random_raw(24))


def test_aes_is_that_of_the_standard() -> None:
    """FIPS 197, appendix C.1: the block 00 11 22 ... ff under the key 00 01 ... 0f."""
    counter = int.from_bytes(bytes(17 * byte for byte in range(16)), "big")
    words = aes(bytes(range(16)), counter, 1, CPU).numpy()
    assert words.tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("first", [0, 11, 2**40 + 1, 2**63 - 2, 2**64 - 6])
def test_what_is_made_of_words_alone_is_equal(name: str, first: int) -> None:
    tape = Tape(9, 6, first)
    host, device = EXACT[name](tape), EXACT[name](on_device(tape)).numpy()
    np.testing.assert_array_equal(device.view(host.dtype) if name == "words" else device, host)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", CLOSE)
def test_other_laws_differ_in_last_bits_only(name: str, single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = Tape(9, 200, 7)
    host = CLOSE[name](tape)
    # A pair of normals in float32 lies within SINGLE_ERROR times its length of the pair in float64, on both sides.
    error = 9 * 2 * SINGLE_ERROR if single and name != "laplace" else 1e-13
    device = CLOSE[name](on_device(tape, single=single))
    np.testing.assert_allclose(device.numpy(), host, rtol=error, atol=error)
    monkeypatch.setattr(torch_tape, "_BLOCK_WORDS", 32)
    np.testing.assert_array_equal(CLOSE[name](on_device(tape, single=single)).numpy(), device.numpy())


@pytest.mark.parametrize("law", ["words", "uniform", "permutation", "laplace", "normal", "short_normal"])
@pytest.mark.parametrize("single", [False, True])
def test_nothing_can_be_drawn(law: str, single: bool) -> None:
    tape = Tape(9, 6, 2**64 - 6)
    for one in (tape, tape.by("numpy", single=single), tape.by("torch", single=single), on_device(tape, single=single)):
        assert tuple(getattr(one, law)("none", 3, 0).shape) == (6, 0)


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_any_model_can_be_drawn_alone(name: str) -> None:
    draw, tape = {**EXACT, **CLOSE}[name], on_device(Tape(9, 6, 11))
    together = draw(tape)
    for model in range(6):
        assert torch.equal(draw(tape.one(model)), together[[model]])
    assert torch.equal(draw(tape.block(2, 3)), together[2:5])


@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_drawing_reads_nothing_from_the_device(name: str) -> None:
    """The distribution of a Poisson number is sent; the draws come out on the device, as they do here."""
    draw: Any = {**EXACT, **CLOSE}[name]
    tape = Tape(9, 6, 11)
    with pretended():
        draw(on_device(tape, torch.device(NAME)))  # tables that are kept are sent once
    with pretended() as crossings:
        drawn = draw(on_device(tape, torch.device(NAME)))
    assert crossings.read == []
    assert len(crossings.sent) == (name == "poisson")
    assert torch.equal(values(drawn), draw(on_device(tape)))
