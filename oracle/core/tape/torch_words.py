"""The tape's random words made on a torch device, bit for bit: Philox4x64-10 and AES-128 in counter mode.

Integer operations that every device has, on whole tensors: a word of 64 bits is an int64, a word of 32 bits an int32,
of the same bits. Sums and products wrap around, as those of unsigned words do, and shifts to the right are masked.

- Philox4x64-10 (Salmon, Moraes, Dror, Shaw 2011): ten rounds on the four words of a counter; numpy's generator counts
  before it draws, so that its first words are those of the counter after the first.
- AES (FIPS 197) with its four tables of 256 words, each round's bytes looked up in them; the 44 words of the key's
  schedule are made on the host, as the key is.
"""

from __future__ import annotations

import functools

import torch

_WORD = (1 << 64) - 1
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)  # what the two words of the key grow by, round by round
_LOW = (1 << 32) - 1


def signed(word: int, bits: int = 64) -> int:
    """The number whose two's complement has the bits of an unsigned word."""
    word &= (1 << bits) - 1
    return word - (1 << bits) if word >> (bits - 1) else word


def shifted(words: torch.Tensor, places: int) -> torch.Tensor:
    """Unsigned words of 64 bits, shifted to the right."""
    return (words >> places) & (_WORD >> places)


def philox(key: tuple[int, int], first: int, counters: int, device: torch.device) -> torch.Tensor:
    """The words [counters, 4] that numpy's Philox gives under the key from the counter `first` on."""
    start = first + 1
    low = torch.arange(counters, dtype=torch.int64, device=device) + signed(start)
    flip = signed(1 << 63)  # unsigned order is the signed order of words whose first bit is turned
    words, carried = [low], (low ^ flip) < (signed(start) ^ flip)
    for word in (signed(start >> place) for place in (64, 128, 192)):
        words.append(carried + word)
        carried = carried & (word == -1)  # all bits of it are set, so that it carries in its turn
    even, odd = torch.stack(words[::2]), torch.stack(words[1::2])
    keys = list(key)
    for _ in range(10):
        upper, lower = (part.flip(0) for part in _products(even))
        even, odd = upper.bitwise_xor_(odd), lower
        for row, growth in enumerate(_WEYL):
            even[row].bitwise_xor_(signed(keys[row]))
            keys[row] += growth
    return torch.stack([even[0], odd[0], even[1], odd[1]], dim=1)


def _products(words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and the lower words of the products of each row [2, n] with its factor, by halves of 32 bits."""
    whole, factor_low, factor_high = _factors(words.device)
    low, high = words & _LOW, shifted(words, 32)
    first = high * factor_low + shifted(low * factor_low, 32)  # no sum here leaves 64 bits
    second = low * factor_high + (first & _LOW)
    return high * factor_high + shifted(first, 32) + shifted(second, 32), words * whole


@functools.cache
def _factors(device: torch.device) -> tuple[torch.Tensor, ...]:
    """Philox's two factors and their halves, each [2, 1]."""
    parts = [[factor, factor & _LOW, factor >> 32] for factor in _MULTIPLIERS]
    table = torch.tensor([[signed(part) for part in row] for row in parts], dtype=torch.int64).to(device)
    return tuple(column[:, None] for column in table.unbind(dim=1))


def aes(key: bytes, first: int, blocks: int, device: torch.device) -> torch.Tensor:
    """What AES makes of the counters from `first` on, as little-endian words of 32 bits, int32 [blocks, 4]."""
    low = torch.arange(blocks, dtype=torch.int64, device=device) + signed(first)
    flip = signed(1 << 63)
    upper = ((low ^ flip) < (signed(first) ^ flip)) + signed(first >> 64)
    halves = [half for word in (upper, low) for half in ((word >> 32).to(torch.int32), _low_half(word))]
    tables = _tables(device)
    schedule = _schedule(key)
    state = [half ^ schedule[column] for column, half in enumerate(halves)]
    for turn in range(1, 10):
        parts = [
            [tables[row].index_select(0, _byte(state[(column + row) % 4], row)) for row in range(4)]
            for column in range(4)
        ]
        state = [a ^ b ^ c ^ d ^ schedule[4 * turn + column] for column, (a, b, c, d) in enumerate(parts)]
    last = tables[4]
    words = []
    for column in range(4):  # the last round mixes nothing, and its bytes are put in little-endian order
        a, b, c, d = (last.index_select(0, _byte(state[(column + row) % 4], row)) for row in range(4))
        words.append((a | b << 8 | c << 16 | d << 24) ^ _turned(schedule[40 + column]))
    return torch.stack(words, dim=1)


def _low_half(words: torch.Tensor) -> torch.Tensor:
    """The last 32 bits of words, as int32; a cast of what does not fit is not the same on all devices."""
    return ((words << 32) >> 32).to(torch.int32)


def _byte(words: torch.Tensor, place: int) -> torch.Tensor:
    return (words >> (24 - 8 * place)) & 255


def _turned(word: int) -> int:
    """A signed word of 32 bits with its bytes in the other order."""
    return int.from_bytes(word.to_bytes(4, "big", signed=True), "little", signed=True)


@functools.cache
def _substitution() -> tuple[int, ...]:
    """The S-box: inverses in the field of 256 elements modulo x^8 + x^4 + x^3 + x + 1, and an affine map of bits."""
    powers = [1]  # of x + 1, which generates the field
    for _ in range(254):
        powers.append(powers[-1] ^ _doubled(powers[-1]))
    places = {power: place for place, power in enumerate(powers)}
    box = []
    for byte in range(256):
        inverse = powers[-places[byte] % 255] if byte else 0
        turns = [((inverse << turn) | (inverse >> (8 - turn))) & 255 for turn in range(5)]
        box.append(turns[0] ^ turns[1] ^ turns[2] ^ turns[3] ^ turns[4] ^ 0x63)
    return tuple(box)


def _doubled(byte: int) -> int:
    return (byte << 1) ^ (0x11B if byte & 128 else 0)


@functools.cache
def _tables(device: torch.device) -> torch.Tensor:
    """What each row's bytes add to a mixed column, four tables of 256 words, and the S-box itself, int32 [5, 256]."""
    rows = []
    for row in range(4):
        words = []
        for byte in _substitution():
            column = [_doubled(byte), byte, byte, byte ^ _doubled(byte)]
            words.append(signed(int.from_bytes(bytes(column[-row:] + column[:-row]), "big"), 32))
        rows.append(words)
    return torch.tensor([*rows, list(_substitution())], dtype=torch.int32).to(device)


@functools.lru_cache(maxsize=8)
def _schedule(key: bytes) -> tuple[int, ...]:
    """The 44 words of the key's schedule, signed."""
    box = _substitution()
    words = [int.from_bytes(key[place : place + 4], "big") for place in range(0, 16, 4)]
    constant = 1
    for place in range(4, 44):
        word = words[-1]
        if place % 4 == 0:
            turned = ((word << 8) | (word >> 24)).to_bytes(5, "big")[1:]
            word = int.from_bytes(bytes(box[byte] for byte in turned), "big") ^ (constant << 24)
            constant = _doubled(constant)
        words.append(words[-4] ^ word)
    return tuple(signed(word, 32) for word in words)
