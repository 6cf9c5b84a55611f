"""Wrong formulas for composition, conversions, trees and responses, to which the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

import oracle
from oracle.enclosure import ball
from oracle.privacy import gaussian, tree
from oracle.registry import Certify, Values, closed_form
from tests.meta import planted_shuffle


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


WRONG: dict[str, tuple[str, Certify]] = {
    **planted_shuffle.WRONG,
    "steps for their root": (
        "gaussian-composed.epsilon",
        lambda v, w: gaussian.epsilon_of_mu(lambda: ball(v.sensitivity * (v.steps or 1) / v.sigma), v.delta, w),
    ),
    "one level too few": (
        "tree.epsilon",
        lambda v, w: gaussian.epsilon_of_mu(
            lambda: (2 if v.neighbours == "replace" else 1) * ball(max(1, tree.levels(v.leaves) - 1)).sqrt()
            / ball(v.noise_multiplier), v.delta, w,
        ),
    ),
    "replace taken for add_remove": (
        "tree.epsilon",
        lambda v, w: gaussian.epsilon_of_mu(
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
        "composition.advanced", closed_form(lambda v: ball(v.steps * v.epsilon).min(
            v.steps * ball(v.epsilon) * ball(v.epsilon).expm1()
            + ball(v.epsilon) * (-2 * v.steps * ball(v.slack).log()).sqrt()
        )),
    ),
    "one mechanism forgotten": (
        "composition.optimal-delta", lambda v, w: oracle.bound("composition.optimal-delta").certify(
            Values(**{**vars(v), "steps": max(0, v.steps - 1)}), w,
        ),
    ),
    "total_delta taken for the slack": (
        "composition.optimal", lambda v, w: oracle.bound("composition.optimal").certify(
            Values(**{**vars(v), "total_delta": v.total_delta / 2, "delta": Fraction(0)}), w,
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
    "one release forgotten": (
        "laplace-composed.delta", lambda v, w: oracle.bound("laplace-composed.delta").certify(
            Values(**{**vars(v), "steps": max(0, v.steps - 1)}), w,
        ),
    ),
}
