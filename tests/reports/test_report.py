"""The report, end to end: both files, their honesty about what differs, and a page that needs nothing but itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from empirical.audits import audit
from empirical.audits.tightness import FREE, GAUSSIAN
from oracle.core.errors import OracleError
from oracle.core.registry import bound, bounds
from reports import command
from reports.model import Report, ReportScope, collect, everything
from reports.render import mathml
from tests.reports.pages import Page, fixed_figures, nothing, page_of
from tests.waiting import PATIENCE
from theorems.claim import Stake, claims, expectations
from theorems.findings import Findings
from theorems.verdict import Evidence, Finding
from theorems.verdict import Scope as Extent

pytestmark = pytest.mark.full

BUDGET = 500
AGAIN = ("NoisyGD on quadratics", "exponential mechanism", "NoisyCGD, better losses, epochs: 2")
MUTANTS = ("M13", "M57")
PROMISES = ("002-algorithm-8-deviation", "000-clipped-classes")
CHECKED = ("cs208/gaussian-mechanism", "cs208/gaussian-mechanism-repaired")
"""Claims that the report itself checks."""
STUDIES = ("exponential-mechanism-candidates", "objective-perturbation-flat")  # computed, not run


def small() -> ReportScope:
    """All bounds and claims with few of what trains models: that these come out rightly is tested where they are."""
    scope = everything()
    return replace(
        scope, audits={name: scope.audits[name] for name in AGAIN},
        mutants=tuple(item for item in scope.mutants if item.id in MUTANTS),
        false_claims=tuple(item for item in scope.false_claims if item.id in PROMISES),
        studies={name: scope.studies[name] for name in STUDIES},
    )


_RUN = """
import sys
from oracle.running.console import run
from reports import cli, command
from tests.reports.test_report import small
command.everything = small
sys.exit(run(cli.app, sys.argv[1:]))
"""


def run_report(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, on the small scope."""
    return subprocess.run(
        [sys.executable, "-c", _RUN, "report", *arguments], capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # and the result must not depend on it
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is expected of the claims, as if found before: checking them all is the business of tests/theorems."""
    store = Findings(tmp_path_factory.mktemp("store") / "findings", full=False)
    for name, item in expectations().items():
        if name not in CHECKED:
            kind = {Evidence.PROVED: "instance", Evidence.CERTIFIED_ON_BOX: "box"}.get(item.evidence, "points")
            scope = None if item.evidence is Evidence.CITED else Extent(kind, 5, 4, {"x": "[0, 1]"})
            store.keep(name, Finding(item.verdict, item.evidence, f"planted for {name}", {"x": "1/2 < 1"}, scope))
    return store.path


@pytest.fixture(scope="module")
def written(
    kept: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    directory = tmp_path_factory.mktemp("report") / "new" / "folder"
    return run_report("--out", str(directory), "--budget", str(BUDGET), "--findings", str(kept)), directory


@pytest.fixture(scope="module")
def data(written: tuple[subprocess.CompletedProcess[str], Path]) -> dict[str, object]:
    result: dict[str, object] = json.loads((written[1] / "report.json").read_text(encoding="utf-8"))
    return result


@pytest.fixture(scope="module")
def text(written: tuple[subprocess.CompletedProcess[str], Path]) -> str:
    return (written[1] / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


@pytest.fixture(scope="module")
def again(kept: Path) -> Report:
    """The same in another process than the command's."""
    return collect(small(), budget=BUDGET, findings=Findings(kept, full=False))


@pytest.mark.full
def test_command_says_where_the_files_are_and_that_all_is_well(
    written: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, directory = written
    assert (done.returncode, done.stderr) == (0, "")
    assert str(directory / "report.html") in done.stdout
    assert str(directory / "report.json") in done.stdout
    assert sorted(path.name for path in directory.iterdir()) == ["report.html", "report.json"]


def test_json_validates_and_covers_everything(data: dict[str, object]) -> None:
    jsonschema.Draft202012Validator.check_schema(command.schema())
    jsonschema.validate(data, command.schema())
    assert data["ok"] is True
    assert [item["id"] for item in data["claims"]] == list(claims())  # type: ignore[attr-defined]
    assert [item["name"] for item in data["bounds"]] == list(bounds())  # type: ignore[attr-defined]


def test_schema_refuses_what_it_does_not_know(data: dict[str, object]) -> None:
    for extra in ({**data, "surprise": 1}, {**data, "seed": "0"}, {k: v for k, v in data.items() if k != "totals"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(extra, command.schema())


def test_every_object_of_the_schema_is_closed() -> None:
    def objects(node: object) -> list[dict[str, object]]:
        if isinstance(node, dict):
            own = [node] if node.get("type") == "object" else []
            return own + [found for value in node.values() for found in objects(value)]
        return [found for value in node for found in objects(value)] if isinstance(node, list) else []

    found = objects([command.schema(), command.schema("league")])
    assert len(found) > 15
    assert all("additionalProperties" in item for item in found)
    assert all(sorted(item["required"]) == sorted(item["properties"]) for item in found if "properties" in item)  # type: ignore[call-overload]


def test_page_stays_small(text: str) -> None:
    assert len(text.encode()) < 4_000 * (len(claims()) + len(bounds()))  # it grows with what it holds, and no faster


def test_page_needs_nothing_but_itself(page: Page, text: str) -> None:
    assert page.loads == []
    assert page.tags["script"] == page.tags["link"] == page.tags["iframe"] == page.tags["img"] == 0
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"@import|url\((?!#)", text)


def test_every_link_resolves_and_no_id_stands_twice(page: Page) -> None:
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert [name for name, count in page.ids.items() if count > 1] == []
    assert all(not re.search(r"\s", name) for name in page.ids)


def test_every_claim_and_bound_has_an_anchor_and_a_formula(page: Page) -> None:
    for name in [*claims(), *(f"bound:{name}" for name in bounds())]:
        assert page.ids[name] == 1
        assert page.math_within[name] == 1, f"{name} shows {page.math_within[name]} formulas"


@pytest.fixture(scope="module")
def sections(text: str) -> dict[str, str]:
    """What the page says of each claim and bound, by its anchor."""
    parts = text.split('<article class="entry folded" id="')[1:]
    return {part.split('"')[0]: part.split("</article>")[0] for part in parts}


def test_claims_link_to_what_they_name_and_back(sections: dict[str, str]) -> None:
    for item in claims().values():
        for other in (*item.uses, *((item.repaired_by,) if item.repaired_by else ())):
            assert f'href="#{other}"' in sections[item.id]
            assert f'href="#{item.id}"' in sections[other]
        for other in item.rests_on:
            assert f'href="#{other}"' in sections[item.id]


def test_refuted_claims_stand_first_with_their_repairs_and_verdicts(
    data: dict[str, object], text: str, sections: dict[str, str],
) -> None:
    listed = text.split('<section id="refuted"')[1].split("</section>")[0].split("<tr ")[1:]
    rows = {item["id"]: item for item in data["claims"]}  # type: ignore[attr-defined]
    refuted = [item for item in rows.values() if item["verdict"] == "REFUTED"]
    body = [row for row in listed if 'role="rowheader"' in row]
    by_id = {row.split('href="#')[1].split('"')[0]: row for row in body}
    assert len(body) == len(by_id) == len(refuted) > 50
    printed = [name for name in by_id if rows[name]["whose"] in ("printed", "typo")]
    assert list(by_id)[:len(printed)] == printed, "statements of a document stand before readings of ours"
    ranks = [[item.value for item in Stake].index(rows[name]["severity"]) for name in printed]
    assert ranks == sorted(ranks), "what matters most stands first"
    shown = [name for name in sections if name in rows]
    places = [(rows[name]["id"].split("/")[0], [item.value for item in Stake].index(rows[name]["severity"]))
              for name in shown]
    assert len(shown) == len(rows)
    assert places == sorted(places), "so it does among the claims of a paper"
    for item in refuted:
        row = by_id[item["id"]]
        if item["repaired_by"] is not None:
            badge = f'href="#{item["repaired_by"]}">{item["repaired_by"]}</a> <span class="badge'
            assert badge in row
            assert badge in sections[item["id"]]
            assert rows[item["repaired_by"]]["verdict"] in row


def test_what_falls_with_a_refuted_claim_stands_beside_it(
    data: dict[str, object], sections: dict[str, str],
) -> None:
    rows = {item["id"]: item for item in data["claims"]}  # type: ignore[attr-defined]
    assert "sbcd/thm-4.6-eq-11" in rows["sbcd/cor-4.5-case1"]["falls"]
    assert rows["sbcd/cor-4.5-case1-repaired"]["falls"] == []
    assert "Falls with it" in sections["sbcd/cor-4.5-case1"]


def test_papers_are_linked_at_the_top_with_their_counts(data: dict[str, object], text: str) -> None:
    navigation = text.split("<nav")[1].split("</nav>")[0]
    for paper, counts in data["totals"]["claims"]["papers"].items():  # type: ignore[index]
        assert f'<a href="#paper:{paper}">{paper}</a> ({counts["count"]})' in navigation


def test_counts_by_paper_add_up(data: dict[str, object]) -> None:
    totals = data["totals"]["claims"]  # type: ignore[index]
    for key in ("verdicts", "evidence"):
        for word, count in totals[key].items():
            assert count == sum(paper[key][word] for paper in totals["papers"].values())
        assert sum(totals[key].values()) == totals["count"] == len(claims())


def test_formulas_are_well_formed_and_hold_no_latex(text: str) -> None:
    found = re.findall(r"<math.*?</math>", text, flags=re.DOTALL)
    assert len(found) == len(claims()) + len(bounds())
    for formula in found:
        assert "\\" not in "".join(ElementTree.fromstring(formula).itertext())
    ours = re.sub(r"<blockquote.*?</blockquote>", "", text, flags=re.DOTALL)  # what a document says is left as it is
    assert "\\" not in re.sub(r"<style>.*?</style>", "", ours, flags=re.DOTALL)


def test_page_is_accessible_in_outline(page: Page, text: str) -> None:
    assert page.open == []
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(below - above <= 1 for above, below in zip(page.headings, page.headings[1:], strict=False))
    assert page.tags["figure"] == page.tags["figcaption"] == page.tags["svg"] == 4 + len(STUDIES)
    assert page.unlabelled == []
    assert '<html lang="en-GB">' in text
    assert 'name="viewport"' in text


@pytest.mark.full
def test_same_seed_gives_the_same_report(data: dict[str, object], text: str, again: Report) -> None:
    assert json.dumps(again.to_json()) == json.dumps(data)
    assert page_of(again) == text


def test_another_seed_gives_another_audit(again: Report) -> None:
    name, first = again.audits[0]
    plan = everything().audits[name]
    other = collect(replace(nothing(), audits={name: plan}), budget=200, seed=1)
    assert other.audits[0][1].plan.seed == 1
    assert other.audits[0][1].epsilon_lower != first.epsilon_lower


def test_sharing_trained_models_changes_no_audit() -> None:
    name, plan = next(iter(everything().audits.items()))
    shared = collect(replace(nothing(), audits={name: plan}), budget=200)
    assert [item.plan.estimator for _, item in shared.audits] == [GAUSSIAN, FREE]
    for _, item in shared.audits:
        assert audit.run(item.plan) == item


@pytest.mark.full
def test_a_violated_audit_is_not_ok(again: Report) -> None:
    name, item = again.audits[0]
    alone = replace(collect(nothing()), audits=((name, item),))
    assert alone.ok
    for verdict in ("VIOLATION", "INVALID"):
        spoilt = replace(alone, audits=((name, replace(item, verdict=verdict, epsilon_lower=None, tightness=None)),))
        assert not spoilt.ok
        assert command.validated(spoilt)["ok"] is False
        assert verdict in page_of(spoilt)


def test_examples_enclose(data: dict[str, object]) -> None:
    shown = {item["name"]: item["example"] for item in data["bounds"]}  # type: ignore[attr-defined]
    examples = {name: item.example for name, item in bounds().items() if item.example is not None}
    assert len(examples) >= 7
    for name, params in examples.items():
        assert shown[name]["params"] == params
        enclosure = bound(name).reference(**params)
        assert (shown[name]["lower"], shown[name]["upper"]) == enclosure.to_decimals()
        fast, lower, upper = (Fraction(shown[name][key]) for key in ("fast", "lower", "upper"))
        assert fast >= lower if bound(name).safe == "upper" else fast <= upper


def test_a_bound_without_example_is_listed() -> None:
    unknown = replace(bound("gdp.epsilon"), name="gdp.other", example=None)
    report = collect(replace(nothing(), bounds=(unknown,)))
    assert command.validated(report)["bounds"][0]["example"] is None
    assert 'id="bound:gdp.other"' in page_of(report)


@pytest.mark.parametrize("latex", [r"\frac{a}{", r"\unknowncommand x", r"\text{\alpha}"])
def test_a_formula_that_cannot_be_shown_is_an_error(latex: str) -> None:
    with pytest.raises(OracleError, match="formula"):
        mathml(latex)


def test_formula_text_is_escaped() -> None:
    assert "a&lt;b" in mathml(r"\text{a<b}").replace("\u00a0", "")


def test_figure_one_has_the_values_of_the_document() -> None:
    """Epsilon after 400 epochs for eta lambda = 5.4e-5, 1e-4, 2e-4, computed by hand from Theorem 2.8."""
    caption = fixed_figures()[1].caption
    for value in ("1.3357", "1.1963", "0.9526"):
        assert value in caption


@pytest.mark.full
def test_progress_adds_up() -> None:
    scope = replace(small(), claims=(), bounds=small().bounds[:9])
    told: list[float] = []
    collect(scope, budget=200, progress=lambda _, part: told.append(part))
    assert sum(told) == pytest.approx(scope.steps)
