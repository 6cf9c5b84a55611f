"""The JSON schemas of vector files: one for each kind of answer, strict, written from one text.

`python -m schema` writes them to `empirical/gate/schemas`; a test holds the shipped files to this module.
What a schema cannot say (numbers that rise, flags that have a note, inputs that fit the bound) is for the linter.
"""

from __future__ import annotations

import json
from typing import Any

from empirical.gate.making.flags import BUG_TYPES
from empirical.gate.vector_files import SCHEMAS
from oracle.core.attainment import TIGHTNESS
from oracle.core.registry import NEIGHBOURS, RELEASED, SAFE, THREAT_MODELS, UNITS
from oracle.running.outputs import write_bytes

_NON_NEGATIVE = r"^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?(e-?[1-9][0-9]*)?$"
_UP_TO_ONE = r"^(0|1|0\.[0-9]*[1-9]|[1-9](\.[0-9]*[1-9])?e-[1-9][0-9]*)$"
_ANSWERS = {
    "epsilon": ("an epsilon, at least 0", _NON_NEGATIVE),
    "delta": ("a delta, between 0 and 1", _UP_TO_ONE),
    "mu": ("a mu of Gaussian differential privacy, at least 0", _NON_NEGATIVE),
    "sigma": ("a scale of noise, at least 0", _NON_NEGATIVE),
    "rdp": ("a Renyi divergence, at least 0", _NON_NEGATIVE),
    "risk": ("an excess risk, at least 0", _NON_NEGATIVE),
    "smoothness": ("a smoothness, at least 0", _NON_NEGATIVE),
    "contraction": ("a Lipschitz constant, at least 0", _NON_NEGATIVE),
    "step_size": ("a step size or contraction, at least 0", _NON_NEGATIVE),
    "dimension": ("an effective dimension, at least 0", _NON_NEGATIVE),
}


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "additionalProperties": False,
        "required": [name for name in properties if name not in optional],
    }


def _array(items: dict[str, Any], *, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


_TEXT = {"type": "string", "minLength": 1}
_ANY_TEXT = {"type": "string"}
_FLAG = {"type": "string", "pattern": "^[A-Z][A-Za-z]+$"}
_VERSION = {"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"}


def of(unit: str) -> dict[str, Any]:
    """The schema of the files of bounds with that kind of answer."""
    what, pattern = _ANSWERS[unit]
    end = {"type": "string", "pattern": pattern}
    head = {
        "tcId": {"type": "integer", "minimum": 1}, "comment": _ANY_TEXT,
        "flags": {**_array(_FLAG, least=1), "uniqueItems": True},
        "input": {
            "type": "object", "minProperties": 1, "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
            "additionalProperties": {"anyOf": [_TEXT, _array(_TEXT, least=1)]},
        },
    }
    valid = _object(
        {**head, "result": {"const": "valid"}, "expected": _object({"lower": end, "upper": end}), "attained": end},
        optional=("attained",),
    )
    invalid = _object({**head, "result": {"const": "invalid"}})
    note = _object({
        "bugType": {"enum": list(BUG_TYPES)}, "description": _TEXT, "effect": _TEXT,
        "links": _array({"type": "string", "pattern": "^https://[^ ]+$"}),
    })
    parameter = _object({
        "name": _TEXT, "kind": {"enum": ["real", "integer", "schedule", "choice"]}, "domain": _TEXT,
        "meaning": _TEXT, "unit": _ANY_TEXT,
    })
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Vectors of a bound whose answer is {what}",
        **_object({
            "schema": {"const": f"{unit}.schema.json"}, "vectorsVersion": _VERSION, "bound": _TEXT,
            "unit": {"const": unit}, "safe": {"enum": list(SAFE)},
            "tightness": _object({"kind": {"enum": list(TIGHTNESS)}, "why": _TEXT}),
            "neighbours": {"enum": list(NEIGHBOURS)},
            "threatModel": {"enum": list(THREAT_MODELS)}, "released": {"enum": list(RELEASED)}, "summary": _TEXT,
            "formula": _TEXT, "source": _array(_TEXT), "parameters": _array(parameter, least=1),
            "generator": _object({"name": _TEXT, "version": _TEXT, "arithmetic": _TEXT, "width": _TEXT}),
            "notes": {"type": "object", "propertyNames": _FLAG, "additionalProperties": note},
            "numberOfTests": {"type": "integer", "minimum": 1}, "lastTcId": {"type": "integer", "minimum": 1},
            "tests": _array({"oneOf": [valid, invalid]}, least=1),
        }, optional=("tightness",)),
    }


def write() -> None:
    """Write every schema to the package."""
    for unit in UNITS:
        text = json.dumps(of(unit), indent=1) + "\n"
        write_bytes(SCHEMAS / f"{unit}.schema.json", text.encode())


if __name__ == "__main__":
    write()
