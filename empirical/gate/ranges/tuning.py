"""Where the parameters of private tuning with a Poisson number of runs are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Maps, Ranges

RANGES: Ranges = {
    ("poisson-tuning.epsilon", "base_mu"): (-6.0, 2.0),
    ("poisson-tuning.epsilon", "mean_runs"): (-3.0, 3.0),
    ("poisson-tuning-pair.epsilon", "base_epsilon"): (-3.0, 2.0),
    ("poisson-tuning-pair.epsilon", "mean_runs"): (-2.0, 3.0),
    ("poisson-tuning-pair.epsilon", "delta"): (-15.0, -0.3),
    ("poisson-tuning.rdp", "base_mu"): (-4.0, 2.0),
    ("poisson-tuning.rdp", "mean_runs"): (-4.0, 3.0),
    ("poisson-tuning-renyi.epsilon", "base_mu"): (-3.0, 1.0),
    ("poisson-tuning-renyi.epsilon", "mean_runs"): (-2.0, 2.0),
    ("poisson-tuning-renyi.epsilon", "delta"): (-30.0, -0.3),
    ("poisson-tuning.lower", "base_mu"): (-2.0, 0.7),
    ("poisson-tuning.lower", "mean_runs"): (-1.0, 2.0),
    ("poisson-tuning.lower", "delta"): (-12.0, -0.3),
}

MAPS: Maps = {
    # No epsilon reaches a delta below mean_runs * base_delta; test_tuning goes to that edge.
    ("poisson-tuning-pair.epsilon", "base_delta"):
        lambda u: 0.0 if u < 0.3 else 10.0 ** (-300 + 280 * (u - 0.3) / 0.7),
    ("poisson-tuning.rdp", "alpha"): lambda u: 1.0 + 10.0 ** (-4 + 8 * u),
    ("poisson-tuning.lower", "rank_threshold"): lambda u: -2.0 + 5.0 * u,
}

_MEANS = (5e-324, 1e-160, 1e-8, 1.0, 20.0, 1e8, 1e30)
_MUS = (5e-324, 1e-310, 1e-160, 1e-8, 1.0, 3.0, 1e8, 1e30)

CORNERS: Corners = {
    ("poisson-tuning.epsilon", "base_mu"): _MUS,
    ("poisson-tuning.epsilon", "mean_runs"): _MEANS,
    ("poisson-tuning-pair.epsilon", "base_epsilon"): (0.0, 5e-324, 1e-160, 1e-8, 1.0, 30.0, 1e4),
    ("poisson-tuning-pair.epsilon", "base_delta"): (0.0, 5e-324, 1e-310),
    ("poisson-tuning-pair.epsilon", "mean_runs"): _MEANS,
    ("poisson-tuning-pair.epsilon", "delta"): (1e-200, 1e-15, 1e-5, 0.3, 1 - 2**-53),
    ("poisson-tuning.rdp", "base_mu"): _MUS,
    ("poisson-tuning.rdp", "mean_runs"): _MEANS,
    ("poisson-tuning.rdp", "alpha"): (1 + 2**-52, 1.5, 2.0, 3.0, 1e8, 1e30),
    ("poisson-tuning-renyi.epsilon", "base_mu"): (1e-160, 1e-8, 1.0, 3.0, 1e8),
    ("poisson-tuning-renyi.epsilon", "mean_runs"): (1e-160, 1e-8, 1.0, 20.0, 1e8),
    ("poisson-tuning.lower", "base_mu"): (1e-8, 0.3, 1.0, 3.0, 100.0),
    ("poisson-tuning.lower", "mean_runs"): (1e-8, 0.3, 1.0, 20.0, 1e8),
    ("poisson-tuning.lower", "rank_threshold"): (-1e8, -3.0, 0.0, 0.5, 2.0, 1e8),
}

FEW_POINTS: dict[str, int] = {"poisson-tuning-renyi.epsilon": 24, "poisson-tuning.lower": 60}
