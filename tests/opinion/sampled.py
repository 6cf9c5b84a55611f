"""The second opinion on sampled Gaussian steps: a binomial sum at integer orders, else quadrature of the definition."""

from __future__ import annotations

import math

from mpmath import mp, mpf

from tests.opinion import Numbers, Root, Value


def binomial_moment(sigma: mpf, rate: mpf, order: int) -> mpf:
    """E (P/Q)^alpha for P = (1-q) N(0) + q N(1), Q = N(0): expand the power (Mironov, Talwar and Zhang 2019, 3.3)."""
    return mp.fsum(
        mp.binomial(order, j) * (1 - rate) ** (order - j) * rate**j * mp.exp(mpf(j * j - j) / (2 * sigma**2))
        for j in range(order + 1)
    )


def moment(sigma: mpf, rate: mpf, alpha: mpf, *, replace: bool) -> mpf:
    """int P^alpha Q^{1-alpha} over the released value x, by Gauss-Legendre pieces of length sigma where it counts."""

    def normal(x: mpf, mean: int) -> mpf:
        return mp.exp(-(((x - mean) / sigma) ** 2) / 2)

    def height(x: mpf) -> mpf:
        one = (1 - rate) * normal(x, 0) + rate * normal(x, 1)
        other = (1 - rate) * normal(x, 0) + rate * normal(x, -1) if replace else normal(x, 0)
        return alpha * mp.log(one) + (1 - alpha) * mp.log(other)

    reach = math.ceil(math.sqrt(2 * (mp.dps * math.log(10) + 10)))
    farthest = math.ceil((2 * float(alpha) - 1 if replace else float(alpha)) / float(sigma)) + reach
    # Beyond `reach` standard deviations from every peak nothing counts; between far peaks pieces are skipped by size.
    heights = {i: height(i * sigma) for i in range(-reach, farthest + 1)}
    top = max(heights.values())
    pieces = [i for i in range(-reach, farthest) if max(heights[i], heights[i + 1]) > top - mp.dps * mp.log(10) - 60]

    def scaled(x: mpf) -> mpf:  # the quadrature's own tolerance is absolute
        return mp.exp(height(x) - top)

    parts = [mp.quad(scaled, [i * sigma, (i + 1) * sigma], method="gauss-legendre") for i in pieces]
    return mp.exp(top) * mp.fsum(parts) / (sigma * mp.sqrt(2 * mp.pi))


def sampled_rdp(v: Numbers) -> mpf:
    """T log(moment) / (alpha - 1); where the moment is 1 + tiny, as many more digits are carried."""
    sigma, rate, alpha, steps = v["sigma"], v["sampling_rate"], v["alpha"], v["steps"]
    replace = v["neighbours"] == "replace"
    if rate == 0 or steps == 0:
        return mpf(0)
    if rate == 1:
        return steps * alpha * (4 if replace else 1) / (2 * sigma**2)
    lost = 10 + max(0, math.ceil(-mp.log10((alpha - 1) * rate**2 * min(1, 1 / sigma**2))))
    with mp.extradps(lost):
        exact = not replace and alpha == int(alpha)
        value = binomial_moment(sigma, rate, int(alpha)) if exact else moment(sigma, rate, alpha, replace=replace)
        result = steps * mp.log(value) / (alpha - 1)
    return +result


OPINIONS: dict[str, Value | Root] = {"poisson-gaussian.rdp": Value(sampled_rdp, digits=(36, 45))}
