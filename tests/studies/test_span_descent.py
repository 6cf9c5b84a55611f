"""DP-PGD in the span of its records: the reduction has the twin's law, and the studies of Theorem 6 refuse bad data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from empirical.studies.nonconvex_nn import relu_descent, span_descent
from empirical.studies.nonconvex_nn.span_descent import Atoms, Descent, span_risks
from empirical.studies.study import Array
from oracle.core.errors import OracleError
from oracle.core.registry import algorithm
from oracle.core.tape import Tape

COUNTS, UPS = np.array([20, 12, 8]), np.array([13, 5, 4])
MODELS = 3000


@dataclass(frozen=True)
class SameData(Atoms):
    """Atoms whose data are not drawn: what a twin's models share."""

    def draw(self, records: int, rng: np.random.Generator) -> tuple[Array, Array]:
        return COUNTS.astype(float), UPS.astype(float)


LAW = SameData(COUNTS / 40, np.array([0.6, -0.5, 0.4]), 0.25)
# Steps so noisy that the projection acts in most of them.
RUN = Descent(records=40, rows=60, steps=12, rate=0.5, noise=0.4, radius=2.0)


def twin_risks() -> Array:
    labels = np.concatenate([
        np.repeat([mean + 0.25, mean - 0.25], [up, count - up])
        for mean, count, up in zip(LAW.means, COUNTS, UPS, strict=True)
    ])
    descent = algorithm("dp-pgd")
    config = descent.parse({
        "noise_on_mean": Fraction(RUN.noise), "weight_bound": 1, "label_bound": 1, "projected_dimension": RUN.rows,
        "steps": RUN.steps, "learning_rate": Fraction(RUN.rate),
    })
    released = descent.train_batched(np.repeat(np.eye(3), COUNTS, axis=0), labels, config, Tape(5, models=MODELS))
    return LAW.risk(released.numpy())


def reduced_risks() -> Array:
    return span_risks(LAW, RUN, [np.random.Generator(np.random.Philox([3, r])) for r in range(MODELS)])


def apart(one: Array, other: Array) -> float:
    """The difference of two means in standard errors."""
    return float(abs(one.mean() - other.mean()) / math.sqrt(one.var() / len(one) + other.var() / len(other)))


def test_the_reduction_has_the_twins_law() -> None:
    # Three statistics, each beyond 4 standard errors with probability 6e-5.
    twin, reduced = twin_risks(), reduced_risks()
    assert apart(twin, reduced) < 4
    assert apart(np.log(twin), np.log(reduced)) < 4
    assert apart((twin > np.median(twin)).astype(float), (reduced > np.median(twin)).astype(float)) < 4


def test_the_triangle_is_that_of_a_gaussian_matrix() -> None:
    rng, count = np.random.Generator(np.random.Philox(1)), 4000
    grams = np.stack([u.T @ u for u in (span_descent.triangle(6, 3, rng) for _ in range(count))])
    direct = rng.standard_normal((count, 6, 3)) / math.sqrt(6)
    others = direct.transpose(0, 2, 1) @ direct
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2)):
        assert apart(grams[:, i, j], others[:, i, j]) < 4
        assert apart(grams[:, i, j] ** 2, others[:, i, j] ** 2) < 4


def test_a_run_of_the_study_is_the_same_however_it_is_cut() -> None:
    spot = relu_descent.private.spot(2**13)
    whole = relu_descent.sample(spot, 1, range(4))
    parts = [relu_descent.sample(spot, 1, range(0, 1)), relu_descent.sample(spot, 1, range(1, 4))]
    assert np.allclose(whole, np.concatenate(parts), rtol=1e-9)


def test_the_schedule_is_the_theorems() -> None:
    run = relu_descent.plan(relu_descent.private.spot(2**15))
    assert run.rows == 256
    assert run.rows * run.noise**2 == pytest.approx(math.log(2e5) / math.log(1e5), rel=1e-2)  # the constant 1/800
    assert run.steps == math.floor(2**30 / (800 * 256 * math.log(1e5)))
    assert abs(run.records - 2 ** (64 / 3)) <= 1


@pytest.mark.parametrize(("broken", "words"), [
    ({"target": np.full(16, 0.3)}, "W"), ({"spread": 0.9}, "B"), ({"probabilities": np.full(16, 0.1)}, "probabilities"),
])
def test_data_beyond_the_hypotheses_are_refused(
    broken: dict[str, object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = relu_descent.atoms(16)
    monkeypatch.setattr(relu_descent, "atoms", lambda rank: replace(honest, **broken))  # type: ignore[arg-type]
    with pytest.raises(OracleError, match=words):
        replace(relu_descent.private, grid=(2**10,), simulation=replace(
            relu_descent.private.simulation, at=(2**10,))).check_premises()  # type: ignore[type-var]
