"""Wrong formulas for composition, conversions, trees, responses and samples: the second opinions must object."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

import oracle
from oracle.bounds.matrix import tree_aggregation as tree
from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Certify, closed_form
from oracle.engines import gaussian_curve
from oracle.engines.composed_pairs import Composition, PoissonGaussian, compose


def added_record(v: Values) -> arb:
    """The divergence of the Gaussian from the mixture, by a plain fine sum: below that of the mixture from it."""
    if v.steps == 0 or v.sampling_rate in (0, 1):
        return v.steps * ball(v.alpha * v.sampling_rate / (2 * v.sigma * v.sigma))
    a, q, h = ball(1 / v.sigma), ball(v.sampling_rate), ball(Fraction(1, 20))
    nodes = [h * j for j in range(-260, 261)]
    u = [1 - q + q * (a * y - a * a / 2).exp() for y in nodes]
    terms = [(-y * y / 2 + (1 - ball(v.alpha)) * x.log()).exp() for y, x in zip(nodes, u, strict=True)]
    moment = sum(terms, arb(0)) * h / (2 * arb.pi()).sqrt()
    return v.steps * moment.log() / ball(v.alpha - 1)


def added_only(v: Values, width: Fraction) -> Enclosure:
    """The epsilon of the pair of adding a record, where there are two directions."""
    whole = compose([(PoissonGaussian(v.sigma, v.sampling_rate), v.steps)], neighbours=v.neighbours)
    return Composition(whole.directions[-1:]).epsilon(v.delta, width=width)


def _one_sided(v: Values) -> arb:
    """int phi u^alpha for an integer alpha, by expanding the power."""
    square, rate, alpha, total = ball(4 / v.sigma**2), v.sampling_rate, int(v.alpha), arb(0)
    for j in range(alpha + 1):
        weight = math.comb(alpha, j) * (1 - rate) ** (alpha - j) * rate**j
        total += ball(weight) * (j * (j - 1) * square / 2).exp()
    return total


WRONG: dict[str, tuple[str, Certify]] = {
    "steps for their root": (
        "gaussian-composed.epsilon",
        lambda v, w: gaussian_curve.epsilon_of_mu(lambda: ball(v.sensitivity * (v.steps or 1) / v.sigma), v.delta, w),
    ),
    "one level too few": (
        "tree.epsilon",
        lambda v, w: gaussian_curve.epsilon_of_mu(
            lambda: (2 if v.neighbours == "replace" else 1) * ball(max(1, tree.levels(v.leaves) - 1)).sqrt()
            / ball(v.noise_multiplier), v.delta, w,
        ),
    ),
    "replace taken for add_remove": (
        "tree.epsilon",
        lambda v, w: gaussian_curve.epsilon_of_mu(
            lambda: ball(tree.levels(v.leaves)).sqrt() / ball(v.noise_multiplier), v.delta, w
        ),
    ),
    "epsilon ignored": ("randomised-response.delta", closed_form(lambda v: ball(2 * v.keep - 1))),
    "1 for 1.25": (
        "gaussian-classical.sigma",
        closed_form(lambda v: (-2 * ball(v.delta).log()).sqrt() * ball(v.sensitivity / v.epsilon)),
    ),
    "the order where the bound is not least": (
        "zcdp.epsilon", lambda v, w: oracle.bound("rdp.epsilon").certify(
            Values(alpha=Fraction(10), rdp=10 * v.rho, delta=v.delta, conversion="canonne"), w,
        ),
    ),
    "Mironov for Canonne": (
        "rdp.epsilon", lambda v, w: oracle.bound("rdp.epsilon").certify(
            Values(**{**vars(v), "conversion": "mironov"}), w,
        ),
    ),
    "e^epsilon - 1 for its half tangent": (
        "composition.advanced", closed_form(lambda v: ball(v.steps * v.base_epsilon).min(
            v.steps * ball(v.base_epsilon) * ball(v.base_epsilon).expm1()
            + ball(v.base_epsilon) * (-2 * v.steps * ball(v.slack).log()).sqrt()
        )),
    ),
    "one mechanism forgotten": (
        "composition.optimal-delta", lambda v, w: oracle.bound("composition.optimal-delta").certify(
            Values(**{**vars(v), "steps": max(0, v.steps - 1)}), w,
        ),
    ),
    "total_delta taken for the slack": (
        "composition.optimal", lambda v, w: oracle.bound("composition.optimal").certify(
            Values(**{**vars(v), "delta": v.delta / 2, "base_delta": Fraction(0)}), w,
        ),
    ),
    "the divergence in the smaller direction": ("poisson-gaussian.rdp", closed_form(added_record)),
    "replace for add_remove": (
        "poisson-gaussian.rdp", lambda v, w: oracle.bound("poisson-gaussian.rdp").certify(
            Values(**{**vars(v), "neighbours": {"add_remove": "replace", "replace": "add_remove"}[v.neighbours]}), w,
        ),
    ),
    "a real order rounded up": (
        "poisson-gaussian.rdp", lambda v, w: oracle.bound("poisson-gaussian.rdp").certify(
            Values(**{**vars(v), "alpha": Fraction(-(-v.alpha // 1))}), w,
        ),
    ),
    "the direction of adding alone": ("poisson-gaussian.epsilon", added_only),
    "a step forgotten": (
        "poisson-gaussian.epsilon", lambda v, w: oracle.bound("poisson-gaussian.epsilon").certify(
            Values(**{**vars(v), "steps": max(0, v.steps - 1)}), w,
        ),
    ),
    "a sampled step amplified once": (
        "poisson-gaussian.delta", lambda v, w: oracle.bound("gaussian-composed.delta").certify(
            Values(sigma=v.sigma, sensitivity=v.sampling_rate, steps=v.steps, epsilon=v.epsilon), w,
        ) if v.steps and v.sampling_rate else oracle.bound("poisson-gaussian.delta").certify(v, w),
    ),
    "a delta a thousandth too large": (
        "poisson-gaussian.sigma", lambda v, w: oracle.bound("poisson-gaussian.sigma").certify(
            Values(**{**vars(v), "delta": v.delta * Fraction(1001, 1000)}), w,
        ),
    ),
    "one release forgotten": (
        "laplace-composed.delta", lambda v, w: oracle.bound("laplace-composed.delta").certify(
            Values(**{**vars(v), "steps": max(0, v.steps - 1)}), w,
        ),
    ),
    "the base's epsilon times the rate": (
        "amplification.poisson", closed_form(lambda v: ball(v.base_epsilon * v.sampling_rate)),
    ),
    "the rate left out of delta": ("amplification.wor-delta", closed_form(lambda v: ball(v.base_delta))),
    "the rate taken for its complement": (
        "amplification.poisson-delta", closed_form(lambda v: ball((1 - v.sampling_rate) * v.base_delta)),
    ),
    "a record too many in the data": (
        "amplification.wor", lambda v, w: oracle.bound("amplification.wor").certify(
            Values(**{**vars(v), "dataset_size": v.dataset_size + 1}), w,
        ),
    ),
    "draws without replacement for draws with": (
        "amplification.with-replacement", lambda v, w: oracle.bound("amplification.poisson").certify(
            Values(base_epsilon=v.base_epsilon, sampling_rate=min(Fraction(1), Fraction(v.draws, v.dataset_size))), w,
        ),
    ),
    "copies forgotten in delta": (
        "amplification.with-replacement-delta",
        closed_form(lambda v: ball((1 - (1 - Fraction(1, v.dataset_size)) ** v.draws) * v.base_delta)),
    ),
    "a sensitivity of 1 for 2": (
        "wor-gaussian.rdp", lambda v, w: oracle.bound("wor-gaussian.rdp").certify(
            Values(**{**vars(v), "sigma": 2 * v.sigma}), w,
        ),
    ),
    "only one side of the loss": (
        # the divergence of the attained pair alone, which is below that of the pair that dominates all
        "wor-gaussian.rdp", closed_form(lambda v: ball(v.steps / (v.alpha - 1)) * _one_sided(v).log()),
    ),
    "amplified once for every batch": (
        "wor-gaussian.epsilon", lambda v, w: oracle.bound("gaussian-composed.epsilon").certify(
            Values(sigma=v.sigma, sensitivity=2 * v.sampling_rate, steps=v.steps, delta=v.delta), w,
        ),
    ),
}
