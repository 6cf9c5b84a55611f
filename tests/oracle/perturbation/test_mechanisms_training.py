"""The exponential mechanism, subsample and aggregate, and noisy moments: their exact laws, guarantees and errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy import integrate, stats

import oracle
from oracle.algorithms.mechanisms import exponential_mechanism
from oracle.core.algorithm import Algorithm, Values
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from oracle.core.planning import CONDITIONAL, PROVED, plan_of_training, proved_epsilon
from oracle.core.tape import Tape
from tests.commands import output, parsed
from tests.trainings import mechanisms as samples

GRID, CHAIN = oracle.algorithm("exponential-mechanism"), oracle.algorithm("exponential-mechanism-sampler")
BLOCKS, MOMENTS = oracle.algorithm("subsample-aggregate"), oracle.algorithm("sufficient-statistics")
Array = NDArray[np.float64]


def grid(**changes: Any) -> Values:
    given = {"loss": "squared", "loss_range": 1, "temperature": 2, "regularisation": "0.1"}
    return GRID.parse({**given, "grid_radius": 2, "grid_points": 5, **changes})


def chain(**changes: Any) -> Values:
    given = {"loss": "logistic", "loss_range": 1, "temperature": 2, "regularisation": "0.3", "steps": 400}
    return CHAIN.parse({**given, "proposal_std": "1.5", **changes})


def blocks(**changes: Any) -> Values:
    given = {"estimator": "mean", "order": "given", "blocks": 4, "noise_scale": "0.5"}
    return BLOCKS.parse({**given, "estimate_low": -1, "estimate_high": 2, **changes})


def moments(**changes: Any) -> Values:
    return MOMENTS.parse({"noise_scale": "0.01", "variance_floor": "0.02", **changes})


def proved(item: Algorithm, values: Values, records: int) -> Enclosure:
    """The pure epsilon that is proved of a training, or would be of one that does not round its law."""
    found = plan_of_training(item, values, records=records, delta="1e-5").judged[0]
    assert found.status == (CONDITIONAL if item is GRID else PROVED)
    assert found.guarantee.bound == f"{item.name}.epsilon"
    assert found.delta == 0
    assert found.epsilon is not None
    return found.epsilon


def data(records: int = 12, dimension: int = 1, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(records, dimension)), rng.integers(0, 2, records).astype(np.float64)


# --- the exponential mechanism on a grid


def exact_law(records: list[tuple[float, float]], values: Values) -> list[mpf]:
    """The law for one feature and the squared loss: energies in rationals, one exponential each in 50 digits."""
    energies = []
    for j in range(values.grid_points):
        theta = values.grid_radius * (Fraction(2 * j, values.grid_points - 1) - 1)
        losses = (min((Fraction(x) * theta - Fraction(y)) ** 2 / 2, values.loss_range) for x, y in records)
        energies.append((sum(losses) + len(records) * values.regularisation * theta**2 / 2) / values.temperature)
    weights = [mp.exp(-mpf(energy.numerator) / energy.denominator) for energy in energies]
    return [weight / mp.fsum(weights) for weight in weights]


def law_of(records: list[tuple[float, float]], values: Values) -> Array:
    table = np.array(records)
    return exponential_mechanism.probabilities(table[:, :1], table[:, 1], values)


@pytest.mark.parametrize("temperature", ["0.3", "2"])
def test_every_pair_of_neighbours_is_within_epsilon_exactly(temperature: str) -> None:
    """All data sets of three records of a universe of five: the laws in rationals, their hockey-stick divergence 0."""
    universe = [(-1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.5, -0.5), (0.5, 2.0)]
    values = grid(temperature=temperature)
    with mp.workdps(50):
        epsilon = proved(GRID, values, 3)
        assert epsilon.contains(2 / Fraction(temperature))
        allowed = mp.exp(2 / mpf(temperature))
        largest = mpf(0)
        for common in itertools.combinations_with_replacement(universe, 2):
            laws = []
            for last in universe:
                laws.append(exact_law([*common, last], values))
                np.testing.assert_allclose(
                    law_of([*common, last], values), [float(p) for p in laws[-1]], rtol=1e-13
                )
            for p, q in itertools.permutations(laws, 2):
                assert sum(max(mpf(0), a - allowed * b) for a, b in zip(p, q, strict=True)) == 0
                largest = max(largest, *(mp.log(a / b) for a, b in zip(p, q, strict=True)))
        assert largest > 0.5 * 2 / mpf(temperature), "no pair comes near the bound: the test is too easy"


def test_the_bound_is_reached_in_the_limit() -> None:
    """Two models that every record separates by B; the one with almost no weight gains it: nearly 2B/T."""
    values = grid(grid_points=2, regularisation=0)
    common = [(1.0, -2.0)] * 20
    laws = [law_of([*common, (1.0, last)], values) for last in (2.0, -2.0)]
    assert 0.999 < math.log(laws[0][1] / laws[1][1]) <= 1


def test_unclipped_losses_would_break_what_is_proved() -> None:
    """The same records with room for their whole losses: the ratio is beyond what a loss in [0, 1] may cost."""
    pair = [[(0.0, 0.0), (1.0, last)] for last in (2.0, -2.0)]
    clipped, whole = (
        float(np.abs(np.log(law_of(pair[0], values) / law_of(pair[1], values))).max())
        for values in (grid(), grid(loss_range=100))
    )
    assert clipped <= 1 < whole


def test_the_grid_is_drawn_with_its_probabilities() -> None:
    """Chi-square over the 25 models, 50000 draws of a fixed seed, error probability 1e-6; and every draw by itself."""
    features, labels = data(6, 2)
    values = grid(loss="logistic")
    law = exponential_mechanism.probabilities(features, labels, values)
    models = exponential_mechanism.candidates(values, 2)
    assert models.shape == (25, 2)
    tape = Tape(12, 50_000)
    heard: dict[str, Any] = {}
    released = np.asarray(
        GRID.train_batched(features, labels, values, tape, recorder=lambda kind, **facts: heard.update(facts))
    )
    chosen = np.asarray(heard["chosen"])
    np.testing.assert_allclose(released, models[chosen], rtol=1e-15)
    counts = np.bincount(chosen, minlength=25)
    assert (law * 50_000).min() > 5
    assert stats.chisquare(counts, law * 50_000).pvalue > 1e-6
    table, uniform = np.cumsum(law), tape.uniform("model", 0, 1)[:, 0]
    assert (uniform <= table[chosen] + 1e-12).all()
    assert (uniform >= np.concatenate([[0], table])[chosen] - 1e-12).all()


@pytest.mark.parametrize("seed", range(12))
def test_both_tables_of_probabilities_agree(seed: int) -> None:
    """The drawn models agree even where the laws differ a little; these do not."""
    features, labels, given = samples.exponential_mechanism(np.random.default_rng(seed))
    values = GRID.parse(given)
    tables: list[Any] = []
    for train in (GRID.reference, GRID.train_batched):
        train(features, labels, values, Tape(0), recorder=lambda kind, **facts: tables.append(facts["probabilities"]))
    np.testing.assert_allclose(np.asarray(tables[1]), tables[0], rtol=1e-12, atol=1e-300)


def test_the_losses_are_those_of_the_page() -> None:
    for score, label in itertools.product((-50.0, -1.2, 0.0, 0.7, 60.0), (0.0, 1.0)):
        with mp.workdps(40):
            logistic = float(mp.log(1 + mp.exp(mpf(score))) - mpf(label) * mpf(score))
        for loss, value in (("logistic", logistic), ("squared", (score - label) ** 2 / 2)):
            got = exponential_mechanism.clipped_loss(loss, score, label, 1.0)
            assert got == pytest.approx(min(value, 1.0), rel=1e-14)
    assert exponential_mechanism.clipped_loss("logistic", -2000.0, 1.0, math.inf) == 2000.0


def test_a_grid_too_large_is_refused_by_both() -> None:
    for train in (GRID.reference, GRID.train_batched):
        with pytest.raises(DomainError, match="grid_points = 101 is outside its domain: at most 1000000 models in 3"):
            train(*data(4, 3), grid(grid_points=101), Tape(0))
    with pytest.raises(DomainError, match="grid_points = 1 is outside its domain"):
        grid(grid_points=1)


# --- the chain towards it


POINTS = np.linspace(-12, 12, 40_001)  # 0 is the middle one


def target(features: Array, labels: Array) -> Array:
    """The density of the chain's target in one dimension at these points, up to a factor, by numpy alone."""
    scores = features[:, 0] * POINTS[:, None]
    losses = np.minimum(np.logaddexp(0, scores) - labels * scores, 1.0)
    return np.asarray(np.exp(-(losses.sum(axis=1) + len(labels) * 0.3 / 2 * POINTS**2) / 2))


def test_a_long_chain_nears_the_target_and_a_short_one_does_not() -> None:
    """4000 chains of a fixed seed: a KS test at 1e-6 passes after 400 steps and fails after two: no guarantee."""
    features, labels = data(8, 1, seed=3)
    table = integrate.cumulative_trapezoid(target(features, labels), POINTS, initial=0)

    def below(theta: Array) -> Array:
        return np.interp(theta, POINTS, table / table[-1])

    for steps, near in ((400, True), (2, False)):
        states = np.asarray(CHAIN.train_batched(features, labels, chain(steps=steps), Tape(23, 4000)))[:, 0]
        assert (stats.kstest(states, below).pvalue > 1e-6) == near


def test_one_step_has_its_law() -> None:
    """P(move) = E min(1, pi(proposal) / pi(0)): 40000 chains of a fixed seed, at 5.5 standard errors (1e-7)."""
    features, labels = data(8, 1, seed=3)
    density = target(features, labels)
    ratio = np.minimum(1.0, density / density[20_000])
    moves = float(integrate.trapezoid(stats.norm(scale=1.5).pdf(POINTS) * ratio, POINTS))
    states = np.asarray(CHAIN.train_batched(features, labels, chain(steps=1), Tape(29, 40_000)))[:, 0]
    assert 0.05 < moves < 0.95
    assert abs((states != 0).mean() - moves) < 5.5 * math.sqrt(moves * (1 - moves) / 40_000)


def test_the_chain_has_no_guarantee_and_is_not_audited_for_one() -> None:
    assert CHAIN.guarantees == ()
    [entry] = [entry for entry in parsed("algorithms", "--json") if entry["algorithm"] == CHAIN.name]
    assert entry["guarantees"] == []
    [line] = [line for line in output("algorithms").splitlines() if line.startswith(CHAIN.name)]
    assert " output  " in line
    assert "  -  " in line
    with pytest.raises(DomainError, match="no guarantee"):
        proved_epsilon(CHAIN, chain(), records=8, delta="1e-5")


# --- subsample and aggregate


def silent(values: Values, features: Array, labels: Array, seed: int = 0) -> float:
    """The mean of the estimates before noise."""
    heard: dict[str, Any] = {}
    BLOCKS.reference(features, labels, values, Tape(seed), recorder=lambda kind, **facts: heard.update(facts))
    return float(heard["exact"])


def test_estimates_are_clipped_one_by_one() -> None:
    labels = np.array([0.5, 0.7, 9.0, 11.0, -5.0, -5.5, 1.0, 1.2])
    assert silent(blocks(), np.zeros((8, 1)), labels) == pytest.approx((0.6 + 2 - 1 + 1.1) / 4, rel=1e-14)
    medians = silent(blocks(estimator="median", blocks=2), np.zeros((8, 1)), labels)  # of 4.85 and -2
    assert medians == pytest.approx((2 - 1) / 2, rel=1e-14)


def test_the_slope_is_that_of_least_squares() -> None:
    features, labels = data(12, 1, seed=4)
    features[:3] = 0.1  # a block whose feature does not vary: its slope is 0 by definition
    slopes = [np.polyfit(features[3 * j : 3 * j + 3, 0], labels[3 * j : 3 * j + 3], 1)[0] for j in range(1, 4)]
    expected = np.clip([0.0, *slopes], -1, 2).mean()
    assert silent(blocks(estimator="slope"), features, labels) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("estimator", ["mean", "median", "slope"])
@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_one_record_moves_one_estimate(estimator: str, order: str) -> None:
    """By at most (high - low)/k whatever it becomes, under any permutation, and that is reached."""
    values = blocks(estimator=estimator, order=order)
    largest = 0.0
    for seed in range(30):
        features, labels = data(12, 1, seed)
        # A median follows one record only where the others of its block stand on both sides of it.
        labels[:] = np.where(np.arange(12) % 2, 1e6, -1e6) if estimator == "median" else 0.0
        features[5] = 3.0
        ends = []
        for extreme in (-1e6, 1e6):
            labels[5] = extreme
            ends.append(silent(values, features, labels, seed))
        largest = max(largest, abs(ends[0] - ends[1]))
        assert largest <= 3 / 4 * (1 + 1e-12)
    assert largest == pytest.approx(3 / 4, rel=1e-12)
    assert proved(BLOCKS, values, 12).contains(Fraction(3, 4) / Fraction(1, 2))


def test_shuffled_blocks_are_a_partition() -> None:
    seen: list[Any] = []
    values = blocks(order="shuffled")
    BLOCKS.reference(*data(), values, Tape(7), recorder=lambda kind, **facts: seen.append((kind, facts)))
    places = [facts["batch"] for kind, facts in seen if kind == "batch"]
    assert [len(block) for block in places] == [3] * 4
    order = np.concatenate(places).tolist()
    assert sorted(order) == list(range(12))
    assert order != list(range(12))


@pytest.mark.parametrize(("item", "values", "scale", "width"), [
    (BLOCKS, blocks(), 0.5, 1), (MOMENTS, moments(), 0.01, 4),
])
def test_the_noise_is_laplace(item: Algorithm, values: Values, scale: float, width: int) -> None:
    """Release minus what is exact, 20000 models of a fixed seed: a KS test a number at 1e-6, correlations at 5.5."""
    features, labels = data()
    heard: dict[str, Any] = {}
    released = np.asarray(item.train_batched(
        features, labels, values, Tape(41, 20_000), recorder=lambda kind, **facts: heard.update(facts)
    ))
    noise = released[:, :width] - np.asarray(heard["exact"])
    for column in noise.T:
        assert stats.kstest(column, stats.laplace(scale=scale).cdf).pvalue > 1e-6
    correlations = np.corrcoef(noise.T).reshape(width, width)[np.triu_indices(width, 1)]
    assert (np.abs(correlations) < 5.5 / math.sqrt(20_000)).all()


@pytest.mark.parametrize(("changes", "message", "unmet"), [
    ({"blocks": 5}, "blocks = 5 is outside its domain: a divisor of the 12 records", "no record is left over"),
    ({"blocks": 24}, "a divisor of the 12 records", "no record is left over"),
    ({"estimate_low": 2}, "estimate_high = 2 is outside its domain: a real number > estimate_low = 2", "not empty"),
])
def test_blocks_that_do_not_fit_are_refused_everywhere(changes: dict[str, Any], message: str, unmet: str) -> None:
    values = blocks(**changes)
    for train in (BLOCKS.reference, BLOCKS.train_batched):
        with pytest.raises(DomainError, match=message):
            train(*data(12), values, Tape(0))
    with pytest.raises(DomainError, match=f"not met: .*{unmet}"):
        proved_epsilon(BLOCKS, values, records=12, delta="1e-5")


# --- noisy moments


def test_moments_slope_and_intercept_are_those_of_least_squares() -> None:
    """With next to no noise: the line of numpy; with much, the floor keeps the slope a function of the moments."""
    rng = np.random.default_rng(6)
    x = rng.random(50)
    y = 0.2 + 0.5 * x + 0.1 * rng.random(50)
    quiet = MOMENTS.reference(x[:, None], y, moments(noise_scale="1e-12"), Tape(1))
    np.testing.assert_allclose(quiet[:4], [(x * x).mean(), (x * y).mean(), x.mean(), y.mean()], rtol=1e-9)
    np.testing.assert_allclose(quiet[4:], np.polyfit(x, y, 1), rtol=1e-7)
    loud = np.asarray(MOMENTS.train_batched(x[:, None], y, moments(noise_scale="0.2"), Tape(1, 200)))
    variance = loud[:, 0] - loud[:, 2] ** 2
    assert (variance < 0.02).any()
    assert (variance > 0.02).any()
    np.testing.assert_allclose(
        loud[:, 4], (loud[:, 1] - loud[:, 2] * loud[:, 3]) / np.maximum(variance, 0.02), rtol=1e-9
    )
    np.testing.assert_allclose(loud[:, 5], loud[:, 3] - loud[:, 4] * loud[:, 2], rtol=1e-9)


def test_the_moments_move_by_four_over_n_and_records_outside_the_square_are_clipped() -> None:
    x, y = np.random.default_rng(2).random((2, 10))
    ends = []
    for extreme in (1e6, -1e6):  # (1, 1) and (0, 0) once they are clipped
        x[3] = y[3] = extreme
        ends.append(MOMENTS.reference(x[:, None], y, moments(), Tape(9))[:4])
    assert np.abs(ends[0] - ends[1]).sum() == pytest.approx(4 / 10, rel=1e-12)
    pure = proved(MOMENTS, moments(), 10)
    assert pure.contains(Fraction(4, 10) / Fraction(1, 100))
    assert proved_epsilon(MOMENTS, moments(), records=10, delta="0.01").certainly_le(pure)  # composed at a delta


# --- all of them


@pytest.mark.parametrize(("item", "values"), [(GRID, grid()), (CHAIN, chain(steps=9)), (MOMENTS, moments())])
def test_the_order_of_the_records_does_not_matter(item: Algorithm, values: Values) -> None:
    features, labels = data()
    order = np.random.default_rng(3).permutation(12)
    once, again = (
        np.asarray(item.train_batched(x, y, values, Tape(3, 20)))
        for x, y in ((features, labels), (features[order], labels[order]))
    )
    np.testing.assert_allclose(again, once, rtol=1e-11)


@pytest.mark.parametrize(("item", "values"), [(MOMENTS, moments()), (BLOCKS, blocks(estimator="slope"))])
def test_one_feature_is_needed(item: Algorithm, values: Values) -> None:
    for train in (item.reference, item.train_batched):
        with pytest.raises(DomainError, match=r"outside .* domain: one feature"):
            train(*data(12, 2), values, Tape(0))


@pytest.mark.parametrize("make", [
    lambda: grid(temperature=0), lambda: grid(loss_range=-1), lambda: grid(loss="linear"),
    lambda: chain(regularisation=0), lambda: chain(steps=0), lambda: blocks(noise_scale=0), lambda: blocks(blocks=0),
    lambda: moments(noise_scale=-1), lambda: moments(variance_floor=0),
])
def test_a_configuration_without_meaning_is_refused(make: Any) -> None:
    with pytest.raises(DomainError, match="outside its domain"):
        make()
