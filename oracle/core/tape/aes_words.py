"""Random words by AES-128 in counter mode (NIST SP 800-38A), for draws that take millions of them.

The words 2c and 2c + 1 are the two halves of the block that AES makes of the counter c under the key, read as
little-endian integers: any place is reached at once, a stream has 2^129 words, and the bits are the same on every
machine. Processors have instructions for AES, so that a word takes a third of the time of numpy's generators; and no
feasible test tells the words from fair coins, or AES would be broken.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from oracle.core import extras

WORDS_PER_BLOCK = 2
_WORD_BYTES = 8


class AesWords:
    """The words under a key of 16 bytes, from those of the counter `first` on."""

    def __init__(self, key: bytes, first: int) -> None:
        with extras.told():
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        counter = first.to_bytes(WORDS_PER_BLOCK * _WORD_BYTES, "big")
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

    def random_raw(self, size: int) -> NDArray[np.uint64]:
        """The next words, by the name that numpy's generators use."""
        words = np.empty(size + WORDS_PER_BLOCK, dtype="<u8")  # a block more than is filled: the cipher asks for room
        self._cipher.update_into(_zeros(size), words.data.cast("B"))
        return words[:size]


@functools.lru_cache(maxsize=8)
def _zeros(words: int) -> bytes:
    """What is encrypted, so that the stream itself is left; few lengths are asked for, over and over."""
    return bytes(words * _WORD_BYTES)
