"""The ways to carry out a training: the literal reference, and the batched twin in either precision."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from oracle.core.algorithm import Algorithm, Values
from oracle.core.hypotheses import MET, ROUNDED
from oracle.core.tape import Tape

WAYS = ("reference", "float64", "float32")


def trained(item: Algorithm, way: str, data: tuple[Any, Any], config: Values, tape: Tape, recorder: Any = None) -> Any:
    """The releases of all the tape's models, [M, ...], by the literal reference or by the twin in a precision."""
    if way != "reference":
        return np.asarray(item.train_batched(*data, config, tape, dtype=way, recorder=recorder))
    assert item.reference is not None
    return np.array([item.reference(*data, config, tape.one(model), recorder) for model in range(tape.models)])


def has_guarantee(item: Algorithm, config: Values, size: int) -> bool:
    """Whether all that some guarantee assumes is true of the training, rounding aside."""
    plan = item.as_trained(config, records=size, delta=Fraction(1, 10**5))
    return any(
        all(one.status(plan) in (MET, ROUNDED) for one in guarantee.conditions) for guarantee in item.guarantees
    )
