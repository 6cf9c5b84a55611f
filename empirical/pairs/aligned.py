"""A canary along the model that the target itself learns, with the label that contradicts it most.

A few models are trained on the other records alone (a blank record takes the canary's place, so that batches keep their
size), with seeds that no audit uses: a pair must not depend on the models that judge it. If they are linear models, one
number a feature, the canary is as long as allowed and points along their mean: every prediction for it is far from one
of the two labels, so that its gradient is as long as a gradient gets. Data set 1 has it with that label, data set 0
with the other one, or not at all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from empirical.pairs.generic import DOMAIN, added, defaults, replaced, unit
from empirical.pairs.pair import Array, Builder, Pair, Trained
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError, TargetError
from oracle.core.tape import Tape

MODELS = 32
SEED = 2**62  # of a tape; the seeds of audits are small


def _aligned(target: Trained, parameters: Values) -> Pair:
    low, high, norm = (float(v) for v in (parameters.label_low, parameters.label_high, parameters.feature_norm))
    others, labels = _learnable(parameters)
    blank = np.zeros((1, parameters.dimension))
    released = target.releases(np.concatenate([others, blank]), np.append(labels, low), Tape(SEED, MODELS))
    mean = released.reshape(MODELS, -1).mean(axis=0)
    if mean.size != parameters.dimension:
        raise TargetError(
            f"a pair aligned with the model needs a release of {parameters.dimension} numbers, one a feature; "
            f"this target releases {mean.size}"
        )
    length = float(np.linalg.norm(mean))
    direction = mean / length if length > 0 else unit(parameters.dimension)
    canary, at = norm * direction, parameters.records - 1
    wrong, right = (low, high) if norm * length > (low + high) / 2 else (high, low)
    if parameters.neighbours == "add_remove":
        pair = added(others, labels, canary, wrong, at)
    else:
        pair = replaced(others, labels, (canary, canary), (right, wrong), at)
    return replace(pair, direction=direction)


def _learnable(parameters: Values) -> tuple[Array, Array]:
    """Records in general position, labelled by the side of a plane on which they lie."""
    count = parameters.records - 1
    if count < 1:
        raise DomainError(f"records = {parameters.records} is outside its domain: at least 2, to learn from")
    others = Tape(0, count).normal("background", 0, parameters.dimension)
    others *= float(parameters.feature_norm) / np.linalg.norm(others, axis=1, keepdims=True)
    return others, np.where(others[:, 0] > 0, float(parameters.label_high), float(parameters.label_low))


aligned = Builder(
    name="aligned",
    summary="a canary along the linear model that the target learns from the others, with the label against it",
    algorithms=(),
    parameters=DOMAIN,
    defaults=defaults,
    build=None,
    special=True,
    fit=_aligned,
)
