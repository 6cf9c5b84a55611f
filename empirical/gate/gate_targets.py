"""What the gate judges: a function in its own process, a command that speaks JSON lines, or a callable in this process.

A function is called with the bound's parameters as keyword arguments: ints, floats, words, lists of floats. It returns
a number of any kind (int, float, Fraction, Decimal, a numpy or torch scalar, a decimal string) or a mapping with
`lower` and `upper`. A ValueError or a TypeError is a refusal; anything else that it raises is a CRASH.

A command reads requests from standard input, a JSON object a line, and answers each by one line on standard output:

    {"id": 1, "bound": "laplace.delta", "input": {"scale": 1.0, "sensitivity": 1.0, "epsilon": 0.5}}
    {"id": 1, "value": 0.22119921692859513}
    {"id": 2, "bound": "laplace.delta", "input": {"scale": -1.0, "sensitivity": 1.0, "epsilon": 0.5}}
    {"id": 2, "refused": "scale must be positive"}

or `{"id": 1, "lower": 0.2211, "upper": 0.2212}`; an answer's numbers are JSON numbers or decimal strings. In a request
the parameters come in the order of `dp-oracle bounds`; numbers are the nearest doubles in their shortest form, integers
have no point, a schedule is an array; a word, a number that JSON lacks ("nan", "inf", "-inf") and what is no number is
a string. The end of standard input ends the command. Any other answer, or another id, is a CRASH.

A process that crashes or hangs is started again for the next case. One that cannot be started at all (no such module,
function or program) is a TargetError: it has no verdict.
"""

from __future__ import annotations

import abc
import json
import math
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from empirical.gate.making.cases import Case, arguments
from empirical.gate.verdicts import Answer, Breakdown, GateVerdict, Interval, Refusal, read
from oracle.core.domain import Number, shown
from oracle.core.errors import DomainError, TargetError, TargetTimeout
from oracle.core.registry import Bound
from oracle.running.isolated import LOADING, MEGABYTES, MEMORY, SECONDS, TIMEOUT, Isolated
from oracle.running.isolated_worker import told

_LONGEST = 1  # MB that an answer may have
_PATIENCE = 3.0  # a machine may be so much busier than when the first process was loaded


class GateTarget(Protocol):
    """What can be judged."""

    @property
    def name(self) -> str:
        """What tables and messages call it."""

    def ask(self, bound: Bound, case: Case) -> Answer:
        """What it answers to a case; a TargetError where it cannot be asked at all."""

    def call(self, bound: Bound, case: Case) -> str:
        """The exact call of a case, for whoever wants to try it."""

    def close(self) -> None:
        """End what was started; the next question starts it again."""


def call(function: Callable[..., Any], given: Mapping[str, Any]) -> Answer:
    """What a function answers; a MemoryError, SystemExit and the like are for the caller, who owns the process."""
    try:
        value = function(**given)
    except (ValueError, TypeError) as error:
        return Refusal(told(error))
    except MemoryError:
        raise
    except Exception as error:  # the contract: whatever else it raises is a crash
        return Breakdown(GateVerdict.CRASH, told(error))
    return read(value)


def python_call(name: str, given: Mapping[str, Any]) -> str:
    """A call as Python text, ready to be pasted."""
    return f"{name}({', '.join(f'{key}={_python(value)}' for key, value in given.items())})"


def _python(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_python, value))}]"
    return f"float({str(value)!r})" if isinstance(value, float) and not math.isfinite(value) else repr(value)


class LocalTarget:
    """A callable in this process: no isolation and no time limit; for a test suite, which runs it anyway."""

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        self.name = name or getattr(function, "__qualname__", None) or repr(function)
        self._function = function

    def ask(self, bound: Bound, case: Case) -> Answer:
        """What the callable returns or raises; only what is no Exception passes through."""
        try:
            return call(self._function, arguments(bound, case.input))
        except Exception as error:  # no memory, or a number that cannot be read
            return Breakdown(GateVerdict.CRASH, told(error))

    def call(self, bound: Bound, case: Case) -> str:
        """The call as Python text."""
        return python_call(self.name.rpartition(".")[2], arguments(bound, case.input))

    def close(self) -> None:
        """Nothing was started."""


class _Isolated(abc.ABC):
    """What a function and a command share: the process, its limits, and its fate."""

    def __init__(self, name: str, words: Sequence[str], timeout: Number, memory: Number) -> None:
        self.name = name
        self._words = list(words)
        self._timeout = float(SECONDS.rational(timeout))
        self._memory = int(MEGABYTES.rational(memory))
        self._process: Isolated | None = None
        self._asked = 0
        self._first = True
        self._loading = LOADING  # what a process may take on top of the timeout, from its start to its first line

    def ask(self, bound: Bound, case: Case) -> Answer:
        """What the process answers; if it crashes or hangs, the next question starts another."""
        process = self._process
        if process is None or not process.usable:
            process = self._start()
        self._asked += 1
        try:
            request = json.dumps(self._request(bound, case, self._asked)) + "\n"
            process.require_silence()
            process.write(request.encode(), seconds=self._timeout)
            return self._understood(self._heard(process), self._asked)
        except TargetTimeout as error:
            self.close()
            return Breakdown(GateVerdict.TIMEOUT, str(error))
        except TargetError as error:
            died = not process.usable
            self.close()
            return Breakdown(GateVerdict.CRASH, str(error), died=died)
        except BaseException:  # an interrupt: its pipes may hold half an answer
            self.close()
            raise

    def close(self) -> None:
        """End the process; the next question starts another."""
        if self._process is not None:
            self._process.stop()
        self._process = None

    def _start(self) -> Isolated:
        """A new process; a TargetError where there can be none."""
        self._process, self._first = Isolated(self.name, self._words, memory=self._memory), True
        return self._process

    def _heard(self, process: Isolated) -> dict[str, Any]:
        """The next answer; the first may take as long as loading may, which the first process of all has shown."""
        started = time.monotonic()
        answer = process.read_object(
            seconds=self._timeout + (self._loading if self._first else 0.0), megabytes=_LONGEST
        )
        if self._first:
            self._loading = min(self._loading, _PATIENCE * (1.0 + time.monotonic() - started))
        self._first = False
        return answer

    @abc.abstractmethod
    def _request(self, bound: Bound, case: Case, number: int) -> dict[str, Any]:
        """The JSON object that asks for a case."""

    @abc.abstractmethod
    def _understood(self, answer: dict[str, Any], number: int) -> Answer:
        """What an object says; a TargetError where that is no answer to the question of that number."""


class GateFunction(_Isolated):
    """A Python function, `pkg.mod:fn` or `file.py:fn`."""

    def __init__(self, path: str, timeout: Number = TIMEOUT, memory: Number = MEMORY) -> None:
        place, _, name = path.rpartition(":")
        if not place or not name:
            raise DomainError(f"target = {shown(path)} is outside its domain: pkg.mod:fn or file.py:fn")
        task = json.dumps({"path": path})
        super().__init__(path, ["serve", "empirical.gate.function_worker", task], timeout, memory)

    def call(self, bound: Bound, case: Case) -> str:
        """The call as Python text."""
        return python_call(self.name.rpartition(":")[2], arguments(bound, case.input))

    def _start(self) -> Isolated:
        process = super()._start()
        try:
            greeting = self._heard(process)
            if "error" in greeting:
                raise TargetError(f"{self.name} cannot be loaded: {greeting['error']}")
        except BaseException:
            self.close()
            raise
        return process

    def _request(self, bound: Bound, case: Case, number: int) -> dict[str, Any]:
        return {"id": number, "arguments": arguments(bound, case.input)}

    def _understood(self, answer: dict[str, Any], number: int) -> Answer:
        if answer.get("id") != number:
            raise TargetError(f"{self.name} disturbed its own process: {shown(answer)}")
        if answer.get("over"):
            self.close()
        if "crash" in answer:
            return Breakdown(GateVerdict.CRASH, answer["crash"], died=bool(answer.get("over")))
        return decoded(answer)


class GateCommand(_Isolated):
    """A program that speaks JSON lines."""

    def __init__(self, words: Sequence[str], timeout: Number = TIMEOUT, memory: Number = MEMORY) -> None:
        super().__init__(shlex.join(words), ["exec", *words], timeout, memory)

    def call(self, bound: Bound, case: Case) -> str:
        """The request, piped into the command."""
        return f"echo {shlex.quote(json.dumps(self._request(bound, case, 1)))} | {self.name}"

    def _start(self) -> Isolated:
        program = self._words[1]
        if shutil.which(program) is None:
            raise TargetError(f"{self.name} cannot be run: there is no program {program}")
        return super()._start()

    def _request(self, bound: Bound, case: Case, number: int) -> dict[str, Any]:
        given = {name: _plain(value) for name, value in arguments(bound, case.input).items()}
        return {"id": number, "bound": bound.name, "input": given}

    def _understood(self, answer: dict[str, Any], number: int) -> Answer:
        told = shown(json.dumps(answer))
        if answer.pop("id", None) != number:
            raise TargetError(f"{self.name} answered {told}: expected the id {number}")
        if set(answer) == {"refused"}:
            return Refusal(shown(answer["refused"]))
        if set(answer) == {"value"}:
            return read(answer["value"])
        if set(answer) == {"lower", "upper"}:
            return read(answer)
        raise TargetError(
            f"{self.name} answered {told}: expected value, lower and upper, or refused, beside the id"
        )


def _plain(value: Any) -> Any:
    """An argument in JSON that every reader takes."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def decoded(answer: Mapping[str, Any]) -> Refusal | Interval:
    """The refusal or the numbers that `function_worker.encoded` wrote."""
    if "refused" in answer:
        return Refusal(answer["refused"])
    return Interval(_decoded(answer["lower"]), _decoded(answer["upper"]))


def _decoded(text: str) -> Fraction | float:
    numerator, ratio, denominator = text.partition("/")
    return Fraction(int(numerator, 16), int(denominator, 16)) if ratio else float(text)
