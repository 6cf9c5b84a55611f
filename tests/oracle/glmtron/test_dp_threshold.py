"""DP-Threshold: stable histograms enumerated exactly, the printed algorithm refuted, composition, edges, bad input."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_anywhere, check_fast, check_monotone, check_second_opinion
from tests.opinion import number
from tests.shuffled import FINE, NEAR, logarithm

EPSILON, DELTA = oracle.bound("dp-threshold.epsilon"), oracle.bound("dp-threshold.delta")
ONE = {"histograms": 1, "calls": 1}

# --- one histogram, exactly: with e^{-epsilon'/2} = r and delta' = r^j the threshold is the count 1 + j, and a bin of
# count c <= 1 + j speaks with probability r^{1+j-c}/2; what it then says has one and the same law for all such c, so
# that a bin is silent or speaks, and nothing else counts.

Law = dict[tuple[str, ...], Fraction]


def speaks(count: int, ratio: Fraction, threshold: int) -> Fraction:
    """The repaired algorithm: only bins that are not empty can exceed the threshold."""
    return ratio ** (threshold - count) / 2 if count else Fraction(0)


def printed(count: int, ratio: Fraction, threshold: int) -> Fraction:
    """Algorithm 2 as printed: noise on the counts strictly between 0 and the threshold, 0 for all others."""
    return Fraction(int(0 < count < threshold))


def histogram(counts: tuple[int, ...], ratio: Fraction, threshold: int, rule: Callable[..., Fraction]) -> Law:
    law: Law = {}
    for bits in itertools.product((False, True), repeat=len(counts)):
        weight = Fraction(1)
        for bit, count in zip(bits, counts, strict=True):
            chance = rule(count, ratio, threshold)
            weight *= chance if bit else 1 - chance
        law[tuple("speaks" if bit else "silent" for bit in bits)] = weight
    return law


def leaked(one: Law, other: Law, factor: Fraction) -> Fraction:
    return sum((max(Fraction(0), one[o] - factor * other[o]) for o in one), Fraction(0))


def moves(threshold: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Every move of one batch mean between two bins, with counts up to the threshold, both ways round."""
    for first, second in itertools.product(range(1, threshold + 1), range(threshold)):
        before, after = (first, second), (first - 1, second + 1)
        yield before, after
        yield after, before


CASES = [(Fraction(1, 2), 3), (Fraction(9, 10), 4), (Fraction(1, 10), 2), (Fraction(99, 100), 3)]


@pytest.mark.parametrize(("ratio", "power"), CASES)
def test_one_histogram_leaks_no_more_than_the_bound_and_reaches_it_at_its_epsilon(ratio: Fraction, power: int) -> None:
    threshold, epsilon, delta = 1 + power, 2 * logarithm(1 / ratio), ratio**power
    worst = Fraction(0)
    for factor in (Fraction(1), 1 / ratio, 1 / ratio**2, (1 + 1 / ratio) / 2):
        bound = DELTA.reference(
            threshold_epsilon=epsilon, threshold_delta=delta, epsilon=logarithm(factor), width=FINE, **ONE
        )
        for before, after in moves(threshold):
            value = leaked(*(histogram(c, ratio, threshold, speaks) for c in (before, after)), factor)
            assert value <= bound.upper.to_fraction() + NEAR, (before, after, factor)
            worst = max(worst, value) if factor == 1 / ratio**2 else worst
    assert worst == delta / 2


def test_the_printed_algorithm_gives_the_count_away() -> None:
    """A bin at the threshold is silent, one batch less makes it speak for sure: delta = 1, whatever the epsilon."""
    ratio, threshold = Fraction(1, 2), 4
    for factor in (Fraction(1), Fraction(10**6)):
        pair = [histogram(counts, ratio, threshold, printed) for counts in ((threshold, 1), (threshold - 1, 2))]
        assert leaked(pair[0], pair[1], factor) == leaked(pair[1], pair[0], factor) == 1
        repaired = [histogram(counts, ratio, threshold, speaks) for counts in ((threshold, 1), (threshold - 1, 2))]
        assert max(leaked(repaired[0], repaired[1], factor), leaked(repaired[1], repaired[0], factor)) < Fraction(1, 2)


def test_the_printed_algorithm_loses_the_winning_bin() -> None:
    """All batches in one bin: the bin that should win is silent."""
    assert printed(100, Fraction(1, 2), 4) == 0
    assert speaks(4, Fraction(1, 2), 4) == Fraction(1, 2)


@pytest.mark.parametrize("share", ["0", "0.3", "0.5", "0.9", "1"])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.2"), ("0.1", "0.9"), ("4", "1e-4")])
def test_the_three_cases_of_large_counts_lie_below_the_bound(epsilon: str, delta: str, share: str) -> None:
    """A bin that vanishes beside one far above the threshold, by integration of the densities as they are."""
    with mp.workdps(25):
        m, p, e = number(epsilon) / 2, number(delta) / 2, number(share) * number(epsilon)

        def positive_part(weight: mpf, other: mpf) -> mpf:
            """The integral of (weight L(x - m) - other L(x))_+ for L the density of Lap(1), cut at its kinks."""
            def density(x: mpf) -> mpf:
                return max(mpf(0), (weight * mp.exp(-abs(x - m)) - other * mp.exp(-abs(x))) / 2)

            kink = (m + mp.log(other / weight)) / 2
            return mp.quad(density, sorted({mpf(-60), mpf(0), min(max(kink, mpf(0)), m), m, mpf(60)}))

        vanishes = p + positive_part(1 - p, mp.exp(e))
        appears = positive_part(mpf(1), mp.exp(e) * (1 - p))
        true = max(vanishes, appears, p)
    bound = DELTA.reference(
        threshold_epsilon=epsilon, threshold_delta=delta, epsilon=Fraction(share) * Fraction(epsilon), **ONE
    )
    assert true <= mpf(bound.to_floats()[1]) * (1 + mpf(10) ** -12)
    if share == "1":
        assert abs(true - p) < mpf(10) ** -12


# --- composition


@pytest.mark.parametrize(("epsilon", "delta"), [("0.01", "1e-9"), ("1", "0.1"), ("20", "1e-300")])
def test_one_histogram_at_its_epsilon_has_half_its_delta(epsilon: str, delta: str) -> None:
    given = {"threshold_epsilon": epsilon, "threshold_delta": delta}
    assert DELTA.reference(**given, epsilon=epsilon, **ONE).contains(Fraction(delta) / 2)
    three = DELTA.reference(**given, histograms=3, calls=1, epsilon=3 * Fraction(epsilon))
    assert three.possibly_le(3 * Fraction(delta) / 2)


@pytest.mark.parametrize(("epsilon", "calls", "total"), [("0.01", 5, "1e-6"), ("0.3", 2, "1e-3"), ("2", 40, "1e-5")])
def test_below_optimal_composition_which_knows_less(epsilon: str, calls: int, total: str) -> None:
    given = {"threshold_epsilon": epsilon, "threshold_delta": "1e-9", "delta": total}
    ours = EPSILON.reference(**given, histograms=3, calls=calls)
    any_ = oracle.bound("composition.optimal").reference(
        base_epsilon=epsilon, base_delta=Fraction("1e-9") / 2, steps=3 * calls, delta=total
    )
    assert ours.certainly_le(any_)
    assert not any_.possibly_le(ours)
    swapped = EPSILON.reference(**given, histograms=calls, calls=3)
    assert swapped.overlaps(ours)


def documents(records: int, epsilon: str, delta: str) -> dict[str, Any]:
    """epsilon' = epsilon / sqrt(8 N ln(2/delta)) and delta' = delta/(2N) of Theorem 4.1, for N calls."""
    with mp.workdps(40):
        one = number(epsilon) / mp.sqrt(8 * records * mp.log(2 / number(delta)))
        return {
            "threshold_epsilon": Fraction(mp.nstr(one, 30)), "threshold_delta": Fraction(delta) / (2 * records),
            "calls": records,
        }


@pytest.mark.parametrize(
    ("records", "epsilon", "delta", "histograms"),
    [(550, "0.5", "9.7e-4", 3), (1000, "1", "1e-5", 3), (1000, "5", "1e-5", 3), (1000, "30", "1e-5", 3)],
)
def test_the_documents_thresholds_are_what_they_promise(
    records: int, epsilon: str, delta: str, histograms: int
) -> None:
    """Three histograms a step: advanced composition does not show it at epsilon = 5 and 30, this composition does."""
    value = DELTA.reference(**documents(records, epsilon, delta), histograms=histograms, epsilon=epsilon)
    assert value.certainly_le(Fraction(delta))


def test_a_figure_of_many_calls() -> None:
    value = EPSILON.reference(**documents(1000, "30", "1e-5"), histograms=3, delta="1e-5")
    assert abs(value.upper.to_fraction() - Fraction("22.979")) < Fraction("0.001")


@pytest.mark.full
@pytest.mark.parametrize("bound", [EPSILON, DELTA], ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize("total", ["0.01", "0.7", "1.4"])
def test_the_inverse_inverts(total: str) -> None:
    params: dict[str, Any] = {"threshold_epsilon": "0.5", "threshold_delta": "1e-7", "histograms": 3, "calls": 2}
    delta = DELTA.reference(epsilon=total, width="1e-40", **params)
    back = EPSILON.reference(delta=delta.upper.to_fraction(), width="1e-20", **params).hull(
        EPSILON.reference(delta=delta.lower.to_fraction(), width="1e-20", **params)
    )
    assert back.contains(Fraction(total))
    assert back.width() < 1e-15


# --- edges and errors


def test_at_the_least_total_delta_the_epsilons_add_up() -> None:
    """1 - (1 - p)^k, exactly: nothing is left for the noise to exceed, and less than that no epsilon reaches."""
    params: dict[str, Any] = {"threshold_epsilon": "0.5", "threshold_delta": "0.25", "histograms": 3, "calls": 1}
    least = 1 - Fraction(7, 8) ** 3
    assert EPSILON.reference(delta=least, **params).contains(Fraction(3, 2))
    for run in (EPSILON.reference, EPSILON.fast):
        with pytest.raises(DomainError, match=r"^delta = .* no epsilon is enough"):
            run(**{k: float(Fraction(v)) for k, v in params.items()}, delta=float(least) * 0.999)


@pytest.mark.parametrize("library", LIBRARIES)
def test_fast_next_to_the_least_total_delta_and_to_zero(library: str) -> None:
    least = 1 - (1 - 2.0**-20) ** 2
    common = {"threshold_epsilon": 0.5, "threshold_delta": 2.0**-19, "histograms": 2, "calls": 1}
    near = [{**common, "delta": least * (1 + 2.0**-j)} for j in range(0, 50, 7)]
    free = DELTA.reference(epsilon=0, **common).to_floats()[1]
    near += [{**common, "delta": free * (1 + sign * 2.0**-j)} for j in range(3, 45, 7) for sign in (-1, 1)]
    check_fast(EPSILON, near, library)


def test_a_large_total_delta_asks_for_no_epsilon() -> None:
    params: dict[str, Any] = {"threshold_epsilon": "0.1", "threshold_delta": "1e-9", "histograms": 1, "calls": 1}
    assert EPSILON.reference(delta="0.2", **params) == Enclosure.exactly(0)


@pytest.mark.parametrize("name", ["threshold_epsilon", "threshold_delta", "histograms", "calls", "epsilon"])
def test_strictly_monotone_inside(name: str) -> None:
    params: dict[str, Any] = {
        "threshold_epsilon": Fraction(1, 2), "threshold_delta": Fraction(1, 10**4), "histograms": 3, "calls": 2,
        "epsilon": Fraction(1),
    }
    step = params[name] + 1 if isinstance(params[name], int) else params[name] * (1 + Fraction(1, 10**6))
    check_monotone(DELTA, params, name, step, certain=True)


@pytest.mark.parametrize("run", [DELTA.reference, DELTA.fast], ids=["reference", "fast"])
def test_too_many_histograms_are_named(run: Callable[..., Any]) -> None:
    with pytest.raises(DomainError, match=r"^histograms = 3 is outside its domain: .* with calls = 40000"):
        run(threshold_epsilon=0.1, threshold_delta=1e-9, histograms=3, calls=40000, epsilon=1.0)


@pytest.mark.parametrize(
    ("name", "value"), [("threshold_epsilon", 0), ("threshold_delta", 0), ("threshold_delta", 1), ("histograms", 0),
                        ("calls", "1.5"), ("delta", 0)],
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {
        "threshold_epsilon": 1, "threshold_delta": "1e-9", "histograms": 3, "calls": 2, "delta": "1e-5",
    }
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**{**params, name: value})


@pytest.mark.parametrize("delta", ["1e-300", "0.5"])
def test_second_opinion_at_extremes(delta: str) -> None:
    for epsilon in ("1e-6", "50"):
        point = {"threshold_epsilon": epsilon, "threshold_delta": delta, "histograms": 3, "calls": 1}
        check_second_opinion(DELTA, {**point, "epsilon": Fraction(epsilon)})
        check_second_opinion(EPSILON, {**point, "delta": "0.8"})
