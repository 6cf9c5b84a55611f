"""Wording of document 002, Section 5, again: two models of one law, and a link's value, in floating point."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tests.theorems.witness_text import Witness


def one_law(witness: Witness) -> bool:
    """Both models have one score, so one law whatever the link is, and differ in w* or phi."""
    psi, w, phi, other_w, other_phi = (
        float(Fraction(witness[name])) for name in ("psi", "w*", "phi", "other w*", "other phi"))
    same = bool(np.isclose(w * psi + phi, other_w * psi + other_phi, rtol=0, atol=1e-12))
    return same and max(abs(w - other_w), abs(phi - other_phi)) > 1e-9


def outside(witness: Witness) -> bool:
    """The activation at that score is no number of [0, 1]."""
    score = float(Fraction(witness["score"]))
    value = {"ReLU": np.maximum(score, 0.0), "sigmoid": 1 / (1 + np.exp(-score))}[witness["activation"]]
    return not 0 <= float(value) <= 1


WITNESSES: dict[str, Callable[[Witness], bool]] = {
    "nonconvex-nn/footnote-5": one_law,
    "nonconvex-nn/abstract-two-layer-reading-both": outside,
}
NOT_WITNESSES: dict[str, Witness] = {
    "nonconvex-nn/footnote-5": {"psi": "1", "w*": "0", "phi": "0", "other w*": "1", "other phi": "0"},
    "nonconvex-nn/abstract-two-layer-reading-both": {"activation": "ReLU", "score": "1"},
}
