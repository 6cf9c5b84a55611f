"""Put a league table that `dp-oracle league --json` wrote into the report's data and docs/league.md.

    nox -s gate -- --docs                          makes the table with the real libraries, then runs this
    python benchmarks/league.py out/league.json    the last step alone
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from accountants import DOCS
from accountants_tables import rewrite

from empirical.gate.league.league import League
from empirical.gate.league.league_run import peers
from empirical.gate.league.league_tables import markdown

MARKS = ("<!-- league: nox -s gate -- --docs -->", "<!-- end of league -->")
SHIPPED = DOCS.parent / "reports" / "league.json"


def main(path: Path) -> None:
    league = League.read(path)
    missing = {peer.library for peer in peers()} - {row.library for row in league.rows}
    if missing or not (league.trainings and league.auditors):
        raise SystemExit(f"{path} is no whole table: {', '.join(sorted(missing)) or 'trainings or auditors'} missing")
    shutil.copyfile(path, SHIPPED)
    rewrite(DOCS / "league.md", markdown(league), MARKS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
