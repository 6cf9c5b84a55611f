r"""Noisy projected gradient descent for ReLU regression on randomly projected records (002, Algorithm 7): excess risk.

Setting: n i.i.d. records, |x| <= 1, |y| <= B, E[y|x] = relu(<w*, x>), |w*| <= W; L(w) = E(relu(<w,x>) - y)^2. Records
become z = Phi x, Phi an m x d matrix of independent N(0, 1/m). From v_1 = 0, for t = 1, ..., T,

    v_{t+1} = Pi[v_t - eta (mean of (relu(<v_t,z>) - y) z over the n records + zeta_t)],  zeta_t ~ N(0, sigma^2 I_m),

sigma = noise_on_mean, Pi onto the ball of radius R = 2W; Phi^T times the mean of v_1, ..., v_T is released (the text
prints v_T). In expectation over records, noise and Phi

    E L - L(w*) <= 2 [ W^2/(2 eta T) + eta (M^2 + m sigma^2)/2 + 4 W M/sqrt(n) + W^2 (sqrt(1/m) + c_m)^2 ],
    M = 2W sqrt(1 + 2/m) + B,      c_m = (1 + 2/m)^{1/2} sqrt(2) (4 e^{-3})^{m/8}.

Proof. l(v) = E int_0^{<v,z>} (relu(s) - y) ds is convex, and L(Phi^T v) - L(w*) <= 2 (l(v) - l(w*)) as for any
1-Lipschitz non-decreasing link (phased_sgd.py), l(w*) standing for its value without projection. No high-probability
event is needed: |z|^2 is |x|^2 chi^2_m/m, so E|z|^2 <= 1 and E|z|^4 <= 1 + 2/m, and on the ball a record's gradient is
at most R|z|^2 + B|z|, whose root mean square is at most M (Minkowski).
- Comparison point u = Pi(Phi w*): |u| <= |Phi w*|, so E|u|^2 <= W^2.
- Regret: sum over t of E(l_D(v_t) - l_D(u)) <= E|u|^2/(2 eta) + T eta (M^2 + m sigma^2)/2, l_D the empirical surrogate.
- Generalisation, uniformly over the ball instead of by stability, so that no step size or smoothness enters: the gap is
  at most twice the Rademacher complexity; by the contraction principle with each record's own Lipschitz constant
  R|z_i| + B this is at most 2 R/n E sqrt(sum (R|z_i| + B)^2 |z_i|^2) <= 2 R M/sqrt(n). The point u does not depend on
  the records, and E l_D(u) = E l(u).
- Projection: E l(u) - l(w*) <= 1/2 E(<u,z> - <w*,x>)^2. Phi w* instead of u gives E(<Phi w*,z> - <w*,x>)^2 <= 2 W^2/m,
  and |<Phi w* - u, z>| <= |Phi w*| |z| on the event |Phi w*| > 2W and 0 off it, whose mean square is at most
  (E[|Phi w*|^4; |Phi w*| > 2W] E|z|^4)^{1/2}, with E[|Phi w*|^4; |Phi w*| > 2W] <= W^4 (1 + 2/m) 16 (4 e^{-3})^{m/2}
  (bound the indicator by e^{(3/8)(chi^2 - 4m)}: E chi^4 e^{3 chi^2/8} = m (m+2) 4^{m/2+2}). Minkowski's inequality adds
  both up: 1/2 (W sqrt(2/m) + W (1+2/m)^{1/2} 2 (4 e^{-3})^{m/8})^2 = W^2 (sqrt(1/m) + c_m)^2.

Privacy, and the sensitivity of a mean gradient, is another matter (`dp_pgd_privacy`).
The text of 002 (Theorem 6) was at hand; its proof bounds the generalisation by stability and the expectation over Phi
by reference to another paper. The proof above stands on its own.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.attainment import one_sided
from oracle.core.enclosure import ball
from oracle.core.registry import Bound, closed_form
from oracle.engines.rounding import rounded_up


def _risk(v: Values) -> arb:
    m = v.projected_dimension
    fourth = (1 + ball(Fraction(2, m))).sqrt()
    gradient = 2 * ball(v.target_norm) * fourth + ball(v.label_bound)
    outside = fourth * arb(2).sqrt() * ((arb(4).log() - 3) * m / 8).exp()
    regret = ball(v.target_norm**2 / (2 * v.learning_rate * v.steps))
    regret += ball(v.learning_rate) * (gradient**2 + ball(m * v.noise_on_mean**2)) / 2
    generalisation = 4 * ball(v.target_norm) * gradient / ball(v.dataset_size).sqrt()
    projection: arb = ball(v.target_norm) ** 2 * (ball(Fraction(1, m)).sqrt() + outside) ** 2
    surrogate: arb = regret + generalisation + projection
    return arb(2) * surrogate


def _fast_risk(xp: Any, v: Values) -> Any:
    m = v.projected_dimension
    fourth = xp.sqrt(1.0 + 2.0 / m)
    gradient = 2.0 * v.target_norm * fourth + v.label_bound
    # The exponent is rounded like any product; its relative error weighs e^-x x, which is below 1.
    outside = fourth * math.sqrt(2.0) * xp.exp((math.log(4.0) - 3.0) / 8.0 * m)
    regret = 0.5 * v.target_norm * v.target_norm / v.learning_rate / v.steps
    regret = regret + 0.5 * v.learning_rate * (gradient * gradient + m * v.noise_on_mean * v.noise_on_mean)
    root = xp.sqrt(1.0 / m) + outside
    generalisation = 4.0 * v.target_norm * gradient / xp.sqrt(v.dataset_size)
    result = 2.0 * (regret + generalisation + v.target_norm * v.target_norm * root * root)
    return rounded_up(
        xp, result, v.target_norm, v.label_bound, m, v.dataset_size, v.steps, v.learning_rate, v.noise_on_mean,
        units=64.0,
    )


risk = Bound(
    name="dp-pgd.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess population risk, in expectation, of noisy projected gradient descent for ReLU regression",
    formula=(
        r"\mathbb{E}\,L(\Phi^{T}\bar v) - L(w^*) \le 2\left[\frac{W^2}{2\eta T} + \frac{\eta (M^2 + m\sigma^2)}{2}"
        r" + \frac{4 W M}{\sqrt{n}} + W^2\left(\frac{1}{\sqrt{m}} + c_m\right)^2\right],"
        r" \quad M = 2W\sqrt{1 + 2/m} + B,\ c_m = \sqrt{2}\,\sqrt{1 + 2/m}\,(4e^{-3})^{m/8}"
    ),
    parameters=(
        vocabulary.target_norm.above(0), vocabulary.label_bound,
        vocabulary.projected_dimension,
        vocabulary.dataset_size, vocabulary.steps.at_least(1),
        vocabulary.learning_rate,
        vocabulary.noise_on_mean,
    ),
    assumes=(
        "excess-population-risk", "judged-average", "gaussian-noise", "full-batches", "projected-weights",
        "relu-updates", "gaussian-projection", "short-features", "bounded-labels", "start-at-zero",
        "independent-records", "well-specified", "bounded-target",
    ),
    neighbours="replace",
    threat_model="all_iterates",
    source=("nonconvex-nn/thm-6-utility",),
    validity="argued",
    certify=closed_form(_risk),
    vectorised=_fast_risk,
    example={
        "target_norm": "1", "label_bound": "1", "projected_dimension": "100", "dataset_size": "1000000",
        "steps": "1000", "learning_rate": "0.01", "noise_on_mean": "0.01",
    },
    released="average_iterate",
)
