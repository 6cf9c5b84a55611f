"""What the gate asks: functions, commands and callables; a hostile one loses its case, and the run goes on."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from empirical.gate.gate_targets import GateCommand, GateFunction, LocalTarget
from empirical.gate.making.cases import Case, Expected, Text
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict, Interval, Refusal
from oracle import bound
from oracle.core.errors import DomainError, TargetError
from oracle.running.keeper import LINUX

BOUND = bound("laplace.delta")
ORDINARY = {"scale": "2", "sensitivity": "1", "epsilon": "0.1"}
HEAD = "import ctypes, math, os, sys, time, warnings\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
ECHO = "import json, os, sys, time\nfor line in sys.stdin:\n    request = json.loads(line)\n    number = request['id']"


def case(**changes: Text) -> Case:
    return Case(BOUND.name, 1, {**ORDINARY, **changes}, Expected.parse("0", "1"))


def function(folder: Path, body: str, **options: Any) -> GateFunction:
    """A target that is a function of a file."""
    file = folder / "target.py"
    indented = body.replace("\n", "\n    ")
    file.write_text(f"{HEAD}\ndef fn(*, scale, sensitivity, epsilon):\n    {indented}\n    return 0.5\n")
    return GateFunction(f"{file}:fn", **options)


def command(folder: Path, body: str, **options: Any) -> GateCommand:
    file = folder / "target.py"
    file.write_text(ECHO + "\n    " + body.replace("\n", "\n    "))
    return GateCommand([sys.executable, str(file)], **options)


@contextmanager
def hurried(target: GateFunction | GateCommand) -> Iterator[None]:
    """One second for what hangs anyway; what answers has all the time that a busy machine needs."""
    allowed, target._timeout = target._timeout, 1.0
    yield
    target._timeout = allowed


def number(value: Any) -> Interval:
    return Interval(value, value)


LEFT = (
    (GateVerdict.CRASH, "exit status 0 before it answered") if LINUX  # the keeper ends the child with the program
    else (GateVerdict.TIMEOUT, "no answer")  # the child holds the pipes
)
HOSTILE: dict[str, tuple[str, GateVerdict, str]] = {
    "raises": ("raise ZeroDivisionError('no\\nluck')", GateVerdict.CRASH, "ZeroDivisionError: no luck"),
    "exits": ("sys.exit('enough')", GateVerdict.CRASH, "SystemExit: enough"),
    "interrupts": ("raise KeyboardInterrupt", GateVerdict.CRASH, "KeyboardInterrupt"),
    "vanishes": ("os._exit(0)", GateVerdict.CRASH, "exit status 0 before it answered"),
    "aborts": ("os.abort()", GateVerdict.CRASH, "SIGABRT"),
    "segfaults": ("ctypes.string_at(0)", GateVerdict.CRASH, "SIGSEGV"),
    "hangs": ("while True:\n    pass", GateVerdict.TIMEOUT, "no answer within 1 s"),
    "hangs in a child": ("os.system('sleep 60')", GateVerdict.TIMEOUT, "no answer"),
    "allocates": ("x = []\nwhile True:\n    x.append(bytearray(10**8))", GateVerdict.CRASH, "no more memory"),
    "closes every pipe": ("os.closerange(0, 100)", GateVerdict.CRASH, "before it answered"),
    "reads the requests": ("sys.stdin.read()", GateVerdict.CRASH, "standard input"),
    "recurses": ("f = lambda: f()\nf()", GateVerdict.CRASH, "RecursionError"),
    "leaves a child behind": ("if os.fork():\n    os._exit(0)\ntime.sleep(60)", *LEFT),
    "returns nothing": ("return", GateVerdict.CRASH, "None: no number"),
    "returns text": ("return 'a lot'", GateVerdict.CRASH, "no number"),
    "returns a bomb": ("class B:\n    def __float__(self):\n        os.abort()\nreturn B()", GateVerdict.CRASH, "SIG"),
}


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_call_loses_its_case_only(name: str, tmp_path: Path) -> None:
    body, expected, words = HOSTILE[name]
    body = "if scale == 1:\n    " + body.replace("\n", "\n    ")
    target = function(tmp_path, body, memory=600)
    assert target.ask(BOUND, case()) == number(Fraction(1, 2))
    with hurried(target) if expected is GateVerdict.TIMEOUT else nullcontext():
        failed = target.ask(BOUND, case(scale="1"))
    assert isinstance(failed, Breakdown)
    assert failed.verdict is expected
    assert words in failed.why
    assert target.ask(BOUND, case()) == number(Fraction(1, 2))
    target.close()


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("print('x' * 10**6)\nos.write(1, b'{}')\nwarnings.warn('hm')", Fraction(1, 2)),
        ("os.close(1)\nos.close(2)\nsys.stdout = None", Fraction(1, 2)),
        ("os.fork()", Fraction(1, 2)), ("os.chdir('/')\nsys.path.clear()\nsys.argv.clear()", Fraction(1, 2)),
        ("return Decimal('0.1')", Fraction(1, 10)), ("return Fraction(1, 3)", Fraction(1, 3)),
        ("return 10**5000", Fraction(10**5000)), ("return 5e-324", Fraction(5e-324)), ("return -0.0", Fraction(0)),
        ("return math.inf", math.inf), ("import numpy as np\nreturn np.array(0.3)", Fraction(0.3)),
        ("import numpy as np\nreturn np.float32(0.3)", Fraction(5033165, 16777216)),
        ("import torch\nreturn torch.tensor(0.25)", Fraction(1, 4)), ("return '1e-30'", Fraction(1, 10**30)),
    ],
)
def test_a_peculiar_function_is_heard(body: str, expected: Any, tmp_path: Path) -> None:
    target = function(tmp_path, body)
    assert target.ask(BOUND, case()) == number(expected)
    target.close()


def test_a_function_may_answer_an_interval_or_refuse(tmp_path: Path) -> None:
    target = function(
        tmp_path, "if scale < 0:\n    raise ValueError(f'scale = {scale}')\nif scale == 1:\n    scale + 'one'\n"
        "return {'lower': epsilon, 'upper': scale}"
    )
    assert target.ask(BOUND, case()) == Interval(Fraction(0.1), Fraction(2))
    for text, words in (("-1", "ValueError: scale = -1.0"), ("1", "TypeError")):
        refused = target.ask(BOUND, case(scale=text))
        assert isinstance(refused, Refusal)
        assert words in refused.why
    target.close()


def test_arguments_arrive_as_they_are(tmp_path: Path) -> None:
    target = function(tmp_path, "raise ValueError(repr((scale, sensitivity, epsilon)))")
    given = {"scale": "nan", "sensitivity": "0.1", "epsilon": "many"}
    refused = target.ask(BOUND, Case(BOUND.name, 1, given, None))
    assert isinstance(refused, Refusal)
    assert "(nan, 0.1, 'many')" in refused.why
    target.close()
    shifted = bound("shifted.mu")
    schedules: dict[str, Text] = {
        "drift": ("0", "1"), "contractions": ("0.9", "1"), "iterate_noise": ("2", "1"), "diameter": "inf",
    }
    seen: dict[str, Any] = {}
    LocalTarget(lambda **given: seen.update(given)).ask(shifted, Case("shifted.mu", 1, schedules, None))
    assert seen == {"drift": [0.0, 1.0], "contractions": [0.9, 1.0], "iterate_noise": [2.0, 1.0], "diameter": math.inf}
    steps: list[Any] = []
    composed = bound("gaussian-composed.epsilon")
    for text in ("3", "3.0", "1.5", "1e300"):
        LocalTarget(lambda steps, _=steps, **given: _.append(steps)).ask(
            composed, Case("gaussian-composed.epsilon", 1, {"steps": text}, None)
        )
    assert list(map(repr, steps)) == ["3", "3", "1.5", str(10**300)]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no_such_module_anywhere:fn", "ModuleNotFoundError"), ("{folder}/none.py:fn", "there is no file"),
        ("{file}:none", "has no none"), ("{file}:math", "no function"),
    ],
)
def test_a_function_that_cannot_be_loaded_has_no_verdict(path: str, words: str, tmp_path: Path) -> None:
    function(tmp_path, "pass")
    target = GateFunction(path.format(file=tmp_path / "target.py", folder=tmp_path))
    with pytest.raises(TargetError, match=words):
        target.ask(BOUND, case())


def test_a_module_that_dies_while_it_is_imported_has_no_verdict(tmp_path: Path) -> None:
    for line, words in (("import os; os.abort()", "SIGABRT"), ("raise SystemExit(3)", "SystemExit"), ("def", "Syntax")):
        (tmp_path / "target.py").write_text(line)
        with pytest.raises(TargetError, match=words):
            GateFunction(f"{tmp_path / 'target.py'}:fn").ask(BOUND, case())


@pytest.mark.parametrize("path", ["fn", ":fn", "mod:"])
def test_a_path_without_a_function_is_bad_usage(path: str) -> None:
    with pytest.raises(DomainError, match="target = "):
        GateFunction(path)


def test_a_program_that_is_not_there_has_no_verdict() -> None:
    with pytest.raises(TargetError, match="no program /no/such/program"):
        GateCommand(["/no/such/program", "--fast"]).ask(BOUND, case())


def test_a_request_is_one_plain_line_in_the_order_of_the_parameters(tmp_path: Path) -> None:
    target = command(tmp_path, "print(json.dumps({'id': number, 'refused': line}), flush=True)")
    given = {"epsilon": "inf", "sensitivity": "1e-5", "scale": "nan"}
    refused = target.ask(BOUND, Case(BOUND.name, 1, given, None))
    assert isinstance(refused, Refusal)
    wanted = '{"id": 1, "bound": "laplace.delta", "input": {"scale": "nan", "sensitivity": 1e-05, "epsilon": "inf"}}'
    assert wanted.startswith(refused.why.removesuffix("..."))  # a refusal is told in one short line
    assert target.call(BOUND, Case(BOUND.name, 1, given, None)).startswith(f"echo '{wanted}' | ")
    target.close()


ANSWERS: dict[str, tuple[str, Answer | str]] = {
    "value": ('{"id": 1, "value": 0.5}', number(Fraction(1, 2))),
    "text": ('{"id": 1, "value": "0.1"}', number(Fraction(1, 10))),
    "infinite": ('{"id": 1, "value": "inf"}', number(math.inf)),
    "ends": ('{"upper": 1, "id": 1, "lower": "0.5"}', Interval(Fraction(1, 2), Fraction(1))),
    "refused": ('{"id": 1, "refused": "too small"}', Refusal("too small")),
    "another id": ('{"id": 2, "value": 0.5}', "expected the id 1"),
    "no id": ('{"value": 0.5}', "expected the id 1"),
    "nothing": ('{"id": 1}', "expected value"),
    "both": ('{"id": 1, "value": 0.5, "refused": "no"}', "expected value"),
    "one end": ('{"id": 1, "lower": 0.5}', "expected value"),
    "null": ('{"id": 1, "value": null}', "no number"),
    "a word": ('{"id": 1, "value": "half"}', "no number"),
    "a number alone": ("0.5", "no JSON object"),
    "progress": ("epoch 1 of 10", "no JSON object: 'epoch 1 of 10'"),
    "brackets": ("[" * 100_000, "no JSON object"),
    "an endless integer": ('{"id": 1, "value": ' + "9" * 5000 + "}", "no JSON object"),
}


@pytest.mark.full
@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_a_command(name: str, tmp_path: Path) -> None:
    line, expected = ANSWERS[name]
    target = command(tmp_path, f"print({line!r}, flush=True)")
    answer = target.ask(BOUND, case())
    if isinstance(expected, str):
        assert isinstance(answer, Breakdown)
        assert answer.verdict is GateVerdict.CRASH
        assert expected in answer.why
    else:
        assert answer == expected
    target.close()


@pytest.mark.full
def test_a_command_that_breaks_is_started_again(tmp_path: Path) -> None:
    body = """
scale = request['input']['scale']
if scale == 1: os._exit(3)
if scale == 3: os.write(1, bytes(3 * 2**20))
if scale == 4: time.sleep(60)
if scale == 5: print(json.dumps({'id': number - 1, 'value': 9}))
print(json.dumps({'id': number, 'value': 0.5}), flush=True)
"""
    target = command(tmp_path, body)
    for text, verdict, words in (
        ("1", GateVerdict.CRASH, "exit status 3"), ("3", GateVerdict.CRASH, "more than 1 MB"),
        ("4", GateVerdict.TIMEOUT, "hangs"), ("5", GateVerdict.CRASH, "expected the id"),
    ):
        assert target.ask(BOUND, case()) == number(Fraction(1, 2))
        with hurried(target) if verdict is GateVerdict.TIMEOUT else nullcontext():
            failed = target.ask(BOUND, case(scale=text))
        assert isinstance(failed, Breakdown)
        assert failed.verdict is verdict
        assert words in failed.why
    assert target.ask(BOUND, case()) == number(Fraction(1, 2))
    target.close()


def test_a_callable_in_this_process() -> None:
    def raiser(error: BaseException) -> LocalTarget:
        def fn(**_: Any) -> float:
            raise error
        return LocalTarget(fn)

    assert LocalTarget(lambda **_: 0.5).ask(BOUND, case()) == number(Fraction(1, 2))
    assert isinstance(raiser(ValueError("no")).ask(BOUND, case()), Refusal)
    assert isinstance(raiser(TypeError("no")).ask(BOUND, case()), Refusal)
    for error in (OverflowError("too large"), MemoryError(), RecursionError()):
        assert isinstance(raiser(error).ask(BOUND, case()), Breakdown)
    with pytest.raises(KeyboardInterrupt):
        raiser(KeyboardInterrupt()).ask(BOUND, case())


def test_a_call_can_be_pasted() -> None:
    def delta(*, scale: Any, sensitivity: Any, epsilon: Any) -> Any:
        return (scale, sensitivity, epsilon)

    target = LocalTarget(delta)
    call = target.call(BOUND, case(scale="nan", sensitivity="1e-5", epsilon="-inf"))
    assert call == "delta(scale=float('nan'), sensitivity=1e-05, epsilon=float('-inf'))"
    assert repr(eval(call)) == "(nan, 1e-05, -inf)"
    assert GateFunction("a.b:c.fn").call(BOUND, case()) == "c.fn(scale=2.0, sensitivity=1.0, epsilon=0.1)"


@pytest.mark.full
def test_thousands_of_calls_take_seconds(tmp_path: Path) -> None:
    target = function(tmp_path, "pass")
    assert all(target.ask(BOUND, case()) == number(Fraction(1, 2)) for _ in range(3000))
    target.close()
