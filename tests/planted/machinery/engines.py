"""Bugs in engines and in the code behind them: factors that are a little off, terms and weights that are left out."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from empirical.mutants.changes import code
from empirical.mutants.mutant import Mutant
from oracle.bounds.shuffling import shuffle
from oracle.engines import shuffle_pairs
from oracle.engines.sampled.sampled_gaussian import SampledGaussian
from tests.oracle.bounds import test_shuffle_long as shuffles
from tests.oracle.kernels import test_multinomial as multinomials
from tests.planted import seen

SHUFFLES, MULTINOMIAL = "oracle.engines.shuffle_long", "oracle.algorithms.kernels.multinomial"

STEP, PAIRS = "oracle.engines.sampled.sampled_gaussian:SampledGaussian", "oracle.engines.shuffle_pairs"
PLAN = "oracle.engines.sampled.planned_gaussian:PlannedGaussian"


def moment() -> arb:
    """A moment of a sampled Gaussian step, by quadrature."""
    step = SampledGaussian(Fraction(1), Fraction(1, 10), "remove")
    with ctx.workprec(140):
        return step.moments(arb(3), arb(1), 4, log_error=-40.0)[3].real


def curve(epsilon: Fraction) -> arb:
    """What shuffling among 400 users leaks, from the masses inside a window."""
    with ctx.workprec(100):
        masses = shuffle_pairs.clones(Fraction(1), 400, epsilon)
        assert masses is not None
        return shuffle._hull(Fraction(1), epsilon, masses)


EPSILONS = (Fraction(0), Fraction(1, 10), Fraction(1, 2))
MOMENT, CURVE = moment(), {epsilon: curve(epsilon) for epsilon in EPSILONS}  # computed before anything is planted


def holds_the_moment() -> None:
    assert moment().overlaps(MOMENT)


def holds_the_curve(epsilon: Fraction) -> None:
    assert curve(epsilon).overlaps(CURVE[epsilon])


def is_as_narrow(epsilon: Fraction) -> None:
    """Where a window is too narrow, what lies outside of it is told by the width."""
    assert curve(epsilon).rad() < CURVE[epsilon] * arb(10) ** -20


def narrow(side: int) -> Callable[[Any], Any]:
    """A window without most of its few clones (0) or of its many (1)."""

    def wrong(honest: Any) -> Any:
        def window(*given: Any) -> tuple[int, int]:
            low, high = honest(*given)
            middle, reach = (low + high) // 2, (high - low) // 6
            return (middle - reach, high) if side == 0 else (low, middle + reach)

        return window

    return wrong


def coarse(honest: Any) -> Any:
    """Points of quadrature four times as far apart."""

    def line(self: Any, *given: Any) -> tuple[float, float]:
        step, height = honest(self, *given)
        return 4 * step, height

    return line


def halved(honest: Any) -> Any:
    return lambda self, c, goal: tuple(x / 2 for x in honest(self, c, goal))


def left_out(honest: Any) -> Any:
    return lambda *given: arb(0)


ANY_ORDER = {f"{PLAN}.on_real_line": lambda honest: lambda *given: None}
"""The line that serves every t; that of `real_line` has tests of its own."""


def harmless(of: str, title: str, places: dict[str, Any], *tests: Any) -> Mutant:
    """A plan that is made coarse: the error term tells it, so that the enclosure is wider and true."""
    return Mutant(
        of, title, code("engine", places), severity="E", origin="a coarse plan, planted to catch false alarms",
        spared_by=("its tests",), at={"tests": tests},
    )


OF_STEP, OF_CURVE = STEP.partition(":")[0], [functools.partial(holds_the_curve, epsilon) for epsilon in EPSILONS]
CLONES = ("few clones", "many clones")

MUTANTS = (
    harmless(OF_STEP, "a coarse quadrature", {**ANY_ORDER, f"{PLAN}.line": coarse}, holds_the_moment),
    seen(
        OF_STEP, "the error of a coarse quadrature forgotten",
        code("engine", {**ANY_ORDER, f"{PLAN}.line": coarse, f"{STEP}._discretisation": left_out}), holds_the_moment,
    ),
    harmless(OF_STEP, "half of the window", {**ANY_ORDER, f"{PLAN}.window": halved}, holds_the_moment),
    seen(
        OF_STEP, "what lies outside of half of the window forgotten",
        code("engine", {**ANY_ORDER, f"{PLAN}.window": halved, f"{STEP}._outside": left_out}), holds_the_moment,
    ),
    *(harmless(PAIRS, f"{CLONES[side]} cut off", {f"{PAIRS}:window": narrow(side)}, *OF_CURVE) for side in (0, 1)),
    *(
        seen(
            PAIRS, f"{CLONES[side]} cut off, and their tail forgotten",
            code("engine", {f"{PAIRS}:window": narrow(side), f"{PAIRS}:cut_outside": left_out}), *OF_CURVE,
        )
        for side in (0, 1)
    ),
    *(
        seen(
            PAIRS, f"{CLONES[side]} cut off, which widens the answer",
            code("engine", {f"{PAIRS}:window": narrow(side)}),
            *(functools.partial(is_as_narrow, epsilon) for epsilon in EPSILONS), severity="U",
        )
        for side in (0, 1)
    ),
    seen(
        SHUFFLES, "a tail with a wrong factor",
        code("engine", {f"{SHUFFLES}:_first_below": lambda honest: lambda *given: honest(*given) * (1 + 1e-12)}),
        functools.partial(shuffles.test_the_responses_are_those_of_balls, "1", 10**6, "1/300"),
    ),
    seen(
        MULTINOMIAL, "equal products forgotten",
        code("reference", {f"{MULTINOMIAL}:multiplicity": lambda honest: lambda exponent: 1}),
        functools.partial(multinomials.test_every_product_is_one_feature, 2, 3),
        functools.partial(multinomials.test_features_give_the_kernel_in_both_implementations, 2, 3),
        functools.partial(multinomials.test_features_are_no_longer_than_one, 2, 3),
    ),
    seen(
        MULTINOMIAL, "a kernel that is not divided",
        code("reference", {
            f"{MULTINOMIAL}:features": lambda honest: lambda x, degree: math.sqrt(degree + 1) * honest(x, degree),
        }),
        functools.partial(multinomials.test_features_are_no_longer_than_one, 2, 3),
    ),
)
