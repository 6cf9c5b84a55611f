"""Private tuning with a Poisson number of runs: second opinions from the definitions, and directions."""

from __future__ import annotations

from mpmath import mp, mpf

from tests.formulas import gaussian_delta, normal_tail
from tests.opinion import Numbers, Root, Value


def gdp_excess(v: Numbers, epsilon: mpf) -> mpf:
    """m delta(epsilon - m tv) - delta; negative everywhere where the total variation alone is enough."""
    moved = v["mean_runs"] * (1 - 2 * normal_tail(v["base_mu"] / 2))
    if moved <= v["delta"]:
        return mpf(-1)
    if epsilon <= moved:
        return mpf(1)
    return v["mean_runs"] * gaussian_delta(v["base_mu"], epsilon - moved) - v["delta"]


def pair_excess(v: Numbers, epsilon: mpf) -> mpf:
    """The same for randomised response of epsilon that fails with probability delta."""

    def curve(x: mpf) -> mpf:
        truth, lie = mp.exp(v["base_epsilon"]) / (1 + mp.exp(v["base_epsilon"])), 1 / (1 + mp.exp(v["base_epsilon"]))
        return v["base_delta"] + (1 - v["base_delta"]) * max(mpf(0), truth - mp.exp(x) * lie)

    moved = v["mean_runs"] * curve(mpf(0))
    if moved <= v["delta"]:
        return mpf(-1)
    return v["mean_runs"] * curve(epsilon - moved) - v["delta"] if epsilon > moved else mpf(1)


def log_moment(v: Numbers, t: mpf) -> mpf:
    """log(e^{-m} + m e^{t (alpha mu^2/2 + m delta(x))})."""
    with mp.extradps(30 + 2 * max(0, int(-mp.log10(v["mean_runs"])), int(-mp.log10(t)))):
        x = mp.log(1 + 1 / t)
        exponent = t * ((1 + t) * v["base_mu"] ** 2 / 2 + v["mean_runs"] * gaussian_delta(v["base_mu"], x))
        return mp.log(mp.exp(-v["mean_runs"]) + v["mean_runs"] * mp.exp(exponent))


def renyi_epsilon(v: Numbers) -> mpf:
    """The least conversion over four orders an octave."""
    orders = [mpf(k) / 4 * mpf(2) ** j for k in range(4, 8) for j in range(-5, 13)]
    costs = [
        (log_moment(v, t) - mp.log(v["delta"])) / t + mp.log(t / (1 + t)) - mp.log(1 + t) / t for t in orders
    ]
    return max(mpf(0), min(costs))


def example_excess(v: Numbers, epsilon: mpf) -> mpf:
    """The largest P(best beyond y) - e^epsilon P'(best beyond y) over y >= threshold, less delta."""
    mu, mean, threshold = v["base_mu"], v["mean_runs"], v["rank_threshold"]

    def beyond(y: mpf, centre: mpf) -> mpf:
        return mp.exp(-mean * normal_tail(centre - threshold)) * -mp.expm1(-mean * normal_tail(y - centre))

    def log_ratio(y: mpf) -> mpf:
        """Of the densities m phi e^{-m P(better)}."""
        one, other = (
            -((y - centre) ** 2) / 2 - mean * (normal_tail(centre - threshold) + normal_tail(y - centre))
            for centre in (mu, mpf(0))
        )
        return one - other

    y = max(threshold, mu / 2)
    if log_ratio(y) < epsilon:
        low, high = y, y + 1
        while log_ratio(high) < epsilon:
            high += high - low
        while high - low > mpf(10) ** -8:
            y = (low + high) / 2
            low, high = (y, high) if log_ratio(y) < epsilon else (low, y)
        # The largest difference is flat in y: half the digits of y are enough.
        for _ in range(4):
            y -= (log_ratio(y) - epsilon) / (mu + mean * (mp.npdf(y, mu, 1) - mp.npdf(y, 0, 1)))
    return beyond(y, mu) - mp.exp(epsilon) * beyond(y, mpf(0)) - v["delta"]


OPINIONS = {
    "poisson-tuning.epsilon": Root(gdp_excess),
    "poisson-tuning-pair.epsilon": Root(pair_excess),
    "poisson-tuning.rdp": Value(lambda v: log_moment(v, v["alpha"] - 1) / (v["alpha"] - 1)),
    "poisson-tuning-renyi.epsilon": Value(renyi_epsilon, digits=(40, 60)),
    "poisson-tuning.lower": Root(example_excess),
}
