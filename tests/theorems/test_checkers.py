"""What the checkers are built of, against values computed by hand."""

from __future__ import annotations

from fractions import Fraction

from theorems.tools.calibrated_range import enough
from theorems.tools.classical_calibration import true_delta
from theorems.tools.exact_gaussian_curve import hockey_stick_integral
from theorems.tools.exact_shift_programme import at_contraction, convex_minorant, exact_linear, optimum, touched_steps


def test_classical_calibration_against_known_crossings() -> None:
    # By bisection in mpmath the first failing epsilon at delta = 1e-5 is 8.41977...
    for epsilon, fails in ((Fraction("8.419"), False), (Fraction("8.42"), True)):
        actual = true_delta(epsilon, Fraction(1, 10**5), Fraction(5, 4))
        assert (not actual.possibly_le(Fraction(1, 10**5))) is fails


def test_one_inequality_proof_has_a_range() -> None:
    assert enough(Fraction(5, 4), epsilon=Fraction(1), delta=Fraction(1))
    assert not enough(Fraction(5, 4), epsilon=Fraction(3), delta=Fraction(1))
    assert not enough(Fraction(1), epsilon=Fraction(1), delta=Fraction(1))


def test_quadrature_encloses_a_known_value() -> None:
    # delta(0) at mu = 1 is 2 Phi(1/2) - 1 = 0.38292492254802620728...
    enclosure = hockey_stick_integral(Fraction(1), Fraction(0))
    assert enclosure.width() < 1e-20
    assert enclosure.certainly_le(Fraction("0.3829249225480262073"))
    assert Fraction("0.3829249225480262072") < enclosure.lower.to_fraction()


def test_quadrature_encloses_the_value_at_a_large_mean() -> None:
    # delta(0) at mu = 1000 is 2 Phi(500) - 1, which is 1 but for e^-125000.
    enclosure = hockey_stick_integral(Fraction(1000), Fraction(0))
    assert enclosure.possibly_le(Fraction(1))
    assert not enclosure.certainly_le(1 - Fraction(1, 10**30))


def test_convex_minorant_of_a_known_set() -> None:
    points = [(Fraction(x), Fraction(y)) for x, y in ((0, 0), (1, 3), (2, 1), (3, 4), (4, 4))]
    assert convex_minorant(points) == [points[0], points[2], points[4]]


def test_programme_optimum_is_feasible_and_no_grid_point_beats_it() -> None:
    # Two steps, both touched, c = 1/2: minimise a1^2 + a2^2 with a1 <= 1 and a1/2 + a2 = 3/2; optimum 9/5.
    best = optimum(Fraction(1, 2), [1, 1])
    assert best == Fraction(9, 5)
    grid = [Fraction(i, 100) for i in range(101)]
    assert min(a**2 + (Fraction(3, 2) - a / 2) ** 2 for a in grid) == best
    assert exact_linear(Fraction(1, 2), [1, 1]) == best


def test_touched_steps() -> None:
    assert touched_steps(batches=3, epochs=2, position=2) == [0, 1, 0, 0, 1, 0]


def test_a_formula_at_contraction_one_is_its_limit() -> None:
    assert at_contraction(lambda c: (1 - c**3) / (1 - c), Fraction(1)) == 3
    assert at_contraction(lambda c: (1 - c**3) / (1 - c), Fraction(1, 2)) == Fraction(7, 4)
