"""The dp-oracle command, run in this process: a process of its own takes seconds to start, and tests of it are few.

What a process alone can show (signals, crashes, isolation, installation, what is imported) is tested with real ones,
by `tests.project.consoles.run`.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle.running import console
from reports.cli import app


@dataclass(frozen=True)
class Ended:
    """What a command left: exit code, standard output, standard error; named as `subprocess` names them."""

    returncode: int
    stdout: str
    stderr: str


def captured(run: Callable[[], int]) -> Ended:
    """What a command leaves that is run so."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        code = run()
    return Ended(code, out.getvalue(), errors.getvalue())


def command(*words: str) -> Ended:
    """Run the command with these words."""
    return captured(lambda: console.run(app, words))


def output(*words: str) -> str:
    """What a command prints that succeeds without a word on standard error."""
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def parsed(*words: str) -> Any:
    """The JSON document that a command prints."""
    return json.loads(output(*words))
