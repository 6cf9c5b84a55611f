"""The parts of a statement, by their places: a number, a word, a formula in a tuple, a table or a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb
from sympy import Basic, MatrixBase

Place = tuple[Any, ...]
"""Keys from the whole to a part: positions of a tuple or list, keys of a mapping, names of a record's fields."""


def leaves(says: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The innermost parts of a statement and their places."""
    inner = _children(says)
    if inner is None:
        yield at, says
        return
    for key, value in inner:
        yield from leaves(value, (*at, key))


def put(says: Any, at: Place, part: Any) -> Any:
    """The statement with another part at a place."""
    if not at:
        return part
    key, *rest = at
    if isinstance(says, Mapping):
        return {**says, key: put(says[key], tuple(rest), part)}
    if isinstance(says, (tuple, list)):
        changed = [put(value, tuple(rest), part) if i == key else value for i, value in enumerate(says)]
        return type(says)(changed) if type(says) in (tuple, list) else type(says)(*changed)  # a named tuple
    return replace(says, **{key: put(getattr(says, key), tuple(rest), part)})


def transformed(says: Any, change: Callable[[Place, Any], Any]) -> Any:
    """The statement with every part changed."""
    result = says
    for at, part in leaves(says):
        result = put(result, at, change(at, part))
    return result


def _children(says: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(says, Mapping):
        return list(says.items())
    if isinstance(says, (tuple, list)):
        return list(enumerate(says))
    if is_dataclass(says) and not isinstance(says, type):
        return [(item.name, getattr(says, item.name)) for item in fields(says) if item.init]
    return None


def is_number(value: Any) -> bool:
    """Whether it is a number that can be made larger."""
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


class NotApplicableError(Exception):
    """A change does not apply to a value of this type."""


def changed_value(value: Any, change: Callable[[Any], Any], opposite: Callable[[bool], bool]) -> Any:
    """A formula's answer, changed: numbers and expressions by `change`, truth values by `opposite`, others within."""
    if isinstance(value, bool):
        return opposite(value)
    if isinstance(value, int):
        return change(Fraction(value))
    if isinstance(value, (float, Fraction, arb, Basic, MatrixBase)):
        return change(value)
    inner = _children(value)
    if inner is None:
        raise NotApplicableError(type(value).__name__)
    result = value
    for key, part in inner:
        result = put(result, (key,), changed_value(part, change, opposite))
    return result
