"""False variants of a formula: its answer changed everywhere or beyond what a check looks at, and its code changed.

A formula is watched while its checker asks it, and what it is asked is noted. "Beyond" is the variant that agrees with
the formula up to the largest argument: what a check of finitely many cases cannot tell from the truth. Asked about a
symbol it answers with the case distinction itself, which a proof for all values does not take for the formula.
"Between" differs at one number among those that were asked, where no symbol was; "only at" differs at the first number
that was asked, an end of the hypotheses as a rule, where no symbol shows it: a check must use the numbers it asks for.
"Hidden" differs at one number by a branch in its code, which only a look at the code finds (`theorems.branches`).
"""

from __future__ import annotations

import dis
import opcode
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

import sympy
from flint import arb

from theorems.leaves import Place, changed_value, is_number, leaves

Formula = Callable[..., Any]
_CONSTANTS, _OPERATORS = 6, 6  # changes of each kind to one formula's code
_HIDDEN = Fraction(355, 113)  # a number that nobody asks about
_SIGNS = {"+": "-", "-": "+", "*": "+", "/": "*", "**": "*"}


class Watched:
    """A formula that notes the numbers, the longest lists and the symbols that it is asked about, by their place."""

    def __init__(self, formula: Formula) -> None:
        self.formula = self.__wrapped__ = formula  # what is said is the formula, and not the watching
        self.largest: dict[Place, float] = {}
        self.whole: dict[Place, bool] = {}
        self.asked: dict[Place, list[float]] = {}
        self.symbolic: set[Place] = set()
        self.only_truths, self.some_balls = True, False

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The formula's answer; what it was asked is noted."""
        for at, size, whole in sizes((args, options)):
            self.largest[at] = max(size, self.largest.get(at, size))
            self.whole[at] = whole and self.whole.get(at, True)
            self.asked.setdefault(at, []).append(size)
        self.symbolic.update(at for at, part in leaves((args, options)) if _is_symbolic(part))
        answer = self.formula(*args, **options)
        self.only_truths = self.only_truths and isinstance(answer, bool)
        self.some_balls = self.some_balls or any(isinstance(part, arb) for _, part in leaves(answer))
        return answer


def _is_symbolic(part: Any) -> bool:
    return isinstance(part, (sympy.Basic, sympy.MatrixBase)) and bool(part.free_symbols)


def sizes(args: Any) -> Iterator[tuple[Place, float, bool]]:
    """The numbers and the lengths in arguments, each with its place and whether it is whole."""
    for at, part in leaves(args):
        if is_number(part):
            yield at, float(part), isinstance(part, int) or (isinstance(part, Fraction) and part.denominator == 1)
        elif isinstance(part, arb) and part.is_finite():
            yield at, float(part.mid()), bool(part.is_integer())
    for place, part in enumerate(args[0]):
        if isinstance(part, (tuple, list)):
            yield (0, place, "length"), float(len(part)), True


def answers(watched: Watched) -> dict[str, Formula]:
    """Variants of a formula's answer, by their names; a truth value has its opposite only.

    A ball that is no number compares with nothing: a check that asks only "is it certainly against?" lets it through.
    """
    changes: Mapping[str, Callable[[Any], Any]] = {
        "sign": lambda value: -value, "1 % more": lambda value: value * 101 / 100,
        "1 % less": lambda value: value * 99 / 100, "squared": lambda value: value**2,
    }
    if watched.some_balls:
        changes = {**changes, "no number for balls": lambda value: arb("nan") if isinstance(value, arb) else value}
    return {
        name: _answering(watched.formula, change, (lambda truth: not truth) if name == "sign" else bool)
        for name, change in changes.items() if name == "sign" or not watched.only_truths
    }


def _answering(formula: Formula, change: Callable[[Any], Any], opposite: Callable[[bool], bool]) -> Formula:
    return _wrapping(lambda *args, **options: changed_value(formula(*args, **options), change, opposite), formula)


def beyond(watched: Watched) -> dict[str, Formula]:
    """The variants that differ only beyond the largest count, or twice the largest number above 1, that was asked."""
    result: dict[str, Formula] = {}
    for at, largest in watched.largest.items():
        if watched.whole[at] and largest >= 1:
            result[f"beyond {_told(at)} = {largest:g}"] = _beyond(watched.formula, at, largest)
        elif largest > 1:
            result[f"beyond {_told(at)} = {2 * largest:g}"] = _beyond(watched.formula, at, 2 * largest)
    return result


def between(watched: Watched) -> dict[str, Formula]:
    """The variants that differ at one number amid those that were asked, of arguments that no symbol ever was."""
    result: dict[str, Formula] = {}
    for at, numbers in watched.asked.items():
        found = sorted(set(numbers))
        gaps = [(low, high) for low, high in pairwise(found) if not watched.whole[at] or high - low > 1]
        if gaps and at not in watched.symbolic:
            low, high = gaps[len(gaps) // 2]
            hole = low + 1 if watched.whole[at] else (low + high) / 2
            result[f"between: {_told(at)} = {hole:g}"] = _only_at(watched.formula, at, hole, _more)
    return result


def only_at(watched: Watched) -> dict[str, tuple[Formula, ...]]:
    """The variants that differ at the first number that was asked: more there, and less there, by argument."""
    return {
        f"only at {_told(at)} = {numbers[0]:g}":
            tuple(_only_at(watched.formula, at, numbers[0], change) for change in (_more, _less))
        for at, numbers in watched.asked.items() if "length" not in at
    }


def hidden(formula: Formula) -> Formula:
    """The variant that differs at one number which nobody asks about, by a branch that a symbol does not take."""

    def variant(*args: Any, **options: Any) -> Any:
        value = formula(*args, **options)
        return _changed(value, _more) if any(part == _HIDDEN for _, part in leaves(args)) else value

    return variant


def _more(value: Any) -> Any:
    return value + abs(value) + 1


def _less(value: Any) -> Any:
    return value - abs(value) - 1


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    return changed_value(value, change, lambda truth: not truth)


def _only_at(formula: Formula, at: Place, number: float, change: Callable[[Any], Any]) -> Formula:
    def variant(*args: Any, **options: Any) -> Any:
        value, there = formula(*args, **options), _part((args, options), at)
        is_there = there is not None and not _is_symbolic(there) and _float(there) == number
        return _changed(value, change) if is_there else value

    return _wrapping(variant, formula)


def _wrapping(variant: Formula, formula: Formula) -> Formula:
    """The variant as a wrapper of the formula, so that its own code is not what is looked at."""
    vars(variant)["__wrapped__"] = formula
    return variant


def _float(there: Any) -> float:
    return float(there.mid() if isinstance(there, arb) else there)


def _told(at: Place) -> str:
    return "argument " + ".".join(str(key) for key in at[1:])


def _beyond(formula: Formula, at: Place, largest: float) -> Formula:
    limit = sympy.nsimplify(largest, rational=True)

    def variant(*args: Any, **options: Any) -> Any:
        value = formula(*args, **options)
        there = _part((args, options), at)
        if isinstance(there, sympy.Basic) and not there.is_number:
            return changed_value(value, lambda v: sympy.Piecewise((v, there <= limit), (2 * v + 1, True)), bool)
        past = there is not None and _float(there) > largest
        return _changed(value, _more) if past else value

    return _wrapping(variant, formula)


def _part(args: Any, at: Place) -> Any:
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
