"""Wrong risk bounds, each with one term dropped or one constant misread: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction

import oracle
from empirical.mutants.changes import another, formula, parameters
from oracle.core.enclosure import ball
from tests.planted import misled

_HUGE = 10**60

MUTANTS = (
    misled(
        "dp-gd.risk", "the textbook's average for the algorithm's",
        formula(lambda v: ball(
            v.distance**2 / (2 * v.learning_rate * v.steps)
            + v.learning_rate * (v.lipschitz**2 + v.dimension * v.noise_on_mean**2) / 2
        )),
    ),
    misled("dp-gd.risk", "noise in one dimension only", parameters(dimension=1)),
    misled(
        "dp-gd-tail.risk", "one of two failures",
        parameters(failure_probability=lambda v: min(2 * v.failure_probability, (1 + v.failure_probability) / 2)),
    ),
    misled("dp-gd-tail.risk", "an average for a tail", another("dp-gd.risk")),
    misled(
        "dp-gd-calibrated.risk", "the sensitivity of adding for that of replacing",
        parameters(dataset_size=lambda v: 2 * v.dataset_size),
    ),
    misled("phased-sgd.risk", "phases without noise", parameters(noise_over_sensitivity=Fraction(0))),
    misled("phased-sgd.risk", "the start forgotten", parameters(distance=Fraction(0))),
    misled(
        "phased-sgd-projected.risk", "unprojected sensitivity",
        parameters(noise_over_sensitivity=lambda v: v.noise_over_sensitivity / 2),
    ),
    misled(
        "phased-sgd-projected.risk", "a projection that distorts nothing",
        formula(lambda v: ball(2 * v.link_lipschitz) * (
            oracle.bound("phased-sgd-projected.risk").certify(v, Fraction(1, 10**20)).lower.ball
            / ball(2 * v.link_lipschitz) - ball(v.link_lipschitz * v.target_norm**2 / v.projected_dimension)
        )),
    ),
    misled("dp-pgd.risk", "the training error for the risk", parameters(dataset_size=_HUGE)),
    misled("dp-pgd.risk", "gradients without noise", parameters(noise_on_mean=Fraction(0))),
    misled("adaptive-batched-gd.risk", "batches without noise", parameters(noise_over_sensitivity=Fraction(0))),
    misled("adaptive-batched-gd.risk", "the best risk forgotten", parameters(optimal_risk=Fraction(0))),
    misled(
        "adaptive-batched-gd-symmetric.risk", "noise that does not grow with the labels",
        parameters(label_bound=Fraction(0)),
    ),
    misled("glmtron.effective-dimension", "half the step", parameters(learning_rate=lambda v: v.learning_rate / 2)),
    misled(
        "glmtron.private-dimension", "the plain dimension for the private one",
        another("glmtron.effective-dimension"),
    ),
    misled("glmtron.risk", "no feedback of the fourth moment", parameters(fourth_moment=Fraction(0))),
    misled("glmtron.risk", "no noise of privacy", parameters(noise_on_mean=Fraction(0))),
    misled("glmtron-recursion.risk", "no noise in the labels", parameters(label_noise=Fraction(0))),
    misled(
        "glmtron-recursion.risk", "an iterate too few", parameters(dataset_size=lambda v: max(1, v.dataset_size - 1)),
    ),
)
