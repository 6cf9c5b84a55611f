"""The checks of the oracle's tests: each takes a bound (or an enclosure, or a pair of twins) and asserts a contract.

The tests call them on what is registered; `tests/meta` calls the very same functions on planted errors and requires an
AssertionError. They read the registry and the tables in `samples` and `opinions`, never the implementation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from mpmath import mp, mpf

from empirical.gate.making.points import Point, strategy, value_at
from empirical.gate.ranges import LARGEST
from empirical.gate.ranges.directions import RISES, TURNS
from empirical.gate.searching.neighbours import DIRECTIONS
from empirical.mutants.checks import disagreement
from oracle.core.algorithm import Values
from oracle.core.enclosure import Dyadic, Enclosure
from oracle.core.errors import DomainError
from oracle.core.registry import Bound
from oracle.core.tape import Tape
from tests.formulas import shift_programme
from tests.opinion import from_dyadic
from tests.opinions import OPINIONS
from tests.samples import columns

FINE = Fraction(1, 10**25)  # the reference that judges float64: no rounding error of a double hides below it
TIGHT = 1e-9  # largest relative excess of a fast path
NEGLIGIBLE = 1e-290  # below, a double has no relative precision left to speak of

LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda value: value if isinstance(value, str) else np.asarray(value),
    "torch": lambda value: value if isinstance(value, str) else torch.as_tensor(value),
}


def apart(one: Any, other: Any) -> float:
    """The distance of two results, relative to the size of the second."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    assert one.shape == other.shape
    return float(np.linalg.norm(one - other) / max(float(np.linalg.norm(other)), 1e-300)) if other.any() else 0.0


def point(value: Dyadic) -> Enclosure:
    """The enclosure that is one exact number."""
    return Enclosure(value, value)


def exactly(value: int | float | Fraction) -> Dyadic:
    """The dyadic number that an int, a double or a dyadic Fraction is."""
    exact = Fraction(value)
    places = exact.denominator.bit_length() - 1
    assert exact.denominator == 1 << places, f"{value} is not dyadic"
    return Dyadic(exact.numerator, -places)


def check_second_opinion(bound: Bound, params: Mapping[str, Any], width: Fraction = Fraction(1, 10**12)) -> None:
    """The enclosure holds the truth as mpmath knows it."""
    OPINIONS[bound.name].judge(params, bound.reference(width=width, **params))


def check_width(bound: Bound, params: Mapping[str, Any], width: Fraction) -> None:
    """upper - lower <= width * min(1, |value|), exactly, whatever the exponents; and a finer enclosure overlaps."""
    enclosure = bound.reference(width=width, **params)
    # In units of the lower end's last bit everything is an integer of moderate size, even for e^(-10^24).
    unit = min(enclosure.lower.exponent, enclosure.upper.exponent) if enclosure.lower.mantissa else 0
    lower, upper = (end.mantissa * Fraction(2) ** (end.exponent - unit) for end in (enclosure.lower, enclosure.upper))
    scale = min(abs(lower), abs(upper))
    if enclosure.lower.compare(1) > 0:
        scale = Fraction(2) ** -unit
    assert upper - lower <= width * scale, f"{bound.name}: {enclosure} is wider than {float(width)} at {params}"
    finer = bound.reference(width=width / 1000, **params)
    assert finer.overlaps(enclosure), f"{bound.name}: {finer} and {enclosure} cannot both be right at {params}"


def check_monotone(bound: Bound, params: Mapping[str, Any], name: str, other: Any, *, certain: bool = False) -> None:
    """Raising one parameter to `other` moves the bound the way it must; `certain` asks for a proof, not for peace."""
    before, after = bound.reference(**params), bound.reference(**{**params, name: other})
    direction = DIRECTIONS[bound.name][name]
    assert direction != TURNS, f"{bound.name} is not monotone in {name}"
    small, large = (before, after) if direction == RISES else (after, before)
    assert small.possibly_le(large), f"{bound.name} moves the wrong way in {name}: {before} to {after} at {params}"
    if certain:
        assert small.certainly_le(large), f"{bound.name} does not move in {name}: {before} to {after} at {params}"
        assert not large.possibly_le(small), f"{bound.name} does not move in {name}: {before} to {after} at {params}"


def check_anywhere(bound: Bound, data: st.DataObject) -> None:
    """Second opinion, width and monotonicity at a point, a width and a parameter that hypothesis draws."""
    params = data.draw(strategy(bound))
    check_second_opinion(bound, params)
    check_width(bound, params, Fraction(1, 10 ** data.draw(st.integers(1, 60))))
    check_moved(bound, params, data)


def check_moved(bound: Bound, params: Point, data: st.DataObject) -> None:
    """Monotonicity from a point in a parameter and to a value that hypothesis draws."""
    moving = [p for p in bound.parameters if DIRECTIONS[bound.name].get(p.name, TURNS) != TURNS]
    moved = data.draw(st.sampled_from(moving))
    other = value_at(bound, moved, data.draw(st.floats(0, 1)))
    if other != params[moved.name]:
        low, high = sorted((params[moved.name], other))
        check_monotone(bound, {**params, moved.name: low}, moved.name, high)


def check_round_trip(curve: Bound, inverse: Bound, params: Mapping[str, Any], name: str, given: Fraction) -> None:
    """The inverse at delta = curve(name=given) gives back `given`; both ends of the curve's enclosure are tried."""
    delta = curve.reference(width=Fraction(1, 10**40), **{**params, name: given})
    low, high = delta.lower.to_fraction(), delta.upper.to_fraction()
    width = Fraction(1, 10**20)
    back = Enclosure(  # the inverse falls in delta
        inverse.reference(width=width, delta=high, **params).lower,
        inverse.reference(width=width, delta=low, **params).upper,
    )
    assert back.contains(given), f"{inverse.name}({curve.name}({given})) is {back} at {params}"
    assert back.width() <= 1e-15 * max(1.0, float(given)), f"{inverse.name} is vague: {back} for {given} at {params}"


def check_shift_programme(bound: Bound, params: Mapping[str, Any], contraction: Fraction) -> None:
    """The squared factor of a hidden-state bound is the exact optimum of the shift programme, worst batch last."""
    if bound.name == "noisy-gd.mu":
        batches, steps, size = 1, params["steps"], params["dataset_size"]
    else:
        batches, steps, size = params["batches"], params["batches"] * params["epochs"], params["batch_size"]
    positions = [[int(i % batches == last) for i in range(steps)] for last in range(batches)]
    optima = [shift_programme(contraction, touched) for touched in positions]
    assert optima[-1] == max(optima), f"the worst batch is not the last: {optima}"
    enclosure = bound.reference(width=FINE, contraction=contraction, **params)
    scale = Fraction(params["sensitivity"]) / (size * Fraction(params["noise_on_mean"]))
    lower, upper = (end.to_fraction() ** 2 for end in (enclosure.lower, enclosure.upper))
    truth = scale**2 * optima[-1]
    assert lower <= truth <= upper, f"{bound.name}: {enclosure}^2 misses {float(truth)} at {contraction}, {params}"


_TRUTHS: dict[Any, Enclosure] = {}


def _truth(bound: Bound, params: Point) -> Enclosure:
    """The fine reference, computed once for the many checks that judge the same points."""
    key = (bound.certify, *((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(params.items())))
    if key not in _TRUTHS:
        _TRUTHS[key] = bound.reference(width=FINE, **params)
    return _TRUTHS[key]


def check_fast(bound: Bound, chosen: Sequence[Point], library: str, *, tight: bool = True) -> None:
    """The fast path is never on the wrong side of the truth, never NaN, and (tight) hardly off; all faults are told."""
    arrays = {name: LIBRARIES[library](column) for name, column in columns(bound, chosen).items()}
    result = np.asarray(bound.fast(**arrays))
    assert result.shape == (len(chosen),)
    faults = []
    for params, value in zip(chosen, result.tolist(), strict=True):
        truth = _truth(bound, params)
        if math.isnan(value):
            faults.append(f"NaN at {params}")
        elif bound.safe == "lower":
            faults += _below(value, truth, params, tight)
        elif value < math.inf and truth.lower.compare(value) > 0:
            faults.append(f"UNSOUND {value!r} < {truth} at {params}")
        elif value == math.inf and truth.upper.compare(LARGEST) <= 0:
            faults.append(f"infinite, not {truth}, at {params}")
        elif tight and truth.upper.compare(NEGLIGIBLE) > 0 and _is_loose(bound, value, truth, params):
            faults.append(f"LOOSE {value!r} > {truth} at {params}")
    assert not faults, f"{bound.name} ({library}): {len(faults)} of {len(chosen)} points\n" + "\n".join(faults[:5])


def _is_loose(bound: Bound, value: float, truth: Enclosure, params: Point) -> bool:
    """Whether it is far above the truth, and above what the reference reaches with its fixed amount of work."""

    def above(enclosure: Enclosure) -> bool:
        return value > enclosure.upper.to_float(up=True) * (1 + TIGHT)

    return above(truth) and (bound.soon is None or above(bound.reference(**params)))


def _below(value: float, truth: Enclosure, params: Mapping[str, Any], tight: bool) -> list[str]:
    """The faults of a fast value that must round down."""
    if truth.upper.compare(value) < 0:
        return [f"UNSOUND {value!r} > {truth} at {params}"]
    if tight and truth.lower.compare(NEGLIGIBLE) > 0 and value < truth.lower.to_float(up=False) * (1 - TIGHT):
        return [f"LOOSE {value!r} < {truth} at {params}"]
    return []


def sharpness(bound: Bound) -> float:
    """How close two libraries must come: a root of a sum that carries rounding noise is as sharp as that allows."""
    return 1e-10 if bound.name == "poisson-gaussian.sigma" else 1e-12


def check_libraries_agree(bound: Bound, chosen: Sequence[Point]) -> None:
    """numpy and torch give the same numbers, up to the last few bits of their special functions."""
    table = columns(bound, chosen)
    first, second = (
        np.asarray(bound.fast(**{name: convert(column) for name, column in table.items()}))
        for convert in LIBRARIES.values()
    )
    smallest = 0 if first.min() > NEGLIGIBLE else NEGLIGIBLE
    np.testing.assert_allclose(first, second, rtol=sharpness(bound), atol=smallest)


def _side(text: str, end: Dyadic) -> tuple[int, mpf]:
    """The sign of decimal text minus a dyadic number, and the distance; decided with 300 digits to spare."""
    mantissa, _, exponent = text.partition("e")
    with mp.workdps(400 + len(text) + end.mantissa.bit_length() // 3):
        unit = Fraction(mantissa)
        decimal = mpf(unit.numerator) / unit.denominator * mpf(10) ** int(exponent or "0")
        exact = from_dyadic(end)
        gap = decimal - exact
        if abs(gap) <= abs(exact) * mpf(10) ** -300:
            return 0, mpf(0)
        return int(mp.sign(gap)), abs(gap)


def check_named(bound: Bound, name: str, value: Any) -> None:
    """What is outside a parameter's domain is refused by a line that begins with the parameter."""
    assert bound.example is not None
    with pytest.raises(DomainError, match=f"^{name} = "):
        bound.reference(**{**bound.example, name: value})


def check_decimals(enclosure: Enclosure, *, loss: bool = True) -> None:
    """The decimal ends enclose, and (loss) lose less than a hundredth of the width; a point keeps 40 digits."""
    texts = enclosure.to_decimals()
    (low_side, low_loss), (high_side, high_loss) = map(_side, texts, (enclosure.lower, enclosure.upper))
    assert low_side <= 0, f"{texts[0]} is above the lower end of {enclosure!r}"
    assert high_side >= 0, f"{texts[1]} is below the upper end of {enclosure!r}"
    if not loss:
        return
    with mp.workdps(400):
        lower, upper = from_dyadic(enclosure.lower), from_dyadic(enclosure.upper)
        allowed = (upper - lower) / 100 if upper > lower else abs(upper) * mpf(10) ** -39
        assert max(low_loss, high_loss) <= allowed, (
            f"{texts} lose {mp.nstr(low_loss, 5)} and {mp.nstr(high_loss, 5)} of a width {mp.nstr(upper - lower, 5)}"
        )


def contains_root(enclosure: Enclosure, square: Fraction) -> bool:
    """Whether the enclosure contains the square root of a non-negative rational, exactly."""
    return enclosure.lower.to_fraction() ** 2 <= square <= enclosure.upper.to_fraction() ** 2


def check_floats(enclosure: Enclosure) -> None:
    """The float ends are the nearest doubles outward: they enclose, and the next doubles inward would not."""
    low, high = enclosure.to_floats()
    for value, end, outward in ((low, enclosure.lower, -1), (high, enclosure.upper, 1)):
        assert not math.isnan(value)
        if math.isinf(value):
            assert value > 0 if outward > 0 else value < 0, f"{value} is the wrong infinity for {end}"
            assert outward * end.compare(outward * LARGEST) > 0, f"{end} is not beyond the largest double"
            continue
        assert outward * end.compare(value) <= 0, f"{value!r} is on the wrong side of {end}"
        inward = math.nextafter(value, -outward * math.inf)
        if math.isfinite(inward):
            assert outward * end.compare(inward) > 0, f"{inward!r} is closer to {end} than {value!r}"


def check_twins(
    reference: Callable[..., Any], batched: Callable[..., Any], data: tuple[Any, Any], config: Values, tape: Tape
) -> None:
    """A batched training and its literal reference, model by model on one tape, agree to 1e-9 relative."""
    alone = [reference(*data, config, tape.one(model)) for model in range(tape.models)]
    found = disagreement(batched(*data, config, tape), alone)
    assert not found, found
