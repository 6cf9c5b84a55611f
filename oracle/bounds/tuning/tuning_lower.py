r"""Private tuning with a Poisson number of runs: an epsilon that it certainly costs, by one explicit example.

Runs release y ~ Q = N(mu, 1) or, on the neighbouring data, y ~ Q' = N(0, 1): a base that is mu-GDP and no better. The
ranking puts all y < s first (and releases that it was one of them), then the others with the larger y first; s is the
parameter `threshold`. With tail(y) = 1 - Phi(y), the best of K ~ Poisson(m) runs lies beyond y >= s with probability

    a(y) = e^{-m Phi(s - mu)} (1 - e^{-m tail(y - mu)})     against     b(y) = e^{-m Phi(s)} (1 - e^{-m tail(y)})

(no run below s, and one beyond y), so no (epsilon, delta)-DP holds with an epsilon below

    epsilon = max(0, sup_{y >= s} log((a(y) - delta) / b(y))).

The supremum is found by signs. a and b have densities of ratio e^{r(y)}, with F(y) = Phi(y) - Phi(y - mu):

    r(y) = mu y - mu^2/2 + m (F(s) - F(y)).

F is largest at mu/2 and falls beyond, so r rises for y >= mu/2; for s <= y <= mu/2, F(y) >= F(s) and r(y) <= 0. Hence
for epsilon >= 0 the largest a(y) - e^epsilon b(y) is at the y >= max(s, mu/2) = left with r(y) = epsilon, or at `left`
if r exceeds epsilon there (and left = s). Along these, g(y) = a(y) - e^{r(y)} b(y) has g' = -r' e^r b < 0. So either
g(left) <= delta, and y = left is best (or epsilon is 0), or g(y) = delta at one y > left, where epsilon = r(y). As
g(y) <= m tail(y - mu), that y is at most mu + sqrt(2 log(m/delta)).

The test of document 000's tables: for runs that are (1.33, 1e-5)- and (4.76, 1e-5)-GDP and m = 20, the printed 2.88 and
8.91 lie below this (s = -0.15 and 0.30). The fast path is free to take any y: each gives a valid lower bound.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.bounds.tuning.tuning import MEAN, MU
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root, enclose
from oracle.core.arrays import UNIT
from oracle.core.attainment import one_sided
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines.gaussian_arrays import mills
from oracle.engines.gaussian_curve import certainly_negative, normal_upper_tail

_HALVINGS = 60
_SHARP = 1e-10  # relative error above which float64 leaves the answer to the reference


class _Example:
    """The two laws at the working precision."""

    def __init__(self, values: Values) -> None:
        self.mu, self.mean, self.threshold = ball(values.base_mu), ball(values.mean_runs), ball(values.rank_threshold)
        self.block = normal_upper_tail(self.mu - self.threshold)
        self.block_other = normal_upper_tail(-self.threshold)

    def mass(self, y: arb) -> arb:
        """a(y)."""
        return -(-self.mean * self.block).exp() * (-self.mean * normal_upper_tail(y - self.mu)).expm1()

    def other_mass(self, y: arb) -> arb:
        """b(y)."""
        return -(-self.mean * self.block_other).exp() * (-self.mean * normal_upper_tail(y)).expm1()

    def log_ratio(self, y: arb) -> arb:
        """r(y)."""
        beyond = normal_upper_tail(y) - normal_upper_tail(y - self.mu)
        return self.mu * (y - self.mu / 2) + self.mean * (self.block_other - self.block + beyond)

    def gain(self, y: arb) -> arb:
        """g(y); e^r b without the powers that would cancel."""
        nothing_better = (-self.mean * (self.block + normal_upper_tail(y - self.mu))).exp()
        ratio = (self.mu * (y - self.mu / 2)).exp()
        return self.mass(y) - ratio * nothing_better * (self.mean * normal_upper_tail(y)).expm1()


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    left = max(values.rank_threshold, values.base_mu / 2)
    delta = values.delta
    if values.mean_runs <= delta or certainly_negative(lambda: _Example(values).mass(ball(left)) - ball(delta)):
        return Enclosure.exactly(0)
    if certainly_negative(lambda: _Example(values).gain(ball(left)) - ball(delta)):
        if values.rank_threshold < values.base_mu / 2:
            return Enclosure.exactly(0)
        return enclose(lambda: _at_the_left(values), width=width)
    return enclose(lambda: _inside(values, left), width=width)


def _at_the_left(values: Values) -> arb:
    example, y = _Example(values), ball(values.rank_threshold)
    result = ((example.mass(y) - ball(values.delta)) / example.other_mass(y)).log()
    return arb(0) if result <= 0 else result


def _inside(values: Values, left: Fraction) -> arb:
    """r at the root of g, which is found as precisely as the working precision allows."""
    with ctx.workprec(64):
        last = (ball(values.base_mu) + (2 * ball(values.mean_runs / values.delta).log()).sqrt()).upper() + 1

    def excess(y: arb) -> arb:
        return _Example(values).gain(y) / ball(values.delta) - 1

    first = ball(left).lower()  # a little to the left the function is a little larger
    y = decreasing_root(excess, first, last, width=Fraction(1, 2 ** max(16, ctx.prec - 40))).ball
    result = _Example(values).log_ratio(y)
    return arb(0) if result <= 0 else result


def _tail(xp: Any, x: Any) -> Any:
    """1 - Phi(x), to about 16 + x^2 unit roundoffs."""
    size = xp.abs(x)
    right = xp.exp(-0.5 * size * size) * mills(xp, size) * (1 / math.sqrt(2 * math.pi))
    return xp.where(x > 0.0, right, 1.0 - right)


def _fast(xp: Any, values: Values) -> Any:
    """log((a - delta) / b) at a y near the best one, rounded down."""
    mu, mean, s, delta = values.base_mu, values.mean_runs, values.rank_threshold, values.delta
    block, block_other = _tail(xp, mu - s), _tail(xp, -s)

    def masses(y: Any) -> tuple[Any, Any]:
        return tuple(
            -xp.exp(-mean * first) * xp.expm1(-mean * _tail(xp, x)) for first, x in ((block, y - mu), (block_other, y))
        )

    def above(y: Any) -> Any:
        nothing_better = xp.exp(mu * (y - 0.5 * mu) - mean * (block + _tail(xp, y - mu)))
        return masses(y)[0] - nothing_better * xp.expm1(mean * _tail(xp, y)) > delta

    low = xp.where(s > 0.5 * mu, s, 0.5 * mu)
    high = mu + xp.sqrt(2.0 * xp.log(xp.where(mean > delta, mean / delta, 1.0)))
    high = xp.where(high > low, high, low)
    inside = above(low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        right = above(middle)
        low, high = xp.where(right, middle, low), xp.where(right, high, middle)
    y = xp.where(inside, low, xp.where(s > 0.5 * mu, s, 0.5 * mu))
    a, b = masses(y)
    # Relative errors: of the tails (16 + x^2 units), times m in the exponents; those of a - delta are magnified.
    error = UNIT * (64.0 + 32.0 * mean * (block + block_other) + 4.0 * (y * y + (y - mu) ** 2))
    error = error + UNIT * mean * (4.0 * (mu - s) ** 2 * block + 4.0 * s * s * block_other)
    rest = a - delta
    raw = xp.log(xp.where(rest > 0.0, rest, 1.0)) - xp.log(b)
    slack = error * (1.0 + a / xp.where(rest > 0.0, rest, 1.0)) + 4 * UNIT * (xp.abs(xp.log(b)) + xp.abs(raw))
    known = (b > 1e-290) & (delta > 1e-290) & (error < 1e-3)
    sharp = known & (rest > 0.0) & (slack < _SHARP * raw)
    nothing = known & ((a * (1.0 + error) < delta) | ((rest > 0.0) & (raw < -2.0 * slack - 1e-12)))
    return xp.where(nothing, xp.zeros_like(raw), xp.where(sharp, raw - slack, xp.nan))


lower = Bound(
    name="poisson-tuning.lower",
    unit="epsilon",
    tightness=one_sided("one example: another costs more"),
    summary="an epsilon that releasing the best of a Poisson number of mu-GDP runs costs at least, in the worst case",
    formula=(
        r"\max\left(0,\ \sup_{y \ge s} \log\frac{a(y) - \delta}{b(y)}\right), \quad"
        r" a(y) = e^{-m\Phi(s - \mu)}\left(1 - e^{-m\Phi(\mu - y)}\right),"
        r"\ b(y) = e^{-m\Phi(s)}\left(1 - e^{-m\Phi(-y)}\right)"
    ),
    parameters=(
        MU, MEAN, vocabulary.rank_threshold,
        vocabulary.delta.open(),
    ),
    assumes=("runs-gaussian-dp", "worst-runs", "poisson-runs", "best-run"),
    neighbours="any",
    threat_model="all_iterates",
    source=("background/poisson-tuning-lower",),
    validity="argued",
    certify=_epsilon,
    vectorised=_fast,
    safe="lower",
    example={"base_mu": "0.3473", "mean_runs": "20", "rank_threshold": "-0.15", "delta": "1e-5"},
)
