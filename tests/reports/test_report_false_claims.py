"""The report on false privacy claims: what it shows, when it is not ok, and that a filled store trains nothing again.

The audits have fixed seeds and confidence 0.999: were a promise true, a violation would be found with probability at
most 0.001.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from empirical.audits.literal import LiteralTarget
from reports import command
from reports.model import Report, collect, everything
from reports.render import round_down
from tests.reports.pages import Page, nothing, page_of
from theorems.claim import claims
from theorems.promise import AuditedPromise, FalseClaim, false_claims

pytestmark = pytest.mark.full

REFUTED, ACQUITTED = "003-dp-threshold", "000-clipped-classes"
BUDGET = 100


def small(*names: str) -> tuple[FalseClaim, ...]:
    return tuple(false_claims()[name] for name in names)


@pytest.fixture(scope="module")
def report() -> Report:
    return collect(replace(nothing(), false_claims=small(REFUTED, ACQUITTED)), budget=BUDGET)


def section(report: Report) -> str:
    return page_of(report).split('<section id="false-claims"')[1].split("</section>")[0]


def row(report: Report, name: str) -> str:
    return section(report).split(f'id="false:{name}"')[1].split("</tr>")[0]


def test_everything_covers_all_false_claims() -> None:
    assert [item.id for item in everything().false_claims] == list(false_claims())


@pytest.mark.full
def test_a_false_claim_stands_there_with_promise_fault_bounds_and_truth(report: Report) -> None:
    judged = report.false_claims[0]
    item, audit = judged.false_claim, judged.audit
    shown = row(report, REFUTED)
    assert "VIOLATION FOUND" in shown
    assert item.fault in shown
    assert item.promise.split(";")[0].replace("'", "&#39;") in shown
    assert audit.epsilon_lower is not None
    assert judged.true is not None
    for text in (round_down(audit.epsilon_lower), round_down(judged.true[0]), "confidence&nbsp;0.999", "10\u202f000"):
        assert text in shown
    assert "NONE FOUND" in row(report, ACQUITTED)
    assert "not known" in row(report, ACQUITTED)


def test_json_has_the_objects_of_the_command(report: Report) -> None:
    data = command.validated(report)
    assert data["ok"] is True
    assert data["totals"]["false_claims"] == {"count": 2, "violations": 1, "as_expected": 2}
    assert data["false_claims"] == [judged.to_json() for judged in report.false_claims]


def test_the_claim_and_its_audit_link_to_each_other(report: Report) -> None:
    claim = claims()[false_claims()[ACQUITTED].claim]
    with_claim = replace(report, claims=collect(replace(nothing(), claims=(claim,))).claims)
    page = page_of(with_claim)
    assert f'href="#{claim.id}"' in row(with_claim, ACQUITTED)
    assert f'href="#false:{ACQUITTED}"' in page.split(f'id="{claim.id}"')[1].split("</article>")[0]
    assert {link[1:] for link in Page(page).links} <= set(Page(page).ids)


@pytest.mark.full
@pytest.mark.parametrize(("place", "verdict"), [(0, "CONSISTENT"), (0, "INVALID"), (1, "VIOLATION"), (1, "INVALID")])
def test_another_verdict_than_expected_is_not_ok(report: Report, place: int, verdict: str) -> None:
    judged = list(report.false_claims)
    item, audit = judged[place].false_claim, judged[place].audit
    judged[place] = AuditedPromise(item, replace(audit, verdict=verdict))
    spoilt = replace(report, false_claims=tuple(judged))
    assert not spoilt.ok
    assert command.validated(spoilt)["totals"]["false_claims"]["as_expected"] == 1
    page = page_of(spoilt)
    assert "Not everything is as expected" in page
    assert f'<li><a href="#false:{item.id}">' in page
    assert 'class="differs"' in row_start(page, item.id)


def row_start(page: str, name: str) -> str:
    return page.split(f'id="false:{name}"')[1].split(">")[0]


def test_an_audit_that_found_nothing_to_judge_says_why(report: Report) -> None:
    item, audit = report.false_claims[0].false_claim, report.false_claims[0].audit
    nothing = replace(audit, verdict="INVALID", reason="all is nan", epsilon_lower=None, models=None)
    broken = AuditedPromise(item, nothing)
    assert "all is nan" in row(replace(report, false_claims=(broken,)), item.id)


def test_a_budget_caps_but_leaves_what_a_violation_needs() -> None:
    item = false_claims()["004-gaussian-mechanism-large-epsilon"]
    assert item.at_most(None, seed=0) == item.plan
    assert item.at_most(100, seed=3) == replace(item.plan, budget=item.tested, seed=3)
    assert item.at_most(item.tested + 1, seed=0).budget == item.tested + 1
    assert item.at_most(10 * item.plan.budget, seed=0).budget == item.plan.budget


def test_a_filled_store_trains_nothing_again(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = replace(nothing(), false_claims=small(REFUTED))
    store = tmp_path / "audits.sqlite"
    first = collect(scope, budget=BUDGET, store=store)
    trained: list[int] = []
    releases = LiteralTarget.releases

    def counted(self, features, labels, tape):  # type: ignore[no-untyped-def]
        trained.append(tape.models)
        return releases(self, features, labels, tape)

    monkeypatch.setattr(LiteralTarget, "releases", counted)
    again = collect(scope, budget=BUDGET, store=store)
    assert sum(trained) < 100  # the few of the trial that tells the shape of what is released
    assert again.false_claims == first.false_claims == report.false_claims[:1]


@pytest.mark.parametrize(
    ("value", "shown"), [("5.38499", "5.3849"), (0.99999, "0.9999"), (0.0, "0.0000"), ("1e-7", "0.0000")]
)
def test_a_lower_bound_is_never_printed_above_itself(value: str | float, shown: str) -> None:
    assert round_down(value) == shown
