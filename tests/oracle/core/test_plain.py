"""Records as JSON: each kind of value in its one form, and nothing that has none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from flint import arb

from oracle.core.enclosure import Dyadic, Enclosure
from oracle.core.plain import by_fields, picked, plain


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    name: str
    share: Fraction

    @property
    def twice(self) -> Fraction:
        return 2 * self.share


@dataclass(frozen=True)
class Outer:
    inner: Inner
    own: Said
    colours: tuple[Colour, ...]


@dataclass(frozen=True)
class Said:
    secret: int

    def to_json(self) -> dict[str, Any]:
        return {"said": self.secret + 1}


THIRD = Inner("a", Fraction(1, 3))
FORMS: list[tuple[Any, Any]] = [
    (None, None), (True, True), (3, 3), (0.5, 0.5), ("a", "a"), (Colour.RED, "red"), (Fraction(1, 3), "1/3"),
    (Path("a") / "b", "a/b"), ((1, (2,)), [1, [2]]), (MappingProxyType({Colour.RED: (1,)}), {"red": [1]}),
    (Enclosure(Dyadic(1, -1), Dyadic(1, 0)), {"lower": "0.5", "upper": "1"}),
    (THIRD, {"name": "a", "share": "1/3"}), (Said(1), {"said": 2}),
    (Outer(THIRD, Said(1), (Colour.RED,)), {"inner": plain(THIRD), "own": {"said": 2}, "colours": ["red"]}),
]


@pytest.mark.parametrize(("value", "form"), FORMS)
def test_every_kind_of_value_has_one_form(value: Any, form: Any) -> None:
    assert plain(value) == form
    assert type(plain(value)) is type(form)
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == form


@pytest.mark.parametrize("value", [object(), arb(1), {1, 2}, b"a", Colour, Inner])
def test_what_has_no_form_is_an_error(value: Any) -> None:
    with pytest.raises(TypeError, match="no form in JSON"):
        plain([value])


def test_fields_stand_in_their_order_and_more_follows_or_replaces() -> None:
    assert list(by_fields(THIRD, kind=Colour.RED, name="b").items()) == [
        ("name", "b"), ("share", "1/3"), ("kind", "red"),
    ]
    assert list(picked(THIRD, "twice", "name").items()) == [("twice", "2/3"), ("name", "a")]
