"""Where the parameters of DP-SBCD (document 001) are drawn."""

from __future__ import annotations

from empirical.gate.ranges import Corners, Edges, Maps, Ranges

_HIDDEN = ("sbcd.rdp", "sbcd-mixed.rdp", "sbcd.epsilon")

RANGES: Ranges = {
    **{(name, "noise_variances"): (-3.0, 1.0) for name in _HIDDEN},
    **{(name, parameter): (-0.7, 0.15) for name in _HIDDEN for parameter in ("lipschitz_gradient", "lipschitz_prox")},
    ("sbcd-mixed.rdp", "batches"): (0.0, 1.1),
    ("sbcd.epsilon", "batches"): (0.0, 0.8),
    ("sbcd.epsilon", "sensitivity"): (-3.0, 2.0),
    ("sbcd.epsilon", "delta"): (-15.0, -0.3),
    ("sbcd-composition.epsilon", "sensitivities"): (-3.0, 2.0),
    ("sbcd-composition.epsilon", "noise_variances"): (-3.0, 3.0),
}


def _order(u: float) -> float:
    return float(1.0 + 10.0 ** (-4.0 + 6.0 * u))


MAPS: Maps = {
    **{(name, "alpha"): _order for name in ("sbcd.rdp", "sbcd-mixed.rdp", "sbcd-composition.rdp")},
    # No position is beyond the last batch; test_sbcd goes to that edge, and to a single batch.
    ("sbcd.rdp", "batches"): lambda u: int(6 + 10 * u),
    ("sbcd.rdp", "batch_position"): lambda u: int(1 + 5.99 * u),
}

# Both take every batch of every epoch, and so does their reference.
EVERYDAY: dict[tuple[str, str], Edges] = {(name, "batches"): (1, 1e3) for name in ("sbcd-mixed.rdp", "sbcd.epsilon")}

_ORDERS = (1 + 2**-52, 1.5, 2.0, 100.0, 1e8)
_MODERATE = (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30)
_LIPSCHITZ = (0.0, 1e-30, 1e-8, 0.5, 1 - 2**-53, 1.0, 1 + 2**-52, 3.0, 1e8)

CORNERS: Corners = {
    **{(name, "alpha"): _ORDERS for name in ("sbcd.rdp", "sbcd-mixed.rdp", "sbcd-composition.rdp")},
    **{(name, parameter): _LIPSCHITZ for name in _HIDDEN for parameter in ("lipschitz_gradient", "lipschitz_prox")},
    ("sbcd.rdp", "batches"): (10**6, 2**53, int(1e30)),
    ("sbcd.rdp", "batch_position"): (1, 2, 3, 10**6),
    **{(name, "batches"): (1, 2, 3, 17) for name in ("sbcd-mixed.rdp", "sbcd.epsilon")},
    **{
        (name, parameter): _MODERATE
        for name, moved in (("sbcd.epsilon", "sensitivity"), ("sbcd-composition.epsilon", "sensitivities"))
        for parameter in (moved, "learning_rate", "noise_variances")
    },
}

FEW_POINTS: dict[str, int] = {"sbcd.epsilon": 60, "sbcd-mixed.rdp": 150}
