"""Whether a formula may answer otherwise at one number than it does at a symbol: what a proof on symbols cannot see.

A formula such as `0 if x == 7 else x`, asked about a symbol, takes the second branch, and computer algebra proves the
rest. Nothing that is computed with its answers can tell, so the runner reads the code: a formula of a statement that is
called true for all values consists of arithmetic, of branches on an order, of functions of ours for which the same is
so, and of the few names of libraries that `_KNOWN` lists; whatever else it names, or does, may tell numbers apart. An
order (x < 7) is harmless where a symbol is asked, which answers it only where all its values agree; a ball that is no
point answers "no" where it cannot tell, so that no formula with an order may be asked about one (`ordering`). What an
expression may consist of is for `theorems.watching`. Not seen: a removable pole, (x - 7)/(x - 7), which is 1 to
computer algebra and no number at 7.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from flint import arb
from sympy import Basic, MatrixBase

from theorems.leaves import is_number, leaves

_LIBRARIES = sys.stdlib_module_names | {"sympy", "mpmath", "flint", "numpy", "scipy", "hypothesis"}
_BOTH = "theorems.tools.either"  # functions of balls and of expressions: they tell these apart, and no two numbers
_KNOWN = frozenset({  # they are smooth or continuous, or a symbol has no such thing, or they ask for no value
    "sympy", "flint", "math", "itertools", "Fraction", "Rational", "Integer", "S", "pi", "E", "arb", "sympify",
    "abs", "Abs", "max", "min", "Max", "Min", "sum", "prod", "root", "sqrt", "cbrt", "exp", "log", "sin", "cos", "tan",
    "atan", "tanh", "erf", "erfc", "lambertw", "gamma", "loggamma", "factorial", "binomial", "comb", "bit_length",
    "range", "len", "tuple", "list", "zip", "pairwise", "permutations", "Matrix", "Identity", "eye", "T", "shape",
    "trace", "det", "Half", "One", "Zero",
})
_WORDS = {
    "IS_OP": "is", "CONTAINS_OP": "in", "PUSH_EXC_INFO": "except", "UNARY_NOT": "not", "UNARY_INVERT": "~",
    "BUILD_SET": "a set", "SET_ADD": "a set", "SET_UPDATE": "a set", "MAP_ADD": "a table", "BUILD_MAP": "a table",
    "DICT_UPDATE": "a table", "DICT_MERGE": "a table", "BUILD_STRING": "text", "FORMAT_VALUE": "text",
    "FORMAT_SIMPLE": "text", "FORMAT_WITH_SPEC": "text", "CONVERT_VALUE": "text", "IMPORT_NAME": "an import",
    "LOAD_BUILD_CLASS": "a class", "STORE_ATTR": "an attribute that is set", "STORE_GLOBAL": "a global that is set",
    "DELETE_SUBSCR": "a place that is emptied", "LOAD_SUPER_ATTR": "super",
}
_UNORDERED = ("==", "!=")
_ORDERS = frozenset({"max", "min", "sorted"})
_BITS = frozenset("&|^") | {"<<", ">>", "&=", "|=", "^=", "<<=", ">>="}


def branch_in(says: Any) -> str:
    """The first place in the formulas of a statement where one number may be told from all others; empty if none."""
    for at, part in leaves(says):
        told = _first(part)
        if told:
            return told + (f", part {''.join(f'[{key}]' for key in at)} of what is said" if at else "")
    return ""


def ordering(formula: Any) -> str:
    """The first order on which a formula branches, or would for a ball that is no point; empty if there is none.

    A predicate that answers with the order itself is fine: of a ball it says "certainly".
    """
    for function in _functions(inspect.unwrap(formula), []):
        for code in _codes(function.__code__):
            steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
            for step, after in pairwise(steps):
                if step.opname == "LOAD_GLOBAL" and step.argval in _ORDERS:
                    return f"{step.argval} in {function.__name__}"
                if step.opname == "COMPARE_OP" and not after.opname.startswith("RETURN"):
                    return f"a branch on an order in {function.__name__}"
    return ""


def _first(part: Any) -> str:
    for reached in _reached(inspect.unwrap(part) if callable(part) else part, []):
        if not isinstance(reached, FunctionType):
            return f"{type(reached).__name__}, whose code is not read"
        for code in _codes(reached.__code__):
            told = _telling(code, reached)
            if told:
                return f"{told} in {reached.__name__}"
    return ""


def _telling(code: CodeType, function: FunctionType) -> str:
    unknown = [name for name in code.co_names if name not in _KNOWN and not _is_ours(name, code, function)]
    if unknown:
        return unknown[0]
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "TO_BOOL", "NOT_TAKEN")]
    for before, step in zip([None, *steps], steps, strict=False):
        compared = step.argrepr.removeprefix("bool(")
        if step.opname in _WORDS or step.opname.startswith("MATCH_"):
            return _WORDS.get(step.opname, "match")
        if step.opname == "COMPARE_OP" and compared.startswith(_UNORDERED):
            return compared[:2]
        if step.opname == "BINARY_OP" and step.argrepr in _BITS:
            return step.argrepr
        if "JUMP" in step.opname and "_IF_" in step.opname and (before is None or before.opname != "COMPARE_OP"):
            return "a branch on no order"
    return ""


def _is_ours(name: str, code: CodeType, function: FunctionType) -> bool:
    """Whether a name is that of a value of ours, which is looked at by itself, or of one of the formula's records."""
    if name in function.__globals__:
        value = function.__globals__[name]
        return not _of_library(value)
    return any(hasattr(value, name) for _, value in _modules(code, function) if _ours(value.__name__)) or any(
        name in getattr(one, "__dataclass_fields__", {}) for one in _records(function)
    )


def _records(function: FunctionType) -> Iterator[Any]:
    """The classes of a formula's arguments, as far as it tells, and of the values that it holds."""
    told = (function.__globals__.get(str(name)) for name in function.__annotations__.values())
    return (one for one in (*told, *map(type, _held(function))) if one is not None)


def _of_library(value: Any) -> bool:
    """Whether the value is a function, a class or a module that we have not written."""
    if isinstance(value, ModuleType):
        return not _ours(value.__name__)
    where = getattr(value, "__module__", None) or "builtins"
    return callable(value) and not isinstance(value, (Basic, partial)) and not _ours(where)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _functions(part: Any, seen: list[Any]) -> Iterator[FunctionType]:
    return (one for one in _reached(part, seen) if isinstance(one, FunctionType))


def _reached(part: Any, seen: list[Any]) -> Iterator[Any]:
    """A formula, the functions of no library that it calls by name or holds, and the objects that nobody can read."""
    if any(part is one for one in seen) or _plain(part):
        return
    seen.append(part)
    if isinstance(part, partial):
        inside: list[Any] = [part.func, *part.args, *part.keywords.values()]
    elif isinstance(part, MethodType):
        inside = [part.__func__, part.__self__]
    elif isinstance(part, FunctionType):
        if not _ours(part.__module__):
            return
        yield part
        inside = _held(part)
    elif type(part) in (tuple, list):
        inside = list(part)
    elif type(part) is dict and all(isinstance(key, (str, int)) for key in part):
        inside = list(part.values())
    elif hasattr(part, "__wrapped__"):  # a function whose answers are kept
        inside = [part.__wrapped__]
    elif not isinstance(part, type) and callable(part) and isinstance(vars(type(part)).get("__call__"), FunctionType):
        inside = [vars(type(part))["__call__"], *vars(part).values()]
    else:
        yield part
        return
    for inner in inside:
        yield from _reached(inner, seen)


def _held(function: FunctionType) -> list[Any]:
    """What a function has in its closure and as defaults, and what of ours it names."""
    held = inspect.getclosurevars(function).nonlocals.values()
    return [*held, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *_globals(function)]


def _plain(part: Any) -> bool:
    """Whether it is a value that no number can be told apart with, or code that is not for us to read."""
    if part is None or isinstance(part, (bool, str, complex, arb, Basic, MatrixBase, ModuleType, BuiltinFunctionType)):
        return True
    return is_number(part) or (_of_library(part) and not hasattr(part, "__wrapped__"))


def _ours(module: str) -> bool:
    return module.split(".")[0] not in _LIBRARIES | {"builtins"} and module != _BOTH


def _modules(code: CodeType, function: FunctionType) -> list[tuple[str, ModuleType]]:
    named = ((name, function.__globals__.get(name)) for name in code.co_names)
    return [(name, value) for name, value in named if isinstance(value, ModuleType)]


def _globals(function: FunctionType) -> Iterator[Any]:
    for code in _codes(function.__code__):
        for name in code.co_names:
            if name in function.__globals__:
                yield function.__globals__[name]
        for _, module in _modules(code, function):
            if _ours(module.__name__):
                yield from (getattr(module, other) for other in code.co_names if hasattr(module, other))
