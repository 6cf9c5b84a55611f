"""Take from the shuffling pairs what was cut off, and require their containment of the truth to fail."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from oracle.bounds.shuffling import shuffle
from oracle.engines import shuffle_pairs


def curve(epsilon: Fraction) -> arb:
    with ctx.workprec(100):
        masses = shuffle_pairs.clones(Fraction(1), 400, epsilon)
        assert masses is not None
        return shuffle._hull(Fraction(1), epsilon, masses)


@pytest.mark.parametrize("side", [0, 1], ids=["few clones", "many clones"])
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10), Fraction(1, 2)])
def test_what_the_window_leaves_out_is_needed(epsilon: Fraction, side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    true_window = shuffle_pairs.window
    monkeypatch.setattr(shuffle_pairs, "window", lambda *_: (0, 399))
    truth = curve(epsilon)
    assert truth.rad() < truth * arb(10) ** -20

    def narrow(*given: Any) -> tuple[int, int]:
        low, high = true_window(*given)
        middle, reach = (low + high) // 2, (high - low) // 6
        return (middle - reach, high) if side == 0 else (low, middle + reach)

    monkeypatch.setattr(shuffle_pairs, "window", narrow)
    assert curve(epsilon).overlaps(truth)
    assert not curve(epsilon).rad() < truth * arb(10) ** -20
    monkeypatch.setattr(shuffle_pairs, "cut_outside", lambda *_: arb(0))
    assert not curve(epsilon).overlaps(truth)


def test_the_rest_of_a_binomial_tail_is_needed() -> None:
    """A sum that stops at a rest of 2^-8 contains the full one by that rest alone."""
    with ctx.workprec(100):
        full, short = (shuffle_pairs._below(arb(1), 1000, 400, arb(1), bits) for bits in (100, 8))
        assert full.rad() < arb(10) ** -25
        assert short.overlaps(full)
        assert short.lower() < full - arb(10) ** -4  # what was summed: without the rest it would miss
