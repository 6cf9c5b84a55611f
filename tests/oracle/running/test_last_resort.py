"""A defect of ours is no verdict: one line, an exit code of its own, and the traceback in a file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from oracle.core.domain import clean
from oracle.running.console import BROKEN, CUT_OFF, UNWRITTEN, print_json, print_table, print_wrapped, run, say

ROOT = Path(__file__).parents[3]
ROOMS = ("oracle", "empirical", "theorems", "reports")
PRINTED = [  # by the functions that clean what they print
    ("outputs.py", "f'{kind}: {printable(message)}'"), ("console.py", "json_text(value)"),
]
ERRORS = [
    RuntimeError("planted [bold]\x1b[31m\nerror"), KeyError("x"), RecursionError(), MemoryError(), AssertionError("no"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), ZeroDivisionError("1 / 0"), OSError(5, "planted"),
]


def failing(error: BaseException) -> typer.Typer:
    app = typer.Typer()

    @app.command("fail")
    def fail() -> None:
        raise error

    @app.callback()
    def names() -> None:
        pass

    return app


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_crash_is_one_line_and_no_verdict(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(failing(error), ["fail"]) == (UNWRITTEN if isinstance(error, OSError) else BROKEN)
    assert not {BROKEN, UNWRITTEN} & {0, 1, 2, 3}
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "\x1b" not in told
    if not isinstance(error, OSError):
        kept = re.search(r"kept in (\S+\.txt)", told)
        assert kept is not None
        file = Path(kept[1])
        assert type(error).__name__ in file.read_text()
        file.unlink()


@pytest.mark.full
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("words", [("bounds",), ("bounds", "--json"), ("claims",), ("--help",)], ids=" ".join)
def test_a_full_disk_is_told(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dp_oracle", *words], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == UNWRITTEN
    assert done.stderr.count("\n") == 1
    assert "could not be written" in done.stderr


@pytest.mark.full
@pytest.mark.parametrize(
    ("epsilon", "closed", "code"), [("1", ">&-", 0), ("-1", "2>&-", 2), ("1", ">/dev/full 2>&1", 74)]
)
def test_an_output_that_is_closed_costs_no_verdict(epsilon: str, closed: str, code: int) -> None:
    words = f"{sys.executable} -m dp_oracle bound laplace.delta scale=1 sensitivity=1 epsilon={epsilon} {closed}"
    done = subprocess.run(["bash", "-c", words], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.full
def test_whoever_stops_reading_hears_nothing_more() -> None:
    code = f"{sys.executable} -m dp_oracle bounds --json | head -c 10; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.endswith(f"{CUT_OFF}\n")


def test_every_line_is_printed_clean() -> None:
    found = []
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
                found.append((path.name, ast.unparse(node.args[0])))
    assert found
    assert [one for one in found if not one[1].startswith("clean(")] == PRINTED


def test_what_a_terminal_would_obey_is_never_printed(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "a\x1b[31m\x9b31m\u202eb\x07\x00[/]\\[bold\\"
    print_table((evil,), [(evil,), ("\\",), ("[/nothing]",)])
    print_wrapped("x ", evil)
    print_json({evil: evil})
    say(evil)
    told = capsys.readouterr().out
    assert not set(told) & set("\x1b\x9b\u202e\x07\x00")
    assert "[/nothing]" in told
    assert clean("two\nlines") == "two\nlines"


@pytest.mark.parametrize("lacking", ["typer", "oracle.running.outputs", "oracle.cli"])
def test_an_installation_that_cannot_be_loaded_is_no_verdict(lacking: str) -> None:
    code = f"import sys, dp_oracle; sys.modules[{lacking!r}] = None; sys.argv[1:] = ['plan', 'x']; dp_oracle.main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == BROKEN, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert "no verdict" in line
    kept = re.search(r"kept in (\S+\.txt)", line)
    if kept is not None:
        Path(kept[1]).unlink()
