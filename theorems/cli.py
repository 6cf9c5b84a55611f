"""The commands of the theory checker: claims, check."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from oracle.core.errors import DomainError
from oracle.core.plain import picked
from oracle.running import opening
from oracle.running.console import WRONG, Sign, print_json, print_table, progress, say
from oracle.running.outputs import Outputs
from theorems.claim import Checked, Claim, by_severity, claim, claims, expectations
from theorems.findings import Findings
from theorems.graph import standing
from theorems.mutation.judging import judge_variants
from theorems.run import Done, Failed, processors, run
from theorems.show import as_json, print_claim, print_summary

_LONG = 5.0  # seconds of a processor that an everyday check should not need


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("claims")(list_claims)
    app.command("check")(check_claims)


def of_paper(paper: str | None) -> list[Claim]:
    """The claims of a paper, or all of them."""
    papers = sorted({item.paper for item in claims().values()})
    if paper is not None and paper not in papers:
        raise DomainError(f"paper = {paper} is unknown; known: {', '.join(papers)}")
    return [item for item in claims().values() if paper in (None, item.paper)]


def list_claims(
    paper: Annotated[str | None, typer.Option(help="Only the claims of this paper, e.g. relu-approx.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the claims, with source and expected verdict: the worst first, as severity says, and refuted ones first.

    JSON is in the order of the modules.
    """
    chosen = of_paper(paper)
    if as_json:
        print_json([
            {
                **picked(item, "id", "source", "statement", "words"), "expected": expectations()[item.id].verdict,
                **picked(item, "repaired_by", "uses", "rests_on"), "hypotheses": item.domains,
            }
            for item in chosen
        ])
        return
    print_table(("claim", "expected", "source", "what it says"), [
        (item.id, expectations()[item.id].verdict.value, item.source, item.words) for item in by_severity(chosen)
    ])


def check_claims(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids from `dp-oracle claims`.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every claim.")] = False,
    paper: Annotated[str | None, typer.Option(help="Check every claim of this paper.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Try twenty times as many points as on every day.")] = False,
    variants: Annotated[bool, typer.Option("--variants", help="Judge machine-made false variants of them.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; by default one a processor.")] = None,
    store_file: Annotated[Path | None, typer.Option("--store", help="Keep findings here, and resume.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the findings to this file.")] = None,
    sign: Sign = None,
) -> None:
    """Check claims; exit 0 when every verdict and its evidence are as expected, 1 when one differs or fails.

    Many are told with the worst first, as severity says, and refuted ones first; ids in the order given.
    With --variants: judge false variants of those that hold; 1 when one of a PROVED claim survives, or one of another
    without a reason.
    """
    if sum((bool(ids), everything, paper is not None)) != 1:
        raise DomainError("check takes either claim ids, or --paper, or --all")
    chosen = [claim(name) for name in dict.fromkeys(ids)] if ids else of_paper(paper)
    out = Outputs({"json": json_file}, stores={"store": store_file}, sign=sign)
    if not ids:
        opening.tell()
    if variants:
        judge_variants(chosen, workers or processors(), store_file, out)
        return
    with nullcontext() if store_file is None else Findings(store_file, full=full) as store:
        outcomes = _run(chosen, workers=workers or (1 if ids else processors()), full=full, store=store)
    known = standing(item for item in outcomes if isinstance(item, Checked))
    out.json("json", lambda: [as_json(item, claims(), known) for item in outcomes])
    place = {item.id: at for at, item in enumerate(chosen if ids else by_severity(chosen))}
    told = sorted(outcomes, key=lambda item: place[item.claim.id])
    for item in told:
        print_claim(item, claims(), known, whole=bool(ids))
    print_summary(told, counts=not ids)
    if not all(isinstance(item, Checked) and item.as_expected for item in outcomes):
        raise typer.Exit(WRONG)


def _run(chosen: list[Claim], *, workers: int, full: bool, store: Findings | None) -> list[Checked | Failed]:
    """Run the checks with a progress bar on a terminal's standard error, and tell which took long."""
    slow: list[tuple[float, str]] = []
    with progress() as bar:
        task = bar.add_task("checking claims", total=len(chosen))

        def tell(done: Done) -> None:
            bar.update(task, advance=1, description=done.name)
            slow.append((done.seconds or 0.0, done.name))

        outcomes = run(chosen, workers=workers, full=full, store=store, progress=tell)
    late = [f"{name} {seconds:.1f} s" for seconds, name in sorted(slow, reverse=True)[:5] if seconds > _LONG]
    if late and not full:
        say(f"slowest: {', '.join(late)}", file=sys.stderr)
    return outcomes
