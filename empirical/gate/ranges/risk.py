"""Where the parameters of the risk bounds are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Edges, Maps, Ranges

_TWO_BATCHED = ("adaptive-batched-gd.risk", "adaptive-batched-gd-symmetric.risk")
_TWO_CHAINS = ("glmtron.risk", "glmtron-recursion.risk")

RANGES: Ranges = {
    ("dp-gd-calibrated.risk", "epsilon"): (-3.0, 2.0),
    ("dp-gd-calibrated.risk", "delta"): (-12.0, -0.3),
    **{(name, "dataset_size"): (0.302, 9.0) for name in ("phased-sgd.risk", "phased-sgd-projected.risk")},
    ("dp-pgd.risk", "projected_dimension"): (0.0, 3.0),
    **{(name, "steps"): (0.0, 1.4) for name in _TWO_BATCHED},
    **{(name, "learning_rate"): (-3.0, 0.5) for name in _TWO_BATCHED},
    **{(name, "feature_norm"): (-1.0, 2.0) for name in _TWO_BATCHED},
    # learning_rate * fourth_moment * trace stays below 1; the tests of the bound go to that edge.
    **{(name, "spectrum"): (-4.0, 0.0) for name in _TWO_CHAINS},
    **{(name, "learning_rate"): (-4.0, -1.7) for name in _TWO_CHAINS},
    ("glmtron.risk", "fourth_moment"): (0.0, 1.0),
    ("glmtron-recursion.risk", "dataset_size"): (0.0, 1.2),
}

MAPS: Maps = {
    ("adaptive-batched-gd.risk", "strong_convexity"): lambda u: 10.0 ** (3.0 * (u - 1.0)),
}

EVERYDAY: dict[tuple[str, str], Edges] = {("glmtron-recursion.risk", "dataset_size"): (1, 1e4)}  # a step a record

_FEW = (5e-324, 1e-300, 1e-30, 1e-3, 0.1)

CORNERS: Corners = {
    ("dp-gd-calibrated.risk", "delta"): (1e-100, 1e-15, 1e-5, 0.3, 0.5, 1 - 2**-53),
    ("dp-gd-calibrated.risk", "epsilon"): (0.0, 1e-8, 1.0, 3.0, 1e3),
    **{
        (name, "dataset_size"): (2, 3, 17, 10**6, 2**53) for name in ("phased-sgd.risk", "phased-sgd-projected.risk")
    },
    ("dp-pgd.risk", "projected_dimension"): (1, 2, 3, 1000, 10**6, int(1e30)),
    # The chain can grow by hundreds of digits a step, and an enclosure's width is absolute above 1.
    **{(name, "steps"): (0, 1, 2, 3) for name in _TWO_BATCHED},
    **{
        (name, parameter): (5e-324, 1e-300, 1e-30, 1e-8, 1.0, 3.0, 1e8, 1e160)
        for name in _TWO_BATCHED for parameter in ("learning_rate", "feature_norm", "noise_over_sensitivity")
    },
    **{(name, "spectrum"): _FEW for name in _TWO_CHAINS},
    **{(name, "learning_rate"): (*_FEW, 1.0) for name in _TWO_CHAINS},
    ("glmtron.risk", "fourth_moment"): (1.0, 1 + 2**-52, 2.0),
    ("glmtron-recursion.risk", "dataset_size"): (1, 2, 3, 17),
}

FEW_POINTS: dict[str, int] = {**dict.fromkeys((*_TWO_BATCHED, *_TWO_CHAINS), 100), "dp-gd-calibrated.risk": 60}
