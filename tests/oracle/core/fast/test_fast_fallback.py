"""Where a kernel of the fast path gives no number, the reference answers: at the rows it cannot do, or at all."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core import registry
from oracle.core.registry import SAFE
from tests.checks import LIBRARIES, check_fast
from tests.samples import at, numbers
from tests.tiers import represented

shared_code = pytest.mark.parametrize("bound", represented(list(registry.bounds().values())))
every_library = pytest.mark.parametrize("library", LIBRARIES)


@shared_code
@every_library
def test_what_the_kernel_cannot_do_the_reference_does(bound: oracle.Bound, library: str) -> None:
    """A kernel that gives NaN or infinity at some entries: these come from the reference, the others are untouched."""

    def partial(xp: Any, values: Any) -> Any:
        result = xp.asarray(bound.vectorised(xp, values), copy=True)
        result[1], result[3] = math.nan, math.inf
        return result

    arrays = {name: LIBRARIES[library](column) for name, column in numbers(bound).items()}
    whole, patched = (np.asarray(item.fast(**arrays)) for item in (bound, replace(bound, vectorised=partial)))
    for index, params in enumerate(fixed_points(bound, 6, seed=5)):
        if index in (1, 3):
            assert patched[index] == bound.reference(**params).to_floats()[SAFE.index(bound.safe)]
        else:
            assert patched[index] == whole[index]


@shared_code
@every_library
def test_a_kernel_of_nothing_but_nan_still_answers(bound: oracle.Bound, library: str) -> None:
    hopeless = replace(bound, vectorised=lambda xp, values: bound.vectorised(xp, values) * math.nan)
    check_fast(hopeless, fixed_points(bound, 5, seed=7), library)
    middle = at(numbers(bound), 0)
    scalar = hopeless.fast(**middle)
    assert np.shape(scalar) == ()
    assert float(scalar) == bound.reference(**middle).to_floats()[SAFE.index(bound.safe)]
