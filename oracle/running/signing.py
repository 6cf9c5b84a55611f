"""Signatures beside results, so that a report or a store that was edited is noticed: Ed25519, by `cryptography`.

A signature is that of the file's bytes, 64 bytes in a file of its name with `.sig` at the end, as openssl makes and
checks it. Keys are PEM files, made by openssl:

    openssl genpkey -algorithm ed25519 -out key.pem; chmod 600 key.pem
    openssl pkey -in key.pem -pubout -out key.pub

It says that whoever has the key let these bytes stand, not that they are right, and not when that was.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from oracle.core.errors import DomainError
from oracle.core.reading import read_bytes
from oracle.running.outputs import SIGNATURE

_LONGEST = 1  # MB of a key file
_LARGEST = 4096  # MB of a file that is signed, which is read whole


class Signer:
    """A private key, from a file that nobody else may read."""

    def __init__(self, path: Path) -> None:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        content = read_bytes(path, name="sign", megabytes=_LONGEST)
        mode = stat.S_IMODE(path.stat().st_mode)
        if os.name == "posix" and mode & 0o077:
            raise DomainError(f"sign = {path} is outside its domain: others may read it (mode {mode:o}; chmod 600 it)")
        try:
            key = load_pem_private_key(content, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: it has a password
            raise DomainError(f"sign = {path} is outside its domain: a private key in PEM, without password") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise DomainError(f"sign = {path} is outside its domain: an Ed25519 key")
        self._key = key

    def signature(self, path: Path) -> bytes:
        """The signature of a file's bytes."""
        return self._key.sign(read_bytes(path, megabytes=_LARGEST))

    def take_off(self, name: str, path: Path) -> None:
        """Remove the signature of a file that is to change; one of other bytes or of another key is refused."""
        signature = Path(f"{path}{SIGNATURE}")
        if not path.exists() or not signature.exists():
            return
        if not _holds(self._key.public_key(), path, signature):
            raise DomainError(
                f"{name} = {path} is not what {signature.name} says: it was changed, or signed by another key; look at "
                "it, and remove the signature to go on from it"
            )
        signature.unlink()


def verify(path: Path, public_key: Path, signature: Path | None = None) -> bool:
    """Whether a file is what the owner of a key signed."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(read_bytes(public_key, name="key", megabytes=_LONGEST))
    except (ValueError, UnsupportedAlgorithm):
        raise DomainError(f"key = {public_key} is outside its domain: a public key in PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise DomainError(f"key = {public_key} is outside its domain: an Ed25519 key")
    return _holds(key, path, Path(f"{path}{SIGNATURE}") if signature is None else signature)


def _holds(key: object, path: Path, signature: Path) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    assert isinstance(key, Ed25519PublicKey)
    try:
        key.verify(
            read_bytes(signature, name="signature", megabytes=_LONGEST),
            read_bytes(path, name="file", megabytes=_LARGEST),
        )
    except InvalidSignature:
        return False
    return True
