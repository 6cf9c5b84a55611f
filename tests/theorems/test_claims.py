"""The claims: every verdict as established, every refutation re-verified by another route and repaired."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from oracle.core.registry import bounds
from tests.theorems.findings import found
from tests.theorems.witnesses import gather
from tests.tiers import later, one_of
from theorems.claim import claims, expectations
from theorems.verdict import Evidence, Verdict

PAPERS = {"relu-approx", "sbcd", "nonconvex-nn", "glmtron", "cs208", "background"}
REFUTED = [name for name, item in expectations().items() if item.verdict is Verdict.REFUTED]
REPAIRS = {item.repaired_by for item in claims().values()} - {None}
VERIFIERS, HARMLESS = gather()
DEAR = {
    "relu-approx/lem-3.2-repaired", "relu-approx/thm-2.4", "background/fmt-approximate", "background/wbk",
    "background/ye-shokri22", "background/shuffle-clones", "background/fmit18", "background/laplace-curve",
}


class Read(Mapping[str, str]):
    """A witness that remembers whether anybody looked at it."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self.entries, self.seen = entries, False

    def __getitem__(self, key: str) -> str:
        self.seen = True
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


@pytest.mark.parametrize("name", later(list(claims()), lambda name: name in DEAR or not one_of(6, name), "full"))
def test_verdict_and_evidence_are_as_established(name: str) -> None:
    checked = found(name)
    assert checked.as_expected, f"{checked.difference}: {checked.finding}"
    finding = checked.finding
    for text in (finding.summary, *finding.witness, *finding.witness.values()):
        assert isinstance(text, str)
        assert "\\" not in text, f"{name} shows LaTeX where text belongs: {text}"
    if name in REPAIRS:
        assert finding.verdict is Verdict.HOLDS
        assert finding.scope is not None  # something was computed, however weak what it rests on


def test_what_is_refuted_has_a_repair_and_what_holds_has_none() -> None:
    for name, item in claims().items():
        verdict = expectations()[name].verdict
        assert item.repaired_by is not None or verdict is not Verdict.REFUTED, name
        assert item.repaired_by is None or verdict is not Verdict.HOLDS, name


@pytest.mark.full
@pytest.mark.parametrize("name", REFUTED)
def test_a_witness_is_one_by_another_route(name: str) -> None:
    assert name in VERIFIERS, f"no module of tests/theorems/witnesses re-verifies {name}"
    witness = Read(found(name).finding.witness)
    assert VERIFIERS[name](witness), f"{name} does not fail at {dict(witness.entries)}"
    assert witness.seen, f"the verifier of {name} does not look at the witness"


@pytest.mark.full
@pytest.mark.parametrize("name", list(HARMLESS))
def test_what_is_no_witness_is_not_taken_for_one(name: str) -> None:
    assert not VERIFIERS[name](HARMLESS[name])


def test_only_refuted_claims_have_witnesses() -> None:
    assert sorted(VERIFIERS) == sorted(REFUTED)
    assert HARMLESS.keys() <= VERIFIERS.keys()


def test_ids_and_words_are_well_formed() -> None:
    for name, item in claims().items():
        assert re.fullmatch(r"[a-z0-9-]+/[A-Za-z0-9.-]+", name), name
        assert item.paper in PAPERS
        assert item.source
        assert item.words
        assert not item.words.endswith("."), name  # it stands inside sentences
        assert item.words == " ".join(item.words.split()), name


def test_the_expected_verdicts_are_ones_that_may_be_expected() -> None:
    for name, item in expectations().items():
        assert item.verdict is not Verdict.VACUOUS, name
        assert (item.verdict is Verdict.NOT_CHECKABLE) <= (item.evidence is Evidence.CITED), name


def test_sources_of_bounds_that_name_a_registered_paper_section_are_claims() -> None:
    # A bound's source may be a claim still to be written; what it must not do is name a paper that does not exist.
    for item in bounds().values():
        assert item.source
        for source in item.source:
            assert source.split("/")[0] in PAPERS
