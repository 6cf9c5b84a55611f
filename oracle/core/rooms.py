"""Our four packages beside a user's own: which of their names stand for something else, and how ours are found then.

Everything here is standard library, and the file is loaded by its place, not by its name: `dp_oracle` asks it before
anything of ours is imported, and a process for foreign code starts as `python -P rooms.py PARENT MEMORY ...`, the words
of `oracle.running.isolated_worker`.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

ROOMS = ("oracle", "empirical", "theorems", "reports")  # told: names to look for; nothing is loaded by them
"""The names, each of which imports only those before it."""

ROOT = Path(__file__).resolve().parents[2]  # told: a place to import from, no data


def hidden_by(room: str) -> str | None:
    """Where that lies which `import ROOM` gives in this process instead of ours; None if it gives ours."""
    try:
        spec = importlib.util.find_spec(room)  # told: where a room stands, nothing is loaded
    except ValueError:  # a module that was made by hand: it says nothing of where it comes from
        return "a module without a file"
    if spec is None:
        return "nothing"
    folders = list(spec.submodule_search_locations or ())
    place = Path(folders[0] if folders else str(spec.origin)).resolve()
    return None if place == ROOT / room else str(place)


def complaint(room: str, theirs: str) -> str:
    """One line that names both and the way out."""
    return (
        f"dp-oracle needs its own {room} ({ROOT / room}), and that name stands for {theirs} here: rename it, take it "
        "off Python's path, or use the command dp-oracle, which keeps both apart"
    )


_COMPLAINT = re.compile("dp-oracle needs its own .*?, which keeps both apart")


def complaint_in(text: str) -> str | None:
    """The complaint that a text carries: what a process says whose code needs a package of that name twice."""
    found = _COMPLAINT.search(text)
    return None if found is None else found[0]


def ours_first() -> None:
    """Let the folders that hide a package of ours come after ours on this process' path, which spawned ones inherit."""
    if all(hidden_by(room) is None for room in ROOMS):
        return
    folders = [entry for entry in sys.path if Path(entry).resolve() != ROOT]
    hiding = [entry for entry in folders if any(_stands_in(entry, room) for room in ROOMS)]
    sys.path[:] = [*(entry for entry in folders if entry not in hiding), str(ROOT), *hiding]
    importlib.invalidate_caches()


def _stands_in(entry: str, room: str) -> bool:
    """Whether a folder of the path has a module or package of that name; a mere folder hides nothing."""
    spec = PathFinder.find_spec(room, [entry])
    return spec is not None and spec.origin is not None


def forget_ours() -> list[ModuleType]:
    """Leave our names to whoever imports them next; what is loaded of ours, which is returned, works on."""
    ours = [name for name in sys.modules if name.partition(".")[0] in ROOMS]
    return [sys.modules.pop(name) for name in ours]


if __name__ == "__main__":
    given = list(sys.path)
    ours_first()
    importlib.import_module("oracle.running.isolated_worker").main(sys.argv[1:], path=[*given, str(ROOT)])
