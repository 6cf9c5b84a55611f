"""A test that must be able to fail: an attack chosen on the models that judge it is flagged on identical laws.

1,000 coordinates of pure noise. Of 20 audits at confidence 0.9 a valid one certifies more than 0 in at most 10 %: more
than 8 of 20 has probability below 1e-4. The estimator is the one for Gaussian releases, which these are: the others
give away so much that they hide some of an attack's dishonesty. Among so many coordinates one always looks different.
"""

from __future__ import annotations

import numpy as np
import pytest

from empirical.attacks.attacks import choose
from empirical.estimators.estimators import ESTIMATORS
from empirical.pairs.pair import Pair

AUDITS, MOST_EXCEEDED = 20, 8
MODELS = 100


def exceeded(*, peeking: bool, attack: str) -> int:
    """How many audits of identical laws certify an epsilon above 0."""
    rng = np.random.default_rng(13)
    record = np.ones((1, 1000))
    pair = Pair((-record, record), (np.zeros(1), np.zeros(1)), "replace", 0, None)
    count = 0
    for _ in range(AUDITS):
        selection, evaluation = (tuple(rng.normal(size=(MODELS, 1000)) for _ in range(2)) for _ in range(2))
        chosen_on = evaluation if peeking else selection
        score = choose(*chosen_on, pair, attacks=(attack,), delta=1e-5, confidence=0.9)
        held, judged = ((score(side[0]), score(side[1])) for side in (selection, evaluation))
        count += ESTIMATORS["gdp"].estimate(held, judged, delta=1e-5, confidence=0.9).epsilon > 0
    return count


@pytest.mark.full
@pytest.mark.parametrize("attack", ["coordinate-scan", "mean-distance"])
def test_an_attack_that_peeks_is_flagged_and_an_honest_one_is_not(attack: str) -> None:
    assert exceeded(peeking=False, attack=attack) <= MOST_EXCEEDED
    assert exceeded(peeking=True, attack=attack) > MOST_EXCEEDED
