"""The command `dp-oracle rates`: carry out studies of the predicted utility rates and tell what they came to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, TaskProgressColumn, TextColumn

from empirical.studies import record
from empirical.studies.calibration import calibrate
from empirical.studies.outcome import FAMILY_ERROR, StudyOutcome
from empirical.studies.runs import Advance, carry_out, chosen_studies
from empirical.studies.study import Study, studies
from oracle.core.domain import positive_integer
from oracle.core.errors import DomainError
from oracle.core.extras import require
from oracle.running import opening
from oracle.running.console import WRONG, Sign, print_table, print_wrapped, progress, say, telling_what_is_kept
from oracle.running.outputs import Outputs
from oracle.running.places import PATIENCE

COLUMNS = ("study", "predicted", "slopes", "bound", "verdict")


def register(app: typer.Typer) -> None:
    """Add the command of the studies to the dp-oracle command."""
    app.command("rates")(study_rates)


def study_rates(
    names: Annotated[list[str] | None, typer.Argument(help="Studies; without any, they are listed.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of the default set.")] = False,
    full: Annotated[bool, typer.Option("--full", help="With --all: the dear ones, too.")] = False,
    pilot: Annotated[bool, typer.Option("--pilot", help="Other seeds, to look around: never judged or recorded.")]
    = False,
    keep: Annotated[bool, typer.Option("--record", help="Add new outcomes to the record of this installation.")]
    = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the outcomes to this JSON file.")] = None,
    repeats: Annotated[
        int | None, typer.Option("--calibrate", min=1, help="Hold the method to planted rates, so many times each.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Also draw each study into this folder, as SVG.")] = None,
    store: Annotated[Path | None, typer.Option(help="SQLite file of finished work, to go on after a stop.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that compute.")] = 1,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:port.")] = None,
    patience: Annotated[float, typer.Option(help="Seconds to wait for a cluster that has no worker.")] = PATIENCE,
    sign: Sign = None,
) -> None:
    """Hold the predicted utility rates to runs, exact curves and explicit bounds, by rules frozen before.

    Exit code 0: every verdict and interval is the one on record (refutations included); 1: one differs; 2: bad usage.
    """
    positive_integer("workers").parse(workers)  # told before the work
    if full and not everything:
        raise DomainError("full = True is for --all; a study that is named is run as it is")
    if pilot and keep:
        raise DomainError("record = True is not for --pilot, whose runs are never judged")
    if repeats is not None:
        _calibrate(repeats, Outputs({"json": json_file}, sign=sign))
        return
    if figures is not None:
        require("report", what="a figure")
    if everything:  # many a study trains nothing, so that one which is named is asked for no extra before it needs it
        require("training", what="rates --all")
    chosen = chosen_studies(tuple(names or ()), everything=everything, full=full)
    if not chosen:
        _list()
        return
    drawn = {} if figures is None else {f"figures of {name}": figures / f"{name}.svg" for name in chosen}
    on_record = record.RECORD if keep else None
    out = Outputs({"json": json_file, "record": on_record, **drawn}, stores={"store": store}, sign=sign)
    _announce(chosen)
    others = record.probabilities(studies())
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with (
        telling_what_is_kept(store),
        progress(*columns) as bar,
    ):
        task = bar.add_task("starting")

        def tell(advance: Advance) -> None:
            minutes, seconds = divmod(round(advance.left or 0), 60)
            bar.update(task, completed=advance.done, total=advance.total, description=f"{minutes}:{seconds:02d} left")

        outcomes = carry_out(
            chosen, store=store, workers=workers, cluster=cluster, patience=patience, recorded=others, pilot=pilot,
            progress=tell,
        )
    out.json("json", list(outcomes.values()))
    if figures is not None:
        from reports.rate_figures import rate_figure  # matplotlib is slow to load

        for name, outcome in outcomes.items():
            out.text(f"figures of {name}", rate_figure(outcome).svg)
    _tell(outcomes, pilot=pilot, keep=keep)


def _calibrate(repeats: int, out: Outputs) -> None:
    opening.tell()
    with progress() as bar:
        task = bar.add_task("planted rates", total=None)
        rows = calibrate(repeats, progress=lambda done, total: bar.update(task, completed=done, total=total))
    out.json("json", rows)
    print_table(
        ("planted", "draws", "told rightly", "falsely confirmed", "otherwise false"),
        [(row.name, *map(str, (row.repeats, row.rightly, row.falsely_confirmed, row.otherwise_false))) for row in rows],
    )


def _list() -> None:
    table = record.latest()
    print_table(
        ("study", "set", "on record", "what is predicted"),
        [(name, item.tier, table[name].verdict if name in table else "-", item.statement)
         for name, item in studies().items()],
    )


def _announce(chosen: dict[str, Study]) -> None:
    """Say how long it will take, by the record, before it starts."""
    seconds = [entry.seconds for item in chosen.values() if (entry := record.known(item)) is not None]
    unknown = len(chosen) - len(seconds)
    more = f", and {unknown} that were never run" if unknown else ""
    say(f"{len(chosen)} studies, some {sum(seconds):.0f} s of one processor{more}", file=sys.stderr)


def _tell(outcomes: dict[str, StudyOutcome], *, pilot: bool, keep: bool) -> None:
    print_table(COLUMNS, [_row(name, outcome) for name, outcome in outcomes.items()])
    for name, outcome in outcomes.items():
        print_wrapped(f"{name}: ", outcome.reason)
    if pilot:
        say("a pilot: other seeds than those that count; nothing is judged or recorded")
        return
    say(f"all decisions together are wrong with probability at most {FAMILY_ERROR:g} (Holm)")
    if keep:
        say(f"{record.append(outcomes)} outcomes added to the record")
    wrong = {
        name: words for name, outcome in outcomes.items()
        if (words := record.differs(outcome, record.known(outcome.study)))
    }
    say(f"{len(outcomes) - len(wrong)} of {len(outcomes)} outcomes as on record")
    for name, words in wrong.items():
        print_wrapped(f"{name}: ", words)
    if wrong:
        raise typer.Exit(WRONG)


def _row(name: str, outcome: StudyOutcome) -> tuple[str, ...]:
    predicted, interval = outcome.study.predicted, outcome.interval
    return (
        name, "-" if predicted is None else f"{float(predicted):.3f}",
        "-" if interval is None else f"{interval[0]:.3f} .. {interval[1]:.3f}",
        outcome.bound if outcome.worst is None else f"{outcome.bound} ({outcome.worst:.2g})", outcome.verdict,
    )
