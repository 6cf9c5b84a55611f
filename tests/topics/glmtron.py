"""DP-GLMtron, DP-TAGLMtron and DP-Threshold (document 003): second opinions, directions and where to draw."""

from __future__ import annotations

import functools

from mpmath import mp, mpf

from tests.formulas import gaussian_delta, laplace_composed_delta, normal_tail
from tests.opinion import Numbers, Root, Value
from tests.opinions_shuffle import closed_form, shuffle_delta
from tests.topics import FALLS, RISES, TURNS

# --- one shuffled pass


@functools.lru_cache(maxsize=64)
def _gaussian_epsilon(mu: mpf, delta: mpf, _: int) -> mpf:
    """The least epsilon of the Gaussian curve, by Newton's method on log delta, which is concave: from the right."""
    if gaussian_delta(mu, mpf(0)) <= delta:
        return mpf(0)
    with mp.extradps(20):
        x = mu * (mu / 2 + mp.sqrt(-2 * mp.log(delta)))
        for _ in range(500):
            value = gaussian_delta(mu, x)
            slope = mp.exp(x) * normal_tail(mu / 2 + x / mu)
            step = value * mp.log(value / delta) / slope
            x += step
            if abs(step) <= abs(x) * mpf(10) ** (10 - mp.dps):
                return x
    raise AssertionError(f"no epsilon found for mu = {mu}, delta = {delta}")


def glmtron_excess(v: Numbers, noise: mpf, epsilon: mpf) -> mpf:
    """Positive while epsilon is below both guarantees: one Gaussian release, and shuffled local randomisers."""
    alone = gaussian_delta(1 / noise, epsilon) - v["delta"]
    if alone <= 0:
        return alone
    local = _gaussian_epsilon(1 / noise, v["delta"] / (4 * v["records"] - 2), mp.dps)
    users = {"epsilon0": local, "users": v["records"], "delta": v["delta"] / 2, "method": v["method"]}
    if v["method"] == "closed-form":
        return min(alone, closed_form(users) - epsilon)
    return min(alone, shuffle_delta(users, epsilon) - v["delta"] / 2)


# --- the tree of completed nodes


def taglmtron_mu(v: Numbers, noise: mpf) -> mpf:
    """The shift of the first leaf, which lies in the nodes of 1, 2, 4, ... leaves that are complete."""
    nodes, size = 0, 1
    while size <= v["records"]:
        nodes, size = nodes + 1, 2 * size
    return {"replace": 2, "add_remove": 1}[v["neighbours"]] * mp.sqrt(nodes) / noise


# --- histograms


def threshold_delta(v: Numbers, epsilon: mpf) -> mpf:
    """All k histograms: one of them gives all away, or 2k Laplace releases of ratio epsilon'/2 speak."""
    many = int(v["histograms"] * v["calls"])
    releases = {"steps": 2 * many, "sensitivity": v["epsilon"], "scale": mpf(2)}
    with mp.extradps(20):
        kept = mp.exp(many * mp.log1p(-v["delta"] / 2))
        result = -mp.expm1(many * mp.log1p(-v["delta"] / 2)) + kept * laplace_composed_delta(releases, epsilon)
    return +result


def adaptive_excess(v: Numbers, epsilon: mpf) -> mpf:
    """Positive while epsilon is below one of the two: the pass, or three histograms for each of its records."""
    calls = {"epsilon": v["threshold_epsilon"], "delta": v["threshold_delta"], "histograms": 3, "calls": v["records"]}
    trained = glmtron_excess({**v, "method": "upper"}, v["noise_multiplier"], epsilon)
    return max(trained, threshold_delta(calls, epsilon) - v["delta"])


OPINIONS: dict[str, Value | Root] = {
    "glmtron.epsilon": Root(lambda v, e: glmtron_excess(v, v["noise_multiplier"], e)),
    "glmtron.sigma": Root(lambda v, noise: glmtron_excess(v, noise, v["epsilon"])),
    "taglmtron.epsilon": Root(lambda v, e: gaussian_delta(taglmtron_mu(v, v["noise_multiplier"]), e) - v["delta"]),
    "taglmtron.sigma": Root(lambda v, noise: gaussian_delta(taglmtron_mu(v, noise), v["epsilon"]) - v["delta"]),
    "glmtron-adaptive.epsilon": Root(adaptive_excess),
    "dp-threshold.epsilon": Root(lambda v, e: threshold_delta(v, e) - v["total_delta"]),
    "dp-threshold.delta": Value(lambda v: threshold_delta(v, v["total_epsilon"]), digits=(45, 70)),
}

DIRECTIONS = {
    # More records hide more, but each must leak less: below a few hundred the second can win.
    "glmtron.epsilon": {"noise_multiplier": FALLS, "records": TURNS, "delta": FALLS},
    "glmtron.sigma": {"records": TURNS, "epsilon": FALLS, "delta": FALLS},
    "glmtron-adaptive.epsilon": {
        "noise_multiplier": FALLS, "records": TURNS, "threshold_epsilon": RISES, "threshold_delta": RISES,
        "delta": FALLS,
    },
    "taglmtron.epsilon": {"noise_multiplier": FALLS, "records": RISES, "delta": FALLS},
    "taglmtron.sigma": {"records": RISES, "epsilon": FALLS, "delta": FALLS},
    "dp-threshold.epsilon": {
        "epsilon": RISES, "delta": RISES, "histograms": RISES, "calls": RISES, "total_delta": FALLS,
    },
    "dp-threshold.delta": {
        "epsilon": RISES, "delta": RISES, "histograms": RISES, "calls": RISES, "total_epsilon": FALLS,
    },
}

RANGES = {
    ("glmtron.epsilon", "noise_multiplier"): (-0.3, 2.3),
    ("glmtron.sigma", "epsilon"): (-2.5, 1.0),
    ("glmtron-adaptive.epsilon", "noise_multiplier"): (-0.3, 2.3),
    ("glmtron-adaptive.epsilon", "threshold_epsilon"): (-2.0, 1.5),
    ("taglmtron.epsilon", "noise_multiplier"): (-2.0, 8.0),
    ("taglmtron.epsilon", "records"): (0.0, 15.0),
    ("taglmtron.sigma", "records"): (0.0, 15.0),
    ("taglmtron.sigma", "epsilon"): (-8.0, 4.0),
    ("taglmtron.sigma", "delta"): (-250.0, -0.3),
    **{(f"dp-threshold.{name}", "epsilon"): (-2.0, 1.5) for name in ("epsilon", "delta")},
    ("dp-threshold.delta", "total_epsilon"): (-5.0, 1.5),
}

MAPS = {
    # The opinion lists every outcome; from about 20 records on shuffling is worth something.
    **{(f"glmtron.{name}", "records"): lambda u: int(10.0 ** (1.7 * u**0.4)) for name in ("epsilon", "sigma")},
    **{(f"glmtron.{name}", "delta"): lambda u: 10.0 ** (-8 + 7 * u) for name in ("epsilon", "sigma")},
    **{(f"dp-threshold.{name}", "histograms"): lambda u: 3 if u > 0.4 else 1 for name in ("epsilon", "delta")},
    **{(f"dp-threshold.{name}", "calls"): lambda u: 2 if u > 0.4 else 1 for name in ("epsilon", "delta")},
    ("glmtron-adaptive.epsilon", "records"): lambda u: 2 if u > 0.4 else 1,
    ("glmtron-adaptive.epsilon", "threshold_delta"): lambda u: 10.0 ** (-300 + 285 * u),
    ("glmtron-adaptive.epsilon", "delta"): lambda u: 10.0 ** (-8 + 7 * u),
    # No epsilon reaches a total_delta below 1 - (1 - delta/2)^k: one of two deltas comes close to it for k = 6.
    ("dp-threshold.epsilon", "delta"): lambda u: 2.0**-19 if u > 0.4 else 10.0 ** (-300 + 700 * u),
    ("dp-threshold.epsilon", "total_delta"): lambda u: (
        6 * 2.0**-20 * (1 + 10.0 ** (-6 + 10 * u)) if u < 0.4 else 10.0 ** (-5 + 8.3 * (u - 0.4))
    ),
}

CORNERS = {
    **{(f"glmtron.{name}", "records"): (1, 2, 3, 17, 1000) for name in ("epsilon", "sigma")},
    ("glmtron.epsilon", "noise_multiplier"): (1e-8, 0.1, 1.0, 3.0, 1e8, 1e160),
    ("glmtron.sigma", "epsilon"): (0.0, 1e-8, 1.0, 3.0, 1e3),
    **{(f"glmtron.{name}", "delta"): (1e-100, 1e-15, 1e-5, 0.3, 0.5, 0.9, 1 - 2**-53) for name in ("epsilon", "sigma")},
    ("glmtron-adaptive.epsilon", "records"): (1, 2, 3),
    ("glmtron-adaptive.epsilon", "noise_multiplier"): (1e-8, 0.1, 1.0, 3.0, 1e8, 1e160),
    ("glmtron-adaptive.epsilon", "threshold_epsilon"): (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30),
    ("glmtron-adaptive.epsilon", "threshold_delta"): (5e-324, 1e-310, 1e-300, 1e-100),
    ("glmtron-adaptive.epsilon", "delta"): (1e-90, 1e-15, 1e-5, 0.3, 0.5, 0.9, 1 - 2**-53),
    ("taglmtron.sigma", "epsilon"): (0.0, 1e-160, 1e-8, 1.0, 3.0, 1e8, 1e160),
    ("taglmtron.epsilon", "noise_multiplier"): (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30, 1e160, 1e300),
    **{(f"dp-threshold.{name}", "epsilon"): (1e-30, 1e-8, 1.0, 3.0, 1e8, 1e30) for name in ("epsilon", "delta")},
    **{(f"dp-threshold.{name}", "histograms"): (1, 2, 3) for name in ("epsilon", "delta")},
    **{(f"dp-threshold.{name}", "calls"): (1, 2, 10) for name in ("epsilon", "delta")},
    ("dp-threshold.epsilon", "delta"): (5e-324, 1e-310, 1e-300, 1e-100),
    ("dp-threshold.epsilon", "total_delta"): (1e-90, 1e-15, 1e-5, 0.3, 0.5, 1 - 2**-53),
}

FEW_POINTS = {
    "glmtron-adaptive.epsilon": 60,
    "glmtron.epsilon": 60, "glmtron.sigma": 30, "taglmtron.epsilon": 200, "taglmtron.sigma": 100,
    "dp-threshold.epsilon": 80, "dp-threshold.delta": 60,
}
