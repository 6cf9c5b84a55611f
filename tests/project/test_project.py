"""The project around the code: README and docs tell the truth, CI runs the test command, and the rooms stay apart."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from reports.cli import conflicting_owners
from tests.commands import command, output
from tests.project.consoles import ROOT, blocks, check_console, prompt, run
from tests.project.nox_sessions import sessions
from tests.tiers import later
from theorems.claim import claims, expectations
from theorems.verdict import Verdict

PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").iterdir()))
CONSOLE = [block for page in PAGES for block in blocks(page, "console")]
PYTHON = [pytest.param(code, id=page) for page in PAGES for code in blocks(page, "python")]


def dear(block: str) -> bool:
    """Audits, and a check of a claim whose verdict is for a later tier as well."""
    return " audit " in prompt(block) or "lem-3.2" in prompt(block)


@pytest.mark.parametrize("block", later(CONSOLE, dear, "full", prompt))
def test_a_page_prints_what_it_says(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check_console(command, block)


@pytest.mark.full
@pytest.mark.parametrize("code", PYTHON)
def test_the_python_of_a_page_runs_and_prints_what_it_says(code: str) -> None:
    done = run(ROOT, "-c", code)
    assert done.returncode == 0, done.stderr
    told = re.findall(r"^print\(.*\)\s+# (.*)$", code, re.MULTILINE)
    assert len(told) == code.count("print(") >= 1
    assert done.stdout.splitlines() == told


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.count("\n") <= 300
    assert [page for page in PAGES[1:] if f"]({page})" not in readme] == []


@pytest.mark.parametrize("page", [*PAGES, *(path.name for path in ROOT.glob("*.md") if path.name != "README.md")])
def test_what_a_page_links_to_exists(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_ci_runs_the_readme_test_command() -> None:
    commands = blocks("README.md", "sh")
    assert len(commands) == 2
    assert "nox -s audit" in commands[0]
    assert "nox -s tests" in commands[1]
    assert "## Run the tests" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.full
def test_readme_lists_every_command() -> None:
    help_text = output("--help")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^│ (\w[\w-]*)  ", help_text, re.MULTILINE)
    assert len(commands) >= 8
    for name in commands:
        assert f"`dp-oracle {name}" in readme


def test_readme_counts_the_claims_by_verdict() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for paper in ("relu-approx", "sbcd", "nonconvex-nn", "glmtron", "cs208", "background"):
        verdicts = {name: item.verdict for name, item in expectations().items() if name.startswith(f"{paper}/")}
        found = Counter(verdicts.values())
        own = sum(verdict is Verdict.REFUTED and claims()[name].of_document for name, verdict in verdicts.items())
        counts = (
            found[Verdict.HOLDS], found[Verdict.REFUTED], own, found[Verdict.AMBIGUOUS], found[Verdict.UNDECIDED],
            found[Verdict.NOT_CHECKABLE],
        )
        assert f"(`{paper}`) | " + " | ".join(map(str, counts)) + " |" in readme


@pytest.mark.full
def test_the_command_starts_without_torch() -> None:
    assert run(ROOT, "-c", "import sys, reports.cli; reports.cli.app; sys.exit('torch' in sys.modules)").returncode == 0


@pytest.mark.full
def test_a_bound_is_answered_without_the_other_rooms() -> None:
    code = """
import sys
from reports.cli import main
sys.argv = ["dp-oracle", "bound", "gdp.delta", "mu=1", "epsilon=1"]
try:
    main()
finally:
    print(sorted({"sympy", "theorems", "empirical.cli", "torch"} & set(sys.modules)))
"""
    done = run(ROOT, "-c", code)
    assert done.returncode == 0
    assert done.stdout.endswith("[]\n"), done.stdout


def test_importing_the_oracle_does_not_import_torch() -> None:
    load = "from oracle.core.registry import algorithms, bounds; bounds(); algorithms()"
    code = f"import sys; {load}; sys.exit('torch' in sys.modules)"
    assert run(ROOT, "-c", code).returncode == 0


def test_control_c_while_modules_load_is_no_traceback() -> None:
    code = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "reports.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from dp_oracle import main
main()
"""
    done = run(ROOT, "-c", code)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_every_session_has_a_docstring() -> None:
    assert {"quick", "tests", "thorough", "lint", "audit", "gate", "bench", "report"} <= set(sessions())
    assert all(sessions().values())


def test_torch_is_pinned_for_the_sessions_and_ranged_for_users() -> None:
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (torch,) = [item for item in project["optional-dependencies"]["training"] if item.startswith("torch")]
    assert ">=" in torch
    assert "==" not in torch


@pytest.mark.parametrize(("file", "text"), [
    ("top_level.txt", "other\noracle\n"), ("RECORD", "oracle/core.py,sha256=x,1\nfar/reports.py,,\nreportsx.py,,\n"),
])
def test_each_name_has_one_owner(file: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert conflicting_owners() == []
    for name in ("dp_oracle-0.1.0", "our_other-2"):
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info" / file).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (line,) = conflicting_owners()
    assert line == "the name 'oracle' belongs to several installed distributions: dp-oracle, our-other"


def docstring(text: str) -> str:
    """The docstring of a file, of which nothing more is read: there are a thousand."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    first, after, *_ = islice((token for token in tokens if token.type not in (tokenize.COMMENT, tokenize.NL)), 2)
    if first.type == tokenize.STRING and after.type == tokenize.NEWLINE:
        value = ast.literal_eval(first.string)
        return value.strip() if isinstance(value, str) else ""
    return ""


def test_what_opens_a_file_is_told_apart() -> None:
    for text in ('"""Words."""\n', '#!/bin/python\n\n"""Words.\n\nMore."""\nx = 1\n', "'Words.'\n", 'r"Words."\n'):
        assert docstring(text) == ast.get_docstring(ast.parse(text))
    for text in ("x = 1\n", '""\n', "b'Words.'\n", '"Words." + x\n', 'x = 1\n"""Words."""\n', "# words\nx\n"):
        assert not docstring(text)
        assert not ast.get_docstring(ast.parse(text))


def test_files_stay_short_and_open_with_a_docstring() -> None:
    for room in ("oracle", "empirical", "theorems", "reports", "tests", "benchmarks"):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert text.count("\n") <= 400, f"{path} is long"
            assert not text.strip() or docstring(text), f"{path} does not say what it is for"
