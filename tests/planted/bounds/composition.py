"""Wrong formulas for composition, conversions, trees, responses and samples: the second opinions must object."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

import oracle
from empirical.gate.making.points import fixed_points
from empirical.mutants.changes import another, certified, formula, parameters
from empirical.mutants.checks import POINTS
from oracle.bounds.matrix import tree_aggregation as tree
from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure, ball
from oracle.engines import gaussian_curve
from oracle.engines.composed_pairs import Composition, PoissonGaussian, compose
from tests.planted import loose, wrong


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


def of_adding(name: str) -> dict[str, Any]:
    """The usual points, where a record is added or removed: all of them share the first word, which is replace."""
    points = fixed_points(oracle.bound(name), POINTS, seed=1)
    return {"points": [{**point, "neighbours": "add_remove"} for point in points]}


MUTANTS = (
    loose(
        "gaussian-composed.epsilon", "steps for their root",
        certified(
            lambda v, w: gaussian_curve.epsilon_of_mu(
                lambda: ball(v.sensitivity * (v.steps or 1) / v.sigma), v.delta, w,
            )
        ),
    ),
    wrong(
        "tree.epsilon", "one level too few",
        certified(lambda v, w: gaussian_curve.epsilon_of_mu(
            lambda: (2 if v.neighbours == "replace" else 1) * ball(max(1, tree.levels(v.leaves) - 1)).sqrt()
            / ball(v.noise_multiplier), v.delta, w,
        )),
    ),
    wrong(
        "tree.epsilon", "replace taken for add_remove",
        certified(lambda v, w: gaussian_curve.epsilon_of_mu(
            lambda: ball(tree.levels(v.leaves)).sqrt() / ball(v.noise_multiplier), v.delta, w
        )),
    ),
    loose("randomised-response.delta", "epsilon ignored", formula(lambda v: ball(2 * v.keep - 1))),
    wrong(
        "gaussian-classical.sigma", "1 for 1.25",
        formula(lambda v: (-2 * ball(v.delta).log()).sqrt() * ball(v.sensitivity / v.epsilon)),
    ),
    loose(
        "zcdp.epsilon", "the order where the bound is not least",
        another("rdp.epsilon", alpha=Fraction(10), rdp=lambda v: 10 * v.rho, conversion="canonne"),
    ),
    loose("rdp.epsilon", "Mironov for Canonne", parameters(conversion="mironov")),
    loose(
        "composition.advanced", "e^epsilon - 1 for its half tangent",
        formula(lambda v: ball(v.steps * v.base_epsilon).min(
            v.steps * ball(v.base_epsilon) * ball(v.base_epsilon).expm1()
            + ball(v.base_epsilon) * (-2 * v.steps * ball(v.slack).log()).sqrt()
        )),
    ),
    wrong("composition.optimal-delta", "one mechanism forgotten", parameters(steps=lambda v: max(0, v.steps - 1))),
    loose(
        "composition.optimal", "total_delta taken for the slack",
        parameters(delta=lambda v: v.delta / 2, base_delta=Fraction(0)),
    ),
    wrong("poisson-gaussian.rdp", "the divergence in the smaller direction", formula(added_record)),
    loose(
        "poisson-gaussian.rdp", "replace for add_remove",
        parameters(neighbours=lambda v: {"add_remove": "replace", "replace": "add_remove"}[v.neighbours]),
        at=of_adding("poisson-gaussian.rdp"),
    ),
    loose(
        "poisson-gaussian.rdp", "a real order rounded up", parameters(alpha=lambda v: Fraction(-(-v.alpha // 1))),
    ),
    wrong(
        "poisson-gaussian.epsilon", "the direction of adding alone", certified(added_only),
        at=of_adding("poisson-gaussian.epsilon"),
    ),
    wrong("poisson-gaussian.epsilon", "a step forgotten", parameters(steps=lambda v: max(0, v.steps - 1))),
    wrong(
        "poisson-gaussian.delta", "a sampled step amplified once",
        certified(lambda v, w: oracle.bound("gaussian-composed.delta").certify(
            Values(sigma=v.sigma, sensitivity=v.sampling_rate, steps=v.steps, epsilon=v.epsilon), w,
        ) if v.steps and v.sampling_rate else oracle.bound("poisson-gaussian.delta").certify(v, w)),
    ),
    wrong(
        "poisson-gaussian.sigma", "a delta a thousandth too large",
        parameters(delta=lambda v: v.delta * Fraction(1001, 1000)),
    ),
    wrong("laplace-composed.delta", "one release forgotten", parameters(steps=lambda v: max(0, v.steps - 1))),
    wrong(
        "amplification.poisson", "the base's epsilon times the rate",
        formula(lambda v: ball(v.base_epsilon * v.sampling_rate)),
    ),
    loose("amplification.wor-delta", "the rate left out of delta", formula(lambda v: ball(v.base_delta))),
    wrong(
        "amplification.poisson-delta", "the rate taken for its complement",
        formula(lambda v: ball((1 - v.sampling_rate) * v.base_delta)),
    ),
    wrong("amplification.wor", "a record too many in the data", parameters(dataset_size=lambda v: v.dataset_size + 1)),
    wrong(
        "amplification.with-replacement", "draws without replacement for draws with",
        another(
            "amplification.poisson",
            sampling_rate=lambda v: min(Fraction(1), Fraction(v.draws, v.dataset_size)),
        ),
    ),
    wrong(
        "amplification.with-replacement-delta", "copies forgotten in delta",
        formula(lambda v: ball((1 - (1 - Fraction(1, v.dataset_size)) ** v.draws) * v.base_delta)),
    ),
    wrong("wor-gaussian.rdp", "a sensitivity of 1 for 2", parameters(sigma=lambda v: 2 * v.sigma)),
    wrong(
        # the divergence of the attained pair alone, which is below that of the pair that dominates all
        "wor-gaussian.rdp", "only one side of the loss",
        formula(lambda v: ball(v.steps / (v.alpha - 1)) * _one_sided(v).log()),
    ),
    wrong(
        "wor-gaussian.epsilon", "amplified once for every batch",
        another("gaussian-composed.epsilon", sensitivity=lambda v: 2 * v.sampling_rate),
    ),
)
