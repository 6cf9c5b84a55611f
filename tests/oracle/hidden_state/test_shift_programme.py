"""The optimal-shift programme for any schedule: exact optima, orderings, edges, and the linear law below it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.core.algorithm import Values
from oracle.core.arrays import namespace
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_anywhere, check_fast, check_second_opinion, check_width, contains_root
from tests.formulas import shift_programme
from tests.tiers import examples

SHIFTED, LINEAR = oracle.bound("shifted.mu"), oracle.bound("linear-gaussian.mu")
Schedule = list[Fraction]

every_library = pytest.mark.parametrize("library", LIBRARIES)
entries = st.fractions(min_value=0, max_value=3, max_denominator=20)
noises = st.fractions(min_value=Fraction(1, 20), max_value=3, max_denominator=20)
steps = st.lists(st.tuples(entries, entries, noises), min_size=1, max_size=9)
diameters = st.one_of(st.just(math.inf), st.fractions(min_value=0, max_value=20, max_denominator=20))


def mu(
    drift: Any, contractions: Any, iterate_noise: Any, diameter: Any = math.inf, width: Any = "1e-20"
) -> Enclosure:
    return SHIFTED.reference(
        drift=drift, contractions=contractions, iterate_noise=iterate_noise, diameter=diameter, width=width
    )


def linear(drift: Any, contractions: Any, iterate_noise: Any) -> Enclosure:
    return LINEAR.reference(drift=drift, contractions=contractions, iterate_noise=iterate_noise, width="1e-20")


def columns(rows: list[tuple[Fraction, Fraction, Fraction]]) -> tuple[Schedule, Schedule, Schedule]:
    drift, contraction, noise = (list(column) for column in zip(*rows, strict=True))
    return drift, contraction, noise


# --- the optimum


@given(data=st.data())
def test_anywhere(data: st.DataObject) -> None:
    """Second opinion by trying every set of vertices; widths; monotone in the diameter."""
    check_anywhere(SHIFTED, data)


@given(steps, diameters)
def test_second_opinion_on_longer_schedules(rows: list[Any], diameter: Any) -> None:
    """Zeros, contractions above 1, ties and every start: by the other stack, in mpmath."""
    drift, contraction, noise = columns(rows)
    point = {"drift": drift, "contractions": contraction, "iterate_noise": noise, "diameter": diameter}
    check_second_opinion(SHIFTED, point, width=Fraction(1, 10**20))
    check_second_opinion(LINEAR, {name: point[name] for name in ("drift", "contractions", "iterate_noise")})


@pytest.mark.full
@given(steps, st.data())
def test_no_feasible_shifts_cost_less(rows: list[Any], data: st.DataObject) -> None:
    """From the definition: whatever shares of the distance are paid, the cost is not below mu^2."""
    drift, contraction, noise = columns(rows)
    diameter = data.draw(st.one_of(st.none(), entries))
    start = 0 if diameter is None else data.draw(st.integers(0, len(rows) - 1))
    distance, cost = (Fraction(0) if diameter is None else diameter), Fraction(0)
    for step in range(start, len(rows)):
        distance = contraction[step] * distance + drift[step]
        share = data.draw(st.fractions(min_value=0, max_value=1, max_denominator=10)) if step < len(rows) - 1 else 1
        cost += (share * distance / noise[step]) ** 2
        distance -= share * distance
    assert distance == 0
    found = mu(drift, contraction, noise, math.inf if diameter is None else diameter)
    assert found.lower.to_fraction() ** 2 <= cost


@given(
    st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50),
    st.lists(st.integers(0, 1), min_size=1, max_size=12),
)
def test_the_exact_rational_solver_agrees(contraction: Fraction, touched: list[int]) -> None:
    count = len(touched)
    assert contains_root(mu(touched, [contraction] * count, [1] * count), shift_programme(contraction, touched))


def test_by_hand() -> None:
    assert contains_root(mu([1], [1], [2]), Fraction(1, 4))
    assert contains_root(mu([1, 0], [1, 1], [1, 1]), Fraction(1, 2))
    assert contains_root(mu([1, 1], [0.5, 0.5], [1, 1]), Fraction(9, 5))
    # A drift of 2 before a drift of 1, without contraction: (3/2)^2 twice; the other way round the second binds.
    assert contains_root(mu([2, 1], [1, 1], [1, 1]), Fraction(9, 2))
    assert contains_root(mu([1, 2], [1, 1], [1, 1]), Fraction(5))
    # Expansion: paid at once, 1 + 1, since later it costs twice as much.
    assert contains_root(mu([1, 1], [2, 2], [1, 1]), Fraction(2))
    # Nine steps and a diameter of 1: forgetting all but one step costs (1 + 1)^2, all but two (1 + 2)^2/2.
    assert contains_root(mu([1] * 9, [1] * 9, [1] * 9, 1), Fraction(4))
    assert contains_root(mu([1] * 9, [1] * 9, [1] * 9, 3), Fraction(9))
    assert contains_root(mu([1] * 9, [1] * 9, [1] * 9, 2), Fraction(8))


# --- edges


def test_an_empty_schedule_releases_nothing() -> None:
    for diameter in (0, 1, math.inf):
        assert mu([], [], [], diameter) == Enclosure.exactly(0)
        assert float(SHIFTED.fast(drift=[], contractions=[], iterate_noise=[], diameter=diameter)) == 0.0
    assert linear([], [], []) == Enclosure.exactly(0)
    assert float(LINEAR.fast(drift=[], contractions=[], iterate_noise=[])) == 0.0


@pytest.mark.full
@given(steps)
def test_a_diameter_of_zero_leaves_the_last_step(rows: list[Any]) -> None:
    drift, contraction, noise = columns(rows)
    assert contains_root(mu(drift, contraction, noise, 0), (drift[-1] / noise[-1]) ** 2)


@given(steps)
def test_a_huge_diameter_is_none(rows: list[Any]) -> None:
    """Once D^2 exceeds the whole cost, whatever it contracts to, starting there does not pay (without c = 0)."""
    drift, contraction, noise = columns(rows)
    contraction = [max(c, Fraction(1, 20)) for c in contraction]
    assert mu(drift, contraction, noise, 10**30).overlaps(mu(drift, contraction, noise))


@pytest.mark.full
@given(steps, steps, diameters)
def test_a_contraction_of_zero_cuts_the_past_off(before: list[Any], after: list[Any], diameter: Any) -> None:
    after = [(after[0][0], Fraction(0), after[0][2]), *after[1:]]
    assert mu(*columns(before + after), diameter).overlaps(mu(*columns(after), diameter))


def test_no_drift_no_leak() -> None:
    assert mu([0, 0, 0], [1, 0, 2], [1, 2, 3]) == Enclosure.exactly(0)
    assert linear([0, 0, 0], [1, 0, 2], [1, 2, 3]) == Enclosure.exactly(0)


def test_ties_that_balls_cannot_decide() -> None:
    """s_i = P_i: all slopes agree, none of them is a binary number; the minorant is the chord, to any width."""
    c, count = Fraction(1, 3), 40
    schedule = ([c ** (count - 1 - i) for i in range(count)], [c] * count, [Fraction(1)] * count)
    square = (1 - c ** (2 * count)) / (1 - c**2)
    for width in (Fraction(1, 10**6), Fraction(1, 10**40)):
        found = mu(*schedule, width=width)
        assert contains_root(found, square)
        assert found.width() <= width * 2
    point = {
        "drift": schedule[0], "contractions": schedule[1], "iterate_noise": schedule[2], "diameter": Fraction(5, 7),
    }
    check_width(SHIFTED, point, Fraction(1, 10**30))


# --- orderings


@pytest.mark.full
@given(steps, diameters)
def test_between_the_linear_law_and_composition(rows: list[Any], diameter: Any) -> None:
    """The chord is below, and paying each step at once is a feasible choice."""
    drift, contraction, noise = columns(rows)
    found = mu(drift, contraction, noise)
    assert linear(drift, contraction, noise).possibly_le(found)
    composed = sum(((s / tau) ** 2 for s, tau in zip(drift, noise, strict=True)), Fraction(0))
    assert found.lower.to_fraction() ** 2 <= composed
    assert mu(drift, contraction, noise, diameter).possibly_le(found)


@pytest.mark.full
@given(steps, diameters, st.data())
def test_each_entry_moves_mu_one_way(rows: list[Any], diameter: Any, data: st.DataObject) -> None:
    """A larger drift or contraction, less noise, or a larger diameter never help."""
    schedules = columns(rows)
    before = mu(*schedules, diameter)
    which, at = data.draw(st.integers(0, 2)), data.draw(st.integers(0, len(rows) - 1))
    schedules[which][at] += data.draw(noises)
    after = mu(*schedules, diameter)
    assert after.possibly_le(before) if which == 2 else before.possibly_le(after)


@given(steps, diameters, noises, st.integers(0, 9))
def test_a_free_step_never_hurts(rows: list[Any], diameter: Any, noise: Fraction, where: int) -> None:
    """No drift, c = 1, any noise: it can be left unused."""
    longer = [*rows[:where], (Fraction(0), Fraction(1), noise), *rows[where:]]
    assert mu(*columns(longer), diameter).possibly_le(mu(*columns(rows), diameter))


@given(steps, diameters, st.sampled_from([Fraction(1, 1000), Fraction(7, 3), Fraction(10**9)]))
def test_units_do_not_matter(rows: list[Any], diameter: Any, unit: Fraction) -> None:
    scaled = [(s * unit, c, tau * unit) for s, c, tau in rows]
    other = diameter if diameter == math.inf else diameter * unit
    assert mu(*columns(scaled), other).overlaps(mu(*columns(rows), diameter))


def test_strict_where_it_should_be() -> None:
    """Constraints that bind cost something, and so does each parameter."""
    base: dict[str, Any] = {"drift": [0, 1, 0, 1], "contractions": [0.9] * 4, "iterate_noise": [1] * 4}
    low, high = linear(**base), mu(**base)
    assert low.certainly_le(high)
    assert not high.possibly_le(low)
    assert mu(**base, diameter="0.1").certainly_le(high)
    assert mu(**{**base, "iterate_noise": [1, 2, 1, 1]}).certainly_le(high)


# --- long schedules against the closed forms


@pytest.mark.parametrize("contraction", ["0.9999", "0.5", "1"])
def test_noisy_gd_is_its_linear_law_and_its_programme(contraction: str) -> None:
    count = 1500
    schedule: tuple[Any, Any, Any] = ([1] * count, [contraction] * count, [3] * count)
    closed = oracle.bound("noisy-gd.mu").reference(
        sensitivity=1, dataset_size=1, noise_on_mean=3, contraction=contraction, steps=count, width="1e-20"
    )
    assert mu(*schedule).overlaps(closed)
    assert linear(*schedule).overlaps(closed)


@pytest.mark.full
@pytest.mark.parametrize(
    ("step", "programme", "law"), [("5.4e-5", 2.615, 2.426), ("1e-4", 2.366, 2.158), ("2e-4", 1.923, 1.663)]
)
def test_the_gap_of_noisy_cgd(step: str, programme: float, law: float) -> None:
    """400 epochs of 60 batches: the factor of Theorem 2.8 in document 000, and of a quadratic loss."""
    c, touched = 1 - Fraction(step), [int(i % 60 == 59) for i in range(24_000)]
    proved = oracle.bound("noisy-cgd.mu").reference(
        sensitivity=1, batch_size=1, noise_on_mean=1, contraction=c, batches=60, epochs=400
    )
    attained = LINEAR.reference(drift=touched, contractions=[c] * 24_000, iterate_noise=[1] * 24_000)
    assert proved.to_floats() == pytest.approx((programme,) * 2, abs=5e-4)
    assert attained.to_floats() == pytest.approx((law,) * 2, abs=5e-4)
    assert attained.certainly_le(proved)


def test_ten_thousand_steps() -> None:
    count, c = 10_000, Fraction(9999, 10_000)
    touched = [int(i % 50 == 49) for i in range(count)]
    closed = oracle.bound("noisy-cgd.mu").reference(
        sensitivity=1, batch_size=1, noise_on_mean=1, contraction=c, batches=50, epochs=200
    )
    assert mu(touched, [c] * count, [1] * count, width="1e-12").overlaps(closed)


# --- the fast path


def batch(count: int, length: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    drift = rng.choice([0.0, 1.0, 2.5], (count, length)) * rng.random((count, 1))
    diameter = np.where(rng.random(count) < 0.3, math.inf, 10 ** rng.uniform(-2, 2, count))
    contraction = np.where(rng.random((count, length)) < 0.03, 0.0, rng.uniform(0.7, 1.05, (count, length)))
    return {
        "drift": drift, "contractions": contraction, "iterate_noise": 10 ** rng.uniform(-1, 1, (count, length)),
        "diameter": diameter,
    }


@every_library
@pytest.mark.parametrize(("count", "length"), [(60, 13), (8, 120)])
def test_sound_and_tight_on_long_schedules(library: str, count: int, length: int) -> None:
    table = batch(count, length, seed=length)
    points = [{name: column[i].tolist() for name, column in table.items()} for i in range(count)]
    check_fast(SHIFTED, points, library)
    check_fast(LINEAR, [{k: v for k, v in point.items() if k != "diameter"} for point in points], library)


@pytest.mark.full
@every_library
def test_what_decays_below_the_doubles_is_not_lost(library: str) -> None:
    """A drift, then hundreds of halvings without one: mu is tiny, or 0 in float64, and must not come out below."""
    for free in (200, 700, 1300):
        point = {
            "drift": [1.0] + [0.0] * free, "contractions": [0.5] * (free + 1), "iterate_noise": [1.0] * (free + 1),
            "diameter": math.inf,
        }
        check_fast(SHIFTED, [point, {**point, "diameter": 2.0}], library)
        check_fast(LINEAR, [{k: v for k, v in point.items() if k != "diameter"}], library)


def test_many_edges_and_a_large_diameter_are_left_to_the_reference() -> None:
    """Growing drifts have an edge a step, and every start sees them all: the fast path gives up, the answer stands."""
    count = 300
    point = {
        "drift": [float(i + 1) for i in range(count)], "contractions": [1.0] * count, "iterate_noise": [1.0] * count,
        "diameter": 1e6,
    }
    arrays = {name: np.asarray(value) for name, value in point.items()}
    assert np.isnan(SHIFTED.vectorised(namespace(), Values(**arrays)))
    check_fast(SHIFTED, [point], "numpy")


@examples(1 / 2)
@given(st.integers(0, 5), st.sampled_from(sorted(LIBRARIES)))
def test_one_schedule_for_many_diameters(seed: int, library: str) -> None:
    table = batch(1, 6, seed)
    convert = LIBRARIES[library]
    schedules = {name: convert(table[name][0]) for name in ("drift", "contractions", "iterate_noise")}
    together = np.asarray(SHIFTED.fast(**schedules, diameter=convert(np.array([0.0, 0.3, math.inf]))))
    apart = [float(SHIFTED.fast(**schedules, diameter=d)) for d in (0.0, 0.3, math.inf)]
    np.testing.assert_allclose(together, apart, rtol=1e-13)


# --- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"drift": [1]}, "must have one length"),
        ({"drift": [1, -1]}, r"drift = -1 \(entry 2\)"),
        ({"iterate_noise": [1, 0]}, r"iterate_noise = 0 \(entry 2\)"),
        ({"contractions": ["a", 1]}, "contractions = a"),
        ({"diameter": -1}, "diameter = -1"),
    ],
)
def test_bad_schedules_are_named(change: dict[str, Any], message: str) -> None:
    point: dict[str, Any] = {"drift": [1, 1], "contractions": [1, 1], "iterate_noise": [1, 1], "diameter": 1}
    with pytest.raises(DomainError, match=message):
        SHIFTED.reference(**{**point, **change})
