"""The checks that flag the planted bugs of auditors (`empirical.mutants.auditors`) spare our own estimators."""

from __future__ import annotations

import pytest

from empirical.estimators.coverage import gaussian, randomised_response, subsampled_gaussian
from empirical.estimators.estimators import ESTIMATORS, Estimator
from empirical.mutants.auditors import shared_coins
from empirical.mutants.checks import judge_coverage, judge_failure, judge_power, one_run_coverage


def test_where_a_sign_is_dropped_or_a_threshold_is_chosen_greedily() -> None:
    for name in ("gdp", "clopper-pearson", "joint"):
        assert not judge_coverage(ESTIMATORS[name].estimate, gaussian(0.0)).flagged


@pytest.mark.full
def test_where_alpha_is_not_split() -> None:
    for name in ("clopper-pearson", "joint"):
        assert not judge_coverage(ESTIMATORS[name].estimate, randomised_response(9.0), repetitions=1000).flagged


def test_where_the_gaussian_conversion_is_out_of_scope() -> None:
    pair = subsampled_gaussian(0.1, 2.0)
    assert not judge_coverage(ESTIMATORS["joint"].estimate, pair, delta=0.05, judged=2000).flagged


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=lambda item: item.name)
def test_where_scores_are_no_numbers(estimator: Estimator) -> None:
    assert not judge_failure(estimator.estimate).flagged


@pytest.mark.parametrize("name", ["clopper-pearson", "joint", "curve", "sequential"])
def test_where_a_leak_is_rare(name: str) -> None:
    assert not judge_power(ESTIMATORS[name].estimate).flagged


def test_where_every_canary_has_its_own_coin() -> None:
    assert one_run_coverage().valid
    assert not one_run_coverage(shared_coins).valid
