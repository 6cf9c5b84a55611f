"""A tape whose Gaussian vectors are turned: a model of turned features must be the turned model, bit for bit nearly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from oracle.core.tape import Tape

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Turned(Tape):
    """The normals of some purposes and steps, read as rows as long as the orthogonal map, are turned by it."""

    turn: Array = field(default_factory=lambda: np.eye(1), kw_only=True)
    touches: Callable[[str, int], bool] = field(default=lambda purpose, step: True, kw_only=True)

    def normal(self, purpose: str, step: int, dimension: int) -> Array:
        """The turned draws, or those of the tape."""
        drawn = super().normal(purpose, step, dimension)
        if not self.touches(purpose, step):
            return drawn
        return (drawn.reshape(-1, len(self.turn)) @ self.turn).reshape(drawn.shape)
