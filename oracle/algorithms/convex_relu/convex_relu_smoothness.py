r"""The convex ReLU model of document 000 (Sections 3 and 6): smoothness, contraction of a step, admissible step sizes.

The model is linear in t = (1(x^T u_i >= 0) x)_{i <= P}, whose norm is sqrt(a) |x| for a active hyperplanes: one score
t^T v, or one a class. The loss of a record, ridge included, is h(scores) + lambda |v|^2 / 2. Its Hessian is the Hessian
M of h, taken times t t^T (a Kronecker product), plus lambda I: between lambda and

    beta = kappa a |x|^2 + lambda,      kappa the largest eigenvalue of M:

    squared     h = |s - y|^2 / 2, M = I                                                            kappa = 1
    logistic    h = log(1 + e^s) - y s, M = p (1 - p) <= 1/4, one score                             kappa = 1/4
    softmax     M = diag p - p p^T; by Gershgorin, p_i (1 - p_i) + sum_{j != i} p_i p_j =
                2 p_i (1 - p_i) <= 1/2, which p = (1/2, 1/2, 0, ...) attains                        kappa = 1/2

(Lemma 3.2 repaired: document 000, text at hand, takes the Hessian for block-diagonal and has a = 1.) A step of size
eta, v <- v - eta (gradient + noise), is then Lipschitz with

    c = max(|1 - eta lambda|, |1 - eta beta|),

at most 1 for eta <= 2/beta ("expansion") and equal to 1 - eta lambda for eta <= 2/(lambda + beta) ("ridge"). A batch's
mean has the same constants, if a and |x| bound every record's.

CLIPPING. All of this is about gradients that are not clipped, or whose clipping keeps the data term the gradient of a
convex function of no larger curvature. With r = grad h, so that the gradient is r times t:

    one score          kept: r is clipped to an interval, stays monotone and its slope at most kappa; so too for several
                       scores with a loss and a clipping of their own each;
    squared            kept, jointly clipped as well: r = s - y is projected onto a ball, the gradient of a convex
                       function of curvature at most 1;
    two-class softmax  kept: r = (p_0 - y_0) (1, -1), so the gradient is a function of the one score (t, -t)^T v;
    softmax otherwise  lost. Clipped as a whole, r has the Jacobian I - r r^T/|r|^2 times M, up to a factor: not
                       symmetric, and its symmetric part has a negative eigenvalue (three classes, label 0, scores
                       (0, 1, -1)). Clipped class by class, rows of M are struck out, with the same effect;
    several logistics  lost if clipped jointly, for the same reason: M is diagonal, but no multiple of I.

It is kept in every case in which clipping never acts: |r| <= sqrt(2) for softmax, since |p - y|^2 <= 2 (1 - p_y)^2.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arrays import UNIT, deflate, inflate
from oracle.core.attainment import truth
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form

CURVATURE = {"squared": Fraction(1), "softmax": Fraction(1, 2), "logistic": Fraction(1, 4)}
_SMALL = 1e-290  # float64 answers between this and its inverse
_ILL_CONDITIONED = 1e-10


def smoothness(loss: str, active: int, norm: Fraction, regularisation: Fraction) -> Fraction:
    """beta, exactly."""
    return CURVATURE[loss] * active * norm**2 + regularisation


def contraction(rate: Fraction, regularisation: Fraction, beta: Fraction) -> Fraction:
    """max(|1 - eta lambda|, |1 - eta beta|), exactly."""
    return max(abs(1 - rate * regularisation), abs(1 - rate * beta))


def _beta(values: Values) -> Fraction:
    return smoothness(values.loss, values.active, values.feature_norm, values.regularisation)


def _step(values: Values) -> Fraction:
    return 2 / (_beta(values) + (values.regularisation if values.step_rule == "ridge" else 0))


def _fast_beta(xp: Any, values: Values) -> Any:
    """beta, to four unit roundoffs; NaN where a part of it nears the ends of the doubles."""
    part = float(CURVATURE[values.loss]) * values.active * (values.feature_norm * values.feature_norm)
    whole = part + values.regularisation
    ordinary = (values.feature_norm > 1e-140) & (part > _SMALL) & (whole < 1 / _SMALL)
    return xp.where(ordinary, whole, math.nan)


def _fast_contraction(xp: Any, values: Values) -> Any:
    """1 - eta lambda or eta beta - 1, whichever is larger (beta >= lambda); NaN where both are nearly 0."""
    ridge, steep = values.learning_rate * values.regularisation, values.learning_rate * _fast_beta(xp, values)
    falling, rising = 1.0 - ridge, steep - 1.0
    slack = 16.0 * UNIT * (1.0 + steep)
    result = xp.where(falling > rising, falling, rising)
    return xp.where((slack < _ILL_CONDITIONED * result) & (steep < 1 / _SMALL), result + slack, math.nan)


def _fast_step(xp: Any, values: Values) -> Any:
    beta = _fast_beta(xp, values)
    whole = beta + values.regularisation if values.step_rule == "ridge" else beta
    return xp.where(whole < 1 / _SMALL, deflate(2.0 / whole, 8.0), math.nan)


_MODEL = (
    vocabulary.loss.choosing(*CURVATURE),
    vocabulary.active,
    vocabulary.feature_norm,
    vocabulary.regularisation,
)
_EXAMPLE = {"loss": "softmax", "active": "64", "feature_norm": "1", "regularisation": "0.01"}
_BETA = (
    r"\beta = \kappa a \lVert x\rVert^2 + \lambda, \quad"
    r" \kappa = 1 \text{ (squared)}, \tfrac12 \text{ (softmax)}, \tfrac14 \text{ (logistic)}"
)
_SOURCE = ("relu-approx/lem-3.2-repaired",)

_ASSUMES = ("convex-relu-model", "bounded-features", "convex-clipping")

smoothness_bound = Bound(
    name="convex-relu.smoothness",
    unit="smoothness",
    tightness=truth("the largest eigenvalue of the Hessian is reached (or approached, by even scores)"),
    summary="largest curvature of the convex ReLU loss of a record, ridge included",
    formula=_BETA,
    parameters=_MODEL,
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=_SOURCE,
    validity="proved",
    certify=closed_form(lambda v: ball(_beta(v))),
    vectorised=lambda xp, v: inflate(_fast_beta(xp, v), 5.0),
    example=_EXAMPLE,
)

contraction_bound = Bound(
    name="convex-relu.contraction",
    unit="contraction",
    tightness=truth("both ends of the Hessian's spectrum are reached by some record"),
    summary="Lipschitz constant of a gradient step on the convex ReLU loss, unclipped or with one output; may exceed 1",
    formula=r"c = \max\left(|1 - \eta\lambda|,\ |1 - \eta\beta|\right), \quad " + _BETA,
    parameters=(vocabulary.learning_rate, *_MODEL),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="last_iterate",
    source=_SOURCE,
    validity="proved",
    certify=closed_form(lambda v: ball(contraction(v.learning_rate, v.regularisation, _beta(v)))),
    vectorised=_fast_contraction,
    example={"learning_rate": "0.01", **_EXAMPLE},
)

step_bound = Bound(
    name="convex-relu.step",
    unit="step_size",
    tightness=truth("both ends of the Hessian's spectrum are reached by some record"),
    summary="largest step size on the convex ReLU loss that does not expand, or that contracts by 1 - eta lambda",
    formula=(
        r"\eta = \frac{2}{\beta} \text{ (expansion)}, \quad \eta = \frac{2}{\lambda + \beta} \text{ (ridge)}, \quad "
        + _BETA
    ),
    parameters=(vocabulary.step_rule, *_MODEL),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="last_iterate",
    source=_SOURCE,
    validity="proved",
    certify=closed_form(lambda v: ball(_step(v))),
    vectorised=_fast_step,
    example={"step_rule": "expansion", **_EXAMPLE},
    safe="lower",
)
