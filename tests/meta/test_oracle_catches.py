"""Plant errors in enclosures and integrands, and require the very checks of tests/oracle to flag each of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from flint import acb, arb

from oracle.core.arithmetic import integral
from oracle.core.enclosure import Dyadic, Enclosure, ball
from tests.checks import check_decimals, check_floats


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
