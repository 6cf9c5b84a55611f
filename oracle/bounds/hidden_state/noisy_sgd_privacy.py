r"""Noisy stochastic gradient descent when only the last iterate is released (hidden state), replace-one neighbours.

T steps theta <- Pi(theta - eta (mean gradient over the batch + N(0, sigma^2 I))), the batch b of n records drawn
without replacement anew each step, q = b/n; Pi projects on a convex set of diameter D (infinite: no projection).
Hypotheses: the gradients of any two records, at any theta, differ by at most L (2C for gradients clipped to C); for
every batch, theta -> theta - eta (mean gradient) is Lipschitz with constant c <= 1 (convex, smooth losses and a small
enough step; clipping must keep that, as it does for one output); the start does not depend on the data.

Bok, Su and Altschuler 2024 analyse this by shifted interpolation; their text was not at hand, this proof stands on its
own. In units of eta sigma let r = L/(b sigma), d = D/(eta sigma), G(c, k) = 1 + c + ... + c^{k-1}.

Drift. Run both data sets with the same batches and noise: after k steps the iterates are at most zeta apart,
zeta = min(d, r G(c, k)). Choose m in 1..T, let k = T - m.

Sampled. Write phi_B and phi'_B for the steps. From X_k, X'_k on let X~_k = X'_k and, with the shifts v_j,

    X_{j+1} = Pi(phi_B(X_j) + Z_j),  X~_{j+1} = Pi(phi_B(X~_j) + v_j + Z_j),  v_j = lambda_j (phi_B(X_j) - phi_B(X~_j)),

so |X_{j+1} - X~_{j+1}| <= (1 - lambda_j) c |X_j - X~_j|; the last lambda is 1, and X~_T = X_T. Split Z_j into Z1 and Z2
of variance shares s^2 and 1 - s^2. X~_{j+1} is a function of Y = phi_B(X~_j) + Z1 and S = v_j + Z2. Given X~_j = x, B
is still uniform, so Y against phi'_B(x) + Z1 is one Gaussian release on a batch without replacement, mean shift L/b,
noise s sigma: the pair of `wor_gaussian` with its b at r/s, whose moment is M_s. (Y must come first: v_j depends on B.)
Given x and Y, S is a mixture of N(v, .), |v| <= a_j, against N(0, .): a_j/sqrt(1-s^2)-GDP. Shifts a_j with
sum c^{T-j} a_j = c^m zeta cost at least sum a_j^2 = B_m = c^{2m} zeta^2 / G(c^2, m), which is attained. By the chain
rule the Renyi divergence of order 1 + t of X_T from X'_T is at most

    V/t,     V = m log M_s(t) + t (1+t)/2 B_m/(1 - s^2)          (m = T, s = 1: V = T log M_1(t), plain composition).

Whole. Or let the shifts pay for the record, too, as if it were in every batch (revealing the batches): all is one
Gaussian pair with mu_m = (c^m zeta + r G(c, m)) / sqrt(G(c^2, m)); c^-j times the gap rises, then falls to 0, so these
shifts are feasible. For D infinite, m = T is best and gives `noisy-gd.mu` for n = b. For q = 1 it is below Sampled at
every m (Cauchy-Schwarz, twice), so that Sampled is not needed.

The bound is the least of all these over m in LENGTHS up to T and T itself, s in SHARES and t in ORDERS, V converted as
in `zcdp` (Canonne, Kamath and Steinke 2020), the GDP curve taken as it is. D = 0 releases a fixed point: 0; c = 0
forgets all but the last step: T = 1.

Poisson batches of rate q with the sum over the batch divided by b (not by its size) are covered, too, for L = 2C with
gradients of norm at most C: by advanced joint convexity of (1-q) P0 + q P1 and (1-q) P0 + q P1' (Balle, Barthe and
Gaboardi 2018) the curve is at most that of `wor_gaussian`. But c must then hold for every batch size from 0 (where only
a ridge outside the sum contracts) to n (where the step is n/b times as long).

The reference needs few integrals: log M_s is convex in t and 0 at 0, so chords bound it from below at orders not yet
integrated; floats propose where to begin.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import array_api_compat.numpy as numpy_namespace
import numpy as np
from flint import arb, ctx, fmpz

from oracle.bounds.hidden_state import noisy_sgd_privacy_arrays as arrays
from oracle.bounds.hidden_state.hidden_state import ASSUMES
from oracle.bounds.hidden_state.noisy_sgd_privacy_arrays import LARGEST_RATIO, LEAST_RATIO, LENGTHS, ORDERS, SHARES
from oracle.bounds.renyi.zcdp import log_inverse
from oracle.bounds.sampling.wor_gaussian import SampledPair, proposed_peak
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import enclose
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound
from oracle.engines.gaussian_curve import delta_ball, epsilon_of_mu

_SCREENING = 64  # bits at which all but the best candidates are ruled out

Objective = Callable[[Fraction, arb], arb]
"""What is minimised, as a rising function of V at an order: epsilon, or the logarithm of delta."""


def geometric_sum(c: Fraction, k: int) -> arb:
    """G(c, k)."""
    return ball(k) if c == 1 else (1 - ball(c) ** fmpz(k)) / ball(1 - c)


@dataclass(frozen=True)
class Training:
    """The quantities of the module docstring, for one set of parameters with T > 0 and D > 0."""

    ratio: Fraction
    diameter: Fraction | float
    contraction: Fraction
    rate: Fraction
    steps: int

    @staticmethod
    def of(values: Values) -> Training:
        """The training that the parameters of a bound describe, or a DomainError."""
        if values.batch_size > values.dataset_size:
            raise DomainError(
                f"batch_size = {shown(values.batch_size)} is outside its domain: an integer <= dataset_size ="
                f" {shown(values.dataset_size)}"
            )
        ratio = values.sensitivity / (values.batch_size * values.noise_on_mean)
        if not LEAST_RATIO <= ratio <= LARGEST_RATIO:
            raise DomainError(arrays.ratio_message(float(min(ratio, Fraction(10) ** 300))))
        diameter = values.diameter
        if diameter != math.inf:
            diameter = diameter / (values.learning_rate * values.noise_on_mean)
        rate = Fraction(values.batch_size, values.dataset_size)
        steps = values.steps if values.contraction else min(values.steps, 1)
        return Training(ratio, diameter, values.contraction, rate, steps)

    def lengths(self) -> list[int]:
        """The m to choose from."""
        return [*(m for m in LENGTHS if m < self.steps), self.steps]

    def drift(self, m: int) -> arb:
        """zeta."""
        drift = ball(self.ratio) * geometric_sum(self.contraction, self.steps - m)
        return drift if self.diameter == math.inf else drift.min(ball(Fraction(self.diameter)))

    def shift_cost(self, m: int) -> arb:
        """B_m; G(c^2, m) = G(c, 2m)/(1+c)."""
        c = self.contraction
        moved = ball(c) ** fmpz(m) * self.drift(m)
        return moved * moved * ball(1 + c) / geometric_sum(c, 2 * m)

    def whole_mu(self) -> Callable[[], arb]:
        """The least mu_m, at any working precision: nearly all m are ruled out here."""
        c = self.contraction

        def at(m: int) -> arb:
            moved = ball(c) ** fmpz(m) * self.drift(m) + ball(self.ratio) * geometric_sum(c, m)
            return moved * (ball(1 + c) / geometric_sum(c, 2 * m)).sqrt()

        with ctx.workprec(_SCREENING):
            rough = {m: at(m) for m in self.lengths()}
            best = functools.reduce(arb.min, rough.values())
            alive = [m for m, value in rough.items() if not value > best]
        return lambda: functools.reduce(arb.min, map(at, alive))

    def log_moment(self, share: Fraction, t: Fraction) -> arb:
        """log M_s(t), integrated."""
        pair = SampledPair(2 * share / self.ratio, self.rate)
        return pair.log_moment(ball(t), proposed_peak(pair, float(t)))

    def cost(self, share: Fraction, t: Fraction, log_moment: arb, shifts: dict[int, arb]) -> arb:
        """V at the best m, for a value or a lower bound of log M."""
        if share == 1:
            return self.steps * log_moment
        factor, best = ball(t * (1 + t) / (2 * (1 - share**2))), arb(math.inf)
        for m, shift in shifts.items():
            best = best.min(m * log_moment + factor * shift)
        return best

    def least(self, objective: Objective) -> Callable[[], arb]:
        """The least objective over all candidates, at any working precision: nearly all are ruled out here."""
        with ctx.workprec(_SCREENING):
            alive = self._screened(objective)

        def minimum() -> arb:
            shifts = {m: self.shift_cost(m) for m in self.lengths()}
            best = arb(math.inf)
            for share, t in alive:
                best = best.min(objective(t, self.cost(share, t, self.log_moment(share, t), shifts)))
            return best

        return minimum

    def _screened(self, objective: Objective) -> list[tuple[Fraction, Fraction]]:
        """The (share, order) that may be the best; every other is certainly worse than one of them."""
        shifts = {m: self.shift_cost(m) for m in self.lengths()}
        tables: dict[Fraction, dict[Fraction, arb]] = {share: {} for share in SHARES}
        values: dict[tuple[Fraction, Fraction], arb] = {}
        best = arb(math.inf)
        for share, table in tables.items():
            asked = self._proposals(share, objective, shifts)
            while asked:
                for t in asked:
                    table[t] = self.log_moment(share, t)
                    values[share, t] = objective(t, self.cost(share, t, table[t], shifts))
                    best = best.min(values[share, t])
                open_ = [
                    t for t in ORDERS if t not in table
                    and not objective(t, self.cost(share, t, _from_chords(table, t), shifts)) > best
                ]
                # The open orders next to what is known: their chords may settle the others.
                asked = [t for t in open_ if any(t in neighbours(u) for u in table)] or open_
        return [candidate for candidate, value in values.items() if not value > best]

    def _proposals(self, share: Fraction, objective: Objective, shifts: dict[int, arb]) -> list[Fraction]:
        """The order that float64 thinks best, and its neighbours."""
        column = np.ones((len(ORDERS), 1))
        with np.errstate(all="ignore"):
            logs = arrays.rough_log_moments(
                numpy_namespace, column * float(self.ratio / share), column * float(self.rate),
                np.asarray([[float(t)] for t in ORDERS]),
            )[:, 0].tolist()
        costs = [
            float(objective(t, self.cost(share, t, arb(log), shifts)).mid()) if math.isfinite(log) else math.inf
            for t, log in zip(ORDERS, logs, strict=True)
        ]
        first = ORDERS[costs.index(min(costs))]
        return [first, *neighbours(first)]


def neighbours(t: Fraction) -> list[Fraction]:
    """The orders beside an order."""
    index = ORDERS.index(t)
    return [ORDERS[i] for i in (index - 1, index + 1) if 0 <= i < len(ORDERS)]


def _from_chords(table: dict[Fraction, arb], t: Fraction) -> arb:
    """A lower bound of a convex function that is 0 at 0 and rises, from its values at other points."""
    points = [(Fraction(0), arb(0)), *sorted(table.items())]
    bound = arb(0)
    below, above = [p for p in points if p[0] < t], [p for p in points if p[0] > t]
    for (x0, y0), (x1, y1) in [tuple(below[-2:])] * (len(below) > 1) + [tuple(above[:2])] * (len(above) > 1):
        bound = bound.max((y1 + (y1 - y0) * ball((t - x1) / (x1 - x0))).lower())
    return bound


def _smaller(one: Enclosure, other: Enclosure) -> Enclosure:
    """The enclosure of the smaller of two enclosed numbers."""
    lower = one.lower if one.lower.compare(other.lower) <= 0 else other.lower
    upper = one.upper if one.upper.compare(other.upper) <= 0 else other.upper
    return Enclosure(lower, upper)


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    training = Training.of(values)
    if values.steps == 0 or values.diameter == 0:
        return Enclosure.exactly(0)
    if training.rate == 1:
        return epsilon_of_mu(training.whole_mu(), values.delta, width)

    def converted(t: Fraction, cost: arb) -> arb:
        spent = (cost + log_inverse(values.delta)) / ball(t)
        return spent - ball(1 / t).log1p() - ball(t).log1p() / ball(t)

    least = training.least(converted)

    def sampled() -> arb:
        value = least()
        return arb(0) if value <= 0 else value

    best = enclose(sampled, width=width)
    with ctx.workprec(128):  # the Gaussian curve has a root to be found only where it lies below
        if best.upper.mantissa == 0 or delta_ball(best.upper.ball, training.whole_mu()()) > ball(values.delta):
            return best
    return _smaller(best, epsilon_of_mu(training.whole_mu(), values.delta, width))


def _delta(values: Values, width: Fraction) -> Enclosure:
    training = Training.of(values)
    if values.steps == 0 or values.diameter == 0:
        return Enclosure.exactly(0)
    mu = training.whole_mu()
    whole = enclose(lambda: delta_ball(ball(values.epsilon), mu()), width=width).capped(1)
    if training.rate == 1:
        return whole

    def converted(t: Fraction, cost: arb) -> arb:
        return cost - ball(t * values.epsilon) - ball(t) * ball(1 / t).log1p() - ball(t).log1p()

    least = training.least(converted)
    return _smaller(whole, enclose(lambda: least().exp().min(arb(1)), width=width))


_PARAMETERS = (
    vocabulary.sensitivity,
    vocabulary.dataset_size.at_most(1000000000000),
    vocabulary.batch_size.at_most(1000000000000),
    vocabulary.noise_on_mean.above(0),
    vocabulary.contraction,
    vocabulary.learning_rate,
    vocabulary.diameter,
    vocabulary.steps.at_most(1000000000),
)
_CANDIDATES = (
    r"\mu_m = \frac{c^m\zeta + rG(c,m)}{\sqrt{G(c^2,m)}}, \quad V = m\log M_s(t)"
    r" + \frac{t(1+t)}{2}\,\frac{c^{2m}\zeta^2}{(1-s^2)\,G(c^2,m)}, \quad"
    r" \zeta = \min\left(\frac{D}{\eta\sigma},\ r\,G(c, T-m)\right),\ r = \frac{L}{b\sigma},"
    r"\ G(c,k) = \sum_{j<k} c^j"
)
_SOURCE = ("background/bok-sgd",)

epsilon = Bound(
    name="noisy-sgd.epsilon",
    unit="epsilon",
    tightness=one_sided("no losses are known whose last iterate attains it"),
    summary="an epsilon of the last iterate of noisy SGD on batches without replacement, steps contracting",
    formula=(
        r"\min_{m,s,t}\left\{\varepsilon_{\mu_m}(\delta),\ \frac{V + \log(1/\delta)}{t} - \log\left(1 + \frac1t\right)"
        r" - \frac{\log(1+t)}{t}\right\}, \quad " + _CANDIDATES
    ),
    parameters=(*_PARAMETERS, vocabulary.delta.open()),
    assumes=(*ASSUMES, "fresh-batches", "secret-batches", "bounded-set"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=_SOURCE,
    validity="argued",
    certify=_epsilon,
    vectorised=arrays.epsilon_upper,
    example={
        "sensitivity": "2", "dataset_size": "10000", "batch_size": "100", "noise_on_mean": "0.1", "contraction": "0.99",
        "learning_rate": "0.1", "diameter": "inf", "steps": "10000", "delta": "1e-5",
    },
)

delta = Bound(
    name="noisy-sgd.delta",
    unit="delta",
    tightness=one_sided("no losses are known whose last iterate attains it"),
    summary="a delta of the last iterate of noisy SGD on batches without replacement, steps contracting",
    formula=(
        r"\min_{m,s,t}\left\{1,\ \delta_{\mu_m}(\varepsilon),\ e^{V - t\varepsilon}"
        r"\frac{t^t}{(1+t)^{1+t}}\right\}, \quad " + _CANDIDATES
    ),
    parameters=(*_PARAMETERS, vocabulary.epsilon),
    assumes=(*ASSUMES, "fresh-batches", "secret-batches", "bounded-set"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=_SOURCE,
    validity="argued",
    certify=_delta,
    vectorised=arrays.delta_upper,
    example={
        "sensitivity": "2", "dataset_size": "10000", "batch_size": "100", "noise_on_mean": "0.1", "contraction": "0.99",
        "learning_rate": "0.1", "diameter": "inf", "steps": "10000", "epsilon": "0.5",
    },
)
