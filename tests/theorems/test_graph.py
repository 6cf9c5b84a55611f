"""What falls with a refuted claim and what survives it, on a small planted register."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from theorems.claim import Claim, Expectation, citing, claims
from theorems.graph import RELATIONS, consequences, standing, users
from theorems.verdict import Evidence, Verdict


def planted(name: str, *, uses: tuple[str, ...] = (), rests_on: tuple[str, ...] = ()) -> Claim:
    return Claim(
        name, "", "", "", (), None, citing(Verdict.HOLDS, "planted"), "HOLDS CITED", uses=uses, rests_on=rests_on
    )


TABLE = {item.id: item for item in (
    planted("p/root"),
    planted("p/own-route", uses=("p/root",)),
    planted("p/beyond-own-route", uses=("p/own-route",)),
    planted("p/cited", uses=("p/root",)),
    planted("p/below-cited", uses=("p/cited",)),
    planted("p/survives-below-cited", uses=("p/cited",)),
    planted("p/route-taken-away", uses=("p/root",), rests_on=("p/below-cited",)),
    planted("p/our-check-leans", rests_on=("p/root",)),
    planted("p/untouched"),
)}
HOLDS = Expectation(Verdict.HOLDS, Evidence.PROVED)
KNOWN = {
    **dict.fromkeys(TABLE, HOLDS), "p/root": Expectation(Verdict.REFUTED, Evidence.PROVED),
    "p/cited": Expectation(Verdict.HOLDS, Evidence.CITED),
    "p/below-cited": Expectation(Verdict.UNDECIDED, Evidence.CHECKED_AT_POINTS),
}


def test_what_falls_and_what_survives() -> None:
    falls, survives = consequences(TABLE, "p/root", KNOWN)
    assert falls == ("p/below-cited", "p/cited", "p/our-check-leans", "p/route-taken-away")
    assert survives == ("p/own-route", "p/survives-below-cited")


@pytest.mark.parametrize("verdict", [Verdict.HOLDS, Verdict.UNDECIDED])
def test_nothing_falls_with_what_is_not_refuted(verdict: Verdict) -> None:
    assert consequences(TABLE, "p/root", {**KNOWN, "p/root": Expectation(verdict, Evidence.PROVED)}) == ((), ())


def test_users_are_those_of_the_document() -> None:
    assert users(TABLE, "p/root") == ("p/cited", "p/own-route", "p/route-taken-away")


def cycle(table: Mapping[str, Claim], relation: Callable[[Claim], tuple[str, ...]]) -> tuple[str, ...]:
    """The claims on or above a circle of a relation, in which none can be reached last; empty if there is no circle."""
    left = set(table)
    while free := {name for name in left if left.isdisjoint(relation(table[name]))}:
        left -= free
    return tuple(sorted(left))


def test_a_circle_is_found() -> None:
    assert cycle(TABLE, RELATIONS["uses"]) == ()
    closed = {**TABLE, "p/root": planted("p/root", uses=("p/below-cited",))}
    assert {"p/root", "p/cited", "p/below-cited"} <= set(cycle(closed, RELATIONS["uses"]))
    assert "p/untouched" not in cycle(closed, RELATIONS["uses"])


@pytest.mark.parametrize("name", list(RELATIONS))
def test_no_claim_leans_on_itself(name: str) -> None:
    assert cycle(claims(), RELATIONS[name]) == ()


def test_the_printed_theorem_4_6_falls_with_its_corollary_and_the_repair_stands() -> None:
    falls, survives = consequences(claims(), "sbcd/cor-4.5-case1", standing())
    assert "sbcd/thm-4.6-eq-11" in falls
    assert "sbcd/thm-4.6-repaired" not in falls + survives
