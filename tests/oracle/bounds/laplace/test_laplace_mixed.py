"""Laplace releases of several scales in one composition, against integrals of the definition by mpmath."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

from oracle.core.enclosure import ball
from oracle.core.errors import PrecisionError
from oracle.engines.composed_pairs import Laplace, compose
from oracle.engines.laplace import laplace_circle, laplace_residues
from oracle.engines.least_epsilon import least_epsilon
from tests.opinion import from_dyadic
from tests.tiers import later


def one(epsilon: mpf, m: mpf) -> mpf:
    """E max(0, 1 - e^{epsilon - L}) of one release, for every real epsilon."""
    if epsilon >= m:
        return mpf(0)
    return 1 - mp.exp((epsilon - m) / 2) if epsilon > -m else 1 - mp.exp(epsilon)


def delta(epsilon: mpf, ratios: list[mpf]) -> mpf:
    """The same of several: the loss of the first is m, -m, or of density e^{(l-m)/2}/4 between."""
    m, *rest = ratios
    if not rest:
        return one(epsilon, m)
    corners = {epsilon + sign * sum(rest) for sign in (-1, 1)} | {epsilon + a - b for a in rest for b in rest}
    corners |= {epsilon + sign * entry for sign in (-1, 1) for entry in rest}
    path = sorted({-m, m} | {corner for corner in corners if -m < corner < m})
    inside = mp.quad(lambda loss: mp.exp((loss - m) / 2) / 4 * delta(epsilon - loss, rest), path)
    return delta(epsilon - m, rest) / 2 + mp.exp(-m) / 2 * delta(epsilon + m, rest) + inside


@pytest.mark.parametrize(
    "scales", later(
        [(2, 3), (1, 10), (Fraction(1, 10), 5), (2, 2), (1, 2, 3)], lambda item: len(item) > 2, "thorough",
        ids=lambda item: "-".join(map(str, item)),
    ),
)
@pytest.mark.parametrize("share", [0, Fraction(1, 3), Fraction(9, 10)])
def test_the_curve_is_that_of_the_definition(scales: tuple[Fraction, ...], share: Fraction) -> None:
    ratios = [1 / Fraction(scale) for scale in scales]
    epsilon = share * sum(ratios)
    enclosure = compose([(Laplace(scale), 1) for scale in scales]).delta(epsilon)
    with mp.workdps(25):
        truth = delta(mpf(epsilon.numerator) / epsilon.denominator, [mpf(r.numerator) / r.denominator for r in ratios])
        assert abs(from_dyadic(enclosure.upper) - truth) < mpf(10) ** -(12 if len(scales) == 2 else 8) * truth


def test_two_scales_have_an_epsilon() -> None:
    """Near the largest loss 5/6 the curve is that of two atoms, (1 - e^{-g}) / 4 up to what two densities add."""
    found = compose([(Laplace(2), 1), (Laplace(3), 1)]).epsilon("1e-6")
    assert found.upper.to_decimal(digits=14, up=True).startswith("0.8333293333")
    assert found.width() < 1e-12


@pytest.mark.parametrize("parts", [((20, 5), (30, 7)), ((1, 1), (2, 1), (3, 1), (4, 1), (5, 1)), ((2, 20), (3, 20))])
def test_epsilon_and_delta_agree_and_order_does_not_count(parts: tuple[tuple[int, int], ...]) -> None:
    mixed = compose([(Laplace(scale), count) for scale, count in parts])
    turned = compose([(Laplace(scale), count) for scale, count in reversed(parts)])
    found = mixed.epsilon("1e-5")
    low, high = found.lower.to_fraction(), found.upper.to_fraction()
    assert mixed.delta(high).possibly_le("1e-5")
    assert not mixed.delta(low * Fraction(999_999, 10**6)).possibly_le("1e-5")
    assert turned.epsilon("1e-5").overlaps(found)


def test_equal_scales_split_in_two_are_one() -> None:
    """Two ratios that differ by 10^-40 give the curve of one ratio, to about as much."""
    m, steps = Fraction(1, 4), 6
    with ctx.workprec(400):
        gap = ball(Fraction(1))
        whole = laplace_residues.curve(((m, steps),), gap)
        split = laplace_residues.curve(((m, 2), (m + Fraction(1, 10**40), steps - 2)), gap)
        assert abs(whole - split) < arb(10) ** -38


def test_the_ends_of_the_curve() -> None:
    mixed = compose([(Laplace(2), 2), (Laplace(5), 1)])
    assert mixed.delta(Fraction(6, 5)).to_floats() == (0.0, 0.0)
    assert mixed.delta(0).certainly_le(1)
    assert mixed.epsilon("0.999").to_floats() == (0.0, 0.0)


@pytest.mark.parametrize(
    ("parts", "gap"),
    [
        (((Fraction(1, 2), 1), (Fraction(1, 3), 1)), Fraction(1, 2)),
        (((Fraction(1, 2), 3), (Fraction(1, 3), 5)), Fraction(2)),
        (((Fraction(1, 4), 4), (Fraction(1, 2), 2)), Fraction(2)),
        (((Fraction(1, 2), 20), (Fraction(1, 3), 20)), Fraction(6)),
        (tuple((Fraction(1, i), 1) for i in range(1, 8)), Fraction(1)),
    ],
    ids=["few", "several", "delays on the edge", "many", "all different"],
)
def test_the_circle_and_the_residues_agree(parts: laplace_residues.Parts, gap: Fraction) -> None:
    with ctx.workprec(800):
        residues = laplace_residues.curve(parts, ball(gap))
    for precision in (104, 208):
        with ctx.workprec(precision):
            # A gap that is no double: where a delay is as long, its ball does not decide whether that counts.
            circle = laplace_circle.curve(parts, ball(gap / 3) * 3)
            assert circle.overlaps(residues)
            assert circle.rel_accuracy_bits() > precision // 2


def test_gaps_that_share_a_circle_have_their_own_values() -> None:
    """Next to a delay (1/2 + 1/3, twice) both in a cell and across: what is kept of one gap serves no other wrongly."""
    parts = ((Fraction(1, 2), 3), (Fraction(1, 3), 5))
    edge = Fraction(5, 3)
    gaps = [edge - Fraction(1, 50), edge - Fraction(1, 100), edge, edge + Fraction(1, 100), edge + Fraction(1, 50)]
    with ctx.workprec(128):
        circle = [laplace_circle.curve(parts, ball(gap)) for gap in gaps]
        residues = [laplace_residues.curve(parts, ball(gap)) for gap in gaps]
    for i, one in enumerate(circle):
        assert [one.overlaps(other) for other in residues] == [i == j for j in range(len(gaps))]


@pytest.mark.parametrize("near", [0.01, 0.8, 0.83, 5.0])
def test_a_wrong_guess_of_epsilon_is_no_harm(near: float) -> None:
    parts = ((Fraction(1, 2), 1), (Fraction(1, 3), 1))

    def curve(epsilon: arb) -> arb:
        return laplace_residues.curve(parts, ball(Fraction(5, 6)) - epsilon)

    found = least_epsilon(curve, arb(5) / 6, Fraction(1, 10**5), Fraction(1, 10**12), straight=True, near=near)
    assert found.contains(compose([(Laplace(2), 1), (Laplace(3), 1)]).epsilon("1e-5", width="1e-15"))


def test_what_is_out_of_reach_says_what_helps_and_is_answered_without_a_width() -> None:
    mixed = compose([(Laplace(200), 10000), (Laplace(300), 1000)])
    with pytest.raises(PrecisionError, match="ask for a wider width, or for none"):
        mixed.delta("1/2", width="1e-12")
    value = mixed.delta("1/2", width=None)
    # Eleven thousand small losses are nearly a Gaussian one, of the variance sum k m^2.
    mu = (10000 / 200**2 + 1000 / 300**2) ** 0.5
    nearly = mp.ncdf(mu / 2 - 0.5 / mu) - mp.exp(0.5) * mp.ncdf(-mu / 2 - 0.5 / mu)
    assert value.to_floats()[0] == pytest.approx(float(nearly), rel=0.02)
    assert value.width() < 1e-6


def test_many_releases_of_two_scales_are_answered() -> None:
    """Beyond the residues, and short of a contour; the mean of 10^4 draws of the loss agrees to its own error."""
    counts = ((20, 200), (30, 200))
    found = compose([(Laplace(scale), count) for scale, count in counts]).delta("0.3")
    assert found.width() < 1e-12
    rng = np.random.default_rng(7)
    total = np.zeros(10_000)
    for scale, count in counts:
        noise = rng.laplace(0.0, scale, (10_000, count)) + 1.0
        total += ((np.abs(noise) - np.abs(noise - 1.0)) / scale).sum(axis=1)
    draws = np.maximum(0.0, 1.0 - np.exp(0.3 - total))
    assert abs(draws.mean() - found.to_floats()[0]) < 5 * draws.std() / 100  # probability below 10^-6
