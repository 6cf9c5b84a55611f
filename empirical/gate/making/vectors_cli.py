"""The commands `dp-oracle vectors make`, `fill`, `describe` and `lint`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from empirical.gate import vector_files
from oracle.core.domain import Parameter, non_negative_integer, positive_integer
from oracle.core.errors import OracleError
from oracle.core.registry import bound, bounds
from oracle.running import opening
from oracle.running.console import GOOD, WRONG, print_json, progress, say
from oracle.running.isolated import SECONDS
from oracle.running.outputs import require_folder
from oracle.running.pool import by_name

FILLING = Parameter("seconds", low=Fraction(0), high=SECONDS.high)
app = typer.Typer(help="Test vectors: certified answers to judge other implementations by.", no_args_is_help=True)
Names = Annotated[list[str] | None, typer.Option("--bound", help="A name from `dp-oracle bounds`; may be repeated.")]


def register(parent: typer.Typer) -> None:
    """Add these commands to the dp-oracle command."""
    parent.add_typer(app, name="vectors")


@app.command("make")
def make_files(
    names: Names = None,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("vectors"),
    force: Annotated[bool, typer.Option("--force", help="Make files again that are there already.")] = False,
    workers: Annotated[str, typer.Option(help="Processes to work with.")] = "1",
) -> None:
    """Write a file of vectors for every bound (or some).

    A file that is in the folder already is left alone, so that an interrupted run goes on where it was; --force makes
    it again. Case numbers are kept: from the file in the folder, or else from the one that is shipped.
    """
    count = int(positive_integer("workers").rational(workers))
    asked = [bound(name).name for name in names] if names else list(bounds())
    todo = [name for name in asked if force or not (out / f"{name}.json").exists()]
    require_folder("out", out)
    _in_parallel(make_file, todo, out, workers=count)
    files = [out / f"{name}.json" for name in asked]
    cases = sum(len(vector_files.load(name, out).cases) for name in asked)
    size = sum(path.stat().st_size for path in files)
    say(f"{cases} cases in {len(files)} files, {size / 1e6:.2f} MB, in {out}; {len(todo)} made now")


def _in_parallel(work: Callable[..., Any], todo: Sequence[str], *arguments: Any, workers: int) -> list[Any]:
    """What the work gives for each name, in their order; each keeps its own, so that an interruption loses little."""
    found = {}
    with _bar(len(todo)) as tell:
        for name, result in by_name(work, todo, *arguments, workers=workers):
            found[name] = result
            tell(name)
    return [found[name] for name in todo]


@app.command("fill")
def fill_files(
    names: Names = None,
    folder: Annotated[Path, typer.Option("--folder", help="The folder of the files.")] = vector_files.SHIPPED,
    seconds: Annotated[str, typer.Option(help="For each bound, at most; what is left open is told.")] = "600",
    again: Annotated[bool, typer.Option("--again", help="Try cells again that could not be answered.")] = False,
    close: Annotated[bool, typer.Option("--close", help="List what is still open then as unanswered.")] = False,
    workers: Annotated[str, typer.Option(help="Processes to work with.")] = "1",
) -> None:
    """Add cases until every two cells of a bound's everyday domain have one, or a reason why not.

    What stands in a file stays as it is, under its number. Cut short, the same command goes on where it was.
    """
    count = int(positive_integer("workers").rational(workers))
    limit = float(FILLING.rational(seconds))
    require_folder("folder", folder)
    asked = [bound(name).name for name in names] if names else vector_files.names(folder)
    found = _in_parallel(fill_file, asked, folder, limit, again, close, workers=count)
    for name, (added, missing) in zip(asked, found, strict=True):
        if added or missing:
            say(f"{name}: {added} cases added" + (f", {missing} products of cells still open" if missing else ""))
    say(f"{sum(added for added, _ in found)} cases added to {len(asked)} files")


def fill_file(name: str, folder: Path, seconds: float, again: bool, close: bool) -> tuple[int, int]:
    """Fill one file."""
    from empirical.gate.making.cells import fill

    return fill(name, folder, seconds=seconds, again=again, close=close)


def make_file(name: str, out: Path) -> None:
    """Make one file."""
    from empirical.gate.making.make import make

    formers = [folder for folder in (out, vector_files.SHIPPED) if (folder / f"{name}.json").exists()]
    vector_files.save(out / f"{name}.json", make(bound(name), vector_files.load(name, formers[0]) if formers else None))


@app.command("describe")
def describe_files(
    names: Names = None,
    folder: Annotated[Path, typer.Option("--folder", help="The folder of the files.")] = vector_files.SHIPPED,
) -> None:
    """Write anew what files say of their bounds, and what is attained; inputs and expected values stay as they are.

    For a change of a summary, a parameter's meaning or a tightness, which certifies no value anew.
    """
    from empirical.gate.making.make import described

    require_folder("folder", folder)
    asked = [bound(name).name for name in names] if names else vector_files.names(folder)
    with _bar(len(asked)) as tell:
        for name in asked:
            file = vector_files.load(name, folder)
            vector_files.save(folder / f"{name}.json", described(bound(name), file))
            tell(name)
    say(f"{len(asked)} files described in {folder}")


@contextmanager
def _bar(total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on a terminal's standard error; call what it gives with the name of what is done."""
    opening.tell()
    with progress() as bar:
        task = bar.add_task("", total=total)
        yield lambda name: bar.update(task, advance=1, description=name)


@app.command("lint")
def lint_files(
    names: Names = None,
    folder: Annotated[Path, typer.Option("--folder", help="The folder of the files.")] = vector_files.SHIPPED,
    sample: Annotated[str, typer.Option(help="Valid cases a file to certify again.")] = "3",
    every: Annotated[bool, typer.Option("--all", help="Certify every valid case again.")] = False,
    listed: Annotated[bool, typer.Option("--cells", help="List every cell that cannot be answered.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check files of vectors: form, inputs, cells, and a sample of the answers, certified again. Exit code 1: problems.

    For each file the products of two cells of the everyday domain are counted, and those without an answer listed.
    """
    from empirical.gate.making.lint import coverage, lint

    count = int(non_negative_integer("sample").rational(sample))
    there = vector_files.names(folder)
    if not there:
        raise OracleError(f"folder = {folder} has no files of vectors")
    asked = [bound(name).name for name in names] if names else sorted({*there, *bounds()})
    problems = []
    with _bar(len(asked)) as tell:
        for name in asked:
            problems += lint(name, folder, None if every else count)
            tell(name)
    cells = {name: coverage(name, folder) for name in asked if name in there and name in bounds()}
    if as_json:
        print_json({
            "files": len(asked), "problems": problems, "cells": {name: vars(item) for name, item in cells.items()},
        })
    else:
        for name, item in cells.items():
            say(f"{name}: {item.covered} of {item.products} products of two cells have a case")
            for reason, where in _grouped(item.unanswered).items():
                say(f"  {len(where)} have none: {reason}" + "".join(f"\n    {one}" for one in where if listed))
        for problem in problems:
            say(str(problem))
        say(f"{len(asked)} files, {len(problems)} problems")
    raise typer.Exit(WRONG if problems else GOOD)


def _grouped(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """The cells by the kind of their reason: what stands before the colon; a list has each reason in full."""
    found: dict[str, list[str]] = {}
    for cells, why in reasons.items():
        found.setdefault(why.partition(":")[0], []).append(f"{cells}: {why}")
    return found
