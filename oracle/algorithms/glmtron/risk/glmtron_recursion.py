r"""DP-GLMtron on Gaussian features: the excess risk by walking the chain of second moments step by step.

The setting is that of `glmtron_risk`, with x ~ N(0, H). Then E[xx^T A xx^T] = 2 HAH + tr(HA) H is known, and along the
eigenvectors of H the upper chain of second moments a_i = E<w_t - w*, v_i>^2 is a recursion on vectors,

    a_i <- (1 - eta lambda_i + eta^2 lambda_i^2) a_i + eta^2 lambda_i (S/2 + label_noise^2) + eta^2 noise_on_mean^2,
    S = sum lambda_j a_j,

since <v_i, (HA + AH) v_i> eta/2 = eta lambda_i a_i and <v_i, (eta^2/2) (2 HAH + tr(HA) H) v_i> = eta^2 (lambda_i^2 a_i
+ lambda_i S/2). Correlations of the iterates decay by q_i = 1 - eta lambda_i/2 a step, so that with b_i <- q_i (b_i +
a_i), the sum of what is left of all iterates before,

    E L(mean of w_0, ..., w_{N-1}) - L(w*) <= 1/(4 N^2) sum_t sum_i lambda_i (a_{t,i} + 2 b_{t,i}).

The only losses are the two inequalities for relu (a factor 2 at most each). It needs eta lambda_i <= 2 and nothing
else, though the chain grows without bound where eta is too large. All quantities are >= 0 and rise with one another, so
that upper bounds propagate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from oracle.algorithms.glmtron.risk.glmtron_blocks import Direction, total
from oracle.algorithms.glmtron.risk.glmtron_risk import EXAMPLE, GAP, LABEL, NOISE, RATE, SPECTRUM
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import DEFAULT_WIDTH, is_narrow
from oracle.core.attainment import one_sided
from oracle.core.domain import shown
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, closed_form
from oracle.engines.rounding import rounded_up

_MOST_STEPS = 100_000  # the recursion takes every step
_FEW = 50_000  # directions by steps that balls walk soon enough; more go in blocks (`glmtron_blocks`)
_EDGE = 1e-9


def _check(v: Values) -> None:
    eta = v.learning_rate
    for size in v.spectrum:
        if eta * size > 2:
            raise DomainError(
                f"learning_rate = {shown(eta)} is above 2/lambda for the entry lambda = {shown(size)} of spectrum:"
                " the bound needs learning_rate * lambda <= 2"
            )


def _directions(v: Values) -> list[Direction]:
    eta = v.learning_rate
    return [
        Direction(
            size, gap, kept=1 - eta * size + (eta * size) ** 2, memory=1 - eta * size / 2, fed=eta**2 * size / 2,
            fresh=eta**2 * (size * v.label_noise**2 + v.noise_on_mean**2),
        )
        for size, gap in zip(v.spectrum, v.gap, strict=True)
    ]


def _walk(v: Values) -> arb:
    """The bound, step by step in balls."""
    rows = _directions(v)
    sizes, kept, memory = ([ball(getattr(row, name)) for row in rows] for name in ("size", "kept", "memory"))
    fed, fresh, now = ([ball(getattr(row, name)) for row in rows] for name in ("fed", "fresh", "gap"))
    past, total = [arb(0)] * len(now), arb(0)
    for _ in range(v.dataset_size):
        energy = sum((size * a for size, a in zip(sizes, now, strict=True)), arb(0))
        total += energy + 2 * sum((size * b for size, b in zip(sizes, past, strict=True)), arb(0))
        past = [q * (a + b) for q, a, b in zip(memory, now, past, strict=True)]
        now = [k * a + f * energy + c for k, f, c, a in zip(kept, fed, fresh, now, strict=True)]
    return total / arb(4 * v.dataset_size**2)


def _by_blocks(v: Values) -> arb | None:
    """The bound in blocks, where balls would walk long and extended numbers serve; at the working precision."""
    if len(v.spectrum) * v.dataset_size <= _FEW:
        return None
    found = total(_directions(v), v.dataset_size)
    return None if found is None else found.ball / arb(4 * v.dataset_size**2)


def _risk(v: Values, width: Fraction) -> Enclosure:
    _check(v)
    with ctx.workprec(128):
        value = _by_blocks(v)
        if value is not None and is_narrow(value, width):
            return Enclosure.of_ball(value)
    return closed_form(_walk)(v, width)


def _risk_soon(v: Values) -> Enclosure:
    """The bound of a relative width also above 1: where the chain grows it has thousands of digits before the point."""
    _check(v)
    with ctx.workprec(128):
        value = _by_blocks(v)
        if value is not None and is_narrow(value / value.mid(), DEFAULT_WIDTH):
            return Enclosure.of_ball(value)
    return closed_form(_walk)(v, DEFAULT_WIDTH)


def _fast_risk(xp: Any, v: Values) -> Any:
    size = v.spectrum
    reach = v.learning_rate[..., None] * size
    if bool(xp.any(reach > 2.0 + _EDGE)):
        worst = xp.reshape(xp.max(reach, axis=-1), (-1,))
        raise DomainError(
            f"learning_rate = {float(xp.reshape(v.learning_rate, (-1,))[int(xp.argmax(worst))])} is above 2/lambda for"
            " an entry lambda of spectrum: the bound needs learning_rate * lambda <= 2"
        )
    square = (v.learning_rate * v.learning_rate)[..., None]
    label, noise = (v.label_noise * v.label_noise)[..., None], (v.noise_on_mean * v.noise_on_mean)[..., None]
    memory, kept, fed = 1.0 - 0.5 * reach, 1.0 - reach + reach * reach, 0.5 * square * size
    fresh = square * (size * label + noise)
    now, past, total = v.gap, 0.0 * v.gap, 0.0 * v.learning_rate
    for step in range(int(xp.max(v.dataset_size)) if math.prod(v.dataset_size.shape) else 0):
        energy = xp.sum(size * now, axis=-1)
        both = energy + 2.0 * xp.sum(size * past, axis=-1)
        total = xp.where(v.dataset_size > step, total + both, total)
        past = memory * (now + past)
        now = kept * now + fed * energy[..., None] + fresh
    result = 0.25 * total / v.dataset_size / v.dataset_size
    # Up to 3/2 neither 1 - reach/2 nor 1 - reach + reach^2 has an error above 6 units; a step adds two sums and the
    # rounding of the energy (a unit for each direction) to the relative error of `now`, less to that of `past`, and one
    # to that of the total.
    safe = xp.all(reach < 1.5, axis=-1) & ((result == 0.0) | ((result > 1e-250) & (result < 1e250)))
    result = xp.where(safe, result, math.nan)
    return rounded_up(
        xp, result, size, v.gap, v.learning_rate, v.label_noise, v.noise_on_mean,
        units=40.0 + 2.0 * size.shape[-1] + (14.0 + size.shape[-1]) * v.dataset_size,
    )


risk = Bound(
    name="glmtron-recursion.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess population risk of DP-GLMtron's averaged iterate on Gaussian features, by its recursion",
    formula=(
        r"\frac{1}{4N^2}\sum_{t<N}\sum_i \lambda_i (a_{t,i} + 2 b_{t,i}), \quad"
        r" a_{t+1,i} = (1 - \eta\lambda_i + \eta^2\lambda_i^2) a_{t,i}"
        r" + \eta^2\lambda_i\left(\tfrac{1}{2}\sum_j \lambda_j a_{t,j} + s_y^2\right) + \eta^2 s^2,"
        r"\ b_{t+1,i} = (1 - \tfrac{1}{2}\eta\lambda_i)(a_{t,i} + b_{t,i})"
    ),
    parameters=(
        SPECTRUM, GAP, vocabulary.dataset_size.at_most(_MOST_STEPS), RATE, LABEL, NOISE,
    ),
    assumes=(
        "excess-population-risk", "judged-average", "unclipped", "fixed-noise", "gaussian-noise", "one-pass",
        "start-at-gap", "independent-records", "relu-labels", "gaussian-features",
    ),
    neighbours="any",
    threat_model="all_iterates",
    source=("glmtron/lemma-D.4-half", "glmtron/lemma-D.5", "glmtron/risk-sandwich"),
    validity="argued",
    certify=_risk,
    soon=_risk_soon,
    vectorised=_fast_risk,
    example=EXAMPLE,
    released="average_iterate",
)
