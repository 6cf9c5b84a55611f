"""What one update of block coordinate descent minimises, as the document writes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def relu(value: Array) -> Array:
    return np.maximum(value, 0.0)


def cost_of_u(u: Any, ahead: float, x_next: float) -> Any:
    return 0.5 * (x_next - np.maximum(u, 0.0)) ** 2 + 0.5 * (u - ahead) ** 2
