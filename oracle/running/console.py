"""What every command shares: exit codes, what is printed, and errors in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from oracle.core.domain import clean, shown
from oracle.core.errors import DomainError, OracleError, OutputError, PrecisionError, WorkLostError
from oracle.core.extras import missing
from oracle.core.plain import json_text
from oracle.running import opening, outputs
from oracle.running.outputs import complain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

GOOD, WRONG, BAD_USAGE, UNDECIDED = 0, 1, 2, 3
BROKEN = 70  # a defect of ours, or a machine that gives out: no verdict (sysexits.h calls it an internal error)
UNWRITTEN = 74  # a file could not be written, or what is printed (sysexits.h: an error of input or output)
INTERRUPTED = 130  # as shells report it
CUT_OFF = 141  # whoever read our output went away, as shells report it

VERDICT_STYLES = {
    "HOLDS": "green", "REFUTED": "red", "AMBIGUOUS": "yellow", "UNDECIDED": "yellow",
    "VACUOUS": "yellow", "NOT_CHECKABLE": "yellow",
    "CONSISTENT": "green", "VIOLATION": "red", "INVALID": "yellow", "KILLED": "green", "SURVIVED": "red",
    "TIGHT": "green", "UNSOUND": "red", "ACCEPTED_INVALID": "red", "CRASH": "red", "TIMEOUT": "red", "ERROR": "red",
}

Sign = Annotated[
    Path | None, typer.Option("--sign", metavar="KEY", help="Sign what is written with this key (`dp-oracle verify`).")
]


def terminal() -> Console:
    """A console on standard output; wide when output is not a terminal, so that no value is ever folded."""
    from rich.console import Console  # here and below: it takes time to load, and few commands print a table

    opening.end()
    return Console(width=None if sys.stdout.isatty() else 500, highlight=False)


def say(text: str = "", *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print lines, whatever names, paths and answers have brought into them: no terminal obeys it."""
    opening.end()
    print(clean(text), file=file, flush=flush)


def print_json(value: Any) -> None:
    """One JSON document on standard output; records are written as `plain` says."""
    opening.end()
    print(json_text(value))


def progress(*columns: ProgressColumn) -> Progress:
    """A bar on a terminal's standard error, gone when its work is; what is printed meanwhile goes where it belongs."""
    from rich.console import Console
    from rich.progress import Progress

    opening.end()
    return Progress(
        *columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )


_COLUMNS = 80


def print_wrapped(lead: str, text: str) -> None:
    """A text after its lead, folded at 80 columns below where it began; a word is never cut."""
    say(_folded(lead, text, _COLUMNS))


def print_line(lead: str, text: str, style: str = "") -> None:
    """A text after its lead, folded below where it began on a terminal, and nowhere else; a verdict has its colour."""
    from rich.text import Text

    console = terminal()
    whole = _folded(lead, text, console.width) if console.is_terminal else clean(f"{lead}{text}")
    line = Text(whole, style)
    line.stylize(VERDICT_STYLES.get(lead.strip(), ""), 0, len(lead))
    console.print(line, soft_wrap=True)


def _folded(lead: str, text: str, columns: int) -> str:
    return textwrap.fill(
        clean(text), columns, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False,
        break_on_hyphens=False,
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A plain table; verdicts get their colour on a terminal. Where a word would be cut, a block of lines a row."""
    from rich.table import Column, Table
    from rich.text import Text

    def styled(cell: str) -> Text:
        return Text(clean(cell), VERDICT_STYLES.get(cell, ""))  # no markup: whatever it holds is shown

    console = terminal()
    cells = zip(columns, *rows, strict=True)
    longest = [max(len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    if sum(longest) + 2 * len(columns) <= console.width:
        table = Table(*(Column(styled(name)) for name in columns), box=None, pad_edge=False, header_style="bold")
        for row in rows:
            table.add_row(*map(styled, row))
        console.print(table)
        return
    after = max(map(len, columns[1:]), default=0)
    for title, *others in rows:
        print_line("", title, "bold")
        for name, cell in zip(columns[1:], others, strict=True):
            print_line(f"  {name:{after}}  ", cell, VERDICT_STYLES.get(cell, ""))


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


@contextmanager
def telling_what_is_kept(store: Path | None, how_far: Callable[[], str] = lambda: "stopped") -> Iterator[None]:
    """Where work is cut short, by Ctrl-C or by a machine that gives out: how far it came, and how to go on."""
    try:
        yield
    except (KeyboardInterrupt, WorkLostError):
        kept = "nothing is kept (no --store)" if store is None else f"kept in {store}; run the same again to go on"
        say(f"{how_far()}: {kept}", file=sys.stderr)
        raise


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> int:
    """Run the command; every failure that is the user's becomes one line on standard error and an exit code."""
    outputs.begin()
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        code = _run(app, arguments)
    opening.end(over=True)
    written = outputs.end()
    return code if written or code in (BROKEN, INTERRUPTED) else UNWRITTEN


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line, as errors are."""
    complain(str(message), "warning")


def _run(app: typer.Typer, arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = typer.main.get_command(app).main(args=words, standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk can still be told
        return code if isinstance(code, int) else GOOD
    except BrokenPipeError:
        _output_to_nowhere()
        return CUT_OFF
    except SystemExit:
        # click ends with 1, the code of a violation, where nobody reads its output any more, and leaves this wrapper.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            return CUT_OFF
        raise
    except OutputError as error:
        complain(str(error))
        return UNWRITTEN
    except PrecisionError as error:
        complain(str(error))
        return UNDECIDED
    except WorkLostError as error:
        complain(str(error))
        return BROKEN
    except OracleError as error:
        complain(str(error))
        return BAD_USAGE
    except Exception as error:
        # typer brings click along under one of two module paths; its usage errors are known by this method.
        if hasattr(error, "format_message"):
            complain(_usage(error, words))
            return BAD_USAGE
        if type(error).__name__ == "Abort":
            say("interrupted", file=sys.stderr)
            return INTERRUPTED
        return broken(error)


def _usage(error: Any, words: Sequence[str]) -> str:
    """What is wrong with an option: argument, value and domain, of which typer tells the value now and then."""
    message = str(error.format_message())
    if not message:  # of a group of commands, which tells its help where none of them is asked for
        return f"{' '.join(words)} needs a command: its help lists them"
    for option in getattr(getattr(error, "param", None), "opts", ()):
        for before, word in zip(("", *words), words, strict=False):
            value = word if before == option else word.partition(f"{option}=")[2]
            if value and message.startswith("Invalid value for "):
                domain = message.partition(": ")[2].replace("Input should be", "it should be")
                return f"{option.lstrip('-')} = {shown(value)} is outside its domain: {domain}"
    return message


def _output_to_nowhere() -> None:
    """Let what is left in the buffers go nowhere: there is nobody to read it, and Python would complain at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def broken(error: BaseException) -> int:
    """The last resort: one line, an exit code that no verdict has, and where the traceback is kept.

    A library that an installation lacks on purpose is no defect: the line says which extra brings it.
    """
    lacking = missing(error)
    if lacking is not None:
        complain(str(lacking))
        return BAD_USAGE
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        _output_to_nowhere()
        complain(f"the output could not be written: {error.strerror}; no verdict is told here")
        return UNWRITTEN
    kept = "it could not be kept"
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix="dp-oracle-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write("".join(traceback.format_exception(error)))
        kept = f"it is kept in {name}"
    complain(f"a defect of dp-oracle, and no verdict: {what[:300]} (the traceback: {kept}; please report it)")
    return BROKEN
