"""Machine-made variants: planted checkers that look at too little are found, one that proves all is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from importlib import resources
from typing import Any

import pytest
import sympy
from flint import arb

from oracle.core.domain import positive, positive_integer
from oracle.core.enclosure import ball
from oracle.core.errors import OracleError
from oracle.running.console import run
from reports.cli import app
from reports.model import shipped_variants
from tests.tiers import later, one_of
from theorems.claim import Claim, Expectation, claim, claims, expectations, judge
from theorems.given import Domain
from theorems.leaves import leaves, put
from theorems.mutation.judging import can_be_mutated, from_json, totals
from theorems.mutation.variants import IDENTITY, Mutated, _reason, mutated
from theorems.tools.effort import TookTooLongError, at_most
from theorems.verdict import Evidence, Finding, Verdict, at_points, computed, instance, proof, refuted, undecided

Sum = Callable[[Any, Any], Any]


def total(x: Any, k: Any) -> Any:
    """x + 2x + ... + kx."""
    return x * k * (k + 1) / 2


def planted(check: Callable[[Any, Domain], Finding], says: Any = total) -> Claim:
    hypotheses = (positive("x"), positive_integer("k"))
    return Claim("planted/sum", "", "", "", hypotheses, says, check, "HOLDS PROVED")


def printed(check: Callable[[Any, Domain], Finding], says: Any = total) -> Claim:
    """A planted claim about what is printed: it has no hypotheses."""
    return replace(planted(check, says), hypotheses=())


def at_sizes(says: Sum, given: Domain) -> Finding | None:
    """A counterexample among small sizes, the ends of the hypotheses included."""
    for point in given.points(most={"k": 7}):
        x, k = point["x"], point["k"]
        true = sum((x * i for i in range(1, k + 1)), Fraction(0))
        if says(x, k) != true:
            return refuted("another sum", {"x": x, "k": k, "sum": true})
    return None


def proved(says: Sum, given: Domain) -> Finding:
    """By induction, on symbols."""
    x, k = given.symbol("x"), given.symbol("k")
    steps = (
        computed("one summand", sympy.simplify(says(x, sympy.Integer(1)) - x) == 0),
        computed("one summand more", sympy.simplify(says(x, k + 1) - says(x, k) - (k + 1) * x) == 0),
        computed("x > 0 and k >= 1, as the statement says", bool(x.is_positive and k.is_positive)),
    )
    return at_sizes(says, given) or proof(*steps)


def small_sizes_only(says: Sum, given: Domain) -> Finding:
    """Calls seven sizes a proof."""
    return at_sizes(says, given) or proof(computed("seven sizes", True))


def blind(says: Sum, given: Domain) -> Finding:
    """Calls everything a proof."""
    list(given.points())
    return proof(computed("of course", True))


def by_identity(says: Sum, given: Domain) -> Finding:
    """Knows the right formula by its name."""
    list(given.points())
    known = getattr(says, "__name__", "") == "total"
    return proof(computed("it is the formula", True)) if known else undecided("not the formula", 1)


def test_a_proof_for_all_values_lets_nothing_through() -> None:
    found = mutated(planted(proved))
    assert found.evidence is Evidence.PROVED
    assert found.variants > 12
    assert found.survivors == ()


def test_a_check_of_finitely_many_sizes_is_found() -> None:
    survivors = mutated(planted(small_sizes_only)).unexplained
    assert "beyond argument 1 = 7" in survivors
    assert not any(name in survivors for name in ("sign", "1 % more", "squared"))


def test_a_blind_check_lets_everything_through_but_what_its_code_shows() -> None:
    found = mutated(planted(blind))
    assert len(found.survivors) >= found.variants - 3  # what cannot be asked has no range to go beyond
    assert "hidden at a number" not in dict(found.survivors)


def careless(says: Sum, given: Domain) -> Finding:
    """Asks for the ends and throws the answers away; the proof is on symbols only."""
    for point in given.points(most={"k": 7}):
        says(point["x"], point["k"])
    x, k = given.symbol("x"), given.symbol("k")
    rise = sympy.simplify(says(x, k + 1) - says(x, k) - (k + 1) * x) == 0 and sympy.simplify(says(x, 1) - x) == 0
    return proof(computed("by induction, for x > 0", rise and x.is_positive and k.is_positive))


def on_balls(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Is content with what is not certainly wrong, and asks no symbol."""
    values = given.values("x", most=40), given.values("k", most=7)
    if any(says(ball(x)) > ball(2 * x) for x in values[0]):
        return refuted("more than twice as much", {"x": "one of them"})
    return at_points("at most twice as much", len(values[0]))


def test_numbers_that_are_asked_for_must_be_used() -> None:
    assert "only at argument 0 = 1e-06" in mutated(planted(careless)).unexplained


def test_no_number_and_what_lies_between_points_are_tried() -> None:
    survivors = mutated(planted(on_balls, lambda x: 2 * x)).unexplained
    assert "beyond argument 0 = 80" in survivors
    assert "no number for balls" not in survivors  # the runner sees to that, whatever the checker does
    with pytest.raises(OracleError, match="gives no number at"):
        judge(planted(on_balls), lambda x: x * arb("nan"))


def test_a_check_of_identity_is_found() -> None:
    assert mutated(planted(by_identity)).unexplained[0] == IDENTITY
    itself = printed(lambda says, given: instance("it") if says is total else undecided("another", 1))
    assert judge(itself, total).verdict is Verdict.UNDECIDED, "a checker is never given the formula itself"


def test_a_reason_is_kept_with_its_survivor() -> None:
    item = planted(small_sizes_only)
    reasons = {"beyond *": "planted", "any *": "planted, too"}
    found = mutated(Claim(**{**vars(item), "survivors": reasons}))
    assert found.survivors
    assert found.unexplained == ()
    true = mutated(Claim(**{**vars(item), "true_variants": reasons}))
    assert (true.true, true.survivors) == (found.survivors, ())


def test_code_is_changed_in_constants_operators_and_sums() -> None:
    def longest(values: Any) -> Any:
        return sum(value + 2 for value in values)

    def exact(says: Any, given: Domain) -> Finding:
        return instance("nine") if says([1, 1, 1]) == 9 else refuted("not nine", {"sum": says([1, 1, 1])})

    found = mutated(printed(exact, longest))
    assert found.survivors == ()
    assert found.variants >= 1 + 4 + 2  # itself, four answers, a constant and the sum; nothing beyond an instance


def test_numbers_words_and_tables_are_changed_in_every_place() -> None:
    says = {"a": ("1.50", True), "b": Fraction(1, 2)}
    assert [at for at, _ in leaves(says)] == [("a", 0), ("a", 1), ("b",)]
    assert put(says, ("a", 0), "2") == {"a": ("2", True), "b": Fraction(1, 2)}

    def same(other: Any, given: Domain) -> Finding:
        return instance("the same") if other == says else refuted("another", {"x": str(other)})

    found = mutated(printed(same, says))
    assert (found.variants, found.survivors) == (1 + 2 + 1 + 4, ())


def test_a_check_is_stopped_at_its_limit() -> None:
    def endless() -> None:
        while True:
            pass

    def stubborn() -> None:
        try:
            endless()
        except OracleError:
            endless()

    for never_ends in (endless, stubborn):
        with pytest.raises(TookTooLongError, match=r"0\.05 seconds of a processor"), at_most(0.05):
            never_ends()


@pytest.mark.full
def test_the_command_tells_survivors_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["check", "relu-approx/lem-3.2-repaired", "cs208/gaussian-mechanism", "--variants"]) == 0
    shown = capsys.readouterr().out
    assert "without a reason" in shown
    assert claim("relu-approx/lem-3.2-repaired").expected.split()[1] in shown
    assert Verdict.REFUTED.value not in shown


PROVED = [
    name for name, item in claims().items()
    if item.check is not None and expectations()[name] == Expectation(Verdict.HOLDS, Evidence.PROVED)
]


@pytest.mark.full
@pytest.mark.parametrize("name", later(PROVED, lambda name: not one_of(8, name), "thorough"))
def test_no_false_variant_of_a_proved_claim_survives(name: str) -> None:
    """An eighth of them by day; the others at night, and `nox -s variants` judges those of every claim."""
    assert mutated(claim(name)).survivors == ()


def shipped() -> dict[str, Mutated]:
    """How the variants of every claim came out when they were last all judged."""
    text = resources.files("reports").joinpath("variants.json").read_text(encoding="utf-8")
    return {row["claim"]: from_json(row) for row in json.loads(text)["claims"]}


def test_the_report_has_the_figures_of_every_claim_that_holds() -> None:
    counted, unjudged = shipped_variants()
    assert set(shipped()) == {name for name, item in claims().items() if can_be_mutated(item)}
    assert unjudged == 0
    assert counted == totals(list(shipped().values()))
    assert counted["PROVED"]["survivors"] == 0
    assert [counts[kind] for counts in counted.values() for kind in ("unexplained", "blind")] == [0] * 2 * len(counted)
    assert {name: row.evidence for name, row in shipped().items()} == {
        name: expectations()[name].evidence for name in shipped()}


def test_no_reason_is_for_everything_or_for_nothing() -> None:
    every, idle = [], []
    for name, found in shipped().items():
        item = claim(name)
        for reasons, came_out in ((item.true_variants, found.true), (item.survivors, found.survivors)):
            every += [(name, pattern) for pattern in reasons if fnmatchcase("a variant of a new kind", pattern)]
            names = [one for one, _ in came_out]
            idle += [(name, pattern) for pattern in reasons if not any(fnmatchcase(one, pattern) for one in names)]
    assert (every, idle) == ([], [])


def test_the_reasons_of_the_report_are_those_of_the_claims() -> None:
    told = {name: (found.true, found.survivors) for name, found in shipped().items()}
    given = {
        name: tuple(tuple((one, _reason(reasons, one)) for one, _ in came_out) for reasons, came_out in (
            (claim(name).true_variants, true), (claim(name).survivors, survivors)))
        for name, (true, survivors) in told.items()
    }
    assert told == given
