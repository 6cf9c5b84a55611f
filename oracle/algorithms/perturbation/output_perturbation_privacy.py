r"""Output perturbation: noise on the minimiser of a regularised empirical risk.

    F(theta) = (1/n) sum_i l(theta | x_i) + R(theta),      theta(D) = argmin F,      release theta(D) + v.

Each l is convex and L-Lipschitz in theta, R is lambda-strongly convex, n is a constant. Then the minimiser moves by at
most k L / (n lambda), k = 2 for a replaced record and k = 1 for one added or removed: with G for the neighbour's risk
and theta' for its minimiser, strong convexity gives

    F(theta') - F(theta) >= (lambda/2) |theta - theta'|^2,      G(theta) - G(theta') >= (lambda/2) |theta - theta'|^2,

and the sum of the two left sides is (F - G)(theta') - (F - G)(theta) <= (k L / n) |theta - theta'|. It is reached: for
l = <g_i, theta>, |g_i| = L, and R = (lambda/2) |theta|^2 the minimiser is -mean(g) / lambda. Neither strict convexity
of l nor smoothness is needed; without strong convexity (ordinary least squares) no multiple of 1/n is enough.

Where R is the indicator of a convex set plus a strongly convex function, nothing changes. Where the mean is taken over
the records that happen to be there, adding or removing costs as much as replacing (`relation`).

A solver is not an argmin. If its answer is always within `solver_error` of the minimiser, two answers are within k L /
(n lambda) + 2 solver_error (a gradient of norm g there certifies g / lambda); 0 states that it is exact. An answer that
is only usually that close has none of these guarantees.

Noise of density proportional to exp(-|v|/b), whose norm is Gamma(d, b): the log density changes by at most s/b over a
shift of norm s, and by that much along it, so epsilon = s/b in every dimension. Noise N(0, sigma^2 I): the Gaussian
curve at mu = s/sigma, exactly.

Source: Chaudhuri, Monteleoni and Sarwate (2011), Lemma 7 and Theorem 6, whose text was not at hand; the slides of
document 004 were. The derivation above stands on its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from oracle.bounds.sampling.relation import NEIGHBOURS, TERMS
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import inflate, quotient
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines import gaussian_arrays as arrays
from oracle.engines.gaussian_curve import CURVE, epsilon_of_mu, sigma_of


def sensitivity(values: Values) -> Fraction:
    """How far the solver's answer can move, in l2-norm."""
    moved = TERMS[values.neighbours] * values.lipschitz / (values.dataset_size * values.strong_convexity)
    result: Fraction = moved + 2 * values.solver_error
    return result


def _fast_sensitivity(xp: Any, values: Values) -> Any:
    moved = quotient(xp, TERMS[values.neighbours] * values.lipschitz, values.dataset_size, values.strong_convexity)
    return inflate(moved + 2.0 * values.solver_error, 1.0)


_SETTING = (
    vocabulary.lipschitz,
    vocabulary.strong_convexity,
    vocabulary.dataset_size,
    vocabulary.solver_error,
)
_MOVED = r"s = \frac{kL}{n\lambda} + 2\tau, \quad k = 2 \text{ (replace) or } 1 \text{ (add or remove)}"
_GAUSSIAN = CURVE + r", \quad \mu = \frac{s}{\sigma}, \quad " + _MOVED
_SOURCE = ("cs208/output-perturbation",)
_EXAMPLE = {
    "lipschitz": "1", "strong_convexity": "0.01", "dataset_size": "10000", "solver_error": "0", "neighbours": "replace",
}

_ASSUMES = ("convex-losses", "lipschitz-loss", "ridge", "near-minimiser", "constant-size")

epsilon = Bound(
    name="output-perturbation.epsilon",
    unit="epsilon",
    tightness=truth("linear losses with a quadratic regulariser, and a solver that errs along the line, reach it"),
    summary="epsilon of the minimiser of a strongly convex risk plus noise of density exp(-|v|/scale)",
    formula=r"\varepsilon = \frac{s}{b}, \quad " + _MOVED,
    parameters=(*_SETTING, vocabulary.scale, NEIGHBOURS),
    assumes=(*_ASSUMES, "radial-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(lambda v: ball(sensitivity(v) / v.scale)),
    vectorised=lambda xp, v: quotient(xp, _fast_sensitivity(xp, v), v.scale),
    example={**_EXAMPLE, "scale": "0.02"},
)

scale = Bound(
    name="output-perturbation.scale",
    unit="sigma",
    tightness=truth("linear losses with a quadratic regulariser, and a solver that errs along the line, reach it"),
    summary="least scale of noise of density exp(-|v|/scale) that makes the minimiser epsilon-DP",
    formula=r"b = \frac{s}{\varepsilon}, \quad " + _MOVED,
    parameters=(*_SETTING, vocabulary.epsilon.above(0), NEIGHBOURS),
    assumes=(*_ASSUMES, "radial-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="argued",
    certify=closed_form(lambda v: ball(sensitivity(v) / v.epsilon)),
    vectorised=lambda xp, v: quotient(xp, _fast_sensitivity(xp, v), v.epsilon),
    example={**_EXAMPLE, "epsilon": "1"},
)

gaussian_epsilon = Bound(
    name="output-perturbation-gaussian.epsilon",
    unit="epsilon",
    tightness=truth("linear losses with a quadratic regulariser, and a solver that errs along the line, reach it"),
    summary="least epsilon for which the minimiser of a strongly convex risk with Gaussian noise is private at delta",
    formula=_GAUSSIAN,
    parameters=(
        *_SETTING, vocabulary.sigma, vocabulary.delta.open(),
        NEIGHBOURS,
    ),
    assumes=(*_ASSUMES, "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/balle-wang"),
    validity="argued",
    certify=lambda v, width: epsilon_of_mu(lambda: ball(sensitivity(v) / v.sigma), v.delta, width),
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, quotient(xp, _fast_sensitivity(xp, v), v.sigma), v.delta),
    example={**_EXAMPLE, "sigma": "0.02", "delta": "1e-5"},
)

gaussian_sigma = Bound(
    name="output-perturbation-gaussian.sigma",
    unit="sigma",
    tightness=truth("linear losses with a quadratic regulariser, and a solver that errs along the line, reach it"),
    summary="least Gaussian noise that makes the minimiser of a strongly convex risk (epsilon, delta)-DP",
    formula=_GAUSSIAN,
    parameters=(*_SETTING, vocabulary.epsilon, vocabulary.delta.open(), NEIGHBOURS),
    assumes=(*_ASSUMES, "gaussian-noise"),
    neighbours="any",
    threat_model="all_iterates",
    source=(*_SOURCE, "background/balle-wang"),
    validity="argued",
    certify=lambda v, width: sigma_of(sensitivity(v), v.epsilon, v.delta, width),
    vectorised=lambda xp, v: arrays.sigma_upper(xp, _fast_sensitivity(xp, v), v.epsilon, v.delta),
    example={**_EXAMPLE, "epsilon": "1", "delta": "1e-5"},
)
