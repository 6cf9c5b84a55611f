"""The fast path of every registered bound: sound and tight against the reference, on numpy and torch, never a NaN.

Numbers are asked of every bound; what all share, of the representatives, and of the others at night.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.making.points import FEW_POINTS, Point, corner_points, fixed_points, strategy
from empirical.gate.ranges import LARGEST, SMALLEST
from empirical.gate.ranges.directions import FALLS, RISES, TURNS
from empirical.gate.searching.neighbours import DIRECTIONS
from oracle.core import registry
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_fast, check_libraries_agree, sharpness
from tests.opinions import OPINIONS
from tests.samples import at, columns, numbers
from tests.tiers import REPRESENTATIVES, examples, later, named, represented

BOUNDS = list(registry.bounds().values())
every_bound = pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
shared_code = pytest.mark.parametrize("bound", represented(BOUNDS))
every_library = pytest.mark.parametrize("library", LIBRARIES)


def everywhere(item: oracle.Bound, library: str) -> Any:
    """Edges and corners are numbers of each bound, but not where the array lives; slow bounds are asked at night."""
    quick = item.name in REPRESENTATIVES
    slow = FEW_POINTS.get(item.name, 400) <= 12 or item.name == "poisson-gaussian.rdp"  # quick in the midst only
    marker = pytest.mark.thorough if slow or library != "numpy" else pytest.mark.full
    return pytest.param(item, library, id=f"{library}-{item.name}", marks=[] if quick else [marker])


at_extremes = pytest.mark.parametrize(
    ("bound", "library"), [everywhere(item, library) for library in LIBRARIES for item in BOUNDS]
)
DEAR = {"poisson-gaussian.delta", "poisson-gaussian.epsilon", "poisson-gaussian.sigma", "wor-gaussian.epsilon"}
"""Seconds for the references of the whole spread."""
SHAPES: list[tuple[int, ...]] = [(), (1,), (4, 3), (2, 1, 3), (0,), (3, 0)]


def one_by_one(bound: oracle.Bound, table: dict[str, Any]) -> None:
    """The reference at every row."""
    for index in range(6):
        bound.reference(**at(table, index))


def test_every_bound_has_a_second_opinion_and_directions() -> None:
    """A new bound needs OPINIONS in a file of tests/topics, and DIRECTIONS in one of empirical/gate/ranges."""
    assert set(OPINIONS) == set(DIRECTIONS) == set(registry.bounds())
    for item in BOUNDS:
        assert set(DIRECTIONS[item.name]) == {p.name for p in item.parameters if p.kind != "choice"}
        assert set(DIRECTIONS[item.name].values()) <= {RISES, FALLS, TURNS}
        for parameter in item.parameters:
            assert parameter.kind != "schedule" or DIRECTIONS[item.name][parameter.name] == TURNS, "lists have no order"


# --- soundness and tightness


def check_spread(bound: oracle.Bound, library: str, *, others: bool) -> None:
    chosen = fixed_points(bound, 400, seed=1)
    quarter = -(-len(chosen) // 4)
    check_fast(bound, chosen[quarter:] if others else chosen[:quarter], library)


@every_bound
@pytest.mark.parametrize("library", later(list(LIBRARIES), lambda name: name != "numpy", "full"))
def test_sound_and_tight_on_a_quarter_of_the_spread(bound: oracle.Bound, library: str) -> None:
    check_spread(bound, library, others=False)


@pytest.mark.full
@pytest.mark.parametrize("bound", named(BOUNDS, DEAR, "thorough"))
@pytest.mark.parametrize("library", later(list(LIBRARIES), lambda name: name != "numpy", "thorough"))
def test_sound_and_tight_on_the_others_of_the_spread(bound: oracle.Bound, library: str) -> None:
    check_spread(bound, library, others=True)


@pytest.mark.full
@pytest.mark.parametrize("bound", [b for b in BOUNDS if FEW_POINTS.get(b.name, 400) > 12], ids=lambda item: item.name)
@given(data=st.data())
def test_sound_and_tight_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_fast(bound, [data.draw(strategy(bound))], data.draw(st.sampled_from(sorted(LIBRARIES))))


@pytest.mark.full
@at_extremes
def test_sound_in_the_far_corners_of_the_doubles(bound: oracle.Bound, library: str) -> None:
    """Subnormals, overflow, 1e300: looseness is allowed there (mu * 1e-300 has no digits), unsoundness is not."""
    check_fast(bound, corner_points(bound, 40, seed=2), library, tight=False)


@every_bound
def test_the_first_points_of_many_are_those_of_few(bound: oracle.Bound) -> None:
    """`tests/meta` plants errors at half as many points of the same seed, which therefore pass unplanted."""
    assert fixed_points(bound, 200, seed=1) == fixed_points(bound, 400, seed=1)[:200]


@every_bound
def test_numpy_and_torch_agree(bound: oracle.Bound) -> None:
    check_libraries_agree(bound, fixed_points(bound, 300, seed=3))


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 30.0])
@every_library
def test_gaussian_delta_next_to_one(library: str, epsilon: float) -> None:
    """Where 1 - delta is computed and subtracted from 1: that subtraction rounds too."""
    chosen = [{"sigma": s, "sensitivity": 1.0, "epsilon": epsilon} for s in np.linspace(0.05, 0.5, 200).tolist()]
    check_fast(oracle.bound("gaussian.delta"), chosen, library)


@pytest.mark.parametrize("log_mu", range(-8, 5))
def test_gaussian_epsilon_across_all_deltas(log_mu: int) -> None:
    """Every branch of the Mills-ratio difference: small and large mu against every tail."""
    deltas = [10.0**-k for k in range(1, 301, 13)] + [1 - 10.0**-k for k in range(1, 16, 2)]
    check_fast(oracle.bound("gdp.epsilon"), [{"mu": 1.7 * 10.0**log_mu, "delta": d} for d in deltas], "numpy")


def test_laplace_at_the_knife_edge() -> None:
    """epsilon within rounding of sensitivity/scale: delta is ill-conditioned, so only an absolute excess is asked."""
    bound = oracle.bound("laplace.delta")
    chosen: list[Point] = []
    for ratio in (1.0, 1 / 3, 0.1, 7.3):
        near = [ratio]
        for _ in range(5):
            near = [math.nextafter(near[0], 0.0), *near, math.nextafter(near[-1], math.inf)]
        chosen += [{"scale": 3.0, "sensitivity": 3.0 * ratio, "epsilon": epsilon} for epsilon in near]
    check_fast(bound, chosen, "numpy", tight=False)
    excess = bound.fast(**columns(bound, chosen))
    assert float(np.max(excess)) < 1e-14


@every_library
@pytest.mark.parametrize(
    ("sensitivity", "size", "sigma"),
    [(1e300, 10**10, 1e300), (3 * SMALLEST, 2, 1e-300), (1e-300, int(1e20), 1e-310), (1e-200, int(1e300), 1e-310)],
    ids=["product overflows", "quotient is subnormal", "quotient underflows", "quotient is far below"],
)
def test_no_intermediate_result_promises_perfect_privacy(
    sensitivity: float, size: int, sigma: float, library: str
) -> None:
    """L / (n sigma) is an ordinary double, although n sigma or L / n is not: no order of operations may lose it."""
    common = {"sensitivity": sensitivity, "noise_on_mean": sigma, "contraction": 0.5}
    check_fast(oracle.bound("noisy-gd.mu"), [{**common, "dataset_size": size, "steps": 3}], library)
    cgd = {**common, "batch_size": size, "batches": 3, "epochs": 3}
    check_fast(oracle.bound("noisy-cgd.mu"), [cgd], library)


@pytest.mark.parametrize("subnormals", [1, 5, 2001])
@pytest.mark.parametrize(
    ("name", "small", "rest"),
    [
        ("noisy-gd.mu", "sensitivity", {"dataset_size": 2, "noise_on_mean": 1.0, "contraction": 0.5, "steps": 1}),
        ("noisy-cgd.mu", "sensitivity", {
            "batch_size": 2, "noise_on_mean": 1.0, "contraction": 0.5, "batches": 2, "epochs": 3,
        }),
        ("laplace.delta", "sensitivity", {"scale": 1e30, "epsilon": 0.0}),
        ("gaussian.delta", "sensitivity", {"sigma": 2.0, "epsilon": 0.0}),
        ("gaussian.epsilon", "sensitivity", {"sigma": 2.0, "delta": 5e-324}),
    ],
)
def test_results_that_underflow_are_rounded_up(name: str, small: str, rest: Point, subnormals: int) -> None:
    check_fast(oracle.bound(name), [{small: subnormals * SMALLEST, **rest}], "numpy", tight=False)


@every_library
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("gdp.epsilon", {"mu": 1e160, "delta": 0.3}),
        (
            "noisy-gd.mu",
            {"sensitivity": 1e300, "dataset_size": 1, "noise_on_mean": 1e-10, "contraction": 0.5, "steps": 3},
        ),
        ("gaussian.sigma", {"sensitivity": LARGEST, "epsilon": 0.1, "delta": 0.3}),
    ],
)
def test_a_value_beyond_the_doubles_is_infinite(name: str, params: Point, library: str) -> None:
    """The only double on the safe side; as an answer, not as an error."""
    arrays = {key: LIBRARIES[library](np.array([float(value)])) for key, value in params.items()}
    assert np.asarray(oracle.bound(name).fast(**arrays)).tolist() == [math.inf]


# --- shapes, places and types


@shared_code
@every_library
def test_results_are_where_the_inputs_are(bound: oracle.Bound, library: str) -> None:
    result = bound.fast(**{name: LIBRARIES[library](column) for name, column in numbers(bound).items()})
    if library == "torch":
        assert isinstance(result, torch.Tensor)
        assert result.dtype == torch.float64
        assert result.device == torch.device("cpu")
    else:
        assert isinstance(result, np.ndarray)
        assert result.dtype == np.float64
    assert tuple(result.shape) == (6,)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("gdp.epsilon", {"mu": 1e-8, "delta": 0.5}),
        ("gaussian-composed.epsilon", {"sigma": 1.0, "sensitivity": 1.0, "steps": 0.0, "delta": 0.5}),
        ("tree.epsilon", {"noise_multiplier": 1e8, "leaves": 3.0, "delta": 0.5, "neighbours": "replace"}),
        ("zcdp.epsilon", {"rho": 0.0, "delta": 0.5}),
        ("composition.optimal", {"base_epsilon": 0.1, "base_delta": 0.0, "steps": 2.0, "delta": 0.9}),
    ],
)
def test_a_tensor_of_nothing_but_zeros_is_float64_too(name: str, params: Point) -> None:
    arrays = {k: LIBRARIES["torch"](v if isinstance(v, str) else np.array([v])) for k, v in params.items()}
    result = oracle.bound(name).fast(**arrays)
    assert result.dtype == torch.float64
    assert result.tolist() == [0.0]


@shared_code
def test_one_tensor_among_numbers_makes_the_result_a_tensor(bound: oracle.Bound) -> None:
    table = numbers(bound)
    expected = bound.fast(**table)
    first = next(name for name, column in table.items() if not isinstance(column, str))
    result = bound.fast(**{**table, first: torch.as_tensor(table[first])})
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12)


@shared_code
@examples(1 / 2)
@given(data=st.data(), library=st.sampled_from(sorted(LIBRARIES)), shape=st.sampled_from(SHAPES))
def test_shapes_are_kept(bound: oracle.Bound, data: st.DataObject, library: str, shape: tuple[int, ...]) -> None:
    size = math.prod(shape)
    table = numbers(bound, count=max(size, 1), seed=data.draw(st.integers(0, 5)))
    flat = np.asarray(bound.fast(**table))[:size]
    cut = {name: v if isinstance(v, str) else v[:size].reshape(shape + v.shape[1:]) for name, v in table.items()}
    result = bound.fast(**{name: LIBRARIES[library](v) for name, v in cut.items()})
    assert tuple(result.shape) == shape
    np.testing.assert_allclose(np.asarray(result).reshape(-1), flat, rtol=sharpness(bound))


@shared_code
@every_library
def test_broadcasting(bound: oracle.Bound, library: str) -> None:
    """Each parameter in turn along its own axis, against the same points one by one."""
    convert = LIBRARIES[library]
    table = numbers(bound, count=3)
    names = [name for name, column in table.items() if not isinstance(column, str)]
    first, second = names[0], names[-1]
    middle = at(table, 1)
    grid = np.asarray(bound.fast(**{
        **middle, first: convert(table[first][:, None]), second: convert(table[second][None, :]),
    }))
    assert grid.shape == (3, 3)
    for i in range(3):
        for j in range(3):
            one = bound.fast(**{**middle, first: at(table, i)[first], second: at(table, j)[second]})
            assert np.shape(one) == ()
            np.testing.assert_allclose(grid[i, j], one, rtol=sharpness(bound))


@shared_code
def test_integers_and_lists_are_numbers(bound: oracle.Bound) -> None:
    point: Point = {p.name: p.choices[0] if p.kind == "choice" else 1 for p in bound.parameters}
    point |= {p.name: 0.5 for p in bound.parameters if p.high == 1}
    point |= {p.name: 2 for p in bound.parameters if p.low == 1 and p.low_open}
    point |= {p.name: 0.1 for p in bound.parameters if p.name == "threshold_delta"}  # three of 0.5 leave no epsilon
    point |= {p.name: [0.5, 0.5] for p in bound.parameters if p.kind == "schedule"}
    expected = float(bound.fast(**{k: float(v) if isinstance(v, int) else v for k, v in point.items()}))
    for convert in (np.int64, np.array, torch.tensor, lambda v: [v]):
        given_point = {k: convert(v) if isinstance(v, int) else v for k, v in point.items()}
        np.testing.assert_allclose(np.asarray(bound.fast(**given_point)).reshape(-1), [expected], rtol=1e-12)


@shared_code
def test_inputs_are_left_alone(bound: oracle.Bound) -> None:
    table = numbers(bound)
    before = {name: column if isinstance(column, str) else column.copy() for name, column in table.items()}
    bound.fast(**table)
    for name, column in before.items():
        np.testing.assert_array_equal(table[name], column)


# --- bad entries


@shared_code
@every_library
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1.0])
def test_a_bad_entry_is_named(bound: oracle.Bound, library: str, bad: float) -> None:
    table = numbers(bound)
    for parameter in bound.parameters:
        unbounded = parameter.kind == "real" and parameter.low is None and bad == -1.0
        if parameter.kind == "choice" or (parameter.infinite and bad == math.inf) or unbounded:
            continue
        column = table[parameter.name].copy()
        column[4] = bad
        arrays = {k: LIBRARIES[library](v) for k, v in {**table, parameter.name: column}.items()}
        with pytest.raises(DomainError) as caught:
            bound.fast(**arrays)
        assert str(caught.value).startswith(f"{parameter.name} = {bad} ")
        assert parameter.domain in str(caught.value)


@at_extremes
def test_edges_of_the_domain_are_those_of_the_reference(bound: oracle.Bound, library: str) -> None:
    table = numbers(bound)
    for parameter in bound.parameters:
        if parameter.kind == "choice":
            continue
        for edge in (0.0, 1.0, 1.5, math.nextafter(1.0, 2.0), 0.5):
            column = np.full_like(table[parameter.name], edge)
            arrays = {k: LIBRARIES[library](v) for k, v in {**table, parameter.name: column}.items()}
            try:
                parameter.parse(column[0].tolist())
            except DomainError:
                with pytest.raises(DomainError, match=f"^{parameter.name} = "):
                    bound.fast(**arrays)
            else:
                try:
                    result = np.asarray(bound.fast(**arrays))
                except DomainError:  # the parameters do not suit each other: then the reference says so too
                    with pytest.raises(DomainError):
                        one_by_one(bound, {**table, parameter.name: column})
                else:
                    assert not np.isnan(result).any()


@shared_code
def test_missing_extra_and_meaningless_arguments(bound: oracle.Bound) -> None:
    table = numbers(bound)
    first = next(p.name for p in bound.parameters if p.kind != "choice")
    with pytest.raises(DomainError, match=f"{bound.name} needs {first}"):
        bound.fast(**{k: v for k, v in table.items() if k != first})
    with pytest.raises(DomainError, match=f"{bound.name} has no parameter extra"):
        bound.fast(**table, extra=1.0)
    for nonsense in ("abc", None, [[1.0], [1.0, 2.0]], object()):
        with pytest.raises(DomainError, match=f"^{first} = "):
            bound.fast(**{**table, first: nonsense})


@every_library
@pytest.mark.parametrize("value", [10**400, np.array([1.0 + 1.0j]), True], ids=["huge", "complex", "bool"])
def test_what_no_double_is_is_refused(library: str, value: Any) -> None:
    """An int beyond the doubles, a complex number, and a truth value, which the reference refuses too."""
    with pytest.raises(DomainError, match=r"^mu = "):
        oracle.bound("gdp.epsilon").fast(mu=value, delta=LIBRARIES[library](np.array([0.1])))


@every_library
def test_shapes_that_do_not_fit_are_a_domain_error(library: str) -> None:
    convert = LIBRARIES[library]
    with pytest.raises(DomainError):
        oracle.bound("gdp.epsilon").fast(mu=convert(np.ones(3)), delta=convert(np.full(2, 0.1)))
