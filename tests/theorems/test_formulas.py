"""Formulas that differ at one number from all others, however they tell it; steps and findings that compute nothing."""

from __future__ import annotations

import collections
import functools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy
from flint import arb

from oracle.core.domain import positive, positive_integer, real, unit_interval
from oracle.core.errors import OracleError
from theorems.branches import branch_in, ordering
from theorems.claim import Claim, claims, judge
from theorems.given import Domain
from theorems.mutation.variants import mutated, names_a_kind
from theorems.verdict import Evidence, Finding, Scope, Verdict, argued, broken_rule, computed, instance, proof, refuted

Formula = Callable[[Any], Any]


class Telling:
    """An object that tells 7 from all others, in whatever way it is asked."""

    def told(self, x: Any) -> Any:
        return 0 if x == 7 else x

    __getitem__ = __rmul__ = __rpow__ = told


THING = Telling()
DEFAULT = collections.defaultdict(lambda: 1, {7: 0})
SYMBOL = sympy.Symbol("x", positive=True)


@functools.cache
def kept(x: Any) -> Any:
    return 0 if x == 7 else x


def imports(x: Any) -> Any:
    from operator import ne

    return x * ne(x, 7)


def enclosed() -> dict[str, Formula]:
    """Formulas that hold what tells in their closures."""
    table, thing, symbols = DEFAULT.copy(), Telling(), {SYMBOL: 1, 7: 0}
    return {
        "table held": lambda x: x * table[x], "index held": lambda x: thing[x], "method held": lambda x: thing.told(x),
        "factor held": lambda x: x * thing, "table of symbols": lambda x: symbols[x], "bound method": thing.told,
    }


TELLING: dict[str, Formula] = {
    **enclosed(),
    "truth of a number": lambda x: x * bool(x - 7), "not": lambda x: x * (not (x - 7)),
    "any": lambda x: x * any([x - 7]), "isprime": lambda x: x + sympy.isprime(x),
    "Piecewise": lambda x: sympy.Piecewise((0, sympy.Eq(x, 7)), (x, True)),
    "Heaviside": lambda x: x * sympy.Heaviside(x - 7, 1), "sign": lambda x: x * sympy.sign(x - 7) ** 2,
    "Kronecker": lambda x: x * (1 - sympy.KroneckerDelta(x, 7)),
    "floor": lambda x: math.floor(1 / (1 + (x - 7) ** 2)) + x,
    "round": lambda x: round(x), "kept": lambda x: kept(x), "import": imports, "object": lambda x: THING.told(x),
    "table": lambda x: x * DEFAULT[x], "display": lambda x: {**{x: x}, **{7: 0}}[x],
    "equals": lambda x: x * x.equals(7), "dict": lambda x: dict.fromkeys((x, 7), 1)[x],
    "text": lambda x: x + len(f"{x}") - 1, "xor": lambda x: x ^ 7, "subs": lambda x: x.subs(x, 7),
    "contains": lambda x: x * (1 - (7,).__contains__(x)), "int": lambda x: x + 0 * int(x),
}
JUMPING: dict[str, Formula] = {
    "power of 0": lambda x: x + 0 ** abs(x - 7), "//": lambda x: x // 7, "%": lambda x: x % 7,
}


@pytest.mark.parametrize("how", TELLING)
def test_a_formula_that_tells_one_number_is_found_in_its_code(how: str) -> None:
    assert branch_in(TELLING[how])


def asked(formula: Formula) -> Claim:
    def check(says: Formula, given: Domain) -> Finding:
        says(given.symbol("x")), list(given.points())
        return proof(computed("never mind", bool(given.symbol("x").is_positive)))

    return Claim("planted/one-number", "", "", "", (positive("x"),), formula, check, "HOLDS PROVED")


@pytest.mark.parametrize("how", JUMPING)
def test_an_answer_that_may_jump_at_one_number_is_refused(how: str) -> None:
    assert not branch_in(JUMPING[how])
    with pytest.raises(OracleError, match="may differ at single numbers"):
        judge(asked(JUMPING[how]), JUMPING[how])


@pytest.mark.parametrize("formula", [
    lambda x: sympy.Max(x, 1) ** 2 + abs(x), lambda x: x >= 7, lambda x: sympy.sqrt(x) * Fraction(1, 2),
])
def test_what_computer_algebra_takes_as_it_is_passes(formula: Formula) -> None:
    assert branch_in(formula) == ""
    assert judge(asked(formula), formula).evidence is Evidence.PROVED


def test_a_branch_on_an_order_takes_a_part_of_a_ball_for_the_whole() -> None:
    def branching(x: Any) -> Any:
        return x + 1 if not x < 7 and x <= 7 else x  # 8 at 7, and 7 +- 1 at 7 +- 1

    def on_a_ball(says: Formula, given: Domain) -> Finding:
        given.values("x")
        return proof(computed("at most 9 on [6, 8]", bool(says(arb(7, 1)) < 9)))

    assert ordering(branching)
    assert ordering(lambda x: max(x, 7))
    assert not ordering(lambda x: x < 7)
    item = replace(asked(branching), check=on_a_ball)
    with pytest.raises(OracleError, match="branches for a part of a ball"):
        judge(item, branching)
    assert judge(item, lambda x: x).verdict is Verdict.HOLDS


@pytest.mark.parametrize("nothing", [arb("nan"), arb(0, "inf"), sympy.nan, sympy.zoo, math.nan])
def test_an_answer_that_is_against_nothing_holds_nowhere(nothing: Any) -> None:
    def check(says: Formula, given: Domain) -> Finding:
        says(*given.values("x")[:1])
        return proof(computed("never mind", says(Fraction(1)) is not None))

    with pytest.raises(OracleError, match="gives no number at"):
        judge(replace(asked(lambda x: nothing), check=check), lambda x: nothing)


@pytest.mark.parametrize("passed", [SYMBOL - 1, (False, "no"), lambda: False, 0.0, "False", [False]])
def test_a_step_comes_out_true_or_false_or_neither(passed: Any) -> None:
    with pytest.raises(OracleError, match="neither true nor false"):
        computed("it vanishes", passed)
    assert computed("so", SYMBOL > 0).passed is True
    assert computed("so", None).passed is False


def test_an_argument_of_words_only_is_not_argued() -> None:
    assert "without a computed step" in broken_rule(proof(argued("in words")))
    assert broken_rule(proof(argued("in words"), computed("and a number", 1 < 2))) == ""


def test_one_instance_is_no_statement_about_hypotheses() -> None:
    item = replace(asked(lambda x: x), check=lambda says, given: instance("the first of them"))
    with pytest.raises(OracleError, match="one instance, but has hypotheses: x"):
        judge(item, lambda x: x)
    everything = Finding(Verdict.HOLDS, Evidence.PROVED, "so", scope=Scope("instance", 1, 1))
    with pytest.raises(OracleError, match="one instance"):
        judge(replace(item, check=lambda says, given: everything), lambda x: x)


def test_whoever_says_nothing_that_could_be_otherwise_is_blind() -> None:
    for says in (None, "a word"):
        item = Claim("planted/blind", "", "", "", (), says, lambda says, given: instance("so"), "HOLDS PROVED")
        assert mutated(item).blind
    looks = Claim("planted/looks", "", "", "", (), "a word", _reading, "HOLDS PROVED")
    assert not mutated(looks).blind
    raising = replace(looks, check=lambda says, given: {"a word": instance("so")}[says])
    assert mutated(raising).blind, "an error is no verdict"


def _reading(says: Any, given: Domain) -> Finding:
    return instance("so") if says == "a word" else refuted("another word", {"word": says})


@pytest.mark.parametrize("pattern", ["*", "[[]0[]] *", "?0? *", "s*", "2 *", "* -*"])
def test_a_reason_names_the_change_that_it_is_about(pattern: str) -> None:
    assert not names_a_kind(pattern)


def test_every_reason_of_every_claim_names_its_change() -> None:
    reasons = ((name, pattern) for name, item in claims().items() for pattern in (*item.true_variants, *item.survivors))
    assert [(name, pattern) for name, pattern in reasons if not names_a_kind(pattern)] == []


def test_both_ends_of_every_hypothesis_are_among_the_points_however_many_there_are() -> None:
    names = [f"x{i}" for i in range(12)]
    given = Domain(tuple(unit_interval(name) for name in names))
    points = list(given.points(at_most=40))
    assert len(points) <= 40
    for name in names:
        assert {Fraction(0), Fraction(1)} <= {point[name] for point in points}


def test_the_chart_of_a_whole_interval_runs_through_all_of_it() -> None:
    given = Domain((positive_integer("n").at_most(10), real("y")))
    (free,) = given.chart("n").free_symbols
    assert free.is_integer is None
    assert sympy.solve(given.chart("n") - 2, free) == [sympy.Rational(1, 8)]
