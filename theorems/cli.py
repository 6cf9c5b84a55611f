"""The commands of the theory checker: claims, check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from oracle.console import WRONG, print_json, print_table, terminal, write_json
from oracle.errors import DomainError
from theorems.claim import Checked, Claim, check, claim, claims, expectations

_STYLES = {"HOLDS": "green", "REFUTED": "red"}


def register(app: typer.Typer) -> None:
    """Add this room's commands to the dp-oracle command."""
    app.command("claims")(list_claims)
    app.command("check")(check_claims)


def list_claims(
    paper: Annotated[str | None, typer.Option(help="Only the claims of this paper, e.g. relu-approx.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the claims, with source and expected verdict."""
    papers = sorted({item.paper for item in claims().values()})
    if paper is not None and paper not in papers:
        raise DomainError(f"paper = {paper} is unknown; known: {', '.join(papers)}")
    chosen = [item for item in claims().values() if paper in (None, item.paper)]
    if as_json:
        print_json([
            {
                "id": item.id, "source": item.source, "statement": item.statement, "words": item.words,
                "expected": expectations()[item.id].verdict.value, "repaired_by": item.repaired_by,
                "uses": list(item.uses), "rests_on": list(item.rests_on),
                "hypotheses": [{"name": p.name, "domain": p.domain} for p in item.hypotheses],
            }
            for item in chosen
        ])
        return
    print_table(("claim", "expected", "source", "what it says"),
                [(item.id, expectations()[item.id].verdict.value, item.source, item.words) for item in chosen])


def check_all(chosen: list[Claim]) -> list[Checked]:
    """Check claims, with a progress bar on a terminal's standard error."""
    bar = track(chosen, "checking claims", console=Console(stderr=True), transient=True,
                disable=not sys.stderr.isatty() or len(chosen) < 2)
    return [check(item) for item in bar]


def check_claims(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids from `dp-oracle claims`.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Check every claim.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the findings to this file.")] = None,
) -> None:
    """Check claims; exit 0 when every verdict is as expected, 1 when one differs."""
    if bool(ids) == everything:
        raise DomainError("check takes either claim ids or --all")
    checked = check_all(list(claims().values()) if everything else [claim(name) for name in ids or []])
    if json_file is not None:
        write_json(json_file, [item.to_json() for item in checked])
    for item in checked:
        _print_finding(item)
    differing = [item for item in checked if not item.as_expected]
    print(f"{len(checked) - len(differing)} of {len(checked)} verdicts as expected")
    if differing:
        raise typer.Exit(WRONG)


def _print_finding(item: Checked) -> None:
    console, finding = terminal(), item.finding
    style = _STYLES.get(finding.verdict.value, "yellow")
    console.print(f"[{style}]{finding.verdict.value:9}[/] {item.claim.id}   ({item.claim.source})   "
                  f"evidence: {finding.evidence.value}")
    lines = [("claims", item.claim.words), ("because", finding.summary)]
    if finding.witness:
        lines.append(("witness", ", ".join(f"{key} = {value}" for key, value in finding.witness.items())))
    if item.claim.repaired_by:
        lines.append(("repair", item.claim.repaired_by))
    if not item.as_expected:
        lines.append(("differs", item.difference))
    for label, text in lines:
        console.print(f"  {label:9}", text, markup=False, soft_wrap=True)
