"""Risk of DP-GLMtron: the two bounds against each other, against simulation, and at their edges.

A simulated mean must lie below the bound by more than four standard errors: if it were a true mean at the bound, a
normal mean of so many runs would pass with a probability below 4e-5. Seeds are fixed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import oracle
from empirical.gate.making.points import fixed_points
from oracle.core.errors import DomainError
from tests.checks import check_anywhere

RISK, RECURSION = oracle.bound("glmtron.risk"), oracle.bound("glmtron-recursion.risk")
PLAIN, PRIVATE = oracle.bound("glmtron.effective-dimension"), oracle.bound("glmtron.private-dimension")
QUIET = {"label_noise": 0, "noise_on_mean": 0}


def decaying(power: int, count: int = 128) -> Any:
    return np.arange(1, count + 1, dtype=float) ** -power


@pytest.mark.parametrize("bound", [PLAIN, PRIVATE, RISK, RECURSION], ids=lambda item: item.name)
@given(data=st.data())
def test_the_second_opinion_agrees_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


# --- effective dimensions


def test_dimensions_split_at_k_star() -> None:
    """eta N = 4: the eigenvalues 1, 1/4 (at the threshold) count in full, 1/8 with (1/2)^2."""
    common = {"spectrum": "1,1/4,1/8", "dataset_size": 8, "learning_rate": "0.5"}
    assert PLAIN.reference(**common).contains(2 + Fraction(1, 4))
    assert PRIVATE.reference(**common).contains(1 + 4 + 16 * Fraction(1, 8))


@pytest.mark.parametrize("steps", [1, 16, 400, 10**4])
def test_bounded_features_have_few_dimensions(steps: int) -> None:
    """tr H <= 1 and eta = 1/sqrt(N): k* and D_eff are at most sqrt(N), D_pri at most N; equal shares attain both."""
    root = math.isqrt(steps)
    rng = np.random.default_rng(steps)
    spectra = [rng.dirichlet(np.full(30, concentration)) + 1e-12 for concentration in (0.05, 0.3, 1.0, 10.0)]
    for spectrum in [*(s / s.sum() for s in spectra), np.full(root, 1 / root)]:
        common = {"spectrum": spectrum, "dataset_size": float(steps), "learning_rate": 1 / root}
        assert float(PLAIN.fast(**common)) <= root * (1 + 1e-9)
        assert float(PRIVATE.fast(**common)) <= steps * (1 + 1e-9)
    equal = {"spectrum": [Fraction(1, root)] * root, "dataset_size": steps, "learning_rate": Fraction(1, root)}
    assert PLAIN.reference(**equal).contains(root)
    assert PRIVATE.reference(**equal).contains(steps)


def test_an_isotropic_spectrum_counts_its_dimension() -> None:
    common = {"spectrum": [1] * 7, "dataset_size": 100, "learning_rate": "0.02"}
    assert PLAIN.reference(**common).contains(7)
    assert PRIVATE.reference(**common).contains(7)


def test_a_larger_eigenvalue_never_counts_less_in_the_plain_dimension() -> None:
    values = [
        PLAIN.reference(spectrum=[Fraction(size), Fraction(1, 3)], dataset_size=10, learning_rate="0.1").to_floats()[1]
        for size in ("0.01", "0.1", "0.5", "0.999", "1", "2")
    ]
    assert values == sorted(values)
    assert values[-1] == values[-2]


# --- the recursion


def test_one_step_is_the_risk_of_the_start() -> None:
    value = RECURSION.reference(
        spectrum="1,1/2", gap="3,4", dataset_size=1, learning_rate=1, label_noise=5, noise_on_mean=6
    )
    assert value.contains(Fraction(1, 4) * (3 + 2))


def test_two_steps_by_hand() -> None:
    """lambda = gap = 1, eta = 1/2: a_1 = 1 - 1/2 + 1/4 + 1/8 + (s_y^2 + s^2)/4 and b_1 = 3/4."""
    value = RECURSION.reference(
        spectrum="1", gap="1", dataset_size=2, learning_rate="1/2", label_noise=1, noise_on_mean=2
    )
    a = Fraction(7, 8) + Fraction(5, 4)
    assert value.contains((1 + a + 2 * Fraction(3, 4)) / 16)


def test_the_recursion_never_exceeds_the_closed_form() -> None:
    """Gaussian features have alpha = 3; points of the sample whose step is small enough for that."""
    compared = 0
    for params in fixed_points(RISK, 60, seed=11):
        steps = min(int(params["dataset_size"]), 200)
        if 3 * params["learning_rate"] * sum(params["spectrum"]) <= 1:
            common = {key: value for key, value in params.items() if key != "fourth_moment"} | {"dataset_size": steps}
            closed = RISK.reference(fourth_moment=3, **common)
            assert RECURSION.reference(**common).certainly_le(closed.lower.to_fraction()), params
            compared += 1
    assert compared >= 50


@pytest.mark.parametrize("power", [2, 3])
@pytest.mark.parametrize("steps", [64, 1024])
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.2])
def test_the_closed_form_is_within_a_factor_of_the_recursion(power: int, steps: int, rate: float) -> None:
    common = {"spectrum": decaying(power), "gap": np.ones(128), "dataset_size": float(steps), "learning_rate": rate}
    for label, noise in ((0.0, 0.0), (1.0, 0.0), (0.0, 2.0)):
        walked = float(RECURSION.fast(**common, label_noise=label, noise_on_mean=noise))
        closed = float(RISK.fast(**common, label_noise=label, noise_on_mean=noise, fourth_moment=3.0))
        assert walked < closed < 16 * walked


@pytest.mark.parametrize("steps", [64, 256, 1024, 4096])
def test_the_noise_follows_the_private_dimension(steps: int) -> None:
    """|mean - w*|_H^2 over (f Gamma)^2 D_pri / N, 2 f Gamma = 1, from noise alone: 1.58 to 1.76 in simulation."""
    common = {"spectrum": decaying(2), "dataset_size": float(steps), "learning_rate": 0.1}
    risk = float(RECURSION.fast(**common, gap=np.zeros(128), label_noise=0.0, noise_on_mean=1.0))
    ratio = 4 * risk / (0.25 * float(PRIVATE.fast(**common)) / steps)
    assert 1.58 < ratio < 1.80  # above simulation by what the two inequalities for relu lose


def gaussian_excess(w: Any, truth: Any, spectrum: Any) -> Any:
    """E(relu(<w,x>) - relu(<w*,x>))^2 / 2 for x ~ N(0, H), by the arc-cosine kernel."""
    u, v = w * np.sqrt(spectrum), truth * np.sqrt(spectrum)
    lengths, other = np.linalg.norm(u, axis=1), np.linalg.norm(v)
    angle = np.arccos(np.clip(u @ v / (lengths * other), -1.0, 1.0))
    product = lengths * other / (2 * math.pi) * (np.sin(angle) + (math.pi - angle) * np.cos(angle))
    return 0.5 * (0.5 * lengths**2 + 0.5 * other**2 - 2 * product)


@pytest.mark.parametrize(
    ("steps", "rate", "label", "noise"),
    [(64, 0.1, 0.0, 0.0), (256, 0.1, 0.5, 0.0), (256, 0.02, 0.5, 0.4), (256, 0.2, 0.0, 2.0)],
    ids=["start only", "label noise", "all three", "noise of privacy"],
)
def test_simulated_runs_stay_below_both(steps: int, rate: float, label: float, noise: float) -> None:
    """Single runs of the algorithm, 2000 at once; the risk of each mean iterate is exact."""
    rng = np.random.default_rng(6)
    spectrum, runs = decaying(2, 16), 2000
    truth = np.ones(16)
    w, total = np.zeros((runs, 16)), np.zeros((runs, 16))
    for _ in range(steps):
        total += w
        x = rng.normal(size=w.shape) * np.sqrt(spectrum)
        y = np.maximum(0.0, x @ truth) + label * rng.normal(size=runs)
        residual = np.maximum(0.0, np.einsum("ri,ri->r", w, x)) - y
        w = w - rate * (residual[:, None] * x + noise * rng.normal(size=w.shape))
    risks = gaussian_excess(total / steps, truth, spectrum)
    mean, error = float(np.mean(risks)), float(np.std(risks, ddof=1) / math.sqrt(runs))
    common = {
        "spectrum": spectrum, "gap": truth**2, "dataset_size": steps, "learning_rate": rate, "label_noise": label,
        "noise_on_mean": noise,
    }
    walked = RECURSION.reference(**common).to_floats()[1]
    closed = RISK.reference(**common, fourth_moment=3).to_floats()[1]
    assert mean + 4 * error < walked < closed
    assert walked < 4 * mean  # at most two factors of 2 are lost
    assert closed < 40 * mean


# --- the closed form


def test_the_closed_form_by_hand() -> None:
    """One direction, everything 1 but eta = 1/2 and N = 2: dimensions (1/2)^2, h = 2, rho = 1/4."""
    value = RISK.reference(
        spectrum="1", gap="1", dataset_size=2, learning_rate="1/2", fourth_moment=1, label_noise=1, noise_on_mean=1
    )
    start = Fraction(1, 2) * 2 / (Fraction(1, 2) * 4)
    noises = 2 * (Fraction(1, 4) + Fraction(1, 4)) / 2
    drift = (2 + 2 * Fraction(1, 4) * (2 + 2)) / (1 - Fraction(1, 8) * 2)
    assert value.contains(start + noises + Fraction(1, 4) * drift / 4)


def test_gaps_and_noises_add_up_and_order_does_not_matter() -> None:
    common = {"spectrum": "1,1/4,1/9", "dataset_size": 50, "learning_rate": "0.1", "fourth_moment": 3}

    def value(gap: str, label: int, noise: int) -> Fraction:
        return RISK.reference(
            gap=gap, label_noise=label, noise_on_mean=noise, width="1e-30", **common,
        ).lower.to_fraction()

    whole = value("3,2,1", 1, 2)
    parts = value("3,0,0", 0, 0) + value("0,2,0", 0, 0) + value("0,0,1", 0, 0) + value("0,0,0", 1, 0)
    assert abs(whole - parts - 4 * value("0,0,0", 0, 1)) < Fraction(1, 10**25)
    turned = RISK.reference(
        **{**common, "spectrum": "1/9,1,1/4"}, gap="1,3,2", label_noise=1, noise_on_mean=2, width="1e-30",
    )
    assert abs(whole - turned.lower.to_fraction()) < Fraction(1, 10**25)


@pytest.mark.parametrize("bound", [RISK, RECURSION], ids=lambda item: item.name)
def test_a_larger_gap_anywhere_is_a_larger_risk(bound: oracle.Bound) -> None:
    example = dict(bound.example or {})
    gaps = example["gap"].split(",")
    before = bound.reference(**example)
    for index in range(len(gaps)):
        larger = [*gaps[:index], "1.5", *gaps[index + 1 :]]
        after = bound.reference(**{**example, "gap": ",".join(larger)})
        assert not after.possibly_le(before.upper.to_fraction())


@pytest.mark.parametrize("bound", [RISK, RECURSION], ids=lambda item: item.name)
def test_nothing_to_learn_and_no_noise_is_no_risk(bound: oracle.Bound) -> None:
    example = {**(bound.example or {}), **QUIET, "gap": "0,0,0,0,0,0,0,0"}
    assert bound.reference(**example).to_floats() == (0.0, 0.0)
    assert float(bound.fast(**{
        key: [float(entry) for entry in value.split(",")] if "," in str(value) else float(value)
        for key, value in example.items()
    })) == 0.0


def test_no_direction_at_all_is_no_risk() -> None:
    common = {"spectrum": [], "gap": [], "dataset_size": 3, "learning_rate": 1, "label_noise": 1, "noise_on_mean": 1}
    assert RECURSION.reference(**common).to_floats() == (0.0, 0.0)
    assert RISK.reference(**common, fourth_moment=1).to_floats() == (0.0, 0.0)


# --- edges and errors


def test_the_largest_step_is_allowed_and_no_larger_one() -> None:
    common: dict[str, Any] = {
        "spectrum": [0.5, 0.25], "gap": [1.0, 1.0], "dataset_size": 5, "fourth_moment": 1.0, **QUIET,
    }
    edge = Fraction(4, 3)
    RISK.reference(**common, learning_rate=edge)
    with pytest.raises(DomainError, match=r"learning_rate = .* is above 1/\(fourth_moment \* trace\) .* <= 1"):
        RISK.reference(**common, learning_rate=edge + Fraction(1, 10**30))
    below, above = math.nextafter(float(edge), 0.0), math.nextafter(float(edge), 2.0)
    assert float(RISK.fast(**common, learning_rate=below)) > 0
    for rate in (above, 2.0):  # a hair too large is seen by the reference, a lot at once
        with pytest.raises(DomainError, match=r"^learning_rate = "):
            RISK.fast(**common, learning_rate=np.array([0.1, rate]))
        with pytest.raises(DomainError, match=r"^learning_rate = "):
            RISK.fast(**common, learning_rate=torch.tensor([0.1, rate], dtype=torch.float64))


def test_the_recursion_takes_steps_up_to_two_over_the_largest_eigenvalue() -> None:
    common: dict[str, Any] = {"spectrum": [0.5, 0.25], "gap": [1.0, 1.0], "dataset_size": 5, **QUIET}
    exact = RECURSION.reference(**common, learning_rate=4)
    assert float(RECURSION.fast(**common, learning_rate=4.0)) == exact.to_floats()[1]
    with pytest.raises(DomainError, match=r"learning_rate = .* for the entry lambda = 1/2 of spectrum"):
        RECURSION.reference(**common, learning_rate=4 + Fraction(1, 10**30))
    with pytest.raises(DomainError, match=r"^learning_rate = "):
        RECURSION.fast(**common, learning_rate=np.array([1.0, 4.1]))


@pytest.mark.parametrize("bound", [RISK, RECURSION], ids=lambda item: item.name)
def test_spectrum_and_gap_have_one_length(bound: oracle.Bound) -> None:
    with pytest.raises(DomainError, match="must have one length"):
        bound.reference(**{**(bound.example or {}), "gap": "1,1"})
    with pytest.raises(DomainError, match=r"dataset_size = 0 is outside its domain"):
        bound.reference(**{**(bound.example or {}), "dataset_size": 0})
