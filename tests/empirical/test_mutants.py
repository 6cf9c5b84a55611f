"""The machine for planted bugs: what becomes of a mutant, records that make no sense, code put back; its command.

The bugs themselves are run by tests/meta/test_planted.py.
"""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from empirical.mutants.changes import code
from empirical.mutants.mutant import NOTHING, Check, Detection, Mutant, judge
from oracle.core.errors import DomainError, OracleError
from tests.commands import command


def test_outcomes_of_mutants() -> None:
    known = {
        "fires": Check("fires", lambda item: Detection(True, "")),
        "sleeps": Check("sleeps", lambda item: Detection(False, "")),
    }

    def outcome(severity: str, caught_by: tuple[str, ...], spared_by: tuple[str, ...] = ()) -> str:
        names: dict[str, Any] = {"caught_by": caught_by, "spared_by": spared_by}
        return judge(Mutant("gdp.delta", "x", NOTHING, severity=severity, origin="here", **names), known).outcome

    assert outcome("C", ("fires",)) == outcome("U", ("fires",), ("sleeps",)) == "KILLED"
    assert outcome("C", ("fires", "sleeps")) == "SURVIVED"
    assert outcome("E", (), ("sleeps",)) == "SPARED"
    assert outcome("E", (), ("fires",)) == outcome("U", ("fires",), ("fires",)) == "FALSE_ALARM"


@pytest.mark.parametrize(("wrong", "words"), [
    ({"severity": "X"}, "severity = X is none of C, T, N, U, E"), ({"caught_by": ()}, "must be caught"),
    ({"severity": "E"}, "must be caught"), ({"severity": "E", "caught_by": ()}, "spared by one"),
    ({"caught_by": ("nobody",)}, "check = nobody is unknown"),
])
def test_a_record_of_a_mutant_that_makes_no_sense_is_refused(wrong: dict[str, Any], words: str) -> None:
    right: dict[str, Any] = {"of": "gdp.delta", "severity": "C", "caught_by": ("safe side",)}
    with pytest.raises(OracleError, match=words):
        judge(Mutant(title="x", changes=NOTHING, origin="here", **{**right, **wrong}))
    with pytest.raises(OracleError, match="of = nothing is no bound"):
        Mutant(title="x", changes=NOTHING, origin="here", **{**right, "of": "nothing"}).planted()


def test_code_is_put_back_when_a_mutant_is_done_and_when_its_check_fails() -> None:
    honest = math.sqrt
    bug = code("machinery", {"math:sqrt": lambda right: lambda x: 2 * right(x)})
    for error in ((), (ArithmeticError,)):
        with pytest.raises(ArithmeticError) if error else nullcontext(), bug.plant("a thing") as wrong:
            assert wrong == "a thing"
            assert math.sqrt(4) == 4
            for kind in error:
                raise kind
        assert math.sqrt is honest
    with pytest.raises(DomainError, match="what = elsewhere"):
        code("elsewhere", {})


@pytest.mark.full
def test_mutants_command(tmp_path: Path) -> None:
    file = tmp_path / "mutants.json"
    done = command("mutants", "--json", str(file))
    assert done.returncode == 0, done.stdout
    assert all(row["good"] for row in json.loads(file.read_text()))
