"""The command `report`: collect everything, write report.html and report.json, and say whether all is as expected."""

from __future__ import annotations

import json
import webbrowser
from contextlib import nullcontext
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from oracle.core.errors import OracleError
from oracle.running import opening
from oracle.running.console import WRONG, Sign, progress, say
from oracle.running.outputs import Outputs
from reports.model import Report, collect, everything
from theorems.findings import Findings

HTML_FILE, JSON_FILE = "report.html", "report.json"
DEFAULT_DIRECTORY = Path("out/report")


def register(app: typer.Typer) -> None:
    """Add the report's command to the dp-oracle command."""
    app.command("report")(write_report)


def schema(name: str = "report") -> Any:
    """The JSON schema of `report.json`, or of the league table in it."""
    file = resources.files("reports").joinpath(f"templates/{name}.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


def validated(report: Report) -> dict[str, Any]:
    """The report as JSON data that the shipped schema accepts; anything else is an error."""
    import jsonschema

    data = report.to_json()
    for name, part in (("report", data), ("league", data["league"])):
        error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema(name)).iter_errors(part))
        if error is not None:
            raise OracleError(f"the {name} breaks its schema at {error.json_path}: {error.message}")
    return data




def collect_with_progress(
    *, budget: int | None, seed: int, workers: int, findings: Findings | None, store: Path | None
) -> Report:
    """Collect everything, with a progress bar on a terminal's standard error."""
    scope = everything()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with progress(*columns) as bar:
        task = bar.add_task("starting", total=scope.steps)

        def tell(what: str, part: float) -> None:
            bar.update(task, description=what, advance=part)

        return collect(
            scope, budget=budget, seed=seed, workers=workers, findings=findings, store=store, progress=tell
        )


def write(report: Report, out: Outputs) -> None:
    """Write both files; nothing is written unless both could be made."""
    from reports import audit_figures, figures, rate_figures  # matplotlib is slow to load; other commands need it not
    from reports.render import render

    data = validated(report)
    pictures = [
        figures.gaussian_curve(), figures.noisy_cgd_epochs(), audit_figures.audits(report),
        audit_figures.over_epochs(report), *map(rate_figures.rate_figure, report.rates),
    ]
    page = render(report, figures=pictures)
    out.json("data", data)
    out.text("page", page)


def write_report(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where report.html and report.json go.")] = DEFAULT_DIRECTORY,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    budget: Annotated[
        int | None, typer.Option(min=100, help="Most models of an audit on each data set, in place of its own number.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the audits; it determines the report.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that check claims and train models.")] = 1,
    findings: Annotated[
        Path | None, typer.Option(help="Store of `dp-oracle check --store`, whose claims are not checked again.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="Store of finished audits, as of `audit --all` and `false-claims`.")
    ] = None,
    sign: Sign = None,
) -> None:
    """Check, audit and judge everything, and write the report; exit 1 when something is not as expected."""
    page, data = out / HTML_FILE, out / JSON_FILE
    files = Outputs({"page": page, "data": data}, stores={"findings": findings, "store": store}, sign=sign)
    opening.tell()
    with nullcontext() if findings is None else Findings(findings, full=False) as known:
        report = collect_with_progress(budget=budget, seed=seed, workers=workers, findings=known, store=store)
    write(report, files)
    totals = report.totals
    judged, bugs = totals.killed + totals.spared, totals.harmful + totals.equivalent
    say(f"{totals.as_expected} of {totals.counts.count} verdicts as expected, "
          f"{totals.consistent} of {totals.audits} audits consistent, {judged} of {bugs} mutants judged rightly, "
          f"{totals.promises_as_expected} of {totals.false_claims} false privacy claims as expected, "
          f"{totals.rates_as_recorded} of {totals.rates} utility rates as on record")
    say(f"report  {page}")
    say(f"data    {data}")
    if open_it:
        webbrowser.open(page.resolve().as_uri())
    if not report.ok:
        raise typer.Exit(WRONG)
