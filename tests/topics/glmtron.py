"""DP-GLMtron, DP-TAGLMtron and DP-Threshold (document 003): second opinions."""

from __future__ import annotations

import functools

from mpmath import mp, mpf

from tests.formulas import gaussian_delta, laplace_composed_delta, normal_tail
from tests.opinion import Numbers, Root, Value
from tests.opinion.shuffle import closed_form, shuffle_delta

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
    local = _gaussian_epsilon(1 / noise, v["delta"] / (4 * v["dataset_size"] - 2), mp.dps)
    users = {"epsilon0": local, "users": v["dataset_size"], "delta": v["delta"] / 2, "method": v["method"]}
    if v["method"] == "closed-form":
        return min(alone, closed_form(users) - epsilon)
    return min(alone, shuffle_delta(users, epsilon) - v["delta"] / 2)


# --- the tree of completed nodes


def taglmtron_mu(v: Numbers, noise: mpf) -> mpf:
    """The shift of the first leaf, which lies in the nodes of 1, 2, 4, ... leaves that are complete."""
    nodes, size = 0, 1
    while size <= v["dataset_size"]:
        nodes, size = nodes + 1, 2 * size
    return {"replace": 2, "add_remove": 1}[v["neighbours"]] * mp.sqrt(nodes) / noise


# --- histograms


def threshold_delta(v: Numbers, epsilon: mpf) -> mpf:
    """All k histograms: one of them gives all away, or 2k Laplace releases of ratio epsilon'/2 speak."""
    many = int(v["histograms"] * v["calls"])
    releases = {"steps": 2 * many, "sensitivity": v["threshold_epsilon"], "scale": mpf(2)}
    with mp.extradps(20):
        silent = many * mp.log1p(-v["threshold_delta"] / 2)
        result = -mp.expm1(silent) + mp.exp(silent) * laplace_composed_delta(releases, epsilon)
    return +result


def adaptive_excess(v: Numbers, epsilon: mpf) -> mpf:
    """Positive while epsilon is below one of the two: the pass, or three histograms for each of its records."""
    calls = {**v, "histograms": 3, "calls": v["dataset_size"]}
    trained = glmtron_excess({**v, "method": "upper"}, v["noise_over_sensitivity"], epsilon)
    return max(trained, threshold_delta(calls, epsilon) - v["delta"])


OPINIONS: dict[str, Value | Root] = {
    "glmtron.epsilon": Root(lambda v, e: glmtron_excess(v, v["noise_over_sensitivity"], e)),
    "glmtron.sigma": Root(lambda v, noise: glmtron_excess(v, noise, v["epsilon"])),
    "taglmtron.epsilon": Root(lambda v, e: gaussian_delta(taglmtron_mu(v, v["noise_multiplier"]), e) - v["delta"]),
    "taglmtron.sigma": Root(lambda v, noise: gaussian_delta(taglmtron_mu(v, noise), v["epsilon"]) - v["delta"]),
    "glmtron-adaptive.epsilon": Root(adaptive_excess),
    "dp-threshold.epsilon": Root(lambda v, e: threshold_delta(v, e) - v["delta"]),
    "dp-threshold.delta": Value(lambda v: threshold_delta(v, v["epsilon"]), digits=(45, 70)),
}
