"""Wrong risk bounds, each with one term dropped or one constant misread: the second opinions must object."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import oracle
from oracle.core.algorithm import Values
from oracle.core.enclosure import ball
from oracle.core.registry import Certify, closed_form

_HUGE = 10**60


def _with(name: str, **changes: Any) -> Certify:
    """The registered bound at other parameters: a change is a value, or a function of the values given."""

    def certify(v: Values, width: Fraction) -> Any:
        changed = {key: value(v) if callable(value) else value for key, value in changes.items()}
        return oracle.bound(name).certify(Values(**{**vars(v), **changed}), width)

    return certify


WRONG: dict[str, tuple[str, Certify]] = {
    "the textbook's average for the algorithm's": (
        "dp-gd.risk", closed_form(lambda v: ball(
            v.distance**2 / (2 * v.learning_rate * v.steps)
            + v.learning_rate * (v.lipschitz**2 + v.dimension * v.noise_on_mean**2) / 2
        )),
    ),
    "noise in one dimension only": ("dp-gd.risk", _with("dp-gd.risk", dimension=1)),
    "one of two failures": (
        "dp-gd-tail.risk", _with("dp-gd-tail.risk", failure_probability=lambda v: min(2 * v.failure_probability, (1 + v.failure_probability) / 2)),
    ),
    "an average for a tail": ("dp-gd-tail.risk", lambda v, w: oracle.bound("dp-gd.risk").certify(v, w)),
    "the sensitivity of adding for that of replacing": (
        "dp-gd-calibrated.risk", _with("dp-gd-calibrated.risk", dataset_size=lambda v: 2 * v.dataset_size),
    ),
    "phases without noise": ("phased-sgd.risk", _with("phased-sgd.risk", noise_over_sensitivity=Fraction(0))),
    "the start forgotten": ("phased-sgd.risk", _with("phased-sgd.risk", distance=Fraction(0))),
    "unprojected sensitivity": (
        "phased-sgd-projected.risk", _with(
            "phased-sgd-projected.risk", noise_over_sensitivity=lambda v: v.noise_over_sensitivity / 2,
        ),
    ),
    "a projection that distorts nothing": (
        "phased-sgd-projected.risk", closed_form(lambda v: ball(2 * v.link_lipschitz) * (
            oracle.bound("phased-sgd-projected.risk").certify(v, Fraction(1, 10**20)).lower.ball
            / ball(2 * v.link_lipschitz) - ball(v.link_lipschitz * v.target_norm**2 / v.projected_dimension)
        )),
    ),
    "the training error for the risk": ("dp-pgd.risk", _with("dp-pgd.risk", dataset_size=_HUGE)),
    "gradients without noise": ("dp-pgd.risk", _with("dp-pgd.risk", noise_on_mean=Fraction(0))),
    "batches without noise": (
        "adaptive-batched-gd.risk", _with("adaptive-batched-gd.risk", noise_over_sensitivity=Fraction(0)),
    ),
    "the best risk forgotten": (
        "adaptive-batched-gd.risk", _with("adaptive-batched-gd.risk", optimal_risk=Fraction(0)),
    ),
    "noise that does not grow with the labels": (
        "adaptive-batched-gd-symmetric.risk", _with("adaptive-batched-gd-symmetric.risk", label_bound=Fraction(0)),
    ),
    "half the step": (
        "glmtron.effective-dimension",
        _with("glmtron.effective-dimension", learning_rate=lambda v: v.learning_rate / 2),
    ),
    "the plain dimension for the private one": (
        "glmtron.private-dimension", lambda v, w: oracle.bound("glmtron.effective-dimension").certify(v, w),
    ),
    "no feedback of the fourth moment": ("glmtron.risk", _with("glmtron.risk", fourth_moment=Fraction(0))),
    "no noise of privacy": ("glmtron.risk", _with("glmtron.risk", noise_on_mean=Fraction(0))),
    "no noise in the labels": ("glmtron-recursion.risk", _with("glmtron-recursion.risk", label_noise=Fraction(0))),
    "an iterate too few": (
        "glmtron-recursion.risk", _with("glmtron-recursion.risk", dataset_size=lambda v: max(1, v.dataset_size - 1)),
    ),
}
