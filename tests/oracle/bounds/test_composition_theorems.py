"""Composition of arbitrary mechanisms: brute force over outcomes, second opinions, the order of the theorems, edges."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_anywhere, check_fast, check_monotone, check_second_opinion
from tests.opinion import at_both_precisions, number

BASIC, ADVANCED, DELTA, EPSILON = (
    oracle.bound(f"composition.{name}") for name in ("basic", "advanced", "optimal-delta", "optimal")
)
FAMILY = (BASIC, ADVANCED, DELTA, EPSILON)
FINE = Fraction(1, 10**30)


def brute_force(epsilon: str, delta: str, steps: int, total_epsilon: str) -> mpf:
    """sum over all 4^k outcomes of max(0, P - e^E Q): give-away, true, contrary, give-away of the other input."""
    d, odds = number(delta), mp.exp(number(epsilon))
    p, q = (1 - d) * odds / (1 + odds), (1 - d) / (1 + odds)
    laws = ((d, mpf(0)), (p, q), (q, p), (mpf(0), d))
    total = mpf(0)
    for outcome in itertools.product(laws, repeat=steps):
        first, second = mp.fprod(law[0] for law in outcome), mp.fprod(law[1] for law in outcome)
        total += max(mpf(0), first - mp.exp(number(total_epsilon)) * second)
    return total


@pytest.mark.full
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0"), ("1", "0.01"), ("0.1", "0.3"), ("3", "1e-9")])
@pytest.mark.parametrize("total", ["0", "0.2", "1.1", "4"])
def test_optimal_delta_is_the_sum_over_all_outcomes(epsilon: str, delta: str, steps: int, total: str) -> None:
    result = DELTA.reference(base_epsilon=epsilon, base_delta=delta, steps=steps, epsilon=total, width=FINE)
    assert result.overlaps(at_both_precisions(lambda: brute_force(epsilon, delta, steps, total)))


@pytest.mark.full
@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize("total", ["0", "1e-5", "3", "29"])
@pytest.mark.parametrize("delta", ["0", "1e-25", "0.5", "1"])
@pytest.mark.parametrize("epsilon", ["0", "1e-8", "0.3", "100"])
def test_optimal_delta_at_extremes(epsilon: str, delta: str, total: str) -> None:
    for steps in (0, 1, 2, 100):
        check_second_opinion(
            DELTA, {"base_epsilon": epsilon, "base_delta": delta, "steps": steps, "epsilon": total}
        )


@pytest.mark.parametrize("total_delta", ["1e-300", "1e-5", "0.5", "0.999999999999999", "1"])
@pytest.mark.parametrize("epsilon", ["1e-8", "0.3", "100"])
def test_optimal_epsilon_at_extremes(epsilon: str, total_delta: str) -> None:
    for steps in (0, 1, 2, 100):
        check_second_opinion(
            EPSILON, {"base_epsilon": epsilon, "base_delta": "0", "steps": steps, "delta": total_delta}
        )


@given(st.floats(-3, 1), st.sampled_from(["0", "1e-9", "0.01"]), st.integers(1, 200), st.floats(0, 1))
def test_the_inverse_inverts(log_epsilon: float, delta: str, steps: int, share: float) -> None:
    """E in [0, k epsilon): delta(E), at both ends of its enclosure, gives E back."""
    epsilon = Fraction(10.0**log_epsilon)
    total = Fraction(share) * steps * epsilon * Fraction(999, 1000)
    params: dict[str, Any] = {"base_epsilon": epsilon, "base_delta": delta, "steps": steps}
    there = DELTA.reference(epsilon=total, width=Fraction(1, 10**150), **params)
    assume(there.upper.compare(1) < 0)
    assume(there.lower.compare(DELTA.reference(epsilon=steps * epsilon, **params).upper.to_fraction()) > 0)
    back = Enclosure(
        EPSILON.reference(delta=there.upper.to_fraction(), width=FINE, **params).lower,
        EPSILON.reference(delta=there.lower.to_fraction(), width=FINE, **params).upper,
    )
    assert back.contains(total)
    assert back.width() < 1e-15 * max(1, float(total))


# --- one theorem against the other


@given(st.floats(-4, 1), st.sampled_from(["0", "1e-9", "0.01"]), st.integers(0, 500), st.floats(-12, -0.1))
def test_optimal_is_below_advanced_is_below_basic(
    log_epsilon: float, delta: str, steps: int, log_slack: float
) -> None:
    epsilon, slack = Fraction(10.0**log_epsilon), Fraction(10.0**log_slack)
    basic = BASIC.reference(base_epsilon=epsilon, steps=steps)
    advanced = ADVANCED.reference(base_epsilon=epsilon, base_delta=delta, steps=steps, slack=slack)
    total_delta = 1 - (1 - Fraction(delta)) ** steps * (1 - slack)
    optimal = EPSILON.reference(base_epsilon=epsilon, base_delta=delta, steps=steps, delta=total_delta)
    assert optimal.possibly_le(advanced)
    assert advanced.possibly_le(basic)


def test_the_order_is_strict_in_an_everyday_case() -> None:
    """100 steps of 0.1 at 1e-5: 4.31 by the optimum, 5.30 advanced, 5.85 by the older theorem, 10 by adding up."""
    optimal = EPSILON.reference(base_epsilon="0.1", base_delta=0, steps=100, delta="1e-5")
    advanced = ADVANCED.reference(base_epsilon="0.1", base_delta=0, steps=100, slack="1e-5")
    older = at_both_precisions(
        lambda: mp.sqrt(200 * mp.log(mpf(10) ** 5)) / 10 + 10 * mp.expm1(mpf(1) / 10)
    )
    assert optimal.certainly_le(Fraction("4.31"))
    assert not advanced.possibly_le(Fraction("5.29"))
    assert advanced.certainly_le(older)
    assert advanced.certainly_le(Fraction("5.3"))


@given(st.floats(-3, 1), st.integers(1, 300))
def test_basic_is_where_the_optimal_delta_vanishes(log_epsilon: float, steps: int) -> None:
    epsilon = Fraction(10.0**log_epsilon)
    total = BASIC.reference(base_epsilon=epsilon, steps=steps, width=Fraction(1, 10**40))
    assert total.contains(steps * epsilon)
    at = DELTA.reference(base_epsilon=epsilon, base_delta=0, steps=steps, epsilon=steps * epsilon)
    below = DELTA.reference(
        base_epsilon=epsilon, base_delta=0, steps=steps, epsilon=steps * epsilon * (1 - Fraction(1, 10**30))
    )
    assert at == Enclosure.exactly(0)
    assert below.lower.compare(0) > 0
    assert EPSILON.reference(base_epsilon=epsilon, base_delta=0, steps=steps, delta=0).contains(steps * epsilon)


def test_one_step_is_the_mechanism_itself() -> None:
    """(base_epsilon, base_delta) at epsilon = base_epsilon is base_delta, and back."""
    for epsilon, delta in (("0.5", "1e-6"), ("3", "0.2")):
        assert DELTA.reference(
            base_epsilon=epsilon, base_delta=delta, steps=1, epsilon=epsilon,
        ).contains(Fraction(delta))
        back = EPSILON.reference(base_epsilon=epsilon, base_delta=delta, steps=1, delta=delta)
        assert back.contains(Fraction(epsilon))


def test_the_worst_mechanism_bounds_the_laplace_mechanism() -> None:
    """A Laplace release is epsilon-DP with epsilon = sensitivity/scale: its curve is below, and touches at the end."""
    for total in ("0", "0.3", "0.9"):
        laplace = oracle.bound("laplace.delta").reference(scale=1, sensitivity=1, epsilon=total)
        assert laplace.certainly_le(DELTA.reference(base_epsilon=1, base_delta=0, steps=1, epsilon=total))


# --- edges


def test_no_steps_cost_nothing() -> None:
    zero = Enclosure.exactly(0)
    assert BASIC.reference(base_epsilon=5, steps=0) == ADVANCED.reference(
        base_epsilon=5, base_delta=1, steps=0, slack="1e-9",
    ) == zero
    assert DELTA.reference(base_epsilon=5, base_delta="0.5", steps=0, epsilon=0) == zero
    assert EPSILON.reference(base_epsilon=5, base_delta="0.5", steps=0, delta=0) == zero
    for bound, rest in (
        (BASIC, {}), (ADVANCED, {"base_delta": 1.0, "slack": 0.1}), (DELTA, {"base_delta": 0.5, "epsilon": 0.0}),
        (EPSILON, {"base_delta": 0.5, "delta": 0.0}),
    ):
        assert float(bound.fast(base_epsilon=5.0, steps=0, **rest)) == 0.0


def test_below_the_give_away_no_epsilon_is_enough() -> None:
    """1 - (1 - 1/10)^2 = 19/100 exactly: there epsilon is 2 epsilon, and the least bit below there is none."""
    params: dict[str, Any] = {"base_epsilon": "0.5", "base_delta": "1/10", "steps": 2}
    assert EPSILON.reference(delta="19/100", **params) == Enclosure.exactly(1)
    below = Fraction(19, 100) - Fraction(1, 10**200)
    with pytest.raises(DomainError, match=r"^delta = .* no epsilon is enough"):
        EPSILON.reference(delta=below, **params)
    near = EPSILON.reference(delta=Fraction(19, 100) + Fraction(1, 10**200), **params)
    assert near.lower.compare(1 - Fraction(1, 10**11)) > 0
    with pytest.raises(DomainError, match=r"^delta = "):
        EPSILON.reference(base_epsilon=1, base_delta=1, steps=3, delta="0.999")
    assert EPSILON.reference(base_epsilon=1, base_delta=1, steps=3, delta=1) == Enclosure.exactly(0)
    with pytest.raises(DomainError, match=r"^delta = "):
        EPSILON.fast(base_epsilon=1.0, base_delta=0.5, steps=2, delta=[0.9, 0.3])


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_with_subnormal_deltas(library: str) -> None:
    """torch's log1p loses the last bit of a subnormal, and the number of steps multiplies that."""
    small = [
        {"base_epsilon": 0.0, "base_delta": n * 5e-324, "steps": k, "epsilon": 1.0} for n in (1, 3) for k in (3, 2000)
    ]
    check_fast(DELTA, small, library, tight=False)
    chosen = [
        {"base_epsilon": 0.3, "base_delta": n * 5e-324, "steps": k, "delta": 1.5 * n * k * 5e-324 + 1e-323}
        for n in (1, 3) for k in (3, 2000)
    ]
    check_fast(EPSILON, chosen, library, tight=False)


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_next_to_the_give_away(library: str) -> None:
    """delta a few doubles above 1 - (1 - base_delta)^steps: t is all cancellation, so the reference must step in."""
    chosen = []
    for delta in (1e-9, 1e-3, 0.25):
        for steps in (1, 3, 40):
            least = float(1 - (1 - Fraction(delta)) ** steps)
            chosen += [
                {"base_epsilon": 0.3, "base_delta": delta, "steps": steps, "delta": least * (1 + 2.0**-j)}
                for j in range(2, 50, 4) if least * (1 + 2.0**-j) <= 1 and Fraction(least * (1 + 2.0**-j)) > least
            ]
    check_fast(EPSILON, chosen, library)


@pytest.mark.full
@pytest.mark.parametrize("steps", [1999, 2000, 2001])
@pytest.mark.parametrize("epsilon", [1e-3, 0.05, 2.0])
def test_fast_at_the_end_of_its_table(steps: int, epsilon: float) -> None:
    common = {"base_epsilon": epsilon, "base_delta": 1e-10, "steps": steps}
    for share in (0.0, 0.01, 0.3, 0.99):
        check_fast(DELTA, [{**common, "epsilon": share * epsilon * steps}], "numpy")
    for total_delta in (1e-6, 0.3):
        check_fast(EPSILON, [{**common, "delta": total_delta}], "torch")


def test_fast_where_a_loss_meets_the_total() -> None:
    """epsilon a rounding away from (k - 2l) base_epsilon: a term appears or vanishes there."""
    chosen = [
        {"base_epsilon": 0.1, "base_delta": 0.0, "steps": 7, "epsilon": 0.1 * loss * (1 + sign * 2.0**-j)}
        for loss in (7, 5, 1) for sign in (-1, 1) for j in range(10, 54, 4)
    ]
    check_fast(DELTA, chosen, "numpy")


def test_ten_thousand_steps() -> None:
    """Against the Gaussian limit: 10^4 steps of 0.01 are close to 1-GDP, and their sum near it too."""
    result = EPSILON.reference(base_epsilon="0.01", base_delta=0, steps=10**4, delta="1e-5")
    assert abs(result.upper.to_fraction() - Fraction("4.3772")) < Fraction(1, 100)
    back = DELTA.reference(base_epsilon="0.01", base_delta=0, steps=10**4, epsilon=result.upper.to_fraction())
    assert back.possibly_le(Fraction(1, 10**5))


@pytest.mark.parametrize("name", ["base_epsilon", "base_delta", "steps", "delta"])
def test_strictly_monotone_inside(name: str) -> None:
    params: dict[str, Any] = {
        "base_epsilon": Fraction(1, 10), "base_delta": Fraction(1, 10**8), "steps": 100, "delta": Fraction(1, 10**5),
    }
    step = 101 if name == "steps" else params[name] * (1 + Fraction(1, 10**7))
    check_monotone(EPSILON, params, name, step, certain=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_epsilon", -1), ("base_delta", "1.1"), ("steps", -1), ("steps", "0.5"), ("steps", 10**6),
        ("delta", "-0.1"),
    ],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {"base_epsilon": 1, "base_delta": 0, "steps": 2, "delta": "0.1", name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)
