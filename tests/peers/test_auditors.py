"""The auditors of real libraries on pairs of known epsilon: which of them overclaim, and why.

Run by the gate session, where the libraries are installed. Seeds are fixed; a valid bound is called OVERCLAIMS with
probability at most 1e-6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from empirical.estimators.coverage import gaussian
from empirical.gate.league.auditor_cases import AuditorVerdict, judge
from empirical.gate.league.peer_auditors import AUDITORS, PeerAuditor, jax_gdp

pytest.importorskip("jax_privacy")

OVERCLAIMING = {("jax-privacy", "epsilon_from_gdp")}  # 2.0.0


@pytest.mark.parametrize("auditor", AUDITORS, ids=lambda auditor: auditor.method)
def test_auditors_are_as_valid_as_known(auditor: PeerAuditor) -> None:
    verdicts = {record.verdict for record in auditor.judge(repetitions=40)}
    expected = (auditor.library, auditor.method) in OVERCLAIMING
    assert (AuditorVerdict.OVERCLAIMS in verdicts) == expected
    assert AuditorVerdict.UNDECIDED not in verdicts


def test_the_defect_of_the_gdp_auditor_is_an_absolute_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upper bounds of both error rates that sum to more than 1 say nothing; |mu| makes evidence of them."""
    from jax_privacy import auditing

    pair = gaussian(0.0)
    before, = judge(jax_gdp, name="gdp", pairs=[pair], repetitions=40)
    assert before.overclaims >= 35

    class Numpy:
        def __getattr__(self, name: str) -> Any:
            return (lambda x: np.maximum(x, 0.0)) if name == "abs" else getattr(np, name)

    monkeypatch.setattr(auditing, "np", Numpy())
    after, = judge(jax_gdp, name="gdp", pairs=[pair], repetitions=40)
    assert (after.overclaims, after.crashes) == (0, 0)


def test_the_gdp_auditor_crashes_on_a_tiny_mu() -> None:
    """30 false alarms and 141 misses of 200: log(exp(x) - exp(y)) of numbers that rounding puts in the wrong order."""
    scores_a, scores_b = np.zeros(200), np.ones(200)
    scores_a[:30] = 1.0
    scores_b[:141] = 0.0
    with pytest.raises(ValueError, match="y must be less than or equal to x"):
        jax_gdp(scores_a, scores_b, delta=1e-5, confidence=0.95)
