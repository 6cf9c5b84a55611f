"""Whatever is named as a source is a claim, or stands in the one list of pending ones, which only shrinks.

A number without a checked statement is no proof: so is the validity that a bound tells held to its sources' verdicts.
"""

from __future__ import annotations

import functools
import json

import pytest
from typer.testing import CliRunner

from oracle.core.registry import VALIDITIES, algorithms, bounds
from reports.cli import app
from theorems.claim import claims, expectations
from theorems.pending import pending
from theorems.promise import false_claims
from theorems.verdict import Evidence, Verdict

CEILING = 6  # of the list of pending sources: lower it whenever the list is shorter, and never raise it


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


def test_every_source_is_a_claim_or_pending() -> None:
    unknown = {source: who for source, who in named().items() if source not in claims() and source not in pending()}
    assert unknown == {}


def test_what_is_pending_is_named_and_no_claim_yet() -> None:
    assert sorted(pending().keys() - named()) == [], "nobody waits for these: take them off the list"
    assert sorted(pending().keys() & claims()) == [], "these are claims: take them off the list"
    assert all(words.strip() for words in pending().values())


def test_the_list_of_pending_sources_only_shrinks() -> None:
    assert len(pending()) == CEILING, "shorter: lower the ceiling with it; longer: register the claim instead"


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


def test_the_list_is_shown() -> None:
    result = CliRunner().invoke(app, ["claims", "--pending", "--paper", "glmtron", "--json"])
    assert result.exit_code == 0
    shown = {entry["id"]: entry["words"] for entry in json.loads(result.output)}
    assert shown == {name: words for name, words in pending().items() if name.startswith("glmtron/")}
    lines = CliRunner().invoke(app, ["claims", "--pending"]).output.splitlines()
    assert len(lines) == 1 + len(pending())
