"""The page of unsound calls holds together, without any of the libraries: its form, and what it says is certified."""

from __future__ import annotations

import ast

import pytest

from tests.unsound import Section, heading, texts

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


@pytest.mark.full
@each
def test_the_certified_value_is_ours_and_the_answer_breaks_it(text: str) -> None:
    section = Section.of(text)
    lower, upper = section.truth()
    assert section.is_unsound(section.answer)
    if section.side == "most":  # cut outward to ten digits
        assert upper <= section.certified <= upper + 1e-9 * abs(upper)
    else:
        assert lower - 1e-9 * abs(lower) <= section.certified <= lower


def test_the_page_is_ordered_by_library_and_its_sections_are_short() -> None:
    sections = [Section.of(text) for text in texts()]
    libraries = [section.library.lower() for section in sections]
    assert libraries == sorted(libraries)
    assert len({(section.library, section.version) for section in sections}) == len(set(libraries)), "one version each"
    assert len({section.code for section in sections}) == len(sections) > 30
    assert max(len(text.splitlines()) for text in texts()) < 25


@pytest.mark.parametrize(("part", "other"), [
    ("Why: ", "Because: "), ("Link: ", ""), ("```python", "```"), ("dp-oracle bound", "dp-oracle check"),
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
