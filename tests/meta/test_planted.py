"""Every planted bug is caught by what must catch it and spared by what must not fire; what is right is never flagged.

A check that a planted bug survives is no check, and one that flags what is right is none either.
"""

from __future__ import annotations

import pytest

from empirical.mutants.mutant import Check, Mutant, checks, judge, mutants, thing
from oracle.core.registry import bounds
from tests.planted.bounds import every_bound
from tests.planted.machinery.gate import FOR_THE_NIGHT
from tests.tiers import later

ALL, CHECKS = mutants("tests.planted"), checks("tests.planted")
WORDS = ("words", "verdict")  # what a complaint must say: nothing that a check looks at


def _places(item: Mutant, check: Check) -> tuple[int, ...]:
    return tuple(id(item.at[key]) for key in check.reads if key in item.at and key not in WORDS)


def _needless(item: Mutant, check: str) -> bool:
    """Whether the suite knows already that what is right is not flagged: by running the test itself, or of course."""
    if check == "safe side":
        return item.changes.what == "certify"  # a bound is not below itself
    if check == "verdict":
        return True  # test_claims judges every claim
    if check in ("second opinion", "width", "fast path"):
        return "points" not in item.at  # the points of test_numbers and test_fast
    tests = item.at.get("tests", ()) if check in ("law", "its tests") else ()
    return bool(tests) and all(getattr(test, "__name__", "").startswith("test_") for test in tests)


Honest = tuple[str, str, tuple[int, ...]]
"""A check, what it looks at, and where."""
HONEST: dict[Honest, Mutant] = {
    (name, item.of, _places(item, CHECKS[name])): item
    for item in ALL.values() for name in (*item.caught_by, *item.spared_by)
    if not _needless(item, name)
}

DEAR = {
    ("poisson-gaussian.sigma", "fast path rounded the wrong way"),
    ("poisson-gaussian.epsilon", "fast path rounded the wrong way"),
    ("poisson-gaussian.rdp", "half of the sampling rate"), ("poisson-gaussian.rdp", "off by one in steps"),
}
"""Of each of them `poisson-gaussian.delta`, or a bug beside it, is planted by day."""
AT_NIGHT = {
    ("search", "poisson-gaussian.epsilon"), ("second opinion", "poisson-gaussian.epsilon"),
    ("second opinion", "poisson-gaussian.rdp"),
}
"""The search climbs for half a minute; `test_numbers` asks second opinions of other points of these bounds by day."""


def at_night(item: Mutant) -> bool:
    return every_bound.at_night(item) or item.title == FOR_THE_NIGHT or (item.of, item.title) in DEAR


@pytest.mark.parametrize("of", sorted({item.of for item in ALL.values()}))
def test_what_a_bug_replaces_is_where_it_says(of: str) -> None:
    """Also of a bug that is planted at night only: code that was moved takes its bugs along."""
    for item in ALL.values():
        if item.of == of:
            with item.planted():
                pass


@pytest.mark.full
@pytest.mark.parametrize("item", later(list(ALL.values()), at_night, "thorough", lambda item: item.id))
def test_a_planted_bug_is_caught_or_spared_as_it_must_be(item: Mutant) -> None:
    judged = judge(item, CHECKS)
    assert judged.good, f"{judged.outcome}: {judged.detail}"


@pytest.mark.full
@pytest.mark.parametrize(
    "honest", later(list(HONEST), lambda key: key[:2] in AT_NIGHT, "thorough", lambda key: f"{key[0]}-{key[1]}")
)
def test_what_is_right_is_not_flagged(honest: Honest) -> None:
    found = CHECKS[honest[0]].run(HONEST[honest].honest())
    assert not found.flagged, found.detail


def test_every_name_in_a_record_leads_somewhere() -> None:
    for item in ALL.values():
        read = {key for check in (*item.caught_by, *item.spared_by) for key in CHECKS[check].reads}
        assert thing(item.of) is not None
        assert set(item.at) <= read, f"{item.id} names a place where no check looks"


def test_every_bound_has_a_wrong_variant() -> None:
    general = {item.id for item in every_bound.MUTANTS}
    wrong = (item for item in ALL.values() if item.changes.what == "certify" and item.id not in general)
    assert {item.of for item in wrong} == set(bounds())
