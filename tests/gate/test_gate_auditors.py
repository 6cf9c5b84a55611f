"""Foreign auditors are judged by what they claim: honest ones pass, liars and the broken are told from each other.

Seeds are fixed; a valid bound is called OVERCLAIMS with probability at most 1e-6 a pair (`coverage.allowed`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from empirical.estimators.coverage import PAIRS, gaussian, randomised_response
from empirical.estimators.estimators import clopper_pearson
from empirical.gate.league.auditor_cases import AuditorVerdict, judge
from oracle.core.errors import DomainError
from oracle.core.registry import bound

PAIR = gaussian(1.0)


def honest(scores_a: Any, scores_b: Any, *, delta: float, confidence: float) -> float:
    """Our own bound, threshold from a quarter of the scores."""
    cut = len(scores_a) // 4
    held, judged = (scores_a[:cut], scores_b[:cut]), (scores_a[cut:], scores_b[cut:])
    return clopper_pearson(held, judged, delta=delta, confidence=confidence).epsilon


def point_estimate(scores_a: Any, scores_b: Any, *, delta: float, confidence: float) -> float:
    """The epsilon of the measured mean gap, without any allowance: above the truth every other time."""
    mu = float(np.mean(scores_b) - np.mean(scores_a))
    return bound("gdp.epsilon").reference(mu=mu, delta=delta).to_floats()[0] if mu > 0 else 0.0


def upper_rates(scores_a: Any, scores_b: Any, *, delta: float, confidence: float) -> float:
    """The defect of a real library: |mu| of two upper bounds whose sum exceeds 1, where nothing is known."""
    false_alarms = (np.count_nonzero(scores_a > 0) + 10) / (len(scores_a) + 10)
    misses = (np.count_nonzero(scores_b <= 0) + 10) / (len(scores_b) + 10)
    mu = abs(float(special.ndtri(1 - false_alarms) - special.ndtri(misses)))
    return bound("gdp.epsilon").reference(mu=mu, delta=delta).to_floats()[0]


def test_an_honest_auditor_is_valid_on_every_pair() -> None:
    records = judge(honest, name="honest", repetitions=30, models=100)
    assert [record.pair for record in records] == [pair.name for pair in PAIRS]
    assert {record.verdict for record in records} == {AuditorVerdict.VALID}
    assert all(record.crashes == 0 for record in records)


@pytest.mark.parametrize("liar", [point_estimate, upper_rates])
def test_a_bound_that_is_none_overclaims(liar: Any) -> None:
    record, = judge(liar, name="liar", pairs=[gaussian(0.0) if liar is upper_rates else PAIR], repetitions=60)
    assert record.verdict is AuditorVerdict.OVERCLAIMS
    assert record.overclaims > record.allowed
    assert record.median is not None


def test_more_confidence_allows_fewer_failures() -> None:
    few, many = (judge(lambda a, b, **_: 0.0, name="silent", pairs=[PAIR], confidence=c)[0] for c in (0.999, 0.9))
    assert few.allowed < many.allowed
    assert few.verdict is many.verdict is AuditorVerdict.VALID


def test_crashes_are_counted_and_prove_nothing() -> None:
    calls = iter(range(100))

    def fragile(scores_a: Any, scores_b: Any, *, delta: float, confidence: float) -> float:
        call = next(calls)
        if call == 0:
            raise ZeroDivisionError("no\nscores")
        return math.nan if call == 1 else 0.0

    record, = judge(fragile, name="fragile", pairs=[PAIR], repetitions=10)
    assert (record.crashes, record.reason, record.verdict) == (2, "ZeroDivisionError: no scores", AuditorVerdict.VALID)
    record, = judge(lambda a, b, **_: None, name="mute", pairs=[PAIR], repetitions=10)
    assert record.verdict is AuditorVerdict.UNDECIDED
    assert (record.crashes, record.median) == (10, None)
    assert record.verdict == "UNDECIDED"


def test_an_infinite_claim_is_a_claim() -> None:
    record, = judge(lambda a, b, **_: math.inf, name="sure", pairs=[PAIR], repetitions=20)
    assert record.verdict is AuditorVerdict.OVERCLAIMS


def test_canaries_of_one_run_are_in_or_out_by_fair_coins() -> None:
    sizes: list[tuple[int, int]] = []

    def counting(scores_a: Any, scores_b: Any, *, delta: float, confidence: float) -> float:
        sizes.append((len(scores_a), len(scores_b)))
        return 0.0

    judge(counting, name="counting", pairs=[randomised_response(2.0)], repetitions=50, models=100, one_run=True)
    assert {outside + inside for outside, inside in sizes} == {100}
    assert len(set(sizes)) > 5
    inside = sum(size for _, size in sizes)
    assert abs(inside - 2500) < 5 * math.sqrt(1250)  # fails for fair coins with probability below 1e-6


def test_the_same_seed_gives_the_same_record() -> None:
    first, again, other = (
        judge(point_estimate, name="", pairs=[PAIR], repetitions=5, seed=seed)[0] for seed in (3, 3, 4)
    )
    assert first == again
    assert first.median != other.median


def test_nothing_is_judged_without_audits() -> None:
    with pytest.raises(DomainError, match="repetitions = 0"):
        judge(honest, name="", repetitions=0)
    with pytest.raises(DomainError, match="confidence = 1"):
        judge(honest, name="", confidence=1.0)
