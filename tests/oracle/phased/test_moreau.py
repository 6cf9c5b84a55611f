"""Bounded links, and the derivative of a Moreau envelope: against roots, closed forms, and the envelope itself."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from scipy import optimize

from oracle.algorithms.phased import moreau, torch_moreau
from oracle.algorithms.shared import links, torch_links
from oracle.core import vocabulary
from oracle.core.algorithm import Values
from oracle.core.errors import DomainError

SMOOTH = [link for link in links.LINK.choices if link != "sign"]
every_link = pytest.mark.parametrize("link", links.LINK.choices)
every_oracle = pytest.mark.parametrize("oracle", vocabulary.gradient_oracle.choices)


def config(link: str = "tanh", **changes: Any) -> Values:
    given = {
        "label_bound": Fraction(1), "envelope_smoothness": Fraction(2), "oracle_error": Fraction(1, 10**6),
        "gradient_oracle": "bisection",
    }
    return Values(link=link, **{**given, **changes})


def points(seed: int, count: int) -> Any:
    """Bounds, betas, scores and labels; some labels are on the ends, and some scores are 0."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        bound = Fraction(float(rng.uniform(0.3, 3)))
        label = float(bound) * float(rng.choice([-1, 1, rng.uniform(-1, 1)]))
        score = float(rng.choice([0, rng.normal() * 3], p=[0.1, 0.9]))
        yield bound, Fraction(float(10 ** rng.uniform(-0.5, 2))), score, label


def exact(link: str, bound: Fraction, beta: Fraction, score: float, label: float) -> float:
    """The derivative to 40 digits: beta (m - u) at the root u of link(u) - y + beta (u - m), or in closed form."""
    b, strength = float(bound), float(beta)
    if link == "constant":
        return b - label
    if link in ("clip", "sign"):
        inside = strength * (score - label) / (1 + strength) if link == "clip" else strength * score
        return min(b - label, max(-b - label, inside))
    with mpmath.workdps(60):
        scale = {"tanh": mpmath.tanh, "sigmoid": lambda u: 1 / (1 + mpmath.exp(-u))}[link]
        low, high = score - 2 * b / mpmath.mpf(strength), score + 2 * b / mpmath.mpf(strength)
        root = mpmath.findroot(
            lambda u: b * scale(u) - label + strength * (u - score), (low - 1, high + 1), solver="anderson", tol=1e-80,
        )
        return float(strength * (score - root))


# --- links


@every_link
def test_a_link_rises_within_its_bound_as_fast_as_it_says(link: str) -> None:
    scores = np.concatenate([np.linspace(-6, 6, 4001), [-1e300, 1e300]])
    scores.sort()
    for bound in (Fraction(1, 2), Fraction(3)):
        found = np.array([links.value(link, float(z), float(bound)) for z in scores])
        assert np.abs(found).max() <= bound
        slopes = np.diff(found)[1:-1] / np.diff(scores)[1:-1]
        assert slopes.min() >= 0
        if link != "sign":
            slope = float(links.lipschitz(link, bound))
            assert slopes.max() <= slope * (1 + 1e-9)
            assert slopes.max() >= slope * (1 - 1e-5)
        batched = torch_links.value(link, torch.tensor(scores), float(bound)).numpy()
        np.testing.assert_allclose(batched, found, rtol=1e-14, atol=1e-15)


def test_a_jump_has_no_lipschitz_constant() -> None:
    with pytest.raises(DomainError, match="link = sign is outside its domain: it jumps"):
        links.lipschitz("sign", Fraction(1))
    assert [links.value("sign", z, 2.0) for z in (-0.1, 0.0, 0.1)] == [-2.0, 0.0, 2.0]


# --- how much work the oracles do


def test_the_halvings_are_the_least_that_suffice() -> None:
    for bound, error, k in ((1, 2, 0), (1, Fraction(199, 100), 1), (1, 1, 1), (1, Fraction(1, 1024), 11), (8, 1, 4)):
        assert moreau.halvings(Fraction(bound), Fraction(error)) == k
        assert 2 * bound <= error * 2**k
        assert k == 0 or 2 * bound > error * 2 ** (k - 1)


def test_algorithm_4_takes_the_papers_steps() -> None:
    for bound, error, t in ((1, 12, 1), (1, 100, 1), (1, Fraction(1199, 100), 2), (1, 1, 144), (2, 1, 576)):
        assert moreau.steps(Fraction(bound), Fraction(error)) == t


# --- the derivative


@every_link
@pytest.mark.parametrize("error", ["1", "1e-3", "1e-12"])
def test_bisection_finds_the_exact_derivative_up_to_the_error(link: str, error: str) -> None:
    for bound, beta, score, label in points(1, 40):
        values = config(link, label_bound=bound, envelope_smoothness=beta)
        found = moreau.bisection(values, score, label, Fraction(error))
        assert abs(found - exact(link, bound, beta, score, label)) <= float(error) + 1e-13


@every_link
def test_algorithm_4_finds_it_up_to_the_error_too(link: str) -> None:
    worst = 0.0
    for bound, beta, score, label in points(2, 12):
        for share in (Fraction(1, 4), Fraction(1), Fraction(11)):
            values = config(link, label_bound=bound, envelope_smoothness=beta)
            found = moreau.subgradient(values, score, label, share * bound)
            gap = abs(found - exact(link, bound, beta, score, label))
            assert gap <= share * bound
            worst = max(worst, gap / float(share * bound))
    assert worst > 1e-4, "no error at all: this is not Algorithm 4"


@every_link
def test_the_first_steps_of_algorithm_4_are_those_by_hand(link: str) -> None:
    """T = 1: u_1 = m, so 0. T = 2: u_2 = m - (link(m) - y)/beta, of weight 2/3. T = 3: u_3 is a step of 2/(3 beta)."""
    for bound, beta, score, label in points(3, 20):
        values, b, strength = config(link, label_bound=bound, envelope_smoothness=beta), float(bound), float(beta)
        first = links.value(link, score, b) - label
        assert moreau.subgradient(values, score, label, 12 * bound) == 0
        assert moreau.subgradient(values, score, label, 9 * bound) == pytest.approx(2 / 3 * first, rel=1e-9, abs=1e-12)
        second = links.value(link, score - first / strength, b) - label - first
        expected = (2 * first + 3 * (first + 2 / 3 * second)) / 6
        assert moreau.subgradient(values, score, label, 7 * bound) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@every_oracle
@every_link
def test_the_batched_oracles_are_the_literal_ones(link: str, oracle: str) -> None:
    scores = np.random.default_rng(4).normal(size=15) * 3
    for bound, beta, _, label in points(5, 4):
        error = bound if oracle == "subgradient" else Fraction(1, 10**6)
        strength = max(beta, Fraction(1, 2))
        values = config(
            link, label_bound=bound, envelope_smoothness=strength, oracle_error=error, gradient_oracle=oracle
        )
        for longest in (1, 2):
            together = torch_moreau.derivative(values, torch.tensor(scores), label, longest).numpy()
            alone = [moreau.derivative(values, float(score), label, longest) for score in scores]
            np.testing.assert_allclose(together, alone, rtol=1e-10, atol=1e-11)


def test_longer_records_ask_for_a_smaller_error() -> None:
    """The error of a gradient is |x| times that of the derivative: at |x| = 2, four times the steps."""
    for oracle, chosen in (("bisection", moreau.bisection), ("subgradient", moreau.subgradient)):
        values = config(gradient_oracle=oracle, oracle_error=Fraction(1, 4))
        assert moreau.derivative(values, 0.7, 0.3, 1) == chosen(values, 0.7, 0.3, Fraction(1, 4))
        assert moreau.derivative(values, 0.7, 0.3, 2) == chosen(values, 0.7, 0.3, Fraction(1, 8))


def test_it_is_the_slope_of_the_envelope() -> None:
    """The envelope of log cosh u - y u, minimised numerically, and its difference quotients."""
    values, beta, label = config(envelope_smoothness=Fraction(3, 2)), 1.5, 0.3

    def envelope(m: float) -> float:
        best = optimize.minimize_scalar(
            lambda u: math.log(math.cosh(u)) - label * u + beta / 2 * (u - m) ** 2, bounds=(m - 2, m + 2),
            method="bounded", options={"xatol": 1e-9},
        )
        return float(best.fun)

    for m in (-3.0, -0.4, 0.0, 0.7, 2.5):
        slope = (envelope(m + 1e-4) - envelope(m - 1e-4)) / 2e-4
        assert moreau.bisection(values, m, label, Fraction(1, 10**10)) == pytest.approx(slope, abs=1e-7)


@every_link
def test_it_rises_by_no_more_than_beta_and_stays_below_2b(link: str) -> None:
    scores = np.linspace(-4, 4, 161)
    for bound, beta, _, label in points(6, 5):
        values = config(link, label_bound=bound, envelope_smoothness=beta)
        found = np.array([moreau.bisection(values, float(m), label, Fraction(1, 10**13)) for m in scores])
        assert np.abs(found).max() <= 2 * bound
        slopes = np.diff(found) / np.diff(scores)
        assert slopes.min() >= -1e-9
        assert slopes.max() <= float(beta) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("link", SMOOTH)
def test_a_large_beta_smooths_nothing(link: str) -> None:
    for bound, _, score, label in points(7, 10):
        values = config(link, label_bound=bound, envelope_smoothness=Fraction(10**12))
        plain = links.value(link, score, float(bound)) - label
        assert moreau.bisection(values, score, label, Fraction(1, 10**12)) == pytest.approx(plain, abs=1e-10)
