"""Second opinions on composed sampled Gaussian steps: a contour integral in 80-bit floats, at two finenesses.

Nothing is shared with `oracle` but the mathematics: the moments are sums over the real line (the oracle moves it), the
order c comes from a scan of the Chernoff bound, spacings are taken far too fine instead of being bounded, and the sum
is repeated with other spacings and another c. Where both differ by more than 10^-13 the opinion is void.
One step is integrated from the definition, and unsampled steps are one Gaussian curve.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf

from oracle.core.enclosure import Enclosure
from tests.opinion import from_dyadic, number

REAL = np.longdouble
AGREEMENT = 1e-13

_EXPONENTS = {"remove": (1, 1, 0, 0), "add": (0, -1, 0, 0), "replace": (1, 1, 0, -1)}
_CHUNK = 64
_DIRECTIONS = {"add_remove": ("remove", "add"), "replace": ("replace",)}


def _exact(value: Any) -> mpf:
    """A parameter, or the end of an enclosure that stands for one."""
    return value if isinstance(value, mpf) else number(value)


def _real(value: Any) -> Any:
    """A number in 80 bits."""
    with mp.workdps(40):
        return REAL(mp.nstr(_exact(value), 30))


def _log_u(y: Any, sigma: Any, rate: Any) -> Any:
    """log(1 - q + q e^{y/sigma - 1/(2 sigma^2)}) with all its digits."""
    x = y / sigma - 1 / (2 * sigma * sigma)
    small = np.log1p(rate * np.expm1(np.minimum(x, 40)))
    return np.where(x < 40, small, np.log(rate) + x + np.log1p((1 - rate) / rate * np.exp(-np.maximum(x, 40))))


@dataclass
class _Step:
    """Nodes on the real line: the loss at each, and the logarithm of its mass before tilting."""

    loss: Any
    base: Any

    @staticmethod
    def of(sigma: Any, rate: Any, direction: str, step: Any) -> _Step:
        y = np.arange(-14, 14 + 40 / min(1, float(sigma)), step, dtype=REAL)
        alpha, alpha_slope, beta, beta_slope = _EXPONENTS[direction]
        there, mirrored = _log_u(y, sigma, rate), _log_u(-y, sigma, rate)
        base = alpha * there + beta * mirrored - y * y / 2 + np.log(step / np.sqrt(2 * REAL(math.pi)))
        return _Step(alpha_slope * there + beta_slope * mirrored, base - np.log(np.sum(np.exp(base))))

    def moment_excess(self, s: Any) -> Any:
        """M(s) - 1 for an array of real or complex s."""
        return np.expm1(s[:, None] * self.loss[None, :]) @ np.exp(self.base)


def _delta(direction: str, v: Mapping[str, Any], epsilon: Any, fineness: int) -> Any:
    """delta(epsilon) of one direction, by the trapezoidal rule on Re s = c."""
    sigma, rate, steps = (_real(v[name]) for name in ("sigma", "sampling_rate", "steps"))
    if direction == "add" and epsilon >= -steps * np.log1p(-rate):
        return REAL(0)
    one = _Step.of(sigma, rate, direction, REAL(min(1, float(sigma))) / (7 + 3 * fineness))
    orders = REAL(10) ** np.linspace(REAL(-3), REAL(4), 141)
    with np.errstate(all="ignore"):
        exponent = steps * np.log1p(one.moment_excess(orders)) - orders * epsilon
        exponent += orders * np.log(orders) - (1 + orders) * np.log1p(orders)
    exponent = np.where(np.isfinite(exponent), exponent, np.inf)
    best = int(np.argmin(exponent))
    c = orders[best] * (REAL("0.95") if fineness else REAL("0.85"))
    kept = one.base + c * one.loss
    one = _Step(one.loss[kept > kept.max() - 55], one.base[kept > kept.max() - 55])
    period = (REAL(62) - exponent[best]) / c * (1 + REAL("0.31") * fineness)
    k = 2 * np.pi / period
    total, n = REAL(0), 0
    while True:
        s = c + 1j * k * np.arange(n, n + _CHUNK, dtype=REAL)
        excess = one.moment_excess(s)
        terms = np.exp(steps * np.log1p(excess) - s * epsilon) / (s * (s + 1))
        if n == 0:
            terms[0] /= 2
        total += np.sum(terms.real)
        n += _CHUNK
        if np.max(np.abs(terms)) < 1e-19 * abs(total) or n > 60_000:
            return total * k / np.pi


def _one_step(direction: str, v: Mapping[str, Any], epsilon: mpf) -> mpf:
    """delta(epsilon) of one step from the definition: the integral of max(0, p - e^epsilon q)."""
    sigma, rate = _exact(v["sigma"]), _exact(v["sampling_rate"])

    def mixture(x: mpf, sign: int) -> mpf:
        return (1 - rate) * mp.npdf(x, 0, sigma) + rate * mp.npdf(x, sign, sigma)

    def plain(x: mpf) -> mpf:
        return mp.npdf(x, 0, sigma)

    pairs: dict[str, tuple[Callable[[mpf], mpf], Callable[[mpf], mpf]]] = {
        "remove": (lambda x: mixture(x, 1), plain), "add": (plain, lambda x: mixture(x, 1)),
        "replace": (lambda x: mixture(x, 1), lambda x: mixture(x, -1)),
    }
    p, q = pairs[direction]
    rises = direction != "add"

    def excess(x: mpf) -> mpf:
        return p(x) - mp.exp(epsilon) * q(x)

    reach = 40 * sigma + 2
    low, high = (-reach, reach) if rises else (reach, -reach)
    if excess(high) <= 0:
        return mpf(0)
    if excess(low) < 0:
        for _ in range(int(mp.prec) + 20):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    ends = sorted([low, reach if rises else -reach])
    inner = sorted({ends[0], ends[1], *(x for x in (mpf(-1), mpf(0), mpf(1)) if ends[0] < x < ends[1])})
    fine = [a + (b - a) * i / 24 for a, b in itertools.pairwise(inner) for i in range(24)] + [inner[-1]]
    scale = max(excess(x) for x in fine)  # mp.quad stops at an absolute error, which a tail of 1e-36 is not above
    return scale * mp.quad(lambda x: excess(x) / scale, fine)


def delta_between(v: Mapping[str, Any], epsilon: mpf) -> tuple[mpf, mpf]:
    """Two numbers with the larger direction's delta(epsilon) between, a little apart."""
    steps = int(v["steps"])
    if steps == 0 or number(v["sampling_rate"]) == 0:
        return mpf(0), mpf(0)
    directions = _DIRECTIONS[v["neighbours"]]
    with mp.workdps(40):
        if number(v["sampling_rate"]) == 1:
            mu = (2 if v["neighbours"] == "replace" else 1) * mp.sqrt(steps) / _exact(v["sigma"])
            value = mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
            return value * (1 - mpf(10) ** -20), value * (1 + mpf(10) ** -20)
        if steps == 1:
            value = max(_one_step(direction, v, epsilon) for direction in directions)
            return value * (1 - mpf(10) ** -15), value * (1 + mpf(10) ** -15)
        exact = _real(epsilon)
        rows = [[_delta(direction, v, exact, fineness) for direction in directions] for fineness in (0, 1)]
        first, second = (mpf(np.format_float_scientific(max(row), 22)) for row in rows)
        doubt = 4 * abs(first - second) + mpf(10) ** -16 * steps ** mpf("0.5") * abs(second)
        assert doubt <= AGREEMENT * abs(second), f"two quadratures disagree at {v}: {first} and {second}"
        return second - doubt, second + doubt


@dataclass(frozen=True)
class CurveOpinion:
    """An opinion on one corner of the curve delta(epsilon): `unknown` names what the bound solves for."""

    unknown: str

    def judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        """Fail unless the curve, which falls in epsilon and sigma, allows the truth in the enclosure."""
        with mp.workdps(60):
            self._judge(point, enclosure)

    def _judge(self, point: Mapping[str, Any], enclosure: Enclosure) -> None:
        lower, upper = from_dyadic(enclosure.lower), from_dyadic(enclosure.upper)
        if self.unknown == "delta":
            low, high = delta_between(point, number(point["epsilon"]))
            assert lower <= high, f"{enclosure} lies above the truth, {low} to {high}, at {point}"
            assert upper >= low, f"{enclosure} lies below the truth, {low} to {high}, at {point}"
            return
        target = number(point["delta"])
        if upper == 0 and self.unknown == "sigma":
            assert 1 - (1 - number(point["sampling_rate"])) ** int(point["steps"]) <= target, f"no noise at {point}"
            return
        if lower > 0:
            _, high = self._at(point, lower)
            assert high >= target, f"{enclosure} lies above the truth at {point}: delta is {high}"
        low, _ = self._at(point, upper)
        assert low <= target, f"{enclosure} lies below the truth at {point}: delta is {low}"

    def _at(self, point: Mapping[str, Any], value: mpf) -> tuple[mpf, mpf]:
        at = {**point, self.unknown: value}
        return delta_between(at, _exact(at["epsilon"]))


OPINIONS = {f"poisson-gaussian.{unknown}": CurveOpinion(unknown) for unknown in ("epsilon", "delta", "sigma")}
