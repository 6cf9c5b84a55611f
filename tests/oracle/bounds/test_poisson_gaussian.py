"""The registered bounds of sampled Gaussian steps: second opinions, orderings, limits, what other libraries miss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from empirical.gate.making.points import fixed_points, value_at
from oracle import bound
from oracle.core.enclosure import Enclosure
from tests.checks import check_monotone, check_second_opinion, check_width

EPSILON, DELTA, SIGMA, RDP = (bound(f"poisson-gaussian.{unit}") for unit in ("epsilon", "delta", "sigma", "rdp"))


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 5])  # the seed decides the relation, too
@pytest.mark.parametrize("name", ["epsilon", "delta", pytest.param("sigma", marks=pytest.mark.thorough)])
def test_second_opinion_width_and_order(name: str, seed: int) -> None:
    item = bound(f"poisson-gaussian.{name}")
    for index, params in enumerate(fixed_points(item, 6, seed=seed)):
        check_second_opinion(item, params)
        check_width(item, params, Fraction(1, 10 ** (3 + (2 if name == "sigma" else 5) * index)))
        numbers = [p for p in item.parameters if p.kind != "choice"]
        moved = numbers[index % len(numbers)]
        low, high = sorted((params[moved.name], value_at(item, moved, 0.37)))
        if low != high:
            check_monotone(item, {**params, moved.name: low}, moved.name, high)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
def test_sampling_everything_is_not_sampling(neighbours: str) -> None:
    shift = 2 if neighbours == "replace" else 1
    ours = EPSILON.reference(sigma=3, sampling_rate=1, steps=50, delta="1e-6", neighbours=neighbours)
    plain = bound("gaussian-composed.epsilon").reference(sigma=3, sensitivity=shift, steps=50, delta="1e-6")
    assert ours.overlaps(plain)
    nearly = EPSILON.reference(sigma=3, sampling_rate="0.999999999", steps=50, delta="1e-6", neighbours=neighbours)
    assert nearly.certainly_le(ours)
    assert ours.certainly_le(nearly.upper.to_fraction() + Fraction(1, 10**6))


def test_one_step_is_the_amplified_gaussian() -> None:
    """epsilon = log(1 + q (e^epsilon_0 - 1)) at delta = q delta_0: another closed form than the crossing's."""
    for rate, delta in ((Fraction(1, 10), Fraction(1, 10**6)), (Fraction(1, 2), Fraction(1, 10**3))):
        base = bound("gaussian.epsilon").reference(sigma=1, sensitivity=1, delta=delta / rate)
        low, high = (
            bound("amplification.poisson").reference(base_epsilon=end.to_fraction(), sampling_rate=rate)
            for end in (base.lower, base.upper)
        )
        ours = EPSILON.reference(sigma=1, sampling_rate=rate, steps=1, delta=delta, neighbours="add_remove")
        assert ours.overlaps(Enclosure(low.lower, high.upper))


def test_replacing_is_worse_than_adding_or_removing_and_better_than_both() -> None:
    at = {"sigma": 2, "sampling_rate": "0.05", "steps": 300}
    one, both = (EPSILON.reference(delta="1e-5", neighbours=word, **at) for word in ("add_remove", "replace"))
    assert one.certainly_le(both)
    # A replacement is a removal and an addition: at most epsilon_1 + epsilon_2 with delta_1 + e^{epsilon_1} delta_2.
    part = EPSILON.reference(delta="1e-6", neighbours="add_remove", **at).upper.to_fraction()
    factor = Fraction(np.exp(float(part))) + 1
    assert EPSILON.reference(delta=factor / 10**6, neighbours="replace", **at).certainly_le(2 * part)


def test_renyi_conversion_is_never_below() -> None:
    """The least conversion of the exact divergences is an upper bound of the exact epsilon, and not far off."""
    at = {"sigma": 1, "sampling_rate": "0.01", "steps": 1000, "neighbours": "add_remove"}
    exact = EPSILON.reference(delta="1e-5", **at)
    converted = [
        bound("rdp.epsilon").reference(
            alpha=alpha, rdp=RDP.reference(alpha=alpha, **at).upper.to_fraction(), delta="1e-5", conversion="canonne"
        )
        for alpha in (4, 6, 8, 10)
    ]
    assert all(exact.certainly_le(one) for one in converted)
    assert any(one.certainly_le(exact.upper.to_fraction() * Fraction(13, 10)) for one in converted)


# Where libraries return infinity, go negative, or under-report: the certified value, to the digits known of each.
KNOWN = {
    "dp-accounting says inf": ({"sigma": 1, "sampling_rate": "0.01", "steps": 1000, "delta": "1e-15"}, "4.8545"),
    "Opacus PRV is 0.07 below": ({"sigma": 1, "sampling_rate": "0.01", "steps": 100, "delta": "1e-14"}, "3.398"),
    "the CLT says 2.34": ({"sigma": "0.5", "sampling_rate": "0.001", "steps": 5000, "delta": "1e-6"}, "5.4352"),
    "dp-accounting says 0.1027": ({"sigma": 100, "sampling_rate": "0.001", "steps": 10**6, "delta": "1e-6"}, "0.03367"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_where_other_libraries_fail(name: str) -> None:
    params, digits = KNOWN[name]
    enclosure = EPSILON.reference(neighbours="add_remove", **params)
    unit = Fraction(1, 10 ** len(digits.partition(".")[2]))
    assert not enclosure.possibly_le(Fraction(digits) - unit)
    assert enclosure.certainly_le(Fraction(digits) + unit)


def test_removing_a_record_has_no_largest_loss() -> None:
    """Adding one can lose at most T log(1/(1-q)), here 2 log 2; the larger of both directions never vanishes."""
    value = DELTA.reference(sigma=1, sampling_rate="0.5", steps=2, epsilon=100, neighbours="add_remove")
    assert value.lower.mantissa > 0


def test_no_sampling_needs_no_noise() -> None:
    noise = SIGMA.reference(sampling_rate=0, steps=5, epsilon=1, delta="1e-5", neighbours="replace")
    assert noise == Enclosure.exactly(0)
