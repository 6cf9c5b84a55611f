"""How claims hang together: what falls with a refuted claim, and what survives it by a route of its own.

A claim is touched by a refuted one if the document's argument (`uses`) or our check (`rests_on`) leans on it, or on one
that falls with it. A touched claim survives if we found that it holds, by a computation that leans on nothing fallen;
else it falls: its argument is gone and nothing stands in for it. What leans on a survivor only is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from theorems.claim import Checked, Claim, Expectation, expectations
from theorems.verdict import Evidence, Verdict

Standing = Mapping[str, Expectation]
"""Verdict and evidence of every claim by id."""

RELATIONS: Mapping[str, Callable[[Claim], tuple[str, ...]]] = {
    "uses": lambda item: item.uses,
    "evidence": lambda item: (*item.rests_on, *item.readings),
    "repaired_by": lambda item: () if item.repaired_by is None else (item.repaired_by,),
}


def standing(found: Iterable[Checked] = ()) -> dict[str, Expectation]:
    """What is established of every claim, and in its place what was found of those that have been checked."""
    return {
        **expectations(),
        **{item.claim.id: Expectation(item.finding.verdict, item.finding.evidence) for item in found},
    }


def users(table: Mapping[str, Claim], name: str) -> tuple[str, ...]:
    """The claims whose document's argument names that claim."""
    return tuple(sorted(item.id for item in table.values() if name in item.uses))


def consequences(table: Mapping[str, Claim], name: str, known: Standing) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which claims fall with a claim, and which of those it touches survive; neither, unless it is refuted."""
    if known[name].verdict is not Verdict.REFUTED:
        return (), ()
    fallen = {name}
    while True:
        touched = {
            item.id for item in table.values()
            if item.id not in fallen and not fallen.isdisjoint(item.uses + item.rests_on)
        }
        falling = {other for other in touched if not _by_own_route(table[other], known, fallen)}
        if not falling:
            return tuple(sorted(fallen - {name})), tuple(sorted(touched))
        fallen |= falling  # which may touch more, and take a survivor's own route away


def _by_own_route(item: Claim, known: Standing, fallen: set[str]) -> bool:
    there = known[item.id]
    return (
        there.verdict is Verdict.HOLDS and there.evidence is not Evidence.CITED and fallen.isdisjoint(item.rests_on)
    )
