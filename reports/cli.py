"""The dp-oracle command: the commands of all four rooms in one place."""

from __future__ import annotations

import sys
from importlib import metadata

import typer

import empirical.cli
import oracle.cli
import reports.command
import theorems.cli
from oracle.running.console import BAD_USAGE, run

NAMES = ("oracle", "empirical", "theorems", "reports", "dp_oracle")

app = typer.Typer(
    name="dp-oracle",
    help="The verified test oracle and theory checker for differentially private training.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
oracle.cli.register(app)
empirical.cli.register(app)
theorems.cli.register(app)
reports.command.register(app)


def conflicting_owners() -> list[str]:
    """One line for each of our names that another installed distribution also provides."""
    owners = metadata.packages_distributions()
    return [
        f"the name {name!r} belongs to several installed distributions: {', '.join(sorted(set(owners[name])))}"
        for name in NAMES
        if len(set(owners.get(name, ()))) > 1
    ]


def main() -> None:
    """Entry point of the dp-oracle command."""
    conflicts = conflicting_owners()
    if conflicts:
        for line in conflicts:
            print(f"error: {line}; uninstall one of them", file=sys.stderr)
        sys.exit(BAD_USAGE)
    sys.exit(run(app))


if __name__ == "__main__":
    main()
