"""False variants of a formula: its answer changed everywhere or beyond what a check looks at, and its code changed.

A formula is watched while its checker asks it, and the largest of each kind of argument is noted. "Beyond" is the
variant that agrees with the formula up to there: what a check of finitely many cases cannot tell from the truth. Asked
about a symbol it answers with the case distinction itself, which a proof for all values does not take for the formula.
"""

from __future__ import annotations

import dis
import opcode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

import sympy
from flint import arb

from theorems.mutation.leaves import changed_value, is_number, leaves

Formula = Callable[..., Any]
_CONSTANTS, _OPERATORS = 6, 6  # changes of each kind to one formula's code
_SIGNS = {"+": "-", "-": "+", "*": "+", "/": "*", "**": "*"}



@dataclass
class Watched:
    """A formula that notes the largest numbers and the longest lists that it is asked about, by their place."""

    formula: Formula
    largest: dict[tuple[Any, ...], float] = field(default_factory=dict)
    whole: dict[tuple[Any, ...], bool] = field(default_factory=dict)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The formula's answer; what it was asked is noted."""
        for at, size, whole in sizes((args, options)):
            self.largest[at] = max(size, self.largest.get(at, size))
            self.whole[at] = whole and self.whole.get(at, True)
        return self.formula(*args, **options)


def sizes(args: Any) -> Iterator[tuple[tuple[Any, ...], float, bool]]:
    """The numbers and the lengths in arguments, each with its place and whether it is whole."""
    for at, part in leaves(args):
        if is_number(part):
            yield at, float(part), isinstance(part, int) or (isinstance(part, Fraction) and part.denominator == 1)
        elif isinstance(part, arb) and part.is_finite():
            yield at, float(part.mid()), bool(part.is_integer())
    for place, part in enumerate(args[0]):
        if isinstance(part, (tuple, list)):
            yield (0, place, "length"), float(len(part)), True


def answers(formula: Formula) -> dict[str, Formula]:
    """Variants of a formula's answer, by their names."""
    changes: Mapping[str, Callable[[Any], Any]] = {
        "sign": lambda value: -value, "1 % more": lambda value: value * 101 / 100,
        "1 % less": lambda value: value * 99 / 100, "squared": lambda value: value**2,
    }
    return {
        name: _answering(formula, change, (lambda truth: not truth) if name == "sign" else bool)
        for name, change in changes.items()
    }


def _answering(formula: Formula, change: Callable[[Any], Any], opposite: Callable[[bool], bool]) -> Formula:
    return lambda *args, **options: changed_value(formula(*args, **options), change, opposite)


def beyond(watched: Watched) -> dict[str, Formula]:
    """The variants that differ only beyond the largest count, or twice the largest number above 1, that was asked."""
    result: dict[str, Formula] = {}
    for at, largest in watched.largest.items():
        if watched.whole[at] and largest >= 1:
            result[f"beyond {_told(at)} = {largest:g}"] = _beyond(watched.formula, at, largest)
        elif largest > 1:
            result[f"beyond {_told(at)} = {2 * largest:g}"] = _beyond(watched.formula, at, 2 * largest)
    return result


def _told(at: tuple[Any, ...]) -> str:
    return "argument " + ".".join(str(key) for key in at[1:])


def _beyond(formula: Formula, at: tuple[Any, ...], largest: float) -> Formula:
    limit = sympy.nsimplify(largest, rational=True)

    def variant(*args: Any, **options: Any) -> Any:
        value = formula(*args, **options)
        there = _part((args, options), at)
        if isinstance(there, sympy.Basic) and not there.is_number:
            return changed_value(value, lambda v: sympy.Piecewise((v, there <= limit), (2 * v + 1, True)), bool)
        past = there is not None and float(there.mid() if isinstance(there, arb) else there) > largest
        return changed_value(value, lambda v: 2 * v + 1, lambda truth: not truth) if past else value

    return variant


def _part(args: Any, at: tuple[Any, ...]) -> Any:
    found = args
    for key in at:
        if key == "length":
            return len(found) if isinstance(found, (tuple, list)) else None
        try:
            found = found[key] if isinstance(found, (tuple, list, Mapping)) else getattr(found, key)
        except (IndexError, KeyError, AttributeError, TypeError):
            return None
    return found if is_number(found) or isinstance(found, (arb, sympy.Basic)) else None


def rewritten(formula: Formula) -> dict[str, Formula]:
    """Variants of a formula's own code: each constant one more, each operator another, the largest for the sum."""
    if not isinstance(formula, FunctionType):
        return {}
    result: dict[str, Formula] = {}
    for name, code in (*_constants(formula.__code__), *_operators(formula.__code__)):
        result[name] = _with_code(formula, code, formula.__globals__)
    if "sum" in _names(formula.__code__):
        result["max for sum"] = _with_code(formula, formula.__code__, {**formula.__globals__, "sum": _largest})
    return result


def _with_code(formula: FunctionType, code: CodeType, names: dict[str, Any]) -> Formula:
    return FunctionType(code, names, formula.__name__, formula.__defaults__, formula.__closure__)


def _largest(values: Any, start: Any = 0) -> Any:
    return max(values, default=start)


def _names(code: CodeType) -> set[str]:
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*(_names(part) for part in inner))


def _constants(code: CodeType) -> list[tuple[str, CodeType]]:
    found: list[tuple[str, CodeType]] = []
    for place, const in enumerate(code.co_consts):
        if isinstance(const, CodeType):
            found += [(name, _const(code, place, inner)) for name, inner in _constants(const)]
        elif is_number(const):
            found.append((f"{const} -> {const + 1} (constant {place})", _const(code, place, const + 1)))
    return found[:_CONSTANTS]


def _const(code: CodeType, place: int, value: Any) -> CodeType:
    return code.replace(co_consts=(*code.co_consts[:place], value, *code.co_consts[place + 1:]))


def _operators(code: CodeType) -> list[tuple[str, CodeType]]:
    signs = [sign for _, sign in opcode._nb_ops]  # type: ignore[attr-defined]  # the table that dis itself reads
    found: list[tuple[str, CodeType]] = []
    for step in dis.get_instructions(code):
        if step.opname == "BINARY_OP" and step.arg is not None and signs[step.arg] in _SIGNS:
            other = _SIGNS[signs[step.arg]]
            raw = bytearray(code.co_code)
            raw[step.offset + 1] = signs.index(other)
            name = f"{signs[step.arg]} -> {other} (operator {len(found) + 1})"
            found.append((name, code.replace(co_code=bytes(raw))))
    return found[:_OPERATORS]
