"""Whatever is named as a source is a claim, and what a bound rests on holds.

A number without a checked statement is no proof: so is the validity that a bound tells held to its sources' verdicts.
"""

from __future__ import annotations

import functools

import pytest

from oracle.core.registry import VALIDITIES, algorithms, bounds
from theorems.claim import claims, expectations
from theorems.promise import false_claims
from theorems.verdict import Evidence, Verdict


@functools.cache
def named() -> dict[str, list[str]]:
    """Who names each source: bounds, algorithms and false promises."""
    table: dict[str, list[str]] = {}
    for kind, items in (("bound", bounds()), ("algorithm", algorithms())):
        for name, item in items.items():
            for source in item.source:  # type: ignore[attr-defined]
                table.setdefault(source, []).append(f"{kind} {name}")
    for name, promise in false_claims().items():
        table.setdefault(promise.claim, []).append(f"false promise {name}")
    return table


def known(source: str) -> str:
    """How the truth of one source is known, by its established verdict and evidence."""
    if source not in claims() or expectations()[source].verdict is not Verdict.HOLDS:
        return "pending"
    evidence = expectations()[source].evidence
    return {Evidence.PROVED: "proved", Evidence.ARGUED: "argued", Evidence.CITED: "cited"}.get(evidence, "checked")


def weakest(sources: tuple[str, ...]) -> str:
    """A bound is as valid as the weakest of its sources."""
    return max(map(known, sources), key=list(VALIDITIES).index)


def test_every_source_is_a_claim() -> None:
    assert {source: who for source, who in named().items() if source not in claims()} == {}


def test_no_bound_waits_for_a_claim() -> None:
    assert [name for name, item in bounds().items() if item.validity == "pending"] == []


@pytest.mark.parametrize("name", list(bounds()))
def test_a_bound_tells_how_its_validity_is_known(name: str) -> None:
    assert bounds()[name].source, "a bound without any source"
    assert bounds()[name].validity == weakest(bounds()[name].source)


def test_no_bound_names_a_claim_that_does_not_hold() -> None:
    refuted = {
        (name, source) for name, item in bounds().items() for source in item.source
        if source in claims() and expectations()[source].verdict is not Verdict.HOLDS
    }
    assert refuted == set()


def test_every_kind_of_validity_is_told_from_the_others() -> None:
    kinds = {known(name): name for name in claims() if expectations()[name].verdict is Verdict.HOLDS}
    assert kinds.keys() == {"proved", "argued", "checked", "cited"}
    assert weakest((kinds["proved"], kinds["argued"])) == "argued"
    assert weakest((kinds["argued"], kinds["checked"])) == "checked"
    assert weakest((kinds["cited"], kinds["checked"])) == "cited"
    assert weakest(("nobody/knows", kinds["proved"])) == "pending"


@pytest.mark.parametrize("source", [name for name in named() if name.startswith("background/") and name in claims()])
def test_a_background_result_that_bounds_rest_on_holds_by_a_computation(source: str) -> None:
    assert expectations()[source].verdict is Verdict.HOLDS
    assert expectations()[source].evidence is not Evidence.CITED
