"""Noisy SGD with hidden state: a second opinion that lists the candidates anew, and directions.

A plain sum in float64 tells which few of the candidates can be the least; those are computed by mpmath.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np
from mpmath import mp, mpf

from tests.formulas import gaussian_delta, normal_tail
from tests.opinion import Numbers, Value
from tests.opinion.wor_gaussian import StepMoment, spare_digits

LENGTHS = sorted({1, 2, 3} | {k << i for k in (4, 5, 6) for i in range(28)})
SHARES = ((1, 1), (31, 32), (13, 16))
ORDERS = [(1 << j) / 2 * k for j in range(11) for k in (1.0, 1.5)]
Objective = Callable[[mpf, mpf], mpf]


@functools.lru_cache(maxsize=4096)
def rough_log_moment(b: float, rate: float, t: float) -> float:
    """log M by the trapezoidal rule, good to a few digits for b <= 4."""
    y = np.arange(b / 2, (1 + t) * b + 12, 0.05)
    loss = np.logaddexp(np.log1p(-rate), np.log(rate) + b * y - b * b / 2)
    exponent = (1 + t) * loss - y * y / 2
    top = exponent.max()
    integrand = np.exp(exponent - top) * np.expm1(-(1 + t) * loss) * np.expm1(-t * loss)
    mass = 0.05 * (integrand.sum() - integrand[0] / 2) / np.sqrt(2 * np.pi)
    return float(np.logaddexp(0.0, top + np.log(mass)))


def geometric(c: mpf, k: int) -> mpf:
    return mpf(k) if c == 1 else (1 - c**k) / (1 - c)


def drifts(v: Numbers) -> list[tuple[int, mpf, mpf]]:
    """(m, c^m zeta, G(c^2, m)) for every m to choose from."""
    c = v["contraction"]
    steps = int(v["steps"]) if c else 1
    ratio = v["sensitivity"] / (v["batch_size"] * v["noise_on_mean"])
    with mp.extradps(60):  # 1 - c^k cancels next to c = 1
        return [
            (m, c**m * min(v["diameter"] / (v["learning_rate"] * v["noise_on_mean"]), ratio * geometric(c, steps - m)),
             geometric(c * c, m))
            for m in [*(m for m in LENGTHS if m < steps), steps]
        ]


def whole_mu(v: Numbers, shifts: Sequence[tuple[int, mpf, mpf]]) -> mpf:
    ratio, c = v["sensitivity"] / (v["batch_size"] * v["noise_on_mean"]), v["contraction"]
    with mp.extradps(60):
        return min((moved + ratio * geometric(c, m)) / mp.sqrt(squares) for m, moved, squares in shifts)


def cost(share: mpf, t: mpf, log_moment: mpf, shifts: Sequence[tuple[int, mpf, mpf]]) -> mpf:
    if share == 1:
        return shifts[-1][0] * log_moment
    return min(
        m * log_moment + t * (1 + t) / 2 * moved**2 / squares / (1 - share**2) for m, moved, squares in shifts
    )


def least_sampled(v: Numbers, shifts: Sequence[tuple[int, mpf, mpf]], objective: Objective) -> mpf:
    """The least objective over shares, orders and lengths."""
    ratio, rate = v["sensitivity"] / (v["batch_size"] * v["noise_on_mean"]), v["batch_size"] / v["dataset_size"]
    rough: dict[tuple[mpf, mpf], mpf] = {}
    lengths = np.array([float(m) for m, _, _ in shifts])
    paid = np.array([float(moved**2 / squares) for _, moved, squares in shifts])
    with mp.workdps(15):
        for top, bottom in SHARES:
            for order in ORDERS:
                share, t, rest = mpf(top) / bottom, mpf(order), 1 - (top / bottom) ** 2
                log = rough_log_moment(float(ratio / share), float(rate), order)
                each = lengths * log + order * (1 + order) / 2 * paid / rest if rest else lengths[-1:] * log
                rough[share, t] = objective(t, mpf(float(each.min())))
        least = min(rough.values())
        near = [key for key, value in rough.items() if value <= least + abs(least) / 1000 + mpf("1e-5")]
    best = mp.inf
    for share, t in near:
        sigma = 2 * share / ratio
        with mp.extradps(spare_digits(sigma, rate)):
            log = mp.log1p(StepMoment(sigma, rate, t).at(t)[0])
        best = min(best, objective(t, cost(share, t, log, shifts)))
    return best


def gdp_epsilon(mu: mpf, delta: mpf) -> mpf:
    """The root of the Gaussian curve, by bisection and secants."""
    if gaussian_delta(mu, mpf(0)) <= delta:
        return mpf(0)
    low, high = mpf(0), mu * (mu / 2 + mp.sqrt(-2 * mp.log(delta)))
    with mp.workdps(20):
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    for _ in range(8):  # Newton: the curve's slope is -e^epsilon Phi(-mu/2 - epsilon/mu)
        low += (gaussian_delta(mu, low) - delta) / (mp.exp(low) * normal_tail(mu / 2 + low / mu))
    return low


def epsilon(v: Numbers) -> mpf:
    if v["steps"] == 0 or v["diameter"] == 0:
        return mpf(0)
    shifts = drifts(v)
    whole = gdp_epsilon(whole_mu(v, shifts), v["delta"])
    if v["batch_size"] == v["dataset_size"]:
        return whole

    def converted(t: mpf, spent: mpf) -> mpf:
        return (spent - mp.log(v["delta"])) / t + mp.log(t / (1 + t)) - mp.log(1 + t) / t

    return min(whole, max(mpf(0), least_sampled(v, shifts, converted)))


def delta(v: Numbers) -> mpf:
    if v["steps"] == 0 or v["diameter"] == 0:
        return mpf(0)
    shifts = drifts(v)
    whole = gaussian_delta(whole_mu(v, shifts), v["epsilon"])
    if v["batch_size"] == v["dataset_size"]:
        return whole

    def converted(t: mpf, spent: mpf) -> mpf:
        return spent - t * v["epsilon"] + t * mp.log(t) - (1 + t) * mp.log(1 + t)

    return min(whole, mpf(1), mp.exp(least_sampled(v, shifts, converted)))


OPINIONS = {"noisy-sgd.epsilon": Value(epsilon, digits=(40, 48)), "noisy-sgd.delta": Value(delta, digits=(40, 48))}
