"""The process in which foreign code runs: `python -P rooms.py PARENT MEMORY exec COMMAND...` or `serve MODULE SPEC`.

It limits the memory first, and a keeper sees to its end and to that of all that it starts (`oracle.running.keeper`).
`exec` then becomes the command. `serve MODULE SPEC` calls
the function `serve(spec, requests, answers)` of one of our modules, which asks a Python function: the protocol moves
to private descriptors, so that what the function prints goes to standard error, and standard input is an error that
says so. Before anything foreign is loaded, the names of our packages are given back: `import oracle` in the target is
its own package of that name where it has one, and what serves it imports nothing of ours any more.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from oracle.core.domain import printable
from oracle.core.errors import TargetError
from oracle.core.rooms import complaint_in, forget_ours
from oracle.running.keeper import keep


class NoInput(io.TextIOBase):
    """In place of standard input: whoever reads it, by whatever method, is told that there is none."""

    def read(self, size: int | None = -1, /) -> NoReturn:
        """Refuse."""
        raise TargetError("it reads standard input, and there is none to give")

    def readline(self, size: int = -1, /) -> NoReturn:  # type: ignore[override]
        """Refuse; `input()`, iteration and `readlines` come here, too."""
        self.read()


def confine(parent: int, memory: int) -> None:
    """Limit the memory of this process in MB, and let it end with its parent, and all that it starts with it."""
    # The data limit counts what can be written to; an address-space limit would also stop programs (node) that only
    # reserve a lot of it.
    limit = memory * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    keep(parent, memory)


def load_function(path: str) -> Callable[..., Any]:
    """The function of `pkg.mod:fn` or `file.py:fn`."""
    place, _, name = path.rpartition(":")
    if place.endswith(".py"):
        file = Path(place).resolve()
        if not file.is_file():  # a pipe would be waited for
            raise TargetError(f"there is no file {place}")
        spec = importlib.util.spec_from_file_location(file.stem, file)  # told: foreign, by whoever asks for it
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)  # told: as above
        sys.modules[file.stem] = module  # as an import would: dataclasses and the like look it up
        sys.path.insert(0, str(file.parent))  # so that the file may import its neighbours, as a script may
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)  # told: foreign, too
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            raise TargetError(f"{place} has no {name}")
        function = getattr(function, part)
    if not callable(function):
        raise TargetError(f"{path} is no function but {type(function).__name__}")
    return function  # type: ignore[no-any-return]


def told(error: BaseException) -> str:
    """An exception as one line: what it says, and where in the target it was raised."""
    try:
        said = str(error)
    except BaseException as fault:  # it is the target's own code that says it
        said = f"what cannot be told ({type(fault).__name__})"
    if isinstance(error, TargetError) or complaint_in(said) is not None:
        return said
    text = printable(said)[:300]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    short = " (it may use no more memory)" if isinstance(error, MemoryError) else ""
    return f"it raised {type(error).__name__}{': ' if text else ''}{text}{where}{short}"


def main(words: list[str], *, path: list[str]) -> None:
    """Confine this process, then become a command or serve a function, which finds its modules on the path."""
    parent, memory, task, *rest = words
    confine(int(parent), int(memory))
    if task == "exec":
        try:
            os.execvp(rest[0], rest)
        except OSError as error:
            sys.exit(f"{rest[0]} cannot be run: {error.strerror}")
    module, spec = rest
    # It is ours, and loaded before anything foreign.
    serve = importlib.import_module(module).serve  # told: by the string of whoever starts this process
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdin = NoInput()
    sys.path[:] = [os.getcwd(), *path]
    ours = forget_ours()
    serve(json.loads(spec), requests, answers)
    del ours  # until here: nothing else may hold what serves
