r"""Phased SGD for a bounded link (002, Algorithms 2 and 3): excess population risk of the last phase's noisy average.

Setting (002, Assumption 1, with the link *non-decreasing*, which the text misprints): records are i.i.d., |x| <= 1,
E[y|x] = link(<w*, x>), labels and link lie in [-B, B], the link is G-Lipschitz; L(w) = E(link(<w,x>) - y)^2, and
l(w) = E int_0^{<w,x>} (link(z) - y) dz is its convex surrogate. Phase i = 1, ..., k = floor(log2 n) runs SGD on its own
n_i = floor(n / 2^i) records from w_{i-1} with step eta_i = eta / 4^i and releases w_i = mean of its iterates + zeta_i,
zeta_i ~ N(0, tau_i^2 I). (The text's k = ceil(log2 n) leaves phases without records.) The bounds need no condition on
eta; the privacy does: with eta_i G <= 2 replacing one record moves a phase's mean by at most S_i = 4 B eta_i
(projected, where all |Phi x| <= 2: eta_i G <= 1/2 and S_i = 8 B eta_i), and tau_i = noise_over_sensitivity * S_i.

Risk and surrogate: for u = <w*,x> and v = <w,x>, int_u^v (link(z) - link(u)) dz >= (link(v) - link(u))^2 / (2G), since
link(z) is at least link(u) and at least link(v) - G (v-z); it is at most G (v-u)^2 / 2. So L(w) - L(w*) <= 2G (l(w) -
l(w*)), and l is G-smooth along x without any derivative of the link.

One phase (002, Lemma 8): with wbar_0 = w*, zeta_0 = w_0 - w* and for any comparison point chosen before the phase,
|w^{t+1} - wbar_{i-1}|^2 expands into the regret and eta_i^2 |gradient|^2, |gradient| <= 2B. Only the projections of the
distances onto the span V_i of the phase's records count, as the gradients lie there. Hence

    E l(wbar_i) - l(wbar_{i-1}) <= E|V_i zeta_{i-1}|^2 / (2 eta_i n_i) + 2 B^2 eta_i,

and E|V_i zeta_{i-1}|^2 <= tau_{i-1}^2 min(theta, n_i), theta bounding the expected rank of all records (the text has
theta alone). The last noise costs E l(w_k) - l(wbar_k) <= min(2B sqrt(2/pi) tau_k, G tau_k^2 / 2), by the Lipschitz
constant or by smoothness. Altogether, with D = |w_0 - w*|,

    L <= 2G [ D^2/(2 eta_1 n_1) + sum_{i=2}^k tau_{i-1}^2 min(theta, n_i)/(2 eta_i n_i) + sum_{i=1}^k 2 B^2 eta_i
              + min(2B sqrt(2/pi) tau_k, G tau_k^2/2) ].

For n a power of 2 and tau_i = 8 B eta_i sqrt(log(1/delta))/epsilon (a noise_over_sensitivity of
2 sqrt(log(1/delta))/epsilon) that is at most
2G [4 D^2/(eta n) + 256 B^2 theta log(1/delta) eta/(n epsilon^2) + (2/3) B^2 eta + 2B tau_k].

Projected (Algorithm 3): the same on records (Phi x, y), Phi an m x d matrix of independent N(0, 1/m), from w_0 = 0, and
Phi^T w_k is released. Everything is averaged over Phi as well, which needs no high-probability event: the gradient has
E|gradient|^2 <= 4 B^2 E|Phi x|^2 <= 4 B^2 (so Lemma 9's 2 B^2 eta_i is right in this average; for one Phi with
|Phi x| <= 2 it would be 8 B^2 eta_i), E|Phi w*|^2 = |w*|^2 <= W^2, noise counts with min(m, n_i), and

    E l(Phi w*) - l(w*) <= G/2 E(<Phi w*, Phi x> - <w*, x>)^2 = G/2 E(|w*|^2 |x|^2 + <w*,x>^2)/m <= G W^2/m.

The text of 002 was at hand; the constants are derived here.
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


def _surrogate(v: Values, start: Fraction, sensitivity: int, rank: Fraction) -> arb:
    """The bracket: the start's squared distance, the sensitivity over B eta_i, and the rank of what is learnt from."""
    noise = v.noise_over_sensitivity * sensitivity * v.label_bound  # tau_i / eta_i
    total, eta = Fraction(0), v.base_learning_rate
    phases = v.dataset_size.bit_length() - 1
    for phase in range(1, phases + 1):
        size, before, eta = v.dataset_size >> phase, eta, eta / 4
        gap = start if phase == 1 else (noise * before) ** 2 * min(rank, Fraction(size))
        total += gap / (2 * eta * size) + 2 * v.label_bound**2 * eta
    last = noise * eta
    lipschitz = 2 * ball(v.label_bound * last) * (2 / arb.pi()).sqrt()
    return ball(total) + lipschitz.min(ball(v.link_lipschitz * last**2 / 2))


def _fast_surrogate(xp: Any, v: Values, start: Any, sensitivity: float, rank: Any) -> Any:
    noise = v.noise_over_sensitivity * sensitivity * v.label_bound
    total, eta = 0.0 * start, v.base_learning_rate  # eta / 4^i and n / 2^i are exact
    last = eta
    for phase in range(1, 53 + 1):
        size, before, eta = xp.floor(v.dataset_size / 2.0**phase), eta, 0.25 * eta
        runs = size >= 1.0
        if not bool(xp.any(runs)):
            break
        spread = noise * before
        gap = start if phase == 1 else spread * spread * xp.where(rank < size, rank, size)
        whole = xp.where(runs, size, 1.0)
        total = total + xp.where(runs, 0.5 * gap / eta / whole + 2.0 * v.label_bound * v.label_bound * eta, 0.0)
        last = xp.where(runs, eta, last)
    tau = noise * last
    lipschitz, smooth = 2.0 * math.sqrt(2.0 / math.pi) * v.label_bound * tau, 0.5 * v.link_lipschitz * tau * tau
    return total + xp.where(lipschitz < smooth, lipschitz, smooth)


def _risk(v: Values) -> arb:
    return 2 * ball(v.link_lipschitz) * _surrogate(v, v.distance**2, 4, v.rank)


def _fast_risk(xp: Any, v: Values) -> Any:
    result = 2.0 * v.link_lipschitz * _fast_surrogate(xp, v, v.distance * v.distance, 4.0, v.rank)
    return rounded_up(
        xp, result, v.link_lipschitz, v.label_bound, v.distance, v.rank, v.dataset_size,
        v.base_learning_rate, v.noise_over_sensitivity, units=160.0,
    )


def _projected(v: Values) -> arb:
    projection = ball(v.link_lipschitz * v.target_norm**2 / v.projected_dimension)
    surrogate = _surrogate(v, v.target_norm**2, 8, Fraction(v.projected_dimension))
    return 2 * ball(v.link_lipschitz) * (surrogate + projection)


def _fast_projected(xp: Any, v: Values) -> Any:
    square = v.target_norm * v.target_norm
    surrogate = _fast_surrogate(xp, v, square, 8.0, v.projected_dimension)
    result = 2.0 * v.link_lipschitz * (surrogate + v.link_lipschitz * square / v.projected_dimension)
    return rounded_up(
        xp, result, v.link_lipschitz, v.label_bound, v.target_norm, v.projected_dimension, v.dataset_size,
        v.base_learning_rate, v.noise_over_sensitivity, units=160.0,
    )


_LIPSCHITZ = vocabulary.link_lipschitz.above(0)
_LABEL = vocabulary.label_bound
_SIZE = vocabulary.dataset_size.above(1).at_most(9007199254740992)
_RATE = vocabulary.base_learning_rate
_NOISE = vocabulary.noise_over_sensitivity
_PHASES = (
    r" + \sum_{i=2}^{k} \frac{\tau_{i-1}^2 \min(r, n_i)}{2\eta_i n_i} + \sum_{i=1}^{k} 2B^2\eta_i"
    r" + \min\left(2B\sqrt{2/\pi}\,\tau_k,\ \frac{G\tau_k^2}{2}\right)"
)
_WHERE = r", \quad n_i = \lfloor n/2^i \rfloor,\ \eta_i = \eta/4^i,\ k = \lfloor \log_2 n \rfloor"

_ASSUMES = (
    "excess-population-risk", "judged-phase", "disjoint-phases", "independent-records", "short-features",
    "bounded-labels", "well-specified", "rising-link", "lipschitz-link", "gaussian-noise",
)

risk = Bound(
    name="phased-sgd.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess population risk, in expectation, of phased SGD for a bounded monotone link",
    formula=(
        r"\mathbb{E}\,L(w_k) - L(w^*) \le 2G\left[\frac{D^2}{2\eta_1 n_1}" + _PHASES + r"\right]" + _WHERE
        + r",\ \tau_i = 4\nu B\eta_i"
    ),
    parameters=(
        _LIPSCHITZ, _LABEL, vocabulary.distance,
        vocabulary.rank, _SIZE, _RATE, _NOISE,
    ),
    assumes=(*_ASSUMES, "start-at-distance", "data-rank"),
    neighbours="replace",
    threat_model="last_iterate",
    source=("nonconvex-nn/thm-1-utility",),
    validity="argued",
    certify=closed_form(_risk),
    vectorised=_fast_risk,
    example={
        "link_lipschitz": "1", "label_bound": "1", "distance": "4", "rank": "32", "dataset_size": "262144",
        "base_learning_rate": "0.013", "noise_over_sensitivity": "13.6",
    },
    released="average_iterate",
)

projected = Bound(
    name="phased-sgd-projected.risk",
    unit="risk",
    tightness=one_sided("an inequality on the risk; no problem is known that attains it"),
    summary="excess population risk, in expectation, of phased SGD on randomly projected records",
    formula=(
        r"\mathbb{E}\,L(\Phi^{T} w_k) - L(w^*) \le 2G\left[\frac{W^2}{2\eta_1 n_1}" + _PHASES
        + r" + \frac{G W^2}{m}\right]" + _WHERE + r",\ r = m,\ \tau_i = 8\nu B\eta_i"
    ),
    parameters=(
        _LIPSCHITZ, _LABEL, vocabulary.target_norm,
        vocabulary.projected_dimension, _SIZE, _RATE, _NOISE,
    ),
    assumes=(*_ASSUMES, "start-at-zero", "bounded-target", "gaussian-projection"),
    neighbours="replace",
    threat_model="last_iterate",
    source=("nonconvex-nn/thm-2-utility", "nonconvex-nn/thm-2-jl-term"),
    validity="argued",
    certify=closed_form(_projected),
    vectorised=_fast_projected,
    example={
        "link_lipschitz": "1", "label_bound": "1", "target_norm": "4", "projected_dimension": "1000",
        "dataset_size": "262144", "base_learning_rate": "0.005", "noise_over_sensitivity": "7",
    },
    released="average_iterate",
)
