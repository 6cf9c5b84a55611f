"""Wrong formulas for DP-GLMtron, DP-TAGLMtron and DP-Threshold: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

import oracle
from oracle.algorithms.glmtron import glmtron_privacy
from oracle.bounds.matrix import tree_aggregation as tree
from oracle.core.algorithm import Values
from oracle.core.arithmetic import through
from oracle.core.enclosure import Enclosure, ball
from oracle.core.registry import Certify
from oracle.engines import gaussian_curve


def _certified(name: str, v: Values, width: Fraction, **changed: object) -> Enclosure:
    return oracle.bound(name).certify(Values(**{**vars(v), **changed}), width)


def _shuffled(v: Values, width: Fraction, delta0: Fraction) -> Enclosure:
    """The shuffled guarantee alone, at any local delta."""

    def outer(epsilon0: Fraction, finer: Fraction) -> Enclosure:
        point = Values(epsilon0=epsilon0, users=v.dataset_size, delta=v.delta / 2, method=v.method)
        return oracle.bound("shuffle.epsilon").certify(point, finer)

    return through(
        lambda finer: gaussian_curve.epsilon_of_mu(lambda: 1 / ball(v.noise_over_sensitivity), delta0, finer), outer, width=width
    )


def one_delta_for_all_steps(v: Values, width: Fraction) -> Enclosure:
    """delta0 = delta/2, as if one step's failure were all that can go wrong."""
    alone = gaussian_curve.epsilon_of_mu(lambda: 1 / ball(v.noise_over_sensitivity), v.delta, width)
    return _shuffled(v, width, v.delta / 2).minimum(alone)


WRONG: dict[str, tuple[str, Certify]] = {
    "one step's delta for all steps": ("glmtron.epsilon", one_delta_for_all_steps),
    "one touch of a record forgotten": (
        "glmtron.epsilon", lambda v, w: _shuffled(v, w, glmtron_privacy.local_delta(v.dataset_size, v.delta)),
    ),
    "shuffling forgotten": (
        "glmtron.sigma", lambda v, w: gaussian_curve.sigma_of(Fraction(1), v.epsilon, v.delta, w),
    ),
    "a sensitivity of half the clipped range": (
        "glmtron.sigma", lambda v, w: gaussian_curve.sigma_of(Fraction(1, 2), v.epsilon, v.delta, w),
    ),
    "the thresholds forgotten": (
        "glmtron-adaptive.epsilon", lambda v, w: oracle.bound("glmtron.epsilon").certify(
            Values(noise_over_sensitivity=v.noise_over_sensitivity, dataset_size=v.dataset_size, delta=v.delta, method="upper"), w,
        ),
    ),
    "the padded tree": (
        "taglmtron.epsilon", lambda v, w: gaussian_curve.epsilon_of_mu(
            lambda: (2 if v.neighbours == "replace" else 1) * ball(tree.levels(v.dataset_size)).sqrt()
            / ball(v.noise_multiplier), v.delta, w,
        ),
    ),
    "the document's f under replace": (
        "taglmtron.sigma", lambda v, w: _certified("taglmtron.sigma", v, w, neighbours="add_remove"),
    ),
    "one histogram for those of a call": (
        "dp-threshold.epsilon", lambda v, w: _certified("dp-threshold.epsilon", v, w, histograms=1),
    ),
    "delta for the half of it that a lone bin survives with": (
        "dp-threshold.delta", lambda v, w: _certified("dp-threshold.delta", v, w, threshold_delta=v.threshold_delta * 2),
    ),
    "one bin for the two that change": (
        "dp-threshold.delta", lambda v, w: oracle.bound("laplace-composed.delta").certify(
            Values(scale=Fraction(2), sensitivity=v.epsilon, steps=v.histograms * v.calls, epsilon=v.total_epsilon), w,
        ),
    ),
}
