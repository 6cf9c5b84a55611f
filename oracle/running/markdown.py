"""Texts in Markdown pages: shown as they are, whatever a name, a path, an answer or a stored row has brought into them.

A page is written by us and read as markup: a cell that closed its table, a link, an image that is loaded from elsewhere
or a fence that ends too early would be the work of whoever chose the name. What a terminal would obey is replaced where
files are written (`oracle.running.outputs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ACTIVE = re.compile(r"[\\`*|~]|\](?=[(\[])")  # a bracket alone is no link


def shown(text: str) -> str:
    """A text as one line of a page, without any markup of its own."""
    return _ACTIVE.sub(r"\\\g<0>", " ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    return lines + [f"| {' | '.join(map(shown, row))} |" for row in rows]


def code(text: str) -> str:
    """A text as code within a line; what has a backtick of its own is shown as text."""
    return shown(text) if "`" in text or "\n" in text else f"`{text}`"


def block(lines: Sequence[str], indent: str = "") -> list[str]:
    """Lines as a block of code, whose fence none of them closes."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{indent}{fence}", *(f"{indent}{' '.join(line.splitlines())}" for line in lines), f"{indent}{fence}"]
