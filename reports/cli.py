"""The dp-oracle command: the commands of all four rooms in one place.

A room takes a second or two to load, so that only the module is loaded which has the command that is asked for.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterable
from importlib import metadata
from typing import TYPE_CHECKING, Any

import typer

from oracle.running.console import BAD_USAGE, broken, run

if TYPE_CHECKING:
    app: typer.Typer

NAMES = ("oracle", "empirical", "theorems", "reports", "dp_oracle")
COMMANDS = {
    "oracle.cli": ("bounds", "bound", "algorithms", "plan", "verify"),
    "empirical.cli": ("audit", "one-run", "mutants"),
    "empirical.gate.gate_cli": ("gate",),
    "empirical.gate.searching.holes_cli": ("holes",),
    "empirical.gate.league.league_cli": ("league",),
    "empirical.gate.making.vectors_cli": ("vectors",),
    "theorems.cli": ("claims", "check"),
    "theorems.promise_cli": ("false-claims",),
    "reports.rates_command": ("rates",),
    "reports.command": ("report",),
}
"""The modules whose `register` adds commands, and which ones."""


@functools.cache
def command_of(*modules: str) -> typer.Typer:
    """The command with what these modules add to it."""
    result = typer.Typer(
        name="dp-oracle",
        help="The verified test oracle and theory checker for differentially private training.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @result.callback()
    def names() -> None:
        """Without it, typer takes the one command of a module for the whole and its name for an argument."""

    for module in modules:
        importlib.import_module(module).register(result)
    return result


def needed(words: Iterable[str]) -> list[str]:
    """The modules that a command line needs: the one of its first word, or all where no module has it."""
    asked = next(iter(words), "")
    return [module for module, names in COMMANDS.items() if asked in names] or list(COMMANDS)


def __getattr__(name: str) -> Any:
    """`app` is the whole command."""
    if name == "app":
        return command_of(*COMMANDS)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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
    try:
        app = command_of(*needed(sys.argv[1:]))
    except Exception as error:  # a broken installation: no verdict, and no exit code of one
        sys.exit(broken(error))
    sys.exit(run(app))


if __name__ == "__main__":
    main()
