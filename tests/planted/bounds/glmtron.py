"""Wrong formulas for DP-GLMtron, DP-TAGLMtron and DP-Threshold: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

import oracle
from empirical.mutants.changes import another, certified, parameters
from oracle.algorithms.glmtron import glmtron_privacy
from oracle.bounds.matrix import tree_aggregation as tree
from oracle.core.algorithm import Values
from oracle.core.arithmetic import through
from oracle.core.enclosure import Enclosure, ball
from oracle.engines import gaussian_curve
from tests.planted import loose, wrong


def _shuffled(v: Values, width: Fraction, delta0: Fraction) -> Enclosure:
    """The shuffled guarantee alone, at any local delta."""

    def outer(epsilon0: Fraction, finer: Fraction) -> Enclosure:
        point = Values(epsilon0=epsilon0, users=v.dataset_size, delta=v.delta / 2, method=v.method)
        return oracle.bound("shuffle.epsilon").certify(point, finer)

    return through(
        lambda finer: gaussian_curve.epsilon_of_mu(
            lambda: 1 / ball(v.noise_over_sensitivity), delta0, finer,
        ), outer, width=width
    )


def one_delta_for_all_steps(v: Values, width: Fraction) -> Enclosure:
    """delta0 = delta/2, as if one step's failure were all that can go wrong."""
    alone = gaussian_curve.epsilon_of_mu(lambda: 1 / ball(v.noise_over_sensitivity), v.delta, width)
    return _shuffled(v, width, v.delta / 2).minimum(alone)


MUTANTS = (
    wrong("glmtron.epsilon", "one step's delta for all steps", certified(one_delta_for_all_steps)),
    loose(
        "glmtron.epsilon", "one touch of a record forgotten",
        certified(lambda v, w: _shuffled(v, w, glmtron_privacy.local_delta(v.dataset_size, v.delta))),
    ),
    loose(
        "glmtron.sigma", "shuffling forgotten",
        certified(lambda v, w: gaussian_curve.sigma_of(Fraction(1), v.epsilon, v.delta, w)),
    ),
    wrong(
        "glmtron.sigma", "a sensitivity of half the clipped range",
        certified(lambda v, w: gaussian_curve.sigma_of(Fraction(1, 2), v.epsilon, v.delta, w)),
    ),
    wrong(
        "glmtron-adaptive.epsilon", "the thresholds forgotten",
        another("glmtron.epsilon", method="upper"),
    ),
    loose(
        "taglmtron.epsilon", "the padded tree",
        certified(lambda v, w: gaussian_curve.epsilon_of_mu(
            lambda: (2 if v.neighbours == "replace" else 1) * ball(tree.levels(v.dataset_size)).sqrt()
            / ball(v.noise_multiplier), v.delta, w,
        )),
    ),
    wrong("taglmtron.sigma", "the document's f under replace", parameters(neighbours="add_remove")),
    wrong("dp-threshold.epsilon", "one histogram for those of a call", parameters(histograms=1)),
    loose(
        "dp-threshold.delta", "delta for the half of it that a lone bin survives with",
        parameters(threshold_delta=lambda v: v.threshold_delta * 2),
    ),
    wrong(
        "dp-threshold.delta", "one bin for the two that change",
        another(
            "laplace-composed.delta", scale=Fraction(2), sensitivity=lambda v: v.threshold_epsilon,
            steps=lambda v: v.histograms * v.calls,
        ),
    ),
)
