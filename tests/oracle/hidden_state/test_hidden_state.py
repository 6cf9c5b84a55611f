"""NoisyGD and NoisyCGD with hidden state: against the exact shift programme, mpmath, and every limit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.making.points import strategy
from oracle.core.enclosure import Dyadic, Enclosure
from tests.checks import (
    check_monotone,
    check_moved,
    check_second_opinion,
    check_shift_programme,
    check_width,
    contains_root,
)
from tests.formulas import shift_programme

GD, CGD = oracle.bound("noisy-gd.mu"), oracle.bound("noisy-cgd.mu")
BOTH = (GD, CGD)
CONTRACTIONS = [Fraction(text) for text in ("1/1000", "1/10", "1/2", "9/10", "99/100", "999999/1000000", "1")]

contractions = st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)
scales = st.fixed_dictionaries({
    "sensitivity": st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=100),
    "noise_on_mean": st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=100),
})


def gd(**params: Any) -> Enclosure:
    return GD.reference(**{"sensitivity": 1, "dataset_size": 1, "noise_on_mean": 1, **params})


def cgd(**params: Any) -> Enclosure:
    return CGD.reference(**{"sensitivity": 1, "batch_size": 1, "noise_on_mean": 1, **params})


# --- the exact optimum of the shift programme


@pytest.mark.parametrize("contraction", CONTRACTIONS, ids=str)
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 40])
def test_noisy_gd_is_the_optimum_of_the_programme(contraction: Fraction, steps: int) -> None:
    params = {"sensitivity": "3", "dataset_size": 7, "noise_on_mean": "0.1", "steps": steps}
    check_shift_programme(GD, params, contraction)


@pytest.mark.parametrize("contraction", CONTRACTIONS, ids=str)
@pytest.mark.parametrize(("batches", "epochs"), [(1, 1), (1, 6), (2, 1), (2, 5), (3, 4), (5, 3), (8, 2), (4, 10)])
def test_noisy_cgd_is_the_optimum_of_the_programme(contraction: Fraction, batches: int, epochs: int) -> None:
    params = {"sensitivity": "3", "batch_size": 7, "noise_on_mean": "0.1", "batches": batches, "epochs": epochs}
    check_shift_programme(CGD, params, contraction)


@given(contractions, st.integers(1, 12), st.integers(1, 1000), scales)
def test_noisy_gd_programme_anywhere(contraction: Fraction, steps: int, size: int, scale: dict[str, Fraction]) -> None:
    check_shift_programme(GD, {**scale, "steps": steps, "dataset_size": size}, contraction)


@given(contractions, st.integers(1, 5), st.integers(1, 5), st.integers(1, 1000), scales)
def test_noisy_cgd_programme_anywhere(
    contraction: Fraction, batches: int, epochs: int, size: int, scale: dict[str, Fraction]
) -> None:
    check_shift_programme(CGD, {**scale, "batches": batches, "epochs": epochs, "batch_size": size}, contraction)


@given(contractions, st.lists(st.integers(0, 1), min_size=1, max_size=6), st.data())
def test_the_programme_solver_is_optimal(contraction: Fraction, touched: list[int], data: st.DataObject) -> None:
    """Against the judge itself: no feasible choice of shifts, drawn at random, costs less than the convex minorant."""
    drift, cost = Fraction(0), Fraction(0)
    for step, touch in enumerate(touched):
        drift = contraction * drift + touch
        share = Fraction(data.draw(st.integers(0, 100)), 100) if step < len(touched) - 1 else Fraction(1)
        drift, cost = drift - share * drift, cost + (share * drift) ** 2
    assert drift == 0
    assert shift_programme(contraction, touched) <= cost


def test_the_programme_by_hand() -> None:
    """Two touched steps, c = 1/2: minimise a1^2 + a2^2 with a1 <= 1 and a1/2 + a2 = 3/2, at a = (3/5, 6/5)."""
    assert shift_programme(Fraction(1, 2), [1, 1]) == Fraction(9, 5)
    assert shift_programme(Fraction(1), [1] * 9) == 9
    assert shift_programme(Fraction(1, 3), [1]) == 1
    assert shift_programme(Fraction(1, 3), [0, 0]) == 0
    assert shift_programme(Fraction(1), [1, 0, 0, 0]) == Fraction(1, 4)


# --- second opinions where the programme is too long


@pytest.mark.parametrize("bound", BOTH, ids=lambda item: item.name)
@given(data=st.data())
def test_second_opinion_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_second_opinion(bound, data.draw(strategy(bound)))


@pytest.mark.parametrize("contraction", [1 - 2.0**-53, 1 - 1e-12, 0.999999, 0.5, 1e-15, 5e-324])
@pytest.mark.parametrize("steps", [1, 2, 10**6, 10**15, 10**30])
def test_extreme_contractions_and_lengths(contraction: float, steps: int) -> None:
    common = {"sensitivity": 1, "noise_on_mean": 1, "contraction": contraction}
    check_second_opinion(GD, {**common, "dataset_size": 1, "steps": steps})
    for batches in (2, 1000):
        check_second_opinion(CGD, {**common, "batch_size": 1, "batches": batches, "epochs": steps})


@pytest.mark.parametrize("bound", BOTH, ids=lambda item: item.name)
@given(data=st.data(), digits=st.integers(1, 100))
def test_the_asked_width_is_honoured(bound: oracle.Bound, data: st.DataObject, digits: int) -> None:
    check_width(bound, data.draw(strategy(bound)), Fraction(1, 10**digits))


@pytest.mark.parametrize("bound", BOTH, ids=lambda item: item.name)
@given(data=st.data())
def test_narrow_enclosures_hold_the_truth_too(bound: oracle.Bound, data: st.DataObject) -> None:
    check_second_opinion(bound, data.draw(strategy(bound)), width=Fraction(1, 10**28))


# --- monotonicity


@pytest.mark.parametrize("bound", BOTH, ids=lambda item: item.name)
@given(data=st.data())
def test_monotone_in_each_parameter(bound: oracle.Bound, data: st.DataObject) -> None:
    check_moved(bound, data.draw(strategy(bound)), data)


@pytest.mark.parametrize("bound", BOTH, ids=lambda item: item.name)
def test_strictly_monotone_inside(bound: oracle.Bound) -> None:
    params: dict[str, Any] = {"sensitivity": "2", "noise_on_mean": "3", "contraction": "0.9"}
    params |= {"dataset_size": 10, "steps": 5} if bound is GD else {"batch_size": 4, "batches": 3, "epochs": 5}
    for name, value in params.items():
        larger = value + 1 if isinstance(value, int) else Fraction(value) * (1 + Fraction(1, 10**10))
        check_monotone(bound, params, name, larger, certain=True)


# --- limits


def test_no_steps_release_nothing() -> None:
    for contraction in ("0", "0.5", "1"):
        assert gd(contraction=contraction, steps=0) == Enclosure.exactly(0)


@given(contractions, st.integers(1, 30), scales)
def test_one_step_and_one_epoch_are_one_gaussian_release(
    contraction: Fraction, batches: int, scale: dict[str, Fraction]
) -> None:
    square = (scale["sensitivity"] / (5 * scale["noise_on_mean"])) ** 2
    assert contains_root(gd(dataset_size=5, contraction=contraction, steps=1, **scale), square)
    assert contains_root(cgd(batch_size=5, contraction=contraction, batches=batches, epochs=1, **scale), square)


@pytest.mark.parametrize("steps", [1, 2, 9, 1000, 10**12])
def test_without_contraction_noise_averages_out_as_in_composition(steps: int) -> None:
    """c = 1: mu = L sqrt(t) / (n sigma), what composing t Gaussian releases costs."""
    result = GD.reference(sensitivity=3, dataset_size=50, noise_on_mean="0.2", contraction=1, steps=steps)
    assert contains_root(result, steps * Fraction(3, 10) ** 2)


@pytest.mark.parametrize(("batches", "epochs"), [(1, 5), (2, 5), (10, 100), (1000, 10**9)])
def test_without_contraction_an_epoch_of_noise_covers_a_batch(batches: int, epochs: int) -> None:
    """c = 1: mu^2 = (L/(b sigma))^2 (1 + (E-1)/k), and E for one batch; both say (E-1)/k + 1."""
    assert contains_root(cgd(contraction=1, batches=batches, epochs=epochs), 1 + Fraction(epochs - 1, batches))


@pytest.mark.parametrize("many", [1, 2, 1000, 10**18])
def test_total_contraction_forgets_all_but_the_last_step(many: int) -> None:
    assert gd(contraction=0, steps=many) == Enclosure.exactly(1)
    assert cgd(contraction=0, batches=many, epochs=many) == Enclosure.exactly(1)


@pytest.mark.full
@given(contractions, st.integers(1, 10**6), st.integers(1, 100), scales)
def test_one_batch_is_noisy_gd(contraction: Fraction, epochs: int, size: int, scale: dict[str, Fraction]) -> None:
    full = gd(dataset_size=size, contraction=contraction, steps=epochs, **scale)
    assert cgd(batch_size=size, contraction=contraction, batches=1, epochs=epochs, **scale) == full


@pytest.mark.parametrize("exponent", [5, 20, 100, 1000])
def test_the_bounds_are_continuous_at_contraction_one(exponent: int) -> None:
    """The limit c -> 1 from below, at distances where the naive formula loses every digit of a double."""
    near, gap = 1 - Fraction(1, 10**exponent), Fraction(1, 10 ** (exponent - 4))
    few: dict[str, Any] = {"batches": 4, "epochs": 9, "width": "1e-40"}
    for below, at in (
        (gd(contraction=near, steps=50, width="1e-40"), gd(contraction=1, steps=50, width="1e-40")),
        (cgd(contraction=near, **few), cgd(contraction=1, **few)),
    ):
        assert below.possibly_le(at)
        assert at.lower.to_fraction() - below.upper.to_fraction() <= gap


@pytest.mark.parametrize("contraction", ["0.5", "0.99"])
def test_privacy_converges_as_training_goes_on(contraction: str) -> None:
    """t -> infinity: mu^2 -> (1+c)/(1-c), the point of hiding the state; finite t stay below it."""
    c = Fraction(contraction)
    limit = (1 + c) / (1 - c)
    assert gd(contraction=contraction, steps=10**7).lower.to_fraction() ** 2 <= limit
    assert gd(contraction=contraction, steps=10**7).upper.to_fraction() ** 2 >= limit * (1 - Fraction(1, 10**11))
    assert gd(contraction=contraction, steps=10).certainly_le(gd(contraction=contraction, steps=20))


def test_the_second_formula_at_one_batch_would_be_too_large() -> None:
    """Why one batch is a case of its own: 1 + (1-c^2)/(1-c)^2 (1-c^(E-1))/(1+c^(E-1)) exceeds NoisyGD's square."""
    c, epochs = Fraction(1, 2), 5
    formula = 1 + (1 - c**2) / (1 - c) ** 2 * (1 - c ** (epochs - 1)) / (1 + c ** (epochs - 1))
    assert shift_programme(c, [1] * epochs) < formula
    assert cgd(contraction=c, batches=1, epochs=epochs).upper.to_fraction() ** 2 < formula


def test_values_are_exact_where_they_are_rational() -> None:
    assert gd(contraction=1, steps=4) == Enclosure.exactly(2)
    assert gd(sensitivity="0.5", contraction=1, steps=1) == Enclosure(Dyadic(1, -1), Dyadic(1, -1))
