"""The vectorised contour sum: never below the certified epsilon, close to it where it answers, NaN where it cannot."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import array_api_compat.numpy as numpy_namespace
import numpy as np
import pytest
import torch

from oracle.core.algorithm import Values
from oracle.core.enclosure import Enclosure
from oracle.core.registry import bound
from oracle.engines import contour_plan_arrays
from oracle.engines.composed_pairs import PoissonGaussian, compose
from oracle.engines.contour_arrays import upper_bound
from oracle.engines.contour_plan_arrays import StepColumn

DIRECTIONS = {"add_remove": ("remove", "add"), "replace": ("replace",)}


def fast(points: list[tuple[float, float, float, float]], neighbours: str) -> Any:
    columns = [np.array(column) for column in zip(*points, strict=True)]
    with np.errstate(all="ignore"):
        return upper_bound(numpy_namespace, *columns[:3], DIRECTIONS[neighbours], delta=columns[3])


def drawn(count: int) -> list[tuple[float, float, float, float]]:
    """Everyday settings, fixed by a seed."""
    rng = np.random.default_rng(11)
    return [
        (
            float(10 ** rng.uniform(-0.1, 1.3)), float(10 ** rng.uniform(-3, -0.5)),
            float(math.floor(10 ** rng.uniform(2.3, 5))), float(10 ** rng.uniform(-9, -2)),
        )
        for _ in range(count)
    ]


@pytest.mark.full
@pytest.mark.parametrize("neighbours", DIRECTIONS)
def test_sound_and_close_on_everyday_settings(neighbours: str) -> None:
    points = drawn(24)
    values = fast(points, neighbours)
    answered = 0
    for (sigma, rate, steps, delta), value in zip(points, values, strict=True):
        if math.isnan(value):
            continue
        answered += 1
        part = PoissonGaussian(Fraction(sigma), Fraction(rate))
        lower, upper = compose([(part, int(steps))], neighbours=neighbours).epsilon(Fraction(delta)).to_floats()
        assert value >= lower, f"unsound at {(sigma, rate, steps, delta)}: {value} < {lower}"
        assert value <= upper * (1 + 1e-9), f"loose at {(sigma, rate, steps, delta)}: {value} > {upper}"
    assert answered >= 22


def test_numpy_and_torch_agree() -> None:
    points = drawn(8)
    columns = [torch.tensor(column, dtype=torch.float64) for column in zip(*points, strict=True)]
    import array_api_compat.torch as torch_namespace

    other = upper_bound(torch_namespace, *columns[:3], DIRECTIONS["add_remove"], delta=columns[3]).numpy()
    np.testing.assert_allclose(other, fast(points, "add_remove"), rtol=1e-8)


@pytest.mark.filterwarnings("ignore:torch.asarray")
def test_tensors_of_the_processor_are_lent_to_numpy_and_their_answer_is_a_tensor() -> None:
    """Bit for bit the answer of arrays; what a gradient is asked of is not lent."""
    item, points = bound("poisson-gaussian.epsilon"), drawn(5)
    names = ("sigma", "sampling_rate", "steps", "delta")
    arrays = {name: np.array(column) for name, column in zip(names, zip(*points, strict=True), strict=True)}
    tensors = {name: torch.tensor(column) for name, column in arrays.items()}
    answer = item.fast(**tensors, neighbours="replace")
    assert type(answer) is torch.Tensor
    np.testing.assert_array_equal(answer.numpy(), item.fast(**arrays, neighbours="replace"))
    tensors["sigma"].requires_grad_()
    kept = item.fast(**tensors, neighbours="replace").detach().numpy()
    np.testing.assert_allclose(kept, answer.numpy(), rtol=1e-8)


def test_what_float64_does_not_serve_is_nan() -> None:
    # One step, no sampling, and a composition of two steps whose characteristic function decays too slowly.
    values = fast([(1.0, 0.01, 1.0, 1e-5), (1.0, 1.0, 100.0, 1e-5), (1.0, 0.01, 2.0, 1e-5)], "add_remove")
    assert np.isnan(values).all()


# What a grid too coarse for its line called bounds: the quadrature of M had too few points, and the sum lay too low.
MUCH_NOISE: tuple[dict[str, Any], ...] = (
    {"sigma": 8301.271461015482, "sampling_rate": 2.28351287804801e-06, "steps": 39, "epsilon": 1.5863948459221466e-08},
    {"sigma": 930.4772627642456, "sampling_rate": 9.7884812516511e-05, "steps": 23, "delta": 1.6990787172895416e-15},
    {"sigma": 10579.936305732486, "sampling_rate": 2.58e-06, "steps": 4793, "delta": 2.85e-10},
)


@pytest.mark.parametrize("given", MUCH_NOISE, ids=lambda given: f"{given['steps']} steps")
def test_much_noise_and_few_samples_are_not_summed_too_low(given: dict[str, Any]) -> None:
    item = bound("poisson-gaussian.delta" if "epsilon" in given else "poisson-gaussian.epsilon")
    truth = item.at({**given, "neighbours": "replace"}, width="1e-12")
    fast = item.fast(**{name: np.array([float(value)]) for name, value in given.items()}, neighbours="replace")
    assert truth.lower.compare(Fraction(float(fast[0]))) <= 0
    assert truth.upper.compare(Fraction(float(fast[0])) * (1 - Fraction(1, 10**8))) > 0


def test_a_line_on_a_coarse_grid_is_no_lower_than_on_a_fine_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of the integral on a shifted line, on 160 points for a window of 900 standard deviations each way."""
    pair = StepColumn(
        numpy_namespace, *(np.array([value]) for value in (10579.9, 2.58e-6, 4793.0, 1.0)), mirrored=True
    )
    c, last, angle = np.array([8.0873917e7]), np.array([[2.4379e8]]), 9.0 * pair.a[:, None]
    window = pair.window(c, pair.outside[:, None] + 2.0 * last * angle, pair.envelope(c))
    coarse = pair.shifted(c, last, angle, (-1.0,), window)
    monkeypatch.setattr(contour_plan_arrays, "_LINE", 40_000)
    fine = pair.shifted(c, last, angle, (-1.0,), window)
    assert 40.0 < fine[0, 0] <= coarse[0, 0] < fine[0, 0] + 12.0
    # Where the line decays, a coarse grid bounds nothing.
    far = np.array([1e12])
    monkeypatch.setattr(contour_plan_arrays, "_LINE", 160)
    window = pair.window(far, pair.outside[:, None], pair.envelope(far))
    assert np.isinf(pair.shifted(far, last, angle, (1.0,), window)[0, 0])


@pytest.mark.parametrize("neighbours", DIRECTIONS)
def test_a_reach_that_is_too_short_is_searched_for(monkeypatch: pytest.MonkeyPatch, neighbours: str) -> None:
    """What one knows of the reach is a choice: a bad one costs time, neither truth nor an answer."""
    known = fast(drawn(12), neighbours)
    monkeypatch.setattr(contour_plan_arrays, "_LEAST_REACH", 0.3)
    searched = fast(drawn(12), neighbours)
    assert np.isfinite(searched).all()
    np.testing.assert_allclose(searched, known, rtol=2e-9)
    assert (searched != known).any()


@pytest.mark.full
@pytest.mark.parametrize("neighbours", DIRECTIONS)
def test_a_row_alone_is_the_row_in_a_batch(neighbours: str) -> None:
    """Bit for bit: no search of a row ends with its neighbours', and none is given their nodes."""
    points = [*drawn(40), (0.3, 0.1, 100.0, 1e-5), (1.0, 0.01, 1000.0, 1e-12), (8.0, 1e-4, 50.0, 0.3)]
    together = fast(points, neighbours)
    assert np.isfinite(together).sum() >= 40
    alone = np.concatenate([fast([point], neighbours) for point in points])
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(together[::-1], fast(points[::-1], neighbours))


@pytest.mark.full
def test_no_everyday_point_is_left_to_the_reference() -> None:
    """Of 1,000 points as the bench draws them, and of those whose sums cancel most."""
    assert np.isfinite(fast([*drawn(1000), *CANCELLING], "add_remove")).all()


CANCELLING = (
    (0.882, 0.0011, 297.0, 2.4e-9), (0.813, 0.0011, 353.0, 2.4e-6), (0.9, 0.001, 258.0, 6.7e-8),
    (1.157, 0.0011, 949.0, 1.4e-9), (0.875, 0.0013, 366.0, 1.1e-9), (1.088, 0.0016, 389.0, 2.4e-9),
)
"""Little noise, few samples and a small delta: rounding may add to such a sum what is no longer next to nothing."""


@pytest.mark.full
def test_the_points_that_cancel_most_are_sound_and_told_to_a_millionth() -> None:
    for (sigma, rate, steps, delta), value in zip(CANCELLING, fast(list(CANCELLING), "add_remove"), strict=True):
        part = PoissonGaussian(Fraction(sigma), Fraction(rate))
        many = compose([(part, int(steps))], neighbours="add_remove")
        lower, upper = many.epsilon(Fraction(delta), width=Fraction(1, 10**9)).to_floats()
        assert lower <= value <= upper * (1 + 1e-6), (sigma, rate, steps, delta)


def never(values: Values, width: Fraction) -> Enclosure:
    raise AssertionError(f"left to the reference: {values}")


@pytest.mark.full
@pytest.mark.parametrize("neighbours", DIRECTIONS)
def test_everyday_questions_are_answered_in_a_circle(neighbours: str) -> None:
    """Epsilon at a delta, delta there and the noise for both, none by the reference: what rounds up stays close."""
    sigma, rate, steps, delta = (np.array(column) for column in zip(*drawn(300), strict=True))
    own = {"sampling_rate": rate, "steps": steps, "neighbours": neighbours}
    epsilon_of, delta_of, sigma_of = (
        replace(bound(f"poisson-gaussian.{unit}"), certify=never) for unit in ("epsilon", "delta", "sigma")
    )
    epsilon = epsilon_of.fast(sigma=sigma, delta=delta, **own)
    asked = epsilon > 0.0
    assert asked.mean() > 0.9
    own = {name: v if isinstance(v, str) else v[asked] for name, v in own.items()}
    there = delta_of.fast(sigma=sigma[asked], epsilon=epsilon[asked], **own)
    np.testing.assert_allclose(there, delta[asked], rtol=2e-5)  # an epsilon may be told to 1e-6
    noise = sigma_of.fast(epsilon=epsilon[asked], delta=delta[asked], **own)
    np.testing.assert_allclose(noise, sigma[asked], rtol=1e-6)
