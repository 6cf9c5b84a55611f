"""Amplification by subsampling: small mechanisms enumerated exactly, tightness, the false forms refuted, edges."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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
from tests.opinion import at_both_precisions

POISSON, POISSON_DELTA, WOR, WOR_DELTA, DRAWN, DRAWN_DELTA = (
    oracle.bound(f"amplification.{name}")
    for name in ("poisson", "poisson-delta", "wor", "wor-delta", "with-replacement", "with-replacement-delta")
)
FAMILY = (POISSON, POISSON_DELTA, WOR, WOR_DELTA, DRAWN, DRAWN_DELTA)
FINE = Fraction(1, 10**40)
METHODS = ("chain", "mixture")

Law = dict[Any, Fraction]
Sample = tuple[int, ...]
Mechanism = Callable[[Sample], Law]


# --- exact enumeration


def mix(parts: Iterable[tuple[Fraction, Law]]) -> Law:
    """The mixture of laws."""
    total: Law = Counter()
    for weight, law in parts:
        for output, mass in law.items():
            total[output] += weight * mass
    return dict(total)


def poisson(data: Sample, rate: Fraction, mechanism: Mechanism) -> Law:
    """Every subset of the records, with its probability."""
    parts = []
    for kept in itertools.product((True, False), repeat=len(data)):
        weight = Fraction(1)
        for keep in kept:
            weight *= rate if keep else 1 - rate
        parts.append((weight, mechanism(tuple(r for r, keep in zip(data, kept, strict=True) if keep))))
    return mix(parts)


def without_replacement(data: Sample, batch: int, mechanism: Mechanism) -> Law:
    """Every subset of that size, in the order of the data."""
    chosen = list(itertools.combinations(data, batch))
    return mix((Fraction(1, len(chosen)), mechanism(sample)) for sample in chosen)


def with_replacement(data: Sample, draws: int, mechanism: Mechanism) -> Law:
    """Every sequence of draws."""
    chosen = list(itertools.product(data, repeat=draws))
    return mix((Fraction(1, len(chosen)), mechanism(sample)) for sample in chosen)


def hockey(first: Law, second: Law, level: Fraction) -> Fraction:
    """sup_S P(S) - level Q(S)."""
    outputs = set(first) | set(second)
    none = Fraction(0)
    return sum((max(none, first.get(o, none) - level * second.get(o, none)) for o in outputs), none)


def ratio(first: Law, second: Law) -> Fraction:
    """The largest ratio of probabilities."""
    return max(mass / second[output] for output, mass in first.items() if mass)


def table_mechanism(samples: Iterable[Sample], seed: int) -> Mechanism:
    """Laws on three outputs drawn at random for every multiset."""
    rng = random.Random(seed)
    table: dict[Sample, Law] = {}
    for sample in sorted({tuple(sorted(s)) for s in samples}):
        weights = [rng.randint(1, 4) for _ in range(3)]
        table[sample] = {output: Fraction(w, sum(weights)) for output, w in enumerate(weights)}
    return lambda sample: table[tuple(sorted(sample))]


def log_of(value: Fraction) -> Fraction:
    """A rational within 10^-60 above log(value)."""
    with mp.workdps(90):
        return Fraction(str(mp.nstr(mp.log(mpf(value.numerator) / value.denominator), 75))) + Fraction(1, 10**60)


def level_of(epsilon: Enclosure) -> Fraction:
    """A rational just above e^epsilon."""
    top = epsilon.upper.to_fraction()
    with mp.workdps(90):
        return Fraction(str(mp.nstr(mp.exp(mpf(top.numerator) / top.denominator), 60))) + Fraction(1, 10**50)


def assert_guarantee(pair: tuple[Enclosure, Enclosure], first: Law, second: Law) -> Fraction:
    """The pair is a true guarantee for the two laws, both ways; how much of its delta is used."""
    level, delta = level_of(pair[0]), pair[1].upper.to_fraction()
    needed = max(hockey(first, second, level), hockey(second, first, level))
    assert needed <= delta
    return needed


def pure_pair(bound: oracle.Bound, companion: oracle.Bound, base: tuple[Fraction, Fraction], **sampling: Any) -> tuple[
    Enclosure, Enclosure
]:
    """(epsilon', delta') of a base that has delta at the level e^epsilon."""
    both = {"base_epsilon": log_of(base[0]), "base_delta": base[1], **sampling}
    return tuple(  # type: ignore[return-value]
        item.reference(width=FINE, **{p.name: both[p.name] for p in item.parameters}) for item in (bound, companion)
    )


LEVELS = (Fraction(1), Fraction(5, 4), Fraction(2), Fraction(4))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", LEVELS)
def test_poisson_holds_for_adding_and_removing(seed: int, level: Fraction) -> None:
    rate = Fraction(1, 3)
    samples = [s for size in range(4) for s in itertools.product((0, 1), repeat=size)]
    mechanism = table_mechanism(samples, seed)
    delta = max(
        max(hockey(mechanism(s), mechanism((*s, r)), level), hockey(mechanism((*s, r)), mechanism(s), level))
        for s in samples if len(s) < 3 for r in (0, 1)
    )
    pair = pure_pair(POISSON, POISSON_DELTA, (level, delta), sampling_rate=rate)
    for data in itertools.product((0, 1), repeat=2):
        for record in (0, 1):
            assert_guarantee(pair, poisson((*data, record), rate, mechanism), poisson(data, rate, mechanism))


def one_change(samples: Iterable[Sample]) -> list[tuple[Sample, Sample]]:
    """All pairs of multisets of one size that differ in one record."""
    sets = {tuple(sorted(s)) for s in samples}
    return [(s, t) for s in sets for t in sets if sum((Counter(s) - Counter(t)).values()) == 1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("size", [1, 2])
def test_wor_and_with_replacement_hold_for_replacing(seed: int, level: Fraction, size: int) -> None:
    samples = list(itertools.product((0, 1, 2), repeat=size))
    mechanism = table_mechanism(samples, seed)
    delta = max(hockey(mechanism(s), mechanism(t), level) for s, t in one_change(samples))
    wor = pure_pair(WOR, WOR_DELTA, (level, delta), dataset_size=3, batch_size=size)
    drawn = {
        method: pure_pair(DRAWN, DRAWN_DELTA, (level, delta), dataset_size=3, draws=size, method=method)
        for method in METHODS
    }
    for rest in itertools.combinations_with_replacement((0, 1, 2), 2):
        for one, other in itertools.combinations((0, 1, 2), 2):
            first, second = (one, *rest), (other, *rest)
            assert_guarantee(wor, *(without_replacement(d, size, mechanism) for d in (first, second)))
            for pair in drawn.values():
                assert_guarantee(pair, *(with_replacement(d, size, mechanism) for d in (first, second)))


def leaky_response(present: bool, odds: Fraction, delta: Fraction) -> Law:
    """The worst (log odds, delta)-DP answer to one bit: given away with probability delta, else randomised response."""
    true, false = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    return {("sure", present): delta, present: true, not present: false}


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 50)])
@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(2, 3)])
def test_poisson_and_wor_are_attained(rate: Fraction, delta: Fraction) -> None:
    """The answer whether record 1 is in the sample, all other records being 0, needs all that is granted."""
    odds = Fraction(3)

    def mechanism(sample: Sample) -> Law:
        return leaky_response(1 in sample, odds, delta)

    exact = 1 + rate * (odds - 1)
    n = rate.denominator
    for pair, first, second in (
        (pure_pair(POISSON, POISSON_DELTA, (odds, delta), sampling_rate=rate),
         poisson((1, 0), rate, mechanism), poisson((0,), rate, mechanism)),
        (pure_pair(WOR, WOR_DELTA, (odds, delta), dataset_size=n, batch_size=rate.numerator),
         without_replacement((1,) + (0,) * (n - 1), rate.numerator, mechanism),
         without_replacement((0,) * n, rate.numerator, mechanism)),
    ):
        assert_guarantee(pair, first, second)
        assert hockey(first, second, exact) == rate * delta
        assert hockey(first, second, exact - Fraction(1, 10**9)) > rate * delta
        assert pair[0].overlaps(at_both_precisions(lambda: mp.log(mpf(exact.numerator) / exact.denominator)))
        assert pair[1].contains(rate * delta)


def test_poisson_is_false_for_replacing() -> None:
    """A mechanism that tells the sample's size: replacing the only record costs the whole epsilon."""
    odds, rate = Fraction(3), Fraction(1, 2)

    def mechanism(sample: Sample) -> Law:
        return leaky_response(sample == (1,), odds, Fraction(0)) if sample else {"nobody": Fraction(1)}

    worst = ratio(poisson((1,), rate, mechanism), poisson((0,), rate, mechanism))
    assert worst == odds
    assert level_of(POISSON.reference(base_epsilon=log_of(odds), sampling_rate=rate)) < worst


def test_wor_is_false_for_a_base_that_sees_the_order_of_the_data() -> None:
    """Randomised response on each place, the sample kept in order: a record's leaving moves the others."""
    odds = Fraction(7)

    def mechanism(sample: Sample) -> Law:
        laws = [{bit: (odds if bit == r else 1) / (1 + odds) for bit in (0, 1)} for r in sample]
        return {
            bits: laws[0][bits[0]] * laws[1][bits[1]] for bits in itertools.product((0, 1), repeat=2)
        }

    first, second = (without_replacement(data, 2, mechanism) for data in ((0, 0, 1), (1, 0, 1)))
    claimed = level_of(WOR.reference(base_epsilon=log_of(odds), dataset_size=3, batch_size=2))
    assert max(ratio(first, second), ratio(second, first)) > claimed
    # In random order the same mechanism keeps the promise.
    first, second = (
        without_replacement(data, 2, lambda s: mix((Fraction(1, 2), mechanism(order)) for order in (s, s[::-1])))
        for data in ((0, 0, 1), (1, 0, 1))
    )
    assert max(ratio(first, second), ratio(second, first)) <= claimed


@pytest.mark.parametrize(("size", "draws"), [(2, 2), (3, 2), (4, 3), (2, 4)])
def test_the_false_forms_with_replacement_are_violated_by_a_pure_base(size: int, draws: int) -> None:
    """An output of probability c 3^copies: the chain's epsilon is attained, those from m/n and p are too small."""
    odds, rare = Fraction(3), Fraction(1, 10**4)

    def mechanism(sample: Sample) -> Law:
        told = rare * odds ** sample.count(1)
        return {"told": told, "not": 1 - told}

    data = (1,) + (0,) * (size - 1)
    first, second = (with_replacement(d, draws, mechanism) for d in (data, (0,) * size))
    hit = 1 - (1 - Fraction(1, size)) ** draws
    worst = ratio(first, second)
    assert worst == (1 + (odds - 1) / size) ** draws
    assert worst > 1 + hit * (odds - 1)
    assert worst > 1 + Fraction(draws, size) * (odds - 1)
    chain = pure_pair(DRAWN, DRAWN_DELTA, (odds, Fraction(0)), dataset_size=size, draws=draws, method="chain")
    assert chain[1] == Enclosure.exactly(0)
    assert_guarantee(chain, first, second)
    assert level_of(chain[0]) - worst < Fraction(1, 10**30)
    assert hockey(first, second, 1 + hit * (odds - 1)) > hit * 0, "p delta is 0 and not enough"
    mixture = pure_pair(DRAWN, DRAWN_DELTA, (odds, Fraction(0)), dataset_size=size, draws=draws, method="mixture")
    assert_guarantee(mixture, first, second)


def test_the_mixture_is_attained_by_two_draws() -> None:
    """Answers of probability 1/12, 1/4, 3/4 at no, one and two copies are log(3)-DP, and use all of delta'."""
    answers: Mapping[int, Fraction] = {0: Fraction(1, 12), 1: Fraction(1, 4), 2: Fraction(3, 4)}

    def mechanism(sample: Sample) -> Law:
        told = answers[sample.count(1)]
        return {True: told, False: 1 - told}

    for a, b in itertools.pairwise(answers.values()):
        assert max(a / b, b / a, (1 - a) / (1 - b), (1 - b) / (1 - a)) == 3
    first, second = (with_replacement(data, 2, mechanism) for data in ((1, 0, 0), (0, 0, 0)))
    pair = pure_pair(DRAWN, DRAWN_DELTA, (Fraction(3), Fraction(0)), dataset_size=3, draws=2, method="mixture")
    assert_guarantee(pair, first, second)
    assert hockey(first, second, 1 + Fraction(5, 9) * 2) == Fraction(1, 18)  # p = 5/9; P(K = 2) = 1/9 times 1/2
    assert pair[1].to_floats()[0] == pytest.approx(1 / 18, rel=1e-15)


# --- contracts and second opinions


@pytest.mark.full
@pytest.mark.parametrize("bound", FAMILY, ids=lambda item: item.name)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@pytest.mark.parametrize("epsilon", ["0", "1e-30", "0.5", "20", "1001", "5000"])
@pytest.mark.parametrize("rate", ["0", "1e-300", "1e-4", "0.5", "1"])
def test_poisson_at_extremes(epsilon: str, rate: str) -> None:
    check_second_opinion(POISSON, {"base_epsilon": epsilon, "sampling_rate": rate})


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", ["0", "1e-12", "0.3", "3", "40", "1200"])
@pytest.mark.parametrize("delta", ["0", "1e-30", "1e-3", "0.4", "1"])
def test_with_replacement_at_extremes(epsilon: str, delta: str, method: str) -> None:
    """Across the whole life of a group: deltas that double, saturate, and reach 1."""
    for size, draws in ((1, 1), (1, 12), (2, 25), (10**6, 30)):
        params = {"base_epsilon": epsilon, "dataset_size": size, "draws": draws, "method": method}
        check_second_opinion(DRAWN, params)
        check_second_opinion(DRAWN_DELTA, {**params, "base_delta": delta})


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("method", METHODS)
def test_fast_with_replacement_on_a_spread_of_points(method: str, library: str) -> None:
    rng = random.Random(4)
    chosen = [
        {"base_epsilon": 10 ** rng.uniform(-6, 3), "base_delta": rng.choice([0.0, 10 ** rng.uniform(-300, 0)]),
         "dataset_size": int(10 ** rng.uniform(0, 9)), "draws": int(10 ** rng.uniform(0, 3)), "method": method}
        for _ in range(150)
    ]
    check_fast(DRAWN_DELTA, chosen, library)
    check_fast(DRAWN, [{k: v for k, v in p.items() if k != "base_delta"} for p in chosen], library)


# --- identities, limits and edges


@given(st.floats(-6, 3), st.integers(1, 10**6), st.integers(1, 10**4))
def test_one_draw_is_a_sample_of_one(log_epsilon: float, size: int, delta_parts: int) -> None:
    epsilon, delta = Fraction(10.0**log_epsilon), Fraction(delta_parts, 10**4)
    sample = {"dataset_size": size, "batch_size": 1}
    for method in METHODS:
        drawn = {"base_epsilon": epsilon, "dataset_size": size, "draws": 1, "method": method}
        assert DRAWN.reference(**drawn).overlaps(WOR.reference(base_epsilon=epsilon, **sample))
        assert DRAWN_DELTA.reference(base_delta=delta, **drawn).overlaps(
            WOR_DELTA.reference(base_delta=delta, **sample)
        )


@given(st.floats(-6, 3), st.integers(1, 500), st.integers(1, 500))
def test_the_mixture_has_the_smaller_epsilon(log_epsilon: float, size: int, draws: int) -> None:
    params: dict[str, Any] = {"base_epsilon": Fraction(10.0**log_epsilon), "dataset_size": size, "draws": draws}
    assert DRAWN.reference(method="mixture", **params).possibly_le(DRAWN.reference(method="chain", **params))


def test_the_whole_data_is_no_sample() -> None:
    """Rate 1 and m = n give the base back; all draws of one record are group privacy; rate 0 costs nothing."""
    for epsilon in ("0.25", "2048"):
        assert POISSON.reference(base_epsilon=epsilon, sampling_rate=1).contains(Fraction(epsilon))
        assert WOR.reference(base_epsilon=epsilon, dataset_size=7, batch_size=7).contains(Fraction(epsilon))
        group = DRAWN.reference(base_epsilon=epsilon, dataset_size=1, draws=5, method="chain")
        assert group.contains(5 * Fraction(epsilon))
        assert POISSON.reference(base_epsilon=epsilon, sampling_rate=0) == Enclosure.exactly(0)
    assert POISSON_DELTA.reference(base_delta="0.3", sampling_rate=0) == Enclosure.exactly(0)
    grown = DRAWN_DELTA.reference(base_epsilon="0.5", base_delta="1e-3", dataset_size=1, draws=3, method="chain")
    assert grown.overlaps(at_both_precisions(lambda: (1 + mp.exp(mpf(1) / 2) + mp.e) / 1000))


def test_pure_epsilon_zero_and_many_draws() -> None:
    """At epsilon 0 only deltas add up, to m delta/n in a chain; a chain's delta stops at 1."""
    zero = {"base_epsilon": 0, "dataset_size": 50, "draws": 10}
    assert DRAWN_DELTA.reference(base_delta="1e-3", method="chain", **zero).contains(Fraction(1, 5000))
    assert DRAWN_DELTA.reference(base_delta="1e-3", method="mixture", **zero).contains(Fraction(1, 5000))  # E K delta
    assert DRAWN_DELTA.reference(base_delta="0.9", method="chain", **{**zero, "draws": 1000}) == Enclosure.exactly(1)
    assert DRAWN_DELTA.reference(
        base_epsilon=1000, base_delta="0.01", dataset_size=2, draws=10**5, method="chain"
    ) == Enclosure.exactly(1)


def test_an_everyday_case() -> None:
    """600 of 60000 at epsilon 1: 0.0170 without replacement, 0.0172 with; the mixture would need a delta of 2e-5."""
    common = {"dataset_size": 60000}
    assert WOR.reference(base_epsilon=1, batch_size=600, **common).to_floats()[1] == pytest.approx(0.017037, abs=1e-6)
    drawn = {**common, "base_epsilon": 1, "draws": 600}
    assert DRAWN.reference(method="chain", **drawn).to_floats()[1] == pytest.approx(0.017183, abs=1e-6)
    assert DRAWN_DELTA.reference(base_delta=0, method="chain", **drawn) == Enclosure.exactly(0)
    assert DRAWN_DELTA.reference(base_delta=0, method="mixture", **drawn).to_floats()[0] > 2e-5


@pytest.mark.parametrize("name", ["base_epsilon", "base_delta", "dataset_size", "draws"])
@pytest.mark.parametrize("method", METHODS)
def test_strictly_monotone_inside(name: str, method: str) -> None:
    params: dict[str, Any] = {
        "base_epsilon": Fraction(1, 10), "base_delta": Fraction(1, 10**8), "dataset_size": 1000, "draws": 100,
        "method": method,
    }
    step = params[name] + 1 if isinstance(params[name], int) else params[name] * (1 + Fraction(1, 10**7))
    check_monotone(DRAWN_DELTA, params, name, step, certain=True)


@pytest.mark.parametrize("bound", [WOR, WOR_DELTA], ids=lambda item: item.name)
def test_a_sample_larger_than_the_data_is_refused(bound: oracle.Bound) -> None:
    other = {"base_epsilon": 1.0} if bound is WOR else {"base_delta": 0.5}
    with pytest.raises(DomainError, match=r"^batch_size = 11 is above dataset_size = 10"):
        bound.reference(dataset_size=10, batch_size=11, **other)
    with pytest.raises(DomainError, match=r"^batch_size = 11 is above dataset_size = 10"):
        bound.fast(dataset_size=10, batch_size=[3, 11], **other)


@pytest.mark.parametrize(("name", "value"), [
    ("base_epsilon", -1), ("base_delta", "1.1"), ("draws", 0), ("draws", 10**6), ("dataset_size", ".5"), ("method", ""),
])
def test_bad_input_is_named(name: str, value: Any) -> None:
    params = {"base_epsilon": 1, "base_delta": 0, "dataset_size": 2, "draws": 2, "method": "chain"}
    with pytest.raises(DomainError, match=f"^{name} = "):
        DRAWN_DELTA.reference(**{**params, name: value})
