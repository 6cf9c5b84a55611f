"""Where the parameters of NoisySGD on subsampled batches are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Maps, Ranges


def _steps(u: float) -> int:
    return 0 if u < 0.04 else int(10.0 ** (4 * u))

_BOTH = ("noisy-sgd.epsilon", "noisy-sgd.delta")
# The batch lies below the data set, and sensitivity / (batch_size * noise_on_mean) below 4, where the opinion's sum
# is good.
MAPS: Maps = {
    **{(name, "sensitivity"): lambda u: 10.0 ** (-0.3 + 0.6 * u) for name in _BOTH},
    **{(name, "dataset_size"): lambda u: int(10.0 ** (1.5 + 3 * u)) for name in _BOTH},
    **{(name, "batch_size"): lambda u: int(10.0 ** (1 + 0.5 * u)) for name in _BOTH},
    **{(name, "noise_on_mean"): lambda u: 10.0 ** (-1.2 + 2 * u) for name in _BOTH},
    **{(name, "steps"): _steps for name in _BOTH},
    ("noisy-sgd.epsilon", "delta"): lambda u: 10.0 ** (-12 + 11.5 * u),
    ("noisy-sgd.delta", "epsilon"): lambda u: 0.0 if u < 0.04 else 10.0 ** (-3 + 3 * u),
}
RANGES: Ranges = {
    **{(name, "learning_rate"): (-2.0, 0.0) for name in _BOTH},
    **{(name, "diameter"): (-4.0, 0.0) for name in _BOTH},
}
CORNERS: Corners = {
    **{(name, "sensitivity"): (1.0,) for name in _BOTH},
    **{(name, "dataset_size"): (100, 10**6, 10**12) for name in _BOTH},
    **{(name, "batch_size"): (1, 3, 100) for name in _BOTH},
    **{(name, "noise_on_mean"): (1e-3, 1.0, 100.0) for name in _BOTH},
    **{(name, "steps"): (0, 1, 2, 10**6, 10**9) for name in _BOTH},
    **{(name, "learning_rate"): (1e-300, 1.0, 1e300) for name in _BOTH},
    ("noisy-sgd.delta", "epsilon"): (0.0, 1e-8, 1.0, 100.0),
}
FEW_POINTS: dict[str, int] = dict.fromkeys(_BOTH, 12)
