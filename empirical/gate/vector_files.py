"""Files of test vectors: one a bound, JSON, shipped with the package; VECTORS.md is their contract.

`load("gaussian.epsilon")` reads a shipped file, `names()` lists them. A file is written with one case a line, so that a
change is a line of a diff; numbers that carry a certificate are decimal strings, never JSON numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from empirical.gate.making.cases import Case, Expected, Text
from oracle.core.errors import VectorError
from oracle.core.reading import read_json
from oracle.core.registry import named
from oracle.running.outputs import write_bytes

SHIPPED = Path(__file__).parent / "vectors"  # told: as data, by whoever asks for a bound
UNANSWERED = "unanswered"
"""The folder, beside the files, of the cells without a case and the reasons."""
SCHEMAS = Path(__file__).parent / "schemas"  # told: they accept a file or refuse it, and change no number
VERSION = "3.0.0"
"""Of the vectors and of the meaning of the verdicts, together (VECTORS.md says when which digit rises)."""


@dataclass(frozen=True)
class VectorFile:
    """One file: everything before the tests as it stands there (`header`), and its cases by rising number."""

    header: Mapping[str, Any]
    cases: tuple[Case, ...]

    @property
    def bound(self) -> str:
        """The bound that its cases ask about."""
        return str(self.header["bound"])

    @property
    def version(self) -> str:
        """The version of the contract it was written under."""
        return str(self.header["vectorsVersion"])

    @property
    def safe(self) -> str:
        """The side on which an answer may err: "upper" or "lower"."""
        return str(self.header["safe"])

    @property
    def notes(self) -> Mapping[str, Mapping[str, Any]]:
        """What each flag of its cases means: bugType, description, effect, links."""
        notes: Mapping[str, Mapping[str, Any]] = self.header["notes"]
        return notes


def in_turn(cases: Sequence[Case]) -> list[Case]:
    """The cases in the order in which a budget is spent: of all kinds in turn (a kind is the first two flags)."""
    kinds: dict[tuple[bool, tuple[str, ...]], int] = {}
    turns = []
    for place, case in enumerate(cases):
        kind = (case.valid, case.flags[:2])
        turns.append((kinds.get(kind, 0), place))
        kinds[kind] = kinds.get(kind, 0) + 1
    return [cases[place] for _turn, place in sorted(turns)]


def names(folder: Path = SHIPPED) -> list[str]:
    """The bounds that have a file, sorted."""
    there = folder.glob("*.json") if os.path.isdir(folder) else ()
    return sorted(path.name.removesuffix(".json") for path in there)


def load(bound: str, folder: Path = SHIPPED) -> VectorFile:
    """The vectors of a bound, or an error that names the nearest bounds that have some."""
    path = named({name: folder / f"{name}.json" for name in names(folder)}, "bound", bound)
    try:
        return decode(read(path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VectorError(f"{path} is no file of vectors: {error!r}") from None


def unanswered(bound: str, folder: Path = SHIPPED) -> dict[str, str]:
    """The cells of a bound's everyday domain in which nothing could be answered, with the reason."""
    path = folder / UNANSWERED / f"{bound}.json"
    return {str(cells): str(why) for cells, why in read(path).items()} if path.exists() else {}


def save_unanswered(bound: str, folder: Path, reasons: Mapping[str, str]) -> None:
    """Write these cells, a line each; there is no file where there are none."""
    path = folder / UNANSWERED / f"{bound}.json"
    if reasons:
        _write(path, json.dumps(reasons, indent=0, ensure_ascii=False) + "\n")
    else:
        path.unlink(missing_ok=True)


def read(path: Path) -> dict[str, Any]:
    """The JSON object in a file, or an error that says why it cannot be read."""
    document = read_json(path, fault=VectorError)
    if not isinstance(document, dict):
        raise VectorError(f"{path} is no file of vectors: it holds no JSON object")
    return document


def decode(document: Mapping[str, Any]) -> VectorFile:
    """The cases of a JSON object that follows the schema."""
    if not isinstance(document["tests"], list) or not isinstance(document["bound"], str):
        raise TypeError("tests is no list, or bound no text")
    cases = tuple(_case(document["bound"], test) for test in document["tests"])
    return VectorFile({key: value for key, value in document.items() if key != "tests"}, cases)


def _case(bound: str, test: Mapping[str, Any]) -> Case:
    expected = None
    if test["result"] == "valid":
        expected = Expected.parse(**test["expected"], attained=test.get("attained"))
    given: dict[str, Text] = {
        name: tuple(text) if isinstance(text, list) else text for name, text in test["input"].items()
    }
    return Case(bound, test["tcId"], given, expected, tuple(test["flags"]), test["comment"])


def save(path: Path, document: Mapping[str, Any]) -> None:
    """Write a file, whole or not at all; the same document always gives the same bytes."""
    _write(path, encode(document))


def _write(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def encode(document: Mapping[str, Any]) -> str:
    """The text of a file: the header indented, then one test a line."""
    header = json.dumps({key: value for key, value in document.items() if key != "tests"}, indent=1, ensure_ascii=False)
    tests = ",\n".join("  " + json.dumps(test, ensure_ascii=False) for test in document["tests"])
    return f'{header[:-2]},\n "tests": [\n{tests}\n ]\n}}\n'
