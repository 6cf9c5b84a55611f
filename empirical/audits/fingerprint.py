"""What trains the models: our own sources and the libraries whose rounding shows in the results, as one short text.

A shard that was trained by other code is not continued, and a worker that runs other code is refused. Foreign targets
carry the sha256 of their own sources in their spec.
"""

from __future__ import annotations

import functools
import hashlib
from importlib import metadata
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "torch")


@functools.cache
def fingerprint() -> str:
    """32 hexadecimal digits of BLAKE2b of the sources below `oracle` and `empirical` and of the libraries' versions."""
    digest = hashlib.blake2b(digest_size=16)
    for name in LIBRARIES:
        digest.update(f"{name} {metadata.version(name)}\n".encode())
    root = Path(__file__).resolve().parents[2]
    for room in ("oracle", "empirical"):
        for file in sorted((root / room).rglob("*.py")):
            content = hashlib.blake2b(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(root).as_posix()} {content}\n".encode())
    return digest.hexdigest()
