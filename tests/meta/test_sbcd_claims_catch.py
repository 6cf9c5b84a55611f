"""Plant false accountings of DP-SBCD and require the checkers to refute them, or at least not to say that they hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tests.theorems.findings import judged
from theorems.sbcd.privacy import accounting, blocks, closed_form
from theorems.verdict import Verdict


def test_a_decay_that_is_too_fast_is_refuted() -> None:
    assert judged("sbcd/cor-4.5-case1", lambda prox: Fraction(2)).verdict is Verdict.REFUTED


def test_a_decay_that_is_too_slow_is_not_the_corollary() -> None:
    assert judged("sbcd/cor-4.5-case1", lambda prox: Fraction(0)).verdict is Verdict.UNDECIDED


def test_a_closed_form_that_agrees_at_all_settings_tried_is_not_proved_by_that() -> None:
    """Six epochs are never tried: a form that is wrong from there on must not be said to hold."""
    late = replace(closed_form.REPAIRED, low=lambda k, K, N, j: k + 1 + K // 6)
    assert judged("sbcd/thm-4.6-repaired", late).verdict is Verdict.UNDECIDED


def test_the_smallest_counterexamples_of_the_printed_theorem() -> None:
    """K = 1, N = 2, all else 1: j_0 = 0 divides by zero where the truth is 1/16, j_0 = 1 gives 2/9 instead of 1/8."""
    one = Fraction(1)
    for before, literal, true in ((0, None, Fraction(1, 16)), (1, Fraction(2, 9), Fraction(1, 8))):
        setting = accounting.BlockSetting((one,), 2, before, one, one)
        assert closed_form.PRINTED.loss(setting) == literal
        assert closed_form.REPAIRED.loss(setting) == accounting.recursion(setting) == true
    five = accounting.BlockSetting((one,) * 5, 5, 4, one, one)
    printed = closed_form.PRINTED.loss(five)
    assert printed is not None
    assert float(printed / accounting.recursion(five)) == pytest.approx(0.961, abs=1e-3)


def test_two_blocks_are_not_private_because_each_is() -> None:
    """theta_1 copies theta_0 in the step without the record, and theta_0 forgets: 0 is claimed, 1/16 is true."""
    pair = blocks.CoupledBlocks(Fraction(0), Fraction(0), Fraction(1), 1, 2, 0)
    assert blocks.summed(pair) == 0
    assert blocks.exact_law(pair) == Fraction(1, 16)  # a mean moved by 1/2 in a law of variance 2


def test_a_mixture_claim_that_only_points_support_is_undecided() -> None:
    """True, because it is larger; but it is not what the induction gives, and must not be said to hold."""
    assert judged("sbcd/thm-4.6-mix", lambda size, position: 2 / size).verdict is Verdict.UNDECIDED
