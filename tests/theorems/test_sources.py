"""Whatever a bound or an algorithm names as its source is a claim: a number without a checked statement is no proof."""

from __future__ import annotations

import pytest

from oracle.core.registry import algorithms, bounds
from theorems.claim import Verdict, claims, expectations

PAPERS = ("background/", "sbcd/", "relu-approx/")
SOURCES = sorted({
    source
    for item in (*bounds().values(), *algorithms().values())
    for source in item.source
    if source.startswith(PAPERS)
})


def test_some_sources_are_named() -> None:
    assert len(SOURCES) > 20


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_is_a_claim(source: str) -> None:
    assert source in claims()


@pytest.mark.parametrize("source", [name for name in SOURCES if name.startswith("background/")])
def test_a_background_result_that_bounds_rest_on_holds_by_a_computation(source: str) -> None:
    assert expectations()[source].verdict is Verdict.HOLDS
    assert expectations()[source].evidence.value != "CITED"
