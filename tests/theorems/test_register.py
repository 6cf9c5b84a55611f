"""An id that was once given is never dropped or renamed: others cite it. New ones join the list at a release."""

from __future__ import annotations

from pathlib import Path

from theorems.claim import claims

REGISTER = Path(__file__).with_name("register.txt")
ENTRIES = Path(__file__).with_name("entries_nonconvex_nn.txt")
"""The entries of the two hostile readings of document 002 by their own ids, those that name several under each."""


def test_the_register_lists_each_id_once() -> None:
    entries = REGISTER.read_text(encoding="utf-8").split()
    assert len(entries) >= 304
    assert entries == sorted(set(entries))


def test_every_id_is_still_a_claim() -> None:
    missing = sorted(set(REGISTER.read_text(encoding="utf-8").split()) - claims().keys())
    assert missing == []


def test_every_entry_of_the_readings_of_document_002_is_a_claim_of_its_own_id() -> None:
    entries = ENTRIES.read_text(encoding="utf-8").split()
    assert len(entries) == len(set(entries)) == 175
    assert sorted(set(entries) - claims().keys()) == []
