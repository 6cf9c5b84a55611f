"""Whether a formula may answer otherwise at one number than it does at a symbol: what a proof on symbols cannot see.

A formula such as `0 if x == 7 else x`, asked about a symbol, takes the second branch, and computer algebra proves the
rest. Nothing that is computed with its answers can tell, so the runner reads the code: a formula of a statement that is
called true for all values must not compare by ==, !=, `is` or `in`, not branch on anything but an order, not look a
value up in a set or a table, not ask for a type or catch an error; nor must the functions that it calls, but those of
libraries. An order (x < 7) is harmless: a symbol answers it only where all its values agree. Not seen: what libraries
and compiled code do with a number.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from theorems.leaves import leaves

_LIBRARIES = sys.stdlib_module_names | {"sympy", "mpmath", "flint", "numpy", "scipy", "hypothesis"}
_BOTH = "theorems.tools.either"  # functions of balls and of expressions: they tell these apart, and no two numbers
_TELLING = frozenset({  # names by which code tells a number from a symbol, or one number from another
    "isinstance", "issubclass", "type", "hash", "id", "str", "repr", "format", "hasattr", "getattr", "__class__",
    "__eq__", "__ne__", "__hash__", "eq", "ne", "get", "index", "count", "set", "frozenset", "free_symbols",
    "args", "func", "eval", "exec",
})
_WORDS = {"IS_OP": "is", "CONTAINS_OP": "in", "PUSH_EXC_INFO": "except", "BUILD_SET": "a set", "SET_ADD": "a set",
          "MAP_ADD": "a table"}
_UNORDERED = ("==", "!=")


def branch_in(says: Any) -> str:
    """The first place in the formulas of a statement where one number may be told from all others; empty if none."""
    for at, part in leaves(says):
        for function in _reached(inspect.unwrap(part) if callable(part) else part, []):
            for code in _codes(function.__code__):
                told = _telling(code)
                if told:
                    place = "".join(f"[{key}]" for key in at)
                    return f"{told} in {function.__name__}" + (f", part {place} of what is said" if place else "")
    return ""


def _telling(code: CodeType) -> str:
    names = sorted(name for name in code.co_names if name in _TELLING or name.startswith("is_"))
    if names:
        return names[0]
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "TO_BOOL", "NOT_TAKEN")]
    for before, step in zip([None, *steps], steps, strict=False):
        compared = step.argrepr.removeprefix("bool(")
        if step.opname in _WORDS or step.opname.startswith("MATCH_"):
            return _WORDS.get(step.opname, "match")
        if step.opname == "COMPARE_OP" and compared.startswith(_UNORDERED):
            return compared[:2]
        if "JUMP" in step.opname and "_IF_" in step.opname and (before is None or before.opname != "COMPARE_OP"):
            return "a branch on no order"
    return ""


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _reached(part: Any, seen: list[FunctionType]) -> Iterator[FunctionType]:
    """A formula and the functions of no library that it calls by name, holds in its closure, or has as defaults."""
    if isinstance(part, partial):
        for inner in (part.func, *part.args, *part.keywords.values()):
            yield from _reached(inner, seen)
        return
    if isinstance(part, MethodType):
        part = part.__func__
    elif callable(part) and not isinstance(part, (type, FunctionType)):
        part = type(part).__call__
    if not isinstance(part, FunctionType) or part in seen or not _ours(part.__module__):
        return
    seen.append(part)
    yield part
    held = inspect.getclosurevars(part).nonlocals.values()
    for inner in (*held, *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values(), *_globals(part)):
        yield from _reached(inner, seen)


def _ours(module: str) -> bool:
    return module.split(".")[0] not in _LIBRARIES and module != _BOTH


def _globals(function: FunctionType) -> Iterator[Any]:
    for code in _codes(function.__code__):
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, ModuleType) and _ours(value.__name__):
                yield from (getattr(value, other) for other in code.co_names if hasattr(value, other))
            elif isinstance(value, (FunctionType, partial)):
                yield value

