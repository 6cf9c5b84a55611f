"""Lemma 3.2 of document 000, re-judged by gradients at two points in plain rationals."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction


def steeper_than_claimed(witness: Mapping[str, str]) -> bool:
    """Whether gradients at 0 and at t, where t repeats x in each active block, differ by more than beta |t|."""
    x, hyperplanes = ast.literal_eval(witness["x"]), ast.literal_eval(witness["u"])
    lam, claimed = Fraction(witness["lambda"]), sum(v * v for v in x) + Fraction(witness["lambda"])
    assert claimed == Fraction(witness["claimed"])
    features = [
        v if sum(a * b for a, b in zip(x, u, strict=True)) >= 0 else 0 for u in hyperplanes for v in x
    ]

    def gradient(weights: list[int]) -> list[Fraction]:
        residual = sum(a * b for a, b in zip(features, weights, strict=True)) - 1
        return [residual * a + lam * w for a, w in zip(features, weights, strict=True)]

    moved = [a - b for a, b in zip(gradient(features), gradient([0] * len(features)), strict=True)]
    return sum(v * v for v in moved) > claimed**2 * sum(v * v for v in features)


WITNESSES = {"relu-approx/lem-3.2": steeper_than_claimed}
NOT_WITNESSES = {"relu-approx/lem-3.2": {"x": "[1]", "u": "[[1], [-1]]", "lambda": "1", "claimed": "2"}}
