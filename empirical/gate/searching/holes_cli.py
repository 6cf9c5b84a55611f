"""The command `dp-oracle holes`: plant holes in an accountant of every bound, and count those that the gate finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated, Any

import typer

from empirical.gate.searching.holes import LARGE, LEAST, Planter, caught, rates
from oracle.core.errors import OracleError
from oracle.core.registry import bound as bound_of
from oracle.core.registry import bounds
from oracle.running.console import GOOD, WRONG, require_writable, write_json, write_text

COUNT = 20
SHARE = 0.95  # of a bound's holes that must be found; of those above 5 % of the domain all


def plant_holes(
    bound: Annotated[list[str] | None, typer.Option(help="Only this bound (repeatable).")] = None,
    count: Annotated[int, typer.Option(min=1, help="Holes a bound.")] = COUNT,
    seed: Annotated[int, typer.Option(min=0, help="Of the regions that are drawn.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write every hole as JSON.")] = None,
    markdown_file: Annotated[Path | None, typer.Option("--markdown", help="Write the table as Markdown.")] = None,
) -> int:
    """Plant holes: accountants that are right but for one region, which the gate's default run must call UNSOUND.

    Exit code 1: fewer than 95 % of a bound's holes were found, or one above 5 % of its domain was not.
    """
    asked = [bound_of(name).name for name in bound] if bound else list(bounds())
    for path in (json_file, markdown_file):
        if path is not None:
            require_writable(path)
    found: dict[str, dict[str, Any]] = {}
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(planted, name, count, seed): name for name in asked}
        try:
            for done in as_completed(running):
                found[running[done]] = done.result()
                print(line(running[done], found[running[done]]), flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    ordered = {name: found[name] for name in asked}
    if json_file is not None:
        write_json(json_file, {"count": count, "seed": seed, "bounds": ordered})
    if markdown_file is not None:
        write_text(markdown_file, table(ordered))
    short = [name for name, item in ordered.items() if not is_enough(item)]
    print(told(ordered))
    if short:
        print(f"too few of {', '.join(short)}")
    return WRONG if short else GOOD


def planted(name: str, count: int, seed: int) -> dict[str, Any]:
    """The holes of a bound, and what became of each; an honest accountant that is accused is an error of ours."""
    planter = Planter(name, seed)
    if caught(planter, None).by:
        raise OracleError(f"{name}: the float64 formula itself is called unsound")
    found = [caught(planter, hole) for hole in planter.holes(count)]
    return {**rates(found), "missed": [item.to_json() for item in found if not item.by]}


def is_enough(item: Mapping[str, Any]) -> bool:
    """Whether so many of a bound's holes were found as must be."""
    return bool(item["caught"] >= SHARE * item["holes"] and item["largeCaught"] == item["large"])


def line(name: str, item: Mapping[str, Any]) -> str:
    """A bound in one line, and one for every hole that was missed."""
    missed = "".join(f"\n  missed {one['kind']} {one['share']:.1%}: {one['region']}" for one in item["missed"])
    return (
        f"{name}: {item['caught']} of {item['holes']} holes found, {item['byVectors']} by the vectors; "
        f"{item['largeCaught']} of {item['large']} above {LARGE:.0%}{missed}"
    )


def told(found: Mapping[str, Mapping[str, Any]]) -> str:
    """All bounds in one line."""
    total = {key: sum(item[key] for item in found.values()) for key in ("holes", "caught", "large", "largeCaught")}
    return (
        f"{total['caught']} of {total['holes']} holes found in {len(found)} bounds, {total['largeCaught']} of "
        f"{total['large']} above {LARGE:.0%} of the domain"
    )


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The page: what a hole is, and a row a bound."""
    rows = "\n".join(_row(name, item) for name, item in found.items())
    missed = [f"- `{name}`, {one['kind']}, {one['share']:.1%}: {one['region']}" for name, one in _missed(found)]
    return (
        "# Planted holes\n\n"
        "An accountant that is right but for one region of a bound's everyday domain, in which it promises all:\n"
        f"boxes, thin slabs, single counts and one word, from {LEAST:.0%} of the domain on, drawn at random. Found is "
        "what the\ngate's default run calls UNSOUND (`nox -s holes` plants them again).\n\n"
        f"{told(found)}.\n\n"
        f"| bound | holes | found | by the vectors alone | above {LARGE:.0%} | of these found |\n"
        f"|---|---|---|---|---|---|\n{rows}\n\n"
        + ("Missed:\n\n" + "\n".join(missed) if missed else "None was missed.") + "\n"
    )


def _missed(found: Mapping[str, Mapping[str, Any]]) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return [(name, one) for name, item in found.items() for one in item["missed"]]


def _row(name: str, item: Mapping[str, Any]) -> str:
    cells = (name, *(item[key] for key in ("holes", "caught", "byVectors", "large", "largeCaught")))
    return f"| {' | '.join(map(str, cells))} |"
