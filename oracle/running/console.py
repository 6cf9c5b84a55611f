"""What every command shares: exit codes, JSON output, tables, and errors in one line."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from oracle.core.errors import DomainError, OracleError, PrecisionError
from oracle.core.plain import plain

GOOD, WRONG, BAD_USAGE, UNDECIDED = 0, 1, 2, 3
INTERRUPTED = 130  # as shells report it

VERDICT_STYLES = {
    "HOLDS": "green", "REFUTED": "red", "AMBIGUOUS": "yellow", "UNDECIDED": "yellow",
    "VACUOUS": "yellow", "NOT_CHECKABLE": "yellow",
    "CONSISTENT": "green", "VIOLATION": "red", "INVALID": "yellow", "KILLED": "green", "SURVIVED": "red",
    "TIGHT": "green", "UNSOUND": "red", "ACCEPTED_INVALID": "red", "CRASH": "red", "TIMEOUT": "red",
}


def terminal() -> Console:
    """A console on standard output; wide when output is not a terminal, so that no value is ever folded."""
    return Console(width=None if sys.stdout.isatty() else 500, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output; records are written as `plain` says."""
    print(_document(value))


def write_json(path: Path, value: Any) -> None:
    """One JSON document in a file; the parent folder is made, and a bad path is a clear error."""
    write_text(path, _document(value) + "\n")


def _document(value: Any) -> str:
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def write_text(path: Path, text: str, *, append: bool = False) -> None:
    """A text in a file, or at its end; the parent folder is made, and a bad path is a clear error."""
    with _written(path), path.open("a" if append else "w", encoding="utf-8") as file:
        file.write(text)


def require_writable(path: Path) -> None:
    """Find out that a file cannot be written before the work whose results it is to hold, not after it."""
    with _written(path), path.open("a", encoding="utf-8"):
        pass


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise OracleError(f"cannot write {path}: {error.strerror}") from None


_COLUMNS = 80


def print_wrapped(lead: str, text: str) -> None:
    """A text after its lead, folded at 80 columns below where it began; a word is never cut."""
    after = " " * len(lead)
    print(textwrap.fill(
        text, _COLUMNS, initial_indent=lead, subsequent_indent=after, break_long_words=False, break_on_hyphens=False,
    ))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A plain table; verdicts get their colour on a terminal."""
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(_styled, row))
    terminal().print(table)


def _styled(cell: str) -> str:
    return f"[{VERDICT_STYLES[cell]}]{cell}[/]" if cell in VERDICT_STYLES else cell.replace("[", r"\[")


def key_values(words: Sequence[str]) -> dict[str, str]:
    """The key=value words of a command line, as a mapping."""
    result: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise DomainError(f"parameter = {word} is no key=value pair")
        if key in result:
            raise DomainError(f"{key} is given twice: {result[key]} and {value}")
        result[key] = value
    return result


def _complain(message: str) -> None:
    """One line on standard error, whatever a user's input brought into the message."""
    print("error: " + " ".join(message.split()), file=sys.stderr)


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> int:
    """Run the command; every failure that is the user's becomes one line on standard error and an exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = typer.main.get_command(app).main(args=words, standalone_mode=False)
        return code if isinstance(code, int) else GOOD
    except PrecisionError as error:
        _complain(str(error))
        return UNDECIDED
    except OracleError as error:
        _complain(str(error))
        return BAD_USAGE
    except Exception as error:
        # typer brings click along under one of two module paths; its usage errors are known by this method.
        message = getattr(error, "format_message", None)
        if message is not None:
            _complain(message())
            return BAD_USAGE
        if type(error).__name__ == "Abort":
            print("interrupted", file=sys.stderr)
            return INTERRUPTED
        raise
