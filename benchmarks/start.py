"""What the light core weighs, and what it costs to start: megabytes installed, and processor seconds of a command.

    python benchmarks/start.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 350  # MB that `pip install dp-oracle` may take
SLOWEST = 0.4  # processor seconds of a start
REPEATS = 5  # of which the least counts: what else runs on a machine only adds
STARTS = {
    "--help": ["--help"],
    "bound": ["bound", "gaussian.epsilon", "sigma=1", "sensitivity=1", "delta=1e-5"],
}


def core() -> dict[str, float]:
    """The megabytes of each library that a plain installation brings, by what is installed here."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        waiting: list[str] = tomllib.load(file)["project"]["dependencies"]
    found: dict[str, float] = {}
    while waiting:
        requirement = waiting.pop()
        name = re.match(r"[\w.-]+", requirement)
        if name is None or "extra ==" in requirement or name[0].lower() in found:
            continue
        try:
            distribution = metadata.distribution(name[0])
        except metadata.PackageNotFoundError:  # for another platform, or another version of Python
            continue
        files = (Path(str(file.locate())) for file in distribution.files or ())
        found[name[0].lower()] = sum(path.stat().st_size for path in files if path.is_file()) / 1e6
        waiting += distribution.requires or []
    return found


def own() -> float:
    """The megabytes of our four rooms."""
    rooms = ("oracle", "empirical", "theorems", "reports")
    return sum(path.stat().st_size for room in rooms for path in (ROOT / room).rglob("*") if path.is_file()) / 1e6


def seconds(words: list[str]) -> float:
    """Processor seconds of a command in a process of its own, its compiled files kept: the least of some."""
    with tempfile.TemporaryDirectory() as compiled:
        given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**given, "PYTHONPYCACHEPREFIX": compiled, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        spent = []
        for _ in range(REPEATS + 1):  # the first compiles
            before = os.times()
            subprocess.run(
                [sys.executable, "-m", "dp_oracle", *words], check=True, capture_output=True, env=environment,
            )
            after = os.times()
            spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(spent[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sizes = core()
    total = sum(sizes.values()) + own()
    heaviest = ", ".join(f"{name} {size:.0f}" for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:4])
    starts = {name: seconds(words) for name, words in STARTS.items()}
    print(f"installed  {total:.0f} MB, goal {LARGEST} {_told(total <= LARGEST)} ({heaviest})")
    for name, spent in starts.items():
        print(f"start      dp-oracle {name}: {spent:.2f} s of processor, goal {SLOWEST} {_told(spent <= SLOWEST)}")
    if given.json is not None:
        given.json.write_text(json.dumps({"megabytes": total, "libraries": sizes, "seconds": starts}, indent=2) + "\n")


def _told(met: bool) -> str:
    return "met" if met else "MISSED"


if __name__ == "__main__":
    main()
