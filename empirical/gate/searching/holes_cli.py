"""The command `dp-oracle holes`: plant holes in an accountant of every bound, and count those that the gate finds.

Its JSON file holds a row a bound with two fingerprints of what gave it: of all code and the vectors, and of the gate
and the vectors without the bound's own formulas. The file is written after every bound, and a row that it has of the
present code is not measured again: a run that was cut short goes on where it was, and a change of one bound costs one
row. The page tells rows of which only the bound's formulas have changed since from those of an older gate.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from empirical.gate import vector_files
from empirical.gate.searching.holes import LARGE, LEAST, Planter, caught, rates
from oracle.core.errors import DomainError, OracleError
from oracle.core.reading import read_json
from oracle.core.registry import bound as bound_of
from oracle.core.registry import bounds
from oracle.running import opening
from oracle.running.console import GOOD, WRONG, Sign, progress, say
from oracle.running.fingerprint import fingerprint
from oracle.running.outputs import Outputs
from oracle.running.pool import by_name

COUNT = 20
SHARE = 0.95  # of a bound's holes that must be found; of those above 5 % of the domain all
PRESENT, FORMULAS, OLDER = "present", "older formulas", "older"
_PLANTER = "empirical.gate.searching.holes"
_ASKERS = (_PLANTER, "empirical.gate.jobs", "empirical.gate.xfail")
"""The modules on the way that look up a bound by its name: they are asked for the one that is measured."""

Row = Mapping[str, Any]


class Codes(NamedTuple):
    """The fingerprints of all that a row depends on, and of the part of it that is not the bound's own."""

    code: str
    gate: str

    def of(self, row: Row) -> str:
        """What code a row is of, beside this one."""
        if row.get("code") == self.code:
            return PRESENT
        return FORMULAS if row.get("gate") == self.gate else OLDER


def register(app: typer.Typer) -> None:
    """Add this command to the dp-oracle command."""
    app.command("holes")(plant_holes)


def plant_holes(
    bound: Annotated[list[str] | None, typer.Option(help="Only this bound (repeatable).")] = None,
    count: Annotated[int, typer.Option(min=1, help="Holes a bound.")] = COUNT,
    seed: Annotated[int, typer.Option(min=0, help="Of the regions that are drawn.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Measure rows of the present code again, too.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the rows as JSON; those that it has of this code stay.")
    ] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", help="Write all rows of the JSON file as a page.")
    ] = None,
    sign: Sign = None,
) -> int:
    """Plant holes: accountants that are right but for one region, which the gate's default run must not pass.

    A hole is found where an answer is UNSOUND, or BELOW_FORMULA: 0 is below a formula even where nothing is known to be
    attained. Exit code 1: fewer than 95 % of a bound's holes were found, or one above 5 % of its domain was not.
    """
    asked = [bound_of(name).name for name in bound] if bound else list(bounds())
    out = Outputs({"json": json_file, "markdown": markdown_file}, sign=sign)
    rows = _known(json_file, count, seed)
    codes = {name: Codes("", "") for name in bounds()}
    opening.tell()
    with progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        known = [name for name in bounds() if name in rows or name in asked]
        task = bar.add_task("the code of each bound", total=len(known))
        for name in known:
            codes[name] = codes_of(name)
            bar.advance(task)
        todo = [name for name in asked if force or rows.get(name, {}).get("code") != codes[name].code]
        bar.reset(task, total=len(todo), description="holes of each bound")
        for name, measured in by_name(planted, todo, count, seed, workers=workers):
            rows[name] = {**measured, **codes[name]._asdict()}
            say(line(name, rows[name]), flush=True)
            _write(out, rows, codes, {"count": count, "seed": seed})
            bar.advance(task)
    _write(out, rows, codes, {"count": count, "seed": seed})
    wanted = {name: rows[name] for name in asked}
    short = [name for name, item in wanted.items() if not is_enough(item)]
    say(told(wanted))
    if short:
        say(f"too few of {', '.join(short)}")
    return WRONG if short else GOOD


def _known(path: Path | None, count: int, seed: int) -> dict[str, Row]:
    """The rows that a file has, of bounds that there still are; a file of other holes is refused."""
    if path is None or not os.path.isfile(path) or not path.stat().st_size:
        return {}
    try:
        whole = read_json(path)
        same, rows = (whole["count"], whole["seed"]) == (count, seed), dict(whole["bounds"])
    except (ValueError, KeyError, TypeError):
        raise OracleError(f"{path} is no file of planted holes") from None
    if not same:
        raise DomainError(f"{path} holds {whole['count']} holes a bound of seed {whole['seed']}: take another file")
    return {name: row for name, row in rows.items() if name in bounds()}


def _write(out: Outputs, rows: Mapping[str, Row], codes: Mapping[str, Codes], settings: Mapping[str, int]) -> None:
    """The files as they stand now, the bounds in their order."""
    ordered = {name: rows[name] for name in bounds() if name in rows}
    out.json("json", {**settings, "bounds": ordered})
    out.text("markdown", lambda: table(ordered, codes))


def codes_of(name: str) -> Codes:
    """What a row depends on: the gate, the planter and the vectors, and with them the bound's formulas."""
    data = [vector_files.SHIPPED / f"{name}.json"]
    code, gate = (
        fingerprint(_PLANTER, data=data, names={f"{asker}:Bound": names for asker in _ASKERS}) for names in ([name], [])
    )
    return Codes(code, gate)


def planted(name: str, count: int, seed: int) -> dict[str, Any]:
    """The holes of a bound, and what became of each; an honest accountant that is accused is an error of ours."""
    planter = Planter(name, seed)
    if caught(planter, None).by:
        raise OracleError(f"{name}: the float64 formula itself is accused")
    found = [caught(planter, hole) for hole in planter.holes(count)]
    return {**rates(found), "missed": [item.to_json() for item in found if not item.by]}


def is_enough(item: Row) -> bool:
    """Whether so many of a bound's holes were found as must be."""
    return bool(item["caught"] >= SHARE * item["holes"] and item["largeCaught"] == item["large"])


def line(name: str, item: Row) -> str:
    """A bound in one line, and one for every hole that was missed."""
    missed = "".join(f"\n  missed {one['kind']} {one['share']:.1%}: {one['region']}" for one in item["missed"])
    return (
        f"{name}: {item['caught']} of {item['holes']} holes found, {item['byVectors']} by the vectors; "
        f"{item['largeCaught']} of {item['large']} above {LARGE:.0%}{missed}"
    )


def told(found: Mapping[str, Row]) -> str:
    """All bounds in one line."""
    total = {key: sum(item[key] for item in found.values()) for key in ("holes", "caught", "large", "largeCaught")}
    return (
        f"{total['caught']} of {total['holes']} holes found in {len(found)} bounds, {total['largeCaught']} of "
        f"{total['large']} above {LARGE:.0%} of the domain"
    )


def table(found: Mapping[str, Row], codes: Mapping[str, Codes]) -> str:
    """The page: what a hole is, and a row a bound; `codes` has every bound with the fingerprint it has now."""
    ages = {name: codes[name].of(item) for name, item in found.items()}
    count = Counter(ages.values())
    without = [name for name in codes if name not in found]
    rows = "\n".join(_row(name, item, ages[name]) for name, item in found.items())
    missed = [
        f"- `{name}`, {one['kind']}, {one['share']:.1%}: {one['region']}"
        for name, item in found.items() for one in item["missed"]
    ]
    unmeasured = f" Not measured yet: {', '.join(f'`{name}`' for name in without)}."
    return (
        "# Planted holes\n\n"
        "An accountant that is right but for one region of a bound's everyday domain, in which it promises all:\n"
        f"boxes, thin slabs, single counts and one word, from {LEAST:.0%} of the domain on, drawn at random. A hole is "
        "found\nwhere the gate's default run calls an answer UNSOUND, or, of a bound whose value is not known to be "
        "attained,\nBELOW_FORMULA: in either case the accountant does not pass (`nox -s holes` plants them again).\n\n"
        f"{told(found)}.\n\n"
        f"When this page was written {count[PRESENT]} rows were of the code and the vectors as they stood, "
        f"{count[FORMULAS]} of the same\ngate and vectors and of older formulas of the bound, by which an honest "
        f"accountant answers and the truth is certified,\nand {count[OLDER]} of an older gate or older vectors."
        f"{unmeasured if without else ' Every bound has a row.'}\n\n"
        f"| bound | holes | found | by the vectors alone | UNSOUND | above {LARGE:.0%} | of these found | code |\n"
        f"|---|---|---|---|---|---|---|---|\n{rows}\n\n"
        + ("Missed:\n\n" + "\n".join(missed) if missed else "None was missed.") + "\n"
    )


def _row(name: str, item: Row, age: str) -> str:
    keys = ("holes", "caught", "byVectors", "unsound", "large", "largeCaught")
    return f"| {' | '.join(map(str, (name, *(item.get(key, '') for key in keys), age)))} |"
