"""The command `league`: hold every installed library to the bounds that it offers, and print the dated table."""

from __future__ import annotations

import datetime
import platform
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from empirical import league_tables as tables
from empirical.league import League, Row
from empirical.league_run import MEMORY, SEARCH, SEARCH_SECONDS, TIMEOUT, Settings, carry_out
from oracle.console import BAD_USAGE, GOOD, WRONG, print_table, require_writable, write_json
from oracle.errors import OracleError
from oracle.gate import vectors
from oracle.gate.adapters import adapters, installed


def register(app: typer.Typer) -> None:
    """Add the command to the dp-oracle command."""
    app.command("league")(make_league)


def make_league(
    library: Annotated[
        list[str] | None, typer.Option(help="Only this library (repeatable); all that are installed by default.")
    ] = None,
    bound: Annotated[list[str] | None, typer.Option(help="Only this bound (repeatable).")] = None,
    search: Annotated[int, typer.Option(min=0, help="Examples beyond the vectors, for each row.")] = SEARCH,
    search_seconds: Annotated[float, typer.Option(min=0, help="The most that a search may take.")] = SEARCH_SECONDS,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that a call may take.")] = TIMEOUT,
    memory: Annotated[int, typer.Option(min=64, help="MB that a library may use.")] = MEMORY,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    store: Annotated[Path | None, typer.Option(help="Keep finished rows here, and go on from them.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table as JSON.")] = None,
    markdown_file: Annotated[Path | None, typer.Option("--markdown", help="Write the table as Markdown.")] = None,
) -> int:
    """Judge the real libraries that are installed: the league table, with the worst case of each.

    Exit code 0: all came out as the files of expected failures beside the adapters say; 1: something did not.
    """
    chosen = [
        adapter for adapter in installed()
        if (not library or adapter.library in library) and (not bound or adapter.bound in bound)
    ]
    if not chosen:
        known = ", ".join(sorted({adapter.library for adapter in adapters()}))
        raise OracleError(f"no such library is installed; there are adapters for {known}: pip install 'dp-oracle[peers]'")
    for path in (store, json_file, markdown_file):
        if path is not None:
            require_writable(path)
    settings = Settings(timeout, memory, search, search_seconds)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task("league", total=len(chosen))

        def tell(row: Row, fresh: bool) -> None:
            bar.update(task, advance=1, description=f"{row.library} {row.variant} {row.bound}")
            if fresh and not sys.stderr.isatty():  # a log of a long run says that it lives
                print(f"{row.library} {row.variant} {row.bound}: {row.seconds:.0f} s", file=sys.stderr)

        rows = carry_out(chosen, settings, workers=workers, store=store, progress=tell)
    league = League(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(), python=platform.python_version(),
        vectors=vectors.VERSION, rows=tuple(rows), trainings=(), auditors=(),
    )
    print_table(tables.COLUMNS, [tables.cells(row) for row in league.rows])
    for row in league.rows:
        for line in row.differs:
            print(f"not as expected: {row.library} {row.variant}: {line}")
    if json_file is not None:
        write_json(json_file, league.to_json())
    if markdown_file is not None:
        markdown_file.write_text(tables.markdown(league) + "\n", encoding="utf-8")
    return GOOD if league.ok else WRONG
