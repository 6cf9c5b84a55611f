"""What an estimator returns, and what it demands of the scores it is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from empirical.estimators.binomial import RateBounds, Scores
from oracle.core.errors import DomainError, TargetError

LEAST_SCORES = 4


@dataclass(frozen=True)
class Estimate:
    """A lower bound on epsilon, with the threshold and the bounds of the rates behind it, where there are such.

    `models` is how many models of each data set were needed, where an estimator may stop before the last.
    """

    epsilon: float
    threshold: float | None
    rates: RateBounds | None
    models: int | None = None


def check_confidence(confidence: float) -> None:
    """A DomainError unless the confidence is a probability strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise DomainError(f"confidence = {confidence} is outside its domain: a real number in (0, 1)")


def check(held: Scores, judged: Scores, delta: float, confidence: float) -> None:
    """An error unless scores, delta and confidence can be judged: never an epsilon from what is not a number."""
    check_confidence(confidence)
    if not 0 <= delta < 1:
        raise DomainError(f"delta = {delta} is outside its domain: a real number in [0, 1)")
    for name, scores in (("held", held), ("judged", judged)):
        for side, values in enumerate(scores):
            if values.ndim != 1 or len(values) < LEAST_SCORES:
                raise DomainError(
                    f"{name} has {values.size} scores of data set {side}, outside its domain: a row of at least "
                    f"{LEAST_SCORES}"
                )
            if not np.isfinite(values).all():
                raise TargetError(f"data set {side} has scores that are not finite")
