"""Every call on the page of unsound calls still answers what the page says, and is still unsound (`nox -s gate`).

A library that mends a defect fails here: then its section leaves the page, and the known failure its file.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from tests.project.consoles import run
from tests.unsound import Section, heading, texts


@pytest.mark.parametrize("text", texts(), ids=heading)
def test_the_call_is_as_unsound_as_the_page_says(text: str, tmp_path: Path) -> None:
    section = Section.of(text)
    done = run(tmp_path, "-c", section.printing())
    assert done.returncode == 0, done.stderr
    answer = float(done.stdout.splitlines()[-1])  # some libraries print lines of their own
    versions = f"the page is of {section.version}, installed is {metadata.version(section.library)}"
    assert section.is_unsound(answer), f"mended: {answer} is not outside {section.truth()}; {versions}"
    assert section.is_as_told(answer), f"the page says {section.answer}, the library {answer}; {versions}"
