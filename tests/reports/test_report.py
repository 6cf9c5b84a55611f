"""The report, end to end: both files, their honesty about what differs, and a page that needs nothing but itself."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from empirical import audit
from empirical.mutant import Detection, Mutant
from empirical.tightness import FREE, GAUSSIAN
from oracle.console import run
from oracle.errors import OracleError
from oracle.registry import bound, bounds
from reports import audit_figures, command, figures
from reports.cli import app
from reports.model import Report, Scope, collect, everything
from reports.render import mathml, render
from theorems.claim import Claim, Evidence, Finding, Verdict, claims

BUDGET = 500
AGAIN = ("NoisyGD on quadratics", "exponential mechanism", "NoisyCGD, better losses, epochs: 2")
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Everything that the assertions below ask of a page, gathered in one pass."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.headings: list[int] = []
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.math_within: Counter[str] = Counter()  # formulas by the id of the article around them
        self.article = ""
        self.unlabelled: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.tags[tag] += 1
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.ids[given["id"]] += 1
        self.links += [given[key] for key in ("href", "xlink:href") if key in given]
        self.loads += [given[key] for key in ("src", "srcset", "data", "action", "poster") if key in given]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "article":
            self.article = given["id"]
        if tag == "math":
            self.math_within[self.article] += 1
        if tag == "svg" and not given.get("aria-label"):
            self.unlabelled.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else on line {self.getpos()[0]}"


def run_report(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reports.cli", "report", *arguments], capture_output=True, text=True, timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # and the result must not depend on it
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    directory = tmp_path_factory.mktemp("report") / "new" / "folder"
    return run_report("--out", str(directory), "--budget", str(BUDGET)), directory


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
def again() -> Report:
    """The same in another process than the command's, with few audits and without the mutants that train models."""
    scope = everything()
    few = {name: scope.audits[name] for name in AGAIN}
    kept = tuple(mutant for mutant in scope.mutants if mutant.id in ("M13", "M57"))
    return collect(replace(scope, audits=few, mutants=kept), budget=BUDGET)


def nothing() -> Scope:
    return Scope(bounds=(), claims=(), audits={}, mutants=())


def planted(*, verdict: Verdict, expected: Verdict) -> Claim:
    return Claim(
        id="planted/claim", source="nowhere", statement=r"1 < 2", words="one & <two>", hypotheses=(), expected=expected,
        check=lambda: Finding(verdict, Evidence.PROVED, "because", {"x": "1"}),
    )


@functools.cache
def fixed_figures() -> tuple[figures.Figure, ...]:
    return figures.gaussian_curve(), figures.noisy_cgd_epochs()


def page_of(report: Report) -> str:
    return render(report, figures=[*fixed_figures(), audit_figures.audits(report), audit_figures.over_epochs(report)])


def run_here(*arguments: str) -> int:
    return run(app, ["report", *arguments])


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

    found = objects(command.schema())
    assert len(found) > 10
    assert all("additionalProperties" in item for item in found)
    assert all(sorted(item["required"]) == sorted(item["properties"]) for item in found if "properties" in item)  # type: ignore[call-overload]


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


def test_claims_link_to_what_they_name_and_back(text: str) -> None:
    def section(name: str) -> str:
        return text.split(f'<article class="entry" id="{name}"')[1].split("</article>")[0]

    for item in claims().values():
        for other in (*item.uses, *((item.repaired_by,) if item.repaired_by else ())):
            assert f'href="#{other}"' in section(item.id)
            assert f'href="#{item.id}"' in section(other)


def test_formulas_are_well_formed_and_hold_no_latex(text: str) -> None:
    found = re.findall(r"<math.*?</math>", text, flags=re.DOTALL)
    assert len(found) == len(claims()) + len(bounds())
    for formula in found:
        assert "\\" not in "".join(ElementTree.fromstring(formula).itertext())
    assert "\\" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_page_is_accessible_in_outline(page: Page, text: str) -> None:
    assert page.open == []
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(below - above <= 1 for above, below in zip(page.headings, page.headings[1:], strict=False))
    assert page.tags["figure"] == page.tags["figcaption"] == page.tags["svg"] == 4
    assert page.unlabelled == []
    assert '<html lang="en-GB">' in text
    assert 'name="viewport"' in text


def test_same_seed_gives_the_same_report(data: dict[str, object], text: str, again: Report) -> None:
    fresh = again.to_json()
    for key in ("format", "project", "libraries", "seed", "budget", "bounds", "claims"):
        assert json.dumps(fresh[key]) == json.dumps(data[key]), key
    audits = [item for item in data["audits"] if item["name"] in AGAIN]  # type: ignore[attr-defined]
    assert fresh["audits"] == audits
    kept = [item for item in data["mutants"] if item["id"] in ("M13", "M57")]  # type: ignore[attr-defined]
    assert fresh["mutants"] == kept
    for figure in fixed_figures():
        assert figure.svg in text
    assert page_of(again) == page_of(again)


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


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(Verdict.REFUTED, Verdict.HOLDS), (Verdict.HOLDS, Verdict.REFUTED), (Verdict.UNDECIDED, Verdict.HOLDS)],
)
def test_an_unexpected_verdict_is_not_ok(verdict: Verdict, expected: Verdict) -> None:
    report = collect(replace(nothing(), claims=(planted(verdict=verdict, expected=expected),)))
    assert not report.ok
    assert report.totals.unexpected == ("planted/claim",)
    assert command.validated(report)["ok"] is False
    shown = page_of(report)
    assert "Not everything is as expected" in shown
    assert "one &amp; &lt;two&gt;" in shown
    assert Page(shown).open == []


def test_a_refuted_claim_that_was_expected_is_ok() -> None:
    assert collect(replace(nothing(), claims=(planted(verdict=Verdict.REFUTED, expected=Verdict.REFUTED),))).ok


@pytest.mark.parametrize(("severity", "flagged", "ok"), [("C", True, True), ("C", False, False), ("E", True, False)])
def test_a_misjudged_mutant_is_not_ok(severity: str, flagged: bool, ok: bool) -> None:
    mutant = Mutant("X1", severity, "a bug", "here", lambda: Detection(flagged, "seen"))
    report = collect(replace(nothing(), mutants=(mutant,)))
    assert report.ok is ok
    assert ("Everything is as expected" in page_of(report)) is ok


def test_a_violated_audit_is_not_ok(again: Report) -> None:
    name, item = again.audits[0]
    for verdict in ("VIOLATION", "INVALID"):
        spoilt = replace(again, audits=((name, replace(item, verdict=verdict, epsilon_lower=None, tightness=None)),))
        assert not spoilt.ok
        assert command.validated(spoilt)["ok"] is False
        assert verdict in page_of(spoilt)


def test_exit_code_is_1_when_something_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scope = replace(nothing(), claims=(planted(verdict=Verdict.HOLDS, expected=Verdict.REFUTED),))
    monkeypatch.setattr(command, "everything", lambda: scope)
    assert run_here("--out", str(tmp_path)) == 1
    assert "0 of 1 verdicts as expected" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()


def test_open_opens_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(command, "everything", nothing)
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert run_here("--out", str(tmp_path), "--open") == 0
    assert opened == [(tmp_path / "report.html").as_uri()]


def test_a_report_that_breaks_its_schema_is_an_error(tmp_path: Path) -> None:
    broken = replace(collect(nothing()), seed=-1)
    with pytest.raises(OracleError, match=r"\$\.seed"):
        command.write(broken, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [["--out", "FILE"], ["--out", "FILE/below"], ["--budget", "99"], ["--seed", "-1"], ["--budget", "many"]],
)
def test_bad_usage_is_one_line_and_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    assert run_here(*arguments) == 2
    shown = capsys.readouterr()
    assert re.fullmatch(r"error: [^\n]+\n", shown.err)
    assert shown.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["FILE"]


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


def test_progress_adds_up() -> None:
    name, plan = next(iter(everything().audits.items()))
    scope = replace(everything(), claims=(), audits={name: plan}, mutants=())
    told: list[float] = []
    collect(scope, budget=200, progress=lambda _, part: told.append(part))
    assert sum(told) == pytest.approx(scope.steps)


def test_missing_libraries_are_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "LIBRARIES", ("json", "no_such_library"))
    assert run_here("--out", str(tmp_path / "out")) == 2
    assert capsys.readouterr().err == "error: the report needs no_such_library: pip install 'dp-oracle[report]'\n"
    assert not (tmp_path / "out").exists()
