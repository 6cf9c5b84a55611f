"""`dp-oracle check --variants`: how many machine-made variants of claims survive, over processes, kept in a store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer

from oracle.core.errors import WorkLostError
from oracle.core.plain import plain
from oracle.running.console import WRONG, print_table, progress, say
from oracle.running.outputs import Outputs
from oracle.running.pool import by_name
from theorems.claim import Claim, claim, claims, expectations
from theorems.findings import Findings, code_of
from theorems.mutation.variants import Mutated, mutated
from theorems.verdict import Evidence, Verdict

KIND = "variants"


def can_be_mutated(item: Claim) -> bool:
    """Whether a claim holds by a computation, so that false variants of it must come out otherwise."""
    expected = expectations()[item.id]
    return item.check is not None and expected.verdict is Verdict.HOLDS and expected.evidence is not Evidence.CITED


def of_claim(name: str) -> Mutated:
    """What a worker does with a claim."""
    return mutated(claim(name))


def from_json(data: dict[str, Any]) -> Mutated:
    """What `plain` wrote."""
    true, survivors = (tuple((name, reason) for name, reason in data[kind]) for kind in ("true", "survivors"))
    return Mutated(data["claim"], Evidence(data["evidence"]), data["variants"], data["contradicted"], true, survivors)


def judge_all(names: Sequence[str], workers: int, store: Findings | None) -> Iterator[Mutated]:
    """The variants of each claim, as they come; what the store has of the present code is not judged again."""
    left = []
    for name in names:
        kept = None if store is None else store.read(KIND, name, code_of(name))
        if kept is None:
            left.append(name)
        else:
            yield from_json(json.loads(kept))
    for name, found in by_name(of_claim, left, workers=workers):
        if store is not None:
            store.write(KIND, name, code_of(name), json.dumps(plain(found)).encode())
        yield found


def totals(found: Sequence[Mutated]) -> dict[str, dict[str, int]]:
    """Claims, variants, those judged otherwise, true ones, survivors (and those without a reason), by the evidence."""
    result: dict[str, dict[str, int]] = {}
    for item in sorted(found, key=lambda one: one.evidence.rank):
        true, survivors = len(item.true), len(item.survivors)
        one = {
            "claims": 1, "variants": item.variants, "otherwise": item.variants - true - survivors, "true": true,
            "survivors": survivors, "unexplained": len(item.unexplained), "blind": item.blind,
        }
        before = result.get(item.evidence.value, dict.fromkeys(one, 0))
        result[item.evidence.value] = {name: before[name] + count for name, count in one.items()}
    return result


def judge_variants(chosen: Sequence[Claim], workers: int, store_file: Path | None, out: Outputs) -> None:
    """Print the survivors and the counts; exit 1 if one of a PROVED claim survives, or another without a reason."""
    names = [item.id for item in chosen if can_be_mutated(item)]
    found: dict[str, Mutated] = {}
    lost: WorkLostError | None = None
    with (
        nullcontext() if store_file is None else Findings(store_file, full=False) as store,
        progress() as bar,
    ):
        task = bar.add_task("judging variants", total=len(names))
        try:
            for item in judge_all(names, workers, store):
                found[item.claim] = item
                bar.update(task, advance=1, description=item.claim)
        except WorkLostError as error:  # raised when all the others are judged
            lost = error
    ordered = [found[name] for name in names if name in found]
    out.json("json", lambda: {
        "totals": totals(ordered),
        "unjudged": sorted(name for name, item in claims().items() if can_be_mutated(item) and name not in found),
        "claims": [plain(item) for item in ordered],
    })
    for item in ordered:
        for word, found_so in (("TRUE     ", item.true), ("SURVIVES ", item.survivors)):
            for name, reason in found_so:
                say(f"{word} {item.claim}  ({item.evidence.value})  {name}" + (f": {reason}" if reason else ""))
    print_table(("evidence", "claims", "variants", "otherwise", "true", "survivors", "without a reason", "blind"),
                [(kind, *map(str, counts.values())) for kind, counts in totals(ordered).items()])
    if lost is not None:
        raise lost
    for item in ordered:
        if item.blind:
            say(f"BLIND     {item.claim}  ({item.evidence.value})  no variant and no flip came out otherwise")
    wrong = (item.survivors if item.evidence is Evidence.PROVED else item.unexplained for item in ordered)
    if any(wrong) or any(item.blind for item in ordered):
        raise typer.Exit(WRONG)
