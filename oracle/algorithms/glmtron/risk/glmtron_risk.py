r"""DP-GLMtron with a fixed noise (003, Theorem 4.2): effective dimensions and the excess risk of the averaged iterate.

Setting: x and -x have one law, H = E xx^T has the eigenvalues lambda_i, E[xx^T A xx^T] <= alpha tr(HA) H for A >= 0
(alpha = fourth_moment, 3 for Gaussian x), y = relu(<w*,x>) + z, E[z|x] = 0, E[z^2|x] <= label_noise^2; L(w) =
E(relu(<w,x>) - y)^2/2. One pass over N fresh records, w_{t+1} = w_t - eta ((relu(<w_t,x>) - y) x + xi_t), xi_t ~ N(0,
s^2 I), s = noise_on_mean (2 f Gamma in 003); the mean of w_0, ..., w_{N-1} is released. No gradient is clipped, and the
noise does not depend on the data or on w_t: the theorem as stated lets it grow with w_t, for which it is false.

The chain. Let d_t = w_t - w* and a_{t,i} = E<d_t, v_i>^2 along the eigenvectors v_i; the `gap` is a_0. Averaging over x
and -x, E[(relu(<w,x>) - relu(<w*,x>)) x] = H d/2 and E[(relu(<w,x>) - relu(<w*,x>))^2 xx^T] <= E[<d,x>^2 xx^T]/2. With
q_i = 1 - eta lambda_i/2, S_t = sum lambda_i a_{t,i},

    a_{t+1,i} <= q_i^2 a_{t,i} + eta^2 lambda_i (alpha S_t/2 + label_noise^2) + eta^2 s^2.                         (1)

As E[d_k | d_t] = (I - eta H/2)^{k-t} d_t, and L(w) - L(w*) <= |w - w*|_H^2 / 4 (same signs: half of the squared
difference of <w,x> and <w*,x>, halved again by -x; opposite signs: less),

    E L(mean) - L(w*) <= 1/(4 N^2) sum_t sum_i lambda_i a_{t,i} (1 + 2 sum_{j<N-t} q_i^j, j >= 1)
                      <= 1/(eta N^2) sum_t sum_i a_{t,i} (1 - q_i^{N-t}).                                        (2)

Closed form, for eta alpha tr(H) <= 1 (then eta lambda_i/2 <= 1/2 and 1 - q_i^2 >= 3 eta lambda_i/4). Solve (1), put it
into (2) and use 1 - q_i^N <= min(1, N eta lambda_i/2) and sum_{j<N} q_i^{2j} <= min(N, 4/(3 eta lambda_i)): the start
contributes the first line below, and a disturbance of c_i per step at most

    1/(eta N) sum_i c_i min(1, N eta lambda_i/2)^2 2/(eta lambda_i).

With D_eff = sum min(1, (N eta' lambda_i)^2) and D_pri = sum min(1, (N eta' lambda_i)^2)/lambda_i at eta' = eta/2,

    E L - L(w*) <= 1/(eta N^2) sum_i gap_i min(1, N eta lambda_i/2) min(N, 4/(3 eta lambda_i))
                   + 2 (label_noise^2 D_eff + s^2 D_pri)/N + alpha D_eff/N^2 sum_t S_t.

The last term is the feedback of S_t through alpha. Multiply (1) by lambda_i and sum over i and t, h_i = min(N lambda_i,
4/(3 eta)):  sum_t S_t <= [sum h_i gap_i + N eta^2 (label_noise^2 sum lambda_i h_i + s^2 sum h_i)] / (1 - rho), with
rho = eta^2 alpha/2 sum lambda_i h_i <= 2/3.

D_eff and D_pri are 003's k* + N^2 eta^2 sum_{i>k*} lambda_i^2 and sum_{i<=k*} 1/lambda_i + N^2 eta^2 sum_{i>k*}
lambda_i, k* the number of lambda_i >= 1/(eta N): each term is the smaller of the two. 003's variance induction is false
(it bounds E[xx^T H^{-1} xx^T] by alpha tr(H) I, the truth being about d H); the derivation above does without it, and
its feedback of the private noise, alpha eta^2 s^2 sum h_i D_eff/N up to 1 - rho, is what the repair adds.

The text of 003 (damaged by scanning) was at hand; the proof stands on its own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.core import hypotheses, vocabulary
from oracle.core.algorithm import Values
from oracle.core.attainment import one_sided, truth
from oracle.core.domain import shown
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError
from oracle.core.registry import Bound, closed_form
from oracle.engines.rounding import rounded_up

_EDGE = 1e-9  # a step size this close to the largest is judged by the reference


def _total(balls: list[arb]) -> arb:
    return sum(balls, arb(0))


def effective(v: Values, rate: Fraction, power: int) -> arb:
    """sum min(1, (N rate lambda)^2) / lambda^power."""
    terms = [(min(Fraction(1), (v.dataset_size * rate * size) ** 2), size) for size in v.spectrum]
    return _total([ball(share / size**power) for share, size in terms])


def fast_effective(xp: Any, v: Values, rate: Any, power: int) -> Any:
    """The same on arrays, neither rounded up nor guarded."""
    reach = (v.dataset_size * rate)[..., None] * v.spectrum
    share = xp.where(reach < 1.0, reach * reach, 1.0)
    return xp.sum(share / v.spectrum if power else share, axis=-1)


def _risk(v: Values) -> arb:
    eta, count, trace = v.learning_rate, v.dataset_size, sum(v.spectrum, Fraction(0))
    if eta * v.fourth_moment * trace > 1:
        raise DomainError(
            f"learning_rate = {shown(eta)} is above 1/(fourth_moment * trace) for fourth_moment ="
            f" {shown(v.fourth_moment)} and a spectrum of trace {shown(trace)}: the bound needs"
            " learning_rate * fourth_moment * trace <= 1"
        )
    heights = [min(count * size, Fraction(4, 3) / eta) for size in v.spectrum]
    label, noise = v.label_noise**2, v.noise_on_mean**2
    start = _total([
        ball(gap * min(Fraction(1), count * eta * size / 2) * height / size)
        for gap, size, height in zip(v.gap, v.spectrum, heights, strict=True)
    ]) / ball(eta * count**2)
    reached = _total([ball(size * height) for size, height in zip(v.spectrum, heights, strict=True)])
    drift = _total([ball(gap * height) for gap, height in zip(v.gap, heights, strict=True)])
    drift += ball(count * eta**2) * (ball(label) * reached + ball(noise) * _total([ball(h) for h in heights]))
    drift /= 1 - ball(eta**2 * v.fourth_moment / 2) * reached
    head, private = effective(v, eta / 2, 0), effective(v, eta / 2, 1)
    noises: arb = 2 * (ball(label) * head + ball(noise) * private) / count
    feedback: arb = ball(v.fourth_moment) * head * drift / count**2
    return start + noises + feedback


def _fast_risk(xp: Any, v: Values) -> Any:
    eta, count = v.learning_rate, v.dataset_size
    used = eta * v.fourth_moment * xp.sum(v.spectrum, axis=-1)
    if bool(xp.any(used > 1.0 + _EDGE)):
        at = int(xp.argmax(xp.reshape(used, (-1,))))
        raise DomainError(
            f"learning_rate = {float(xp.reshape(eta, (-1,))[at])} is above 1/(fourth_moment * trace of spectrum) at"
            f" fourth_moment = {float(xp.reshape(v.fourth_moment, (-1,))[at])}: the bound needs"
            " learning_rate * fourth_moment * trace <= 1"
        )
    step, number, size = eta[..., None], count[..., None], v.spectrum
    flat, steep = number * size, 4.0 / 3.0 / step
    height = xp.where(flat < steep, flat, steep + 0.0 * flat)
    reach = 0.5 * number * step * size
    start = xp.sum(v.gap * xp.where(reach < 1.0, reach, 1.0) * height / size, axis=-1) / eta / count / count
    label, noise = v.label_noise * v.label_noise, v.noise_on_mean * v.noise_on_mean
    reached = xp.sum(size * height, axis=-1)
    drift = count * eta * eta * (label * reached + noise * xp.sum(height, axis=-1))
    drift = (xp.sum(v.gap * height, axis=-1) + drift) / (1.0 - 0.5 * eta * eta * v.fourth_moment * reached)
    head, private = fast_effective(xp, v, 0.5 * eta, 0), fast_effective(xp, v, 0.5 * eta, 1)
    result = start + 2.0 * (label * head + noise * private) / count + v.fourth_moment * head * drift / count / count
    result = xp.where(used < 1.0 - _EDGE, result, math.nan)
    return rounded_up(
        xp, result, v.spectrum, v.gap, count, eta, v.fourth_moment, v.label_noise, v.noise_on_mean,
        units=100.0 + 8.0 * size.shape[-1],
    )


def _fast_dimension(power: int) -> Any:
    return lambda xp, v: rounded_up(
        xp, fast_effective(xp, v, v.learning_rate, power), v.spectrum, v.dataset_size, v.learning_rate,
        units=16.0 + 2.0 * v.spectrum.shape[-1],
    )


SPECTRUM = vocabulary.spectrum
GAP = vocabulary.gap
STEPS = vocabulary.dataset_size
RATE = vocabulary.learning_rate
LABEL = vocabulary.label_noise
NOISE = vocabulary.noise_on_mean
_SPECTRUM = "1,0.25,0.1111,0.0625,0.04,0.0278,0.0204,0.0156"
EXAMPLE = {
    "spectrum": _SPECTRUM, "gap": "1,1,1,1,1,1,1,1", "dataset_size": "500", "learning_rate": "0.1",
    "label_noise": "0.5", "noise_on_mean": "0.5",
}

_ASSUMES = (
    "excess-population-risk", "judged-average", "unclipped", "fixed-noise", "gaussian-noise", "one-pass",
    "start-at-gap", "independent-records", "relu-labels", "symmetric-features", "fourth-moments",
)

dimension = Bound(
    name="glmtron.effective-dimension",
    unit="dimension",
    tightness=truth("a definition: the value is what is asked for"),
    summary="effective dimension of a spectrum after a number of steps: what label noise is multiplied by",
    formula=(
        r"D_{\mathrm{eff}} = k^* + N^2\eta^2 \sum_{i > k^*} \lambda_i^2,"
        r" \quad k^* = \#\{i : \lambda_i \ge 1/(\eta N)\}"
    ),
    parameters=(SPECTRUM, STEPS, RATE),
    assumes=hypotheses.NONE,
    neighbours="any",
    threat_model="all_iterates",
    source=("glmtron/effective-dimensions",),
    validity="proved",
    certify=closed_form(lambda v: effective(v, v.learning_rate, 0)),
    vectorised=_fast_dimension(0),
    example={"spectrum": _SPECTRUM, "dataset_size": "500", "learning_rate": "0.1"},
    released="average_iterate",
)

private_dimension = Bound(
    name="glmtron.private-dimension",
    unit="dimension",
    tightness=truth("a definition: the value is what is asked for"),
    summary="private effective dimension of a spectrum: what the noise of privacy is multiplied by",
    formula=(
        r"D_{\mathrm{pri}} = \sum_{i \le k^*} \frac{1}{\lambda_i} + N^2\eta^2 \sum_{i > k^*} \lambda_i,"
        r" \quad k^* = \#\{i : \lambda_i \ge 1/(\eta N)\}"
    ),
    parameters=(SPECTRUM, STEPS, RATE),
    assumes=hypotheses.NONE,
    neighbours="any",
    threat_model="all_iterates",
    source=("glmtron/effective-dimensions", "glmtron/simplified-case-1"),
    validity="proved",
    certify=closed_form(lambda v: effective(v, v.learning_rate, 1)),
    vectorised=_fast_dimension(1),
    example={"spectrum": _SPECTRUM, "dataset_size": "500", "learning_rate": "0.1"},
    released="average_iterate",
)

risk = Bound(
    name="glmtron.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess population risk, in expectation, of DP-GLMtron's averaged iterate, in closed form",
    formula=(
        r"\frac{1}{\eta N^2}\sum_i g_i \min\left(1, \frac{N\eta\lambda_i}{2}\right) \min\left(N,"
        r" \frac{4}{3\eta\lambda_i}\right) + \frac{2(s_y^2 D_{\mathrm{eff}} + s^2 D_{\mathrm{pri}})}{N}"
        r" + \frac{\alpha D_{\mathrm{eff}}}{N^2} \cdot \frac{\sum_i h_i g_i + N\eta^2 (s_y^2 \sum_i \lambda_i h_i"
        r" + s^2 \sum_i h_i)}{1 - \frac{\alpha\eta^2}{2}\sum_i \lambda_i h_i},"
        r" \quad h_i = \min\left(N\lambda_i, \frac{4}{3\eta}\right), \text{ dimensions at } \eta/2"
    ),
    parameters=(
        SPECTRUM, GAP, STEPS, RATE, vocabulary.fourth_moment, LABEL, NOISE,
    ),
    assumes=_ASSUMES,
    neighbours="any",
    threat_model="all_iterates",
    source=("glmtron/thm-4.2-private-repaired", "glmtron/thm-4.2-reading-fixed"),
    validity="argued",
    certify=closed_form(_risk),
    vectorised=_fast_risk,
    example={**EXAMPLE, "fourth_moment": "3"},
    released="average_iterate",
)
