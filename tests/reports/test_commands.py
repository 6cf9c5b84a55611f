"""The command loads what a command line needs, and what each module adds to it stands in one table."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
import typer.main

import dp_oracle
from reports.cli import COMMANDS, app, command_of, listing, needed
from tests.commands import command, output
from tests.waiting import PATIENCE


def all_commands() -> dict[tuple[str, ...], Any]:
    """Every command by its words, those of `vectors` too."""
    found: dict[tuple[str, ...], Any] = {}
    for name, item in typer.main.get_group(app).commands.items():
        found[str(name),] = item
        found |= {(str(name), str(other)): below for other, below in getattr(item, "commands", {}).items()}
    return found


EVERY = all_commands()


@pytest.mark.parametrize("module", COMMANDS)
def test_the_table_says_what_a_module_adds(module: str) -> None:
    found = typer.main.get_group(command_of(module)) if len(COMMANDS[module]) > 1 else command_of(module)
    names = list(found.commands) if not isinstance(found, typer.Typer) else [
        *(item.name for item in found.registered_commands), *(item.name for item in found.registered_groups)
    ]
    assert sorted(map(str, names)) == sorted(COMMANDS[module])


def test_the_listing_says_what_the_commands_say() -> None:
    listed = typer.main.get_group(listing()).commands
    for module in COMMANDS:
        for name, item in typer.main.get_group(command_of(module, "reports.rates_command")).commands.items():
            own = (item.help or "").partition("\n\n")[0].replace("\n", " ")
            assert listed[str(name)].help == own


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_the_help_of_a_command_is_folded_once_and_loses_no_word(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    shown = output(*words, "--help")
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    item = EVERY[words]
    said = " ".join(re.sub("[│╭╰─╮╯]", " ", shown).split())
    for option in item.params:
        for word in (option.help or "").replace("-", "- ").split():
            assert word.rstrip("-") in said, f"{option.name}: {option.help}"
    for part in item.help.split("\n\n"):
        assert part.startswith(" ") or "\n" not in part


@pytest.mark.parametrize("line", [
    "check cs208/clip-repaired --workers 0", "holes --count=0", "report --budget 3", "league --timeout 0",
    "rates --calibrate 0", "check cs208/clip-repaired --workers many",
])
def test_a_refused_option_is_told_with_its_value_and_domain(line: str) -> None:
    *_, option, value = line.replace("=", " ").split()
    done = command(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"error: {option[2:]} = {value} is outside its domain: it should be [^\n]+\n", done.stderr)


def test_the_version_is_told() -> None:
    assert output("--version") == f"{dp_oracle.__version__}\n"


def test_a_command_needs_its_module_and_what_is_unknown_needs_none() -> None:
    assert needed(["bound", "gate"]) == ["oracle.cli"]
    assert needed(["gate", "--help"]) == ["empirical.gate.gate_cli"]
    assert needed(["--no-such-option", "bounds"]) == ["oracle.cli"]
    for words in ([], ["--help"], ["nothing"]):
        assert needed(words) == []
    names = [name for group in COMMANDS.values() for name in group]
    assert len(set(names)) == len(names)


@pytest.mark.full
@pytest.mark.parametrize(("words", "spared"), [
    ("bound --help", ("empirical", "theorems", "torch", "sympy", "scipy.stats")),
    ("bound gdp.epsilon mu=1 delta=0.1", ("empirical", "theorems", "torch", "sympy", "scipy.special")),
    ("gate --help", ("empirical.audits", "theorems", "torch", "sympy", "scipy.stats")),
    ("audit --help", ("theorems", "torch", "sympy", "scipy.stats", "scipy.optimize")),
    ("check --help", ("empirical.audits.audit", "empirical.gate", "reports.model", "matplotlib")),
    ("check cs208/gaussian-mechanism", ("empirical.gate", "torch", "scipy.stats", "scipy.optimize", "hypothesis")),
])
def test_a_command_starts_without_what_it_does_not_use(words: str, spared: tuple[str, ...]) -> None:
    code = f"import sys; sys.argv[1:] = {words.split()}\nfrom reports.cli import main\n" \
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    exit_code, *loaded = done.stderr.split()
    assert exit_code == "0"
    assert [name for name in spared if name in loaded] == []
