"""Signatures: what was signed is told from what was edited, and keys are handled with care."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from oracle.core.errors import DomainError
from oracle.running.outputs import Outputs
from oracle.running.signing import Signer, verify
from tests.commands import command

CLAIM = ("check", "relu-approx/lem-3.2")
PEM = serialization.Encoding.PEM


def private(path: Path, key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey, password: bytes = b"") -> Path:
    form = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    path.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, form))
    path.chmod(0o600)
    return path


def public(path: Path, key: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey) -> Path:
    path.write_bytes(key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    return path


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    return private(tmp_path / "key.pem", key), public(tmp_path / "key.pub", key)


def test_a_report_and_a_store_are_signed_and_an_edit_is_noticed(keys: tuple[Path, Path], tmp_path: Path) -> None:
    key, pub = keys
    report, store = tmp_path / "found.json", tmp_path / "found.store"
    words = (*CLAIM, "--json", str(report), "--store", str(store), "--sign", str(key))
    assert command(*words).returncode == 0
    for file in (report, store):
        assert command("verify", str(file), "--key", str(pub)).returncode == 0
    content = report.read_text()
    report.write_text(content.replace("REFUTED", "HOLDS"))
    done = command("verify", str(report), "--key", str(pub))
    assert done.returncode == 1
    assert "is not what" in " ".join(done.stdout.split())
    sound = store.read_bytes()
    for at in range(0, len(sound), 701):
        store.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
        assert not verify(store, pub)
    # A store that was edited is not gone on from, nor signed; a sound one is.
    assert command(*words).returncode == 2
    assert not verify(store, pub)
    store.write_bytes(sound)
    assert command(*words).returncode == 0
    assert verify(store, pub)
    assert json.loads(report.read_text()) == json.loads(content)


def test_another_key_and_a_signature_of_something_else_are_noticed(keys: tuple[Path, Path], tmp_path: Path) -> None:
    key, pub = keys
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    out = Outputs({"one": one, "other": other}, sign=key)
    out.text("one", "1")
    out.text("other", "2")
    assert verify(one, pub)
    assert not verify(one, pub, Path(f"{other}.sig"))
    stranger = ed25519.Ed25519PrivateKey.generate()
    assert not verify(one, public(tmp_path / "theirs.pub", stranger))
    with pytest.raises(DomainError, match=r"is not what one.txt.sig says"):
        Outputs({}, stores={"store": one}, sign=private(tmp_path / "theirs.pem", stranger))
    Path(f"{one}.sig").unlink()
    assert command("verify", str(one), "--key", str(pub)).returncode == 2


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_makes_the_keys_and_checks_the_signatures(tmp_path: Path) -> None:
    def openssl(*words: str | Path) -> int:
        return subprocess.run(["openssl", *words], cwd=tmp_path, capture_output=True).returncode

    if openssl("genpkey", "-algorithm", "ed25519", "-out", "key.pem") != 0:
        pytest.skip("this openssl knows no Ed25519")
    openssl("pkey", "-in", "key.pem", "-pubout", "-out", "key.pub")
    (tmp_path / "key.pem").chmod(0o600)
    out = Outputs({"json": tmp_path / "a.json"}, sign=tmp_path / "key.pem")
    out.json("json", {"verdict": "CONSISTENT"})
    assert verify(tmp_path / "a.json", tmp_path / "key.pub")
    words = ("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key.pub", "-sigfile", "a.json.sig", "-in", "a.json")
    if openssl("pkeyutl", "-help", "-rawin") != 0:
        assert openssl(*words) == 0


def test_a_key_is_no_other_key_and_nobody_else_may_read_it(keys: tuple[Path, Path], tmp_path: Path) -> None:
    key, pub = keys
    curve = ec.generate_private_key(ec.SECP256R1())
    ours = ed25519.Ed25519PrivateKey.generate()
    wrong = {
        "an Ed25519 key": private(tmp_path / "curve.pem", curve), "Is a directory": tmp_path,
        "without password": private(tmp_path / "locked.pem", ours, b"secret"), "No such file": tmp_path / "nothing",
    }
    for told, path in wrong.items():
        with pytest.raises(DomainError, match=f"sign = .*{told}"):
            Signer(path)
    with pytest.raises(DomainError, match="a private key in PEM"):
        Signer((private(pub, ours) and public(pub, ours).chmod(0o600)) or pub)
    key.chmod(0o644)
    with pytest.raises(DomainError, match="others may read it"):
        Signer(key)
    with pytest.raises(DomainError, match=r"key = .* an Ed25519 key"):
        verify(key, public(tmp_path / "curve.pub", curve))
    with pytest.raises(DomainError, match=r"key = .* a public key in PEM"):
        verify(key, key)


def test_the_key_and_signatures_are_never_written_over(keys: tuple[Path, Path], tmp_path: Path) -> None:
    key, _ = keys
    content = key.read_bytes()
    for files in ({"json": key}, {"json": tmp_path / "a", "junit": tmp_path / "a.sig"}):
        with pytest.raises(DomainError, match="is the same file"):
            Outputs(files, sign=key)
    with pytest.raises(DomainError, match="a file, which can be signed"):
        Outputs({"json": Path("/dev/stdout")}, sign=key)
    assert key.read_bytes() == content
