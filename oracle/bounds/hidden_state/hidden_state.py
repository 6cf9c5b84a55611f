r"""Noisy gradient descent when only the last iterate is released (hidden state), in Gaussian DP.

Updates theta <- theta - eta (mean gradient + N(0, sigma^2 I)) whose gradient maps contract by c, replace-one
neighbours, gradient sensitivity L (2C for gradients clipped to C):

    NoisyGD,  t steps over n records:      mu = L/(n sigma) sqrt( (1-c^t)/(1+c^t) (1+c)/(1-c) )
    NoisyCGD, E epochs of k fixed batches: mu = L/(b sigma) sqrt( 1 + c^{2k-2} (1-c^2)/(1-c^k)^2
                                                                    (1-c^{k(E-1)})/(1+c^{k(E-1)}) )

(Bok, Su and Altschuler 2024; document 000, Theorem 2.8). Both are optima of one programme: shifts a_i that pay off the
drift, z_{i+1} = c z_i + s_i - a_{i+1} >= 0, z_T = 0, at cost sum a_i^2; `theorems.relu_approx` re-derives them from it.
With one batch NoisyCGD *is* NoisyGD, whose bound is smaller than the second formula at k = 1: one batch uses it.

`shift_programme` solves it for any schedule; `hidden_state_position` for a record in a known batch;
`hidden_state_projected` for iterates in a bounded set; `hidden_state_epsilon` and `hidden_state_inverse` convert and
invert. c = 1 is the case of convex losses, smooth with beta <= 2/eta; strong convexity or a ridge lambda makes it
c = max(|1 - eta lambda|, |1 - eta beta|).

Written with the geometric sum G(c, t) = 1 + c + ... + c^{t-1}, both formulas have no singularity at c = 1.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import bracketed, truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines.geometric import BUDGET, ArrayPowers, BallPowers, PowerFunctions, square_sum


def gd_factor(c: Any, t: Any, powers: PowerFunctions) -> Any:
    """The square of NoisyGD's factor: G(c, t) (1 + c) / (1 + c^t)."""
    return powers.geometric_sum(c, t) * (1 + powers.number(c)) / (1 + powers.power(c, t))


def cgd_factor(c: Any, k: Any, epochs: Any, powers: PowerFunctions) -> Any:
    """The square of NoisyCGD's factor for k >= 2: 1 + c^{2k-2} (1+c) G(c, k(E-1)) / (G(c, k)^2 (1 + c^{k(E-1)}))."""
    steps = k * (epochs - 1)
    memory = (1 + powers.number(c)) * powers.geometric_sum(c, steps) / (1 + powers.power(c, steps))
    return 1 + powers.power(c, 2 * k - 2) * memory / powers.geometric_sum(c, k) ** 2


def gd_square(values: Values) -> arb:
    """The square of NoisyGD's factor, in balls."""
    square: arb = gd_factor(values.contraction, values.steps, BallPowers())
    return square


def cgd_square(values: Values) -> arb:
    """The square of NoisyCGD's factor, in balls."""
    c, k, epochs = values.contraction, values.batches, values.epochs
    square: arb = gd_factor(c, epochs, BallPowers()) if k == 1 else cgd_factor(c, k, epochs, BallPowers())
    return square


def cgd_squares(xp: Any, c: Any, k: Any, epochs: Any, powers: PowerFunctions) -> Any:
    """The square of NoisyCGD's factor, in arrays."""
    return xp.where(k == 1.0, gd_factor(c, epochs, powers), cgd_factor(c, k, epochs, powers))


def gd_mu(values: Values) -> arb:
    """mu of NoisyGD, in balls."""
    return ball(values.sensitivity / (values.dataset_size * values.noise_on_mean)) * gd_square(values).sqrt()


def cgd_mu(values: Values) -> arb:
    """mu of NoisyCGD, in balls."""
    return ball(values.sensitivity / (values.batch_size * values.noise_on_mean)) * cgd_square(values).sqrt()


def cgd_attained(values: Values) -> arb:
    """mu of linear maps, the record in the last batch: all multiply by c, or that batch's map forgets all else.

    In units of the drift the last iterate has the mean 1 + c^k + ... + c^{k(E-1)}, or 0, and the variance 1 + c^2 + ...
    + c^{2kE-2}; or the mean 1, or 0, and the variance 1. One batch attains `noisy-gd.mu`.
    """
    c, k, epochs, powers = values.contraction, values.batches, values.epochs, BallPowers()
    if k == 1:
        return cgd_mu(values)
    mean = powers.geometric_sum(c, k * epochs) / powers.geometric_sum(c, k)
    ratio = (mean / square_sum(c, k * epochs, powers).sqrt()).max(arb(1))
    mu: arb = ball(values.sensitivity / (values.batch_size * values.noise_on_mean)) * ratio
    return mu


def gd_root(xp: Any, values: Values) -> Any:
    """NoisyGD's factor, in arrays, not yet rounded up."""
    return xp.sqrt(gd_factor(values.contraction, values.steps, ArrayPowers(xp)))


def cgd_root(xp: Any, values: Values) -> Any:
    """NoisyCGD's factor, in arrays, not yet rounded up."""
    return xp.sqrt(cgd_squares(xp, values.contraction, values.batches, values.epochs, ArrayPowers(xp)))


def gd_mu_upper(xp: Any, values: Values) -> Any:
    """mu of NoisyGD, rounded up."""
    return inflate(
        quotient(xp, values.sensitivity, values.dataset_size, values.noise_on_mean) * gd_root(xp, values), BUDGET,
    )


def cgd_mu_upper(xp: Any, values: Values) -> Any:
    """mu of NoisyCGD, rounded up."""
    return inflate(
        quotient(xp, values.sensitivity, values.batch_size, values.noise_on_mean) * cgd_root(xp, values), BUDGET,
    )


SENSITIVITY = vocabulary.sensitivity
SIGMA = vocabulary.noise_on_mean.above(0)
CONTRACTION = vocabulary.contraction
BATCHES = vocabulary.batches

ASSUMES = (
    "replace", "last-iterate", "gradient-sensitivity", "gaussian-noise", "contracting-steps", "independent-start",
)

noisy_gd_mu = Bound(
    name="noisy-gd.mu",
    unit="mu",
    tightness=truth("quadratic losses, whose iterates are Gaussian, reach it"),
    summary="mu of the last iterate of full-batch noisy gradient descent on strongly convex losses",
    formula=r"\mu = \frac{L}{n\sigma}\sqrt{\frac{1-c^{t}}{1+c^{t}}\,\frac{1+c}{1-c}}",
    parameters=(
        SENSITIVITY, vocabulary.dataset_size, SIGMA, CONTRACTION, vocabulary.steps,
    ),
    assumes=(*ASSUMES, "full-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("background/bok-gd",),
    validity="argued",
    certify=closed_form(gd_mu),
    vectorised=gd_mu_upper,
    example={"sensitivity": "2", "dataset_size": "50", "noise_on_mean": "0.15", "contraction": "0.9", "steps": "20"},
)

noisy_cgd_mu = Bound(
    name="noisy-cgd.mu",
    unit="mu",
    tightness=bracketed("linear maps, the record in the last batch", closed_form(cgd_attained)),
    summary="mu of the last iterate of noisy cyclic mini-batch gradient descent with fixed disjoint batches",
    formula=(
        r"\mu = \frac{L}{b\sigma}\sqrt{1 + c^{2k-2}\,\frac{1-c^2}{(1-c^k)^2}\,\frac{1-c^{k(E-1)}}{1+c^{k(E-1)}}}"
        r"\quad (k \ge 2;\ \text{NoisyGD for } k = 1)"
    ),
    parameters=(
        SENSITIVITY, vocabulary.batch_size, SIGMA, CONTRACTION, BATCHES, vocabulary.epochs.at_least(1),
    ),
    assumes=(*ASSUMES, "cyclic-batches"),
    neighbours="replace",
    threat_model="last_iterate",
    released="last_iterate",
    source=("relu-approx/thm-2.8-formula",),
    validity="argued",
    certify=closed_form(cgd_mu),
    vectorised=cgd_mu_upper,
    example={  # Figure 1 of document 000 at eta lambda = 1e-4, with sigma and sensitivity per record of the batch
        "sensitivity": "2", "batch_size": "1", "noise_on_mean": "15", "contraction": "0.9999", "batches": "60",
        "epochs": "400",
    },
)
