"""The dp-oracle command: the commands of all four rooms in one place.

A room takes a second or two to load, so that only the module is loaded which has the command that is asked for, and
none for the list of the commands.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oracle.core.extras import missing, require
from oracle.running import opening
from oracle.running.console import BAD_USAGE, INTERRUPTED, broken, run, say

if TYPE_CHECKING:
    app: typer.Typer

NAMES = ("oracle", "empirical", "theorems", "reports", "dp_oracle")
COMMANDS = {
    "oracle.cli": {
        "bounds": "List the bounds: parameters and domains, how each is known to be a theorem (validity), and how "
                  "tight it is.",
        "bound": "Print the certified lower and upper end of a bound, as decimals rounded outward.",
        "algorithms": "List the training algorithms, with what they release and the bounds that may be proved of them.",
        "plan": "Say which bounds apply to a training configuration, under which hypotheses, and what is really "
                "proved.",
        "verify": "Say whether a file is what the owner of a key signed, byte for byte.",
    },
    "empirical.cli": {
        "audit": "Audit released models: a lower confidence bound on epsilon against the claimed one.",
        "one-run": "Audit with many canaries in one model: each is in or out by a fair coin, and the release is asked "
                   "which.",
        "mutants": "Plant every known bug and tell whether our checks flag it.",
    },
    "empirical.gate.gate_cli": {
        "gate": "Judge an implementation of a bound, in any language, against certified values.",
    },
    "empirical.gate.searching.holes_cli": {
        "holes": "Plant holes: accountants that are right but for one region, which the gate's default run must not "
                 "pass.",
    },
    "empirical.gate.league.league_cli": {
        "league": "Judge the real libraries that are installed: the league table, with the worst case of each.",
    },
    "theorems.cli": {
        "claims": "List the claims, with source and expected verdict: the worst first, as severity says, and refuted "
                  "ones first.",
        "check": "Check claims; exit 0 when every verdict and its evidence are as expected, 1 when one differs or "
                 "fails.",
    },
    "theorems.promise_cli": {
        "false-claims": "Audit the false privacy claims of the documents: what is promised, what is certified, what "
                        "is true.",
    },
    "reports.rates_command": {
        "rates": "Hold the predicted utility rates to runs, exact curves and explicit bounds, by rules frozen before.",
    },
    "reports.command": {
        "report": "Check, audit and judge everything, and write the report; exit 1 when something is not as expected.",
    },
    "empirical.gate.making.vectors_cli": {
        "vectors": "Test vectors: certified answers to judge other implementations by.",
    },
}
"""The modules whose `register` adds commands, and which ones, each with what it says of itself at its beginning."""
NEEDS = {"reports.command": ("report", "theory", "training")}
"""The modules that need several extras, which are told together and before anything is loaded."""


@functools.cache
def command_of(*modules: str) -> typer.Typer:
    """The command with what these modules add to it."""
    result = typer.Typer(
        name="dp-oracle",
        help="The verified test oracle and theory checker for differentially private training.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    # Without a callback, typer takes the one command of a module for the whole and its name for an argument.
    result.callback()(_whole)
    for module in modules:
        require(*NEEDS.get(module, ()), what=" and ".join(COMMANDS[module]))
        importlib.import_module(module).register(result)
    groups = [group.typer_instance for group in result.registered_groups if group.typer_instance is not None]
    for app in (result, *groups):
        for item in app.registered_commands:
            item.help = _unfolded(item.help or (item.callback.__doc__ if item.callback else None) or "")
    return result


def _told_version(asked: bool) -> None:
    if asked:
        say(importlib.import_module("dp_oracle").__version__)
        raise typer.Exit


def _whole(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_told_version, is_eager=True)
    ] = False,
) -> None:
    """What stands before a command."""


def _unfolded(text: str) -> str:
    """A docstring as help, to be folded at the terminal's width: each paragraph one line, unless it is indented."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(part if part[:1] in (" ", "\b") else part.replace("\n", " ") for part in paragraphs)


def listing(lacking: str = "") -> typer.Typer:
    """The command with the names of all commands and their lines, for help and complaints: none of them can be run.

    `lacking` says why the help of one of them does not list its options.
    """
    result = command_of.__wrapped__()
    for names in COMMANDS.values():
        for name, line in names.items():
            result.command(name, help=line, epilog=lacking)(lambda: None)
    return result


def needed(words: Iterable[str]) -> list[str]:
    """The modules that a command line needs: the one of its first word that is no option, or none."""
    asked = next((word for word in words if not word.startswith("-")), "")
    return [module for module, names in COMMANDS.items() if asked in names]


def __getattr__(name: str) -> Any:
    """`app` is the whole command."""
    if name == "app":
        return command_of(*COMMANDS)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def conflicting_owners() -> list[str]:
    """One line for each of our names that another installed distribution also provides.

    It reads what installers leave by itself: `importlib.metadata` would take as long as the rest of a start.
    """
    owners: dict[str, set[str]] = {name: set() for name in NAMES}
    provided = re.compile(rf"^({'|'.join(NAMES)})(?:$|/|\.py,)", re.MULTILINE)
    for folder in dict.fromkeys(sys.path):
        for info in Path(folder).glob("*.dist-info"):
            for name in provided.findall(_text(info / "top_level.txt") or _text(info / "RECORD")):
                owners[name].add(info.name.partition("-")[0].replace("_", "-"))
    return [
        f"the name {name!r} belongs to several installed distributions: {', '.join(sorted(found))}"
        for name, found in owners.items() if len(found) > 1
    ]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def main() -> None:
    """Entry point of the dp-oracle command; Ctrl-C is no failure while it is loaded either."""
    try:
        code = _main()
    except KeyboardInterrupt:
        say("interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)


def _main() -> int:
    conflicts = conflicting_owners()
    if conflicts:
        for line in conflicts:
            say(f"error: {line}; uninstall one of them", file=sys.stderr)
        return BAD_USAGE
    words = sys.argv[1:]
    modules = needed(words)
    if modules and "--help" not in words:
        opening.begin(words)
    try:
        app = command_of(*modules) if modules else listing()
    except Exception as error:  # a broken installation: no verdict, and no exit code of one
        lacking = missing(error)
        if lacking is None or "--help" not in words:
            return broken(error)
        told = str(lacking).replace("[", r"\[")  # no markup, which the name of an extra looks like
        app = listing(f"Its options are not listed: {told}")  # what a command is for needs no extra
    return run(app)


if __name__ == "__main__":
    main()
