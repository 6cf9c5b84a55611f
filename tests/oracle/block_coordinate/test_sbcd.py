"""DP-SBCD: the corrected closed form of its theorem, exact laws that the bound may not fall below, edges and errors."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast

RDP, MIXED, EPSILON = (oracle.bound(name) for name in ("sbcd.rdp", "sbcd-mixed.rdp", "sbcd.epsilon"))
COMPOSED, COMPOSED_EPSILON = oracle.bound("sbcd-composition.rdp"), oracle.bound("sbcd-composition.epsilon")
FIGURE: dict[str, Any] = {
    "sensitivity": 1, "batch_size": 100, "learning_rate": "0.01", "batches": 21, "lipschitz_gradient": "0.99",
    "lipschitz_prox": 1,
}
UNIT: dict[str, Any] = {"sensitivity": 1, "batch_size": 1, "learning_rate": "1/2"}
fractions = st.fractions(min_value=Fraction(1, 20), max_value=2, max_denominator=50)
noises = st.lists(fractions, min_size=1, max_size=4)


def spread(noise: list[Fraction], gradient: Fraction, prox: Fraction, batches: int, steps: int) -> Fraction:
    """1/c after so many steps at eta = 1/2: Lemma 4.7 of document 001."""
    q = (gradient * prox) ** 2
    return prox**2 * sum((noise[i // batches] * q ** (steps - 1 - i) for i in range(steps)), Fraction(0))


def corrected_theorem(
    noise: list[Fraction], position: int, batches: int, gradient: Fraction, prox: Fraction
) -> Fraction:
    """Theorem 4.6 with its indices set right, for eta = 1/2 and S = b = 1, in exact rationals.

    Epoch k's 1/(8 o) times ((c_k^{j+1} / c_K^0) q^{-((N-1)(K-k) - j)} prod_{l=k+1}^{K-1} c_l^{j+1} / c_l^j)^{-1}, where
    c_k^i belongs to the law after i steps of epoch k, j steps come before the touch, and q = (L_F L_T)^2.
    """
    q, epochs, j = (gradient * prox) ** 2, len(noise), position - 1

    def inverse(epoch: int, step: int) -> Fraction:
        return spread(noise, gradient, prox, batches, epoch * batches + step)

    total = Fraction(0)
    for k in range(epochs):
        decay = inverse(k, j + 1) / inverse(epochs, 0) * q ** ((batches - 1) * (epochs - k) - j)
        for epoch in range(k + 1, epochs):
            decay *= inverse(epoch, j + 1) / inverse(epoch, j)
        total += decay / (8 * noise[k])
    return total


def exact_gaussian(noise: list[Fraction], position: int, batches: int, gradient: Fraction, prox: Fraction) -> Fraction:
    """R / alpha of the last iterate for F(x) = L_F x, moved by eta S/b = 1/2 where touched, T(x) = L_T x, exactly."""
    mean = variance = Fraction(0)
    for o in noise:
        for batch in range(1, batches + 1):
            mean = prox * (gradient * mean + (Fraction(1, 2) if batch == position else 0))
            variance = prox**2 * (gradient**2 * variance + o)  # 2 eta o = o
    return mean**2 / (2 * variance)


@pytest.mark.full
@pytest.mark.parametrize("bound", [RDP, MIXED, EPSILON, COMPOSED, COMPOSED_EPSILON], ids=lambda item: item.name)
@given(data=st.data())
def test_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


@given(noises, st.integers(1, 4), st.data(), fractions, fractions)
def test_the_corrected_theorem_is_the_recursion(
    noise: list[Fraction], batches: int, data: st.DataObject, gradient: Fraction, prox: Fraction
) -> None:
    position = data.draw(st.integers(1, batches))
    result = RDP.reference(
        alpha=3, noise_variances=noise, batches=batches, batch_position=position, lipschitz_gradient=gradient,
        lipschitz_prox=prox,
        **UNIT,
    )
    assert result.contains(3 * corrected_theorem(noise, position, batches, gradient, prox))


@given(noises, st.integers(1, 4), st.data(), fractions, fractions)
def test_never_below_an_exact_law(
    noise: list[Fraction], batches: int, data: st.DataObject, gradient: Fraction, prox: Fraction
) -> None:
    """Linear maps and Gaussian laws satisfy every hypothesis: what is true of them the bound must allow."""
    position = data.draw(st.integers(1, batches))
    truth = exact_gaussian(noise, position, batches, gradient, prox)
    result = RDP.reference(
        alpha=2, noise_variances=noise, batches=batches, batch_position=position, lipschitz_gradient=gradient,
        lipschitz_prox=prox,
        **UNIT,
    )
    assert result.upper.to_fraction() >= 2 * truth


@pytest.mark.parametrize(("gradient", "prox"), [("0.5", 1), (1, 1), ("1.2", "0.7"), (1, "1/2")])
@pytest.mark.parametrize("batches", [1, 2, 5])
def test_a_touch_before_all_other_steps_is_accounted_exactly(gradient: str, prox: str, batches: int) -> None:
    """Then only common steps follow, and for linear maps nothing is lost, whatever L_T (as it is not in the text)."""
    exact = exact_gaussian([Fraction(1)], 1, batches, Fraction(gradient), Fraction(prox))
    result = RDP.reference(
        alpha=2, noise_variances=[1], batches=batches, batch_position=1, lipschitz_gradient=gradient,
        lipschitz_prox=prox, **UNIT,
    )
    assert result.contains(2 * exact)


def test_known_values() -> None:
    """K = 1, N = 2, eta = 1/2, everything else 1: R/alpha is 1/16 for the first batch and 1/8 for the last."""
    unit = {**UNIT, "alpha": 2, "noise_variances": [1], "batches": 2, "lipschitz_gradient": 1, "lipschitz_prox": 1}
    assert RDP.reference(batch_position=1, **unit).contains(Fraction(1, 8))
    assert RDP.reference(batch_position=2, **unit).contains(Fraction(1, 4))


def test_figure_1b() -> None:
    """alpha = 2 and S = 1: constant noise settles, noise that falls costs more and more, noise that rises less."""

    def at(noise: list[str]) -> float:
        return MIXED.reference(alpha=2, noise_variances=noise, **FIGURE).to_floats()[1]

    constant = [at(["0.0005"] * epochs) for epochs in (1, 10, 20, 30)]
    assert constant[-1] == pytest.approx(2.489e-3, rel=1e-4)
    assert constant[-1] - constant[-2] < 1e-5
    falling = [f"{0.001 - 0.00003 * k:.5f}" for k in range(30)]
    assert at(falling) == pytest.approx(9.24e-3, rel=1e-3)
    assert at(falling[:20]) < at(falling)
    rising = [f"{0.0001 + 0.0003 * k:.4f}" for k in range(30)]
    assert at(rising) == pytest.approx(1.39e-4, rel=5e-3)
    assert at(rising) < at(rising[:20]) < at(rising[:10])
    settling = [f"{max(0.0002, 0.0005 - 0.00003 * k):.5f}" for k in range(1, 31)]
    assert at(settling) == pytest.approx(6.23e-3, rel=1e-3)


@pytest.mark.parametrize("bound", [RDP, MIXED, EPSILON], ids=lambda item: item.name)
def test_the_printed_schedule_of_figure_1a_is_refused(bound: oracle.Bound) -> None:
    """0.01 - 0.003 k is negative from k = 4 on: entry 5 is named with its value, by both paths with its value."""
    noise = ["0.01", "0.007", "0.004", "0.001", "-0.002"]
    rest: dict[str, Any] = {**FIGURE, **({"delta": "1e-5"} if bound is EPSILON else {"alpha": 2})}
    rest |= {"batch_position": 1} if bound is RDP else {}
    with pytest.raises(DomainError, match=r"^noise_variances = -0\.002 \(entry 5\) is outside its domain"):
        bound.reference(noise_variances=noise, **rest)
    floats = {name: float(Fraction(value)) for name, value in rest.items()}
    with pytest.raises(DomainError, match=r"^noise_variances = -0\.002 is outside its domain"):
        bound.fast(noise_variances=np.array([float(entry) for entry in noise]), **floats)
    with pytest.raises(DomainError, match=r"^noise_variances = 0 \(entry 2\)"):
        bound.reference(noise_variances=["0.01", "0"], **rest)


def test_a_position_beyond_the_last_batch_is_refused_by_both_paths() -> None:
    point = {**FIGURE, "alpha": 2, "noise_variances": ["0.01"], "batch_position": 22}
    with pytest.raises(DomainError, match=r"^batch_position = 22 is above batches = 21: there is no such batch"):
        RDP.reference(**point)
    floats = {k: float(Fraction(v)) for k, v in point.items() if k != "noise_variances"}
    with pytest.raises(DomainError, match=r"^batch_position = 22\.0 is above batches = 21\.0"):
        RDP.fast(**floats, noise_variances=[0.01])
    assert RDP.reference(**{**point, "batch_position": 21}).certainly_le(1)


# --- limits


def test_no_epochs_release_nothing() -> None:
    for bound, rest in (
        (RDP, {"alpha": 2, "batch_position": 1, **FIGURE}), (MIXED, {"alpha": 2, **FIGURE}),
        (EPSILON, {"delta": "1e-5", **FIGURE}),
        (COMPOSED, {"alpha": 2, "learning_rate": 1, "batch_size": 1, "sensitivities": []}),
        (COMPOSED_EPSILON, {"delta": "0.1", "learning_rate": 1, "batch_size": 1, "sensitivities": []}),
    ):
        assert bound.reference(noise_variances=[], **rest) == Enclosure.exactly(0)
        floats = {k: np.zeros((3, 0)) if v == [] else float(Fraction(v)) for k, v in rest.items()}
        assert np.asarray(bound.fast(noise_variances=np.zeros((3, 0)), **floats)).tolist() == [0.0, 0.0, 0.0]


@given(noises, fractions, fractions)
def test_one_batch_is_composition(noise: list[Fraction], gradient: Fraction, prox: Fraction) -> None:
    """With one batch every step reads the record, and the bound never forgets: all iterates might be released."""
    lipschitz = {"lipschitz_gradient": gradient, "lipschitz_prox": prox}
    common: dict[str, Any] = {"learning_rate": 1, "batch_size": 3, "noise_variances": noise}
    composed = COMPOSED.reference(alpha=2, sensitivities=[2] * len(noise), width="1e-20", **common)
    block: dict[str, Any] = {"sensitivity": 2, "batches": 1, **common, **lipschitz}
    assert composed.overlaps(RDP.reference(alpha=2, batch_position=1, width="1e-20", **block))
    assert composed.overlaps(MIXED.reference(alpha=2, width="1e-20", **block))


@pytest.mark.parametrize("which", ["lipschitz_gradient", "lipschitz_prox"])
def test_a_map_that_forgets_everything(which: str) -> None:
    """A constant map: only a touch in the very last step is seen, and then only that one where batches are many."""
    point = {**FIGURE, which: 0, "alpha": 2, "noise_variances": ["0.1", "0.2"], "batches": 3}
    assert RDP.reference(**point, batch_position=1) == Enclosure.exactly(0)
    assert RDP.reference(**point, batch_position=3).contains(Fraction(2 * 1, 100 * 4 * 100**2) / Fraction("0.2"))


def test_only_the_product_of_the_lipschitz_constants_counts() -> None:
    point = {**FIGURE, "alpha": 2, "noise_variances": ["0.1", "0.3", "0.2"], "batch_position": 4, "width": "1e-30"}
    pairs = [("0.9", 1), (1, "0.9"), ("0.3", 3), ("1.8", "0.5")]
    results = [RDP.reference(**{**point, "lipschitz_gradient": f, "lipschitz_prox": t}) for f, t in pairs]
    assert all(one.overlaps(other) for one, other in itertools.combinations(results, 2))
    columns = {"lipschitz_gradient": np.array([0.9, 1.0, 0.3, 1.8]), "lipschitz_prox": np.array([1.0, 0.9, 3.0, 0.5])}
    rest = {k: float(Fraction(v)) for k, v in point.items() if k not in (*columns, "noise_variances", "width")}
    fast = RDP.fast(**rest, **columns, noise_variances=[0.1, 0.3, 0.2])
    np.testing.assert_allclose(fast, fast[0], rtol=1e-12)


@pytest.mark.parametrize("exponent", [5, 20, 300])
def test_continuous_where_nothing_contracts(exponent: int) -> None:
    point = {**FIGURE, "alpha": 2, "noise_variances": ["0.1", "0.3"], "batch_position": 4, "width": "1e-40"}
    at = RDP.reference(**{**point, "lipschitz_gradient": 1})
    for near in (1 - Fraction(1, 10**exponent), 1 + Fraction(1, 10**exponent)):
        beside = RDP.reference(**{**point, "lipschitz_gradient": near})
        gap = abs(beside.lower.to_fraction() - at.lower.to_fraction())
        assert gap <= at.upper.to_fraction() * 100 / 10**exponent + Fraction(1, 10**35)


def test_many_batches_cost_no_more_time_and_wash_a_record_out() -> None:
    point = {**FIGURE, "alpha": 2, "noise_variances": ["0.1"], "lipschitz_gradient": 1, "batches": 10**12}
    first, last = (RDP.reference(**point, batch_position=position) for position in (1, 10**12))
    assert first.upper.to_fraction() < Fraction(1, 10**11) * last.lower.to_fraction()


# --- schedules, positions


def test_more_noise_in_the_last_epoch_is_better() -> None:
    point = {**FIGURE, "alpha": 2, "batch_position": 21}
    results = [RDP.reference(noise_variances=["0.1", last], **point) for last in ("0.4", "0.2", "0.1", "0.05")]
    assert all(one.certainly_le(other) for one, other in itertools.pairwise(results))


def test_scaling_all_noise_scales_the_bound() -> None:
    point = {**FIGURE, "alpha": 2, "batch_position": 7, "width": "1e-25"}
    one, ten = (RDP.reference(noise_variances=noise, **point) for noise in (["0.1", "0.3"], ["1", "3"]))
    assert abs(one.lower.to_fraction() - 10 * ten.lower.to_fraction()) < Fraction(1, 10**24)


def test_the_last_batch_is_not_always_the_worst() -> None:
    """Noise that leaps: a touch in the noisy epoch's first step spares the record the step that forgets most."""
    point = {
        **UNIT, "alpha": 2, "noise_variances": ["0.01", "100"], "batches": 3, "lipschitz_gradient": 1,
        "lipschitz_prox": 1,
    }
    first, last = RDP.reference(**point, batch_position=1), RDP.reference(**point, batch_position=3)
    assert last.certainly_le(first)


@given(noises, st.integers(1, 5), fractions)
def test_epsilon_is_that_of_the_worst_position_and_the_mixture_lies_between(
    noise: list[Fraction], batches: int, gradient: Fraction
) -> None:
    block: dict[str, Any] = {
        **UNIT, "noise_variances": noise, "batches": batches, "lipschitz_gradient": gradient, "lipschitz_prox": 1,
    }
    ends = [RDP.reference(alpha=2, batch_position=p, width="1e-20", **block) for p in range(1, batches + 1)]
    low, high = (end(item.lower.to_fraction() for item in ends) for end in (min, max))
    mixed = MIXED.reference(alpha=2, width="1e-20", **block)
    assert low - Fraction(1, 10**18) <= mixed.lower.to_fraction() <= high + Fraction(1, 10**18)
    converted = oracle.bound("zcdp.epsilon").reference(rho=high / 2, delta="1e-5")
    given_ = EPSILON.reference(delta="1e-5", **block)
    assert abs(given_.lower.to_fraction() - converted.lower.to_fraction()) < Fraction(1, 10**11) * (1 + high)


def test_more_batches_than_can_be_looked_at_one_by_one() -> None:
    with pytest.raises(DomainError, match=r"^batches = 10001 is outside its domain"):
        MIXED.reference(**{**FIGURE, "batches": 10001}, alpha=2, noise_variances=["0.1"])


# --- composition of all blocks


def test_composition_is_one_gaussian_release() -> None:
    """Eight updates of sensitivity 2: mu = eta S sqrt(8) / (b sqrt(2 eta o)), and the Gaussian mechanism's epsilon."""
    result = COMPOSED_EPSILON.reference(
        learning_rate="1/2", batch_size=4, sensitivities=[2] * 8, noise_variances=[2] * 8, delta="1e-5",
    )
    square = (Fraction(1, 2) * 2 / 4) ** 2 * 8 / (2 * Fraction(1, 2) * 2)  # mu^2 = 1/4
    assert square == Fraction(1, 4)
    assert result.overlaps(oracle.bound("gdp.epsilon").reference(mu="1/2", delta="1e-5"))


def test_the_order_of_updates_does_not_matter() -> None:
    entries = [("1", "0.1"), ("2", "0.4"), ("3", "0.2")]
    results = [
        COMPOSED.reference(
            alpha=2, learning_rate="0.01", batch_size=10, sensitivities=[s for s, _ in order],
            noise_variances=[o for _, o in order],
        )
        for order in itertools.permutations(entries)
    ]
    truth = 2 * Fraction("0.01") / 400 * (1 / Fraction("0.1") + 4 / Fraction("0.4") + 9 / Fraction("0.2"))
    assert all(result.contains(truth) for result in results)


def test_schedules_of_two_lengths_are_refused_by_both_paths() -> None:
    point: dict[str, Any] = {
        "alpha": 2.0, "learning_rate": 1.0, "batch_size": 1.0, "sensitivities": [1.0, 2.0], "noise_variances": [1.0],
    }
    for call in (COMPOSED.reference, COMPOSED.fast):
        with pytest.raises(DomainError, match="sensitivities = 2 entries, noise_variances = 1 entries"):
            call(**point)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_long_schedules_on_arrays(library: str) -> None:
    """Thirty epochs, and three thousand: the budget grows with them, the reference takes over, the answer is sound."""
    rest: dict[str, Any] = {k: float(Fraction(v)) for k, v in FIGURE.items()}
    for epochs in (30, 3000):
        schedule = tuple(0.01 + 1e-6 * k for k in range(epochs))
        check_fast(RDP, [{**rest, "alpha": 2.0, "noise_variances": schedule, "batch_position": 5.0}], library)
