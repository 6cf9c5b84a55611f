r"""Private tuning with a Poisson number of runs: the best of K ~ Poisson(m) runs is released, nothing if K = 0.

The base Q (one run with its hyper-parameters drawn at random) is mu-GDP, (epsilon, delta)-DP, or has any known curve
delta(.) that bounds both directions. Theorem 5.1 of document 000 (Koskela et al. 2024; their text was not at hand, the
proof here stands on its own) says that for all epsilon1 >= 0

    H_{e^epsilon}(A, A') <= m delta(epsilon_hat),     epsilon = epsilon_hat + m (e^epsilon1 - 1) + m delta(epsilon1).

Proof. Ranks are totally ordered (break ties by an independent uniform number and forget it). Runs form a Poisson
process of intensity m Q, and y is released if it is there and nothing better is: A has the density m Q(y) e^{-m Q(>y)}
and an atom "nothing" of mass e^{-m}, the same for A'. With v = Q'(>y) - Q(>y) <= (e^epsilon1 - 1) + delta(epsilon1),

    A(y) - e^epsilon A'(y) = m e^{-m Q(>y)} (Q(y) - e^{epsilon - m v} Q'(y)) <= m (Q(y) - e^{epsilon_hat} Q'(y))_+,

and the atom adds (1 - e^epsilon) e^{-m} <= 0. Integrate. []

Two remarks. The sentence that follows the theorem calls the algorithm (epsilon_hat, m delta(epsilon_hat))-DP for an
(epsilon1, delta(epsilon1))-DP base: the hat is misplaced, epsilon_hat is what is left of epsilon, and one point of the
base's curve does not give delta(epsilon_hat). And there is nothing to optimise: e^x - 1 + delta(x) rises in x >= 0 for
every curve (as a function of e^x, delta has slopes in [-1, 0]), so epsilon1 = 0 is best, where it is the total
variation distance tv = delta(0). For delta < m tv, with the least epsilon_hat for which m delta(epsilon_hat) <= delta,

    epsilon = m tv + epsilon_hat;       and epsilon = 0 for delta >= m tv,

the latter since the total variation distance of A and A' is at most m tv (couple run by run; E K = m).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from flint import arb, ctx

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import DEFAULT_WIDTH, enclose
from oracle.core.arrays import UNIT, inflate
from oracle.core.attainment import bracketed, one_sided
from oracle.core.domain import Number, positive, shown
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, certainly_negative, epsilon_of_mu, normal_upper_tail

_LARGEST_MU = 1e150  # beyond, mu^2 overflows: the reference answers
_SMALLEST_SHARE = 1e-290
_SHARP = 1e-11  # relative error that the closed form of a pair may have before the reference answers


class Profile(Protocol):
    """A base mechanism by its privacy curve, such as `composition.Composition`."""

    def delta(self, epsilon: Number, *, width: Number = ...) -> Enclosure:
        """The certified least delta at an epsilon >= 0, the larger of both directions."""

    def epsilon(self, delta: Number, *, width: Number = ...) -> Enclosure:
        """The certified least epsilon >= 0 at a delta in (0, 1)."""


def _sum(one: Enclosure, other: Enclosure, width: Fraction) -> Enclosure:
    """The sum of two enclosed numbers >= 0, rounded outward far below the width."""
    with ctx.workprec(128 + width.denominator.bit_length() + max(0, other.upper.exponent)):
        return Enclosure.between(one.lower.ball + other.lower.ball, one.upper.ball + other.upper.ball)


def tuned_epsilon(base: Profile, mean: Number, delta: Number, *, width: Number = DEFAULT_WIDTH) -> Enclosure:
    """The epsilon of the best of Poisson(mean) runs of a base of any known curve, by the formula above."""
    runs, target = MEAN.rational(mean), vocabulary.delta.open().rational(delta)
    asked = min(positive("width").rational(width), Fraction(1))
    if runs <= target:
        return Enclosure.exactly(0)
    distance = base.delta(0, width=asked / (8 * max(Fraction(1), runs)))
    if distance.certainly_le(target / runs):
        return Enclosure.exactly(0)
    with ctx.workprec(128 + asked.denominator.bit_length()):
        moved = Enclosure.of_ball(ball(runs) * distance.ball)
    return _sum(moved, base.epsilon(target / runs, width=asked / 8), asked)


# --- a base that is mu-GDP


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    mu, mean, delta = values.base_mu, values.mean_runs, values.delta
    # m tv <= delta, written without tv, which may be closer to 1 than any precision tells.
    if mean <= delta or certainly_negative(lambda: ball(mean - delta) - 2 * ball(mean) * _half_tail(mu)):
        return Enclosure.exactly(0)
    moved = enclose(lambda: ball(mean) * (ball(mu) / arb(8).sqrt()).erf(), width=width / 8)
    return _sum(moved, epsilon_of_mu(lambda: ball(mu), delta / mean, width / 8), width)


def ranked_by_chance(values: Values, width: Fraction) -> Enclosure:
    """What a Gaussian base costs where the ranking ignores what the runs release: one run, unless there is none.

    The best of K >= 1 runs then has the law of one run, so that the curve is (1 - e^-m) delta(.), and no guarantee for
    all rankings lies below. The share of delta is rounded up, which lowers epsilon.
    """
    with ctx.workprec(128):
        share = (ball(values.delta) / -ball(-values.mean_runs).expm1()).upper()
    delta = Dyadic.of(share).to_fraction() if share.is_finite() else Fraction(1)
    if delta >= 1 or values.base_mu == 0:
        return Enclosure.exactly(0)
    return epsilon_of_mu(lambda: ball(values.base_mu), delta, width)


def _half_tail(mu: Fraction) -> arb:
    return normal_upper_tail(ball(mu / 2))


def _epsilon_fast(xp: Any, values: Values) -> Any:
    mu = xp.where((values.base_mu < _LARGEST_MU) & (values.base_mu > 1 / _LARGEST_MU), values.base_mu, xp.nan)
    moved = inflate(values.mean_runs * arrays.delta_upper(xp, xp.zeros_like(mu), mu), 1.0)
    share = values.delta / values.mean_runs * (1.0 - 4 * UNIT)  # rounded down: a smaller delta costs more
    usable = (share > _SMALLEST_SHARE) & (share < 1.0)
    rest = arrays.epsilon_upper(xp, mu, xp.where(usable, share, 0.5))
    result = xp.where(usable, inflate(moved + rest, 1.0), xp.nan)
    return xp.where((moved <= values.delta) | (values.mean_runs <= values.delta), xp.zeros_like(result), result)


# --- a base of which one point of the curve is known


def _pair(values: Values, width: Fraction) -> Enclosure:
    """The curve of the pair that dominates every (epsilon, delta)-DP base, in the formula of this module."""
    base, kept, mean, target = values.base_epsilon, 1 - values.base_delta, values.mean_runs, values.delta
    if mean * values.base_delta > target:
        raise DomainError(
            f"delta = {shown(target)} is outside its domain: a real number >= mean_runs * base_delta ="
            f" {shown(mean * values.base_delta)}, below which no epsilon is enough"
        )
    if base == 0 or kept == 0 or mean <= target:
        return Enclosure.exactly(0)  # then tv = delta <= target / mean
    spare = (target / mean - values.base_delta) / kept  # what is left for the pure part, 0 <= spare < 1

    def excess() -> arb:
        return ball(spare) - (ball(base) / 2).tanh()

    if not certainly_negative(excess):
        return Enclosure.exactly(0)

    def total() -> arb:
        growth = ball(base).exp()
        moved = ball(mean) * (ball(values.base_delta) + ball(kept) * (ball(base) / 2).tanh())
        return moved + ((growth - 1) - (growth + 1) * ball(spare)).log1p()

    return enclose(total, width=width)


def _pair_fast(xp: Any, values: Values) -> Any:
    base, lost, mean, target = values.base_epsilon, values.base_delta, values.mean_runs, values.delta
    least = mean * lost
    bad = least > target * (1.0 + 4 * UNIT)
    if bool(xp.any(bad)):
        first = int(xp.argmax(xp.astype(xp.reshape(bad, (-1,)), xp.int8)))
        value, floor = (float(xp.reshape(array, (-1,))[first]) for array in (target, least))
        raise DomainError(
            f"delta = {value} is outside its domain: a real number >= mean_runs * base_delta = {floor}, below which"
            " no epsilon is enough"
        )
    kept = 1.0 - lost
    share = target / mean
    spare = (share - lost) / xp.where(kept > 0.0, kept, 1.0)
    distance = xp.tanh(0.5 * base)
    moved = mean * (lost + kept * distance)
    # e^{epsilon_hat - base} = 1 - (1 + e^-base) spare: the roundings of spare come back divided by it.
    left = 1.0 - (1.0 + xp.exp(-base)) * spare
    doubt = 32 * UNIT * (share + lost + UNIT) / xp.where(left > 0.0, left, 1.0)
    rest = base + xp.log1p(-(1.0 + xp.exp(-base)) * xp.where(left > 0.0, spare, 0.0))
    result = inflate(moved + rest + doubt + 8 * UNIT * base, 8.0)
    sharp = (left > 0.0) & (doubt + 8 * UNIT * base < _SHARP * result) & (spare < distance * (1.0 - 1e-12))
    sharp = sharp & (least < target * (1.0 - 4 * UNIT)) & (base < 1e3) & (target > _SMALLEST_SHARE)
    nothing = (base == 0.0) | (mean <= target)
    nothing = nothing & (least < target * (1.0 - 4 * UNIT))
    return xp.where(nothing, xp.zeros_like(result), xp.where(sharp, result, xp.nan))


MEAN = vocabulary.mean_runs
MU = vocabulary.base_mu
_TOTAL = r"\varepsilon = m\,\delta(0) + \hat\varepsilon,\ \delta(\hat\varepsilon) = \frac{\delta}{m}"
_NOTHING = r"\quad (0 \text{ where } m\,\delta(0) \le \delta); \quad "
_SOURCE = ("relu-approx/thm-5.1",)

epsilon = Bound(
    name="poisson-tuning.epsilon",
    unit="epsilon",
    tightness=bracketed("a Gaussian base and a ranking by chance", ranked_by_chance),
    summary="an epsilon of releasing the best of a Poisson number of runs, each mu-GDP",
    formula=_TOTAL + _NOTHING + CURVE,
    parameters=(MU, MEAN, vocabulary.delta.open()),
    assumes=("runs-gaussian-dp", "poisson-runs", "best-run"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_epsilon,
    vectorised=_epsilon_fast,
    example={"base_mu": "0.3473", "mean_runs": "20", "delta": "1e-5"},
)

pair_epsilon = Bound(
    name="poisson-tuning-pair.epsilon",
    unit="epsilon",
    tightness=one_sided("no base and ranking are known that attain it"),
    summary="an epsilon of releasing the best of a Poisson number of runs, each (epsilon, delta)-DP",
    formula=_TOTAL.replace(r"\frac{\delta}{m}", r"\frac{\delta_{total}}{m}") + _NOTHING.replace(
        r"\le \delta", r"\le \delta_{total}"
    ) + r"\delta(x) = \delta_1 + (1 - \delta_1)\frac{(e^{\varepsilon_1} - e^{x})_+}{e^{\varepsilon_1} + 1}",
    parameters=(
        vocabulary.base_epsilon, vocabulary.base_delta, MEAN, vocabulary.delta.open(),
    ),
    assumes=("runs-private", "poisson-runs", "best-run"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=_pair,
    vectorised=_pair_fast,
    example={"base_epsilon": "0.5", "base_delta": "1e-8", "mean_runs": "20", "delta": "1e-5"},
)
