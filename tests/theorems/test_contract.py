"""What the runner asks of every finding: ends tried, formulas that tell no number from others, honest steps, order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sympy

from oracle.core.domain import positive, real
from oracle.core.errors import OracleError
from oracle.running.console import run
from reports.cli import app
from reports.render import mathml
from theorems.background.shifted_interpolation import RULE, coupling_steps
from theorems.branches import branch_in
from theorems.claim import Claim, by_severity, claims, expectations, judge
from theorems.given import Domain
from theorems.verdict import (
    ALL,
    Evidence,
    Finding,
    Scope,
    Verdict,
    argued,
    at_points,
    broken_rule,
    computed,
    instance,
    proof,
    sampled,
)

THEOREMS = Path(__file__).parents[2] / "theorems"
Check = Callable[[Any, Domain], Finding]


def planted(check: Check, says: Any = None, untested: dict[str, str] | None = None) -> Claim:
    return Claim("planted/ends", "", "", "", (positive("x"), real("y")), says, check, "HOLDS PROVED",
                 untested=untested or {})


HOLDING: dict[str, Callable[[], Finding]] = {
    "PROVED": lambda: proof(computed("a step", True)),
    "ARGUED": lambda: proof(argued("in words"), computed("and a step", True)),
    "CHECKED_AT_POINTS": lambda: at_points("seven", 7),
}


@pytest.mark.parametrize("evidence", HOLDING)
def test_whatever_holds_was_tried_at_the_ends_of_its_hypotheses(evidence: str) -> None:
    def one_of_two(says: Any, given: Domain) -> Finding:
        given.values("x")
        return HOLDING[evidence]()

    with pytest.raises(OracleError, match=f"calls {evidence} what it never tried at the ends of y"):
        judge(planted(one_of_two), None)
    assert judge(planted(one_of_two, untested={"y": "planted"}), None).evidence.value == evidence


def test_a_printed_number_has_no_ends() -> None:
    item = replace(planted(lambda says, given: instance("a number")), hypotheses=())
    assert judge(item, None).verdict is Verdict.HOLDS


def helper(x: Any) -> Any:
    return 0 if x == 7 else x


def harmless(x: Any) -> Any:
    return 2 * x if x < 7 else sum(x for _ in range(3))


class Told:
    def __call__(self, x: Any) -> Any:
        return [x, 0][x == 7]


def excepting(x: Any) -> Any:
    try:
        return int(x) * 0
    except TypeError:
        return x


TELLING: dict[str, Any] = {
    "==": lambda x: 0 if x == 7 else x, "!=": lambda x: x * (x != 7), "in": lambda x: 0 if x in (7, 8) else x,
    "is": lambda x: 0 if x is None else x, "truth": lambda x: x or 1, "table": lambda x: {7: 0}.get(x, x),
    "set": lambda x: x * (len({x, 7}) - 1), "type": lambda x: x if isinstance(x, sympy.Symbol) else 0,
    "attribute": lambda x: 0 if (x - 7).is_zero else x, "error": excepting, "called": lambda x: helper(x) + 1,
    "partial": partial(lambda a, x: a * helper(x), 2), "object": Told(), "within": {"a": (1, helper)},
    "kept": (lambda inner: lambda x: inner(x))(helper), "inner": lambda xs: sum(x for x in xs if x != 7),
}


@pytest.mark.parametrize("how", TELLING)
def test_a_formula_that_tells_one_number_from_others_is_found(how: str) -> None:
    assert branch_in(TELLING[how])


@pytest.mark.parametrize("formula", [harmless, lambda x: sympy.Max(x, 1) ** 2, "max", (1, {"a": abs}), None])
def test_an_order_and_an_expression_tell_nothing(formula: Any) -> None:
    assert branch_in(formula) == ""


def test_no_proof_for_all_values_takes_such_a_formula() -> None:
    def on_symbols(says: Any, given: Domain) -> Finding:
        list(given.points())
        x = given.symbol("x")
        return proof(computed("it is x", says(x) - x == 0))

    assert judge(planted(on_symbols), lambda x: x).evidence is Evidence.PROVED
    with pytest.raises(OracleError, match="what may differ at single numbers: == in helper"):
        judge(planted(on_symbols), helper)


def test_a_step_at_points_is_not_computed() -> None:
    step = sampled("at seven points", True)
    assert (step.kind, step.computed) == ("sampled", False)
    assert proof(computed("for all", True), step).evidence is Evidence.ARGUED
    assert proof(computed("for all", True), sampled("at seven points", None)).verdict is Verdict.UNDECIDED
    assert "argues" in broken_rule(Finding(Verdict.HOLDS, Evidence.PROVED, "so", scope=ALL, steps=(step,)))


def test_no_computed_step_goes_through_points() -> None:
    """A step that a generator over values, ranges or draws decides by calling something is `sampled`."""
    found = set()
    for path in sorted(THEOREMS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "computed":
                for inner in (part for arg in node.args[1:] for part in ast.walk(arg)):
                    if isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
                        over = {ast.unparse(loop.iter).partition("(")[0] for loop in inner.generators}
                        calls = any(isinstance(part, ast.Call) for part in ast.walk(inner.elt))
                        if calls and over & {"range", "given.values", "given.points", "effort"}:
                            found.add(f"{path.name}:{node.lineno}")
    assert found == set()


def test_the_coupling_of_shifted_interpolation_is_told_as_sampled() -> None:
    steps = coupling_steps(RULE, Domain(claims()["background/shifted-interpolation"].hypotheses))
    assert [step.kind for step in steps].count("sampled") == 1
    assert proof(*steps).evidence is Evidence.ARGUED


def as_expected(item: Claim, says: Any) -> Finding:
    """A planted finding, since only the order of a listing is asked for."""
    expected = expectations()[item.id]
    return Finding(expected.verdict, expected.evidence, "planted", {"x": "1/2 < 1"}, Scope("points", 5, 4, {"x": "R"}))


def ids(text: str) -> list[str]:
    """The claims of a listing, in its order; what is indented tells more of the one above."""
    words = [word for line in text.splitlines() if not line.startswith(" ") for word in line.split()[:2]]
    return list(dict.fromkeys(word for word in words if word in claims()))


@pytest.mark.parametrize("command", [("claims",), ("check", "--paper", "cs208", "--workers", "1")])
def test_lists_for_people_begin_with_what_matters_most(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theorems.run.judge", as_expected)
    assert run(app, command) == 0
    told = ids(capsys.readouterr().out)
    assert told == [item.id for item in by_severity(claims()[name] for name in told)]
    ranks = [(claims()[name].severity.rank, expectations()[name].verdict is not Verdict.REFUTED) for name in told]
    assert ranks == sorted(ranks)
    assert len(told) > 1


def test_every_statement_can_be_shown_as_a_formula() -> None:
    for item in claims().values():
        mathml(item.statement)
