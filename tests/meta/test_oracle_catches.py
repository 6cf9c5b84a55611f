"""Plant errors in bounds, enclosures and training, and require the very checks of tests/oracle to flag each of them.

A check that a planted error survives is no check. Every planted error goes through the helpers of `tests/checks.py`
on the points that the tests use too: what is registered, unplanted, passes the same calls there (test_numbers and
test_fast, of whose points those of `all_fast` are the first half).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import acb, arb

import oracle
from empirical.gate.making.points import fixed_points
from oracle.algorithms.hidden_state import torch_noisy_cgd
from oracle.bounds.hidden_state import hidden_state
from oracle.core import registry
from oracle.core.algorithm import Values
from oracle.core.arithmetic import integral
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.registry import Bound, closed_form
from oracle.core.tape import Tape
from oracle.engines import gaussian_curve, geometric
from tests.checks import (
    LIBRARIES,
    check_decimals,
    check_fast,
    check_floats,
    check_libraries_agree,
    check_monotone,
    check_round_trip,
    check_second_opinion,
    check_shift_programme,
    check_twins,
    check_width,
    sharpness,
)
from tests.oracle.core.test_training import ALGORITHM, config, data
from tests.tiers import represented
from tests.topics import gathered

BOUNDS = list(registry.bounds().values())
every_bound = pytest.mark.parametrize("bound", BOUNDS, ids=lambda item: item.name)
shared_check = pytest.mark.parametrize("bound", represented(BOUNDS))  # the check is the same for all
DEFAULT = Fraction(1, 10**12)


def all_opinions(bound: Bound) -> None:
    """The second opinion at the points of a fixed sample."""
    for params in fixed_points(bound, 12, seed=1):
        check_second_opinion(bound, params)


def all_widths(bound: Bound) -> None:
    for params in fixed_points(bound, 12, seed=1):
        check_width(bound, params, DEFAULT)


def all_fast(bound: Bound) -> None:
    for library in LIBRARIES:
        check_fast(bound, fixed_points(bound, 200, seed=1), library)


# --- wrong formulas


def flipped_sign(v: Values) -> arb:
    """Phi(epsilon/mu - mu/2) - e^epsilon Phi(-mu/2 - epsilon/mu)."""
    mu, epsilon = ball(v.sensitivity) / ball(v.sigma), ball(v.epsilon)
    tail = gaussian_curve.normal_upper_tail
    return tail(mu / 2 - epsilon / mu) - epsilon.exp() * tail(epsilon / mu + mu / 2)


def forgotten_second_term(v: Values) -> arb:
    """The tail bound Phi(mu/2 - epsilon/mu): an upper bound, but not the truth."""
    mu, epsilon = ball(v.sensitivity) / ball(v.sigma), ball(v.epsilon)
    return gaussian_curve.normal_upper_tail(epsilon / mu - mu / 2)


def laplace_without_half(v: Values) -> arb:
    gap = v.sensitivity / v.scale - v.epsilon
    return -ball(-gap).expm1() if gap > 0 else arb(0)


def cgd_with(power: Callable[[int], int], *, one_batch: bool = True) -> Callable[[Values], arb]:
    """NoisyCGD with c^power(k) in front of the memory term; without `one_batch`, also at k = 1."""

    def formula(v: Values) -> arb:
        c, k, epochs, powers = v.contraction, v.batches, v.epochs, geometric.BallPowers()
        scale = ball(v.sensitivity / (v.batch_size * v.noise_on_mean))
        if k == 1 and one_batch:
            return scale * hidden_state.gd_factor(c, epochs, powers).sqrt()
        memory = hidden_state.gd_factor(c, k * (epochs - 1), powers)
        return scale * (1 + powers.power(c, power(k)) * memory / powers.geometric_sum(c, k) ** 2).sqrt()

    return formula


def gd_off_by_one(v: Values) -> arb:
    factor = hidden_state.gd_factor(v.contraction, v.steps + 1, geometric.BallPowers())
    return ball(v.sensitivity / (v.dataset_size * v.noise_on_mean)) * factor.sqrt()


def gd_composed(v: Values) -> arb:
    """Plain composition, as if every iterate were released."""
    return ball(v.sensitivity / (v.dataset_size * v.noise_on_mean)) * ball(v.steps).sqrt()


WRONG = {
    "sign flipped": ("gaussian.delta", closed_form(flipped_sign)),
    "second term forgotten": ("gaussian.delta", closed_form(forgotten_second_term)),
    "no half in the exponent": ("laplace.delta", closed_form(laplace_without_half)),
    "c^2k for c^(2k-2)": ("noisy-cgd.mu", closed_form(cgd_with(lambda k: 2 * k))),
    "c^(2k-1) for c^(2k-2)": ("noisy-cgd.mu", closed_form(cgd_with(lambda k: 2 * k - 1))),
    "one step more": ("noisy-gd.mu", closed_form(gd_off_by_one)),
    "every iterate paid for": ("noisy-gd.mu", closed_form(gd_composed)),
    "mu for mu/2": ("gdp.epsilon", lambda v, w: gaussian_curve.epsilon_of_mu(lambda: ball(v.mu / 2), v.delta, w)),
    "sensitivity ignored": (
        "gaussian.epsilon", lambda v, w: gaussian_curve.epsilon_of_mu(lambda: 1 / ball(v.sigma), v.delta, w),
    ),
    "delta halved": ("gaussian.sigma", lambda v, w: gaussian_curve.sigma_of(v.sensitivity, v.epsilon, v.delta / 2, w)),
}


WRONG |= gathered("WRONG", "tests.meta", "planted")


def test_every_bound_has_a_wrong_variant() -> None:
    assert {bound for bound, _ in WRONG.values()} == set(registry.bounds())


@pytest.mark.full
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_formula_is_caught(name: str) -> None:
    bound, certify = WRONG[name]
    with pytest.raises(AssertionError, match=r"misses|lies (above|below) the truth"):
        all_opinions(replace(oracle.bound(bound), certify=certify))


def programme_points(bound: Bound) -> None:
    common = {"sensitivity": 1, "sigma": 1}
    for contraction in (Fraction(1, 2), Fraction(9, 10)):
        if bound.name == "noisy-gd.mu":
            check_shift_programme(bound, {**common, "dataset_size": 1, "steps": 4}, contraction)
        else:
            for batches in (1, 2, 3):
                params = {**common, "batch_size": 1, "batches": batches, "epochs": 4}
                check_shift_programme(bound, params, contraction)


@pytest.mark.parametrize("formula", [cgd_with(lambda k: 2 * k), cgd_with(lambda k: 2 * k - 2, one_batch=False)],
                         ids=["c^2k", "second formula at one batch"])
def test_the_shift_programme_catches_a_wrong_factor(formula: Callable[[Values], arb]) -> None:
    programme_points(oracle.bound("noisy-cgd.mu"))
    with pytest.raises(AssertionError, match="misses"):
        programme_points(replace(oracle.bound("noisy-cgd.mu"), certify=closed_form(formula)))


def test_the_shift_programme_catches_plain_composition() -> None:
    programme_points(oracle.bound("noisy-gd.mu"))
    with pytest.raises(AssertionError, match="misses"):
        programme_points(replace(oracle.bound("noisy-gd.mu"), certify=closed_form(gd_composed)))


def test_round_trips_catch_an_inverse_of_another_curve() -> None:
    delta, epsilon = oracle.bound("gaussian.delta"), oracle.bound("gaussian.epsilon")
    params: dict[str, Any] = {"sigma": 1, "sensitivity": Fraction(1, 2)}
    check_round_trip(delta, epsilon, params, "epsilon", Fraction(1))
    shifted = replace(epsilon, certify=lambda v, w: gaussian_curve.epsilon_of_mu(
        lambda: ball(v.sensitivity / v.sigma), v.delta * (1 + Fraction(1, 10**15)), w,
    ))
    with pytest.raises(AssertionError):
        check_round_trip(delta, shifted, params, "epsilon", Fraction(1))


def test_monotonicity_catches_a_bound_that_moves_the_wrong_way_or_not_at_all() -> None:
    gdp = oracle.bound("gdp.epsilon")
    params: dict[str, Any] = {"mu": Fraction(1), "delta": Fraction(1, 10**5)}
    check_monotone(gdp, params, "mu", Fraction(2), certain=True)
    inverted = replace(gdp, certify=lambda v, w: gdp.certify(Values(mu=1 / v.mu, delta=v.delta), w))
    constant = replace(gdp, certify=lambda v, w: gdp.certify(Values(mu=Fraction(1), delta=v.delta), w))
    with pytest.raises(AssertionError, match="wrong way"):
        check_monotone(inverted, params, "mu", Fraction(2))
    with pytest.raises(AssertionError, match="does not move"):
        check_monotone(constant, params, "mu", Fraction(2), certain=True)


# --- dishonest enclosures


def shrunk(bound: Bound, share: Fraction) -> Bound:
    """The bound with every enclosure shrunk around its midpoint to that share of its width (0: the radius dropped)."""

    def certify(values: Values, width: Fraction) -> Enclosure:
        honest = bound.certify(values, width)
        unit = min(honest.lower.exponent, honest.upper.exponent) - 40
        lower, upper = (end.mantissa << (end.exponent - unit) for end in (honest.lower, honest.upper))
        middle, radius = (lower + upper) // 2, int((upper - lower) * share / 2)
        return Enclosure(Dyadic(middle - radius, unit), Dyadic(middle + radius, unit))

    return replace(bound, certify=certify)


@pytest.mark.full
@shared_check
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10**4)], ids=["radius dropped", "shrunk"])
def test_an_enclosure_that_is_too_narrow_is_caught(bound: Bound, share: Fraction) -> None:
    enclosures = [bound.reference(**params) for params in fixed_points(bound, 12, seed=1)]
    if all(item.lower == item.upper for item in enclosures):
        assert bound.name == "composition.basic", "only a product of doubles has no radius to drop"
        return
    with pytest.raises(AssertionError, match=r"misses|lies (above|below) the truth"):
        all_opinions(shrunk(bound, share))


@pytest.mark.full
@every_bound
def test_an_enclosure_that_is_too_wide_is_caught(bound: Bound) -> None:
    def certify(values: Values, width: Fraction) -> Enclosure:
        honest = bound.certify(values, width)
        low, high = ((end.mantissa << 39, end.exponent - 39) for end in (honest.lower, honest.upper))
        outward = (Dyadic(low[0] - honest.lower.mantissa, low[1]), Dyadic(high[0] + honest.upper.mantissa, high[1]))
        return Enclosure(*outward)  # 2^-38 = 3.6e-12 of the value wide, where 1e-12 is asked for

    with pytest.raises(AssertionError, match="is wider than"):
        all_widths(replace(bound, certify=certify))


@dataclass(frozen=True)
class Inward(Enclosure):
    """An enclosure whose conversions round to nearest, as naive code does."""

    def to_floats(self) -> tuple[float, float]:
        return float(self.lower.to_fraction()), float(self.upper.to_fraction())

    def to_decimals(self) -> tuple[str, str]:
        low, high = self.to_floats()
        return f"{low:.17g}", f"{high:.17g}"


def test_conversions_that_round_inward_are_caught() -> None:
    ends = (Dyadic(2**60 - 1, -60), Dyadic(2**61 + 1, -60))
    check_floats(Enclosure(*ends))
    check_decimals(Enclosure(*ends), loss=False)
    with pytest.raises(AssertionError):
        check_floats(Inward(*ends))
    with pytest.raises(AssertionError):
        check_decimals(Inward(*ends), loss=False)


class Coarse(Enclosure):
    """An enclosure that prints two digits."""

    def to_decimals(self) -> tuple[str, str]:
        return self.lower.to_decimal(digits=2, up=False), self.upper.to_decimal(digits=2, up=True)


def test_decimals_that_throw_digits_away_are_caught() -> None:
    with pytest.raises(AssertionError, match="lose"):
        check_decimals(Coarse(Dyadic(1234567, -10), Dyadic(1234568, -10)))


def test_an_integrand_that_ignores_the_analytic_flag_is_caught() -> None:
    """The kink of test_arithmetic, with the flag dropped: acb.integral then certifies a wrong number."""

    def kink(honest: bool) -> Enclosure:
        def integrand(z: acb, analytic: bool) -> acb:
            shifted = z - acb(ball(Fraction(1, 3)))
            return (shifted * shifted).sqrt(analytic=analytic and honest)

        return Enclosure.of_ball(integral(integrand, arb(0), arb(1), tail=arb(0), tolerance=Fraction(1, 10**9)))

    assert kink(True).contains(Fraction(5, 18))
    assert not kink(False).contains(Fraction(5, 18))


# --- fast paths that are not safe


def outward(bound: Bound) -> int:
    """The sign of the safe direction."""
    return 1 if bound.safe == "upper" else -1


@pytest.mark.full
@every_bound
def test_a_fast_path_rounded_the_wrong_way_is_caught(bound: Bound) -> None:
    """By a part in 10^12, where a fast path's own excess is smaller than that at most points."""
    factor = 1 - outward(bound) * 1e-12
    with pytest.raises(AssertionError, match="UNSOUND"):
        all_fast(replace(bound, vectorised=lambda xp, v: bound.vectorised(xp, v) * factor))


@pytest.mark.full
@every_bound
def test_a_loose_fast_path_is_caught(bound: Bound) -> None:
    factor = 1 + outward(bound) * 1e-8
    with pytest.raises(AssertionError, match="LOOSE"):
        all_fast(replace(bound, vectorised=lambda xp, v: bound.vectorised(xp, v) * factor))


@pytest.mark.full
@pytest.mark.parametrize(  # the inverse's margin of 10^-12 is none of these budgets, and covers plain float64 as well
    "bound", [item for item in BOUNDS if item.name != "poisson-gaussian.sigma"], ids=lambda item: item.name
)
def test_dropped_budgets_are_caught(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rounding budget set to nothing: plain float64, which is below the truth about as often as above."""
    dropped = 0
    for name, module in list(sys.modules.items()):
        for budget in ("UNIT", "TINY"):
            if name.startswith("oracle.") and hasattr(module, budget):
                monkeypatch.setattr(module, budget, 0.0)
                dropped += 1
    assert dropped >= 2, "there are no budgets of these names to drop"
    with pytest.raises(AssertionError, match="UNSOUND"):
        all_fast(bound)


@pytest.mark.full
@shared_check
def test_a_fast_path_that_leaks_nan_is_caught(bound: Bound) -> None:
    class Leaky(Bound):
        def fast(self, **given: Any) -> Any:
            result = bound.fast(**given)
            result[7] = math.nan
            return result

    leaky = Leaky(**{name: getattr(bound, name) for name in bound.__dataclass_fields__})
    with pytest.raises(AssertionError, match="NaN"):
        all_fast(leaky)


@pytest.mark.full
@shared_check
def test_libraries_that_differ_are_caught(bound: Bound) -> None:
    def vectorised(xp: Any, v: Values) -> Any:
        result = bound.vectorised(xp, v)
        return result * (1 + 10 * sharpness(bound)) if isinstance(result, torch.Tensor) else result

    check_libraries_agree(bound, fixed_points(bound, 50, seed=3))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_libraries_agree(replace(bound, vectorised=vectorised), fixed_points(bound, 50, seed=3))


# --- training that is not the algorithm


def batched_with(**patches: Any) -> Callable[..., Any]:
    """The batched twin with a planted bug: another configuration, or a wrapped tape."""

    def train(features: Any, labels: Any, values: Values, tape: Tape) -> Any:
        wrap = patches.get("tape", lambda given: given)
        changed = Values(**{**vars(values), **patches.get("values", lambda v: {})(values)})
        return torch_noisy_cgd.train(features, labels, changed, wrap(tape))

    return train


@dataclass(frozen=True)
class SameNoiseEveryStep(Tape):
    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return super().normal(purpose, 0, dimension)


@dataclass(frozen=True)
class SameNoiseForAll(Tape):
    def normal(self, purpose: str, step: int, dimension: int) -> Any:
        return np.tile(super().normal(purpose, step, dimension)[0], (self.models, 1))


MUTATED = {
    "no noise": batched_with(values=lambda v: {"sigma": Fraction(0)}),
    "noise on the sum": batched_with(values=lambda v: {"sigma": v.sigma / v.batch_size}),
    "no clipping": batched_with(values=lambda v: {"clip_norm": Fraction(10**9)}),
    "clipped to 2C": batched_with(values=lambda v: {"clip_norm": 2 * v.clip_norm}),
    "no regularisation": batched_with(values=lambda v: {"lam": Fraction(0)}),
    "one epoch short": batched_with(values=lambda v: {"epochs": v.epochs - 1}),
    "whole data a batch": batched_with(values=lambda v: {"batch_size": 6}),
    "eta off in the 8th digit": batched_with(values=lambda v: {"eta": v.eta * (1 + Fraction(1, 10**8))}),
    "noise reused at every step": batched_with(tape=lambda t: SameNoiseEveryStep(t.seed, t.models, t.first_model)),
    "noise shared by the models": batched_with(tape=lambda t: SameNoiseForAll(t.seed, t.models, t.first_model)),
}


@pytest.mark.parametrize("name", MUTATED)
def test_a_planted_training_bug_is_caught(name: str) -> None:
    values, tape = config(loss="linear"), Tape(5, 3)
    check_twins(ALGORITHM.reference, torch_noisy_cgd.train, data(), values, tape)
    with pytest.raises(AssertionError, match="is not"):
        check_twins(ALGORITHM.reference, MUTATED[name], data(), values, tape)
