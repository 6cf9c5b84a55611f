"""Exponential mechanism, aggregation, moments, DP-GD and DP-SGD: exact small worlds, figures, edges, errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_named, check_second_opinion
from tests.tiers import examples

EXPONENTIAL, UTILITY = oracle.bound("exponential-mechanism.epsilon"), oracle.bound("exponential-mechanism.utility")
BLOCKS, BLOCKS_GAUSSIAN = (oracle.bound(f"subsample-aggregate{kind}.epsilon") for kind in ("", "-gaussian"))
MOMENTS, MOMENTS_GAUSSIAN = (oracle.bound(f"sufficient-statistics{kind}.epsilon") for kind in ("", "-gaussian"))
DESCENT, DESCENT_SIGMA, SGD = (oracle.bound(name) for name in ("dp-gd.epsilon", "dp-gd.sigma", "dp-sgd.epsilon"))
BOUNDS = (
    EXPONENTIAL, UTILITY, BLOCKS, BLOCKS_GAUSSIAN, MOMENTS, MOMENTS_GAUSSIAN, DESCENT, DESCENT_SIGMA,
)
WORDS = ("replace", "add_remove")
COMPOSED, GAUSSIAN = oracle.bound("gaussian-composed.epsilon"), oracle.bound("gaussian.epsilon")


@pytest.mark.full
@pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
@given(data=st.data())
def test_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.full
@examples(1 / 5)
@given(data=st.data())
def test_sampled_descent_anywhere(data: st.DataObject) -> None:
    check_anywhere(SGD, data)


@pytest.mark.parametrize(("bound", "count"), [(EXPONENTIAL, 60), (DESCENT, 60), (DESCENT_SIGMA, 60), (SGD, 6)])
@pytest.mark.parametrize("word", WORDS)
def test_fast_for_every_relation(bound: oracle.Bound, count: int, word: str) -> None:
    check_fast(bound, [{**point, "neighbours": word} for point in fixed_points(bound, count, seed=13)], "torch")


@pytest.mark.parametrize("word", ["sharp", "textbook"])
def test_utility_for_every_method(word: str) -> None:
    chosen = [{**point, "method": word} for point in fixed_points(UTILITY, 60, seed=13)]
    check_fast(UTILITY, chosen, "torch")
    for point in chosen[:5]:
        check_second_opinion(UTILITY, point)


# --- exponential mechanism


def law(scores: list[Fraction], temperature: Fraction) -> list[mpf]:
    """The exponential mechanism's probabilities."""
    weights = [mp.exp(-mpf(score.numerator) / score.denominator / temperature.numerator * temperature.denominator)
               for score in scores]
    return [weight / mp.fsum(weights) for weight in weights]


def cost(first: list[Fraction], second: list[Fraction], temperature: Fraction = Fraction(2)) -> mpf:
    """The largest log ratio of two laws, which is the epsilon of this pair."""
    pairs = zip(law(first, temperature), law(second, temperature), strict=True)
    return max(abs(mp.log(p / q)) for p, q in pairs)


@given(
    rest=st.lists(st.integers(0, 50), min_size=3, max_size=3), here=st.lists(st.integers(0, 8), min_size=3, max_size=3),
    there=st.lists(st.integers(0, 8), min_size=3, max_size=3),
)
def test_no_pair_of_data_sets_exceeds_the_bound(rest: list[int], here: list[int], there: list[int]) -> None:
    """Losses in [0, 1] in eighths; the others' sums are `rest`. Temperature 2 is the slides' epsilon = 1."""
    common, first, second = ([Fraction(value, 8) for value in values] for values in (rest, here, there))
    with_first, with_second = ([a + b for a, b in zip(common, loss, strict=True)] for loss in (first, second))
    for pair, word, claimed in ((with_second, "replace", 1), (common, "add_remove", Fraction(1, 2))):
        assert EXPONENTIAL.reference(loss_range=1, temperature=2, neighbours=word).contains(claimed)
        assert cost(with_first, pair) <= mpf(claimed.numerator) / claimed.denominator + mpf(10) ** -12


def test_the_bound_is_reached_in_the_limit() -> None:
    """A model of little weight gains 1 while the other loses 1: log ratio .9995 of the 1 that is promised."""
    found = cost([Fraction(15), Fraction(1)], [Fraction(16), Fraction(0)])
    assert 0.999 < found < 1
    assert 0.98 < cost([Fraction(9), Fraction(1)], [Fraction(10), Fraction(0)]) < found


def test_a_regulariser_that_counts_the_records_breaks_add_remove() -> None:
    """R = (0, 10) times n at temperature 2: one record more costs up to 5, not a half."""
    found = cost([Fraction(0), Fraction(10 * 3)], [Fraction(0), Fraction(10 * 4)])
    assert 4.99 < found <= 5
    assert cost([Fraction(0), Fraction(30)], [Fraction(1), Fraction(30)]) <= 0.5, "with n constant it does not"


def test_losses_of_twice_the_range_cost_twice() -> None:
    assert EXPONENTIAL.reference(loss_range=2, temperature=2, neighbours="replace") == Enclosure.exactly(2)


@pytest.mark.parametrize("candidates", [2, 3, 10, 1000])
def test_utility_is_reached_and_never_exceeded(candidates: int) -> None:
    """s (E F - min F) for K - 1 equal gaps at the worst gap, and for random gaps."""
    best, textbook = (
        UTILITY.reference(loss_range=1, epsilon=2, dataset_size=1, candidates=candidates, method=word).to_floats()[1]
        for word in ("sharp", "textbook")
    )
    assert textbook == pytest.approx(math.log(candidates), rel=1e-12)

    def excess(gaps: Any) -> float:
        weights = np.exp(-gaps)
        return float(np.sum(gaps * weights) / np.sum(weights))

    worst = np.full(candidates, 1 + best)
    worst[0] = 0.0
    assert excess(worst) == pytest.approx(best, rel=1e-12)
    rng = np.random.default_rng(candidates)
    for _ in range(200):
        gaps = rng.exponential(1 + best, candidates)
        assert excess(gaps - np.min(gaps)) <= best


def test_utility_of_two_models_is_two_fifths_of_the_textbook() -> None:
    point = {"loss_range": 1, "epsilon": 1, "dataset_size": 1, "candidates": 2}
    sharp, textbook = (UTILITY.reference(**point, method=word) for word in ("sharp", "textbook"))
    ratio = sharp.upper.to_fraction() / textbook.lower.to_fraction()
    assert Fraction("0.397") < ratio < Fraction("0.402")
    for word in ("sharp", "textbook"):
        assert UTILITY.reference(**{**point, "candidates": 1}, method=word) == Enclosure.exactly(0)


# --- subsample and aggregate


def moved_by(records: int, blocks: int, *, by_content: bool) -> Fraction:
    """The largest move of the mean of the blocks' answers over all binary data sets."""

    def mean(data: tuple[int, ...]) -> Fraction:
        split: list[list[int]] = [[] for _ in range(blocks)]
        for position, record in enumerate(data):
            split[record % blocks if by_content else position % blocks].append(record)
        # An answer is whether the block's sum is odd, or its size: both jump from one end of [0, 1] to the other.
        return Fraction(sum(len(block) % 2 if by_content else sum(block) % 2 for block in split), blocks)

    return max(
        abs(mean(data) - mean((*data[:i], other, *data[i + 1 :])))
        for data in itertools.product(range(2), repeat=records) for i in range(records) for other in range(2)
    )


@pytest.mark.parametrize(("records", "blocks"), [(4, 2), (6, 3), (5, 5)])
def test_one_record_moves_one_block(records: int, blocks: int) -> None:
    moved = moved_by(records, blocks, by_content=False)
    assert moved == Fraction(1, blocks)
    assert BLOCKS.reference(estimate_range=1, blocks=blocks, scale=3).contains(moved / 3)


def test_a_record_that_chooses_its_block_moves_two() -> None:
    moved = moved_by(4, 2, by_content=True)
    assert moved == 2 * Fraction(1, 2)
    assert not BLOCKS.reference(estimate_range=1, blocks=2, scale=1).contains(moved)


def test_gaussian_aggregation_is_the_gaussian_mechanism() -> None:
    assert BLOCKS_GAUSSIAN.reference(estimate_range=3, blocks=6, sigma=2, delta="1e-5") == GAUSSIAN.reference(
        sigma=2, sensitivity="1/2", delta="1e-5"
    )


# --- moments


def moments(x: Fraction, y: Fraction) -> tuple[Fraction, ...]:
    return x * x, x * y, x, y


def test_the_joint_sensitivities_of_the_moments() -> None:
    """All pairs on a grid: the l1-norm is at most 4 and the l2-norm at most 2, both at (1, 1) against (0, 0)."""
    grid = [moments(Fraction(i, 4), Fraction(j, 4)) for i in range(5) for j in range(5)]
    differences = [[abs(a - b) for a, b in zip(p, q, strict=True)] for p, q in itertools.product(grid, grid)]
    largest = max(map(sum, differences))
    square = max(sum(part * part for part in difference) for difference in differences)
    assert (largest, square) == (4, 4)
    assert MOMENTS.reference(dataset_size=10, scale=2).contains(largest / 20)
    assert MOMENTS_GAUSSIAN.reference(dataset_size=10, sigma=3, delta="1e-6") == GAUSSIAN.reference(
        sigma=3, sensitivity=Fraction(2, 10), delta="1e-6"
    )


def test_laplace_moments_compose_to_less_at_a_positive_delta() -> None:
    pure = MOMENTS.reference(dataset_size=100, scale="0.1")
    composed = oracle.bound("laplace-composed.epsilon").reference(
        scale="0.1", sensitivity="0.01", steps=4, delta="1e-2"
    )
    assert pure.contains(Fraction(4, 10))
    assert composed.certainly_le(pure)
    assert oracle.bound("laplace-composed.delta").reference(
        scale="0.1", sensitivity="0.01", steps=4, epsilon="0.4"
    ) == Enclosure.exactly(0)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_the_centred_moment_has_its_own_sensitivity(n: int) -> None:
    """S_xx / n moves by (n-1)/n^2 at most: all data of zeros and ones but one record, which goes anywhere on a grid."""

    def centred(data: list[Fraction]) -> Fraction:
        mean = sum(data, Fraction(0)) / n
        return sum(((x - mean) ** 2 for x in data), Fraction(0)) / n

    grid = [Fraction(i, 6) for i in range(7)]
    moves = []
    for ones in range(n):
        values = [centred([Fraction(1)] * ones + [Fraction(0)] * (n - 1 - ones) + [x]) for x in grid]
        moves.append(max(values) - min(values))
    assert max(moves) == Fraction(n - 1, n * n)


# --- DP-GD


POINT: dict[str, Any] = {"clip_norm": 1, "dataset_size": 1, "delta": Fraction(1, 10**5)}


@pytest.mark.parametrize(("word", "sensitivity"), [("replace", "3/5"), ("add_remove", "3/10")])
def test_descent_is_composed_gaussian_releases(word: str, sensitivity: str) -> None:
    common = {"steps": 50, "delta": "1e-5"}
    assert DESCENT.reference(
        clip_norm=3, dataset_size=10, noise_on_mean=2, neighbours=word, **common
    ) == COMPOSED.reference(sigma=2, sensitivity=sensitivity, **common)


def test_no_steps_cost_nothing_and_need_no_noise() -> None:
    for word in WORDS:
        assert DESCENT.reference(**POINT, noise_on_mean=1, steps=0, neighbours=word) == Enclosure.exactly(0)
        assert DESCENT_SIGMA.reference(**POINT, epsilon=1, steps=0, neighbours=word) == Enclosure.exactly(0)


@pytest.mark.parametrize("steps", [1, 2, 3, 100, 10**6])
@pytest.mark.parametrize("word", WORDS)
def test_noise_and_epsilon_are_inverse(steps: int, word: str) -> None:
    sigma = DESCENT_SIGMA.reference(**POINT, epsilon="0.7", steps=steps, neighbours=word, width="1e-20")
    for end, side in ((sigma.lower, 1), (sigma.upper, -1)):
        back = DESCENT.reference(**POINT, noise_on_mean=end.to_fraction(), steps=steps, neighbours=word, width="1e-25")
        assert abs(back.upper.to_fraction() - Fraction(7, 10)) < Fraction(1, 10**17)
        assert side * (back.upper.to_fraction() - Fraction(7, 10)) >= -Fraction(1, 10**25)


@pytest.mark.parametrize(("epsilon", "found"), [("0.5", "0.751"), ("1", "1.610")])
def test_the_slides_noise_is_too_small_for_a_replaced_record(epsilon: str, found: str) -> None:
    """sigma^2 = 2 (C/(epsilon n))^2 ln(1.25/delta): enough if a record is added or removed, not if it is replaced."""
    classical = oracle.bound("gaussian-classical.sigma").reference(sensitivity=1, epsilon=epsilon, delta="1e-5")
    sigma = classical.upper.to_fraction()
    replaced, added = (DESCENT.reference(**POINT, noise_on_mean=sigma, steps=1, neighbours=word) for word in WORDS)
    assert abs(replaced.upper.to_fraction() - Fraction(found)) < Fraction(1, 1000)
    assert added.certainly_le(Fraction(epsilon))


def test_the_noise_of_a_hundred_steps_four_ways() -> None:
    """sigma^2 n^2 / C^2 at epsilon = 1, delta = 1e-5: exact 1392, zCDP 2402, slide 39240, advanced 89920."""
    exact = DESCENT_SIGMA.reference(**POINT, epsilon=1, steps=100, neighbours="add_remove").upper.to_fraction()
    assert round(float(exact**2)) == 1392
    log = math.log(1e5)
    rho = (math.sqrt(log + 1) - math.sqrt(log)) ** 2
    zcdp = 100 / (2 * rho)
    assert round(zcdp) == 2402
    assert zcdp * math.log(1.25 * 100 / 1e-5) == pytest.approx(39240, rel=5e-4), "the slide's spurious logarithm"
    one = 0.019465  # what 100 steps of advanced composition, slack 5e-6, leave for each
    composed = one * math.sqrt(2 * 100 * math.log(1 / 5e-6)) + 100 * one * math.expm1(one)
    assert composed == pytest.approx(1, rel=1e-3)
    assert 2 * math.log(1.25 * 200 / 1e-5) / one**2 == pytest.approx(89920, rel=1e-3)
    for variance in (zcdp, 39240, 89920):
        epsilon = DESCENT.reference(**POINT, noise_on_mean=math.sqrt(variance), steps=100, neighbours="add_remove")
        assert epsilon.certainly_le(1), "all are enough, none is needed"


# --- DP-SGD


@pytest.mark.parametrize("word", WORDS)
def test_sampled_descent_in_its_own_units(word: str) -> None:
    """Noise 0.04 on the mean of batches of 50 gradients of norm 2 is the noise multiplier 1."""
    common = {"steps": 300, "delta": "1e-5", "neighbours": word}
    assert SGD.reference(
        clip_norm=2, dataset_size=2000, batch_size=50, noise_on_mean="0.04", **common
    ) == oracle.bound("poisson-gaussian.epsilon").reference(sigma=1, sampling_rate="1/40", **common)


@pytest.mark.parametrize("word", WORDS)
def test_a_batch_of_everything_is_full_batch_descent(word: str) -> None:
    common = {"clip_norm": 2, "dataset_size": 40, "steps": 9, "delta": "1e-5", "neighbours": word}
    whole = SGD.reference(batch_size=40, noise_on_mean="0.5", **common)
    assert whole.overlaps(DESCENT.reference(noise_on_mean="0.5", **common))
    assert SGD.reference(batch_size=4, noise_on_mean=5, **common).certainly_le(whole)


def test_a_batch_larger_than_the_data_is_refused_by_both_paths() -> None:
    point = {"clip_norm": 1, "dataset_size": 9, "batch_size": 10, "noise_on_mean": 1, "steps": 5, "delta": 0.1}
    for call in (SGD.reference, SGD.fast):
        with pytest.raises(DomainError, match=r"^batch_size = 10 is above dataset_size = 9"):
            call(**point, neighbours="replace")


# --- orders and errors


@pytest.mark.parametrize("bound", [DESCENT, DESCENT_SIGMA, EXPONENTIAL], ids=lambda item: item.name)
def test_replacing_costs_more(bound: oracle.Bound) -> None:
    assert bound.example is not None
    added, replaced = (bound.reference(**{**bound.example, "neighbours": word}) for word in ("add_remove", "replace"))
    assert not replaced.possibly_le(added)


@pytest.mark.parametrize(
    ("bound", "name", "value"),
    [(EXPONENTIAL, "temperature", 3), (UTILITY, "candidates", 101), (BLOCKS, "blocks", 101), (MOMENTS, "scale", 1),
     (BLOCKS_GAUSSIAN, "estimate_range", 2), (MOMENTS_GAUSSIAN, "sigma", 1), (DESCENT, "steps", 101),
     (DESCENT_SIGMA, "epsilon", 2)],
)
def test_strictly_monotone_inside(bound: oracle.Bound, name: str, value: Any) -> None:
    assert bound.example is not None
    check_monotone(bound, bound.example, name, value, certain=True)


@pytest.mark.parametrize(
    ("bound", "name", "value"),
    [(EXPONENTIAL, "temperature", 0), (UTILITY, "candidates", 0), (BLOCKS, "blocks", "2.5"), (MOMENTS, "scale", -1),
     (BLOCKS_GAUSSIAN, "delta", 1), (MOMENTS_GAUSSIAN, "dataset_size", 0), (DESCENT, "steps", -1),
     (DESCENT_SIGMA, "neighbours", "any"), (SGD, "noise_on_mean", 0)],
)
def test_bad_input_is_named(bound: oracle.Bound, name: str, value: Any) -> None:
    check_named(bound, name, value)
