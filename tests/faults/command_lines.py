"""Command lines that nobody means, drawn from the commands themselves: a number gives one, the same on every machine.

What a command takes (options, flags, how many words) is read from the command; what is put there is half sensible
(names that there are, numbers of the right kind) and half not. Long work is not done: where a training, a check or
another process would begin, the line is interrupted as by Ctrl-C, which must be answered as such.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import typer

from empirical.audits.campaigns import ALL
from empirical.pairs.pair import builders
from empirical.studies.study import studies
from oracle.core.registry import algorithms, bounds
from oracle.running import console
from reports.cli import COMMANDS, command_of, needed
from tests.commands import Ended, captured
from theorems.claim import claims
from theorems.promise import false_claims

SECONDS = 6.0  # of a processor, within which a line must be answered

CHEAP = ("cs208/gaussian-mechanism", "nonconvex-nn/lem-1", "sbcd/tighter-than-YS33")
"""Claims that are checked in earnest, if asked for alone: they cost next to nothing."""

SLOW = ("algorithms", "bounds", "claims", "false-claims", "holes", "mutants", "rates")
"""Commands that take a second and more to say little: they are tried less often."""

NUMBERS = (
    "1", "0", "-1", "2", "3", "10", "0.5", "1e-5", "1e-6", "0.1", "100", "1000", "1/3", "inf", "-inf", "nan", "1e400",
    "1e-400", "0x10", "1_000", "١", "½", "1e", ".", "-0", "+1", "1,5", "1e999999999", "-1e-300", "9" * 400,
    "0." + "0" * 400 + "1", "1/0", "true", "None", "1;2", "[1, 2]", "1 ", " 1", "１",
)
WORDS = (
    "", " ", "-", "--", "---", "-x", "--no-such", "=", "a=", "=b", "a=b=c", "%s", "{}", "{0}", "$HOME", "`id`", "\\",
    "[bold]x", "[/]", "[/bold]", "\x1b[31mred", "\u202eabc", "\u200b", "é", "名", "😀", "\udcff", "a\nb", "a\tb", "\r",
    "x" * 5000, "[" * 500, "none", "all", "help", "*", "?", "~", ".", "..", "/", "//", "a:b", ":", "a:", ":b",
    "a.py:", "os:system",
    "no.such:fn", "math:sqrt", "json:dumps", "json", "'", '"', "'unclosed", "true", "false; true", "sleep 0",
)
CONFIGURATIONS = {
    "good.toml": '[config]\nloss = "linear"\n',
    "gate.toml": '[[gate]]\ntarget = "math:sqrt"\nbound = "gaussian.epsilon"\n',
    "bad.toml": "a = [", "odd.toml": 'a = {b = "c"}\n"" = 1\n', "deep.toml": "a = " + "[" * 3000, "empty": "",
    "text": "hello\n", "some.json": '{"count": 20, "seed": 0, "bounds": {}}', "list.json": "[]",
    "deep.json": "[" * 3000, "blob": "\x00\x01\x02",
    "training.py": "def fn(dataset, seed):\n    return 0.0\n", "broken.py": "def fn(:",
}
SWITCHES = {"--record", "--open"}
"""What would change this installation, or open a window."""


def prepare(folder: Path) -> None:
    """Files to name, among them a folder and one that is not there."""
    for name, text in CONFIGURATIONS.items():
        (folder / name).write_text(text)
    (folder / "folder").mkdir()


@dataclass(frozen=True)
class Option:
    """What a command takes: an option with its words, or an argument."""

    name: str
    flag: bool
    words: int
    argument: bool


def _options(command: Any) -> tuple[Option, ...]:
    return tuple(
        Option(
            item.name if (argument := item.param_type_name == "argument") else item.opts[-1],
            bool(getattr(item, "is_flag", False)), item.nargs, argument,
        )
        for item in command.params if item.name != "help"
    )


def grammar() -> dict[tuple[str, ...], tuple[Option, ...]]:
    """Every command of the whole, with what it takes."""
    found: dict[tuple[str, ...], tuple[Option, ...]] = {}

    def add(command: Any, path: tuple[str, ...]) -> None:
        if hasattr(command, "commands"):
            for name, below in command.commands.items():
                add(below, (*path, name))
        else:
            found[path] = _options(command)

    add(typer.main.get_command(command_of(*COMMANDS)), ())
    return found


class Lines:
    """A line for every number, in a folder that has been prepared."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._grammar = grammar()
        self._paths = sorted(self._grammar)
        self._weights = [1 if path[0] in SLOW else 30 if path[0] in ("bound", "plan") else 10 for path in self._paths]
        self._names = (
            *bounds(), *algorithms(), *list(claims())[::40], *CHEAP * 5, *studies(), *false_claims(), *ALL, *builders(),
            "replace", "add_remove", "gdp", "curve", "clopper-pearson", "sequential", "projection", "mean-distance",
            "relu-approx", "sbcd", "cs208", "glmtron", "nonconvex-nn", "background", "opacus", "autodp",
        )

    def line(self, number: int) -> list[str]:
        """The words of one line."""
        draw = random.Random(number)
        path = draw.choices(self._paths, self._weights)[0]
        words = list(path)
        for option in draw.sample(self._grammar[path], len(self._grammar[path])):
            if option.argument:
                words += self._argument(draw, path, option)
            elif draw.random() < 0.25 and option.name not in SWITCHES:
                values = [] if option.flag else [self._value(draw, option.name) for _ in range(option.words)]
                words += [option.name, *values]
        if "vectors" in path:  # they write where they are told, and else into this installation
            words += ["--out" if path[-1] == "make" else "--folder", str(self._folder / draw.choice(("new", "folder")))]
        for _ in range(draw.choice((0, 0, 0, 0, 1, 2))):
            self._spoil(draw, words)
        return words

    def _argument(self, draw: random.Random, path: tuple[str, ...], option: Option) -> list[str]:
        if path == ("bound",):
            return self._of_bound(draw) if option.name == "name" else []
        if path == ("plan",):
            return self._of_plan(draw) if option.words == 1 else []
        if option.words == 1:
            return [self._value(draw, "TARGET")] * (draw.random() < 0.8)
        return [self._value(draw, "") for _ in range(draw.choice((0, 0, 1, 1, 1, 2)))]

    def _of_bound(self, draw: random.Random) -> list[str]:
        item = draw.choice(list(bounds().values()))
        given = [f"{parameter.name}={self._number(draw)}" for parameter in item.parameters if draw.random() < 0.95]
        return [item.name if draw.random() < 0.97 else draw.choice(WORDS), *draw.sample(given, len(given))]

    def _of_plan(self, draw: random.Random) -> list[str]:
        item = draw.choice(list(algorithms().values()))
        names = [parameter.name for parameter in (*item.parameters, *item.setting)]
        given = [
            f"{name}={draw.choice(('linear', 'replace', 'squared', *NUMBERS[:14]))}" for name in names
            if draw.random() < 0.95
        ]
        return [item.name, *given] if draw.random() < 0.9 else [self._file(draw), *given]

    def _number(self, draw: random.Random) -> str:
        odd = (*NUMBERS, *WORDS, "replace", "add_remove", "1,2,3", "0.5,inf")
        return draw.choice(NUMBERS[:14] if draw.random() < 0.85 else odd)

    def _file(self, draw: random.Random) -> str:
        known = (*CONFIGURATIONS, "folder", "absent", "absent/deep/file", "training.py:fn", "broken.py:fn", "text:fn")
        others = ("/dev/null", "/dev/full", "/proc/self/mem", "/nowhere/x", "x" * 300, *WORDS)
        place = draw.choice((*known, *known, *others))
        return str(self._folder / place) if place in known else place

    def _value(self, draw: random.Random, name: str) -> str:
        kinds = {
            "--epsilon": NUMBERS, "--delta": NUMBERS, "--bound": tuple(bounds()), "--paper": self._names[-10:],
            "--estimator": self._names, "--canary": tuple(builders()), "--workers": ("1", "2", "0", "-1", "x", "1e3"),
        }
        chance = draw.random()
        if name in kinds and chance < 0.6:
            return draw.choice(kinds[name])
        return draw.choice((
            draw.choice(NUMBERS), draw.choice(self._names), self._file(draw), draw.choice(self._names),
            draw.choice(WORDS),
        ))

    def _spoil(self, draw: random.Random, words: list[str]) -> None:
        """One slip of a hand: a word lost, doubled, moved, replaced or cut."""
        at = draw.randrange(len(words))
        if "vectors" in words[:1] and at >= len(words) - 3:
            return  # not the folder
        match draw.randrange(5):
            case 0 if len(words) > 1 and words[0] != "vectors":
                del words[at]
            case 1:
                words.insert(at, words[at])
            case 2 if words[0] != "vectors":
                draw.shuffle(words)
            case 3 if at > 1:
                words[at] = draw.choice((*WORDS, *NUMBERS))
            case _ if at > 1:
                words[at] = words[at][: draw.randrange(len(words[at]) + 1)]


class TooLate(BaseException):
    """The time is over; nothing on the way takes it for an error of the line."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise TooLate after so many seconds of this processor."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TooLate

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def no_work() -> Iterator[None]:
    """Let whatever trains, checks for long, or starts a process be interrupted at once."""
    from theorems import run

    attempt = run._attempt

    def cheap(name: str, *rest: Any) -> Any:
        if name not in CHEAP:
            raise KeyboardInterrupt
        return attempt(name, *rest)

    with contextlib.ExitStack() as stack:
        for place in (
            "oracle.running.isolated.Isolated.__init__", "oracle.running.pool._Worker.__init__",
            "oracle.running.places.ThisProcess.run", "oracle.running.places.Cluster.__init__",
            "empirical.audits.audit.try_out", "empirical.audits.one_run_cli.one_run_audit", "empirical.cli.judge",
            "empirical.gate.league.league_run.made", "empirical.gate.making.lint.lint",
            "empirical.gate.searching.holes_cli.codes_of", "empirical.gate.vector_files.save",
            "empirical.studies.runs.portions", "reports.command.collect", "reports.rates_command.calibrate",
            "theorems.mutation.judging.judge_all",
        ):
            stack.enter_context(mock.patch(place, side_effect=KeyboardInterrupt))
        stack.enter_context(mock.patch("theorems.run._attempt", cheap))
        yield


def answer(words: Sequence[str]) -> Ended:
    """What the command answers, as if called from a shell; only the modules that it needs are loaded."""
    with limited():
        return captured(lambda: console.run(command_of(*needed(words)), words))


def wrong_with(words: Sequence[str], done: Ended) -> str | None:
    """What is wrong with an answer; None if nothing is."""
    if done.returncode not in (0, 1, 2, 3, 74, 130):
        return f"exit code {done.returncode}"
    if "Traceback" in done.stderr + done.stdout:
        return "a traceback"
    for text in (done.stdout, done.stderr):
        if any(not (one == "\n" or one.isprintable()) for one in text):
            return "a control character in the output"
    if done.returncode in (console.BAD_USAGE, console.UNWRITTEN) and "INVALID" not in done.stdout:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        if len(lines) != 1:
            return f"{len(lines)} lines that say what is wrong"
    if done.returncode == 0 and "--json" in words and done.stdout[:1] in ("{", "["):
        json.loads(done.stdout)
    return None
