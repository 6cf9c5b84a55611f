"""Machine-made variants: planted checkers that look at too little are found, one that proves all is not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy

from oracle.core.domain import positive, positive_integer
from oracle.running.console import run
from reports.cli import app
from reports.model import shipped_variants
from tests.tiers import later
from theorems.claim import Claim, Expectation, claim, claims, expectations
from theorems.given import Domain
from theorems.mutation.leaves import leaves, put
from theorems.mutation.variants import IDENTITY, mutated
from theorems.tools.effort import TookTooLongError, at_most
from theorems.verdict import Evidence, Finding, Verdict, computed, instance, proof, refuted, undecided

Sum = Callable[[Any, Any], Any]


def total(x: Any, k: Any) -> Any:
    """x + 2x + ... + kx."""
    return x * k * (k + 1) / 2


def planted(check: Callable[[Any, Domain], Finding], says: Any = total) -> Claim:
    hypotheses = (positive("x"), positive_integer("k"))
    return Claim("planted/sum", "", "", "", hypotheses, says, check, "HOLDS PROVED")


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
    return proof(computed("it is the formula", True)) if says is total else undecided("not the formula", 1)


def test_a_proof_for_all_values_lets_nothing_through() -> None:
    found = mutated(planted(proved))
    assert found.evidence is Evidence.PROVED
    assert found.variants > 12
    assert found.survivors == ()


def test_a_check_of_finitely_many_sizes_is_found() -> None:
    survivors = mutated(planted(small_sizes_only)).unexplained
    assert "beyond argument 1 = 7" in survivors
    assert not any(name in survivors for name in ("sign", "1 % more", "squared"))


def test_a_blind_check_lets_everything_through() -> None:
    found = mutated(planted(blind))
    assert len(found.survivors) >= found.variants - 3  # what cannot be asked has no range to go beyond


def test_a_check_of_identity_is_found() -> None:
    assert mutated(planted(by_identity)).unexplained[0] == IDENTITY


def test_a_reason_is_kept_with_its_survivor() -> None:
    item = planted(small_sizes_only)
    reasons = {"beyond *": "planted", "any *": "planted, too"}
    found = mutated(Claim(**{**vars(item), "survivors": reasons}))
    assert found.survivors
    assert found.unexplained == ()


def test_code_is_changed_in_constants_operators_and_sums() -> None:
    def longest(values: Any) -> Any:
        return sum(value + 2 for value in values)

    def exact(says: Any, given: Domain) -> Finding:
        given.values("x"), given.values("k")
        return instance("nine") if says([1, 1, 1]) == 9 else refuted("not nine", {"sum": says([1, 1, 1])})

    found = mutated(planted(exact, longest))
    assert found.survivors == ()
    assert found.variants >= 1 + 4 + 2  # itself, four answers, a constant and the sum; nothing beyond an instance


def test_numbers_words_and_tables_are_changed_in_every_place() -> None:
    says = {"a": ("1.50", True), "b": Fraction(1, 2)}
    assert [at for at, _ in leaves(says)] == [("a", 0), ("a", 1), ("b",)]
    assert put(says, ("a", 0), "2") == {"a": ("2", True), "b": Fraction(1, 2)}

    def same(other: Any, given: Domain) -> Finding:
        return instance("the same") if other == says else refuted("another", {"x": str(other)})

    found = mutated(planted(same, says))
    assert (found.variants, found.survivors) == (1 + 2 + 1 + 4, ())


def test_a_check_is_stopped_at_its_limit() -> None:
    def endless() -> None:
        while True:
            pass

    with pytest.raises(TookTooLongError, match=r"0\.05 seconds of a processor"), at_most(0.05):
        endless()


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
DEAR = {"sbcd/eq-6", "sbcd/lem-4.7"}  # seconds each: by night


@pytest.mark.full
@pytest.mark.parametrize("name", later(PROVED, DEAR.__contains__, "thorough"))
def test_no_false_variant_of_a_proved_claim_survives(name: str) -> None:
    assert mutated(claim(name)).unexplained == ()


def test_the_report_has_the_figures_of_all_claims() -> None:
    assert sum(counts["claims"] for counts in shipped_variants().values()) > 150
    assert shipped_variants()["PROVED"]["unexplained"] == 0
