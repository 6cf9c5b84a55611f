"""Every entry of the register of documents 000 and 001 is a claim."""

from __future__ import annotations

from pathlib import Path

from theorems.claim import claims

REGISTER = Path(__file__).with_name("register_000_001.txt")


def test_the_register_lists_each_entry_once() -> None:
    entries = REGISTER.read_text(encoding="utf-8").split()
    assert len(entries) == 109
    assert entries == sorted(set(entries))


def test_every_entry_is_a_claim() -> None:
    missing = sorted(set(REGISTER.read_text(encoding="utf-8").split()) - claims().keys())
    assert missing == []
