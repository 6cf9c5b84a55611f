"""Judging foreign auditors: is what they call a lower bound on epsilon one, as often as they say?

An auditor is a function `fn(scores_a, scores_b, *, delta, confidence) -> epsilon`: the scores of models trained without
and with a record, higher where the record looks present. It is asked again and again about pairs of score laws whose
epsilon is known exactly (`coverage`), with fixed seeds. A bound of that confidence exceeds the truth at most
a binomial number of times; OVERCLAIMS says that it did so more often than a valid bound does with probability 1e-6.
VALID says only that this was not seen. What is no number, or an exception, is a crash, and claims nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from empirical.estimators.binomial import Array, Scores
from empirical.estimators.coverage import PAIRS, Known, allowed
from empirical.estimators.estimate import check_confidence
from oracle.core.errors import DomainError

Auditor = Callable[..., Any]


class AuditorVerdict(StrEnum):
    """What is known of an auditor on one pair."""

    VALID = "VALID"
    OVERCLAIMS = "OVERCLAIMS"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True)
class Record:
    """One auditor on one pair: how often its bound exceeded the truth, and what it claims in the middle.

    `reason` is the first crash, in a few words; `median` is of the audits that came to a number.
    """

    auditor: str
    pair: str
    delta: float
    confidence: float
    models: int
    truth: float
    repetitions: int
    overclaims: int
    allowed: int
    crashes: int
    median: float | None
    reason: str = ""

    @property
    def verdict(self) -> AuditorVerdict:
        """Overclaiming needs more failures than a valid bound has; validity at least one answer."""
        if self.overclaims > self.allowed:
            return AuditorVerdict.OVERCLAIMS
        return AuditorVerdict.VALID if self.crashes < self.repetitions else AuditorVerdict.UNDECIDED


def judge(
    auditor: Auditor, *, name: str, pairs: Iterable[Known] = PAIRS, delta: float = 1e-5, confidence: float = 0.95,
    repetitions: int = 400, models: int = 200, one_run: bool = False, seed: int = 0,
) -> tuple[Record, ...]:
    """One record a pair. `one_run` draws a fair coin for each of `models` canaries instead of `models` a side."""
    check_confidence(confidence)
    if repetitions < 1 or models < 1:
        raise DomainError(f"repetitions = {repetitions} and models = {models} must both be at least 1")
    return tuple(
        _judge_pair(auditor, pair, name, delta, confidence, repetitions, models, one_run, seed) for pair in pairs
    )


def _judge_pair(
    auditor: Auditor, pair: Known, name: str, delta: float, confidence: float, repetitions: int, models: int,
    one_run: bool, seed: int,
) -> Record:
    rng = np.random.default_rng(seed)
    truth = pair.epsilon(delta)
    claims: list[float] = []
    crashes: list[str] = []
    for _ in range(repetitions):
        scores = _canaries(pair, rng, models) if one_run else pair.draw(rng, models)
        claim = _ask(auditor, scores, delta, confidence)
        if isinstance(claim, str):
            crashes.append(claim)
        else:
            claims.append(claim)
    return Record(
        name, pair.name, delta, confidence, models, truth, repetitions, sum(claim > truth for claim in claims),
        allowed(repetitions, 1 - confidence), len(crashes), statistics.median(claims) if claims else None,
        crashes[0] if crashes else "",
    )


def _canaries(pair: Known, rng: np.random.Generator, canaries: int) -> Scores:
    """Every canary is in or out by a fair coin of its own, which is what the theory of one run assumes."""
    absent, present = pair.draw(rng, canaries)
    inside: Array = rng.random(canaries)
    return absent[inside >= 0.5], present[inside < 0.5]


def _ask(auditor: Auditor, scores: Scores, delta: float, confidence: float) -> float | str:
    """The claim, or in words why there is none; whatever a foreign function raises is its own doing."""
    try:
        claim = float(auditor(*scores, delta=delta, confidence=confidence))
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return f"answered {claim}" if math.isnan(claim) else claim
