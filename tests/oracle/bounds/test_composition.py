"""The composition engine: known digits, an independent discretised composition, identities, orderings and edges."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from mpmath import mp

from oracle import bound
from oracle.bounds.sampling.poisson_gaussian import most_steps
from oracle.core.enclosure import Enclosure, ball
from oracle.core.errors import DomainError, PrecisionError
from oracle.engines.composed_curve import certainly_below, chernoff_below, contour_epsilon
from oracle.engines.composed_pairs import Composition, Laplace, PoissonGaussian, compose
from oracle.engines.contour import ContourCurve, Stages, make_plan, saddle_for
from oracle.engines.sampled import small_noise
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from tests.formulas import gaussian_delta
from tests.opinion import from_dyadic
from tests.pld import composed_delta
from tests.tiers import later

# Truth by a contour integral at 230 bits, computed elsewhere and stable under refinement; twelve decimals.
PROBLEMS = {
    "P2": (30, 1, 1000, "1e-6", "add_remove", "5.189036640822"),
    "P3 sigma 1": (1, "1/60", 24000, "1e-5", "add_remove", "19.606348279904"),
    "P3 sigma 5": (5, "1/60", 24000, "1e-5", "add_remove", "2.094467648908"),
    "P3 sigma 15": (15, "1/60", 24000, "1e-5", "add_remove", "0.617035791343"),
    "P4 sigma 1": (1, "1/60", 24000, "1e-5", "replace", "37.646929655444"),
    "P4 sigma 5": (5, "1/60", 24000, "1e-5", "replace", "4.542929430655"),
    "P4 sigma 15": (15, "1/60", 24000, "1e-5", "replace", "1.317117342265"),
    "P5 1e-5": (1, "0.01", 1000, "1e-5", "add_remove", "1.828236666517"),
    "P5 1e-12": (1, "0.01", 1000, "1e-12", "add_remove", "3.914298156037"),
    "P5 1e-15": (1, "0.01", 1000, "1e-15", "add_remove", "4.854537750605"),
    # The sum of another implementation in 80-bit floats; its eleventh decimal is ours, not the older ...073.
    "P6": ("0.3", "0.1", 100, "1e-5", "add_remove", "106.1758992700"),
}


def near(enclosure: Enclosure, text: str) -> bool:
    """Whether the enclosure meets a decimal that was rounded in its last place."""
    unit = Fraction(1, 10 ** len(text.partition(".")[2]))
    value = Fraction(text)
    return enclosure.possibly_le(value + unit) and not enclosure.certainly_le(value - unit)


@pytest.mark.parametrize("name", later(list(PROBLEMS), lambda name: name == "P6", "full"))
def test_known_digits(name: str) -> None:
    sigma, rate, steps, delta, neighbours, truth = PROBLEMS[name]
    enclosure = compose([(PoissonGaussian(sigma, rate), steps)], neighbours=neighbours).epsilon(delta)
    assert near(enclosure, truth), f"{enclosure} is not {truth}"
    assert enclosure.width() <= 1e-12


@pytest.mark.full
@pytest.mark.parametrize("direction", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "epsilon"),
    [(1.0, 0.1, 24, 1.5), (2.0, 0.3, 12, 1.0), pytest.param(0.8, 0.05, 50, 0.8, marks=pytest.mark.thorough)],
)
def test_between_the_discretised_bounds(direction: str, sigma: float, rate: float, steps: int, epsilon: float) -> None:
    part = PoissonGaussian(Fraction(sigma), Fraction(rate))
    relation = "replace" if direction == "replace" else "add_remove"
    composition = compose([(part, steps)], neighbours=relation)
    index = {"remove": 0, "add": 1, "replace": 0}[direction]
    only = type(composition)((composition.directions[index],))
    low, high = composed_delta(direction, sigma, rate, steps, epsilon, grid=2e-4)
    enclosure = only.delta(Fraction(epsilon))
    assert enclosure.width() <= 1e-12
    lower, upper = enclosure.to_floats()
    assert low - 1e-10 <= upper
    assert lower <= high + 1e-10
    assert high - low < 0.1 * high  # the comparison means something


@pytest.mark.parametrize("steps", [1, 7, 100])
def test_unsampled_steps_are_the_gaussian_curve(steps: int) -> None:
    ours = compose([(PoissonGaussian(3), steps)]).epsilon("1e-6")
    closed = bound("gaussian-composed.epsilon").reference(sigma=3, sensitivity=1, steps=steps, delta="1e-6")
    assert ours.overlaps(closed)
    assert ours.width() <= 1e-12


def test_one_step_closed_form_agrees_with_a_grid_and_its_inverse() -> None:
    for relation, direction in (("add_remove", "remove"), ("replace", "replace")):
        composition = compose([(PoissonGaussian("0.7", "0.2"), 1)], neighbours=relation)
        low, high = composed_delta(direction, 0.7, 0.2, 1, 0.9, grid=1e-4)
        enclosure = composition.delta("0.9")
        assert low - 1e-10 <= enclosure.to_floats()[1]
        assert enclosure.to_floats()[0] <= high + 1e-10
        delta = enclosure.lower.to_fraction()
        epsilon = composition.epsilon(delta)
        assert epsilon.certainly_le(Fraction("0.9000001"))
        assert not epsilon.possibly_le(Fraction("0.8999999"))


def test_delta_and_epsilon_are_inverse() -> None:
    composition = compose([(PoissonGaussian(2, "0.05"), 500)])
    epsilon = composition.epsilon("1e-6")
    at_low, at_high = (composition.delta(end.to_fraction()) for end in (epsilon.lower, epsilon.upper))
    assert not at_low.certainly_le(Fraction(1, 10**6) * (1 - Fraction(1, 10**9)))
    assert at_high.possibly_le(Fraction(1, 10**6))


def test_composition_is_associative_and_order_free() -> None:
    a, b = PoissonGaussian(1, "0.01"), PoissonGaussian(3, "0.1")
    one = compose([(a, 200), (b, 100)]).epsilon("1e-5")
    other = compose([(b, 40), (a, 150), (b, 60), (a, 50)]).epsilon("1e-5")
    assert one.overlaps(other)


def test_a_gaussian_stage_beside_a_sampled_one() -> None:
    sampled = [(PoissonGaussian(1, "0.02"), 300)]
    alone = compose(sampled).epsilon("1e-5")
    both = compose([*sampled, (PoissonGaussian(10), 20)]).epsilon("1e-5")
    assert alone.certainly_le(both)
    # Twenty steps at sigma 10 are one at 10/sqrt(20); splitting them otherwise changes nothing.
    split = compose([(PoissonGaussian(10), 5), *sampled, (PoissonGaussian(10), 15)]).epsilon("1e-5")
    assert both.overlaps(split)


def test_a_laplace_stage_beside_a_gaussian_one() -> None:
    """Against the law of the Laplace loss, integrated over the Gaussian curve: atoms m and -m, e^{-y/2}/4 between."""
    sigma, scale, epsilon = Fraction(3), Fraction(2), Fraction(3, 2)
    enclosure = compose([(Laplace(scale), 1), (PoissonGaussian(sigma), 4)]).delta(epsilon)
    with mp.workdps(30):
        mu, m, at = mp.mpf(2) / 3, mp.mpf(1) / 2, mp.mpf(3) / 2
        between = mp.quad(lambda y: mp.exp(-y / 2) / 4 * gaussian_delta(mu, at - m + y), [0, m, 2 * m])
        truth = gaussian_delta(mu, at - m) / 2 + mp.exp(-m) / 2 * gaussian_delta(mu, at + m) + between
        low, high = (from_dyadic(end) for end in (enclosure.lower, enclosure.upper))
        assert low - mp.mpf(10) ** -25 <= truth <= high + mp.mpf(10) ** -25
    assert enclosure.width() <= 1e-12
    # Beside sampled steps, in any order, and back from delta to epsilon.
    parts = [(Laplace(10), 5), (PoissonGaussian(2, "0.1"), 60)]
    both = compose(parts).epsilon("1e-5")
    assert both.overlaps(compose(parts[::-1]).epsilon("1e-5"))
    assert compose(parts[1:]).epsilon("1e-5").certainly_le(both)


def test_laplace_alone_is_the_registered_bound() -> None:
    ours = compose([(Laplace(10), 100)]).epsilon("1e-5", width="1e-3")
    assert ours.overlaps(bound("laplace-composed.epsilon").reference(scale=10, sensitivity=1, steps=100, delta="1e-5"))


def test_orderings() -> None:
    def epsilon(
        sigma: object = 2, rate: object = "0.05", steps: int = 200, delta: str = "1e-5", to: str = "add_remove"
    ) -> Enclosure:
        return compose([(PoissonGaussian(sigma, rate), steps)], neighbours=to).epsilon(delta)  # type: ignore[arg-type]

    base = epsilon()
    assert epsilon(sigma="2.01").certainly_le(base)
    assert base.certainly_le(epsilon(rate="0.051"))
    assert base.certainly_le(epsilon(steps=201))
    assert base.certainly_le(epsilon(delta="0.99e-5"))
    assert base.certainly_le(epsilon(to="replace"))
    assert base.certainly_le(compose([(PoissonGaussian(2), 200)]).epsilon("1e-5"))


EDGES = {
    "rate 1e-6, a million steps": (1, "1e-6", 10**6, "1e-5"),
    "two steps": (1, "0.1", 2, "1e-5"),
    "two steps of a small rate": (2, "0.01", 2, "1e-5"),
    "five steps": (1, "0.01", 5, "1e-5"),
    "a hundred steps of a small rate": (1, "0.01", 100, "1e-5"),
    "ten million steps": (5, "0.001", 10**7, "1e-6"),
    "delta 1e-15": (1, "0.01", 1000, "1e-15"),
    "delta 1e-300": (1, "0.01", 1000, "1e-300"),
    "little noise": ("0.3", "0.01", 1000, "1e-5"),
    "hardly any noise": ("1e-3", "0.01", 1000, "1e-5"),
    "much noise": ("1e6", "0.01", 1000, "1e-10"),
    "nearly every record": (1, "0.999", 100, "1e-5"),
    "a large delta": ("0.3", "0.1", 1000, "0.99"),
}


@pytest.mark.full
@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str, neighbours: str) -> None:
    """Each is enclosed to the default width, and its delta at both ends says that epsilon is where it should be."""
    sigma, rate, steps, delta = EDGES[name]
    composition = compose([(PoissonGaussian(sigma, rate), steps)], neighbours=neighbours)
    epsilon = composition.epsilon(delta)
    low, high = epsilon.lower.to_fraction(), epsilon.upper.to_fraction()
    assert 0 < low <= high <= low + Fraction(1, 10**12) * min(1, low)
    nudge = low / 10**6
    assert not composition.delta(low - nudge, width="1e-9").possibly_le(Fraction(delta))
    assert composition.delta(high + nudge, width="1e-9").certainly_le(Fraction(delta))


@pytest.mark.parametrize("neighbours", ["add_remove", pytest.param("replace", marks=pytest.mark.full)])
def test_where_nothing_leaks_epsilon_is_zero(neighbours: str) -> None:
    def of(sigma: object, rate: object, steps: int) -> Composition:
        return compose([(PoissonGaussian(sigma, rate), steps)], neighbours=neighbours)  # type: ignore[arg-type]

    for empty in (of(1, 0, 100), of(1, "0.1", 0), compose([], neighbours=neighbours)):
        assert empty.epsilon("1e-5") == Enclosure.exactly(0)
        assert empty.delta(0) == Enclosure.exactly(0)
    for delta in ("0.5", "0.9", Fraction(2**53 - 1, 2**53)):
        assert of(1, "0.01", 1000).epsilon(delta) == Enclosure.exactly(0)
    assert of("1e6", "0.01", 1000).epsilon("1e-5") == Enclosure.exactly(0)
    # Only just above delta(0), epsilon is 0; only just below it is not.
    at_zero = of(2, "0.05", 300).delta(0)
    assert of(2, "0.05", 300).epsilon(at_zero.upper.to_fraction() + Fraction(1, 10**9)) == Enclosure.exactly(0)
    assert not of(2, "0.05", 300).epsilon(at_zero.lower.to_fraction() - Fraction(1, 10**9)).possibly_le(0)


def test_the_cost_in_nodes_does_not_grow_with_the_steps() -> None:
    """What grows with T is nothing: nodes of the contour at epsilons of one delta."""
    nodes = []
    for steps in (10**3, 10**5, 10**7):
        stages = [(SampledGaussian(Fraction(5), Fraction(1, 1000), "remove"), steps)]
        saddle = saddle_for(stages, log_delta=-13.8)
        nodes.append(make_plan(stages, saddle.epsilon, 32.0).nodes)
    assert nodes[2] <= nodes[1] <= nodes[0] + 10


@pytest.mark.full
@pytest.mark.parametrize("direction", ["remove", "replace"])
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "epsilon"),
    [("0.08", "0.1", 60, "400"), pytest.param("0.07", "0.3", 25, "300", marks=pytest.mark.thorough)],
)
def test_little_noise_agrees_with_the_contour(
    direction: str, sigma: str, rate: str, steps: int, epsilon: str
) -> None:
    """The sum over the number of samples and the contour integral, where both serve."""
    step = SampledGaussian(Fraction(sigma), Fraction(rate), direction)
    at = Fraction(epsilon)
    with ctx.workprec(200):
        counted = small_noise.delta(step, steps, ball(at))
    stages = [(step, steps)]
    log_delta = float(counted.log().mid())
    curve = ContourCurve(stages, make_plan(stages, float(at), 20.0, log_delta))
    with ctx.workprec(curve.precision):
        low, high = curve.delta(ball(at))
        assert low.lower() <= counted.upper()
        assert counted.lower() <= high.upper()
        assert counted.rad() < counted.mid() * arb("1e-3")
        assert high.upper() - low.lower() < counted.mid() * arb("1e-3")


@pytest.mark.full
@given(
    log_sigma=st.floats(-0.4, 3), log_rate=st.floats(-4, -0.02), log_steps=st.floats(2, 6),
    log_delta=st.floats(-15, -0.2), neighbours=st.sampled_from(["add_remove", "replace"]),
)
@settings(phases=[Phase.generate])
def test_the_reference_answers_across_the_domain(
    log_sigma: float, log_rate: float, log_steps: float, log_delta: float, neighbours: str
) -> None:
    """Fewer steps of smaller rates are served too (EDGES), but not all: a nearly discrete loss takes too many nodes."""
    part = PoissonGaussian(10.0**log_sigma, 10.0**log_rate)
    composition = compose([(part, int(10.0**log_steps))], neighbours=neighbours)
    enclosure = composition.epsilon(10.0**log_delta, width="1e-9")
    assert enclosure.width() <= 1e-9


@pytest.mark.parametrize(
    ("parts", "word"),
    [([(PoissonGaussian(0, "0.1"), 5)], "sigma"), ([(PoissonGaussian(1, 2), 5)], "sampling_rate"),
     ([(PoissonGaussian(1, "0.1"), -1)], "steps"), ([(PoissonGaussian("nan", "0.1"), 1)], "sigma")],
)
def test_bad_parts_name_the_argument(parts: list[tuple[PoissonGaussian, int]], word: str) -> None:
    with pytest.raises(DomainError, match=word):
        compose(parts)


def test_bad_queries_name_the_argument() -> None:
    composition = compose([(PoissonGaussian(1, "0.1"), 5)])
    with pytest.raises(DomainError, match="delta"):
        composition.epsilon(0)
    with pytest.raises(DomainError, match="epsilon"):
        composition.delta(-1)
    with pytest.raises(DomainError, match="neighbours"):
        compose([], neighbours="both")
    with pytest.raises(DomainError, match="width"):
        composition.epsilon("1e-5", width=0)
    with pytest.raises(PrecisionError, match="epsilon"):
        composition.delta(10**400, width="1e-12")


@pytest.mark.full
def test_a_width_below_the_doubles_is_taken() -> None:
    enclosure = compose([(PoissonGaussian(5, "1/60"), 2400)]).delta(2, width="1e-330")
    assert enclosure.width() < 1e-300


@pytest.mark.full
def test_the_inverses_are_on_the_safe_side() -> None:
    """The noise for a target meets it, a little less does not; the same for the number of steps."""
    target = {"sampling_rate": "0.01", "epsilon": 2, "delta": "1e-5", "neighbours": "add_remove"}
    noise = bound("poisson-gaussian.sigma").reference(steps=1000, **target)
    upper, lower = noise.upper.to_fraction(), noise.lower.to_fraction()
    for sigma, meets in ((upper, True), (lower * (1 - Fraction(1, 10**10)), False)):
        epsilon = compose([(PoissonGaussian(sigma, "0.01"), 1000)]).epsilon("1e-5")
        assert epsilon.possibly_le(2) if meets else not epsilon.possibly_le(2)
    steps = most_steps(sigma=1, **target)  # type: ignore[arg-type]
    assert compose([(PoissonGaussian(1, "0.01"), steps)]).epsilon("1e-5").certainly_le(2)
    assert not compose([(PoissonGaussian(1, "0.01"), steps + 1)]).epsilon("1e-5").possibly_le(2)
    assert most_steps(sigma="0.3", sampling_rate="0.5", epsilon="0.1", delta="1e-9") == 0
    # Where the record is hardly ever sampled, no noise is needed at all.
    free = bound("poisson-gaussian.sigma").reference(
        sampling_rate="1e-6", steps=10, epsilon=1, delta="1e-4", neighbours="replace"
    )
    assert free == Enclosure.exactly(0)
    with pytest.raises(DomainError, match="sampling_rate"):
        most_steps(sigma=1, sampling_rate=0, epsilon=1, delta="1e-5")


@pytest.mark.parametrize(("rate", "steps", "delta"), [("0.1", 1, "0.1"), ("0.5", 2, "0.75")])
def test_a_delta_that_no_noise_meets_exactly(rate: str, steps: int, delta: str) -> None:
    """delta = 1 - (1-q)^T, to the last digit: no noise is needed."""
    given = {"sampling_rate": rate, "steps": steps, "epsilon": 1, "delta": delta, "neighbours": "add_remove"}
    assert bound("poisson-gaussian.sigma").at(given) == Enclosure.exactly(0)


def test_a_delta_that_no_noise_just_misses() -> None:
    given = {"sampling_rate": "0.1", "steps": 1, "epsilon": 1, "delta": "0.099999", "neighbours": "add_remove"}
    assert bound("poisson-gaussian.sigma").at(given).lower.to_fraction() > Fraction(1, 20)


# ---- the second direction


@pytest.mark.parametrize(("sigma", "rate", "steps", "epsilon"), [
    ("15", "1/60", 24000, "0.6"), ("1", "1/60", 2400, "3"), ("2", "0.3", 50, "5"), ("5", "0.01", 10**6, "8"),
])
def test_a_rough_contour_never_says_more_than_is_true(sigma: str, rate: str, steps: int, epsilon: str) -> None:
    """Levels on both sides of the truth, as near as 1 in 10^9, whatever the other direction is said to be."""
    at, decided = Fraction(epsilon), 0
    remove, add = (
        [(SampledGaussian(Fraction(sigma), Fraction(rate), direction), steps)] for direction in ("remove", "add")
    )
    for stages, other in ((remove, add), (add, remove)):
        truth = Composition((stages,)).delta(at, width="1e-12")
        for winner in (other, stages):
            for nearness in (1e-9, 1e-6, 1e-3, 0.1):
                with ctx.workprec(128):
                    below, above = truth.lower.ball * (1 - nearness), truth.upper.ball * (1 + nearness)
                    assert not certainly_below(stages, below, ball(at), winner)
                    assert not chernoff_below(stages, below, ball(at))
                    decided += certainly_below(stages, above, ball(at), winner)
    assert decided


def test_one_direction_is_computed_where_a_rough_contour_settles_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counting(stages: Stages, *rest: Any) -> Enclosure:
        asked.append(stages)
        return contour_epsilon(stages, *rest)

    monkeypatch.setattr("oracle.engines.composed_pairs.contour_epsilon", counting)
    both = compose([(PoissonGaussian(15, "1/60"), 24000)])
    found = both.epsilon("1e-5")
    assert len(asked) == 1
    alone = [Composition((stages,)).epsilon("1e-5") for stages in both.directions]
    assert found == alone[0]
    assert alone[1].upper.compare(alone[0].lower) < 0
