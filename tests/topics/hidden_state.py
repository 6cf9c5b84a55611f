"""Second opinions and directions of the hidden-state bounds: the shift programme, NoisyGD and NoisyCGD.

The opinions walk through the steps one by one: a start, the drifts, and the convex minorant of the programme's points,
by a stack or by trying every set of vertices. No closed form of `oracle` is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mpmath import mp, mpf

from tests.formulas import gaussian_excess, noisy_cgd_mu, noisy_gd_mu
from tests.opinion import Numbers, Root, Value

Point = tuple[mpf, mpf]


def programme_points(drift: Sequence[mpf], contraction: Sequence[mpf], noise: Sequence[mpf]) -> list[Point]:
    """(sum of (P tau)^2, sum of P s) after each step, from (0, 0); P is what later steps multiply by."""
    power, weights = mpf(1), [mpf(1)] * len(drift)
    for i in reversed(range(len(drift) - 1)):
        power = power * contraction[i + 1]
        weights[i] = power
    points = [(mpf(0), mpf(0))]
    for s, tau, weight in zip(drift, noise, weights, strict=True):
        if weight:
            points.append((points[-1][0] + (weight * tau) ** 2, points[-1][1] + weight * s))
    return points


def chain_cost(chain: Sequence[Point]) -> mpf:
    return mp.fsum((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in itertools.pairwise(chain))


def cost_by_vertices(points: Sequence[Point]) -> mpf:
    """The dearest convex chain from the first point to the last: every convex chain bounds the optimum from below."""
    best = mpf(0)
    for count in range(len(points) - 1):
        for inner in itertools.combinations(points[1:-1], count):
            chain = [points[0], *inner, points[-1]]
            slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(chain)]
            if all(first <= second for first, second in itertools.pairwise(slopes)):
                best = max(best, chain_cost(chain))
    return best


def cost_by_stack(points: Sequence[Point]) -> mpf:
    """The same by the greatest convex minorant, for more points."""
    hull: list[Point] = []
    for point in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (point[0] - hull[-2][0]) >= (
            point[1] - hull[-2][1]
        ) * (hull[-1][0] - hull[-2][0]):
            hull.pop()
        hull.append(point)
    return chain_cost(hull)


def least_cost(drift: Sequence[mpf], contraction: Sequence[mpf], noise: Sequence[mpf], diameter: mpf) -> mpf:
    """The least cost over the common start and a start at the diameter before any step."""
    solve = cost_by_vertices if len(drift) <= 5 else cost_by_stack
    costs = [solve(programme_points(drift, contraction, noise))]
    if diameter != mp.inf:
        costs += [
            solve(programme_points([drift[j] + contraction[j] * diameter, *drift[j + 1:]], contraction[j:], noise[j:]))
            for j in range(len(drift))
        ]
    return min(costs)


def shifted_mu(v: Numbers) -> mpf:
    if not v["drift"]:
        return mpf(0)
    return mp.sqrt(least_cost(v["drift"], v["contractions"], v["iterate_noise"], v["diameter"]))


def linear_gaussian_mu(v: Numbers) -> mpf:
    """The two means and the variance of the linear iteration, step by step."""
    gap = variance = mpf(0)
    for s, c, tau in zip(v["drift"], v["contractions"], v["iterate_noise"], strict=True):
        gap, variance = c * gap + s, c**2 * variance + tau**2
    return gap / mp.sqrt(variance) if variance else mpf(0)


def cyclic(v: Numbers, position: int, diameter: mpf, rate: mpf) -> mpf:
    """NoisyCGD's programme for a record in one batch, in the units of the iterate."""
    steps = int(v["batches"] * v["epochs"])
    drift = [rate * v["sensitivity"] / v["batch_size"] * (i % int(v["batches"]) == position - 1) for i in range(steps)]
    return mp.sqrt(least_cost(drift, [v["contraction"]] * steps, [rate * v["noise_on_mean"]] * steps, diameter))


def noisy_gd_projected_mu(v: Numbers) -> mpf:
    """The mean and variance of every start, one more step at a time; NoisyGD's edge is the chord."""
    c, s, tau = v["contraction"], v["learning_rate"] * v["sensitivity"] / v["dataset_size"], v["noise_on_mean"]
    tau *= v["learning_rate"]
    power, gap, variance, best = mpf(1), mpf(0), mpf(0), mp.inf
    for _ in range(int(v["steps"])):
        gap, variance, power = gap + power * s, variance + (power * tau) ** 2, power * c
        best = min(best, (gap + (power * v["diameter"] if power else 0)) ** 2 / variance)
    return mp.sqrt(min(best, gap**2 / variance)) if v["steps"] else mpf(0)


def noisy_gd_excess(v: Numbers, epsilon: mpf, sigma: mpf) -> mpf:
    if v["steps"] == 0:
        return -v["delta"]  # nothing is released
    return gaussian_excess(noisy_gd_mu({**v, "noise_on_mean": sigma}), epsilon, v["delta"])


def noisy_cgd_excess(v: Numbers, epsilon: mpf, sigma: mpf) -> mpf:
    return gaussian_excess(noisy_cgd_mu({**v, "noise_on_mean": sigma}), epsilon, v["delta"])


OPINIONS = {
    "shifted.mu": Value(shifted_mu, digits=(100, 160)),
    "linear-gaussian.mu": Value(linear_gaussian_mu),
    "noisy-gd-projected.mu": Value(noisy_gd_projected_mu),
    "noisy-cgd-projected.mu": Value(
        lambda v: cyclic(v, int(v["batches"]), v["diameter"], v["learning_rate"]), digits=(60, 80)
    ),
    "noisy-cgd-position.mu": Value(lambda v: cyclic(v, int(v["batch_position"]), mp.inf, mpf(1)), digits=(60, 80)),
    "noisy-gd.epsilon": Root(lambda v, epsilon: noisy_gd_excess(v, epsilon, v["noise_on_mean"])),
    "noisy-cgd.epsilon": Root(lambda v, epsilon: noisy_cgd_excess(v, epsilon, v["noise_on_mean"])),
    "noisy-gd.sigma": Root(lambda v, sigma: noisy_gd_excess(v, v["epsilon"], sigma)),
    "noisy-cgd.sigma": Root(lambda v, sigma: noisy_cgd_excess(v, v["epsilon"], sigma)),
    "noisy-cgd.step": Root(lambda v, step: noisy_cgd_mu({**v, "contraction": 1 - step}) - v["mu"]),
}
