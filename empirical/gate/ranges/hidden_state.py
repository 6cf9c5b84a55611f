"""Where the parameters of the shift programme, NoisyGD and NoisyCGD are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Maps, Ranges

RANGES: Ranges = {
    **{(name, "contractions"): (-2.0, 0.5) for name in ("shifted.mu", "linear-gaussian.mu")},
    **{(name, "drift"): (-2.0, 2.0) for name in ("shifted.mu", "linear-gaussian.mu")},
    **{(name, "iterate_noise"): (-2.0, 2.0) for name in ("shifted.mu", "linear-gaussian.mu")},
    ("shifted.mu", "diameter"): (-3.0, 3.0),
    ("noisy-gd-projected.mu", "steps"): (0.0, 2.3),  # the opinion takes every step
    ("noisy-gd-projected.mu", "dataset_size"): (0.0, 2.0),
    ("noisy-gd-projected.mu", "sensitivity"): (-1.0, 1.0),
    ("noisy-gd-projected.mu", "learning_rate"): (-1.0, 1.0),
    ("noisy-gd-projected.mu", "diameter"): (-3.0, 3.0),
    ("noisy-cgd-projected.mu", "batches"): (0.0, 0.7),
    ("noisy-cgd-projected.mu", "epochs"): (0.0, 0.95),
    ("noisy-cgd-projected.mu", "batch_size"): (0.0, 1.0),
    ("noisy-cgd-projected.mu", "sensitivity"): (-1.0, 1.0),
    ("noisy-cgd-projected.mu", "learning_rate"): (-1.0, 1.0),
    ("noisy-cgd-projected.mu", "diameter"): (-2.0, 2.0),
    ("noisy-cgd-position.mu", "epochs"): (0.0, 1.0),
    **{(f"noisy-{name}.epsilon", "noise_on_mean"): (-2.0, 8.0) for name in ("gd", "cgd")},
    **{(f"noisy-{name}.epsilon", "sensitivity"): (-0.5, 0.5) for name in ("gd", "cgd")},
    **{(f"noisy-{name}.sigma", "epsilon"): (-8.0, 4.0) for name in ("gd", "cgd")},
    **{(f"noisy-{name}.sigma", "delta"): (-250.0, -0.3) for name in ("gd", "cgd")},
    # No contraction reaches a mu below that of one release.
    ("noisy-cgd.step", "sensitivity"): (-1.0, 0.0),
    ("noisy-cgd.step", "batch_size"): (0.0, 1.0),
    ("noisy-cgd.step", "noise_on_mean"): (0.0, 1.0),
    ("noisy-cgd.step", "batches"): (0.0, 3.0),
    ("noisy-cgd.step", "epochs"): (0.0, 9.0),
    ("noisy-cgd.step", "mu"): (0.0, 2.0),
}

MAPS: Maps = {  # no batch stands after the last
    ("noisy-cgd-position.mu", "batches"): lambda u: 4 + int(4.99 * u),
    ("noisy-cgd-position.mu", "batch_position"): lambda u: 1 + int(3.99 * u),
}

_LARGE = (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30, 1e160, 1e300)
_SMALL = (5e-324, 1e-300, 1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
_COUNTS = (1, 2, 3, 10**6, 2**53)

CORNERS: Corners = {
    **{(f"noisy-{name}.epsilon", "noise_on_mean"): _LARGE for name in ("gd", "cgd")},
    **{(f"noisy-{name}.epsilon", "sensitivity"): _SMALL for name in ("gd", "cgd")},
    # A huge sensitivity for a tiny epsilon asks the reference for hundreds of digits; gaussian.sigma goes there.
    **{(f"noisy-{name}.sigma", "sensitivity"): (5e-324, 1e-300, 1e-8, 1.0, 1e8, 1e30) for name in ("gd", "cgd")},
    **{(f"noisy-{name}.sigma", "epsilon"): (0.0, 1e-30, 1e-8, 1.0, 3.0, 1e8) for name in ("gd", "cgd")},
    **{(f"noisy-gd.{name}", "steps"): (0, *_COUNTS) for name in ("epsilon", "sigma")},
    **{(f"noisy-cgd.{name}", "epochs"): _COUNTS for name in ("epsilon", "sigma", "step")},
    ("noisy-cgd-position.mu", "batch_position"): (1,),
    ("noisy-cgd.step", "sensitivity"): (5e-324, 1e-300, 1e-8, 1.0),
    ("noisy-cgd.step", "noise_on_mean"): (1.0, 3.0, 1e8, 1e300),
    ("noisy-cgd.step", "mu"): (1.0, 3.0, 1e8, 1e300),
    ("noisy-cgd.step", "batches"): (1, 2, 3, 1000),
}

FEW_POINTS: dict[str, int] = {
    **{f"noisy-{name}.{unit}": 60 for name in ("gd", "cgd") for unit in ("epsilon", "sigma")},
    "noisy-cgd.step": 40, "shifted.mu": 150, "noisy-cgd-projected.mu": 150, "noisy-gd-projected.mu": 150,
}
