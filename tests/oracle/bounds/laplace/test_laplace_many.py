"""Many composed Laplace releases: three exact methods against each other and a grid, and the float64 sums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import array_api_compat.numpy as numpy_namespace
import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

import oracle
from empirical.gate.making.points import Point
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import PrecisionError
from oracle.engines.composed_pairs import Composition
from oracle.engines.contour import saddle_for
from oracle.engines.laplace import laplace_residues, laplace_splines
from oracle.engines.laplace.laplace_arrays import spline_delta, spline_epsilon
from oracle.engines.laplace.laplace_contour_arrays import contour_delta, contour_epsilon
from oracle.engines.laplace.laplace_step import LaplaceStep
from tests.checks import check_fast, check_monotone, check_round_trip, check_width

DELTA, EPSILON = (oracle.bound(f"laplace-composed.{unit}") for unit in ("delta", "epsilon"))


def by_splines(ratio: Fraction, steps: int, epsilon: Fraction) -> arb:
    stages = [(LaplaceStep(ratio), steps)]
    saddle = saddle_for(stages, epsilon=float(epsilon))
    return laplace_splines.curve(ratio, steps, steps * ratio - epsilon, saddle.c, saddle.log_delta)


def by_grid(ratio: float, steps: int, epsilon: float, cells: int) -> tuple[float, float]:
    """Lower and upper bounds of delta by rounding every complement m - loss to a grid of 2m/cells, up and down.

    The laws convolve as one power of a float64 FFT, whose error is far below the 1e-10 to spare.
    """
    edges = np.exp(-ratio * np.arange(cells + 1) / cells) / 2  # P(Y > 2 m i / cells) under the shifted law
    inside = edges[:-1] - edges[1:]
    down, up = np.zeros(cells + 1), np.zeros(cells + 1)
    down[:-1], up[1:] = inside, inside
    for law in (down, up):
        law[0] += 0.5
        law[-1] += edges[-1]
    size = 1 << (steps * cells).bit_length()
    gaps = steps * ratio - epsilon - 2 * ratio / cells * np.arange(size)
    worth = -np.expm1(-np.maximum(gaps, 0.0))
    low, high = (float(np.fft.irfft(np.fft.rfft(law, size) ** steps, size) @ worth) for law in (up, down))
    return low - 1e-10, high + 1e-10


@pytest.mark.parametrize(
    ("ratio", "steps", "share"),
    [
        ("1/3", 5, "0.06"), ("1/3", 5, "0.72"), ("0.1", 50, "0.2"), ("1", 100, "0.1"), ("1", 100, "0"),
        ("2", 20, "0.9975"), ("0.5", 10, "0.98"), ("0.000001", 20, "0.5"), ("0.01", 400, "0.125"),
        ("0.2", 7, "3/7"), ("0.2", 7, "1/7"),
    ],
)
def test_splines_are_the_residues(ratio: str, steps: int, share: str) -> None:
    """The last two points are delays, where z is an integer."""
    m = Fraction(ratio)
    epsilon = Fraction(share) * steps * m
    with ctx.workprec(160):
        splines = by_splines(m, steps, epsilon)
    with ctx.workprec(1200):
        residues = laplace_residues.curve(((m, steps),), ball(steps * m - epsilon))
        assert splines.overlaps(residues)
        assert splines.rad() < 1e-30 * residues


@pytest.mark.parametrize("misjudged", [40.0, 70.0, 78.0])
@pytest.mark.parametrize("c", [0.5, 3.0, 20.0])
def test_a_bad_plan_costs_width_and_never_truth(misjudged: float, c: float) -> None:
    """delta misjudged by that exponent: too few orders are summed, and the Chernoff bound of the rest says so."""
    m, steps, epsilon = Fraction(1, 10), 200, Fraction(4)
    with ctx.workprec(120):
        few = laplace_splines.curve(m, steps, steps * m - epsilon, c, misjudged)
    with ctx.workprec(900):
        residues = laplace_residues.curve(((m, steps),), ball(steps * m - epsilon))
        assert few.overlaps(residues)
        assert few.rad() > 1e-25 * residues, "nothing was cut off"


@pytest.mark.parametrize(("ratio", "steps"), [("0.5", 300), ("1", 200), ("5", 100)])
@pytest.mark.parametrize("share", ["0.2", "0.5", "0.8"])
def test_the_contour_is_the_residues(ratio: str, steps: int, share: str) -> None:
    m = Fraction(ratio)
    epsilon = Fraction(share) * steps * m
    contour = Composition(([(LaplaceStep(m), steps)],)).delta(epsilon, width="1e-12")
    with ctx.workprec(1200):
        residues = laplace_residues.curve(((m, steps),), ball(steps * m - epsilon))
        assert contour.overlaps(Enclosure.of_ball(residues))


def test_splines_are_the_contour_beyond_the_residues() -> None:
    for steps, ratio, epsilon in ((1000, "0.2", 40), (3000, "0.08", 30)):
        m = Fraction(ratio)
        contour = Composition(([(LaplaceStep(m), steps)],)).delta(epsilon, width="1e-15")
        with ctx.workprec(160):
            assert Enclosure.of_ball(by_splines(m, steps, Fraction(epsilon))).overlaps(contour)


@pytest.mark.parametrize(("ratio", "steps", "epsilon"), [("0.01", 1000, 0.5), ("0.1", 500, 8.0), ("1", 600, 260.0)])
def test_between_the_bounds_of_a_grid(ratio: str, steps: int, epsilon: float) -> None:
    result = DELTA.reference(scale=1, sensitivity=ratio, steps=steps, epsilon=epsilon).to_floats()
    for cells in (100, 1000):
        low, high = by_grid(float(ratio), steps, epsilon, cells)
        assert low <= result[0] <= result[1] <= high
    assert high - low < 0.05 * high


def test_a_million_releases_are_nearly_gaussian() -> None:
    """Mean and variance of one loss, by mpmath, give the Gaussian curve; the error falls like 1 / sqrt(k m)."""
    with mp.workdps(40):
        m = mpf(1) / 1000
        moments = [
            m**n / 2 + (-m) ** n * mp.exp(-m) / 2 + mp.quad(lambda x, n=n: x**n * mp.exp((x - m) / 2) / 4, [-m, m])
            for n in (1, 2)
        ]
        mean, deviation = 10**6 * moments[0], mp.sqrt(10**6 * (moments[1] - moments[0] ** 2))
    assert abs(mean - deviation**2 / 2) < 1e-3
    exact = DELTA.reference(scale=1000, sensitivity=1, steps=10**6, epsilon=3)
    limit = oracle.bound("gdp.delta").reference(mu=float(deviation), epsilon=3)
    assert abs(exact.to_floats()[0] / limit.to_floats()[0] - 1) < 1e-3


@pytest.mark.full
@pytest.mark.parametrize(("steps", "ratio"), [(401, "0.01"), (1000, "0.0001"), (10**5, "0.0001"), (10**6, "2")])
def test_contracts_beyond_the_residues(steps: int, ratio: str) -> None:
    params: dict[str, Any] = {"scale": 1, "sensitivity": ratio, "steps": steps}
    for delta in ("1e-8", "1e-3"):
        check_width(EPSILON, {**params, "delta": delta}, Fraction(1, 10**12))
        check_monotone(EPSILON, {**params, "delta": delta}, "steps", steps + 1, certain=True)
    near = Fraction(EPSILON.reference(**params, delta="1e-6").to_floats()[0])
    check_width(DELTA, {**params, "epsilon": near}, Fraction(1, 10**15))


@pytest.mark.full
def test_the_inverse_beyond_the_residues() -> None:
    check_round_trip(DELTA, EPSILON, {"scale": 50, "sensitivity": 1, "steps": 500}, "epsilon", Fraction(3, 2))
    check_round_trip(DELTA, EPSILON, {"scale": 2, "sensitivity": 1, "steps": 500}, "epsilon", Fraction(100))


def test_edges_beyond_the_residues() -> None:
    point: dict[str, Any] = {"scale": 1, "sensitivity": 100, "steps": 1000}
    one = DELTA.reference(**point, epsilon=10)
    assert one.contains(1)
    assert one.lower.compare(1) < 0
    assert DELTA.reference(**point, epsilon=100_000) == Enclosure.exactly(0)
    assert EPSILON.reference(scale=10**9, sensitivity=1, steps=1000, delta="0.1") == Enclosure.exactly(0)
    for ratio in ("1e-400", "1e10"):
        with pytest.raises(PrecisionError, match=r"more than 400 releases are served for sensitivity / scale in"):
            EPSILON.reference(scale=1, sensitivity=ratio, steps=401, delta="1e-5")


# --- float64


def everyday(count: int, seed: int, most: float = 400.0) -> list[Point]:
    """Scales from 1 to 100 sensitivities, 2 to 400 releases, delta from 1e-12 to a half."""
    rng = np.random.default_rng(seed)
    return [
        {
            "scale": float(10 ** rng.uniform(0, 2)),
            "sensitivity": 1.0,
            "steps": float(math.floor(2 * (most / 2 + 0.5) ** rng.uniform())),
            "delta": float(10 ** rng.uniform(-12, -0.3)),
        }
        for _ in range(count)
    ]


def with_epsilon(point: Point) -> Point:
    """The same point with about its own epsilon for its delta, but not next to the largest loss."""
    epsilon = EPSILON.reference(**point, width="1e-3").to_floats()[1]
    rest = {k: v for k, v in point.items() if k != "delta"}
    return {**rest, "epsilon": min(epsilon, 0.98 * point["steps"] / point["scale"])}


@pytest.mark.full
@pytest.mark.parametrize(("library", "points"), [
    ("numpy", 4), *(pytest.param(name, 30, marks=pytest.mark.thorough) for name in ("numpy", "torch")),
])
def test_fast_is_sound_and_tight_every_day(library: str, points: int) -> None:
    chosen = everyday(points, seed=len(library))
    check_fast(EPSILON, chosen, library)
    check_fast(DELTA, [with_epsilon(point) for point in chosen], library)


@pytest.mark.full
def test_few_points_are_left_to_the_reference() -> None:
    chosen = everyday(4000, seed=4, most=150.0)
    m, steps, delta = (np.array([p[n] for p in chosen]) for n in ("scale", "steps", "delta"))
    with np.errstate(all="ignore"):
        first = contour_epsilon(numpy_namespace, 1 / m, steps, delta)
        second = spline_epsilon(numpy_namespace, 1 / m, steps, delta)
        epsilon = np.linspace(0.05, 0.9, len(chosen)) * steps / m
        deltas = spline_delta(numpy_namespace, 1 / m, steps, epsilon)
    assert np.isnan(first).sum() > 3000, "the contour serves only many large losses"
    assert np.isnan(second).sum() <= 4
    assert np.isnan(deltas).sum() <= 8
    both = np.isfinite(first) & np.isfinite(second)
    assert both.sum() > 5
    np.testing.assert_allclose(first[both], second[both], rtol=1e-9)


@pytest.mark.full
def test_fast_at_the_delays_and_at_epsilon_zero() -> None:
    """Kinks of the curve at epsilon = (k - 2j) m, exactly a double here, and deltas around delta(0)."""
    chosen = [
        {"scale": 4.0, "sensitivity": 1.0, "steps": steps, "epsilon": (steps - 2 * j) / 4.0 + shift}
        for steps in (2.0, 9.0, 30.0) for j in (1, int(steps) // 3, int(steps) // 2) for shift in (0.0, 1e-9)
    ]
    check_fast(DELTA, chosen, "numpy")
    for steps in (2.0, 40.0, 380.0):
        at_zero = DELTA.reference(scale=2, sensitivity=1, steps=int(steps), epsilon=0).to_floats()[1]
        deltas = [at_zero * (1 + shift) for shift in (-1e-3, -1e-7, 1e-7)]
        check_fast(EPSILON, [{"scale": 2.0, "sensitivity": 1.0, "steps": steps, "delta": d} for d in deltas], "numpy")


@pytest.mark.parametrize("steps", [500.0, 5000.0, 1e6])
def test_fast_beyond_the_residues(steps: float) -> None:
    ratios = [0.001, 2.0] if steps < 1000 else [0.3, 2.0]
    chosen = [{"scale": 1.0, "sensitivity": m, "steps": steps, "delta": d} for m in ratios for d in (1e-9, 0.1)]
    check_fast(EPSILON, chosen, "numpy")


def test_large_ratios_and_few_releases() -> None:
    chosen = [
        {"scale": 1.0, "sensitivity": m, "steps": steps, "epsilon": share * m * steps}
        for m in (1.5, 7.0, 40.0) for steps in (2.0, 5.0, 12.0) for share in (0.1, 0.6, 0.9)
    ]
    check_fast(DELTA, chosen, "torch")


def test_the_two_sums_agree_where_both_serve() -> None:
    m, steps, epsilon = np.array([0.8, 0.5, 1.0]), np.array([150.0, 250.0, 120.0]), np.array([60.0, 50.0, 40.0])
    with np.errstate(all="ignore"):
        contour, splines = (solve(numpy_namespace, m, steps, epsilon) for solve in (contour_delta, spline_delta))
    assert np.isfinite(contour).all()
    np.testing.assert_allclose(contour, splines, rtol=1e-9)


@pytest.mark.full
def test_a_row_alone_is_the_row_in_a_batch() -> None:
    """Bit for bit: orders, delays and margins are a row's own."""
    chosen = everyday(60, seed=8, most=200.0)
    columns = {name: np.array([point[name] for point in chosen]) for name in ("scale", "steps", "delta")}
    together = EPSILON.fast(**columns, sensitivity=1.0)
    alone = np.array([float(EPSILON.fast(**point)) for point in chosen])
    np.testing.assert_array_equal(together, alone)
