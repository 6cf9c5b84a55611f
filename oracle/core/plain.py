"""Records as JSON: what JSON lacks is written in one way, so that a record says by hand only what is not its fields.

A record whose JSON is its fields needs nothing. One whose JSON differs has a `to_json` that says how.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracle.core.enclosure import Enclosure


def plain(value: Any) -> Any:
    """A value in what JSON has; a TypeError for what has no such form.

    A record is what its `to_json` says, or else the object of its fields; an enclosure the object of its ends, as
    decimals rounded outward; a member of an enumeration its value; a fraction or a path its text; a tuple a list.
    """
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Enclosure):
        return dict(zip(("lower", "upper"), value.to_decimals(), strict=True))
    if is_dataclass(value) and not isinstance(value, type):
        return by_fields(value)
    if isinstance(value, Mapping):
        return plain_object(value)
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction | Path):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{value!r} has no form in JSON")


def plain_object(value: Mapping[Any, Any]) -> dict[str, Any]:
    """A mapping as a JSON object, with `plain` values."""
    return {str(plain(key)): plain(entry) for key, entry in value.items()}


def by_fields(record: Any, **more: Any) -> dict[str, Any]:
    """The JSON object of a record's fields, in their order; `more` follows, or stands in place of a field."""
    return picked(record, *(field.name for field in fields(record))) | plain_object(more)


def picked(record: Any, *names: str) -> dict[str, Any]:
    """The JSON object of some attributes of a record: fields, and what follows from them."""
    return {name: plain(getattr(record, name)) for name in names}


def json_text(value: Any) -> str:
    """One JSON document, as text that a terminal shows and does not obey; records are written as `plain` says."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False)
    return "\n".join(line if line.isprintable() else "".join(map(_shown, line)) for line in text.split("\n"))


def _shown(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
