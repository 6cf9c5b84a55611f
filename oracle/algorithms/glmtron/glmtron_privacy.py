r"""DP-GLMtron (document 003, Algorithm 1): one pass over records in a random, secret order, a Gaussian step for each.

Step t releases w_{t+1} = w_t - eta (l_t + 2 f gamma_t g), g ~ N(0, I), where l_t = x (ReLU(x.w_t) - y) clipped to
norm gamma_t belongs to the record that the order has put there: a Gaussian release with noise f times its sensitivity
2 gamma_t under replace, given everything released before. All iterates may be seen; the last and the average are
computed from them. The value is the smaller of two guarantees, for one delta.

Not shuffled: a record enters one step, the other steps see the same history, so all is one Gaussian release at
mu = 1/f (whatever the order): epsilon_G(1/f, delta). It always holds.

Shuffled: with n = N records, delta0 = delta / (2 (2n - 1)) and epsilon0 = epsilon_G(1/f, delta0), it is
`shuffle.epsilon` at epsilon0, n users and delta/2, by method `upper` or `closed-form`.

Proof. Let k = e^{-epsilon0}; fix a step and its history, let a and b be the laws of the release for the two values of
the record that differs, c that for another one. All are Gaussians whose means lie within one sensitivity, so
(a - b/k)_+ and (b - a/k)_+ have one and the same mass <= delta0, and so have (a - c/k)_+ and (b - c/k)_+ a mass
<= delta0 each.
- Where a > b/k replace both by a' = (a + b)/(1 + k), b' = k (a + b)/(1 + k), where b > a/k the other way round. By the
  symmetry of the two masses a' and b' are laws; each ratio is at most 1/k, a' + b' = a + b, and a' is within
  k delta0/(1 + k) of a in total variation, as is b' of b.
- (k (a + b)/2 - c)_+ has a mass <= k delta0, so some law c' >= k (a' + b')/2 is within k delta0 of c.
Run with a', b', c' for a, b, c (for every history) the pass is what the proof of `shuffle` needs, adaptive
randomisers in random order: each other release is, with probability k, a clone of the one that differs. So it is
(epsilon, delta/2)-DP for that epsilon <= epsilon0. It is within eta = k delta0 (n - 1 + 1/(1 + k)) of the true pass,
for either data set, and (1 + e^epsilon) k <= 1 + k for epsilon <= epsilon0: the true one is (epsilon, .)-DP for

    delta/2 + (1 + e^epsilon) eta <= delta/2 + ((1 + k)(n - 1) + 1) delta0 <= delta/2 + (2n - 1) delta0 = delta.

(Feldman, McMillan and Talwar 2021, Thm 3.8, add (e^epsilon + 1)(1 + k/2) n delta0 for arbitrary randomisers; Lemma D.2
of the document leaves the constant open. Halving delta is a choice; others gain little.)

Both fall in f, since epsilon_G does and `shuffle.epsilon` rises in epsilon0: the least f for an epsilon is the smaller
of the two least f, the shuffled one being the noise for the largest epsilon0 that shuffles to epsilon. For the
closed form that is where the formula is epsilon, or where its condition epsilon0 <= log(n / (16 log(4/delta))) ends.

Hypotheses. The order is uniform and not released. gamma_t does not depend on the records of the pass but through what
was released before (fixed in advance, or from `dp-threshold` on other records: a record is then in one of the two, and
the guarantee is the weaker one, not the sum). Nothing is asked of the loss; that the update is the gradient of a
convex function of w even after clipping, as the derivative of a rising function of x.w times x, would serve
hidden-state bounds of the last iterate alone, which are not used here.

The document's text was at hand; the derivation above stands on its own.
"""

from __future__ import annotations

import functools
from fractions import Fraction

from flint import arb, ctx

from oracle.algorithms.glmtron import glmtron_privacy_arrays as arrays
from oracle.bounds.renyi.zcdp import log_inverse
from oracle.bounds.shuffling import shuffle
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.arithmetic import decreasing_root, enclose, through
from oracle.core.attainment import one_sided
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.registry import Bound
from oracle.engines.gaussian_curve import CURVE, certainly_negative, epsilon_of_mu, sigma_of


def local_delta(records: int, delta: Fraction) -> Fraction:
    """The delta0 of one step."""
    return delta / (2 * (2 * records - 1))


def _gaussian(noise: Fraction, delta: Fraction, width: Fraction) -> Enclosure:
    return epsilon_of_mu(lambda: 1 / ball(noise), delta, width)


def _epsilon(values: Values, width: Fraction) -> Enclosure:
    noise, records, delta = values.noise_over_sensitivity, values.dataset_size, values.delta

    def smaller(epsilon0: Fraction, finer: Fraction) -> Enclosure:
        point = Values(epsilon0=epsilon0, users=records, delta=delta / 2, method=values.method)
        return shuffle.epsilon.certify(point, finer).minimum(_gaussian(noise, delta, finer))

    return through(lambda finer: _gaussian(noise, local_delta(records, delta), finer), smaller, width=width)


# --- the least noise


def _largest_shuffled(values: Values, width: Fraction) -> Enclosure:
    """The largest epsilon0 whose curve of clones is at most delta/2 at epsilon, where it rises from 0 on."""

    def spare(epsilon0: arb) -> arb:
        exact = Dyadic.of(epsilon0).to_fraction()
        point = Values(epsilon0=exact, users=values.dataset_size, epsilon=values.epsilon, method="upper")
        curve = shuffle.delta.certify(point, Fraction(1, 1 << (ctx.prec // 2))).ball
        return ball(values.delta / 2).log() - curve.log() if curve > 0 else arb(1)

    with ctx.workprec(128):
        low = ball(values.epsilon).lower()
        high = (2 * low).max(arb(1)).upper()
        while not certainly_negative(functools.partial(spare, high)):
            low, high = high, (2 * high).mid()
    return decreasing_root(spare, low, high, width=width)


def _largest_by_formula(values: Values, width: Fraction) -> Enclosure:
    """The largest epsilon0 for which the closed form is at most epsilon; never below epsilon itself."""
    epsilon, records = values.epsilon, values.dataset_size

    def logs(above: int) -> arb:
        return log_inverse(values.delta / 2) + arb(above).log()

    def spare(epsilon0: arb) -> arb:
        spread = epsilon0.exp() / records
        size: arb = (epsilon0 / 2).tanh() * (8 * (spread * logs(4)).sqrt() + 8 * spread)
        return ball(epsilon).expm1() - size

    def largest(root: arb) -> arb:
        return ball(epsilon).max(root.min((records / (16 * logs(2))).log()))

    if epsilon == 0:
        return Enclosure.exactly(0)
    with ctx.workprec(128):
        high = (ball(epsilon) + 1).upper()
        while not certainly_negative(functools.partial(spare, high)):
            high = (2 * high).mid()
    root = decreasing_root(spare, arb(0), high, width=width / 8)
    return enclose(lambda: largest(root.ball), width=width)


_LARGEST = {"upper": _largest_shuffled, "closed-form": _largest_by_formula}


def _sigma(values: Values, width: Fraction) -> Enclosure:
    alone = sigma_of(Fraction(1), values.epsilon, values.delta, width)
    delta0 = local_delta(values.dataset_size, values.delta)

    def noise(epsilon0: Fraction, finer: Fraction) -> Enclosure:
        return sigma_of(Fraction(1), epsilon0, delta0, finer).minimum(alone)

    return through(lambda finer: _LARGEST[values.method](values, finer), noise, width=width)


_RECORDS = vocabulary.dataset_size.at_most(10**9)
_METHOD = vocabulary.method.choosing("upper", "closed-form")
_FORMULA = (
    r"\varepsilon = \min\left(\varepsilon_G(\tfrac1f, \delta),\ \mathrm{shuffle}\left(\varepsilon_G\left(\tfrac1f,"
    r" \tfrac{\delta}{2(2N - 1)}\right),\ N,\ \tfrac{\delta}{2}\right)\right), \quad \varepsilon_G(\mu, \delta) ="
    r" \min\{\varepsilon \ge 0 : \delta(\varepsilon) \le \delta\}, \quad " + CURVE
)
_bound = functools.partial(
    Bound, formula=_FORMULA, neighbours="replace", threat_model="all_iterates", released="all_iterates",
    source=(
        "glmtron/thm-4.1-steps", "glmtron/lemma-D.1-gaussian", "glmtron/lemma-D.2-shuffle", "background/shuffle-clones",
    ),
    validity="argued",
)

_ASSUMES = ("replace", "one-pass", "secret-order", "shortening", "gaussian-noise", "past-thresholds")

epsilon = _bound(
    name="glmtron.epsilon",
    unit="epsilon",
    tightness=one_sided("the smaller of two guarantees, one by clones"),
    summary="an epsilon for which DP-GLMtron, one shuffled pass with all iterates released, is (epsilon, delta)-DP",
    parameters=(vocabulary.noise_over_sensitivity.above(0), _RECORDS, vocabulary.delta.open(), _METHOD),
    assumes=_ASSUMES,
    certify=_epsilon,
    vectorised=lambda xp, v: arrays.epsilon_upper(xp, v.noise_over_sensitivity, v.dataset_size, v.delta, v.method),
    example={"noise_over_sensitivity": "10", "dataset_size": "550", "delta": "1e-5", "method": "upper"},
)

sigma = _bound(
    name="glmtron.sigma",
    unit="sigma",
    tightness=one_sided("the smaller of two guarantees, one by clones"),
    summary="least noise f, over the sensitivity of a step, for which glmtron.epsilon is at most epsilon",
    parameters=(_RECORDS, vocabulary.epsilon, vocabulary.delta.open(), _METHOD),
    assumes=_ASSUMES,
    certify=_sigma,
    vectorised=lambda xp, v: arrays.sigma_upper(xp, v.dataset_size, v.epsilon, v.delta, v.method),
    example={"dataset_size": "550", "epsilon": "0.2", "delta": "1e-5", "method": "upper"},
)
