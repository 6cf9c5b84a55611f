r"""What the trainings of ReLU regression share (document 003): the update of a record, its clipping, keys, hypotheses.

A record (x, y) of the model y = ReLU(<x, w>) + noise updates w by a vector v along x (document 003, eq. 3):

    glmtron    v = (ReLU(<x, w>) - y) x
    gradient   v = (ReLU(<x, w>) - y) x 1[<x, w> > 0],   the gradient of (ReLU(<x, w>) - y)^2 / 2 where it has one

The first drops the indicator and is no gradient of the loss. At w = 0 the second vanishes for every record; hence a
random initial point (`initial_std`), for which a comparison of the two may ask.

Clipping shortens v to norm gamma: v min{1, gamma/|v|}, and 0 at 0. The document prints max for min (in the proof of
Lemma D.1), which lengthens short vectors and leaves long ones: it bounds nothing. That variant is kept as
`clip = printed-max` to show what it does; it has no guarantee.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core import records, vocabulary
from oracle.core.algorithm import Condition, Values, equals

SHORTEN, PRINTED_MAX = "shorten", "printed-max"

TRAINING = (vocabulary.learning_rate, vocabulary.clip_norm.finite(), vocabulary.initial_std, vocabulary.clip)
"""What no theorem asks for but `clip`: the noise is relative to the clipping norm."""
PLANNED = (
    vocabulary.dataset_size, vocabulary.epochs.at_least(1), vocabulary.thresholds, vocabulary.delta.open(),
    vocabulary.released,
)
"""What a plan says of a pass."""
ONE_PASS = Condition("one-pass", lambda config: bool(config.epochs == 1), "every record is used once: epochs is 1")
SHORTENS = equals("shortening", "clip", SHORTEN)


def check(features: Array, labels: Array, config: Values) -> None:
    """A DomainError unless these are data; of any norm, since every record's vector is clipped."""
    glm.check_data(features, labels)


def reach(config: Values, count: int, noise: Fraction) -> float:
    """How far a pass may carry the weights (`records`), the noise of a step being that many clipping norms."""
    if config.clip != SHORTEN:
        return -np.inf  # what the misprint makes of a vector is as long as its record
    return records.reach(
        steps=count, learning_rate=config.learning_rate, gradient=config.clip_norm, noise=noise * config.clip_norm,
        start=config.initial_std * records.LARGEST_DRAW,
    )


def vector(x: Array, y: float, w: Array, *, indicator: bool) -> Array:
    """The vector of one record, before clipping."""
    score = float(x @ w)
    if indicator and score <= 0:
        return np.zeros_like(x)
    return (max(score, 0.0) - y) * x


def clipped(v: Array, clip_norm: float, clip: str = SHORTEN) -> Array:
    """The vector of norm at most gamma, or what the misprint makes of it."""
    norm = float(np.linalg.norm(v))
    if norm == 0:
        return v
    return v * (max if clip == PRINTED_MAX else min)(1.0, clip_norm / norm)
