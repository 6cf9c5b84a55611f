"""The studies of 003: chains against other routes, exact risks, bounds, premises that refuse, planted errors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from empirical.studies.glmtron import needed_noise, private_terms, relu_data, shuffled_rates
from empirical.studies.glmtron.relu_chains import LOWER, UPPER, Pass, node_weights, shuffled_sandwich, tree_sandwich
from empirical.studies.levels import level_of
from empirical.studies.outcome import judge
from empirical.studies.study import Study
from oracle.core.errors import OracleError
from oracle.core.registry import bound

PLACE = np.arange(1.0, 7)
SMALL = Pass(PLACE**-2, PLACE**-0.5, 16, 0.2, 0.5, 0.3)


def forward(run: Pass, c: float, share: float) -> float:
    """The shuffled chain walked forwards, the iterates' correlations by a second vector."""
    size, eta = run.spectrum, run.rate
    now, past, total = run.target**2, np.zeros_like(size), 0.0
    for _ in range(run.records):
        total += float(size @ (now + 2 * past))
        energy = float(size @ now)
        past = (1 - eta * size / 2) * (now + past)
        now = (1 - eta * size + 2 * c * (eta * size) ** 2) * now + c * eta**2 * size * energy
        now = now + eta**2 * (run.label**2 * size + run.noise**2)
    return share * total / run.records**2


def test_backwards_is_forwards() -> None:
    """Both chains of the shuffled pass, by the recursion of the text."""
    assert shuffled_sandwich(SMALL) == pytest.approx((forward(SMALL, LOWER, 1 / 8), forward(SMALL, UPPER, 1 / 4)))


def test_the_upper_chain_is_the_certified_bound() -> None:
    """The library's recursion is the same upper chain, derived and computed by other code."""
    known = bound("glmtron-recursion.risk").at({
        "spectrum": list(SMALL.spectrum), "gap": list(SMALL.target**2), "dataset_size": SMALL.records,
        "learning_rate": SMALL.rate, "label_noise": SMALL.label, "noise_on_mean": SMALL.noise,
    })
    assert shuffled_sandwich(SMALL)[1] == pytest.approx(float(known.ball.mid()), rel=1e-12)


def answers(levels: int) -> np.ndarray[Any, Any]:
    """Which nodes (columns, by the leaf that completes them) are in which answers, by binary digits."""
    size = 2**levels
    live = np.zeros((size, size))
    for count in range(1, size + 1):
        rest = count
        while rest:
            live[count - 1, rest - 1] = 1
            rest &= rest - 1
    return live


@pytest.mark.parametrize("levels", [0, 1, 2, 5])
def test_node_weights_by_enumeration(levels: int) -> None:
    """The closed form against every node of the tree."""
    q, size = 0.93, 2**levels
    weights = q ** np.arange(size - 1, -1, -1.0) @ answers(levels)
    assert node_weights(q, levels) == pytest.approx(float(weights @ weights), rel=1e-12)


def test_the_tree_chain_by_covariances() -> None:
    """One direction, w* = 0: the second moments from the covariance matrix of all answers, without the recursion."""
    levels, size, eta, noise = 4, 16, 0.3, 0.7
    run = Pass(np.array([1.0]), np.zeros(1), size, eta, 0.0, noise)
    q = 1 - eta / 2
    covariance = noise**2 * answers(levels) @ answers(levels).T
    steps = np.eye(size) - np.eye(size, k=-1)  # of the noise of the answers
    response = -eta * np.array([[q ** (t - s) if t >= s else 0.0 for s in range(size)] for t in range(size)]) @ steps
    known = np.concatenate([[0.0], np.diag(response @ covariance @ response.T)])  # E u_t^2, t = 0, ..., N
    rest, variances = 0.0, []
    for t in range(size):
        moment = known[t] + rest
        variances.append(eta**2 * (1.5 - 0.25) * moment)  # E<x,w>^2 x^2/2 = 3/2, less the square of the mean
        rest = q**2 * rest + variances[-1]
    mean = np.ones(size) @ response
    total = mean @ covariance @ mean
    total += sum(v * sum(q**k for k in range(size - t)) ** 2 for t, v in enumerate(variances))
    assert tree_sandwich(run)[1] == pytest.approx(total / size**2 / 4, rel=1e-12)


def test_risk_by_quadrature() -> None:
    """The closed form of the risk against an integral over the angle of a plane Gaussian."""
    a, b = np.array([1.3, -0.4]), np.array([0.2, 0.9])

    def square(angle: mpmath.mpf) -> mpmath.mpf:
        scores = [max(0, float(v[0]) * mpmath.cos(angle) + float(v[1]) * mpmath.sin(angle)) for v in (a, b)]
        return (scores[0] - scores[1]) ** 2

    corners = sorted({0.0, 2 * math.pi, *(
        (math.atan2(v[1], v[0]) + turn) % (2 * math.pi) for v in (a, b) for turn in (math.pi / 2, -math.pi / 2)
    )})
    exact = mpmath.quad(square, corners) / (2 * mpmath.pi)  # E radius^2/2 = 1
    assert relu_data.risk_of(a[None], b)[0] == pytest.approx(float(exact), rel=1e-12)
    near = b * (1 + 1e-7)
    assert relu_data.risk_of(near[None], b)[0] == pytest.approx(1e-14 * float(b @ b) / 4, rel=1e-5)


def test_bounds_enclose_chains() -> None:
    """Theorems 4.2 and 4.4 with constants stand on either side of the sandwich, also for other step sizes."""
    for study in (shuffled_rates.constant_cube, shuffled_rates.nonprivate_cube, shuffled_rates.exponential_constant):
        for rate in (study.setting["rate"], study.setting["rate"] / 30):
            spot = {**study.setting, "rate": rate, "N": 128}
            low, high = shuffled_sandwich(relu_data.pass_at(spot))
            assert relu_data.lower_bound(spot) < low < high < relu_data.upper_bound(spot)


@pytest.mark.parametrize(
    ("study", "change"),
    [
        (shuffled_rates.constant_cube, {"rate": 3}),
        (shuffled_rates.constant_cube, {"dimension": 3}),
        (shuffled_rates.constant_cube, {"noise": 10**9}),
        (shuffled_rates.constant_cube, {"exponent": -1}),
        (private_terms.shuffled, {"label": 1}),
        (private_terms.tree_improved, {"target": 1}),
        (needed_noise.admitted, {"share": 2}),
    ],
)
def test_premises_refuse(study: Study, change: dict[str, Any]) -> None:
    """A generator that breaks a hypothesis: too large a step, a spectrum that is cut or rises, clipping, labels."""
    study.check_premises()
    with pytest.raises(OracleError, match="breaks a hypothesis"):
        dataclasses.replace(study, setting={**study.setting, **change}).check_premises()


def test_premises_refuse_a_tree_that_is_not_full() -> None:
    """The closed forms of the tree are those of a power of two."""
    with pytest.raises(OracleError, match="power of two"):
        dataclasses.replace(private_terms.tree_mean, grid=(64, 96)).check_premises()


def outcome_with(study: Study, keys: Callable[[Pass], dict[str, Any]], name: str) -> str:
    """The verdict at N = 64 with a simulator that makes its noise by `keys`."""
    risks = relu_data.trained_risks(name, keys, 4)
    spot = study.spot(64)
    per = relu_data.pass_at(spot).noise ** 2 * private_terms.effective(relu_data.pass_at(spot), 1)
    errors = risks(spot, 5, range(12)) / per
    runs = {64: np.stack([errors, np.full(len(errors), np.nan)], axis=1)}
    assert study.exact is not None
    curves = {64: study.exact(spot)}
    levels = [level_of(study, 64, runs[64], curves[64])]
    return judge(dataclasses.replace(study, predicted=None), levels, curves, runs, family=1).verdict


@pytest.mark.parametrize(
    ("study", "keys", "name", "key"),
    [
        (private_terms.shuffled, relu_data.pass_noise, "dp-glmtron", "noise_over_sensitivity"),
        (private_terms.tree_improved, relu_data.tree_noise, "dp-taglmtron", "noise_multiplier"),
    ],
)
@pytest.mark.full
def test_a_wrong_noise_factor_is_found(study: Study, keys: Any, name: str, key: str) -> None:
    """The twin agrees with the exact chain; with noise twice as large it does not (seed fixed: 4 standard errors)."""
    small = dataclasses.replace(study, setting={**study.setting, "dimension": 16})
    assert outcome_with(small, keys, name) == "HELD"
    assert outcome_with(small, lambda run: {**keys(run), key: 2 * keys(run)[key]}, name) == "CONTRADICTED"


def test_explicit_noise_suffices() -> None:
    """The f of the explicit bound of `needed_noise` is private by the library's accountant."""
    spot = needed_noise.closed_form.spot(10**5)
    f = needed_noise.closed_form.bound(spot) * spot_scale(spot)  # type: ignore[misc]
    reached = bound("glmtron.epsilon").at({
        "noise_over_sensitivity": float(f.upper()) * (1 + 1e-12), "dataset_size": spot["N"],
        "delta": needed_noise._delta(spot), "method": "closed-form",
    })
    assert reached.upper.to_fraction() <= needed_noise._epsilon(spot)


def spot_scale(spot: Any) -> float:
    """What the estimand of the amplification studies is divided by, from its definition."""
    delta = float(needed_noise._delta(spot))
    return math.log(spot["N"] / delta) / float(needed_noise._epsilon(spot))
