r"""Noisy SGD with random batches, last iterate only (after Bok, Su and Altschuler 2024; Altschuler and Talwar 2022).

Neither text was at hand; the statements here are those that `noisy_sgd.py` and
`projected_noisy_sgd.py` prove. In units of a step's noise let r be the drift of a batch with the record,
d the diameter of the set projected on, zeta = min(d, r (1 + c + ... + c^{T-m-1})) what the two runs are apart m steps
before the end. If a share s^2 of the noise's variance hides the sampling and the rest pays the shifts,

    t R_{1+t} <= m log M_s(t) + t (1+t)/2 c^{2m} zeta^2 / ((1 - s^2) (1 + c^2 + ... + c^{2(m-1)})),

M_s being the moment of one release on a batch without replacement, with noise s. Altschuler and Talwar's case is c = 1
and zeta = d, whatever T is. They are held against runs whose law can be computed: one dimension, two records, batches
of one, x <- Pi(c x +- r/2 + N(0, 1)), by Gauss-Legendre quadrature of the density, with atoms at the ends of the set.

The rate with full batches: start shifted interpolation m steps before the end with Y = X', drawn independently of X and
so at most d away, and let X be told (it is independent of the second run). Equal shifts d/m + r are feasible, so mu^2
<= (d + m r)^2 / m. With x = d/r >= 1 and m = ceil(x) < x + 1 this is r^2 (x^2/m + 2x + m) <= r^2 (4x + 1) <= 5 r^2 x.
(For x < 1 the last step alone costs more: a rate min(T, x) without x >= 1 would be false.)
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import ndtr

from oracle.core.domain import (
    Parameter,
    extended,
    non_negative_integer,
    positive_integer,
    probability,
    unit_interval,
)
from theorems.claim import Claim, Flip, Stake
from theorems.given import Domain
from theorems.tools.symbolic_signs import never_negative, vanishes
from theorems.tools.symbolic_signs import positive as signed_positive
from theorems.verdict import Evidence, Finding, Verdict, argued, computed, proof, refuted

Array = NDArray[np.float64]
_TOLERANCE = 1e-9  # the quadrature is good to about 1e-12


@functools.cache
def _legendre(nodes: int) -> tuple[Array, Array]:
    places, weights = leggauss(nodes)
    return places, weights


@dataclass(frozen=True)
class ProjectedRun:
    """x <- Pi(c x + b r + N(0, 1)) from 0, T times; b = -1/2, but 1/2 at that rate on the first data set."""

    contraction: float
    drift: float
    rate: float
    diameter: float
    steps: int

    def law(self, *, first: bool, nodes: int = 300) -> tuple[Array, Array, Array]:
        """The density at nodes of the set, their weights, and the masses of its two ends."""
        half = min(self.diameter / 2, 10 + 5 * self.drift * self.steps)  # p^5 q^-4 has its mass inside
        places, weights = _legendre(nodes)
        places, weights = half * places, half * weights
        points, masses = np.array([0.0]), np.array([1.0])
        for _ in range(self.steps):
            density, ends = np.zeros(nodes), np.zeros(2)
            for chance, move in ((self.rate, 0.5 if first else -0.5), (1 - self.rate, -0.5)):
                centre = self.contraction * points + move * self.drift
                gaps = places[:, None] - centre[None, :]
                density += chance * np.exp(-(gaps**2) / 2) @ masses / math.sqrt(2 * math.pi)
                ends += chance * np.array([ndtr(-half - centre) @ masses, ndtr(centre - half) @ masses])
            points = np.concatenate([places, [-half, half]])
            masses = np.concatenate([density * weights, ends])
        return density, weights, ends

    def divergence(self, order: float) -> float:
        """t R_{1+t} of the last iterate, t = order - 1, the larger direction."""
        runs = [self.law(first=first) for first in (True, False)]
        results = []
        for (p, weights, ends), (q, _, others) in (runs, runs[::-1]):
            held = np.minimum(p, q) > 1e-290  # leaving out what underflows makes the divergence smaller, never larger
            total = float((weights[held] * p[held] * (p[held] / q[held]) ** (order - 1)).sum())
            if self.diameter < math.inf:
                total += float((ends * (ends / others) ** (order - 1)).sum())
            results.append(math.log(total))
        return max(results)


def log_moment(drift: float, rate: float, share: float, t: float) -> float:
    """log M_s(t) of one release on a batch without replacement: see `wor_gaussian.py` for the pair."""
    shift = drift / share
    nodes, weights = _legendre(300)
    length = 14 + (1 + t) * shift
    y = shift / 2 + length * (nodes + 1) / 2
    log_u = np.log1p(rate * np.expm1(shift * y - shift**2 / 2))
    values = np.exp(-(y**2) / 2) / math.sqrt(2 * math.pi) * np.expm1((1 + t) * log_u) * -np.expm1(-t * log_u)
    return math.log1p(float((weights * values).sum()) * length / 2)


Cost = Callable[[Any, Any, Any, Any, Any, Any], Any]
"""t R_{1+t} of (log M, m, t, c^m zeta, 1 + c^2 + ... + c^{2(m-1)}, s^2)."""


def shifts_and_sampling(log_m: Any, m: Any, t: Any, left: Any, weight: Any, share: Any) -> Any:
    """The bound of the module docstring."""
    return m * log_m + t * (1 + t) / 2 * left**2 / ((1 - share) * weight)


_ENDS: dict[str, tuple[Any, Any]] = {
    "last": (1, None), "before": (0, None), "diameter": (0, None), "contraction": (0, 1),
}
_AFFORDABLE = 6.0  # how large a drift, in units of the noise s, the quadrature of M bears


def _judge(says: Cost, given: Domain, *, bounded_only: bool) -> Finding:
    """Hold a cost against the law of runs, and against the shifts that pay off what is left of the distance."""
    tried = 0
    most = {"last": 3, "before": 3, "diameter": 3, "alpha": 5}
    names = ("contraction", "last", "before", "diameter", "alpha", "share")
    for point, drift in itertools.product(
        given.points(*(name for name in names if name in given.parameters), at_most=60, most=most), (0.5, 2.0)
    ):
        m, t, share = point["last"], float(point["alpha"] - 1), float(point["share"])
        if drift / math.sqrt(share) > _AFFORDABLE:
            continue  # the cost is far above what any run has
        c, steps = float(point.get("contraction", 1)), m + point["before"]
        for diameter in (float(point["diameter"]), *(() if bounded_only else (math.inf,))):
            if diameter == 0:
                continue  # a set of one point
            tried += 1
            run = ProjectedRun(c, drift, 0.5, diameter, steps)
            zeta = diameter if bounded_only else min(diameter, drift * sum(c**i for i in range(steps - m)))
            claimed = says(log_moment(drift, run.rate, math.sqrt(share), t), m, t, c**m * zeta,
                           sum(c ** (2 * i) for i in range(m)), share)
            true = run.divergence(1 + t)
            if not true <= claimed + _TOLERANCE:
                return refuted(
                    "the law of a run has a larger divergence",
                    {"run": run, "alpha": 1 + t, "m": m, "s^2": share, "t R_{1+t}": f"{true:.9g}",
                     "claimed": f"{claimed:.9g}"},
                    by=Evidence.CHECKED_AT_POINTS,
                )
    log_m, m, t, left, weight, a = sympy.symbols("M m t z w a", positive=True)
    share, order = given.chart("share"), given.chart("alpha")
    shift = left / weight  # the i-th of the last m shifts is c^(m-i) times this
    return proof(
        argued("m steps before the end the two runs are at most zeta apart: by the drifts so far, or by the set"),
        argued("given the past, a step's noise is a share s^2 that hides the sampling and a share 1 - s^2 that hides a "
               "shift; the two costs of a step add up, and those of the steps (chain rule)"),
        computed("shifts c^(m-i) z/w, with w = sum of c^(2(m-i)), pay off z = c^m zeta at the cost z^2/w",
                 vanishes(shift * weight - left, shift**2 * weight - left**2 / weight)),
        computed("a shift a under noise of variance 1 - s^2 costs t (1+t)/2 a^2/(1 - s^2), s^2 in (0, 1), alpha > 1",
                 vanishes(_renyi_exponent(1 + t, a, 1 - share) - t * (1 + t) / 2 * a**2 / (1 - share))
                 and signed_positive(share, 1 - share, order - 1)),
        computed("m times the sampling and the shifts together are the claimed cost",
                 vanishes(m * log_m + t * (1 + t) / 2 * (left**2 / weight) / (1 - share)
                          - says(log_m, m, t, left, weight, share))),
        computed("there is a last step, the steps contract or keep, and the set has a size", all(
            (given[name].low, given[name].high) == _ENDS[name] for name in _ENDS if name in given.parameters)),
        tried=tried,
    )


def _renyi_exponent(alpha: Any, shift: Any, variance: Any) -> Any:
    """log int p^alpha q^(1-alpha) of N(shift, v) against N(0, v): what completing the square leaves over."""
    x = sympy.symbols("x", real=True)
    exponent = -alpha * (x - shift) ** 2 / (2 * variance) - (1 - alpha) * x**2 / (2 * variance)
    return sympy.simplify(exponent + (x - alpha * shift) ** 2 / (2 * variance))


def judge_stochastic(says: Cost, given: Domain) -> Finding:
    """Contracting runs, with and without a set."""
    return _judge(says, given, bounded_only=False)


def judge_bounded(says: Cost, given: Domain) -> Finding:
    """Runs on a bounded set that do not contract."""
    return _judge(says, given, bounded_only=True)


def judge_rate(says: Callable[[Any], Any], given: Domain) -> Finding:
    """Whether mu^2/r^2 <= min(T, rate(x)) for every x = d/r >= 1: full batches, by laws and algebra."""
    tried = 0
    for x, r, steps in itertools.product(given.values("ratio", most=7), (0.2, 1.0), given.values("steps", most=40)):
        tried += 1
        claimed = min(steps, says(float(x)))
        run = ProjectedRun(1.0, r, 1.0, float(x) * r, steps)
        true = run.divergence(2.0) / r**2  # R_2 = mu^2
        if not true <= claimed + _TOLERANCE:
            return refuted(
                "the law of a run on the set has a larger divergence",
                {"d/r": x, "r": r, "T": steps, "R_2/r^2": f"{true:.9g}", "claimed": f"{claimed:.9g}"},
                by=Evidence.CHECKED_AT_POINTS,
            )
    d, r, z = sympy.symbols("d r z", positive=True)
    v = sympy.symbols("v", nonnegative=True)
    x, e = given.chart("ratio"), v / (1 + v)
    m = x + e  # ceil(x), 0 <= e < 1
    step = d / m + r
    return proof(
        argued("m steps before the end Y starts at X', drawn independently and so at most d away from X"),
        computed("equal shifts d/m + r are allowed: the distance falls by d/m a step, to 0 after m",
                 vanishes(z + r - step - (z - d / m), d - m * (d / m))),
        computed("they cost m (d/m + r)^2 = r^2 (x^2/m + 2x + m), which is at most r^2 rate(x) for m = ceil(x), x >= 1",
                 vanishes((m * step**2).subs(d, x * r) - r**2 * (x**2 / m + 2 * x + m))
                 and never_negative(says(x) * m - (x**2 + 2 * x * m + m**2))),
        computed("with fewer than m steps, composition costs T r^2, and T < m is below rate(x)",
                 never_negative(says(x) - m) and given["steps"].low == 1),
        tried=tried,
    )


_ORDER = Parameter("alpha", low=Fraction(1), low_open=True)
_SET = (
    positive_integer("last", "m"), non_negative_integer("before", "T - m"), extended("diameter"), _ORDER,
    probability("share", "s^2"),
)
_RUN = (unit_interval("contraction"), *_SET)

stochastic = Claim(
    id="background/bok-sgd",
    source="after Bok, Su and Altschuler 2024, NoisySGD (their constants are not at hand; the bound proved here)",
    severity=Stake.PRIVACY,
    statement=(
        r"t R_{1+t} \le m \log M_s(t) + \frac{t(1+t)}{2}\,\frac{c^{2m}\zeta^2}{(1-s^2)\sum_{j<m} c^{2j}},\quad"
        r" \zeta = \min\left(\tfrac{D}{\eta\sigma},\ \tfrac{L}{b\sigma}\textstyle\sum_{j<T-m} c^j\right)"
    ),
    words="the last iterate of noisy SGD pays for sampling in its last m steps, and with shifts for what was before",
    hypotheses=_RUN,
    says=shifts_and_sampling,
    check=judge_stochastic,
    flips=(
        Flip("without the shifts", lambda log_m, m, t, left, weight, share: m * log_m, Verdict.REFUTED),
        Flip("without the sampling",
             lambda log_m, m, t, left, weight, share: shifts_and_sampling(0, m, t, left, weight, share),
             Verdict.REFUTED),
    ),
    rests_on=("background/fmit18",),
    expected="HOLDS ARGUED",
)

bounded = Claim(
    id="background/at22",
    source="after Altschuler and Talwar 2022, projected noisy SGD (their constants are not at hand)",
    severity=Stake.PRIVACY,
    statement=(
        r"R_\alpha \le m S_\alpha(s) + \frac{\alpha D^2}{2m\eta^2(1-s^2)\sigma^2} \text{ for every } m \le T,"
        r"\ S_\alpha(s) \text{ of one batch under noise } s\sigma"
    ),
    words="on a bounded set the Renyi divergence of noisy SGD's last iterate stops growing with the steps",
    hypotheses=_SET,
    says=shifts_and_sampling,
    check=judge_bounded,
    flips=(
        Flip("without the diameter", lambda log_m, m, t, left, weight, share: m * log_m, Verdict.REFUTED),
        Flip("a hundredth of the diameter",
             lambda log_m, m, t, left, weight, share: shifts_and_sampling(log_m, m, t, left / 100, weight, share),
             Verdict.REFUTED),
    ),
    rests_on=("background/fmit18",),
    expected="HOLDS ARGUED",
)

rate = Claim(
    id="background/at22-rate",
    source="Altschuler and Talwar 2022, the rate alpha L^2/(n^2 sigma^2) min(T, D n/(L eta)), for full batches",
    severity=Stake.PRIVACY,
    statement=(
        r"\mu^2 \le r^2 \min(T,\ 5x),\quad r = \frac{2L}{n\sigma},\ x = \frac{Dn}{2L\eta} \ge 1"
        r" \text{, that is } R_\alpha \le \frac{5\alpha L^2}{n^2\sigma^2} \min\left(T, \tfrac{Dn}{L\eta}\right)"
    ),
    words="projected noisy gradient descent stops leaking after about D n / (L eta) steps, with the constant 5",
    hypotheses=(Parameter("ratio", low=Fraction(1), meaning="x = D n / (2 L eta)"), positive_integer("steps")),
    says=lambda x: 5 * x,
    check=judge_rate,
    flips=(
        Flip("a tenth of x", lambda x: x / 10, Verdict.REFUTED),
        Flip("x + 4, the same at x = 1", lambda x: x + 4, Verdict.UNDECIDED),
        Flip("4x + 1", lambda x: 4 * x + 1, Verdict.HOLDS),
    ),
    true_variants={"1 % *": "the proof has room: 4x + 1 is enough", "squared": "25 x^2 >= 5x for x >= 1",
                   "5 -> 6*": "6x is valid, too"},
    rests_on=("background/shifted-interpolation",),
    expected="HOLDS ARGUED",
)
