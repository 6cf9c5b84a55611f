"""Bounded links of generalised linear models, and what holds of each: they rise, and stay in [-B, B].

    tanh      B tanh(z)
    sigmoid   B / (1 + e^{-z})
    clip      z, cut to [-B, B]: it has a kink, and is Lipschitz all the same
    constant  B: the worst case: gradients do not depend on the model, so steps are affine and releases exactly Gaussian
    sign      -B, 0 or B: a jump, for which only a smoothed algorithm has a guarantee

At B = 1 tanh and sigmoid are the links that document 002 names.
"""

from __future__ import annotations

import math
from fractions import Fraction

from oracle.core import vocabulary
from oracle.core.errors import DomainError

LINK = vocabulary.link
LABEL_BOUND = vocabulary.label_bound


def value(link: str, score: float, bound: float) -> float:
    """The link at a score."""
    if link == "tanh":
        return bound * math.tanh(score)
    if link == "sigmoid":
        return bound * 0.5 * (1.0 + math.tanh(0.5 * score))
    if link == "clip":
        return min(bound, max(-bound, score))
    if link == "constant":
        return bound
    return bound * ((score > 0) - (score < 0))


def lipschitz(link: str, bound: Fraction) -> Fraction:
    """The least Lipschitz constant G of the link, or a DomainError if it has none."""
    if link == "sign":
        raise DomainError("link = sign is outside its domain: it jumps, so a step of any size may move two runs apart")
    return {"tanh": bound, "sigmoid": bound / 4, "clip": Fraction(1), "constant": Fraction(0)}[link]
