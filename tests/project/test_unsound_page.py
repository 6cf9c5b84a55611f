"""The page of unsound calls holds together, without any of the libraries: its form, and what it says is certified."""

from __future__ import annotations

import ast
import math
import re

import pytest

from tests.tiers import later
from tests.unsound import PAGE, Section, by_class, heading, texts

OURS = {"oracle", "empirical", "theorems", "reports", "tests", "dp_oracle"}
each = pytest.mark.parametrize("text", texts(), ids=heading)


@each
def test_the_block_is_code_of_the_library_that_ends_with_the_answer(text: str) -> None:
    tree = ast.parse(Section.of(text).printing())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    packages = {name.split(".")[0] for name in imported}
    assert not packages & OURS
    assert Section.of(text).library.lower().replace("-", "_") in packages


DEAR = ("prv-accountant 0.2.0: many Laplace releases", "dp-accounting 0.6.0: PLD at a tiny delta, Laplace")


@pytest.mark.full
@pytest.mark.parametrize("text", later(texts(), lambda text: heading(text) in DEAR, "thorough", heading))
def test_the_certified_value_is_ours_and_the_answer_breaks_it(text: str) -> None:
    section = Section.of(text)
    lower, upper = section.truth()
    assert section.is_unsound(section.answer)
    if section.side == "most":  # cut outward to ten digits
        assert upper <= section.certified <= upper + 1e-9 * abs(upper)
    else:
        assert lower - 1e-9 * abs(lower) <= section.certified <= lower


def test_the_page_is_ordered_by_class_and_library_and_its_sections_are_short() -> None:
    assert list(by_class()) == ["A", "B", "C", "D", "E"]
    for part in by_class().values():
        libraries = [Section.of(text).library.lower() for text in part]
        assert libraries == sorted(libraries)
    sections = [Section.of(text) for text in texts()]
    libraries = [section.library for section in sections]
    assert len({(section.library, section.version) for section in sections}) == len(set(libraries)), "one version each"
    assert len({section.code for section in sections}) == len(sections) == 46
    assert max(len(text.splitlines()) for text in texts()) < 32


AUDITS = 2  # sections whose truth is what an auditor may not exceed; they are no questions of the box


def test_a_class_is_what_it_says() -> None:
    """A lies in the everyday box and matters, D does not matter, C is neither, E is a negative epsilon for 0."""
    found = {name: [Section.of(text) for text in part] for name, part in by_class().items()}
    assert all(section.is_everyday and not section.is_negligible for section in found["A"])
    assert sum(section.side == "most" for section in found["A"]) == AUDITS
    assert all("documented approximation" in text for text in by_class()["B"])
    assert not any(section.is_negligible for section in found["C"])
    assert all(section.is_negligible for section in found["D"])
    assert all(section.answer < 0 == section.certified for section in found["E"])
    ordinary = [heading(text) for text in by_class()["C"] if Section.of(text).is_everyday]
    assert ordinary == ["dp-accounting 0.6.0: RDP at an order near 1"], "of which the order is the extreme"


def test_the_table_counts_the_sections_by_class_and_gap() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = {line[2]: [int(cell) for cell in line.split("|")[2:6]] for line in page.splitlines() if line[:3] in TABLE}
    totals = [0] * 4
    for name, part in by_class().items():
        gaps = [Section.of(text).relative for text in part]
        bands = [sum(gap > 0.01 for gap in gaps), sum(1e-6 < gap <= 0.01 for gap in gaps), sum(g <= 1e-6 for g in gaps)]
        assert told[name] == [*bands, len(gaps)]
        totals = [one + other for one, other in zip(totals, told[name], strict=True)]
    assert f"| all | {' | '.join(map(str, totals))} |" in page


TABLE = tuple(f"| {name}" for name in "ABCDE")


@each
def test_what_is_said_of_reports_is_of_an_issue_and_not_of_a_repository(text: str) -> None:
    section = Section.of(text)
    links = re.findall(r"https://\S+", text)
    assert all(re.search(r"github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+", link) for link in links)
    assert (section.reported == "not reported") == (section.issue == "none")


@each
def test_the_gap_is_the_one_between_answer_and_truth(text: str) -> None:
    section = Section.of(text)
    if section.gap.endswith(" %"):
        assert float(section.gap[:-2]) == pytest.approx(100 * section.relative, rel=0.04)
    elif section.gap.endswith(" times the truth"):
        assert float(section.gap.split()[0]) == pytest.approx(section.relative, rel=0.06)
    elif section.relative < math.inf:
        assert float(section.gap) == pytest.approx(section.relative, rel=0.06)
    else:
        assert section.gap == "infinite, beside a truth of 0"


@pytest.mark.parametrize(("part", "other"), [
    ("Why: ", "Because: "), ("- Issue: ", ""), ("- Workaround: ", "- "), ("```python", "```"),
    ("dp-oracle bound", "dp-oracle check"),
    ("answers `", "answers "), ("at least", "about"),
])
def test_a_section_without_one_of_its_parts_is_refused(part: str, other: str) -> None:
    text = texts()[0]
    assert part in text
    with pytest.raises(AssertionError, match="does not have its parts"):
        Section.of(text.replace(part, other))


def test_a_sound_answer_is_not_called_unsound() -> None:
    too_small = Section.of(texts()[0])
    lower, upper = too_small.truth()
    assert too_small.is_unsound(lower - 1e-6)
    assert not too_small.is_unsound(lower)
    assert not too_small.is_unsound(upper + 1e-6)
    too_large = next(section for section in map(Section.of, texts()) if section.side == "most")
    assert too_large.is_unsound(too_large.truth()[1] + 1e-6)
    assert not too_large.is_unsound(0.0)
    assert not too_large.is_as_told(0.0)
