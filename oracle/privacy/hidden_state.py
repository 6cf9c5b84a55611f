r"""Noisy gradient descent when only the last iterate is released (hidden state), in Gaussian DP.

Updates theta <- theta - eta (mean gradient + N(0, sigma^2 I)) whose gradient maps contract by c, replace-one
neighbours, gradient sensitivity L (2C for gradients clipped to C):

    NoisyGD,  t steps over n records:      mu = L/(n sigma) sqrt( (1-c^t)/(1+c^t) (1+c)/(1-c) )
    NoisyCGD, E epochs of k fixed batches: mu = L/(b sigma) sqrt( 1 + c^{2k-2} (1-c^2)/(1-c^k)^2
                                                                    (1-c^{k(E-1)})/(1+c^{k(E-1)}) )

(Bok, Su and Altschuler 2024; document 000, Theorem 2.8). Both are optima of one programme: shifts a_i that pay off the
drift, z_{i+1} = c z_i + s_i - a_{i+1} >= 0, z_T = 0, at cost sum a_i^2; `theorems.relu_approx` re-derives them from it.
With one batch NoisyCGD *is* NoisyGD, whose bound is smaller than the second formula at k = 1: one batch uses it.

Written with the geometric sum G(c, t) = 1 + c + ... + c^{t-1}, both formulas have no singularity at c = 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

from flint import arb, fmpz

from oracle.arrays import inflate, quotient
from oracle.domain import non_negative_integer, positive, positive_integer, unit_interval
from oracle.enclosure import ball
from oracle.registry import Bound, Values, closed_form

_BUDGET = 1024.0  # unit roundoffs; the worst term is c^m with an exponent error m log c, at most 745 before underflow


class Powers(Protocol):
    """The functions of c that the formulas need, in balls or in arrays."""

    def number(self, c: Any) -> Any:
        """c itself."""

    def power(self, c: Any, t: Any) -> Any:
        """c^t."""

    def geometric_sum(self, c: Any, t: Any) -> Any:
        """1 + c + ... + c^{t-1}."""


def gd_factor(c: Any, t: Any, powers: Powers) -> Any:
    """The square of NoisyGD's factor: G(c, t) (1 + c) / (1 + c^t)."""
    return powers.geometric_sum(c, t) * (1 + powers.number(c)) / (1 + powers.power(c, t))


def cgd_factor(c: Any, k: Any, epochs: Any, powers: Powers) -> Any:
    """The square of NoisyCGD's factor for k >= 2: 1 + c^{2k-2} (1+c) G(c, k(E-1)) / (G(c, k)^2 (1 + c^{k(E-1)}))."""
    steps = k * (epochs - 1)
    memory = (1 + powers.number(c)) * powers.geometric_sum(c, steps) / (1 + powers.power(c, steps))
    return 1 + powers.power(c, 2 * k - 2) * memory / powers.geometric_sum(c, k) ** 2


class _BallPowers:
    """Exact branches at c = 0 and c = 1 are decided on the rational; elsewhere precision beats the cancellation."""

    def number(self, c: Fraction) -> arb:
        return ball(c)

    def power(self, c: Fraction, t: int) -> arb:
        return ball(c) ** fmpz(t)

    def geometric_sum(self, c: Fraction, t: int) -> arb:
        return ball(t) if c == 1 else (1 - self.power(c, t)) / ball(1 - c)


class _ArrayPowers:
    """c^t by exp(t log1p(c - 1)): 1 - c is exact for c >= 1/2, so nothing cancels as c -> 1."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def number(self, c: Any) -> Any:
        return c

    def _log_power(self, c: Any, t: Any) -> Any:
        inside = self.xp.where(c > 0.0, c, 0.5)
        return self.xp.where(t > 0.0, self.xp.where(c > 0.0, t * self.xp.log1p(inside - 1.0), -1e4), 0.0)

    def power(self, c: Any, t: Any) -> Any:
        return self.xp.exp(self._log_power(c, t))

    def geometric_sum(self, c: Any, t: Any) -> Any:
        gap = self.xp.where(c < 1.0, 1.0 - c, 1.0)
        return self.xp.where(c < 1.0, -self.xp.expm1(self._log_power(c, t)) / gap, t)


def _gd(values: Values) -> arb:
    factor: arb = gd_factor(values.contraction, values.steps, _BallPowers())
    return ball(values.sensitivity / (values.dataset_size * values.sigma)) * factor.sqrt()


def _gd_fast(xp: Any, values: Values) -> Any:
    factor = gd_factor(values.contraction, values.steps, _ArrayPowers(xp))
    return inflate(quotient(xp, values.sensitivity, values.dataset_size, values.sigma) * xp.sqrt(factor), _BUDGET)


def _cgd(values: Values) -> arb:
    c, k, epochs = values.contraction, values.batches, values.epochs
    factor: arb = gd_factor(c, epochs, _BallPowers()) if k == 1 else cgd_factor(c, k, epochs, _BallPowers())
    return ball(values.sensitivity / (values.batch_size * values.sigma)) * factor.sqrt()


def _cgd_fast(xp: Any, values: Values) -> Any:
    c, k, epochs = values.contraction, values.batches, values.epochs
    powers = _ArrayPowers(xp)
    factor = xp.where(k == 1.0, gd_factor(c, epochs, powers), cgd_factor(c, k, epochs, powers))
    return inflate(quotient(xp, values.sensitivity, values.batch_size, values.sigma) * xp.sqrt(factor), _BUDGET)


_SENSITIVITY = positive("sensitivity", "gradient sensitivity L: 2C for gradients clipped to C")
_SIGMA = positive("sigma", "standard deviation of the noise on the mean gradient")
_CONTRACTION = unit_interval("contraction", "Lipschitz constant c of every gradient step")

noisy_gd_mu = Bound(
    name="noisy-gd.mu",
    unit="mu",
    summary="mu of the last iterate of full-batch noisy gradient descent on strongly convex losses",
    formula=r"\mu = \frac{L}{n\sigma}\sqrt{\frac{1-c^{t}}{1+c^{t}}\,\frac{1+c}{1-c}}",
    parameters=(
        _SENSITIVITY, positive_integer("dataset_size"), _SIGMA, _CONTRACTION, non_negative_integer("steps"),
    ),
    neighbours="replace",
    threat_model="last_iterate",
    source=("background/bok-gd",),
    certify=closed_form(_gd),
    vectorised=_gd_fast,
    example={"sensitivity": "2", "dataset_size": "50", "sigma": "0.15", "contraction": "0.9", "steps": "20"},
)

noisy_cgd_mu = Bound(
    name="noisy-cgd.mu",
    unit="mu",
    summary="mu of the last iterate of noisy cyclic mini-batch gradient descent with fixed disjoint batches",
    formula=(
        r"\mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\,\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}}"
        r"\quad (k \ge 2;\ \text{NoisyGD for } k = 1)"
    ),
    parameters=(
        _SENSITIVITY, positive_integer("batch_size"), _SIGMA, _CONTRACTION,
        positive_integer("batches", "number k of batches an epoch"), positive_integer("epochs"),
    ),
    neighbours="replace",
    threat_model="last_iterate",
    source=("relu-approx/thm-2.8-formula",),
    certify=closed_form(_cgd),
    vectorised=_cgd_fast,
    example={  # Figure 1 of document 000 at eta lambda = 1e-4, with sigma and sensitivity per record of the batch
        "sensitivity": "2", "batch_size": "1", "sigma": "15", "contraction": "0.9999", "batches": "60", "epochs": "400",
    },
)
