"""Ball arithmetic with a goal: widths are reached or refused with a reason, integrals and roots are certified."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from oracle.core.arithmetic import PRECISION_LIMIT, decreasing_root, enclose, integral, is_narrow, through
from oracle.core.enclosure import Dyadic, Enclosure, ball
from oracle.core.errors import PrecisionError
from tests.opinion import at_both_precisions


def truth(compute: Callable[[], mpf]) -> Enclosure:
    return at_both_precisions(compute)


def relative_width(enclosure: Enclosure) -> Fraction:
    """(upper - lower) / min(1, |value|), exactly."""
    lower, upper = enclosure.lower.to_fraction(), enclosure.upper.to_fraction()
    return (upper - lower) / min(1, abs(lower), abs(upper))




# --- enclose


@pytest.mark.parametrize("width", ["1", "1e-6", "1e-12", "1e-30", "1e-300"])
def test_a_closed_form_reaches_the_asked_width(width: str) -> None:
    result = enclose(lambda: arb(2).sqrt(), width=Fraction(width))
    assert result.lower.to_fraction() ** 2 <= 2 <= result.upper.to_fraction() ** 2
    assert 0 < relative_width(result) <= Fraction(width)


def test_a_width_below_the_doubles_is_reached() -> None:
    result = enclose(lambda: arb(2).sqrt(), width=Fraction(1, 10**400))
    assert result.lower.to_fraction() ** 2 <= 2 <= result.upper.to_fraction() ** 2
    assert 0 < relative_width(result) <= Fraction(1, 10**400)


@pytest.mark.parametrize("exponent", [1, 10, 1000, 10**6])
def test_width_is_relative_for_tiny_values(exponent: int) -> None:
    result = enclose(lambda: arb(-exponent).exp(), width=Fraction(1, 10**12))
    assert result.overlaps(truth(lambda: mp.exp(-exponent)))
    # Relative to the lower end, in exact integers of its last bit.
    unit = min(result.lower.exponent, result.upper.exponent)
    lower, upper = (end.mantissa << (end.exponent - unit) for end in (result.lower, result.upper))
    assert 0 < (upper - lower) * 10**12 <= lower


def test_width_is_absolute_for_large_values() -> None:
    result = enclose(lambda: arb(100).exp(), width=Fraction(1, 10**12))
    assert result.overlaps(truth(lambda: mp.exp(100)))
    assert result.upper.to_fraction() - result.lower.to_fraction() <= Fraction(1, 10**12)


def test_cancellation_is_beaten_by_precision() -> None:
    def compute() -> arb:
        tiny = arb(10) ** -200
        return ((1 + tiny).sqrt() - 1) / tiny  # 1/2 - 1e-200/8 + ...; all but the last bits cancel below 700

    result = enclose(compute, width=Fraction(1, 10**12))
    assert result.overlaps(truth(lambda: 1 / (mp.sqrt(1 + mpf(10) ** -200) + 1)))


def test_an_exact_zero_is_narrow_and_a_ball_around_zero_is_not() -> None:
    assert enclose(lambda: arb(0)) == Enclosure.exactly(0)
    assert not is_narrow(arb(0, 1e-300), Fraction(1, 10))
    assert not is_narrow(arb("nan"), Fraction(1))
    assert not is_narrow(arb("inf"), Fraction(1))


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6), st.integers(3, 40))
def test_a_ball_called_narrow_gives_an_enclosure_of_that_width(value: Fraction, digits: int) -> None:
    width = Fraction(1, 10**digits)
    for bits in range(20, 220, 10):
        with ctx.workprec(bits):
            candidate = ball(value).sqrt()
            if is_narrow(candidate, width):
                assert relative_width(Enclosure.of_ball(candidate)) <= width
                return
    pytest.fail("200 bits were not enough for 40 digits")


@pytest.mark.parametrize("stuck", [lambda: arb(1, 0.5), lambda: arb("nan"), lambda: arb("inf"), lambda: arb(0, 1e-30)])
def test_a_ball_that_never_narrows_is_refused_with_the_reason(stuck: Callable[[], arb]) -> None:
    with pytest.raises(PrecisionError, match=rf"width .*not reached at {PRECISION_LIMIT} bits"):
        enclose(stuck)


def test_the_working_precision_is_restored() -> None:
    before = ctx.prec
    enclose(lambda: arb(2).sqrt(), width=Fraction(1, 10**100))
    with pytest.raises(PrecisionError):
        enclose(lambda: arb("nan"))
    decreasing_root(lambda x: 2 - x * x, arb(0), arb(2))
    assert ctx.prec == before


# --- integral


def gaussian_tail(cut: int) -> arb:
    """A ball for the integral of e^(-x^2/2) beyond the cut: between 0 and e^(-cut^2/2)/cut (Mills)."""
    return arb(0).union((-arb(cut) ** 2 / 2).exp() / cut)


def test_a_gaussian_with_a_proved_tail() -> None:
    with ctx.workprec(200):
        result = integral(
            lambda z, _: (-z * z / 2).exp(), arb(0), arb(16), tail=gaussian_tail(16), tolerance=Fraction(1, 10**50)
        )
        enclosure = Enclosure.of_ball(result)
    assert enclosure.overlaps(truth(lambda: mp.sqrt(mp.pi / 2)))
    assert enclosure.width() < 1e-50


def test_a_forgotten_tail_is_visible() -> None:
    """The tail counts: without it the certificate is for the cut integral, and misses the whole one."""
    with ctx.workprec(200):
        cut = integral(lambda z, _: (-z * z / 2).exp(), arb(0), arb(4), tail=arb(0), tolerance=Fraction(1, 10**50))
        whole = integral(
            lambda z, _: (-z * z / 2).exp(), arb(0), arb(4), tail=gaussian_tail(4), tolerance=Fraction(1, 10**50)
        )
        value = truth(lambda: mp.sqrt(mp.pi / 2))
        assert not Enclosure.of_ball(cut).overlaps(value)
        assert Enclosure.of_ball(whole).contains(value)


def test_an_oscillating_integrand() -> None:
    with ctx.workprec(120):
        result = integral(lambda z, _: (30 * z).cos(), arb(0), arb(1), tail=arb(0), tolerance=Fraction(1, 10**25))
        assert Enclosure.of_ball(result).overlaps(truth(lambda: mp.sin(30) / 30))
        assert Enclosure.of_ball(result).width() < 1e-20


def test_a_branch_point_is_right_when_the_analytic_flag_is_honoured() -> None:
    seen: list[bool] = []

    def root(z: acb, analytic: bool) -> acb:
        seen.append(analytic)
        return z.sqrt(analytic=analytic)

    with ctx.workprec(100):
        result = integral(root, arb(0), arb(1), tail=arb(0), tolerance=Fraction(1, 10**15))
    assert Enclosure.of_ball(result).contains(Fraction(2, 3))
    assert result.rad() < arb(1e-10)
    assert True in seen, "the flag never reached the integrand"


def test_a_cut_inside_the_interval_is_right_when_the_flag_is_honoured() -> None:
    """sqrt((x - 1/3)^2) = |x - 1/3| has a kink inside [0, 1]; the integral is (1/9 + 4/9) / 2."""

    def kink(z: acb, analytic: bool) -> acb:
        shifted = z - acb(ball(Fraction(1, 3)))
        return (shifted * shifted).sqrt(analytic=analytic)

    with ctx.workprec(100):
        result = integral(kink, arb(0), arb(1), tail=arb(0), tolerance=Fraction(1, 10**12))
    assert Enclosure.of_ball(result).contains(Fraction(5, 18))
    assert result.rad() < arb(1e-6)


# --- decreasing_root


def counted(function: Callable[[arb], arb], most: int = 3000) -> Callable[[arb], arb]:
    """The function, refusing to be called for ever: a root-finder that does not end fails instead of hanging."""
    calls = 0

    def wrapped(x: arb) -> arb:
        nonlocal calls
        calls += 1
        assert calls <= most, f"no end after {most} evaluations"
        return function(x)

    return wrapped


ROOTS: dict[str, tuple[Callable[[arb], arb], str, str, Callable[[], mpf]]] = {
    "sqrt 2": (lambda x: 2 - x * x, "0", "2", lambda: mp.sqrt(2)),
    "log 10": (lambda x: 10 - x.exp(), "0", "5", lambda: mp.log(10)),
    "cubic": (lambda x: 5 - x**3 - x, "-10", "10", lambda: mp.findroot(lambda x: x**3 + x - 5, 1.5)),
    "negative": (lambda x: -2 - x**3, "-4", "0", lambda: -mp.cbrt(2)),
    "tiny": (lambda x: ball(Fraction(1, 10**30)) - x, "0", "1", lambda: mpf(10) ** -30),
    "tiny, curved": (lambda x: ball(Fraction(2, 10**60)) - x * x, "0", "1", lambda: mp.sqrt(2) * mpf(10) ** -30),
    "huge": (lambda x: ball(10**20).sqrt() * ball(10**10) - x, "0", "1e25", lambda: mpf(10) ** 20),
    "huge, curved": (lambda x: 2 - x / ball(10**20) * (x / ball(10**20)), "0", "1e30", lambda: mp.sqrt(2) * 10**20),
    "flat": (lambda x: (-x).exp() - arb(-100).exp(), "0", "300", lambda: mpf(100)),
    "steep": (lambda x: (ball(Fraction(1, 3)) - x) * arb(10) ** 50, "0", "1", lambda: mpf(1) / 3),
}


@pytest.mark.parametrize("width", ["1e-6", "1e-12", "1e-40"])
@pytest.mark.parametrize("name", ROOTS)
def test_known_roots_are_enclosed(name: str, width: str) -> None:
    function, lower, upper, root = ROOTS[name]
    result = decreasing_root(counted(function), arb(lower).mid(), arb(upper).mid(), width=Fraction(width))
    assert result.overlaps(truth(root)), f"{result}"
    assert relative_width(result) <= Fraction(width)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**9))
def test_a_rational_root_is_enclosed_whatever_it_is(root: Fraction) -> None:
    result = decreasing_root(counted(lambda x: ball(root) - x), arb(0), arb(10**7))
    assert result.contains(root)
    assert relative_width(result) <= Fraction(1, 10**12)


@pytest.mark.parametrize(("lower", "upper"), [(0, 2), (0, 1), (1, 2), (1, 1), (-1, 3)])
def test_an_exact_root_at_a_probed_point_is_fine(lower: int, upper: int) -> None:
    """Root 1: at the first middle, at either end, at both, and at a secant point."""
    result = decreasing_root(counted(lambda x: 1 - x), arb(lower), arb(upper))
    assert result.contains(1)
    assert relative_width(result) <= Fraction(1, 10**12)


@pytest.mark.parametrize(("lower", "upper"), [(0, 1), (-1, 0), (-1, 1), (-1, 2)])
def test_a_root_at_zero_ends_with_zero_itself(lower: int, upper: int) -> None:
    """A relative width can only be met by the exact point; it must not be halved towards for ever."""
    assert decreasing_root(counted(lambda x: -x), arb(lower), arb(upper)) == Enclosure.exactly(0)


@pytest.mark.parametrize(
    "function", [lambda x: 5 - x, lambda x: -1 - x, lambda x: x - 1], ids=["above", "below", "rises"]
)
def test_no_sign_change_is_refused(function: Callable[[arb], arb]) -> None:
    with pytest.raises(PrecisionError, match="sign change"):
        decreasing_root(function, arb(0), arb(2))


def test_a_sign_that_no_precision_decides_is_refused() -> None:
    with pytest.raises(PrecisionError, match="undecided"):
        decreasing_root(counted(lambda x: (1 - x) + arb(0, 0.1)), arb(0), arb(2))


def test_ends_are_certified_signs_and_not_a_guess() -> None:
    """A kinked function, on which secant steps mislead, is still enclosed."""

    def kinked(x: arb) -> arb:
        slope = arb(1) if x < ball(Fraction(7, 10)) else arb(10) ** 12
        return (ball(Fraction(7, 10)) - x) * slope

    result = decreasing_root(counted(kinked), arb(0), arb(1), width=Fraction(1, 10**20))
    assert result.contains(Fraction(7, 10))
    assert relative_width(result) <= Fraction(1, 10**20)
    assert isinstance(result.lower, Dyadic)


# --- through


def root_of(value: int) -> Callable[[Fraction], Enclosure]:
    return lambda width: enclose(lambda: arb(value).sqrt(), width=width)


@pytest.mark.parametrize("width", ["1", "1e-12", "1e-60"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_monotone_function_of_an_enclosed_number(sign: int, width: str) -> None:
    """e^(200 sqrt 2), or its inverse: the inner enclosure has to be finer than the asked one by far."""
    result = through(
        root_of(2), lambda x, finer: enclose(lambda: ball(sign * 200 * x).exp(), width=finer), width=Fraction(width)
    )
    assert result.overlaps(truth(lambda: mp.exp(sign * 200 * mp.sqrt(2))))
    assert relative_width(result) <= Fraction(width)


def test_both_ends_of_the_inner_enclosure_count() -> None:
    """An inner enclosure that never narrows, under a step that it does not straddle, and under one that it does."""

    def coarse(_: Fraction) -> Enclosure:
        return Enclosure(Dyadic(1, 0), Dyadic(2, 0))

    assert through(coarse, lambda x, _: Enclosure.exactly(int(x > 3)), width=Fraction(1, 10)) == Enclosure.exactly(0)
    with pytest.raises(PrecisionError, match="too close to a jump"):
        through(coarse, lambda x, _: Enclosure.exactly(int(x > 1)), width=Fraction(1, 10))


def test_an_exact_inner_number_needs_one_call() -> None:
    calls = []

    def outer(x: Fraction, width: Fraction) -> Enclosure:
        calls.append(x)
        return enclose(lambda: ball(x).exp(), width=width)

    assert through(lambda _: Enclosure.exactly(3), outer).overlaps(truth(lambda: mp.exp(3)))
    assert calls == [3]
