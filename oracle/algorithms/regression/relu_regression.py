"""What the literal trainings of ReLU regression share: the surrogate gradient, and the checks of data.

The surrogate loss of document 002, eq. 2, is l(w; x, y) = int_0^{<w, x>} (max(0, z) - y) dz, whose gradient is

    (max(0, <w, x>) - y) x.

It is convex, and not bounded below for y < 0. A replaced record moves the gradient by at most r (r |w| + 2B), attained,
where |x| <= r and |y| <= B: these are hypotheses on the records, since nothing is clipped, and data beyond them are
refused (`oracle.engines.relu_gradient` has the proof).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from oracle.algorithms.shared import glm
from oracle.algorithms.shared.glm import Array
from oracle.core.errors import DomainError


def gradient(w: Array, x: Array, label: float) -> Array:
    """The gradient of one record's surrogate loss."""
    return (max(0.0, float(w @ x)) - label) * x


def check_data(features: Array, labels: Array, *, feature_norm: Fraction, label_bound: Fraction) -> None:
    """A DomainError unless these are data with features and labels as short as declared."""
    glm.check_data(features, labels, feature_norm=feature_norm)
    largest = float(np.abs(labels).max())
    if largest > float(label_bound) * (1 + 1e-12):
        raise DomainError(f"a label has size {largest}, above the declared label_bound = {label_bound}")
