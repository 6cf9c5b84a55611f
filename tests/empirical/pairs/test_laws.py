"""Exact laws against closed forms that were derived elsewhere, at their limits, and where they must refuse."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from empirical.pairs.finite_law import FiniteLaw, LaplaceProductLaw
from empirical.pairs.laws import GaussianLaw, LaplaceLaw, MixtureLaw, NearlyLaw, isotropic
from oracle.core.enclosure import ball
from oracle.core.errors import DomainError, OracleError
from oracle.core.registry import bound

NONE = [(Fraction(1), Fraction(0))]
UNIT = np.ones(1)


def _gaussian(mu: str) -> GaussianLaw:
    return isotropic(gap=Fraction(mu), variance=Fraction(1), direction=UNIT)


@pytest.mark.parametrize("mu", ["0.3", "1", "4"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-5", "0.1"])
def test_a_mixture_of_one_part_is_the_gaussian_pair(mu: str, delta: str) -> None:
    mixture = MixtureLaw(NONE, [(Fraction(1), 3 * Fraction(mu))], Fraction(9), UNIT)
    assert mixture.epsilon(delta).overlaps(bound("gdp.epsilon").reference(mu=mu, delta=delta))


@pytest.mark.parametrize("rate", ["0.01", "0.3", "0.9"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
def test_one_sampled_step_is_the_accountants(rate: str, neighbours: str) -> None:
    parts = [(1 - Fraction(rate), Fraction(0)), (Fraction(rate), Fraction(1))]
    other = NONE if neighbours == "add_remove" else [(weight, -mean) for weight, mean in parts]
    mixture = MixtureLaw(other, parts, Fraction(1), UNIT)
    accounted = bound("poisson-gaussian.epsilon").reference(
        sigma=1, sampling_rate=rate, steps=1, delta="1e-5", neighbours=neighbours
    )
    assert mixture.epsilon("1e-5").overlaps(accounted)


def test_a_mixture_knows_both_directions() -> None:
    # Removing the record is the worse way round where it is nearly always there.
    parts = [(Fraction(1, 100), Fraction(0)), (Fraction(99, 100), Fraction(2))]
    exact = MixtureLaw(NONE, parts, Fraction(1), UNIT).epsilon("1e-5").to_floats()[0]
    mirrored = MixtureLaw(
        [(weight, -mean) for weight, mean in parts], NONE, Fraction(1), UNIT
    ).epsilon("1e-5").to_floats()[0]
    assert exact == pytest.approx(mirrored, rel=1e-9)
    law = MixtureLaw(NONE, parts, Fraction(1), UNIT)
    false_positive, true_positive = law.rates(np.linspace(-6, 8, 4001))
    forward = np.log((true_positive - 1e-5)[true_positive > 2e-5] / false_positive[true_positive > 2e-5]).max()
    below, above = 1 - false_positive, 1 - true_positive
    backward = np.log((below - 1e-5)[below > 2e-5] / above[below > 2e-5]).max()
    assert exact == pytest.approx(max(forward, backward), rel=1e-4)


def test_means_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(DomainError, match="monotone"):
        MixtureLaw([(Fraction(1), Fraction(1))], NONE, Fraction(1), UNIT)


@pytest.mark.parametrize("ratio", ["0.5", "2"])
def test_the_laplace_epsilon_inverts_the_laplace_curve(ratio: str) -> None:
    law = LaplaceLaw(lambda: ball(Fraction(ratio)), UNIT, np.zeros(1))
    epsilon = law.epsilon("1e-3")
    curve = bound("laplace.delta")
    at_least, at_most = (
        curve.reference(scale=1, sensitivity=ratio, epsilon=end.to_fraction()) for end in (epsilon.upper, epsilon.lower)
    )
    assert at_least.possibly_le(Fraction(1, 1000))
    assert not at_most.certainly_le(Fraction(999, 10**6))
    assert LaplaceLaw(lambda: ball(Fraction(1, 10**6)), UNIT, np.zeros(1)).epsilon("0.1").to_floats() == (0.0, 0.0)


def test_one_coordinate_of_a_product_is_the_laplace_law() -> None:
    single = LaplaceLaw(lambda: ball(Fraction(1)), UNIT, np.array([0.5]))
    product = LaplaceProductLaw(Fraction(1), 1.0, (np.zeros(1), np.ones(1)))
    assert product.epsilon("1e-4").overlaps(single.epsilon("1e-4"))
    # The product's score is the loss, 2 x - 1 within [-1, 1]; the other's is x - 1/2 with the mean gap of 1.
    losses = np.linspace(-0.95, 0.95, 39)
    for mine, other in zip(product.rates(losses), single.rates(losses / 2), strict=True):
        assert mine == pytest.approx(other, abs=1e-12)


def test_randomised_response() -> None:
    epsilon, delta = Fraction(3, 2), Fraction(1, 100)

    def law() -> tuple[list[arb], list[arb]]:
        heads = ball(epsilon).exp() / (1 + ball(epsilon).exp())
        return [heads, 1 - heads], [1 - heads, heads]

    finite = FiniteLaw(np.array([[0.0], [1.0]]), law)
    assert finite.epsilon(Fraction(1, 10**12)).to_floats()[1] == pytest.approx(1.5, abs=1e-9)
    # delta(e) = p - e^e (1-p), hence e = log((p - delta) / (1 - p)).
    p = math.exp(1.5) / (1 + math.exp(1.5))
    assert finite.epsilon(delta).to_floats()[0] == pytest.approx(math.log((p - 0.01) / (1 - p)), rel=1e-9)
    assert finite.score(np.array([[1.0], [0.0]])) == pytest.approx([1.5, -1.5])
    assert [list(side) for side in finite.rates(np.array([0.0]))] == [[pytest.approx(1 - p)], [pytest.approx(p)]]


def test_a_leak_that_delta_does_not_cover_has_no_epsilon() -> None:
    finite = FiniteLaw(np.array([[0.0], [1.0]]), lambda: ([arb(1), arb(0)], [arb("0.99"), arb("0.01")]))
    with pytest.raises(OracleError, match="no epsilon"):
        finite.epsilon("1e-3")


def test_doubt_widens_and_too_much_of_it_is_refused() -> None:
    known = _gaussian("1")
    exact = known.epsilon("1e-5")
    doubtful = NearlyLaw(known, Fraction(1, 10**9)).epsilon("1e-5")
    assert doubtful.contains(exact)
    assert 1e-6 < doubtful.width() < 1e-2
    with pytest.raises(OracleError, match="slack"):
        NearlyLaw(known, Fraction(1, 10**6)).epsilon("1e-5")
