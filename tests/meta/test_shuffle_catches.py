"""Take from the shuffling pairs what was cut off, and require their containment of the truth to fail."""

from __future__ import annotations

from flint import arb, ctx

from oracle.engines import shuffle_pairs


def test_the_rest_of_a_binomial_tail_is_needed() -> None:
    """A sum that stops at a rest of 2^-8 contains the full one by that rest alone."""
    with ctx.workprec(100):
        full, short = (shuffle_pairs._below(arb(1), 1000, 400, arb(1), bits) for bits in (100, 8))
        assert full.rad() < arb(10) ** -25
        assert short.overlaps(full)
        assert short.lower() < full - arb(10) ** -4  # what was summed: without the rest it would miss
