"""The sessions of noxfile.py, and those that a text tells people or machines to run."""

from __future__ import annotations

import ast
import re

from tests.project.consoles import ROOT

_COMMAND = re.compile(r"\bnox (?:-\w )*-s ([a-z]\w*(?: [a-z]\w*)*)")


def sessions() -> dict[str, str | None]:
    """The docstring of every session, read from the file without running it."""
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    return {
        node.name: ast.get_docstring(node) for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(mark).startswith("nox.session") for mark in node.decorator_list)
    }


def sessions_named(text: str) -> set[str]:
    """The sessions after `nox -s` in a text; in a page, such a command ends with its quotes or its line."""
    return {name for names in _COMMAND.findall(text) for name in names.split()}
