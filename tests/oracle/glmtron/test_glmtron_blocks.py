"""Many steps of the GLMtron recursion by blocks: what balls say step by step, and what float64 says of a long chain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import oracle
from oracle.algorithms.glmtron.risk import glmtron_recursion
from oracle.engines.extended import available, exact, extended, relative

RISK = oracle.bound("glmtron-recursion.risk")
with_long_floats = pytest.mark.skipif(not available(), reason="this machine has no extended numbers")


def chain(directions: int, steps: int, rate: str = "0.05") -> dict[str, Any]:
    """A decaying spectrum."""
    return {
        "spectrum": [Fraction(1, i + 1) for i in range(directions)], "gap": [Fraction(1, directions)] * directions,
        "dataset_size": steps, "learning_rate": rate, "label_noise": "0.1", "noise_on_mean": "0.01",
    }


@with_long_floats
@pytest.mark.parametrize("rate", ["0.05", "0.4"])
@pytest.mark.parametrize(("directions", "steps"), [(1, 1), (1, 2), (3, 63), (2, 64), (4, 65), (3, 200)])
def test_blocks_are_steps(directions: int, steps: int, rate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = chain(directions, steps, rate)
    walked = RISK.reference(width=Fraction(1, 10**30), **given)
    monkeypatch.setattr(glmtron_recursion, "_FEW", 0)
    blocks = glmtron_recursion.total(glmtron_recursion._directions(_values(given)), steps)
    assert blocks is not None
    risk = RISK.reference(**given)
    assert risk.overlaps(walked)
    assert risk.width() > walked.width(), "the blocks were not asked"


@with_long_floats
def test_a_chain_that_grows_is_answered_to_a_relative_width(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {**chain(3, 300, "1.9"), "spectrum": [1, 1, 1]}  # every step more than doubles it
    walked = RISK.reference(width="1e-12", **given)
    assert walked.lower.compare(10**60) > 0
    monkeypatch.setattr(glmtron_recursion, "_FEW", 0)
    soon = RISK.reference(**given)
    assert soon.overlaps(walked)
    assert soon.upper.to_fraction() <= soon.lower.to_fraction() * (1 + Fraction(1, 10**12))
    assert soon.width() > 1, "the blocks were not asked"


def _values(given: dict[str, Any]) -> Any:
    from oracle.core.algorithm import Values

    return Values(**RISK.parse(given))


def test_a_long_chain_of_many_directions() -> None:
    given = chain(60, 3000)
    found = RISK.reference(**given)
    arrays = {k: [float(x) for x in v] if isinstance(v, list) else float(v) for k, v in given.items()}
    fast = float(RISK.fast(**arrays))
    assert found.certainly_le(fast)
    assert fast < found.to_floats()[1] * (1 + 1e-9)


@with_long_floats
def test_extended_numbers_are_exact_where_they_say_so() -> None:
    values = [Fraction(1, 3), Fraction(10**30, 7), Fraction(0), Fraction(1, 10**200)]
    column = extended(values)
    assert column is not None
    with ctx.workprec(300):
        for value, entry in zip(values, column, strict=True):
            truth = arb(value.numerator) / value.denominator
            error = arb(relative(2).numerator) / relative(2).denominator
            assert abs(exact(entry) - truth) <= truth * error or (value == 0 and exact(entry) == 0)
    assert extended([Fraction(1, 10**300)]) is None
    assert exact(np.longdouble(1) + np.longdouble(2.0**-63)) - 1 == arb((1, -63))
