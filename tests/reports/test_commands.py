"""The command loads what a command line needs, and what each module adds to it stands in one table."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer.main

from reports.cli import COMMANDS, command_of, listing, needed
from tests.waiting import PATIENCE


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
