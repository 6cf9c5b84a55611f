"""The k-fold Laplace mechanism: a conditioned second opinion, Monte-Carlo-free limits, and its neighbours' bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st
from mpmath import mp, mpf

import oracle
from oracle.core.enclosure import Enclosure
from oracle.core.errors import DomainError
from tests.checks import check_anywhere, check_fast, check_monotone, check_round_trip, check_second_opinion, check_width
from tests.opinion import at_both_precisions
from tests.tiers import examples

DELTA, EPSILON = (oracle.bound(f"laplace-composed.{unit}") for unit in ("delta", "epsilon"))
QUICK = (Phase.explicit, Phase.generate)  # an opinion takes a tenth of a second


@pytest.mark.parametrize("bound", [DELTA, EPSILON], ids=lambda item: item.name)
@examples(1 / 2, phases=QUICK)
@given(data=st.data())
def test_contracts_anywhere(bound: oracle.Bound, data: st.DataObject) -> None:
    check_anywhere(bound, data)


def test_a_known_number() -> None:
    """100 releases of ratio 1/10 at delta = 1e-5, known from elsewhere to twelve decimals."""
    result = EPSILON.reference(scale=10, sensitivity=1, steps=100, delta="1e-5", width="1e-15")
    assert abs(result.lower.to_fraction() - Fraction("4.220347325080")) < Fraction(1, 10**12)


@pytest.mark.parametrize("ratio", ["0.001", "0.3", "2", "20"])
@pytest.mark.parametrize("share", ["0", "0.3", "0.5", "0.99"])
def test_two_releases_by_integration(ratio: str, share: str) -> None:
    """The definition: the mean over the first loss of the curve of the second, by quadrature between the kinks."""
    m, epsilon = Fraction(ratio), 2 * Fraction(ratio) * Fraction(share)

    def integrated() -> mpf:
        a, e = (mpf(v.numerator) / v.denominator for v in (m, epsilon))

        def single(rest: mpf) -> mpf:  # E max(0, 1 - e^{rest - L}) for one release, rest of either sign
            if rest >= a:
                return mpf(0)
            return -mp.expm1((rest - a) / 2) if rest >= -a else -mp.expm1(rest)

        cuts = sorted({-a, a, *(cut for cut in (e - a, e, e + a) if -a < cut < a)})
        between = mp.quad(lambda x: mp.exp((x - a) / 2) / 4 * single(e - x), cuts)
        return single(e - a) / 2 + mp.exp(-a) / 2 * single(e + a) + between

    result = DELTA.reference(scale=1, sensitivity=m, steps=2, epsilon=epsilon, width="1e-25")
    assert result.overlaps(at_both_precisions(integrated, digits=(50, 80)))


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.4", "0.999"])
@pytest.mark.parametrize("ratio", ["0.01", "1", "30"])
def test_epsilon_at_extremes(steps: int, delta: str, ratio: str) -> None:
    check_second_opinion(EPSILON, {"scale": 2, "sensitivity": 2 * Fraction(ratio), "steps": steps, "delta": delta})


def test_one_release_is_the_laplace_mechanism() -> None:
    for ratio in ("1e-10", "0.3", "5", "1e4"):
        for share in ("0", "0.5", "0.999"):
            point: dict[str, Any] = {"scale": 1, "sensitivity": ratio, "epsilon": Fraction(ratio) * Fraction(share)}
            single = oracle.bound("laplace.delta").reference(width="1e-30", **point)
            assert DELTA.reference(steps=1, width="1e-30", **point).overlaps(single)


@pytest.mark.parametrize(("ratio", "steps"), [("0.1", 50), ("1", 10), ("3", 4)])
@pytest.mark.parametrize("share", ["0", "0.1", "0.4", "0.9"])
def test_below_the_worst_composition(ratio: str, steps: int, share: str) -> None:
    """Each release is ratio-DP, so the optimal composition theorem bounds all of them; both vanish at k ratio."""
    total = Fraction(ratio) * steps * Fraction(share)
    worst = oracle.bound("composition.optimal-delta").reference(
        base_epsilon=ratio, base_delta=0, steps=steps, epsilon=total
    )
    assert DELTA.reference(scale=1, sensitivity=ratio, steps=steps, epsilon=total).certainly_le(worst)
    assert DELTA.reference(scale=1, sensitivity=ratio, steps=steps, epsilon=Fraction(ratio) * steps).contains(0)


def test_close_to_its_gaussian_limit() -> None:
    """Many small losses: mean and variance of one loss, by mpmath, give the Gaussian curve to a few per cent."""
    exact = DELTA.reference(scale=20, sensitivity=1, steps=400, epsilon=2)
    with mp.workdps(30):
        m = mpf(1) / 20
        moments = [
            m**n / 2 + (-m) ** n * mp.exp(-m) / 2 + mp.quad(lambda x, n=n: x**n * mp.exp((x - m) / 2) / 4, [-m, m])
            for n in (1, 2)
        ]
        mu = mp.sqrt(400 * (moments[1] - moments[0] ** 2))
    limit = oracle.bound("gdp.delta").reference(mu=float(mu), epsilon=2)
    assert abs(exact.to_floats()[0] / limit.to_floats()[0] - 1) < 0.05


@examples(1 / 2)
@given(st.integers(1, 60), st.floats(-2, 0.5), st.floats(0, 0.95))
def test_epsilon_of_delta_of_epsilon(steps: int, log_ratio: float, share: float) -> None:
    ratio = Fraction(10.0**log_ratio)
    params = {"scale": 1, "sensitivity": ratio, "steps": steps}
    check_round_trip(DELTA, EPSILON, params, "epsilon", Fraction(share) * steps * ratio)


def test_edges() -> None:
    zero = Enclosure.exactly(0)
    assert DELTA.reference(scale=1, sensitivity=1, steps=0, epsilon=0) == zero
    assert EPSILON.reference(scale=1, sensitivity=1, steps=0, delta=0) == zero
    assert EPSILON.reference(scale=1, sensitivity=1, steps=5, delta=1) == zero
    assert DELTA.reference(scale=3, sensitivity=1, steps=3, epsilon=1) == zero
    assert EPSILON.reference(scale=3, sensitivity=1, steps=3, delta=0).contains(1)
    assert DELTA.reference(scale=3, sensitivity=1, steps=3, epsilon=1 - Fraction(1, 10**50)).lower.compare(0) > 0
    assert float(DELTA.fast(scale=1.0, sensitivity=1.0, steps=0, epsilon=0.0)) == 0.0


def test_delta_at_the_delays() -> None:
    """epsilon = (k - 2j) m exactly, where a term of the sum appears: the curve is continuous and falls through it."""
    params = {"scale": 4, "sensitivity": 1, "steps": 9}
    for j in range(5):
        at = Fraction(9 - 2 * j, 4)
        for shift in (Fraction(0), Fraction(1, 10**40)):
            check_width(DELTA, {**params, "epsilon": at + shift}, Fraction(1, 10**20))
        check_monotone(DELTA, {**params, "epsilon": at - Fraction(1, 10**9)}, "epsilon", at, certain=True)


@pytest.mark.parametrize("name", ["scale", "sensitivity", "steps", "delta"])
def test_strictly_monotone_inside(name: str) -> None:
    params: dict[str, Any] = {"scale": 10, "sensitivity": 1, "steps": 30, "delta": Fraction(1, 10**5)}
    step = 31 if name == "steps" else params[name] * (1 + Fraction(1, 10**9))
    check_monotone(EPSILON, params, name, step, certain=True)


def test_fast_is_sound_for_many_steps() -> None:
    chosen = [
        {"scale": 5.0, "sensitivity": 1.0, "steps": steps, "epsilon": epsilon}
        for steps in (1, 2, 50, 400) for epsilon in (0.0, 0.3, 5.0)
    ]
    check_fast(DELTA, chosen, "torch")


@pytest.mark.parametrize(
    ("name", "value"), [("scale", 0), ("sensitivity", 0), ("steps", -1), ("steps", "1.5"), ("delta", "1.5")]
)
def test_bad_input_is_named(name: str, value: Any) -> None:
    params: dict[str, Any] = {"scale": 1, "sensitivity": 1, "steps": 2, "delta": "0.1", name: value}
    with pytest.raises(DomainError, match=f"^{name} = "):
        EPSILON.reference(**params)
