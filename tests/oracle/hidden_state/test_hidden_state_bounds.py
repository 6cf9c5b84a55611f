"""NoisyGD and NoisyCGD: projections, batch positions, epsilons, noise, regularisation and lengths for a target."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from oracle.bounds.hidden_state.hidden_state_inverse import most_epochs, most_steps
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import LIBRARIES, check_anywhere, check_fast, check_second_opinion, check_width, contains_root

NAMES = (
    "noisy-gd-projected.mu", "noisy-cgd-projected.mu", "noisy-cgd-position.mu", "noisy-gd.epsilon",
    "noisy-cgd.epsilon", "noisy-gd.sigma", "noisy-cgd.sigma", "noisy-cgd.step", "linear-gaussian.mu",
)
GD, CGD, POSITION = (oracle.bound(f"noisy-{name}.mu") for name in ("gd-projected", "cgd-projected", "cgd-position"))
FINE = Fraction(1, 10**20)

contractions = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(9, 10), Fraction(1)]),
    st.fractions(min_value=Fraction(1, 50), max_value=1, max_denominator=50),
)
diameters = st.one_of(
    st.sampled_from([Fraction(0), math.inf]), st.fractions(min_value=0, max_value=12, max_denominator=30)
)


def gd(contraction: Any, steps: int, diameter: Any, **params: Any) -> Enclosure:
    unit = {"sensitivity": 1, "dataset_size": 1, "noise_on_mean": 1, "learning_rate": 1, "width": FINE}
    return GD.reference(**{**unit, "contraction": contraction, "steps": steps, "diameter": diameter, **params})


def cgd(contraction: Any, batches: int, epochs: int, diameter: Any, **params: Any) -> Enclosure:
    unit = {"sensitivity": 1, "batch_size": 1, "noise_on_mean": 1, "learning_rate": 1, "width": FINE}
    point = {"contraction": contraction, "batches": batches, "epochs": epochs, "diameter": diameter}
    return CGD.reference(**{**unit, **point, **params})


def position(contraction: Any, batches: int, epochs: int, at: int) -> Enclosure:
    return POSITION.reference(
        sensitivity=1, batch_size=1, noise_on_mean=1, contraction=contraction, batches=batches, epochs=epochs,
        batch_position=at, width=FINE,
    )


def programme(contraction: Any, touched: list[Any], diameter: Any, noise: Any = 1) -> Enclosure:
    count = len(touched)
    return oracle.bound("shifted.mu").reference(
        drift=touched, contractions=[contraction] * count, iterate_noise=[noise] * count, diameter=diameter, width=FINE
    )


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_anywhere(name: str, data: st.DataObject) -> None:
    if name == "linear-gaussian.mu":  # its schedules have no direction
        point = {"drift": [1, data.draw(st.floats(0, 9))], "contractions": [1, data.draw(st.floats(0, 9))]}
        check_second_opinion(oracle.bound(name), {**point, "iterate_noise": [1, data.draw(st.floats(0.1, 9))]})
    else:
        check_anywhere(oracle.bound(name), data)


# --- projections


@given(contractions, st.integers(1, 12), diameters)
def test_projected_gd_is_the_programme(contraction: Fraction, steps: int, diameter: Any) -> None:
    assert gd(contraction, steps, diameter).overlaps(programme(contraction, [1] * steps, diameter))


@given(contractions, st.integers(1, 5), st.integers(1, 6), diameters)
def test_projected_cgd_is_the_programme_of_the_last_batch(
    contraction: Fraction, batches: int, epochs: int, diameter: Any
) -> None:
    """And the record in the last batch is the worst, with a projection as without."""
    found = [
        programme(contraction, [int(i % batches == at) for i in range(batches * epochs)], diameter)
        for at in range(batches)
    ]
    assert cgd(contraction, batches, epochs, diameter).overlaps(found[-1])
    assert all(first.possibly_le(second) for first, second in itertools.pairwise(found))


@given(contractions, st.integers(1, 6), st.integers(1, 6), st.data())
def test_every_position_is_its_programme(contraction: Fraction, batches: int, epochs: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, batches))
    touched = [int(i % batches == at - 1) for i in range(batches * epochs)]
    assert position(contraction, batches, epochs, at).overlaps(programme(contraction, touched, math.inf))


def test_the_units_of_learning_rate_and_diameter() -> None:
    """The programme on the iterates themselves: drifts eta L/n, noise eta sigma, diameter D."""
    steps = {"contraction": "0.9", "steps": 20, "learning_rate": "0.05", "diameter": "0.1"}
    found = GD.reference(sensitivity=3, dataset_size=7, noise_on_mean="0.2", **steps)
    iterates = programme(Fraction(9, 10), [Fraction(3, 140)] * 20, Fraction(1, 10), noise=Fraction(1, 100))
    assert found.overlaps(iterates)
    assert not found.overlaps(programme(Fraction(9, 10), [Fraction(3, 140)] * 20, math.inf, noise=Fraction(1, 100)))


@pytest.mark.parametrize("contraction", ["0", "0.5", "0.999", "1"])
def test_the_ends_of_the_diameter(contraction: str) -> None:
    plain = {"sensitivity": 1, "noise_on_mean": 1, "contraction": contraction}
    full = oracle.bound("noisy-gd.mu").reference(**plain, dataset_size=1, steps=30)
    cyclic = oracle.bound("noisy-cgd.mu").reference(**plain, batch_size=1, batches=4, epochs=9)
    for large in (math.inf, 10**40):
        assert gd(contraction, 30, large).overlaps(full)
        assert cgd(contraction, 4, 9, large).overlaps(cyclic)
    assert contains_root(gd(contraction, 30, 0), Fraction(1))
    assert contains_root(cgd(contraction, 4, 9, 0), Fraction(1))
    assert gd(contraction, 0, 1) == Enclosure.exactly(0)


@pytest.mark.parametrize("steps", [1, 2, 11, 12, 13, 1000, 10**9, 10**30])
def test_convex_losses_in_a_bounded_set(steps: int) -> None:
    """c = 1 and D of d drifts: mu^2 = min(t, 4 d), the privacy that stops growing."""
    for distance in (1, 3, 1000):
        assert contains_root(gd(1, steps, distance), Fraction(min(steps, 4 * distance)))


@pytest.mark.parametrize("epochs", [2, 3, 10, 10**9])
def test_convex_cyclic_losses_in_a_bounded_set(epochs: int) -> None:
    """c = 1, k = 4, d = 5, by hand: 1 + (5 + N)^2/(4N + 3) is least at N = 4 (d - 2(k-1)/k = 3.5)."""
    starts = [1 + Fraction((5 + n) ** 2, 4 * n + 3) for n in range(min(epochs - 1, 50))]
    joined = [Fraction((5 + n + 1) ** 2, 4 * (n + 1)) for n in range(min(epochs - 1, 50))]
    apart = [two if 5 + n <= 4 * n + 3 else one for n, (two, one) in enumerate(zip(starts, joined, strict=True))]
    assert contains_root(cgd(1, 4, epochs, 5), min(1 + Fraction(epochs - 1, 4), *apart))
    if epochs == 10**9:
        assert contains_root(cgd(1, 4, epochs, 5), 1 + Fraction(81, 19))


def test_exact_ties_of_the_best_start() -> None:
    """log e / log c an integer, or e = 0: no precision decides a floor there, and none is needed."""
    half = Fraction(1, 2)
    for distance in (Fraction(3, 2), Fraction(7, 4), Fraction(2)):  # e = 1/4, 1/8 and 0
        check_width(
            GD, {"sensitivity": 1, "dataset_size": 1, "noise_on_mean": 1, "contraction": half, "steps": 10**12,
                 "learning_rate": 1, "diameter": distance}, Fraction(1, 10**40),
        )
    for distance in (Fraction(4, 3), Fraction(1), Fraction(5, 4)):  # k = 2: e = 0, 1/4 and 1/16
        check_width(
            CGD, {"sensitivity": 1, "batch_size": 1, "noise_on_mean": 1, "contraction": half, "batches": 2,
                  "epochs": 10**12, "learning_rate": 1, "diameter": distance}, Fraction(1, 10**40),
        )


@pytest.mark.parametrize("contraction", [Fraction(99, 100), 1 - Fraction(1, 10**6)])
def test_the_best_real_start_bounds_the_best_integer_one(contraction: Fraction) -> None:
    """mu^2 >= (1+c)/(1-c) (1 - e^2), with equality up to the rounding of one step."""
    distance = 1 / (3 * (1 - contraction))
    exact = (1 + contraction) / (1 - contraction) * (1 - Fraction(2, 3) ** 2)
    found = gd(contraction, 10**9, distance)
    assert found.upper.to_fraction() ** 2 >= exact
    assert found.lower.to_fraction() ** 2 <= exact * (1 + (1 - contraction) ** 2)


@pytest.mark.parametrize("bound", [GD, CGD], ids=lambda item: item.name)
@pytest.mark.parametrize("library", LIBRARIES)
def test_long_trainings_fast(bound: oracle.Bound, library: str) -> None:
    """Far beyond what the generic points (whose opinion walks through every step) reach."""
    rng = np.random.default_rng(4)
    points = []
    for _ in range(80):
        point = {
            "sensitivity": 2.0, "noise_on_mean": 0.5, "contraction": float(1 - 10 ** rng.uniform(-12, -0.5)),
            "learning_rate": 0.1, "diameter": float(10 ** rng.uniform(-4, 4)),
        }
        length = int(10 ** rng.uniform(0, 12))
        points.append(point | (
            {"dataset_size": 10, "steps": length} if bound is GD
            else {"batch_size": 10, "batches": int(10 ** rng.uniform(0, 3)), "epochs": length}
        ))
    check_fast(bound, points, library)


# --- positions


@pytest.mark.parametrize("contraction", ["0.3", "0.99", "1"])
def test_the_last_position_is_the_theorem_and_earlier_ones_are_better(contraction: str) -> None:
    found = [position(contraction, 7, 20, at) for at in range(1, 8)]
    theorem = oracle.bound("noisy-cgd.mu").reference(
        sensitivity=1, batch_size=1, noise_on_mean=1, contraction=contraction, batches=7, epochs=20
    )
    assert found[-1].overlaps(theorem)
    assert all(first.certainly_le(second) for first, second in itertools.pairwise(found))


def test_positions_at_the_edges() -> None:
    assert position(0, 5, 9, 5) == Enclosure.exactly(1)
    assert position(0, 5, 9, 4) == Enclosure.exactly(0)  # a free step that forgets everything follows
    assert contains_root(position(1, 5, 1, 2), Fraction(1, 4))  # one touch, three free steps
    full = oracle.bound("noisy-gd.mu").reference(
        sensitivity=1, dataset_size=1, noise_on_mean=1, contraction="0.9", steps=10**9
    )
    assert position("0.9", 1, 10**9, 1).overlaps(full)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_position_after_the_last_batch_is_refused(library: str) -> None:
    point = {"sensitivity": 1, "batch_size": 1, "noise_on_mean": 1, "contraction": 0.5, "batches": 3, "epochs": 2}
    with pytest.raises(DomainError, match=r"^batch_position = 4 .*\[1, batches\], 3 here"):
        POSITION.reference(**point, batch_position=4)
    with pytest.raises(DomainError, match=r"^batch_position = 4 .*\[1, batches\], 3 here"):
        POSITION.fast(**point, batch_position=LIBRARIES[library](np.array([1.0, 4.0])))


@pytest.mark.parametrize("library", LIBRARIES)
def test_many_free_steps_fast(library: str) -> None:
    points = [
        {
            "sensitivity": 1.0, "batch_size": 1, "noise_on_mean": 1.0, "contraction": c, "batches": k, "epochs": e,
            "batch_position": 1,
        }
        for c in (0.1, 0.9, 1 - 1e-9, 1.0) for k in (2, 300, 5000) for e in (1, 2, 10**9)
    ]
    check_fast(POSITION, points, library)


# --- epsilon: the values of document 000


FIGURE = {  # eta lambda -> epsilon after 400 epochs: k = 60 with sigma 15 and 5, k = 50 with sigma 15 and 5
    "5.4e-5": (1.3357, 4.6113, 1.4837, 5.1514), "1e-4": (1.1963, 4.1076, 1.3589, 4.6957),
    "2e-4": (0.9526, 3.2395, 1.1012, 3.7670), "0": (1.4212, 4.9226, 1.5531, 5.4064),
}
FIGURE_MU = {  # k = 60, sigma 15 and 5
    "5.4e-5": (0.34865, 1.04595), "1e-4": (0.31549, 0.94648), "2e-4": (0.25646, 0.76937), "0": (0.36878, 1.10635),
}
BY_EPOCHS = {  # after 1, 50, 100, 200, 300 and 400 epochs, k = 60, sigma = 15
    "5.4e-5": (0.4661, 0.6446, 0.7903, 1.0208, 1.1979, 1.3357),
    "1e-4": (0.4661, 0.6434, 0.7842, 0.9881, 1.1176, 1.1963),
    "2e-4": (0.4661, 0.6392, 0.7622, 0.8923, 0.9381, 0.9526),
}


def figure(step: str, batches: int, sigma: int, epochs: int) -> tuple[float, float]:
    return oracle.bound("noisy-cgd.epsilon").reference(
        sensitivity=2, batch_size=1, noise_on_mean=sigma, contraction=1 - Fraction(step), batches=batches,
        epochs=epochs, delta="1e-5",
    ).to_floats()


@pytest.mark.parametrize("step", FIGURE)
def test_figure_1(step: str) -> None:
    cases = ((60, 15), (60, 5), (50, 15), (50, 5))
    for (batches, sigma), expected in zip(cases, FIGURE[step], strict=True):
        assert figure(step, batches, sigma, 400) == pytest.approx((expected, expected), abs=5.1e-5)
    for sigma, expected in zip((15, 5), FIGURE_MU[step], strict=True):
        mu = oracle.bound("noisy-cgd.mu").reference(
            sensitivity=2, batch_size=1, noise_on_mean=sigma, contraction=1 - Fraction(step), batches=60, epochs=400
        )
        assert mu.to_floats() == pytest.approx((expected, expected), abs=5.1e-6)


@pytest.mark.parametrize("step", BY_EPOCHS)
def test_figure_1_by_epochs(step: str) -> None:
    for epochs, expected in zip((1, 50, 100, 200, 300, 400), BY_EPOCHS[step], strict=True):
        assert figure(step, 60, 15, epochs) == pytest.approx((expected, expected), abs=5.1e-5)


@pytest.mark.parametrize(("contraction", "steps"), [("0", 7), ("0.5", 7), ("0.99", 1000), ("1", 50)])
def test_hidden_state_is_never_worse_than_composition(contraction: str, steps: int) -> None:
    common = {"sensitivity": 1, "steps": steps, "delta": "1e-6"}
    hidden = oracle.bound("noisy-gd.epsilon").reference(
        **common, noise_on_mean=3, dataset_size=1, contraction=contraction,
    )
    composed = oracle.bound("gaussian-composed.epsilon").reference(**common, sigma=3)
    assert hidden.overlaps(composed) if contraction == "1" else hidden.certainly_le(composed)


def test_little_noise_and_no_steps() -> None:
    point = {"sensitivity": 1, "dataset_size": 1, "contraction": "0.5", "delta": "1e-5"}
    epsilon, sigma = oracle.bound("noisy-gd.epsilon"), oracle.bound("noisy-gd.sigma")
    assert epsilon.reference(**point, noise_on_mean=1, steps=0) == Enclosure.exactly(0)
    assert sigma.reference(**point, epsilon=1, steps=0) == Enclosure.exactly(0)
    one = oracle.bound("gaussian.epsilon").reference(sensitivity=1, sigma="1e-9", delta="1e-5")
    assert epsilon.reference(**point, noise_on_mean="1e-9", steps=1).overlaps(one)


# --- the noise, the regularisation and the length for a target


@pytest.mark.parametrize("name", ["noisy-gd", "noisy-cgd"])
@pytest.mark.parametrize("contraction", ["0", "0.9", "0.999999", "1"])
def test_noise_and_epsilon_are_inverse(name: str, contraction: str) -> None:
    point: dict[str, Any] = {"sensitivity": "0.3", "contraction": contraction, "delta": "1e-7"}
    cyclic = {"batch_size": 5, "batches": 12, "epochs": 10**6}
    point |= {"dataset_size": 5, "steps": 10**6} if name == "noisy-gd" else cyclic
    noise = oracle.bound(f"{name}.sigma").reference(**point, epsilon="1.5", width=FINE)
    for end, beyond in ((noise.upper, False), (noise.lower, True)):
        epsilon = oracle.bound(f"{name}.epsilon").reference(**point, noise_on_mean=end.to_fraction(), width=FINE / 1000)
        above = epsilon.lower.to_fraction() >= Fraction(3, 2)
        assert above is beyond or epsilon.contains(Fraction(3, 2))


STEP = oracle.bound("noisy-cgd.step")
TARGET: dict[str, Any] = {"sensitivity": 2, "batch_size": 1, "noise_on_mean": 15}


@pytest.mark.parametrize(
    ("batches", "epochs", "mu"), [(60, 400, "0.3"), (1, 50, "0.4"), (2, 10**9, "5"), (5, 2, "0.14")]
)
def test_the_step_meets_the_target_and_no_smaller_one_does(batches: int, epochs: int, mu: str) -> None:
    found = STEP.reference(**TARGET, batches=batches, epochs=epochs, mu=mu, width=FINE)
    ends = [
        oracle.bound("noisy-cgd.mu").reference(
            **TARGET, contraction=1 - end.to_fraction(), batches=batches, epochs=epochs, width="1e-30"
        ) for end in (found.lower, found.upper)
    ]
    assert not ends[0].certainly_le(Fraction(mu))
    assert ends[1].certainly_le(Fraction(mu))


def test_the_step_of_document_000() -> None:
    """mu = 0.31549 of the register belongs to eta lambda = 1e-4, up to its five digits."""
    assert STEP.reference(**TARGET, batches=60, epochs=400, mu="0.31549").to_floats() == pytest.approx(
        (1e-4, 1e-4), rel=1e-4
    )


def test_the_ends_of_the_step() -> None:
    """Enough noise needs no regularisation; the mu of one release needs c = 0; below it nothing helps."""
    one = Fraction(2, 15)
    at = {**TARGET, "batches": 4, "epochs": 13}
    assert STEP.reference(**at, mu=2 * one) == Enclosure.exactly(0)  # sqrt(1 + 12/4) = 2 at c = 1
    assert not STEP.reference(**at, mu=2 * one - Fraction(1, 10**9)).certainly_le(0)
    assert STEP.reference(**at, mu=one) == Enclosure.exactly(1)
    assert STEP.reference(**{**at, "epochs": 1}, mu=one) == Enclosure.exactly(0)
    with pytest.raises(DomainError, match=r"^mu = 0\.1333.* no contraction goes below"):
        STEP.reference(**at, mu=one - Fraction(1, 10**9))
    with pytest.raises(DomainError, match=r"^mu = 0\.1.* no contraction goes below"):
        STEP.fast(**at, mu=np.array([0.2, 0.1]))


HIDDEN: dict[str, Any] = {"sensitivity": 2, "noise_on_mean": 15, "delta": "1e-5"}


@pytest.mark.parametrize(("contraction", "batches"), [("0.9999", 60), ("1", 60), ("0.99", 1), ("1", 1)])
def test_the_most_epochs_are_the_most(contraction: str, batches: int) -> None:
    point = {**HIDDEN, "batch_size": 1, "contraction": contraction, "batches": batches}
    most = most_epochs(**point, epsilon=1)
    assert isinstance(most, int)
    within, beyond = (oracle.bound("noisy-cgd.epsilon").reference(**point, epochs=count) for count in (most, most + 1))
    assert within.certainly_le(1)
    assert not beyond.possibly_le(1)
    if batches == 1:
        same = {**HIDDEN, "dataset_size": 1, "contraction": contraction, "epsilon": 1}
        assert most_steps(**same) == most


def test_trainings_that_never_exceed_the_target() -> None:
    """Above the limit: infinity; just below it: a finite number, decided by the last digits."""
    point = {**HIDDEN, "dataset_size": 1, "contraction": "0.9"}
    limit = oracle.bound("gdp.epsilon").reference(
        mu="0.5811865258054233", delta="1e-5"  # 2/15 sqrt((1 + c)/(1 - c)), rounded
    ).to_floats()[0]
    assert most_steps(**point, epsilon=limit + 1e-6) == math.inf
    below = most_steps(**point, epsilon=limit - 1e-6)
    assert 100 < below < 1000
    assert most_steps(**point, epsilon="0.1") == 0
    cyclic = {**HIDDEN, "batch_size": 1, "contraction": "0.9999", "batches": 60}
    assert most_epochs(**cyclic, epsilon="1.4") == math.inf
    assert most_epochs(**{**cyclic, "contraction": 1}, epsilon="1.4") == 387
    assert most_epochs(**{**cyclic, "contraction": 0}, epsilon="0.47") == math.inf
    assert most_epochs(**{**cyclic, "contraction": 0}, epsilon="0.46") == 0


def test_lengths_far_beyond_any_training() -> None:
    """No contraction and hardly any leak: the count is exact, not a float."""
    count = most_steps(sensitivity=1, dataset_size=10**9, noise_on_mean=1, contraction=1, epsilon=1, delta="1e-5")
    target = oracle.bound("noisy-gd.epsilon")
    point = {"sensitivity": 1, "dataset_size": 10**9, "noise_on_mean": 1, "contraction": 1, "delta": "1e-5"}
    assert target.reference(**point, steps=count, width="1e-30").certainly_le(1)
    assert not target.reference(**point, steps=count + 1, width="1e-30").possibly_le(1)


def test_bad_input_of_the_lengths_is_named() -> None:
    with pytest.raises(DomainError, match="contraction = 2"):
        most_steps(**HIDDEN, dataset_size=1, contraction=2, epsilon=1)
    with pytest.raises(DomainError, match="most_epochs needs batches"):
        most_epochs(**HIDDEN, batch_size=1, contraction=1, epsilon=1)
