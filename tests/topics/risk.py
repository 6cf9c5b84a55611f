"""The risk bounds: second opinions from the definitions of the algorithms, and directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

from tests.formulas import gaussian_delta
from tests.opinion import Numbers, Root, Value


def descent(v: Numbers) -> mpf:
    """Telescoped distances over one step more, which has no noise, than is averaged."""
    return noisy(v, v["steps"] * v["dimension"] * v["noise_on_mean"] ** 2)


def noisy(v: Numbers, squares: mpf) -> mpf:
    """The same for a given sum of all squared noises."""
    all_steps = v["learning_rate"] ** 2 * ((v["steps"] + 1) * v["lipschitz"] ** 2 + squares)
    return (v["distance"] ** 2 + all_steps) / (2 * v["learning_rate"] * v["steps"])


def descent_tail(v: Numbers) -> mpf:
    """Quantiles of the sum of squared noises and of their sum against the distances."""
    x, freedom = mp.log(2 / v["failure_probability"]), v["dimension"] * v["steps"]
    squares = v["noise_on_mean"] ** 2 * (freedom + 2 * mp.sqrt(freedom * x) + 2 * x)
    reach = v["constraint_radius"] + v["learning_rate"] * v["lipschitz"]
    return noisy(v, squares) + mp.sqrt(2 * v["steps"] * x) * v["noise_on_mean"] * reach / v["steps"]


def calibrated_excess(v: Numbers, risk: mpf) -> mpf:
    """delta of the noise that this risk would allow, less the delta allowed."""
    steps, size = v["steps"], v["dataset_size"]
    second = (risk * steps / v["distance"]) ** 2  # (T+1) G^2 + T p sigma^2 at the best step size
    variance = (second - (steps + 1) * v["lipschitz"] ** 2) / v["dimension"] / steps
    if variance <= 0:
        return mpf(1)
    mu = 2 * v["lipschitz"] * mp.sqrt(steps / variance) / size
    return gaussian_delta(mu, v["epsilon"]) - v["delta"]


def phases(v: Numbers, start: mpf, unit: int, rank: mpf) -> mpf:
    """The surrogate's excess, phase by phase."""
    size, eta, gap, total, tau = int(v["dataset_size"]), v["base_learning_rate"], start, mpf(0), mpf(0)
    number = 0
    while size // 2 ** (number + 1) >= 1:
        number += 1
        count, step = size // 2**number, eta / mpf(4) ** number
        if number > 1:
            gap = tau**2 * min(rank, mpf(count))
        total += gap / (2 * step * count) + 2 * v["label_bound"] ** 2 * step
        tau = v["noise_over_sensitivity"] * unit * v["label_bound"] * step
    last = min(2 * v["label_bound"] * tau * mp.sqrt(2 / mp.pi), v["link_lipschitz"] * tau**2 / 2)
    return total + last


def projected(v: Numbers) -> mpf:
    m = v["projected_dimension"]
    square = v["target_norm"] ** 2
    return 2 * v["link_lipschitz"] * (phases(v, square, 8, m) + v["link_lipschitz"] * square / m)


def projected_descent(v: Numbers) -> mpf:
    m, radius = v["projected_dimension"], 2 * v["target_norm"]
    fourth = (m**2 + 2 * m) / m**2  # E|Phi x|^4
    gradient = radius * mp.sqrt(fourth) + v["label_bound"]
    regret = v["target_norm"] ** 2 / (2 * v["learning_rate"] * v["steps"])
    regret += v["learning_rate"] / 2 * (gradient**2 + m * v["noise_on_mean"] ** 2)
    # E[|Phi w*|^4; |Phi w*| > 2W], at most
    outside = v["target_norm"] ** 4 * fourth * 16 * mp.exp(m / 2 * (mp.log(4) - 3))
    distortion = mp.sqrt(2 * v["target_norm"] ** 2 / m) + (outside * fourth) ** mpf("0.25")
    return 2 * (regret + 2 * radius * gradient / mp.sqrt(v["dataset_size"]) + distortion**2 / 2)


def batched(v: Numbers, contraction: mpf, risk: Callable[[mpf], mpf]) -> mpf:
    """Squared distances in the mean, step by step."""
    square = v["target_norm"] ** 2
    for _ in range(int(v["steps"])):
        reach = v["feature_norm"] * (mp.sqrt(square) + v["target_norm"]) + 2 * v["label_bound"]
        noise = v["noise_over_sensitivity"] * v["feature_norm"] * reach / v["batch_size"]
        variance = v["feature_norm"] ** 2 * risk(square) / v["batch_size"] + v["dimension"] * noise**2
        square = contraction**2 * square + v["learning_rate"] ** 2 * variance
    return risk(square)


def batched_general(v: Numbers) -> mpf:
    eta, mu, best = v["learning_rate"], v["strong_convexity"], mp.sqrt(v["optimal_risk"])
    return batched(
        v, max(abs(1 - eta * mu), abs(1 - eta)), lambda square: (mp.sqrt(square) + best + best / mu) ** 2
    )


def batched_symmetric(v: Numbers) -> mpf:
    best = mp.sqrt(2 * v["optimal_risk"])
    return batched(
        v, 1 - v["learning_rate"] / 2, lambda square: square / 4 + (mp.sqrt(square) / 2 + best) ** 2
    )


def dimensions(spectrum: list[mpf], reach: mpf) -> tuple[mpf, mpf]:
    """k* + (eta N)^2 sum of the tail's squares, and the private sum, for reach = eta N."""
    ordered = sorted(spectrum, reverse=True)
    head = [size for size in ordered if size >= 1 / reach]
    tail = ordered[len(head):]
    plain = len(head) + reach**2 * sum((size**2 for size in tail), mpf(0))
    return plain, sum((1 / size for size in head), mpf(0)) + reach**2 * sum(tail, mpf(0))


def glmtron(v: Numbers) -> mpf:
    """The start along each direction, the two noises, and what the fourth moment feeds back."""
    eta, steps, spectrum = v["learning_rate"], v["dataset_size"], v["spectrum"]
    label, noise = v["label_noise"] ** 2, v["noise_on_mean"] ** 2
    plain, private = dimensions(spectrum, eta * steps / 2)
    start, energy, feedback = mpf(0), mpf(0), mpf(0)
    for size, gap in zip(spectrum, v["gap"], strict=True):
        moved = min(mpf(1), steps * eta * size / 2)
        stayed = min(steps, 4 / (3 * eta * size))
        start += gap * moved * stayed / (eta * steps**2)
        energy += size * stayed * (gap + steps * eta**2 * (label * size + noise))
        feedback += eta**2 * v["fourth_moment"] / 2 * size**2 * stayed
    noises = 2 * (label * plain + noise * private) / steps
    return start + noises + v["fourth_moment"] * plain / steps**2 * energy / (1 - feedback)


def glmtron_recursion(v: Numbers) -> mpf:
    """The double sum over pairs of iterates, each pair as correlated as the drift leaves it."""
    eta, steps, sizes = v["learning_rate"], int(v["dataset_size"]), v["spectrum"]
    chain = [list(v["gap"])]
    for _ in range(steps - 1):
        now = chain[-1]
        trace = sum((size * a for size, a in zip(sizes, now, strict=True)), mpf(0))
        fourth = [2 * size**2 * a + trace * size for size, a in zip(sizes, now, strict=True)]
        chain.append([
            a - eta * size * a + eta**2 * (moment / 2 + size * v["label_noise"] ** 2 + v["noise_on_mean"] ** 2)
            for size, a, moment in zip(sizes, now, fourth, strict=True)
        ])
    total = mpf(0)
    for i, size in enumerate(sizes):
        powers = [(1 - eta * size / 2) ** gap for gap in range(steps)]
        total += size * sum(
            (chain[min(t, k)][i] * powers[abs(t - k)] for t in range(steps) for k in range(steps)), mpf(0)
        )
    return total / (4 * mpf(steps) ** 2)


OPINIONS: dict[str, Any] = {
    "dp-gd.risk": Value(descent),
    "dp-gd-tail.risk": Value(descent_tail),
    "dp-gd-calibrated.risk": Root(calibrated_excess),
    "phased-sgd.risk": Value(lambda v: 2 * v["link_lipschitz"] * phases(v, v["distance"] ** 2, 4, v["rank"])),
    "phased-sgd-projected.risk": Value(projected),
    "dp-pgd.risk": Value(projected_descent),
    "adaptive-batched-gd.risk": Value(batched_general),
    "adaptive-batched-gd-symmetric.risk": Value(batched_symmetric),
    "glmtron.effective-dimension": Value(
        lambda v: dimensions(v["spectrum"], v["learning_rate"] * v["dataset_size"])[0]
    ),
    "glmtron.private-dimension": Value(lambda v: dimensions(v["spectrum"], v["learning_rate"] * v["dataset_size"])[1]),
    "glmtron.risk": Value(glmtron),
    "glmtron-recursion.risk": Value(glmtron_recursion),
}
