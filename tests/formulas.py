"""The formulas of the second opinions, written from the definitions, never taken from `oracle`.

`opinions` and the files of `topics` build on them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from mpmath import mp, mpf

from tests.opinion import Numbers


def normal_tail(x: mpf) -> mpf:
    """1 - Phi(x)."""
    return mp.erfc(x / mp.sqrt(2)) / 2


def gaussian_delta(mu: mpf, epsilon: mpf) -> mpf:
    """The Gaussian privacy curve, straight from Balle and Wang's formula.

    The two terms agree in about log10((1 + epsilon/mu) / mu) digits, which are added to the working precision.
    """
    with mp.extradps(10 + max(0, int(mp.log10((1 + epsilon / mu) / mu)))):
        result = normal_tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * normal_tail(epsilon / mu + mu / 2)
    return +result


def gaussian_delta_by_integration(mu: mpf, epsilon: mpf) -> mpf:
    """The same curve from the definition: the integral of max(0, p - e^epsilon q), p = N(mu, 1), q = N(0, 1)."""

    def excess(x: mpf) -> mpf:
        return mp.npdf(x, mu, 1) - mp.exp(epsilon) * mp.npdf(x, 0, 1)

    crossing = mp.findroot(lambda x: mp.log(mp.npdf(x, mu, 1) / mp.npdf(x, 0, 1)) - epsilon, mu)
    assert excess(crossing - 1) < 0 < excess(crossing + 1), "the positive part is not where the integral takes it"
    return mp.quad(excess, [crossing + step for step in (0, 1, 2, 4, 8, 16, 32, 64)] + [mp.inf])


def laplace_delta_by_integration(ratio: mpf, epsilon: mpf) -> mpf:
    """The integral of max(0, p - e^epsilon q) for p = Laplace(ratio, 1), q = Laplace(0, 1): the definition of delta.

    The loss |x| - |x - ratio| never exceeds the ratio, so there is no positive part for epsilon >= ratio; below, it
    begins where the densities cross. What lies further than the last piece from the peak is below 10^-digits.
    """
    if epsilon >= ratio:
        return mpf(0)

    def excess(x: mpf) -> mpf:
        return (mp.exp(-abs(x - ratio)) - mp.exp(epsilon - abs(x))) / 2

    crossing = (ratio + epsilon) / 2
    assert abs(abs(crossing) - abs(crossing - ratio) - epsilon) <= ratio * mpf(10) ** (3 - mp.dps), "no crossing there"
    # Pieces of length 16 from the peak outwards, as far as the densities count at this precision.
    steps = [mpf(16) * k for k in range(1, int(mp.dps * 2.31 / 16) + 2)]
    left = sorted({max(crossing, ratio - step) for step in (0, *steps)})
    right = [ratio, *(ratio + step for step in steps)]
    return mp.quad(excess, left, method="gauss-legendre") + mp.quad(excess, right, method="gauss-legendre")


def noisy_gd_mu(v: Numbers) -> mpf:
    """Document 000's NoisyGD formula, with its limits at c = 1."""
    c, t = v["contraction"], v["steps"]
    square = t if c == 1 else (1 - c**t) / (1 + c**t) * (1 + c) / (1 - c)
    return v["sensitivity"] / (v["dataset_size"] * v["noise_on_mean"]) * mp.sqrt(square)


def noisy_cgd_mu(v: Numbers) -> mpf:
    """Document 000's NoisyCGD formula, with its limit 1 + (E-1)/k at c = 1; one batch is NoisyGD."""
    c, k, epochs = v["contraction"], v["batches"], v["epochs"]
    if k == 1:
        return noisy_gd_mu({**v, "dataset_size": v["batch_size"], "steps": epochs})
    if c == 1:
        square = 1 + (epochs - 1) / k
    else:
        memory = c ** (k * (epochs - 1))
        square = 1 + c ** (2 * k - 2) * (1 - c**2) / (1 - c**k) ** 2 * (1 - memory) / (1 + memory)
    return v["sensitivity"] / (v["batch_size"] * v["noise_on_mean"]) * mp.sqrt(square)


def shift_programme(c: Fraction, touched: Sequence[int]) -> Fraction:
    """The exact least sum of a_i^2 with z_i = c z_{i-1} + touched_i - a_i >= 0 and z_0 = z_T = 0, for 0 < c <= 1.

    With W(t) = sum_{i<=t} c^{-2i}, S(t) = sum_{i<=t} c^{-i} touched_i and A(t) = sum_{i<=t} c^{-i} a_i, the constraint
    is A <= S with equal ends, and the cost is sum (dA)^2/dW: the taut string below S, its greatest convex minorant.
    """
    weight = total = Fraction(0)
    hull = [(weight, total)]
    for i, touch in enumerate(touched, start=1):
        weight, total = weight + c ** (-2 * i), total + c**-i * touch
        while len(hull) > 1 and _above(hull[-2], hull[-1], (weight, total)):
            hull.pop()
        hull.append((weight, total))
    return sum(((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in itertools.pairwise(hull)), Fraction(0))


def _above(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> bool:
    """Whether b lies on or above the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def gaussian_excess(mu: mpf, epsilon: mpf, delta: mpf) -> mpf:
    return gaussian_delta(mu, epsilon) - delta


def composed_mu(v: Numbers) -> mpf:
    """sqrt(k) releases' worth of sensitivity over sigma."""
    return v["sensitivity"] * mp.sqrt(v["steps"]) / v["sigma"]


def tree_mu(v: Numbers) -> mpf:
    """A leaf's shift over the noise, with the levels counted by doubling."""
    height, width = 1, 1
    while width < v["leaves"]:
        height, width = height + 1, 2 * width
    return {"replace": 2, "add_remove": 1}[v["neighbours"]] * mp.sqrt(height) / v["noise_multiplier"]


def response_excess(v: Numbers, epsilon: mpf) -> mpf:
    """keep - e^epsilon (1 - keep): what randomised response leaks beyond epsilon where it is positive."""
    return v["keep"] - mp.exp(epsilon) * (1 - v["keep"])


def rdp_epsilon(v: Numbers) -> mpf:
    """Mironov's Proposition 3, and Canonne, Kamath and Steinke's Proposition 12."""
    alpha, delta = v["alpha"], v["delta"]
    if v["conversion"] == "mironov":
        return v["rdp"] + mp.log(1 / delta) / (alpha - 1)
    return max(mpf(0), v["rdp"] + mp.log((alpha - 1) / alpha) - (mp.log(delta) + mp.log(alpha)) / (alpha - 1))


def zcdp_epsilon(v: Numbers) -> mpf:
    """The least of the conversions over all orders, by golden-section search in log(alpha - 1): no derivative used."""
    if v["rho"] == 0:
        return mpf(0)

    def at(s: mpf) -> mpf:
        t = mp.exp(s)
        return v["rho"] * (1 + t) - (mp.log(v["delta"]) + mp.log1p(t)) / t - mp.log1p(1 / t)

    with mp.extradps(20):
        left, right, share = mpf(-800), mpf(800), (mp.sqrt(5) - 1) / 2
        while right - left > mpf(10) ** (-mp.dps // 2):  # the minimum is flat: half the digits are enough
            a, b = right - share * (right - left), left + share * (right - left)
            left, right = (left, b) if at(a) < at(b) else (a, right)
        result = at((left + right) / 2)
    return max(mpf(0), +result)


def composition_advanced(v: Numbers) -> mpf:
    """Mean plus Hoeffding deviation of k losses of plus or minus epsilon, or k epsilon if that is less."""
    epsilon, k = v["base_epsilon"], v["steps"]
    mean = epsilon * (mp.exp(epsilon) - 1) / (mp.exp(epsilon) + 1)
    return min(k * epsilon, k * mean + mp.sqrt(2 * k * mp.log(1 / v["slack"])) * epsilon)


def composition_delta(v: Numbers, epsilon: mpf) -> mpf:
    """The hockey-stick divergence of the k-fold product of the worst pair, outcome by outcome."""
    k = int(v["steps"])
    with mp.extradps(30):
        p = 1 / (1 + mp.exp(-v["base_epsilon"]))
        q = 1 / (1 + mp.exp(v["base_epsilon"]))
        factor = mp.exp(epsilon)
        gaps = (p ** (k - i) * q**i - factor * p**i * q ** (k - i) for i in range(k + 1))
        divergence = mp.fsum(mp.binomial(k, i) * gap for i, gap in enumerate(gaps) if gap > 0)
        kept = (1 - v["base_delta"]) ** k
        result = 1 - kept + kept * divergence
    return +result


def laplace_composed_delta(v: Numbers, epsilon: mpf) -> mpf:
    """E max(0, 1 - e^{epsilon - loss}), conditioned on the numbers of losses m, of losses -m, and of those between.

    The complements m - loss of the last have the density e^{-y/2}/4 on (0, 2m), whose r-fold convolution is
    4^-r e^{-y/2} sum_i (-1)^i C(r,i) (y - 2mi)_+^{r-1} / (r-1)!; each piece is integrated by a 1F1.
    """
    k, m = int(v["steps"]), v["sensitivity"] / v["scale"]
    gap = k * m - epsilon
    if gap <= 0:
        return mpf(0)

    def between(r: int, reach: mpf) -> mpf:
        """The integral of 1 - e^{y - reach} against the r-fold density, over y from 0 to the reach."""
        if r == 0:
            return -mp.expm1(-reach)
        total, i = mpf(0), 0
        while i <= r and (x := reach - 2 * m * i) > 0:
            # with y = 2mi + t: t^{r-1} e^{-t/2} (1 - e^{t - x}) over t from 0 to x
            flat, steep = (x**r / r * mp.hyp1f1(r, r + 1, sign * x / 2) for sign in (-1, 1))
            total += (-1) ** i * mp.binomial(r, i) * mp.exp(-m * i) * (flat - mp.exp(-x) * steep)
            i += 1
        return total / mp.factorial(r - 1) / mpf(4) ** r

    with mp.extradps(30 + 2 * k + max(0, int(-mp.log10(m)) * k)):
        result = mpf(0)
        for low in range(k + 1):
            for r in range(k - low + 1):
                if (reach := gap - 2 * m * low) > 0:
                    ways = mp.factorial(k) / mp.factorial(low) / mp.factorial(r) / mp.factorial(k - low - r)
                    weight = ways * mpf(2) ** (r - k) * mp.exp(-m * low)
                    result += weight * between(r, reach)
    return +result
