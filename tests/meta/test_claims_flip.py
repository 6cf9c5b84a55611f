"""Change what a claim says, and its checker must say so: a true statement made false is refuted, a repair holds."""

from __future__ import annotations

import pytest

from tests.meta.flips import lacking, misjudged
from tests.tiers import one_of
from theorems.claim import Claim, Expectation, Flip, claim, claims, expectations
from theorems.verdict import Evidence, Verdict, instance

FLIPS = [(name, index) for name, item in claims().items() for index in range(len(item.flips))]
EXPECTED = Expectation(Verdict.HOLDS, Evidence.PROVED)


def planted(*flips: Flip) -> Claim:
    """A claim whose checker says HOLDS without a look at what it is given."""
    return Claim(
        "planted/claim", "", "", "", (), 1, lambda says, given: instance("of course"), str(EXPECTED), flips=flips
    )


@pytest.mark.full
def test_every_computed_claim_has_a_flip() -> None:
    assert [why for name, item in claims().items() if (why := lacking(item, expectations()[name]))] == []


def by_day(flip: tuple[str, int]) -> bool:
    """The first flip of every other claim, always the same ones; the others at night."""
    return flip[1] == 0 and one_of(2, flip[0])


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "index"),
    [pytest.param(*flip, id=f"{flip[0]}-{flip[1]}", marks=[] if by_day(flip) else [pytest.mark.thorough])
     for flip in FLIPS],
)
def test_every_flip_gets_its_verdict(name: str, index: int) -> None:
    assert misjudged(claim(name), index) == ""


def test_a_checker_that_never_looks_at_its_input_is_found() -> None:
    assert "instead of REFUTED" in misjudged(planted(Flip("the sign changed", -1, Verdict.REFUTED)), 0)


def test_a_claim_that_hides_its_blind_checker_is_found() -> None:
    for flips in ((), (Flip("the same again", 1, Verdict.HOLDS),)):
        assert "has no flip" in lacking(planted(*flips), EXPECTED)
    assert lacking(planted(), Expectation(Verdict.HOLDS, Evidence.CITED)) == ""
