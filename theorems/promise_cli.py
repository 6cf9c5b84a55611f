"""The command of the false privacy claims: each audited, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from empirical.audits.audit import run
from empirical.audits.progress import progress_bar
from oracle.core.domain import positive_integer
from oracle.core.extras import require
from oracle.running import opening
from oracle.running.console import WRONG, Sign, print_table, say
from oracle.running.outputs import Outputs
from theorems import promise


def register(app: typer.Typer) -> None:
    """Add this command to the dp-oracle command."""
    app.command("false-claims")(audit_false_claims)


def audit_false_claims(
    ids: Annotated[list[str] | None, typer.Argument(help="Only these; all if none is given.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="Say what is promised and where it fails; audit nothing.")]
    = False,
    budget: Annotated[int | None, typer.Option(help="Models trained on each data set, in place of each one's own.")]
    = None,
    store: Annotated[Path | None, typer.Option(help="SQLite file of finished work, to go on after a stop.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that train.")] = 1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the result to this JSON file.")] = None,
    sign: Sign = None,
) -> None:
    """Audit the false privacy claims of the documents: what is promised, what is certified, what is true.

    Exit code 0: every verdict is the expected one, which for a false claim is mostly a violation; 1: one is not.
    """
    wanted = promise.chosen(ids or [])
    if list_only:
        print_table(
            ("false claim", "where", "promise", "fault"),
            [(item.id, f"{item.document} ({item.claim})", item.promise, item.fault) for item in wanted],
        )
        return
    positive_integer("workers").parse(workers)  # told before the work
    out = Outputs({"json": json_file}, stores={"store": store}, sign=sign)
    judged = []
    require("training", what="false-claims")
    opening.tell()
    for item in wanted:
        plan = item.planned(budget)
        with progress_bar(plan, store) as progress:
            judged.append(promise.AuditedPromise(item, run(plan, store=store, workers=workers, progress=progress)))
    out.json("json", judged)
    print_table(promise.COLUMNS, [entry.row() for entry in judged])
    say(f"{sum(entry.good for entry in judged)} of {len(judged)} verdicts as expected")
    if not all(entry.good for entry in judged):
        raise typer.Exit(WRONG)
