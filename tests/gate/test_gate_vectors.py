"""The shipped vectors: complete, reproducible, held to second opinions; and how they are made, numbered and resumed."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest
from flint import ctx

from empirical.gate import vector_files
from empirical.gate.making import schema
from empirical.gate.making.cases import Case, arguments
from empirical.gate.making.flags import WIDE
from empirical.gate.making.make import POPULAR, make
from empirical.gate.making.points import texts
from empirical.gate.ranges import gathered
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError, VectorError
from oracle.core.registry import UNITS, bound, bounds
from oracle.running.console import run
from reports.cli import app
from tests.opinions import OPINIONS

CHEAP = ("composition.basic", "gdp.delta", "laplace.delta", "randomised-response.epsilon", "convex-relu.step")
SHIPPED = vector_files.names()


def test_every_bound_has_a_file_and_every_file_a_bound() -> None:
    assert sorted(bounds()) == SHIPPED


def test_there_are_enough_cases_and_they_are_small() -> None:
    counts = {name: len(vector_files.load(name).cases) for name in SHIPPED}
    assert sum(counts.values()) >= 12_000
    assert min(counts.values()) >= 30
    assert {name for name in SHIPPED if name.startswith(POPULAR) and counts[name] < 40} == set()
    # As they are shipped: a wheel is a zip file, and git compresses, too.
    packed = [zlib.compress((vector_files.SHIPPED / f"{name}.json").read_bytes()) for name in SHIPPED]
    assert sum(map(len, packed)) < 2_000_000


def test_every_file_asks_for_answers_and_for_refusals() -> None:
    for name in SHIPPED:
        cases = vector_files.load(name).cases
        assert sum(case.valid for case in cases) >= 12
        assert sum(not case.valid for case in cases) >= 2


def test_every_word_is_asked() -> None:
    for name in SHIPPED:
        valid = [case for case in vector_files.load(name).cases if case.valid]
        for parameter in bound(name).parameters:
            if parameter.kind == "choice":
                assert {case.input[parameter.name] for case in valid} == set(parameter.choices), name


@pytest.mark.parametrize("unit", UNITS)
def test_the_schemas_are_those_of_the_module(unit: str) -> None:
    assert json.loads((vector_files.SCHEMAS / f"{unit}.schema.json").read_text(encoding="utf-8")) == schema.of(unit)


@pytest.mark.parametrize("name", CHEAP)
def test_made_again_they_are_the_same_bytes(name: str) -> None:
    shipped = (vector_files.SHIPPED / f"{name}.json").read_text(encoding="utf-8")
    again = make(bound(name), vector_files.load(name))
    # What is certified does not depend on the version of the arithmetic; the record of it does.
    assert vector_files.encode({**again, "generator": vector_files.load(name).header["generator"]}) == shipped


def test_made_from_nothing_twice_they_are_the_same() -> None:
    first, second = (vector_files.encode(make(bound("gdp.delta"))) for _ in range(2))
    assert first == second


def opinion_cases(name: str) -> list[Case]:
    """Cases from the range in which the second opinions are good and quick: the points spread over it."""
    return [case for case in vector_files.load(name).cases if WIDE.name in case.flags][:2]


@pytest.mark.full
@pytest.mark.parametrize("name", SHIPPED)
def test_a_second_opinion_lies_inside(name: str) -> None:
    cases = opinion_cases(name)
    assert cases
    for case in cases:
        assert case.expected is not None
        with ctx.workprec(300):
            enclosure = Enclosure.between(ball(case.expected.lower), ball(case.expected.upper))
        OPINIONS[name].judge(arguments(bound(name), case.input), enclosure)


def test_a_case_keeps_its_number_and_no_number_is_given_twice() -> None:
    item = bound("composition.basic")
    whole = make(item)
    moved = {**whole["tests"][3], "tcId": 905}
    former = {**whole, "tests": [whole["tests"][1], moved], "numberOfTests": 2, "lastTcId": 1000}
    again = make(item, vector_files.decode(former))
    numbers = {json.dumps(test["input"]): test["tcId"] for test in again["tests"]}
    assert numbers[json.dumps(moved["input"])] == 905
    assert numbers[json.dumps(whole["tests"][1]["input"])] == 2
    new = sorted(set(numbers.values()) - {2, 905})
    assert new == list(range(1001, 1001 + len(new)))
    assert again["lastTcId"] == max(new)


def test_a_case_is_never_dropped_silently() -> None:
    document = make(bound("composition.basic"))
    document["tests"][0]["input"]["epsilon"] = "1e-4000"
    with pytest.raises(VectorError, match=r"composition.basic/1 cannot be certified"):
        make(bound("composition.basic"), vector_files.decode(document))


def test_the_command_makes_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["vectors", "make", "--bound", "gdp.delta", "--bound", "composition.basic", "--out", str(tmp_path)]
    (tmp_path / "gdp.delta.json").write_bytes((vector_files.SHIPPED / "gdp.delta.json").read_bytes())
    assert run(app, words) == 0
    assert "in 2 files" in capsys.readouterr().out
    assert vector_files.load("composition.basic", tmp_path).cases == vector_files.load("composition.basic").cases
    assert run(app, words) == 0
    assert "0 made now" in capsys.readouterr().out
    assert run(app, [*words, "--force"]) == 0
    assert "2 made now" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["composition.basic.json", "gdp.delta.json"]


def test_bad_usage_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["vectors", "make", "--bound", "gaussian.epsilo", "--out", str(tmp_path)]) == 2
    assert "bound = gaussian.epsilo is unknown" in capsys.readouterr().err
    assert run(app, ["vectors", "make", "--workers", "0", "--out", str(tmp_path)]) == 2
    assert "workers = 0 is outside its domain" in capsys.readouterr().err
    assert run(app, ["vectors", "lint", "--folder", str(tmp_path)]) == 2
    assert "has no files of vectors" in capsys.readouterr().err


def test_a_missing_or_broken_file_is_said_clearly(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match=r"bound = gaussian\.epsilo is unknown"):
        vector_files.load("gaussian.epsilo")
    for text, why in (("{", "is not JSON"), ("[]", "no JSON object"), ('{"bound": "x"}', "no file of vectors")):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(VectorError, match=why):
            vector_files.load("x", tmp_path)


def test_texts_are_read_as_the_doubles_they_came_from() -> None:
    doubles = (0.1, 1e-5, 1e300, 5e-324, 1 - 2**-53, 1 + 2**-52, 3.0, 1e16, 0.999999999, 123456.789)
    for value in doubles:
        (text,) = texts({"x": value}).values()
        assert float(str(text)) == value
    assert texts({"a": 7, "b": "replace", "c": (0.5, 2.0)}) == {"a": "7", "b": "replace", "c": ("0.5", "2")}
    # Next to 1 the text is the double itself: what matters there is the distance from 1.
    assert texts({"x": 1 + 2**-52})["x"] == "1.0000000000000002220446049250313080847263336181640625"


@pytest.mark.parametrize("table", ["RANGES", "MAPS", "CORNERS", "FEW_POINTS"])
def test_what_is_said_of_a_range_is_said_of_a_parameter_there_is(table: str) -> None:
    """A stale name would be passed over in silence, and the parameter be drawn from its whole domain."""
    known = {name: {parameter.name for parameter in item.parameters} for name, item in bounds().items()}
    for key in gathered(table):
        name, parameter = (key, None) if isinstance(key, str) else key
        assert name in known
        assert parameter is None or parameter in known[name], key
