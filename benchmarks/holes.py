"""Put the sum of the holes that `dp-oracle holes --json` found into docs/league.md: the last step of `nox -s holes`.

    python benchmarks/holes.py reports/holes.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from accountants_tables import rewrite

from empirical.gate.searching.holes_cli import told

PAGE = Path(__file__).resolve().parents[1] / "docs" / "league.md"
MARKS = ("<!-- holes: nox -s holes -->", "<!-- end of holes -->")


def main(path: Path) -> None:
    rows = json.loads(path.read_text(encoding="utf-8"))["bounds"]
    rewrite(PAGE, f"{told(rows)}.\n", MARKS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
