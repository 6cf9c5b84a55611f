"""Where the parameters of the convex ReLU model's constants are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Ranges

RANGES: Ranges = {("convex-relu.contraction", "learning_rate"): (-6.0, 2.0)}
