"""Everyday DP-SGD questions put to the certified path: what is refused, how long an answer takes, how wide it is.

    python benchmarks/everyday.py [--ask epsilon|delta|sigma ...] [--first 0 --points 500] [--store FILE] [--json FILE]

With a store the run resumes where it was cut off, as long as the code that it asks is the same; several processes may
fill one store, and whoever asks for all of it then has the figures at once.
Goal: no refusal, no exception, 99 % under 0.1 s, all under 2 s. Seconds are of the processor, since others may share
the machine. The grid, which tests/oracle/bounds/test_everyday.py reads, too, is made of decades and of points between
them, in an order that mixes all parameters, so that any part of it is a fair sample.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from oracle.core.registry import bound
from oracle.running.fingerprint import fingerprint
from oracle.running.store import Store

RATES = ("1e-6", "3e-6", "1e-5", "3e-5", "1e-4", "3e-4", "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "0.7", "1")
SIGMAS = ("0.1", "0.2", "0.4", "0.7", "1", "1.7", "3", "10", "30", "100")
STEPS = ("1", "2", "3", "5", "10", "30", "100", "1000", "10000", "100000", "1000000", "10000000")
DELTAS = ("1e-3", "1e-5", "1e-6", "1e-8", "1e-10", "1e-15")
RELATIONS = ("add_remove", "replace")
EPSILONS = ("0.1", "0.5", "1", "2", "5", "10")
GRID = [
    {"sampling_rate": q, "sigma": sigma, "steps": steps, "delta": delta, "neighbours": relation}
    for q, sigma, steps, delta, relation in itertools.product(RATES, SIGMAS, STEPS, DELTAS, RELATIONS)
]
random.Random(18).shuffle(GRID)
ASKED = {"epsilon": (), "delta": ("delta",), "sigma": ("sigma",)}
"""What stands in a point and not in a question: an epsilon takes its place, in turn."""
QUICK, LONG = 0.1, 2.0
SHARES = (0.5, 0.9, 0.99, 0.999, 1.0)
BLOCK = 20
"""Questions that a store keeps together."""


def question(asked: str, index: int) -> dict[str, str]:
    """The question of that number on the grid."""
    left = {name: value for name, value in GRID[index].items() if name not in ASKED[asked]}
    return left if asked == "epsilon" else {**left, "epsilon": EPSILONS[index % len(EPSILONS)]}


def answer(asked: str, index: int) -> dict[str, Any]:
    """How one question went."""
    start, failure, width = time.process_time(), "", None
    try:
        value = bound(f"poisson-gaussian.{asked}").reference(**question(asked, index))
        lower, upper = value.to_floats()
        width = 0.0 if upper == lower else (upper - lower) / upper
    except Exception as error:  # whatever it is, it is what a user would have met
        failure = f"{type(error).__name__}: {error}"
    return {"index": index, "seconds": time.process_time() - start, "width": width, "failure": failure}


def asked_of(asked: str, numbers: range, store: Store | None, code: str) -> Iterator[dict[str, Any]]:
    """How the questions of those numbers went, block by block, each from the store where it has it."""
    for first in range(numbers.start - numbers.start % BLOCK, numbers.stop, BLOCK):
        block, key = range(first, min(first + BLOCK, len(GRID))), f"{asked} {first}"
        kept = None if store is None else store.read("everyday", key, code)
        rows = [answer(asked, index) for index in block] if kept is None else json.loads(kept)
        if store is not None and kept is None:
            store.write("everyday", key, code, json.dumps(rows).encode())
        yield from (row for row in rows if row["index"] in numbers)


def at_shares(values: Sequence[float]) -> dict[str, float]:
    """The values below which that many of them lie."""
    ordered = sorted(values)
    return {f"{share:.1%}": ordered[max(math.ceil(share * len(ordered)) - 1, 0)] for share in SHARES} if ordered else {}


def figures(asked: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the goal asks for, and the dearest and the widest question."""
    times = sorted(row["seconds"] for row in rows)
    widths = [row for row in rows if row["width"] is not None]
    widest = max(widths, key=lambda row: float(row["width"]), default=None)
    return {
        "asked": asked, "points": len(rows), "failures": [row for row in rows if row["failure"]],
        "quick": sum(seconds < QUICK for seconds in times) / len(times),
        "long": sum(seconds >= LONG for seconds in times), "seconds": at_shares(times), "total": sum(times),
        "slowest at": question(asked, max(rows, key=lambda row: float(row["seconds"]))["index"]),
        "widths": at_shares([row["width"] for row in widths]),
        "wider than 5 %": sum(row["width"] > 0.05 for row in widths),
        "widest": None if widest is None else {"width": widest["width"], **question(asked, widest["index"])},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ask", nargs="+", choices=ASKED, default=list(ASKED))
    parser.add_argument("--first", type=int, default=0, help="number of the first question")
    parser.add_argument("--points", type=int, default=500, help=f"how many questions, of {len(GRID)}")
    parser.add_argument("--store", type=Path, help="where answers are kept, so that a run resumes")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    numbers, found = range(given.first, min(given.first + given.points, len(GRID))), []
    answer(given.ask[0], 0)  # whatever is loaded and compiled at the first question is no part of its time
    code = fingerprint("oracle.bounds.sampling.poisson_gaussian")
    with contextlib.ExitStack() as stack:
        store = None if given.store is None else stack.enter_context(Store(given.store))
        for asked in given.ask:
            rows = []
            for row in asked_of(asked, numbers, store, code):
                rows.append(row)
                if len(rows) % 500 == 0:
                    print(f"{asked}: {len(rows)} of {len(numbers)}", file=sys.stderr, flush=True)
            found.append(figures(asked, rows))
            told = found[-1]
            print(
                f"{asked}: {told['points']} questions, {len(told['failures'])} without an answer, {told['quick']:.2%} "
                f"under {QUICK} s, {told['long']} over {LONG} s, median {told['seconds']['50.0%']:.4f} s, "
                f"slowest {told['seconds']['100.0%']:.2f} s, {told['wider than 5 %']} wider than 5 %", flush=True,
            )
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
