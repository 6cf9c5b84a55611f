"""Second opinions on the Gaussian mechanism on batches without replacement: from the pair's densities, by mpmath.

The moment is integrated over its definition, part by part, with Gauss-Legendre nodes of mpmath; the best order is found
by bisection of the derivative at low precision and by secants at the full one; one step's epsilon by bisection of the
hockey-stick divergence of the two densities.
"""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf
from mpmath.calculus.quadrature import GaussLegendre

from tests.opinion import Numbers, Value

RULE = GaussLegendre(mp)  # remembers its nodes
SHARP, BLUNT = (5, 50), (3, 10)  # (degree of the rule, digits it gives on the pieces below)


class StepMoment:
    """M(t) - 1 and M'(t) of one step, for orders near a given one (which decides where the nodes lie)."""

    def __init__(self, sigma: mpf, rate: mpf, t: mpf, quality: tuple[int, int] = SHARP) -> None:
        b = 2 / sigma
        self.points: list[tuple[mpf, mpf]] = []  # (weight times density, log u)

        def log_u(y: mpf) -> mpf:
            return mp.log1p(rate * mp.expm1(b * y - b * b / 2))

        (degree, digits), length = quality, min(mpf(2), 3 / b)
        last = (1 + t) * b + mp.sqrt(2 * mp.log(10) * (digits + 5) + 20)
        with mp.workdps(15):
            edges, power, factors = [b / 2], [mpf(-1000)], [mpf(-1000)]
            while edges[-1] < last:
                edges.append(edges[-1] + length)
                loss = log_u(edges[-1])
                power.append((1 + t) * loss - edges[-1] ** 2 / 2)
                factors.append(mp.log(mp.expm1(-(1 + t) * loss) * mp.expm1(-t * loss)))
            least = max(map(sum, zip(power, factors, strict=True))) - mp.log(10) * (digits + 5)
        rule = RULE.get_nodes(-1, 1, degree, mp.prec)
        # The integrand is e^power times factors that rise; the power's second derivative is never below -1.
        for k in range(len(edges) - 1):
            if max(power[k], power[k + 1]) + length**2 / 8 + factors[k + 1] > least or k == 0:
                for node, weight in rule:
                    y = b / 2 + length * (k + (node + 1) / 2)
                    self.points.append((weight * length / 2 * mp.npdf(y), log_u(y)))

    def at(self, t: mpf) -> tuple[mpf, mpf]:
        """M(t) - 1 and M'(t): the two parts of the law and its atom, in one sum."""
        total = slope = mpf(0)
        for weight, loss in self.points:
            up, down = mp.exp((1 + t) * loss), mp.exp(-t * loss)
            total += weight * (up + down - mp.exp(loss) - 1)
            slope += weight * loss * (up - down)
        return total, slope


def spare_digits(sigma: mpf, rate: mpf) -> int:
    """Digits that u^a + u^-t - u - 1 loses for u near 1: about twice those of u - 1."""
    return 12 + int(2 * mp.log10(1 / rate) + 2 * max(mpf(0), mp.log10(sigma)))


def rdp(v: Numbers) -> mpf:
    """steps / (alpha - 1) log M, or Wang, Balle and Kasiviswanathan's sum in the place of M."""
    alpha, rate, steps, sigma = v["alpha"], v["sampling_rate"], v["steps"], v["sigma"]
    if steps == 0 or rate == 0:
        return mpf(0)
    if v["method"] == "wbk":
        first = rate**2 * mp.binomial(alpha, 2) * min(4 * mp.expm1(4 / sigma**2), 2 * mp.exp(4 / sigma**2))
        rest = mp.fsum(
            rate**j * mp.binomial(alpha, j) * 2 * mp.exp((j - 1) * 2 * j / sigma**2) for j in range(3, int(alpha) + 1)
        )
        return steps / (alpha - 1) * mp.log1p(first + rest)
    if rate == 1:
        return steps * 2 * alpha / sigma**2
    with mp.extradps(spare_digits(sigma, rate)):
        result = mp.log1p(StepMoment(sigma, rate, alpha - 1).at(alpha - 1)[0])
    return steps / (alpha - 1) * result


def bisected(falling: Callable[[mpf], mpf], low: mpf, high: mpf, digits: int) -> mpf:
    """The zero of a falling function."""
    while high - low > abs(high) * mpf(10) ** -digits:
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def one_step(sigma: mpf, rate: mpf, delta: mpf) -> mpf:
    """The least epsilon >= 0 with H(e^epsilon) <= delta for (1-q) N(0,1) + q N(b,1) against N(0,1)."""
    b = 2 / sigma

    def tail(x: mpf) -> mpf:
        return mp.erfc(x / mp.sqrt(2)) / 2

    def excess(epsilon: mpf) -> mpf:
        y = (mp.log1p(mp.expm1(epsilon) / rate) + b * b / 2) / b
        return (1 - rate - mp.exp(epsilon)) * tail(y) + rate * tail(y - b) - delta

    with mp.extradps(30 + int(2 * max(mpf(0), mp.log10(sigma)) + mp.log10(1 / rate))):
        if excess(mpf(0)) <= 0:
            return mpf(0)
        high = mpf(1)
        while excess(high) > 0:
            high *= 2
        low = high
        while excess(low) <= 0:
            low /= 2
        result = bisected(excess, low, high, mp.dps - 25)
    return +result


def converted(v: Numbers) -> mpf:
    """The least conversion over all orders."""
    sigma, rate, k, log = v["sigma"], v["sampling_rate"], v["steps"], mp.log(1 / v["delta"])

    def balance(moment: StepMoment, t: mpf) -> mpf:
        """What vanishes at the best order, and falls."""
        total, slope = moment.at(t)
        return log - k * (t * slope / (1 + total) - mp.log1p(total)) - mp.log1p(t)

    with mp.workdps(15 + spare_digits(sigma, rate)):

        def roughly(s: mpf) -> mpf:
            return balance(StepMoment(sigma, rate, mp.exp(s), BLUNT), mp.exp(s))

        low, high = mpf(-10), mpf(-10)
        while roughly(high) > 0:
            low, high = high, high + 2
        near = mp.exp(bisected(roughly, low, high, 8))
    with mp.extradps(spare_digits(sigma, rate)):
        moment, t, other = StepMoment(sigma, rate, near), near, near * (1 + mpf(10) ** -8)
        value, before = balance(moment, t), balance(moment, other)
        while abs(t - other) > t * mpf(10) ** (-mp.dps // 2) and value != before:
            t, other = t - value * (t - other) / (value - before), t
            value, before = balance(moment, t), value
        total, _ = moment.at(t)
        result = (k * mp.log1p(total) + log) / t - mp.log1p(1 / t) - mp.log1p(t) / t
    return max(mpf(0), +result)


def zcdp(rho: mpf, delta: mpf) -> mpf:
    """The same for a divergence of rho alpha at every order alpha."""
    log = mp.log(1 / delta)
    with mp.extradps(20):
        t = mp.exp(bisected(lambda s: log - rho * mp.exp(2 * s) - mp.log1p(mp.exp(s)), mpf(-300), mpf(800), mp.dps - 5))
        result = rho * (1 + t) + log / t - mp.log1p(1 / t) - mp.log1p(t) / t
    return max(mpf(0), +result)


def epsilon(v: Numbers) -> mpf:
    """Exactly for one step, by the best order for more; for the whole data, a Gaussian's."""
    if v["steps"] == 0 or v["sampling_rate"] == 0:
        return mpf(0)
    if v["steps"] == 1:
        return one_step(v["sigma"], v["sampling_rate"], v["delta"])
    if v["sampling_rate"] == 1:
        return zcdp(2 * v["steps"] / v["sigma"] ** 2, v["delta"])
    return converted(v)


OPINIONS = {
    "wor-gaussian.rdp": Value(rdp, digits=(36, 46)),
    "wor-gaussian.epsilon": Value(epsilon, digits=(36, 46)),
}
