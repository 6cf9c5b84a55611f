"""What a risk bound assumes is not idle: where one hypothesis fails, a run is above the bound, and a plan says so.

Three runs of our own trainings, each beside a control in which the hypothesis holds and the bound does, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from oracle.core.hypotheses import MET, NOT_MET, UNKNOWN
from oracle.core.planning import CONDITIONAL, DOES_NOT_APPLY, PROVED, JudgedGuarantee, plan
from oracle.core.registry import algorithm, bound
from oracle.core.tape import Tape


def risk(name: str, bounded: str, keys: dict[str, Any]) -> JudgedGuarantee:
    """What a plan says of that bound on the risk."""
    return next(item for item in plan(algorithm(name), keys).risks if item.guarantee.bound == bounded)


def status(item: JudgedGuarantee, name: str) -> str:
    return next(one.status for one in item.hypotheses if one.hypothesis.name == name)


# --- clipping: noisy gradient descent

LONG = 20.0
FEATURES = np.array([[LONG], [1.0], [1.0], [1.0], [1.0]])
LABELS = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
"""One long record against four short ones: clipped to 1, the four win, though the mean loss is the long one's."""
DESCENT: dict[str, Any] = {
    "noise_on_mean": "1e-6", "steps": 8000, "dataset_size": 5, "neighbours": "replace", "loss": "logistic",
    "learning_rate": "9e-4",
}


def mean_loss(theta: float) -> float:
    """The empirical risk of the logistic loss on these records."""
    margins = (FEATURES[:, 0] * theta) * (1 - 2 * LABELS)
    return float(np.mean(np.logaddexp(0.0, margins)))


def excess_of_descent(clip_norm: str) -> float:
    item = algorithm("dp-gd")
    released = item.reference(FEATURES, LABELS, item.parse({**DESCENT, "clip_norm": clip_norm}), Tape(1))
    return mean_loss(float(released[0])) - min(map(mean_loss, np.linspace(0.0, 0.2, 2001)))


@pytest.mark.full
def test_clipping_breaks_the_risk_of_gradient_descent() -> None:
    """The minimiser is at most 0.2 away: a convex loss that falls at 0 and rises at 0.2."""
    assert mean_loss(1e-6) < mean_loss(0.0)
    assert mean_loss(0.2) > mean_loss(0.2 - 1e-6)
    said = {
        **DESCENT, "delta": "1e-5", "released": "average_iterate", "clipped": "true", "lipschitz": "20",
        "distance": "0.2", "dimension": 1, "convex_lipschitz": "true",
    }
    claimed = bound("dp-gd.risk").reference(
        distance="0.2", lipschitz=20, dimension=1, noise_on_mean="1e-6", steps=8000, learning_rate="9e-4"
    )
    limit = claimed.to_floats()[1]
    assert limit < 0.19
    assert excess_of_descent("1") > 8 * limit
    clipped = risk("dp-gd", "dp-gd.risk", {**said, "clip_norm": 1})
    assert (clipped.status, status(clipped, "unclipped")) == (CONDITIONAL, UNKNOWN)
    # No gradient of these losses is longer than 20: clipping at 20 is idle, and the plan proves it.
    assert excess_of_descent("20") < limit
    idle = risk("dp-gd", "dp-gd.risk", {**said, "clip_norm": 20})
    assert (idle.status, status(idle, "unclipped"), idle.risk) == (PROVED, MET, claimed)


# --- clipping: GLMtron

RECORDS = 1000
TRUTH = 2.8
SIGNS = np.where(np.arange(RECORDS) % 2 == 0, 1.0, -1.0)
PASS: dict[str, Any] = {"learning_rate": "0.1", "initial_std": 0, "clip": "shorten"}
"""Features 1 and -1, labels relu(2.8 x) without noise: H = 1, E x^4 = 1."""


def excess_of_glmtron(clip_norm: str, noise: str) -> float:
    """The mean over 400 runs of E (relu(wx) - relu(2.8 x))^2 / 2, which is (w - 2.8)^2 / 4 for a released w >= 0."""
    item = algorithm("dp-glmtron")
    config = item.parse({**PASS, "clip_norm": clip_norm, "noise_over_sensitivity": noise})
    released = item.train_batched(SIGNS[:, None], np.maximum(TRUTH * SIGNS, 0.0), config, Tape(1, 400)).numpy()
    assert released.min() >= 0
    return float(np.mean((released - TRUTH) ** 2) / 4)


@pytest.mark.full
def test_clipping_breaks_the_risk_of_glmtron() -> None:
    """Clipped to 1e-4, a pass of 1000 steps hardly leaves its start; its noise is tiny, and so is the bound."""
    law = {"spectrum": "1", "gap": "7.84", "dataset_size": RECORDS, "fourth_moment": 1, "label_noise": 0}
    limit = bound("glmtron.risk").at({**law, "learning_rate": "0.1", "noise_on_mean": "2e-4"}).to_floats()[1]
    assert limit < 0.002
    assert excess_of_glmtron("1e-4", "1") > 500 * limit
    # The same noise, 2 f gamma, without a step that is clipped: the bound holds.
    assert excess_of_glmtron("10", "1e-5") < limit
    found = risk("dp-glmtron", "glmtron.risk", {
        **PASS, **law, "clip_norm": "1e-4", "noise_over_sensitivity": 1, "epochs": 1, "thresholds": "fixed",
        "delta": "1e-5", "released": "average_iterate", "neighbours": "replace", "symmetric": "true",
        "independent_records": "true", "well_specified": "true",
    })
    assert (found.status, status(found, "unclipped")) == (DOES_NOT_APPLY, NOT_MET)
    assert [one.hypothesis.name for one in found.hypotheses if one.status != MET] == ["unclipped"]


# --- directions

WIDE = 2000
BALL: dict[str, Any] = {
    "lipschitz": 1, "noise_on_mean": "2.5", "steps": 1000, "dataset_size": 1, "neighbours": "replace",
    "learning_rate": "0.01", "radius": 1, "loss": "linear",
}


def test_directions_of_gradients_are_not_the_dimension_on_a_bounded_set() -> None:
    """The loss is -theta_1 on the unit ball; noise in the other coordinates is projected back at theta_1's cost."""
    features = np.eye(1, WIDE)
    item = algorithm("dp-gd-projected")
    released = item.reference(features, np.zeros(1), item.parse(BALL), Tape(1))
    excess = 1.0 - float(released[0])
    said = {
        **BALL, "delta": "1e-5", "released": "average_iterate", "gradients_bounded": "true",
        "failure_probability": "0.05",
    }

    def tail(dimension: int) -> float:
        values = {name: BALL[name] for name in ("lipschitz", "noise_on_mean", "steps", "learning_rate")}
        given = {**values, "distance": 1, "constraint_radius": 2, "failure_probability": "0.05"}
        return bound("dp-gd-tail.risk").at({**given, "dimension": dimension}).to_floats()[1]

    assert excess > 0.95
    assert tail(1) < 0.6
    assert excess < tail(WIDE)
    for stated, expected in (({}, UNKNOWN), ({"all_coordinates": "false"}, NOT_MET)):
        for bounded, name in (("dp-gd-tail.risk", "all-directions"), ("dp-gd.risk", "counted-directions")):
            found = risk("dp-gd-projected", bounded, {**said, "dimension": 1, **stated})
            assert status(found, name) == expected
            assert found.status != PROVED
    whole = risk("dp-gd-projected", "dp-gd-tail.risk", {**said, "dimension": WIDE, "all_coordinates": "true"})
    assert whole.status == PROVED
    assert whole.risk is not None
    assert math.isclose(whole.risk.to_floats()[1], tail(WIDE))
