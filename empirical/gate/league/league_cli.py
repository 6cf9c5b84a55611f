"""The command `league`: hold every installed library to the bounds that it offers, and print the dated table."""

from __future__ import annotations

import datetime
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from empirical.gate import vector_files
from empirical.gate.adapters import TIMEOUT, Adapter, adapters
from empirical.gate.league import league_tables as tables
from empirical.gate.league.bound_rows import BUDGET, MEMORY, SEARCH, SEARCH_SECONDS, Settings
from empirical.gate.league.league import AnyRow, League
from empirical.gate.league.league_run import Peer, carry_out, peers
from empirical.gate.league.peer_trainings import PeerTraining
from oracle.core.errors import OracleError
from oracle.running import opening
from oracle.running.console import GOOD, WRONG, Sign, print_table, progress, say
from oracle.running.outputs import Outputs


def register(app: typer.Typer) -> None:
    """Add this command to the dp-oracle command."""
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
    budget: Annotated[
        float, typer.Option(min=0, help="Seconds for the vectors of a row, everyday ones first; the rest is not run.")
    ] = BUDGET,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    store: Annotated[Path | None, typer.Option(help="Keep finished rows here, and go on from them.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the table as JSON.")] = None,
    markdown_file: Annotated[Path | None, typer.Option("--markdown", help="Write the table as Markdown.")] = None,
    sign: Sign = None,
) -> int:
    """Judge the real libraries that are installed: the league table, with the worst case of each.

    Exit code 0: all came out as the files of expected failures beside the adapters say; 1: something did not.
    """
    out = Outputs({"json": json_file, "markdown": markdown_file}, stores={"store": store}, sign=sign)
    chosen = [
        peer for peer in peers() if (not library or peer.library in library)
        and (not bound or (isinstance(peer, Adapter) and peer.bound in bound))
    ]
    if not chosen:
        known = ", ".join(sorted({adapter.library for adapter in adapters()}))
        raise OracleError(f"nothing to judge: there are adapters for {known}; pip install 'dp-oracle[peers]'")
    settings = Settings(timeout, memory, search, search_seconds, budget)
    bars = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    opening.tell()
    with progress(*bars) as bar:
        task = bar.add_task("league", total=len(chosen))

        def tell(peer: Peer, rows: Sequence[AnyRow], fresh: bool) -> None:
            what = f"{peer.library} {described(peer)}"
            bar.update(task, advance=1, description=what)
            if fresh and not sys.stderr.isatty():  # the log of a long run says that it lives
                say(f"{what}: {'as expected' if all(row.as_expected for row in rows) else 'not as expected'}",
                      file=sys.stderr, flush=True)

        rows = carry_out(chosen, settings, workers=workers, store=store, progress=tell)
    league = League.of(
        datetime.datetime.now(tz=datetime.UTC).date().isoformat(), platform.python_version(), vector_files.VERSION, rows
    )
    out.json("json", league)
    out.text("markdown", lambda: tables.markdown(league) + "\n")
    for columns, cells in tables.parts(league):
        print_table(columns, cells)
    for line in league.differences:
        say(f"not as expected: {line}")
    return GOOD if league.ok else WRONG


def described(peer: Peer) -> str:
    """A part of a library in a few words."""
    if isinstance(peer, Adapter):
        return f"{peer.variant} {peer.bound}"
    return peer.target.partition(":")[2] if isinstance(peer, PeerTraining) else peer.method
