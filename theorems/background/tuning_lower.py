r"""What releasing the best of a Poisson number of mu-GDP runs costs at least: one ranking, and its exact law.

A run releases y ~ N(mu, 1) or, on the neighbouring data, y ~ N(0, 1): mu-GDP, and no better. The ranking puts all
y < s first (and releases that it was one of them), then the others, the larger y the better; K ~ Poisson(m) runs are
made and the best is released. For y >= s the release lies beyond y with probability

    a(y) = e^{-m Phi(s - mu)} (1 - e^{-m (1 - Phi(y - mu))})   against   b(y) = e^{-m Phi(s)} (1 - e^{-m (1 - Phi(y))}).

Proof. It does if and only if no run is below s and one is beyond y. Of k runs, each below s with probability c and
beyond y with probability d, that has probability (1 - c)^k - (1 - c - d)^k. The mean of q^K is e^{-m(1 - q)}, so the
mean over K is e^{-mc} - e^{-m(c + d)} = e^{-mc}(1 - e^{-md}).

So if the release is (e, delta)-DP, then a(y) <= e^e b(y) + delta for all y >= s, and e is at least

    epsilon = max(0, sup_{y >= s} log((a(y) - delta)/b(y)))      (no term where a(y) <= delta).

Where the supremum is. The densities have the ratio a'/b' = e^{r(y)}, r(y) = mu y - mu^2/2 + m (F(s) - F(y)), with
F(y) = Phi(y) - Phi(y - mu). F' = phi(y) (1 - e^{mu y - mu^2/2}) is positive for y < mu/2 and negative beyond, so r
rises for y >= mu/2, and r(y) <= 0 for s <= y <= mu/2, where F(y) >= F(s) and mu y <= mu^2/2. Let e >= 0. As b' < 0,
a - e^e b has the derivative b' (e^r - e^e): it rises while r < e and falls when r > e. So its largest value for y >= s
is at the y >= left = max(s, mu/2) with r(y) = e, or at left if r > e from there on (then left = s, as r(mu/2) <= 0 if
s <= mu/2). Along the former, g(y) = a(y) - e^{r(y)} b(y) has g' = a' - e^r b' - r' e^r b = -r' e^r b < 0. Hence

  * g(left) > delta: g falls, and g(y) <= a(y) -> 0, so it is delta at one y > left. If r(y) >= 0 there, epsilon = r(y):
    at that e the largest value is delta, and below it is larger. If r(y) < 0, the largest value at e = 0 is below
    delta, and epsilon = 0;
  * g(left) <= delta and s < mu/2: r(left) <= 0, the largest value at e = 0 is g at a y >= left, so epsilon = 0;
  * g(left) <= delta and s >= mu/2: for e >= r(s) the largest value is g at a y >= s, at most delta; for e below r(s) it
    is a(s) - e^e b(s). So epsilon = max(0, log((a(s) - delta)/b(s))), and 0 if a(s) <= delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy
from flint import arb, ctx

from oracle.core.domain import positive, real, unit_interval
from oracle.core.enclosure import ball
from oracle.core.registry import bound
from oracle.engines.gaussian_curve import normal_upper_tail
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.either import log
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.tools.symbolic_signs import vanishes
from theorems.verdict import Finding, Verdict, argued, computed, proof, refuted

Says = Mapping[str, Callable[..., Any]]
_NAMES = ("base_mu", "mean_runs", "rank_threshold", "delta")
_HALVINGS = 60
_CLOSE = Fraction(1, 10**12)
_TERMS = 120  # of the sum over the number of runs; the rest is bounded


def mass(mean: Any, below: Any, past: Any, exp: Callable[[Any], Any]) -> Any:
    """The probability that no run is below the threshold and one lies beyond y."""
    return exp(-mean * below) * (1 - exp(-mean * past))


def log_ratio(mu: Any, mean: Any, y: Any, gap_at_threshold: Any, gap: Any) -> Any:
    """r(y), of F(s) and F(y)."""
    return mu * y - mu**2 / 2 + mean * (gap_at_threshold - gap)


def proved(power: Any, alarm: Any, delta: Any) -> Any:
    """What an event of these two probabilities proves of epsilon."""
    return log((power - delta) / alarm)


def summed(mean: Fraction, below: arb, past: arb) -> arb:
    """The same probability as a sum over the number k of runs, with a bound on the rest of the sum."""
    weight, total, none, neither = (-ball(mean)).exp(), arb(0), arb(1), arb(1)
    for k in range(_TERMS):
        total += weight * (none - neither)
        weight, none, neither = weight * ball(mean / (k + 1)), none * (1 - below), neither * (1 - below - past)
    return total + arb(0, (2 * weight).upper())  # the weights fall by more than half from here on: 2m < _TERMS


class _Laws:
    """The two laws of one point, in balls."""

    def __init__(self, says: Says, point: Mapping[str, Fraction]) -> None:
        self.says, self.mean = says, point["mean_runs"]
        self.mu, self.threshold = ball(point["base_mu"]), ball(point["rank_threshold"])

    def parts(self, y: arb, shift: arb) -> tuple[arb, arb]:
        """The probabilities of one run below the threshold and beyond y."""
        return normal_upper_tail(shift - self.threshold), normal_upper_tail(y - shift)

    def masses(self, y: arb) -> tuple[arb, arb]:
        """a(y) and b(y) as claimed."""
        first, second = (self.says["mass"](ball(self.mean), *self.parts(y, at), arb.exp) for at in (self.mu, arb(0)))
        return first, second

    def gap(self, y: arb) -> arb:
        """F(y)."""
        return normal_upper_tail(y - self.mu) - normal_upper_tail(y)

    def ratio(self, y: arb) -> arb:
        """r(y) as claimed."""
        found: arb = self.says["log ratio"](self.mu, ball(self.mean), y, self.gap(self.threshold), self.gap(y))
        return found

    def against(self, y: arb) -> str:
        """What of the claimed numbers at y is certainly wrong: a mass, or the ratio of two masses nearby."""
        for at, claimed in zip((self.mu, arb(0)), self.masses(y), strict=True):
            if not claimed.overlaps(summed(self.mean, *self.parts(y, at))):
                return "the sum over the number of runs has another value"
        step = ball(Fraction(1, 2**20))
        (a0, b0), (a1, b1) = self.masses(y), self.masses(y + step)
        between = ((a0 - a1) / (b0 - b1)).log()  # the ratio of densities somewhere between
        moved = arb(0, (step * (self.mu + ball(self.mean))).upper())  # |r'| <= mu + m
        near = all(between.overlaps(self.ratio(at) + moved) for at in (y, y + step))
        return "" if near else "the densities have another ratio"

    def best(self, left: arb, epsilon: arb) -> arb:
        """About the y >= left with r(y) = epsilon, or left if r is above from there on."""
        low, high = left, left + 64
        for _ in range(_HALVINGS):
            middle = ((low + high) / 2).mid()
            low, high = (low, middle) if self.ratio(middle) > epsilon else (middle, high)
        return low


def places(point: Mapping[str, Fraction]) -> Iterator[arb]:
    """Some y >= s, the threshold itself first."""
    for step in (Fraction(0), Fraction(1, 2), Fraction(2), Fraction(4)):
        yield ball(point["rank_threshold"] + step)


def judge_lower(says: Says, given: Domain) -> Finding:
    """Hold the laws against sums over the runs, epsilon against the bound and the definition, and prove the rest."""
    tried, reached = 0, 0
    near = {"base_mu": 3, "mean_runs": 40, "rank_threshold": 3}
    for point in given.points(*_NAMES, at_most=40, least={"rank_threshold": -3}, most=near):
        tried += 1
        with ctx.workprec(256):
            laws, delta = _Laws(says, point), ball(point["delta"])
            for y in places(point):
                wrong = laws.against(y)
                if wrong:
                    return refuted(wrong, {**point, "y": y.str(12), "claimed": ", ".join(
                        one.str(12) for one in (*laws.masses(y), laws.ratio(y)))})
        least = bound("poisson-tuning.lower").reference(**{name: str(point[name]) for name in _NAMES})
        with ctx.workprec(256):
            for y in places(point):
                power, alarm = (summed(laws.mean, *laws.parts(y, at)) for at in (laws.mu, arb(0)))
                if not power > delta or not alarm > 0:
                    continue
                reached += 1
                epsilon = says["epsilon"](power, alarm, delta)
                if not (epsilon.exp() * alarm + delta).overlaps(power):
                    return refuted("(epsilon, delta)-DP is not broken just there, for this event",
                                   {**point, "power": power.str(12), "alarm": alarm.str(12),
                                    "claimed": epsilon.str(12)})
                if epsilon > least.upper.ball:
                    return refuted("an event proves more than the supremum",
                                   {**point, "y": y.str(12), "proved": epsilon.str(12), "supremum": str(least)})
            if least.lower.ball > 0:
                reached += 1
                y = laws.best(ball(max(point["rank_threshold"], point["base_mu"] / 2)), least.lower.ball)
                power, alarm = (summed(laws.mean, *laws.parts(y, at)) for at in (laws.mu, arb(0)))
                epsilon = says["epsilon"](power, alarm, delta)
                if not epsilon > least.lower.ball - ball(_CLOSE):
                    return refuted("no event proves the supremum",
                                   {**point, "y": y.str(12), "proved": epsilon.str(12), "supremum": str(least)})
    return proof(*_steps(says, given), tried=tried if reached else 0)


def _steps(says: Says, given: Domain) -> list[Any]:
    mu, m = given.symbol("base_mu", "mu"), given.symbol("mean_runs", "m")
    y, s = sympy.symbols("y s", real=True)
    c, d, t, power, alarm, delta = sympy.symbols("c d t A B delta", positive=True)
    k = sympy.Symbol("k", integer=True, nonnegative=True)

    def phi(x: Any) -> Any:
        return (1 + sympy.erf(x / sympy.sqrt(2))) / 2

    def gap(x: Any) -> Any:
        return phi(x) - phi(x - mu)

    series = sympy.exp(-m) * sympy.summation((m * t) ** k / sympy.factorial(k), (k, 0, sympy.oo))

    def mean_of_power(q: Any) -> Any:
        return series.subs(t, q)

    first, second = (says["mass"](m, phi(s - at), 1 - phi(y - at), sympy.exp) for at in (mu, 0))
    r = says["log ratio"](mu, m, y, gap(s), gap(y))
    quotient = sympy.diff(first, y) / sympy.diff(second, y) / sympy.exp(r)
    a, b, rate = sympy.Function("a")(y), sympy.Function("b")(y), sympy.Function("r")(y)
    slope = sympy.diff(a - sympy.exp(rate) * b, y).subs(sympy.diff(a, y), sympy.exp(rate) * sympy.diff(b, y))
    density = sympy.exp(-(y**2) / 2) / sympy.sqrt(2 * sympy.pi)
    drift = density * (1 - sympy.exp(mu * y - mu**2 / 2))
    level = (1 - given.chart("delta")) * given.chart("delta")
    return [
        computed("mu, m > 0 and 0 < delta < 1", signed_positive(mu, m, level)
                 and signed_positive(given.chart("base_mu"), given.chart("mean_runs"))),
        argued("the release lies beyond y >= s if and only if no run is below s and one is beyond y"),
        computed("the mean over K of (1 - c)^K - (1 - c - d)^K is what is claimed, for all m, c and d",
                 vanishes(mean_of_power(1 - c) - mean_of_power(1 - c - d) - says["mass"](m, c, d, sympy.exp))),
        computed("(e, delta)-DP and an event of probabilities A > delta and B allow no e below the claimed one",
                 vanishes(sympy.exp(says["epsilon"](power + delta, alarm, delta)) * alarm - power)),
        computed("the densities have the ratio e^r", vanishes(sympy.log(sympy.simplify(quotient)))),
        computed("F' = phi(y) (1 - e^(mu y - mu^2/2)), and r' = mu - m F'",
                 vanishes(sympy.diff(gap(y), y) - drift, sympy.diff(r, y) - mu + m * drift)),
        computed("mu y - mu^2/2 > 0 for y > mu/2 and < 0 for y < mu/2: r' > 0 in the former case, F' > 0 in the latter",
                 signed_positive((mu * y - mu**2 / 2).subs(y, mu / 2 + t), -(mu * y - mu**2 / 2).subs(y, mu / 2 - t))),
        computed("g' = -r' e^r b for g = a - e^r b", vanishes(slope + sympy.diff(rate, y) * sympy.exp(rate) * b)),
        argued("so the supremum is where the module's docstring says: at r = e, or at the left end"),
    ]


poisson_tuning_lower = Claim(
    id="background/poisson-tuning-lower",
    source="ours: a ranking of mu-GDP runs",
    severity=Stake.PRIVACY,
    statement=(
        r"\varepsilon \ge \max\left(0,\ \sup_{y \ge s} \log\frac{a(y) - \delta}{b(y)}\right), \quad"
        r" a(y) = e^{-m\Phi(s - \mu)}\left(1 - e^{-m\Phi(\mu - y)}\right),"
        r"\ b(y) = e^{-m\Phi(s)}\left(1 - e^{-m\Phi(-y)}\right), \quad"
        r" \frac{a'}{b'} = e^{\mu y - \mu^2/2 + m(F(s) - F(y))}"
    ),
    words="the best of Poisson(m) runs that are mu-GDP has, for one ranking, no smaller epsilon than this at delta",
    hypotheses=(
        positive("base_mu", "mu"), positive("mean_runs", "m"), real("rank_threshold", "s"),
        unit_interval("delta").open(),
    ),
    says={"mass": mass, "log ratio": log_ratio, "epsilon": proved},
    check=judge_lower,
    flips=(
        Flip("without the runs below the threshold",
             {"mass": lambda m, c, d, exp: 1 - exp(-m * d), "log ratio": log_ratio, "epsilon": proved},
             Verdict.REFUTED),
        Flip("without delta",
             {"mass": mass, "log ratio": log_ratio, "epsilon": lambda a, b, delta: log(a / b)}, Verdict.REFUTED),
        Flip("the ratio of one run",
             {"mass": mass, "log ratio": lambda mu, m, y, at, gap: mu * y - mu**2 / 2, "epsilon": proved},
             Verdict.REFUTED),
        Flip("one run for each",
             {"mass": lambda m, c, d, exp: (1 - c) * d, "log ratio": log_ratio, "epsilon": proved}, Verdict.REFUTED),
    ),
    expected="HOLDS ARGUED",
)
