"""Commands that take some seconds, started as real processes that can be found again, and what they leave.

A process of a run is told by a variable in its environment, which all that it starts inherits; so nothing that is left
of it can hide, in whatever session it is. Linux only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import PATIENCE, wait_until

MARK = "DP_ORACLE_RUN_OF_A_TEST"
_SECONDS = re.compile(r'"(seconds|time)": [^\n,]*')

SUMS = '''
import time
import numpy as np

def train(dataset, seeds):
    """Noisy sums, some milliseconds each."""
    time.sleep(0.02)
    noise = np.stack([np.random.default_rng(int(seed)).normal(size=2) for seed in seeds])
    return dataset[0].sum(axis=0) + noise
'''

LEAGUE = '''
import dataclasses, json, sys
from pathlib import Path
from empirical.gate.adapters import Adapter
from empirical.gate.league.bound_rows import Settings
from empirical.gate.league.league_run import carry_out

def main():
    file = Path("examples/toy-library/toydp/__init__.py").resolve()
    names = {"gaussian.epsilon": "epsilon", "gaussian-composed.epsilon": "composed_epsilon"}
    peers = [Adapter("toy", name, bound, f"{file}:{name}", "numpy") for bound, name in names.items()]
    rows = carry_out(peers, Settings(search=0), workers=2, store=Path(sys.argv[1]), progress=lambda *_: None)
    Path(sys.argv[2]).write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))

if __name__ == "__main__":
    main()
'''
"""The league's runner on the library among the examples, since no real one need be installed."""


def marked(mark: str) -> dict[int, str]:
    """All processes but this one with such a variable in their environment, with their command lines."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if place.name != str(os.getpid()) and mark.encode() in (place / "environ").read_bytes().split(b"\0"):
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(place.name)] = words.decode(errors="replace")
    return found


@dataclass(frozen=True)
class Started:
    """A run that goes on, or has ended; `mark` stands in the environment of all its processes."""

    process: subprocess.Popen[str]
    mark: str

    def processes(self) -> dict[int, str]:
        """All its processes that there are, with their command lines; not those that have ended."""
        return marked(self.mark)

    def workers(self) -> list[int]:
        """Its worker processes."""
        return sorted(pid for pid, words in self.processes().items() if "spawn_main" in words)

    def kill(self) -> None:
        """Kill it with kill -9, and wait until nothing is left of it."""
        self.process.kill()
        self.end()

    def end(self) -> tuple[str, str]:
        """Wait for its end, and for that of all its processes; what it said."""
        said = self.process.communicate(timeout=PATIENCE)
        wait_until(lambda: not self.processes())
        return said

    def let_pass(self, seconds: float) -> None:
        """Let it go on for so long, or to its end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)


@dataclass(frozen=True)
class Invocation:
    """A command: its words, with {folder}, {store} and {json} in them, and its exit code if nothing disturbs it."""

    words: str
    code: int = 0
    module: str = "-m reports.cli"

    def start(self, folder: Path, store: Path, result: Path) -> Started:
        """Start it."""
        words = f"{self.module} {self.words}".format(folder=folder, store=store, json=result).split()
        mark = uuid.uuid4().hex
        process = subprocess.Popen(
            [sys.executable, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, MARK: mark},
        )
        return Started(process, f"{MARK}={mark}")

    def finish(self, folder: Path, store: Path, result: Path) -> str:
        """What it leaves when it is let alone."""
        return self.ended(self.start(folder, store, result), result)

    def ended(self, started: Started, result: Path) -> str:
        """What it leaves at its end, which must be the expected one."""
        said = started.end()
        assert started.process.returncode == self.code, said
        assert "Traceback" not in said[1]
        return told(result)


RUNS = {
    "audit": Invocation(
        "audit {folder}/sums.py:train --batched --epsilon 20 --delta 1e-3 --budget 2000 --shard 50 --records 4 "
        "--dimension 2 --canary extremes --workers 2 --store {store} --json {json}"
    ),
    "short audit": Invocation(
        "audit {folder}/sums.py:train --batched --epsilon 20 --delta 1e-3 --budget 300 --shard 50 --records 4 "
        "--dimension 2 --canary extremes --store {store} --json {json}"
    ),
    "audit --all": Invocation("audit --all --budget 400 --workers 2 --store {store} --json {json}"),
    "rates": Invocation("rates relu-condition-number linearisation-distance --workers 2 --store {store} --json {json}"),
    "check": Invocation("check --paper cs208 --workers 2 --store {store} --json {json}"),
    "false-claims": Invocation("false-claims 000-clipped-classes --workers 2 --store {store} --json {json}"),
    "league": Invocation("{store} {json}", module="{folder}/league.py"),
    "gate": Invocation(
        "gate examples/toy-library/toydp/__init__.py:composed_epsilon --bound gaussian-composed.epsilon --search 50 "
        "--json {json}", code=1,
    ),
}


def prepare(folder: Path) -> None:
    """The files that the runs name."""
    (folder / "sums.py").write_text(SUMS)
    (folder / "league.py").write_text(LEAGUE)


def told(result: Path) -> str:
    """A result byte for byte, but for the seconds that things took."""
    text = result.read_text()
    json.loads(text)
    return _SECONDS.sub('"seconds": 0', text)
